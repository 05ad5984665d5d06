"""What a format of another tool is: how its data are told by their shape, and how they become ours.

A format is read into the plain data of a document (:mod:`evenhand.data.documents`), which the one reader of documents
checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.data.plain_data import briefly
from evenhand.errors import InvalidCriterionError

OTHER_SHAPE = (AttributeError, KeyError, TypeError)
"""What reading data of a known shape meets where a part of them has another one."""


@dataclass(slots=True)
class Translated:
    """Data in our form, and what is not read with them.

    Attributes:
        data: In our form.
        left_out: What is not read, each in a few words.
    """

    data: Any
    left_out: list[str] = field(default_factory=list)

    def without(self, what: str) -> None:
        """Note that something is left out, once."""
        if what not in self.left_out:
            self.left_out.append(what)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another tool.

    Attributes:
        name: As messages call it.
        holds: What data in it are, as in "a rubric of autorubric".
        fits: Whether data have its shape.
        read: Makes data in it, with what messages call them, a document.
    """

    name: str
    holds: str
    fits: Callable[[Any], bool]
    read: Callable[[Any, str], Translated]

    def document_of(self, data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
        """The document that data in it are.

        Raises:
            InvalidCriterionError: If they contradict themselves, or only a part of them has its shape.
        """
        try:
            return self.read(data, what)
        except OTHER_SHAPE as error:
            raise InvalidCriterionError(
                f"{what} has the shape of {self.holds}, but not all of it: {type(error).__name__}: {error}"
            ) from error


def mappings_with(data: object, needed: Collection[str], accepted: Collection[str] | None = None) -> bool:
    """Whether data are a list of one mapping or more, each with these fields and none beside the accepted ones."""
    return (
        isinstance(data, list)
        and bool(data)
        and all(
            isinstance(each, dict) and each.keys() >= set(needed) and (accepted is None or each.keys() <= set(accepted))
            for each in data
        )
    )


def kept(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something: neither null nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def numbered(value: object, what: str) -> float:
    """The value when it is a number.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCriterionError(f"{what} is {briefly(value)}; it must be a number")
    return value

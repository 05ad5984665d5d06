"""What a format of another tool is: how its data are told by their shape, and how they become ours and theirs again.

A format is a view of our own values. It is read into the plain data of a document (:mod:`evenhand.data.documents`),
which the one reader of documents checks, and written from a :class:`~evenhand.criteria.Criterion`,
:class:`~evenhand.criteria.Rubric` or :class:`~evenhand.criteria.Checklist`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.criteria import Checklist, Criterion, Rubric, fold_label
from evenhand.data.plain_data import briefly
from evenhand.errors import InvalidCriterionError, InvalidInputError

Value = Criterion | Rubric | Checklist
OTHER_SHAPE = (AttributeError, KeyError, TypeError)
"""What reading data of a known shape meets where a part of them has another one."""


@dataclass(slots=True)
class Translated:
    """Data in another form, and what that form cannot say.

    Attributes:
        data: In our form or in theirs.
        left_out: What they do not say, each in a few words.
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
        name: As in ``evenhand catalog export --as NAME``.
        holds: What data in it are, as in "a rubric of autorubric".
        fits: Whether data have its shape.
        read: Makes data in it, with what messages call them, a document.
        write: Makes a value data in it; an error where its score would be another one there.
    """

    name: str
    holds: str
    fits: Callable[[Any], bool]
    read: Callable[[Any, str], Translated]
    write: Callable[[Value], Translated]

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


def criteria_of(value: Value, format_name: str) -> Rubric:
    """The rubric, or the one criterion or the items of a checklist as a rubric.

    Raises:
        InvalidInputError: If it compares responses.
    """
    if isinstance(value, Rubric):
        return value
    if isinstance(value, Checklist):
        raise not_held(value, format_name, "a rubric or a criterion")
    if value.scale == "pairwise":
        raise InvalidInputError(
            f"the criterion {value.name!r} compares two responses, which the format {format_name!r} cannot say; "
            "accepted: a rubric, or a criterion on one response"
        )
    return Rubric(name=value.name, criteria=(value,))


def checklist_of(value: Value, format_name: str) -> Checklist:
    """The checklist.

    Raises:
        InvalidInputError: If it is something else.
    """
    if not isinstance(value, Checklist):
        raise not_held(value, format_name, "a checklist")
    return value


def not_held(value: Value, format_name: str, accepted: str) -> InvalidInputError:
    """The refusal of a value of a kind that a format has not."""
    return InvalidInputError(
        f"{value.name!r} is a {type(value).__name__.lower()}, which the format {format_name!r} does not hold; "
        f"accepted: {accepted}"
    )


def note_unsaid(criteria: Sequence[Criterion], noted: Translated, *names: str) -> None:
    """Note which of these fields any of the criteria says."""
    for name in names:
        if any(getattr(criterion, name) for criterion in criteria):
            noted.without(name)
    if any(option.description for criterion in criteria for option in criterion.options if not option.na):
        noted.without("the descriptions of options")


def is_yes_no(criterion: Criterion) -> bool:
    """Whether it is met or not: two options, one worth 1 and the other 0."""
    return sorted(option.value or 0.0 for option in criterion.options if not option.na) == [0.0, 1.0]


def as_counted(criterion: Criterion, noted: Translated) -> Criterion:
    """The criterion with the values that count in a rubric, shares of their range; note it where they are others."""
    if criterion.units == (0.0, 1.0):
        return criterion
    noted.without("the units of the options' values, which are shares of their range there")
    counted = [
        option if option.value is None else option.model_copy(update={"value": criterion.share_of_range(option.value)})
        for option in criterion.options
    ]
    return criterion.model_copy(update={"options": tuple(counted)})


def has_labels(criterion: Criterion, labels: Sequence[str]) -> bool:
    """Whether these are its labels, in this order."""
    return [fold_label(label) for label in criterion.labels] == [fold_label(label) for label in labels]


def numbered(value: object, what: str) -> float:
    """The value when it is a number.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidCriterionError(f"{what} is {briefly(value)}; it must be a number")
    return value


def refuse_nested(rubric: Rubric, format_name: str) -> None:
    """Refuse a nested rubric, whose scores would be others there."""
    if rubric.sections:
        raise InvalidInputError(
            f"the rubric {rubric.name!r} is nested, and its scores would be others in the format {format_name!r}, "
            "which has no sections with weights; accepted for it: 'paperbench'"
        )

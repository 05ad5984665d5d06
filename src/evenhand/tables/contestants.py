"""The responses of several systems, out of wide data (one column a system) or long data (one row a response)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.contests import read_responses
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.instances import field_of, name_of, text_of
from evenhand.tables.rows import Row


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with the responses to it.

    Attributes:
        id: As long data name it; None for wide data.
        fields: The columns that hold what all responses share.
        responses: System -> response; None where there is none.
    """

    id: str | None
    fields: Row
    responses: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows hold the systems' responses.

    Attributes:
        systems: Wide data: the columns, one a system. Long data: the systems to compare; None for all.
        systems_field: Long data: the column that names the system.
        response_field: Long data: the column with the response.
        id_field: Long data: the column that names the prompt.

    Systems and prompts of long data are told apart by :func:`~evenhand.judging.instances.name_of`: the ids 2, 2.0 and
    ``"2"`` are one prompt.
    """

    systems: tuple[str, ...] | None
    systems_field: str | None = None
    response_field: str | None = None
    id_field: str | None = None

    @property
    def is_long(self) -> bool:
        """Whether a row is one response."""
        return self.systems_field is not None

    def check(self, columns: Sequence[str]) -> None:
        """Check that the settings go together.

        Raises:
            InvalidInputError: If they contradict one another, or name fewer than two systems.
        """
        long_only = {"response_field": self.response_field, "id_field": self.id_field}
        if self.is_long and None in long_only.values():
            missing = [name for name, value in long_only.items() if value is None]
            raise InvalidInputError(
                f"systems_field={self.systems_field!r} says that a row is one response, and then {missing!r} must be "
                f"named too; the data have the columns {list(columns)!r}"
            )
        if not self.is_long and any(long_only.values()):
            given = {name: value for name, value in long_only.items() if value is not None}
            raise InvalidInputError(
                f"{given!r} belongs to data with one row a response: name the column that holds the system with "
                "systems_field=…, or leave it out for data with one column a system"
            )
        if self.systems is None and not self.is_long:
            raise InvalidInputError(
                "no systems were given: name the columns with systems=[…], or, for data with one row a response, "
                f"set systems_field, response_field and id_field; the data have the columns {list(columns)!r}"
            )
        if self.systems is not None and (len(self.systems) < 2 or len(set(self.systems)) < len(self.systems)):
            raise InvalidInputError(f"systems is {list(self.systems)!r}; name at least two, each once")

    def prompts(self, rows: Sequence[Row], shared: Sequence[str] = ()) -> tuple[Prompt, ...]:
        """The prompts, in the order of their first row.

        Args:
            rows: The data.
            shared: Columns that must be equal in all rows of a prompt, because the judge is shown them once.

        Raises:
            InvalidInputError: If the data do not fit the layout.
        """
        self.check(list(rows[0]))
        return self._long_prompts(rows, shared) if self.is_long else self._wide_prompts(rows)

    def _wide_prompts(self, rows: Sequence[Row]) -> tuple[Prompt, ...]:
        return tuple(
            Prompt(
                id=None,
                fields=row,
                responses=read_responses(
                    {system: field_of(row, system, instance, "systems") for system in self.systems or ()}, instance
                ),
            )
            for instance, row in enumerate(rows)
        )

    def _long_prompts(self, rows: Sequence[Row], shared: Sequence[str]) -> tuple[Prompt, ...]:
        held: dict[str, dict[str, int]] = {}
        for number, row in enumerate(rows):
            system = self._named(row, self.systems_field, number, "systems_field")
            identifier = self._named(row, self.id_field, number, "id_field")
            responses = held.setdefault(identifier, {})
            if system in responses:
                raise InvalidInputError(
                    f"rows {responses[system]} and {number} both hold a response of {system!r} to {identifier!r}: keep "
                    "one of them, or give each its own id"
                )
            responses[system] = number
        systems = self._entered({system: None for responses in held.values() for system in responses})
        prompts = []
        for instance, (identifier, responses) in enumerate(held.items()):
            _check_shared([rows[number] for number in responses.values()], shared, instance, identifier)
            found = {
                system: field_of(rows[responses[system]], str(self.response_field), responses[system], "response_field")
                if system in responses
                else None
                for system in systems
            }
            first = rows[next(iter(responses.values()))]
            prompts.append(Prompt(identifier, first, read_responses(found, instance)))
        return tuple(prompts)

    def _entered(self, found: Mapping[str, None]) -> tuple[str, ...]:
        if self.systems is None:
            if len(found) < 2:
                raise InvalidInputError(
                    f"the column {self.systems_field!r} names {list(found)!r}; a comparison needs at least two systems"
                )
            return tuple(found)
        named = tuple(name_of(system) for system in self.systems)
        unknown = [system for system in named if system not in found]
        if unknown:
            raise InvalidInputError(
                f"the column {self.systems_field!r} names no system {unknown[0]!r}. {did_you_mean(unknown[0], found)}"
            )
        return named

    @staticmethod
    def _named(row: Row, field: str | None, number: int, setting: str) -> str:
        value = field_of(row, str(field), number, setting)
        name = name_of(value)
        if not name:
            raise InvalidInputError(f"row {number} has {value!r} in {field!r}, which {setting} names: it needs a name")
        return name


def _check_shared(rows: Sequence[Row], shared: Sequence[str], instance: int, identifier: str) -> None:
    for field in shared:
        seen: list[Any] = [text_of(field_of(row, field, instance, "context_fields")) for row in rows if field in row]
        if len(set(seen)) > 1:
            raise InvalidInputError(
                f"the rows of {identifier!r} differ in {field!r} ({seen[0]!r} and {_other(seen)!r}), which belongs to "
                "the prompt and is shown or counted once for all responses: give each prompt its own id"
            )


def _other(seen: Sequence[str]) -> str:
    return next(text for text in seen if text != seen[0])

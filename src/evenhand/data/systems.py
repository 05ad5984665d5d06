"""The responses of several systems to a prompt, in the forms in which they arrive.

They are one instance's predictions, or stand in wide data (one column per system) or long data (one row per response).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from evenhand.data.fields import cell_name, classifications_of, field_of, name_of, row_ids, text_of
from evenhand.data.plain import briefly, held_in
from evenhand.data.rows import Row
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.question import Classifications
from evenhand.votes import is_missing


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with the responses to it.

    Attributes:
        id: As the data name it; None where they do not.
        fields: The columns that hold what all responses share.
        responses: System -> response; None where there is none.
        data_classifications: Of all rows that hold it.
    """

    id: str | None
    fields: Row
    responses: Mapping[str, str | None]
    data_classifications: Classifications = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows hold the systems' responses.

    Attributes:
        systems: Wide data: the columns, one per system. Long data: the systems to compare; None for all.
        systems_field: Long data: the column that names the system.
        response_field: Long data: the column with the response.
        id_field: The column that names the prompt, which long data must have.

    Systems and prompts of long data are told apart by :func:`~evenhand.data.fields.name_of`: the ids 2, 2.0 and
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
        if not self.is_long and self.response_field is not None:
            given = {name: value for name, value in long_only.items() if value is not None}
            raise InvalidInputError(
                f"{given!r} belongs to data with one row per response: name the column that holds the system with "
                "systems_field=…, or leave it out for data with one column per system"
            )
        if self.systems is None and not self.is_long:
            raise InvalidInputError(
                "no systems were given: name the columns with systems=[…], or, for data with one row per response, "
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
        ids = row_ids(rows, self.id_field).get("ids") or [None] * len(rows)
        return tuple(
            Prompt(
                id=ids[instance],
                fields=row,
                responses=read_responses(
                    {system: field_of(row, system, instance, "systems") for system in self.systems or ()}, instance
                ),
                data_classifications=classifications_of(row, instance),
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
            marked = chain.from_iterable(classifications_of(rows[number], number) for number in responses.values())
            prompts.append(Prompt(identifier, first, read_responses(found, instance), tuple(dict.fromkeys(marked))))
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
        other = next((text for text in seen if text != seen[0]), None)
        if other is not None:
            raise InvalidInputError(
                f"the rows of {identifier!r} differ in {field!r} ({seen[0]!r} and {other!r}), which belongs to "
                "the prompt and is shown or counted once for all responses: give each prompt its own id"
            )


def read_responses(prediction: object, instance: int) -> dict[str, str | None]:
    """System -> response, from one instance's predictions.

    A dict names its systems; the systems of a list are called ``"1"``, ``"2"``, … A text that holds such a list or
    dict, as JSON or as Python writes it, is read (a recipe's post-processors may have made it one). A response that
    is not a text is shown as JSON. An empty response is a response; None and NaN mean that there is none.

    Args:
        prediction: The predictions for the instance.
        instance: Its index, for the message.

    Raises:
        InvalidInputError: If the predictions are something else, or a name is not a text.

    Example:
        >>> read_responses(["Paris", None], 0)
        {'1': 'Paris', '2': None}
        >>> read_responses("{'gpt-4.1': 'Paris', 'tie': ''}", 0)
        {'gpt-4.1': 'Paris', 'tie': ''}
    """
    found = held_in(prediction, f"instance {instance}") if isinstance(prediction, str) else prediction
    if isinstance(found, (list, tuple)):
        found = {str(number): response for number, response in enumerate(found, start=1)}
    if not isinstance(found, Mapping):
        raise InvalidInputError(
            f"the predictions of instance {instance} are {_shown(prediction)}; a comparison takes a list of "
            "responses, or a dict of system -> response"
        )
    for name in found:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"instance {instance} names a system {name!r}; a system's name is a text")
    return {name: _response(response, cell_name(name, instance)) for name, response in found.items()}


def common_systems(rows: Sequence[Mapping[str, str | None]]) -> tuple[str, ...]:
    """The systems that every instance names, in the order of the first one.

    Raises:
        InvalidInputError: If there are no instances, fewer than two systems, or an instance names others than the
            first one does.
    """
    if not rows:
        raise InvalidInputError("there are no instances to compare: the data set is empty")
    systems = tuple(rows[0])
    for instance, row in enumerate(rows):
        if row.keys() == rows[0].keys():
            continue
        lacking = [name for name in systems if name not in row]
        extra = [name for name in row if name not in rows[0]]
        differences = [f"lacks {lacking!r}"] * bool(lacking) + [f"adds {extra!r}"] * bool(extra)
        raise InvalidInputError(
            f"instance {instance} does not name the same systems as instance 0: it {' and '.join(differences)}. Give a "
            "response of every system to every instance, None where there is none"
        )
    if len(systems) < 2:
        raise InvalidInputError(
            f"the predictions name {len(systems)} system(s), {list(systems)!r}; a comparison needs at least two, "
            "and one system alone fits metrics.evenhand.direct"
        )
    return systems


def _response(value: object, where: str) -> str | None:
    return None if is_missing(value) else text_of(value, where)


def _shown(value: object) -> str:
    return f"a {type(value).__name__}, {briefly(value)}"

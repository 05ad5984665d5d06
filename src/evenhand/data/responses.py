"""The responses of systems in rows of data, and the texts of a result read again from the data that were judged.

The responses to a prompt are one instance's predictions, or stand in wide data (one column per system) or long data
(one row per response). Results hold votes and no texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import Any, Final

from evenhand.criteria import Criterion, context_mapping
from evenhand.data.fields import (
    cell_name,
    check_names,
    classifications_of,
    context_of,
    field_of,
    name_in,
    name_of,
    references_of,
    text_of,
)
from evenhand.data.plain import briefly, parse_cell
from evenhand.data.rows import Row, read_rows, row_ids
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.question import Classifications
from evenhand.votes import is_missing


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt with the responses to it.

    Attributes:
        id: As the data name it; None if they do not.
        fields: The columns that hold what all responses share.
        responses: System -> response; None if there is none.
        data_classifications: The classifications of all rows of the prompt.
    """

    id: str | None
    fields: Row
    responses: Mapping[str, str | None]
    data_classifications: Classifications = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of the systems' responses in the rows.

    Attributes:
        response_fields: Wide data: the columns, one per system. Long data: the column with the response.
        systems: Long data: the systems to compare; None for all.
        systems_field: Long data: the column that names the system.
        id_field: The column that names the prompt, which long data must have.

    Systems and prompts of long data are distinguished by :func:`~evenhand.data.fields.name_of`: the ids 2, 2.0 and
    ``"2"`` are one prompt.
    """

    response_fields: str | tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None
    systems_field: str | None = None
    id_field: str | None = None

    @property
    def is_long(self) -> bool:
        """Whether a row is one response."""
        return self.systems_field is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold responses."""
        given = self.response_fields or ()
        return (given,) if isinstance(given, str) else given

    def check(self, columns: Sequence[str]) -> None:
        """Check that the settings go together.

        Raises:
            InvalidInputError: If they contradict one another, or name fewer than two systems.
        """
        fits_long = len(self.columns) == 1 and self.id_field is not None
        fits_wide = len(self.columns) > 1 and self.systems is None
        if not (fits_long if self.is_long else fits_wide):
            given = {name: value for name, value in asdict(self).items() if value is not None}
            raise InvalidInputError(
                f"{given!r} do not say where the responses of two systems are: give response_fields=[…], the columns "
                "of two systems or more; or for data with one row per response response_fields, systems_field and "
                f"id_field, the columns of responses, systems and prompts; the data have the columns {list(columns)!r}"
            )
        if self.systems is not None:
            check_names(self.systems, "systems", 2)

    def prompts(self, rows: Sequence[Row], shared: Sequence[str] = ()) -> tuple[Prompt, ...]:
        """Return the prompts, in the order of their first row.

        Args:
            rows: The data.
            shared: Columns that must be equal in all rows of a prompt, because the judge is shown them once.

        Raises:
            InvalidInputError: If the data do not fit the layout.
        """
        self.check(list(rows[0]))
        if self.is_long:
            held, systems = self._rows_by_id(rows)
        else:
            ids = row_ids(rows, self.id_field).get("ids") or [None] * len(rows)
            held, systems = [(name, dict.fromkeys(self.columns, place)) for place, name in enumerate(ids)], self.columns
        prompts = []
        for instance, (identifier, numbers) in enumerate(held):
            own = list(dict.fromkeys(numbers.values()))
            for field in shared if len(own) > 1 else ():
                _check_shared(field, [rows[number] for number in own], instance, str(identifier))
            found = {}
            for system in systems:
                column, number = self.columns[0] if self.is_long else system, numbers.get(system)
                found[system] = None if number is None else field_of(rows[number], column, number, "response_fields")
            marked = chain.from_iterable(classifications_of(rows[number], number) for number in own)
            texts = read_responses(found, instance)
            prompts.append(Prompt(identifier, rows[own[0]], texts, tuple(dict.fromkeys(marked))))
        return tuple(prompts)

    def _rows_by_id(self, rows: Sequence[Row]) -> tuple[list[tuple[str | None, dict[str, int]]], tuple[str, ...]]:
        """Return the id of each prompt in long data, with system -> number of its row, and the systems."""
        held: dict[str | None, dict[str, int]] = {}
        for number, row in enumerate(rows):
            system = name_in(row, number, str(self.systems_field), "systems_field")
            identifier = name_in(row, number, str(self.id_field), "id_field")
            other = held.setdefault(identifier, {}).setdefault(system, number)
            if other != number:
                raise InvalidInputError(
                    f"rows {other} and {number} both hold a response of {system!r} to {identifier!r}: keep one of "
                    "them, or give each its own id"
                )
        return list(held.items()), self._choose_systems({system: None for own in held.values() for system in own})

    def _choose_systems(self, found: Mapping[str, None]) -> tuple[str, ...]:
        """Return the systems that are named, by default those that occur; two or more, and all must occur."""
        named = tuple(map(name_of, self.systems or found))
        unknown = [system for system in named if system not in found]
        if unknown or len(named) < 2:
            raise InvalidInputError(
                f"the column {self.systems_field!r} names the systems {list(found)!r}: two or more are compared"
                + (f", and systems names {unknown[0]!r}. {did_you_mean(unknown[0], found)}" if unknown else "")
            )
        return named


def _check_shared(field: str, rows: Sequence[Row], instance: int, identifier: str) -> None:
    """Check that a column is equal in all rows of a prompt that have it."""
    seen = [text_of(field_of(row, field, instance, "context_fields")) for row in rows if field in row]
    other = next((text for text in seen if text != seen[0]), None)
    if other is not None:
        raise InvalidInputError(
            f"the rows of {identifier!r} differ in {field!r} ({seen[0]!r} and {other!r}), which belongs to the prompt "
            "and is shown or counted once for all responses: give each prompt its own id"
        )


def read_responses(prediction: object, instance: int) -> dict[str, str | None]:
    """Return system -> response, from one instance's predictions.

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
    found = parse_cell(prediction, f"instance {instance}")
    if isinstance(found, (list, tuple)):
        found = {str(number): response for number, response in enumerate(found, start=1)}
    if not isinstance(found, Mapping):
        raise InvalidInputError(
            f"the predictions of instance {instance} are a {type(prediction).__name__}, {briefly(prediction)}; a "
            "comparison takes a list of responses, or a dict of system -> response"
        )
    if unnamed := [name for name in found if not isinstance(name, str) or not name.strip()]:
        raise InvalidInputError(f"instance {instance} names a system {unnamed[0]!r}; a system's name is a text")
    return {
        name: None if is_missing(value) else text_of(value, cell_name(name, instance)) for name, value in found.items()
    }


def responses_in(row: Row, instance: int, columns: Mapping[str, str]) -> dict[str, str | None]:
    """Return system -> response, from the columns of a row.

    Raises:
        InvalidInputError: If the row has no such column.
    """
    held = {system: field_of(row, column, instance, "response_fields") for system, column in columns.items()}
    return {
        system: None if is_missing(value) else text_of(value, cell_name(columns[system], instance))
        for system, value in held.items()
    }


def common_systems(rows: Sequence[Mapping[str, str | None]]) -> tuple[str, ...]:
    """Return the systems that every instance names, in the order of the first one.

    Raises:
        InvalidInputError: If there are no instances, fewer than two systems, or an instance names others than the
            first one does.
    """
    if not rows:
        raise InvalidInputError("there are no instances to compare: the data set is empty")
    systems = tuple(rows[0])
    for instance, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise InvalidInputError(
                f"instance {instance} names the systems {list(row)!r}, and instance 0 {list(systems)!r}: give a "
                "response of every system to every instance, None where there is none"
            )
    check_names(systems, "the systems of the predictions", 2)
    return systems


MOST_COMPARED: Final = 50
"""The number of cells whose responses are looked up in the prompts that were sent."""

_BEGINNING: Final = 60
"""The number of letters and digits of a response that are looked up."""

About = Mapping[str, Any]
"""The subject of a cell of a result: instance, system, criterion and the like."""


@dataclass(frozen=True)
class JudgedTexts:
    """The texts of a result.

    Attributes:
        prompts: Row of the result -> the responses, and the columns with what is shown next to them.
        context_fields: Name shown -> column; None for those of what was judged.
        reference_field: The column with a known good answer.
    """

    prompts: Mapping[int, Prompt]
    context_fields: Mapping[str, str] | None
    reference_field: str | None

    @classmethod
    def of(
        cls,
        header: Mapping[str, Any],
        abouts: Sequence[About],
        data: object,
        response_fields: str | None = None,
        context_fields: object = None,
    ) -> JudgedTexts:
        """Find the texts in the data that were judged.

        Args:
            header: What the result says of what was judged, with its parameters.
            abouts: What its cells are about.
            data: What :func:`~evenhand.data.rows.read_rows` reads.
            response_fields: The column with the responses, where the result does not know it, as with recorded votes.
            context_fields: What is shown next to them, in place of what the judge was shown.

        Raises:
            InvalidInputError: Data that are not those that were judged.
        """
        rows, parameters = read_rows(data), header["parameters"]
        systems = header.get("systems") or dict.fromkeys(about.get("system") or "" for about in abouts)
        shown = parameters.get("context_fields") if context_fields is None else context_mapping(context_fields)
        field = parameters.get("id_field")
        if parameters.get("systems_field"):
            layout = Layout(parameters["response_fields"], tuple(systems), parameters["systems_field"], field)
            prompts = layout.prompts(rows)
        else:
            columns = {system: system if response_fields is None else response_fields for system in systems}
            if not all(columns.values()):
                raise InvalidInputError(
                    "the result does not say where the responses are: name their column, response_fields=… (in the "
                    "shell --response-fields)"
                )
            prompts = tuple(
                Prompt(
                    None if field is None else name_of(field_of(row, field, number, "id_field")),
                    row,
                    responses_in(row, number, columns),
                )
                for number, row in enumerate(rows)
            )
        places = _places(parameters, abouts, [prompt.id for prompt in prompts])
        return cls({row: prompts[place] for row, place in places.items()}, shown, parameters.get("reference_field"))

    def shown(self, about: About) -> dict[str, str | None]:
        """Return system -> response for the systems of a cell; None without a response."""
        texts = self.prompts[about["instance"]].responses
        systems = (about["first"], about["second"]) if "first" in about else (about.get("system") or "",)
        return {system: texts[system] for system in systems}

    def context(self, about: About, criterion: Criterion) -> dict[str, str]:
        """Return name shown -> text, of what was shown next to the responses of a cell.

        Raises:
            InvalidInputError: If the row lacks a column.
        """
        instance = about["instance"]
        row = self.prompts[instance].fields
        return context_of(
            row, self.context_fields, criterion, instance, references_of(row, self.reference_field, instance)
        )

    def check_prompts(self, sent: Iterable[tuple[About, str]]) -> None:
        """Check that at least half of the first responses occur in the prompts about them; prompts may format texts.

        Args:
            sent: What cells are about, and the texts of the prompts about them.

        Raises:
            InvalidInputError: If they do not.
        """
        found = [
            (about["instance"], text is not None and _letters(text)[:_BEGINNING] in _letters(prompts))
            for about, prompts in islice(sent, MOST_COMPARED)
            for text in self.shown(about).values()
        ]
        other = [row for row, is_there in found if not is_there]
        if len(other) * 2 > len(found):
            raise InvalidInputError(
                f"row {other[0]} of the data is not the one that was judged: its response is another. Give the very "
                "rows that were judged, in their order, or judge with id_field=…, so that rows are found by their ids"
            )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _places(parameters: Mapping[str, Any], abouts: Sequence[About], names: Sequence[str | None]) -> dict[int, int]:
    """Return row of the result -> place in the data: by the ids of the rows, else by their number.

    Raises:
        InvalidInputError: If the data lack a row, or have another number of rows.
    """
    instances = {about["instance"]: about.get("prompt_id") for about in abouts}
    ids = {row: parameters["ids"][row] for row in instances} if parameters.get("ids") else instances
    judged = max(parameters["n"], max(instances) + 1)
    if None in names or None in ids.values():
        if len(names) < judged or parameters["n"] == judged < len(names):
            raise InvalidInputError(
                f"the data have {format_count(len(names), 'row')}, and {format_count(judged, 'row')} were judged: give "
                "the very rows that were judged, in their order"
            )
        return {row: row for row in instances}
    place_of = {name: place for place, name in enumerate(names)}
    if lost := [name for name in ids.values() if name not in place_of]:
        raise InvalidInputError(
            f"the data have no row with the id {lost[0]!r}, which was judged; {format_count(len(lost), 'row')} of "
            f"{len(ids)} are lacking, and the ids are {list(place_of)[:3]!r} …: give the data that were judged"
        )
    return {row: place_of[name] for row, name in ids.items()}

"""The texts of a result, read again from the judged data: results hold votes and no texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from evenhand.criteria import Checklist, Criterion
from evenhand.data.fields import cell_name, context_of, field_of, name_of, references_of, text_of
from evenhand.data.plain import context_mapping
from evenhand.data.rows import Layout, Row, read_rows
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_count
from evenhand.votes import is_missing

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
        header: What the result says of what was judged.
        rows: Row of the result -> row of the data, with what is shown next to the responses.
        responses: Row of the result -> system -> response, None if there is none.
        context_fields: Name shown -> column; None for those of what was judged.
    """

    header: Mapping[str, Any]
    rows: Mapping[int, Row]
    responses: Mapping[int, Mapping[str, str | None]]
    context_fields: Mapping[str, str] | None

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
        rows, said = read_rows(data), header["parameters"]
        systems = header.get("systems") or dict.fromkeys(about.get("system") or "" for about in abouts)
        if said.get("systems_field"):
            layout = Layout(said["response_fields"], tuple(systems), said["systems_field"], said["id_field"])
            prompts = layout.prompts(rows)
            places = _places_by_name(_prompt_ids(abouts), [str(prompt.id) for prompt in prompts])
            found = {row: prompts[place] for row, place in places.items()}
            held: Mapping[int, Row] = {row: prompt.fields for row, prompt in found.items()}
            texts: Mapping[int, Mapping[str, str | None]] = {row: prompt.responses for row, prompt in found.items()}
        else:
            held = {row: rows[place] for row, place in _places(said, abouts, rows).items()}
            columns = {system: system for system in systems}
            if response_fields is not None:
                columns = dict.fromkeys(columns or [""], response_fields)
            elif not any(columns):
                raise InvalidInputError(
                    "the result does not say where the responses are: name their column, response_fields=… (in the "
                    "shell --response-fields)"
                )
            texts = {row: _texts(own, row, columns) for row, own in held.items()}
        shown = said.get("context_fields") if context_fields is None else context_mapping(context_fields)
        return cls(header, held, texts, shown)

    def shown(self, about: About) -> dict[str, str | None]:
        """Return system -> response for the systems of a cell; None without a response."""
        texts = self.responses[about["instance"]]
        systems = (about["first"], about["second"]) if "first" in about else (about.get("system") or "",)
        return {system: texts[system] for system in systems}

    def context(self, about: About, criterion: Callable[[], Criterion]) -> dict[str, str]:
        """Return name shown -> text, of what was shown next to the responses.

        Args:
            about: What a cell is about.
            criterion: Makes its criterion, which says what is shown where the header does not.

        Raises:
            InvalidInputError: If the row lacks a column.
        """
        instance = about["instance"]
        references = references_of(self.rows[instance], self.header["parameters"].get("reference_field"), instance)
        judged: Criterion | Checklist
        if "checklist" in about:
            judged = Checklist.model_validate(self.header["checklists"][about["checklist"]])
        elif "criterion" in self.header:
            judged = Criterion.model_validate(self.header["criterion"])
        else:
            judged = criterion()
        return context_of(self.rows[instance], self.context_fields, judged, instance, references)

    def check_lengths(self, abouts: Iterable[About]) -> None:
        """Check that the responses of contests are as long as those that were judged.

        Raises:
            InvalidInputError: If one is not.
        """
        for about in abouts:
            judged = [about[name] for name in ("first_length", "second_length")]
            for (system, text), length in zip(self.shown(about).items(), judged, strict=True):
                if length is not None and length != (None if text is None else len(text)):
                    raise _other_data(about, system)

    def check_prompts(self, sent: Iterable[tuple[About, str]]) -> None:
        """Check that the responses stand in the prompts that were sent, where these were kept.

        Prompts show texts in their own way, so that a few may not be found: more than half is another data set.

        Args:
            sent: What a cell is about, and the text of the prompts that were sent about it.

        Raises:
            InvalidInputError: If they do not.
        """
        compared, missed = 0, []
        for about, prompts in islice(sent, MOST_COMPARED):
            letters = _letters(prompts)
            for system, text in self.shown(about).items():
                compared += 1
                if text is None or _letters(text)[:_BEGINNING] not in letters:
                    missed.append((about, system))
        if len(missed) * 2 > compared:
            raise _other_data(*missed[0])


def _other_data(about: About, system: str) -> InvalidInputError:
    of = f" of {system!r}" if system else ""
    return InvalidInputError(
        f"row {about['instance']} of the data is not the one that was judged: the response{of} is "
        "another. Give the very rows that were judged, in their order, or judge with id_field=…, so that rows "
        "are found by their ids"
    )


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _texts(row: Row, instance: int, columns: Mapping[str, str]) -> dict[str, str | None]:
    held = {system: field_of(row, column, instance, "response_fields") for system, column in columns.items()}
    return {
        system: None if is_missing(value) else text_of(value, cell_name(columns[system], instance))
        for system, value in held.items()
    }


def _prompt_ids(abouts: Iterable[About]) -> dict[int, str]:
    return {about["instance"]: about["prompt_id"] for about in abouts if about.get("prompt_id") is not None}


def _places(said: Mapping[str, Any], abouts: Sequence[About], rows: Sequence[Row]) -> dict[int, int]:
    """Return row of the result -> place in the data: by id if rows have one, else by number."""
    instances = list(dict.fromkeys(about["instance"] for about in abouts))
    known, field = said.get("ids", ()), said.get("id_field")
    ids = {row: known[row] for row in instances} if known else _prompt_ids(abouts)
    if ids and field is not None:
        return _places_by_name(
            ids, [name_of(field_of(row, field, number, "id_field")) for number, row in enumerate(rows)]
        )
    judged = max(said["n"], max(instances) + 1)
    if len(rows) <= max(instances) or (judged == said["n"] and len(rows) != judged):
        raise InvalidInputError(
            f"the data have {format_count(len(rows), 'row')}, and {format_count(judged, 'row')} were judged: give the "
            "very rows that were judged, in their order"
        )
    return {row: row for row in instances}


def _places_by_name(ids: Mapping[int, str], names: Sequence[str]) -> dict[int, int]:
    """Return row of the result -> the place of its id among those of the data.

    Raises:
        InvalidInputError: If the data lack one.
    """
    named = {name: place for place, name in enumerate(names)}
    lost = [name for name in ids.values() if name not in named]
    if lost:
        raise InvalidInputError(
            f"the data have no row with the id {lost[0]!r}, which was judged; {format_count(len(lost), 'row')} of "
            f"{len(ids)} are lacking, and the ids are {list(named)[:3]!r} …: give the data that were judged"
        )
    return {row: named[name] for row, name in ids.items()}

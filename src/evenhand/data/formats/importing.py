"""The formats of other tools that are known, and data and files in them as our own: documents, or rows of them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.data.documents import (
    checklist_document,
    criterion_document,
    read_checklist,
    read_criterion_or_fields,
    read_rubric,
    rubric_document,
)
from evenhand.data.formats.autochecklist import AUTOCHECKLIST
from evenhand.data.formats.autorubric import AUTORUBRIC, data_set_rows, is_data_set
from evenhand.data.formats.benchmark_rubrics import HEALTHBENCH, PAPERBENCH, PROMETHEUS, WILDBENCH
from evenhand.data.formats.evalassist import EVALASSIST
from evenhand.data.formats.translation import Format, Translated
from evenhand.data.plain_data import briefly, parse_json, read_document, read_text
from evenhand.errors import ArtifactError, EvenhandWarning

FORMATS: Mapping[str, Format] = {
    each.name: each for each in (AUTORUBRIC, AUTOCHECKLIST, EVALASSIST, HEALTHBENCH, PAPERBENCH, PROMETHEUS, WILDBENCH)
}


class LeftOutWarning(EvenhandWarning):
    """A file of another tool says what is not read with it."""


def format_of(data: object) -> Format | None:
    """The format of another tool that data are in; None where they are in none, or in our own."""
    return next((each for each in FORMATS.values() if each.fits(data)), None)


def translated(data: Any, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Data in the form of our own documents: those of another tool are translated, all others stay as they are.

    Warns (:class:`LeftOutWarning`) of what they say and is not read.
    """
    found = format_of(data)
    if found is None:
        return data
    read = found.document_of(data, what)
    if read.left_out:
        warnings.warn(f"{what} is {found.holds}; not read with it: {'; '.join(read.left_out)}", LeftOutWarning, 3)
    return read.data


class ImportedRows(list[dict[str, Any]]):
    """Rows of data."""


def import_file(path: Path) -> tuple[Format, Translated]:
    """What a file in the format of another tool says, in our own form.

    A file of rows becomes rows with one more column: ``rubric``, ``checklist`` or ``criterion``. Of a data set of
    autorubric, the columns are ``prompt``, ``response``, ``description``, ``reference``, ``gold`` and ``rubric``.

    Returns:
        Its format, and the document or the :class:`ImportedRows`.

    Raises:
        ArtifactError: If it cannot be read, or is in no format that is known.
        InvalidCriterionError: If it contradicts itself.
    """
    what = f"the file {str(path)!r}"
    if path.suffix.lower() == ".jsonl":
        lines = read_text(path, what, None).split("\n") if path.is_file() else []
        data: Any = [parse_json(line, f"line {place} of {what}") for place, line in enumerate(lines, 1) if line.strip()]
        if not data:
            raise ArtifactError(f"{what} does not exist, or is empty")
        return _rows(data, what)
    data = read_document(path, what)
    found = format_of(data)
    if found is None and isinstance(data, list) and data and format_of(data[0]) is not None:
        return _rows(data, what)
    if found is None:
        raise _unknown(data, what)
    if is_data_set(data):
        return found, Translated(
            ImportedRows(data_set_rows(data, what)), found.document_of({**data, "rubric": []}, what).left_out
        )
    return found, _document(found, data, what, path.stem)


def _rows(data: list[Any], what: str) -> tuple[Format, Translated]:
    rows = Translated(ImportedRows())
    formats: list[Format] = []
    for number, row in enumerate(data):
        found = format_of(row)
        if found is None or not isinstance(row, dict) or (formats and found != formats[0]):
            raise _unknown(row, f"row {number} of {what}")
        formats.append(found)
        document = _document(found, row, f"row {number} of {what}", None)
        for each in document.left_out:
            rows.without(each)
        rows.data.append({**row, _kind(document.data): document.data})
    return formats[0], rows


def _kind(document: dict[str, Any]) -> str:
    if "items" in document:
        return "checklist"
    return "rubric" if {"criteria", "sections"} & document.keys() else "criterion"


def _document(found: Format, data: Any, what: str, name: str | None) -> Translated:  # noqa: ANN401 - data may be anything
    """The document that the one reader of documents makes of it, as it would be written."""
    read = found.document_of(data, what)
    kind = _kind(read.data)
    if kind == "rubric":
        return Translated(rubric_document(read_rubric(read.data, what, name=name or kind)), read.left_out)
    if kind == "checklist":
        return Translated(checklist_document(read_checklist(read.data, what, name=name or kind)), read.left_out)
    criterion = read_criterion_or_fields(read.data, what)
    return Translated(criterion if isinstance(criterion, dict) else criterion_document(criterion), read.left_out)


def _unknown(data: object, what: str) -> ArtifactError:
    if isinstance(data, dict):
        shape = f"an object with the fields {sorted(data)!r}"
    elif isinstance(data, list) and data and isinstance(data[0], dict):
        shape = f"a list of objects, the first with the fields {sorted(data[0])!r}"
    else:
        shape = briefly(data)
    return ArtifactError(
        f"{what} holds {shape}, which is in no format of another tool that is known by its shape: "
        f"{', '.join(FORMATS)}; what is in evenhand's own form needs no import"
    )

"""The files of other tools: recognised by their shape, and read as documents or rows of evenhand's own.

=============  =======================================================  ==========
format         what is recognised                                       what it is
=============  =======================================================  ==========
autorubric     criteria with a ``requirement``; a data set; a dump      rubric
autochecklist  items with an ``id``, ``source_method``; ``questions``   checklist
evalassist     ``to_evaluate_field``, options with a ``score``          criterion
evalassist     ``items`` with a ``criterion`` and a weight              rubric
healthbench    ``rubrics`` of ``criterion`` and ``points``              rubric
paperbench     ``requirements`` and ``sub_tasks``                       rubric
prometheus     ``criteria`` and ``score1_description`` …                criterion
wildbench      a row with a ``checklist`` of questions                  checklist
=============  =======================================================  ==========

Logs and recorded preferences of other tools are rows: :func:`~evenhand.data.rows.read_log`.

unitxt's own criteria are read wherever criteria are (:mod:`evenhand.data.documents`).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.data.documents import (
    checklist_document,
    criterion_document,
    read_checklist,
    read_criterion_or_fields,
    read_rubric,
    rubric_document,
)
from evenhand.data.formats.logs import OTHER_SHAPE
from evenhand.data.formats.rubrics import FORMATS, Format, data_set_rows, is_data_set
from evenhand.data.plain import briefly, parse_json, read_document, read_text
from evenhand.errors import ArtifactError, EvenhandWarning, InvalidCriterionError


class LeftOutWarning(EvenhandWarning):
    """A part of a file of another tool is not read."""


def format_of(data: object) -> Format | None:
    """The format of another tool that data are in; None where they are in none, or in evenhand's own."""
    return next((each for each in FORMATS.values() if each.fits(data)), None)


def translated(data: Any, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Translate data in the format of another tool to a document of evenhand's; return all others as they are.

    Warns (:class:`LeftOutWarning`) of what is not read.
    """
    found = format_of(data)
    if found is None:
        return data
    document, left_out = _read(found, data, what)
    if left_out:
        warnings.warn(f"{what} is {found.holds}; not read with it: {'; '.join(left_out)}", LeftOutWarning, 3)
    return document


def _read(found: Format, data: object, what: str) -> tuple[dict[str, Any], list[str]]:
    left_out: list[str] = []
    try:
        return found.read(data, what, left_out), list(dict.fromkeys(left_out))
    except OTHER_SHAPE as error:
        raise InvalidCriterionError(
            f"{what} has the shape of {found.holds}, but not all of it: {type(error).__name__}: {error}"
        ) from error


class Imported(NamedTuple):
    """A file of another tool in evenhand's own form.

    Attributes:
        holds: What the file is.
        data: A document, or a list of rows.
        left_out: What was not read.
        are_rows: Whether the data are rows.
    """

    holds: str
    data: Any
    left_out: list[str]
    are_rows: bool = False


def import_file(path: Path) -> Imported:
    """Read a file in the format of another tool.

    A file of rows becomes rows with one more column: ``rubric``, ``checklist`` or ``criterion``. The rows of a data set
    of autorubric are those of :func:`~evenhand.data.formats.rubrics.data_set_rows`.

    Raises:
        ArtifactError: If it cannot be read, or is in no format that is known.
        InvalidCriterionError: If it contradicts itself.
    """
    what = f"the file {str(path)!r}"
    if path.suffix.lower() == ".jsonl":
        lines = read_text(path, what, None).split("\n") if path.is_file() else []
        rows = [parse_json(line, f"line {place} of {what}") for place, line in enumerate(lines, 1) if line.strip()]
        if not rows:
            raise ArtifactError(f"{what} does not exist, or is empty")
        return _import_rows(rows, what)
    data = read_document(path, what)
    found = format_of(data)
    if found is None and isinstance(data, list) and data and format_of(data[0]) is not None:
        return _import_rows(data, what)
    if found is None:
        raise _unknown(data, what)
    if is_data_set(data):
        _, left_out = _read(found, {**data, "rubric": data["rubric"] or []}, what)
        return Imported(found.holds, data_set_rows(data, what), left_out, are_rows=True)
    _, document, left_out = _document(found, data, what, path.stem)
    return Imported(found.holds, document, left_out)


def _import_rows(data: list[Any], what: str) -> Imported:
    rows: list[dict[str, Any]] = []
    left_out: list[str] = []
    first = format_of(data[0])
    for number, row in enumerate(data):
        where = f"row {number} of {what}"
        if first is None or format_of(row) != first or not isinstance(row, dict):
            raise _unknown(row, where)
        column, document, not_read = _document(first, row, where, None)
        left_out += not_read
        rows.append({**row, column: document})
    return Imported(first.holds if first else "", rows, list(dict.fromkeys(left_out)), are_rows=True)


def _document(found: Format, data: object, what: str, name: str | None) -> tuple[str, dict[str, Any], list[str]]:
    """The kind of document that data are, the document as evenhand writes it, and what is not read."""
    document, left_out = _read(found, data, what)
    if "items" in document:
        return "checklist", checklist_document(read_checklist(document, what, name=name or "checklist")), left_out
    if {"criteria", "sections"} & document.keys():
        return "rubric", rubric_document(read_rubric(document, what, name=name or "rubric")), left_out
    criterion = read_criterion_or_fields(document, what)
    return "criterion", criterion if isinstance(criterion, dict) else criterion_document(criterion), left_out


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

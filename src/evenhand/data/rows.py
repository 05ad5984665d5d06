"""Rows of data from wherever users hold them: Hugging Face data sets, lists of rows, and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evenhand.data.cells import different_keys
from evenhand.errors import InvalidInputError, did_you_mean

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]
SUFFIXES = (".jsonl", ".csv", ".parquet")


def read_rows(dataset: object, split: str | None = None) -> list[Row]:
    """The rows of a data set.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``, unless it has only one), or rows. Columns
            of the type ``ClassLabel`` are read as the names of their classes.
        split: Which split of a ``DatasetDict``.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, or rows that are not mappings.
    """
    import datasets  # noqa: PLC0415 - a second of import that only this needs

    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        dataset = _split_of(dataset, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(dataset, (str, bytes, Path, Mapping)):
        raise InvalidInputError(
            f"the data set is a {type(dataset).__name__}; give a datasets.Dataset, a DatasetDict with split=…, or a "
            "list of rows; evenhand.tables.read_file reads a file"
        )
    if hasattr(dataset, "to_dict") and hasattr(dataset, "iterrows"):
        raise InvalidInputError("the data set is a pandas table; give its rows: table.to_dict('records')")
    if not isinstance(dataset, Iterable):
        raise InvalidInputError(
            f"the data set is {dataset!r}; give a datasets.Dataset, a DatasetDict, or a list of rows"
        )
    rows = _with_class_names(dataset)
    if not rows:
        raise InvalidInputError("the data set is empty; there is nothing to judge")
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidInputError(f"row {index} of the data set is a {type(row).__name__}; a row is a mapping")
    return rows


def _with_class_names(dataset: Iterable[Any]) -> list[Any]:
    """The rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or {}
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}
    if not classes:
        return list(dataset)

    def named(row: Row) -> Row:
        return {name: _class_name(classes[name], value) if name in classes else value for name, value in row.items()}

    return [named(row) for row in dataset]


def _class_name(classes: datasets.ClassLabel, number: int | None) -> str | None:
    return None if number is None or number < 0 else str(classes.int2str(number))  # -1 is a test set without labels


def _split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    names = list(splits)
    if split is None and len(names) == 1:
        return splits[names[0]]
    if split is None:
        raise InvalidInputError(f"the data set has the splits {names!r}; say which with split=…, in the shell --split")
    if split not in names:
        raise InvalidInputError(f"the data set has no split {split!r}. {did_you_mean(split, names)}")
    return splits[split]


def read_file(path: str | Path, split: str | None = None) -> list[Row]:
    """The rows of a JSONL, CSV or Parquet file, or of a Hugging Face data set saved to disk.

    Raises:
        InvalidInputError: No such file, a kind that is not read, a line that is not what the file promises, or a
            column or key that is there twice.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        return _saved_rows(path, split)
    if not path.exists():
        raise InvalidInputError(f"there is no file or folder {str(path)!r}")
    if split is not None:
        raise InvalidInputError(f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out")
    readers = {".jsonl": _jsonl_rows, ".csv": _csv_rows, ".parquet": _parquet_rows}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InvalidInputError(
            f"{str(path)!r} ends in {path.suffix!r}. Accepted: {', '.join(map(repr, SUFFIXES))}, "
            "or the folder of a data set saved with save_to_disk"
        )
    rows = reader(path)
    if not rows:
        raise InvalidInputError(f"the data set {str(path)!r} is empty; there is nothing to judge")
    saved = saved_kind(rows[0])
    if saved is not None:
        raise InvalidInputError(
            f"{str(path)!r} is a saved result, not a data set: it holds {saved.holds}, which "
            f"evenhand.{saved.class_name}.load reads; give the rows that it was made from"
        )
    return rows


def _saved_rows(path: Path, split: str | None) -> list[Row]:
    import datasets  # noqa: PLC0415 - as above

    try:
        saved = datasets.load_from_disk(str(path))
    except FileNotFoundError as error:
        raise InvalidInputError(
            f"the folder {str(path)!r} is not a Hugging Face data set: save one there with dataset.save_to_disk"
        ) from error
    return read_rows(saved, split)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{str(path)!r} is not UTF-8 text (byte {error.start}): save it as UTF-8, or give it its true ending"
        ) from error


def _jsonl_rows(path: Path) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=partial(different_keys, where=f"line {number} of {str(path)!r}"))
        except json.JSONDecodeError as error:
            raise InvalidInputError(
                f"{str(path)!r} is not JSONL at line {number}: {error.msg} (column {error.colno}); each line must be "
                "one JSON object"
            ) from error
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"{str(path)!r} is not JSONL at line {number}: it holds a {type(row).__name__}; each line must be one "
                "JSON object"
            )
        rows.append(row)
    return rows


def _csv_rows(path: Path) -> list[Row]:
    lines = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    rows: list[Row] = []
    try:
        _check_columns(lines.fieldnames or (), path)
        for row in lines:
            if None in row or None in row.values():
                raise InvalidInputError(
                    f"{str(path)!r} has another number of cells in line {lines.line_num} than in its header"
                )
            rows.append(row)
    except csv.Error as error:
        raise InvalidInputError(f"{str(path)!r} is not CSV at line {lines.reader.line_num}: {error}") from error
    return rows


def _check_columns(names: Iterable[str], path: Path) -> None:
    different_keys([(name, None) for name in names], f"the header of {str(path)!r}")


def _parquet_rows(path: Path) -> list[Row]:
    import pyarrow  # noqa: PLC0415 - as above
    import pyarrow.parquet  # noqa: PLC0415

    try:
        schema = pyarrow.parquet.read_schema(path)
        header = (schema.metadata or {}).get(PARQUET_HEADER)
        if header is not None:
            return [json.loads(header)]  # which says that it is a saved result
        _check_columns(schema.names, path)
        rows: list[Row] = pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise InvalidInputError(f"{str(path)!r} is not a Parquet file: {error}") from error
    return rows


PARQUET_HEADER = b"evenhand"
"""The key in the metadata of a Parquet file under which a saved result has its header."""


class SavedKind(NamedTuple):
    """What a saved result is.

    Attributes:
        holds: What its rows are, for messages.
        class_name: Of the result.
    """

    holds: str
    class_name: str


KINDS = {
    "judgements": SavedKind("judgements", "JudgementTable"),
    "winrates": SavedKind("contests", "WinrateTable"),
    "checklist": SavedKind("checked responses", "ChecklistTable"),
    "grade_scores": SavedKind("graded instances", "GradeTable"),
    "aggregated_votes": SavedKind("aggregated votes", "VoteTable"),
    "agreement": SavedKind("the agreement of raters", "AgreementTable"),
}
"""What the header of a saved result calls it -> what it is."""


def saved_kind(header: object) -> SavedKind | None:
    """What a saved result holds, and which class loads it, by its header; None for anything else.

    >>> saved_kind({"evenhand": "winrates", "rows": 3, "parameters": {}})
    SavedKind(holds='contests', class_name='WinrateTable')
    >>> saved_kind({"question": "Who?", "response": "Jane Austen."}) is None
    True
    """
    if not isinstance(header, Mapping) or not {"evenhand", "rows", "parameters"} <= header.keys():
        return None
    kind = header["evenhand"]
    return KINDS.get(kind) if isinstance(kind, str) else None

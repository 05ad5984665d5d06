"""What Ray Data reads: rows of files and data sets as blocks of Arrow tables, and such a block as rows again.

Parquet files and Hugging Face data sets are read by Ray Data. JSON lines, JSON and CSV are read by the reader of one
process, in tasks of Ray, so that a cell is what it is there: Ray's readers make numbers of "007" and dates of texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evenhand.data.row_files import files_named, is_saved_set, rows_of_file, rows_of_lines
from evenhand.data.rows import Row, row_batches, split_of
from evenhand.distributed.worker import UnreadRow
from evenhand.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow
    import ray.data

ROWS_A_BLOCK: Final = 256
_ROW, _WHY = "evenhand: row", "evenhand: why not"
"""Columns of a block that holds rows as JSON: the row, or where it stands and why it is none."""


@dataclass(frozen=True)
class RowSource:
    """Where rows come from.

    Attributes:
        data: What Ray Data reads.
        classes: Of a Hugging Face data set, the names of the classes that a column counts.
    """

    data: ray.data.Dataset
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)


def source_of(dataset: object, split: str | None, read_cpus: float) -> RowSource:
    """What Ray Data reads of a data set, a file, several, a folder or a pattern.

    Raises:
        InvalidInputError: If there is none such, or it cannot be carried to other machines.
    """
    import ray.data  # noqa: PLC0415 - the extra, and seconds of import

    if isinstance(dataset, ray.data.Dataset):
        return RowSource(dataset)
    named = [dataset] if isinstance(dataset, str | Path) else dataset
    if isinstance(named, list | tuple) and named and all(isinstance(each, str | Path) for each in named):
        if all("://" in str(each) for each in named):
            return RowSource(ray.data.read_parquet(list(map(str, named)), num_cpus=read_cpus))
        files = [path.resolve() for each in named for path in files_named(each)]
        if len(files) == 1 and is_saved_set(files[0]):
            dataset = files[0]
        elif all(path.suffix.lower() == ".parquet" for path in files):
            paths = list(map(str, files))
            return RowSource(ray.data.read_parquet(paths, num_cpus=read_cpus, partitioning=None, file_extensions=None))
        else:
            names = ray.data.from_items([{"path": str(path)} for path in files], override_num_blocks=len(files))
            return RowSource(names.map_batches(_read, batch_size=1, batch_format="pyarrow", num_cpus=read_cpus))
    import datasets  # noqa: PLC0415 - a second of import

    if isinstance(dataset, Path):
        dataset = datasets.load_from_disk(str(dataset))
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        dataset = split_of(dataset, split)
    if isinstance(dataset, (datasets.Dataset, datasets.IterableDataset)):
        features = dataset.features or {}
        counted = {name: kind.names for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}
        return RowSource(ray.data.from_huggingface(dataset), counted)
    blocks = [_table([_as_json(row) for row in batch]) for batch in row_batches(dataset, split, rows=ROWS_A_BLOCK)]
    return RowSource(ray.data.from_arrow(blocks))


def _read(paths: pyarrow.Table) -> Iterator[pyarrow.Table]:
    """The rows of files, in a task of Ray."""
    for name in paths["path"].to_pylist():
        path = Path(name)
        by_line = path.name.lower().endswith((".jsonl", ".jsonl.gz"))
        rows = map(_as_json, rows_of_lines(path) if by_line else rows_of_file(path, held=False))
        while block := list(islice(rows, ROWS_A_BLOCK)):
            yield _table(block)


def _as_json(row: Row | tuple[str, InvalidInputError]) -> tuple[str, str | None]:
    if isinstance(row, tuple):
        return row[0], str(row[1])
    try:
        return json.dumps(dict(row)), None
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"the data hold a row that cannot be carried to other machines as it is ({error}): write them to a Parquet "
            "file, and give its path"
        ) from error


def _table(rows: Sequence[tuple[str, str | None]]) -> pyarrow.Table:
    import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

    texts, whys = zip(*rows, strict=True)
    return pyarrow.table({_ROW: pyarrow.array(texts, pyarrow.string()), _WHY: pyarrow.array(whys, pyarrow.string())})


def rows_of(block: pyarrow.Table, classes: Mapping[str, Sequence[str]]) -> list[Row | UnreadRow]:
    """The rows of a block."""
    if block.column_names == [_ROW, _WHY]:
        pairs: Iterable[Any] = zip(block[_ROW].to_pylist(), block[_WHY].to_pylist(), strict=True)
        return [json.loads(text) if why is None else UnreadRow(text, why) for text, why in pairs]
    rows: list[Any] = block.to_pylist()
    for name, names in classes.items():
        for row in rows:
            number = row[name]
            row[name] = None if number is None or number < 0 else names[number]
    return rows

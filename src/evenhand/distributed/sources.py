"""What Ray Data reads: rows of files and data sets as blocks of Arrow tables, and such a block as rows again.

Parquet files are read by Ray Data. All else is read by the reader of one process, files in tasks of Ray, so that a cell
is what it is there: Ray's readers make numbers of "007", dates of texts, and of a stream of Hugging Face's that was
filtered the whole data set that their hub has.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from evenhand.data.files import check_types, files_named, is_saved_set, opened_parquet, rows_of_file, rows_of_lines
from evenhand.data.rows import Row, RowBatch, row_batches
from evenhand.distributed.worker import BrokenRow
from evenhand.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow
    import ray.data

ROWS_A_BLOCK: Final = 256
_ROW, _WHY = "evenhand: row", "evenhand: why not"
"""Columns of a block that holds rows as JSON: the row, or where it stands and why it is none."""


def is_read_by_ray(dataset: object) -> bool:
    """Whether only Ray can read it: a data set of Ray, or the addresses of Parquet files."""
    paths = paths_of(dataset)
    if paths:
        return all("://" in str(path) for path in paths)
    return type(dataset).__module__.partition(".")[0] == "ray"


def paths_of(dataset: object) -> list[str | Path]:
    """The paths that a data set is given by; none where it is something else."""
    given: Sequence[Any] = dataset if isinstance(dataset, list | tuple) else [dataset]
    return list(given) if all(isinstance(each, str | Path) for each in given) else []


def source_of(dataset: Any, split: str | None, read_cpus: float) -> ray.data.Dataset:  # noqa: ANN401 - of any library
    """What Ray Data reads of a data set, a file, several, a folder or a pattern.

    Raises:
        InvalidInputError: If there is none such, or it cannot be carried to other machines.
    """
    import ray.data  # noqa: PLC0415 - the extra, and seconds of import

    paths = paths_of(dataset)
    if is_read_by_ray(dataset):
        return _checked(ray.data.read_parquet(list(map(str, paths)), num_cpus=read_cpus) if paths else dataset)
    files = [path.resolve() for each in paths for path in files_named(each)]
    if files and _are_parquet_alike(files):
        paths = list(map(str, files))
        return ray.data.read_parquet(paths, num_cpus=read_cpus, partitioning=None, file_extensions=None)
    if files and not any(map(is_saved_set, files)):
        names = ray.data.from_items([{"path": str(path)} for path in files], override_num_blocks=len(files))
        return names.map_batches(_read, batch_size=1, batch_format="pyarrow", num_cpus=read_cpus)
    batches = row_batches(dataset, split, rows=ROWS_A_BLOCK)
    return ray.data.from_arrow_refs([ray.put(_block(map(_as_json, each))) for each in batches])  # one is held here


def _are_parquet_alike(files: Sequence[Path]) -> bool:
    """Whether they have the same columns: rows of others are read by Ray with all columns of all files."""
    if not all(path.suffix.lower() == ".parquet" for path in files):
        return False
    schemas = []
    for path in files:
        with opened_parquet(path) as file:
            schemas.append(file.schema_arrow)
    return all(schemas[0].equals(other) for other in schemas[1:])


def _checked(dataset: ray.data.Dataset) -> ray.data.Dataset:
    """A data set of Ray, none of whose columns runs code when its values are read."""
    import pyarrow  # noqa: PLC0415 - as above

    schema = dataset.schema()
    if schema is not None and isinstance(schema.base_schema, pyarrow.Schema):
        check_types(schema.base_schema, "the data set")
    return dataset


def _read(paths: pyarrow.Table) -> Iterator[pyarrow.Table]:
    """The rows of files, in a task of Ray."""
    for name in paths["path"].to_pylist():
        path = Path(name)
        by_line = path.name.lower().endswith((".jsonl", ".jsonl.gz"))
        rows = map(_as_json, rows_of_lines(path) if by_line else rows_of_file(path, held=False))
        while block := list(islice(rows, ROWS_A_BLOCK)):
            yield _block(block)


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


def _block(rows: Iterable[tuple[str, str | None]]) -> pyarrow.Table:
    import pyarrow  # noqa: PLC0415 - as above

    texts, whys = zip(*rows, strict=True)
    return pyarrow.table({_ROW: pyarrow.array(texts, pyarrow.string()), _WHY: pyarrow.array(whys, pyarrow.string())})


def rows_of(block: pyarrow.Table) -> list[Row | BrokenRow]:
    """The rows of a block."""
    if block.column_names == [_ROW, _WHY]:
        pairs: Iterable[Any] = zip(block[_ROW].to_pylist(), block[_WHY].to_pylist(), strict=True)
        return [json.loads(text) if why is None else BrokenRow(text, why) for text, why in pairs]
    check_types(block.schema, "a block of rows")
    return list(block.to_pylist())


def first_rows(dataset: Any, split: str | None, number: int) -> Iterator[RowBatch]:  # noqa: ANN401 - of any library
    """So many rows of a data set, or more, from its beginning; what only Ray can read needs a cluster."""
    if not is_read_by_ray(dataset):
        return row_batches(dataset, split, rows=number)
    return iter([RowBatch(source_of(dataset, split, 1.0).take(number), [(0, "the data set", 0)])])

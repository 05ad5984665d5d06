"""Rows of data from wherever users hold them: Hugging Face data sets, data frames, Arrow tables, lists, and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, cast

import pyarrow

from evenhand.data.arrow_files import check_saved_set, check_types
from evenhand.data.plain_data import is_of
from evenhand.data.row_files import SUFFIXES, check_columns, files_named, rows_in_file, rows_of_file
from evenhand.errors import InvalidInputError, did_you_mean

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]

ACCEPTED = (
    "a datasets.Dataset, a DatasetDict with split=…, a pandas or polars DataFrame, an Arrow table, a list of rows, or "
    f"the path of a file ({', '.join(SUFFIXES)}; .gz too), of a folder of such files, or of a saved data set"
)


def read_rows(dataset: object, split: str | None = None) -> list[Row]:
    """The rows of a data set, all of them: see :func:`row_batches`.

    Raises:
        InvalidInputError: As there.
    """
    if isinstance(dataset, IdentifiedRows):
        return dataset
    return [row for batch in row_batches(dataset, split, held=True) for row in batch]


class RowBatch(list[Row]):
    """Rows that follow one another, and where each comes from.

    Attributes:
        starts: Where in the batch the rows of another file begin: place in the batch, name of the file, and the number
            of this row among those of the file.
    """

    def __init__(self, rows: Iterable[Row] = (), starts: Iterable[tuple[int, str, int]] = ()) -> None:
        super().__init__(rows)
        self.starts = list(starts)

    def name(self, place: int) -> str:
        """What messages call a row: its number, from 0, among those of its file.

        >>> RowBatch([{}, {}, {}], [(0, "'a.csv'", 70), (1, "'b.csv'", 0)]).name(2)
        "row 1 of 'b.csv'"
        """
        start, name, number = next(each for each in reversed(self.starts) if each[0] <= place)
        return f"row {number + place - start} of {name}"


class IdentifiedRows(list[Row]):
    """Rows whose ids are known, as those of a stream are.

    Attributes:
        ids: One a row; of data with a row a response, one a prompt.
        contents: Digits for all that each of these holds, one after the other.
        id_field: The column that names a row; None where it is named by what it holds.
    """

    def __init__(self, rows: Iterable[Row], ids: Iterable[str], contents: str, id_field: str | None) -> None:
        super().__init__(rows)
        self.ids, self.contents, self.id_field = list(ids), contents, id_field


def row_batches(
    dataset: object, split: str | None = None, *, rows: int = 1024, held: bool = False
) -> Iterator[RowBatch]:
    """The rows of a data set, so many at a time, of which no more are held.

    Args:
        dataset: A ``datasets.Dataset`` or ``IterableDataset``, a ``DatasetDict`` (with ``split``, unless it has only
            one), a pandas or polars ``DataFrame``, an Arrow table or reader of record batches (or what else exports
            itself as one, such as a DuckDB relation), an iterable of rows, or the path of a file that
            :func:`read_file` reads, of a folder of such files, a pattern, or several paths: files follow one another.
            Columns of the type ``ClassLabel`` are read as the names of their classes.
        split: Which split of a ``DatasetDict``.
        rows: In a batch; the last one may have fewer.
        held: All rows will be held, so that a file that would fill the memory is not read to its end.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, rows that are not mappings, or a file
            that cannot be read; what comes later in a file is found when it is read.
    """
    batch, empty, name = RowBatch(), True, ""
    for name, source in _sources(dataset, split, held=held):
        for number, row in enumerate(source):
            if not isinstance(row, Mapping):
                raise InvalidInputError(f"row {number} of {name} is a {type(row).__name__}; a row is a mapping")
            if number == 0 or not batch:
                batch.starts.append((len(batch), name, number))
            batch.append(row)
            if len(batch) == rows:
                yield batch
                batch, empty = RowBatch(), False
    if batch:
        yield batch
    elif empty:
        raise InvalidInputError(f"{name} is empty; there is nothing to judge")


def rows_known(dataset: Any, split: str | None = None) -> int | None:  # noqa: ANN401 - of any library
    """How many rows a data set has, where that is known without reading them; else None.

    Of files that is known of Parquet.

    >>> rows_known([{"response": "a"}, {"response": "b"}]), rows_known(iter(()))
    (2, None)
    """
    if isinstance(dataset, str | Path) or _are_paths(dataset):
        paths = [dataset] if isinstance(dataset, str | Path) else dataset
        counts = [rows_in_file(path) for given in paths for path in files_named(given)]
        return None if None in counts else sum(filter(None, counts))
    if isinstance(dataset, Mapping):  # splits
        dataset = dataset.get(split) if split is not None or len(dataset) != 1 else next(iter(dataset.values()))
    counted = getattr(dataset, "num_rows", None)
    if isinstance(counted, int):
        return counted
    return len(dataset) if hasattr(dataset, "__len__") else None


def _sources(dataset: object, split: str | None, *, held: bool) -> Iterator[tuple[str, Iterable[Any]]]:
    """The files, or the one data set, with the names that messages give them."""
    if isinstance(dataset, str | Path) or _are_paths(dataset):
        paths = [dataset] if isinstance(dataset, str | Path) else list(dataset)
        for path in [path for given in paths for path in files_named(given)]:
            if path.is_dir():
                yield f"the data set {str(path)!r}", _rows_of_object(_saved_set(path), split)
            elif split is not None:
                raise InvalidInputError(
                    f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out"
                )
            else:
                yield f"the data set {str(path)!r}", _rows_of_data_file(path, held=held)
        return
    yield "the data set", _rows_of_object(dataset, split)


def _are_paths(dataset: object) -> TypeGuard[Sequence[str | Path]]:
    named = isinstance(dataset, list | tuple) and bool(dataset)
    return named and all(isinstance(each, str | Path) for each in dataset)  # type: ignore[attr-defined] # as above


def _saved_set(path: Path) -> object:
    import datasets  # noqa: PLC0415 - a second of import that only its data sets need

    try:
        check_saved_set(path)
        return datasets.load_from_disk(str(path))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a data set saved with save_to_disk ({error})") from error


def _rows_of_data_file(path: Path, *, held: bool) -> Iterator[Row]:
    """The rows of a file, which is no saved result."""
    rows = rows_of_file(path, held=held)
    for row in rows:
        saved = saved_kind(row)
        if saved is not None:
            raise InvalidInputError(
                f"{str(path)!r} is a saved result, not a data set: it holds {saved.holds}, which "
                f"evenhand.{saved.class_name}.load reads; give the rows that it was made from"
            )
        yield row
        break
    yield from rows


def _rows_of_object(dataset: Any, split: str | None) -> Iterable[Any]:  # noqa: ANN401 - of any library
    """The rows of what is no file.

    pandas has cells of any type, which Arrow has not, so its rows are its own; all others export themselves as Arrow
    (the PyCapsule interface: polars, pyarrow, DuckDB, ibis), a lazy frame of polars once it is collected.
    """
    if is_of(dataset, "datasets") and isinstance(dataset, Mapping):  # a DatasetDict or an IterableDatasetDict
        dataset = split_of(dataset, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(dataset, (bytes, Mapping)):
        raise InvalidInputError(f"the data set is a {type(dataset).__name__}; give {ACCEPTED}")
    if is_of(dataset, "datasets") and hasattr(dataset, "info"):  # not one of its columns
        return _with_class_names(dataset)
    if hasattr(dataset, "iterrows"):
        check_columns(dataset.columns, _FRAME)
        _check_frame(dataset)
        return _rows_of_frame(dataset)
    if type(dataset).__module__.startswith("polars") and hasattr(dataset, "collect"):
        dataset = dataset.collect()
    if hasattr(dataset, "__arrow_c_stream__"):
        try:
            reader = pyarrow.RecordBatchReader.from_stream(dataset)
        except (pyarrow.ArrowInvalid, TypeError):  # one column alone, without a name
            return cast("Iterable[Any]", dataset)
        check_columns(reader.schema.names, _FRAME)
        check_types(reader.schema, "the data frame")
        return _rows_of_reader(reader)
    if not isinstance(dataset, Iterable):
        raise InvalidInputError(f"the data set is {dataset!r}; give {ACCEPTED}")
    return dataset


_FRAME = "the header of the data frame"
_ROWS_AT_ONCE = 1024


def _check_frame(frame: Any) -> None:  # noqa: ANN401 - as above
    """Check the columns that pandas holds as Arrow does."""
    kinds = ((str(name), getattr(kind, "pyarrow_dtype", None)) for name, kind in frame.dtypes.items())
    check_types(pyarrow.schema([(name, kind) for name, kind in kinds if kind is not None]), "the data frame")


def _rows_of_frame(frame: Any) -> Iterator[Any]:  # noqa: ANN401 - as above
    for first in range(0, len(frame), _ROWS_AT_ONCE):
        yield from frame.iloc[first : first + _ROWS_AT_ONCE].to_dict("records")


def _rows_of_reader(reader: pyarrow.RecordBatchReader) -> Iterator[Any]:
    for batch in reader:
        for first in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield from batch.slice(first, _ROWS_AT_ONCE).to_pylist()


def _with_class_names(dataset: datasets.Dataset | datasets.IterableDataset) -> Iterator[Any]:
    """The rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or datasets.Features()
    held = dataset.data.schema if isinstance(dataset, datasets.Dataset) else features.arrow_schema
    check_types(held, "the data set")
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}

    def named(row: Row) -> Row:
        return {name: _class_name(classes[name], value) if name in classes else value for name, value in row.items()}

    return map(named, dataset) if classes else iter(dataset)


def _class_name(classes: datasets.ClassLabel, number: int | None) -> str | None:
    return None if number is None or number < 0 else str(classes.int2str(number))  # -1 is a test set without labels


def split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    """The split of this name; without one, the only one that there is.

    Raises:
        InvalidInputError: If there is none such, or several without a name.
    """
    names = list(splits)
    if split is None and len(names) == 1:
        return splits[names[0]]
    if split is None:
        raise InvalidInputError(f"the data set has the splits {names!r}; say which with split=…, in the shell --split")
    if split not in names:
        raise InvalidInputError(f"the data set has no split {split!r}. {did_you_mean(split, names)}")
    return splits[split]


def read_file(path: str | Path, split: str | None = None) -> list[Row]:
    """The rows of a JSON lines, JSON, CSV or Parquet file, or of a Hugging Face data set saved to disk.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too; :func:`~evenhand.read_log` knows those of other tools. What the
    shell has opened (``-`` for standard input, ``<(…)``) has no name that ends in a format: JSON lines, JSON and CSV
    are told apart there, compressed or not. A folder of such files, and a pattern such as ``shards/*.jsonl.gz``, stand
    for the files one after the other.

    Raises:
        InvalidInputError: No such file, a kind that is not read, a line that is not what the file promises, or a
            column or key that is there twice.
    """
    return read_rows(Path(path), split)


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
    "mode_results": SavedKind("results of a mode", "ModeResults"),
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

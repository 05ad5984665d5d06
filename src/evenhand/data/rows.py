"""Rows of data from all sources of users, and the responses of several systems in the rows.

Rows are those of a Hugging Face data set, a data frame, an Arrow table, a list or a file. The responses to a prompt are
one instance's predictions, or stand in wide data (one column per system) or long data (one row per response).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import pyarrow

from evenhand.data.fields import cell_name, classifications_of, field_of, name_in, name_of, text_of
from evenhand.data.formats.logs import rows_of_log
from evenhand.data.plain import briefly, is_of, parse_cell
from evenhand.data.row_files import (
    SUFFIXES,
    check_columns,
    check_saved_set,
    check_types,
    files_named,
    rows_in_file,
    rows_of_file,
)
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.question import Classifications
from evenhand.votes import is_missing

if TYPE_CHECKING:
    import datasets

Row = Mapping[str, Any]

ACCEPTED = (
    "a datasets.Dataset, a DatasetDict with split=…, a pandas or polars DataFrame, an Arrow table, a list of rows, or "
    f"the path of a file ({', '.join(SUFFIXES)}; .gz too), of a folder of such files, or of a saved data set"
)


def read_rows(data: object, split: str | None = None) -> list[Row]:
    """Return the rows of a data set, all of them: see :func:`row_batches`.

    Raises:
        InvalidInputError: As there.
    """
    if isinstance(data, IdentifiedRows):
        return data
    return [row for batch in row_batches(data, split, held=True) for row in batch]


class RowBatch(list[Row]):
    """Consecutive rows, and the source of each.

    Attributes:
        starts: Where in the batch the rows of another file begin: place in the batch, name of the file, and the number
            of this row among those of the file.
    """

    def __init__(self, rows: Iterable[Row] = (), starts: Iterable[tuple[int, str, int]] = ()) -> None:
        super().__init__(rows)
        self.starts = list(starts)

    def name(self, place: int) -> str:
        """Return what messages call a row: its number, from 0, among those of its file.

        >>> RowBatch([{}, {}, {}], [(0, "'a.csv'", 70), (1, "'b.csv'", 0)]).name(2)
        "row 1 of 'b.csv'"
        """
        start, name, number = next(each for each in reversed(self.starts) if each[0] <= place)
        return f"row {number + place - start} of {name}"


class IdentifiedRows(list[Row]):
    """Rows whose ids are known, as those of a stream are.

    Attributes:
        ids: One per row, or per prompt where a row holds one response.
        contents: The digests of what each of these holds, joined.
        id_field: The column that names a row; None if it is named by what it holds.
    """

    def __init__(self, rows: Iterable[Row], ids: Iterable[str], contents: str, id_field: str | None) -> None:
        super().__init__(rows)
        self.ids, self.contents, self.id_field = list(ids), contents, id_field


def row_batches(data: object, split: str | None = None, *, rows: int = 1024, held: bool = False) -> Iterator[RowBatch]:
    """Yield the rows of a data set in batches; only one batch is held.

    Args:
        data: A ``datasets.Dataset`` or ``IterableDataset``, a ``DatasetDict`` (with ``split``, unless it has only
            one), a pandas or polars ``DataFrame``, an Arrow table or reader of record batches (or what else exports
            itself as one, such as a DuckDB relation), an iterable of rows, or the path of a file that
            :func:`read_file` reads, of a folder of such files, a pattern, or several paths: files follow one another.
            Columns of the type ``ClassLabel`` are read as the names of their classes.
        split: The split of a ``DatasetDict``.
        rows: In a batch; the last one may have fewer.
        held: All rows will be held, so that a file that would fill the memory is not read to its end.

    Raises:
        InvalidInputError: No rows, no such split, a split that must be named, rows that are not mappings, or a file
            that cannot be read; what comes later in a file is found when it is read.
    """
    batch, empty, name = RowBatch(), True, ""
    for name, source in _sources(data, split, held=held):
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


def rows_known(data: Any, split: str | None = None) -> int | None:  # noqa: ANN401 - of any library
    """Return how many rows a data set has, where that is known without reading them; else None.

    Of files that is known of Parquet.

    >>> rows_known([{"response": "a"}, {"response": "b"}]), rows_known(iter(()))
    (2, None)
    """
    if isinstance(data, str | Path) or _are_paths(data):
        paths = [data] if isinstance(data, str | Path) else data
        counts = [rows_in_file(path) for given in paths for path in files_named(given)]
        return None if None in counts else sum(filter(None, counts))
    if isinstance(data, Mapping):  # splits
        data = data.get(split) if split is not None or len(data) != 1 else next(iter(data.values()))
    counted = getattr(data, "num_rows", None)
    if isinstance(counted, int):
        return counted
    return len(data) if hasattr(data, "__len__") else None


def _sources(data: object, split: str | None, *, held: bool) -> Iterator[tuple[str, Iterable[Any]]]:
    """Yield the files, or the one data set, with the names that messages give them."""
    if not isinstance(data, str | Path) and not _are_paths(data):
        yield "the data set", _rows_of_object(data, split)
        return
    for path in [path for given in ([data] if isinstance(data, str | Path) else data) for path in files_named(given)]:
        if not path.is_dir() and split is not None:
            raise InvalidInputError(f"split is {split!r}, but {str(path)!r} is one file without splits; leave it out")
        rows = _rows_of_object(_saved_set(path), split) if path.is_dir() else rows_of_file(path, held=held)
        yield f"the data set {str(path)!r}", rows


def _are_paths(data: object) -> TypeGuard[Sequence[str | Path]]:
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(each, str | Path) for each in data)


def _saved_set(path: Path) -> object:
    import datasets  # noqa: PLC0415 - a second of import that only its data sets need

    try:
        check_saved_set(path)
        return datasets.load_from_disk(str(path))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise InvalidInputError(f"{str(path)!r} is not a data set saved with save_to_disk ({error})") from error


def _rows_of_object(data: Any, split: str | None) -> Iterator[Any]:  # noqa: ANN401 - of any library
    """Yield the rows of an object that is not a path.

    pandas has cells of any type, which Arrow has not, so its rows are its own; all others export themselves as Arrow
    (the PyCapsule interface: polars, pyarrow, DuckDB, ibis), a lazy frame of polars once it is collected.
    """
    if is_of(data, "datasets") and isinstance(data, Mapping):  # a DatasetDict or an IterableDatasetDict
        data = _split_of(data, split)
    elif split is not None:
        raise InvalidInputError(f"split is {split!r}, but the data set has no splits; leave it out")
    if isinstance(data, (bytes, Mapping)):
        raise InvalidInputError(f"the data set is a {type(data).__name__}; give {ACCEPTED}")
    if is_of(data, "datasets") and hasattr(data, "info"):  # not one of its columns
        yield from _with_class_names(data)
        return
    if type(data).__module__.startswith("polars") and hasattr(data, "collect"):
        data = data.collect()
    reader = None
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "iterrows"):
        with suppress(pyarrow.ArrowInvalid, TypeError):  # one column alone, without a name
            reader = pyarrow.RecordBatchReader.from_stream(data)
    if reader is not None or hasattr(data, "iterrows"):
        yield from _rows_of_frame(data, reader)
    elif isinstance(data, Iterable):
        yield from data
    else:
        raise InvalidInputError(f"the data set is {data!r}; give {ACCEPTED}")


def _rows_of_frame(frame: Any, reader: pyarrow.RecordBatchReader | None) -> Iterator[Any]:  # noqa: ANN401 - as above
    """Yield the rows of a data frame of pandas, or of what a reader holds, after checking columns and types."""
    where, size = "the data frame", 1024
    check_columns(frame.columns if reader is None else reader.schema.names, f"the header of {where}")
    if reader is not None:
        check_types(reader.schema, where)
        for batch in reader:
            for first in range(0, batch.num_rows, size):
                yield from batch.slice(first, size).to_pylist()
        return
    kinds = ((str(name), getattr(kind, "pyarrow_dtype", None)) for name, kind in frame.dtypes.items())
    check_types(pyarrow.schema([(name, kind) for name, kind in kinds if kind is not None]), where)
    for first in range(0, len(frame), size):
        yield from frame.iloc[first : first + size].to_dict("records")


def _with_class_names(dataset: datasets.Dataset | datasets.IterableDataset) -> Iterator[Any]:
    """Yield the rows; a column of a Hugging Face data set that counts its classes holds their names.

    Such a number is the place of a class in the data set's own list, and neither a value nor a place of a criterion.
    """
    import datasets  # noqa: PLC0415 - as above

    features = getattr(dataset, "features", None) or datasets.Features()
    held = dataset.data.schema if isinstance(dataset, datasets.Dataset) else features.arrow_schema
    check_types(held, "the data set")
    classes = {name: kind for name, kind in features.items() if isinstance(kind, datasets.ClassLabel)}
    for row in dataset:
        numbers = {name: row[name] for name in classes if name in row}
        without = {name: None for name, number in numbers.items() if number is None or number < 0}  # -1: no label
        named = {name: str(classes[name].int2str(number)) for name, number in numbers.items() if name not in without}
        yield {**row, **named, **without} if classes else row


def row_ids(rows: Sequence[Mapping[str, Any]], field: str | None) -> dict[str, Any]:
    """Return ``id_field`` and ``ids``, as a result repeats them; empty if rows have no ids.

    Args:
        rows: The data.
        field: The column that names each row; None for none.

    Raises:
        InvalidInputError: If a row has no id, or one that another has.
    """
    if isinstance(rows, IdentifiedRows):
        return {"id_field": field, "ids": rows.ids}
    if field is None:
        return {}
    known: dict[str, int] = {}
    for number, row in enumerate(rows):
        name = name_in(row, number, field, "id_field")
        if name in known:
            raise InvalidInputError(
                f"rows {known[name]} and {number} both have the id {name!r} in {field!r}, which id_field names: every "
                "row needs an id of its own; for rows that belong together, name the column with cluster_field"
            )
        known[name] = number
    return {"id_field": field, "ids": list(known)}


def _split_of(splits: datasets.DatasetDict, split: str | None) -> datasets.Dataset:
    """Return the split of this name; without one, the only one that there is."""
    name = next(iter(splits)) if split is None and len(splits) == 1 else split
    if name not in splits:
        raise InvalidInputError(
            f"split is {split!r}, and the data set has the splits {list(splits)!r}: name one of them with split=…, in "
            "the shell --split"
        )
    return splits[name]


def read_file(path: str | Path, split: str | None = None) -> list[Row]:
    """Return the rows of a JSON lines, JSON, CSV or Parquet file, or of a Hugging Face data set saved to disk.

    A ``.json`` file is a list of objects, or JSON lines. Text files may be compressed: ``.jsonl.gz``. Logs of
    inspect_ai (``.eval``, ``.json``) are read too; :func:`~evenhand.read_log` knows those of other tools. What the
    shell has opened (``-`` for standard input, ``<(…)``) has no ending: JSON lines, JSON and CSV are distinguished
    there, compressed or not. A folder of such files, and a pattern such as ``shards/*.jsonl.gz``, stand for the files
    one after the other.

    Raises:
        InvalidInputError: No such file, a kind that is not read, a line that is not what the file promises, or a
            column or key that is there twice.
    """
    return read_rows(Path(path), split)


def read_log(source: object) -> list[Row]:
    """Return the rows of another tool's log, which is recognised by its shape; the tool need not be installed.

    - inspect_ai, ``.eval`` and ``.json``: :func:`~evenhand.data.formats.logs.inspect_rows`
    - lm-eval, ``samples_*.jsonl``: :func:`~evenhand.data.formats.logs.lm_eval_rows`
    - AlpacaEval, ``annotations.json``: :func:`~evenhand.data.formats.logs.alpaca_eval_rows`
    - MT-Bench, ``*_pair.jsonl``: :func:`~evenhand.data.formats.logs.mt_bench_pair_rows`; ``*_single.jsonl``:
      :func:`~evenhand.data.formats.logs.mt_bench_single_rows`; votes of people, and those of Chatbot Arena:
      :func:`~evenhand.data.formats.logs.arena_rows`

    Args:
        source: The path of the file (``.gz`` too), or its rows as a data set, a data frame or a list.

    Raises:
        InvalidInputError: If it cannot be read, or has no shape that is known, or not throughout.
    """
    return rows_of_log(read_rows(source), repr(str(source)) if isinstance(source, (str, Path)) else "the log")


KINDS: Final[Mapping[str, str]] = {
    "judgements": "judgements",
    "winrates": "contests",
    "checklist": "checked responses",
    "grade_scores": "graded instances",
    "mode_results": "results of a mode",
    "aggregated_votes": "aggregated votes",
    "agreement": "the agreement of raters",
}
"""Kind of a saved result in its header -> what it holds, for messages."""


def saved_kind(header: object) -> str | None:
    """Return what a saved result holds, by its header; None for anything else.

    >>> saved_kind({"evenhand": "winrates", "rows": 3, "parameters": {}})
    'contests'
    >>> saved_kind({"question": "Who?", "response": "Jane Austen."}) is None
    True
    """
    if not isinstance(header, Mapping) or not {"evenhand", "rows", "parameters"} <= header.keys():
        return None
    kind = header["evenhand"]
    return KINDS.get(kind) if isinstance(kind, str) else None


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
        given = self.response_fields
        return () if given is None else (given,) if isinstance(given, str) else given

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
                f"{given!r} do not say where the responses of two systems are: with response_fields name at least two "
                "columns, one per system; or, for data with one row per response, name the column of the responses "
                "with response_fields, that of the systems with systems_field and that of the prompts with id_field, "
                f"and choose among the systems with systems=…; the data have the columns {list(columns)!r}"
            )
        if self.systems is not None and (len(self.systems) < 2 or len(set(self.systems)) < len(self.systems)):
            raise InvalidInputError(f"systems is {list(self.systems)!r}; name at least two, each once")

    def prompts(self, rows: Sequence[Row], shared: Sequence[str] = ()) -> tuple[Prompt, ...]:
        """Return the prompts, in the order of their first row.

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
                    {system: field_of(row, system, instance, "response_fields") for system in self.columns}, instance
                ),
                data_classifications=classifications_of(row, instance),
            )
            for instance, row in enumerate(rows)
        )

    def _long_prompts(self, rows: Sequence[Row], shared: Sequence[str]) -> tuple[Prompt, ...]:
        held: dict[str, dict[str, int]] = {}
        for number, row in enumerate(rows):
            system = name_in(row, number, str(self.systems_field), "systems_field")
            identifier = name_in(row, number, str(self.id_field), "id_field")
            responses = held.setdefault(identifier, {})
            if system in responses:
                raise InvalidInputError(
                    f"rows {responses[system]} and {number} both hold a response of {system!r} to {identifier!r}: keep "
                    "one of them, or give each its own id"
                )
            responses[system] = number
        systems = self._choose_systems({system: None for responses in held.values() for system in responses})
        prompts = []
        for instance, (identifier, responses) in enumerate(held.items()):
            _check_shared([rows[number] for number in responses.values()], shared, instance, identifier)
            found = {
                system: field_of(rows[responses[system]], self.columns[0], responses[system], "response_fields")
                if system in responses
                else None
                for system in systems
            }
            first = rows[next(iter(responses.values()))]
            marked = chain.from_iterable(classifications_of(rows[number], number) for number in responses.values())
            prompts.append(Prompt(identifier, first, read_responses(found, instance), tuple(dict.fromkeys(marked))))
        return tuple(prompts)

    def _choose_systems(self, found: Mapping[str, None]) -> tuple[str, ...]:
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
    for name in found:
        if not isinstance(name, str) or not name.strip():
            raise InvalidInputError(f"instance {instance} names a system {name!r}; a system's name is a text")
    return {
        name: None if is_missing(value) else text_of(value, cell_name(name, instance)) for name, value in found.items()
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

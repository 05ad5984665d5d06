"""Streams: runs over rows that are never held all at once, written into a folder as numbered parts.

Rows are read in blocks. A block is judged by the function that judges all rows, and its result is written as one part
(Parquet), as a whole or not at all. A part that holds the rows of its block is skipped, so the same run again
continues; a part with votes that failed, or that were not asked for, is judged again, and the journal answers what it
holds.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import pyarrow
import pyarrow.compute
from filelock import FileLock, Timeout

from evenhand.data.fields import name_in, text_of
from evenhand.data.plain import as_json
from evenhand.data.rows import IdentifiedRows, Row
from evenhand.engines.base import JudgeEngine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.names import judges_of
from evenhand.errors import EvenhandWarning, InvalidInputError, Terminated
from evenhand.files import expanded
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.loop import OpenPanel, open_panel
from evenhand.judging.progress import tell
from evenhand.modes.any_mode import ANALYSES
from evenhand.numbers import format_count
from evenhand.results.made_by import LIMITS, write_run
from evenhand.results.results import Results
from evenhand.results.vote_columns import difference_of, header_of, read_columns, run_of

BLOCKS_AT_ONCE: Final = 3
VOTES_OF_A_PART: Final = 4096
FEWEST_ROWS: Final = 16
MOST_CHARACTERS: Final = 64_000_000
"""The most characters that a block of several rows has."""
RUN_FILE: Final = "run.yaml"
NOT_JUDGED: Final = ("budget", "engine_error", "offline")
"""Why a vote is missing that the same run asks for again."""
_FIRST_ROWS: Final = 8
_NAME: Final = re.compile(r"part-(\d{6,})\.parquet")
_NEEDS_ALL: Final[Mapping[str, Callable[[Any], bool]]] = {
    "design": lambda given: str(given).partition(":")[0] not in {"all", "baseline"},
    **dict.fromkeys(("stop", "unrelated_option", "systems_field"), bool),
    "votes": lambda given: given is not None,
}
"""Arguments of functions that judge -> whether a value needs all rows at once."""


@dataclass(frozen=True)
class FunctionCall:
    """The call of a function over rows, with all its arguments but the rows. It can be pickled.

    Attributes:
        function: The function of checked options.
        options: Its other arguments, checked.
    """

    function: Callable[..., Any]
    options: Any

    def judges(self) -> Sequence[JudgeEngine]:
        """Return the judges."""
        return judges_of(self.options.engine, self.options.model, batch=self.options.batch)

    def run(self, rows: IdentifiedRows, judges: Sequence[JudgeEngine], **changes: Any) -> Any:  # noqa: ANN401 - options, and as the function returns it
        """Call the function on some of the rows."""
        changes = {"model": None, "dry_run": False, "engine": judges, **changes}
        return self.function(rows, self.options.model_copy(update=changes))


@dataclass(frozen=True)
class Block:
    """Rows that are judged together.

    Attributes:
        number: The number of the part that holds them.
        first: The index of the first in the whole run.
        rows: The rows, with ids and the digests of their contents.
        names: Their names in messages.
    """

    number: int
    first: int
    rows: IdentifiedRows = field(default_factory=IdentifiedRows)
    names: list[str] = field(default_factory=list)

    def path(self, folder: Path) -> Path:
        """Return the path of the part."""
        return folder / f"part-{self.number:06}.parquet"

    def judge(self, job: FunctionCall, panel: OpenPanel) -> Results:
        """Judge the rows.

        Raises:
            InvalidInputError: A row that cannot be judged.
        """
        try:
            result: Results = job.run(self.rows, panel)
        except InvalidInputError as error:
            named = re.search(r"\b(?:instance|row|prompt) (\d+)\b", str(error))
            if named is None or int(named[1]) >= len(self.names):
                raise
            raise InvalidInputError(str(error).replace(named[0], self.names[int(named[1])], 1)) from error
        parameters = {name: value for name, value in result.parameters.items() if name not in LIMITS}
        parameters["fingerprint"] = {**parameters["fingerprint"], "contents": self.rows.contents}
        return replace(result, parameters=parameters)

    def write(self, result: Results, folder: Path, record: Mapping[str, Any] | None) -> None:
        """Write the part.

        Raises:
            UnwritableFileError: If it cannot be written.
        """
        replace(result, run_file=record).save(self.path(folder), first=self.first)

    def votes_held(self, folder: Path) -> int | None:
        """Return the number of votes in the part; None if it must be judged, or judged again.

        Raises:
            InvalidInputError: If it is not a part, or holds other rows.
        """
        path = self.path(folder)
        if not path.exists():
            return None
        try:
            contents = str(header_of(path)["parameters"]["fingerprint"]["contents"])
            reasons = read_columns(path, ["unscored_reason"], {})["unscored_reason"]
        except (InvalidInputError, LookupError) as error:
            raise InvalidInputError(
                f"{str(path)!r} is not a part that a streamed run wrote, or not a whole one ({error}): move it "
                "elsewhere, and its rows are judged again, with the replies that are in the journal"
            ) from error
        if not self.rows.contents.startswith(contents):  # more rows may have been added
            raise InvalidInputError(
                f"{str(path)!r} holds other rows than the data from {self.names[0]} on: give these data a folder of "
                "their own, or the part_rows of the earlier run"
            )
        missing = pyarrow.compute.any(pyarrow.compute.is_in(reasons, pyarrow.array(NOT_JUDGED))).as_py()
        return None if missing or len(contents) < len(self.rows.contents) else len(reasons)


def read_blocks(
    named: Iterable[tuple[str, Row]], job: FunctionCall, rows: int, limit: int | None = None
) -> Iterator[Block]:
    """Read rows in blocks of this many, or fewer where they are long.

    A row is named by its index where no column names it.

    Raises:
        InvalidInputError: A row without an id, or with that of another row.
    """
    id_field, known = job.options.id_field, set[str]()
    block, size = Block(0, 0), 0
    for place, (name, row) in enumerate(islice(named, limit)):
        try:
            row_id = str(place) if id_field is None else name_in(row, place, id_field, "id_field")
        except InvalidInputError as error:
            raise InvalidInputError(f"{name}: {error}") from error
        if row_id in known:
            raise InvalidInputError(
                f"{name} has the id {row_id!r} in {id_field!r}, which id_field names, and an earlier row has it too: "
                "every row needs an id of its own"
            )
        if id_field is not None:
            known.add(row_id)
        text = json.dumps({str(key): row[key] for key in sorted(row, key=str)}, default=_text_or_type, skipkeys=True)
        if block.names and (len(block.names) == rows or size + len(text) > MOST_CHARACTERS):
            yield block
            block, size = Block(block.number + 1, place), 0
        size += len(text)
        block.names.append(name)
        block.rows.add(row, row_id, blake2b(text.encode(), digest_size=8).hexdigest())
    if block.names:
        yield block


def _text_or_type(value: object) -> str:
    """Return a cell as text; one without a text, such as a picture, is named by its type."""
    try:
        return text_of(value)
    except InvalidInputError:
        return type(value).__name__


@dataclass(frozen=True)
class Stream:
    """A job over rows with the folder of its parts.

    Attributes:
        job: The call of a function.
        named: The rows, as :func:`~evenhand.data.rows.named_rows` reads them.
        judges: The judges.
        folder: The folder of the parts.
        first: The first rows.
        votes: The number of votes about the first rows.
        limit: Take this many rows at most.
    """

    job: FunctionCall
    named: Iterable[tuple[str, Row]]
    judges: Sequence[JudgeEngine]
    folder: Path
    first: IdentifiedRows
    votes: int
    limit: int | None = None

    @classmethod
    def of(cls, job: FunctionCall, named: Iterable[tuple[str, Row]], limit: int | None = None) -> Stream:
        """Read the first rows, and check all that can be checked before the first call.

        Raises:
            InvalidInputError: Data or options that cannot be used, or a folder that cannot.
        """
        for name, value in job.options:
            if name in _NEEDS_ALL and _NEEDS_ALL[name](value):
                raise InvalidInputError(
                    f"{name} is {value!r}, which needs all rows at once, and stream_to judges some at a "
                    "time: leave one of them out"
                )
        folder = expanded(str(job.options.stream_to)).absolute()
        numbers, judges, named = part_numbers(folder), job.judges(), iter(named)
        read = list(islice(named, _FIRST_ROWS))
        first = next(read_blocks(read, job, _FIRST_ROWS)).rows
        votes: int = job.run(first, judges, dry_run=True, journal=None).votes
        if numbers:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EvenhandWarning)
                fresh: Results = job.run(first, judges, offline=True, journal=None, progress=False)
            now = json.loads(as_json({"evenhand": fresh.kind, **fresh.header, "parameters": fresh.parameters}))
            there, here = map(_made_by, (header_of(Block(numbers[0], 0).path(folder)), now))
            if difference := difference_of(there, here):
                raise InvalidInputError(
                    f"stream_to is {str(folder)!r}, which holds the parts of another run: {difference}. Give a folder "
                    "that is new or empty, or the options of that run"
                )
        return cls(job, chain(read, named), judges, folder, first, votes, limit)

    @property
    def part_rows(self) -> int:
        """The number of rows in a part; with batches enough for one wave of the blocks that are judged at once."""
        waves = [judge.concurrency // BLOCKS_AT_ONCE for judge in self.judges if isinstance(judge, BatchJudge)]
        votes, rows = max([VOTES_OF_A_PART, *waves]), len(self.first)
        return self.job.options.part_rows or max(FEWEST_ROWS, votes * rows // max(self.votes, rows))

    def blocks(self) -> Iterator[tuple[Block, int | None]]:
        """Read the blocks, each with the number of votes in its part; None if it must be judged.

        Raises:
            InvalidInputError: Rows that cannot be read, or a part that holds other rows.
        """
        last = -1
        for block in read_blocks(self.named, self.job, self.part_rows, self.limit):
            last = block.number
            yield block, block.votes_held(self.folder)
        if more := [number for number in part_numbers(self.folder) if number > last]:
            warnings.warn(
                f"{str(self.folder)!r} holds {format_count(len(more), 'part')} with rows that this run does not have, "
                "judged by an earlier one: the result is of all that it holds",
                EvenhandWarning,
                stacklevel=2,
            )


def judge_in_threads(stream: Stream, expected: int, record: Mapping[str, Any] | None) -> None:
    """Judge blocks, some at a time: what one does not use of the calls in flight, another does.

    Args:
        stream: The rows.
        expected: The number of votes about all of them; 0 where it is not known.
        record: The run, as results keep it.
    """
    begun = deque[tuple[Block, Future[Results]]]()
    failure: Exception | None = None
    with (
        ThreadPoolExecutor(BLOCKS_AT_ONCE) as pool,
        open_panel(stream.judges, stream.job.options, many=True) as panel,
    ):
        panel.expect(expected)

        def write_first() -> None:
            """Write parts in their order, so that rows after a bad one are in none."""
            block, judged = begun.popleft()
            block.write(judged.result(), stream.folder, record)

        blocks = stream.blocks()
        while True:
            try:
                block, held = next(blocks, (None, None))
            except Exception as error:  # noqa: BLE001 - raised below: what is under way is paid for, and written
                failure, block = error, None
            if block is None:
                break
            if held is not None:
                panel.count_votes(held)
                panel.expect(max(0, panel.progress.total - held))
                continue
            if len(begun) == BLOCKS_AT_ONCE:
                write_first()
            begun.append((block, pool.submit(block.judge, stream.job, panel)))
        panel.expect(0)  # no more than what is begun
        while begun:
            write_first()
        if failure is not None:
            raise failure


def judge_stream(
    job: FunctionCall,
    named: Iterable[tuple[str, Row]],
    *,
    count: int | None = None,
    limit: int | None = None,
    record: Mapping[str, Any] | None = None,
    judge_blocks: Callable[[Stream, int, Mapping[str, Any] | None], None] = judge_in_threads,
) -> Results | RunEstimate:
    """Judge rows block by block, and write each block as a part.

    Args:
        job: The function and its arguments, with the folder and the size of a part.
        named: The rows, as :func:`~evenhand.data.rows.named_rows` reads them.
        count: The number of rows, if it is known.
        limit: Take this many rows at most.
        record: The run, as results keep it.
        judge_blocks: Judges the blocks and writes the parts.

    Raises:
        InvalidInputError: Data or options that cannot be used. A bad row in the middle of the data is found when it is
            read: what was judged before is in the folder then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    stream = Stream.of(job, named, limit)
    if job.options.dry_run:
        asked = [block.rows for block, held in stream.blocks() if held is None]
        return RunEstimate.total([job.run(rows, stream.judges, dry_run=True) for rows in asked])
    with held_alone(stream.folder), _each_warning_once():
        if record is not None:
            write_run(stream.folder / RUN_FILE, record)
        try:
            judge_blocks(stream, (limit or count or 0) * stream.votes // len(stream.first), record)
        except InvalidInputError as error:
            if not part_numbers(stream.folder) or str(stream.folder) in str(error):
                raise
            raise InvalidInputError(
                f"{str(error).rstrip('.')}. What was judged before is in {str(stream.folder)!r}: mend the data and run "
                "the same again, which continues from there"
            ) from error
        except (KeyboardInterrupt, Terminated):
            done = format_count(len(part_numbers(stream.folder)), "part")
            tell(f"{str(stream.folder)!r} holds {done}: run the same again, and only the rest is asked for")
            raise
    return replace(Results.load(stream.folder, ANALYSES), run_file=record)


def part_numbers(folder: Path) -> list[int]:
    """Return the numbers of the parts in a folder.

    Raises:
        InvalidInputError: If it is not a folder, or holds something else and no part.
    """
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise InvalidInputError(f"stream_to is {str(folder)!r}, which is not a folder; give one that is new or empty")
    names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    found = [_NAME.fullmatch(name) for name in names]
    if names and not any(found) and RUN_FILE not in names:
        raise InvalidInputError(
            f"stream_to is {str(folder)!r}, which holds {names[0]!r} and no part of a result: give a folder that is "
            "new or empty"
        )
    return sorted(int(each[1]) for each in found if each)


@contextmanager
def held_alone(folder: Path) -> Iterator[None]:
    """Lock a folder for this process, and remove what a killed process began to write there.

    Raises:
        InvalidInputError: If another process writes there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            for begun in folder.glob(".part-*.parquet.*"):
                begun.unlink(missing_ok=True)
            yield
    except Timeout as error:
        raise InvalidInputError(
            f"stream_to is {str(folder)!r}, to which another run is writing: wait for it, or give another folder"
        ) from error


def _made_by(header: Mapping[str, Any]) -> dict[str, Any]:
    prints = header["parameters"]["fingerprint"]
    return {**run_of(header), "the engine's description": prints["judge"], "the text of the prompts": prints["prompts"]}


@contextmanager
def _each_warning_once() -> Iterator[None]:
    """Give warnings at the end, and those that differ only in their numbers once."""
    given: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as given:
            yield
    finally:
        unlike = {(each.category, re.sub(r"\d+", "0", str(each.message))): each for each in reversed(given)}
        for each in reversed(unlike.values()):
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)

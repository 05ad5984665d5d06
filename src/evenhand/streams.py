"""Judging rows that are never held whole: some at a time, each time as any rows are judged, a part of the result each.

A block of rows is judged by the very function that judges them all; so scores and verdicts are those that it gives, and
all that is here is which rows make a block, and which were judged before. Rows have ids, which are the keys of all
draws, so that nothing depends on the block in which a row is judged.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from evenhand.data.identified import IdentifiedRow, KnownRows, RowStream, as_rows, blocks
from evenhand.data.rows import IdentifiedRows, RowBatch
from evenhand.engines.base import JudgeEngine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.names import judges_of
from evenhand.errors import EvenhandWarning, InvalidInputError, Terminated
from evenhand.files import expanded
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.loop import shared_judging
from evenhand.judging.progress import tell
from evenhand.numbers import format_count
from evenhand.options import FunctionArguments
from evenhand.results.made_by import write_run
from evenhand.results.notes import LIMITS
from evenhand.results.results import Results
from evenhand.results.resumed import (
    RUN_FILE,
    check_same_run,
    held_alone,
    part_numbers,
    part_path,
    rows_of_part,
    with_rows,
    write_part,
)
from evenhand.results.saved import header_of

__all__ = ["Job", "StreamedRowsWarning", "judge_stream", "write_part"]

BLOCKS_AT_ONCE: Final = 3
VOTES_OF_A_PART: Final = 4096
FEWEST_ROWS: Final = 16
_FIRST_ROWS: Final = 8
"""So many rows are looked at before the first call."""

_NEEDS_ALL: Final[Mapping[str, Callable[[Any], bool]]] = {
    "design": lambda given: str(given).partition(":")[0] not in {"all", "baseline"},
    "stop": bool,
    "unrelated_option": bool,
    "votes": lambda given: given is not None,
}
"""Arguments of functions that judge -> whether what is given needs all rows at once."""


class StreamedRowsWarning(EvenhandWarning):
    """The folder of a streamed run holds rows that its data do not have."""


@dataclass(frozen=True)
class Job:
    """The call of a function over rows, with all that it is given but the rows. It can be pickled.

    Attributes:
        name: Of the function: ``judge``, ``checklist``, ``winrates``, ``run_mode`` or ``grade_scores``.
        function: What it does with checked options.
        places: Its other arguments that are not keywords, ``engine`` among them.
        options: Its keywords, checked.
    """

    name: str
    function: Callable[..., Any]
    places: Mapping[str, Any]
    options: FunctionArguments

    def __reduce__(self) -> tuple[Any, ...]:
        return Job, (self.name, self.function, dict(self.places), self.options)

    @cached_property
    def judges(self) -> tuple[JudgeEngine, ...]:
        """Who judges: the same engines, with their connections, for all blocks."""
        return judges_of(self.places["engine"], self.options.model, batch=self.options.batch)

    @property
    def id_field(self) -> str | None:
        """The column that names a row."""
        return self.options.id_field

    @property
    def is_long(self) -> bool:
        """Whether a row of the data is one response, and those of a prompt belong together."""
        return getattr(self.options, "systems_field", None) is not None

    def judge(self, rows: IdentifiedRows) -> Results:
        """Judge some of the rows."""
        result: Results = self._run_block(rows)
        said = {name: value for name, value in result.parameters.items() if name not in LIMITS}
        said["fingerprint"] = {**said["fingerprint"], "contents": rows.contents}
        return replace(result, parameters=said)

    def estimate(self, rows: IdentifiedRows, **changes: Any) -> RunEstimate:  # noqa: ANN401 - options
        """Estimate what judging some of the rows would take."""
        return cast("RunEstimate", self._run_block(rows, dry_run=True, **changes))

    def unasked(self, rows: IdentifiedRows) -> Results:
        """Return the same result without a call: what was judged, and how."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenhandWarning)
            return cast("Results", self._run_block(rows, offline=True, journal=None, progress=False))

    def changed(self, **options: Any) -> Job:  # noqa: ANN401 - as above
        """Return the same call with other options."""
        return replace(self, options=self.options.model_copy(update=options))

    def check(self) -> None:
        """Check that what is asked for can be told block by block.

        Raises:
            InvalidInputError: If it needs all rows at once.
        """
        for name, needs_all in _NEEDS_ALL.items():
            value = getattr(self.options, name, None)
            if value is not None and needs_all(value):
                raise InvalidInputError(
                    f"{name} is {value!r}, which needs all rows at once, and stream_to judges some at a "
                    "time: leave one of them out"
                )
        if self.is_long and self.places.get("systems") is None:
            raise InvalidInputError(
                "stream_to reads some rows at a time, and does not know all systems of data with a row a response: "
                "name them with systems=[…]"
            )

    def _run_block(self, rows: IdentifiedRows, **changes: Any) -> Any:  # noqa: ANN401 - as the function returns it
        block = self.changed(**{"model": None, "dry_run": False, **changes})
        return self.function(rows, **{**self.places, "engine": list(self.judges)}, options=block.options)


class Block(NamedTuple):
    """Rows that are judged together.

    Attributes:
        number: Of the part that holds them.
        rows: The rows.
        first: The index of the first in the whole run; of a part that is there, that of its own first row.
        again: They are some of a part that is there.
    """

    number: int
    rows: Sequence[IdentifiedRow]
    first: int
    again: bool = False


def judge_stream(
    job: Job,
    batches: Iterable[RowBatch],
    *,
    count: int | None = None,
    limit: int | None = None,
    record: Mapping[str, Any] | None = None,
) -> Results | RunEstimate:
    """Judge rows some at a time, and write what they come to, a part after the other.

    Args:
        job: Who judges, and how: to which folder, and in which parts.
        batches: The rows, as :func:`~evenhand.data.rows.row_batches` reads them.
        count: How many rows there are, where that is known.
        limit: Only so many rows.
        record: The run, as results keep it.

    Raises:
        InvalidInputError: Data or options that cannot be used. A row in the midst of the data is found when it is
            read: what was judged before is in the folder then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    job.check()
    folder = expanded(str(job.options.stream_to))
    part_numbers(folder)
    rows = islice(RowStream(batches, job.id_field, together=job.is_long), limit)
    first = list(islice(rows, _FIRST_ROWS))
    shown = as_rows(first, job.id_field)
    votes = job.estimate(shown, journal=None).votes
    most = job.options.part_rows or max(FEWEST_ROWS, _votes_of_a_part(job) * len(first) // max(votes, len(first)))
    read = blocks(chain(first, rows), most)
    if job.options.dry_run:
        todo = _blocks(read, _known_rows(job, folder, shown))
        return RunEstimate.total([job.estimate(as_rows(block.rows, job.id_field)) for block in todo])
    judged: list[Results] = []
    with held_alone(folder), _each_warning_once():
        known = _known_rows(job, folder, shown)
        if record is not None:
            write_run(folder / RUN_FILE, record)
        expected = _rows_left(first, known, count, limit) * votes // len(first)
        try:
            _judge_all(partial(_judge_block, job, folder, record, judged), _blocks(read, known), expected, known.votes)
        except InvalidInputError as error:
            if not part_numbers(folder):
                raise
            raise InvalidInputError(
                f"{str(error).rstrip('.')}. What was judged before is in {str(folder)!r}: mend the data and run the "
                "same again, which goes on from there"
            ) from error
        except (KeyboardInterrupt, Terminated):
            done = format_count(len(part_numbers(folder)), "part")
            tell(f"{str(folder)!r} holds {done}: the same run again goes on from there")
            raise
    if known.met < len(known):
        lacking = "the data do not have" if limit is None else f"are not among the first {format_count(limit)}"
        warnings.warn(
            f"{str(folder)!r} holds {format_count(len(known) - known.met, 'row')} that {lacking}, judged by an earlier "
            "run: the result is of all that it holds",
            StreamedRowsWarning,
            stacklevel=3,
        )
    like = judged[0] if judged else job.unasked(shown)
    return replace(like.reopened(folder), run_file=record)


def _known_rows(job: Job, folder: Path, shown: IdentifiedRows) -> KnownRows:
    """The rows that the parts of a folder hold, which were judged as these are."""
    numbers = part_numbers(folder)
    known = KnownRows(rows_of_part(folder, number) for number in numbers)
    if numbers:
        check_same_run(header_of(part_path(folder, numbers[0])), job.unasked(shown), folder)
    return known


def _rows_left(first: Sequence[IdentifiedRow], known: KnownRows, count: int | None, limit: int | None) -> int:
    """About how many rows are to be judged; 0 where nobody knows.

    Args:
        first: The first rows, which may be several of the data each.
        known: Those of the parts.
        count: How many the data have.
        limit: How many are judged at most.
    """
    there = [] if count is None else [count * len(first) // sum(len(each.rows) for each in first)]
    at_most = min([*there, *([] if limit is None else [limit])], default=0)
    return max(0, at_most - len(known) + sum(known.left.values()))


def _votes_of_a_part(job: Job) -> int:
    """With batches, so many that the blocks judged at once are a whole wave, which may take a day."""
    waves = [judge.concurrency // BLOCKS_AT_ONCE for judge in job.judges if isinstance(judge, BatchJudge)]
    return max([VOTES_OF_A_PART, *waves])


def _blocks(read: Iterable[list[IdentifiedRow]], known: KnownRows) -> Iterator[Block]:
    """What is to be judged: rows that no part holds, and those that a part holds without all their votes."""
    taken = dict(known.rows)
    again: dict[int, list[IdentifiedRow]] = {}
    begin = 0
    for number, block in enumerate(read):
        found = list(zip(range(begin, begin + len(block)), block, known.places(block), strict=True))
        begin += len(block)
        for is_new, own in groupby(found, key=lambda each: each[2] is None):
            if not is_new:
                continue
            new = [(place, row) for place, row, _ in own]
            part = number if number not in taken else max(taken) + 1
            taken[part] = _free(range(new[0][0], new[-1][0] + 1), taken)
            yield Block(part, [row for _, row in new], taken[part].start)
        for _, row, held in found:
            if held is not None and held >= 0:
                again.setdefault(held, []).append(row)
        for part in [part for part, rows in again.items() if len(rows) == known.left[part]]:
            yield Block(part, again.pop(part), known.rows[part].start, again=True)
    for part, rows in again.items():  # of which the data lack some
        yield Block(part, rows, known.rows[part].start, again=True)


def _free(rows: range, taken: Mapping[int, range]) -> range:
    """The indices of new rows: their places in the data, unless an earlier run of other data gave them away."""
    if not any(rows.start < each.stop and each.start < rows.stop for each in taken.values()):
        return rows
    start = max(each.stop for each in taken.values())
    return range(start, start + len(rows))


def _judge_all(judge: Callable[[Block], None], todo: Iterator[Block], expected: int, before: int) -> None:
    """Judge blocks, some side by side: what one waits for, another uses.

    Args:
        judge: Judges one, and writes it.
        todo: The blocks.
        expected: About how many votes they will come to; 0 where nobody knows.
        before: How many votes are in the parts already, and hold.
    """
    with ThreadPoolExecutor(BLOCKS_AT_ONCE) as pool, shared_judging() as judging:
        judging.expect(expected)
        judging.count(before)
        begun: set[Future[None]] = set()
        try:
            for block in todo:
                begun.add(pool.submit(copy_context().run, judge, block))
                if len(begun) == BLOCKS_AT_ONCE:
                    begun = _awaited(begun, FIRST_COMPLETED)
        except InvalidInputError:  # what is under way is paid for, and written
            _awaited(begun, ALL_COMPLETED)
            raise
        judging.expect(0)  # no more than what is begun
        _awaited(begun, ALL_COMPLETED)


def _awaited(begun: set[Future[None]], when: str) -> set[Future[None]]:
    """Those of the blocks begun that go on.

    Raises:
        Exception: That of a block.
    """
    done, going = wait(begun, return_when=when)
    failed = [each for each in done if each.exception() is not None]
    if failed and all(isinstance(each.exception(), InvalidInputError) for each in failed):
        wait(going)
    for each in failed:
        each.result()
    return going


def _judge_block(job: Job, folder: Path, record: Mapping[str, Any] | None, judged: list[Results], block: Block) -> None:
    try:
        result = job.judge(as_rows(block.rows, job.id_field))
        judged[:] = [result]
    except InvalidInputError as error:
        raise _with_place(error, block.rows) from error
    if block.again:
        result = with_rows(result.reopened(part_path(folder, block.number)), result)
    write_part(part_path(folder, block.number), result, record, block.first)


def _with_place(error: InvalidInputError, rows: Sequence[IdentifiedRow]) -> InvalidInputError:
    """An error about a row of a block, with its place in the data."""
    named = re.search(r"\b(?:instance|row|prompt) (\d+)\b", str(error))
    place = None if named is None or int(named[1]) >= len(rows) else rows[int(named[1])].name
    return error if named is None or place is None else InvalidInputError(str(error).replace(named[0], place, 1))


@contextmanager
def _each_warning_once() -> Iterator[None]:
    """Give the warnings at the end, and those that only differ in their numbers once."""
    given: list[warnings.WarningMessage] = []
    told: set[tuple[type[Warning], str]] = set()
    try:
        with warnings.catch_warnings(record=True) as given:
            yield
    finally:
        for each in given:
            key = (each.category, re.sub(r"\d+", "0", str(each.message)))
            if key not in told:
                told.add(key)
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno, source=each.source)

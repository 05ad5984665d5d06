"""One worker: it judges blocks of rows as one process does, on a part of the budget and of the rate, without Ray."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple

from evenhand.data.identified import IdentifiedRow, KnownRows, RowStream, as_digests, as_rows
from evenhand.data.rows import Row, RowBatch
from evenhand.distributed.coordinator import Amount, Report, Terms
from evenhand.distributed.lease import LeasedBudget, Ledger
from evenhand.distributed.shards import ShardJournal, Shards
from evenhand.engines.base import SharedRateEngine
from evenhand.engines.journal import this_process
from evenhand.errors import EvenhandError, InvalidInputError
from evenhand.judging.loop import shared_judging
from evenhand.results.results import Results
from evenhand.results.resumed import part_path, write_part
from evenhand.streams import Job

SYNC_SECONDS: Final = 0.25
SHORTEST_SYNC_SECONDS: Final = 0.02
BEAT_SECONDS: Final = 1.0
STOPPED: Final = "stopped"

Ask = Callable[..., Any]
"""Asks the coordinator: the name of its method, and what that is given."""


class BrokenRow(NamedTuple):
    """A row that could not be read."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Order:
    """What all workers of a run are told.

    Attributes:
        job: Who judges, and how.
        folder: Where the parts go.
        journal: The run's; None for none.
        host: Of the driver, as processes name it.
        max_calls: Over all workers.
        max_cost: Over all workers.
        record: The run, as results keep it.
    """

    job: Job
    folder: Path
    journal: Path | None
    host: str
    max_calls: int | None
    max_cost: float | None
    record: Mapping[str, Any] | None


class Worker:
    """A worker of a run.

    Args:
        order: What is to be done.
        known: The rows that parts hold already.
        actor: What the worker is called, and a replacement of it, too.
        ask: How the coordinator is asked.
    """

    def __init__(self, order: Order, known: KnownRows, actor: str, ask: Ask) -> None:
        self._order, self._known, self._actor, self._ask = order, known, actor, ask
        self._shards = Shards(order.folder)
        self._name = f"{actor[:12]}-{token_hex(4)}"
        self._shards.begin(self._name)
        self._wake = threading.Event()
        ledger = Ledger(self._shards.ledger(self._name))
        self._budget = LeasedBudget(order.max_calls, order.max_cost, ledger, self._wake.set)
        self._journal: ShardJournal | None = None
        if order.journal is not None and any(judge.identity() is not None for judge in order.job.judges):
            elsewhere = order.host != this_process().host
            self._journal = ShardJournal(self._shards.journal(self._name), order.journal, elsewhere=elsewhere)
        self._lock = threading.Lock()
        self._busy = 0
        self._share = self._held_share = 0.0
        self._scarce = self._stopped = False
        self._stack = ExitStack()
        self._context = contextvars.copy_context()
        self._judging = self._context.run(self._stack.enter_context, shared_judging())
        self._judging.lend(self._budget, self._journal)
        self._judging.call(self._apply, ask("join", actor, self._name))
        threading.Thread(target=self._keep_in_touch, daemon=True).start()

    def judge(self, rows: Sequence[Row | BrokenRow], key: str) -> dict[str, Any]:
        """Judge a block, and write what it comes to.

        Args:
            rows: The rows.
            key: Names the block: the same when it is judged again, because a worker died.

        Returns:
            What the driver is told.
        """
        if self._stopped:
            return {"rows": 0, "told": STOPPED}
        with self._lock:
            self._busy += 1
        self._wake.set()
        try:
            return {"rows": len(rows), "told": self._judged(rows, key)}
        except Exception as error:  # noqa: BLE001 - of any kind: the driver is told
            if self._is_stopped():
                return {"rows": 0, "told": STOPPED}
            self._ask("fail", *_told(error))
            return {"rows": 0, "told": type(error).__name__}
        finally:
            with self._lock:
                self._busy -= 1
            self._wake.set()

    def _judged(self, rows: Sequence[Row | BrokenRow], key: str) -> str:
        named, bad = self._named(rows, key)
        again: dict[int, list[IdentifiedRow]] = {}
        new: list[IdentifiedRow] = []
        counts: Counter[str] = Counter()
        for row, place in self._places(named, bad):
            if place is None:
                new.append(row)
            elif place >= 0:
                again.setdefault(place, []).append(row)
            else:
                counts["met"] += 1
        self._judge_into(new, key, bad, counts, lambda number: part_path(self._order.folder, number))
        for place, own in again.items():
            self._judge_into(own, f"{key}/{place}", bad, counts, self._shards.again_of(place))
        if self._stopped:
            return STOPPED
        if bad:
            self._ask("bad", key, bad)
        self._ask("count", key, {**counts, "bad": len(bad)})
        return ""

    def _named(self, rows: Sequence[Row | BrokenRow], key: str) -> tuple[list[IdentifiedRow], list[tuple[str, str]]]:
        """The rows with their ids, and those that have none."""
        id_field, found, bad = self._order.job.id_field, list[IdentifiedRow](), list[tuple[str, str]]()
        for row in rows:
            if isinstance(row, BrokenRow):
                bad.append((row.name, row.why))
                continue
            try:
                found += RowStream([RowBatch([row], [(0, "the data", 0)])], id_field)
            except (InvalidInputError, ValueError) as error:
                bad.append(("", str(error)))
        copies = self._ask("copies", key, as_digests(each.id for each in found)) if found else []
        own: list[IdentifiedRow] = []
        for each, copy in zip(found, copies, strict=True):
            if copy and id_field is not None:
                bad.append((each.id, f"an earlier row has this id in {id_field!r} too: every row needs one of its own"))
            else:
                own.append(each._replace(id=f"{each.id}-{1 + copy}") if copy else each)
        return own, bad

    def _places(
        self, rows: Sequence[IdentifiedRow], bad: list[tuple[str, str]]
    ) -> Iterator[tuple[IdentifiedRow, int | None]]:
        """Each row with the part that holds it, as :meth:`~evenhand.data.identified.KnownRows.places` says."""
        for row in rows:
            try:
                yield row, self._known.places([row])[0]
            except InvalidInputError as error:
                bad.append((row.id, str(error)))

    def _judge_into(
        self,
        rows: Sequence[IdentifiedRow],
        key: str,
        bad: list[tuple[str, str]],
        counts: Counter[str],
        place: Callable[[int], Path],
    ) -> None:
        """Judge rows, and write a part, or where some cannot be judged several."""
        for piece, (own, result) in enumerate(self._results(rows, bad)):
            number = self._ask("part_of", f"{key}/{piece}")
            path = place(number)
            if self._stopped:
                return
            counts.update(_counted(result))
            if not path.exists():  # else the worker that died had written it
                write_part(path, result, self._order.record)
            counts["judged"] += len(own)

    def _results(
        self, rows: Sequence[IdentifiedRow], bad: list[tuple[str, str]]
    ) -> Iterator[tuple[Sequence[IdentifiedRow], Results]]:
        """What rows come to; where one of them cannot be judged, the others are."""
        if not rows or self._stopped:
            return
        try:
            result = self._context.copy().run(self._order.job.judge, as_rows(rows, self._order.job.id_field))
        except InvalidInputError as error:
            if self._is_stopped():
                return
            if len(rows) == 1:
                bad.append((rows[0].id, str(error)))
                return
            half = len(rows) // 2
            yield from self._results(rows[:half], bad)
            yield from self._results(rows[half:], bad)
        else:
            yield rows, result

    def _is_stopped(self) -> bool:
        """Whether it was told so, in another thread."""
        return self._stopped

    def _keep_in_touch(self) -> None:
        """Tell what was spent, and hear what may be, until the coordinator is gone: then nothing more is sent."""
        beat = time.monotonic()
        try:
            while True:
                self._wake.wait(SYNC_SECONDS)
                self._wake.clear()
                report = self._judging.call(self._report)
                self._judging.call(self._apply, self._ask("sync", self._actor, self._name, report))
                if time.monotonic() - beat > BEAT_SECONDS:
                    beat = time.monotonic()
                    self._shards.beat(self._name)
                time.sleep(SHORTEST_SYNC_SECONDS)
        except Exception:  # noqa: BLE001 - of any kind: whom nobody hears spends nothing
            self._stopped = True
            self._judging.call(self._budget.stop)

    def _report(self) -> Report:
        if self._scarce:
            self._budget.give_back()
        kept = [each.take_share(self._share) for each in self._order.job.judges if isinstance(each, SharedRateEngine)]
        self._held_share = self._share if all(kept) else max(self._share, self._held_share)
        wants = self._budget.wants(ahead=not self._scarce) if self._busy else Amount()
        return Report(self._budget.spent, self._budget.lease, wants, self._held_share, self._busy > 0)

    def _apply(self, terms: Terms) -> None:
        self._share, self._scarce = terms.share, terms.scarce
        self._held_share = max(self._held_share, terms.share)
        self._stopped = self._stopped or terms.stopped
        for shard in terms.shards:
            if self._journal is not None:
                self._journal.read_too(Path(shard))
        for judge in self._order.job.judges:
            if isinstance(judge, SharedRateEngine):
                judge.take_share(terms.share)
        self._budget.apply(terms)


def _counted(result: Results) -> Counter[str]:
    """What the driver shows of a block: votes, those unscored and failed, calls and dollars."""
    counts: Counter[str] = Counter()
    for cell in result.cells():
        for vote in cell.votes:
            counts["votes"] += 1
            counts["unscored"] += vote.unscored
            counts["calls"] += vote.usage.calls
            counts["cost"] += vote.usage.cost or 0  # type: ignore[assignment] # dollars are counted too
            if vote.unscored_reason == "engine_error":
                counts["failed"] += 1
                counts[f"cause: {vote.judge_id}: {vote.error}"[:500]] += 1
    return counts


def _told(error: Exception) -> tuple[str, str]:
    """An error for the driver: its kind and its words."""
    if isinstance(error, EvenhandError):
        return type(error).__name__, str(error)
    return "", f"{type(error).__name__}: {error}"

"""Who may spend what: one budget and one rate for many workers, and what they have come to.

A worker *leases* calls and dollars, and spends them without asking again; what it does not need it gives back when
another one lacks it, and what a dead one had not spent comes back by what it wrote down of its spending. Of the rate
(calls in flight, requests and tokens a minute) each worker at work holds an equal share. Every transfer is made by the
worker first and told then, so that all leases together never exceed the budget, nor all shares the rate, at any moment
and in whatever order messages come. Nothing here knows Ray.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evenhand.data.identified import Digests

SMALLEST_SHARE: Final = 1e-9
CENT: Final = 1e-9
"""What rounding may leave of dollars."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls and US dollars."""

    calls: int = 0
    cost: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.calls + other.calls, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.calls - other.calls, self.cost - other.cost)


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker tells: all counts are since it began.

    Attributes:
        spent: Launched, and paid or perhaps billed.
        lease: What it may spend in all, from now on: it may have lowered this itself.
        wants: What it lacks beyond its lease.
        share: Of the rate, what it uses at most, from now on.
        busy: Whether it has rows to judge.
    """

    spent: Amount = Amount()
    lease: Amount = Amount()
    wants: Amount = Amount()
    share: float = 0.0
    busy: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """What a worker is told.

    Attributes:
        lease: What it may spend in all.
        share: Of the rate; what is beyond it is to be given up.
        scarce: Others lack what it may not need: it lowers its lease to that.
        no_more_calls: Nobody has calls that could be given back.
        no_more_cost: Nor dollars, as many as it wants.
        shards: Journals of workers that have died.
        stopped: Nothing more is to be launched.
    """

    lease: Amount
    share: float
    scarce: bool = False
    no_more_calls: bool = False
    no_more_cost: bool = False
    shards: tuple[str, ...] = ()
    stopped: bool = False


@dataclass(slots=True)
class _Worker:
    """A worker, as far as it has told.

    Attributes:
        name: Of this life of it: an actor that was started again has another.
        granted: What it may spend in all.
        share: What it was granted of the rate, or still holds.
    """

    name: str
    granted: Amount = Amount()
    share: float = 0.0
    report: Report = field(default_factory=Report)


class _Names:
    """Which names were there, by sixteen bytes each, and in which block: sorted runs, each longer than the next."""

    def __init__(self) -> None:
        self._runs: list[tuple[Digests, NDArray[np.int64]]] = []
        self._copies: dict[tuple[bytes, int, int], int] = {}
        self._number: Counter[bytes] = Counter()

    def copies(self, block: int, names: Digests) -> list[int]:
        """How often each name was there before; a name's place in its block tells it from its copies."""
        first = np.full(len(names), -1, dtype=np.int64)
        for digests, places in self._runs:
            at = np.minimum(np.searchsorted(digests, names), len(digests) - 1)
            first = np.where(digests[at] == names, places[at], first)
        own = (np.int64(block) << 24) + np.arange(len(names))
        found, new = [], list[int]()
        within: dict[bytes, int] = {}
        for row, (name, place) in enumerate(zip(names.tolist(), first.tolist(), strict=True)):
            earlier = within.setdefault(name, int(own[row])) if place < 0 else place
            if earlier == int(own[row]):
                found.append(0)
                if place < 0:
                    new.append(row)
                continue
            known = (name, block, row)
            if known not in self._copies:
                self._number[name] += 1
                self._copies[known] = self._number[name]
            found.append(self._copies[known])
        if new:
            self._add(names[new], own[new])
        return found

    def _add(self, names: Digests, places: NDArray[np.int64]) -> None:
        while self._runs and len(self._runs[-1][0]) <= len(names):
            held = self._runs.pop()
            names, places = np.concatenate([held[0], names]), np.concatenate([held[1], places])
        order = np.argsort(names)
        self._runs.append((names[order], places[order]))


class Coordinator:
    """The budget, the rate, the numbers of the parts, and the tally of a run.

    Args:
        max_calls: Over all workers; None for no limit.
        max_cost: US dollars, likewise.
        workers: How many there will be; the rate is split by so many at first.
        first_part: The number of the first part that is free.
        spent_by: What a dead worker had spent, by its name: from what it wrote down.
        shard_of: Where the journal of a worker is; None where none is kept.
    """

    def __init__(
        self,
        *,
        max_calls: int | None = None,
        max_cost: float | None = None,
        workers: int = 1,
        first_part: int = 0,
        spent_by: Callable[[str], Amount | None] = lambda _: None,
        shard_of: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._left = Amount(0 if max_calls is None else max_calls, 0.0 if max_cost is None else max_cost)
        self._expected = workers
        self._next_part = first_part
        self._spent_by, self._shard_of = spent_by, shard_of
        self._workers: dict[str, _Worker] = {}
        self._dead: list[str] = []
        self._hungry = set[str]()
        self._tally: Counter[str] = Counter()
        self._counted = set[str]()
        self._parts: dict[str, int] = {}
        self._blocks: dict[str, int] = {}
        self._names = _Names()
        self._bad: dict[str, list[tuple[str, str]]] = {}
        self._errors: list[tuple[str, str]] = []
        self._stopped = False

    def join(self, actor: str, name: str) -> Terms:
        """A worker begins; one that the same actor was before has died."""
        if actor in self._workers:
            self._bury(actor)
        self._workers[actor] = _Worker(name)
        return self._terms(actor, Report())

    def sync(self, actor: str, name: str, report: Report) -> Terms:
        """A worker tells what it spent, holds and wants, and hears what it may."""
        worker = self._workers.get(actor)
        if worker is None or worker.name != name:  # it lives on though it was taken for dead
            return Terms(report.spent, 0.0, stopped=True)
        self._left += worker.granted - report.lease
        worker.granted = report.lease
        worker.share = report.share
        worker.report = report
        return self._terms(actor, report)

    def part_of(self, key: str) -> int:
        """The number of the part of a block: the same when the block is judged again, and else nobody's."""
        if key not in self._parts:
            self._parts[key] = self._next_part
            self._next_part += 1
        return self._parts[key]

    def copies(self, key: str, names: Digests) -> list[int]:
        """How often each of a block's names was there before; a block that is judged again hears the same."""
        if key not in self._blocks:
            self._blocks[key] = len(self._blocks)
        return self._names.copies(self._blocks[key], names)

    def count(self, key: str, counts: Mapping[str, int | float]) -> None:
        """Add to the tally of the run what a block came to."""
        if key not in self._counted:
            self._counted.add(key)
            self._tally.update(counts)

    def bad(self, key: str, rows: Sequence[tuple[str, str]]) -> None:
        """Rows of a block that could not be judged, with why."""
        self._bad[key] = list(rows)

    def bad_rows(self) -> list[tuple[str, str]]:
        """All rows that could not be judged, with why."""
        return [row for rows in self._bad.values() for row in rows]

    def fail(self, kind: str, told: str) -> None:
        """What ended a worker's work; the first is what the user is told. Nothing more is launched."""
        self._errors.append((kind, told))
        self._stopped = True

    def stop(self) -> None:
        """Nothing more is launched, by anybody."""
        self._stopped = True

    def state(self) -> dict[str, Any]:
        """What the driver shows: the tally, errors, how many workers have rows under way, and how many died."""
        return {
            "tally": dict(self._tally),
            "errors": list(self._errors),
            "busy": sum(worker.report.busy for worker in self._workers.values()),
            "workers": len(self._workers),
            "died": len(self._dead),
            "stopped": self._stopped,
        }

    def _bury(self, actor: str) -> None:
        """What a dead worker had not spent comes back; what is not known to be unspent counts as spent."""
        worker = self._workers.pop(actor)
        self._hungry.discard(actor)
        self._dead.append(worker.name)
        told = self._spent_by(worker.name)
        if told is not None:
            calls, cost = max(told.calls, worker.report.spent.calls), max(told.cost, worker.report.spent.cost)
            self._left += Amount(max(0, worker.granted.calls - calls), max(0.0, worker.granted.cost - cost))

    def _terms(self, actor: str, report: Report) -> Terms:
        worker = self._workers[actor]
        unspent = [each.granted - each.report.spent for name, each in self._workers.items() if name != actor]
        self._grant(worker, report)
        lacks_calls = report.wants.calls > 0 and worker.granted.calls == report.lease.calls
        lacks_cost = report.wants.cost > 0 and worker.granted.cost <= report.lease.cost
        (self._hungry.add if lacks_calls or lacks_cost else self._hungry.discard)(actor)
        others_cost = sum(max(0.0, each.cost) for each in unspent)
        return Terms(
            lease=worker.granted,
            share=self._share_of(worker, report),
            scarce=bool(self._hungry - {actor}),
            no_more_calls=lacks_calls and not any(each.calls > 0 for each in unspent),
            no_more_cost=lacks_cost and report.wants.cost > self._left.cost + others_cost + CENT,
            shards=tuple(shard for name in self._dead if (shard := self._shard_of(name)) is not None),
            stopped=self._stopped,
        )

    def _grant(self, worker: _Worker, report: Report) -> None:
        """What is wanted, or more while much is left, so that a worker asks seldom: an even part of half of it."""
        wants, left, part = report.wants, self._left, 2 * max(self._expected, len(self._workers))
        calls = min(left.calls, max(wants.calls, math.ceil(left.calls / part))) if wants.calls else 0
        cost = max(wants.cost, left.cost / part) if 0 < wants.cost <= left.cost + CENT else 0.0
        given = Amount(max(0, calls), min(cost, left.cost))
        worker.granted += given
        self._left -= given

    def _share_of(self, worker: _Worker, report: Report) -> float:
        """An even share among those at work, as far as the others have given theirs up."""
        at_work = sum(each.report.busy for each in self._workers.values() if each is not worker) + report.busy
        waiting = max(0, self._expected - len(self._workers))  # who has not begun yet will want a share at once
        fair = 1 / max(1, at_work + (waiting if not at_work else 0)) if report.busy else 0.0
        free = 1.0 - sum(each.share for each in self._workers.values())
        granted = fair if fair <= worker.share else min(fair, worker.share + max(0.0, free))
        worker.share = max(worker.share, granted)  # until it tells that it holds less
        return granted if granted > SMALLEST_SHARE else 0.0

"""Judgements of one system by one criterion as columns, of entries in memory or of the files of a result on disk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final, Self, overload

import numpy as np

from evenhand.aggregation import mean_covered_mass
from evenhand.criteria import Criterion
from evenhand.results.outcomes import Outcome
from evenhand.results.verdict_columns import (
    OF_VERDICTS,
    OF_VOTES,
    BoolArray,
    FloatArray,
    IntArray,
    VerdictColumns,
    codes_of,
)
from evenhand.results.votes_columns import CELL
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel

if TYPE_CHECKING:
    import pyarrow

    from evenhand.tables.judgements import Judgement

_ABOUT: Final = ("instance", "system", "criterion", "gold", "cluster", "verdict_selected_option")
OF_JUDGEMENTS: Final = (*_ABOUT, *OF_VERDICTS, *OF_VOTES)
"""The columns of a saved result that are read."""


@dataclass(frozen=True, slots=True)
class JudgedColumns:
    """The judgements of one system by one criterion, one a row; shape (n,) each.

    Attributes:
        criterion: By which they were judged.
        instances: The rows of the data.
        selected: The place of the option that was selected; -1 where there is none.
        gold: Likewise that of a person.
        clusters: What the rows belong to; None where they do not depend on each other.
        verdicts: The verdicts with their votes.
    """

    criterion: Criterion
    instances: IntArray
    selected: IntArray
    gold: IntArray
    clusters: tuple[str | None, ...]
    verdicts: VerdictColumns

    @classmethod
    def of(cls, judged: Sequence[Judgement], criterion: Criterion, *, expected: bool) -> Self:
        """Those of entries.

        Args:
            judged: The judgements.
            criterion: By which they were judged.
            expected: Scores are expected values, which rest on probabilities.
        """
        verdicts = [each.verdict for each in judged]
        masses = [mean_covered_mass(verdict.votes, criterion) for verdict in verdicts] if expected else ()
        return cls(
            criterion=criterion,
            instances=np.array([each.instance for each in judged], dtype=np.int64),
            selected=_places([verdict.selected_label for verdict in verdicts], criterion),
            gold=_places([each.gold for each in judged], criterion),
            clusters=tuple(each.cluster for each in judged),
            verdicts=VerdictColumns.of(verdicts, masses),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Those of all, one after the other."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("instances", "selected", "gold")
        }
        clusters = tuple(chain.from_iterable(part.clusters for part in parts))
        verdicts = VerdictColumns.joined([part.verdicts for part in parts])
        return cls(parts[0].criterion, **columns, clusters=clusters, verdicts=verdicts)

    def __len__(self) -> int:
        return len(self.instances)

    def gold_agreement(self, level: IntervalLevel) -> Interval | None:
        """The share of the rows with a gold label and a selection whose labels are the same."""
        both = (self.gold >= 0) & (self.selected >= 0)
        (share,) = mean_intervals(np.where(both, self.gold == self.selected, np.nan), level=level)
        return share

    def scored(self) -> FloatArray:
        """Shape (n, 3): the score of each, and between which it could have been."""
        return np.column_stack([self.verdicts.score, self.verdicts.limits(self.ranges())])

    def ranges(self) -> FloatArray:
        """Shape (n, 2): that of the criterion for each."""
        return np.tile(np.array(self.criterion.score_range, dtype=float), (len(self), 1))


@dataclass(frozen=True)
class JudgedOutcomes(Sequence[Outcome]):
    """The judgements of a system as outcomes, each made when it is asked for.

    Attributes:
        system: Whose.
        columns: The judgements.
    """

    system: str
    columns: JudgedColumns

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, row: int) -> Outcome: ...
    @overload
    def __getitem__(self, row: slice) -> list[Outcome]: ...

    def __getitem__(self, row: int | slice) -> Outcome | list[Outcome]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        held, instance = self.columns, int(self.columns.instances[row])
        score, place = float(held.verdicts.score[row]), int(held.selected[row])
        return Outcome(
            instance,
            ((instance, self.system, held.criterion.name),),
            None if math.isnan(score) else score,
            None if place < 0 else held.criterion.labels[place],
            na=bool(held.verdicts.na[row]),
            cluster=held.clusters[row],
        )


def columns_of_table(
    table: pyarrow.Table, criteria: Sequence[Criterion], first: int, kept: BoolArray | None
) -> dict[tuple[str, str], JudgedColumns] | None:
    """``(system, criterion name)`` -> the judgements of one part; None where it does not say what measures need.

    Args:
        table: Its columns :data:`OF_JUDGEMENTS`.
        criteria: Of the whole.
        first: The number of its first row in the whole.
        kept: Which of its cells are left; None for all.
    """
    if not {*_ABOUT, *OF_VERDICTS} <= set(table.column_names):
        return None
    import pyarrow.compute as pc  # noqa: PLC0415 - half a second of import that only this needs

    verdicts = VerdictColumns.of_table(table)
    firsts = np.flatnonzero(np.diff(table.column(CELL).to_numpy(), prepend=-1))
    about = table.select(_ABOUT) if len(firsts) == len(table) else table.select(_ABOUT).take(firsts)
    asked = codes_of(about.column("criterion"), [criterion.name for criterion in criteria])
    names = pc.unique(about.column("system")).to_pylist()
    judged = codes_of(about.column("system"), names)
    found = {}
    for (place, system), (number, criterion) in product(enumerate(names), enumerate(criteria)):
        own: BoolArray = (judged == place) & (asked == number)
        own &= True if kept is None else kept
        held = about if own.all() else about.filter(own)
        found[system, criterion.name] = JudgedColumns(
            criterion=criterion,
            instances=held.column("instance").to_numpy() + first,
            selected=_codes(held.column("verdict_selected_option"), criterion),
            gold=_codes(held.column("gold"), criterion),
            clusters=tuple(held.column("cluster").to_pylist()),
            verdicts=verdicts.only(own),
        )
    return found


def _codes(labels: pyarrow.ChunkedArray, criterion: Criterion) -> IntArray:
    """The place of each label among those of a criterion."""
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    given = [label for label in pc.unique(labels).to_pylist() if label is not None]
    places = np.array([*map(criterion.index_of, given), -1], dtype=np.int64)
    return places[codes_of(labels, given)]


def _places(labels: Sequence[str | None], criterion: Criterion) -> IntArray:
    places: Mapping[str | None, int] = {
        label: -1 if label is None else criterion.index_of(label) for label in dict.fromkeys(labels)
    }
    return np.array([places[label] for label in labels], dtype=np.int64)

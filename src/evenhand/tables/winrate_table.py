"""The result of comparing systems: every contest with its votes, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from evenhand.contests import (
    Contest,
    ContestSummary,
    SystemSummary,
    check_reduction,
    cluster_numbers,
    presented_contests,
    resolve,
    resolved_contests,
    summarize_contests,
)
from evenhand.criteria import Criterion
from evenhand.numbers import Missing
from evenhand.results.read_only import read_only
from evenhand.results.render import TextTable
from evenhand.results.results import PrintedTables, Rules, changed_rules, could_stop_early
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.paired_comparisons import Strength
from evenhand.statistics.ranking import Ranking, SystemRanking, rank_systems
from evenhand.tables.saved import load_table, loaded_verdict, save_table, vote_record
from evenhand.tables.winrate_texts import system_record, winrate_tables

if TYPE_CHECKING:
    import datasets
    import pandas as pd

TIE = "tie"


@dataclass(frozen=True, slots=True)
class ContestEntry:
    """A contest as the table keeps it.

    Attributes:
        contest: The contest with its verdict and all votes.
        prompt_id: The prompt's id in long data.
        lengths: Characters of the first system's response and of the second's; None where there is none.
        gold: The system that a person preferred, or ``"tie"``, where there is such a label.
    """

    contest: Contest
    prompt_id: str | None
    lengths: tuple[int | None, int | None]
    gold: str | None = None

    @property
    def length_difference(self) -> float:
        """First minus second; NaN when one of them is not known, as the statistics expect it."""
        first, second = self.lengths
        return float("nan") if first is None or second is None else float(first - second)

    @property
    def agrees_with_gold(self) -> bool | None:
        """Whether the verdict prefers what the person preferred; None without a label or a score."""
        if self.gold is None or self.contest.score is None:
            return None
        return (self.contest.winner or TIE) == self.gold


@dataclass(frozen=True)
class WinrateTable(PrintedTables):
    """The result of :func:`winrates`: every contest, and which system is better, by how much, how surely.

    Attributes:
        contests: Ordered by prompt and pair.
        criterion: What was compared.
        systems: In the order asked for.
        parameters: What made the table: judges, fields, design, orders, rules, seed, interval level, version.
    """

    contests: tuple[ContestEntry, ...]
    criterion: Criterion
    systems: tuple[str, ...]
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))

    @cached_property
    def summary(self) -> ContestSummary:
        """Winrates under the reduction asked for, ties, unscored contests, and how far the judge can be trusted."""
        return summarize_contests(
            [entry.contest for entry in self.contests],
            self.systems,
            reduction=check_reduction(self.parameters["reduction"], graded=self.parameters["scale"] == "graded"),
            level=self._level,
            ranking=self.ranking,
        )

    @property
    def _level(self) -> IntervalLevel:
        """The level of intervals, and their method; what belongs together is in the contests."""
        return IntervalLevel(self.parameters["level"], None, self.parameters.get("interval", "auto"))

    @cached_property
    def ranking(self) -> Ranking:
        """Ranks, strengths, the position advantage, pairs with tests, groups, circles, length-controlled winrates.

        Here every contest counts once, whatever the grades.
        """
        contests = [entry.contest for entry in self.contests]
        ranking = rank_systems(
            resolved_contests(contests, self.systems),
            presented=presented_contests(contests, self.systems),
            rounds=[contest.round for contest in contests],
            length_difference=[entry.length_difference for entry in self.contests],
            level=self._level,
            resamples=self.parameters["resamples"],
            seed=self.parameters["seed"],
        )
        ranking = replace(ranking, systems=tuple(_with_strength_or_reason(entry) for entry in ranking.systems))
        return _without_open_length_control(ranking)

    @cached_property
    def mean_lengths(self) -> Mapping[str, float | None]:
        """System -> mean characters of its responses, a prompt counted once; None without a response."""
        lengths: dict[str, dict[int, int]] = {system: {} for system in self.systems}
        for entry in self.contests:
            contest = entry.contest
            for system, length in zip((contest.first, contest.second), entry.lengths, strict=True):
                if length is not None:
                    lengths[system][contest.instance] = length
        return {system: sum(own.values()) / len(own) if own else None for system, own in lengths.items()}

    @property
    def matrix(self) -> pd.DataFrame:
        """How often the row's system beats the column's; missing where the two never met.

        ``ranking.pairs`` has the intervals, the paired differences and the p-values.
        """
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        order = [entry.system for entry in self.ranking.systems]
        table = pd.DataFrame(float("nan"), index=order, columns=order)
        for pair in self.ranking.pairs:
            if pair.win_rate is not None:
                table.loc[pair.first, pair.second] = pair.win_rate.estimate
                table.loc[pair.second, pair.first] = 1 - pair.win_rate.estimate
        return table

    @property
    def ranked(self) -> tuple[SystemSummary, ...]:
        """The systems of the summary, best first."""
        return tuple(self.system(entry.system) for entry in self.ranking.systems)

    def system(self, name: str) -> SystemSummary:
        """What the summary says of a system."""
        return self.summary.systems[self.systems.index(name)]

    def winrate(self, system: str) -> Interval | Missing:
        """The winrate of a system under the reduction asked for."""
        return self.system(system).winrate

    def entry(self, system: str) -> SystemRanking:
        """What the ranking says of a system."""
        return next(entry for entry in self.ranking.systems if entry.system == system)

    def gold_agreement(self) -> Interval | None:
        """The share of the contests with a person's preference and a score in which both prefer the same."""
        hits: dict[int, list[bool]] = {}
        numbers = cluster_numbers([entry.contest for entry in self.contests])
        for entry, number in zip(self.contests, numbers, strict=True):
            if entry.agrees_with_gold is not None:
                hits.setdefault(number, []).append(entry.agrees_with_gold)
        sums, counts = [float(sum(own)) for own in hits.values()], [float(len(own)) for own in hits.values()]
        return ratio_intervals(sums, counts, level=self._level)[0] if hits else None

    def resummarize(self, **rules: Unpack[Rules]) -> Self:
        """The same votes under other rules, without a call.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; what is not given stays as it
                was.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit a comparison.
            InvalidInputError: ``scoring="expected"`` of draws that could stop early.
        """
        changed = changed_rules(self.parameters, rules)
        changed.check(self.criterion.scale)
        entries = tuple(
            replace(
                entry,
                contest=resolve(entry.contest, entry.contest.verdict.votes, self.criterion, changed),
            )
            for entry in self.contests
        )
        return replace(self, contests=entries, parameters={**self.parameters, **changed.parameters()})

    def text_tables(self) -> tuple[TextTable, ...]:
        """The systems, the matrix and the pairs as texts."""
        return winrate_tables(self)

    def to_pandas(self) -> pd.DataFrame:
        """One row a system, best first."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame.from_records([system_record(self, system) for system in self.ranked])

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face data set with one row a contest, its votes inside."""
        import datasets  # noqa: PLC0415 - as above

        return datasets.Dataset.from_list(list(self._records()))

    def save(self, path: str | Path) -> None:
        """Write JSONL: a line with the parameters and the criterion, then a line a contest, votes and all."""
        header = {
            "parameters": dict(self.parameters),
            "systems": self.systems,
            "criterion": self.criterion.model_dump(mode="json"),
        }
        rows = (
            {
                "prompt_id": entry.prompt_id,
                "lengths": entry.lengths,
                "gold": entry.gold,
                "contest": entry.contest.model_dump(mode="json"),
            }
            for entry in self.contests
        )
        save_table(path, "winrates", header, rows)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file is something else.
        """
        return load_table(path, "winrates", cls._of, cls.__name__)

    @classmethod
    def _of(cls, header: dict[str, Any], rows: list[dict[str, Any]]) -> Self:
        table = cls(
            contests=tuple(
                ContestEntry(
                    contest=Contest.model_validate(row["contest"]).model_copy(
                        update={"verdict": loaded_verdict(row["contest"]["verdict"], header["parameters"])}
                    ),
                    prompt_id=row["prompt_id"],
                    lengths=(row["lengths"][0], row["lengths"][1]),
                    gold=row["gold"],
                )
                for row in rows
            ),
            criterion=Criterion.model_validate(header["criterion"]),
            systems=tuple(header["systems"]),
            parameters=header["parameters"],
        )
        return table.resummarize() if could_stop_early(table.parameters) else table

    def __repr__(self) -> str:
        return f"<WinrateTable of {len(self.systems)} systems on {self.parameters['n']} prompts>\n{self}"

    def _records(self) -> Iterator[dict[str, Any]]:
        for entry in self.contests:
            contest, verdict = entry.contest, entry.contest.verdict
            yield {
                "instance": contest.instance,
                "cluster": contest.cluster,
                "prompt_id": entry.prompt_id,
                "round": contest.round,
                "first": contest.first,
                "second": contest.second,
                "score": contest.score,
                "grade": contest.grade,
                "winner": contest.winner,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "unscored_reason": contest.unscored_reason,
                "assessment": verdict.assessment,
                "first_length": entry.lengths[0],
                "second_length": entry.lengths[1],
                "gold": entry.gold,
                "votes": [vote_record(vote) for vote in verdict.votes],
            }


def _with_strength_or_reason(entry: SystemRanking) -> SystemRanking:
    """A number that the data do not bear out is replaced by the reason."""
    strength = entry.strength.log_strength
    if strength is None:
        return entry
    if entry.record.win_rate is None:  # strengths come from single votes, which the rules may have set aside
        reason = "no scored contest"
    elif not math.isfinite(strength.low):
        reason = "the data leave its interval open"
    else:
        return entry
    return replace(entry, strength=Strength(entry.system, None, None, reason))


def _without_open_length_control(ranking: Ranking) -> Ranking:
    """As above: winrates at equal length of which all that is known is that they lie between 0 and 1."""
    controlled = ranking.length_controlled
    known = [] if controlled is None else [rate for rate in controlled.win_rates if rate is not None]
    if controlled is None or not known or any(rate.low > 0 or rate.high < 1 for rate in known):
        return ranking
    missing = (None,) * len(controlled.win_rates)
    return replace(
        ranking,
        systems=tuple(replace(entry, length_controlled_win_rate=None) for entry in ranking.systems),
        length_controlled=replace(controlled, win_rates=missing, reason="the data leave their intervals open"),
    )

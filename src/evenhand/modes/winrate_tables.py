"""The results of comparing systems: contests, winrates, ranks and tests, and their tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from evenhand.criteria import Criterion, Option
from evenhand.judge_reliability.against_people import JudgedRow, Scale
from evenhand.judge_reliability.one_judge import FIRST, NEITHER, SECOND, SIDE_SCORES, SIDES, Categories
from evenhand.modes.contest import (
    TIE,
    Contest,
    check_reduction,
    cluster_numbers,
    is_graded,
    presented_contests,
    resolved_contests,
    side_of,
)
from evenhand.modes.winrates import (
    ABOUT_CONTEST,
    ContestSummary,
    Decision,
    SystemSummary,
    about_contest,
    decisions,
    summarize_contests,
    unscored_pairs,
)
from evenhand.numbers import (
    MISSING,
    Missing,
    format_bounds,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_range,
    format_score,
    format_share,
    state_p_value,
)
from evenhand.options import Reduction
from evenhand.question import comparison_criterion, swapped_index
from evenhand.results.analysis import Analysis, Rules, with_votes
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    QuestionName,
    Reported,
    measures_table,
    plain,
    reported_difference,
)
from evenhand.results.notes import baseline_note, early_stop_note, unscored_bounds_note, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, plain_vote
from evenhand.scoring import readings_note
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel, UnscoredBounds
from evenhand.statistics.paired_differences import DifferenceTest
from evenhand.statistics.ranking import Ranking, SystemRanking, rank_systems
from evenhand.statistics.strengths import Parameter, Strength
from evenhand.votes import Vote

if TYPE_CHECKING:
    import pandas as pd

NO_ORDER = Missing("the votes do not say which system was shown first")
WITHOUT_PLACES: dict[str, Any] = dict.fromkeys(
    (
        *("position", "positional_bias", "position_consistency"),
        *("first_shown_preference", "first_shown_preference_p_value", "first_position_share"),
    ),
    NO_ORDER,
)
"""The measures that are not known if the order shown is not."""

MOST_SYSTEMS_IN_A_MATRIX = 10
"""With more, a matrix is wider than a page, and it and the pairs are tables that are printed when asked for."""

LeadingPairs = Mapping[tuple[str, str], UnscoredBounds]
"""``(first, second)`` of a pair -> the bounds of the first system's winrate head to head, where these lead."""

_NONE_LEAD: LeadingPairs = MappingProxyType({})
_NOTHING: Mapping[tuple[str, str], Decision] = MappingProxyType({})


class WinrateAnalysis(Analysis):
    """The result of :func:`winrates`: every contest, and which system is better, by how much, how surely."""

    kind: ClassVar = "winrates"
    judged: ClassVar = ("systems", "criterion")
    names: ClassVar = ("instance", "first", "second")
    compared: ClassVar = ("score", "score")
    labelled_by: ClassVar = ("first", "second")

    def read(self, cells: Iterable[Cell]) -> Iterator[Contest]:
        """Make a contest of each cell."""
        for about, votes, _ in cells:
            held = {**about, "lengths": (about["first_length"], about["second_length"])}
            yield Contest.of(votes, self.criterion, self.rules, **{name: held[name] for name in ABOUT_CONTEST})

    @property
    def contests(self) -> tuple[Contest, ...]:
        """The entries, ordered by prompt and pair."""
        return self.entries

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order asked for."""
        return tuple(self.header["systems"])

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion of the comparisons."""
        return Criterion.model_validate(self.header["criterion"])

    @cached_property
    def summary(self) -> ContestSummary:
        """Winrates under the reduction, ties, unscored contests, and how far the judge can be trusted."""
        summary = summarize_contests(
            self.entries,
            self.systems,
            reduction=self.reduction,
            level=self._level,
            ranking=self.ranking,
        )
        return summary if self._orders_known else replace(summary, **WITHOUT_PLACES)

    @property
    def reduction(self) -> Reduction:
        """The rule by which contests become winrates."""
        return check_reduction(self.parameters["reduction"], graded=is_graded(self.criterion))

    @property
    def rate_name(self) -> str:
        """The name of the share of battles won."""
        return "winrate" if self.reduction == "win_rate" else "weighted winrate"

    @property
    def _orders_known(self) -> bool:
        """Whether recorded votes say which system was shown first."""
        return self.parameters.get("orders_known") is not False

    @property
    def _level(self) -> IntervalLevel:
        """The level of intervals, and their method; what belongs together is in the contests."""
        return IntervalLevel(self.parameters["level"], None, self.parameters["interval"])

    @cached_property
    def ranking(self) -> Ranking:
        """Ranks, strengths, the position advantage, pairs with tests, groups, circles, length-controlled winrates.

        Winrates, ranks and tests of them are under the reduction asked for; strengths and other models count every
        contest of any grade once.
        """
        ranking = rank_systems(
            resolved_contests(self.entries, self.systems, self.reduction),
            presented=presented_contests(self.entries, self.systems) if self._orders_known else None,
            rounds=[contest.round for contest in self.entries],
            length_difference=[contest.length_difference for contest in self.entries],
            level=self._level,
            resamples=self.parameters["resamples"],
            seed=self.parameters["seed"],
        )
        ranking = replace(ranking, systems=tuple(_with_strength_or_reason(entry) for entry in ranking.systems))
        return _without_open_length_control(ranking)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the winrate of each system, and if there are more than two, that against each other system."""
        held: dict[frozenset[str], list[Contest]] = {}
        for each in self.entries:
            for sides in ((each.first,), (each.second,), (each.first, each.second)):
                held.setdefault(frozenset(sides), []).append(each)
        name = self.criterion.name
        found = [_side(system, name, held.get(frozenset([system]), ())) for system in self.systems]
        if len(self.systems) > 2:
            for first, second in combinations(self.systems, 2):
                own = held.get(frozenset([first, second]), ())
                found.append(replace(_side(first, f"against {second}", own), part_of=name))
        return tuple(each for each in found if each.rows)

    @property
    def outcome_notes(self) -> tuple[str, ...]:
        """The note for tables that weigh wins: single contests do not."""
        note = (
            "Every contest counts once here, at any grade (reduction='win_rate'); the table of winrates weighs a "
            f"win by its grade (reduction={self.reduction!r})."
        )
        return () if self.reduction == "win_rate" else (note,)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of each system, best first; of each two against each other; of all contests."""
        for system in self.ranked:
            counted = system.contests - system.num_unscored, system.unscored_counts
            yield Reported("", (system.system,), system, *counted)
            yield Reported("", (system.system,), Measure("strength", system.strength, "number"), *counted)
        leading = unscored_pairs(self.entries, self.ranking.pairs, reduction=self.reduction, level=self.ranking.level)
        for pair in self.ranking.pairs:
            of, met = (pair.first, pair.second), pair.win_rate
            never = Missing("the two never met")
            led = leading.get(of)
            here = Measure("winrate", never if met is None else met, "score", bounds=led)
            turned = None if led is None else led.subtracted_from(1.0)
            there = Measure("winrate", never if met is None else met.subtracted_from(1.0), "score", bounds=turned)
            yield Reported("", of, here, pair.contests)
            yield Reported("", of[::-1], there, pair.contests)
            name = "winrate.difference" if self.ranking.balanced else "strength.difference"
            reason = "the data say nothing about it"
            p_value = None if pair.difference_test is None else pair.difference_test.adjusted_p_value
            yield from reported_difference(name, of, pair.difference, reason, pair.contests, p_value=p_value)
        whole = self.summary
        yield Reported("", (), whole, whole.contests - whole.num_unscored, whole.unscored_counts)
        if (agrees := self.gold_agreement()) is not None:
            yield Reported("", (), Measure("gold_agreement", agrees, "share"), agrees.n)

    def asked(self) -> Iterator[QuestionAsked]:
        """Return the contests as they are held; the score is that of the first system."""
        graded = is_graded(self.criterion)
        named = {1.0: "first", 0.0: "second"}
        for contest in self.entries:
            sides = {"first": contest.first, "second": contest.second}
            sided = [TIE if option.value == 0.5 else named.get(option.value, "") for option in self.criterion.options]  # type: ignore[arg-type]
            options = [sides.get(side, side or label) for side, label in zip(sided, self.criterion.labels, strict=True)]
            yield QuestionAsked(
                name=f"{contest.instance}/{contest.first}/{contest.second}",
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=self.criterion.labels if graded else tuple(options),
                judged=(contest.first, contest.second),
                selected=None if contest.score is None else contest.winner or TIE,
                score=contest.score,
                verdict=contest.verdict.model_copy(update={"unscored_reason": contest.unscored_reason}),
                gold=contest.gold,
                compares=True,
                offered=self.criterion.labels,
            )

    def turned_in(self, abouts: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, ...]]:
        """Return the pairs whose contests are those of the second against the first here."""
        own, theirs = ({(about["first"], about["second"]) for about in each} for each in (self.stored.abouts(), abouts))
        return frozenset(pair for pair in theirs - own if pair[::-1] in own)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion: which of the two is better, or neither."""
        names = ((cell.about["first"], 1.0), (TIE, 0.5), (cell.about["second"], 0.0))
        options = tuple(Option(label=label, value=value) for label, value in names)
        described = self.criterion.description
        return Criterion(name=self.criterion.name, description=described, options=options, scale="pairwise")

    def by_people(self) -> dict[str, Any]:
        """Return the header for labels of people, who may find two responses equal."""
        said = super().by_people()
        offered = comparison_criterion(self.criterion.name, self.criterion.description, allow_ties=True)
        parameters = {**said["parameters"], "reduction": "win_rate"}
        return {**said, "criterion": offered.model_dump(mode="json"), "parameters": parameters}

    @property
    def decisions(self) -> Mapping[tuple[str, str], Decision]:
        """(First, second) -> whether it is decided which of the two is better, and after how many prompts.

        Valid at all looks together, and for any unscored votes; see
        :func:`~evenhand.modes.winrates.decisions`.
        """
        return decisions(self.entries, 1 - self.parameters["level"], reduction=self.reduction)

    @cached_property
    def mean_lengths(self) -> Mapping[str, float | None]:
        """System -> mean characters of its responses, a prompt counted once; None without a response."""
        lengths: dict[str, dict[int, int]] = {system: {} for system in self.systems}
        for contest in self.entries:
            for system, length in zip((contest.first, contest.second), contest.lengths, strict=True):
                if length is not None:
                    lengths[system][contest.instance] = length
        return {system: sum(own.values()) / len(own) if own else None for system, own in lengths.items()}

    @property
    def matrix(self) -> pd.DataFrame:
        """The share of battles that the row's system wins against the column's; missing if the two never met.

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
        """Return the summary of a system."""
        return self.summary.systems[self.systems.index(name)]

    def winrate(self, system: str) -> Interval | Missing:
        """Return the winrate of a system under the chosen reduction."""
        return self.system(system).winrate

    def entry(self, system: str) -> SystemRanking:
        """Return the ranking's entry of a system."""
        return next(entry for entry in self.ranking.systems if entry.system == system)

    def gold_agreement(self) -> Interval | None:
        """Return the share of contests with a person's preference and a score in which both prefer the same."""
        hits: dict[int, list[bool]] = {}
        for contest, number in zip(self.entries, cluster_numbers(self.entries), strict=True):
            if contest.agrees_with_gold is not None:
                hits.setdefault(number, []).append(contest.agrees_with_gold)
        sums, counts = [float(sum(own)) for own in hits.values()], [float(len(own)) for own in hits.values()]
        return ratio_intervals(sums, counts, level=self._level)[0] if hits else None

    def with_gold(
        self, system: str | None, criterion: str | None, *, numbers: bool
    ) -> tuple[list[JudgedRow], Scale, str]:
        """Return which side of each contest is better, for a comparison with people; the score is 1 for the first."""
        del criterion, numbers
        sides = self.systems if len(self.systems) == 2 and TIE not in self.systems else SIDES
        rows = [_judged_contest(entry) for entry in self.entries if system in {None, entry.first, entry.second}]
        scale = Categories(self.criterion, (sides[0], sides[1])).scale
        return rows, scale, f"{self.criterion.name}: {', '.join(self.parameters['judges'])}"

    def rescored(self, **rules: Unpack[Rules]) -> dict[str, Any]:  # type: ignore[override] # the rules by name
        """Return the header and the parameters for the same votes under other rules, without a call.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; what is not given stays as it
                was.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit a comparison.
            InvalidInputError: ``scoring="expected"`` of draws that could stop early.
        """
        changed = self.changed_rules(rules)
        changed.check(self.criterion.scale)
        return self.changed(changed)

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of systems, the matrix and the pairs."""
        return winrate_tables(self)

    def further_tables(self) -> tuple[TextTable, ...]:
        """Return the matrix and the pairs, if they are not printed."""
        return tables_of_pairs(self) if len(self.text_tables()) == 1 else ()

    def ranking_to_pandas(self) -> pd.DataFrame:
        """Return one row per system, best first."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame.from_records([system_record(self, system) for system in self.ranked])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each vote, as ``winrates(votes=rows)`` reads them: ``vote`` is a system, tie or option.

        A contest without one of its responses is a row without a judge.
        """
        found = []
        for contest in self.entries:
            about = {name: value for name, value in about_contest(contest).items() if value is not None}
            about |= {"id": contest.prompt_id or str(contest.instance)}
            votes = contest.verdict.votes
            if not votes:
                unjudged = {"swapped": False, "judge": None, "sample": 0, "vote": None}
                found.append({**about, **unjudged, "unscored_reason": "missing_response"})
            for vote in votes:
                cast = {"swapped": vote.order == (1, 0), **plain_vote(vote), "vote": self._label(contest, vote)}
                found.append({**about, **cast})
        return found

    def _label(self, contest: Contest, vote: Vote) -> str | None:
        """Return the system that a vote prefers, or a tie; the option as it was shown if that is more precise."""
        if vote.selected_index is None:
            return None
        option = self.criterion.options[vote.selected_index]
        side = None if option.na or is_graded(self.criterion) else option.value
        named = {1.0: contest.first, 0.0: contest.second, 0.5: TIE}
        if side in named:
            return named[side]
        shown = vote.selected_index
        return self.criterion.labels[swapped_index(self.criterion.options, shown) if vote.order == (1, 0) else shown]

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each contest."""
        for contest in self.entries:
            verdict = contest.verdict
            record: dict[str, Any] = {
                **about_contest(contest),
                "score": contest.score,
                "grade": contest.grade,
                "winner": contest.winner,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "unscored_reason": contest.unscored_reason,
                "assessment": verdict.assessment,
            }
            yield with_votes(record, [verdict], votes=votes)


def _with_strength_or_reason(entry: SystemRanking) -> SystemRanking:
    """Replace a strength that the data do not support by the reason."""
    strength = entry.strength.log_strength
    if strength is None:
        return entry
    if entry.record.win_rate is None:  # strengths come from single votes, which the rules may have set aside
        reason = "no scored contest"
    elif not math.isfinite(strength.low):
        reason = "the data leave its interval open"
    else:
        return entry
    return replace(entry, strength=Strength(entry.system, None, reason))


def _without_open_length_control(ranking: Ranking) -> Ranking:
    """Leave out winrates at equal length whose intervals all reach from 0 to 1."""
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


def _judged_contest(contest: Contest) -> JudgedRow:
    """Return the side that the verdict prefers, and the side that a person prefers."""
    sides = {contest.first: FIRST, contest.second: SECOND, TIE: NEITHER}
    right = None if contest.gold is None else sides[contest.gold]
    return JudgedRow(
        instance=contest.instance,
        system=None,
        selected=None if contest.score is None else sides[contest.winner or TIE],
        score=contest.score,
        gold_label=right,
        gold_score=None if right is None else SIDE_SCORES[right],
        cluster=contest.cluster,
    )


_SIDES: Mapping[float, str] = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def _side(system: str, name: str, contests: Sequence[Contest]) -> Outcomes:
    """Return contests from the side of one of the two systems; those of a row of the data are one cluster."""
    rows = []
    for contest in contests:
        score = contest.score_of(system)
        question: QuestionName = (contest.instance, contest.first, contest.second)
        selected = None if score is None else _SIDES[side_of(score)]
        rows.append(Outcome(contest.instance, (question,), score, selected, cluster=contest.cluster))
    return Outcomes(system, name, tuple(rows), (0.0, 1.0), tuple(_SIDES.values()), tuple(_SIDES))


def winrate_tables(table: WinrateAnalysis) -> tuple[TextTable, ...]:
    """Return the table of systems; for few systems also the matrix and the pairs, else a note on how to get them."""
    systems = _systems_table(table)
    if len(table.systems) <= MOST_SYSTEMS_IN_A_MATRIX:
        return systems, *tables_of_pairs(table)
    pairs = format_count(len(table.ranking.pairs), "pair")
    note = (
        f"{format_count(len(table.systems), 'system')}: the matrix and the tests of {pairs} are tables of their own, "
        "which to_terminal('matrix') and to_terminal('pairs') write, as to_markdown, to_html, to_latex and to_csv do; "
        "results.matrix and results.ranking.pairs hold the numbers."
    )
    return (replace(systems, notes=(*systems.notes, note)),)


def tables_of_pairs(table: WinrateAnalysis) -> tuple[TextTable, TextTable]:
    """Return the matrix and the pairs."""
    leading = unscored_pairs(table.entries, table.ranking.pairs, reduction=table.reduction, level=table.ranking.level)
    decided = table.decisions if table.ranking.anytime else {}
    rate = table.rate_name
    return matrix_table(table.ranking, leading, rate), pairs_table(table.ranking, leading, decided, rate)


def system_record(table: WinrateAnalysis, system: SystemSummary) -> dict[str, Any]:
    """Return one system's numbers under flat names; a missing number is None."""
    return {
        "system": system.system,
        **_interval(system, "winrate"),
        "ranked_by": table.rate_name if table.ranking.balanced else "strength",
        **_interval(system, "field_winrate"),
        **_numbers(system, "winrate_if_unscored_0", "winrate_if_unscored_1"),
        "bounds_lead": system.unscored_bounds is not None,
        **_numbers(system, "rank", "rank_low", "rank_high", "expected_rank"),
        "rank_missing_reason": getattr(system.rank, "reason", None),
        **_interval(system, "strength"),
        "strength_missing_reason": getattr(system.strength, "reason", None),
        **_interval(system, "length_controlled_winrate"),
        **_numbers(system, "contests", "ties", "num_unscored"),
        "num_unscored_votes": system.unscored_counts.unscored_votes,
        "mean_length": table.mean_lengths[system.system],
    }


def _asked(table: WinrateAnalysis) -> int:
    """Return the number of prompts that were asked: all, or fewer if the comparison stopped early."""
    instances = {entry.instance for entry in table.entries}
    return len(instances) if table.parameters.get("stop") else table.parameters["n"]


def _of_all(some: int, total: int, noun: str) -> str:
    return format_count(total, noun) if some == total else f"{format_count(some)} of {format_count(total, noun)}"


def _anytime_notes(table: WinrateAnalysis) -> tuple[str, ...]:
    """Return notes on when the comparison was decided, and which numbers are valid at any time."""
    if not table.ranking.anytime:
        return ()
    said = (
        "Intervals and p-values hold at all looks together and wherever one stops: bets on the scores of prompts, or "
        "of clusters of them. A winrate is the mean of those against each of the others. Strengths, the position "
        "advantage and winrates at equal length are left out: their intervals would be those of a sample of a fixed "
        "size."
    )
    return (_stopped(table), said) if table.parameters.get("stop") else (said,)


def _stopped(table: WinrateAnalysis) -> str:
    """Describe the number of prompts after which a comparison that may stop was decided."""
    known, total, asked = [*table.decisions.values()], table.parameters["n"], _asked(table)
    after = [one.prompts for one in known if one.decided]
    told = " to ".join(format_count(prompts) for prompts in sorted({min(after), max(after)})) if after else ""
    decided = f"Decided after {told}" if len(known) == 1 else f"{_of_all(len(after), len(known), 'pair')} decided"
    if len(known) > 1 and after:
        decided += f", after {told}"
    if not after:
        decided = f"Not decided after {format_count(asked)}"
    rest = f"; the other {format_count(total - asked)} were not asked" if asked < total else ""
    return (
        f"{decided} of {format_count(total, 'prompt')} in a random order{rest}. That any pair of equal systems is ever "
        f"decided has a probability of {format_percent(1 - table.parameters['level'])} at most, over all looks and "
        "pairs." + (" The estimate of a pair that is decided leans away from ½; its interval holds." if after else "")
    )


def _numbers(system: SystemSummary, *names: str) -> dict[str, float | None]:
    return {name: plain(getattr(system, name)) for name in names}


def _interval(system: SystemSummary, name: str) -> dict[str, float | None]:
    interval: Interval | Missing = getattr(system, name)
    limits = (interval.estimate, interval.low, interval.high) if interval else (None,) * 3
    return dict(zip((name, f"{name}_low", f"{name}_high"), limits, strict=True))


def _systems_table(table: WinrateAnalysis) -> TextTable:
    level, balanced = format_level(table.parameters["level"]), table.ranking.balanced
    columns = (
        Column(
            f"{'' if balanced else 'raw '}{table.rate_name} [{level}]",
            lambda one: format_score(one.winrate, one.unscored_bounds),
        ),
        *(() if balanced else (Column(f"against all [{level}]", "field_winrate"),)),
        Column("rank", lambda one: format_rank(one.rank, one.rank_low, one.rank_high)),
        Column("strength", "strength", optional=table.ranking.anytime),
        Column("at equal length", "length_controlled_winrate", optional=table.ranking.anytime),
        Column("contests", "contests"),
        Column("ties", "ties"),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("length", lambda one: format_count(table.mean_lengths[one.system])),
    )
    title = (
        f"{table.rate_name.capitalize()}s on {table.criterion.name!r} by {', '.join(table.parameters['judges'])}: "
        f"{_of_all(_asked(table), table.parameters['n'], 'prompt')}, {format_count(len(table.entries), 'contest')}"
    )
    return measures_table(
        title, ("system",), {(one.system,): one for one in table.ranked}, columns, _notes(table), kind="scores"
    )


def matrix_table(ranking: Ranking, leading: LeadingPairs = _NONE_LEAD, rate_name: str = "winrate") -> TextTable:
    """Return the winrate of the row's system against the column's, best first; its bounds if these lead."""
    systems = [entry.system for entry in ranking.systems]
    rates = {(pair.first, pair.second): pair.win_rate for pair in ranking.pairs}
    cells = {}
    for (first, second), rate in rates.items():
        cells[first, second] = format_estimate(rate)
        cells[second, first] = format_number(None if rate is None else 1 - rate.estimate)
    for (first, second), bounds in leading.items():
        cells[first, second] = format_bounds(bounds.low, bounds.high)
        cells[second, first] = format_bounds(1 - bounds.high, 1 - bounds.low)
    return TextTable(
        kind="matrix",
        title=f"{rate_name.capitalize()} of the row's system against the column's",
        headers=("", *systems),
        rows=tuple((row, *(cells.get((row, column), "") for column in systems)) for row in systems),
    )


def pairs_table(
    ranking: Ranking,
    leading: LeadingPairs = _NONE_LEAD,
    decided: Mapping[tuple[str, str], Decision] = _NOTHING,
    rate_name: str = "winrate",
) -> TextTable:
    """Return the table of every two systems: head to head, and the difference of their winrates or strengths.

    Where all holds at any time, there is head to head alone, and what is decided.
    """
    level = format_level(ranking.level)
    head = "Head to head" if rate_name == "winrate" else f"Head to head by {rate_name}"
    of_winrates = f"{head}, and the paired difference of {rate_name}s over all contests (p corrected by Holm)"
    of_strengths = f"{head}, and the difference of strengths (p corrected by Holm, and by Scheffé where results paired)"
    columns: tuple[Column, ...] = (
        Column("contests", "contests"),
        Column(
            f"head to head [{level}]", lambda pair: format_score(pair.win_rate, leading.get((pair.first, pair.second)))
        ),
        Column("p", lambda pair: format_adjusted(pair.win_rate_test)),
    )
    if ranking.anytime:
        columns += (Column("decided", lambda pair: _decided(decided.get((pair.first, pair.second)))),)
        return _table_of_pairs(f"{head} (p corrected by Holm; all holds at any time)", ranking, columns)
    columns += (
        Column(
            f"difference [{level}]" if ranking.balanced else f"difference of strengths [{level}]",
            lambda pair: format_interval(pair.difference, signed=True),
        ),
        Column("p", lambda pair: format_adjusted(pair.difference_test)),
    )
    return _table_of_pairs(of_winrates if ranking.balanced else of_strengths, ranking, columns)


def _table_of_pairs(title: str, ranking: Ranking, columns: Sequence[Column]) -> TextTable:
    pairs = {(f"{pair.first} – {pair.second}",): pair for pair in ranking.pairs}
    return measures_table(title, ("systems",), pairs, columns, kind="pairs")


def _decided(decision: Decision | None) -> str:
    """Describe whether a pair is decided, and on how much."""
    if decision is None:
        return MISSING
    return f"{'after' if decision.decided else 'not after'} {format_count(decision.prompts, 'prompt')}"


def format_rank(rank: int | Missing, low: int | Missing, high: int | Missing) -> str:
    """Format a rank with the ranks that the tests leave open, or a dash."""
    return f"{rank} [{low}, {high}]" if rank else MISSING


def format_adjusted(test: DifferenceTest | None) -> str:
    """Format the corrected p-value, or a dash if there was no test."""
    return MISSING if test is None else format_p_value(test.adjusted_p_value)


def ranking_notes(ranking: Ranking) -> tuple[str, ...]:
    """Return notes on the position advantage, systems that are alike, circles and missing estimates."""
    if ranking.anytime:
        unranked = _missing_notes("rank", {entry.system: entry.rank.reason for entry in ranking.systems})
        return _groups_note(ranking), *_cycles_note(ranking), *unranked
    notes = [_position_note(ranking.model.position_probability), _groups_note(ranking), *_cycles_note(ranking)]
    notes += _missing_notes("strength", {entry.system: entry.strength.reason for entry in ranking.systems})
    if ranking.length_controlled is not None and ranking.length_controlled.reason is not None:
        notes.append(f"No length-controlled winrates: {ranking.length_controlled.reason}.")
    if not ranking.balanced:
        notes += _unequal_opponents_notes(ranking)
    return tuple(notes)


def _unequal_opponents_notes(ranking: Ranking) -> list[str]:
    note = (
        "Not every two systems met in equally many scored contests, so raw winrates are over opponents of unequal "
        "strength: ranks, groups and differences are of strengths, and 'against all' is the winrate that the model of "
        "strengths expects against all the other systems."
    )
    if ranking.contests_added:
        note += (
            " A system won or lost all that counts, which leaves a strength infinite; for ranks and differences one "
            "contest a strength was added, half won by each side."
        )
    return [note, *_missing_notes("rank", {entry.system: entry.rank.reason for entry in ranking.systems})]


def _missing_notes(what: str, reasons: Mapping[str, str | None]) -> list[str]:
    """Return notes on the systems without a number, for each reason."""
    lacking: dict[str, list[str]] = {}
    for system, reason in reasons.items():
        if reason is not None:
            lacking.setdefault(reason, []).append(system)
    return [f"No {what} for {', '.join(systems)}: {reason}." for reason, systems in lacking.items()]


def _position_note(position: Parameter) -> str:
    if position.interval is None:
        return f"Position advantage: no estimate, since {position.reason}."
    return (
        f"Position advantage: between equals the response shown first wins {format_share(position.interval)} of the "
        "decided contests (Davidson and Beaver's model)."
    )


def _groups_note(ranking: Ranking) -> str:
    alike = [group for group in ranking.groups if len(group) > 1]
    how = "Holm" if ranking.balanced else "Holm, strengths"
    if not alike:
        return f"All systems can be told apart at the {format_level(ranking.level)} level ({how})."
    listed = "; ".join(", ".join(group) for group in alike)
    return f"Cannot be told apart at the {format_level(ranking.level)} level ({how}): {listed}."


def _cycles_note(ranking: Ranking) -> list[str]:
    cycles = ranking.cycles
    if not cycles.triples:
        return []
    within = ""
    if cycles.prompt_rate is not None:
        within = f"; within prompts {format_share(cycles.prompt_rate)} of {format_count(cycles.prompt_triples)}"
    found = f"{format_count(cycles.cyclic)} of {format_count(cycles.triples)}"
    return [f"Preferences in a circle: {found} triples of systems{within}."]


def _notes(table: WinrateAnalysis) -> tuple[str, ...]:
    notes = [
        *_anytime_notes(table),
        "Lengths are mean characters."
        if table.ranking.anytime
        else "Strengths are log-odds by Davidson's model, 0 on average; lengths are mean characters.",
        *ranking_notes(table.ranking),
        _order_note(table),
    ]
    controlled = table.ranking.length_controlled
    if controlled is not None and controlled.reason is None:
        notes.append(
            "At equal length: what the model of systems and lengths makes of them. It takes away the quality that goes "
            "with length too, so that a system whose responses are longer for saying more is held back."
        )
    if table.reduction != "win_rate":
        notes.append(_reduction_note(table.ranking))
    agreement = table.gold_agreement()
    if agreement is not None:
        notes.append(f"Agrees with the gold preferences in {format_share(agreement)} of the contests.")
    notes += [*_unscored_notes(table), *_unscored_bounds_notes(table)]
    notes += readings_note([table.summary.readings])
    notes += early_stop_note(table.parameters)
    return (*notes, *baseline_note(table.parameters["judges"]))


def _reduction_note(ranking: Ranking) -> str:
    """Return the note on what weighs a win by its grade, and what counts every contest once."""
    if ranking.anytime:
        return "Everything here weighs a win by its grade, but for the counts of contests and ties."
    weighed, once = "Winrates, head to head", "strengths, the position advantage"
    if ranking.balanced:
        weighed += ", differences, ranks, groups and circles"
    else:
        weighed += " and circles"
        once += ", the ranks, groups and differences that are of strengths, winrates against all"
    controlled = ranking.length_controlled
    once += "" if controlled is None or controlled.reason is not None else ", winrates at equal length"
    return f"{weighed} weigh a win by its grade; {once} and the orders count every contest once."


def _order_note(table: WinrateAnalysis) -> str:
    summary = table.summary
    position = summary.position
    if isinstance(position, Missing) or not summary.positional_bias:
        return "Orders: no contest was judged in both, so what position does to the verdicts is not known."
    note = f"Orders: the judge changes its mind in {format_share(summary.positional_bias)} of the contests"
    if position.p_value is not None:
        note += f"; of {format_count(position.n_inconsistent)} such changes of one judge the first place gains from "
        note += f"{format_share(position.first_shown_share)} ({state_p_value(position.p_value)})"
    if table.parameters["on_position_bias"] == "first":
        ranked = ("Winrates, ranks and tests take", "strengths come")
        if not table.ranking.balanced:
            ranked = ("Raw winrates take", "ranks, differences and strengths come")
        note += (
            f". {ranked[0]} the first order alone (on_position_bias='first'); {ranked[1]} from the votes in all "
            "orders, less what the position does"
        )
    return note + "."


def _unscored_notes(table: WinrateAnalysis) -> list[str]:
    notes = [*unscored_note(table.unscored_counts)]
    if table.summary.num_unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in table.summary.unscored_contests.items())
        notes.append(f"Contests without a score: {reasons}.")
    bounds = "; ".join(
        f"{one.system} {format_range(one.winrate_if_unscored_0, one.winrate_if_unscored_1)}"
        for one in table.summary.systems
        if one.winrate_if_unscored_0 != one.winrate_if_unscored_1
    )
    if bounds:
        notes.append(f"Winrates if every unscored vote had been against the system, or for it: {bounds}.")
    return notes


def _unscored_bounds_notes(table: WinrateAnalysis) -> tuple[str, ...]:
    """Return the notes on bounds, and on the other numbers that rest on the scored votes alone."""
    said = unscored_bounds_note({one.system: one.unscored_bounds for one in table.summary.systems})
    if not said:
        return ()
    others = ["ranks", "groups", "tests", "strengths"]
    others += [] if table.ranking.balanced else ["winrates against all"]
    others += [] if table.ranking.length_controlled is None else ["winrates at equal length"]
    listed = f"{', '.join(others[:-1])} and {others[-1]}"
    return (*said, f"{listed.capitalize()} rest on the scored votes, and would change with the rest.")

"""Pairwise judging: the pairs of systems that a judge is shown, and the summary of the contests.

A :class:`WinratesMode` asks about the pairs of a design; :func:`summarize_contests` returns the results: winrates with
intervals, ranks, and how far the judging can be trusted.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal

import numpy as np

from evenhand.data.rows import common_systems
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError, JournalError, TooManyFailuresError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.grid import Design, Pair, fixed_pairs, parse_design, swiss_pairs
from evenhand.judging.progress import tell
from evenhand.judging.run import ask, estimate, limits_after
from evenhand.modes.contest import (
    Contest,
    cluster_numbers,
    presented_contests,
    resolved_contests,
    unscored_limits,
    winrates,
)
from evenhand.modes.mode import Mode, Subject, VoteCells, one_criterion
from evenhand.numbers import Missing, format_count
from evenhand.options import Reduction
from evenhand.question import Question
from evenhand.results.measures import UnscoredCounts, known, measure
from evenhand.results.vote_columns import Cell, VerdictColumns
from evenhand.scoring import VoteMeasures, vote_measures
from evenhand.statistics import Interval
from evenhand.statistics.anytime import ConfidenceSequence, hedged, p_value_of
from evenhand.statistics.consistency import PositionBias, position_bias
from evenhand.statistics.contests import rate_against_each, win_rate_intervals
from evenhand.statistics.intervals import IntervalLevel, Level, UnscoredBounds, bounds_between, cluster_sums, mean_leads
from evenhand.statistics.paired_differences import holm
from evenhand.statistics.ranking import Ranking, rank_systems
from evenhand.statistics.strengths import NO_CONTEST
from evenhand.votes import Vote

logger = logging.getLogger(__name__)


ABOUT_CONTEST: Final = ("instance", "first", "second", "round", "cluster", "prompt_id", "lengths", "gold")


def about_contest(contest: Contest) -> dict[str, Any]:
    """Return what names a contest, and what is known of it before it is judged."""
    about = {name: getattr(contest, name) for name in ABOUT_CONTEST if name not in {"lengths", "gold"}}
    first, second = contest.lengths
    return {**about, "first_length": first, "second_length": second, "gold": contest.gold}


@dataclass(frozen=True)
class WinratesMode(Mode[tuple[Contest, ...]]):
    """A judge compares the responses of two systems: instances × pairs of systems -> questions -> votes -> contests.

    A subject has the response of every system, and is judged by a pairwise criterion.

    Attributes:
        design: The rule by which pairs meet.
        reduction: The rule by which contests become winrates; a Swiss design pairs by winrates.
        stop: ``decided``: ask about a pair until it is decided (:class:`Questioning`), with the error rate
            that the level of the intervals leaves.
    """

    design: Design = field(default_factory=lambda: parse_design("all"))
    reduction: Reduction = "win_rate"
    stop: Literal["decided"] | None = None

    def __post_init__(self) -> None:
        if self.stop and self.options.interval != "anytime":
            raise InvalidInputError(
                f"stop={self.stop!r} makes the size of the sample depend on the results, and interval is "
                f"{self.options.interval!r}: give interval='anytime'"
            )
        if self.stop and self.design.kind == "swiss":
            raise InvalidInputError(
                f"stop={self.stop!r} does not go with design={str(self.design)!r}, which pairs by results; accepted "
                "with it are 'all', 'baseline:<system>' and 'sample:<pairs an instance>'"
            )

    kind: ClassVar = "winrates"
    compares_two: ClassVar = True
    function: ClassVar = "winrates"

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return a question for each pair with both responses."""
        return tuple(_questions([about], [(0, pair) for pair in _pairs(about)]).values())

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> tuple[Contest, ...]:
        """Return the contests of all pairs; one without a response is unscored (``missing_response``)."""
        cast = dict(zip(_questions([about], [(0, pair) for pair in _pairs(about)]), votes, strict=True))
        return tuple(self._contest(about, pair, cast.get((0, pair), ())) for pair in _pairs(about))

    def record(self, about: Subject, result: tuple[Contest, ...]) -> dict[str, Any]:
        """Return each system's winrate."""
        rates = winrates(result, tuple(about.texts), self.reduction)
        return {f"{system}_winrate": rate for system, rate in rates.items()}

    def cells(self, about: Subject, result: tuple[Contest, ...], place: int) -> VoteCells:
        """Return one cell per contest."""
        del about, place
        for contest in result:
            yield about_contest(contest), contest.verdict.votes

    def judged_cells(
        self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine], places: Sequence[int]
    ) -> list[Cell]:
        """Judge the pairs of the design, and return the votes on each contest."""
        held = zip(subjects, self.judge(subjects, judges), places, strict=True)
        return [Cell(about, tuple(votes)) for each in held for about, votes in self.cells(*each)]

    @property
    def saved_as(self) -> str:
        """The kind of the Python function's results."""
        return "winrates"

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the systems and the criterion."""
        return {"systems": [*systems], "criterion": one_criterion(judged)}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a result, as plain JSON."""
        return {
            "design": str(self.design),
            "reduction": self.reduction,
            **self.run_parameters(),
        }

    def measures(
        self, subjects: Sequence[Subject], results: Sequence[tuple[Contest, ...]], level: Level
    ) -> ContestSummary:
        """Return the measures; see :func:`summarize_contests`; the contests name the clusters."""
        contests = [contest for held in results for contest in held]
        only = IntervalLevel.of(level).over(None)
        return summarize_contests(contests, tuple(subjects[0].texts), reduction=self.reduction, level=only)

    def estimate(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> RunEstimate:
        """Return the calls, tokens and cost, at most, without a call.

        The rounds of a Swiss design depend on results, so each is taken to cost what the first one does, without
        replies from the journal.
        """
        subjects, rounds = alike(subjects), self.design.rounds
        questions = list(_questions(subjects, self._drawn(subjects, 0, {})).values())
        if rounds == 1:
            return estimate(questions, judges, self.options, self.flow)
        unknown = self.options.model_copy(update={"journal": None})
        return RunEstimate.total([estimate(questions, judges, unknown, self.flow)] * rounds)

    def judge(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> list[tuple[Contest, ...]]:
        """Judge the pairs of the design: the contests of each instance, ordered by pair.

        A pair with a missing response is not judged: its contest is
        unscored (``missing_response``). The rounds of a Swiss design, and the blocks of prompts between two looks where
        pairs are asked about until they are decided, are runs that follow one another within one budget.

        Raises:
            InvalidInputError: If the instances name different systems, or these do not fit the design.
            TooManyFailuresError: If more votes fail than the settings allow.
        """
        subjects = alike(subjects)
        held: dict[tuple[int, Pair], Contest] = {}
        for number, drawn in self._rounds(subjects, held):
            questions = _questions(subjects, drawn)
            before = [contest.verdict.votes for contest in held.values()]
            left = limits_after(self.options, (vote for votes in before for vote in votes))
            left = left.model_copy(update={"progress": left.progress and self.stop is None})
            try:
                votes = ask(list(questions.values()), judges, left, self.flow) if questions else []
            except (JournalError, TooManyFailuresError) as error:
                error.votes = [*before, *error.votes]
                raise
            cast = dict(zip(questions, votes, strict=True))
            for place, pair in drawn:
                held[place, pair] = self._contest(subjects[place], pair, cast.get((place, pair), ()), number)
        by_row: list[list[Contest]] = [[] for _ in subjects]
        for place, pair in sorted(held):
            by_row[place].append(held[place, pair])
        return [tuple(contests) for contests in by_row]

    def _rounds(
        self, subjects: Sequence[Subject], held: Mapping[tuple[int, Pair], Contest]
    ) -> Iterator[tuple[int, list[tuple[int, Pair]]]]:
        """Yield the number of each round and its contests, which depend on earlier contests."""
        if self.stop is None:
            yield from ((number, self._drawn(subjects, number, held)) for number in range(self.design.rounds))
            return
        pairs: dict[int, list[Pair]] = {}
        for place, pair in self._drawn(subjects, 0, {}):
            pairs.setdefault(place, []).append(pair)
        clusters = [about.cluster for about in subjects]
        questioning = Questioning(pairs, clusters, 1 - self.options.level, self.options.seed, self.reduction)
        while block := questioning.block():
            yield 0, block
            questioning.look(list(held.values()), tuple(subjects[0].texts))
            logger.info("%s", questioning)
            if self.options.progress:
                tell(str(questioning))

    def _contest(self, about: Subject, pair: Pair, votes: Sequence[Vote], number: int = 0) -> Contest:
        (first, one), (second, other) = (list(about.texts.items())[side] for side in pair)
        return Contest.of(
            votes,
            about.judged,
            self.rules,
            instance=about.instance,
            first=first,
            second=second,
            round=number,
            cluster=about.cluster,
            prompt_id=about.row_id or None,
            lengths=(None if one is None else len(one), None if other is None else len(other)),
            gold=about.gold.get((first, second)),
        )

    def _drawn(
        self, subjects: Sequence[Subject], number: int, held: Mapping[tuple[int, Pair], Contest]
    ) -> list[tuple[int, Pair]]:
        """Return (place of the row, pair) of every contest of a round, after those of earlier rounds."""
        systems = tuple(subjects[0].texts)
        self.design.check_systems(systems)
        if self.design.kind != "swiss":
            pairs = fixed_pairs(self.design, systems, len(subjects))
        else:
            met: list[set[Pair]] = [set() for _ in subjects]
            for place, pair in held:
                met[place].add(pair)
            standings = winrates(list(held.values()), systems, self.reduction)
            pairs = swiss_pairs(self.design, systems, len(subjects), round_number=number, winrates=standings, met=met)
        return [(place, pair) for place, drawn in enumerate(pairs) for pair in drawn]


def alike(subjects: Sequence[Subject]) -> list[Subject]:
    """Return the same instances, each with the systems in the order of the first.

    Raises:
        InvalidInputError: If they name different systems, two are one row, or a criterion is not pairwise.
    """
    for about in subjects:
        if about.judged.scale != "pairwise":
            raise InvalidInputError(
                f"the criterion {about.judged.name!r} of instance {about.instance} has the scale "
                f"{about.judged.scale!r}; a comparison needs a pairwise one: see load_comparison"
            )
    systems = common_systems([about.texts for about in subjects])
    if len({about.instance for about in subjects}) < len(subjects):
        raise InvalidInputError("two rows have the same instance number; contests of a row are one cluster")
    return [replace(about, texts={system: about.texts[system] for system in systems}) for about in subjects]


def _pairs(about: Subject) -> list[Pair]:
    return list(combinations(range(len(about.texts)), 2))


def _questions(subjects: Sequence[Subject], drawn: Sequence[tuple[int, Pair]]) -> dict[tuple[int, Pair], Question]:
    """Return the questions of the contests with both responses. No question names a system."""
    questions = {}
    for place, pair in drawn:
        about = subjects[place]
        texts = tuple(about.texts.values())
        first, second = (texts[side] for side in pair)
        if first is not None and second is not None:
            name = f"{about.named}:{pair[0]}-{pair[1]}"
            questions[place, pair] = about.question(name, about.judged, (first, second), mode="compare")
    return questions


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """The results of one system over all its contests. A missing number gives the reason.

    Attributes:
        system: Its name.
        winrate: The share of its battles won, over the scored contests; where it is to hold at any time, the mean of
            these shares against each of the others (:func:`~evenhand.statistics.contests.rate_against_each`).
        winrate_if_unscored_0: The winrate if every unscored vote had been against it: an unscored contest is lost, and
            one that is scored on some of its votes takes its worst case
            (:func:`~evenhand.modes.contest.unscored_limits`).
        winrate_if_unscored_1: The winrate if every unscored vote had been for it.
        unscored_bounds: The bounds of the winrate, where too many votes are unscored for the mean to lead (the rule of
            :func:`~evenhand.statistics.intervals.unscored_bounds`, the rows being contests); else None.
        mean_rank: The mean of its ranks on the instances on which all systems met equally often, 1 the best, equals
            sharing the mean of theirs (:func:`~evenhand.statistics.mean_ranks`); without such an instance the one that
            the strengths expect.
        rank: The rank, by winrate if all met equally often and otherwise by strength.
        rank_low: The best rank that the tests leave open.
        rank_high: The worst rank that the tests leave open.
        field_winrate: The winrate that the strengths expect against all the others, if not all met equally often.
        strength: Davidson's log-strength.
        length_controlled_winrate: The winrate as it would be if all responses were equally long.
        contests: The number of its contests.
        ties: The scored contests without a winner.
        num_unscored: The contests without a score.
        unscored_counts: The unscored votes on its contests.
    """

    system: str
    winrate: Interval | Missing = measure("score", always=True, bounds="unscored_bounds")
    field_winrate: Interval | Missing = measure("score")
    winrate_if_unscored_0: float | Missing = measure("score", always=True)
    winrate_if_unscored_1: float | Missing = measure("score", always=True)
    unscored_bounds: UnscoredBounds | None
    mean_rank: Interval | Missing = measure("number", always=True)
    rank: int | Missing = measure("count", always=True)
    rank_low: int | Missing = measure("count", name="rank_ci_low", always=True)
    rank_high: int | Missing = measure("count", name="rank_ci_high", always=True)
    strength: Interval | Missing
    length_controlled_winrate: Interval | Missing
    contests: int = measure("count", name="num_contests")
    ties: int = measure("count", name="num_ties")
    num_unscored: int = measure("count")
    unscored_counts: UnscoredCounts = measure("count", name="", only=("unscored_votes",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestSummary(VoteMeasures):
    """The results of all contests. A missing number gives the reason.

    Intervals take instances as the sampling unit, each with all its contests.

    Attributes:
        systems: One summary per system, in the order given.
        reduction: The rule by which contests became winrates.
        level: The level of the intervals.
        num_instances: Instances with a contest.
        contests: The number of contests.
        ties: The scored contests without a winner.
        tie_rate: The share of ties among the scored contests.
        num_unscored: The contests without a score.
        unscored_contests: Reason -> number of contests without a score.
        position_consistency: The share of the contests judged in several orders on which no judge changed its mind.
        position: The disagreements between the two orders of a judge on the winner: their share, the preference for
            the first place, and its exact test. The unit is a contest and judge. Its measures follow.
    """

    systems: tuple[SystemSummary, ...]
    reduction: Reduction
    level: float
    num_instances: int
    contests: int = measure("count", name="num_contests")
    ties: int = measure("count", name="num_ties")
    tie_rate: Interval | Missing = measure("share")
    num_unscored: int = measure("count")
    unscored_contests: Mapping[str, int] = measure("count")
    position_consistency: Interval | Missing = measure("share")
    position: PositionBias | Missing
    num_inconsistent: int = measure("count")
    num_lone: int = measure("count")
    first_shown_preference: Interval | Missing = measure("share")
    first_shown_preference_p_value: float | Missing = measure("p_value")
    first_position_share: Interval | Missing = measure("share")


ALL_AGREE = "the orders of no judge disagree"


def summarize_contests(
    contests: Sequence[Contest],
    systems: Sequence[str],
    *,
    reduction: Reduction = "win_rate",
    level: Level = 0.95,
    ranking: Ranking | None = None,
) -> ContestSummary:
    """Return the summary of some contests.

    Args:
        contests: In any order.
        systems: The names, in the order of the report.
        reduction: The rule by which contests become winrates.
        level: The level of the intervals, which are over the instances, or the clusters that the contests name.
        ranking: The ranking of the same contests, if it has been made already.

    Raises:
        InvalidInputError: If a contest names a system that ``systems`` does not.
    """
    unknown = {name for contest in contests for name in (contest.first, contest.second)} - set(systems)
    if unknown:
        raise InvalidInputError(f"the contests name the systems {sorted(unknown)!r}, which are not among {systems!r}")
    if ranking is None:
        resolved, presented = resolved_contests(contests, systems, reduction), presented_contests(contests, systems)
        rounds = [contest.round for contest in contests]
        ranking = rank_systems(resolved, presented=presented, rounds=rounds, level=level)
    clusters = {contest.instance: contest.cluster for contest in contests}
    level = replace(IntervalLevel.of(level), clusters=None if None in clusters.values() else [*clusters.values()])
    reasons = Counter(contest.unscored_reason for contest in contests if contest.unscored_reason is not None)
    columns = VerdictColumns.of([contest.verdict for contest in contests])
    places = {instance: place for place, instance in enumerate(clusters)}
    measures, (tie_rate, consistency) = vote_measures(
        columns,
        [None if contest.score is None else contest.score == 0.5 for contest in contests],
        [contest.verdict.position_consistent for contest in contests],
        rows=np.array([places[contest.instance] for contest in contests], dtype=int),
        level=level,
    )
    by_system: dict[str, list[int]] = {system: [] for system in systems}
    for place, contest in enumerate(contests):
        by_system[contest.first].append(place)
        by_system[contest.second].append(place)
    entries = {entry.system: entry for entry in ranking.systems}
    summaries = []
    for system, own in by_system.items():
        held, entry = [contests[place] for place in own], entries[system]
        if ranking.anytime:
            low, high, leading = _bounds_against_each(held, system, reduction, level)
        else:
            low, high, leading = winrate_bounds(held, system, entry.winrate or None, reduction=reduction, level=level)
        summaries.append(
            SystemSummary(
                **{each.name: getattr(entry, each.name) for each in fields(entry)},
                winrate_if_unscored_0=known(low, "no contest"),
                winrate_if_unscored_1=known(high, "no contest"),
                unscored_bounds=leading,
                unscored_counts=UnscoredCounts.of(
                    columns.votes.only(np.isin(np.arange(len(contests)), own)), [each.instance for each in held]
                ),
            )
        )
    return ContestSummary(
        systems=tuple(summaries),
        reduction=reduction,
        level=float(level),
        num_instances=len(places),
        contests=len(contests),
        ties=sum(contest.score == 0.5 for contest in contests),
        tie_rate=known(tie_rate, NO_CONTEST),
        num_unscored=sum(contest.score is None for contest in contests),
        unscored_contests=MappingProxyType(dict(sorted(reasons.items()))),
        position_consistency=known(consistency, "no contest was read in two orders"),
        **_position_measures(contests, level),
        **measures,
    )


def _position_measures(contests: Sequence[Contest], level: IntervalLevel) -> dict[str, Any]:
    """Return the measures of a judge's two orders, by the names of the summary."""
    selections = [own for contest in contests for own in contest.selections]
    if not selections:
        names = ("position", "first_shown_preference", "first_shown_preference_p_value", "first_position_share")
        return {**dict.fromkeys(names, Missing("nothing was judged")), "num_inconsistent": 0, "num_lone": 0}
    judged = [contest.cluster for contest in contests for _ in contest.selections]
    position = position_bias(selections, level=level.over(None if level.clusters is None else judged))
    return {
        "position": position,
        "num_inconsistent": position.n_inconsistent,
        "num_lone": position.n_lone,
        "first_shown_preference": known(position.first_shown_share, ALL_AGREE),
        "first_shown_preference_p_value": known(position.p_value, ALL_AGREE),
        "first_position_share": known(position.first_position_share, "no vote is for a place"),
    }


_Bounds = tuple[float | None, float | None, UnscoredBounds | None]
"""A winrate if every unscored vote had been against the system, or for it; and its leading bounds."""


def winrate_bounds(
    contests: Sequence[Contest],
    system: str,
    rate: Interval | None,
    *,
    reduction: Reduction = "win_rate",
    level: Level = 0.95,
) -> _Bounds:
    """Return a system's winrate if every unscored vote had been against it, or for it, and the bounds if these lead.

    A contest whose votes were scored and that was set aside, since the orders disagree, is lost or won too, but is not
    unscored.

    Args:
        contests: The system's contests.
        system: Its name.
        rate: Its winrate over the scored contests.
        reduction: The rule by which contests become winrates.
        level: The level of the intervals.
    """
    ends = unscored_limits(contests, reduction)
    second = np.array([contest.first != system for contest in contests], dtype=bool)
    turned = ends[second, ::-1]  # the first system's wins are the second one's losses
    turned[..., 0] = turned[..., 1] - turned[..., 0]
    ends[second] = turned
    kept = ~np.array([contest.score is None and contest.verdict.read for contest in contests], dtype=bool)
    aside, (worst, best) = len(contests) - int(kept.sum()), ends[kept].sum(axis=0).tolist()
    unscored = (ends[kept, 0] != ends[kept, 1]).any(axis=1)
    leading = None
    if unscored.any() and not mean_leads(rate, worst[0] / worst[1], best[0] / best[1]):
        over = IntervalLevel.of(level).over(np.array(cluster_numbers(contests))[kept].tolist())
        (least,), (greatest,) = (win_rate_intervals(*ends[kept, side].T, level=over) for side in (0, 1))
        leading = bounds_between(least, greatest, share=float(unscored.mean()), unit="contests")
    lost, taken = worst[1] + aside, best[1] + aside
    return worst[0] / lost if lost else None, (best[0] + aside) / taken if taken else None, leading


def _bounds_against_each(
    contests: Sequence[Contest], system: str, reduction: Reduction, level: IntervalLevel
) -> _Bounds:
    """Return the same with equal weights for all opponents (:func:`rate_against_each`)."""
    held: dict[str, list[Contest]] = {}
    for contest in contests:
        held.setdefault(contest.opponent(system), []).append(contest)
    met = resolved_contests(contests, (system, *held), reduction).meetings.of_system(0)
    found = rate_against_each(*met, level=level.over(None))
    if found is None:
        return None, None, None
    each, rates = replace(level, level=found[1][0].level), iter(found[1])
    limits, ends = [], []
    for own, fought in zip(held.values(), met[1].sum(axis=0).tolist()[1:], strict=True):
        rate = next(rates) if fought else None
        *known, leading = winrate_bounds(own, system, rate, reduction=reduction, level=each)
        limits.append(known)
        if leading is not None:
            ends.append((leading.low, leading.high, leading.interval_low, leading.interval_high, leading.share))
        elif rate is not None:
            ends.append((rate.estimate, rate.estimate, rate.low, rate.high, 0.0))
    (low, high), means = np.mean(np.array(limits, dtype=float), axis=0).tolist(), np.mean(ends, axis=0).tolist()
    bounds = UnscoredBounds(means[0], means[1], means[2], means[3], means[4], "contests")
    return low, high, bounds if bounds.share else None


FIRST_BLOCK = 16
GROWTH = 20
"""Between two looks 16 prompts are asked, or a twentieth of those asked so far, if that is more."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The state of two systems at a look.

    Attributes:
        p_value: The p-value of no difference, corrected by Holm over all pairs; valid at all looks together.
        decided: Whether it is below the error rate that was asked for.
        prompts: The number of prompts that were asked for this pair.
    """

    p_value: float
    decided: bool
    prompts: int


def decisions(
    contests: Sequence[Contest], alpha: float, pairs: int | None = None, reduction: Reduction = "win_rate"
) -> dict[tuple[str, str], Decision]:
    """Map (first, second) to the state of the two, from their contests so far.

    The bets are on the score of each cluster of prompts (each prompt, where there are none), against one half. What is
    unscored counts against both: as lost for the gambler who thinks that the first system is better, and as won for the
    other. So a decision stands for any unscored votes. A contest that was read and set aside,
    since the orders disagree, is no contest.

    Args:
        contests: All so far, in any order.
        alpha: The probability at most that any pair of equal systems is ever decided.
        pairs: The number of pairs to ask about; by default the pairs that have contests.
        reduction: The rule by which contests become winrates.
    """
    held: dict[tuple[str, str], list[Contest]] = {}
    for contest in contests:
        held.setdefault((contest.first, contest.second), []).append(contest)
    family = holm([*(_p_value(own, reduction) for own in held.values()), *[1.0] * ((pairs or 0) - len(held))]).tolist()
    return {
        pair: Decision(p_value, p_value < alpha, len(own))
        for (pair, own), p_value in zip(held.items(), family, strict=False)
    }


def _p_value(contests: Sequence[Contest], reduction: Reduction) -> float:
    """Return the p-value of a winrate of one half, against all values that the unscored votes could have."""
    known = [contest for contest in contests if contest.score is not None or not contest.verdict.read]
    if not known:
        return 1.0
    labels = np.unique(cluster_numbers(known), return_inverse=True)[1]
    ends = cluster_sums(unscored_limits(known, reduction), labels)
    stake = np.bincount(labels).max()  # does not depend on results
    least, most = (
        ConfidenceSequence.of(np.clip(won / fought, 0.0, 1.0), fought / stake)
        for won, fought in ends.transpose(1, 2, 0)
    )
    return p_value_of(hedged(least.log_capital(0.5, above=True), most.log_capital(0.5, above=False)))


class Questioning:
    """The choice of the contests that are asked for next.

    Prompts come in a seeded random order, so that it does not matter how a file is sorted, and those of a cluster
    together. A pair that is decided is not asked about any further while others go on. The same seed and the same
    replies give the same contests, so that a run that was interrupted asks for them again and finds them in the
    journal.

    Args:
        drawn: The pairs of each row under the design; rows without one are not asked.
        clusters: The cluster of each row; None if rows are independent.
        alpha: See :func:`decisions`.
        seed: The seed of the order.
        reduction: The rule by which contests become winrates.
    """

    def __init__(
        self,
        drawn: Mapping[int, Sequence[Pair]],
        clusters: Sequence[str | None],
        alpha: float,
        seed: int,
        reduction: Reduction = "win_rate",
    ) -> None:
        together: dict[object, list[int]] = {}
        for place in drawn:
            together.setdefault(place if clusters[place] is None else clusters[place], []).append(place)
        groups = list(together.values())
        order = np.random.default_rng([seed, len(groups)]).permutation(len(groups)).tolist()
        self._left = [groups[number] for number in order]
        self._drawn, self._alpha, self._rows, self._reduction = drawn, alpha, len(drawn), reduction
        self._pairs = {pair for pairs in drawn.values() for pair in pairs}
        self._open = set(self._pairs)
        self._asked = 0

    def block(self) -> list[tuple[int, Pair]]:
        """Return (place of the row, pair) of each contest to ask for before the next look; none at the end."""
        block: list[tuple[int, Pair]] = []
        while self._left and self._open and not block:
            rows: list[int] = []
            while self._left and len(rows) < max(FIRST_BLOCK, -(-self._asked // GROWTH)):
                rows += self._left.pop(0)
            self._asked += len(rows)
            block = [(place, pair) for place in sorted(rows) for pair in self._drawn[place] if pair in self._open]
        return block

    def look(self, contests: Sequence[Contest], systems: Sequence[str]) -> None:
        """Find what is decided by all contests so far. Where the budget is spent, nothing more is asked.

        Args:
            contests: All so far.
            systems: The names that the pairs are of.
        """
        known = decisions(contests, self._alpha, len(self._pairs), self._reduction)
        names = {pair: (systems[pair[0]], systems[pair[1]]) for pair in self._open}
        self._open = {pair for pair in self._open if names[pair] not in known or not known[names[pair]].decided}
        if any(vote.unscored_reason == "budget" for contest in contests for vote in contest.verdict.votes):
            self._left = []

    def __str__(self) -> str:
        decided = len(self._pairs) - len(self._open)
        return (
            f"{format_count(self._asked)} of {format_count(self._rows, 'prompt')} asked, {format_count(decided)} of "
            f"{format_count(len(self._pairs), 'pair')} decided"
        )

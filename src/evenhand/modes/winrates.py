"""Pairwise judging: the pairs of systems that a judge is shown, and the summary of the contests.

A :class:`WinratesMode` asks about the pairs of a design; :func:`summarize_contests` returns the results: winrates with
intervals, ranks, and how far the judging can be trusted.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from evenhand.data.rows import common_systems
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError, JournalError, TooManyFailuresError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.grid import Design, Pair, fixed_pairs, parse_design, swiss_pairs
from evenhand.judging.progress import tell
from evenhand.judging.run import ask, estimate, limits_after
from evenhand.modes.contest import (
    MOST_BATTLES,
    Contest,
    Tally,
    as_read,
    cluster_numbers,
    limits,
    presented_contests,
    resolved_contests,
    tally_table,
    winrates,
)
from evenhand.modes.mode import Mode, Subject, VoteCells, one_criterion
from evenhand.numbers import Missing, format_count
from evenhand.options import Reduction
from evenhand.question import Question
from evenhand.results.measures import UnscoredCounts, known, measure
from evenhand.results.vote_columns import Cell, VerdictColumns, VoteColumns
from evenhand.scoring import VoteMeasures, vote_measures
from evenhand.statistics import Interval, mean_ranks
from evenhand.statistics.anytime import ConfidenceSequence, hedged, p_value_of
from evenhand.statistics.consistency import PositionBias, position_bias
from evenhand.statistics.contests import rate_against_each, win_rate_intervals
from evenhand.statistics.intervals import IntArray, IntervalLevel, Level, UnscoredBounds, bounds_between, mean_leads
from evenhand.statistics.paired_differences import PairComparison, holm
from evenhand.statistics.ranking import AT_ANY_TIME, Ranking, SystemRanking, rank_systems
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
        resamples: The number of resamples for the expected ranks.
        stop: ``decided``: ask about a pair until it is decided (:class:`Questioning`), with the error rate
            that the level of the intervals leaves.
    """

    design: Design = field(default_factory=lambda: parse_design("all"))
    reduction: Reduction = "win_rate"
    resamples: int = 1000
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
            "resamples": self.resamples,
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
            (:func:`~evenhand.modes.contest.limits`).
        winrate_if_unscored_1: The winrate if every unscored vote had been for it.
        unscored_bounds: The bounds of the winrate, where too many votes are unscored for the mean to lead (the rule of
            :func:`~evenhand.statistics.intervals.unscored_bounds`, the rows being contests); else None.
        mean_rank: The mean of its ranks on the instances on which all systems met equally often, 1 the best, equals
            sharing the mean of theirs (:func:`~evenhand.statistics.mean_ranks`); without such an instance the one that
            the strengths expect (:class:`~evenhand.statistics.ranking.SystemRanking`).
        rank: The rank, by winrate if all met equally often and otherwise by strength.
        rank_low: The best rank that the tests leave open.
        rank_high: The worst rank that the tests leave open.
        expected_rank: The mean rank over the resamples of the ranking.
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
    expected_rank: float | Missing
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


NO_SCORE = "no scored contest"
ALL_MET = "all systems met equally often, or count alike"
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
        ranking = rank_systems(resolved, presented=presented, rounds=rounds, level=level, resamples=1)
    rows, level = _by_instance(contests, level)
    held = [contest for row in rows for contest in row]
    reasons = Counter(contest.unscored_reason for contest in held if contest.unscored_reason is not None)
    columns = VerdictColumns.of([contest.verdict for contest in held])
    measures, (tie_rate, consistency) = vote_measures(
        columns,
        [None if contest.score is None else contest.score == 0.5 for contest in held],
        [contest.verdict.position_consistent for contest in held],
        rows=np.repeat(np.arange(len(rows)), [len(row) for row in rows]),
        level=level,
    )
    return ContestSummary(
        systems=_system_summaries(rows, columns.votes, systems, reduction=reduction, ranking=ranking, level=level),
        reduction=reduction,
        level=float(level),
        num_instances=len(rows),
        contests=len(contests),
        ties=sum(contest.score == 0.5 for contest in contests),
        tie_rate=known(tie_rate, NO_SCORE),
        num_unscored=sum(contest.score is None for contest in contests),
        unscored_contests=MappingProxyType(dict(sorted(reasons.items()))),
        position_consistency=known(consistency, "no contest was read in two orders"),
        **_position_measures(contests, level),
        **measures,
    )


def unscored_pairs(
    contests: Sequence[Contest],
    pairs: Iterable[PairComparison],
    *,
    reduction: Reduction = "win_rate",
    level: Level = 0.95,
) -> dict[tuple[str, str], UnscoredBounds]:
    """Map ``(first, second)`` to the leading bounds of the first system's winrate head to head, if these lead.

    Args:
        contests: In any order.
        pairs: The comparisons of the pairs.
        reduction: The rule by which contests become winrates.
        level: The level of the intervals.
    """
    rows, confidence = _by_instance(contests, level)
    held: dict[frozenset[str], dict[int, list[Contest]]] = {}
    for place, row in enumerate(rows):
        for contest in row:
            held.setdefault(frozenset((contest.first, contest.second)), {}).setdefault(place, []).append(contest)
    found = {}
    for pair in pairs:
        own = held.get(frozenset((pair.first, pair.second)), {})
        bounded = [limits(contest, reduction) for contests in own.values() for contest in contests]
        if all(low == high for low, high in bounded):
            continue
        met = [own.get(place, []) for place in range(len(rows))]
        (bounds,) = _winrate_bounds(met, (pair.first,), (pair.win_rate,), reduction, confidence)
        if bounds.unscored_bounds is not None:
            found[pair.first, pair.second] = bounds.unscored_bounds
    return found


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


def _by_instance(contests: Iterable[Contest], level: Level) -> tuple[list[list[Contest]], IntervalLevel]:
    """Return the contests of each instance, and the level with the clusters of the instances."""
    held: dict[int, list[Contest]] = {}
    for contest in contests:
        held.setdefault(contest.instance, []).append(contest)
    rows = list(held.values())
    named = [row[0].cluster for row in rows]
    return rows, replace(IntervalLevel.of(level), clusters=None if None in named else named)


class _Bounds(NamedTuple):
    """A winrate if every unscored vote had been against the system, or for it; and its leading bounds."""

    least: float | None
    greatest: float | None
    unscored_bounds: UnscoredBounds | None


def _winrate_bounds(
    rows: Sequence[Sequence[Contest]],
    systems: Sequence[str],
    rates: Sequence[Interval | None],
    reduction: Reduction,
    level: Level,
) -> list[_Bounds]:
    """Return one per system; the rates are those of the scored contests.

    A contest that was read and set aside, since the orders disagree, is lost or won too, but is not unscored.
    """

    def outcome(contest: Contest) -> tuple[Sequence[float], Sequence[float]]:
        low, high = limits(contest, reduction)
        if contest.score is None and contest.verdict.read:
            aside = (0.0, 0.0, 0.0, 0.0, high.battles, 0.0, 0.0)
            return aside, aside
        held = (0.0, low != high, 1.0)
        return (*low, *high, *held), (*high.mirrored, *low.mirrored, *held)

    table = tally_table(rows, systems, outcome, size=7)
    table[:5] /= MOST_BATTLES[reduction]
    worst, best, (asides, unscored, held) = table[:2], table[2:4], table[4:].sum(axis=1)
    found = []
    for column, rate in enumerate(rates):
        (won_0, fought_0), (won_1, fought_1) = (side[:, :, column].sum(axis=1).tolist() for side in (worst, best))
        leading, aside = None, float(asides[column])
        if unscored[column] and not mean_leads(rate, won_0 / fought_0, won_1 / fought_1):
            (least,), (greatest,) = (
                win_rate_intervals(*side[:, :, column, None], level=level) for side in (worst, best)
            )
            leading = bounds_between(least, greatest, share=float(unscored[column] / held[column]), unit="contests")
        lost = Tally(won_0, fought_0 + aside).winrate
        taken = Tally(won_1 + aside, fought_1 + aside).winrate
        found.append(_Bounds(lost, taken, leading))
    return found


def _system_summaries(
    rows: Sequence[Sequence[Contest]],
    votes: VoteColumns,
    systems: Sequence[str],
    *,
    reduction: Reduction,
    ranking: Ranking,
    level: Level,
) -> tuple[SystemSummary, ...]:
    held = [contest for row in rows for contest in row]
    instances = np.array([contest.instance for contest in held])
    wins, battles = tally_table(rows, systems, as_read(reduction))
    by_prompt = resolved_contests(held, systems).by_prompt.meetings
    place = np.unique([row[0].instance for row in rows], return_inverse=True)[1]
    ranks = mean_ranks(wins, battles, balanced=by_prompt.balanced[place], level=level)
    entries = {entry.system: entry for entry in ranking.systems}
    if not any(ranks):
        ranks = tuple(entries[system].rank.mean_rank for system in systems)
    if ranking.anytime:
        pairs = [_against_each(rows, one, systems, reduction, IntervalLevel.of(level)) for one in systems]
        rates, bounds = tuple(rate for rate, _ in pairs), [sides for _, sides in pairs]
    else:
        rates = win_rate_intervals(wins, battles, level=level)
        bounds = _winrate_bounds(rows, systems, rates, reduction, level)
    return tuple(
        SystemSummary(
            system=system,
            winrate=known(rates[column], NO_SCORE),
            winrate_if_unscored_0=known(bounds[column].least, "no contest"),
            winrate_if_unscored_1=known(bounds[column].greatest, "no contest"),
            unscored_bounds=bounds[column].unscored_bounds,
            mean_rank=known(ranks[column], "no instance on which all systems met"),
            contests=entries[system].record.contests + entries[system].record.unscored,
            ties=entries[system].record.ties,
            num_unscored=entries[system].record.unscored,
            unscored_counts=_unscored_of(system, held, votes, instances),
            **_of_ranking(entries[system], ranking),
        )
        for column, system in enumerate(systems)
    )


def _unscored_of(system: str, held: Sequence[Contest], votes: VoteColumns, instances: IntArray) -> UnscoredCounts:
    own = np.array([system in {contest.first, contest.second} for contest in held], dtype=bool)
    return UnscoredCounts.of(votes.only(own), instances[own])


def _against_each(
    rows: Sequence[Sequence[Contest]], system: str, systems: Sequence[str], reduction: Reduction, level: IntervalLevel
) -> tuple[Interval | None, _Bounds]:
    """Return a system's winrate and its bounds, every opponent with the same weight (:func:`rate_against_each`)."""
    of = [other for other in systems if other != system]
    held = [[[each for each in row if {each.first, each.second} == {system, other}] for row in rows] for other in of]
    held = [met for met in held if any(met)]
    tallied = [tally_table(met, (system,), as_read(reduction))[:, :, 0] / MOST_BATTLES[reduction] for met in held]
    scored = [bool(battles.any()) for _, battles in tallied]
    found = rate_against_each(*np.stack(tallied, axis=-1), level=level) if any(scored) else None
    if found is None:
        return None, _Bounds(None, None, None)
    rate, rates = found
    each, of_read = replace(level, level=rates[0].level), iter(rates)
    reads = [next(of_read) if read else None for read in scored]
    bounds = [
        _winrate_bounds(met, (system,), (read,), reduction, each)[0] for met, read in zip(held, reads, strict=True)
    ]
    least, most = (float(np.mean([getattr(one, side) for one in bounds])) for side in ("least", "greatest"))
    known = [one.unscored_bounds or (read and _all_read(read)) for one, read in zip(bounds, reads, strict=True)]
    if not any(one.unscored_bounds for one in bounds):
        return rate, _Bounds(least, most, None)
    low, high, below, above, share = np.mean([astuple(one)[:-1] for one in known if one], axis=0).tolist()
    return rate, _Bounds(least, most, UnscoredBounds(low, high, below, above, share, "contests"))


def _all_read(rate: Interval) -> UnscoredBounds:
    return UnscoredBounds(rate.estimate, rate.estimate, rate.low, rate.high, 0.0, "contests")


def _of_ranking(entry: SystemRanking, ranking: Ranking) -> dict[str, Any]:
    """Return the ranking's numbers of a system, by the names of the summary."""
    rank, controlled = entry.rank, ranking.length_controlled
    unranked, lengths = rank.reason or "no resample scores every system", controlled.reason if controlled else None
    undrawn = AT_ANY_TIME if ranking.anytime and rank.rank else unranked
    return {
        "rank": known(rank.rank, unranked),
        "rank_low": known(rank.low, unranked),
        "rank_high": known(rank.high, unranked),
        "expected_rank": known(rank.expected, undrawn),
        "strength": known(entry.strength.log_strength, entry.strength.reason or NO_SCORE),
        "field_winrate": known(entry.field_win_rate, ALL_MET if ranking.balanced else unranked),
        "length_controlled_winrate": known(entry.length_controlled_win_rate, lengths or "no contest with lengths"),
    }


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
    held: dict[tuple[str, str], dict[int, list[Contest]]] = {}
    for contest, cluster in zip(contests, cluster_numbers(contests), strict=True):
        held.setdefault((contest.first, contest.second), {}).setdefault(cluster, []).append(contest)
    p_values = [_p_value(list(clusters.values()), reduction) for clusters in held.values()]
    family = holm([*p_values, *[1.0] * ((pairs or 0) - len(held))]).tolist()
    return {
        pair: Decision(p_value, p_value < alpha, sum(map(len, clusters.values())))
        for (pair, clusters), p_value in zip(held.items(), family, strict=False)
    }


def _p_value(clusters: Sequence[Sequence[Contest]], reduction: Reduction) -> float:
    """Return the p-value of a winrate of one half, against all values that the unscored votes could have."""
    sides: tuple[list[Tally], list[Tally]] = ([], [])
    sizes = []
    for contests in clusters:
        known = [contest for contest in contests if contest.score is not None or not contest.verdict.read]
        if known:
            bounds = np.array([limits(contest, reduction) for contest in known]).sum(axis=0).tolist()
            for side, fought in zip(sides, bounds, strict=True):
                side.append(Tally(*fought))
            sizes.append(len(known))
    if not sizes:
        return 1.0
    stake = max(sizes) * MOST_BATTLES[reduction]  # which no result changes
    least, most = (
        ConfidenceSequence.of(
            np.clip([one.wins / one.battles for one in side], 0.0, 1.0), [one.battles / stake for one in side]
        )
        for side in sides
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

"""Comparisons of systems: contests, the mode that asks about pairs, the winrates, and their tables.

A :class:`Contest` is two systems on one instance, with the judges' verdict. A :class:`WinratesMode` asks about pairs
of a design; :func:`summarize_contests` returns winrates with intervals, ranks, and how far the judging can be trusted;
:class:`WinrateAnalysis` is the result of :func:`evenhand.winrates`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np

from evenhand.aggregation.verdict import DEFAULT_RULES, TOLERANCE, Levels, VoteRules
from evenhand.criteria import Criterion, Option
from evenhand.data.plain import by_key
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError, JournalError, TooManyFailuresError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.grid import Design, Pair, fixed_pairs, parse_design, swiss_pairs
from evenhand.judging.progress import tell
from evenhand.judging.run import limits_after
from evenhand.modes.mode import Mode, Subject, SubjectVotes, one_criterion
from evenhand.numbers import (
    MISSING,
    Missing,
    UnscoredBounds,
    by_reason,
    format_count,
    format_interval,
    format_level,
    format_p_value,
    format_percent,
    format_score,
    format_share,
    measure,
    or_missing,
    state_p_value,
)
from evenhand.options import Reduction
from evenhand.question import Question, comparison_criterion
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    QuestionName,
    Reported,
    UnscoredCounts,
    measures_table,
    reported_difference,
    unscored_bounds_notes,
)
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis, with_votes
from evenhand.results.vote_columns import Cell, VerdictColumns
from evenhand.scoring import VoteMeasures, vote_measures
from evenhand.statistics import Interval
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED, PositionBias, position_bias
from evenhand.statistics.contests import Contests, rate_against_each
from evenhand.statistics.intervals import (
    BoolArray,
    ConfidenceSequence,
    FloatArray,
    IntervalLevel,
    Level,
    bounds_between,
    cluster_sums,
    mean_leads,
)
from evenhand.statistics.ranking import PairComparison, Ranking, SystemRanking, holm, rank_systems
from evenhand.statistics.strengths import NO_CONTEST, fit_strengths
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote, unselected_draws

TIE: Final = "tie"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Two systems on one instance.

    Attributes:
        instance: The row of the data; all contests of a row are one cluster.
        first: The first system. Each vote's order says which of the two the judge was shown first.
        second: The second system.
        verdict: The aggregated votes; its values count for ``first``: 1 a win, 0 a loss, ½ a tie.
        graded: The verdict's values are grades of preference: 1 much better, ¾ slightly better, ½ equal, …
        round: The round of a Swiss design, from 0.
        cluster: The cluster of the row; None if rows are independent.
        prompt_id: The id of the prompt, if it has one.
        first_length: Characters of the first system's response; None if there is none.
        second_length: Those of the second system's.
        gold: The system that a person preferred, or ``"tie"``, if there is such a label.
        selections: What each judge selects in the order of the two systems, and in the swapped one, as
            :func:`evenhand.statistics.consistency.position_bias` takes it: 0 the first system, 1 the second, 2 a tie.
            Repeated draws are collapsed; for a grade its side counts.
    """

    instance: int
    first: str
    second: str
    verdict: Verdict = MISSING_RESPONSE
    graded: bool = False
    round: int = 0
    cluster: str | None = None
    prompt_id: str | None = None
    first_length: int | None = None
    second_length: int | None = None
    gold: str | None = None
    selections: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls,
        votes: Sequence[Vote],
        criterion: Criterion,
        rules: VoteRules = DEFAULT_RULES,
        **about: Any,  # noqa: ANN401 - the other fields
    ) -> Self:
        """Make a contest of its votes; see :func:`evenhand.aggregation.verdict.aggregate`.

        Args:
            votes: The votes on the two systems; none if a response is missing.
            criterion: By which they are compared.
            rules: The rules by which votes become a verdict.
            **about: The instance, the systems, and what else is known of them.
        """
        graded = is_graded(criterion)
        if not votes:
            return cls(graded=graded, **about)
        draws: dict[str, dict[bool, list[Vote]]] = {}
        for vote in votes:
            draws.setdefault(vote.judge_id, {}).setdefault(vote.order[0] == 0, []).append(vote)

        def selection(own: Sequence[Vote]) -> int:
            if not own:
                return NOT_ASKED
            alone = len(own) == 1 and rules.scoring == "selected"
            value = own[0].value if alone else rules.aggregate(own, criterion).aggregated_value
            return UNSCORED if value is None else {1.0: 0, 0.0: 1}.get(side_of(value), 2)

        selections = tuple((selection(own.get(True, ())), selection(own.get(False, ()))) for own in draws.values())
        return cls(verdict=rules.aggregate(votes, criterion), graded=graded, selections=selections, **about)

    @property
    def score(self) -> float | None:
        """1 if ``first`` wins, 0 if it loses, ½ for a tie; None when unscored.

        A share between these only where the panel's rule averages the judges, and never for a graded contest: there a
        win of any grade counts 1.
        """
        value = self.verdict.aggregated_value
        return None if value is None else self.score_at(value)

    @property
    def grade(self) -> float | None:
        """By how much ``first`` is better, from 2 (much) to −2; None when unscored or not graded."""
        value = self.verdict.aggregated_value
        return None if value is None else self.grade_at(value)

    def score_at(self, value: float) -> float:
        """Return the score if the verdict had this value."""
        return side_of(value) if self.graded or side_of(value) == 0.5 else value  # a mean may miss the half by rounding

    def grade_at(self, value: float) -> float | None:
        """Return the grade if the verdict had this value; None when not graded."""
        if not self.graded:
            return None
        return 0.0 if side_of(value) == 0.5 else 4 * (value - 0.5)

    def battles(self, value: float, reduction: Reduction) -> tuple[float, float]:
        """Return the wins of ``first`` and the battles if the verdict had this value, as shares of the most battles.

        ``win_rate``: a contest is one battle, a tie wins half of it. ``weighted_win_rate``: with the grade s in −2 … 2,
        a positive s is s battles won, a negative one |s| battles lost, and 0 two battles with one win.
        """
        if reduction == "win_rate":
            return self.score_at(value), 1.0
        grade = self.grade_at(value) or 0.0
        return (max(grade, 0.0) / 2, abs(grade) / 2) if grade else (0.5, 1.0)

    @property
    def winner(self) -> str | None:
        """The system that wins; None for a tie, and when unscored."""
        return self.winner_in(self.verdict)

    @property
    def unscored_reason(self) -> str | None:
        """Why there is no score, when there is none."""
        if self.verdict.aggregated_value is not None:
            return None
        return "not_applicable" if self.verdict.na else self.verdict.unscored_reason

    def winner_in(self, verdict: Verdict) -> str | None:
        """Return the system that a verdict on this contest prefers; None for a tie, and when unscored."""
        if verdict.aggregated_value is None:
            return None
        return {1.0: self.first, 0.0: self.second}.get(side_of(verdict.aggregated_value))

    def opponent(self, system: str) -> str:
        """Return the other system."""
        return self.second if system == self.first else self.first

    def score_of(self, system: str) -> float | None:
        """Return the score for one of the two systems."""
        return self.score if self.score is None or system == self.first else 1 - self.score

    def grade_of(self, system: str) -> float | None:
        """Return the grade for one of the two systems."""
        return self.grade if self.grade is None or system == self.first else 0.0 - self.grade

    @property
    def length_difference(self) -> float:
        """The length of the first response less that of the second; NaN if one is not known."""
        lengths = np.array([self.first_length, self.second_length], dtype=float)  # NaN for None
        return float(lengths[0] - lengths[1])


def is_graded(criterion: Criterion) -> bool:
    """Return whether a comparison is offered degrees of preference."""
    return len([option for option in criterion.options if not option.na]) > 3


def side_of(value: float) -> float:
    """Return 1, ½ or 0: the preference that a value means."""
    return (1 + Levels.side(value)) / 2


def check_reduction(reduction: Reduction, *, graded: bool) -> Reduction:
    """Return the reduction, if it fits.

    Raises:
        InvalidInputError: If it needs grades, and there are none.
    """
    if reduction == "weighted_win_rate" and not graded:
        raise InvalidInputError(
            "reduction='weighted_win_rate' weighs wins by their grade: set scale='graded' too, or use "
            "reduction='win_rate'"
        )
    return reduction


def winrates(
    contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> dict[str, float | None]:
    """Return each system's share of battles won over all its scored contests; None for a system without one.

    Every scored contest counts alike, so that the winrates, each weighted by its system's contests, sum to the number
    of scored contests (``win_rate``).
    """
    return _rates(ContestColumns.of(contests, systems, reduction).resolved)


def _rates(resolved: Contests) -> dict[str, float | None]:
    rates = zip(resolved.systems, *np.sum(resolved.meetings.by_system, axis=1).tolist(), strict=True)
    return {system: won / fought if fought else None for system, won, fought in rates}


def instance_rankings(
    contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate"
) -> dict[str, int | None]:
    """Return ranks among systems that can be compared on one instance, 1 the best; equals share the better.

    By winrate where every two of the systems with a scored contest met equally often; otherwise, the opponents being
    unequal, by strength, for which every contest counts once. None for a system without a scored contest, and for all
    when some of the others are not connected by a chain of contests.
    """
    resolved = ContestColumns.of(contests, systems, reduction).resolved
    if resolved.meetings.balanced.all():
        rates = _rates(resolved)
    else:
        strengths = fit_strengths(resolved, ties="half", place_all=True).strengths
        rates = {name: each.estimate if each else None for name, each in zip(systems, strengths, strict=True)}
    placed = [rate for rate in rates.values() if rate is not None]
    return {
        system: None if rate is None else 1 + sum(other > rate + TOLERANCE for other in placed)
        for system, rate in rates.items()
    }


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


@dataclass(frozen=True, slots=True)
class ContestColumns:
    """Contests as columns, one row each.

    Attributes:
        resolved: The contests with orders and judges collapsed; unscored contests included as such. A contest weighs
            the battles that it is fought over, as a share of the most.
        ends: Shape (n, 2, 2): the least and the greatest result of the first system, each its wins and the battles.
            The least are those if every unscored vote had been against it, the greatest if all had been for it. An
            unscored contest is then lost, or won, at the highest grade. One that is scored on some of its votes has
            the ``bounds`` of its verdict: if only one order is scored it may turn out to be a tie.
        set_aside: Shape (n,): whether all votes are scored, and a contest has no score since the orders disagree.
    """

    resolved: Contests
    ends: FloatArray
    set_aside: BoolArray

    @classmethod
    def of(cls, contests: Sequence[Contest], systems: Sequence[str], reduction: Reduction = "win_rate") -> Self:
        """Return the columns of contests, in any order, under a reduction."""
        place = {system: position for position, system in enumerate(systems)}
        clusters: dict[str, int] = {}
        rows = []
        for each in contests:
            value, number = each.verdict.aggregated_value, each.instance
            if each.cluster is not None:
                number = clusters.setdefault(each.cluster, len(clusters))
            low, high = each.verdict.bounds or (value, value)
            ends = (
                *((0.0, 1.0) if low is None else each.battles(low, reduction)),
                *((1.0, 1.0) if high is None else each.battles(high, reduction)),
            )
            weight = 1.0 if value is None else each.battles(value, reduction)[1]
            about = (place[each.first], place[each.second], each.score, number, each.instance, weight)
            rows.append((*about, value is None and each.verdict.complete, *ends))
        first, second, score, cluster, prompt, weights, aside, *limits = (
            np.array(rows, dtype=float).reshape(len(rows), 11).T  # NaN for None
        )
        resolved = Contests.of(
            systems, first=first, second=second, score=score, cluster=cluster, prompt=prompt, weight=weights
        )
        return cls(resolved, np.stack(limits, axis=1).reshape(-1, 2, 2), aside > 0)

    def rows_of(self, *systems: str) -> BoolArray:
        """Return the rows in which all of the systems take part."""
        places = [self.resolved.systems.index(system) for system in systems]
        rows = [(self.resolved.first == place) | (self.resolved.second == place) for place in places]
        return np.asarray(np.logical_and.reduce(rows))

    def bounds(
        self,
        rate: Interval | None,
        system: str,
        *opponents: str,
        level: Level = 0.95,
        apart: bool = False,
    ) -> tuple[float | None, float | None, UnscoredBounds | None]:
        """Return a system's winrate if every unscored vote had been against it, or for it, and bounds if these lead.

        A contest that was set aside is lost or won too, but is not unscored.

        Args:
            rate: Its winrate over the scored contests.
            system: Its name.
            *opponents: The contests against this system alone.
            level: The level of the intervals.
            apart: Take the mean of the winrates against each of the others (:func:`rate_against_each`).
        """
        rows = self.rows_of(system, *opponents)
        if not rows.any():
            return None, None, None
        ends, contests, kept = self.ends[rows], self.resolved.only(rows), ~self.set_aside[rows]
        second = contests.second == contests.systems.index(system)
        turned = ends[second, ::-1]  # the first system's wins are the second one's losses
        turned[..., 0] = turned[..., 1] - turned[..., 0]
        ends[second] = turned
        opponent = np.where(second, contests.first, contests.second) if apart else np.zeros(len(ends))
        columns = opponent[:, None, None] == np.unique(opponent)  # (n, 1, opponents), or (n, 1, 1) of all together
        won, fought = (ends[..., place, None] * columns for place in (0, 1))
        aside, taken, battles = columns[~kept].sum(axis=(0, 1)), won[kept].sum(axis=0), fought[kept].sum(axis=0)
        unscored = (ends[kept, 0] != ends[kept, 1]).any(axis=1)
        leading, held = None, battles[0] > 0
        if unscored.any() and not mean_leads(rate, *(taken[:, held] / battles[:, held]).mean(axis=1).tolist()):
            over = IntervalLevel.of(level).over(contests.cluster[kept].tolist())
            least, greatest = (rate_against_each(won[kept, side], fought[kept, side], level=over) for side in (0, 1))
            leading = bounds_between(least, greatest, share=float(unscored.mean()), unit="contests")
        low, high = taken[0] / (battles[0] + aside), (taken[1] + aside) / (battles[1] + aside)
        return float(low.mean()), float(high.mean()), leading

    def decisions(self, alpha: float, pairs: int = 0) -> dict[tuple[str, str], Decision]:
        """Map (first, second) to the state of the two, from their contests so far.

        The bets are on the score of each cluster of prompts (each prompt, where there are none), against one half. What
        is unscored counts against both: as lost for the gambler who thinks that the first system is better, and as won
        for the other. So a decision stands for any unscored votes. Contests that were set aside do not count.

        Args:
            alpha: The probability at most that any pair of equal systems is ever decided.
            pairs: The number of pairs to ask about; by default the pairs that have contests.
        """
        met, number = np.unique(
            np.stack([self.resolved.first, self.resolved.second], axis=1), axis=0, return_inverse=True
        )
        rows = [number.ravel() == place for place in range(len(met))]
        p_values = [self._p_value(own & ~self.set_aside) for own in rows]
        adjusted = holm([*p_values, *[1.0] * (pairs - len(met))]).tolist()
        names = self.resolved.systems
        return {
            (names[first], names[second]): Decision(p_value, p_value < alpha, int(own.sum()))
            for (first, second), own, p_value in zip(met.tolist(), rows, adjusted, strict=False)
        }

    def _p_value(self, rows: BoolArray) -> float:
        """Return the p-value of a winrate of one half, against all values that the unscored votes could have."""
        if not rows.any():
            return 1.0
        labels = np.unique(self.resolved.cluster[rows], return_inverse=True)[1]
        stake = np.bincount(labels).max()  # does not depend on results
        least, most = (
            ConfidenceSequence.of(np.clip(won / fought, 0.0, 1.0), fought / stake)
            for won, fought in cluster_sums(self.ends[rows], labels).transpose(1, 2, 0)
        )
        return least.p_value(most)


def presented_contests(contests: Sequence[Contest], resolved: Contests) -> Contests:
    """Return one row per vote, the system shown first as ``first``; unscored votes included as such.

    Of draws that could stop early the first two: the others were made because those did not agree.

    For a graded vote its side counts, as in :attr:`Contest.score`: a win of any grade is 1.
    """
    about = zip(contests, resolved.first, resolved.second, resolved.cluster, strict=True)
    rows: list[tuple[Any, ...]] = []
    for contest, first, second, cluster in about:
        for vote in unselected_draws(contest.verdict.votes):
            side = None if vote.value is None else side_of(vote.value)
            shown = (first, second, side)
            if vote.order[0] == 1:
                shown = (second, first, None if side is None else 1 - side)
            rows.append((*shown, cluster, contest.instance))
    first, second, score, cluster, prompt = np.array(rows, dtype=float).reshape(len(rows), 5).T  # NaN for None
    return Contests.of(resolved.systems, first=first, second=second, score=score, cluster=cluster, prompt=prompt)


FIRST_BLOCK = 16
GROWTH = 20
"""Between two looks 16 prompts are asked, or a twentieth of those asked so far, if that is more."""


@dataclass(frozen=True)
class WinratesMode(Mode[tuple[Contest, ...]]):
    """A judge compares the responses of two systems: instances × pairs of systems -> questions -> votes -> contests.

    A subject has the response of every system, in one order, and is judged by a pairwise criterion.

    Attributes:
        design: The rule by which pairs meet.
        reduction: The rule by which contests become winrates; a Swiss design pairs by winrates.
        stop: ``decided``: ask about a pair until it is decided, with the error rate that the level of the intervals
            leaves.
    """

    design: Design = field(default_factory=lambda: parse_design("all"))
    reduction: Reduction = "win_rate"
    stop: Literal["decided"] | None = None

    def __post_init__(self) -> None:
        self.rules.check("pairwise")
        self.flow.check_prompt("compare")
        if self.stop and self.design.kind == "swiss":
            raise InvalidInputError(
                f"stop={self.stop!r} does not go with design={str(self.design)!r}, which pairs by results; accepted "
                "with it are 'all', 'baseline:<system>' and 'sample:<pairs per instance>'"
            )

    kind: ClassVar = "winrates"
    function: ClassVar = "winrates"
    saved_as: ClassVar = "winrates"

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return a question for each pair that meets and has both responses. No question names a system."""
        found, texts = [], tuple(about.texts.values())
        for pair in _meetings(about):
            first, second = (texts[side] for side in pair)
            if first is not None and second is not None:
                name = f"{about.row_name}:{pair[0]}-{pair[1]}"
                found.append(about.question(name, about.judged, (first, second), mode="compare"))
        return tuple(found)

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> tuple[Contest, ...]:
        """Return the contests of the pairs that meet; one without a response is unscored (``missing_response``)."""
        found = self.cells(about, votes, 0)
        return tuple(Contest.of(cast, about.judged, self.rules, **contest) for contest, cast in found)

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give one cell per contest."""
        del place
        cast, responses = iter(votes), list(about.texts.items())
        for pair, number in _meetings(about).items():
            (first, one), (second, other) = (responses[side] for side in pair)
            contest = {
                "instance": about.instance,
                "first": first,
                "second": second,
                "round": number,
                "cluster": about.cluster,
                "prompt_id": about.row_id or None,
                "first_length": None if one is None else len(one),
                "second_length": None if other is None else len(other),
                "gold": about.gold.get((first, second)),
            }
            yield Cell(contest, () if one is None or other is None else tuple(next(cast)))

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the systems and the criterion."""
        return {"systems": [*systems], "criterion": one_criterion(judged)}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a result, as plain JSON."""
        return {"design": str(self.design), "reduction": self.reduction, **self.run_parameters()}

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
        asked = _with_pairs(subjects, next(self._rounds(subjects, {})), 0)
        journal = self.options.journal if self.design.rounds == 1 else None
        mode = replace(self, options=self.options.model_copy(update={"journal": journal}))
        return RunEstimate.total([Mode.estimate(mode, asked, judges)] * self.design.rounds)

    def ask(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> SubjectVotes:
        """Ask about the pairs of the design; return each instance with the pairs that met, and the votes on them.

        A pair with a missing response is not asked about. The rounds of a Swiss design, and the blocks of prompts
        between two looks where pairs are asked about until they are decided, are runs that follow one another within
        one budget.

        Raises:
            InvalidInputError: If the systems do not fit the design.
            TooManyFailuresError: If more votes fail than the settings allow.
        """
        held: dict[tuple[int, Pair], Contest] = {}
        for number, drawn in enumerate((self._blocks if self.stop else self._rounds)(subjects, held)):
            before = [contest.verdict.votes for contest in held.values()]
            left = limits_after(self.options, (vote for votes in before for vote in votes))
            left = left.model_copy(update={"progress": left.progress and not self.stop})  # a line per look instead
            asked = _with_pairs(subjects, drawn, 0 if self.stop else number)
            try:
                found = Mode.ask(replace(self, options=left), asked, judges)
            except (JournalError, TooManyFailuresError) as error:
                error.votes = [*before, *error.votes]
                raise
            for place, (about, votes) in zip(drawn, found, strict=True):
                held |= zip(((place, pair) for pair in drawn[place]), self.result(about, votes), strict=True)
        met: list[dict[Pair, Contest]] = [{} for _ in subjects]
        for place, pair in sorted(held):
            met[place][pair] = held[place, pair]
        return [
            (
                replace(about, pairs={pair: contest.round for pair, contest in own.items()}),
                tuple(contest.verdict.votes for contest in own.values() if contest.verdict.votes),
            )
            for about, own in zip(subjects, met, strict=True)
        ]

    def _blocks(self, subjects: Sequence[Subject], held: Mapping[tuple[int, Pair], Contest]) -> Iterator[Drawn]:
        """Yield the pairs of the rows to ask about before each look.

        Prompts come in a seeded random order, so that it does not matter how a file is sorted, and those of a cluster
        together. A pair that is decided is not asked about any further while others go on. The same seed and the same
        replies give the same contests, so that a run that was interrupted asks for them again and finds them in the
        journal. Where the budget is spent, nothing more is asked.
        """
        (drawn,) = self._rounds(subjects, {})
        clusters = {place: subjects[place].cluster for place, pairs in drawn.items() if pairs}
        together = by_key((place if cluster is None else cluster, place) for place, cluster in clusters.items())
        groups, systems = list(together.values()), tuple(subjects[0].texts)
        order = np.random.default_rng([self.options.seed, len(groups)]).permutation(len(groups)).tolist()
        left = [groups[number] for number in order]
        names = {pair: (systems[pair[0]], systems[pair[1]]) for own in drawn.values() for pair in own}
        undecided, asked = set(names), 0
        while left and undecided:
            rows: list[int] = []
            while left and len(rows) < max(FIRST_BLOCK, -(-asked // GROWTH)):
                rows += left.pop(0)
            asked += len(rows)
            block = {place: [pair for pair in drawn[place] if pair in undecided] for place in sorted(rows)}
            if not any(block.values()):
                continue
            yield block
            contests = list(held.values())
            columns = ContestColumns.of(contests, systems, self.reduction)
            looked = columns.decisions(1 - self.options.level, len(names))
            undecided -= {pair for pair in undecided if names[pair] in looked and looked[names[pair]].decided}
            if self.options.progress:
                decided = f"{format_count(len(names) - len(undecided))} of {format_count(len(names), 'pair')} decided"
                tell(f"{format_count(asked)} of {format_count(len(drawn), 'prompt')} asked, {decided}")
            if any(vote.unscored_reason == "budget" for contest in contests for vote in contest.verdict.votes):
                return

    def _rounds(self, subjects: Sequence[Subject], held: Mapping[tuple[int, Pair], Contest]) -> Iterator[Drawn]:
        """Yield the pairs of all rows in each round of the design, after the contests of earlier rounds."""
        systems = tuple(subjects[0].texts)
        self.design.check_systems(systems)
        if self.design.kind != "swiss":
            yield dict(enumerate(fixed_pairs(self.design, systems, len(subjects))))
            return
        for number in range(self.design.rounds):
            met: list[set[Pair]] = [set() for _ in subjects]
            for place, pair in held:
                met[place].add(pair)
            rates = winrates(list(held.values()), systems, self.reduction)
            pairs = swiss_pairs(self.design, systems, len(subjects), round_number=number, winrates=rates, met=met)
            yield dict(enumerate(pairs))


Drawn = Mapping[int, Sequence[Pair]]
"""The place of a row -> the pairs that meet there."""


def _meetings(about: Subject) -> Mapping[Pair, int]:
    """Return each pair that meets -> its round; by default all pairs."""
    return dict.fromkeys(combinations(range(len(about.texts)), 2), 0) if about.pairs is None else about.pairs


def _with_pairs(subjects: Sequence[Subject], drawn: Drawn, number: int) -> list[Subject]:
    """Return the rows with the pairs that meet in a round."""
    return [replace(subjects[place], pairs=dict.fromkeys(pairs, number)) for place, pairs in drawn.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary(SystemRanking):
    """The results of one system over all its contests. A missing number gives the reason.

    Attributes:
        winrate_if_unscored_0: The winrate if every unscored vote had been against it: an unscored contest is lost, and
            one that is scored on some of its votes takes its worst case (:attr:`ContestColumns.ends`).
        winrate_if_unscored_1: The winrate if every unscored vote had been for it.
        unscored_bounds: The bounds of the winrate, where too many votes are unscored for the mean to lead (the rule of
            :func:`~evenhand.statistics.intervals.unscored_bounds`, the rows being contests); else None.
        unscored_counts: The unscored votes on its contests.
    """

    winrate_if_unscored_0: float | Missing = measure("score", always=True)
    winrate_if_unscored_1: float | Missing = measure("score", always=True)
    unscored_bounds: UnscoredBounds | None
    unscored_counts: UnscoredCounts = measure("count", name="", only=("unscored_votes",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestSummary(VoteMeasures):
    """The results of all contests. A missing number gives the reason.

    Intervals take instances as the sampling unit, each with all its contests.

    Attributes:
        ranking: The ranking of the systems.
        systems: One summary per system, in the order given.
        num_instances: Instances with a contest.
        contests: The number of contests.
        ties: The scored contests without a winner.
        tie_rate: The share of ties among the scored contests.
        num_unscored: The contests without a score.
        unscored_contests: Reason -> number of contests without a score.
        position_consistency: The share of the contests judged in several orders on which no judge changed its mind.
        position: The disagreements between the two orders of a judge on the winner: their share, the preference for
            the first place, and its exact test. The unit is a contest and judge.
    """

    ranking: Ranking
    systems: tuple[SystemSummary, ...]
    num_instances: int
    contests: int = measure("count", name="num_contests")
    ties: int = measure("count", name="num_ties")
    tie_rate: Interval | Missing = measure("share")
    num_unscored: int = measure("count")
    unscored_contests: Mapping[str, int] = measure("count")
    position_consistency: Interval | Missing = measure("share")
    position: PositionBias = measure("count", name="")


def summarize_contests(
    contests: Sequence[Contest],
    systems: Sequence[str],
    *,
    reduction: Reduction = "win_rate",
    level: Level = 0.95,
    lengths: bool = False,
    orders_known: bool = True,
) -> ContestSummary:
    """Return the summary of some contests.

    Args:
        contests: In any order.
        systems: The names, in the order of the report.
        reduction: The rule by which contests become winrates; strengths and other models count every contest of any
            grade once.
        level: The level of the intervals, which are over the instances, or the clusters that the contests name.
        lengths: Whether to estimate winrates at equal length.
        orders_known: Whether votes say which system was shown first.
    """
    fought = ContestColumns.of(contests, systems, reduction)
    ranking = rank_systems(
        fought.resolved,
        presented=presented_contests(contests, fought.resolved) if orders_known else None,
        rounds=[contest.round for contest in contests],
        length_difference=[contest.length_difference for contest in contests] if lengths else None,
        level=level,
    )
    clusters = {contest.instance: contest.cluster for contest in contests}
    level = replace(IntervalLevel.of(level), clusters=None if None in clusters.values() else [*clusters.values()])
    columns = VerdictColumns.of([contest.verdict for contest in contests])
    places = {instance: place for place, instance in enumerate(clusters)}
    measures, (tie_rate, consistency) = vote_measures(
        columns,
        [None if contest.score is None else contest.score == 0.5 for contest in contests],
        [contest.verdict.position_consistent for contest in contests],
        rows=np.array([places[contest.instance] for contest in contests], dtype=int),
        level=level,
    )
    entries, summaries = {entry.system: entry for entry in ranking.systems}, []
    for system in systems:
        own, entry = fought.rows_of(system), entries[system]
        low, high, leading = fought.bounds(entry.winrate or None, system, level=level, apart=ranking.anytime)
        summaries.append(
            SystemSummary(
                **{each.name: getattr(entry, each.name) for each in fields(entry)},
                winrate_if_unscored_0=or_missing(low, "no contest"),
                winrate_if_unscored_1=or_missing(high, "no contest"),
                unscored_bounds=leading,
                unscored_counts=UnscoredCounts.of(columns.votes.only(own), fought.resolved.prompt[own]),
            )
        )
    reasons = Counter(contest.unscored_reason for contest in contests if contest.unscored_reason is not None)
    judged = [contest.cluster for contest in contests for _ in contest.selections]
    position = position_bias(
        [own for contest in contests for own in contest.selections],
        level=level.over(None if level.clusters is None else judged),
    )
    if not orders_known:
        position = replace(position, first_position_share=Missing("the votes do not say what was shown first"))
    return ContestSummary(
        ranking=ranking,
        systems=tuple(summaries),
        num_instances=len(places),
        contests=len(contests),
        ties=sum(contest.score == 0.5 for contest in contests),
        tie_rate=or_missing(tie_rate, NO_CONTEST),
        num_unscored=sum(contest.score is None for contest in contests),
        unscored_contests=MappingProxyType(dict(sorted(reasons.items()))),
        position_consistency=or_missing(consistency, "no contest was read in two orders"),
        position=position,
        **measures,
    )


class WinrateAnalysis(Analysis):
    """The result of :func:`winrates`: every contest, and which system is better, by how much, how surely."""

    kind: ClassVar = "winrates"
    judged: ClassVar = ("systems", "criterion")
    names: ClassVar = ("instance", "first", "second")
    compared: ClassVar = ("score", "score")
    labelled_by: ClassVar = ("first", "second")

    def read(self, cells: Iterable[Cell]) -> Iterator[Contest]:
        """Make a contest of each cell."""
        for about, votes in cells:
            yield Contest.of(votes, self.criterion, self.rules, **about)

    @property
    def contests(self) -> tuple[Contest, ...]:
        """The entries, ordered by prompt and pair."""
        return self.entries

    @cached_property
    def summary(self) -> ContestSummary:
        """Winrates under the reduction, ties, unscored contests, and how far the judge can be trusted."""
        return summarize_contests(
            self.entries,
            self.systems,
            reduction=self.parameters["reduction"],
            level=self._level,
            lengths=True,
            orders_known=self.parameters.get("orders_known", True),
        )

    @property
    def rate_name(self) -> str:
        """The name of the share of battles won."""
        return "winrate" if self.parameters["reduction"] == "win_rate" else "weighted winrate"

    @property
    def _level(self) -> IntervalLevel:
        """The level and the method of intervals; the contests name the clusters."""
        return IntervalLevel(self.parameters["level"], None, self.parameters["interval"])

    @property
    def ranking(self) -> Ranking:
        """Ranks, strengths, the position advantage, pairs with tests, groups, length-controlled winrates."""
        return self.summary.ranking

    def ruled(self) -> Iterable[Criterion]:
        """Return the criterion."""
        return [self.criterion]

    @cached_property
    def columns(self) -> ContestColumns:
        """The contests as columns."""
        return ContestColumns.of(self.entries, self.systems, self.parameters["reduction"])

    @cached_property
    def head_to_head(self) -> Mapping[tuple[str, str], Measure]:
        """Each two systems, in both directions -> the winrate of the first against the second, or its bounds."""
        found = {}
        for pair in self.ranking.pairs:
            of, rate = (pair.first, pair.second), pair.win_rate
            leading = self.columns.bounds(rate, *of, level=self._level)[2]
            back = None if rate is None else rate.subtracted_from(1.0)
            turned = leading and leading.subtracted_from(1.0)
            for sides, value, bounds in ((of, rate, leading), (of[::-1], back, turned)):
                shown = or_missing(value, "the two never met")
                found[sides] = Measure("winrate", (), shown, "score", bounds=bounds)
        return found

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the winrate of each system, and if there are more than two, that against each other system."""
        name = self.criterion.name
        met = by_key(
            (sides, each)
            for each in self.entries
            for sides in ((each.first,), (each.second,), (each.first, each.second), (each.second, each.first))
        )
        found = [_side(system, name, met[system,]) for system in self.systems if (system,) in met]
        for first, second in combinations(self.systems if len(self.systems) > 2 else (), 2):
            if (first, second) in met:
                found.append(replace(_side(first, f"against {second}", met[first, second]), part_of=name))
        return tuple(found)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of each system, best first; of each two against each other; of all contests."""
        for system in self.ranked:
            counted = system.contests - system.num_unscored, system.unscored_counts
            yield Reported("", (system.system,), system, *counted)
            yield Reported("", (system.system,), Measure("strength", (), system.strength, "number"), *counted)
        for pair in self.ranking.pairs:
            of = (pair.first, pair.second)
            for sides in (of, of[::-1]):
                yield Reported("", sides, self.head_to_head[sides], pair.contests)
            name = "winrate.difference" if self.ranking.balanced else "strength.difference"
            difference = or_missing(pair.difference, "the data say nothing about it")
            p_value = None if pair.difference_test is None else pair.difference_test.adjusted_p_value
            yield from reported_difference(name, of, difference, pair.contests, p_value=p_value)
        whole = self.summary
        yield Reported("", (), whole, whole.contests - whole.num_unscored, whole.unscored_counts)
        yield from self.reported_agreements()

    def asked(self) -> Iterator[QuestionAsked]:
        """Return the contests as they are held; the score is that of the first system."""
        graded = is_graded(self.criterion)
        for contest in self.entries:
            sides: dict[float | None, str] = {1.0: contest.first, 0.5: TIE, 0.0: contest.second}
            options = tuple(sides.get(option.value, option.label) for option in self.criterion.options)
            yield QuestionAsked(
                name=f"{contest.instance}/{contest.first}/{contest.second}",
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=self.criterion.labels if graded else options,
                systems=(contest.first, contest.second),
                selected=None if contest.score is None else contest.winner or TIE,
                score=contest.score,
                verdict=contest.verdict.model_copy(update={"unscored_reason": contest.unscored_reason}),
                gold=contest.gold,
                compares=True,
                offered=self.criterion.labels,
            )

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion: which of the two is better, or neither."""
        names = ((cell.about["first"], 1.0), (TIE, 0.5), (cell.about["second"], 0.0))
        options = tuple(Option(label=label, value=value) for label, value in names)
        return self.criterion.model_copy(update={"options": options})

    def by_people(self) -> dict[str, Any]:
        """Return the header for labels of people, who may find two responses equal."""
        header = super().by_people()
        offered = comparison_criterion(self.criterion.name, self.criterion.description, allow_ties=True)
        parameters = {**header["parameters"], "reduction": "win_rate"}
        return {**header, "criterion": offered.model_dump(mode="json"), "parameters": parameters}

    @property
    def decisions(self) -> Mapping[tuple[str, str], Decision]:
        """(First, second) -> whether it is decided which of the two is better, and after how many prompts.

        Valid at all looks together, and for any unscored votes; see :meth:`ContestColumns.decisions`.
        """
        return self.columns.decisions(1 - self.parameters["level"])

    @cached_property
    def mean_lengths(self) -> Mapping[str, float | None]:
        """System -> mean characters of its responses, a prompt counted once; None without a response."""
        found: dict[str, dict[int, int]] = {system: {} for system in self.systems}
        for each in self.entries:
            for system, length in ((each.first, each.first_length), (each.second, each.second_length)):
                found[system] |= {} if length is None else {each.instance: length}
        return {system: sum(own.values()) / len(own) if own else None for system, own in found.items()}

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

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of systems and of pairs."""
        return _systems_table(self), _pairs_table(self)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each contest."""
        for about, contest in zip(self.stored.abouts(), self.entries, strict=True):
            verdict = contest.verdict
            record: dict[str, Any] = {
                **about,
                "score": contest.score,
                "grade": contest.grade,
                "winner": contest.winner,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "unscored_reason": contest.unscored_reason,
                "assessment": verdict.assessment,
            }
            yield with_votes(record, verdict.votes, votes=votes)


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


def _systems_table(table: WinrateAnalysis) -> TextTable:
    level, ranking = format_level(table.parameters["level"]), table.ranking
    columns = (
        Column(
            f"{'' if ranking.balanced else 'raw '}{table.rate_name} [{level}]",
            lambda one: format_score(one.winrate, one.unscored_bounds),
        ),
        *(() if ranking.balanced else (Column(f"against all [{level}]", "field_winrate"),)),
        Column("rank", lambda one: f"{one.rank} [{one.rank_low}, {one.rank_high}]" if one.rank else MISSING),
        Column("strength", "strength", optional=ranking.anytime),
        Column("at equal length", "length_controlled_winrate", optional=ranking.anytime),
        Column("contests", "contests"),
        Column("ties", "ties"),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("length", lambda one: format_count(table.mean_lengths[one.system])),
    )
    title = (
        f"{table.rate_name.capitalize()}s on {table.criterion.name!r} by {', '.join(table.parameters['judges'])}: "
        f"{_of_all(table.summary.num_instances, table.parameters['n'], 'prompt')}, "
        f"{format_count(len(table.entries), 'contest')}"
    )
    by_name = {(one.system,): one for one in table.ranked}
    return measures_table(title, ("system",), by_name, columns, _notes(table), kind="scores")


def _pairs_table(table: WinrateAnalysis) -> TextTable:
    """Return the table of every two systems: head to head, and the difference of their winrates or strengths.

    Where all holds at any time, there is head to head alone, and what is decided.
    """
    ranking, rate_name, level = table.ranking, table.rate_name, format_level(table.ranking.level)
    decided = table.decisions if ranking.anytime else {}

    def head_to_head(pair: PairComparison) -> str:
        return format_score(pair.win_rate, table.head_to_head[pair.first, pair.second].bounds)

    def decision(pair: PairComparison) -> str:
        known = decided.get((pair.first, pair.second))
        return f"{'' if known.decided else 'not '}after {format_count(known.prompts, 'prompt')}" if known else MISSING

    title = "Head to head" if rate_name == "winrate" else f"Head to head by {rate_name}"
    columns = [
        Column("contests", "contests"),
        Column(f"head to head [{level}]", head_to_head),
        Column("p", lambda pair: format_p_value(pair.win_rate_test and pair.win_rate_test.adjusted_p_value)),
    ]
    if ranking.anytime:
        title += " (p corrected by Holm; all holds at any time)"
        columns.append(Column("decided", decision))
    else:
        header = "difference" if ranking.balanced else "difference of strengths"
        title += (
            f", and the paired difference of {rate_name}s over all contests (p corrected by Holm)"
            if ranking.balanced
            else ", and the difference of strengths (p corrected by Holm, and by Scheffé where results paired)"
        )
        columns += [
            Column(f"{header} [{level}]", lambda pair: format_interval(pair.difference, signed=True)),
            Column("p", lambda pair: format_p_value(pair.difference_test and pair.difference_test.adjusted_p_value)),
        ]
    pairs = {(f"{pair.first} – {pair.second}",): pair for pair in ranking.pairs}
    return measures_table(title, ("systems",), pairs, columns, kind="pairs")


def _notes(table: WinrateAnalysis) -> tuple[str, ...]:
    ranking, summary = table.ranking, table.summary
    notes = []
    if table.parameters.get("stop"):
        known = table.decisions.values()
        after = [one.prompts for one in known if one.decided]
        span = " to ".join(map(format_count, sorted({min(after), max(after)}))) if after else ""
        notes.append(
            f"{_of_all(len(after), len(known), 'pair')} decided{f', after {span} prompts' if after else ''}; "
            f"{_of_all(summary.num_instances, table.parameters['n'], 'prompt')} asked, in a random order. The "
            "probability that any pair of equal systems is ever decided, over all looks and pairs, is at most "
            f"{format_percent(1 - table.parameters['level'])}. The estimate of a decided pair leans away from ½; its "
            "interval holds."
        )
    notes += [ANYTIME, "Lengths are mean characters."] if ranking.anytime else [STRENGTHS]
    notes += [*ranking_notes(ranking), _order_note(table)]
    if any(one.length_controlled_winrate for one in summary.systems):
        notes.append(AT_EQUAL_LENGTH)
    if table.rate_name != "winrate":
        notes.append(WEIGHTED)
    if agreement := table.gold_agreement():
        notes.append(f"Agrees with the gold preferences in {format_share(agreement)} of the contests.")
    if summary.num_unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.unscored_contests.items())
        notes.append(f"Contests without a score: {reasons}.")
    unscored = unscored_bounds_notes({one.system: one for one in summary.systems}, "winrate")
    return (*notes, *unscored, *table.run_notes)


def _of_all(some: int, total: int, noun: str) -> str:
    return format_count(total, noun) if some == total else f"{format_count(some)} of {format_count(total, noun)}"


STRENGTHS: Final = "Strengths are log-odds by Davidson's model, 0 on average; lengths are mean characters."
ANYTIME: Final = (
    "Intervals and p-values hold at all looks together and wherever one stops. A winrate is the mean of those against "
    "each of the others. Strengths, the position advantage and winrates at equal length are left out: their intervals "
    "would be those of a sample of a fixed size."
)
AT_EQUAL_LENGTH: Final = "Winrates at equal length also take away the quality that goes with length."
WEIGHTED: Final = (
    "Winrates, and differences, ranks and groups of them, weigh a win by its grade; everything else counts each "
    "contest once."
)


def ranking_notes(ranking: Ranking) -> Iterator[str]:
    """Give notes on the position advantage, systems that are alike and missing estimates."""
    position, level = ranking.position, format_level(ranking.level)
    if isinstance(position, Interval):
        yield (
            f"Position advantage: between equals the response shown first wins {format_share(position)} of the decided "
            "contests (Davidson and Beaver's model)."
        )
    elif not ranking.anytime:
        yield f"Position advantage: no estimate, since {position.reason}."
    how = "Holm" if ranking.balanced else "Holm, strengths"
    alike = "; ".join(", ".join(group) for group in ranking.groups if len(group) > 1)
    if alike:
        yield f"Not distinguishable at the {level} level ({how}): {alike}."
    else:
        yield f"All systems are distinguishable at the {level} level ({how})."
    for name in ("rank",) if ranking.anytime else ("strength", "length_controlled_winrate"):
        for reason, systems in by_reason((each.system, getattr(each, name)) for each in ranking.systems).items():
            yield f"No {name.replace('_', ' ')} for {systems}: {reason}."
    if not ranking.balanced:
        yield (
            "Not every two systems met in equally many scored contests, so raw winrates are over opponents of unequal "
            "strength: ranks, groups and differences are of strengths, and 'against all' is the winrate that the model "
            "of strengths expects against all the other systems."
        )


def _order_note(table: WinrateAnalysis) -> str:
    summary, position = table.summary, table.summary.position
    if not summary.positional_bias:
        return "Orders: no contest was judged in both, so what position does to the verdicts is not known."
    note = f"Orders: the judge changes its mind in {format_share(summary.positional_bias)} of the contests"
    if not isinstance(position.p_value, Missing):
        note += f"; of {format_count(position.n_inconsistent)} such changes of one judge the first place gains from "
        note += f"{format_share(position.first_shown_share)} ({state_p_value(position.p_value)})"
    return note + "."

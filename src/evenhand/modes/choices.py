"""Choices of the best of several candidates: the best of N, and the Grade Score.

A candidate without a text is left out before it is asked about. Every measure here treats the candidates alike: no tie
is decided by who comes first. :class:`BestOfMode` gives selection rates. :class:`GradeMode` asks in all rotations, and
:func:`grade` makes a judge's choices its Grade Score; the formulas are those of :mod:`evenhand.statistics.consistency`.
"""

from __future__ import annotations

import bisect
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from evenhand.aggregation.verdict import TOLERANCE, check_mean_over_draws, most_frequent_reason
from evenhand.criteria import Criterion, fold_label
from evenhand.data.plain import by_key
from evenhand.engines.base import JudgeEngine
from evenhand.errors import EvenhandWarning, InvalidInputError, InvalidPromptError, UnknownRuleError, did_you_mean
from evenhand.judging.conversation import Flow
from evenhand.judging.grid import draw
from evenhand.modes.mode import Mode, Result, Subject, SubjectVotes, one_criterion
from evenhand.numbers import Missing, UnscoredBounds, format_level, format_p_value, format_percent, measure, or_missing
from evenhand.options import FlowName
from evenhand.question import Question, choice_criterion
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import Column, Reported, measures_table
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis, with_votes
from evenhand.results.vote_columns import Cell
from evenhand.scoring import (
    GRADED_ON_OTHERS,
    ReplyMeasures,
    VoteMeasures,
    bounded_mean,
    reply_measures,
    vote_measures,
)
from evenhand.statistics import Interval, Uniformity, grade_score_chance, mean_intervals, ratio_intervals, uniformity
from evenhand.statistics.consistency import grade_score_parts
from evenhand.statistics.intervals import FloatArray, IntArray, IntervalLevel, Level
from evenhand.votes import MISSING_RESPONSE, WITHHELD, UnscoredReason, Verdict, Vote

CHOICE_PROMPTS: Final = ("select", "evaluate_first", "avoid_order_bias", "grade")
"""The four ways of asking; the prompt of each is named ``best_of_<name>``."""


def choice_prompt(prompt: str | None, flow: FlowName) -> str | None:
    """Return the prompt that a name of :data:`CHOICE_PROMPTS` stands for, or a text of the user's own.

    None if the flow has its own prompt. A text is checked by
    :meth:`~evenhand.judging.conversation.Flow.check_prompt`.

    Raises:
        InvalidPromptError: If there is no such prompt, or the flow does not ask in one step, as all four do.

    >>> choice_prompt("grade", "one_step"), choice_prompt(None, "verdict_only")
    ('best_of_grade', None)
    """
    if prompt is None:
        return "best_of_evaluate_first" if flow == "one_step" else None
    if "{{" in prompt:
        return prompt
    name = prompt.removeprefix("best_of_")
    if name not in CHOICE_PROMPTS:
        raise InvalidPromptError(
            f"the prompt {prompt[:80]!r} cannot ask for the best of several candidates. "
            f"{did_you_mean(prompt, CHOICE_PROMPTS)} A text of your own names {{{{ responses }}}}"
        )
    if flow != "one_step":
        raise InvalidPromptError(
            f"prompt={prompt!r} asks for reasons and choice in one reply, which flow={flow!r} does not: set "
            "flow='one_step', or leave the prompt out"
        )
    return f"best_of_{name}"


@dataclass(frozen=True)
class ChoiceMode(Mode[Result]):
    """The base of the modes in which a judge chooses among candidates.

    The prompt may be named in short: see :data:`CHOICE_PROMPTS`.
    """

    asks_for: ClassVar[str]
    """The choice, for messages."""

    accepts: ClassVar[Mapping[str, tuple[object, ...]]]
    """Option of a run -> the values that fit the choice, the default first."""

    def __post_init__(self) -> None:
        for name, accepted in {"scoring": ("selected",), "stop_early": (False,), **self.accepts}.items():
            if (given := getattr(self.options, name)) not in accepted:
                raise UnknownRuleError(
                    f"{name} is {given!r}, which does not fit {self.asks_for}: leave it out. "
                    f"{did_you_mean(given, filter(None, accepted))}"
                )
        self.flow.check_prompt("choose")

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked, with the prompt under its full name."""
        return Flow.of(self.options, prompt=choice_prompt(self.options.prompt, self.options.flow))

    def ask(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> SubjectVotes:
        """Ask about each instance; warn (:class:`EqualCandidatesWarning`) of those with equal candidates."""
        alike = [about.instance for about in subjects if len(set(about.responses)) < len(about.responses)]
        if alike:
            warnings.warn(
                f"in {len(alike)} of {len(subjects)} instances (first in {alike[0]}) candidates have the same text: "
                "between them a judge can only go by the place, and seems to change its mind. Leave one of them out",
                EqualCandidatesWarning,
                stacklevel=2,
            )
        return super().ask(subjects, judges)


class EqualCandidatesWarning(EvenhandWarning):
    """Candidates of one instance have the same text, so that no judge can distinguish them."""


def choice_question(about: Subject, unrelated: str | None = None) -> Question | None:
    """Return the question which of the candidates is the best; None if fewer than two have a text.

    Args:
        about: The candidates; those that have a text are the options, in this order. It is judged by a criterion that
            says what makes one the best, whose options play no part.
        unrelated: The text of an option from elsewhere, which becomes the last one.

    Raises:
        InvalidInputError: If there are fewer than two candidates, those without a text included.
    """
    if len(about.texts) < 2:
        raise InvalidInputError(
            f"instance {about.instance} has {len(about.texts)} candidate(s), {list(about.texts)!r}; the best is chosen "
            "of two or more (None where one is missing)"
        )
    if len(about.responses) < 2:
        return None
    responses = about.responses if unrelated is None else (*about.responses, unrelated)
    criterion: Criterion = about.judged
    choice = choice_criterion(
        criterion.name, criterion.description, len(responses), context_fields=criterion.context_fields
    )
    identifier = about.row_name if unrelated is None else f"{about.row_name}/unrelated"
    return about.question(identifier, choice, responses, mode="choose")


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of one instance.

    Attributes:
        names: The candidates that were asked about, in their own order.
        missing: The candidates without a text.
        shares: One per candidate asked about, with the sum 1; None when unscored.
        selected: The candidate selected; None when unscored, and when none is ahead of the others.
        position_consistent: Whether every judge chose the same candidate in all orders; None if no judge answered
            in two.
        agreement: The share of all votes for the candidate selected, or where candidates are tied for the one of them
            that most votes name; None when unscored.
        bounds: Per candidate asked about the least and greatest share that it could have if every unscored vote had
            named one.
        unscored_reason: Why no candidate is selected: ``inconsistent`` where orders, draws or judges disagree and none
            is ahead, ``missing_response`` where fewer than two candidates are left, else why the votes named none.
        votes: All votes.
    """

    names: tuple[str, ...]
    missing: tuple[str, ...]
    shares: tuple[float, ...] | None
    selected: str | None
    position_consistent: bool | None
    agreement: float | None
    bounds: tuple[tuple[float, float], ...]
    unscored_reason: UnscoredReason | None
    votes: tuple[Vote, ...]

    @property
    def scored(self) -> bool:
        """Whether the instance counts in the selection rates."""
        return self.shares is not None

    @property
    def set_aside(self) -> bool:
        """Whether all votes were read, and the rule gives no share all the same."""
        return not self.scored and Verdict(votes=self.votes).complete


@dataclass(frozen=True)
class BestOfMode(ChoiceMode[Selection]):
    """A judge chooses the best of several candidates. The options of the criterion that judges them play no part."""

    kind: ClassVar = "best_of"
    compares: ClassVar = True
    run_defaults: ClassVar = MappingProxyType({"flow": "one_step"})

    asks_for: ClassVar = "a choice of the best candidate, where each candidate has its share of all draws"
    accepts: ClassVar = MappingProxyType(
        {
            "aggregation": (None, "mode", "weighted_mode", "unanimous"),
            "on_position_bias": (None, "average", "abstain", "first"),
        }
    )

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return the one question; none if fewer than two candidates have a text."""
        question = choice_question(about)
        return () if question is None else (question,)

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> Selection:
        """Return the selection; see :func:`select`."""
        rules = self.options
        return select(
            votes[0] if votes else (),
            about.names,
            missing=about.missing,
            aggregation=None if rules.aggregation is None else str(rules.aggregation),
            on_position_bias=rules.on_position_bias,
        )

    def record(self, about: Subject, result: Selection) -> dict[str, Any]:
        """Return the candidate selected, and the share of each."""
        shares = dict(zip(result.names, result.shares or (), strict=False))
        return {
            "selected_candidate": result.selected,
            "unscored_reason": result.unscored_reason,
            "position_consistent": result.position_consistent,
            "agreement": result.agreement,
            "missing_candidates": list(result.missing) or None,
            **{f"{name}_selection_rate": shares.get(name) for name in about.texts},
        }

    def measures(self, subjects: Sequence[Subject], results: Sequence[Selection], level: Level) -> SelectionSummary:
        """Return the measures; see :func:`summarize_selections`."""
        del subjects
        return summarize_selections(results, level=level)


def select(
    votes: Sequence[Vote],
    names: Sequence[str],
    *,
    missing: Sequence[str] = (),
    aggregation: str | None = None,
    on_position_bias: str | None = None,
) -> Selection:
    """Aggregate one instance's votes into the share of each candidate, and the candidate selected.

    A judge's draws in one order are averaged, then its orders, then the judges, so that one judge that names a
    candidate in one of two orders gives it half of the instance. A candidate is selected if its share is the largest
    by more than 1e-9: ties select none, and are not decided by the numbering.

    ``on_position_bias``: ``average`` (default) as said; ``abstain`` sets aside a judge whose orders do not all name the
    same candidate, or of whose orders one went unanswered; ``first`` takes the given order (the lowest permutation
    asked) alone. ``aggregation``: ``mode`` (default) counts every judge alike, ``weighted_mode`` by its weight,
    ``unanimous`` selects only where every judge is for the same candidate by itself.

    Args:
        votes: All votes on the question; none if fewer than two candidates were left.
        names: The candidates asked about, in their own order.
        missing: The candidates without a text.
        aggregation: The panel rule.
        on_position_bias: The value of a disagreement between orders.

    Raises:
        InvalidInputError: If draws could stop early, which biases their mean.
    """
    check_mean_over_draws(votes, "the share of each candidate")
    names, missing = tuple(names), tuple(missing)
    if not votes:
        whole = ((0.0, 1.0),) * len(names)
        return Selection(names, missing, None, None, None, None, whole, "missing_response", ())
    policy = on_position_bias or "average"
    by_judge = by_key((vote.judge_id, vote) for vote in votes)
    judged = [_judge_shares(own, len(names), policy) for own in by_judge.values()]
    weights = np.array([own[0].weight if aggregation == "weighted_mode" else 1.0 for own in by_judge.values()])
    known = np.array([own is not None for own, _, _ in judged])
    shares, leaders = None, set[int | None]()
    if known.any():
        shares = np.average([own for own, _, _ in judged if own is not None], axis=0, weights=weights[known])
        leaders = {_leader(shares)}
    if aggregation == "unanimous":
        leaders |= {None if own is None else _leader(own) for own, _, _ in judged}
    leader = leaders.pop() if len(leaders) == 1 else None
    consistent = [orders for _, _, orders in judged if orders is not None]
    # a judge set aside may have chosen none or any candidate; so may the unscored part of another
    low = np.array([least for _, least, _ in judged]) * (known | (policy != "abstain"))[:, None]
    low, spare = np.average(low, axis=0, weights=weights), np.average(1 - low.sum(axis=1), weights=weights)
    unscored_reason: UnscoredReason | None = None
    if leader is None:
        reasons = [vote.unscored_reason or "no_match" for vote in votes if vote.selected_index is None]
        disagree = shares is not None or (policy == "abstain" and not all(consistent))
        unscored_reason = "inconsistent" if disagree else most_frequent_reason(reasons)
    ahead = [] if shares is None else np.flatnonzero(shares >= shares.max() - TOLERANCE).tolist()
    named = Counter(vote.selected_index for vote in votes)
    return Selection(
        names=names,
        missing=missing,
        shares=None if shares is None else tuple(shares.tolist()),
        selected=None if leader is None else names[leader],
        position_consistent=all(consistent) if consistent else None,
        agreement=max((named[place] / len(votes) for place in ahead), default=None),
        bounds=tuple(zip(low.tolist(), np.minimum(low + spare, 1.0).tolist(), strict=True)),
        unscored_reason=unscored_reason,
        votes=tuple(votes),
    )


def _judge_shares(votes: Sequence[Vote], count: int, policy: str) -> tuple[FloatArray | None, FloatArray, bool | None]:
    """Return one judge's shares over its answers, those over all votes asked, and whether its orders agree.

    The first are None without an answer, and where the judge is set aside; the last is None with fewer than two orders
    that were answered.
    """
    by_order = by_key((vote.order, vote.selected_index) for vote in sorted(votes, key=lambda vote: vote.order))
    drawn = np.array([[*map(own.count, range(count)), len(own)] for own in by_order.values()], dtype=float)
    counts, asked = drawn[:, :-1], drawn[:, -1:]
    answered = counts.sum(axis=1) > 0
    leaders = {_leader(own) for own in counts[answered]}
    consistent = len(leaders) == 1 and None not in leaders if answered.sum() > 1 else None
    if policy == "first":
        counts, asked, answered = counts[:1], asked[:1], answered[:1]
    aside = policy == "abstain" and len(counts) > 1 and not (consistent and answered.all())
    read = counts[answered]
    shares = None if aside or not len(read) else (read / read.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares, (counts / asked).mean(axis=0), consistent


def _leader(shares: FloatArray) -> int | None:
    """Return the candidate whose share is larger than every other; None if there is none."""
    ahead = np.flatnonzero(shares >= shares.max() - TOLERANCE)
    return int(ahead[0]) if len(ahead) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRate:
    """The selection rate of one candidate.

    Attributes:
        rate: Its mean share over the scored instances that offer it.
        if_unscored_0: The mean share, every unscored vote and instance counted for the others.
        if_unscored_1: The same, counted for it.
        num_offered: Instances that offer it and another one.
        num_selected: Instances in which it is selected.
        num_missing: Instances in which it has no text.
        unscored_bounds: The bounds of the rate, where too many votes are unscored for the mean to lead; else None.
    """

    rate: Interval | Missing = measure("score", name="selection_rate", always=True, bounds="unscored_bounds")
    if_unscored_0: float | Missing = measure("score", name="selection_rate_if_unscored_0", always=True)
    if_unscored_1: float | Missing = measure("score", name="selection_rate_if_unscored_1", always=True)
    num_offered: int = measure("count")
    num_selected: int = measure("count")
    num_missing: int = measure("count")
    unscored_bounds: UnscoredBounds | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSummary:
    """The summary of many selections.

    Attributes:
        candidates: Name -> its selection rate, in the order of first appearance.
        num_instances: Instances.
        num_unscored: Instances that count in no rate.
        num_undecided: Instances that count, but have no candidate ahead.
        unscored_instances: Reason -> number of instances without a selection.
        first_shown_share: Share of the answers that name the candidate shown first.
        votes: Positional bias, agreement, parse rate, reasons, re-asks and usage. No spread: selections have no values.
    """

    candidates: Mapping[str, CandidateRate] = measure("score", name="")
    first_shown_share: Interval | Missing = measure("share")
    num_instances: int
    num_unscored: int = measure("count")
    num_undecided: int = measure("count")
    unscored_instances: Mapping[str, int] = measure("count")
    votes: VoteMeasures = measure("share", name="")


def summarize_selections(selections: Sequence[Selection], *, level: Level = 0.95) -> SelectionSummary:
    """Return selection rates with intervals over instances.

    Args:
        selections: One per instance.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
    """
    names = list(dict.fromkeys(name for each in selections for name in (*each.names, *each.missing)))
    reasons = Counter(each.unscored_reason for each in selections if each.unscored_reason is not None)
    first = [
        (sum(vote.order[0] == vote.selected_index for vote in answers), len(answers))
        for answers in ([vote for vote in each.votes if vote.selected_index is not None] for each in selections)
    ]
    firsts, answered = np.array(first, dtype=float).reshape(len(selections), 2).T
    verdicts = [
        Verdict(position_consistent=each.position_consistent, agreement=each.agreement, votes=each.votes)
        for each in selections
    ]
    (first_shown,) = ratio_intervals(firsts, answered, level=level)
    measures, _ = vote_measures(verdicts, level=level)
    return SelectionSummary(
        candidates=MappingProxyType({name: _rate(name, selections, level) for name in names}),
        first_shown_share=or_missing(first_shown, "no vote named a candidate"),
        num_instances=len(selections),
        num_unscored=sum(not each.scored for each in selections),
        num_undecided=sum(each.scored and each.selected is None for each in selections),
        unscored_instances=dict(sorted(reasons.items())),
        votes=VoteMeasures(**measures),
    )


def _rate(name: str, selections: Sequence[Selection], level: Level) -> CandidateRate:
    offering = [(each, each.names.index(name)) for each in selections if name in each.names]
    rate, leading = bounded_mean(
        [each.shares[place] if each.shares else None for each, place in offering],
        [None if each.set_aside else each.bounds[place] for each, place in offering],
        level=IntervalLevel.of(level).only([name in each.names for each in selections]),
    )
    low, high = zip(*(each.bounds[place] for each, place in offering), strict=True) if offering else ((), ())
    return CandidateRate(
        rate=or_missing(rate, "no scored instance offers it"),
        unscored_bounds=leading,
        if_unscored_0=float(np.mean(low)) if offering else Missing("no instance offers it"),
        if_unscored_1=float(np.mean(high)) if offering else Missing("no instance offers it"),
        num_offered=sum(len(each.names) > 1 for each, _ in offering),
        num_selected=sum(each.selected == name for each in selections),
        num_missing=sum(name in each.missing for each in selections),
    )


NOT_SCORED: Final = "no instance has two rotations answered"


@dataclass(frozen=True, slots=True)
class InstanceGrade:
    """One judge's choices on one instance.

    Attributes:
        n_options: Candidates shown, the unrelated one included; 0 if fewer than two were left.
        grade_score: Mean of the draws' scores; None without a draw with two answered rotations.
        chance_corrected: Mean of the draws' scores corrected for chance.
        llm_score: Evenness of the places chosen (:math:`L`, the paper's LLM score); a mean as well.
        choice_score: Share of the favourite candidate (:math:`C`, the paper's choice score); a mean as well.
        asked: Votes asked for: rotations × draws, without those that the budget left out.
        chosen: The number of votes for each candidate, in their own order.
        places: The number of votes for each place, the first one first.
        unscored_reason: Why there is no score: the most frequent reason of the votes.
        chances: The mean score of a random judge, for each draw that has a score.
    """

    n_options: int
    grade_score: float | None
    chance_corrected: float | None
    llm_score: float | None
    choice_score: float | None
    asked: int
    chosen: tuple[int, ...]
    places: tuple[int, ...]
    unscored_reason: UnscoredReason | None
    chances: tuple[float, ...]

    @property
    def answered(self) -> int:
        """Votes asked for that named an option."""
        return sum(self.places)


@dataclass(frozen=True, slots=True)
class ChoiceHistograms:
    """How often places and candidates were chosen, for one number of candidates shown; there is none if none was.

    Attributes:
        n_options: Candidates shown.
        places: The counts of each place, the first one first, and their test.
        candidates: The counts of each candidate, in the order of the data, and their test.
    """

    n_options: int
    places: Uniformity
    candidates: Uniformity

    def scores(self) -> dict[str, float]:
        """Return counts and tests by number of candidates shown, such as ``places_of_4_p_value``."""
        scores: dict[str, float] = {}
        of = f"of_{self.n_options}"
        for one, many, found in (("place", "places", self.places), ("candidate", "candidates", self.candidates)):
            scores |= {f"{one}_{number}_{of}": count for number, count in enumerate(found.counts, start=1)}
            scores[f"{many}_{of}_p_value"] = found.p_value
        return scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Grading(ReplyMeasures):
    """The Grade Score of one judge on a data set, and its components.

    Attributes:
        grade_score: Mean over the scored instances.
        chance_corrected: Mean of (G − E) / (1 − E), with E the score of a random judge: 0 is chance, 1 perfection.
        llm_score: Mean evenness of the places chosen.
        choice_score: Mean share of the favourite candidate.
        chance: Mean of E over the scored instances.
        answered: Share of the votes asked for that named an option.
        num_instances: Instances in the data.
        num_scored: Instances with a score.
        num_unscored: Instances without a score.
        num_missing_response: Instances with fewer than two candidates that had a text, so that nothing was asked.
        histograms: One histogram per number of candidates shown, the least number first.
        instances: One entry per instance, in order.
        level: The level of the intervals, which are over instances.
    """

    grade_score: Interval | Missing = measure("score", always=True)
    chance_corrected: Interval | Missing = measure("score", name="chance_corrected_grade_score", always=True)
    llm_score: Interval | Missing = measure("score", always=True)
    choice_score: Interval | Missing = measure("score", always=True)
    chance: float | Missing = measure("score", name="chance_grade_score", always=True)
    answered: Interval | Missing = measure("share", always=True)
    num_instances: int
    num_scored: int = measure("count")
    num_unscored: int = measure("count")
    num_missing_response: int = measure("count")
    histograms: tuple[ChoiceHistograms, ...]
    instances: tuple[InstanceGrade, ...]
    level: Level


@dataclass(frozen=True, slots=True)
class UnrelatedEffect:
    """The effect on a judge of an option from another instance.

    Attributes:
        chosen: Share of the answers that chose the option.
        difference: Mean of Grade Score with the option minus Grade Score without it, over instances scored in both.
        corrected_difference: The same of the scores corrected for chance, which allow for the further option.
        num_paired: Instances scored in both runs.
    """

    chosen: Interval | Missing = measure("share", always=True)
    difference: Interval | Missing = measure("difference", always=True)
    corrected_difference: Interval | Missing = measure("difference", always=True)
    num_paired: int = measure("count")


Runs = tuple[tuple[Vote, ...], ...]
"""All judges' votes on one instance without, and where it was asked with, the unrelated option; none if fewer than two
candidates have a text."""


UNRELATED: Final = "unrelated"
"""The fact about a subject that is the text of its unrelated option; None if nothing can be asked."""


@dataclass(frozen=True)
class GradeMode(ChoiceMode[Runs]):
    """A judge chooses the best candidate in every rotation, by a criterion, as for the best of N."""

    asks_for: ClassVar = "a Grade Score, which is of one judge asked in all rotations (metrics.evenhand.best_of is not)"
    accepts: ClassVar = MappingProxyType(
        {"orders": ("cyclic",), "aggregation": (None,), "on_position_bias": (None,), "judge_weights": (None,)}
    )

    kind: ClassVar = "grade_scores"
    function: ClassVar = "grade_scores"
    saved_as: ClassVar = "grade_scores"

    @property
    def prompt(self) -> str:
        """The name of the prompt."""
        name = str(self.flow.prompt).removeprefix("best_of_")
        return name if name in CHOICE_PROMPTS else "own"

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return the question about the best candidate, and, if there is an unrelated option, one with it."""
        asked = [choice_question(about, *unrelated) for unrelated in _runs(about)]
        return tuple(question for question in asked if question is not None)

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> Runs:
        """Return the votes, run by run."""
        return tuple(map(tuple, votes)) or ((),) * len(_runs(about))

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give the cell without the unrelated option, and the cell with it, if it was asked."""
        del place
        for run, cast in enumerate(self.result(about, votes)):
            fields = {"instance": about.instance, "prompt": self.prompt, "with_unrelated": bool(run)}
            fields |= {"unrelated": about.facts[UNRELATED] if run else None, "cluster": about.cluster}
            fields |= {"candidates": list(about.names), "missing": list(about.missing)}
            yield Cell(fields, cast)

    def measures(self, subjects: Sequence[Subject], results: Sequence[Runs], level: Level) -> tuple[Grading, ...]:
        """Return the Grade Score of the one judge without the unrelated option, and with it, if it was asked."""
        del subjects
        return tuple(grade(votes, level=level, seed=self.options.seed) for votes in zip(*results, strict=True))

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the criterion."""
        del systems
        return {"criterion": one_criterion(judged)}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a result, as plain JSON."""
        return {"prompts": [self.prompt], **self.run_parameters()}


def _runs(about: Subject) -> list[tuple[str, ...]]:
    """Return the candidates added in each run."""
    return [(), *([(about.facts[UNRELATED],)] if UNRELATED in about.facts else [])]


def with_unrelated(rows: Sequence[Subject], *, seed: int = 0) -> tuple[Subject, ...]:
    """Return instances with the text of an unrelated option, a candidate of another instance, among the facts.

    All texts lie on a circle at places that the seed and the text determine. An instance begins at a place that the
    seed and its ``draw_key`` determine, and takes the next text that is not blank and equals none of its own candidates
    (apart from case and space). So an instance draws in a part of the data what it draws in the whole, wherever that
    text is in the part. The text is None if fewer than two candidates are left, so that nothing is asked. An engine
    must be allowed to see the rows that hold the text, too.

    Args:
        rows: The instances.
        seed: Another seed, another draw.

    Raises:
        InvalidInputError: If an instance that is asked about has no text to draw.
    """
    holders: dict[str | None, dict[tuple[str, ...], None]] = {}
    for row in rows:
        for text in filter(str.strip, row.responses):
            holders.setdefault(text, {}).update(dict.fromkeys(row.data_classifications))
    circle, drawn = sorted((draw(seed, "unrelated", "text", str(text)), str(text)) for text in holders), []
    for row in rows:
        own = {fold_label(text) for text in row.responses}
        start = bisect.bisect(circle, (draw(seed, "unrelated", "instance", row.draw_key or row.row_name), ""))
        around = (text for _, text in (*circle[start:], *circle[:start]) if len(row.responses) > 1)
        found = next((text for text in around if fold_label(text) not in own), None)
        if found is None and len(row.responses) > 1:
            raise InvalidInputError(
                f"there is no unrelated option for instance {row.instance}: every candidate of the other instances "
                "equals one of its own. Give more instances, or set unrelated_option=False"
            )
        seen = tuple({**dict.fromkeys(row.data_classifications), **holders.get(found, {})})
        drawn.append(replace(row, facts={**row.facts, UNRELATED: found}, data_classifications=seen))
    return tuple(drawn)


def grade(votes: Sequence[Sequence[Vote]], *, level: Level = 0.95, seed: int = 0) -> Grading:
    """Compute the Grade Score of one judge from its choices in the cyclic rotations.

    Each draw of an instance is a set of rotations of its own and has its own score; an instance counts the mean of its
    draws, and the intervals are over instances. Histograms add up an instance's draws.

    Args:
        votes: The votes of the judge on each instance; none if fewer than two candidates were left. The orders of an
            instance must be the rotations of its candidates' own order.
        level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        seed: Of simulated chance levels and of the histograms' tests.
    """
    instances = tuple(grade_instance(cast, seed=seed) for cast in votes)
    every = [chance for each in instances for chance in each.chances]
    lowest = {"grade_score": 0.0, "chance_corrected": _least_corrected(every), "llm_score": 0.0, "choice_score": 0.0}
    means: dict[str, Any] = {}
    for name, low in lowest.items():
        column = np.array([getattr(each, name) for each in instances], dtype=float)
        (mean,) = mean_intervals(column, level=level, bounds=(low, 1.0), on_logit_scale=True)
        means[name] = or_missing(mean, NOT_SCORED)
    chose, asked = [each.answered for each in instances], [each.asked for each in instances]
    (answered,) = ratio_intervals(chose, asked, level=level)
    return Grading(
        **means,
        **reply_measures(votes, level=level),
        chance=float(np.mean(every)) if every else Missing(NOT_SCORED),
        answered=or_missing(answered, "nothing was asked"),
        num_instances=len(instances),
        num_scored=sum(each.grade_score is not None for each in instances),
        num_unscored=sum(each.grade_score is None for each in instances),
        num_missing_response=sum(each.unscored_reason == "missing_response" for each in instances),
        histograms=_histograms(instances),
        instances=instances,
        level=level,
    )


def unrelated_effect(with_option: Grading, without_option: Grading) -> UnrelatedEffect:
    """Return the effect of the unrelated option: the difference of the two runs, instance by instance.

    The share chosen is sum(choices of the unrelated option) / sum(answers): 0 for a judge that reads, 1 / (N + 1) for
    one that chooses by place or at random. The differences are means over the instances scored in both runs, in
    [-1, 1], positive if the judge is steadier with the unrelated option. What chance brings depends on the number of
    options, so that the plain difference of a random judge is not 0; that of the corrected scores is.

    Source: Iourovitski (2024), arXiv:2406.12043v2, section 4.6.

    Args:
        with_option: The run in which every instance's last candidate is the unrelated one.
        without_option: The same instances without it.
    """
    level = with_option.level
    offered = [each.n_options > 0 for each in with_option.instances]
    shown = [each for each in with_option.instances if each.n_options]
    chosen, answered = [each.chosen[-1] for each in shown], [each.answered for each in shown]
    (share,) = ratio_intervals(chosen, answered, level=IntervalLevel.of(level).only(offered))
    pairs = list(zip(with_option.instances, without_option.instances, strict=True))
    least, least_without = (
        _least_corrected(chance for each in run.instances for chance in each.chances)
        for run in (with_option, without_option)
    )

    def mean_difference(name: str, bounds: tuple[float, float]) -> Interval | Missing:
        scores = np.array([(getattr(more, name), getattr(fewer, name)) for more, fewer in pairs], dtype=float)
        scores = scores.reshape(-1, 2)
        (difference,) = mean_intervals(scores[:, 0] - scores[:, 1], level=level, bounds=bounds)
        return or_missing(difference, "no instance is scored in both runs")

    return UnrelatedEffect(
        chosen=or_missing(share, "no option was chosen"),
        difference=mean_difference("grade_score", (-1.0, 1.0)),
        corrected_difference=mean_difference("chance_corrected", (least - 1, 1 - least_without)),
        num_paired=sum(None not in (more.grade_score, fewer.grade_score) for more, fewer in pairs),
    )


def _counts(votes: Sequence[Vote], n_options: int) -> tuple[IntArray, IntArray]:
    """Count how often each place, and each candidate, was chosen."""
    chosen = [
        (vote.order.index(vote.selected_index), vote.selected_index)
        for vote in votes
        if vote.selected_index is not None
    ]
    pairs = np.array(chosen, dtype=np.int64).reshape(-1, 2)
    places, candidates = (np.bincount(column, minlength=n_options) for column in pairs.T)
    return places, candidates


def grade_instance(votes: Sequence[Vote], *, seed: int = 0) -> InstanceGrade:
    """Return the grade of one judge's votes on one instance."""
    n_options = len(votes[0].order) if votes else 0
    drawn = by_key((vote.sample, vote) for vote in sorted(votes, key=lambda vote: vote.sample))
    scores, chances = [], []
    for cast in drawn.values():
        by_place, by_candidate = _counts(cast, n_options)
        if (answered := int(by_place.sum())) >= 2:
            chance = grade_score_chance(n_options, answered, seed=seed)
            own, even, favourite = (float(part[0]) for part in grade_score_parts(by_place[None], by_candidate[None]))
            scores.append((own, (own - chance) / (1 - chance), even, favourite))
            chances.append(chance)
    score, corrected, evenness, share = np.mean(scores, axis=0).tolist() if scores else [None] * 4
    places, candidates = _counts(votes, n_options)
    reasons = [vote.unscored_reason for vote in votes if vote.unscored_reason is not None]
    reason = most_frequent_reason(reasons) if reasons else "missing_response"
    return InstanceGrade(
        n_options=n_options,
        grade_score=score,
        chance_corrected=corrected,
        llm_score=evenness,
        choice_score=share,
        asked=sum(vote.unscored_reason not in WITHHELD for vote in votes),
        chosen=tuple(candidates.tolist()),
        places=tuple(places.tolist()),
        unscored_reason=None if scores else reason,
        chances=tuple(chances),
    )


def _least_corrected(chances: Iterable[float]) -> float:
    """Return the least possible score corrected for chance."""
    return min((-chance / (1 - chance) for chance in chances), default=0.0)


def _histograms(instances: Sequence[InstanceGrade]) -> tuple[ChoiceHistograms, ...]:
    found = []
    for n_options in sorted({each.n_options for each in instances if each.answered}):
        own = [each for each in instances if each.n_options == n_options]
        tests = (uniformity([each.places for each in own]), uniformity([each.chosen for each in own]))
        found.append(ChoiceHistograms(n_options, *tests))
    return tuple(found)


_OF_INSTANCES: Final = ("grade_score", "llm_score", "choice_score", "asked", "answered", "unscored_reason")


class GradeAnalysis(Analysis):
    """The result of :func:`evenhand.grade_scores`: every vote, and the Grade Score of each judge under each prompt."""

    kind: ClassVar = "grade_scores"
    judged: ClassVar = ("criterion",)
    names: ClassVar = ("prompt", "with_unrelated", "instance")
    rows_by: ClassVar = ("judge", "prompt", "unrelated_option", "instance")
    compared: ClassVar = ("grade_score", "grade_score")
    same_rows: ClassVar = ("prompt", "with_unrelated")

    def read(self, cells: Iterable[Cell]) -> Iterable[Cell]:
        """Return the cells: instances, each under one prompt, with or without an unrelated option."""
        return cells

    @cached_property
    def runs(self) -> Mapping[tuple[str, bool], list[Cell]]:
        """``(prompt, with the unrelated option?)`` -> the instances."""
        return by_key(((cell.about["prompt"], cell.about["with_unrelated"]), cell) for cell in self.entries)

    @cached_property
    def gradings(self) -> Mapping[tuple[str, str, bool], Grading]:
        """``(judge, prompt, with the unrelated option?)`` -> the Grade Score and what it rests on."""
        level = self.level_over([cell.about["cluster"] for cell in next(iter(self.runs.values()))])
        found = {}
        for judge, (run, own) in product(self.parameters["judges"], self.runs.items()):
            votes = [[vote for vote in cell.votes if vote.judge_id == judge] for cell in own]
            found[judge, *run] = grade(votes, level=level, seed=self.parameters["seed"])
        return found

    @cached_property
    def unrelated_effects(self) -> Mapping[tuple[str, str], UnrelatedEffect]:
        """``(judge, prompt)`` -> what the unrelated option changes; empty if none was asked with."""
        return {
            (judge, prompt): unrelated_effect(grading, self.gradings[judge, prompt, False])
            for (judge, prompt, unrelated), grading in self.gradings.items()
            if unrelated and (judge, prompt, False) in self.gradings
        }

    def reported(self) -> Iterator[Reported]:
        """Return the measures of each judge under each prompt, and the effect of an unrelated option."""
        for (judge, prompt, unrelated), grading in self.gradings.items():
            of = (judge, prompt, *(["unrelated"] if unrelated else []))
            yield Reported("", of, grading, grading.num_scored, grading.unscored_counts)
        for run, effect in self.unrelated_effects.items():
            yield Reported("unrelated", run, effect, effect.num_paired)

    def asked(self) -> Iterator[QuestionAsked]:
        """Give the choices of each run, which have no verdict."""
        for about, votes in self.stored.cells():
            run = (about["instance"], about["prompt"], *(["unrelated"] if about["with_unrelated"] else []))
            names = (*about["candidates"], *([] if about["unrelated"] is None else ["(unrelated)"]))
            yield QuestionAsked(
                name="/".join(map(str, run)),
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=names,
                systems=names,
                selected=None,
                score=None,
                verdict=Verdict() if votes else MISSING_RESPONSE,
                compares=True,
                offered=tuple(f"Option {place + 1}" for place in range(len(names))),
            )

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of scores, the effect of the unrelated option if there is one, and the places chosen."""
        level, labels = format_level(self.parameters["level"]), ("judge", "prompt", "unrelated")
        scores = (
            Column("LLM\nscore", "llm_score", limits=False),
            Column("choice\nscore", "choice_score", limits=False),
            Column(f"Grade Score\n[{level}]", "grade_score"),
            Column("random\njudge", "chance"),
            Column(f"corrected\n[{level}]", "chance_corrected"),
            Column("answered", "answered", limits=False),
            Column("n", "num_scored"),
        )
        effects = (
            Column(f"chosen [{level}]", "chosen"),
            Column(f"Grade Score\nwith − without [{level}]", "difference"),
            Column(f"corrected\nwith − without [{level}]", "corrected_difference"),
        )
        title = f"Grade Score of {', '.join(self.parameters['judges'])} on {self.criterion.name}"
        runs = {(*run, "yes" if unrelated else "no"): each for (*run, unrelated), each in self.gradings.items()}
        missing = max(grading.num_missing_response for grading in runs.values())
        notes = [
            *([f"Instances with fewer than two candidates that have a text: {missing}."] if missing else []),
            *self.run_notes,
            *([GRADED_ON_OTHERS] if self.unscored_counts.unscored_votes else []),
        ]
        tables = [measures_table(title, labels, runs, scores, notes, kind="scores")]
        if found := self.unrelated_effects:
            title = "An unrelated option among the candidates"
            tables.append(measures_table(title, labels[:2], found, effects, kind="unrelated"))
        histograms = [((*run, str(each.n_options)), each) for run, own in runs.items() for each in own.histograms]
        places = [
            *(
                Column(str(place + 1), partial(_share_of_place, place))
                for place in range(max((each.n_options for _, each in histograms), default=0))
            ),
            Column("p", lambda each: format_p_value(each.places.p_value)),
            Column("p of candidates", lambda each: format_p_value(each.candidates.p_value)),
        ]
        title = "Which places were chosen (p: are all places chosen equally often; instances shifted as wholes)"
        return (*tables, measures_table(title, (*labels, "candidates"), histograms, places, kind="places"))

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each judge, prompt, run and instance."""
        for (judge, prompt, unrelated), grading in self.gradings.items():
            for (about, cast), one in zip(self.runs[prompt, unrelated], grading.instances, strict=True):
                record: dict[str, Any] = {
                    "judge": judge,
                    "prompt": prompt,
                    "unrelated_option": unrelated,
                    "instance": about["instance"],
                    "candidates": about["candidates"],
                    "missing_candidates": about["missing"],
                    "unrelated": about["unrelated"],
                    "chance_corrected_grade_score": one.chance_corrected,
                    **{name: getattr(one, name) for name in _OF_INSTANCES},
                    "places": list(one.places),
                    "chosen": list(one.chosen),
                }
                yield with_votes(record, (vote for vote in cast if vote.judge_id == judge), votes=votes)


def _share_of_place(place: int, found: ChoiceHistograms) -> str:
    """Return the share of a place; empty if there are fewer."""
    counts = found.places.counts
    return format_percent(counts[place] / sum(counts)) if place < len(counts) else ""

"""Best of N: the candidates of one instance, the question, the selection, and the selection rates.

A candidate without a text is left out before it is asked about. Every measure here treats the candidates alike: no tie
is decided by who comes first.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation.verdict import check_mean_over_draws, most_frequent_reason
from evenhand.criteria import Criterion
from evenhand.errors import EvenhandWarning, InvalidInputError, InvalidPromptError, UnknownRuleError, did_you_mean
from evenhand.judging.conversation import Flow
from evenhand.modes.mode import Mode, Result, Subject
from evenhand.numbers import Missing, UnscoredBounds
from evenhand.options import NEEDS_ALL_DRAWS, FlowName
from evenhand.question import Question, choice_criterion
from evenhand.results.measures import measure, or_missing
from evenhand.scoring import VoteMeasures, bounded_mean, vote_measures
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.votes import UnscoredReason, Verdict, Vote

CHOICE_PROMPTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "select": "best_of_select",
        "evaluate_first": "best_of_evaluate_first",
        "avoid_order_bias": "best_of_avoid_order_bias",
        "grade": "best_of_grade",
    }
)
"""The name of each of the four ways of asking -> the prompt."""

CHOICE_POSITION_RULES: Final = ("average", "abstain", "first")
"""The values of a disagreement between orders when the best of several is chosen, the default first."""

CHOICE_PANEL_RULES: Final = ("mode", "weighted_mode", "unanimous")
"""The rules by which a panel's choices become one, the default first."""


def choice_prompt(prompt: str | None, flow: FlowName) -> str | None:
    """Return the prompt that a name of :data:`CHOICE_PROMPTS` stands for, or a text of the user's own.

    None if the flow has its own prompt. A text is checked when the run begins
    (:meth:`~evenhand.judging.conversation.Flow.check_prompt`).

    Raises:
        InvalidPromptError: If there is no such prompt, or the flow does not ask in one step, as all four do.

    >>> choice_prompt("grade", "one_step"), choice_prompt(None, "verdict_only")
    ('best_of_grade', None)
    """
    if prompt is None:
        return CHOICE_PROMPTS["evaluate_first"] if flow == "one_step" else None
    known: dict[str, str] = {**CHOICE_PROMPTS, **{name: name for name in CHOICE_PROMPTS.values()}}
    if "{{" in prompt:
        return prompt
    if prompt not in known:
        raise InvalidPromptError(
            f"the prompt {prompt[:80]!r} cannot ask for the best of several candidates. "
            f"{did_you_mean(prompt, CHOICE_PROMPTS)} A text of your own names {{{{ responses }}}}"
        )
    if flow != "one_step":
        raise InvalidPromptError(
            f"prompt={prompt!r} asks for reasons and choice in one reply, which flow={flow!r} does not: set "
            "flow='one_step', or leave the prompt out"
        )
    return known[prompt]


@dataclass(frozen=True)
class ChoiceMode(Mode[Result]):
    """The base of the modes in which a judge chooses among candidates.

    The prompt may be named in short: see :data:`CHOICE_PROMPTS`.
    """

    def __post_init__(self) -> None:
        if self.options.scoring != "selected":
            raise InvalidInputError(
                f"scoring is {self.options.scoring!r}, but a choice among candidates has no values to average: leave "
                "it out"
            )
        choice_prompt(self.options.prompt, self.options.flow)

    @cached_property
    def flow(self) -> Flow:
        """How a judge is asked, with the prompt under its full name."""
        return Flow.of(self.options, prompt=choice_prompt(self.options.prompt, self.options.flow))


def choice_question(about: Subject, unrelated: str | None = None) -> Question | None:
    """Return the question which of the candidates is the best; None if fewer than two have a text.

    Args:
        about: The candidates; those that have a text are the options, in this order. It is judged by a criterion that
            says what makes one the best, whose options play no part.
        unrelated: The text of an option from elsewhere, which becomes the last one.
    """
    if len(about.responses) < 2:
        return None
    responses = about.responses if unrelated is None else (*about.responses, unrelated)
    criterion: Criterion = about.judged
    choice = choice_criterion(
        criterion.name, criterion.description, len(responses), context_fields=criterion.context_fields
    )
    identifier = about.row_name if unrelated is None else f"{about.row_name}/unrelated"
    return about.question(identifier, choice, responses, mode="choose")


class EqualCandidatesWarning(EvenhandWarning):
    """Candidates of one instance have the same text, so that no judge can distinguish them."""


def warn_of_equal_candidates(rows: Sequence[Subject]) -> None:
    """Warn (:class:`EqualCandidatesWarning`) of instances in which two candidates have the same text."""
    alike = [row.instance for row in rows if len(set(row.responses)) < len(row.responses)]
    if alike:
        warnings.warn(
            f"in {len(alike)} of {len(rows)} instances (first in {alike[0]}) candidates have the same text: between "
            "them a judge can only go by the place, and seems to change its mind. Leave one of them out",
            EqualCandidatesWarning,
            stacklevel=3,
        )


TOLERANCE = 1e-9

Shares = NDArray[np.float64]


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

    def __post_init__(self) -> None:
        super().__post_init__()
        offered = {"aggregation": CHOICE_PANEL_RULES, "on_position_bias": CHOICE_POSITION_RULES}
        for name, accepted in offered.items():
            rule = getattr(self.options, name)
            if rule is not None and rule not in accepted:
                raise UnknownRuleError(
                    f"{name} is {rule!r}, which does not fit a choice of the best candidate. "
                    f"{did_you_mean(str(rule), accepted)}"
                )
        if self.options.stop_early:
            raise InvalidInputError(
                "stop_early does not go with the best of N, where an instance gives each candidate the share of its "
                f"draws: {NEEDS_ALL_DRAWS}; leave it out"
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
    by_judge: dict[str, list[Vote]] = {}
    for vote in votes:
        by_judge.setdefault(vote.judge_id, []).append(vote)
    judged = [_judge_shares(own, len(names), policy) for own in by_judge.values()]
    weights = np.array([own[0].weight if aggregation == "weighted_mode" else 1.0 for own in by_judge.values()])
    known = [shares is not None for shares, _, _ in judged]
    own_shares = [shares for shares, _, _ in judged if shares is not None]
    shares: Shares | None = np.average(own_shares, axis=0, weights=weights[known]) if own_shares else None
    leader = None if shares is None else _leader(shares)
    if aggregation == "unanimous" and any(each is None or _leader(each) != leader for each, _, _ in judged):
        leader = None
    consistent = [orders for _, _, orders in judged if orders is not None]
    # a judge set aside may have chosen none or any candidate; so may the unscored part of another
    counted = np.array(known) | (policy != "abstain")
    low = np.array([least for _, least, _ in judged]) * counted[:, None]
    low, spare = np.average(low, axis=0, weights=weights), np.average(1 - low.sum(axis=1), weights=weights)
    ends = np.stack([low, low + spare])
    if shares is not None:
        ends = np.stack([np.minimum(ends[0], shares), np.maximum(ends[1], shares)])
    unscored_reason: UnscoredReason | None = None
    if leader is None and (shares is not None or (policy == "abstain" and not all(consistent))):
        unscored_reason = "inconsistent"
    elif leader is None:
        reasons = [vote.unscored_reason or "no_match" for vote in votes if vote.selected_index is None]
        unscored_reason = most_frequent_reason(reasons)
    ahead = [] if shares is None else np.flatnonzero(shares >= shares.max() - TOLERANCE).tolist()
    return Selection(
        names=names,
        missing=missing,
        shares=None if shares is None else tuple(shares.tolist()),
        selected=None if leader is None else names[leader],
        position_consistent=all(consistent) if consistent else None,
        agreement=max(
            (sum(vote.selected_index == place for vote in votes) / len(votes) for place in ahead), default=None
        ),
        bounds=tuple(map(tuple, np.clip(ends, 0.0, 1.0).T.tolist())),
        unscored_reason=unscored_reason,
        votes=tuple(votes),
    )


def _judge_shares(votes: Sequence[Vote], count: int, policy: str) -> tuple[Shares | None, Shares, bool | None]:
    """Return one judge's shares over its answers, those over all votes asked, and whether its orders agree.

    The first are None without an answer, and where the judge is set aside; the last is None with fewer than two orders
    that were answered.
    """
    by_order: dict[tuple[int, ...], list[int | None]] = {}
    for vote in votes:
        by_order.setdefault(vote.order, []).append(vote.selected_index)
    drawn = [by_order[order] for order in sorted(by_order)]
    counts = np.array([[own.count(place) for place in range(count)] for own in drawn], dtype=float)
    answered = counts.sum(axis=1) > 0
    leaders = {_leader(own) for own in counts[answered]}
    consistent = len(leaders) == 1 and None not in leaders if answered.sum() > 1 else None
    if policy == "first":
        drawn, counts, answered = drawn[:1], counts[:1], answered[:1]
    aside = policy == "abstain" and len(drawn) > 1 and not (consistent and answered.all())
    read = counts[answered]
    shares = None if aside or not len(read) else (read / read.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares, (counts / [[len(own)] for own in drawn]).mean(axis=0), consistent


def _leader(shares: Shares) -> int | None:
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

"""The votes on one question to one verdict: samples, then orders, then judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypedDict, cast

from pydantic import model_validator

from evenhand.aggregation.collapse import (
    SELECTED,
    JudgeResult,
    Scoring,
    collapse_orders,
    is_na,
)
from evenhand.aggregation.early_stop import draws_are_settled, draws_left_out, order_result
from evenhand.aggregation.rules import (
    RULES,
    UNNAMED_TIE,
    WEIGHTED_RULES,
    Ballot,
    Choice,
    Levels,
    average_of,
    check_on_position_bias,
    check_rule,
    check_weights,
    panel_choice,
)
from evenhand.criteria import Criterion, Scale, fold_label
from evenhand.errors import InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.options import RuleOptions
from evenhand.votes import UnscoredReason, Verdict, Vote, unselected_draws

REASONS_BY_SEVERITY: tuple[UnscoredReason, ...] = (
    "missing_response",
    "not_asked",
    "mock_mode",
    "offline",
    "engine_error",
    "budget",
    "content_filter",
    "refusal",
    "too_long",
    "truncated",
    "empty",
    "abstained",
    "quoted",
    "no_match",
    "ambiguous",
    "inconsistent",
    "no_value",
    "stopped_early",
)
"""Which of two equally frequent reasons is named: the one further from an answer comes first."""


def most_frequent_reason(reasons: Iterable[UnscoredReason]) -> UnscoredReason:
    """The most frequent of at least one reason; the most severe of equally frequent ones.

    Example:
        >>> most_frequent_reason(["refusal", "no_match", "no_match"]), most_frequent_reason(["no_match", "refusal"])
        ('no_match', 'refusal')
    """
    counts = Counter(reasons)
    return min(counts, key=lambda reason: (-counts[reason], REASONS_BY_SEVERITY.index(reason)))


TIE_LABEL = "tie"


def aggregate(
    votes: Sequence[Vote],
    criterion: Criterion,
    rule: str | None = None,
    *,
    weights: Mapping[str, float] | None = None,
    on_position_bias: str | None = None,
    scoring: Scoring = SELECTED,
) -> Verdict:
    """Collapse all votes on one question to one verdict, from the inside out.

    Unscored and NA votes are set aside first. If no vote is left, the verdict is NA when all that answered said NA,
    and else unscored with the most frequent reason (:data:`REASONS_BY_SEVERITY` decides between equally frequent
    ones).

    **samples** of one judge in one order. Ordinal and graded pairwise: the median of the values, snapped to an option.
    Binary and nominal: the mode. Pairwise: the side drawn most often, no single winner being a tie. Under
    ``Scoring(expected=True)``, on every scale: the mean over the draws of the value expected under each vote's
    probabilities, snapped to an option.

    **orders** of one judge. One order asked: it stands. Otherwise ``on_position_bias`` decides:

    - ``average`` (default for options with values): the mean of the orders' values; the option is the nearest one
      (binary and nominal: the mode of the orders).
    - ``tie`` (pairwise only, its default): orders that name different winners make a tie, ½; orders that agree on the
      winner and differ in the grade are averaged.
    - ``abstain`` (default for options without values): the judge is set aside unless all orders that answered agree
      (pairwise: on the winner, whatever the grade); pairwise grades that differ are averaged.
    - ``first``: the given order stands alone (the identity permutation; if it was not asked, the lowest permutation
      that was), even when it is unscored and another is not.

    ``position_consistent`` says whether all orders that answered select the same option (pairwise: the same winner).
    A single scored order where more were asked is not debiased. ``abstain`` sets it aside; ``average`` and ``tie`` use
    it, and ``position_consistent`` is None.

    **judges**. The rules of each scale are in :data:`RULES`. Rules that average (``mean``, ``weighted_mean``,
    ``median``) keep the number in ``aggregated_value`` and snap it to the nearest option that is not NA, unless all
    judges chose the same option. Rules that select count each judge for one option; ``aggregated_value`` is then the
    mean value of the judges that selected it, which differs from ``value`` only where a judge's orders were averaged.
    ``min`` and ``max`` take the lowest and highest value, the lowest index among equal values. Binary ``unanimous`` is
    met if every judge says so, ``any`` if one does. ``majority`` and ``mode`` are of the judges that chose something;
    ``absolute_majority`` is of all that were asked, so that a judge whose vote is unscored or NA counts against it:
    binary is met where more than half of all say so, and a response wins where more than half of all prefer it; else it
    is not met, or a tie. Where nobody chose anything, the verdict is unscored under this rule too. Nominal
    ``unanimous`` selects the NA option on disagreement; without one it falls back to ``mode`` with an
    :class:`AggregationWarning`. Weighted rules set aside the judges of weight 0.

    **Ties** (of counts, of weights within 1e-9 of the heaviest, of distances within 1e-9 of the range of the values) go
    to the option that scores worst (:meth:`~evenhand.aggregation.rules.Levels.worst`). Pairwise ties favour neither
    side: they are a tie, ½, and where no option names it ``selected_index`` is None and ``selected_label`` is
    ``"tie"``.

    **Without values** (``criterion.has_values`` is False) rules that need them select by ``mode``; the selection is
    reported, and ``unscored_reason`` is ``no_value`` where the option selected has none.

    **Draws that could stop early** give what they settled, and nothing that the stop would bias:
    :mod:`evenhand.aggregation.early_stop` says which number is which. ``agreement`` is then that of the draws which are
    made whatever the others say, ``spread`` is missing, expected values are refused, and a verdict of draws that
    stopped before they settled what this criterion comes to is unscored (``stopped_early``).

    The order of ``votes`` never matters. Two votes with the same judge, order and sample are two draws.

    Args:
        votes: All votes on the question, the unscored ones included; at least one.
        criterion: Whose options were voted on. Values are read from it, not from the votes.
        rule: The panel rule; None for the scale's default.
        weights: judge_id -> weight, for every judge that voted; None for each vote's own ``weight``. A rule that is
            not weighted ignores them.
        on_position_bias: What to do when a judge's orders disagree; None for the default.
        scoring: Whether a vote counts the option that it selects, or the expected value of its probabilities.

    Raises:
        InvalidInputError: If there are no votes, a vote does not fit the criterion, or a weight is missing, negative
            or not finite, every judge weighs 0, or draws that could stop early are averaged.
        InvalidCriterionError: If a pairwise criterion has an option without a value.
        UnknownRuleError: If ``rule`` or ``on_position_bias`` does not exist or does not fit the criterion.

    Example:
        >>> from evenhand.criteria import Option
        >>> levels = tuple(Option(label=name, value=value) for name, value in [("Bad", 0), ("Fair", 0.5), ("Good", 1)])
        >>> both_orders = [
        ...     Vote(judge_id="a", order=(0, 1, 2), selected_index=2),
        ...     Vote(judge_id="a", order=(2, 1, 0), selected_index=1),
        ... ]
        >>> verdict = aggregate(both_orders, Criterion(name="clear", description="", options=levels))
        >>> verdict.aggregated_value, verdict.selected_label, verdict.position_consistent
        (0.75, 'Fair', False)
    """
    collapse = partial(
        _collapse,
        criterion=criterion,
        rule=rule,
        weights=weights,
        on_position_bias=on_position_bias,
        scoring=scoring,
    )
    verdict = collapse(votes)
    unscored = [vote for vote in votes if vote.unscored]
    if not unscored or not criterion.has_values:
        return verdict
    filled = [_filled(votes, criterion, best=best) for best in (False, True)]
    low, high = (collapse(each).aggregated_value for each in filled)
    if low is None or high is None:  # an inconsistent verdict abstains whatever the missing votes are
        return verdict
    return verdict.model_copy(update={"bounds": (min(low, high), max(low, high))})


def _filled(votes: Sequence[Vote], criterion: Criterion, *, best: bool) -> list[Vote]:
    """The votes, each unscored one replaced by a vote for the option of the lowest or the highest value."""
    valued = [(option.value, index) for index, option in enumerate(criterion.options) if option.value is not None]
    index = (max if best else min)(valued)[1]
    label = criterion.options[index].label
    filling = {"selected_index": index, "selected_label": label, "unscored_reason": None, "early_stop": None}
    filled = []
    for draws in (draws for orders in _grid(votes, Levels.of(criterion)).values() for draws in orders.values()):
        read = [vote.selected_index is not None or vote.na for vote in draws]
        whole = [vote if known else vote.model_copy(update=filling) for vote, known in zip(draws, read, strict=True)]
        left, stop = draws_left_out(draws), draws[0].early_stop
        if stop is not None and not all(read):  # what could have been said may not have ended the draws
            if not draws_are_settled(whole, criterion, left, confidence=stop.confidence):
                whole += [draws[0].model_copy(update=filling)] * left
            whole = [vote.model_copy(update={"early_stop": None}) for vote in whole]
        filled += whole
    return filled


def _collapse(
    votes: Sequence[Vote],
    *,
    criterion: Criterion,
    rule: str | None,
    weights: Mapping[str, float] | None,
    on_position_bias: str | None,
    scoring: Scoring,
) -> Verdict:
    if not votes:
        raise InvalidInputError(
            f"there are no votes on {criterion.name!r} to aggregate; a call that failed is a vote with a reason"
        )
    levels = Levels.of(criterion)
    rule = check_rule(rule, criterion.scale)
    policy = check_on_position_bias(on_position_bias, criterion.scale, has_values=levels.has_values)
    grid = _grid(votes, levels)
    judge_weights = _judge_weights(grid, weights, rule)
    cells = {
        judge: {order: order_result(draws, levels, scoring) for order, draws in orders.items()}
        for judge, orders in grid.items()
    }
    results = {judge: collapse_orders(orders, policy, levels) for judge, orders in cells.items()}
    reliability = _reliability(votes, results)
    if any(cell.undecided for orders in cells.values() for cell in orders.values()):
        return Verdict(unscored_reason="stopped_early", **reliability)
    counted = {judge: result for judge, result in results.items() if judge_weights[judge] > 0}
    ballots = [
        Ballot(result.choice, judge_weights[judge]) for judge, result in counted.items() if result.choice is not None
    ]
    if ballots:
        asked = sum(any(vote.asked for draws in orders.values() for vote in draws) for orders in grid.values())
        return _scored_verdict(votes, levels, panel_choice(ballots, rule, levels, asked), reliability)
    if any(result.na for result in counted.values()) and not any(result.abstains for result in counted.values()):
        return _na_verdict(votes, levels, reliability)
    contradicting = [judge for judge, result in counted.items() if result.abstains and result.consistent is False]
    inconsistent = sum(vote.scored for judge in contradicting for draws in grid[judge].values() for vote in draws)
    return Verdict(unscored_reason=_reason(votes, inconsistent), **reliability)


_Grid = dict[str, dict[tuple[int, ...], list[Vote]]]


def _grid(votes: Sequence[Vote], levels: Levels) -> _Grid:
    grid: _Grid = {}
    size = len(levels.values)
    for vote in votes:
        index = vote.selected_index
        if index is not None:
            if not 0 <= index < size:
                raise InvalidInputError(
                    f"a vote of {vote.judge_id!r} selects option {index!r} of {levels.criterion.name!r}, "
                    f"which has the options 0 … {size - 1}: aggregate it with the criterion it was cast on"
                )
            label = levels.criterion.options[index].label
            if vote.selected_label is not None and vote.selected_label != label:
                _check_label(vote, label, levels.criterion.name)
        grid.setdefault(vote.judge_id, {}).setdefault(vote.order, []).append(vote)
    return grid


def _check_label(vote: Vote, label: str, name: str) -> None:
    if vote.selected_label is not None and fold_label(vote.selected_label) != fold_label(label):
        raise InvalidInputError(
            f"a vote of {vote.judge_id!r} selects {vote.selected_label!r} as option {vote.selected_index!r} of "
            f"{name!r}, but that option is {label!r}: aggregate it with the criterion it was cast on"
        )


def _judge_weights(grid: _Grid, weights: Mapping[str, float] | None, rule: str) -> Mapping[str, float]:
    if weights is not None:
        check_weights(weights)
    if rule not in WEIGHTED_RULES:
        return dict.fromkeys(grid, 1.0)
    found = {judge: _judge_weight(judge, orders, weights) for judge, orders in grid.items()}
    check_weights(found)
    return found


def _judge_weight(
    judge: str, orders: Mapping[tuple[int, ...], Sequence[Vote]], weights: Mapping[str, float] | None
) -> float:
    if weights is not None:
        if judge not in weights:
            raise InvalidInputError(f"the weights {dict(weights)!r} name no weight for the judge {judge!r}; add it")
        return weights[judge]
    cast = {vote.weight for draws in orders.values() for vote in draws}
    if len(cast) > 1:
        raise InvalidInputError(
            f"the votes of {judge!r} have different weights {sorted(cast)!r}; a judge has one weight"
        )
    return cast.pop()


class _Reliability(TypedDict):
    """The fields of a verdict that do not depend on what is selected."""

    position_consistent: bool | None
    spread: float | None
    draw_variance: float | None
    votes: tuple[Vote, ...]


def _reliability(votes: Sequence[Vote], results: Mapping[str, JudgeResult]) -> _Reliability:
    consistent = [result.consistent for result in results.values() if result.consistent is not None]
    spreads = [spread for result in results.values() for spread in result.spreads]
    variances = [variance for result in results.values() for variance in result.variances]
    return {
        "position_consistent": all(consistent) if consistent else None,
        "spread": average_of(spreads) if spreads else None,
        "draw_variance": average_of(variances) if variances else None,
        "votes": tuple(votes),
    }


def _scored_verdict(votes: Sequence[Vote], levels: Levels, choice: Choice, reliability: _Reliability) -> Verdict:
    index, number = choice
    if index == UNNAMED_TIE:
        return Verdict(
            selected_label=TIE_LABEL,
            value=0.5,
            aggregated_value=number,
            agreement=0.0,
            assessment=_assessment(votes, levels, index, number),
            **reliability,
        )
    na = levels.na[index]
    return Verdict(
        selected_index=index,
        selected_label=levels.criterion.options[index].label,
        value=levels.values[index],
        aggregated_value=number,
        na=na,
        agreement=_share(votes, lambda vote: vote.selected_index == index),
        unscored_reason="no_value" if number is None and not na else None,
        assessment=_assessment(votes, levels, index, number),
        **reliability,
    )


def _na_verdict(votes: Sequence[Vote], levels: Levels, reliability: _Reliability) -> Verdict:
    said = Counter(
        vote.selected_index for vote in votes if vote.selected_index is not None and levels.na[vote.selected_index]
    )
    index = min(said, key=lambda option: (-said[option], option)) if said else levels.criterion.na_index

    def agrees(vote: Vote) -> bool:
        return is_na(vote, levels) and vote.selected_index in {index, None}

    return Verdict(
        selected_index=index,
        selected_label=None if index is None else levels.criterion.options[index].label,
        na=True,
        agreement=_share(votes, agrees),
        assessment=_first_assessment([vote for vote in votes if agrees(vote)]),
        **reliability,
    )


def _share(votes: Sequence[Vote], agrees: Callable[[Vote], bool]) -> float | None:
    """The share of those asked who agree; what the budget held back dissents from nothing."""
    counted = [vote for vote in unselected_draws(votes) if vote.asked]
    return sum([agrees(vote) for vote in counted]) / len(counted) if counted else None


def _assessment(votes: Sequence[Vote], levels: Levels, index: int, number: float | None) -> str | None:
    """The reasons of a vote for the final choice; where no vote selected it, of the vote nearest in value."""
    reasoned = [vote for vote in votes if vote.assessment is not None and vote.selected_index is not None]
    chosen = [vote for vote in reasoned if vote.selected_index == index]
    if chosen or number is None:
        return _first_assessment(chosen)
    valued = [(vote, levels.values[vote.selected_index]) for vote in reasoned if vote.selected_index is not None]
    distances = [(abs(value - number), vote) for vote, value in valued if value is not None]
    nearest = min((distance for distance, _ in distances), default=0.0)
    return _first_assessment([vote for distance, vote in distances if distance <= nearest + levels.tolerance])


def _first_assessment(votes: Sequence[Vote]) -> str | None:
    """The reasons given first: in the given order of options before any other, in the first draw."""
    reasoned = [
        (vote.order, vote.judge_id, vote.sample, vote.assessment) for vote in votes if vote.assessment is not None
    ]
    return min(reasoned)[-1] if reasoned else None


def _reason(votes: Sequence[Vote], inconsistent: int) -> UnscoredReason:
    """The reason of the unscored votes, beside the scored ones that contradict each other."""
    reasons: list[UnscoredReason] = ["inconsistent"] * inconsistent
    reasons.extend(
        vote.unscored_reason or ("engine_error" if vote.error else "no_match")
        for vote in votes
        if vote.selected_index is None and not vote.na
    )
    return most_frequent_reason(reasons)


class VoteRules(RuleOptions):
    """How the votes on a question become a verdict."""

    @model_validator(mode="after")
    def _scales_have_their_rules(self) -> Self:
        if isinstance(self.aggregation, Mapping):
            for scale, rule in self.aggregation.items():
                if scale not in RULES:
                    raise UnknownRuleError(f"aggregation names the scale {scale!r}. {did_you_mean(scale, RULES)}")
                check_rule(rule, cast(Scale, scale))
        return self

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The rules that :meth:`parameters` wrote, among a table's other parameters; what is not there is a default."""
        return cls(**{name: parameters[name] for name in cls.model_fields if name in parameters})

    def parameters(self) -> dict[str, Any]:
        """The rules as plain JSON."""
        chosen = self.aggregation
        return {
            "aggregation": dict(chosen) if isinstance(chosen, Mapping) else chosen,
            "on_position_bias": self.on_position_bias,
            "scoring": self.scoring,
            "min_mass": self.min_mass,
        }

    def panel_rule(self, scale: Scale) -> str | None:
        """The panel rule for a scale; None for its default."""
        return self.aggregation.get(scale) if isinstance(self.aggregation, Mapping) else self.aggregation

    def check(self, scale: Scale, *, has_values: bool = True) -> None:
        """Check that the rules fit a scale.

        Raises:
            UnknownRuleError: If a rule does not belong to the scale.
            InvalidInputError: If there is no value to expect.
        """
        check_rule(self.panel_rule(scale), scale)
        check_on_position_bias(self.on_position_bias, scale, has_values=has_values)
        if self.scoring == "expected" and not has_values:
            raise InvalidInputError(
                "scoring='expected' is the mean of the options' values, and a criterion has options without a value: "
                "give each option a value, or use scoring='selected'"
            )

    def aggregate(
        self, votes: Sequence[Vote], criterion: Criterion, *, weights: Mapping[str, float] | None = None
    ) -> Verdict:
        """The verdict; see :func:`~evenhand.aggregation.aggregate`."""
        return aggregate(
            votes,
            criterion,
            self.panel_rule(criterion.scale),
            weights=weights,
            on_position_bias=self.on_position_bias,
            scoring=Scoring(expected=self.scoring == "expected", min_mass=self.min_mass),
        )

"""When no further draw of a judge in one order is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scipy.special import betainc

from evenhand.aggregation.collapse import collapse_samples, is_na
from evenhand.aggregation.levels import Levels
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.votes import Vote


def draws_are_settled(
    votes: Sequence[Vote], criterion: Criterion, remaining: int, *, confidence: float | None = None
) -> bool:
    r"""Whether further draws cannot change, or are unlikely to change, what a judge says in one order.

    Exact: whatever option each of the remaining draws selects, and however many of them select none, the draws
    collapse to the same choice (:func:`~evenhand.aggregation.aggregate`, section "samples"). It is enough to try each
    option for all of 1 to ``remaining`` further draws: counts move furthest towards an option, and a median towards an
    end of the scale, when all draws agree.

    By confidence: with :math:`c_1 \ge c_2` the draws of the two options selected most, both as probable beforehand,
    the share :math:`\theta` of the first among the two has the posterior
    :math:`\mathrm{Beta}(c_1 + 1, c_2 + 1)`; the draws are settled when
    :math:`P(\theta > \tfrac{1}{2}) \ge` ``confidence`` and the choice is that option. Looking after every draw
    makes a wrong stop likelier than 1 - ``confidence``: it is a rule for saving calls, not a test.

    Args:
        votes: The draws so far, unscored ones included.
        criterion: Whose options were voted on.
        remaining: Draws not made yet.
        confidence: In (½, 1); None for the exact rule alone.

    Raises:
        InvalidInputError: If ``confidence`` is out of its range.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> yes = Vote(judge_id="j", order=(0, 1), selected_index=0)
        >>> [draws_are_settled([yes] * 3, yes_no_criterion("met", "Is it met?"), remaining) for remaining in (2, 3)]
        [True, False]
    """
    check_confidence(confidence)
    levels = Levels.of(criterion)
    indices = [vote.selected_index for vote in votes if vote.selected_index is not None and not is_na(vote, levels)]
    choice = collapse_samples(votes, levels).choice
    if choice is None:
        return remaining == 0
    counts = Counter(indices).most_common(2)
    if confidence is not None and choice.option == counts[0][0]:
        runner_up = counts[1][1] if len(counts) > 1 else 0
        if posterior_of_lead(counts[0][1], runner_up) >= confidence:
            return True
    model = votes[0]
    further = [
        [model.model_copy(update={"selected_index": option, "na": False})] * draws
        for option in levels.scored
        for draws in range(1, remaining + 1)
    ]
    return all(collapse_samples([*votes, *draws], levels).choice == choice for draws in further)


def posterior_of_lead(leading: int, runner_up: int) -> float:
    """P(θ > ½) for θ ~ Beta(leading + 1, runner_up + 1): how sure it is that the leading option is the likelier one.

    >>> posterior_of_lead(4, 0)  # 1 − (1/2)^5
    0.96875
    """
    return float(1 - betainc(leading + 1, runner_up + 1, 0.5))


def check_confidence(confidence: float | None) -> None:
    """Raise :class:`~evenhand.errors.InvalidInputError` unless it is None or lies in (½, 1)."""
    if confidence is not None and not 0.5 < confidence < 1:
        raise InvalidInputError(
            f"confidence is {confidence!r}; give a number between 0.5 and 1, such as 0.95, or None to stop only when "
            "the remaining draws cannot change the outcome"
        )

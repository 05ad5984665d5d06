"""The votes on one question to a verdict, whoever recorded them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from evenhand.aggregation import aggregate as aggregate_votes
from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.recorded.reading import RecordedVotes, VoteReader, judge_weights
from evenhand.votes import Verdict, Vote


@takes()
def aggregate(
    votes: Sequence[Vote] | RecordedVotes,
    criterion: Criterion,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    on_position_bias: str | None = None,
    as_index: bool = False,
) -> Verdict:
    """Collapse all votes on one question to one verdict: :func:`evenhand.aggregation.aggregate`, for plain votes too.

    Args:
        votes: Votes that judges of evenhand cast; or recorded ones, a list with one a judge or a mapping judge -> vote,
            each a label, the value of an option, True or False, or None for an abstention (:mod:`evenhand.cells` says
            how they are read).
        criterion: Whose options were voted on.
        rule: The panel rule; None for the scale's default.
        weights: Judge -> weight, or for recorded votes in a list one weight a vote; None for equal weights (and for the
            votes of evenhand's judges, their own).
        on_position_bias: What to do when the orders of one judge disagree, which recorded votes have not.
        as_index: Recorded votes that are numbers are places of options, 0 for the first.

    Raises:
        InvalidInputError: If there are no votes, a vote or a weight cannot be used, or votes are of both kinds.
        UnknownRuleError: If ``rule`` does not exist or does not fit the criterion.

    >>> from evenhand.criteria import Option
    >>> levels = tuple(Option(label=name, value=value) for name, value in [("Bad", 0), ("Fair", 0.5), ("Good", 1)])
    >>> criterion = Criterion(name="clear", description="", options=levels)
    >>> aggregate(["Good", "Bad", None, "Good"], criterion, "median").selected_label
    'Good'
    >>> aggregate({"ann": 1, "bob": 0}, criterion, "weighted_mean", {"ann": 3, "bob": 1}).aggregated_value
    0.75
    """
    if _are_cast(votes):
        if weights is not None and not isinstance(weights, Mapping):
            raise InvalidInputError(f"the weights are {weights!r}; name the judges: a mapping judge_id -> weight")
        return aggregate_votes(
            cast("Sequence[Vote]", votes), criterion, rule, weights=weights, on_position_bias=on_position_bias
        )
    read = VoteReader.of(criterion, as_index=as_index).votes(votes, "the votes")
    by_judge = judge_weights(weights, read, "the votes")
    return aggregate_votes(read, criterion, rule, weights=by_judge, on_position_bias=on_position_bias)


def _are_cast(votes: object) -> bool:
    """Whether all votes are :class:`~evenhand.votes.Vote` values, of which there is at least one."""
    if isinstance(votes, Mapping) or not isinstance(votes, Sequence) or isinstance(votes, str):
        return False
    kinds = {isinstance(vote, Vote) for vote in votes}
    if len(kinds) > 1:
        raise InvalidInputError("some of the votes are Vote values and others plain labels; give one kind")
    return kinds == {True}

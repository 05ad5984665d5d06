"""Votes and contests by hand."""

from evenhand.aggregation.verdict import VoteRules
from evenhand.modes.winrates import Contest
from evenhand.question import comparison_criterion
from evenhand.votes import Vote

CHOICE = comparison_criterion("better", "Which is better?")
GRADED = comparison_criterion("better", "Which is better?", graded=True)


def vote(value, *, swapped=False, judge="j", criterion=CHOICE, sample=0, reason="no_match"):
    """A vote worth ``value`` for the contest's first system; None for an unscored one."""
    order = (1, 0) if swapped else (0, 1)
    if value is None:
        return Vote(judge_id=judge, order=order, sample=sample, unscored_reason=reason)
    index = next(place for place, option in enumerate(criterion.options) if option.value == value)
    return Vote(
        judge_id=judge,
        order=order,
        sample=sample,
        selected_index=index,
        selected_label=criterion.labels[index],
        value=value,
        assessment=f"{judge} says {value} in {order}",
    )


def contest(*values, first="a", second="b", instance=0, criterion=CHOICE, **rules):
    """A contest from the values for ``first`` in the given order and, where there is a second, in the swapped one."""
    votes = [vote(value, swapped=place == 1, criterion=criterion) for place, value in enumerate(values)]
    return held(votes, first=first, second=second, instance=instance, criterion=criterion, **rules)


def held(votes, *, first="a", second="b", instance=0, criterion=CHOICE, **rules):
    return Contest.of(votes, criterion, VoteRules(**rules), instance=instance, first=first, second=second)

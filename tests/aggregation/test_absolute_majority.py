"""The majority of all who were asked, by hand: who gave no vote counts in the denominator."""

import pytest

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import yes_no_criterion
from evenhand.question import comparison_criterion
from evenhand.votes import Vote

ASKED = yes_no_criterion("asked", "Is it so?", na=True)
YES, NO, NA = 0, 1, 2
REASONS = {None: "abstained", "budget": "budget"}


def cast(*chosen):
    """One vote a judge: an option, None for an abstention, ``budget`` for a judge that was not asked."""
    return [
        Vote(judge_id=f"j{place}", order=(0, 1), selected_index=each, na=each == NA)
        if isinstance(each, int)
        else Vote(judge_id=f"j{place}", order=(0, 1), unscored_reason=REASONS[each])
        for place, each in enumerate(chosen)
    ]


@pytest.mark.parametrize(
    ("votes", "majority", "of_all"),
    [
        ((YES, YES, NO), "Yes", "Yes"),
        ((YES, YES, None), "Yes", "Yes"),  # 2 of 3
        ((YES, None, None), "Yes", "No"),  # 1 of 3
        ((YES, YES, None, None), "Yes", "No"),  # 2 of 4 is half, and not more
        ((YES, YES, NO, None), "Yes", "No"),
        ((YES, YES, NO, None, YES), "Yes", "Yes"),  # 3 of 5
        ((YES, NA, NA), "Yes", "No"),
        ((YES, "budget", "budget"), "Yes", "Yes"),  # two were never asked
        ((NO, None, None), "No", "No"),
    ],
)
def test_yes_needs_more_than_half_of_all_who_were_asked(votes, majority, of_all):
    assert aggregate(cast(*votes), ASKED).selected_label == majority
    assert aggregate(cast(*votes), ASKED, "absolute_majority").selected_label == of_all


@pytest.mark.parametrize(
    ("votes", "value"), [((0, 0, 1), 1.0), ((0, None, None), 0.5), ((1, 1, None), 0.0), ((0, 0, 1, None), 0.5)]
)
def test_a_response_wins_with_more_than_half_of_all(votes, value):
    criterion = comparison_criterion("better", "")
    assert aggregate(cast(*votes), criterion, "absolute_majority").aggregated_value == value

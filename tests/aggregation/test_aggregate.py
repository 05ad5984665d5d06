"""Verdicts worked by hand, a small example for each rule, with the arithmetic next to it."""

import pytest

from evenhand.aggregation.verdict import (
    RULES,
    aggregate,
    check_rule,
    expected_value,
)
from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.question import comparison_criterion
from evenhand.votes import Vote
from tests.aggregation.builders import criterion_of, draws, orders, panel, vote

FIVE = criterion_of([0, 0.25, 0.5, 0.75, 1])
FIVE_FAULT = criterion_of([0, 0.25, 0.5, 0.75, 1], weight=-1)
TWINS = criterion_of([0, 0.5, 0.5, 1])
WITH_NA = criterion_of([0, 1, None], na=[2])
YES_NO = yes_no_criterion("c", "")
YES, NO = 0, 1
FAULT = yes_no_criterion("c", "", weight=-2)
BARE = criterion_of([None, None], scale="binary")
AB = comparison_criterion("better", "")
AB_TIE = comparison_criterion("better", "", allow_ties=True)
GRADED = comparison_criterion("better", "", graded=True)
CYCLE = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
ABSTAIN, FIRST, AVERAGE = ({"on_position_bias": policy} for policy in ("abstain", "first", "average"))


def in_cycle(*chosen):
    return [vote("j", option, order) for option, order in zip(chosen, CYCLE, strict=True)]


CHOSEN = {
    "ordinal panels": [
        (FIVE, panel(0, 1, 2, 4, 4), {}, 2, 0.55),  # (0 + .25 + .5 + 1 + 1) / 5 = 2.75 / 5; nearest .5
        (FIVE, panel(0, 1, 2, 4, 4), {"rule": "mean"}, 2, 0.55),
        (FIVE, panel(0, 1, 2, 4, 4), {"rule": "median"}, 2, 0.5),  # the third of 0 .25 .5 1 1
        (FIVE, panel(0, 1, 2, 4, 4), {"rule": "mode"}, 4, 1.0),  # 1 twice
        (FIVE, panel(0, 1, 2, 4, 4), {"rule": "min"}, 0, 0.0),
        (FIVE, panel(0, 1, 2, 4, 4), {"rule": "max"}, 4, 1.0),
        (criterion_of([1, 0.5, 0]), panel(0, 1), {}, 1, 0.75),  # best first: (1 + .5) / 2, worse is .5
    ],
    "weights": [
        (FIVE, panel(0, 4, weights=[3, 1]), {"rule": "weighted_mean"}, 1, 0.25),  # (3·0 + 1·1) / 4
        # the weights of a call replace those of the votes: (1·0 + 3·1) / 4
        (FIVE, panel(0, 4, weights=[3, 1]), {"rule": "weighted_mean", "weights": {"j0": 1, "j1": 3}}, 3, 0.75),
        (FIVE, panel(0, 4, weights=[0, 2]), {"rule": "weighted_mean"}, 4, 1.0),
        (YES_NO, panel(0, 1, 1, weights=[2, 1, 0.5]), {"rule": "weighted"}, YES, 1.0),  # yes 2, no 1.5
        (YES_NO, panel(0, 1, 1, weights=[2, 1, 0.5]), {"rule": "majority"}, NO, 0.0),
        (YES_NO, panel(0, 0, 1, weights=[0.1, 0.2, 0.3]), {"rule": "weighted"}, NO, 0.0),  # .1 + .2 is 5.6e-17 above .3
        (FIVE, panel(0, 1, weights=[1, 3]), {}, 0, 0.125),  # a rule that ignores weights: (0 + .25) / 2
        (FIVE, panel(0, 1), {"weights": {"j0": 0, "j1": 1}}, 0, 0.125),
    ],
    "ties": [
        (FIVE, panel(1, 2), {"rule": "mean"}, 1, 0.375),  # (.25 + .5) / 2, as far from .25 as from .5: the worse one
        (FIVE_FAULT, panel(1, 2), {"rule": "mean"}, 2, 0.375),
        # (0 + 1) / 2 = .5: .17 from .33 and from .67, but not in binary
        (criterion_of([0, 0.33, 0.67, 1]), panel(0, 3), {}, 1, 0.5),
        (criterion_of([0, 0.33, 0.67, 1], weight=-1), panel(0, 3), {}, 2, 0.5),
        (FIVE, panel(1, 3), {"rule": "mode"}, 1, 0.25),
        (FIVE_FAULT, panel(1, 3), {"rule": "mode"}, 3, 0.75),
        (criterion_of([0, 0.25, 0.5, 0.75, 1], weight=0), panel(1, 3), {"rule": "mode"}, 1, 0.25),
        *((TWINS, panel(2, 1), {"rule": rule}, 1, 0.5) for rule in ("mean", "mode", "max")),  # the lowest index
        (TWINS, panel(2, 2), {"rule": "mean"}, 2, 0.5),  # nothing is snapped where all agree
        *((YES_NO, panel(0, 1), {"rule": rule}, NO, 0.0) for rule in ("majority", "weighted")),
        *((FAULT, panel(0, 1), {"rule": rule}, YES, 1.0) for rule in ("majority", "weighted")),
    ],
    "binary rules": [
        (YES_NO, panel(*votes), {"rule": rule}, YES if met else NO, float(met))
        for rule, votes, met in [
            ("majority", (0, 0, 1), True),
            ("majority", (0, 1, 1), False),
            ("unanimous", (0, 0, 0), True),
            ("unanimous", (0, 0, 1), False),
            ("any", (1, 1, 0), True),
            ("any", (1, 1, 1), False),
        ]
    ],
    "samples": [
        (FIVE, draws(0, 3, 4), {}, 3, 0.75),
        (FIVE, draws(1, 2), {}, 1, 0.25),  # the median .375 is snapped to .25 before the panel sees it
        (YES_NO, draws(0, 0, 1), {}, YES, 1.0),
        (YES_NO, draws(0, 1), {}, NO, 0.0),
        (criterion_of([0, 0.5, 1], scale="nominal"), draws(2, 2, 0), {}, 2, 1.0),
        (AB, draws(0, 0, 1), {}, 0, 1.0),
        (AB_TIE, draws(0, 0, 0, 1, 1, 2, 2), {}, 0, 1.0),  # A A A, tie tie, B B: A, although the median is the tie
        (AB_TIE, draws(0, 1), {}, 1, 0.5),  # A and tie: no single winner
        (GRADED, draws(0, 1, 4), {}, 1, 0.75),  # 1 .75 0
        (GRADED, draws(0, 1), {}, 1, 0.75),  # 1 and .75: .875, snapped toward the tie
        (GRADED, draws(0, 4), {}, 2, 0.5),
        # j says 1 five times, the others 0 once each: (1 + 0 + 0) / 3
        (FIVE, [*draws(4, 4, 4, 4, 4), vote("a", 0), vote("b", 0)], {}, 1, 1 / 3),
    ],
    "orders": [
        (FIVE, orders(1, 4), {}, 2, 0.625),  # (.25 + 1) / 2, as far from .5 as from .75
        (FIVE, [*orders(1, 4), *orders(3, 3, judge="k")], ABSTAIN, 3, 0.75),  # j alone contradicts itself
        (FIVE, orders(1, 4), FIRST, 1, 0.25),
        (FIVE, orders(1, 4)[::-1], FIRST, 1, 0.25),
        (criterion_of([0, 0.5, 1, 0, 0]), [vote("j", 4, (2, 1, 0)), vote("j", 0, (1, 0, 2))], FIRST, 0, 0.0),
        (FIVE, orders(1, None), {}, 1, 0.25),
        *((FIVE, orders(1), {"on_position_bias": policy}, 1, 0.25) for policy in ("average", "abstain", "first")),
        (criterion_of([0, 0.5, 1]), in_cycle(2, 2, 0), {}, 1, 2 / 3),  # (1 + 1 + 0) / 3, nearest .5
        (criterion_of([0, 0.5, 1]), in_cycle(2, None, 2), ABSTAIN, 2, 1.0),
        # j: (.25 + .5) / 2 = .375 -> o1; k: .25, o1; the mean .3125 stays with o1
        (FIVE, [*orders(1, 2), vote("k", 1)], {}, 1, 0.3125),
        (FIVE, [*orders(1, 2), vote("k", 1)], {"rule": "min"}, 1, 0.25),
        (FIVE, [*orders(1, 2), vote("k", 1)], {"rule": "max"}, 1, 0.375),
        (YES_NO, orders(0, 1), {}, NO, 0.5),
        (FAULT, orders(0, 1), {}, YES, 0.5),
        # j: (1 + 0) / 2 = .5, selects No; a: No, 0; b: Yes. No has 2 of 3 judges, (.5 + 0) / 2
        (YES_NO, [*orders(0, 1), vote("a", 1), vote("b", 0)], {}, NO, 0.25),
    ],
    "pairwise": [
        (AB, orders(0, 1), {}, None, 0.5),
        (AB_TIE, orders(0, 2), {}, 1, 0.5),
        (AB_TIE, orders(0, 1), {}, 1, 0.5),
        (AB_TIE, orders(0, 1), AVERAGE, 1, 0.75),  # (1 + .5) / 2, as far from the win as from the tie
        (GRADED, orders(0, 3), {}, 2, 0.5),
        (GRADED, orders(0, 3), AVERAGE, 2, 0.625),  # (1 + .25) / 2, as far from .5 as from .75
        # A by much and by little: the same winner, at (1 + .75) / 2, as far from 1 as from .75, nearer to the tie
        *((GRADED, orders(0, 1), {"on_position_bias": policy}, 1, 0.875) for policy in ("tie", "average", "abstain")),
        (AB, orders(0, 1), FIRST, 0, 1.0),
        (AB, orders(0, 1), AVERAGE, None, 0.5),
        (AB, orders(0, None), {}, 0, 1.0),
        (AB, panel(0, 1), {}, None, 0.5),
        (AB, panel(0, 0, 1), {}, 0, 1.0),
        (AB, panel(0, 1, 1, weights=[3, 1, 1]), {"rule": "weighted_mode"}, 0, 1.0),
        (GRADED, panel(0, 1, 4), {}, 1, 0.875),  # A: 1 and .75, B: 0 -> A at (1 + .75) / 2
        # weights 3 and 1: (3·1 + 1·.75) / 4 = .9375, nearest 1
        (GRADED, panel(0, 1, 4, weights=[3, 1, 1]), {"rule": "weighted_mode"}, 0, 0.9375),
        (AB, panel(0, 0, 1), {"rule": "mean"}, 0, 2 / 3),
        (AB, panel(0, 1), {"rule": "mean"}, None, 0.5),
        (AB, panel(0, 1, weights=[3, 1]), {"rule": "weighted_mean"}, 0, 0.75),
    ],
    "missing": [
        (criterion_of([0, 0.5, 1, None], na=[3]), panel(2, None, 3, 2), {}, 2, 1.0),
        (WITH_NA, orders(1, 2), {}, 1, 1.0),
        (criterion_of([0, 0.5, None]), panel(1, 1), {}, 1, 0.5),  # others have no value
        # without values: the first option of a binary criterion is met, ties are not; the mode of draws
        (BARE, panel(0, 1), {}, 1, None),
        (criterion_of([None, None], scale="binary", weight=-1), panel(0, 1), {}, 0, None),
        (BARE, panel(0, 1, 1), {"rule": "any"}, 0, None),
        (criterion_of([None] * 3), draws(0, 2, 2), {}, 2, None),
        (criterion_of([None] * 3, scale="nominal"), orders(1, 1), {}, 1, None),
    ],
}


@pytest.mark.parametrize("group", CHOSEN)
def test_the_option_and_the_number(group):
    for criterion, votes, how, index, number in CHOSEN[group]:
        verdict = aggregate(votes, criterion, **how)
        about = (criterion.scale, votes, how)
        assert (verdict.selected_index, verdict.aggregated_value) == (index, number and pytest.approx(number)), about


FIELDS = {
    "the worse of two, with which half of the votes agree": (
        *(YES_NO, orders(0, 1), {}),
        {"value": 0.0, "agreement": 0.5, "position_consistent": False},
    ),
    # 0 .75 1: mean 7/12, deviations 49/144 + 4/144 + 25/144 = 78/144, / 3 = 26/144
    "spread of draws": (
        FIVE,
        draws(0, 3, 4),
        {},
        {"selected_index": 3, "spread": (26 / 144) ** 0.5, "agreement": 1 / 3},
    ),
    # order (0, 1): 0 and 1 -> .5; order (1, 0): .5 and .5 -> 0; another judge with one draw does not count
    "spread is a mean over judges and orders": (
        FIVE,
        [
            *(
                vote("j", option, order, sample=sample)
                for order, both in (((0, 1), (0, 4)), ((1, 0), (2, 2)))
                for sample, option in enumerate(both)
            ),
            vote("k", 4),
        ],
        {},
        {"spread": 0.25},
    ),
    "no spread of one scored draw": (FIVE, draws(0, None), {}, {"spread": None}),
    "no spread without values": (criterion_of([None] * 3), draws(0, 2, 2), {}, {"spread": None}),
    "orders that disagree": (FIVE, orders(1, 4), {}, {"position_consistent": False, "agreement": 0.0}),
    "abstain": (FIVE, orders(1, 4), ABSTAIN, {"scored": False, "unscored_reason": "inconsistent", "agreement": None}),
    "abstain is the default without values": (
        *(criterion_of([None] * 3, scale="nominal"), orders(0, 1), {}),
        {"selected_index": None, "unscored_reason": "inconsistent", "agreement": None},
    ),
    "one of two judges contradicts itself": (
        *(FIVE, [*orders(1, 4), *orders(3, 3, judge="k")], ABSTAIN),
        {"position_consistent": False, "agreement": 0.5},
    ),
    "first does not borrow from another order": (
        *(FIVE, orders(None, 4), FIRST),
        {"selected_index": None, "unscored_reason": "no_match"},
    ),
    "a lone order": (FIVE, orders(1, None), {}, {"position_consistent": None}),
    "NA in one order is a disagreement": (WITH_NA, orders(1, 2), {}, {"position_consistent": False}),
    "all judges must be consistent": (
        *(FIVE, [*orders(1, 1, judge="a"), *orders(1, 2, judge="b"), vote("c", 0)], {}),
        {"position_consistent": False},
    ),
    "a judge of one order does not count": (
        *(FIVE, [*orders(1, 1, judge="a"), vote("c", 0)], {}),
        {"position_consistent": True},
    ),
    "a tie that no option names": (
        *(AB, orders(0, 1), {}),
        {"selected_label": "tie", "value": 0.5, "scored": True, "agreement": 0.0, "unscored_reason": None},
    ),
    "a tie that an option names": (AB_TIE, orders(0, 2), {}, {"selected_label": "Tie"}),
    "grades of one winner agree": (GRADED, orders(0, 1), {}, {"position_consistent": True}),
    "two wins abstain": (AB, orders(0, 1), ABSTAIN, {"unscored_reason": "inconsistent"}),
    "a lone win abstains": (AB, orders(0, None), ABSTAIN, {"scored": False, "position_consistent": None}),
    "unscored and NA votes dissent": (criterion_of([0, 1, None], na=[2]), panel(1, None, 2, 1), {}, {"agreement": 0.5}),
    "NA when all that answered said so": (
        *(WITH_NA, panel(2, None, 2), {}),
        {"selected_index": 2, "na": True, "value": None, "scored": False, "agreement": 2 / 3, "unscored_reason": None},
    ),
    "not NA when another contradicts itself": (
        *(WITH_NA, [*orders(0, 1), vote("k", 2)], ABSTAIN),
        {"na": False, "unscored_reason": "inconsistent"},
    ),
    "not NA when another was set aside": (
        *(WITH_NA, [*orders(0, None), vote("k", 2)], ABSTAIN),
        {"na": False, "unscored_reason": "no_match"},
    ),
    "NA without an option": (FIVE, panel("na", None), {}, {"selected_index": None, "na": True, "agreement": 0.5}),
    "a judge of weight 0 is set aside": (
        *(FIVE, panel(0, None, weights=[0, 2]), {"rule": "weighted_mean"}),
        {"selected_index": None, "unscored_reason": "no_match"},
    ),
    "no reason": (FIVE, [Vote(judge_id="j", order=(0, 1))], {}, {"unscored_reason": "no_match"}),
    "an error": (FIVE, [Vote(judge_id="j", order=(0, 1), error="500")], {}, {"unscored_reason": "engine_error"}),
    **{
        f"a selection without a score by {rule}": (
            *(criterion_of([None] * 3), panel(1, 1, 2), {"rule": rule}),
            {"selected_label": "o1", "value": None, "unscored_reason": "no_value", "agreement": 2 / 3},
        )
        for rule in (None, "mean", "median", "mode", "min", "weighted_mean")
    },
}


@pytest.mark.parametrize("name", FIELDS)
def test_other_fields(name):
    criterion, votes, how, expected = FIELDS[name]
    verdict = aggregate(votes, criterion, **how)
    assert {field: getattr(verdict, field) for field in expected} == {
        field: pytest.approx(value) if isinstance(value, float) else value for field, value in expected.items()
    }
    assert list(verdict.votes) == votes


def test_the_most_frequent_reason_is_named():
    reasons = ("refusal", "truncated", "truncated")
    votes = [Vote(judge_id=str(place), order=(0, 1), unscored_reason=why) for place, why in enumerate(reasons)]
    assert aggregate(votes, FIVE).unscored_reason == "truncated"
    assert aggregate(votes[:2], FIVE).unscored_reason == "refusal"  # equally frequent: the more severe


LEVELS = criterion_of([0.0, 0.5, 1.0])
THREE = criterion_of([0.0, 0.5, 1.0], scale="nominal")


@pytest.mark.parametrize(
    ("criterion", "votes", "rule", "bounds"),
    [
        (LEVELS, panel(0, 2), None, None),  # nothing is unscored
        (LEVELS, orders(1, None), None, (0.25, 0.75)),  # (0.5 + 0) / 2 and (0.5 + 1) / 2
        (LEVELS, panel(2, 2, None), "mode", (1.0, 1.0)),  # two of three, whichever the third is
        (LEVELS, panel(2, 2, None), "min", (0.0, 1.0)),
        (THREE, panel(2, 2, 1, None), None, (0.5, 1.0)),  # a third vote for the middle would decide
        (THREE, [*orders(None, 2, judge="j"), *orders(0, None, judge="k")], None, (0.0, 0.5)),  # 0 as it is
        (LEVELS, panel(None, None), None, (0.0, 1.0)),
        (WITH_NA, [vote("j", "na")], None, None),  # NA is an answer
        (WITH_NA, [vote("j", 1), vote("k", "na"), vote("l", None)], "mean", (0.5, 1.0)),
        (criterion_of([None, None]), panel(0, None), None, None),
    ],
)
def test_bounds_if_every_unscored_vote_had_selected_the_same_option(criterion, votes, rule, bounds):
    assert aggregate(votes, criterion, rule).bounds == bounds


ASKED = yes_no_criterion("asked", "Is it so?", na=True)
NA = 2


def cast(*chosen):
    """Return one vote per judge: an option, None for an abstention, ``budget`` for a judge that was not asked."""
    return [
        Vote(judge_id=f"j{place}", order=(0, 1), selected_index=each, na=each == NA)
        if isinstance(each, int)
        else Vote(judge_id=f"j{place}", order=(0, 1), unscored_reason=each or "abstained")
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
def test_an_absolute_majority_is_of_all_who_were_asked(votes, majority, of_all):
    assert aggregate(cast(*votes), ASKED).selected_label == majority
    assert aggregate(cast(*votes), ASKED, "absolute_majority").selected_label == of_all


@pytest.mark.parametrize(
    ("votes", "value"), [((0, 0, 1), 1.0), ((0, None, None), 0.5), ((1, 1, None), 0.0), ((0, 0, 1, None), 0.5)]
)
def test_a_response_wins_with_more_than_half_of_all(votes, value):
    assert aggregate(cast(*votes), AB, "absolute_majority").aggregated_value == value


@pytest.mark.parametrize(
    ("votes", "criterion", "how", "message"),
    [
        ([], FIVE, {}, "no votes on 'c'"),
        (panel(-1), FIVE, {}, "selects None as option .* which has the options"),
        (
            *([Vote(judge_id="j", order=(0,), selected_index=1, selected_label="Good")], FIVE, {}),
            "'Good' as option 1 of 'c', which has the options",
        ),
        (panel(0, 1, weights=[1, float("nan")]), FIVE, {"rule": "weighted_mean"}, "finite and >= 0"),
        (panel(0, 1, weights=[0, 0]), FIVE, {"rule": "weighted_mean"}, "every judge has the weight 0"),
        (panel(0, 1), FIVE, {"rule": "weighted_mean", "weights": {"j0": 1}}, "no weight for the judge 'j1'"),
        (panel(0, 1), FIVE, {"weights": {"j0": 1, "j1": -2}}, "'j1' has the weight -2"),
        (panel(0), criterion_of([None, None], scale="pairwise"), {}, "1 where the first response is better"),
    ],
)
def test_bad_input(votes, criterion, how, message):
    with pytest.raises((InvalidInputError, UnknownRuleError), match=message):
        aggregate(votes, criterion, **how)


@pytest.mark.parametrize(
    ("scale", "default"), [("binary", "majority"), ("ordinal", "mean"), ("nominal", "mode"), ("pairwise", "mode")]
)
def test_the_default_comes_first(scale, default):
    assert RULES[scale][0] == check_rule(None, scale) == default


@pytest.mark.parametrize(
    ("masses", "values", "expected"),
    [
        ([0.1, 0.3, 0.6], [0.0, 0.5, 1.0], 0.75),  # 0.1 * 0 + 0.3 * 0.5 + 0.6 * 1
        ([0.3, 0.3, 0.4], [0.0, 1.0, None], 0.5),  # NA counts in neither sum
        ([0.2, 0.2, 0.6], [0.0, 1.0, None], None),  # and covers nothing
        ([0.25, 0.25], [0.0, 1.0], 0.5),
        ([0.25, 0.24], [0.0, 1.0], None),
        ([0.1] * 5, [1.0] * 5, 1.0),  # a sum of 0.5 up to rounding
    ],
)
def test_expected_values(masses, values, expected):
    assert expected_value(masses, values) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("criterion", "chosen", "reasons"),
    [
        (FIVE, (0, 4, 3), "of 3"),  # the mean 7/12 selects 0.5, which no judge did; 3 is nearest
        (criterion_of([None] * 3, scale="nominal"), (1, 1, 0), "of 1"),
        (WITH_NA, ("na", "na", "na"), "of None"),
    ],
)
def test_reasons_are_those_of_the_option_selected_or_of_the_nearest(criterion, chosen, reasons):
    votes = [each.model_copy(update={"assessment": f"of {each.selected_index}"}) for each in panel(*chosen)]
    assert aggregate(votes, criterion).assessment == reasons


def test_reasons_for_an_option_that_was_not_selected_are_not_shown_without_values():
    *silent, reasoned = panel(0, 0, 1)
    votes = [*silent, reasoned.model_copy(update={"assessment": "of 1"})]
    assert aggregate(votes, criterion_of([None] * 3, scale="nominal")).assessment is None

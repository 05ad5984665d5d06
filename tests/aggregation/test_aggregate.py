"""Hand-worked verdicts, one small example a rule; the arithmetic stands beside each."""

import pytest

from evenhand.aggregation.verdict import aggregate
from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.question import comparison_criterion
from evenhand.votes import Vote
from tests.aggregation.builders import criterion_of, draws, orders, panel, vote

FIVE = criterion_of([0, 0.25, 0.5, 0.75, 1])
FIVE_FAULT = criterion_of([0, 0.25, 0.5, 0.75, 1], weight=-1)
YES_NO = yes_no_criterion("c", "")
FAULT = yes_no_criterion("c", "", weight=-2)
AB = comparison_criterion("better", "")
AB_TIE = comparison_criterion("better", "", allow_ties=True)
GRADED = comparison_criterion("better", "", graded=True)


def chosen(verdict):
    return verdict.selected_index, verdict.aggregated_value


class TestOrdinalPanels:
    @pytest.mark.parametrize(
        ("rule", "index", "aggregated"),
        [
            (None, 2, 0.55),  # (0 + .25 + .5 + 1 + 1) / 5 = 2.75 / 5 = .55; nearest .5
            ("mean", 2, 0.55),
            ("median", 2, 0.5),  # the third of 0 .25 .5 1 1
            ("mode", 4, 1.0),  # 1 twice
            ("min", 0, 0.0),
            ("max", 4, 1.0),
        ],
    )
    def test_five_judges(self, rule, index, aggregated):
        assert chosen(aggregate(panel(0, 1, 2, 4, 4), FIVE, rule)) == (index, pytest.approx(aggregated))

    def test_weighted_mean(self):
        # (3·0 + 1·1) / 4 = .25
        assert chosen(aggregate(panel(0, 4, weights=[3, 1]), FIVE, "weighted_mean")) == (1, 0.25)

    def test_the_weights_of_a_call_replace_those_of_the_votes(self):
        # (1·0 + 3·1) / 4 = .75
        votes = panel(0, 4, weights=[3, 1])
        assert chosen(aggregate(votes, FIVE, "weighted_mean", weights={"j0": 1, "j1": 3})) == (3, 0.75)

    def test_a_judge_of_weight_0_is_set_aside(self):
        assert chosen(aggregate(panel(0, 4, weights=[0, 2]), FIVE, "weighted_mean")) == (4, 1.0)
        left = aggregate(panel(0, None, weights=[0, 2]), FIVE, "weighted_mean")
        assert (left.selected_index, left.unscored_reason) == (None, "no_match")

    @pytest.mark.parametrize(("criterion", "index"), [(FIVE, 1), (FIVE_FAULT, 2)])
    def test_a_snap_at_equal_distance_goes_to_the_worse_option(self, criterion, index):
        # (.25 + .5) / 2 = .375, as far from .25 as from .5
        assert chosen(aggregate(panel(1, 2), criterion, "mean")) == (index, 0.375)

    def test_distances_within_rounding_are_equal(self):
        # (0 + 1) / 2 = .5: .17 from .33 and .17 from .67, but not in binary
        assert aggregate(panel(0, 3), criterion_of([0, 0.33, 0.67, 1])).selected_index == 1
        assert aggregate(panel(0, 3), criterion_of([0, 0.33, 0.67, 1], weight=-1)).selected_index == 2

    @pytest.mark.parametrize(("criterion", "index"), [(FIVE, 1), (FIVE_FAULT, 3)])
    def test_a_count_tie_goes_to_the_worse_option(self, criterion, index):
        assert aggregate(panel(1, 3), criterion, "mode").selected_index == index

    def test_weight_zero_counts_as_positive_in_ties(self):
        assert aggregate(panel(1, 3), criterion_of([0, 0.25, 0.5, 0.75, 1], weight=0), "mode").selected_index == 1

    def test_equal_values_take_the_lowest_index(self):
        twins = criterion_of([0, 0.5, 0.5, 1])
        assert aggregate(panel(2, 1), twins, "mean").selected_index == 1
        assert aggregate(panel(2, 1), twins, "mode").selected_index == 1
        assert aggregate(panel(2, 1), twins, "max").selected_index == 1
        assert aggregate(panel(0, 3), twins, "mean").selected_index == 1

    def test_nothing_is_snapped_where_all_agree(self):
        assert aggregate(panel(2, 2), criterion_of([0, 0.5, 0.5, 1]), "mean").selected_index == 2

    def test_options_in_descending_order(self):
        # best first, as most people write them: (1 + .5) / 2 = .75, worse is .5, index 1
        assert chosen(aggregate(panel(0, 1), criterion_of([1, 0.5, 0]))) == (1, 0.75)

    def test_numbers_that_snap_to_one_option_keep_it(self):
        # j: (.25 + .5) / 2 = .375 -> o1; k: .25, o1; the mean .3125 stays with o1
        assert chosen(aggregate([*orders(1, 2), vote("k", 1)], FIVE)) == (1, 0.3125)
        # the lower of .375 and .25, and the higher
        assert chosen(aggregate([*orders(1, 2), vote("k", 1)], FIVE, "min")) == (1, 0.25)
        assert chosen(aggregate([*orders(1, 2), vote("k", 1)], FIVE, "max")) == (1, 0.375)


class TestBinaryPanels:
    YES, NO = 0, 1

    @pytest.mark.parametrize(
        ("rule", "votes", "met"),
        [
            ("majority", (0, 0, 1), True),
            ("majority", (0, 1, 1), False),
            ("unanimous", (0, 0, 0), True),
            ("unanimous", (0, 0, 1), False),
            ("any", (1, 1, 0), True),
            ("any", (1, 1, 1), False),
        ],
    )
    def test_rules(self, rule, votes, met):
        verdict = aggregate(panel(*votes), YES_NO, rule)
        assert chosen(verdict) == ((self.YES, 1.0) if met else (self.NO, 0.0))

    def test_weighted(self):
        # yes 2, no 1 + .5
        assert aggregate(panel(0, 1, 1, weights=[2, 1, 0.5]), YES_NO, "weighted").selected_label == "Yes"
        assert aggregate(panel(0, 1, 1, weights=[2, 1, 0.5]), YES_NO, "majority").selected_label == "No"

    @pytest.mark.parametrize("rule", ["majority", "weighted"])
    def test_ties_are_unmet_and_met_for_a_fault(self, rule):
        assert aggregate(panel(0, 1), YES_NO, rule).selected_label == "No"
        assert aggregate(panel(0, 1), FAULT, rule).selected_label == "Yes"

    def test_weights_within_1e_9_are_tied(self):
        # .1 + .2 is 5.6e-17 above .3
        votes = panel(0, 0, 1, weights=[0.1, 0.2, 0.3])
        assert aggregate(votes, YES_NO, "weighted").selected_label == "No"

    def test_one_judge_whose_orders_disagree(self):
        # (1 + 0) / 2 = .5; the selection is the worse of the two, half of the votes agree with it
        verdict = aggregate(orders(0, 1), YES_NO)
        assert chosen(verdict) == (self.NO, 0.5)
        assert (verdict.value, verdict.agreement, verdict.position_consistent) == (0.0, 0.5, False)
        assert chosen(aggregate(orders(0, 1), FAULT)) == (self.YES, 0.5)

    def test_the_mean_of_the_judges_that_selected(self):
        # j: (1 + 0) / 2 = .5, selects No; a: No, 0; b: Yes. No has 2 of 3 judges, (.5 + 0) / 2 = .25
        votes = [*orders(0, 1), vote("a", 1), vote("b", 0)]
        assert chosen(aggregate(votes, YES_NO)) == (self.NO, 0.25)

    def test_without_values_the_first_option_is_met(self):
        bare = criterion_of([None, None], scale="binary")
        assert aggregate(panel(0, 1), bare).selected_index == 1
        assert aggregate(panel(0, 1), criterion_of([None, None], scale="binary", weight=-1)).selected_index == 0
        assert aggregate(panel(0, 1, 1), bare, "any").selected_index == 0


class TestSamples:
    def test_ordinal_draws_collapse_to_the_median(self):
        # 0 .75 1 -> .75; mean 7/12, deviations 49/144 + 4/144 + 25/144 = 78/144, / 3 = 26/144
        verdict = aggregate(draws(0, 3, 4), FIVE)
        assert chosen(verdict) == (3, 0.75)
        assert verdict.spread == pytest.approx((26 / 144) ** 0.5)
        assert verdict.agreement == pytest.approx(1 / 3)

    def test_an_even_number_of_draws_is_snapped_at_once(self):
        # the median of .25 and .5 is .375, snapped to .25 before the panel sees it
        assert chosen(aggregate(draws(1, 2), FIVE)) == (1, 0.25)

    def test_binary_and_nominal_draws_collapse_to_the_mode(self):
        assert chosen(aggregate(draws(0, 0, 1), YES_NO)) == (0, 1.0)
        assert chosen(aggregate(draws(0, 1), YES_NO)) == (1, 0.0)
        assert chosen(aggregate(draws(2, 2, 0), criterion_of([0, 0.5, 1], scale="nominal"))) == (2, 1.0)

    def test_ordinal_draws_without_values_collapse_to_the_mode(self):
        verdict = aggregate(draws(0, 2, 2), criterion_of([None] * 3))
        assert (verdict.selected_index, verdict.spread) == (2, None)

    def test_pairwise_draws_collapse_to_the_side_drawn_most_often(self):
        assert chosen(aggregate(draws(0, 0, 1), AB)) == (0, 1.0)
        # A A A, tie tie, B B: A, although the median is the tie
        assert chosen(aggregate(draws(0, 0, 0, 1, 1, 2, 2), AB_TIE)) == (0, 1.0)
        assert chosen(aggregate(draws(0, 1), AB_TIE)) == (1, 0.5)  # A and tie: no single winner

    def test_graded_draws_collapse_to_the_median(self):
        # 1 .75 0 -> .75; the sides alone would say A as well, at 1 or .75
        assert chosen(aggregate(draws(0, 1, 4), GRADED)) == (1, 0.75)
        # 1 and .75: .875, snapped toward the tie
        assert chosen(aggregate(draws(0, 1), GRADED)) == (1, 0.75)
        # 1 and 0: ½
        assert chosen(aggregate(draws(0, 4), GRADED)) == (2, 0.5)

    def test_one_judge_is_one_voice_however_often_it_was_asked(self):
        # j says 1 five times, the others 0 once each: (1 + 0 + 0) / 3
        votes = [*draws(4, 4, 4, 4, 4), vote("a", 0), vote("b", 0)]
        assert aggregate(votes, FIVE).aggregated_value == pytest.approx(1 / 3)

    def test_spread_is_the_mean_over_judges_and_orders(self):
        # order (0, 1): 0 and 1 -> .5; order (1, 0): .5 and .5 -> 0; another judge with one draw does not count
        votes = [
            vote("j", 0, sample=0),
            vote("j", 4, sample=1),
            vote("j", 2, (1, 0), sample=0),
            vote("j", 2, (1, 0), sample=1),
            vote("k", 4),
        ]
        assert aggregate(votes, FIVE).spread == pytest.approx(0.25)

    def test_no_spread_without_repeated_draws(self):
        assert aggregate(panel(0, 4), FIVE).spread is None
        assert aggregate(draws(0, None), FIVE).spread is None


class TestOrders:
    def test_average_is_the_default_with_values(self):
        # (.25 + 1) / 2 = .625, as far from .5 as from .75
        verdict = aggregate(orders(1, 4), FIVE)
        assert chosen(verdict) == (2, 0.625)
        assert (verdict.position_consistent, verdict.agreement) == (False, 0.0)

    def test_abstain_is_the_default_without_values(self):
        bare = criterion_of([None] * 3, scale="nominal")
        verdict = aggregate(orders(0, 1), bare)
        assert (verdict.selected_index, verdict.unscored_reason, verdict.agreement) == (None, "inconsistent", None)
        assert aggregate(orders(1, 1), bare).selected_index == 1

    def test_abstain(self):
        verdict = aggregate(orders(1, 4), FIVE, on_position_bias="abstain")
        assert (verdict.scored, verdict.unscored_reason, verdict.position_consistent) == (False, "inconsistent", False)
        # only the judge that contradicts itself abstains
        verdict = aggregate([*orders(1, 4), *orders(3, 3, judge="k")], FIVE, on_position_bias="abstain")
        assert chosen(verdict) == (3, 0.75)
        assert (verdict.position_consistent, verdict.agreement) == (False, 0.5)

    def test_first_is_the_given_order(self):
        assert chosen(aggregate(orders(1, 4), FIVE, on_position_bias="first")) == (1, 0.25)
        assert chosen(aggregate(orders(1, 4)[::-1], FIVE, on_position_bias="first")) == (1, 0.25)

    def test_first_does_not_borrow_from_another_order(self):
        verdict = aggregate(orders(None, 4), FIVE, on_position_bias="first")
        assert (verdict.selected_index, verdict.unscored_reason) == (None, "no_match")

    def test_first_without_the_given_order_is_the_lowest(self):
        votes = [vote("j", 4, (2, 1, 0)), vote("j", 0, (1, 0, 2))]
        assert aggregate(votes, criterion_of([0, 0.5, 1, 0, 0]), on_position_bias="first").selected_index == 0

    def test_a_lone_scored_order(self):
        assert chosen(aggregate(orders(1, None), FIVE)) == (1, 0.25)
        assert aggregate(orders(1, None), FIVE).position_consistent is None
        verdict = aggregate(orders(1, None), FIVE, on_position_bias="abstain")
        assert (verdict.selected_index, verdict.unscored_reason) == (None, "no_match")

    def test_an_order_asked_alone_stands_under_every_policy(self):
        for policy in ("average", "abstain", "first"):
            assert chosen(aggregate(orders(1), FIVE, on_position_bias=policy)) == (1, 0.25)
        assert aggregate(orders(1), FIVE).position_consistent is None

    def test_na_in_one_order_is_a_disagreement(self):
        criterion = criterion_of([0, 1, None], na=[2])
        verdict = aggregate(orders(1, 2), criterion)
        assert (*chosen(verdict), verdict.position_consistent) == (1, 1.0, False)
        verdict = aggregate(orders(1, 2), criterion, on_position_bias="abstain")
        assert (verdict.na, verdict.unscored_reason) == (False, "inconsistent")

    def test_three_orders(self):
        cycle = [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
        criterion = criterion_of([0, 0.5, 1])
        votes = [vote("j", option, order) for option, order in zip((2, 2, 0), cycle, strict=True)]
        assert chosen(aggregate(votes, criterion)) == (1, pytest.approx(2 / 3))  # (1 + 1 + 0) / 3, nearest .5
        votes = [vote("j", option, order) for option, order in zip((2, None, 2), cycle, strict=True)]
        assert chosen(aggregate(votes, criterion, on_position_bias="abstain")) == (2, 1.0)

    def test_all_judges_must_be_consistent(self):
        votes = [*orders(1, 1, judge="a"), *orders(1, 2, judge="b"), vote("c", 0)]
        assert aggregate(votes, FIVE).position_consistent is False
        assert aggregate(votes[:2] + votes[4:], FIVE).position_consistent is True


class TestPairwise:
    def test_orders_that_disagree_make_a_tie_that_no_option_names(self):
        verdict = aggregate(orders(0, 1), AB)
        assert (verdict.selected_index, verdict.selected_label, verdict.value) == (None, "tie", 0.5)
        assert (verdict.aggregated_value, verdict.scored, verdict.agreement) == (0.5, True, 0.0)
        assert (verdict.position_consistent, verdict.unscored_reason) == (False, None)

    def test_a_tie_that_an_option_names(self):
        verdict = aggregate(orders(0, 2), AB_TIE)
        assert (verdict.selected_index, verdict.selected_label, verdict.aggregated_value) == (1, "Tie", 0.5)

    def test_a_tie_and_a_win_disagree_about_the_winner(self):
        assert chosen(aggregate(orders(0, 1), AB_TIE)) == (1, 0.5)
        # averaged: (1 + .5) / 2 = .75, as far from the win as from the tie, which favours nobody
        assert chosen(aggregate(orders(0, 1), AB_TIE, on_position_bias="average")) == (1, 0.75)

    def test_grades_of_one_winner_are_averaged(self):
        # A twice: (1 + .75) / 2 = .875, as far from 1 as from .75, which is nearer to the tie
        assert chosen(aggregate(orders(0, 1), GRADED)) == (1, 0.875)
        assert chosen(aggregate(orders(0, 3), GRADED)) == (2, 0.5)
        # averaged: (1 + .25) / 2 = .625, as far from .5 as from .75
        assert chosen(aggregate(orders(0, 3), GRADED, on_position_bias="average")) == (2, 0.625)

    def test_orders_that_differ_in_the_grade_alone_agree(self):
        # A by much and by little: the same winner, at (1 + .75) / 2
        for policy in ("tie", "average", "abstain"):
            verdict = aggregate(orders(0, 1), GRADED, on_position_bias=policy)
            assert (*chosen(verdict), verdict.position_consistent) == (1, 0.875, True)
        # a narrow win and a tie name different winners, and so do two narrow wins
        for second in (2, 3):
            verdict = aggregate(orders(1, second), GRADED, on_position_bias="abstain")
            assert (verdict.unscored_reason, verdict.position_consistent) == ("inconsistent", False)

    def test_policies_for_two_orders(self):
        assert chosen(aggregate(orders(0, 1), AB, on_position_bias="first")) == (0, 1.0)
        assert aggregate(orders(0, 1), AB, on_position_bias="abstain").unscored_reason == "inconsistent"
        assert aggregate(orders(0, 1), AB, on_position_bias="average").aggregated_value == 0.5

    def test_a_lone_verdict(self):
        assert chosen(aggregate(orders(0, None), AB)) == (0, 1.0)
        assert aggregate(orders(0, None), AB).position_consistent is None
        assert not aggregate(orders(0, None), AB, on_position_bias="abstain").scored

    def test_a_panel_tie_favours_nobody(self):
        verdict = aggregate(panel(0, 1), AB)
        assert (verdict.selected_label, verdict.aggregated_value) == ("tie", 0.5)
        assert chosen(aggregate(panel(0, 0, 1), AB)) == (0, 1.0)
        assert chosen(aggregate(panel(0, 1, 1, weights=[3, 1, 1]), AB, "weighted_mode")) == (0, 1.0)

    def test_the_winning_side_keeps_its_mean_grade(self):
        # A: 1 and .75, B: 0 -> A at (1 + .75) / 2
        assert chosen(aggregate(panel(0, 1, 4), GRADED)) == (1, 0.875)
        # weights 3 and 1: (3·1 + 1·.75) / 4 = .9375, nearest 1
        assert chosen(aggregate(panel(0, 1, 4, weights=[3, 1, 1]), GRADED, "weighted_mode")) == (0, 0.9375)

    def test_mean(self):
        # (1 + 1 + 0) / 3, nearest 1
        assert chosen(aggregate(panel(0, 0, 1), AB, "mean")) == (0, pytest.approx(2 / 3))
        assert aggregate(panel(0, 1), AB, "mean").selected_label == "tie"
        assert chosen(aggregate(panel(0, 1, weights=[3, 1]), AB, "weighted_mean")) == (0, 0.75)

    def test_options_without_values_are_refused(self):
        with pytest.raises(InvalidInputError, match="1 where the first response is better"):
            aggregate(panel(0), criterion_of([None, None], scale="pairwise"))


class TestMissing:
    def test_unscored_and_na_votes_are_set_aside(self):
        criterion = criterion_of([0, 0.5, 1, None], na=[3])
        verdict = aggregate(panel(2, None, 3, 2), criterion)
        assert (*chosen(verdict), verdict.agreement) == (2, 1.0, 0.5)  # 2 of 4 votes

    def test_na_when_all_that_answered_said_so(self):
        criterion = criterion_of([0, 1, None], na=[2])
        verdict = aggregate(panel(2, None, 2), criterion)
        assert (verdict.selected_index, verdict.na, verdict.value, verdict.scored) == (2, True, None, False)
        assert (verdict.agreement, verdict.unscored_reason) == (pytest.approx(2 / 3), None)

    def test_not_na_when_a_judge_that_was_set_aside_said_otherwise(self):
        criterion = criterion_of([0, 1, None], na=[2])
        contradicting = aggregate([*orders(0, 1), vote("k", 2)], criterion, on_position_bias="abstain")
        assert (contradicting.na, contradicting.unscored_reason) == (False, "inconsistent")
        lone = aggregate([*orders(0, None), vote("k", 2)], criterion, on_position_bias="abstain")
        assert (lone.na, lone.unscored_reason) == (False, "no_match")

    def test_a_vote_may_say_na_without_naming_an_option(self):
        verdict = aggregate(panel("na", None), FIVE)
        assert (verdict.selected_index, verdict.na, verdict.agreement) == (None, True, 0.5)

    def test_the_most_frequent_reason_is_named(self):
        votes = [
            Vote(judge_id=str(place), order=(0, 1), unscored_reason=reason)
            for place, reason in enumerate(["refusal", "truncated", "truncated"])
        ]
        verdict = aggregate(votes, FIVE)
        assert (verdict.unscored_reason, verdict.scored, verdict.agreement) == ("truncated", False, None)
        assert aggregate(votes[:2], FIVE).unscored_reason == "refusal"  # equally frequent: the more severe
        assert len(verdict.votes) == 3

    def test_an_unscored_vote_without_a_reason(self):
        assert aggregate([Vote(judge_id="j", order=(0, 1))], FIVE).unscored_reason == "no_match"
        assert aggregate([Vote(judge_id="j", order=(0, 1), error="500")], FIVE).unscored_reason == "engine_error"

    def test_a_selection_without_a_score_is_still_reported(self):
        criterion = criterion_of([None] * 3)
        for rule in (None, "mean", "median", "mode", "min", "weighted_mean"):
            verdict = aggregate(panel(1, 1, 2), criterion, rule)
            assert (verdict.selected_index, verdict.selected_label) == (1, "o1")
            assert (verdict.value, verdict.aggregated_value, verdict.unscored_reason) == (None, None, "no_value")
            assert verdict.agreement == pytest.approx(2 / 3)

    def test_an_option_that_has_a_value_is_scored_though_others_have_none(self):
        assert chosen(aggregate(panel(1, 1), criterion_of([0, 0.5, None]))) == (1, 0.5)


class TestBadInput:
    def test_no_votes(self):
        with pytest.raises(InvalidInputError, match="no votes on 'c'"):
            aggregate([], FIVE)

    @pytest.mark.parametrize("index", [-1, 5])
    def test_a_vote_for_an_option_that_does_not_exist(self, index):
        with pytest.raises(InvalidInputError, match="options 0 … 4"):
            aggregate(panel(index), FIVE)

    def test_a_vote_cast_on_another_criterion(self):
        with pytest.raises(InvalidInputError, match="'Good' as option 1 of 'c', but that option is 'o1'"):
            aggregate([Vote(judge_id="j", order=(0,), selected_index=1, selected_label="Good")], FIVE)
        aggregate([Vote(judge_id="j", order=(0,), selected_index=1, selected_label=" O1 ")], FIVE)

    @pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
    def test_weights_out_of_range(self, weight):
        with pytest.raises(InvalidInputError, match="finite and >= 0"):
            aggregate(panel(0, 1, weights=[1, weight]), FIVE, "weighted_mean")

    def test_weights_that_say_nothing(self):
        with pytest.raises(InvalidInputError, match="every judge has the weight 0"):
            aggregate(panel(0, 1, weights=[0, 0]), FIVE, "weighted_mean")
        with pytest.raises(InvalidInputError, match="no weight for the judge 'j1'"):
            aggregate(panel(0, 1), FIVE, "weighted_mean", weights={"j0": 1})
        with pytest.raises(InvalidInputError, match="different weights"):
            aggregate([vote("j", 0, weight=1), vote("j", 1, (1, 0), weight=2)], FIVE, "weighted_mean")

    def test_a_rule_that_ignores_weights(self):
        for weights in ({"j0": 1, "j1": 2}, {"j0": 2, "j1": 2}, {"j0": 0, "j1": 1}):
            assert aggregate(panel(0, 1), FIVE, weights=weights).aggregated_value == 0.125  # (0 + .25) / 2
        assert aggregate(panel(0, 1, weights=[1, 3]), FIVE).aggregated_value == 0.125
        with pytest.raises(InvalidInputError, match="'j1' has the weight -2"):
            aggregate(panel(0, 1), FIVE, weights={"j0": 1, "j1": -2})

    def test_unknown_names(self):
        with pytest.raises(UnknownRuleError, match="Did you mean 'median'"):
            aggregate(panel(0), FIVE, "medain")
        with pytest.raises(UnknownRuleError, match="'average'"):
            aggregate(panel(0), FIVE, on_position_bias="averaged")


def test_the_votes_are_kept_and_nothing_is_changed():
    votes = [*orders(1, 4), *panel(None)]
    before = [one.model_dump() for one in votes]
    verdict = aggregate(votes, FIVE)
    assert verdict == aggregate(votes, FIVE)
    assert [one.model_dump() for one in votes] == before
    assert list(verdict.votes) == votes


class TestBounds:
    """What the verdict would be if every unscored vote had selected the lowest, or the highest, value."""

    LEVELS = criterion_of([0.0, 0.5, 1.0])

    def test_nothing_unscored_needs_no_bounds(self):
        assert aggregate(panel(0, 2), self.LEVELS).bounds is None

    def test_a_lone_order(self):
        # the order read says 0.5; the other could be 0 or 1: (0.5 + 0) / 2 and (0.5 + 1) / 2
        verdict = aggregate(orders(1, None), self.LEVELS)
        assert verdict.aggregated_value == 0.5
        assert verdict.bounds == (0.25, 0.75)

    def test_a_panel_under_a_rule_that_selects(self):
        # of o2, o2 and an unscored vote the lowest is o2 whatever the third says, by majority; by min it is 0
        assert aggregate(panel(2, 2, None), self.LEVELS, "mode").bounds == (1.0, 1.0)
        assert aggregate(panel(2, 2, None), self.LEVELS, "min").bounds == (0.0, 1.0)

    def test_nothing_read_leaves_the_whole_range(self):
        assert aggregate(panel(None, None), self.LEVELS).bounds == (0.0, 1.0)

    def test_a_vote_that_the_criterion_does_not_apply_is_an_answer(self):
        criterion = criterion_of([0.0, 1.0, None], na=[2])
        assert aggregate([vote("j", "na")], criterion).bounds is None
        assert aggregate([vote("j", 1), vote("k", "na"), vote("l", None)], criterion, "mean").bounds == (0.5, 1.0)

    def test_without_values_there_are_none(self):
        assert aggregate(panel(0, None), criterion_of([None, None])).bounds is None

"""From votes on candidates to one selection: shares, ties, orders, panels, bounds; worked by hand."""

import pytest

from evenhand.modes.choices import select, summarize_selections
from evenhand.votes import Vote

GIVEN, TURNED = (0, 1, 2), (2, 1, 0)
NAMES = ("a", "b", "c")


def vote(selected, order=GIVEN, *, judge="j", sample=0, weight=1.0, reason="refusal"):
    return Vote(
        judge_id=judge,
        order=order,
        sample=sample,
        selected_index=selected,
        weight=weight,
        unscored_reason=None if selected is not None else reason,
    )


def both(first, second, **more):
    return [vote(first, GIVEN, **more), vote(second, TURNED, **more)]


class TestSelect:
    def test_orders_that_disagree_share_the_instance(self):
        selection = select(both(0, 2), NAMES)
        assert selection.shares == (0.5, 0.0, 0.5)
        assert selection.selected is None
        assert selection.unscored_reason == "inconsistent"
        assert selection.position_consistent is False
        assert selection.scored
        assert selection.agreement == 0.5


class TestSummary:
    def test_by_hand(self):
        selections = [
            select(both(0, 0), NAMES),  # a
            select(both(0, 2), NAMES),  # a and c, half each
            select(both(None, None), NAMES),  # unscored
            select([vote(1, (0, 1)), vote(1, (1, 0))], ("a", "c"), missing=("b",)),  # c, of a and c
            select([], ("a",), missing=("b", "c")),  # not asked
        ]
        summary = summarize_selections(selections)
        rates = summary.candidates
        assert list(rates) == ["a", "b", "c"]
        # a: (1 + 1/2 + 0) / 3; b: offered in the scored instances 0 and 1; c: (0 + 1/2 + 1) / 3.
        assert rates["a"].rate.estimate == pytest.approx(0.5)
        assert rates["b"].rate.estimate == 0.0
        assert rates["c"].rate.estimate == pytest.approx(0.5)
        # The unscored instance and, where it is offered, the one not asked count 0 or 1.
        assert rates["a"].if_unscored_0 == pytest.approx(1.5 / 5)
        assert rates["a"].if_unscored_1 == pytest.approx(3.5 / 5)
        assert rates["b"].if_unscored_1 == pytest.approx(1 / 3)
        assert [rates[name].num_offered for name in NAMES] == [4, 3, 4]
        assert [rates[name].num_selected for name in NAMES] == [1, 0, 1]
        assert [rates[name].num_missing for name in NAMES] == [0, 2, 1]
        assert (summary.num_unscored, summary.num_undecided) == (2, 1)
        assert summary.unscored_instances == {"inconsistent": 1, "missing_response": 1, "refusal": 1}
        # Of three instances with two answers one is inconsistent; 6 of 8 replies name an option.
        assert summary.votes.positional_bias.estimate == pytest.approx(1 / 3)
        assert summary.votes.parse_rate.estimate == pytest.approx(6 / 8)
        # The first shown is chosen in the given order of 0 and 1, in the turned one of 1 and of 3: 4 of 6.
        assert summary.first_shown_share.estimate == pytest.approx(4 / 6)

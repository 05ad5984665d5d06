"""Hand-worked checklists; an item without an answer is never a no."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.aggregation import aggregate, category_pass_rates
from evenhand.aggregation.checklist_items import verdict_answer, verdict_confidence
from evenhand.aggregation.checklist_score import score_answers
from evenhand.criteria import Checklist, ChecklistItem
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.votes import Verdict, Vote
from tests.aggregation.builders import checklist_scores


def test_scores_are_over_the_answered_items():
    # answered: yes (3), no (1), yes (2): 2 / 3, and (3 + 2) / 6
    score = score_answers(["yes", "no", "yes", None, "na"], [3, 1, 2, 50, 50])
    assert (score.yes, score.no, score.na, score.unanswered, score.answered) == (2, 1, 1, 1, 3)
    assert score.pass_rate == pytest.approx(2 / 3)
    assert score.weighted_score == pytest.approx(5 / 6)
    assert score.scaled_score_1_5 == pytest.approx(11 / 3)  # 4 · 2/3 + 1
    assert score.normalized_score == pytest.approx(2 / 3)  # no confidences: the pass rate


def test_confidence_where_it_is_known():
    # (.9 + .2 + 1) / 3: the third item has no confidence and counts as its yes; the unanswered one does not count
    score = score_answers(["yes", "no", "yes", None], confidences=[0.9, 0.2, None, 0.5])
    assert score.normalized_score == pytest.approx(2.1 / 3)


def test_nothing_answered_is_no_score():
    score = score_answers([None, "na"])
    assert (score.pass_rate, score.weighted_score, score.normalized_score) == (None, None, None)
    assert (score.scaled_score_1_5, score.primary_score, score.unanswered, score.na) == (None, None, 1, 1)


@pytest.mark.parametrize(
    ("primary", "value"), [("pass_rate", 0.5), ("weighted_score", 0.75), ("normalized_score", 0.6)]
)
def test_the_primary_score_is_the_one_named(primary, value):
    # pass 1 / 2, weighted 3 / 4, normalized (.8 + .4) / 2
    score = score_answers(["yes", "no"], [3, 1], confidences=[0.8, 0.4], primary=primary)
    assert score.primary_score == pytest.approx(value)


def test_an_undefined_primary_score_is_the_pass_rate():
    # only items of weight 0 are answered
    score = score_answers(["yes", "no", None], [0, 0, 1], primary="weighted_score")
    assert (score.weighted_score, score.primary_score) == (None, 0.5)


def test_an_unknown_primary_score():
    with pytest.raises(UnknownRuleError, match="Did you mean 'pass_rate'"):
        score_answers(["yes"], primary="passrate")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["yes"], [1, 2]), "2 weights for 1 checklist items"),
        ((["yes"], [-1]), "weight -1"),
        ((["Yes"],), "Did you mean 'yes'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        score_answers(*arguments)


def test_a_confidence_out_of_range():
    with pytest.raises(InvalidInputError, match=r"confidence 1\.5"):
        score_answers(["yes"], confidences=[1.5])


CHECKLIST = Checklist(
    name="l",
    items=(
        ChecklistItem(name="a", question="A?", weight=3, category="facts"),
        ChecklistItem(name="b", question="B?", na=True),
        ChecklistItem(name="c", question="C?", category="facts"),
    ),
)


def verdict(item, index, *probabilities, reason=None):
    votes = [
        Vote(judge_id=str(judge), order=(0, 1), selected_index=index, probabilities=one, unscored_reason=reason)
        for judge, one in enumerate(probabilities or (None,))
    ]
    return aggregate(votes, CHECKLIST.items[item].as_criterion())


def test_from_verdicts():
    verdicts = [verdict(0, 0), verdict(1, 2), verdict(2, None, reason="truncated")]
    score = checklist_scores(verdicts, CHECKLIST)
    assert (score.yes, score.no, score.na, score.unanswered) == (1, 0, 1, 1)
    assert (score.pass_rate, score.weighted_score) == (1.0, 1.0)


def test_confidence_from_the_votes():
    # (.6 / .8 + .3 / .6) / 2 = (.75 + .5) / 2
    one = verdict(0, 0, (0.6, 0.2), (0.3, 0.3))
    assert verdict_confidence(one) == pytest.approx(0.625)
    score = checklist_scores([one, verdict(1, 2), verdict(2, 1)], CHECKLIST, primary="normalized_score")
    assert score.primary_score == pytest.approx(0.3125)  # (.625 + 0) / 2


def test_an_unscored_vote_has_no_confidence():
    assert verdict_confidence(verdict(0, None, (0.9, 0.1), reason="ambiguous")) is None
    assert verdict_confidence(verdict(0, 0, (0.0, 0.0))) is None


def test_a_verdict_per_item():
    with pytest.raises(InvalidInputError, match="1 verdicts for 3 checklist items"):
        checklist_scores([verdict(0, 0)], CHECKLIST)


def test_answers_of_verdicts():
    assert verdict_answer(Verdict(na=True)) == "na"
    assert verdict_answer(Verdict(unscored_reason="empty")) is None
    assert [verdict_answer(Verdict(value=value)) for value in (1.0, 0.0)] == ["yes", "no"]


def test_rates_per_category():
    rates = category_pass_rates(["yes", "no", "no", None, "na"], ["a", "a", None, "b", ""])
    assert rates == {"a": 0.5, "ungrouped": 0.0, "b": None}


@given(st.lists(st.sampled_from(["yes", "no", "na", None]), max_size=8), st.data())
def test_an_item_without_an_answer_changes_no_score(answers, data):
    weights = data.draw(st.lists(st.integers(0, 5), min_size=len(answers), max_size=len(answers)))
    before = score_answers(answers, weights)
    after = score_answers([*answers, None], [*weights, 7])
    for name in ("pass_rate", "weighted_score", "normalized_score", "scaled_score_1_5", "primary_score"):
        assert getattr(after, name) == getattr(before, name)
    assert after.unanswered == before.unanswered + 1

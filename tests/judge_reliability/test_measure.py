"""One judge on one criterion: by examples whose arithmetic is done by hand, other libraries, and properties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evenhand.aggregation.verdict import aggregate
from evenhand.judge_reliability.reliability import FIRST, NEITHER, SECOND, Asked
from evenhand.numbers import Missing
from tests.judge_reliability.builders import BETTER, CITES, CLEAR, asked, comparison, report, vote_on


def test_comparisons_by_hand():
    said = [("A", "A"), ("A", "B"), ("B", "A"), ("T", "T"), ("A", "T"), ("A", None)]
    found = report([comparison([pair], place) for place, pair in enumerate(said)])
    assert (found.num_questions, found.num_instances, found.num_samples) == (6, 6, 1)
    # Consistent: AA and TT of five pairs; towards the first place: AB and AT; towards the second: BA; the last is lone.
    position = found.position
    assert (position.n_checked, position.n_consistent, position.n_primacy, position.n_recency) == (5, 2, 2, 1)
    assert position.n_lone == 1
    assert position.position_consistency.estimate == pytest.approx(2 / 5)
    assert position.first_shown_share.estimate == pytest.approx(2 / 3)
    assert position.preference_fairness.estimate == pytest.approx((1 - 2) / 5)
    # Two or more of three one way, doubled: all outcomes.
    assert position.p_value == 1.0
    assert found.replies.parse_rate.estimate == pytest.approx(11 / 12)
    assert found.replies.unscored_counts.reasons == {"no_match": 1}


def test_assessments_move_to_what_is_shown_earlier_or_later():
    # Shown as Good, Fair, Bad, N/A and then as N/A, Bad, Fair, Good.
    earlier = [("Good", "Fair"), ("Good", "N/A"), ("Fair", "Bad")]
    later = [("Fair", "Good"), ("N/A", "Bad")]
    same = [("Bad", "Bad"), ("N/A", "N/A")]
    questions = [asked(CLEAR, [pair], place) for place, pair in enumerate([*earlier, *later, *same, ("Good", None)])]
    position = report(questions, CLEAR).position
    assert (position.n_primacy, position.n_recency, position.n_consistent, position.n_lone) == (3, 2, 2, 1)


def test_twice_the_length_by_hand():
    # Lengths 3 and 1 count as 4 and 2; three of four such pairs are won in both orders, however they are named.
    won = [("A", (3, 1))] * 3 + [("B", (3, 1))] + [("B", (1, 3))] * 3 + [("A", (1, 3))]
    found = report([comparison([(said, said)], place, lengths=lengths) for place, (said, lengths) in enumerate(won)])
    assert found.verbosity.win_probability_at_double.estimate == pytest.approx(0.75, abs=1e-6)
    assert found.verbosity.slope.estimate == pytest.approx(np.log(3) / np.log(2), abs=1e-5)
    assert found.verbosity_given_people == Missing("no labels of people were given")


def test_people_by_hand():
    said = [("A", "A", FIRST), ("A", "B", FIRST), ("T", "T", NEITHER), ("B", "B", FIRST), ("A", None, FIRST)]
    questions = [comparison([pair], place, label=label) for place, (*pair, label) in enumerate(said)]
    found = report([*questions, comparison([("A", "A")], 9)]).people
    assert (found.num_references, found.num_compared) == (5, 5)
    # Votes: 2 of 2, 1 of 2, 2 of 2, 0 of 2, 1 of 1; draws right in both orders: AA and TT of the four that have both.
    assert found.vote_accuracy.estimate == pytest.approx(6 / 9)
    assert found.all_orders_right.estimate == pytest.approx(2 / 4)
    # Verdicts: first, a tie where the orders disagree, tie, second, first.
    truth, judged = [FIRST, FIRST, NEITHER, FIRST, FIRST], [FIRST, NEITHER, NEITHER, SECOND, FIRST]
    assert found.accuracy.estimate == pytest.approx(3 / 5)
    assert found.cohen_kappa.estimate == pytest.approx(cohen_kappa_score(truth, judged))
    order = [SECOND, NEITHER, FIRST]
    weighted = cohen_kappa_score(truth, judged, labels=order, weights="quadratic")
    assert found.quadratic_weighted_kappa.estimate == pytest.approx(weighted)
    assert found.labels == ("first", "second", "tie", "unscored")
    matrix = np.array(found.confusion_matrix)
    assert (matrix[:3, :3] == confusion_matrix(truth, judged, labels=[FIRST, SECOND, NEITHER])).all()
    assert matrix[3].tolist() == [1, 0, 0, 0]


def test_confidences_by_hand():
    # Stated 0.8 of what the options cover, right in three of five; NA and ties are options like others.
    votes = [("A", FIRST)] * 3 + [("B", FIRST)] * 2
    shares = {"A": (0.72, 0.09, 0.09), "B": (0.09, 0.09, 0.72)}
    questions = [
        comparison([(said,)], place, label=label, probabilities=shares[said])
        for place, (said, label) in enumerate(votes)
    ]
    found = report(questions).confidences
    assert found.brier.n == 5
    assert found.brier.estimate == pytest.approx((3 * 0.04 + 2 * 0.64) / 5)
    assert found.overconfidence.estimate == pytest.approx(0.8 - 0.6)
    assert report([replace(question, label=None) for question in questions]).confidences.reason.startswith("no labels")
    assert "confidences=True" in report([comparison([("A", "A")], label=FIRST)]).confidences.reason


def test_what_was_not_asked_has_a_reason():
    nothing = report([])
    for name in ("position", "repetition", "spread", "verbosity", "people", "confidences"):
        assert isinstance(getattr(nothing, name), Missing), name
    one_order = report([asked(CITES, [("Yes",)])], CITES)
    assert "check_positional_bias" in one_order.position.reason
    assert "samples" in one_order.repetition.reason
    unscored = report([comparison([(None, None)] * 2)])
    assert unscored.position.reason.startswith("no question has a selection in an order and in its reverse")
    assert unscored.repetition.reason.startswith("no prompt has a selection in two draws")
    assert unscored.replies.parse_rate.estimate == 0.0


SAID = st.sampled_from(["A", "B", "T", None])
DRAWS = st.lists(st.tuples(SAID, SAID), min_size=1, max_size=3)
QUESTIONS = st.lists(
    st.tuples(DRAWS, st.integers(0, 3), st.sampled_from([FIRST, SECOND, NEITHER, None]), st.integers(0, 40)),
    min_size=1,
    max_size=8,
)


def renamed(question: Asked) -> Asked:
    """The same comparison with the two responses named the other way round."""
    other = {"Response A": "Response B", "Response B": "Response A", "Tie": "Tie", None: None}
    votes = [
        vote_on(BETTER, other[vote.selected_label], vote.order[::-1], vote.sample) for vote in question.verdict.votes
    ]
    label = {FIRST: SECOND, SECOND: FIRST}.get(question.label, question.label)
    return Asked(question.instance, aggregate(votes, BETTER), label, question.lengths[::-1])


@given(QUESTIONS)
@settings(max_examples=9, deadline=None)
def test_naming_the_responses_otherwise_changes_nothing(drawn):
    questions = [
        comparison(draws, instance, label=label, lengths=(length, 20)) for draws, instance, label, length in drawn
    ]
    one, other = report(questions), report([renamed(question) for question in questions])
    assert other.position == one.position
    assert other.repetition == one.repetition
    assert other.replies == one.replies
    if not isinstance(one.people, Missing):
        for name in ("vote_accuracy", "accuracy", "all_orders_right"):
            assert getattr(other.people, name) == getattr(one.people, name)
    for name in ("verbosity", "verbosity_given_people"):
        first, second = getattr(one, name), getattr(other, name)
        assert isinstance(first, Missing) == isinstance(second, Missing)
        if not isinstance(first, Missing):
            assert second.slope.estimate == pytest.approx(first.slope.estimate, abs=1e-5)

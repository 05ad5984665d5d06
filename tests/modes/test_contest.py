"""One contest: its score from either side, and its votes under other rules."""

import pytest
from pydantic import ValidationError

from evenhand.aggregation.verdict import VoteRules
from evenhand.errors import InvalidInputError
from evenhand.modes.contest import Contest, Showing, resolve
from tests.modes.contests_by_hand import CHOICE, GRADED, TIES, contest, held, vote


def test_orders_that_agree_give_a_win_and_a_loss():
    won = contest(1.0, 1.0)
    assert (won.score_of("a"), won.score_of("b"), won.winner) == (1.0, 0.0, "a")
    lost = contest(0.0, 0.0)
    assert (lost.score_of("a"), lost.score_of("b"), lost.winner) == (0.0, 1.0, "b")
    assert won.opponent("a") == "b"
    assert won.opponent("b") == "a"


@pytest.mark.parametrize(
    ("policy", "score", "winner", "reason"),
    [
        (None, 0.5, None, None),
        ("tie", 0.5, None, None),
        ("average", 0.5, None, None),
        ("first", 1.0, "a", None),
        ("abstain", None, None, "inconsistent"),
    ],
)
def test_orders_that_disagree(policy, score, winner, reason):
    split = contest(1.0, 0.0, on_position_bias=policy)
    assert (split.score, split.winner, split.unscored_reason) == (score, winner, reason)
    assert split.verdict.position_consistent is False


def test_stored_votes_are_resolved_again_without_a_call():
    split = contest(1.0, 0.0)
    again = resolve(split, split.verdict.votes, CHOICE, VoteRules(on_position_bias="first"))
    assert (split.score, again.score) == (0.5, 1.0)
    assert again == contest(1.0, 0.0, on_position_bias="first")
    back = Contest.model_validate_json(again.model_dump_json())
    assert back == again


def test_an_unscored_contest_has_a_reason_and_no_number():
    silent = contest(None, None)
    assert (silent.score, silent.score_of("b"), silent.winner, silent.unscored_reason) == (None, None, None, "no_match")
    unjudged = held([])
    assert unjudged.unscored_reason == "missing_response"
    assert resolve(unjudged, [], CHOICE) == unjudged


@pytest.mark.parametrize(
    ("values", "score", "grade"),
    [
        ((1.0, 1.0), 1.0, 2),
        ((0.75, 0.75), 1.0, 1),
        ((0.5, 0.5), 0.5, 0),
        ((0.25, 0.25), 0.0, -1),
        ((0.0, 0.0), 0.0, -2),
        # the orders agree on the winner and differ in the grade: (2 + 1) / 2
        ((1.0, 0.75), 1.0, 1.5),
        # they name different winners: a tie
        ((1.0, 0.25), 0.5, 0),
    ],
)
def test_a_graded_contest_is_a_whole_win_with_a_grade(values, score, grade):
    graded = contest(*values, criterion=GRADED)
    assert (graded.score, graded.grade) == (score, grade)
    assert (graded.score_of("b"), graded.grade_of("b")) == (1 - score, -grade)


def test_a_choice_has_no_grade():
    assert contest(1.0, 1.0).grade_of("a") is None
    assert contest(0.5, 0.5, criterion=TIES).winner is None


def test_showings_say_what_each_judge_said_when_each_system_was_shown_first():
    votes = [vote(1.0, judge="x"), vote(0.0, judge="x", swapped=True)]
    # three draws in one order, of which two are for "a"
    votes += [vote(value, judge="y", sample=sample) for sample, value in enumerate((1.0, 0.0, 1.0))]
    votes += [vote(None, judge="y", swapped=True)]
    assert held(votes).showings == (
        Showing(judge_id="x", shown_first="a", value=1.0),
        Showing(judge_id="x", shown_first="b", value=0.0),
        Showing(judge_id="y", shown_first="a", value=1.0),
        Showing(judge_id="y", shown_first="b", value=None),
    )


def test_a_third_system_is_an_error_and_a_contest_is_frozen():
    with pytest.raises(InvalidInputError, match="between 'a' and 'b', without 'c'"):
        contest(1.0).score_of("c")
    with pytest.raises(ValidationError):
        contest(1.0).first = "c"

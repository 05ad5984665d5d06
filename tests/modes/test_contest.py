"""Contests, winrates and what is reported of them, worked by hand."""

import pytest
from scipy.stats import binomtest

from evenhand.errors import InvalidInputError
from evenhand.modes.winrates import check_reduction, summarize_contests, winrates
from tests.modes.contests_by_hand import GRADED, contest


@pytest.mark.parametrize(
    ("values", "score", "grade"),
    [
        ((1.0, 1.0), 1.0, 2),
        ((0.75, 0.75), 1.0, 1),
        ((0.5, 0.5), 0.5, 0),
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
    assert contest(1.0, 1.0).grade_of("a") is None


def test_weighted_winrates_by_the_definition():
    grades = [(1.0, 1.0), (0.75, 0.75), (0.5, 0.5), (0.25, 0.25), (0.0, 0.0)]
    contests = [contest(*values, criterion=GRADED) for values in grades]
    # a: grades 2, 1, 0, -1, -2: won 2 + 1 + 1, fought 2 + 1 + 2 + 1 + 2
    assert winrates(contests, "ab", "weighted_win_rate") == {"a": 4 / 8, "b": 4 / 8}
    # without the two losses: won 4 of 5; b the rest
    assert winrates(contests[:3], "ab", "weighted_win_rate") == pytest.approx({"a": 4 / 5, "b": 1 / 5})
    # unweighted a tie is half a win: (1 + 1 + ½) / 3
    assert winrates(contests[:3], "ab") == pytest.approx({"a": 2.5 / 3, "b": 0.5 / 3})


def test_a_weighted_winrate_needs_grades():
    assert check_reduction("weighted_win_rate", graded=True) == "weighted_win_rate"
    with pytest.raises(InvalidInputError, match="scale='graded'"):
        check_reduction("weighted_win_rate", graded=False)


def test_first_shown_preference_is_tested_exactly():
    stuck_first = [contest(1.0, 0.0, instance=row) for row in range(9)]
    summary = summarize_contests([*stuck_first, contest(0.0, 1.0, instance=9), contest(1.0, 1.0, instance=10)], "ab")
    assert summary.position.first_shown_share.estimate == pytest.approx(0.9)
    # two-sided: 2 · (C(10, 0) + C(10, 1)) / 2^10 = 22 / 1024
    assert summary.position.p_value == pytest.approx(22 / 1024)
    assert summary.position.p_value == pytest.approx(binomtest(9, 10).pvalue)


def test_where_the_refused_contests_depend_on_the_winner_the_bounds_lead():
    # a and b win 20 of 40 each, and the judge refuses 8 of those that b wins: read 20 of 32, all 20 or 28 of 40
    fought = [contest(1.0, 1.0, instance=row) for row in range(20)]
    fought += [contest(0.0, 0.0, instance=20 + row) for row in range(12)]
    fought += [contest(None, None, instance=32 + row) for row in range(8)]
    a, b = summarize_contests(fought, "ab").systems
    assert a.winrate.estimate == pytest.approx(20 / 32)
    assert (a.unscored_bounds.low, a.unscored_bounds.high, a.unscored_bounds.share) == pytest.approx(
        (20 / 40, 28 / 40, 8 / 40)
    )
    assert (b.unscored_bounds.low, b.unscored_bounds.high) == pytest.approx((12 / 40, 20 / 40))
    assert (
        a.unscored_bounds.interval_low
        < a.unscored_bounds.low
        < a.unscored_bounds.high
        < a.unscored_bounds.interval_high
    )
    ranking = summarize_contests(fought[:32], "ab").systems
    assert [one.unscored_bounds for one in ranking] == [None, None]  # all read: the winrate leads

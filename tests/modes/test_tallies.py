"""Winrates and ranks, worked by hand, and what must hold of all of them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.modes.contest import (
    check_reduction,
    presented_contests,
    rankings,
    resolved_contests,
    tallies,
    winrates,
)
from tests.modes.contests_by_hand import GRADED, TIES, contest, held, vote

VALUES = st.sampled_from([(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (None, 1.0), (None, None)])
FIELDS = st.dictionaries(
    st.tuples(st.integers(0, 5), st.sampled_from([("a", "b"), ("a", "c"), ("b", "c")])), VALUES, max_size=12
)


def field(drawn):
    return [contest(*values, first=pair[0], second=pair[1], instance=row) for (row, pair), values in drawn.items()]


def test_winrates_by_hand():
    contests = [
        contest(1.0, 1.0),  # a beats b
        contest(1.0, 0.0),  # a and b tie
        contest(0.0, 0.0, first="a", second="c"),  # c beats a
        contest(None, None, first="b", second="c"),  # nobody knows
    ]
    # a: (1 + ½ + 0) / 3; b: (0 + ½) / 2; c: 1 / 1
    assert winrates(contests, ["a", "b", "c", "d"]) == {"a": 0.5, "b": 0.25, "c": 1.0, "d": None}


def test_weighted_winrates_by_the_definition():
    grades = [(1.0, 1.0), (0.75, 0.75), (0.5, 0.5), (0.25, 0.25), (0.0, 0.0)]
    contests = [contest(*values, criterion=GRADED) for values in grades]
    # a: grades 2, 1, 0, -1, -2: won 2 + 1 + 1, fought 2 + 1 + 2 + 1 + 2
    assert tallies(contests, "ab", "weighted_win_rate") == {"a": (4.0, 8.0), "b": (4.0, 8.0)}
    # without the two losses: won 4 of 5; b the rest
    assert winrates(contests[:3], "ab", "weighted_win_rate") == pytest.approx({"a": 4 / 5, "b": 1 / 5})
    # unweighted a tie is half a win: (1 + 1 + ½) / 3
    assert winrates(contests[:3], "ab") == pytest.approx({"a": 2.5 / 3, "b": 0.5 / 3})


def test_a_weighted_winrate_needs_grades():
    assert check_reduction("weighted_win_rate", graded=True) == "weighted_win_rate"
    with pytest.raises(InvalidInputError, match="scale='graded'"):
        check_reduction("weighted_win_rate", graded=False)
    with pytest.raises(InvalidInputError, match="Did you mean 'win_rate'"):
        check_reduction("winrate", graded=True)
    with pytest.raises(InvalidInputError, match="'a' and 'b' has no grade"):
        tallies([contest(1.0)], "ab", "weighted_win_rate")


def test_equals_share_the_better_rank_even_when_sums_round_differently():
    assert rankings({"a": 0.1 + 0.2, "b": 0.3, "c": 0.2, "d": None}) == {"a": 1, "b": 1, "c": 3, "d": None}


@given(FIELDS)
def test_winrates_weighted_by_contests_sum_to_the_scored_contests(drawn):
    contests = field(drawn)
    scored = [held for held in contests if held.score is not None]
    rates = winrates(contests, "abc")
    total = sum((rates[name] or 0) * sum(name in {held.first, held.second} for held in scored) for name in "abc")
    assert total == pytest.approx(len(scored))


@given(FIELDS)
def test_swapping_the_sides_of_every_contest_changes_nothing(drawn):
    mirror = {1.0: 0.0, 0.0: 1.0, None: None}
    swapped = [
        contest(*(mirror[value] for value in values), first=pair[1], second=pair[0], instance=row)
        for (row, pair), values in drawn.items()
    ]
    assert winrates(swapped, "abc") == winrates(field(drawn), "abc")


@given(FIELDS)
def test_renaming_systems_renames_winrates(drawn):
    names = {"a": "tie", "b": "a", "c": "x: y.z"}
    renamed = [
        contest(*values, first=names[pair[0]], second=names[pair[1]], instance=row)
        for (row, pair), values in drawn.items()
    ]
    expected = {names[name]: rate for name, rate in winrates(field(drawn), "abc").items()}
    assert winrates(renamed, [names[name] for name in "abc"]) == expected


def test_arrays_of_resolved_contests_have_a_row_a_contest():
    contests = [contest(1.0, 1.0), contest(1.0, 0.0, first="c", second="a", instance=3), held([], instance=4)]
    arrays = resolved_contests(contests, ["a", "b", "c"])
    assert arrays.first.tolist() == [0, 2, 0]
    assert arrays.second.tolist() == [1, 0, 1]
    assert arrays.score.tolist()[:2] == [1.0, 0.5]
    assert math.isnan(arrays.score[2])
    assert arrays.cluster.tolist() == [0, 3, 4]


def test_arrays_of_presented_contests_have_a_row_a_vote_with_the_first_shown_first():
    # a is preferred when shown first, b when shown first; then a vote that cannot be read
    split = held([vote(1.0), vote(0.0, swapped=True), vote(None, judge="k", swapped=True)], instance=2)
    tied = contest(0.5, criterion=TIES, instance=5)
    arrays = presented_contests([split, tied, held([], instance=9)], ["a", "b"])
    assert arrays.first.tolist() == [0, 1, 1, 0]
    assert arrays.second.tolist() == [1, 0, 0, 1]
    assert arrays.score.tolist()[:2] == [1.0, 1.0]
    assert math.isnan(arrays.score[2])
    assert arrays.score[3] == 0.5
    assert arrays.cluster.tolist() == [2, 2, 2, 5]
    assert len(presented_contests([], ["a", "b"])) == 0


def test_of_a_graded_vote_the_side_counts_in_both_arrays():
    graded = [contest(value, value, criterion=GRADED, instance=row) for row, value in enumerate([1.0, 0.75, 0.5, 0.25])]
    # a wins twice (much, slightly), an even one, b wins slightly; the second row of each showing is b's side
    assert resolved_contests(graded, ["a", "b"]).score.tolist() == [1.0, 1.0, 0.5, 0.0]
    assert presented_contests(graded, ["a", "b"]).score.tolist() == [1.0, 0.0, 1.0, 0.0, 0.5, 0.5, 0.0, 1.0]

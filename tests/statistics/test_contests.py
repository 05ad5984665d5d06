import numpy as np
import pytest

from evenhand.errors import InvalidInputError
from evenhand.statistics.contests import Contests


def test_scores_and_meetings_add_up_by_prompt():
    contests = Contests.of(
        ["a", "b", "c"],
        first=[0, 1, 0, 2],
        second=[1, 0, 2, 1],
        score=[1.0, 0.25, 0.5, np.nan],
        cluster=[30, 30, 10, 10],
    )
    # prompt 10: a and c tie. Prompt 30: a takes 1 and then 0.75 of b.
    assert contests.wins[0].tolist() == [[0, 0, 0.5], [0, 0, 0], [0.5, 0, 0]]
    assert contests.wins[1].tolist() == [[0, 1.75, 0], [0.25, 0, 0], [0, 0, 0]]
    assert contests.meetings[1].tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert len(contests.scored) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": ["a"]}, "at least two"),
        ({"systems": ["a", "a"]}, "'a' is named twice"),
        ({"first": [0, 2]}, "system 2, but there are 2"),
        ({"second": [1, -1]}, "system -1, but there are 2"),
        ({"second": [1, 0]}, "'a' meets itself"),
        ({"score": [1.0, 1.5]}, "1.5"),
        ({"score": [1.0]}, "one score a contest"),
        ({"cluster": [1]}, "one cluster a contest"),
        ({"first": [0.0, 0.0]}, "float64: give integers"),
    ],
)
def test_what_is_not_a_contest_is_refused(change, message):
    good = {"systems": ["a", "b"], "first": [0, 0], "second": [1, 1], "score": [1.0, 0.0], "cluster": [0, 1]}
    given = {**good, **change}
    with pytest.raises(InvalidInputError, match=message):
        Contests.of(given.pop("systems"), **given)


def test_the_arrays_are_copies_that_cannot_be_written():
    score = np.array([1.0, 0.0])
    contests = Contests.of(["a", "b"], first=[0, 0], second=[1, 1], score=score)
    score[0] = 0.0
    assert contests.score[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        contests.score[0] = 0.0

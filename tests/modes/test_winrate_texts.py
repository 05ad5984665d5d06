"""Rankings as texts: the better system's side is told right, and what does not exist is a dash and a reason."""

import pytest

from evenhand.modes.winrates import ranking_notes
from evenhand.statistics.contests import Contests
from evenhand.statistics.ranking import rank_systems

# c beats a in 4 of 5 contests; b met nobody.
WON = Contests.of(["a", "b", "c"], first=[0] * 5, second=[2] * 5, score=[0, 0, 0, 0, 1])


@pytest.fixture(scope="module")
def ranking():
    return rank_systems(WON, presented=WON, length_difference=[1.0] * 5)


def test_systems_that_differ_are_told_apart_and_circles_counted():
    ladder = [(0, 1), (0, 2), (1, 2)]
    contests = Contests.of(
        ["a", "b", "c"],
        first=[pair[0] for pair in ladder for _ in range(20)],
        second=[pair[1] for pair in ladder for _ in range(20)],
        score=[1.0] * 60,
        cluster=list(range(20)) * 3,
    )
    notes = " ".join(ranking_notes(rank_systems(contests)))
    assert "All systems are distinguishable at the 95% level (Holm)." in notes
    assert "Preferences in a circle: 0 of 1 triples of systems; within prompts 0 %" in notes
    assert "of 20." in notes
    assert "opponents of unequal strength" not in notes

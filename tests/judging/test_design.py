"""Which pairs meet: every design by its definition, and what it promises about balance."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.judging.grid import Design, fixed_pairs, parse_design, swiss_pairs

SYSTEMS = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("al", "Did you mean 'all'"),
        ("", "Accepted: 'all', 'baseline', 'sample', 'swiss'"),
        ("all:3", "takes nothing after it"),
        ("baseline", "names no baseline"),
        ("baseline:", "names no baseline"),
        ("sample", "'' is not a number of pairs per instance"),
        ("sample:0", "whole number from 1"),
        ("sample:-1", "whole number from 1"),
        ("sample:1.5", "'1.5' is not a number"),
        ("swiss:two", "'two' is not a number of rounds"),
        ("sample:²", "is not a number"),
        (3, "is a int"),
    ],
)
def test_a_wrong_design_says_what_is_accepted(text, hint):
    with pytest.raises(InvalidInputError) as caught:
        parse_design(text)
    assert hint in str(caught.value)
    assert repr(text) in str(caught.value)


def test_a_design_that_the_systems_cannot_fill_is_an_error():
    with pytest.raises(InvalidInputError, match=r"names a system that the predictions do not\. Did you mean 'gpt-4'"):
        fixed_pairs(Design("baseline", baseline="gpt4"), ["gpt-4", "llama"], 1)
    with pytest.raises(InvalidInputError, match="asks for 7 pairs per instance, but 4 systems make 6"):
        fixed_pairs(Design("sample", count=7), SYSTEMS, 1)
    # 4 systems have met after 3 rounds, 5 systems after 5, because one always sits out
    with pytest.raises(InvalidInputError, match="in 3 every two of 4"):
        Design("swiss", count=4).check_systems(SYSTEMS)
    Design("swiss", count=5).check_systems([*SYSTEMS, "e"])
    with pytest.raises(InvalidInputError, match="in 5 every two of 5"):
        Design("swiss", count=6).check_systems([*SYSTEMS, "e"])


@given(systems=st.integers(2, 8), instances=st.integers(1, 12), seed=st.integers(0, 99), data=st.data())
def test_a_sample_is_balanced_over_pairs_and_systems(systems, instances, seed, data):
    every = list(itertools.combinations(range(systems), 2))
    count = data.draw(st.integers(1, len(every)))
    hands = fixed_pairs(Design("sample", count=count, seed=seed), [str(system) for system in range(systems)], instances)
    assert len(hands) == instances
    assert all(len(hand) == len(set(hand)) == count and set(hand) <= set(every) for hand in hands)
    pairs = Counter(pair for hand in hands for pair in hand)
    times = [pairs[pair] for pair in every]
    assert max(times) - min(times) <= 1
    contests = Counter(system for hand in hands for pair in hand for system in pair)
    appearances = [contests[system] for system in range(systems)]
    assert max(appearances) - min(appearances) <= 3


RANKED = {"a": 0.4, "b": 0.9, "c": 0.1, "d": 0.6}  # b, d, a, c
SWISS = {
    "neighbours of the ranking: b meets d, a meets c": (RANKED, (), ((0, 2), (1, 3))),
    "no pair again: b and d have met here, so b meets a, and d is left with c": (RANKED, [(1, 3)], ((0, 1), (2, 3))),
    "all have met": (RANKED, itertools.combinations(range(4), 2), ()),
    "the lowest of an odd field is left out": ({"a": 0.4, "b": 0.9, "c": 0.1}, (), ((0, 1),)),
}


@pytest.mark.parametrize(("winrates", "met", "expected"), SWISS.values(), ids=SWISS)
def test_swiss_pairs(winrates, met, expected):
    design, round_so_far = Design("swiss", count=2, seed=0), {"round_number": 1, "winrates": winrates}
    assert swiss_pairs(design, tuple(winrates), 1, **round_so_far, met=[set(met)]) == [expected]

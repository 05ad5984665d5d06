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


def swiss(winrates, met=((),), round_number=1, systems=SYSTEMS, seed=0):
    return swiss_pairs(
        Design("swiss", count=2, seed=seed),
        systems,
        len(met),
        round_number=round_number,
        winrates=winrates,
        met=[set(pairs) for pairs in met],
    )


def test_swiss_pairs_neighbours_of_the_ranking():
    # ranking b, d, a, c: b meets d, a meets c
    assert swiss({"a": 0.4, "b": 0.9, "c": 0.1, "d": 0.6}) == [((0, 2), (1, 3))]


def test_swiss_never_repeats_a_pair_on_an_instance():
    # ranking b, d, a, c; b and d have met here, so b meets a, and d is left with c
    assert swiss({"a": 0.4, "b": 0.9, "c": 0.1, "d": 0.6}, met=[[(1, 3)]]) == [((0, 1), (2, 3))]
    # all have met
    assert swiss({"a": 0.4, "b": 0.9, "c": 0.1, "d": 0.6}, met=[itertools.combinations(range(4), 2)]) == [()]


def test_swiss_leaves_the_lowest_of_an_odd_field_out():
    assert swiss({"a": 0.4, "b": 0.9, "c": 0.1}, systems=("a", "b", "c")) == [((0, 1),)]

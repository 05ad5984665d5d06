"""Which orders and samples are asked for, and which pairs meet: every design by its definition and its balance."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError
from evenhand.judging.grid import Design, fixed_pairs, parse_design, swiss_pairs
from evenhand.judging.grid import permutations as shown_orders
from evenhand.options import Grid
from evenhand.question import Question


def criterion(options):
    return Criterion(
        name="c",
        description="d",
        options=tuple(Option(label=f"L{index}", value=index / (options - 1)) for index in range(options)),
    )


def questions(instances, *, options=4):
    asked = criterion(options)
    return [
        Question(id=str(instance), criterion=asked, responses=(f"r{instance}",), instance=instance)
        for instance in range(instances)
    ]


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        (Grid(check_positional_bias=False), [(0, 1, 2)]),
        (Grid(check_positional_bias=True), [(0, 1, 2), (2, 1, 0)]),
        (Grid(orders="reversed"), [(2, 1, 0), (0, 1, 2)]),
        (Grid(orders="reversed", check_positional_bias=False), [(2, 1, 0)]),
        (Grid(orders="both", check_positional_bias=False), [(0, 1, 2), (2, 1, 0)]),
        (Grid(orders="cyclic"), [(0, 1, 2), (1, 2, 0), (2, 0, 1)]),
    ],
)
def test_the_orders_of_a_question(grid, expected):
    assert shown_orders(questions(2, options=3), grid) == [tuple(expected)] * 2


def test_a_part_of_the_data_is_sampled_as_the_whole_is():
    """A group of a recipe sees the same instances under other row numbers; what is drawn must not change."""
    whole = [
        Question(id=str(row), criterion=criterion(4), responses=(f"r{row}",), instance=row, draw_key=f"content {row}")
        for row in range(60)
    ]
    part = [replace(question, id=str(row), instance=row) for row, question in enumerate(whole[30:])]
    for grid in (Grid(check_positional_bias=0.3), Grid(orders="shuffled", shuffles=2)):
        assert shown_orders(part, grid) == shown_orders(whole, grid)[30:]


def test_every_instance_is_sampled_about_equally_often():
    """400 seeds, 20 instances, share 0.25: each is drawn 100 times on average, standard deviation √(400·¼·¾) = 8.7."""
    asked, drawn = questions(20, options=2), [0] * 20
    for seed in range(400):
        for question, orders in zip(
            asked, shown_orders(asked, Grid(check_positional_bias=0.25, seed=seed)), strict=True
        ):
            drawn[question.instance] += len(orders) == 2
    assert abs(sum(drawn) - 2000) < 5 * 39  # of 8000 draws; standard deviation √(8000·¼·¾) = 38.7
    assert all(abs(count - 100) < 5 * 8.7 for count in drawn)


def test_a_shuffle_favours_no_order():
    """600 questions, 6 orders: 100 each on average, standard deviation √(600·1/6·5/6) = 9.1."""
    asked = questions(600, options=3)
    counts = Counter(order for [order] in shown_orders(asked, Grid(orders="shuffled", check_positional_bias=False)))
    assert len(counts) == 6
    assert all(abs(count - 100) < 5 * 9.1 for count in counts.values())


SYSTEMS = ("a", "b", "c", "d")


WRONG = ("al", "", "all:3", "baseline", "baseline:", "sample", "sample:0", "sample:-1", "sample:1.5", "swiss:two", 3)


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_design_says_what_is_accepted(text):
    with pytest.raises(InvalidInputError, match="accepted: 'all', 'baseline:<system>', 'sample:") as caught:
        parse_design(text)
    assert repr(text) in str(caught.value)


def test_a_design_that_the_systems_cannot_fill_is_an_error():
    with pytest.raises(InvalidInputError, match=r"names a system that the predictions do not\. Did you mean 'gpt-4'"):
        fixed_pairs(Design("baseline", baseline="gpt4"), ["gpt-4", "llama"], 1)
    with pytest.raises(InvalidInputError, match="asks for 7 pairs per instance, but 4 systems make 6"):
        fixed_pairs(Design("sample", count=7), SYSTEMS, 1)
    # 4 systems have met after 3 rounds, 5 systems after 5, because one always sits out
    with pytest.raises(InvalidInputError, match="asks for 4 rounds without a repetition, but 4 systems make 3"):
        Design("swiss", count=4).check_systems(SYSTEMS)
    Design("swiss", count=5).check_systems([*SYSTEMS, "e"])
    with pytest.raises(InvalidInputError, match="but 5 systems make 5"):
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

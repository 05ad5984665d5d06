"""Which orders and samples are asked for."""

from collections import Counter
from dataclasses import replace

import pytest

from evenhand.criteria import Criterion, Option
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

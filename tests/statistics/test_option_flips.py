import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.statistics import option_flips


def test_by_hand():
    # 0 twice, 0 and 1, 1 and 0, 1 twice, 2 and 1; a lone 2, nothing, and one not asked twice.
    rows = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 1], [2, -1], [-1, -1], [0, -2]]
    zero, one, two, three = option_flips(rows, 4)
    assert [(flips.n_selected, flips.n_flipped) for flips in (zero, one, two)] == [(3, 2), (4, 3), (1, 1)]
    assert [flips.flip_rate.estimate for flips in (zero, one, two)] == pytest.approx([2 / 3, 3 / 4, 1])
    # 2a / (2a + d): a = 1, d = 2; a = 1, d = 3; a = 0.
    assert [flips.specific_agreement.estimate for flips in (zero, one, two)] == pytest.approx([2 / 4, 2 / 5, 0])
    assert (zero.moved_to, one.moved_to, two.moved_to) == ((0, 2, 0, 0), (2, 0, 1, 0), (0, 1, 0, 0))
    assert (three.n_selected, three.flip_rate, three.specific_agreement) == (0, None, None)


@given(st.lists(st.tuples(*[st.integers(-2, 3)] * 3), min_size=1, max_size=20), st.permutations(range(4)))
@settings(max_examples=60, deadline=None)
def test_renaming_the_options_renames_the_rates(rows, names):
    table = np.array(rows)
    renamed = np.where(table < 0, table, np.array(names)[table])
    found, other = option_flips(table, 4), option_flips(renamed, 4)
    for option in range(4):
        assert other[names[option]].flip_rate == found[option].flip_rate
        assert other[names[option]].specific_agreement == found[option].specific_agreement
        assert [other[names[option]].moved_to[names[to]] for to in range(4)] == list(found[option].moved_to)


def test_three_orders():
    # 0, 0, 1: option 0 has one equal pair of orders among 2 · 2 of its own; 1 flips to 0 in both others.
    zero, one = option_flips([[0, 0, 1], [1, 1, 1]], 2)
    assert zero.specific_agreement.estimate == pytest.approx(2 / 4)
    assert one.specific_agreement.estimate == pytest.approx(6 / 8)
    assert (zero.n_flipped, one.n_flipped, one.n_selected, zero.moved_to) == (1, 1, 2, (0, 2))


def test_a_known_rate_is_recovered_within_its_interval():
    # Option 0 is meant in 60 % of the instances and named in each order with probability 0.9, else option 1.
    generator = np.random.default_rng(4)
    meant = (generator.random(4000) < 0.4).astype(int)
    rows = np.where(generator.random((4000, 2)) < 0.9, meant[:, None], 1 - meant[:, None])
    both = 0.6 * 0.81 + 0.4 * 0.01
    zero = option_flips(rows, 2, level=0.99)[0]
    assert zero.flip_rate.low < 0.18 / (both + 0.18) < zero.flip_rate.high
    assert zero.specific_agreement.low < 2 * both / (2 * both + 0.18) < zero.specific_agreement.high


def test_clusters_widen_the_interval():
    rows = [[0, 0], [0, 1]] * 12
    alone = option_flips(rows, 2)[0].flip_rate
    together = option_flips(sorted(rows), 2, clusters=np.repeat(np.arange(4), 6))[0].flip_rate
    assert together.n == 4
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: option_flips([[0, 3]], 3), "greatest selection 3"),
        (lambda: option_flips([[0, 0]], 1), "n_options is 1"),
        (lambda: option_flips([[0.0, 0.5]], 3), "integers"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()

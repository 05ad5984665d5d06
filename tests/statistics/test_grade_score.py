import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import grade_score_chance, uniformity
from evenhand.statistics.consistency import UNSCORED, grade_score_parts

FOUR = [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]


def rotations(n):
    return [[(rotation + place) % n for place in range(n)] for rotation in range(n)]


def score_of_question(selected, orders):
    """The definition, one question at a time and in words of the standard library; -1 is no answer."""
    answered = [(choice, order) for choice, order in zip(selected, orders, strict=True) if choice >= 0]
    if len(answered) < 2:
        return None
    places = Counter(list(order).index(choice) for choice, order in answered)
    shares = [count / len(answered) for count in places.values()]
    entropy = -sum(share * math.log2(share) for share in shares) / math.log2(len(answered))
    frequency = max(Counter(choice for choice, _ in answered).values()) / len(answered)
    return 2 * entropy * frequency / (entropy + frequency), entropy, frequency


def parts(selected, orders):
    """Those of the package, of one question."""
    places = np.zeros((1, len(selected)), dtype=int)
    options = places.copy()
    for choice, order in zip(selected, orders, strict=True):
        if choice >= 0:
            places[0, list(order).index(choice)] += 1
            options[0, choice] += 1
    return tuple(float(part[0]) for part in grade_score_parts(places, options))


@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.integers(UNSCORED, n - 1), min_size=n, max_size=n)))
def test_it_is_the_definition(selected):
    expected = score_of_question(selected, rotations(len(selected)))
    if expected is not None:
        assert parts(selected, rotations(len(selected))) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("selected", "score"),
    [
        # Rotations 012, 120, 201. Chosen 1, 1, 2: the places are 1, 0, 0. H = -(1/3)lg(1/3) - (2/3)lg(2/3)
        #   = 0.52832 + 0.38998 = 0.91830 bits, L = 0.91830 / 1.58496 = 0.57938; C = 2/3;
        #   G = 2 · 0.57938 · 0.66667 / 1.24605 = 0.61997.
        ([1, 1, 2], 0.61997),
        # The places are 0, 1, 2. L = 1, every option once: C = 1/3, G = 2/3 / (4/3) = 1/2.
        ([0, 2, 1], 0.5),
        # The places are 2, 1. L = lg 2 / lg 2 = 1, C = 1, G = 1 on two of three rotations.
        ([2, 2, -1], 1.0),
        # The place is 0 twice. L = 0, G = 0.
        ([0, -1, 2], 0.0),
        # The places are 0, 0, 3, 2: H = 1.5 bits of 2, C = 3/4: G = 3/4.
        ([0, 1, 1, 1], 0.75),
        # The places are 3, 3, 2, 0: H = 1.5 bits of 2, C = 2/4: G = 2 · 3/4 · 1/2 / (5/4) = 3/5.
        ([3, 0, 0, 3], 0.6),
        # Three answers at the places 1, 0, 2: H = lg 3 of lg 3, C = 1: G = 1.
        ([1, 1, -1, 1], 1.0),
        # Three answers at the places 0, 0, 2: H = 0.91830 of 1.58496, C = 2/3: G = 0.61997 as above.
        ([0, 1, -1, 1], 0.61997),
    ],
)
def test_by_hand(selected, score):
    orders = FOUR if len(selected) == 4 else rotations(3)
    assert parts(selected, orders)[0] == pytest.approx(score, abs=1e-5)


def test_chance_by_hand():
    # N = 3, m = 3. Hold the first choice at place 0 (option 0 in 012); 9 patterns of the places in 120 and 201:
    # places 000: options 0,1,2   L 0                        -> 0
    # places 001: options 0,1,0   L .57938, C 2/3            -> .61997
    # places 002: options 0,1,1   as above                   -> .61997
    # places 010: options 0,2,2                              -> .61997
    # places 011: options 0,2,0                              -> .61997
    # places 012: options 0,2,1   L 1, C 1/3                 -> .5
    # places 020: options 0,0,2                              -> .61997
    # places 021: options 0,0,0   L 1, C 1                   -> 1
    # places 022: options 0,0,1                              -> .61997
    chance = grade_score_chance(3, 3)
    assert chance == pytest.approx((0 + 6 * 0.61997 + 0.5 + 1) / 9, abs=1e-5)
    # m = 2 of N: the places agree in 1/N (0), the options in 1/N (1), else two places and two options:
    # L = 1, C = 1/2, G = 2/3.
    for n in range(2, 13):
        expected = Fraction(1, n) + (1 - Fraction(2, n)) * Fraction(2, 3)
        assert grade_score_chance(n, 2) == pytest.approx(float(expected))


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 2), (4, 3), (4, 4), (5, 4), (5, 5)])
def test_chance_is_the_mean_over_all_patterns_of_answers(n, m):
    scores = []
    for asked in itertools.combinations(range(n), m):
        for chosen in itertools.product(range(n), repeat=m):
            row = [UNSCORED] * n
            for rotation, choice in zip(asked, chosen, strict=True):
                row[rotation] = choice
            scores.append(score_of_question(row, rotations(n))[0])
    assert grade_score_chance(n, m) == pytest.approx(np.mean(scores), abs=1e-12)


def test_beyond_300000_patterns_chance_is_simulated():
    # 7^6 = 117,649 and C(7, 4) · 8^4 = 143,360 are listed, 8^7 = 2,097,152 are not.
    first, again, other = (grade_score_chance(8, 8, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert grade_score_chance(8, 5, seed=1) == grade_score_chance(8, 5, seed=2)
    assert abs(first - other) < 0.0025
    generator = np.random.default_rng(3)
    scores = [score_of_question(row, rotations(8))[0] for row in generator.integers(8, size=(5000, 8)).tolist()]
    assert np.mean(scores) == pytest.approx(first, abs=4 * np.std(scores) / 5000**0.5)


def test_instances_stuck_to_the_first_of_two():
    # All twenty at one end: the squared sum of twenty signs over twenty is chi2 = 20.
    result = uniformity([[2, 0]] * 20)
    assert result.counts == (40, 0)
    assert result.p_value == pytest.approx(stats.chi2.sf(20, 1))

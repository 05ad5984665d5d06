import csv
import gzip
import math
from itertools import combinations

import evalica
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from evenhand.statistics.contests import Contests
from evenhand.statistics.strengths import fit_strengths, placeable
from tests.support.shared import shared_path

LOG_3, LOG_4 = np.log([3.0, 4.0])
BOTH_EFFECTS = [(0, 1, 1, 16), (0, 1, 0.5, 4), (0, 1, 0, 1), (1, 0, 1, 7), (1, 0, 0.5, 7), (1, 0, 0, 7)]


def contests_of(rows, systems="ab"):
    """Rows of (first, second, score, how often)."""
    flat = [(first, second, score) for first, second, score, times in rows for _ in range(times)]
    first, second, score = zip(*flat, strict=True)
    return Contests.of(systems, first=first, second=second, score=score)


def log_strengths(fit):
    return [strength.estimate if strength else None for strength in fit.strengths]


class TestByHand:
    def test_bradley_terry_meets_proportions_that_fit_it_exactly(self):
        # odds 3:1 and 3:1 make 9:1: lambda = (log 3, 0, -log 3), shares 9/13, 3/13, 1/13
        contests = contests_of(
            [(0, 1, 1, 3), (0, 1, 0, 1), (1, 2, 1, 3), (1, 2, 0, 1), (0, 2, 1, 9), (0, 2, 0, 1)], "abc"
        )
        fit = fit_strengths(contests, ties="half")
        np.testing.assert_allclose(log_strengths(fit), [LOG_3, 0, -LOG_3], atol=1e-7)
        np.testing.assert_allclose(softmax(log_strengths(fit)), [9 / 13, 3 / 13, 1 / 13], atol=1e-7)

    @pytest.mark.parametrize(
        ("rows", "options", "strength", "gamma", "nu"),
        [
            # Davidson: pi = (4, 1), nu = 1.5: win : tie : loss = 4 : 1.5 · sqrt(4) : 1 = 4 : 3 : 1
            ([(0, 1, 1, 4), (0, 1, 0.5, 3), (0, 1, 0, 1)], {}, LOG_4 / 2, None, 1.5),
            # An order effect: pi = (3, 1), gamma = 2. a first: 2·3 : 1. b first: 2·1 : 3.
            ([(0, 1, 1, 6), (0, 1, 0, 1), (1, 0, 1, 2), (1, 0, 0, 3)], {"ties": "half"}, LOG_3 / 2, 2, None),
            # Davidson and Beaver: pi = (4, 1), gamma = 4, nu = 1. a first: 16 : sqrt(16) : 1, b first: 4 : 4 : 4.
            (BOTH_EFFECTS, {}, LOG_4 / 2, 4, 1),
        ],
    )
    def test_ties_and_orders(self, rows, options, strength, gamma, nu):
        fit = fit_strengths(contests_of(rows), order_effect=gamma is not None, **options)
        np.testing.assert_allclose(log_strengths(fit), [strength, -strength], atol=1e-7)
        if gamma is not None:
            assert fit.position_probability.estimate == pytest.approx(gamma / (1 + gamma), abs=1e-7)
        if nu is not None:
            assert np.exp(fit.fit.parameters[-1]) == pytest.approx(nu, abs=1e-7)

    def test_interval(self):
        # 3 wins of 4 prompts: e = log 3, information n p q = 3/4, sum of squared scores 3 · (1/4)² + (3/4)² = 3/4,
        # variance 4/3 · (3/4) / (3/4)² = 16/9; lambda = e/2 with error (4/3)/2 = 2/3; t(3) = 3.182446
        fit = fit_strengths(contests_of([(0, 1, 1, 3), (0, 1, 0, 1)]), ties="half")
        interval = fit.strengths[0]
        assert interval.estimate == pytest.approx(LOG_3 / 2, abs=1e-7)
        assert interval.high - interval.estimate == pytest.approx(3.182446 * 2 / 3, abs=1e-5)
        assert interval.n == 4


class TestNoFiniteEstimate:
    def test_a_sweep_is_placed_nowhere_and_the_others_among_themselves(self):
        fit = fit_strengths(contests_of([(0, 1, 1, 5), (0, 2, 1, 5), (1, 2, 1, 3), (1, 2, 0, 1)], "abc"))
        assert fit.strengths[0].reason == "won every contest: no finite strength"
        np.testing.assert_allclose(log_strengths(fit)[1:], [LOG_3 / 2, -LOG_3 / 2], atol=1e-7)

    def test_a_small_group_is_told_apart_from_the_systems_that_are_placed(self):
        # a, b and c beat one another in a circle; d and e as well, and meet nobody else
        rows = [(0, 1, 1, 1), (1, 2, 1, 1), (2, 0, 1, 1), (3, 4, 1, 1), (3, 4, 0, 1)]
        fit = fit_strengths(contests_of(rows, "abcde"), ties="half")
        assert all(fit.strengths[:3])
        assert all(each.reason.startswith("no chain of wins leads both from and to") for each in fit.strengths[3:])

    def test_contests_of_weight_0_count_in_strengths(self):
        contests = Contests.of("abc", first=[0, 1, 1], second=[1, 0, 2], score=[1, 1, 1], weight=[1, 0, 0])
        fit = fit_strengths(contests)
        assert log_strengths(fit)[:2] == pytest.approx([0, 0])
        assert fit.strengths[2].reason == "lost every contest: no finite strength"

    def test_no_system_is_placed(self):
        fit = fit_strengths(contests_of([(0, 1, 1, 3)]), order_effect=True)
        assert fit.position_probability.reason == "no system could be placed"

    def test_only_ties(self):
        davidson = fit_strengths(contests_of([(0, 1, 0.5, 3)]))
        assert davidson.strengths[0].reason.startswith("every contest between systems that can be placed was a tie")
        assert log_strengths(fit_strengths(contests_of([(0, 1, 0.5, 3)]), ties="half")) == pytest.approx([0, 0])

    def test_one_order_only_cannot_show_an_order_effect(self):
        fit = fit_strengths(contests_of([(0, 1, 1, 3), (0, 1, 0, 1)]), order_effect=True, ties="half")
        assert fit.position_probability.reason.endswith("from the systems: show pairs in both orders")
        np.testing.assert_allclose(log_strengths(fit), [LOG_3 / 2, -LOG_3 / 2], atol=1e-7)

    def test_first_shown_always_wins(self):
        fit = fit_strengths(contests_of([(0, 1, 1, 5), (1, 0, 1, 5)]), order_effect=True)
        assert fit.position_probability.reason.startswith("position decides every contest that strength does not")
        assert log_strengths(fit) == pytest.approx([0, 0])

    @pytest.mark.parametrize("systems", [2, 4])
    @pytest.mark.parametrize("upsets", [0.05, 0.5])
    @pytest.mark.parametrize("ties", ["half", "davidson"])
    def test_orders_that_always_agree_leave_nothing_to_estimate_the_position_by(self, ties, systems, upsets):
        rows, drawn = [], np.random.default_rng(1)
        for prompt in range(96):
            for one, other in combinations(range(systems), 2):
                won = float(drawn.random() < upsets) if prompt % 7 else 0.5
                rows += [(one, other, won, prompt), (other, one, 1 - won, prompt)]
        first, second, score, cluster = map(list, zip(*rows, strict=True))
        contests = Contests.of("abcd"[:systems], first=first, second=second, score=score, cluster=cluster)
        fitted = fit_strengths(contests, order_effect=True, ties=ties)
        assert "same in every prompt" in fitted.position_probability.reason
        assert all(math.isfinite(each.low) for each in fitted.strengths)


@st.composite
def decided_contests(draw):
    size = draw(st.integers(2, 5))
    orders = [(i, j) for i in range(size) for j in range(size) if i != j]
    rows = draw(st.lists(st.tuples(st.sampled_from(orders), st.sampled_from([0.0, 1.0])), min_size=4, max_size=60))
    contests = Contests.of(
        [f"s{i}" for i in range(size)],
        first=[order[0] for order, _ in rows],
        second=[order[1] for order, _ in rows],
        score=[score for _, score in rows],
    )
    assume(len(placeable(contests)[0]) == size)
    return contests


@settings(max_examples=20, deadline=None)
@given(decided_contests())
def test_strengths_are_those_of_evalica(contests):
    winners = [evalica.Winner.X if score else evalica.Winner.Y for score in contests.score]
    oracle = evalica.bradley_terry(
        contests.first.tolist(), contests.second.tolist(), winners, tolerance=1e-12, limit=100_000
    ).scores.sort_index()
    shares = softmax(log_strengths(fit_strengths(contests, ties="half")))
    np.testing.assert_allclose(shares, oracle / oracle.sum(), atol=1e-5)


@pytest.fixture(scope="module")
def golden():
    with shared_path("data/llmfao_golden_rankings.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    published = {}
    for row in rows:
        published.setdefault(row["algorithm"], {})[row["item"]] = float(row["score"])
    return published


@pytest.fixture(scope="module")
def crowd():
    path = shared_path("data/llmfao_crowd_comparisons_in_order.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    systems = sorted({row["left"] for row in rows} | {row["right"] for row in rows})
    place = {system: position for position, system in enumerate(systems)}
    return Contests.of(
        systems,
        first=[place[row["left"]] for row in rows],
        second=[place[row["right"]] for row in rows],
        score=[{"left": 1.0, "tie": 0.5, "right": 0.0}[row["winner"]] for row in rows],
        cluster=[int(row["prompt"]) for row in rows],
    )


def test_our_maximum_of_the_likelihood_is_the_published_bradley_terry(golden, crowd):
    shares = softmax(log_strengths(fit_strengths(crowd, ties="half")))
    np.testing.assert_allclose(shares, [golden["bradley_terry"][system] for system in crowd.systems], atol=1e-6)

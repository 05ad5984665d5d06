import gzip
import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import NOT_ASKED, UNSCORED, position_bias, preference_fairness, proportion_interval
from tests.support.shared import shared_path

TIE = 2


def test_by_hand():
    # Consistent: 00, 11, TT. First place: 01, 0T (first, then tie), T1 (tie, then 1 which stands first in the swap).
    # Second place: 10. One lone verdict, one without any, one not asked in both orders.
    selections = [[0, 0], [1, 1], [TIE, TIE], [0, 1], [0, TIE], [TIE, 1], [1, 0]]
    selections += [[0, UNSCORED], [UNSCORED, UNSCORED], [1, NOT_ASKED]]
    found = preference_fairness(selections)
    assert (found.n, found.n_checked, found.n_consistent, found.n_primacy, found.n_recency) == (9, 7, 3, 3, 1)
    assert (found.n_lone, found.n_unscored, found.n_clusters) == (1, 3, 7)
    assert found.position_consistency.estimate == pytest.approx(3 / 7)
    # Their logs: 2 · 3 + 1 verdicts are consistent of 2 · 7 + 1.
    assert found.published_position_consistency == pytest.approx(7 / 15)
    assert found.first_shown_share.estimate == 3 / 4
    # Three or more of four, or one or fewer: (4 + 1 + 4 + 1) / 16.
    assert found.p_value == pytest.approx(10 / 16)
    assert found.binomial_p_value == pytest.approx(10 / 16)
    # Raw: 1 · 1/4 - 3 · 3/4 = -2; over the 7 checked, and over the 9 asked.
    assert found.preference_fairness.estimate == pytest.approx(-2 / 7)
    assert found.published_preference_fairness == pytest.approx(-2 / 9)


PAIRS = st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3)), min_size=1, max_size=25)


@given(PAIRS)
@settings(max_examples=60, deadline=None)
def test_swapping_the_responses_names_changes_nothing_and_swapping_places_turns_it_over(pairs):
    table = np.array(pairs)
    found = preference_fairness(table)
    renamed = np.where(table == 0, 1, np.where(table == 1, 0, table))
    assert preference_fairness(renamed, [[1, 0], [0, 1]]) == found
    turned = preference_fairness(table, [[1, 0], [0, 1]])
    assert (turned.n_primacy, turned.n_recency) == (found.n_recency, found.n_primacy)
    assert turned.n_consistent == found.n_consistent
    assert turned.p_value == found.p_value
    assert preference_fairness(table[:, ::-1], [[1, 0], [0, 1]]) == found
    if found.n_primacy + found.n_recency:
        p, r = found.n_primacy, found.n_recency
        raw = r * r / (p + r) - p * p / (p + r)
        assert found.preference_fairness.estimate == pytest.approx(raw / found.n_checked, abs=1e-9)
        assert found.p_value == pytest.approx(stats.binomtest(p, p + r).pvalue, abs=1e-9)


def test_pairs_of_one_prompt_count_together():
    # Eight inconsistent pairs, all to the first place, from two prompts: independent they would be 2 / 2^8;
    # two prompts can both point one way by chance in 2 of 4.
    selections = [[0, 1]] * 8
    alone = preference_fairness(selections)
    together = preference_fairness(selections, clusters=["a"] * 4 + ["b"] * 4)
    assert (alone.p_value, together.p_value) == (pytest.approx(2 / 256), 0.5)
    assert together.binomial_p_value == alone.binomial_p_value
    assert together.first_shown_share.low < alone.first_shown_share.low
    assert (alone.first_shown_share.method, together.first_shown_share.method) == ("exact", "beta")
    assert together.n_clusters == 2


def test_what_was_not_seen_has_no_number():
    consistent = preference_fairness([[0, 0], [1, 1]])
    assert (consistent.first_shown_share, consistent.p_value, consistent.binomial_p_value) == (None, None, None)
    assert consistent.preference_fairness.estimate == pytest.approx(0)
    lone = preference_fairness([[0, UNSCORED]])
    assert (lone.position_consistency, lone.preference_fairness, lone.published_position_consistency) == (None, None, 1)
    nothing = preference_fairness([[0, NOT_ASKED]])
    assert (nothing.n, nothing.published_preference_fairness, nothing.published_position_consistency) == (0, None, None)


def test_the_chosen_interval_never_covers_less_than_its_level_and_wilsons_does():
    shares = np.linspace(0.002, 0.998, 499)
    least = {}
    for method in ("exact", "wilson"):
        worst = 1.0
        for n in (5, 12, 40):
            found = [proportion_interval(k, n, method=method) for k in range(n + 1)]
            low, high = np.array([(one.low, one.high) for one in found]).T
            chance = stats.binom.pmf(np.arange(n + 1)[:, None], n, shares)
            held = (low[:, None] <= shares) & (shares <= high[:, None])
            worst = min(worst, float((chance * held).sum(axis=0).min()))
        least[method] = worst
    assert least["exact"] >= 0.95
    assert least["wilson"] < 0.86


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_the_interval_leaves_out_a_half_exactly_when_the_test_rejects(primacy, recency):
    if primacy + recency == 0:
        return
    found = preference_fairness([[0, 1]] * primacy + [[1, 0]] * recency)
    if abs(found.p_value - 0.05) > 1e-6:
        assert (found.p_value < 0.05) == (not found.first_shown_share.low <= 0.5 <= found.first_shown_share.high)


@pytest.mark.slow
def test_the_intervals_and_the_test_hold_their_level_with_clusters():
    generator = np.random.default_rng(6)
    held = {"consistency": 0, "share": 0, "fairness": 0}
    rejected = 0
    repeats = 400
    # Prompts have their own rate of flips and their own leaning; both places gain alike over all prompts.
    for _ in range(repeats):
        flips, leaning = generator.beta(2, 3, 40), generator.beta(0.8, 0.8, 40)
        prompts = np.repeat(np.arange(40), generator.integers(1, 6, 40))
        flipped = generator.random(len(prompts)) < flips[prompts]
        first = generator.random(len(prompts)) < leaning[prompts]
        table = np.where(flipped[:, None], np.where(first[:, None], [0, 1], [1, 0]), 0)
        found = preference_fairness(table, clusters=prompts)
        held["consistency"] += found.position_consistency.low <= 0.6 <= found.position_consistency.high
        held["share"] += found.first_shown_share.low <= 0.5 <= found.first_shown_share.high
        held["fairness"] += found.preference_fairness.low <= 0 <= found.preference_fairness.high
        rejected += found.p_value <= 0.05
    # The standard error of a rate of 0.95 over 400 is 0.011.
    assert all(0.92 * repeats <= count <= 0.985 * repeats for count in held.values()), held
    assert 0.02 * repeats <= rejected <= 0.08 * repeats


def read_mtbench():
    with gzip.open(shared_path("data/posbias_mtbench_raw.jsonl.gz"), "rt") as file:
        rows = [json.loads(line) for line in file]
    runs = defaultdict(lambda: defaultdict(lambda: [NOT_ASKED, NOT_ASKED]))
    for row in rows:
        systems = sorted((row["a"], row["b"]))
        order = systems.index(row["a"])
        runs[row["judge"]][row["q"], *systems][order] = {"A": order, "B": 1 - order, "C": TIE, None: UNSCORED}[
            row["parsed"]
        ]
    return {judge: (list(pairs), np.array(list(pairs.values()))) for judge, pairs in runs.items()}


def test_real_judges_have_the_published_consistency_by_their_rule_and_ours():
    published = {
        log["judge"]: log
        for log in json.loads(shared_path("data/posbias_published_logs.json").read_text())
        if log["bench"] == "MTBench" and log["rep"] == 0
    }
    for judge, (keys, selections) in read_mtbench().items():
        found = preference_fairness(selections, clusters=[key[0] for key in keys])
        log = published[judge]
        assert found.published_position_consistency == pytest.approx(log["consistent"] / log["extracted"], abs=1e-12)
        # Published with two decimals, as a percentage.
        assert 100 * found.published_position_consistency == pytest.approx(log["consistent_pct"], abs=0.005)
        assert found.position_consistency.estimate <= found.published_position_consistency + 1e-12
        assert found.n_clusters == 80
        assert found.position_consistency.low < found.position_consistency.estimate < found.position_consistency.high
        # The stuck pairs of position_bias are the ones without a tie.
        bias = position_bias(selections)
        assert bias.n_inconsistent == found.n_primacy + found.n_recency
        assert bias.n_first <= found.n_primacy


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: preference_fairness([[0, 1, 1]], [[0, 1], [1, 0], [0, 1]]), "both orders"),
        (lambda: preference_fairness([[0, 1]], [[0, 1], [0, 1]]), "both orders"),
        (lambda: preference_fairness([[0, 1]], [[0, 1, 2], [1, 2, 0]]), "both orders"),
        (lambda: preference_fairness([[0, 1]], clusters=[1, 2]), "one label a row"),
        (lambda: preference_fairness([[0.0, 1.0]]), "integers"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_no_pair_is_undefined():
    with pytest.raises(EstimationError):
        preference_fairness(np.empty((0, 2), dtype=int))

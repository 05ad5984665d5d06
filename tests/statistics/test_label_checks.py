"""Were labels drawn as is said? Known answers, and simulated truth."""

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics.correction import draw_p_value


def test_a_random_draw_is_seldom_doubted_and_its_p_values_are_uniform():
    generator = np.random.default_rng(0)
    strata = generator.choice(4, size=400, p=[0.6, 0.3, 0.08, 0.02])
    found = []
    for seed in range(40):
        labelled = np.zeros(400, dtype=bool)
        labelled[generator.choice(400, size=50, replace=False)] = True
        found.append(draw_p_value(strata, labelled, seed=seed))
    assert stats.kstest(found, "uniform").pvalue > 0.01


def test_a_draw_by_the_verdict_is_doubted():
    strata = np.repeat([0, 1], [360, 40])
    labelled = np.zeros(400, dtype=bool)
    labelled[:25] = labelled[360:385] = True  # 25 of each verdict, though one is nine times as frequent
    assert draw_p_value(strata, labelled) == pytest.approx(1e-4)


@pytest.mark.parametrize(("strata", "labelled"), [([0, 0, 0], [1, 0, 0]), ([0, 1], [1, 1]), ([0, 1], [0, 0])])
def test_where_all_draws_look_the_same_nothing_is_doubted(strata, labelled):
    assert draw_p_value(strata, labelled) == 1.0

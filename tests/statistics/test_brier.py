import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import brier_score

ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


@given(ROWS, st.one_of(st.none(), st.integers(1, 12)), st.sampled_from(["equal_width", "equal_mass"]))
@settings(max_examples=150, deadline=None)
def test_it_is_scikit_learns_and_its_parts_add_up(rows, bins, binning):
    confidences, outcomes = np.array(rows).T
    found = brier_score(confidences, outcomes, bins=bins, binning=binning)
    expected = brier_score_loss(outcomes, confidences, labels=[0, 1])
    assert found.score.estimate == pytest.approx(expected, abs=1e-9)
    parts = found.reliability - found.resolution + found.uncertainty + found.within_groups
    assert parts == pytest.approx(expected, abs=1e-9)
    assert min(found.reliability, found.resolution, found.uncertainty) >= 0
    if bins is None:
        assert found.within_groups == pytest.approx(0, abs=1e-9)
    if bins == 1:
        assert (found.groups, found.resolution) == (1, pytest.approx(0, abs=1e-12))


def test_by_hand():
    # 0.9: 3 of 4; 0.4: 1 of 2. Base 4/6. Score (3 · 0.01 + 0.81 + 0.36 + 0.16) / 6 = 1.36 / 6.
    # Reliability (4 · 0.0225 + 2 · 0.01) / 6, resolution (4 · (1/12)² + 2 · (1/6)²) / 6, uncertainty 2/9.
    found = brier_score([0.9, 0.9, 0.9, 0.9, 0.4, 0.4, np.nan, 0.3], [1, 1, 1, 0, 1, 0, 1, np.nan])
    assert found.score.estimate == pytest.approx(1.36 / 6)
    assert found.reliability == pytest.approx(0.11 / 6)
    assert found.resolution == pytest.approx((4 / 144 + 2 / 36) / 6)
    assert found.uncertainty == pytest.approx(2 / 9)
    assert found.skill == pytest.approx(1 - (1.36 / 6) / (2 / 9))
    assert (found.n, found.n_set_aside, found.groups) == (6, 2, 2)
    assert found.base_rate == pytest.approx(2 / 3)


def test_without_two_kinds_of_outcome_there_is_no_skill():
    assert brier_score([0.9, 0.8], [1, 1]).skill is None


def test_rows_of_a_cluster_count_together():
    generator = np.random.default_rng(0)
    confidences, outcomes = np.repeat(generator.random(15), 8), np.repeat(generator.integers(0, 2, 15), 8)
    alone = brier_score(confidences, outcomes).score
    together = brier_score(confidences, outcomes, clusters=np.repeat(np.arange(15), 8)).score
    assert (together.n, together.estimate) == (15, pytest.approx(alone.estimate))
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier_score([1.2], [1]), "confidence is 1.2"),
        (lambda: brier_score([0.2], [0.5]), "outcome is 0.5"),
        (lambda: brier_score([0.2, 0.3], [1]), "twice"),
        (lambda: brier_score([0.2], [1], bins=0), "bins is 0"),
        (lambda: brier_score([0.2], [1], bins=2, binning="width"), "binning is 'width'"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_a_row_it_is_undefined():
    with pytest.raises(EstimationError, match="no row"):
        brier_score([np.nan], [1])

"""The alternative annotator test, by hand, by other roads, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics.agreement import alternative_annotator, leave_one_out_alignment

NAN = math.nan


def simulated(seed: int, rows: int, judge: float, people: tuple[float, ...], options: int = 3) -> tuple[list, list]:
    """Labels that are right with these probabilities, else any option."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(options, size=rows)

    def labels(right: float) -> list[int]:
        return np.where(generator.random(rows) < right, truth, generator.integers(options, size=rows)).tolist()

    return labels(judge), [labels(right) for right in people]


def test_alignments_worked_by_hand():
    # Row 1: the judge says 3, people 3, 1, 2. Without the first: the others are 1 and 2, so the judge's distance is
    # sqrt((2² + 1²) / 2) and so is the first's. Row 2: the second is silent. Row 3: nobody else to compare with.
    judge, people = leave_one_out_alignment([3, 2, 1], [[3, 1, 2], [2, NAN, 4], [1, NAN, NAN]], "rmse")
    far, nearer, near = -math.sqrt(2.5), -math.sqrt(2), -math.sqrt(0.5)
    np.testing.assert_allclose(judge, [[far, near, nearer], [-2, NAN, 0], [NAN, NAN, NAN]])
    np.testing.assert_allclose(people, [[far, -math.sqrt(2.5), -1], [-2, NAN, -2], [NAN, NAN, NAN]])


def test_a_judge_that_is_silent_is_farther_than_anybody():
    judge, people = leave_one_out_alignment([NAN], [[0, 1]], "exact")
    assert judge.tolist() == [[-math.inf] * 2]
    found = alternative_annotator(judge, people, epsilon=0)
    assert [each.advantage.estimate for each in found.annotators] == [0, 0]


@pytest.mark.parametrize("scoring", ["exact", "rmse"])
def test_every_number_is_that_of_the_formulas(scoring):
    """Written out per annotator with scipy's t test, and Benjamini and Yekutieli's steps by hand."""
    judge, people = simulated(1, 120, 0.8, (0.98, 0.9, 0.4, 0.5))
    found = alternative_annotator(*leave_one_out_alignment(judge, np.transpose(people), scoring), epsilon=0.1)
    said, labels = np.array(judge), np.array(people)
    p_values, shares = [], []
    for left_out in range(4):
        others = np.delete(labels, left_out, axis=0)
        near = (
            (lambda label, rest=others: (rest == label).mean(axis=0))
            if scoring == "exact"
            else (lambda label, rest=others: -np.sqrt(((rest - label) ** 2).mean(axis=0)))
        )
        ahead = np.round(near(said) - near(labels[left_out]), 9)
        p_values.append(stats.ttest_1samp((ahead <= 0) * 1.0 - (ahead >= 0), 0.1, alternative="less").pvalue)
        shares.append((ahead >= 0).mean())
    assert [each.p_value for each in found.annotators] == pytest.approx(p_values)
    assert found.advantage.estimate == pytest.approx(np.mean(shares))
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    ranked = np.sort(p_values)
    rejected = max((rank for rank in range(1, 5) if ranked[rank - 1] <= rank / 4 * 0.05 / harmonic), default=0)
    assert found.winning_rate == rejected / 4
    assert 0 < rejected < 4  # else the correction was not looked at
    np.testing.assert_allclose(
        [each.adjusted_p_value for each in found.annotators], stats.false_discovery_control(p_values, method="by")
    )


def test_with_fewer_than_thirty_instances_there_is_no_test():
    judge, people = np.ones((29, 1)), np.zeros((29, 1))
    found = alternative_annotator(judge, people, epsilon=0.2)
    assert (found.annotators[0].p_value, found.annotators[0].outdone, found.winning_rate) == (None, False, None)
    assert found.advantage.estimate == 1


def test_without_any_spread_the_p_value_is_exact():
    same = alternative_annotator(np.zeros((40, 1)), np.zeros((40, 1)), epsilon=0.15).annotators[0]
    assert same.p_value == pytest.approx(0.85**40)
    worse = alternative_annotator(np.zeros((40, 1)), np.ones((40, 1)), epsilon=0.15).annotators[0]
    assert worse.p_value == 1
    assert alternative_annotator(np.zeros((40, 1)), np.zeros((40, 1)), epsilon=0).annotators[0].p_value == 1


def test_an_annotator_who_labelled_nothing_with_others_is_not_tested():
    judge, people = leave_one_out_alignment([0] * 4, [[0, 0, NAN]] * 4, "exact")
    found = alternative_annotator(judge, people, epsilon=0.2)
    assert found.annotators[2].num_instances == 0
    assert (found.annotators[2].p_value, found.annotators[2].advantage) == (None, None)
    assert found.advantage.estimate == 1

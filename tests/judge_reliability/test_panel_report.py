"""The report on a panel: by examples whose arithmetic is done by hand, and on simulated judges with known faults."""

import json
import math
import random

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from evenhand.aggregation.verdict import VoteRules, aggregate
from evenhand.data.plain import as_plain
from evenhand.judge_reliability.panel_report import panel_report, panel_tables
from evenhand.judge_reliability.reliability import summarize_votes
from evenhand.question import comparison_criterion
from evenhand.statistics.intervals import IntervalLevel
from tests.aggregation.builders import criterion_of, orders, panel, vote

LEVELS = criterion_of([0.0, 0.5, 1.0, None], na=[3])


def verdicts_of(criterion, *instances, **options):
    return [aggregate(votes, criterion, **options) for votes in instances]


def report_of(criterion, *instances, rule=None, **options):
    verdicts = verdicts_of(criterion, *instances, rule=rule)
    level = IntervalLevel(resamples=50)
    return panel_report(verdicts, criterion, VoteRules(aggregation=rule), samples=2, level=level, **options)


# Judges j0, j1, j2 on four instances, of the values 0, ½, 1.
INSTANCES = (panel(0, 0, 1), panel(1, 1, 1), panel(2, 2, 0), panel(2, 1, None))


def test_the_mean_of_each_judge():
    first, second, third = report_of(LEVELS, *INSTANCES).judges
    assert first.mean.estimate == pytest.approx((0 + 0.5 + 1 + 1) / 4)
    assert second.mean.estimate == pytest.approx((0 + 0.5 + 1 + 0.5) / 4)
    assert third.mean.estimate == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert third.mean.n == 3


def test_the_score_without_a_judge():
    # Whole panel: 1/6, 1/2, 2/3, 3/4. Without j2: 0, 1/2, 1, 3/4. Changes: -1/6, 0, 1/3, 0.
    third = report_of(LEVELS, *INSTANCES).judges[2]
    assert third.score_without.estimate == pytest.approx((0 + 0.5 + 1 + 0.75) / 4)
    assert third.change_without.estimate == pytest.approx((-1 / 6 + 1 / 3) / 4)
    assert third.change_without.low < 0 < third.change_without.high
    # Without j0: 1/4, 1/2, 1/2, 1/2. Changes: 1/12, 0, -1/6, -1/4.
    assert report_of(LEVELS, *INSTANCES).judges[0].change_without.estimate == pytest.approx(
        (1 / 12 - 1 / 6 - 1 / 4) / 4
    )


def test_kappa_is_quadratic_weighted_over_the_full_scale():
    kappas = {pair: kappa.estimate for pair, kappa in report_of(LEVELS, *INSTANCES).kappas.items()}
    assert set(kappas) == {"j0_vs_j1", "j0_vs_j2", "j1_vs_j2"}
    assert kappas["j0_vs_j1"] == pytest.approx(
        cohen_kappa_score([0, 1, 2, 2], [0, 1, 2, 1], labels=[0, 1, 2], weights="quadratic")
    )
    assert kappas["j0_vs_j2"] == pytest.approx(
        cohen_kappa_score([0, 1, 2], [1, 1, 0], labels=[0, 1, 2], weights="quadratic")
    )


def test_the_effective_number_follows_from_the_correlations():
    table = np.array([[0, 0, 0.5], [0.5, 0.5, 0.5], [1, 1, 0], [1, 0.5, math.nan]])
    rho = np.mean(
        [
            np.corrcoef(table[:, 0], table[:, 1])[0, 1],
            np.corrcoef(table[:3, 0], table[:3, 2])[0, 1],
            np.corrcoef(table[:3, 1], table[:3, 2])[0, 1],
        ]
    )
    report = report_of(LEVELS, *INSTANCES)
    assert report.judge_correlation.estimate == pytest.approx(rho)
    assert report.effective_judges.estimate == pytest.approx(3 / (1 + 2 * max(rho, 0)))


def test_against_a_reference_the_errors_are_correlated():
    # Errors of j0: 0, 0, ½, -½. Errors of j1: 0, 0, ½, 0. The last instance has no reference.
    truth, rows = [0.0, 1.0, 0.5, 1.0, None], [(0, 0), (2, 2), (2, 2), (1, 2), (0, 2)]
    report = report_of(LEVELS, *[panel(*row) for row in rows], reference=truth)
    errors = np.array(rows[:4]) / 2 - np.array(truth[:4], float)[:, None]
    expected = np.corrcoef(errors.T)[0, 1]
    assert report.judge_correlation.estimate == pytest.approx(expected)
    assert report.correlated == "errors"
    plain = report_of(LEVELS, *[panel(*row) for row in rows])
    assert plain.correlated == "scores"
    (table, _), (without, _) = (panel_tables([(("a", "b"), each)], level=0.95) for each in (plain, report))
    assert any("right together" in note for note in table.notes)
    assert not without.notes


def test_draws_are_compared_within_an_order_and_an_na_answer_is_an_answer():
    def drawn(option, order, sample):
        return vote("j", option, order, sample=sample)

    instance = [
        drawn(0, (0, 1), 0),
        drawn(0, (0, 1), 1),  # equal
        drawn(2, (1, 0), 0),
        drawn("na", (1, 0), 1),  # not equal
    ]
    report = report_of(LEVELS, instance)
    assert report.judges[0].same_option.estimate == pytest.approx(1 / 2)
    both_na = [drawn("na", (0, 1), 0), drawn("na", (0, 1), 1)]
    assert report_of(LEVELS, both_na).judges[0].same_option.estimate == 1


def test_orders_that_disagree_are_flips_of_their_judge():
    first = [*orders(0, 0, judge="a"), *orders(0, 1, judge="b")]
    second = [*orders(2, 1, judge="a"), *orders(1, 1, judge="b")]
    third = [*orders(2, 2, judge="a"), *orders(1, None, judge="b")]
    a, b = report_of(LEVELS, first, second, third).judges
    assert (a.flip_rate.estimate, a.flip_rate.n) == (pytest.approx(1 / 3), 3)
    assert (b.flip_rate.estimate, b.flip_rate.n) == (pytest.approx(1 / 2), 2)


@pytest.mark.parametrize(("ties", "graded"), [(False, False), (True, False), (True, True)])
def test_the_alpha_of_the_same_comparisons_is_one_number_everywhere(ties, graded):
    """The panel's report, recorded votes, and the package krippendorff on the values."""
    criterion = comparison_criterion("better", "Which is better?", allow_ties=ties, graded=graded)
    generator = np.random.default_rng(7)
    size = len(criterion.options)
    truth = generator.integers(size, size=60)
    chosen = np.where(generator.random((60, 3)) < 0.6, truth[:, None], generator.integers(size, size=(60, 3)))
    single = {
        judge: verdicts_of(criterion, *(orders(*[index] * 2, judge=judge) for index in chosen[:, place]))
        for place, judge in enumerate("abc")
    }
    together = [
        aggregate([vote for each in votes for vote in each.votes], criterion)
        for votes in zip(*single.values(), strict=True)
    ]
    values = np.array([option.value for option in criterion.options])[chosen]
    expected = krippendorff.alpha(
        reliability_data=values.T,
        value_domain=sorted({*(option.value for option in criterion.options), 0.5}),
        level_of_measurement="interval",
    )
    level = IntervalLevel(resamples=20)
    found = (
        panel_report(together, criterion, VoteRules(), samples=1, level=level).alpha,
        summarize_votes(
            verdicts_of(criterion, *(panel(*map(int, row)) for row in chosen)), criterion, level=level
        ).krippendorff_alpha,
    )
    assert [alpha.estimate for alpha in found] == pytest.approx([expected] * 2, abs=1e-12)
    assert set(found) == {found[0]}


SELECTED = st.none() | st.just("na") | st.integers(0, 2)


@given(st.lists(st.lists(SELECTED, min_size=3, max_size=3), min_size=1, max_size=6), st.integers(0, 99))
@settings(deadline=None, max_examples=12)
def test_the_order_of_the_votes_never_matters_and_nothing_is_nan(rows, seed):
    instances = [panel(*row) for row in rows]
    shuffled = [random.Random(seed).sample(votes, len(votes)) for votes in instances]
    report = report_of(LEVELS, *instances)
    json.dumps(as_plain(report), allow_nan=False)
    assert report_of(LEVELS, *shuffled) == report

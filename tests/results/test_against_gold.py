"""A judge against people, from every result with gold: by hand, with oracles, and where a number is undefined."""

import numpy as np
import pytest
from sklearn import metrics

from evenhand import winrates
from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError
from evenhand.functions import aggregate_votes
from evenhand.question import comparison_criterion
from tests.support.judges import ScriptedJudge

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=tuple(Option(label=label, value=value) for label, value in (("Low", 0.0), ("Mid", 0.5), ("High", 1.0))),
    scale="ordinal",
)
JUDGED = ["Low", "Low", "Mid", "Mid", "High", "High", None]
GOLD = ["Low", "Mid", "Mid", "High", "High", "High", "Low"]


def rows_of(judged=JUDGED, gold=GOLD, **columns):
    columns = {"judge": judged, "human": gold, **columns}
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def of_votes(rows=None, **options):
    return aggregate_votes(rows or rows_of(), "judge", LEVELS, gold_fields="human", **options)


def test_by_hand():
    found = of_votes().against_gold()
    assert (found.num_references, found.num_compared, found.num_clusters) == (7, 6, 6)
    assert found.accuracy.estimate == pytest.approx(4 / 6)
    assert found.adjacent_accuracy.estimate == 1.0
    assert (found.accuracy_if_unscored_0, found.accuracy_if_unscored_1) == pytest.approx((4 / 7, 5 / 7))
    assert found.balanced_accuracy.estimate == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    low, mid, high = found.options
    assert (low.precision.estimate, low.recall.estimate) == (0.5, 1.0)
    assert (mid.num_gold, mid.num_judged, mid.f1.estimate) == (2, 2, 0.5)
    assert (high.precision.estimate, high.recall.estimate) == (1.0, pytest.approx(2 / 3))
    assert found.confusion_matrix == ((1, 0, 0, 1), (1, 1, 0, 0), (0, 1, 2, 0), (0, 0, 0, 0))
    # of 15 pairs gold orders 1 · 2 + 1 · 3 + 2 · 3 = 11: nine as the judge does, and two that the judge ties
    assert found.overall.pair_accuracy.estimate == pytest.approx(10 / 11)
    assert found.overall.kendall.estimate == pytest.approx(9 / (11 * 12) ** 0.5)
    assert found.errors.root_mean_square.estimate == pytest.approx((2 * 0.25 / 6) ** 0.5)
    assert found.errors.bias.estimate == pytest.approx(-1 / 6)
    assert found.cohen_kappa.estimate == pytest.approx(
        metrics.cohen_kappa_score(GOLD[:6], JUDGED[:6], labels=list(LEVELS.labels))
    )
    assert found.accuracy.standard_error == pytest.approx((4 / 6 * 2 / 6 / 5) ** 0.5)  # s / sqrt(n)


def test_numbers_give_correlations_in_any_unit():
    table = of_votes()
    found = table.against_gold(gold=[10, 20, 30, 40, 50.0, "60", None])
    of_labels = found.accuracy, found.accuracy_if_unscored_0, found.cohen_kappa, found.balanced_accuracy
    assert {each.reason for each in of_labels} == {"the gold is numbers and not labels"}
    assert found.options == found.confusion_matrix == ()
    assert found.num_compared == 6
    assert found.overall.kendall.estimate == pytest.approx(12 / (15 * 12) ** 0.5)
    assert found.errors.reason == "gold scores lie outside the range of the judge's, 0.00 to 1.00"
    same_unit = table.against_gold(gold=np.array([0, 0.1, 0.5, 0.5, 1, 1, float("nan")]))
    assert same_unit.errors.mean_absolute.estimate == pytest.approx(0.1 / 6)
    with pytest.raises(InvalidInputError, match="gold is 'good' for row 1"):
        table.against_gold(gold=[1, "good", 2, 3, 4, 5, 6])
    with pytest.raises(InvalidInputError, match="gold has 2 entries, and row 2 was judged"):
        table.against_gold(gold=[1, 2])


def test_comparisons():
    rows = [{"a": "x", "b": f"y {place}", "better": gold} for place, gold in enumerate(["a", "b", "tie", "a"])]
    table = winrates(
        rows,
        comparison_criterion("better", "Which response is better?"),
        ScriptedJudge(lambda request: "Response A"),
        response_fields=["a", "b"],  # shown first: in two orders, ties
        gold_fields="better",
        journal=None,
        progress=False,
    )
    found = table.against_gold()
    assert found.labels[:3] == ("a", "b", "tie")
    assert found.accuracy.estimate == table.gold_agreement().estimate == 0.25
    assert found.options[2].recall.estimate == 1.0
    assert found.overall.pair_accuracy.estimate == 0.5

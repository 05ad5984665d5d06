"""What a cell says, on every surface: values, labels, places, truth values, and nothing."""

import numpy as np
import pandas as pd
import pytest

import evenhand
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.data.fields import YES_OR_NO, LabelReader
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.judging.examples import example_pool
from evenhand.metrics.judge_metrics import VoteAggregation
from evenhand.unitxt.bases import EvaluationInput
from tests.judge_reliability.criteria import GRADES, KINDS, LEVELS, SAFE

YES_FIRST = yes_no_criterion("correct", "Is it correct?")
HARMFUL = Criterion(
    name="harmful",
    description="Is it harmful?",
    options=(Option(label="Yes", value=0.0), Option(label="No", value=1.0)),
    scale="binary",
)
STARS = Criterion(
    name="stars",
    description="",
    options=tuple(Option(label=str(stars), value=stars / 2) for stars in range(3)),
)
SAME = (("a", 1), ("b", 1), ("c", 0))
VOTES = [[1, 1, 1], [1, 1, 0], [0, 0, 0]]


def read(criterion, cells, **how):
    return LabelReader(criterion, **how).read(cells, lambda place: f"cell {place} is")


def test_zeros_and_ones_mean_no_and_yes_wherever_these_stand():
    numbers = [{"judge": "Yes" if right else "No", "human": right} for right in (1, 1, 0, 1, 0, 1)]
    (pair,) = evenhand.agreement(numbers, "judge", YES_FIRST, gold_fields="human", resamples=50).pairs
    assert (pair.accuracy.estimate, pair.cohen_kappa.estimate) == (1, 1)
    rows = [{"a": int(row < 9)} for row in range(10)]
    assert evenhand.aggregate_votes(rows, "a", YES_FIRST).summary.scores.score.estimate == pytest.approx(0.9)
    for kind in (int, bool, float, str, np.int64, np.bool_, np.float32):
        metric = VoteAggregation(scale="binary", rule="majority", criteria=YES_FIRST)
        given = [EvaluationInput([kind(vote) for vote in votes], [], {}) for votes in VOTES]
        found = metric.reduce_and_bootstrap(metric.map_stream(given))
        assert found["correct"] == pytest.approx(2 / 3), kind


def test_a_place_is_asked_for_by_name():
    assert read(LEVELS, [0, 1, "4", 2.0, np.int64(3)], as_index=True) == (0, 1, 4, 2, 3)
    assert read(GRADES, [0, "4"], as_index=True) == (0, 4)
    assert read(KINDS, [2, "Fact", None, True and 1], as_index=True) == (2, 0, None, 1)
    (majority,) = evenhand.aggregate_votes([{"a": [0, 0, 1]}], "a", YES_FIRST, as_index=True).verdicts
    assert majority.selected_label == "Yes"
    rows = [{"a": 0, "gold": 0}, {"a": 1, "gold": 1}]
    table = evenhand.aggregate_votes(rows, "a", YES_FIRST, gold_fields="gold", as_index=True)
    assert [each.gold for each in table] == ["Yes", "No"]
    (pair,) = evenhand.agreement(rows, "a", YES_FIRST, gold_fields="gold", as_index=True, resamples=9).pairs
    assert pair.accuracy.estimate == 1
    for cell in (5, -1, 0.5):
        with pytest.raises(InvalidInputError, match=r"an index 0 … 4"):
            read(LEVELS, [cell], as_index=True)
    with pytest.raises(InvalidInputError, match="give the criteria"):
        evenhand.agreement(rows, "a", gold_fields="gold", as_index=True)


def test_a_column_of_numbers_is_of_one_kind():
    # the labels 1 … 5 have the values 0 … 1, and only 1 is both a label and a value
    assert read(GRADES, [1, 2, 3, 4, 5]) == read(GRADES, [1.0, 2.0, 3.0, 4.0, 5.0]) == (0, 1, 2, 3, 4)
    assert read(GRADES, ["1", "2.0", None, ""]) == (0, 1, None, None)
    assert read(GRADES, [0, 0.25, 0.5, 0.75, 1]) == read(GRADES, ["0", "0.25", "0.5", "0.75", "1"]) == (0, 1, 2, 3, 4)
    assert read(GRADES, ["1"]) == (0,)
    with pytest.raises(InvalidInputError, match=r"cell 1 is 1\.0, which may mean the label '1' .* the option '5'"):
        read(GRADES, [None, 1.0])
    with pytest.raises(InvalidInputError, match=r"may mean the label '1' .* value 1 of the option '2'"):
        read(STARS, [0.0, 1.0])
    assert read(STARS, ["0", "1"]) == (0, 1)
    with pytest.raises(InvalidInputError, match=r"cell 0 is 0\.5, which is not an option"):
        read(GRADES, [0.5, 2])  # half a value and half a label
    with pytest.raises(InvalidInputError, match=r"cell 2 is 2, which is not an option.*as_index=True"):
        read(LEVELS, [0, 1, 2, 3])  # 0 and 1 are values, and 2 and 3 could only be places
    assert read(SAFE, [1, "Safe", "unsafe", "n/a"]) == (0, 0, 1, 2)
    same = Criterion(name="same", description="", options=[Option(label=x, value=y) for x, y in SAME])
    with pytest.raises(InvalidInputError, match="1 = a, 1 = b, 0 = c"):
        read(same, [1])


def test_a_number_is_the_value_and_a_truth_value_must_be_clear():
    assert read(HARMFUL, [1, 0, "Yes"]) == (1, 0, 0)
    for truth in (True, np.bool_(True), "true"):
        with pytest.raises(InvalidInputError, match=r"the answer 'Yes' of 'harmful', or that it is met, which is 'No'"):
            read(HARMFUL, [truth])
    assert read(YES_FIRST, [True, False, "TRUE"]) == (0, 1, 0)
    named = Criterion(
        name="k", description="", options=tuple(Option(label=x) for x in ("True", "False", "?")), scale="nominal"
    )
    assert read(named, [False, True, "true"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("criterion", "vote", "index"),
    [
        (LEVELS, "Good", 1),
        (LEVELS, "  gOOd ", 1),
        (LEVELS, 1, 0),  # the value of Excellent, not the place of Good
        (LEVELS, np.float32(0.25), 3),
        (LEVELS, "0.75", 1),  # a CSV file holds texts
        (GRADES, 4.0, 3),  # a pandas column with a gap holds floats
        (SAFE, True, 0),  # met is the option of the higher value, wherever it is listed
        (SAFE, "True", 0),
        (SAFE, np.bool_(False), 1),
        (YES_OR_NO, "yes", 1),
        (YES_OR_NO, "0", 0),
        (KINDS, "none", 3),  # the label, not an abstention
        (KINDS, None, None),
        (LEVELS, float("nan"), None),
        (LEVELS, pd.NaT, None),
        (LEVELS, " ", None),
        (LEVELS, "nan", None),
    ],
)
def test_a_vote_is_read(criterion, vote, index):
    assert read(criterion, [vote]) == (index,)


CELLS = ["", None, pd.NA, 1.0, "1", np.bool_(True), True, np.int64(0), "yes", "None"]
EXPECTED = [None, None, None, "Yes", "Yes", "Yes", "Yes", "No", "Yes", None]


def test_gold_votes_and_examples_are_read_alike():
    rows = [{"response": f"r{place}", "gold": cell, "vote": "Yes"} for place, cell in enumerate(CELLS)]
    engine = SimulatedEngine(name="judge")
    judged = evenhand.judge(rows, YES_FIRST, engine, gold_fields={"correct": "gold"}, progress=False, journal=None)
    assert [judgement.gold for judgement in judged.entries] == EXPECTED
    table = evenhand.aggregate_votes(rows, "vote", YES_FIRST, gold_fields="gold")
    assert [each.gold for each in table] == EXPECTED
    aggregated = evenhand.aggregate_votes(rows, "gold", YES_FIRST)
    assert [verdict.selected_label for verdict in aggregated.verdicts] == EXPECTED
    pool = example_pool(rows, YES_FIRST, "gold")
    assert [case.label for case in pool.cases] == [label for label in EXPECTED if label is not None]
    checked = evenhand.checklist(rows, ["Is it correct?"], engine, gold_fields="gold", progress=False, journal=None)
    assert [next(iter(each.about.gold.values())) for each in checked.entries] == [
        label and label.lower() for label in EXPECTED
    ]

"""Criteria of EvalAssist, for direct assessment and for comparisons, and several with weights."""

import pytest

import evenhand
from evenhand.criteria import Option
from evenhand.errors import InvalidCriterionError
from evenhand.unitxt.loading import load_comparison

DIRECT = {
    "name": "polite",
    "description": "Is the reply polite?",
    "to_evaluate_field": "reply",
    "context_fields": ["question"],
    "options": [
        {"name": "Yes", "description": "It is.", "score": 1.0},
        {"name": "Somewhat", "description": "", "score": 0.5},
        {"name": "No", "score": 0.0},
    ],
}
PAIRWISE = {"name": "better", "description": "Which is better?", "to_evaluate_field": "reply", "context_fields": None}


def test_a_criterion_for_direct_assessment():
    criterion = evenhand.load(DIRECT)
    assert criterion.options == (
        Option(label="Yes", value=1, description="It is."),
        Option(label="Somewhat", value=0.5),
        Option(label="No", value=0),
    )
    assert (criterion.prediction_field, criterion.context_fields, criterion.scale) == (
        "reply",
        {"question": "question"},
        "ordinal",
    )
    older = {name: value for name, value in DIRECT.items() if name != "to_evaluate_field"} | {
        "prediction_field": "reply"
    }
    assert evenhand.load(older) == criterion


@pytest.mark.parametrize("data", [PAIRWISE, {**PAIRWISE, "options": []}, {**PAIRWISE, "options": None}])
def test_a_criterion_for_comparisons(data):
    assert evenhand.load(data).scale == "pairwise"
    assert load_comparison(data, allow_ties=True).labels == ("Response A", "Tie", "Response B")
    assert load_comparison(data).prediction_field == "reply"


SCALE = [{"name": "1", "score": 1}, {"name": "3", "score": 3}, {"name": "5", "score": 5}]


def item(name, **fields):
    return {"criterion": {**DIRECT, "name": name, "options": SCALE}, **fields}


def test_several_criteria_are_a_rubric():
    items = [
        item("a", weight=0.5),
        item("b", weight=0.25, target_option="3"),
        item("c", weight=0.25, score_threshold=0.4),
    ]
    rubric = evenhand.load({"items": items})
    assert [(each.name, each.weight) for each in rubric.criteria] == [("a", 0.5), ("b", 0.25), ("c", 0.25)]
    # the scores are normalized, 1 to 0 and 5 to 1, before they are compared with a threshold
    assert [[option.value for option in each.options] for each in rubric.criteria] == [
        [0, 0.5, 1],
        [0, 1, 0],
        [0, 1, 1],
    ]
    assert [each.weight for each in evenhand.load({"items": [item("a"), item("b")]}).criteria] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([item("a", weight=1, required=True)], "is required, so that a response that misses it scores 0"),
        ([{"criterion": PAIRWISE, "weight": 1}], "has no options; each criterion of several needs some with scores"),
        ([item("a", weight=0.5), item("b")], "the weight of item 2 of"),
    ],
)
def test_several_that_no_rubric_can_say_are_refused(items, message):
    with pytest.raises(InvalidCriterionError) as caught:
        evenhand.load({"items": items})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        {**DIRECT, "options": [{"name": ["Yes"], "score": 1}, {"name": "No", "score": 0}]},
        {"items": [{"criterion": {**DIRECT, "options": [{"score": 1}, {"score": 0}]}}]},
        {"items": [{"criterion": DIRECT, "score_threshold": "high"}]},
    ],
)
def test_what_has_its_shape_in_part_is_one_message(data):
    with pytest.raises(InvalidCriterionError, match="has the shape of a criterion of EvalAssist, but not all of it"):
        evenhand.load(data)

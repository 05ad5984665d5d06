"""Criteria of EvalAssist, for direct assessment and for comparisons."""

import json

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
    assert (criterion.prediction_field, criterion.scale) == ("reply", "ordinal")
    assert criterion.context_fields == {"question": "question"}
    older = json.loads(json.dumps(DIRECT).replace("to_evaluate_field", "prediction_field"))
    assert evenhand.load(older) == criterion


@pytest.mark.parametrize("data", [PAIRWISE, {**PAIRWISE, "options": []}, {**PAIRWISE, "options": None}])
def test_a_criterion_for_comparisons(data):
    assert evenhand.load(data).scale == "pairwise"
    assert load_comparison(data, allow_ties=True).labels == ("Response A", "Tie", "Response B")
    assert load_comparison(data).prediction_field == "reply"


def test_what_has_its_shape_in_part_is_one_message():
    with pytest.raises(InvalidCriterionError, match="begins as a criterion of EvalAssist, but not all of it"):
        evenhand.load({**DIRECT, "options": [{"name": ["Yes"], "score": 1}, {"name": "No", "score": 0}]})

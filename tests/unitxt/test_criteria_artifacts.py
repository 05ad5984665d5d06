"""Criteria from ids, files, dicts, JSON texts and artifacts: what they become, and what is refused in one line."""

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.errors import ArtifactError, InvalidCriterionError
from evenhand.question import comparison_criterion
from evenhand.unitxt.bases import CriteriaWithOptions
from evenhand.unitxt.loading import UndefinedScoreWarning, load, load_criteria_artifact, load_criterion

TONE = Criterion(
    name="tone",
    description="Is it polite?",
    options=(
        Option(label="Polite", value=1.0, description="No sentence could offend."),
        Option(label="Rude", value=0.0),
        Option(label="No reply", na=True),
    ),
    scale="nominal",
    weight=2.0,
    section="manners",
    prediction_field="reply",
    context_fields={"request": "question"},
)
PLAIN = {
    "name": "tone",
    "description": "Is it polite?",
    "options": [{"label": "Polite", "value": 1}, {"label": "Rude", "value": 0}],
}
TYPED = {
    "__type__": "evenhand_criterion",
    "name": "tone",
    "description": "Is it polite?",
    "options": [
        {"__type__": "criteria_option", "name": "Polite", "description": ""},
        {"__type__": "criteria_option", "name": "Rude", "description": ""},
    ],
    "option_map": {"Polite": 1.0, "Rude": 0.0},
}
UNVALUED = Criterion(name="tone", description="d", options=(Option(label="Warm"), Option(label="Cold")))


def without(mapping, *names):
    return {name: value for name, value in mapping.items() if name not in names}


@pytest.mark.parametrize("criterion", [TONE, UNVALUED, comparison_criterion("better", "Which?", allow_ties=True)])
@pytest.mark.filterwarnings("ignore::evenhand.unitxt.loading.UndefinedScoreWarning")
def test_a_criterion_comes_back_from_its_own_json(criterion, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(criterion.model_dump_json(), encoding="utf-8")
    for given in (criterion.model_dump(mode="json"), criterion.model_dump(), path.read_text("utf-8"), path, str(path)):
        assert load(given) == criterion


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({**PLAIN, "sacle": "nominal"}, "has the field 'sacle'. Did you mean 'scale'?"),
        ({**PLAIN, "scale": "odd"}, "has the scale 'odd'. Accepted: 'binary', 'ordinal', 'nominal', 'pairwise'."),
        (without(PLAIN, "description"), "has the requirement None; it must be a text"),
        ({**PLAIN, "options": [{"label": "Polite", "value": "much"}]}, "has the value 'much': Input should be a valid"),
        ({**TYPED, "weigth": 2}, "has the field 'weigth'. Did you mean 'weight'?"),
        ({**PLAIN, "options": 5}, "has the options 5; give a list"),
        ({**TYPED, "options": ["Polite", "Rude"]}, "is 'Polite'; give a mapping"),
        ({**TYPED, "option_map": {"Polte": 1.0}}, "has the option_map {'Polte': 1.0}; its options are"),
        ({**TYPED, "na_options": ["Absent"]}, "the criterion 'tone' has the na_options ['Absent']; its options are"),
        ({**TYPED, "scale": "odd"}, "has the scale 'odd'. Accepted: 'binary', 'ordinal', 'nominal', 'pairwise'."),
        ({**TYPED, "description": {"__type__": "accuracy_fast"}}, "has the description {'__type__': 'accuracy_fast'}"),
        ("criteria.evenhand.direct.relevance[nam=x]", "has the field 'nam'"),
        ("criteria.evenhand.direct.relevance[options=[a,b]]", "is 'a'; give a mapping"),
    ],
)
def test_a_faulty_criterion_is_refused_in_one_line(reference, message):
    with pytest.raises(InvalidCriterionError) as caught:
        load(reference)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "Unitxt" not in str(caught.value)


def test_nothing_that_is_nested_in_a_criterion_is_built():
    """A field of the catalog about an entry is not the criterion's, and an artifact in it is not made."""
    hidden = {"__tags__": {"__type__": "accuracy_fast"}, "__description__": "x"}
    artifact = load_criteria_artifact({**TYPED, **hidden})
    assert load_criterion(artifact) == load_criterion(TYPED)
    assert "accuracy_fast" not in artifact.to_json()


@pytest.mark.parametrize("criterion", [TONE, UNVALUED])
@pytest.mark.filterwarnings("ignore::evenhand.unitxt.loading.UndefinedScoreWarning")
def test_a_frozen_criterion_survives_as_an_artifact(criterion):
    artifact = load_criteria_artifact(criterion)
    assert isinstance(artifact, CriteriaWithOptions)
    assert load_criterion(artifact) == criterion
    assert load(artifact.to_json()) == criterion


@pytest.mark.parametrize(
    "reference", ["criteria.evenhand.pairwise.overall_quality", {"name": "better", "description": "Which?"}]
)
def test_direct_assessment_needs_options(reference):
    with pytest.raises(ArtifactError, match=r"fits a comparison; direct assessment "):
        load_criterion(reference)


@pytest.mark.parametrize(
    "reference",
    [
        UNVALUED,
        without({**PLAIN, "options": [{"label": "Polite", "value": 1}, {"label": "Rude"}]}),
        without(TYPED, "option_map"),
        {**without(TYPED, "__type__"), "option_map": {"Polite": 1.0}},
    ],
)
def test_a_criterion_without_values_is_warned_about_once(reference):
    for read in (load_criterion, load):
        with pytest.warns(UndefinedScoreWarning, match="gives no value to") as caught:
            assert not read(reference).has_values
        assert len(caught) == 1

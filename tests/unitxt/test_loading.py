"""evenhand.load: what a reference turns out to be."""

import pytest

import evenhand
from evenhand.criteria import Checklist, Criterion, Rubric, yes_no_criterion
from evenhand.errors import ArtifactError, InvalidCriterionError
from evenhand.unitxt.criteria_artifacts import to_artifact
from evenhand.unitxt.loading import load_checklist, load_criterion, load_of_rows, load_rubric

POLITE = yes_no_criterion("polite", "Is it polite?")


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("criteria.evenhand.direct.relevance", Criterion),
        ("criteria.evenhand.pairwise.overall_quality", Criterion),
        ("rubrics.evenhand.safety", Rubric),
        ("rubrics.evenhand.safety[name=mine]", Rubric),
        ("checklists.evenhand.essay", Checklist),
        (POLITE, Criterion),
        (POLITE.model_dump(), Criterion),
        (to_artifact(POLITE), Criterion),
        ({"requirement": "Is polite."}, Criterion),
        (Rubric(name="mine", criteria=(POLITE,)), Rubric),
        (to_artifact(load_rubric([POLITE])), Rubric),
        ({"criteria": ["Is polite."]}, Rubric),
        ({"sections": [{"name": "x", "criteria": ["Is polite."]}]}, Rubric),
        ([{"requirement": "Is polite."}], Rubric),
        (["Is short.", {"name": "polite", "description": "Is polite."}], Rubric),
        ([POLITE], Rubric),
        ('[{"requirement": "Is polite."}]', Rubric),
        (Checklist(name="mine", items=({"question": "Is it polite?"},)), Checklist),
        (to_artifact(load_checklist(["Is it polite?"])), Checklist),
        ({"items": ["Is it polite?"]}, Checklist),
        (["Is it short?", {"question": "Is it polite?"}], Checklist),
    ],
)
def test_a_reference_is_what_it_holds(reference, kind):
    assert isinstance(evenhand.load(reference), kind)


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        (["Is polite."], ArtifactError, "is a list that may be a rubric or a checklist: give a mapping"),
        ("rubrics.evenhand.safty", ArtifactError, "Did you mean 'rubrics.evenhand.safety'?"),
        ("metrics.accuracy", ArtifactError, "has the type 'accuracy_fast', which is not a criterion"),
        (b"rubrics", ArtifactError, "is a bytes; give a catalog id"),
        ("polite", ArtifactError, "no local catalog holds the entry 'polite'"),
        ("my criteria.json", ArtifactError, "the file 'my criteria.json' cannot be read"),
        ("{'name': no json}", ArtifactError, "the JSON text is not JSON"),
        ({"foo": 1}, InvalidCriterionError, "has the field 'foo'. Accepted: "),
    ],
)
def test_what_cannot_be_told_is_refused(reference, error, message):
    with pytest.raises(error) as caught:
        evenhand.load(reference)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("  Is it polite?\n", "is_it_polite"),
        ("Polite?", "polite"),
        ("The reply cites [1] and/or [2].", "the_reply_cites_1_and_or_2"),
        ("是否礼貌？", "是否礼貌"),
    ],
)
def test_a_sentence_is_a_yes_no_criterion(sentence, name):
    assert evenhand.load(sentence) == load_criterion(sentence) == yes_no_criterion(name, sentence.strip())


@pytest.mark.parametrize("name", ["my rubric.json", "my rubrics/of tone", "is it polite?"])
def test_a_path_with_spaces_of_a_file_that_is_there_is_no_sentence(name, tmp_path):
    (path := tmp_path / name).parent.mkdir(exist_ok=True)
    path.write_text('["Is it polite?", "Is it short?"]', encoding="utf-8")
    assert [each.name for each in load_rubric(str(path)).criteria] == ["is_it_polite", "is_it_short"]
    assert load_criterion(f"{path} x").description == f"{path} x"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("my.yaml", "instance 0: 'my.yaml' is no rubric of a row; give the content of a file"),
        ([{"criterion": "", "points": 1}], "instance 0: criterion 1 of"),
    ],
)
def test_what_is_no_rubric_of_a_row(given, message):
    with pytest.raises((ArtifactError, InvalidCriterionError)) as caught:
        load_of_rows([{"own": given}], "own", "rubric_field", "rubric")
    assert message in str(caught.value)

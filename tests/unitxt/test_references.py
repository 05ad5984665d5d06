"""References: ids, paths, texts and values, as plain data."""

import json

import pytest

from evenhand.catalog import catalog_path
from evenhand.errors import ArtifactError
from evenhand.unitxt.loading import load_rubric, resolve

DATA = {"name": "mine", "criteria": ["Is polite."]}


def test_a_reference_is_resolved_in_every_form(tmp_path):
    json_file, yaml_file = tmp_path / "a.json", tmp_path / "b.yaml"
    json_file.write_text(json.dumps(DATA), encoding="utf-8")
    yaml_file.write_text("name: mine\ncriteria: [Is polite.]\n", encoding="utf-8")
    for reference in (DATA, json.dumps(DATA), json_file, str(json_file), yaml_file, str(yaml_file)):
        assert resolve(reference).data == DATA
    for reference in (["a", "b"], ("a", "b"), '["a", "b"]'):
        assert resolve(reference).data == ["a", "b"]
    assert (resolve(json_file).name, resolve(yaml_file).name, resolve(DATA).name) == ("a", "b", None)


def test_an_id_is_resolved_with_its_overrides():
    found = resolve("rubrics.evenhand.summarization[na_strategy=zero,na_partial=0.25]", "rubric")
    written = json.loads((catalog_path() / "rubrics/evenhand/summarization.json").read_text(encoding="utf-8"))
    assert found.data == {**written, "na_strategy": "zero", "na_partial": 0.25}
    assert found.name == "summarization"
    assert load_rubric(found).na_partial == 0.25  # what only the catalog says, such as __tags__, is not read


def test_what_is_given_is_not_changed_through_what_is_found():
    given = {"criteria": [{"name": "a"}]}
    resolve(given).data["criteria"][0]["name"] = "b"
    assert given == {"criteria": [{"name": "a"}]}


@pytest.mark.parametrize(
    ("reference", "kind", "message"),
    [
        ("rubrics.evenhand.sumarization", "rubric", "holds the rubric 'rubrics.evenhand.sumarization'. Did you mean"),
        ("checklists.evenhand.esay", "checklist", "Did you mean 'checklists.evenhand.essay'?"),
        ("checklists.evenhand.esay", None, "Did you mean 'checklists.evenhand.essay'?"),
        ("rubrics.evenhand.safety[x", "rubric", "is not of the form id[name=value,…]"),
        (
            3,
            "rubric",
            "3 is a int; give a catalog id such as 'rubrics.evenhand.summarization', the path of a JSON or YAML",
        ),
        (None, "checklist", "no checklist was given; give a catalog id such as 'checklists.evenhand.summary'"),
        ("no/such.yaml", "rubric", "the rubric file 'no/such.yaml' cannot be read (No such file or directory)"),
        ("[1, 2", "rubric", "the JSON text is not JSON"),
        ({"name": {1}}, "rubric", "holds what JSON cannot say"),
    ],
)
def test_what_cannot_be_resolved(reference, kind, message):
    with pytest.raises(ArtifactError) as caught:
        resolve(reference, kind)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "reference",
    ["checklists.evenhand.essay", "criteria.evenhand.direct.relevance", "metrics.accuracy", {"__type__": ["x"]}],
)
def test_a_document_of_another_kind_is_refused(reference):
    with pytest.raises(ArtifactError, match=r"which is not a rubric; accepted: 'evenhand_rubric'"):
        load_rubric(reference)

"""Option values on any scale in files: read, written, and given to tools that know other scales."""

import json

import pytest

import evenhand
from evenhand.criteria import Criterion, Option, Rubric
from evenhand.data.documents import criterion_document
from evenhand.data.formats import exported
from evenhand.errors import InvalidCriterionError

LEVELS = [("Awful", 1.0), ("Poor", 2.0), ("Fair", 3.0), ("Good", 4.0), ("Great", 5.0)]
LIKERT = Criterion(
    name="help",
    description="How helpful is it?",
    options=(*(Option(label=label, value=value) for label, value in LEVELS), Option(label="N/A", na=True)),
)
RUBRIC = Rubric(name="reply", criteria=(LIKERT, LIKERT.model_copy(update={"name": "other", "weight": 2.0})))
UNITS = "the units of the options' values, which are shares of their range there"


def test_criteria_and_rubrics_are_read_and_written(tmp_path):
    document = {
        "name": "help",
        "requirement": "How helpful is it?",
        "scale": "ordinal",
        "options": [{"label": label, "value": value} for label, value in LEVELS] + [{"label": "N/A", "na": True}],
    }
    (tmp_path / "rubric.json").write_text(json.dumps({"name": "reply", "criteria": [document]}))
    assert evenhand.load(tmp_path / "rubric.json").criteria == (LIKERT,)
    lines = ["name: reply", "criteria:", "- name: help", "  requirement: How helpful is it?", "  scale: ordinal"]
    lines += ["  options:", *(f"  - {{label: {label}, value: {value:g}}}" for label, value in LEVELS)]
    (tmp_path / "rubric.yaml").write_text("\n".join([*lines, "  - {label: N/A, na: true}"]))
    assert evenhand.load(tmp_path / "rubric.yaml").criteria == (LIKERT,)
    written = criterion_document(LIKERT)
    assert evenhand.load({"name": "reply", "criteria": [written]}).criteria == (LIKERT,)
    unitxt = exported(LIKERT.model_copy(update={"options": LIKERT.options[:5]}), "unitxt").data
    assert unitxt["option_map"] == dict(LEVELS)
    assert evenhand.load(unitxt).options == LIKERT.options[:5]


def test_other_tools_are_given_what_counts_in_a_rubric():
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    written = exported(RUBRIC, "autorubric")
    assert [option["value"] for option in written.data[0]["options"]] == [*shares, 0.0]
    assert UNITS in written.left_out
    written = exported(RUBRIC, "evalassist")
    assert [option["score"] for option in written.data["items"][0]["criterion"]["options"]] == shares
    assert not any("count as they are" in each for each in written.left_out)
    # a single criterion of EvalAssist is scored in its own units
    assert [option["score"] for option in exported(LIKERT, "evalassist").data["options"]] == [1, 2, 3, 4, 5]
    assert exported(LIKERT, "prometheus").data["score5_description"] == "Great"


def test_scores_that_would_count_as_they_are_are_refused():
    options = [{"name": label, "score": value} for label, value in LEVELS]
    items = [{"criterion": {"name": "help", "description": "How helpful?", "options": options}, "weight": 1.0}]
    assert evenhand.load({"items": items}).criteria[0].score_range == (0, 1)
    with pytest.raises(InvalidCriterionError, match="which count as they are"):
        evenhand.load({"items": items, "normalize_scores": False})

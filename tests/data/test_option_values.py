"""Option values on any scale in files: read, written, and given to tools that know other scales."""

import json

import pytest

import evenhand
from evenhand.criteria import Criterion, Option, Rubric
from evenhand.data.documents import criterion_document
from evenhand.errors import InvalidCriterionError

LEVELS = [("Awful", 1.0), ("Poor", 2.0), ("Fair", 3.0), ("Good", 4.0), ("Great", 5.0)]
LIKERT = Criterion(
    name="help",
    description="How helpful is it?",
    options=(*(Option(label=label, value=value) for label, value in LEVELS), Option(label="N/A", na=True)),
)
RUBRIC = Rubric(name="reply", criteria=(LIKERT, LIKERT.model_copy(update={"name": "other", "weight": 2.0})))


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


def test_scores_that_would_count_as_they_are_are_refused():
    options = [{"name": label, "score": value} for label, value in LEVELS]
    items = [{"criterion": {"name": "help", "description": "How helpful?", "options": options}, "weight": 1.0}]
    assert evenhand.load({"items": items}).criteria[0].score_range == (0, 1)
    with pytest.raises(InvalidCriterionError, match="which count as they are"):
        evenhand.load({"items": items, "normalize_scores": False})

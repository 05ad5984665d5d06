"""The catalog: every entry loads, says what it is, comes back from its own JSON, and judges."""

import json
import warnings
from pathlib import Path

import pytest
import unitxt

from evenhand.parsing import match_closest_option
from evenhand.unitxt.bases import Artifact, fetch_artifact
from evenhand.unitxt.loading import load, load_checklist, load_comparison, load_criterion, load_rubric

ROOT = Path(__file__).resolve().parents[2] / "catalog"
ENTRIES = sorted(ROOT.rglob("*.json"))
DIRECT = sorted((ROOT / "criteria/evenhand/direct").glob("*.json"))
PAIRWISE = sorted((ROOT / "criteria/evenhand/pairwise").glob("*.json"))
RUBRICS = sorted((ROOT / "rubrics/evenhand").glob("*.json"))
CHECKLISTS = sorted((ROOT / "checklists/evenhand").glob("*.json"))
NUMBERS = {"Seven": 7, "Eight": 8, "Ten": 10, "Eleven": 11}


def identifier(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_it_holds_what_is_promised():
    assert len(DIRECT) >= 30
    assert len(PAIRWISE) >= 12
    assert len(CHECKLISTS) >= 10
    promised = {"summarization", "rag_answer", "customer_support", "code_review", "translation", "essay_feedback"}
    assert promised | {"agent_trajectory", "safety"} <= {path.stem for path in RUBRICS}
    assert all("evenhand" in path.relative_to(ROOT).parts[1] for path in ENTRIES)


# an engine that needs a model or a file cannot be built before it is named
NEEDS_SETTINGS = {"engines.evenhand.litellm", "engines.evenhand.openai_compatible", "engines.evenhand.replay"}


@pytest.mark.parametrize("path", [path for path in ENTRIES if identifier(path) not in NEEDS_SETTINGS], ids=identifier)
def test_entry_is_sound(path):
    entry = json.loads(path.read_text(encoding="utf-8"))
    assert entry["__description__"]
    assert entry["__tags__"]
    assert json.loads(Artifact.load(str(path)).to_json()) == entry


def expect_understood(criterion):
    """A judge that repeats a label is understood."""
    for index, option in enumerate(criterion.options):
        assert match_closest_option(option.label, criterion.labels).index == index


def says_and_needs(path, field):
    entry = json.loads(path.read_text(encoding="utf-8"))
    held = entry.get(field) or [criterion for section in entry["sections"] for criterion in section["criteria"]]
    assert NUMBERS[entry["__description__"].split()[0]] == len(held)
    return entry["__tags__"]["needs"].split(", ")


@pytest.mark.parametrize("path", DIRECT, ids=identifier)
def test_direct_criterion(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        criterion = load_criterion(identifier(path))
    assert criterion.name == path.stem
    assert criterion.has_values
    assert {option.value for option in criterion.options if not option.na} >= {0.0, 1.0}
    assert all(option.description for option in criterion.options)
    expect_understood(criterion)


@pytest.mark.parametrize("path", PAIRWISE, ids=identifier)
def test_pairwise_criterion(path):
    assert load_comparison(identifier(path)).name == path.stem
    assert len(load_comparison(identifier(path), graded=True).options) == 5


@pytest.mark.parametrize("path", [*DIRECT, *PAIRWISE, *RUBRICS, *CHECKLISTS], ids=identifier)
def test_an_entry_is_the_same_read_by_unitxt_and_without_it(path):
    assert load(fetch_artifact(identifier(path))[0]) == load(identifier(path))


@pytest.mark.parametrize(
    "reference",
    [
        "criteria.evenhand.direct.relevance[name=mine,weight=-2]",
        "criteria.evenhand.direct.relevance[context_fields={shown=question}]",
        "criteria.evenhand.pairwise.overall_quality[description=Which is better]",
        "rubrics.evenhand.safety[na_strategy=zero,na_partial=0.1]",
        "checklists.evenhand.essay[name=mine,context_fields=[task]]",
        "metrics.llm_as_judge.direct.criteria.answer_relevance[name=mine]",
    ],
)
def test_what_an_id_overrides_is_the_same_read_by_unitxt_and_without_it(reference):
    assert load(fetch_artifact(reference)[0]) == load(reference) != load(reference.partition("[")[0])


@pytest.mark.parametrize("path", RUBRICS, ids=identifier)
def test_rubric(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rubric = load_rubric(identifier(path))
    assert load(identifier(path)) == rubric
    assert rubric.name == path.stem
    assert 5 <= len(rubric.criteria) <= 8
    needs = says_and_needs(path, "criteria")
    assert {field for criterion in rubric.criteria for field in criterion.context_fields} == set(needs)
    for criterion in rubric.criteria:
        assert criterion.prediction_field == "response"
        assert {option.value for option in criterion.options if not option.na} >= {0.0, 1.0}
        assert all(option.description for option in criterion.options)
        expect_understood(criterion)
        if criterion.scale == "ordinal":
            values = [option.value for option in criterion.options if not option.na]
            # the best answer comes first, which for a fault is the one that counts nothing
            assert values == sorted(values, reverse=criterion.weight > 0)
            assert len(set(values)) == len(values)


@pytest.mark.parametrize("path", CHECKLISTS, ids=identifier)
def test_checklist(path):
    checklist = load_checklist(identifier(path))
    assert load(identifier(path)) == checklist
    assert checklist.name == path.stem
    assert says_and_needs(path, "items") == list(checklist.context_fields)
    assert checklist.prediction_field == "response"
    assert len({item.weight for item in checklist.items}) > 1
    assert all(item.category and item.question.endswith("?") for item in checklist.items)


def test_unitxts_own_criteria_are_read_as_they_are():
    judges = Path(unitxt.local_catalog_path) / "metrics/llm_as_judge"
    direct = [path.stem for path in (judges / "direct/criteria").glob("*.json")]
    assert len(direct) > 50
    assert all(load_criterion(f"metrics.llm_as_judge.direct.criteria.{name}").has_values for name in direct)
    for path in (judges / "pairwise/criteria").glob("*.json"):
        assert load_comparison(f"metrics.llm_as_judge.pairwise.criteria.{path.stem}").scale == "pairwise"

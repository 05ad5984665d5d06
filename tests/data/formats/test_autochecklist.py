"""Checklists of autochecklist: their defaults, and the scores of autochecklist itself where it is installed."""

import warnings
from random import Random

import pytest

import evenhand
from evenhand.aggregation.scores import score_answers
from evenhand.criteria import ChecklistItem
from evenhand.errors import InvalidCriterionError

WRITTEN = {
    "id": "6f9619ff",
    "items": [
        {"id": "a1", "question": "Is it polite?", "weight": 40.0, "category": "tone", "metadata": {}},
        {"id": "b2", "question": "Is it short?", "category": None, "metadata": {"from": "x"}},
    ],
    "source_method": "rlcf",
    "generation_level": "corpus",
    "created_at": "2026-01-01T00:00:00Z",
    "input": None,
    "corpus_description": "Replies to customers.",
    "metadata": {},
}


def test_its_defaults():
    checklist = evenhand.load(WRITTEN)
    assert checklist.items == (
        ChecklistItem(name="a1", question="Is it polite?", weight=40, category="tone"),
        ChecklistItem(name="b2", question="Is it short?", weight=100),
    )
    assert checklist.description == "Replies to customers."


@pytest.mark.parametrize(
    "data",
    [
        {"questions": [{"question": "Is it polite?", "weight": 40}, {"question": "Is it short?"}]},
        [{"id": "1", "question": "Is it polite?", "weight": 40}, {"id": "2", "question": "Is it short?"}],
        {"source_method": "tick", "items": [{"question": "Is it polite?", "weight": 40}, {"question": "Is it short?"}]},
    ],
)
def test_every_form_that_it_writes(data):
    assert [(item.name, item.weight) for item in evenhand.load(data).items] == [("1", 40), ("2", 100)]


def test_a_weight_beyond_100_is_refused():
    with pytest.raises(InvalidCriterionError, match=r"has the weight 250: "):
        evenhand.load({"questions": [{"question": "Is it polite?", "weight": 250}]})


@pytest.fixture(scope="module")
def models():
    pytest.importorskip("autochecklist", reason="autochecklist is not installed: its scores are not compared with ours")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from autochecklist import models  # noqa: PLC0415 - only where it is installed

    return models


def test_equal_scores(models):
    from autochecklist import ChecklistScorer  # noqa: PLC0415 - as above

    random = Random(11)
    scorer = ChecklistScorer(mode="batch", model="none", client=object())
    primaries = {"pass": "pass_rate", "weighted": "weighted_score", "normalized": "normalized_score"}
    for _ in range(600):
        items = [
            {"question": f"Question {place}?", **({"weight": random.uniform(1, 100)} if random.random() < 0.6 else {})}
            for place in range(random.randint(1, 9))
        ]
        theirs = models.Checklist(items=items, source_method="tick", generation_level="corpus")
        ours = evenhand.load(theirs.model_dump(mode="json"))
        answers = random.choices(["yes", "no"], k=len(items))
        confidences = [random.random() for _ in items] if random.random() < 0.5 else [None] * len(items)
        scores = [
            models.ItemScore(item_id=item.id, answer=answer, confidence=confidence)
            for item, answer, confidence in zip(theirs.items, answers, confidences, strict=True)
        ]
        scorer.primary_metric = random.choice(list(primaries))
        expected = scorer._build_score(theirs, scores)
        found = score_answers(
            answers,
            [item.weight for item in ours.items],
            confidences=confidences,
            primary=primaries[scorer.primary_metric],
        )
        for score in ("pass_rate", "weighted_score", "normalized_score", "scaled_score_1_5", "primary_score"):
            assert getattr(found, score) == pytest.approx(getattr(expected, score), abs=1e-12), score

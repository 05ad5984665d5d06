"""Checking a data set: what is asked, what the table holds, how it is kept and shown, and recorded verdicts."""

import gzip
import json

import pytest

from evenhand import checklist
from evenhand.aggregation.scores import met_answers
from tests.support.judges import ScriptedJudge
from tests.support.shared import shared_path

CHECKS = {
    "name": "mail",
    "items": [
        {"name": "polite", "question": "Is it polite?", "weight": 50, "category": "tone"},
        {"name": "short", "question": "Is it short?", "weight": 10, "category": "form"},
        {"name": "greets", "question": "Does it greet?", "weight": 40, "category": "tone", "prerequisites": ["polite"]},
    ],
}
ROWS = [
    {"topic": "t0", "alder": "alder 0", "birch": "birch 0", "human": ["yes", "no", "yes"]},
    {"topic": "t1", "alder": "alder 1", "birch": "birch 1", "human": [True, None, False]},
    {"topic": "t2", "alder": "alder 2", "birch": None, "human": None},
]
SAID = {
    "alder 0": ("Yes", "Yes", "Yes"),
    "alder 1": ("No", "Yes", "Yes"),
    "alder 2": ("Yes", None, "No"),
    "birch 0": ("No", "No", "No"),
    "birch 1": ("No", "No", "Yes"),
}


def answers(request):
    """What is said of each response; the short one of alder 2 is never answered."""
    said = dict(
        zip([item["question"] for item in CHECKS["items"]], SAID[request.items[0].question.responses[0]], strict=True)
    )
    entries = [
        {"index": item.number, "answer": said[item.question.criterion.description]}
        for item in request.items
        if said[item.question.criterion.description]
    ]
    return json.dumps({"answers": entries})


def check(engine=None, *, rows=ROWS, given=CHECKS, **options):
    settings = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, **options}
    return checklist(rows, given, engine or ScriptedJudge(answers), **settings)


@pytest.fixture(scope="module")
def table():
    return check(gold_fields="human", context_fields=["topic"])


def test_the_scores_by_hand(table):
    alder, birch = table.reports["alder"], table.reports["birch"]
    # alder 0: 3 of 3; alder 1: not polite, so that the greeting is not met: 1 of 3; alder 2: yes, nothing, no: 1 of 2
    assert [result.scores.pass_rate for result in table.results[:3]] == pytest.approx([1, 1 / 3, 1 / 2])
    assert alder.pass_rate.estimate == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    assert alder.micro_pass_rate.estimate == pytest.approx(5 / 8)
    assert alder.weighted_score.estimate == pytest.approx((1 + 10 / 100 + 50 / 90) / 3)
    assert alder.scaled_score_1_5.estimate == pytest.approx(4 * alder.pass_rate.estimate + 1)
    assert (alder.answered_share.estimate, alder.num_partial) == (pytest.approx(8 / 9), 1)
    assert birch.pass_rate.estimate == 0.0
    assert (birch.num_instances, birch.num_unscored, birch.unanswered) == (3, 1, 3)
    assert dict(birch.unanswered_reasons) == {"missing_response": 3}
    # alder 2's missing answer: 1 of 3 or 2 of 3
    assert alder.score_if_unscored_0 == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    assert alder.score_if_unscored_1 == pytest.approx((1 + 1 / 3 + 2 / 3) / 3)


def test_questions_and_categories_by_hand(table):
    polite, short, greets = table.reports["alder"].items
    assert (polite.label, polite.yes, polite.no, polite.pass_rate.estimate) == ("polite", 2, 1, pytest.approx(2 / 3))
    assert (short.yes, short.no, short.unanswered, short.finding) == (2, 0, 1, "all pass")
    assert (greets.yes, greets.no, greets.by_prerequisite) == (1, 2, 1)
    tone, form = table.reports["alder"].categories
    assert (tone.category, tone.answered, tone.pass_rate.estimate) == ("tone", 6, pytest.approx(3 / 6))
    assert (form.category, form.pass_rate.estimate) == ("form", 1.0)


def test_the_agreement_with_people_by_hand(table):
    # alder: yes-yes, no-yes, yes-yes; True-no, -, False-yes: 2 of 5 (what was said, not what prerequisites made of it)
    agreement = table.gold_agreement("alder")
    assert (agreement.estimate, agreement.n) == (pytest.approx(2 / 5), 2)
    assert "agrees with gold" in table.to_markdown()
    assert check().gold_agreement("alder") is None


# the requirements of 55 tasks, checked by people and by a judge: Zhuge et al. (2024), "Agent-as-a-Judge"
MET_WITH_PREREQUISITES = {"MetaGPT": 6.55, "GPT-Pilot": 28.96, "OpenHands": 28.68}


@pytest.fixture(scope="module")
def recorded():
    path = shared_path("data/devai_checklist.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def needed_by(requirement):
    """Its prerequisites; one of the 366 names itself, which says nothing."""
    return [needed for needed in requirement["prereq"] if needed != requirement["id"]]


def test_the_published_pass_rates_of_people(recorded):
    """Theirs look at the own answers of the direct prerequisites only."""
    for system, published in MET_WITH_PREREQUISITES.items():
        met, count = 0, 0
        for row in (row for row in recorded if row["system"] == system):
            own = {str(each["id"]): "yes" if each["human"] else "no" for each in row["requirements"]}
            wanted = {str(each["id"]): [str(needed) for needed in needed_by(each)] for each in row["requirements"]}
            met += list(met_answers(own, wanted, transitive=False).values()).count("yes")
            count += len(own)
        assert 100 * met / count == pytest.approx(published, abs=0.011)

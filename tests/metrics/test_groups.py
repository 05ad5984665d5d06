"""Groups of a recipe: a group's scores are made of the votes of its instances, and an instance is judged once."""

import math
from dataclasses import replace

import pytest

from evenhand.engines.free_engines import SimulatedEngine
from evenhand.metrics.judge_metrics import ChecklistJudge, DirectJudge, GradeScore, PairwiseJudge
from evenhand.unitxt import engines as artifacts
from tests.support.recipes import evaluated

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ASKED = []
ROWS = [{"question": f"question {row}", "kind": "abc"[row % 3], "half": row % 2, "all": "x"} for row in range(12)]
TEXTS = [f"answer {row}" for row in range(12)]
GROUPS = ["kind", "half", "all", ["kind", "half"]]
RELEVANCE = "criteria.evenhand.direct.relevance"
QUALITY = "criteria.evenhand.pairwise.overall_quality"


class ForgetfulJudge(SimulatedEngine):
    """A noisy judge that draws anew whenever it is asked, as a model does with a temperature."""

    def reply(self, request):
        ASKED.append(request)
        return super().reply(replace(request, sample=len(ASKED)))


class ForgetfulEngine(artifacts.SimulatedEngine):
    def to_judge(self):
        return ForgetfulJudge(name="forgetful", noise=3.0)


def pairs(texts, number=2):
    return [{f"system {place}": f"{text} of {place}" for place in range(number)} for text in texts]


JUDGES = {
    "direct": (DirectJudge, {"criteria": RELEVANCE}, TEXTS),
    "panel": (DirectJudge, {"criteria": RELEVANCE, "samples": 3, "orders": "shuffled", "max_calls": 1000}, TEXTS),
    "pairwise": (PairwiseJudge, {"criteria": QUALITY}, pairs(TEXTS)),
    "weighted": (
        PairwiseJudge,
        {"criteria": QUALITY, "scale": "graded", "reduction": "weighted_win_rate", "design": "swiss:2"},
        pairs(TEXTS, 4),
    ),
    "checklist": (ChecklistJudge, {"checklist": "checklists.evenhand.essay"}, TEXTS),
    "grade_score": (GradeScore, {"criteria": QUALITY}, [list(each.values()) for each in pairs(TEXTS, 3)]),
}


def judge(name, **settings):
    kind, own, predictions = JUDGES[name]
    given = {"inference_engine": ForgetfulEngine(), "journal": None, "progress": False, "context_fields": ["question"]}
    return kind(**given | own | settings), predictions


def same(left, right):
    """Whether two numbers, texts or lists are the same; an undefined number is the same as another."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    both_undefined = isinstance(left, float) and isinstance(right, float) and math.isnan(left) and math.isnan(right)
    return both_undefined or left == right


@pytest.mark.parametrize("name", JUDGES)
def test_a_group_is_made_of_the_votes_of_its_instances(name):
    metric, predictions = judge(name)
    ASKED.clear()
    evaluated(metric, ROWS, predictions)
    once = len(ASKED)
    ASKED.clear()
    results = evaluated(metric, ROWS, predictions, group_by=GROUPS)
    assert len(ASKED) == once
    groups, overall = results[0]["score"]["groups"], results[0]["score"]["global"]
    assert same(groups["all"]["x"], overall)
    assert {len(own) for own in groups.values()} == {3, 2, 1, 6}
    for column, own in groups.items():
        for value, scores in own.items():
            columns, values = (column, value) if isinstance(column, tuple) else ((column,), (value,))
            of_group = [row for row in results if [row["task_data"][name] for name in columns] == [*values]]
            assert scores["num_of_instances"] == len(of_group)
            read = [row["score"]["instance"]["score"] for row in of_group]
            if name not in {"weighted", "checklist"}:  # shares of battles, or of items
                assert scores["score"] == pytest.approx(sum(read) / len(read))


def test_every_evaluation_judges_anew_and_keeps_nothing():
    metric, predictions = judge("direct")
    votes, calls = [], []
    for _ in range(2):
        before = len(ASKED)
        results = evaluated(metric, ROWS, predictions, group_by=GROUPS)
        votes.append([row["score"]["instance"]["relevance_votes"] for row in results])
        calls.append(len(ASKED) - before)
        assert same(results[0]["score"]["groups"]["all"]["x"], results[0]["score"]["global"])
    assert votes[0] != votes[1]
    assert calls[0] == calls[1]

"""The Grade Score inside unitxt: worked examples, judges that are known, recipes by id."""

import re

import pytest

from evenhand.metrics.judge_metrics import GradeScore
from tests.support.choosing import reply_for, shown_candidates
from tests.support.recipes import evaluated
from tests.support.scripted import SENT, ScriptedInferenceEngine, script

CRITERION = "criteria.evenhand.pairwise.overall_quality"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# The candidate chosen in each rotation, and None for a refusal.
PLAN = {"A": (1, 1, 1), "B": (0, 1, 2), "C": (0, 0, 1), "D": (1, None, 1)}


@script
def chooser_by_plan(messages):
    """The candidate that the plan names for this case and rotation; the first candidate shown says which one it is."""
    shown = shown_candidates(messages[0]["content"])
    name, rotation = re.fullmatch(r"case (\w), candidate (\d)", shown[0]).groups()
    chosen = PLAN[name][int(rotation)]
    return reply_for(None if chosen is None else shown.index(f"case {name}, candidate {chosen}"))


def test_three_candidates_by_hand():
    engine = ScriptedInferenceEngine(script="chooser_by_plan")
    metric = GradeScore(inference_engine=engine, criteria=CRITERION, max_reasks=0, progress=False, journal=None)
    planned = [[f"case {name}, candidate {number}" for number in range(3)] for name in PLAN]
    results = evaluated(metric, [{"question": f"question {row}"} for row in range(4)], planned)
    scores, instances = results[0]["score"]["global"], [result["score"]["instance"] for result in results]
    # In rotation r candidate c stands at the place c - r (mod 3).
    # A: candidate 1 at the places 1, 0, 2: L = 1, C = 1, G = 1.
    # B: the first place thrice: L = 0, C = 1/3, G = 0.
    # C: 0 at 0, 0 at 2, 1 at 2: H = log 3 - (2/3) log 2, L = 0.57938, C = 2/3, G = 2·0.57938·0.66667/1.24605 = 0.61997.
    # D: 1 at 1, no answer, 1 at 2: m = 2 answers at 2 places, L = log 2 / log 2 = 1, C = 1, G = 1.
    assert [one["grade_score"] for one in instances] == pytest.approx([1, 0, 0.61997, 1], abs=1e-5)
    assert [one["llm_score"] for one in instances] == pytest.approx([1, 0, 0.57938, 1], abs=1e-5)
    assert [one["choice_score"] for one in instances] == pytest.approx([1, 1 / 3, 2 / 3, 1])
    assert [one["answered"] for one in instances] == pytest.approx([1, 1, 1, 2 / 3])
    assert [one["places"] for one in instances] == [[1, 1, 1], [3, 0, 0], [1, 0, 2], [0, 1, 1]]
    assert [one["candidates"] for one in instances] == [[0, 3, 0], [1, 1, 1], [2, 1, 0], [0, 2, 0]]
    assert instances[3]["selections"] == ["2", None, "2"]
    assert instances[3]["orders"] == [["1", "2", "3"], ["2", "3", "1"], ["3", "1", "2"]]
    # A random judge, rotation 0 held at the place 0: of the 9 pairs of places in the rotations 1 and 2, one gives 0
    # (0, 0), one gives C = 1/3 and L = 1, so 1/2 (1, 2), one gives 1 (2, 1), and six give 0.61997:
    # E = (0.5 + 1 + 6 · 0.61997) / 9 = 0.57998. With two answers: the same place 0, the same candidate 1, else
    # C = 1/2 and L = 1, so 2/3: E = (0 + 1 + 2/3) / 3 = 0.55556.
    corrected = [1, -0.57998 / 0.42002, (0.61997 - 0.57998) / 0.42002, 1]
    assert [one["chance_corrected_grade_score"] for one in instances] == pytest.approx(corrected, abs=1e-4)
    assert scores["grade_score"] == scores["score"] == pytest.approx(2.61997 / 4, abs=1e-5)
    assert scores["score_name"] == "grade_score"
    assert scores["chance_corrected_grade_score"] == pytest.approx(sum(corrected) / 4, abs=1e-4)
    assert scores["chance_grade_score"] == pytest.approx((3 * 0.57998 + 0.55556) / 4, abs=1e-5)
    assert scores["llm_score"] == pytest.approx(2.57938 / 4, abs=1e-5)
    assert scores["choice_score"] == pytest.approx((1 + 1 / 3 + 2 / 3 + 1) / 4)
    assert scores["answered"] == pytest.approx(11 / 12)
    assert scores["calls"] == len(SENT) == 12
    for name in ("grade_score", "chance_corrected_grade_score", "llm_score", "choice_score", "answered", "score"):
        assert scores[f"{name}_ci_low"] < scores[name] < scores[f"{name}_ci_high"]
    # Places: A 1 1 1, B 3 0 0, C 1 0 2, D 0 1 1. Candidates: A 0 3 0, B 1 1 1, C 2 1 0, D 0 2 0.
    assert [scores[f"place_{place}_of_3"] for place in (1, 2, 3)] == [5, 2, 4]
    assert [scores[f"candidate_{number}_of_3"] for number in (1, 2, 3)] == [3, 7, 1]
    assert 0 < scores["places_of_3_p_value"] <= 1

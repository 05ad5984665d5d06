"""The metric of a rubric where instances have rubrics of their own, are nested, or are clipped at the mean."""

import math

import pytest

from evenhand.metrics.judge_metrics import RubricJudge
from tests.data.formats.test_benchmark_rubrics import HEALTH_ROW
from tests.modes.test_own_rubrics import OTHER, says
from tests.support.judges import ScriptedJudge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_each_instance_is_scored_by_its_own_rubric():
    given = {"max_reasks": 0, "progress": False, "journal": None, "context_fields": []}
    metric = RubricJudge(inference_engine=ScriptedJudge(says), rubric_field="rubrics", **given)
    rows = [("advice", HEALTH_ROW), ("amount", OTHER), ("lie", OTHER)]
    instances, overall = metric.compute(
        [{"prediction": said, "references": [], "task_data": dict(data)} for said, data in rows]
    )
    # (7 − 9) / 10, 5 / 5, and the fault of the third alone, whose other criterion is unscored
    assert [each["score"] for each in instances[:2]] == [-0.2, 1.0]
    assert math.isnan(instances[2]["score"])
    assert overall["score"] == pytest.approx(0.4)
    main = overall["score_name"]
    assert [(each["name"], each["selected_option"]) for each in instances[1][f"{main}_criteria"]] == [
        ("says_how_much", "Yes"),
        ("lies", "No"),
    ]
    assert (overall[f"{main}_num_unscored"], overall[f"{main}_score_if_unscored_0"]) == (1, 0.0)

"""The metric of a rubric where instances have rubrics of their own, are nested, or are clipped at the mean."""

import math

import pytest

from evenhand.errors import InvalidInputError
from evenhand.metrics.judge_metrics import RubricJudge
from tests.data.formats.test_benchmark_rubrics import HEALTH_ROW
from tests.modes.test_own_rubrics import OTHER, says
from tests.support.judges import ScriptedJudge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def metric(engine=None, **settings):
    given = {"max_reasks": 0, "progress": False, "journal": None, "context_fields": [], **settings}
    return RubricJudge(inference_engine=engine or ScriptedJudge(says), **given)


def compute(judge, *rows):
    return judge.compute([{"prediction": said, "references": [], "task_data": dict(data)} for said, data in rows])


def test_each_instance_is_scored_by_its_own_rubric():
    instances, overall = compute(
        metric(rubric_field="rubrics"), ("advice", HEALTH_ROW), ("amount", OTHER), ("lie", OTHER)
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rubric": "rubrics.evenhand.safety"}, "rubric_field is 'rubrics' and rubric is given too"),
        ({"examples": [{"response": "x"}]}, "rubric_field is 'rubrics' and examples is given too"),
    ],
)
def test_what_contradicts_rubrics_of_instances_is_refused(settings, message):
    with pytest.raises(InvalidInputError) as caught:
        metric(rubric_field="rubrics", **settings)
    assert message in str(caught.value)

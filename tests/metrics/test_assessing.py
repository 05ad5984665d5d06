"""What direct assessment and rubrics share: examples, and what several judges or draws say about the judges."""

import pytest

from evenhand.metrics.judge_metrics import DirectJudge
from tests.support.judges import ScriptedJudge
from tests.support.questions import LEVELS

LEVEL = LEVELS.model_copy(update={"context_fields": {"question": "question"}})


def direct(engine, **settings):
    given = {"criteria": LEVEL, "progress": False, "journal": None, "flow": "verdict_only", **settings}
    return DirectJudge(inference_engine=engine, **given)


def compute(metric, responses, **fields):
    given = {"question": "q", **fields}
    return metric.compute([{"prediction": each, "references": [], "task_data": given} for each in responses])


def test_a_panel_is_reported_under_the_scores_name():
    labels = {"a": ["High", "Mid", "Low"], "b": ["High", "Low", "Low"]}
    panel = [
        ScriptedJudge(lambda request, name=name: labels[name][int(request.question.responses[0])], name=name)
        for name in labels
    ]
    _, overall = compute(direct(panel, check_positional_bias=False), ["0", "1", "2"])
    expected = {
        "level_judge_mean_a": 0.5,
        "level_judge_mean_b": 1 / 3,
        # the panel's scores are 1, ¼ and 0; without b 1, ½ and 0
        "level_score_without_b": 0.5,
        "level_change_without_b": 0.25 / 3,
        # ¼ ties to the worse option, Low, of which one of the two votes is
        "level_agreement": (1 + 1 / 2 + 1) / 3,
        "level_percent_agreement": 2 / 3,
        "level_num_votes": 6,
        "level_num_votes_left_out": 0,
    }
    assert {name: overall[name] for name in expected} == pytest.approx(expected)
    assert {"level_krippendorff_alpha_ci_low", "level_cohen_kappa_a_vs_b", "level_effective_judges"} <= set(overall)
    _, bare = compute(direct(panel, check_positional_bias=False, return_confidence_interval=False), ["0", "1", "2"])
    assert "level_krippendorff_alpha" in bare
    assert not [name for name in bare if "_ci_" in name]

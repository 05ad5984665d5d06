"""inspect_ai itself: our judge scores its samples, by our engines and by its own models."""

import json
import os
import subprocess
import sys

import pytest

from tests.support.pages import ROOT

pytest.importorskip("inspect_ai")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    command = [sys.executable, "-m", "tests.integrations.inspect_runs", str(folder / "logs")]
    environment = {**os.environ, "INSPECT_CACHE_DIR": str(folder / "cache"), "HOME": str(folder)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_40_of_40_samples_are_scored_by_an_engine_of_ours(found):
    level = found["ours"]["scores"]["level"]
    assert (level["scored"], level["unscored"]) == (40, 0)
    values = [sample["value"] for sample in level["samples"].values()]
    assert {*values} <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert level["mean"] == pytest.approx(sum(values) / 40)
    assert found["in_flight"] <= 8


def test_40_of_40_samples_are_scored_by_a_model_of_inspect(found):
    eight = found["inspects"]["scores"]["eight"]
    assert (eight["scored"], eight["unscored"], eight["mean"]) == (40, 0, 1 / 40)
    assert eight["samples"]["7"]["value"] == 1.0
    assert found["inspects"]["usage"] == ["mockllm/grader", "mockllm/model"]
    # in the log of the sample: the answer, then in each of two orders an assessment and a selection
    assert found["inspects"]["events"] == ["mockllm/model", *["mockllm/grader"] * 4]


def test_a_score_tells_label_reason_and_votes(found):
    score = found["inspects"]["scores"]["eight"]["samples"]["7"]
    assert (score["answer"], score["explanation"]) == ("It is 8.", "It was compared.")
    assert score["metadata"]["label"] == "Yes"
    assert [vote["order"] for vote in score["metadata"]["votes"]] == [[0, 1], [1, 0]]
    assert {vote["selected_label"] for vote in score["metadata"]["votes"]} == {"Yes"}


def test_the_judge_sees_input_output_and_target(found):
    assert "How much is 1 and 1?" in found["prompt"]
    assert "It is 2." in found["prompt"]
    assert "reference" in found["prompt"]


def test_a_sample_without_a_verdict_is_unscored_and_in_no_metric(found):
    eight = found["unscored"]["scores"]["eight"]
    assert (eight["scored"], eight["unscored"], eight["mean"]) == (3, 1, 1.0)
    assert eight["samples"]["2"]["reason"] == "no_match"
    assert eight["samples"]["2"]["metadata"]["unscored_reason"] == "no_match"


def test_a_model_that_fails_leaves_samples_unscored_with_its_words(found):
    eight = found["failed"]["scores"]["eight"]
    assert (eight["scored"], eight["unscored"]) == (0, 2)
    assert eight["samples"]["1"]["reason"] == "engine_error"
    assert "mockllm/grader" in eight["samples"]["1"]["metadata"]["votes"][0]["error"]


def test_inspects_cache_keeps_the_draws_apart(found):
    assert found["cached"] == [12, 12]  # 3 samples, 2 draws, an assessment and a selection each


def test_a_model_of_inspect_answers_only_where_inspect_runs(found):
    assert "answers within scorer(judge) only" in found["outside"]

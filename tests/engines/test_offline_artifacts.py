import pytest
from unitxt.artifact import fetch_artifact

import evenhand
from evenhand.engines import baseline, simulated
from evenhand.engines.names import as_judge
from evenhand.engines.simulated import quality_of_text
from evenhand.errors import EngineError, InvalidInputError
from evenhand.unitxt.engines import BaselineEngine, SimulatedEngine


def test_the_baseline_of_the_catalog_is_the_baseline():
    judge = as_judge("engines.evenhand.baseline")
    assert judge == baseline.BaselineEngine()
    assert as_judge(BaselineEngine()) == judge


def test_a_simulated_judge_of_the_catalog_takes_its_faults():
    judge = as_judge("engines.evenhand.simulated[position_preference=0.5,noise=0.1,seed=3,name=biased]")
    assert judge == simulated.SimulatedEngine(position_preference=0.5, noise=0.1, seed=3, name="biased")
    assert judge.truth is quality_of_text


def test_every_parameter_of_a_simulated_judge_is_a_field_of_its_artifact():
    given = {
        "position_preference": 0.1,
        "verbosity_preference": 0.2,
        "noise": 0.3,
        "accuracy": 0.4,
        "tie": 0.5,
        "refusal_rate": 0.06,
        "truncation_rate": 0.07,
        "garbage_rate": 0.08,
        "recovery_rate": 0.9,
        "typical_length": 10,
        "seed": 11,
        "name": "twelve",
    }
    quality = {"a": 0.25}
    engine = simulated.SimulatedEngine(quality_by_response=quality, **given)
    assert SimulatedEngine(quality_by_response=quality, **given).engine == engine
    assert engine.truth == quality


def test_a_simulated_judge_with_two_truths_or_an_impossible_rate_is_refused():
    with pytest.raises(InvalidInputError, match="one source"):
        SimulatedEngine(quality_by_response={"a": 1.0}, quality_context="quality")
    with pytest.raises(InvalidInputError, match="refusal_rate"):
        SimulatedEngine(refusal_rate=2.0)


def test_a_judge_without_a_model_cannot_answer_prompts():
    with pytest.raises(EngineError, match="has no model"):
        BaselineEngine().infer([{"source": "How are you?"}])


@pytest.mark.parametrize("identifier", ["baseline", "simulated"])
def test_the_catalog_says_what_each_engine_is(identifier):
    evenhand.register()
    artifact, _ = fetch_artifact(f"engines.evenhand.{identifier}")
    assert artifact.__description__
    assert artifact.__tags__

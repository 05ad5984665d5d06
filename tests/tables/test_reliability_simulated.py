"""Judges whose faults are known exactly, through the whole pipeline: the report recovers each within its interval."""

import json
import math

import numpy as np
import pytest

from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine, quality_from_context
from evenhand.question import Question
from evenhand.reliability_report import reliability
from tests.judge_reliability.simulation import CRITERION, KINDS, LABELS, Simulation, measured

QUIET = {"progress": False, "journal": None, "include_prompts_in_result": False, "flow": "one_step", "max_reasks": 0}
CERTAIN = 0.999
"""Twelve measures in seven settings: at this level all of them hold the truth with a probability of 92 % or more."""


def rows_of(number):
    """Every kind of instance equally often; qualities are read from the context, and people see only these."""
    preferred = {0: "a", 1: "b", 2: "tie"}
    rows = []
    for place in range(number):
        quality, lengths = KINDS[place % len(KINDS)]
        first, second = (f"{name}{place} ".ljust(length, "x") for name, length in zip("ab", lengths, strict=True))
        label = preferred[LABELS[int(np.sign(quality))]]
        rows.append({"a": first, "b": second, "quality": json.dumps([quality, 0.0]), "preferred": label})
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "faults",
    [
        {},
        {"position": 1.0},
        {"position": -0.7, "refusal": 0.15},
        {"noise": 1.5, "garbage": 0.1},
        {"verbosity": 0.8},
        {"verbosity": -0.6, "position": 0.5},
        {"verbosity": 0.5, "position": 1.0, "noise": 0.8, "refusal": 0.1, "garbage": 0.1},
    ],
    ids=str,
)
def test_every_fault_is_recovered_within_its_interval(faults):
    simulation = Simulation(**faults)
    found = reliability(
        rows_of(90 if simulation.noise else 180),
        CRITERION,
        simulation.engine,
        response_fields=["a", "b"],
        context_fields="quality",
        gold_fields="preferred",
        samples=2,
        level=CERTAIN,
        max_failure_rate=1.0,
        **QUIET,
    )
    intervals = measured(found.of())
    for name, truth in simulation.truth().items():
        interval = intervals[name]
        if interval is None:
            assert truth == 0.0, name
            continue
        assert interval.low - 1e-9 <= truth <= interval.high + 1e-9, (name, truth, interval)
    said = {finding.measure: finding.text for finding in found.findings()}
    if abs(simulation.position) >= 0.7:
        gains = "first" if simulation.position > 0 else "second"
        assert f"what is shown {gains} gains" in said["inconsistent towards the first"]
    if not simulation.verbosity:
        assert "no preference for length shown" in said["wins at twice the length"]
    if simulation.verbosity == 0.8:
        assert "longer responses are preferred" in said["wins at twice the length"]


def test_an_assessor_that_takes_the_option_shown_first():
    levels = (Option(label="Good", value=1.0), Option(label="Fair", value=0.5), Option(label="Bad", value=0.0))
    clear = Criterion(name="clear", description="Is the response clear?", options=levels)
    engine = SimulatedEngine(quality=lambda question, index: 0.5, position_preference=1.0)
    found = reliability(
        [{"response": f"answer {place}"} for place in range(300)],
        clear,
        engine,
        response_fields="response",
        level=CERTAIN,
        **QUIET,
    ).of()
    # It means Fair, and takes the first option shown, Good or Bad, with probability tanh(1/2) in each order.
    kept = (1 - math.tanh(0.5)) ** 2
    consistency = found.position.position_consistency
    assert consistency.low < kept < consistency.high
    assert found.position.n_recency == 0
    good, _, bad = found.flips.values()
    # Whoever selects Good does so in the given order alone.
    assert good.flip_rate.estimate == bad.flip_rate.estimate == 1.0
    share = good.n_selected / found.position.n_checked
    assert share == pytest.approx(math.tanh(0.5), abs=0.1)


def test_confidences_that_are_true_and_confidences_that_are_not():
    cites = yes_no_criterion("cites", "Does the response cite a source?")
    engine = SimulatedEngine(quality=quality_from_context("quality"), noise=0.3)
    random = np.random.default_rng(3)
    rows = []
    for place, quality in enumerate(random.uniform(0, 1, size=250)):
        chance = _share_of_yes(engine, cites, quality)
        label = "Yes" if random.random() < chance else "No"
        rows.append({"response": f"answer {place}", "quality": str(quality), "true": label, "wrong": "No"})
    given = {"response_fields": "response", "context_fields": "quality", "confidences": True, "level": CERTAIN, **QUIET}
    found = reliability(rows, cites, engine, gold_fields="true", **given).of().confidences
    assert found.n == 500
    assert found.overconfidence.low < 0 < found.overconfidence.high
    assert found.expected_calibration_error < 0.1
    # The share of people who say no does not depend on what the judge says, which is as often yes as no.
    wrong = reliability(rows, cites, engine, gold_fields="wrong", **given).of().confidences
    assert wrong.overconfidence.low > 0


def _share_of_yes(engine, criterion, quality):
    question = Question(id="1", criterion=criterion, responses=("x",), context={"quality": str(quality)})
    return engine.choice_probabilities(question, (0, 1))[0]

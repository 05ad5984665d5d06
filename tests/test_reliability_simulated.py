"""Judges whose faults are known exactly, through the whole pipeline: the report recovers each within its interval."""

import numpy as np
import pytest

from evenhand.functions import reliability
from tests.judge_reliability.simulation import CRITERION, KINDS, LABELS, Simulation, measured

QUIET = {"progress": False, "journal": None, "include_prompts_in_result": False, "flow": "one_step", "max_reasks": 0}
CERTAIN = 0.999
"""Eleven measures in seven settings: at this level all of them hold the truth with a probability of 92 % or more."""


def rows_of(number):
    """Every kind of instance equally often; qualities are read from the context, and people see only these."""
    preferred = {0: "a", 1: "b", 2: "tie"}
    rows = []
    for place in range(number):
        quality, lengths = KINDS[place % len(KINDS)]
        first, second = (f"{name}{place} ".ljust(length, "x") for name, length in zip("ab", lengths, strict=True))
        label = preferred[LABELS[int(np.sign(quality))]]
        rows.append({"a": first, "b": second, "quality": str(quality), "preferred": label})
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

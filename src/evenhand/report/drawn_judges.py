"""What is drawn of a report on the reliability of judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from evenhand.judge_reliability.report import measure_at
from evenhand.report.drawn_results import HALF, UNIT, Drawn, curves, named_marks
from evenhand.report.shapes import Axis
from evenhand.results.findings import Finding


def _of_judges(report: Any, paths: Mapping[str, str]) -> list[Finding]:  # noqa: ANN401 - as above
    """Numbers of a report, of each judge on each criterion."""
    found = []
    for each in report.results:
        for name, path in paths.items():
            value = measure_at(each, path)
            if value is not None:
                found.append(Finding(f"{each.criterion}.{name}", (each.judge_id,), value, "share", each.num_instances))
    return found


def _flips_of_judges(report: Any) -> Drawn | None:  # noqa: ANN401 - as above
    """How far each judge's choices depend on the order."""
    consistent = {"same": "chooses the same in the other order"}
    first = {"first": "moves towards what is shown first"}
    paths = {"same": "position.position_consistency", "first": "position.first_shown_share"}
    asked = Axis("share of the pairs of votes", *UNIT, "share")
    stuck = Axis("share of those that differ", *UNIT, "share", HALF)
    return named_marks(_of_judges(report, paths), "Position", [(asked, consistent), (stuck, first)])


def _agreement_of_judges(report: Any) -> Drawn | None:  # noqa: ANN401 - as above
    """How far each judge agrees with itself, with people, and with the others."""
    shares = {"draws": "repeated draws that agree", "people": "verdicts as people"}
    paths = {"draws": "repetition.pair_agreement", "people": "people.verdict_accuracy"}
    kappas = {"kappa_people": "Cohen's kappa with people", "kappa": "Cohen's kappa of judges"}
    found = _of_judges(report, paths)
    found += [replace(each, kind="number") for each in _of_judges(report, {"kappa_people": "people.cohen_kappa"})]
    for each in report.agreements:
        pairs = {(pair.first, pair.second): pair.cohen_kappa for pair in each.pairs}
        found += [Finding(f"{each.criterion}.kappa", of, value, "number") for of, value in pairs.items()]
    axes = [
        (Axis("share", *UNIT, "share"), shares),
        (Axis("coefficient (0 is chance)", *UNIT, "number", 0.0), kappas),
    ]
    return named_marks(found, "Agreement", axes)


def _calibration_of_judges(report: Any) -> Drawn | None:  # noqa: ANN401 - as above
    """Whether the probabilities that judges state come true."""
    return curves((f"{each.criterion}, {each.judge_id}", each.confidences) for each in report.results)


REPORTED: Final[Mapping[str, Callable[[Any], Drawn | None]]] = {
    "flips": _flips_of_judges,
    "agreement": _agreement_of_judges,
    "calibration": _calibration_of_judges,
}
"""The same of a report on judges."""

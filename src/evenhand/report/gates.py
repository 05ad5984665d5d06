"""Conditions on a result, such as ``relevance.low >= 0.7`` or ``unscored <= 2 %``, and summaries for other programs.

A condition is ``NAME[.PART] OP NUMBER``. NAME is a measure under its name in ``results.findings()``; where several
systems have it, the system stands in brackets: ``relevance[new]``, ``relevance.difference[new, old]``. PART is ``low``
or ``high``, a limit of its interval, or ``n``. A condition on a measure without a number does not hold, nor does one
for which too many votes are unscored to tell. A summary is JSON, JUnit XML or Markdown.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self
from xml.etree import ElementTree as Xml

from evenhand.data.plain import as_json, as_plain, by_key
from evenhand.errors import CheckFailedError, InvalidInputError, did_you_mean
from evenhand.labels.correct import CorrectedScores, correct
from evenhand.numbers import (
    Missing,
    format_apart,
    format_bounds,
    format_count,
    format_number,
    format_percent_apart,
    or_missing,
)
from evenhand.results.compare import RunComparison
from evenhand.results.measures import Measure, Outcomes, reported_difference
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.version import __version__
from evenhand.visible import visible, visible_line

CLOSE: Final = 1e-9
"""Numbers that differ by less are equal: a mean of 0.7 may be off in its last digit."""

LAYOUT: Final = 2
LONG: Final = frozenset({"ids", "groups", "fingerprint"})
"""Parameters with a value per row."""

CORRECTED: Final = ".corrected"
"""Ends the name of a score as people would give it."""

OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION: Final = re.compile(
    rf"\s*(?P<name>.*[^\s<>=])\s*(?P<sign>{'|'.join(OPERATORS)})"
    r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<percent>%?)\s*",
    re.DOTALL,
)

Ranges = Mapping[str, tuple[float, float]]
"""Name of a score -> the least and the greatest that it can be."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one measure.

    Attributes:
        text: The condition as it was written.
        name: The name of the measure.
        sign: The comparison of the measure with the threshold.
        threshold: The number; of a percentage, the share.
    """

    text: str
    name: str
    sign: str
    threshold: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a condition.

        Raises:
            InvalidInputError: If the text is not one.
        """
        given: object = text
        found = _CONDITION.fullmatch(given) if isinstance(given, str) else None
        threshold = math.nan if found is None else float(found["number"]) / (100 if found["percent"] else 1)
        if found is None or not math.isfinite(threshold):
            raise InvalidInputError(
                f"{given!r} is not a condition. Write NAME OP NUMBER, such as 'relevance.low >= 0.7' or "
                f"'unscored <= 2 %'; OP is one of {', '.join(OPERATORS)}. Give several conditions one by one"
            )
        return cls(text, found["name"], found["sign"], threshold)

    def holds(self, value: float) -> bool:
        """Return whether it holds of a number."""
        difference = value - self.threshold
        return OPERATORS[self.sign](0.0 if abs(difference) <= CLOSE else difference, 0.0)


@dataclass(frozen=True, slots=True)
class CheckedCondition:
    """A condition, and whether it holds.

    Attributes:
        condition: The condition as it was written.
        holds: Whether it holds; False also where the measure has no number, or unscored votes leave it open.
        measure: The name of the measure, without systems.
        of: The systems, as :attr:`~evenhand.results.measures.Measure.of`.
        value: The number compared with the threshold; None if there is no such number.
        threshold: The number in the condition.
        n: The rows, contests, items or labels on which the measure rests; None if these are not counted.
        found: The measure with its interval and counts, as a sentence.
    """

    condition: str
    holds: bool
    measure: str
    of: tuple[str, ...]
    value: float | None
    threshold: float
    n: int | None
    found: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILED'} {self.condition}: {self.found}"


@dataclass(frozen=True, repr=False)
class CheckReport(PrintedTables):
    """The result of :meth:`~evenhand.result_methods.ResultMethods.check`.

    Attributes:
        conditions: In the order given.
    """

    conditions: tuple[CheckedCondition, ...]

    @property
    def failed(self) -> tuple[CheckedCondition, ...]:
        """The conditions that do not hold."""
        return tuple(each for each in self.conditions if not each.holds)

    def raise_if_failed(self, results: object = None) -> Self:
        """Return this report if all conditions hold.

        Args:
            results: The result, which the error carries.

        Raises:
            CheckFailedError: One line per condition that does not hold.
        """
        if self.failed:
            raise CheckFailedError("\n".join(map(str, self.failed)), results)
        return self

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return one row per condition."""
        held = format_count(len(self.conditions) - len(self.failed))
        title = f"Conditions: {held} of {format_count(len(self.conditions))} hold"
        rows = [(each.condition, "holds" if each.holds else "failed", each.found) for each in self.conditions]
        return (TextTable(title, ("condition", "", "found"), tuple(rows), kind="conditions"),)


def check(
    results: Results | RunComparison,
    conditions: Sequence[str],
    *,
    gold: object = None,
    design: str | None = None,
    corrected: CorrectedScores | None = None,
) -> CheckReport:
    """Check conditions: see :meth:`~evenhand.result_methods.ResultMethods.check`.

    Args:
        results: The result, or what changed between two.
        conditions: The conditions on the result.
        gold: Labels of people for corrected scores; by default those of the result.
        design: The design by which the labelled rows were chosen.
        corrected: The corrected scores, where they are known already.

    Raises:
        InvalidInputError: A text that is not a condition, a name of no measure or of several, or a number that the
            measure cannot reach.
    """
    parsed = list(map(Condition.parse, conditions))
    findings: list[Measure] = list(results.findings())
    if any(CORRECTED in each.name for each in parsed):
        if isinstance(results, RunComparison):
            raise InvalidInputError("a comparison of two results has no corrected scores: correct each result")
        scores = correct(results, gold, design=design) if corrected is None else corrected
        findings += _corrected_findings(results, scores)
    measures = [
        NamedMeasure(finding, part)
        for finding in findings
        for part in (("", "n") if isinstance(finding.value, (int, float)) else ("", "low", "high", "n"))
    ]
    ranges = score_ranges(results)
    return CheckReport(tuple(_resolve(each, measures, ranges).check(each) for each in parsed))


@dataclass(frozen=True, slots=True)
class NamedMeasure:
    """A measure that a condition can name: a finding, or a part of it."""

    finding: Measure
    part: str

    @property
    def names(self) -> tuple[str, str]:
        """The full name, and the name without the systems."""
        ending = f".{self.part}" if self.part else ""
        return self.finding.label + ending, self.finding.name + ending

    def limits(self) -> tuple[float, float] | Missing:
        """Return the least and the greatest that it may be: the same number, unless unscored votes leave it open."""
        value, bounds = self.finding.value, self.finding.bounds
        if self.part == "n":
            value = or_missing(self.finding.n, "it is not counted on how many rows it rests")
        elif bounds is not None:
            low = bounds.interval_low if self.part == "low" else bounds.low
            return low, bounds.interval_high if self.part == "high" else bounds.high
        if isinstance(value, Missing):
            return value
        number = float(value if isinstance(value, (int, float)) else getattr(value, self.part or "estimate"))
        return Missing("it is not a number") if math.isnan(number) else (number, number)

    def check(self, condition: Condition) -> CheckedCondition:
        """Check a condition on the measure."""
        finding, limits, threshold = self.finding, self.limits(), condition.threshold
        (label, path), holds, value = self.names, False, None
        if isinstance(limits, Missing):
            found = f"{label} has no number: {limits.reason}"
        elif limits[0] < limits[1]:
            truths = {condition.holds(limit) for limit in limits}
            holds = truths == {True}
            found = f"{label} lies in {format_bounds(*limits)}"
            found += ": too many votes are unscored to tell" if len(truths) > 1 else ""
        else:
            value = limits[0]
            holds = condition.holds(value)
            count = self.part == "n" or finding.kind == "count"
            format_value = format_percent_apart if finding.kind == "share" else format_apart
            found = f"{label} is {format_count(value) if count else format_value(value, threshold)}"
        plain = finding.bounds is None and isinstance(finding.value, (int, float, Missing))
        unit = "labels" if finding.name.endswith(CORRECTED) else "n"
        details = [] if plain else [finding.written]
        details += [] if finding.n is None else [f"{unit} {format_count(finding.n)}"]
        details += [] if finding.unscored is None else [str(finding.unscored)]
        found += f" ({'; '.join(details)})" if details else ""
        return CheckedCondition(condition.text, holds, path, finding.of, value, threshold, finding.n, found)


def _resolve(condition: Condition, measures: Sequence[NamedMeasure], ranges: Ranges) -> NamedMeasure:
    """Return the measure that a condition names, if it is one, and the number is one that it can reach."""

    def fits(name: str) -> bool:  # spaces do not count: ``[new,old]`` is ``[new, old]``
        return "".join(name.split()) == "".join(condition.name.split())

    where = f"the condition {condition.text!r} names"
    whole = [each for each in measures if fits(each.names[0])]
    fitting = whole or [each for each in measures if fits(each.names[1])]
    found = [each for place, each in enumerate(fitting) if each not in fitting[:place]]
    if len(found) != 1:
        ordered = sorted(found, key=lambda each: each.names) or sorted(measures, key=lambda each: each.part != "")
        names = dict.fromkeys(each.names[full] for full in ((0,) if found else (0, 1)) for each in ordered)
        problem = f"{len(found)} measures: give the full name of one" if found else "no measure"
        raise InvalidInputError(f"{where} {problem}. {did_you_mean(condition.name, names)}")
    (measure,) = found
    kind, score = measure.finding.kind, measure.finding.name.removesuffix(CORRECTED)
    if kind == "difference":
        score = score.removesuffix(".difference").removesuffix(".change")
    low, high = (0.0, 1.0) if kind in {"share", "p_value"} else ranges.get(score, (-math.inf, math.inf))
    if kind == "difference":
        low, high = low - high, high - low
    if measure.part != "n" and not low - CLOSE <= condition.threshold <= high + CLOSE:
        raise InvalidInputError(
            f"{where} {measure.names[0]}, which lies between {format_number(low)} and {format_number(high)}, and a "
            "number that it cannot reach: the outcome would always be the same. Give a number in the units of the "
            "measure, as 2 % or 0.02"
        )
    return measure


def outcomes_of(results: Results) -> tuple[Outcomes, ...]:
    """Return the scores of each system on each criterion; none for a result without scores."""
    try:
        return tuple(results.outcomes())
    except InvalidInputError:
        return ()


def score_ranges(results: Results | RunComparison) -> Ranges:
    """Return the ranges of the scores of a result, or of either of the two compared."""
    if isinstance(results, RunComparison):
        ranges = results.ranges()
    else:
        of_all = "winrate" if results.kind == "winrates" else ""
        named = [(of_all or each.criterion, each.bounds) for each in outcomes_of(results)]
        ranges = [*results.further_ranges.items(), *named]
    return {name: (min(low for low, _ in own), max(high for _, high in own)) for name, own in by_key(ranges).items()}


def _corrected_findings(results: Results, scores: CorrectedScores) -> Iterator[Measure]:
    """Yield the scores that people would give, under the names of those of the judge."""
    for each in (*scores.scores, *scores.differences):
        name = ".".join(filter(None, (each.criterion, each.option)))
        of = tuple(filter(None, (each.system, each.second)))
        if each.second is not None:
            systems, ending = (each.system, each.second), f".difference{CORRECTED}"
            for direction in reported_difference(name + ending, systems, each.corrected, each.num_labelled):
                yield from direction.findings()
            continue
        if results.kind == "winrates":
            other = name.removeprefix("against ")
            name, of = "winrate", of if other == name else (*of, other)
        yield Measure(name + CORRECTED, of, each.corrected, "score", each.num_labelled)


@dataclass(frozen=True)
class Summary:
    """A result, and the conditions that it was checked against.

    Attributes:
        results: The result, or what changed between two.
        report: The conditions; none if it was not checked.
    """

    results: Results | RunComparison
    report: CheckReport

    def to_json(self) -> str:
        """Return all numbers as JSON; ``layout`` is raised where its form changes.

        ``{"evenhand": "summary", "layout": 2, "version", "kind", "passed", "conditions", "findings", "unscored",
        "parameters", "fingerprint", "spending"}``. Of each condition ``condition``, ``holds``, ``measure``, ``of``
        (whose), ``value``, ``threshold``, ``n`` and ``found``. Of each finding ``name``, ``of``, ``kind``, ``value`` (a
        number, an estimate with its limits, or ``{"reason": …}`` where there is none), ``n``, ``unscored``, and
        ``bounds`` where these lead. ``unscored`` counts over all votes. What is not known, or a limit that the data
        leave open, is null.
        """
        parameters = {name: value for name, value in self.results.parameters.items() if name not in LONG}
        fingerprint = as_plain(self.results.fingerprint) or {}
        summary = {
            "evenhand": "summary",
            "layout": LAYOUT,
            "version": __version__,
            "kind": self.results.kind,
            "passed": not self.report.failed,
            "conditions": as_plain(self.report.conditions),
            "findings": as_plain(self.results.findings(), reasons=True),
            "unscored": as_plain(self.results.unscored_counts),
            "parameters": parameters,
            "fingerprint": {name: value for name, value in fingerprint.items() if name != "shown"},
            "spending": as_plain(self.results.spending),
        }
        return as_json(summary, indent=1)

    def to_junit(self) -> str:
        """Return JUnit XML with a test case per condition, and what was judged as properties."""
        failed, tests = str(len(self.report.failed)), str(len(self.report.conditions))
        counts = {"tests": tests, "failures": failed, "errors": "0", "skipped": "0", "time": "0"}
        suites = Xml.Element("testsuites", {"name": "evenhand", **counts})
        suite = Xml.SubElement(suites, "testsuite", {"name": f"evenhand.{self.results.kind}", **counts})
        properties = Xml.SubElement(suite, "properties")
        parameters = self.results.parameters
        about = {"evenhand": __version__, "judges": ", ".join(map(str, parameters.get("judges", ())))}
        about |= {"rows": str(parameters.get("n", 0))}
        about |= {} if self.results.unscored_counts is None else {"unscored": self.results.unscored_counts.with_reasons}
        for name, value in about.items():
            Xml.SubElement(properties, "property", {"name": name, "value": visible_line(value)})
        for each in self.report.conditions:
            attributes = {"classname": "evenhand.conditions", "name": visible_line(each.condition), "time": "0"}
            case = Xml.SubElement(suite, "testcase", attributes)
            message = {} if each.holds else {"message": visible_line(each.found)}
            Xml.SubElement(case, "system-out" if each.holds else "failure", message).text = visible(each.found)
        Xml.indent(suites)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, encoding="unicode")

    def to_markdown(self) -> str:
        """Return the conditions, and the tables of the result."""
        conditions = [self.report.to_markdown()] if self.report.conditions else []
        return "\n".join([*conditions, self.results.to_markdown()])


WRITERS: Final[Mapping[str, Callable[[Summary], str]]] = {
    "json": Summary.to_json,
    "junit": Summary.to_junit,
    "markdown": Summary.to_markdown,
}

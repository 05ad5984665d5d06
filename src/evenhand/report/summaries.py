"""What a run came to, for the programs that look after runs: JSON, JUnit XML, Markdown and GitHub Actions."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as Xml

from evenhand.errors import InvalidInputError, UnwritableFileError, did_you_mean
from evenhand.numbers import Missing, format_count
from evenhand.report.gates import GateReport, GateResult
from evenhand.results.compare import RunComparison
from evenhand.results.findings import Finding
from evenhand.results.measures import as_json, plain
from evenhand.results.results import Results
from evenhand.results.unscored import UnscoredCounts
from evenhand.version import __version__
from evenhand.visible import visible, visible_line

LAYOUT: Final = 1
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
MOST_OF_A_STEP: Final = 1_000_000
"""Bytes: GitHub shows no step summary of more than 1 MiB."""

LONG: Final = frozenset({"ids", "groups", "fingerprint"})
"""Parameters with something for each row."""


@dataclass(frozen=True)
class Summary:
    """A result with the gates that it was checked by.

    Attributes:
        results: What was judged, or what changed between two runs.
        gates: What became of them; empty without any.
    """

    results: Results[Any] | RunComparison
    gates: GateReport

    def to_json(self) -> str:
        """All numbers as JSON, in a form that stays (``layout`` is raised where it changes).

        ``{"evenhand": "summary", "layout": 1, "version", "kind", "passed", "gates", "findings", "unscored",
        "parameters", "fingerprint", "spending"}``. Of each gate ``expression``, ``passed``, ``undecided``, ``in_noise``
        and ``found``. Of each finding ``name``, ``of`` (whose), ``kind``, ``estimate``, ``low``, ``high``, ``level``,
        ``missing`` (why there is no number), ``n``, ``votes``, ``unscored_votes``, ``unscored_verdicts``, and where
        too many votes are unscored for its value to lead ``bounds`` with ``low``, ``high``, ``interval_low``,
        ``interval_high``, ``share`` and ``unit``. ``unscored`` counts over all votes. What is not known, or a limit
        that the data leave open, is null.
        """
        parameters = {name: value for name, value in self.results.parameters.items() if name not in LONG}
        made = plain(self.results.fingerprint) or {}
        fingerprint = {name: value for name, value in made.items() if name != "shown"}
        said = {
            "evenhand": "summary",
            "layout": LAYOUT,
            "version": __version__,
            "kind": self.results.kind,
            "passed": not self.gates.failed,
            "gates": [_plain_gate(gate) for gate in self.gates.gates],
            "findings": [_plain_finding(each) for each in self.results.findings()],
            "unscored": plain(self._unscored),
            "parameters": parameters,
            "fingerprint": fingerprint,
            "spending": plain(self.results.spending),
        }
        return as_json(said, indent=1)

    def to_junit(self) -> str:
        """JUnit XML: a test case for each gate, and one for each score, which is skipped where it has no number."""
        cases = [*map(_gate_case, self.gates.gates), *map(_score_case, self._scores())]
        counts = {
            "tests": str(len(cases)),
            "failures": str(len(self.gates.failed)),
            "errors": "0",
            "skipped": str(sum(case.find("skipped") is not None for case in cases)),
            "time": "0",
        }
        suites = Xml.Element("testsuites", {"name": "evenhand", **counts})
        suite = Xml.SubElement(suites, "testsuite", {"name": f"evenhand.{self.results.kind}", **counts})
        properties = Xml.SubElement(suite, "properties")
        for name, value in self._about().items():
            Xml.SubElement(properties, "property", {"name": name, "value": visible_line(value)})
        suite.extend(cases)
        Xml.indent(suites)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, encoding="unicode")

    def to_markdown(self) -> str:
        """The gates, and the tables of the result."""
        return "\n".join([*([self.gates.to_markdown()] if self.gates.gates else []), self.results.to_markdown()])

    def annotations(self) -> Iterator[str]:
        """What GitHub Actions shows beside the run: an error for each gate that failed."""
        for gate in self.gates.failed:
            yield f"::error title={_escaped('evenhand: a gate failed', ':,')}::{_escaped(visible_line(str(gate)))}"

    def _scores(self) -> Iterator[Finding]:
        """Scores that are estimates, and those that there should be."""
        for each in self.results.findings():
            if (
                each.kind == "score"
                and not isinstance(each.value, (int, float))
                and not each.name.endswith(("spread", "draw_deviation"))
            ):
                yield each

    @property
    def _unscored(self) -> UnscoredCounts | None:
        return self.results.unscored_counts if isinstance(self.results, Results) else None

    def _about(self) -> Mapping[str, str]:
        judges = self.results.parameters.get("judges", ())
        return {
            "evenhand": __version__,
            "judges": ", ".join(map(str, judges)),
            "rows": str(self.results.parameters.get("n", 0)),
            **({} if self._unscored is None else {"unscored": self._unscored.with_reasons}),
        }


WRITERS: Final[Mapping[str, Callable[[Summary], str]]] = {
    "json": Summary.to_json,
    "junit": Summary.to_junit,
    "markdown": Summary.to_markdown,
}
FORMATS: Final = (*WRITERS, "github")


def check_format(form: str) -> str:
    """A format, if it is one that can be written here.

    Raises:
        InvalidInputError: If it is none, or is for GitHub Actions and this is no step of these.
    """
    if form not in FORMATS:
        raise InvalidInputError(f"--format is {form!r}. {did_you_mean(form, FORMATS)}")
    if form == "github" and not os.environ.get(STEP_SUMMARY):
        raise InvalidInputError(
            f"--format is 'github', and {STEP_SUMMARY} is not set, as it is in a step of GitHub Actions; elsewhere "
            "give markdown, junit or json"
        )
    return form


def append_to_step(summary: Summary) -> None:
    """Append the Markdown to the summary of the step of GitHub Actions; only the gates, where all would be too long.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    path = Path(os.environ[STEP_SUMMARY])
    text = summary.to_markdown()
    try:
        room = MOST_OF_A_STEP - (path.stat().st_size if path.exists() else 0)
        if len(text.encode()) > room:
            text = f"{summary.gates.to_markdown()}\nThe tables are longer than a step summary may be.\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise UnwritableFileError(
            f"{STEP_SUMMARY} names {str(path)!r}, which cannot be written ({error.strerror})"
        ) from error


def unheeded(text: str) -> str:
    """A text in which GitHub Actions finds no command of its own, whatever a name in it looks like."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::"


def _plain_gate(gate: GateResult) -> dict[str, Any]:
    return {
        "expression": gate.expression,
        "passed": not gate.failed,
        "undecided": gate.undecided,
        "in_noise": gate.in_noise,
        "found": list(gate.found),
    }


def _plain_finding(finding: Finding) -> dict[str, Any]:
    value = finding.value
    missing = value.reason if isinstance(value, Missing) else None
    known = None if isinstance(value, (Missing, int, float)) else value
    number = value if isinstance(value, (int, float)) else None if known is None else known.estimate
    bounds = finding.bounds
    return {
        "name": finding.name,
        "of": list(finding.of),
        "kind": finding.kind,
        "estimate": number,
        "low": None if known is None else known.low,
        "high": None if known is None else known.high,
        "level": getattr(known, "level", None),
        "missing": missing,
        "n": finding.n,
        "votes": None if finding.unscored is None else finding.unscored.votes,
        "unscored_votes": None if finding.unscored is None else finding.unscored.unscored_votes,
        "unscored_verdicts": None if finding.unscored is None else finding.unscored.unscored_verdicts,
        "bounds": None if bounds is None else plain(bounds),
    }


def _gate_case(gate: GateResult) -> Xml.Element:
    case = Xml.Element("testcase", {"classname": "evenhand.gates", "name": visible_line(gate.expression), "time": "0"})
    told = visible("\n".join(gate.found))
    if gate.failed:
        kind = "undecided" if gate.undecided else "failed"
        Xml.SubElement(case, "failure", {"type": kind, "message": visible_line(str(gate))}).text = told
    else:
        Xml.SubElement(case, "system-out").text = told
    return case


def _score_case(finding: Finding) -> Xml.Element:
    name = visible_line(finding.label)
    case = Xml.Element("testcase", {"classname": "evenhand.scores", "name": name, "time": "0"})
    if isinstance(finding.value, Missing) and finding.bounds is None:
        Xml.SubElement(case, "skipped", {"message": visible_line(finding.value.reason)})
        return case
    counted = "" if finding.n is None else f", n {format_count(finding.n)}"
    unscored = "" if finding.unscored is None else f", {finding.unscored}"
    Xml.SubElement(case, "system-out").text = f"{finding.written}{counted}{unscored}"
    return case


def _escaped(text: str, more: str = "") -> str:
    """A text in a command of GitHub Actions, which ends at line breaks, and a property at its signs too."""
    signs = {"%": "%25", "\r": "%0D", "\n": "%0A", **{sign: f"%{ord(sign):02X}" for sign in more}}
    return "".join(signs.get(sign, sign) for sign in text)

"""Summaries of a result for other programs: JSON, JUnit XML, Markdown and GitHub Actions."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as Xml

from evenhand.errors import InvalidInputError, UnwritableFileError, did_you_mean
from evenhand.numbers import Missing, format_count
from evenhand.report.gates import CheckReport
from evenhand.results.compare import RunComparison
from evenhand.results.measures import UnscoredCounts, as_json, plain
from evenhand.results.results import Results
from evenhand.version import __version__
from evenhand.visible import visible, visible_line

LAYOUT: Final = 2
STEP_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
MOST_OF_A_STEP: Final = 1_000_000
"""Bytes: GitHub shows no step summary of more than 1 MiB."""

LONG: Final = frozenset({"ids", "groups", "fingerprint"})
"""Parameters with a value per row."""

SPREADS: Final = ("spread", "draw_deviation")
"""Ends of the names of spreads, which are in the units of a score and are none."""


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
        fingerprint = plain(self.results.fingerprint) or {}
        summary = {
            "evenhand": "summary",
            "layout": LAYOUT,
            "version": __version__,
            "kind": self.results.kind,
            "passed": not self.report.failed,
            "conditions": plain(self.report.conditions),
            "findings": plain(self.results.findings(), reasons=True),
            "unscored": plain(self._unscored),
            "parameters": parameters,
            "fingerprint": {name: value for name, value in fingerprint.items() if name != "shown"},
            "spending": plain(self.results.spending),
        }
        return as_json(summary, indent=1)

    def to_junit(self) -> str:
        """Return JUnit XML: a test case per condition, and one per score, which is skipped if it has no number."""
        cases = [
            _case("conditions", each.condition, "" if each.holds else "failure", each.found)
            for each in self.report.conditions
        ]
        for each in self.results.findings():
            if each.kind == "score" and not isinstance(each.value, (int, float)) and not each.name.endswith(SPREADS):
                lacks = isinstance(each.value, Missing) and each.bounds is None
                n = "" if each.n is None else f", n {format_count(each.n)}"
                text = f"{each.written}{n}{'' if each.unscored is None else f', {each.unscored}'}"
                text = each.value.reason if isinstance(each.value, Missing) and lacks else text
                cases.append(_case("scores", each.label, "skipped" if lacks else "", text))
        skipped = sum(case.find("skipped") is not None for case in cases)
        counts = {"tests": str(len(cases)), "failures": str(len(self.report.failed)), "errors": "0"}
        counts |= {"skipped": str(skipped), "time": "0"}
        suites = Xml.Element("testsuites", {"name": "evenhand", **counts})
        suite = Xml.SubElement(suites, "testsuite", {"name": f"evenhand.{self.results.kind}", **counts})
        properties = Xml.SubElement(suite, "properties")
        parameters = self.results.parameters
        about = {"evenhand": __version__, "judges": ", ".join(map(str, parameters.get("judges", ())))}
        about |= {"rows": str(parameters.get("n", 0))}
        about |= {} if self._unscored is None else {"unscored": self._unscored.with_reasons}
        for name, value in about.items():
            Xml.SubElement(properties, "property", {"name": name, "value": visible_line(value)})
        suite.extend(cases)
        Xml.indent(suites)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(suites, encoding="unicode")

    def to_markdown(self) -> str:
        """Return the conditions, and the tables of the result."""
        conditions = [self.report.to_markdown()] if self.report.conditions else []
        return "\n".join([*conditions, self.results.to_markdown()])

    def annotations(self) -> Iterator[str]:
        """Yield an error of GitHub Actions per condition that does not hold."""
        for each in self.report.failed:
            text = visible_line(str(each)).replace("%", "%25")
            yield f"::error title=evenhand%3A a condition does not hold::{text}"

    @property
    def _unscored(self) -> UnscoredCounts | None:
        return self.results.unscored_counts if isinstance(self.results, Results) else None


def _case(suite: str, name: str, outcome: str, text: str) -> Xml.Element:
    """Return a test case, which passed where no other outcome is given."""
    case = Xml.Element("testcase", {"classname": f"evenhand.{suite}", "name": visible_line(name), "time": "0"})
    attributes = {"message": visible_line(text)} if outcome else {}
    Xml.SubElement(case, outcome or "system-out", attributes).text = visible(text)
    return case


WRITERS: Final[Mapping[str, Callable[[Summary], str]]] = {
    "json": Summary.to_json,
    "junit": Summary.to_junit,
    "markdown": Summary.to_markdown,
}
FORMATS: Final = (*WRITERS, "github")


def check_format(form: str) -> str:
    """Return a format, if it is one that can be written here.

    Raises:
        InvalidInputError: If it is not a format, or is github outside a step of GitHub Actions.
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
    """Append the Markdown to the summary of the step of GitHub Actions; only the conditions, if all is too long.

    Raises:
        UnwritableFileError: If it cannot be written.
    """
    path = Path(os.environ[STEP_SUMMARY])
    text = summary.to_markdown()
    try:
        room = MOST_OF_A_STEP - (path.stat().st_size if path.exists() else 0)
        if len(text.encode()) > room:
            text = f"{summary.report.to_markdown()}\nThe tables are longer than a step summary may be.\n"
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise UnwritableFileError(
            f"{STEP_SUMMARY} names {str(path)!r}, which cannot be written ({error.strerror})"
        ) from error


def unheeded(text: str) -> str:
    """Return a text in which GitHub Actions finds no command."""
    token = secrets.token_hex(16)
    return f"::stop-commands::{token}\n{text}\n::{token}::"

"""A result in plain words, for the head of its page: what was judged, by whom, how, its cost, and what to beware."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evenhand.numbers import MISSING, Missing, format_count, format_level, format_percent
from evenhand.report.packed import Counts
from evenhand.results.measures import Finding, Reported, format_value
from evenhand.results.notes import baseline_note, early_stop_note
from evenhand.results.results import Results
from evenhand.statistics import Interval
from evenhand.visible import visible_line

FLOWS: Final = {
    "two_step": "reasons first and the verdict in a second call",
    "one_step": "reasons and verdict in one reply",
    "verdict_only": "a verdict without reasons",
}
MOST_NAMED: Final = 8
"""Names in a sentence, beyond which their number stands."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One score.

    Attributes:
        of: Whose.
        estimate: The number, or the bounds that lead.
        limits: Its interval, or why there is no number.
        rests_on: On how many it rests, and how many of its votes are unscored.
    """

    of: str
    estimate: str
    limits: str
    rests_on: str


def headlines(results: Results) -> dict[str, list[Headline]]:
    """The scores by what they measure: those that have a name of their own, or else the first that a result reports."""
    reported = list(results.reported())
    named = [each for each in reported if each.name and len(each.of) < 2]
    found: dict[str, list[Headline]] = {}
    for finding in [_own(each) for each in named] if named else _leading(reported):
        if finding is not None:
            found.setdefault(visible_line(finding.name), []).append(_headline(finding))
    return found


def _own(reported: Reported) -> Finding | None:
    """The score that the other numbers are about."""
    return next((each for each in reported.findings() if each.name == reported.name), None)


def _leading(reported: Iterable[Reported]) -> list[Finding]:
    """The first number with an interval, of each that has it; all scores of a result that tells no systems apart."""
    found = [finding for each in reported for finding in each.findings()]
    known = [each for each in found if each.kind in {"score", "share", "number"} and hasattr(each.value, "low")]
    first = next((each for each in known if each.of), None)
    if first is None:
        return [each for each in known if each.kind == "score"]
    return [each for each in found if each.name == first.name and len(each.of) == len(first.of)]


def _headline(found: Finding) -> Headline:
    if isinstance(found.value, Missing) and found.bounds is None:
        estimate, limits = MISSING, found.value.reason
    else:
        estimate, bracket, rest = found.written.partition(" [")
        limits = bracket.strip() + rest
    counts = [f"n = {format_count(found.n)}"] if found.n is not None else []
    counts += [str(found.unscored)] if found.unscored is not None else []
    return Headline(visible_line(", ".join(found.of)) or "all", estimate, limits, "; ".join(counts))


def facts(results: Results, lists: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What was judged, by whom, how, what is unscored, and what it cost.

    Args:
        results: The result.
        lists: The names of systems, criteria, judges and rows, as the page shows them.
    """
    said = results.parameters
    rows = format_count(said.get("n", len(lists["rows"])), "row")
    yield (
        "Judged",
        "; ".join(filter(None, (rows, _listed(lists["systems"], "system"), _listed(lists["criteria"], "criterion")))),
    )
    judges = [visible_line(str(name)) for name in said.get("judges") or said.get("votes") or lists["judges"]]
    models = [visible_line(name) for name in results.fingerprint.models if name not in judges]
    answered = f" (answered by {', '.join(models)})" if models else ""
    yield "Judges", f"{', '.join(judges)}{answered}"
    asked = _asked(said)
    if asked:
        yield "Asked", asked
    counts = results.unscored_counts
    yield "Votes", f"{format_count(counts.verdicts, 'verdict')}; {counts.with_reasons}"
    if results.spending is not None:
        yield "Spent", str(results.spending)
    yield "Intervals", f"{format_level(said['level'])}, over {'clusters' if results.clusters() else 'rows'}"


def _listed(names: Sequence[str], noun: str) -> str:
    if not names:
        return ""
    if len(names) > MOST_NAMED:
        plural = {"criterion": "criteria"}.get(noun)
        return f"{format_count(len(names))} {plural}" if plural else format_count(len(names), noun)
    return ", ".join(names)


def _asked(said: Mapping[str, Any]) -> str:
    """How judges were asked, as far as a result of theirs says."""
    grid, flow = said.get("grid", {}), said.get("flow", {})
    if not isinstance(flow, Mapping) or not grid:
        return ""
    words = []
    if "flow" in flow:
        words.append(FLOWS.get(flow["flow"], str(flow["flow"]).replace("_", " ")))
    if "check_positional_bias" in grid:
        orders = grid.get("orders", "given") if grid.get("orders") != "given" else "in the order given and reversed"
        words.append(str(orders) if grid["check_positional_bias"] else "in one order")
    draws = grid.get("samples", 1)
    early = ", fewer once they settled it" if grid.get("stop_early") else ""
    words.append("once each" if draws == 1 else f"{format_count(draws, 'draw')} each{early}")
    return "; ".join(words)


def cautions(results: Results, counts: Counts, *, corrected: bool) -> Iterator[str]:
    """What a reader must know before the scores."""
    said = results.parameters
    yield from baseline_note(said.get("judges", ()))
    if results.unscored_counts:
        yield f"{results.unscored_counts}. No mean includes them, and they are not a random sample."
    for finding in results.findings():
        value = finding.value
        if finding.name.rpartition(".")[2] == "parse_rate" and isinstance(value, Interval) and value.estimate < 1:
            of = visible_line(f" of {', '.join(finding.of)}" if finding.of else "")
            what = visible_line(finding.name.rpartition(".")[0])
            yield f"Parse rate{f' on {what}' if what else ''}{of}: {format_value(value, finding.kind)}."
    if counts.flipped:
        share = format_percent(counts.flipped / counts.ordered)
        yield (
            f"{format_count(counts.flipped)} of {format_count(counts.ordered)} verdicts ({share}) changed when the "
            "order of what was shown did: there the judge has no opinion of its own."
        )
    yield from early_stop_note(said)
    if said.get("grid", {}).get("samples") == 1:
        yield "Each prompt was drawn once: how far judges contradict themselves when asked again is not known."
    models = results.fingerprint.models
    if len(models) > len(said.get("judges", ())):
        yield f"More models answered than there are judges: {visible_line(', '.join(models))}."
    if counts.labelled and not corrected:
        yield (
            "The result holds labels of people, and the scores are not corrected by them: say how the labelled rows "
            "were chosen (design=…, in the shell --design)."
        )


def options_of(results: Results) -> Iterator[tuple[str, str]]:
    """All parameters of a result, those within others by both names."""
    yield from _flat(results.parameters, "")


def _flat(values: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if name in {"ids", "groups", "gold"} or (name == "shown" and before):
            continue  # as long as the data
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{name}.")
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            yield visible_line(f"{before}{name}"), visible_line(text)

"""A result as one HTML file to open offline, mail or attach: the answer, scores, notes, pictures, tables and verdicts.

The page loads nothing and sends nothing. Without JavaScript it lacks only the list of verdicts. Texts from elsewhere
are shown and never obeyed (:mod:`evenhand.visible`).
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from evenhand.errors import InvalidInputError
from evenhand.files import write_as_it_ends
from evenhand.labels.correct import correct
from evenhand.labels.people import majority_labels, read_gold
from evenhand.numbers import (
    Missing,
    format_cost,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_percent,
    state_p_value,
)
from evenhand.report.pictures import KINDS, leading_scores, pictures_of
from evenhand.results.compare import RunComparison
from evenhand.results.looking import VerdictView, VoteView
from evenhand.results.measures import Measure, baseline_note, early_stop_note
from evenhand.results.offline_page import data_element, offline_page
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval
from evenhand.version import __version__
from evenhand.visible import visible, visible_line
from evenhand.votes import Completion

MOST_ANSWERS: Final = 6
"""The sentences at the top of the page; the scores below hold the others."""

MOST_NAMED: Final = 8
"""The names that a sentence lists; of more, it gives their number."""

OTHER_SCALES: Final = ("pass_rate", "weighted_score", "normalized_score", "scaled_score_1_5", "strength")
"""The measures whose differences stand for those of a checklist's or a contest's score."""

HOW_ASKED: Final = ("flow", "orders", "check_positional_bias", "samples", "stop_early")
"""The options of a run that the page shows."""

_NUMBER: Final = re.compile(r"[-+<>$]*\s?[\d∞–]|$")
_BOUNDS_NOTE: Final = " Where bounds replace a score, a row is affected if any vote on it is unscored."


def write_report(path: str | Path, found: PrintedTables, other: Results | None = None, **how: Any) -> None:  # noqa: ANN401 - as of report_page
    """Write a page: see :func:`report_page`.

    Args:
        path: A file that ends in ``.html``.
        found: The result.
        other: A second run, as in :meth:`~evenhand.results.results.Results.compare`.
        **how: The options of :func:`report_page`.

    Raises:
        InvalidInputError: If the path has another ending, or the results do not fit each other.
        UnwritableFileError: If the file cannot be written; an earlier file stays as it was.
    """
    write_as_it_ends(path, {".html": lambda: report_page(found, other, **how)})


def report_page(
    found: PrintedTables,
    other: Results | None = None,
    *,
    further: Sequence[Results] = (),
    data: object = None,
    gold: object = None,
    design: str | None = None,
    title: str | None = None,
    names: tuple[str, str] = ("before", "after"),
) -> str:
    """Return the page as HTML.

    Args:
        found: A result of any kind, or anything else that prints as tables.
        other: A second run of the same kind: the page says what changed.
        further: Results of other kinds on the same rows, which the page shows too.
        data: The judged rows, for their texts; by default the texts are those of the prompts that were sent.
        gold: Labels of people, by which scores are corrected; by default those that the result holds.
        design: How the labelled rows were chosen (:func:`evenhand.correct`); labels of a blind sheet say it.
        title: The title of the page.
        names: The names of the two runs.

    Raises:
        InvalidInputError: If the results are of different kinds or have no row in common, the data are others, or the
            labels fit no row.
    """
    runs: list[tuple[str, Results]] = []
    views: list[Iterable[VerdictView]] = []
    comparison, called = None, [""]
    corrected: tuple[TextTable, ...] = ()
    if isinstance(found, Results):
        if other is not None:
            comparison, called = found.compare(other), list(map(visible_line, names))
        runs = [(called[0], found), *(("", each) for each in further)]
        views = [run.verdict_views(data) for _, run in runs]
        if other is not None:
            runs.append((called[1], other))
            place = found.places_of(other)
            views.append(
                replace(view, name=f"{place[view.instance]}{view.name.removeprefix(str(view.instance))}")
                for view in other.verdict_views(data)
            )
        if gold is not None:
            labels = majority_labels(read_gold(found, gold))
            given = {"/".join(map(str, name)): str(label) for name, label in labels.items() if label is not None}
            views = [(replace(view, gold=given.get(view.name)) for view in own) for own in views]
        if gold is not None or design is not None:
            corrected = correct(found, gold, design=design).text_tables()
    elif further or any(each is not None for each in (other, data, gold, design)):
        raise InvalidInputError(
            f"a {type(found).__name__} holds no verdicts, so there is nothing to compare and there are no texts to "
            "show: give it alone"
        )
    texts, verdicts, counts = pack([chain.from_iterable(views)] if further else views)
    drawn = [(name, each) for name, run in runs for each in pictures_of(run)]
    pictures = [
        (f"{each.title} · {name}" if name else each.title, each)
        for name, each in sorted(drawn, key=lambda item: list(KINDS).index(item[1].kind))
    ]
    tables = found.text_tables()
    return offline_page(
        "evenhand.report",
        "report",
        title=visible_line(title or (tables[0].title if tables else type(found).__name__)),
        words=_column_class,
        version=__version__,
        answers=_answers([comparison] if comparison else [run for _, run in runs]),
        headlines=_headlines(runs),
        bounds_note=_BOUNDS_NOTE if any(each.bounds for _, run in runs for each in run.findings()) else "",
        notes=_merged(runs, lambda run: _notes_of(run, counts, corrected=bool(corrected))),
        facts=_merged(runs, _facts_of),
        comparison=() if comparison is None else comparison.text_tables(),
        corrected=corrected,
        pictures=pictures,
        encoded=lambda picture: base64.b64encode(picture.svg()).decode(),
        sections=runs or [("", found)],
        line=visible_line,
        verdicts=bool(verdicts),
        data=data_element("data", {"texts": texts, "verdicts": verdicts, "called": called}),
    )


def _column_class(table: TextTable, column: int) -> Markup:
    """Return the class of a column that does not hold numbers."""
    cells = [row[column] for row in table.rows]
    return Markup("") if column and all(map(_NUMBER.match, cells)) else Markup(' class="words"')


# --- the answer, the scores and the notes ----------------------------------------------------------------------------


def _answers(results: Sequence[Results | RunComparison]) -> list[str]:
    """Return the sentences that say what was found: who leads or what changed, by how much, with interval and p."""
    found = [sentence for each in results for sentence in _answers_of(each)]
    more = len(found) - MOST_ANSWERS
    rest = [f"{format_count(more, 'further score')} below."] if more > 0 else []
    return [visible_line(sentence) for sentence in found[:MOST_ANSWERS] + rest]


def _answers_of(results: Results | RunComparison) -> Iterator[str]:
    if isinstance(results, RunComparison):
        sentences = []
        for each in results.findings():
            name, _, change = each.name.rpartition(".")
            if change == "change":
                what = " of ".join(filter(None, (name, ", ".join(each.of))))
                moved = "rose" if (each.estimate or 0.0) > 0 else "fell"
                sentences.append(_state(each, f"{what} {moved} by ", "change", f" in {what}", results.level))
        yield from sorted(sentences, key=lambda sentence: sentence.startswith("No "))
        return
    findings = {(each.name, each.of): each for each in results.findings()}
    for name, scores in leading_scores(results).items():
        known = [each for each in sorted(scores, key=_rank) if each.bounds or each.estimate is not None]
        values = [f"{', '.join(each.of)} {each.written}".strip() for each in known[:MOST_NAMED]]
        names = [f"{each}.difference" for each in (name, *OTHER_SCALES)]
        of = (*known[0].of, *known[1].of) if len(known) > 1 else ()
        difference = next((findings[each, of] for each in names if (each, of) in findings), None)
        if not known:
            yield f"There is no {name}: {getattr(scores[0].value, 'reason', '')}."
        elif difference is not None:
            scale = " in strength" if difference.name.startswith("strength") else ""
            leads = f"{of[0]} leads on {name} over {of[1]}{scale} by "
            level = results.parameters["level"]
            yield _state(difference, leads, "difference", f" in {name} between {of[0]} and {of[1]}", level)
        elif any(each.bounds for each in known):
            yield f"Too many votes are unscored to give more than bounds of {name}: {'; '.join(values)}."
        else:
            yield f"{name}: {'; '.join(values)}{'; differences were not tested' * (len(known) > 1)}."


def _state(found: Measure, leads: str, noun: str, where: str, level: float) -> str:
    """Return what a difference of two systems, or a change between two runs, says."""
    p_value = "" if found.p_value is None else f", {state_p_value(found.p_value)}"
    bounds = found.bounds
    if bounds is not None and bounds.interval_low <= 0 <= bounds.interval_high:
        return f"Too many votes are unscored to say whether there is a {noun}{where}: {found.written}."
    if bounds is not None:
        return f"{leads.removesuffix(' by ')}: {found.written.rpartition(', ')[0]} with bounds for the unscored votes."
    if isinstance(found.value, Missing):
        return f"There is no {noun}{where}: {found.value.reason}."
    if found.p_value is None or found.p_value > 1 - level or not isinstance(found.value, Interval):
        return f"No {noun} was found{where}: {found.written}{p_value}."
    size = found.value if found.value.estimate >= 0 else found.value.subtracted_from(0.0)
    return f"{leads}{format_interval(size)}{p_value}."


def _rank(score: Measure) -> float:
    """Return what scores are sorted by: the highest first, missing ones last."""
    if score.bounds is not None:
        return -(score.bounds.low + score.bounds.high) / 2
    return math.inf if score.estimate is None else -score.estimate


def _headlines(runs: Iterable[tuple[str, Results]]) -> dict[str, list[tuple[str, Measure]]]:
    """Return the cards: the scores by name, the highest first, and those of two runs side by side."""
    found: dict[str, dict[str, list[tuple[str, Measure]]]] = {}
    for run_name, run in runs:
        for name, scores in leading_scores(run).items():
            for each in scores:
                of = ", ".join(each.of) or "all"
                own = found.setdefault(name, {}).setdefault(of, [])
                own.append((f"{of} · {run_name}" if run_name else of, each))
    return {
        name: [score for own in sorted(by.values(), key=lambda own: _rank(own[0][1])) for score in own]
        for name, by in found.items()
    }


def _merged(
    runs: Sequence[tuple[str, Results]], describe: Callable[[Results], Iterable[tuple[str, str]]]
) -> list[tuple[str, str]]:
    """Return the sentences on runs by topic; a sentence that is not true of all runs names the run."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, run in runs:
        for topic, sentence in describe(run):
            sentences = found.setdefault(topic, {})
            sentences.setdefault(f"{sentence.removesuffix('.')}.", []).append(name or run.kind)
    return [
        (topic, " ".join(each if len(of) == len(runs) else f"{', '.join(of)}: {each}" for each, of in own.items()))
        for topic, own in found.items()
    ]


def _notes_of(results: Results, counts: Counter[str], *, corrected: bool) -> Iterator[tuple[str, str]]:
    """Yield what a reader must know, with its topic; there are five."""
    parameters, judges = results.parameters, results.parameters.get("judges", ())
    models = results.fingerprint.models
    for note in baseline_note(judges):
        yield "Judge", note
    if len(models) > len(judges):
        yield "Judge", f"More models answered than there are judges: {visible_line(', '.join(models))}."
    if results.unscored_counts:
        yield "Unscored", f"{results.unscored_counts}. No mean includes them, and they are not a random sample."
    if counts["flipped"]:
        share = format_percent(counts["flipped"] / counts["ordered"])
        changed = f"{format_count(counts['flipped'])} of {format_count(counts['ordered'])} verdicts ({share})"
        note = "changed with the order of what was shown: there the judge has no opinion of its own."
        yield "Order", f"{changed} {note}"
    for note in early_stop_note(parameters):
        yield "Draws", note
    if parameters.get("grid", {}).get("samples") == 1:
        yield "Draws", "Each prompt was drawn once: how far judges contradict themselves when asked again is not known."
    if counts["labelled"] and not corrected:
        note = "The result holds labels of people, and the scores are not corrected by them: say how the labelled rows"
        yield "People", f"{note} were chosen (design=…, in the shell --design)."


def _facts_of(results: Results) -> Iterator[tuple[str, str]]:
    """Yield by whom and how it was judged, how much, and what it cost."""
    parameters = results.parameters
    judges = [visible_line(str(name)) for name in parameters.get("judges") or parameters.get("votes") or ()]
    models = [visible_line(name) for name in results.fingerprint.models if name not in judges]
    yield "Judges", ", ".join(judges) + (f" (answered by {', '.join(models)})" if models else "")
    flow = parameters.get("flow", {})
    asked = {**(flow if isinstance(flow, Mapping) else {}), **parameters.get("grid", {})}
    how = [f"{name}={asked[name]}" for name in HOW_ASKED if name in asked]
    if how:
        yield "Asked", ", ".join(how)
    counts = results.unscored_counts
    rows, verdicts = format_count(parameters["n"], "row"), format_count(counts.verdicts, "verdict")
    yield "Votes", f"{rows}, {verdicts}; {counts.with_reasons}"
    if results.spending is not None:
        yield "Spent", str(results.spending)
    yield "Intervals", f"{format_level(parameters['level'])}, over {'clusters' if results.clusters() else 'rows'}"


# --- the verdicts as the page's script reads them --------------------------------------------------------------------


TEXTS: Final = frozenset(
    {"question", "cluster", "context", "responses", "error", "reasons", "reply", "reasoning", "prompts"}
)
"""The fields of views that hold texts of several lines; the others hold names."""

_FENCED: Final = re.compile(r"(?<=-[0-9a-f]{8}>\n)(.*?)(?=\n</)", re.DOTALL)
"""Material between tags in our prompts, which several prompts repeat."""

WRITTEN: Final[Mapping[str, Callable[[float], str]]] = {
    "agreement": format_percent,
    "probabilities": format_percent,
    "cost": format_cost,
}


def pack(runs: Sequence[Iterable[VerdictView]]) -> tuple[list[str], list[dict[str, Any]], Counter[str]]:
    """Return the verdicts of one run, or of two that were asked the same questions; the verdicts on a row together.

    Returns:
        Every text once, as elsewhere texts and names are numbers of this list; the name, row and item of each question,
        and its verdict in each run, null where a run has none (a number is a pair of itself and its text, a mapping a
        list of pairs); and how many verdicts were ``ordered`` (asked in two orders), ``flipped`` with it, and
        ``labelled``.
    """
    texts: dict[str, int] = {}
    rows: dict[str, int] = {}
    verdicts: dict[str, dict[str, Any]] = {}
    counts = Counter[str]()
    for number, views in enumerate(runs):
        for view in views:
            name, again = view.name, 1
            while name in verdicts and verdicts[name]["runs"][number] is not None:
                again += 1
                name = f"{view.name} ({again})"
            about = {"name": name, "item": _item(view)}
            place = rows.setdefault(view.row, len(rows))
            verdict = verdicts.setdefault(name, {**_numbered(about, texts), "row": place, "runs": [None] * len(runs)})
            verdict["runs"][number] = {
                **_numbered({**view.record(), "context": view.context, "responses": view.responses}, texts),
                "votes": [_numbered(_fields_of(vote), texts) for vote in view.votes],
            }
            counts["ordered"] += view.flipped is not None
            counts["flipped"] += bool(view.flipped)
            counts["labelled"] += view.gold is not None
    ordered = sorted(verdicts.values(), key=lambda each: int(each["row"]))
    return list(texts), ordered, counts


def _fields_of(view: VoteView) -> dict[str, Any]:
    """Return what the page shows of a vote; the reply in pieces: before, within and after what was read."""
    vote, completion = view.vote, view.vote.completion or Completion(text=None)
    start, end = view.read_at or (0, 0)
    reply = completion.text
    pieces = [reply[:start], reply[start:end], reply[end:]] if reply is not None and view.read_at else [reply]
    return {
        "judge": vote.judge_id,
        "sample": vote.sample,
        "shown": view.shown,
        "selected": view.selected,
        "value": vote.value,
        "na": vote.na,
        "unscored_reason": vote.unscored_reason,
        "error": vote.error,
        "reasons": vote.assessment,
        "reply": [] if reply is None else pieces,
        "reasoning": completion.reasoning,
        "how": None if vote.match is None else vote.match.kind,
        "model": completion.model,
        "cost": vote.usage.cost,
        "probabilities": view.probabilities,
        "prompts": {stage: [(role, _FENCED.split(text)) for role, text in own] for stage, own in view.prompts.items()},
    }


def _numbered(record: Mapping[str, Any], texts: dict[str, int]) -> dict[str, Any]:
    """Return the fields of a record as JSON; each text is its number in a table, which grows."""

    def plain(value: object, field: str) -> Any:  # noqa: ANN401 - plain JSON
        if isinstance(value, str):
            text = visible(value.replace("\r\n", "\n")) if field in TEXTS else visible_line(value)
            return texts.setdefault(text, len(texts))
        if isinstance(value, float):
            return [value, plain(WRITTEN.get(field, format_number)(value), "")]
        if isinstance(value, Mapping):
            return [[plain(name, ""), plain(each, field)] for name, each in value.items()]
        return [plain(each, field) for each in value] if isinstance(value, (list, tuple)) else value

    return {field: plain(value, field) for field, value in record.items()}


def _item(view: VerdictView) -> str:
    """Return what distinguishes a verdict from others on the same responses: the criterion, or an item's name."""
    last = view.name.rpartition("/")[2]
    own = not last.isdigit() and last not in view.systems and not view.name.endswith(f"/{view.criterion}")
    return last if own and "/" in view.name else view.criterion

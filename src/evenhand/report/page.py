"""A result as one HTML file to open offline, mail or attach: the answer, scores, notes, pictures, tables and verdicts.

The page loads nothing and sends nothing. Without JavaScript it lacks only the list of verdicts. Texts from elsewhere
are shown and never obeyed (:mod:`evenhand.visible`).
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_ending, write_as_it_ends
from evenhand.labels.correct import correct
from evenhand.labels.people import Labels, majority_labels, read_gold
from evenhand.numbers import (
    MISSING,
    Missing,
    format_cost,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_percent,
    state_p_value,
)
from evenhand.report.pictures import leading_scores, pictures_of
from evenhand.results.compare import RunComparison
from evenhand.results.looking import VerdictView, VoteView
from evenhand.results.measures import Measure
from evenhand.results.notes import baseline_note, early_stop_note
from evenhand.results.offline_page import data_element, offline_page
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval
from evenhand.version import __version__
from evenhand.visible import visible, visible_line

MOST_ANSWERS: Final = 6
"""The sentences at the top of the page; the scores below hold the others."""

MOST_NAMED: Final = 8
"""The names that a sentence lists; of more, it gives their number."""

OTHER_SCALES: Final = ("pass_rate", "weighted_score", "normalized_score", "scaled_score_1_5", "strength")
"""The measures whose differences stand for those of a checklist's or a contest's score."""

NOTE_TOPICS: Final = ("Judge", "Unscored", "Order", "Draws", "People")

LEFT_OUT: Final = ("prompts", "reasoning")
"""The parts of votes that a page may lack."""

FLOWS: Final = {
    "two_step": "reasons first and the verdict in a second call",
    "one_step": "reasons and verdict in one reply",
    "verdict_only": "a verdict without reasons",
}
_NUMBER: Final = re.compile(r"[-+<>$]*\s?[\d∞–]|$")
_BOUNDS_NOTE: Final = " Where bounds replace a score, a row is affected if any vote on it is unscored."


def write_report(path: str | Path, found: PrintedTables, other: PrintedTables | None = None, **how: Any) -> None:  # noqa: ANN401 - as of report_page
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
    check_ending(path, (".html",))
    page = report_page(found, other, **how)
    write_as_it_ends(path, {".html": lambda: page})


def report_page(
    found: PrintedTables,
    other: PrintedTables | None = None,
    *,
    further: Sequence[Results] = (),
    data: object = None,
    gold: object = None,
    design: str | None = None,
    leave_out: Collection[str] = (),
    title: str | None = None,
    names: Sequence[str] = ("before", "after"),
) -> str:
    """Return the page as HTML.

    Args:
        found: A result of any kind, or anything else that prints as tables.
        other: A second run of the same kind: the page says what changed.
        further: Results of other kinds on the same rows, which the page shows too.
        data: The judged rows, for their texts; by default the texts are those of the prompts that were sent.
        gold: Labels of people, by which scores are corrected; by default those that the result holds.
        design: How the labelled rows were chosen (:func:`evenhand.correct`); labels of a blind sheet say it.
        leave_out: The parts of votes that the page does not hold: ``prompts``, ``reasoning``.
        title: The title of the page.
        names: The names of the two runs.

    Raises:
        InvalidInputError: If the results are of different kinds or have no row in common, the data are others, or the
            labels fit no row.
    """
    for each in leave_out:
        if each not in LEFT_OUT:
            raise InvalidInputError(f"leave_out names {each!r}. {did_you_mean(each, LEFT_OUT)}")
    if not isinstance(found, Results) and (further or any(each is not None for each in (other, data, gold, design))):
        raise InvalidInputError(
            f"a {type(found).__name__} holds no verdicts, so there is nothing to compare and there are no texts to "
            "show: give it alone"
        )
    comparison = found.compare(other) if isinstance(found, Results) and other is not None else None  # type: ignore[arg-type] # compare checks it
    called = [""] if comparison is None else _run_names(names)
    shown: list[tuple[str, Any]] = [(called[0], found), *(("", each) for each in further)]
    runs = shown if isinstance(found, Results) else []
    views: list[Iterable[VerdictView]] = [each.verdict_views(data) for _, each in runs]
    if comparison is not None and isinstance(found, Results):
        shown.append((called[1], other))
        views.append(_views_in_place(found, other, data))  # type: ignore[arg-type] # as compare found
    if gold is not None:
        labels = read_gold(found, gold)  # type: ignore[arg-type] # a result, as checked above
        views = [_with_labels(each, labels) for each in views]
    corrected = correct(found, gold, design=design).text_tables() if gold is not None or design is not None else ()  # type: ignore[arg-type] # as above
    packed = pack([chain.from_iterable(views)] if further else views, leave_out=leave_out)
    named = [(name or (each.kind if further else ""), each) for name, each in runs]
    pictures = [
        {
            "kind": each.kind,
            "title": visible_line(f"{each.title} · {name}" if name else each.title),
            "caption": each.caption,
            "svg": base64.b64encode(each.svg()).decode(),
        }
        for name, run in shown
        for each in pictures_of(run)
    ]
    if comparison is not None:
        kinds = list(dict.fromkeys(picture["kind"] for picture in pictures))
        pictures.sort(key=lambda picture: kinds.index(picture["kind"]))
    tables = found.text_tables()
    return offline_page(
        "evenhand.report",
        "report",
        title=visible_line(title or (tables[0].title if tables else type(found).__name__)),
        words=_column_class,
        version=__version__,
        answers=_answers([comparison] if comparison else [each for _, each in runs]),
        headlines=_headlines(runs),
        bounds_note=_BOUNDS_NOTE if any(each.bounds for _, run in runs for each in run.findings()) else "",
        notes=_notes(named, packed.counts, corrected=bool(corrected)),
        facts=_facts(named, packed.index["lists"]),
        comparison=() if comparison is None else comparison.text_tables(),
        corrected=corrected,
        pictures=pictures,
        sections=[
            {"name": name, "tables": each.text_tables(), "notes": map(visible_line, each.closing_notes())}
            for name, each in shown
        ],
        verdicts=bool(packed.parts),
        left_out=f"Left out of this page: {', '.join(leave_out)}." if leave_out else "",
        index=data_element("index", {**packed.index, "called": called}),
        parts=[data_element(f"part-{number}", part) for number, part in enumerate(packed.parts)],
    )


def _column_class(table: TextTable, column: int) -> Markup:
    """Return the class of a column that does not hold numbers."""
    cells = [row[column] for row in table.rows]
    return Markup("") if column and all(map(_NUMBER.match, cells)) else Markup(' class="words"')


def _run_names(names: Sequence[str]) -> list[str]:
    if isinstance(names, str) or len(names) != 2:
        raise InvalidInputError(f"names is {names!r}; give two, such as ('before', 'after')")
    shown = [visible_line(str(name)) for name in names]
    return [f"{name} ({place})" for place, name in enumerate(shown, 1)] if shown[0] == shown[1] else shown


def _with_labels(views: Iterable[VerdictView], labels: Labels) -> Iterator[VerdictView]:
    """Add to each verdict the label that most people gave."""
    given = {"/".join(map(str, name)): label for name, label in majority_labels(labels).items() if label is not None}
    for view in views:
        gold = str(given[view.name]) if view.name in given else None
        yield replace(view, gold=gold)


def _views_in_place(found: Results, other: Results, data: object) -> Iterator[VerdictView]:
    """Yield the verdicts of a second run under the names that the first has for these rows."""
    place = found.places_of(other)
    for view in other.verdict_views(data):
        yield replace(view, name=f"{place[view.instance]}{view.name.removeprefix(str(view.instance))}")


# --- the answer, the scores and the notes ----------------------------------------------------------------------------


def _answers(results: Sequence[Results | RunComparison]) -> list[str]:
    """Return the sentences that say what was found: who leads or what changed, by how much, with interval and p."""
    found = [sentence for each in results for sentence in _answers_of(each)]
    more = len(found) - MOST_ANSWERS
    rest = [f"{format_count(more, 'further score')} below."] if more > 0 else []
    return [visible_line(sentence) for sentence in found[:MOST_ANSWERS] + rest]


def _answers_of(results: Results | RunComparison) -> Iterator[str]:
    findings = {(each.name, each.of): each for each in results.findings()}
    if isinstance(results, RunComparison):
        sentences = []
        for (name, of), each in findings.items():
            if name.endswith(".change"):
                what = f"{name.removesuffix('.change')}{' of ' * bool(of)}{', '.join(of)}"
                p_value = findings[f"{name}.p_value", of].value
                change = replace(each, p_value=p_value if isinstance(p_value, float) else None)
                rose = getattr(each.value, "estimate", 0.0) > 0
                leads = f"{what} {'rose' if rose else 'fell'} by "
                sentences.append(_state(change, leads, "change", f" in {what}", results.level))
        yield from sorted(sentences, key=lambda sentence: sentence.startswith("No "))
        return
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


def _headlines(runs: Iterable[tuple[str, Results]]) -> list[dict[str, Any]]:
    """Return the cards: the scores by name, the highest first, and those of two runs side by side."""
    found: dict[str, dict[str, list[tuple[Measure, str]]]] = {}
    for name, run in runs:
        for measured, scores in leading_scores(run).items():
            for each in scores:
                own = found.setdefault(visible_line(measured), {})
                own.setdefault(visible_line(", ".join(each.of)) or "all", []).append((each, name))
    return [
        {
            "name": name,
            "scores": [
                {"of": f"{of} · {run}" if run else of, **_card(each)}
                for of, own in sorted(by.items(), key=lambda item: _rank(item[1][0][0]))
                for each, run in own
            ],
        }
        for name, by in found.items()
    ]


def _card(score: Measure) -> dict[str, str]:
    estimate, bracket, rest = score.written.partition(" [")
    limits = bracket.strip() + rest
    if isinstance(score.value, Missing) and score.bounds is None:
        estimate, limits = MISSING, score.value.reason
    counts = [] if score.n is None else [f"n = {format_count(score.n)}"]
    counts += [] if score.unscored is None else [str(score.unscored)]
    return {"estimate": estimate, "limits": limits, "counts": "; ".join(counts)}


def _notes(runs: Sequence[tuple[str, Results]], counts: Counter[str], *, corrected: bool) -> list[tuple[str, str]]:
    """Return what a reader must know, under five topics at most; a note that is not true of all runs names the run."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, run in runs:
        for topic, note in _notes_of(run):
            found.setdefault(topic, {}).setdefault(note, []).append(name)
    every = [name for name, _ in runs]
    if counts["flipped"]:
        flipped, share = format_count(counts["flipped"]), format_percent(counts["flipped"] / counts["ordered"])
        changed = f"{flipped} of {format_count(counts['ordered'])} verdicts ({share}) changed with the order"
        found.setdefault("Order", {})[f"{changed} of what was shown: there the judge has no opinion of its own."] = (
            every
        )
    if counts["labelled"] and not corrected:
        note = (
            "The result holds labels of people, and the scores are not corrected by them: say how the labelled rows "
            "were chosen (design=…, in the shell --design)."
        )
        found.setdefault("People", {})[note] = every
    return [
        (topic, " ".join(each if len(of) == len(runs) else f"{', '.join(of)}: {each}" for each, of in notes.items()))
        for topic, notes in sorted(found.items(), key=lambda item: NOTE_TOPICS.index(item[0]))
    ]


def _notes_of(results: Results) -> Iterator[tuple[str, str]]:
    parameters, judges = results.parameters, results.parameters.get("judges", ())
    models = results.fingerprint.models
    for note in baseline_note(judges):
        yield "Judge", note
    if len(models) > len(judges):
        yield "Judge", f"More models answered than there are judges: {visible_line(', '.join(models))}."
    if results.unscored_counts:
        yield "Unscored", f"{results.unscored_counts}. No mean includes them, and they are not a random sample."
    for note in early_stop_note(parameters):
        yield "Draws", note
    if parameters.get("grid", {}).get("samples") == 1:
        yield "Draws", "Each prompt was drawn once: how far judges contradict themselves when asked again is not known."


def _facts(runs: Sequence[tuple[str, Results]], lists: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return what was judged, by whom, how, and what it cost; of later runs those facts that differ."""
    found: list[tuple[str, str]] = []
    for name, run in runs:
        for what, fact in _facts_of(run, lists):
            if fact not in [known for title, known in found if title.startswith(what)]:
                found.append((f"{what} · {name}" if any(title == what for title, _ in found) else what, fact))
    return found


def _facts_of(results: Results, lists: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    parameters = results.parameters
    judged = [format_count(parameters.get("n", lists["rows"]), "row")]
    for plural in ("systems", "criteria"):
        names = lists[plural]
        few = len(names) <= MOST_NAMED
        judged += [", ".join(names) if few else f"{format_count(len(names))} {plural}"] if names else []
    yield "Judged", "; ".join(judged)
    judges = [
        visible_line(str(name)) for name in parameters.get("judges") or parameters.get("votes") or lists["judges"]
    ]
    models = [visible_line(name) for name in results.fingerprint.models if name not in judges]
    yield "Judges", ", ".join(judges) + (f" (answered by {', '.join(models)})" if models else "")
    grid, flow = parameters.get("grid", {}), parameters.get("flow", {})
    if isinstance(flow, Mapping) and grid:
        asked = [FLOWS.get(flow["flow"], str(flow["flow"]).replace("_", " "))] if "flow" in flow else []
        if "check_positional_bias" in grid:
            both = {"given": "in the order given and reversed"}
            orders = grid.get("orders", "given")
            asked.append(str(both.get(orders, orders)) if grid["check_positional_bias"] else "in one order")
        draws, early = grid.get("samples", 1), ", fewer once they settled it" if grid.get("stop_early") else ""
        asked.append("once each" if draws == 1 else f"{format_count(draws, 'draw')} each{early}")
        yield "Asked", "; ".join(asked)
    counts = results.unscored_counts
    yield "Votes", f"{format_count(counts.verdicts, 'verdict')}; {counts.with_reasons}"
    if results.spending is not None:
        yield "Spent", str(results.spending)
    yield "Intervals", f"{format_level(parameters['level'])}, over {'clusters' if results.clusters() else 'rows'}"


# --- the verdicts as the page's script reads them --------------------------------------------------------------------

PART: Final = 1_000_000
"""The characters of texts that fill a part; it ends with a row."""

FLAGS: Final = {"na": 1, "flipped": 2, "wrong": 4, "divided": 8, "unscored": 16}
_FENCED: Final = re.compile(r"<([\w-]+?)-([0-9a-f]{8})>\n(.*?)\n</\1-\2>", re.DOTALL)
"""Material between tags, as our prompts hold it."""


@dataclass(frozen=True)
class PackedVerdicts:
    """The verdicts of one run or two, as the page holds them.

    Attributes:
        index: ``lists`` (the names that filters offer), ``flags``, and ``verdicts``: name, row, item, systems, length
            of the responses, part, and for each run the label, score, spread, agreement, flags, reason, gold label, and
            for each vote its judge, label and reason. Names are places in the lists.
        parts: The texts and votes, rows in their order; each text and message once, under its number.
        counts: The verdicts that were ``ordered`` (asked in two orders), ``flipped`` with it, and ``labelled``.
    """

    index: Mapping[str, Any]
    parts: Sequence[Mapping[str, Any]]
    counts: Counter[str]


@dataclass
class _Packed:
    """A verdict of one run or two."""

    about: list[Any]
    question: int | None = None
    cluster: int | None = None
    context: list[list[Any]] = field(default_factory=list)
    responses: dict[int, list[list[Any]]] = field(default_factory=dict)
    columns: dict[int, list[Any]] = field(default_factory=dict)
    votes: dict[int, list[Any]] = field(default_factory=dict)
    texts: set[int] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)


def pack(runs: Sequence[Iterable[VerdictView]], *, leave_out: Collection[str] = ()) -> PackedVerdicts:
    """Return the verdicts of one run, or of two that were asked the same questions."""
    packer = _Packer(leave_out)
    for number, views in enumerate(runs):
        for view in views:
            packer.add(view, number)
    return packer.packed(len(runs))


class _Packer:
    """Collects verdicts; long or repeated texts are held once."""

    def __init__(self, leave_out: Collection[str]) -> None:
        self._leave_out = leave_out
        names = ("rows", "systems", "criteria", "items", "labels", "judges", "reasons")
        self._lists: dict[str, dict[str, int]] = {name: {} for name in names}
        self._texts: dict[str, int] = {}
        self._messages: dict[tuple[str, tuple[int, ...]], int] = {}
        self._held: dict[str, _Packed] = {}
        self._counts = Counter[str]()

    def _place(self, name: str, value: str | None) -> int | None:
        known = self._lists[name]
        return None if value is None else known.setdefault(visible_line(value), len(known))

    def _text(self, text: str | None, held: _Packed) -> int | None:
        if text is None:
            return None
        number = self._texts.setdefault(_visible_text(text), len(self._texts))
        held.texts.add(number)
        return number

    def add(self, view: VerdictView, run: int) -> None:
        """Add a verdict; a second one of the same name and run gets a name of its own."""
        name, number = view.name, 1
        while name in self._held and run in self._held[name].columns:
            number += 1
            name = f"{view.name} ({number})"
        if name not in self._held:
            systems = [self._place("systems", system) for system in view.systems]
            self._place("criteria", view.criterion)
            length = sum(len(text) for text in view.responses.values() if text)
            held = _Packed([self._place("rows", view.row), self._place("items", _item(view)), systems, length])
            held.question, held.cluster = self._text(view.question, held), self._text(view.cluster, held)
            self._held[name] = held
        held = self._held[name]
        shown = [[visible_line(each), self._text(text, held)] for each, text in view.context.items()]
        held.context += [each for each in shown if each not in held.context]
        held.responses[run] = [
            [self._place("systems", each), self._text(text, held)] for each, text in view.responses.items()
        ]
        for label in chain.from_iterable(vote.shown for vote in view.votes):
            self._place("labels", label)  # in the criterion's order, as far as the votes show it
        flags = {"na": view.verdict.na, "flipped": view.flipped, "wrong": view.wrong, "divided": view.divided}
        held.columns[run] = [
            self._place("labels", view.selected),
            _with_text(view.score),
            _with_text(view.verdict.spread),
            _with_text(view.verdict.agreement, format_percent),
            sum(FLAGS[name] for name, holds in {**flags, "unscored": view.unscored}.items() if holds),
            self._place("reasons", view.unscored_reason),
            self._place("labels", view.gold),
            sorted({self._vote_names(vote) for vote in view.votes}, key=str),
        ]
        held.votes[run] = [self._vote(vote, held) for vote in view.votes]
        self._counts["ordered"] += view.flipped is not None
        self._counts["flipped"] += bool(view.flipped)
        self._counts["labelled"] += view.gold is not None

    def _vote_names(self, view: VoteView) -> tuple[int | None, ...]:
        labels, reasons = self._place("labels", view.selected), self._place("reasons", view.vote.unscored_reason)
        return self._place("judges", view.vote.judge_id), labels, reasons

    def _vote(self, view: VoteView, held: _Packed) -> list[Any]:
        """Return the judge, label, reason, order, draw, value, NA, texts and the rest of a vote."""
        vote, completion = view.vote, view.vote.completion
        reply, read = view.reply, list[int]()
        if reply is not None and view.read_at is not None:  # between which characters, as JavaScript counts them
            start, end = view.read_at
            before, verdict, after = map(_visible_text, (reply[:start], reply[start:end], reply[end:]))
            reply, read = before + verdict + after, [_utf16_length(before), _utf16_length(before + verdict)]
        reasoning = None if completion is None or "reasoning" in self._leave_out else completion.reasoning
        prompts = {} if "prompts" in self._leave_out else view.prompts
        return [
            *self._vote_names(view),
            [visible_line(label) for label in view.shown],
            vote.sample + 1,
            _with_text(vote.value),
            int(vote.na),
            *(self._text(each, held) for each in (vote.error, vote.assessment, reply, reasoning)),
            read,
            visible_line(vote.match.kind if vote.match else "none"),
            visible_line((completion and completion.model) or ""),
            _with_text(vote.usage.cost, format_cost),
            [[visible_line(label), format_percent(share)] for label, share in view.probabilities.items()],
            [[visible_line(stage), *self._stage(sent, held)] for stage, sent in prompts.items()],
        ]

    def _stage(self, sent: Iterable[tuple[str, str]], held: _Packed) -> Iterator[int]:
        for role, content in sent:
            pieces = [content] if role == "assistant" else _pieces(content)
            numbers = tuple(number for piece in pieces if (number := self._text(piece, held)) is not None)
            message = self._messages.setdefault((visible_line(role), numbers), len(self._messages))
            held.messages.add(message)
            yield message

    def packed(self, runs: int) -> PackedVerdicts:
        """Return the index and the parts of all that was added; no row is divided between parts."""
        texts, messages = list(self._texts), list(self._messages)
        index: list[list[Any]] = []
        parts: list[dict[str, Any]] = []
        size = PART
        ordered = sorted(self._held.items(), key=lambda item: item[1].about[0])  # stable: within a row as they came
        for _, row in groupby(ordered, key=lambda item: item[1].about[0]):
            if size >= PART:
                parts.append({"texts": {}, "messages": {}, "verdicts": {}})
                size = 0
            part = parts[-1]
            for name, held in row:
                for number in sorted(held.texts - part["texts"].keys()):
                    part["texts"][number] = texts[number]
                    size += len(texts[number])
                part["messages"].update((number, messages[number]) for number in sorted(held.messages))
                votes = [held.votes.get(run, []) for run in range(runs)]
                about = [held.question, held.context, _responses(held.responses), held.cluster]
                part["verdicts"][len(index)] = [*about, votes]
                columns = [held.columns.get(run) for run in range(runs)]
                index.append([visible_line(name), *held.about, len(parts) - 1, *columns])
        lists = {name: list(known) for name, known in self._lists.items()}
        return PackedVerdicts({"verdicts": index, "lists": lists, "flags": FLAGS}, parts, self._counts)


def _responses(by_run: Mapping[int, list[list[Any]]]) -> list[list[Any]]:
    """Return system, text and run of the responses; the run is None if all runs were shown the same."""
    every = list(by_run.values())
    same = [each for each in every[0] if all(each in own for own in every)]
    return [[*each, None] for each in same] + [
        [*each, run] for run, own in by_run.items() for each in own if each not in same
    ]


def _with_text(value: float | None, write: Callable[[float], str] = format_number) -> tuple[float, str] | None:
    return None if value is None else (value, write(value))


def _item(view: VerdictView) -> str:
    """Return what distinguishes a verdict from others on the same responses: the criterion, or an item's name."""
    last = view.name.rpartition("/")[2]
    own = not last.isdigit() and last not in view.systems and not view.name.endswith(f"/{view.criterion}")
    return last if own and "/" in view.name else view.criterion


def _visible_text(text: str) -> str:
    return visible(text.replace("\r\n", "\n"))


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _pieces(content: str) -> Iterator[str]:
    """Split a message into pieces that others repeat: the fenced material, the nonce, and our own words."""
    place, nonce = 0, None
    for fenced in _FENCED.finditer(content):
        nonce = nonce or fenced[2]
        yield from _split_at(content[place : fenced.start(3)], nonce)
        yield fenced[3]
        place = fenced.end(3)
    yield from _split_at(content[place:], nonce)


def _split_at(text: str, nonce: str | None) -> Iterator[str]:
    for number, piece in enumerate(text.split(nonce) if nonce else [text]):
        if number and nonce:
            yield nonce
        if piece:
            yield piece

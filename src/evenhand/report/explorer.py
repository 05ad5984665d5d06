"""A result as one HTML file to open offline, mail or attach: summary, pictures, tables, and every verdict.

It loads nothing and sends nothing, and says what matters without JavaScript too; with it, every verdict can be
filtered, searched and read whole.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_ending, write_as_it_ends
from evenhand.labels.correct import correct
from evenhand.labels.people import Labels, read_gold
from evenhand.numbers import format_count
from evenhand.report.in_words import Headline, cautions, facts, headlines, options_of
from evenhand.report.packed import pack
from evenhand.report.pictures import pictures_of
from evenhand.results.looking import VerdictView
from evenhand.results.offline_page import data_element, offline_page
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.version import __version__
from evenhand.visible import visible_line

MOST_LISTED: Final = 200
"""Verdicts that changed between two runs, as the head of the page lists them; the list below has them all."""

LEFT_OUT: Final = ("prompts", "reasoning")
"""What of the votes a page may lack."""

_NUMBER: Final = re.compile(r"[-+<>$]*\s?[\d∞–]|$")
"""How a cell with a number begins, or with none."""

HEADLINES: Final = "Each score with its interval, the number that it rests on, and how many of its votes are unscored."
OF_BOUNDS: Final = " Where bounds stand in place of a score, a row is affected if any vote on it is unscored."


def write_report(path: str | Path, found: PrintedTables, other: PrintedTables | None = None, **how: Any) -> None:  # noqa: ANN401 - as of report_page
    """Write a result, or two that are compared, as a page.

    Args:
        path: Ends in ``.html``.
        found: The result.
        other: A second run, as in :meth:`~evenhand.results.results.Results.compare`.
        **how: As :func:`report_page` takes it.

    Raises:
        InvalidInputError: If the path ends otherwise, or the results do not fit each other.
        UnwritableFileError: If the file cannot be written; what was there is as it was.
    """
    check_ending(path, (".html",))
    page = report_page(found, other, **how)
    write_as_it_ends(path, {".html": lambda: page})


def report_page(
    found: PrintedTables,
    other: PrintedTables | None = None,
    *,
    data: object = None,
    gold: object = None,
    design: str | None = None,
    leave_out: Collection[str] = (),
    title: str | None = None,
    names: Sequence[str] = ("before", "after"),
) -> str:
    """The page as HTML.

    Args:
        found: A result of any kind, or what else prints as tables.
        other: A second run: what changed stands first then.
        data: The rows that were judged, for their texts; by default these are those of the prompts that were sent.
        gold: Labels of people, by which scores are corrected; by default those that the result holds.
        design: How the labelled rows were chosen (:func:`evenhand.correct`); labels of a blind sheet say it.
        leave_out: What of the votes the page does not hold: ``prompts``, ``reasoning``.
        title: Of the page.
        names: What the two runs are called.

    Raises:
        InvalidInputError: If the results are of different kinds or have no row in common, the data are others, or the
            labels fit no row.
    """
    for each in leave_out:
        if each not in LEFT_OUT:
            raise InvalidInputError(f"leave_out names {each!r}. {did_you_mean(each, LEFT_OUT)}")
    page: dict[str, Any] = {
        "title": visible_line(title or _title(found)),
        "words": _words,
        "version": __version__,
        "said": [_said(found, "")],
        "pictures": _pictures(found, ""),
        "verdicts": False,
        "headlines_note": HEADLINES,
        **dict.fromkeys(
            ("facts", "cautions", "headlines", "corrected", "options", "comparison", "changed", "parts"), ()
        ),
        **dict.fromkeys(("index", "changed_count", "unlisted"), ""),
    }
    if isinstance(found, Results):
        how: dict[str, Any] = {"data": data, "gold": gold, "design": design, "leave_out": leave_out, "names": names}
        page |= _of_results(found, other, **how)
    elif other is not None or data is not None or gold is not None:
        raise InvalidInputError(
            f"a {type(found).__name__} holds no verdicts, so that there is nothing to compare, and no texts to show: "
            "give it alone"
        )
    return offline_page("evenhand.report", "explorer", **page)


def _title(found: PrintedTables) -> str:
    tables = found.text_tables()
    return tables[0].title if tables else type(found).__name__


def _said(found: PrintedTables, name: str) -> Mapping[str, Any]:
    """The tables of a result, and what stands beneath all of them."""
    notes = [visible_line(note) for note in found.closing_notes()]
    return {"name": name, "tables": found.text_tables(), "notes": notes}


def _pictures(found: PrintedTables, name: str) -> list[Mapping[str, Any]]:
    """The pictures of what can be drawn."""
    return [
        {
            "kind": each.kind,
            "title": visible_line(f"{each.title} · {name}" if name else each.title),
            "caption": each.caption,
            "description": each.description,
            "svg": base64.b64encode(each.svg()).decode(),
        }
        for each in pictures_of(found)
    ]


def _words(table: TextTable, column: int) -> Markup:
    """The class of a column that does not hold numbers."""
    cells = [row[column] for row in table.rows]
    return Markup("") if column and all(map(_NUMBER.match, cells)) else Markup(' class="words"')


def _of_results(
    found: Results,
    other: PrintedTables | None,
    *,
    data: object,
    gold: object,
    design: str | None,
    leave_out: Collection[str],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the page has of a result, or of two, beside the tables."""
    labelled = gold is not None or design is not None
    corrected = correct(found, gold, design=design).text_tables() if labelled else ()
    runs, called, compared = [("", found)], [""], {}
    views = [found.verdict_views(data)]
    if other is not None:
        compared = _compared(found, other)
        called = _called(names)
        runs = [(called[0], found), (called[1], other)]  # type: ignore[list-item] # of the same kind, as compare found
        views.append(_in_place(found, other, data))  # type: ignore[arg-type] # as above
    if gold is not None:
        told = read_gold(found, gold)
        views = [_as_labelled(each, told) for each in views]
    scores = _headlines(runs)
    led = any(finding.bounds is not None for _, run in runs for finding in run.findings())
    packed = pack(views, leave_out=leave_out)
    lists, each = packed.index["lists"], list(zip(runs, packed.counts, strict=True))
    return {
        "said": [_said(run, name) for name, run in runs],
        "pictures": _side_by_side([_pictures(run, name) for name, run in runs]),
        "facts": _once((name, list(facts(run, lists))) for name, run in runs),
        "cautions": _cautions(
            {name: list(cautions(run, counts, corrected=bool(corrected))) for (name, run), counts in each}
        ),
        "headlines": scores,
        "headlines_note": HEADLINES + (OF_BOUNDS if led else ""),
        "corrected": corrected,
        "options": list(options_of(found)),
        "verdicts": bool(packed.parts),
        "left_out": f"Left out of this page: {', '.join(leave_out)}." if leave_out else "",
        "index": data_element("index", {**packed.index, "called": called}),
        "parts": [data_element(f"part-{number}", part) for number, part in enumerate(packed.parts)],
        **compared,
    }


def _side_by_side(drawn: Sequence[Sequence[Mapping[str, Any]]]) -> list[Mapping[str, Any]]:
    """The pictures of all runs, those of one kind together."""
    kinds = dict.fromkeys(picture["kind"] for own in drawn for picture in own)
    return [picture for kind in kinds for own in drawn for picture in own if picture["kind"] == kind]


def _cautions(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Those of all runs, with the name of the run where it is not true of all."""
    found = dict.fromkeys((each, name) for name, own in said.items() for each in own)
    every = [each for each, _ in found if all(each in own for own in said.values())]
    return [*dict.fromkeys(every), *(f"{name}: {each}" for each, name in found if each not in every)]


def _headlines(runs: Iterable[tuple[str, Results]]) -> list[dict[str, Any]]:
    """The scores by what they measure, those of all runs side by side."""
    found: dict[str, dict[str, list[Headline]]] = {}
    for name, run in runs:
        for measured, scores in headlines(run).items():
            for each in scores:
                shown = replace(each, of=f"{each.of} · {name}") if name else each
                found.setdefault(measured, {}).setdefault(each.of, []).append(shown)
    return [{"name": name, "scores": [*chain.from_iterable(by.values())]} for name, by in found.items()]


def _once(told: Iterable[tuple[str, list[tuple[str, str]]]]) -> list[tuple[str, str]]:
    """The facts of all runs, of later ones those that are not the same, under the name of the run."""
    found: list[tuple[str, str]] = []
    for name, said in told:
        found += [(f"{what} · {name}" if found else what, fact) for what, fact in said if (what, fact) not in found]
    return found


def _called(names: Sequence[str]) -> list[str]:
    """What two runs are called, by which they can be told apart."""
    if isinstance(names, str) or len(names) != 2:
        raise InvalidInputError(f"names is {names!r}; give two, such as ('before', 'after')")
    shown = [visible_line(str(name)) for name in names]
    return [f"{name} ({place})" for place, name in enumerate(shown, 1)] if shown[0] == shown[1] else shown


def _as_labelled(views: Iterable[VerdictView], labels: Labels) -> Iterator[VerdictView]:
    """The verdicts beside what people say: what most of them do, or each of what equally many do."""
    told = {"/".join(map(str, name)): given for name, given in labels.by_question.items()}
    for view in views:
        counts = Counter(str(each.value) for each in told.get(view.name, ()))
        most = [label for label, count in counts.items() if count == max(counts.values())]
        agrees = view.selected is not None and view.selected.casefold() in map(str.casefold, most)
        wrong = None if not most or view.selected is None else not agrees
        yield replace(view, gold=" / ".join(most) or None, wrong=wrong)


def _in_place(found: Results, other: Results, data: object) -> Iterator[VerdictView]:
    """The verdicts of a second run under the names that the first has for these rows."""
    place = found.places_of(other)
    for view in other.verdict_views(data):
        yield replace(view, name=f"{place[view.instance]}{view.name.removeprefix(str(view.instance))}")


def _compared(found: Results, other: PrintedTables) -> dict[str, Any]:
    """What changed between two runs: in numbers, and which verdicts, with their links."""
    comparison = found.compare(other)  # type: ignore[arg-type] # compare checks it
    count = format_count(len(comparison.changes))
    more = f"The {MOST_LISTED} greatest; the list below has all of them as “changed between the runs”."
    return {
        "comparison": [table for table in comparison.text_tables() if table.kind != "changes"],
        "changed": [
            {
                "name": visible_line(" · ".join([each.row, *each.about.values()])),
                "link": Markup("#verdict=") + quote(visible_line(each.name_before), safe=""),
                "before": visible_line(each.before),
                "after": visible_line(each.after),
            }
            for each in comparison.changes[:MOST_LISTED]
        ],
        "changed_count": f"{count} of {format_count(comparison.n_questions, 'verdict')} changed",
        "unlisted": more if len(comparison.changes) > MOST_LISTED else "",
    }

"""A result as one HTML file to open offline, mail or attach: summary, pictures, tables, and every verdict.

It loads nothing and sends nothing, and says what matters without JavaScript too; with it, every verdict can be
filtered, searched and read whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from evenhand import __version__
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.report.in_words import cautions, facts, headlines, options_of
from evenhand.report.packed import FLAGS, PackedVerdicts, pack
from evenhand.report.pictures import pictures_of
from evenhand.results import Results
from evenhand.results.offline_page import data_element, offline_page
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.saved import check_ending, write_as_it_ends
from evenhand.visible import visible_line

MOST_LISTED: Final = 200
"""Verdicts that changed between two runs, as the head of the page lists them; the list below has them all."""

LEFT_OUT: Final = ("prompts", "reasoning")
"""What of the votes a page may lack."""

_NUMBER: Final = re.compile(r"[-+<>$]*\s?[\d∞–]|$")
"""How a cell with a number begins, or with none."""

HEADLINES: Final = "Each score with its interval, the number that it rests on, and how many of these could not be read."


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
        design: How the labelled rows were chosen (:func:`evenhand.correct`); without it nothing is corrected.
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
    tables = found.text_tables()
    page: dict[str, Any] = {
        "title": visible_line(title or (tables[0].title if tables else type(found).__name__)),
        "tables": tables,
        "words": _words,
        "notes": [visible_line(note) for note in found.closing_notes()],
        "version": __version__,
        **dict.fromkeys(("facts", "cautions", "headlines", "corrected", "pictures", "options"), ()),
        **dict.fromkeys(("comparison", "changed", "parts"), ()),
        **dict.fromkeys(("verdicts", "index", "changed_count", "unlisted"), ""),
        "headlines_note": HEADLINES,
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


def _words(table: TextTable, column: int) -> Markup:
    """The class of a column that does not hold numbers."""
    cells = [row[column] for row in table.rows]
    return Markup("") if column and all(map(_NUMBER.match, cells)) else Markup(' class="words"')


def _of_results(
    found: Results[Any],
    other: PrintedTables | None,
    *,
    data: object,
    gold: object,
    design: str | None,
    leave_out: Collection[str],
    names: Sequence[str],
) -> dict[str, Any]:
    """What the page has of a result beside its tables."""
    comparison = () if other is None else found.compare(other).text_tables()  # type: ignore[arg-type] # compare checks it
    corrected = found.correct(gold, design=design).text_tables() if design is not None else ()
    if gold is not None and design is None:
        raise InvalidInputError(
            "labels were given, and not how the labelled rows were chosen, without which no score can be corrected: "
            "give design='random', 'by_verdict', 'probabilities' or 'by_gold', in the shell --design"
        )
    runs = [found, *([other] if isinstance(other, Results) else [])]
    packed = pack([run.verdict_views(data) for run in runs], leave_out=leave_out)
    index = {**packed.index, "runs_named": [visible_line(name) for name in names]}
    changed = list(_changed(packed)) if other is not None else []
    return {
        "facts": list(facts(found, packed)),
        "cautions": list(cautions(found, packed, corrected=bool(corrected))),
        "comparison": comparison,
        "changed": changed[:MOST_LISTED],
        "changed_count": f"{format_count(len(changed), 'verdict')} changed",
        "unlisted": "The list below has all of them: choose “changed between the runs” there."
        if len(changed) > MOST_LISTED
        else "",
        "headlines": [{"name": name, "scores": scores} for name, scores in headlines(found).items()],
        "corrected": corrected,
        "pictures": pictures_of(found),
        "options": list(options_of(found)),
        "verdicts": bool(packed.count),
        "index": data_element("index", index),
        "parts": [data_element(f"part-{number}", part) for number, part in enumerate(packed.parts)],
    }


def _changed(packed: PackedVerdicts) -> Iterator[Mapping[str, str]]:
    """The verdicts that both runs have and do not share, with their links."""
    labels = packed.index["lists"]["labels"]
    (before, after), names = packed.index["runs"], packed.index["names"]
    for place, name in enumerate(names):
        one, two = before[0][place], after[0][place]
        if one != two and not (before[4][place] | after[4][place]) & FLAGS["absent"]:
            said = [labels[each] if each >= 0 else "no verdict" for each in (one, two)]
            yield {"name": name, "link": Markup("#verdict=") + quote(name), "before": said[0], "after": said[1]}

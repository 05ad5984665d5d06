"""A blind sheet as files: one page for a browser, CSV, and what Label Studio and Argilla import."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args
from xml.sax.saxutils import quoteattr

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.labels.blind_sheet import CANNOT_TELL, SIDES, AskedOfPeople, BlindSheet, Card, Form, offers_cannot_tell
from evenhand.results.offline_page import offline_page, within_page

SUFFIXES: Final = (".html", ".csv", ".json", ".jsonl")
TABLE: Final = ("question", "draw", "item", "label", "annotator")
"""The columns of a table that are read again."""


def files_of(sheet: BlindSheet, path: Path, form: Form) -> Mapping[Path, str]:
    """Path -> text, of the files that a sheet is in the form that its path asks for.

    Raises:
        InvalidInputError: A path that ends otherwise, or a form that does not exist.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInputError(
            f"the sheet's path {str(path)!r} ends in {suffix!r}; accepted: '.html' for a page, '.csv', and '.json' or "
            "'.jsonl' for Label Studio and Argilla"
        )
    if form not in get_args(Form):
        raise InvalidInputError(f"form is {form!r}. {did_you_mean(form, get_args(Form))}")
    if suffix == ".html":
        return {path: page(sheet)}
    if suffix == ".csv":
        return {path: table(sheet)}
    argilla = form == "argilla"
    rows = list(argilla_records(sheet) if argilla else label_studio_tasks(sheet))
    text = "".join(_json(row) + "\n" for row in rows) if suffix == ".jsonl" else _json(rows) + "\n"
    settings = path.with_name(f"{path.stem}.{'argilla.json' if argilla else 'label_studio.xml'}")
    return {path: text, settings: argilla_settings(sheet) if argilla else label_studio_config(sheet)}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _asked(sheet: BlindSheet) -> Iterator[tuple[Card, AskedOfPeople]]:
    return ((card, asked) for card in sheet.cards for asked in card.questions)


def _context(card: Card) -> str:
    return "\n\n".join(f"{name}: {text}" for name, text in card.context.items())


def _texts(card: Card) -> dict[str, str]:
    """What is shown, under names that any tool takes."""
    names = ("response_a", "response_b") if SIDES[0] in card.responses else ("response",)
    return {"context": _context(card), **dict(zip(names, card.responses.values(), strict=True))}


def _options(sheet: BlindSheet, criterion: int) -> list[tuple[str, str]]:
    """Label and description of what can be answered."""
    own = sheet.draw.criteria[criterion]
    offered = [(each.label, each.description) for each in own.options]
    return [*offered, (CANNOT_TELL, "")] if offers_cannot_tell(own) else offered


def _asked_in_full(sheet: BlindSheet, criterion: int) -> str:
    """The question, and what its options mean."""
    told = [f"{label}: {text}" for label, text in _options(sheet, criterion) if text]
    return "\n".join([sheet.draw.criteria[criterion].description, *told])


def table(sheet: BlindSheet) -> str:
    """CSV with a row for each question, and an empty column for the label; texts are no formulas of a spreadsheet."""
    texts = list(_texts(sheet.cards[0]))
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\r\n")
    lines.writerow([*TABLE[:3], *texts, "criterion", "asked", "options", *TABLE[3:]])
    for card, asked in _asked(sheet):
        criterion = sheet.draw.criteria[asked.criterion]
        options = " | ".join(label for label, _ in _options(sheet, asked.criterion))
        shown = [*_texts(card).values(), criterion.name, _asked_in_full(sheet, asked.criterion), options]
        lines.writerow([asked.id, sheet.draw.id, asked.card, *map(_no_formula, shown), "", ""])
    return written.getvalue()


def _no_formula(text: str) -> str:
    return f"'{text}" if re.match(r"\s*[=+\-@＝＋－＠]|\t", text) else text


def label_studio_tasks(sheet: BlindSheet) -> Iterator[dict[str, Any]]:
    """A task for each question, with its options, so that questions of several criteria are one project."""
    for card, asked in _asked(sheet):
        options = [{"value": label, "hint": text} for label, text in _options(sheet, asked.criterion)]
        yield {
            "data": {
                "question": asked.id,
                "draw": sheet.draw.id,
                "item": asked.card,
                **_texts(card),
                "criterion": sheet.draw.criteria[asked.criterion].name,
                "asked": _asked_in_full(sheet, asked.criterion),
                "options": options,
            }
        }


def label_studio_config(sheet: BlindSheet) -> str:
    """The labelling interface that shows these tasks."""
    lines = ["<View>"]
    names = _texts(sheet.cards[0])
    headings = dict(zip(names, ("Context", *sheet.cards[0].responses), strict=True))
    for name in names:
        lines.append(f"  <Header value={quoteattr(headings[name])}/>")
        value = quoteattr("$" + name)
        lines.append(f'  <Text name="{name}" value={value} valueType="text"/>')
    lines.append('  <Header value="$criterion"/>')
    lines.append('  <Text name="asked" value="$asked" valueType="text"/>')
    first = list(names)[1]
    lines.append(f'  <Choices name="label" toName="{first}" value="$options" choice="single-radio" required="true"/>')
    return "\n".join([*lines, "</View>", ""])


def argilla_records(sheet: BlindSheet) -> Iterator[dict[str, Any]]:
    """A record for each item, as ``dataset.records.from_json`` reads a list of them."""
    for number, card in enumerate(sheet.cards, start=1):
        empty: dict[str, Any] = {"suggestions": {}, "responses": {}, "vectors": {}}
        yield {"id": f"{sheet.draw.id}-{number}", "fields": _texts(card), "metadata": {}, **empty}


def argilla_settings(sheet: BlindSheet) -> str:
    """What ``rg.Settings.from_json`` reads: the fields, and a question for each criterion."""
    fields = [
        {"name": name, "title": name.replace("_", " "), "required": name != "context", "settings": {"type": "text"}}
        for name in _texts(sheet.cards[0])
    ]
    cards = [{asked.criterion for asked in card.questions} for card in sheet.cards]
    questions = [
        {
            "name": f"question_{place + 1}",
            "title": criterion.name,
            "description": _asked_in_full(sheet, place),
            "required": all(place in asked for asked in cards),
            "settings": {
                "type": "label_selection",
                "options": [{"value": label, "text": label} for label, _ in _options(sheet, place)],
            },
        }
        for place, criterion in enumerate(sheet.draw.criteria)
    ]
    guidelines = "Choose the answer that the question describes best. If you cannot tell, say so."
    given = {"guidelines": guidelines, "fields": fields, "questions": questions, "vectors": [], "metadata": []}
    return _json({**given, "allow_extra_metadata": True}) + "\n"


def page(sheet: BlindSheet) -> str:
    """One page that needs nothing else: it loads nothing, sends nothing, and runs no script but ours."""
    return offline_page("evenhand.labels", "page", title=sheet.title, sheet=within_page(json.dumps(_page_data(sheet))))


def _page_data(sheet: BlindSheet) -> dict[str, Any]:
    criteria = [
        {
            "name": criterion.name,
            "question": criterion.description,
            "options": [[each.label, each.description] for each in criterion.options],
            "cannot_tell": offers_cannot_tell(criterion),
        }
        for criterion in sheet.draw.criteria
    ]
    cards = [
        {
            "context": list(card.context.items()),
            "responses": list(card.responses.items()),
            "questions": [{"id": asked.id, "criterion": asked.criterion} for asked in card.questions],
        }
        for card in sheet.cards
    ]
    return {"draw": sheet.draw.id, "cannot_tell": CANNOT_TELL, "criteria": criteria, "cards": cards}

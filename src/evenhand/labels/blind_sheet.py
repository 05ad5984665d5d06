"""A blind sheet for people: rows drawn with known probabilities, without names of systems or judges.

What maps the answers back (systems, sides, probabilities, the verdicts by which rows were drawn) is the draw, a file of
its own that those who label do not get.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, get_args

from evenhand.criteria import Criterion, fold_label
from evenhand.data.rows import read_file
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, check_layout, written_whole
from evenhand.numbers import format_count, format_range
from evenhand.results.measures import QuestionName
from evenhand.results.offline_page import offline_page, within_page
from evenhand.results.render import PrintedTables, TextTable

LAYOUT: Final = 1
Design = Literal["random", "by_verdict"]
DRAWN_BY: Final[tuple[Design, ...]] = get_args(Design)

CANNOT_TELL: Final = "I cannot tell"
"""The answer that a sheet adds to the options of a criterion that lacks it."""

SUFFIXES: Final = (".html", ".csv")
TABLE: Final = ("question", "draw", "item", "label", "annotator")
"""The columns of a table that are read back."""

SIDES: Final = ("Response A", "Response B")


class AskedOfPeople(NamedTuple):
    """One question on a sheet, and what it is about.

    Attributes:
        id: Its name on the sheet.
        card: The card of the question.
        criterion: The criterion of the sheet.
        name: The name of the question that the judge was asked.
        probability: The probability with which it was drawn.
        stratum: The judge's verdict, if rows were drawn by it.
        answers: Label of an option on the sheet -> label that is meant.
        row: The id of the row, where rows have ids.
        shown: Digits for what was shown of the row when it was judged; None if these are not known.
    """

    id: str
    card: int
    criterion: int
    name: QuestionName
    probability: float
    stratum: str | None
    answers: Mapping[str, str]
    row: str | None = None
    shown: str | None = None


def offers_cannot_tell(criterion: Criterion) -> bool:
    """Return whether a sheet adds :data:`CANNOT_TELL` to the options of a criterion."""
    return fold_label(CANNOT_TELL) not in map(fold_label, criterion.labels)


class Card(NamedTuple):
    """One screen for a person: texts, and the questions about them.

    Attributes:
        context: Name -> text.
        responses: Neutral name -> text.
        questions: About them.
    """

    context: Mapping[str, str]
    responses: Mapping[str, str]
    questions: tuple[AskedOfPeople, ...]


class DrawnScore(NamedTuple):
    """The number of rows of a score, and the number drawn.

    Attributes:
        score: The system and the criterion, or the two systems.
        rows: That could be drawn.
        drawn: Of these.
        without_response: Rows that could not, because there is no response.
        least: The least probability.
        greatest: The greatest.
    """

    score: str
    rows: int
    drawn: int
    without_response: int
    least: float
    greatest: float


@dataclass(frozen=True)
class Draw:
    """The questions for people, and the meaning of their answers.

    Attributes:
        id: Stands on the sheet too, and holds the two together.
        design: The sampling design: ``random`` or ``by_verdict``.
        corrected_as: The ``design`` with which :func:`evenhand.correct` takes the labels.
        n: Rows asked for, of each score.
        seed: The seed of the draw.
        labelled_by: The columns that distinguish the questions about a row.
        criteria: As people read them.
        questions: On the sheet.
        scores: The number of rows of each.
    """

    id: str
    design: Design
    corrected_as: str
    n: int
    seed: int
    labelled_by: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    questions: tuple[AskedOfPeople, ...]
    scores: tuple[DrawnScore, ...]

    @cached_property
    def by_id(self) -> Mapping[str, AskedOfPeople]:
        """Name on the sheet -> question."""
        return {each.id: each for each in self.questions}

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            "evenhand": "draw",
            "layout": LAYOUT,
            "note": "This maps the answers of people back. Do not give it to those who label.",
            **{name: getattr(self, name) for name in ("id", "design", "corrected_as", "n", "seed", "labelled_by")},
            "clusters": "rows are drawn one by one, regardless of clusters",
            "criteria": [each.model_dump(mode="json") for each in self.criteria],
            "scores": [each._asdict() for each in self.scores],
            "questions": [each._asdict() for each in self.questions],
        }

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read what :meth:`BlindSheet.save` wrote with a sheet.

        Raises:
            InvalidInputError: If the file is something else.
        """
        (found, *_) = read_file(path)
        if found.get("evenhand") != "draw":
            raise InvalidInputError(
                f"{str(path)!r} is not a sampling record (.draw.json), which is written with the sheet"
            )
        check_layout(path, "the draw of a sheet", found.get("layout"), LAYOUT)
        try:
            asked = [{**each, "name": tuple(each["name"])} for each in found["questions"]]
            return cls(
                **{name: found[name] for name in ("id", "design", "corrected_as", "n", "seed")},
                labelled_by=tuple(found["labelled_by"]),
                criteria=tuple(map(Criterion.model_validate, found["criteria"])),
                questions=tuple(AskedOfPeople(**each) for each in asked),
                scores=tuple(DrawnScore(**each) for each in found["scores"]),
            )
        except (LookupError, TypeError, ValueError) as error:
            raise InvalidInputError(f"{str(path)!r} is not a whole draw: {error}") from error


@dataclass(frozen=True)
class BlindSheet(PrintedTables):
    """The questions for people, and the draw that maps their answers back.

    Attributes:
        cards: The cards, in the order shown.
        draw: Not for those who label.
        title: The title of the page.
    """

    cards: tuple[Card, ...]
    draw: Draw
    title: str

    def __len__(self) -> int:
        return len(self.cards)

    def save(self, path: str | Path, *, draw: str | Path | None = None) -> Path:
        """Write the sheet and its draw.

        Args:
            path: Ends in ``.html`` (one page that works offline in any browser) or ``.csv``.
            draw: The path of the draw; the path with ``.draw.json`` in place of its ending by default.

        Returns:
            Where the draw is: keep it, and do not give it to those who label.

        Raises:
            InvalidInputError: A path that ends otherwise, or the draw of another sheet in the place of this one's:
                without it no label on that sheet could be read.
            UnwritableFileError: If a file cannot be written.
        """
        path = Path(path)
        kept = path.with_name(f"{path.stem}.draw.json") if draw is None else Path(draw)
        if kept.exists() and (there := Draw.read(kept)).id != self.draw.id:
            raise InvalidInputError(
                f"{str(kept)!r} is the draw of another sheet, {there.id!r}, whose labels could not be read without it: "
                "give another path, or remove it"
            )
        suffix = check_ending(path, SUFFIXES)
        whole = {path: page(self) if suffix == ".html" else table(self), kept: json.dumps(self.draw.as_json()) + "\n"}
        for place, text in whole.items():
            with written_whole(place) as temporary:
                temporary.write_bytes(text.encode("utf-8-sig" if place.suffix == ".csv" else "utf-8"))
        return kept

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return how many rows were drawn of each score."""
        draw = self.draw
        rows = [
            (each.score, *map(format_count, (each.rows, each.drawn)), format_range(each.least, each.greatest, digits=3))
            for each in draw.scores
        ]
        size = f"{format_count(len(self.cards), 'item')}, {format_count(len(draw.questions), 'question')}"
        headers = ("score", "rows", "drawn", "probability")
        return (TextTable(f"Blind sheet {draw.id}: {size}", headers, tuple(rows), tuple(self._notes()), "draw"),)

    def _notes(self) -> Iterator[str]:
        draw = self.draw
        yield (
            f"{_DESIGNS[draw.design]} (design={draw.design!r}, seed={draw.seed}), regardless of clusters. "
            f"evenhand.correct takes the labels with design={draw.corrected_as!r}, which goes with them."
        )
        if lacking := sum(each.without_response for each in draw.scores):
            yield f"{format_count(lacking, 'row')} without a response cannot be labelled, and none was drawn."


_DESIGNS: Mapping[Design, str] = {
    "random": "Rows were drawn at random, the same for all systems and criteria where they have the same",
    "by_verdict": "Rows were drawn at random within what the judge said, rare verdicts more often",
}


def _asked(sheet: BlindSheet) -> Iterator[tuple[Card, AskedOfPeople]]:
    return ((card, asked) for card in sheet.cards for asked in card.questions)


def _context(card: Card) -> str:
    return "\n\n".join(f"{name}: {text}" for name, text in card.context.items())


def _texts(card: Card) -> dict[str, str]:
    """Return the texts shown, under names that any tool accepts."""
    names = ("response_a", "response_b") if SIDES[0] in card.responses else ("response",)
    return {"context": _context(card), **dict(zip(names, card.responses.values(), strict=True))}


def _options(sheet: BlindSheet, criterion: int) -> list[tuple[str, str]]:
    """Return the label and description of every possible answer."""
    own = sheet.draw.criteria[criterion]
    offered = [(each.label, each.description) for each in own.options]
    return [*offered, (CANNOT_TELL, "")] if offers_cannot_tell(own) else offered


def _asked_in_full(sheet: BlindSheet, criterion: int) -> str:
    """Return the question, and what its options mean."""
    meanings = [f"{label}: {text}" for label, text in _options(sheet, criterion) if text]
    return "\n".join([sheet.draw.criteria[criterion].description, *meanings])


def table(sheet: BlindSheet) -> str:
    """Return CSV with a row per question and an empty label column; texts are escaped against formulas."""
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


def page(sheet: BlindSheet) -> str:
    """Return one page that needs nothing else: it loads nothing, sends nothing, and runs no script but ours."""
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

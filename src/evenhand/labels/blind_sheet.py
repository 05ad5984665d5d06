"""Blind sheets for people: rows drawn from results with known probabilities, the sheet, and its labels read back.

A score that people are asked about is that of a system on a criterion, a rubric or a checklist, or that of a pair of
systems; all questions of a rubric or checklist about one response are drawn together. All draws go through the rows in
one random order. At random, and at random within strata, the first rows of that order are drawn, so that systems whose
rows are drawn from it share as many rows as can be, and their differences are paired (permanent random numbers, Ohlsson
1995, in Cox et al., Business Survey Methods, ch. 9).

A sheet has no names of systems or judges. What maps the answers back (systems, sides, probabilities, the verdicts by
which rows were drawn) is the draw, a file of its own that those who label do not get. A sheet is returned as the file
that its page saves, or as a table: the filled CSV, or rows with ``question`` and ``label``, as annotation tools export
them.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from evenhand.criteria import Criterion, FrozenModel, Option, fold_label
from evenhand.data.fields import LabelReader, is_abstention
from evenhand.data.plain import by_key
from evenhand.data.responses import JudgedTexts
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError, check_known
from evenhand.files import check_ending, check_layout, expanded, write_texts, written_whole
from evenhand.judge_reliability.reliability import Scale, all_pairs, pairs_of_raters_table, panels
from evenhand.labels.people import Label, Labels
from evenhand.numbers import format_count
from evenhand.options import Design
from evenhand.results.made_by import digest
from evenhand.results.measures import Outcome, Outcomes, QuestionName
from evenhand.results.offline_page import offline_page, within_page
from evenhand.results.render import PrintedTables, TextTable, csv_cell
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import FloatArray
from evenhand.visible import visible

DesignOfDraw = Literal["random", "by_verdict"]
DESIGNS_OF_DRAWS: Final[Mapping[DesignOfDraw, str]] = {
    "random": "Rows were drawn at random, the same for all systems and criteria where they have the same",
    "by_verdict": "Rows were drawn at random within the verdicts of the judge, rare ones more often",
}
CANNOT_TELL: Final = "I cannot tell"
"""The answer that a sheet adds to the options of a criterion that lacks it."""

SUFFIXES: Final = (".html", ".csv")
SIDES: Final = ("Response A", "Response B")
SCORE_LEVELS: Final = 5
"""The number of groups of about equal size into which scores that are not labels are divided."""

FEWEST_OF_A_STRATUM: Final = 2
"""The fewest units drawn per stratum: one does not show how far units differ."""

LEVEL: Final = 0.95


class AskedOfPeople(FrozenModel):
    """One question on a sheet, and its subject.

    Attributes:
        id: Its name on the sheet.
        criterion: The place of its criterion among those of the sheet.
        name: The name of the question that the judge was asked.
        probability: The probability with which it was drawn.
        answers: Label of an option on the sheet -> label that is meant.
        row: The id of the row, where rows have ids.
        shown: A digest of the texts of the row when it was judged; None if these are not known.
    """

    id: str
    criterion: int
    name: tuple[Any, ...]
    probability: Annotated[float, Field(gt=0, le=1)]
    answers: dict[str, str]
    row: str | None = None
    shown: str | None = None


class Card(NamedTuple):
    """One screen for a person: texts, and the questions about them.

    Attributes:
        context: Name -> text.
        responses: Neutral name -> text.
        questions: The questions about these texts.
    """

    context: Mapping[str, str]
    responses: Mapping[str, str]
    questions: tuple[AskedOfPeople, ...]


class DrawnScore(NamedTuple):
    """The rows of a score: those that could be drawn, those drawn, and those left out because they have no response."""

    score: str
    rows: int
    drawn: int
    without_response: int


class Draw(FrozenModel):
    """The questions for people, and the meaning of their answers.

    Attributes:
        id: Stands on the sheet too, and connects the two.
        design: The sampling design: ``random`` or ``by_verdict``.
        corrected_as: The ``design`` with which :func:`evenhand.correct` takes the labels.
        n: Rows asked for, of each score.
        seed: The seed of the draw.
        labelled_by: The columns that distinguish the questions about a row.
        criteria: As people read them.
        questions: On the sheet.
    """

    evenhand: Literal["draw"] = "draw"
    layout: Literal[1] = 1
    note: str = "This maps the answers of people back. Do not give it to those who label."
    id: str
    design: DesignOfDraw
    corrected_as: Design
    n: int
    seed: int
    labelled_by: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    questions: tuple[AskedOfPeople, ...]

    @model_validator(mode="after")
    def _check_questions(self) -> Self:
        """Check that each question has an id of its own, a criterion, its options, and a name."""
        last = {each.id: each for each in self.questions}
        for asked in self.questions:
            at = f"the question {asked.id!r} has the"
            check_known(asked.criterion, range(len(self.criteria)), f"{at} criterion {asked.criterion}")
            labels, kinds = self.criteria[asked.criterion].labels, [int, *[str] * len(self.labelled_by)]
            parts = f"it is the number of a row, from 0, and texts: {self.labelled_by!r}"
            for wrong, problem in (
                (asked is not last[asked.id], "id of another question; each has its own"),
                (asked.answers.keys() != {*labels}, f"answers {[*asked.answers]!r}; the options are {labels!r}"),
                ([*map(type, asked.name)] != kinds or asked.name[0] < 0, f"name {asked.name!r}; {parts}"),
            ):
                if wrong:
                    raise InvalidInputError(f"{at} {problem}")
        return self

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read the draw that :meth:`BlindSheet.save` wrote with a sheet.

        Raises:
            InvalidInputError: If the file is something else.
        """
        document = read_rows(path)[0]
        if document.get("evenhand") != "draw":
            raise InvalidInputError(
                f"{str(path)!r} is no draw of a sheet (.draw.json), which is written with the sheet"
            )
        check_layout(path, "the draw of a sheet", document.get("layout"), 1)
        try:
            return cls(**document)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{str(path)!r} is a damaged draw of a sheet; give the file that was written with the sheet: {error}"
            ) from None


@dataclass(frozen=True, repr=False)
class BlindSheet(PrintedTables):
    """The questions for people, and the draw that maps their answers back.

    Attributes:
        cards: The cards, in the order shown.
        draw: Not for those who label.
        title: The title of the page.
        scores: The number of rows of each score, and the number drawn.
    """

    cards: tuple[Card, ...]
    draw: Draw
    title: str
    scores: tuple[DrawnScore, ...]

    def __len__(self) -> int:
        return len(self.cards)

    def save(self, path: str | Path) -> Path:
        """Write the sheet and its draw.

        Args:
            path: Ends in ``.html`` (one page that works offline in any browser) or ``.csv``. The draw has its name with
                ``.draw.json`` in place of the ending.

        Returns:
            Where the draw is: keep it, and do not give it to those who label.

        Raises:
            InvalidInputError: A path that ends otherwise, or the draw of another sheet in the place of this one's:
                without it no label on that sheet could be read.
            UnwritableFileError: If a file cannot be written.
        """
        path = Path(path)
        kept = path.with_name(f"{path.stem}.draw.json")
        if kept.exists() and (there := Draw.read(kept)).id != self.draw.id:
            raise InvalidInputError(
                f"{str(kept)!r} is the draw of another sheet, {there.id!r}, whose labels could not be read without it: "
                "give another path, or remove it"
            )
        suffix = check_ending(path, SUFFIXES)
        whole = {path: page(self) if suffix == ".html" else table(self), kept: self.draw.model_dump_json() + "\n"}
        for place, text in whole.items():
            with written_whole(place) as temporary:
                temporary.write_bytes(text.encode("utf-8-sig" if place.suffix == ".csv" else "utf-8"))
        return kept

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the number of rows drawn of each score."""
        draw = self.draw
        rows = [(each.score, format_count(each.rows), format_count(each.drawn)) for each in self.scores]
        how = (
            f"{DESIGNS_OF_DRAWS[draw.design]} (design={draw.design!r}, seed={draw.seed}), regardless of clusters. "
            f"evenhand.correct takes the labels with design={draw.corrected_as!r}, which goes with them."
        )
        notes = [how]
        if lacking := sum(each.without_response for each in self.scores):
            notes.append(f"{format_count(lacking, 'row')} without a response cannot be labelled, and none was drawn.")
        size = f"{format_count(len(self.cards), 'item')}, {format_count(len(draw.questions), 'question')}"
        headers = ("score", "rows", "drawn")
        return (TextTable(f"Blind sheet {draw.id}: {size}", headers, tuple(rows), tuple(notes), "draw"),)


def offers_cannot_tell(criterion: Criterion) -> bool:
    """Return whether a sheet adds :data:`CANNOT_TELL` to the options of a criterion."""
    return fold_label(CANNOT_TELL) not in map(fold_label, criterion.labels)


def table(sheet: BlindSheet) -> str:
    """Return CSV with a row per question and an empty label column; texts are escaped against formulas."""
    sides = ("response_a", "response_b") if SIDES[0] in sheet.cards[0].responses else ("response",)
    rows = [["question", "draw", "item", "context", *sides, "criterion", "asked", "options", "label", "annotator"]]
    for number, card in enumerate(sheet.cards, start=1):
        context = "\n\n".join(f"{name}: {text}" for name, text in card.context.items())
        for question in card.questions:
            criterion = sheet.draw.criteria[question.criterion]
            labels = [*criterion.labels, *[CANNOT_TELL] * offers_cannot_tell(criterion)]
            meanings = [f"{each.label}: {each.description}" for each in criterion.options if each.description]
            asked = "\n".join([criterion.description, *meanings])
            texts = (context, *card.responses.values(), criterion.name, asked, " | ".join(labels))
            rows.append([question.id, sheet.draw.id, str(number), *map(visible, texts), "", ""])
    return "".join(",".join(map(csv_cell, row)) + "\r\n" for row in rows)


def page(sheet: BlindSheet) -> str:
    """Return one page that needs nothing else: it loads nothing, sends nothing, and runs no script but ours."""
    criteria = [
        {
            "name": visible(criterion.name),
            "question": visible(criterion.description),
            "options": [[each.label, visible(each.description)] for each in criterion.options],
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
    shown = {"draw": sheet.draw.id, "cannot_tell": CANNOT_TELL, "criteria": criteria, "cards": cards}
    return offline_page("evenhand.labels", "page", title=sheet.title, sheet=within_page(json.dumps(shown)))


# --- which rows people label -----------------------------------------------------------------------------------------


def to_label(
    results: Results,
    n: int,
    *,
    data: object,
    design: str = "random",
    seed: int = 0,
    response_fields: str | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
) -> BlindSheet:
    """Return a blind sheet on which people label a sample of what was judged.

    Args:
        results: What was judged. ``results.filter(system=…)`` leaves a sheet about some of it.
        n: How many rows are drawn for each score: of each system on each criterion, on each rubric or checklist, or of
            each pair of systems. All that is asked about one response stands on one item.
        data: The data that were judged: results do not hold the texts.
        design: How rows are drawn. ``random``; ``by_verdict``: at random within verdicts of the judge, rare ones more
            often. The probabilities go with the labels, so that estimates stay unbiased. If you do not know, draw at
            random.
        seed: The seed of the draw: the same results and seed give the same sheet.
        response_fields: The column with the responses, where the results do not know it: those of recorded votes.
        context_fields: What is shown with the responses, in place of what the judge was shown: a column, several, or
            name shown -> column.

    Returns:
        The sheet: :meth:`~BlindSheet.save` writes it and its draw, which :func:`evenhand.read_labels` needs.

    Raises:
        InvalidInputError: Data that are not those that were judged, more rows than there are, a design that does not
            exist or that these verdicts do not allow.
    """
    for name, given, least in (("n", n, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise InvalidInputError(f"{name} is {given!r}; give a whole number, {least} or more")
    check_known(design, DESIGNS_OF_DRAWS, f"design is {design!r}, not a sampling design")
    drawn_by: DesignOfDraw = "random" if design == "random" else "by_verdict"
    whole = [each for each in results.outcomes() if each.part_of is None]
    texts = results.texts(data, response_fields, context_fields)
    cells = {results.question_name(cell): cell for cell in results.cells()}
    ranks = np.argsort(np.random.default_rng(seed).permutation(1 + max(name[0] for name in cells)))
    drawn: dict[QuestionName, float] = {}
    scores = []
    for name, rows in _rows_by_score(results, whole).items():
        units = [
            row
            for row in rows
            if row.questions and all(None not in texts.shown(cells[name].about).values() for name in row.questions)
        ]
        if n > len(units):
            raise InvalidInputError(
                f"n is {n}, and {name} has {format_count(len(units), 'row')} with a response: ask for at most "
                f"{len(units)}"
            )
        verdicts = _strata(units) if drawn_by == "by_verdict" else [None] * len(units)
        places, shares = drawn_rows(verdicts, n, np.argsort([ranks[row.instance] for row in units], kind="stable"))
        for place in places:
            drawn |= dict.fromkeys(units[place].questions, float(shares[place]))
        scores.append(DrawnScore(name, len(units), len(places), len(rows) - len(units)))
    cards, criteria = _cards(results, texts, {name: cells[name] for name in drawn}, drawn, seed)
    questions = tuple(asked for card in cards for asked in card.questions)
    by_label = all(each.labels for each in whole) and not (_compares(results) and len(scores) > 1)
    draw = Draw(
        id=digest((design, n, seed), [each.model_dump() for each in questions], [card.responses for card in cards]),
        design=drawn_by,
        corrected_as=drawn_by if drawn_by == "random" or by_label else "probabilities",
        n=n,
        seed=seed,
        labelled_by=results.labelled_by,
        criteria=criteria,
        questions=questions,
    )
    about = dict.fromkeys(each.criterion for each in whole)
    return BlindSheet(cards, draw, "Labels: " + visible(", ".join(about)), tuple(scores))


def _compares(results: Results) -> bool:
    return bool(results.labelled_by == ("first", "second"))


def _rows_by_score(results: Results, whole: Sequence[Outcomes]) -> dict[str, list[Outcome]]:
    """Return the rows of each score that people are asked about; every question belongs to one of them."""
    found: dict[tuple[str, ...], dict[tuple[QuestionName, ...], Outcome]] = {}
    for outcomes in whole:
        for row in outcomes.rows:
            _, *named = row.questions[0] if row.questions else (0,)
            key = tuple(map(str, named)) if _compares(results) else (outcomes.system, outcomes.criterion)
            found.setdefault(key, {}).setdefault(row.questions or ((row.instance,),), row)
    return {", ".join(filter(None, key)): list(rows.values()) for key, rows in found.items()}


def _strata(rows: Sequence[Outcome]) -> list[str | None]:
    """Return the judge's label of each row, or for other scores the group of similar scores."""
    scores = [row.score for row in rows if row.score is not None]
    edges = np.quantile(scores, np.linspace(0, 1, SCORE_LEVELS + 1)[1:-1]) if scores else np.array([])
    found: list[str | None] = []
    for row in rows:
        level = "unscored"
        if row.score is not None:
            level = f"scores {1 + int(np.searchsorted(edges, row.score))} of {SCORE_LEVELS}"
        found.append("not applicable" if row.na else row.selected or level)
    return found


def _cards(
    results: Results,
    texts: JudgedTexts,
    cells: Mapping[QuestionName, Cell],
    drawn: Mapping[QuestionName, float],
    seed: int,
) -> tuple[tuple[Card, ...], tuple[Criterion, ...]]:
    """Return the questions as cards in random order, with the sides of contests in random order; and their criteria."""
    compares = _compares(results)
    together: dict[Hashable, dict[QuestionName, Cell]] = {}
    for name, cell in cells.items():
        response = name[0], cell.about.get("system")
        together.setdefault(name if compares else response, {})[name] = cell
    groups, generator = list(together.values()), np.random.default_rng((seed, 1))
    criteria: list[Criterion] = []
    cards = []
    for number, place in enumerate(generator.permutation(len(groups)).tolist(), start=1):
        swapped = compares and bool(generator.integers(2))
        asked: list[AskedOfPeople] = []
        context: dict[str, str] = {}
        for name, cell in groups[place].items():
            as_read, answers = _as_read(results.criterion_of(cell), compares=compares, swapped=swapped)
            criteria += [as_read] * (as_read not in criteria)
            asked.append(
                AskedOfPeople(
                    id=f"q{number}_{len(asked) + 1}",
                    criterion=criteria.index(as_read),
                    name=name,
                    probability=drawn[name],
                    answers=answers,
                    row=results.ids[name[0]] if results.ids else None,
                    shown=results.fingerprint.shown_of(name[0], list(texts.shown(cell.about))),
                )
            )
            context |= texts.context(cell.about, results.criterion_of(cell))
            shown = [visible(text or "") for text in texts.shown(cell.about).values()]
        sides = SIDES if compares else ("Response",)
        cards.append(
            Card(
                {visible(name): visible(text) for name, text in context.items()},
                dict(zip(sides, reversed(shown) if swapped else shown, strict=True)),
                tuple(asked),
            )
        )
    return tuple(cards), tuple(criteria)


def _as_read(criterion: Criterion, *, compares: bool, swapped: bool) -> tuple[Criterion, dict[str, str]]:
    """Return a criterion as people read it, and what its labels mean.

    People know two responses by their places, and the labels of a comparison name systems, or a tie.
    """
    if not compares:
        return criterion, {label: label for label in criterion.labels}
    described = ("Response A is better.", "Neither is better.", "Response B is better.")
    shown = zip(("A", "Equal", "B"), (1.0, 0.5, 0.0), described, strict=True)
    options = tuple(Option(label=label, value=value, description=text) for label, value, text in shown)
    read = Criterion(name=criterion.name, description=criterion.description, options=options, scale="pairwise")
    return read, dict(zip(read.labels, criterion.labels[::-1] if swapped else criterion.labels, strict=True))


def drawn_rows(strata: Sequence[Hashable], n: int, order: Iterable[int]) -> tuple[list[int], FloatArray]:
    """Return the units drawn, ascending, and the probability of each unit: the share drawn of its stratum.

    A stratum of N_h units has n_h of the n draws, ∝ √N_h (power allocation, Bankier 1988, The American Statistician
    42, 174), at least two and at most N_h: rare verdicts are labelled more often than at random, frequent ones less.
    Of each stratum the first units of the order are drawn; in random order, simple random sampling within strata.

    Args:
        strata: The stratum of each unit.
        n: Draws; fewer than two for each stratum are shared out as far as they go, the largest strata first.
        order: The units in random order.

    >>> places, shares = drawn_rows(["yes"] * 9 + ["no"], 4, range(10))
    >>> places, shares[[0, 9]].round(3).tolist()
    ([0, 1, 2, 9], [0.333, 1.0])
    """
    sizes = Counter(strata)
    largest = sorted(sizes, key=lambda each: -sizes[each])  # ties stay in the order of their first units
    drawn = dict.fromkeys(largest, 0)
    for _ in range(min(n, len(strata))):  # one by one to the stratum furthest below its share
        open_to = [each for each in largest if drawn[each] < sizes[each]]
        lacking = [each for each in open_to if drawn[each] < FEWEST_OF_A_STRATUM]
        taker = min(lacking or open_to, key=lambda each: (drawn[each] + 0.5) / math.sqrt(sizes[each]))
        drawn[taker] += 1
    places: list[int] = []
    seen = Counter[Hashable]()
    for unit in order:
        seen[strata[unit]] += 1
        if seen[strata[unit]] <= drawn[strata[unit]]:
            places.append(int(unit))
    return sorted(places), np.array([drawn[each] / sizes[each] for each in strata], dtype=float)


# --- the labels that people gave -------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class SheetLabels(Labels, PrintedTables):
    """The result of :func:`read_labels`: the labels, the number per annotator, and the agreement of people.

    :func:`evenhand.correct` takes them as ``gold``; how the rows were drawn goes with them.

    Attributes:
        draw: Of the sheet.
        chosen: Annotator -> question -> place of the option chosen, None if that person cannot tell.
    """

    draw: Draw = field(kw_only=True)
    chosen: Mapping[str, Mapping[str, int | None]] = field(kw_only=True)

    def text_tables(self) -> tuple[TextTable, ...]:
        """Tabulate each person's answers, and the agreement of several."""
        asked, known, rows = len(self.draw.questions), len(self.by_question), []
        for who, own in self.chosen.items():
            unsure = list(own.values()).count(None)
            rows.append((who, *map(format_count, (len(own) - unsure, unsure, asked - len(own)))))
        notes = [f"{known} of {format_count(asked, 'question')} have a label; drawn with design={self.draw.design!r}."]
        if known < asked:
            notes.append(
                "Questions without a label are left out, as if they were missing at random: if people cannot tell "
                "where the judge errs, the estimate does not show it."
            )
        headers = ("annotator", "labels", "cannot tell", "missing")
        labels = TextTable(f"Labels of the sheet {self.draw.id}", headers, tuple(rows), tuple(notes), "labels")
        return (labels, *self._agreement())

    def _agreement(self) -> Iterator[TextTable]:
        if len(self.chosen) < 2:
            return
        alike = by_key(((each.scale, each.options), place) for place, each in enumerate(self.draw.criteria))
        for places in alike.values():
            questions = [each.id for each in self.draw.questions if each.criterion in places]
            humans = {who: list(map(own.get, questions)) for who, own in self.chosen.items()}
            criterion = self.draw.criteria[places[0]]
            scale = Scale.of(criterion)
            name = criterion.name if len(places) == 1 else f"{len(places)} criteria with the same options"
            pairs = all_pairs({}, humans, scale, level=LEVEL)
            of_all = panels({}, humans, scale, level=LEVEL)
            yield pairs_of_raters_table(f"Agreement on {name}", pairs, of_all, (), level=LEVEL)

    def save(self, path: str | Path) -> None:
        """Write a row for each label as JSON lines, which ``evenhand.correct`` reads too.

        Raises:
            UnwritableFileError: If the file cannot be written.
        """
        row_of = {each.name: each.row for each in self.draw.questions}
        rows = [
            {
                "id": each.name[0] if row_of[each.name] is None else row_of[each.name],
                **dict(zip(self.draw.labelled_by, each.name[1:], strict=True)),
                "label": each.value,
                "annotator": each.annotator,
                "probability": each.probability,
                "design": self.design,
            }
            for each in self.entries
        ]
        write_texts(path, (json.dumps(row) + "\n" for row in rows))


def read_labels(files: str | Path | Sequence[str | Path], *, draw: str | Path | Draw | BlindSheet) -> SheetLabels:
    """Return the labels that people gave on a blind sheet, checked against its draw.

    What is missing is counted, and so is "I cannot tell". An answer that is given twice counts once.

    Args:
        files: One or several: those that the page saved, filled CSV files, or other tables with ``question`` and
            ``label``. A table without names of annotators is that of the person whom its file is named after.
        draw: What was written with the sheet (``sheet.draw.json``).

    Returns:
        The labels, for :func:`evenhand.correct`; printed, they show who answered what and how far people agree.

    Raises:
        InvalidInputError: A file that is none of these, of another sheet, with questions that are not on the sheet,
            with labels that are none, or with two answers of one person to a question; or no label at all.
    """
    if isinstance(draw, BlindSheet):
        draw = draw.draw
    known = draw if isinstance(draw, Draw) else Draw.read(draw)
    named = [files] if isinstance(files, (str, Path)) else list(files)
    chosen: dict[str, dict[str, int | None]] = {}
    for path in named:
        for who, question, place in _answers(path, known):
            if chosen.setdefault(who, {}).setdefault(question, place) != place:
                raise InvalidInputError(
                    f"{who!r} gives two answers to the question {question!r}, the second in {str(path)!r}: keep one "
                    "of them, or give people different names"
                )
    entries = tuple(
        Label(asked.name, asked.answers[known.criteria[asked.criterion].labels[place]], who, asked.probability)
        for who, own in chosen.items()
        for asked in known.questions
        if (place := own.get(asked.id)) is not None
    )
    if not entries:
        raise InvalidInputError(
            f"there is no label in {', '.join(repr(str(path)) for path in named)}: give files in which people answered"
        )
    unsure = {question for own in chosen.values() for question, place in own.items() if place is None}
    shown = {each.name: each.shown for each in known.questions}
    return SheetLabels(entries, known.corrected_as, len(unsure), shown, draw=known, chosen=chosen)


def _answers(path: str | Path, draw: Draw) -> Iterator[tuple[str, str, int | None]]:
    """Yield who answered what in a file: the question, and the place of the option, None for "I cannot tell".

    Raises:
        InvalidInputError: If it is not a file of labels, or not one of this sheet.
    """
    where, stem = repr(str(path)), expanded(path).name.split(".")[0]
    asked = {each.id: each for each in draw.questions}
    for row in read_rows(path):
        given = row.get("answers") if row.get("evenhand") == "labels" else None
        if given is None and "question" in row:
            given = {str(row["question"]): row.get("label")}
        elif isinstance(given, Mapping):
            given = {question: CANNOT_TELL if label is None else label for question, label in given.items()}
        else:
            raise InvalidInputError(
                f"{where} has rows with {list(row)[:8]!r}, which are not answers to a sheet: give the file that "
                "the page saved, the filled CSV, or a table with the columns 'question' and 'label'"
            )
        if not is_abstention(row.get("draw")) and str(row["draw"]) != draw.id:
            raise InvalidInputError(
                f"{where} is of the sheet {row['draw']!r}, and the draw is that of {draw.id!r}: give the draw that was "
                "written with that sheet"
            )
        for question, label in given.items():
            problem = f"{where} has the question {question!r}, which is not on the sheet {draw.id!r}"
            check_known(question, asked, problem)
            criterion = draw.criteria[asked[question].criterion]
            unsure = isinstance(label, str) and fold_label(label) == fold_label(CANNOT_TELL)
            unsure = unsure and offers_cannot_tell(criterion)
            cell = f"{question!r} in {where} has the label"
            place = None if unsure else LabelReader(criterion).index_of(label, cell)
            if unsure or place is not None:
                yield str(row.get("annotator") or "") or stem, question, place

"""The labels of people, read back from a blind sheet and checked against its draw: who said what, and do they agree.

A sheet comes back in the form in which it went out: the file that the page saves, the filled CSV, what Label Studio
exports (JSON, JSON-MIN or CSV), or the records of Argilla (``dataset.records.to_json``, nested or flat).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from evenhand.criteria import Criterion, fold_label
from evenhand.data.cells import LabelReader, is_abstention
from evenhand.data.rows import Row, read_file
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded, read_bytes, written_whole
from evenhand.judge_reliability.against_people import Drawing, Rater, Scale, all_pairs, panels
from evenhand.judge_reliability.tables import pairs_of_raters_table
from evenhand.labels.blind_sheet import CANNOT_TELL, AskedOfPeople, BlindSheet, Draw, offers_cannot_tell
from evenhand.labels.people import Label, Labels
from evenhand.numbers import format_count
from evenhand.results.render import PrintedTables, TextTable

MOST_TOLD: Final = 5
"""So many labels that are none are listed."""

AGREEMENT: Final = Drawing(level=0.95, resamples=1000, seed=0)
_QUESTION: Final = "question_"
"""Before the number of a criterion, in what Argilla calls its questions."""


class Answer(NamedTuple):
    """What a file says of one question.

    Attributes:
        question: Its name on the sheet.
        annotator: Who; empty where the file does not say.
        given: The label; nothing where there is none, :data:`CANNOT_TELL` for that.
        draw: Of the sheet; None where the file does not say.
    """

    question: str
    annotator: str
    given: object
    draw: str | None


@dataclass(frozen=True, repr=False)
class SheetLabels(Labels, PrintedTables):
    """What :func:`read_labels` returns: the labels, who gave how many, and how far people agree.

    :func:`evenhand.correct` takes them as ``gold``; how the rows were drawn goes with them.

    Attributes:
        draw: Of the sheet.
        chosen: Annotator -> question -> place of the option chosen, None where that person cannot tell.
        repeated: Answers that were there twice, and the same; they count once.
    """

    draw: Draw = field(kw_only=True)
    chosen: Mapping[str, Mapping[str, int | None]] = field(kw_only=True)
    repeated: int = field(default=0, kw_only=True)

    def text_tables(self) -> tuple[TextTable, ...]:
        """What each person answered; and where several did, how far they agree."""
        rows = [(who, *map(format_count, self._counts(own))) for who, own in self.chosen.items()]
        headers = ("annotator", "labels", "cannot tell", "missing")
        told = TextTable(f"Labels of the sheet {self.draw.id}", headers, tuple(rows), tuple(self._notes()), "labels")
        return (told, *self._agreement())

    def _counts(self, own: Mapping[str, int | None]) -> tuple[int, int, int]:
        untold = sum(place is None for place in own.values())
        return len(own) - untold, untold, len(self.draw.questions) - len(own)

    def _notes(self) -> Iterator[str]:
        asked, known = len(self.draw.questions), len(self.by_question)
        yield f"{known} of {format_count(asked, 'question')} have a label; drawn with design={self.draw.design!r}."
        if known < asked:
            yield (
                "Questions without a label are left out, as if which ones these are were chance: if people cannot tell "
                "where the judge errs, the estimate does not know it."
            )
        if self.repeated:
            yield f"{format_count(self.repeated, 'answer')} stood there twice, and count once."

    def _agreement(self) -> Iterator[TextTable]:
        if len(self.chosen) < 2:
            return
        for places in _alike(self.draw.criteria):
            questions = [each.id for each in self.draw.questions if each.criterion in places]
            raters = [Rater(who, "human", tuple(map(own.get, questions))) for who, own in self.chosen.items()]
            criterion = self.draw.criteria[places[0]]
            scale = Scale.of(criterion)
            name = criterion.name if len(places) == 1 else f"{len(places)} criteria with the same options"
            pairs = all_pairs(raters, scale, **AGREEMENT)
            of_all = panels(raters, scale, **AGREEMENT)
            yield pairs_of_raters_table(f"Agreement on {name}", pairs, of_all, (), level=float(AGREEMENT["level"]))

    def to_rows(self) -> list[dict[str, Any]]:
        """A plain row for each label, as ``evenhand.correct(results, gold=rows)`` reads it too."""
        asked = {each.name: each for each in self.draw.questions}
        return [
            {
                **({"instance": each.name[0]} if asked[each.name].row is None else {"id": asked[each.name].row}),
                "criterion": self.draw.criteria[asked[each.name].criterion].name,
                **dict(zip(self.draw.labelled_by, each.name[1:], strict=True)),
                "label": each.value,
                "annotator": each.annotator,
                "probability": each.probability,
                "design": self.design,
            }
            for each in self.entries
        ]

    def save(self, path: str | Path) -> None:
        """Write the rows of :meth:`to_rows` as JSON lines.

        Raises:
            UnwritableFileError: If the file cannot be written.
        """
        with written_whole(path) as beside:
            beside.write_text("".join(json.dumps(row) + "\n" for row in self.to_rows()), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<SheetLabels: {len(self.entries)} labels of {format_count(len(self.chosen), 'annotator')}>\n{self}"


def _alike(criteria: Sequence[Criterion]) -> list[list[int]]:
    """The places of the criteria that have the same options."""
    found: dict[tuple[object, ...], list[int]] = {}
    for place, criterion in enumerate(criteria):
        found.setdefault((criterion.scale, criterion.options), []).append(place)
    return list(found.values())


def read_labels(files: str | Path | Sequence[str | Path], *, draw: str | Path | Draw | BlindSheet) -> SheetLabels:
    """The labels that people gave on a blind sheet, checked against its draw.

    What is missing is counted, and so is "I cannot tell". An answer that stands there twice counts once.

    Args:
        files: One or several: those that the page saved, filled CSV files, exports of Label Studio or records of
            Argilla. A table without names of annotators is that of the person whom its file is named after.
        draw: What was written beside the sheet (``sheet.draw.json``).

    Returns:
        The labels, for :func:`evenhand.correct`; printed, they tell who answered what and how far people agree.

    Raises:
        InvalidInputError: A file that is none of these, of another sheet, with questions that are not on the sheet,
            with labels that are none, or with two answers of one person to a question; or no label at all.
    """
    known = draw.draw if isinstance(draw, BlindSheet) else draw if isinstance(draw, Draw) else Draw.read(draw)
    named = [files] if isinstance(files, (str, Path)) else list(files)
    chosen: dict[str, dict[str, int | None]] = {}
    repeated = 0
    for path in named:
        for answer, place in _checked(path, known):
            own = chosen.setdefault(answer.annotator, {})
            if answer.question in own and own[answer.question] != place:
                raise InvalidInputError(
                    f"{answer.annotator!r} gives two answers to the question {answer.question!r}, the second in "
                    f"{str(path)!r}: keep one of them, or give people different names"
                )
            repeated += answer.question in own
            own[answer.question] = place
    entries = tuple(
        Label(asked.name, _meant(known, asked, place), who, asked.probability)
        for who, own in chosen.items()
        for asked in known.questions
        if (place := own.get(asked.id)) is not None
    )
    if not entries:
        raise InvalidInputError(
            f"there is no label in {', '.join(repr(str(path)) for path in named)}: give files in which people answered"
        )
    untold = {question for own in chosen.values() for question, place in own.items() if place is None}
    parameters = {name: getattr(known, name) for name in ("id", "design", "n", "seed")}
    parameters["shown"] = {each.name: each.shown for each in known.questions}
    parameters["criteria"] = {each.name: known.criteria[each.criterion].name for each in known.questions}
    return SheetLabels(
        entries, known.corrected_as, len(untold), parameters, draw=known, chosen=chosen, repeated=repeated
    )


def _meant(draw: Draw, asked: AskedOfPeople, place: int) -> str:
    return asked.answers[draw.criteria[asked.criterion].labels[place]]


def _checked(path: str | Path, draw: Draw) -> Iterator[tuple[Answer, int | None]]:
    """The answers of a file that are some, with the place of the option chosen."""
    where, stem = repr(str(path)), expanded(path).name.split(".")[0]
    problems: list[str] = []
    for answer in _answers(path):
        if answer.draw is not None and answer.draw != draw.id:
            raise InvalidInputError(
                f"{where} is of the sheet {answer.draw!r}, and the draw is that of {draw.id!r}: give the draw that was "
                "written beside that sheet"
            )
        asked = draw.by_id.get(answer.question)
        if asked is None:
            raise InvalidInputError(
                f"{where} has the question {answer.question!r}, which is not on the sheet {draw.id!r}. "
                f"{did_you_mean(answer.question, draw.by_id)}"
            )
        criterion = draw.criteria[asked.criterion]
        untold = _cannot_tell(criterion, answer.given)
        try:
            place = None if untold else LabelReader(criterion).index_of(answer.given, f"{asked.id!r} has the label")
        except InvalidInputError as error:
            problems.append(str(error))
            continue
        if untold or place is not None:
            yield answer._replace(annotator=answer.annotator or stem), place
    if problems:
        more = f"; and {len(problems) - MOST_TOLD} more" if len(problems) > MOST_TOLD else ""
        raise InvalidInputError(f"{where} has labels that are none: {'; '.join(problems[:MOST_TOLD])}{more}")


def _cannot_tell(criterion: Criterion, given: object) -> bool:
    return isinstance(given, str) and fold_label(given) == fold_label(CANNOT_TELL) and offers_cannot_tell(criterion)


def _answers(path: str | Path) -> list[Answer]:
    """What a file says of each question.

    Raises:
        InvalidInputError: If it is no file of labels, or not a whole one.
    """
    try:
        return list(_answers_of_rows(path))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{str(path)!r} is not the whole of what a sheet's tool saved ({error}): export it again"
        ) from error


def _answers_of_rows(path: str | Path) -> Iterator[Answer]:
    rows = _csv_rows(expanded(path)) if str(path).lower().endswith(".csv") else read_file(path)
    for row in rows:
        if row.get("evenhand") == "labels":
            yield from _of_page(row)
        elif isinstance(row.get("annotations"), list):
            yield from _of_label_studio(row, str(path))
        elif isinstance(row.get("responses"), Mapping) or any(str(name).endswith(".responses") for name in row):
            yield from _of_argilla(row)
        elif "question" in row:
            yield Answer(
                str(row["question"]), str(row.get("annotator") or ""), row.get("label"), _text(row.get("draw"))
            )
        else:
            raise InvalidInputError(
                f"{str(path)!r} has rows with {list(row)[:8]!r}, which are no answers to a sheet: give the file that "
                "the page saved, the filled CSV, the JSON that Label Studio exports, or the records of Argilla"
            )


def _text(value: object) -> str | None:
    return None if is_abstention(value) else str(value)


def _csv_rows(path: Path) -> Iterable[Row]:
    """The rows of a table as spreadsheets save it: with commas, semicolons or tabs.

    Raises:
        InvalidInputError: If it cannot be read.
    """
    try:
        text = read_bytes(path, None).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(f"{str(path)!r} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{str(path)!r} is not UTF-8 text: save it as 'CSV UTF-8'") from error
    header = text.split("\n", 1)[0]
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count)))


def _of_page(row: Row) -> Iterator[Answer]:
    for question, given in dict(row["answers"]).items():
        told = CANNOT_TELL if given is None else given
        yield Answer(question, str(row.get("annotator") or ""), told, _text(row.get("draw")))


def _of_label_studio(task: Row, where: str) -> Iterator[Answer]:
    """The annotations of a task, but for those that were cancelled."""
    data = task.get("data") or {}
    if "question" not in data:
        raise InvalidInputError(
            f"a task of {where} has no 'question' in its data: give the export of the sheet's project"
        )
    for annotation in task["annotations"]:
        if annotation.get("was_cancelled"):
            continue
        who = annotation.get("completed_by")
        name = who.get("email") or who.get("id") if isinstance(who, Mapping) else who
        for each in annotation.get("result") or ():
            if each.get("from_name") == "label":
                (given, *_) = (each.get("value") or {}).get("choices") or (None,)
                yield Answer(str(data["question"]), _text(name) or "", given, _text(data.get("draw")))


def _of_argilla(record: Row) -> Iterator[Answer]:
    """The responses of a record to each of its questions, but for drafts and what was discarded."""
    draw, _, card = str(record.get("id")).rpartition("-")
    for name, given, who in _responses(record):
        if name.startswith(_QUESTION):
            yield Answer(f"q{card}_{name.removeprefix(_QUESTION)}", _text(who) or "", given, draw or None)


def _responses(record: Row) -> Iterator[tuple[str, object, object]]:
    """Question, value and user; nested, or flat as data sets and frames hold them."""
    nested = record.get("responses")
    if isinstance(nested, Mapping):
        for name, given in nested.items():
            yield from ((name, each.get("value"), each.get("user_id")) for each in given)
        return
    for column, values in record.items():
        name, dot, kind = str(column).rpartition(".")
        if dot and kind == "responses" and values is not None:
            users = record.get(f"{column}.users") or [None] * len(values)
            status = record.get(f"{column}.status") or [None] * len(values)
            for value, user, state in zip(values, users, status, strict=True):
                if state in {None, "submitted"}:
                    yield name, value, user

"""The labels of people, read back from a blind sheet and checked against its draw, with their agreement.

A sheet comes back as the file that the page saves, or as a table: the filled CSV, or rows with ``question`` and
``label``, as annotation tools export them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from evenhand.criteria import fold_label
from evenhand.data.cells import LabelReader, is_abstention
from evenhand.data.rows import Row, read_file
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded, read_bytes, written_whole
from evenhand.judge_reliability.against_people import Drawing, Rater, Scale, all_pairs, pairs_of_raters_table, panels
from evenhand.labels.blind_sheet import CANNOT_TELL, BlindSheet, Draw, offers_cannot_tell
from evenhand.labels.people import Label, Labels
from evenhand.numbers import format_count
from evenhand.results.render import PrintedTables, TextTable

MOST_LISTED: Final = 5
"""The number of unknown labels that a message lists."""

AGREEMENT: Final = Drawing(level=0.95, resamples=1000, seed=0)


class Answer(NamedTuple):
    """The answer of a file to one question.

    Attributes:
        question: Its name on the sheet.
        annotator: Who; empty where the file does not say.
        given: The label; nothing where there is none, :data:`CANNOT_TELL` for that.
        draw: Of the sheet; None if the file does not say.
    """

    question: str
    annotator: str
    given: object
    draw: str | None


@dataclass(frozen=True, repr=False)
class SheetLabels(Labels, PrintedTables):
    """The result of :func:`read_labels`: the labels, the number per annotator, and the agreement of people.

    :func:`evenhand.correct` takes them as ``gold``; how the rows were drawn goes with them.

    Attributes:
        draw: Of the sheet.
        chosen: Annotator -> question -> place of the option chosen, None if that person cannot tell.
        repeated: Answers that were there twice, and the same; they count once.
    """

    draw: Draw = field(kw_only=True)
    chosen: Mapping[str, Mapping[str, int | None]] = field(kw_only=True)
    repeated: int = field(default=0, kw_only=True)

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
        if self.repeated:
            notes.append(f"{format_count(self.repeated, 'answer')} were given twice, and count once.")
        headers = ("annotator", "labels", "cannot tell", "missing")
        labels = TextTable(f"Labels of the sheet {self.draw.id}", headers, tuple(rows), tuple(notes), "labels")
        return (labels, *self._agreement())

    def _agreement(self) -> Iterator[TextTable]:
        if len(self.chosen) < 2:
            return
        alike: dict[tuple[object, ...], list[int]] = {}
        for place, criterion in enumerate(self.draw.criteria):
            alike.setdefault((criterion.scale, criterion.options), []).append(place)
        for places in alike.values():
            questions = [each.id for each in self.draw.questions if each.criterion in places]
            raters = [Rater(who, "human", tuple(map(own.get, questions))) for who, own in self.chosen.items()]
            criterion = self.draw.criteria[places[0]]
            scale = Scale.of(criterion)
            name = criterion.name if len(places) == 1 else f"{len(places)} criteria with the same options"
            pairs = all_pairs(raters, scale, **AGREEMENT)
            of_all = panels(raters, scale, **AGREEMENT)
            yield pairs_of_raters_table(f"Agreement on {name}", pairs, of_all, (), level=float(AGREEMENT["level"]))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a plain row for each label, as ``evenhand.correct(results, gold=rows)`` reads it too."""
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
        with written_whole(path) as temporary:
            temporary.write_text("".join(json.dumps(row) + "\n" for row in self.to_rows()), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<SheetLabels: {len(self.entries)} labels of {format_count(len(self.chosen), 'annotator')}>\n{self}"


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
    parameters = {name: getattr(known, name) for name in ("id", "design", "n", "seed")}
    parameters["shown"] = {each.name: each.shown for each in known.questions}
    parameters["criteria"] = {each.name: known.criteria[each.criterion].name for each in known.questions}
    return SheetLabels(
        entries, known.corrected_as, len(unsure), parameters, draw=known, chosen=chosen, repeated=repeated
    )


def _checked(path: str | Path, draw: Draw) -> Iterator[tuple[Answer, int | None]]:
    """Yield the answers of a file that are some, with the place of the option chosen."""
    where, stem = repr(str(path)), expanded(path).name.split(".")[0]
    problems: list[str] = []
    for answer in _answers(path):
        if answer.draw is not None and answer.draw != draw.id:
            raise InvalidInputError(
                f"{where} is of the sheet {answer.draw!r}, and the draw is that of {draw.id!r}: give the draw that was "
                "written with that sheet"
            )
        asked = draw.by_id.get(answer.question)
        if asked is None:
            raise InvalidInputError(
                f"{where} has the question {answer.question!r}, which is not on the sheet {draw.id!r}. "
                f"{did_you_mean(answer.question, draw.by_id)}"
            )
        criterion = draw.criteria[asked.criterion]
        unsure = isinstance(answer.given, str) and fold_label(answer.given) == fold_label(CANNOT_TELL)
        unsure = unsure and offers_cannot_tell(criterion)
        try:
            place = None if unsure else LabelReader(criterion).index_of(answer.given, f"{asked.id!r} has the label")
        except InvalidInputError as error:
            problems.append(str(error))
            continue
        if unsure or place is not None:
            yield answer._replace(annotator=answer.annotator or stem), place
    if problems:
        more = f"; and {len(problems) - MOST_LISTED} more" if len(problems) > MOST_LISTED else ""
        raise InvalidInputError(f"{where} has unknown labels: {'; '.join(problems[:MOST_LISTED])}{more}")


def _answers(path: str | Path) -> Iterator[Answer]:
    """Read what a file says of each question.

    Raises:
        InvalidInputError: If it is not a file of labels, or not a whole one.
    """
    rows = _csv_rows(expanded(path)) if str(path).lower().endswith(".csv") else read_file(path)
    for row in rows:
        who, draw = str(row.get("annotator") or ""), row.get("draw")
        sheet = None if is_abstention(draw) else str(draw)
        if row.get("evenhand") == "labels" and isinstance(row.get("answers"), Mapping):
            for question, given in row["answers"].items():
                yield Answer(question, who, CANNOT_TELL if given is None else given, sheet)
        elif "question" in row:
            yield Answer(str(row["question"]), who, row.get("label"), sheet)
        else:
            raise InvalidInputError(
                f"{str(path)!r} has rows with {list(row)[:8]!r}, which are not answers to a sheet: give the file that "
                "the page saved, the filled CSV, or a table with the columns 'question' and 'label'"
            )


def _csv_rows(path: Path) -> Iterable[Row]:
    """Read a table as spreadsheets save it: with commas, semicolons or tabs.

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

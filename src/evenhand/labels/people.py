"""Labels that people gave: read, and paired with the judge's outcomes.

People answer the questions that the judge was asked, so their labels make a result of the same kind, in which each
question has the one vote of the people (:func:`as_judge`): rubrics, checklists and winrates of people are computed by
the lines that compute the judge's. Where people gave a number for a whole response, that is its score.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from evenhand.criteria import Criterion
from evenhand.data.fields import LabelReader, is_abstention, name_of
from evenhand.data.plain import by_key, number_of
from evenhand.data.rows import Row, read_rows
from evenhand.errors import EvenhandWarning, InvalidInputError, check_known, did_you_mean
from evenhand.numbers import format_count
from evenhand.results.measures import Outcome, Outcomes, QuestionName
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import BoolArray, FloatArray, IntArray
from evenhand.votes import Vote

_NO_LABELS = "gold holds no label of any row that was judged"


class LabelsOfOtherRowsWarning(EvenhandWarning):
    """Labels of a blind sheet are paired with results of other texts."""


@dataclass(frozen=True, slots=True)
class Label:
    """The label of one person for one question, or for one response as a whole.

    Attributes:
        name: Of the question: the row, and what distinguishes its questions; or of a response, the row and the system.
        value: The label of an option, or the number that was given.
        annotator: Who; empty where that is not known.
        probability: The probability with which the question was drawn; None if that is not known.
    """

    name: QuestionName
    value: str | float
    annotator: str = ""
    probability: float | None = None


@dataclass(frozen=True)
class Labels:
    """The labels of people.

    Attributes:
        entries: One per person and question.
        design: How the labelled rows were chosen; None if unknown.
        cannot_tell: Questions that a person was asked, and could not answer.
        shown: Question -> digest of the texts on the sheet of these labels; None where they are not known.
    """

    entries: tuple[Label, ...]
    design: str | None = None
    cannot_tell: int = 0
    shown: Mapping[QuestionName, str | None] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def annotators(self) -> tuple[str, ...]:
        """The annotators, in order of occurrence."""
        return tuple(dict.fromkeys(each.annotator for each in self.entries))

    @cached_property
    def by_question(self) -> Mapping[QuestionName, Sequence[Label]]:
        """Question -> people's labels."""
        return by_key((each.name, each) for each in self.entries)


@dataclass(frozen=True)
class Paired:
    """One score of one system by a judge, with people's labels of the same n rows.

    Attributes:
        judge: The outcomes of the judge.
        people: What people say of the same rows: their scores, None where there is none, and the labels that most give.
        probabilities: (n,), with which each row was drawn to be labelled; NaN where that is not known.
        option: Of a criterion whose options have no values, the one whose share is the score; None elsewhere.
    """

    judge: Outcomes
    people: Outcomes
    probabilities: FloatArray
    option: str | None = None

    def by_option(self) -> Iterator[Self]:
        """Yield the score; of a criterion whose options have no values, the share of each option."""
        if None not in self.judge.values:
            yield self
            return

        def share_of(option: str, outcomes: Outcomes) -> Outcomes:
            shares = {label: float(label == option) for label in self.judge.labels}
            rows = [replace(row, score=shares.get(row.selected or "")) for row in outcomes.rows]
            return replace(outcomes, rows=rows, bounds=(0.0, 1.0), values=tuple(shares.values()))

        for option in self.judge.labels:
            judge, people = share_of(option, self.judge), share_of(option, self.people)
            yield replace(self, option=option, judge=judge, people=people)

    def only(self, rows: BoolArray) -> Self:
        """Return some of the rows."""
        judge, people = (
            replace(each, rows=[row for row, kept in zip(each.rows, rows, strict=True) if kept])
            for each in (self.judge, self.people)
        )
        return replace(self, judge=judge, people=people, probabilities=self.probabilities[rows])

    @property
    def what(self) -> tuple[str, str | None]:
        """The criterion and the option on which systems are compared."""
        return self.judge.criterion, self.option

    @property
    def name(self) -> str:
        """The name in sentences."""
        return ", ".join(filter(None, (self.judge.system, *self.what)))

    @cached_property
    def instances(self) -> IntArray:
        """The row of the data of each of the n rows."""
        return np.array([row.instance for row in self.judge.rows], dtype=np.int64)

    @cached_property
    def labelled(self) -> BoolArray:
        """Whether people gave a score, of the n rows."""
        return ~np.isnan(self.people.scores)

    @property
    def num_labelled(self) -> int:
        """The number of rows that people scored."""
        return int(self.labelled.sum())

    @cached_property
    def not_applicable(self) -> BoolArray:
        """Whether people say that the criterion does not apply, of the n rows."""
        return np.array([bool(self.judge.labels) and row.na for row in self.people.rows], dtype=bool)

    @cached_property
    def strata(self) -> IntArray | None:
        """The place of the option selected, the number of options for NA, -1 for none; None for several questions."""
        labels = self.judge.labels
        return np.where([row.na for row in self.judge.rows], len(labels), self.judge.places) if labels else None

    @property
    def support(self) -> tuple[float, ...] | None:
        """The scores that one label can give; None if they are any numbers within the bounds."""
        values = {value for value in self.judge.values if value is not None}
        return tuple(sorted(values)) if values and {*self.people.scores[self.labelled].tolist()} <= values else None


def read_gold(results: Results, gold: object = None, *, label_field: str = "label", required: bool = True) -> Labels:
    """Return the labels of people for what a result judged.

    Args:
        results: What was judged.
        gold: :class:`Labels`; the path of a file, a frame or rows, one per label, with a column that names the row
            (``id``, or ``instance`` for its number), those that name the question where there are several (``system``
            and ``criterion``, ``first`` and ``second``, ``system`` and ``item``), and ``label``; row (its id, or its
            number where rows have none) -> label; or None for the gold labels that the result holds. Columns
            ``annotator`` and ``probability`` say who gave a label, and with which probability its row was drawn.
        label_field: The column with the label.
        required: Whether a result without labels is refused; else it has none.

    Raises:
        InvalidInputError: Labels of rows, systems, criteria or questions that were not judged, labels that are none,
            no label at all, or a column that would not be read.
    """
    if isinstance(gold, Labels):
        found, asked, now = gold, _subjects(results), results.fingerprint.shown_of
        if found.entries and asked.keys().isdisjoint(each.name for each in found.entries):
            raise InvalidInputError(
                f"the labels are about {list(found.entries[0].name)!r} …, and judged were {list(next(iter(asked)))!r} "
                "…: give the labels of what was judged"
            )
        for each in found.entries:
            subject = asked.get(each.name)
            if isinstance(subject, Criterion) and isinstance(each.value, str):
                problem = f"the labels say {each.value!r} of {list(each.name)!r}: give the labels of what was judged"
                check_known(each.value, subject.labels, problem)
        shown = [(name[0], then, now(name[0], [*map(str, name[1:])])) for name, then in gold.shown.items()]
        if other := [row for row, *digits in shown if None not in digits and digits[0] != digits[1]]:
            warnings.warn(
                f"{len(other)} of {format_count(len(shown), 'question')} on the sheet show other texts than the rows "
                f"that these results judged, the first of them row {other[0]}: give the results of the "
                "sheet, or judge the same rows in the same order",
                LabelsOfOtherRowsWarning,
                stacklevel=3,
            )
    elif gold is None:
        held = [(results.question_name(cell), cell) for cell in results.cells() if cell.about.get("gold") is not None]
        read = ((name, _read(results.criterion_of(cell), cell.about["gold"], f"row {name[0]}")) for name, cell in held)
        found = Labels(tuple(Label(*each) for each in read))
    else:
        found = _GoldReader(results, label_field).read(gold)
    if not found.entries and (required or gold is not None):
        raise InvalidInputError(_NO_LABELS if gold is not None else f"{_NO_LABELS}, and none was given: give gold=…")
    return found


def _subjects(results: Results) -> dict[QuestionName, Criterion | Outcomes]:
    """Return what labels can name: each question with its criterion, and each response with its score as a whole."""
    found: dict[QuestionName, Criterion | Outcomes] = {
        results.question_name(cell): results.criterion_of(cell) for cell in results.cells()
    }
    for each in results.outcomes():
        if not each.labels and each.part_of is None:
            found.update({(row.instance, each.system): each for row in each.rows})
    return found


def _read(criterion: Criterion, given: object, where: str) -> str:
    """Return the label of an option that a cell says."""
    place = LabelReader(criterion).index_of(given, f"{where} has the label")
    if place is None:
        raise InvalidInputError(f"{where} has the label {given!r}; give one of {list(criterion.labels)!r}")
    return criterion.labels[place]


class _GoldReader:
    """A reader of labels for a result."""

    def __init__(self, results: Results, label_field: str) -> None:
        self.label_field = label_field
        self.names, self.subjects = results.labelled_by, _subjects(results)
        self.by_row = by_key((name[0], name) for name in self.subjects)
        numbers = {str(row): row for row in self.by_row}
        self.rows = {"id": {name: row for row, name in enumerate(results.ids)} or numbers, "instance": numbers}

    def read(self, gold: object) -> Labels:
        where = repr(str(gold)) if isinstance(gold, (str, Path)) else "gold"
        if isinstance(gold, Mapping):
            rows: Sequence[Row] = [{"id": row, self.label_field: value} for row, value in gold.items()]
        else:
            rows = () if isinstance(gold, Sequence) and not gold else read_rows(gold)
        if not rows:
            return Labels(())
        key = self._check_columns(list(dict.fromkeys(name for row in rows for name in row)), where)
        designs = {row.get("design") for row in rows}
        design = str(*designs) if len(designs) == 1 and not is_abstention(rows[0].get("design")) else None
        entries = []
        for number, row in enumerate(rows):
            value, at = row.get(self.label_field), f"row {number} of {where}"
            if is_abstention(value):
                continue
            share = number_of(row.get("probability"))
            if share is not None and not 0 < share <= 1:
                raise InvalidInputError(f"{at} has the probability {share!r}; it lies above 0, and is at most 1")
            name = self._subject(self._row(row.get(key), key, at), row, value, at)
            annotator = str(row.get("annotator") or "")
            entries.append(Label(name, self._value(name, value, at), annotator, share))
        return Labels(tuple(entries), design)

    def _check_columns(self, columns: Sequence[str], where: str) -> str:
        """Return the column that names rows; refuse a table without it or labels, and columns that are not read."""
        key = "instance" if "instance" in columns and "id" not in columns else "id"
        for name in (key, self.label_field):
            if name not in columns:
                raise InvalidInputError(
                    f"{where} has no column {name!r}. {did_you_mean(name, columns)} Give a row for each label: 'id' "
                    "names the row of the data (or 'instance' its number, from 0), and label_field=… the column with "
                    "the label"
                )
        known = (*self.rows, *self.names, self.label_field, "annotator", "probability", "design")
        for name in columns:
            check_known(name, known, f"{where} has the column {name!r}, which is not read: leave it out, or rename it")
        return key

    def _row(self, given: object, key: str, where: str) -> int:
        """Find the row that an id names, or a number counted from 0."""
        row = self.rows[key].get(name_of(given))
        if row is None:
            raise InvalidInputError(
                f"{where} is about the row {given!r}, which was not judged; rows are called "
                f"{list(self.rows[key])[:5]!r} …: give the ids of the data, or numbers of rows counted from 0"
            )
        return row

    def _subject(self, instance: int, row: Mapping[str, Any], value: object, where: str) -> QuestionName:
        """Find what a row of a table is about; what it leaves out must be the same for all."""
        asked = self.by_row.get(instance, [])
        parts = {name: str(row[name]) for name in self.names if not is_abstention(row.get(name))}
        fits = [name for name in asked if parts.items() <= dict(zip(self.names, name[1:], strict=False)).items()]
        if not fits and parts.keys() == {"first", "second"}:
            fits = [name for name in asked if {*name[1:]} == {*parts.values()}]
        questions = [name for name in fits if isinstance(self.subjects[name], Criterion)]
        if len(questions) != 1 and number_of(value) is not None:
            questions = [name for name in fits if name not in questions]
        if len(questions) == 1:
            return questions[0]
        listed = [list(name[1:]) for name in (fits or asked)]
        problem = "may be about any of" if fits else f"names {parts!r}, and asked were"
        raise InvalidInputError(
            f"{where} {problem} {listed[:6]!r} ({', '.join(self.names)}): give a table with a label in each row, and "
            f"the columns {['id', *self.names, 'label']!r}"
        )

    def _value(self, name: QuestionName, value: object, where: str) -> str | float:
        """Read the label or number that a cell says of a question, or the number that it says of a response."""
        number, subject = number_of(value), self.subjects[name]
        if isinstance(subject, Criterion):
            low, high = subject.score_range
            known = {option.value for option in subject.options} | {number_of(label) for label in subject.labels}
            if number is not None and number not in known and subject.has_values and low < number < high:
                return number
            return _read(subject, value, where)
        low, high = subject.bounds
        if number is None or not low <= number <= high:
            raise InvalidInputError(
                f"{where} has the score {value!r}; a score of {subject.criterion!r} is a number from {low:g} to "
                f"{high:g}"
            )
        return number


def as_judge(results: Results, labels: Labels) -> Results:
    """Return the result of the same kind in which each question has the vote of the people, and no other.

    Questions without a label have no vote. Of several people the label that most of them give counts; where as many say
    one thing as another, none does.
    """
    majority = majority_labels(labels)

    def voted(cell: Cell) -> Cell:
        label = majority.get(results.question_name(cell))
        if isinstance(label, str):
            criterion = results.criterion_of(cell)
            vote = LabelReader(criterion).vote("people", criterion.labels.index(label))
            return cell._replace(votes=(vote.model_copy(update={"selected_label": None}),))  # it may name a system
        # custom modes handle abstentions, but may not handle questions without votes
        asked = cell.votes[:1] if results.kind == "mode_results" else ()
        silent = (Vote(judge_id="people", order=each.order, unscored_reason="abstained") for each in asked)
        return cell._replace(votes=tuple(silent))

    return results.of_cells(results.analyse, results.by_people(), map(voted, results.cells()))


def majority_labels(labels: Labels) -> dict[QuestionName, str | float | None]:
    """Return question -> the majority label, or the mean of people's numbers; None if they are divided."""
    found: dict[QuestionName, str | float | None] = {}
    for name, given in labels.by_question.items():
        texts = [each.value for each in given if isinstance(each.value, str)]
        numbers = [each.value for each in given if not isinstance(each.value, str)]
        if numbers:
            found[name] = sum(numbers) / len(numbers)
            continue
        first, *others = sorted(set(texts), key=lambda text: (-texts.count(text), text))
        found[name] = None if others and texts.count(others[0]) == texts.count(first) else first
    return found


def paired(results: Results, labels: Labels) -> tuple[Paired, ...]:
    """Return the outcomes of a result, each with what people say of the same rows."""
    majority = majority_labels(labels)
    shares = {each.name: each.probability for each in labels.entries if each.probability is not None}
    found = []
    for judge, people in zip(results.outcomes(), as_judge(results, labels).outcomes(), strict=True):
        rows: list[Outcome] = []
        probabilities: list[float] = []
        for row, own in zip(judge.rows, people.rows, strict=True):
            names = row.questions if judge.labels else ((row.instance, judge.system), *row.questions)
            number = majority.get(names[0])
            labelled = all(isinstance(majority.get(name), str) for name in row.questions)
            score = own.score if labelled else None
            if isinstance(number, float):
                score = number
            if judge.labels and names[0] in majority and number is None:
                score = _mean_of(labels.by_question[names[0]], row, judge)
            rows.append(replace(own, score=score, selected=own.selected if labelled else None))
            probabilities.append(min((shares[name] for name in names if name in shares), default=np.nan))
        found.append(Paired(judge, replace(people, rows=rows), np.array(probabilities)))
    return tuple(found)


def _mean_of(given: Sequence[Label], row: Outcome, judge: Outcomes) -> float | None:
    """Return the mean of divided labels of a question: leaving such rows out would favour the clear ones."""
    of_systems = {name: float(name == judge.system) for name in row.questions[0][1:]}  # by which winrates are labelled
    values = {**of_systems, **dict(zip(judge.labels, judge.values, strict=True))}
    scores = [values.get(str(each.value)) for each in given]
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if len(known) == len(scores) else None

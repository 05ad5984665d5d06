"""Judged cases that a judge is shown before its own: drawn from labelled rows, balanced over the labels."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.criteria import Criterion
from evenhand.data.cells import LabelReader
from evenhand.data.fields import classifications_of, context_of, field_of, field_or, text_of, texts_of
from evenhand.errors import InvalidInputError
from evenhand.question import Example, Question
from evenhand.votes import is_missing


@dataclass(frozen=True, slots=True)
class ExamplePool:
    """The labelled cases of one criterion, from which every question draws its own.

    Attributes:
        cases: The cases.
        rows: Per case the rows that hold it.
        number: The number of cases per question.
        seed: The seed of the draws.
    """

    cases: tuple[Example, ...]
    rows: tuple[frozenset[int], ...]
    number: int
    seed: int = 0

    def shown_to(self, question: Question) -> Question:
        """Return the question with its examples.

        The labels are as equally frequent as the cases allow, which of them get one more and which cases stand for a
        label is drawn, and so is the order in which they are shown. The draw depends on the seed and the criterion, not
        on the order of the cases: all questions are shown the same ones, so that their prompts share them. But the case
        that the question itself is about (the same response in the same context, white space aside) is never shown,
        nor are other responses of its row, whose labels say how it compares: others stand in for them. No case is
        shown twice.
        """
        name = question.criterion.name
        own = _identity(question.responses[0], question.context)
        identities = [_identity(case.response, case.context) for case in self.cases]
        own_rows = frozenset[int]().union(
            *(rows for rows, identity in zip(self.rows, identities, strict=True) if identity == own)
        )
        lots = {
            place: self._lot(name, identities[place], case.label)
            for place, case in enumerate(self.cases)
            if not self.rows[place] & own_rows
        }
        drawn = self._balanced(lots, lambda label: self._lot(name, label))
        shown = sorted(drawn, key=lambda place: self._lot("order", lots[place]))
        return replace(question, examples=tuple(self.cases[place] for place in shown))

    def _balanced(self, lots: Mapping[int, str], label_lot: Callable[[str], str]) -> list[int]:
        """Draw the places of the cases: each next case has one of the labels drawn least often so far."""
        left: dict[str, list[int]] = {}
        for place in sorted(lots, key=lots.__getitem__, reverse=True):
            left.setdefault(self.cases[place].label, []).append(place)
        drawn: list[int] = []
        counts: Counter[str] = Counter()
        taken: set[str] = set()
        while len(drawn) < self.number and left:
            label = min(left, key=lambda label: (counts[label], label_lot(label)))
            place = left[label].pop()
            if not left[label]:
                del left[label]
            identity = _identity(self.cases[place].response, self.cases[place].context)
            if identity not in taken:
                taken.add(identity)
                counts[label] += 1
                drawn.append(place)
        return drawn

    def _lot(self, *labels: str) -> str:
        return hashlib.sha256(json.dumps([self.seed, *labels]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ExampleFields:
    """The columns that hold the parts of an example.

    Attributes:
        label: The field with the label; ``{system}`` stands for the response's field.
        responses: The fields with responses.
        context: Name shown -> field; None for the criterion's own context fields.
        reference: The field with a known good answer.
        as_index: Labels that are numbers are places of options.
    """

    label: str
    responses: tuple[str, ...] = ("response",)
    context: Mapping[str, str] | None = None
    reference: str | None = None
    as_index: bool = False


def example_pool(
    rows: Sequence[Mapping[str, Any]],
    criterion: Criterion,
    fields: ExampleFields,
    *,
    number: int | None = None,
    seed: int = 0,
) -> ExamplePool:
    """Return the cases of a criterion in labelled rows.

    A row whose label or response is missing is no case of this criterion.

    Args:
        rows: With a response, its label, and the context fields of what is judged.
        criterion: The criterion of the labels; they are labels of its options.
        fields: The columns that hold the parts of an example.
        number: The number of cases that a question is shown; None for one of each label that the rows have.
        seed: The seed of the draws.

    Raises:
        InvalidInputError: If a label is no option, a field is missing, or no case is left.
    """
    cases: dict[_Case, set[int]] = {}
    for response_field in fields.responses:
        labels = _labels(rows, response_field, criterion, fields)
        for row, given in enumerate(rows):
            case = _case(row, given, response_field, criterion, fields, label=labels[row])
            if case is not None:
                cases.setdefault(case, set()).add(row)
    if not cases:
        raise InvalidInputError(
            f"the {len(rows)} rows of examples have no case of {criterion.name!r} with a response in "
            f"{' or '.join(map(repr, fields.responses))} and a label in {fields.label!r}"
        )
    try:
        marks = [
            tuple(dict.fromkeys(each for row in sorted(holding) for each in classifications_of(rows[row], row)))
            for holding in cases.values()
        ]
    except InvalidInputError as error:
        raise InvalidInputError(f"an example cannot be shown: {error}") from error
    found = tuple(
        Example(response, label, dict(context), marked)
        for (response, label, context), marked in zip(cases, marks, strict=True)
    )
    different = len({case.label for case in found})
    return ExamplePool(
        cases=found,
        rows=tuple(frozenset(holding) for holding in cases.values()),
        number=different if number is None else number,
        seed=seed,
    )


_Case = tuple[str, str, tuple[tuple[str, str], ...]]


def _case(
    row: int,
    given: Mapping[str, Any],
    response_field: str,
    criterion: Criterion,
    fields: ExampleFields,
    *,
    label: str | None,
) -> _Case | None:
    try:
        response = field_of(given, response_field, row, "the response of an example")
        if is_missing(response) or label is None:
            return None
        reference = None if fields.reference is None else field_or(given, fields.reference)
        context = context_of(given, fields.context, criterion, row, texts_of(reference))
    except InvalidInputError as error:
        raise InvalidInputError(f"row {row} of the examples cannot be shown: {error}") from error
    return text_of(response), label, tuple(context.items())


def _labels(
    rows: Sequence[Mapping[str, Any]], response_field: str, criterion: Criterion, fields: ExampleFields
) -> list[str | None]:
    """Return the option's own label for each row; None if there is none."""
    field = fields.label.replace("{system}", response_field)
    cells = [_label_cell(row, given, field, criterion) for row, given in enumerate(rows)]
    reader = LabelReader(criterion, as_index=fields.as_index)
    read = reader.read(cells, lambda row: f"row {row} of the examples has the label")
    return [None if place is None else criterion.labels[place] for place in read]


def _label_cell(row: int, given: Mapping[str, Any], field: str, criterion: Criterion) -> Any:  # noqa: ANN401 - data may be anything
    try:
        return field_of(given, field, row, "label_fields")
    except InvalidInputError as error:
        option = shlex.quote(f"{criterion.name}=COLUMN")
        raise InvalidInputError(
            f"row {row} of the examples cannot be shown: there is no column {field!r} with the label of the criterion "
            f"{criterion.name!r}; the columns are {list(given)!r}. Say which one has it: "
            f"label_fields={{{criterion.name!r}: column}}, in the shell --label-fields {option}; every criterion "
            "that is judged needs its own labels"
        ) from error


def _identity(response: str, context: Mapping[str, str]) -> str:
    """Return what distinguishes cases; white space does not, because unitxt strips predictions and not examples."""
    texts = sorted((name, " ".join(text.split())) for name, text in context.items())
    return json.dumps([" ".join(response.split()), texts])

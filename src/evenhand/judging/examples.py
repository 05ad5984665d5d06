"""Judged cases that a judge is shown before its own: drawn from labelled rows, balanced over the labels."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.criteria import Criterion
from evenhand.data.fields import LabelReader, classifications_of, context_of, field_of, field_or, text_of, texts_of
from evenhand.data.plain import by_key
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
        drawn = self._balanced(lots, name)
        shown = sorted(drawn, key=lambda place: self._lot("order", lots[place]))
        return replace(question, examples=tuple(self.cases[place] for place in shown))

    def _balanced(self, lots: Mapping[int, str], criterion: str) -> list[int]:
        """Draw the places of the cases: each next case has one of the labels drawn least often so far."""
        left = by_key((self.cases[place].label, place) for place in sorted(lots, key=lots.__getitem__, reverse=True))
        drawn: list[int] = []
        counts: Counter[str] = Counter()
        taken: set[str] = set()
        while len(drawn) < self.number and left:
            label = min(left, key=lambda label: (counts[label], self._lot(criterion, label)))
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


def example_pool(
    rows: Sequence[Mapping[str, Any]],
    criterion: Criterion,
    label: str,
    *,
    responses: Sequence[str] = ("response",),
    context: Mapping[str, str] | None = None,
    reference: str | None = None,
    as_index: bool = False,
    number: int | None = None,
    seed: int = 0,
) -> ExamplePool:
    """Return the cases of a criterion in labelled rows.

    A row whose label or response is missing is no case of this criterion.

    Args:
        rows: With a response, its label, and the context fields of what is judged.
        criterion: The criterion of the labels; they are labels of its options.
        label: The field with the label; ``{system}`` stands for the response's field.
        responses: The fields with responses.
        context: Name shown -> field; None for the criterion's own context fields.
        reference: The field with a known good answer.
        as_index: Labels that are numbers are places of options.
        number: The number of cases that a question is shown; None for one of each label that the rows have.
        seed: The seed of the draws.

    Raises:
        InvalidInputError: If a label is no option, a field is missing, or no case is left.
    """
    reader = LabelReader(criterion, as_index=as_index)
    cases: dict[tuple[str, str, tuple[tuple[str, str], ...]], set[int]] = {}
    try:
        for field in responses:
            cells = [
                field_of(given, label.replace("{system}", field), row, "label_fields") for row, given in enumerate(rows)
            ]
            read = reader.read(cells, lambda row: f"row {row} of the examples has the label")
            for row, (given, place) in enumerate(zip(rows, read, strict=True)):
                response = field_of(given, field, row, "the response of an example")
                if place is None or is_missing(response):
                    continue
                known = texts_of(None if reference is None else field_or(given, reference))
                shown = context_of(given, context, criterion, row, known)
                case = text_of(response), criterion.labels[place], tuple(shown.items())
                cases.setdefault(case, set()).add(row)
        marks = [
            tuple(dict.fromkeys(each for row in sorted(holding) for each in classifications_of(rows[row], row)))
            for holding in cases.values()
        ]
    except InvalidInputError as error:
        raise InvalidInputError(f"the examples cannot be shown: {error}") from error
    if not cases:
        raise InvalidInputError(
            f"the {len(rows)} rows of examples have no case of {criterion.name!r} with a response in "
            f"{' or '.join(map(repr, responses))} and a label in {label!r}"
        )
    return ExamplePool(
        tuple(Example(text, name, dict(shown), mark) for (text, name, shown), mark in zip(cases, marks, strict=True)),
        rows=tuple(map(frozenset, cases.values())),
        number=len({name for _, name, _ in cases}) if number is None else number,
        seed=seed,
    )


def _identity(response: str, context: Mapping[str, str]) -> str:
    """Return what distinguishes cases; white space does not, because unitxt strips predictions and not examples."""
    texts = sorted((name, " ".join(text.split())) for name, text in context.items())
    return json.dumps([" ".join(response.split()), texts])

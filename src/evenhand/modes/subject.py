"""What all ways of judging share: the subject, which is what a judge is told about one row of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from evenhand.criteria import Checklist, Criterion
from evenhand.data.fields import context_of, references_of
from evenhand.question import Question


@dataclass(frozen=True, slots=True)
class Subject:
    """What questions are asked about.

    Attributes:
        instance: The row of the data.
        texts: Name -> text of what is judged, in the order given; None where there is none. Names are never shown.
        context: What the judge is shown beside it: name -> text.
        references: Known good answers.
        draw_key: Names the instance in seeded draws.
        data_classification: The data classification policy of the instance.
        guidelines: What the judge is told about judging, beside the criterion.
    """

    instance: int
    texts: Mapping[str, str | None]
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[str, ...] = ()
    draw_key: str = ""
    data_classification: tuple[str, ...] | None = None
    guidelines: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What has a text, in the order given."""
        return tuple(name for name, text in self.texts.items() if text is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        """What has none."""
        return tuple(name for name, text in self.texts.items() if text is None)

    @property
    def responses(self) -> tuple[str, ...]:
        """The texts that there are."""
        return tuple(text for text in self.texts.values() if text is not None)

    def question(self, identifier: str, criterion: Criterion, responses: tuple[str, ...], **how: Any) -> Question:  # noqa: ANN401 - fields of a question
        """A question about it.

        Args:
            identifier: Names the question within a run.
            criterion: Whose options are chosen from.
            responses: What is judged.
            **how: The fields of :class:`~evenhand.question.Question` that say how it is asked.
        """
        return Question(
            id=identifier,
            criterion=criterion,
            responses=responses,
            context=self.context,
            references=self.references,
            instance=self.instance,
            draw_key=self.draw_key,
            data_classification=self.data_classification,
            guidelines=self.guidelines,
            **how,
        )


def subject_of_row(
    row: Mapping[str, Any],
    instance: int,
    texts: Mapping[str, str | None],
    judged: Criterion | Checklist,
    *,
    context_fields: Mapping[str, str] | None,
    reference_field: str | None,
    guidelines: str = "",
) -> Subject:
    """The subject of a row of a data set.

    Args:
        row: The row.
        instance: Its place.
        texts: Name -> text of what is judged.
        judged: What says which context is shown, where ``context_fields`` does not.
        context_fields: Name shown -> column.
        reference_field: The column with a known good answer.
        guidelines: What the judge is told about judging.

    Raises:
        InvalidInputError: If the row lacks a field.
    """
    references = references_of(row, reference_field, instance)
    context = context_of(row, context_fields, judged, instance, references)
    return Subject(instance, texts, context, references, guidelines=guidelines)

"""Rows whose responses are judged one by one: the columns of the systems, and what is shown beside a response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from evenhand.criteria import Checklist, Criterion
from evenhand.data.fields import (
    cell_name,
    context_columns,
    field_of,
    read_clusters,
    reference_column,
    row_groups,
    text_of,
)
from evenhand.data.rows import Row, row_ids
from evenhand.modes.mode import Subject, subject_of_row
from evenhand.options import ChecklistArguments, JudgeArguments, RunModeArguments
from evenhand.votes import is_missing


@dataclass(frozen=True, slots=True)
class ResponseRows:
    """Rows with a response of each system.

    Attributes:
        rows: The data.
        systems: The columns with responses.
        context_fields: Name shown -> column; None for those of what is judged.
        reference_field: The column with a known good answer.
        guidelines: What the judge is told about judging.
        kept: What a result repeats of the columns of the rows: their ids (:func:`~evenhand.data.fields.row_ids`) and
            groups (:func:`~evenhand.data.fields.row_groups`).
    """

    rows: Sequence[Row]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    guidelines: str
    kept: Mapping[str, Any]

    @classmethod
    def of(cls, rows: Sequence[Row], options: JudgeArguments | ChecklistArguments | RunModeArguments) -> Self:
        """Return rows with the columns that the options name.

        Raises:
            InvalidInputError: If a row has no id, or one that another has.
        """
        named, context = options.response_fields, options.context_fields
        systems = (named,) if isinstance(named, str) else named
        reference = reference_column(options.reference_field, rows[0], systems)
        kept = {**row_ids(rows, options.id_field), **row_groups(rows, options.group_fields)}
        return cls(rows, systems, context_columns(context), reference, options.guidelines, kept)

    def text(self, instance: int, system: str) -> str | None:
        """A response; None where there is none.

        Raises:
            InvalidInputError: If the row has no such column.
        """
        response = field_of(self.rows[instance], system, instance, "response_fields")
        return None if is_missing(response) else text_of(response, cell_name(system, instance))

    def row_id(self, instance: int) -> str:
        """The id of a row; empty where it has none."""
        return str(self.kept["ids"][instance]) if "ids" in self.kept else ""

    def subject(
        self, instance: int, systems: str | Sequence[str], judged: Criterion | Checklist, **beside: Any
    ) -> Subject:
        """The responses of a system, or of several, and what is shown beside them, which is read where there is one.

        Raises:
            InvalidInputError: If the row lacks a column.
        """
        named = [systems] if isinstance(systems, str) else systems
        beside = {"row_id": self.row_id(instance), **beside}
        texts = {system: self.text(instance, system) for system in named}
        if all(text is None for text in texts.values()):
            return Subject(instance, texts, judged=judged, **beside)
        return subject_of_row(
            self.rows[instance],
            instance,
            texts,
            judged,
            context_fields=self.context_fields,
            reference_field=self.reference_field,
            guidelines=self.guidelines,
            **beside,
        )

    def clusters(
        self, field: str | bool | None, *, labels: Iterable[str] = (), others: Iterable[str] = ()
    ) -> tuple[str | None, ...]:
        """What each row belongs to; None where rows do not depend on each other.

        Args:
            field: The column that says so.
            labels: Columns of labels, in which ``{system}`` stands for a system: they tell rows apart.
            others: Columns that tell rows apart too.
        """
        named = {column.replace("{system}", system) for column in labels for system in self.systems}
        found = read_clusters(self.rows, field, apart={*self.systems, *named, *others})
        return (None,) * len(self.rows) if found is None else found

    def parameters(self) -> dict[str, Any]:
        """What a result repeats of them."""
        return {
            "n": len(self.rows),
            **self.kept,
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
        }

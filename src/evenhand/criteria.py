"""What is judged: options, criteria, rubrics and checklists, as frozen values.

A label is compared without regard to case and to white space around or inside it, here and everywhere else
in evenhand: ``"Very  good"`` and ``"very good"`` are one label.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evenhand.errors import InvalidCriterionError, did_you_mean

Scale = Literal["binary", "ordinal", "nominal", "pairwise"]
NaStrategy = Literal["skip", "zero", "partial", "fail"]


def fold_label(label: str) -> str:
    r"""A label as it is compared: lower case, single spaces.

    >>> fold_label("  Very\n Good ")
    'very good'
    """
    return " ".join(label.casefold().split())


class FrozenModel(BaseModel):
    """A value: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Option(FrozenModel):
    """One answer that a judge may choose.

    Attributes:
        label: The text that the judge is shown and names.
        value: What choosing it is worth, in [0, 1]; None when no value was given, or for an NA option.
        description: When the option applies, in words that a person could act on.
        na: The option says that the criterion does not apply; it is set aside when votes are collapsed.
    """

    label: str
    value: float | None = None
    description: str = ""
    na: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.label.strip():
            raise InvalidCriterionError(f"an option's label is {self.label!r}; give it a text that a judge can name")
        if self.na and self.value is not None:
            raise InvalidCriterionError(
                f"the NA option {self.label!r} has the value {self.value!r}; an NA option has none"
            )
        if self.value is not None and not 0 <= self.value <= 1:
            raise InvalidCriterionError(
                f"the option {self.label!r} has the value {self.value!r}; a value lies in [0, 1]: "
                "rescale the option values"
            )
        return self


class Criterion(FrozenModel):
    """A question that is answered by choosing one option.

    Attributes:
        name: Names the scores. A rubric's criteria have different names.
        description: The question as the judge reads it.
        options: The answers, in the criterion's own order; every index in a vote or verdict refers to it.
        scale: ``binary`` (two options), ``ordinal`` (ordered by value), ``nominal`` (no order) or ``pairwise``
            (which of two responses is better; 1 means the first, 0 the second).
        weight: What the criterion counts in a rubric; negative for a fault.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: Name shown to the judge -> name of the field that holds the context.
    """

    name: str
    description: str
    options: tuple[Option, ...]
    scale: Scale = "ordinal"
    weight: float = 1.0
    prediction_field: str | None = None
    context_fields: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not math.isfinite(self.weight):
            raise InvalidCriterionError(
                f"the criterion {self.name!r} has the weight {self.weight!r}; it must be finite"
            )
        seen: dict[str, str] = {}
        for option in self.options:
            folded = fold_label(option.label)
            if folded in seen:
                raise InvalidCriterionError(
                    f"the criterion {self.name!r} has the option label {option.label!r} twice "
                    f"(as {seen[folded]!r}; case and spaces do not tell labels apart): rename one"
                )
            seen[folded] = option.label
        scored = [option for option in self.options if not option.na]
        if len(scored) < 2:
            raise InvalidCriterionError(
                f"the criterion {self.name!r} has {len(scored)} option(s) that are not NA; a choice needs at least two"
            )
        if self.scale == "binary" and len(scored) != 2:
            raise InvalidCriterionError(
                f"the binary criterion {self.name!r} has {len(scored)} options that are not NA; it needs two, "
                "or the scale 'ordinal' or 'nominal'"
            )
        if self.scale == "binary" and self.has_values and scored[0].value == scored[1].value:
            raise InvalidCriterionError(
                f"the two options of the binary criterion {self.name!r} both have the value {scored[0].value!r}; "
                "give the one that means 'met' the higher value"
            )
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """The options' labels, in the criterion's order."""
        return tuple(option.label for option in self.options)

    @property
    def has_values(self) -> bool:
        """Whether every option that is not NA has a value, so that a score is defined."""
        return all(option.value is not None for option in self.options if not option.na)

    @property
    def na_index(self) -> int | None:
        """The index of the first NA option, if there is one."""
        return next((index for index, option in enumerate(self.options) if option.na), None)

    def index_of(self, label: str) -> int:
        """The index of the option with this label.

        Raises:
            InvalidCriterionError: If no option has it.
        """
        folded = fold_label(label)
        for index, option in enumerate(self.options):
            if fold_label(option.label) == folded:
                return index
        raise InvalidCriterionError(
            f"the criterion {self.name!r} has no option {label!r}. {did_you_mean(label, self.labels)}"
        )


def yes_no_criterion(name: str, description: str, *, weight: float = 1.0, na: bool = False) -> Criterion:
    """A binary criterion with the options Yes (1) and No (0), and N/A where ``na`` is set.

    >>> yes_no_criterion("cites", "Does the response cite a source?").labels
    ('Yes', 'No')
    """
    options: tuple[Option, ...] = (Option(label="Yes", value=1.0), Option(label="No", value=0.0))
    if na:
        options += (Option(label="N/A", na=True, description="The question does not apply."),)
    return Criterion(name=name, description=description, options=options, scale="binary", weight=weight)


def _check_names(kind: str, name: str, names: Sequence[str]) -> None:
    if not names:
        raise InvalidCriterionError(f"the {kind} {name!r} is empty; give it at least one")
    repeated = sorted({item for item in names if names.count(item) > 1})
    if repeated:
        raise InvalidCriterionError(f"the {kind} {name!r} has these names more than once: {repeated!r}; rename them")


class Rubric(FrozenModel):
    """Several criteria that together make one score.

    Attributes:
        name: Names the score.
        criteria: With different names; their weights say what each counts.
        na_strategy: What a criterion without an applicable answer does: ``skip`` it, count it ``zero``, count
            ``partial`` (see ``na_partial``), or ``fail`` it: count its worst option.
        na_partial: The value that ``partial`` counts, in [0, 1].
    """

    name: str
    criteria: tuple[Criterion, ...]
    description: str = ""
    na_strategy: NaStrategy = "skip"
    na_partial: Annotated[float, Field(ge=0, le=1)] = 0.5

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_names("rubric", self.name, [criterion.name for criterion in self.criteria])
        if all(criterion.weight == 0 for criterion in self.criteria):
            raise InvalidCriterionError(f"every criterion of the rubric {self.name!r} has the weight 0; one must count")
        return self


class ChecklistItem(FrozenModel):
    """One yes/no question of a checklist; ``weight`` is positive, ``na`` offers N/A as an answer."""

    name: str
    question: str
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    category: str = ""
    na: bool = False

    def as_criterion(self) -> Criterion:
        """The item as a binary criterion."""
        return yes_no_criterion(self.name, self.question, weight=self.weight, na=self.na)


class Checklist(FrozenModel):
    """A list of yes/no questions about one response."""

    name: str
    items: tuple[ChecklistItem, ...]
    description: str = ""
    prediction_field: str | None = None
    context_fields: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_names("checklist", self.name, [item.name for item in self.items])
        return self

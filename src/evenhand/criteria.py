"""Options, criteria, rubrics and checklists, as frozen values.

A label is compared without regard to case, to white space around or inside it and to the form of Unicode that it is
written in, here and everywhere else in evenhand: ``"Very  good"`` and ``"very good"`` are one label.
"""

from __future__ import annotations

import math
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, dataclass_transform

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.dataclasses import dataclass

from evenhand.errors import InvalidCriterionError, InvalidInputError, did_you_mean

Scale = Literal["binary", "ordinal", "nominal", "pairwise"]
NaStrategy = Literal["skip", "zero", "partial", "fail"]
Clip = Literal["score", "mean"]
NA_LABELS = ("N/A", "Not applicable", "Does not apply", "N/A (2)")
"""The possible labels of an NA option that is added, the first choice first."""


def fold_label(label: str) -> str:
    r"""Return a label as it is compared: case folded, single spaces, one form for canonically equal texts.

    This is canonical caseless matching (The Unicode Standard, section 3.13, D145), with the result composed.

    >>> fold_label("  Very\n Good ")
    'very good'
    >>> fold_label("Cafe\u0301") == fold_label("CAF\u00c9")
    True
    """
    folded = unicodedata.normalize("NFD", label).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


class FrozenModel(BaseModel):
    """A value: immutable, and an unknown field is an error.

    Raises:
        InvalidCriterionError: A field that does not exist, is missing, or has a value that is not accepted.
    """

    # with a bound on their length, pydantic refuses texts with half a character ("\\ud800"), which no file can hold
    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=sys.maxsize)

    def __init__(self, /, **given: Any) -> None:  # noqa: ANN401 - each field says its own type
        try:
            super().__init__(**given)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            at = ".".join(map(str, fault["loc"]))
            part = f"no {at}" if fault["type"] == "missing" else f"the {at} {fault['input']!r}"
            raise InvalidCriterionError(f"{type(self).__name__} has {part}: {fault['msg']}") from None

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined] # parts within a value are not built by it

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other, unchecked values of some fields; values derived from them are not kept."""
        copied = super().model_copy(update=update, deep=deep)
        for name in [name for name in copied.__dict__ if name not in type(self).model_fields]:
            del copied.__dict__[name]
        return copied


def context_mapping(fields: object) -> dict[str, str] | None:
    """Return context fields in any of unitxt's forms as name shown -> field read; None if none are given.

    Raises:
        InvalidCriterionError: If they are in none of the forms.

    >>> context_mapping(["question", "context"])
    {'question': 'question', 'context': 'context'}
    """
    if fields is None:
        return None
    listed = ([fields] if fields else []) if isinstance(fields, str) else fields
    pairs = listed.items() if isinstance(listed, Mapping) else [(fields, None)]
    if isinstance(listed, (list, tuple)):
        pairs = [(name, name) for name in listed]
    if not all(isinstance(name, str) and name for pair in pairs for name in pair):
        raise InvalidCriterionError(
            f"context_fields is {fields!r}; give a field name, a list of them, or a mapping name shown -> field, all "
            "of them texts that are not empty"
        )
    return dict(pairs)


ContextFields = Annotated[dict[str, str], BeforeValidator(lambda given: context_mapping(given) or {})]
Text = Annotated[str, Field(pattern=r"\S")]
"""A text that is not empty."""
Kind = TypeVar("Kind", bound="FrozenValue")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def frozen_value(cls: type[Kind]) -> type[Kind]:
    """Make a :class:`FrozenValue` of a class with fields."""
    made: Any = dataclass(cls, frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid"))
    made.adapter = TypeAdapter(made)
    made.writers = tuple((name, getattr(made, name).__set__) for name in made.__slots__)
    value: type[Kind] = made
    return value


class FrozenValue:
    """A value that a run holds many times: checked like a :class:`FrozenModel`, in a quarter of the memory.

    It has a place for each field instead of a dictionary of fields and a set of those that were given.
    """

    __slots__: tuple[str, ...] = ()
    adapter: ClassVar[TypeAdapter[Any]]
    """The adapter that reads and writes such values."""
    writers: ClassVar[tuple[tuple[str, Callable[[object, object], None]], ...]]
    """Field -> what sets it, once, in a new value."""

    @classmethod
    def model_validate(cls, given: object) -> Self:
        """Return the value that a mapping of its fields describes."""
        value: Self = cls.adapter.validate_python(given)
        return value

    def model_dump(self, **how: Any) -> dict[str, Any]:  # noqa: ANN401 - options of pydantic
        """Return its fields as plain values; see ``pydantic.TypeAdapter.dump_python`` for the options."""
        plain: dict[str, Any] = self.adapter.dump_python(self, **how)
        return plain

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """Return a copy with other values of some fields, which are not checked."""
        copied = object.__new__(type(self))
        for name, write in self.writers:
            write(copied, update[name] if name in update else getattr(self, name))
        return copied

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing in it can change


class Option(FrozenModel):
    """One answer that a judge may choose.

    Attributes:
        label: The text that the judge is shown and names.
        value: The score of choosing it, a finite number in the criterion's own units, such as 0 to 1 or 1 to 5; None
            when no value was given. The value of an NA option is ignored and always None.
        description: When the option applies, in words that a person could act on.
        na: The option says that the criterion does not apply; it is set aside when votes are collapsed.
    """

    label: Text
    value: float | None = None
    description: str = ""
    na: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.na:
            object.__setattr__(self, "value", None)
        if self.value is not None and not math.isfinite(self.value):
            raise InvalidCriterionError(
                f"the option {self.label!r} has the value {self.value!r}; a value is a finite number, such as 0.5 or 4"
            )
        return self


class Criterion(FrozenModel):
    """A question whose answer is one of several options.

    Attributes:
        name: Names the scores. A rubric's criteria have different names.
        description: The question as the judge reads it.
        options: The answers, in the criterion's own order; every index in a vote or verdict refers to it.
        scale: ``binary`` (two options), ``ordinal`` (ordered by value), ``nominal`` (no order) or ``pairwise``
            (which of two responses is better; 1 means the first, 0 the second).
        weight: The weight of the criterion in a rubric; negative for a fault.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: Name shown to the judge -> name of the field that holds the context.
        section: The part of a rubric that it belongs to; empty for none.
        tags: Topics of the criterion, to select some criteria; they have no effect on scores.
    """

    name: str
    description: str
    options: tuple[Option, ...]
    scale: Scale = "ordinal"
    weight: FiniteFloat = 1.0
    prediction_field: str | None = None
    context_fields: ContextFields = Field(default_factory=dict)
    section: str = ""
    tags: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        seen: dict[str, str] = {}
        for option in self.options:
            folded = fold_label(option.label)
            if folded in seen:
                raise InvalidCriterionError(
                    f"the criterion {self.name!r} has the option label {option.label!r} twice "
                    f"(as {seen[folded]!r}; case and spaces do not distinguish labels): rename one"
                )
            seen[folded] = option.label
        scored = [option for option in self.options if not option.na]
        if len(scored) < 2 or (self.scale == "binary" and len(scored) > 2):
            raise InvalidCriterionError(
                f"the criterion {self.name!r} has {len(scored)} option(s) that are not NA; a choice needs at least two "
                "(the scale 'binary' exactly two)"
            )
        if self.scale == "binary" and self.has_values and scored[0].value == scored[1].value:
            raise InvalidCriterionError(
                f"the two options of the binary criterion {self.name!r} both have the value {scored[0].value!r}; "
                "give the one that means 'met' the higher value"
            )
        low, high = self.score_range
        if self.scale == "pairwise" and (low < 0 or high > 1):
            raise InvalidCriterionError(
                f"the options of the pairwise criterion {self.name!r} have values from {low!r} to {high!r}; they lie "
                "in [0, 1]: 1 where the first response is better, 0 where the second is, 0.5 for a tie"
            )
        if not 0 < high - low < math.inf:
            raise InvalidCriterionError(
                f"the options of the criterion {self.name!r} have values from {low!r} to {high!r}; values that do not "
                "lie in [0, 1] say how far a score can go: give at least two that differ, by a finite number"
            )
        return self

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The options' labels, in the criterion's order."""
        return tuple(option.label for option in self.options)

    @cached_property
    def has_values(self) -> bool:
        """Whether every option that is not NA has a value, so that a score is defined."""
        return all(option.value is not None for option in self.options if not option.na)

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The least and the greatest score: those of the options that are not NA; [0, 1] where no two values differ.

        >>> levels = tuple(Option(label=str(value), value=value) for value in (0.05, 0.25, 0.45))
        >>> Criterion(name="clear", description="How clear is it?", options=levels).score_range
        (0.05, 0.45)
        """
        values = [option.value for option in self.options if option.value is not None and not option.na]
        low, high = min(values, default=0.0), max(values, default=1.0)
        return (0.0, 1.0) if low == high and 0 <= low <= 1 else (low, high)

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest score that an unscored vote could have had; NaN if no option has a value.

        >>> Criterion(name="topic", description="", options=(Option(label="art"), Option(label="news"))).limits
        (nan, nan)
        """
        valued = any(option.value is not None for option in self.options if not option.na)
        return self.score_range if valued else (math.nan, math.nan)

    @property
    def units(self) -> tuple[float, float]:
        """The limits that count 0 and 1 in a rubric: 0 and 1 if all values lie within, else the range of the score.

        >>> criterion = yes_no_criterion("cites", "Does the response cite a source?")
        >>> criterion.units
        (0.0, 1.0)
        >>> levels = tuple(Option(label=str(value), value=value) for value in (1, 2, 3, 4, 5))
        >>> Criterion(name="clear", description="How clear is it?", options=levels).units
        (1.0, 5.0)
        """
        low, high = self.score_range
        return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)

    def share_of_range(self, score: float) -> float:
        """Return the place of a score in its units: 0 at their lower end, 1 at their upper one, as rubrics count it."""
        low, high = self.units
        return (score - low) / (high - low)

    @property
    def na_index(self) -> int | None:
        """The index of the first NA option, if there is one."""
        return next((index for index, option in enumerate(self.options) if option.na), None)

    def index_of(self, label: str) -> int:
        """Return the index of the option with this label.

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
    """Return a binary criterion with the options Yes (1) and No (0), and N/A if ``na`` is set.

    >>> yes_no_criterion("cites", "Does the response cite a source?").labels
    ('Yes', 'No')
    """
    options: tuple[Option, ...] = (Option(label="Yes", value=1.0), Option(label="No", value=0.0))
    if na:
        options += (Option(label="N/A", na=True, description="The question does not apply."),)
    return Criterion(name=name, description=description, options=options, scale="binary", weight=weight)


def with_na_option(criterion: Criterion) -> Criterion:
    """Return the criterion with an option that says that it does not apply; the same criterion if it has one.

    >>> with_na_option(yes_no_criterion("cites", "Does the response cite a source?")).labels
    ('Yes', 'No', 'N/A')
    """
    if criterion.na_index is not None:
        return criterion
    taken = {fold_label(label) for label in criterion.labels}
    label = next(label for label in NA_LABELS if fold_label(label) not in taken)
    added = Option(label=label, na=True, description="There is nothing here that the criterion could judge.")
    return criterion.model_copy(update={"options": (*criterion.options, added)})


def _check_unique(kind: str, name: str, names: Sequence[str]) -> None:
    repeated = sorted(item for item, times in Counter(names).items() if times > 1)
    if repeated:
        raise InvalidCriterionError(f"the {kind} {name!r} has these names more than once: {repeated!r}; rename them")


class Section(FrozenModel):
    """A part of a nested rubric, whose score is the weighted mean of what it holds.

    Attributes:
        name: Criteria and other sections name it as the one that holds them.
        weight: The weight of its score in its section or rubric; 0 or more.
        within: The section that holds it; empty for the rubric itself.
        description: The topic of the section.
    """

    name: Text
    weight: FiniteFloat = Field(default=1.0, ge=0)
    within: str = ""
    description: str = ""


class Rubric(FrozenModel):
    """Several criteria that together make one score.

    Attributes:
        name: Names the score.
        criteria: With different names; their weights say what each counts. All weights may be 0, which leaves the
            score undefined.
        sections: Of a nested rubric, in which a section counts what its own weight says: each after the one that holds
            it. Without them all criteria count alike, and their sections are ignored.
        na_strategy: What a criterion without an applicable answer does: ``skip`` it, count it ``zero``, count
            ``partial`` (see ``na_partial``), or ``fail`` it: count its worst option.
        na_partial: The number that ``partial`` counts, a share of the criterion's range in [0, 1].
        clip: Where what lies outside [0, 1] is clipped: the ``score`` of each response, or only the ``mean`` over
            responses, so that faults take a response below 0.
    """

    name: str
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    sections: tuple[Section, ...] = ()
    description: str = ""
    na_strategy: NaStrategy = "skip"
    na_partial: float = Field(default=0.5, ge=0, le=1)
    clip: Clip = "score"

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_unique("rubric", self.name, [criterion.name for criterion in self.criteria])
        if self.sections:
            self._check_sections()
        return self

    def _check_sections(self) -> None:
        _check_unique("rubric", self.name, [section.name for section in self.sections])
        known = {""}
        for section in self.sections:
            if section.within not in known:
                raise InvalidCriterionError(
                    f"the section {section.name!r} of the rubric {self.name!r} lies within {section.within!r}, which "
                    f"is not a section before it. {did_you_mean(section.within, sorted(known - {''}))}"
                )
            known.add(section.name)
        for criterion in self.criteria:
            if criterion.section not in known:
                raise InvalidCriterionError(
                    f"the criterion {criterion.name!r} of the rubric {self.name!r} has the section "
                    f"{criterion.section!r}. {did_you_mean(criterion.section, sorted(known - {''}))}"
                )
            if criterion.weight < 0:
                raise InvalidCriterionError(
                    f"the criterion {criterion.name!r} of the nested rubric {self.name!r} has the weight "
                    f"{criterion.weight!r}; a section's score is a weighted mean, so that weights are >= 0 in it"
                )


class ChecklistItem(FrozenModel):
    """One yes/no question of a checklist.

    Attributes:
        question: A yes is what is wished for.
        name: Names the item's scores. An item without a name is called by its number in the checklist: ``"1"``.
        weight: The weight of the item, in [0, 100]; an item of weight 0 is asked and reported, and does not count.
        category: Groups items in reports; empty for none.
        na: N/A is offered as an answer.
        prerequisites: Names of the items of the same checklist without which this one cannot be met.
    """

    question: Text
    name: str = ""
    weight: float = Field(default=1.0, ge=0, le=100)
    category: str = ""
    na: bool = False
    prerequisites: tuple[str, ...] = ()

    def as_criterion(self) -> Criterion:
        """Return the item as a binary criterion."""
        return yes_no_criterion(self.name, self.question, weight=self.weight, na=self.na)


class Checklist(FrozenModel):
    """A list of yes/no questions about one response.

    Attributes:
        name: Names the score.
        items: With different names; those without one are given their number, counted from 1. All weights may be 0,
            which leaves the weighted score undefined.
        description: The purpose of the checklist.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: Name shown to the judge -> name of the field that holds the context.
    """

    name: str
    items: tuple[ChecklistItem, ...] = Field(min_length=1)
    description: str = ""
    prediction_field: str | None = None
    context_fields: ContextFields = Field(default_factory=dict)

    @field_validator("items")
    @classmethod
    def _name_by_number(cls, items: tuple[ChecklistItem, ...]) -> tuple[ChecklistItem, ...]:
        return tuple(
            item if item.name.strip() else item.model_copy(update={"name": str(number)})
            for number, item in enumerate(items, start=1)
        )

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [item.name for item in self.items]
        _check_unique("checklist", self.name, names)
        for item in self.items:
            for needed in item.prerequisites:
                if needed not in names:
                    raise InvalidCriterionError(
                        f"the item {item.name!r} of the checklist {self.name!r} has the prerequisite {needed!r}, which "
                        f"is not the name of an item; name other items of the checklist. {did_you_mean(needed, names)}"
                    )
        try:
            TopologicalSorter({item.name: item.prerequisites for item in self.items}).prepare()
        except CycleError as error:
            circle = " -> ".join(map(repr, reversed(error.args[1])))
            raise InvalidCriterionError(
                f"the prerequisites of the checklist {self.name!r} go in a circle: {circle}; "
                "an item may only depend on items that do not depend on it"
            ) from error
        return self


def names_of(criteria: Sequence[Criterion]) -> list[str]:
    """Return the names of the criteria, which distinguish them in results.

    Raises:
        InvalidInputError: If there is none, or two have one name.
    """
    names = [criterion.name for criterion in criteria]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"the criteria are named {names!r}; give at least one, each once")
    return names

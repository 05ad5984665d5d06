"""Rubrics and checklists as people write them, and as frozen values.

A rubric is a list of criteria, or a mapping that holds them under ``criteria`` or under ``sections``::

    name: reply
    na_strategy: skip                  # or zero, partial (see na_partial), fail
    context_fields: [question]         # of every criterion that gives none itself
    sections:
      - name: content
        criteria:
          - Answers the question that was asked.    # a text is a yes/no requirement
          - name: sources
            requirement: How well are the claims supported?
            weight: 2
            scale_type: ordinal
            options:
              - {label: Every claim, value: 1, description: Each claim names a source.}
              - {label: Some claims, value: 0.5}
              - {label: None, value: 0}
              - {label: No claims, na: true}

``requirement`` and ``description`` are one field, as are ``scale_type`` and ``scale``. A criterion without options is a
yes/no question. One with options and without a scale is binary if it has two options of different values that are not
NA, and ordinal otherwise. A criterion without a name is called by the first words of its requirement.

Sections with weights make a nested rubric: the score of a section is the weighted mean of what it holds, which may be
sections again, and it counts by its own weight::

    name: paper
    sections:
      - name: method
        weight: 3
        criteria: [...]
        sections:
          - {name: training, weight: 2, criteria: [...]}

A checklist is a list of questions, or a mapping that holds them under ``items``::

    name: minutes
    context_fields: [transcript]
    items:
      - Does every task have an owner?              # a text is a question of weight 1
      - question: Is every owner somebody who was there?
        weight: 50
        category: tasks
        prerequisites: [1]                          # numbers count from 1; names are texts
        na: true

An item without a name is called by its number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from evenhand.criteria import (
    Checklist,
    ChecklistItem,
    Clip,
    Criterion,
    NaStrategy,
    Option,
    Rubric,
    Scale,
    Section,
    fold_label,
    yes_no_criterion,
)
from evenhand.data.plain import CONTEXT_FORMS, briefly, context_mapping, plain
from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, did_you_mean
from evenhand.files import expanded

ROWS_ENDING = ".jsonl"
FILE_ENDINGS = (".json", ".yaml", ".yml", ROWS_ENDING)

_NAME_LENGTH = 40


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
OwnScale = Literal["binary", "ordinal", "nominal"]


class _Input(BaseModel):
    """A part of a document as people write it; a field that is null counts as left out."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    form: ClassVar[str] = "is {}; give a mapping"
    """The refusal of a value of another form."""
    text_field: ClassVar[str] = ""
    """The field that a text sets."""
    list_field: ClassVar[str] = ""
    """The field that a list sets."""
    left_out_if_empty: ClassVar[str] = ""
    """The field that an empty text or list leaves out."""

    @classmethod
    def accepted_names(cls) -> dict[str, str]:
        """Return each name that a document may have, with the field that it names."""
        aliases = {name: info.validation_alias or name for name, info in cls.model_fields.items()}
        return {
            str(each): name
            for name, alias in aliases.items()
            for each in (alias.choices if isinstance(alias, AliasChoices) else [alias])
        }

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, data: object) -> object:
        for kind, name in ((str, cls.text_field), (list, cls.list_field)):
            if isinstance(data, kind) and name:
                return {name: data}
        if not isinstance(data, dict):
            raise _fault(cls.form.format(briefly(data)))
        accepted, given = cls.accepted_names(), dict[str, Any]()
        for name, value in data.items():
            if name not in accepted:
                raise _fault(f"has the field {name!r}. {did_you_mean(name, sorted(accepted))}")
            if value is not None and not (name == cls.left_out_if_empty and value in ("", [])):
                given[name] = value
        for name in given:
            both = sorted(each for each in given if accepted[each] == accepted[name])
            if len(both) > 1:
                raise _fault(f"has one field under two names, {both!r}: give one of them")
        return given


def _fault(text: str) -> PydanticCustomError:
    return PydanticCustomError("part", "{text}", {"text": text})


def _read_contexts(value: object) -> dict[str, str]:
    try:
        return context_mapping(value) or {}
    except InvalidInputError as error:
        raise ValueError(CONTEXT_FORMS) from error


class _Shared(_Input):
    prediction_field: str | None = None
    context_fields: Annotated[dict[str, str], BeforeValidator(_read_contexts)] = {}


class _Option(_Input):
    form = "is {}; give a mapping with a label, and a value or na: true"

    label: Text
    value: float | None = None
    description: str = ""
    na: bool = False


class _Criterion(_Shared):
    form = "is {}; give a text, or a mapping with a requirement"
    text_field = "requirement"

    name: Text | None = None
    description: Text = Field(validation_alias=AliasChoices("requirement", "description"))
    weight: float = 1.0
    scale: OwnScale | None = Field(None, validation_alias=AliasChoices("scale_type", "scale"))
    options: Annotated[list[_Option], Field(min_length=1)] | None = None
    section: str | None = None
    tags: tuple[str, ...] = ()


class _Section(_Input):
    form = "is {}; give a mapping with a name and criteria"

    name: Text
    description: str = ""
    weight: float = 1.0
    within: str = ""
    criteria: Annotated[list[_Criterion], Field(min_length=1)] | None = None
    sections: Annotated[list[_Section], Field(min_length=1)] | None = None


class _Rubric(_Shared):
    form = "holds {}; a rubric is a list of criteria, or a mapping with criteria or sections"
    list_field = "criteria"
    left_out_if_empty = "sections"  # as a frozen rubric without sections is written

    name: Text | None = None
    description: str = ""
    na_strategy: NaStrategy = "skip"
    na_partial: float = 0.5
    clip: Clip = "score"
    criteria: Annotated[list[_Criterion], Field(min_length=1)] | None = None
    sections: Annotated[list[_Section], Field(min_length=1)] | None = None


class _Item(_Input):
    form = "is {}; give a text, or a mapping with a question"
    text_field = "question"
    left_out_if_empty = "name"  # as a frozen item without a name is written

    question: Text
    name: Text | None = None
    weight: float = 1.0
    category: str = ""
    prerequisites: list[Any] = []
    na: bool = False


class _Checklist(_Shared):
    form = "holds {}; a checklist is a list of questions, or a mapping with items"
    list_field = "items"

    name: Text | None = None
    description: str = ""
    items: Annotated[list[_Item], Field(min_length=1)]


class _UnitxtOption(_Input):
    form = "is {}; give an object with a name and a description, as the criterion has __type__ or option_map"

    type: Literal["criteria_option"] = Field("criteria_option", alias="__type__")
    name: str
    description: str = ""


class _UnitxtCriterion(_Shared):
    name: str
    description: str
    data_classification_policy: str | list[str] | None = None


class _UnitxtCriterionWithOptions(_UnitxtCriterion):
    options: list[_UnitxtOption]
    option_map: dict[str, float | None] = {}


class _EvenhandCriterion(_UnitxtCriterionWithOptions):
    scale: OwnScale = "ordinal"
    weight: float = 1.0
    na_options: list[str] = []
    section: str = ""
    tags: list[str] = []


RUBRIC_FIELDS = frozenset(_Rubric.model_fields)
CHECKLIST_FIELDS = frozenset(_Checklist.model_fields)
CRITERION_FIELDS = frozenset(_Criterion.accepted_names())
NESTING_FIELDS = frozenset({"weight", "within", "sections"})
"""The fields with which a section counts by itself; without one of them it only names a part of the rubric."""

_ARTIFACTS: Mapping[str, type[_UnitxtCriterion]] = {
    "criteria": _UnitxtCriterion,
    "criteria_with_options": _UnitxtCriterionWithOptions,
    "evenhand_criterion": _EvenhandCriterion,
}
ARTIFACT_FIELDS = {kind: frozenset(model.model_fields) for kind, model in _ARTIFACTS.items()}
"""The types of unitxt's artifacts that are criteria, and their fields."""

Model = TypeVar("Model", bound=BaseModel)


def _validate(model: type[Model], data: object, what: str) -> Model:
    """Return the data as a model.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If the data are more than JSON can say.
    """
    data = plain(data, what)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise InvalidCriterionError(_refusal(error, data, what)) from error


_NOUNS = {"criteria": "criterion", "sections": "section", "items": "item", "options": "option"}


def _refusal(error: ValidationError, data: Any, where: str) -> str:  # noqa: ANN401 - plain data, a line per kind
    """Return the first thing that is wrong, a form or a name before a value: its place, value, and what is accepted."""
    faults = error.errors(include_url=False)
    fault = next((each for each in faults if each["type"] == "part"), faults[0])
    field = ""
    for step in fault["loc"]:
        if isinstance(step, int):
            data = data[step]
            name, noun = data.get("name") if isinstance(data, dict) else None, _NOUNS.get(field, field)
            part = f"the {noun} {name!r}" if isinstance(name, str) and name else f"{noun} {step + 1}"
            where, field = f"{part} of {where}", ""
        else:
            data = data.get(step) if isinstance(data, dict) else data
            field = f"{field}.{step}".lstrip(".")
    kind = fault["type"]
    if kind == "part":
        return f"{where} {fault['ctx']['text']}"
    value = None if kind == "missing" else fault["input"]
    if kind in {"extra_forbidden", "model_type"}:  # of a frozen criterion, or of one of its options
        name, accepted = str(fault["loc"][-1]), (Option if "options" in fault["loc"] else Criterion).model_fields
        unknown = f"has the field {name!r}. {did_you_mean(name, sorted(accepted))}"
        return f"{where} {unknown if kind == 'extra_forbidden' else f'is {briefly(value)}; give a mapping'}"
    found = f"{where} has the {field} {briefly(value)}"
    if kind in {"list_type", "too_short"} or (kind == "missing" and field in _NOUNS):
        return f"{found}; give a list{' of at least one' if field in _NOUNS else ''}"
    if kind in {"string_type", "string_too_short", "missing"}:
        hint = f': write "{value}", in quotes' if isinstance(value, (bool, int, float)) else ""
        return f"{found}; it must be a text{hint}"
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
        return f"{found}. {did_you_mean(value, choices)}"
    return f"{found}; {fault['ctx']['error']}" if kind == "value_error" else f"{found}: {fault['msg']}"


def read_rubric(data: object, what: str, *, name: str = "rubric") -> Rubric:
    """Return the rubric that a document describes.

    Args:
        data: A mapping or a list, of texts, numbers, lists and mappings; frozen criteria may stand in it.
        what: The name of the document in messages.
        name: The rubric's, when the document gives none.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If it holds something that is not data.

    Example:
        >>> [criterion.name for criterion in read_rubric(["Is polite.", "Names a date."], "the list").criteria]
        ['is_polite', 'names_a_date']
    """
    given = _validate(_Rubric, data, what)
    is_nested = any(NESTING_FIELDS & section.model_fields_set for section in given.sections or ())
    if (given.criteria is None) == (given.sections is None) and not is_nested:
        raise InvalidCriterionError(f"{what} must have either criteria or sections: a list of one or the other")
    written, sections = list(given.criteria or ()), list[Section]()
    _add_sections(given.sections or (), what, written, sections if is_nested else None)
    taken = {criterion.name for criterion in written if criterion.name}
    shared = given.model_dump(exclude_unset=True, include=set(_Shared.model_fields))
    criteria = []
    for criterion in written:
        own_name = criterion.name or derived_name(criterion.description, taken)
        taken.add(own_name)
        criteria.append(_criterion_of(criterion, own_name, what, shared))
    own = given.model_dump(exclude_unset=True, exclude={"name", "criteria", "sections", *_Shared.model_fields})
    return Rubric(**own, name=given.name or name, criteria=tuple(criteria), sections=tuple(sections))


def _add_sections(
    given: Sequence[_Section], what: str, criteria: list[_Criterion], sections: list[Section] | None, within: str = ""
) -> None:
    """Add the criteria of sections to those of the rubric, and the sections where they count by themselves."""
    for section in given:
        where = f"the section {section.name!r} of {what}"
        if sections is None and section.criteria is None:
            raise InvalidCriterionError(f"{where} has the criteria None; give a list of at least one")
        if sections is not None:
            own = section.model_dump(exclude_unset=True, exclude={"criteria", "sections"})
            sections.append(Section(**{"within": within, **own}))
        for criterion in section.criteria or ():
            if criterion.section not in {None, section.name}:
                raise InvalidCriterionError(
                    f"a criterion in {where} has the section {briefly(criterion.section)}: leave it out"
                )
            criteria.append(criterion.model_copy(update={"section": section.name}))
        _add_sections(section.sections or (), where, criteria, sections, section.name)


def _criterion_of(given: _Criterion, name: str, what: str, shared: Mapping[str, Any]) -> Criterion:
    fields = {**shared, **given.model_dump(exclude_unset=True, exclude={"options"}), "name": name}
    if given.options is not None:
        options = tuple(Option(**option.model_dump()) for option in given.options)
        return Criterion(**{"scale": implied_scale(options), **fields}, options=options)
    if given.scale not in {None, "binary"}:
        raise InvalidCriterionError(
            f"the criterion {name!r} of {what} is {given.scale} and has no options; give a list of mappings with a "
            "label"
        )
    return Criterion(**{**fields, "scale": "binary"}, options=yes_no_criterion(name, given.description).options)


def read_criterion(data: Mapping[str, Any], what: str) -> Criterion:
    """Return the criterion that a document describes: one as it may stand in a rubric.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
    """
    given = _validate(_Criterion, data, what)
    return _criterion_of(given, given.name or derived_name(given.description), what, {})


def read_criterion_or_fields(data: object, what: str) -> Criterion | dict[str, Any]:
    """Return the frozen criterion that data describe; of one as unitxt writes it, its checked fields and ``__type__``.

    Args:
        data: As it may stand in a rubric, as a frozen criterion is written, or as unitxt writes it.
        what: Their name in messages.

    Raises:
        ArtifactError: If they are not a criterion.
        InvalidCriterionError: If a field is unknown, missing or wrong.
    """
    if not isinstance(data, dict):
        raise ArtifactError(
            f"{what} is a {type(data).__name__}; a criterion is an object with a name and a description"
        )
    options, kind = data.get("options"), data.get("__type__")
    if "__type__" not in data:
        if {"requirement", "scale_type"} & data.keys():
            return read_criterion(data, what)
        if isinstance(options, list) and not {"option_map", "na_options"} & data.keys():
            as_unitxt = [isinstance(option, dict) and "name" in option and "label" not in option for option in options]
            if not any(as_unitxt):
                return _validate(Criterion, data, what)
        with_options = "criteria_with_options" if {"options", "option_map"} & data.keys() else "criteria"
        own_fields = ARTIFACT_FIELDS["evenhand_criterion"] - ARTIFACT_FIELDS["criteria_with_options"]
        kind = "evenhand_criterion" if own_fields & data.keys() else with_options
    if not isinstance(kind, str) or kind not in _ARTIFACTS:
        raise ArtifactError(f"{what} has the type {kind!r}, which is not a criterion; accepted: {sorted(_ARTIFACTS)!r}")
    own = {name: value for name, value in data.items() if not name.startswith("__") and value is not None}
    given = _validate(_ARTIFACTS[kind], own, what)  # in which nothing but options is nested
    fields: dict[str, Any] = {"__type__": kind, **own}
    if isinstance(given, _UnitxtCriterionWithOptions):
        fields["options"] = [option.model_dump(by_alias=True) for option in given.options]
    return fields


def criterion_of_fields(fields: Mapping[str, Any]) -> Criterion:
    """Return the criterion with options of unitxt's fields; an option that the map leaves out has no value.

    Args:
        fields: With their ``__type__``, as :func:`read_criterion_or_fields` gives them.

    Raises:
        InvalidCriterionError: If they contradict each other.
    """
    where = f"the criterion {fields['name']!r}"
    own = {name: value for name, value in fields.items() if name != "__type__"}
    given = cast("_UnitxtCriterionWithOptions", _validate(_ARTIFACTS[fields["__type__"]], own, where))
    values = {fold_label(name): value for name, value in given.option_map.items()}
    na_labels = set(map(fold_label, given.na_options if isinstance(given, _EvenhandCriterion) else []))
    names = {fold_label(option.name) for option in given.options}
    for field, chosen in (("option_map", values.keys()), ("na_options", na_labels)):
        if unknown := sorted(chosen - names):
            raise InvalidCriterionError(
                f"the {field} of {where} names {unknown!r}, which are not among its options. "
                f"{did_you_mean(unknown[0], names)}"
            )
    options = tuple(
        Option(label=each.name, value=values.get(folded), description=each.description, na=folded in na_labels)
        for each in given.options
        for folded in [fold_label(each.name)]
    )
    named = given.model_dump(exclude={"options", "option_map", "na_options", "data_classification_policy"})
    return Criterion(**{"scale": implied_scale(options), **named}, options=options)


def derived_name(requirement: str, taken: Collection[str] = ()) -> str:
    """Return a name made of a requirement's first words, different from those that are taken.

    >>> derived_name("Names who does what, and until when."), derived_name("Is polite!", {"is_polite"})
    ('names_who_does_what_and_until_when', 'is_polite_2')
    """
    name = ""
    for word in re.findall(r"\w+", requirement.casefold().replace("'", "").replace("’", "")):
        if name and len(name) + 1 + len(word) > _NAME_LENGTH:
            break
        name = f"{name}_{word}".strip("_")[:_NAME_LENGTH]
    name = name or "criterion"
    return next(made for number in count(1) if (made := name if number == 1 else f"{name}_{number}") not in taken)


def implied_scale(options: Sequence[Option]) -> Scale:
    """Return the scale of a criterion that does not name it: binary with two different values, else ordinal."""
    values = [option.value for option in options if not option.na]
    return "binary" if len(values) == 2 and None not in values and values[0] != values[1] else "ordinal"


def read_checklist(data: object, what: str, *, name: str = "checklist") -> Checklist:
    """Return the checklist that a document describes.

    Args:
        data: A mapping or a list, of texts, numbers, lists and mappings; frozen items may stand in it.
        what: The name of the document in messages.
        name: The checklist's, when the document gives none.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If it holds something that is not data.

    Example:
        >>> [item.name for item in read_checklist(["Is it polite?", "Is it short?"], "the list").items]
        ['1', '2']
    """
    given = _validate(_Checklist, data, what)
    names = [item.name or str(number) for number, item in enumerate(given.items, start=1)]
    items = []
    for number, item in enumerate(given.items, start=1):
        needed = tuple(_prerequisite(each, names, f"item {number} of {what}") for each in item.prerequisites)
        items.append(ChecklistItem(**{**item.model_dump(exclude_unset=True), "prerequisites": needed}))
    own = given.model_dump(exclude_unset=True, exclude={"items"})
    return Checklist(**{**own, "name": given.name or name}, items=tuple(items))


def _prerequisite(prerequisite: object, names: Sequence[str], where: str) -> str:
    """Return the name of the item that a name or a number means."""
    if isinstance(prerequisite, str):
        return prerequisite.strip()
    if isinstance(prerequisite, int) and not isinstance(prerequisite, bool) and 1 <= prerequisite <= len(names):
        return names[prerequisite - 1]
    raise InvalidCriterionError(
        f"{where} has the prerequisite {briefly(prerequisite)}; give a name, or a number from 1 to {len(names)}"
    )


_NO_SENTENCE = re.compile(r"[{\[]|(criteria|rubrics|checklists|metrics|engines)\.")


def is_sentence(reference: str) -> bool:
    """Return whether a text is a plain sentence, which stands for a yes/no criterion, and neither JSON, path nor id.

    It has several words or ends in a question mark.

    >>> [is_sentence(text) for text in ("Is it polite?", "Polite?", "It cites [1].", "polite", "a b.json")]
    [True, True, True, False, False]
    """
    sentence = reference.strip()
    try:
        is_path = os.sep in sentence and expanded(sentence).exists()
    except OSError:  # it is too long
        is_path = False
    return is_worded(sentence) and not is_path


def is_worded(sentence: str) -> bool:
    """Return whether a text reads as a sentence; files are not looked at."""
    if _NO_SENTENCE.match(sentence) or sentence.lower().endswith(FILE_ENDINGS):
        return False
    return len(sentence.split()) > 1 or sentence.endswith(("?", "？"))


def names_a_file(reference: str) -> bool:
    """Return whether a text is a path, and neither JSON, a sentence nor a catalog id."""
    if reference.lstrip().startswith(("{", "[")) or is_sentence(reference):
        return False
    name = reference.partition("[")[0]
    return reference.strip().lower().endswith(FILE_ENDINGS) or "/" in name or os.sep in name

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
      - question: Was every owner present?
        weight: 50
        category: tasks
        prerequisites: [1]                          # the names of items
        na: true

An item without a name is called by its number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from evenhand.criteria import (
    Checklist,
    ChecklistItem,
    Criterion,
    Option,
    Rubric,
    Scale,
    Section,
    fold_label,
    yes_no_criterion,
)
from evenhand.data.plain import briefly, plain
from evenhand.errors import ArtifactError, InvalidCriterionError, did_you_mean

FILE_ENDINGS = (".json", ".yaml", ".yml", ".jsonl")

_NAME_LENGTH = 40
_STRIPPED: Final = frozenset({"name", "label", "question", "requirement"})
_RENAMED: Final[Mapping[str, str]] = {"requirement": "description", "scale_type": "scale"}
_SHARED: Final = ("prediction_field", "context_fields")
ARTIFACTS: Final = ("criteria", "criteria_with_options", "evenhand_criterion")
"""The types of unitxt's artifacts that are criteria."""

_WITHOUT_OPTIONS: Final = frozenset({"name", "description", *_SHARED, "data_classification_policy"})
ARTIFACT_FIELDS: Final = _WITHOUT_OPTIONS | {
    *("options", "option_map", "na_options", "scale", "weight", "section", "tags")
}
"""The fields of these artifacts."""

RUBRIC_FIELDS = frozenset({*Rubric.model_fields, *_SHARED})
CHECKLIST_FIELDS = frozenset(Checklist.model_fields)
CRITERION_FIELDS = frozenset({*Criterion.model_fields, *_RENAMED})
NESTING_FIELDS = frozenset({"weight", "within", "sections"})
"""The fields with which a section counts by itself; without one of them it only names a part of the rubric."""

Value = TypeVar("Value", bound=BaseModel)
_NOUNS = {"criteria": "criterion", "sections": "section", "items": "item", "options": "option"}


def _fields_of(
    data: Any,  # noqa: ANN401 - plain data
    where: str,
    accepted: Collection[str],
    *,
    text: str = "",
    listed: str = "",
) -> dict[str, Any]:
    """Return the fields that a part of a document gives; one that is null counts as left out.

    Args:
        data: The part.
        where: Its name in messages.
        accepted: The fields that it may have.
        text: The field that a text in its place sets.
        listed: The field that a list in its place sets.

    Raises:
        InvalidCriterionError: If it has another form, or a field that is unknown, blank or there under two names.
    """
    for kind, name in ((str, text), (list, listed)):
        if isinstance(data, kind) and name:
            data = {name: data}
    if not isinstance(data, dict):
        forms = [*(["a text"] if text else []), *([f"a list of {listed}"] if listed else []), "a mapping"]
        raise InvalidCriterionError(f"{where} is {briefly(data)}; give {' or '.join(forms)}")
    given: dict[str, Any] = {}
    for name, value in data.items():
        if name not in accepted:
            raise InvalidCriterionError(f"{where} has the field {name!r}. {did_you_mean(name, sorted(accepted))}")
        if value is None or (name, value) in (("name", ""), ("sections", [])):
            continue
        if (field := _RENAMED.get(name, name)) in given:
            raise InvalidCriterionError(f"{where} has the field {field!r} under two names: give one of them")
        if name in _STRIPPED and not (isinstance(value, str) and value.strip()):
            raise _no_text(where, name, value)
        given[field] = value.strip() if name in _STRIPPED else value
    return given


def _no_text(where: str, field: str, value: object) -> InvalidCriterionError:
    quoted = f': write "{value}", in quotes' if isinstance(value, (bool, int, float)) else ""
    return InvalidCriterionError(f"{where} has the {field} {briefly(value)}; it must be a text{quoted}")


def _parts(data: object, field: str, where: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts in a list, each with its name in messages."""
    if not isinstance(data, list) or not data:
        raise InvalidCriterionError(f"{where} has the {field} {briefly(data)}; give a list of at least one")
    for number, each in enumerate(data, start=1):
        name = each.get("name") if isinstance(each, dict) else None
        noun = _NOUNS[field]
        yield f"{f'the {noun} {name!r}' if isinstance(name, str) and name else f'{noun} {number}'} of {where}", each


def _validate(value: type[Value], fields: Mapping[str, Any], where: str) -> Value:
    """Return the value with these fields.

    Raises:
        InvalidCriterionError: If a field is missing or wrong.
    """
    try:
        return value.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
    kind, at = fault["type"], ".".join(map(str, fault["loc"]))
    given = None if kind == "missing" else fault["input"]
    if kind in {"string_type", "string_pattern_mismatch", "missing"}:
        raise _no_text(where, at, given)
    accepted = re.findall(r"'([^']*)'", fault["ctx"]["expected"]) if kind == "literal_error" else []
    hint = f". {did_you_mean(given, accepted)}" if accepted else f": {fault['msg']}"
    raise InvalidCriterionError(f"{where} has the {at} {briefly(given)}{hint}")


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
    given = _fields_of(plain(data, what), what, RUBRIC_FIELDS, listed="criteria")
    criteria, sections = given.pop("criteria", None), given.pop("sections", None)
    parts = [] if sections is None else list(_parts(sections, "sections", what))
    is_nested = any(_counts_by_itself(part) for _, part in parts)
    if (criteria is None) == (sections is None) and not is_nested:
        raise InvalidCriterionError(f"{what} must have either criteria or sections: a list of one or the other")
    listed = [] if criteria is None else list(_parts(criteria, "criteria", what))
    written = [(where, _criterion_fields(part, where)) for where, part in listed]
    found: list[Section] = []
    _add_sections(parts, written, found, "")
    taken = {str(fields["name"]) for _, fields in written if "name" in fields}
    shared: dict[str, Any] = {each: given.pop(each) for each in _SHARED if each in given}
    made = []
    for where, fields in written:
        made.append(_criterion_of({**shared, **fields}, where, taken))
        taken.add(made[-1].name)
    return _validate(Rubric, {"name": name, **given, "criteria": made, "sections": found if is_nested else ()}, what)


def _add_sections(
    parts: Sequence[tuple[str, Any]], criteria: list[tuple[str, dict[str, Any]]], sections: list[Section], within: str
) -> None:
    """Add sections to those of a rubric, and their criteria to its criteria."""
    for where, part in parts:
        fields = _fields_of(part, where, {*Section.model_fields, "criteria", "sections"})
        held, inner = fields.pop("criteria", None), fields.pop("sections", None)
        section = _validate(Section, {"within": within, **fields}, where)
        sections.append(section)
        if held is not None or not _counts_by_itself(part):
            for place, each in _parts(held, "criteria", where):
                own = _criterion_fields(each, place)
                if own.setdefault("section", section.name) != section.name:
                    raise InvalidCriterionError(f"{place} has the section {briefly(own['section'])}: leave it out")
                criteria.append((place, own))
        if inner is not None:
            _add_sections(list(_parts(inner, "sections", where)), criteria, sections, section.name)


def _counts_by_itself(section: object) -> bool:
    return isinstance(section, dict) and any(section.get(name) is not None for name in NESTING_FIELDS)


def _criterion_fields(data: object, where: str) -> dict[str, Any]:
    return _fields_of(data, where, CRITERION_FIELDS, text="requirement")


def _criterion_of(fields: Mapping[str, Any], where: str, taken: Collection[str] = ()) -> Criterion:
    """Return the criterion with these fields; all but the description have a default."""
    text, scale = fields.get("description"), fields.get("scale")
    if not isinstance(text, str) or not (text.strip() or fields.get("name")):
        raise _no_text(where, "requirement", text)
    options = yes_no_criterion("", "").options
    if "options" in fields:
        parts = _parts(fields["options"], "options", where)
        options = tuple(_validate(Option, _fields_of(part, at, Option.model_fields), at) for at, part in parts)
    elif scale in ("ordinal", "nominal"):
        raise InvalidCriterionError(f"{where} is {scale} and has no options; give a list of mappings with a label")
    made = {"name": derive_name(text, taken), "scale": infer_scale(options), **fields}
    return _validate(Criterion, {**made, "description": text.strip(), "options": options}, where)


def read_criterion(data: object, what: str) -> Criterion | dict[str, Any]:
    """Return the criterion that data describe, or its fields if it has no options, as in a comparison.

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
    given = plain(data, what)
    as_in_rubrics = {"requirement", "scale_type"} & given.keys()
    if as_in_rubrics or _has_labels(given):
        default = {} if as_in_rubrics else {"scale": "ordinal"}  # of a frozen criterion, whose defaults are left out
        return _criterion_of({**default, **_criterion_fields(given, what)}, what)
    fields = _fields_of_unitxt(given, what)
    return _criterion_of(fields, what) if "options" in fields else fields


def _has_labels(data: Mapping[str, Any]) -> bool:
    """Return whether a criterion has options with labels, as in a rubric; unitxt's options have names."""
    options = data.get("options")
    if not isinstance(options, list) or {"__type__", "option_map", "na_options"} & data.keys():
        return False
    return not any("name" in each and "label" not in each for each in options if isinstance(each, dict))


def _fields_of_unitxt(data: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return the fields of a criterion as unitxt writes it; an option that its map leaves out has no value."""
    kind = data.get("__type__")
    if "__type__" in data and kind not in ARTIFACTS:
        raise ArtifactError(f"{what} has the type {kind!r}, which is not a criterion; accepted: {list(ARTIFACTS)!r}")
    own = {name: value for name, value in data.items() if not name.startswith("__")}
    given = _fields_of(own, what, ARTIFACT_FIELDS)
    fields = {name: value for name, value in given.items() if name in Criterion.model_fields}
    for name in ("name", "description"):
        if not isinstance(fields.get(name), str):
            raise _no_text(what, name, fields.get(name))
    if given.keys() <= _WITHOUT_OPTIONS and kind in (None, "criteria"):
        return fields
    where = f"the criterion {given.get('name')!r}"
    parts = _parts(given.get("options"), "options", where)
    options = [_fields_of(part, place, ("__type__", "name", "description")) for place, part in parts]
    values, absent = given.get("option_map", {}), given.get("na_options", [])
    folded = [fold_label(str(option.get("name"))) for option in options]
    for field, held, form in (("option_map", values, dict), ("na_options", absent, list)):
        if not isinstance(held, form) or not {fold_label(str(each)) for each in held} <= {*folded}:
            raise InvalidCriterionError(f"{where} has the {field} {briefly(held)}; its options are {folded!r}")
    values = {fold_label(str(name)): value for name, value in values.items()}
    absent = {fold_label(str(name)) for name in absent}
    fields["options"] = [
        {"label": option.get("name"), "description": option.get("description"), "value": values.get(name)}
        | {"na": name in absent}
        for option, name in zip(options, folded, strict=True)
    ]
    return {"scale": "ordinal", **fields} if kind == "evenhand_criterion" else fields


def derive_name(requirement: str, taken: Collection[str] = ()) -> str:
    """Return a name made of a requirement's first words, different from those that are taken.

    >>> derive_name("Names who does what, and until when."), derive_name("Is polite!", {"is_polite"})
    ('names_who_does_what_and_until_when', 'is_polite_2')
    """
    name = ""
    for word in re.findall(r"\w+", requirement.casefold().replace("'", "").replace("’", "")):
        if name and len(name) + 1 + len(word) > _NAME_LENGTH:
            break
        name = f"{name}_{word}".strip("_")[:_NAME_LENGTH]
    name = name or "criterion"
    return next(made for number in count(1) if (made := name if number == 1 else f"{name}_{number}") not in taken)


def infer_scale(options: Sequence[Option]) -> Scale:
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
    given = _fields_of(plain(data, what), what, CHECKLIST_FIELDS, listed="items")
    parts = _parts(given.get("items"), "items", what)
    items = []
    for where, part in parts:
        fields = _fields_of(part, where, ChecklistItem.model_fields, text="question")
        if isinstance(needed := fields.get("prerequisites"), list):
            fields["prerequisites"] = [str(each) if type(each) is int else each for each in needed]
        items.append(_validate(ChecklistItem, fields, where))
    return _validate(Checklist, {"name": name, **given, "items": items}, what)


_NO_SENTENCE = re.compile(r"[{\[]|(criteria|rubrics|checklists|metrics|engines)\.")


def reads_as_sentence(reference: str) -> bool:
    """Return whether a text reads as a sentence, which stands for a yes/no criterion; files are not looked at.

    It has several words or ends in a question mark, and is neither JSON nor an id nor the name of a file.

    >>> [reads_as_sentence(text) for text in ("Is it polite?", "Polite?", "It cites [1].", "polite", "a b.json")]
    [True, True, True, False, False]
    """
    sentence = reference.strip()
    if _NO_SENTENCE.match(sentence) or sentence.lower().endswith(FILE_ENDINGS):
        return False
    return len(sentence.split()) > 1 or sentence.endswith(("?", "？"))


def names_a_file(reference: str) -> bool:
    """Return whether a text is a path, and neither JSON, a sentence nor a catalog id."""
    name = reference.strip()
    if reads_as_sentence(name):  # with os.path, a text may be too long for a name
        return os.sep in name and os.path.exists(os.path.expanduser(name))  # noqa: PTH110, PTH111
    has_separator = any(each in name.partition("[")[0] for each in ("/", os.sep))
    return not name.startswith(("{", "[")) and (name.lower().endswith(FILE_ENDINGS) or has_separator)

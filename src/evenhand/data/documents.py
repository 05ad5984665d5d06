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

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, get_args

from pydantic import ValidationError

from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric, Scale, yes_no_criterion
from evenhand.data.plain_data import briefly, contexts, items, plain, present, text, under_one_name, validation_message
from evenhand.errors import InvalidCriterionError, did_you_mean

SHARED_FIELDS = ("prediction_field", "context_fields")
RUBRIC_FIELDS = ("name", "description", "na_strategy", "na_partial", "criteria", "sections", *SHARED_FIELDS)
SECTION_FIELDS = ("name", "criteria")
ALIASES = {"requirement": "description", "scale_type": "scale"}
CRITERION_FIELDS = ("name", "description", "weight", "scale", "options", "section", *SHARED_FIELDS, *ALIASES)
OPTION_FIELDS = ("label", "value", "description", "na")
SCALES = tuple(scale for scale in get_args(Scale) if scale != "pairwise")

_NAME_LENGTH = 40


def read_rubric(data: object, what: str, *, name: str = "rubric") -> Rubric:
    """The rubric that a document says.

    Args:
        data: A mapping or a list, of texts, numbers, lists and mappings; frozen criteria may stand in it.
        what: The document is called in messages.
        name: The rubric's, when the document gives none.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If it holds something that is no data.

    Example:
        >>> [criterion.name for criterion in read_rubric(["Is polite.", "Names a date."], "the list").criteria]
        ['is_polite', 'names_a_date']
    """
    data = plain(data, what)
    if isinstance(data, list):
        data = {"criteria": data}
    if not isinstance(data, dict):
        raise InvalidCriterionError(
            f"{what} holds {briefly(data)}; a rubric is a list of criteria, or a mapping with criteria or sections"
        )
    fields = present(data, RUBRIC_FIELDS, what)
    shared = {field: fields.pop(field) for field in SHARED_FIELDS if field in fields}
    written = [{**shared, **criterion} for criterion in _criteria(fields, what)]
    rest = {field: value for field, value in fields.items() if field not in {"criteria", "sections"}}
    try:
        return Rubric.model_validate(
            {
                **rest,
                "name": text(rest.get("name", name), "name", what),
                "criteria": tuple(_criterion(criterion, what) for criterion in _named(written)),
            }
        )
    except ValidationError as error:
        raise InvalidCriterionError(f"{what} is not a rubric: {validation_message(error)}") from error


def read_criterion(data: Mapping[str, Any], what: str) -> Criterion:
    """The criterion that a document says: one as it may stand in a rubric.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
    """
    [criterion] = _named(_criterion_fields([data], what))
    return _criterion(criterion, what)


def rubric_document(rubric: Rubric) -> dict[str, Any]:
    """The document of a rubric: what has its usual value is left out."""
    document = rubric.model_dump(mode="json", exclude={"criteria"}, exclude_defaults=True)
    return {**document, "criteria": [_criterion_document(criterion) for criterion in rubric.criteria]}


def derived_name(requirement: str, taken: Collection[str] = ()) -> str:
    """A name made of a requirement's first words, different from those that are taken.

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


def _criteria(fields: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    """The criteria as mappings, each with its section."""
    if ("criteria" in fields) == ("sections" in fields):
        raise InvalidCriterionError(f"{what} must have either criteria or sections: a list of one or the other")
    if "criteria" in fields:
        return _criterion_fields(items(fields["criteria"], "criteria", what), what)
    found: list[dict[str, Any]] = []
    for number, section in enumerate(items(fields["sections"], "sections", what), start=1):
        if not isinstance(section, dict):
            raise InvalidCriterionError(
                f"section {number} of {what} is {briefly(section)}; give a mapping with a name and criteria"
            )
        given = present(section, SECTION_FIELDS, f"section {number} of {what}")
        name = text(given.get("name"), "name", f"section {number} of {what}")
        where = f"the section {name!r} of {what}"
        for criterion in _criterion_fields(items(given.get("criteria"), "criteria", where), where):
            if criterion.get("section", name) != name:
                raise InvalidCriterionError(
                    f"a criterion in {where} has the section {briefly(criterion['section'])}: leave it out"
                )
            found.append({**criterion, "section": name})
    return found


def _criterion_fields(criteria: Sequence[object], what: str) -> list[dict[str, Any]]:
    """Each criterion as a mapping with its known fields under one name each."""
    found = []
    for number, criterion in enumerate(criteria, start=1):
        given = {"description": criterion} if isinstance(criterion, str) else criterion
        if not isinstance(given, dict):
            raise InvalidCriterionError(
                f"criterion {number} of {what} is {briefly(criterion)}; give a text, or a mapping with a requirement"
            )
        name = given.get("name")
        where = f"the criterion {name!r} of {what}" if isinstance(name, str) else f"criterion {number} of {what}"
        fields = under_one_name(present(given, CRITERION_FIELDS, where), ALIASES, where)
        fields["description"] = text(fields.get("description"), "requirement", where)
        if "name" in fields:
            fields["name"] = text(fields["name"], "name", where)
        found.append(fields)
    return found


def _named(criteria: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The criteria, those without a name called by their requirement."""
    taken = {criterion["name"] for criterion in criteria if "name" in criterion}
    found = []
    for criterion in criteria:
        name = criterion.get("name") or derived_name(criterion["description"], taken)
        taken.add(name)
        found.append({**criterion, "name": name})
    return found


def _criterion(given: Mapping[str, Any], what: str) -> Criterion:
    where = f"the criterion {given['name']!r} of {what}"
    fields = {**given, "context_fields": contexts(given.get("context_fields", []), where)}
    scale = fields.get("scale")
    if scale is not None and scale not in SCALES:
        raise InvalidCriterionError(f"{where} has the scale {briefly(scale)}. {did_you_mean(scale, SCALES)}")
    if fields.get("options") is not None:
        fields["options"] = _options(fields["options"], where)
        fields.setdefault("scale", _implied_scale(fields["options"]))
    elif scale in {None, "binary"}:
        yes_no = yes_no_criterion(given["name"], given["description"])
        fields |= {"options": yes_no.options, "scale": "binary"}
    else:
        raise InvalidCriterionError(f"{where} is {scale} and has no options; give a list of mappings with a label")
    try:
        return Criterion.model_validate(fields)
    except ValidationError as error:
        raise InvalidCriterionError(f"{where} cannot be read: {validation_message(error)}") from error


def _options(given: object, what: str) -> tuple[Option, ...]:
    found = []
    for number, option in enumerate(items(given, "options", what), start=1):
        where = f"option {number} of {what}"
        if not isinstance(option, dict):
            raise InvalidCriterionError(
                f"{where} is {briefly(option)}; give a mapping with a label, and a value in [0, 1] or na: true"
            )
        fields = present(option, OPTION_FIELDS, where)
        fields["label"] = text(fields.get("label"), "label", where)
        try:
            found.append(Option.model_validate(fields))
        except ValidationError as error:
            raise InvalidCriterionError(f"{where} cannot be read: {validation_message(error)}") from error
        except InvalidCriterionError as error:
            raise InvalidCriterionError(f"{what}: {error}") from error
    return tuple(found)


def _implied_scale(options: Sequence[Option]) -> Scale:
    values = [option.value for option in options if not option.na]
    return "binary" if len(values) == 2 and None not in values and values[0] != values[1] else "ordinal"


def _criterion_document(criterion: Criterion) -> dict[str, Any]:
    document = criterion.model_dump(mode="json", exclude={"options"}, exclude_defaults=True)
    yes_no = yes_no_criterion(criterion.name, criterion.description)
    if criterion.scale == "binary" and criterion.options == yes_no.options:
        return {name: value for name, value in document.items() if name != "scale"}
    options = [option.model_dump(mode="json", exclude_defaults=True) for option in criterion.options]
    return {**document, "scale": criterion.scale, "options": options}


CHECKLIST_FIELDS = ("name", "description", "items", "prediction_field", "context_fields")
ITEM_FIELDS = tuple(ChecklistItem.model_fields)


def read_checklist(data: object, what: str, *, name: str = "checklist") -> Checklist:
    """The checklist that a document says.

    Args:
        data: A mapping or a list, of texts, numbers, lists and mappings; frozen items may stand in it.
        what: The document is called in messages.
        name: The checklist's, when the document gives none.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
        ArtifactError: If it holds something that is no data.

    Example:
        >>> [item.name for item in read_checklist(["Is it polite?", "Is it short?"], "the list").items]
        ['1', '2']
    """
    data = plain(data, what)
    if isinstance(data, list):
        data = {"items": data}
    if not isinstance(data, dict):
        raise InvalidCriterionError(
            f"{what} holds {briefly(data)}; a checklist is a list of questions, or a mapping with items"
        )
    fields = present(data, CHECKLIST_FIELDS, what)
    written = _item_fields(items(fields.get("items"), "items", what), what)
    names = [item.get("name", str(number)) for number, item in enumerate(written, start=1)]
    try:
        return Checklist.model_validate(
            {
                **fields,
                "name": text(fields.get("name", name), "name", what),
                "context_fields": contexts(fields.get("context_fields", []), what),
                "items": tuple(_item(item, names, what) for item in written),
            }
        )
    except ValidationError as error:
        raise InvalidCriterionError(f"{what} is not a checklist: {validation_message(error)}") from error


def checklist_document(checklist: Checklist) -> dict[str, Any]:
    """The document of a checklist: what has its usual value is left out."""
    document = checklist.model_dump(mode="json", exclude={"items"}, exclude_defaults=True)
    written = []
    for number, item in enumerate(checklist.items, start=1):
        fields = item.model_dump(mode="json", exclude_defaults=True)
        if fields.get("name") == str(number):
            del fields["name"]
        written.append(fields)
    return {**document, "items": written}


def _item_fields(given: Sequence[object], what: str) -> list[dict[str, Any]]:
    found = []
    for number, item in enumerate(given, start=1):
        where = f"item {number} of {what}"
        fields = {"question": item} if isinstance(item, str) else item
        if not isinstance(fields, dict):
            raise InvalidCriterionError(f"{where} is {briefly(item)}; give a text, or a mapping with a question")
        fields = present(fields, ITEM_FIELDS, where)
        fields["question"] = text(fields.get("question"), "question", where)
        if fields.get("name") == "":
            del fields["name"]
        if "name" in fields:
            fields["name"] = text(fields["name"], "name", where)
        found.append(fields)
    return found


def _item(given: Mapping[str, Any], names: Sequence[str], what: str) -> ChecklistItem:
    where = f"the item {given.get('name', given['question'])!r} of {what}"
    needed = given.get("prerequisites", [])
    if not isinstance(needed, list):
        raise InvalidCriterionError(
            f"{where} has the prerequisites {briefly(needed)}; give a list of names or of numbers from 1 on"
        )
    try:
        return ChecklistItem.model_validate(
            {**given, "prerequisites": tuple(_prerequisite(item, names, where) for item in needed)}
        )
    except ValidationError as error:
        raise InvalidCriterionError(f"{where} cannot be read: {validation_message(error)}") from error


def _prerequisite(prerequisite: object, names: Sequence[str], where: str) -> str:
    """The name of the item that a name or a number means."""
    if isinstance(prerequisite, str):
        return prerequisite.strip()
    if isinstance(prerequisite, int) and not isinstance(prerequisite, bool) and 1 <= prerequisite <= len(names):
        return names[prerequisite - 1]
    raise InvalidCriterionError(
        f"{where} has the prerequisite {briefly(prerequisite)}; give a name, or a number from 1 to {len(names)}"
    )

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
from typing import Any, TypeVar, get_args

from pydantic import ValidationError

from evenhand.criteria import (
    Checklist,
    ChecklistItem,
    Criterion,
    FrozenModel,
    Option,
    Rubric,
    Scale,
    Section,
    fold_label,
    yes_no_criterion,
)
from evenhand.data.plain_data import briefly, contexts, items, plain, present, text, under_one_name, validation_message
from evenhand.errors import ArtifactError, InvalidCriterionError, did_you_mean
from evenhand.files import expanded

ROWS_ENDING = ".jsonl"
FILE_ENDINGS = (".json", ".yaml", ".yml", ROWS_ENDING)

SHARED_FIELDS = ("prediction_field", "context_fields")
RUBRIC_FIELDS = ("name", "description", "na_strategy", "na_partial", "clip", "criteria", "sections", *SHARED_FIELDS)
SECTION_FIELDS = ("name", "description", "weight", "within", "criteria", "sections")
NESTING_FIELDS = frozenset({"weight", "within", "sections"})
"""The fields with which a section counts by itself; without one of them it only names a part of the rubric."""
ALIASES = {"requirement": "description", "scale_type": "scale"}
CRITERION_FIELDS = ("name", "description", "weight", "scale", "options", "section", "tags", *SHARED_FIELDS, *ALIASES)
OPTION_FIELDS = ("label", "value", "description", "na")
SCALES = tuple(scale for scale in get_args(Scale) if scale != "pairwise")

CHECKLIST_FIELDS = ("name", "description", "items", *SHARED_FIELDS)
ITEM_FIELDS = tuple(ChecklistItem.model_fields)

_BARE_FIELDS = frozenset({"name", "description", "data_classification_policy", *SHARED_FIELDS})
_OPTION_FIELDS = _BARE_FIELDS | {"options", "option_map"}
_OWN_FIELDS = frozenset({"scale", "weight", "na_options", "section", "tags"})
ARTIFACT_FIELDS: Mapping[str, frozenset[str]] = {
    "criteria": _BARE_FIELDS,
    "criteria_with_options": _OPTION_FIELDS,
    "evenhand_criterion": _OPTION_FIELDS | _OWN_FIELDS,
}
"""The types of unitxt's artifacts that are criteria, and their fields."""

OPTION_TYPE = "criteria_option"

Model = TypeVar("Model", bound=FrozenModel)

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
    form = "a rubric is a list of criteria, or a mapping with criteria or sections"
    fields = _fields(data, what, RUBRIC_FIELDS, form, listed="criteria")
    shared = {field: fields.pop(field) for field in SHARED_FIELDS if field in fields}
    criteria, sections = _criteria(fields, what)
    written = [{**shared, **criterion} for criterion in criteria]
    rest = {field: value for field, value in fields.items() if field not in {"criteria", "sections"}}
    rest["name"] = text(rest.get("name", name), "name", what)
    rest["criteria"] = tuple(_criterion(criterion, what) for criterion in _named(written))
    rest["sections"] = tuple(sections)
    return _valid(Rubric, rest, f"{what} is not a rubric")


def read_criterion(data: Mapping[str, Any], what: str) -> Criterion:
    """The criterion that a document says: one as it may stand in a rubric.

    Raises:
        InvalidCriterionError: If a field is unknown, missing or wrong.
    """
    [criterion] = _named(_criterion_fields([data], what))
    return _criterion(criterion, what)


def read_criterion_or_fields(data: object, what: str) -> Criterion | dict[str, Any]:
    """The frozen criterion that data say; of one as unitxt writes it, its checked fields with their ``__type__``.

    Args:
        data: As it may stand in a rubric, as a frozen criterion is written, or as unitxt writes it.
        what: They are called in messages.

    Raises:
        ArtifactError: If they are not a criterion.
        InvalidCriterionError: If a field is unknown, missing or wrong.
    """
    if not isinstance(data, dict):
        raise ArtifactError(
            f"{what} is a {type(data).__name__}; a criterion is an object with a name and a description"
        )
    if "__type__" in data:
        return _artifact_fields(data, what)
    if {"requirement", "scale_type"} & data.keys():
        return read_criterion(data, what)
    options = data.get("options")
    if isinstance(options, list) and not {"option_map", "na_options"} & data.keys():
        named = [isinstance(option, dict) and "name" in option and "label" not in option for option in options]
        if not any(named):
            return _valid(Criterion, data, f"{what} is not a criterion", known=Criterion.model_fields)
    with_options = "criteria_with_options" if {"options", "option_map"} & data.keys() else "criteria"
    return _artifact_fields(
        {"__type__": "evenhand_criterion" if _OWN_FIELDS & data.keys() else with_options, **data}, what
    )


def _artifact_fields(data: dict[str, Any], what: str) -> dict[str, Any]:
    """The fields, when they are a criterion's, all of them exist, and nothing else is nested in them."""
    kind = data["__type__"]
    if not isinstance(kind, str) or kind not in ARTIFACT_FIELDS:
        raise ArtifactError(
            f"{what} has the type {kind!r}, which is not a criterion; accepted: {sorted(ARTIFACT_FIELDS)!r}"
        )
    accepted = ARTIFACT_FIELDS[kind]
    for name, value in data.items():
        if not name.startswith("__") and name not in accepted:
            raise InvalidCriterionError(
                f"{what} has the field {name!r}, which {kind} does not. {did_you_mean(name, sorted(accepted))}"
            )
        for nested in _nested_types(value):
            if nested != OPTION_TYPE:
                raise ArtifactError(f"{what} contains an artifact of the type {nested!r}; a criterion may not")
    for name in ("name", "description"):
        if not isinstance(data.get(name), str):
            raise InvalidCriterionError(f"{what} has the {name} {data.get(name)!r}; a criterion's {name} is a text")
    return data if "options" not in accepted else {**data, "options": _option_fields(data, what)}


def _option_fields(data: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    """The options as objects; not as texts, which unitxt would take for the ids of any artifacts."""
    options, values = data.get("options"), data.get("option_map")
    if not isinstance(options, list):
        raise InvalidCriterionError(f"{what} has the options {options!r}; give a list of objects with a name")
    if not isinstance(values, dict | None):
        raise InvalidCriterionError(
            f"{what} has the option_map {values!r}; give an object: the name of an option -> its value, a number"
        )
    for option in options:
        if not isinstance(option, dict) or not isinstance(option.get("name"), str):
            raise InvalidCriterionError(
                f"{what} has the option {option!r}; with __type__ or option_map, an option is an object with a name "
                "and a description"
            )
    return [{"__type__": OPTION_TYPE, "description": "", **option} for option in options]


def _nested_types(value: object) -> list[object]:
    if isinstance(value, dict):
        own = [value["__type__"]] if "__type__" in value else []
        return own + [found for item in value.values() for found in _nested_types(item)]
    return [found for item in value for found in _nested_types(item)] if isinstance(value, list) else []


def criterion_of_fields(fields: Mapping[str, Any]) -> Criterion:
    """The criterion with options that fields as unitxt has them say; an option that the map leaves out has no value.

    Args:
        fields: With their ``__type__``, as :func:`read_criterion_or_fields` gives them.

    Raises:
        InvalidCriterionError: If they contradict each other.
    """
    where = f"the criterion {fields['name']!r}"
    na_options = fields.get("na_options") or []
    if not isinstance(na_options, list) or not all(isinstance(name, str) for name in na_options):
        raise InvalidCriterionError(f"{where} has the na_options {briefly(na_options)}; give a list of names")
    values = {fold_label(str(name)): value for name, value in (fields.get("option_map") or {}).items()}
    not_applicable = {fold_label(name) for name in na_options}
    names = [fold_label(option["name"]) for option in fields["options"]]
    for field, given in (("option_map", set(values)), ("na_options", not_applicable)):
        unknown = sorted(given - set(names))
        if unknown:
            raise InvalidCriterionError(
                f"the {field} of {where} names {unknown!r}, which are not among its options. "
                f"{did_you_mean(unknown[0], names)}"
            )
    scale = fields.get("scale", "ordinal")
    if scale not in SCALES:
        raise InvalidCriterionError(f"the scale of {where} is {scale!r}. {did_you_mean(scale, SCALES)}")
    own = {name: fields[name] for name in Criterion.model_fields if name in fields}
    own["context_fields"] = contexts(fields.get("context_fields") or [], where)
    own["options"] = [
        {
            "label": option["name"],
            "value": values.get(name),
            "description": option.get("description") or "",
            "na": name in not_applicable,
        }
        for option, name in zip(fields["options"], names, strict=True)
    ]
    criterion = _valid(Criterion, own, f"{where} cannot be read")
    if fields["__type__"] == "evenhand_criterion":
        return criterion
    return criterion.model_copy(update={"scale": implied_scale(criterion.options)})


def rubric_document(rubric: Rubric) -> dict[str, Any]:
    """The document of a rubric: what has its usual value is left out."""
    document = rubric.model_dump(mode="json", exclude={"criteria", "sections"}, exclude_defaults=True)
    if rubric.sections:
        sections = [section.model_dump(mode="json", exclude_defaults=True) for section in rubric.sections]
        document["sections"] = [{**each, "weight": each.get("weight", 1.0)} for each in sections]
    return {**document, "criteria": [criterion_document(criterion) for criterion in rubric.criteria]}


def _fields(data: object, what: str, accepted: Collection[str], form: str, *, listed: str) -> dict[str, Any]:
    """The fields of a document that are given; a list is its field ``listed``."""
    data = plain(data, what)
    if isinstance(data, list):
        data = {listed: data}
    if not isinstance(data, dict):
        raise InvalidCriterionError(f"{what} holds {briefly(data)}; {form}")
    return present(data, accepted, what)


def _valid(
    model: type[Model],
    fields: Mapping[str, Any],
    refusal: str,
    *,
    within: str = "",
    known: Mapping[str, object] | None = None,
) -> Model:
    """The frozen value of these fields.

    Args:
        model: Of which class.
        fields: Its fields.
        refusal: The beginning of the message about fields that are none of it or of another type.
        within: The beginning of the message where the fields contradict each other.
        known: Fields that are proposed for one that is unknown.
    """
    try:
        value: Model = model.model_validate(fields)
    except ValidationError as error:
        raise InvalidCriterionError(f"{refusal}: {validation_message(error, known)}") from error
    except InvalidCriterionError as error:
        if not within:
            raise
        raise InvalidCriterionError(f"{within}: {error}") from error
    return value


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


def _criteria(fields: Mapping[str, Any], what: str) -> tuple[list[dict[str, Any]], list[Section]]:
    """The criteria as mappings, each with its section, and the sections that count by themselves."""
    listed = fields.get("sections")
    if listed == [] and "criteria" in fields:  # as a frozen rubric without sections is written
        listed = None
    held = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    nested = any(NESTING_FIELDS & each.keys() for each in held)
    if ("criteria" in fields) == (listed is not None) and not nested:
        raise InvalidCriterionError(f"{what} must have either criteria or sections: a list of one or the other")
    found = _Parts()
    if "criteria" in fields:
        found.criteria += _criterion_fields(items(fields["criteria"], "criteria", what), what)
    if listed is not None:
        found.read(items(listed, "sections", what), what, nested=nested)
    return found.criteria, found.sections


class _Parts:
    """What the sections of a rubric hold, as it is read."""

    def __init__(self) -> None:
        self.criteria: list[dict[str, Any]] = []
        self.sections: list[Section] = []

    def read(self, sections: Sequence[object], what: str, *, nested: bool, within: str = "") -> None:
        """Read the sections of a rubric, or of the section that holds them."""
        for place, section in enumerate(sections, start=1):
            given = self._fields(section, f"section {place} of {what}")
            name = given["name"]
            where = f"the section {name!r} of {what}"
            if nested:
                own = {field: value for field, value in given.items() if field not in {"criteria", "sections"}}
                self.sections.append(_valid(Section, {"within": within, **own}, f"{where} cannot be read"))
            if "criteria" in given or not nested:
                self._hold(items(given.get("criteria"), "criteria", where), name, where)
            if "sections" in given:
                self.read(items(given["sections"], "sections", where), what, nested=True, within=name)

    def _fields(self, section: object, what: str) -> dict[str, Any]:
        if not isinstance(section, dict):
            raise InvalidCriterionError(f"{what} is {briefly(section)}; give a mapping with a name and criteria")
        given = present(section, SECTION_FIELDS, what)
        return {**given, "name": text(given.get("name"), "name", what)}

    def _hold(self, criteria: Sequence[object], name: str, where: str) -> None:
        for criterion in _criterion_fields(criteria, where):
            if criterion.get("section", name) != name:
                raise InvalidCriterionError(
                    f"a criterion in {where} has the section {briefly(criterion['section'])}: leave it out"
                )
            self.criteria.append({**criterion, "section": name})


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
        fields.setdefault("scale", implied_scale(fields["options"]))
    elif scale in {None, "binary"}:
        yes_no = yes_no_criterion(given["name"], given["description"])
        fields |= {"options": yes_no.options, "scale": "binary"}
    else:
        raise InvalidCriterionError(f"{where} is {scale} and has no options; give a list of mappings with a label")
    return _valid(Criterion, fields, f"{where} cannot be read")


def _options(given: object, what: str) -> tuple[Option, ...]:
    found = []
    for number, option in enumerate(items(given, "options", what), start=1):
        where = f"option {number} of {what}"
        if not isinstance(option, dict):
            raise InvalidCriterionError(
                f"{where} is {briefly(option)}; give a mapping with a label, and a value or na: true"
            )
        fields = present(option, OPTION_FIELDS, where)
        fields["label"] = text(fields.get("label"), "label", where)
        found.append(_valid(Option, fields, f"{where} cannot be read", within=what))
    return tuple(found)


def implied_scale(options: Sequence[Option]) -> Scale:
    """The scale of a criterion that does not name it: binary with two different values, else ordinal."""
    values = [option.value for option in options if not option.na]
    return "binary" if len(values) == 2 and None not in values and values[0] != values[1] else "ordinal"


def criterion_document(criterion: Criterion) -> dict[str, Any]:
    """The document of a criterion, as it may stand in a rubric: what has its usual value is left out."""
    document = criterion.model_dump(mode="json", exclude={"options"}, exclude_defaults=True)
    yes_no = yes_no_criterion(criterion.name, criterion.description)
    if criterion.scale == "binary" and criterion.options == yes_no.options:
        return {name: value for name, value in document.items() if name != "scale"}
    options = [option.model_dump(mode="json", exclude_defaults=True) for option in criterion.options]
    return {**document, "scale": criterion.scale, "options": options}


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
    form = "a checklist is a list of questions, or a mapping with items"
    fields = _fields(data, what, CHECKLIST_FIELDS, form, listed="items")
    written = _item_fields(items(fields.get("items"), "items", what), what)
    names = [item.get("name", str(number)) for number, item in enumerate(written, start=1)]
    fields["name"] = text(fields.get("name", name), "name", what)
    fields["context_fields"] = contexts(fields.get("context_fields", []), what)
    fields["items"] = tuple(_item(item, names, what) for item in written)
    return _valid(Checklist, fields, f"{what} is not a checklist")


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
    fields = {**given, "prerequisites": tuple(_prerequisite(item, names, where) for item in needed)}
    return _valid(ChecklistItem, fields, f"{where} cannot be read")


def _prerequisite(prerequisite: object, names: Sequence[str], where: str) -> str:
    """The name of the item that a name or a number means."""
    if isinstance(prerequisite, str):
        return prerequisite.strip()
    if isinstance(prerequisite, int) and not isinstance(prerequisite, bool) and 1 <= prerequisite <= len(names):
        return names[prerequisite - 1]
    raise InvalidCriterionError(
        f"{where} has the prerequisite {briefly(prerequisite)}; give a name, or a number from 1 to {len(names)}"
    )


_NO_SENTENCE = re.compile(r"[{\[]|(criteria|rubrics|checklists|metrics|engines)\.")


def is_sentence(reference: str) -> bool:
    """Whether a text is a plain sentence, which stands for a yes/no criterion, and neither JSON, path nor id.

    It has several words or ends in a question mark.

    >>> [is_sentence(text) for text in ("Is it polite?", "Polite?", "It cites [1].", "polite", "a b.json")]
    [True, True, True, False, False]
    """
    sentence = reference.strip()
    return is_worded(sentence) and not (os.sep in sentence and _exists(sentence))


def _exists(name: str) -> bool:
    try:
        return expanded(name).exists()
    except OSError:  # too long
        return False


def is_worded(sentence: str) -> bool:
    """Whether a text reads as a sentence, whatever files there are."""
    if _NO_SENTENCE.match(sentence) or sentence.lower().endswith(FILE_ENDINGS):
        return False
    return len(sentence.split()) > 1 or sentence.endswith(("?", "？"))


def names_a_file(reference: str) -> bool:
    """Whether a text is a path: no JSON, no sentence, and no catalog id, which has no slash and no ending of a file."""
    if reference.lstrip().startswith(("{", "[")) or is_sentence(reference):
        return False
    name = reference.partition("[")[0]
    return reference.strip().lower().endswith(FILE_ENDINGS) or "/" in name or os.sep in name

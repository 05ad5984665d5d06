"""Rubrics and data sets of autorubric (https://pypi.org/project/autorubric).

A rubric is a list of criteria, or a mapping that holds one under ``rubric``, ``sections`` or ``criteria``. A criterion
without options is met, not met, or cannot be assessed; a missing weight is 10. Our own form shares the words
``requirement`` and ``scale_type`` with it, so that a file is theirs if every criterion in it is a mapping with a
``requirement``, and nothing in it is what only ours has: a name of the rubric, a text as a criterion, an option with a
description, an option that is not NA and has no value or one outside [0, 1]. An NA option may have a value in both, or
none. One criterion alone is theirs if it has what only theirs has: an ``aggregation``, or no options, written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.criteria import Rubric
from evenhand.data.documents import read_rubric, rubric_document
from evenhand.data.formats.translation import (
    Format,
    Translated,
    kept,
    mappings_with,
)
from evenhand.data.plain_data import briefly
from evenhand.errors import ArtifactError, InvalidCriterionError

DEFAULT_WEIGHT = 10.0
MET, UNMET, CANNOT_ASSESS = "MET", "UNMET", "CANNOT_ASSESS"
BINARY_OPTIONS = (
    {"label": MET, "value": 1.0, "description": "The requirement is satisfied."},
    {"label": UNMET, "value": 0.0, "description": "The requirement is not satisfied."},
    {"label": CANNOT_ASSESS, "na": True, "description": "What is there does not let one tell."},
)
_OPTION = frozenset({"label", "value", "na"})
_CRITERION = frozenset({"name", "weight", "requirement", "options", "scale_type", "aggregation"})
_HOLDERS = ("rubric", "sections", "criteria")
_RUBRIC = frozenset({*_HOLDERS, "guidelines"})
_ITEM_FIELDS = {"prompt": "prompt", "submission": "response", "description": "description"}


def _is_criterion(data: object) -> bool:
    if not mappings_with([data], {"requirement"}, _CRITERION) or not isinstance(data, dict):
        return False
    options = data.get("options")
    return options is None or (mappings_with(options, {"label"}, _OPTION) and all(map(_is_option, options)))


def _is_option(option: Mapping[str, Any]) -> bool:
    """Whether an option is NA, or has a value that autorubric could accept."""
    value = option.get("value")
    return bool(option.get("na")) or (value is not None and (not isinstance(value, int | float) or 0 <= value <= 1))


def _is_list(data: object) -> bool:
    """Whether data are criteria, or sections of them."""
    return isinstance(data, list) and bool(data) and all(map(_is_part, data))


def _is_part(data: object) -> bool:
    return _is_criterion(data) or (isinstance(data, dict) and "criteria" in data and _is_section(data))


def _is_section(section: Mapping[str, Any]) -> bool:
    return section.keys() <= {"name", "criteria"} and _is_list(section["criteria"])


def _is_rubric(data: object) -> bool:
    if not isinstance(data, dict):
        return _is_list(data)
    held = [data[holder] for holder in _HOLDERS if holder in data]
    return len(held) == 1 and data.keys() <= _RUBRIC and _is_rubric(held[0])


def _is_dumped(data: object) -> bool:
    """Whether data are one criterion as autorubric writes it: with its rule, or with options that are null."""
    return _is_criterion(data) and isinstance(data, dict) and ("aggregation" in data or data.get("options", ()) is None)


def is_data_set(data: object) -> bool:
    """Whether data are a data set of autorubric: submissions, each perhaps with a rubric of its own."""
    return (
        isinstance(data, dict)
        and "rubric" in data
        and mappings_with(data.get("items"), {"submission"})
        and (data["rubric"] is None or _is_rubric(data["rubric"]))
    )


def _read(data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
    read = Translated({})
    if _is_dumped(data):
        read.data = _criterion(data, read)
        return read
    rubric = data["rubric"] if is_data_set(data) else data
    if rubric is None:
        raise ArtifactError(
            f"{what} is a data set of autorubric of which each item has a rubric of its own, and no one rubric: make "
            "rows of it with `evenhand catalog import FILE --out rows.jsonl`, and judge them with rubric_field='rubric'"
        )
    if isinstance(data, dict) and isinstance(data.get("name"), str) and is_data_set(data):
        read.data["name"] = data["name"]
    read.data["criteria"] = _criteria(rubric, read)
    return read


def _criteria(rubric: Any, read: Translated, section: str = "") -> list[dict[str, Any]]:  # noqa: ANN401 - as above
    if isinstance(rubric, dict):
        if rubric.get("guidelines"):
            read.without("guidelines (give them to the run: guidelines=…)")
        return _criteria(next(rubric[holder] for holder in _HOLDERS if holder in rubric), read, section)
    found = []
    for part in rubric:
        if "criteria" in part:
            found += _criteria(part["criteria"], read, part.get("name") or section)
        else:
            found.append({**_criterion(part, read), **kept({"section": section})})
    return found


def _criterion(given: Mapping[str, Any], read: Translated) -> dict[str, Any]:
    if given.get("aggregation") is not None:
        read.without(f"aggregation: {given['aggregation']} (a panel's rule is that of the run: aggregation=…)")
    weight = given.get("weight")
    document = kept({"name": given.get("name"), "requirement": given["requirement"]})
    document["weight"] = DEFAULT_WEIGHT if weight is None else weight
    if given.get("options") is None:
        return {**document, "scale": "binary", "options": [dict(option) for option in BINARY_OPTIONS]}
    options = [{**option, "label": str(option["label"])} for option in given["options"]]
    return {**document, "scale": given.get("scale_type") or "ordinal", "options": options}


def data_set_rows(data: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    """The rows of a data set: ``prompt``, ``response``, ``description``, ``reference``, ``gold`` and ``rubric``.

    ``gold`` is criterion name -> the label that a person gave, or null; ``rubric`` is a document.

    Raises:
        InvalidCriterionError: If an item has no rubric, or not one verdict a criterion.
    """
    rows = []
    for number, item in enumerate(data["items"]):
        where = f"item {number} of {what}"
        rubric = data["rubric"] if item.get("rubric") is None else item["rubric"]
        if not _is_rubric(rubric):
            raise InvalidCriterionError(f"{where} has the rubric {briefly(rubric)}; give it one of autorubric's")
        row = {
            ours: item.get(theirs, data.get(theirs) if theirs == "prompt" else None)
            for theirs, ours in _ITEM_FIELDS.items()
        }
        reference = item.get("reference_submission")
        row["reference"] = data.get("reference_submission") if reference is None else reference
        read = read_rubric({"criteria": _criteria(rubric, Translated({}))}, f"the rubric of {where}")
        rows.append({**kept(row), "gold": _gold(item, read, where), "rubric": rubric_document(read)})
    return rows


def _gold(item: Mapping[str, Any], rubric: Rubric, where: str) -> dict[str, str | None]:
    """Criterion name -> the label that a person gave, as the criterion writes it; None where there is none."""
    count = len(rubric.criteria)
    verdicts = [None] * count if item.get("ground_truth") is None else item["ground_truth"]
    if not isinstance(verdicts, list) or len(verdicts) != count:
        raise InvalidCriterionError(
            f"{where} has the ground_truth {briefly(verdicts)}; give a list of {count}: one label a criterion"
        )
    return {
        criterion.name: None if verdict is None else criterion.labels[criterion.index_of(str(verdict))]
        for criterion, verdict in zip(rubric.criteria, verdicts, strict=True)
    }


AUTORUBRIC = Format(
    "autorubric",
    "a rubric of autorubric",
    lambda data: _is_rubric(data) or is_data_set(data) or _is_dumped(data),
    _read,
)

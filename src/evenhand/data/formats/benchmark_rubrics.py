"""The rubrics of benchmarks: HealthBench, PaperBench, BiGGen Bench and Prometheus, WildBench.

- A row of HealthBench has ``rubrics``, a list of ``{criterion, points, tags}``. The score is the points that are met,
  of all positive points, and is clipped at the mean over rows only (arXiv:2505.08775, section 3).
- A rubric of PaperBench is a tree of ``{id, requirements, weight, sub_tasks}``, whose leaves are met or not and whose
  inner scores are weighted means (arXiv:2504.01848, section 2).
- BiGGen Bench (arXiv:2406.05761) and Prometheus (arXiv:2310.08491) have a ``score_rubric`` with ``criteria`` and
  ``score1_description`` to ``score5_description``: one ordinal criterion.
- A row of WildBench (arXiv:2406.04770) has a ``checklist`` of questions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.criteria import Criterion, Rubric, Section
from evenhand.data.documents import derived_name
from evenhand.data.formats.translation import (
    Format,
    Translated,
    Value,
    as_counted,
    checklist_of,
    criteria_of,
    is_yes_no,
    kept,
    mappings_with,
    note_unsaid,
    numbered,
    refuse_nested,
)
from evenhand.data.plain_data import briefly
from evenhand.errors import InvalidCriterionError, InvalidInputError

_POINTS = {"criterion", "points"}


def _points_of(data: Any) -> Any:  # noqa: ANN401 - data may be anything
    return data.get("rubrics") if isinstance(data, dict) else data


def _read_healthbench(data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
    criteria: list[dict[str, Any]] = []
    taken: set[str] = set()
    for number, given in enumerate(_points_of(data), start=1):
        if not isinstance(given["criterion"], str) or not given["criterion"].strip():
            raise InvalidCriterionError(f"rubric {number} of {what} has the criterion {briefly(given['criterion'])}")
        name = derived_name(given["criterion"], taken)
        taken.add(name)
        points = numbered(given["points"], f"the points of rubric {number} of {what}")
        tags = given.get("tags") or []
        criteria.append({"name": name, "requirement": given["criterion"], "weight": points, **kept({"tags": tags})})
    return Translated({"clip": "mean", "criteria": criteria})


def _write_healthbench(value: Value) -> Translated:
    rubric = _of_yes_no(criteria_of(value, "healthbench"), "healthbench")
    refuse_nested(rubric, "healthbench")
    written = Translated({})
    if rubric.clip != "mean":
        written.without("that the score of each response is clipped (HealthBench clips the mean only)")
    _note_plain(rubric, written)
    written.data = {
        "rubrics": [
            {"criterion": each.description, "points": each.weight, "tags": list(each.tags)} for each in rubric.criteria
        ]
    }
    return written


def _of_yes_no(rubric: Rubric, name: str) -> Rubric:
    for criterion in rubric.criteria:
        if not is_yes_no(criterion):
            raise InvalidInputError(
                f"the criterion {criterion.name!r} has the options {list(criterion.labels)!r}; in the format {name!r} "
                "a criterion is met or not, with nothing between them"
            )
    return rubric


def _note_plain(rubric: Rubric, written: Translated) -> None:
    """Note what formats without options cannot say."""
    note_unsaid(rubric.criteria, written, "context_fields", "prediction_field")
    if any(option.na for criterion in rubric.criteria for option in criterion.options):
        written.without("NA options")
    if rubric.na_strategy != "skip":
        written.without("na_strategy")


HEALTHBENCH = Format(
    "healthbench",
    "a row or a rubric of HealthBench",
    lambda data: mappings_with(_points_of(data), _POINTS),
    _read_healthbench,
    _write_healthbench,
)

_NODE = {"id", "requirements", "weight", "sub_tasks"}
_CATEGORIES = ("task_category", "finegrained_task_category")


def _is_tree(data: object) -> bool:
    return isinstance(data, dict) and data.keys() >= _NODE


def _read_paperbench(data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
    sections: list[dict[str, Any]] = []
    criteria: list[dict[str, Any]] = []
    top = [data] if not data["sub_tasks"] else data["sub_tasks"]
    for node, within in _walk(top, "", what):
        weight = numbered(node["weight"], f"the weight of {node['id']!r} in {what}")
        if node["sub_tasks"]:
            described = kept({"within": within, "description": node["requirements"]})
            sections.append({"name": node["id"], "weight": weight, **described})
        else:
            tags = [node[field] for field in _CATEGORIES if node.get(field)]
            said = kept({"section": within, "tags": tags})
            criteria.append({"name": node["id"], "requirement": node["requirements"], "weight": weight, **said})
    read = Translated({**kept({"description": data["requirements"], "sections": sections}), "criteria": criteria})
    if not sections and any(each["weight"] < 0 for each in criteria):
        raise InvalidCriterionError(f"{what} has a negative weight; a tree of PaperBench has weights from 0 on")
    return read


def _walk(nodes: Any, within: str, what: str) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401 - as above
    """The nodes of a tree, each before those below it, with the id of the one above."""
    for number, node in enumerate(nodes, start=1):
        if not _is_tree(node):
            raise InvalidCriterionError(
                f"sub-task {number} of {within or what!r} is {briefly(node)}; it is a mapping with {sorted(_NODE)!r}"
            )
        yield node, within
        yield from _walk(node["sub_tasks"], node["id"], what)


def _write_paperbench(value: Value) -> Translated:
    rubric = _of_yes_no(criteria_of(value, "paperbench"), "paperbench")
    if rubric.clip == "mean" or any(criterion.weight < 0 for criterion in rubric.criteria):
        raise InvalidInputError(
            f"the rubric {rubric.name!r} has negative weights or is clipped at the mean; the score of a tree of "
            "PaperBench is a weighted mean, so that its scores would be others there"
        )
    written = Translated({})
    _note_plain(rubric, written)
    if not rubric.sections and any(criterion.section for criterion in rubric.criteria):
        written.without("section (a section without a weight counts nothing)")
    if not all(criterion.tags for criterion in rubric.criteria):
        written.without("task_category (a leaf of PaperBench needs one: give the criterion a tag)")
    held: dict[str, list[dict[str, Any]]] = {"": []}
    for criterion in rubric.criteria:
        within = criterion.section if rubric.sections else ""
        held.setdefault(within, []).append(_leaf(criterion))
    for section in reversed(rubric.sections):
        held.setdefault(section.within, []).append(_inner(section, held[section.name]))
    written.data = _inner(Section(name=rubric.name, description=rubric.description), held[""])
    return written


def _leaf(criterion: Criterion) -> dict[str, Any]:
    tags = dict(zip(_CATEGORIES, (*criterion.tags, None, None), strict=False))
    return {
        "id": criterion.name,
        "requirements": criterion.description,
        "weight": _whole(criterion.weight),
        "sub_tasks": [],
        **tags,
    }


def _inner(section: Section, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": section.name,
        "requirements": section.description,
        "weight": _whole(section.weight),
        "sub_tasks": parts,
        **dict.fromkeys(_CATEGORIES),
    }


def _whole(weight: float) -> float:
    return int(weight) if weight == int(weight) else weight


PAPERBENCH = Format("paperbench", "a tree of PaperBench", _is_tree, _read_paperbench, _write_paperbench)

_LEVEL = re.compile(r"(?:orig_)?score(\d+)_description")


def _levels(data: object) -> dict[int, str]:
    """Score -> its description."""
    if not isinstance(data, dict):
        return {}
    found = {int(match[1]): text for name, text in data.items() if (match := _LEVEL.fullmatch(str(name)))}
    return dict(sorted((score, text) for score, text in found.items() if text is not None))


def _score_rubric(data: object) -> Mapping[str, Any]:
    """The part of a row, or the data themselves, that describes the scores."""
    if not isinstance(data, dict):
        return {}
    held = data.get("score_rubric", data.get("rubric"))
    return held if isinstance(held, dict) else data


def _read_prometheus(data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
    given = _score_rubric(data)
    asked = given.get("criteria", given.get("orig_criteria"))
    if not isinstance(asked, str) or not asked.strip():
        raise InvalidCriterionError(f"{what} has the criteria {briefly(asked)}; give a text: what the scores are about")
    options = [
        {"label": str(score), "value": float(score), "description": str(text)} for score, text in _levels(given).items()
    ]
    return Translated({"name": derived_name(asked), "requirement": asked, "scale": "ordinal", "options": options})


def _write_prometheus(value: Value) -> Translated:
    rubric = criteria_of(value, "prometheus")
    if len(rubric.criteria) != 1:
        raise InvalidInputError(
            f"the rubric {rubric.name!r} has {len(rubric.criteria)} criteria; the format 'prometheus' holds one: name "
            "one of them"
        )
    written = Translated({})
    criterion, scores = rubric.criteria[0], [1.0, 2.0, 3.0, 4.0, 5.0]
    if sorted(option.value or 0.0 for option in criterion.options if not option.na) != scores:
        criterion = as_counted(criterion, written)
    options = sorted((each for each in criterion.options if not each.na), key=lambda option: option.value or 0.0)
    even = [place / 4 for place in range(5)]
    values = [option.value for option in options]
    if not criterion.has_values or values not in (scores, even):
        raise InvalidInputError(
            f"the criterion {criterion.name!r} has options of the values {values!r}; those of the format 'prometheus' "
            f"are {scores!r}, or the same in even steps from 0 to 1"
        )
    written.data = {"criteria": criterion.description}
    for field in ("context_fields", "prediction_field", "section", "tags"):
        if getattr(criterion, field):
            written.without(field)
    if criterion.na_index is not None:
        written.without("NA options")
    if any(option.label != str(score) for score, option in enumerate(options, start=1)):
        written.without("the labels of options, which are 1 to 5 there")
    for score, option in enumerate(options, start=1):
        written.data[f"score{score}_description"] = option.description or option.label
    return written


PROMETHEUS = Format(
    "prometheus",
    "a score rubric of BiGGen Bench or Prometheus",
    lambda data: len(_levels(_score_rubric(data))) >= 2,
    _read_prometheus,
    _write_prometheus,
)


def _read_wildbench(data: Any, what: str) -> Translated:  # noqa: ANN401, ARG001 - as above
    return Translated({"items": list(data["checklist"])})


def _write_wildbench(value: Value) -> Translated:
    checklist = checklist_of(value, "wildbench")
    written = Translated({"checklist": [item.question for item in checklist.items]})
    for field, usual in (("weight", 1.0), ("category", ""), ("na", False), ("prerequisites", ())):
        if any(getattr(item, field) != usual for item in checklist.items):
            written.without(field)
    if any(item.name != str(number) for number, item in enumerate(checklist.items, start=1)):
        written.without("the names of items")
    if checklist.context_fields or checklist.prediction_field:
        written.without("context_fields and prediction_field")
    return written


WILDBENCH = Format(
    "wildbench",
    "a row of WildBench",
    lambda data: (
        isinstance(data, dict)
        and isinstance(data.get("checklist"), list)
        and bool(data["checklist"])
        and all(isinstance(question, str) for question in data["checklist"])
    ),
    _read_wildbench,
    _write_wildbench,
)

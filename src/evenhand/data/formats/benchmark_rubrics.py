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

from evenhand.data.documents import derived_name
from evenhand.data.formats.translation import (
    Format,
    Translated,
    kept,
    mappings_with,
    numbered,
)
from evenhand.data.plain_data import briefly
from evenhand.errors import InvalidCriterionError

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


HEALTHBENCH = Format(
    "healthbench",
    "a row or a rubric of HealthBench",
    lambda data: mappings_with(_points_of(data), _POINTS),
    _read_healthbench,
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


PAPERBENCH = Format("paperbench", "a tree of PaperBench", _is_tree, _read_paperbench)

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


PROMETHEUS = Format(
    "prometheus",
    "a score rubric of BiGGen Bench or Prometheus",
    lambda data: len(_levels(_score_rubric(data))) >= 2,
    _read_prometheus,
)


def _read_wildbench(data: Any, what: str) -> Translated:  # noqa: ANN401, ARG001 - as above
    return Translated({"items": list(data["checklist"])})


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
)

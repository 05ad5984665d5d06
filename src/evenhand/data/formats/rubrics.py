"""Rubrics, checklists and criteria of other tools, read into the plain data of evenhand's own documents.

- autorubric (https://pypi.org/project/autorubric): a list of criteria, or a mapping that holds one under ``rubric``,
  ``sections`` or ``criteria``. A criterion without options is met, not met, or cannot be assessed; a missing weight is
  10. evenhand's own form has ``requirement`` and ``scale_type`` too, so a file is autorubric's if every criterion in it
  is a mapping with a ``requirement`` and nothing in it is only ours: a name of the rubric, a text as a criterion, an
  option with a description, an option that is not NA and has no value in [0, 1].
  A data set of autorubric (``rubric`` and ``items``) is read as rows, see :func:`data_set_rows`.
- autochecklist (https://pypi.org/project/autochecklist): a checklist with ``source_method`` or ``generation_level``,
  or whose items have an ``id``; or what its generators reply, ``{"questions": […]}``. A missing weight is 100.
- EvalAssist (https://github.com/IBM/eval-assist): a criterion whose options have scores; one without options is for
  comparisons.
- HealthBench (arXiv:2505.08775, section 3): ``rubrics``, a list of ``{criterion, points, tags}``. The score is the
  points that are met divided by all positive points, and only the mean over rows is clipped.
- PaperBench (arXiv:2504.01848, section 2): a tree of ``{id, requirements, weight, sub_tasks}``, whose leaves are met or
  not and whose inner scores are weighted means.
- BiGGen Bench (arXiv:2406.05761) and Prometheus (arXiv:2310.08491): ``criteria`` with ``score1_description`` to
  ``score5_description``, one ordinal criterion.
- WildBench (arXiv:2406.04770): a row with a ``checklist`` of questions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from evenhand.data.documents import read_rubric
from evenhand.data.formats.logs import OTHER_SHAPE
from evenhand.data.plain import briefly, plain
from evenhand.errors import EvenhandWarning, InvalidCriterionError

AUTORUBRIC_WEIGHT = 10.0
AUTOCHECKLIST_WEIGHT = 100.0
AUTORUBRIC_OPTIONS = (
    {"label": "MET", "value": 1.0, "description": "The requirement is satisfied."},
    {"label": "UNMET", "value": 0.0, "description": "The requirement is not satisfied."},
    {"label": "CANNOT_ASSESS", "na": True, "description": "What is there does not let one tell."},
)


class Format(NamedTuple):
    """A format of another tool.

    Attributes:
        holds: The noun for its data in messages, such as "a rubric of autorubric".
        fits: Whether data have its shape.
        read: Makes a document of the data; its other arguments are the name of the data in messages, and a list to
            which it adds what it does not read, each in a few words.
    """

    holds: str
    fits: Callable[[Any], bool]
    read: Callable[[Any, str, list[str]], dict[str, Any]]


def _are_mappings(data: object, needed: Collection[str], accepted: Collection[str] | None = None) -> bool:
    """Return whether data are a list of at least one mapping, each with the needed fields and only accepted ones."""
    are_mappings = isinstance(data, list) and bool(data) and all(isinstance(each, dict) for each in data)
    return are_mappings and all(
        each.keys() >= set(needed) and (accepted is None or each.keys() <= set(accepted))
        for each in data  # type: ignore[attr-defined] # a list
    )


def _non_empty(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - plain data
    """Return the fields that are neither null nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


_HOLDERS = ("rubric", "sections", "criteria")
_AUTORUBRIC_FIELDS = {"name", "weight", "requirement", "options", "scale_type", "aggregation"}


def _is_autorubric(data: object) -> bool:
    """Return whether data are a rubric of autorubric."""
    if isinstance(data, dict):
        held = [data[holder] for holder in _HOLDERS if holder in data]
        return len(held) == 1 and data.keys() <= {*_HOLDERS, "guidelines"} and _is_autorubric(held[0])
    return isinstance(data, list) and bool(data) and all(map(_is_autorubric_part, data))


def _is_autorubric_part(data: object) -> bool:
    """Return whether data are a criterion or a section of autorubric."""
    if isinstance(data, dict) and "criteria" in data:
        held = data["criteria"]
        return data.keys() <= {"name", "criteria"} and isinstance(held, list) and _is_autorubric(held)
    if not _are_mappings([data], {"requirement"}, _AUTORUBRIC_FIELDS):
        return False
    options = data.get("options")  # type: ignore[attr-defined] # a mapping
    return options is None or (
        _are_mappings(options, {"label"}, {"label", "value", "na"})
        and all(option.get("na") or _fits_autorubric(option.get("value")) for option in options)
    )


def _fits_autorubric(value: object) -> bool:
    """Return whether an option's value lies in [0, 1], or is refused later because it is not a number."""
    return value is not None and (not isinstance(value, int | float) or 0 <= value <= 1)


def is_data_set(data: object) -> bool:
    """Return whether data are a data set of autorubric: submissions that may have rubrics of their own."""
    return (
        isinstance(data, dict)
        and "rubric" in data
        and _are_mappings(data.get("items"), {"submission"})
        and (data["rubric"] is None or _is_autorubric(data["rubric"]))
    )


def _read_autorubric(data: Any, what: str, left_out: list[str]) -> dict[str, Any]:  # noqa: ANN401 - plain data
    if not is_data_set(data):
        return {"criteria": list(_autorubric_criteria(data, left_out))}
    if data["rubric"] is None:
        raise InvalidCriterionError(
            f"{what} is a data set of autorubric in which each item has a rubric of its own: judge the file as data, "
            "with rubric_field='rubric' (in the shell --rubric-field rubric)"
        )
    return _non_empty(name=data.get("name")) | {"criteria": list(_autorubric_criteria(data["rubric"], left_out))}


def _autorubric_criteria(rubric: Any, left_out: list[str], section: str = "") -> Iterator[dict[str, Any]]:  # noqa: ANN401 - plain data
    if isinstance(rubric, dict):
        if rubric.get("guidelines"):
            left_out.append("guidelines (give them to the run: guidelines=…)")
        rubric = next(rubric[holder] for holder in _HOLDERS if holder in rubric)
        yield from _autorubric_criteria(rubric, left_out, section)
        return
    for part in rubric:
        if "criteria" in part:
            yield from _autorubric_criteria(part["criteria"], left_out, part.get("name") or section)
        else:
            yield {**_autorubric_criterion(part, left_out), **_non_empty(section=section)}


def _autorubric_criterion(given: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    if given.get("aggregation") is not None:
        left_out.append(f"aggregation: {given['aggregation']} (a panel's rule is that of the run: aggregation=…)")
    weight, scale = given.get("weight"), given.get("scale_type") or "ordinal"
    document = _non_empty(name=given.get("name"), requirement=given["requirement"])
    document["weight"] = AUTORUBRIC_WEIGHT if weight is None else weight
    if given.get("options") is None:
        return {**document, "scale": "binary", "options": [dict(option) for option in AUTORUBRIC_OPTIONS]}
    options = [{**option, "label": str(option["label"])} for option in given["options"]]
    return {**document, "scale": scale, "options": options}


def data_set_rows(data: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    """Return the rows of a data set of autorubric.

    They have ``prompt``, ``response``, ``description``, ``reference``, ``gold`` (criterion name -> the label that a
    person gave, or null) and ``rubric``, a document.

    Raises:
        InvalidCriterionError: If an item has no rubric, or not one label per criterion.
    """
    rows = []
    for number, item in enumerate(data["items"]):
        where = f"item {number} of {what}"
        given = data["rubric"] if item.get("rubric") is None else item["rubric"]
        if not _is_autorubric(given):
            raise InvalidCriterionError(f"{where} has the rubric {briefly(given)}; give it one of autorubric's")
        rubric = read_rubric({"criteria": list(_autorubric_criteria(given, []))}, f"the rubric of {where}")
        count, labels = len(rubric.criteria), item.get("ground_truth")
        labels = [None] * count if labels is None else labels
        if not isinstance(labels, list) or len(labels) != count:
            raise InvalidCriterionError(
                f"{where} has the ground_truth {briefly(labels)}; give a list of {count}: one label per criterion"
            )
        reference = item.get("reference_submission")
        row = _non_empty(
            prompt=item.get("prompt", data.get("prompt")),
            response=item.get("submission"),
            description=item.get("description"),
            reference=data.get("reference_submission") if reference is None else reference,
        )
        gold = {
            criterion.name: None if label is None else criterion.labels[criterion.index_of(str(label))]
            for criterion, label in zip(rubric.criteria, labels, strict=True)
        }
        rows.append({**row, "gold": gold, "rubric": plain(rubric, where)})
    return rows


_AUTOCHECKLIST_ITEM = {"id", "question", "weight", "category", "metadata"}


def _is_autochecklist(data: object) -> bool:
    if not isinstance(data, dict):
        return _are_mappings(data, {"id", "question"}, _AUTOCHECKLIST_ITEM)
    if "questions" in data:
        return data.keys() == {"questions"} and _are_mappings(data["questions"], {"question"}, _AUTOCHECKLIST_ITEM)
    items = data.get("items")
    has_fields = {"source_method", "generation_level"} & data.keys() or _are_mappings(items, {"id"})
    return bool(has_fields) and _are_mappings(items, {"question"}, _AUTOCHECKLIST_ITEM)


def _read_autochecklist(data: Any, _: str, left_out: list[str]) -> dict[str, Any]:  # noqa: ANN401 - plain data
    fields = data if isinstance(data, dict) else {"items": data}
    if fields.get("input"):
        left_out.append("input (the judge is shown the columns that context_fields names: make it a column)")
    items = []
    for given in fields["questions"] if "questions" in fields else fields["items"]:
        weight = given.get("weight")
        item = _non_empty(name=given.get("id"), question=given["question"], category=given.get("category"))
        items.append({**item, "weight": AUTOCHECKLIST_WEIGHT if weight is None else weight})
    return {**_non_empty(description=fields.get("corpus_description")), "items": items}


_EVALASSIST_FIELDS = {"name", "description", "options", "to_evaluate_field", "prediction_field", "context_fields"}
_EVALASSIST_FIELDS |= {"examples", "metadata"}


def _is_evalassist(data: object) -> bool:
    """Return whether data are a criterion of EvalAssist: with scores or the name of its field."""
    if not isinstance(data, dict) or not {"name", "description"} <= data.keys() <= _EVALASSIST_FIELDS:
        return False
    options, has_field = data.get("options"), "to_evaluate_field" in data
    if not options:
        return has_field or "options" in data
    are_options = _are_mappings(options, {"name"}, {"name", "description", "score"})
    return are_options and (has_field or any("score" in option for option in options))


def _read_evalassist(data: Any, _: str, left_out: list[str]) -> dict[str, Any]:  # noqa: ANN401 - plain data
    """Return the criterion as unitxt writes it."""
    if data.get("examples"):
        left_out.append("examples (give them to the run: examples=…)")
    judged = data.get("to_evaluate_field", data.get("prediction_field"))
    fields = {"name": data["name"], "description": data["description"]}
    fields |= _non_empty(prediction_field=judged, context_fields=data.get("context_fields"))
    if not data.get("options"):
        return {"__type__": "criteria", **fields}
    options = [{"name": option["name"], "description": option.get("description") or ""} for option in data["options"]]
    scores = {option["name"]: option["score"] for option in data["options"] if option.get("score") is not None}
    return {"__type__": "criteria_with_options", **fields, "options": options, **_non_empty(option_map=scores)}


def _is_healthbench(data: object) -> bool:
    points = data.get("rubrics") if isinstance(data, dict) else data
    return _are_mappings(points, {"criterion", "points"})


def _read_healthbench(data: Any, *_: object) -> dict[str, Any]:  # noqa: ANN401 - plain data
    points = data["rubrics"] if isinstance(data, dict) else data
    criteria = [
        {"requirement": each["criterion"], "weight": each["points"], **_non_empty(tags=each.get("tags"))}
        for each in points
    ]
    return {"clip": "mean", "criteria": criteria}


_PAPERBENCH_NODE = {"id", "requirements", "weight", "sub_tasks"}


def _is_paperbench(data: object) -> bool:
    return isinstance(data, dict) and data.keys() >= _PAPERBENCH_NODE


def _read_paperbench(data: Any, *_: object) -> dict[str, Any]:  # noqa: ANN401 - plain data
    sections: list[dict[str, Any]] = []
    criteria: list[dict[str, Any]] = []
    for node, within in _paperbench_nodes(data["sub_tasks"] or [data], ""):
        named = {"name": node["id"], "weight": node["weight"]}
        if node["sub_tasks"]:
            sections.append(named | _non_empty(within=within, description=node["requirements"]))
        else:
            tags = [node[field] for field in ("task_category", "finegrained_task_category") if node.get(field)]
            criteria.append(named | {"requirement": node["requirements"]} | _non_empty(section=within, tags=tags))
    return {**_non_empty(description=data["requirements"], sections=sections), "criteria": criteria}


def _paperbench_nodes(nodes: Any, within: str) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401 - plain data
    """Yield the nodes of a tree, each before those below it, with the id of the one above."""
    for node in nodes:
        yield node, within
        yield from _paperbench_nodes(node["sub_tasks"], node["id"])


_SCORE_DESCRIPTION = re.compile(r"(?:orig_)?score(\d+)_description")


def _score_rubric(data: Any) -> Mapping[str, Any]:  # noqa: ANN401 - plain data
    """Return the part of a row, or the data themselves, that describes the scores."""
    if not isinstance(data, dict):
        return {}
    held = data.get("score_rubric", data.get("rubric"))
    return held if isinstance(held, dict) else data


def _score_descriptions(data: object) -> dict[int, str]:
    found = ((_SCORE_DESCRIPTION.fullmatch(str(name)), text) for name, text in _score_rubric(data).items())
    return dict(sorted((int(match[1]), str(text)) for match, text in found if match and text is not None))


def _read_prometheus(data: Any, *_: object) -> dict[str, Any]:  # noqa: ANN401 - plain data
    given = _score_rubric(data)
    options = [
        {"label": str(score), "value": float(score), "description": description}
        for score, description in _score_descriptions(data).items()
    ]
    return {"requirement": given.get("criteria", given.get("orig_criteria")), "scale": "ordinal", "options": options}


def _is_wildbench(data: object) -> bool:
    questions = data.get("checklist") if isinstance(data, dict) else None
    return isinstance(questions, list) and bool(questions) and all(isinstance(each, str) for each in questions)


FORMATS: Mapping[str, Format] = {
    "autorubric": Format(
        "a rubric of autorubric", lambda data: _is_autorubric(data) or is_data_set(data), _read_autorubric
    ),
    "autochecklist": Format("a checklist of autochecklist", _is_autochecklist, _read_autochecklist),
    "evalassist": Format("a criterion of EvalAssist", _is_evalassist, _read_evalassist),
    "healthbench": Format("a row or a rubric of HealthBench", _is_healthbench, _read_healthbench),
    "paperbench": Format("a tree of PaperBench", _is_paperbench, _read_paperbench),
    "prometheus": Format(
        "a score rubric of BiGGen Bench or Prometheus",
        lambda data: len(_score_descriptions(data)) > 1,
        _read_prometheus,
    ),
    "wildbench": Format("a row of WildBench", _is_wildbench, lambda data, *_: {"items": list(data["checklist"])}),
}
"""The formats that are recognised, by name."""


class LeftOutWarning(EvenhandWarning):
    """A part of a file of another tool is not read."""


def format_of(data: object) -> Format | None:
    """Return the format of another tool that data are in; None if they are in none, or in evenhand's own."""
    return next((each for each in FORMATS.values() if each.fits(data)), None)


def translate_format(data: Any, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Translate data in the format of another tool to a document of evenhand's; return all others as they are.

    Warns (:class:`LeftOutWarning`) of what is not read.
    """
    found = format_of(data)
    if found is None:
        return data
    left_out: list[str] = []
    try:
        document = found.read(data, what, left_out)
    except OTHER_SHAPE as error:
        raise InvalidCriterionError(
            f"{what} has the shape of {found.holds}, but not all of it: {type(error).__name__}: {error}"
        ) from error
    if left_out:
        parts = "; ".join(dict.fromkeys(left_out))
        warnings.warn(f"{what} is {found.holds}; not read with it: {parts}", LeftOutWarning, 3)
    return document

"""Criteria of EvalAssist (https://github.com/IBM/eval-assist) and of unitxt, on which it rests.

A criterion with options is for direct assessment, and the score stands with each option; one without is for
comparisons. A multi-criteria holds several with weights: a rubric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.data.formats.translation import (
    Format,
    Translated,
    kept,
    mappings_with,
    numbered,
)
from evenhand.errors import InvalidCriterionError

_CRITERION = frozenset(
    {
        "name",
        "description",
        "options",
        "to_evaluate_field",
        "prediction_field",
        "context_fields",
        "examples",
        "metadata",
    }
)
_OPTION = frozenset({"name", "description", "score"})


def _is_criterion(data: object) -> bool:
    """Whether data are a criterion with what unitxt's has not: scores at the options, or its field's own name."""
    if not isinstance(data, dict) or not {"name", "description"} <= data.keys() <= _CRITERION:
        return False
    options = data.get("options")
    if options:
        scored = mappings_with(options, {"name"}, _OPTION) and any("score" in option for option in options)
        return scored or ("to_evaluate_field" in data and mappings_with(options, {"name"}, _OPTION))
    return "to_evaluate_field" in data or "options" in data


def _is_several(data: object) -> bool:
    return isinstance(data, dict) and mappings_with(data.get("items"), {"criterion"})


def _read(data: Any, what: str) -> Translated:  # noqa: ANN401 - data may be anything
    read = Translated({})
    if not _is_several(data):
        read.data = _criterion(data, read)
        return read
    items = data["items"]
    weights = [item.get("weight") for item in items]
    if all(weight is None for weight in weights):
        weights = [1 / len(items)] * len(items)
    criteria = []
    for number, (item, weight) in enumerate(zip(items, weights, strict=True), start=1):
        where = f"item {number} of {what}"
        if item.get("required"):
            raise InvalidCriterionError(
                f"{where} is required, so that a response that misses it scores 0 whatever else it has; no rubric here "
                "counts so: leave 'required' out, or judge by this criterion apart"
            )
        criteria.append({**_several_criterion(item, data, where), "weight": numbered(weight, f"the weight of {where}")})
    read.data["criteria"] = criteria
    return read


def _several_criterion(item: Mapping[str, Any], data: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A criterion of several as it stands in a rubric, its scores as they count there."""
    given = item["criterion"]
    if not isinstance(given, dict) or not given.get("options"):
        raise InvalidCriterionError(f"{where} has no options; each criterion of several needs some with scores")
    names = [option["name"] for option in given["options"]]
    values = _values(item, given["options"], where, normalize=data.get("normalize_scores", True))
    options = [
        kept({"label": name, "description": option.get("description")}) | {"value": value}
        for name, option, value in zip(names, given["options"], values, strict=True)
    ]
    fields = {
        "name": given.get("name"),
        "requirement": given.get("description"),
        "prediction_field": given.get("to_evaluate_field", given.get("prediction_field")),
        "context_fields": given.get("context_fields"),
    }
    return {**kept(fields), "options": options}


def _values(item: Mapping[str, Any], options: Sequence[Any], where: str, *, normalize: bool) -> list[float]:
    if item.get("target_option") is not None:
        return [float(option["name"] == item["target_option"]) for option in options]
    scores = [numbered(option.get("score"), f"the score of {option['name']!r} in {where}") for option in options]
    if normalize:
        low, high = min(scores), max(scores)
        if low == high:
            raise InvalidCriterionError(f"all options of {where} have the score {low!r}; they must differ")
        scores = [(score - low) / (high - low) for score in scores]
    threshold = item.get("score_threshold")
    if threshold is None and not all(0 <= score <= 1 for score in scores):
        raise InvalidCriterionError(
            f"{where} has the scores {scores!r}, which count as they are (normalize_scores: false); a criterion "
            "counts a share of its range here: leave normalize_scores out, or rescale the scores to [0, 1]"
        )
    return scores if threshold is None else [float(score > threshold) for score in scores]


def _criterion(given: Mapping[str, Any], read: Translated) -> dict[str, Any]:
    """The criterion as unitxt writes it."""
    if given.get("examples"):
        read.without("examples (give them to the run: examples=…)")
    fields = kept(
        {
            "name": given["name"],
            "description": given["description"],
            "prediction_field": given.get("to_evaluate_field", given.get("prediction_field")),
            "context_fields": given.get("context_fields"),
        }
    )
    if not given.get("options"):
        return {"__type__": "criteria", **fields}
    options = [{"name": option["name"], "description": option.get("description") or ""} for option in given["options"]]
    scores = {option["name"]: option.get("score") for option in given["options"]}
    known = {name: score for name, score in scores.items() if score is not None}
    return {"__type__": "criteria_with_options", **fields, "options": options, **kept({"option_map": known or None})}


EVALASSIST = Format(
    "evalassist", "a criterion of EvalAssist", lambda data: _is_criterion(data) or _is_several(data), _read
)

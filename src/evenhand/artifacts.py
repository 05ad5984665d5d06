"""Criteria as unitxt artifacts and as the frozen values that the rest of evenhand works with.

unitxt's own ``Criteria`` and ``CriteriaWithOptions`` are read as they are. :class:`EvenhandCriterion` adds what they
cannot say: the scale, the weight, and which options mean that the criterion does not apply.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, List, Union, cast

from pydantic import ValidationError

from evenhand.catalogs import local_entry, register_catalog
from evenhand.criteria import Criterion, Option, Scale, fold_label
from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, did_you_mean
from evenhand.question import comparison_criterion
from evenhand.unitxt_bases import (
    Artifact,
    Criteria,
    CriteriaOption,
    CriteriaWithOptions,
    fetch_artifact,
)

SCALES = ("binary", "ordinal", "nominal")
CRITERION_TYPES = frozenset({"criteria", "criteria_with_options", "evenhand_criterion"})
NESTED_TYPES = frozenset({"criteria_option"})


class UndefinedScoreWarning(UserWarning):
    """A criterion has no values for its options: an option can be selected, but there is no score."""


class EvenhandCriterion(CriteriaWithOptions):
    """A criterion with options that also has a scale, a weight and NA options.

    Attributes:
        scale: ``binary``, ``ordinal`` or ``nominal``.
        weight: What it counts in a rubric; negative for a fault.
        na_options: Names of the options that say that the criterion does not apply; they have no value.
    """

    scale: str = "ordinal"
    weight: float = 1.0
    na_options: List[str] = []

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Criterion`."""
        super().verify()
        criterion_from_artifact(self)


def criterion_from_artifact(artifact: CriteriaWithOptions) -> Criterion:
    """The frozen value of an artifact with options.

    An artifact without an option map, or whose map leaves an option out, has no scores: values are not invented. The
    conversion warns (:class:`UndefinedScoreWarning`), the judge selects options, and every score stays undefined.

    Raises:
        InvalidCriterionError: If the artifact contradicts itself.
    """
    na_options = {fold_label(name) for name in getattr(artifact, "na_options", None) or ()}
    values = {fold_label(str(name)): value for name, value in (artifact.option_map or {}).items()}
    names = [fold_label(option.name) for option in artifact.options]
    _check_names(artifact, "option_map", set(values), names)
    _check_names(artifact, "na_options", na_options, names)
    try:
        options = tuple(
            Option(
                label=option.name,
                value=None if name in na_options else values.get(name),
                description=option.description or "",
                na=name in na_options,
            )
            for option, name in zip(artifact.options, names, strict=True)
        )
    except ValidationError as error:
        raise InvalidCriterionError(
            f"the options of the criterion {artifact.name!r} cannot be read: {error}"
        ) from error
    unvalued = [option.label for option in options if not option.na and option.value is None]
    if unvalued:
        warnings.warn(
            f"the criterion {artifact.name!r} gives no value to {unvalued!r}, so its score is undefined: options are "
            "selected, and every score is missing. Add an option_map with a value in [0, 1] for each option",
            UndefinedScoreWarning,
            stacklevel=2,
        )
        options = tuple(Option(label=option.label, description=option.description, na=option.na) for option in options)
    return Criterion(
        name=artifact.name,
        description=artifact.description,
        options=options,
        scale=_scale_of(artifact, options),
        weight=getattr(artifact, "weight", 1.0),
        prediction_field=artifact.prediction_field,
        context_fields=context_mapping(artifact.context_fields),
    )


def comparison_from_artifact(artifact: Criteria, *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """The pairwise criterion of an artifact; the options of an artifact that has some play no part."""
    return comparison_criterion(
        artifact.name,
        artifact.description,
        allow_ties=allow_ties,
        graded=graded,
        context_fields=context_mapping(artifact.context_fields),
        prediction_field=artifact.prediction_field,
    )


def artifact_from_criterion(criterion: Criterion) -> EvenhandCriterion:
    """The artifact of a frozen value, for the catalog and for unitxt's own judges."""
    return EvenhandCriterion(
        name=criterion.name,
        description=criterion.description,
        scale=criterion.scale,
        weight=criterion.weight,
        prediction_field=criterion.prediction_field,
        context_fields=dict(criterion.context_fields) or None,
        options=[CriteriaOption(name=option.label, description=option.description) for option in criterion.options],
        option_map={option.label: option.value for option in criterion.options if option.value is not None} or None,
        na_options=[option.label for option in criterion.options if option.na],
    )


def context_mapping(fields: Union[str, Sequence[str], Mapping[str, str], None]) -> dict[str, str]:
    """Context fields in any of unitxt's forms, as name shown -> field read.

    >>> context_mapping(["question", "context"])
    {'question': 'question', 'context': 'context'}
    """
    if not fields:
        return {}
    if isinstance(fields, str):
        return {fields: fields}
    if isinstance(fields, Mapping):
        return dict(fields)
    if not isinstance(fields, Sequence):
        raise InvalidInputError(
            f"context_fields is {fields!r}; give a field name, a list of them, or a mapping name shown -> field"
        )
    return {field: field for field in fields}


def load_criterion(reference: object) -> Criterion:
    """A criterion with options from a catalog id, a JSON file, a dict, a JSON text, an artifact or a frozen value.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion with options.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(reference, Criterion):
        return reference
    artifact = load_criteria_artifact(reference)
    if not isinstance(artifact, CriteriaWithOptions):
        raise ArtifactError(
            f"{_shown(reference)} is a criterion without options, which fits a comparison; direct assessment needs "
            "one with options, such as 'criteria.evenhand.direct.relevance'"
        )
    return criterion_from_artifact(artifact)


def load(reference: object) -> Criterion:
    """The criterion that a catalog id, a JSON file, a dict, a JSON text or an artifact stands for.

    Without options it is the criterion of a comparison.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(reference, Criterion):
        return reference
    artifact = load_criteria_artifact(reference)
    return criterion_from_artifact(artifact) if isinstance(artifact, CriteriaWithOptions) else load_comparison(artifact)


def load_comparison(reference: object, *, allow_ties: bool = False, graded: bool = False) -> Criterion:
    """The pairwise criterion from a catalog id, a JSON file, a dict, a JSON text, an artifact or a frozen value.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criterion.
    """
    if isinstance(reference, Criterion):
        if reference.scale == "pairwise":
            return reference
        return comparison_criterion(
            reference.name,
            reference.description,
            allow_ties=allow_ties,
            graded=graded,
            context_fields=reference.context_fields,
            prediction_field=reference.prediction_field,
        )
    return comparison_from_artifact(load_criteria_artifact(reference), allow_ties=allow_ties, graded=graded)


def load_criteria_artifact(reference: object) -> Criteria:
    """A criteria artifact, and nothing else: the type is read before anything is built.

    Data rows may name their criterion, so a reference is not trusted to be harmless: a catalog entry, file or dict
    whose type, or a type nested in it, is not one of the criteria types is refused without being instantiated.

    Raises:
        ArtifactError: If there is no such artifact, or it is not a criteria artifact.
    """
    if isinstance(reference, Criteria):
        return reference
    if isinstance(reference, Artifact):
        raise ArtifactError(f"{_shown(reference)} is a {type(reference).__name__}, not a criterion")
    register_catalog()
    description = _describe(reference)
    _check_types(description, _shown(reference))
    artifact: Criteria = fetch_artifact(description)[0]
    return artifact


def _describe(reference: object) -> dict[str, Any]:
    """The JSON object that a reference stands for, unbuilt."""
    if isinstance(reference, Mapping):
        return json.loads(json.dumps(reference))  # type: ignore[no-any-return] # a mapping becomes a JSON object
    if isinstance(reference, Path) or (isinstance(reference, str) and reference.strip().endswith(".json")):
        return _read_object(Path(reference).expanduser())
    if not isinstance(reference, str):
        raise ArtifactError(
            f"{_shown(reference)} is a {type(reference).__name__}; give a catalog id such as "
            "'criteria.evenhand.direct.relevance', the path of a JSON file, a dict, or a criterion"
        )
    if reference.lstrip().startswith("{"):
        return _parsed(reference, "the JSON text")
    return _catalog_entry(reference)


def _catalog_entry(identifier: str) -> dict[str, Any]:
    try:
        path, overrides = local_entry(identifier)
    except LookupError as error:
        raise ArtifactError(
            f"no local catalog holds the criterion {identifier!r}. {did_you_mean(identifier, criteria_ids())}"
        ) from error
    entry = _read_object(path)
    if entry.get("__type__") == "artifact_link":
        return _catalog_entry(str(entry["to"]))
    return {**entry, **overrides}


def criteria_ids(mode: str | None = None) -> list[str]:
    """The ids of evenhand's own criteria, sorted; ``mode`` is ``direct``, ``pairwise`` or None for all."""
    root = register_catalog() / "criteria" / "evenhand"
    return sorted(
        "criteria.evenhand." + ".".join(path.relative_to(root).with_suffix("").parts)
        for path in (root / mode if mode else root).rglob("*.json")
    )


def _read_object(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArtifactError(f"the criterion file {str(path)!r} cannot be read ({error.strerror})") from error
    return _parsed(text, f"the criterion file {str(path)!r}")


def _parsed(text: str, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ArtifactError(f"{what} is not JSON (line {error.lineno}: {error.msg})") from error
    if not isinstance(value, dict):
        raise ArtifactError(f"{what} is a JSON {type(value).__name__}; a criterion is an object")
    return value


def _check_types(description: dict[str, Any], shown: str) -> None:
    found = description.get("__type__")
    if found not in CRITERION_TYPES:
        raise ArtifactError(
            f"{shown} has the type {found!r}, which is not a criterion; accepted: {sorted(CRITERION_TYPES)!r}"
        )
    for value in description.values():
        for nested in _nested_types(value):
            if nested not in NESTED_TYPES:
                raise ArtifactError(f"{shown} contains an artifact of the type {nested!r}; a criterion may not")


def _nested_types(value: object) -> list[object]:
    if isinstance(value, dict):
        own = [value["__type__"]] if "__type__" in value else []
        return own + [found for item in value.values() for found in _nested_types(item)]
    if isinstance(value, list):
        return [found for item in value for found in _nested_types(item)]
    return []


def _check_names(artifact: Criteria, field: str, given: set[str], names: list[str]) -> None:
    unknown = sorted(given - set(names))
    if unknown:
        raise InvalidCriterionError(
            f"the {field} of the criterion {artifact.name!r} names {unknown!r}, which are not among its options. "
            f"{did_you_mean(unknown[0], names)}"
        )


def _scale_of(artifact: CriteriaWithOptions, options: tuple[Option, ...]) -> Scale:
    """The artifact's own scale; for unitxt's: binary for two options with different values, else ordinal."""
    if isinstance(artifact, EvenhandCriterion):
        if artifact.scale not in SCALES:
            raise InvalidCriterionError(
                f"the scale of the criterion {artifact.name!r} is {artifact.scale!r}. "
                + did_you_mean(artifact.scale, SCALES)
            )
        return cast(Scale, artifact.scale)
    scored = [option.value for option in options if not option.na]
    return "binary" if len(scored) == 2 and scored[0] != scored[1] else "ordinal"


def _shown(reference: object) -> str:
    text = repr(reference)
    return text if len(text) <= 200 else text[:197] + "..."


def check_entry(path: Path) -> Union[str, None]:
    """What is wrong with a catalog entry, or None: it must build, say what it is, and come back from its own JSON."""
    entry = _read_object(path)
    for field in ("__description__", "__tags__"):
        if not entry.get(field):
            return f"has no {field}"
    try:
        artifact = Artifact.load(str(path))
    except Exception as error:  # noqa: BLE001 - unitxt raises many kinds; the caller is told which
        return f"cannot be built: {error}"
    if json.loads(artifact.to_json()) != {key: value for key, value in entry.items() if key != "__id__"}:
        return "changes when it is built and written again"
    return None

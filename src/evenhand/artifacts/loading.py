"""One door to criteria, rubrics and checklists, whatever a reference turns out to be."""

from __future__ import annotations

from typing import Any

from evenhand.artifacts.checklists import EvenhandChecklist, load_checklist
from evenhand.artifacts.criteria import load_any_criterion
from evenhand.artifacts.references import Kind, Referent, resolve
from evenhand.artifacts.rubrics import EvenhandRubric, load_rubric
from evenhand.criteria import Checklist, Criterion, Rubric
from evenhand.documents import CRITERION_FIELDS
from evenhand.errors import ArtifactError
from evenhand.unitxt_bases import Artifact


def load(reference: object) -> Criterion | Rubric | Checklist:
    """The criterion, rubric or checklist that a reference stands for.

    A mapping with ``criteria`` or ``sections`` is a rubric, one with ``items`` a checklist, any other a criterion
    (without options it is that of a comparison). A list is what its mappings are: a checklist if they have questions,
    a rubric if they have requirements.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a dict, a list, a JSON text, an artifact or a frozen
            value.

    Raises:
        ArtifactError: If there is no such thing, or it is none of the three.
        InvalidCriterionError: If it contradicts itself.
    """
    kind = kind_of(reference)
    if kind == "rubric":
        return load_rubric(reference)
    return load_checklist(reference) if kind == "checklist" else load_any_criterion(reference)


def kind_of(reference: object) -> Kind:
    """Whether a reference stands for a criterion, a rubric or a checklist; nothing is built.

    Raises:
        ArtifactError: If there is no such thing, or it may be more than one.
    """
    if isinstance(reference, (Rubric, EvenhandRubric)):
        return "rubric"
    if isinstance(reference, (Checklist, EvenhandChecklist)):
        return "checklist"
    if isinstance(reference, (Criterion, Artifact)):
        return "criterion"
    referent = resolve(reference)
    return _kind_of_list(referent) if isinstance(referent.data, list) else _kind_of_mapping(referent.data)


def _kind_of_mapping(data: Any) -> Kind:  # noqa: ANN401 - a file may hold anything
    fields = data if isinstance(data, dict) else {}
    kinds: dict[object, Kind] = {"evenhand_rubric": "rubric", "evenhand_checklist": "checklist"}
    if "__type__" in fields:
        named = fields["__type__"]
        return kinds.get(named, "criterion") if isinstance(named, str) else "criterion"
    if {"criteria", "sections"} & fields.keys():
        return "rubric"
    return "checklist" if "items" in fields else "criterion"


def _kind_of_list(referent: Referent) -> Kind:
    fields = {field for item in referent.data if isinstance(item, dict) for field in item}
    if "question" in fields:
        return "checklist"
    if fields & set(CRITERION_FIELDS):
        return "rubric"
    raise ArtifactError(
        f"{referent.what} is a list that may be a rubric or a checklist: give a mapping with criteria or items, or "
        "name what it is with load_rubric or load_checklist"
    )

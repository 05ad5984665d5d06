"""Rubrics and checklists as unitxt artifacts and as frozen values, and one door to them and to criteria.

An artifact holds the plain data of a document (see :mod:`evenhand.documents.rubrics` and
:mod:`evenhand.documents.checklists`), in the catalog as in a file that a user writes, and is read by the same reader.
"""

from collections.abc import Mapping
from typing import Any, Dict, List, Union

from evenhand.artifacts.criterion_artifacts import load_any_criterion, warn_without_values
from evenhand.artifacts.references import Kind, Referent, document_of, names_a_file, resolve, shown
from evenhand.criteria import Checklist, Criterion, Rubric
from evenhand.documents import CRITERION_FIELDS, checklist_document, read_checklist, read_rubric, rubric_document
from evenhand.errors import ArtifactError, InvalidCriterionError
from evenhand.unitxt_bases import Artifact, Maybe


class EvenhandChecklist(Artifact):
    """A list of yes/no questions about one response.

    Attributes:
        name: Names the score.
        description: What the checklist is for.
        prediction_field: The field that holds the response when predictions are not given.
        context_fields: What the judge is shown beside the response.
        items: Texts, or mappings with a question.
    """

    name: str
    description: str = ""
    prediction_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    items: List[Any]

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Checklist`."""
        super().verify()
        _frozen_checklist(self)


def load_checklist(reference: object) -> Checklist:
    """The checklist that a reference stands for.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a dict, a list of questions, a JSON text, an artifact
            or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is not a checklist.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(reference, Checklist):
        return reference
    if isinstance(reference, EvenhandChecklist):
        return _frozen_checklist(reference)
    if isinstance(reference, Artifact):
        raise ArtifactError(f"{shown(reference)} is a {type(reference).__name__}, not a checklist")
    referent = document_of(reference, "checklist")
    return read_checklist(referent.data, referent.what, name=referent.name or "checklist")


def load_checklist_of_row(given: object, what: str) -> Checklist:
    """The checklist that a row of data holds, or names by its catalog id. Files are not read.

    Args:
        given: A list of questions or of items, a mapping, a JSON text of one of these, or an id.
        what: It is called in messages.

    Raises:
        ArtifactError: If it is something else, or the id is not that of a checklist.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(given, str) and names_a_file(given):
        raise ArtifactError(
            f"{what} is {shown(given)}, the name of a file, and no file is read because a row of data names it: put "
            "the questions into the row, or the id of a checklist such as 'checklists.evenhand.summary'"
        )
    if not isinstance(given, (str, list, tuple, Mapping)) or not given:
        raise ArtifactError(
            f"{what} is {shown(given)}; a row's checklist is a list of questions, a list or mapping of items, or the "
            "id of a checklist such as 'checklists.evenhand.summary'"
        )
    try:
        return load_checklist(given)
    except ArtifactError as error:
        raise ArtifactError(f"{what}: {error}") from error
    except InvalidCriterionError as error:
        raise InvalidCriterionError(f"{what}: {error}") from error


def checklist_artifact(reference: object) -> EvenhandChecklist:
    """The artifact of a checklist, for the field of a metric: what is given is checked before anything is built.

    Args:
        reference: As for :func:`load_checklist`.

    Raises:
        ArtifactError: If there is no such thing, or it is not a checklist.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(reference, EvenhandChecklist):
        return reference
    return EvenhandChecklist(**checklist_document(load_checklist(reference)))


def _frozen_checklist(artifact: EvenhandChecklist) -> Checklist:
    fields = {field: getattr(artifact, field) for field in EvenhandChecklist.__annotations__}
    return read_checklist(fields, f"the checklist {artifact.name!r}")


class EvenhandRubric(Artifact):
    """Several criteria that together make one score.

    Attributes:
        name: Names the score.
        description: What the rubric is for.
        na_strategy: What a criterion that does not apply does: ``skip``, ``zero``, ``partial`` or ``fail``.
        na_partial: The value that ``partial`` counts, in [0, 1].
        prediction_field: The field that holds the response, for the criteria that name none.
        context_fields: What the judge is shown beside the response, for the criteria that say nothing about it.
        criteria: Texts, or mappings with a requirement; there are either criteria or sections.
        sections: Mappings with a name and criteria.
    """

    name: str
    description: str = ""
    na_strategy: str = "skip"
    na_partial: float = 0.5
    prediction_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    criteria: Maybe[List[Any]] = None
    sections: Maybe[List[Any]] = None

    def verify(self) -> None:
        """Check that the artifact is a valid :class:`~evenhand.criteria.Rubric`."""
        super().verify()
        _frozen_rubric(self)


def load_rubric(reference: object) -> Rubric:
    """The rubric that a reference stands for.

    Args:
        reference: A catalog id, the path of a YAML or JSON file, a dict, a list of criteria, a JSON text, an artifact
            or a frozen value.

    Raises:
        ArtifactError: If there is no such thing, or it is not a rubric.
        InvalidCriterionError: If it contradicts itself.
    """
    rubric = _read(reference)
    for criterion in rubric.criteria:
        warn_without_values(criterion)
    return rubric


def rubric_artifact(reference: object) -> EvenhandRubric:
    """The artifact of a rubric, for the field of a metric: what is given is checked before anything is built.

    Args:
        reference: As for :func:`load_rubric`.

    Raises:
        ArtifactError: If there is no such thing, or it is not a rubric.
        InvalidCriterionError: If it contradicts itself.
    """
    if isinstance(reference, EvenhandRubric):
        return reference
    return EvenhandRubric(**rubric_document(_read(reference)))


def _read(reference: object) -> Rubric:
    rubric = _found(reference)
    rubric.check_counts()
    return rubric


def _found(reference: object) -> Rubric:
    if isinstance(reference, Rubric):
        return reference
    if isinstance(reference, EvenhandRubric):
        return _frozen_rubric(reference)
    if isinstance(reference, Artifact):
        raise ArtifactError(f"{shown(reference)} is a {type(reference).__name__}, not a rubric")
    referent = document_of(reference, "rubric")
    return read_rubric(referent.data, referent.what, name=referent.name or "rubric")


def _frozen_rubric(artifact: EvenhandRubric) -> Rubric:
    fields = {field: getattr(artifact, field) for field in EvenhandRubric.__annotations__}
    return read_rubric(fields, f"the rubric {artifact.name!r}")


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


def _kind_of_mapping(data: Any) -> Kind:
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

"""Rubrics as unitxt artifacts and as frozen values.

An artifact holds its criteria as the plain data of a rubric's document (see :mod:`evenhand.documents.rubrics`), in the
catalog as in a file that a user writes, and is read by the same reader.
"""

from typing import Any, Dict, List, Union

from evenhand.artifacts.criteria import warn_without_values
from evenhand.artifacts.references import document_of, shown
from evenhand.criteria import Rubric
from evenhand.documents import read_rubric, rubric_document
from evenhand.errors import ArtifactError
from evenhand.unitxt_bases import Artifact, Maybe


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
        _frozen(self)


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
        return _frozen(reference)
    if isinstance(reference, Artifact):
        raise ArtifactError(f"{shown(reference)} is a {type(reference).__name__}, not a rubric")
    referent = document_of(reference, "rubric")
    return read_rubric(referent.data, referent.what, name=referent.name or "rubric")


def _frozen(artifact: EvenhandRubric) -> Rubric:
    fields = {field: getattr(artifact, field) for field in EvenhandRubric.__annotations__}
    return read_rubric(fields, f"the rubric {artifact.name!r}")

"""Checklists as unitxt artifacts and as frozen values.

An artifact holds its items as the plain data of a checklist's document (see :mod:`evenhand.documents.checklists`), in
the catalog as in a file that a user writes, and is read by the same reader.
"""

from collections.abc import Mapping
from typing import Any, Dict, List, Union

from evenhand.artifacts.references import document_of, names_a_file, shown
from evenhand.criteria import Checklist
from evenhand.documents import checklist_document, read_checklist
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
        _frozen(self)


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
        return _frozen(reference)
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


def _frozen(artifact: EvenhandChecklist) -> Checklist:
    fields = {field: getattr(artifact, field) for field in EvenhandChecklist.__annotations__}
    return read_checklist(fields, f"the checklist {artifact.name!r}")

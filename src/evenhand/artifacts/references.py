"""What a reference to a criterion, a rubric or a checklist stands for, as plain data. Nothing is built.

A reference is a catalog id, the path of a JSON or YAML file, a JSON text, a mapping or a list.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evenhand.catalogs import entry_ids, local_entry, read_object
from evenhand.documents import parse_json, plain, read_document
from evenhand.errors import ArtifactError, did_you_mean

Kind = Literal["criterion", "rubric", "checklist"]
FOLDERS: Mapping[Kind, str] = {"criterion": "criteria", "rubric": "rubrics", "checklist": "checklists"}
EXAMPLES: Mapping[Kind, str] = {
    "criterion": "criteria.evenhand.direct.relevance",
    "rubric": "rubrics.evenhand.summarization",
    "checklist": "checklists.evenhand.summary",
}
FILE_ENDINGS = (".json", ".yaml", ".yml")
_UNREAD = frozenset({"data_classification_policy"})
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Referent:
    """What a reference stands for.

    Attributes:
        data: A mapping, or a list where the reference is or holds one.
        what: What messages call it.
        name: What it may be called when it does not say so itself: the name of its file or entry.
    """

    data: Any
    what: str
    name: str | None = None


def resolve(reference: object, kind: Kind | None = None) -> Referent:
    """What a reference stands for.

    Args:
        reference: A catalog id, the path of a JSON or YAML file, a JSON text, a mapping or a list.
        kind: What is expected, for messages; None for any kind.

    Raises:
        ArtifactError: If there is no such thing, or it cannot be read.
    """
    if isinstance(reference, Mapping):
        return Referent(plain(dict(reference), shown(reference)), shown(reference))
    if isinstance(reference, (list, tuple)):
        return Referent(plain(list(reference), shown(reference)), shown(reference))
    if isinstance(reference, str) and reference.lstrip().startswith(("{", "[")):
        return Referent(parse_json(reference, "the JSON text"), shown(reference))
    if isinstance(reference, Path) or (isinstance(reference, str) and names_a_file(reference)):
        path = Path(reference).expanduser()
        what = f"the {kind} file {str(path)!r}" if kind else f"the file {str(path)!r}"
        return Referent(read_document(path, what), what, path.stem)
    if isinstance(reference, str):
        return Referent(
            _catalog_object(reference, kind), shown(reference), reference.partition("[")[0].rpartition(".")[2]
        )
    raise ArtifactError(
        f"{shown(reference)} is a {type(reference).__name__}; give a catalog id such as "
        f"{EXAMPLES[kind or 'criterion']!r}, the path of a JSON or YAML file, a dict, or a {kind or 'criterion'}"
    )


def document_of(reference: object, kind: Kind) -> Referent:
    """What a reference to a rubric or a checklist stands for, without what only the catalog says about it.

    Raises:
        ArtifactError: If there is no such thing, or its ``__type__`` is another.
    """
    found = resolve(reference, kind)
    if not isinstance(found.data, dict) or "__type__" not in found.data:
        return found
    named, expected = found.data["__type__"], f"evenhand_{kind}"
    if named != expected:
        raise ArtifactError(f"{found.what} has the type {named!r}, which is not a {kind}; accepted: {expected!r}")
    own = {field: value for field, value in found.data.items() if not field.startswith("__") and field not in _UNREAD}
    return replace(found, data=own)


def shown(reference: object) -> str:
    """A reference as messages show it."""
    text = repr(reference)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def names_a_file(reference: str) -> bool:
    """Whether a text is a path: neither JSON nor a catalog id, which has no slash and no ending of a file."""
    if reference.lstrip().startswith(("{", "[")):
        return False
    return (
        reference.strip().lower().endswith(FILE_ENDINGS)
        or "/" in reference.partition("[")[0]
        or os.sep in reference.partition("[")[0]
    )


def _catalog_object(identifier: str, kind: Kind | None) -> dict[str, Any]:
    try:
        path, overrides = local_entry(identifier)
    except LookupError as error:
        folders = [FOLDERS[kind]] if kind else list(FOLDERS.values())
        known = [entry for folder in folders for entry in entry_ids(folder)]
        raise ArtifactError(
            f"no local catalog holds the {kind or 'entry'} {identifier!r}. {did_you_mean(identifier, known)}"
        ) from error
    entry = read_object(path, f"the catalog entry {str(path)!r}")
    if entry.get("__type__") == "artifact_link":
        entry = _catalog_object(str(entry.get("to")), kind)
    return {**entry, **overrides}

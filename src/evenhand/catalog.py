"""evenhand's own catalog: its folder, its ids and its entries, read without unitxt."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from evenhand.data.plain import read_document
from evenhand.errors import ArtifactError, did_you_mean

KINDS: Final = {
    "criteria": "criterion",
    "rubrics": "rubric",
    "checklists": "checklist",
    "engines": "engine",
    "metrics": "metric",
}
"""The folders of the catalog, and their contents."""

HOW_TO_GIVE_AN_ENGINE: Final = (
    "Give one in any of four ways: the name of a model as litellm has it, such as 'openai/gpt-4.1-mini', or the "
    "address of a server with its model, such as 'http://localhost:8000/v1[model=qwen3-8b]'; a catalog id such as "
    "'engines.evenhand.litellm[model=openai/gpt-4.1-mini]'; an engine of unitxt or evenhand, such as "
    "CrossProviderInferenceEngine(model=…); or an object with the methods of evenhand.engines.base.JudgeEngine"
)

_ID = re.compile(r"[\w-]+(\.[\w-]+)+")


def catalog_path() -> Path:
    """Return the folder of the catalog, in an installed wheel and in an editable install alike.

    Raises:
        ArtifactError: If the installation has none.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "catalog", package.parents[1] / "catalog"):
        if (candidate / "criteria" / "evenhand").is_dir():
            return candidate
    raise ArtifactError(f"this installation of evenhand has no catalog in {str(package)!r}: install it again")


def catalog_entries() -> dict[str, Path]:
    """Return the ids of everything in evenhand's own catalog, sorted, and their files."""
    root = catalog_path()
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}


def own_entry(identifier: str) -> Path | None:
    """Return the file of an id of evenhand's own catalog; None if it has no such id.

    >>> own_entry("criteria.evenhand.direct.relevance").name, own_entry("metrics.accuracy")
    ('relevance.json', None)
    """
    if _ID.fullmatch(identifier) is None:
        return None
    path = catalog_path().joinpath(*identifier.split(".")).with_suffix(".json")
    return path if path.is_file() else None


def read_entry(path: Path) -> dict[str, Any]:
    """Return the JSON object in the file of a catalog entry.

    Raises:
        ArtifactError: If it cannot be read, or is something else.
    """
    what = f"the catalog entry {str(path)!r}"
    entry = read_document(path, what)
    if not isinstance(entry, dict):
        raise ArtifactError(f"{what} is a JSON {type(entry).__name__}; it must be an object")
    return entry


def unknown_id(identifier: str, kind: str | None = None) -> ArtifactError:
    """Return the error for an id that no catalog holds, with the nearest that there is.

    Args:
        identifier: As it was given, without what stands in brackets behind it.
        kind: The expected kind; by default what the id's first word says, or anything that can be judged by.
    """
    kind = kind or KINDS.get(identifier.partition(".")[0])
    folders = [folder for folder in KINDS if kind == KINDS[folder]] or ["criteria", "rubrics", "checklists"]
    known = [entry for entry in catalog_entries() if entry.partition(".")[0] in folders]
    last_word = identifier.rpartition(".")[2]
    meant = next((entry for entry in known if entry.rpartition(".")[2] == last_word), identifier)
    return ArtifactError(f"no local catalog holds the {kind or 'entry'} {identifier!r}. {did_you_mean(meant, known)}")


_CONSTANTS = {"None": None, "True": True, "true": True, "False": False, "false": False}


def read_brackets(name: str, brackets: str) -> dict[str, Any]:
    """Return what stands in brackets behind an id, as unitxt reads it: ``[a=1,b=[x,y],c={d=None}]``.

    Raises:
        ArtifactError: If it is something else than options; it is not shown, in case it is a key.

    >>> read_brackets("engines.mine", "[temperature=1e-5, stop=[END,2], extra={top_k=1}, seed=None]")
    {'temperature': 1e-05, 'stop': ['END', 2], 'extra': {'top_k': 1}, 'seed': None}
    """
    pieces = [piece.strip() for piece in re.findall(r"[\[\]{},=]|[^\[\]{},=]+", brackets)]
    pieces = [piece for piece in pieces if piece]
    if not pieces:
        return {}
    inner = [{"=": ":"}.get(each, each) if each in "[]{},=" else json.dumps(_scalar(each)) for each in pieces[1:-1]]
    try:
        if [pieces[0], pieces[-1]] != ["[", "]"]:
            raise ValueError(pieces)  # noqa: TRY301 - as json does where the rest is not of the form
        fields: dict[str, Any] = json.loads(f"{{{' '.join(inner)}}}")
    except ValueError:
        raise ArtifactError(
            f"'{name}[…]' is not of the form id[name=value,…] (what is in its brackets is not shown here, "
            "in case it is secret)"
        ) from None
    return fields


def _scalar(text: str) -> object:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) else text

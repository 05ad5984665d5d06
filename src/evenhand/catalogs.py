"""Where the catalog lies, what it holds, and making unitxt search it."""

import json
from pathlib import Path
from typing import Any

from evenhand.documents import read_document
from evenhand.errors import ArtifactError
from evenhand.unitxt_bases import (
    Artifact,
    Catalogs,
    LocalCatalog,
    own_words,
    register_local_catalog,
    separate_overrides,
)


def catalog_path() -> Path:
    """The folder of the catalog, in an installed wheel and in an editable install alike.

    Raises:
        ArtifactError: If the installation has none.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "catalog", package.parents[1] / "catalog"):
        if (candidate / "criteria" / "evenhand").is_dir():
            return candidate
    raise ArtifactError(f"this installation of evenhand has no catalog in {str(package)!r}: install it again")


def register_catalog() -> Path:
    """Add the catalog to those that unitxt searches, and return its folder. Doing it twice is harmless."""
    path = catalog_path()
    register_local_catalog(str(path))
    return path


def catalog_entries() -> dict[str, Path]:
    """The ids of everything in evenhand's own catalog, sorted, and their files."""
    root = catalog_path()
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}


def entry_ids(prefix: str) -> list[str]:
    """The ids of evenhand's own entries below a prefix such as ``rubrics``, sorted."""
    return sorted(identifier for identifier in catalog_entries() if identifier.startswith(f"{prefix}.evenhand."))


def local_entry(identifier: str) -> tuple[Path, dict[str, Any]]:
    """The file of a catalog id, and what ``[name=value]`` behind the id overrides. Nothing is built.

    Only catalogs on this machine are searched: unitxt would ask its catalog on the network about an unknown id.

    Raises:
        LookupError: If no local catalog has the id.
        ArtifactError: If what is behind the id is not ``[name=value,…]``.
    """
    register_catalog()
    try:
        name, overrides = separate_overrides(identifier)
    except ValueError as error:
        raise ArtifactError(f"{identifier!r} is not of the form id[name=value,…]: {own_words(error)}") from error
    for catalog in Catalogs():
        if name.strip() and isinstance(catalog, LocalCatalog) and catalog.is_local and name in catalog:
            return Path(catalog.path(name)), overrides or {}
    raise LookupError(f"no local catalog holds {name!r}")


def read_object(path: Path, what: str) -> dict[str, Any]:
    """The JSON object in a file.

    Args:
        path: The file.
        what: It is called in messages.

    Raises:
        ArtifactError: If it cannot be read, or is something else.
    """
    value = read_document(path, what)
    if not isinstance(value, dict):
        raise ArtifactError(f"{what} is a JSON {type(value).__name__}; it must be an object")
    return value


def check_entry(path: Path) -> str | None:
    """What is wrong with a catalog entry, or None: it must build, say what it is, and come back from its own JSON."""
    entry = read_object(path, f"the catalog entry {str(path)!r}")
    for field in ("__description__", "__tags__"):
        if not entry.get(field):
            return f"has no {field}"
    try:
        artifact = Artifact.load(str(path))
    except Exception as error:  # noqa: BLE001 - unitxt raises many kinds; the caller is told which
        return f"cannot be built: {own_words(error)}"
    if json.loads(artifact.to_json()) != {key: value for key, value in entry.items() if key != "__id__"}:
        return "changes when it is built and written again"
    return None

"""Where the catalog lies, and making unitxt search it."""

from pathlib import Path
from typing import Any

from evenhand.errors import ArtifactError
from evenhand.unitxt_bases import Catalogs, LocalCatalog, register_local_catalog, separate_overrides


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


def local_entry(identifier: str) -> tuple[Path, dict[str, Any]]:
    """The file of a catalog id, and what ``[name=value]`` behind the id overrides. Nothing is built.

    Only catalogs on this machine are searched: unitxt would ask its catalog on the network about an unknown id.

    Raises:
        LookupError: If no local catalog has the id.
    """
    register_catalog()
    try:
        name, overrides = separate_overrides(identifier)
    except ValueError as error:
        raise LookupError(str(error)) from error
    for catalog in Catalogs():
        if name.strip() and isinstance(catalog, LocalCatalog) and catalog.is_local and name in catalog:
            return Path(catalog.path(name)), overrides or {}
    raise LookupError(f"no local catalog holds {name!r}")

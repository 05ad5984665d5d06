"""Where the catalog lies, and making unitxt search it."""

from pathlib import Path

from evenhand.errors import ArtifactError
from evenhand.unitxt_bases import register_local_catalog


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

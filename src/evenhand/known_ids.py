"""The ids of evenhand's own catalog, looked up in its files before anything is imported that takes seconds."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from evenhand.errors import ArtifactError, did_you_mean

KINDS: Final = {
    "criteria": "criterion",
    "rubrics": "rubric",
    "checklists": "checklist",
    "engines": "engine",
    "metrics": "metric",
}
"""The folders of the catalog, and what lies in each."""

_OWN_ID = re.compile(rf"(({'|'.join(KINDS)})\.evenhand(?:\.\w+)+)(\[.*)?", re.DOTALL)
_FURTHER_CATALOGS = ("UNITXT_CATALOGS", "UNITXT_ARTIFACTORIES")


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


def catalog_entries() -> dict[str, Path]:
    """The ids of everything in evenhand's own catalog, sorted, and their files."""
    root = catalog_path()
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in sorted(root.rglob("*.json"))}


def entry_ids(prefix: str) -> list[str]:
    """The ids of evenhand's own entries below a prefix such as ``rubrics``, sorted."""
    return sorted(identifier for identifier in catalog_entries() if identifier.startswith(f"{prefix}.evenhand."))


def unknown_id(identifier: str, kind: str | None = None) -> ArtifactError:
    """The error for an id that no catalog holds, with the nearest that there is.

    Args:
        identifier: As it was given, without what stands in brackets behind it.
        kind: What is expected; by default what the id's first word says, or anything that can be judged by.
    """
    kind = kind or KINDS.get(identifier.partition(".")[0])
    folders = [folder for folder in KINDS if kind == KINDS[folder]] or ["criteria", "rubrics", "checklists"]
    known = [entry for folder in folders for entry in entry_ids(folder)]
    return ArtifactError(
        f"no local catalog holds the {kind or 'entry'} {identifier!r}. {did_you_mean(identifier, known)}"
    )


def check_ids(given: Iterable[object]) -> None:
    """Check what is one of our own ids by its form, or several, against the files of the catalog.

    Nothing is checked once unitxt is loaded, or where its settings name further catalogs: these may hold the id, and
    whoever loads it says so.

    Args:
        given: Arguments of a function or of the command; what is no id is not looked at.

    Raises:
        ArtifactError: If an id is in no catalog.
    """
    if "unitxt" in sys.modules or any(os.environ.get(name) for name in _FURTHER_CATALOGS):
        return
    for each in given:
        several = isinstance(each, (list, tuple)) and each and isinstance(each[0], str)
        for word in each if several else [each]:  # type: ignore[attr-defined] # a list or a tuple
            found = _OWN_ID.fullmatch(word) if isinstance(word, str) else None
            if found and not (catalog_path() / Path(*found[1].split("."))).with_suffix(".json").is_file():
                raise unknown_id(found[1])


class Deferred:
    """A public function whose module takes seconds to import: it is imported when the function is called.

    A mistyped id is told before that. Once the module is loaded, the facade gives the function itself.

    Args:
        home: Its module.
        name: Its name there.
    """

    def __init__(self, home: str, name: str) -> None:
        self.__module__ = home
        self.__name__ = self.__qualname__ = name

    def __call__(self, *given: object, **options: object) -> Any:  # noqa: ANN401 - whatever the function returns
        """Check the ids among the arguments, and call the function."""
        check_ids([*given, *options.values()])
        return self.__wrapped__(*given, **options)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function."""
        function: Callable[..., Any] = getattr(import_module(self.__module__), self.__name__)
        return function

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the function."""
        return inspect.signature(self.__wrapped__)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override] # of each function its own
        """That of the function."""
        return self.__wrapped__.__doc__

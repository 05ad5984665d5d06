"""``evenhand catalog`` and ``evenhand unitxt``: the entries of the catalog, and unitxt's own command line with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from evenhand.catalog import catalog_entries
from evenhand.cli.output import complain, say
from evenhand.data.plain import read_document
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded

EXIT_UNSOUND = 1
catalog = App(name="catalog", group="Maintenance", help="List, show and check the entries of the catalog.")


@catalog.command(name="list")
def list_entries(part: str = "", /) -> int:
    """List the ids and descriptions of the entries.

    Args:
        part: Part of an id.
    """
    for identifier, path in catalog_entries().items():
        if part in identifier:
            description = json.loads(path.read_text(encoding="utf-8")).get("__description__", "")
            say(f"{identifier:<58} {description}")
    return 0


@catalog.command(name="show")
def show_entry(identifier: Annotated[str, Parameter(name="ID")], /) -> int:
    """Print an entry."""
    say(_entry(identifier).read_text(encoding="utf-8").rstrip("\n"))
    return 0


@catalog.command(name="check")
def check_entries(entry: str | None = None, /) -> int:
    """Build the entries of the catalog, and name those that cannot be built.

    Args:
        entry: An id, or a file of your own with a criterion, rubric, checklist or entry.
    """
    from evenhand.metrics import register  # noqa: PLC0415 - seconds of import

    register()
    entries = catalog_entries()
    if entry is not None:
        path = expanded(entry)
        entries = {entry: path if entry not in entries and path.exists() else _entry(entry)}
    faults = {identifier: fault for identifier, path in entries.items() if (fault := _fault(path))}
    for identifier, fault in faults.items():
        complain(f"{identifier}: {fault}")
    say(f"{len(entries) - len(faults)} of {len(entries)} {'entry is' if len(entries) == 1 else 'entries are'} sound")
    return EXIT_UNSOUND if faults else 0


def _entry(identifier: str) -> Path:
    entries = catalog_entries()
    if identifier not in entries:
        raise InvalidInputError(f"the catalog has no entry {identifier!r}. {did_you_mean(identifier, entries)}")
    return entries[identifier]


def _fault(path: Path) -> str | None:
    """Return the fault of an entry, or of a criterion, rubric or checklist that a user wrote; None for no fault."""
    from evenhand.unitxt.bases import Artifact, own_words  # noqa: PLC0415 - seconds of import
    from evenhand.unitxt.loading import load  # noqa: PLC0415 - as above

    data = read_document(path, f"the file {str(path)!r}")
    is_entry = isinstance(data, dict) and any(field.startswith("__") for field in data)
    try:
        Artifact.load(str(path)) if is_entry else load(path)
    except Exception as error:  # noqa: BLE001 - unitxt raises many kinds
        return own_words(error)
    return None


unitxt = App(name="unitxt", group="Maintenance", help_flags=[], version_flags=[], end_of_options_delimiter="")


@unitxt.default
def run_unitxt(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Run unitxt-evaluate with evenhand's catalog registered; all options are unitxt's."""
    from evenhand.metrics import register  # noqa: PLC0415 - seconds of import
    from evenhand.unitxt.bases import evaluate_recipes  # noqa: PLC0415 - as above

    register()
    evaluate_recipes(arguments)
    return 0

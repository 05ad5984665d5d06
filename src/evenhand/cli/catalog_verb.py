"""``evenhand catalog`` and ``evenhand unitxt``: the entries of the catalog, and unitxt's own command line with them."""

from __future__ import annotations

import json
from typing import Annotated

from cyclopts import App, Parameter

from evenhand.catalog import catalog_entries
from evenhand.cli.output import say
from evenhand.errors import check_known

catalog = App(name="catalog", group="Maintenance", help="List and show the entries of the catalog.")


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
    entries = catalog_entries()
    check_known(identifier, entries, f"the catalog has no entry {identifier!r}")
    say(entries[identifier].read_text(encoding="utf-8").rstrip("\n"))
    return 0


unitxt = App(name="unitxt", group="Maintenance", help_flags=[], version_flags=[], end_of_options_delimiter="")


@unitxt.default
def run_unitxt(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Run unitxt-evaluate with evenhand's catalog registered; all options are unitxt's."""
    from evenhand.metrics import register  # noqa: PLC0415 - seconds of import
    from evenhand.unitxt.bases import evaluate_recipes  # noqa: PLC0415 - as above

    register()
    evaluate_recipes(arguments)
    return 0

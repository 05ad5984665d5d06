"""``evenhand checklist``: answer yes/no questions about the responses of a data set."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from evenhand.cli.options import (
    add_data_options,
    add_options,
    add_run_options,
    add_verb,
    check_out,
    column_pairs,
    given_options,
    print_estimate,
    run_options,
    system_names,
    text_or_file,
)
from evenhand.numbers import format_count
from evenhand.run_options import ChecklistOptions


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    summary = "Answer the yes/no questions of a checklist about the responses of a data set."
    verb = add_verb(verbs, "checklist", summary, _run)
    add_data_options(verb)
    asked = verb.add_mutually_exclusive_group(required=True)
    asked.add_argument("--checklist", metavar="ID|FILE", help="the catalog id or YAML or JSON file of a checklist")
    asked.add_argument("--checklist-field", metavar="COLUMN", help="the column with each row's own checklist or its id")
    verb.add_argument("--response", required=True, nargs="+", metavar="COLUMN", help="response columns, one a system")
    verb.add_argument(
        "--gold", nargs="+", metavar="COLUMN|ITEM=COLUMN", help="answers that people gave: of all items, or of each"
    )
    _add_checklist_options(verb)
    add_run_options(verb)


def _add_checklist_options(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group("how to check (an item is asked in one order unless --check-positional-bias true)")
    add_options(group, ChecklistOptions)
    group.add_argument("--guidelines", metavar="TEXT|FILE", help="what the judge is told about judging")


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import checklist, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_out(options)
    given: dict[str, Any] = {
        "response_field": system_names(options.response, rows[0]),
        "checklist_field": options.checklist_field,
        "context_fields": column_pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        "gold_fields": _gold_fields(options.gold),
        **given_options(options, ChecklistOptions),
        "guidelines": text_or_file(options.guidelines) or "",
        **run_options(options),
    }
    if options.dry_run:
        print_estimate(checklist(rows, options.checklist, options.engine, dry_run=True, **given))
        return 0
    table = checklist(rows, options.checklist, options.engine, **given)
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.responses), 'checked response')} written to {options.out}")
    return 0


def _gold_fields(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """One column with the answers to all items, or ITEM=COLUMN texts."""
    if given is not None and len(given) == 1 and "=" not in given[0]:
        return given[0]
    return column_pairs(given, "--gold", bare=False)

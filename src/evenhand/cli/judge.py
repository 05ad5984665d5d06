"""``evenhand judge``: assess the responses of a data set against criteria."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand.cli.options import (
    add_data_options,
    add_run_options,
    add_verb,
    check_out,
    column_pairs,
    counted,
    print_estimate,
    run_options,
)


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "judge", "Assess the responses of a data set against criteria.", _run)
    add_data_options(verb)
    verb.add_argument(
        "--criteria", required=True, nargs="+", metavar="ID", help="catalog ids or JSON files of criteria"
    )
    verb.add_argument("--response", required=True, nargs="+", metavar="COLUMN", help="response columns, one a system")
    verb.add_argument("--gold", nargs="+", metavar="CRITERION=COLUMN", help="columns with labels that people gave")
    add_run_options(verb)


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import judge, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_out(options)
    given: dict[str, Any] = {
        "response_field": options.response,
        "context_fields": column_pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        "gold_fields": column_pairs(options.gold, "--gold", bare=False),
        **run_options(options),
    }
    if options.dry_run:
        print_estimate(judge(rows, options.criteria, options.engine, dry_run=True, **given))
        return 0
    table = judge(rows, options.criteria, options.engine, **given)
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{counted(len(table.judgements), 'verdict')} written to {options.out}")
    return 0

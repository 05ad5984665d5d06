"""``evenhand compare``: which of these systems is better, by how much, and how sure is that."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand.cli.options import (
    add_data_options,
    add_run_options,
    add_verb,
    check_out,
    column_pairs,
    print_estimate,
    run_options,
    system_names,
)
from evenhand.numbers import format_count


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "compare", "Compare the responses of several systems, pair by pair.", _run)
    add_data_options(verb)
    verb.add_argument("--criteria", required=True, metavar="ID", help="a catalog id or the JSON file of a criterion")
    verb.add_argument(
        "--systems",
        nargs="+",
        metavar="SYSTEM",
        help="the columns, one a system, apart by commas or spaces; with --systems-field the systems to compare",
    )
    long = verb.add_argument_group("data with one row a response")
    long.add_argument("--systems-field", metavar="COLUMN", help="the column that names the system")
    long.add_argument("--response", metavar="COLUMN", help="the column with the response")
    long.add_argument("--id-field", metavar="COLUMN", help="the column that names the prompt")
    group = verb.add_argument_group("what to compare")
    group.add_argument(
        "--design", default="all", help="all (default), baseline:SYSTEM, sample:PAIRS_A_PROMPT or swiss:ROUNDS"
    )
    group.add_argument("--allow-ties", action="store_true", help="offer the judge a tie")
    group.add_argument("--scale", default="choice", help="choice (default) or graded (five levels)")
    group.add_argument("--reduction", default="win_rate", help="win_rate (default) or weighted_win_rate (graded)")
    group.add_argument("--resamples", type=int, default=1000, help="for the expected ranks (default: 1000)")
    group.add_argument(
        "--gold", metavar="COLUMN", help="what a person preferred, a system or tie, as 'preferred_{first}_{second}'"
    )
    add_run_options(verb)


def _run(options: argparse.Namespace) -> int:
    from evenhand.data.fields import name_of  # noqa: PLC0415 - seconds of import
    from evenhand.tables import read_file, winrates  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_out(options)
    field = options.systems_field
    known = set(rows[0]) if field is None else {name_of(row.get(field)) for row in rows}
    given: dict[str, Any] = {
        "systems": system_names(options.systems, known),
        "criteria": options.criteria,
        "engine": options.engine,
        "systems_field": field,
        "response_field": options.response,
        "id_field": options.id_field,
        "context_fields": column_pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        "gold_field": options.gold,
        "design": options.design,
        "allow_ties": options.allow_ties,
        "scale": options.scale,
        "reduction": options.reduction,
        "resamples": options.resamples,
        **run_options(options),
    }
    if options.dry_run:
        print_estimate(winrates(rows, dry_run=True, **given))
        return 0
    table = winrates(rows, **given)
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.contests), 'contest')} written to {options.out}")
    return 0

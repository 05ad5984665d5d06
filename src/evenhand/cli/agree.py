"""``evenhand agree``: how far judges agree with people, and with each other."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand.cli.aggregate import add_vote_options, check_vote_options, vote_options
from evenhand.cli.options import add_verb
from evenhand.numbers import format_count


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "agree", "Say how far judges agree with people and with each other, without a call.", _run)
    add_vote_options(verb)
    verb.add_argument("--criteria", metavar="ID", help="what was voted on (default: the labels that occur, unordered)")
    verb.add_argument("--gold", nargs="+", metavar="COLUMN", help="columns with people's labels, one a person")


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import agreement, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_vote_options(options)
    table = agreement(rows, **vote_options(options))
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.pairs), 'pair')} written to {options.out}")
    return 0

"""``evenhand aggregate`` and ``evenhand agree``: what votes that were recorded elsewhere come to, without a call."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from evenhand.cli.options import add_as_index, add_options, add_verb, check_out, given_options
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_count
from evenhand.run_options import IntervalOptions


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verbs."""
    _add_aggregate(verbs)
    _add_agree(verbs)


def _add_aggregate(verbs: Any) -> None:  # noqa: ANN401 - as above
    verb = add_verb(verbs, "aggregate", "Reduce recorded votes to verdicts and scores, without a call.", _run)
    add_vote_options(verb)
    verb.add_argument("--criteria", metavar="ID", help="what was voted on (default: yes or no)")
    verb.add_argument("--rule", help="the panel rule, such as majority, median or weighted_mean (default: the scale's)")
    verb.add_argument("--weights", type=float, nargs="+", metavar="WEIGHT", help="one a judge, for a weighted rule")
    verb.add_argument("--gold", metavar="COLUMN", help="the column with the label that is right")


def add_vote_options(verb: argparse.ArgumentParser) -> None:
    """The file, its vote columns, and how intervals are made."""
    verb.add_argument("data", metavar="FILE", help="a .jsonl, .csv or .parquet file, or a saved Hugging Face data set")
    verb.add_argument(
        "--votes",
        required=True,
        nargs="+",
        metavar="COLUMN",
        help="the columns with the votes, one a judge; or one column with a list, or judge -> vote, in each cell",
    )
    add_as_index(verb)
    verb.add_argument("--split", help="which split of a saved Hugging Face data set")
    verb.add_argument("--out", type=Path, metavar="FILE", help="write the result there as JSONL")
    add_options(verb, IntervalOptions)
    verb.add_argument("--resamples", type=int, default=1000, help="for kappa's and alpha's intervals (default: 1000)")
    verb.add_argument("--seed", type=int, default=0, help="of everything random (default: 0)")
    verb.set_defaults(journal="none")  # no call is made; check_out asks for it


def vote_options(options: argparse.Namespace) -> dict[str, Any]:
    """These options as the Python functions take them."""
    return {
        "votes": options.votes,
        "criteria": options.criteria,
        "gold": options.gold,
        "as_index": options.as_index,
        **given_options(options, IntervalOptions),
        "resamples": options.resamples,
        "seed": options.seed,
    }


def check_vote_options(options: argparse.Namespace) -> None:
    """Check that the result can be written, and over nothing that the user gave.

    Raises:
        InvalidInputError: If it cannot, or a number is out of range.
    """
    check_out(argparse.Namespace(**{**vars(options), "criteria": options.criteria or []}))
    if options.resamples < 1:
        raise InvalidInputError(f"--resamples is {options.resamples!r}; at least 1 draw is needed")


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import aggregate_votes, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_vote_options(options)
    table = aggregate_votes(rows, rule=options.rule, weights=options.weights, **vote_options(options))
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.verdicts), 'verdict')} written to {options.out}")
    return 0


def _add_agree(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "agree", "Say how far judges agree with people and with each other, without a call.", _agree)
    add_vote_options(verb)
    verb.add_argument("--criteria", metavar="ID", help="what was voted on (default: the labels that occur, unordered)")
    verb.add_argument("--gold", nargs="+", metavar="COLUMN", help="columns with people's labels, one a person")


def _agree(options: argparse.Namespace) -> int:
    from evenhand.tables import agreement, read_file  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_vote_options(options)
    table = agreement(rows, **vote_options(options))
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.pairs), 'pair')} written to {options.out}")
    return 0

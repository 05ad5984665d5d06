"""``evenhand judge-report``: how far a judge can be trusted, with the evidence."""

from __future__ import annotations

import argparse
from typing import Any

from evenhand.cli.options import (
    add_as_index,
    add_data_options,
    add_run_options,
    add_verb,
    check_out,
    column_pairs,
    print_estimate,
    run_options,
    system_names,
)


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "judge-report", "Say how far each judge can be trusted, with the evidence.", _run)
    add_data_options(
        verb, judges="several are reported side by side", written="as .json (which can be read again), .md or .html"
    )
    verb.add_argument(
        "--criteria", required=True, nargs="+", metavar="ID", help="criteria with options, or pairwise: ids or files"
    )
    verb.add_argument("--response", nargs="+", metavar="COLUMN", help="responses to assess, one column or several")
    verb.add_argument("--systems", nargs="+", metavar="COLUMN", help="responses to compare, one column a system")
    verb.add_argument(
        "--gold",
        nargs="+",
        metavar="CRITERION=COLUMN",
        help="what people said: a label, or the preferred system or 'tie'; with one criterion the column alone",
    )
    add_as_index(verb)
    group = verb.add_argument_group("what to ask")
    group.add_argument("--allow-ties", action="store_true", help="offer a tie in comparisons")
    group.add_argument("--scale", default="choice", help="of comparisons: choice (default) or graded (five levels)")
    group.add_argument(
        "--confidences", action="store_true", help="ask for log-probabilities, and measure their calibration"
    )
    group.add_argument(
        "--prompts",
        nargs="+",
        metavar="NAME",
        help="Grade Scores by prompt: all, or select, evaluate_first, avoid_order_bias, grade",
    )
    group.add_argument("--unrelated-option", action="store_true", help="Grade Scores with an unrelated candidate too")
    group.add_argument("--resamples", type=int, default=1000, help="for kappa's and alpha's intervals (default: 1000)")
    add_run_options(verb)


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import read_file, reliability  # noqa: PLC0415 - seconds of import
    from evenhand.tables.reliability_report import check_suffix  # noqa: PLC0415 - likewise

    rows = read_file(options.data, options.split)
    check_out(options)
    if options.out is not None:
        check_suffix(options.out)
    prompts = options.prompts
    given: dict[str, Any] = {
        "response_field": system_names(options.response, rows[0]),
        "systems": system_names(options.systems, rows[0]),
        "context_fields": column_pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        **_gold(options),
        "as_index": options.as_index,
        "allow_ties": options.allow_ties,
        "scale": options.scale,
        "confidences": options.confidences,
        "prompts": "all" if prompts == ["all"] else prompts,
        "unrelated_option": options.unrelated_option,
        "resamples": options.resamples,
        **run_options(options),
    }
    if options.dry_run:
        print_estimate(reliability(rows, options.criteria, options.engine, dry_run=True, **given))
        return 0
    report = reliability(rows, options.criteria, options.engine, **given)
    print(report)
    if options.out is not None:
        report.save(options.out)
        print(f"the report was written to {options.out}")
    return 0


def _gold(options: argparse.Namespace) -> dict[str, Any]:
    """The column of the one criterion, or criterion -> column."""
    if options.gold is not None and len(options.gold) == 1 and "=" not in options.gold[0]:
        return {"gold_field": options.gold[0]}
    return {"gold_fields": column_pairs(options.gold, "--gold", bare=False)}

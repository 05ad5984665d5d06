"""``evenhand judge``: assess the responses of a data set against criteria or a rubric."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
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
    text_or_file,
)
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_count


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb."""
    verb = add_verb(verbs, "judge", "Assess the responses of a data set against criteria or a rubric.", _run)
    add_data_options(verb)
    judged = verb.add_mutually_exclusive_group(required=True)
    judged.add_argument("--criteria", nargs="+", metavar="ID", help="catalog ids or JSON or YAML files of criteria")
    judged.add_argument("--rubric", metavar="ID", help="the catalog id or JSON or YAML file of a rubric")
    verb.add_argument("--response", required=True, nargs="+", metavar="COLUMN", help="response columns, one a system")
    verb.add_argument("--gold", nargs="+", metavar="CRITERION=COLUMN", help="columns with labels that people gave")
    add_as_index(verb)
    _add_assessing_options(verb)
    _add_rubric_options(verb)
    add_run_options(verb)


def _add_assessing_options(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group("what the judge is shown")
    group.add_argument("--guidelines", metavar="TEXT|FILE", help="what the judge is told about judging")
    group.add_argument("--examples", metavar="FILE", help="labelled rows: cases of theirs are shown first")
    group.add_argument("--num-examples", type=int, metavar="N", help="cases shown (default: one of each label)")
    group.add_argument(
        "--label",
        nargs="+",
        metavar="CRITERION=COLUMN",
        help="columns of --examples with the labels (default: those of --gold, or named like the criterion)",
    )
    switch = argparse.BooleanOptionalAction
    group.add_argument("--shuffle-options", action=switch, help="seeded (default: for a rubric)")
    group.add_argument("--auto-na-option", action=switch, help="offer NA everywhere (default: for a rubric)")


def _add_rubric_options(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group("with --rubric")
    group.add_argument("--calls", help="per_criterion (default), or per_item: one reply for the whole rubric")
    group.add_argument("--na-strategy", help="skip, zero, partial or fail (default: the rubric's)")
    group.add_argument(
        "--na-partial", type=float, metavar="VALUE", help="what 'partial' counts (default: the rubric's)"
    )
    group.add_argument(
        "--length-penalty",
        nargs="+",
        metavar="FIELD=VALUE",
        help="what a long response loses, as free_budget=300 max_cap=600 penalty_at_cap=0.5",
    )


def _run(options: argparse.Namespace) -> int:
    from evenhand.tables import judge, read_file  # noqa: PLC0415 - seconds of import
    from evenhand.unitxt.loading import load_rubric  # noqa: PLC0415 - seconds of import

    rows = read_file(options.data, options.split)
    check_out(options)
    given: dict[str, Any] = {
        "response_field": system_names(options.response, rows[0]),
        "context_fields": column_pairs(options.context, "--context", bare=True),
        "reference_field": options.reference,
        "gold_fields": column_pairs(options.gold, "--gold", bare=False),
        **_assessing_options(options),
        **run_options(options),
    }
    judged = options.criteria if options.rubric is None else load_rubric(options.rubric)
    if options.dry_run:
        print_estimate(judge(rows, judged, options.engine, dry_run=True, **given))
        return 0
    table = judge(rows, judged, options.engine, **given)
    print(table)
    if options.out is not None:
        table.save(options.out)
        print(f"{format_count(len(table.judgements), 'verdict')} written to {options.out}")
    return 0


def _assessing_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options beside those of the run as :func:`~evenhand.tables.judge` takes them; what is given only."""
    given = {
        "guidelines": text_or_file(options.guidelines),
        "examples": options.examples,
        "num_examples": options.num_examples,
        "label_fields": column_pairs(options.label, "--label", bare=False),
        "as_index": options.as_index or None,
        "shuffle_options": options.shuffle_options,
        "auto_na_option": options.auto_na_option,
        "calls": options.calls,
        "na_strategy": options.na_strategy,
        "na_partial": options.na_partial,
        "length_penalty": _length_penalty(options.length_penalty),
    }
    return {name: value for name, value in given.items() if value is not None}


def _length_penalty(given: Sequence[str] | None) -> dict[str, float | str] | None:
    if given is None:
        return None
    fields: dict[str, float | str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInputError(f"--length-penalty is {text!r}; accepted: FIELD=VALUE, as free_budget=300")
        try:
            fields[name] = value if name == "sections" else float(value)
        except ValueError as error:
            raise InvalidInputError(f"--length-penalty is {text!r}; {value!r} is not a number") from error
    return fields

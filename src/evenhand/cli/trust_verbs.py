"""The verbs about what a judge's numbers rest on: what moved between runs, what errors depend on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.label_verbs import opened
from evenhand.cli.output import say


def judge_errors(
    run: Annotated[str, Parameter(name="RUN", help="A saved result: what --out of judge, compare or checklist wrote.")],
    /,
    *,
    data: Annotated[
        Path | None, Parameter(help="The rows that were judged, for length and format: results hold no texts.")
    ] = None,
    gold: Annotated[
        Path | None, Parameter(help="The file of labels, a row each; by default the gold labels that the result holds.")
    ] = None,
    columns: Annotated[
        tuple[str, ...],
        Parameter(help="Columns on which errors may depend too.", consume_multiple=True, negative=()),
    ] = (),
    own_family: Annotated[
        tuple[str, ...] | None,
        Parameter(
            help="The systems that are of the judge's own family; by default as the names of models tell.",
            consume_multiple=True,
            negative=(),
        ),
    ] = None,
    response_field: Annotated[
        str | None,
        Parameter(name=("--response", "--response-field"), help="The column with the responses, of recorded votes."),
    ] = None,
) -> int:
    """On what the judge's errors depend, where people labelled: length, format, position, own family, any column."""
    from evenhand.labels.judge_errors import judge_errors as errors  # noqa: PLC0415 - seconds of import

    named = [name for word in columns for name in word.split(",") if name]
    say(errors(opened(run), data, gold, columns=named, own_family=own_family, response_field=response_field))
    return 0


def drift(
    before: Annotated[str, Parameter(name="BEFORE", help="The saved result of the run before.")],
    after: Annotated[str, Parameter(name="AFTER", help="That of the run after.")],
    /,
    *,
    gold: Annotated[
        Path | None, Parameter(help="The file of labels for what the run before judged: a frozen anchor set.")
    ] = None,
    same_responses: Annotated[
        bool | None,
        Parameter(
            help="Whether rows of both are the same responses, where results do not know it: those of recorded votes.",
            negative="--new-responses",
        ),
    ] = None,
) -> int:
    """Did the systems change between two runs, or did the judge?"""
    from evenhand.labels.drift import drift as moved  # noqa: PLC0415 - seconds of import

    say(moved(opened(before), opened(after), gold, same_responses=same_responses))
    return 0

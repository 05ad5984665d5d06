"""The verbs about what a judge's numbers rest on: what a file holds, and what moved between runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.label_verbs import opened
from evenhand.cli.output import say


def doctor(
    file: Annotated[
        str,
        Parameter(
            name="FILE", help="A saved result, or a table of verdicts, labels or responses: CSV, JSONL, Parquet."
        ),
    ],
    /,
) -> int:
    """What a file holds, what can be computed from it today, what is missing, and the command for each."""
    from evenhand.cli.doctor import diagnose  # noqa: PLC0415 - seconds of import

    say(diagnose(file))
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

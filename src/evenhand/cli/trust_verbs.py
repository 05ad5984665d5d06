"""The verb that says what a file holds and what can be computed from it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

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

"""``evenhand plot``: a picture of a saved result, for a paper."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.label_verbs import opened
from evenhand.cli.output import check_out, say
from evenhand.files import check_ending


def plot(
    run: Annotated[
        str, Parameter(name="RUN", help="A saved result: what --out of judge, winrates or checklist wrote.")
    ],
    /,
    *,
    kind: Annotated[
        str | None,
        Parameter(
            help="scores, winrates, ranks, matrix, items, levels, flips, agreement, gold or calibration, as far as the "
            "result has it; by default the first that it has."
        ),
    ] = None,
    out: Annotated[str, Parameter(help="The file: .svg, .png or .pdf.")],
) -> int:
    """Draw a picture of a saved result, for a paper, and print its caption."""
    from evenhand.report.pictures import ENDINGS  # noqa: PLC0415 - seconds of import

    place = check_out(out, [run])
    check_ending(out, ENDINGS)
    say(opened(run).plot(kind, out).caption, saved=place)
    return 0

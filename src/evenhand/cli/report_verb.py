"""``evenhand report``: a saved result, or two, as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evenhand.cli.label_verbs import opened
from evenhand.cli.output import check_out, say
from evenhand.files import check_ending, expanded
from evenhand.numbers import format_bytes


def report(
    run: Annotated[str, Parameter(name="RUN", help="A saved result of any kind: what --out of a verb wrote.")],
    other: Annotated[
        str | None, Parameter(name="OTHER", help="A second run, of which the page says what changed.")
    ] = None,
    /,
    *,
    out: Annotated[
        Path | None,
        Parameter(help="The page: a name that ends in .html; by default report.html in the folder of RUN."),
    ] = None,
    data: Annotated[
        Path | None,
        Parameter(help="The data that were judged, for their texts: by default those of the prompts that were sent."),
    ] = None,
    gold: Annotated[
        Path | None, Parameter(help="The file of labels of people; by default the gold labels that the result holds.")
    ] = None,
    design: Annotated[
        str | None,
        Parameter(
            help="How the labelled rows were chosen: random, by_verdict or probabilities. With it, scores are "
            "corrected."
        ),
    ] = None,
    leave_out: Annotated[
        tuple[str, ...],
        Parameter(
            help="What of the votes the page does not hold: prompts, reasoning.", consume_multiple=True, negative=()
        ),
    ] = (),
    title: Annotated[str | None, Parameter(help="Of the page.")] = None,
) -> int:
    """One HTML file to open offline, mail or attach: summary, cautions, pictures, tables, and every verdict."""
    from evenhand.report.page import write_report  # noqa: PLC0415 - seconds of import

    folder = expanded(run) if expanded(run).is_dir() else expanded(run).parent
    named = out or folder / "report.html"
    place = check_out(named, [run, *(str(each) for each in (other, data, gold) if each is not None)]) or named
    check_ending(place, (".html",))
    how: dict[str, Any] = {"data": data, "gold": gold, "design": design, "leave_out": leave_out, "title": title}
    if other is not None:
        how |= {"other": _opened(other), "names": (Path(run).stem, Path(other).stem)}
    write_report(place, _opened(run), **how)
    say(f"report written to {place} ({format_bytes(place.stat().st_size)})")
    return 0


def _opened(path: str) -> Any:  # noqa: ANN401 - a result of any kind
    if Path(path).suffix.lower() != ".json":
        return opened(path)
    from evenhand.reliability_report import ReliabilityReport  # noqa: PLC0415 - seconds of import

    return ReliabilityReport.load(path)

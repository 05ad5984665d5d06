"""The verbs about labels of people: plan, to-label, read-labels and correct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.flags import Flags
from evenhand.cli.jobs import LabelOptions
from evenhand.cli.outcome import EXIT_CHECK_FAILED, Checks
from evenhand.cli.output import check_out, complain, say
from evenhand.cli.result_verbs import opened
from evenhand.files import check_ending
from evenhand.labels.plan import PlanOptions
from evenhand.options import option


class CorrectOptions(LabelOptions):
    """``evenhand correct``."""

    require: tuple[str, ...] = option((), "A condition that must hold, else the exit code is 3.")
    out: str | Path | None = option(None, "Write the scores there: .json (all of it), .csv, .md or .html.")


def correct(
    run: Annotated[str, Parameter(name="RUN", help="A saved result of judge, winrates, checklist or recorded votes.")],
    /,
    *,
    options: Flags[CorrectOptions] = None,
) -> int:
    """The score that people would give, from a judge of all rows and people's labels of some."""
    from evenhand.labels.correct import SAVED_AS  # noqa: PLC0415 - as above
    from evenhand.labels.correct import correct as corrected  # noqa: PLC0415 - seconds of import

    asked = options or CorrectOptions()
    place = check_out(asked.out, [run, *([] if asked.gold is None else [asked.gold])])
    if place is not None:
        check_ending(place, SAVED_AS)
    checks, results = Checks(require=asked.require, gold=asked.gold, gold_design=asked.design), opened(run)
    found = corrected(results, **asked.changed_from_default(*LabelOptions.model_fields))
    if place is not None:
        found.save(place)
    say(found, *([] if place is None else [f"corrected scores written to {place}"]), saved=place)
    failed = checks.check(results, corrected=found).failed
    for each in failed:
        complain(each)
    return EXIT_CHECK_FAILED if failed else 0


def to_label(
    results: Annotated[str, Parameter(name="RESULTS", help="What a run saved with --out.")],
    /,
    *,
    data: Annotated[str, Parameter(name="--data", help="The data that were judged: results hold no texts.")],
    n: Annotated[int, Parameter(name=("--n", "-n"), help="Rows that are drawn for each score.")],
    out: Annotated[
        Path,
        Parameter(
            help="The sheet: .html for a page that works offline, or .csv. Beside it goes its draw, .draw.json, which "
            "is not for those who label."
        ),
    ],
    design: Annotated[
        str,
        Parameter(help="How rows are drawn: random, or by_verdict (rare verdicts more often)."),
    ] = "random",
    seed: Annotated[int, Parameter(help="Of the draw.")] = 0,
    response_fields: Annotated[
        str | None,
        Parameter(name="--response-fields", help="The column with the responses, of recorded votes."),
    ] = None,
    context_fields: Annotated[
        tuple[str, ...],
        Parameter(
            name="--context-fields",
            negative=(),
            help="The columns shown with the responses, instead of those that the judge was shown.",
            consume_multiple=True,
        ),
    ] = (),
) -> int:
    """Make a blind sheet on which people label a sample of what was judged."""
    from evenhand.labels.blind_sheet import to_label as drawn  # noqa: PLC0415 - seconds of import

    checked = check_out(out, [results, data])
    sheet = drawn(
        opened(results),
        n,
        data=data,
        design=design,
        seed=seed,
        response_fields=response_fields,
        context_fields=context_fields or None,
    )
    kept = sheet.save(checked or out)
    say(sheet, f"sheet written to {out}", f"draw written to {kept}: keep it, and do not give it to those who label")
    return 0


def read_labels(
    files: Annotated[
        tuple[str, ...], Parameter(name="FILES", help="What people filled in: one or several files of one sheet.")
    ],
    /,
    *,
    draw: Annotated[str, Parameter(help="The draw that was written with the sheet.")],
    out: Annotated[
        Path | None, Parameter(help="Write the labels there, as JSON lines that evenhand correct --gold reads.")
    ] = None,
) -> int:
    """Read labels back from a blind sheet, check them, and tell how far people agree."""
    from evenhand.labels.blind_sheet import read_labels as read  # noqa: PLC0415 - seconds of import

    checked = check_out(out, [*files, draw])
    labels = read(files, draw=draw)
    if checked is None:
        say(labels)
        return 0
    labels.save(checked)
    say(labels, f"{len(labels)} labels written to {out}")
    return 0


def plan(
    pilot: Annotated[
        str | None,
        Parameter(name="PILOT", help="The saved result of judging some rows; without one the options are assumed."),
    ] = None,
    /,
    *,
    gold: Annotated[Path | None, Parameter(help="A file with labels of people for the rows of the pilot.")] = None,
    options: Flags[PlanOptions] = None,
) -> int:
    """Say before any call or label how many rows and labels it takes, or what a given number can show."""
    from evenhand.labels.plan import plan as planned  # noqa: PLC0415 - seconds of import

    asked = {} if options is None else {name: getattr(options, name) for name in options.model_fields_set}
    say(planned(None if pilot is None else opened(pilot), gold=gold, **asked))
    return 0

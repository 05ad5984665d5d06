"""The verbs about labels of people: plan, to-label, read-labels and correct."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.flags import Flags
from evenhand.cli.output import EXIT_CHECK_FAILED, complain, save, say
from evenhand.cli.result_verbs import open_result
from evenhand.files import check_ending, check_out
from evenhand.options import PlanOptions


def correct(
    run: str,
    /,
    *,
    gold: str | None = None,
    design: str | None = None,
    level: float | None = None,
    label_field: str = "label",
    require: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    out: Path | None = None,
) -> int:
    """Estimate the score that people would give, from a judge of all rows and people's labels of some.

    Args:
        run: A saved result of judge, winrates, checklist or recorded votes.
        gold: The file of labels; by default the gold labels of the data.
        design: How the labelled rows were chosen: random, by_verdict or probabilities.
        level: Of the intervals; by default that of the result.
        label_field: The column with the label.
        require: A condition that must hold, else the exit code is 3: 'relevance.corrected.low >= 0.7'.
        out: Write the scores there: .json (all of it), .csv, .md or .html.
    """
    from evenhand.labels.correct import SAVED_AS  # noqa: PLC0415 - seconds of import
    from evenhand.labels.correct import correct as corrected  # noqa: PLC0415 - as above
    from evenhand.report.gates import Condition, check  # noqa: PLC0415 - as above

    place = check_out(out, [run, *([] if gold is None else [gold])])
    if place is not None:
        check_ending(place, SAVED_AS)
    for each in require:
        Condition.parse(each)
    results = open_result(run)
    found = corrected(results, gold, design=design, level=level, label_field=label_field)
    say(found, *save(found, place, "corrected scores"), saved=place)
    failed = check(results, require, corrected=found).failed if require else ()
    for condition in failed:
        complain(condition)
    return EXIT_CHECK_FAILED if failed else 0


def to_label(
    results: str,
    /,
    *,
    data: str,
    n: Annotated[int, Parameter(name=("--n", "-n"))],
    out: Path,
    design: str = "random",
    seed: int = 0,
    response_fields: str | None = None,
    context_fields: tuple[str, ...] = (),
) -> int:
    """Make a blind sheet on which people label a sample of what was judged.

    Args:
        results: A saved result.
        data: The data that were judged: results hold no texts.
        n: Rows that are drawn for each score.
        out: The sheet: .html for a page that works offline, or .csv. The draw is written next to it as .draw.json; it
            is not for those who label.
        design: How rows are drawn: random (the default), or by_verdict (rare verdicts more often).
        seed: The seed of the draw.
        response_fields: The column with the responses, of recorded votes.
        context_fields: The columns shown with the responses, instead of those that the judge was shown.
    """
    from evenhand.labels.blind_sheet import to_label as drawn  # noqa: PLC0415 - seconds of import

    checked = check_out(out, [results, data]) or out
    sheet = drawn(
        open_result(results),
        n,
        data=data,
        design=design,
        seed=seed,
        response_fields=response_fields,
        context_fields=context_fields or None,
    )
    kept = sheet.save(checked)
    say(sheet, f"sheet written to {out}", f"draw written to {kept}: keep it, and do not give it to those who label")
    return 0


def read_labels(files: tuple[str, ...], /, *, draw: str, out: Path | None = None) -> int:
    """Read labels back from a blind sheet, check them, and report how far people agree.

    Args:
        files: What people filled in: one or several files of one sheet.
        draw: The draw that was written with the sheet.
        out: Write the labels there, as JSON lines that evenhand correct --gold reads.
    """
    from evenhand.labels.blind_sheet import read_labels as read  # noqa: PLC0415 - seconds of import

    place = check_out(out, [*files, draw])
    labels = read(files, draw=draw)
    say(labels, *save(labels, place, f"{len(labels)} labels"))
    return 0


def plan(pilot: str | None = None, /, *, gold: Path | None = None, options: Flags[PlanOptions] = None) -> int:
    """Say before any call or label how many rows and labels it takes, or what a given number can show.

    Args:
        pilot: The saved result of judging some rows; without one the options are assumed.
        gold: A file with labels of people for the rows of the pilot.
        options: What the plan is for, and what is assumed.
    """
    from evenhand.labels.plan import plan as planned  # noqa: PLC0415 - seconds of import

    asked = {} if options is None else {name: getattr(options, name) for name in options.model_fields_set}
    say(planned(None if pilot is None else open_result(pilot), gold=gold, **asked))
    return 0

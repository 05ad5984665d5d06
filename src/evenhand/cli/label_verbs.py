"""The verbs about what people say: labels, and what judges are worth beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from evenhand.cli.flags import Flags
from evenhand.cli.outcome import EXIT_CHECK_FAILED, Checks
from evenhand.cli.output import check_out, complain, say
from evenhand.cli.result_verbs import opened
from evenhand.files import check_ending
from evenhand.labels.plan import PlanOptions


def correct(
    run: Annotated[
        str, Parameter(name="RUN", help="A saved result: what --out of judge, winrates or checklist wrote.")
    ],
    /,
    *,
    gold: Annotated[
        Path | None,
        Parameter(
            help="The file of labels, a row each, with the columns id (or instance), label, and as far as there are "
            "several, system and criterion; by default the gold labels that the result holds."
        ),
    ] = None,
    design: Annotated[
        str | None,
        Parameter(help="How the labelled rows were chosen: random, by_verdict or probabilities. It must be said."),
    ] = None,
    label_field: Annotated[str | None, Parameter(help="The column with the label, where it is not so called.")] = None,
    annotator_field: Annotated[str | None, Parameter(help="That with who gave it; annotator by default.")] = None,
    probability_field: Annotated[
        str | None, Parameter(help="That with the probability of being drawn; probability by default.")
    ] = None,
    level: Annotated[float | None, Parameter(help="Of the intervals; that of the result by default.")] = None,
    seed: Annotated[int, Parameter(help="Of draws.")] = 0,
    require: Annotated[
        tuple[str, ...],
        Parameter(
            help="A condition that must hold, else the exit code is 3.",
            negative=(),
            consume_multiple=False,
            show_default=False,
        ),
    ] = (),
    out: Annotated[str | None, Parameter(help="Write the scores there: .json (all of it), .csv, .md or .html.")] = None,
) -> int:
    """The score that people would give, from a judge of all rows and people's labels of some."""
    from evenhand.labels.correct import SAVED_AS  # noqa: PLC0415 - as above
    from evenhand.labels.correct import correct as corrected  # noqa: PLC0415 - seconds of import

    place = check_out(out, [run] if gold is None else [run, str(gold)])
    if place is not None:
        check_ending(place, SAVED_AS)
    checks = Checks(require, gold=gold, design=design)
    results = opened(run)
    found = corrected(
        results,
        gold,
        design=design,
        level=level,
        seed=seed,
        label_field=label_field,
        annotator_field=annotator_field,
        probability_field=probability_field,
    )
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
            help="The columns shown beside the responses, in place of those that the judge was shown.",
            consume_multiple=True,
        ),
    ] = (),
) -> int:
    """Make a blind sheet on which people label a sample of what was judged."""
    from evenhand.labels.to_label import to_label as drawn  # noqa: PLC0415 - seconds of import

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
    draw: Annotated[str, Parameter(help="The draw that was written beside the sheet.")],
    out: Annotated[
        Path | None, Parameter(help="Write the labels there, as JSON lines that evenhand correct --gold reads.")
    ] = None,
) -> int:
    """Read labels back from a blind sheet, check them, and tell how far people agree."""
    from evenhand.labels.read_labels import read_labels as read  # noqa: PLC0415 - seconds of import

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

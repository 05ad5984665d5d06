"""The verbs about what people say: labels, and what judges are worth beside them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from evenhand.cli.gating import EXIT_CHECK_FAILED, REQUIRE, Gating
from evenhand.cli.output import check_out, complain, say
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods as Results


def stand_in(
    data: Annotated[str, Parameter(name="DATA", help="A file with columns of judges and people, or a saved result.")],
    /,
    *,
    epsilon: Annotated[
        str,
        Parameter(
            help="What the judge is given in advance for being cheaper: a number from 0 to below 1, or by who the "
            "annotators are: expert (0.2), skilled (0.15), crowd (0.1)."
        ),
    ],
    votes: Annotated[
        tuple[str, ...], Parameter(help="The columns with the judges' votes, one per judge.", consume_multiple=True)
    ] = (),
    annotators: Annotated[
        tuple[str, ...], Parameter(help="The columns with what people said, one per person.", consume_multiple=True)
    ] = (),
    labels: Annotated[
        Path | None,
        Parameter(help="For a saved result: the file of labels, with the columns id, label and annotator."),
    ] = None,
    criteria: Annotated[str | None, Parameter(help="Whose options were chosen, for columns.")] = None,
    scoring: Annotated[str, Parameter(help="How near two labels are: exact, rmse, or auto.")] = "auto",
    cluster_field: Annotated[
        str | None, Parameter(help="The column whose equal values mark rows that belong together; false for none.")
    ] = None,
) -> int:
    """May the judge stand in for annotators? The alternative annotator test."""
    from evenhand.raters import alternative_annotator_test  # noqa: PLC0415 - seconds of import

    given: Any = epsilon if epsilon in ("expert", "skilled", "crowd") else _number("--epsilon", epsilon)
    how: dict[str, Any] = {"epsilon": given, "scoring": scoring}
    if cluster_field is not None:
        how["cluster_field"] = False if cluster_field.lower() == "false" else cluster_field
    if labels is not None:
        if votes or annotators:
            raise InvalidInputError("--labels is for a saved result, --votes and --annotators for columns: drop one")
        say(alternative_annotator_test(opened(data), annotators=labels, **how))
    else:
        if not votes or not annotators:
            raise InvalidInputError("name the columns in --votes and --annotators, or --labels for a saved result")
        judges, people = _columns(votes), _columns(annotators)
        say(alternative_annotator_test(data, judges, people, criteria, **how))
    return 0


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
        tuple[str, ...], Parameter(name="--require", help=REQUIRE, negative=(), show_default=False)
    ] = (),
    out: Annotated[str | None, Parameter(help="Write the scores there: .json (all of it), .csv, .md or .html.")] = None,
) -> int:
    """The score that people would give, from a judge of all rows and people's labels of some."""
    from evenhand.labels.correct import SAVED_AS  # noqa: PLC0415 - as above
    from evenhand.labels.correct import correct as corrected  # noqa: PLC0415 - seconds of import

    place = check_out(out, [run] if gold is None else [run, str(gold)])
    if place is not None:
        check_ending(place, SAVED_AS)
    gating = Gating(require, gold=gold, design=design)
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
    failed = gating.check(results, corrected=found).failed
    for each in failed:
        complain(each)
    return EXIT_CHECK_FAILED if failed else 0


def opened(path: str) -> Results:
    """A saved result."""
    from evenhand.by_name import open as open_results  # noqa: PLC0415 - seconds of import

    return open_results(path)


def _columns(words: tuple[str, ...]) -> str | list[str]:
    """One column, which may hold the labels of several, or a list of them; words are split at their commas."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    return names[0] if len(names) == 1 else names


def _number(name: str, given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise InvalidInputError(f"{name} is {given!r}; give a number, or expert, skilled or crowd") from None


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


Pilot = Annotated[
    str | None,
    Parameter(name="PILOT", help="The saved result of judging some rows; without one the options are assumed."),
]

PilotLabels = Annotated[
    Path | None, Parameter(name="--gold", help="A file with labels of people for the rows of the pilot.")
]


def _plan(pilot: Pilot = None, /, gold: PilotLabels = None, **given: Any) -> int:  # noqa: ANN401 - as declared
    """Say before any call or label how many rows and labels it takes, or what a given number can show."""
    from evenhand.labels.plan import PlanOptions, plan  # noqa: PLC0415 - seconds of import

    stated = {name: value for name, value in given.items() if value != PlanOptions.model_fields[name].default}
    say(plan(None if pilot is None else opened(pilot), gold=gold, **stated))
    return 0


def _plan_command() -> Callable[..., int]:
    """``evenhand plan``, with the options of a plan."""
    from evenhand.cli.flags import model_options  # noqa: PLC0415 - as above
    from evenhand.labels.plan import PlanOptions  # noqa: PLC0415 - as above

    _plan.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # as inspect reads
        [
            inspect.Parameter("pilot", inspect.Parameter.POSITIONAL_ONLY, default=None, annotation=Pilot),
            inspect.Parameter("gold", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=PilotLabels),
            *model_options(PlanOptions, ["gold", *PlanOptions.model_fields]),
        ]
    )
    return _plan


def __getattr__(name: str) -> Callable[..., int]:
    """A verb whose options are made when it is asked for."""
    if name == "plan":
        return _plan_command()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The verbs that judge rows or read recorded votes, ``run``, and ``demo``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from evenhand import demo as data
from evenhand.cli.flags import Flags, flags_of
from evenhand.cli.output import EXIT_CHECK_FAILED, OutputError, complain, end, is_quiet, say
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending, check_out
from evenhand.numbers import format_cost
from evenhand.options import Limits, RunOptions, option
from evenhand.run_files import Job, schema, template

Data = Annotated[
    str | None,
    Parameter(
        name="DATA",
        help="A .jsonl, .json, .csv or .parquet file (.gz too), a saved Hugging Face data set, or - for a pipe.",
    ),
]
BASELINE: Final = "engines.evenhand.baseline"
DEMO_REPORT: Final = "evenhand-demo.html"


def verb_of(model: type[Job]) -> Callable[..., int]:
    """Return the verb of a job."""

    def verb(data: Data = None, /, *, options: Any = None) -> int:  # noqa: ANN401 - the flags of the job
        from evenhand import run_jobs  # noqa: PLC0415 - seconds of import

        job: Job = model() if options is None else options
        if data is not None:
            job = job.model_copy(update={"data": data})
        if is_quiet() and isinstance(job, RunOptions):
            job = job.model_copy(update={"progress": False})
        result = run_jobs.result_of(job)
        if job.given.get("dry_run"):
            estimate = {**asdict(result), "cost": format_cost(result.cost)}
            say(*(f"{name.replace('_', ' ')}: {value}" for name, value in estimate.items() if value is not None))
            return 0
        try:
            written = run_jobs.write_result(result, job)
        except BaseException:
            with suppress(OutputError):
                say(result)  # it is shown, at least
            raise
        unscored, saved = run_jobs.unscored_of_job(result, job), None if job.out is None else Path(job.out)
        return end(result, job, *([] if is_quiet() else written), saved=saved, unscored=unscored)

    verb.__annotations__["options"] = flags_of(model)
    verb.__name__, verb.__doc__ = model.verb(), model.__doc__
    return verb


def run(
    file: str | None = None,
    /,
    *,
    template_name: Annotated[str | None, Parameter(name="--template")] = None,
    print_schema: Annotated[bool, Parameter(name="--schema")] = False,
) -> int:
    """Run an evaluation described in a YAML or JSON file, or again the one that made a saved result.

    FILE may be followed by options of its verb, which count before the file. Paths in the file are relative to it. What
    is in the journal is not paid for again: run the same again to go on.

    Args:
        file: A run file (.yaml, .json), or a saved result.
        template_name: Print a run file to start from.
        print_schema: Print the JSON schema of run files.
    """
    del file  # the app runs the verb that it names
    if not print_schema and template_name is None:
        raise InvalidInputError("run needs FILE, a run file; evenhand run --template judge > run.yaml writes one")
    say(schema() if print_schema or template_name is None else template(template_name))
    return 0


class DemoOptions(Limits):
    """``evenhand demo``."""

    engine: str = option(BASELINE, "The judge: a model, the address of a server with --model, or a catalog id.")
    model: str | None = option(None, "The model of the server whose address the engine is.")
    journal: str | None = option("default", "The path of a journal file, or none.")
    out: str | None = option(None, f"Write the report there, as .html; by default {DEMO_REPORT} in this folder.")


def demo(*, options: Flags[DemoOptions] = None) -> int:
    """Judge the data that ships with evenhand, offline unless an engine is given."""
    from evenhand import run_jobs  # noqa: PLC0415 - seconds of import
    from evenhand.functions import checklist, judge, winrates  # noqa: PLC0415 - as above

    asked = options or DemoOptions()
    report = check_out(asked.out or DEMO_REPORT, ()) or Path(DEMO_REPORT)
    check_ending(report, (".html",))
    if asked.engine == BASELINE:
        say(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is. It never reads a question, so that it answers all "
            "questions of the checklist alike."
        )
    rows, given = data.load_rows(), {name: getattr(asked, name) for name in asked.model_fields_set - {"engine", "out"}}
    how: Any = {"engine": asked.engine, "response_fields": data.SYSTEMS, "id_field": "id", **given}
    judged: Any = judge(rows, list(data.CRITERIA), gold_fields=data.GOLD_FIELDS, **how)
    say(judged)
    compared: Any = winrates(rows, data.COMPARISON, gold_fields=data.GOLD_PREFERENCE, **how)
    say(compared)
    checked: Any = checklist(rows, data.load_demo_checklist(), **how)
    say(checked)
    say(
        "The same with a real model: evenhand demo --engine openai/gpt-4.1-mini, or with a server: "
        "evenhand demo --engine 'http://localhost:8000/v1[model=NAME]'"
    )
    judged.to_html(report, data=rows, further=(compared, checked), title="The demonstration of evenhand")
    say(f"The report, with every verdict: {report} (open it in a browser; it needs no network)", saved=report)
    unscored = [failed for each in (judged, compared, checked) for failed in run_jobs.too_many_unscored(each)]
    for failed in unscored:
        complain(failed)
    return EXIT_CHECK_FAILED if unscored else 0

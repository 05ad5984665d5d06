"""How the verbs that are Python functions run: from what is given to the result, and what is printed of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import ArgumentCollection, Group, Parameter

from evenhand.cli.ending import Ending, too_many_unscored
from evenhand.cli.flags import Declared, declared, flag_of, model_options, plain, shell_option
from evenhand.cli.gating import EXIT_CHECK_FAILED
from evenhand.cli.output import check_out, complain, is_quiet, note, say
from evenhand.cli.verb_table import VERBS, Verb
from evenhand.errors import InvalidInputError
from evenhand.files import check_ending
from evenhand.numbers import format_cost
from evenhand.options import JobOptions, RunOptions

if TYPE_CHECKING:
    from evenhand.data.rows import RowBatch
    from evenhand.judging.estimate import RunEstimate
    from evenhand.streams import Job

Data = Annotated[
    str,
    Parameter(
        name="DATA",
        help="A .jsonl, .json, .csv or .parquet file (.gz too), a saved Hugging Face data set, or - for a pipe.",
    ),
]
NO_ARGUMENTS = ("data", "split", "log", "out", "leave_out", "labels")
"""What no function is given: the rows are read, and the result is written, beside it."""

HERE = "here"
"""What ``--ray`` is without an address."""

CONFIGURED = "_with_a_run_file"
"""Behind the name of a verb that need not be given all in the shell, as :mod:`evenhand.cli.command` has it."""


def command_of(verb: Verb, *, configured: bool = False) -> Callable[..., int]:
    """The verb as cyclopts runs it: the function's parameters, options and docstring, under the shell's names.

    Args:
        verb: Which.
        configured: A run file may give what is needed.
    """
    options, models = verb.options, verb.models
    names = [*options, *(name for model in models for name in model.model_fields)]

    def command(data: Data | None = None, /, **given: Any) -> int:  # noqa: ANN401 - each option says its own type
        said = given if data is None else {"data": data, **given}
        config = said.pop("config", None)
        if config is not None:
            from evenhand.cli.run_file import RunFile, settled  # noqa: PLC0415 - only who has one needs it

            said = settled(verb, RunFile.read(config), said)
        return run_verb(verb, said)

    command.__doc__ = plain(Declared.of(verb.function).doc, names)
    alternatives = Group("What is asked", sort_key=0, validator=None if configured else partial(_check_one_of, verb))
    data_given = None if configured else inspect.Parameter.empty
    parameters = [
        inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, default=data_given, annotation=Data),
        *(
            shell_option(
                name,
                info,
                names,
                required=name in verb.needed and not configured,
                group=alternatives if name in verb.one_of else None,
            )
            for name, info in options.items()
        ),
        *(option for model in models for option in model_options(model, names)),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as inspect reads
    return command


def _check_one_of(verb: Verb, options: ArgumentCollection) -> None:
    if len(options.filter_by(value_set=True)) != 1:
        raise ValueError(f"Give {' or '.join(map(flag_of, verb.one_of))}, one of them.")


def result_of(verb: Verb, given: Mapping[str, Any], ending: Ending) -> Any:  # noqa: ANN401 - of the function
    """What the function returns, which knows the run that made it.

    Args:
        verb: Which.
        given: All that is given, by the names of Python.
        ending: What is done with it, which was checked.
    """
    how = {name: value for name, value in given.items() if name not in {*NO_ARGUMENTS, *JobOptions.model_fields}}
    to = how.get("stream_to")
    _check_cluster(ending.options, to)
    batches = iter(()) if to is None else _batches(verb, given)
    first = next(batches, None)
    rows = _rows(verb, given, ending.options.limit) if first is None else first
    if is_quiet() and any(issubclass(model, RunOptions) for model in verb.models):
        how.setdefault("progress", False)
    _split(verb, rows, how)
    from evenhand.by_name import FUNCTIONS  # noqa: PLC0415 - seconds of import

    function = FUNCTIONS[verb.function]
    _prepare(how)
    if ending.gating.require:
        ranges, systems = _ranges(verb, how), _systems(rows, how)
        ending.gating.check_before_run(ranges, systems, complete=verb.kind == "judgements" and bool(ranges))
    if ending.options.ray is not None or first is not None:
        from evenhand.row_runs import job_of  # noqa: PLC0415 - as above

        if ending.options.ray is not None:
            return _on_cluster(verb, job_of(verb.function, {**how, "split": given.get("split")}), given, ending)
        return _streamed(job_of(verb.function, how), given, chain(() if first is None else [first], batches), ending)
    required = [name for name, info in Declared.of(verb.function).own.items() if info.is_required()]
    places = [how.pop(name, None) for name in required if name != "data"]
    result = function(rows, *places, **how)
    if hasattr(result, "run_file"):
        object.__setattr__(result, "run_file", ending.record)  # of all that was said, and not of rows in memory
    return result


def _batches(verb: Verb, given: Mapping[str, Any]) -> Iterator[RowBatch]:
    """The rows of the data, some at a time."""
    from evenhand.data.rows import row_batches  # noqa: PLC0415 - as above

    return row_batches(_rows(verb, given, None) if _is_demo(given) else given["data"], given.get("split"))


def _streamed(job: Job, given: Mapping[str, Any], batches: Iterable[RowBatch], ending: Ending) -> Any:  # noqa: ANN401 - of the function
    """The result in the folder to which it is written."""
    from evenhand.data.rows import rows_known  # noqa: PLC0415 - as above
    from evenhand.streams import judge_stream  # noqa: PLC0415 - as above

    return judge_stream(
        job,
        batches,
        count=None if _is_demo(given) else rows_known(given["data"], given.get("split")),
        limit=ending.options.limit,
        record=ending.record,
    )


def _on_cluster(verb: Verb, job: Job, given: Mapping[str, Any], ending: Ending) -> Any:  # noqa: ANN401 - of the function
    """The same, judged by workers, who read the rows, too."""
    from evenhand.integrations.ray_data import judge_on_ray  # noqa: PLC0415 - as above

    options = ending.options
    return judge_on_ray(
        job,
        _rows(verb, given, None) if _is_demo(given) else given["data"],
        limit=options.limit,
        record=ending.record,
        address=None if options.ray == HERE else options.ray,
        workers=options.workers,
    )


def _systems(rows: Sequence[Mapping[str, Any]], how: Mapping[str, Any]) -> list[str]:
    """The systems that will have scores; none where they are not known before the first call."""
    if (column := how.get("systems_field")) is not None:
        return [*_known(rows, column)]
    return _named(how.get("response_fields"))


def _ranges(verb: Verb, how: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Name of a score -> its range, as far as scores are known before the first call."""
    from evenhand.aggregation.rubric_score import rubric_range  # noqa: PLC0415 - as above
    from evenhand.modes.checklist import RANGES  # noqa: PLC0415 - as above
    from evenhand.row_runs import what_is_judged  # noqa: PLC0415 - as above
    from evenhand.unitxt.loading import load_checklist  # noqa: PLC0415 - as above

    if verb.kind == "winrates":
        return {"winrate": (0.0, 1.0)}
    if verb.kind == "checklist":
        given = how.get("checklist")
        return dict(RANGES) if given is None else {**RANGES, load_checklist(given).name: (0.0, 1.0)}
    if verb.kind != "judgements" or how.get("criteria") is None:
        return {}
    criteria, rubric = what_is_judged(how["criteria"])
    found = {each.name: each.score_range for each in criteria}
    return found if rubric is None else found | {rubric.name: rubric_range(rubric).score}


def _rows(verb: Verb, given: Mapping[str, Any], limit: int | None) -> Sequence[Mapping[str, Any]]:
    """The rows of the data, or the first of them."""
    from evenhand.data.rows import read_file, read_log, read_rows  # noqa: PLC0415 - only who judges needs it

    data = given["data"]
    if _is_demo(given):
        from evenhand.demo import load_rows  # noqa: PLC0415 - as above

        rows: Sequence[Mapping[str, Any]] = load_rows()
    else:
        rows = read_file(data, given.get("split")) if isinstance(data, str) else read_rows(data, given.get("split"))
    if given.get("log"):
        rows = read_log(rows)
    return rows if limit is None else _first(verb, rows, limit, given)


def _first(
    verb: Verb, rows: Sequence[Mapping[str, Any]], limit: int, given: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The first rows; where a prompt has several, the rows of the first prompts."""
    from evenhand.data.fields import name_of  # noqa: PLC0415 - as above

    long = given.get("systems_field") or verb.name == "read-replies" or ("votes" in given and "votes" in verb.one_of)
    column = given.get("id_field") or ("id" if "id" in rows[0] else None)
    names = [name_of(row.get(column)) if long and column else str(place) for place, row in enumerate(rows)]
    first = list(dict.fromkeys(names))
    kept = {*first[:limit]}
    if len(kept) < len(first):
        what = f"prompts, told apart by {column!r}," if long and column else "rows"
        note(f"the first {limit} of {len(first)} {what} are taken (--limit {limit})")
    return [row for row, name in zip(rows, names, strict=True) if name in kept]


def run_verb(verb: Verb, given: Mapping[str, Any]) -> int:
    """Run a verb, print and write its result, and return the exit code."""
    verb.check_given(given)
    ending = Ending.of(verb, given)
    result = result_of(verb, given, ending)
    if given.get("dry_run"):
        print_estimate(result, at_most=bool(given.get("stop")))
        return 0
    return ending.shown(result)


def _prepare(given: dict[str, Any]) -> None:
    """What the shell spells in its own way, as the function takes it."""
    if "rubric" in given:
        from evenhand.unitxt.loading import load_rubric  # noqa: PLC0415 - seconds of import

        given["criteria"] = load_rubric(given.pop("rubric"))
    if isinstance(given.get("mode"), str) and ":" in given["mode"]:
        given["mode"] = _imported(given["mode"])


def _split(verb: Verb, rows: Sequence[Mapping[str, Any]], given: dict[str, Any]) -> None:
    """Make a list of what names columns or systems, which the shell takes as one text with commas too."""
    for name in verb.columns:
        if name in given:
            systems_field = given.get("systems_field") if name == "systems" else None
            given[name] = split_at_commas(_named(given[name]), _known(rows, systems_field))


def _is_demo(given: Mapping[str, Any]) -> bool:
    """Whether the data are those that ship with evenhand."""
    from evenhand.results.made_by import DEMO  # noqa: PLC0415 - as above

    return isinstance(given["data"], str) and given["data"] == DEMO and not Path(DEMO).exists()


def _check_cluster(options: JobOptions, stream_to: object) -> None:
    if options.ray is not None and stream_to is None:
        raise InvalidInputError(
            f"--ray is {options.ray!r} and --stream-to is missing: name the folder to which the verdicts go, which all "
            "machines of the cluster share"
        )
    if options.workers is not None and options.ray is None:
        raise InvalidInputError(f"--workers is {options.workers!r}, which is for --ray: give that, or leave it out")


def _imported(named: str) -> object:
    """What ``MODULE:CLASS`` names; the module may lie in the folder where the command runs."""
    module, _, name = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:  # TypeError: a relative name
        raise InvalidInputError(
            f"--mode is {named!r}, which cannot be imported ({error}); give MODULE:CLASS, or the kind of a mode"
        ) from error
    finally:
        sys.path.pop(0)


def _named(given: str | Sequence[str] | None) -> list[str]:
    """One text or several."""
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _known(rows: Sequence[Mapping[str, Any]], systems_field: str | None) -> Collection[str]:
    """The columns, or the systems that a column names."""
    from evenhand.data.fields import name_of  # noqa: PLC0415 - seconds of import

    return rows[0] if systems_field is None else {name_of(row.get(systems_field)) for row in rows}


def split_at_commas(words: Iterable[str], known: Collection[str]) -> list[str]:
    """The names among words: a word is split at its commas, unless it is a name as it stands.

    >>> split_at_commas(["gpt,llama", "a, b"], {"gpt", "llama", "a, b"})
    ['gpt', 'llama', 'a, b']
    """
    names = [name for word in words for name in ([word] if word in known else word.split(","))]
    return [name.strip() if name not in known else name for name in names if name.strip()]


def print_estimate(estimate: RunEstimate, *, at_most: bool = False) -> None:
    """What ``--dry-run`` prints; at most, where a run may stop before it has asked all."""
    cost = "unknown (no price for this engine)" if estimate.cost is None else format_cost(estimate.cost)
    most = f"{estimate.requests} at most, with re-asks and retries"
    requests = "unknown (the engine does not say how often it tries)" if estimate.requests is None else most
    bound = "at most " if at_most else ""
    say(
        f"votes: {bound}{estimate.votes}",
        f"calls: {bound}{estimate.calls} (and {estimate.cached} answered by the journal), re-asks and retries not "
        "counted",
        f"requests: {requests}",
        f"tokens: about {estimate.prompt_tokens} in and {estimate.completion_tokens} out",
        f"cost: {cost}",
    )


def __getattr__(name: str) -> Callable[..., int]:
    """A verb as cyclopts runs it, made when it is asked for."""
    if name == "demo":
        return demo_command()
    for verb in VERBS:
        if name in {verb.name, verb.name + CONFIGURED}:
            return command_of(verb, configured=name != verb.name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


BASELINE = "engines.evenhand.baseline"
DEMO_REPORT = "evenhand-demo.html"
NOT_OF_CHECKLISTS = ("flow", "scoring", "generate_summaries", "prompt")


def demo_command() -> Callable[..., int]:
    """``evenhand demo``, with the options of a run."""

    def demo(**given: Any) -> int:  # noqa: ANN401 - each option says its own type
        """Judge the data that ships with evenhand, offline unless an engine is given."""
        return _run_demo(given.pop("engine", BASELINE), given.pop("out", None), given)

    own = {
        "engine": declared(str, BASELINE, "The judge: a model, the address of a server with --model, or a catalog id."),
        "out": declared(str, None, f"Write the report there, as .html; by default {DEMO_REPORT} in this folder."),
    }
    names = [*own, *RunOptions.model_fields]
    parameters = [shell_option(name, info, names) for name, info in own.items()]
    parameters += model_options(RunOptions, names)
    demo.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as inspect reads
    return demo


def _run_demo(engine: str, out: str | None, how: dict[str, Any]) -> int:
    report = _place_of_report(out)
    from evenhand import demo  # noqa: PLC0415 - seconds of import
    from evenhand.aggregation.verdict import VoteRules  # noqa: PLC0415 - as above
    from evenhand.by_name import FUNCTIONS  # noqa: PLC0415 - as above

    if engine == BASELINE:
        say(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is. It never reads a question, so that it answers all "
            "questions of the checklist alike."
        )
    rows = demo.load_rows()
    rules = VoteRules.from_parameters(dict(RunOptions(**how)))
    for scale in demo.SCALES:  # what the second part refuses is refused before the first
        rules.check(scale)
    how = {"id_field": "id", **how}
    judged = FUNCTIONS["judge"](
        rows, list(demo.CRITERIA), engine, response_fields=demo.SYSTEMS, gold_fields=demo.GOLD_FIELDS, **how
    )
    say(judged)
    compared = FUNCTIONS["winrates"](
        rows, demo.COMPARISON, engine, response_fields=demo.SYSTEMS, gold_fields=demo.GOLD_PREFERENCE, **how
    )
    say(compared)
    items = demo.load_demo_checklist()
    checked = FUNCTIONS["checklist"](rows, items, engine, response_fields=demo.SYSTEMS, **_of_a_checklist(how))
    say(checked)
    say(
        "The same with a real model: evenhand demo --engine 'engines.evenhand.litellm[model=openai/gpt-4.1-mini]' "
        "or, for any OpenAI-compatible server, "
        "'engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=NAME]'"
    )
    judged.to_html(report, data=rows, further=(compared, checked), title="The demonstration of evenhand")
    say(f"The report, with every verdict: {report} (open it in a browser; it needs no network)", saved=report)
    unscored = [failed for each in (judged, compared, checked) for failed in too_many_unscored(each)]
    for failed in unscored:
        complain(failed)
    return EXIT_CHECK_FAILED if unscored else 0


def _place_of_report(out: str | None) -> Path:
    """Where the demonstration's report goes: where it is said, or here, or in a temporary folder where it cannot be."""
    if out is not None:
        check_ending(out, (".html",))
    try:
        return check_out(out or DEMO_REPORT, ()) or Path(DEMO_REPORT)
    except InvalidInputError:
        if out is not None:
            raise
        return Path(mkdtemp(prefix="evenhand-")) / DEMO_REPORT


def _of_a_checklist(how: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the run that belong to a checklist; one rule for all scales does not fit yes and no."""
    one_rule = ("aggregation",) if isinstance(how.get("aggregation"), str) else ()
    return {name: value for name, value in how.items() if name not in (*NOT_OF_CHECKLISTS, *one_rule)}

"""The verbs that are Python functions: what each takes beside their parameters, how it runs and what it prints."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Any

from cyclopts import ArgumentCollection, Group, Parameter
from pydantic.fields import FieldInfo

from evenhand import demo, tables
from evenhand.aggregation import rubric_range
from evenhand.checked_options import Options
from evenhand.cli.ending import Ending, too_much_unscored
from evenhand.cli.gating import EXIT_GATE
from evenhand.cli.options import Declared, Words, declared, flag_of, model_options, plain, shell_option
from evenhand.cli.output import check_out, complain, is_quiet, note, say
from evenhand.cli.run_file import RunFile, settled
from evenhand.data.fields import name_of
from evenhand.data.formats.annotations import read_log
from evenhand.data.rows import RowBatch, read_file, read_rows, row_batches, rows_known
from evenhand.distributed.cluster import judge_on_ray
from evenhand.errors import InvalidInputError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.modes.checklist import RANGES
from evenhand.numbers import format_cost
from evenhand.results.run_record import DEMO
from evenhand.results.saved import check_ending
from evenhand.run_options import JobOptions, RunOptions, StreamOptions
from evenhand.streams import Job, judge_stream
from evenhand.tables.assessing import what_is_judged
from evenhand.unitxt.loading import load_checklist, load_rubric

Data = Annotated[
    str,
    Parameter(
        name="DATA",
        help="A .jsonl, .json, .csv or .parquet file (.gz too), a saved Hugging Face data set, or - for a pipe.",
    ),
]
OUT = declared(str, None, "Write the result there: .parquet has a row per vote, .jsonl a line per question.")
CRITERIA = declared(Words, None, "Criteria: catalog ids, JSON or YAML files, or plain sentences (yes or no).")
LEAVE_OUT = declared(
    Words, None, "What of the votes is not written with --out, because it is long: prompts, reasoning, logprobs."
)
NO_ARGUMENTS = ("data", "split", "log", "out", "leave_out", "labels")
"""What no function is given: the rows are read, and the result is written, beside it."""

HERE = "here"
"""What ``--ray`` is without an address."""

LOG = declared(
    bool, False, "DATA is a log of inspect_ai, lm-eval, AlpacaEval or MT-Bench: take its rows from read_log."
)
VOTES = declared(Words, None, "The column of DATA that holds recorded votes, or several, one per judge: none is asked.")
CONFIG = declared(
    str,
    None,
    "A run file (.yaml, .json or .toml), or a saved result: what it says holds where no option here says otherwise.",
)


@dataclass(frozen=True, slots=True)
class Verb:
    """A Python function as a verb.

    Attributes:
        name: In the shell.
        function: In Python.
        kind: What a saved file calls its result; empty for a report.
        written: The rows of its table that a file holds, and their name.
        required: What must be given though the function has a default.
        one_of: Of which exactly one must be given.
        columns: What names columns or systems; its words are split at commas.
        also: What is declared otherwise than by the function, or only here.
    """

    name: str
    function: str
    kind: str = ""
    written: tuple[str, str] = ("", "")
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    also: Mapping[str, FieldInfo] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, FieldInfo]:
        """What it takes beside the data and the options of models, by the names of Python."""
        own = Declared.of(self.function).own
        further = {"leave_out": LEAVE_OUT} if self.asks else {"log": LOG} if self.kind else {}
        held = {**own, "out": OUT, "config": CONFIG, **further, **self.also}
        return {
            name: info
            for name, info in held.items()
            if name != "dataset" and not (name == "gold_field" and "gold_fields" in own)
        }

    @property
    def models(self) -> tuple[type[Options], ...]:
        """The models of its further options."""
        return (*Declared.of(self.function).models, JobOptions)

    @property
    def needed(self) -> tuple[str, ...]:
        """What must be given beside the data."""
        own = Declared.of(self.function).own
        declared_so = [name for name, info in own.items() if info.is_required() and name != "dataset"]
        return tuple(name for name in (*declared_so, *self.required) if name not in self.one_of)

    def command(self, *, configured: bool = False) -> Callable[..., int]:
        """The verb as cyclopts runs it: the function's parameters, options and docstring, under the shell's names.

        Args:
            configured: A run file may give what is needed.
        """
        options, models = self.options, self.models
        names = [*options, *(name for model in models for name in model.model_fields)]

        def command(data: Data | None = None, /, **given: Any) -> int:  # noqa: ANN401 - each option says its own type
            said = given if data is None else {"data": data, **given}
            config = said.pop("config", None)
            if config is not None:
                said = settled(self, RunFile.read(config), said)
            return self._run(said)

        command.__doc__ = plain(Declared.of(self.function).doc, names)
        alternatives = Group("What is asked", sort_key=0, validator=None if configured else self._check_one_of)
        data_given = None if configured else inspect.Parameter.empty
        parameters = [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, default=data_given, annotation=Data),
            *(
                shell_option(
                    name,
                    info,
                    names,
                    required=name in self.needed and not configured,
                    group=alternatives if name in self.one_of else None,
                )
                for name, info in options.items()
            ),
            *(option for model in models for option in model_options(model, names)),
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as inspect reads
        return command

    def _check_one_of(self, options: ArgumentCollection) -> None:
        if len(options.filter_by(value_set=True)) != 1:
            raise ValueError(f"Give {' or '.join(map(flag_of, self.one_of))}, one of them.")

    def check_given(self, given: Collection[str]) -> None:
        """Check that all is given that must be.

        Raises:
            InvalidInputError: If not.
        """
        for name in ("data", *self.needed):
            if name not in given:
                raise InvalidInputError(
                    f"{self.name} needs {name!r}, which neither the run file nor an option says (in the shell "
                    f"{'DATA' if name == 'data' else flag_of(name)})"
                )
        if self.one_of and sum(name in given for name in self.one_of) != 1:
            raise InvalidInputError(f"{self.name} needs one of {' and '.join(map(repr, self.one_of))}, and not several")

    def result(self, given: Mapping[str, Any], ending: Ending) -> Any:  # noqa: ANN401 - of the function
        """What the function returns, which knows the run that made it.

        Args:
            given: All that is given, by the names of Python.
            ending: What is done with it, which was checked.
        """
        how = {name: value for name, value in given.items() if name not in {*NO_ARGUMENTS, *JobOptions.model_fields}}
        stream = StreamOptions(**{name: how.pop(name) for name in StreamOptions.model_fields if name in how})
        _check_cluster(ending.options, stream)
        batches = iter(()) if stream.stream_to is None else self._batches(given)
        first = next(batches, None)
        rows = self._rows(given, ending.options.limit) if first is None else first
        if is_quiet() and RunOptions in self.models:
            how.setdefault("progress", False)
        self._split(rows, how)
        self._prepare(how)
        if ending.gating.fail_if:
            ending.gating.check_names(*self._names(rows, how), self._ranges(how))
        if ending.options.ray is not None:
            return self._on_cluster(given, stream, how, ending)
        if first is not None:
            return self._streamed(given, chain([first], batches), stream, how, ending)
        required = [name for name, info in Declared.of(self.function).own.items() if info.is_required()]
        places = [how.pop(name, None) for name in required if name != "dataset"]
        result = getattr(tables, self.function)(rows, *places, **how)
        if hasattr(result, "run_file"):
            object.__setattr__(result, "run_file", ending.record)  # of all that was said, and not of rows in memory
        return result

    def _batches(self, given: Mapping[str, Any]) -> Iterator[RowBatch]:
        """The rows of the data, some at a time."""
        return row_batches(self._rows(given, None) if _is_demo(given) else given["data"], given.get("split"))

    def _streamed(
        self,
        given: Mapping[str, Any],
        batches: Iterable[RowBatch],
        stream: StreamOptions,
        how: dict[str, Any],
        ending: Ending,
    ) -> Any:  # noqa: ANN401 - of the function
        """The result in the folder to which it is written."""
        dry_run = how.pop("dry_run", False)
        return judge_stream(
            Job(self.function, how),
            batches,
            stream,
            count=None if _is_demo(given) else rows_known(given["data"], given.get("split")),
            limit=ending.options.limit,
            dry_run=dry_run,
            record=ending.record,
        )

    def _on_cluster(self, given: Mapping[str, Any], stream: StreamOptions, how: dict[str, Any], ending: Ending) -> Any:  # noqa: ANN401 - of the function
        """The same, judged by workers, who read the rows, too."""
        dry_run, options = how.pop("dry_run", False), ending.options
        return judge_on_ray(
            Job(self.function, how),
            self._rows(given, None) if _is_demo(given) else given["data"],
            stream,
            split=given.get("split"),
            limit=options.limit,
            dry_run=dry_run,
            record=ending.record,
            address=None if options.ray == HERE else options.ray,
            workers=options.workers,
        )

    def _names(self, rows: Sequence[Mapping[str, Any]], how: Mapping[str, Any]) -> tuple[list[str], list[str]]:
        """What gates may name, as far as it is known before the first call: the scores, and the systems."""
        if self.kind not in {"judgements", "winrates", "checklist"}:
            return [], []
        scores: list[str] = []
        if self.kind == "judgements" and how.get("criteria") is not None:
            criteria, rubric = what_is_judged(how["criteria"])
            scores = [*(each.name for each in criteria), *([] if rubric is None else [rubric.name])]
        given = how.get("systems" if self.kind == "winrates" else "response_field")
        column = how.get("systems_field")
        if column is not None:
            return scores, [*_known(rows, column)]
        return scores, [given] if isinstance(given, str) else list(given or ())

    def _ranges(self, how: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
        """Name of a score -> between which numbers it will lie, as far as it is known before the first call."""
        if self.kind == "winrates":
            return {"winrate": (0.0, 1.0)}
        if self.kind == "checklist":
            given = how.get("checklist")
            return dict(RANGES) if given is None else {**RANGES, load_checklist(given).name: (0.0, 1.0)}
        if self.kind != "judgements" or how.get("criteria") is None:
            return {}
        criteria, rubric = what_is_judged(how["criteria"])
        found = {each.name: each.score_range for each in criteria}
        return found if rubric is None else found | {rubric.name: rubric_range(rubric).score}

    def _rows(self, given: Mapping[str, Any], limit: int | None) -> Sequence[Mapping[str, Any]]:
        """The rows of the data, or the first of them."""
        data = given["data"]
        if _is_demo(given):
            rows: Sequence[Mapping[str, Any]] = demo.load_rows()
        else:
            rows = read_file(data, given.get("split")) if isinstance(data, str) else read_rows(data, given.get("split"))
        if given.get("log"):
            rows = read_log(rows)
        return rows if limit is None else self._first(rows, limit, given)

    def _first(
        self, rows: Sequence[Mapping[str, Any]], limit: int, given: Mapping[str, Any]
    ) -> Sequence[Mapping[str, Any]]:
        """The first rows; where a prompt has several, the rows of the first prompts."""
        long = given.get("systems_field") or self.name == "read" or ("votes" in given and "votes" in self.one_of)
        column = given.get("id_field") or ("id" if "id" in rows[0] else None)
        names = [name_of(row.get(column)) if long and column else str(place) for place, row in enumerate(rows)]
        first = list(dict.fromkeys(names))
        kept = {*first[:limit]}
        if len(kept) < len(first):
            what = f"prompts, told apart by {column!r}," if long and column else "rows"
            note(f"the first {limit} of {len(first)} {what} are taken (--limit {limit})")
        return [row for row, name in zip(rows, names, strict=True) if name in kept]

    def _run(self, given: Mapping[str, Any]) -> int:
        self.check_given(given)
        ending = Ending.of(self, given)
        result = self.result(given, ending)
        if given.get("dry_run"):
            print_estimate(result, at_most=bool(given.get("stop")))
            return 0
        return ending.shown(result)

    @property
    def asks(self) -> bool:
        """Whether its result holds votes that judges were asked for."""
        return bool(self.kind) and "engine" in Declared.of(self.function).own

    def _prepare(self, given: dict[str, Any]) -> None:
        """What the shell spells in its own way, as the function takes it."""
        function = Declared.of(self.function)
        if "rubric" in given:
            given["criteria"] = load_rubric(given.pop("rubric"))
        if isinstance(given.get("mode"), str) and ":" in given["mode"]:
            given["mode"] = _imported(given["mode"])
        if isinstance(given.get("gold_fields"), str) and "gold_field" in function.own:
            given["gold_field"] = given.pop("gold_fields")

    def _split(self, rows: Sequence[Mapping[str, Any]], given: dict[str, Any]) -> None:
        """Make a list of what names columns or systems, which the shell takes as one text with commas too."""
        for name in self.columns:
            if name in given:
                systems_field = given.get("systems_field") if name == "systems" else None
                given[name] = split_at_commas(_named(given[name]), _known(rows, systems_field))


def _is_demo(given: Mapping[str, Any]) -> bool:
    """Whether the data are those that ship with evenhand."""
    return isinstance(given["data"], str) and given["data"] == DEMO and not Path(DEMO).exists()


VERBS = (
    Verb(
        "judge",
        "judge",
        kind="judgements",
        written=("entries", "verdict"),
        required=("response_field",),
        one_of=("criteria", "rubric", "rubric_field"),
        columns=("response_field",),
        also={
            "criteria": CRITERIA,
            "rubric": declared(str, None, "The catalog id, or the JSON or YAML file, of a rubric."),
        },
    ),
    Verb(
        "compare",
        "winrates",
        kind="winrates",
        written=("contests", "contest"),
        one_of=("engine", "votes"),
        columns=("systems", "votes"),
        also={"votes": VOTES},
    ),
    Verb(
        "checklist",
        "checklist",
        kind="checklist",
        written=("responses", "checked response"),
        one_of=("checklist", "checklist_field"),
        columns=("response_field", "votes"),
        also={"votes": VOTES},
    ),
    Verb(
        "judge-report",
        "reliability",
        one_of=("engine", "votes"),
        columns=("response_field", "systems", "votes"),
        also={
            "votes": VOTES,
            "criteria": CRITERIA,
            "gold_fields": declared(
                str | Mapping[str, str],
                None,
                "Criterion name -> column with what people said: a label, or the preferred system or tie; with one "
                "criterion the column alone.",
            ),
            "out": declared(str, None, "Write the result there: as .json (which can be read again), .md or .html."),
        },
    ),
    Verb(
        "run-mode",
        "run_mode",
        kind="mode_results",
        written=("subjects", "judged subject"),
        required=("response_field",),
        columns=("response_field",),
    ),
    Verb("aggregate", "aggregate_votes", kind="aggregated_votes", written=("verdicts", "verdict")),
    Verb(
        "read",
        "read_replies",
        kind="aggregated_votes",
        written=("verdicts", "verdict"),
        columns=("replies",),
    ),
    Verb("agree", "agreement", kind="agreement", written=("pairs", "pair")),
)


def _check_cluster(options: JobOptions, stream: StreamOptions) -> None:
    if options.ray is not None and stream.stream_to is None:
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
    if engine == BASELINE:
        say(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is. It never reads a question, so that it answers all "
            "questions of the checklist alike."
        )
    rows = demo.load_rows()
    RunSettings.from_options(how, ["ordinal", "pairwise"])  # what the second part refuses is refused before the first
    judged = tables.judge(
        rows, list(demo.CRITERIA), engine, response_field=demo.SYSTEMS, gold_fields=demo.GOLD_FIELDS, **how
    )
    say(judged)
    compared = tables.winrates(rows, demo.SYSTEMS, demo.COMPARISON, engine, gold_field=demo.GOLD_PREFERENCE, **how)
    say(compared)
    items = demo.load_demo_checklist()
    checked = tables.checklist(rows, items, engine, response_field=demo.SYSTEMS, **_of_a_checklist(how))
    say(checked)
    say(
        "The same with a real model: evenhand demo --engine 'engines.evenhand.litellm[model=openai/gpt-4.1-mini]' "
        "or, for any OpenAI-compatible server, "
        "'engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=NAME]'"
    )
    judged.to_html(report, data=rows, title="The demonstration of evenhand: every verdict")
    say(f"The report, with every verdict: {report} (open it in a browser; it needs no network)", saved=report)
    unscored = [line for each in (judged, compared, checked) for line in too_much_unscored(each)]
    for line in unscored:
        complain(line)
    return EXIT_GATE if unscored else 0


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

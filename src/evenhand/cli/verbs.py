"""The verbs that are Python functions: what each takes beside their parameters, how it runs and what it prints."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import ArgumentCollection, Group, Parameter
from pydantic.fields import FieldInfo

from evenhand.cli.options import Declared, Words, declared, flag_of, model_options, plain, shell_option
from evenhand.cli.output import OutputError, say
from evenhand.errors import InvalidInputError
from evenhand.files import expanded
from evenhand.known_ids import check_ids
from evenhand.numbers import format_cost, format_count
from evenhand.run_options import RunOptions

if TYPE_CHECKING:
    from evenhand.judging.run import RunEstimate

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
LOG = declared(
    bool, False, "DATA is a log of inspect_ai, lm-eval, AlpacaEval or MT-Bench: take its rows from read_log."
)
VOTES = declared(Words, None, "The column of DATA that holds recorded votes, or several, one per judge: none is asked.")
READ = ("journal", "criteria", "rubric", "checklist", "examples")
"""What may name a file that a run reads, beside the data."""


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

    def command(self) -> Callable[..., int]:
        """The verb as cyclopts runs it: the function's parameters, options and docstring, under the shell's names."""
        function = Declared.of(self.function)
        further = {"leave_out": LEAVE_OUT} if self.asks else {"log": LOG} if self.kind else {}
        own = {**function.own, "out": OUT, **further, **self.also}
        names = [*own, *(name for model in function.models for name in model.model_fields)]

        def command(data: Data, /, **given: Any) -> int:  # noqa: ANN401 - each option says its own type
            return self._run(function, data, given)

        command.__doc__ = plain(function.doc, names)
        alternatives = Group("What is asked", sort_key=0, validator=self._check_one_of)
        parameters = [
            inspect.Parameter("data", inspect.Parameter.POSITIONAL_ONLY, annotation=Data),
            *(
                shell_option(
                    name,
                    info,
                    names,
                    required=name in self.required or (info.is_required() and name not in self.one_of),
                    group=alternatives if name in self.one_of else None,
                )
                for name, info in own.items()
                if name != "dataset" and not (name == "gold_field" and "gold_fields" in own)
            ),
            *(option for model in function.models for option in model_options(model, names)),
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # as inspect reads
        return command

    def _check_one_of(self, options: ArgumentCollection) -> None:
        if len(options.filter_by(value_set=True)) != 1:
            raise ValueError(f"Give {' or '.join(map(flag_of, self.one_of))}, one of them.")

    def _run(self, function: Declared, data: str, given: dict[str, Any]) -> int:
        check_ids(given.values())
        from evenhand import tables  # noqa: PLC0415 - seconds of import
        from evenhand.data.formats.annotations import read_log  # noqa: PLC0415 - as above

        rows = tables.read_file(data, given.pop("split", None))
        if given.pop("log", False):
            rows = read_log(rows)
        out = check_out(given.pop("out", None), [data, *(name for key in READ for name in _named(given.get(key)))])
        left_out = given.pop("leave_out", None) or ()
        if out is not None:
            self._check_file(out, left_out)
        elif left_out:
            raise InvalidInputError("--leave-out says what --out does not write, and there is no --out: give one")
        self._prepare(function, rows, given)
        required = [name for name, info in function.own.items() if info.is_required() and name != "dataset"]
        places = [given.pop(name, None) for name in required]
        result = getattr(tables, self.function)(rows, *places, **given)
        if given.get("dry_run"):
            print_estimate(result, at_most=bool(given.get("stop")))
            return 0
        if out is None:
            say(result)
            return 0
        try:
            result.save(out, **({"leave_out": left_out} if left_out else {}))
        except BaseException:
            with suppress(OutputError):
                say(result)  # it is shown, at least
            raise
        attribute, name = self.written
        held = format_count(len(getattr(result, attribute)), name) if self.kind else "the report was"
        say(result, f"{held} written to {out}", saved=out)
        return 0

    @property
    def asks(self) -> bool:
        """Whether its result holds votes that judges were asked for."""
        return bool(self.kind) and "engine" in Declared.of(self.function).own

    def _check_file(self, out: Path, left_out: Collection[str]) -> None:
        """Check before the first call that the result can be saved under a name that ends so, without that."""
        from evenhand.results import saved, votes_columns  # noqa: PLC0415 - seconds of import
        from evenhand.tables.reliability_of_judges import REPORT_SUFFIXES  # noqa: PLC0415 - as above

        votes_columns.check_left_out(left_out)
        if self.kind:
            saved.check_suffix(out)
        else:
            saved.check_ending(out, REPORT_SUFFIXES)

    def _prepare(self, function: Declared, rows: Sequence[Mapping[str, Any]], given: dict[str, Any]) -> None:
        """What the shell spells in its own way, as the function takes it."""
        if given.get("resamples", 1) < 1:
            raise InvalidInputError(f"--resamples is {given['resamples']!r}; at least 1 draw is needed")
        if "rubric" in given:
            from evenhand.unitxt.loading import load_rubric  # noqa: PLC0415 - seconds of import

            given["criteria"] = load_rubric(given.pop("rubric"))
        if ":" in given.get("mode", ""):
            given["mode"] = _imported(given["mode"])
        if isinstance(given.get("gold_fields"), str) and "gold_field" in function.own:
            given["gold_field"] = given.pop("gold_fields")
        for name in self.columns:
            if name in given:
                systems_field = given.get("systems_field") if name == "systems" else None
                given[name] = split_at_commas(_named(given[name]), _known(rows, systems_field))


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


def check_out(given: str | Path | None, read: Iterable[str]) -> Path | None:
    """Check before the first call that the result can be written, and over nothing that the user gave.

    Raises:
        InvalidInputError: If ``--out`` is a folder, lies in none, cannot be written, or is a file that the run reads.
    """
    if given is None:
        return None
    if not str(given).strip() or "\0" in str(given):
        raise InvalidInputError(f"--out is {str(given)!r}; name a file")
    out = expanded(given)
    try:
        _check_place(out)
    except OSError as error:
        raise InvalidInputError(
            f"--out is {str(out)!r}, which cannot be written ({error.strerror}); give another path"
        ) from error
    for name in read:
        if _is_same(out, expanded(name)):
            raise InvalidInputError(f"--out is {str(out)!r}, the same file as the input {name!r}; give another path")
    return out


def _check_place(out: Path) -> None:
    """Make a file beside it, as saving does, and take it away again; what is there stays."""
    if out.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, which is a folder; name a file in it")
    if not out.resolve().parent.is_dir():
        raise InvalidInputError(f"--out is {str(out)!r}, but its folder does not exist; create it first")
    if out.exists() and not out.is_file():
        raise InvalidInputError(f"--out is {str(out)!r}, which is no regular file; give another path")
    if out.exists() and not os.access(out, os.W_OK):
        raise InvalidInputError(f"--out is {str(out)!r}, which may not be written; give another path")
    target = out.resolve()  # where a link leads
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.touch()
    beside.unlink()


def _is_same(out: Path, path: Path) -> bool:
    try:
        return out.resolve() == path.resolve() or out.samefile(path)
    except (OSError, ValueError):  # one of them is not there, or a text that names no file
        return False


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
        if verb.name == name:
            return verb.command()
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
    check_ids([engine])
    report = _place_of_report(out)
    from evenhand import demo  # noqa: PLC0415 - seconds of import
    from evenhand.judging.settings import RunSettings  # noqa: PLC0415 - as above
    from evenhand.tables import checklist, judge, winrates  # noqa: PLC0415 - as above

    if engine == BASELINE:
        say(
            "No engine was given, so the judge is the embedded baseline: text statistics without a model. "
            "It shows how evenhand works, not how good an answer is. It never reads a question, so that it answers all "
            "questions of the checklist alike."
        )
    rows = demo.load_rows()
    RunSettings.from_options(how, ["ordinal", "pairwise"])  # what the second part refuses is refused before the first
    judged = judge(rows, list(demo.CRITERIA), engine, response_field=demo.SYSTEMS, gold_fields=demo.GOLD_FIELDS, **how)
    say(judged)
    say(winrates(rows, demo.SYSTEMS, demo.COMPARISON, engine, gold_field=demo.GOLD_PREFERENCE, **how))
    say(checklist(rows, demo.load_demo_checklist(), engine, response_field=demo.SYSTEMS, **_of_a_checklist(how)))
    say(
        "The same with a real model: evenhand demo --engine 'engines.evenhand.litellm[model=openai/gpt-4.1-mini]' "
        "or, for any OpenAI-compatible server, "
        "'engines.evenhand.openai_compatible[base_url=http://localhost:8000/v1,model=NAME]'"
    )
    judged.to_html(report, data=rows, title="The demonstration of evenhand: every verdict")
    say(f"The report, with every verdict: {report} (open it in a browser; it needs no network)", saved=report)
    return 0


def _place_of_report(out: str | None) -> Path:
    """Where the demonstration's report goes: where it is said, or here, or in a temporary folder where it cannot be."""
    from evenhand.results.saved import check_ending  # noqa: PLC0415 - seconds of import

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

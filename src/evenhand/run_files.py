"""Run files, and the jobs that they hold: one model per verb of the shell.

A run file is a job in YAML or JSON: ``job`` names the verb. A saved result holds the job that made it. The call (flags
of the shell, keywords of :func:`evenhand.run`) counts before the file, and that before the defaults; a value replaces
another whole. Of alternatives (criteria or a column of rubrics), the choice of the call removes that of the file. Paths
in a file are relative to the file; all others to the current folder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, Union

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from evenhand.data.plain import MOST_YAML_BYTES, parse_json, parse_yaml, read_text
from evenhand.errors import InvalidInputError, check_known, did_you_mean
from evenhand.files import check_out, expanded
from evenhand.options import (
    AggregateVotesArguments,
    AgreementArguments,
    ChecklistArguments,
    JudgeArguments,
    Options,
    ReadRepliesArguments,
    ReliabilityArguments,
    RunModeArguments,
    WinratesArguments,
    option,
)
from evenhand.results.made_by import LEFT_OUT, absolute

TEXTS: Final = ("guidelines", "prompt")
"""Options that may name a file that holds the text."""

_FILE_NAME: Final = re.compile(r"\S+\.(txt|md|j2|jinja2?|json|ya?ml)|[~.]{0,2}/\S+", re.IGNORECASE)
TEMPLATES: Final = Path(__file__).with_name("templates")
FORMATS: Final = ("table", "json", "junit", "markdown")


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


Words = Annotated[str | tuple[str, ...], AfterValidator(_several)]


class Checks(Options):
    """Conditions that a result is checked by, and how it is printed."""

    require: Words = option(
        (), "A condition that must hold, else the exit code is 3: 'relevance.low >= 0.7', 'unscored <= 2 %'."
    )
    format: Words = option(
        (), "How the result is printed: table, json, junit or markdown; NAME=FILE writes it to a file."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Check all that can be checked before anything is read or asked."""
        if self.require:
            from evenhand.report.gates import Condition  # noqa: PLC0415 - only who has conditions needs it

            for text in self.require:
                Condition.parse(text)
        for form, file in self.formats:
            accepted = FORMATS[1:] if file else FORMATS
            check_known(form, accepted, f"--format is {form!r}")
            check_out(file or None, ())
        if sum(not file for _, file in self.formats) > 1:
            raise InvalidInputError("only one is printed of what --format names: write the others as NAME=FILE")
        return self

    @property
    def formats(self) -> Sequence[tuple[str, str]]:
        """The names of formats, and the file of each; empty if it is printed."""
        return [(form, file) for form, _, file in (each.partition("=") for each in self.format)]


class Job(Checks):
    """The options that every job has: its data, how many rows, which files are written, and what must hold.

    Attributes:
        function: The Python function that it calls.
        needs: Groups of options; exactly one option of each group must be given.
    """

    function: ClassVar[str]
    needs: ClassVar[tuple[tuple[str, ...], ...]] = ()
    not_flags: ClassVar[frozenset[str]] = frozenset({"job", "data"})

    data: Any = option(None, "The rows: a file, or a saved data set; 'demo' are those that ship with evenhand.")
    out: str | Path | None = option(None, "Write the result there: .parquet is read again, .jsonl is an export.")
    limit: int | None = option(None, "Judge only the first rows.", ge=1)
    report: str | Path | None = option(None, "Write a page there (.html) with scores, pictures and every verdict.")
    max_unscored: float | None = option(
        None,
        "The share of votes that may be unscored before the exit code is 3; by default 0.1 if judges are asked.",
        ge=0,
        le=1,
    )
    config: str | None = option(None, "A run file, or a saved result, for what no flag says.")

    @classmethod
    def verb(cls) -> str:
        """Return the name of the verb, which is that of the job in a run file."""
        return str(cls.model_fields["job"].default)

    @classmethod
    def variant(cls, options: Mapping[str, Any]) -> type[Job]:
        """Return the model of a job that sets these options."""
        del options
        return cls

    @classmethod
    def settled(cls, call: Mapping[str, Any], file: RunFile | None = None) -> Job:
        """Return the job that a call and a file describe together.

        Raises:
            InvalidInputError: An option that does not exist, or a value that is not accepted.
        """
        if file is None:
            return cls.variant(call)(**call)
        replaced = {name for group in cls.needs if call.keys() & {*group} for name in group}
        given = {**{name: value for name, value in file.options_of(cls).items() if name not in replaced}, **call}
        for name in file.left_out:
            if name not in given:
                raise InvalidInputError(
                    f"{file.name} does not hold the {name} of the run that made it: no file can, or it may be secret; "
                    f"give {name}"
                )
        return cls.variant(given)(**given)

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, in their order."""
        return {
            name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set - {"job"}
        }

    def check_complete(self) -> None:
        """Check that everything that is needed was given.

        Raises:
            InvalidInputError: If not; the message names the missing option.
        """
        given = {name for name, value in self.given.items() if value is not None}
        for group in (("data",), *self.needs):
            found = given & {*group}
            if len(found) != 1:
                flags = " or ".join("DATA" if name == "data" else f"--{name.replace('_', '-')}" for name in group)
                why = "which is missing" if not found else "and only one of them may be given"
                raise InvalidInputError(f"{self.verb()} needs {flags}, {why}")


class AskingJob(Job):
    """The options of every job that asks judges."""

    ray: str | None = option(
        None, "With ``stream_to``: the address of a Ray cluster whose workers judge; ``here`` is that of this machine."
    )
    workers: int | None = option(None, "With ``ray``: how many processes judge; by default one per CPU.", ge=1)


class JudgeJob(JudgeArguments, AskingJob):
    """Assess every response of a data set against one or more criteria, or against a rubric."""

    function, needs = "judge", (("engine",), ("criteria", "rubric_field"))
    job: Literal["judge"] = "judge"
    mode: Any = option(None, "Judge in another way: the kind of a mode, of evenhand or of a package.")
    mode_options: Mapping[str, Any] | None = option(None, "With ``mode``: its own options, as NAME=VALUE.")

    @classmethod
    def variant(cls, options: Mapping[str, Any]) -> type[Job]:
        """Return the job of a mode if one is given."""
        return ModeJob if options.get("mode") is not None else cls


class ModeJob(RunModeArguments, AskingJob):
    """Judge every row of a data set in the way of a mode."""

    function, needs = "run_mode", (("engine",),)
    job: Literal["judge"] = "judge"


class WinratesJob(WinratesArguments, AskingJob):
    """Compare systems: which is better, by how much, and how sure that is."""

    function, needs = "winrates", (("engine", "votes"),)
    job: Literal["winrates"] = "winrates"


class ChecklistJob(ChecklistArguments, AskingJob):
    """Answer the yes/no questions of a checklist about every response of a data set."""

    function, needs = "checklist", (("engine", "votes"), ("checklist", "checklist_field"))
    job: Literal["checklist"] = "checklist"


class ReliabilityJob(ReliabilityArguments, AskingJob):
    """Measure how far a judge can be trusted: when the order changes, and when it is asked again."""

    function, needs = "reliability", (("engine", "votes"),)
    job: Literal["reliability"] = "reliability"


class RecordedJob(Job):
    """The options of every job about recorded votes."""

    log: bool = option(False, "DATA is a log of inspect_ai, lm-eval, AlpacaEval or MT-Bench.")


class AggregateVotesJob(AggregateVotesArguments, RecordedJob):
    """Reduce recorded votes to verdicts, and the verdicts to scores."""

    function, needs = "aggregate_votes", (("votes",),)
    job: Literal["aggregate-votes"] = "aggregate-votes"


class ReadRepliesJob(ReadRepliesArguments, RecordedJob):
    """Read recorded reply texts as votes, and reduce the votes on each instance to a verdict."""

    function, needs = "read_replies", (("replies",),)
    job: Literal["read-replies"] = "read-replies"


class AgreementJob(AgreementArguments, RecordedJob):
    """Measure how far judges agree with people, people with people, and judges with judges."""

    function, needs = "agreement", (("votes",),)
    job: Literal["agreement"] = "agreement"
    annotator_test: float | None = option(
        None,
        "May the judge stand in for people, with this advantage? 0.2 for experts, 0.15 for skilled people.",
        ge=0,
        lt=1,
    )


_MODELS = (JudgeJob, WinratesJob, ChecklistJob, ReliabilityJob, AggregateVotesJob, ReadRepliesJob, AgreementJob)
JOBS: Final[Mapping[str, type[Job]]] = {model.verb(): model for model in _MODELS}
"""The accepted values of ``job`` in a run file."""


@dataclass(frozen=True)
class RunFile:
    """The job that a file holds.

    Attributes:
        name: The file.
        options: Name -> value, with absolute paths.
        left_out: Options of the run that the result could not record.
    """

    name: str
    options: Mapping[str, Any]
    left_out: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: str | Path) -> Self:
        """Read a run file, or the run of a saved result.

        Raises:
            InvalidInputError: If it holds none.
        """
        path, what = expanded(given), f"the run file {str(given)!r}"
        if path.suffix.lower() == ".parquet":
            from evenhand.results.vote_columns import header_if_saved  # noqa: PLC0415 - half a second of import

            run = (header_if_saved(path) or {}).get("run")
            if not run:
                raise InvalidInputError(f"{what} is not a saved result that says which run made it; give a run file")
            options = absolute(run, path.parent)
            return cls(str(given), options, tuple(options.pop(LEFT_OUT, ())))
        text = read_text(path, what, MOST_YAML_BYTES)
        held = (parse_json if path.suffix.lower() == ".json" else parse_yaml)(text, what)
        if not isinstance(held, dict):
            raise InvalidInputError(
                f"{what} is not a mapping of names to values; evenhand run --template judge shows one"
            )
        options = absolute({name: value for name, value in held.items() if name != "$schema"}, path.parent)
        for name in TEXTS:
            if isinstance(options.get(name), str):
                options[name] = text_or_file(f"{given}: {name}", options[name], path.parent)
        if "format" in options:
            formats = [str(each).partition("=") for each in _several(options["format"])]
            options["format"] = [
                f"{form}={path.parent / expanded(file)}" if file else form for form, _, file in formats
            ]
        return cls(str(given), options)

    @property
    def job(self) -> type[Job]:
        """The job that it names.

        Raises:
            InvalidInputError: If it names none.
        """
        named = self.options.get("job")
        if not isinstance(named, str) or named not in JOBS:
            problem = f"{self.name} has no job" if named is None else f"{self.name}: job is {named!r}"
            raise InvalidInputError(f"{problem}. {did_you_mean(str(named), JOBS)}")
        return JOBS[named]

    def options_of(self, model: type[Job]) -> dict[str, Any]:
        """Return the options that it sets for a job, checked.

        Raises:
            InvalidInputError: If it holds another job, or options that the job does not accept.
        """
        if self.options.get("job") is not None and self.job is not model:
            raise InvalidInputError(
                f"{self.name}: job is {self.options['job']!r}, and this is {model.verb()}: evenhand run FILE"
            )
        found = {name: value for name, value in self.options.items() if name != "job"}
        try:
            model.variant(found)(**found)
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.name}: {error}") from error
        return found


def text_or_file(place: str, given: str, folder: Path = Path()) -> str:
    """Return a text, or the text of the file that it names, relative to this folder.

    Raises:
        InvalidInputError: If it looks like the name of a file that does not exist, or cannot be read.
    """
    try:
        named = (folder / expanded(given)).exists()
    except OSError:  # a text too long for the name of a file
        named = False
    if named:
        return read_text(folder / expanded(given), f"the file {given!r}")
    if _FILE_NAME.fullmatch(given):
        raise InvalidInputError(
            f"{place} is {given!r}, which looks like the name of a file that is not there; give the text itself, or "
            "the path of a file that holds it"
        )
    return given


def template(name: str) -> str:
    """Return the text of a run file to start from.

    Raises:
        InvalidInputError: If there is none of this name.
    """
    found = {path.stem: path for path in sorted(TEMPLATES.glob("*.yaml"))}
    check_known(name, found, f"--template is {name!r}")
    return found[name].read_text(encoding="utf-8").rstrip("\n")


def schema() -> str:
    """Return the JSON schema of run files, by which editors complete and check them."""
    jobs: Any = Annotated[Union[tuple(JOBS.values())], Field(discriminator="job")]  # noqa: UP007 - of a tuple
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(jobs).json_schema()}
    for shape in found["$defs"].values():
        if "job" in shape["properties"]:
            shape["properties"]["$schema"] = {"type": "string"}
            shape["required"] = ["job"]
    return json.dumps(found, indent=2, ensure_ascii=False)

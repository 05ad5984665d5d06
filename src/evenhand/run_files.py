"""Run files: the jobs that they hold, one model per verb of the shell; how a job runs, and what it writes.

A run file is a job in YAML or JSON: ``job`` names the verb. A saved result holds the job that made it. What is
set in several places counts in this order: the call (flags of the shell, keywords of :func:`run`); the environment
(``EVENHAND_RUN_MAX_CALLS=20``, written as in a run file); the file; the defaults. A value replaces the one of the place
below whole. Of alternatives (criteria or a column of rubrics), the choice of the higher place removes that of the
lower. Paths in a file are relative to the file; all others to the current folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, Self, Union

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from evenhand.data.plain import YAML_ENDINGS, parse_json, parse_yaml, read_text
from evenhand.errors import InvalidInputError, did_you_mean
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
from evenhand.results.run_record import LEFT_OUT, absolute

if TYPE_CHECKING:
    pass

PREFIX: Final = "EVENHAND_RUN_"
RESULT: Final = ".parquet"
ENDINGS: Final = (*sorted(YAML_ENDINGS), ".json", RESULT)
MOST_BYTES: Final = 1024**2
Words = str | tuple[str, ...] | None
TEXTS: Final = ("guidelines", "prompt")
"""Options that may name a file that holds the text."""

_FILE_NAME: Final = re.compile(r"\S+\.(txt|md|j2|jinja2?|json|ya?ml)|[~.]{0,2}/\S+", re.IGNORECASE)
TEMPLATES: Final = Path(__file__).with_name("templates")


FORMATS: Final = ("table", "json", "junit", "markdown")


class Checks(Options):
    """Conditions that a result is checked by, and how it is printed."""

    require: str | tuple[str, ...] = option(
        (),
        "A condition that must hold, else the exit code is 3: 'relevance.low >= 0.7' or 'unscored <= 2 %'. It may be "
        "given several times; all must hold. The result is saved in any case.",
    )
    format: str | tuple[str, ...] = option(
        (),
        "How the result is printed: table, json, junit or markdown; NAME=FILE writes that to a file. It may be given "
        "several times.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Check all that can be checked before anything is read or asked."""
        if self.require:
            from evenhand.report.gates import Condition  # noqa: PLC0415 - only who has conditions needs it

            for text in self.conditions:
                Condition.parse(text)
        for form, file in self.formats:
            if form not in FORMATS:
                raise InvalidInputError(f"--format is {form!r}. {did_you_mean(form, FORMATS)}")
            if file is not None and form == "table":
                raise InvalidInputError(f"--format is table={file}, and 'table' is written to no file; leave it out")
            check_out(file, ())
        if len([form for form, file in self.formats if file is None]) > 1:
            raise InvalidInputError(
                f"--format is {list(self.format)!r}, and only one is printed: write the others to files, as "
                "junit=checks.xml"
            )
        return self

    @property
    def conditions(self) -> tuple[str, ...]:
        """All conditions."""
        return (self.require,) if isinstance(self.require, str) else self.require

    @property
    def formats(self) -> Sequence[tuple[str, str | None]]:
        """The names of formats, and the file of each; None if it is printed."""
        given = (self.format,) if isinstance(self.format, str) else self.format
        return [(form, file if sign else None) for form, sign, file in (each.partition("=") for each in given)]


NOTHING: Final = Checks()


class Job(Checks):
    """The options that every job has: its data, how many rows, which files are written, and what must hold.

    Attributes:
        function: The Python function that it calls.
        needed: Options that must be given though the function has a default.
        one_of: Groups of options; exactly one option of each group must be given.
    """

    function: ClassVar[str]
    needed: ClassVar[tuple[str, ...]] = ()
    one_of: ClassVar[tuple[tuple[str, ...], ...]] = ()
    not_flags: ClassVar[frozenset[str]] = frozenset({"job", "data"})

    data: Any = option(None, "The rows: a file, or a saved data set; 'demo' are those that ship with evenhand.")
    out: str | Path | None = option(None, "Write the result there: .parquet is read again, .jsonl is an export.")
    limit: int | None = option(None, "Judge only the first rows, or the first prompts if these have several.", ge=1)
    report: str | Path | None = option(None, "Write a page there (.html) with scores, pictures and every verdict.")
    max_unscored: float | None = option(
        None,
        "The share of votes that may be unscored before the exit code is 3: by default 0.1 where judges are asked or "
        "replies are read, and 1 for recorded votes. The result is saved in any case.",
        ge=0,
        le=1,
    )
    config: str | None = option(None, "A run file, or a saved result: its options hold where no flag says otherwise.")

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
        """Return the job that a call, the environment and a file describe together.

        Raises:
            InvalidInputError: An option that does not exist, or a value that is not accepted.
        """
        held, given = {} if file is None else file.options_of(cls), dict(call)
        for layer in (_environment(cls), held):
            taken = {name for group in cls.one_of if given.keys() & {*group} for name in group}
            given = {**{name: value for name, value in layer.items() if name not in taken}, **given}
        if file is not None:
            file.check_complete(given)
        try:
            return cls.variant(given)(**given)
        except InvalidInputError as error:
            cause = error.__cause__
            refused = cause.errors()[0]["loc"] if isinstance(cause, ValidationError) else ()
            if file is None or not refused or refused[0] not in held or refused[0] in call:
                raise
            name = str(refused[0])
            raise InvalidInputError(f"{file.name}: {name}{str(error).removeprefix(name)}") from error

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
        verb, given = self.verb(), {name for name, value in self.given.items() if value is not None}
        for name in ("data", *self.needed):
            if name not in given:
                where = "DATA, a file of rows" if name == "data" else f"{_flag(name)} ({name} in a run file)"
                raise InvalidInputError(f"{verb} needs {where}, which is missing")
        for group in self.one_of:
            if (found := [name for name in group if name in given]) and len(found) == 1:
                continue
            flags = " or ".join(map(_flag, group))
            what = "none is given" if not found else f"{' and '.join(map(_flag, found))} are given"
            raise InvalidInputError(f"{verb} needs {flags}, one of them, and {what}")


class AskingJob(Job):
    """The options of every job that asks judges."""

    leave_out: Words = option(None, "What of the votes --out does not hold: prompts, reasoning, logprobs.")
    ray: str | None = option(
        None,
        "With ``stream_to``: judge by workers on the Ray cluster at this address (``pip install 'evenhand[ray]'``); "
        "``here`` is the cluster that runs on this machine, or else one that is started.",
    )
    workers: int | None = option(None, "With ``ray``: how many processes judge; by default one per CPU.", ge=1)

    @model_validator(mode="after")
    def _has_workers(self) -> Self:
        if self.ray is not None and getattr(self, "stream_to", None) is None:
            raise InvalidInputError(
                f"--ray is {self.ray!r} and --stream-to is missing: name the folder for the verdicts, which all "
                "machines of the cluster share"
            )
        if self.workers is not None and self.ray is None:
            raise InvalidInputError(f"--workers is {self.workers!r}, which is for --ray: give that, or leave it out")
        return self


class JudgeJob(JudgeArguments, AskingJob):
    """``evenhand judge``."""

    function, needed, one_of = "judge", ("engine",), (("criteria", "rubric_field"),)
    job: Literal["judge"] = "judge"
    mode: Any = option(None, "Judge in another way: the kind of a mode, or MODULE:CLASS of one of your own.")
    mode_options: Mapping[str, Any] | None = option(None, "With ``mode``: its own options, as NAME=VALUE.")

    @classmethod
    def variant(cls, options: Mapping[str, Any]) -> type[Job]:
        """Return the job of a mode if one is given."""
        return ModeJob if options.get("mode") is not None else cls


class ModeJob(RunModeArguments, AskingJob):
    """``evenhand judge --mode``."""

    function, needed = "run_mode", ("engine",)
    job: Literal["judge"] = "judge"


class WinratesJob(WinratesArguments, AskingJob):
    """``evenhand winrates``."""

    function, one_of = "winrates", (("engine", "votes"),)
    job: Literal["winrates"] = "winrates"


class ChecklistJob(ChecklistArguments, AskingJob):
    """``evenhand checklist``."""

    function, one_of = "checklist", (("engine", "votes"), ("checklist", "checklist_field"))
    job: Literal["checklist"] = "checklist"


class ReliabilityJob(ReliabilityArguments, AskingJob):
    """``evenhand reliability``."""

    function, one_of = "reliability", (("engine", "votes"),)
    job: Literal["reliability"] = "reliability"


class RecordedJob(Job):
    """The options of every job about recorded votes."""

    log: bool = option(
        False, "DATA is a log of inspect_ai, lm-eval, AlpacaEval or MT-Bench: take its rows from read_log."
    )


class AggregateVotesJob(AggregateVotesArguments, RecordedJob):
    """``evenhand aggregate-votes``."""

    function, needed = "aggregate_votes", ("votes",)
    job: Literal["aggregate-votes"] = "aggregate-votes"


class ReadRepliesJob(ReadRepliesArguments, RecordedJob):
    """``evenhand read-replies``."""

    function, needed = "read_replies", ("replies",)
    job: Literal["read-replies"] = "read-replies"


class AgreementJob(AgreementArguments, RecordedJob):
    """``evenhand agreement``."""

    function, needed = "agreement", ("votes",)
    job: Literal["agreement"] = "agreement"
    annotator_test: float | Literal["expert", "skilled", "crowd"] | None = option(
        None,
        "May the judge stand in for these people? The alternative annotator test, with what the judge is given in "
        "advance for being cheaper: a number from 0 to below 1, or by who the people are: expert (0.2), skilled "
        "(0.15), crowd (0.1).",
    )


JOBS: Final[Mapping[str, type[Job]]] = {
    model.verb(): model
    for model in (
        JudgeJob,
        WinratesJob,
        ChecklistJob,
        ReliabilityJob,
        AggregateVotesJob,
        ReadRepliesJob,
        AgreementJob,
    )
}
"""The accepted values of ``job`` in a run file."""


def _environment(model: type[Job]) -> dict[str, object]:
    """Return the options that the environment sets, written as in a run file."""
    given = {name.upper(): value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}
    known = {PREFIX + name.upper() for each in JOBS.values() for name in each.model_fields} if given else set()
    for name in given:
        if name not in known:
            raise InvalidInputError(f"the environment has {name}, which no run reads. {did_you_mean(name, known)}")
    own = {name: given.get(PREFIX + name.upper()) for name in model.model_fields}
    return {name: parse_yaml(text, f"{PREFIX}{name.upper()}={text}") for name, text in own.items() if text is not None}


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
        ending = path.suffix.lower()
        if ending == RESULT:
            options = _run_of_result(path)
            return cls(str(given), options, tuple(options.pop(LEFT_OUT, ())))
        if ending not in ENDINGS:
            raise InvalidInputError(
                f"{what} ends in {path.suffix!r}. Accepted: {', '.join(map(repr, ENDINGS))}; the last is a saved result"
            )
        text = read_text(path, what, MOST_BYTES)
        held = (parse_json if ending == ".json" else parse_yaml)(text, what)
        if not isinstance(held, dict):
            raise InvalidInputError(
                f"{what} is not a mapping of names to values; evenhand run --template judge shows one"
            )
        options = absolute({name: value for name, value in held.items() if name != "$schema"}, path.parent)
        file = cls(str(given), options)
        for name in TEXTS:
            if isinstance(options.get(name), str):
                options[name] = text_or_file(f"{file.name}: {name}", options[name], path.parent)
        if "format" in options:
            options["format"] = _with_places(options["format"], path.parent)
        return file

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
        """Return the options that it sets for a job.

        Raises:
            InvalidInputError: If it holds another job, or an option that the job does not have.
        """
        if self.options.get("job") is not None and self.job is not model:
            verb = model.model_fields["job"].default
            raise InvalidInputError(
                f"{self.name}: job is {self.options['job']!r}, and this is {verb}: evenhand run FILE"
            )
        found = {name: value for name, value in self.options.items() if name != "job"}
        for name in found:
            if name not in model.model_fields:
                known = [*model.model_fields]
                raise InvalidInputError(f"{self.name}: {name} is not an option. {did_you_mean(name, known)}")
        return found

    def check_complete(self, given: Mapping[str, Any]) -> None:
        """Check that everything is given that a saved result could not say of its run."""
        for name in self.left_out:
            if name not in given:
                raise InvalidInputError(
                    f"{self.name} does not hold the {name} of the run that made it: no file can, or it may be secret; "
                    f"give {name}"
                )


def _with_places(formats: object, folder: Path) -> object:
    """Return formats with the paths of their files, such as ``junit=checks.xml``, relative to a folder."""
    if isinstance(formats, str):
        name, equals, file = formats.partition("=")
        return f"{name}={folder / expanded(file)}" if equals else formats
    return [_with_places(each, folder) for each in formats] if isinstance(formats, list) else formats


def _run_of_result(path: Path) -> dict[str, Any]:
    from evenhand.results.saved import header_if_saved  # noqa: PLC0415 - half a second of import

    header = header_if_saved(path)
    if header is None or not header.get("run"):
        why = "is not a saved result" if header is None else "does not say which run made it (it may be filtered)"
        raise InvalidInputError(f"{str(path)!r} {why}; give a run file (.yaml, .json), or a result that holds one")
    return absolute(header["run"], path.parent)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
    """Return the text of a run file to start from; of ``list`` the names of all.

    Raises:
        InvalidInputError: If there is none of this name.
    """
    found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(TEMPLATES.glob("*.yaml"))}
    if name == "list":
        return "\n".join(f"{each:<14}{text.splitlines()[0].removeprefix('# ')}" for each, text in found.items())
    if name not in found:
        raise InvalidInputError(f"--template is {name!r}. {did_you_mean(name, found)}")
    return found[name].rstrip("\n")


def schema() -> str:
    """Return the JSON schema of run files, by which editors complete and check them."""
    jobs: Any = Annotated[Union[tuple(JOBS.values())], Field(discriminator="job")]  # noqa: UP007 - of a tuple
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(jobs).json_schema()}
    for shape in found["$defs"].values():
        if "job" in shape["properties"]:
            shape["properties"]["$schema"] = {"type": "string"}
            shape["required"] = ["job"]
    return json.dumps(found, indent=2, ensure_ascii=False)

"""A run as a file: what it may hold, how it is read and checked, and what counts where several places say something.

A run file is a mapping, as YAML, JSON or TOML: ``job`` names the verb, ``data`` the rows, and all else has the name
that it has in Python. What is said in several places counts in this order:

1. what the call says: options of the shell, keyword arguments of :func:`evenhand.run`;
2. the environment: ``EVENHAND_RUN_MAX_CALLS=20``, written as the shell takes it, words as in a shell;
3. the file;
4. the defaults.

A value replaces that of the place below it whole; mappings are not merged. Of things of which one is chosen (criteria
or a rubric) the choice of the higher place takes that of the lower one away. Paths in the file are relative to it; all
others are relative to the current folder.

The layers are those of pydantic-settings. Its own YAML reader is not used: it reads YAML 1.1 (``no`` is false
there, and a label here), keeps the last of two equal keys, and has no bounds.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self, cast

from pydantic import ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from evenhand.cli.flags import SPELLED, Declared, Words, declared, text_or_file, value_of
from evenhand.cli.verb_table import VERBS, Verb
from evenhand.data.plain import YAML_ENDINGS, parse_json, parse_yaml, read_text
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded, is_opened
from evenhand.options import Options
from evenhand.results.made_by import LEFT_OUT, absolute

PREFIX = "EVENHAND_RUN_"
RESULTS = (".parquet", ".jsonl")
ENDINGS = (*sorted(YAML_ENDINGS), ".json", ".toml", *RESULTS)
TEXTS = ("guidelines", "prompt")
"""What may be the name of a file that holds the text."""

SCHEMA_KEY = "$schema"
LABELS = (
    "Labels of people by which the scores are corrected: the arguments of evenhand.correct, such as gold (a file of "
    "labels; without it those of gold_fields) and design (how the labelled rows were chosen)."
)
OBJECTS = frozenset({*SPELLED, "rubric", "examples"} - {"split", "dry_run", "num_examples"})
"""What may be written out where it is named: a mapping, or a list."""


@dataclass(frozen=True)
class RunFile:
    """What a file says of a run.

    Attributes:
        name: The file.
        text: As it is written; empty for a saved result.
        said: Name in Python -> value, with absolute paths.
        left_out: What a result could not say of the run that made it.
    """

    name: str
    text: str
    said: Mapping[str, Any]
    left_out: tuple[str, ...] = ()

    @classmethod
    def read(cls, given: str | Path) -> Self:
        """The run that a file or a saved result holds.

        Raises:
            InvalidInputError: If it holds none.
        """
        path = expanded(given)
        ending = ".yaml" if is_opened(path) else path.suffix.lower()
        if ending in RESULTS:
            said = _run_of_result(path)
            return cls(str(given), "", said, tuple(said.pop(LEFT_OUT, ())))
        if ending not in ENDINGS:
            raise InvalidInputError(
                f"the run file {str(given)!r} ends in {path.suffix!r}. Accepted: {', '.join(map(repr, ENDINGS))}, of "
                "which the last two are saved results"
            )
        what = f"the run file {str(given)!r}"
        text = _piped(path, what) if is_opened(path) else read_text(path, what, MOST_BYTES)
        held = _toml(text, what) if ending == ".toml" else (parse_json if ending == ".json" else parse_yaml)(text, what)
        if not isinstance(held, dict):
            raise InvalidInputError(
                f"{what} is no mapping of names to values; evenhand run --template direct shows one"
            )
        folder = Path.cwd() if is_opened(path) else path.parent
        said = {name.replace("-", "_"): value for name, value in held.items() if name != SCHEMA_KEY}
        return cls(str(given), text, _with_formats(absolute(said, folder), folder)).with_texts(folder)

    def with_texts(self, folder: Path) -> Self:
        """With what the files hold that stand for a text."""
        texts = {
            name: text_or_file(self.place(name), value, folder)
            for name in TEXTS
            if isinstance(value := self.said.get(name), str)
        }
        return type(self)(self.name, self.text, {**self.said, **texts}, self.left_out)

    @property
    def job(self) -> object:
        """The verb that it names, if it names one."""
        return self.said.get("job")

    def place(self, name: str) -> str:
        r"""Where it says something, for messages: the file, and the line where the name stands, the outermost of all.

        >>> RunFile("run.yaml", "job: judge\nsamples: 3", {}).place("samples")
        'run.yaml, line 2: samples'
        """
        spelled = re.escape(name).replace("_", "[_-]")
        found = list(
            re.finditer(rf"""^([^\S\n]*(?:[{{][^\S\n]*)?)["']?{spelled}["']?\s*[:=]""", self.text, re.MULTILINE)
        )
        if not found:
            return f"{self.name}: {name}"
        line = self.text.count("\n", 0, min(found, key=lambda each: len(each[1])).end()) + 1
        return f"{self.name}, line {line}: {name}"

    def named(self, verb: Verb) -> dict[str, Any]:
        """Return the options that it sets for a run of this verb.

        Raises:
            InvalidInputError: If it is a run of another verb, or names an option that the verb does not have.
        """
        if self.job not in {None, verb.name}:
            raise InvalidInputError(f"{self.place('job')} is {self.job!r}, and this is {verb.name}: evenhand run FILE")
        known = [*fields_of(verb)]
        found = {name: value for name, value in self.said.items() if name != "job"}
        for name in found:
            if name not in known:
                raise InvalidInputError(
                    f"{self.place(name)} is not an option of {verb.name}. {did_you_mean(name, known)}"
                )
        return found


MOST_BYTES = 1024**2


def _with_formats(said: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What is said, with the files that formats are written to: ``junit=checks.xml``."""
    given = said.get("format")
    if not isinstance(given, str | list):
        return said

    def placed(form: object) -> object:
        name, equals, file = form.partition("=") if isinstance(form, str) else ("", "", "")
        return f"{name}={folder / expanded(file)}" if equals else form

    return said | {"format": placed(given) if isinstance(given, str) else [placed(each) for each in given]}


@cache
def _piped(path: Path, what: str) -> str:
    """The text in a pipe, which can be read once, and is asked for twice: for the verb, and by the verb."""
    return read_text(path, what, MOST_BYTES)


def _run_of_result(path: Path) -> dict[str, Any]:
    from evenhand.results.saved import header_if_saved  # noqa: PLC0415 - half a second of import

    header = header_if_saved(path)
    if header is None or not header.get("run"):
        why = "is not a saved result" if header is None else "does not say which run made it (it may be filtered)"
        raise InvalidInputError(
            f"{str(path)!r} {why}; give a run file (.yaml, .json, .toml), or a result that holds one"
        )
    return absolute(header["run"], path.parent)


def _toml(text: str, what: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{what} is not TOML ({error})") from error


def verb_named(file: RunFile) -> Verb:
    """The verb of a run file.

    Raises:
        InvalidInputError: If it names none.
    """
    verbs = {verb.name: verb for verb in VERBS}
    job = file.job
    if not isinstance(job, str) or job not in verbs:
        said = f"{file.name} has no job" if job is None else f"{file.place('job')} is {job!r}"
        raise InvalidInputError(f"{said}. {did_you_mean(str(job), verbs)}")
    return verbs[job]


def fields_of(verb: Verb) -> dict[str, FieldInfo]:
    """Name -> what is declared, of all that a run file of a verb may say beside its job."""
    sentences = Declared.of(verb.function).sentences
    own = {
        name: declared(_kind(name, info.annotation), None, info.description or sentences.get(name, ""))
        for name, info in verb.options.items()
        if name != "config"
    }
    data = declared(Any, None, f"{sentences['data']} 'demo' are the data that ship with evenhand.")
    labels = {"labels": declared(Mapping[str, Any] | None, None, LABELS)} if verb.kind else {}
    models = {name: info for model in verb.models for name, info in model.model_fields.items()}
    return {"data": data, **own, **models, **labels}


def _kind(name: str, annotation: object) -> Any:  # noqa: ANN401 - a type
    """The type of a parameter in a file, where objects may be written out, and one name stands for a list of it."""
    return Any if name in OBJECTS else str | Words if annotation == Words else annotation


class _Settings(BaseSettings):
    """What several places say of a run."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, validate_default=False)


class _Environment(EnvSettingsSource):
    """What the environment says, in the words of the shell."""

    def prepare_field_value(
        self,
        field_name: str,
        field: FieldInfo,
        value: Any,  # noqa: ANN401 - as the class has it
        value_is_complex: bool,  # noqa: ARG002 - as the class has it
    ) -> Any:  # noqa: ANN401 - as above
        """A value as the shell would take it."""
        if value is None:
            return None
        try:
            return value_of(field_name, _as_in_the_shell(field_name, field), shlex.split(value) or [value])
        except (InvalidInputError, ValueError) as error:
            raise InvalidInputError(f"{PREFIX}{field_name.upper()}: {error}") from error


def _as_in_the_shell(name: str, info: FieldInfo) -> FieldInfo:
    kind = SPELLED[name][0] if name in SPELLED else Words if name in OBJECTS else info.annotation
    return info if kind == info.annotation else declared(kind, None, info.description or "")


def _model(verb: Verb, file: Mapping[str, Any], objects: Mapping[str, Any]) -> type[Options]:
    """The options of a verb as one model, filled from the call, the environment and the file, but for the objects."""

    class Layers(_Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - ours stands for it
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - no file but the one that is named
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            call, environment = init_settings(), _Environment(settings_cls)()
            above = _with_alternatives(verb, objects)
            sources = []
            for layer in (call, environment, file):  # without what stands above: pydantic-settings would merge mappings
                own = {name: value for name, value in layer.items() if name not in above}
                above |= own if layer is file else _with_alternatives(verb, own)
                sources.append(InitSettingsSource(settings_cls, own))
            return tuple(sources)

    own = {
        name: (info.annotation, info)
        for name, info in fields_of(verb).items()
        if not any(name in model.model_fields for model in verb.models)
    }
    fields: Any = own
    bases: Any = (Layers, *verb.models)
    return cast("type[Options]", create_model("RunOptionsOfFile", __base__=bases, **fields))


def _with_alternatives(verb: Verb, said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said; where one of several alternatives is, the others with it."""
    return dict.fromkeys(verb.one_of if any(name in said for name in verb.one_of) else ()) | dict(said)


def settled(verb: Verb, file: RunFile, call: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a run in all places, under the names of Python; only what is said somewhere.

    Args:
        verb: Whose run it is.
        file: The run file.
        call: What the call says: options of the shell, or keyword arguments.

    Raises:
        InvalidInputError: A name that the verb does not take, a value that is not accepted, or something that a saved
            result could not say of its run, and nobody says now.
    """
    fields = fields_of(verb)
    said, given = file.named(verb), dict(call)
    for name in given:
        if name not in fields:
            raise InvalidInputError(f"there is no option {name!r} of {verb.name}. {did_you_mean(name, fields)}")
    _check_environment()
    objects = {name: given.pop(name) for name in list(given) if fields[name].annotation is Any}
    try:
        settings = _model(verb, said, objects)(**given)
    except InvalidInputError as error:
        name = _refused(error)
        if name not in said or name in given:
            raise
        raise InvalidInputError(f"{file.place(name)}{str(error).removeprefix(name)}") from error
    found = {name: getattr(settings, name) for name in fields if name in settings.model_fields_set} | objects
    for name in file.left_out:
        if name not in found:
            raise InvalidInputError(
                f"{file.name} does not say the {name} of the run that made it, as no file could, or it may be secret: "
                f"give {name}"
            )
    _check_labels(found.get("labels"), file)
    return found


def _refused(error: InvalidInputError) -> str:
    """Which option was refused, where pydantic says it."""
    cause = error.__cause__
    return str(cause.errors()[0]["loc"][0]) if isinstance(cause, ValidationError) and cause.errors()[0]["loc"] else ""


def _check_environment() -> None:
    """Check that every variable with our prefix is one that is read: a mistyped one would go unheard."""
    given = [name for name in os.environ if name.upper().startswith(PREFIX)]
    known = {PREFIX + name.upper() for verb in VERBS if given for name in fields_of(verb)}
    for name in given:
        if name.upper() not in known:
            raise InvalidInputError(f"the environment has {name}, which no run reads. {did_you_mean(name, known)}")


def _check_labels(labels: object, file: RunFile) -> None:
    if not isinstance(labels, Mapping):
        return
    from evenhand.labels.correct import correct  # noqa: PLC0415 - only who has labels needs it

    known = [name for name in inspect.signature(correct).parameters if name != "results"]
    for name in labels:
        if name not in known:
            raise InvalidInputError(f"{file.place(name)} is nothing that labels take. {did_you_mean(name, known)}")

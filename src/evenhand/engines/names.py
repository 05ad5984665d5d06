"""Resolve an engine that a user gives to a judge: a model's name, a server's address, a catalog id, or an object.

unitxt is imported only for what is not ours: its engines, and the ids of other catalogs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic.alias_generators import to_snake

from evenhand.catalog import HOW_TO_GIVE_AN_ENGINE, own_entry, read_brackets, read_entry, unknown_id
from evenhand.data.documents import FILE_ENDINGS
from evenhand.data.plain import is_of
from evenhand.engines.base import Engine, JudgeEngine
from evenhand.engines.batches import BatchJudge
from evenhand.engines.calls import classifications_set
from evenhand.engines.free_engines import BaselineEngine, ReplayEngine, SimulatedEngine
from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from evenhand.engines.http import normalized_base_url
from evenhand.engines.replies import redact
from evenhand.errors import ArtifactError, InvalidInputError

_ENGINES: Final = (BaselineEngine, LiteLLMEngine, OpenAICompatibleEngine, ReplayEngine, SimulatedEngine)
TYPES: Final[Mapping[str, type[Engine]]] = {to_snake(kind.__name__): kind for kind in _ENGINES}
"""``__type__`` in our catalog -> the engine."""

_ADDRESS = re.compile(r"(?i)(?P<name>https?://.*?)(?P<fields>\[\s*\w+\s*=.*\])?", re.DOTALL)  # IPv6 has brackets too
_MODEL_NAME = re.compile(r"[\w.-]+(/[\w.:@-]+)+")
_OWN_ID = re.compile(r"\w+\.evenhand\.[\w.]+")
_BATCH = re.compile(r"[\[,]\s*batch\s*=\s*[Tt]rue")


def as_judge(engine: object, *, marked: tuple[str, ...] | None = None) -> JudgeEngine:
    """Return the judge that an engine or a text stands for.

    Args:
        engine: A catalog id; the name of a model as litellm has it (``openai/gpt-4.1-mini``); the address of a server
            with its model (``http://localhost:8000/v1[model=…]``); an engine of ours; any inference engine of unitxt;
            or a judge, which is returned as it is.
        marked: For an inference engine of unitxt's: see :class:`~evenhand.unitxt.engines.UnitxtBridge`.

    Raises:
        ArtifactError: If the id names nothing, or something that is not an engine.
        InvalidInputError: If it is none of these, or lacks something that a judge needs.
    """
    found = engine_of(engine)
    if isinstance(found, Engine):
        policy = classifications_set(str(engine).partition("[")[0], type(found).__name__)  # by its id, as unitxt has it
        return (found if policy is None else found.changed(data_classification_policy=policy)).to_judge()
    if isinstance(found, JudgeEngine) and not isinstance(found, type):
        return found
    if not is_of(found, "unitxt"):
        kind = type(found).__name__
        raise InvalidInputError(f"an object of the type {kind} is not a judge. {HOW_TO_GIVE_AN_ENGINE}")
    from evenhand.unitxt.engines import EngineArtifact, UnitxtBridge  # noqa: PLC0415 - where something of unitxt's is given

    return found.to_judge() if isinstance(found, EngineArtifact) else UnitxtBridge(found, marked=marked)


def engine_of_name(text: str) -> OpenAICompatibleEngine | LiteLLMEngine | None:
    """Return the engine that an address or the name of a model stands for; None for anything else, such as an id.

    Options of the engine may stand behind it in brackets, as behind a catalog id: ``openai/gpt-4.1[temperature=1]``. An
    address may lack its model, which an option then gives.

    Raises:
        InvalidInputError: If an option cannot be what it is.

    >>> engine_of_name("http://localhost:8000[model=qwen3-8b]").to_judge().judge_id
    'qwen3-8b'
    """
    text = text.strip()
    if (found := _ADDRESS.fullmatch(text)) is not None:
        address = normalized_base_url(found["name"].strip())  # one with a password in it is not shown
        return OpenAICompatibleEngine(**{"base_url": address, **read_brackets(redact(address), found["fields"] or "")})
    name, bracket, rest = text.partition("[")
    name = name.strip()
    if not _MODEL_NAME.fullmatch(name) or name.endswith(FILE_ENDINGS):
        return None
    return LiteLLMEngine(**{"model": name, "direct": name.startswith("openai/"), **read_brackets(name, bracket + rest)})


def engine_of(given: object) -> object:
    """Return the engine that a text stands for, of ours or of unitxt; anything else as it is."""
    if not isinstance(given, str):
        return given
    named = engine_of_name(given)
    if named is not None:
        return named
    name, bracket, rest = given.strip().partition("[")
    if _OWN_ID.fullmatch(name):
        path = own_entry(name)
        if path is None:
            raise unknown_id(name)
        if not name.startswith("engines."):
            raise ArtifactError(f"{name!r} is not an inference engine. {HOW_TO_GIVE_AN_ENGINE}")
        entry = read_entry(path)
        fields = {field: value for field, value in entry.items() if not field.startswith("__")}
        return TYPES[entry["__type__"]](**{**fields, **read_brackets(name, bracket + rest)})
    from evenhand.unitxt.engines import fetch_engine  # noqa: PLC0415 - an id that only unitxt may know

    return fetch_engine(given, {} if "{" in name else read_brackets(name, bracket + rest))  # unless it is JSON


def as_list(given: object) -> list[object]:
    """Return one thing or a sequence of them as a list."""
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def judges_of(engine: object, model: str | None = None, *, batch: bool | None = None) -> Sequence[JudgeEngine]:
    """Return the judge, or the judges of a panel: an engine as :func:`as_judge` takes it, a list, or an open panel.

    Raises:
        InvalidInputError: If there is none, or it is something else; and as :func:`engines_with` has it.
    """
    if engine is None:
        raise InvalidInputError(
            "no engine was given, and a judge has no default: give the name of a model such as 'openai/gpt-4.1-mini', "
            "the address of a server such as 'http://localhost:8000/v1' with model=…, a catalog id, an engine object, "
            "or, offline and without a model, 'engines.evenhand.baseline'"
        )
    if isinstance(engine, Sequence) and not isinstance(engine, str | list | tuple):
        return engine  # an open panel
    return tuple(map(as_judge, engines_with(engine, model, batch=batch)))


def engines_with(given: object, model: str | None = None, *, batch: bool | None = None) -> list[Any]:
    """Return one engine, or several, with these settings; without settings as they are given.

    Args:
        given: An engine as :func:`as_judge` takes it, or a list of them.
        model: The model of the servers whose addresses are given without one.
        batch: Whether they are asked in batches; None leaves it to each.

    Raises:
        InvalidInputError: If no engine lacks a model, or one is to be asked in batches and has none.
    """
    found: list[Any] = as_list(given)
    if model is not None:
        found = [(engine_of_name(each) or each) if isinstance(each, str) else each for each in found]
        lacking = [getattr(each, "base_url", None) is not None and each.model is None for each in found]
        if not any(lacking):
            raise InvalidInputError(
                f"model is {model!r}, but no engine is a server's address without a model: leave model out, or give "
                "the address, as engine='http://localhost:8000/v1'"
            )
        found = [each.changed(model=model) if lacks else each for each, lacks in zip(found, lacking, strict=True)]
    if batch is None:
        return found
    for place, engine in enumerate(found):
        named = engine_of(engine)
        settings: Any = named.settings if isinstance(named, BatchJudge) else named
        if hasattr(settings, "batch_interval"):  # an engine that has batches, or its artifact
            found[place] = settings.changed(batch=batch)
        elif batch:
            name = redact(engine) if isinstance(engine, str) else type(engine).__name__
            raise InvalidInputError(
                f"batch=True, and the engine {name!r} has no batches: take engines.evenhand.openai_compatible or "
                "engines.evenhand.litellm (an address, or a model such as 'openai/gpt-4.1-mini'), or leave batch out"
            )
    return found


def one_step_in_batches(engine: object, batch: bool | None) -> dict[str, Any]:
    """Return ``flow="one_step"`` as the default of a run in batches, each of which is a wave; else nothing."""
    if batch is None:
        batch = any(
            _BATCH.search(each) is not None
            if isinstance(each, str)
            else isinstance(each, BatchJudge) or getattr(each, "batch", None) is True
            for each in as_list(engine)
        )
    return {"flow": "one_step"} if batch else {}

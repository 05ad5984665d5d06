"""Conversion between evenhand and a unitxt engine: fields as an identity, requests, outputs and failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from os import PathLike, fsdecode
from typing import Any, Final

from pydantic_core import to_jsonable_python

from evenhand.engines.hosted import broken_connection
from evenhand.engines.replies import (
    REDACTED,
    brief,
    looks_random,
    names_a_secret,
    read_error,
    redact,
    token_count,
)
from evenhand.errors import EngineError, RejectedRequestError, TransientEngineError
from evenhand.unitxt.bases import InferenceEngine, TextGenerationInferenceOutput, own_words
from evenhand.votes import Completion, Message

_NOT_IN_REPLIES: Final = frozenset(
    {"cache_batch_size", "data_classification_policy", "device", "device_map", "batch_size", "lazy_load"}
    | {"max_requests_per_second", "max_retries", "num_parallel_requests", "use_cache"}
)
_WITH_SECRETS: Final = ("credential", "header")
_ADDRESSES: Final = frozenset(
    {"base", "url", "uri", "host", "endpoint", "region"}
    | {"version", "model", "project", "space", "deployment", "instance"}
)


def public_fields(fields: Mapping[object, object]) -> tuple[dict[str, object], list[str]]:
    """Return the fields that replies depend on, as plain JSON, and the types of the objects in them.

    Left out are secrets: fields named like one, and values that look like one. The address among an engine's
    credentials stays, because its replies depend on it. An object is given by its type: engines that differ in
    nothing else cannot be distinguished.

    >>> public_fields({"model": "m", "hf_token": "t", "credentials": {"api_key": "k", "api_base": "http://a/v1"}})
    ({'model': 'm', 'credentials': {'api_base': 'http://a/v1'}}, [])
    """
    opaque: list[str] = []

    def type_of(value: object) -> str:
        opaque.append(type(value).__name__)
        return opaque[-1]

    plain = to_jsonable_python(_with_sorted_sets(fields), fallback=type_of, inf_nan_mode="strings", bytes_mode="base64")
    public: Any = _public("", plain, guarded=False)
    return public, list(dict.fromkeys(opaque))


def _with_sorted_sets(value: object) -> object:
    """Return a field with its sets as sorted lists, since their order differs between processes."""
    if isinstance(value, Mapping):
        return {key: _with_sorted_sets(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_sorted_sets(item) for item in value]
    return sorted(map(_with_sorted_sets, value), key=str) if isinstance(value, AbstractSet) else value


def _public(name: str, value: object, *, guarded: bool) -> object:
    """Return a field without secrets. In credentials and headers, a text that looks random is hidden as a key."""
    if isinstance(value, dict):
        guarded = guarded or _holds_secrets(name)
        read = {
            key: _public(key, each, guarded=guarded)
            for key, each in value.items()
            if key.casefold() not in _NOT_IN_REPLIES and not _is_hidden(key, each)
        }
        return {key: each for key, each in read.items() if each != REDACTED and (each != {} or not value[key])}
    if isinstance(value, list):
        return [_public(name, item, guarded=guarded) for item in value]
    if isinstance(value, str):
        address = any(word in name.casefold() for word in _ADDRESSES)
        return REDACTED if guarded and not address and looks_random(value) else redact(value)
    return value


def secret_values(fields: object) -> Iterator[str]:
    """Yield the texts in the fields that are named like secrets, and everything among credentials and headers."""
    if not isinstance(fields, Mapping):
        return
    for name, value in fields.items():
        if _holds_secrets(str(name)) or _is_hidden(str(name), value):
            yield from _texts(value)
        else:
            yield from secret_values(value)


def _holds_secrets(name: str) -> bool:
    return any(word in name.casefold() for word in _WITH_SECRETS)


def _is_hidden(name: str, value: object) -> bool:
    """Return whether a field is left out: a secret is a text, and ``max_tokens=100`` is none."""
    if _holds_secrets(name):
        return value is None or isinstance(value, str | bytes)
    return names_a_secret(name) and (value is None or any(True for _ in _texts(value)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str | bytes | PathLike):
        yield fsdecode(value)
    elif isinstance(value, Mapping | list | tuple | AbstractSet):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


_FINISH_REASONS = {"max_tokens": "length", "eos": "stop", "eos_token": "stop", "stop_sequence": "stop", "": None}


def flatten(messages: tuple[Message, ...]) -> str:
    """Return a conversation as one text, for engines without chat: one heading per turn, the last for the assistant.

    A single message stays as it is.

    >>> print(flatten(({"role": "user", "content": "Assess."}, {"role": "assistant", "content": "It is good."},
    ...                {"role": "user", "content": "Your verdict?"})))
    User:
    Assess.
    <BLANKLINE>
    Assistant:
    It is good.
    <BLANKLINE>
    User:
    Your verdict?
    <BLANKLINE>
    Assistant:
    """
    if len(messages) == 1:
        return messages[0]["content"]
    turns = [f"{message['role'].capitalize()}:\n{message['content']}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def read_output(output: object) -> Completion | EngineError:
    """Read an engine's output for one instance: a text, a conversation, unitxt's output with meta data, or None."""
    text = getattr(output, "prediction", output)
    if isinstance(text, list) and text and isinstance(text[-1], Mapping):
        text = text[-1].get("content")  # Hugging Face pipelines return the whole conversation
    if text is not None and not isinstance(text, str):
        return EngineError(f"the engine returned a {type(text).__name__} where a text belongs", cause="reply_type")
    if not isinstance(output, TextGenerationInferenceOutput):
        return Completion(text=text)
    if text == "-" and (output.input_tokens, output.output_tokens) == (0, 0):  # so unitxt's OpenAI engines report a 400
        return RejectedRequestError("the server refused the request as invalid (400)", cause="http_400")
    reason = output.stop_reason
    return Completion(
        text=text,
        finish_reason=_FINISH_REASONS.get(str(reason).casefold(), str(reason)) if reason is not None else None,
        prompt_tokens=token_count(output.input_tokens),
        completion_tokens=token_count(output.output_tokens),
        model=output.model_name,
    )


def read_failure(error: Exception, engine: InferenceEngine) -> EngineError:
    """Return the engine's failure as one of ours, judged by the HTTP status or the kind of what it raised."""
    secrets = [*secret_values({"credentials": getattr(engine, "credentials", None)})]
    secrets += secret_values(getattr(engine, "_init_dict", {}))
    broken = broken_connection(error, secrets)
    if broken is not None:
        return broken
    chain = _causes(error)
    failure = EngineError(message_of(chain[-1], secrets), cause=type(chain[-1]).__name__)
    for link in chain:
        status = getattr(link, "status_code", None)
        if isinstance(status, int) and status >= 400:
            failure = read_error(status, own_words(link), secrets=secrets)
            break
        if isinstance(link, TimeoutError | ConnectionError) or "Timeout" in type(link).__name__:
            failure = TransientEngineError(message_of(link, secrets), cause=type(link).__name__)
            break
    failure.__cause__ = error
    return failure


def _causes(error: BaseException) -> list[BaseException]:
    """Return the exception, what it was raised from, and so on down to the first."""
    chain = [error]
    while chain[-1].__cause__ is not None and chain[-1].__cause__ not in chain:
        chain.append(chain[-1].__cause__)
    return chain


def message_of(error: BaseException, secrets: Iterable[str]) -> str:
    """Return the kind and the words of an exception in one line, without secrets."""
    return brief(f"{type(error).__name__}: {own_words(error)}", secrets)

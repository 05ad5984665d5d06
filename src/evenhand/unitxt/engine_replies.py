"""Conversion between evenhand and a unitxt engine: fields as an identity, requests, outputs and failures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final

from pydantic_core import to_jsonable_python

from evenhand.engines.hosted import broken_connection
from evenhand.engines.replies import REDACTED, brief, names_a_secret, read_error, redact, token_count
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
_RANDOM: Final = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}")
"""Twenty or more letters and digits in a row, as in keys and hardly anywhere else."""


def public_fields(fields: Mapping[object, object]) -> tuple[dict[str, object], list[str]]:
    """Return the fields that replies depend on, as plain JSON, and the types of the objects in them.

    Left out are secrets: fields named like one, and values that look like one. The address among an engine's
    credentials stays, because its replies depend on it. An object is given by its type: engines that differ in
    nothing else cannot be distinguished.

    >>> public_fields({"model": "m", "hf_token": "t", "credentials": {"api_key": "k", "api_base": "http://a/v1"}})
    ({'model': 'm', 'credentials': {'api_base': 'http://a/v1'}}, [])
    """
    plain, opaque = _plain(fields)
    public: Any = _public(plain, [])
    return public, list(dict.fromkeys(opaque))


def secret_values(fields: Mapping[object, object]) -> list[str]:
    """Return the texts that :func:`public_fields` leaves out as secrets, and all those in credentials and headers."""
    hidden: list[str] = []
    _public(_plain(fields)[0], hidden)
    return list(dict.fromkeys(hidden))


def _plain(fields: Mapping[object, object]) -> tuple[object, list[str]]:
    """Return fields as plain JSON, with sets sorted, as their order differs between processes; and objects' types."""
    opaque: list[str] = []

    def type_of(value: object) -> str:
        opaque.append(type(value).__name__)
        return opaque[-1]

    def ordered(value: object) -> object:
        if isinstance(value, Mapping):
            return {key: ordered(item) for key, item in value.items()}
        if isinstance(value, list | tuple | AbstractSet):
            return [*map(ordered, sorted(value, key=str) if isinstance(value, AbstractSet) else value)]
        return value

    plain = to_jsonable_python(ordered(fields), fallback=type_of, inf_nan_mode="strings", bytes_mode="base64")
    return plain, opaque


def _public(value: object, hidden: list[str], *, guarded: bool = False) -> object:
    """Return a value without secrets, whose texts are added to those hidden, with all texts in credentials."""
    if isinstance(value, list):
        return [_public(item, hidden, guarded=guarded) for item in value]
    if not isinstance(value, dict):
        return redact(value) if isinstance(value, str) else value
    public = {}
    for name, each in value.items():
        folded, texts = name.casefold(), _texts(each)
        holds = any(word in folded for word in _WITH_SECRETS)
        secret = holds or names_a_secret(name)
        secret &= each is None or (isinstance(each, str) if holds else bool(texts))  # max_tokens=100 is none
        if guarded and not isinstance(each, dict) and not any(word in folded for word in _ADDRESSES):
            secret |= any(map(_RANDOM.search, texts))
        if guarded or holds or secret:
            hidden += texts
        found = _public(each, hidden, guarded=guarded or holds)
        if not secret and folded not in _NOT_IN_REPLIES and (found == each or found not in (REDACTED, {})):
            public[name] = found
    return public


def _texts(value: object) -> list[str]:
    if isinstance(value, dict | list):
        return [text for item in (value.values() if isinstance(value, dict) else value) for text in _texts(item)]
    return [value] if isinstance(value, str) else []


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
    made_with = getattr(engine, "_init_dict", {})
    secrets = secret_values({"made_with": made_with, "credentials": getattr(engine, "credentials", None)})
    broken = broken_connection(error, secrets)
    if broken is not None:
        return broken
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    failure = EngineError(_message_of(chain[-1], secrets), cause=type(chain[-1]).__name__)
    for link in chain:
        status = getattr(link, "status_code", None)
        if isinstance(status, int) and status >= 400:
            failure = read_error(status, own_words(link), secrets=secrets)
            break
        if isinstance(link, TimeoutError | ConnectionError) or "Timeout" in type(link).__name__:
            failure = TransientEngineError(_message_of(link, secrets), cause=type(link).__name__)
            break
    failure.__cause__ = error
    return failure


def _message_of(error: BaseException, secrets: Iterable[str]) -> str:
    """Return the kind and the words of an exception in one line, without secrets."""
    return brief(f"{type(error).__name__}: {own_words(error)}", secrets)

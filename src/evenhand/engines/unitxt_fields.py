"""What a unitxt engine was made with, as the part of its identity that a journal may hold: plain JSON, no secrets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from os import PathLike
from pathlib import PurePath
from typing import Final

from evenhand.engines.redaction import REDACTED, looks_random, names_a_secret, redact

_NOT_IN_REPLIES: Final = frozenset(
    {
        "cache_batch_size",
        "data_classification_policy",
        "device",
        "device_map",
        "batch_size",
        "lazy_load",
        "max_requests_per_second",
        "max_retries",
        "num_parallel_requests",
        "use_cache",
    }
)
_WITH_SECRETS: Final = ("credential", "header")
_ADDRESSES: Final = frozenset(
    {
        "base",
        "url",
        "uri",
        "host",
        "endpoint",
        "region",
        "version",
        "model",
        "project",
        "space",
        "deployment",
        "instance",
    }
)


@dataclass(frozen=True, slots=True)
class PublicFields:
    """The fields that replies depend on.

    Attributes:
        values: As plain JSON, without secrets and without what no reply depends on.
        opaque: The names of the fields that hold objects, of which only the types are in ``values``: engines that
            differ in nothing else cannot be told apart.
    """

    values: Mapping[str, object]
    opaque: tuple[str, ...] = ()


def public_fields(fields: Mapping[object, object]) -> PublicFields:
    """The fields without secrets: those named like one, and those whose values look like one.

    The address among an engine's credentials stays, because its replies depend on it.

    >>> public_fields({"model": "m", "hf_token": "t", "credentials": {"api_key": "k", "api_base": "http://a/v1"}}).values
    {'model': 'm', 'credentials': {'api_base': 'http://a/v1'}}
    """
    reading = _Reading()
    values = reading.mapping(fields, guarded=False)
    return PublicFields(values=values, opaque=tuple(dict.fromkeys(reading.opaque)))


def secret_values(fields: object) -> Iterator[str]:
    """The texts in the fields that are named like secrets, and everything among credentials and headers."""
    if not isinstance(fields, Mapping):
        return
    for name, value in fields.items():
        if _holds_secrets(str(name)) or _is_hidden(str(name), value):
            yield from _texts(value)
        else:
            yield from secret_values(value)


@dataclass(slots=True)
class _Reading:
    """One reading of an engine's fields, and what could not be read."""

    opaque: list[str] = field(default_factory=list)

    def mapping(self, fields: Mapping[object, object], *, guarded: bool) -> dict[str, object]:
        """Guarded are the fields of credentials and headers: there, a text that looks random is a key."""
        read: dict[str, object] = {}
        for key, value in fields.items():
            name = str(key)
            if not isinstance(key, str | int | float | None):
                self.opaque.append(type(key).__name__)
            if name.casefold() in _NOT_IN_REPLIES or _is_hidden(name, value):
                continue
            item = self.value(name, value, guarded=guarded)
            if item == REDACTED or (item == {} and value):
                continue
            read[name] = item
        return read

    def value(self, name: str, value: object, *, guarded: bool) -> object:
        """One value as plain JSON."""
        if isinstance(value, Enum):
            return self.value(name, value.value, guarded=guarded)
        if isinstance(value, Mapping):
            return self.mapping(value, guarded=guarded or _holds_secrets(name))
        if isinstance(value, AbstractSet) and all(isinstance(item, str) for item in value):
            value = sorted(map(str, value))
        if isinstance(value, list | tuple):
            return [self.value(name, item, guarded=guarded) for item in value]
        if isinstance(value, str | PurePath):
            return _shown(name, str(value), guarded=guarded)
        return self._number(name, value)

    def _number(self, name: str, value: object) -> object:
        """A number, a truth value or None; of anything else the type alone."""
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        self.opaque.append(name)
        return type(value).__name__


def _shown(name: str, text: str, *, guarded: bool) -> str:
    address = any(word in name.casefold() for word in _ADDRESSES)
    return REDACTED if guarded and not address and looks_random(text) else redact(text)


def _holds_secrets(name: str) -> bool:
    return any(word in name.casefold() for word in _WITH_SECRETS)


def _is_hidden(name: str, value: object) -> bool:
    """Whether a field is left out: a secret is a text, and ``max_tokens=100`` is none."""
    if _holds_secrets(name):
        return value is None or isinstance(value, str | bytes)
    return names_a_secret(name) and (value is None or any(True for _ in _texts(value)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, bytes):
        yield value.decode("utf-8", "replace")
    elif isinstance(value, str):
        yield value
    elif isinstance(value, PathLike):
        yield str(value)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple | AbstractSet):
        for item in value:
            yield from _texts(item)

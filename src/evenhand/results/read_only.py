"""The parameters of a result: dictionaries and lists that can be read, compared, copied and saved, but not changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


def _refuse(*args: object, **kwargs: object) -> NoReturn:  # noqa: ARG001 - stands in for methods of any signature
    raise TypeError(
        "the parameters say what made a table and cannot be changed: resummarize it under other rules, or make "
        "another with dataclasses.replace(table, parameters={**table.parameters, ...})"
    )


class ReadOnlyDict(dict[str, Any]):
    """A dictionary that refuses changes; ``dict(...)`` of it is an ordinary one."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyDict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list that refuses changes; ``list(...)`` of it is an ordinary one."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnlyList, (list(self),)


def read_only(parameters: Mapping[str, Any]) -> ReadOnlyDict:
    """The same with every dictionary and list in it, at any depth, as one that cannot be changed.

    Subclasses of dict and list rather than a mapping of their own: ``json`` writes them, and they equal ordinary ones.

    >>> parameters = read_only({"judges": ["a"], "level": 0.95})
    >>> parameters == {"judges": ["a"], "level": 0.95}
    True
    """
    return ReadOnlyDict({name: _read_only_value(value) for name, value in parameters.items()})


def _read_only_value(value: object) -> object:
    if isinstance(value, Mapping):
        return read_only(value)
    if isinstance(value, list):
        return ReadOnlyList([_read_only_value(inner) for inner in value])
    return value

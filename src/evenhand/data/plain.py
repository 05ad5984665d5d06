"""YAML and JSON as plain data: dicts with different keys, lists, texts, numbers, true, false and null.

YAML is read as YAML 1.2, in which ``yes``, ``no`` and ``on`` are texts. Dates are texts too, and so are the names of
fields and the values of fields that hold a text: ``label: 5`` is the label ``"5"``.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import math
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from itertools import count
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evenhand.errors import ArtifactError, InvalidInputError
from evenhand.files import MOST_BYTES, read_bytes
from evenhand.numbers import Missing

Key = TypeVar("Key")
Value = TypeVar("Value")

TEXT_FIELDS = frozenset({"category", "description", "label", "name", "question", "requirement", "section"})
"""The fields whose plain YAML scalars are never read as a number or a truth value."""

YAML_ENDINGS = frozenset({".yaml", ".yml"})
MOST_NODES = 100_000
"""The most values in a YAML document; values repeated by an alias count each time."""

MOST_YAML_BYTES = 1024**2
"""The most bytes of a YAML document: reading one takes a minute then. JSON is read a hundred times as fast."""

_TAG = "tag:yaml.org,2002:"
_TEXT = f"{_TAG}str"
_ALWAYS_TEXT = frozenset({f"{_TAG}timestamp", f"{_TAG}value"})
_TEXT_IN_TEXT_FIELDS = frozenset({f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float"})
_READ = _ALWAYS_TEXT | _TEXT_IN_TEXT_FIELDS | {_TEXT, f"{_TAG}null", f"{_TAG}map", f"{_TAG}seq"}


def read_document(path: Path, what: str) -> Any:  # noqa: ANN401 - what a document holds is checked by its reader
    """Return the data in a file: YAML where its name ends in ``.yaml`` or ``.yml``, else JSON.

    Args:
        path: The file.
        what: Its name in messages.

    Raises:
        ArtifactError: If it cannot be read.
    """
    if path.suffix.lower() in YAML_ENDINGS:
        return parse_yaml(read_text(path, what, MOST_YAML_BYTES), what)
    return parse_json(read_text(path, what), what)


def read_text(path: Path, what: str, most: int | None = MOST_BYTES) -> str:
    """Return the text in a file.

    Args:
        path: The file.
        what: Its name in messages.
        most: The most bytes it may hold; None for any number.

    Raises:
        ArtifactError: If it cannot be read.
    """
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except OSError as error:
        raise ArtifactError(f"{what} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{what} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error


def unique_keys(pairs: Iterable[tuple[Any, Any]], what: str) -> dict[Any, Any]:
    """Return a mapping of pairs whose keys differ.

    Raises:
        InvalidInputError: If two pairs have the same key: nothing says which of their values counts.
    """
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InvalidInputError(f"{what} has {key!r} twice, and only one of them could count: rename or drop one")
        found[key] = value
    return found


def parse_json(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """Return the data that a JSON text is; NaN and Infinity are numbers, as Python writes them.

    Args:
        text: The text.
        what: Its name in messages.

    Raises:
        ArtifactError: If it is not JSON, an object has a field twice, or a number is too large.

    >>> parse_json('["Is it polite?"]', "the text")
    ['Is it polite?']
    """

    def number(written: str) -> float:
        if math.isinf(found := float(written)):
            raise ArtifactError(f"{what} holds the number {briefly(written)}, which is too large")
        return found

    with _errors_in_one_line(what):
        pairs: Any = partial(unique_keys, what=what)
        return json.loads(text, object_pairs_hook=pairs, parse_float=number)


def parse_yaml(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """Return the data that a YAML text is.

    Raises:
        ArtifactError: If it is not YAML, has a field twice, names a type, or repeats itself without bounds.

    >>> parse_yaml("{label: no, na: false, value: 1}", "the text")
    {'label': 'no', 'na': False, 'value': 1}
    """
    with _errors_in_one_line(what):
        yaml = YAML(typ="safe", pure=True)
        node = yaml.compose(text)
        if node is None:
            return None
        return yaml.constructor.construct_document(_with_texts(node, count()))


@contextmanager
def _errors_in_one_line(what: str) -> Iterator[None]:
    """Raise errors of JSON and YAML as ArtifactError."""
    try:
        yield
    except InvalidInputError as error:
        raise ArtifactError(str(error)) from error
    except json.JSONDecodeError as error:
        raise ArtifactError(f"{what} is not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from error
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise ArtifactError(f"{what} is not valid YAML ({place}{problem[:200]})") from error
    except (ValueError, KeyError) as error:
        raise ArtifactError(f"{what} holds a number or a truth value that cannot be read") from error
    except RecursionError as error:
        raise ArtifactError(f"{what} is nested too deeply to be read") from error


def _with_texts(node: Node, counted: Iterator[int], within: tuple[Node, ...] = ()) -> Node:
    """Return a node in which every scalar that is a text here has the tag of a text.

    Args:
        node: The node.
        counted: Counts the nodes, an aliased one each time.
        within: The nodes that hold it.

    Raises:
        MarkedYAMLError: If a type is named, the name of a field is not a scalar, or there are too many values.
    """
    if next(counted) >= MOST_NODES or node in within:
        raise _problem(node, f"its aliases make more than {MOST_NODES} values")
    if node.tag not in _READ:
        raise _problem(node, f"the type {node.tag!r} is not read; write plain texts, numbers, lists and mappings")
    within = (*within, node)
    if isinstance(node, SequenceNode):
        node.value = [_with_texts(each, counted, within) for each in node.value]
    elif isinstance(node, MappingNode):
        fields = []
        for key, held in node.value:
            if not isinstance(key, ScalarNode):
                raise _problem(key, "a field's name is a text")
            value = _with_texts(held, counted, within)
            if key.value in TEXT_FIELDS and isinstance(value, ScalarNode) and value.tag in _TEXT_IN_TEXT_FIELDS:
                value = _as_text(value)
            fields.append((key if key.tag == f"{_TAG}merge" else _as_text(key), value))
        node.value = fields
    return _as_text(node) if node.tag in _ALWAYS_TEXT else node


def _as_text(node: Node) -> ScalarNode:
    return ScalarNode(_TEXT, str(node.value), node.start_mark, node.end_mark)


def _problem(node: Node, problem: str) -> MarkedYAMLError:
    return MarkedYAMLError(None, None, problem, node.start_mark)


def plain(value: object, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """Return a value as JSON would hold it; frozen values inside it become objects.

    Raises:
        ArtifactError: If JSON cannot say it.
    """

    def described(item: object) -> Any:  # noqa: ANN401 - as above
        if isinstance(item, BaseModel):
            return item.model_dump(mode="json")
        raise TypeError(f"a {type(item).__name__} is neither text, number, list nor mapping")

    try:
        return json.loads(json.dumps(value, default=described))
    except (TypeError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{what} holds what JSON cannot say: {error}") from error


def is_of(value: object, library: str) -> bool:
    """Return whether a value's class, or a base of it, is a library's; the library is not imported.

    >>> is_of(Path(), "pathlib"), is_of("rows.jsonl", "datasets")
    (True, False)
    """
    return any(each.__module__.partition(".")[0] == library for each in type(value).__mro__)


def briefly(value: object) -> str:
    """Return a value as messages show it, in one short line; its type if it has no representation."""
    shortened = reprlib.Repr()
    shortened.maxlevel = shortened.maxlist = shortened.maxdict = 2
    shortened.maxstring = shortened.maxother = 80
    try:
        return " ".join(shortened.repr(value).split())
    except Exception:  # noqa: BLE001 - a number too long to be written, or what a foreign type raises
        return f"a value of the type {type(value).__name__}"


def number_of(value: object) -> float | None:
    """Return the number that a value is, or that a text shows; None for anything else, booleans among it.

    >>> [number_of(value) for value in (1, "2.0", " 3", True, "many", float("inf"))]
    [1.0, 2.0, 3.0, None, None, None]
    """
    if isinstance(value, bool) or not isinstance(value, str | Real | Decimal):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def plain_cell(value: object) -> object:
    """Return a cell; numpy's scalars and arrays as Python's."""
    return value.tolist() if hasattr(value, "tolist") else value


def parse_cell(value: object, where: str) -> object:
    """Return a cell, where it is a text that holds a list or a mapping, as JSON or as Python writes it, as that.

    numpy's scalars and arrays become Python's. A bare ``nan``, as pandas writes for nothing, becomes None in it.

    Raises:
        InvalidInputError: If a mapping in it has a key twice.

    >>> parse_cell("{'ann': 'yes', 'bob': nan}", "row 0")
    {'ann': 'yes', 'bob': None}
    """
    if not isinstance(value, str) or value.strip()[:1] not in {"[", "{", "("}:
        return plain_cell(value)
    try:
        return json.loads(value, object_pairs_hook=lambda pairs: unique_keys(pairs, where))
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(_Literal(where).visit(ast.parse(value.strip(), mode="eval")))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return value


class _Literal(ast.NodeTransformer):
    """A Python literal in which ``nan`` is None and keys differ."""

    def __init__(self, where: str) -> None:
        self.where = where

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(None) if node.id == "nan" else node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        unique_keys([(key.value, None) for key in node.keys if isinstance(key, ast.Constant)], self.where)
        return self.generic_visit(node)


def as_plain(value: Any, *, reasons: bool = False) -> Any:  # noqa: ANN401 - as a result holds it
    """Return a result, or a part of one, as plain JSON. NaN and infinity become null, as missing numbers do.

    Args:
        value: The result.
        reasons: Write the reason of each missing number, for files from which the result itself is read again.
    """
    if isinstance(value, Missing):
        return {"reason": value.reason} if reasons else None
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(each, reasons=reasons) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [as_plain(each, reasons=reasons) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(value: Any, *, indent: int | None = None) -> str:  # noqa: ANN401 - as above
    """Return plain values as saved files hold them: JSON for every reader, in which NaN and infinity are null.

    >>> as_json({"low": -math.inf, "name": "é"})
    '{"low": null, "name": "é"}'
    """
    return json.dumps(as_plain(value), ensure_ascii=False, allow_nan=False, indent=indent)


def by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return key -> its values, keys and values in the order in which they occur.

    >>> by_key([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found

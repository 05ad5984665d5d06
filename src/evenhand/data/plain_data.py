"""YAML and JSON as plain data: dicts with different keys, lists, texts, numbers, true, false and null.

The fields of a document are checked one by one, with messages that name what is wrong and what is accepted.

YAML is read as YAML 1.2, in which ``yes``, ``no`` and ``on`` are texts, and so is a date here; and the fields that hold
a text are read as what was written there, so that ``label: 5`` is the label ``"5"``.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from evenhand.errors import ArtifactError, InvalidCriterionError, InvalidInputError, did_you_mean
from evenhand.files import MOST_BYTES, read_bytes

YAML_ENDINGS = frozenset({".yaml", ".yml"})
TEXT_FIELDS = frozenset({"category", "description", "label", "name", "question", "requirement", "section"})
"""The fields whose plain YAML scalars are never read as a number or a truth value."""

MOST_NODES = 100_000
"""So many values a YAML document may hold, those that an alias repeats counted each time."""

MOST_YAML_BYTES = 1024**2
"""So large a YAML document may be: reading one takes a minute then. JSON is read a hundred times as fast."""

_TAG = "tag:yaml.org,2002:"
_WORDED = frozenset(_TAG + kind for kind in ("str", "bool", "int", "float", "timestamp"))
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def read_document(path: Path, what: str) -> Any:  # noqa: ANN401 - what a document holds is checked by its reader
    """The data in a file: YAML where its name ends in ``.yaml`` or ``.yml``, else JSON.

    Args:
        path: The file.
        what: It is called in messages.

    Raises:
        ArtifactError: If it cannot be read.
    """
    if path.suffix.lower() in YAML_ENDINGS:
        return parse_yaml(read_text(path, what, MOST_YAML_BYTES), what)
    return parse_json(read_text(path, what), what)


def read_text(path: Path, what: str, most: int | None = MOST_BYTES) -> str:
    """The text in a file.

    Args:
        path: The file.
        what: It is called in messages.
        most: So many bytes it may hold; None for any number.

    Raises:
        ArtifactError: If it cannot be read.
    """
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except OSError as error:
        raise ArtifactError(f"{what} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{what} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error


def unique_keys(pairs: Iterable[tuple[Any, Any]], twice: Callable[[Any], Exception]) -> dict[Any, Any]:
    """A mapping of pairs whose keys differ; of two values under one name nothing says which counts.

    Raises:
        Exception: What ``twice`` makes of a key that stands there twice.
    """
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise twice(key)
        found[key] = value
    return found


def parse_json(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """The data that a JSON text is.

    Raises:
        ArtifactError: If it is no JSON, or an object in it has a field twice.

    >>> parse_json('["Is it polite?"]', "the text")
    ['Is it polite?']
    """

    def twice(name: str) -> ArtifactError:
        return ArtifactError(f"{what} has the field {name!r} twice in one object: keep one")

    def refuse(constant: str) -> NoReturn:
        raise ArtifactError(f"{what} holds {constant}, which is no number of JSON")

    with _read_whole(what):
        return json.loads(
            text,
            object_pairs_hook=lambda pairs: unique_keys(pairs, twice),
            parse_constant=refuse,
            parse_float=finite_number,
        )


def finite_number(written: str) -> float:
    """The number that a JSON text writes.

    Raises:
        ValueError: If it is too large to be one here: 1e400 would be infinite.
    """
    number = float(written)
    if math.isinf(number):
        raise ValueError(f"the number {briefly(written)}, which is too large")
    return number


def parse_yaml(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """The data that a YAML text is.

    Raises:
        ArtifactError: If it is no YAML, has a field twice, names a type, or repeats itself without bounds.

    >>> parse_yaml("{label: no, na: false, value: 1}", "the text")
    {'label': 'no', 'na': False, 'value': 1}
    """
    with _read_whole(what):
        node = YAML(typ="safe", pure=True).compose(text)
        return None if node is None else _Reader().value(node)


@contextmanager
def _read_whole(what: str) -> Iterator[None]:
    """Say in one line why a text could not be read."""
    try:
        yield
    except json.JSONDecodeError as error:
        raise ArtifactError(f"{what} is not JSON (line {error.lineno}: {error.msg})") from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark else ""
        raise ArtifactError(f"{what} is not YAML as it is read here ({place}{error.problem})") from error
    except YAMLError as error:
        raise ArtifactError(f"{what} is not YAML ({' '.join(str(error).split())})") from error
    except ValueError as error:
        raise ArtifactError(f"{what} holds a number that cannot be read") from error
    except RecursionError as error:
        raise ArtifactError(f"{what} is nested too deeply to be read") from error


class _Reader:
    """From the nodes of a YAML document to plain data, with keys that differ and no type that a document could name."""

    def __init__(self) -> None:
        self._read = 0
        self._within: set[Node] = set()

    def value(self, node: Node, *, as_written: bool = False) -> Any:  # noqa: ANN401 - as above
        self._read += 1
        if self._read > MOST_NODES or node in self._within:  # what is met again while it is read holds itself
            raise _refused(node, f"its aliases make more than {MOST_NODES} values")
        if isinstance(node, ScalarNode):
            return str(node.value) if as_written and node.tag in _WORDED else _scalar(node)
        if node.tag != f"{_TAG}{'map' if isinstance(node, MappingNode) else 'seq'}":
            raise _wrong_tag(node)
        self._within.add(node)
        found = self._fields(node) if isinstance(node, MappingNode) else [self.value(each) for each in node.value]
        self._within.remove(node)
        return found

    def _fields(self, node: MappingNode) -> dict[str, Any]:
        def twice(name: str) -> MarkedYAMLError:
            return _refused(node, f"the field {name!r} stands here twice: keep one")

        own: list[tuple[str, Any]] = []
        merged: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise _refused(key, "a field's name is a text")
            if key.tag == f"{_TAG}merge":
                several = value.value if isinstance(value, SequenceNode) else [value]
                for each in reversed(several):
                    if not isinstance(each, MappingNode):
                        raise _refused(each, "a mapping is expected here")
                    merged |= self.value(each)
            else:
                own.append((str(key.value), self.value(value, as_written=key.value in TEXT_FIELDS)))
        return merged | unique_keys(own, twice)


def _scalar(node: ScalarNode) -> str | bool | int | float | None:
    kind, written = str(node.tag).removeprefix(_TAG), str(node.value)
    if kind == "null":
        return None
    if kind == "bool":
        if written.lower() not in {"true", "false"}:
            raise _refused(node, f"{written.lower()!r} is neither true nor false")
        return written.lower() == "true"
    if kind in {"int", "float"}:
        if _NUMBER.fullmatch(written):
            return (float if set(written.lower()) & set(".en") else int)(
                written.lower().replace(".inf", "inf").replace(".nan", "nan")
            )
        if not written.lstrip("+-")[:1].isdigit():
            raise ValueError(written)
        return written  # as 0x10 and 1_000
    if kind in {"str", "timestamp", "value"}:
        return written
    raise _wrong_tag(node)


def _refused(node: Node, problem: str) -> MarkedYAMLError:
    return MarkedYAMLError(None, None, problem, node.start_mark)


def _wrong_tag(node: Node) -> MarkedYAMLError:
    if node.tag == f"{_TAG}map":
        return _refused(node, "a mapping is expected here")
    if node.tag in _WORDED | {f"{_TAG}seq"}:
        wanted = "sequence" if node.tag == f"{_TAG}seq" else "scalar"
        return _refused(node, f"expected a {wanted} node, but found {type(node).__name__.removesuffix('Node').lower()}")
    return _refused(node, f"the type {node.tag!r} is not read; write plain texts, numbers, lists and mappings")


def validation_message(error: ValidationError, fields: Mapping[str, object] | None = None) -> str:
    """What pydantic found wrong, in one line."""
    parts = []
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = did_you_mean(fault["loc"][-1], fields) if fields and len(fault["loc"]) == 1 else ""
            parts.append(f"there is no field {place!r}. {known}".strip())
        else:
            parts.append(f"{place}: {fault['msg']}")
    return "; ".join(parts)


def context_mapping(fields: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Context fields in any of unitxt's forms, as name shown -> field read.

    >>> context_mapping(["question", "context"])
    {'question': 'question', 'context': 'context'}
    """
    if not fields:
        return {}
    if isinstance(fields, str):
        return {fields: fields}
    if isinstance(fields, Mapping):
        return dict(fields)
    if not isinstance(fields, Sequence):
        raise InvalidInputError(
            f"context_fields is {fields!r}; give a field name, a list of them, or a mapping name shown -> field"
        )
    return {field: field for field in fields}


def plain(value: object, what: str) -> Any:  # noqa: ANN401 - data may be anything
    """A value as JSON would hold it; frozen values inside it become objects.

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


def present(found: Mapping[str, Any], accepted: Collection[str], what: str) -> dict[str, Any]:
    """The fields that are given; one that is null counts as left out.

    Raises:
        InvalidCriterionError: If there is a field that is not accepted.
    """
    for name in found:
        if name not in accepted:
            raise InvalidCriterionError(f"{what} has the field {name!r}. {did_you_mean(name, sorted(accepted))}")
    return {name: value for name, value in found.items() if value is not None}


def under_one_name(found: Mapping[str, Any], names: Mapping[str, str], what: str) -> dict[str, Any]:
    """The fields with each alias replaced by the name it stands for.

    Raises:
        InvalidCriterionError: If a field is given under both names.
    """
    renamed: dict[str, Any] = {}
    for name, value in found.items():
        own = names.get(name, name)
        if own in renamed:
            both = sorted({name, *(alias for alias, known in names.items() if known == own)} | {own})
            raise InvalidCriterionError(f"{what} has one field under two names, {both!r}: give one of them")
        renamed[own] = value
    return renamed


def text(value: object, field: str, what: str) -> str:
    """The value when it is a text with something in it.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if not isinstance(value, str) or not value.strip():
        hint = f": write {json.dumps(str(value))}, in quotes" if isinstance(value, (bool, int, float)) else ""
        raise InvalidCriterionError(f"{what} has the {field} {briefly(value)}; it must be a text{hint}")
    return value.strip()


def items(value: object, field: str, what: str) -> list[Any]:
    """The value when it is a list with something in it.

    Raises:
        InvalidCriterionError: If it is not.
    """
    if not isinstance(value, list) or not value:
        raise InvalidCriterionError(f"{what} has the {field} {briefly(value)}; give a list of at least one")
    return value


def contexts(value: object, what: str) -> dict[str, str]:
    """Context fields as name shown -> field read.

    Raises:
        InvalidCriterionError: If they are in none of the forms.
    """
    names = value if isinstance(value, list) else [*value, *value.values()] if isinstance(value, dict) else [value]
    if not all(isinstance(name, str) for name in names):
        raise InvalidCriterionError(
            f"{what} has the context_fields {briefly(value)}; give a field name, a list of them, or a mapping name "
            "shown -> field"
        )
    return context_mapping(value)  # type: ignore[arg-type] # checked above


def is_of(value: object, library: str) -> bool:
    """Whether a value's class, or one that it is derived from, is a library's; the library is not imported to tell.

    >>> is_of(Path(), "pathlib"), is_of("rows.jsonl", "datasets")
    (True, False)
    """
    return any(each.__module__.partition(".")[0] == library for each in type(value).__mro__)


def briefly(value: object) -> str:
    """A value as messages show it in one line, however large it is; where it cannot say what it is, its type."""
    shortened = reprlib.Repr()
    shortened.maxlevel = shortened.maxlist = shortened.maxdict = 2
    shortened.maxstring = shortened.maxother = 80
    try:
        return " ".join(shortened.repr(value).split())
    except Exception:  # noqa: BLE001 - a number too long to be written, or whatever a type of a program raises
        return f"a value of the type {type(value).__name__}"

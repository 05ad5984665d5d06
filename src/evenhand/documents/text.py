"""YAML and JSON as plain data: dicts with different keys, lists, texts, numbers, true, false and null.

YAML is read by the core schema of YAML 1.2, in which ``yes``, ``no``, ``on`` and a date are texts; and the fields that
hold a text are read as what was written there, so that ``label: 5`` is the label ``"5"``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import yaml

from evenhand.errors import ArtifactError

YAML_ENDINGS = frozenset({".yaml", ".yml"})
TEXT_FIELDS = frozenset({"category", "description", "label", "name", "question", "requirement", "section"})
"""The fields whose plain YAML scalars are never read as a number or a truth value."""

MOST_NODES = 100_000
"""So many values a YAML document may hold, those that an alias repeats counted each time."""

_TAG = "tag:yaml.org,2002:"
_WORDED = frozenset(_TAG + kind for kind in ("str", "bool", "int", "float"))


def read_document(path: Path, what: str) -> Any:  # noqa: ANN401 - what a document holds is checked by its reader
    """The data in a file: YAML where its name ends in ``.yaml`` or ``.yml``, else JSON.

    Args:
        path: The file.
        what: It is called in messages.

    Raises:
        ArtifactError: If it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ArtifactError(f"{what} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{what} is not UTF-8 text (byte {error.start}): save it as UTF-8") from error
    return parse_yaml(text, what) if path.suffix.lower() in YAML_ENDINGS else parse_json(text, what)


def parse_json(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """The data that a JSON text is.

    Raises:
        ArtifactError: If it is no JSON, or an object in it has a field twice.

    >>> parse_json('["Is it polite?"]', "the text")
    ['Is it polite?']
    """

    def different(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                raise ArtifactError(f"{what} has the field {name!r} twice in one object: keep one")
            found[name] = value
        return found

    def refuse(constant: str) -> NoReturn:
        raise ArtifactError(f"{what} holds {constant}, which is no number of JSON")

    try:
        return json.loads(text, object_pairs_hook=different, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ArtifactError(f"{what} is not JSON (line {error.lineno}: {error.msg})") from error
    except ValueError as error:
        raise ArtifactError(f"{what} holds a number that cannot be read") from error
    except RecursionError as error:
        raise ArtifactError(f"{what} is nested too deeply to be read") from error


def parse_yaml(text: str, what: str) -> Any:  # noqa: ANN401 - as above
    """The data that a YAML text is.

    Raises:
        ArtifactError: If it is no YAML, has a field twice, names a type, or repeats itself without bounds.

    >>> parse_yaml("{label: no, na: false, value: 1}", "the text")
    {'label': 'no', 'na': False, 'value': 1}
    """
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader that knows fewer types
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}: " if mark else ""
        hint = "; in [ ] and { }, put a text with a question mark in quotes" if "'?'" in str(error.problem) else ""
        raise ArtifactError(f"{what} is not YAML as it is read here ({place}{error.problem}{hint})") from error
    except yaml.YAMLError as error:
        raise ArtifactError(f"{what} is not YAML ({' '.join(str(error).split())})") from error
    except ValueError as error:
        raise ArtifactError(f"{what} holds a number that cannot be read") from error
    except RecursionError as error:
        raise ArtifactError(f"{what} is nested too deeply to be read") from error


class _Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2, keys that differ, and no type that a document could name."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - as the base class declares it
    yaml_constructors: ClassVar[dict[str | None, Any]] = {}

    def get_single_data(self) -> Any:  # noqa: ANN401 - as above
        node = self.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > MOST_NODES:
            self.refuse(node, f"its aliases make more than {MOST_NODES} values")
        return self.construct_document(node)

    def refuse(self, node: yaml.Node, problem: str) -> NoReturn:
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)

    def mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, "a mapping is expected here")
        own = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        for name in own:
            if own[name] > 1:
                self.refuse(node, f"the field {name!r} stands here twice: keep one")
        self.flatten_mapping(node)
        found: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.refuse(key, "a field's name is a text")
            as_written = key.value in TEXT_FIELDS and value.tag in _WORDED
            found[key.value] = self.construct_scalar(value) if as_written else self.construct_object(value, deep=True)
        return found

    def sequence(self, node: yaml.SequenceNode) -> list[Any]:
        return self.construct_sequence(node, deep=True)

    def boolean(self, node: yaml.ScalarNode) -> bool:
        written = self.construct_scalar(node).lower()
        if written not in {"true", "false"}:
            self.refuse(node, f"{written!r} is neither true nor false")
        return bool(written == "true")

    def number(self, node: yaml.ScalarNode) -> int | float:
        written = self.construct_scalar(node).lower()
        return (
            float(written.replace(".inf", "inf").replace(".nan", "nan")) if set(written) & set(".en") else int(written)
        )

    def unknown(self, node: yaml.Node) -> NoReturn:
        self.refuse(node, f"the type {node.tag!r} is not read; write plain texts, numbers, lists and mappings")


_Loader.yaml_constructors.update(
    {
        f"{_TAG}map": _Loader.mapping,
        f"{_TAG}seq": _Loader.sequence,
        f"{_TAG}str": _Loader.construct_scalar,
        f"{_TAG}null": lambda *_: None,
        f"{_TAG}bool": _Loader.boolean,
        f"{_TAG}int": _Loader.number,
        f"{_TAG}float": _Loader.number,
        None: _Loader.unknown,
    }
)
for _kind, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(f"^(?:{_pattern})$"), _first)


def _size(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node stands for; one that holds itself stands for too many."""
    if id(node) not in known:
        known[id(node)] = MOST_NODES + 1  # what is met again before it is counted holds itself
        children: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            children = list(node.value)
        elif isinstance(node, yaml.MappingNode):
            children = [part for pair in node.value for part in pair]
        known[id(node)] = 1 + sum(_size(child, known) for child in children)
    return known[id(node)]

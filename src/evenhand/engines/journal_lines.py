"""The replies of a journal as JSON lines that people can read, as they are exported and imported.

{"evenhand": "journal", "layout": 1}
{"engine": 1, "identity": {"endpoint": "https://…", "sampling": {"model": "…"}}}
{"text": 1, "content": "a long text of a message, once"}
{"key": "5f2a…", "engine": 1, "recorded_at": "2026-…", "request": {"messages": [{"role": "user", "text": 1}], …},
"completion": {"text": "…"}}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from evenhand.files import check_layout
from evenhand.votes import Completion

LAYOUT: Final = 1
SHORTEST_HELD_ONCE: Final = 64


class Row(NamedTuple):
    """A recorded reply as the journal holds it.

    Attributes:
        key: From :func:`request_key`.
        identity: The engine's, as canonical JSON.
        request: As canonical JSON.
        completion: The reply as JSON.
        recorded_at: Seconds since the epoch.
    """

    key: str
    identity: str
    request: str
    completion: str
    recorded_at: float


_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical_json(value: object) -> str:
    """The one way to write a value as JSON, so that equal values have equal keys.

    >>> canonical_json({"b": 1, "a": [None, "x"]})
    '{"a":[null,"x"],"b":1}'
    """
    return _CANONICAL.encode(value)


def request_key(identity: str, description: str) -> str:
    """The journal's key: the SHA-256 of the engine's identity and the request, both as canonical JSON."""
    return hashlib.sha256(f"{identity}\n{description}".encode()).hexdigest()


class LineWriter:
    """Rows as lines; what earlier lines hold is named by its number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._begun = False

    def lines(self, row: Row) -> str:
        """The lines of one row, the first time those before all others too."""
        written = [] if self._begun else [{"evenhand": "journal", "layout": LAYOUT}]
        self._begun = True
        engine = self._number("engine", row.identity, {"identity": json.loads(row.identity)}, written)
        request: Any = row.request
        if _is_canonical(row.request):
            request = json.loads(row.request)
            for message in request.get("messages", ()):
                content = message.get("content")
                if isinstance(content, str) and len(content) >= SHORTEST_HELD_ONCE:
                    message["text"] = self._number("text", message.pop("content"), {"content": content}, written)
        written.append(
            {
                "key": row.key,
                "engine": engine,
                "recorded_at": datetime.fromtimestamp(row.recorded_at, UTC).isoformat(),
                "request": request,
                "completion": json.loads(row.completion),
            }
        )
        return "".join(json.dumps(line) + "\n" for line in written)

    def _number(self, kind: str, value: str, line: dict[str, Any], written: list[dict[str, Any]]) -> int:
        number = self._numbers.get((kind, value))
        if number is None:
            number = self._numbers[kind, value] = len(self._numbers) + 1
            written.append({kind: number, **line})
        return number


def _is_canonical(request: str) -> bool:
    try:
        return canonical_json(json.loads(request)) == request
    except ValueError:
        return False


class LineReader:
    """The rows of lines; a line that is none, or whose key is not that of what it holds, is counted and left out.

    Attributes:
        faults: The numbers of the lines that could not be read, from 1.
    """

    def __init__(self, name: str | Path) -> None:
        self._name = name
        self.faults: list[int] = []
        self._held: dict[tuple[str, int], Any] = {}

    def rows(self, lines: Iterable[str]) -> Iterator[Row]:
        """One by one.

        Raises:
            InvalidInputError: If they are of another format.
        """
        for number, line in enumerate(lines, start=1):
            try:
                row = self._row(json.loads(line))
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                self.faults.append(number)
            else:
                if row is not None:
                    yield row

    def _row(self, line: dict[str, Any]) -> Row | None:
        if "key" not in line:
            for kind, name in (("engine", "identity"), ("text", "content")):
                if kind in line:
                    self._held[kind, line[kind]] = line[name]
                    return None
            if line["evenhand"] != "journal":
                raise KeyError("journal")
            check_layout(self._name, "an exported journal", line.get("layout"), LAYOUT)
            return None
        identity = canonical_json(self._held["engine", line["engine"]])
        request = line["request"]
        if not isinstance(request, str):
            for message in request["messages"]:
                if "text" in message:
                    message["content"] = self._held["text", message.pop("text")]
            request = canonical_json(request)
        completion = json.dumps(line["completion"])
        if line["key"] != request_key(identity, request) or not is_reply(completion):
            raise KeyError(line["key"])
        return Row(line["key"], identity, request, completion, datetime.fromisoformat(line["recorded_at"]).timestamp())


def is_reply(completion: str | bytes) -> bool:
    """Whether the JSON of a reply can be read."""
    try:
        Completion.model_validate_json(completion)
    except ValidationError:
        return False
    return True

"""Reading the rows of a damaged journal from its pages, as SQLite writes them, without SQLite.

Each page that holds rows is read for itself, in the file and in its write-ahead log, so that a row is lost only with
the page that it lies on: no header, no schema, no index and no tree above it is needed. What was read is proved by the
row's checksum, or, of rows from before there were checksums, by the key, which is the hash of what was asked.

Source: the database file format of SQLite (https://www.sqlite.org/fileformat2.html), sections 1.6, 2.1 and 4.1.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from evenhand.engines.journal_file import beside, checksum
from evenhand.engines.journal_lines import Row, is_reply, request_key

PAGE_SIZE: Final = 4096
_LEAF: Final = 0x0D
_WAL_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_LOST: Final = '{"lost":"the engine of this reply could not be read"}'
_INTEGERS: Final = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

Value = int | float | bytes | None


class _Found(NamedTuple):
    key: bytes
    engine: int
    request: bytes
    completion: bytes
    recorded_at: float
    proof: bytes | None


def salvaged(path: Path) -> list[Row]:
    """Every reply in a journal that can be read, each once, in the order in which they lie there."""
    engines: dict[int, str] = {}
    found: dict[bytes, _Found] = {}
    for pages in _readings(path):
        for rowid, values in pages.records():
            if len(values) == 2 and values[0] is None and isinstance(values[1], bytes):
                engines.setdefault(rowid, values[1].decode("utf-8", "replace"))
            elif (reply := _reply(values)) is not None:
                found.setdefault(reply.key, reply)
    rows = (_proved(reply, engines) for reply in found.values())
    return [row for row in rows if row is not None]


def _reply(values: list[Value]) -> _Found | None:
    """The reply in a record, if it is one and its checksum, where it has one, fits."""
    if len(values) not in {5, 6}:
        return None
    key, engine, request, completion, recorded_at, proof = (*values, None)[:6]
    if (
        not isinstance(key, bytes)
        or not isinstance(engine, int)
        or not isinstance(request, bytes)
        or not isinstance(completion, bytes)
        or not isinstance(recorded_at, int | float)
        or not (proof is None or isinstance(proof, bytes))
        or (proof is not None and proof != checksum(key, request, completion))
        or not is_reply(completion)
    ):
        return None
    return _Found(key, engine, request, completion, float(recorded_at), proof)


def _proved(reply: _Found, engines: Mapping[int, str]) -> Row | None:
    """A reply with its engine; None where nothing proves it."""
    try:
        key, request, completion = (part.decode() for part in (reply.key, reply.request, reply.completion))
    except UnicodeDecodeError:
        return None
    own = engines.get(reply.engine)
    fitting = next((each for each in engines.values() if request_key(each, request) == key), None)
    if fitting is None and reply.proof is None:
        return None
    return Row(key, fitting or own or _LOST, request, completion, reply.recorded_at)


class _Pages:
    """One reading of the pages of a journal: which pages there are, and what an overflow page of a number holds."""

    def __init__(self, size: int, pages: list[tuple[int, memoryview]], overflow: Mapping[int, memoryview]) -> None:
        self._size = size
        self._pages = pages
        self._overflow = overflow

    def records(self) -> Iterator[tuple[int, list[Value]]]:
        """Row id and values of every record that can be read."""
        for number, page in self._pages:
            start = 100 if number == 1 else 0
            if page[start] != _LEAF:
                continue
            (cells,) = struct.unpack_from(">H", page, start + 3)
            for place in range(min(cells, self._size // 4)):
                try:
                    (cell,) = struct.unpack_from(">H", page, start + 8 + 2 * place)
                    yield self._record(page, cell)
                except (struct.error, LookupError, ValueError):
                    continue

    def _record(self, page: memoryview, place: int) -> tuple[int, list[Value]]:
        length, place = _varint(page, place)
        rowid, place = _varint(page, place)
        local = self._local(length)
        payload = bytes(page[place : place + local])
        if local < length:
            (number,) = struct.unpack_from(">I", page, place + local)
            payload += self._rest(number, length - local)
        if len(payload) != length:
            raise ValueError(length)
        return rowid, _values(payload)

    def _local(self, length: int) -> int:
        """How much of a payload lies on its own page."""
        most, least = self._size - 35, (self._size - 12) * 32 // 255 - 23
        if length <= most:
            return length
        fitting = least + (length - least) % (self._size - 4)
        return fitting if fitting <= most else least

    def _rest(self, number: int, length: int) -> bytes:
        parts = []
        while length > 0:
            page = self._overflow[number]
            (number,) = struct.unpack_from(">I", page)
            parts.append(bytes(page[4 : 4 + min(length, self._size - 4)]))
            length -= self._size - 4
        return b"".join(parts)


def _readings(path: Path) -> Iterator[_Pages]:
    """The write-ahead log's pages and the file's, with the overflow pages of the log first; then of the file alone."""
    file, log = (memoryview(each.read_bytes() if each.exists() else b"") for each in (path, beside(path, "-wal")))
    size = _page_size(file, log)
    stored = [(place // size + 1, file[place : place + size]) for place in range(0, len(file) - size + 1, size)]
    logged = [
        (struct.unpack_from(">I", log, place)[0], log[place + _FRAME_HEADER : place + _FRAME_HEADER + size])
        for place in range(_WAL_HEADER, len(log) - size - _FRAME_HEADER + 1, size + _FRAME_HEADER)
    ]
    for overflow in ({**dict(stored), **dict(logged)}, dict(stored)) if logged else (dict(stored),):
        yield _Pages(size, [*logged[::-1], *stored], overflow)


def _page_size(file: memoryview, log: memoryview) -> int:
    """As the file or its log says, where one can be read; else what evenhand's journals have."""
    given = [int.from_bytes(file[16:18]) if bytes(file[:16]) == b"SQLite format 3\x00" else 0]
    given += [int.from_bytes(log[8:12])]
    fitting = (65536 if each == 1 else each for each in given)
    return next((each for each in fitting if 512 <= each <= 65536 and not each & (each - 1)), PAGE_SIZE)


def _varint(data: memoryview | bytes, place: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and where the next thing begins."""
    value = 0
    for count in range(8):
        byte = data[place + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + count + 1
    return value << 8 | data[place + 8], place + 9


def _values(payload: bytes) -> list[Value]:
    end, place = _varint(payload, 0)
    body, values = end, list[Value]()
    while place < end:
        kind, place = _varint(payload, place)
        size = _INTEGERS.get(kind, 8 if kind == 7 else (kind - 12) // 2 if kind >= 12 else 0)
        content = payload[body : body + size]
        if len(content) != size:
            raise ValueError(kind)
        values.append(_value(kind, content))
        body += size
    return values


def _value(kind: int, content: bytes) -> Value:
    if kind == 0:
        return None
    if kind in _INTEGERS:
        return int.from_bytes(content, signed=True)
    if kind in {8, 9}:
        return kind - 8
    return float(struct.unpack(">d", content)[0]) if kind == 7 else content

"""What a provider's batch interface is asked for, and the one that most speak: OpenAI's files and batches.

OpenAI, Azure (``https://NAME.openai.azure.com/openai/v1``), gateways before vLLM, Together and others: a JSONL file
is uploaded, a batch is made of it and asked about until it has ended, and its output and error files are read.

Source: https://platform.openai.com/docs/guides/batch.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import urlsplit

import aiohttp

from evenhand.engines.http import (
    CONNECT_SECONDS,
    MOST_BYTES,
    MOST_ERROR_BYTES,
    Reading,
    ServerAddress,
    lost_connection,
    proxy_of,
)
from evenhand.engines.journal_batches import BatchRecord
from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import (
    MOST_ERROR_CHARACTERS,
    SHOWN_CHARACTERS,
    decode_reply,
    filtered_completion,
    read_completion,
    read_error,
    redact,
)
from evenhand.errors import EngineError, FatalEngineError, RejectedRequestError, TransientEngineError
from evenhand.votes import Completion

Outcome = tuple[str, "Completion | EngineError"]
"""The key of a request, and what came of it."""

READ_SECONDS: Final = 600.0
"""For a server to answer after a file was sent to it, and for the next piece of one that it sends."""
CLOCK_SLACK: Final = 86400.0
"""So much the provider's clock and ours may differ."""
PAGE: Final = 100
MOST_LISTED: Final = 100_000
"""Batches that are searched for one that may have been made."""
LOOK_SECONDS: Final = 1.0
_CUSTOM_ID: Final = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')


@dataclass(frozen=True, slots=True)
class Standing:
    """How a batch stands.

    Attributes:
        status: As the provider names it.
        ended: Nothing more comes of it.
        done: Requests that were answered, as far as the provider says.
        failed: And that failed.
        results: Where these are.
        refused: Why the whole batch was refused; None where it was not.
        refused_lines: Of these reasons those that are about one line, from 1.
        unfinished: Why a request has no result, where it has none.
    """

    status: str
    ended: bool
    done: int = 0
    failed: int = 0
    results: tuple[str, ...] = ()
    refused: str | None = None
    refused_lines: Mapping[int, str] = field(default_factory=dict)
    unfinished: str = "no_result"


class BatchConnection(Protocol):
    """An open batch interface. Every method raises an EngineError where it is not answered."""

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        """One request, as it stands in the file."""

    def write(self, lines: Iterable[bytes], file: BinaryIO) -> None:
        """The file of these requests."""

    async def upload(self, label: str, path: Path) -> str | None:
        """Send the file; its name, or None where it is sent when the batch is made."""

    async def create(self, record: BatchRecord, path: Path) -> str:
        """Make the batch; its name."""

    async def find(self, record: BatchRecord, keys: frozenset[str], others: frozenset[str]) -> str | None:
        """The name of a batch that was perhaps made, and is none of these others; None where it was not."""

    async def look(self, name: str) -> Standing:
        """How a batch stands."""

    def results(self, standing: Standing) -> AsyncGenerator[Outcome, None]:
        """What came of its requests, in any order."""


class BatchService(Protocol):
    """Where batches are sent.

    Attributes:
        most_requests: Of one batch.
        most_bytes: Of its file.
        supports_schema: It may be asked for structured output.
    """

    most_requests: int
    most_bytes: int
    supports_schema: bool

    def opened(self, settings: RemoteEngine) -> AbstractAsyncContextManager[BatchConnection]:
        """A connection for the event loop that runs now."""


class BatchHttp:
    """Requests to one address, with files in both directions."""

    def __init__(
        self, session: aiohttp.ClientSession, base_url: str, secrets: tuple[str, ...], settings: RemoteEngine
    ) -> None:
        self.secrets = secrets
        self._session = session
        self._base_url = base_url
        self._proxy = proxy_of(base_url)
        self._short = aiohttp.ClientTimeout(total=settings.timeout)
        self._long = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=READ_SECONDS)
        self._most = settings.max_reply_bytes

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, base_url: str, headers: Mapping[str, str], secrets: tuple[str, ...], settings: RemoteEngine
    ) -> AsyncIterator[BatchHttp]:
        """One for the event loop that runs now."""
        plain = {name: value for name, value in headers.items() if name != "Content-Type"}
        async with aiohttp.ClientSession(
            headers=plain | {"Accept-Encoding": "identity", "Accept": "*/*"}, cookie_jar=aiohttp.DummyCookieJar()
        ) as session:
            yield cls(session, base_url, secrets, settings)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        data: aiohttp.FormData | BinaryIO | None = None,
    ) -> Mapping[str, Any]:
        """The JSON object that a request is answered with."""
        reading = Reading(max(self._most, MOST_BYTES))
        async with self._sent(method, path, params=params, json=body, data=data) as response:
            async for piece in response.content.iter_any():
                reading.takes(piece)
            content = reading.unpacked("")  # aiohttp has, piece by piece, though nothing packed was asked for
        found = decode_reply(content)
        if not isinstance(found, Mapping):
            raise TransientEngineError("the server's reply is JSON but not an object", cause="garbage")
        return found

    async def lines(self, path: str) -> AsyncGenerator[tuple[bytes, bool], None]:
        """The lines of a file, and whether each is whole: of one that is too long there is the beginning."""
        held, cut = bytearray(), False
        async with self._sent("GET", path, long=True) as response:
            try:
                async for piece in response.content.iter_any():
                    *ended, rest = piece.split(b"\n")
                    for part in ended:
                        if not cut:
                            held += part
                        yield bytes(held), not cut
                        held, cut = bytearray(), False
                    if not cut:
                        held += rest
                        cut = len(held) > self._most
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                raise self._lost(error, path) from None
        yield bytes(held), not cut

    @asynccontextmanager
    async def _sent(
        self,
        method: str,
        path: str,
        *,
        long: bool = False,
        **request: Any,  # noqa: ANN401 - as aiohttp takes them
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        timeout = self._long if long or request.get("data") is not None else self._short
        given = {name: value for name, value in request.items() if value is not None}
        url = f"{self._base_url}/{path}"
        try:
            response = await self._session.request(
                method, url, timeout=timeout, proxy=self._proxy, allow_redirects=False, **given
            )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise self._lost(error, path) from None
        async with response:
            if response.status >= 300:
                told = await response.content.read(MOST_ERROR_BYTES)
                wait, advice = response.headers.get("Retry-After"), ""
                if response.status in {404, 405} and method == "POST":
                    advice = f" (asked at {redact(url, self.secrets)!r}: has the server a batch interface there?)"
                raise read_error(response.status, told.decode("utf-8", "replace"), wait, self.secrets, advice=advice)
            yield response

    def _lost(self, error: Exception, path: str) -> EngineError:
        told = redact(str(error), self.secrets)
        why = f"{type(error).__name__}{': ' if told else ''}{told}"
        message = f"the connection to '{self._base_url}/{path}' failed ({why})"
        timed_out = isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError)
        return TransientEngineError(message, cause="timeout") if timed_out else lost_connection(error, message)


def read_lines(line: bytes, whole: bool, read: Any) -> Iterable[Outcome]:  # noqa: ANN401 - a function of an object
    """What one line of a results file says, as far as it can be told whose it is."""
    found = _CUSTOM_ID.search(line)
    key = found[1].decode() if found else ""
    if not whole:
        yield key, Completion(text=None, finish_reason="too_long")
    elif line.strip():
        try:
            entry = decode_reply(line)
            if not isinstance(entry, Mapping):
                raise TransientEngineError("the line is JSON but not an object", cause="garbage")
            yield str(entry.get("custom_id")), read(entry)
        except EngineError as error:
            yield key, error


def one_request(error: EngineError) -> EngineError:
    """What is wrong with one request of a batch, of which others are answered."""
    if isinstance(error, FatalEngineError):
        return RejectedRequestError(str(error), cause=error.cause)
    return error


def count(counts: object, *names: str) -> int:
    """Of what a provider counts, these together."""
    found = [counts.get(name) for name in names] if isinstance(counts, Mapping) else []
    return sum(number for number in found if isinstance(number, int))


def openai_standing(batch: Mapping[str, Any], secrets: Iterable[str]) -> Standing:
    """How a batch of OpenAI's shape stands."""
    status = str(batch.get("status"))[:SHOWN_CHARACTERS].casefold()
    errors = batch.get("errors")
    listed = errors.get("data") if isinstance(errors, Mapping) else None
    told = [each for each in listed or () if isinstance(each, Mapping)]
    words = [_briefly(f"{each.get('code')}: {each.get('message')}", secrets) for each in told]
    lines = {each["line"]: said for each, said in zip(told, words, strict=True) if isinstance(each.get("line"), int)}
    files = (batch.get("output_file_id"), batch.get("error_file_id"))
    counts = batch.get("request_counts")
    return Standing(
        status=status,
        ended=status in {"completed", "expired", "cancelled", "failed"},
        done=count(counts, "completed"),
        failed=count(counts, "failed"),
        results=tuple(each for each in files if isinstance(each, str) and each),
        refused="; ".join(dict.fromkeys(words[:3])) or "it did not say why" if status == "failed" else None,
        refused_lines=lines,
        unfinished=status if status in {"expired", "cancelled"} else "no_result",
    )


def openai_outcome(entry: Mapping[str, Any], secrets: Iterable[str]) -> Completion | EngineError:
    """What a line of an output or error file of OpenAI's shape says."""
    response, error = entry.get("response"), entry.get("error")
    if isinstance(response, Mapping) and isinstance(status := response.get("status_code"), int):
        if status == 200:
            return read_completion(response.get("body"), secrets)
        text = json.dumps(response.get("body"), ensure_ascii=False)
        return filtered_completion(status, text) or one_request(read_error(status, text, None, secrets))
    code = str(error.get("code") if isinstance(error, Mapping) else None).removeprefix("batch_")
    told = _briefly(str(error.get("message") if isinstance(error, Mapping) else error), secrets)
    return unfinished(_briefly(code, secrets), told)


def _briefly(told: str, secrets: Iterable[str]) -> str:
    """What a provider says of a batch or a request, as every vote repeats it."""
    return " ".join(redact(told[:MOST_ERROR_CHARACTERS], secrets).split())[:SHOWN_CHARACTERS]


def unfinished(why: str, told: str = "") -> EngineError:
    """Why a request has no reply, though its batch has ended."""
    said = {
        "expired": "its batch ended before it was answered (expired)",
        "cancelled": "its batch was cancelled before it was answered",
        "no_result": "its batch has ended, and neither a reply nor an error came for it",
    }.get(why, f"its batch brought no reply ({why})")
    message = f"{said}{f': {told}' if told else ''}"
    if why in {"expired", "no_result", "rate_limit_exceeded", "server_error"}:
        return TransientEngineError(message, cause=why)
    return RejectedRequestError(message, cause=why)


@dataclass
class OpenAIBatches:
    """The batch interface beside a server's ``/chat/completions``.

    Attributes:
        address: The address, and where its key is found.
        model: As the server names it; None takes that of the settings.
    """

    address: ServerAddress
    model: str | None = None
    most_requests: int = 50_000
    most_bytes: int = 200_000_000
    supports_schema: bool = True

    @asynccontextmanager
    async def opened(self, settings: RemoteEngine) -> AsyncIterator[BatchConnection]:
        """A connection for the event loop that runs now."""
        headers, secrets = self.address.headers()
        async with BatchHttp.opened(self.address.base_url, headers, secrets, settings) as http:
            azure = (urlsplit(self.address.base_url).hostname or "").endswith(".azure.com")
            yield _OpenAIConnection(http, "/chat/completions" if azure else "/v1/chat/completions", self.model)


class _OpenAIConnection:
    def __init__(self, http: BatchHttp, endpoint: str, model: str | None) -> None:
        self._http = http
        self._endpoint = endpoint
        self._given = {} if model is None else {"model": model}

    def line(self, key: str, payload: Mapping[str, Any]) -> bytes:
        request = {"custom_id": key, "method": "POST", "url": self._endpoint, "body": {**payload, **self._given}}
        return json.dumps(request).encode() + b"\n"

    def write(self, lines: Iterable[bytes], file: BinaryIO) -> None:
        file.writelines(lines)

    async def upload(self, label: str, path: Path) -> str | None:
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        with path.open("rb") as file:
            form.add_field("file", file, filename=f"{label}.jsonl", content_type="application/jsonl")
            made = await self._http.ask("POST", "files", data=form)
        deadline = time.monotonic() + READ_SECONDS
        while str(made.get("status")).casefold() in {"pending", "running", "notrunning"}:  # as on Azure
            if time.monotonic() > deadline:
                raise TransientEngineError(f"the server read the file for {READ_SECONDS:g} seconds", cause="timeout")
            await asyncio.sleep(LOOK_SECONDS)
            made = await self._http.ask("GET", f"files/{named(made)}")
        return named(made)

    async def create(self, record: BatchRecord, path: Path) -> str:  # noqa: ARG002 - the file is there
        body = {
            "input_file_id": record.file,
            "endpoint": self._endpoint,
            "completion_window": "24h",
            "metadata": {"evenhand": record.label},
        }
        return named(await self._http.ask("POST", "batches", body=body))

    async def find(self, record: BatchRecord, *_: frozenset[str]) -> str | None:
        async for batch in listed_batches(self._http, "batches", "after", record):
            if is_batch_of(record, batch):
                return named(batch)
            created = batch.get("created_at")
            if isinstance(created, int | float) and created < record.sent_at - CLOCK_SLACK:
                return None
        return None

    async def look(self, name: str) -> Standing:
        return openai_standing(await self._http.ask("GET", f"batches/{name}"), self._http.secrets)

    async def results(self, standing: Standing) -> AsyncGenerator[Outcome, None]:
        gone: EngineError | None = None
        for name in standing.results:
            try:
                async with aclosing(self._http.lines(f"files/{name}/content")) as lines:
                    async for line, whole in lines:
                        for outcome in read_lines(line, whole, lambda entry: openai_outcome(entry, self._http.secrets)):
                            yield outcome
            except FatalEngineError as error:
                gone = error
        if gone is not None:
            raise gone


def named(made: Mapping[str, Any]) -> str:
    """The name of what a provider has made."""
    name = made.get("id")
    if not isinstance(name, str) or not re.fullmatch(r"[\w.:@=+-]+", name):
        raise TransientEngineError("the server's reply names nothing that was made (id)", cause="garbage")
    return name


async def listed_batches(
    http: BatchHttp, path: str, cursor: str, record: BatchRecord
) -> AsyncIterator[Mapping[str, Any]]:
    """Batches at a provider, page by page, the newest first.

    Args:
        http: The provider.
        path: Where it lists them.
        cursor: The parameter that names the last batch of the page before.
        record: The batch that is searched for, for messages.

    Raises:
        RejectedRequestError: If the list has no end, as where the server ignores the cursor.
    """
    seen, after = set[str](), dict[str, str]()
    while True:
        listed = await http.ask("GET", path, params={"limit": str(PAGE), **after})
        batches = listed.get("data") or []
        if not isinstance(batches, list) or not all(isinstance(each, Mapping) for each in batches):
            raise TransientEngineError("the server's list of batches is not a list of objects", cause="garbage")
        for batch in batches:
            yield batch
        if not listed.get("has_more") or not batches:
            return
        names = {str(batch.get("id")) for batch in batches}
        if names <= seen or len(seen) > MOST_LISTED:
            raise RejectedRequestError(
                f"the server's list of batches has no end, so it is not known whether the batch {record.label!r} was "
                f"made: look for it there; 'evenhand resume --forget {record.label}' gives it up, and the next run "
                "sends its requests again",
                cause="endless_list",
            )
        seen |= names
        after = {cursor: named(batches[-1])}


def is_batch_of(record: BatchRecord, batch: Mapping[str, Any]) -> bool:
    """Whether a batch that a provider lists is the one that was sent: by its label, or its file."""
    metadata = batch.get("metadata")
    label = metadata.get("evenhand") if isinstance(metadata, Mapping) else None
    return label == record.label or (record.file is not None and batch.get("input_file_id") == record.file)

"""Recorded replies as a judge: a run that was paid for once can be repeated by anyone, offline.

A recording is JSONL. Each line names the request that it answers and holds the reply:

    {"request": {"messages": […], "response_schema": null, "logprobs": 0, "sample": 0}, "completion": {"text": "…"}}
    {"key": "5f2a…", "completion": {"text": "…", "finish_reason": "stop"}}
    {"message": "the last message, exactly", "text": "the reply"}

The first is what :class:`RecordingEngine` writes; ``completion`` has the fields of
:class:`~evenhand.votes.Completion`. The second has the key only (see :func:`replay_key`). The third is for writing by
hand; it answers every conversation that ends in that message, and ``"sample": n`` (0 by default) says which draw it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TextIO

from anyio.lowlevel import checkpoint
from pydantic import ValidationError

from evenhand.data.plain import unique_keys
from evenhand.engines.base import FreeJudge, JudgeEngine, Request
from evenhand.engines.journal import canonical_json, describe_request, request_key
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.files import read_bytes
from evenhand.votes import Completion

_NAMES: Final = frozenset({"key", "request", "message"})
_REPLIES: Final = frozenset({"completion", "text"})
_NO_IDENTITY: Final = "null"


def replay_key(request: Request) -> str:
    """The journal's key of this request to a judge without an identity: it does not depend on who was recorded."""
    return request_key(_NO_IDENTITY, describe_request(request))


class ReplayJudge(FreeJudge):
    """A judge that answers from a recording, and refuses what was not recorded.

    Attributes:
        path: The recording.
        data_classification_policy: Of which classifications the data may be; None for any.

    Raises:
        InvalidInputError: If the file cannot be read, is empty, or has a line that is not a recorded reply.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        judge_id: str | None = None,
        data_classification_policy: tuple[str, ...] | None = None,
    ) -> None:
        self.path = Path(path)
        self.data_classification_policy = data_classification_policy
        self._judge_id = judge_id if judge_id is not None else f"replay-{self.path.stem}"
        self._replies = _read(self.path)

    def __repr__(self) -> str:
        return f"ReplayJudge({str(self.path)!r}, judge_id={self._judge_id!r})"

    def __len__(self) -> int:
        return len(self._replies)

    @property
    def judge_id(self) -> str:
        """``replay-`` and the file's name, unless another name was given."""
        return self._judge_id

    async def complete(self, request: Request) -> Completion:
        """The recorded reply: the one to exactly this request, or the one to its last message.

        Raises:
            RejectedRequestError: If there is none.
        """
        await checkpoint()
        key = replay_key(request)
        completion = self._replies.get(key)
        if completion is None and request.messages:
            completion = self._replies.get(_message_key(request.messages[-1]["content"], request.sample))
        if completion is None:
            question = "" if request.question is None else f" about question {request.question.id!r}"
            raise RejectedRequestError(
                f"the recording {str(self.path)!r} has no reply with the key {key!r} "
                f"(stage {request.stage!r}{question}, sample {request.sample}): "
                "record it again with the same data, prompts, flow and seed",
                cause="not_recorded",
            )
        return completion


class RecordingEngine:
    """Another judge, whose replies are also written to a recording as they arrive.

    Replies that a journal holds never reach the engine, so record with ``journal=None`` or a new journal. A recording
    that exists is continued.

    Attributes:
        engine: The judge that answers.
        path: The recording.
    """

    def __init__(self, engine: JudgeEngine, path: str | os.PathLike[str]) -> None:
        self.engine = engine
        self.path = Path(path)
        self._file: TextIO | None = None

    def __repr__(self) -> str:
        return f"RecordingEngine({self.engine!r}, {str(self.path)!r})"

    @property
    def judge_id(self) -> str:
        """The recorded judge's."""
        return self.engine.judge_id

    @property
    def concurrency(self) -> int:
        """The recorded judge's."""
        return self.engine.concurrency

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what engines may say beside the protocol
        """The recorded judge's: what it costs, how long its replies may be, what it may see."""
        if name in {"data_classification_policy", "estimated_cost", "most_attempts", "most_reply_tokens"}:
            return getattr(self.engine, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def identity(self) -> Mapping[str, Any] | None:
        """The recorded judge's."""
        return self.engine.identity()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keeps the recording open beside what the recorded judge holds."""
        try:
            file = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise InvalidInputError(
                f"the recording {str(self.path)!r} cannot be written ({error.strerror}): give a path in a "
                "folder that exists"
            ) from error
        with file:
            self._file = file
            try:
                async with self.engine.running():
                    yield
            finally:
                self._file = None

    async def complete(self, request: Request) -> Completion:
        """The recorded judge's reply, once it is written down.

        Raises:
            InvalidInputError: Outside :meth:`running`.
            EngineError: When there is no reply; nothing is written.
        """
        if self._file is None:
            raise InvalidInputError(f"the judge {self.judge_id!r} is not running; enter its running() first")
        completion = await self.engine.complete(request)
        reply = completion.model_dump(mode="json", exclude_defaults=True, exclude={"cached"})
        reply.setdefault("text", completion.text)
        line = {"request": json.loads(describe_request(request)), "completion": reply}
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        return completion


def _message_key(message: str, sample: int) -> str:
    return canonical_json({"message": message, "sample": sample})


def _read(path: Path) -> Mapping[str, Completion]:
    """Every line of a recording, by key."""
    try:
        text = read_bytes(path, None).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidInputError(f"the recording {str(path)!r} cannot be read ({reason}): give a JSONL file") from error
    replies: dict[str, Completion] = {}
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            key, completion = _parse(line)
        except (ValueError, RecursionError, InvalidInputError) as error:
            raise InvalidInputError(
                f"line {number} of the recording {str(path)!r} is no recorded reply: {error}"
            ) from error
        if replies.setdefault(key, completion) != completion:
            raise InvalidInputError(
                f"lines {numbers[key]} and {number} of the recording {str(path)!r} hold different replies to one "
                "request: keep one of them, and the recordings of different judges in different files"
            )
        numbers.setdefault(key, number)
    if not replies:
        raise InvalidInputError(f"the recording {str(path)!r} is empty: record a run with RecordingEngine first")
    return replies


def _parse(line: str) -> tuple[str, Completion]:
    """The key and the reply of one line; a ValueError says what is wrong with it."""
    fields = json.loads(line, object_pairs_hook=lambda pairs: unique_keys(pairs, "it"))
    if not isinstance(fields, dict):
        raise InvalidInputError(f"it is {type(fields).__name__}, not an object")
    names, replies, extra = fields.keys() & _NAMES, fields.keys() & _REPLIES, fields.keys() - _NAMES - _REPLIES
    if "message" in names:
        extra -= {"sample"}
    if len(names) != 1 or len(replies) != 1 or extra:
        raise InvalidInputError(
            f"it has the fields {sorted(fields)!r}; it needs exactly one of 'request', 'key' and 'message' (with "
            "'sample' if wanted), and exactly one of 'completion' and 'text'"
        )
    return _key(fields), _reply(fields)


def _key(fields: Mapping[str, Any]) -> str:
    if "key" in fields:
        if not isinstance(fields["key"], str):
            raise InvalidInputError(f"'key' is {fields['key']!r}, not a text")
        return fields["key"]
    if "request" in fields:
        request = fields["request"]
        expected = {"messages", "response_schema", "logprobs", "sample"}
        if not isinstance(request, dict) or request.keys() != expected:
            raise InvalidInputError(f"'request' is not an object with the fields {sorted(expected)!r}")
        return request_key(_NO_IDENTITY, canonical_json(request))
    message, sample = fields["message"], fields.get("sample", 0)
    if not isinstance(message, str) or not isinstance(sample, int) or isinstance(sample, bool):
        raise InvalidInputError("'message' is not a text, or 'sample' is not a whole number")
    return _message_key(message, sample)


def _reply(fields: Mapping[str, Any]) -> Completion:
    given = {"text": fields["text"]} if "text" in fields else fields["completion"]
    try:
        return Completion.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "completion"
        raise InvalidInputError(f"the reply's {place!r}: {first['msg']}") from error

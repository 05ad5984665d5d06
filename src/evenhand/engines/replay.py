"""Recorded replies as a judge: a run that was paid for once can be repeated by anyone, offline.

A recording is what ``evenhand journal export`` writes, JSON lines of which each holds a request and the reply to it:

    {"request": {"messages": […], "response_schema": null, "logprobs": 0, "sample": 0}, "completion": {"text": "…"}, …}
    {"message": "the last message, exactly", "text": "the reply"}

The second form is for writing by hand; it answers every conversation that ends in that message, and ``"sample": n`` (0
by default) says which draw it is. Whose replies they are does not matter: recordings of several judges are several
files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from anyio.lowlevel import checkpoint
from pydantic import BaseModel, ConfigDict, PrivateAttr, StrictInt, StrictStr, ValidationError, model_validator

from evenhand.data.plain import unique_keys
from evenhand.engines.base import FreeEngine, Request
from evenhand.engines.journal import canonical_json, describe_request
from evenhand.errors import InvalidInputError, RejectedRequestError, did_you_mean
from evenhand.files import read_bytes
from evenhand.options import option
from evenhand.votes import Completion


class ReplayEngine(FreeEngine):
    """Recorded replies as a judge, which refuses what was not recorded.

    Raises:
        InvalidInputError: If the file cannot be read, is empty, or has a line that is not a recorded reply.
    """

    path: str | Path | None = option(None, "The recording: an exported journal.")
    name: str | None = option(None, "The judge's name; by default made of the file's.")
    _replies: Mapping[str, Completion] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _: object) -> None:
        """Read the recording."""
        if self.path is not None:
            self._replies = _read(Path(self.path))

    def to_judge(self) -> Self:
        """Return the engine itself.

        Raises:
            InvalidInputError: If it has no recording.
        """
        if self.path is None:
            raise InvalidInputError("a replay engine needs a recording: engines.evenhand.replay[path=run.jsonl]")
        return self

    @property
    def judge_id(self) -> str:
        """``replay-`` and the file's name, unless another name was given."""
        return self.name if self.name is not None else f"replay-{Path(self.path or '').stem}"

    async def complete(self, request: Request) -> Completion:
        """Return the recorded reply: the one to exactly this request, or the one to its last message.

        Raises:
            RejectedRequestError: If there is none.
        """
        await checkpoint()
        completion = self._replies.get(describe_request(request))
        if completion is None and request.messages:
            completion = self._replies.get(_message_key(request.messages[-1]["content"], request.sample))
        if completion is None:
            question = "" if request.question is None else f" about question {request.question.id!r}"
            raise RejectedRequestError(
                f"the recording {str(self.path)!r} has no reply to this request (stage {request.stage!r}{question}, "
                f"sample {request.sample}): record it again with the same data, prompts, flow and seed",
                cause="not_recorded",
            )
        return completion


class _RecordedRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    messages: list[dict[str, str]]
    response_schema: dict[str, Any] | None
    logprobs: StrictInt
    sample: StrictInt


class _RecordedReply(BaseModel):
    """One line of a recording; of an exported journal, ``key``, ``identity`` and ``recorded_at`` are not looked at."""

    model_config = ConfigDict(extra="forbid")

    request: _RecordedRequest | None = None
    message: StrictStr | None = None
    sample: StrictInt = 0
    completion: Completion | None = None
    text: StrictStr | None = None
    key: Any = None
    identity: Any = None
    recorded_at: Any = None

    @model_validator(mode="after")
    def _check_forms(self) -> Self:
        if (self.request is None) == (self.message is None) or (self.completion is None) == (self.text is None):
            raise ValueError("exactly one of 'request' and 'message', and of 'completion' and 'text', is needed")
        return self

    def entry(self) -> tuple[str, Completion]:
        """The request that is answered, and the reply."""
        key = canonical_json(self.request.model_dump()) if self.request else _message_key(self.message, self.sample)
        return key, self.completion or Completion(text=self.text)


def _message_key(message: str | None, sample: int) -> str:
    return canonical_json({"message": message, "sample": sample})


def _faults(error: ValidationError) -> str:
    """Say in one line what is wrong with a line of a recording."""
    parts = []
    for fault in error.errors(include_url=False):
        place = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = did_you_mean(fault["loc"][-1], _RecordedReply.model_fields) if len(fault["loc"]) == 1 else ""
            parts.append(f"there is no field {place!r}. {known}".strip())
        else:
            parts.append(f"{place}: {fault['msg']}")
    return "; ".join(parts)


def _read(path: Path) -> Mapping[str, Completion]:
    """Every line of a recording, by what it answers."""
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
            fields = json.loads(line, object_pairs_hook=lambda pairs: unique_keys(pairs, "it"))
            key, completion = _RecordedReply.model_validate(fields).entry()
        except (ValueError, RecursionError, InvalidInputError) as error:
            told = _faults(error) if isinstance(error, ValidationError) else error
            raise InvalidInputError(
                f"line {number} of the recording {str(path)!r} is no recorded reply: {told}"
            ) from error
        if replies.setdefault(key, completion) != completion:
            raise InvalidInputError(
                f"lines {numbers[key]} and {number} of the recording {str(path)!r} hold different replies to one "
                "request: keep one of them, and the recordings of different judges in different files"
            )
        numbers.setdefault(key, number)
    if not replies:
        raise InvalidInputError(f"the recording {str(path)!r} is empty: write it with 'evenhand journal export'")
    return replies

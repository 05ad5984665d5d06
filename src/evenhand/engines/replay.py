"""Recorded replies as a judge: anyone can repeat a paid run offline, without a key.

A recording is what ``evenhand journal export`` writes: JSON lines, each with a request and its reply. Whose replies
they are does not matter, so recordings of several judges are several files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from anyio.lowlevel import checkpoint
from pydantic import PrivateAttr

from evenhand.engines.base import Request
from evenhand.engines.free_engines import FreeEngine
from evenhand.engines.journal import canonical_json, describe_request
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.files import read_bytes
from evenhand.options import option
from evenhand.votes import Completion


class ReplayEngine(FreeEngine):
    """Answer from a recording, and refuse requests that it does not hold.

    Raises:
        InvalidInputError: If the file cannot be read, is empty, or has a line that is not a recorded reply.
    """

    path: str | Path | None = option(None, "The recording: an exported journal.")
    name: str | None = option(None, "The judge's name; by default ``replay-`` and the name of the file.")
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
        """The name, by default that of the file."""
        return self.name if self.name is not None else f"replay-{Path(self.path or '').stem}"

    async def complete(self, request: Request) -> Completion:
        """Return the recorded reply to exactly this request.

        Raises:
            RejectedRequestError: If the recording does not hold it.
        """
        await checkpoint()
        completion = self._replies.get(describe_request(request))
        if completion is None:
            question = "" if request.question is None else f" about question {request.question.id!r}"
            raise RejectedRequestError(
                f"the recording {str(self.path)!r} has no reply to this request (stage {request.stage!r}{question}, "
                f"sample {request.sample}): record it again with the same data, prompts, flow and seed",
                cause="not_recorded",
            )
        return completion


def _read(path: Path) -> Mapping[str, Completion]:
    """Return request -> reply."""
    try:
        text = read_bytes(path, None).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InvalidInputError(f"the recording {str(path)!r} cannot be read ({reason}): give a JSONL file") from error
    replies: dict[str, Completion] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            recorded = json.loads(line)
            key, completion = canonical_json(recorded["request"]), Completion.model_validate(recorded["completion"])
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise InvalidInputError(
                f"line {number} of the recording {str(path)!r} is not a recorded reply ({error}): give what "
                "'evenhand journal export' writes"
            ) from error
        if replies.setdefault(key, completion) != completion:
            raise InvalidInputError(
                f"line {number} of the recording {str(path)!r} holds another reply to a request that was answered "
                "before: keep one of them, and the recordings of different judges in different files"
            )
    if not replies:
        raise InvalidInputError(f"the recording {str(path)!r} is empty: write it with 'evenhand journal export'")
    return replies

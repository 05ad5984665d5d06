"""What judges without a model share: how they run, and how they word a choice at each stage of the flow."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from evenhand.engines.base import Request
from evenhand.errors import RejectedRequestError
from evenhand.question import Presentation, Question
from evenhand.votes import Completion


def asked(request: Request, judge_id: str) -> tuple[Question, Presentation]:
    """The question behind a request, as shown.

    Raises:
        RejectedRequestError: If the request carries only messages, which a judge without a model cannot read.
    """
    if request.question is None or request.presentation is None:
        raise RejectedRequestError(
            f"the judge {judge_id!r} has no model and cannot read messages; give the request its question and "
            "presentation, or use a judge with a model",
            cause="no_question",
        )
    return request.question, request.presentation


def shown_index(presentation: Presentation, own_index: int) -> int:
    """Where an option of the criterion's own order stands among the options shown."""
    return presentation.to_own.index(own_index)


def phrase(request: Request, label: str, reasons: str, *, model: str) -> Completion:
    """The reply that selects ``label``, in the form that the request's stage expects.

    Args:
        request: What was asked.
        label: The label chosen, as shown.
        reasons: What the choice rests on.
        model: Who answers.
    """
    if request.stage == "assessment":
        text = reasons
    elif request.stage == "summary":
        text = f"{model} prefers the verdict {label!r}."
    elif request.stage == "one_step":
        fields = {"assessment": reasons, "selected_option": label}
        structured = request.response_schema is not None
        text = json.dumps(fields, ensure_ascii=False) if structured else f"{reasons}\nSelected option: {label}"
    else:
        text = label
    return Completion(text=text, finish_reason="stop", model=model)


class FreeEngine:
    """A judge whose replies cost nothing and need neither connections nor threads."""

    __slots__ = ()

    @property
    def concurrency(self) -> int:
        """It answers at once, so that few requests need to wait."""
        return 8

    def identity(self) -> Mapping[str, Any] | None:
        """None: its replies cost nothing."""
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Nothing is held."""
        yield

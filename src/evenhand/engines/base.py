"""The border between the judging logic and whatever answers it: one request, one completion."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from evenhand.question import Presentation, Question
from evenhand.votes import Completion, Message

Stage = Literal["assessment", "selection", "reask", "summary", "one_step", "verdict", "sheet", "sheet_reask"]


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One question of a sheet as it is shown.

    Attributes:
        number: What the prompt and the reply call it, from 1.
        question: What is asked.
        presentation: The question as shown.
    """

    number: int
    question: Question
    presentation: Presentation


@dataclass(frozen=True, slots=True)
class Request:
    """One call to a judge.

    What the reply depends on is ``messages``, ``response_schema``, ``logprobs`` and ``sample``, together with the
    engine's own settings; that is what a journal keys it by. The rest tells an engine without a model what it is asked.

    Attributes:
        messages: The conversation so far; the last message is the user's.
        options: What the reply must name one of: the labels as shown, or their codes.
        response_schema: A JSON schema that the reply should satisfy, where the engine can enforce one.
        logprobs: How many of the likeliest tokens to return at each place; 0 for none.
        sample: Which of the repeated draws of this request, from 0.
        stage: The stage of the flow that asks.
        question: The question that is asked; None for a sheet.
        presentation: The question as shown in this order; None for a sheet.
        items: The questions of a sheet that the reply must answer, in the order shown.
        reasoning: Whether the reply should give its reasons, where the stage leaves that open.
    """

    messages: tuple[Message, ...]
    options: tuple[str, ...] | None = None
    response_schema: Mapping[str, Any] | None = None
    logprobs: int = 0
    sample: int = 0
    stage: Stage = "selection"
    question: Question | None = None
    presentation: Presentation | None = None
    items: tuple[SheetItem, ...] = ()
    reasoning: bool = True


@runtime_checkable
class JudgeEngine(Protocol):
    """Answers requests, one coroutine a request. The engine decides how calls travel.

    Attributes:
        judge_id: Names the judge in every vote and score. No secrets.
        concurrency: How many requests it is useful to have waiting at once.
    """

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote and score."""

    @property
    def concurrency(self) -> int:
        """How many requests it is useful to have waiting at once."""

    def identity(self) -> Mapping[str, Any] | None:
        """Everything of the engine that a reply depends on, as plain JSON without secrets.

        None when its replies cost nothing and need no journal.
        """

    def running(self) -> AbstractAsyncContextManager[None]:
        """Holds what the engine needs while calls are made (connections, gatherers); one event loop at a time."""

    async def complete(self, request: Request) -> Completion:
        """The reply to one request.

        Raises:
            EngineError: When there is no reply. A :class:`~evenhand.errors.FatalEngineError` says that none of this
                engine's requests can succeed.
        """


@runtime_checkable
class PricedEngine(Protocol):
    """An engine that can say beforehand what tokens cost."""

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars for so many tokens; None where the price is not known."""

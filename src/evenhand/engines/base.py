"""The interface between the judging logic and the engines that answer it: one request, one completion.

Engines are plain values, from which judges are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

from evenhand.errors import EngineError, WithheldError
from evenhand.options import Options, option
from evenhand.question import Presentation, Question
from evenhand.votes import Completion, Message

Stage = Literal["assessment", "selection", "reask", "summary", "one_step", "verdict", "sheet", "sheet_reask"]


_Failure = TypeVar("_Failure", bound=EngineError | WithheldError)


class SheetItem(NamedTuple):
    """One question of a sheet as it is shown.

    Attributes:
        number: Its number in the prompt and the reply, from 1.
        question: The question.
        presentation: The question as shown.
    """

    number: int
    question: Question
    presentation: Presentation


@dataclass(slots=True)
class Request:
    """One call to a judge.

    What the reply depends on is ``messages``, ``response_schema``, ``logprobs`` and ``sample``, together with the
    engine's own settings; that is what a journal keys it by. The rest describes the question to free engines.

    Attributes:
        messages: The conversation so far; the last message is the user's.
        options: The answers that the reply may name: the labels as shown, or their codes.
        response_schema: A JSON schema that the reply should satisfy, where the engine can enforce one.
        logprobs: The number of the likeliest tokens to return at each place; 0 for none.
        sample: The number of the draw among repeated draws of this request, from 0.
        stage: The stage of the flow that asks.
        question: The question that is asked; None for a sheet.
        presentation: The question as shown in this order; None for a sheet.
        items: The questions of a sheet that the reply must answer, in the order shown.
        reasoning: Whether the reply should give its reasons, where the stage leaves that open.
        shared: The number of characters at the start of the first message that requests about other rows share.
        again: Called before a request is sent again, with whether the attempt before it may have to be paid for. It
            raises if the request must not be sent.
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
    shared: int = field(default=0, compare=False)
    again: Callable[[bool], None] | None = field(default=None, compare=False, repr=False)


@runtime_checkable
class JudgeEngine(Protocol):
    """Answers requests, one coroutine per request. The engine decides how calls travel.

    Optional attributes: ``most_reply_tokens``, the token limit of a reply, with which ``max_cost`` is kept without
    exception (:class:`PricedEngine`); ``data_classification_policy``, the classifications of the data that it may be
    shown (without it, any); ``stop_sending()``, which makes calls that wait fail at once, on the event loop that runs
    now.

    Attributes:
        judge_id: Names the judge in every vote and score. No secrets.
        concurrency: The useful number of waiting requests.
    """

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote and score."""

    @property
    def concurrency(self) -> int:
        """The useful number of waiting requests."""

    def identity(self) -> Mapping[str, Any] | None:
        """Return everything of the engine that a reply depends on, as plain JSON without secrets.

        None when it sends nothing: its replies cost nothing, need no journal, and come in mock and offline mode too.
        """

    def running(self) -> AbstractAsyncContextManager[None]:
        """Hold what the engine needs while calls are made (connections, gatherers); one event loop at a time."""

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            EngineError: When there is no reply. A :class:`~evenhand.errors.FatalEngineError` says that none of this
                engine's requests can succeed.
        """


@runtime_checkable
class PricedEngine(Protocol):
    """An engine that can say beforehand what tokens cost."""

    def estimated_cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the cost of these tokens in US dollars; None if the price is not known."""


def not_sent(error: _Failure) -> _Failure:
    """Return a copy of an error for a request that it keeps from being sent."""
    failure = copy(error)
    failure.attempts = failure.lost = 0
    failure.at_risk = 0.0
    return failure


HOSTED: Final = ("public", "proprietary")
"""The classifications of data that an engine behind a network may be shown, unless it says otherwise."""


class Engine(Options):
    """The base of evenhand's engines: plain values from which a judge is made."""

    data_classification_policy: tuple[str, ...] | None = option(
        None, "The classifications of the data that it may be shown; None for any."
    )

    def to_judge(self) -> JudgeEngine:
        """Return a judge with these settings.

        Raises:
            InvalidInputError: If the engine lacks a setting that a judge needs.
        """
        raise NotImplementedError

    def changed(self, **fields: Any) -> Self:  # noqa: ANN401 - each option says its own type
        """Return the same engine with other values of these options, which are checked."""
        return type(self)(**{**dict(self), **fields})

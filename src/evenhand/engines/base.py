"""The interface between the judging logic and the engines that answer it: one request, one completion.

The common parts of engines are here too: engines are plain values; engines without a model run alike, and word a choice
alike at each stage of the flow.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any, Final, Literal, Protocol, Self, runtime_checkable

from evenhand.errors import RejectedRequestError
from evenhand.options import Options, option
from evenhand.question import Presentation, Question
from evenhand.votes import Completion, Message, TokenLogprob

Stage = Literal["assessment", "selection", "reask", "summary", "one_step", "verdict", "sheet", "sheet_reask"]


@dataclass(frozen=True, slots=True)
class SheetItem:
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
    engine's own settings; that is what a journal keys it by. The rest tells an engine without a model what it is asked.

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

    Optional attributes: ``most_attempts``, the requests of one call at most, for estimates; ``most_reply_tokens``, the
    token limit of a reply, with which ``max_cost`` is kept without exception (:class:`PricedEngine`);
    ``data_classification_policy``, the classifications of the data that it may be shown (without it, any);
    ``stop_sending()``, which makes calls that wait fail at once, on the event loop that runs now.

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


SHEET_STAGES = frozenset({"sheet", "sheet_reask"})
_TOKEN = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A piece of a reply.

    Attributes:
        text: The text of the piece.
        shares: If the piece names an answer: the probability of each answer there. Empty if that is not known.
    """

    text: str
    shares: tuple[tuple[str, float], ...] = ()

    def in_json(self) -> Spoken:
        """Return the piece as it stands within the quotes of a JSON string."""
        return Spoken(_escaped(self.text), tuple((_escaped(answer), share) for answer, share in self.shares))


@dataclass(frozen=True, slots=True)
class SpokenItem:
    """The answer to one question of a sheet: its number, the answer, and what it rests on."""

    number: int
    answer: Spoken
    reasons: str


def _no_question(judge_id: str) -> RejectedRequestError:
    return RejectedRequestError(
        f"the judge {judge_id!r} has no model and cannot read messages; give the request its question and "
        "presentation, or the items of its sheet, or use a judge with a model",
        cause="no_question",
    )


def question_of(request: Request, judge_id: str) -> tuple[Question, Presentation]:
    """Return the question behind a request, as shown.

    Raises:
        RejectedRequestError: If the request carries only messages, which a judge without a model cannot read.
    """
    if request.question is None or request.presentation is None:
        raise _no_question(judge_id)
    return request.question, request.presentation


def items_of(request: Request, judge_id: str) -> tuple[SheetItem, ...]:
    """Return the questions of a sheet behind a request.

    Raises:
        RejectedRequestError: If the request carries only messages.
    """
    if not request.items:
        raise _no_question(judge_id)
    return request.items


def phrase(request: Request, answer: Spoken, reasons: str, *, model: str) -> Completion:
    """Return the reply that gives an answer, in the form that the request's stage expects.

    Args:
        request: The request.
        answer: The answer chosen, as the judge is to name it.
        reasons: The reasons for the choice.
        model: The model that answers.
    """
    if request.stage == "assessment":
        pieces = [Spoken(reasons)]
    elif request.stage == "summary":
        pieces = [Spoken(f"{model} prefers the verdict {answer.text!r}.")]
    elif request.stage == "one_step" and request.response_schema is not None:
        fields: dict[str, Spoken] = {"assessment": Spoken(reasons), "selected_option": answer}
        properties = [name for name in request.response_schema.get("properties", ()) if name in fields]
        pieces = _object({name: fields[name] for name in properties} | fields)
    elif request.stage == "one_step" or (
        request.stage == "verdict" and request.reasoning and request.response_schema is None
    ):
        pieces = [Spoken(f"{reasons}\nSelected option: "), answer]
    else:
        pieces = [answer]
    return _completion(request, pieces, model)


def phrase_sheet(request: Request, answers: Sequence[SpokenItem], *, model: str) -> Completion:
    """Return the reply that answers the questions of a sheet, with reasons if the request asks for them."""
    pieces = [Spoken('{"answers": [')]
    for place, item in enumerate(answers):
        if place:
            pieces.append(Spoken(", "))
        reasons = {"reasoning": Spoken(item.reasons)} if request.reasoning else {}
        pieces.extend(_object({"index": item.number, **reasons, "answer": item.answer}))
    pieces.append(Spoken("]}"))
    return _completion(request, pieces, model)


def _object(fields: Mapping[str, Spoken | int]) -> list[Spoken]:
    """Return the pieces of a JSON object."""
    pieces: list[Spoken] = []
    for place, (name, value) in enumerate(fields.items()):
        opening = f'{", " if place else "{"}"{name}": '
        if isinstance(value, int):
            pieces.append(Spoken(f"{opening}{value}"))
        else:
            pieces += [Spoken(f'{opening}"'), value.in_json(), Spoken('"')]
    return [*pieces, Spoken("}")]


def _escaped(text: str) -> str:
    return encode_basestring(text)[1:-1]


def _completion(request: Request, pieces: Sequence[Spoken], model: str) -> Completion:
    text = "".join(piece.text for piece in pieces)
    known = request.logprobs > 0 and any(piece.shares for piece in pieces)
    logprobs = tuple(_token_logprobs(pieces, request.logprobs)) if known else None
    return Completion(text=text, finish_reason="stop", model=model, logprobs=logprobs)


def _token_logprobs(pieces: Sequence[Spoken], most: int) -> Iterator[TokenLogprob]:
    """Return the tokens of the text: an answer is one, with the space before it; each other word is certain."""
    space = ""
    for place, piece in enumerate(pieces):
        if piece.shares:
            yield _answer_logprob(piece, space, most)
            space = ""
            continue
        text = piece.text
        if place + 1 < len(pieces) and pieces[place + 1].shares:
            text, space = text.rstrip(), text[len(text.rstrip()) :]
        for word in _TOKEN.findall(text):
            yield TokenLogprob(token=word, logprob=0.0, top=((word, 0.0),))


def _answer_logprob(piece: Spoken, space: str, most: int) -> TokenLogprob:
    """Return the whole answer as one token, with the answers as the likeliest tokens at its place."""
    ranked = sorted(piece.shares, key=lambda answer: -answer[1])
    top = tuple((space + answer, math.log(share)) for answer, share in ranked[:most] if share > 0)
    return TokenLogprob(token=space + piece.text, logprob=math.log(dict(piece.shares)[piece.text]), top=top)


class FreeEngine(Engine):
    """An engine whose replies cost nothing and need neither connections nor threads: it is its own judge."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote and score."""
        raise NotImplementedError

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request."""
        raise NotImplementedError

    @property
    def concurrency(self) -> int:
        """The number of requests that may wait: few, since it answers at once."""
        return 8

    def to_judge(self) -> Self:
        """Return the engine itself."""
        return self

    def settings(self) -> dict[str, Any]:
        """Return the options that are plain values, by which results tell engines apart."""
        return {name: value for name, value in self if isinstance(value, str | int | float | None)}

    def identity(self) -> Mapping[str, Any] | None:
        """Return None: its replies cost nothing."""
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold nothing."""
        yield

"""What judges without a model share: how they run, and how they word a choice at each stage of the flow."""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from evenhand.engines.base import Request, SheetItem
from evenhand.errors import RejectedRequestError
from evenhand.question import Presentation, Question
from evenhand.votes import Completion, TokenLogprob

SHEET_STAGES = frozenset({"sheet", "sheet_reask"})
_TOKEN = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A piece of a reply.

    Attributes:
        text: What is said.
        shares: Where the piece names an answer: how probable each answer was there. Empty where that is not known.
    """

    text: str
    shares: tuple[tuple[str, float], ...] = ()

    def in_json(self) -> Spoken:
        """The piece as it stands within the quotes of a JSON string."""
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


def asked(request: Request, judge_id: str) -> tuple[Question, Presentation]:
    """The question behind a request, as shown.

    Raises:
        RejectedRequestError: If the request carries only messages, which a judge without a model cannot read.
    """
    if request.question is None or request.presentation is None:
        raise _no_question(judge_id)
    return request.question, request.presentation


def asked_items(request: Request, judge_id: str) -> tuple[SheetItem, ...]:
    """The questions of a sheet behind a request.

    Raises:
        RejectedRequestError: If the request carries only messages.
    """
    if not request.items:
        raise _no_question(judge_id)
    return request.items


def phrase(request: Request, answer: Spoken, reasons: str, *, model: str) -> Completion:
    """The reply that gives an answer, in the form that the request's stage expects.

    Args:
        request: What was asked.
        answer: The answer chosen, as the judge is to name it.
        reasons: What the choice rests on.
        model: Who answers.
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
    """The reply that answers the questions of a sheet, with reasons where the request wants them."""
    pieces = [Spoken('{"answers": [')]
    for place, item in enumerate(answers):
        if place:
            pieces.append(Spoken(", "))
        reasons = {"reasoning": Spoken(item.reasons)} if request.reasoning else {}
        pieces.extend(_object({"index": item.number, **reasons, "answer": item.answer}))
    pieces.append(Spoken("]}"))
    return _completion(request, pieces, model)


def _object(fields: Mapping[str, Spoken | int]) -> list[Spoken]:
    """A JSON object in pieces."""
    pieces: list[Spoken] = []
    for place, (name, value) in enumerate(fields.items()):
        opening = f'{", " if place else "{"}"{name}": '
        if isinstance(value, int):
            pieces.append(Spoken(f"{opening}{value}"))
        else:
            pieces += [Spoken(f'{opening}"'), value.in_json(), Spoken('"')]
    return [*pieces, Spoken("}")]


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _completion(request: Request, pieces: Sequence[Spoken], model: str) -> Completion:
    text = "".join(piece.text for piece in pieces)
    known = request.logprobs > 0 and any(piece.shares for piece in pieces)
    logprobs = tuple(_token_logprobs(pieces, request.logprobs)) if known else None
    return Completion(text=text, finish_reason="stop", model=model, logprobs=logprobs)


def _token_logprobs(pieces: Sequence[Spoken], most: int) -> Iterator[TokenLogprob]:
    """Tokens that make up the text: an answer is one, with the space before it; of the rest each word is certain."""
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
    """The whole answer as one token, with the answers as the likeliest tokens at its place."""
    ranked = sorted(piece.shares, key=lambda answer: -answer[1])
    top = tuple((space + answer, math.log(share)) for answer, share in ranked[:most] if share > 0)
    return TokenLogprob(token=space + piece.text, logprob=math.log(dict(piece.shares)[piece.text]), top=top)


class FreeJudge:
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

"""What is said on the way to the votes on a sheet: questions about one response that one reply answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evenhand.engines.base import SheetItem, Stage
from evenhand.errors import InvalidInputError
from evenhand.judging.conversation import (
    UNDIGESTED,
    Caller,
    Conversation,
    ShownOption,
    cast_vote,
    one_line,
    own_probabilities,
    reason_without_text,
    said_beside,
    shared_values,
    sheet_schema,
    shown_options,
    texts_of,
)
from evenhand.judging.flow import Flow
from evenhand.parsing import SheetAnswer, read_sheet
from evenhand.prompts import fill_prompt
from evenhand.question import Presentation, Question, has_plain_answers
from evenhand.votes import FINAL_FINISHES, Completion, UnscoredReason, Usage, Vote


@dataclass(frozen=True, slots=True)
class _ShownItem:
    """A question of a sheet as its prompt names it."""

    number: int
    name: str
    text: str
    answers: tuple[str, ...]
    options: tuple[ShownOption, ...]
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _SheetReading:
    """What one reply says about one item."""

    answer: SheetAnswer
    reply: Completion
    probabilities: tuple[float, ...] | None


@dataclass(slots=True, kw_only=True)
class SheetConversation(Conversation):
    """What has been said so far on the way to the votes on a sheet."""

    items: tuple[SheetItem, ...]
    readings: dict[int, _SheetReading] = field(default_factory=dict)
    reasks: dict[int, int] = field(default_factory=dict)
    reason: UnscoredReason | None = None

    async def run(self) -> None:
        """Ask for all answers, and again for those only that are unscored, as often as it is allowed."""
        text = self.first_prompt(self.items[0].question, "sheet", self._values(self.items))
        reply = await self._ask("sheet", text, self.items)
        for _ in range(self.flow.max_reasks):
            missing = self._missing()
            if not missing or reply.finish_reason in FINAL_FINISHES:
                return
            self.hear(reply)
            for item in missing:
                self.reasks[item.number] = self.reasks.get(item.number, 0) + 1
            reply = await self._ask("sheet_reask", fill_prompt("sheet_reask", self._values(missing)), missing)

    async def _ask(self, stage: Stage, text: str, items: tuple[SheetItem, ...]) -> Completion:
        numbered = tuple((item.number, item.presentation.answers) for item in items)
        schema = sheet_schema(numbered, reasoning=self.flow.reasoning)
        reply = await self.say(stage, text, schema, items=items)
        unscored = tuple(_SheetReading(SheetAnswer(UNDIGESTED), reply, None) for _ in items)
        known = [item.number for item in self.items]
        nonce = self._nonce if stage == "sheet_reask" else ""
        read = await self.digest(reply, lambda: _readings(reply, items, known, nonce), unscored)
        self.readings |= {item.number: reading for item, reading in zip(items, read, strict=True)}
        return reply

    def give_up(self, reason: UnscoredReason, error: str) -> None:
        """End; what has been read stands, and the rest is unscored for this reason."""
        self.reason, self.error = reason, error

    def _missing(self) -> tuple[SheetItem, ...]:
        return tuple(item for item in self.items if self.readings[item.number].answer.match.index is None)

    def _values(self, items: Sequence[SheetItem]) -> dict[str, object]:
        question = self.items[0].question
        return {
            **shared_values(self.flow.seed, question, self._said_beside()),
            "response": question.responses[0],
            "items": tuple(_shown(item) for item in items),
            "reasoning": self.flow.reasoning,
        }

    def _said_beside(self) -> list[str]:
        return [text for item in self.items for text in said_beside(item.question)]

    @property
    def _nonce(self) -> str:
        return str(shared_values(self.flow.seed, self.items[0].question, self._said_beside())["nonce"])

    def votes(self, weight: float) -> list[tuple[SheetItem, Vote]]:
        """One vote an item; that on the first that was answered bears what the calls of all consumed."""
        return [(item, self._vote(item, weight, bears=item is self._bearer)) for item in self.items]

    @property
    def _bearer(self) -> SheetItem:
        """The item whose vote bears what all calls consumed: one that was answered, where there is one."""
        return next((item for item in self.items if self._selects(item)), self.items[0])

    def _selects(self, item: SheetItem) -> bool:
        reading = self.readings.get(item.number)
        return reading is not None and reading.answer.match.index is not None

    def _vote(self, item: SheetItem, weight: float, *, bears: bool) -> Vote:
        reading = self.readings.get(item.number)
        match = reading.answer.match if reading else None
        reason = match.reason if match else self.reason
        unscored = match is None or match.index is None
        if reading is not None and unscored and not (reading.reply.text or "").strip():
            reason = reason_without_text(reading.reply)
        if unscored and self.reason is not None:
            reason, match = self.reason, None
        return cast_vote(
            self.caller.judge_id,
            item.question,
            item.presentation,
            match,
            sample=self.sample,
            probabilities=reading.probabilities if reading else None,
            assessment=reading.answer.reasoning if reading else None,
            completion=reading.reply if reading else None,
            unscored_reason=reason,
            error=self.error if unscored else None,
            weight=weight,
            reasks=self.reasks.get(item.number, 0),
            usage=self.usage if bears else Usage(),
            prompts=self.sent(item.question) if item is self.items[0] else None,
        )


async def ask_sheet(
    flow: Flow,
    questions: Sequence[Question],
    orders: Sequence[tuple[int, ...]],
    sample: int,
    caller: Caller,
    *,
    weight: float = 1.0,
) -> list[Vote]:
    """Ask for one vote on each question of a sheet, in one reply."""
    coded = flow.coded and not all(has_plain_answers(question.criterion) for question in questions)
    shown = [question.present(order, coded=coded) for question, order in zip(questions, orders, strict=True)]
    conversation = SheetConversation(flow, sample, caller, items=sheet_items(questions, shown))
    await conversation.carry_out()
    by_question = {id(item.question): vote for item, vote in conversation.votes(weight)}
    return [by_question[id(question)] for question in questions]


def _readings(
    reply: Completion, items: Sequence[SheetItem], known: Sequence[int], nonce: str
) -> tuple[_SheetReading, ...]:
    """What a reply says about each item."""
    answers = read_sheet(
        reply.text,
        [item.presentation.answers for item in items],
        numbers=[item.number for item in items],
        known=known,
        finish_reason=reply.finish_reason,
        shown=texts_of(items[0].question),
        nonce=nonce,
    )
    kept = reply.model_copy(update={"logprobs": None}) if reply.logprobs is not None else reply
    return tuple(
        _SheetReading(
            answer,
            kept,
            own_probabilities(reply, item.presentation, answer.match, answer.span)
            if answer.match.index is not None
            else None,
        )
        for item, answer in zip(items, answers, strict=True)
    )


def sheet_items(questions: Sequence[Question], presentations: Sequence[Presentation]) -> tuple[SheetItem, ...]:
    """The questions of a sheet as they are shown: the items of a checklist in the order given, criteria in their own.

    The numbers are those of the places, so that they say nothing about the questions' own order.
    """
    places = range(len(questions))
    order = presentations[0].order if questions[0].mode == "check" else tuple(places)
    return tuple(
        SheetItem(number=place + 1, question=questions[own], presentation=presentations[own])
        for place, own in enumerate(order)
    )


def _shown(item: SheetItem) -> _ShownItem:
    criterion, shown = item.question.criterion, item.presentation
    text = criterion.description
    return _ShownItem(
        number=item.number,
        name=one_line(criterion.name),
        text=" ".join(text.split()) if item.question.mode == "check" else text,  # one line, so that it numbers no other
        answers=shown.answers,
        options=shown_options(shown),
        codes=shown.answers if shown.coded else (),
    )


def asked_together(questions: Sequence[Question], sheet: str) -> list[Question]:
    """The questions about one response as those of one sheet, each with what any of them is shown beside it.

    Raises:
        InvalidInputError: If they are about different responses, or show different things under one name.
    """
    context: dict[str, str] = {}
    for question in questions:
        if question.responses != questions[0].responses:
            raise InvalidInputError(
                f"the criteria {questions[0].criterion.name!r} and {question.criterion.name!r} judge different fields, "
                "which one call cannot hold: use calls='per_criterion'"
            )
        for name, text in question.context.items():
            if context.setdefault(name, text) != text:
                raise InvalidInputError(
                    f"the criterion {question.criterion.name!r} shows another field as {name!r} than a criterion "
                    "before it, which one call cannot: use calls='per_criterion', or give context_fields"
                )
    return [replace(question, context=context, sheet=sheet) for question in questions]

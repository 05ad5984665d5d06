"""The conversation about a sheet: questions about one response that one reply answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from evenhand.engines.base import SheetItem, Stage
from evenhand.errors import EngineError, InvalidInputError, WithheldError
from evenhand.judging.conversation import (
    UNREADABLE,
    Caller,
    Conversation,
    Flow,
    ShownOption,
    own_probabilities,
    reason_without_text,
    sheet_schema,
    texts_of,
    texts_outside,
)
from evenhand.parsing import SheetAnswer, read_sheet
from evenhand.prompts import fill_prompt, nonce_for
from evenhand.question import Question, has_plain_answers
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
class _Reading:
    """The reading of one item in a reply."""

    answer: SheetAnswer
    reply: Completion
    probabilities: tuple[float, ...] | None


@dataclass(slots=True, kw_only=True)
class _Sheet(Conversation):
    """The conversation about a sheet."""

    items: tuple[SheetItem, ...]
    nonce: str
    readings: dict[int, _Reading] = field(default_factory=dict)
    reasks: dict[int, int] = field(default_factory=dict)
    reason: UnscoredReason | None = None

    async def answer(self) -> None:
        """Ask for all answers, and up to ``max_reasks`` times again for those that are unscored."""
        text = self.first_message(self.items[0].question, "sheet", self._values(self.items))
        reply = await self._ask("sheet", text, self.items)
        for _ in range(self.flow.max_reasks):
            missing = tuple(item for item in self.items if not self.selects(item))
            if not missing or reply.finish_reason in FINAL_FINISHES:
                return
            self.messages.append({"role": "assistant", "content": reply.text or ""})
            for item in missing:
                self.reasks[item.number] = self.reasks.get(item.number, 0) + 1
            reply = await self._ask("sheet_reask", fill_prompt("sheet_reask", self._values(missing)), missing)

    async def _ask(self, stage: Stage, text: str, items: tuple[SheetItem, ...]) -> Completion:
        numbered = tuple((item.number, item.presentation.answers) for item in items)
        schema = sheet_schema(numbered, reasoning=self.flow.reasoning)
        reply = await self.say(stage, text, schema, items=items)
        unscored = tuple(_Reading(SheetAnswer(UNREADABLE), reply, None) for _ in items)
        known = [item.number for item in self.items]
        nonce = self.nonce if stage == "sheet_reask" else ""
        read = await self.read(reply, lambda: _readings(reply, items, known, nonce), unscored)
        self.readings |= {item.number: reading for item, reading in zip(items, read, strict=True)}
        return reply

    def _values(self, items: Sequence[SheetItem]) -> dict[str, object]:
        question = self.items[0].question
        return {
            "context": question.context,
            "guidelines": question.guidelines,
            "nonce": self.nonce,
            "response": question.responses[0],
            "items": tuple(_item_text(item) for item in items),
            "reasoning": self.flow.reasoning,
        }

    def selects(self, item: SheetItem) -> bool:
        """Return whether an option was selected for an item."""
        reading = self.readings.get(item.number)
        return reading is not None and reading.answer.match.index is not None

    def vote_on(self, item: SheetItem, weight: float, *, bears: bool) -> Vote:
        """Return the vote on an item.

        Args:
            item: The item of the sheet.
            weight: The judge's.
            bears: The vote bears what all calls consumed.
        """
        reading = self.readings.get(item.number)
        match = reading.answer.match if reading else None
        reason = match.reason if match else self.reason
        unscored = match is None or match.index is None
        if reading is not None and unscored and not (reading.reply.text or "").strip():
            reason = reason_without_text(reading.reply)
        if unscored and self.reason is not None:
            reason, match = self.reason, None
        return self.vote(
            item.question,
            item.presentation,
            match,
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
    """Ask for one vote on each question of a sheet, in one reply.

    The items of a checklist stand in the order given, criteria in their own. The numbers are those of the places, so
    that they say nothing about the questions' own order. The vote on the first question that was answered bears what
    all calls consumed.
    """
    coded = flow.coded and not all(has_plain_answers(question.criterion) for question in questions)
    shown = [question.present(order, coded=coded) for question, order in zip(questions, orders, strict=True)]
    places = shown[0].order if questions[0].mode == "check" else range(len(questions))
    items = tuple(SheetItem(number, questions[own], shown[own]) for number, own in enumerate(places, start=1))
    first = items[0].question
    outside = [text for item in items for text in texts_outside(item.question)]
    nonce = nonce_for(flow.seed, *first.responses, *first.context.values(), others=outside)
    sheet = _Sheet(flow, sample, caller, items=items, nonce=nonce)
    try:
        await sheet.answer()
    except (EngineError, WithheldError) as error:  # what has been read stands
        sheet.reason, sheet.error = sheet.reason_of(error)
    bearer = next((item for item in items if sheet.selects(item)), items[0])
    votes = {id(item.question): sheet.vote_on(item, weight, bears=item is bearer) for item in items}
    return [votes[id(question)] for question in questions]


def _readings(reply: Completion, items: Sequence[SheetItem], known: Sequence[int], nonce: str) -> tuple[_Reading, ...]:
    """Return what a reply says about each item."""
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
        _Reading(
            answer,
            kept,
            own_probabilities(reply, item.presentation, answer.match, answer.span)
            if answer.match.index is not None
            else None,
        )
        for item, answer in zip(items, answers, strict=True)
    )


def _item_text(item: SheetItem) -> _ShownItem:
    criterion, shown = item.question.criterion, item.presentation
    text = criterion.description
    return _ShownItem(
        number=item.number,
        name=" ".join(criterion.name.split()),
        text=" ".join(text.split()) if item.question.mode == "check" else text,  # one line, so that it numbers no other
        answers=shown.answers,
        options=tuple(ShownOption(option.label, option.description) for option in shown.options),
        codes=shown.answers if shown.coded else (),
    )


def asked_together(questions: Sequence[Question], sheet: str) -> list[Question]:
    """Return the questions about one response as those of one sheet, each with the context of all.

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

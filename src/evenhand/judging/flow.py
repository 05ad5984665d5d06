"""How one vote comes about: straight-line code from a question to a vote.

Two steps: the judge assesses, then, in the same conversation, selects an option. One step: a single structured reply
with the reasons before the verdict. Either way the reply is read by :func:`evenhand.parsing.match_closest_option`, a
reply that names no option may be asked for again, and what cannot be read is an unscored vote with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, get_args

from evenhand.engines.base import Request, Stage
from evenhand.errors import BudgetExhaustedError, EngineError, InvalidInputError, did_you_mean
from evenhand.parsing import match_closest_option
from evenhand.prompts import PromptName, nonce_for, render_prompt
from evenhand.question import Presentation, Question, response_label, response_letter
from evenhand.votes import Completion, Match, Message, UnscoredReason, Usage, Vote

FlowName = Literal["two_step", "one_step"]


class Caller(Protocol):
    """Where a flow sends its requests: a judge's calls, or a count of what they would be."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote."""

    async def complete(self, request: Request) -> Completion:
        """The reply to one request."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How a judge is asked.

    Attributes:
        name: ``two_step`` or ``one_step``.
        max_reasks: How many times a judge whose reply names no option is shown the options again.
        generate_summaries: Ask for a summary of each assessment (one more call a vote).
        include_prompts: Keep the messages sent in the vote.
        seed: Of the nonce in the tags around the data.
    """

    name: FlowName = "two_step"
    max_reasks: int = 1
    generate_summaries: bool = False
    include_prompts: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in get_args(FlowName):
            raise InvalidInputError(f"flow is {self.name!r}. {did_you_mean(self.name, get_args(FlowName))}")
        if self.max_reasks < 0:
            raise InvalidInputError(f"max_reasks is {self.max_reasks!r}; it must be 0 or more")

    @property
    def expected_calls(self) -> int:
        """Calls that one vote takes when every reply can be read."""
        return (2 if self.name == "two_step" else 1) + self.generate_summaries

    async def ask(
        self, question: Question, order: tuple[int, ...], sample: int, caller: Caller, *, weight: float = 1.0
    ) -> Vote:
        """One vote. An engine's failure is an unscored vote; it is never an exception."""
        conversation = _Conversation(self, question, question.present(order), sample, caller)
        try:
            await (conversation.two_step() if self.name == "two_step" else conversation.one_step())
        except EngineError as error:
            conversation.give_up("engine_error", f"{error.cause}: {conversation.told(error)}")
        except BudgetExhaustedError as error:
            conversation.give_up("budget", str(error))
        if self.generate_summaries and conversation.assessment:
            await conversation.summarize()
        return conversation.vote(weight)


@dataclass(slots=True)
class _Conversation:
    """What has been said so far on the way to one vote."""

    flow: Flow
    question: Question
    shown: Presentation
    sample: int
    caller: Caller
    messages: list[Message] = field(default_factory=list)
    prompts: dict[str, list[Message]] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    assessment: str | None = None
    summary: str | None = None
    completion: Completion | None = None
    match: Match | None = None
    reason: UnscoredReason | None = None
    error: str | None = None
    reasks: int = 0

    async def two_step(self) -> None:
        """Assess, then select in the same conversation."""
        prompt: PromptName = "direct_assessment" if self.question.mode == "assess" else "comparison_assessment"
        reply = await self._say(
            "assessment", render_prompt(prompt, **self._subject(options=prompt == "direct_assessment"))
        )
        if not (reply.text or "").strip():
            self.reason = _reason_without_text(reply)
            self.completion = reply
            return
        self.assessment = reply.text
        self._hear(reply)
        selection = render_prompt("selection", criterion_name=self.question.criterion.name, options=self.shown.options)
        await self._select("selection", selection, selection_schema(self.shown.labels))

    async def one_step(self) -> None:
        """Assess and select in one reply."""
        prompt: PromptName = "direct_one_step" if self.question.mode == "assess" else "comparison_one_step"
        text = render_prompt(prompt, **self._subject(options=True))
        await self._select("one_step", text, one_step_schema(self.shown.labels))

    async def _select(self, stage: Stage, text: str, schema: Mapping[str, Any]) -> None:
        """Ask for the option; ask again, with the options listed, as long as none can be read and it is allowed."""
        reply = await self._say(stage, text, schema)
        self._read(reply)
        while self.match is None or self.match.index is None:
            if self.reasks == self.flow.max_reasks or self.reason == "content_filter":
                return
            self._hear(reply)
            self.reasks += 1
            again = render_prompt("reask", options=self.shown.options)
            reply = await self._say("reask", again, selection_schema(self.shown.labels))
            self._read(reply)

    async def summarize(self) -> None:
        """Ask for a summary of the assessment. The vote stands whether or not there is one."""
        nonce = nonce_for(self.flow.seed, str(self.assessment))
        self.messages = []
        try:
            reply = await self._say("summary", render_prompt("summary", assessment=self.assessment, nonce=nonce))
        except (EngineError, BudgetExhaustedError) as error:
            told = self.told(error) if isinstance(error, EngineError) else str(error)
            self.error = self.error or f"summary: {told}"
        else:
            self.summary = reply.text

    async def _say(self, stage: Stage, text: str, schema: Mapping[str, Any] | None = None) -> Completion:
        self.messages.append({"role": "user", "content": text})
        sent = tuple(self.messages)
        if self.flow.include_prompts:
            self.prompts[stage] = list(sent)
        reply = await self.caller.complete(
            Request(
                messages=sent,
                options=self.shown.labels if schema is not None else None,
                response_schema=schema,
                sample=self.sample,
                stage=stage,
                question=self.question,
                presentation=self.shown,
            )
        )
        self.usage += reply.usage
        return reply

    def _hear(self, reply: Completion) -> None:
        self.messages.append({"role": "assistant", "content": reply.text or ""})

    def _read(self, reply: Completion) -> None:
        self.completion = reply
        if self.flow.name == "one_step" and self.assessment is None:
            self.assessment = _assessment_in(reply.text)
        self.match = _match(reply, self.shown.labels, self.question)
        self.reason = self.match.reason

    def give_up(self, reason: UnscoredReason, error: str) -> None:
        """End without a selection."""
        self.match, self.reason, self.error = None, reason, error

    def told(self, error: EngineError) -> str:
        """The error's message, with the judge's name where it lacks it."""
        message, judge_id = str(error), self.caller.judge_id
        return message if repr(judge_id) in message else f"judge {judge_id!r}: {message}"

    def _subject(self, *, options: bool) -> dict[str, object]:
        criterion, responses, context = self.question.criterion, self.shown.responses, self.question.context
        nonce = nonce_for(self.flow.seed, *self.question.responses, *context.values())
        values: dict[str, object] = {
            "criterion_name": criterion.name,
            "criterion_description": criterion.description,
            "context": context,
            "responses": responses,
            "nonce": nonce,
        }
        if options:
            values["options"] = self.shown.options
        if self.question.mode == "compare":
            values["lettered_responses"] = [(response_letter(place), text) for place, text in enumerate(responses)]
        return values

    def vote(self, weight: float) -> Vote:
        """What the conversation came to."""
        shown_index = self.match.index if self.match else None
        index = None if shown_index is None else self.shown.to_own[shown_index]
        option = None if index is None else self.question.criterion.options[index]
        return Vote(
            judge_id=self.caller.judge_id,
            order=self.shown.order,
            sample=self.sample,
            selected_index=index,
            selected_label=option.label if option else None,
            value=option.value if option else None,
            na=option.na if option else False,
            assessment=self.assessment,
            summary=self.summary,
            completion=self.completion,
            match=self.match,
            unscored_reason=self.reason,
            error=self.error,
            weight=weight,
            reasks=self.reasks,
            usage=self.usage,
            prompts=self.prompts or None,
        )


def _match(reply: Completion, labels: tuple[str, ...], question: Question) -> Match:
    """Which shown option a reply names. In a comparison a bare letter names the response at that place."""
    match = match_closest_option(reply.text, labels, finish_reason=reply.finish_reason)
    if match.index is not None or match.reason != "no_match" or question.mode != "compare":
        return match
    letters = {response_label(place): response_letter(place) for place in range(len(question.responses))}
    places = [index for index, label in enumerate(labels) if label in letters]
    if len(places) < 2:
        return match
    bare = match_closest_option(
        reply.text, [letters[labels[index]] for index in places], finish_reason=reply.finish_reason
    )
    if bare.index is None or bare.kind not in {"exact", "normalized", "verdict"}:
        return match
    return Match(index=places[bare.index], kind=bare.kind)


def _reason_without_text(reply: Completion) -> UnscoredReason:
    """Why a reply without text has none, as far as the engine says."""
    reasons: dict[str | None, UnscoredReason] = {"content_filter": "content_filter", "length": "truncated"}
    return reasons.get(reply.finish_reason, "empty")


def _assessment_in(text: str | None) -> str | None:
    """The reasons in a one-step reply: the field of the JSON object, or the whole text when it is not one."""
    if text is None or not text.strip():
        return None
    start, end = text.find("{"), text.rfind("}")
    try:
        fields = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):  # no JSON, or thousands of digits or brackets
        return text
    found = fields.get("assessment") if isinstance(fields, dict) else None
    return found if isinstance(found, str) else text


@lru_cache(maxsize=512)
def selection_schema(labels: tuple[str, ...]) -> Mapping[str, Any]:
    """The JSON schema of a reply that names one of the labels."""
    return _schema({"selected_option": {"type": "string", "enum": list(labels)}})


@lru_cache(maxsize=512)
def one_step_schema(labels: tuple[str, ...]) -> Mapping[str, Any]:
    """The JSON schema of a one-step reply: the reasons before the verdict."""
    return _schema({"assessment": {"type": "string"}, "selected_option": {"type": "string", "enum": list(labels)}})


def _schema(properties: dict[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

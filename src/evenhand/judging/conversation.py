"""From a question to a vote: the flow that says how a judge is asked, and the conversation that asks it.

Two steps: the judge assesses, then, in the same conversation, selects an option. One step: a single structured reply
with the reasons before the verdict. Verdict only: the option, and nothing else. In each the reply is read by
:mod:`evenhand.parsing`, which never guesses, a reply that names no option may be asked for again, and what cannot be
read is an unscored vote with a reason. A sheet, whose questions are asked in one call, is :mod:`.sheet`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, Self, TypeVar

from evenhand.engines.base import Request, Stage
from evenhand.errors import EngineError, InvalidInputError, WithheldError
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.options import FlowName, FlowOptions, RunOptions, option
from evenhand.parsing import read_reply
from evenhand.prompts import (
    FIRST_PROMPTS,
    Behind,
    FirstStage,
    Subject,
    check_first_prompt,
    describes_options,
    fill_prompt,
    is_prompt_name,
    length_shared,
    nonce_for,
    prompt_sources,
    render_own_prompt,
    whole_source,
)
from evenhand.question import Mode, Presentation, Question, has_plain_answers
from evenhand.votes import (
    FINAL_FINISHES,
    NOTHING_USED,
    REASON_BY_FINISH,
    Completion,
    Match,
    Message,
    Prompts,
    UnscoredReason,
    Usage,
    Vote,
)

_LOGGER = logging.getLogger(__name__)
_Read = TypeVar("_Read")

SUBJECTS: Final[Mapping[Mode, Subject]] = {
    "assess": "response",
    "check": "sheet",
    "compare": "pair",
    "choose": "candidates",
}
FIRST_STAGES: Final[Mapping[FlowName, FirstStage]] = {
    "two_step": "assessment",
    "one_step": "one_step",
    "verdict_only": "verdict",
}
TOP_LOGPROBS: Final = 20
"""The number of the likeliest tokens to ask for with log-probabilities; servers give no more."""
READ_AT_ONCE: Final = 2**14
"""Characters; reading more takes so long that the calls under way would notice."""
UNREADABLE: Final = Match(index=None, kind="none", reason="no_match")
"""The match of a reply for which the reader fails."""
_COUNTED: Final[Mapping[str, Any]] = {"attempts": 0, "lost": 0, "at_risk": 0.0}
"""The fields of a reply about its requests, which are in the usage of its vote."""
_VERDICT_FIRST: Final = "best_of_select"
"""The prompt that asks for the verdict before the reasons."""
_REASONS_FIELDS: Final = (
    *("assessment", "reasoning", "rationale", "explanation"),
    *("reasons", "reason", "justification"),
)
"""Judges' names for the field that the prompt calls assessment."""


class Flow(FlowOptions):
    """How a judge is asked. A sheet always gets one reply."""

    reasoning: bool = option(True, "Ask for reasons on a sheet.")
    logprobs: int = option(0, "How many of the likeliest tokens to ask for at the verdict; 0 for none.", ge=0)
    coded: bool = option(
        False, "Let the judge name options by a digit or letter where their labels may need several tokens."
    )

    @classmethod
    def of(cls, options: RunOptions, **changes: Any) -> Self:  # noqa: ANN401 - the fields of a flow
        """Return how the options of a run have judges asked, with what a mode changes."""
        expected = options.scoring == "expected"
        asked = {name: getattr(options, name) for name in FlowOptions.model_fields}
        probabilities = {"logprobs": TOP_LOGPROBS if expected else 0, "coded": expected}
        return cls.model_construct(**{**asked, **probabilities, **changes})

    def check_prompt(self, mode: Mode, *, sheet: bool = False) -> None:
        """Check the prompt that is named or given, before anything is asked.

        Raises:
            InvalidPromptError: If it is for something else, or cannot be filled.
        """
        if self.prompt is not None and sheet:
            check_first_prompt(self.prompt, "sheet", "sheet")
        elif self.prompt is not None:
            check_first_prompt(self.prompt, SUBJECTS[mode], FIRST_STAGES[self.flow])

    def first_prompt(self, question: Question) -> str:
        """Return the name of our prompt that addresses a judge first, or the text of the user's own."""
        if self.prompt is not None:
            return self.prompt
        if question.sheet:
            return "checklist_sheet" if question.mode == "check" else "rubric_sheet"
        return FIRST_PROMPTS[SUBJECTS[question.mode], FIRST_STAGES[self.flow]][0]

    def templates(self, question: Question) -> tuple[str, ...]:
        """Return the texts of all templates with which a judge is asked such a question."""
        first, again = self.first_prompt(question), "sheet_reask" if question.sheet else "reask"
        own = not is_prompt_name(first)
        stages = {
            "_own" if own else first: True,
            "selection": self.flow == "two_step" and not question.sheet,
            again: self.max_reasks > 0,
            "summary": self.generate_summaries,
        }
        ours = [whole_source(f"{name}.md") for name, used in stages.items() if used]
        return (first, *ours) if own else tuple(ours)

    def expected_calls(self, *, sheet: bool = False) -> int:
        """Return the calls that one vote, or one sheet of them, takes when every reply can be read."""
        if sheet:
            return 1
        return (2 if self.flow == "two_step" else 1) + (self.generate_summaries and self.flow != "verdict_only")


class Caller(Protocol):
    """The receiver of a conversation's requests: a judge's calls, or a count of the calls to make."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote."""

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request."""


@dataclass(slots=True)
class Conversation:
    """The messages of one vote, or of a sheet, and what they consumed."""

    flow: Flow
    sample: int
    caller: Caller
    messages: list[Message] = field(default_factory=list)
    prompts: dict[str, list[Message]] = field(default_factory=dict)
    usage: Usage = NOTHING_USED
    error: str | None = None
    shared: int = 0

    async def say(self, stage: Stage, text: str, schema: Mapping[str, Any] | None, **asked: Any) -> Completion:  # noqa: ANN401 - fields of the request
        """Send the conversation with one more message, and count what the reply consumed."""
        self.messages.append({"role": "user", "content": text})
        sent = tuple(self.messages)
        if self.flow.include_prompts_in_result:
            self.prompts[stage] = list(sent)
        request = Request(
            messages=sent,
            response_schema=schema,
            logprobs=self.flow.logprobs if schema is not None else 0,
            sample=self.sample,
            stage=stage,
            reasoning=self.flow.reasoning,
            shared=self.shared,
            **asked,
        )
        try:
            reply = await self.caller.complete(request)
        except (EngineError, WithheldError) as error:
            self.usage += Usage(requests=error.attempts, lost=error.lost, at_risk=error.at_risk)
            raise
        self.usage += reply.usage
        return reply.model_copy(update=_COUNTED) if reply.attempts else reply

    def first_message(
        self, question: Question, subject: Subject, values: Mapping[str, object], behind: Behind = ()
    ) -> str:
        """Return the first message, and note how much of it other rows may share."""
        prompt, stage = self.flow.first_prompt(question), FIRST_STAGES[self.flow.flow]
        text = (
            fill_prompt(prompt, values, behind)
            if is_prompt_name(prompt)
            else render_own_prompt(prompt, subject, "sheet" if subject == "sheet" else stage, values)
        )
        self.shared = length_shared(text, str(values["nonce"]))
        return text

    async def read(self, reply: Completion, reader: Callable[[], _Read], unscored: _Read) -> _Read:
        """Return what is read from a reply, or ``unscored`` if the reader fails. A long one is read outside the loop.

        A reader that fails has a fault that is ours to mend, so it is logged with the reply and noted in the vote. But
        the reply is in the journal: an exception would end this run and every later one. Labels that cannot be
        distinguished are the question's fault, and end it.
        """
        try:
            return reader() if len(reply.text or "") <= READ_AT_ONCE else await asyncio.to_thread(reader)
        except InvalidInputError:
            raise
        except Exception as error:
            _LOGGER.exception("A reply of %s could not be read: %r", self.caller.judge_id, reply.text)
            self.error = f"the reader failed: {error!r}"
            return unscored

    def reason_of(self, error: EngineError | WithheldError) -> tuple[UnscoredReason, str]:
        """Return why a failed call leaves a vote unscored, with the message, which names the judge."""
        message, judge_id = str(error), self.caller.judge_id
        if isinstance(error, WithheldError):
            return error.reason, message
        message = message if repr(judge_id) in message else f"judge {judge_id!r}: {message}"
        return "engine_error", f"{error.cause}: {message}"

    def vote(self, question: Question, shown: Presentation, match: Match | None, **more: Any) -> Vote:  # noqa: ANN401 - the vote's other fields
        """Return the vote for the option that a reply names, in the criterion's own order."""
        index = None if match is None or match.index is None else shown.to_own[match.index]
        selected = None if index is None else question.criterion.options[index]
        return Vote(
            judge_id=self.caller.judge_id,
            order=shown.order,
            sample=self.sample,
            selected_index=index,
            selected_label=selected.label if selected else None,
            value=selected.value if selected else None,
            na=selected.na if selected else False,
            match=match,
            **more,
        )

    def sent(self, question: Question, assessment: str | None = None) -> Prompts | None:
        """Return the prompts sent about a question, where they are kept; its vote may hold an assessment."""
        if not self.prompts:
            return None
        like = (*texts_of(question), question.guidelines, question.criterion.description, assessment or "")
        return Prompts(self.prompts, like=like, known=prompt_sources())


@dataclass(slots=True, kw_only=True)
class _Choice(Conversation):
    """The conversation about one question."""

    question: Question
    shown: Presentation
    values: Mapping[str, object]
    assessment: str | None = None
    summary: str | None = None
    completion: Completion | None = None
    match: Match | None = None
    probabilities: tuple[float, ...] | None = None
    reason: UnscoredReason | None = None
    reasks: int = 0
    reasoned: str | None = None

    async def choose(self, behind: Behind) -> None:
        """Ask, by the flow; while a reply has none of the forms of a verdict, ask for one with the nonce."""
        stage: Stage = FIRST_STAGES[self.flow.flow]
        text = self.first_message(self.question, SUBJECTS[self.question.mode], self.values, behind)
        schema = selection_schema(self.shown.answers)
        if stage == "one_step":
            schema = one_step_schema(self.shown.answers, verdict_first=self.flow.prompt == _VERDICT_FIRST)
        elif stage == "assessment":  # then select in the same conversation
            reply = await self.say(stage, text, None, question=self.question, presentation=self.shown)
            if not (reply.text or "").strip():
                self.reason, self.completion = reason_without_text(reply), reply
                return
            self.assessment, self.reasoned = reply.text, reply.reasoning
            self.messages.append({"role": "assistant", "content": reply.text or ""})
            described = describes_options(self.flow.first_prompt(self.question))
            stage, text = "selection", fill_prompt("selection", {**self.values, "described": described})
        await self._select(stage, text, schema)
        while (self.match is None or self.match.index is None) and self.reason not in FINAL_FINISHES:
            if self.reasks == self.flow.max_reasks or self.completion is None:
                return
            self.messages.append({"role": "assistant", "content": self.completion.text or ""})
            self.reasks += 1
            await self._select("reask", fill_prompt("reask", self.values), selection_schema(self.shown.answers))

    async def _select(self, stage: Stage, text: str, schema: Mapping[str, Any]) -> None:
        """Ask for the option, and read the reply."""
        asked = {"question": self.question, "presentation": self.shown, "options": self.shown.answers}
        reply = await self.say(stage, text, schema, **asked)
        reasoning = "\n\n".join(trace for trace in (self.reasoned, reply.reasoning) if trace) or None
        same = reply.logprobs is None and reply.reasoning == reasoning
        self.completion = reply if same else reply.model_copy(update={"logprobs": None, "reasoning": reasoning})
        if self.flow.flow == "one_step" and self.assessment is None:
            self.assessment = _assessment_in(reply.text)
        nonce = str(self.values["nonce"]) if self.reasks else ""
        unscored: tuple[Match, tuple[float, ...] | None] = (UNREADABLE, None)
        how: dict[str, Any] = {"finish_reason": reply.finish_reason, "shown": texts_of(self.question), "nonce": nonce}
        match, self.probabilities = await self.read(
            reply,
            lambda: (
                (found := read_reply(reply.text, self.shown.answers, **how)).match,
                None if reply.logprobs is None else own_probabilities(reply, self.shown, found.match, found.span),
            ),
            unscored,
        )
        self.match, self.reason = match, match.reason

    async def summarize(self) -> None:
        """Ask for a summary of the assessment. The vote stands without one."""
        nonce = nonce_for(self.flow.seed, str(self.assessment))
        self.messages = []
        text = fill_prompt("summary", {"assessment": self.assessment, "nonce": nonce})
        self.shared = length_shared(text, nonce)
        try:
            reply = await self.say("summary", text, None, question=self.question, presentation=self.shown)
        except (EngineError, WithheldError) as error:
            message = self.reason_of(error)[1]
            if isinstance(error, EngineError):
                message = message.removeprefix(f"{error.cause}: ")
            self.error = self.error or f"summary: {message}"
        else:
            self.summary = reply.text


async def ask(
    flow: Flow,
    question: Question,
    order: tuple[int, ...],
    sample: int,
    caller: Caller,
    *,
    weight: float = 1.0,
    behind: Behind = (),
) -> Vote:
    """Ask for one vote; ``behind`` is what its prompt says behind the response."""
    shown = question.present(order, coded=flow.coded and not has_plain_answers(question.criterion))
    choice = _Choice(flow, sample, caller, question=question, shown=shown, values=_values(flow.seed, question, shown))
    try:
        await choice.choose(behind)
    except (EngineError, WithheldError) as error:
        choice.match, choice.probabilities = None, None
        choice.reason, choice.error = choice.reason_of(error)
    if flow.generate_summaries and choice.assessment:
        await choice.summarize()
    return choice.vote(
        question,
        shown,
        choice.match,
        probabilities=choice.probabilities,
        assessment=choice.assessment,
        summary=choice.summary,
        completion=choice.completion,
        unscored_reason=choice.reason,
        error=choice.error,
        weight=weight,
        reasks=choice.reasks,
        usage=choice.usage,
        prompts=choice.sent(question, choice.assessment),
    )


class ShownOption(NamedTuple):
    """An option as a prompt lists it."""

    label: str
    description: str


class ShownExample(NamedTuple):
    """A judged case as a prompt shows it."""

    context: tuple[tuple[str, str], ...]
    response: str
    label: str


def _values(seed: int, question: Question, shown: Presentation) -> dict[str, object]:
    """Return what prompts about one question are filled with."""
    responses, examples, criterion = shown.responses, question.examples, question.criterion
    own, outside = (*question.responses, *question.context.values()), texts_outside(question)
    cases = tuple(text for example in examples for text in (example.response, *example.context.values()))
    return {
        "context": question.context,
        "guidelines": question.guidelines,
        "nonce": nonce_for(seed, *own, others=(*cases, *outside)),
        "criterion_name": " ".join(criterion.name.split()),
        "criterion_description": criterion.description,
        "compared": len(responses),
        "response": responses[0],
        "lettered_responses": [
            (question.place_name(place), text) for place, text in enumerate(responses) if question.compares
        ],
        "options": tuple([ShownOption(option.label, option.description) for option in shown.options]),
        "codes": shown.answers if shown.coded else (),
        "examples": tuple(
            [ShownExample(tuple(example.context.items()), example.response, example.label) for example in examples]
        ),
        "case_nonce": nonce_for(seed, *cases, others=(*own, *outside)) if cases else "",
    }


def texts_of(question: Question) -> tuple[str, ...]:
    """Return what is judged, what is shown next to it, and the same of its examples."""
    examples = (text for example in question.examples for text in (example.response, *example.context.values()))
    return (*question.responses, *question.context.values(), *examples)


def texts_outside(question: Question) -> tuple[str, ...]:
    """Return what prompts say that may come with a row too, and stands between no tags."""
    criterion = question.criterion
    options = [text for option in criterion.options for text in (option.label, option.description)]
    names = [name for example in question.examples for name in example.context]
    return (criterion.name, criterion.description, question.guidelines, *question.context, *options, *names)


def own_probabilities(
    reply: Completion, shown: Presentation, match: Match, span: tuple[int, int] | None = None
) -> tuple[float, ...] | None:
    """Return the mass of each option at the verdict's token, in the criterion's own order; None without it."""
    if reply.logprobs is None or reply.text is None:
        return None
    masses = option_probabilities(reply.logprobs, shown.answers, match.index, text=reply.text, span=span)
    if masses is None:
        return None
    own = [0.0] * len(masses)
    for place, mass in zip(shown.to_own, masses, strict=True):
        own[place] = mass
    return tuple(own)


def reason_without_text(reply: Completion) -> UnscoredReason:
    """Return why a reply without text has none, as far as the engine says."""
    return REASON_BY_FINISH.get(reply.finish_reason, "empty")


def _assessment_in(text: str | None) -> str | None:
    """Return the reasons in a one-step reply: the field of the JSON object, or the whole text when it is not one."""
    if text is None or not text.strip():
        return None
    start, end = text.find("{"), text.rfind("}")
    try:
        fields = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):  # no JSON, or thousands of digits or brackets
        return text
    found = [fields[name] for name in _REASONS_FIELDS if name in fields] if isinstance(fields, dict) else []
    return next((reasons for reasons in found if isinstance(reasons, str)), text)


@lru_cache(maxsize=512)
def selection_schema(answers: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the schema of a reply that names one of the answers."""
    return _object({"selected_option": {"type": "string", "enum": list(answers)}})


@lru_cache(maxsize=512)
def one_step_schema(answers: tuple[str, ...], *, verdict_first: bool = False) -> Mapping[str, Any]:
    """Return the schema of a reply with reasons and verdict, in the order that the prompt asks for."""
    fields = {"assessment": {"type": "string"}, "selected_option": {"type": "string", "enum": list(answers)}}
    return _object(dict(reversed(fields.items())) if verdict_first else fields)


@lru_cache(maxsize=512)
def sheet_schema(numbered: tuple[tuple[int, tuple[str, ...]], ...], *, reasoning: bool) -> Mapping[str, Any]:
    """Return the schema of a reply with one entry per question, each with its number and one of its own answers."""
    reasons: dict[str, Any] = {"reasoning": {"type": "string"}} if reasoning else {}
    by_answers: dict[tuple[str, ...], list[int]] = {}
    for number, answers in numbered:
        by_answers.setdefault(answers, []).append(number)
    kinds = [
        _object(
            {
                "index": {"type": "integer", "enum": numbers},
                **reasons,
                "answer": {"type": "string", "enum": list(answers)},
            }
        )
        for answers, numbers in by_answers.items()
    ]
    return _object({"answers": {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}})


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}

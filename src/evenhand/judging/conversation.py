"""How votes come about: straight-line code from a question to a vote; a sheet of questions is :mod:`.sheet`.

Two steps: the judge assesses, then, in the same conversation, selects an option. One step: a single structured reply
with the reasons before the verdict. Verdict only: the option, and nothing else. Either way the reply is read by
:mod:`evenhand.parsing`, which never guesses, a reply that names no option may be asked for again, and what cannot be
read is an unscored vote with a reason. The schemas of the replies that a judge is asked for stand at the end.
"""

from __future__ import annotations

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

from evenhand.engines.base import Request, SheetItem, Stage
from evenhand.errors import EngineError, InvalidInputError, WithheldError
from evenhand.judging.flow import FIRST_STAGES, SUBJECTS, Flow
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.parsing import read_reply
from evenhand.prompts import (
    Behind,
    Subject,
    describes_options,
    fill_prompt,
    length_shared,
    nonce_for,
    prompt_sources,
    render_own_prompt,
)
from evenhand.question import Presentation, Question, has_plain_answers
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

COUNTED: Mapping[str, Any] = {"attempts": 0, "lost": 0, "at_risk": 0.0}
"""What a reply tells of its requests, which stands in the usage of its vote."""
VERDICT_FIRST = frozenset({"best_of_select"})
"""The prompts that ask for the verdict before the reasons."""


class Caller(Protocol):
    """Where a flow sends its requests: a judge's calls, or a count of what they would be."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote."""

    async def complete(self, request: Request) -> Completion:
        """The reply to one request."""


@dataclass(slots=True)
class Conversation(ABC):
    """What has been said so far."""

    flow: Flow
    sample: int
    caller: Caller
    behind: Behind = ()
    messages: list[Message] = field(default_factory=list)
    prompts: dict[str, list[Message]] = field(default_factory=dict)
    usage: Usage = NOTHING_USED
    error: str | None = None
    shared: int = 0

    @abstractmethod
    async def run(self) -> None:
        """Ask, and read the replies."""

    @abstractmethod
    def give_up(self, reason: UnscoredReason, error: str) -> None:
        """End without the selections that are still missing."""

    async def carry_out(self) -> None:
        """Run; an engine's failure leaves what is not selected unscored."""
        try:
            await self.run()
        except EngineError as error:
            self.give_up("engine_error", f"{error.cause}: {self.told(error)}")
        except WithheldError as error:
            self.give_up(error.reason, str(error))

    async def say(
        self,
        stage: Stage,
        text: str,
        schema: Mapping[str, Any] | None = None,
        *,
        question: Question | None = None,
        presentation: Presentation | None = None,
        items: tuple[SheetItem, ...] = (),
    ) -> Completion:
        """Send the conversation with one more message, and count what the reply consumed."""
        self.messages.append({"role": "user", "content": text})
        sent = tuple(self.messages)
        if self.flow.include_prompts_in_result:
            self.prompts[stage] = list(sent)
        request = Request(
            messages=sent,
            options=presentation.answers if presentation is not None and schema is not None else None,
            response_schema=schema,
            logprobs=self.flow.logprobs if schema is not None else 0,
            sample=self.sample,
            stage=stage,
            question=question,
            presentation=presentation,
            items=items,
            reasoning=self.flow.reasoning,
            shared=self.shared,
        )
        try:
            reply = await self.caller.complete(request)
        except (EngineError, WithheldError) as error:
            self.usage += Usage(requests=error.attempts, lost=error.lost, at_risk=error.at_risk)
            raise
        self.usage += reply.usage
        return reply.model_copy(update=COUNTED) if reply.attempts else reply

    def sent(self, question: Question, assessment: str | None = None) -> Prompts | None:
        """The prompts sent about a question, where they are kept, of which its vote may hold an assessment."""
        if not self.prompts:
            return None
        like = (*texts_of(question), question.guidelines, question.criterion.description, assessment or "")
        return Prompts(self.prompts, like=like, known=prompt_sources())

    def first_prompt(
        self, question: Question, subject: Subject, values: Mapping[str, object], behind: Behind = ()
    ) -> str:
        """The first message; how much of it other rows may share is noted."""
        own = self.flow.own_prompt
        stage = "sheet" if subject == "sheet" else FIRST_STAGES[self.flow.flow]
        text = (
            fill_prompt(self.flow.first_prompt(question), values, behind)
            if own is None
            else render_own_prompt(own, subject, stage, values)
        )
        self.shared = length_shared(text, str(values["nonce"]))
        return text

    def hear(self, reply: Completion) -> None:
        """Keep a reply in the conversation."""
        self.messages.append({"role": "assistant", "content": reply.text or ""})

    async def digest(self, reply: Completion, read: Callable[[], _Read], unscored: _Read) -> _Read:
        """Return what is read from a reply, or ``unscored`` if the reader fails. A long one is read outside the loop.

        A reader that fails has a fault that is ours to mend, so it is logged with the reply and told in the vote. But
        the reply is in the journal: an exception would end this run and every later one. Labels that cannot be told
        apart are the question's fault, and end it.
        """
        try:
            return read() if len(reply.text or "") <= READ_AT_ONCE else await asyncio.to_thread(read)
        except InvalidInputError:
            raise
        except Exception as error:
            _LOGGER.exception("A reply of %s could not be digested: %r", self.caller.judge_id, reply.text)
            self.error = f"the reader failed: {error!r}"
            return unscored

    def told(self, error: EngineError) -> str:
        """The error's message, with the judge's name where it lacks it."""
        message, judge_id = str(error), self.caller.judge_id
        return message if repr(judge_id) in message else f"judge {judge_id!r}: {message}"


@dataclass(slots=True, kw_only=True)
class QuestionConversation(Conversation):
    """What has been said so far on the way to one vote."""

    question: Question
    shown: Presentation
    assessment: str | None = None
    summary: str | None = None
    completion: Completion | None = None
    match: Match | None = None
    probabilities: tuple[float, ...] | None = None
    reason: UnscoredReason | None = None
    reasks: int = 0
    reasoned: str | None = None
    values: Mapping[str, object] = field(init=False)

    def __post_init__(self) -> None:
        self.values = self._values()

    async def run(self) -> None:
        """Ask, by the flow."""
        stage: Stage = FIRST_STAGES[self.flow.flow]
        text, schema = self.first_prompt(self.question, SUBJECTS[self.question.mode], self.values, self.behind), None
        if stage == "one_step":
            verdict_first = self.flow.prompt in VERDICT_FIRST
            schema = one_step_schema(self.shown.answers, verdict_first=verdict_first)
        elif stage == "assessment":  # then select in the same conversation
            reply = await self._say(stage, text)
            if not (reply.text or "").strip():
                self.reason, self.completion = reason_without_text(reply), reply
                return
            self.assessment, self.reasoned = reply.text, reply.reasoning
            self.hear(reply)
            first = self.flow.own_prompt or self.flow.first_prompt(self.question)
            text = fill_prompt("selection", {**self.values, "described": describes_options(first)})
            stage = "selection"
        await self._select(stage, text, schema or selection_schema(self.shown.answers))

    async def _select(self, stage: Stage, text: str, schema: Mapping[str, Any]) -> None:
        """Ask for the option; as long as the reply is in none of the forms of a verdict, ask for one with the nonce."""
        reply = await self._say(stage, text, schema)
        await self._read(reply)
        while (self.match is None or self.match.index is None) and self.reason not in FINAL_FINISHES:
            if self.reasks == self.flow.max_reasks:
                return
            self.hear(reply)
            self.reasks += 1
            reply = await self._say("reask", fill_prompt("reask", self.values), selection_schema(self.shown.answers))
            await self._read(reply)

    async def summarize(self) -> None:
        """Ask for a summary of the assessment. The vote stands whether or not there is one."""
        nonce = nonce_for(self.flow.seed, str(self.assessment))
        self.messages = []
        text = fill_prompt("summary", {"assessment": self.assessment, "nonce": nonce})
        self.shared = length_shared(text, nonce)
        try:
            reply = await self._say("summary", text)
        except (EngineError, WithheldError) as error:
            told = self.told(error) if isinstance(error, EngineError) else str(error)
            self.error = self.error or f"summary: {told}"
        else:
            self.summary = reply.text

    async def _say(self, stage: Stage, text: str, schema: Mapping[str, Any] | None = None) -> Completion:
        return await self.say(stage, text, schema, question=self.question, presentation=self.shown)

    async def _read(self, reply: Completion) -> None:
        reasoning = "\n\n".join(trace for trace in (self.reasoned, reply.reasoning) if trace) or None
        same = reply.logprobs is None and reply.reasoning == reasoning
        self.completion = reply if same else reply.model_copy(update={"logprobs": None, "reasoning": reasoning})
        if self.flow.flow == "one_step" and self.assessment is None:
            self.assessment = _assessment_in(reply.text)
        unscored: tuple[Match, tuple[float, ...] | None] = (UNDIGESTED, None)
        nonce = str(self.values["nonce"]) if self.reasks else ""
        read = await self.digest(reply, lambda: _read_verdict(reply, self.shown, self.question, nonce), unscored)
        self.match, self.probabilities = read
        self.reason = self.match.reason

    def give_up(self, reason: UnscoredReason, error: str) -> None:
        """End without a selection."""
        self.match, self.reason, self.error, self.probabilities = None, reason, error, None

    def _values(self) -> dict[str, object]:
        """What prompts about one question are filled with."""
        responses, examples = self.shown.responses, self.question.examples
        told = tuple(text for example in examples for text in (example.response, *example.context.values()))
        own, beside = row_texts(self.question), tuple(said_beside(self.question))
        return {
            **shared_values(self.flow.seed, self.question, (*told, *beside)),
            "criterion_name": one_line(self.question.criterion.name),
            "criterion_description": self.question.criterion.description,
            "compared": len(responses),
            "response": responses[0],
            "lettered_responses": [(self.question.place_name(place), text) for place, text in enumerate(responses)],
            "options": shown_options(self.shown),
            "codes": self.shown.answers if self.shown.coded else (),
            "examples": tuple(
                ShownExample(tuple(example.context.items()), example.response, example.label) for example in examples
            ),
            "case_nonce": nonce_for(self.flow.seed, *told, beside=(*own, *beside)) if told else "",
        }

    def vote(self, weight: float) -> Vote:
        """What the conversation came to."""
        return cast_vote(
            self.caller.judge_id,
            self.question,
            self.shown,
            self.match,
            sample=self.sample,
            probabilities=self.probabilities,
            assessment=self.assessment,
            summary=self.summary,
            completion=self.completion,
            unscored_reason=self.reason,
            error=self.error,
            weight=weight,
            reasks=self.reasks,
            usage=self.usage,
            prompts=self.sent(self.question, self.assessment),
        )


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
    coded = flow.coded and not has_plain_answers(question.criterion)
    shown = question.present(order, coded=coded)
    conversation = QuestionConversation(flow, sample, caller, behind, question=question, shown=shown)
    await conversation.carry_out()
    if flow.generate_summaries and conversation.assessment:
        await conversation.summarize()
    return conversation.vote(weight)


class ShownOption(NamedTuple):
    """An option as a prompt lists it."""

    label: str
    description: str


class ShownExample(NamedTuple):
    """A judged case as a prompt shows it."""

    context: tuple[tuple[str, str], ...]
    response: str
    label: str


def shown_options(shown: Presentation) -> tuple[ShownOption, ...]:
    """The options in the order shown."""
    return tuple([ShownOption(option.label, option.description) for option in shown.options])


def row_texts(question: Question) -> tuple[str, ...]:
    """What is judged, and what is shown beside it."""
    return (*question.responses, *question.context.values())


def texts_of(question: Question) -> tuple[str, ...]:
    """What is judged, what is shown beside it, and the same of its examples."""
    examples = (text for example in question.examples for text in (example.response, *example.context.values()))
    return (*row_texts(question), *examples)


def shared_values(seed: int, question: Question, beside: Iterable[str]) -> dict[str, object]:
    """What every prompt about a response is filled with, where these texts are shown beside it."""
    nonce = nonce_for(seed, *row_texts(question), beside=beside)
    return {"context": question.context, "guidelines": question.guidelines, "nonce": nonce}


def said_beside(question: Question) -> Iterator[str]:
    """What prompts say that may come with a row too, and stands between no tags."""
    criterion = question.criterion
    yield from (criterion.name, criterion.description, question.guidelines, *question.context)
    for option in criterion.options:
        yield from (option.label, option.description)
    for example in question.examples:
        yield from example.context


def one_line(name: str) -> str:
    """A name as prompts say it outside of all tags, where it must not begin a line of its own."""
    return " ".join(name.split())


def cast_vote(judge_id: str, question: Question, shown: Presentation, match: Match | None, **more: Any) -> Vote:  # noqa: ANN401 - the vote's other fields
    """The vote for the option that a reply names, in the criterion's own order."""
    shown_index = match.index if match else None
    index = None if shown_index is None else shown.to_own[shown_index]
    option = None if index is None else question.criterion.options[index]
    return Vote(
        judge_id=judge_id,
        order=shown.order,
        selected_index=index,
        selected_label=option.label if option else None,
        value=option.value if option else None,
        na=option.na if option else False,
        match=match,
        **more,
    )


def own_probabilities(
    reply: Completion, shown: Presentation, match: Match, span: tuple[int, int] | None = None
) -> tuple[float, ...] | None:
    """The mass of each option at the verdict's token, in the criterion's own order; None without log-probabilities."""
    if reply.logprobs is None or reply.text is None:
        return None
    masses = option_probabilities(reply.logprobs, shown.answers, match.index, text=reply.text, span=span)
    if masses is None:
        return None
    own = [0.0] * len(masses)
    for place, mass in zip(shown.to_own, masses, strict=True):
        own[place] = mass
    return tuple(own)


READ_AT_ONCE = 2**14
"""Characters; reading more takes so long that the calls under way would notice."""

UNDIGESTED = Match(index=None, kind="none", reason="no_match")
"""What a reply is at which the reader fails."""

_REASONS_FIELDS = ("assessment", "reasoning", "rationale", "explanation", "reasons", "reason", "justification")
"""What judges call the field that the prompt calls assessment."""


def reason_without_text(reply: Completion) -> UnscoredReason:
    """Why a reply without text has none, as far as the engine says."""
    return REASON_BY_FINISH.get(reply.finish_reason, "empty")


def _read_verdict(
    reply: Completion, shown: Presentation, question: Question, nonce: str
) -> tuple[Match, tuple[float, ...] | None]:
    read = read_reply(
        reply.text, shown.answers, finish_reason=reply.finish_reason, shown=texts_of(question), nonce=nonce
    )
    return read.match, own_probabilities(reply, shown, read.match, read.span)


def _assessment_in(text: str | None) -> str | None:
    """The reasons in a one-step reply: the field of the JSON object, or the whole text when it is not one."""
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
    """A reply that names one of the answers."""
    return _object({"selected_option": _one_of(answers)})


@lru_cache(maxsize=512)
def one_step_schema(answers: tuple[str, ...], *, verdict_first: bool = False) -> Mapping[str, Any]:
    """A reply with reasons and verdict: the reasons first, unless the prompt asks for the verdict first."""
    fields = {"assessment": {"type": "string"}, "selected_option": _one_of(answers)}
    return _object(dict(reversed(fields.items())) if verdict_first else fields)


@lru_cache(maxsize=512)
def sheet_schema(numbered: tuple[tuple[int, tuple[str, ...]], ...], *, reasoning: bool) -> Mapping[str, Any]:
    """A reply with one entry per question, each with its number and one of its own answers."""
    reasons: dict[str, Any] = {"reasoning": {"type": "string"}} if reasoning else {}
    by_answers: dict[tuple[str, ...], list[int]] = {}
    for number, answers in numbered:
        by_answers.setdefault(answers, []).append(number)
    kinds = [
        _object({"index": {"type": "integer", "enum": numbers}, **reasons, "answer": _one_of(answers)})
        for answers, numbers in by_answers.items()
    ]
    return _object({"answers": {"type": "array", "items": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}})


def _one_of(answers: tuple[str, ...]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(answers)}


def _object(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

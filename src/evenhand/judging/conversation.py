"""From a question to a vote: the flow that says how a judge is asked, and the conversation that asks it.

Two steps: the judge assesses, then, in the same conversation, selects an option. One step: a single structured reply
with the reasons before the verdict. Verdict only: the option, and nothing else. A sheet: the answers to several
questions about one response in one reply. In each the reply is read by :mod:`evenhand.parsing`, which never guesses, a
reply that names no option may be asked for again, and what cannot be read is an unscored vote with a reason.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol, Self

from evenhand.criteria import Option
from evenhand.data.plain import by_key
from evenhand.engines.base import Request, SheetItem, Stage
from evenhand.errors import EngineError, InvalidInputError, WithheldError
from evenhand.judging.token_probabilities import option_probabilities
from evenhand.options import FlowName, FlowOptions, RunOptions, option
from evenhand.parsing import ReplyReading, read_reply, read_sheet
from evenhand.prompts import (
    FIRST_PROMPTS,
    Behind,
    Subject,
    check_first_prompt,
    describes_options,
    fill_prompt,
    is_prompt_name,
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

SUBJECTS: Final[Mapping[Mode, Subject]] = {
    "assess": "response",
    "check": "sheet",
    "compare": "pair",
    "choose": "candidates",
}
STAGES: Final[Mapping[FlowName, tuple[Stage, ...]]] = {
    "two_step": ("assessment", "selection"),
    "one_step": ("one_step",),
    "verdict_only": ("verdict",),
}
"""The stages of each flow when every reply can be read."""
TOP_LOGPROBS: Final = 20
"""The number of the likeliest tokens to ask for with log-probabilities; servers give no more."""
_UNREADABLE: Final = ReplyReading(Match(index=None, kind="none", reason="no_match"))
"""The reading of a reply for which the reader fails."""
_COUNTED: Final[Mapping[str, Any]] = {"attempts": 0, "lost": 0, "at_risk": 0.0}
"""The fields of a reply about its requests, which are in the usage of its vote."""
_VERDICT_FIRST: Final = "best_of_select"
"""The prompt that asks for the verdict before the reasons."""


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

    def stages(self, *, sheet: bool = False) -> tuple[Stage, ...]:
        """Return the stages in which a judge is asked when every reply can be read."""
        return ("sheet",) if sheet else STAGES[self.flow]

    def check_prompt(self, mode: Mode, *, sheet: bool = False) -> None:
        """Check the prompt that is named or given, before anything is asked.

        Raises:
            InvalidPromptError: If it is for something else, or cannot be filled.
        """
        if self.prompt is not None:
            check_first_prompt(self.prompt, "sheet" if sheet else SUBJECTS[mode], self.stages(sheet=sheet)[0])

    def first_prompt(self, question: Question) -> str:
        """Return the name of our prompt that addresses a judge first, or the text of the user's own."""
        if self.prompt is not None:
            return self.prompt
        if question.sheet:
            return "checklist_sheet" if question.mode == "check" else "rubric_sheet"
        return FIRST_PROMPTS[SUBJECTS[question.mode], self.stages()[0]][0]

    def templates(self, question: Question) -> tuple[str, ...]:
        """Return the texts of all templates with which a judge is asked such a question."""
        first, sheet = self.first_prompt(question), bool(question.sheet)
        own = not is_prompt_name(first)
        names = ["_own" if own else first, *self.stages(sheet=sheet)[1:]]
        names += ["sheet_reask" if sheet else "reask"] if self.max_reasks else []
        names += ["summary"] if self.generate_summaries else []
        return (*([first] if own else []), *(whole_source(f"{name}.md") for name in names))

    def expected_calls(self, *, sheet: bool = False) -> int:
        """Return the calls that one vote, or one sheet of them, takes when every reply can be read."""
        summary = self.generate_summaries and self.flow != "verdict_only" and not sheet
        return len(self.stages(sheet=sheet)) + summary


class Caller(Protocol):
    """The receiver of a conversation's requests: a judge's calls, or a count of the calls to make."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote."""

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request."""


class _Read(NamedTuple):
    """What a reply says about one question."""

    answer: ReplyReading
    reply: Completion
    probabilities: tuple[float, ...] | None = None


@dataclass(slots=True)
class _Conversation:
    """The messages about one question or those of a sheet, what was read in the replies, and what these consumed.

    Attributes:
        items: The questions.
        question: The first one.
        values: What prompts are filled with.
        behind: The parts of the first prompt after the response.
        found: Number of an item -> the last reading about it.
        reasks: Number of an item -> how often it was asked for again.
        assessment: The reasons before the verdict; a sheet has those of each item.
        reason: Why there is no reading of what was not selected.
    """

    flow: Flow
    sample: int
    caller: Caller
    items: tuple[SheetItem, ...]
    question: Question
    values: dict[str, object]
    behind: Behind = ()
    messages: list[Message] = field(default_factory=list)
    prompts: dict[str, list[Message]] = field(default_factory=dict)
    found: dict[int, _Read] = field(default_factory=dict)
    reasks: dict[int, int] = field(default_factory=dict)
    usage: Usage = NOTHING_USED
    assessment: str | None = None
    reasoning: str | None = None
    summary: str | None = None
    reason: UnscoredReason | None = None
    error: str | None = None

    async def converse(self) -> None:
        """Ask by the flow, and for a form with the nonce while a reply has none of the forms of a verdict."""
        sheet = bool(self.question.sheet)
        for stage in self.flow.stages(sheet=sheet):
            reply = await self._say(stage, self._text(stage), self.items)
            if stage != "assessment":
                self._read(stage, reply, self.items)
            elif (reply.text or "").strip():
                self.assessment, self.reasoning = reply.text, reply.reasoning
            else:
                self.reason = REASON_BY_FINISH.get(reply.finish_reason, "empty")
                self.found[self.items[0].number] = _Read(_UNREADABLE, reply)
                return
        again: Stage = "sheet_reask" if sheet else "reask"
        for _ in range(self.flow.max_reasks):
            missing = tuple([item for item in self.items if not self.selects(item)])
            if not missing or reply.finish_reason in FINAL_FINISHES:
                return
            self.reasks |= {item.number: self.reasks.get(item.number, 0) + 1 for item in missing}
            values = {**self.values, "items": _shown_items(missing)} if sheet else self.values
            reply = await self._say(again, fill_prompt(again, values), missing)
            self._read(again, reply, missing)

    async def summarize(self) -> None:
        """Ask for a summary of the assessment. The vote stands without one."""
        nonce = nonce_for(self.flow.seed, str(self.assessment))
        text = fill_prompt("summary", {"assessment": self.assessment, "nonce": nonce})
        self.messages = []
        try:
            self.summary = (await self._say("summary", text, self.items)).text
        except (EngineError, WithheldError) as error:
            self.error = self.error or f"summary: {self.reason_of(error)[1]}"

    def _text(self, stage: Stage) -> str:
        """Return the message of a stage of the flow."""
        prompt = self.flow.first_prompt(self.question)
        if stage == "selection":
            return fill_prompt(stage, {**self.values, "described": describes_options(prompt)})
        if is_prompt_name(prompt):
            return fill_prompt(prompt, self.values, self.behind)
        subject: Subject = "sheet" if self.question.sheet else SUBJECTS[self.question.mode]
        return render_own_prompt(prompt, subject, stage, self.values)

    async def _say(self, stage: Stage, text: str, items: tuple[SheetItem, ...]) -> Completion:
        """Send the conversation with one more message, and count what the reply consumed."""
        self.messages.append({"role": "user", "content": text})
        sent = tuple(self.messages)
        if self.flow.include_prompts_in_result:
            self.prompts[stage] = list(sent)
        question, shown = items[0].question, items[0].presentation
        alone, options, schema = not question.sheet, None, None  # without a schema, any text will do
        if not alone:
            numbered = tuple([(item.number, item.presentation.answers) for item in items])
            schema = _sheet_schema(numbered, reasoning=self.flow.reasoning)
        elif stage not in {"assessment", "summary"}:
            reasons = ""
            if stage == "one_step":
                reasons = "last" if self.flow.prompt == _VERDICT_FIRST else "first"
            options = shown.answers
            schema = _selection_schema(options, reasons)
        first = sent[0]["content"]
        own = first.find(f"-{self.values['nonce']}>")  # in the first tag, which begins the texts of the row
        request = Request(
            messages=sent,
            options=options,
            response_schema=schema,
            logprobs=self.flow.logprobs if schema is not None else 0,
            sample=self.sample,
            stage=stage,
            question=question if alone else None,
            presentation=shown if alone else None,
            items=() if alone else items,
            reasoning=self.flow.reasoning,
            shared=first.rfind("\n", 0, max(0, own)) + 1,
        )
        try:
            reply = await self.caller.complete(request)
        except (EngineError, WithheldError) as error:
            self.usage += Usage(requests=error.attempts, lost=error.lost, at_risk=error.at_risk)
            raise
        self.usage += reply.usage
        self.messages.append({"role": "assistant", "content": reply.text or ""})
        return reply.model_copy(update=_COUNTED) if reply.attempts else reply

    def _read(self, stage: Stage, reply: Completion, items: Sequence[SheetItem]) -> None:
        """Read what a reply says about each item.

        A reader that fails has a fault that is ours to mend, so it is logged with the reply and noted in the vote. But
        the reply is in the journal: an exception would end this run and every later one. Labels that cannot be
        distinguished are the question's fault, and end it.
        """
        try:
            found = self._readings(stage, reply, items)
        except InvalidInputError:
            raise
        except Exception as error:
            _LOGGER.exception("A reply of %s could not be read: %r", self.caller.judge_id, reply.text)
            self.error = f"the reader failed: {error!r}"
            found = [_Read(_UNREADABLE, reply)] * len(items)
        if stage == "one_step" and (reply.text or "").strip():
            self.assessment = found[0].answer.reasoning or reply.text
        self.found |= {item.number: read for item, read in zip(items, found, strict=True)}

    def _readings(self, stage: Stage, reply: Completion, items: Sequence[SheetItem]) -> list[_Read]:
        nonce = str(self.values["nonce"]) if stage in {"reask", "sheet_reask"} else ""
        how: dict[str, Any] = {"finish_reason": reply.finish_reason, "shown": texts_of(self.question), "nonce": nonce}
        if self.question.sheet:
            numbers, known = ([item.number for item in each] for each in (items, self.items))
            offered = [item.presentation.answers for item in items]
            answers = read_sheet(reply.text, offered, numbers=numbers, known=known, **how)
        else:
            answers = (read_reply(reply.text, items[0].presentation.answers, **how),)
        reasoning = "\n\n".join(filter(None, (self.reasoning, reply.reasoning))) or None
        same = reply.logprobs is None and reply.reasoning == reasoning
        kept = reply if same else reply.model_copy(update={"logprobs": None, "reasoning": reasoning})
        return [
            _Read(answer, kept, own_probabilities(reply, item.presentation, answer))
            for item, answer in zip(items, answers, strict=True)
        ]

    def selects(self, item: SheetItem) -> bool:
        """Return whether an option was selected for an item."""
        found = self.found.get(item.number)
        return found is not None and found.answer.match.index is not None

    def reason_of(self, error: EngineError | WithheldError) -> tuple[UnscoredReason, str]:
        """Return why a failed call leaves a vote unscored, with the message, which names the judge."""
        message, judge_id = str(error), self.caller.judge_id
        if isinstance(error, WithheldError):
            return error.reason, message
        message = message if repr(judge_id) in message else f"judge {judge_id!r}: {message}"
        return "engine_error", f"{error.cause}: {message}"

    def vote(self, item: SheetItem, weight: float, *, bears: bool) -> Vote:
        """Return the vote for the option that the replies select, in the criterion's own order.

        Args:
            item: The question.
            weight: The judge's.
            bears: The vote bears what all calls consumed.
        """
        question, shown, found = item.question, item.presentation, self.found.get(item.number)
        match = None if found is None else found.answer.match
        index = None if match is None or match.index is None else shown.to_own[match.index]
        if index is None and self.reason is not None:
            match = None
        selected = None if index is None else question.criterion.options[index]
        assessment = found.answer.reasoning if found is not None and question.sheet else self.assessment
        prompts = None
        if self.prompts and item is self.items[0]:
            like = (*texts_of(question), question.guidelines, question.criterion.description, assessment or "")
            prompts = Prompts(self.prompts, like=like, known=prompt_sources())
        return Vote(
            judge_id=self.caller.judge_id,
            order=shown.order,
            sample=self.sample,
            selected_index=index,
            selected_label=selected.label if selected else None,
            value=selected.value if selected else None,
            na=selected.na if selected else False,
            probabilities=found.probabilities if found else None,
            assessment=assessment,
            summary=self.summary,
            completion=found.reply if found else None,
            match=match,
            unscored_reason=match.reason if match else self.reason,
            error=self.error if selected is None or not question.sheet else None,
            weight=weight,
            reasks=self.reasks.get(item.number, 0),
            usage=self.usage if bears else NOTHING_USED,
            prompts=prompts,
        )


async def ask(
    flow: Flow,
    questions: Sequence[Question],
    orders: Sequence[tuple[int, ...]],
    sample: int,
    caller: Caller,
    *,
    weight: float = 1.0,
    behind: Behind = (),
) -> list[Vote]:
    """Ask for one vote on a question, or on each one of a sheet, in one conversation.

    The items of a checklist stand in the order given, criteria in their own. The numbers are those of the places, so
    that they say nothing about the questions' own order. The vote on the first question that was answered bears what
    all calls consumed.

    Args:
        flow: The way in which the judge is asked.
        questions: One, or those of a sheet.
        orders: The order of each question.
        sample: The number of the draw.
        caller: The judge.
        weight: The judge's.
        behind: The parts of the first prompt after the response.
    """
    coded = flow.coded and not all(has_plain_answers(question.criterion) for question in questions)
    shown = [question.present(order, coded=coded) for question, order in zip(questions, orders, strict=True)]
    places = shown[0].order if questions[0].mode == "check" else range(len(questions))
    items = tuple([SheetItem(number, questions[own], shown[own]) for number, own in enumerate(places, start=1)])
    talk = _Conversation(flow, sample, caller, items, items[0].question, _values(flow, items), behind)
    try:
        await talk.converse()
    except (EngineError, WithheldError) as error:  # what has been read stands
        talk.reason, talk.error = talk.reason_of(error)
    if flow.generate_summaries and talk.assessment:
        await talk.summarize()
    bearer = next(filter(talk.selects, items), items[0])
    votes = {own: talk.vote(item, weight, bears=item is bearer) for own, item in zip(places, items, strict=True)}
    return [votes[own] for own in range(len(questions))]


class _ShownExample(NamedTuple):
    """A judged case as a prompt shows it."""

    context: tuple[tuple[str, str], ...]
    response: str
    label: str


class _ShownItem(NamedTuple):
    """A question of a sheet as its prompt names it."""

    number: int
    name: str
    text: str
    answers: tuple[str, ...]
    options: tuple[Option, ...]
    codes: tuple[str, ...]


def _values(flow: Flow, items: Sequence[SheetItem]) -> dict[str, object]:
    """Return what prompts about a question, or about a sheet, are filled with."""
    question, shown = items[0].question, items[0].presentation
    own, examples = (*question.responses, *question.context.values()), question.examples
    outside = [text for item in items for text in _texts_outside(item.question)]
    cases = tuple([text for example in examples for text in (example.response, *example.context.values())])
    return {
        "context": question.context,
        "guidelines": question.guidelines,
        "nonce": nonce_for(flow.seed, *own, others=(*cases, *outside)),
        "response": shown.responses[0],
        "items": _shown_items(items) if question.sheet else (),
        "reasoning": flow.reasoning,
        "criterion_name": " ".join(question.criterion.name.split()),
        "criterion_description": question.criterion.description,
        "compared": len(shown.responses),
        "lettered_responses": [
            (question.place_name(place), text) for place, text in enumerate(shown.responses) if question.compares
        ],
        "options": shown.options,
        "codes": shown.answers if shown.coded else (),
        "examples": tuple(
            [_ShownExample(tuple(example.context.items()), example.response, example.label) for example in examples]
        ),
        "case_nonce": nonce_for(flow.seed, *cases, others=(*own, *outside)) if cases else "",
    }


def _shown_items(items: Sequence[SheetItem]) -> tuple[_ShownItem, ...]:
    """Return the questions of a sheet as prompts name them; an item of a checklist is one line, numbering no other."""
    shown = []
    for item in items:
        criterion, answers = item.question.criterion, item.presentation.answers
        text = criterion.description
        text = " ".join(text.split()) if item.question.mode == "check" else text
        codes = answers if item.presentation.coded else ()
        name = " ".join(criterion.name.split())
        shown.append(_ShownItem(item.number, name, text, answers, item.presentation.options, codes))
    return tuple(shown)


def texts_of(question: Question) -> tuple[str, ...]:
    """Return what is judged, what is shown next to it, and the same of its examples."""
    examples = (text for example in question.examples for text in (example.response, *example.context.values()))
    return (*question.responses, *question.context.values(), *examples)


def _texts_outside(question: Question) -> tuple[str, ...]:
    """Return what prompts say that may come with a row too, and stands between no tags."""
    criterion = question.criterion
    options = [text for option in criterion.options for text in (option.label, option.description)]
    names = [name for example in question.examples for name in example.context]
    return (criterion.name, criterion.description, question.guidelines, *question.context, *options, *names)


def own_probabilities(reply: Completion, shown: Presentation, answer: ReplyReading) -> tuple[float, ...] | None:
    """Return the mass of each option at the verdict's token, in the criterion's own order; None without it."""
    if reply.logprobs is None or reply.text is None or answer.match.index is None:
        return None
    masses = option_probabilities(reply.logprobs, shown.answers, answer.match.index, text=reply.text, span=answer.span)
    return None if masses is None else tuple(masses[shown.to_own.index(place)] for place in range(len(masses)))


@lru_cache(maxsize=512)
def _selection_schema(answers: tuple[str, ...], reasons: str) -> Mapping[str, Any]:
    """Return the schema of a reply that names one of the answers, with the reasons first, last or not at all."""
    selection = {"selected_option": {"type": "string", "enum": list(answers)}}
    assessment = {"assessment": {"type": "string"}} if reasons else {}
    return _object(selection | assessment if reasons == "last" else assessment | selection)


@lru_cache(maxsize=512)
def _sheet_schema(numbered: tuple[tuple[int, tuple[str, ...]], ...], *, reasoning: bool) -> Mapping[str, Any]:
    """Return the schema of a reply with one entry per question, each with its number and one of its own answers."""
    reasons: dict[str, Any] = {"reasoning": {"type": "string"}} if reasoning else {}
    by_answers = by_key((answers, number) for number, answers in numbered)
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


def asked_together(questions: Sequence[Question], sheet: str) -> list[Question]:
    """Return the questions about one response as those of one sheet, each with the context of all.

    Raises:
        InvalidInputError: If they are about different responses, or show different things under one name.
    """
    context = {name: text for question in questions for name, text in question.context.items()}
    for question in questions:
        if question.responses != questions[0].responses or not question.context.items() <= context.items():
            raise InvalidInputError(
                f"the criterion {question.criterion.name!r} is judged with a response or context that other criteria "
                "have not, which one call cannot hold: use calls='per_criterion', or give context_fields"
            )
    return [replace(question, context=context, sheet=sheet) for question in questions]

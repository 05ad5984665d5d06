"""How votes come about: straight-line code from a question, or a sheet of them, to votes.

Two steps: the judge assesses, then, in the same conversation, selects an option. One step: a single structured reply
with the reasons before the verdict. Verdict only: the option, and nothing else. A sheet: one structured reply that
answers each of its questions. Either way the reply is read by :mod:`evenhand.parsing`, which never guesses, a reply
that names no option may be asked for again, and what cannot be read is an unscored vote with a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from evenhand.checked_options import option
from evenhand.errors import EngineError, WithheldError
from evenhand.judging.conversation import SUBJECTS, Caller, QuestionConversation
from evenhand.judging.sheet import SheetConversation, sheet_items
from evenhand.prompts import (
    FIRST_PROMPTS,
    Behind,
    FirstStage,
    PromptName,
    check_first_prompt,
    is_prompt_name,
    whole_source,
)
from evenhand.question import Mode, Question, has_plain_answers
from evenhand.run_options import FlowName, FlowOptions
from evenhand.votes import Vote

FIRST_STAGES: Final[Mapping[FlowName, FirstStage]] = {
    "two_step": "assessment",
    "one_step": "one_step",
    "verdict_only": "verdict",
}

TOP_LOGPROBS: Final = 20
"""How many of the likeliest tokens are asked for, where log-probabilities are; servers give no more."""


class Flow(FlowOptions):
    """How a judge is asked. A sheet is always one reply."""

    reasoning: bool = option(True, "Ask for reasons on a sheet.")
    logprobs: int = option(0, "How many of the likeliest tokens to ask for at the verdict; 0 for none.", ge=0)
    coded: bool = option(
        False, "Let the judge name options by a digit or letter where their labels may need several tokens."
    )

    def check_prompt(self, mode: Mode, *, sheet: bool = False) -> None:
        """Check the prompt, where one is named or given, before anything is asked.

        Raises:
            InvalidPromptError: If it is for something else, or cannot be filled.
        """
        if self.prompt is None:
            return
        if sheet:
            check_first_prompt(self.prompt, "sheet", "sheet")
        else:
            check_first_prompt(self.prompt, SUBJECTS[mode], FIRST_STAGES[self.flow])

    @property
    def own_prompt(self) -> str | None:
        """The text of the user's own prompt."""
        return None if self.prompt is None or is_prompt_name(self.prompt) else self.prompt

    @property
    def named_prompt(self) -> PromptName | None:
        """The name of the prompt of ours that stands in for the mode's."""
        return cast(PromptName, self.prompt) if self.prompt is not None and is_prompt_name(self.prompt) else None

    def first_prompt(self, question: Question) -> PromptName:
        """The prompt of ours with which a judge is addressed first, where the user has none."""
        if self.named_prompt is not None:
            return self.named_prompt
        if question.sheet:
            return "checklist_sheet" if question.mode == "check" else "rubric_sheet"
        return FIRST_PROMPTS[SUBJECTS[question.mode], FIRST_STAGES[self.flow]][0]

    def templates(self, question: Question) -> tuple[str, ...]:
        """The texts of all templates with which a judge is asked such a question."""
        again: PromptName = "sheet_reask" if question.sheet else "reask"
        stages: dict[PromptName, bool] = {
            self.first_prompt(question): self.own_prompt is None,
            "selection": self.flow == "two_step" and not question.sheet,
            again: self.max_reasks > 0,
            "summary": self.generate_summaries,
        }
        ours = tuple(whole_source(f"{name}.md") for name, used in stages.items() if used)
        return ours if self.own_prompt is None else (self.own_prompt, whole_source("_own.md"), *ours)

    def expected_calls(self, *, sheet: bool = False) -> int:
        """Calls that one vote, or one sheet of them, takes when every reply can be read."""
        if sheet:
            return 1
        return (2 if self.flow == "two_step" else 1) + (self.generate_summaries and self.flow != "verdict_only")

    async def ask(
        self,
        question: Question,
        order: tuple[int, ...],
        sample: int,
        caller: Caller,
        *,
        weight: float = 1.0,
        behind: Behind = (),
    ) -> Vote:
        """One vote; ``behind`` is what its prompt says behind the response. An engine's failure is an unscored vote."""
        coded = self.coded and not has_plain_answers(question.criterion)
        shown = question.present(order, coded=coded)
        conversation = QuestionConversation(self, sample, caller, behind, question=question, shown=shown)
        await self._run(conversation)
        if self.generate_summaries and conversation.assessment:
            await conversation.summarize()
        return conversation.vote(weight)

    async def ask_sheet(
        self,
        questions: Sequence[Question],
        orders: Sequence[tuple[int, ...]],
        sample: int,
        caller: Caller,
        *,
        weight: float = 1.0,
    ) -> list[Vote]:
        """One vote on each question of a sheet, from one reply. An engine's failure leaves them unscored."""
        coded = self.coded and not all(has_plain_answers(question.criterion) for question in questions)
        shown = [question.present(order, coded=coded) for question, order in zip(questions, orders, strict=True)]
        items = sheet_items(questions, shown)
        conversation = SheetConversation(self, sample, caller, items=items)
        await self._run(conversation)
        by_question = {id(item.question): vote for item, vote in conversation.votes(weight)}
        return [by_question[id(question)] for question in questions]

    @staticmethod
    async def _run(conversation: QuestionConversation | SheetConversation) -> None:
        try:
            await conversation.run()
        except EngineError as error:
            conversation.give_up("engine_error", f"{error.cause}: {conversation.told(error)}")
        except WithheldError as error:
            conversation.give_up(error.reason, str(error))

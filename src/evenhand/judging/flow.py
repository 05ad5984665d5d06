"""How a judge is asked, as data: the steps, the prompts, and what is asked for besides the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self, cast

from evenhand.options import FlowName, FlowOptions, RunOptions, option
from evenhand.prompts import (
    FIRST_PROMPTS,
    FirstStage,
    PromptName,
    Subject,
    check_first_prompt,
    is_prompt_name,
    whole_source,
)
from evenhand.question import Mode, Question

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
"""How many of the likeliest tokens are asked for, where log-probabilities are; servers give no more."""


class Flow(FlowOptions):
    """How a judge is asked. A sheet is always one reply."""

    reasoning: bool = option(True, "Ask for reasons on a sheet.")
    logprobs: int = option(0, "How many of the likeliest tokens to ask for at the verdict; 0 for none.", ge=0)
    coded: bool = option(
        False, "Let the judge name options by a digit or letter where their labels may need several tokens."
    )

    @classmethod
    def of(cls, options: RunOptions, **changes: Any) -> Self:  # noqa: ANN401 - the fields of a flow
        """Return how the options of a run have judges asked, with what a mode makes of it."""
        expected = options.scoring == "expected"
        asked = {name: getattr(options, name) for name in FlowOptions.model_fields}
        probabilities = {"logprobs": TOP_LOGPROBS if expected else 0, "coded": expected}
        return cls.model_construct(**{**asked, **probabilities, **changes})

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

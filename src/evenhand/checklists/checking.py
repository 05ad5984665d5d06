"""How a checklist is put to judges: the settings, and the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from evenhand.checklists.result import ChecklistResult
from evenhand.criteria import Checklist
from evenhand.errors import InvalidInputError, InvalidPromptError
from evenhand.judging.flow import TOP_LOGPROBS
from evenhand.judging.settings import RunSettings
from evenhand.prompts import is_prompt_name
from evenhand.question import Question
from evenhand.run_options import NEEDS_ALL_DRAWS, ChecklistOptions, CheckMode
from evenhand.votes import MISSING_RESPONSE, Vote

_PROMPTS: Final[Mapping[tuple[CheckMode, bool], str]] = {
    ("batch", False): "checklist_sheet",
    ("batch", True): "checklist_sheet",
    ("item", False): "checklist_item",
    ("item", True): "checklist_item_reasoned",
}
"""Mode and whether reasons are asked for -> our prompt."""

_NOT_OF_A_CHECKLIST: Final[Mapping[str, tuple[object, str]]] = {
    "flow": ("two_step", "mode and capture_reasoning say how a checklist is asked"),
    "scoring": ("selected", "primary_metric='normalized' scores a checklist by probabilities"),
    "generate_summaries": (False, "the answers to a checklist have no assessments to summarize"),
}
"""The options of a run that would do nothing here: what they are when they are left alone, and what stands in."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a checklist is answered about.

    Attributes:
        id: Names the response within a run.
        instance: The row of the data that it belongs to.
        response: Its text.
        name: Tells it from other responses of the row; empty where there is one.
        context: What the judge is shown beside it: name -> text.
        references: Known good answers.
        draw_key: Names the instance in seeded draws.
        data_classification: The data classification policy of the instance.
        guidelines: What the judge is told about judging.
    """

    id: str
    instance: int
    response: str
    name: str = ""
    context: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    draw_key: str = ""
    data_classification: tuple[str, ...] | None = None
    guidelines: str = ""


@dataclass(frozen=True, slots=True)
class Checking:
    """How a checklist is put to judges, and how a run is set for it.

    Attributes:
        options: Of the checklist.
        settings: Of the run: grid, flow, limits, rules.
    """

    options: ChecklistOptions
    settings: RunSettings

    @classmethod
    def from_options(cls, options: Mapping[str, Any], run_options: Mapping[str, Any]) -> Self:
        """Check the options of a checklist together with those of a run.

        Args:
            options: See :class:`ChecklistOptions`.
            run_options: See :class:`~evenhand.run_options.RunOptions`; every place is asked about once
                (``check_positional_bias=False``) unless they say otherwise.

        Raises:
            InvalidInputError: An option that does not exist, a value that is not accepted, or two that do not go
                together.
            UnknownRuleError: A rule that does not fit yes/no questions.
            InvalidPromptError: A prompt that cannot be filled.
        """
        own = ChecklistOptions(**options)
        if own.use_logprobs is None:
            own = own.changed(use_logprobs=own.primary_metric == "normalized")
        return cls(own, _settings(own, {"check_positional_bias": False, **run_options}))

    def offered(self, checklist: Checklist) -> Checklist:
        """The checklist with N/A offered as it is allowed."""
        if self.options.allow_na is None:
            return checklist
        items = tuple(item.model_copy(update={"na": self.options.allow_na}) for item in checklist.items)
        return checklist.model_copy(update={"items": items})

    def questions(self, checklist: Checklist, about: Subject) -> tuple[Question, ...]:
        """One question an item.

        Args:
            checklist: As it was :meth:`offered`.
            about: The response, and what is shown beside it.
        """
        together = self.options.mode == "batch"
        return tuple(
            Question(
                id=f"{about.id}/{item.name}",
                criterion=item.as_criterion(),
                responses=(about.response,),
                context=about.context,
                references=about.references,
                mode="check" if together else "assess",
                instance=about.instance,
                draw_key=about.draw_key,
                data_classification=about.data_classification,
                guidelines=about.guidelines,
                sheet=" / ".join(filter(None, (about.name, checklist.name))) if together else "",
                sheet_size=len(checklist.items) if together else 0,
            )
            for item in checklist.items
        )

    def result(self, checklist: Checklist, votes: Sequence[Sequence[Vote]] | None) -> ChecklistResult:
        """What the votes on each item come to; None for a response that is missing."""
        rules = self.settings.rules
        if votes is None:
            verdicts = (MISSING_RESPONSE,) * len(checklist.items)
        else:
            verdicts = tuple(
                rules.aggregate(cast, item.as_criterion()) for item, cast in zip(checklist.items, votes, strict=True)
            )
        return ChecklistResult.of(checklist, verdicts, self.options.primary_metric, rules)

    def parameters(self) -> dict[str, Any]:
        """What a result depends on, as plain JSON."""
        return {**self.options.given(), **self.settings.parameters()}


def _settings(own: ChecklistOptions, run_options: Mapping[str, Any]) -> RunSettings:
    for name, (left_alone, instead) in _NOT_OF_A_CHECKLIST.items():
        if run_options.get(name, left_alone) != left_alone:
            raise InvalidInputError(f"{name}={run_options[name]!r} does not belong to a checklist: {instead}")
    run_options = {**run_options, "orders": _orders(own, run_options)}
    settings = RunSettings.from_options(run_options, ["binary"])
    if own.primary_metric == "normalized" and settings.grid.stop_early:
        raise InvalidInputError(
            f"stop_early does not go with primary_metric='normalized': {NEEDS_ALL_DRAWS}; drop one of the two"
        )
    mode, reasoning, prompt = own.mode, own.capture_reasoning, settings.flow.prompt
    ours = _PROMPTS[mode, reasoning]
    if prompt is not None and is_prompt_name(prompt) and prompt != ours:
        raise InvalidPromptError(
            f"prompt is {prompt!r}; with mode={mode!r} and capture_reasoning={reasoning!r} the prompt is {ours!r}, or "
            "the text of one of your own"
        )
    asking = settings.asking(
        flow="one_step" if mode == "item" and reasoning else "verdict_only",
        reasoning=reasoning,
        logprobs=TOP_LOGPROBS if own.use_logprobs else 0,
        prompt=prompt or ours,
    )
    asking.flow.check_prompt("check" if mode == "batch" else "assess", sheet=mode == "batch")
    return asking


def _orders(own: ChecklistOptions, run_options: Mapping[str, Any]) -> str:
    orders = str(run_options.get("orders", "given"))
    if not own.shuffle_items:
        return orders
    if orders not in {"given", "shuffled"}:
        raise InvalidInputError(
            f"shuffle_items=True shows the items in random orders, and orders is {orders!r}: give one of the two"
        )
    return "shuffled"

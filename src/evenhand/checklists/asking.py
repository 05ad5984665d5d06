"""How a checklist is put to judges, and what the answers come to for one response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from evenhand.aggregation import (
    Answer,
    ChecklistScore,
    ItemReason,
    ItemResult,
    PrimaryScore,
    VoteRules,
    category_pass_rates,
    item_results,
    possible_scores,
    score_items,
)
from evenhand.criteria import Checklist
from evenhand.errors import InvalidInputError, InvalidPromptError
from evenhand.judging.flow import TOP_LOGPROBS
from evenhand.judging.settings import RunSettings
from evenhand.prompts import is_prompt_name
from evenhand.question import Question
from evenhand.run_options import NEEDS_ALL_DRAWS, ChecklistOptions, CheckMode
from evenhand.run_options import ChecklistMetric as Metric
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote

PRIMARY_SCORES: Final[Mapping[Metric, PrimaryScore]] = {
    "pass": "pass_rate",
    "weighted": "weighted_score",
    "normalized": "normalized_score",
}


@dataclass(frozen=True, slots=True)
class ChecklistResult:
    """One response by a checklist.

    Attributes:
        checklist: As it was asked, with N/A where that was offered.
        items: What each item came to, in the checklist's order.
        score: The scores.
        asked_metric: The primary metric that was asked for.
        bounds: The primary score if every missing answer had been no, and yes; None where every item is NA.
    """

    checklist: Checklist
    items: tuple[ItemResult, ...]
    score: ChecklistScore
    asked_metric: Metric
    bounds: tuple[float, float] | None

    @classmethod
    def of(cls, checklist: Checklist, verdicts: Sequence[Verdict], metric: Metric, rules: VoteRules) -> Self:
        """The result of one verdict per item, in the checklist's order."""
        primary = PRIMARY_SCORES[metric]
        items = item_results(verdicts, checklist, rules=rules)
        bounds = possible_scores(verdicts, checklist, primary=primary, rules=rules)
        return cls(checklist, items, score_items(items, primary=primary), metric, bounds)

    @property
    def primary_metric(self) -> Metric | None:
        """What the primary score is: the metric asked for, ``pass`` where that is undefined, None without a score."""
        if self.score.primary_score is None:
            return None
        return self.asked_metric if getattr(self.score, PRIMARY_SCORES[self.asked_metric]) is not None else "pass"

    @property
    def weighted_score_reason(self) -> str | None:
        """Why there is no weighted score, where there is none."""
        if self.score.weighted_score is not None:
            return None
        return "no item is answered" if not self.score.answered else "the total weight of the answered items is 0"

    @property
    def na(self) -> bool:
        """Whether the checklist does not apply: every item is NA."""
        return self.score.na == len(self.items)

    @property
    def unscored_reason(self) -> ItemReason | None:
        """Why there is no score: the most frequent reason among the items, the first of equally frequent ones."""
        if self.score.answered or self.na:
            return None
        reasons = [result.reason for result in self.items if result.reason is not None]
        return max(reasons, key=reasons.count)

    @property
    def category_pass_rates(self) -> dict[str, float | None]:
        """Category -> yes / answered; None where nothing is answered."""
        return category_pass_rates([result.answer for result in self.items], self._categories)

    def answers(self) -> dict[str, Answer | None]:
        """Item name -> what it counts."""
        return {result.item.name: result.answer for result in self.items}

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each item's own question."""
        return tuple(result.verdict for result in self.items)

    @property
    def _categories(self) -> list[str]:
        return [result.item.category for result in self.items]


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

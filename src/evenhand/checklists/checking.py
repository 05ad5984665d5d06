"""How a checklist is put to judges: the settings, and the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, TypedDict, get_args

from evenhand.aggregation import NEEDS_ALL_DRAWS
from evenhand.checklists.result import ChecklistResult, Metric
from evenhand.criteria import Checklist
from evenhand.errors import InvalidInputError, InvalidPromptError, did_you_mean
from evenhand.judging.flow import TOP_LOGPROBS
from evenhand.judging.settings import RunSettings
from evenhand.prompts import is_prompt_name
from evenhand.question import Question
from evenhand.votes import MISSING_RESPONSE, Vote

CheckMode = Literal["batch", "item"]

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


class ChecklistOptions(TypedDict, total=False):
    """How a checklist is put to judges; every option has a default.

    Attributes:
        mode: ``batch``: one call answers all items; ``item``: one call an item.
        primary_metric: ``pass`` (the share of yes), ``weighted`` (by the items' weights) or ``normalized`` (the mean
            probability of yes, which asks for log-probabilities).
        capture_reasoning: Ask for a sentence of reasons before each answer.
        use_logprobs: Ask for log-probabilities; by default where ``primary_metric`` needs them.
        allow_na: Offer N/A as an answer to every item (True) or to none (False); by default the items say.
        shuffle_items: Show the items of a call in a seeded random order, another one for each instance.
    """

    mode: str
    primary_metric: str
    capture_reasoning: bool
    use_logprobs: bool | None
    allow_na: bool | None
    shuffle_items: bool


CHECKLIST_OPTIONS: Final[ChecklistOptions] = {
    "mode": "batch",
    "primary_metric": "pass",
    "capture_reasoning": False,
    "use_logprobs": None,
    "allow_na": None,
    "shuffle_items": False,
}


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
        mode: ``batch`` or ``item``.
        primary_metric: ``pass``, ``weighted`` or ``normalized``.
        capture_reasoning: Ask for reasons.
        use_logprobs: Ask for log-probabilities.
        allow_na: Offer N/A everywhere or nowhere; None leaves it to the items.
        shuffle_items: Show the items in a random order.
        settings: Of the run: grid, flow, limits, rules.
    """

    mode: CheckMode
    primary_metric: Metric
    capture_reasoning: bool
    use_logprobs: bool
    allow_na: bool | None
    shuffle_items: bool
    settings: RunSettings

    @classmethod
    def from_options(cls, options: Mapping[str, Any], run_options: Mapping[str, Any]) -> Self:
        """Check the options of a checklist together with those of a run.

        Args:
            options: See :class:`ChecklistOptions`.
            run_options: See :class:`~evenhand.judging.settings.RunOptions`; every place is asked about once
                (``check_positional_bias=False``) unless they say otherwise.

        Raises:
            InvalidInputError: An option that does not exist, a value that is not accepted, or two that do not go
                together.
            UnknownRuleError: A rule that does not fit yes/no questions.
            InvalidPromptError: A prompt that cannot be filled.
        """
        for name in options:
            if name not in CHECKLIST_OPTIONS:
                raise InvalidInputError(f"there is no option {name!r}. {did_you_mean(name, CHECKLIST_OPTIONS)}")
        given: dict[str, Any] = {**CHECKLIST_OPTIONS, **options}
        _check_values(given)
        logprobs = given["use_logprobs"]
        given["use_logprobs"] = given["primary_metric"] == "normalized" if logprobs is None else logprobs
        return cls(**given, settings=_settings(given, {"check_positional_bias": False, **run_options}))

    def offered(self, checklist: Checklist) -> Checklist:
        """The checklist with N/A offered as it is allowed."""
        if self.allow_na is None:
            return checklist
        items = tuple(item.model_copy(update={"na": self.allow_na}) for item in checklist.items)
        return checklist.model_copy(update={"items": items})

    def questions(self, checklist: Checklist, about: Subject) -> tuple[Question, ...]:
        """One question an item.

        Args:
            checklist: As it was :meth:`offered`.
            about: The response, and what is shown beside it.
        """
        together = self.mode == "batch"
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
        return ChecklistResult.of(checklist, verdicts, self.primary_metric, rules)

    def parameters(self) -> dict[str, Any]:
        """What a result depends on, as plain JSON."""
        own = {name: getattr(self, name) for name in CHECKLIST_OPTIONS}
        return {**own, **self.settings.parameters()}


def _check_values(given: Mapping[str, Any]) -> None:
    for name, accepted in (("mode", get_args(CheckMode)), ("primary_metric", get_args(Metric))):
        if given[name] not in accepted:
            raise InvalidInputError(f"{name} is {given[name]!r}. {did_you_mean(given[name], accepted)}")
    for name in ("capture_reasoning", "use_logprobs", "allow_na", "shuffle_items"):
        value, default = given[name], CHECKLIST_OPTIONS[name]  # type: ignore[literal-required] # the keys are these
        if not isinstance(value, bool) and not (value is None and default is None):
            also = ", or None" if default is None else ""
            raise InvalidInputError(f"{name} is {value!r}; give True or False{also}")
    if given["primary_metric"] == "normalized" and given["use_logprobs"] is False:
        raise InvalidInputError(
            "primary_metric='normalized' is the mean probability of yes, and use_logprobs=False asks for none: leave "
            "use_logprobs out, or take primary_metric='pass'"
        )
    if given["shuffle_items"] and given["mode"] == "item":
        raise InvalidInputError(
            "shuffle_items=True is the order of the items within one call, and mode='item' asks about each item in a "
            "call of its own: leave it out, or take mode='batch'"
        )


def _settings(given: Mapping[str, Any], run_options: Mapping[str, Any]) -> RunSettings:
    for name, (left_alone, instead) in _NOT_OF_A_CHECKLIST.items():
        if run_options.get(name, left_alone) != left_alone:
            raise InvalidInputError(f"{name}={run_options[name]!r} does not belong to a checklist: {instead}")
    run_options = {**run_options, "orders": _orders(given, run_options)}
    settings = RunSettings.from_options(run_options, ["binary"])
    if given["primary_metric"] == "normalized" and settings.grid.stop_early:
        raise InvalidInputError(
            f"stop_early does not go with primary_metric='normalized': {NEEDS_ALL_DRAWS}; drop one of the two"
        )
    mode, reasoning, prompt = given["mode"], given["capture_reasoning"], settings.flow.prompt
    ours = _PROMPTS[mode, reasoning]
    if prompt is not None and is_prompt_name(prompt) and prompt != ours:
        raise InvalidPromptError(
            f"prompt is {prompt!r}; with mode={mode!r} and capture_reasoning={reasoning!r} the prompt is {ours!r}, or "
            "the text of one of your own"
        )
    asking = settings.asking(
        name="one_step" if mode == "item" and reasoning else "verdict_only",
        reasoning=reasoning,
        logprobs=TOP_LOGPROBS if given["use_logprobs"] else 0,
        prompt=prompt or ours,
    )
    asking.flow.check_prompt("check" if mode == "batch" else "assess", sheet=mode == "batch")
    return asking


def _orders(given: Mapping[str, Any], run_options: Mapping[str, Any]) -> str:
    orders = str(run_options.get("orders", "given"))
    if not given["shuffle_items"]:
        return orders
    if orders not in {"given", "shuffled"}:
        raise InvalidInputError(
            f"shuffle_items=True shows the items in random orders, and orders is {orders!r}: give one of the two"
        )
    return "shuffled"

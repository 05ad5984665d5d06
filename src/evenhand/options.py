"""Every option that a user sets, declared once: name, type, default, bounds and one sentence.

Keyword arguments, the fields of metrics, the options of the shell, and what a result says of how it was made are read
from these models. An options object is checked when it is built, and is the proof of it: code below reads its fields
and checks nothing again. A run is described by one object: :class:`Grid`, :class:`FlowOptions`, :class:`RuleOptions`
and :class:`Limits` are the sections of :class:`RunOptions` that one part of the code reads, and each function over rows
has a model of all its keywords.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded

Function = TypeVar("Function", bound=Callable[..., Any])


def option(default: Any, sentence: str, **bounds: Any) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Declare an option of an :class:`Options` model.

    Args:
        default: What holds when it is not given.
        sentence: What it does.
        **bounds: ``ge``, ``gt``, ``le``, ``lt``, as pydantic's ``Field`` takes them.
    """
    return Field(default, description=sentence, **bounds)


class Options(BaseModel):
    """Options that are checked once, when they are given, and never change.

    Raises:
        InvalidInputError: An option that does not exist, or a value that is not accepted; the message names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)  # it may be a key

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - each option says its own type
        plain = {name: value.item() if getattr(value, "shape", None) == () else value for name, value in given.items()}
        try:
            super().__init__(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()})
        except ValidationError as error:
            raise _refusal(type(self), given, error) from error

    def changed_from_default(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that do not have their default."""
        values = {name: getattr(self, name) for name in names}
        return {name: value for name, value in values.items() if value != type(self).model_fields[name].default}

    def values_of(self, model: type[Options]) -> dict[str, Any]:
        """Return those of the options that a model declares."""
        return {name: getattr(self, name) for name in model.model_fields}

    def or_else(self, **defaults: Any) -> Self:  # noqa: ANN401 - as above
        """Return the same options with other defaults: values for those that were not given."""
        return self.model_copy(
            update={name: value for name, value in defaults.items() if name not in self.model_fields_set}
        )


def takes(model: type[Options]) -> Callable[[Function], Function]:
    """Show the options of a model as keywords of a function that takes them as ``**options``.

    They are in its signature, and in its docstring before ``**options``.
    """

    def with_keywords(function: Function) -> Function:
        own, fields = inspect.signature(function), model.model_fields
        own_first = [name for each in model.__mro__ for name in vars(each).get("__annotations__", ())]
        added = {name: fields[name] for name in own_first if name in fields and name not in own.parameters}
        named = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info.default, annotation=info.annotation)
            for name, info in added.items()
        ]
        function.__signature__ = own.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined] # as inspect reads
        before, marked, after = (function.__doc__ or "").partition("        **options:")
        function.__doc__ = "".join([before, sentences_of(added), marked, after])
        return function

    return with_keywords


def sentences_of(fields: Mapping[str, FieldInfo]) -> str:
    """Return a section of a docstring that says what the options are."""
    return "".join(f"        {name}: {info.description}\n" for name, info in fields.items())


def unknown_option(name: str, known: Collection[str]) -> InvalidInputError:
    """Return the error for a name that is none of the options; it names the nearest one."""
    return InvalidInputError(f"there is no option {name!r}. {did_you_mean(name, known)}")


def _refusal(model: type[Options], given: Mapping[str, Any], error: ValidationError) -> InvalidInputError:
    """Return the error for the first option that pydantic refuses: names that do not exist before values."""
    errors = error.errors()
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    name = str(first["loc"][0])
    if name not in model.model_fields:
        return unknown_option(name, model.model_fields)
    if choices := literal_choices(model.model_fields[name].annotation):
        return InvalidInputError(f"{name} is {given[name]!r}. {did_you_mean(given[name], choices)}")
    messages = [each["msg"].removeprefix("Value error, ") for each in errors if each["loc"][0] == name]
    wanted = ", or ".join(dict.fromkeys(each.removeprefix("Input should be ") for each in messages))
    return InvalidInputError(f"{name} is {given[name]!r}; it should be {wanted}")


def literal_choices(annotation: object) -> tuple[str, ...]:
    """Return the texts that an option chooses among; none if it is open.

    >>> literal_choices(Literal["a", "b"] | None)
    ('a', 'b')
    """
    return tuple(
        choice
        for kind in kinds_of(annotation)
        if get_origin(kind) is Literal
        for choice in get_args(kind)
        if isinstance(choice, str)
    )


def kinds_of(annotation: object) -> tuple[object, ...]:
    """Return the types that a value may have, one by one, without their bounds.

    >>> kinds_of(Annotated[int, Field(ge=1)] | None) == (int, type(None))
    True
    """
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    return tuple(get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds)


Orders = Literal["given", "reversed", "both", "cyclic", "shuffled"]
FlowName = Literal["two_step", "one_step", "verdict_only"]
ScoringName = Literal["selected", "expected"]
Aggregation = str | Mapping[str, str] | None
IntervalMethod = Literal["auto", "exact", "t", "bootstrap", "anytime"]
NEEDS_ALL_DRAWS = (
    "every further draw changes a mean over draws, and draws left out because of what the others said bias it"
)
"""Why a mean over draws that could stop early is not given."""

CheckMode = Literal["batch", "item"]
ChecklistMetric = Literal["pass", "weighted", "normalized"]
Reduction = Literal["win_rate", "weighted_win_rate"]
Design = Literal["random", "by_verdict", "probabilities"]
"""How the rows that people labelled were chosen."""


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or not all(map(str.strip, names)) or len(set(names)) < len(names):
        raise ValueError("a list of at least one name, each once")
    return names


Columns = str | Annotated[tuple[str, ...], AfterValidator(_each_once)]
"""The name of a column, or several, each once."""


class Seeded(Options):
    """The seed of everything that is random."""

    seed: int = option(0, "Of everything that is random: samples, shuffles, designs, nonces, resampling.", ge=0)


class Grid(Seeded):
    """How often every question is put, and under which changed conditions.

    ``check_positional_bias`` draws each instance with its probability, so a small share of few rows may draw none. The
    orders ``both`` (given, then reversed) and ``cyclic`` (every rotation, so that every item stands in every place
    once) hold what is needed already.
    """

    orders: Orders = option("given", "``given``, ``reversed``, ``both``, ``cyclic`` or ``shuffled``.")
    check_positional_bias: bool | Annotated[float, Field(ge=0, le=1)] = option(
        True, "Show every instance in both orders (True), a seeded share of them such as 0.2, or none (False)."
    )
    samples: int = option(
        1, "Draws of each prompt. Odd numbers cannot tie; see ``temperature`` of the engine.", ge=1, le=10_000
    )
    shuffles: int = option(1, "How many permutations ``shuffled`` draws, without repetition.", ge=1)
    stop_early: bool = option(False, "Stop drawing once the outcome is settled (98.5 %); no spread then.")


class FlowOptions(Seeded):
    """How a judge is asked."""

    flow: FlowName = option("two_step", "``two_step`` (assess, then select), ``one_step`` or ``verdict_only``.")
    max_reasks: int = option(1, "How often a judge is asked again if a reply has no form of a verdict.", ge=0)
    generate_summaries: bool = option(False, "Ask for a summary of each assessment (one more call per vote).")
    include_prompts_in_result: bool = option(True, "Keep the prompts in the votes.")
    prompt: str | None = option(None, "The name of one of our prompts, or a text of your own, instead of the mode's.")


class RuleOptions(Options):
    """How the votes on a question become a verdict."""

    aggregation: Aggregation = option(None, "The panel rule, or scale -> rule; the scale's default when None.")
    on_position_bias: str | None = option(None, "If orders disagree: average, tie, abstain or first.")
    scoring: ScoringName = option(
        "selected",
        "``selected``: a vote counts its option's value; ``expected``: the mean value under the log-probabilities.",
    )
    min_mass: float = option(0.5, "The least share of replies that log-probabilities must cover.", ge=0, le=1)


class Limits(Options):
    """When a run stops, and how many failures it accepts.

    Replies in the journal are not calls. A vote that begins sets aside the calls that it is expected to need, and for
    ``max_cost`` what they are likely to cost, so that the calls go to whole votes; votes beyond are unscored with the
    reason ``budget``.
    """

    max_calls: int | None = option(None, "Replies to ask for at most; retries do not count.", ge=0)
    max_cost: float | None = option(
        None, "US dollars at most, by an upper bound of each call; an engine without a price is refused.", ge=0
    )
    max_failure_rate: float = option(0.2, "The share of votes that may fail before a run fails.", ge=0, le=1)
    offline: bool = option(False, "Send nothing; answer from the journal (``EVENHAND_OFFLINE=1`` for every run).")
    progress: bool = option(True, "Show a progress bar.")


class IntervalOptions(Options):
    """How intervals are made, and which rows belong together."""

    level: float = option(0.95, "Of the intervals.", ge=0.5, lt=1)
    interval: IntervalMethod = option(
        "auto", "How means and rates get intervals; see :func:`~evenhand.statistics.ratio_intervals`."
    )
    cluster_field: str | Literal[False] | None = option(
        None,
        "The column whose equal values mark rows that belong together; False if rows are independent, None to warn.",
    )

    @model_validator(mode="after")
    def _takes_clusters(self) -> Self:
        if self.interval == "exact" and isinstance(self.cluster_field, str):
            raise InvalidInputError(
                "interval is 'exact', which counts rows that do not depend on each other, and cluster_field says that "
                "rows belong together: give another interval, or leave out cluster_field"
            )
        return self


class GroupOptions(Options):
    """The groups of rows by which a result can be split."""

    group_fields: Columns | None = option(None, "Columns whose values group the rows, for ``by``.")


class GoldOptions(Options):
    """Labels of people for some instances, by which the scores of a recipe are corrected."""

    gold_field: str | None = option(
        None,
        "The field with a person's label or number, or a mapping of names to labels; adds ``<main>_corrected``.",
    )
    gold_design: Design | None = option(None, "How the labelled instances were chosen.")
    gold_probability_field: str | None = option(None, "With ``probabilities``: that of being drawn.")


def _stop_early_refusal(what: str) -> InvalidInputError:
    return InvalidInputError(f"stop_early does not go with {what}: {NEEDS_ALL_DRAWS}; drop one of the two")


class RunOptions(Grid, FlowOptions, RuleOptions, Limits, IntervalOptions, GroupOptions):
    """How a run judges: every option that all modes share, with its default.

    Keyword arguments, metric fields, the options of the shell, and what a result says of how it was made are read
    from this class.
    """

    model: str | None = option(None, "The model of the server whose address ``engine`` is.")
    batch: bool | None = option(None, "Use the provider's batch interface: half the price, replies within a day.")
    data_classification: Columns | None = option(
        None, "The classes of all data, such as ``pii``, in addition to a row's ``data_classification_policy``."
    )
    judge_weights: tuple[float, ...] | None = option(None, "One positive weight per judge, in the order of the panel.")
    journal: str | Path | None = option("default", '``"default"``, the path of a journal file, or None for no journal.')

    @model_validator(mode="after")
    def _check_run(self) -> Self:
        if self.stop_early and self.scoring == "expected":
            raise _stop_early_refusal("scoring='expected'")
        path = None if self.journal in {None, "default"} else str(self.journal)
        if path is not None and ("\0" in path or os.path.isdir(expanded(path))):  # noqa: PTH112 - it may be too long
            raise InvalidInputError(f"journal is {str(self.journal)!r}, which is not the path of a file; name a file")
        return self


RESAMPLES = option(1000, "Draws for the intervals of kappa and alpha.", ge=1)
SAMPLE_FIELD = option(None, "Of recorded votes: the column that numbers the draws of a judge, from 0 (``sample``).")
SWAPPED_FIELD = option(None, "Of recorded votes: true where the order shown was the other one (``swapped``).")


class RecordedOptions(IntervalOptions, GroupOptions, Seeded):
    """How recorded votes become numbers: the intervals, their resamples and seed, and groups of rows."""

    resamples: int = RESAMPLES


class VoterFields(Options):
    """The columns that say who voted, and on the response of which system."""

    judge_field: str | None = option(
        None, "Of recorded votes: the column that names the judge (``judge``); else every column is one."
    )
    systems_field: str | None = option(None, "Long data, recorded votes: the column with the system (``system``).")


class VoteFields(VoterFields):
    """The columns of recorded votes, one vote per row; a column of the usual name need not be named.

    Each mode has those that name its questions: a comparison the two systems, an answer the item.
    """

    sample_field: str | None = SAMPLE_FIELD
    first_field: str | None = option(None, "Of recorded comparisons: the system shown first (``first``).")
    second_field: str | None = option(None, "Of recorded comparisons: the second system (``second``).")
    swapped_field: str | None = SWAPPED_FIELD
    item_field: str | None = option(None, "Of recorded answers: the column that names the item (``item``).")


AS_INDEX = option(False, "Labels that are numbers are places of options, 0 for the first (default: values of options).")


class GuidelineOptions(Options):
    """The instructions for judges."""

    guidelines: str = option("", "Instructions for the judge, in addition to the criteria.")


class AssessmentOptions(GuidelineOptions, RunOptions):
    """How responses are assessed by criteria or a rubric.

    Those from ``calls`` on are for a rubric, which has defaults of its own: ``flow="one_step"``, since it asks many
    questions a response, and ``check_positional_bias=False`` with ``orders="shuffled"``.
    """

    examples: Any = option(
        None,
        "Labelled rows, or a file of them: each question is shown some first, balanced, seeded, never its own.",
    )
    num_examples: int | None = option(None, "Cases that each question is shown; by default one per label.", ge=1)
    label_fields: Mapping[str, str] | None = option(
        None, "Criterion name -> column of ``examples`` with the label; by default as in ``gold_fields``, or its name."
    )
    as_index: bool = AS_INDEX
    auto_na_option: bool | None = option(None, "Offer NA with each criterion (the default for a rubric).")
    calls: Literal["per_criterion", "per_item"] = option(
        "per_criterion", "``per_criterion``: a call for each criterion; ``per_item``: one reply for the whole rubric."
    )
    na_strategy: str | None = option(
        None, "Instead of the rubric's, for criteria that do not apply: ``skip``, ``zero``, ``partial`` or ``fail``."
    )
    na_partial: float | None = option(None, "The value of ``partial``, instead of that in the rubric.")
    length_penalty: Any = option(None, "What a response that is too long loses: a ``LengthPenalty``, or its fields.")

    @model_validator(mode="after")
    def _fits_its_examples(self) -> Self:
        if self.calls == "per_item" and (self.generate_summaries or self.examples is not None):
            raise InvalidInputError(
                "calls='per_item' brings one reply for all criteria, without summaries or examples: drop "
                "generate_summaries and examples, or use calls='per_criterion'"
            )
        if self.num_examples is not None and self.examples is None:
            raise InvalidInputError(f"num_examples is {self.num_examples}, and there are no examples: give examples")
        return self


class ChecklistOptions(RunOptions):
    """How a checklist is put to judges.

    ``check_positional_bias`` is False by default; ``flow``, ``scoring`` and ``generate_summaries`` do not belong to a
    checklist, and are refused. ``orders="shuffled"`` shows the items of a call in a random order for each instance.
    """

    mode: CheckMode = option("batch", "``batch``: one call answers all items; ``item``: one call per item.")
    primary_metric: ChecklistMetric = option(
        "pass", "``pass`` (share of yes), ``weighted`` (by weights) or ``normalized`` (mean probability of yes)."
    )
    capture_reasoning: bool = option(False, "Ask for a sentence of reasons before each answer.")
    use_logprobs: bool | None = option(None, "Ask for log-probabilities; by default where they are needed.")
    allow_na: bool | None = option(None, "Offer N/A with every item or with none; by default as the items say.")

    @model_validator(mode="after")
    def _takes_its_metric(self) -> Self:
        if self.stop_early and self.primary_metric == "normalized":
            raise _stop_early_refusal("primary_metric='normalized'")
        if self.primary_metric == "normalized" and self.use_logprobs is False:
            raise InvalidInputError(
                "primary_metric='normalized' is the mean probability of yes, and use_logprobs=False asks for none: "
                "leave use_logprobs out, or take primary_metric='pass'"
            )
        for name, value in self.changed_from_default("flow", "scoring", "generate_summaries").items():
            raise InvalidInputError(
                f"{name}={value!r} does not belong to a checklist: mode, capture_reasoning and primary_metric say how "
                "it is asked and scored"
            )
        return self


class ContestOptions(RunOptions):
    """How two responses are compared."""

    allow_ties: bool = option(False, "Offer the judge a tie; the graded scale always does.")
    scale: Literal["choice", "graded"] = option("choice", "``choice`` or ``graded`` (five levels).")


class PairwiseOptions(ContestOptions):
    """How the responses of systems are compared."""

    design: str = option(
        "all", "Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs a prompt>`` or ``swiss:<rounds>``."
    )
    reduction: Reduction = option("win_rate", "``win_rate``, or, with the graded scale, ``weighted_win_rate``.")


ContextFields = str | tuple[str, ...] | Mapping[str, str] | None
Weights = Mapping[str, float] | tuple[float, ...] | None
CRITERIA = option(None, "Criteria or one rubric: catalog ids, JSON or YAML files, or plain sentences (yes or no).")
CRITERION = option(None, "The criterion: a catalog id, a JSON or YAML file, or a plain sentence.")
SYSTEMS = option(None, "Of long data or recorded votes: which systems, in which order; all by default.")


class RowArguments(Options):
    """The arguments of every function that say which rows a data set has, and how they are named."""

    id_field: str | None = option(None, "The column with each row's id; rows with one id are about one instance.")
    split: str | None = option(None, "The split of a ``DatasetDict``, or of a saved Hugging Face data set.")


class AskingArguments(RowArguments):
    """The arguments of every function that asks judges."""

    engine: Any = option(None, "The judges: models (``openai/gpt-4.1-mini``), servers' addresses or catalog ids.")
    context_fields: ContextFields = option(
        None, "Columns that the judge is shown too, or name shown -> column; by default those that the criterion names."
    )
    reference_field: str | None = option(None, "The column with a known good answer; ``reference`` when there is one.")
    dry_run: bool = option(False, "Return the estimated calls, tokens and cost, without a call.")


class VoteArguments(VoteFields):
    """The arguments of every function that also takes recorded votes."""

    votes: Any = option(
        None,
        "Recorded votes instead of a judge: their columns, or without ``data`` rows with a column ``vote``.",
    )


class RunArguments(AskingArguments, RunOptions):
    """The arguments of every function over rows, which may be judged part by part, to save memory."""

    stream_to: str | Path | None = option(
        None, "A folder for results, part by part (.parquet); the same run goes on after the parts that exist."
    )
    part_rows: int | None = option(None, "With ``stream_to``: the rows of a part, by default about 4,000 votes.", ge=1)


class ResponseArguments(GuidelineOptions, RunArguments):
    """The arguments of the functions that read a response of each system from a column of its name."""

    response_fields: Columns = option("response", "The column with the responses; several columns are several systems.")


class JudgeArguments(ResponseArguments, AssessmentOptions):
    """The arguments of :func:`evenhand.judge`."""

    criteria: Any = CRITERIA
    gold_fields: str | Mapping[str, str] | None = option(
        None, "Criterion name -> column with a person's label; ``{system}`` stands for the system."
    )
    rubric_field: str | None = option(None, "The column with each row's own rubric, or its id.")


class ChecklistArguments(ResponseArguments, VoteArguments, ChecklistOptions):
    """The arguments of :func:`evenhand.checklist`."""

    checklist: Any = option(None, "The checklist: a catalog id, or a YAML or JSON file.")
    checklist_field: str | None = option(None, "The column with each row's own checklist, or its id.")
    gold_fields: str | Mapping[str, str] | None = option(
        None, "Item name -> column with a person's answer, or one column with all; ``{system}`` stands for the system."
    )


class WinratesArguments(RunArguments, VoteArguments, PairwiseOptions):
    """The arguments of :func:`evenhand.winrates`."""

    criteria: Any = CRITERION
    response_fields: Columns | None = option(None, "Wide data: one column per system. Long data: one column.")
    systems: tuple[str, ...] | None = SYSTEMS
    id_field: str | None = option(None, "The column that names the prompt, which long data must have.")
    gold_fields: str | None = option(
        None,
        "Wide data: the column with the preferred system or ``tie`` of ``{first}`` and ``{second}``.",
    )
    stop: Literal["decided"] | None = option(
        None,
        "``decided``: ask until it is decided which system is better (wrongly in 1 - ``level`` of the cases at most).",
    )

    @model_validator(mode="after")
    def _holds_at_any_time(self) -> Self:
        if self.stop is not None and self.interval not in {"auto", "anytime"}:
            raise InvalidInputError(
                f"interval is {self.interval!r}, which holds for a sample of a fixed size, and stop='decided' "
                "makes its size depend on the results: leave it out, or give interval='anytime'"
            )
        return self


class GradeScoresArguments(RunArguments):
    """The arguments of :func:`evenhand.grade_scores`."""

    criteria: Any = CRITERION
    response_fields: str | tuple[str, ...] | None = option(
        None, "The column with each row's list of candidates, or one column per candidate."
    )
    prompts: str | tuple[str, ...] = option(
        ("evaluate_first",),
        "``select``, ``evaluate_first``, ``avoid_order_bias``, ``grade``, several of them, or ``all``.",
    )
    unrelated_option: bool = option(False, "Ask a second time, with a candidate of another row among the candidates.")


class RunModeArguments(ResponseArguments):
    """The arguments of :func:`evenhand.run_mode`."""

    mode: Any = option(None, "The kind of a mode, or in Python a class of your own.")
    mode_options: Mapping[str, Any] | None = option(None, "The mode's own options.")
    criteria: Any = option(None, "The criterion, where the mode takes one.")


class ReliabilityArguments(AskingArguments, VoteArguments, ContestOptions):
    """The arguments of :func:`evenhand.reliability`."""

    criteria: Any = CRITERIA
    response_fields: str | tuple[str, ...] | None = option(
        None, "The columns with the responses; two or more for pairs."
    )
    systems: tuple[str, ...] | None = SYSTEMS
    gold_fields: str | Mapping[str, str] | None = option(
        None,
        "Criterion name -> column with a person's label or preferred system (``{system}``, ``{first}``, ``{second}``).",
    )
    as_index: bool = AS_INDEX
    confidences: bool = option(False, "Measure whether log-probabilities are calibrated; needs labels.")
    resamples: int = RESAMPLES


class RecordedArguments(RowArguments, RecordedOptions):
    """The arguments of every function of recorded votes."""

    criteria: Any = option(None, "The criterion of the options: a catalog id, a JSON or YAML file, or a sentence.")
    as_index: bool = AS_INDEX


class VerdictArguments(VoterFields, RecordedArguments):
    """The arguments of every function that reduces recorded votes to verdicts."""

    rule: str | None = option(None, "The rule of the panel; by default that of the scale.")
    weights: Weights = option(None, "One weight per judge, or judge -> weight; for weighted rules.")
    gold_fields: str | None = option(None, "The column with the label that a person gave.")


class AggregateVotesArguments(VerdictArguments):
    """The arguments of :func:`evenhand.aggregate_votes`."""

    votes: Any = option(None, "The columns with the votes, one per judge; or one whose cells are lists or mappings.")
    sample_field: str | None = SAMPLE_FIELD


class ReadRepliesArguments(VerdictArguments):
    """The arguments of :func:`evenhand.read_replies`."""

    replies: Any = option(None, "The columns with the texts of the replies, one per judge.")
    swapped_field: str | None = SWAPPED_FIELD
    finish_reason_field: str | None = option(None, "The column with the finish reason: ``length`` is cut off.")
    pattern: str | None = option(None, "A regular expression with one group around the label; None for the four forms.")


class AgreementArguments(RecordedArguments):
    """The arguments of :func:`evenhand.agreement`."""

    votes: Any = option(None, "The columns with the judges' votes, or one whose cells are lists or mappings.")
    gold_fields: str | tuple[str, ...] | None = option(None, "The columns with the labels of people.")


class PlanOptions(Options):
    """What a plan is for, and what is assumed where there is no pilot."""

    half_width: float | None = option(None, "That the interval of a score shall have.", gt=0, allow_inf_nan=False)
    difference: float | None = option(None, "Of two systems, that the test shall find.", gt=0, allow_inf_nan=False)
    rows: int | None = option(None, "Say what this number of judged rows shows, instead of planning it.", ge=2)
    labels: int | None = option(None, "Rows, drawn at random, that people label; planned by default.", ge=2)
    systems: int | None = option(None, "How many are compared; 2 where a difference is asked for, else 1.", ge=1)
    mean: float = option(0.5, "Of yes/no scores; 0.5 takes the most rows.", gt=0, lt=1)
    sd: float | None = option(None, "Of scores from 0 to 1; without it they are yes/no.", gt=0, le=0.5)
    correlation: float = option(0.5, "Of the scores of two systems on the same rows.", ge=-1, lt=1)
    judge_correlation: float | None = option(None, "Of the judge's scores with people's: plans labels.", gt=0, lt=1)
    power: float = option(0.8, "How often the test shall find the difference.", gt=0, lt=1)
    level: float = option(0.95, "Of intervals; tests reject at p-values below 1 less this.", ge=0.5, lt=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.half_width is None and self.difference is None and self.rows is None:
            raise InvalidInputError("nothing is asked: give half_width=0.05, difference=0.05, or rows=300")
        if self.labels is not None and self.labels > (self.rows or (self.half_width and math.inf) or 0):
            raise InvalidInputError(f"labels is {self.labels!r}; give half_width too, or that number of rows or more")
        if self.sd is not None and "mean" in self.model_fields_set:
            raise InvalidInputError("mean is of yes/no scores, and sd of others: give one of them")
        return self

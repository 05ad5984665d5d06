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
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic.fields import FieldInfo

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import expanded

Function = TypeVar("Function", bound=Callable[..., Any])


def option(default: Any, sentence: str, *, accepted: str = "", **bounds: Any) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Declare an option of an :class:`Options` model.

    Args:
        default: What holds when it is not given.
        sentence: What it does.
        accepted: What a refusal says is accepted, where the type and bounds do not say it well enough.
        **bounds: ``ge``, ``gt``, ``le``, ``lt``, as pydantic's ``Field`` takes them.
    """
    return Field(
        default, description=sentence, json_schema_extra={"accepted": accepted} if accepted else None, **bounds
    )


class Options(BaseModel):
    """Options that are checked once, when they are given, and never change.

    Raises:
        InvalidInputError: An option that does not exist, or a value that is not accepted; the message names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)  # it may be a key

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - each option says its own type
        numpy = sys.modules.get("numpy")  # where it was not imported, nothing is of its kinds
        scalar: Any = () if numpy is None else numpy.generic
        plain = {name: value.item() if isinstance(value, scalar) else value for name, value in given.items()}
        try:
            super().__init__(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()})
        except ValidationError as error:
            raise _refused(type(self), given, error) from error

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """List the options in the docstring of their class."""
        cls.__doc__ = with_attributes(cls.__doc__, cls)

    @classmethod
    def of_call(cls, given: Mapping[str, Any], others: Iterable[str]) -> Self:
        """Check the further keywords of a function, which shows them by :func:`takes`.

        Args:
            given: The keywords.
            others: The function's other arguments, with which a mistyped name is compared too.

        Raises:
            InvalidInputError: The same as above.
        """
        for name in given:
            if name not in cls.model_fields:
                raise unknown_option(name, list(dict.fromkeys([*others, *cls.keywords()])))
        return cls(**given)

    @classmethod
    def declared(cls) -> list[str]:
        """Return the options that the class declares itself, or by the arguments that it shares with other classes."""
        models = [cls, *(each for each in SHARED_ARGUMENTS if issubclass(cls, each))]
        return list(dict.fromkeys(name for each in models for name in each.__annotations__ if name in cls.model_fields))

    @classmethod
    def keywords(cls) -> dict[str, FieldInfo]:
        """Name -> option: those of :meth:`declared` come first."""
        return {name: cls.model_fields[name] for name in dict.fromkeys([*cls.declared(), *cls.model_fields])}

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

    They are in its signature, and those that the model itself declares in its docstring, before ``**options``.
    """

    def with_keywords(function: Function) -> Function:
        own = inspect.signature(function)
        named = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info.default, annotation=info.annotation)
            for name, info in model.keywords().items()
            if name not in own.parameters
        ]
        function.__signature__ = own.replace(parameters=[*named, *keywords])  # type: ignore[attr-defined] # as inspect reads
        before, marked, after = (function.__doc__ or "").partition("        **options:")
        declared = [name for name in model.declared() if name not in own.parameters] if marked else []
        sentences = [f"        {name}: {model.model_fields[name].description}\n" for name in declared]
        function.__doc__ = "".join([before, *sentences, marked, after])
        return function

    return with_keywords


def unknown_option(name: str, known: Collection[str]) -> InvalidInputError:
    """Return the error for a name that is none of the options; it names the nearest one."""
    return InvalidInputError(f"there is no option {name!r}. {did_you_mean(name, known)}")


def _refused(model: type[Options], given: Mapping[str, Any], error: ValidationError) -> InvalidInputError:
    """Return the first of pydantic's errors in our words: names that do not exist before values."""
    errors = error.errors()
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    name = str(first["loc"][0])
    info = model.model_fields.get(name)
    if info is None:
        return unknown_option(name, model.model_fields)
    return InvalidInputError(refusal(name, given[name], info))


def with_attributes(text: str | None, options: type[Options], left_out: Collection[str] = ()) -> str:
    """Return a docstring with a list of what the options are, but for those that are left out."""
    own, _, listed = (text or "").rstrip().partition("\n\n    Attributes:\n")
    sentences = [
        f"        {name}: {info.description}" for name, info in options.model_fields.items() if name not in left_out
    ]
    return "\n".join([own, "", "    Attributes:", *([listed] if listed else []), *sentences, ""])


def refusal(name: str, value: object, info: FieldInfo) -> str:
    """Say why a value is not a value of an option, and what is."""
    extra = info.json_schema_extra
    accepted = extra.get("accepted") if isinstance(extra, Mapping) else None
    choices = literal_choices(info.annotation)
    if accepted is None and choices:
        return f"{name} is {value!r}. {did_you_mean(value, choices)}"
    if accepted is None and name.endswith("_field") and {*kinds_of(info.annotation)} == {str, NoneType}:
        accepted = "the name of a column, or None"
    return f"{name} is {value!r}; give {accepted or _accepted(info)}"


def literal_choices(annotation: object) -> tuple[str, ...]:
    """Return the texts that an option chooses among; none if it is open.

    >>> literal_choices(Literal["a", "b"] | None)
    ('a', 'b')
    """
    if get_origin(annotation) is Literal:
        return tuple(choice for choice in get_args(annotation) if isinstance(choice, str))
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else ()
    return tuple(choice for kind in kinds for choice in literal_choices(kind))


def kinds_of(annotation: object) -> tuple[object, ...]:
    """Return the types that a value may have, one by one, without their bounds.

    >>> kinds_of(Annotated[int, Field(ge=1)] | None) == (int, NoneType)
    True
    """
    kinds = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    return tuple(get_args(kind)[0] if get_origin(kind) is Annotated else kind for kind in kinds)


_NAMED: Mapping[object, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "None",
}


def _accepted(info: FieldInfo) -> str:
    kinds = kinds_of(info.annotation)
    names = [_NAMED[kind] for kind in kinds if kind in _NAMED]
    names += [f"a list, {_NAMED[get_args(kind)[0]]} each" for kind in kinds if get_origin(kind) is tuple]
    least, most = (
        next((getattr(each, end) for each in info.metadata if hasattr(each, end)), None) for end in ("ge", "le")
    )
    if least is not None:
        names[0] += f" of at least {least}" if most is None else f" between {least} and {most}"
    return ", or ".join(names)


Orders = Literal["given", "reversed", "both", "cyclic", "shuffled"]
FlowName = Literal["two_step", "one_step", "verdict_only"]
ScoringName = Literal["selected", "expected"]
Aggregation = str | Mapping[str, str] | None
IntervalMethod = Literal["auto", "exact", "t", "bootstrap", "anytime"]
INTERVALS: tuple[str, ...] = get_args(IntervalMethod)
FOR_INDEPENDENT_ROWS = ("exact",)
"""The methods that count rows, and so take no clusters."""

NEEDS_ALL_DRAWS = (
    "every further draw changes a mean over draws, and draws left out because of what the others said bias it"
)
"""Why a mean over draws that could stop early is not given."""

CheckMode = Literal["batch", "item"]
ChecklistMetric = Literal["pass", "weighted", "normalized"]
Reduction = Literal["win_rate", "weighted_win_rate"]
Scorer = Literal["batch", "item", "weighted", "normalized", "rlcf", "rocketeval"]
SCORERS: Mapping[Scorer, Mapping[str, Any]] = {
    "batch": {"mode": "batch", "primary_metric": "pass"},
    "item": {"mode": "item", "primary_metric": "pass", "capture_reasoning": True},
    "weighted": {"mode": "item", "primary_metric": "weighted"},
    "normalized": {"mode": "item", "primary_metric": "normalized"},
    "rlcf": {"mode": "item", "primary_metric": "weighted"},
    "rocketeval": {"mode": "item", "primary_metric": "normalized"},
}
"""The scorers of autochecklist (https://pypi.org/project/autochecklist) by their names, as options of a checklist."""


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or "" in names or len(set(names)) < len(names):
        raise ValueError
    return names


def _weights(weights: tuple[float, ...]) -> tuple[float, ...]:
    if not all(0 <= weight < math.inf for weight in weights):
        raise ValueError
    return weights


Column = Annotated[str, Field(min_length=1)]
Columns = Column | Annotated[tuple[str, ...], AfterValidator(_each_once)]
"""The name of a column, or several, each once."""


class Seeded(Options):
    """The seed of everything that is random."""

    seed: int = option(0, "Of everything that is random: samples, shuffles, designs, nonces, resampling.", ge=0)


class Grid(Seeded):
    """How often every question is put, and under which changed conditions.

    ``check_positional_bias`` draws each instance with its probability, at least one. The orders ``both`` (given, then
    reversed) and ``cyclic`` (every rotation, so that every item stands in every place once) hold what is needed
    already.
    """

    orders: Orders = option("given", "``given``, ``reversed``, ``both``, ``cyclic`` or ``shuffled``.")
    check_positional_bias: bool | Annotated[float, Field(ge=0, le=1)] = option(
        True,
        "Show every instance in both orders (True), a seeded share of them such as 0.2, or none (False).",
        accepted="True, False, or a share between 0 and 1",
    )
    samples: int = option(1, "Draws of each prompt. Odd numbers cannot tie; see ``temperature`` of the engine.", ge=1)
    shuffles: int = option(1, "How many permutations ``shuffled`` draws, without repetition.", ge=1)
    stop_early: bool = option(
        False,
        "Stop drawing once all draws would lead to the same outcome, for certain or with a probability of 98.5 %. What "
        "needs all draws (spread, confidences, expected values) is missing then.",
    )


class FlowOptions(Seeded):
    """How a judge is asked."""

    flow: FlowName = option(
        "two_step", "``two_step`` (assessment, then selection), ``one_step`` (half the calls) or ``verdict_only``."
    )
    max_reasks: int = option(1, "How often a judge is asked again if a reply has no form of a verdict.", ge=0)
    generate_summaries: bool = option(False, "Ask for a summary of each assessment (one more call per vote).")
    include_prompts_in_result: bool = option(True, "Keep the prompts in the votes.")
    prompt: str | None = option(
        None,
        "The name of one of our prompts, or a text of your own, instead of the mode's.",
        accepted="the name of a prompt, the text of one, or None",
    )


class RuleOptions(Options):
    """How the votes on a question become a verdict."""

    aggregation: Aggregation = option(
        None,
        "The rule of the panel, or scale -> rule; the scale's default when None.",
        accepted="the name of a rule, a mapping such as {'binary': 'majority', 'ordinal': 'median'}, or None for the "
        "scale's default",
    )
    on_position_bias: str | None = option(
        None, "If orders disagree: average, tie, abstain or first; the scale's default when None."
    )
    scoring: ScoringName = option(
        "selected",
        "``selected``: a vote counts the value of its option; ``expected``: the mean value of the options under the "
        "log-probabilities of the verdict.",
    )
    min_mass: float = option(
        0.5, "Log-probabilities that cover less than this share of the replies are not used.", ge=0, le=1
    )


class Limits(Options):
    """When a run stops, and how many failures it accepts.

    Replies in the journal are not calls. A vote that begins sets aside the calls that it is expected to need, and for
    ``max_cost`` what they are likely to cost, so that the calls go to whole votes; votes beyond are unscored with the
    reason ``budget``.
    """

    max_calls: int | None = option(
        None,
        "Replies to ask for at most; a request that is sent again for the same reply counts once.",
        ge=0,
        accepted="a whole number, or None for no limit",
    )
    max_cost: float | None = option(
        None,
        "US dollars at most: a call is sent only if the most that it can cost fits, by its prompt, ``max_tokens`` and "
        "prices. An engine without a price is refused: set ``prompt_price`` and ``completion_price`` (US dollars per "
        "million tokens).",
        ge=0,
        accepted="a number of US dollars, or None for no limit",
    )
    max_failure_rate: float = option(
        0.2, "The share of votes that may fail (reason ``engine_error``) before the run ends in an error.", ge=0, le=1
    )
    offline: bool = option(
        False,
        "Send nothing: answer from the journal, and leave other votes unscored (``offline``). ``EVENHAND_OFFLINE=1`` "
        "sets it for every run.",
    )
    progress: bool = option(True, "Show a progress bar.")


class IntervalOptions(Options):
    """How intervals are made, and which rows belong together."""

    level: float = option(
        0.95, "Of the intervals.", ge=0.5, lt=1, accepted="a number such as 0.95: a confidence level lies in [0.5, 1)"
    )
    interval: IntervalMethod = option(
        "auto",
        "How intervals of means and rates are made: ``auto``, ``exact``, ``t``, ``bootstrap`` or ``anytime``; see "
        ":func:`~evenhand.statistics.ratio_intervals`.",
    )
    cluster_field: Column | Literal[False] | None = option(
        None,
        "The column whose equal values mark rows that belong together (a document, a conversation, a user); intervals "
        "and tests are over these clusters. False: the rows are independent. None: the same, with a warning if a "
        "column of the data plainly repeats.",
        accepted="the column whose equal values mark rows that belong together, or False where rows do not depend on "
        "each other",
    )

    @model_validator(mode="after")
    def _takes_clusters(self) -> Self:
        if isinstance(self.cluster_field, str):
            check_takes_clusters(self.interval, clustered=True)
        return self


class GroupOptions(Options):
    """The groups of rows by which a result can be split."""

    group_fields: Columns | None = option(
        None,
        "The columns whose values group the rows, such as a topic or a language, for ``by`` of the result.",
        accepted="the name of a column, several, or None",
    )


Design = Literal["random", "by_verdict", "probabilities"]
"""How the rows that people labelled were chosen."""


class GoldOptions(Options):
    """Labels of people for some instances, by which the scores of a recipe are corrected."""

    gold_field: str | None = option(
        None,
        "The task data field with the label or number that a person gave, None without one; of a rubric or checklist a "
        "mapping of names to labels; of one criterion also the labels of several people. It adds ``<main>_corrected``: "
        "see :func:`evenhand.correct`.",
        accepted="the name of a field, or None",
    )
    gold_design: Design | None = option(
        None, "How the labelled instances were chosen: ``random``, ``by_verdict`` or ``probabilities``."
    )
    gold_probability_field: str | None = option(
        None,
        "With ``probabilities``: the field with the probability of being drawn.",
        accepted="the name of a field, or None",
    )


def check_takes_clusters(method: str, *, clustered: bool) -> None:
    """Check that intervals by a method can be over clusters, where there are some.

    Raises:
        InvalidInputError: If they cannot.
    """
    if clustered and method in FOR_INDEPENDENT_ROWS:
        accepted = [each for each in INTERVALS if each not in FOR_INDEPENDENT_ROWS]
        raise InvalidInputError(
            f"interval is {method!r}, which counts rows that do not depend on each other, and cluster_field says that "
            f"rows belong together; accepted with clusters: {accepted!r}"
        )


class RunOptions(Grid, FlowOptions, RuleOptions, Limits, IntervalOptions, GroupOptions):
    """How a run judges: every option that all modes share, with its default.

    Keyword arguments, metric fields, the options of the shell, and what a result says of how it came about are read
    from this class.
    """

    model: str | None = option(
        None,
        "The model of the server whose address ``engine`` is; or write ``http://localhost:8000/v1[model=…]``.",
        accepted="the name of a model, or None where the engine has its own",
    )
    batch: bool | None = option(
        None,
        "Use the provider's batch interface: half the price, replies within a day, ``flow='one_step'`` by default.",
        accepted="True, False, or None to leave it to each engine",
    )
    data_classification: str | tuple[str, ...] | None = option(
        None,
        "The class of all data, such as ``pii``, or several of which an engine must allow one; in addition to the "
        "column ``data_classification_policy`` of a row.",
        accepted="a class of data such as 'pii', a list of classes of which an engine must allow one, or None",
    )
    judge_weights: Annotated[tuple[float, ...], AfterValidator(_weights)] | None = option(
        None,
        "One positive weight per judge, in the order of the panel.",
        accepted="a list with one positive number per judge, or None",
    )
    journal: str | Path | None = option(
        "default",
        '``"default"``, the path of a journal file, or None for no journal.',
        accepted="'default', a path, or None for no journal",
    )

    @field_validator("data_classification")
    @classmethod
    def _names_classes(cls, classes: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        named = (classes,) if isinstance(classes, str) else classes
        if named is not None and not (named and all(each.strip() for each in named)):
            raise ValueError
        return classes

    @field_validator("journal")
    @classmethod
    def _names_a_file(cls, journal: str | Path | None) -> str | Path | None:
        if journal in {None, "default"}:
            return journal
        if not str(journal).strip() or "\0" in str(journal):
            raise ValueError
        try:
            folder = expanded(str(journal)).is_dir()
        except OSError as error:
            raise InvalidInputError(f"journal is {str(journal)!r}, which names no file ({error.strerror})") from error
        if folder:
            raise InvalidInputError(f"journal is {str(journal)!r}, which is a folder; name a file in it")
        return journal

    @model_validator(mode="after")
    def _takes_all_draws(self) -> Self:
        if self.scoring == "expected" and self.stop_early:
            raise InvalidInputError(
                f"stop_early does not go with scoring='expected': {NEEDS_ALL_DRAWS}; drop one of the two"
            )
        return self


class StreamOptions(Options):
    """How a data set is judged part by part, to save memory."""

    stream_to: str | Path | None = option(
        None,
        "A folder: rows are read and judged block by block, and written there as parts (.parquet). The same run again "
        "continues after the parts that exist.",
        accepted="the path of a folder, or None",
    )
    part_rows: int | None = option(
        None,
        "With ``stream_to``: the rows of a part; by default those of about 4,000 votes.",
        ge=1,
        accepted="a whole number of at least 1, or None for the default",
    )

    @field_validator("stream_to")
    @classmethod
    def _names_a_folder(cls, folder: str | Path | None) -> str | Path | None:
        if folder is not None and (not str(folder).strip() or "\0" in str(folder)):
            raise ValueError
        return folder

    @model_validator(mode="after")
    def _has_parts(self) -> Self:
        if self.part_rows is not None and self.stream_to is None:
            raise InvalidInputError(
                f"part_rows is {self.part_rows!r}, the rows of a part of what stream_to writes, and there is no "
                "stream_to: give a folder, or leave it out"
            )
        return self


RESAMPLES = option(1000, "Draws for the intervals of kappa and alpha.", ge=1, accepted="a whole number from 1")


class RecordedOptions(IntervalOptions, GroupOptions, Seeded):
    """How recorded votes become numbers: the intervals, their resamples and seed, and groups of rows."""

    resamples: int = RESAMPLES


class VoteFields(Options):
    """The columns of recorded votes, one vote per row; a column of the usual name need not be named.

    Each mode has those that name its questions: a comparison the two systems, an answer the item.
    """

    judge_field: str | None = option(
        None,
        "Of recorded votes: the column that names the judge (``judge``). Without one every column of votes is a judge.",
    )
    sample_field: str | None = option(
        None, "Of recorded votes: the column that numbers the draws of a judge, from 0 (``sample``)."
    )
    systems_field: str | None = option(
        None, "Long data, and recorded votes on responses: the column that names the system (``system``)."
    )
    first_field: str | None = option(
        None, "Of recorded comparisons: the column that names the first system, which was shown first (``first``)."
    )
    second_field: str | None = option(
        None, "Of recorded comparisons: the column that names the second system (``second``)."
    )
    swapped_field: str | None = option(
        None,
        "Of recorded votes: the column that is true where the second system was shown first, or the options in the "
        "reversed order (``swapped``); an empty cell of a comparison: the order is not known.",
    )
    item_field: str | None = option(
        None,
        "Of recorded answers: the column that names the item (``item``).",
    )


class ExampleOptions(Options):
    """Labelled cases that a judge is shown before its own."""

    examples: Any = option(
        None,
        "Labelled rows (or the path of a file with them) from which each question draws cases that are shown first: "
        "balanced over the labels, seeded, never the row itself. They have the response columns (or ``response``), the "
        "context columns and the labels.",
    )
    num_examples: int | None = option(
        None,
        "How many cases each question is shown; one of each label in the rows by default.",
        ge=1,
        accepted="a whole number of at least 1, or None for one of each label",
    )
    label_fields: Mapping[str, str] | None = option(
        None,
        "Criterion name -> column of ``examples`` with the label; ``{system}`` stands for the system. Without it the "
        "column that ``gold_fields`` names, or else the one that is called like the criterion.",
        accepted="a mapping from the name of a criterion to a column, or None",
    )
    as_index: bool = option(
        False,
        "Labels in ``gold_fields`` and ``label_fields`` that are numbers are places of options, 0 for the first "
        "(default: values of options; :mod:`evenhand.data.cells` says how labels are read).",
    )

    @model_validator(mode="after")
    def _has_examples(self) -> Self:
        none = self.examples is None or (isinstance(self.examples, tuple) and not self.examples)
        if self.num_examples is not None and none:
            raise InvalidInputError(
                f"num_examples is {self.num_examples!r}, but there are no examples to choose from: give examples"
            )
        return self


class AssessmentOptions(ExampleOptions, RunOptions):
    """How responses are assessed by criteria or a rubric.

    Those from ``calls`` on are for a rubric, which has defaults of its own: ``flow="one_step"``, since it asks many
    questions a response, and ``check_positional_bias=False`` with ``orders="shuffled"``.
    """

    guidelines: str = option("", "Instructions for the judge, in addition to the criteria.")
    shuffle_options: bool | None = option(
        None,
        "Show the options in a seeded random order (the default for a rubric), or as written (the default for "
        "criteria).",
    )
    auto_na_option: bool | None = option(
        None,
        "Offer the option that it does not apply with each criterion that has none (the default for a rubric).",
    )
    calls: Literal["per_criterion", "per_item"] = option(
        "per_criterion",
        "``per_criterion``: a call for each criterion; ``per_item``: one reply for the whole rubric.",
    )
    na_strategy: str | None = option(
        None,
        "The effect of a criterion that does not apply, instead of that in the rubric: ``skip``, ``zero``, ``partial`` "
        "or ``fail``.",
    )
    na_partial: float | None = option(None, "The value of ``partial``, instead of that in the rubric.")
    length_penalty: Any = option(
        None,
        "A :class:`~evenhand.aggregation.rubric_score.LengthPenalty`, or its fields: what a response that is too long "
        "loses.",
    )

    @model_validator(mode="after")
    def _fits_in_one_call(self) -> Self:
        if self.calls == "per_item" and self.generate_summaries:
            raise InvalidInputError(
                "calls='per_item' brings a sentence or two per criterion, which nothing summarizes; drop "
                "generate_summaries, or use calls='per_criterion'"
            )
        if self.calls == "per_item" and self.examples is not None:
            raise InvalidInputError(
                "calls='per_item' shows no examples, because each criterion has cases of its own; drop examples, or "
                "use calls='per_criterion'"
            )
        return self


class ChecklistOptions(RunOptions):
    """How a checklist is put to judges.

    ``check_positional_bias`` is False by default; ``flow``, ``scoring`` and ``generate_summaries`` do not belong to a
    checklist, and are refused.
    """

    mode: CheckMode = option("batch", "``batch``: one call answers all items; ``item``: one call per item.")
    primary_metric: ChecklistMetric = option(
        "pass",
        "``pass`` (the share of yes), ``weighted`` (by the items' weights) or ``normalized`` (the mean probability of "
        "yes, which asks for log-probabilities).",
    )
    capture_reasoning: bool = option(False, "Ask for a sentence of reasons before each answer.")
    use_logprobs: bool | None = option(
        None, "Ask for log-probabilities; by default where ``primary_metric`` needs them."
    )
    allow_na: bool | None = option(
        None, "Offer N/A as an answer to every item (True) or to none (False); by default the items say."
    )
    shuffle_items: bool = option(
        False, "Show the items of a call in a seeded random order, another one for each instance."
    )
    scorer: Scorer | None = option(
        None,
        "A scorer of autochecklist by its name, which stands for ``mode``, ``primary_metric`` and "
        "``capture_reasoning``: ``batch``, ``item``, ``weighted``, ``normalized``, ``rlcf`` or ``rocketeval``.",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_scored(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Add the options that the scorer stands for, and the order of shuffled items."""
        scorer = given.get("scorer")
        stands_for: Mapping[str, Any] = SCORERS.get(scorer, {}) if isinstance(scorer, str) else {}  # type: ignore[call-overload] # another name is refused as a value
        for name, value in stands_for.items():
            default = cls.model_fields[name].default
            if given.get(name, default) not in {default, value}:
                raise InvalidInputError(
                    f"scorer={scorer!r} is {name}={value!r}, and {name}={given[name]!r} is given: drop one of the two"
                )
        if given.get("shuffle_items") is not True:
            return {**given, **stands_for}
        if (orders := given.get("orders", "given")) not in {"given", "shuffled"}:
            raise InvalidInputError(
                f"shuffle_items=True shows the items in random orders, and orders is {orders!r}: give one of the two"
            )
        return {**given, **stands_for, "orders": "shuffled"}

    @model_validator(mode="after")
    def _takes_its_metric(self) -> Self:
        if self.primary_metric == "normalized" and self.use_logprobs is False:
            raise InvalidInputError(
                "primary_metric='normalized' is the mean probability of yes, and use_logprobs=False asks for none: "
                "leave use_logprobs out, or take primary_metric='pass'"
            )
        if self.primary_metric == "normalized" and self.stop_early:
            raise InvalidInputError(
                f"stop_early does not go with primary_metric='normalized': {NEEDS_ALL_DRAWS}; drop one of the two"
            )
        if self.shuffle_items and self.mode == "item":
            raise InvalidInputError(
                "shuffle_items=True is the order of the items within one call, and mode='item' asks about each item in "
                "a call of its own: leave it out, or take mode='batch'"
            )
        for name, (left_alone, instead) in NOT_OF_A_CHECKLIST.items():
            if getattr(self, name) != left_alone:
                raise InvalidInputError(f"{name}={getattr(self, name)!r} does not belong to a checklist: {instead}")
        return self


class ContestOptions(RunOptions):
    """How two responses are compared."""

    allow_ties: bool = option(False, "Offer the judge a tie; the graded scale always does.")
    scale: Literal["choice", "graded"] = option(
        "choice", "``choice`` (which one is better) or ``graded`` (five levels)."
    )


class PairwiseOptions(ContestOptions):
    """How the responses of systems are compared."""

    design: str = option(
        "all",
        "Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs a prompt>`` or ``swiss:<rounds>``.",
    )
    reduction: Reduction = option("win_rate", "``win_rate``, or, with the graded scale, ``weighted_win_rate``.")


NOT_OF_A_CHECKLIST: Mapping[str, tuple[object, str]] = {
    "flow": ("two_step", "mode and capture_reasoning say how a checklist is asked"),
    "scoring": ("selected", "primary_metric='normalized' scores a checklist by probabilities"),
    "generate_summaries": (False, "the answers to a checklist have no assessments to summarize"),
}
"""The options of a run that would do nothing here: what they are when they are left alone, and what stands in."""

ContextFields = str | tuple[str, ...] | Mapping[str, str] | None
Weights = Mapping[str, float] | tuple[float, ...] | None
CRITERIA = option(None, "Criteria or one rubric: catalog ids, JSON or YAML files, or plain sentences (yes or no).")
CRITERION = option(None, "The criterion: a catalog id, a JSON or YAML file, or a plain sentence.")
GUIDELINES = option("", "Instructions for the judge.")
RESPONSE_FIELDS = option(
    "response",
    "The column with the responses; several columns are several systems.",
    accepted="the name of a column, or several, each once",
)
SYSTEMS = option(
    None,
    "Of long data or recorded votes: which systems, in which order; all by default.",
    accepted="a list of names, as ['gpt', 'llama']",
)
ID_FIELD = option(
    None,
    "The column with the id of each row, which records and saved files have next to its index.",
    accepted="the name of a column",
)
AS_INDEX = option(False, "Labels that are numbers are places of options, 0 for the first (default: values of options).")
SPLIT = option(None, "The split of a ``DatasetDict``, or of a saved Hugging Face data set.")


class AskingArguments(Options):
    """The arguments of every function that asks judges."""

    engine: Any = option(
        None,
        "The judge, or several: models (``openai/gpt-4.1-mini``), servers' addresses with ``model``, or catalog ids.",
    )
    context_fields: ContextFields = option(
        None,
        "Columns that the judge is shown in addition: one, several, or name shown -> column; by default those that the "
        "criterion, rubric or checklist names.",
        accepted="a column, a list of columns, or name shown -> column",
    )
    reference_field: str | None = option(None, "The column with a known good answer; ``reference`` when there is one.")
    id_field: str | None = ID_FIELD
    split: str | None = SPLIT
    dry_run: bool = option(False, "Return the estimated calls, tokens and cost, without a call.")


class VoteArguments(VoteFields):
    """The arguments of every function that also takes recorded votes."""

    votes: Any = option(
        None,
        "Recorded votes instead of a judge: the column of ``data`` that holds them, or several, one per judge; "
        "without a ``data`` the data themselves, with the column ``vote``. What is judged may be left out then.",
    )


class RunArguments(AskingArguments, StreamOptions, RunOptions):
    """The arguments of every function over rows."""


class JudgeArguments(RunArguments, AssessmentOptions):
    """The arguments of :func:`evenhand.judge`."""

    criteria: Any = CRITERIA
    response_fields: Columns = RESPONSE_FIELDS
    gold_fields: str | Mapping[str, str] | None = option(
        None,
        "Criterion name -> column with the label that a person gave; ``{system}`` stands for the system.",
        accepted="a mapping: criterion -> column",
    )
    rubric_field: str | None = option(
        None,
        "The column that holds each row's own rubric: a list or mapping of criteria, in the form of another tool too "
        "(such as the ``rubrics`` of HealthBench), a JSON text of one, or the id of a rubric.",
    )


class ChecklistArguments(RunArguments, VoteArguments, ChecklistOptions):
    """The arguments of :func:`evenhand.checklist`."""

    checklist: Any = option(None, "The checklist: a catalog id, or a YAML or JSON file.")
    response_fields: Columns = RESPONSE_FIELDS
    checklist_field: str | None = option(
        None,
        "The column that holds each row's own checklist: a list of questions or items, a mapping, a JSON text of one, "
        "or the id of a checklist.",
    )
    gold_fields: str | Mapping[str, str] | None = option(
        None,
        "Item name -> column with the answer that a person gave; or one column with the answers to all items, as a "
        "list in their order or as a mapping by their names. ``{system}`` stands for the system.",
        accepted="a column, or item name -> column",
    )
    guidelines: str = GUIDELINES


class WinratesArguments(RunArguments, VoteArguments, PairwiseOptions):
    """The arguments of :func:`evenhand.winrates`."""

    criteria: Any = CRITERION
    response_fields: Columns | None = option(
        None,
        "Wide data: the columns with the responses, one per system. Long data: the column with the response.",
        accepted="the columns of the systems, or with systems_field the column with the response",
    )
    systems: tuple[str, ...] | None = SYSTEMS
    id_field: str | None = option(
        None,
        'The column that names the prompt, which long data must have; 2, 2.0 and ``"2"`` are one name.',
    )
    gold_fields: str | None = option(
        None,
        "Wide data: the column with the preference of a person, the name of a system or ``tie``; ``{first}`` and "
        "``{second}`` stand for the pair, as in ``preferred_{first}_{second}``.",
    )
    stop: Literal["decided"] | None = option(
        None,
        "``decided``: ask prompts in a seeded random order, and ask about a pair of systems no further once it is "
        "decided which of the two is better. Intervals and tests hold at all looks together then.",
    )
    alpha: float | None = option(
        None,
        "With ``stop``: how probable it may be, at most, that any pair of equal systems is ever decided; 1 - ``level`` "
        "by default, and else that is the ``level``.",
        gt=0,
        le=0.5,
        accepted="a number such as 0.05: an error rate lies in (0, 0.5]",
    )

    @model_validator(mode="after")
    def _stops_by_one_rate(self) -> Self:
        if self.alpha is not None and self.stop is None:
            raise InvalidInputError(
                f"alpha is {self.alpha!r}, the error rate of stop='decided', and stop is None: give both, or "
                f"level={1 - self.alpha!r} for intervals"
            )
        if self.stop is not None and self.interval not in {"auto", "anytime"}:
            raise InvalidInputError(
                f"interval is {self.interval!r}, which holds for a sample of a fixed size, and stop='decided' "
                "makes its size depend on the results: leave it out, or give interval='anytime'"
            )
        if self.alpha is not None and self.level not in (type(self).model_fields["level"].default, 1 - self.alpha):
            raise InvalidInputError(
                f"alpha is {self.alpha!r} and level is {self.level!r}, and the one is 1 less the other: give one of "
                "them"
            )
        return self

    def holding_at_any_time(self) -> Self:
        """Return the same options, where the run may stop early with intervals that hold wherever it does."""
        if self.stop is None:
            return self
        level = self.level if self.alpha is None else 1 - self.alpha
        return self.model_copy(update={"interval": "anytime", "level": level})


class GradeScoresArguments(RunArguments):
    """The arguments of :func:`evenhand.grade_scores`."""

    criteria: Any = CRITERION
    response_fields: str | tuple[str, ...] | None = option(
        None,
        "The column that holds each row's list of candidates (or mapping of name and candidate), or several columns, "
        "one per candidate.",
        accepted="the name of a column, or at least two, each once",
    )
    prompts: str | tuple[str, ...] = option(
        ("evaluate_first",),
        "``select``, ``evaluate_first``, ``avoid_order_bias``, ``grade``, several of them, or ``all``.",
        accepted="at least one prompt, each once, or 'all'",
    )
    unrelated_option: bool = option(
        False, "Ask everything a second time with a candidate of another instance among the candidates."
    )


class RunModeArguments(RunArguments):
    """The arguments of :func:`evenhand.run_mode`."""

    mode: Any = option(None, "The kind of a mode, or MODULE:CLASS of one of your own.")
    mode_options: Mapping[str, Any] | None = option(None, "The mode's own options.")
    response_fields: Columns = RESPONSE_FIELDS
    criteria: Any = option(None, "The criterion, where the mode takes one.")
    guidelines: str = GUIDELINES


class ReliabilityArguments(AskingArguments, VoteArguments, RunOptions):
    """The arguments of :func:`evenhand.reliability`."""

    criteria: Any = CRITERIA
    response_fields: str | tuple[str, ...] | None = option(
        None, "The column with the responses, or several; pairwise criteria need two or more."
    )
    systems: tuple[str, ...] | None = SYSTEMS
    gold_fields: str | Mapping[str, str] | None = option(
        None,
        "Criterion name -> column with a person's answer: a label (``{system}`` stands for the response column), or a "
        "preferred system or ``tie`` (``{first}`` and ``{second}`` stand for the pair); or the column alone where "
        "there is one criterion.",
    )
    as_index: bool = AS_INDEX
    allow_ties: bool = option(False, "Offer a tie in comparisons.")
    scale: str = option("choice", "Of comparisons: ``choice`` or ``graded``.")
    confidences: bool = option(
        False, "Ask for log-probabilities, and measure whether they are calibrated; needs people's labels."
    )
    prompts: str | tuple[str, ...] | None = option(
        None,
        "Ask for the best of all responses with these prompts too (``select``, ``evaluate_first``, "
        "``avoid_order_bias``, ``grade``, or ``all``), and report the Grade Score under each. With three responses or "
        "more that is done in any case, with ``evaluate_first``, unless this is ``()``.",
    )
    unrelated_option: bool = option(
        False, "Ask for the best of all a second time, with a response to another row among them."
    )
    resamples: int = RESAMPLES


class RecordedArguments(RecordedOptions):
    """The arguments of every function of recorded votes."""

    criteria: Any = option(None, "The criterion of the options: a catalog id, a JSON or YAML file, or a sentence.")
    id_field: str | None = option(
        None, "The column with the id of the instance; rows with the same id are about the same instance."
    )
    as_index: bool = AS_INDEX
    split: str | None = SPLIT


class VerdictArguments(RecordedArguments):
    """The arguments of every function that reduces recorded votes to verdicts."""

    rule: str | None = option(None, "The rule of the panel; by default that of the scale.")
    weights: Weights = option(
        None, "One weight per judge, in the order of the columns, or judge -> weight; for the weighted rules."
    )
    gold_fields: str | None = option(None, "The column with the label that a person gave.")
    judge_field: str | None = option(None, "Long data, one vote per row: the column that names the judge.")
    systems_field: str | None = option(
        None, "The column that names the system whose response was judged: each system has its own scores."
    )


class AggregateVotesArguments(VerdictArguments):
    """The arguments of :func:`evenhand.aggregate_votes`."""

    votes: Any = option(None, "The columns with the votes, one per judge; or one whose cells are lists or mappings.")
    sample_field: str | None = option(None, "Long data: the column that numbers the draws of a judge, from 0.")


class ReadRepliesArguments(VerdictArguments):
    """The arguments of :func:`evenhand.read_replies`."""

    replies: Any = option(None, "The columns with the texts of the replies, one per judge.")
    swapped_field: str | None = option(
        None,
        "Of comparisons: the column that is true where the two responses were shown in the other order. A vote for the "
        "one shown first is then one for the second; options are mirrored by their values.",
    )
    finish_reason_field: str | None = option(
        None, "The column with the server's finish reason: ``length`` says that a reply was cut off."
    )
    pattern: str | None = option(
        None,
        r'A regular expression with one group, around the label: ``r"\[\[([AB])\]\]"``. A reply that it does not '
        "match is unscored, and one whose matches name different labels is ambiguous. None for the four forms.",
    )


class AgreementArguments(RecordedArguments):
    """The arguments of :func:`evenhand.agreement`."""

    votes: Any = option(
        None, "The columns with the judges' votes, one per judge; or one whose cells are lists or mappings."
    )
    gold_fields: str | tuple[str, ...] | None = option(
        None, "The column with the labels that a person gave; several are several people."
    )


SHARED_ARGUMENTS = (AskingArguments, VoteArguments, RecordedArguments, VerdictArguments)
"""The models whose options stand in the docstring of each function that takes them, after its own."""


_POSITIVE: dict[str, Any] = {"accepted": "a number above 0", "gt": 0, "allow_inf_nan": False}
_SD: dict[str, Any] = {"accepted": "a number above 0 and at most 0.5", "gt": 0, "le": 0.5}
_SHARE: dict[str, Any] = {"accepted": "a number above 0 and below 1", "gt": 0, "lt": 1}


class PlanOptions(Options):
    """What a plan is for, and what is assumed where there is no pilot."""

    half_width: float | None = option(None, "The half-width that the interval of a score shall have.", **_POSITIVE)
    difference: float | None = option(None, "How far apart two systems are that the test shall find.", **_POSITIVE)
    rows: int | None = option(None, "Say what this number of judged rows shows, instead of planning it.", ge=2)
    labels: int | None = option(None, "Rows, drawn at random, that people label; planned by default.", ge=2)
    systems: int | None = option(None, "How many are compared; 2 where a difference is asked for, else 1.", ge=1)
    mean: float = option(0.5, "Of yes/no scores; 0.5 takes the most rows.", **_SHARE)
    sd: float | None = option(None, "Standard deviation of scores from 0 to 1; without it they are yes/no.", **_SD)
    correlation: float = option(0.5, "Of the scores of two systems on the same rows.", ge=-1, lt=1)
    judge_correlation: float | None = option(None, "Of the judge's scores with people's: plans labels.", **_SHARE)
    power: float = option(0.8, "How often the test shall find the difference.", **_SHARE)
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

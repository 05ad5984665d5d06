"""The base of the metrics: their fields, the run over the instances, and the scores as unitxt takes them.

:class:`EvenhandMetric` is the base of all metrics, :class:`JudgeMetric` of those in which a model judges.
"""

import json
import logging
import math
import warnings
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Dict, Final, List, TypeVar, Union, cast

from evenhand.catalog import read_entry
from evenhand.criteria import Criterion
from evenhand.data.documents import names_a_file, reads_as_sentence
from evenhand.data.fields import (
    CLASSIFICATION,
    classifications_of,
    clustered_level,
    context_of,
    field_of,
    read_clusters,
    recipe_context_fields,
    row_groups,
    text_of,
    texts_of,
    warn_of_left_out_context,
)
from evenhand.data.plain import context_mapping
from evenhand.data.responses import read_responses
from evenhand.engines.base import Engine, JudgeEngine
from evenhand.engines.names import as_judge, as_list, engine_of_name, one_step_in_batches, with_batch, with_model
from evenhand.errors import EvenhandWarning, InvalidInputError
from evenhand.metrics.correcting import Gold, check_labels, corrected_scores, labels_of, options_of_labels
from evenhand.modes.mode import Mode, Subject
from evenhand.numbers import Missing, format_count, format_number, format_percent
from evenhand.options import GoldOptions, IntervalOptions, RunOptions
from evenhand.results.measures import UnscoredCounts, scores_of
from evenhand.results.notes import LIMITS, Spending
from evenhand.results.saved import line_of
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import UnscoredBounds
from evenhand.unitxt import criteria_artifacts
from evenhand.unitxt.bases import (
    Artifact,
    Criteria,
    EmptyPrediction,
    EvaluationInput,
    InferenceEngine,
    MapReduceMetric,
    Maybe,
    fields_class,
    get_parsed_context,
    group_str,
    text_fields,
    with_numbers,
)
from evenhand.unitxt.engines import EngineArtifact, UnitxtBridge, engine_id, to_artifact
from evenhand.unitxt.loading import (
    load_checklist,
    load_comparison,
    load_criteria_artifact,
    load_of_rows,
    load_rubric,
    local_entry,
)
from evenhand.visible import visible_line
from evenhand.votes import is_missing

logger = logging.getLogger(__name__)

Value = TypeVar("Value")


DOCUMENTS: Final[Mapping[str, Callable[[object], Any]]] = MappingProxyType(
    {"rubric": load_rubric, "checklist": load_checklist}
)
"""The fields that hold a document -> the loader."""


class InstanceScores(Dict[str, float]):
    """The numbers of one instance, which every reduction of unitxt accepts, and the other entries separately.

    unitxt's reductions add up all entries of an instance, and its ensembles and groups look for the score named by the
    metric's ``main_score``. So texts, lists and missing values are kept in ``texts``, and the main score has both
    names. :meth:`EvenhandMetric.annotate_scores` joins them for the results of a recipe.

    Attributes:
        texts: The entries that are not numbers: texts, lists, and None.
        main: The name of the main score.
    """

    def __init__(self, scores: Dict[str, Any], main: str, alias: str) -> None:
        """Separate the entries.

        Args:
            scores: All entries of an instance, including the main score.
            main: The name of the main score.
            alias: The name by which unitxt's own code looks for it.
        """
        super().__init__({name: value for name, value in scores.items() if isinstance(value, (int, float))})
        self.setdefault(alias, self[main])
        self.texts = {name: value for name, value in scores.items() if name not in self}
        self.main = main


if TYPE_CHECKING:

    class IntervalFields(MapReduceMetric):
        """The fields of :class:`~evenhand.options.IntervalOptions`."""

        interval: str = "auto"
        cluster_field: Maybe[Union[str, bool]] = None
else:
    IntervalFields = fields_class(
        "IntervalFields", MapReduceMetric, IntervalOptions, module=__name__, left_out=("level",)
    )


class RecipeInput(EvaluationInput):
    """One instance as a metric sees it, with the instance of the recipe from which it was read."""

    instance: Mapping[str, Any] = MappingProxyType({})


class EvenhandMetric(IntervalFields):
    """The base of all metrics of evenhand, for judges and for recorded votes.

    The scores of an instance and of all instances name the main score in ``score_name``.

    Attributes:
        criteria: What is judged: an artifact, its catalog id, or a frozen :class:`~evenhand.criteria.Criterion`.
        confidence_interval_calculation: ``return_confidence_interval`` under the name that unitxt's judges have for it.
        reduction_map: A field of unitxt's judges; only the mean is accepted. ``implemented_reductions``, ``ci_scores``,
            ``n_resamples`` and ``ci_method`` are also refused if they ask for anything else than the default.
        implemented_reductions: See ``reduction_map``.
        ci_scores: See ``reduction_map``: every score has its interval.
    """

    main_score: str = "score"
    prediction_type: Any = Any
    n_resamples: Maybe[int] = None  # unitxt's own bootstrap stays off: the scores bring their intervals

    criteria: Maybe[Criteria] = None
    confidence_interval_calculation: Maybe[bool] = None
    reduction_map: Maybe[Dict[str, List[str]]] = None
    implemented_reductions: Maybe[List[str]] = None
    ci_scores: Maybe[List[str]] = None

    options_model = IntervalOptions  # without an annotation, or unitxt would take it for a field

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "criteria" and isinstance(value, (list, tuple)):
            raise InvalidInputError(
                f"criteria is a list of {len(value)}; a metric judges by one criterion: give a metric for each, or all "
                "of them as a rubric to metrics.evenhand.rubric"
            )
        if name == "criteria":
            is_sentence = isinstance(value, str) and reads_as_sentence(value) and not names_a_file(value)
            value = load_criteria_artifact(value) if isinstance(value, Criterion) or is_sentence else value
        if name in DOCUMENTS and value is not None and not isinstance(value, criteria_artifacts.FrozenArtifact):
            value = criteria_artifacts.to_artifact(DOCUMENTS[name](value))  # which unitxt can copy and write
        if name == "inference_engine":
            found = [(engine_of_name(each) or each) if isinstance(each, str) else each for each in as_list(value)]
            made = [to_artifact(each) if isinstance(each, Engine) else each for each in found]
            value = made if isinstance(value, list) else made[0]
        kind: Any = type(self)
        super().__setattr__(name, value if name in text_fields(kind) else with_numbers(value))
        self.__dict__.pop("options", None)

    @cached_property
    def options(self) -> Any:
        """The checked options, with the values that the fields have now."""
        named = {name: getattr(self, name) for name in self.options_model.model_fields if hasattr(self, name)}
        return self.options_model(**{**named, "level": self.confidence_level, **self.changed_options()})

    def changed_options(self) -> Dict[str, Any]:
        """Return the options that have another value than the field of their name."""
        return {}

    def set_confidence_interval_calculation(self, return_confidence_interval: bool) -> None:
        """Give intervals if a recipe says so, unless the metric's own field says otherwise."""
        self.return_confidence_interval = (
            return_confidence_interval and self.confidence_interval_calculation is not False
        )

    def verify(self) -> None:
        """Check the options, and refuse fields of unitxt's metrics that would have no effect here."""
        super().verify()
        without_effect = {
            "n_resamples": (self.n_resamples or None, "intervals are not resampled by unitxt; interval='bootstrap' is"),
            "ci_method": (None if self.ci_method == "BCa" else self.ci_method, "the method of intervals is interval=…"),
            "ci_scores": (self.ci_scores, "every score has its interval"),
            "ci_score_names": (self.ci_score_names, "every score has its interval"),
            "implemented_reductions": (self.implemented_reductions, "scores are reduced to their means"),
        }
        for name, (given, why) in without_effect.items():
            if given is not None:
                raise InvalidInputError(f"{name} is {given!r}, and {why}: leave {name} out")
        if set(self.reduction_map or ()) - {"mean"}:
            raise InvalidInputError(
                f"reduction_map is {self.reduction_map!r}; scores are reduced to their means. The weighted winrate "
                "is metrics.evenhand.pairwise[scale=graded, reduction=weighted_win_rate]"
            )
        self.set_confidence_interval_calculation(self.return_confidence_interval)
        self._awaited_groups: List[Any] = []  # unitxt's copies of the metric share them
        self.options  # noqa: B018 - it is built, and so checked, on first use

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """Return the values of the fields, as unitxt writes them."""
        data = {name: _with_overrides(given, getattr(self, name, None)) for name, given in data.items()}
        for name in ("criteria", *DOCUMENTS):
            if data.get(name) is not None and not isinstance(data[name], str):
                data[name] = getattr(self, name).to_dict()
        return data

    def _instance_to_evaluation_input(self, instance: Dict[str, Any]) -> "RecipeInput":
        prediction, references, task_data = super()._instance_to_evaluation_input(instance)
        raw = instance.get("raw_prediction", prediction)
        if is_missing(raw):
            prediction = None  # a recipe's postprocessors make the text "None" or "nan" of it
        elif isinstance(raw, (list, tuple, dict)) and prediction == str(raw).strip():
            prediction = raw  # and a text of these, from which missing values cannot always be read back
        given = RecipeInput(prediction, references, task_data)
        given.instance = instance
        return given

    @abstractmethod
    def instance_scores(self, judged: Any) -> Dict[str, Any]:
        """Return the entries of one instance, including the main score; None for what is missing."""

    def reduce_one(self, intermidate: Any) -> InstanceScores:  # unitxt spells its parameter so
        """Return the scores of one instance."""
        return InstanceScores(self.instance_scores(intermidate), intermidate.score_name, self.main_score)

    def reduce_and_bootstrap(self, intermediates: List[Any]) -> Dict[str, Any]:
        """Return the global scores; they bring their own intervals."""
        if not intermediates:
            raise InvalidInputError("there are no instances to score: the data set is empty")
        scores: Dict[str, Any] = self.reduce(intermediates)
        return scores

    def compute(
        self,
        stream: Maybe[Iterable[Dict[str, Any]]] = None,
        stream_name: Maybe[str] = None,
        *,
        references: Maybe[Sequence[Any]] = None,
        predictions: Maybe[Sequence[Any]] = None,
        task_data: Maybe[Sequence[Dict[str, Any]]] = None,
    ) -> Any:
        """Compute the scores of each instance and of all, as a recipe asks, or those of each, as unitxt's judges do.

        Args:
            stream: The instances.
            stream_name: The stream of a recipe.
            references: The references of each instance, if there is no stream.
            predictions: Of each instance; empty if the criteria name the fields of the task data that hold them.
            task_data: The task data of each instance.

        Returns:
            With a stream the scores of each instance, and of all; else one dict per instance, as ``compute`` of
            unitxt's ``LLMJudgeDirect`` gives them to its ``MetricInferenceEngine``.
        """
        if stream is not None:
            return super().compute(stream, stream_name)
        rows = task_data if task_data is not None else [{} for _ in predictions or ()]
        given = predictions or [EmptyPrediction()] * len(rows)
        known = references or [[] for _ in rows]
        inputs = [EvaluationInput(*each) for each in zip(given, known, rows, strict=True)]
        return [{**scores, **scores.texts} for scores in map(self.reduce_one, self.map_stream(inputs))]

    def process(self, stream: Iterable[Dict[str, Any]], stream_name: Maybe[str] = None) -> Iterator[Any]:
        """Add the scores to the instances; if they replace those of an earlier metric, say so once."""
        instances = list(stream)
        before = [instance.get("score") or {"global": {}, "instance": {}} for instance in instances]
        hidden = [{**instance, "score": {"global": {}, "instance": {}}} for instance in instances]
        for row, (scored, old) in enumerate(zip(super().process(hidden, stream_name), before, strict=True)):
            own, shared = scored["score"], {"score", "score_name", "num_of_instances"}
            replaced = [name for name in own["global"] if name in old["global"] and "_ci_" not in name]
            replaced = [name for name in replaced if name not in shared]
            if row == 0 and replaced:
                logger.warning(
                    "%s (%s, …) replace those of a metric before: give one of the two metrics a score_prefix, such as "
                    "score_prefix='second_'",
                    format_count(len(replaced), "score"),
                    visible_line(replaced[0]),
                )
            yield {**scored, "score": {part: {**old[part], **own[part]} for part in ("global", "instance")}}

    def annotate_scores(self, scores: Dict[str, Any]) -> Dict[str, Any]:
        """Add ``score`` and ``score_name``, which repeat the main score."""
        if isinstance(scores, InstanceScores):
            scores = {**scores, **scores.texts, "score_name": scores.main}
        main = scores["score_name"]
        annotated = {self.score_prefix + name: value for name, value in scores.items() if name != "score_name"}
        annotated |= {"score_name": self.score_prefix + main, "score": scores[main]}
        for bound in ("ci_low", "ci_high"):
            if f"{main}_{bound}" in scores:
                annotated[f"score_{bound}"] = scores[f"{main}_{bound}"]
        return annotated


def _with_overrides(given: Any, held: Any) -> Any:
    """Write an artifact of a catalog in full if fields were overridden when it was fetched.

    unitxt writes an artifact that was fetched from a catalog as its id alone: the overrides
    (``engines.evenhand.litellm[model=…]``) would be missing in every copy of the metric, including those of a recipe.
    """
    if isinstance(given, list) and isinstance(held, list) and len(given) == len(held):
        return [_with_overrides(*pair) for pair in zip(given, held, strict=True)]
    if not isinstance(held, Artifact) or held.__id__ is None or given != held.__id__:
        return given
    try:
        entry = read_entry(local_entry(given)[0])
    except LookupError:
        return given
    made = held.to_dict()
    return given if made == {name: value for name, value in entry.items() if name != "__id__"} else made


def number_or_nan(value: Union[float, Missing, None]) -> float:
    """Return a score as unitxt takes it: NaN if it is undefined."""
    return math.nan if value is None or isinstance(value, Missing) else value


def warn_of_unscored(
    name: str, counts: UnscoredCounts, leading: Union[UnscoredBounds, None], bounds: str = "score_if_unscored"
) -> None:
    """Warn that the bounds of a score lead, and not its mean; do nothing if the mean leads.

    Args:
        name: The score.
        counts: Of its votes.
        leading: Its bounds, if these lead.
        bounds: The name of the scores that hold them, without ``_0`` and ``_1``.
    """
    if leading is not None:
        logger.warning(
            "The score %r is that of the scored votes: %s (%s of %s affected). Had all votes been scored, it would lie "
            "between %s and %s (%s_0 and %s_1). It need not be this one, since unscored votes are not a random sample.",
            name,
            counts,
            format_percent(leading.share),
            leading.unit,
            format_number(leading.low),
            format_number(leading.high),
            bounds,
            bounds,
        )


def score_name_of(names: Iterable[str], default: str) -> str:
    """Return the score's name, as unitxt makes it: the criterion's, if all instances share one that has a name.

    >>> score_name_of(["Answer relevance", "Answer relevance"], "llm_as_judge")
    'answer_relevance'
    >>> score_name_of(["relevance", "fluency"], "llm_as_judge")
    'llm_as_judge'
    """
    unique = set(names)
    only = unique.pop() if len(unique) == 1 else ""
    return "_".join(only.lower().split(" ")) if only else default


NO_ENGINE = (
    "the metric has no inference_engine, and a judge has no default. Give one in four ways: the name of "
    "a model, as in inference_engine=openai/gpt-4.1-mini, or the address of a server, as in "
    "inference_engine=http://localhost:8000/v1 with model=…; a catalog id, as in "
    "metrics.evenhand.direct[inference_engine=engines.evenhand.litellm[model=openai/gpt-4.1-mini]]; an engine object, "
    "as in DirectJudge(inference_engine=OpenAICompatibleEngine(base_url='http://localhost:8000/v1', model='…')); or, "
    "offline and without a model, engines.evenhand.baseline"
)


class MarkedDataWarning(EvenhandWarning):
    """An engine of unitxt's is shown data of a class that it does not declare, as unitxt's judges show them."""


@dataclass(frozen=True, slots=True)
class JudgedInstance:
    """The intermediate value of one instance.

    Attributes:
        about: What was judged, and by what.
        result: What the mode makes of the votes.
        mode: The way of judging.
        evaluator: The judge's name in score names.
        panel: Who judges.
        criteria_json: The criteria artifact as JSON; None for a rubric or checklist.
        groups: Column -> the group of the instance.
        gold: The labels of people.
        score_name: The main score's name in this evaluation.
        place: The index of what it is judged by, among all that the instances are judged by.
        spent: How much of its limits the run spent; None without limits.
    """

    about: Subject
    result: Any
    mode: Any
    evaluator: str
    panel: Sequence[JudgeEngine] = ()
    criteria_json: Union[str, None] = None
    groups: Mapping[str, Union[str, None]] = field(default_factory=dict)
    gold: Gold = ()
    score_name: str = ""
    place: int = 0
    spent: Union[Spending, None] = None

    def cells(self) -> Iterator[Cell]:
        """Yield the votes on each question, with the entries of a saved result that say which question it is."""
        for named, votes in self.mode.cells(self.about, self.result, self.place):
            yield Cell({"instance": self.about.instance, **named, "cluster": self.about.cluster}, tuple(votes))


@dataclass(frozen=True, slots=True, eq=False)
class AwaitedGroup:
    """A group of instances that were judged, for which unitxt has not asked yet.

    unitxt scores all instances first, and then each group by another call of the same metric, without naming the
    evaluation. Each call gets copies of the containers only: the texts and numbers in them are the same objects, which
    distinguishes the instances of an evaluation from equal ones of another. Nothing is kept after the last group.

    Attributes:
        members: The identity of each instance.
        judged: The identity of an instance -> its intermediate value.
        instances: All instances of the evaluation: an identity is that of objects that live.
    """

    members: List[tuple[int, ...]]
    judged: Mapping[tuple[int, ...], JudgedInstance]
    instances: Sequence[Mapping[str, Any]]


def awaited_groups(instances: Sequence[Mapping[str, Any]], judged: Sequence[JudgedInstance]) -> List[AwaitedGroup]:
    """Return the groups for which unitxt is going to ask.

    Args:
        instances: As the recipe has them.
        judged: The intermediate value of each.
    """
    groups, kept = defaultdict(list), {}
    for instance, mapped in zip(instances, judged, strict=True):
        if instance.get("groups"):
            kept[identity := _identity(instance)] = mapped
            for group in instance["groups"]:
                groups[group_str(group)].append(identity)
    return [AwaitedGroup(members, kept, instances) for members in groups.values()]


def _identity(instance: Mapping[str, Any]) -> tuple[int, ...]:
    """Yield the identities of the values in an instance, which copies of its containers share."""

    def values(given: Any) -> Iterator[Any]:
        if isinstance(given, (dict, list, tuple)):
            for each in given.values() if isinstance(given, dict) else given:
                yield from values(each)
        else:
            yield given

    return tuple(map(id, values([instance[name] for name in ("__idx__", "task_data", "prediction", "references")])))


if TYPE_CHECKING:

    class RunFields(EvenhandMetric):
        """The fields of :class:`~evenhand.options.RunOptions` and :class:`~evenhand.options.GoldOptions`."""

        def __getattr__(self, name: str) -> Any: ...
else:
    RunFields = fields_class(
        "RunFields",
        fields_class("GoldFields", EvenhandMetric, GoldOptions, module=__name__),
        RunOptions,
        module=__name__,
        left_out=tuple(IntervalOptions.model_fields),  # those of all metrics; ``level`` is unitxt's confidence_level
    )


class JudgeMetric(RunFields):
    """The base of every metric in which a model judges: a run of a mode over the instances.

    Attributes:
        inference_engine: The judge: an engine, its catalog id, the name of a model (``openai/gpt-4.1-mini``) or the
            address of a server (``http://localhost:8000/v1``, with ``model``); or a list of them, which form a panel.
            It has no default.
        criteria: What is judged: an artifact, its catalog id, or a frozen :class:`~evenhand.criteria.Criterion`.
        criteria_field: The task data field that names each instance's own criterion; used if ``criteria`` is not set.
        context_fields: What the judge is shown in addition to the response: a field name, a list of them, or name shown
            -> field. If it is not set: the row's ``context``, which unitxt's judges show too, and the fields that the
            criterion names (unitxt's do not show these in addition). An empty list: the latter alone, as in unitxt, as
            far as the row has them.
        guidelines: Instructions for the judge, in addition to the criterion.
        evaluator_name: Names the judge in the score ``using_<evaluator>``; by default the engine does.
        format: A field of unitxt's judges: ``formats.chat_api``, the only one that they accept too.
    """

    main_score: str = "llm_as_judge"
    format: str = "formats.chat_api"

    inference_engine: Maybe[Union[InferenceEngine, List[InferenceEngine]]] = None
    criteria_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    evaluator_name: Maybe[str] = None
    guidelines: str = ""

    options_model = RunOptions
    asks = "assess"  # for what a prompt of the user's own must be
    compares = False  # whether a prediction holds several responses

    def changed_options(self) -> Dict[str, Any]:
        """Return the flow ``one_step`` for batches, unless a flow is given."""
        return {} if "flow" in self._init_dict else one_step_in_batches({"batch": self.batch}, self.inference_engine)

    def verify(self) -> None:
        """Check every setting that can be checked before there is data, and whether it fits what is judged."""
        super().verify()
        if self.format != "formats.chat_api":
            raise InvalidInputError(f"format is {self.format!r}; judges are asked by chat: leave it out")
        for engine in self.engines() if self.inference_engine or self.model is not None else ():
            if not isinstance(engine, (InferenceEngine, JudgeEngine, Engine)):
                raise InvalidInputError(
                    f"inference_engine is {engine!r}, which cannot be asked: give the catalog id of an engine, an "
                    "inference engine of unitxt, or a judge (evenhand.JudgeEngine)"
                )
        options_of_labels(self)
        mode = self.mode_of(self.known_criteria())
        if self.asks and self.prompt is not None:
            mode.flow.check_prompt(cast(Any, self.asks), sheet=bool(getattr(mode, "together", False)))

    def known_criteria(self) -> Sequence[Any]:
        """Return what is judged, as far as it is known before there is data."""
        return () if self.criteria is None else (self.freeze(self.criteria),)

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """Return the values of the fields, as unitxt writes them.

        Raises:
            InvalidInputError: If unitxt cannot write the engine.
        """
        for engine in as_list(self.inference_engine or []):
            if not isinstance(engine, Artifact):
                raise InvalidInputError(
                    f"inference_engine is {engine!r}, which is no artifact of unitxt, and a recipe copies its metrics "
                    "by writing them: give the catalog id of an engine, or an engine artifact, such as "
                    "evenhand.SimulatedEngine(…)"
                )
        if (given := data.get("inference_engine")) is not None:
            made = [to_artifact(each).to_dict() if isinstance(each, Engine) else each for each in as_list(given)]
            data = {**data, "inference_engine": made if isinstance(given, list) else made[0]}
        return super().process_data_before_dump(data)

    def engines(self) -> list[Any]:
        """Return the engines of the panel.

        Raises:
            InvalidInputError: If there is none.
        """
        if not self.inference_engine:
            raise InvalidInputError(NO_ENGINE)
        given = as_list(self.inference_engine)
        given = given if self.model is None else with_model(given, self.model)
        return given if self.batch is None else list(with_batch(given, self.batch))

    def panel(self) -> tuple[list[JudgeEngine], str]:
        """Return the judges, and their name in score names as unitxt builds it: evaluator's name or id, and label.

        The prompts to an engine of unitxt's are marked public, as those of unitxt's judges are; if the metric names the
        class of the data itself, they are marked with it.
        """
        named: Union[str, Sequence[str], None] = self.data_classification
        marked = (named,) if isinstance(named, str) else tuple(named or ("public",))
        judges, names = [], []
        for engine in self.engines():
            ours = isinstance(engine, EngineArtifact)
            judges.append(engine.to_judge() if ours else as_judge(engine, marked=marked))
            own = engine_id(judges[-1].judge_id) if ours else judges[-1].judge_id
            label = f"_{engine.label}" if isinstance(engine, InferenceEngine) else ""
            names.append((self.evaluator_name or own).lower() + label)
        return judges, "+".join(dict.fromkeys(names))

    def get_criteria(self, task_data: Sequence[Mapping[str, Any]], eval_count: Maybe[int] = None) -> list[Criteria]:
        """Return one criteria artifact per row of task data: the metric's own, or the one that the row names.

        Args:
            task_data: The rows.
            eval_count: The number of rows, as unitxt's judges have it.

        Raises:
            InvalidInputError: If neither is given.
            ArtifactError: If a row names something that is not a criterion.
        """
        if self.criteria is not None:
            return [load_criteria_artifact(self.criteria)] * (eval_count or len(task_data))
        if self.criteria_field is None:
            raise InvalidInputError(
                "the metric has neither criteria nor criteria_field: give criteria (a catalog id such as "
                "criteria.evenhand.direct.relevance, or an artifact), or the task data field that names each "
                "instance's own"
            )
        return load_of_rows(task_data, self.criteria_field, "criteria_field", "criterion")

    def get_contexts(self, task_data: Sequence[Dict[str, Any]], criteria: Sequence[Criteria]) -> list[str]:
        """Return the context of each response in one text, as unitxt's judges give it.

        Args:
            task_data: The rows.
            criteria: Of each row.
        """
        rows = enumerate(zip(task_data, map(load_comparison, criteria), strict=True))
        shown = [self.context_of(EvaluationInput(None, [], data), own, row) for row, (data, own) in rows]
        return [get_parsed_context(context) for context in shown]

    def get_predictions(
        self, task_data: Sequence[Dict[str, Any]], criteria: Sequence[Criteria], predictions: Sequence[Any]
    ) -> list[Any]:
        """Return the predictions, or the task data that the criteria name instead, as unitxt's judges give them."""
        given = predictions or [EmptyPrediction()] * len(task_data)
        rows = enumerate(zip(given, task_data, criteria, strict=True))
        return [
            self.response_of(EvaluationInput(prediction, [], data), own.prediction_field, row)
            for row, (prediction, data, own) in rows
        ]

    def clean_results(self, results: Any) -> Any:
        """Remove None and empty entries from results, at any depth of dicts, as unitxt's judges do."""
        if isinstance(results, list):
            return [self.clean_results(each) for each in results]
        cleaned = {
            name: self.clean_results(value) if isinstance(value, dict) else value for name, value in results.items()
        }
        return {name: value for name, value in cleaned.items() if value is not None and value not in ([], {})}

    def given_context_fields(self) -> Union[dict[str, str], None]:
        """Return the metric's own context fields; None if none were set, empty if only the criterion's count."""
        return context_mapping(self.context_fields)

    def context_of(self, given: EvaluationInput, judged: Any, row: int) -> dict[str, str]:
        """Return the context of the response, as ``context_fields`` says."""
        _, references, task_data = given
        fields = self.given_context_fields()
        if not fields:
            fields = recipe_context_fields(task_data, judged, with_context=fields is None)
        return context_of(task_data, fields, judged, row, texts_of(references))

    def response_of(self, given: EvaluationInput, prediction_field: Union[str, None], row: int) -> Any:
        """Return the prediction, or the task data field that the criterion names if no predictions were given."""
        prediction, _, task_data = given
        if not isinstance(prediction, EmptyPrediction) and prediction != str(EmptyPrediction()):
            return prediction
        if prediction_field is None:
            raise InvalidInputError(
                f"instance {row} has no prediction, and the criterion names no prediction_field: give predictions to "
                "evaluate(), or name the field in the criterion"
            )
        return field_of(task_data, prediction_field, row, "prediction_field")

    def subject(self, row: int, given: EvaluationInput, judged: Any) -> Subject:
        """Return the response of an instance, or its responses, and what the judge is shown with them.

        The context of a single response is read only if there is a response.

        Args:
            row: The index of the instance.
            given: The instance.
            judged: The criterion, or the checklist.
        """
        response = self.response_of(given, judged.prediction_field, row)
        if self.compares:
            texts: Mapping[str, Union[str, None]] = read_responses(response, row)
        elif is_missing(response):
            return Subject(row, {"": None}, judged=judged)
        else:
            texts = {"": text_of(response, f"the prediction of instance {row}")}
        marked = getattr(given, "instance", {}).get(CLASSIFICATION)  # by the recipe, or by the task data
        return Subject(
            instance=row,
            texts=texts,
            context=self.context_of(given, judged, row),
            references=texts_of(given[1]),
            draw_key=json.dumps(given, default=str),  # a group of the data draws as the whole does
            data_classifications=(
                *classifications_of({CLASSIFICATION: marked}, row),
                *classifications_of(given[2], row),
            ),
            guidelines=self.guidelines,
            judged=judged,
        )

    def judged_name(self) -> str:
        """Return the name of what is judged; empty if instances name their own."""
        return "" if self.criteria is None else load_criteria_artifact(self.criteria).name

    def shown_fields(self) -> list[str]:
        """Return the task data fields shown in addition to the response, as far as known before the data."""
        own = self.given_context_fields()
        if own is not None:
            return list(own.values())
        if self.criteria is None:
            return [self.criteria_field] if self.criteria_field else []
        return list((context_mapping(load_criteria_artifact(self.criteria).context_fields) or {}).values())

    @abstractmethod
    def mode_of(self, judged: Sequence[Any], panel: Sequence[JudgeEngine] = ()) -> Mode[Any]:
        """Return the way of judging, with the settings of the run, checked.

        Args:
            judged: The criteria, each once.
            panel: The judges; empty while the settings are checked.
        """

    def freeze(self, criteria: Any) -> Criterion:
        """Return the frozen criterion of an artifact, as the metric judges it."""
        return load_comparison(criteria)

    def judged_by(self, rows: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Any], Sequence[Union[str, None]]]:
        """Return each instance's criteria, and the artifact as JSON; each is frozen and written once."""
        artifacts = self.get_criteria(rows)
        frozen = {id(artifact): (self.freeze(artifact), artifact.to_json()) for artifact in distinct(artifacts)}
        judged, as_json = zip(*(frozen[id(artifact)] for artifact in artifacts), strict=True)
        return judged, as_json

    def subjects(self, inputs: Sequence[EvaluationInput], judged: Sequence[Any]) -> Sequence[Subject]:
        """Return the subjects, one per instance."""
        found = [self.subject(row, *about) for row, about in enumerate(zip(inputs, judged, strict=True))]
        for one in distinct(judged) if self.context_fields else ():
            warn_of_left_out_context(one, self.given_context_fields())
        return found

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:
        """Return the name of the main score: that of what is judged, if all instances share one that has a name."""
        return score_name_of((each.about.judged.name for each in judged), self.main_score)

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[JudgedInstance]:
        """Judge all instances; one intermediate each. A group of instances that were judged is not judged again.

        Args:
            evaluation_inputs_stream: The instances.
        """
        inputs = list(evaluation_inputs_stream)
        instances = [getattr(given, "instance", {}) for given in inputs]
        if self._awaited_groups:
            members = [_identity(instance) for instance in instances if "__idx__" in instance]
            group = next((each for each in self._awaited_groups if each.members == members), None)
            if group is not None:
                self._awaited_groups.remove(group)
                return self._name([group.judged[each] for each in members])
        judged = self._judge(inputs) if inputs else []
        if any(instance.get("groups") for instance in instances):
            self._awaited_groups += awaited_groups(instances, judged)
        return judged

    def _judge(self, inputs: Sequence[EvaluationInput]) -> List[JudgedInstance]:
        rows = [task_data for _, _, task_data in inputs]
        clusters = read_clusters(rows, self.cluster_field, what="instance") or [None] * len(rows)
        columns = row_groups(rows, self.group_fields)["groups"] if self.group_fields else {}
        judged_by, as_json = self.judged_by(rows)
        read = self.subjects(inputs, judged_by)
        subjects = [replace(about, cluster=cluster) for about, cluster in zip(read, clusters, strict=True)]
        panel, evaluator = self.panel()
        mode = self.mode_of(distinct(about.judged for about in subjects), panel)
        for judge in panel:
            if isinstance(judge, UnitxtBridge):
                caution = judge.check_mark({each for about in subjects for each in about.data_classifications})
                if caution is not None:  # Python's filter shows it once, although a recipe with groups copies metrics
                    warnings.warn(caution, MarkedDataWarning, stacklevel=2)
        labels = options_of_labels(self)
        gold = [()] * len(rows) if labels is None else labels_of(rows, labels)
        planned = self._name(
            [
                JudgedInstance(
                    about,
                    None,
                    mode,
                    evaluator,
                    panel,
                    criteria_json,
                    {column: names[row] for column, names in columns.items()},
                    gold[row],
                )
                for row, (about, criteria_json) in enumerate(zip(subjects, as_json, strict=True))
            ]
        )
        if labels is not None:
            check_labels(labels, self._run(planned), mode, subjects, gold, seed=self.seed)
        cast_votes = mode.ask(subjects, panel)
        judged = [
            replace(each, result=mode.result(each.about, votes))
            for each, votes in zip(planned, cast_votes, strict=True)
        ]
        limits = {name: limit for name in LIMITS if (limit := getattr(self, name)) is not None}
        votes = (vote for each in judged for cell in each.cells() for vote in cell.votes)
        spent = Spending.of(votes, limits) if limits else None
        return [replace(each, spent=spent) for each in judged]

    def _name(self, judged: Sequence[JudgedInstance]) -> List[JudgedInstance]:
        """Name the main score of these instances, and number what they are judged by."""
        name = self.score_name(judged)
        places = {id(each): place for place, each in enumerate(distinct(each.about.judged for each in judged))}
        return [replace(each, score_name=name, place=places[id(each.about.judged)]) for each in judged]

    def reduce_one(self, intermidate: JudgedInstance) -> InstanceScores:  # unitxt spells its parameter so
        """Return the scores of one instance, and its votes, unless another score has this name."""
        scores, main = self.instance_scores(intermidate), intermidate.score_name
        if (name := f"{main}_votes") not in scores:
            lines = [line_of(cell, prompts=False) for cell in intermidate.cells()]
            scores[name] = [{key: line[key] for key in line if key != "instance"} for line in lines]
        return InstanceScores(scores, main, self.main_score)

    def reduce(self, intermediates: List[JudgedInstance]) -> Dict[str, Any]:
        """Return the global scores: the main one and every measure of how far it can be trusted."""
        first, labels = intermediates[0], options_of_labels(self)
        main, spent, run = first.score_name, first.spent, self._run(intermediates)
        subjects, results = zip(*((each.about, each.result) for each in intermediates), strict=True)
        level = clustered_level(self.confidence_level, [about.cluster for about in subjects], self.interval)
        measures = first.mode.measures(subjects, results, level)
        corrected: Dict[str, Any] = {}
        if labels is not None:
            cells, gold = (
                (cell for each in intermediates for cell in each.cells()),
                [each.gold for each in intermediates],
            )
            corrected = corrected_scores(
                labels, run, cells, gold, main, seed=self.seed, with_intervals=self.return_confidence_interval
            )
        return {
            f"{main}_run": run,
            **corrected,
            **self.global_scores(measures, intermediates),
            **({} if spent is None else scores_of(spent, main, only=("calls_left", "cost_left"))),
            "score_name": main,
        }

    def _run(self, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return what :func:`evenhand.from_results` needs in addition to the votes: subjects, judges and settings."""
        mode, subjects = judged[0].mode, [each.about for each in judged]
        systems = dict.fromkeys(name or "response" for about in subjects for name in about.texts)
        different = {each.place: each.about.judged for each in judged}
        groups = {column: [each.groups[column] for each in judged] for column in judged[0].groups}
        return {
            "evenhand": mode.saved_as,
            "parameters": {
                **mode.made_by(judged[0].panel, subjects),
                "n": len(judged),
                **({"groups": groups} if groups else {}),
                **mode.parameters(),
            },
            **mode.judged_by([different[place] for place in sorted(different)], list(systems)),
        }

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the main score, and the record that the mode makes of the instance."""
        record, main = judged.mode.record(judged.about, judged.result), judged.score_name
        score = number_or_nan(record.pop("score", None))
        named = {f"{main}_{name}": value for name, value in record.items()}
        return {main: score, f"{main}_using_{judged.evaluator}": score, **named}

    def global_scores(self, measures: Any, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the scores of all instances, including the main one.

        Args:
            measures: Those of the mode.
            judged: The intermediate values of the instances.
        """
        main = judged[0].score_name
        return {main: math.nan, **scores_of(measures, main, with_intervals=self.return_confidence_interval)}


def distinct(values: Iterable[Value]) -> list[Value]:
    """Return each object once, in the order of first occurrence."""
    return list({id(value): value for value in values}.values())

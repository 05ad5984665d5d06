"""The base of the metrics: their fields, the run over the instances, and the scores as unitxt takes them.

:class:`EvenhandMetric` is the base of all metrics, :class:`JudgeMetric` of those in which a model judges.
"""

import json
import logging
import math
import warnings
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Dict, Final, List, TypeVar, Union, cast

from evenhand.by_name import results_of_run
from evenhand.criteria import Criterion, Rubric, context_mapping
from evenhand.data.documents import names_a_file, reads_as_sentence
from evenhand.data.fields import (
    LabelReader,
    classifications_of,
    clustered_level,
    context_of,
    field_of,
    is_abstention,
    read_clusters,
    recipe_context_fields,
    row_groups,
    text_of,
    texts_of,
    warn_of_left_out_context,
)
from evenhand.data.responses import read_responses
from evenhand.engines.base import Engine, JudgeEngine
from evenhand.engines.names import as_judge, as_list, engine_of_name, engines_with, one_step_in_batches
from evenhand.errors import ArtifactError, EvenhandWarning, InvalidInputError
from evenhand.labels.correct import DESIGNS, CorrectedScores, correct, notes_on
from evenhand.modes.mode import Mode, Subject
from evenhand.numbers import Missing, UnscoredBounds, format_number, format_percent
from evenhand.options import GoldOptions, IntervalOptions, RunOptions
from evenhand.results.made_by import LIMITS
from evenhand.results.measures import Spending, UnscoredCounts, scores_of
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
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
    group_str,
)
from evenhand.unitxt.engines import EngineArtifact, UnitxtBridge, engine_id, to_artifact
from evenhand.unitxt.loading import (
    catalog_object,
    load_checklist,
    load_comparison,
    load_criteria_artifact,
    load_of_rows,
    load_rubric,
)
from evenhand.votes import Vote, is_missing

logger = logging.getLogger(__name__)

Value = TypeVar("Value")

Gold = Union[Mapping[str, Any], None]
"""The label of an instance, as :func:`~evenhand.labels.people.read_gold` reads it; None without one."""


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

    texts: Dict[str, Any]
    main: str


IntervalFields: Any = fields_class(
    "IntervalFields", MapReduceMetric, IntervalOptions, module=__name__, left_out=("level",)
)


class RecipeInput(EvaluationInput):
    """One instance as a metric sees it, with the instance of the recipe from which it was read."""

    instance: Mapping[str, Any] = MappingProxyType({})


REFUSED: Final = ("n_resamples", "ci_score_names", "ci_scores", "implemented_reductions")
"""Fields of unitxt's metrics that would have no effect."""


class EvenhandMetric(IntervalFields):  # type: ignore[misc] # made of options
    """The base of all metrics of evenhand, for judges and for recorded votes.

    The scores of an instance and of all instances name the main score in ``score_name``.

    Attributes:
        criteria: What is judged: an artifact, its catalog id, or a frozen :class:`~evenhand.criteria.Criterion`.
        confidence_interval_calculation: ``return_confidence_interval`` under the name that unitxt's judges have for it.
        reduction_map: A field of unitxt's judges; only the mean is accepted. Other fields of theirs are refused:
            ``implemented_reductions``, ``ci_scores``, ``ci_score_names``, ``n_resamples`` and ``ci_method``.
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
        super().__setattr__(name, value)
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
        refused: Dict[str, Any] = {"reduction_map": {*(self.reduction_map or ())} - {"mean"}}
        refused["ci_method"] = None if self.ci_method == "BCa" else self.ci_method
        refused |= {name: getattr(self, name) for name in REFUSED}
        for name, given in refused.items():
            if given:
                raise InvalidInputError(
                    f"{name} is {given!r}, and scores are means with intervals by interval=…: leave {name} out. The "
                    "weighted winrate is metrics.evenhand.pairwise[scale=graded, reduction=weighted_win_rate]"
                )
        self.n_resamples = None  # 0 says so too, and unitxt would draw no samples and fail
        self.set_confidence_interval_calculation(self.return_confidence_interval)
        self._awaited_groups: List[Any] = []  # unitxt's copies of the metric share them
        self.options  # noqa: B018 - it is built, and so checked, on first use

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """Return the values of the fields, as unitxt writes them."""
        return {name: _in_full(given, getattr(self, name, None)) for name, given in data.items()}

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

    def response_of(self, given: EvaluationInput, prediction_field: Union[str, None], row: int) -> Any:
        """Return the prediction, or the task data field that is named if no predictions were given."""
        prediction, _, task_data = given
        if not isinstance(prediction, EmptyPrediction) and prediction != str(EmptyPrediction()):
            return prediction
        if prediction_field is None:
            raise InvalidInputError(
                f"instance {row} has no prediction: give predictions to evaluate(), or name the task data field that "
                "holds them, prediction_field=…"
            )
        return field_of(task_data, prediction_field, row, "prediction_field")

    @abstractmethod
    def instance_scores(self, judged: Any) -> Dict[str, Any]:
        """Return the entries of one instance, including the main score; None for what is missing."""

    def reduce_one(self, intermidate: Any) -> InstanceScores:  # unitxt spells its parameter so
        """Return the scores of one instance, and its votes, unless another score has this name."""
        entries, main = self.instance_scores(intermidate), intermidate.score_name
        if isinstance(intermidate, JudgedInstance) and f"{main}_votes" not in entries:
            dumped: Dict[str, Any] = {"mode": "json", "exclude_defaults": True, "exclude": {"prompts"}}
            entries[f"{main}_votes"] = [
                {**cell.about, "votes": [vote.model_dump(**dumped) for vote in cell.votes]}
                for cell in intermidate.cells()
            ]
        numbers = {name: value for name, value in entries.items() if isinstance(value, (int, float))}
        scores = InstanceScores({self.main_score: entries[main], **numbers})
        scores.texts = {name: value for name, value in entries.items() if name not in scores}
        scores.main = main
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


def _in_full(given: Any, held: Any) -> Any:
    """Write artifacts in full; one that is as its catalog has it keeps its id, which a policy of unitxt may name.

    Of an artifact of a catalog, unitxt writes the id alone, without fields that were overridden when it was fetched
    (``engines.evenhand.litellm[model=…]``): they would be missing in every copy, including those of a recipe.
    """
    if isinstance(held, list):
        return [_in_full(*pair) for pair in zip(as_list(given), held, strict=True)]
    if not isinstance(held, Artifact):
        return given
    made = held.to_dict()
    if held.__id__ is not None and given == held.__id__:
        try:
            entry = catalog_object(given)
        except ArtifactError:  # it is of a catalog on the network
            return given
        entry.pop("__id__", None)
        return given if made == entry else made
    return made


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
            "The score %r is that of the scored votes: %s (%s of %s affected). Had all been scored, it would lie "
            "between %s and %s (%s_0 and %s_1).",
            *(name, counts, format_percent(leading.share), leading.unit),
            *(format_number(leading.low), format_number(leading.high), bounds, bounds),
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


NO_INSTANCES = "there are no instances to score: the data set is empty"
NO_ENGINE = (
    "the metric has no inference_engine, and a judge has no default: give the name of a model (openai/gpt-4.1-mini), "
    "the address of a server with model=…, a catalog id (engines.evenhand.baseline) or an engine object"
)


class MarkedDataWarning(EvenhandWarning):
    """An engine of unitxt's is shown data of a class that it does not declare, as unitxt's judges show them."""


@dataclass(frozen=True, slots=True)
class JudgedInstance:
    """The intermediate value of one instance.

    Attributes:
        about: The responses, and what they were judged by.
        result: What the mode makes of the votes.
        mode: The way of judging.
        evaluator: The judge's name in score names.
        panel: Who judges.
        criteria_json: The criteria artifact as JSON; None for a rubric or checklist.
        groups: Column -> the group of the instance.
        gold: The labels of people.
        score_name: The main score's name in this evaluation.
        place: The index of what it is judged by, among all that the instances are judged by.
        spent: The spending of the whole run, and what is left of its limits; None without limits.
        votes: The votes on each question.
    """

    about: Subject
    result: Any
    mode: Any
    evaluator: str
    panel: Sequence[JudgeEngine] = ()
    criteria_json: Union[str, None] = None
    groups: Mapping[str, Union[str, None]] = field(default_factory=dict)
    gold: Gold = None
    score_name: str = ""
    place: int = 0
    spent: Union[Spending, None] = None
    votes: Sequence[Sequence[Vote]] = ()

    def cells(self) -> Iterator[Cell]:
        """Yield the votes on each question, with the entries of a saved result that say which question it is."""
        yield from self.mode.cells(self.about, self.votes, self.place)


Identity = tuple[int, ...]
AwaitedGroup = tuple[List[Identity], List[JudgedInstance], Sequence[Mapping[str, Any]]]
"""A group of instances that were judged, for which unitxt has not asked yet: identities, and intermediate values.

unitxt scores all instances first, and then each group by another call of the same metric, without naming the
evaluation. Each call gets copies of the containers only: the texts and numbers in them are the same objects, which
distinguishes the instances of an evaluation from equal ones of another. All instances of the evaluation are held too,
as an identity is that of objects that live. Nothing is kept after the last group.
"""


def awaited_groups(instances: Sequence[Mapping[str, Any]], judged: Sequence[JudgedInstance]) -> List[AwaitedGroup]:
    """Return the groups for which unitxt is going to ask, of the instances of a recipe and their values."""
    groups: Dict[str, AwaitedGroup] = {}
    for instance, mapped in zip(instances, judged, strict=True):
        for group in instance.get("groups") or ():
            members, values, _ = groups.setdefault(group_str(group), ([], [], instances))
            members.append(_identity(instance))
            values.append(mapped)
    return list(groups.values())


def _identity(instance: Mapping[str, Any]) -> Identity:
    """Return the identities of the values in an instance, which copies of its containers share."""

    def values(given: Any) -> Iterator[Any]:
        if isinstance(given, (dict, list, tuple)):
            for each in given.values() if isinstance(given, dict) else given:
                yield from values(each)
        else:
            yield given

    return tuple(map(id, values([instance[name] for name in ("__idx__", "task_data", "prediction", "references")])))


RunFields: Any = fields_class(
    "RunFields",
    fields_class("GoldFields", EvenhandMetric, GoldOptions, module=__name__),
    RunOptions,
    module=__name__,
    left_out=tuple(IntervalOptions.model_fields),  # those of all metrics; ``level`` is unitxt's confidence_level
)


class JudgeMetric(RunFields):  # type: ignore[misc] # as above
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
    judges_by = "criteria"  # the field with what is judged; ``<judges_by>_field`` names a field of the rows
    compares = False  # whether a prediction holds several responses

    def changed_options(self) -> Dict[str, Any]:
        """Return the flow ``one_step`` for batches, unless a flow is given."""
        return {} if "flow" in self._init_dict else one_step_in_batches(self.inference_engine, self.batch)

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
        GoldOptions(**{name: getattr(self, name) for name in GoldOptions.model_fields})
        if (self.gold_field is None) != (self.gold_design is None):
            meant = "; ".join(f"{name!r}: {what}" for name, what in DESIGNS.items())
            raise InvalidInputError(
                f"gold_field is {self.gold_field!r} and gold_design is {self.gold_design!r}: give both, the field with "
                f"the labels and how the labelled instances were chosen, which cannot be seen in the labels. {meant}"
            )
        kind = self.judges_by
        names = ("criteria", "criteria_field", kind, f"{kind}_field") if kind in DOCUMENTS else ()
        given = [name for name in names if getattr(self, name) is not None]
        if len(given) > 1 or "criteria" in given or "criteria_field" in given:
            raise InvalidInputError(
                f"the metric judges by a {kind}, and {' and '.join(given)} are given: give {kind}, or {kind}_field for "
                "one in each row"
            )
        judged = self.own_judged()
        self.mode_of(() if judged is None else (judged,))  # checks the rules and the prompt

    def own_judged(self) -> Any:
        """Return what all instances are judged by, frozen; None if instances name their own."""
        given = getattr(self, self.judges_by)
        return None if given is None else self.freeze(given)

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
        return dict(super().process_data_before_dump(data))

    def engines(self) -> list[Any]:
        """Return the engines of the panel.

        Raises:
            InvalidInputError: If there is none.
        """
        if not self.inference_engine:
            raise InvalidInputError(NO_ENGINE)
        return engines_with(self.inference_engine, self.model, batch=self.batch)

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
        fields, references, task_data = context_mapping(self.context_fields), texts_of(given[1]), given[2]
        if not fields:
            fields = recipe_context_fields(task_data, judged, with_context=fields is None)
        marked = given.instance if isinstance(given, RecipeInput) else {}
        return Subject(
            instance=row,
            texts=texts,
            context=context_of(task_data, fields, judged, row, references),
            references=references,
            draw_key=json.dumps(given, default=str),  # a group of the data draws as the whole does
            data_classifications=(*classifications_of(marked, row), *classifications_of(task_data, row)),
            guidelines=self.guidelines,
            judged=judged,
        )

    def judged_name(self) -> str:
        """Return the name of what is judged; empty if instances name their own."""
        judged = self.own_judged()
        return "" if judged is None else str(judged.name)

    def shown_fields(self) -> list[str]:
        """Return the task data fields shown in addition to the response, as far as known before the data."""
        fields, judged = context_mapping(self.context_fields), self.own_judged()
        rows_field = getattr(self, f"{self.judges_by}_field") if judged is None else None
        if fields is None:
            parts = judged.criteria if isinstance(judged, Rubric) else [judged]
            fields = {field: field for part in parts if part is not None for field in part.context_fields.values()}
        return [*fields.values(), *([rows_field] if rows_field else [])]

    @abstractmethod
    def mode_of(self, judged: Sequence[Any]) -> Mode[Any]:
        """Return the way of judging, with the settings of the run, checked.

        Args:
            judged: The criteria, each once.
        """

    def freeze(self, given: Any) -> Any:
        """Return the frozen criterion, rubric or checklist, as the metric judges it."""
        return load_comparison(given)

    def judged_by(self, rows: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Any], Sequence[Union[str, None]]]:
        """Return what each instance is judged by, frozen, and the artifact of a criterion as JSON.

        Raises:
            InvalidInputError: If neither the metric nor a field of the rows says it.
            ArtifactError: If a row names something else.
        """
        kind, own = self.judges_by, getattr(self, self.judges_by)
        field = getattr(self, f"{kind}_field")
        if own is None and field is None:
            raise InvalidInputError(
                f"the metric has neither {kind} nor {kind}_field: give {kind} (a catalog id, a file or an artifact), "
                "or the task data field that holds each instance's own"
            )
        if kind in DOCUMENTS:
            judged = load_of_rows(rows, field, f"{kind}_field", cast(Any, kind), self.freeze) if own is None else []
            return judged or [self.freeze(own)] * len(rows), [None] * len(rows)
        if own is None:
            artifacts = load_of_rows(rows, field, "criteria_field", "criterion")
        else:
            artifacts = [load_criteria_artifact(own)] * len(rows)
        frozen = {id(artifact): (self.freeze(artifact), artifact.to_json()) for artifact in distinct(artifacts)}
        criteria, as_json = zip(*(frozen[id(artifact)] for artifact in artifacts), strict=True)
        return criteria, as_json

    def subjects(self, inputs: Sequence[EvaluationInput], judged: Sequence[Any]) -> Sequence[Subject]:
        """Return the subjects, one per instance."""
        found = [self.subject(row, *about) for row, about in enumerate(zip(inputs, judged, strict=True))]
        for one in distinct(judged) if self.context_fields else ():
            warn_of_left_out_context(one, context_mapping(self.context_fields))
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
        if not inputs:
            raise InvalidInputError(NO_INSTANCES)
        instances = [given.instance if isinstance(given, RecipeInput) else {} for given in inputs]
        members = [_identity(instance) for instance in instances if self._awaited_groups and "__idx__" in instance]
        for place, (awaited, values, _) in enumerate(self._awaited_groups):
            if awaited == members:
                del self._awaited_groups[place]
                return self._name(values)
        judged = self._judge(inputs)
        if any(instance.get("groups") for instance in instances):
            self._awaited_groups += awaited_groups(instances, judged)
        return judged

    def _judge(self, inputs: Sequence[EvaluationInput]) -> List[JudgedInstance]:
        rows = [task_data for _, _, task_data in inputs]
        clusters = read_clusters(rows, self.cluster_field, what="instance")
        columns = row_groups(rows, self.group_fields)["groups"] if self.group_fields else {}
        judged_by, as_json = self.judged_by(rows)
        read = self.subjects(inputs, judged_by)
        subjects = [replace(about, cluster=cluster) for about, cluster in zip(read, clusters, strict=True)]
        panel, evaluator = self.panel()
        mode = self.mode_of(distinct(about.judged for about in subjects))
        for judge in panel:
            if isinstance(judge, UnitxtBridge):
                caution = judge.check_mark({each for about in subjects for each in about.data_classifications})
                if caution is not None:  # Python's filter shows it once, although a recipe with groups copies metrics
                    warnings.warn(caution, MarkedDataWarning, stacklevel=2)
        groups = [{column: names[row] for column, names in columns.items()} for row in range(len(rows))]
        gold = [self.label_of(row, own) if self.gold_field is not None else None for row, own in enumerate(rows)]
        planned = self._name(
            [
                JudgedInstance(about, None, mode, evaluator, panel, criteria, own, label)
                for about, criteria, own, label in zip(subjects, as_json, groups, gold, strict=True)
            ]
        )
        if self.gold_field is not None:
            self._check_labels(planned)
        asked, spent = list(mode.ask(subjects, panel)), None
        if limits := {name: given for name in LIMITS if (given := getattr(self, name)) is not None}:
            spent = Spending.of((vote for _, votes in asked for cell in votes for vote in cell), limits)
        return [
            replace(each, about=about, result=mode.result(about, votes), votes=votes, spent=spent)
            for each, (about, votes) in zip(planned, asked, strict=True)
        ]

    def _name(self, judged: Sequence[JudgedInstance]) -> List[JudgedInstance]:
        """Name the main score of these instances, and number what they are judged by."""
        name = self.score_name(judged)
        places = {id(each): place for place, each in enumerate(distinct(each.about.judged for each in judged))}
        return [replace(each, score_name=name, place=places[id(each.about.judged)]) for each in judged]

    def reduce(self, intermediates: List[JudgedInstance]) -> Dict[str, Any]:
        """Return the global scores: the main one and every measure of how far it can be trusted."""
        first = intermediates[0]
        main, spent, run = first.score_name, first.spent, self._run(intermediates)
        subjects, results = zip(*((each.about, each.result) for each in intermediates), strict=True)
        level = clustered_level(self.confidence_level, [about.cluster for about in subjects], self.interval)
        measures = first.mode.measures(subjects, results, level)
        return {
            f"{main}_run": run,
            **({} if self.gold_field is None else self._corrected_scores(intermediates)),
            **self.global_scores(measures, intermediates),
            **({} if spent is None else scores_of(spent, main, only=("calls_left", "cost_left"))),
            "score_name": main,
        }

    def label_of(self, instance: int, row: Mapping[str, Any]) -> Gold:
        """Return the label that people gave to an instance; None without one."""
        label = {"id": instance, "label": field_of(row, self.gold_field, instance, "gold_field")}
        if self.gold_probability_field is not None:
            label["probability"] = field_of(row, self.gold_probability_field, instance, "gold_probability_field")
        return None if label["label"] is None or is_abstention(label["label"]) else label

    def _check_labels(self, planned: Sequence[JudgedInstance]) -> None:
        """Check, before the first call, that the scores can be corrected: with judges that all abstain.

        Raises:
            InvalidInputError: Labels that fit no question, or too few of them, or scores that people cannot give.
        """
        if len({id(each.about.judged) for each in planned}) > 1:
            raise InvalidInputError(
                f"gold_field is {self.gold_field!r}, and the instances are judged by criteria of their own: a "
                "corrected score is about one; evaluate the instances of one criterion alone"
            )
        abstaining = []
        for each in planned:
            asked = each.mode.questions(each.about)
            votes = [[LabelReader(question.criterion).vote("abstaining judge", None)] for question in asked]
            abstaining.append(replace(each, votes=votes))
        self._correct(abstaining)

    def _correct(self, judged: Sequence[JudgedInstance]) -> tuple[Results, CorrectedScores]:
        """Return the result of the instances, and the scores corrected by the labels that these have.

        A label that is a mapping is of several people about one question, or of one person about several.
        """
        results = results_of_run(self._run(judged), (cell for each in judged for cell in each.cells()))
        asked = Counter(results.question_name(cell)[0] for cell in results.cells())
        rows: List[Mapping[str, Any]] = []
        for label in [each.gold for each in judged if each.gold and asked[each.about.instance]]:
            given, several = label["label"], asked[label["id"]] > 1
            column = results.labelled_by[-1] if several else "annotator"
            named = given.items() if isinstance(given, Mapping) else ()
            rows += [{**label, column: str(name), "label": each} for name, each in named] or [label]
        return results, correct(results, rows, design=self.gold_design, label_field="label")

    def _corrected_scores(self, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the corrected entries of the global scores; if the labels do not suffice, NaN and the reason."""
        main = judged[0].score_name
        try:
            results, found = self._correct(judged)
        except InvalidInputError as error:  # of a group of instances, which may have no labels; all were checked before
            logger.warning("%s_corrected is missing: %s", main, error)
            return {f"{main}_corrected": math.nan, f"{main}_corrected_notes": [str(error)]}
        wholes = {each.criterion for each in results.outcomes() if each.part_of is None}
        entries: Dict[str, Any] = {f"{main}_corrected_notes": [*notes_on(found.scores), *found.notes]}
        for score in found.scores:
            parts = [*([] if score.criterion in wholes else [score.criterion]), *filter(None, [score.option])]
            name = f"{score.system}_winrate" if results.kind == "winrates" else main
            named = "_".join([name, *(part.lower().replace(" ", "_") for part in parts)])
            entries |= scores_of(score, named, with_intervals=self.return_confidence_interval, only=REPORTED)
        return entries

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
        """Return the main score, and the entries of the instance under its name."""
        entries, main = self.entries(judged), judged.score_name
        score = number_or_nan(entries.pop("score", None))
        named = {f"{main}_{name}": value for name, value in entries.items()}
        return {main: score, f"{main}_using_{judged.evaluator}": score, **named}

    def entries(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the entries of an instance, by default the record of the mode; the main one is called ``score``."""
        return dict(judged.mode.record(judged.about, judged.result))

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


REPORTED = ("corrected", "labels", "labels_saved", "num_labelled")
"""The measures of a corrected score that a recipe does not yet have."""

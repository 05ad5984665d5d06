"""What all metrics share: how scores, intervals and errors are handed to unitxt, and to what calls a metric of its.

Below the metric stand the names and numbers of scores as unitxt shows them.
"""

import logging
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Dict, List, Union

from evenhand.catalog import read_entry
from evenhand.criteria import Criterion
from evenhand.data.documents import is_sentence
from evenhand.data.fields import clustered_level, read_clusters
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.numbers import Missing, format_count, format_number, format_percent
from evenhand.options import IntervalOptions
from evenhand.results.measures import UnscoredCounts
from evenhand.statistics.intervals import IntervalLevel, UnscoredBounds
from evenhand.unitxt.bases import (
    Artifact,
    Criteria,
    EmptyPrediction,
    EvaluationInput,
    MapReduceMetric,
    Maybe,
    field_value,
    fields_class,
)
from evenhand.unitxt.catalogs import local_entry
from evenhand.unitxt.loading import load_criteria_artifact
from evenhand.visible import visible_line
from evenhand.votes import is_missing

logger = logging.getLogger(__name__)


class InstanceScores(Dict[str, float]):
    """The numbers of one instance, which every reduction of unitxt can take, and what is none of them beside.

    unitxt's reductions add up all that an instance's scores hold, and its ensembles and groups look for the score that
    the metric's ``main_score`` names: so texts, lists and what is missing are held apart, and the main score stands
    under both names. :meth:`EvenhandMetric.annotate_scores` brings them together for the results of a recipe.

    Attributes:
        texts: What is no number: texts, lists, and None for what there is nothing to say about.
        main: The name of the main score.
    """

    def __init__(self, scores: Dict[str, Any], main: str, alias: str) -> None:
        """Part the scores.

        Args:
            scores: All of an instance, the main one among them.
            main: The name of the main score.
            alias: The name under which unitxt's own code looks for it.
        """
        super().__init__({name: value for name, value in scores.items() if isinstance(value, (int, float))})
        self.setdefault(alias, self[main])
        self.texts = {name: value for name, value in scores.items() if name not in self}
        self.main = main

    @property
    def whole(self) -> Dict[str, Any]:
        """The numbers and all else."""
        return {**self, **self.texts}


if TYPE_CHECKING:

    class IntervalFields(MapReduceMetric):
        """How intervals are made: see :class:`~evenhand.options.IntervalOptions`."""

        interval: str = "auto"
        cluster_field: Maybe[Union[str, bool]] = None
else:
    IntervalFields = fields_class(
        "IntervalFields", MapReduceMetric, IntervalOptions, module=__name__, left_out=("level",)
    )


class EvenhandMetric(IntervalFields):
    """The base of all metrics of evenhand, whether a model judges or votes are read.

    The scores of an instance and of all instances name the main one among them in ``score_name``.

    Attributes:
        criteria: What is judged: an artifact, its catalog id, or a frozen :class:`~evenhand.criteria.Criterion`.
        confidence_interval_calculation: ``return_confidence_interval`` as unitxt's judges call it.
        reduction_map: Of unitxt's judges, for recipes that set it: the mean, which is what is done. Like
            ``implemented_reductions``, ``ci_scores``, ``n_resamples`` and ``ci_method`` it is refused where it asks for
            something else.
        implemented_reductions: As above.
        ci_scores: As above: every score has its interval.
    """

    main_score: str = "score"
    prediction_type: Any = Any
    n_resamples: Maybe[int] = None  # unitxt's own bootstrap stays off: the scores bring their intervals

    criteria: Maybe[Criteria] = None
    confidence_interval_calculation: Maybe[bool] = None
    reduction_map: Maybe[Dict[str, List[str]]] = None
    implemented_reductions: Maybe[List[str]] = None
    ci_scores: Maybe[List[str]] = None

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "criteria" and isinstance(value, str) and is_sentence(value):
            value = load_criteria_artifact(value)
        super().__setattr__(name, field_value(type(self), name, value))

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        self._check_fields_of_unitxt()
        self.check_options()

    def check_options(self) -> None:
        """Check what the intervals are over, and how they are made."""
        given: dict[str, Any] = {"interval": self.interval, "cluster_field": self.cluster_field}
        IntervalOptions(**given)

    def clusters_of(self, inputs: Sequence[EvaluationInput]) -> List[Union[str, None]]:
        """The cluster of each instance; None where every instance stands for itself."""
        rows = [task_data for _, _, task_data in inputs]
        found = read_clusters(rows, self.cluster_field, what="instance")
        return [None] * len(rows) if found is None else list(found)

    def level_of(self, intermediates: Sequence[Any]) -> IntervalLevel:
        """The level of intervals over these instances, with their clusters."""
        return clustered_level(self.confidence_level, [each.cluster for each in intermediates], self.interval)

    def prepare(self) -> None:
        """Make a frozen criterion an artifact, which unitxt can copy and write."""
        super().prepare()
        given: object = self.criteria
        if isinstance(given, (list, tuple)):
            raise InvalidInputError(
                f"criteria is a list of {len(given)}; a metric judges by one criterion: give a metric for each, or all "
                "of them as a rubric to metrics.evenhand.rubric"
            )
        if isinstance(given, Criterion):
            self.criteria = load_criteria_artifact(given)
        self.set_confidence_interval_calculation(self.return_confidence_interval)

    def set_confidence_interval_calculation(self, return_confidence_interval: bool) -> None:
        """Give intervals, as a recipe says, unless the metric's own field says otherwise."""
        self.return_confidence_interval = (
            return_confidence_interval and self.confidence_interval_calculation is not False
        )

    def _check_fields_of_unitxt(self) -> None:
        """Refuse what unitxt's metrics take and what would do nothing here."""
        mine = {
            "n_resamples": (self.n_resamples or None, "intervals are not resampled by unitxt; interval='bootstrap' is"),
            "ci_method": (None if self.ci_method == "BCa" else self.ci_method, "the method of intervals is interval=…"),
            "ci_scores": (self.ci_scores, "every score has its interval"),
            "ci_score_names": (self.ci_score_names, "every score has its interval"),
            "implemented_reductions": (self.implemented_reductions, "scores are reduced to their means"),
        }
        for name, (given, why) in mine.items():
            if given is not None:
                raise InvalidInputError(f"{name} is {given!r}, and {why}: leave {name} out")
        for reduction in self.reduction_map or ():
            if reduction != "mean":
                raise InvalidInputError(
                    f"reduction_map is {self.reduction_map!r}; scores are reduced to their means. The weighted winrate "
                    "is metrics.evenhand.pairwise[scale=graded, reduction=weighted_win_rate]"
                )

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """What the metric was made from, as unitxt writes it."""
        data = {name: _as_made(given, getattr(self, name, None)) for name, given in data.items()}
        if isinstance(data.get("criteria"), Criterion) and self.criteria is not None:
            return {**data, "criteria": self.criteria.to_dict()}
        return data

    def _instance_to_evaluation_input(self, instance: Dict[str, Any]) -> EvaluationInput:
        prediction, references, task_data = super()._instance_to_evaluation_input(instance)
        raw = instance.get("raw_prediction", prediction)
        if is_missing(raw):
            prediction = None  # a recipe's postprocessors make the text "None" or "nan" of it
        elif isinstance(raw, (list, tuple, dict)) and prediction == str(raw).strip():
            prediction = raw  # and a text of these, from which what is missing cannot always be read back
        return EvaluationInput(prediction, references, task_data)

    def reduce_and_bootstrap(self, intermediates: List[Any]) -> Dict[str, Any]:
        """The global scores; they bring their own intervals."""
        if not intermediates:
            raise InvalidInputError("there are no instances to score: the data set is empty")
        return self.reduce(intermediates)

    @abstractmethod
    def instance_scores(self, judged: Any) -> Dict[str, Any]:
        """The scores of one instance, the main one among them; None for what there is nothing to say about."""

    def reduce_one(self, intermidate: Any) -> InstanceScores:  # unitxt spells its parameter so
        """The scores of one instance: what is a number, as reductions take it, and the rest beside."""
        return InstanceScores(self.instance_scores(intermidate), intermidate.score_name, self.main_score)

    def compute(
        self,
        stream: Maybe[Iterable[Dict[str, Any]]] = None,
        stream_name: Maybe[str] = None,
        *,
        references: Maybe[Sequence[Any]] = None,
        predictions: Maybe[Sequence[Any]] = None,
        task_data: Maybe[Sequence[Dict[str, Any]]] = None,
    ) -> Any:
        """The scores of each instance and of all, as a recipe asks for them, or those of each, as unitxt's judges do.

        Args:
            stream: The instances.
            stream_name: Of a recipe.
            references: Without a stream: of each instance.
            predictions: As above; empty where the criteria name the fields of the task data that hold them.
            task_data: As above.

        Returns:
            With a stream the scores of each instance, and of all; else one dict an instance, as ``compute`` of unitxt's
            ``LLMJudgeDirect`` gives them to its ``MetricInferenceEngine``.
        """
        if stream is not None:
            return super().compute(stream, stream_name)
        rows = task_data if task_data is not None else [{} for _ in predictions or ()]
        given = predictions or [EmptyPrediction()] * len(rows)
        known = references or [[] for _ in rows]
        inputs = [EvaluationInput(*each) for each in zip(given, known, rows, strict=True)]
        return [self.reduce_one(each).whole for each in self.map_stream(inputs)]

    def process(self, stream: Iterable[Dict[str, Any]], stream_name: Maybe[str] = None) -> Iterator[Any]:
        """Add the scores to the instances; where they replace those of a metric before, say so once."""
        instances = list(stream)
        before = [instance.get("score") or {"global": {}, "instance": {}} for instance in instances]
        hidden = [{**instance, "score": {"global": {}, "instance": {}}} for instance in instances]
        for row, (scored, old) in enumerate(zip(super().process(hidden, stream_name), before, strict=True)):
            own = scored["score"]
            if row == 0:
                _tell_of_replaced(own["global"], old["global"])
            yield {**scored, "score": {part: {**old[part], **own[part]} for part in ("global", "instance")}}

    def annotate_scores(self, scores: Dict[str, Any]) -> Dict[str, Any]:
        """Add ``score`` and ``score_name``, which repeat the main score; the scores say which that is."""
        if isinstance(scores, InstanceScores):
            scores = {**scores.whole, "score_name": scores.main}
        main = scores["score_name"]
        annotated = {self.score_prefix + name: value for name, value in scores.items() if name != "score_name"}
        annotated |= {"score_name": self.score_prefix + main, "score": scores[main]}
        for bound in ("ci_low", "ci_high"):
            if f"{main}_{bound}" in scores:
                annotated[f"score_{bound}"] = scores[f"{main}_{bound}"]
        return annotated


def _tell_of_replaced(scores: Dict[str, Any], before: Dict[str, Any]) -> None:
    """Say once, and not for each score, that those of a metric before are replaced."""
    replaced = [
        name
        for name in scores
        if name in before and name not in {"score", "score_name", "num_of_instances"} and "_ci_" not in name
    ]
    if replaced:
        logger.warning(
            "%s (%s, …) replace those of a metric before: give one of the two metrics a score_prefix, such as "
            "score_prefix='second_'",
            format_count(len(replaced), "score"),
            visible_line(replaced[0]),
        )


def _as_made(given: Any, held: Any) -> Any:
    """What a field was made from, whole.

    unitxt writes an artifact that was fetched from a catalog as its id alone: what was overridden when it was fetched
    (``engines.evenhand.litellm[model=…]``) would be gone from every copy of the metric, those that a recipe makes too.
    """
    if isinstance(given, list) and isinstance(held, list) and len(given) == len(held):
        return [_as_made(*pair) for pair in zip(given, held, strict=True)]
    if not isinstance(held, Artifact) or held.__id__ is None or given != held.__id__:
        return given
    try:
        path, _ = local_entry(given)
    except LookupError:
        return given
    entry, made = read_entry(path), held.to_dict()
    return given if made == {name: value for name, value in entry.items() if name != "__id__"} else made


def number_or_nan(value: Union[float, Missing, None]) -> float:
    """A score as unitxt takes it: NaN where it is undefined."""
    return math.nan if value is None or isinstance(value, Missing) else value


def warn_of_unscored(
    name: str,
    counts: UnscoredCounts,
    leading: Union[UnscoredBounds, None],
    *,
    bounds: str = "score_if_unscored",
) -> None:
    """Warn that the bounds of a score lead, and not its mean; nothing where the mean leads.

    Args:
        name: The score.
        counts: Of its votes.
        leading: Its bounds, where these lead.
        bounds: How the scores are called that hold them, without ``_0`` and ``_1``.
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


def panel_scores(name: str, report: Union[PanelReport, None], *, with_intervals: bool) -> dict[str, float]:
    """What the votes say about the judges, under the name of the score that they made; nothing without a report."""
    if report is None:
        return {}
    return {f"{name}_{each}": value for each, value in report.scores(with_intervals=with_intervals).items()}


def score_name_of(names: Iterable[str], default: str) -> str:
    """The score's name, as unitxt makes it: the criterion's, when all instances share one that has a name.

    >>> score_name_of(["Answer relevance", "Answer relevance"], "llm_as_judge")
    'answer_relevance'
    >>> score_name_of(["relevance", "fluency"], "llm_as_judge")
    'llm_as_judge'
    """
    unique = set(names)
    only = unique.pop() if len(unique) == 1 else ""
    return "_".join(only.lower().split(" ")) if only else default

"""What every metric of evenhand hands to unitxt: criteria that it can write, and scores that bring their intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Dict, List, Union

from evenhand.artifacts import load_criteria_artifact
from evenhand.catalogs import local_entry, read_object
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.clusters import clustered_level, read_clusters
from evenhand.run_options import IntervalOptions
from evenhand.statistics.clusters import IntervalLevel
from evenhand.unitxt_bases import Artifact, Criteria, EvaluationInput, MapReduceMetric, Maybe, fields_class
from evenhand.votes import is_missing

if TYPE_CHECKING:

    class IntervalFields(MapReduceMetric):
        """How intervals are made: see :class:`~evenhand.run_options.IntervalOptions`."""

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
    """

    main_score: str = "score"
    prediction_type: Any = Any
    n_resamples: Maybe[int] = None  # unitxt's own bootstrap stays off: the scores bring their intervals

    criteria: Maybe[Criteria] = None

    def verify(self) -> None:
        """Check what the intervals are over, and how they are made."""
        super().verify()
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
        if isinstance(given, Criterion):
            self.criteria = load_criteria_artifact(given)

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

    def annotate_scores(self, scores: Dict[str, Any]) -> Dict[str, Any]:
        """Add ``score`` and ``score_name``, which repeat the main score; the scores say which that is."""
        main = scores["score_name"]
        annotated = {self.score_prefix + name: value for name, value in scores.items() if name != "score_name"}
        annotated |= {"score_name": self.score_prefix + main, "score": scores[main]}
        for bound in ("ci_low", "ci_high"):
            if f"{main}_{bound}" in scores:
                annotated[f"score_{bound}"] = scores[f"{main}_{bound}"]
        return annotated


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
    entry, made = read_object(path, f"the catalog entry {str(path)!r}"), held.to_dict()
    return given if made == {name: value for name, value in entry.items() if name != "__id__"} else made

"""Judge metrics, and those of recorded votes, as modules of Hugging Face's ``evaluate``."""

from typing import Any

import datasets
import evaluate

from evenhand.data.fields import REFERENCE_FIELDS
from evenhand.errors import ArtifactError, InvalidInputError
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import VoteAggregation
from evenhand.metrics.metric import JudgeMetric
from evenhand.unitxt.bases import EvaluationInput, UnitxtArtifactNotFoundError, fetch_artifact


class JudgeEvaluation(evaluate.Metric):  # type: ignore[misc] # evaluate has no types
    """An ``evaluate`` metric in which a model judges, or in which recorded votes are aggregated.

    ``predictions`` holds what is judged, one entry per instance, in the form that the metric takes: a text for direct
    assessment, a list of responses or a dict of system and response for a comparison, a list of votes or a dict of
    judge and vote for recorded votes. ``references`` holds known good answers, a text or a list of texts per instance,
    for votes the option that is right. Every other name is task data, a list with one entry per instance.

    Instances are kept in memory as they are given, because Arrow has no column for a dict that names other systems on
    each data set, nor for a missing response.

    Attributes:
        metric: The unitxt metric.
    """

    def __init__(self, metric: JudgeMetric | VoteAggregation) -> None:
        self.metric, self._inputs = metric, list[EvaluationInput]()
        super().__init__(keep_in_memory=True, seed=metric.seed)
        names = (metric.__type__.removesuffix("_judge"), metric.judged_name().lower().replace(" ", "_"))
        self.info.module_name = "_".join(filter(None, names))  # two modules of a combination need two names

    def __len__(self) -> int:
        return len(self._inputs)

    def _build_data_dir(self) -> str:
        """Return no folder, as nothing is stored in files."""
        return ""

    def _info(self) -> evaluate.EvaluationModuleInfo:
        metric, text = self.metric, datasets.Value("string")
        shown = metric.shown_fields() if isinstance(metric, JudgeMetric) else []
        columns = {name.partition("/")[0]: text for name in shown if name not in REFERENCE_FIELDS}
        given = text if isinstance(metric, JudgeMetric) else datasets.Sequence(text)
        features = datasets.Features(predictions=given, references=datasets.Sequence(text), **columns)
        return evaluate.EvaluationModuleInfo(type(metric).__doc__, "", features, inputs_description=self.__doc__)

    def add(self, *, prediction: object = None, reference: object = None, **columns: object) -> None:
        """Add one instance; ``evaluate.combine`` passes one prediction under the names of many."""
        one = {"predictions": prediction, "references": reference, **columns}
        self.add_batch(**{name: None if value is None else [value] for name, value in one.items()})

    def add_batch(self, **columns: object) -> None:
        """Add instances."""
        lists = {name: _list_of(name, column) for name, column in columns.items() if column is not None}
        lacking = [name for name in self.features if name not in lists and name != "references"]
        if lacking:
            raise InvalidInputError(f"the judge needs {lacking!r}: pass {lacking[0]}=[…] with one entry per instance")
        if len(sizes := {len(column): name for name, column in lists.items()}) > 1:
            raise InvalidInputError(f"the columns differ in length, {sizes!r}; give one entry per instance in each")
        for values in zip(*lists.values(), strict=True):
            row = dict(zip(lists, values, strict=True))
            known = row.pop("references", None)
            known = list(known) if isinstance(known, list | tuple) else [] if known is None else [known]
            self._inputs.append(EvaluationInput(row.pop("predictions"), known, row))

    def compute(self, **columns: object) -> dict[str, Any]:
        """Judge the instances given here and added before, and forget them."""
        if any(column is not None for column in columns.values()):
            self.add_batch(**columns)
        inputs, self._inputs = self._inputs, []
        scores = self.metric.annotate_scores(self.metric.reduce_and_bootstrap(self.metric.map_stream(inputs)))
        return {**scores, "num_of_instances": len(inputs)}


def _list_of(name: str, column: Any) -> list[Any]:  # noqa: ANN401 - of any library
    if isinstance(column, str | bytes | dict) or not hasattr(column, "__iter__"):
        raise InvalidInputError(f"{name} is {column!r}; give a list with one entry per instance")
    return list(column.tolist() if hasattr(column, "tolist") else column)


def evaluation_module(metric: object) -> JudgeEvaluation:
    """Make an ``evaluate`` module of a metric of judges or votes, for ``compute``, ``add`` and ``evaluate.combine``.

    Other modules refuse columns that they do not know, so combine judges that need columns with one another, or name
    the criterion's context otherwise.

    Args:
        metric: A catalog id with its settings, such as ``metrics.evenhand.direct[criteria=…,inference_engine=…]``, or a
            metric object.

    Raises:
        ArtifactError: If the id names nothing, or something that is no judge or vote metric of evenhand.

    Example:
        >>> module = evaluation_module(
        ...     "metrics.evenhand.direct[criteria=criteria.evenhand.direct.clarity,"
        ...     "inference_engine=engines.evenhand.baseline,progress=False]"
        ... )
        >>> module.name
        'direct_clarity'
        >>> scores = module.compute(predictions=["It is Paris."], question=["What is the capital of France?"])
        >>> scores["score_name"], scores["num_of_instances"]
        ('clarity', 1)
        >>> votes = evaluation_module("metrics.evenhand.votes.binary.majority")
        >>> votes.compute(predictions=[["yes", "yes", "no"], ["no", "no", "yes"]])["votes"]
        0.5
    """
    register()
    try:
        found = fetch_artifact(metric)[0] if isinstance(metric, str) else metric
    except UnitxtArtifactNotFoundError as error:
        raise ArtifactError(f"the catalog cannot make the metric {metric!r}: {error}") from error
    if isinstance(found, JudgeMetric | VoteAggregation):
        return JudgeEvaluation(found)
    raise ArtifactError(f"{metric!r} is a {type(found).__name__}; give a judge metric of evenhand, or one of its votes")

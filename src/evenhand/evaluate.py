"""Judge metrics, and those of recorded votes, as modules of Hugging Face's ``evaluate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
import evaluate

from evenhand.data.fields import REFERENCE_FIELDS, text_of
from evenhand.errors import ArtifactError, InvalidInputError
from evenhand.metrics import register
from evenhand.metrics.judge_metric import JudgeMetric
from evenhand.metrics.recorded_votes_metric import VoteAggregation
from evenhand.unitxt.bases import EvaluationInput, UnitxtArtifactNotFoundError, fetch_artifact

USAGE = """
Args:
    predictions: What is judged, one entry an instance, in the form that the metric takes: a text for direct
        assessment, a list of responses or a dict of system and response for a comparison, a list of votes or a dict of
        judge and vote for recorded votes.
    references: Known good answers, a text or a list of texts an instance, for votes the option that is right; may be
        left out.
    **columns: The task data, a list with one entry an instance under each name.

Returns:
    The metric's global scores.
"""


def evaluation_module(metric: object) -> JudgeEvaluation:
    """A metric of judges or votes as an ``evaluate`` module, for ``compute``, ``add`` and ``evaluate.combine``.

    Other modules refuse columns that they do not know, so combine judges that need columns with one another, or name
    the criterion's context otherwise.

    Args:
        metric: A catalog id with its settings, such as ``metrics.evenhand.direct[criteria=…,inference_engine=…]``, or a
            metric object.

    Raises:
        ArtifactError: If the id names nothing, or something that is no judge or vote metric of evenhand.
        InvalidInputError: If a vote metric reads predictions or references from the task data.

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
    found = metric
    if isinstance(metric, str):
        try:
            found = fetch_artifact(metric)[0]
        except UnitxtArtifactNotFoundError as error:
            raise ArtifactError(f"the catalog cannot make the metric {metric!r}: {error}") from error
    if not isinstance(found, JudgeMetric | VoteAggregation):
        raise ArtifactError(
            f"{metric!r} is a {type(found).__name__}; give a judge metric of evenhand, such as "
            "'metrics.evenhand.direct[criteria=criteria.evenhand.direct.relevance,"
            "inference_engine=engines.evenhand.baseline]', or one of recorded votes, such as "
            "'metrics.evenhand.votes.binary.majority'"
        )
    if isinstance(found, VoteAggregation):
        _check_votes_are_given(found)
    return JudgeEvaluation(found)


def _check_votes_are_given(metric: VoteAggregation) -> None:
    for name, own in (("prediction_field", "prediction"), ("reference_field", "references")):
        if getattr(metric, name) != own:
            raise InvalidInputError(
                f"{name} is {getattr(metric, name)!r}, but a module of evaluate is given the votes as predictions=[…] "
                f"and what is right as references=[…]; leave {name} out"
            )


class JudgeEvaluation(evaluate.Metric):  # type: ignore[misc] # evaluate has no types
    """An ``evaluate`` metric in which a model judges, or in which recorded votes are aggregated.

    Instances are kept in memory as they are given, because Arrow has no column for a dict that names other systems on
    each data set, nor for a missing response. The columns that the metric's criterion shows to the judge are features;
    others may be given too.

    Attributes:
        metric: The unitxt metric.
    """

    def __init__(self, metric: JudgeMetric | VoteAggregation) -> None:
        self.metric = metric
        self._inputs: list[EvaluationInput] = []
        self._columns: tuple[str, ...] | None = None
        super().__init__(keep_in_memory=True, seed=metric.seed)
        self.info.module_name = _name_of(metric)

    def __len__(self) -> int:
        return len(self._inputs)

    def _build_data_dir(self) -> str:
        """Nothing is stored in files."""
        return ""

    def _info(self) -> evaluate.EvaluationModuleInfo:
        text = datasets.Value("string")
        given = datasets.Sequence(text) if isinstance(self.metric, VoteAggregation) else text
        shown = dict.fromkeys(needed_columns(self.metric), text)
        return evaluate.EvaluationModuleInfo(
            description=type(self.metric).__doc__ or "",
            citation="",
            inputs_description=USAGE,
            features=datasets.Features({"predictions": given, "references": datasets.Sequence(text), **shown}),
        )

    def add(self, *, prediction: object = None, reference: object = None, **columns: object) -> None:
        """Add one instance."""
        # evaluate.combine passes one prediction under the names of many
        one, other = columns.pop("predictions", prediction), columns.pop("references", reference)
        self.add_batch(
            predictions=None if one is None else [one],
            references=None if other is None else [other],
            **{name: [value] for name, value in columns.items()},
        )

    def add_batch(self, *, predictions: object = None, references: object = None, **columns: object) -> None:
        """Add instances."""
        given = {"predictions": predictions, "references": references, **columns}
        lists = {name: _listed(name, column) for name, column in given.items() if column is not None}
        self._check(lists)
        for place, prediction in enumerate(lists["predictions"]):
            task_data = {name: lists[name][place] for name in columns if name in lists}
            reference = lists["references"][place] if "references" in lists else None
            known = _listed_references(reference)
            if not isinstance(self.metric, VoteAggregation):
                known = [text_of(one) for one in known]
            self._inputs.append(EvaluationInput(prediction, known, task_data))

    def compute(self, *, predictions: object = None, references: object = None, **columns: object) -> dict[str, Any]:
        """Judge the instances given here and added before, and forget them."""
        if predictions is not None or references is not None or columns:
            self.add_batch(predictions=predictions, references=references, **columns)
        inputs, self._inputs, self._columns = self._inputs, [], None
        if not inputs:
            raise InvalidInputError("there are no instances to judge: give predictions=[…], or add some before")
        scores = self.metric.annotate_scores(self.metric.reduce_and_bootstrap(self.metric.map_stream(inputs)))
        return {**scores, "num_of_instances": len(inputs)}

    def _check(self, lists: Mapping[str, Sequence[object]]) -> None:
        if "predictions" not in lists:
            raise InvalidInputError("there are no predictions to judge: give predictions=[…]")
        sizes = {name: len(column) for name, column in lists.items()}
        if len(set(sizes.values())) > 1:
            raise InvalidInputError(f"the columns differ in length, {sizes!r}; give one entry an instance in each")
        missing = [name for name in needed_columns(self.metric) if name not in lists]
        if missing:
            raise InvalidInputError(
                f"the judge is shown {missing!r}, which are not given: pass {missing[0]}=[…] with one entry an "
                "instance, or set the metric's context_fields"
            )
        columns = tuple(sorted(lists))
        if self._columns not in {None, columns}:
            raise InvalidInputError(
                f"this batch has the columns {list(columns)!r}, those before had {list(self._columns or ())!r}"
            )
        self._columns = columns


def needed_columns(metric: JudgeMetric | VoteAggregation) -> list[str]:
    """The task data that the judge is shown beside the response, references aside; recorded votes need none."""
    if isinstance(metric, VoteAggregation):
        return []
    names = metric.shown_fields()
    names += [metric.criteria_field] if metric.criteria is None and metric.criteria_field else []
    return list(dict.fromkeys(name.partition("/")[0] for name in names if name not in REFERENCE_FIELDS))


def _name_of(metric: JudgeMetric | VoteAggregation) -> str:
    """Such as ``direct_clarity``: two modules of a combination need two names."""
    kind = metric.__type__.removesuffix("_judge")
    judged = metric.judged_name()
    return f"{kind}_{judged.lower().replace(' ', '_')}" if judged else kind


def _listed(name: str, column: object) -> list[Any]:
    if isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__iter__"):
        raise InvalidInputError(f"{name} is {column!r}; give a list with one entry an instance")
    return list(column.tolist() if hasattr(column, "tolist") else column)


def _listed_references(reference: object) -> list[Any]:
    if reference is None:
        return []
    return list(reference) if isinstance(reference, (list, tuple)) else [reference]

"""Votes that were recorded elsewhere, aggregated and compared with the ground truth, without a call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Union, cast

from evenhand.aggregation.verdict import RULES, check_rule, check_weights
from evenhand.criteria import Criterion, Scale
from evenhand.data.cells import (
    YES_OR_NO,
    LabelReader,
    VoteColumn,
    cast_votes,
    columns_within,
    is_text_for_nothing,
    set_aside,
    weights_by_judge,
)
from evenhand.data.fields import clustered_level, read_clusters
from evenhand.errors import InvalidCriterionError, InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.judge_reliability.against_people import Comparison, recorded_verdict, summarize_votes
from evenhand.metrics.metric import EvenhandMetric, number_or_nan, score_name_of, warn_of_unscored
from evenhand.numbers import Missing
from evenhand.results.measures import Measure, measure_at, score_entries, scores_of
from evenhand.unitxt.bases import EmptyPrediction, EvaluationInput, Maybe
from evenhand.unitxt.loading import load_criterion
from evenhand.votes import Verdict

SCALES = ("binary", "ordinal", "nominal")
_OF_SCORES = frozenset(
    {
        "score",
        "num_unscored",
        "num_lone",
        "num_na",
        "score_if_unscored_0",
        "score_if_unscored_1",
        "num_clusters",
        "unscored_counts",
    }
)
"""The measures of the aggregated score that are reported; recorded votes were neither read nor paid for."""


@dataclass(frozen=True, slots=True)
class AggregatedVotes:
    """The intermediate value of one instance.

    Attributes:
        score_name: The main score's name in this evaluation.
        criterion: The criterion.
        verdict: The verdict with all votes.
        reference: The option that is right; None if it is not known.
        cluster: The cluster of the instance; None if instances do not depend on each other.
    """

    score_name: str
    criterion: Criterion
    verdict: Verdict
    reference: Union[int, None]
    cluster: Union[str, None] = None


class VoteAggregation(EvenhandMetric):
    """A metric that reduces recorded votes to one verdict per instance, and verdicts to scores, without calls.

    A prediction is the votes on one instance: a list with one per judge, or a dict judge -> vote; each vote is a label,
    the value of an option, True or False, or None for an abstention, which is missing and no level. References are
    ground-truth labels or values, where there are any (:mod:`evenhand.data.cells` says how both are read).
    ``prediction_field`` and ``reference_field`` read them from the task data instead.

    Attributes:
        scale: ``binary``, ``ordinal`` or ``nominal``; the criterion's must be the same.
        rule: The panel rule; the scale's default when None.
        criteria: What was voted on: an artifact, its catalog id, or a frozen criterion. Binary votes are yes (or True,
            or 1) and no (False, 0) without it.
        as_index: Votes and references that are numbers are places of options, 0 for the first.
        judge_weights: For the weighted rules: a list with one weight per judge, or a dict judge -> weight.
        resamples: Draws for the intervals of alpha and kappa.
        seed: The seed of the draws.
    """

    main_score: str = "votes"

    scale: str = "binary"
    rule: Maybe[str] = None
    as_index: bool = False
    judge_weights: Maybe[Union[List[float], Dict[str, float]]] = None
    resamples: int = 1000
    seed: int = 0

    def verify(self) -> None:
        """Check every setting that can be checked before there are votes."""
        super().verify()
        if self.scale not in SCALES:
            raise UnknownRuleError(f"scale is {self.scale!r}. {did_you_mean(self.scale, SCALES)}")
        check_rule(self.rule, cast(Scale, self.scale))
        weights = self.judge_weights
        if isinstance(weights, list):
            weights = {f"judge_{place}": weight for place, weight in enumerate(weights)}
        check_weights(weights)
        if self.criteria is not None:
            self.criterion()

    def criterion(self) -> Criterion:
        """Return the criterion of the votes.

        Raises:
            InvalidCriterionError: If there is none, or its scale is another one.
        """
        if self.criteria is None:
            if self.scale == "binary":
                return YES_OR_NO
            raise InvalidCriterionError(
                f"{self.scale} votes need criteria, which say what the options are: as in metrics.evenhand.votes."
                f"{self.scale}.{RULES[cast(Scale, self.scale)][0]}[criteria=criteria.evenhand.direct.relevance]"
            )
        criterion = load_criterion(self.criteria)
        if criterion.scale != self.scale:
            raise InvalidCriterionError(
                f"the criterion {criterion.name!r} is {criterion.scale}, and the metric aggregates {self.scale} votes: "
                f"take metrics.evenhand.votes.{criterion.scale}.{RULES[criterion.scale][0]}, or another criterion"
            )
        return criterion

    def judged_name(self) -> str:
        """Return the name of what was voted on; empty without criteria."""
        return "" if self.criteria is None else self.criterion().name

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[AggregatedVotes]:
        """Aggregate the votes on all instances."""
        inputs, criterion = list(evaluation_inputs_stream), self.criterion()
        rows = [task_data for _, _, task_data in inputs]
        clusters = read_clusters(rows, self.cluster_field, what="instance") or [None] * len(inputs)
        reader = LabelReader(criterion, as_index=self.as_index)
        name = self.main_score if self.criteria is None else score_name_of([criterion.name], self.main_score)
        given = tuple(_votes_of(prediction, row) for row, (prediction, _, _) in enumerate(inputs))
        judges = columns_within(VoteColumn("judge", given))
        weights = weights_by_judge(self.judge_weights, [column.name for column in judges])
        votes = cast_votes(judges, len(inputs), reader)
        verdicts = [recorded_verdict(own, criterion, self.rule, weights) for own in votes]
        right = _right([references or () for _, references, _ in inputs], reader)
        return [
            AggregatedVotes(
                score_name=name,
                criterion=criterion,
                verdict=verdict,
                reference=reference,
                cluster=cluster,
            )
            for verdict, reference, cluster in zip(verdicts, right, clusters, strict=True)
        ]

    def instance_scores(self, judged: AggregatedVotes) -> Dict[str, Any]:
        """Return the scores of one instance."""
        verdict, main, right = judged.verdict, judged.score_name, judged.reference
        selected = verdict.selected_index
        results = {
            "selected_option": verdict.selected_label,
            "value": verdict.value,
            "aggregated_value": verdict.aggregated_value,
            "agreement": verdict.agreement,
            "na": verdict.na,
            "unscored_reason": verdict.unscored_reason,
            "num_votes": len(verdict.votes),
            "num_abstentions": sum(vote.unscored_reason == "abstained" for vote in verdict.votes),
            "reference": None if right is None else judged.criterion.options[right].label,
            "match": None if right is None or selected is None else selected == right,
        }
        named = {f"{main}_{name}": value for name, value in results.items()}
        return {main: number_or_nan(verdict.aggregated_value), **named}

    def reduce(self, intermediates: List[AggregatedVotes]) -> Dict[str, Any]:
        """Return the global scores: the aggregated score, how far the judges agree, and how often they are right."""
        main, criterion = intermediates[0].score_name, intermediates[0].criterion
        summary = summarize_votes(
            [intermediate.verdict for intermediate in intermediates],
            criterion,
            [intermediate.reference for intermediate in intermediates],
            level=clustered_level(self.confidence_level, [each.cluster for each in intermediates], self.interval),
            resamples=self.resamples,
            seed=self.seed,
        )
        warn_of_unscored(main, summary.scores.unscored_counts, summary.scores.unscored_bounds)
        shown = self.return_confidence_interval
        agreement = Measure(f"{main}_agreement", (), summary.scores.agreement, always=True)
        return {
            **scores_of(summary.scores, main, with_intervals=shown, only=_OF_SCORES),
            **score_entries(agreement.name, agreement, with_intervals=shown),
            **scores_of(summary, main, with_intervals=shown),
            **self._comparison_scores(main, summary.comparison),
            "score_name": main,
        }

    def _comparison_scores(self, main: str, compared: Union[Comparison, Missing]) -> Dict[str, Any]:
        """Return the scores from references, in addition to the measures of agreement."""
        if isinstance(compared, Missing):
            return {}
        scores: Dict[str, Any] = {}
        for short, name in (("rmse", "root_mean_square"), ("mae", "mean_absolute"), ("bias", "bias")):
            error = Measure(f"{main}_{short}", (), measure_at(compared, f"errors.{name}"), always=True)
            scores |= score_entries(error.name, error, with_intervals=self.return_confidence_interval)
        rows = zip(compared.labels, compared.confusion_matrix, strict=True)
        matrix = {label: dict(zip(compared.labels, counts, strict=True)) for label, counts in rows}
        return {**scores, f"{main}_confusion_matrix": matrix}


def _votes_of(prediction: Any, row: int) -> object:
    """Return the recorded votes on an instance; None if the prediction is the text that is written for nothing.

    Raises:
        InvalidInputError: If there is no prediction.
    """
    if isinstance(prediction, EmptyPrediction) or prediction == str(EmptyPrediction()):
        raise InvalidInputError(
            f"instance {row} has no prediction: give the recorded votes to evaluate() as predictions, or name the task "
            "data field that holds them: prediction_field=…"
        )
    return None if is_text_for_nothing(prediction) else prediction


def _right(references: Sequence[Sequence[Any]], reader: LabelReader) -> List[Union[int, None]]:
    """Return the option that is right, where one is given.

    Raises:
        InvalidInputError: If references contradict each other, or one is not an option.
    """
    held = [(row, reference) for row, given in enumerate(references) for reference in given]
    read = reader.read_most(
        [reference for _, reference in held], lambda place: f"instance {held[place][0]}: the reference is"
    )
    set_aside(read)
    found: List[set[int]] = [set() for _ in references]
    for (row, _), index in zip(held, read, strict=True):
        found[row] |= {index} if isinstance(index, int) else set()
    for row, places in enumerate(found):
        if len(places) > 1:
            raise InvalidInputError(
                f"instance {row} has the references {list(references[row])!r}, which name different options; give the "
                "one that is right (evenhand.agreement compares judges with several people)"
            )
    return [next(iter(places), None) for places in found]

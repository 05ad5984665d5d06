"""Pairwise judging: which of two or more systems a judge prefers, pair by pair."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Union

from evenhand.contests import (
    ComparisonRow,
    Contest,
    TournamentPlan,
    check_reduction,
    hold_tournament,
    plan_tournament,
    summarize_contests,
)
from evenhand.criteria import Criterion, Scale
from evenhand.data.fields import texts_of, warn_of_left_out_context
from evenhand.data.systems import common_systems, read_responses
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.design import parse_design
from evenhand.judging.settings import RunSettings
from evenhand.metrics.judge_metric import JudgeMetric, draw_key_of
from evenhand.metrics.pairwise_results import check_names, global_results, instance_results
from evenhand.statistics.intervals import IntervalLevel
from evenhand.unitxt.bases import Criteria, EvaluationInput
from evenhand.unitxt.loading import comparison_from_artifact, load_comparison

PAIRWISE_SCALES = ("choice", "graded")


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """What one instance maps to.

    Attributes:
        systems: The names, in the order of the first instance.
        contests: The contests held on this instance, with all votes.
        criterion: The criterion.
        criteria_json: The criterion's artifact as JSON.
    """

    systems: tuple[str, ...]
    contests: tuple[Contest, ...]
    criterion: Criterion
    criteria_json: str


class PairwiseJudge(JudgeMetric):
    """A judge compares the responses of two or more systems, pair by pair, without seeing whose they are.

    An instance's prediction is a list of responses (the systems ``"1"``, ``"2"``, …) or a dict system -> response.
    Every pair is shown in both orders; where they disagree, the contest is a tie unless ``on_position_bias`` says
    otherwise (``first`` gives unitxt's numbers). An empty response is judged like any other; None is an unscored
    contest. The scores' names are those of unitxt's ``LLMJudgePairwise``; the main one is the first system's winrate.
    :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists the other settings.

    Attributes:
        design: Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs an instance>`` or ``swiss:<rounds>``.
        scale: ``choice`` (which one is better) or ``graded`` (five levels, from A much better to B much better).
        allow_ties: Offer the judge a tie; the graded scale always does.
        reduction: ``win_rate``, or, with the graded scale, ``weighted_win_rate``: a grade s in −2 … 2 is s battles won,
            or |s| lost, and 0 is two battles of which one is won.
    """

    main_score: str = "1_winrate"
    design: str = "all"
    scale: str = "choice"
    allow_ties: bool = False
    reduction: str = "win_rate"

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        parse_design(self.design)
        if self.scale not in PAIRWISE_SCALES:
            raise InvalidInputError(f"scale is {self.scale!r}. {did_you_mean(self.scale, PAIRWISE_SCALES)}")
        check_reduction(self.reduction, graded=self.graded)
        if self.criteria is not None:
            load_comparison(self.criteria)

    def check_prompt(self, settings: RunSettings) -> None:
        """Check that the prompt is for a comparison."""
        settings.flow.check_prompt("compare")

    @property
    def graded(self) -> bool:
        """Whether the judge is offered degrees of preference."""
        return self.scale == "graded"

    def scales(self) -> Sequence[Scale]:
        """Every criterion is pairwise here."""
        return ("pairwise",)

    def estimate(self, inputs: Iterable[EvaluationInput]) -> TournamentPlan:
        """How many contests, votes and calls judging these instances takes, at most; nothing is called."""
        rows = self._rows(list(inputs))[0]
        return plan_tournament(rows, parse_design(self.design, seed=self.seed), self.settings(), len(self.engines()))

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[PairwiseComparison]:
        """Judge all instances."""
        rows, as_json = self._rows(list(evaluation_inputs_stream))
        systems = common_systems([row.responses for row in rows])
        check_names(systems)
        contests = hold_tournament(
            rows,
            parse_design(self.design, seed=self.seed),
            self.settings(self.scales()),
            self.panel(row.data_classification for row in rows),
            reduction=check_reduction(self.reduction, graded=self.graded),
        )
        held: dict[int, list[Contest]] = {row.instance: [] for row in rows}
        for contest in contests:
            held[contest.instance].append(contest)
        return [
            PairwiseComparison(systems, tuple(held[row.instance]), row.criterion, criteria_json)
            for row, criteria_json in zip(rows, as_json, strict=True)
        ]

    def reduce_one(self, intermidate: PairwiseComparison) -> Dict[str, Any]:  # unitxt spells its parameter so
        """The scores of one instance, under the names that unitxt documents for ``LLMJudgePairwise``."""
        results = instance_results(
            intermidate.contests,
            intermidate.systems,
            intermidate.criterion,
            rule=self.rules().panel_rule("pairwise"),
            reduction=check_reduction(self.reduction, graded=self.graded),
        )
        return {**results, "criteria": intermidate.criteria_json, "score_name": _main_score(intermidate)}

    def reduce(self, intermediates: List[PairwiseComparison]) -> Dict[str, Any]:
        """The global scores: each system's winrate and mean rank, and every measure of how far they can be trusted."""
        summary = summarize_contests(
            [contest for intermediate in intermediates for contest in intermediate.contests],
            intermediates[0].systems,
            reduction=check_reduction(self.reduction, graded=self.graded),
            level=IntervalLevel(self.confidence_level, None, self.interval),
        )
        scores = global_results(summary, with_intervals=self.return_confidence_interval)
        return {**scores, "score_name": _main_score(intermediates[0])}

    def _rows(self, inputs: Sequence[EvaluationInput]) -> tuple[list[ComparisonRow], list[str]]:
        """The instances to compare, and each one's criteria artifact as JSON."""
        artifacts = self.criteria_artifacts(inputs)
        frozen = {id(artifact): self._criterion(artifact) for artifact in artifacts}
        as_json = {id(artifact): artifact.to_json() for artifact in artifacts}
        clusters = self.clusters_of(inputs)
        rows = [
            self._row(place, given, frozen[id(artifact)], clusters[place])
            for place, (given, artifact) in enumerate(zip(inputs, artifacts, strict=True))
        ]
        for criterion in frozen.values():
            warn_of_left_out_context(criterion, self.given_context_fields())
        return rows, [as_json[id(artifact)] for artifact in artifacts]

    def _criterion(self, artifact: Criteria) -> Criterion:
        return comparison_from_artifact(artifact, allow_ties=self.allow_ties, graded=self.graded)

    def _row(
        self, place: int, given: EvaluationInput, criterion: Criterion, cluster: Union[str, None]
    ) -> ComparisonRow:
        return ComparisonRow(
            instance=place,
            responses=read_responses(self.response_of(given, criterion.prediction_field, place), place),
            criterion=criterion,
            context=self.context_of(given, criterion, place),
            references=texts_of(given[1]),
            draw_key=draw_key_of(given),
            data_classification=getattr(given, "data_classification", None),
            guidelines=self.guidelines,
            cluster=cluster,
        )


def _main_score(intermediate: PairwiseComparison) -> str:
    return f"{intermediate.systems[0]}_winrate"

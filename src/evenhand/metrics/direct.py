"""Direct assessment: a judge chooses one of a criterion's options for each response."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Union

from evenhand.aggregation import mean_covered_mass
from evenhand.criteria import Criterion, Scale
from evenhand.errors import ArtifactError
from evenhand.judge_reliability.panel_report import report_of_run
from evenhand.metrics.assessing_judge import AssessingJudge
from evenhand.metrics.judge_metric import distinct
from evenhand.metrics.scores import number_or_nan, panel_scores, score_name_of, warn_of_mentions, warn_of_unread
from evenhand.results.measures import Measure, score_entries, scores_of
from evenhand.scoring import summarize
from evenhand.unitxt.bases import Criteria, CriteriaWithOptions, EvaluationInput
from evenhand.unitxt.loading import criterion_from_artifact, load_criterion
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote, is_missing


@dataclass(frozen=True, slots=True)
class DirectAssessment:
    """What one instance maps to.

    Attributes:
        score_name: The main score's name in this evaluation.
        evaluator: The judge's name in score names.
        criterion: The criterion.
        criteria_json: The criterion's artifact as JSON.
        verdict: The verdict with all votes.
        cluster: What the instance belongs to; None where instances do not depend on each other.
    """

    score_name: str
    evaluator: str
    criterion: Criterion
    criteria_json: str
    verdict: Verdict
    cluster: Union[str, None] = None


class DirectJudge(AssessingJudge):
    """A judge assesses each response against a criterion and chooses one of its options.

    The score of an instance is the value of the option chosen, averaged over the orders in which the options were
    shown; an instance whose reply names no option, or whose prediction is None, is unscored (NaN) and counted. The
    scores' names are those of unitxt's ``LLMJudgeDirect``. :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists
    the settings, and :class:`~evenhand.metrics.assessing_judge.AssessingJudge` those for examples. With several judges
    or draws the global scores also say what the votes show about the judges
    (:class:`~evenhand.judge_reliability.panel_report.PanelReport`); where instances name criteria of their own, under
    the name of each. With ``scoring="expected"`` ``<main>_covered_mass`` says how much of the probability was on the
    options.
    """

    def verify(self) -> None:
        """Check every setting that can be checked before there is data, the examples too."""
        super().verify()
        if self.criteria is not None:
            self.example_pools([load_criterion(self.criteria)])

    def scales(self) -> Sequence[Scale]:
        """The scale of the metric's own criterion, if it has one."""
        return () if self.criteria is None else (load_criterion(self.criteria).scale,)

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[DirectAssessment]:
        """Judge all instances."""
        inputs = list(evaluation_inputs_stream)
        criteria, as_json = self.frozen_criteria(inputs, self._criterion)
        clusters = self.clusters_of(inputs)
        name = score_name_of((criterion.name for criterion in criteria), self.main_score)
        evaluator = self.evaluator()
        responses = [
            self.response_of(given, criterion.prediction_field, row)
            for row, (given, criterion) in enumerate(zip(inputs, criteria, strict=True))
        ]
        pools = self.example_pools(distinct(criteria))
        questions = [
            self.question(str(row), row, given, criteria[row], responses[row], pool=pools[criteria[row].name])
            for row, given in enumerate(inputs)
            if not is_missing(responses[row])
        ]
        self.warn_of_context(criteria)
        votes = {question.instance: cast for question, cast in zip(questions, self.judge(questions), strict=True)}
        return [
            DirectAssessment(
                score_name=name,
                evaluator=evaluator,
                criterion=criterion,
                criteria_json=as_json[row],
                verdict=self._aggregate(votes[row], criterion) if row in votes else MISSING_RESPONSE,
                cluster=clusters[row],
            )
            for row, criterion in enumerate(criteria)
        ]

    def reduce_one(self, intermidate: DirectAssessment) -> Dict[str, Any]:  # unitxt spells its parameter so
        """The scores of one instance, under the names that unitxt documents for ``LLMJudgeDirect``."""
        verdict, main = intermidate.verdict, intermidate.score_name
        orders = list(dict.fromkeys(vote.order for vote in verdict.votes))
        first = self._order_result(intermidate, orders[0]) if orders else {}
        second = self._order_result(intermidate, orders[1]) if len(orders) > 1 else {}
        score = number_or_nan(verdict.aggregated_value)
        consistent = verdict.position_consistent
        results = {
            f"using_{intermidate.evaluator}": score,
            "positional_bias": None if consistent is None else not consistent,
            **{name: value for name, value in first.items() if name != "prompts"},
            **{f"positional_bias_{name}": value for name, value in second.items() if name != "prompts"},
            "prompts": _merged_prompts(first, second),
            "criteria": intermidate.criteria_json,
            "final_option": verdict.selected_label,
            "unscored_reason": verdict.unscored_reason,
            "agreement": verdict.agreement,
            "spread": verdict.spread,
            "covered_mass": self._covered_mass(intermidate),
        }
        named = {f"{main}_{name}": value for name, value in results.items() if value is not None}
        return {main: score, **named, "score_name": main}

    def reduce(self, intermediates: List[DirectAssessment]) -> Dict[str, Any]:
        """The global scores: the mean score and every measure of how far it can be trusted."""
        main, evaluator = intermediates[0].score_name, intermediates[0].evaluator
        level = self.level_of(intermediates)
        masses = [self._covered_mass(each) for each in intermediates] if self.scoring == "expected" else ()
        summary = summarize([each.verdict for each in intermediates], level=level, covered_masses=masses)
        warn_of_unread(main, summary.unread)
        warn_of_mentions(summary.readings)
        shown = self.return_confidence_interval
        using = Measure(f"using_{evaluator}", summary.score, always=True)
        return {
            **scores_of(summary, main, with_intervals=shown),
            **score_entries(f"{main}_{using.name}", using, with_intervals=shown),
            **self._panel_scores(intermediates),
            "score_name": main,
        }

    def _panel_scores(self, assessments: Sequence[DirectAssessment]) -> dict[str, float]:
        """What the votes say about the judges, criterion by criterion."""
        main, by_criterion = assessments[0].score_name, {each.criterion.name: each.criterion for each in assessments}
        scores: dict[str, float] = {}
        for name, criterion in by_criterion.items():
            own = [each for each in assessments if each.criterion.name == name]
            report = report_of_run(
                [each.verdict for each in own],
                criterion,
                self.rules(),
                samples=self.samples,
                level=self.level_of(own),
                seed=self.seed,
            )
            named = main if len(by_criterion) == 1 else f"{main}_{score_name_of([name], name)}"
            scores |= panel_scores(named, report, with_intervals=self.return_confidence_interval)
        return scores

    def _criterion(self, artifact: Criteria) -> Criterion:
        if not isinstance(artifact, CriteriaWithOptions):
            raise ArtifactError(
                f"the criterion {artifact.name!r} has no options; direct assessment needs a criterion with options, "
                "and one without fits metrics.evenhand.pairwise"
            )
        criterion = criterion_from_artifact(artifact)
        self.settings([criterion.scale], has_values=criterion.has_values)
        return criterion

    def _aggregate(self, votes: Sequence[Vote], criterion: Criterion) -> Verdict:
        return self.rules().aggregate(votes, criterion)

    def _covered_mass(self, assessment: DirectAssessment) -> Union[float, None]:
        """How much of the probability an expected value rests on; None without probabilities."""
        if self.scoring != "expected":
            return None
        return mean_covered_mass(assessment.verdict.votes, assessment.criterion)

    def _order_result(self, assessment: DirectAssessment, order: tuple[int, ...]) -> dict[str, Any]:
        """What the judges said under one order."""
        votes = [vote for vote in assessment.verdict.votes if vote.order == order]
        verdict = self._aggregate(votes, assessment.criterion)
        shown = next((vote for vote in votes if vote.assessment == verdict.assessment), votes[0])
        return {
            "selected_option": verdict.selected_label,
            "value": verdict.aggregated_value,
            "assessment": verdict.assessment if verdict.assessment is not None else shown.assessment,
            "summary": shown.summary,
            "option_selection_completion": shown.completion.text if shown.completion else None,
            "prompts": shown.prompts,
        }


def _merged_prompts(first: dict[str, Any], second: dict[str, Any]) -> Union[dict[str, Any], None]:
    """The prompts of the first two orders under unitxt's names."""
    names = {
        "assessment": "assessment",
        "one_step": "assessment",
        "selection": "option_selection",
        "verdict": "option_selection",
        "reask": "option_selection_reask",
        "summary": "summarization",
    }
    merged = {}
    for prefix, result in (("", first), ("positional_bias_", second)):
        for stage, messages in (result.get("prompts") or {}).items():
            merged[prefix + names[stage]] = messages
    return merged or None

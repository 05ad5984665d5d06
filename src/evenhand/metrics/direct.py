"""Direct assessment: a judge chooses one of a criterion's options for each response."""

from collections.abc import Sequence
from typing import Any, Dict, List, Union

from evenhand.criteria import Criterion
from evenhand.errors import ArtifactError
from evenhand.judge_reliability.panel_report import report_of_run
from evenhand.metrics.base_metric import number_or_nan, panel_scores, score_name_of, warn_of_unscored
from evenhand.metrics.judge_metric import AssessingJudge, JudgedInstance, distinct, using_scores
from evenhand.modes.direct_assessment import DirectMode, covered_mass
from evenhand.modes.mode import Subject
from evenhand.results.measures import scores_of
from evenhand.scoring import ScoreSummary
from evenhand.unitxt.bases import Criteria, CriteriaWithOptions, EvaluationInput
from evenhand.unitxt.loading import load_criterion


class DirectJudge(AssessingJudge):
    """A judge assesses each response against a criterion and chooses one of its options.

    The score of an instance is the value of the option chosen, averaged over the orders in which the options were
    shown; an instance whose reply names no option, or whose prediction is None, is unscored (NaN) and counted. The
    scores' names are those of unitxt's ``LLMJudgeDirect``. :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists
    the settings, and :class:`~evenhand.metrics.judge_metric.AssessingJudge` those for examples. With several judges
    or draws the global scores also say what the votes show about the judges
    (:class:`~evenhand.judge_reliability.panel_report.PanelReport`); where instances name criteria of their own, under
    the name of each. With ``scoring="expected"`` ``<main>_covered_mass`` says how much of the probability was on the
    options.
    """

    def known(self) -> Sequence[Subject]:
        """The metric's own criterion, if it has one."""
        return () if self.criteria is None else (Subject(0, {}, judged=load_criterion(self.criteria)),)

    def mode_of(self, subjects: Sequence[Subject]) -> DirectMode:
        """One option for each response."""
        criteria = distinct(about.judged for about in subjects)
        mode = DirectMode(self.run_options(), self.example_pools(criteria))
        mode.check_rules(criteria)
        return mode

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[List[Subject], List[str]]:
        """The response of each instance, and its criterion."""
        criteria, as_json = self.frozen_criteria(inputs, self._criterion)
        rows = enumerate(zip(inputs, criteria, strict=True))
        subjects = [self.response_subject(row, *about) for row, about in rows]
        self.warn_of_context(criteria)
        return subjects, as_json

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance, under the names that unitxt documents for ``LLMJudgeDirect``."""
        verdict, main = judged.result, judged.score_name
        orders = list(dict.fromkeys(vote.order for vote in verdict.votes))
        first, second = (_order_result(judged, order) for order in (*orders, None, None)[:2])
        score = number_or_nan(verdict.aggregated_value)
        consistent = verdict.position_consistent
        results = {
            f"using_{judged.evaluator}": score,
            "positional_bias": None if consistent is None else not consistent,
            **{name: value for name, value in first.items() if name != "prompts"},
            **{f"positional_bias_{name}": value for name, value in second.items() if name != "prompts"},
            "prompts": _merged_prompts(first, second),
            "criteria": judged.criteria_json,
            "final_option": verdict.selected_label,
            "unscored_reason": verdict.unscored_reason,
            "agreement": verdict.agreement,
            "spread": verdict.spread,
            "covered_mass": covered_mass(verdict, judged.about.judged, judged.mode.rules),
        }
        return {main: score, **{f"{main}_{name}": value for name, value in results.items()}}

    def global_scores(self, measures: ScoreSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The mean score, the measures of how far it can be trusted, and what the votes say about the judges."""
        main, shown = judged[0].score_name, self.return_confidence_interval
        warn_of_unscored(main, measures.unscored_counts, measures.unscored_bounds)
        return {
            **scores_of(measures, main, with_intervals=shown),
            **using_scores(judged[0], measures.score, with_intervals=shown),
            **self._panel_scores(judged),
        }

    def _panel_scores(self, assessments: Sequence[JudgedInstance]) -> dict[str, float]:
        """What the votes say about the judges, criterion by criterion."""
        criteria = [each.about.judged for each in assessments]
        main, by_criterion = assessments[0].score_name, {criterion.name: criterion for criterion in criteria}
        scores: dict[str, float] = {}
        for name, criterion in by_criterion.items():
            own = [each for each in assessments if each.about.judged.name == name]
            report = report_of_run(
                [each.result for each in own],
                criterion,
                own[0].mode.rules,
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
        return load_criterion(artifact)


OF_ORDER = ("selected_option", "value", "assessment", "summary", "option_selection_completion", "prompts")
"""What an instance's scores say of each order."""


def _order_result(judged: JudgedInstance, order: Union[tuple[int, ...], None]) -> dict[str, Any]:
    """What the judges said under one order; None throughout where it was not asked about."""
    if order is None:
        return dict.fromkeys(OF_ORDER)
    votes = [vote for vote in judged.result.votes if vote.order == order]
    verdict = judged.mode.result(judged.about, [votes])
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

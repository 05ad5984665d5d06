"""The scores of a checklist under the names that unitxt shows."""

from collections.abc import Mapping, Sequence
from typing import Any, Dict, Union

from evenhand.aggregation import ItemResult
from evenhand.checklists import ChecklistReport, ChecklistResult
from evenhand.checklists.checklist_report import RATES
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.metrics.scores import number_or_nan, warn_of_mentions
from evenhand.results.measures import scores_of

_OF_INSTANCE = ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5")
_OF_ALL = (*RATES, *_OF_INSTANCE, "macro_pass_rate", "parse_rate", "spread")
_BOUNDS = ("", "_ci_low", "_ci_high")

PLAIN = frozenset(
    {f"{name}{bound}" for name in _OF_ALL for bound in _BOUNDS} | {"primary_metric", "items", "categories"}
)
"""The scores that stand under their own names, beside those that begin with the checklist's."""


def instance_scores(result: ChecklistResult, *, with_prompts: bool) -> Dict[str, Any]:
    """The scores of one instance."""
    score = result.score
    reasons = {
        "primary_metric": result.primary_metric,
        "unscored_reason": result.unscored_reason,
        "weighted_score_reason": result.weighted_score_reason,
        "prompts": _prompts(result) if with_prompts else None,
    }
    return {
        **{name: number_or_nan(getattr(score, name)) for name in _OF_INSTANCE},
        **{name: value for name, value in reasons.items() if value is not None},
        "num_items": len(result.items),
        **{f"num_{name}": getattr(score, name) for name in ("yes", "no", "na", "answered", "unanswered")},
        "categories": {category: number_or_nan(rate) for category, rate in result.category_pass_rates.items()},
        "items": [item_record(item) for item in result.items],
    }


def item_record(result: ItemResult) -> Dict[str, Any]:
    """One item of one response."""
    return {
        "name": result.item.name,
        "question": result.item.question,
        "category": result.item.category,
        "weight": result.item.weight,
        "answer": result.answer,
        "judged": result.judged,
        "reason": result.reason,
        "confidence": result.confidence,
        "confidence_level": result.confidence_level,
        "covered_mass": result.covered_mass,
        "reasoning": result.reasoning,
        "position_consistent": result.verdict.position_consistent,
        "agreement": result.verdict.agreement,
        "orders": [list(order) for order in dict.fromkeys(vote.order for vote in result.verdict.votes)],
    }


def global_scores(
    report: ChecklistReport,
    results: Sequence[ChecklistResult],
    panels: Mapping[str, PanelReport],
    *,
    with_intervals: bool,
) -> Dict[str, Any]:
    """The global scores; what the votes say about the judges stands with each item."""
    warn_of_mentions(report.readings)
    scores: Dict[str, Any] = scores_of(report, with_intervals=with_intervals)
    if report.pass_rate:
        scores |= scores_of(report, "macro", with_intervals=with_intervals, only={"pass_rate"})
    scores["primary_metric"] = results[0].asked_metric
    scores["categories"] = {each.category: scores_of(each, with_intervals=with_intervals) for each in report.categories}
    scores["items"] = [
        {
            "name": item.label,
            **{name: getattr(item, name) for name in ("question", "category", "weight", "finding")},
            **scores_of(item, with_intervals=with_intervals),
        }
        for item in report.items
    ]
    named = zip(scores["items"], results[0].checklist.items, strict=False) if panels else ()
    for record, item in named:
        record["panel"] = panels[item.name].scores(with_intervals=with_intervals)
    return scores


def _prompts(result: ChecklistResult) -> Union[dict[str, Any], None]:
    """The messages sent in the first call about each item: by item, or once for all where they were asked together."""
    sent = {
        item.item.name: next((vote.prompts for vote in item.verdict.votes if vote.prompts), None)
        for item in result.items
    }
    return {name: prompts for name, prompts in sent.items() if prompts is not None} or None

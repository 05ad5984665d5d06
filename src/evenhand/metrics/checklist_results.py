"""The scores of a checklist under the names that unitxt shows."""

from collections.abc import Mapping, Sequence
from typing import Any, Dict, Union

from evenhand.aggregation import ItemResult
from evenhand.checklists import ChecklistReport, ChecklistResult, ItemReport
from evenhand.judge_reliability import PanelReport
from evenhand.metrics.scores import (
    all_interval_scores,
    cluster_scores,
    interval_scores,
    number_or_nan,
    reading_scores,
    usage_scores,
)

_OF_INSTANCE = ("pass_rate", "weighted_score", "normalized_score", "primary_score", "scaled_score_1_5")
_OF_ALL = (
    *_OF_INSTANCE,
    "macro_pass_rate",
    "micro_pass_rate",
    "answered_share",
    "parse_rate",
    "positional_bias",
    "agreement",
    "spread",
)
_COUNTS = ("num_unscored", "num_partial", "num_na", "num_other_metric", "reasks")
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
    scores: Dict[str, Any] = {}
    for name in _OF_ALL:
        interval = getattr(report, name)
        if interval is not None or name in _OF_INSTANCE:
            scores |= interval_scores(name, interval, with_intervals=with_intervals)
    scores["primary_metric"] = results[0].asked_metric
    scores |= {name: getattr(report, name) for name in _COUNTS}
    scores |= cluster_scores("num_clusters", report.num_clusters)
    scores |= {f"num_{name}_items": getattr(report, name) for name in ("answered", "na", "unanswered")}
    scores |= {f"unanswered_items_{reason}": count for reason, count in report.unanswered_reasons.items()}
    scores |= {f"unscored_votes_{reason}": count for reason, count in report.unscored_votes.items()}
    scores |= {name: number_or_nan(getattr(report, name)) for name in ("score_if_unscored_0", "score_if_unscored_1")}
    scores |= {**reading_scores(report.readings), **usage_scores(report.usage)}
    scores["categories"] = {
        each.category: {
            **interval_scores("pass_rate", each.pass_rate, with_intervals=with_intervals),
            "answered": each.answered,
        }
        for each in report.categories
    }
    scores["items"] = [_report_record(item, with_intervals=with_intervals) for item in report.items]
    named = zip(scores["items"], results[0].checklist.items, strict=False) if panels else ()
    for record, item in named:
        record["panel"] = panels[item.name].scores(with_intervals=with_intervals)
    return scores


def _report_record(item: ItemReport, *, with_intervals: bool) -> Dict[str, Any]:
    """One question over all responses."""
    record: Dict[str, Any] = {
        "name": item.label,
        **{name: getattr(item, name) for name in ("question", "category", "weight", "asked", "yes", "no", "na")},
        "unanswered": item.unanswered,
        "by_prerequisite": item.by_prerequisite,
        "finding": item.finding,
    }
    measured = {name: getattr(item, name) for name in ("pass_rate", "confidence", "discrimination")}
    return {**record, **all_interval_scores(measured, with_intervals=with_intervals)}


def _prompts(result: ChecklistResult) -> Union[dict[str, Any], None]:
    """The messages sent in the first call about each item: by item, or once for all where they were asked together."""
    sent = {
        item.item.name: next((vote.prompts for vote in item.verdict.votes if vote.prompts), None)
        for item in result.items
    }
    return {name: prompts for name, prompts in sent.items() if prompts is not None} or None

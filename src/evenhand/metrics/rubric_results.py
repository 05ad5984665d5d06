"""The scores of a rubric under the names that unitxt shows."""

from collections.abc import Mapping
from typing import Any, Dict, Union

from evenhand.aggregation import mean_covered_mass
from evenhand.criteria import Criterion, Rubric
from evenhand.errors import InvalidCriterionError
from evenhand.metrics.scores import (
    all_interval_scores,
    cluster_scores,
    interval_scores,
    number_or_nan,
    panel_scores,
    reading_scores,
    score_name_of,
    usage_scores,
)
from evenhand.panel import PanelReport
from evenhand.rubric_scoring import RubricResult, RubricSummary
from evenhand.votes import Verdict

OF_RUBRIC = (
    "raw_score",
    "length_penalty",
    "unscored_reason",
    "na",
    "counted_criteria",
    "na_criteria",
    "unscored_criteria",
    "prompts",
    "parse_rate",
    "num_unscored",
    "num_incomplete",
    "num_na",
    "num_clusters",
    "score_if_unscored_0",
    "score_if_unscored_1",
    "reasks",
    "calls",
    "cached_calls",
    "prompt_tokens",
    "completion_tokens",
    "cost",
)
"""What follows the rubric's name in the name of a score of its own."""

OF_CRITERION = (
    "selected_option",
    "unscored_reason",
    "na",
    "agreement",
    "spread",
    "covered_mass",
    "positional_bias",
    "assessment",
    "orders",
    "parse_rate",
    "num_unscored",
    "num_na",
    "score_if_unscored_0",
    "score_if_unscored_1",
)
"""What follows a criterion's name likewise."""

_BOUNDS = ("_ci_low", "_ci_high")


def criterion_score_name(criterion: Criterion) -> str:
    """What a criterion is called in the names of scores.

    >>> from evenhand.criteria import yes_no_criterion
    >>> criterion_score_name(yes_no_criterion("Names a date", "…"))
    'names_a_date'
    """
    return score_name_of([criterion.name], criterion.name)


def check_score_names(rubric: Rubric) -> None:
    """Check that no two scores would have one name.

    Raises:
        InvalidCriterionError: If the names of the criteria make it so.
    """
    taken = {name + bound: "the rubric" for name in OF_RUBRIC for bound in ("", *_BOUNDS)}
    for criterion in rubric.criteria:
        own = criterion_score_name(criterion)
        for name in (own, *(f"{own}_{each}" for each in OF_CRITERION)):
            for scored in (name, *(name + bound for bound in _BOUNDS)):
                if scored in taken:
                    raise InvalidCriterionError(
                        f"the criterion {criterion.name!r} of the rubric {rubric.name!r} would have a score called "
                        f"{scored!r}, as {taken[scored]} has: rename the criterion"
                    )
                taken[scored] = f"the criterion {criterion.name!r}"


def instance_scores(
    main: str, rubric: Rubric, result: RubricResult, *, expected: bool, with_prompts: bool
) -> Dict[str, Any]:
    """The scores of one instance; what there is nothing to say about is left out, except a score."""
    scored = result.unpenalized
    named: Dict[str, Any] = {
        "raw_score": number_or_nan(result.raw_score),
        "length_penalty": result.length_penalty,
        "unscored_reason": result.unscored_reason,
        "na": result.na or None,
        "counted_criteria": list(scored.counted),
        "na_criteria": list(scored.na),
        "unscored_criteria": list(scored.unscored),
    }
    prompts = {}
    for criterion, verdict in zip(rubric.criteria, result.verdicts, strict=True):
        named |= _criterion_scores(criterion, verdict, expected=expected)
        sent = next((vote.prompts for vote in verdict.votes if vote.prompts), None)
        if sent is not None:
            prompts[criterion.name] = sent
    if with_prompts:
        named["prompts"] = prompts or None
    return {f"{main}_{name}": value for name, value in named.items() if value is not None}


def _criterion_scores(criterion: Criterion, verdict: Verdict, *, expected: bool) -> Dict[str, Any]:
    name, consistent = criterion_score_name(criterion), verdict.position_consistent
    orders = list(dict.fromkeys(vote.order for vote in verdict.votes))
    return {
        name: number_or_nan(verdict.aggregated_value),
        f"{name}_selected_option": verdict.selected_label,
        f"{name}_unscored_reason": verdict.unscored_reason,
        f"{name}_na": verdict.na or None,
        f"{name}_agreement": verdict.agreement,
        f"{name}_spread": verdict.spread,
        f"{name}_covered_mass": mean_covered_mass(verdict.votes, criterion) if expected else None,
        f"{name}_positional_bias": None if consistent is None else not consistent,
        f"{name}_assessment": verdict.assessment,
        f"{name}_orders": [list(order) for order in orders] or None,
    }


def global_scores(
    main: str,
    rubric: Rubric,
    summary: RubricSummary,
    panels: Mapping[str, Union[PanelReport, None]],
    *,
    with_intervals: bool,
) -> Dict[str, Any]:
    """The scores of all instances together."""
    scores: Dict[str, Any] = interval_scores(main, summary.score, with_intervals=with_intervals)
    own = {f"{main}_{name}": getattr(summary, name) for name in ("raw_score", "length_penalty", "parse_rate")}
    scores |= all_interval_scores(own, with_intervals=with_intervals, undefined=False)
    counted = ("num_unscored", "num_incomplete", "num_na", "score_if_unscored_0", "score_if_unscored_1", "reasks")
    scores |= _numbers(main, summary, counted)
    scores |= cluster_scores(f"{main}_num_clusters", summary.num_clusters)
    for reason, count in summary.unscored_votes.items():
        scores[f"{main}_unscored_votes_{reason}"] = count
    plain = {**reading_scores(summary.readings), **usage_scores(summary.usage)}
    scores |= {f"{main}_{name}": value for name, value in plain.items()}
    for criterion in rubric.criteria:
        named, found = f"{main}_{criterion_score_name(criterion)}", summary.criteria[criterion.name]
        scores |= interval_scores(named, found.score, with_intervals=with_intervals)
        measured = ("parse_rate", "agreement", "spread", "positional_bias")
        shown = {f"{named}_{name}": getattr(found, name) for name in measured}
        scores |= all_interval_scores(shown, with_intervals=with_intervals, undefined=False)
        if criterion.name in summary.covered_masses:
            mass = summary.covered_masses[criterion.name]
            scores |= interval_scores(f"{named}_covered_mass", mass, with_intervals=with_intervals)
        scores |= _numbers(named, found, ("num_unscored", "num_na", "score_if_unscored_0", "score_if_unscored_1"))
        scores |= panel_scores(named, panels[criterion.name], with_intervals=with_intervals)
    return scores


def _numbers(main: str, summary: object, names: tuple[str, ...]) -> Dict[str, float]:
    """Counts and bounds; a bound that is undefined is NaN."""
    found = {f"{main}_{name}": getattr(summary, name) for name in names}
    return {name: number_or_nan(value) for name, value in found.items()}

"""The scores of a rubric under the names that unitxt shows."""

from collections.abc import Mapping
from typing import Any, Dict, Union

from evenhand.aggregation import mean_covered_mass
from evenhand.criteria import Criterion, Rubric
from evenhand.errors import InvalidCriterionError
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.metrics.scores import number_or_nan, panel_scores, score_name_of
from evenhand.results.measures import scores_of
from evenhand.rubric_scoring import RubricResult, RubricSummary
from evenhand.scoring import ScoreSummary
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

_MEASURED = frozenset({field for field in OF_CRITERION if field in ScoreSummary.__dataclass_fields__} | {"score"})
"""The measures of a criterion that are reported; what calls cost is the rubric's."""

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
        sent = next((dict(vote.prompts) for vote in verdict.votes if vote.prompts), None)
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
    scores: Dict[str, Any] = scores_of(summary, main, with_intervals=with_intervals)
    for criterion in rubric.criteria:
        named = f"{main}_{criterion_score_name(criterion)}"
        found = summary.criteria[criterion.name]
        scores |= scores_of(found, named, with_intervals=with_intervals, only=_MEASURED)
        scores |= panel_scores(named, panels[criterion.name], with_intervals=with_intervals)
    return scores

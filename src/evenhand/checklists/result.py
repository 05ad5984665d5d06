"""What the answers to a checklist come to for one response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from evenhand.aggregation import (
    Answer,
    ChecklistScore,
    ItemReason,
    ItemResult,
    PrimaryScore,
    VoteRules,
    category_pass_rates,
    item_results,
    possible_scores,
    score_items,
)
from evenhand.criteria import Checklist
from evenhand.run_options import ChecklistMetric as Metric
from evenhand.votes import Verdict

PRIMARY_SCORES: Final[Mapping[Metric, PrimaryScore]] = {
    "pass": "pass_rate",
    "weighted": "weighted_score",
    "normalized": "normalized_score",
}


@dataclass(frozen=True, slots=True)
class ChecklistResult:
    """One response by a checklist.

    Attributes:
        checklist: As it was asked, with N/A where that was offered.
        items: What each item came to, in the checklist's order.
        score: The scores.
        asked_metric: The primary metric that was asked for.
        bounds: The primary score if every missing answer had been no, and yes; None where every item is NA.
    """

    checklist: Checklist
    items: tuple[ItemResult, ...]
    score: ChecklistScore
    asked_metric: Metric
    bounds: tuple[float, float] | None

    @classmethod
    def of(cls, checklist: Checklist, verdicts: Sequence[Verdict], metric: Metric, rules: VoteRules) -> Self:
        """The result of one verdict per item, in the checklist's order."""
        primary = PRIMARY_SCORES[metric]
        items = item_results(verdicts, checklist, rules=rules)
        bounds = possible_scores(verdicts, checklist, primary=primary, rules=rules)
        return cls(checklist, items, score_items(items, primary=primary), metric, bounds)

    @property
    def primary_metric(self) -> Metric | None:
        """What the primary score is: the metric asked for, ``pass`` where that is undefined, None without a score."""
        if self.score.primary_score is None:
            return None
        return self.asked_metric if getattr(self.score, PRIMARY_SCORES[self.asked_metric]) is not None else "pass"

    @property
    def weighted_score_reason(self) -> str | None:
        """Why there is no weighted score, where there is none."""
        if self.score.weighted_score is not None:
            return None
        return "no item is answered" if not self.score.answered else "the total weight of the answered items is 0"

    @property
    def na(self) -> bool:
        """Whether the checklist does not apply: every item is NA."""
        return self.score.na == len(self.items)

    @property
    def unscored_reason(self) -> ItemReason | None:
        """Why there is no score: the most frequent reason among the items, the first of equally frequent ones."""
        if self.score.answered or self.na:
            return None
        reasons = [result.reason for result in self.items if result.reason is not None]
        return max(reasons, key=reasons.count)

    @property
    def category_pass_rates(self) -> dict[str, float | None]:
        """Category -> yes / answered; None where nothing is answered."""
        return category_pass_rates([result.answer for result in self.items], self._categories)

    def answers(self) -> dict[str, Answer | None]:
        """Item name -> what it counts."""
        return {result.item.name: result.answer for result in self.items}

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each item's own question."""
        return tuple(result.verdict for result in self.items)

    @property
    def _categories(self) -> list[str]:
        return [result.item.category for result in self.items]

"""What the votes on each question of a checklist say about the judges."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.aggregation import VoteRules
from evenhand.checklists.result import ChecklistResult
from evenhand.panel import PanelReport, report_of_run


def item_panels(
    results: Sequence[ChecklistResult], rules: VoteRules, *, samples: int, level: float = 0.95, seed: int = 0
) -> dict[str, PanelReport]:
    """Item name -> the report on the judges that answered it; empty where each response had its own checklist.

    Empty too where one judge was asked once, which says nothing about judges.

    Args:
        results: One a response.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        level: Of the intervals.
        seed: Of the intervals that are drawn.
    """
    if not results or any(result.checklist != results[0].checklist for result in results):
        return {}
    reports = {
        item.name: report_of_run(
            [result.items[place].verdict for result in results],
            item.as_criterion(),
            rules,
            samples=samples,
            level=level,
            seed=seed,
        )
        for place, item in enumerate(results[0].checklist.items)
    }
    return {name: report for name, report in reports.items() if report is not None}

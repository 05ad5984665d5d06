"""The report on the panel of a run: made where there are several judges or draws, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.panel.measure import panel_report
from evenhand.panel.report import PanelReport
from evenhand.votes import Verdict


def report_of_run(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    rules: VoteRules,
    *,
    samples: int,
    reference: Sequence[float | None] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> PanelReport | None:
    """The report on the judges of a run; None where one judge was asked once, which says nothing about judges.

    Args:
        verdicts: One an instance, each with all its votes.
        criterion: Whose options were voted on.
        rules: The rules that made the verdicts.
        samples: Draws of each prompt that the run was to make at most.
        reference: Per instance the value that is right, where it is known.
        level: Of the intervals.
        seed: Of the intervals that are drawn.
    """
    judges = {vote.judge_id for verdict in verdicts for vote in verdict.votes}
    if len(judges) < 2 and samples < 2:
        return None
    return panel_report(
        verdicts,
        criterion,
        rules,
        reference=reference,
        planned_votes=planned_votes(verdicts, samples),
        level=level,
        seed=seed,
    )


def planned_votes(verdicts: Sequence[Verdict], samples: int) -> int:
    """How many votes the full grid has, of which stopping early may have left out some.

    Every order that was shown was to be drawn ``samples`` times, and the first of those draws is always made. An order
    that was shown again, beside questions that have more orders, has the numbers from ``samples`` on.

    >>> from evenhand.votes import Vote
    >>> drawn = tuple(Vote(judge_id="a", order=order) for order in [(0, 1), (1, 0)])
    >>> planned_votes([Verdict(votes=drawn)], samples=5)
    10
    """
    cells = {
        (row, vote.judge_id, vote.order, vote.sample // samples)
        for row, verdict in enumerate(verdicts)
        for vote in verdict.votes
    }
    return len(cells) * samples

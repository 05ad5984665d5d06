"""Outcomes: what a result says of each row, in one form for all ways of judging, for all that is compared with people.

A person is asked the questions that the judge was asked. A question is named by its row and by the columns
:attr:`~evenhand.results.results.Results.labelled_by`; an outcome is a score, and the questions that it is made of.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.criteria import Criterion
from evenhand.votes import Verdict

QuestionName = tuple[int, *tuple[str, ...]]
"""The row of the data, and what tells its questions apart: system and criterion, or the two systems of a contest."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score.

    Attributes:
        instance: The row of the data.
        questions: Those that it is made of: one, or all those of a rubric or checklist.
        score: In the units of the criterion; None where it is unscored, or does not apply.
        selected: The label that was selected, where the score is that of one question.
        na: It does not apply.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    questions: tuple[QuestionName, ...]
    score: float | None
    selected: str | None = None
    na: bool = False
    cluster: str | None = None

    @classmethod
    def of_verdict(cls, question: QuestionName, verdict: Verdict, cluster: str | None) -> Outcome:
        """That of a verdict on one question."""
        return cls(
            question[0], (question,), verdict.aggregated_value, verdict.selected_label, na=verdict.na, cluster=cluster
        )


@dataclass(frozen=True)
class Outcomes:
    """One score of one system over the rows of the data.

    Attributes:
        system: Whose; empty where a result knows no systems.
        criterion: What it is a score of: a criterion, a rubric, a checklist, an item, or a comparison.
        rows: One a row, or of winrates one a contest.
        bounds: The least and the greatest score.
        labels: What can be selected, but for NA; empty where the score is made of several questions.
        values: Of the labels; None for those of a nominal criterion.
        part_of: The rubric or checklist that it is a part of; None where it stands for itself.
    """

    system: str
    criterion: str
    rows: Sequence[Outcome]
    bounds: tuple[float, float] = (0.0, 1.0)
    labels: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    part_of: str | None = None

    @classmethod
    def by(
        cls, criterion: Criterion, rows: Sequence[Outcome], *, system: str = "", part_of: str | None = None
    ) -> Outcomes:
        """Those of one criterion."""
        offered = [option for option in criterion.options if not option.na]
        return cls(
            system,
            criterion.name,
            rows,
            criterion.score_range,
            tuple(option.label for option in offered),
            tuple(option.value for option in offered),
            part_of,
        )

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Shape (n rows): the scores, NaN where there is none."""
        return np.array([np.nan if row.score is None else row.score for row in self.rows], dtype=float)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Shape (n rows): the place of the label selected, -1 where there is none; empty without labels."""
        places: dict[str | None, int] = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(row.selected, -1) for row in self.rows] if self.labels else [], dtype=np.intp)

    @cached_property
    def clusters(self) -> list[Hashable]:
        """What each row belongs to: its cluster, or else the row of the data."""
        return [("row", row.instance) if row.cluster is None else row.cluster for row in self.rows]

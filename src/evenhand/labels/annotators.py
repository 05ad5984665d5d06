"""The alternative annotator test on the labels of judges and people, with its result as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evenhand.errors import InvalidInputError, check_known
from evenhand.judge_reliability.reliability import Scale
from evenhand.numbers import Missing, format_level, format_number, format_percent, measure
from evenhand.results.measures import Column, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics.agreement import (
    FEWEST_INSTANCES,
    AlternativeAnnotator,
    alternative_annotator,
    leave_one_out_alignment,
)

FEWEST_ANNOTATORS: Final = 3
LEAST_WINNING_RATE: Final = 0.5
FEW: Final = (
    f"Not tested are annotators with fewer than {FEWEST_INSTANCES} instances, or clusters of them, that another "
    "annotator labelled too: label 50 to 100 instances, with three annotators each."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn(AlternativeAnnotator):
    """The test result of one judge.

    Attributes:
        judge: The name of the judge.
        people: The names of the annotators.
        passed: Whether it may stand in, or why that is unknown.
        num_instances: Instances with labels of two annotators or more.
    """

    judge: str
    people: tuple[str, ...]
    passed: bool | Missing
    num_instances: int = measure("count")


@dataclass(frozen=True, repr=False)
class StandInTest(PrintedTables):
    """The result of :func:`stand_in_test`.

    Attributes:
        judges: One per judge.
        parameters: ε, the false discovery rate, and the level of intervals.
    """

    judges: tuple[StandIn, ...]
    parameters: Mapping[str, Any]

    def __getitem__(self, judge: str) -> StandIn:
        found = {each.judge: each for each in self.judges}
        check_known(judge, found, f"there is no test of {judge!r}")
        return found[judge]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return a row per judge with its verdict, and a row per judge and annotator."""
        level = format_level(self.parameters["level"])
        epsilon, alpha = format_number(self.parameters["epsilon"]), format_percent(self.parameters["alpha"])
        meaning = (
            f"ε = {epsilon} is the advantage of the judge for being cheaper: an annotator is outdone unless it leads "
            f"by {epsilon} or more. ω is the share of annotators outdone, by tests with a false discovery rate of "
            f"{alpha} (Benjamini and Yekutieli); a judge needs {format_number(LEAST_WINNING_RATE)} or more. ρ "
            "compares judges. Where only a judge has no label, it counts as farther."
        )
        unknown = [(each.judge, each.passed) for each in self.judges if isinstance(each.passed, Missing)]
        notes = [meaning, *(f"Whether {judge} may stand in is unknown: {why.reason}." for judge, why in unknown)]
        judges = measures_table(
            "May the judge stand in for annotators?",
            ("judge",),
            {(each.judge,): each for each in self.judges},
            (
                Column("passes", lambda each: {True: "yes", False: "no"}.get(each.passed, "unknown")),
                Column("outdoes", lambda each: f"{sum(own.outdone for own in each.annotators)} of {len(each.people)}"),
                Column("ω", "winning_rate"),
                Column(f"ρ [{level}]", "advantage"),
                Column("instances", "num_instances"),
            ),
            notes,
            kind="judges",
        )
        compared = {
            (each.judge, name): own
            for each in self.judges
            for name, own in zip(each.people, each.annotators, strict=True)
        }
        return judges, measures_table(
            "The judge against each annotator, by how near each is to the others",
            ("judge", "annotator"),
            compared,
            (
                Column("instances", "num_instances"),
                Column(f"judge at least as near [{level}]", "advantage"),
                Column("judge leads by", "lead"),
                Column("p", "p_value"),
                Column("p (BY)", "adjusted_p_value"),
                Column("outdone", lambda own: "yes" if own.outdone else "no"),
            ),
            [FEW] if any(own.p_value is None for own in compared.values()) else [],
            kind="annotators",
        )


def stand_in_test(results: Results, epsilon: float, alpha: float = 0.05) -> StandInTest:
    """Run the alternative annotator test: may a judge replace annotators?

    One annotator after the other is left out, and the judge and that annotator are compared: which of them is nearer to
    the others, instance by instance. Two labels are near by their numbers where options have values or an order; else
    they are the same or not. The judge passes if it outdoes half of the annotators, ε given
    (:func:`~evenhand.statistics.agreement.alternative_annotator` has the formulas; Calderon, Reichart and
    Dror, ACL 2025, arXiv 2501.10970). Three annotators or more are needed, 30 instances or more advised.

    Args:
        results: An agreement, whose ``votes`` are the judges, each tested, and whose ``gold_fields`` are the people.
        epsilon: The advantage of the judge for being cheaper, from 0 to below 1: to be stated. Recommended:
            0.2 where annotators are experts, 0.15 where they are skilled, 0.1 for crowd workers.
        alpha: The false discovery rate over the annotators.

    Raises:
        InvalidInputError: An epsilon that is not stated, or an alpha that is not a share.
    """
    given: object = epsilon
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < 1:
        raise InvalidInputError(
            f"epsilon is {epsilon!r}; state the advantage of the judge for being cheaper, from 0 to below 1; "
            "recommended are 0.2 for expert annotators, 0.15 for skilled ones, 0.1 for crowd workers"
        )
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is {alpha!r}; give a false discovery rate between 0 and 1, such as 0.05")
    scale, names = Scale.of(results.criterion), results.parameters["gold_fields"]
    if len(names) < 2:
        raise InvalidInputError(
            f"the annotators are {names!r}: name at least two in gold_fields, as each is compared with the others"
        )
    rated = scale.ordinal or results.criterion.has_values
    codes = scale.ratings if rated else range(len(scale.labels))
    cells = list(results.cells())
    cast = [
        {each.judge_id: codes[each.selected_index] for each in cell.votes if each.selected_index is not None}
        for cell in cells
    ]
    people = np.array([[votes.get(name) for name in names] for votes in cast], dtype=float).reshape(-1, len(names))
    over = results.level_over([cell.about["cluster"] for cell in cells])
    judges = []
    for judge in results.parameters["votes"]:
        own = np.array([votes.get(judge) for votes in cast], dtype=float)
        alignments = leave_one_out_alignment(own, people, "rmse" if rated else "exact")
        found = alternative_annotator(*alignments, epsilon=epsilon, alpha=alpha, level=over)
        passed: bool | Missing = (found.winning_rate or 0.0) >= LEAST_WINNING_RATE
        if len(names) < FEWEST_ANNOTATORS:
            passed = Missing(f"the test needs {FEWEST_ANNOTATORS} annotators or more, a group to represent")
        elif any(each.p_value is None for each in found.annotators):
            passed = Missing("not every annotator could be compared with the judge; see below")
        judges.append(
            StandIn(
                judge=judge,
                people=tuple(names),
                passed=passed,
                winning_rate=found.winning_rate,
                advantage=found.advantage,
                num_instances=int(((~np.isnan(people)).sum(axis=1) > 1).sum()),
                annotators=found.annotators,
            )
        )
    return StandInTest(tuple(judges), {"epsilon": epsilon, "alpha": alpha, "level": float(over)})

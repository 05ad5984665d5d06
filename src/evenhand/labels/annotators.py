"""The alternative annotator test on the labels of judges and people, with its result as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evenhand.criteria import Criterion
from evenhand.data.cells import LabelReader, VoteColumn, read_column, set_aside
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.reliability import Scale
from evenhand.labels.people import Labels
from evenhand.numbers import (
    Missing,
    format_count,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_share,
)
from evenhand.results.measures import Column, measure, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval
from evenhand.statistics.agreement import (
    FEWEST_INSTANCES,
    AnnotatorComparison,
    alternative_annotator,
    leave_one_out_alignment,
)
from evenhand.statistics.intervals import IntervalLevel

EPSILONS: Final[Mapping[str, float]] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
"""The advantage ε of the judge that the authors of the test recommend, by kind of annotator."""

FEWEST_ANNOTATORS: Final = 3
LEAST_WINNING_RATE: Final = 0.5
FEW: Final = (
    f"Not tested are annotators with fewer than {FEWEST_INSTANCES} instances, or clusters of them, that another "
    "annotator labelled too: label 50 to 100 instances, with three annotators each."
)


@dataclass(frozen=True, slots=True)
class JointLabels:
    """The labels of a judge and of the annotators for the same instances; None where there is none.

    Attributes:
        names: The judge, and the criterion where there are several.
        criterion: The criterion of the labels.
        labels: The labels of the judge.
        people: Annotator -> labels.
        clusters: The cluster of each instance; empty where instances are independent.
    """

    names: tuple[str, ...]
    criterion: Criterion
    labels: Sequence[str | None]
    people: Mapping[str, Sequence[str | None]]
    clusters: Sequence[Hashable] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """The test result of one judge.

    Attributes:
        names: The judge, and the criterion where there are several.
        people: The names of the annotators.
        passed: Whether it may stand in, or why that is unknown.
        winning_rate: The share of annotators that it outdoes; ω.
        advantage: How often it is at least as near to the other annotators as one of them is; ρ, the mean over them.
        num_instances: Instances with labels of two annotators or more.
        annotators: The judge against each of the people.
    """

    names: tuple[str, ...]
    people: tuple[str, ...]
    passed: bool | Missing
    winning_rate: float | None = measure("number")
    advantage: Interval | None = measure("share")
    num_instances: int = measure("count")
    annotators: tuple[AnnotatorComparison, ...]

    @property
    def answer(self) -> str:
        """Yes, no, or unknown."""
        return "unknown" if isinstance(self.passed, Missing) else "yes" if self.passed else "no"


@dataclass(frozen=True)
class StandInTest(PrintedTables):
    """The result of :func:`evenhand.raters.alternative_annotator_test`.

    Attributes:
        judges: One per judge and criterion.
        parameters: ε, the false discovery rate, and the level and method of intervals.
    """

    judges: tuple[StandIn, ...]
    parameters: Mapping[str, Any]

    def __getitem__(self, judge: str) -> StandIn:
        found = [each for each in self.judges if judge in ("/".join(each.names), each.names[0])]
        if len(found) != 1:
            raise InvalidInputError(
                f"there is no test named {judge!r}; tests are named {['/'.join(each.names) for each in self.judges]!r}"
            )
        return found[0]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return a row per judge with its verdict, and a row per judge and annotator."""
        labels, level = ("judge", "criterion")[: len(self.judges[0].names)], format_level(self.parameters["level"])
        epsilon, alpha = format_number(self.parameters["epsilon"]), format_percent(self.parameters["alpha"])
        meaning = (
            f"ε = {epsilon} is the advantage of the judge for being cheaper: an annotator is outdone unless it leads "
            f"by {epsilon} or more. ω is the share of annotators outdone, by tests with a false discovery rate of "
            f"{alpha} (Benjamini and Yekutieli); a judge needs {format_number(LEAST_WINNING_RATE)} or more. ρ "
            "compares judges. Where only a judge has no label, it counts as farther."
        )
        unknown = [(each.names, each.passed) for each in self.judges if isinstance(each.passed, Missing)]
        notes = [meaning, *(f"Whether {' on '.join(of)} may stand in is unknown: {why.reason}." for of, why in unknown)]
        judges = measures_table(
            "May the judge stand in for annotators?",
            labels,
            [(each.names, each) for each in self.judges],
            (
                Column("passes", lambda each: each.answer),
                Column("outdoes", lambda each: f"{sum(own.outdone for own in each.annotators)} of {len(each.people)}"),
                Column("ω", "winning_rate"),
                Column(f"ρ [{level}]", "advantage"),
                Column("instances", "num_instances"),
            ),
            notes,
            kind="judges",
        )
        compared = {
            (*each.names, name): own
            for each in self.judges
            for name, own in zip(each.people, each.annotators, strict=True)
        }
        return judges, measures_table(
            "The judge against each annotator, by how near each is to the others",
            (*labels, "annotator"),
            compared,
            (
                Column("instances", "num_instances"),
                Column(f"judge at least as near [{level}]", lambda own: format_share(own.advantage)),
                Column("judge leads by", lambda own: format_number(own.lead, signed=True)),
                Column("p", lambda own: format_p_value(own.p_value)),
                Column("p (BY)", lambda own: format_p_value(own.adjusted_p_value)),
                Column("outdone", lambda own: "yes" if own.outdone else "no"),
            ),
            [FEW] if any(own.p_value is None for own in compared.values()) else [],
            kind="annotators",
        )

    def __repr__(self) -> str:
        return f"<StandInTest of {format_count(len(self.judges), 'judge')}>\n{self}"


def check_epsilon(epsilon: object) -> float:
    """Check the ε that was stated.

    Raises:
        InvalidInputError: If none was, or it is not a number in [0, 1).

    >>> check_epsilon("skilled"), check_epsilon(0)
    (0.15, 0.0)
    """
    if isinstance(epsilon, str) and epsilon in EPSILONS:
        return EPSILONS[epsilon]
    if isinstance(epsilon, (int, float)) and not isinstance(epsilon, bool) and 0 <= epsilon < 1:
        return float(epsilon)
    recommended = ", ".join(f"{value} for {name} annotators ({name!r})" for name, value in EPSILONS.items())
    raise InvalidInputError(
        f"epsilon is {epsilon!r}; state the advantage of the judge for being cheaper, from 0 to below 1. "
        f"The authors of the test recommend {recommended}"
    )


def stand_in_test(
    tested: Sequence[JointLabels], *, epsilon: float, alpha: float, level: float, interval: str
) -> StandInTest:
    """Test every judge; labels are near by their numbers where options have an order, else the same or not.

    Raises:
        InvalidInputError: An alpha that is not a share.
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is {alpha!r}; give a false discovery rate between 0 and 1, such as 0.05")
    judges = []
    for each in tested:
        scale = Scale.of(each.criterion)
        rated = scale.ordinal or each.criterion.has_values
        ratings = dict(zip(scale.labels, scale.ratings if rated else scale.labels, strict=True))
        judge, *people = ([ratings.get(label or "") for label in own] for own in (each.labels, *each.people.values()))
        over = IntervalLevel(level, each.clusters or None, interval)
        alignments = leave_one_out_alignment(judge, people, "rmse" if rated else "exact")
        found = alternative_annotator(*alignments, epsilon=epsilon, alpha=alpha, level=over)
        passed: bool | Missing = (found.winning_rate or 0.0) >= LEAST_WINNING_RATE
        if len(people) < FEWEST_ANNOTATORS:
            passed = Missing(f"the test needs {FEWEST_ANNOTATORS} annotators or more, a group to represent")
        elif any(own.p_value is None for own in found.annotators):
            passed = Missing("not every annotator could be compared with the judge; see below")
        judges.append(
            StandIn(
                names=each.names,
                people=tuple(each.people),
                passed=passed,
                winning_rate=found.winning_rate,
                advantage=found.advantage,
                num_instances=sum(len(people) - row.count(None) > 1 for row in zip(*people, strict=True)),
                annotators=found.annotators,
            )
        )
    return StandInTest(tuple(judges), {"epsilon": epsilon, "alpha": alpha, "level": level, "interval": interval})


def labels_in_columns(
    judges: Sequence[VoteColumn], people: Sequence[VoteColumn], reader: LabelReader, clusters: Sequence[Hashable]
) -> list[JointLabels]:
    """Read the labels of judges and annotators in columns.

    Args:
        judges: The labels of the judges, each tested.
        people: The labels of the annotators.
        reader: The reader of the criterion's votes.
        clusters: The cluster of each instance.

    Raises:
        InvalidInputError: Labels that cannot be read, or fewer than two annotators.
    """
    names = [column.name for column in (*judges, *people)]
    if len(people) < 2 or len(set(names)) < len(names):
        raise InvalidInputError(
            f"the annotators are {names[len(judges) :]!r} and the judges {names[: len(judges)]!r}: name each once, and "
            "at least two annotators, of whom each is compared with the others"
        )
    labels: dict[str, list[str | None]] = {}
    for column in (*judges, *people):
        chosen = read_column(column, reader, "judge" if column in judges else "human")
        set_aside(chosen)
        labels[column.name] = [reader.criterion.labels[place] if isinstance(place, int) else None for place in chosen]
    annotators = {column.name: labels[column.name] for column in people}
    return [JointLabels((each.name,), reader.criterion, labels[each.name], annotators, clusters) for each in judges]


def labels_of_results(results: Results, labels: Labels) -> list[JointLabels]:
    """Join the verdicts of a result and the labels of several annotators, by criterion; all systems together.

    Raises:
        InvalidInputError: Labels that do not say who gave them, or of one annotator only.
    """
    names = labels.annotators
    if "" in names or len(names) < 2:
        raise InvalidInputError(
            f"the labels are by {list(names)!r}: give a label a row with a column 'annotator', with two "
            "annotators at least, and better three"
        )
    given = {(each.annotator, each.name): each.value for each in labels.entries if isinstance(each.value, str)}
    judge = ", ".join(results.parameters["judges" if "judges" in results.parameters else "votes"])
    found: dict[str, tuple[Criterion, list[tuple[Any, ...]]]] = {}
    for cell, asked in zip(results.cells(), results.asked(), strict=True):
        criterion, question = results.criterion_of(cell), results.question_name(cell)
        _, rows = found.setdefault(criterion.name, (criterion, []))
        cluster = cell.about.get("cluster")
        rows.append(
            (
                asked.selected,
                question[0] if cluster is None else cluster,
                *(given.get((who, question)) for who in names),
            )
        )
    labelled = {name: each for name, each in found.items() if any({*row[2:]} != {None} for row in each[1])}
    joint = []
    for name, (criterion, rows) in labelled.items():
        verdicts, clusters, *people = zip(*rows, strict=True)
        together = clusters if len(set(clusters)) < len(rows) else ()
        whose = (judge, name) if len(labelled) > 1 else (judge,)
        joint.append(JointLabels(whose, criterion, verdicts, dict(zip(names, people, strict=True)), together))
    return joint

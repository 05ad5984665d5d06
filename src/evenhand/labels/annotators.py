"""The alternative annotator test on the labels of judges and people, with its result as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from evenhand.data.cells import NOT_ASKED, LabelReader, VoteColumn, categories_of, is_abstention, read_column, set_aside
from evenhand.data.plain import number_of
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.against_people import Scale
from evenhand.labels.people import Labels, paired
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

Scoring = Literal["exact", "rmse"]


@dataclass(frozen=True, slots=True)
class JointLabels:
    """The labels of a judge and of the annotators for the same instances.

    Attributes:
        judge: The name of the judge.
        criterion: The criterion; empty if there is only one.
        labels: The labels of the judge, None where it has none.
        people: Annotator -> labels, None where there is none.
        scoring: The measure of how near two labels are.
        clusters: The cluster of each instance; empty where instances are independent.
    """

    judge: str
    criterion: str
    labels: Sequence[Any]
    people: Mapping[str, Sequence[Any]]
    scoring: Scoring
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
        num_silent: Those of them without a label of the judge: it loses them.
        annotators: The judge against each of the people.
    """

    names: tuple[str, ...]
    people: tuple[str, ...]
    passed: bool | Missing
    winning_rate: float | None = measure("number")
    advantage: Interval | None = measure("share")
    num_instances: int = measure("count")
    num_silent: int = measure("count")
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
        parameters: ε, the false discovery rate, the level of intervals, and the measure of how near labels are.
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
            "compares judges."
        )
        unknown = [(each.names, each.passed) for each in self.judges if isinstance(each.passed, Missing)]
        notes = [meaning, *(f"Whether {' on '.join(of)} may stand in is unknown: {why.reason}." for of, why in unknown)]
        if any(each.num_silent for each in self.judges):
            notes.append("Where only a judge has no label, it counts as farther from the annotators.")
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
                Column("no verdict on", "num_silent", optional=True),
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
    """Test every judge.

    Raises:
        InvalidInputError: An alpha that is not a share.
    """
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha is {alpha!r}; give a false discovery rate between 0 and 1, such as 0.05")
    judges = []
    for each in tested:
        alignments = leave_one_out_alignment(each.labels, list(each.people.values()), each.scoring)
        over = IntervalLevel(level, each.clusters or None, interval)
        found = alternative_annotator(*alignments, epsilon=epsilon, alpha=alpha, level=over)
        comparable = [sum(label is not None for label in row) > 1 for row in zip(*each.people.values(), strict=True)]
        passed: bool | Missing = (found.winning_rate or 0.0) >= LEAST_WINNING_RATE
        if len(each.people) < FEWEST_ANNOTATORS:
            passed = Missing(f"the test needs {FEWEST_ANNOTATORS} annotators or more, a group to represent")
        elif any(own.p_value is None for own in found.annotators):
            passed = Missing("not every annotator could be compared with the judge; see below")
        judges.append(
            StandIn(
                names=(each.judge, each.criterion) if each.criterion else (each.judge,),
                people=tuple(each.people),
                passed=passed,
                winning_rate=found.winning_rate,
                advantage=found.advantage,
                num_instances=sum(comparable),
                num_silent=sum(both and own is None for both, own in zip(comparable, each.labels, strict=True)),
                annotators=found.annotators,
            )
        )
    parameters = {"epsilon": epsilon, "alpha": alpha, "level": level, "interval": interval}
    return StandInTest(tuple(judges), {**parameters, "scoring": list(dict.fromkeys(each.scoring for each in tested))})


def labels_in_columns(
    judges: Sequence[VoteColumn],
    people: Sequence[VoteColumn],
    reader: LabelReader | None,
    scoring: Literal["auto"] | Scoring,
    clusters: Sequence[Hashable] = (),
) -> list[JointLabels]:
    """Read the labels of judges and annotators in columns.

    Args:
        judges: The labels of the judges, each tested.
        people: The labels of the annotators.
        reader: The reader of the criterion's votes; None for the labels that occur, or for numbers.
        scoring: The measure of how near two labels are; ``auto`` by the options.
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
    options: Sequence[Any] = ()
    if reader is None and scoring != "rmse":
        reader = LabelReader(categories_of((*judges, *people)))
    if reader is not None:
        scale = Scale.of(reader.criterion)
        rated = scoring != "exact" and (scale.ordinal or reader.criterion.has_values)
        if scoring == "rmse" and not rated:
            raise InvalidInputError(f"the options of {reader.criterion.name!r} have no order: give scoring='exact'")
        options, scoring = (scale.ratings, "rmse") if rated else (scale.labels, "exact")

    def read(column: VoteColumn, kind: str) -> list[Any]:
        if reader is not None:
            chosen = read_column(column, reader, kind)
            set_aside(chosen)
            return [options[place] if isinstance(place, int) else None for place in chosen]
        numbers = []
        for row, cell in enumerate(column.cells):
            empty = cell is NOT_ASKED or is_abstention(cell)
            numbers.append(None if empty else number_of(cell))
            if not empty and numbers[-1] is None:
                raise InvalidInputError(
                    f"instance {row}: the {kind} {column.name!r} has the label {cell!r}, which is not a number: give "
                    "criteria, or scoring='exact'"
                )
        return numbers

    labels = {column.name: read(column, "human") for column in people}
    how: Scoring = "rmse" if scoring == "rmse" else "exact"
    return [JointLabels(column.name, "", read(column, "judge"), labels, how, clusters) for column in judges]


def labels_of_results(results: Results, labels: Labels, scoring: Literal["auto"] | Scoring) -> list[JointLabels]:
    """Join the verdicts of a result and the labels of several annotators, by criterion; all systems together.

    Raises:
        InvalidInputError: Labels that do not say who gave them, or of one annotator only.
    """
    names = labels.annotators
    if "" in names or len(names) < 2:
        raise InvalidInputError(
            f"the labels are by {list(names)!r}: give a label a row with a column 'annotator' (or name it, "
            "annotator_field=…), with two annotators at least, and better three"
        )
    own = [paired(results, labels.of(name)) for name in names]
    judge = ", ".join(results.parameters["judges" if "judges" in results.parameters else "votes"])
    pooled: dict[str, list[tuple[Any, Hashable, list[Any]]]] = {}
    asked: set[object] = set()
    scorings: dict[str, Scoring] = {}
    for place, outcomes in enumerate(results.outcomes()):
        rated = None not in outcomes.values and (scoring in ("auto", "rmse") or not outcomes.labels)
        if scoring == "rmse" and not rated:
            raise InvalidInputError(f"the options of {outcomes.criterion!r} have no values: give scoring='exact'")
        scorings[outcomes.criterion] = ("rmse" if rated else "exact") if scoring == "auto" else scoring
        people = [pairs[place] for pairs in own]
        for row, (outcome, cluster) in enumerate(zip(outcomes.rows, outcomes.clusters, strict=True)):
            if outcomes.labels and outcome.questions in asked:  # a contest is a row of both of its systems
                continue
            asked |= {outcome.questions} if outcomes.labels else set()
            given: list[Any] = [
                (float(each.human[row]) if each.labelled[row] else None) if rated else each.selected[row]
                for each in people
            ]
            label = outcome.score if rated else outcome.selected
            pooled.setdefault(outcomes.criterion, []).append((label, cluster, given))
    labelled = {name: rows for name, rows in pooled.items() if any(set(given) != {None} for _, _, given in rows)}
    found = []
    for criterion, rows in labelled.items():
        verdicts, clusters, given_by = zip(*rows, strict=True)
        by_person = dict(zip(names, zip(*given_by, strict=True), strict=True))
        together = clusters if len(set(clusters)) < len(rows) else ()
        name = criterion if len(labelled) > 1 else ""
        found.append(JointLabels(judge, name, verdicts, by_person, scorings[criterion], together))
    return found

"""The part of results that depends on the way of judging: it makes entries, records, measures and tables of votes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypedDict

import numpy as np

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.fields import clustered_level
from evenhand.data.rows import KINDS
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.options import Aggregation
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import Outcomes, QuestionName, Reported, UnscoredCounts
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, InMemory, Stored, VoteColumns, vote_rows
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import MISSING_RESPONSE, Verdict


class Rules(TypedDict, total=False):
    """How votes become a verdict.

    Attributes:
        aggregation: The rule by which the votes of a panel become one, or scale -> rule; None for the scale's default.
        on_position_bias: The value of a disagreement between orders; None for the scale's default.
        scoring: ``selected`` or ``expected``.
        min_mass: The least sum of probabilities that is used.
    """

    aggregation: Aggregation
    on_position_bias: str | None
    scoring: str
    min_mass: float


class Analysis:
    """The results that a way of judging makes of votes. Its attributes are attributes of the results too.

    Attributes:
        header: The criteria and systems that were judged, as plain JSON.
        parameters: The judges and options that made the result.
        stored: The votes.
    """

    kind: ClassVar[str]
    """The name of the kind of results in saved files: one of :data:`~evenhand.data.rows.KINDS`."""

    judged: ClassVar[tuple[str, ...]]
    """The keys of the header that say what was judged."""

    names: ClassVar[tuple[str, ...]]
    """The attributes that name an entry."""

    rows_by: ClassVar[tuple[str, ...]] = ()
    """The columns that name a record, if a record is not an entry."""

    compared: ClassVar[tuple[str, str] | None] = None
    """The columns of the score and of the selection, by which two results are compared."""

    labelled_by: ClassVar[tuple[str, ...]] = ()
    """The columns that distinguish the questions about a row, as labels of people name them."""

    same_rows: ClassVar[tuple[str, ...]] = ()
    """The columns that distinguish the groups that all have the same rows."""

    further_ranges: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    """Further scores among the findings -> their ranges."""

    has_verdicts: ClassVar[bool] = False
    """Whether saved files hold the verdict of each cell, which has one record."""

    def __init__(self, header: Mapping[str, Any], parameters: Mapping[str, Any], stored: Stored) -> None:
        self.header, self.parameters, self.stored = header, parameters, stored

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that questions are complete, and return the header for them.

        Args:
            header: The criteria, systems and parameters.
            abouts: The subject of each question.

        Raises:
            InvalidInputError: If questions are missing without which there is no result.
        """
        check_same_rows(abouts, *cls.same_rows)
        return {**header}

    def read(self, cells: Iterable[Cell]) -> Iterable[Any]:
        """Make entries of votes."""
        raise NotImplementedError

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order asked for; empty if the results know none."""
        return tuple(self.header.get("systems", ()))

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion of results that have only one."""
        return Criterion.model_validate(self.header["criterion"])

    @cached_property
    def entries(self) -> tuple[Any, ...]:
        """The judged entries; those of results on disk have no reasons and replies, which no score needs."""
        return tuple(self.read(self.stored.cells(texts=False)))

    def parts(self, *, texts: bool = True) -> Iterator[Self]:
        """Give the analysis part by part, to save memory; an analysis of votes in memory is its only part.

        Args:
            texts: Read reasons and replies, which no score needs.
        """
        if isinstance(self.stored, InMemory):
            yield self
            return
        for part in self.stored.parts(texts=texts):
            yield type(self)(self.header, self.parameters, part)

    @cached_property
    def rules(self) -> VoteRules:
        """The rules by which votes become verdicts."""
        return VoteRules.from_parameters(self.parameters)

    def level_over(self, clusters: Sequence[str | None]) -> IntervalLevel:
        """Return the level of intervals over rows of these clusters, and their method."""
        return clustered_level(self.parameters["level"], clusters, self.parameters["interval"])

    @cached_property
    def by_system(self) -> Mapping[str, Sequence[Any]]:
        """System -> its entries."""
        found: dict[str, list[Any]] = {system: [] for system in self.systems}
        for entry in self.entries:
            found.setdefault(entry.system, []).append(entry)
        return found

    def level_of(self, system: str) -> IntervalLevel:
        """Return the level of intervals over the entries of a system, with their clusters."""
        return self.level_over([entry.cluster for entry in self.by_system[system]])

    def question_name(self, cell: Cell) -> QuestionName:
        """Return the name of a cell among those of all rows."""
        return cell.about["instance"], *(str(cell.about[name]) for name in self.labelled_by)

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the rows, by index, as ``id_field`` names them; empty if the rows have no ids of their own."""
        found: Sequence[str] = self.parameters.get("ids", ())
        return found

    @cached_property
    def row_names(self) -> Mapping[int, str]:
        """Row -> its id; empty if rows have none."""
        if self.ids:
            return dict(enumerate(self.ids))
        names = ((about["instance"], about.get("prompt_id")) for about in self.stored.abouts())
        return {row: name for row, name in names if name is not None}

    def row_name(self, row: int) -> str:
        """Return the id of a row, or its index as a text if rows have none."""
        return self.row_names.get(row, str(row))

    @cached_property
    def vote_columns(self) -> VoteColumns:
        """Every vote, as far as measures need it; texts on disk are not read."""
        return self.stored.vote_columns()

    @cached_property
    def unscored_counts(self) -> UnscoredCounts:
        """The number of unscored votes and verdicts."""
        return self.unscored_counts_of()

    def unscored_counts_of(self, system: str | None = None) -> UnscoredCounts:
        """Count the votes and verdicts on the responses of a system, by default of all, that are unscored."""
        abouts = list(self.stored.abouts())
        held = np.array(
            [system in {None, *map(about.get, ("system", "first", "second"))} for about in abouts], dtype=bool
        )
        rows = np.array([about["instance"] for about in abouts], dtype=np.int64)
        return UnscoredCounts.of(self.vote_columns.only(held), rows[held])

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a plain row for each entry, with its votes if asked for."""
        raise NotImplementedError

    def flat_records(self) -> Iterator[dict[str, Any]]:
        """Give the rows of a data frame: the records, or a row for each item of a checklist."""
        return self.records()

    def verdict_rows(self) -> Iterator[Mapping[str, Any]]:
        """Give what saved files say of the verdict on each cell, for results that have verdicts."""
        return self.records()

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the scores of each system, row by row, for corrected scores, groups and comparisons with people.

        Raises:
            InvalidInputError: If people cannot give such scores.
        """
        raise InvalidInputError(
            f"results that hold {self.holds} describe judges, and hold no score that people could give; give the "
            "result of judge, winrates, checklist, aggregate_votes or run_mode"
        )

    def reported(self) -> Iterator[Reported]:
        """Give the measures of each system, of each pair and of the whole, in the order of the tables."""
        return iter(())

    def units(self, group: Mapping[str, str]) -> tuple[float, float] | None:  # noqa: ARG002 - of other kinds
        """Return what is 0 and what is 1 for the scores of a group of rows; None if there is no such group.

        Args:
            group: The columns that name it, such as system and criterion.
        """
        return (0.0, 1.0)

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the least and the greatest score of a group of rows."""
        return self.units(group)

    def items(self) -> Iterator[Mapping[str, Any]]:
        """Give further records that are compared, such as the items of a checklist that all rows share."""
        return iter(())

    def by_people(self) -> dict[str, Any]:
        """Return the header for the same questions, each with one label of people."""
        grid = {**self.parameters.get("grid", {}), "samples": 1}
        return {
            **self.header,
            "parameters": {**self.parameters, "judges": ["people"], "scoring": "selected", "grid": grid},
        }

    def criterion_of(self, cell: Cell) -> Criterion:  # noqa: ARG002 - of other kinds
        """Return the criterion whose options were offered in a cell, as people are offered them."""
        return self.criterion

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(
            self.rules.aggregate(cell.votes, self.criterion_of(cell)) if cell.votes else MISSING_RESPONSE
            for cell in self.stored.cells()
        )

    def asked(self) -> Iterator[QuestionAsked]:
        """Give what was asked in each cell, and its verdict."""
        for cell, verdict in zip(self.stored.cells(), self.verdicts, strict=True):
            criterion, system = self.criterion_of(cell), cell.about.get("system")
            yield QuestionAsked(
                name="/".join(map(str, self.question_name(cell))),
                criterion=criterion.name,
                question=criterion.description,
                options=criterion.labels,
                systems=(system,) if system else (),
                selected=verdict.selected_label,
                score=verdict.aggregated_value,
                verdict=verdict,
                gold=cell.about.get("gold"),
            )

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables that are printed."""
        raise NotImplementedError

    def further_tables(self) -> tuple[TextTable, ...]:
        """Return the tables that are written only when asked for."""
        return ()

    def rescored(self, **rules: Any) -> dict[str, Any]:  # noqa: ANN401 - as the kind of results has them
        """Return the header and the parameters for the same votes under other rules.

        Raises:
            InvalidInputError: If rules make no verdicts of the votes, or a rule does not exist.
            UnknownRuleError: If a rule does not fit.
        """
        raise InvalidInputError(f"{self.holds} are not made by rules, and are not rescored; leave {list(rules)!r} out")

    def changed(self, rules: VoteRules, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - parameters
        """Return the header with these rules and other parameters."""
        return {**self.header, "parameters": {**self.parameters, **rules.parameters(), **others}}

    @property
    def holds(self) -> str:
        """The content of the results, for messages."""
        return KINDS[self.kind]

    def changed_rules(self, rules: Rules) -> VoteRules:
        """Return the rules with some of them changed.

        Raises:
            InvalidInputError: If there is no such rule.
        """
        for name in rules:
            if name not in Rules.__annotations__:
                raise InvalidInputError(f"there is no rule {name!r}. {did_you_mean(name, Rules.__annotations__)}")
        return VoteRules.from_parameters({**self.parameters, **rules})


def with_votes(record: dict[str, Any], verdicts: Iterable[Verdict], *, votes: bool) -> dict[str, Any]:
    """Return a record, with the votes of these verdicts if asked for."""
    return {**record, "votes": vote_rows(vote for each in verdicts for vote in each.votes)} if votes else record


def check_same_rows(abouts: Iterable[Mapping[str, Any]], *groups: str) -> None:
    """Check that all groups have the same rows, over which their differences are paired.

    Args:
        abouts: Of cells, with the columns ``instance`` and ``groups``.
        *groups: The columns that distinguish groups, such as ``system`` and ``criterion``.

    Raises:
        InvalidInputError: If a row is kept for one group and left out of another.
    """
    rows: dict[tuple[object, ...], dict[int, None]] = {}
    for about in abouts if groups else ():
        rows.setdefault(tuple(about[name] for name in groups), {})[about["instance"]] = None
    for group, own in rows.items():
        for other, others in rows.items():
            if own.keys() != others.keys():
                row = min(own.keys() ^ others.keys())
                raise InvalidInputError(
                    f"row {row} is left for only one of {group!r} and {other!r} ({', '.join(groups)}): keep a row for "
                    "all of them, or for none"
                )

"""Responses assessed by criteria or a rubric: systems × criteria, each with its score, interval and measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import Any, ClassVar, Final, Self, Unpack, overload

import numpy as np
import pyarrow
import pyarrow.compute as pc

from evenhand.aggregation.rubric_score import rubric_range
from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion, Rubric
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.against_people import JudgedRow, Scale
from evenhand.judge_reliability.panel_report import PanelReport, panel_tables, report_of_run
from evenhand.modes.differences import (
    best_system,
    differences_tables,
    reported_differences,
    scored_rows,
    system_differences,
)
from evenhand.modes.direct_assessment import covered_mass, verdict_record
from evenhand.modes.rubric import (
    RubricResult,
    RubricRules,
    RubricSummary,
    changed_rubric,
    rubric_result,
    rubric_table,
    summarize_criterion,
    summarize_rubric,
    with_spread,
)
from evenhand.numbers import format_range, format_share
from evenhand.results.analysis import Analysis, with_votes
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    QuestionName,
    Reported,
    UnscoredCounts,
    measures_table,
    score_column,
)
from evenhand.results.notes import (
    baseline_note,
    early_stop_note,
    spread_note,
    unscored_bounds_note,
    unscored_note,
)
from evenhand.results.render import TextTable
from evenhand.results.saved import OnDisk
from evenhand.results.vote_columns import (
    CELL,
    OF_VERDICTS,
    OF_VOTES,
    BoolArray,
    Cell,
    FloatArray,
    IntArray,
    VerdictColumns,
    VoteColumns,
    codes_of,
    told_for_measures,
)
from evenhand.scoring import ScoreSummary, readings_note
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.paired_differences import PairedDifference
from evenhand.votes import MISSING_RESPONSE, Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """One response on one criterion.

    Attributes:
        instance: The row's index.
        system: The column that held the response.
        criterion: The criterion's name.
        verdict: The verdict with all votes.
        gold: The label that a person gave, if there is one.
        cluster: The cluster of the row; None if rows are independent.
        length_penalty: The penalty of a rubric's score for the length of the response, if a penalty was asked for.
    """

    instance: int
    system: str
    criterion: str
    verdict: Verdict
    gold: str | None = None
    cluster: str | None = None
    length_penalty: float | None = None


_SELECTED: Final = "verdict_selected_option"
_ABOUT: Final = ("instance", "system", "criterion", "gold", "cluster", _SELECTED)
OF_JUDGEMENTS: Final = (*_ABOUT, *OF_VERDICTS, *OF_VOTES)
"""The columns that measures need."""


@dataclass(frozen=True, slots=True)
class JudgedColumns:
    """The judgements of one system by one criterion, one per row; shape (n,) each.

    Attributes:
        criterion: The criterion of the judgements.
        instances: The rows of the data.
        selected: The place of the option that was selected; -1 if there is none.
        gold: The place of the option that a person chose; -1 without one.
        clusters: The clusters of the rows; None if rows are independent.
        verdicts: The verdicts with their votes.
    """

    criterion: Criterion
    instances: IntArray
    selected: IntArray
    gold: IntArray
    clusters: tuple[str | None, ...]
    verdicts: VerdictColumns

    @classmethod
    def of(cls, judged: Sequence[Judgement], criterion: Criterion, rules: VoteRules) -> Self:
        """Return those of entries.

        Args:
            judged: The judgements.
            criterion: By which they were judged.
            rules: The rules by which votes became verdicts.
        """
        verdicts = [each.verdict for each in judged]
        masses = [covered_mass(verdict, criterion, rules) for verdict in verdicts]
        labels = [None, *criterion.labels]
        places = {label: place - 1 for place, label in enumerate(labels)}
        return cls(
            criterion=criterion,
            instances=np.array([each.instance for each in judged], dtype=np.int64),
            selected=np.array([places[verdict.selected_label] for verdict in verdicts], dtype=np.int64),
            gold=np.array([places[each.gold] for each in judged], dtype=np.int64),
            clusters=tuple(each.cluster for each in judged),
            verdicts=VerdictColumns.of(verdicts, masses),
        )

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return all columns, one after the other."""
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("instances", "selected", "gold")
        }
        clusters = tuple(chain.from_iterable(part.clusters for part in parts))
        verdicts = VerdictColumns.joined([part.verdicts for part in parts])
        return cls(parts[0].criterion, **columns, clusters=clusters, verdicts=verdicts)

    def __len__(self) -> int:
        return len(self.instances)

    def gold_agreement(self, level: IntervalLevel) -> Interval | None:
        """Return the share of the rows with a gold label and a selection whose labels are the same."""
        both = (self.gold >= 0) & (self.selected >= 0)
        (share,) = mean_intervals(np.where(both, self.gold == self.selected, np.nan), level=level)
        return share

    def scored(self) -> FloatArray:
        """Return shape (n, 3): the score of each row, and its two limits."""
        return np.column_stack([self.verdicts.score, self.verdicts.limits(self.ranges())])

    def ranges(self) -> FloatArray:
        """Return shape (n, 2): the range of the criterion for each row."""
        return np.tile(np.array(self.criterion.score_range, dtype=float), (len(self), 1))


@dataclass(frozen=True)
class JudgedOutcomes(Sequence[Outcome]):
    """The judgements of a system as outcomes, each made when it is needed.

    Attributes:
        system: The judged system.
        columns: The judgements.
    """

    system: str
    columns: JudgedColumns

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, row: int) -> Outcome: ...
    @overload
    def __getitem__(self, row: slice) -> list[Outcome]: ...

    def __getitem__(self, row: int | slice) -> Outcome | list[Outcome]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        held, instance = self.columns, int(self.columns.instances[row])
        score, place = float(held.verdicts.score[row]), int(held.selected[row])
        return Outcome(
            instance,
            ((instance, self.system, held.criterion.name),),
            None if math.isnan(score) else score,
            None if place < 0 else held.criterion.labels[place],
            na=bool(held.verdicts.na[row]),
            cluster=held.clusters[row],
        )


def columns_of_table(
    table: pyarrow.Table, criteria: Sequence[Criterion], first: int = 0, kept: BoolArray | None = None
) -> dict[tuple[str, str], JudgedColumns]:
    """Return ``(system, criterion name)`` -> the judgements of one part.

    Args:
        table: With the columns :data:`OF_JUDGEMENTS`.
        criteria: All criteria of the result.
        first: The number of its first row in the whole.
        kept: The cells that are left; None for all.
    """
    verdicts = VerdictColumns.of_table(table)
    firsts = np.flatnonzero(np.diff(table.column(CELL).to_numpy(), prepend=-1))
    about = table.select(_ABOUT)
    about = about if len(firsts) == len(table) else about.take(firsts)
    asked = codes_of(about.column("criterion"), [criterion.name for criterion in criteria])
    names = pc.unique(about.column("system")).to_pylist()
    judged = codes_of(about.column("system"), names)
    found = {}
    for (place, system), (number, criterion) in product(enumerate(names), enumerate(criteria)):
        own: BoolArray = (judged == place) & (asked == number)
        own &= True if kept is None else kept
        held = about if own.all() else about.filter(own)
        found[system, criterion.name] = JudgedColumns(
            criterion=criterion,
            instances=held.column("instance").to_numpy() + first,
            selected=_places(held.column(_SELECTED), criterion),
            gold=_places(held.column("gold"), criterion),
            clusters=tuple(held.column("cluster").to_pylist()),
            verdicts=verdicts.only(own),
        )
    return found


def _places(labels: pyarrow.ChunkedArray, criterion: Criterion) -> IntArray:
    """Return the place of each label among those of a criterion; -1 for none."""
    given = [label for label in pc.unique(labels).to_pylist() if label is not None]
    places = np.array([*map(criterion.index_of, given), -1], dtype=np.int64)
    return places[codes_of(labels, given)]


class JudgementAnalysis(Analysis):
    """The result of :func:`judge`: every verdict, and a summary of each system and criterion."""

    kind: ClassVar = "judgements"
    judged: ClassVar = ("systems", "criteria", "rubric")
    names: ClassVar = ("instance", "system", "criterion")
    compared: ClassVar = ("score", "selected_option")
    same_rows: ClassVar = ("system", "criterion")
    labelled_by: ClassVar = ("system", "criterion")
    has_verdicts: ClassVar = True

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that the systems have the same rows, and that a rubric has all its criteria."""
        left = {about["criterion"] for about in abouts}
        lacking = [each["name"] for each in header["criteria"] if each["name"] not in left]
        if lacking and header["rubric"] is not None:
            raise InvalidInputError(
                f"the criteria {lacking!r} of the rubric are left out; keep all criteria of a rubric"
            )
        criteria = [each for each in header["criteria"] if each["name"] in left]
        return {**super().check(header, abouts), "criteria": criteria}

    def read(self, cells: Iterable[Cell]) -> Iterator[Judgement]:
        """Make a judgement of each cell."""
        criteria = {each.name: each for each in self.criteria}
        for about, votes, _ in cells:
            verdict = self.rules.aggregate(votes, criteria[about["criterion"]]) if votes else MISSING_RESPONSE
            yield Judgement(**about, verdict=verdict)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """The entries, ordered by criterion, system and instance."""
        return self.entries

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order asked for."""
        return tuple(self.header["systems"])

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria, in the order asked for."""
        return tuple(map(Criterion.model_validate, self.header["criteria"]))

    @cached_property
    def rubric(self) -> Rubric | None:
        """The rubric as it was judged, if the criteria are those of one."""
        rubric = self.header["rubric"]
        return None if rubric is None else Rubric.model_validate(rubric)

    @cached_property
    def summaries(self) -> Mapping[tuple[str, str], ScoreSummary]:
        """``(system, criterion name)`` -> the summary of the verdicts."""
        return {
            (system, criterion.name): summarize_criterion(
                self.columns[system, criterion.name].verdicts,
                criterion,
                level=self._level_of(system, criterion.name),
            )
            for criterion in self.criteria
            for system in self.systems
        }

    @cached_property
    def columns(self) -> Mapping[tuple[str, str], JudgedColumns]:
        """``(system, criterion name)`` -> its judgements as columns, from which all scores are made.

        For results on disk under the rules by which they were saved, they are columns of the files.
        """
        parts, stored = [], self.stored
        if isinstance(stored, OnDisk) and self.rules == VoteRules.from_parameters(stored.header["parameters"]):
            for number in stored.numbers:
                kept = None if stored.kept is None else stored.kept[number]
                table = stored.columns(number, OF_JUDGEMENTS)
                parts.append(columns_of_table(table, self.criteria, stored.firsts[number], kept))
        else:
            parts = [part.own_columns() for part in self.parts(texts=False)]
        return {
            (system, criterion.name): JudgedColumns.joined([part[system, criterion.name] for part in parts])
            for criterion in self.criteria
            for system in self.systems
        }

    def own_columns(self) -> dict[tuple[str, str], JudgedColumns]:
        """Return the columns of a part that is in memory."""
        return {
            (system, each.name): JudgedColumns.of(self._cell(system, each.name), each, self.rules)
            for each in self.criteria
            for system in self.systems
        }

    def unscored_counts_of(self, system: str | None = None) -> UnscoredCounts:
        """Count the votes and verdicts on the responses of a system, by default of all, that are unscored."""
        own = [each for (of, _), each in self.columns.items() if system in {None, of}]
        rows = np.concatenate([each.instances for each in own])
        return UnscoredCounts.of(VoteColumns.joined([each.verdicts.votes for each in own]), rows)

    @cached_property
    def vote_columns(self) -> VoteColumns:
        """Every vote, as far as measures need it; texts on disk are not read."""
        return VoteColumns.joined([each.verdicts.votes for each in self.columns.values()])

    @cached_property
    def rubric_results(self) -> Mapping[str, tuple[RubricResult, ...]]:
        """System -> the rubric's score of each instance; empty without a rubric."""
        rubric = self.rubric
        if rubric is None:
            return {}
        expected = self.rules.scoring == "expected"
        found = {}
        for system in self.systems:
            rows = zip(*(self._cell(system, each.name) for each in rubric.criteria), strict=True)
            found[system] = tuple(
                with_spread(
                    rubric_result(
                        [item.verdict for item in row], rubric, expected=expected, length_penalty=row[0].length_penalty
                    ),
                    rubric,
                    self.rules,
                )
                for row in rows
            )
        return found

    @cached_property
    def rubric_scores(self) -> Mapping[str, RubricSummary]:
        """System -> the summary of its rubric scores; empty without a rubric."""
        if self.rubric is None:
            return {}
        return {
            system: summarize_rubric(
                results,
                self.rubric,
                expected=self.rules.scoring == "expected",
                level=self._level_of(system, self.criteria[0].name),
            )
            for system, results in self.rubric_results.items()
        }

    @cached_property
    def differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems on every criterion: paired over the rows that both were judged on, p by Holm over all."""
        scored = {
            criterion.name: {system: self.columns[system, criterion.name].scored() for system in self.systems}
            for criterion in self.criteria
        }
        ranges = {criterion.name: criterion.score_range for criterion in self.criteria}
        return system_differences(scored, self._level_of(self.systems[0], self.criteria[0].name), ranges)

    @cached_property
    def rubric_differences(self) -> tuple[PairedDifference, ...]:
        """Every two systems by their rubric scores, a family of its own; empty without a rubric."""
        if self.rubric is None:
            return ()
        scored = {
            system: scored_rows((result.score, result.bounds) for result in results)
            for system, results in self.rubric_results.items()
        }
        ranges = {self.rubric.name: rubric_range(self.rubric).score}
        return system_differences(
            {self.rubric.name: scored}, self._level_of(self.systems[0], self.criteria[0].name), ranges
        )

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the outcomes of each system on each criterion, and by the rubric."""
        rubric = self.rubric
        found = []
        for system in self.systems:
            if rubric is not None:
                rows = zip(*(self._cell(system, each.name) for each in rubric.criteria), strict=True)
                scored = zip(rows, self.rubric_results[system], strict=True)
                of_rubric = tuple(
                    Outcome(row[0].instance, tuple(map(_question, row)), result.score, na=False, cluster=row[0].cluster)
                    for row, result in scored
                )
                found.append(Outcomes(system, rubric.name, of_rubric, rubric_range(rubric).score))
            part_of = None if rubric is None else rubric.name
            for criterion in self.criteria:
                own = JudgedOutcomes(system, self.columns[system, criterion.name])
                found.append(Outcomes.by(criterion, own, system=system, part_of=part_of))
        return tuple(found)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of the rubric and each criterion, the differences, and the agreement with gold."""
        for system, rubric in self.rubric_scores.items():
            n = rubric.num_instances - rubric.num_unscored - rubric.num_na
            yield Reported(self.rubric.name if self.rubric else "", (system,), rubric, n, rubric.unscored_counts)
        for (system, criterion), each in self.summaries.items():
            n = each.num_instances - each.num_unscored - each.num_na
            yield Reported(criterion, (system,), each, n, each.unscored_counts)
            if (agrees := self.gold_agreement(system, criterion)) is not None:
                yield Reported(criterion, (system,), Measure("gold_agreement", agrees, "share"), agrees.n)
        for (system, criterion), panel in self._panels.items():
            for found in panel.measures() if panel is not None else ():
                if found.name != "agreement":  # which the summary has
                    yield Reported(criterion, (system,), found, None if panel is None else panel.num_judged)
        yield from reported_differences((*self.rubric_differences, *self.differences))

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(each.verdict for each in self.entries)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion that the cell names."""
        return next(each for each in self.criteria if each.name == cell.about["criterion"])

    def units(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the units of the criterion."""
        return next((each.units for each in self.criteria if each.name == group["criterion"]), None)

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """Return the score range of the criterion."""
        return next((each.score_range for each in self.criteria if each.name == group["criterion"]), None)

    def panel(self, system: str, criterion: str) -> PanelReport | None:
        """Return the measures of the judges of a cell: agreement, stability, the score without each.

        None if one judge was asked once.

        Raises:
            InvalidInputError: If there is no such system or criterion.
        """
        cells = list(self.summaries)
        if (system, criterion) not in cells:
            raise InvalidInputError(
                f"the table has no cell {(system, criterion)!r}; systems: {list(self.systems)!r}, criteria: "
                f"{[each.name for each in self.criteria]!r}"
            )
        return self._panels[system, criterion]

    @cached_property
    def _panels(self) -> Mapping[tuple[str, str], PanelReport | None]:
        return {
            (system, criterion.name): self._panel_of(system, criterion)
            for criterion in self.criteria
            for system in self.systems
        }

    def _panel_of(self, system: str, criterion: Criterion) -> PanelReport | None:
        if len(self.parameters["judges"]) < 2 and self.parameters["grid"]["samples"] < 2:
            return None  # and of a result on disk no vote is read for it
        cell = self._cell(system, criterion.name)
        right = [None if item.gold is None else criterion.options[criterion.index_of(item.gold)].value for item in cell]
        return report_of_run(
            [item.verdict for item in cell],
            criterion,
            self.rules,
            samples=self.parameters["grid"]["samples"],
            reference=None if all(value is None for value in right) else right,
            level=self._level_of(system, criterion.name),
            seed=self.parameters["seed"],
        )

    def _level_of(self, system: str, criterion: str) -> IntervalLevel:
        """Return the level of intervals over the rows of a cell, with their clusters."""
        return self.level_over(self.columns[system, criterion].clusters)

    @property
    def _rules(self) -> VoteRules:
        return VoteRules.from_parameters(self.parameters)

    def gold_agreement(self, system: str, criterion: str) -> Interval | None:
        """Return the share of a cell's instances with a gold label and a selection whose labels are the same."""
        return self.columns[system, criterion].gold_agreement(self._level_of(system, criterion))

    def with_gold(
        self, system: str | None, criterion: str | None, *, numbers: bool
    ) -> tuple[list[JudgedRow], Scale, str]:
        """Return the judgements by one criterion, its scale, and a title, for a comparison with people."""
        del numbers
        names = [each.name for each in self.criteria]
        name = names[0] if criterion is None and len(names) == 1 else criterion
        if name not in names:
            raise InvalidInputError(f"criterion is {criterion!r}; name one of the criteria {names!r}")
        systems, asked = self.systems if system is None else (system,), self.criteria[names.index(name)]
        judged = [item for each in systems for item in self._cell(each, name)]
        rows = [JudgedRow.of(item, asked, item.gold, system=item.system) for item in judged]
        return rows, Scale.of(asked), f"{', '.join(systems)}, {name}: {', '.join(self.parameters['judges'])}"

    def rescored(self, **rules: Unpack[RubricRules]) -> dict[str, Any]:  # type: ignore[override] # the rules by name
        """Return the header and the parameters for the same votes under other rules.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``, and for a rubric
                ``na_strategy`` or ``na_partial``; the others stay as they were.

        Raises:
            UnknownRuleError: If a rule does not exist or does not fit a criterion.
            InvalidInputError: If ``scoring="expected"`` is asked for and draws could stop early.
        """
        rubric, own = changed_rubric(self.rubric, rules)
        changed = self.changed_rules(own)
        for criterion in self.criteria:
            changed.check(criterion.scale, has_values=criterion.has_values)
        return {**self.changed(changed), "rubric": None if rubric is None else rubric.model_dump(mode="json")}

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables of rubric scores if any, of the criteria, of the differences, and of the panel."""
        panels = [(cell, report) for cell, report in self._panels.items() if report is not None]
        level = self.parameters["level"]
        by_rubric = (
            {}
            if self.rubric is None
            else {self.rubric.name: best_system({system: each.score for system, each in self.rubric_scores.items()})}
        )
        by_criterion = {
            criterion.name: best_system(
                {system: self.summaries[system, criterion.name].score for system in self.systems}
            )
            for criterion in self.criteria
        }
        return (
            *([rubric_table(f"Rubric {self.rubric.name}", self.rubric_scores, level=level)] if self.rubric else []),
            *differences_tables(self.rubric_differences, by_rubric, level=level, kind="rubric-differences"),
            self.text_table(),
            *differences_tables(self.differences, by_criterion, level=level),
            *panel_tables(panels, level=level),
        )

    def text_table(self) -> TextTable:
        """Return the table of the criteria's summaries."""
        columns = (
            score_column("score", self.summaries.values(), level=self.parameters["level"]),
            Column("n", "num_instances"),
            Column("clusters", "num_clusters", optional=True),
            Column("no score", "num_unscored"),
            UNSCORED_VOTES,
            Column("NA", "num_na"),
            Column("parse rate", "parse_rate"),
            Column("flips", "positional_bias"),
            Column("covered mass", "covered_mass", optional=True),
        )
        title = f"Direct assessment by {', '.join(self.parameters['judges'])}"
        table = measures_table(title, ("system", "criterion"), self.summaries, columns, self._notes(), kind="scores")
        if all((each.gold < 0).all() for each in self.columns.values()):
            return table
        return table.with_column(
            "agrees with gold", [format_share(self.gold_agreement(*cell)) for cell in self.summaries]
        )

    def _cell(self, system: str, criterion: str) -> list[Judgement]:
        return self._cells.get((system, criterion), [])

    @cached_property
    def _cells(self) -> Mapping[tuple[str, str], list[Judgement]]:
        cells: dict[tuple[str, str], list[Judgement]] = {}
        for item in self.entries:
            cells.setdefault((item.system, item.criterion), []).append(item)
        return cells

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a row for each judgement."""
        of_rubric = {
            (item.system, item.instance): result
            for system, results in self.rubric_results.items()
            for item, result in zip(self._cell(system, self.criteria[0].name), results, strict=True)
        }
        for each in self.entries:
            record = dict(zip(self.names, _question(each), strict=True)) | verdict_record(each.verdict)
            record |= {"gold": each.gold, "cluster": each.cluster}
            if (result := of_rubric.get((each.system, each.instance))) is not None:
                record |= {"rubric_score": result.score, "rubric_unscored_reason": result.unscored_reason}
            yield with_votes(record, [each.verdict], votes=votes)

    def verdict_rows(self) -> Iterator[Mapping[str, Any]]:
        """Give the records, with further columns that measures need."""
        criteria = {each.name: each for each in self.criteria}
        for row, each in zip(self.records(), self.entries, strict=True):
            mass = covered_mass(each.verdict, criteria[each.criterion], self.rules)
            yield {**row, **told_for_measures(each.verdict, mass)}

    def _notes(self) -> tuple[str, ...]:
        notes = [
            *unscored_note(self.unscored_counts),
            *readings_note(summary.readings for summary in self.summaries.values()),
        ]
        if any(summary.num_unscored for summary in self.summaries.values()):
            bounds = "; ".join(
                f"{system}, {criterion}: "
                f"{format_range(summary.score_if_unscored_0, summary.score_if_unscored_1, digits=3)}"
                for (system, criterion), summary in self.summaries.items()
                if summary.num_unscored
            )
            notes.append(f"Scores if every instance without a score had the lowest or the highest: {bounds}.")
        notes += early_stop_note(self.parameters)
        notes += spread_note(summary.spread for summary in self.summaries.values())
        notes += unscored_bounds_note(
            {f"{system}, {criterion}": each.unscored_bounds for (system, criterion), each in self.summaries.items()}
        )
        return (*notes, *baseline_note(self.parameters["judges"]))


def _question(item: Judgement) -> QuestionName:
    return item.instance, item.system, item.criterion

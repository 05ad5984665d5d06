"""Results: a header (criteria, systems, parameters), the votes, and the analysis of a way of judging.

There is one class for every way of judging. What differs is in its :class:`~evenhand.results.results.Analysis`, whose
attributes are those of the results: ``results.summaries``, ``results.ranking``, ``results.reports``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, overload

import numpy as np
import pyarrow

import evenhand
from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.fields import clustered_level
from evenhand.data.plain import as_json, as_plain, by_key
from evenhand.data.responses import JudgedTexts
from evenhand.errors import InvalidInputError, check_known, did_you_mean
from evenhand.files import check_ending, check_path, expanded, write_texts
from evenhand.numbers import format_count, format_share
from evenhand.results.compare import CONFOUNDED, ConfoundedComparisonWarning, RunComparison, VerdictChange, compare_rows
from evenhand.results.looking import QuestionAsked, RowView, VerdictList, VerdictView, Viewable, verdict_view
from evenhand.results.made_by import LIMITS, Fingerprint, absolute, relative, run_yaml, write_run
from evenhand.results.measures import (
    Measure,
    Outcomes,
    QuestionName,
    Reported,
    Spending,
    UnscoredCounts,
    baseline_note,
    early_stop_note,
    readings_note,
    spending_notes,
    unscored_findings,
    unscored_note,
)
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import (
    PREFIX,
    RESULT_KINDS,
    Cell,
    InMemory,
    OnDisk,
    Stored,
    VoteColumns,
    read,
    reading,
    vote_rows,
    votes_tables,
    write,
)
from evenhand.statistics.intervals import Interval, IntervalLevel, mean_intervals
from evenhand.votes import Verdict, Vote, without_lone_surrogates

if TYPE_CHECKING:
    import datasets
    import pandas as pd


class Analysis:
    """The results that a way of judging makes of votes. Its attributes are attributes of the results too.

    Attributes:
        header: The criteria and systems that were judged, as plain JSON.
        parameters: The judges and options that made the result.
        stored: The votes.
    """

    kind: ClassVar[str]
    """The name of the kind of results in saved files: one of :data:`~evenhand.results.vote_columns.RESULT_KINDS`."""

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

    agreement_by: ClassVar[tuple[str, ...]] = ()
    """The columns by which the agreement with labels of people is reported."""

    same_rows: ClassVar[tuple[str, ...]] = ()
    """The columns that distinguish the groups that all have the same rows."""

    further_ranges: ClassVar[Mapping[str, tuple[float, float]]] = MappingProxyType({})
    """Further scores among the findings -> their ranges."""

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
        given = self.parameters
        draws = given.get("resamples", 1000), given.get("seed", 0)
        return clustered_level(given["level"], clusters, given["interval"], *draws)

    @cached_property
    def by_system(self) -> Mapping[str, Sequence[Any]]:
        """System -> its entries."""
        return {system: [] for system in self.systems} | by_key((entry.system, entry) for entry in self.entries)

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
        named = (
            (about["instance"], system in {None, *map(about.get, ("system", "first", "second"))})
            for about in self.stored.abouts()
        )
        cells = np.fromiter(named, dtype=[("row", np.int64), ("held", bool)])
        return UnscoredCounts.of(self.vote_columns.only(cells["held"]), cells["row"][cells["held"]])

    @property
    def run_notes(self) -> tuple[str, ...]:
        """The notes on unscored votes, on how replies were read, on early stops and on the baseline judge."""
        return (
            *unscored_note(self.unscored_counts),
            *readings_note(self.vote_columns.readings()),
            *early_stop_note(self.parameters),
            *baseline_note(self.parameters["judges"]),
        )

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a plain row for each entry, with its votes if asked for."""
        raise NotImplementedError

    def flat_records(self) -> Iterator[dict[str, Any]]:
        """Give the rows of a data frame: the records, or a row for each item of a checklist."""
        return self.records()

    def cells_with_verdicts(self) -> Iterator[Cell]:
        """Give the cells as files hold them: with the columns of a verdict, if the entries are verdicts."""
        return self.stored.cells()

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

    @cached_property
    def gold_agreements(self) -> Mapping[tuple[str, ...], Interval | None]:
        """:attr:`agreement_by` -> the share of verdicts that select the label of a person, of those that have both.

        None where no verdict has both; empty without labels. Intervals are over rows of the data, or their clusters.
        """
        found: dict[tuple[str, ...], list[tuple[Hashable, float]]] = {}
        for part in self.parts(texts=False) if self.parameters.get("gold_fields") else ():
            for about, asked in zip(part.stored.abouts(), part.asked(), strict=True):
                if asked.gold is not None:
                    same = np.nan if asked.selected is None else float(asked.selected == asked.gold)
                    unit = about["instance"] if about["cluster"] is None else about["cluster"]
                    found.setdefault(tuple(about[name] for name in self.agreement_by), []).append((unit, same))
        columns = {of: tuple(zip(*own, strict=True)) for of, own in found.items()}
        level = self.level_over([])
        return {of: mean_intervals(same, level=level.over(units))[0] for of, (units, same) in columns.items()}

    def gold_agreement(self, *of: str) -> Interval | None:
        """Return the agreement with labels of people of a system and criterion, or as :attr:`agreement_by` says."""
        return self.gold_agreements.get(of)

    def reported_agreements(self) -> Iterator[Reported]:
        """Give the measures of agreement with labels of people."""
        for of, share in self.gold_agreements.items():
            if share is not None:
                yield Reported("".join(of[1:]), of[:1], Measure("gold_agreement", (), share, "share"), share.n)

    def with_agreements(self, table: TextTable, names: Iterable[tuple[str, ...]]) -> TextTable:
        """Return a table with a column of these agreements on its right; unchanged without labels of people."""
        if not self.gold_agreements:
            return table
        rows = [(*row, format_share(self.gold_agreement(*of))) for row, of in zip(table.rows, names, strict=True)]
        return replace(table, headers=(*table.headers, "agrees with gold"), rows=tuple(rows))

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float] | None:  # noqa: ARG002 - of other kinds
        """Return the least and the greatest score of a group of rows; None if there is no such group.

        Args:
            group: The columns that name it, such as system and criterion.
        """
        return (0.0, 1.0)

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
        return tuple(self.rules.aggregate(cell.votes, self.criterion_of(cell)) for cell in self.stored.cells())

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

    def ruled(self) -> Iterable[Criterion]:
        """Return the criteria that rules have to fit; those of one's own modes may be of any scale."""
        return ()

    def rescored(self, **rules: Any) -> dict[str, Any]:  # noqa: ANN401 - as the kind of results has them
        """Return the header and the parameters for the same votes under other rules.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; what is not given stays as it
                was.

        Raises:
            InvalidInputError: If rules make no verdicts of the votes, or a rule does not exist.
            UnknownRuleError: If a rule does not fit.
        """
        if not self.labelled_by:
            raise InvalidInputError(f"{self.holds} are not made by rules, and are not rescored")
        changed = VoteRules(**{**dict(self.rules), **rules})
        for criterion in self.ruled():
            changed.check(criterion.scale, has_values=criterion.has_values)
        return {**self.header, "parameters": {**self.parameters, **changed.parameters()}}

    @property
    def holds(self) -> str:
        """The content of the results, for messages."""
        return RESULT_KINDS[self.kind]


def with_votes(record: dict[str, Any], cast: Iterable[Vote], *, votes: bool) -> dict[str, Any]:
    """Return a record, with the votes that were cast if asked for."""
    return {**record, "votes": vote_rows(cast)} if votes else record


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


SUFFIXES: Final = (".parquet", ".jsonl")
METHODS = ("against_gold", "by", "check", "correct", "plot", "summarize", "to_label")
"""The methods that need labels of people, checks or pictures: attached by :mod:`evenhand.result_methods`."""


@dataclass(frozen=True, repr=False)
class Results(Viewable):
    """The result of judging a data set, with every vote.

    As a sequence it holds its entries: ``len(results)``, ``for entry in results``, ``results[0]``, ``results[:10]`` as
    a list. ``results["p-17"]`` shows the row of this id whole, and ``results["3/alder/relevance"]`` one verdict
    (:meth:`row`).

    Attributes:
        analyse: The class of the analysis of the votes.
        header: The criteria and systems that were judged, as plain JSON.
        parameters: Judges, fields, orders, rules, seed, interval level, version. To change
            one, use :meth:`rescore`, or ``dataclasses.replace``.
        stored: The votes, in memory or on disk.
        run_file: The run that made it, as :meth:`to_run_file` writes it; None if it was filtered or scored again.
    """

    analyse: type[Analysis]
    header: Mapping[str, Any]
    parameters: Mapping[str, Any]
    stored: Stored
    run_file: Mapping[str, Any] | None = field(default=None, compare=False)

    if not TYPE_CHECKING:  # type checkers know it by evenhand/__init__.pyi

        def to_html(self, path: object = None, **page: object) -> str | None:
            """Return the tables as HTML; with a path, write a page there: see :mod:`evenhand.result_methods`."""
            if path is None and not page:
                return super().to_html()
            return evenhand.ResultMethods.to_html(self, path, **page)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *METHODS]

    @classmethod
    def of_cells(cls, analyse: type[Analysis], header: Mapping[str, Any], cells: Iterable[Cell]) -> Self:
        """Make the result of these votes.

        Args:
            analyse: The class of their analysis.
            header: The criteria, systems and parameters.
            cells: The votes.

        Raises:
            InvalidInputError: If questions are missing without which there is no result.
        """
        judged = {name: as_plain(header[name]) for name in analyse.judged}
        return cls._of(analyse, {**judged, "parameters": header["parameters"]}, InMemory(tuple(cells)))

    @classmethod
    def _of(cls, analyse: type[Analysis], header: Mapping[str, Any], stored: Stored) -> Self:
        held = analyse.check(header, list(stored.abouts()))
        return cls(analyse, {name: held[name] for name in analyse.judged}, held["parameters"], stored)

    @cached_property
    def analysis(self) -> Analysis:
        """The results that the way of judging makes of the votes."""
        return self.analyse(self.header, self.parameters, self.stored)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # and nothing that is computed again

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the analysis has it
        if name.startswith("_"):
            raise AttributeError(name)
        if name in METHODS:
            return getattr(evenhand.ResultMethods, name).__get__(self)  # type: ignore[attr-defined] # not for users
        return getattr(self.analysis, name)

    def cells(self) -> Iterator[Cell]:
        """Give the votes on each question, and what it was about."""
        return self.stored.cells()

    def abouts(self) -> Iterator[Mapping[str, Any]]:
        """Give what each cell is about; no vote is read for results on disk."""
        return self.stored.abouts()

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Give a plain row for each entry: its names and its outcome, with the votes inside if asked for."""
        return (self._with_id(row) for part in self.analysis.parts() for row in part.records(votes=votes))

    def asked(self) -> Iterator[QuestionAsked]:
        """Give what was asked in each cell, and its verdict, in the order of :meth:`cells`."""
        return (asked for _, asked in self.cells_with_questions())

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the tables that are printed."""
        return self.analysis.text_tables()

    def findings(self) -> tuple[Measure, ...]:
        """Return every number of the result under a name, for conditions, summaries and pictures.

        The first are ``unscored``, the share of all votes that are unscored, and ``unscored_verdicts``, that of all
        verdicts.
        """
        reported = (found for each in self.analysis.reported() for found in each.findings())
        return (*unscored_findings(self.analysis.unscored_counts), *reported)

    def verdict_views(self, data: object = None, *, row: str | None = None) -> Iterator[VerdictView]:
        """Give each question with its texts, votes, reasons, prompts and replies.

        Args:
            data: The rows that were judged, for their texts; by default these are those of the prompts that were sent,
                where they were kept.
            row: Only those about a row: its id, or its index as a text.

        Raises:
            InvalidInputError: If the data are not those that were judged.
        """
        texts = None if data is None else self.texts(data)
        sheets: dict[Any, Any] = {}
        for cell, asked in self.cells_with_questions():
            named = self.analysis.row_name(cell.about["instance"])
            if row in {None, named}:
                shown = None
                if texts is not None:
                    shown = (texts.context(cell.about, self.criterion_of(cell)), texts.shown(cell.about))
                yield verdict_view(cell, asked, sheets, named, shown)

    def texts(self, data: object, response_fields: str | None = None, context_fields: object = None) -> JudgedTexts:
        """Read the texts again from the data that were judged: see :meth:`~evenhand.data.responses.JudgedTexts.of`.

        Raises:
            InvalidInputError: If the data are not those that were judged.
        """
        abouts, header = list(self.abouts()), {**self.header, "parameters": self.parameters}
        found = JudgedTexts.of(header, abouts, data, response_fields, context_fields)
        found.check_prompts(
            (cell.about, " ".join(str(message["content"]) for stage in sent.values() for message in stage))
            for cell in self.cells()
            for sent in [vote.prompts for vote in cell.votes[:1]]
            if sent
        )
        return found

    def verdict_list(self, data: object = None) -> VerdictList:
        """Return every verdict: printed as a table, filtered, sorted, and one by one whole.

        Args:
            data: The data, as :meth:`verdict_views` takes them.
        """
        return VerdictList("Verdicts", lambda: self.verdict_views(data))

    def row(self, row: str | int, data: object = None) -> RowView:
        """Return everything about one row, or one verdict, for printing: its texts, and each verdict with each vote.

        Args:
            row: The id of a row, or its index where rows have none; or the name of a verdict, as 3/alder/relevance.
            data: The data, as :meth:`verdict_views` takes them.

        Raises:
            InvalidInputError: If there is no such row.
        """
        key, known = str(row), dict.fromkeys(self.analysis.row_name(about["instance"]) for about in self.abouts())
        views = self.verdict_views(data, row=key if key in known else None)
        found = tuple(view for view in views if key in {view.row, view.name})
        if not found:
            raise InvalidInputError(f"there is no row and no verdict {key!r}. {did_you_mean(key, known)}")
        return RowView(key, found)

    def cells_with_questions(self) -> Iterator[tuple[Cell, QuestionAsked]]:
        """Give each cell with its question and verdict."""
        for part in self.analysis.parts():
            yield from zip(part.stored.cells(), part.asked(), strict=True)

    def __len__(self) -> int:
        if isinstance(self.stored, InMemory):
            return len(self.analysis.entries)
        return len({tuple(about[name] for name in self.analysis.names) for about in self.abouts()})

    def __iter__(self) -> Iterator[Any]:
        for part in self.analysis.parts():
            yield from part.entries

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, key: int) -> Any: ...  # noqa: ANN401 - an entry
    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...
    @overload
    def __getitem__(self, key: str) -> RowView: ...

    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, slice):
            chosen = range(*key.indices(len(self)))
            found = [entry for place, entry in enumerate(self) if place in chosen]
            return found[::-1] if chosen.step < 0 else found
        if isinstance(key, int):
            return next(islice(self, range(len(self))[key], None))
        return self.row(key)

    @cached_property
    def spending(self) -> Spending | None:
        """The replies bought, cached and wasted, and the rest of the budget; None if nothing was sent."""
        return Spending.of(self.analysis.vote_columns, self.parameters)

    def closing_notes(self) -> tuple[str, ...]:
        """Return notes on what was bought, and on what was held back."""
        return spending_notes(self.spending, self.analysis.unscored_counts.reasons)

    def clusters(self) -> dict[int, str]:
        """Return instance -> its cluster; empty if rows are independent."""
        return {about["instance"]: about["cluster"] for about in self.abouts() if about.get("cluster") is not None}

    def group_of(self, by: str) -> tuple[str | None, ...]:
        """Return the group of each row of the data, by its index; None for a row without one.

        Args:
            by: A column that was named with ``group_fields`` when the rows were judged.

        Raises:
            InvalidInputError: If there is no such column.
        """
        kept: Mapping[str, Any] = self.parameters.get("groups", {})
        if by not in list(kept):
            known = f"{did_you_mean(str(by), list(kept))} " if kept else ""
            raise InvalidInputError(f"the result keeps no column {by!r}. {known}Judge with group_fields={str(by)!r}")
        return tuple(kept[by])

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The origin of the result: judges, models, prompts, criteria, options, and the texts shown."""
        replies = (vote.completion for cell in self.cells() for vote in cell.votes)
        models = {reply.model for reply in replies if reply and reply.model}
        return Fingerprint.of(self.header, self.parameters, models)

    def named_cells(self) -> Iterator[Cell]:
        """Give the cells, with the id of the row if rows have ids of their own."""
        return (cell._replace(about=self._with_id(cell.about)) for cell in self.cells())

    def _with_id(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with the id of its row of the data next to the index."""
        if not self.analysis.ids or "instance" not in row:
            return dict(row)
        return {"instance": row["instance"], "id": self.analysis.ids[row["instance"]], **row}

    def votes(self) -> pyarrow.Table:
        """Return every vote as a row of an Arrow table, with what it was about."""
        schema = self.stored.schema()
        schema = schema and pyarrow.schema(each for each in schema if not each.name.startswith(PREFIX))
        return pyarrow.concat_tables(votes_tables(self.named_cells(), schema))

    def filter(self, keep: Callable[[Mapping[str, Any]], bool] | None = None, **about: object) -> Self:
        """Return the result of some of the questions only.

        Args:
            keep: Called with what a question was about (instance, system, …), returns whether it stays.
            **about: A value that a column must have, or a list of such values: ``system="alder"``, ``instance=[0, 3]``,
                and if rows have ids of their own ``id="p-3"``.

        Raises:
            InvalidInputError: If there is no such column, or nothing would be left.
        """
        accepted = {name: value if isinstance(value, (list, tuple, set)) else [value] for name, value in about.items()}
        columns = self._with_id(next(iter(self.abouts())))
        for name in about:
            check_known(name, columns, f"there is no column {name!r}")
        stays = [
            all(each[name] in values for name, values in accepted.items()) and bool(not keep or keep(each))
            for each in map(self._with_id, self.abouts())
        ]
        if not any(stays):
            raise InvalidInputError(f"of {len(stays)} questions none is left{f' by {about!r}' if about else ''}")
        stored, header = self.stored.only(stays), dict(self.header)
        left = {(each["instance"], *map(each.get, ("system", "first", "second"))) for each in stored.abouts()}
        if "systems" in header:
            systems = {system for _, *named in left for system in named}
            header["systems"] = [system for system in header["systems"] if system in systems]
        parameters = {name: value for name, value in self.parameters.items() if name not in LIMITS}
        parameters["n"] = len({row for row, *_ in left})
        return self._of(self.analyse, {**header, "parameters": parameters}, stored)

    def rescore(self, **rules: Any) -> Self:  # noqa: ANN401 - as the kind of results has them
        """Return the same votes under other rules, without a call.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; for a rubric ``na_strategy``
                and ``na_partial``, for a checklist ``primary_metric``; for recorded votes ``rule`` and ``weights``.
                Rules that are not given stay as they were.

        Raises:
            UnknownRuleError: If a rule does not exist or does not fit.
            InvalidInputError: If rules do not make verdicts of these votes, or expected values are asked for and draws
                could stop early.
        """
        held = self.analysis.rescored(**rules)
        header = {name: held[name] for name in self.analyse.judged}
        found = replace(self, header=header, parameters=held["parameters"], run_file=None)
        if isinstance(self.stored, InMemory):
            found.analysis.entries  # noqa: B018 - rules that do not fit are found here
        return found

    def compare(self, other: Results) -> RunComparison:
        """Compare with another result on the same rows: another judge, model, prompt, rule, or other responses.

        Rows are joined by their ids if both results have ids, else by their index; within a row by the names of its
        parts, such as system and criterion.

        Args:
            other: A result of the same kind.

        Returns:
            For each group of rows (such as a system and criterion): the mean of (other's score - this one's) with a
            paired interval, a test by flipping signs (of two-valued scores McNemar's exact one), p-values
            corrected by Holm over all groups (:func:`~evenhand.statistics.ranking`), and how often both
            select the same. Which verdicts changed, and what was not the same when the two were made.

        Raises:
            InvalidInputError: If the other result is of another kind, has no row in common, or scores in other units.
        """
        if not isinstance(other, Results):
            raise InvalidInputError(f"other is {other!r}; give another result, or evenhand.open(path)")
        if other.analyse is not self.analyse or self.analyse.compared is None:
            raise InvalidInputError(
                f"results that hold {self.analysis.holds} cannot be compared with those that hold "
                f"{other.analysis.holds}: give two of one kind, with scores of rows"
            )
        place, by = self.places_of(other), self.analyse.rows_by or self.analysis.names
        clusters = {place[row]: cluster for row, cluster in other.clusters().items()} | self.clusters()

        def level_over(rows: Iterable[int]) -> IntervalLevel:
            return self.analysis.level_over([clusters.get(row) for row in rows])

        others = [{**row, "instance": place[row["instance"]]} for row in other.records()]
        how: Any = {"level_over": level_over, "range_of": partial(_range_of, [self, other])}
        found = compare_rows(list(self.records()), others, by, self.analyse.compared, **how)
        before, after = _questions(self, {row: row for row in place.values()}), _questions(other, place)
        changes = []
        for name in [name for name in before if name in after]:
            (first, width), (second, _) = before[name], after[name]
            size = None if first.score is None or second.score is None else abs(second.score - first.score) / width
            about = dict(zip(self.analysis.labelled_by, name[1:], strict=True))
            if first.selected != second.selected:
                changes.append(VerdictChange(self.analysis.row_name(name[0]), about, first, second, size))
        notes, changed = _notes(self, other, place)
        return RunComparison(
            by=tuple(name for name in by if name != "instance"),
            groups=found,
            level=float(level_over(())),
            notes=notes,
            changes=tuple(sorted(changes, key=lambda change: -(change.size or 0.0))),
            n_questions=len(before.keys() & after.keys()),
            changed=changed,
        )

    def places_of(self, other: Results) -> dict[int, int]:
        """Return row of another result -> the row here that has its id, or else a number that no row here has.

        If either has no ids, rows are joined by their index.

        Raises:
            InvalidInputError: If both have ids, and none in common.
        """
        own, others = self.analysis.row_names, other.analysis.row_names
        if not own or not others:
            return {about["instance"]: about["instance"] for about in other.abouts()}
        known = {name: row for row, name in own.items()}
        if not known.keys() & set(others.values()):
            raise InvalidInputError(
                f"the two results have no row in common: the first holds {next(iter(known))!r}, the second "
                f"{next(iter(others.values()))!r}, and rows are joined by their ids"
            )
        return {row: known.get(name, max(own) + 1 + row) for row, name in others.items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with one row per entry, without the votes; for checklists with one row per item."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        rows = (self._with_id(row) for part in self.analysis.parts() for row in part.flat_records())
        return pd.DataFrame.from_records(list(rows))

    def to_dataset(self) -> datasets.Dataset:
        """Return a Hugging Face data set with one row per entry, its votes inside."""
        import datasets  # noqa: PLC0415 - as above

        return datasets.Dataset.from_list(list(self.records(votes=True)))

    def to_run_file(self, path: str | Path | None = None) -> str:
        """Return the run file that makes it again: ``evenhand run`` and :func:`evenhand.run` read it.

        Keys are not in it: engines name the environment variables that hold them.

        Args:
            path: A file to which it is also written; its paths are relative to this file, or without one to the
                current folder.

        Raises:
            InvalidInputError: If no run is known, because the result was filtered or scored again.
            UnwritableFileError: If the file cannot be written.
        """
        if self.run_file is None:
            raise InvalidInputError(
                "no run is known that makes this result: it was filtered, scored again or put together after its run; "
                "its parameters say how it was made"
            )
        if path is not None:
            write_run(path, self.run_file)
        return run_yaml(self.run_file, Path.cwd() if path is None else check_path(path).parent)

    def save(self, path: str | Path, *, first: int = 0) -> None:
        """Write a Parquet file, which :func:`evenhand.open` reads, or export JSON lines.

        Parquet (``.parquet``) has a row per vote, with the verdict in columns such as ``verdict_score``, which pandas,
        DuckDB and ``datasets`` read without evenhand, and the header as JSON in its metadata ``evenhand``. JSON lines
        (``.jsonl``) are the :meth:`records` with their votes, without a header: they are not read again.

        Args:
            path: The file.
            first: For a part of a run: the index in the whole run of the row whose index is 0 here.

        Raises:
            InvalidInputError: If the path ends otherwise.
            UnwritableFileError: If the file cannot be written; an existing file stays as it was.
        """
        if check_ending(path, SUFFIXES) == ".jsonl":
            write_texts(path, (without_lone_surrogates(as_json(row)) + "\n" for row in self.records(votes=True)))
            return
        kind, rows = self.analyse.kind, len(self.stored)
        header: dict[str, Any] = {"evenhand": kind, "rows": rows, "parameters": self.parameters, **self.header}
        if first:
            header["first"] = first
        if self.run_file is not None:
            header["run"] = relative(self.run_file, check_path(path).parent)
        cells = (
            cell._replace(about={**self._with_id(cell.about), "instance": cell.about["instance"] + first})
            for part in self.analysis.parts()
            for cell in part.cells_with_verdicts()
        )
        write(path, header, cells, self.stored.schema())

    @classmethod
    def load(cls, path: str | Path, analyses: Mapping[str, type[Analysis]]) -> Self:
        """Read what :meth:`save` wrote, or a folder of parts, which stays on disk.

        Args:
            path: The file or folder.
            analyses: Kind -> the class of its analysis.

        Raises:
            InvalidInputError: If the file holds something else.
        """
        place = expanded(check_path(path))
        with reading(place):
            if place.is_dir():
                stored = OnDisk.of(place)
                header, analyse = stored.header, analyses[stored.header["evenhand"]]
                found = cls(analyse, {name: header[name] for name in analyse.judged}, header["parameters"], stored)
            else:
                header, cells = read(path)
                found = cls.of_cells(analyses[header["evenhand"]], header, cells)
                found.analysis.entries  # noqa: B018 - what does not fit is found here
            if run := header.get("run"):
                found = replace(found, run_file=absolute(run, place if place.is_dir() else place.parent))
            return found


def _range_of(results: Sequence[Results], group: Mapping[str, str]) -> tuple[float, float]:
    """Return the range of the scores of a group in either result, both in the same units."""
    limits = [found for each in results if (found := each.analysis.score_range(group)) is not None] or [(0.0, 1.0)]
    if len({(0.0, 1.0) if low >= 0 and high <= 1 else (low, high) for low, high in limits}) > 1:
        (low, high), (other_low, other_high) = limits
        raise InvalidInputError(
            f"the scores of {'/'.join(group.values())!r} go from {low:g} to {high:g} in the first result and from "
            f"{other_low:g} to {other_high:g} in the second: give the options the same values"
        )
    return min(low for low, _ in limits), max(high for _, high in limits)


def _questions(results: Results, place: Mapping[int, int]) -> dict[QuestionName, tuple[QuestionAsked, float]]:
    """Name of a question, its row by its place in the first result -> what was asked, the width of its scores."""
    found: dict[QuestionName, tuple[QuestionAsked, float]] = {}
    for cell, asked in results.cells_with_questions():
        if asked.selected is not None and cell.about["instance"] in place:
            low, high = (0.0, 1.0) if asked.compares else results.analysis.criterion_of(cell).score_range
            row, *names = results.analysis.question_name(cell)
            found[place[row], *names] = (asked, high - low)
    return found


def _notes(one: Results, other: Results, place: Mapping[int, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return notes on how both were made, on the rows that both hold; and what changed, in short.

    If both what was judged and how differ, warn (:class:`ConfoundedComparisonWarning`).
    """
    named = {one.analysis.question_name(Cell(dict(about), ())) for about in one.abouts()}
    others = [other.analysis.question_name(Cell(dict(about), ())) for about in other.abouts()]
    shared = [(place[row], row, names) for row, *names in others if (place[row], *names) in named]
    first, second = one.fingerprint, other.fingerprint
    changed = first.changes(second)
    shown = [(first.shown_of(here, names), second.shown_of(there, names)) for here, there, names in shared]
    new = sum(None not in {before, after} and before != after for before, after in shown)
    of = f"{format_count(new)} of {format_count(len(shared), 'row')}"
    notes = []
    if changed:
        notes.append(f"Not made the same way: {'; '.join(changed)}.")
    if new:
        notes.append(f"On {of} the judges were shown something else.")
    if new and changed:
        notes.append(CONFOUNDED)
        warnings.warn(CONFOUNDED, ConfoundedComparisonWarning, stacklevel=3)
    return tuple(notes), (*changed, *([f"what was shown (on {of})"] if new else []))

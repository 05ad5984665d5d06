"""What every result can do: print, save and open, be filtered, scored again, and read as rows.

A result is a header (what was judged, how, and under which rules) and cells: the votes on each question, and what it
was about. All else is made of these.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial, reduce, wraps
from itertools import accumulate, compress, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypedDict, TypeVar, cast, overload

import numpy as np

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.fields import clustered_level
from evenhand.data.texts import JudgedTexts
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.files import check_path, expanded
from evenhand.options import Aggregation
from evenhand.results.compare import RunComparison, at_places, compare, verdict_changes
from evenhand.results.groups import GroupNames, group_names
from evenhand.results.looking import Key, QuestionAsked, RowView, VerdictList, VerdictView, prompts_of, verdict_view
from evenhand.results.made_by import (
    CONFOUNDED,
    ConfoundedComparisonWarning,
    Fingerprint,
    absolute,
    notes_on_changes,
    relative,
    run_yaml,
    write_run,
)
from evenhand.results.measures import Finding, Outcomes, QuestionName, Reported, UnscoredCounts, unscored_findings
from evenhand.results.notes import LIMITS, Spending, spending_notes
from evenhand.results.render import PrintedTables
from evenhand.results.saved import (
    OWN_LISTS,
    Parts,
    listed,
    read,
    read_abouts,
    read_columns,
    read_schema,
    reading,
    write,
)
from evenhand.results.vote_columns import OF_VOTES, TOLD, BoolArray, Cell, VoteColumns, check_left_out, votes_table
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import MISSING_RESPONSE

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    import pyarrow

Entry = TypeVar("Entry")
Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True)
class Results(PrintedTables, Generic[Entry]):
    """What judging a data set came to, with every vote.

    As a sequence it holds its entries: ``len(results)``, ``for entry in results``, ``results[0]``, ``results[:10]`` as
    a list, and by what names it ``results["3/alder/relevance"]``. ``results["p-17"]`` shows the row of this id whole
    (:meth:`row`), unless an entry has that name.

    Attributes:
        parameters: What made it: judges, fields, orders, rules, seed, interval level, version. To change
            one, use :meth:`rescore`, or ``dataclasses.replace``.
        run_file: The run that made it, as :meth:`to_run_file` writes it; None of what was filtered or scored again.
    """

    kind: ClassVar[str]
    """What saved files call it: one of :data:`~evenhand.results.saved.KINDS`."""

    names: ClassVar[tuple[str, ...]]
    """The attributes that name an entry."""

    rows_by: ClassVar[tuple[str, ...]] = ()
    """The columns that name a row of :meth:`records`, where that is not an entry."""

    compared: ClassVar[tuple[str, str]]
    """The columns of the score and of what was selected, by which two results are compared."""

    labelled_by: ClassVar[tuple[str, ...]] = ()
    """The columns of a cell that tell the questions about a row apart, as labels of people name them."""

    same_rows: ClassVar[tuple[str, ...]] = ()
    """The columns that tell the groups apart that all have the same rows."""

    further_ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """Further scores that :meth:`findings` name -> between which numbers they lie."""

    tells_verdicts: ClassVar[bool] = False
    """Whether each cell has a row of :meth:`records`, which saved files tell with it."""

    parameters: Mapping[str, Any]
    run_file: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)

    @property
    @abstractmethod
    def entries(self) -> Sequence[Entry]:
        """What was judged, one by one."""

    @abstractmethod
    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """A plain row for each entry: what names it, and what its votes came to; with the votes inside if asked for."""

    @abstractmethod
    def cells(self) -> Iterator[Cell]:
        """The votes on each question, and what it was about."""

    def abouts(self) -> Iterator[Mapping[str, Any]]:
        """What each cell is about: of a result on disk no vote is read for it."""
        if isinstance(self.entries, EntriesOnDisk):
            return self.entries.abouts()
        return (cell.about for cell in self.cells())

    @abstractmethod
    def judged(self) -> dict[str, Any]:
        """What was judged, as plain JSON: with the parameters and the cells, all that the result is made of."""

    def overview(self) -> dict[str, Any]:
        """What it came to, as plain JSON, for readers of saved files; it is made anew when they are opened."""
        return {}

    def verdict_rows(self) -> Iterator[Mapping[str, Any]]:
        """What saved files tell of the verdict on each cell, where :attr:`tells_verdicts`."""
        return self.records()

    @classmethod
    @abstractmethod
    def of_cells(cls, header: Mapping[str, Any], cells: Iterable[Cell]) -> Self:
        """The result of these votes."""

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Every score of every system, row by row: what corrected scores, groups and comparisons with people rest on.

        Raises:
            InvalidInputError: A result whose scores people cannot give.
        """
        raise InvalidInputError(
            f"a {type(self).__name__} says how judges behave, and holds no score that people could give too; give the "
            "result of judge, winrates, checklist, aggregate_votes or run_mode"
        )

    def reported(self) -> Iterator[Reported]:
        """What was measured of each system, pair, or the whole, in the order of the tables."""
        return iter(())

    @cached_property
    def unscored_counts(self) -> UnscoredCounts:
        """How many votes and verdicts are unscored."""
        return self.unscored_counts_of()

    def unscored_counts_of(self, system: str | None = None) -> UnscoredCounts:
        """How many votes and verdicts on the responses of a system are unscored; on all responses by default."""
        abouts = list(self.abouts())
        held = np.array(
            [system in {None, *map(about.get, ("system", "first", "second"))} for about in abouts], dtype=bool
        )
        rows = np.array([about["instance"] for about in abouts], dtype=np.int64)
        return UnscoredCounts.of(self.vote_columns.only(held), rows[held])

    def findings(self) -> tuple[Finding, ...]:
        """Every number of the result under a name: what conditions, summaries and pictures are made of.

        The first are ``unscored``, the share of all votes that are unscored, and ``unscored_verdicts``, that of all
        verdicts.
        """
        reported = (found for each in self.reported() for found in each.findings())
        return (*unscored_findings(self.unscored_counts), *reported)

    def asked(self) -> Iterator[QuestionAsked]:
        """What is to be said of each cell, in the order of :meth:`cells`, beside its votes."""
        rules = VoteRules.from_parameters(self.parameters)
        for cell in self.cells():
            criterion = self.criterion_of(cell)
            verdict = rules.aggregate(cell.votes, criterion) if cell.votes else MISSING_RESPONSE
            yield QuestionAsked(
                name="/".join(map(str, self.question_name(cell))),
                criterion=criterion.name,
                question=criterion.description,
                options=criterion.labels,
                judged=(cell.about["system"],) if cell.about.get("system") else (),
                selected=verdict.selected_label,
                score=verdict.aggregated_value,
                verdict=verdict,
                gold=cell.about.get("gold") or cell.about.get("reference"),
            )

    def verdict_views(self, data: object = None, *, row: str | None = None) -> Iterator[VerdictView]:
        """Each question with all that is to be seen of it: texts, votes, reasons, prompts and replies.

        Args:
            data: The rows that were judged, for their texts; by default these are those of the prompts that were sent,
                where they were kept.
            row: Only those about a row: its id, or its index as a text.

        Raises:
            InvalidInputError: If the data are not those that were judged.
        """
        texts = None if data is None else self.texts(data)
        sheets: dict[Any, Any] = {}
        for cell, asked in zip(self.cells(), self.asked(), strict=True):
            named = self.row_name(cell.about["instance"])
            if row in {None, named}:
                shown = None
                if texts is not None:
                    shown = (texts.context(cell.about, partial(self.criterion_of, cell)), texts.shown(cell.about))
                yield verdict_view(cell, asked, prompts_of(cell, asked, sheets), named, shown)

    def texts(self, data: object, response_fields: str | None = None, context_fields: object = None) -> JudgedTexts:
        """Read the texts again from the data that were judged: see :meth:`~evenhand.data.texts.JudgedTexts.of`.

        Raises:
            InvalidInputError: If the data are not those that were judged.
        """
        abouts, header = list(self.abouts()), {**self.judged(), "parameters": self.parameters}
        found = JudgedTexts.of(header, abouts, data, response_fields, context_fields)
        if self.labelled_by == ("first", "second"):
            found.check_lengths(abouts)
        else:
            found.check_prompts(
                (cell.about, " ".join(str(message["content"]) for stage in sent.values() for message in stage))
                for cell in self.cells()
                for sent in [vote.prompts for vote in cell.votes[:1]]
                if sent
            )
        return found

    def verdict_list(self, data: object = None) -> VerdictList:
        """Every verdict, to be looked at: printed as a table, filtered, sorted, and one by one whole.

        Args:
            data: As :meth:`verdict_views` takes them.
        """
        return VerdictList("Verdicts", lambda: self.verdict_views(data))

    def head(self, n: int = 5) -> VerdictList:
        """The first verdicts; see :class:`~evenhand.results.looking.VerdictList`, which is no result."""
        return self.verdict_list().head(n)

    def sort(self, by: str | Key = "spread", *, ascending: bool = False) -> VerdictList:
        """All verdicts by ``spread``, ``disagreement``, ``length``, ``score`` or ``cost``, the greatest first."""
        return self.verdict_list().sort(by, ascending=ascending)

    def disagreements(self) -> VerdictList:
        """The verdicts of which votes chose different things."""
        return self.verdict_list().disagreements()

    def flips(self) -> VerdictList:
        """The verdicts of which a judge chose otherwise in another order."""
        return self.verdict_list().flips()

    def unscored(self, reason: str | None = None) -> VerdictList:
        """The unscored verdicts, or those with a vote that is unscored for a reason such as ``refusal``."""
        return self.verdict_list().unscored(reason)

    def row(self, row: str | int, data: object = None) -> RowView:
        """Everything about one row, as it is printed: its texts, and each verdict with each vote.

        Args:
            row: Its id, or its index where rows have none.
            data: As :meth:`verdict_views` takes them.

        Raises:
            InvalidInputError: If there is no such row.
        """
        found = tuple(self.verdict_views(data, row=str(row)))
        if not found:
            known = dict.fromkeys(self.row_name(about["instance"]) for about in self.abouts())
            raise InvalidInputError(f"there is no row {str(row)!r}. {did_you_mean(str(row), known)}")
        return RowView(str(row), found)

    def question_name(self, cell: Cell) -> QuestionName:
        """What names a cell among those of all rows."""
        return cell.about["instance"], *(str(cell.about[name]) for name in self.labelled_by)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Whose options were offered in a cell, as people are offered them."""
        raise NotImplementedError

    def by_people(self) -> dict[str, Any]:
        """What :meth:`judged` and the parameters say where each question has one label of people and no other vote."""
        grid = {**self.parameters.get("grid", {}), "samples": 1}
        parameters = {**self.parameters, "judges": ["people"], "scoring": "selected", "grid": grid}
        return {**self.judged(), "parameters": parameters}

    @cached_property
    def scored_entries(self) -> Sequence[Entry]:
        """The entries for what is made of all together: of a result on disk without texts, and thus small."""
        if isinstance(self.entries, EntriesOnDisk):
            return self.entries.without_texts()
        return self.entries

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, key: int) -> Entry: ...
    @overload
    def __getitem__(self, key: slice) -> list[Entry]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...  # noqa: ANN401 - an entry, or a row

    def __getitem__(self, key: int | slice | str) -> Entry | list[Entry] | RowView:
        if isinstance(key, int):
            return self.entries[key]
        if isinstance(key, slice):
            return [self.entries[place] for place in range(*key.indices(len(self.entries)))]
        if key in self._places:
            return self.entries[self._places[key]]
        rows = dict.fromkeys(self.row_name(about["instance"]) for about in self.abouts())
        if key in rows:
            return self.row(key)
        raise InvalidInputError(
            f"there is no entry {key!r}, and no row of this id; entries are named {'/'.join(self.names)}, as "
            f"{next(iter(self._places))!r}, and rows by their ids. {did_you_mean(key, [*rows, *self._places])}"
        )

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Name of an entry -> its place."""
        if isinstance(self.entries, EntriesOnDisk):
            named = ((about[name] for name in self.names) for about in self.abouts())
        else:
            named = ((getattr(entry, name) for name in self.names) for entry in self.entries)
        return {name: place for place, name in enumerate(dict.fromkeys("/".join(map(str, each)) for each in named))}

    @cached_property
    def spending(self) -> Spending | None:
        """What it bought, what the journal gave, what was wasted, and what is left; None where nothing was sent."""
        return Spending.of(self.vote_columns, self.parameters)

    @cached_property
    def vote_columns(self) -> VoteColumns:
        """Every vote, in the order of the cells, as far as measures need it: of a result on disk no text is read."""
        if isinstance(self.entries, EntriesOnDisk):
            return self.entries.vote_columns()
        return VoteColumns.of([cell.votes for cell in self.cells()])

    @property
    def outcome_notes(self) -> tuple[str, ...]:
        """How the scores of single questions differ from those of the printed tables, where they do."""
        return ()

    def closing_notes(self) -> tuple[str, ...]:
        """What it bought, and what was held back."""
        return spending_notes(self.spending, self.unscored_counts.reasons)

    def clusters(self) -> dict[int, str]:
        """Instance -> what it belongs to; empty where rows do not depend on each other."""
        return {about["instance"]: about["cluster"] for about in self.abouts() if about.get("cluster") is not None}

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the rows, by index, as ``id_field`` names them; none where the rows have no ids of their own."""
        found: Sequence[str] = self.parameters.get("ids", ())
        return found

    def group_of(self, by: object, data: object = None) -> GroupNames:
        """The group of each row of the data, by its index; None for a row of none.

        Args:
            by: A column that was named with ``group_fields`` when the rows were judged; a column of ``data``; a group
                for each row, in their order; or a mapping from row (its id where rows have ids, else its index) to
                group.
            data: The rows that were judged, where the result keeps no such column: brought together by ``id_field``
                where they have it, else by their order.

        Raises:
            InvalidInputError: If there is no such column, or the groups are not those of these rows.
        """
        rows = {about["instance"]: self.row_name(about["instance"]) for about in self.abouts()}
        return group_names(rows, self.parameters, by, data)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """By what it was made: judges, models, prompts, criteria, options, labels, and what was shown of each row."""
        models: dict[str, None] = {}
        labels = []
        for cell in self.cells():
            models |= {vote.completion.model: None for vote in cell.votes if vote.completion and vote.completion.model}
            gold = cell.about.get("gold", cell.about.get("reference"))
            if gold is not None:
                labels.append([*self.question_name(cell), gold])
        return Fingerprint.of(self.judged(), self.parameters, models, labels)

    def named_cells(self) -> Iterator[Cell]:
        """The cells, with the id of the row where rows have ids of their own."""
        return (cell._replace(about=self._with_id(cell.about)) for cell in self.cells())

    def _with_id(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """What a cell is about, with the id of its row where rows have ids of their own."""
        return named_row(about, self.ids) if self.ids else dict(about)

    def level_over(self, clusters: Sequence[str | None]) -> IntervalLevel:
        """The level of intervals over rows of these clusters, and their method."""
        return clustered_level(self.parameters["level"], clusters, self.parameters["interval"])

    def units(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """What is 0 and what is 1 for the scores of a group of rows; None where there is no such group.

        Args:
            group: The columns that name it, such as system and criterion.
        """
        del group
        return (0.0, 1.0)

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float] | None:
        """The least and the greatest score of a group of rows."""
        return self.units(group)

    def votes(self) -> pyarrow.Table:
        """Every vote as a row of an Arrow table, with what it was about."""
        schema = self.entries.schema(verdicts=False) if isinstance(self.entries, EntriesOnDisk) else None
        return votes_table(self.named_cells(), schema)

    def filter(self, keep: Callable[[Mapping[str, Any]], bool] | None = None, **about: object) -> Self:
        """The result of some of the questions only.

        Args:
            keep: Told what a question was about (instance, system, …), says whether it stays.
            **about: What must equal a column, or be among a list of values: ``system="alder"``, ``instance=[0, 3]``,
                and where rows have ids of their own ``id="p-3"``.

        Raises:
            InvalidInputError: If there is no such column, or nothing would be left.
        """
        accepted = {name: value if isinstance(value, (list, tuple, set)) else [value] for name, value in about.items()}
        columns = self._with_id(next(iter(self.abouts())))
        for name in about:
            if name not in columns:
                raise InvalidInputError(f"there is no column {name!r}. {did_you_mean(name, list(columns))}")
        stays: list[bool] = []
        left: dict[str, set[Any]] = {name: set() for name in ("system", "first", "second", "instance")}
        for each in map(self._with_id, self.abouts()):
            stays.append(
                all(each[name] in values for name, values in accepted.items()) and bool(not keep or keep(each))
            )
            for name in left if stays[-1] else ():
                left[name].add(each.get(name))
        if not any(stays):
            raise InvalidInputError(f"of {len(stays)} questions none is left by {about or keep!r}")
        judged = self.judged()
        if "systems" in judged:
            systems = left["system"] | left["first"] | left["second"]
            judged["systems"] = [system for system in judged["systems"] if system in systems]
        parameters = {name: value for name, value in self.parameters.items() if name not in LIMITS}
        parameters["n"] = len(left["instance"])
        header = {**judged, "parameters": parameters}
        if isinstance(self.entries, EntriesOnDisk):
            entries = self.entries.only(stays, header)
            check_same_rows(entries.abouts(), *self.same_rows)
            return cast(Self, entries.whole())
        return type(self).of_cells(header, compress(self.cells(), stays))

    def rescored(self, rules: VoteRules, **changes: Any) -> Self:  # noqa: ANN401 - parameters
        """The same votes under other rules, without a call.

        Args:
            rules: How votes become verdicts.
            **changes: Other parameters that change, and what is judged, where that does.
        """
        header = {**self.judged(), "parameters": {**self.parameters, **rules.parameters(), **changes}}
        if isinstance(self.entries, EntriesOnDisk):
            return cast(Self, self.entries.under(header).whole())
        return type(self).of_cells(header, self.cells())

    def compare(self, other: Self) -> RunComparison:
        """How another result differs on the same rows: another judge, model, prompt, rule, or other responses.

        Rows are joined by their ids where both results have some, else by their index; within a row by what names its
        parts, such as system and criterion.

        Args:
            other: A result of the same kind.

        Returns:
            For each group of rows (such as a system and criterion): the mean of (other's score - this one's) with a
            paired interval, a test (McNemar's exact one of two-valued scores, else by flipping signs), p-values
            corrected by Holm over all groups (:func:`~evenhand.statistics.paired_differences`), and how often both
            select the same. Of checklists the same of each item. Which verdicts changed, and what was not the same
            when the two were made.

        Raises:
            InvalidInputError: A result of another kind, one without a row in common, or one whose scores have other
                units.
        """
        if type(other) is not type(self):
            raise InvalidInputError(
                f"a {type(self).__name__} cannot be compared with a {type(other).__name__}: give a result of its kind"
            )
        place, turned = self.places_of(other), self.turned_in(other)
        clusters = {place[row]: cluster for row, cluster in other.clusters().items()}
        how: dict[str, Any] = {
            "clusters": {**clusters, **self.clusters()},  # either may know what belongs together
            "level_over": self.level_over,
            "units": (self.units, other.units),
            "ranges": (self.score_range, other.score_range),
        }
        found = compare(
            list(self.records()),
            at_places(other.records(), place, turned),
            by=self.rows_by or self.names,
            columns=self.compared,
            **how,
        )
        parts, others = list(self.parts()), at_places(other.parts(), place)
        if parts and others:
            by = ("instance", "system", "item")
            found = replace(found, items=compare(parts, others, by=by, columns=("score", "selected"), **how).groups)
        asked = self._asked_by_name({row: row for row in place.values()})
        told = other._asked_by_name(place, turned)
        changes, answered = verdict_changes(
            (self.row_name(name[0]), dict(zip(self.labelled_by, name[1:], strict=True)), *pair, width)
            for name, (question, width) in asked.items()
            if name in told
            for pair in [(question, told[name][0])]
        )
        notes, changed = self._notes_on(other, place, turned)
        return replace(found, notes=notes, changed=changed, changes=changes, n_questions=answered)

    def parts(self) -> Iterator[Mapping[str, Any]]:
        """What entries are made of and is compared too, as the items of a checklist that all rows share."""
        return iter(())

    def places_of(self, other: Results[Any]) -> dict[int, int]:
        """Row of another result -> the row here that has its id, or else a number that no row here has.

        Where either has no ids, rows are joined by their index.

        Raises:
            InvalidInputError: If both have ids, and none in common.
        """
        own, others = self._row_names, other._row_names
        if not own or not others:
            return {about["instance"]: about["instance"] for about in other.abouts()}
        known = {name: row for row, name in own.items()}
        if not known.keys() & set(others.values()):
            raise InvalidInputError(
                f"the two results have no row in common: the first holds {next(iter(known))!r}, the second "
                f"{next(iter(others.values()))!r}, and rows are joined by their ids"
            )
        return {row: known.get(name, max(own) + 1 + row) for row, name in others.items()}

    @cached_property
    def _row_names(self) -> Mapping[int, str]:
        """Row -> its id; empty where rows have none."""
        if self.ids:
            return dict(enumerate(self.ids))
        return {about["instance"]: about["prompt_id"] for about in self.abouts() if about.get("prompt_id") is not None}

    def row_name(self, row: int) -> str:
        """The id of a row, or its index as a text where rows have none."""
        return self._row_names.get(row, str(row))

    def turned_in(self, other: Self) -> frozenset[tuple[str, ...]]:
        """What names questions of another result that stand here the other way round, as of contests they may."""
        del other
        return frozenset()

    def _asked_by_name(
        self, place: Mapping[int, int], turned: Collection[tuple[str, ...]] = ()
    ) -> dict[QuestionName, tuple[QuestionAsked, float]]:
        """What names a question, its row by a place in another result -> what was asked, the width of its scores."""
        found: dict[QuestionName, tuple[QuestionAsked, float]] = {}
        for cell, asked in zip(self.cells(), self.asked(), strict=True):
            if asked.selected is not None and cell.about["instance"] in place:
                low, high = (0.0, 1.0) if asked.compares else self.criterion_of(cell).score_range
                row, *names = self.question_name(cell)
                if tuple(names) in turned:
                    score = None if asked.score is None else 1 - asked.score
                    found[place[row], *reversed(names)] = (replace(asked, score=score), high - low)
                else:
                    found[place[row], *names] = (asked, high - low)
        return found

    def _notes_on(
        self, other: Self, place: Mapping[int, int], turned: Collection[tuple[str, ...]]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What must be said of how both were made, on the rows that both hold; and what changed, in short.

        Where both what was judged and how differ, that is warned of (:class:`ConfoundedComparisonWarning`).
        """
        named = {self.question_name(Cell(dict(about), ())): None for about in self.abouts()}
        shared = {}
        for row, *names in (other.question_name(Cell(dict(about), ())) for about in other.abouts()):
            if tuple(names) in turned:
                names.reverse()
            if (place[row], *names) in named:
                shared[place[row], *names] = (place[row], row, names)
        notes, changed = notes_on_changes(self.fingerprint, other.fingerprint, shared.values())
        if notes and notes[-1].startswith(CONFOUNDED):
            warnings.warn(notes[-1], ConfoundedComparisonWarning, stacklevel=3)
        moved = sum(one != two for one, two, _ in shared.values())
        said = ("Rows are joined by their ids: they do not stand in the same places.",) if moved else ()
        return (*said, *notes, *dict.fromkeys((*self.outcome_notes, *other.outcome_notes))), changed

    def to_pandas(self) -> pd.DataFrame:
        """One row an entry, without the votes."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        return pd.DataFrame.from_records(list(self.records()))

    def to_dataset(self) -> datasets.Dataset:
        """A Hugging Face data set with one row an entry, its votes inside."""
        import datasets  # noqa: PLC0415 - as above

        return datasets.Dataset.from_list(list(self.records(votes=True)))

    def to_run_file(self, path: str | Path | None = None) -> str:
        """The run file that makes it again: ``evenhand run`` and :func:`evenhand.run` read it.

        Keys are not in it: engines name the environment variables that hold them.

        Args:
            path: Where it is written too; its paths are relative to this file, or without one to the current folder.

        Raises:
            InvalidInputError: A result of which no run is known: one that was filtered or scored again.
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

    def save(self, path: str | Path, *, leave_out: Collection[str] = ()) -> None:
        """Write a file that :func:`evenhand.open` reads.

        Parquet (``.parquet``) has a row per vote, which pandas, DuckDB and ``datasets`` read without evenhand, and the
        header as JSON in its metadata ``evenhand``. JSON lines (``.jsonl``) have the header as the first line, and then
        a line per question, with its votes.

        Args:
            path: The file.
            leave_out: What of the votes is not written, because it is long and no score needs it: ``prompts``,
                ``reasoning`` (the traces of thinking models), ``logprobs`` (the tokens; probabilities stay).

        Raises:
            InvalidInputError: If the path ends otherwise, or something else is to be left out.
            UnwritableFileError: If the file cannot be written; what was there is as it was.
        """
        self.save_part(path, 0, leave_out)

    def save_part(self, path: str | Path, first: int, leave_out: Collection[str] = ()) -> None:
        """The same for some rows of a run, of which the first has an index of its own in the whole."""
        check_left_out(leave_out)
        header = {"parameters": listed(self.parameters), **self.judged(), **self.overview()}
        if self.run_file is not None:
            header["run"] = relative(self.run_file, check_path(path).parent)
        cells = self.named_cells()
        if self.tells_verdicts:
            cells = (cell.telling(row) for cell, row in zip(cells, self.verdict_rows(), strict=True))
        disk = self.entries if isinstance(self.entries, EntriesOnDisk) else None
        streamed: dict[str, Any] = {} if disk is None else {"rows": disk.cells, "schema": disk.schema()}
        write(path, self.kind, header, (cell.without(leave_out) for cell in cells), first=first, **streamed)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file is something else.
        """
        place = expanded(path)
        folder = place if place.is_dir() else place.parent
        with reading(place):
            if place.is_dir():
                parts = Parts.of(place, cls.kind)
                result, header = cast(Self, EntriesOnDisk(cls, parts, parts.header).whole()), parts.header
            else:
                saved = read(path, cls.kind)
                result, header = cls.of_cells(saved.header, saved.cells), saved.header
            if header.get("run"):
                object.__setattr__(result, "run_file", absolute(header["run"], folder))
        return result


@dataclass(frozen=True, eq=False)
class EntriesOnDisk(Sequence[Entry], Generic[Entry]):
    """The entries of all parts, one part after the other; in a part they are ordered as in any result of its kind.

    Rows are numbered on from part to part. No more than one part is held for each walk.

    Attributes:
        held_as: The class of the result.
        parts: The files.
        header: What the parts say together, under the rules that apply.
        kept: For each part, which of its cells are left; None where all are.
        as_saved: The rules are those by which the parts were saved.
    """

    held_as: type[Results[Entry]]
    parts: Parts
    header: Mapping[str, Any]
    kept: tuple[BoolArray, ...] | None = None
    as_saved: bool = True
    _last: dict[int, Results[Entry]] = field(default_factory=dict, repr=False)

    @property
    def numbers(self) -> Sequence[int]:
        """The parts of which something is left."""
        return [number for number in range(len(self.parts.paths)) if self.kept is None or self.kept[number].any()]

    def part(self, number: int, *, texts: bool = True) -> Results[Entry]:
        """The result of one part, whose rows have the numbers that they have in the whole.

        Args:
            number: Which part, from 0.
            texts: Read the reasons and replies too, of which no score is made.

        Raises:
            InvalidInputError: A part that cannot be read.
        """
        with reading(self.parts.paths[number]):
            saved = read(self.parts.paths[number], self.held_as.kind, texts=texts)
            left = saved.cells if self.kept is None else compress(saved.cells, self.kept[number])
            return self._made_of(number, saved.header, left)

    def _made_of(self, number: int, header: Mapping[str, Any], cells: Iterable[Cell]) -> Results[Entry]:
        placed = (cell._replace(about=self._placed(number, header, cell.about)) for cell in cells)
        return self.held_as.of_cells(self.header, placed)

    def _placed(self, number: int, header: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
        """What a cell is about, with the numbers that its row and what it was judged by have in the whole."""
        found = {**about, "instance": about["instance"] + self.parts.firsts[number]}
        for name, column in OWN_LISTS.get(self.held_as.kind, {}).items():
            if column in about and header.get(name) != self.header.get(name):
                found[column] = self.header[name].index(header[name][about[column]])
        return found

    def abouts(self) -> Iterator[dict[str, Any]]:
        """What each cell is about, without its votes."""
        for number in self.numbers:
            header, abouts = read_abouts(self.parts.paths[number])
            for place, about in enumerate(abouts):
                if self.kept is None or self.kept[number][place]:
                    yield self._placed(number, header, about)

    def columns(self, number: int, names: Collection[str]) -> pyarrow.Table:
        """Columns of one part, with all its cells, whose rows are counted from 0."""
        return read_columns(self.parts.paths[number], names, self.parts.saved_firsts[number])

    @property
    def cells(self) -> int:
        """How many cells are left."""
        return sum(self.parts.cells) if self.kept is None else sum(int(each.sum()) for each in self.kept)

    def schema(self, *, verdicts: bool = True) -> pyarrow.Schema:
        """The columns of a file that holds all parts, with those that tell of verdicts or without."""
        import pyarrow  # noqa: PLC0415 - half a second of import that only this needs

        schemas = map(read_schema, self.parts.paths)
        united = reduce(lambda one, other: pyarrow.unify_schemas([one, other]), schemas)
        return pyarrow.schema(each for each in united if verdicts or not each.name.startswith(TOLD))

    def vote_columns(self) -> VoteColumns:
        """Every vote, as far as measures need it."""
        found = []
        for number in self.numbers:
            votes = VoteColumns.of_table(self.columns(number, OF_VOTES))
            found.append(votes if self.kept is None else votes.only(self.kept[number]))
        return VoteColumns.joined(found)

    def without_texts(self) -> tuple[Entry, ...]:
        """All entries at once, without the reasons and replies, of which no score is made."""
        return tuple(entry for number in self.numbers for entry in self.part(number, texts=False).entries)

    def whole(self) -> Results[Entry]:
        """The result with these entries."""
        number = self.numbers[0]
        if self.kept is None:  # one row shows what all are like
            row = next(self.abouts())["instance"] - self.parts.firsts[number]
            saved = read(self.parts.paths[number], self.held_as.kind, texts=False, row=row)
            template = self._made_of(number, saved.header, saved.cells)
        else:
            template = self.part(number, texts=False)
        held = next(each.name for each in fields(template) if getattr(template, each.name) is template.entries)
        return replace(template, **{held: self})  # type: ignore[arg-type] # the field of its entries

    def under(self, header: Mapping[str, Any]) -> Self:
        """The same votes under other rules.

        Args:
            header: What is judged, and the parameters.
        """
        return replace(self, header={**self.header, **header}, as_saved=False, _last={})

    def only(self, stays: Sequence[bool], header: Mapping[str, Any]) -> Self:
        """The entries of some of the cells.

        Args:
            stays: Of each of :meth:`abouts`, whether it does.
            header: What is judged, and the parameters, of what is left.
        """
        left = iter(stays)
        masks = []
        for number, cells in enumerate(self.parts.cells):
            mask = np.ones(cells, dtype=bool) if self.kept is None else self.kept[number].copy()
            mask[mask] = list(islice(left, int(mask.sum())))
            masks.append(mask)
        return replace(self, header={**self.header, **header}, kept=tuple(masks), _last={})

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        """How many entries each part has."""
        names = self.held_as.names
        counts = dict.fromkeys(range(len(self.parts.paths)), 0)
        for number in self.numbers:
            _, abouts = read_abouts(self.parts.paths[number])
            kept = [True] * len(abouts) if self.kept is None else self.kept[number]
            named = zip(abouts, kept, strict=True)
            counts[number] = len({tuple(about[name] for name in names) for about, held in named if held})
        return tuple(counts.values())

    def __len__(self) -> int:
        return sum(self._counts)

    def __iter__(self) -> Iterator[Entry]:
        for number in self.numbers:
            yield from self.part(number).entries

    @overload
    def __getitem__(self, place: int) -> Entry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Entry]: ...

    def __getitem__(self, place: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        ends = list(accumulate(self._counts))
        left = range(len(self))[place]
        number = bisect_right(ends, left)
        left -= ends[number] - self._counts[number]
        if number not in self._last:
            self._last.clear()
            self._last[number] = self.part(number)
        return self._last[number].entries[left]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment] # as a list


def part_by_part(walk: Callable[..., Iterator[Row]]) -> Callable[..., Iterator[Row]]:
    """Make a walk over a result go through one part after the other where it lies on disk."""

    @wraps(walk)
    def walked(self: Results[Any], *given: Any, **keyed: Any) -> Iterator[Row]:  # noqa: ANN401 - those of the walk
        entries = self.entries
        if not isinstance(entries, EntriesOnDisk):
            yield from walk(self, *given, **keyed)
            return
        for number in entries.numbers:
            yield from walk(entries.part(number), *given, **keyed)

    return walked


def named_row(row: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    """A row with the id of what it is about beside its index."""
    return {"instance": row["instance"], "id": ids[row["instance"]], **row}


Rows = Callable[..., Iterator[dict[str, Any]]]


def with_ids(records: Rows) -> Rows:
    """Make the rows of a result carry the ids of the data, where these have some."""

    @wraps(records)
    def named(self: Results[Any], *, votes: bool = False) -> Iterator[dict[str, Any]]:
        for row in records(self, votes=votes):
            yield named_row(row, self.ids) if self.ids else row

    return named


class Rules(TypedDict, total=False):
    """How votes become a verdict.

    Attributes:
        aggregation: The rule by which a panel's votes become one, or scale -> rule; None for the scale's default.
        on_position_bias: What a disagreement between orders counts; None for the scale's default.
        scoring: ``selected`` or ``expected``.
        min_mass: Probabilities that cover less are not used.
    """

    aggregation: Aggregation
    on_position_bias: str | None
    scoring: str
    min_mass: float


def changed_rules(parameters: Mapping[str, Any], rules: Rules) -> VoteRules:
    """The rules given, and for what is not given those of the table.

    Raises:
        InvalidInputError: If something else is given.
    """
    for name in rules:
        if name not in Rules.__annotations__:
            raise InvalidInputError(f"there is no rule {name!r}. {did_you_mean(name, Rules.__annotations__)}")
    return VoteRules.from_parameters({**parameters, **rules})


def check_same_rows(abouts: Iterable[Mapping[str, Any]], *groups: str) -> None:
    """Check that all groups have the same rows, in which their differences are paired.

    Args:
        abouts: Of cells, with the columns ``instance`` and ``groups``.
        *groups: The columns that tell groups apart, such as ``system`` and ``criterion``.

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

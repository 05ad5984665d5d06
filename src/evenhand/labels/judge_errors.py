"""On what the errors of a judge depend: on length, format, position, its own family, or any column of the data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.data.cells import number_of
from evenhand.data.fields import columns_named
from evenhand.errors import InvalidInputError
from evenhand.labels.judged_texts import JudgedTexts
from evenhand.labels.people import Paired, paired, read_gold
from evenhand.labels.traits import FIRST, LENGTH, OWN_FAMILY, REVERSED, family_of, position, text_traits
from evenhand.numbers import Missing, format_count, format_interval, format_level, state_p_value
from evenhand.results.groups import GroupNames
from evenhand.results.measures import Column, known, measure, measures_table
from evenhand.results.outcomes import Outcome, Outcomes, QuestionName
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.results.votes_columns import Cell
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.clustered_regression import Coefficient, clustered_regression, told_apart
from evenhand.statistics.intervals import level_over
from evenhand.statistics.paired_differences import holm
from evenhand.statistics.resampling import FloatArray

FEWEST_APART = 5
"""Of rows that have a trait, and of rows that have it not, where it is there or not."""

ROWS_BEYOND = 10
"""Labelled rows beyond the number of coefficients without which nothing is estimated."""

MOST_VALUES = 8
"""Of a column whose values are no numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEffect:
    """How a judge's errors go together with one trait of responses or rows, all others and people's score being equal.

    Attributes:
        effect: What the trait adds to (the judge's score - people's), on a scale from 0 to 1; of a nominal criterion
            to the share of labels that are not people's.
        p_value: Of the test that it is 0, by Holm over all traits and scores.
        freedom: Degrees of freedom of the test: few where few clusters tell.
        num_rows: Labelled rows.
        num_clusters: What they belong to.
    """

    effect: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    freedom: float | Missing = measure("number")
    num_rows: int = measure("count")
    num_clusters: int = measure("count")


EffectName = tuple[str, str]
"""What the score is of, and the trait."""


@dataclass(frozen=True)
class JudgeErrors(PrintedTables):
    """The result of :func:`judge_errors`.

    Attributes:
        effects: (Score of, trait) -> how errors go together with it.
        mean_errors: Score of -> the mean of (the judge's score - people's), on a scale from 0 to 1.
        level: Of the intervals.
        notes: What could not be looked at, and why.
    """

    effects: Mapping[EffectName, ErrorEffect]
    mean_errors: Mapping[str, Interval | Missing]
    level: float
    notes: tuple[str, ...] = ()

    def text_tables(self) -> tuple[TextTable, ...]:
        """One row for each trait of each score."""
        columns = (
            Column(f"effect on the error [{format_level(self.level)}]", "effect"),
            Column("p", "p_value"),
            Column("df", "freedom"),
            Column("labelled", "num_rows"),
            Column("clusters", "num_clusters"),
        )
        tests = format_count(sum(not isinstance(each.p_value, Missing) for each in self.effects.values()), "test")
        means = [f"{name}: {format_interval(mean, signed=True)}" for name, mean in self.mean_errors.items() if mean]
        meant = (
            "Effects: of each trait on (the judge's score - people's), from 0 to 1, people's score and other traits "
            f"being equal (least squares, CR2 errors over clusters, p corrected by Holm over {tests})."
        )
        notes = (
            meant,
            f"The judge less people, on average: {'; '.join(means)}.",
            *(
                f"{name[1]} ({name[0]}): {each.effect.reason}."
                for name, each in self.effects.items()
                if isinstance(each.effect, Missing)
            ),
            *self.notes,
        )
        title = "On what the judge's errors depend"
        return (measures_table(title, ("score of", "trait"), self.effects, columns, notes, kind="effects"),)

    @property
    def findings(self) -> tuple[str, ...]:
        """What is found, in sentences."""
        return tuple(
            _sentence(*name, each)
            for name, each in self.effects.items()
            if not isinstance(each.p_value, Missing) and each.p_value <= 1 - self.level
        )

    def closing_notes(self) -> tuple[str, ...]:
        """What is found."""
        caution = (
            "People's score stands in for quality: where labels are noisy, a trait that goes together with quality "
            "takes a part of its effect."
        )
        nothing = "No trait is seen on which the judge's errors depend."
        return (*(self.findings or (nothing,)), caution)


def _sentence(name: str, trait: str, found: ErrorEffect) -> str:
    more = "more" if found.effect and found.effect.estimate > 0 else "less"
    column, colon, value = trait.partition(": ")
    what = f"a response {trait}" if trait in {LENGTH, FIRST, OWN_FAMILY} or trait.startswith("with ") else trait
    if colon:
        what = f"a response whose {column} is {value}"
    elif what == trait and trait != REVERSED:
        what = f"for each 1 of {trait}"
    size = f"{format_interval(found.effect, signed=True)}, {state_p_value(float(found.p_value))}"  # type: ignore[arg-type] # there is one
    return f"{name}: of what people score alike, the judge gives {what} {more} ({size})."


def judge_errors(
    results: Results[Any],
    data: object = None,
    gold: object = None,
    *,
    columns: str | Sequence[str] = (),
    own_family: Sequence[str] | None = None,
    response_field: str | None = None,
    level: float | None = None,
) -> JudgeErrors:
    """On what the errors of a judge depend, where people labelled: length, format, position, own family, any column.

    A least-squares regression of (the judge's score - people's) on all traits together and on people's score, one for
    each score of the result, over the rows of all systems that people labelled; errors are those of the clusters
    (:func:`~evenhand.statistics.clustered_regression.clustered_regression`), rows of one instance being one where the
    result has no clusters. Of contests traits are those of the first response less those of the second.

    In simulation (``python -m benchmarks.judge_errors``) an unbiased judge whose errors go together within 12 documents
    of four responses is suspected at 5 % in 6.2 ± 1.2 % of 400 data sets, and in 10.7 % where rows are taken as
    independent.

    Args:
        results: What was judged: by ``judge``, ``winrates``, ``checklist``, ``run_mode`` or ``aggregate_votes``.
        data: The rows that were judged, for length and format: results hold no texts (of contests they hold lengths).
        gold: Labels of people (:func:`evenhand.correct`); by default those that the result holds.
        columns: Columns of ``data``, or that the result keeps (``group_fields``): numbers count by their value, other
            values against the most frequent one.
        own_family: The systems that are of the judge's own family; by default as the names of models tell.
        response_field: The column with the responses, of recorded votes.
        level: Of the intervals; that of the result by default.

    Raises:
        InvalidInputError: No labels, data that were not judged, or a column that is not there.
    """
    wanted = float(results.parameters.get("level", 0.95)) if level is None else level
    pairs = paired(results, read_gold(results, gold))
    contests = results.kind == "winrates"
    named = () if not columns else columns_named(columns, "columns")
    if named and contests and len({each.judge.system for each in pairs}) > 2:
        raise InvalidInputError(
            f"columns is {list(named)!r}: a column of rows says nothing of which of two responses a judge errs for; "
            "keep two systems with results.filter(…), or leave columns out"
        )
    source = _Source.of(results, data, response_field, named, own_family)
    found: dict[EffectName, ErrorEffect] = {}
    means: dict[str, Interval | Missing] = {}
    alike: list[set[str]] = []
    for criterion, rows in _labelled(pairs, contests=contests).items():
        regression = _Regression.of(rows, source, wanted, contests=contests)
        means[criterion] = regression.mean_error()
        effects = regression.effects(intercept=bool(named))
        found |= {(criterion, trait): effect for trait, effect in effects.items()}
        alike.append(regression.alike())
    tested = {name: each.p_value for name, each in found.items() if not isinstance(each.p_value, Missing)}
    adjusted = zip(tested, holm(list(tested.values())).tolist(), strict=True)
    found |= {name: replace(found[name], p_value=p_value) for name, p_value in adjusted}
    never = sorted(set.intersection(*alike) - {FIRST, REVERSED, OWN_FAMILY}) if alike else []
    notes = [f"In these traits labelled rows do not differ: {', '.join(never)}."] if never else []
    return JudgeErrors(found, means, wanted, (*notes, *source.notes()))


@dataclass(frozen=True)
class _LabelledRow:
    """A labelled row: what the judge errs by, and what it is about."""

    of: Outcomes
    row: Outcome
    error: float
    human: float
    label: str | None

    @property
    def cluster(self) -> Hashable:
        return ("row", self.row.instance) if self.row.cluster is None else self.row.cluster


def _labelled(pairs: Iterable[Paired], *, contests: bool) -> dict[str, list[_LabelledRow]]:
    """What a score is of -> its labelled rows, of all systems; each contest once, as its first system sees it."""
    found: dict[str, list[_LabelledRow]] = {}
    for pair in pairs:
        if contests and pair.judge.part_of is not None:
            continue
        low, high = pair.judge.bounds
        nominal = bool(pair.judge.values) and None in pair.judge.values
        for place, row in enumerate(pair.judge.rows):
            if contests and list(row.questions[0])[1] != pair.judge.system:
                continue
            label, human = pair.selected[place], (float(pair.human[place]) - low) / (high - low)
            if nominal:
                error = np.nan if label is None or row.selected is None else float(label != row.selected)
            else:
                error = np.nan if row.score is None else (row.score - low) / (high - low) - human
            if not np.isnan(error):
                found.setdefault(pair.judge.criterion, []).append(
                    _LabelledRow(pair.judge, row, float(error), 0.0 if nominal else human, label)
                )
    return found


@dataclass(frozen=True)
class _Source:
    """Where traits of rows are read."""

    results: Results[Any]
    cells: Mapping[QuestionName, Cell]
    texts: JudgedTexts | None
    columns: Mapping[str, GroupNames]
    own: frozenset[str]

    @classmethod
    def of(
        cls, results: Results[Any], data: object, response_field: str | None, columns: Sequence[str], own: object
    ) -> _Source:
        cells = {results.question_name(cell): cell for cell in results.cells()}
        texts = None if data is None else JudgedTexts.of(results, data, response_field, None)
        kept = results.parameters.get("groups", {})
        groups = {name: results.group_of(name, None if name in kept or data is None else data) for name in columns}
        systems = {str(part) for name in cells for part in name[1:]}
        if own is None:
            families = {family_of(judge) for judge in results.parameters.get("judges", ())} - {None}
            mine = frozenset(system for system in systems if family_of(system) in families)
        else:
            mine = frozenset(columns_named(own, "own_family"))
            if unknown := mine - systems:
                raise InvalidInputError(f"own_family names {sorted(unknown)!r}, which was not judged")
        return cls(results, cells, texts, groups, mine)

    def notes(self) -> Iterator[str]:
        """What could not be looked at."""
        if self.texts is None:
            yield "Format, and but for contests length, were not looked at: give the rows that were judged, data=…."
        if not self.own:
            yield "No system is known to be of the judge's own family (own_family=[…] says which are)."

    def traits(self, row: Outcome, *, contests: bool) -> dict[str, float]:
        """The traits of a response, or of the first less the second."""
        cells = [self.cells[question] for question in row.questions]
        first = cells[0]
        found = {FIRST if contests else REVERSED: float(np.mean([position(cell.votes) for cell in cells]))}
        if not contests:
            found[REVERSED] = (1 - found[REVERSED]) / 2
        names = [str(first.about.get(side)) for side in (("first", "second") if contests else ("system",))]
        looks = self._looks(first, names, contests=contests)
        parts = [{OWN_FAMILY: float(name in self.own), **own} for name, own in zip(names, looks, strict=True)]
        if contests:
            one, other = parts
            return found | {name: one[name] - other[name] for name in one if name in other}
        return found | parts[0]

    def _looks(self, cell: Cell, names: Sequence[str], *, contests: bool) -> list[dict[str, float]]:
        """Length and format of each response."""
        if self.texts is not None:
            shown = list(self.texts.shown(cell).values())
            return [{} if text is None else text_traits(text) for text in shown]
        lengths = [cell.about.get(f"{side}_length") for side in ("first", "second")] if contests else [None]
        return [{} if size is None else {LENGTH: float(np.log2(1 + size))} for size in lengths[: len(names)]]


def _of_column(column: str, values: Sequence[str | None]) -> dict[str, list[float | None]]:
    """A column of numbers as it is; of any other a column for each value but the most frequent one.

    Raises:
        InvalidInputError: If too many values are no numbers.
    """
    numbers = [None if value is None else number_of(value) for value in values]
    if all(value is None or number is not None for value, number in zip(values, numbers, strict=True)):
        return {column: [None if number is None else float(number) for number in numbers]}
    told = ["(none)" if value is None else value for value in values]
    different = sorted(set(told), key=lambda value: (-told.count(value), value))
    if len(different) > MOST_VALUES:
        raise InvalidInputError(
            f"columns names {column!r}, which has {len(different)} values on labelled rows that are no numbers; "
            f"{MOST_VALUES} or fewer can be told apart: join some"
        )
    return {f"{column}: {value}": [float(each == value) for each in told] for value in different[1:]}


@dataclass(frozen=True)
class _Regression:
    """The errors on one score, and what they are regressed on.

    Attributes:
        rows: With all traits.
        traits: Trait -> (n rows,).
        contests: Rows are contests, whose two sides may be swapped.
        level: Of the intervals.
    """

    rows: Sequence[_LabelledRow]
    traits: Mapping[str, FloatArray]
    contests: bool
    level: float

    @classmethod
    def of(cls, rows: Sequence[_LabelledRow], source: _Source, level: float, *, contests: bool) -> _Regression:
        """The rows of which all traits are known."""
        own = [source.traits(row.row, contests=contests) for row in rows]
        names = dict.fromkeys(name for traits in own for name in traits)
        held: dict[str, list[float | None]] = {name: [traits.get(name) for traits in own] for name in names}
        for column, groups in source.columns.items():
            held |= _of_column(column, [groups[row.row.instance] for row in rows])
        complete = [place for place in range(len(rows)) if all(column[place] is not None for column in held.values())]
        return cls(
            [rows[place] for place in complete],
            {name: np.array([column[place] for place in complete], dtype=float) for name, column in held.items()},
            contests,
            level,
        )

    @property
    def errors(self) -> FloatArray:
        """(n rows,)."""
        return np.array([row.error for row in self.rows], dtype=float)

    @property
    def clusters(self) -> list[Hashable]:
        """(n rows,)."""
        return [row.cluster for row in self.rows]

    def mean_error(self) -> Interval | Missing:
        """The mean error of the judge."""
        errors, over = np.clip(self.errors, -1, 1), level_over(self.level, self.clusters)
        mean = mean_intervals(errors, level=over, bounds=(-1.0, 1.0))[0] if self.rows else None
        return known(mean, "no labelled row has all traits")

    def _controls(self, *, intercept: bool) -> FloatArray:
        """(n rows, …): people's score with an intercept; of contests, whose sides may be swapped, the score alone."""
        human = np.array([row.human for row in self.rows])
        if self.contests:
            return np.column_stack([*([np.ones(len(human))] if intercept else []), human - 0.5])
        levels = sorted(set(human.tolist()))
        if len(levels) <= MOST_VALUES:  # as many coefficients as levels: no line is assumed
            return np.column_stack([human == level for level in levels]).astype(float)
        return np.column_stack([np.ones(len(human)), human])

    def effects(self, *, intercept: bool) -> dict[str, ErrorEffect]:
        """The effect of each trait in which rows differ, or why there is none.

        Args:
            intercept: Of contests: sides are always named in one way, so that one may have the judge's favour.
        """
        shown = [name for name in self.traits if self._differs(name)]
        reasons = {name: self._why_not(name) for name in shown}
        looked = [name for name, reason in reasons.items() if reason is None]
        fit: dict[str, Coefficient] = {}
        if self.rows and looked:
            controls = self._controls(intercept=intercept)
            design = np.column_stack([controls, *(self.traits[name] for name in looked)])
            told = told_apart(design)
            used = [name for name, apart in zip(looked, told[controls.shape[1] :], strict=True) if apart]
            needed = int(told.sum()) + ROWS_BEYOND
            few = f"{format_count(len(self.rows), 'labelled row')} are too few; {needed} are needed"
            reasons |= dict.fromkeys(looked, few) | dict.fromkeys(set(looked) - set(used), "it follows from the others")
            if len(self.rows) >= needed and used:
                found = clustered_regression(self.errors, design[:, told], self.clusters, level=self.level)
                fit = dict(zip(used, found[-len(used) :], strict=True))
        return {name: self._effect(fit.get(name), str(reasons[name])) for name in shown}

    def _effect(self, found: Coefficient | None, reason: str) -> ErrorEffect:
        return ErrorEffect(
            effect=Missing(reason) if found is None else found.interval,
            p_value=Missing(reason) if found is None else found.p_value,
            freedom=Missing(reason) if found is None else found.freedom,
            num_rows=len(self.rows),
            num_clusters=len(set(self.clusters)),
        )

    def alike(self) -> set[str]:
        """The traits in which rows do not differ."""
        return {name for name in self.traits if not self._differs(name)}

    def _differs(self, name: str) -> bool:
        """Whether rows differ in a trait; of contests, the two responses of any."""
        values = self.traits[name]
        return bool(len(values) and (values.any() if self.contests else np.ptp(values)))

    def _why_not(self, name: str) -> str | None:
        """Why a trait cannot be looked at; None where it can."""
        values = self.traits[name]
        different, counts = np.unique(values, return_counts=True)
        rest = len(values) - int(counts.max())
        if len(different) <= 3 and rest < FEWEST_APART and not (self.contests and len(different) == 1):
            return f"{format_count(rest, 'labelled row')} of {len(values)} differ in it; {FEWEST_APART} are needed"
        return None

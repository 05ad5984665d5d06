"""Compare two results on the same rows: the differences of scores, the share of equal labels, changed verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np

from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing, format_count, format_level, format_number
from evenhand.results.measures import Column, Measure, Reported, measure, measures_table, or_missing
from evenhand.results.render import PrintedTables, TextTable
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import FloatArray, IntervalLevel, UnscoredBounds
from evenhand.statistics.paired_differences import PairedDifference, name_of_tests, over_one_family, paired_differences

MOST_CHANGES: Final = 10
"""The number of changed verdicts that are printed."""

MCNEMAR: Final = "McNemar's exact test"

Row = Mapping[str, Any]
Ranges = Callable[[Mapping[str, str]], tuple[float, float] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """One group of rows in two results.

    Attributes:
        difference: The mean of (the other's score - this one's) over the rows on which both have a score.
        p_value: The p-value of the test that it is 0, corrected by Holm over all groups.
        test: Its name: McNemar's exact test if both results have one of two scores on every row, and no rows
            belong together; else the sign-flip test, over rows or clusters; or bets, which hold at any time.
        higher: Rows on which the other's score is higher; with ``lower`` McNemar's discordant pairs.
        lower: Rows on which it is lower.
        same: The share of the rows on which both selected something that have the same selection.
        n_compared: Rows on which both have a score.
        n_set_aside: Rows on which only one of the results has a score.
        n_unmatched: Rows that only one of the results holds.
        bounds: The bounds shown in place of the difference if too many rows have only one score.
        score_range: The range of the scores.
    """

    difference: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    test: str
    higher: int = measure("count")
    lower: int = measure("count")
    same: Interval | Missing = measure("share")
    n_compared: int = measure("count")
    n_set_aside: int = measure("count")
    n_unmatched: int = measure("count")
    bounds: UnscoredBounds | None = None
    score_range: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A question on which two results select different labels.

    Attributes:
        row: The id of the row, or else its index as a text.
        about: The rest of the question's name, such as system and criterion.
        before: The label that the first result selected, or the system that it prefers.
        after: The label or system of the second result.
        score_before: The score of the first result; None if a label has no value.
        score_after: The score of the second result.
        name_before: The name of the verdict in the first (``results[name]`` shows it whole).
        name_after: The name of the verdict in the second.
        size: The change of the score, as a share of its range; None if there is no score.
    """

    row: str
    about: Mapping[str, str]
    before: str
    after: str
    score_before: float | None
    score_after: float | None
    name_before: str
    name_after: str
    size: float | None


_WHOSE: Final = frozenset({"system", "first", "second"})
"""Columns that name whose responses a group is about."""


@dataclass(frozen=True)
class RunComparison(PrintedTables):
    """The result of :meth:`~evenhand.results.results.Results.compare`.

    Attributes:
        by: The names of the fields that name a group, such as system and criterion.
        groups: The values of these fields -> the difference of the two results there.
        level: The level of the intervals.
        notes: Notes on the differences in how the two were made.
        items: (System, item) -> the difference on an item of a checklist, a family of tests of its own.
        changes: The verdicts that changed, the greatest change of a score first.
        n_questions: The number of questions that both results answered.
        changed: The differences in how the two were made: judge, model, prompts, criteria, options, responses.
    """

    by: tuple[str, ...]
    groups: Mapping[tuple[str, ...], GroupDifference]
    level: float
    notes: tuple[str, ...] = ()
    items: Mapping[tuple[str, ...], GroupDifference] = field(default_factory=dict)
    changes: tuple[VerdictChange, ...] = ()
    n_questions: int = 0
    changed: tuple[str, ...] = ()

    kind: ClassVar = "comparison"
    fingerprint: ClassVar = None
    spending: ClassVar = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the comparison, as results have them."""
        return {"by": list(self.by), "level": self.level, "changed": list(self.changed)}

    def findings(self) -> tuple[Measure, ...]:
        """Return the changes, under names as :meth:`~evenhand.results.results.Results.findings` gives them.

        ``relevance.change`` of a system is the second result less the first, with ``relevance.change.p_value`` and
        ``relevance.change.same``, the share of equal verdicts.
        """
        found = []
        for values, group in self.groups.items():
            of = tuple(value for column, value in zip(self.by, values, strict=True) if column in _WHOSE)
            name = self._score(values)
            measures = Reported("", of, group, group.n_compared).findings()
            found += [
                replace(each, name=f"{name}.change", bounds=group.bounds)
                if each.name == "difference"
                else replace(each, name=f"{name}.change.{each.name}")
                for each in measures
            ]
        return tuple(found)

    def _score(self, values: Sequence[str]) -> str:
        """Return the header of the scores of a group."""
        return ".".join(
            [each for column, each in zip(self.by, values, strict=True) if column not in _WHOSE] or ["score"]
        )

    def __repr__(self) -> str:
        return f"<RunComparison of {len(self.groups)} group(s) of rows>\n{self}"

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return one row for each group, one for each item of a checklist, and the verdicts that changed the most."""
        title = "Two results on the same rows"
        tables = [groups_table(title, self.by, self.groups, self.level, self.notes, kind="groups")]
        if self.items:
            named = ("system", "item")
            tables.append(groups_table("The items, one by one", named, self.items, self.level, kind="items"))
        return (*tables, *([self._changes_table()] if self.changes else []))

    def _changes_table(self) -> TextTable:
        named = list(self.changes[0].about)
        shown = self.changes[:MOST_CHANGES]
        rows = tuple(
            (
                each.row,
                *each.about.values(),
                f"{each.before} → {each.after}",
                *(format_number(score) for score in (each.score_before, each.score_after)),
            )
            for each in shown
        )
        count = format_count(len(self.changes))
        title = f"Verdicts that changed: {count} of {format_count(self.n_questions, 'question')} that both answered"
        more = len(self.changes) - len(shown)
        notes = (f"Shown are the {MOST_CHANGES} greatest; {format_count(more)} more are in changes.",) if more else ()
        return TextTable(
            title, ("row", *named, "before → after", "score before", "score after"), rows, notes, "changes"
        )


def groups_table(
    title: str,
    by: Sequence[str],
    groups: Mapping[tuple[str, ...], GroupDifference],
    level: float,
    notes: Sequence[str] = (),
    *,
    kind: str,
) -> TextTable:
    """Return one row for each group of rows, tested as one family."""
    columns = (
        Column(f"difference [{format_level(level)}]", "difference"),
        Column("p", "p_value"),
        Column("higher", "higher"),
        Column("lower", "lower"),
        Column("the same", "same"),
        Column("rows", "n_compared"),
        Column("set aside", "n_set_aside"),
        Column("in one only", "n_unmatched"),
    )
    tested = [found for found in groups.values() if not isinstance(found.p_value, Missing)]
    made = dict.fromkeys(found.test for found in tested) or {name_of_tests([]): None}
    how = f"Differences: the other result less this one, paired ({', '.join(made)}, p corrected by Holm over "
    note = f"{how}{format_count(len(tested), 'comparison')})."
    return measures_table(title, by, groups, columns, (note, *notes), kind=kind)


def compare(
    one: Sequence[Row],
    other: Sequence[Row],
    *,
    by: Sequence[str],
    columns: tuple[str, str],
    clusters: Mapping[int, str],
    level_over: Callable[[Sequence[str | None]], IntervalLevel],
    units: tuple[Ranges, Ranges],
    ranges: tuple[Ranges, Ranges],
) -> RunComparison:
    """Compare two results row by row.

    Args:
        one: The rows of the first.
        other: The rows of the second, with the same index for the same row.
        by: The columns that name a row; those other than ``instance`` name its group.
        columns: The names of the columns with the score and the selection.
        clusters: Instance -> its cluster; empty if rows are independent.
        level_over: The clusters of rows -> the level of intervals over these.
        units: For each of the two results: the columns that name a group -> the units of its scores.
        ranges: The same, with the least and the greatest score.

    Raises:
        InvalidInputError: If their rows have no scores or none in common, or scores of one group in different units.
    """
    for rows in (one, other):
        lacking = [name for name in columns if name not in rows[0]]
        if lacking:
            raise InvalidInputError(
                f"the rows of a result have no {lacking[0]!r}, by which two results are compared; they have "
                f"{list(rows[0])!r}: compare these by to_pandas()"
            )
    groups = tuple(name for name in by if name != "instance")
    first, second = ({tuple(row[name] for name in by): row for row in rows} for rows in (one, other))
    if not first.keys() & second.keys():
        raise InvalidInputError(
            f"the two results have no row in common by {list(by)!r}: the first is named as {next(iter(first))!r}, the "
            f"second as {next(iter(second))!r}"
        )
    keys: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for key in dict.fromkeys([*first, *second]):
        named = tuple(str(value) for name, value in zip(by, key, strict=True) if name in groups)
        keys.setdefault(named, []).append(key)
    score, selection = columns
    parts, pairs = [], []
    for named, own in keys.items():
        held = [key for key in own if key in first and key in second]
        level = level_over([clusters.get(first[key]["instance"]) for key in held])
        given = [[row[score] for row in (second[key], first[key])] for key in held]
        values = np.array(given, dtype=float).reshape(len(held), 2)  # of the other and of this one
        low, high = _bounds(groups, named, units, ranges)
        scored = values[~np.isnan(values)].tolist()
        bounds = min([low, *scored]), max([high, *scored])  # a mode of one's own may score anything
        one_only = np.isnan(values).sum(axis=1, keepdims=True) == 1  # two missing scores are not a change
        least, most = (np.where(np.isnan(values) & one_only, limit, values) for limit in bounds)
        pairs.append(paired_differences(values, low=least, high=most, level=level, bounds=bounds)[0])
        parts.append((named, len(own) - len(held), held, level, values, bounds))
    found = {}
    for pair, (named, unmatched, held, level, values, bounds) in zip(over_one_family(pairs), parts, strict=True):
        both = [(first[key][selection], second[key][selection]) for key in held]
        equal = [float(a == b) if a is not None and b is not None else np.nan for a, b in both]
        (same,) = mean_intervals(equal, level=level)
        moved = values[:, 0] - values[:, 1]
        found[named] = GroupDifference(
            difference=or_missing(pair.difference, "no row has both scores"),
            p_value=or_missing(pair.p_value, "no row has both scores"),
            test=_test(pair, values, level),
            higher=int((moved > 0).sum()),
            lower=int((moved < 0).sum()),
            same=or_missing(same, "no row has both selections"),
            n_compared=pair.n_compared,
            n_set_aside=pair.n_set_aside,
            n_unmatched=unmatched,
            bounds=pair.unscored_bounds,
            score_range=bounds,
        )
    return RunComparison(groups, found, float(level_over(())))


def _test(pair: PairedDifference, values: FloatArray, level: IntervalLevel) -> str:
    """Return the name of the test of a group."""
    if pair.test is None:
        return ""
    both = values[~np.isnan(values).any(axis=1)]
    if pair.test.method == "exact" and level.n_clusters is None and len(np.unique(both)) <= 2:
        return MCNEMAR
    name = name_of_tests([pair.test])
    return name if level.n_clusters is None or pair.test.method == "betting" else f"{name} over clusters"


def _bounds(
    groups: Sequence[str], named: Sequence[str], units: tuple[Ranges, Ranges], ranges: tuple[Ranges, Ranges]
) -> tuple[float, float]:
    """Return the range of the scores of a group in either result, both in the same units."""
    about = dict(zip(groups, named, strict=True))
    found = [known for known in (each(about) for each in units) if known is not None]
    if len(set(found)) > 1:
        (low, high), (other_low, other_high) = found
        raise InvalidInputError(
            f"the scores of {'/'.join(named)!r} go from {low:g} to {high:g} in the first result and from {other_low:g} "
            f"to {other_high:g} in the second: give the options the same values, or compare what was judged apart"
        )
    limits = [known for known in (each(about) for each in ranges) if known is not None] or [(0.0, 1.0)]
    return min(low for low, _ in limits), max(high for _, high in limits)

"""Compare two results on the same rows: the differences of scores, the share of equal labels, changed verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from evenhand.data.plain import by_key
from evenhand.errors import EvenhandWarning, InvalidInputError
from evenhand.numbers import Missing, UnscoredBounds, format_count, format_level, format_number, measure, or_missing
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import Column, Measure, Reported, measures_table
from evenhand.results.render import PrintedTables, TextTable
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.ranking import name_of_tests, over_one_family, paired_differences

MOST_CHANGES: Final = 10
"""The number of changed verdicts that are printed."""

CONFOUNDED: Final = (
    "Both what was judged and how it was judged differ, so that a difference of the scores may come from either: judge "
    "the same responses with both."
)

Row = Mapping[str, Any]


class ConfoundedComparisonWarning(EvenhandWarning):
    """Two results are compared that differ both in what was judged and in how, so that neither explains the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """One group of rows in two results.

    Attributes:
        difference: The mean of (the other's score - this one's) over the rows on which both have a score.
        p_value: The p-value of the test that it is 0, corrected by Holm over all groups.
        test: Its name: the sign-flip test (McNemar's exact one for scores of 0 and 1), over rows or clusters; the
            paired t test; or bets, which hold at any time.
        higher: Rows on which the other's score is higher; with ``lower`` McNemar's discordant pairs.
        lower: Rows on which it is lower.
        same: The share of the rows on which both selected something that have the same selection.
        n_compared: Rows on which both have a score.
        n_set_aside: Rows on which only one of the results has a score.
        n_unmatched: Rows that only one of the results holds.
        bounds: The bounds shown in place of the difference if too many rows have only one score.
        score_range: The least and the greatest that a score can be.
    """

    difference: Interval | Missing = measure("difference", name="", bounds="bounds")
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
        before: The question and verdict of the first result (``results[before.name]`` shows it whole).
        after: Those of the second result.
        size: The change of the score, as a share of its range; None if there is no score.
    """

    row: str
    about: Mapping[str, str]
    before: QuestionAsked
    after: QuestionAsked
    size: float | None


_WHOSE: Final = frozenset({"system", "first", "second"})
"""Columns that name whose responses a group is about."""


@dataclass(frozen=True, repr=False)
class RunComparison(PrintedTables):
    """The result of :meth:`~evenhand.results.results.Results.compare`.

    Attributes:
        by: The names of the fields that name a group, such as system and criterion.
        groups: The values of these fields -> the difference of the two results there.
        level: The level of the intervals.
        notes: Notes on the differences in how the two were made.
        changes: The verdicts that changed, the greatest change of a score first.
        n_questions: The number of questions that both results answered.
        changed: The differences in how the two were made: judge, model, prompts, criteria, options, responses.
    """

    by: tuple[str, ...]
    groups: Mapping[tuple[str, ...], GroupDifference]
    level: float
    notes: tuple[str, ...] = ()
    changes: tuple[VerdictChange, ...] = ()
    n_questions: int = 0
    changed: tuple[str, ...] = ()

    kind: ClassVar = "comparison"
    fingerprint: ClassVar = None
    spending: ClassVar = None
    unscored_counts: ClassVar = None

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the comparison, as results have them."""
        return {"by": list(self.by), "level": self.level, "changed": list(self.changed)}

    def findings(self) -> tuple[Measure, ...]:
        """Return the changes, under names as :meth:`~evenhand.results.results.Results.findings` gives them.

        ``relevance.change`` of a system is the second result less the first, with ``relevance.change.p_value`` and
        ``relevance.change.same``, the share of equal verdicts.
        """
        found: list[Measure] = []
        for values, group in self.groups.items():
            of = tuple(value for column, value in zip(self.by, values, strict=True) if column in _WHOSE)
            change, *rest = Reported(f"{self._score(values)}.change", of, group, group.n_compared).findings()
            p_value = None if isinstance(group.p_value, Missing) else group.p_value
            found += [replace(change, p_value=p_value), *rest]
        return tuple(found)

    def ranges(self) -> list[tuple[str, tuple[float, float]]]:
        """Return the name of the score of each group, and the least and the greatest that it can be."""
        return [(self._score(values), group.score_range) for values, group in self.groups.items()]

    def _score(self, values: Sequence[str]) -> str:
        """Return the name of the scores of a group."""
        return ".".join([each for name, each in zip(self.by, values, strict=True) if name not in _WHOSE] or ["score"])

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return one row for each group, tested as one family, and the verdicts that changed the most."""
        columns = (
            Column(f"difference [{format_level(self.level)}]", "difference"),
            Column("p", "p_value"),
            Column("higher", "higher"),
            Column("lower", "lower"),
            Column("the same", "same"),
            Column("rows", "n_compared"),
            Column("set aside", "n_set_aside"),
            Column("in one only", "n_unmatched"),
        )
        tested = [found for found in self.groups.values() if not isinstance(found.p_value, Missing)]
        made = dict.fromkeys(found.test for found in tested) or [name_of_tests([])]
        how = f"Differences: the other result less this one, paired ({', '.join(made)}, p corrected by Holm over "
        notes = (f"{how}{format_count(len(tested), 'comparison')}).", *self.notes)
        title = "Two results on the same rows"
        groups = measures_table(title, self.by, self.groups, columns, notes, kind="groups")
        return (groups, *([self._changes_table()] if self.changes else []))

    def _changes_table(self) -> TextTable:
        columns = (
            Column("before → after", lambda each: f"{each.before.selected} → {each.after.selected}"),
            Column("score before", lambda each: format_number(each.before.score)),
            Column("score after", lambda each: format_number(each.after.score)),
        )
        named = [((each.row, *each.about.values()), each) for each in self.changes[:MOST_CHANGES]]
        count, more = format_count(len(self.changes)), len(self.changes) - len(named)
        title = f"Verdicts that changed: {count} of {format_count(self.n_questions, 'question')} that both answered"
        notes = (f"Shown are the {MOST_CHANGES} greatest; {format_count(more)} more are in changes.",) if more else ()
        return measures_table(title, ("row", *self.changes[0].about), named, columns, notes, kind="changes")


def compare_rows(
    one: Sequence[Row],
    other: Sequence[Row],
    by: Sequence[str],
    columns: tuple[str, str],
    *,
    level_over: Callable[[Iterable[int]], IntervalLevel],
    range_of: Callable[[Mapping[str, str]], tuple[float, float]],
) -> dict[tuple[str, ...], GroupDifference]:
    """Return the values of the columns that name a group -> the difference of its scores.

    Args:
        one: The rows of the first.
        other: The rows of the second, with the same index for the same row.
        by: The columns that name a row; those other than ``instance`` name its group.
        columns: The names of the columns with the score and the selection.
        level_over: Indices of rows -> the level of intervals over these.
        range_of: The columns that name a group -> the least and the greatest of its scores.

    Raises:
        InvalidInputError: If the rows have no scores or none in common, or scores of one group in different units.
    """
    score, selection = columns
    if score not in one[0] or score not in other[0]:
        raise InvalidInputError(
            f"the rows of a result have no {score!r}, by which two results are compared; they have {list(one[0])!r}: "
            "compare these by to_pandas()"
        )
    first, second = ({tuple(row[name] for name in by): row for row in rows} for rows in (one, other))
    if not first.keys() & second.keys():
        raise InvalidInputError(
            f"the two results have no row in common by {list(by)!r}: the first is named as {next(iter(first))!r}, the "
            f"second as {next(iter(second))!r}"
        )
    naming = [place for place, name in enumerate(by) if name != "instance"]
    groups = by_key((tuple(str(key[place]) for place in naming), key) for key in dict.fromkeys([*first, *second]))
    parts, pairs = [], []
    for named, own in groups.items():
        both = [(second[key], first[key]) for key in own if key in first and key in second]
        level = level_over([row["instance"] for _, row in both])
        values = np.array([[row[score] for row in pair] for pair in both], dtype=float).reshape(len(both), 2)
        low, high = range_of(dict(zip((by[place] for place in naming), named, strict=True)))
        bounds = float(np.nanmin([low, *values.ravel()])), float(np.nanmax([high, *values.ravel()]))
        one_only = np.isnan(values).sum(axis=1, keepdims=True) == 1  # two missing scores are not a change
        least, most = (np.where(np.isnan(values) & one_only, limit, values) for limit in bounds)
        pairs.append(paired_differences(values, low=least, high=most, level=level, bounds=bounds)[0])
        parts.append((named, len(own) - len(both), both, level, values, bounds))
    found = {}
    for pair, (named, unmatched, both, level, values, bounds) in zip(over_one_family(pairs), parts, strict=True):
        selected = [(a[selection], b[selection]) for a, b in both]
        equal = [float(a == b) if a is not None and b is not None else np.nan for a, b in selected]
        (same,) = mean_intervals(equal, level=level)
        moved = values[:, 0] - values[:, 1]
        over = "" if level.n_clusters is None else " over clusters"
        found[named] = GroupDifference(
            difference=or_missing(pair.difference, "no row has both scores"),
            p_value=or_missing(pair.p_value, "no row has both scores"),
            test="" if pair.test is None else name_of_tests([pair.test]) + over,
            higher=int((moved > 0).sum()),
            lower=int((moved < 0).sum()),
            same=or_missing(same, "no row has both selections"),
            n_compared=pair.n_compared,
            n_set_aside=pair.n_set_aside,
            n_unmatched=unmatched,
            bounds=pair.unscored_bounds,
            score_range=bounds,
        )
    return found

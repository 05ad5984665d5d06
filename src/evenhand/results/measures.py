"""Measures: every number that a result reports, or the reason why there is none, declared once and shown everywhere.

A result is a frozen dataclass. :func:`~evenhand.numbers.measure` declares a field that is reported, with its kind of
number; the scores of unitxt (:func:`scores_of`), the cells of a table (:func:`measures_table`), and the saved form
(:func:`~evenhand.data.plain.as_plain`) are views of the declaration. A new number is one field, and the line that
computes it.
Conditions, summaries and pictures name each :class:`Measure` in full. An :class:`Outcome` is the score of one row,
which is compared with that of people.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.aggregation.verdict import REDRAW
from evenhand.criteria import Criterion
from evenhand.numbers import (
    DECLARED,
    MISSING,
    Declared,
    HasLimits,
    Kind,
    Missing,
    UnscoredBounds,
    format_cost,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_range,
    format_score,
    format_share,
    measure,
    state_p_value,
)
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import REASONS, IntArray, VoteColumns
from evenhand.statistics import Interval
from evenhand.votes import MatchKind, Usage, Verdict, Vote

Names = TypeVar("Names", bound=tuple[str, ...])
_WIDE: Final = 0.3
"""The width of a share's interval from which on the data are too few."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a result.

    Attributes:
        name: The name: ``relevance``, ``relevance.parse_rate``, ``winrate``, ``winrate.difference``, ``unscored``. Of a
            measure that a result declares, the name of its field; empty for the score that the others are about.
        of: A system, two systems (the second is subtracted or beaten), or nothing for the whole.
        value: A number, an estimate with its interval, or the reason why there is none.
        kind: The kind of number, by which it is written.
        n: The number of rows, contests or items behind it; None if that is not counted.
        unscored: The number of its votes that are unscored; None if that is not counted.
        bounds: The bounds that lead, if too many votes are unscored for the value to do so.
        p_value: The p-value of the test that a difference is 0, corrected over all tests; None without a test.
        always: Whether unitxt is given NaN if it is missing; else the score is left out.
    """

    name: str
    of: tuple[str, ...]
    value: HasLimits | float | Missing
    kind: Kind = "number"
    n: int | None = None
    unscored: UnscoredCounts | None = None
    bounds: UnscoredBounds | None = None
    p_value: float | None = None
    always: bool = False

    @property
    def estimate(self) -> float | None:
        """The number without its interval; None if it is missing."""
        if isinstance(self.value, Missing):
            return None
        return float(self.value) if isinstance(self.value, (int, float)) else self.value.estimate

    def __str__(self) -> str:
        return f"{self.label} {self.written}"

    @property
    def written(self) -> str:
        """The number as it is shown: with its interval, or its bounds where these lead."""
        return format_value(self.value, self.kind) if self.bounds is None else format_score(None, self.bounds)

    @property
    def label(self) -> str:
        """The full name, as conditions give it: ``relevance.difference[new, old]``."""
        return f"{self.name}[{', '.join(self.of)}]" if self.of else self.name


def measures_of(result: object, only: Collection[str] | None = None) -> Iterator[Measure]:
    """Yield the measures that a result declares, in the order of its fields; fields that are None are left out.

    Args:
        result: With declared measures.
        only: The fields that are meant; all by default.
    """
    for field in dataclasses.fields(result):  # type: ignore[arg-type] # a dataclass
        declared: Declared | None = field.metadata.get(DECLARED)
        value = getattr(result, field.name)
        if declared is not None and value is not None and (only is None or field.name in only):
            bounds = getattr(result, declared.bounds) if declared.bounds else None
            if isinstance(bounds, Mapping):
                bounds = bounds.get(field.name)
            for each in _entries(field.name if declared.name is None else declared.name, value, declared):
                yield each if bounds is None else dataclasses.replace(each, bounds=bounds)


def _entries(name: str, value: Any, declared: Declared) -> Iterator[Measure]:  # noqa: ANN401 - as declared
    if isinstance(value, Mapping):
        total = sum(value.values()) if declared.shares else 1
        for key, entry in value.items():
            yield from _entries(
                f"{name}_{key}" if name else str(key), entry / total if declared.shares else entry, declared
            )
    elif isinstance(value, Usage):
        for part in ("calls", "cached", "prompt_tokens", "completion_tokens"):
            yield Measure("cached_calls" if part == "cached" else part, (), getattr(value, part), "count")
        if value.cost is not None:
            yield Measure("cost", (), value.cost, "money")
    elif is_dataclass(value) and not isinstance(value, Missing) and not hasattr(value, "estimate"):
        for inner in measures_of(value, declared.only):
            yield dataclasses.replace(inner, name="_".join(filter(None, (name, inner.name))))
    else:
        yield Measure(name, (), value, declared.kind, always=declared.always)


def scores_of(
    result: object, prefix: str = "", *, with_intervals: bool = True, only: Collection[str] | None = None
) -> dict[str, float]:
    """Return measures under the names that unitxt shows: ``<prefix>_<name>``, ``…_ci_low`` and ``…_ci_high``.

    Args:
        result: With declared measures.
        prefix: The name of the score that they are about; what is the score itself stands under this name alone.
        with_intervals: Give the limits of intervals too.
        only: The fields that are meant; all by default.
    """
    scores: dict[str, float] = {}
    for each in measures_of(result, only):
        name = "_".join(filter(None, (prefix, each.name)))
        scores |= score_entries(name, each.value, always=each.always, with_intervals=with_intervals)
    return scores


def names_of(*results: type) -> list[str]:
    """Return the names of the measures of results, without those of results inside, keys, and limits of intervals."""
    fields = [field for result in results for field in dataclasses.fields(result) if DECLARED in field.metadata]
    names = [(field.name, field.metadata[DECLARED].name) for field in fields]
    return [field if name is None else name for field, name in names]


def score_entries(
    name: str, value: HasLimits | float | Missing, *, always: bool = True, with_intervals: bool = True
) -> dict[str, float]:
    """Return one measure under unitxt's names.

    Args:
        name: Its full name.
        value: Its value.
        always: Give NaN if it is missing, as unitxt knows no other sign for this; else leave it out.
        with_intervals: Give the limits of its interval too.
    """
    if isinstance(value, Missing):
        return {name: math.nan} if always else {}
    if isinstance(value, (int, float)):
        return {name: value}
    limits = {f"{name}_ci_low": value.low, f"{name}_ci_high": value.high} if with_intervals else {}
    return {name: value.estimate, **limits}


def format_value(value: HasLimits | float | Missing | None, kind: Kind) -> str:
    """Format a number for a table; a dash if it is missing.

    >>> format_value(0.25, "share"), format_value(1200, "count"), format_value(Missing("no votes"), "score")
    ('25 %', '1,200', '–')
    """
    if value is None or isinstance(value, Missing):
        return format_number(None)
    if isinstance(value, (int, float)):
        return _PLAIN[kind](value)
    return format_share(value) if kind == "share" else format_interval(value, signed=kind == "difference")


_PLAIN: Final[Mapping[Kind, Callable[[float], str]]] = {
    "score": format_number,
    "share": format_percent,
    "difference": partial(format_number, signed=True),
    "number": format_number,
    "count": format_count,
    "p_value": format_p_value,
    "money": format_cost,
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of results.

    Attributes:
        header: The header of the column.
        shown: The path of the field (a count, unless it is declared a measure): names joined by points. Or a function
            that makes the cell.
        optional: Whether to leave the column out if no result has an entry in it, or only a count of 0.
        limits: Whether to show the interval of an estimate too.
    """

    header: str
    shown: str | Callable[[Any], str]
    optional: bool = False
    limits: bool = True

    def cell(self, result: object) -> str:
        """Format the cell of one result."""
        if callable(self.shown):
            return self.shown(result)
        *parents, name = self.shown.split(".")
        owner = measure_at(result, ".".join(parents)) if parents else result
        if not owner:
            return MISSING
        value = getattr(owner, name)
        declared = type(owner).__dataclass_fields__[name].metadata.get(DECLARED)  # type: ignore[union-attr]
        if not self.limits and hasattr(value, "estimate"):
            value = value.estimate
        return format_value(value, declared.kind if declared else "count")


def score_column(name: str, results: Iterable[Any], *, level: float) -> Column:
    """Return the column of scores with intervals, and with the spread of draws if something was drawn again.

    Args:
        name: The name of the score, which heads the column.
        results: The results that are shown.
        level: The level of the intervals.
    """
    drawn = any(each.spread for each in results)
    header = f"{name} ± spread [{format_level(level)}]" if drawn else f"{name} [{format_level(level)}]"
    return Column(header, lambda each: format_score(each.score, each.unscored_bounds, each.spread))


def measures_table(
    title: str,
    labels: Sequence[str],
    results: Mapping[Names, object] | Sequence[tuple[Names, object]],
    columns: Sequence[Column],
    notes: Sequence[str] = (),
    *,
    kind: str = "",
) -> TextTable:
    """Return a table with a row for each result.

    Args:
        title: Above the table.
        labels: The headers of what names a result.
        results: By their names, or with them where names are not unique.
        columns: The columns of each.
        notes: Sentences beneath the table.
        kind: The short name by which it is asked for, such as ``scores``.
    """
    named_results = list(results.items() if isinstance(results, Mapping) else results)
    cells = {column: [column.cell(result) for _, result in named_results] for column in columns}
    nothing = {"", "0", format_number(None)}
    shown = [column for column in columns if not column.optional or not nothing.issuperset(cells[column])]
    rows = [(*named, *(cells[column][place] for column in shown)) for place, (named, _) in enumerate(named_results)]
    headers = (*labels, *(column.header for column in shown))
    return TextTable(title, headers, tuple(rows), tuple(notes), kind, naming=len(labels))


def measure_at(result: object, path: str) -> Any:  # noqa: ANN401 - what the path leads to
    """Follow names joined by points into a result; return what is missing, or None, where one of them is."""
    for name in path.split("."):
        result = getattr(result, name)
        if result is None or isinstance(result, Missing):
            return result
    return result


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence on one measure.

    Attributes:
        measure: The name of the measure.
        text: The number and what it shows; or why there is none.
        measured: Whether there is a number.
    """

    measure: str
    text: str
    measured: bool = True


class Line(NamedTuple):
    """A measure of a result: a row of its table and, where an effect is named, a sentence.

    Attributes:
        name: The name of the measure; indented where the line details the one above.
        path: The path in a result: names joined by points.
        kind: The format, or the function that writes it.
        nothing: The value without an effect; None if no effect is named.
        words: The effect above that value, below it, and the text if neither is shown.
        p_value: The path of the p-value that decides instead of the interval.
    """

    name: str
    path: str
    kind: Kind | Callable[[Any], str]
    nothing: float | None = None
    words: tuple[str, str, str] = ("", "", "")
    p_value: str = ""

    def cell(self, result: object) -> str | None:
        """Write the number; None if the result has no such measure."""
        found = measure_at(result, self.path)
        if found is None:
            return None
        if callable(self.kind):
            return self.kind(found) if found else MISSING
        return format_value(found, self.kind)

    def remark(self, result: object, level: float) -> Remark | None:
        """Say what the number shows, or why there is none; None if neither is known."""
        found = measure_at(result, self.path)
        if found is None or (self.nothing is None and not isinstance(found, Missing)):
            return None
        if isinstance(found, Missing):  # a detail lacks what the line above lacks
            return None if self.name.startswith(" ") else Remark(self.name, found.reason, measured=False)
        p_value = measure_at(result, self.p_value) if self.p_value else None
        above, below = found.low > self.nothing, found.high < self.nothing
        if p_value is not None:
            above = p_value < 1 - level and found.estimate > self.nothing
            below = p_value < 1 - level and not above
        greater, less, effect = self.words
        if above or below:
            effect = greater if above else less
        text = f"{self.cell(result)}{'' if p_value is None else f' ({state_p_value(p_value)})'}: {effect}"
        if found.high - found.low > _WIDE:
            text += f"; too few to tell more (n = {format_count(found.n)})"
        return Remark(self.name.strip(), text)


def table_rows(lines: Iterable[Line], *results: object) -> list[tuple[str, ...]]:
    """Write a row per line with a cell per result; a line that no result has is left out."""
    found = [(line.name, *(line.cell(each) for each in results)) for line in lines]
    return [tuple(cell or MISSING for cell in row) for row in found if any(cell is not None for cell in row[1:])]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredCounts:
    """Unscored votes and verdicts, as every page, table, check and summary reports them.

    A vote is unscored if it selects nothing and is not NA, a verdict if none of its votes is scored.

    Attributes:
        votes: Votes asked for; a question that recorded votes do not cover (``not_asked``) is not one.
        unscored_votes: The unscored votes.
        rows: Rows of the data with an unscored vote.
        verdicts: The number of questions.
        unscored_verdicts: Questions whose verdict is unscored.
        reasons: Reason -> number of unscored votes.
    """

    votes: int = measure("count", name="num_asked_votes")
    unscored_votes: int = measure("count", name="num_unscored_votes")
    rows: int = measure("count", name="num_rows_affected")
    verdicts: int
    unscored_verdicts: int = measure("count", name="num_unscored_verdicts")
    reasons: Mapping[str, int] = measure("count", name="unscored_votes")

    @classmethod
    def of(cls, votes: VoteColumns, rows: IntArray | Sequence[int]) -> Self:
        """Count the votes on some questions.

        Args:
            votes: The votes.
            rows: The row of the data that each question is about.
        """
        unscored = votes.asked & ~votes.answered
        counts = np.bincount(votes.reason[unscored] + 1, minlength=len(REASONS) + 1)[1:].tolist()
        return cls(
            votes=int(votes.asked.sum()),
            unscored_votes=int(unscored.sum()),
            rows=len(np.unique(np.asarray(rows)[votes.question[unscored]])),
            verdicts=len(votes.sizes),
            unscored_verdicts=int((votes.per_question(votes.answered) == 0).sum()),
            reasons=MappingProxyType({name: n for name, n in sorted(zip(REASONS, counts, strict=True)) if n}),
        )

    @property
    def share(self) -> float | Missing:
        """The share of the votes that are unscored."""
        return self.unscored_votes / self.votes if self.votes else Missing("no vote was asked for")

    @property
    def verdict_share(self) -> float | Missing:
        """The share of the verdicts that are unscored."""
        return self.unscored_verdicts / self.verdicts if self.verdicts else Missing("there are no verdicts")

    def __bool__(self) -> bool:
        return bool(self.unscored_votes or self.unscored_verdicts)

    def __str__(self) -> str:
        """The counts in one sentence.

        >>> some = UnscoredCounts(votes=800, unscored_votes=36, rows=35, verdicts=400, unscored_verdicts=1, reasons={})
        >>> str(some)
        '36 of 800 votes unscored (35 rows affected), 1 verdict unscored'
        >>> str(UnscoredCounts(votes=800, unscored_votes=0, rows=0, verdicts=400, unscored_verdicts=0, reasons={}))
        '0 of 800 votes unscored'
        """
        text = f"{format_count(self.unscored_votes)} of {format_count(self.votes, 'vote')} unscored"
        if self.unscored_votes:
            text += f" ({format_count(self.rows, 'row')} affected)"
        return f"{text}, {format_count(self.unscored_verdicts, 'verdict')} unscored" if self else text

    @property
    def with_reasons(self) -> str:
        """The sentence, and why votes are unscored.

        >>> refused = {"empty": 1, "refusal": 3}
        >>> counts = UnscoredCounts(
        ...     votes=80, unscored_votes=4, rows=4, verdicts=80, unscored_verdicts=4, reasons=refused
        ... )
        >>> counts.with_reasons
        '4 of 80 votes unscored (4 rows affected), 4 verdicts unscored: 3 refusal, 1 empty'
        """
        ordered = sorted(self.reasons.items(), key=lambda each: (-each[1], each[0]))
        listed = ", ".join(f"{format_count(count)} {reason}" for reason, count in ordered)
        return f"{self}: {listed}" if listed else str(self)


UNSCORED_VOTES: Final = Column(
    "unscored votes", lambda each: format_count(each.unscored_counts.unscored_votes), optional=True
)
"""The column of a table of results that have ``unscored_counts``."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The measures of a result for one system, one pair, or the whole.

    Attributes:
        name: The name of the score that the measures are about; the score itself has this name alone. Empty if each
            measure has a name of its own.
        of: The same as :attr:`Measure.of`.
        measured: A result with declared measures, or one number.
        n: The same as :attr:`Measure.n`.
        unscored: The same as :attr:`Measure.unscored`.
    """

    name: str
    of: tuple[str, ...]
    measured: object
    n: int | None = None
    unscored: UnscoredCounts | None = None

    def findings(self) -> Iterator[Measure]:
        """Return one finding per number."""
        if isinstance(self.measured, Measure):
            declared = [self.measured]
        else:
            declared = sorted(measures_of(self.measured), key=lambda each: each.name != "")  # the score itself first
        for each in declared:
            name = ".".join(filter(None, (self.name, each.name)))
            yield dataclasses.replace(each, name=name, of=self.of, n=self.n, unscored=self.unscored)
        if self.unscored is not None and (self.name or self.of) and not isinstance(self.measured, Measure):
            yield from unscored_findings(self.unscored, self.name, self.of)


def unscored_findings(counts: UnscoredCounts, name: str = "", of: tuple[str, ...] = ()) -> Iterator[Measure]:
    """Return the shares of the votes (``unscored``) and of the verdicts (``unscored_verdicts``) that are unscored."""
    prefix = f"{name}." if name else ""
    yield Measure(f"{prefix}unscored", of, counts.share, "share", unscored=counts)
    yield Measure(f"{prefix}unscored_verdicts", of, counts.verdict_share, "share", unscored=counts)


def reported_difference(
    name: str,
    of: tuple[str, str],
    difference: Interval | Missing,
    n: int,
    *,
    bounds: UnscoredBounds | None = None,
    p_value: float | None = None,
) -> Iterator[Reported]:
    """Yield the difference of the first of two from the second, and of the second from the first.

    Args:
        name: The name of the score that differs, such as ``relevance.difference``.
        of: The two.
        difference: The difference of the second from the first.
        n: Rows that both have a score on.
        bounds: The bounds of the difference, if too many votes are unscored for it to lead.
        p_value: The p-value of no difference, corrected over all pairs; None without a test.
    """
    back = difference if isinstance(difference, Missing) else difference.subtracted_from(0.0)
    reverse = None if bounds is None else bounds.subtracted_from(0.0)
    yield Reported("", of, Measure(name, (), difference, "difference", bounds=bounds, p_value=p_value), n)
    yield Reported("", of[::-1], Measure(name, (), back, "difference", bounds=reverse, p_value=p_value), n)


QuestionName = tuple[int, *tuple[str, ...]]
"""The row of the data, and what distinguishes its questions: system and criterion, or the two systems of a contest."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score.

    Attributes:
        instance: The row of the data.
        questions: The questions behind the score: one, or all those of a rubric or checklist.
        score: The score in the units of the criterion; None if it is unscored, or does not apply.
        selected: The label that was selected, if the score is that of one question.
        na: Whether the question does not apply.
        cluster: The cluster of the row; None if rows are independent.
    """

    instance: int
    questions: tuple[QuestionName, ...]
    score: float | None
    selected: str | None = None
    na: bool = False
    cluster: str | None = None

    @classmethod
    def of_verdict(cls, question: QuestionName, verdict: Verdict, cluster: str | None) -> Outcome:
        """Return the outcome of a verdict on one question."""
        return cls(
            question[0], (question,), verdict.aggregated_value, verdict.selected_label, na=verdict.na, cluster=cluster
        )


@dataclass(frozen=True)
class Outcomes:
    """One score of one system over the rows of the data.

    Attributes:
        system: The system; empty if a result knows no systems.
        criterion: The subject of the score: a criterion, a rubric, a checklist, an item, or a comparison.
        rows: One per row, or for winrates one per contest.
        bounds: The least and the greatest score.
        labels: The labels that can be selected, without NA; empty if the score is made of several questions.
        values: The values of the labels; None for those of a nominal criterion.
        part_of: The rubric or checklist that it is a part of; None if it is not a part.
    """

    system: str
    criterion: str
    rows: Sequence[Outcome]
    bounds: tuple[float, float] = (0.0, 1.0)
    labels: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    part_of: str | None = None

    @classmethod
    def by(
        cls, criterion: Criterion, rows: Sequence[Outcome], *, system: str = "", part_of: str | None = None
    ) -> Outcomes:
        """Return the outcomes of one criterion."""
        offered = [option for option in criterion.options if not option.na]
        return cls(
            system,
            criterion.name,
            rows,
            criterion.score_range,
            tuple(option.label for option in offered),
            tuple(option.value for option in offered),
            part_of,
        )

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Shape (n rows): the scores, NaN if there is none."""
        return np.array([np.nan if row.score is None else row.score for row in self.rows], dtype=float)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Shape (n rows): the place of the label selected, -1 where there is none; empty without labels."""
        places: dict[str | None, int] = {label: place for place, label in enumerate(self.labels)}
        return np.array([places.get(row.selected, -1) for row in self.rows] if self.labels else [], dtype=np.intp)

    @cached_property
    def clusters(self) -> list[Hashable]:
        """The cluster of each row, or else the row of the data."""
        return [("row", row.instance) if row.cluster is None else row.cluster for row in self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The requests and the cost of a run's engines, without those that send nothing.

    Attributes:
        bought: Replies newly bought.
        requests: Requests sent, including retries and calls that failed.
        cost: US dollars that the replies cost, a lower limit if some are unreported; None if no price is known.
        from_journal: Replies that the journal held, or that another request was asking for already.
        wasted: Replies bought that made no vote.
        wasted_cost: US dollars that wasted replies cost; None if no price is known.
        lost: Requests that brought no reply and may have been billed.
        unreported: Replies whose usage the server did not report, or reported with fewer tokens than their texts have.
        calls_left: The rest of ``max_calls``, in replies; None without.
        cost_left: The rest of ``max_cost``, in US dollars, without reserved amounts; None without.
        cost_reserved: The part of ``max_cost``, in US dollars, that the lost requests may have cost, and the unreported
            replies beyond their cost; None without.
        cached_tokens: Prompt tokens of newly bought replies that the servers' own caches held, if reported.
        unused_from_journal: Replies that the journal held and that made no vote.
    """

    bought: int
    requests: int = measure("count")
    cost: float | None
    from_journal: int
    wasted: int = measure("count", name="wasted_replies")
    wasted_cost: float | None = measure("money")
    lost: int = measure("count", name="lost_requests")
    unreported: int = measure("count", name="unreported_replies")
    calls_left: int | None = measure("count")
    cost_left: float | None = measure("money")
    cost_reserved: float | None = measure("money")
    cached_tokens: int = 0
    unused_from_journal: int = 0

    @classmethod
    def of(cls, votes: Iterable[Vote] | VoteColumns, limits: Mapping[str, Any] | None = None) -> Self | None:
        """Sum up the spending of votes; None if no engine was asked that sends anything.

        Args:
            votes: All of a run.
            limits: ``max_calls`` and ``max_cost``, where they were given.
        """
        columns = votes if isinstance(votes, VoteColumns) else VoteColumns.of([list(votes)])
        limits, sent = limits or {}, columns.sent
        if not sent.any():
            return None
        used, wasted = columns.used(sent), columns.used(sent & ~columns.selected)
        failed = int((sent & (columns.reason == REASONS.index("engine_error"))).sum())
        calls, cost = limits.get("max_calls"), limits.get("max_cost")
        return cls(
            bought=used.calls,
            requests=used.requests,
            cost=used.cost,
            from_journal=used.cached,
            wasted=wasted.calls,
            wasted_cost=None if used.cost is None else wasted.cost or 0.0,
            lost=used.lost,
            unreported=used.unreported,
            calls_left=None if calls is None else max(0, calls - used.calls - failed),
            cost_left=None if cost is None else max(0.0, cost - (used.cost or 0.0) - used.at_risk),
            cost_reserved=used.at_risk if cost is not None or used.at_risk else None,
            cached_tokens=used.cached_tokens,
            unused_from_journal=columns.used(sent & columns.replied & ~columns.selected).cached,
        )

    def __str__(self) -> str:
        least = "at least " if self.unreported else ""
        for_cost = "" if self.cost is None else f" for {least}{format_cost(self.cost)}"
        bought = f"Bought {format_count(self.bought, 'reply')}{for_cost} with {format_count(self.requests, 'request')}"
        parts = [f"{bought}; {format_count(self.from_journal)} came from the journal."]
        if self.unused_from_journal:
            unused = format_count(self.unused_from_journal)
            parts.append(f"{unused} from the journal made no vote; to ask again, name a new journal (journal=…).")
        if self.cached_tokens:
            parts.append(f"The servers' own caches held {format_count(self.cached_tokens, 'token')} of the prompts.")
        if self.wasted:
            cost = f", {format_cost(self.wasted_cost)}" if self.wasted_cost is not None else ""
            parts.append(f"Wasted: {format_count(self.wasted, 'reply')}{cost} without a vote.")
        if self.lost:
            parts.append(f"{format_count(self.lost, 'request')} brought no reply and may be billed.")
        if self.unreported:
            replies = format_count(self.unreported, "reply")
            parts.append(f"The server did not report the usage of {replies}, or less than their texts have.")
        if self.cost_reserved:
            parts.append(f"{format_cost(self.cost_reserved)} of max_cost is reserved for them.")
        if self.cost_left is not None:
            parts.append(f"Left of max_cost: {format_cost(self.cost_left)}.")
        if self.calls_left is not None:
            parts.append(f"Left of max_calls: {format_count(self.calls_left)}.")
        return " ".join(parts)


def spending_notes(spent: Spending | None, reasons: Container[str]) -> tuple[str, ...]:
    """Return the note on the spending beneath a result; nothing if nothing was sent and nothing held back.

    Args:
        spent: The spending of the run.
        reasons: Why votes selected nothing.
    """
    held_back = (note for reason, note in _HELD_BACK.items() if reason in reasons)
    return (*(() if spent is None else (str(spent),)), *held_back)


_HELD_BACK: Final = {
    "mock_mode": "unitxt's mock_inference_mode was on: judges that send requests were not asked.",
    "offline": "Offline: what the journal does not hold was not asked for, and is unscored.",
}


def unscored_note(counts: UnscoredCounts) -> tuple[str, ...]:
    """Return the note on unscored votes and verdicts beneath a table, with reasons; nothing if all are scored.

    >>> one = {"refusal": 2, "empty": 1}
    >>> unscored_note(UnscoredCounts(votes=9, unscored_votes=3, rows=3, verdicts=9, unscored_verdicts=3, reasons=one))
    ('3 of 9 votes unscored (3 rows affected), 3 verdicts unscored: 2 refusal, 1 empty. No score includes them.',)
    """
    return (f"{counts.with_reasons}. No score includes them.",) if counts else ()


BASELINE = (
    "The baseline judge is text statistics without a model, the same for every criterion and question: the floor that "
    "a real judge must beat, not a measure of quality."
)


def readings_note(readings: Mapping[MatchKind, int]) -> tuple[str, ...]:
    """Return a sentence on how the selections behind a table were read; nothing without selections.

    >>> readings_note({"exact": 99, "near": 0, "json": 1})
    ('How the 100 selections were read: 99 exact (99 %), 1 json (1 %).',)
    """
    total = sum(readings.values())
    if not total:
        return ()
    listed = ", ".join(f"{count} {kind} ({format_percent(count / total)})" for kind, count in readings.items() if count)
    return (f"How the {total} selections were read: {listed}.",)


def early_stop_note(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the note on measures that do not use all draws, if these could stop early (`aggregation.verdict`)."""
    grid = parameters.get("grid", {})
    if not grid.get("stop_early") or grid["samples"] == 1:
        return ()
    note = (
        "Draws stopped once their outcome was settled. Scores are those of the outcomes; agreement, parse rate, "
        "stability and what is estimated from single votes rest on the draws that are made in any case, the first two "
        f"of a prompt; means and spreads over draws are missing, because the stop would bias them: {REDRAW}."
    )
    return (note,)


def unscored_bounds_notes(results: Mapping[str, Any], name: str = "score") -> Iterator[str]:
    """Give the notes on what unscored votes could change; nothing if they could change nothing.

    Args:
        results: Name -> a result with ``unscored_bounds``, and ``<name>_if_unscored_0`` and ``_1``.
        name: The name of the score.
    """
    leading = [of for of, each in results.items() if each.unscored_bounds is not None]
    if leading:
        yield (
            f"Bounds lead for {'; '.join(leading)}: too many votes are unscored for the mean of the rest to be the "
            "score, since unscored votes are not a random sample. Had all been scored, the score would lie between the "
            "bounds; the brackets are the interval around both."
        )
    limits = {of: [getattr(each, f"{name}_if_unscored_{end}") for end in (0, 1)] for of, each in results.items()}
    ranges = [f"{of} {format_range(low, high, digits=3)}" for of, (low, high) in limits.items() if low != high]
    if ranges:
        yield f"{name.capitalize()}s if all that is unscored had been the worst, and the best: {'; '.join(ranges)}."


def baseline_note(judges: Iterable[str]) -> tuple[str, ...]:
    """Return the note that explains the baseline, if it is among the judges."""
    if not any("baseline" in judge for judge in judges):
        return ()
    return (BASELINE,)


def spread_note(spreads: Iterable[object]) -> tuple[str, ...]:
    """Explain ± after a score; nothing if there is no spread.

    Args:
        spreads: The spreads of the scores shown; each is missing if nothing was drawn again.
    """
    if not any(spreads):
        return ()
    note = (
        "± is the spread of draws: the standard deviation of the scores of one prompt's draws, averaged over rows. It "
        "shows how steady the judge is on a row; the interval shows how precisely the rows determine the mean."
    )
    return (note,)

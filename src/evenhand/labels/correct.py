"""Scores that people would give, by the judge's scores of all rows and people's labels of some; and scores by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from evenhand.data.plain import as_json, as_plain, by_key
from evenhand.errors import InvalidInputError
from evenhand.files import write_as_it_ends
from evenhand.labels.people import Labels, Paired, paired, read_gold
from evenhand.numbers import Missing, format_count, format_interval, format_level, format_number, state_p_value
from evenhand.options import Design
from evenhand.results.measures import Column, measures_table, unscored_note
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.scoring import differences_tables
from evenhand.statistics.correction import Correction, corrected_mean, draw_p_value, labels_saved
from evenhand.statistics.intervals import FloatArray, IntArray, IntervalLevel, Level
from evenhand.statistics.ranking import PairedDifference, over_one_family, paired_differences

if TYPE_CHECKING:
    import pandas as pd

DESIGNS: Final[Mapping[Design, str]] = {
    "random": "rows drawn at random, each as likely as any other",
    "by_verdict": "rows drawn at random within the verdicts of the judge, such as 30 of each verdict",
    "probabilities": "rows drawn with a probability of their own, which a column of the labels holds",
}
SAVED_AS: Final = (".json", ".csv", ".md", ".html")
UNLIKELY: Final = 0.001
"""Draws less likely than this are reported as doubtful."""

HALVINGS: Final = 16
"""The halvings of the range of scores when an interval is inverted: to 1.5e-5 of the range."""


def correction(pair: Paired, design: Design, level: Level) -> Corrected:
    r"""Estimate the score of the judge, of the labels, and of both.

    Where people say that the criterion does not apply to some rows, it is the mean over the rows to which it applies,
    as people see it, though most rows are not labelled. With :math:`a` 1 where it applies and 0 elsewhere, the mean
    :math:`\theta` is where :math:`E[a (y - \theta)] = 0`; the interval holds each :math:`\theta` for which that of the
    corrected mean of :math:`a (y - \theta)` holds 0 (Fieller, Some problems in interval estimation, Journal of the
    Royal Statistical Society B 16 (1954)).
    """
    found = _mean([pair], design, level)
    if isinstance(found.corrected, Missing) or isinstance(found.labels, Missing) or not pair.not_applicable.any():
        return found

    def crossing(part: str) -> float:
        low, high = pair.judge.bounds
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            shifted = _mean([pair], design, level, middle).corrected
            above = not isinstance(shifted, Missing) and float(getattr(shifted, part)) > 0
            low, high = (middle, high) if above else (low, middle)
        return (low + high) / 2

    limits = {part: crossing(part) for part in ("estimate", "low", "high")}
    corrected = replace(found.corrected, **limits, standard_error=None)  # type: ignore[arg-type] # numbers by name
    saved = labels_saved(found.labels, corrected, found.num_labelled)
    return replace(found, corrected=corrected, labels_saved=saved)


def _shared_rows(one: Paired, other: Paired | None = None) -> Sequence[IntArray]:
    """Return the places of the rows that both have, in each; of one, of all its rows."""
    if other is None:
        return (np.arange(len(one.instances)),)
    return np.intersect1d(one.instances, other.instances, return_indices=True)[1:]


def _mean(pairs: Sequence[Paired], design: Design, level: Level, shift: float | None = None) -> Corrected:
    """Estimate the mean over the rows with a score of people; of two systems the difference on the rows of both.

    With a shift it is the mean of a·(y - shift) over all rows.
    """
    one, places = pairs[0], _shared_rows(*pairs)

    def columns(arrays: Iterable[FloatArray | IntArray]) -> FloatArray:
        return np.column_stack([array[place] for array, place in zip(arrays, places, strict=True)])

    judged, human = columns(pair.judge.scores for pair in pairs), columns(pair.people.scores for pair in pairs)
    (low, high), support = one.judge.bounds, one.support if len({pair.support for pair in pairs}) == 1 else None
    if shift is not None:
        judged, human = judged - shift, np.where(one.not_applicable[:, None], 0.0, human - shift)
        low, high = min(low - shift, 0.0), max(high - shift, 0.0)
        support = None if support is None else tuple(sorted({0.0, *(each - shift for each in support)}))
    strata = [pair.strata for pair in pairs if pair.strata is not None]
    found = corrected_mean(
        judged,
        human,
        strata=columns(strata) if len(strata) == len(pairs) else None,
        support=support,
        probabilities=columns(pair.probabilities for pair in pairs),
        design=design,
        bounds=(low, high),
        level=IntervalLevel.of(level).over([one.judge.clusters[place] for place in places[0]]),
    )
    return Corrected(
        system=one.judge.system,
        second=pairs[1].judge.system if len(pairs) > 1 else None,
        criterion=one.judge.criterion,
        option=one.option,
        **{field.name: getattr(found, field.name) for field in fields(found)},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Correction):
    """A score, or the difference of two, from the judge, from the labels alone, and from both.

    Attributes:
        system: Whose score it is, or the system from whose score that of the second is taken; empty where a result
            knows no systems.
        second: The other system of a difference, paired over the rows that both have; None for a score.
        criterion: The criterion of the score.
        option: Of a criterion whose options have no values, the one whose share it is.
    """

    system: str
    second: str | None = None
    criterion: str
    option: str | None = None

    @property
    def of_what(self) -> str:
        """The system, or the two."""
        return self.system if self.second is None else f"{self.system} – {self.second}"

    @property
    def name(self) -> str:
        """The name in sentences."""
        return ", ".join(filter(None, (self.of_what, self.criterion, self.option)))

    @property
    def distinguishable(self) -> bool:
        """Whether the corrected interval of a difference leaves 0 out."""
        return not isinstance(self.corrected, Missing) and not self.corrected.low <= 0 <= self.corrected.high


@dataclass(frozen=True, kw_only=True, repr=False)
class CorrectedScores(PrintedTables):
    """The result of :func:`evenhand.correct`.

    Attributes:
        scores: One per system and criterion; for a nominal criterion one per option.
        differences: Every two systems on each criterion, as far as both are labelled.
        design: How the labelled rows were chosen, as stated.
        level: The level of the intervals; that of a difference is higher, so that all hold together.
        notes: The notes on the labels.
        judges: The names of the judges.
    """

    scores: tuple[Corrected, ...]
    differences: tuple[Corrected, ...] = ()
    design: str
    level: float
    notes: tuple[str, ...] = ()
    judges: tuple[str, ...]

    def __getitem__(self, name: str | tuple[str, ...]) -> Corrected:
        """Return the score of ``system``, ``(system, criterion)`` or ``(system, criterion, option)``.

        Raises:
            InvalidInputError: If there is none, or several.
        """
        asked = (name,) if isinstance(name, str) else tuple(name)
        fits = [each for each in self.scores if (each.system, each.criterion, each.option)[: len(asked)] == asked]
        if len(fits) != 1:
            names = [(each.system, each.criterion, *([each.option] if each.option else [])) for each in self.scores]
            raise InvalidInputError(f"{name!r} names {len(fits)} of the scores; they are named {names!r}")
        return fits[0]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the scores, and the differences."""
        title = f"What people would say, by their labels and {', '.join(self.judges)}"
        notes = (*notes_on(self.scores), *self.notes)
        scores = _table(title, "system", self.scores, self.level, Column("no score", "num_unscored"), notes=notes)
        if not self.differences:
            return (scores,)
        names = [each.name for each in self.differences if each.distinguishable]
        distinguished = [f"Distinguishable by what people would say: {'; '.join(names) or 'none'}."]
        level = next((each.corrected.level for each in self.differences if each.corrected), self.level)
        if len(self.differences) > 1:
            distinguished.append(
                f"Each interval has the level {format_level(level)}, so that all "
                f"{format_count(len(self.differences))} hold together at {format_level(self.level)} (Bonferroni)."
            )
        title = "Differences of what people would say, paired over the rows"
        return scores, _table(title, "systems", self.differences, level, notes=distinguished)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each score, then for each difference; ``corrected_low`` is a limit of ``corrected``."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        return pd.json_normalize([as_plain(each) for each in (*self.scores, *self.differences)], sep="_")

    def to_json(self) -> str:
        """Return all of it as JSON; what is missing is ``{"reason": …}``."""
        return as_json({"evenhand": "corrected_scores", **as_plain(self, reasons=True)}, indent=1)

    def save(self, path: str | Path) -> None:
        """Write ``.json`` (all of it), ``.csv`` (the tables), ``.md`` or ``.html``.

        Raises:
            InvalidInputError: If the name ends otherwise.
            UnwritableFileError: If the file cannot be written.
        """
        made = (self.to_json, self.to_csv, self.to_markdown, lambda: self.to_page("Corrected scores"))
        write_as_it_ends(path, dict(zip(SAVED_AS, made, strict=True)))


def notes_on(scores: Sequence[Corrected]) -> list[str]:
    """Say how many labels the judge is worth, where its own mean misleads, and what else is known of each score."""
    about = by_key((note, each.name) for each in scores for note in (*_worth_of(each), *each.notes))
    return [
        f"{'all scores' if 1 < len(names) == len(scores) else '; '.join(names)}: {note}."
        for note, names in about.items()
    ]


def _worth_of(score: Corrected) -> Iterator[str]:
    """Yield what the judge is worth, as far as a test or a limit allows to say so, and that its own mean misleads."""
    corrected, saved, labels = score.corrected, score.labels_saved, format_count(score.num_labelled, "label")
    if isinstance(corrected, Missing):
        yield corrected.reason
        return
    if isinstance(saved, Missing):
        yield saved.reason
        return
    if score.informative and saved >= 1:
        yield f"with these {labels} the judge is worth {format_count(saved)} more"
    if score.judge and not corrected.low <= score.judge.estimate <= corrected.high:
        yield f"the judge's mean, {format_number(score.judge.estimate)}, lies outside the corrected interval"


def _table(
    title: str,
    header: str,
    found: Sequence[Corrected],
    level: float,
    *more: Column,
    notes: Sequence[str],
) -> TextTable:
    """Tabulate the scores of judge, labels and both."""
    signed, at = found[0].second is not None, format_level(level)

    def cell_of(name: str) -> Callable[[Corrected], str]:
        return lambda each: format_interval(getattr(each, name), signed=signed)

    return measures_table(
        title,
        (header, "criterion"),
        [((each.of_what, ": ".join(filter(None, (each.criterion, each.option)))), each) for each in found],
        (
            Column(f"judge alone [{at}]", cell_of("judge")),
            Column(f"labels alone [{at}]", cell_of("labels")),
            Column(f"corrected [{at}]", cell_of("corrected")),
            Column("labels", "num_labelled"),
            Column("rows", "num_rows"),
            *more,
        ),
        notes,
        kind="differences" if signed else "scores",
    )


def correct(
    results: Results,
    gold: object = None,
    *,
    design: str | None = None,
    level: float | None = None,
    label_field: str = "label",
) -> CorrectedScores:
    """Estimate people's score per system and criterion, from a judge's scores of all rows and a few labels.

    Statistics: :mod:`evenhand.statistics.correction`. Systems are compared on the rows that both have, with intervals
    that all hold together.

    Args:
        results: What a judge scored: of ``judge``, ``winrates``, ``checklist``, ``aggregate_votes`` or ``run_mode``, or
            what ``evenhand.open`` reads.
        gold: What people say: see :func:`~evenhand.labels.people.read_gold`. None for the gold labels that the results
            hold. Where several people labelled a row, the label that most of them give counts, and of numbers the mean.
        design: How the labelled rows were chosen. It cannot be seen in the labels, and is never assumed:

            - ``random``: drawn at random, each row as likely as any other;
            - ``by_verdict``: at random within the verdicts of the judge, such as 30 of each;
            - ``probabilities``: each with a probability of its own, in the column ``probability`` of the labels.
        level: The level of the intervals; that of the results by default.
        label_field: The column of ``gold`` with the label.

    Raises:
        InvalidInputError: No design, labels that fit no row, or a system without labels where another one has some.

    Example::

        table = evenhand.judge(rows, "criteria.evenhand.direct.relevance", engine)
        print(evenhand.correct(table, {"p-3": "Excellent", …}, design="random"))
    """
    if not isinstance(results, Results):
        raise InvalidInputError(
            f"results is {results!r}; give what judge, winrates, checklist, aggregate_votes or run_mode returned, or "
            "what evenhand.open reads"
        )
    labels = read_gold(results, gold, label_field=label_field)
    level = float(results.parameters["level"]) if level is None else level
    IntervalLevel(level)
    chosen = checked_design(design, labels)
    every = [each for pair in paired(results, labels) for each in pair.by_option()]
    silent = _check_labelled(every, chosen)
    own = [each for each in every if each.judge.criterion not in silent]
    left_out = [f"Left out, as no row is labelled: {', '.join(silent)}."] if silent else []
    return CorrectedScores(
        scores=tuple(correction(each, chosen, level) for each in own),
        differences=() if results.kind == "winrates" else _differences(own, chosen, level),
        design=chosen,
        level=level,
        notes=(*_notes(labels, own, chosen), *left_out),
        judges=tuple(results.parameters.get("judges", ())) or ("recorded votes",),
    )


def checked_design(given: object, labels: Labels) -> Design:
    """Check the stated design of the labelled rows.

    Raises:
        InvalidInputError: If it is missing, is not a design, or is not that of the labels.
    """
    if labels.design is not None and given not in {None, labels.design}:
        raise InvalidInputError(
            f"design is {given!r}, and the rows of these labels were drawn with {labels.design!r}: leave design out"
        )
    asked = labels.design if given is None else given
    for name in DESIGNS:
        if asked == name:
            return name
    problem = "design is not given" if asked is None else f"design is {asked!r}"
    meant = "; ".join(f"{name!r}: {what}" for name, what in DESIGNS.items())
    raise InvalidInputError(
        f"{problem}, and the labels do not show how the labelled rows were chosen, on which the correction rests. Say "
        f"which it was, design=…, in the shell --design. {meant}"
    )


def _check_labelled(pairs: Sequence[Paired], design: Design) -> list[str]:
    """Check that no system would be scored by the labels of another one; return the criteria without labels.

    Raises:
        InvalidInputError: If these are all, a system has no labels where others have some, or a row no probability.
    """
    labelled: dict[str, dict[str, int]] = {}
    for pair in pairs:
        systems = labelled.setdefault(pair.judge.criterion, {})
        systems[pair.judge.system] = systems.get(pair.judge.system, 0) + pair.num_labelled
        if design == "probabilities" and np.isnan(pair.probabilities[pair.labelled]).any():
            raise InvalidInputError(
                f"design is 'probabilities', and labelled rows of {pair.name!r} have none: give the labels as a "
                "table with a column 'probability'"
            )
    silent = [criterion for criterion, systems in labelled.items() if not any(systems.values())]
    if len(silent) == len(labelled):
        raise InvalidInputError(
            "no row has labels for all questions of its score: label every question about a row, or give the score of "
            "the whole as a number"
        )
    for criterion, systems in labelled.items():
        lacking, others = ([each for each in systems if bool(systems[each]) is wanted] for wanted in (False, True))
        if lacking and others:
            raise InvalidInputError(
                f"there are no labels of {lacking!r} on {criterion!r}, and labels correct the system that they name: "
                f"label some of its rows, or leave it out with results.filter(system={others!r})"
            )
    return silent


def _differences(pairs: Sequence[Paired], design: Design, level: float) -> tuple[Corrected, ...]:
    """Compare every two systems on each criterion, as far as it applies to all rows; all hold together (Bonferroni)."""
    compared = [
        [one, other]
        for what in dict.fromkeys(pair.what for pair in pairs)
        for one, other in combinations([pair for pair in pairs if pair.what == what], 2)
        if (one.judge.bounds, one.judge.labels) == (other.judge.bounds, other.judge.labels)
        and len(_shared_rows(one, other)[0])
        and not (one.not_applicable.any() or other.not_applicable.any())
    ]
    each = round(1 - (1 - level) / max(len(compared), 1), 4)
    return tuple(_mean(pair, design, each) for pair in compared)


def _notes(labels: Labels, pairs: Sequence[Paired], design: Design) -> list[str]:
    """Return the notes on the labels."""
    notes = [f"How the labelled rows were chosen, as stated: {DESIGNS[design]} (design={design!r})."]
    people = len(labels.annotators)
    if people > 1:
        several = sum(len(given) > 1 for given in labels.by_question.values())
        notes.append(
            f"{format_count(len(labels), 'label')} by {people} people; of {format_count(several, 'question')} with "
            "several labels the one that most gave counts, else the mean."
        )
    if labels.cannot_tell:
        notes.append(f"Of {format_count(labels.cannot_tell, 'row')} people could not tell; they are left out.")
    not_applied = [f"{each.name} ({int(each.not_applicable.sum())})" for each in pairs if each.not_applicable.any()]
    if not_applied:
        notes.append(
            "The score is over the rows to which the criterion applies, as people see it, and no difference is given; "
            f"they say that it does not apply to labelled rows of: {'; '.join(not_applied)}."
        )
    for pair in pairs if design == "random" else ():
        if pair.strata is None or pair.option is not None or not pair.num_labelled:
            continue
        p_value = draw_p_value(pair.strata, pair.labelled)
        if p_value < UNLIKELY:
            notes.append(
                f"{pair.name}: the labelled rows do not look drawn at random: by what the judge says of them such a "
                f"draw is unlikely ({state_p_value(p_value)}). If they were chosen by the verdict, say "
                "design='by_verdict'."
            )
    return notes


# --- scores by group --------------------------------------------------------------------------------------------------

ALL = "all rows"
"""The group name of all rows together."""

ScoreName = tuple[str, str, str]
"""The group, the system, and the criterion of its score."""

ContrastName = tuple[str, str, str, str]
"""The group, the two systems, and the criterion of their scores."""


@dataclass(frozen=True, repr=False)
class GroupedScores(PrintedTables):
    """The result of :meth:`~evenhand.result_methods.ResultMethods.by`.

    Attributes:
        by: What groups the rows.
        groups: Group -> how many rows are of it.
        scores: (Group, system, score of) -> the score there; those of all rows stand under ``all rows``.
        differences: (Group, first, second, score of) -> how far the two systems differ there; none for contests.
        reversals: What the whole hides, in sentences.
        design: The sampling design of the labelled rows; None if scores are not corrected.
        level: The level of the intervals.
        notes: How many votes are unscored.
    """

    by: str
    groups: Mapping[str, int]
    scores: Mapping[ScoreName, Corrected]
    differences: Mapping[ContrastName, PairedDifference]
    reversals: tuple[str, ...]
    design: str | None
    level: float
    notes: tuple[str, ...] = ()

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the scores, and how systems differ."""
        level = format_level(self.level)
        columns = (
            Column(f"score by the judge [{level}]", "judge"),
            Column(f"corrected [{level}]", "corrected", optional=True),
            Column("rows", "num_rows"),
            Column("labels", "num_labelled"),
            Column("no score", "num_unscored"),
        )
        named = (self.by, "system", "score of")
        scores = measures_table(f"Scores by {self.by}", named, self.scores, columns, kind="scores")
        families = (
            [
                replace(each, score=f"{each.score}, {name[0]}")
                for name, each in self.differences.items()
                if name[0] in own
            ]
            for own in ({ALL}, self.groups)
        )
        return (scores, *(table for own in families for table in differences_tables(own, level=self.level)))

    def closing_notes(self) -> tuple[str, ...]:
        """Return notes on unscored votes, and on differences that the total hides."""
        return (*self.notes, *self.reversals)


def by_group(
    results: Results,
    by: str,
    *,
    gold: object = None,
    design: str | None = None,
    level: float | None = None,
) -> GroupedScores:
    """Return the scores of each group of rows, how far systems differ within groups, and what the whole hides.

    Args:
        results: What was judged.
        by: The column of the groups: see :meth:`~evenhand.results.results.Results.group_of`.
        gold: Labels of people (:func:`evenhand.correct`); by default those that the result holds.
        design: How the labelled rows were chosen; with it, the scores of groups are corrected too.
        level: The level of the intervals; that of the results by default.

    Returns:
        Means with intervals over rows or clusters, differences by sign-flip tests with Holm's correction over all
        groups, systems and scores, and in words where a system that is ahead on all rows is behind in a group.

    Raises:
        InvalidInputError: If there are no such groups, or labels that fit no row.
    """
    names = results.group_of(by)
    labels = read_gold(results, gold, required=False)
    over = results.level_over([])
    over = over if level is None else replace(over, level=level)
    asked = bool(len(labels)) and (design is not None or labels.design is not None)
    chosen = checked_design(design, labels) if asked else None
    samples = [each for pair in paired(results, labels if asked else Labels(())) for each in pair.by_option()]
    group_of = [f"(no {by})" if name is None else name for name in names]
    rows = dict.fromkeys(row for sample in samples for row in sample.instances.tolist())
    groups = Counter(group_of[row] for row in rows)
    parts: dict[str, list[Paired]] = {ALL: samples}
    for group in groups:
        within = [
            each.only(np.array([group_of[row] == group for row in each.instances], dtype=bool)) for each in samples
        ]
        parts[group] = [each for each in within if each.judge.rows]
    differences = {} if results.kind == "winrates" else _differences_in_groups(parts, over)
    return GroupedScores(
        by=by,
        groups=groups,
        scores={
            (group, each.judge.system, _criterion(each)): correction(each, chosen or "random", over)
            for group, own in parts.items()
            for each in own
        },
        differences=differences,
        reversals=tuple(_reversals(differences, by, over.level)),
        design=chosen,
        level=over.level,
        notes=unscored_note(results.analysis.unscored_counts),
    )


def _criterion(sample: Paired) -> str:
    return ": ".join(filter(None, sample.what))


def _differences_in_groups(
    parts: Mapping[str, Sequence[Paired]], over: IntervalLevel
) -> dict[ContrastName, PairedDifference]:
    """Compare every two systems on all rows, and in each group: two families for Holm's correction."""
    found: dict[ContrastName, PairedDifference] = {}
    for family in ([ALL], [group for group in parts if group != ALL]):
        named: list[tuple[str, PairedDifference]] = []
        pairs = [(group, *pair) for group in family for pair in combinations(parts[group], 2)]
        for name, one, other in pairs:
            ours, theirs = _shared_rows(one, other)
            if one.what == other.what and len(ours):
                (difference,) = paired_differences(
                    np.column_stack([one.judge.scores[ours], other.judge.scores[theirs]]),
                    level=over.over([one.judge.clusters[place] for place in ours]),
                    bounds=one.judge.bounds,
                    systems=(one.judge.system, other.judge.system),
                    score=_criterion(one),
                )
                named.append((name, difference))
        tested = over_one_family([each for _, each in named])
        for (name, _), each in zip(named, tested, strict=True):
            found[name, each.first, each.second, each.score] = each
    return found


def _reversals(differences: Mapping[ContrastName, PairedDifference], what: str, level: float) -> Iterator[str]:
    """Yield leads on all rows that are losses in a group, with the tests of both."""

    def describe(each: PairedDifference) -> str:
        p_value = "not tested" if each.p_value is None else state_p_value(each.p_value)
        chance = "" if each.p_value is not None and each.p_value <= 1 - level else ", which may be chance"
        return f"{format_interval(each.difference, signed=True)}, {p_value}{chance}"

    for (group, first, second, score), own in differences.items():
        whole = differences[ALL, first, second, score]
        if group == ALL or whole.difference is None or own.difference is None:
            continue
        if whole.difference.estimate * own.difference.estimate < 0:
            ahead, behind = (first, second) if whole.difference.estimate > 0 else (second, first)
            yield (
                f"On all rows {ahead} is ahead of {behind} on {score}, and where {what} is {group} it is behind: "
                f"{first} less {second} is {describe(whole)} on all rows, and {describe(own)} there."
            )

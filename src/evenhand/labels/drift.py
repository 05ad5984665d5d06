"""The judge, or what it judges, changed between two runs: what moved, and which of the two moved it.

Rows on which both runs judged the same responses tell what the judge did, since nothing else can have moved their
scores. Rows with new responses tell what judge and systems did together, and what is left when the judge's part is
taken away is that of the systems. Labels of people on the same responses tell whether the judge became better.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInputError
from evenhand.labels.drift_answer import Evidence, Mover
from evenhand.labels.people import Labels, holds_labels, paired, read_gold
from evenhand.numbers import Missing, format_count, format_level
from evenhand.results.fingerprint import Fingerprint
from evenhand.results.groups import row_names
from evenhand.results.measures import Column, known, measure, measures_table
from evenhand.results.outcomes import Outcome, Outcomes
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval, mean_intervals
from evenhand.statistics.intervals import IntervalLevel, cluster_sums, level_over
from evenhand.statistics.paired_differences import PairedDifference, holm, paired_differences, sign_flip_test

Seen = Literal["same", "new", "unknown"]
Numbers = NDArray[np.float64]

NO_ROW = "no row has both scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChange:
    """How far scores moved on some rows, and on how many of them another label was selected.

    Attributes:
        before: The mean score of the rows in the run before.
        after: In the run after.
        change: The mean of (score after - score before), row by row.
        p_value: Of the test that it is 0, by the signs of the rows' changes (exact where it can be), by Holm.
        flipped: The share of the rows with another label; missing where scores are made of several questions.
        up: Rows whose score rose.
        down: Rows whose score fell.
        flip_p_value: Of the exact test that as many rise as fall (McNemar's of 0/1 scores), by Holm.
        n_rows: Rows that both runs gave a score.
        n_set_aside: Rows that only one of them did.
    """

    before: Interval | Missing = measure("score")
    after: Interval | Missing = measure("score")
    change: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    flipped: Interval | Missing = measure("share")
    up: int = measure("count")
    down: int = measure("count")
    flip_p_value: float | Missing = measure("p_value")
    n_rows: int = measure("count")
    n_set_aside: int = measure("count")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorChange:
    """How far the judge agrees with people on rows that both runs judged as they are.

    Attributes:
        before: The share of the labelled rows on which the judge before selects the label of people; where there are
            no labels but scores, the mean of 1 - their distance, on a scale from 0 to 1.
        after: The same of the judge after.
        change: The mean of (after - before), row by row.
        p_value: Of the test that it is 0 (of labels McNemar's exact test), by Holm.
        won: Rows on which the judge comes to agree, or closer.
        lost: Rows on which it ceases to, or moves away.
        bias_before: The mean of (the judge's score - people's) before.
        bias_after: And after.
        n_labels: Rows with a label.
    """

    before: Interval | Missing = measure("share")
    after: Interval | Missing = measure("share")
    change: Interval | Missing = measure("difference")
    p_value: float | Missing = measure("p_value")
    won: int = measure("count")
    lost: int = measure("count")
    bias_before: Interval | Missing = measure("difference")
    bias_after: Interval | Missing = measure("difference")
    n_labels: int = measure("count")


Name = tuple[str, str]
"""The system, and what its score is of."""


@dataclass(frozen=True)
class Drift(PrintedTables):
    """The result of :func:`drift`.

    Attributes:
        moved: What moved the scores: the ``judge``, the ``systems``, ``both``, ``nothing`` that is seen, or ``unknown``
            where that cannot be told.
        answer: The same in words.
        made_differently: What was not the same when the second run was made.
        judge: (System, score) -> what the judge alone moved, on the same responses.
        new: Likewise on rows with new responses, which judge and systems moved together.
        anchors: Likewise the agreement with people, on the same responses.
        of_judge: The mean change on the same responses, all systems and scores together, on a scale from 0 to 1.
        of_both: That on new responses.
        of_systems: What is left of that when the judge's is taken away.
        of_agreement: The mean change of the agreement with people on the same responses.
        n_unmatched: Rows that only one of the runs holds.
        level: Of the intervals.
    """

    moved: Mover
    answer: str
    made_differently: tuple[str, ...]
    judge: Mapping[Name, ScoreChange]
    new: Mapping[Name, ScoreChange]
    anchors: Mapping[Name, AnchorChange]
    of_judge: Interval | Missing
    of_both: Interval | Missing
    of_systems: Interval | Missing
    of_agreement: Interval | Missing
    n_unmatched: int
    level: float

    def text_tables(self) -> tuple[TextTable, ...]:
        """What moved on the same responses, on new ones, and against people; then the answer."""
        level, names = format_level(self.level), ("system", "score of")
        moved = (
            Column(f"before [{level}]", "before"),
            Column(f"after [{level}]", "after"),
            Column("change", "change"),
            Column("p", "p_value"),
        )
        flips = (
            Column("other label", "flipped", optional=True),
            Column("up", "up"),
            Column("down", "down"),
            Column("p of flips", "flip_p_value"),
        )
        rows = (Column("rows", "n_rows"), Column("set aside", "n_set_aside"))
        people = (
            Column("won", "won"),
            Column("lost", "lost"),
            Column("judge – people before", "bias_before"),
            Column("after", "bias_after"),
            Column("labels", "n_labels"),
        )
        same = "The same responses, judged by both: what the judge moved"
        new = "New responses: what judge and systems moved together"
        anchors = "Agreement with people on the same responses"
        found = []
        if self.judge:
            notes = self._family(self.judge)
            found.append(measures_table(same, names, self.judge, (*moved, *flips, *rows), notes, kind="judge"))
        if self.new:
            notes = self._family(self.new)
            found.append(measures_table(new, names, self.new, (*moved, *rows), notes, kind="new"))
        if self.anchors:
            notes = self._family(self.anchors)
            found.append(measures_table(anchors, names, self.anchors, (*moved, *people), notes, kind="anchors"))
        return tuple(found)

    @staticmethod
    def _family(tested: Mapping[Name, object]) -> tuple[str, ...]:
        tests = format_count(len(tested), "comparison")
        return (f"Changes: after less before, row by row (sign-flip test, p corrected by Holm over {tests}).",)

    def closing_notes(self) -> tuple[str, ...]:
        """What was not made the same way, and the answer."""
        changed = f"Not made the same way: {'; '.join(self.made_differently)}." if self.made_differently else ""
        left = f"{format_count(self.n_unmatched, 'row')} of one run only." if self.n_unmatched else ""
        return tuple(filter(None, (changed, left, f"Did the systems change, or did the judge? {self.answer}")))


@dataclass(frozen=True)
class _SharedRow:
    """A row that both runs scored or tried to.

    Attributes:
        before: In the run before.
        after: In the run after.
        seen: Whether both judged the same responses.
        human: The score that people give; NaN where there is none.
        label: The label that people give.
        cluster: What the row belongs to.
    """

    before: Outcome
    after: Outcome
    seen: Seen
    human: float
    label: str | None
    cluster: Hashable


@dataclass(frozen=True)
class _Pairing:
    """One score of one system in both runs."""

    of: Outcomes
    rows: tuple[_SharedRow, ...]

    @property
    def name(self) -> Name:
        return self.of.system, self.of.criterion

    def only(self, *seen: Seen) -> _Pairing:
        return replace(self, rows=tuple(row for row in self.rows if row.seen in seen))

    def scores(self) -> Numbers:
        """Shape (n rows, 2): after and before, on a scale from 0 to 1."""
        low, high = self.of.bounds
        found = [[_number(row.after.score), _number(row.before.score)] for row in self.rows]
        return (np.array(found, dtype=float).reshape(-1, 2) - low) / (high - low)

    def labelled(self) -> _Pairing:
        """The rows of which people say something."""
        return replace(self, rows=tuple(row for row in self.rows if row.label is not None or not np.isnan(row.human)))

    def human(self) -> Numbers:
        """Shape (n rows): people's scores on the same scale."""
        low, high = self.of.bounds
        return (np.array([row.human for row in self.rows], dtype=float) - low) / (high - low)

    def agrees(self) -> Numbers:
        """Shape (n rows, 2): whether each selects the label of people, or else how close it comes to their score."""
        if not self.of.labels or any(row.label is None for row in self.rows):
            return 1 - np.clip(np.abs(self.scores() - self.human()[:, None]), 0, 1)
        found = [
            [np.nan if run.selected is None else float(run.selected == row.label) for run in (row.after, row.before)]
            for row in self.rows
        ]
        return np.array(found, dtype=float).reshape(-1, 2)


def drift(
    before: Results[Any], after: Results[Any], gold: object = None, *, same_responses: bool | None = None
) -> Drift:
    r"""What moved between two runs, and whether the systems did it or the judge.

    Rows are brought together by their ids, or by their place where they have none; systems and criteria by their names
    (two runs of one system each by that alone). Which rows hold the same responses is known from the fingerprints of
    the results.

    Args:
        before: The run before.
        after: The run after: another judge, version, prompt or options; or new responses; or both.
        gold: Labels of people for what the run before judged, as :func:`evenhand.correct` takes them: a frozen anchor
            set. By default those that the result holds.
        same_responses: Whether the rows that both hold are the same responses, where results do not know: those of
            recorded votes, and files saved before results held fingerprints.

    Returns:
        What the judge moved on the same responses (changes, flips by direction, exact tests), how its agreement with
        people changed there, what moved on new responses, and an answer in words. The share of the systems is the
        change on new responses less that on the same ones, with the limits
        :math:`d - \sqrt{(m_1 - l_1)^2 + (u_2 - m_2)^2}` and :math:`d + \sqrt{(u_1 - m_1)^2 + (m_2 - l_2)^2}` made of
        the means and limits of both, which hold where the two do not depend on each other.

    Raises:
        InvalidInputError: Results of two kinds, or without a row, system or criterion in common.

    Sources: McNemar (1947), Psychometrika 12, for flips; Zou and Donner (2008), Construction of confidence limits about
    effect measures: a general approach, Statistics in Medicine 27, for the share of the systems.
    """
    if type(before) is not type(after):
        raise InvalidInputError(
            f"before is a {type(before).__name__} and after is a {type(after).__name__}: give two results of one kind"
        )
    labels = read_gold(before, gold) if gold is not None or holds_labels(before) else None
    pairings, unmatched = _pairings(before, after, labels, same_responses)
    level = float(before.parameters.get("level", 0.95))
    same, new = ([pairing.only(seen) for pairing in pairings] for seen in ("same", "new"))
    one, other = before.fingerprint, after.fingerprint
    mains = [(own.only("same"), own.only("new")) for own in pairings if own.of.part_of is None]
    of_judge, of_both = (_pooled([pair[place] for pair in mains], level) for place in (0, 1))
    of_systems = _less(of_both, of_judge)
    of_agreement = _agreement([pair for pair, _ in mains], level)
    changes = one.changes(other)
    moved, answer = Evidence(
        of_judge, of_both, of_systems, of_agreement, changes, one.unknown(other), _unknown_rows(pairings)
    ).answer()
    return Drift(
        moved=moved,
        answer=answer,
        made_differently=changes,
        judge=_changes(same, level),
        new=_changes(new, level),
        anchors=_anchors(same, level),
        of_agreement=known(of_agreement, "no row that both judged as it is has a label of people"),
        of_judge=known(of_judge, "no row holds the same response in both runs"),
        of_both=known(of_both, "no row holds a new response"),
        of_systems=known(of_systems, "rows of both kinds are needed: same responses and new ones"),
        n_unmatched=unmatched,
        level=level,
    )


def _pairings(
    before: Results[Any], after: Results[Any], labels: Labels | None, same: bool | None
) -> tuple[list[_Pairing], int]:
    """Each score of each system in both runs, row by row, and how many rows are in one run only."""
    people = None if labels is None else {_named(each.judge): each for each in paired(before, labels)}
    held = {_named(each): each for each in after.outcomes()}
    one, other = row_names(before), row_names(after)
    prints = before.fingerprint, after.fingerprint
    if not set(one.values()) & set(other.values()):
        raise InvalidInputError(
            f"the two results have no row in common: those of the first are named {list(one.values())[:3]!r}, those of "
            f"the second {list(other.values())[:3]!r}; judge both with the same id_field"
        )
    renamed = _renamed(before, after)
    found = []
    for mine in before.outcomes():
        theirs = held.get((renamed.get(mine.system, mine.system), mine.criterion))
        if theirs is None:
            continue
        if (theirs.labels, theirs.bounds) != (mine.labels, mine.bounds):
            raise InvalidInputError(
                f"the scores of {mine.criterion!r} go from {mine.bounds[0]:g} to {mine.bounds[1]:g} by the labels "
                f"{list(mine.labels)!r} before, and from {theirs.bounds[0]:g} to {theirs.bounds[1]:g} by "
                f"{list(theirs.labels)!r} after: drift compares scores in the same units"
            )
        told = None if people is None else people[_named(mine)]
        keyed = {_key(row, theirs, other[row.instance]): row for row in theirs.rows}
        rows = []
        for place, row in enumerate(mine.rows):
            match = keyed.get(_key(row, mine, one[row.instance]))
            if match is not None:
                human, label = (np.nan, None) if told is None else (float(told.human[place]), told.selected[place])
                cluster: Hashable = ("row", one[row.instance]) if row.cluster is None else row.cluster
                rows.append(_SharedRow(row, match, _seen(prints, row, match, same), human, label, cluster))
        found.append(_Pairing(mine, tuple(rows)))
    if not any(pairing.rows for pairing in found):
        raise InvalidInputError(
            f"the two results have no score in common: the first has {sorted(map(_named, before.outcomes()))!r}, the "
            f"second {sorted(held)!r} (system and criterion)"
        )
    return found, len(set(one.values()) ^ set(other.values()))


def _named(of: Outcomes) -> Name:
    return of.system, of.criterion


def _renamed(before: Results[Any], after: Results[Any]) -> dict[str, str]:
    """The name of the one system before -> that after, where each run has one."""
    one, other = ({each.system for each in results.outcomes()} for results in (before, after))
    return {one.pop(): other.pop()} if len(one) == len(other) == 1 else {}


def _key(row: Outcome, of: Outcomes, name: str) -> tuple[str, ...]:
    """What names a row in both runs: its name, and of a contest the opponent."""
    parts = row.questions[0][1:] if len(row.questions) == 1 else ()
    return (name, *(str(part) for part in parts if part not in {of.system, of.criterion}))


def _seen(prints: tuple[Fingerprint, Fingerprint], before: Outcome, after: Outcome, told: bool | None) -> Seen:
    """Whether both runs judged the same responses."""
    shown = []
    for fingerprint, row in zip(prints, (before, after), strict=True):
        names = list(dict.fromkeys(str(part) for question in row.questions for part in question[1:]))
        shown.append(fingerprint.shown_of(row.instance, names))
    if None in shown:
        return "unknown" if told is None else "same" if told else "new"
    return "same" if shown[0] == shown[1] else "new"


def _unknown_rows(pairings: Sequence[_Pairing]) -> int:
    return sum(row.seen == "unknown" and row.before.score is not None for own in pairings for row in own.rows)


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _level(level: float, rows: Sequence[_SharedRow]) -> IntervalLevel:
    return level_over(level, [row.cluster for row in rows])


def _changes(pairings: Sequence[_Pairing], level: float) -> dict[Name, ScoreChange]:
    """How far each score moved; p-values by Holm over all."""
    found = {own.name: _change(own, level) for own in pairings if own.rows}
    return _over_one_family(_over_one_family(found, "p_value"), "flip_p_value")


def _change(own: _Pairing, level: float) -> ScoreChange:
    over, (low, high) = _level(level, own.rows), own.of.bounds
    shares, width = own.scores(), high - low
    pair = _compared(shares, own.rows, level)
    both = np.isnan(shares).sum(axis=1) == 0
    bounds = float(np.nanmin(shares, initial=0.0)), float(np.nanmax(shares, initial=1.0))
    means = mean_intervals(np.where(both[:, None], shares, np.nan), level=over, bounds=bounds)
    after, before = (None if mean is None else mean.on_scale(low, width) for mean in means)
    signs = np.sign(np.round(shares[:, 0] - shares[:, 1], 12))[both]
    flipped = [
        float(row.before.selected != row.after.selected)
        if row.before.selected is not None and row.after.selected is not None
        else np.nan
        for row in own.rows
    ]
    flips = mean_intervals(flipped, level=over)[0] if own.of.labels else None
    labels = over.only(both).labels(int(both.sum()))
    return ScoreChange(
        before=known(before, NO_ROW),
        after=known(after, NO_ROW),
        change=known(None if pair.difference is None else pair.difference.on_scale(0.0, width), NO_ROW),
        p_value=known(None if pair.test is None else pair.test.p_value, NO_ROW),
        flipped=known(flips, "the score is made of several questions"),
        up=int((signs > 0).sum()),
        down=int((signs < 0).sum()),
        flip_p_value=sign_flip_test(cluster_sums(signs, labels)).p_value if both.any() else Missing(NO_ROW),
        n_rows=pair.n_paired,
        n_set_aside=pair.n_set_aside,
    )


def _anchors(pairings: Sequence[_Pairing], level: float) -> dict[Name, AnchorChange]:
    """How the agreement with people changed; p-values by Holm over all."""
    labelled = [own.labelled() for own in pairings]
    return _over_one_family({own.name: _anchor(own, level) for own in labelled if own.rows}, "p_value")


def _agreement(pairings: Sequence[_Pairing], level: float) -> Interval | None:
    """The mean change of the agreement with people over all scores."""
    labelled = [own.labelled() for own in pairings]
    rows = [row for own in labelled for row in own.rows]
    if not rows:
        return None
    (pair,) = paired_differences(np.concatenate([own.agrees() for own in labelled]), level=_level(level, rows))
    return pair.difference


def _anchor(own: _Pairing, level: float) -> AnchorChange:
    over, width, agrees = _level(level, own.rows), own.of.bounds[1] - own.of.bounds[0], own.agrees()
    (pair,) = paired_differences(agrees, level=over)
    both = np.isnan(agrees).sum(axis=1) == 0
    after, before = mean_intervals(np.where(both[:, None], agrees, np.nan), level=over)
    biases = np.clip(own.scores() - own.human()[:, None], -1, 1)
    bias_after, bias_before = mean_intervals(biases, level=over, bounds=(-1.0, 1.0))
    moved = np.round(agrees[:, 0] - agrees[:, 1], 12)
    no_label, no_score = "no row with a label has both", "people gave no score"
    return AnchorChange(
        before=known(before, no_label),
        after=known(after, no_label),
        change=known(pair.difference, no_label),
        p_value=known(None if pair.test is None else pair.test.p_value, no_label),
        won=int((moved > 0).sum()),
        lost=int((moved < 0).sum()),
        bias_before=known(None if bias_before is None else bias_before.on_scale(0.0, width), no_score),
        bias_after=known(None if bias_after is None else bias_after.on_scale(0.0, width), no_score),
        n_labels=len(own.rows),
    )


def _over_one_family(found: dict[Name, Any], name: str) -> dict[Name, Any]:
    """The same, the p-values of this name corrected by Holm over all."""
    tested = [own for own, change in found.items() if not isinstance(getattr(change, name), Missing)]
    adjusted = dict(zip(tested, holm([getattr(found[own], name) for own in tested]).tolist(), strict=True))
    return {own: replace(each, **{name: adjusted[own]}) if own in adjusted else each for own, each in found.items()}


def _pooled(pairings: Sequence[_Pairing], level: float) -> Interval | None:
    """The mean change over all scores, on a scale from 0 to 1."""
    rows = [row for own in pairings for row in own.rows]
    return _compared(np.concatenate([own.scores() for own in pairings]), rows, level).difference if rows else None


def _compared(shares: Numbers, rows: Sequence[_SharedRow], level: float) -> PairedDifference:
    bounds = float(np.nanmin(shares, initial=0.0)), float(np.nanmax(shares, initial=1.0))  # a penalty may pass them
    return paired_differences(shares, level=_level(level, rows), bounds=bounds)[0]


def _less(one: Interval | None, other: Interval | None) -> Interval | None:
    """One mean less another, its limits made of those of both: see :func:`drift`."""
    if one is None or other is None:
        return None
    below = np.hypot(one.estimate - one.low, other.high - other.estimate)
    above = np.hypot(one.high - one.estimate, other.estimate - other.low)
    estimate = one.estimate - other.estimate
    return Interval(estimate, estimate - float(below), estimate + float(above), one.level, "mover", one.n + other.n)

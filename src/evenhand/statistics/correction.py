r"""The score that people would give, from the judge's scores of all rows and people's labels of some.

The target is the mean of human scores over the population that the rows are a sample of, as of every other interval
here. Rows are divided into strata by what the judge said. How frequent a stratum is, all rows tell; what people say of
a row in it, its labelled rows tell; the corrected score is :math:`\sum_h W_h \bar y_h`. Nothing is assumed of the
judge but that it judged the labelled rows as it judged the others: one that tells nothing costs next to nothing, one
that tells much makes the interval narrow.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import Missing, format_number, format_percent
from evenhand.options import Design
from evenhand.statistics.intervals import Interval, IntervalLevel, cluster_sums, mean_intervals, ratio_intervals
from evenhand.statistics.post_stratification import (
    MOST_LEVELS,
    Arm,
    joined_strata,
    ordered_strata,
    post_stratified,
)
from evenhand.statistics.resampling import BoolArray, FloatArray, IntArray, check_level

RESAMPLES = 4000
"""Draws of a corrected score."""

LABELS_PER_STRATUM = 15
"""For each so many labels there is a stratum more, so that a judge that tells nothing costs no width."""

STRATIFIED = "post-stratified Dirichlet"
"""The method of a score that the judge takes part in."""

FEWEST_ON_A_SIDE = 10.0
"""Without so many labels above the mean, and below it, no upper limit of the judge's worth is known."""

SMALL_WORTH = 0.1
"""A judge that is worth less than this share of the labels is worth nothing."""

Worth = Literal["more", "nothing"]

FEWEST_LABELS = {True: 3, False: 5}
"""In a stratum, for labels with two values and with more; a stratum with fewer is joined with one beside it."""

FEWEST_EFFECTIVE = 5.0
r"""Labels above, and below, the mean that those of unequal probabilities must at least be worth.

That is Kish's effective number on each side, :math:`(\sum w|y - \bar y|)^2 / \sum w^2 (y - \bar y)^2`. Simulated
where the judge's rare verdict is drawn an eighth as often (36 cells of 250 data sets: 5 to 35 % of labels are rare, 40
to 200 labels, judges right in 70 to 95 %), nominal 95 % intervals held the truth in 62 % at the worst where the median
of this number was below 5, and in 92 % or more where it was above (``python -m benchmarks.correction --only rare``).
"""

_Corrected = tuple[Interval | Missing, str, tuple[str, ...]]
"""The corrected score, the method, and notes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A score three times: as the judge gives it, from the labels alone, and corrected by the labels.

    Attributes:
        judge: The mean of the judge's own scores, over the rows that it scored: an interval of the judge.
        labels: The mean of the labels alone, weighted by the design.
        corrected: What people would give, over all rows.
        num_rows: All rows.
        num_labelled: Rows that people labelled.
        num_unscored: Rows that the judge did not score: a stratum of their own.
        labels_saved: How many more random labels the labels alone would need for an interval as narrow as the
            corrected one.
        worth: What is sure of the judge's worth beside the labels of one score; None where nothing is.
        method: Of the corrected score.
        notes: What a reader should know, in plain sentences.
    """

    judge: Interval | Missing
    labels: Interval | Missing
    corrected: Interval | Missing
    num_rows: int
    num_labelled: int
    num_unscored: int
    labels_saved: float | Missing
    worth: Worth | None
    method: str
    notes: tuple[str, ...] = ()


def corrected_mean(
    judged: ArrayLike,
    human: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    design: Design,
    support: Sequence[float] | None = None,
    probabilities: ArrayLike | None = None,
    clusters: Sequence[Hashable] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Correction:
    """The mean that people would give, from a judge of all rows and labels of some.

    Strata are what the judge said, the unscored one of them; scores of more than 20 values are cut at their quantiles.
    There is one stratum, and one more for every 15 labelled clusters; those with fewer than 3 labels (5, where labels
    have more than two values) are joined with one beside them, so that a judge that tells nothing costs no width. With
    one stratum left, the labels alone are the corrected score. `post_stratified` says how limits are drawn.

    How often a nominal 95 % interval held the mean of the population (``python -m benchmarks.correction``): 0/1 scores
    .957 on average and .942 or more in 48 cells of 30 to 200 labels of 500 or 5,000 rows; five levels .96 and .94;
    paired differences .953 and .931. It is as wide as that of the labels alone for a worthless judge, and half as wide
    for a near perfect one.

    Args:
        judged: (n_rows,) the judge's scores; NaN where it gave none.
        human: (n_rows,) people's scores; NaN where nobody labelled.
        strata: (n_rows,) what the judge said, as integers, such as the place of the option; -1 where it gave no
            score. Formed from ``judged`` if None.
        design: How the labelled rows were chosen: ``random``; ``by_verdict``, a number of each stratum at random;
            ``probabilities``, each row with its own probability.
        support: The values that a label can have; None for any number within the bounds.
        probabilities: (n_rows,) of being labelled, in (0, 1], for ``probabilities``.
        clusters: One label per row; rows of one cluster are sampled together.
        bounds: The least and greatest score.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters too.
        seed: Of the draws.
        resamples: How many draws.

    Raises:
        InvalidInputError: Shapes that differ, no such design, a label outside the bounds or not of the support, no
            probability where one is needed.

    Sources: Holt and Smith (1979), "Post stratification", Journal of the Royal Statistical Society A 142; Rubin (1981),
    "The Bayesian bootstrap"; Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453 (PPI++, the same estimate for 0/1
    scores and many labels).

    Of 100 rows the judge calls 70 good. People say 9 of 10 of these are, and 2 of 10 of the others: .7 · .9 + .3 · .2.

    >>> judged = [1.0] * 70 + [0.0] * 30
    >>> human = [1.0] * 9 + [0.0] + [np.nan] * 60 + [1.0] * 2 + [0.0] * 8 + [np.nan] * 20
    >>> found = corrected_mean(judged, human, design="by_verdict", support=(0, 1))
    >>> round(found.judge.estimate, 2), round(found.corrected.estimate, 2), found.method
    (0.7, 0.69, 'post-stratified Dirichlet')
    """
    data = _Data.of(
        judged,
        human,
        systems=1,
        strata=strata,
        design=design,
        support=support,
        probabilities=probabilities,
        level=_with_clusters(level, clusters),
        bounds=bounds,
    )
    return data.correction(seed=seed, resamples=resamples)


def corrected_difference(
    judged: ArrayLike,
    human: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    design: Design,
    support: Sequence[float] | None = None,
    probabilities: ArrayLike | None = None,
    clusters: Sequence[Hashable] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Correction:
    """The first system's mean less the second's as people would give them, paired over rows.

    A row may be labelled for both systems or for one. Where most labelled rows are so for both, strata are formed by
    the difference that the judge saw; otherwise by what it said of each system.

    Args:
        judged: (n_rows, 2) the judge's scores; NaN where it gave none.
        human: (n_rows, 2) people's scores; NaN where nobody labelled.
        strata: (n_rows, 2) what the judge said of each; or (n_rows,), what rows were chosen by.
        design: As of `corrected_mean`.
        support: As of `corrected_mean`.
        probabilities: (n_rows,) or (n_rows, 2).
        clusters: As of `corrected_mean`.
        bounds: Of a score; the difference lies within their width.
        level: As of `corrected_mean`.
        seed: Of the draws.
        resamples: How many draws.

    Raises:
        InvalidInputError: As of `corrected_mean`.
    """
    data = _Data.of(
        judged,
        human,
        systems=2,
        strata=strata,
        design=design,
        support=support,
        probabilities=probabilities,
        level=_with_clusters(level, clusters),
        bounds=bounds,
    )
    return data.correction(seed=seed, resamples=resamples)


def _with_clusters(level: float, clusters: Sequence[Hashable] | None) -> IntervalLevel:
    check_level(level)
    found = IntervalLevel.of(level)
    return found if clusters is None else IntervalLevel(float(found), clusters, found.method)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """Checked input; columns are systems, one or two."""

    judged: FloatArray
    human: FloatArray
    strata: IntArray | None
    design: Design
    weights: FloatArray
    two_values: bool
    support: tuple[float, ...] | None
    bounds: tuple[float, float]
    score_bounds: tuple[float, float]
    level: IntervalLevel

    @classmethod
    def of(
        cls,
        judged: ArrayLike,
        human: ArrayLike,
        *,
        systems: int,
        strata: ArrayLike | None,
        design: Design,
        support: Sequence[float] | None,
        probabilities: ArrayLike | None,
        level: IntervalLevel,
        bounds: tuple[float, float],
    ) -> _Data:
        if design not in get_args(Design):
            raise InvalidInputError(f"design is {design!r}. {did_you_mean(design, get_args(Design))}")
        scores, labels = _table("judged", judged, systems), _table("human", human, systems)
        if len(scores) != len(labels):
            raise InvalidInputError(f"judged has {len(scores)} rows and human {len(labels)}; give the same rows")
        said = None if strata is None else _checked_strata(strata, scores)
        level.labels(len(scores))
        if not np.isnan(labels).any():
            design = "random"  # of rows that are all labelled none was chosen
        within = (min(support), max(support)) if support is not None and len(set(support)) > 1 else bounds
        _check_labels(labels, support, within)
        if design == "by_verdict" and said is None and len(np.unique(scores[~np.isnan(scores)])) > MOST_LEVELS:
            raise InvalidInputError(
                f"design is 'by_verdict', but the judge gave more than {MOST_LEVELS} different scores; give the strata "
                "that rows were chosen by in strata, or the probability of each row and design 'probabilities'"
            )
        weights = _weights(design, scores, labels, said, probabilities)
        return cls(
            judged=scores,
            human=labels,
            strata=said,
            design=design,
            weights=weights,
            two_values=support is not None and len(set(support)) == 2,
            support=None if support is None else tuple(sorted(set(support))),
            bounds=within,
            score_bounds=bounds,
            level=level,
        )

    @property
    def labelled(self) -> BoolArray:
        """(n_rows, systems)."""
        return np.asarray(~np.isnan(self.human))

    @property
    def sign_bounds(self) -> tuple[float, float]:
        low, high = self.bounds
        return (low, high) if self.human.shape[1] == 1 else (low - high, high - low)

    def correction(self, *, seed: int, resamples: int) -> Correction:
        judge, unscored = self.judge()
        rows = np.asarray(self.labelled.any(axis=1))
        labels = self.labels_alone(seed=seed, resamples=resamples)
        found: _Corrected
        if isinstance(labels, Missing):
            found = labels, "none", ()
        else:
            found = self.corrected(labels, seed=seed, resamples=resamples)
        corrected, method, notes = found
        return Correction(
            judge=judge,
            labels=labels,
            corrected=corrected,
            num_rows=len(rows),
            num_labelled=int(rows.sum()),
            num_unscored=unscored,
            labels_saved=self.labels_saved(labels, corrected),
            worth=self.worth() if method == STRATIFIED and self.human.shape[1] == 1 else None,
            method=method,
            notes=(*notes, *self.doubts()),
        )

    def judge(self) -> tuple[Interval | Missing, int]:
        signs = np.array([1.0, -1.0])[: self.judged.shape[1]]
        scores = self.judged @ signs
        low, high = self.score_bounds
        bounds = (low, high) if len(signs) == 1 else (low - high, high - low)
        (found,) = mean_intervals(scores, level=self.level, bounds=bounds)
        return found or Missing("the judge scored no row"), int(np.isnan(scores).sum())

    def labels_alone(self, *, seed: int, resamples: int) -> Interval | Missing:
        labelled = self.labelled
        if not labelled.any(axis=0).all():
            return Missing("no row is labelled" if not labelled.any() else "no row is labelled for one of the systems")
        if self.human.shape[1] == 2 and (labelled[:, 0] != labelled[:, 1]).any():
            return self.drawn([np.zeros(len(self.human), dtype=np.int64)] * 2, seed=seed, resamples=resamples)
        chosen = labelled[:, 0]
        values = self.human[chosen, 0] if self.human.shape[1] == 1 else self.human[chosen, 0] - self.human[chosen, 1]
        weights = self.weights[chosen, 0]
        (found,) = ratio_intervals(values * weights, weights, level=self.level.only(chosen), bounds=self.sign_bounds)
        return found or Missing("no row is labelled")

    def drawn(self, strata: Sequence[IntArray], *, seed: int, resamples: int) -> Interval:
        low, high = self.bounds
        width = high - low
        scaled = np.where(self.labelled, (self.human - low) / width, 0.0)
        arms = [
            Arm(strata[system], scaled[:, system], self.weights[:, system], 1 - 2 * system)
            for system in range(self.human.shape[1])
        ]
        found = post_stratified(
            arms,
            level=self.level,
            two_values=self.two_values and len(arms) == 1,
            resamples=resamples,
            seed=seed,
        )
        rows = np.asarray(self.labelled.any(axis=1))
        n = len(np.unique(self.level.labels(len(rows))[rows]))
        interval = Interval(
            found.estimate,
            found.low,
            found.high,
            self.level,
            "post_stratified_dirichlet",
            n,
            resamples,
            seed,
            found.standard_error,
        )
        return interval.on_scale(low if len(arms) == 1 else 0.0, width)

    def corrected(self, labels: Interval, *, seed: int, resamples: int) -> _Corrected:
        if self.labelled.all():
            return labels, "labels alone", ("every row is labelled: the corrected score is that of the labels",)
        strata, notes = self.strata_of_arms()
        if all(not column.any() for column in strata):
            return labels, "labels alone", notes
        return self.drawn(strata, seed=seed, resamples=resamples), STRATIFIED, notes

    def said(self, system: int) -> IntArray | None:
        """What the judge said of a system, or of the rows."""
        return None if self.strata is None else self.strata[:, min(system, self.strata.shape[1] - 1)]

    def strata_of_arms(self) -> tuple[list[IntArray], tuple[str, ...]]:
        """One array per system; the same for both where most labelled rows are labelled for both."""
        labelled = self.labelled
        rows = np.asarray(labelled.any(axis=1))
        if self.human.shape[1] == 2 and labelled.all(axis=1).sum() * 2 >= rows.sum():
            said = self.said(0) if self.strata is not None and self.strata.shape[1] == 1 else None
            merged, notes = self.merged(self.judged[:, 0] - self.judged[:, 1], said, rows)
            return [merged, merged], notes
        systems = range(self.human.shape[1])
        found = [self.merged(self.judged[:, each], self.said(each), labelled[:, each]) for each in systems]
        return [merged for merged, _ in found], tuple(dict.fromkeys(note for _, notes in found for note in notes))

    def merged(
        self, judged: FloatArray, said: IntArray | None, labelled: BoolArray
    ) -> tuple[IntArray, tuple[str, ...]]:
        """Strata from the lowest score to the highest, the unscored first, thin ones joined with those beside them.

        A stratum that nobody labelled although labels were chosen by stratum is not joined: nothing is known of it.
        """
        clusters = len(np.unique(self.level.labels(len(judged))[labelled]))
        most = 1 + clusters // LABELS_PER_STRATUM
        codes = ordered_strata(judged, said, most)
        labels = np.bincount(codes[labelled], minlength=int(codes.max()) + 1)
        if len(labels) == 1:
            return codes, ("the judge said the same of every row: the corrected score is that of the labels",)
        kept = (labels > 0) | (self.design != "by_verdict")
        joined = joined_strata(labels[kept], most, FEWEST_LABELS[self.two_values])
        groups = np.full(len(labels), joined.max() + 1)
        groups[kept] = joined
        notes = []
        if len(np.unique(joined)) < len(joined):
            few = "1 label is" if labelled.sum() == 1 else f"{int(labelled.sum())} labels are"
            left = joined.max() + 1
            notes.append(f"{few} too few for {len(joined)} strata by what the judge said; these were joined to {left}")
        if not kept.all():
            share = format_percent(float((~kept[codes]).mean()))
            notes.append(f"nobody labelled a row of some strata, {share} of all rows: these could have any score")
        return groups[codes], tuple(notes)

    def labels_saved(self, labels: Interval | Missing, corrected: Interval | Missing) -> float | Missing:
        if isinstance(labels, Missing):
            return labels
        if isinstance(corrected, Missing):
            return corrected
        if corrected is labels or corrected.high <= corrected.low:
            return 0.0
        n = int(self.labelled.any(axis=1).sum())
        width = labels.high - labels.low
        if self.design != "random" and self.human.shape[1] == 1:
            chosen, weights = self.labelled[:, 0], self.weights[self.labelled[:, 0], 0]
            values = self.human[chosen, 0]
            spread = float(np.sqrt(np.average((values - labels.estimate) ** 2, weights=weights)))
            alike = float(2 * stats.norm.ppf((1 + self.level) / 2) * spread / np.sqrt(n))
            width = alike or width
        return float(n * ((width / (corrected.high - corrected.low)) ** 2 - 1))

    def worth(self) -> Worth | None:
        r"""What the labels show of the judge's worth: that it is worth some, or less than a tenth of them, or neither.

        It is worth some where a score test, over clusters, rejects that people score all strata alike: only then is the
        variance of the corrected score that of the labels alone. It is worth nothing where no strata were joined, and
        the upper limit of log(variance of the labels alone / variance of the corrected score) is below log(1.1): the
        variances are sums of squares over clusters, and the limit is Student's, from the differences of the clusters'
        shares in both sums, or where it is larger the one on the scale of the root, whose standard error is
        :math:`1/\sqrt n` where strata are alike too.

        Simulated (18 judges, 30 to 300 labels, 200 data sets each): of judges that say yes at random "more" is said in
        1 to 9 %; of judges that are right in 99 % "nothing" never.
        """
        (strata, *_), notes = self.strata_of_arms()
        weights, labels, size = self.weights[:, 0], self.level.labels(len(strata)), int(strata.max()) + 1
        values = np.where(self.labelled[:, 0], self.human[:, 0], 0.0)
        apart = weights * (values - weights @ values / weights.sum()) / weights.sum()
        sums, rows = np.bincount(strata, weights, size), np.bincount(strata, minlength=size)
        inside = (strata[:, None] == np.arange(size)) - sums / sums.sum()
        scores = cluster_sums(inside * apart[:, None], labels)
        total = scores.sum(axis=0)
        statistic = float(total @ np.linalg.pinv(scores.T @ scores, hermitian=True) @ total)
        if stats.chi2.sf(statistic, size - 1) < 1 - self.level:
            return "more"
        chosen = weights > 0
        n = len(np.unique(labels[chosen]))
        if notes or not (sums > 0).all() or _effective(values[chosen], weights[chosen]) < FEWEST_ON_A_SIDE:
            return None
        means, frequency = np.bincount(strata, weights * values, size) / sums, rows / len(strata)
        beyond = (means - frequency @ means)[strata] / len(strata)
        beyond += (frequency / sums)[strata] * weights * (values - means[strata])
        if self.design == "random":
            alone = cluster_sums(apart, labels) ** 2
        else:  # beside as many labels drawn at random
            alone = cluster_sums(apart**2 / np.where(weights > 0, weights, 1.0) * weights.sum() / n, labels)
        both = cluster_sums(beyond, labels) ** 2
        gain, t = np.log(alone.sum() / both.sum()), stats.t.ppf((1 + self.level) / 2, max(n - 1, 1))
        error = np.sqrt(((alone / alone.sum() - both / both.sum()) ** 2).sum())
        most = max(gain + t * error, (np.sqrt(max(gain, 0.0)) + t / np.sqrt(n)) ** 2)
        return "nothing" if most < np.log1p(SMALL_WORTH) else None

    def doubts(self) -> tuple[str, ...]:
        """Whether labels of unequal probabilities are worth too few."""
        unequal = [
            _effective(self.human[chosen, system], weights)
            for system, chosen in enumerate(self.labelled.T)
            if (weights := self.weights[chosen, system]).size and weights.max() > weights.min() * (1 + 1e-9)
        ]
        least = min(unequal, default=np.inf)
        if least >= FEWEST_EFFECTIVE:
            return ()
        note = (
            "the labels stand for different numbers of rows, and those on the rarer side of the mean are worth only "
            f"{format_number(least, digits=1)} equal ones: below {format_number(FEWEST_EFFECTIVE, digits=0)} the "
            "interval may be too narrow; label more of the rows that are seldom labelled"
        )
        return (note,)


def _effective(values: FloatArray, weights: FloatArray) -> float:
    """Kish's effective number of labels above the mean, or below it, where it is less."""
    apart = weights * (values - np.average(values, weights=weights))
    sides = (np.maximum(apart, 0.0), np.maximum(-apart, 0.0))
    return min(float(side.sum() ** 2 / (side**2).sum()) if side.any() else 0.0 for side in sides)


def _table(name: str, values: ArrayLike, systems: int) -> FloatArray:
    table = np.asarray(values, dtype=float)
    if systems == 1 and table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or table.shape[1] != systems or not len(table):
        wanted = "(n_rows,)" if systems == 1 else "(n_rows, 2)"
        raise InvalidInputError(f"{name} has the shape {np.shape(values)!r}; give {wanted}, with at least one row")
    if np.isinf(table).any():
        raise InvalidInputError(f"{name} contains an infinite value; give numbers, and NaN for what is missing")
    return table


def _checked_strata(strata: ArrayLike, judged: FloatArray) -> IntArray:
    said = np.asarray(strata)
    said = said[:, None] if said.ndim == 1 else said
    if said.ndim != 2 or len(said) != len(judged) or said.shape[1] > judged.shape[1] or said.dtype.kind not in "iub":
        raise InvalidInputError(
            f"strata has the shape {np.shape(strata)!r} and the type {said.dtype!s} for {len(judged)} rows; "
            "give one integer per row, -1 where the judge gave no score"
        )
    return said.astype(np.int64)


def _check_labels(human: FloatArray, support: Sequence[float] | None, bounds: tuple[float, float]) -> None:
    given = human[~np.isnan(human)]
    low, high = bounds
    slack = 1e-9 * (high - low)
    if support is not None:
        strange = given[(np.abs(given[:, None] - np.asarray(support, dtype=float)) > slack).all(axis=1)]
        accepted = ", ".join(map(repr, support))
    else:
        strange, accepted = given[(given < low - slack) | (given > high + slack)], f"from {low!r} to {high!r}"
    if strange.size:
        raise InvalidInputError(f"a label of people is {float(strange[0])!r}. Accepted: {accepted}")


def _weights(
    design: Design, judged: FloatArray, human: FloatArray, strata: IntArray | None, probabilities: ArrayLike | None
) -> FloatArray:
    """How many rows a labelled row stands for; 0 where a row is not labelled."""
    labelled = ~np.isnan(human)
    if design == "probabilities":
        if probabilities is None:
            raise InvalidInputError("design is 'probabilities', but there are none; give one per row in probabilities")
        chance = np.asarray(probabilities, dtype=float).reshape(len(human), -1) * np.ones(human.shape)
        bad = labelled & ~((chance > 0) & (chance <= 1))
        if bad.any():
            row = int(np.argwhere(bad)[0][0])
            raise InvalidInputError(
                f"row {row} has the probability {float(chance[bad][0])!r} of being labelled; give (0, 1]"
            )
        return np.where(labelled, 1 / np.where(labelled, chance, 1.0), 0.0)
    if design != "by_verdict":
        return labelled.astype(float)
    weights = np.zeros(human.shape)
    for system in range(human.shape[1]):
        column = None if strata is None else strata[:, min(system, strata.shape[1] - 1)]
        codes = ordered_strata(judged[:, system], column, MOST_LEVELS)
        rows, chosen = np.bincount(codes), np.bincount(codes[labelled[:, system]], minlength=int(codes.max()) + 1)
        weights[:, system] = np.where(labelled[:, system], rows[codes] / np.maximum(chosen[codes], 1), 0.0)
    return weights

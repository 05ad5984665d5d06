r"""The score that people would give, from the judge's scores of all rows and people's labels of some.

The target is the mean of human scores over the population that the rows are a sample of, as of every other interval
here. Rows are divided into strata by the verdicts. All rows show how frequent a stratum is, its labelled rows
what people say of a row in it; the corrected score is :math:`\sum_h W_h \bar y_h`. Nothing is assumed of the judge but
that it judged the labelled rows as it judged the others: an uninformative one costs next to nothing, an informative one
makes the interval narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing, format_number, format_percent, measure
from evenhand.options import Design
from evenhand.statistics.intervals import (
    BoolArray,
    FloatArray,
    IntArray,
    Interval,
    IntervalLevel,
    Level,
    cluster_sums,
    mean_intervals,
    ratio_intervals,
)

LABELS_PER_STRATUM = 15
"""Labels for each further stratum, so that an uninformative judge costs no width."""

MOST_LEVELS = 20
"""Judges' scores with more different values are cut at their quantiles."""

TWO_VALUES, UNEQUAL, MORE_VALUES = (0.5, 0.3), (0.65, 0.35), (0.3, 0.08)
"""The weights of labels that were not seen, at the bound whose limit is looked for and at the other one.

With two values each stratum gets them: a little less than Jeffreys' prior, which costs width and holds no more, and a
little more where rows have probabilities of their own, so that strata of one or two labels are not joined. With
more values all strata together do, by their frequencies.
"""

FEWEST_LABELS = {True: 3, False: 5}
"""In a stratum, for labels with two values and with more; a stratum with fewer is joined with a neighbour.

Not where rows have probabilities of their own: labels of joined strata would stand for different numbers of rows, and
the few that stand for many decide. Simulated where the judge's rare verdict is drawn an eighth as often (36 cells of
200 data sets: 5 to 35 % of labels are rare, 40 to 200 labels, judges right in 70 to 95 %), nominal 95 % intervals held
the truth in 96.6 % on average and 90.0 % in the worst cell; with joined strata in 89 % and 63 %
(``python -m benchmarks.correction --only rare``).
"""

FEWEST_EFFECTIVE = 5.0
"""Labels above, and below, the mean that those of unequal probabilities must at least be worth without a judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A score three times: as the judge gives it, from the labels alone, and corrected by the labels.

    Attributes:
        judge: The mean of the judge's own scores, over the rows that it scored: an interval of the judge.
        labels: The mean of the labels alone, weighted by the design.
        corrected: The estimate of people's score, over all rows.
        num_rows: All rows.
        num_labelled: Rows that people labelled.
        num_unscored: Rows that the judge did not score: a stratum of their own.
        labels_saved: How many more random labels the labels alone would need for an interval as narrow as the
            corrected one.
        informative: Whether a test shows that the judge is worth labels: that people score its strata differently.
        method: The method of the corrected score.
        notes: Notes for the reader, in plain sentences.
    """

    judge: Interval | Missing = measure("score", name="by_judge")
    labels: Interval | Missing = measure("score", name="by_labels")
    corrected: Interval | Missing = measure("score", always=True)
    num_rows: int = measure("count")
    num_labelled: int = measure("count")
    num_unscored: int = measure("count")
    labels_saved: float | Missing = measure("count")
    informative: bool
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
    bounds: tuple[float, float] = (0.0, 1.0),
    level: Level = 0.95,
) -> Correction:
    """Compute the mean that people would give, from a judge of all rows and labels of some.

    Of two columns, the first system's mean less the second's, paired over rows, with strata of their own. A row may be
    labelled for both systems or for one.

    Strata are the verdicts, the unscored one of them; scores of more than 20 values are cut at their quantiles.
    There is one stratum, and one more for every 15 labelled clusters; those with fewer than 3 labels (5, where labels
    have more than two values) are joined with a neighbour, so that an uninformative judge costs no width. With one
    stratum left, the labels alone are the corrected score.

    How often a nominal 95 % interval held the mean of the population (``python -m benchmarks.correction``): 0/1 scores
    .963 on average and .920 or more in 48 cells of 200 data sets, with 30 to 200 labels of 500 or 5,000 rows; five
    levels .960 and .930; paired differences .954 and .935. It is as wide as that of the labels alone for a worthless
    judge, and half as wide for a near perfect one.

    Args:
        judged: (n_rows,) or (n_rows, 2) the judge's scores; NaN where it gave none.
        human: The same shape: people's scores, within the bounds and of the support; NaN where a row was not labelled.
        strata: (n_rows,) or the same shape: the verdicts, as integers, such as the place of the option; -1 where
            it gave no score. Formed from ``judged`` if None.
        design: How the labelled rows were chosen: ``random``; ``by_verdict``, a number of each stratum at random;
            ``probabilities``, each row with its own probability.
        support: The values that a label can have; None for any number within the bounds.
        probabilities: (n_rows,) or the same shape: of being labelled, in (0, 1], for ``probabilities``.
        bounds: The least and greatest score.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters: rows of one cluster are sampled together.

    Raises:
        InvalidInputError: Scores of more than 20 values without strata for ``by_verdict``.

    Sources: Holt and Smith (1979), "Post stratification", Journal of the Royal Statistical Society A 142; Rubin (1981),
    "The Bayesian bootstrap"; Angelopoulos, Duchi and Zrnic (2023), arXiv:2311.01453 (PPI++, the same estimate for 0/1
    scores and many labels).

    Of 100 rows the judge calls 70 good. People say 9 of 10 of these are, and 2 of 10 of the others: .7 · .9 + .3 · .2.

    >>> judged = [1.0] * 70 + [0.0] * 30
    >>> human = [1.0] * 9 + [0.0] + [np.nan] * 60 + [1.0] * 2 + [0.0] * 8 + [np.nan] * 20
    >>> found = corrected_mean(judged, human, design="by_verdict", support=(0, 1))
    >>> round(found.judge.estimate, 2), round(found.corrected.estimate, 2), found.method
    (0.7, 0.69, 'post-stratified')
    """
    scores, human = (np.atleast_2d(np.asarray(each, dtype=float).T).T for each in (judged, human))
    values = sorted(set(support or ()))
    within = (values[0], values[-1]) if len(values) > 1 else bounds
    given = None if strata is None else np.atleast_2d(np.asarray(strata).T).T
    design = design if np.isnan(human).any() else "random"  # all rows are labelled, so none was drawn
    over = IntervalLevel.of(level)
    weights = _weights(design, scores, human, given, probabilities)
    data = _Data(scores, human, given, design, weights, len(values) == 2, within, over)
    (low, high), rows, both = bounds, np.asarray(data.labelled.any(axis=1)), scores.shape[1] == 2
    lead = scores[:, 0] - scores[:, 1] if both else scores[:, 0]
    (judge,) = mean_intervals(lead, level=over, bounds=(low - high, high - low) if both else bounds)
    labels, informative, saved, notes = data.labels_alone(), False, 0.0, tuple[str, ...]()
    corrected, codes = labels, np.zeros(len(rows), dtype=np.int64)
    method = "none" if isinstance(labels, Missing) else "labels alone"
    if data.labelled.all():
        notes = ("every row is labelled: the corrected score is that of the labels",)
    elif not isinstance(labels, Missing):
        merged = [data.merged(system) for system in range(1 + both)]
        notes = tuple(dict.fromkeys(note for _, own in merged for note in own))
        if any(each.any() for each, _ in merged):
            codes, corrected = merged[0][0], data.post_stratified([each for each, _ in merged])
            saved, method = data.labels_saved(labels, corrected), "post-stratified"
            informative = not both and _strata_differ(data, codes)
    chosen = weights[:, 0] > 0
    uneven = (np.ptp(weights[chosen & (codes == code), 0]) > 1e-9 for code in np.unique(codes[chosen]))
    if any(uneven) and not both and (few := _effective(human[chosen, 0], weights[chosen, 0])) < FEWEST_EFFECTIVE:
        note = "labels of one verdict stand for different numbers of rows, and the rarer ones are worth"
        more = "equal ones: the interval may be too narrow; label more rows"
        notes = (*notes, f"{note} {format_number(few, digits=1)} {more}")
    return Correction(
        judge=judge or Missing("the judge scored no row"),
        labels=labels,
        corrected=corrected,
        num_rows=len(rows),
        num_labelled=int(rows.sum()),
        num_unscored=int(np.isnan(lead).sum()),
        labels_saved=labels if isinstance(labels, Missing) else saved,
        informative=informative,
        method=method,
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class _Data:
    """Checked input; columns are systems, one or two."""

    judged: FloatArray
    human: FloatArray
    given: IntArray | None
    design: Design
    weights: FloatArray
    two_values: bool
    bounds: tuple[float, float]
    level: IntervalLevel

    @property
    def labelled(self) -> BoolArray:
        """Whether each cell is labelled, shape (n_rows, systems)."""
        return np.asarray(~np.isnan(self.human))

    def labels_alone(self) -> Interval | Missing:
        labelled, (low, high) = self.labelled, self.bounds
        if not labelled.any(axis=0).all():
            return Missing("no row is labelled for one of the systems" if labelled.any() else "no row is labelled")
        if (labelled[:, 0] != labelled[:, -1]).any():
            return self.post_stratified([np.zeros(len(labelled), dtype=np.int64)] * 2)
        chosen, pair = labelled[:, 0], self.human.shape[1] == 2
        values = self.human[chosen, 0] - self.human[chosen, 1] if pair else self.human[chosen, 0]
        weights, bounds = self.weights[chosen, 0], (low - high, high - low) if pair else self.bounds
        (found,) = ratio_intervals(values * weights, weights, level=self.level.only(chosen), bounds=bounds)
        return found or Missing("no row is labelled")

    def merged(self, system: int) -> tuple[IntArray, tuple[str, ...]]:
        """Return strata from the lowest score to the highest, the unscored first, thin ones joined with a neighbour.

        A stratum without labels is not joined, unless rows were drawn at random: nothing is known of it.
        """
        labelled = self.labelled[:, system]
        most = 1 + len(np.unique(self.level.labels(len(labelled))[labelled])) // LABELS_PER_STRATUM
        codes = ordered_strata(self.judged, self.given, system, most)
        labels = np.bincount(codes[labelled], minlength=int(codes.max()) + 1)
        if len(labels) == 1:
            return codes, ("the judge said the same of every row: the corrected score is that of the labels",)
        kept = (labels > 0) | (self.design == "random")
        alike = self.design != "probabilities"
        joined = joined_strata(
            labels[kept], most if alike else max(most, 2), FEWEST_LABELS[self.two_values] if alike else 0
        )
        left = int(joined.max()) + 1
        groups, notes = np.full(len(labels), left), []
        groups[kept] = joined
        if left < len(joined):
            few = "1 label is" if labelled.sum() == 1 else f"{int(labelled.sum())} labels are"
            notes.append(f"{few} too few for {len(joined)} strata by what the judge said; these were joined to {left}")
        if not kept.all():
            share = format_percent(float((~kept[codes]).mean()))
            notes.append(f"no row of some strata is labelled, {share} of all rows: these could have any score")
        return groups[codes], tuple(notes)

    def post_stratified(self, strata: Sequence[IntArray]) -> Interval:
        r"""Return the corrected mean, or the difference of two, with its limits.

        A row enters the frequency of its stratum and, if it is labelled, the mean of its stratum. To each stratum
        labels that were not seen are added at either bound (`TWO_VALUES`, `MORE_VALUES`); in a stratum without a label
        they are all there is, and it lies at the bound whose limit is looked for. Limits are quantiles of the Beta
        distribution with the mean and the variance, linearised over the clusters, of the sum that results, as in
        `evenhand.statistics.intervals.ratio_intervals`. With n labelled clusters in K strata the normal quantile is
        :math:`\sqrt{(n + K) / (n - K)}` times as large, but for labels of two values that do not depend on each other.
        """
        (low, high), systems, labels = self.bounds, len(strata), self.level.labels(len(self.human))
        score, two_values = float(stats.norm.ppf((1 + self.level.level) / 2)), self.two_values and systems == 1
        n, most = len(np.unique(labels[self.labelled.any(axis=1)])), max(int(each.max()) + 1 for each in strata)
        if not two_values or self.level.clusters is not None:
            score *= float(np.sqrt((n + most) / max(n - most, 1)))
        tail, least = float(stats.norm.sf(score)), 1.0 - systems
        middle, variance = self._moments(strata, labels, 0, two_values=two_values)
        limits = [estimate := min(max(middle, least), 1.0)]
        for towards, probability in ((-1, tail), (1, 1 - tail)):
            mean, spread = self._moments(strata, labels, towards, two_values=two_values)
            place = (mean - least) / systems
            shape = max(place * (1 - place) * systems**2 / max(spread, 1e-300) - 1, 1e-6)
            limits.append(least + systems * float(stats.beta.ppf(probability, place * shape, (1 - place) * shape)))
        k = int(labels.max()) + 1
        error = float(np.sqrt(k / (k - 1) * variance)) if k > 1 and variance > 1e-18 else None
        found = Interval(
            estimate, min(limits), max(limits), self.level.level, "post_stratified_beta", n, standard_error=error
        )
        return found.on_scale(low if systems == 1 else 0.0, high - low)

    def _moments(
        self, strata: Sequence[IntArray], labels: IntArray, towards: int, *, two_values: bool
    ) -> tuple[float, float]:
        """Compute the mean and its variance, labels from 0 to 1, for one side's limit; side 0 is the estimate."""
        low, high = self.bounds
        mean, influences, unseen = 0.0, np.zeros(len(labels)), []
        for system, codes in enumerate(strata):
            sign, weights = 1 - 2 * system, self.weights[:, system]
            values = np.where(weights > 0, (self.human[:, system] - low) / (high - low), 0.0)
            share, weight, squares, seen = (
                np.bincount(codes, each, int(codes.max()) + 1)
                for each in (np.full(len(codes), 1 / len(codes)), weights, weights**2, weights * values)
            )
            shapes = (0.0, 0.0)
            if towards and two_values:
                shapes = UNEQUAL if self.design == "probabilities" else TWO_VALUES
            elif towards:
                shapes = MORE_VALUES
            near, far = (each * (np.ones(len(share)) if two_values else share) for each in shapes)
            unit = self._unit(codes, weights, labels)
            bound, total = float(towards * sign > 0), weight + unit * (near + far)
            known, otherwise = np.where(total > 0, total, 1.0), bound if towards else seen.sum() / weight.sum()
            means = np.where(total > 0, (seen + unit * (near * bound + far * (1 - bound))) / known, otherwise)
            size = weight**2 / np.where(squares > 0, squares, 1.0) + near + far
            lever = sign * share / known * (np.sqrt(size / (size + 1)) if towards else 1.0)
            influences += sign * (means[codes] - share @ means) / len(codes)
            influences += lever[codes] * weights * (values - means[codes])
            apart = np.sqrt([near, far]) * (np.array([[bound], [1 - bound]]) - means)
            unseen.append(lever * unit * apart)
            mean += sign * float(share @ means)
        variance = (cluster_sums(influences, labels) ** 2).sum() + sum((each**2).sum() for each in unseen)
        return mean, float(variance)

    def _unit(self, codes: IntArray, weights: FloatArray, labels: IntArray) -> FloatArray:
        """Compute the weight of one label that was not seen in each stratum, 0 where none was seen.

        Of a cluster the size-biased mean of those seen. Of a row the greatest: where rows stand for different numbers
        of others, those that are missing may be the ones that stand for many.
        """
        inside = (codes[:, None] == np.arange(int(codes.max()) + 1)) * weights[:, None]
        if self.level.clusters is None:
            return np.asarray(inside.max(axis=0))
        sums = cluster_sums(inside, labels)
        return np.asarray((sums**2).sum(axis=0) / np.maximum(sums.sum(axis=0), 1e-12))

    def labels_saved(self, labels: Interval, corrected: Interval) -> float:
        n, width = int(self.labelled.any(axis=1).sum()), labels.high - labels.low
        if self.design != "random" and self.human.shape[1] == 1:
            chosen = self.labelled[:, 0]
            squares = np.average((self.human[chosen, 0] - labels.estimate) ** 2, weights=self.weights[chosen, 0])
            width = float(2 * stats.norm.ppf((1 + self.level.level) / 2) * np.sqrt(squares / n)) or width
        return labels_saved(replace(labels, low=0.0, high=width), corrected, n)


def labels_saved(labels: Interval, corrected: Interval, num_labelled: int) -> float:
    """Return how many more labels would make the interval of the labels alone as narrow as the corrected one.

    The width of an interval goes with 1/√n: n · ((width of the labels alone / width of the corrected)² - 1).
    """
    narrow = corrected.high - corrected.low
    return num_labelled * (((labels.high - labels.low) / narrow) ** 2 - 1) if narrow > 0 else 0.0


def _strata_differ(data: _Data, strata: IntArray) -> bool:
    """Return whether a score test, over clusters, rejects that people score all strata alike.

    Only then is the variance of the corrected score that of the labels alone. Simulated (18 judges, 30 to 300 labels,
    200 data sets each): it rejects in 1 to 9 % for judges that say yes at random.
    """
    weights, labels, size = data.weights[:, 0], data.level.labels(len(strata)), int(strata.max()) + 1
    values = np.where(weights > 0, data.human[:, 0], 0.0)
    apart = weights * (values - weights @ values / weights.sum()) / weights.sum()
    sums = np.bincount(strata, weights, size)
    scores = cluster_sums(((strata[:, None] == np.arange(size)) - sums / sums.sum()) * apart[:, None], labels)
    total = scores.sum(axis=0)
    statistic = total @ np.linalg.pinv(scores.T @ scores, hermitian=True) @ total
    return bool(stats.chi2.sf(statistic, size - 1) < 1 - data.level.level)


def _effective(values: FloatArray, weights: FloatArray) -> float:
    """Return Kish's effective number of labels above or below the mean, the smaller of the two."""
    apart = weights * (values - np.average(values, weights=weights))
    sides = (np.maximum(apart, 0.0), np.maximum(-apart, 0.0))
    return min(float(side.sum() ** 2 / (side**2).sum()) if side.any() else 0.0 for side in sides)


def _weights(
    design: Design, judged: FloatArray, human: FloatArray, given: IntArray | None, probabilities: ArrayLike | None
) -> FloatArray:
    """Return how many rows a labelled row stands for; 0 where a row is not labelled."""
    labelled = ~np.isnan(human)
    if design == "random":
        return labelled.astype(float)
    chance = np.ones(human.shape)
    if design == "probabilities":
        chance *= np.asarray(probabilities, dtype=float).reshape(len(human), -1)
    elif given is None and len(np.unique(judged[~np.isnan(judged)])) > MOST_LEVELS:
        raise InvalidInputError(
            f"design is 'by_verdict', but the judge gave more than {MOST_LEVELS} different scores; give the strata "
            "that rows were chosen by in strata, or the probability of each row and design 'probabilities'"
        )
    else:
        for system, chosen in enumerate(labelled.T):
            codes = ordered_strata(judged, given, system, MOST_LEVELS)
            chance[:, system] = (np.bincount(codes, chosen) / np.bincount(codes))[codes]
    return np.divide(1.0, chance, out=np.zeros(human.shape), where=labelled)


def ordered_strata(scores: FloatArray, given: IntArray | None, system: int, most: int) -> IntArray:
    """Number strata from 0 by the judge's score, the unscored first; cut more than a few values at quantiles.

    Args:
        scores: (n_rows, systems); NaN where there is none.
        given: (n_rows, systems or 1) the verdicts; each is a stratum, in the order of its mean score. None for the
            scores.
        system: The system whose strata these are.
        most: How many strata scores are cut into, that have more than `MOST_LEVELS` values.
    """
    judged = scores[:, system]
    if given is not None:
        places, codes = np.unique(given[:, min(system, given.shape[1] - 1)], return_inverse=True)
        scored = ~np.isnan(judged)
        sums = np.bincount(codes[scored], judged[scored], len(places))
        counts = np.bincount(codes[scored], minlength=len(places))
        means = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
        rank: IntArray = np.argsort(np.lexsort((places, means)))
        return rank[codes]
    missing = np.isnan(judged)
    values, codes = np.unique(np.round(judged[~missing], 12), return_inverse=True)
    if len(values) > MOST_LEVELS:
        cuts = np.quantile(judged[~missing], np.arange(1, max(most, 1)) / max(most, 1))
        codes = np.unique(np.searchsorted(np.unique(cuts), judged[~missing], side="left"), return_inverse=True)[1]
    found = np.zeros(len(judged), dtype=np.int64)
    found[~missing] = codes + int(missing.any())
    return found


def joined_strata(labels: IntArray | FloatArray, most: int, fewest: int) -> IntArray:
    """Join strata, in order: the thinnest with its thinner neighbour; return the group of each.

    Args:
        labels: (n_strata,) how many labels each has.
        most: The largest number of strata.
        fewest: How many labels each has then, unless there is one stratum only.

    >>> joined_strata(np.array([9, 1, 4, 8]), 3, 5).tolist()
    [0, 1, 1, 2]
    """
    sizes, counts = [1] * len(labels), labels.tolist()
    while len(sizes) > 1 and (len(sizes) > most or min(counts) < fewest):
        thin = counts.index(min(counts))
        neighbour = min((place for place in (thin - 1, thin + 1) if 0 <= place < len(counts)), key=counts.__getitem__)
        first, second = sorted((thin, neighbour))
        sizes[first] += sizes.pop(second)
        counts[first] += counts.pop(second)
    return np.repeat(np.arange(len(sizes)), sizes)


_PERMUTATIONS = 9999


def draw_p_value(strata: ArrayLike, labelled: ArrayLike, *, seed: int = 0) -> float:
    r"""Compute the p-value of "the labelled rows are a simple random draw" by the verdicts of the judge.

    The statistic is :math:`\chi^2 = \sum_h (n_h - n N_h / N)^2 / (n N_h / N)`, with :math:`n_h` labelled of the
    :math:`N_h` rows of stratum h; its distribution is that of multivariate hypergeometric draws, so that few labels and
    rare verdicts are no trouble. p = (1 + draws at least as far) / (1 + draws).

    Args:
        strata: (n_rows,), whole numbers.
        labelled: (n_rows,), booleans.
        seed: The seed of the draws.

    >>> verdicts = [0] * 50 + [1] * 50
    >>> draw_p_value(verdicts, [True] * 20 + [False] * 80)  # all 20 labels are of one verdict
    0.0001
    >>> draw_p_value(verdicts, ([True] * 10 + [False] * 40) * 2)  # 10 of each, the likeliest draw
    1.0
    """
    _, places = np.unique(np.asarray(strata), return_inverse=True)
    drawn = np.asarray(labelled, dtype=bool)
    sizes: IntArray = np.bincount(places)
    n = int(drawn.sum())
    if n in {0, len(drawn)} or len(sizes) == 1:
        return 1.0
    expected = n * sizes / len(drawn)
    observed = np.bincount(places[drawn], minlength=len(sizes))
    draws = np.random.default_rng(seed).multivariate_hypergeometric(sizes, n, size=_PERMUTATIONS, method="marginals")
    far = ((draws - expected) ** 2 / expected).sum(axis=1) >= ((observed - expected) ** 2 / expected).sum() - 1e-9
    return float((1 + far.sum()) / (1 + _PERMUTATIONS))

"""Inference on a mean at any time: bets on scores that may be inspected after each score.

A fixed interval holds for the sample that it was planned for. Looked at again and again, it sooner or later misses:
what holds at all looks together is a confidence sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from scipy.special import logsumexp

FloatArray = NDArray[np.float64]

CELLS: Final = 240
"""The steps between 0 and 1 on which scores are counted; halves, thirds, fifths, eighths and tenths are among them."""

STAKES: Final[FloatArray] = np.geomspace(1e-5, 0.99, 64)
"""Shares of the highest stake on a score, all below 1, so that no gambler loses all capital."""


def _prior() -> FloatArray:
    likely = 1 / (1 + (np.log(STAKES / 0.16) / 0.3) ** 2)
    spread: FloatArray = np.log(0.9 * likely / likely.sum() + 0.1 * STAKES / STAKES.sum())
    return spread


LOG_PRIOR: Final[FloatArray] = _prior()
"""The log shares of capital on the stakes: nine tenths by Cauchy's density of their logarithms, one tenth evenly.

Against one half the stake c wins fastest where the mean stands 2c times the variance from it, c/2 without ties. So most
of the capital is on differences that some hundreds of scores can show, and some on all others: the tenth for means near
0 or 1, the tails for differences that take a million.
"""

_STEPS: Final[FloatArray] = np.linspace(0.0, 1.0, CELLS + 1)
_NEAREST = _ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ConfidenceSequence:
    r"""A sequence of scores in [0, 1], with limits of their mean that hold at every look.

    A gambler who thinks that the mean is above m stakes the share c of what may be staked on each score,

    .. math:: K^+_c(m) = \prod_i \Big(1 + w_i c\,\frac{x_i - m}{m}\Big), \qquad
              K^-_c(m) = \prod_i \Big(1 - w_i c\,\frac{x_i - m}{1 - m}\Big),

    and the second one, who thinks that it is below, stakes as much. If the mean is m, no bet, after any scores,
    is expected to win or to lose. Both spread their capital over 64 stakes c, and

    .. math:: K(m) = \tfrac12\sum_c \pi_c K^+_c(m) + \tfrac12\sum_c \pi_c K^-_c(m)

    starts at 1 and is a nonnegative martingale: with a probability of at most a it ever reaches 1/a (Ville). So at all
    times together {m: K(m) < 1/a} holds the mean with probability 1 - a, and 1/K(m) is a p-value, however often and
    for any reason one looks or stops. Nothing else is assumed: no distribution, and not that scores do not depend
    on each other, but for a mean that does not depend on earlier scores.

    K is convex on the logarithmic scale, as each factor is, so that the set is an interval; it holds the mean of the
    scores, at which K is at most 1. The order of the scores does not matter to it.

    Scores between two of the 241 steps count on both in proportion. A logarithm being concave, K becomes smaller by
    that and never larger; the limits are wider by less than 1 % unless the standard deviation is below 0.02.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", Journal of the
    Royal Statistical Society B 86, sections 4.1 to 4.4 (hedged capital; a fixed set of bets is their dKelly); Ryu and
    Bhatt (2022), arXiv:2207.12382, for mixtures over bets and why the sets are intervals; Ramdas, Grünwald, Vovk and
    Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38; Howard, Ramdas,
    McAuliffe and Sekhon (2021), Annals of Statistics 49, for confidence sequences.

    Attributes:
        n: Scores so far.
        mean: The mean of the scores, each with its share; ½ without a score.
        counts: Share of a stake -> how many scores are at each step.

    >>> sequence = ConfidenceSequence.of([1, 1, 0.5, 1, 0, 1, 1, 1, 1, 1] * 3)
    >>> sequence.n, sequence.mean, [round(limit, 2) for limit in sequence.limits(0.95)]
    (30, 0.85, [0.57, 0.96])
    """

    n: int
    mean: float
    counts: Mapping[float, FloatArray]

    @classmethod
    def of(cls, scores: ArrayLike, shares: ArrayLike | None = None) -> Self:
        """Return the scores, and for each the share of a full stake that it takes, in (0, 1]; by default all.

        Of the mean of a cluster, its size as a share of the largest: then the mean that is estimated is that over rows.
        """
        values = np.atleast_1d(np.asarray(scores, dtype=float))
        weights = np.ones(values.shape) if shares is None else np.asarray(shares, dtype=float)
        counts: dict[float, FloatArray] = {}
        for share in np.unique(weights).tolist():
            cells = values[weights == share] * CELLS
            below = np.minimum(cells.astype(int), CELLS - 1)
            near: FloatArray = np.bincount(below, below + 1 - cells, CELLS + 1).astype(float)
            counts[share] = near + np.bincount(below + 1, cells - below, CELLS + 1)
        mean = min(1.0, float(values @ weights / weights.sum())) if values.size else 0.5
        return cls(len(values), mean, counts)

    def log_capital(self, mean: float, *, above: bool) -> float:
        """Compute the log capital of the gambler who thinks that the mean is above this one, or below it."""
        gains = _STEPS / mean - 1 if above else (1 - _STEPS) / (1 - mean) - 1
        total = np.zeros(len(STAKES))
        for share, counts in self.counts.items():
            seen = np.flatnonzero(counts)
            total += counts[seen] @ np.log1p(share * gains[seen, None] * STAKES)
        return float(logsumexp(total + LOG_PRIOR))

    def log_e_value(self, mean: float = 0.5) -> float:
        """Return log K(mean): the evidence against this mean, at any time."""
        return hedged(self.log_capital(mean, above=True), self.log_capital(mean, above=False))

    def p_value(self, mean: float = 0.5) -> float:
        """Return 1 / K(mean), at most 1: two-sided, and valid at any time."""
        return p_value_of(self.log_e_value(mean))

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """Compute the confidence sequence now: all means that the bets leave open; 0 and 1 before the first score."""
        enough = -float(np.log1p(-level))

        def excess(mean: float) -> float:
            return self.log_e_value(mean) - enough

        least, most = _NEAREST, 1 - _NEAREST
        centre = min(max(self.mean, least), most)
        low = optimize.brentq(excess, least, centre, xtol=1e-10) if excess(least) > 0 > excess(centre) else 0.0
        high = optimize.brentq(excess, centre, most, xtol=1e-10) if excess(most) > 0 > excess(centre) else 1.0
        return float(low), float(high)


def hedged(above: float, below: float) -> float:
    """Compute the logarithm of the mean of two capitals, from their logarithms."""
    return float(np.logaddexp(above, below) - np.log(2))


def p_value_of(log_e_value: float) -> float:
    """Compute the p-value of an e-value: its inverse, at most 1.

    >>> round(p_value_of(float(np.log(40))), 3), p_value_of(-3.0)
    (0.025, 1.0)
    """
    return 1.0 if log_e_value < _ROUNDING else float(np.exp(-log_e_value))

"""What is known of a mean at any time: bets on scores that may be looked at after each of them.

A fixed interval holds for the sample that it was planned for. Looked at again and again, it sooner or later misses:
what holds at all looks together is a confidence sequence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from evenhand.errors import EstimationError, InvalidInputError

FloatArray = NDArray[np.float64]

CELLS: Final = 240
"""Scores are counted on so many steps between 0 and 1, of which halves, thirds, fifths, eighths and tenths are ends."""

STAKES: Final[FloatArray] = np.geomspace(1e-5, 0.99, 64)
"""Shares of the most that may be staked on a score, short of all, so that nobody ever loses everything."""


def _prior() -> FloatArray:
    likely = 1 / (1 + (np.log(STAKES / 0.16) / 0.3) ** 2)
    spread: FloatArray = np.log(0.9 * likely / likely.sum() + 0.1 * STAKES / STAKES.sum())
    return spread


LOG_PRIOR: Final[FloatArray] = _prior()
"""How the capital is spread over the stakes: nine tenths by Cauchy's density of their logarithms, one tenth evenly.

Against one half the stake c wins fastest where the mean stands 2c times the variance from it, c/2 without ties. So most
of the capital is on differences that some hundreds of scores can show, and some on all others: the tenth for means near
0 or 1, the tails for differences that take a million.
"""

_STEPS: Final[FloatArray] = np.linspace(0.0, 1.0, CELLS + 1)
_NEAREST = _ROUNDING = 1e-12


class ConfidenceSequence:
    r"""Scores in [0, 1], one after another, and what holds of their mean at every look.

    A gambler who thinks that the mean is above m stakes the share c of what may be staked on each score,

    .. math:: K^+_c(m) = \prod_i \Big(1 + w_i c\,\frac{x_i - m}{m}\Big), \qquad
              K^-_c(m) = \prod_i \Big(1 - w_i c\,\frac{x_i - m}{1 - m}\Big),

    and the second one, who thinks that it is below, likewise. If the mean is m, whatever the scores were so far, no bet
    is expected to win or to lose. Both spread their capital over 64 stakes c, and

    .. math:: K(m) = \tfrac12\sum_c \pi_c K^+_c(m) + \tfrac12\sum_c \pi_c K^-_c(m)

    starts at 1 and is a nonnegative martingale: with a probability of at most a it ever reaches 1/a (Ville). So at all
    times together {m: K(m) < 1/a} holds the mean with probability 1 - a, and 1/K(m) is a p-value, however often and
    for whatever reason one looks or stops. Nothing else is assumed: no distribution, and not that scores do not depend
    on each other, but for a mean that stays the same whatever came before.

    K is convex on the logarithmic scale, as each factor is, so that the set is an interval; it holds the mean of the
    scores, at which K is at most 1. The order of the scores does not matter to it.

    Scores between two of the 241 steps count on both in proportion. A logarithm being concave, K becomes smaller by
    that and never larger; the limits are wider by less than 1 % unless the standard deviation is below 0.02. So an
    update takes the same short time, and the memory stays the same, after a million scores.

    Source: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting", Journal of the
    Royal Statistical Society B 86, sections 4.1 to 4.4 (hedged capital; a fixed set of bets is their dKelly); Ryu and
    Bhatt (2022), arXiv:2207.12382, for mixtures over bets and why the sets are intervals; Ramdas, Grünwald, Vovk and
    Shafer (2023), "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38; Howard, Ramdas,
    McAuliffe and Sekhon (2021), Annals of Statistics 49, for confidence sequences.

    Attributes:
        n: Scores so far.

    >>> sequence = ConfidenceSequence.of([1, 1, 0.5, 1, 0, 1, 1, 1, 1, 1] * 3)
    >>> sequence.n, sequence.mean, [round(limit, 2) for limit in sequence.limits(0.95)]
    (30, 0.85, [0.57, 0.96])
    """

    def __init__(self) -> None:
        self.n = 0
        self._counts: dict[float, FloatArray] = {}
        self._weight = self._sum = 0.0

    @classmethod
    def of(cls, scores: ArrayLike, shares: ArrayLike | None = None) -> Self:
        """The scores, and for each the share of a stake that it takes (see :meth:`update`).

        Raises:
            InvalidInputError: If a score does not lie in [0, 1].
        """
        values = np.atleast_1d(np.asarray(scores, dtype=float))
        weights = np.ones(values.shape) if shares is None else np.asarray(shares, dtype=float)
        wrong = ~((values >= 0) & (values <= 1))
        if wrong.any():
            raise InvalidInputError(f"a score is {float(values[wrong][0])!r}; bets are on scores in [0, 1]")
        made = cls()
        for share in np.unique(weights).tolist():
            alike = values[weights == share]
            below = np.minimum((alike * CELLS).astype(int), CELLS - 1)
            above = alike * CELLS - below
            counts = made._of_share(share)
            np.add.at(counts, below, 1 - above)
            np.add.at(counts, below + 1, above)
            made._count(len(alike), float(alike.sum()), share)
        return made

    def update(self, score: float, share: float = 1.0, times: int = 1) -> None:
        """Count one score more.

        Args:
            score: In [0, 1].
            share: In (0, 1]: the share of a full stake. Of the mean of a cluster, its size as a share of the largest:
                then the mean that is estimated is that over rows.
            times: How often.
        """
        if not 0 <= score <= 1:
            raise InvalidInputError(f"a score is {score!r}; bets are on scores in [0, 1]")
        counts = self._of_share(share)
        below = min(int(score * CELLS), CELLS - 1)
        above = score * CELLS - below
        counts[below] += times * (1 - above)
        counts[below + 1] += times * above
        self._count(times, score * times, share)

    def _of_share(self, share: float) -> FloatArray:
        if share not in self._counts:
            self._counts[share] = np.zeros(CELLS + 1)
        return self._counts[share]

    def _count(self, times: int, total: float, share: float) -> None:
        self.n += times
        self._weight += times * share
        self._sum += total * share

    def plus(self, score: float, times: int) -> ConfidenceSequence:
        """The same with one score so many times more; this one stays as it is."""
        made = ConfidenceSequence()
        made.n, made._weight, made._sum = self.n, self._weight, self._sum
        made._counts = {share: counts.copy() for share, counts in self._counts.items()}
        made.update(score, times=times)
        return made

    @property
    def mean(self) -> float:
        """The mean so far, each score with its share.

        Raises:
            EstimationError: There is no score.
        """
        if not self.n:
            raise EstimationError("the mean of no score is undefined")
        return min(1.0, self._sum / self._weight)

    def log_capital(self, mean: float, *, above: bool) -> float:
        """The logarithm of what the gambler has who thinks that the mean is above this one, or below it."""
        gains = _STEPS / mean - 1 if above else (1 - _STEPS) / (1 - mean) - 1
        total = np.zeros(len(STAKES))
        for share, counts in self._counts.items():
            seen = np.flatnonzero(counts)
            total += counts[seen] @ np.log1p(share * gains[seen, None] * STAKES)
        return float(_over_stakes(total))

    def log_e_value(self, mean: float = 0.5) -> float:
        """Log K(mean): the evidence against this mean, at any time."""
        return hedged(self.log_capital(mean, above=True), self.log_capital(mean, above=False))

    def p_value(self, mean: float = 0.5) -> float:
        """1 / K(mean), at most 1: two-sided, and valid at any time."""
        return p_value_of(self.log_e_value(mean))

    def limits(self, level: float = 0.95) -> tuple[float, float]:
        """The confidence sequence now: all means that the bets leave open; 0 and 1 before the first score."""
        if not self.n:
            return 0.0, 1.0
        enough = -float(np.log1p(-level))

        def excess(mean: float) -> float:
            return self.log_e_value(mean) - enough

        least, most = _NEAREST, 1 - _NEAREST
        centre = min(max(self.mean, least), most)
        low = optimize.brentq(excess, least, centre, xtol=1e-10) if excess(least) > 0 > excess(centre) else 0.0
        high = optimize.brentq(excess, centre, most, xtol=1e-10) if excess(most) > 0 > excess(centre) else 1.0
        return float(low), float(high)


def _over_stakes(log_capitals: FloatArray) -> FloatArray:
    """The logarithm of the capital over all stakes, the last axis."""
    spread = log_capitals + LOG_PRIOR
    most = spread.max(axis=-1)
    found: FloatArray = most + np.log(np.exp(spread - most[..., None]).sum(axis=-1))
    return found


def hedged(above: float, below: float) -> float:
    """The logarithm of the mean of two capitals, from their logarithms."""
    return float(np.logaddexp(above, below) - np.log(2))


def p_value_of(log_e_value: float) -> float:
    """The p-value of an e-value: its inverse, at most 1.

    >>> round(p_value_of(float(np.log(40))), 3), p_value_of(-3.0)
    (0.025, 1.0)
    """
    return 1.0 if log_e_value < _ROUNDING else float(np.exp(-log_e_value))


def log_e_values(scores: Iterable[float], mean: float = 0.5) -> FloatArray:
    """Log K(mean) after each score, shape (n,): one look after another.

    Args:
        scores: In [0, 1]. They are taken as they are, without the steps of a :class:`ConfidenceSequence`.
        mean: In (0, 1).

    >>> after = log_e_values([1.0] * 4)
    >>> bool((np.diff(after) > 0).all()), round(float(np.exp(after[0])), 3)  # one score says nothing of a side
    (True, 1.0)
    """
    values, place = np.unique(np.asarray(list(scores), dtype=float), return_inverse=True)
    above = np.log1p((values / mean - 1)[:, None] * STAKES)[place].cumsum(axis=0)
    below = np.log1p(((1 - values) / (1 - mean) - 1)[:, None] * STAKES)[place].cumsum(axis=0)
    found: FloatArray = np.logaddexp(_over_stakes(above), _over_stakes(below))
    found -= np.log(2)
    return found

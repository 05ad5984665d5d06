"""Are the choices spread evenly: a histogram of places or of options, tested twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Uniformity:
    """A histogram of choices and two tests that every bar is as high as the others.

    Attributes:
        counts: Choices of each place, or of each option.
        chi_square: Pearson's statistic against equal counts.
        degrees_of_freedom: Bars less one.
        p_value: Of the statistic in the χ² distribution, as if all choices were independent.
        shift_p_value: Of the same statistic when the instances' counts are shifted at random, each as a whole.
        n_instances: Instances with a choice.
        draws: Random shifts behind ``shift_p_value``.
        seed: Of the shifts.
    """

    counts: tuple[int, ...]
    chi_square: float
    degrees_of_freedom: int
    p_value: float
    shift_p_value: float
    n_instances: int
    draws: int
    seed: int


def uniformity(counts: ArrayLike, *, draws: int = 1999, seed: int = 0) -> Uniformity:
    r"""Pearson's χ² test of equal totals, and a test that respects that the choices of one instance hang together.

    :math:`X^2 = \sum_j (O_j - n/k)^2 / (n/k)` with :math:`O_j` the total of column j and n the total of all.

    The χ² distribution supposes independent choices. The choices of one instance are not: a judge of one mind chooses
    one option N times (its places are then more even than chance, its options less), a judge that is drawn to one
    place in this instance and to another in the next takes each N times. The second test shifts every instance's row
    cyclically by a random number of columns and counts how often :math:`X^2` is at least the observed one, the
    observed arrangement included: exact, up to the draws, for any dependence within instances, if every instance's
    row is as likely as its shifts. Shifted bars keep their neighbours; a pattern common to all instances is what it
    finds.

    What a small p-value means. Of *places*: some place attracts the judge, whatever stands there; asked in all cyclic
    rotations, an order-blind judge has equal expected counts. Where rotations went unanswered this holds only if they
    are missing regardless of what stood where. Of *options*: the numbering matters. If option j is always the same
    system, that may be quality and no fault at all; if options were numbered at random, it is chance or a leak. What
    neither shows: an attraction that differs between instances and cancels in the totals; the Grade Score itself
    sees that.

    Args:
        counts: (n_instances, k) whole numbers, k at least 2; a row of zeros is an instance without a choice.
        draws: Random shifts, at least 1.
        seed: Of the shifts.

    Raises:
        EstimationError: No choice.
        InvalidInputError: Another shape, a count that is negative or no whole number, no draw.

    Source: Pearson (1900); Fisher (1935), "The Design of Experiments", section 21, for the randomisation; Rao and
    Scott (1981) for what clusters do to the χ² test.

    One instance takes the first place thrice: it may as well have been another place, and says nothing.

    >>> result = uniformity([[3, 0, 0]])
    >>> result.chi_square, round(result.p_value, 3), result.shift_p_value
    (6.0, 0.05, 1.0)
    """
    table = _whole_counts(counts)
    if draws < 1:
        raise InvalidInputError(f"draws is {draws!r}; give at least 1")
    used = table[table.sum(axis=1) > 0]
    totals, width = used.sum(axis=0), table.shape[1]
    expected = totals.sum() / width
    if not expected:
        raise EstimationError("a histogram without a choice cannot be tested: every count is 0")
    chi_square = float(((totals - expected) ** 2).sum() / expected)
    squares = _shifted_sums_of_squares(used, draws, np.random.default_rng(seed))
    as_large = int((squares >= int((totals**2).sum())).sum())
    return Uniformity(
        counts=tuple(totals.tolist()),
        chi_square=chi_square,
        degrees_of_freedom=width - 1,
        p_value=float(stats.chi2.sf(chi_square, width - 1)),
        shift_p_value=(1 + as_large) / (1 + draws),
        n_instances=len(used),
        draws=draws,
        seed=seed,
    )


def _whole_counts(counts: ArrayLike) -> IntArray:
    table = np.asarray(counts)
    if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "iu" or (table < 0).any():
        raise InvalidInputError(
            f"counts has the shape {table.shape!r} and the type {table.dtype}; give whole numbers that are not "
            "negative, of the shape (n_instances, k) with k at least 2"
        )
    return table.astype(np.int64)


def _shifted_sums_of_squares(table: IntArray, draws: int, generator: np.random.Generator) -> IntArray:
    """The sum of the squared totals after each draw of shifts; rows that are alike are shifted together, by number."""
    width = table.shape[1]
    totals = np.full((draws, width), int(table[(table == table[:, :1]).all(axis=1), 0].sum()), dtype=np.int64)
    uneven = table[(table != table[:, :1]).any(axis=1)]
    if len(uneven):
        rows, multiplicities = np.unique(uneven, axis=0, return_counts=True)
        shifts = np.full(width, 1 / width)
        places = (np.arange(width)[None, :] - np.arange(width)[:, None]) % width
        for row, multiplicity in zip(rows, multiplicities, strict=True):
            totals += generator.multinomial(multiplicity, shifts, size=draws) @ row[places]
    return np.asarray((totals**2).sum(axis=1))

"""Which rows people are asked about: a seeded draw of fixed size, whose inclusion probabilities are known.

All draws go through the rows in one random order. At random, and at random within strata, the first rows of that order
are drawn, so that systems whose rows are drawn from it share as many rows as can be, and their differences are paired
(permanent random numbers, Ohlsson 1995, in Cox et al., Business Survey Methods, ch. 9).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InvalidInputError, did_you_mean

FloatArray = NDArray[np.float64]
Design = Literal["random", "by_verdict"]
DESIGNS: Final[tuple[Design, ...]] = get_args(Design)

FEWEST_OF_A_STRATUM: Final = 2
"""So many units of a stratum are drawn at least: from one nobody can say how far units differ."""


def check_design(design: object) -> Design:
    """A way of drawing, if it is one.

    Raises:
        InvalidInputError: If it is something else.
    """
    if design not in DESIGNS:
        raise InvalidInputError(f"design is {design!r}, which is no way to draw rows. {did_you_mean(design, DESIGNS)}")
    return design


def probabilities_by_stratum(strata: Sequence[Hashable], n: int) -> FloatArray:
    """Each stratum's share drawn, where the number drawn of a stratum grows with the square root of its size.

    A stratum of N_h units has n_h of the n draws, ∝ √N_h (power allocation, Bankier 1988, The American Statistician
    42, 174), at least two and at most N_h: rare verdicts are labelled more often than at random, frequent ones less.

    Args:
        strata: Of each unit.
        n: Draws; fewer than two for each stratum are shared out as far as they go, the largest strata first.

    Returns:
        (n_units,) n_h / N_h for each unit; n in sum.

    >>> probabilities_by_stratum(["yes"] * 9 + ["no"], 4)[[0, 9]].round(3).tolist()
    [0.333, 1.0]
    """
    sizes = Counter(strata)
    largest = sorted(sizes, key=lambda each: -sizes[each])  # ties stay in the order of their first units
    drawn = dict.fromkeys(largest, 0)
    for _ in range(min(n, len(strata))):  # one by one to who lacks most of what it should have
        open_to = [each for each in largest if drawn[each] < sizes[each]]
        lacking = [each for each in open_to if drawn[each] < FEWEST_OF_A_STRATUM]
        taker = min(lacking or open_to, key=lambda each: (drawn[each] + 0.5) / math.sqrt(sizes[each]))
        drawn[taker] += 1
    return np.array([drawn[each] / sizes[each] for each in strata], dtype=float)


def drawn_within(strata: Sequence[Hashable], probabilities: FloatArray, order: Sequence[int]) -> list[int]:
    """The units that are drawn, ascending: of each stratum the first in the order given, as many as are its share.

    In random order this is simple random sampling within strata.

    Args:
        strata: Of each unit.
        probabilities: (n_units,) of inclusion, as :func:`probabilities_by_stratum` has them.
        order: The units.

    >>> drawn_within("aabb", np.array([0.5, 0.5, 1.0, 1.0]), [1, 3, 0, 2])
    [1, 2, 3]
    """
    sizes = Counter(strata)
    left = {stratum: round(share * sizes[stratum]) for stratum, share in zip(strata, probabilities, strict=True)}
    found = []
    for unit in order:
        if left[strata[unit]]:
            left[strata[unit]] -= 1
            found.append(unit)
    return sorted(found)


def random_order(units: int, seed: int) -> list[int]:
    """Return the units in random order."""
    return [int(unit) for unit in np.random.default_rng(seed).permutation(units)]

"""What a spread of 0 from few draws does not prove, in a sentence."""

from __future__ import annotations

from evenhand.numbers import format_level, format_percent
from evenhand.statistics import greatest_unseen_share

ENOUGH_DRAWS = 5
"""From so many draws on, no caution is given."""


def spread_caution(samples: int, *, level: float = 0.95) -> str | None:
    """What to bear in mind where ``samples`` equal draws of a judge are read as certainty.

    Args:
        samples: Draws from each judge in each order.
        level: Confidence of the number in the sentence.

    Returns:
        The sentence; None for a single draw, which has no spread, and for five draws or more.

    Raises:
        InvalidInputError: No draw, or a bad level.

    Example:
        >>> print(spread_caution(3))
        A spread of 0 from 3 draws proves little: 3 equal draws are compatible (95% confidence) with a probability \
of 63 % for other answers. Where a threshold decides, draw at least 5 times.
    """
    share = greatest_unseen_share(samples, level=level)
    if samples == 1 or samples >= ENOUGH_DRAWS:
        return None
    return (
        f"A spread of 0 from {samples} draws proves little: {samples} equal draws are compatible "
        f"({format_level(level)} confidence) with a probability of {format_percent(share)} for other answers. "
        f"Where a threshold decides, draw at least {ENOUGH_DRAWS} times."
    )

"""Asking about a pair of systems until it is decided: which prompts come next, and what has been decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.judging.grid import Pair
from evenhand.modes.contest import MOST_BATTLES, Contest, Tally, cluster_numbers, limits
from evenhand.numbers import format_count
from evenhand.options import Reduction
from evenhand.statistics.anytime import ConfidenceSequence, hedged, p_value_of
from evenhand.statistics.paired_differences import holm

FIRST_BLOCK = 16
GROWTH = 20
"""Between two looks so many prompts are asked, or the twentieth part of those asked so far, if that is more."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What is known of two systems at a look.

    Attributes:
        p_value: That neither is better, corrected by Holm over all pairs; valid at all looks together.
        decided: It is below the error rate that was asked for.
        prompts: That were asked for this pair.
    """

    p_value: float
    decided: bool
    prompts: int


def decisions(
    contests: Sequence[Contest], alpha: float, pairs: int | None = None, reduction: Reduction = "win_rate"
) -> dict[tuple[str, str], Decision]:
    """(First, second) -> what is known of the two, from their contests so far.

    The bets are on the score of each cluster of prompts (each prompt, where there are none), against one half. What is
    unscored counts against both: as lost for the gambler who thinks that the first system is better, and as won for the
    other. So a decision stands whatever the unscored votes would have said. A contest that was read and set aside,
    since the orders disagree, is no contest.

    Args:
        contests: All so far, in any order.
        alpha: The probability at most that any pair of equal systems is ever decided.
        pairs: How many will be asked about; those that have contests by default.
        reduction: How contests become winrates.
    """
    held: dict[tuple[str, str], dict[int, list[Contest]]] = {}
    for contest, cluster in zip(contests, cluster_numbers(contests), strict=True):
        held.setdefault((contest.first, contest.second), {}).setdefault(cluster, []).append(contest)
    p_values = [_p_value(list(clusters.values()), reduction) for clusters in held.values()]
    family = holm([*p_values, *[1.0] * ((pairs or 0) - len(held))]).tolist()
    return {
        pair: Decision(p_value, p_value < alpha, sum(map(len, clusters.values())))
        for (pair, clusters), p_value in zip(held.items(), family, strict=False)
    }


def _p_value(clusters: Sequence[Sequence[Contest]], reduction: Reduction) -> float:
    """That the winrate of the first system is one half, against all that the unscored votes could have said."""
    sides: tuple[list[Tally], list[Tally]] = ([], [])
    sizes = []
    for contests in clusters:
        known = [contest for contest in contests if contest.score is not None or not contest.verdict.read]
        if known:
            bounds = np.array([limits(contest, reduction) for contest in known]).sum(axis=0).tolist()
            for side, fought in zip(sides, bounds, strict=True):
                side.append(Tally(*fought))
            sizes.append(len(known))
    if not sizes:
        return 1.0
    stake = max(sizes) * MOST_BATTLES[reduction]  # which no result changes
    least, most = (
        ConfidenceSequence.of(
            np.clip([one.wins / one.battles for one in side], 0.0, 1.0), [one.battles / stake for one in side]
        )
        for side in sides
    )
    return p_value_of(hedged(least.log_capital(0.5, above=True), most.log_capital(0.5, above=False)))


class Questioning:
    """Which contests are asked for next.

    Prompts come in a seeded random order, so that it does not matter how a file is sorted, and those of a cluster
    together. A pair that is decided is not asked about any further while others go on. The same seed and the same
    replies give the same contests, so that a run that was interrupted asks for them again and finds them in the
    journal.

    Args:
        drawn: The pairs of each row under the design; rows without one are not asked.
        clusters: What each row belongs to; None for itself.
        alpha: See :func:`decisions`.
        seed: Of the order.
        reduction: How contests become winrates.
    """

    def __init__(
        self,
        drawn: Mapping[int, Sequence[Pair]],
        clusters: Sequence[str | None],
        alpha: float,
        seed: int,
        reduction: Reduction = "win_rate",
    ) -> None:
        together: dict[object, list[int]] = {}
        for place in drawn:
            together.setdefault(place if clusters[place] is None else clusters[place], []).append(place)
        groups = list(together.values())
        order = np.random.default_rng([seed, len(groups)]).permutation(len(groups)).tolist()
        self._left = [groups[number] for number in order]
        self._drawn, self._alpha, self._rows, self._reduction = drawn, alpha, len(drawn), reduction
        self._pairs = {pair for pairs in drawn.values() for pair in pairs}
        self._open = set(self._pairs)
        self._asked = 0

    def block(self) -> list[tuple[int, Pair]]:
        """What is asked for before the next look: (place of the row, pair) of each contest; nothing at the end."""
        block: list[tuple[int, Pair]] = []
        while self._left and self._open and not block:
            rows: list[int] = []
            while self._left and len(rows) < max(FIRST_BLOCK, -(-self._asked // GROWTH)):
                rows += self._left.pop(0)
            self._asked += len(rows)
            block = [(place, pair) for place in sorted(rows) for pair in self._drawn[place] if pair in self._open]
        return block

    def look(self, contests: Sequence[Contest], systems: Sequence[str]) -> None:
        """Find what is decided by all contests so far. Where the budget is spent, nothing more is asked.

        Args:
            contests: All so far.
            systems: The names that the pairs are of.
        """
        known = decisions(contests, self._alpha, len(self._pairs), self._reduction)
        names = {pair: (systems[pair[0]], systems[pair[1]]) for pair in self._open}
        self._open = {pair for pair in self._open if names[pair] not in known or not known[names[pair]].decided}
        if any(vote.unscored_reason == "budget" for contest in contests for vote in contest.verdict.votes):
            self._left = []

    def __str__(self) -> str:
        decided = len(self._pairs) - len(self._open)
        return (
            f"{format_count(self._asked)} of {format_count(self._rows, 'prompt')} asked, {format_count(decided)} of "
            f"{format_count(len(self._pairs), 'pair')} decided"
        )

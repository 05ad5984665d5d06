"""Every pair of systems: head-to-head win rate, paired difference, a test of each, and who cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from evenhand.statistics.contests import Contests, win_rate_intervals
from evenhand.statistics.intervals import Interval, ratio_intervals
from evenhand.statistics.paired_differences import SignFlipTest, adjusted_tests, sign_flip_test
from evenhand.statistics.resampling import FloatArray
from evenhand.statistics.strength_contrasts import StrengthContrasts


@dataclass(frozen=True)
class ContrastTest:
    """A two-sided test that two systems are equally strong.

    Attributes:
        p_value: Of this test alone, by Student's t with one degree of freedom less than there are clusters.
        adjusted_p_value: For all pairs at once, by the largest ratio of a difference to its standard error.
        method: ``"max_t"``: see :func:`~evenhand.statistics.strength_contrasts.contrast_strengths`.
        clusters: Prompts with a scored contest.
    """

    p_value: float
    adjusted_p_value: float
    method: Literal["max_t"]
    clusters: int


@dataclass(frozen=True)
class PairComparison:
    """Two systems against each other. What has no data is None.

    Attributes:
        first: The system whose side is told.
        second: The other.
        contests: Scored contests between the two.
        win_rate: Mean score of ``first`` in these; None when they never met.
        win_rate_test: Of a win rate of one half.
        difference: How far ``first`` stands above ``second`` in this field. Where all met equally often: its win rate
            over all its contests minus the other's, paired by prompt, with an interval of its own. Otherwise: its
            strength (log-odds) minus the other's, with an interval (``method`` is ``"max_t"``) that holds for all
            pairs at once.
        difference_test: Of no difference; a :class:`ContrastTest` where it is one of strengths.
    """

    first: str
    second: str
    contests: int
    win_rate: Interval | None
    win_rate_test: SignFlipTest | None
    difference: Interval | None
    difference_test: SignFlipTest | ContrastTest | None


def compare_pairs(
    contests: Contests, *, strengths: StrengthContrasts | None = None, level: float = 0.95
) -> tuple[PairComparison, ...]:
    """Compare every two systems, head to head and by their win rates over all contests, or by their strengths.

    The head-to-head rate answers who wins when the two meet; the difference of win rates answers who stands higher in
    this field, and exists without a meeting (both against a baseline). It says so only where all systems met equally
    often: else the opponents differ, and the strengths are what to compare. Each family of tests is corrected by Holm
    for its own number of tests. The interval of the difference d is that of (1 + d) / 2 by `win_rate_intervals`, over
    the prompts' linearised contributions; its test flips the signs of the contributions, both rates replaced by the
    pooled one.

    Args:
        contests: Resolved contests, or presented ones: all contests of a prompt stay together.
        strengths: Take the differences and their tests from these contrasts.
        level: Of the intervals.

    Returns:
        One comparison for every i < j, in the order of ``Contests.systems``.

    >>> contests = Contests.of(["a", "b"], first=[0] * 4, second=[1] * 4, score=[1, 1, 1, 0.5])
    >>> (pair,) = compare_pairs(contests)
    >>> pair.win_rate.estimate, pair.difference.estimate, pair.win_rate_test.p_value
    (0.875, 0.75, 0.25)
    """
    wins, meetings = contests.wins, contests.meetings
    pairs = list(combinations(range(len(contests.systems)), 2))
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    won, met = wins[:, left, right], meetings[:, left, right]
    rates = win_rate_intervals(won, met, level=level)
    head_to_head = _tests(
        [None if rate is None else won[:, pair] - met[:, pair] / 2 for pair, rate in enumerate(rates)]
    )
    differences = (
        _of_win_rates(wins.sum(axis=2), meetings.sum(axis=2), pairs, level)
        if strengths is None
        else _of_strengths(strengths, pairs)
    )
    return tuple(
        PairComparison(
            contests.systems[i],
            contests.systems[j],
            int(met[:, index].sum()),
            rates[index],
            head_to_head[index],
            *differences[index],
        )
        for index, (i, j) in enumerate(pairs)
    )


_Difference = tuple[Interval | None, SignFlipTest | ContrastTest | None]


def _of_win_rates(
    scores: FloatArray, counts: FloatArray, pairs: Sequence[tuple[int, int]], level: float
) -> list[_Difference]:
    both = [counts[:, i].any() and counts[:, j].any() for i, j in pairs]
    tests = _tests(
        [_null_contributions(scores, counts, i, j) if seen else None for (i, j), seen in zip(pairs, both, strict=True)]
    )
    return [
        (_difference(scores, counts, i, j, level) if seen else None, test)
        for (i, j), seen, test in zip(pairs, both, tests, strict=True)
    ]


def _of_strengths(strengths: StrengthContrasts, pairs: Sequence[tuple[int, int]]) -> list[_Difference]:
    place = {system: position for position, system in enumerate(strengths.placed.tolist())}
    found: list[_Difference] = []
    for i, j in pairs:
        if i not in place or j not in place:
            found.append((None, None))
            continue
        where = place[i], place[j]
        alone, adjusted = float(strengths.alone[where]), float(strengths.adjusted[where])
        found.append((strengths.interval(*where), ContrastTest(alone, adjusted, "max_t", strengths.clusters)))
    return found


def _contributions(scores: FloatArray, counts: FloatArray, system: int, rate: float) -> FloatArray:
    contribution: FloatArray = (scores[:, system] - rate * counts[:, system]) / counts[:, system].sum()
    return contribution


def _null_contributions(scores: FloatArray, counts: FloatArray, i: int, j: int) -> FloatArray:
    """Their sum is the difference of the two win rates, whatever the pooled rate."""
    pooled = float(scores[:, [i, j]].sum() / counts[:, [i, j]].sum())
    return _contributions(scores, counts, i, pooled) - _contributions(scores, counts, j, pooled)


def _difference(scores: FloatArray, counts: FloatArray, i: int, j: int, level: float) -> Interval | None:
    informing = (counts[:, i] > 0) | (counts[:, j] > 0)
    scores, counts = scores[informing], counts[informing]
    rate_i, rate_j = (float(scores[:, system].sum() / counts[:, system].sum()) for system in (i, j))
    own = _contributions(scores, counts, i, rate_i) - _contributions(scores, counts, j, rate_j)
    as_shares = (1 + rate_i - rate_j + len(own) * own) / 2
    # a prompt's part of the whole may lie outside [0, 1] where prompts have unequal numbers of contests
    (plain,) = ratio_intervals(as_shares, np.ones(len(own)), level=level, bounds=None)
    slope = (1 + rate_i - rate_j) * (1 - rate_i + rate_j) / 4
    if plain is None or not np.isfinite(plain.high) or slope < 1e-12:
        (share,) = win_rate_intervals(np.clip(as_shares, 0.0, 1.0)[:, None], np.ones((len(own), 1)), level=level)
    else:
        centre, half = logit(plain.estimate), (plain.high - plain.estimate) / slope
        low, high = float(expit(centre - half)), float(expit(centre + half))
        share = replace(plain, low=low, high=high, method="cluster_t_logit")
    if share is None:
        return None
    return replace(share, estimate=rate_i - rate_j, low=2 * share.low - 1, high=2 * share.high - 1)


def _tests(differences: Sequence[FloatArray | None]) -> list[SignFlipTest | None]:
    return adjusted_tests([None if values is None else sign_flip_test(values) for values in differences])


def indistinguishable_groups(
    comparisons: Sequence[PairComparison], systems: Sequence[str], *, level: float = 0.95
) -> tuple[tuple[str, ...], ...]:
    """Group the systems that cannot be told apart: the maximal sets without a significant difference inside.

    Two systems differ when the adjusted p-value of their difference is below ``1 - level``; a pair that was not tested
    is not told apart. A system may stand in several groups (a with b, b with c, yet a above c), as letters do in a
    compact letter display, and every system stands in at least one.

    Source: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of
    Computational and Graphical Statistics 13 (2004); the sets are found by Bron and Kerbosch, Communications of the
    ACM 16 (1973).

    Args:
        comparisons: Of ``compare_pairs``.
        systems: In the order in which they are to be listed, best first.
        level: One minus the family-wise error rate.

    >>> contests = Contests.of(["a", "b"], first=[0] * 9, second=[1] * 9, score=[1] * 9)
    >>> indistinguishable_groups(compare_pairs(contests), ["a", "b"])  # p = 2 / 2^9
    (('a',), ('b',))
    """
    place = {system: position for position, system in enumerate(systems)}
    alike: dict[int, set[int]] = {position: set() for position in place.values()}
    for pair in comparisons:
        if pair.difference_test is None or pair.difference_test.adjusted_p_value >= 1 - level:
            alike[place[pair.first]].add(place[pair.second])
            alike[place[pair.second]].add(place[pair.first])
    cliques = sorted(sorted(clique) for clique in _maximal_cliques(alike, set(), set(alike), set()))
    return tuple(tuple(systems[position] for position in clique) for clique in cliques)


def _maximal_cliques(
    alike: dict[int, set[int]], chosen: set[int], candidates: set[int], excluded: set[int]
) -> list[set[int]]:
    if not candidates and not excluded:
        return [chosen]
    pivot = max(candidates | excluded, key=lambda node: len(alike[node] & candidates))
    found: list[set[int]] = []
    for node in sorted(candidates - alike[pivot]):
        found += _maximal_cliques(alike, chosen | {node}, candidates & alike[node], excluded & alike[node])
        candidates = candidates - {node}
        excluded = excluded | {node}
    return found

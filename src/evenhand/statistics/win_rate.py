"""Win rates: the mean score of a system, with an interval by prompt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.statistics.clusters import IntervalLevel
from evenhand.statistics.contests import Contests
from evenhand.statistics.intervals import Interval, ratio_intervals

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class WinRate:
    """A system's record.

    Attributes:
        system: Its name.
        win_rate: Mean score, a tie counting half; None without a scored contest.
        contests: Scored contests.
        wins: Of these, with a score above one half.
        ties: With a score of exactly one half.
        losses: With a score below one half.
        unscored: Contests without a score; they are in no other number.
    """

    system: str
    win_rate: Interval | None
    contests: int
    wins: int
    ties: int
    losses: int
    unscored: int


def win_rates(contests: Contests, *, level: float = 0.95) -> tuple[WinRate, ...]:
    """Each system's mean score over its scored contests, with an interval by prompt.

    The interval is that of ``win_rate_intervals``: scores over contests, a prompt a cluster.

    Args:
        contests: Resolved, or presented.
        level: Of the intervals.

    >>> contests = Contests.of(["a", "b"], first=[0, 1, 0], second=[1, 0, 1], score=[1, 0.5, float("nan")])
    >>> record = win_rates(contests)[0]
    >>> record.win_rate.estimate, record.wins, record.ties, record.losses, record.unscored
    (0.75, 1, 1, 0, 1)
    """
    rates = win_rate_intervals(contests.wins.sum(axis=2), contests.meetings.sum(axis=2), level=level)
    records = []
    for system, name in enumerate(contests.systems):
        own = np.concatenate(
            [contests.score[contests.first == system], 1.0 - contests.score[contests.second == system]]
        )
        wins, ties, losses = (int(np.sum(test)) for test in (own > 0.5, own == 0.5, own < 0.5))
        records.append(WinRate(name, rates[system], wins + ties + losses, wins, ties, losses, int(np.isnan(own).sum())))
    return tuple(records)


def win_rate_intervals(scores: FloatArray, contests: FloatArray, *, level: float = 0.95) -> tuple[Interval | None, ...]:
    """The rate sum(scores) / sum(contests) of every column with a cluster-robust interval on the logit scale.

    ``expit(logit(p) ± t(n-1) · s / (p (1 - p)))`` with ``s`` the cluster-robust standard error of ``ratio_intervals``
    without bounds. A rate of 0 or 1, or prompts without any spread, have no such interval and take the one with
    bounds.

    For win rates it is shorter than the interval with bounds and nearer to its level: nominal 95 % held the truth in
    94 to 96 % of simulated tournaments of 2 to 4 systems over 15 to 60 prompts, rates of 0.07 to 0.97, where the
    interval with bounds held it in 97 to 99 % and the one without a transformation in 89 to 95 %.

    Source: Liang and Zeger, Biometrika 73 (1986), for the standard error; the logit as in Agresti, Categorical Data
    Analysis, section 3.1.

    Args:
        scores: Shape (n prompts, k).
        contests: Shape (n prompts, k); a prompt without a contest is missing.
        level: In [0.5, 1); an `IntervalLevel` brings the clusters of the prompts and another method.

    Returns:
        One interval a column; None for a column without contests.

    >>> import numpy as np
    >>> even, swept, none = win_rate_intervals(np.array([[1, 1, 0], [0, 1, 0.0]]), np.array([[1, 1, 0], [1, 1, 0.0]]))
    >>> even.method, swept.method, none
    ('cluster_t_logit', 'bounded_dirichlet', None)
    """
    confidence = IntervalLevel.of(level)
    method = "t_logit" if confidence.method == "auto" else confidence.method
    return ratio_intervals(scores, contests, level=IntervalLevel(level, confidence.clusters, method))

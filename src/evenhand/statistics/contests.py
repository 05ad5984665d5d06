"""Contests: who met whom on which prompt, who was shown first, and what came of it.

Two levels share this one value. *Presented* contests have a row for every showing of a pair (both orders, every draw):
they carry the order effect. *Resolved* contests have a row for a pair and prompt, the orders already collapsed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evenhand.errors import InvalidInputError
from evenhand.statistics.clusters import IntervalLevel

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contests:
    """Outcomes of paired comparisons, a row a contest.

    Attributes:
        systems: The names; every array below refers to them by position.
        first: Shape (m,): the system shown first.
        second: Shape (m,): the system shown second; never the same as ``first``.
        score: Shape (m,): the result for ``first``: 1 a win, 0 a loss, 0.5 a tie, any other number in [0, 1] an average
            of several votes, NaN not scored.
        cluster: Shape (m,): the prompt, or what several prompts belong to (any integer label). Contests of a cluster
            are dependent, those of two clusters are not.
        prompt: Shape (m,): the prompt (any integer label).

    >>> contests = Contests.of(["a", "b"], first=[0, 1], second=[1, 0], score=[1, 0.5], cluster=[7, 9])
    >>> contests.wins.tolist()
    [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.5], [0.5, 0.0]]]
    """

    systems: tuple[str, ...]
    first: IntArray
    second: IntArray
    score: FloatArray
    cluster: IntArray
    prompt: IntArray

    def __post_init__(self) -> None:
        _check_systems(self.systems)
        size = len(self.first)
        for name in ("first", "second", "cluster", "prompt"):
            object.__setattr__(self, name, _frozen_integers(name, getattr(self, name), size))
        score = np.array(self.score, dtype=np.float64)
        if score.shape != (size,):
            raise InvalidInputError(f"score has shape {score.shape}, first has ({size},): give one score a contest.")
        wrong = ~(np.isnan(score) | ((score >= 0) & (score <= 1)))
        if wrong.any():
            raise InvalidInputError(f"A score is {score[wrong][0]!r}: a score lies in [0, 1], or is NaN when unscored.")
        score.flags.writeable = False
        object.__setattr__(self, "score", score)
        self._check_opponents()

    def _check_opponents(self) -> None:
        count = len(self.systems)
        for name, players in (("first", self.first), ("second", self.second)):
            outside = (players < 0) | (players >= count)
            if outside.any():
                raise InvalidInputError(
                    f"{name} names the system {int(players[outside][0])!r}, but there are {count} (0 to {count - 1})."
                )
        same = self.first == self.second
        if same.any():
            name = self.systems[int(self.first[same][0])]
            raise InvalidInputError(f"The system {name!r} meets itself: a contest needs two different systems.")

    @classmethod
    def of(
        cls,
        systems: Sequence[str],
        *,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        score: npt.ArrayLike,
        cluster: npt.ArrayLike | None = None,
        prompt: npt.ArrayLike | None = None,
    ) -> Contests:
        """Build contests from any sequences; without ``cluster`` every contest is one, and each a prompt of its own."""
        rows = np.asarray(first)
        together = np.arange(len(rows)) if cluster is None else np.asarray(cluster)
        return cls(
            tuple(systems),
            rows,
            np.asarray(second),
            np.asarray(score, dtype=np.float64),
            together,
            together if prompt is None else np.asarray(prompt),
        )

    def __len__(self) -> int:
        return len(self.first)

    @property
    def scored(self) -> Contests:
        """Only the contests that have a score."""
        return self.only(~np.isnan(self.score))

    def only(self, rows: npt.NDArray[np.bool_]) -> Contests:
        """The contests for which ``rows``, shape (m,), is true; the systems stay as they are."""
        players, together = (self.first[rows], self.second[rows]), (self.cluster[rows], self.prompt[rows])
        return Contests(self.systems, *players, self.score[rows], *together)

    @property
    def by_prompt(self) -> Contests:
        """The same contests with every prompt a cluster of its own."""
        return replace(self, cluster=self.prompt)

    def prompt_level(self, level: float) -> IntervalLevel:
        """The level of intervals over the rows of ``by_prompt``, with the clusters of the prompts."""
        prompts, first = np.unique(self.prompt, return_index=True)
        clusters = self.cluster[first].tolist()
        together = clusters if len(set(clusters)) < len(prompts) else None
        return IntervalLevel(level, together, IntervalLevel.of(level).method)

    @cached_property
    def wins(self) -> FloatArray:
        """Shape (n clusters, k, k): the score that row system took from column system in a cluster.

        Clusters stand in the order of their labels; those without a scored contest keep their row of zeros.
        """
        return self._totals(self.score, 1.0 - self.score)

    @cached_property
    def meetings(self) -> FloatArray:
        """Shape (n clusters, k, k), symmetric: how many scored contests two systems had in a cluster."""
        ones = np.ones(len(self))
        return self._totals(ones, ones)

    def _totals(self, to_first: FloatArray, to_second: FloatArray) -> FloatArray:
        labels, prompt = np.unique(self.cluster, return_inverse=True)
        kept = ~np.isnan(self.score)
        totals = np.zeros((len(labels), len(self.systems), len(self.systems)))
        np.add.at(totals, (prompt[kept], self.first[kept], self.second[kept]), to_first[kept])
        np.add.at(totals, (prompt[kept], self.second[kept], self.first[kept]), to_second[kept])
        totals.flags.writeable = False
        return totals


def _check_systems(systems: tuple[str, ...]) -> None:
    if len(systems) < 2:
        raise InvalidInputError(f"systems is {systems!r}: a contest needs at least two.")
    repeated = [name for name in systems if systems.count(name) > 1]
    if repeated:
        raise InvalidInputError(f"The system {repeated[0]!r} is named twice: names must be unique.")


def _frozen_integers(name: str, values: npt.ArrayLike, size: int) -> IntArray:
    array = np.asarray(values)
    if array.shape != (size,):
        raise InvalidInputError(f"{name} has shape {array.shape}, first has ({size},): give one {name} a contest.")
    if size and not np.issubdtype(array.dtype, np.integer):
        raise InvalidInputError(f"{name} has dtype {array.dtype}: give integers.")
    frozen = array.astype(np.int64)
    frozen.flags.writeable = False
    return frozen

"""May a judge stand in for annotators? The alternative annotator test: is it as near to the others as each of them is.

Source: Calderon, Reichart and Dror, "The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
Replacing Human Annotators with LLMs", ACL 2025, arXiv 2501.10970, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evenhand.errors import InvalidInputError
from evenhand.statistics.intervals import (
    FloatArray,
    IntArray,
    Interval,
    IntervalLevel,
    Level,
    cluster_sums,
    mean_intervals,
    ratio_intervals,
)

Similarity = Callable[[Any, Any], float]

FEWEST_INSTANCES: Final = 30
"""Instances, or clusters of them, from which on the authors trust the t test; with fewer there is none."""

_SAME: Final = 1e-9
"""Alignments that are nearer to each other than this are equal."""


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """The judge against one annotator, by how near each is to the other annotators.

    Attributes:
        num_instances: Instances that the annotator and another one labelled; n below.
        advantage: The share of them on which the judge is at least as near as the annotator; ρ of the annotator.
        mean_difference: Of (the annotator is at least as near) - (the judge is), each 0 or 1; None without instances.
        p_value: Of the null hypothesis that this is ε or more; None where there is no test.
        adjusted_p_value: After Benjamini and Yekutieli over the annotators.
        outdone: Whether the null hypothesis is rejected.
    """

    num_instances: int
    advantage: Interval | None
    mean_difference: float | None
    p_value: float | None
    adjusted_p_value: float | None
    outdone: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotator:
    """The result of :func:`alternative_annotator`.

    Attributes:
        annotators: One comparison per annotator.
        winning_rate: The share of the tested annotators that the judge outdoes, ω; None where none was tested.
        advantage: The mean over the annotators with instances of their ρ, the average advantage probability.
        epsilon: What the judge is given in advance.
        alpha: The false discovery rate.
    """

    annotators: tuple[AnnotatorComparison, ...]
    winning_rate: float | None
    advantage: Interval | None
    epsilon: float
    alpha: float


def leave_one_out_alignment(
    judge: Sequence[Any], people: Sequence[Sequence[Any]], scoring: Literal["exact", "rmse"] | Similarity
) -> tuple[FloatArray, FloatArray]:
    r"""How near the judge, and each annotator, is to the other annotators.

    With :math:`H_{i,-j}` the labels of the annotators of instance i but j, the alignment of a label x is
    ``exact``: the share of :math:`H_{i,-j}` that equals x; ``rmse``:
    :math:`-\sqrt{\mathrm{mean}_{h \in H_{i,-j}} (x - h)^2}`; or the mean of a similarity, ``similarity(x, h)``.

    Args:
        judge: One label per instance, None where there is none.
        people: For each annotator one label per instance, None where there is none.
        scoring: ``exact``, ``rmse`` for numbers, or a function of two labels that grows with their likeness.

    Returns:
        Of the judge, and of the annotators, (n_instances, n_annotators): NaN where annotator j or all others are
        silent. Where only the judge is silent its alignment is minus infinity: any annotator is nearer.

    Raises:
        InvalidInputError: Columns of unequal lengths, or a similarity that is no finite number.

    >>> judge, people = leave_one_out_alignment("ab", ["aa", "ab", "bb"], "exact")
    >>> judge.tolist(), people.tolist()
    ([[0.5, 0.5, 1.0], [1.0, 0.5, 0.5]], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])
    """
    if any(len(column) != len(judge) for column in people):
        raise InvalidInputError(
            f"the judge has {len(judge)} labels and the annotators {[len(each) for each in people]}: give one per "
            "instance, None where there is none"
        )
    of_judge, of_people = np.full((2, len(judge), len(people)), np.nan)
    for row, said in enumerate(judge):
        labels = [column[row] for column in people]
        for left_out, own in enumerate(labels):
            others = [label for place, label in enumerate(labels) if place != left_out and label is not None]
            if own is not None and others:
                of_judge[row, left_out] = -math.inf if said is None else _alignment(said, others, scoring)
                of_people[row, left_out] = _alignment(own, others, scoring)
    return of_judge, of_people


def _alignment(label: Any, others: Sequence[Any], scoring: str | Similarity) -> float:  # noqa: ANN401 - any label
    if scoring == "exact":
        return others.count(label) / len(others)
    if isinstance(scoring, str):
        return -math.sqrt(sum((label - other) ** 2 for other in others) / len(others))
    found = [float(scoring(label, other)) for other in others]
    if not all(map(math.isfinite, found)):
        raise InvalidInputError(f"the similarity of {label!r} to {others!r} is {found!r}; it must be finite")
    return sum(found) / len(found)


def alternative_annotator(
    judge: ArrayLike,
    people: ArrayLike,
    *,
    epsilon: float,
    alpha: float = 0.05,
    level: Level = 0.95,
) -> AlternativeAnnotator:
    r"""Test whether a judge represents the other annotators as well as each annotator does.

    On instance i let :math:`W^f_{ij}` say that the judge is at least as near to the annotators without j as j is, and
    :math:`W^h_{ij}` that j is at least as near as the judge; both are 1 where they are equally near. With
    :math:`d_{ij} = W^h_{ij} - W^f_{ij}`, the judge outdoes annotator j if :math:`H_{0j}: E\,d_{ij} \ge \varepsilon` is
    rejected, the p-values being corrected by Benjamini and Yekutieli, who allow for any dependence, over the
    annotators. The winning rate ω is the share of annotators outdone, the average advantage probability ρ the mean over
    annotators of the mean of :math:`W^f_{ij}`. The judge passes with ω ≥ ½ (equation 4).

    The test is :math:`t = (\bar d_j - \varepsilon) / (s_j / \sqrt{n_j})`, with n - 1 degrees of freedom, over the sums
    of clusters where rows come in clusters; with fewer than 30 instances or clusters there is none, as the authors ask.
    Where all d are the same the p-value is :math:`(1 - \varepsilon)^n`, the greatest probability of seeing nothing
    else, if d is below ε, and 1 if not.

    Args:
        judge: (n_instances, n_annotators), the alignments of the judge; see :func:`leave_one_out_alignment`.
        people: The same of the annotators. NaN in either sets the pair aside.
        epsilon: What the judge is given in advance, for being cheaper: in [0, 1).
        alpha: The false discovery rate.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances.

    Raises:
        InvalidInputError: An epsilon outside [0, 1), an alpha outside (0, 1), or arrays of unequal shapes.

    The judge is nearer on all of 40 instances; the most probable way to that is .4 each.

    >>> found = alternative_annotator([[1.0]] * 40, [[0.0]] * 40, epsilon=0.2)
    >>> round(found.annotators[0].p_value / 0.8**40, 6), found.winning_rate
    (1.0, 1.0)
    """
    if not 0 <= epsilon < 1 or not 0 < alpha < 1:
        raise InvalidInputError(
            f"epsilon is {epsilon!r} and alpha {alpha!r}; epsilon lies in [0, 1), alpha between 0 and 1"
        )
    of_judge, of_people = np.asarray(judge, dtype=float), np.asarray(people, dtype=float)
    if of_judge.shape != of_people.shape or of_judge.ndim != 2:
        raise InvalidInputError(
            f"the alignments have the shapes {of_judge.shape} and {of_people.shape}; both are (instances, annotators)"
        )
    known = ~(np.isnan(of_judge) | np.isnan(of_people))
    ahead = np.where(known, of_judge - np.where(known, of_people, 0.0), 0.0)
    wins, losses = (ahead >= -_SAME) & known, (ahead <= _SAME) & known
    clusters = IntervalLevel.of(level).labels(len(of_judge))
    differences = [losses[seen, place] - 1.0 * wins[seen, place] for place, seen in enumerate(known.T)]
    p_values = [_p_value(own, clusters[seen], epsilon) for own, seen in zip(differences, known.T, strict=True)]
    tested = [p_value for p_value in p_values if p_value is not None]
    corrected = iter(stats.false_discovery_control(tested, method="by").tolist() if tested else ())
    adjusted = [None if p_value is None else next(corrected) for p_value in p_values]
    outdone = [p_value is not None and p_value <= alpha for p_value in adjusted]
    weights = 1 / np.maximum(known.sum(axis=0), 1)  # so that annotators count the same, however much they labelled
    (advantage,) = ratio_intervals(wins @ weights, known @ weights, level=level)
    means = [float(own.mean()) if own.size else None for own in differences]
    advantages = mean_intervals(np.where(known, wins, np.nan), level=level)
    columns = (map(len, differences), advantages, means, p_values, adjusted, outdone)
    return AlternativeAnnotator(
        annotators=tuple(AnnotatorComparison(*found) for found in zip(*columns, strict=True)),
        winning_rate=sum(outdone) / len(tested) if tested else None,
        advantage=advantage,
        epsilon=epsilon,
        alpha=alpha,
    )


def _p_value(differences: FloatArray, clusters: IntArray, epsilon: float) -> float | None:
    """The p-value of mean(differences) >= epsilon; None where there is no test."""
    labels = np.unique(clusters, return_inverse=True)[1]
    number = int(labels.max(initial=-1)) + 1
    if number < FEWEST_INSTANCES:
        return None
    mean = float(differences.mean())
    spread = float((cluster_sums(differences - mean, labels) ** 2).sum())
    if spread < _SAME:
        return (1 - epsilon) ** number if mean < epsilon else 1.0
    error = math.sqrt(number / (number - 1) * spread) / len(differences)
    return float(stats.t.cdf((mean - epsilon) / error, number - 1))

"""Contests drawn from a Davidson-Beaver model with known parameters, dependent within a prompt."""

from itertools import combinations

import numpy as np
from scipy.stats import norm

from evenhand.statistics.contests import Contests


def simulated_contests(generator, strengths, *, advantage=0.0, ties=0.0, prompts=60, dependence=0.5):
    """Every pair in both orders on every prompt.

    The outcome probabilities of each contest are exactly the model's; a Gaussian copula makes those of one prompt
    depend on how good each system happens to be there.
    """
    size = len(strengths)
    ordered = [order for pair in combinations(range(size), 2) for order in (pair, pair[::-1])]
    first, second = np.tile(np.array(ordered).T, prompts)
    cluster = np.repeat(np.arange(prompts), len(ordered))
    margin = np.asarray(strengths)[first] - np.asarray(strengths)[second] + advantage
    weights = np.column_stack([np.exp(-margin / 2), np.full(len(margin), ties), np.exp(margin / 2)])
    loss, loss_or_tie = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)[:, :2].T
    quality = generator.standard_normal((prompts, size))
    shared = (quality[cluster, first] - quality[cluster, second]) / np.sqrt(2)
    own = generator.standard_normal(len(first))
    uniform = norm.cdf(np.sqrt(dependence) * shared + np.sqrt(1 - dependence) * own)
    score = np.where(uniform < loss, 0.0, np.where(uniform < loss_or_tie, 0.5, 1.0))
    return Contests.of([f"system {i}" for i in range(size)], first=first, second=second, score=score, cluster=cluster)


def resolved(contests):
    """One row per pair and prompt: the orders agree, or it is a tie (the rows stand in pairs of orders)."""
    one, other = contests.score[0::2], 1 - contests.score[1::2]
    return Contests(
        contests.systems,
        contests.first[0::2],
        contests.second[0::2],
        np.where(one == other, one, 0.5),
        contests.cluster[0::2],
        contests.prompt[0::2],
        contests.weight[0::2],
    )

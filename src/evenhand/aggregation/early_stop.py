"""When no further draw is needed, and which numbers a run may still give once draws were left out.

Where a judge's draws in one order (a *cell*) end because of what they said, how many there are depends on what they
are: settled cells are short, contested ones long. Every number that comes from draws belongs to one of these kinds, for
every mode, table and metric; this module decides it, and nothing else looks at how a cell ended.

**Functions of what the cells come to** are given as always, because a cell ends only once its outcome is settled: the
option selected, ``value`` and ``aggregated_value``, scores, winrates, ranks and their differences, accuracy against
gold labels, ``position_consistent``, flips, ``positional_bias`` and what position measures see of both orders,
agreement of judges (``percent_agreement``, alpha, kappas, effective judges, correlations), ``judge_mean``,
``score_without`` and ``change_without``, bounds. Panel rules, ``on_position_bias``, judge weights, NA strategies and
reductions read the outcomes of cells and never single draws, so the votes can be read again under each of them. Draws
that are not settled under *another* criterion than the one they were drawn for come to nothing there: the reason is
``stopped_early`` (:func:`order_result`).

**Shares and pairs of draws** are measured on the draws that are made whatever the others say, the first two of a cell
(:func:`~evenhand.votes.unselected_draws`): ``agreement`` of the votes with the verdict, ``parse_rate`` and the shares
of how replies were read, the stability of draws, the covered mass, and the strengths, position advantage and length
coefficient that paired comparisons estimate from single votes.

**Means and deviations over draws** are missing, or refused where they are asked for (:func:`check_mean_over_draws`):
``scoring="expected"``, ``spread``, confidence, its levels and calibration, ``normalized_score``, the shares of
best-of-N and the Grade Score; and in the reliability report repeated draws, which are its subject. They take
``stop_early=False``.

**Counts of what was done** say what was done and estimate nothing: votes, draws left out, unscored votes by their
reason, ``num_lone``, re-asks, calls, tokens, cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from evenhand.aggregation.collapse import OrderResult, Scoring, collapse_indices, collapse_samples, is_na
from evenhand.aggregation.rules import UNNAMED_TIE, Choice, Levels
from evenhand.criteria import Criterion, Option, Scale
from evenhand.errors import InvalidInputError
from evenhand.options import NEEDS_ALL_DRAWS
from evenhand.votes import PREDICTIVE, StopConfidence, Vote

PREDICTIVE_PROBABILITY = 0.985
"""From which probability of the same outcome on the draws of a cell end by default."""

PRIOR_DRAWS = 0.25
"""How many draws the prior of :func:`predictive_probability` is worth, over all options together."""

REDRAW = "judge again with stop_early=False (draws in the journal are not paid twice)"


def draws_are_settled(
    votes: Sequence[Vote], criterion: Criterion, remaining: int, *, confidence: StopConfidence = None
) -> bool:
    r"""Whether further draws cannot change, or are unlikely to change, what a judge says in one order.

    Certain (``confidence=None``): whatever option each of the remaining draws selects, and however many of them select
    none, the draws collapse to the same choice (:func:`~evenhand.aggregation.aggregate`, section "samples"). It is
    enough to try each option for all of 1 to ``remaining`` further draws: counts move furthest towards an option, and a
    median towards an end of the scale, when all draws agree. What is certain ends the draws under the other rules too.

    ``"predictive"``, the default of a run: the :func:`predictive_probability` that all draws come to the same choice is
    at least 0.985, after three scored draws and a third of all, whichever is more. On 146,284 recorded prompts with
    eight draws on ten levels it takes 59.3 % of the calls and comes to what all eight come to on 99.1 % (the posterior
    of the lead at 0.95: 67.8 %, 99.9 %; certainty: 73.5 %, 100 %). Simulated judges agree with all their draws on 97 %
    or more, also where they toss a fair coin for yes or no, with 3 to 25 draws (nine draws between two neighbours of
    five levels: 96.7 %).

    A number: with :math:`c_1 \ge c_2` the draws of the two options selected most, both as probable beforehand,
    the share :math:`\theta` of the first among the two has the posterior
    :math:`\mathrm{Beta}(c_1 + 1, c_2 + 1)`; the draws are settled when
    :math:`P(\theta > \tfrac{1}{2}) \ge` ``confidence`` and the choice is that option. Looking after every draw
    makes a wrong stop likelier than 1 - ``confidence``: it is a rule for saving calls, not a test.

    Args:
        votes: The draws so far, unscored ones included.
        criterion: Whose options were voted on.
        remaining: Draws not made yet.
        confidence: ``"predictive"``; a number in (½, 1); None for certainty alone.

    Raises:
        InvalidInputError: If ``confidence`` is none of these.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> yes = Vote(judge_id="j", order=(0, 1), selected_index=0)
        >>> [draws_are_settled([yes] * 3, yes_no_criterion("met", "Is it met?"), remaining) for remaining in (2, 3)]
        [True, False]
    """
    check_confidence(confidence)
    levels = Levels.of(criterion)
    counts = [0] * len(levels.values)
    for vote in votes:
        if vote.selected_index is not None and not is_na(vote, levels):
            counts[vote.selected_index] += 1
    if not any(counts):
        return remaining == 0
    return _counts_are_settled(_Shape.of(criterion), tuple(counts), remaining, confidence)


class _Shape(NamedTuple):
    """What of a criterion decides how draws collapse."""

    scale: Scale
    weight: float
    options: tuple[tuple[float | None, bool], ...]

    @classmethod
    def of(cls, criterion: Criterion) -> Self:
        return cls(
            criterion.scale, criterion.weight, tuple([(option.value, option.na) for option in criterion.options])
        )


@lru_cache(maxsize=256)
def _levels(shape: _Shape) -> Levels:
    options = tuple(Option(label=str(place), value=value, na=na) for place, (value, na) in enumerate(shape.options))
    return Levels.of(Criterion(name="-", description="", options=options, scale=shape.scale, weight=shape.weight))


@lru_cache(maxsize=2**14)
def _counts_are_settled(shape: _Shape, counts: tuple[int, ...], remaining: int, confidence: StopConfidence) -> bool:
    levels = _levels(shape)
    made = [option for option, count in enumerate(counts) for _ in range(count)]
    choice = collapse_indices(made, levels)
    if confidence == PREDICTIVE:
        fewest = max(3, math.ceil((len(made) + remaining) / 3))
        likely = len(made) >= fewest and predictive_probability(levels, counts, remaining) >= PREDICTIVE_PROBABILITY
    elif isinstance(confidence, float | int):
        *_, runner_up, leading = sorted((0, *counts))
        likely = counts[choice.option] == leading and posterior_of_lead(leading, runner_up) >= confidence
    else:
        likely = False
    return likely or all(
        collapse_indices([*made, *[option] * draws], levels) == choice
        for option in levels.scored
        for draws in range(1, remaining + 1)
    )


def predictive_probability(levels: Levels, counts: Sequence[int], remaining: int) -> float:
    r"""How probable it is that all draws will come to the choice that the draws so far come to.

    The shares of the :math:`K` options that are not NA have the prior
    :math:`\mathrm{Dirichlet}(\tfrac{1}{4K}, …, \tfrac{1}{4K})`, worth a quarter of a draw: judges tend to repeat
    themselves. After the counts :math:`c`, the counts :math:`n` of :math:`R` further scored draws are
    Dirichlet-multinomial,

    .. math:: P(n) = \frac{R!}{A^{(R)}} \prod_k \frac{(c_k + 1/4K)^{(n_k)}}{n_k!}, \quad A = \tfrac14 + \sum_k c_k,

    with rising factorials :math:`a^{(n)}`. The probabilities of all :math:`n` with which the counts :math:`c + n`
    collapse to the same choice are summed, exactly: for a median by the draws below and above its place, for a mode by
    the generating function of the others' counts, cut off where they would win. Options of equal value are one.

    Args:
        levels: The options.
        counts: Per option the draws that selected it, at least one of an option that is not NA.
        remaining: Further draws, all taken to be scored.

    Sources: Lee and Liu (2008), "A predictive probability design for phase II cancer clinical trials", Clinical Trials
    5, section 2; Saville et al. (2014), "The utility of Bayesian predictive probabilities for interim monitoring of
    clinical trials", Clinical Trials 11; the distribution: Johnson, Kotz and Balakrishnan (1997), "Discrete
    Multivariate Distributions", section 35.13.1. The prior's weight and the threshold are ours, by the figures in
    :func:`draws_are_settled`.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> met = Levels.of(yes_no_criterion("met", "Is it met?"))
        >>> predictive_probability(met, [2, 0], 1)  # 3 : 0 or 2 : 1
        1.0
        >>> # of 1 yes and two draws, lost if both are no: (1/8)(9/8) / ((5/4)(9/4)) = 0.05
        >>> round(predictive_probability(met, [1, 0], 2), 9)
        0.95
    """
    made = [option for option in levels.scored for _ in range(counts[option])]
    choice = collapse_indices(made, levels)
    draws, prior = counts, PRIOR_DRAWS / len(levels.scored)
    if levels.by_value:
        return _median_stays(levels, draws, remaining, choice, prior)
    if not levels.pairwise:
        shares = [_further(counts[option] + prior, remaining) for option in levels.scored]
        leader = levels.scored.index(choice.option)
        spare = [levels.worst((option, choice.option)) == choice.option for option in levels.scored]
        stays = _leads([counts[option] for option in levels.scored], shares, leader, spare)
        return stays / float(_further(sum(counts[option] for option in levels.scored) + PRIOR_DRAWS, remaining)[-1])
    sides = [levels.side(levels.number(option)) for option in levels.scored]
    held = [
        sum(counts[option] for option, on in zip(levels.scored, sides, strict=True) if on == side)
        for side in (1, 0, -1)
    ]
    shares = [_further(own + prior * sides.count(side), remaining) for own, side in zip(held, (1, 0, -1), strict=True)]
    total = float(_further(sum(held) + PRIOR_DRAWS, remaining)[-1])
    wins = [_leads(held, shares, side, [False] * 3) / total for side in range(3)]
    side = 0 if choice.option == UNNAMED_TIE else levels.side(levels.number(choice.option))
    return wins[0] if side > 0 else wins[2] if side < 0 else 1 - wins[0] - wins[2]


def _leads(counts: Sequence[int], shares: Sequence[NDArray[np.float64]], leader: int, spare: Sequence[bool]) -> float:
    """The sum of the products of shares over all further draws after which the leader leads.

    Args:
        counts: The draws so far.
        shares: Per option those of 0, 1, …, R further draws of it.
        leader: Which.
        spare: Whether it wins a tie against each of the options.
    """
    remaining = len(shares[leader]) - 1
    found = 0.0
    for own in range(remaining + 1):
        others = np.ones(1)
        for option, held in enumerate(counts):
            most = counts[leader] + own - held - (not spare[option])
            if option != leader:
                others = np.convolve(others, shares[option][: max(most + 1, 0)] if most >= 0 else np.zeros(1))
        if len(others) > remaining - own:
            found += float(shares[leader][own] * others[remaining - own])
    return found


def _median_stays(levels: Levels, draws: Sequence[int], remaining: int, choice: Choice, prior: float) -> float:
    """The probability that the two draws in the middle of all have a mean that is snapped to the choice."""
    values = sorted({levels.number(option) for option in levels.scored})
    owners = [[option for option in levels.scored if levels.number(option) == value] for value in values]
    counts = np.array([sum(draws[option] for option in own) for own in owners])
    masses = counts + prior * np.array([len(own) for own in owners])
    made = int(counts.sum()) + remaining
    half = made // 2
    total = float(_further(float(masses.sum()), remaining)[-1])

    def both(at: int, by: int) -> float:
        """Made even: half of the draws at or below the place ``at``, none between, half at or above ``by``."""
        if at < 0 or by >= len(values) or counts[at + 1 : by].any():
            return 0.0
        below, above = half - int(counts[: at + 1].sum()), half - int(counts[by:].sum())
        if below < 0 or above < 0:
            return 0.0
        return float(
            _further(float(masses[: at + 1].sum()), remaining)[below]
            * _further(float(masses[by:].sum()), remaining)[above]
        )

    def one(at: int) -> float:
        """The draws in the middle are both at the place ``at``: fewer than half below it, and fewer above."""
        most = (made - 1) // 2
        lower, own, upper = (
            _further(float(part.sum()), remaining) for part in (masses[:at], masses[at : at + 1], masses[at + 1 :])
        )
        below, above = most - int(counts[:at].sum()), most - int(counts[at + 1 :].sum())
        if below < 0 or above < 0:
            return 0.0
        aside = np.convolve(lower[: below + 1], upper[: above + 1])[: remaining + 1]
        return float(aside @ own[remaining - np.arange(len(aside))])

    found = 0.0
    for at, low in enumerate(values):
        if levels.snap(low) == choice.option:
            found += one(at)
        for by in range(at + 1, len(values) if made % 2 == 0 else 0):
            if levels.snap((low + values[by]) / 2) == choice.option:
                found += both(at, by) - both(at - 1, by) - both(at, by + 1) + both(at - 1, by + 1)
    return found / total


@lru_cache(maxsize=2**12)
def _further(mass: float, draws: int) -> NDArray[np.float64]:
    """``mass``'s rising factorials of 0, 1, …, ``draws``, each divided by the factorial of its order."""
    steps = (mass + np.arange(draws)) / np.arange(1, draws + 1)
    return np.concatenate([[1.0], np.cumprod(steps)])


def posterior_of_lead(leading: int, runner_up: int) -> float:
    """P(θ > ½) for θ ~ Beta(leading + 1, runner_up + 1): how sure it is that the leading option is the likelier one.

    >>> posterior_of_lead(4, 0)  # 1 − (1/2)^5
    0.96875
    """
    return float(1 - betainc(leading + 1, runner_up + 1, 0.5))


def check_confidence(confidence: object) -> None:
    """Raise :class:`~evenhand.errors.InvalidInputError` unless it is ``"predictive"``, None or lies in (½, 1)."""
    if confidence is None or confidence == PREDICTIVE:
        return
    if isinstance(confidence, bool) or not isinstance(confidence, float | int) or not 0.5 < confidence < 1:
        raise InvalidInputError(
            f"confidence is {confidence!r}; give a number between 0.5 and 1, such as 0.95, 'predictive', or None to "
            "stop only when the remaining draws cannot change the outcome"
        )


def stopped_early(votes: Sequence[Vote]) -> bool:
    """Whether the draws of any of the votes' cells could end because of what they said."""
    return any(vote.early_stop is not None for vote in votes)


def check_mean_over_draws(votes: Sequence[Vote], what: str) -> None:
    """Refuse a mean over draws that could stop early.

    Args:
        votes: Those that would be averaged.
        what: The mean, for the message.

    Raises:
        InvalidInputError: If the draws could stop early.
    """
    stopped = next((vote for vote in votes if vote.early_stop is not None), None)
    if stopped is not None:
        raise InvalidInputError(
            f"{what} cannot be read from the draws of {stopped.judge_id!r}, which could stop early (stop_early=True): "
            f"{NEEDS_ALL_DRAWS}; {REDRAW}"
        )


def order_result(votes: Sequence[Vote], levels: Levels, scoring: Scoring) -> OrderResult:
    """What one judge says in one order, as far as its draws say it.

    Draws that could stop early have no ``spread``, and are ``undecided`` where they ended before they settle what the
    criterion comes to under the rule that ended them: they were drawn for another one.

    Raises:
        InvalidInputError: If expected values are asked of draws that could stop early.
    """
    stop = votes[0].early_stop
    if stop is None:
        return collapse_samples(votes, levels, scoring)
    if scoring.expected:
        check_mean_over_draws(votes, "scoring='expected'")
    result = replace(collapse_samples(votes, levels, scoring), spread=None)
    remaining = draws_left_out(votes)
    if remaining and not draws_are_settled(votes, levels.criterion, remaining, confidence=stop.confidence):
        return replace(result, choice=None, na=False, undecided=True)
    return result


def draws_left_out(votes: Sequence[Vote]) -> int:
    """How many draws of one judge in one order were not made; a prompt shown again goes on counting its draws."""
    stop = votes[0].early_stop
    if stop is None:
        return 0
    times = len({vote.sample // stop.planned for vote in votes})
    return max(0, stop.planned * times - len(votes))

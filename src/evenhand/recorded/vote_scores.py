"""From recorded votes to verdicts, and to the numbers that are reported, with and without a ground truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack, cast

import numpy as np

from evenhand.aggregation import aggregate as aggregate_votes
from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.recorded.columns import RecordedVotes, VoteReader, judge_weights
from evenhand.recorded.scales import Drawing, Scale, Undefined, defined
from evenhand.scoring import ScoreSummary, summarize
from evenhand.statistics import (
    Agreement,
    Interval,
    ValueErrors,
    accuracy,
    cohen_kappa,
    confusion_matrix,
    value_errors,
)
from evenhand.votes import Verdict, Vote

NO_VERDICT = Verdict(unscored_reason="not_asked")
"""The verdict on an instance for which no vote and no abstention is recorded."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Verdicts against the labels that are known to be right.

    Attributes:
        num_references: Instances with a reference.
        num_compared: Those that have a verdict too; all the rest is over these. NA is a verdict, and a reference.
        accuracy: The share of verdicts that are the reference.
        accuracy_if_unscored_0: The accuracy if every instance with a reference and without a verdict were wrong.
        accuracy_if_unscored_1: The same if they were right.
        adjacent_accuracy: Ordinal: the share that is at most one level beside the reference.
        labels: Of rows and columns of the confusion matrix; the last stands for what is missing.
        confusion_matrix: Rows are references, columns verdicts; the cells add up to all instances.
        cohen_kappa: Beyond chance, over all options.
        quadratic_weighted_kappa: Ordinal: over all levels, used or not.
        errors: Of the aggregated values against the values of the references.
    """

    num_references: int
    num_compared: int
    accuracy: Interval | Undefined
    accuracy_if_unscored_0: float
    accuracy_if_unscored_1: float
    adjacent_accuracy: Interval | Undefined | None
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]
    cohen_kappa: Agreement | Undefined
    quadratic_weighted_kappa: Agreement | Undefined | None
    errors: ValueErrors | Undefined


@dataclass(frozen=True, slots=True)
class VoteSummary:
    """What the recorded votes on ``scores.num_instances`` instances come to.

    Attributes:
        scores: The aggregated score and what it rests on.
        krippendorff_alpha: Of the judges, at the criterion's level of measurement; abstentions and NA are missing.
        num_votes: Votes and abstentions of those who were asked.
        num_abstentions: Votes of None: asked, and nothing said. Who was not asked has no vote, and a call that failed
            is neither.
        num_na_votes: Votes for an NA option.
        selections: Label -> on how many instances it was selected.
        comparison: Against the references; None where no instance has one.
        level: Of the intervals.
    """

    scores: ScoreSummary
    krippendorff_alpha: Agreement | Undefined
    num_votes: int
    num_abstentions: int
    num_na_votes: int
    selections: tuple[tuple[str, int], ...]
    comparison: Comparison | None
    level: float


def summarize_votes(
    verdicts: Sequence[Verdict],
    criterion: Criterion,
    references: Sequence[int | None] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> VoteSummary:
    """Scores, agreement and, where there are references, how often the verdicts are right.

    Args:
        verdicts: One an instance, on recorded votes (one order and one sample a judge).
        criterion: Whose options were voted on.
        references: Per instance the option that is right, None where it is not known.
        level: Of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters of the instances.
        resamples: Draws for the intervals of alpha and kappa.
        seed: Of the draws.
    """
    scale = Scale.of(criterion)
    votes = [vote for verdict in verdicts for vote in verdict.votes]
    known = [] if references is None else [reference for reference in references if reference is not None]
    drawn = Drawing(level=level, resamples=resamples, seed=seed)
    selected = [verdict.selected_index for verdict in verdicts]
    return VoteSummary(
        scores=summarize(verdicts, level=level),
        krippendorff_alpha=panel_alpha(verdicts, scale, **drawn),
        num_votes=len(votes),
        num_abstentions=sum(vote.unscored_reason == "abstained" for vote in votes),
        num_na_votes=sum(vote.na for vote in votes),
        selections=tuple((label, selected.count(place)) for place, label in enumerate(scale.labels)),
        comparison=compare(verdicts, scale, references, **drawn) if references is not None and known else None,
        level=float(level),
    )


def panel_alpha(verdicts: Sequence[Verdict], scale: Scale, **drawn: Unpack[Drawing]) -> Agreement | Undefined:
    """Krippendorff's alpha of the judges; those of instances with fewer votes than others are missing."""
    width = max((len(verdict.votes) for verdict in verdicts), default=0)
    ratings = np.full((len(verdicts), width), np.nan)
    for row, verdict in enumerate(verdicts):
        ratings[row, : len(verdict.votes)] = scale.as_ratings(vote.selected_index for vote in verdict.votes)
    return scale.alpha(ratings, **drawn)


def compare(
    verdicts: Sequence[Verdict],
    scale: Scale,
    references: Sequence[int | None],
    **drawn: Unpack[Drawing],
) -> Comparison:
    """The verdicts against the references."""
    selected = [verdict.selected_index for verdict in verdicts]
    truth, judged = scale.as_places(references), scale.as_places(selected)
    true_levels, levels = scale.as_levels(references), scale.as_levels(selected)
    level = drawn["level"]
    compared = int((~np.isnan(truth) & ~np.isnan(judged)).sum())
    right, known = int((truth == judged).sum()), int((~np.isnan(truth)).sum())
    numbers = np.array(
        [np.nan if verdict.aggregated_value is None else verdict.aggregated_value for verdict in verdicts], dtype=float
    )
    ordinal = scale.ordinal
    return Comparison(
        num_references=known,
        num_compared=compared,
        accuracy=defined(lambda: accuracy(truth, judged, level=level)),
        accuracy_if_unscored_0=right / known,
        accuracy_if_unscored_1=(right + known - compared) / known,
        adjacent_accuracy=defined(lambda: adjacent_accuracy(scale, references, selected, level)) if ordinal else None,
        labels=(*scale.labels, missing_label(scale.labels)),
        confusion_matrix=confusion_matrix(truth, judged, len(scale.labels)),
        cohen_kappa=defined(lambda: cohen_kappa(truth, judged, categories=scale.places, **drawn)),
        quadratic_weighted_kappa=defined(
            lambda: cohen_kappa(true_levels, levels, weights="quadratic", categories=scale.ranks, **drawn)
        )
        if ordinal
        else None,
        errors=defined(lambda: value_errors(scale.as_values(references), numbers, level=level)),
    )


def adjacent_accuracy(
    scale: Scale, truth: Sequence[int | None], judged: Sequence[int | None], level: float = 0.95
) -> Interval:
    """The share of judgements at most one level beside the truth; NA is right where the truth is NA, else wrong.

    Raises:
        EstimationError: No unit has both.
    """
    far = len(scale.labels) + 1  # no level is so near to it as to count as adjacent
    pairs = [scale.as_levels(given) for given in (truth, judged)]
    for levels, given in zip(pairs, (truth, judged), strict=True):
        na = [index is not None and scale.levels[index] is None for index in given]
        levels[np.array(na, dtype=bool)] = far
    return accuracy(*pairs, within=1, level=level)


def missing_label(labels: Sequence[str]) -> str:
    """What the confusion matrix calls a missing verdict or reference.

    >>> missing_label(["Yes", "No"])
    'unscored'
    """
    name = "unscored"
    while name in labels:
        name = f"({name})"
    return name


@takes()
def aggregate(
    votes: Sequence[Vote] | RecordedVotes,
    criterion: Criterion,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    on_position_bias: str | None = None,
    as_index: bool = False,
) -> Verdict:
    """Collapse all votes on one question to one verdict: :func:`evenhand.aggregation.aggregate`, for plain votes too.

    Args:
        votes: Votes that judges of evenhand cast; or recorded ones, a list with one a judge or a mapping judge -> vote,
            each a label, the value of an option, True or False, or None for an abstention (how they are read:
            :mod:`evenhand.data.cells`).
        criterion: Whose options were voted on.
        rule: The panel rule; None for the scale's default.
        weights: Judge -> weight, or for recorded votes in a list one weight a vote; None for equal weights (and for the
            votes of evenhand's judges, their own).
        on_position_bias: What to do when the orders of one judge disagree, which recorded votes have not.
        as_index: Recorded votes that are numbers are places of options, 0 for the first.

    Raises:
        InvalidInputError: If there are no votes, a vote or a weight cannot be used, or votes are of both kinds.
        UnknownRuleError: If ``rule`` does not exist or does not fit the criterion.

    >>> from evenhand.criteria import Option
    >>> levels = tuple(Option(label=name, value=value) for name, value in [("Bad", 0), ("Fair", 0.5), ("Good", 1)])
    >>> criterion = Criterion(name="clear", description="", options=levels)
    >>> aggregate(["Good", "Bad", None, "Good"], criterion, "median").selected_label
    'Good'
    >>> aggregate({"ann": 1, "bob": 0}, criterion, "weighted_mean", {"ann": 3, "bob": 1}).aggregated_value
    0.75
    """
    if _are_cast(votes):
        if weights is not None and not isinstance(weights, Mapping):
            raise InvalidInputError(f"the weights are {weights!r}; name the judges: a mapping judge_id -> weight")
        return aggregate_votes(
            cast("Sequence[Vote]", votes), criterion, rule, weights=weights, on_position_bias=on_position_bias
        )
    read = VoteReader.of(criterion, as_index=as_index).votes(votes, "the votes")
    by_judge = judge_weights(weights, read, "the votes")
    return aggregate_votes(read, criterion, rule, weights=by_judge, on_position_bias=on_position_bias)


def _are_cast(votes: object) -> bool:
    """Whether all votes are :class:`~evenhand.votes.Vote` values, of which there is at least one."""
    if isinstance(votes, Mapping) or not isinstance(votes, Sequence) or isinstance(votes, str):
        return False
    kinds = {isinstance(vote, Vote) for vote in votes}
    if len(kinds) > 1:
        raise InvalidInputError("some of the votes are Vote values and others plain labels; give one kind")
    return kinds == {True}

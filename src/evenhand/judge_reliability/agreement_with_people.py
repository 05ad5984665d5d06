"""A judge against what people said: accuracy, agreement beyond chance, and whether its confidences are true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from evenhand.judge_reliability.asked import Asked, Categories, level_over
from evenhand.judge_reliability.raters import Drawing, PanelAgreement, Rater, RaterPair, Scale, all_pairs, panels
from evenhand.numbers import Missing
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.agreement import Agreement, Calibration, calibration, confusion_matrix
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.votes import Verdict, Vote


def share_of(
    numerators: Sequence[float],
    denominators: Sequence[float],
    instances: Sequence[int],
    level: Level,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Interval | None:
    """The ratio of two sums over rows, with an interval over the instances of the rows; None without a denominator."""
    over = IntervalLevel.of(level).over(instances)
    (interval,) = ratio_intervals(numerators, denominators, level=over, bounds=bounds)
    return interval


UNSCORED = "unscored"
NO_LABELS = Missing("no labels of people were given")
BINS = 10


@dataclass(frozen=True, slots=True)
class AgreementWithPeople:
    """A judge against the labels or preferences that people gave. A person's tie is a label.

    Attributes:
        num_labels: Questions with a label.
        num_compared: Those of them that have a verdict too; kappas, alpha and ``verdict_accuracy`` are over these.
        vote_accuracy: Share of the single votes that are the label, over the votes that selected something.
        all_orders_right: Share of the draws, scored in all orders, that are the label in every order.
        verdict_accuracy: Share of the verdicts (draws and orders collapsed) that are the label.
        cohen_kappa: Of verdicts and labels, over all options.
        quadratic_weighted_kappa: The same where the options have an order (first, tie, second have one); None if not.
        krippendorff_alpha: At the level of measurement of the options.
        labels: Of rows and columns of the matrix; the last stands for what is missing.
        confusion_matrix: Rows are labels, columns verdicts; the cells add up to all questions.
    """

    num_labels: int
    num_compared: int
    vote_accuracy: Interval | Missing
    all_orders_right: Interval | Missing
    verdict_accuracy: Interval | Missing
    cohen_kappa: Agreement | Missing
    quadratic_weighted_kappa: Agreement | Missing | None
    krippendorff_alpha: Agreement | Missing
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Confidences:
    """The probabilities of the options that were selected, against whether people selected the same.

    Attributes:
        num_votes: Votes with log-probabilities, a selection and a label.
        calibration: The Brier score, the expected calibration error, over- or underconfidence, and the diagram.
    """

    num_votes: int
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """How far several judges agree on one criterion, each by its own verdicts.

    Attributes:
        criterion: The criterion's name.
        pairs: Every two judges.
        all_judges: Krippendorff's alpha of all.
    """

    criterion: str
    pairs: tuple[RaterPair, ...]
    all_judges: PanelAgreement


def agreement_with_people(
    asked: Sequence[Asked], categories: Categories, **drawing: Unpack[Drawing]
) -> AgreementWithPeople | Missing:
    """The votes and verdicts on the questions that people labelled."""
    labelled = [question for question in asked if question.label is not None]
    if not labelled:
        return NO_LABELS
    scale = categories.scale
    people = Rater("people", "human", tuple(question.label for question in labelled))
    judge = Rater("judge", "judge", tuple(categories.of_verdict(question.verdict) for question in labelled))
    level = level_over(labelled, drawing["level"])
    drawing = {**drawing, "level": level}
    (pair,) = all_pairs([people, judge], scale, **drawing)
    (both,) = panels([judge, people], scale, **drawing)[-1:]
    verdicts = [
        [float(chosen == question.label)] if chosen is not None else []
        for question, chosen in zip(labelled, judge.selected, strict=True)
    ]
    return AgreementWithPeople(
        num_labels=len(labelled),
        num_compared=pair.num_compared,
        vote_accuracy=_accuracy(labelled, [_votes_right(question, categories) for question in labelled], level),
        all_orders_right=_accuracy(labelled, [_draws_right(question, categories) for question in labelled], level),
        verdict_accuracy=_accuracy(labelled, verdicts, level),
        cohen_kappa=pair.cohen_kappa,
        quadratic_weighted_kappa=pair.quadratic_weighted_kappa,
        krippendorff_alpha=both.krippendorff_alpha,
        labels=(*scale.labels, UNSCORED),
        confusion_matrix=confusion_matrix(
            scale.as_places([question.label for question in asked]),
            scale.as_places([categories.of_verdict(question.verdict) for question in asked]),
            len(scale.labels),
        ),
    )


def _votes_right(question: Asked, categories: Categories) -> list[float]:
    return [
        float(categories.of_vote(vote) == question.label)
        for vote in question.verdict.votes
        if vote.selected_index is not None
    ]


def _draws_right(question: Asked, categories: Categories) -> list[float]:
    """Whether each draw is right in all orders, for the draws that were scored in all of two orders or more."""
    return [
        float(all(categories.of_vote(vote) == question.label for vote in votes.values()))
        for votes in question.draws.values()
        if len(votes) > 1 and all(vote.selected_index is not None for vote in votes.values())
    ]


def _accuracy(
    labelled: Sequence[Asked], outcomes: Sequence[Sequence[float]], level: IntervalLevel
) -> Interval | Missing:
    found = share_of(
        [sum(trials) for trials in outcomes],
        [len(trials) for trials in outcomes],
        [question.together for question in labelled],
        level.over(None),
    )
    return found or Missing("nothing that people labelled has a selection of the judge")


def confidences_of(asked: Sequence[Asked], categories: Categories, *, level: Level) -> Confidences | Missing:
    """The probability of the option selected, and whether people chose it, for every vote that has both."""
    votes = [
        (question, vote)
        for question in asked
        for vote in question.verdict.votes
        if vote.selected_index is not None and sum(vote.probabilities or ()) > 0
    ]
    if not votes:
        return Missing("the votes have no log-probabilities: ask for them with confidences=True")
    known = [(question, vote) for question, vote in votes if question.label is not None]
    if not known:
        return NO_LABELS
    stated = [_confidence(vote, categories) for _, vote in known]
    right = [float(categories.of_vote(vote) == question.label) for question, vote in known]
    over = IntervalLevel.of(level).over([question.together for question, _ in known])
    return Confidences(num_votes=len(known), calibration=calibration(stated, right, bins=BINS, level=over))


def _confidence(vote: Vote, categories: Categories) -> float:
    """The probability of what the vote selects, of the probability that the options cover."""
    shares = vote.probabilities or ()
    chosen = categories.of_vote(vote)
    stated = sum(share for index, share in enumerate(shares) if categories.of_option(index) == chosen)
    return min(stated / sum(shares), 1.0)


def agreement_of_judges(
    verdicts: Mapping[str, Sequence[Verdict]], categories: Categories, **drawing: Unpack[Drawing]
) -> JudgesAgreement:
    """How far judges agree that were asked the same questions.

    Two judges of a comparison agree if they prefer the same side; the alpha of all of them is that of what they
    selected, grades and all, as in the report of a panel (`evenhand.judge_reliability.panel_report`).

    Args:
        verdicts: Judge -> verdict per question, by its own votes alone; two judges or more.
        categories: Of the criterion.
        **drawing: Level (`evenhand.statistics.intervals.IntervalLevel` for questions that belong together), resamples
            and seed of the intervals.
    """
    scale = Scale.of(categories.criterion)
    sides, selected = (
        [Rater(judge, "judge", tuple(map(read, given))) for judge, given in verdicts.items()]
        for read in (categories.of_verdict, scale.place_of)
    )
    (everyone,) = panels(selected, scale, **drawing)
    return JudgesAgreement(categories.criterion.name, all_pairs(sides, categories.scale, **drawing), everyone)

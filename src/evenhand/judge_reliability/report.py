"""What is reported of a judge: frozen results, one criterion at a time. What has no number has a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evenhand.criteria import Scale as ScaleName
from evenhand.recorded import PanelAgreement, RaterPair, Undefined
from evenhand.statistics import (
    Agreement,
    BrierScore,
    Calibration,
    GradeScore,
    Interval,
    OptionFlips,
    PreferenceFairness,
    RepetitionStability,
    VerbositySlope,
)
from evenhand.votes import MatchKind

Mode = Literal["assess", "compare"]


@dataclass(frozen=True, slots=True)
class UnscoredShare:
    """Votes that selected nothing for one reason.

    Attributes:
        reason: As in `evenhand.votes.UnscoredReason`.
        count: How many.
        share: Of all votes asked for.
    """

    reason: str
    count: int
    share: Interval


@dataclass(frozen=True, slots=True)
class Replies:
    """What became of the votes that were asked for, and what they consumed.

    Attributes:
        num_votes: Votes asked for.
        num_scored: Those that selected an option, NA included.
        num_na: Those that selected NA.
        num_reasks: How many times the judge was asked again.
        parse_rate: Share of the replies that named an option; a reply that led to a re-ask did not.
        unscored: Votes without a selection, a reason each, in the order of their names.
        calls: Calls sent.
        cached: Replies from the journal.
        prompt_tokens: Journaled replies included.
        completion_tokens: Journaled replies included.
        cost: US dollars spent; None where the price is not known.
        readings: How the selections were read; see :func:`~evenhand.scoring.count_readings`.
    """

    num_votes: int
    num_scored: int
    num_na: int
    num_reasks: int
    parse_rate: Interval | Undefined
    unscored: tuple[UnscoredShare, ...]
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    readings: Mapping[MatchKind, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OptionFlipRate:
    """How often one option is abandoned in another order."""

    label: str
    flips: OptionFlips


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
    vote_accuracy: Interval | Undefined
    all_orders_right: Interval | Undefined
    verdict_accuracy: Interval | Undefined
    cohen_kappa: Agreement | Undefined
    quadratic_weighted_kappa: Agreement | Undefined | None
    krippendorff_alpha: Agreement | Undefined
    labels: tuple[str, ...]
    confusion_matrix: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Confidences:
    """The probabilities of the options that were selected, against whether people selected the same.

    Attributes:
        num_votes: Votes with log-probabilities, a selection and a label.
        brier: The mean squared error.
        calibration: The expected calibration error, over- or underconfidence, and the diagram.
    """

    num_votes: int
    brier: BrierScore
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class CriterionReliability:
    """One judge on one criterion.

    Every interval takes instances as the sampling unit, with all their questions, orders and draws inside; only those
    of kappa and alpha take questions.

    Attributes:
        judge_id: Which judge.
        criterion: The criterion's name.
        scale: Its scale.
        mode: ``assess`` or ``compare``.
        num_instances: Instances with a question.
        num_questions: Questions put: instances × systems, or × pairs of systems.
        num_missing: Questions not put for want of a response.
        num_samples: The most draws of one prompt.
        replies: What became of the votes.
        position: Pairs of single votes in an order and its reverse: consistency, and what the rest moves towards. Of
            options, primacy is a move towards what is shown earlier.
        repetition: Agreement of the draws of a prompt.
        spread: Mean standard deviation of the values of a prompt's draws, in [0, 0.5].
        flips: Per option of the criterion.
        grade_score: Of exactly two systems, whose two rotations are the two orders; the first draw counts.
        verbosity: The length of a response and its chance of winning: a vote, the place held fixed, or the higher score
            of two that were assessed.
        verbosity_given_people: The same with people's preference held fixed too.
        people: Against labels or preferences.
        confidences: Where log-probabilities and labels exist.
        level: Of the intervals.
        resamples: Draws for the intervals of kappa and alpha.
        seed: Of these draws.
        num_clusters: Clusters that the instances are of; None where instances do not depend on each other.
    """

    judge_id: str
    criterion: str
    scale: ScaleName
    mode: Mode
    num_instances: int
    num_questions: int
    num_missing: int
    num_samples: int
    replies: Replies
    position: PreferenceFairness | Undefined
    repetition: RepetitionStability | Undefined
    spread: Interval | Undefined
    flips: tuple[OptionFlipRate, ...] | Undefined
    grade_score: GradeScore | Undefined
    verbosity: VerbositySlope | Undefined
    verbosity_given_people: VerbositySlope | Undefined
    people: AgreementWithPeople | Undefined
    confidences: Confidences | Undefined
    level: float
    resamples: int
    seed: int
    num_clusters: int | None = None


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

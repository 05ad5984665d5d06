"""From the votes of one judge to what is reported of it, on one criterion or as a chooser: no call is made."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Unpack

from evenhand.criteria import Criterion
from evenhand.criteria import Scale as ScaleName
from evenhand.judge_reliability.agreement_with_people import (
    AgreementWithPeople,
    Confidences,
    JudgesAgreement,
    agreement_of_judges,
    agreement_with_people,
    confidences_of,
    share_of,
)
from evenhand.judge_reliability.asked import (
    FIRST,
    SECOND,
    SIDES,
    Asked,
    Categories,
    Questions,
    draws_of_prompts,
    level_over,
    orders_of_draws,
    reversed_pairs,
    verbosity,
)
from evenhand.judge_reliability.raters import Drawing
from evenhand.modes.grade_scores import Grading, UnrelatedEffect, grade
from evenhand.numbers import Missing, format_count
from evenhand.results.measures import measure
from evenhand.results.unscored import UnscoredCounts
from evenhand.results.verdict_columns import VoteColumns
from evenhand.scoring import count_readings, count_replies
from evenhand.statistics import Interval
from evenhand.statistics.consistency import (
    OptionFlips,
    PositionBias,
    RepetitionStability,
    option_flips,
    position_bias,
    repetition_stability,
)
from evenhand.statistics.intervals import Level
from evenhand.statistics.length import VerbositySlope
from evenhand.votes import MatchKind, Vote, total_usage

Mode = Literal["assess", "compare"]

CONSUMED = {"calls", "cached", "prompt_tokens", "completion_tokens", "cost"}
"""What of the usage is reported of a judge."""

NO_SCORE = Missing("no instance has an answer in two rotations of a draw")
NOT_SHOWN = Missing("no unrelated option was shown")
NOT_PAIRED = Missing("no instance has a score both with and without the unrelated option")


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
        unscored_counts: How many votes were asked for, and how many are unscored.
        num_na: Those that selected NA.
        num_reasks: How many times the judge was asked again.
        parse_rate: Share of the replies that named an option; a reply that led to a re-ask did not.
        unscored: Unscored votes by reason, in the order of the reasons' names.
        calls: Calls sent.
        cached: Replies from the journal.
        prompt_tokens: Journaled replies included.
        completion_tokens: Journaled replies included.
        cost: US dollars spent; None where the price is not known.
        readings: How the selections were read; see :func:`~evenhand.scoring.count_readings`.
    """

    unscored_counts: UnscoredCounts
    num_na: int
    num_reasks: int
    parse_rate: Interval | Missing
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
class TwoGraded:
    """The Grade Score of a judge of two systems: see `evenhand.modes.grade_scores.Grading`.

    Attributes:
        grade_score: Mean over the questions; 1 chooses the same system wherever it stands, 0 the same place.
        chance_corrected: The same less what a random judge reaches: 0 is chance.
        answered: Share of the votes that chose one.
        chance: What a random judge reaches.
    """

    grade_score: Interval
    chance_corrected: Interval
    answered: Interval
    chance: float


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
        num_missing: Questions not put because a response is missing.
        num_samples: The most draws of one prompt.
        replies: What became of the votes.
        position: Pairs of single votes in an order and its reverse: consistency, and what the rest moves towards. Of
            options, primacy is a move towards what is shown earlier.
        repetition: Agreement of the draws of a prompt.
        spread: Mean standard deviation of the values of a prompt's draws.
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
        greatest_spread: What the spread can be at most: half of the range of the criterion's values.
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
    position: PositionBias | Missing
    repetition: RepetitionStability | Missing
    spread: Interval | Missing
    flips: tuple[OptionFlipRate, ...] | Missing
    grade_score: TwoGraded | Missing
    verbosity: VerbositySlope | Missing
    verbosity_given_people: VerbositySlope | Missing
    people: AgreementWithPeople | Missing
    confidences: Confidences | Missing
    level: float
    resamples: int
    seed: int
    num_clusters: int | None = None
    greatest_spread: float = 0.5


@dataclass(frozen=True, slots=True)
class PlacesChosen:
    """Which places were chosen where so many candidates were shown.

    Attributes:
        n_options: Candidates shown.
        counts: First place first.
        p_value: Of all places being chosen equally often; instances are kept whole.
    """

    n_options: int
    counts: tuple[int, ...]
    p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceReliability:
    """One judge, asked in one way for the best of the candidates in all their rotations.

    Attributes:
        judge_id: Which judge.
        criterion: What makes a candidate the best.
        prompt: The prompt's name.
        with_unrelated: Whether a candidate of another instance was among the candidates.
        grade_score: Mean over instances; 1 chooses the same candidate wherever it stands, 0 the same place.
        chance_corrected: The same less what a random judge reaches: 0 is chance.
        llm_score: Evenness of the places chosen.
        choice_score: Share of the favourite candidate.
        chance: What a random judge reaches; None without a score.
        answered: Share of the votes that named a candidate.
        unanswered: The other votes by reason.
        unrelated_chosen: Share of the answers that chose the unrelated candidate.
        unrelated_difference: Grade Score with it less without it.
        unrelated_corrected_difference: The same of the scores corrected for chance.
        num_instances: Instances in the data.
        num_scored: Those with a score.
        num_missing: Those with fewer than two candidates, which were not asked.
        places: One for each number of candidates shown.
        calls: Calls sent.
        cached: Replies from the journal.
        prompt_tokens: Journaled replies included.
        completion_tokens: Journaled replies included.
        cost: US dollars spent; None where the price is not known.
        level: Of the intervals.
    """

    judge_id: str
    criterion: str
    prompt: str
    with_unrelated: bool
    grade_score: Interval | Missing = measure("number")
    chance_corrected: Interval | Missing = measure("number")
    llm_score: Interval | Missing
    choice_score: Interval | Missing
    chance: float | None
    answered: Interval | Missing
    unanswered: tuple[UnscoredShare, ...]
    unrelated_chosen: Interval | Missing
    unrelated_difference: Interval | Missing
    unrelated_corrected_difference: Interval | Missing
    num_instances: int
    num_scored: int
    num_missing: int
    places: tuple[PlacesChosen, ...]
    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    level: float


def criterion_reliability(
    judge_id: str,
    asked: Sequence[Asked],
    criterion: Criterion,
    *,
    num_missing: int = 0,
    sides: tuple[str, str] = SIDES,
    level: Level = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> CriterionReliability:
    """Everything that the votes of one judge on one criterion say about the judge.

    Position is measured on single votes: a draw in an order and the draw of the same number in the reverse order. So
    neither consistency nor preference depends on how many draws there are, or on how verdicts are made of them. The
    pairs, draws and votes of an instance, or of what instances belong to, are one cluster.

    Args:
        judge_id: Which judge; every vote is its own.
        asked: The questions with the votes on them.
        criterion: Whose options were voted on.
        num_missing: Questions that were not put because a response is missing.
        sides: What the two systems are called, where there are only two.
        level: Of the intervals.
        resamples: Draws for the intervals of kappa and alpha.
        seed: Of these draws.

    Example:
        >>> from evenhand.aggregation import aggregate
        >>> from evenhand.criteria import yes_no_criterion
        >>> from evenhand.votes import Vote
        >>> cites = yes_no_criterion("cites", "Does the response cite a source?")
        >>> def votes(*selections):
        ...     orders = ((0, 1), (1, 0))
        ...     return [Vote(judge_id="a", order=order, selected_index=index, value=1.0 - index)
        ...             for order, index in zip(orders, selections)]
        >>> asked = [Asked(row, aggregate(votes(*pair), cites)) for row, pair in enumerate([(0, 0), (1, 1), (0, 1)])]
        >>> report = criterion_reliability("a", asked, cites)
        >>> round(report.position.position_consistency.estimate, 3), report.position.n_primacy
        (0.667, 1)
        >>> report.repetition.reason
        'no prompt was drawn twice: set samples to 3 or more'
    """
    categories = Categories(criterion, sides)
    drawing = Drawing(level=level, resamples=resamples, seed=seed)
    people = agreement_with_people(asked, categories, **drawing)
    low, high = criterion.score_range
    greatest = (high - low) / 2
    return CriterionReliability(
        judge_id=judge_id,
        criterion=criterion.name,
        scale=criterion.scale,
        mode="compare" if categories.compares else "assess",
        num_instances=len({question.instance for question in asked}),
        num_clusters=_clusters(asked),
        num_questions=len(asked),
        num_missing=num_missing,
        num_samples=max((len(votes) for question in asked for votes in question.prompts.values()), default=0),
        replies=_replies(asked, level),
        position=_position(asked, categories, level),
        repetition=_repetition(asked, categories, level),
        spread=_spread(asked, level, greatest),
        greatest_spread=greatest,
        flips=_flips(asked, categories, level),
        grade_score=_grade_score_of_two(asked, categories, level, seed),
        verbosity=verbosity(asked, categories, level),
        verbosity_given_people=verbosity(asked, categories, level, given_people=True),
        people=people,
        confidences=confidences_of(asked, categories, level=level),
        level=float(level),
        resamples=resamples,
        seed=seed,
    )


def reliability_of_judges(
    questions: Sequence[Questions], judges: Sequence[str], **drawing: Unpack[Drawing]
) -> tuple[tuple[CriterionReliability, ...], tuple[JudgesAgreement, ...]]:
    """The results of every judge on every criterion, and how far the judges agree where there are several."""
    results: list[CriterionReliability] = []
    agreements: list[JudgesAgreement] = []
    for each in questions:
        asked = {judge: each.of_judge(judge) for judge in judges}
        results += [
            criterion_reliability(
                judge, found, each.criterion, num_missing=each.num_missing, sides=each.sides, **drawing
            )
            for judge, found in asked.items()
        ]
        if len(judges) > 1:
            verdicts = {judge: [question.verdict for question in found] for judge, found in asked.items()}
            over = Drawing(
                level=level_over(asked[judges[0]], drawing["level"]),
                resamples=drawing["resamples"],
                seed=drawing["seed"],
            )
            agreements.append(agreement_of_judges(verdicts, Categories(each.criterion, each.sides), **over))
    return tuple(results), tuple(agreements)


def _clusters(asked: Sequence[Asked]) -> int | None:
    known = {question.cluster for question in asked} - {None}
    return len(known) or None


def _replies(asked: Sequence[Asked], level: Level) -> Replies:
    votes = [vote for question in asked for vote in question.verdict.votes]
    reasons = Counter(vote.unscored_reason for vote in votes if vote.unscored_reason is not None)
    usage = total_usage(vote.usage for vote in votes)
    replied = [count_replies(question.verdict.votes) for question in asked]
    parse_rate = share_of(
        [read for read, _ in replied], [all_ for _, all_ in replied], [each.together for each in asked], level
    )
    listed = ", ".join(f"{format_count(number)} {reason}" for reason, number in sorted(reasons.items()))
    return Replies(
        unscored_counts=UnscoredCounts.of(
            VoteColumns.of([question.verdict.votes for question in asked]), [question.instance for question in asked]
        ),
        num_na=sum(vote.na for vote in votes),
        num_reasks=sum(vote.reasks for vote in votes),
        parse_rate=parse_rate or Missing(f"no vote came to its last reply: {listed or 'there is none'}"),
        unscored=tuple(
            UnscoredShare(reason, count, share)
            for reason, count in sorted(reasons.items())
            if (share := _share_of_reason(asked, reason, level))
        ),
        readings=dict(count_readings(votes)),
        **usage.model_dump(include=CONSUMED),
    )


def _share_of_reason(asked: Sequence[Asked], reason: str, level: Level) -> Interval | None:
    return share_of(
        [sum(vote.unscored_reason == reason for vote in question.verdict.votes) for question in asked],
        [len(question.verdict.votes) for question in asked],
        [question.together for question in asked],
        level,
    )


def _position(asked: Sequence[Asked], categories: Categories, level: Level) -> PositionBias | Missing:
    selections, over = reversed_pairs(asked, categories, level)
    if not len(selections):
        return Missing("no question was shown in an order and in its reverse: leave check_positional_bias on")
    found = position_bias(selections, level=over)
    return found if found.n_checked else Missing("no question has a selection in both orders")


def _repetition(asked: Sequence[Asked], categories: Categories, level: Level) -> RepetitionStability | Missing:
    selections, over = draws_of_prompts(asked, categories, level)
    if selections.shape[1] < 2:
        return Missing("no prompt was drawn twice: set samples to 3 or more")
    found = repetition_stability(selections, level=over)
    return found if found.n_repeated else Missing("no prompt has a selection in two draws")


def _spread(asked: Sequence[Asked], level: Level, greatest: float) -> Interval | Missing:
    drawn = [
        (question.together, [vote.value for vote in votes if vote.value is not None])
        for question in asked
        for votes in question.prompts.values()
    ]
    spreads = [(instance, statistics.pstdev(values)) for instance, values in drawn if len(values) > 1]
    found = share_of(
        [spread for _, spread in spreads],
        [1.0] * len(spreads),
        [instance for instance, _ in spreads],
        level,
        bounds=(0.0, greatest),
    )
    return found or Missing("no prompt was drawn twice with a value: set samples to 3 or more")


def _flips(asked: Sequence[Asked], categories: Categories, level: Level) -> tuple[OptionFlipRate, ...] | Missing:
    selections, over = orders_of_draws(asked, level)
    if ((selections >= 0).sum(axis=1) < 2).all():
        return Missing("no question has a selection in two orders")
    labels = categories.option_labels
    found = option_flips(selections, len(labels), level=over)
    return tuple(OptionFlipRate(label, flips) for label, flips in zip(labels, found, strict=True))


def _grade_score_of_two(asked: Sequence[Asked], categories: Categories, level: Level, seed: int) -> TwoGraded | Missing:
    if not categories.compares:
        return Missing("an assessment chooses among options, not among candidates")
    if len({question.instance for question in asked}) < len(asked):
        return Missing("there are more than two systems: the best of all of them is asked for to score these")
    firsts = [[question.draws.get(0, {}).get(order) for order in ((0, 1), (1, 0))] for question in asked]
    shown = [[vote for vote in votes if vote is not None] for votes in firsts]
    if not shown or any(len(votes) < 2 for votes in shown):
        return Missing("not every question was shown in both orders: leave check_positional_bias on")
    sides = [[_for_a_side(vote, categories) for vote in votes] for votes in shown]
    found = grade(sides, shown[0][0].judge_id, level=level_over(asked, level), seed=seed)
    if not (found.grade_score and found.chance_corrected and found.answered and found.chance):
        return Missing("the Grade Score is undefined: no question has the answers that it needs")
    return TwoGraded(found.grade_score, found.chance_corrected, found.answered, found.chance)


def _for_a_side(vote: Vote, categories: Categories) -> Vote:
    """The vote for one of the two candidates; a tie names none."""
    side = categories.of_vote(vote)
    return vote.model_copy(update={"selected_index": side if side in {FIRST, SECOND} else None})


def choice_reliability(
    grading: Grading, criterion: str, prompt: str, unrelated: UnrelatedEffect | None = None
) -> ChoiceReliability:
    """What is reported of a grading.

    Args:
        grading: Of one judge and prompt.
        criterion: The criterion's name.
        prompt: The prompt's name.
        unrelated: What the unrelated option changes, where the grading is of the run with it.
    """
    asked = sum(instance.asked for instance in grading.instances)
    return ChoiceReliability(
        judge_id=grading.judge_id,
        criterion=criterion,
        prompt=prompt,
        with_unrelated=unrelated is not None,
        grade_score=grading.grade_score or NO_SCORE,
        chance_corrected=grading.chance_corrected or NO_SCORE,
        llm_score=grading.llm_score or NO_SCORE,
        choice_score=grading.choice_score or NO_SCORE,
        chance=None if isinstance(grading.chance, Missing) else grading.chance,
        answered=grading.answered or Missing("nothing was asked"),
        unanswered=tuple(
            UnscoredShare(reason, round(share.estimate * asked), share) for reason, share in grading.unanswered.items()
        ),
        unrelated_chosen=NOT_SHOWN if unrelated is None else unrelated.chosen or NO_SCORE,
        unrelated_difference=NOT_SHOWN if unrelated is None else unrelated.difference or NOT_PAIRED,
        unrelated_corrected_difference=NOT_SHOWN if unrelated is None else unrelated.corrected_difference or NOT_PAIRED,
        num_instances=grading.num_instances,
        num_scored=grading.num_scored,
        num_missing=grading.num_missing_response,
        places=tuple(
            PlacesChosen(each.n_options, each.places.counts, each.places.instance_p_value)
            for each in grading.histograms
            if not isinstance(each.places, Missing)
        ),
        **grading.usage.model_dump(include=CONSUMED),
        level=float(grading.level),
    )

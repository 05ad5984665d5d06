"""A judge that chooses the best of several candidates: its Grade Score under each prompt, as it is reported."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.judge_reliability.report import UnscoredShare
from evenhand.judging.grading import Grading, UnrelatedEffect
from evenhand.recorded import Undefined
from evenhand.statistics import Interval

NO_SCORE = Undefined("no instance has an answer in two rotations of a draw")
NOT_SHOWN = Undefined("no unrelated option was shown")
NOT_PAIRED = Undefined("no instance has a score both with and without the unrelated option")


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


@dataclass(frozen=True, slots=True)
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
    grade_score: Interval | Undefined
    chance_corrected: Interval | Undefined
    llm_score: Interval | Undefined
    choice_score: Interval | Undefined
    chance: float | None
    answered: Interval | Undefined
    unanswered: tuple[UnscoredShare, ...]
    unrelated_chosen: Interval | Undefined
    unrelated_difference: Interval | Undefined
    unrelated_corrected_difference: Interval | Undefined
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
        chance=grading.chance,
        answered=grading.answered or Undefined("nothing was asked"),
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
            PlacesChosen(each.n_options, each.places.counts, each.places.shift_p_value)
            for each in grading.histograms
            if each.places is not None
        ),
        **grading.usage.model_dump(),
        level=grading.level,
    )

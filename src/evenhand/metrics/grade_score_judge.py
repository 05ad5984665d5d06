"""The Grade Score: does a judge choose what is shown, or where it is shown."""

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Union

from evenhand.metrics.best_of import ChoiceMetric
from evenhand.metrics.scores import number_or_nan, warn_of_mentions
from evenhand.modes.grade_score import (
    Grading,
    InstanceGrade,
    check_grade_settings,
    grade,
    unrelated_candidates,
    unrelated_effect,
)
from evenhand.results.measures import scores_of
from evenhand.scoring import unread_choices_note
from evenhand.unitxt.bases import EvaluationInput
from evenhand.votes import Vote

logger = logging.getLogger(__name__)

WITH_UNRELATED = "with_unrelated_"
UNRELATED = "unrelated_option"
"""What the unrelated option is called in the selections of an instance."""


@dataclass(frozen=True, slots=True)
class GradedChoices:
    """What one instance maps to.

    Attributes:
        judges: Who judged, in the order of the panel.
        names: The candidates asked about, in their own order.
        missing: The candidates without a text.
        unrelated: The text of the unrelated option; None without one.
        runs: The votes without, and where it was asked with, the unrelated option.
        grades: Judge -> what its votes come to, one a run.
        criteria_json: The criterion's artifact as JSON.
        cluster: What the instance belongs to; None where instances do not depend on each other.
    """

    judges: tuple[str, ...]
    names: tuple[str, ...]
    missing: tuple[str, ...]
    unrelated: Union[str, None]
    runs: tuple[tuple[Vote, ...], ...]
    grades: Dict[str, tuple[InstanceGrade, ...]]
    criteria_json: str
    cluster: Union[str, None] = None


class GradeScore(ChoiceMetric):
    """How good a judge is at choosing: even over places, and of one mind about candidates.

    Each instance is asked once in each of the N rotations of its candidates, so that every candidate stands at every
    place once. Per instance: the *LLM score* is the entropy of the places chosen over its greatest value, the *choice
    score* the share of the candidate chosen most, the *Grade Score* their harmonic mean: 1 for a judge that always
    chooses the same candidate, 0 for one that always chooses the same place. A random judge scores about 0.5, so the
    chance-corrected score, 0 for such a judge on average, stands beside every Grade Score. Rotations whose reply names
    no option are counted by reason in ``unanswered_…``; the score is over those answered, two at least.

    A Grade Score belongs to one judge: with several, every score's name ends in the judge's, and the main score is the
    first one's. With ``samples`` each draw is a set of rotations of its own, and an instance counts the mean of its
    draws. Source: Iourovitski (2024), arXiv:2406.12043.

    Attributes:
        unrelated_option: Ask every instance a second time with a further candidate, drawn with the seed from another
            instance, and report both, the difference, and how often it was chosen.
    """

    main_score: str = "grade_score"
    orders: str = "cyclic"
    check_positional_bias: Union[bool, float] = False
    unrelated_option: bool = False

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        check_grade_settings(
            self.settings(), unrelated_option=self.unrelated_option, rules=(self.aggregation, self.on_position_bias)
        )

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[GradedChoices]:
        """Judge all instances."""
        inputs = list(evaluation_inputs_stream)
        rows, criteria, as_json = self.candidates(inputs)
        clusters = self.clusters_of(inputs)
        unrelated = unrelated_candidates(rows, seed=self.seed) if self.unrelated_option else ()
        runs = self.ask(rows, criteria, unrelated)
        judges = tuple(judge.judge_id for judge in self.panel([]))
        graded = {judge: [self._grade(votes, judge, self.confidence_level) for votes in runs] for judge in judges}
        return [
            GradedChoices(
                judges=judges,
                names=row.names,
                missing=row.missing,
                unrelated=unrelated[place] if unrelated else None,
                runs=tuple(votes[place] for votes in runs),
                grades={judge: tuple(run.instances[place] for run in graded[judge]) for judge in judges},
                criteria_json=as_json[place],
                cluster=clusters[place],
            )
            for place, row in enumerate(rows)
        ]

    def reduce_one(self, intermidate: GradedChoices) -> Dict[str, Any]:  # unitxt spells its parameter so
        """The scores of one instance, for each judge."""
        main = _suffixed("grade_score", intermidate.judges, intermidate.judges[0])
        scores: dict[str, Any] = {}
        for judge, grades in intermidate.grades.items():
            for prefix, one, votes in zip(("", WITH_UNRELATED), grades, intermidate.runs, strict=False):
                own = [vote for vote in votes if vote.judge_id == judge]
                found = _instance_scores(one, own, (*intermidate.names, UNRELATED))
                scores |= {_suffixed(prefix + name, intermidate.judges, judge): value for name, value in found.items()}
        others = {
            "unrelated_option": intermidate.unrelated,
            "missing_candidates": list(intermidate.missing) or None,
            "criteria": intermidate.criteria_json,
        }
        scores |= {name: value for name, value in others.items() if value is not None}
        return {**scores, "score_name": main}

    def reduce(self, intermediates: List[GradedChoices]) -> Dict[str, Any]:
        """The global scores: for each judge its Grade Score, its parts, and what they rest on."""
        judges, shown = intermediates[0].judges, self.return_confidence_interval
        runs = list(zip(*(each.runs for each in intermediates), strict=True))
        level = self.level_of(intermediates)
        scores: dict[str, Any] = {"num_clusters": level.n_clusters} if level.n_clusters else {}
        for judge in judges:
            gradings = [self._grade(votes, judge, level) for votes in runs]
            found: dict[str, Any] = {}
            for prefix, grading in zip(("", WITH_UNRELATED), gradings, strict=False):
                if grading.unread_matter:
                    name = _suffixed(f"{prefix}grade_score", judges, judge)
                    logger.warning("The score %r: %s", name, *unread_choices_note(grading.num_unread))
                found |= {prefix + name: value for name, value in _scores(grading, with_intervals=shown).items()}
            if len(gradings) == 2:
                found |= scores_of(unrelated_effect(gradings[1], gradings[0]), "unrelated", with_intervals=shown)
            scores |= {_suffixed(name, judges, judge): value for name, value in found.items()}
        return {**scores, "score_name": _suffixed("grade_score", judges, judges[0])}

    def _grade(self, votes: Sequence[Sequence[Vote]], judge_id: str, level: float) -> Grading:
        return grade(votes, judge_id, level=level, seed=self.seed)


def _suffixed(name: str, judges: Sequence[str], judge: str) -> str:
    """The score's name with the judge's where there are several; limits of intervals come after it."""
    if len(judges) == 1:
        return name
    for limit in ("_ci_low", "_ci_high"):
        if name.endswith(limit):
            return f"{name.removesuffix(limit)}_{judge}{limit}"
    return f"{name}_{judge}"


def _instance_scores(grade_: InstanceGrade, votes: Sequence[Vote], names: Sequence[str]) -> dict[str, Any]:
    """One judge's scores on one instance; ``selections``, ``orders`` and ``assessments`` have one entry a vote."""
    prompts = [vote.prompts and dict(vote.prompts) for vote in votes]
    return {
        "grade_score": number_or_nan(grade_.grade_score),
        "chance_corrected_grade_score": number_or_nan(grade_.chance_corrected),
        "llm_score": number_or_nan(grade_.llm_score),
        "choice_score": number_or_nan(grade_.choice_score),
        "answered": grade_.answered / grade_.asked if grade_.asked else math.nan,
        "num_asked": grade_.asked,
        "num_answered": grade_.answered,
        "places": list(grade_.places),
        "candidates": list(grade_.chosen),
        "selections": [None if vote.selected_index is None else names[vote.selected_index] for vote in votes],
        "orders": [[names[index] for index in vote.order] for vote in votes],
        "assessments": [vote.assessment for vote in votes],
        **({"prompts": prompts} if any(prompts) else {}),
        **({} if grade_.unscored_reason is None else {"unscored_reason": grade_.unscored_reason}),
    }


def _scores(grading: Grading, *, with_intervals: bool) -> dict[str, float]:
    """One judge's scores in one run."""
    warn_of_mentions(grading.readings)
    scores = scores_of(grading, with_intervals=with_intervals)
    for histograms in grading.histograms:
        scores |= histograms.scores()
    return scores

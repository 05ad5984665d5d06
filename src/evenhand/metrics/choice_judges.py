"""Best of N: a judge chooses the best of an instance's candidates; and the Grade Score: what it goes by."""

import logging
import math
from collections.abc import Sequence
from typing import Any, Dict, List, Union

from evenhand.criteria import Criterion
from evenhand.data.systems import read_responses
from evenhand.errors import InvalidInputError
from evenhand.metrics.base_metric import number_or_nan, warn_of_unscored
from evenhand.metrics.judge_metric import JudgedInstance, JudgeMetric
from evenhand.modes.best_of import (
    BestOfMode,
    Selection,
    SelectionSummary,
    select,
    warn_of_equal_candidates,
)
from evenhand.modes.grade_scores import (
    UNRELATED,
    GradeMeasures,
    GradeMode,
    Grading,
    InstanceGrade,
    with_unrelated,
)
from evenhand.modes.mode import Subject
from evenhand.results.measures import scores_of
from evenhand.scoring import GRADED_ON_OTHERS
from evenhand.unitxt.bases import EvaluationInput
from evenhand.unitxt.loading import load_comparison
from evenhand.votes import Vote

logger = logging.getLogger(__name__)

WITH_UNRELATED = "with_unrelated_"
UNRELATED_OPTION = "unrelated_option"
"""What the unrelated option is called in the selections of an instance."""


class ChoiceMetric(JudgeMetric):
    """The base of the metrics in which a judge chooses the best of several candidates.

    An instance's prediction is a list of candidates (called ``"1"``, ``"2"``, …) or a dict name -> candidate, two or
    more, not necessarily as many on every instance. One that is None is left out and counted. Any criterion will do;
    the options of one that has some play no part. The judge sees Option 1, Option 2, …, never a name.

    Attributes:
        prompt: ``select`` (choose, then explain), ``evaluate_first`` (weigh every candidate, then choose; the default),
            ``avoid_order_bias`` (warned of it) or ``grade`` (grade every candidate from 0 to 5, then choose). They
            belong to ``flow="one_step"``, the default.
    """

    flow: str = "one_step"

    def check_prompt(self, mode: Any) -> None:
        """Check that the prompt is for a choice among candidates."""
        mode.flow.check_prompt("choose")

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[Sequence[Subject], List[str]]:
        """The candidates of each instance, its criterion, and its criteria artifact as JSON."""
        criteria, as_json = self.frozen_criteria(inputs, load_comparison)
        rows = [self._candidates(*about) for about in zip(range(len(inputs)), inputs, criteria, strict=True)]
        self.warn_of_context(criteria)
        warn_of_equal_candidates(rows)
        return rows, as_json

    def _candidates(self, place: int, given: EvaluationInput, criterion: Criterion) -> Subject:
        texts = read_responses(self.response_of(given, criterion.prediction_field, place), place)
        if len(texts) < 2:
            raise InvalidInputError(
                f"instance {place} has {len(texts)} candidate(s), {list(texts)!r}; the best is chosen of two or more "
                "(None where one is missing), and one response alone fits metrics.evenhand.direct"
            )
        return self.subject(given, criterion, place, texts)


class BestOfJudge(ChoiceMetric):
    """A judge chooses the best of each instance's candidates.

    An instance gives each candidate its share: with one order and one draw 1 to the candidate chosen; otherwise draws,
    orders and judges are averaged, so that a judge that changes its mind with the order gives half to each. A candidate
    is *selected* if its share is the largest; a tie selects none, with the reason ``inconsistent``, and is not decided
    by the numbering. An instance without a readable choice, or with fewer than two candidates that have a text, is
    unscored and in no rate. The main score is the selection rate of the first candidate, as in pairwise judging.

    The default orders are the given one and its reverse, which show a middle candidate at middle places only;
    ``orders="cyclic"`` shows every candidate at every place.

    Attributes:
        on_position_bias: ``average`` (default): orders that disagree share the instance. ``abstain``: they are no
            choice, and the instance is unscored. ``first``: the given order counts alone.
        aggregation: A panel's ``mode`` (default), ``weighted_mode`` or ``unanimous``.
    """

    main_score: str = "1_selection_rate"

    def mode_of(self, subjects: Sequence[Subject]) -> BestOfMode:  # noqa: ARG002 - other modes need to know
        """The best of several candidates."""
        return BestOfMode(self.run_options())

    def score_name(self, subjects: Sequence[Subject]) -> str:
        """The selection rate of the first candidate of the first instance."""
        return f"{next(iter(subjects[0].texts))}_selection_rate"

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance: who is selected, by whom in which order, and each candidate's share."""
        selection: Selection = judged.result
        consistent = selection.position_consistent
        given = _orders(selection.votes)
        shares = dict(zip(selection.names, selection.shares or (), strict=False))
        named = {f"{name}_selection_rate": share for name, share in shares.items()}
        return {
            "selected_candidate": selection.selected,
            "unscored_reason": selection.unscored_reason,
            "positional_bias": None if consistent is None else not consistent,
            "agreement": selection.agreement,
            "selections": [select(votes, selection.names).selected for votes in given],
            "orders": [[selection.names[index] for index in votes[0].order] for votes in given],
            "assessments": [[vote.assessment for vote in votes] for votes in given],
            "prompts": _prompts(given),
            "missing_candidates": list(selection.missing) or None,
            "criteria": judged.criteria_json,
            judged.score_name: math.nan,
            **named,
        }

    def global_scores(self, measures: SelectionSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """How often each candidate is selected, and how far that can be trusted."""
        del judged
        for candidate, found in measures.candidates.items():
            name = f"{candidate}_selection_rate"
            warn_of_unscored(name, measures.votes.unscored_counts, found.unscored_bounds, bounds=f"{name}_if_unscored")
        return scores_of(measures, with_intervals=self.return_confidence_interval)


def _orders(votes: Sequence[Vote]) -> list[list[Vote]]:
    """The votes by order, as they were asked."""
    orders: dict[tuple[int, ...], list[Vote]] = {}
    for vote in votes:
        orders.setdefault(vote.order, []).append(vote)
    return list(orders.values())


def _prompts(given: Sequence[Sequence[Vote]]) -> Union[list[Any], None]:
    """The prompts of the first vote in each order; None where they were not kept."""
    sent = [votes[0].prompts and dict(votes[0].prompts) for votes in given]
    return sent if any(sent) else None


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
        if not isinstance(self.unrelated_option, bool):
            raise InvalidInputError(f"unrelated_option is {self.unrelated_option!r}; give True or False")

    def check_options(self) -> None:
        """Check the options of the run; the judges are not built for that."""
        self.check_prompt(GradeMode(self.run_options()))

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[Sequence[Subject], List[str]]:
        """The candidates of each instance, with an unrelated one where it is asked for."""
        rows, as_json = super().subjects(inputs)
        return (with_unrelated(rows, seed=self.seed) if self.unrelated_option else rows), as_json

    def mode_of(self, subjects: Sequence[Subject]) -> GradeMode:  # noqa: ARG002 - other modes need to know
        """All rotations."""
        return GradeMode(self.run_options(), tuple(judge.judge_id for judge in self.panel()))

    def score_name(self, subjects: Sequence[Subject]) -> str:  # noqa: ARG002 - as above
        """The Grade Score of the first judge."""
        judges = [judge.judge_id for judge in self.panel()]
        return _suffixed("grade_score", judges, judges[0])

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance, for each judge."""
        mode, about, result = judged.mode, judged.about, judged.result
        scores: dict[str, Any] = {}
        for judge in mode.judges:
            for prefix, votes in zip(("", WITH_UNRELATED), result.runs, strict=False):
                own = [vote for vote in votes if vote.judge_id == judge]
                found = _instance_scores(mode.grade_of(judge, votes), own, (*result.names, UNRELATED_OPTION))
                scores |= {_suffixed(prefix + name, mode.judges, judge): value for name, value in found.items()}
        return {
            **scores,
            "unrelated_option": about.facts.get(UNRELATED),
            "missing_candidates": list(about.missing) or None,
            "criteria": judged.criteria_json,
        }

    def global_scores(self, measures: GradeMeasures, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """For each judge its Grade Score, its parts, and what they rest on."""
        del judged
        shown, judges = self.return_confidence_interval, tuple(measures.gradings)
        scores: dict[str, Any] = scores_of(measures)
        for judge, gradings in measures.gradings.items():
            found: dict[str, Any] = {}
            for prefix, grading in zip(("", WITH_UNRELATED), gradings, strict=False):
                if grading.unscored_votes_matter:
                    name = _suffixed(f"{prefix}grade_score", judges, judge)
                    logger.warning("The score %r: %s. %s", name, grading.unscored_counts, GRADED_ON_OTHERS)
                found |= {prefix + name: value for name, value in _scores(grading, with_intervals=shown).items()}
            if judge in measures.effects:
                found |= scores_of(measures.effects[judge], "unrelated", with_intervals=shown)
            scores |= {_suffixed(name, judges, judge): value for name, value in found.items()}
        return scores


def _suffixed(name: str, judges: Sequence[str], judge: str) -> str:
    """The score's name with the judge's where there are several; limits of intervals come after it."""
    if len(judges) == 1:
        return name
    for limit in ("_ci_low", "_ci_high"):
        if name.endswith(limit):
            return f"{name.removesuffix(limit)}_{judge}{limit}"
    return f"{name}_{judge}"


def _instance_scores(grade_: InstanceGrade, votes: Sequence[Vote], names: Sequence[str]) -> dict[str, Any]:
    """One judge's scores on one instance; ``selections``, ``orders`` and ``assessments`` have one entry per vote."""
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
        "prompts": prompts if any(prompts) else None,
        "unscored_reason": grade_.unscored_reason,
    }


def _scores(grading: Grading, *, with_intervals: bool) -> dict[str, float]:
    """One judge's scores in one run."""
    scores = scores_of(grading, with_intervals=with_intervals)
    for histograms in grading.histograms:
        scores |= histograms.scores()
    return scores

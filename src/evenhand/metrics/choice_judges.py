"""Best of N: a judge chooses the best of an instance's candidates; and the Grade Score: what it goes by."""

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Dict, List, Union

from evenhand.criteria import Criterion, Scale
from evenhand.data.systems import read_responses
from evenhand.errors import InvalidInputError
from evenhand.judging.settings import RunSettings
from evenhand.metrics.judge_metric import JudgeMetric
from evenhand.metrics.scores import number_or_nan, warn_of_mentions, warn_of_unread
from evenhand.modes.best_of import (
    Selection,
    check_choice_rules,
    choice_prompt,
    choice_question,
    select,
    summarize_selections,
    warn_of_equal_candidates,
)
from evenhand.modes.grade_scores import (
    Grading,
    InstanceGrade,
    check_grade_settings,
    grade,
    unrelated_candidates,
    unrelated_effect,
)
from evenhand.modes.subject import Subject
from evenhand.results.measures import scores_of
from evenhand.run_options import NEEDS_ALL_DRAWS
from evenhand.scoring import unread_choices_note
from evenhand.unitxt.bases import EvaluationInput
from evenhand.unitxt.loading import comparison_from_artifact
from evenhand.votes import Vote

logger = logging.getLogger(__name__)

WITH_UNRELATED = "with_unrelated_"
UNRELATED = "unrelated_option"
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

    def scales(self) -> Sequence[Scale]:
        """None: the options are the candidates, which have no values."""
        return ()

    def check_prompt(self, settings: RunSettings) -> None:
        """Check that the prompt is for a choice among candidates."""
        settings.flow.check_prompt("choose")

    def settings(self, scales: Sequence[Scale] = (), *, has_values: bool = True) -> RunSettings:
        """The run's settings, checked, with the prompt under its full name."""
        settings = super().settings(scales, has_values=has_values)
        if self.scoring != "selected":
            raise InvalidInputError(
                f"scoring is {self.scoring!r}, but a choice among candidates has no values to average: leave it out"
            )
        return settings.asking(prompt=choice_prompt(self.prompt, settings.flow.flow))

    def candidates(self, inputs: Sequence[EvaluationInput]) -> tuple[list[Subject], list[Criterion], list[str]]:
        """The candidates of each instance, its criterion, and its criteria artifact as JSON."""
        criteria, as_json = self.frozen_criteria(inputs, comparison_from_artifact)
        rows = [self._candidates(*about) for about in zip(range(len(inputs)), inputs, criteria, strict=True)]
        self.warn_of_context(criteria)
        warn_of_equal_candidates(rows)
        return rows, criteria, as_json

    def _candidates(self, place: int, given: EvaluationInput, criterion: Criterion) -> Subject:
        texts = read_responses(self.response_of(given, criterion.prediction_field, place), place)
        if len(texts) < 2:
            raise InvalidInputError(
                f"instance {place} has {len(texts)} candidate(s), {list(texts)!r}; the best is chosen of two or more "
                "(None where one is missing), and one response alone fits metrics.evenhand.direct"
            )
        return self.subject(given, criterion, place, texts)

    def ask(
        self, rows: Sequence[Subject], criteria: Sequence[Criterion], unrelated: Sequence[Union[str, None]] = ()
    ) -> list[list[tuple[Vote, ...]]]:
        """The votes on each instance, and, where texts of unrelated options are given, on each of them with its own.

        Args:
            rows: The instances.
            criteria: Theirs.
            unrelated: One text an instance; none to ask without an unrelated option only.

        Returns:
            One list of votes a run: without, and with the unrelated option. No votes where nothing can be asked.
        """
        runs = [[choice_question(*about) for about in zip(rows, criteria, strict=True)]]
        if unrelated:
            runs.append([choice_question(*about) for about in zip(rows, criteria, unrelated, strict=True)])
        votes = iter(self.judge([question for asked in runs for question in asked if question]))
        return [[next(votes) if question else () for question in asked] for asked in runs]


@dataclass(frozen=True, slots=True)
class BestOfN:
    """What one instance maps to.

    Attributes:
        first: The first candidate of the first instance, whose rate is the main score.
        selection: What the votes come to.
        criteria_json: The criterion's artifact as JSON.
        cluster: What the instance belongs to; None where instances do not depend on each other.
    """

    first: str
    selection: Selection
    criteria_json: str
    cluster: Union[str, None] = None


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

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        check_choice_rules(self.aggregation, self.on_position_bias, self.judge_weights)
        if self.stop_early:
            raise InvalidInputError(
                "stop_early does not go with the best of N, where an instance gives each candidate the share of its "
                f"draws: {NEEDS_ALL_DRAWS}; leave it out"
            )

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[BestOfN]:
        """Judge all instances."""
        inputs = list(evaluation_inputs_stream)
        rows, criteria, as_json = self.candidates(inputs)
        if not rows:
            return []
        first = next(iter(rows[0].texts))
        clusters = self.clusters_of(inputs)
        (votes,) = self.ask(rows, criteria)
        return [
            BestOfN(first, self._selection(row, cast), criteria_json, cluster)
            for row, cast, criteria_json, cluster in zip(rows, votes, as_json, clusters, strict=True)
        ]

    def reduce_one(self, intermidate: BestOfN) -> Dict[str, Any]:  # unitxt spells its parameter so
        """The scores of one instance: who is selected, by whom in which order, and each candidate's share."""
        selection, main = intermidate.selection, f"{intermidate.first}_selection_rate"
        consistent = selection.position_consistent
        given = _orders(selection.votes)
        shares = dict(zip(selection.names, selection.shares or (), strict=False))
        results: dict[str, Any] = {
            "selected_candidate": selection.selected,
            "unscored_reason": selection.unscored_reason,
            "positional_bias": None if consistent is None else not consistent,
            "agreement": selection.agreement,
            "selections": [_selected_in(votes, selection.names) for votes in given],
            "orders": [[selection.names[index] for index in votes[0].order] for votes in given],
            "assessments": [[vote.assessment for vote in votes] for votes in given],
            "prompts": _prompts(given),
            "missing_candidates": list(selection.missing) or None,
            "criteria": intermidate.criteria_json,
            **{f"{name}_selection_rate": share for name, share in shares.items()},
        }
        named = {name: value for name, value in results.items() if value is not None}
        return {**named, main: shares.get(intermidate.first, math.nan), "score_name": main}

    def reduce(self, intermediates: List[BestOfN]) -> Dict[str, Any]:
        """The global scores: how often each candidate is selected, and how far that can be trusted."""
        summary = summarize_selections([each.selection for each in intermediates], level=self.level_of(intermediates))
        for candidate, found in summary.candidates.items():
            name = f"{candidate}_selection_rate"
            warn_of_unread(name, found.unread, bounds=f"{name}_if_unscored")
        warn_of_mentions(summary.votes.readings)
        scores = scores_of(summary, with_intervals=self.return_confidence_interval)
        return {**scores, "score_name": f"{intermediates[0].first}_selection_rate"}

    def _selection(self, row: Subject, votes: Sequence[Vote]) -> Selection:
        return select(
            votes,
            row.names,
            missing=row.missing,
            aggregation=None if self.aggregation is None else str(self.aggregation),
            on_position_bias=self.on_position_bias,
        )


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


def _selected_in(votes: Sequence[Vote], names: Sequence[str]) -> Union[str, None]:
    """The candidate that the judges select in one order."""
    return select(votes, names).selected


@dataclass(frozen=True, slots=True)
class GradedChoices:
    """What one instance maps to.

    Attributes:
        judges: Who judged, in the order of the panel.
        about: The candidates.
        unrelated: The text of the unrelated option; None without one.
        runs: The votes without, and where it was asked with, the unrelated option.
        grades: Judge -> what its votes come to, one per run.
        criteria_json: The criterion's artifact as JSON.
        cluster: What the instance belongs to; None where instances do not depend on each other.
    """

    judges: tuple[str, ...]
    about: Subject
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
                about=row,
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
                found = _instance_scores(one, own, (*intermidate.about.names, UNRELATED))
                scores |= {_suffixed(prefix + name, intermidate.judges, judge): value for name, value in found.items()}
        others = {
            "unrelated_option": intermidate.unrelated,
            "missing_candidates": list(intermidate.about.missing) or None,
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

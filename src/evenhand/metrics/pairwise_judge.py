"""Pairwise judging: which of two or more systems a judge prefers, pair by pair."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Dict, List, TypeVar, Union, get_args

from evenhand.aggregation import aggregate
from evenhand.criteria import Criterion
from evenhand.data.systems import read_responses
from evenhand.errors import InvalidInputError
from evenhand.judging.design import parse_design
from evenhand.metrics.base_metric import number_or_nan, warn_of_unscored
from evenhand.metrics.judge_metric import JudgedInstance, JudgeMetric
from evenhand.modes.contest import Contest, check_reduction, instance_rankings, winrates
from evenhand.modes.mode import Subject
from evenhand.modes.pairwise import (
    ContestSummary,
    PairwiseMode,
    SystemSummary,
    TournamentPlan,
    alike,
)
from evenhand.options import PairwiseOptions, Reduction
from evenhand.results.measures import UnscoredCounts, scores_of
from evenhand.results.notes import Spending
from evenhand.statistics import Interval
from evenhand.unitxt.bases import Criteria, EvaluationInput
from evenhand.unitxt.loading import load_comparison
from evenhand.votes import MatchKind, UnscoredReason, Usage, Vote


class PairwiseJudge(JudgeMetric):
    """A judge compares the responses of two or more systems, pair by pair, without seeing whose they are.

    An instance's prediction is a list of responses (the systems ``"1"``, ``"2"``, …) or a dict system -> response.
    Every pair is shown in both orders; where they disagree, the contest is a tie unless ``on_position_bias`` says
    otherwise (``first`` gives unitxt's numbers). An empty response is judged like any other; None is an unscored
    contest. The scores' names are those of unitxt's ``LLMJudgePairwise``; the main one is the first system's winrate.
    :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists the other settings.

    Attributes:
        design: Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs an instance>`` or ``swiss:<rounds>``.
        scale: ``choice`` (which one is better) or ``graded`` (five levels, from A much better to B much better).
        allow_ties: Offer the judge a tie; the graded scale always does.
        reduction: ``win_rate``, or, with the graded scale, ``weighted_win_rate``: a grade s in −2 … 2 is s battles won,
            or |s| lost, and 0 is two battles of which one is won.
    """

    main_score: str = "1_winrate"
    design: str = "all"
    scale: str = "choice"
    allow_ties: bool = False
    reduction: str = "win_rate"

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        if self.criteria is not None:
            load_comparison(self.criteria)

    def check_prompt(self, mode: PairwiseMode) -> None:
        """Check that the prompt is for a comparison."""
        mode.flow.check_prompt("compare")

    @property
    def graded(self) -> bool:
        """Whether the judge is offered degrees of preference."""
        return self.scale == "graded"

    def estimate(self, inputs: Iterable[EvaluationInput]) -> TournamentPlan:
        """How many contests, votes and calls judging these instances takes, at most; nothing is called."""
        subjects, _ = self.subjects(list(inputs))
        return self.mode_of(subjects).plan(subjects, len(self.engines()))

    def mode_of(self, subjects: Sequence[Subject]) -> PairwiseMode:  # noqa: ARG002 - other modes need to know
        """The pairs of the design."""
        options = PairwiseOptions(**self.option_values(PairwiseOptions))
        reduction = check_reduction(options.reduction, graded=self.graded)
        mode = PairwiseMode(options, parse_design(options.design, seed=options.seed), reduction)
        mode.rules.check("pairwise")
        return mode

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[List[Subject], List[str]]:
        """The responses of each instance, its criterion, and its criteria artifact as JSON."""
        criteria, as_json = self.frozen_criteria(inputs, self._criterion)
        rows = [self._row(place, *given) for place, given in enumerate(zip(inputs, criteria, strict=True))]
        self.warn_of_context(criteria)
        return alike(rows), as_json

    def score_name(self, subjects: Sequence[Subject]) -> str:
        """The first system's winrate."""
        systems = tuple(subjects[0].texts)
        check_names(systems)
        return f"{systems[0]}_winrate"

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance, under the names that unitxt documents for ``LLMJudgePairwise``."""
        about, mode = judged.about, judged.mode
        rule, systems = mode.rules.panel_rule("pairwise"), tuple(about.texts)
        results = instance_scores(judged.result, systems, about.judged, rule=rule, reduction=mode.reduction)
        return {**results, "criteria": judged.criteria_json}

    def global_scores(self, measures: ContestSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Each system's winrate and mean rank, and every measure of how far they can be trusted."""
        del judged
        return global_scores(measures, with_intervals=self.return_confidence_interval)

    def _criterion(self, artifact: Criteria) -> Criterion:
        return load_comparison(artifact, allow_ties=self.allow_ties, graded=self.graded)

    def _row(self, place: int, given: EvaluationInput, criterion: Criterion) -> Subject:
        responses = read_responses(self.response_of(given, criterion.prediction_field, place), place)
        return self.subject(given, criterion, place, responses)


_PROMPT_NAMES = {
    "assessment": "assessment",
    "one_step": "assessment",
    "selection": "option_selection",
    "verdict": "option_selection",
    "reask": "option_selection_reask",
    "summary": "summary",
}

_LIMITS_OF_RANKS = frozenset({"rank_low", "rank_high"})

Summary = TypeVar("Summary", ContestSummary, SystemSummary)


def check_names(systems: Sequence[str]) -> None:
    """Check that no two scores would have one name, which can happen when system names contain one another.

    Raises:
        InvalidInputError: If two would.
    """
    reasons = dict.fromkeys((*get_args(UnscoredReason), "not_applicable"), 1)
    counts: dict[str, Any] = {"unscored_contests": reasons, "usage": Usage(cost=0.0), "spending": Spending.nothing()}
    everything = _with_every_score(ContestSummary, readings=dict.fromkeys(get_args(MatchKind), 1), **counts)
    shared = {"criteria", "score", "score_ci_low", "score_ci_high", "score_name", "num_of_instances"}
    owner: dict[str, str] = dict.fromkeys(shared | scores_of(everything).keys(), "")
    names = sorted({*_system_scores("", (), None, None), *scores_of(_with_every_score(SystemSummary))})
    for system in systems:
        for name in (f"{system}_{each}" for each in names):
            if name in owner:
                other = f"the system {owner[name]!r}" if owner[name] else "all systems together"
                raise InvalidInputError(
                    f"the system {system!r} and {other} would both have a score {name!r}: rename the system {system!r}"
                )
            owner[name] = system


def _with_every_score(summary: type[Summary], **entries: Any) -> Summary:
    """A summary that lacks nothing: its scores have all the names that there can be."""
    whole = Interval(0.5, 0.0, 1.0, 0.95, "exact", 1)
    every = dict.fromkeys(get_args(UnscoredReason), 1)
    counts = UnscoredCounts(votes=1, unscored_votes=1, rows=1, verdicts=1, unscored_verdicts=1, reasons=every)
    return summary(**{**{field.name: whole for field in fields(summary)}, "unscored_counts": counts, **entries})


def global_scores(summary: ContestSummary, *, with_intervals: bool = True) -> dict[str, Any]:
    """The scores of all instances together, each system's under its name."""
    scores: dict[str, Any] = scores_of(summary, with_intervals=with_intervals)
    shown = {field.name for field in fields(SystemSummary)} - (set() if with_intervals else _LIMITS_OF_RANKS)
    for one in summary.systems:
        bounds = f"{one.system}_winrate_if_unscored"
        warn_of_unscored(f"{one.system}_winrate", one.unscored_counts, one.unscored_bounds, bounds=bounds)
        scores |= scores_of(one, one.system, with_intervals=with_intervals, only=shown)
    return scores


def instance_scores(
    contests: Sequence[Contest],
    systems: Sequence[str],
    criterion: Criterion,
    *,
    rule: Union[str, None] = None,
    reduction: Reduction = "win_rate",
) -> dict[str, Any]:
    """The scores of one instance. A list has an entry per contest of the system; it is empty where there is nothing.

    ``selections`` are those of the given order and ``positional_bias_selection`` those of the other one;
    ``contest_results`` and ``contest_scores`` are what both come to. A selection is None for a tie and for a reply that
    names no option, since a system may be called "tie". ``contest_results`` is None for an unscored contest; of a tied
    one neither side is the winner (False). ``option_selection_outputs`` are the replies, which know the systems as A
    and B only.
    """
    rates = winrates(contests, systems, reduction)
    ranks = instance_rankings(contests, systems, reduction)
    views: dict[str, list[_ContestView]] = {system: [] for system in systems}
    for contest in contests:
        view = _ContestView(contest, criterion, rule)
        views[contest.first].append(view)
        views[contest.second].append(view)
    results: dict[str, Any] = {}
    for system, own in views.items():
        scores = _system_scores(system, own, rates[system], ranks[system])
        results |= {f"{system}_{name}": value for name, value in scores.items()}
    return results


class _ContestView:
    """A contest as its result fields show it: the given order, and the other one where it was asked."""

    def __init__(self, contest: Contest, criterion: Criterion, rule: Union[str, None]) -> None:
        orders: dict[tuple[int, ...], list[Vote]] = {}
        for vote in contest.verdict.votes:
            orders.setdefault(vote.order, []).append(vote)
        views = [_OrderView(contest, votes, criterion, rule) for votes in orders.values()]
        self.contest = contest
        self.given = views[0] if views else None
        self.other = views[1] if len(views) > 1 else None

    @property
    def positional_bias(self) -> Union[bool, None]:
        consistent = self.contest.verdict.position_consistent
        return None if consistent is None else not consistent

    def prompts(self) -> dict[str, Any]:
        """The prompts under unitxt's names."""
        found: dict[str, Any] = {}
        for prefix, view in (("", self.given), ("positional_bias_", self.other)):
            for stage, messages in ((view.shown.prompts if view else None) or {}).items():
                found[prefix + _PROMPT_NAMES[stage]] = messages
        return found


class _OrderView:
    """What the judges say in one order, and one vote that shows it."""

    def __init__(self, contest: Contest, votes: Sequence[Vote], criterion: Criterion, rule: Union[str, None]) -> None:
        verdict = aggregate(votes, criterion, rule)
        self.selection = contest.winner_in(verdict)
        self.shown = next((vote for vote in votes if vote.assessment == verdict.assessment), votes[0])

    @property
    def output(self) -> Union[str, None]:
        return self.shown.completion.text if self.shown.completion else None


def _system_scores(
    system: str, views: Sequence[_ContestView], rate: Union[float, None], rank: Union[int, None]
) -> dict[str, Any]:
    """What an instance says of a system, with an entry for each of its contests; every name, whatever there is."""
    contests = [view.contest for view in views]
    given = [view.given for view in views]
    others = [view.other for view in views]
    other = others if any(others) else []
    return {
        "contest_results": [None if contest.score is None else contest.winner == system for contest in contests],
        "contest_scores": [contest.score_of(system) for contest in contests],
        "selections": [view.selection if view else None for view in given],
        "compared_to": [contest.opponent(system) for contest in contests],
        "assessments": [view.shown.assessment if view else None for view in given],
        "option_selection_outputs": [view.output if view else None for view in given],
        "summaries": _unless_none(view.shown.summary if view else None for view in given),
        "contest_grades": _unless_none(contest.grade_of(system) for contest in contests),
        "unscored_reasons": _unless_none(contest.unscored_reason for contest in contests),
        "positional_bias": _unless_none(view.positional_bias for view in views),
        "prompts": _prompts(system, views),
        "positional_bias_assessments": [view.shown.assessment if view else None for view in other],
        "positional_bias_summaries": _unless_none(view.shown.summary if view else None for view in other),
        "positional_bias_selection": [view.selection if view else None for view in other],
        "winrate": number_or_nan(rate),
        "llm_as_judge": number_or_nan(rate),
        "ranking": rank,
        "response_name": system,
    }


def _prompts(system: str, views: Sequence[_ContestView]) -> dict[str, Any]:
    """The prompts of a system's contests: unitxt's names, an entry per contest, and the opponents beside them."""
    found = [view.prompts() for view in views]
    names = list(dict.fromkeys(name for prompts in found for name in prompts))
    if not names:
        return {}
    opponents = [view.contest.opponent(system) for view in views]
    return {"compared_to": opponents, **{name: [prompts.get(name) for prompts in found] for name in names}}


def _unless_none(values: Iterable[Any]) -> list[Any]:
    """The values, or nothing when every one is missing."""
    found = list(values)
    return found if any(value is not None for value in found) else []

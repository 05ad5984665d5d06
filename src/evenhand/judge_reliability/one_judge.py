"""The reliability of one judge on one criterion or as a chooser, from its votes: no call is made.

:class:`Questions` are the questions on a criterion with their votes, and :func:`criterion_reliability` measures
position, repetition, length, people and confidences.
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Unpack

import numpy as np

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion, yes_no_criterion
from evenhand.criteria import Scale as ScaleName
from evenhand.data.cells import NO_VERDICT
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.against_people import (
    FIRST,
    NEITHER,
    SECOND,
    SIDE_SCORES,
    SIDES,
    TIE,
    Asked,
    Comparison,
    Drawing,
    PanelAgreement,
    RaterPair,
    Scale,
    all_pairs,
    as_array,
    compare_labels,
    labels_table,
    pairs_of_raters_table,
    panels,
)
from evenhand.numbers import MISSING, Missing, format_count, format_interval, format_level
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import Line, Remark, or_missing, table_rows, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.results import Results
from evenhand.scoring import ReplyMeasures, readings_note, reply_measures
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.agreement import Calibration, calibration
from evenhand.statistics.consistency import (
    UNSCORED,
    PositionBias,
    RepetitionStability,
    position_bias,
    repetition_stability,
)
from evenhand.statistics.intervals import IntervalLevel, Level
from evenhand.statistics.strengths import VerbositySlope, verbosity_slope
from evenhand.votes import Verdict, Vote

PREFERENCES = {FIRST: 1.0, SECOND: -1.0, NEITHER: 0.0}
BINS = 10
NO_LABELS = Missing("no labels of people were given")


@dataclass(frozen=True, slots=True)
class Questions:
    """All questions on one criterion, with the votes of all judges.

    Attributes:
        criterion: The criterion of the votes.
        rules: The rules by which a judge's own votes become its verdict.
        asked: The questions.
        sides: The names of the two systems, if there are only two.
    """

    criterion: Criterion
    rules: VoteRules
    asked: tuple[Asked, ...]
    sides: tuple[str, str] = SIDES

    def of_judge(self, judge_id: str) -> list[Asked]:
        """Aggregate the votes of one judge on each question by themselves."""
        found = []
        for question in self.asked:
            votes = [vote for vote in question.verdict.votes if vote.judge_id == judge_id]
            if votes:
                found.append(replace(question, verdict=self.rules.aggregate(votes, self.criterion)))
        return found

    @property
    def num_missing(self) -> int:
        """The number of questions not asked because a response is missing."""
        return sum(not question.verdict.votes for question in self.asked)


def questions_of(results: Results, rules: VoteRules) -> list[Questions]:
    """Return the questions of a result by criterion, with the labels of people.

    Args:
        results: The result.
        rules: The rules by which a judge's own votes become its verdict.
    """
    found: dict[str, tuple[Criterion, list[Asked]]] = {}
    for cell, question in zip(results.cells(), results.asked(), strict=True):
        about, judged = cell.about, question.systems
        criterion = results.criterion if question.compares else results.criterion_of(cell)
        label, selected = (
            None if each is None else _category(each, question, criterion)
            for each in (question.gold, question.selected)
        )
        lengths = about.get("first_length"), about.get("second_length")
        asked = Asked(
            about["instance"],
            question.verdict,
            label,
            lengths=tuple(length for length in lengths if length is not None),
            systems=judged,
            cluster=about.get("cluster"),
            selected=selected,
            score=question.score,
        )
        found.setdefault(criterion.name, (criterion, []))[1].append(asked)
    systems: tuple[str, ...] = getattr(results, "systems", ())
    sides = (systems[0], systems[1]) if len(systems) == 2 and "tie" not in systems else SIDES
    return [Questions(criterion, rules, tuple(asked), sides) for criterion, asked in found.values()]


def _category(label: str, question: QuestionAsked, criterion: Criterion) -> int:
    """Return the category of a label; a comparison is labelled by the system that is better, or as a tie."""
    if question.compares:
        return question.systems.index(label) if label in question.systems else NEITHER
    return criterion.index_of(label)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleComparison(Comparison):
    """A judge against the labels or preferences that people gave. A person's tie is a label.

    Attributes:
        vote_accuracy: Share of the single votes that are the label, over the votes that selected something.
        all_orders_right: Share of the draws, scored in all orders, that are the label in every order.
    """

    vote_accuracy: Interval | Missing
    all_orders_right: Interval | Missing


@dataclass(frozen=True, slots=True)
class JudgesAgreement:
    """The agreement of several judges on one criterion, each by its own verdicts.

    Attributes:
        criterion: The criterion's name.
        pairs: Every two judges.
        all_judges: Krippendorff's alpha of all.
    """

    criterion: str
    pairs: tuple[RaterPair, ...]
    all_judges: PanelAgreement


@dataclass(frozen=True, slots=True)
class CriterionReliability:
    """One judge on one criterion.

    Every interval takes instances as the sampling unit, with all their questions, orders and draws inside.

    Attributes:
        judge_id: The id of the judge.
        criterion: The criterion's name.
        scale: Its scale.
        num_instances: Instances with a question.
        num_questions: Questions put: instances × systems, or × pairs of systems.
        num_missing: Questions not put because a response is missing.
        num_samples: The most draws of one prompt.
        replies: The replies and their usage.
        position: Pairs of single votes in an order and its reverse: consistency, and what the rest moves towards. Of
            options, primacy is a move towards what is shown earlier.
        repetition: Agreement of the draws of a prompt.
        spread: Mean standard deviation of the values of a prompt's draws.
        verbosity: Of comparisons: the length of a response and its chance of winning a vote, the place held fixed.
        verbosity_given_people: The same with people's preference held fixed too.
        people: Against labels or preferences.
        confidences: The probabilities of the options that were selected, against whether people selected the same.
        level: The level of the intervals.
        num_clusters: Clusters that the instances are of; None if instances do not depend on each other.
    """

    judge_id: str
    criterion: str
    scale: ScaleName
    num_instances: int
    num_questions: int
    num_missing: int
    num_samples: int
    replies: ReplyMeasures
    position: PositionBias | Missing
    repetition: RepetitionStability | Missing
    spread: Interval | Missing
    verbosity: VerbositySlope | Missing
    verbosity_given_people: VerbositySlope | Missing
    people: PeopleComparison | Missing
    confidences: Calibration | Missing
    level: float
    num_clusters: int | None = None


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
    """Measure a judge on one criterion by its votes.

    Position is measured on single votes: a draw in an order and the draw of the same number in the reverse order. So
    neither consistency nor preference depends on how many draws there are, or on how verdicts are made of them. The
    pairs, draws and votes of an instance, or of what instances belong to, are one cluster.

    Args:
        judge_id: The id of the judge; every vote is its own.
        asked: The questions with the votes on them.
        criterion: The criterion of the votes.
        num_missing: The number of questions not asked because a response is missing.
        sides: The names of the two systems, if there are only two.
        level: The level of the intervals.
        resamples: Draws for the intervals of kappas.
        seed: The seed of these draws.

    Example:
        >>> from evenhand.aggregation.verdict import aggregate
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
        'no prompt has a selection in two draws: set samples to 3 or more'
    """
    scale = Scale.of(criterion, sides)
    drawing = Drawing(level=level, resamples=resamples, seed=seed)
    low, high = criterion.score_range
    repetition, spread = _of_draws(asked, scale, level, (high - low) / 2)
    return CriterionReliability(
        judge_id=judge_id,
        criterion=criterion.name,
        scale=criterion.scale,
        num_instances=len({question.instance for question in asked}),
        num_clusters=len({question.cluster for question in asked} - {None}) or None,
        num_questions=len(asked),
        num_missing=num_missing,
        num_samples=max((len(votes) for question in asked for votes in question.prompts.values()), default=0),
        replies=_replies(asked, level),
        position=_position(asked, scale, level),
        repetition=repetition,
        spread=spread,
        verbosity=verbosity(asked, scale, level),
        verbosity_given_people=verbosity(asked, scale, level, given_people=True),
        people=compare_with_people(asked, scale, **drawing),
        confidences=confidences_of(asked, scale, level=level),
        level=float(level),
    )


def reliability_of_judges(
    questions: Sequence[Questions], judges: Sequence[str], **drawing: Unpack[Drawing]
) -> tuple[tuple[CriterionReliability, ...], tuple[JudgesAgreement, ...]]:
    """Measure every judge on every criterion, and how far the judges agree where there are several."""
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
            over = IntervalLevel.of(drawing["level"]).over([question.together for question in asked[judges[0]]])
            drawn = Drawing(level=over, resamples=drawing["resamples"], seed=drawing["seed"])
            agreements.append(agreement_of_judges(verdicts, each.criterion, each.sides, **drawn))
    return tuple(results), tuple(agreements)


def agreement_of_judges(
    verdicts: Mapping[str, Sequence[Verdict]],
    criterion: Criterion,
    sides: tuple[str, str] = SIDES,
    **drawing: Unpack[Drawing],
) -> JudgesAgreement:
    """Measure how far judges agree that were asked the same questions.

    Two judges of a comparison agree if they prefer the same side; the alpha of all of them is that of what they
    selected, grades and all, as in the report of a panel (`evenhand.judge_reliability.panel_report`).

    Args:
        verdicts: Judge -> verdict per question, by its own votes alone; two judges or more.
        criterion: The criterion of the votes.
        sides: The names of the two systems, if there are only two.
        **drawing: Level (`evenhand.statistics.intervals.IntervalLevel` for questions that belong together), resamples
            and seed of the intervals.
    """
    by_side, scale = Scale.of(criterion, sides), Scale.of(criterion)
    preferred, selected = (
        {judge: list(map(own.place_of, given)) for judge, given in verdicts.items()} for own in (by_side, scale)
    )
    (everyone,) = panels(selected, {}, scale, **drawing)
    return JudgesAgreement(criterion.name, all_pairs(preferred, {}, by_side, **drawing), everyone)


def labelled_questions(
    results: Results, system: str | None, criterion: str | None, *, numbers: bool
) -> tuple[list[Asked], Scale, str]:
    """Return what judges and people say of each response or contest, the scale, and a title.

    The answers to all items of a checklist are on one scale; numbers are compared with its primary score.

    Args:
        results: The result.
        system: Whose responses or contests; None for all.
        criterion: The criterion; None if there is one.
        numbers: People gave numbers in place of labels.

    Raises:
        InvalidInputError: No such criterion, or a result without questions that people can answer.
    """
    scored = results.outcomes()  # refuses results that people could not have given
    found = questions_of(results, VoteRules())
    names, checks = [each.criterion.name for each in found], results.kind == "checklist"
    if checks and criterion is not None:
        raise InvalidInputError(f"criterion is {criterion!r}; a checklist has items: leave it out")
    if not checks and criterion not in ({None, *names} if len(names) == 1 else names):
        raise InvalidInputError(f"criterion is {criterion!r}; name one of the criteria {names!r}")
    if checks:
        scale = Scale.of(yes_no_criterion("answers", "", na=True))
        asked = [each for own in found for each in own.asked]
        values = (*scale.values, None)
        asked = [replace(each, score=values[-1 if each.selected is None else each.selected]) for each in asked]
        if numbers:
            rows = [(each.system, row) for each in scored for row in each.rows if each.part_of is None]
            asked = [
                Asked(row.instance, NO_VERDICT, systems=(own,), cluster=row.cluster, score=row.score)
                for own, row in rows
            ]
    else:
        (own,) = (each for each in found if criterion in {None, each.criterion.name})
        scale, asked, names = Scale.of(own.criterion, own.sides), list(own.asked), [own.criterion.name]
    asked = [each for each in asked if system in {None, *each.systems}]
    systems = dict.fromkeys(name for each in asked for name in each.systems)
    judges = results.parameters.get("judges") or results.parameters["votes"]
    return asked, scale, f"{', '.join((*systems, *([] if checks else names)))}: {', '.join(judges)}"


def _share(
    parts: Iterable[tuple[Hashable, float, float]], level: Level, reason: str, bounds: tuple[float, float] = (0.0, 1.0)
) -> Interval | Missing:
    """Divide the sum of the second numbers by that of the third, with an interval over the clusters, the first."""
    clusters, numerators, denominators = zip(*parts, strict=True) if (parts := list(parts)) else ((), (), ())
    over = IntervalLevel.of(level).over(clusters)
    (interval,) = ratio_intervals(numerators, denominators, level=over, bounds=bounds)
    return or_missing(interval, reason)


def _replies(asked: Sequence[Asked], level: Level) -> ReplyMeasures:
    together = {each.instance: each.together for each in asked}
    numbers = {instance: number for number, instance in enumerate(together)}
    rows = np.array([numbers[each.instance] for each in asked], dtype=np.int64)
    over = IntervalLevel.of(level).over(list(together.values()))
    return ReplyMeasures(**reply_measures([each.verdict.votes for each in asked], rows=rows, level=over))


def _category_of(scale: Scale, vote: Vote) -> int:
    place = scale.place_of(vote)
    return UNSCORED if place is None else place


def _position(asked: Sequence[Asked], scale: Scale, level: Level) -> PositionBias | Missing:
    """Compare every draw that was asked for in an order with the same in the reverse order.

    A comparison has the sides themselves, in the order (0, 1) and then (1, 0). A pair of assessments has 0 and 0 if it
    selects the same option twice, 0 and 1 if each order selects an option that it shows earlier than the other order
    does, 1 and 0 if later: in the terms of `position_bias`, primacy and recency.
    """
    pairs = [
        (question.together, votes[order], votes[order[::-1]])
        for question in asked
        for votes in question.draws.values()
        for order in sorted(votes)
        if order <= order[::-1] and order[::-1] in votes
    ]

    def moved(first: Vote, second: Vote) -> list[int]:
        if scale.compares:
            return [_category_of(scale, first), _category_of(scale, second)]
        if first.selected_index is None or second.selected_index is None:
            return [UNSCORED if vote.selected_index is None else 0 for vote in (first, second)]
        place, other = first.order.index(first.selected_index), first.order.index(second.selected_index)
        return [0, 0] if place == other else [0, 1] if place < other else [1, 0]

    over = IntervalLevel.of(level).over([together for together, _, _ in pairs])
    found = position_bias([moved(first, second) for _, first, second in pairs], level=over)
    reason = "no question has a selection in an order and in its reverse: leave check_positional_bias on"
    return found if found.n_checked else Missing(reason)


def _of_draws(
    asked: Sequence[Asked], scale: Scale, level: Level, greatest: float
) -> tuple[RepetitionStability | Missing, Interval | Missing]:
    """Compute agreement and spread of the draws of a prompt: of a question in one order."""
    once = "no prompt has a selection in two draws: set samples to 3 or more"
    prompts = [(question.together, votes) for question in asked for votes in question.prompts.values()]
    values = [(each, [vote.value for vote in votes if vote.value is not None]) for each, votes in prompts]
    spreads = [(cluster, statistics.pstdev(drawn), 1.0) for cluster, drawn in values if len(drawn) > 1]
    over = IntervalLevel.of(level).over([together for together, _ in prompts])
    found = repetition_stability([[_category_of(scale, vote) for vote in votes] for _, votes in prompts], level=over)
    return found if found.n_repeated else Missing(once), _share(spreads, level, once, bounds=(0.0, greatest))


def verbosity(
    asked: Sequence[Asked], scale: Scale, level: Level, *, given_people: bool = False
) -> VerbositySlope | Missing:
    """Estimate the slope of winning on the logarithm of the ratio of lengths, the systems' own strengths held fixed.

    Every vote on two responses is a contest of them, and the place is held fixed.

    Args:
        asked: The questions.
        scale: The categories of the criterion.
        level: The level of the intervals.
        given_people: Hold fixed which of the two people prefer.
    """
    if given_people and all(question.label is None for question in asked):
        return NO_LABELS
    contests = [(question, vote) for question in asked if len(question.lengths) == 2 for vote in question.verdict.votes]
    if not contests:
        return Missing("no two responses with known lengths were compared")
    scores = [SIDE_SCORES.get(_category_of(scale, vote)) for _, vote in contests]
    preferred = as_array(PREFERENCES.get(UNSCORED if one.label is None else one.label) for one, _ in contests)
    systems = [question.systems for question, _ in contests]
    found = verbosity_slope(
        as_array(scores),
        [question.lengths for question, _ in contests],
        systems=systems if all(systems) else None,
        quality_difference=preferred if given_people else None,
        shown_first=[1 if vote.order == (0, 1) else -1 for _, vote in contests],
        ties="davidson" if TIE in scores else "half",
        level=IntervalLevel.of(level).over([question.together for question, _ in contests]),
    )
    return found if found.reason is None else Missing(found.reason)


def compare_with_people(asked: Sequence[Asked], scale: Scale, **drawing: Unpack[Drawing]) -> PeopleComparison | Missing:
    """Compare the votes and verdicts with the labels of people, on the questions that these labelled."""
    labelled, level = [question for question in asked if question.label is not None], drawing["level"]
    if not labelled:
        return NO_LABELS
    votes, draws = [], []
    for question in labelled:
        selections = [[_category_of(scale, vote) for vote in own.values()] for own in question.draws.values()]
        single = [each == question.label for own in selections for each in own if each != UNSCORED]
        whole = [{*own} == {question.label} for own in selections if len(own) > 1 and UNSCORED not in own]
        votes.append((question.together, sum(single), len(single)))
        draws.append((question.together, sum(whole), len(whole)))
    truth = as_array(question.label for question in asked)
    judged = as_array(scale.place_of(question.verdict) for question in asked)
    over = IntervalLevel.of(level).over([question.together for question in asked])
    nothing = "nothing that people labelled has a selection of the judge"
    return PeopleComparison(
        **compare_labels(truth, judged, scale, level=over, resamples=drawing["resamples"], seed=drawing["seed"]),
        vote_accuracy=_share(votes, level, nothing),
        all_orders_right=_share(draws, level, nothing),
    )


def confidences_of(asked: Sequence[Asked], scale: Scale, *, level: Level) -> Calibration | Missing:
    """Compare the probability of each option selected with whether people chose it, for every vote that has both."""
    votes = [
        (question, vote)
        for question in asked
        for vote in question.verdict.votes
        if vote.selected_index is not None and sum(vote.probabilities or ()) > 0
    ]
    if not votes:
        return Missing("the votes have no log-probabilities: ask for them with confidences=True")
    labelled = [(question, vote) for question, vote in votes if question.label is not None]
    if not labelled:
        return NO_LABELS
    stated = []
    for _, vote in labelled:  # of the probability that the options cover, what the category selected has
        shares, chosen = vote.probabilities or (), scale.place_of(vote)
        own = sum(share for place, share in zip(scale.places, shares, strict=False) if place == chosen)
        stated.append(min(own / sum(shares), 1.0))
    right = [float(scale.place_of(vote) == question.label) for question, vote in labelled]
    over = IntervalLevel.of(level).over([question.together for question, _ in labelled])
    return calibration(stated, right, bins=BINS, level=over)


_TASTE: Final = ("longer responses are preferred", "shorter responses are preferred", "no preference for length shown")
_DOUBLE: Final = "win_probability_at_double"
LINES: Final = (
    Line("parse rate", "replies.parse_rate", "share"),
    Line("  votes", "replies.unscored_counts.votes", "count"),
    Line("  unscored votes", "replies.unscored_counts.unscored_votes", "count"),
    Line("  unscored verdicts", "replies.unscored_counts.unscored_verdicts", "count"),
    Line("  re-asks", "replies.reasks", "count"),
    Line("position consistency", "position.position_consistency", "share"),
    Line("  pairs of votes checked", "position.n_checked", "count"),
    Line("  pairs with one selection only", "position.n_lone", "count"),
    Line("  preference fairness (− first, + second)", "position.preference_fairness", "difference"),
    Line(
        "  inconsistent towards the first",
        "position.first_shown_share",
        "share",
        0.5,
        ("what is shown first gains", "what is shown second gains", "no preference for a place shown"),
        "position.p_value",
    ),
    Line("  p of no preference", "position.p_value", "p_value"),
    Line("repeated draws agree", "repetition.pair_agreement", "share"),
    Line("  share of the mode", "repetition.mode_share", "share"),
    Line("spread of draws", "spread", partial(format_interval, digits=3)),
    Line("wins at twice the length", f"verbosity.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("  log-odds for each e-fold", "verbosity.slope", "difference"),
    Line("wins at twice the length given people's choice", f"verbosity_given_people.{_DOUBLE}", "share", 0.5, _TASTE),
    Line("verdicts as people", "people.accuracy", "share"),
    Line("  single votes", "people.vote_accuracy", "share"),
    Line("  right in every order", "people.all_orders_right", "share"),
    Line("  Cohen's kappa", "people.cohen_kappa", "number"),
    Line("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", "number"),
    Line(
        "overconfidence",
        "confidences.overconfidence",
        "difference",
        0.0,
        ("the judge is overconfident", "the judge is underconfident", "no over- or underconfidence shown"),
    ),
    Line("  calibration error", "confidences.expected_calibration_error", "number"),
    Line("  Brier score", "confidences.brier", "number"),
    Line("calls", "replies.usage.calls", "count"),
    Line("  from the journal", "replies.usage.cached", "count"),
    Line("  tokens", "replies.usage", lambda usage: format_count(usage.prompt_tokens + usage.completion_tokens)),
    Line("  cost", "replies.usage.cost", "money"),
)
"""The measures of a judge on a criterion. A line that no judge has is left out of a table."""


def findings(report: CriterionReliability) -> tuple[Remark, ...]:
    """Say which effects the measures of a judge on a criterion show, and why a measure has no number."""
    return tuple(filter(None, (line.remark(report, report.level) for line in LINES)))


def judges_table(agreement: JudgesAgreement, *, level: float) -> TextTable:
    """Make the table of how far the judges agree on one criterion."""
    title = f"How far the judges agree on {agreement.criterion!r}"
    return pairs_of_raters_table(title, agreement.pairs, (agreement.all_judges,), (), level=level)


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """Make all tables on one criterion: the measures of all judges, and a matrix for each judge.

    Args:
        results: One per judge, all on the same criterion.
    """
    first, level = results[0], format_level(results[0].level)
    judges = tuple(result.judge_id for result in results)
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    rows = table_rows(LINES, *results)
    measures = TextTable(
        kind="measures",
        title=(
            f"{'Comparisons' if first.scale == 'pairwise' else 'Assessments'} on {first.criterion!r}: "
            f"{format_count(first.num_questions, 'question')} on {format_count(first.num_instances, 'instance')}"
            f"{clusters}, {format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{level}]", *judges),
        rows=tuple(row for row in rows if set(row[1:]) != {MISSING}),
        notes=tuple(
            f"{result.judge_id}: {note}" if len(results) > 1 else note
            for result in results
            for note in _notes_on_judge(result)
        ),
    )
    tables = [measures]
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            tables.append(labels_table(title, result.people))
    return tuple(tables)


def _notes_on_judge(result: CriterionReliability) -> Iterator[str]:
    remarks = findings(result)
    yield from (f"{found.measure} {found.text}." for found in remarks if found.measured)
    if unmeasured := [f"{found.measure} ({found.text})" for found in remarks if not found.measured]:
        yield f"Not measured: {'; '.join(unmeasured)}."
    yield from unscored_note(result.replies.unscored_counts)
    yield from readings_note([result.replies.readings])
    if result.num_missing:
        were = "was" if result.num_missing == 1 else "were"
        yield f"{format_count(result.num_missing, 'question')} {were} not asked, as a response is missing."

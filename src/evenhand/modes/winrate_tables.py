"""The results of comparing systems: contests, winrates, ranks and tests, and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from evenhand.criteria import Criterion, Option
from evenhand.judge_reliability.against_people import JudgedRow, Scale
from evenhand.judge_reliability.one_judge import FIRST, NEITHER, SECOND, SIDE_SCORES, SIDES, Categories
from evenhand.modes.contest import (
    TIE,
    Contest,
    check_reduction,
    cluster_numbers,
    is_graded,
    presented_contests,
    resolved_contests,
    side_of,
)
from evenhand.modes.winrates import (
    ABOUT_CONTEST,
    ContestSummary,
    Decision,
    SystemSummary,
    about_contest,
    decisions,
    summarize_contests,
    winrate_bounds,
)
from evenhand.numbers import (
    MISSING,
    Missing,
    format_bounds,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_range,
    format_score,
    format_share,
    state_p_value,
)
from evenhand.options import Reduction
from evenhand.question import comparison_criterion, swapped_index
from evenhand.results.analysis import Analysis, Rules, with_votes
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    UNSCORED_VOTES,
    Column,
    Measure,
    Outcome,
    Outcomes,
    QuestionName,
    Reported,
    measures_table,
    plain,
    reported_difference,
)
from evenhand.results.notes import baseline_note, early_stop_note, unscored_bounds_note, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, plain_vote
from evenhand.scoring import readings_note
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.paired_differences import DifferenceTest, PairComparison
from evenhand.statistics.ranking import Ranking, rank_systems
from evenhand.votes import Vote

if TYPE_CHECKING:
    import pandas as pd

NO_ORDER = Missing("the votes do not say which system was shown first")
WITHOUT_PLACES: dict[str, Any] = dict.fromkeys(
    (
        *("position", "positional_bias", "position_consistency"),
        *("first_shown_preference", "first_shown_preference_p_value", "first_position_share"),
    ),
    NO_ORDER,
)
"""The measures that are not known if the order shown is not."""

MOST_SYSTEMS_IN_A_MATRIX = 10
"""With more, a matrix is wider than a page, and it and the pairs are tables that are printed when asked for."""


class WinrateAnalysis(Analysis):
    """The result of :func:`winrates`: every contest, and which system is better, by how much, how surely."""

    kind: ClassVar = "winrates"
    judged: ClassVar = ("systems", "criterion")
    names: ClassVar = ("instance", "first", "second")
    compared: ClassVar = ("score", "score")
    labelled_by: ClassVar = ("first", "second")

    def read(self, cells: Iterable[Cell]) -> Iterator[Contest]:
        """Make a contest of each cell."""
        for about, votes, _ in cells:
            held = {**about, "lengths": (about["first_length"], about["second_length"])}
            yield Contest.of(votes, self.criterion, self.rules, **{name: held[name] for name in ABOUT_CONTEST})

    @property
    def contests(self) -> tuple[Contest, ...]:
        """The entries, ordered by prompt and pair."""
        return self.entries

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order asked for."""
        return tuple(self.header["systems"])

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion of the comparisons."""
        return Criterion.model_validate(self.header["criterion"])

    @cached_property
    def summary(self) -> ContestSummary:
        """Winrates under the reduction, ties, unscored contests, and how far the judge can be trusted."""
        summary = summarize_contests(
            self.entries,
            self.systems,
            reduction=self.reduction,
            level=self._level,
            ranking=self.ranking,
        )
        return summary if self._orders_known else replace(summary, **WITHOUT_PLACES)

    @property
    def reduction(self) -> Reduction:
        """The rule by which contests become winrates."""
        return check_reduction(self.parameters["reduction"], graded=is_graded(self.criterion))

    @property
    def rate_name(self) -> str:
        """The name of the share of battles won."""
        return "winrate" if self.reduction == "win_rate" else "weighted winrate"

    @property
    def _orders_known(self) -> bool:
        """Whether recorded votes say which system was shown first."""
        return self.parameters.get("orders_known") is not False

    @property
    def _level(self) -> IntervalLevel:
        """The level of intervals, and their method; what belongs together is in the contests."""
        return IntervalLevel(self.parameters["level"], None, self.parameters["interval"])

    @cached_property
    def ranking(self) -> Ranking:
        """Ranks, strengths, the position advantage, pairs with tests, groups, circles, length-controlled winrates.

        Winrates, ranks and tests of them are under the reduction asked for; strengths and other models count every
        contest of any grade once.
        """
        return rank_systems(
            resolved_contests(self.entries, self.systems, self.reduction),
            presented=presented_contests(self.entries, self.systems) if self._orders_known else None,
            rounds=[contest.round for contest in self.entries],
            length_difference=[contest.length_difference for contest in self.entries],
            level=self._level,
        )

    @cached_property
    def head_to_head(self) -> Mapping[tuple[str, str], Measure]:
        """Each two systems, in both directions -> the winrate of the first against the second, or its bounds."""
        held: dict[frozenset[str], list[Contest]] = {}
        for contest in self.entries:
            held.setdefault(frozenset((contest.first, contest.second)), []).append(contest)
        found = {}
        for pair in self.ranking.pairs:
            of, rate = (pair.first, pair.second), pair.win_rate
            met = held.get(frozenset(of), [])
            leading = winrate_bounds(met, pair.first, rate, reduction=self.reduction, level=self._level)[2]
            never = Missing("the two never met")
            found[of] = Measure("winrate", rate or never, "score", bounds=leading)
            turned = leading and leading.subtracted_from(1.0)
            back = never if rate is None else rate.subtracted_from(1.0)
            found[of[::-1]] = Measure("winrate", back, "score", bounds=turned)
        return found

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the winrate of each system, and if there are more than two, that against each other system."""
        held: dict[frozenset[str], list[Contest]] = {}
        for each in self.entries:
            for sides in ((each.first,), (each.second,), (each.first, each.second)):
                held.setdefault(frozenset(sides), []).append(each)
        name = self.criterion.name
        found = [_side(system, name, held.get(frozenset([system]), ())) for system in self.systems]
        if len(self.systems) > 2:
            for first, second in combinations(self.systems, 2):
                own = held.get(frozenset([first, second]), ())
                found.append(replace(_side(first, f"against {second}", own), part_of=name))
        return tuple(each for each in found if each.rows)

    @property
    def outcome_notes(self) -> tuple[str, ...]:
        """The note for tables that weigh wins: single contests do not."""
        note = (
            "Every contest counts once here, at any grade (reduction='win_rate'); the table of winrates weighs a "
            f"win by its grade (reduction={self.reduction!r})."
        )
        return () if self.reduction == "win_rate" else (note,)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of each system, best first; of each two against each other; of all contests."""
        for system in self.ranked:
            counted = system.contests - system.num_unscored, system.unscored_counts
            yield Reported("", (system.system,), system, *counted)
            yield Reported("", (system.system,), Measure("strength", system.strength, "number"), *counted)
        for pair in self.ranking.pairs:
            of = (pair.first, pair.second)
            for sides in (of, of[::-1]):
                yield Reported("", sides, self.head_to_head[sides], pair.contests)
            name = "winrate.difference" if self.ranking.balanced else "strength.difference"
            reason = "the data say nothing about it"
            p_value = None if pair.difference_test is None else pair.difference_test.adjusted_p_value
            yield from reported_difference(name, of, pair.difference, reason, pair.contests, p_value=p_value)
        whole = self.summary
        yield Reported("", (), whole, whole.contests - whole.num_unscored, whole.unscored_counts)
        if (agrees := self.gold_agreement()) is not None:
            yield Reported("", (), Measure("gold_agreement", agrees, "share"), agrees.n)

    def asked(self) -> Iterator[QuestionAsked]:
        """Return the contests as they are held; the score is that of the first system."""
        graded = is_graded(self.criterion)
        named = {1.0: "first", 0.0: "second"}
        for contest in self.entries:
            sides = {"first": contest.first, "second": contest.second}
            sided = [TIE if option.value == 0.5 else named.get(option.value, "") for option in self.criterion.options]  # type: ignore[arg-type]
            options = [sides.get(side, side or label) for side, label in zip(sided, self.criterion.labels, strict=True)]
            yield QuestionAsked(
                name=f"{contest.instance}/{contest.first}/{contest.second}",
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=self.criterion.labels if graded else tuple(options),
                judged=(contest.first, contest.second),
                selected=None if contest.score is None else contest.winner or TIE,
                score=contest.score,
                verdict=contest.verdict.model_copy(update={"unscored_reason": contest.unscored_reason}),
                gold=contest.gold,
                compares=True,
                offered=self.criterion.labels,
            )

    def turned_in(self, abouts: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, ...]]:
        """Return the pairs whose contests are those of the second against the first here."""
        own, theirs = ({(about["first"], about["second"]) for about in each} for each in (self.stored.abouts(), abouts))
        return frozenset(pair for pair in theirs - own if pair[::-1] in own)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion: which of the two is better, or neither."""
        names = ((cell.about["first"], 1.0), (TIE, 0.5), (cell.about["second"], 0.0))
        options = tuple(Option(label=label, value=value) for label, value in names)
        described = self.criterion.description
        return Criterion(name=self.criterion.name, description=described, options=options, scale="pairwise")

    def by_people(self) -> dict[str, Any]:
        """Return the header for labels of people, who may find two responses equal."""
        said = super().by_people()
        offered = comparison_criterion(self.criterion.name, self.criterion.description, allow_ties=True)
        parameters = {**said["parameters"], "reduction": "win_rate"}
        return {**said, "criterion": offered.model_dump(mode="json"), "parameters": parameters}

    @property
    def decisions(self) -> Mapping[tuple[str, str], Decision]:
        """(First, second) -> whether it is decided which of the two is better, and after how many prompts.

        Valid at all looks together, and for any unscored votes; see
        :func:`~evenhand.modes.winrates.decisions`.
        """
        return decisions(self.entries, 1 - self.parameters["level"], reduction=self.reduction)

    @cached_property
    def mean_lengths(self) -> Mapping[str, float | None]:
        """System -> mean characters of its responses, a prompt counted once; None without a response."""
        lengths: dict[str, dict[int, int]] = {system: {} for system in self.systems}
        for contest in self.entries:
            for system, length in zip((contest.first, contest.second), contest.lengths, strict=True):
                if length is not None:
                    lengths[system][contest.instance] = length
        return {system: sum(own.values()) / len(own) if own else None for system, own in lengths.items()}

    @property
    def matrix(self) -> pd.DataFrame:
        """The share of battles that the row's system wins against the column's; missing if the two never met.

        ``ranking.pairs`` has the intervals, the paired differences and the p-values.
        """
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        order = [entry.system for entry in self.ranking.systems]
        rates = [
            [self.head_to_head[row, column].estimate if row != column else None for column in order] for row in order
        ]
        return pd.DataFrame(rates, index=order, columns=order, dtype=float)

    @property
    def ranked(self) -> tuple[SystemSummary, ...]:
        """The systems of the summary, best first."""
        return tuple(self.system(entry.system) for entry in self.ranking.systems)

    def system(self, name: str) -> SystemSummary:
        """Return the summary of a system."""
        return self.summary.systems[self.systems.index(name)]

    def winrate(self, system: str) -> Interval | Missing:
        """Return the winrate of a system under the chosen reduction."""
        return self.system(system).winrate

    def gold_agreement(self) -> Interval | None:
        """Return the share of contests with a person's preference and a score in which both prefer the same."""
        hits: dict[int, list[bool]] = {}
        for contest, number in zip(self.entries, cluster_numbers(self.entries), strict=True):
            if contest.agrees_with_gold is not None:
                hits.setdefault(number, []).append(contest.agrees_with_gold)
        sums, counts = [float(sum(own)) for own in hits.values()], [float(len(own)) for own in hits.values()]
        return ratio_intervals(sums, counts, level=self._level)[0] if hits else None

    def with_gold(
        self, system: str | None, criterion: str | None, *, numbers: bool
    ) -> tuple[list[JudgedRow], Scale, str]:
        """Return which side of each contest is better, for a comparison with people; the score is 1 for the first."""
        del criterion, numbers
        sides = self.systems if len(self.systems) == 2 and TIE not in self.systems else SIDES
        rows = [_judged_contest(entry) for entry in self.entries if system in {None, entry.first, entry.second}]
        scale = Categories(self.criterion, (sides[0], sides[1])).scale
        return rows, scale, f"{self.criterion.name}: {', '.join(self.parameters['judges'])}"

    def rescored(self, **rules: Unpack[Rules]) -> dict[str, Any]:  # type: ignore[override] # the rules by name
        """Return the header and the parameters for the same votes under other rules, without a call.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; what is not given stays as it
                was.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit a comparison.
            InvalidInputError: ``scoring="expected"`` of draws that could stop early.
        """
        changed = self.changed_rules(rules)
        changed.check(self.criterion.scale)
        return self.changed(changed)

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the table of systems; for few systems the matrix and the pairs too, else a note on how to get them."""
        systems = _systems_table(self)
        if len(self.systems) <= MOST_SYSTEMS_IN_A_MATRIX:
            return systems, _matrix_table(self), _pairs_table(self)
        pairs = format_count(len(self.ranking.pairs), "pair")
        note = (
            f"{format_count(len(self.systems), 'system')}: to_terminal('matrix') and to_terminal('pairs') write the "
            f"matrix and the tests of {pairs}, as to_markdown, to_html, to_latex and to_csv do; results.matrix and "
            "results.ranking.pairs hold the numbers."
        )
        return (replace(systems, notes=(*systems.notes, note)),)

    def further_tables(self) -> tuple[TextTable, ...]:
        """Return the matrix and the pairs, if they are not printed."""
        return () if len(self.systems) <= MOST_SYSTEMS_IN_A_MATRIX else (_matrix_table(self), _pairs_table(self))

    def ranking_to_pandas(self) -> pd.DataFrame:
        """Return one row per system, best first."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame.from_records([system_record(self, system) for system in self.ranked])

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a row for each vote, as ``winrates(votes=rows)`` reads them: ``vote`` is a system, tie or option.

        A contest without one of its responses is a row without a judge.
        """
        found = []
        for contest in self.entries:
            about = {name: value for name, value in about_contest(contest).items() if value is not None}
            about |= {"id": contest.prompt_id or str(contest.instance)}
            votes = contest.verdict.votes
            if not votes:
                unjudged = {"swapped": False, "judge": None, "sample": 0, "vote": None}
                found.append({**about, **unjudged, "unscored_reason": "missing_response"})
            for vote in votes:
                cast = {"swapped": vote.order == (1, 0), **plain_vote(vote), "vote": self._label(contest, vote)}
                found.append({**about, **cast})
        return found

    def _label(self, contest: Contest, vote: Vote) -> str | None:
        """Return the system that a vote prefers, or a tie; the option as it was shown if that is more precise."""
        if vote.selected_index is None:
            return None
        option = self.criterion.options[vote.selected_index]
        side = None if option.na or is_graded(self.criterion) else option.value
        named = {1.0: contest.first, 0.0: contest.second, 0.5: TIE}
        if side in named:
            return named[side]
        shown = vote.selected_index
        return self.criterion.labels[swapped_index(self.criterion.options, shown) if vote.order == (1, 0) else shown]

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each contest."""
        for contest in self.entries:
            verdict = contest.verdict
            record: dict[str, Any] = {
                **about_contest(contest),
                "score": contest.score,
                "grade": contest.grade,
                "winner": contest.winner,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "unscored_reason": contest.unscored_reason,
                "assessment": verdict.assessment,
            }
            yield with_votes(record, [verdict], votes=votes)


def _judged_contest(contest: Contest) -> JudgedRow:
    """Return the side that the verdict prefers, and the side that a person prefers."""
    sides = {contest.first: FIRST, contest.second: SECOND, TIE: NEITHER}
    right = None if contest.gold is None else sides[contest.gold]
    return JudgedRow(
        instance=contest.instance,
        system=None,
        selected=None if contest.score is None else sides[contest.winner or TIE],
        score=contest.score,
        gold_label=right,
        gold_score=None if right is None else SIDE_SCORES[right],
        cluster=contest.cluster,
    )


_SIDES: Mapping[float, str] = {1.0: "win", 0.5: "tie", 0.0: "loss"}


def _side(system: str, name: str, contests: Sequence[Contest]) -> Outcomes:
    """Return contests from the side of one of the two systems; those of a row of the data are one cluster."""
    rows = []
    for contest in contests:
        score = contest.score_of(system)
        question: QuestionName = (contest.instance, contest.first, contest.second)
        selected = None if score is None else _SIDES[side_of(score)]
        rows.append(Outcome(contest.instance, (question,), score, selected, cluster=contest.cluster))
    return Outcomes(system, name, tuple(rows), (0.0, 1.0), tuple(_SIDES.values()), tuple(_SIDES))


_INTERVALS = ("winrate", "field_winrate", "strength", "length_controlled_winrate")
_NUMBERS = (
    *("winrate_if_unscored_0", "winrate_if_unscored_1", "rank", "rank_low", "rank_high"),
    *("contests", "ties", "num_unscored"),
)


def system_record(table: WinrateAnalysis, system: SystemSummary) -> dict[str, Any]:
    """Return one system's numbers under flat names; a missing number is None."""
    record: dict[str, Any] = {"system": system.system}
    for name in _INTERVALS:
        for suffix, part in (("", "estimate"), ("_low", "low"), ("_high", "high")):
            record[name + suffix] = getattr(getattr(system, name), part, None)
    record |= {name: plain(getattr(system, name)) for name in _NUMBERS}
    return {
        **record,
        "ranked_by": table.rate_name if table.ranking.balanced else "strength",
        "bounds_lead": system.unscored_bounds is not None,
        "rank_missing_reason": getattr(system.rank, "reason", None),
        "strength_missing_reason": getattr(system.strength, "reason", None),
        "num_unscored_votes": system.unscored_counts.unscored_votes,
        "mean_length": table.mean_lengths[system.system],
    }


def _systems_table(table: WinrateAnalysis) -> TextTable:
    level, ranking = format_level(table.parameters["level"]), table.ranking
    columns = (
        Column(
            f"{'' if ranking.balanced else 'raw '}{table.rate_name} [{level}]",
            lambda one: format_score(one.winrate, one.unscored_bounds),
        ),
        *(() if ranking.balanced else (Column(f"against all [{level}]", "field_winrate"),)),
        Column("rank", lambda one: f"{one.rank} [{one.rank_low}, {one.rank_high}]" if one.rank else MISSING),
        Column("strength", "strength", optional=ranking.anytime),
        Column("at equal length", "length_controlled_winrate", optional=ranking.anytime),
        Column("contests", "contests"),
        Column("ties", "ties"),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("length", lambda one: format_count(table.mean_lengths[one.system])),
    )
    title = (
        f"{table.rate_name.capitalize()}s on {table.criterion.name!r} by {', '.join(table.parameters['judges'])}: "
        f"{_of_all(_asked(table), table.parameters['n'], 'prompt')}, {format_count(len(table.entries), 'contest')}"
    )
    by_name = {(one.system,): one for one in table.ranked}
    return measures_table(title, ("system",), by_name, columns, _notes(table), kind="scores")


def _matrix_table(table: WinrateAnalysis) -> TextTable:
    """Return the winrate of the row's system against the column's, best first; its bounds if these lead."""
    cells = {
        of: format_bounds(one.bounds.low, one.bounds.high) if one.bounds else format_number(one.estimate)
        for of, one in table.head_to_head.items()
    }
    systems = [entry.system for entry in table.ranking.systems]
    return TextTable(
        kind="matrix",
        title=f"{table.rate_name.capitalize()} of the row's system against the column's",
        headers=("", *systems),
        rows=tuple((row, *(cells.get((row, column), "") for column in systems)) for row in systems),
    )


def _pairs_table(table: WinrateAnalysis) -> TextTable:
    """Return the table of every two systems: head to head, and the difference of their winrates or strengths.

    Where all holds at any time, there is head to head alone, and what is decided.
    """
    ranking, rate_name, level = table.ranking, table.rate_name, format_level(table.ranking.level)
    decided = table.decisions if ranking.anytime else {}

    def head_to_head(pair: PairComparison) -> str:
        found = table.head_to_head[pair.first, pair.second]
        return format_score(pair.win_rate, found.bounds)

    def p_value(test: DifferenceTest | None) -> str:
        return format_p_value(None if test is None else test.adjusted_p_value)

    def decision(pair: PairComparison) -> str:
        known = decided.get((pair.first, pair.second))
        if known is None:
            return MISSING
        return f"{'after' if known.decided else 'not after'} {format_count(known.prompts, 'prompt')}"

    title = "Head to head" if rate_name == "winrate" else f"Head to head by {rate_name}"
    columns = [
        Column("contests", "contests"),
        Column(f"head to head [{level}]", head_to_head),
        Column("p", lambda pair: p_value(pair.win_rate_test)),
    ]
    if ranking.anytime:
        title += " (p corrected by Holm; all holds at any time)"
        columns.append(Column("decided", decision))
    else:
        title += (
            f", and the paired difference of {rate_name}s over all contests (p corrected by Holm)"
            if ranking.balanced
            else ", and the difference of strengths (p corrected by Holm, and by Scheffé where results paired)"
        )
        header = "difference" if ranking.balanced else "difference of strengths"
        columns.append(Column(f"{header} [{level}]", lambda pair: format_interval(pair.difference, signed=True)))
        columns.append(Column("p", lambda pair: p_value(pair.difference_test)))
    pairs = {(f"{pair.first} – {pair.second}",): pair for pair in ranking.pairs}
    return measures_table(title, ("systems",), pairs, columns, kind="pairs")


def _asked(table: WinrateAnalysis) -> int:
    """Return the number of prompts that were asked: all, or fewer if the comparison stopped early."""
    instances = {entry.instance for entry in table.entries}
    return len(instances) if table.parameters.get("stop") else table.parameters["n"]


def _of_all(some: int, total: int, noun: str) -> str:
    return format_count(total, noun) if some == total else f"{format_count(some)} of {format_count(total, noun)}"


def _notes(table: WinrateAnalysis) -> tuple[str, ...]:
    ranking, summary = table.ranking, table.summary
    notes = [*_anytime_notes(table)]
    davidson = "" if ranking.anytime else "Strengths are log-odds by Davidson's model, 0 on average; lengths"
    notes += [f"{davidson or 'Lengths'} are mean characters.", *ranking_notes(ranking), _order_note(table)]
    controlled = ranking.length_controlled is not None and ranking.length_controlled.reason is None
    if controlled:
        notes.append(
            "At equal length: what the model of systems and lengths makes of them. It takes away the quality that goes "
            "with length too, so that a system whose responses are longer for saying more is held back."
        )
    if table.reduction != "win_rate":
        notes.append(_reduction_note(ranking, controlled=controlled))
    if (agreement := table.gold_agreement()) is not None:
        notes.append(f"Agrees with the gold preferences in {format_share(agreement)} of the contests.")
    notes += unscored_note(table.unscored_counts)
    if summary.num_unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in summary.unscored_contests.items())
        notes.append(f"Contests without a score: {reasons}.")
    bounds = "; ".join(
        f"{one.system} {format_range(one.winrate_if_unscored_0, one.winrate_if_unscored_1)}"
        for one in summary.systems
        if one.winrate_if_unscored_0 != one.winrate_if_unscored_1
    )
    if bounds:
        notes.append(f"Winrates if every unscored vote had been against the system, or for it: {bounds}.")
    if leading := unscored_bounds_note({one.system: one.unscored_bounds for one in summary.systems}):
        others = ["Ranks", "groups", "tests", "strengths"] + ["winrates against all"] * (not ranking.balanced)
        others += [] if ranking.length_controlled is None else ["winrates at equal length"]
        rest = f"{', '.join(others[:-1])} and {others[-1]} rest on the scored votes, and would change with the rest."
        notes += [*leading, rest]
    notes += [*readings_note([summary.readings]), *early_stop_note(table.parameters)]
    return (*notes, *baseline_note(table.parameters["judges"]))


def _anytime_notes(table: WinrateAnalysis) -> Iterator[str]:
    """Give notes on when the comparison was decided, and which numbers are valid at any time."""
    if not table.ranking.anytime:
        return
    if table.parameters.get("stop"):
        known, total, asked = [*table.decisions.values()], table.parameters["n"], _asked(table)
        after = [one.prompts for one in known if one.decided]
        prompts = " to ".join(format_count(each) for each in sorted({min(after), max(after)})) if after else ""
        decided = f"Decided after {prompts}"
        if not after:
            decided = f"Not decided after {format_count(asked)}"
        elif len(known) > 1:
            decided = f"{_of_all(len(after), len(known), 'pair')} decided, after {prompts}"
        rest = f"; the other {format_count(total - asked)} were not asked" if asked < total else ""
        leans = " The estimate of a pair that is decided leans away from ½; its interval holds." if after else ""
        yield (
            f"{decided} of {format_count(total, 'prompt')} in a random order{rest}. That any pair of equal systems is "
            f"ever decided has a probability of {format_percent(1 - table.parameters['level'])} at most, over all "
            f"looks and pairs.{leans}"
        )
    yield (
        "Intervals and p-values hold at all looks together and wherever one stops: bets on the scores of prompts, or "
        "of clusters of them. A winrate is the mean of those against each of the others. Strengths, the position "
        "advantage and winrates at equal length are left out: their intervals would be those of a sample of a fixed "
        "size."
    )


def ranking_notes(ranking: Ranking) -> Iterator[str]:
    """Give notes on the position advantage, systems that are alike, circles and missing estimates."""
    position, cycles, level = ranking.model.position_probability, ranking.cycles, format_level(ranking.level)
    if isinstance(position, Interval):
        yield (
            f"Position advantage: between equals the response shown first wins {format_share(position)} of the decided "
            "contests (Davidson and Beaver's model)."
        )
    elif not ranking.anytime:
        yield f"Position advantage: no estimate, since {position.reason}."
    how = "Holm" if ranking.balanced else "Holm, strengths"
    alike = "; ".join(", ".join(group) for group in ranking.groups if len(group) > 1)
    if alike:
        yield f"Cannot be told apart at the {level} level ({how}): {alike}."
    else:
        yield f"All systems can be told apart at the {level} level ({how})."
    if cycles.triples:
        found = f"{format_count(cycles.cyclic)} of {format_count(cycles.triples)} triples of systems"
        prompts = f"; within prompts {format_share(cycles.prompt_rate)} of {format_count(cycles.prompt_triples)}"
        yield f"Preferences in a circle: {found}{'' if cycles.prompt_rate is None else prompts}."
    if ranking.anytime:
        yield from _missing_notes("rank", ranking)
        return
    yield from _missing_notes("strength", ranking)
    if ranking.length_controlled is not None and ranking.length_controlled.reason is not None:
        yield f"No length-controlled winrates: {ranking.length_controlled.reason}."
    if not ranking.balanced:
        added = (
            " A system won or lost all that counts, which leaves a strength infinite; for ranks and differences one "
            "contest a strength was added, half won by each side."
        )
        yield (
            "Not every two systems met in equally many scored contests, so raw winrates are over opponents of unequal "
            "strength: ranks, groups and differences are of strengths, and 'against all' is the winrate that the model "
            f"of strengths expects against all the other systems.{added if ranking.contests_added else ''}"
        )
        yield from _missing_notes("rank", ranking)


def _missing_notes(name: str, ranking: Ranking) -> Iterator[str]:
    """Give notes on the systems without a rank or strength, for each reason."""
    lacking: dict[str, list[str]] = {}
    for entry in ranking.systems:
        if isinstance(value := getattr(entry, name), Missing):
            lacking.setdefault(value.reason, []).append(entry.system)
    yield from (f"No {name} for {', '.join(systems)}: {reason}." for reason, systems in lacking.items())


def _reduction_note(ranking: Ranking, *, controlled: bool) -> str:
    """Return the note on what weighs a win by its grade, and what counts every contest once."""
    if ranking.anytime:
        return "Everything here weighs a win by its grade, but for the counts of contests and ties."
    weighed, once = "Winrates, head to head", "strengths, the position advantage"
    if ranking.balanced:
        weighed += ", differences, ranks, groups and circles"
    else:
        weighed += " and circles"
        once += ", the ranks, groups and differences that are of strengths, winrates against all"
    once += ", winrates at equal length" if controlled else ""
    return f"{weighed} weigh a win by its grade; {once} and the orders count every contest once."


def _order_note(table: WinrateAnalysis) -> str:
    summary, position = table.summary, table.summary.position
    if isinstance(position, Missing) or not summary.positional_bias:
        return "Orders: no contest was judged in both, so what position does to the verdicts is not known."
    note = f"Orders: the judge changes its mind in {format_share(summary.positional_bias)} of the contests"
    if position.p_value is not None:
        note += f"; of {format_count(position.n_inconsistent)} such changes of one judge the first place gains from "
        note += f"{format_share(position.first_shown_share)} ({state_p_value(position.p_value)})"
    if table.parameters["on_position_bias"] == "first":
        ranked = ("Winrates, ranks and tests take", "strengths come")
        if not table.ranking.balanced:
            ranked = ("Raw winrates take", "ranks, differences and strengths come")
        note += (
            f". {ranked[0]} the first order alone (on_position_bias='first'); {ranked[1]} from the votes in all "
            "orders, less what the position does"
        )
    return note + "."

"""The result of comparing systems: every contest with its votes, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion, Option
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judge_reliability.asked import FIRST, NEITHER, SECOND, SIDE_SCORES, SIDES, Categories
from evenhand.judge_reliability.gold import GoldComparison, JudgedRow, compare_with_gold
from evenhand.modes.contest import (
    Contest,
    Reduction,
    check_reduction,
    cluster_numbers,
    is_graded,
    presented_contests,
    resolve,
    resolved_contests,
    side_of,
)
from evenhand.modes.deciding import Decision, decisions
from evenhand.modes.pairwise import ContestSummary, SystemSummary, summarize_contests, unscored_pairs
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion, swapped_index
from evenhand.results.findings import Reported, reported_difference
from evenhand.results.measures import Measure
from evenhand.results.on_disk import part_by_part
from evenhand.results.outcomes import Outcome, Outcomes, QuestionName
from evenhand.results.render import TextTable
from evenhand.results.results import Results, Rules, changed_rules
from evenhand.results.verdict_view import QuestionAsked
from evenhand.results.votes_columns import Cell, plain_vote, vote_row
from evenhand.statistics import Interval, ratio_intervals
from evenhand.statistics.intervals import IntervalLevel
from evenhand.statistics.ranking import Ranking, SystemRanking, rank_systems
from evenhand.statistics.strengths import Strength
from evenhand.tables.winrate_texts import system_record, tables_of_pairs, winrate_tables
from evenhand.votes import Vote

if TYPE_CHECKING:
    import pandas as pd

TIE = "tie"
NO_ORDER = Missing("the votes do not say which system was shown first")
WITHOUT_PLACES: dict[str, Any] = dict.fromkeys(
    (
        *("position", "positional_bias", "position_consistency"),
        *("first_shown_preference", "first_shown_preference_p_value", "first_position_share"),
    ),
    NO_ORDER,
)
"""What is not known where the order shown is not."""


@dataclass(frozen=True, slots=True)
class ContestEntry:
    """A contest as the table keeps it.

    Attributes:
        contest: The contest with its verdict and all votes.
        prompt_id: The prompt's id in long data.
        lengths: Characters of the first system's response and of the second's; None where there is none.
        gold: The system that a person preferred, or ``"tie"``, where there is such a label.
    """

    contest: Contest
    prompt_id: str | None
    lengths: tuple[int | None, int | None]
    gold: str | None = None

    @property
    def instance(self) -> int:
        """The row's index."""
        return self.contest.instance

    @property
    def first(self) -> str:
        """The first system."""
        return self.contest.first

    @property
    def second(self) -> str:
        """The second system."""
        return self.contest.second

    @property
    def length_difference(self) -> float:
        """First minus second; NaN when one of them is not known, as the statistics expect it."""
        first, second = self.lengths
        return float("nan") if first is None or second is None else float(first - second)

    @property
    def agrees_with_gold(self) -> bool | None:
        """Whether the verdict prefers what the person preferred; None without a label or a score."""
        if self.gold is None or self.contest.score is None:
            return None
        return (self.contest.winner or TIE) == self.gold


@dataclass(frozen=True)
class WinrateTable(Results[ContestEntry]):
    """The result of :func:`winrates`: every contest, and which system is better, by how much, how surely.

    Attributes:
        contests: Ordered by prompt and pair.
        criterion: What was compared.
        systems: In the order asked for.
    """

    contests: Sequence[ContestEntry]
    criterion: Criterion
    systems: tuple[str, ...]

    kind: ClassVar = "winrates"
    names: ClassVar = ("instance", "first", "second")
    compared: ClassVar = ("score", "score")
    labelled_by: ClassVar = ("first", "second")

    @property
    def entries(self) -> Sequence[ContestEntry]:
        """The contests."""
        return self.contests

    @cached_property
    def summary(self) -> ContestSummary:
        """Winrates under the reduction asked for, ties, unscored contests, and how far the judge can be trusted."""
        summary = summarize_contests(
            [entry.contest for entry in self.scored_entries],
            self.systems,
            reduction=self.reduction,
            level=self._level,
            ranking=self.ranking,
        )
        return summary if self._orders_known else replace(summary, **WITHOUT_PLACES)

    @property
    def reduction(self) -> Reduction:
        """How contests become winrates."""
        return check_reduction(self.parameters["reduction"], graded=is_graded(self.criterion))

    @property
    def rate_name(self) -> str:
        """What the share of battles won is called."""
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
        contest once, whatever the grades.
        """
        contests = [entry.contest for entry in self.scored_entries]
        ranking = rank_systems(
            resolved_contests(contests, self.systems, self.reduction),
            presented=presented_contests(contests, self.systems) if self._orders_known else None,
            rounds=[contest.round for contest in contests],
            length_difference=[entry.length_difference for entry in self.scored_entries],
            level=self._level,
            resamples=self.parameters["resamples"],
            seed=self.parameters["seed"],
        )
        ranking = replace(ranking, systems=tuple(_with_strength_or_reason(entry) for entry in ranking.systems))
        return _without_open_length_control(ranking)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """The winrate of each system, and where there are more than two that against each other one."""
        held: dict[frozenset[str], list[ContestEntry]] = {}
        for each in self.scored_entries:
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
        """Where the table weighs wins: single contests do not."""
        note = (
            "Every contest counts once here, whatever its grade (reduction='win_rate'); the table of winrates weighs a "
            f"win by its grade (reduction={self.reduction!r})."
        )
        return () if self.reduction == "win_rate" else (note,)

    def reported(self) -> Iterator[Reported]:
        """Of each system, best first; of each two against each other; of all contests."""
        for system in self.ranked:
            counted = system.contests - system.num_unscored, system.unscored_counts
            yield Reported("", (system.system,), system, *counted)
            yield Reported("", (system.system,), Measure("strength", system.strength, "number"), *counted)
        contests = [entry.contest for entry in self.scored_entries]
        leading = unscored_pairs(contests, self.ranking.pairs, reduction=self.reduction, level=self.ranking.level)
        for pair in self.ranking.pairs:
            of, met = (pair.first, pair.second), pair.win_rate
            never = Missing("the two never met")
            led = leading.get(of)
            here = Measure("winrate", never if met is None else met, "score", bounds=led)
            turned = None if led is None else led.subtracted_from(1.0)
            there = Measure("winrate", never if met is None else met.subtracted_from(1.0), "score", bounds=turned)
            yield Reported("", of, here, pair.contests)
            yield Reported("", of[::-1], there, pair.contests)
            name = "winrate.difference" if self.ranking.balanced else "strength.difference"
            reason = "the data say nothing about it"
            yield from reported_difference(name, of, pair.difference, reason, pair.contests)
        whole = self.summary
        yield Reported("", (), whole, whole.contests - whole.num_unscored, whole.unscored_counts)
        if (agrees := self.gold_agreement()) is not None:
            yield Reported("", (), Measure("gold_agreement", agrees, "share"), agrees.n)

    @part_by_part
    def asked(self) -> Iterator[QuestionAsked]:
        """The contests as they are held; the score is that of the first system."""
        graded = is_graded(self.criterion)
        named = {1.0: "first", 0.0: "second"}
        for entry in self.scored_entries:
            contest, sides = entry.contest, {"first": entry.first, "second": entry.second}
            sided = [TIE if option.value == 0.5 else named.get(option.value, "") for option in self.criterion.options]  # type: ignore[arg-type]
            options = [sides.get(side, side or label) for side, label in zip(sided, self.criterion.labels, strict=True)]
            yield QuestionAsked(
                name=f"{entry.instance}/{entry.first}/{entry.second}",
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=self.criterion.labels if graded else tuple(options),
                judged=(entry.first, entry.second),
                selected=None if contest.score is None else contest.winner or TIE,
                score=contest.score,
                verdict=contest.verdict.model_copy(update={"unscored_reason": contest.unscored_reason}),
                gold=entry.gold,
                compares=True,
                offered=self.criterion.labels,
            )

    def turned_in(self, other: Self) -> frozenset[tuple[str, ...]]:
        """The pairs whose contests are those of the second against the first here."""
        own, theirs = ({(about["first"], about["second"]) for about in each.abouts()} for each in (self, other))
        return frozenset(pair for pair in theirs - own if pair[::-1] in own)

    def criterion_of(self, cell: Cell) -> Criterion:
        """Which of the two is better, or neither."""
        names = ((cell.about["first"], 1.0), (TIE, 0.5), (cell.about["second"], 0.0))
        options = tuple(Option(label=label, value=value) for label, value in names)
        described = self.criterion.description
        return Criterion(name=self.criterion.name, description=described, options=options, scale="pairwise")

    def by_people(self) -> dict[str, Any]:
        """People may find two responses equal, whatever the judge was offered."""
        said = super().by_people()
        offered = comparison_criterion(self.criterion.name, self.criterion.description, allow_ties=True)
        parameters = {**said["parameters"], "reduction": "win_rate"}
        return {**said, "criterion": offered.model_dump(mode="json"), "parameters": parameters}

    @property
    def decisions(self) -> Mapping[tuple[str, str], Decision]:
        """(First, second) -> whether it is decided which of the two is better, and after how many prompts.

        Valid at all looks together, whatever the unscored votes would have said; see
        :func:`~evenhand.modes.deciding.decisions`.
        """
        contests = [entry.contest for entry in self.scored_entries]
        return decisions(contests, 1 - self.parameters["level"], reduction=self.reduction)

    @cached_property
    def mean_lengths(self) -> Mapping[str, float | None]:
        """System -> mean characters of its responses, a prompt counted once; None without a response."""
        lengths: dict[str, dict[int, int]] = {system: {} for system in self.systems}
        for entry in self.scored_entries:
            contest = entry.contest
            for system, length in zip((contest.first, contest.second), entry.lengths, strict=True):
                if length is not None:
                    lengths[system][contest.instance] = length
        return {system: sum(own.values()) / len(own) if own else None for system, own in lengths.items()}

    @property
    def matrix(self) -> pd.DataFrame:
        """How often the row's system beats the column's; missing where the two never met.

        ``ranking.pairs`` has the intervals, the paired differences and the p-values.
        """
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        order = [entry.system for entry in self.ranking.systems]
        table = pd.DataFrame(float("nan"), index=order, columns=order)
        for pair in self.ranking.pairs:
            if pair.win_rate is not None:
                table.loc[pair.first, pair.second] = pair.win_rate.estimate
                table.loc[pair.second, pair.first] = 1 - pair.win_rate.estimate
        return table

    @property
    def ranked(self) -> tuple[SystemSummary, ...]:
        """The systems of the summary, best first."""
        return tuple(self.system(entry.system) for entry in self.ranking.systems)

    def system(self, name: str) -> SystemSummary:
        """What the summary says of a system."""
        return self.summary.systems[self.systems.index(name)]

    def winrate(self, system: str) -> Interval | Missing:
        """The winrate of a system under the reduction asked for."""
        return self.system(system).winrate

    def entry(self, system: str) -> SystemRanking:
        """What the ranking says of a system."""
        return next(entry for entry in self.ranking.systems if entry.system == system)

    def gold_agreement(self) -> Interval | None:
        """The share of the contests with a person's preference and a score in which both prefer the same."""
        hits: dict[int, list[bool]] = {}
        numbers = cluster_numbers([entry.contest for entry in self.scored_entries])
        for entry, number in zip(self.scored_entries, numbers, strict=True):
            if entry.agrees_with_gold is not None:
                hits.setdefault(number, []).append(entry.agrees_with_gold)
        sums, counts = [float(sum(own)) for own in hits.values()], [float(len(own)) for own in hits.values()]
        return ratio_intervals(sums, counts, level=self._level)[0] if hits else None

    def against_gold(
        self,
        system: str | None = None,
        *,
        gold: Sequence[object] | None = None,
        groups: Sequence[Hashable] | None = None,
        resamples: int | None = None,
    ) -> GoldComparison:
        """The judges against people: accuracy, precision, recall, F1, kappas, correlations, pairs in the right order.

        The labels are which of the two systems of a contest is better, or tie; the score is 1 where the first is.

        Args:
            system: Only the contests of this system; all by default.
            gold: Numbers that people gave in place of labels: one for each row of the data, None where there is none.
            groups: A label for each row of the data: correlations are averaged within these too. By default rows of one
                instance are a group, where there are several.
            resamples: Draws for the intervals of kappas and balanced accuracy; as the table's by default.

        Raises:
            InvalidInputError: No such system, or gold that does not fit.
        """
        if system is not None and system not in self.systems:
            raise InvalidInputError(f"system is {system!r}. {did_you_mean(system, self.systems)}")
        sides = self.systems if len(self.systems) == 2 and TIE not in self.systems else SIDES
        return compare_with_gold(
            [_judged_contest(entry) for entry in self.scored_entries if system in {None, entry.first, entry.second}],
            Categories(self.criterion, (sides[0], sides[1])).scale,
            title=f"{self.criterion.name}: {', '.join(self.parameters['judges'])} against gold",
            level=self._level,
            gold=gold,
            groups=groups,
            resamples=self.parameters["resamples"] if resamples is None else resamples,
            seed=self.parameters["seed"],
        )

    def rescore(self, **rules: Unpack[Rules]) -> Self:
        """The same votes under other rules, without a call.

        Args:
            **rules: ``aggregation``, ``on_position_bias``, ``scoring`` or ``min_mass``; what is not given stays as it
                was.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit a comparison.
            InvalidInputError: ``scoring="expected"`` of draws that could stop early.
        """
        changed = changed_rules(self.parameters, rules)
        changed.check(self.criterion.scale)
        return self.rescored(changed)

    def text_tables(self) -> tuple[TextTable, ...]:
        """The systems, the matrix and the pairs as texts."""
        return winrate_tables(self)

    def further_tables(self) -> tuple[TextTable, ...]:
        """The matrix and the pairs, where they are not printed."""
        return tables_of_pairs(self) if len(self.text_tables()) == 1 else ()

    def ranking_to_pandas(self) -> pd.DataFrame:
        """One row per system, best first."""
        import pandas as pd  # noqa: PLC0415 - as above

        return pd.DataFrame.from_records([system_record(self, system) for system in self.ranked])

    def judged(self) -> dict[str, Any]:
        """The systems and the criterion."""
        return {"systems": list(self.systems), "criterion": self.criterion.model_dump(mode="json")}

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each vote, as ``winrates(votes=rows)`` reads them: ``vote`` names a system, ``tie`` or an option.

        A contest of which a response is missing is a row without a judge.
        """
        found = []
        for entry in self.scored_entries:
            about = {name: value for name, value in _about(entry).items() if value is not None}
            about |= {"id": entry.prompt_id or str(entry.instance)}
            votes = entry.contest.verdict.votes
            if not votes:
                nobody = {"swapped": False, "judge": None, "sample": 0, "vote": None}
                found.append({**about, **nobody, "unscored_reason": "missing_response"})
            for vote in votes:
                cast = {"swapped": vote.order == (1, 0), **plain_vote(vote), "vote": self._said(entry, vote)}
                found.append({**about, **cast})
        return found

    def _said(self, entry: ContestEntry, vote: Vote) -> str | None:
        """The system that a vote prefers, or a tie; the option as it was shown where it says more than that."""
        if vote.selected_index is None:
            return None
        option = self.criterion.options[vote.selected_index]
        side = None if option.na or is_graded(self.criterion) else option.value
        named = {1.0: entry.first, 0.0: entry.second, 0.5: TIE}
        if side in named:
            return named[side]
        shown = vote.selected_index
        return self.criterion.labels[swapped_index(self.criterion.options, shown) if vote.order == (1, 0) else shown]

    @part_by_part
    def cells(self) -> Iterator[Cell]:
        """The votes on each contest."""
        for entry in self.scored_entries:
            yield Cell(_about(entry), entry.contest.verdict.votes)

    @classmethod
    def of_cells(cls, header: Mapping[str, Any], cells: Iterable[Cell]) -> Self:
        """The contests that these votes come to."""
        criterion = Criterion.model_validate(header["criterion"])
        rules = VoteRules.from_parameters(header["parameters"])
        return cls(
            contests=tuple(
                ContestEntry(
                    contest=resolve(
                        Contest.between(criterion=criterion, **{name: about[name] for name in _CONTEST}),
                        votes,
                        criterion,
                        rules,
                    ),
                    prompt_id=about["prompt_id"],
                    lengths=(about["first_length"], about["second_length"]),
                    gold=about["gold"],
                )
                for about, votes, _ in cells
            ),
            criterion=criterion,
            systems=tuple(header["systems"]),
            parameters=header["parameters"],
        )

    def __repr__(self) -> str:
        return f"<WinrateTable of {len(self.systems)} systems on {self.parameters['n']} prompts>\n{self}"

    @part_by_part
    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """A row for each contest."""
        for entry in self.scored_entries:
            contest, verdict = entry.contest, entry.contest.verdict
            record: dict[str, Any] = {
                **_about(entry),
                "score": contest.score,
                "grade": contest.grade,
                "winner": contest.winner,
                "position_consistent": verdict.position_consistent,
                "agreement": verdict.agreement,
                "spread": verdict.spread,
                "unscored_reason": contest.unscored_reason,
                "assessment": verdict.assessment,
            }
            yield {**record, "votes": [vote_row(vote) for vote in verdict.votes]} if votes else record


_CONTEST = ("instance", "first", "second", "round", "cluster")


def _about(entry: ContestEntry) -> dict[str, Any]:
    """What names a contest, and what is known of it before it is judged."""
    contest, (first, second) = entry.contest, entry.lengths
    return {
        **{name: getattr(contest, name) for name in _CONTEST},
        "prompt_id": entry.prompt_id,
        "first_length": first,
        "second_length": second,
        "gold": entry.gold,
    }


def _with_strength_or_reason(entry: SystemRanking) -> SystemRanking:
    """A number that the data do not bear out is replaced by the reason."""
    strength = entry.strength.log_strength
    if strength is None:
        return entry
    if entry.record.win_rate is None:  # strengths come from single votes, which the rules may have set aside
        reason = "no scored contest"
    elif not math.isfinite(strength.low):
        reason = "the data leave its interval open"
    else:
        return entry
    return replace(entry, strength=Strength(entry.system, None, reason))


def _without_open_length_control(ranking: Ranking) -> Ranking:
    """As above: winrates at equal length of which all that is known is that they lie between 0 and 1."""
    controlled = ranking.length_controlled
    known = [] if controlled is None else [rate for rate in controlled.win_rates if rate is not None]
    if controlled is None or not known or any(rate.low > 0 or rate.high < 1 for rate in known):
        return ranking
    missing = (None,) * len(controlled.win_rates)
    return replace(
        ranking,
        systems=tuple(replace(entry, length_controlled_win_rate=None) for entry in ranking.systems),
        length_controlled=replace(controlled, win_rates=missing, reason="the data leave their intervals open"),
    )


def _judged_contest(entry: ContestEntry) -> JudgedRow:
    """Which side the verdict prefers, and which a person does."""
    contest = entry.contest
    sides = dict(zip((contest.first, contest.second, TIE), (FIRST, SECOND, NEITHER), strict=True))
    right = None if entry.gold is None else sides[entry.gold]
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


def _side(system: str, name: str, contests: Sequence[ContestEntry]) -> Outcomes:
    """Contests as one of the two systems sees them; those of a row of the data belong together."""
    rows = []
    for entry in contests:
        contest, score = entry.contest, entry.contest.score_of(system)
        question: QuestionName = (contest.instance, contest.first, contest.second)
        selected = None if score is None else _SIDES[side_of(score)]
        rows.append(Outcome(contest.instance, (question,), score, selected, cluster=contest.cluster))
    return Outcomes(system, name, tuple(rows), (0.0, 1.0), tuple(_SIDES.values()), tuple(_SIDES))

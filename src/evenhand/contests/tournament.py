"""Holding contests: instances × pairs of systems -> questions -> votes -> contests."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from tqdm import tqdm

from evenhand.contests.contest import Contest, Reduction, resolve, winrates
from evenhand.criteria import Criterion
from evenhand.data.systems import common_systems
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError
from evenhand.judging.design import Design, Pair, fixed_pairs, swiss_pairs
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.question import Question

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One instance with the responses of all systems.

    Attributes:
        instance: Its index.
        responses: System -> response; None where the system gave none.
        criterion: A pairwise criterion.
        context: What the judge is shown beside the responses: name -> text.
        references: Known good answers.
        data_classification: The data classification policy, which the engine must allow.
        draw_key: Names the instance in seeded draws of orders; the index when empty.
        guidelines: What the judge is told about judging, beside the criterion.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    responses: Mapping[str, str | None]
    criterion: Criterion
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[str, ...] = ()
    data_classification: tuple[str, ...] | None = None
    draw_key: str = ""
    guidelines: str = ""
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.criterion.scale != "pairwise":
            raise InvalidInputError(
                f"the criterion {self.criterion.name!r} of instance {self.instance} has the scale "
                f"{self.criterion.scale!r}; a comparison needs a pairwise one: see load_comparison"
            )


@dataclass(frozen=True, slots=True)
class TournamentPlan:
    """What a tournament will ask for, at most.

    Attributes:
        design: Which pairs meet.
        instances: How many.
        contests: Contests that are judged; those with a missing response are not.
        missing: Contests that are not judged, because a response is missing.
        votes: Contests × orders × samples × judges.
        calls: Calls to the judges, without re-asks and retries; replies in the journal are not called for again.
    """

    design: Design
    instances: int
    contests: int
    missing: int
    votes: int
    calls: int

    def __str__(self) -> str:
        bound = "up to " if self.design.kind == "swiss" else ""
        missing = f" ({self.missing} more lack a response)" if self.missing else ""
        return (
            f"pairwise judging, design {str(self.design)!r}: {self.instances} instances, {bound}{self.contests} "
            f"contests{missing}, {bound}{self.votes} votes, {bound}{self.calls} calls without re-asks"
        )


def plan_tournament(
    rows: Sequence[ComparisonRow], design: Design, settings: RunSettings, judges: int
) -> TournamentPlan:
    """How many contests, votes and calls a tournament takes, at most; nothing is called.

    Raises:
        InvalidInputError: If the instances name different systems, or these do not fit the design.
    """
    entered = _Field.of(rows, design, "win_rate")
    pairs = entered.pairs_of_round(0, ())
    questions = list(entered.questions(pairs).values())
    orders = sum(len(shown) for shown in settings.grid.permutations(questions))
    votes = orders * settings.grid.samples * judges * design.rounds
    return TournamentPlan(
        design=design,
        instances=len(rows),
        contests=len(questions) * design.rounds,
        missing=(sum(map(len, pairs)) - len(questions)) * design.rounds,
        votes=votes,
        calls=votes * settings.flow.expected_calls(),
    )


def estimate_tournament(
    rows: Sequence[ComparisonRow], design: Design, settings: RunSettings, judges: Sequence[JudgeEngine]
) -> RunEstimate:
    """Calls, tokens and cost of a tournament, at most; nothing is called.

    The rounds of a Swiss design depend on results, so each is taken to cost what the first one does, without replies
    from the journal.

    Raises:
        InvalidInputError: If the instances name different systems, or these do not fit the design.
    """
    entered = _Field.of(rows, design, "win_rate")
    questions = list(entered.questions(entered.pairs_of_round(0, ())).values())
    if design.rounds == 1:
        return settings.estimate(questions, judges)
    once = replace(settings, journal=None).estimate(questions, judges)
    return RunEstimate(
        votes=once.votes * design.rounds,
        calls=once.calls * design.rounds,
        cached=once.cached * design.rounds,
        prompt_tokens=once.prompt_tokens * design.rounds,
        completion_tokens=once.completion_tokens * design.rounds,
        cost=None if once.cost is None else once.cost * design.rounds,
    )


def hold_tournament(
    rows: Sequence[ComparisonRow],
    design: Design,
    settings: RunSettings,
    judges: Sequence[JudgeEngine],
    *,
    reduction: Reduction = "win_rate",
) -> tuple[Contest, ...]:
    """Judge the pairs of a design, ordered by instance and pair.

    The number of calls is shown before the first one. A pair with a missing response is not judged: its contest is
    unscored (``missing_response``). The rounds of a Swiss design are runs that follow one another within one budget.

    Args:
        rows: The instances, all with the same systems.
        design: Which pairs meet.
        settings: Orders, samples, flow, rules and limits.
        judges: Who judges.
        reduction: How contests become the winrates by which a Swiss design pairs.

    Raises:
        InvalidInputError: If the instances name different systems, or these do not fit the design.
        TooManyFailuresError: If more votes fail than the settings allow.
    """
    entered = _Field.of(rows, design, reduction)
    _announce(plan_tournament(rows, design, settings, len(judges)), progress=settings.limits.progress)
    contests: list[Contest] = []
    for round_number in range(design.rounds):
        pairs = entered.pairs_of_round(round_number, contests)
        questions = entered.questions(pairs)
        limits = settings.limits.after(vote for contest in contests for vote in contest.verdict.votes)
        votes = replace(settings, limits=limits).run(list(questions.values()), judges) if questions else []
        cast = dict(zip(questions, votes, strict=True))
        for place, pair in ((place, pair) for place, drawn in enumerate(pairs) for pair in drawn):
            unresolved = entered.contest(place, pair, round_number)
            contests.append(
                resolve(
                    unresolved,
                    cast.get((place, pair), ()),
                    rows[place].criterion,
                    settings.rules,
                )
            )
    return tuple(sorted(contests, key=entered.position))


@dataclass(frozen=True, slots=True)
class _Field:
    """The systems and instances of a tournament."""

    rows: Sequence[ComparisonRow]
    systems: tuple[str, ...]
    design: Design
    reduction: Reduction
    place: Mapping[int, int]

    @classmethod
    def of(cls, rows: Sequence[ComparisonRow], design: Design, reduction: Reduction) -> Self:
        systems = common_systems([row.responses for row in rows])
        design.check_systems(systems)
        place = {row.instance: position for position, row in enumerate(rows)}
        if len(place) < len(rows):
            raise InvalidInputError("two rows have the same instance number; contests of a row are one cluster")
        return cls(rows, systems, design, reduction, place)

    def pairs_of_round(self, round_number: int, contests: Sequence[Contest]) -> list[tuple[Pair, ...]]:
        if self.design.kind != "swiss":
            return fixed_pairs(self.design, self.systems, len(self.rows))
        met: list[set[Pair]] = [set() for _ in self.rows]
        for contest in contests:
            met[self.place[contest.instance]].add(self._pair(contest))
        standings = winrates(contests, self.systems, self.reduction)
        return swiss_pairs(
            self.design, self.systems, len(self.rows), round_number=round_number, winrates=standings, met=met
        )

    def questions(self, pairs: Sequence[Sequence[Pair]]) -> dict[tuple[int, Pair], Question]:
        """(Place of the row, pair) -> question, where both responses are there. No question names a system."""
        questions = {}
        for place, (row, drawn) in enumerate(zip(self.rows, pairs, strict=True)):
            for pair in drawn:
                first, second = (row.responses[self.systems[position]] for position in pair)
                if first is None or second is None:
                    continue
                questions[place, pair] = Question(
                    id=f"{row.instance}:{pair[0]}-{pair[1]}",
                    criterion=row.criterion,
                    responses=(first, second),
                    context=row.context,
                    references=row.references,
                    mode="compare",
                    instance=row.instance,
                    data_classification=row.data_classification,
                    draw_key=row.draw_key,
                    guidelines=row.guidelines,
                )
        return questions

    def contest(self, place: int, pair: Pair, round_number: int) -> Contest:
        """A contest before anything was judged."""
        row, (first, second) = self.rows[place], (self.systems[side] for side in pair)
        return Contest.between(
            first, second, row.criterion, instance=row.instance, round=round_number, cluster=row.cluster
        )

    def position(self, contest: Contest) -> tuple[int, Pair]:
        """Where a contest stands in the result."""
        return self.place[contest.instance], self._pair(contest)

    def _pair(self, contest: Contest) -> Pair:
        return self.systems.index(contest.first), self.systems.index(contest.second)


def _announce(plan: TournamentPlan, *, progress: bool) -> None:
    logger.info("%s", plan)
    if progress:
        tqdm.write(str(plan), file=sys.stderr)

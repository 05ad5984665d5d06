"""Tables of verdicts as the questions on which a judge's reliability is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.fields import field_of, text_of
from evenhand.data.rows import Row
from evenhand.judge_reliability import (
    FIRST,
    NEITHER,
    SECOND,
    SIDES,
    Asked,
    Categories,
    ChoiceReliability,
    CriterionReliability,
    JudgesAgreement,
    agreement_of_judges,
    choice_reliability,
    criterion_reliability,
    level_over,
)
from evenhand.tables.grade_table import GradeTable
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.winrate_table import TIE, ContestEntry, WinrateTable
from evenhand.votes import Verdict, is_missing


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the votes of all judges.

    Attributes:
        instance: The row of the data.
        verdict: With all votes; without any where a response was missing.
        label: The category that people chose.
        lengths: In characters: of the two responses of a comparison, of the one that was assessed.
        systems: Which wrote them.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    verdict: Verdict
    label: int | None
    lengths: tuple[int, ...] | None = None
    systems: tuple[str, ...] | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """All questions on one criterion.

    Attributes:
        criterion: Whose options were voted on.
        rules: How a judge's own votes become its verdict.
        cases: The questions.
        sides: What the two systems are called, where there are only two.
    """

    criterion: Criterion
    rules: VoteRules
    cases: tuple[Case, ...]
    sides: tuple[str, str] = SIDES

    def asked(self, judge_id: str) -> list[Asked]:
        """The questions with the votes of one judge, and what these come to alone."""
        found = []
        numbers = {name: number for number, name in enumerate(dict.fromkeys(case.cluster for case in self.cases))}
        for case in self.cases:
            votes = [vote for vote in case.verdict.votes if vote.judge_id == judge_id]
            if votes:
                alone = self.rules.aggregate(votes, self.criterion)
                number = None if case.cluster is None else numbers[case.cluster]
                found.append(Asked(case.instance, alone, case.label, case.lengths, case.systems, number))
        return found

    @property
    def num_missing(self) -> int:
        """Questions that were not put for want of a response."""
        return sum(not case.verdict.votes for case in self.cases)


def cases_of_judgements(table: JudgementTable, rules: VoteRules, rows: Sequence[Row]) -> list[Cases]:
    """The assessments of a table, a criterion each.

    Args:
        table: What was judged.
        rules: How a judge's own votes become its verdict.
        rows: The data, with the responses.
    """
    return [
        Cases(
            criterion,
            rules,
            tuple(
                _assessment(judgement, criterion, rows)
                for judgement in table.judgements
                if judgement.criterion == criterion.name
            ),
        )
        for criterion in table.criteria
    ]


def cases_of_contests(table: WinrateTable, rules: VoteRules) -> Cases:
    """The contests of a table."""
    sides = table.systems if len(table.systems) == 2 and TIE not in table.systems else SIDES
    return Cases(table.criterion, rules, tuple(_comparison(entry) for entry in table.contests), (sides[0], sides[1]))


def choices_of(table: GradeTable) -> list[ChoiceReliability]:
    """The Grade Score of every judge and prompt of a table."""
    return [
        choice_reliability(
            grading,
            table.criterion.name,
            prompt,
            table.unrelated_effects[judge, prompt] if unrelated else None,
        )
        for (judge, prompt, unrelated), grading in table.gradings.items()
    ]


def _assessment(judgement: Judgement, criterion: Criterion, rows: Sequence[Row]) -> Case:
    label = None if judgement.gold is None else criterion.index_of(judgement.gold)
    response = field_of(rows[judgement.instance], judgement.system, judgement.instance, "response_field")
    lengths = None if is_missing(response) else (len(text_of(response)),)
    return Case(judgement.instance, judgement.verdict, label, lengths, (judgement.system,), judgement.cluster)


def _comparison(entry: ContestEntry) -> Case:
    contest, (first, second) = entry.contest, entry.lengths
    sides = dict(zip((contest.first, contest.second, TIE), (FIRST, SECOND, NEITHER), strict=True))
    return Case(
        contest.instance,
        contest.verdict,
        None if entry.gold is None else sides[entry.gold],
        None if first is None or second is None else (first, second),
        (contest.first, contest.second),
        contest.cluster,
    )


def reports_on(
    cases: Sequence[Cases], judges: Sequence[str], *, level: float, resamples: int, seed: int
) -> tuple[tuple[CriterionReliability, ...], tuple[JudgesAgreement, ...]]:
    """The results of every judge on every criterion, and how far the judges agree."""
    results: list[CriterionReliability] = []
    agreements: list[JudgesAgreement] = []
    for each in cases:
        categories = Categories(each.criterion, each.sides)
        asked = {judge: each.asked(judge) for judge in judges}
        results += [
            criterion_reliability(
                judge,
                questions,
                each.criterion,
                num_missing=each.num_missing,
                sides=each.sides,
                level=level,
                resamples=resamples,
                seed=seed,
            )
            for judge, questions in asked.items()
        ]
        if len(judges) > 1:
            verdicts = {judge: [question.verdict for question in questions] for judge, questions in asked.items()}
            over = level_over(next(iter(asked.values())), level)
            agreements.append(agreement_of_judges(verdicts, categories, level=over, resamples=resamples, seed=seed))
    return tuple(results), tuple(agreements)

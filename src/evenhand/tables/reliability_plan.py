"""What a report on the reliability of judges asks, checked before the first call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import evenhand
from evenhand.criteria import Criterion
from evenhand.data.rows import Row
from evenhand.engines.base import JudgeEngine
from evenhand.judge_reliability import ChoiceReliability
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.statistics.intervals import IntervalLevel
from evenhand.tables.assessing import judge
from evenhand.tables.comparing import winrates
from evenhand.tables.grade_table import GradeTable
from evenhand.tables.grading import grade_scores
from evenhand.tables.judgements import JudgementTable
from evenhand.tables.reliability_cases import Cases, cases_of_contests, cases_of_judgements, choices_of, reports_on
from evenhand.tables.reliability_report import ReliabilityReport
from evenhand.tables.winrate_table import WinrateTable
from evenhand.votes import Vote

OF_PANELS = ("aggregation", "judge_weights")
"""Options that judges by themselves do not take."""

NOT_OF_CHOICES = (
    "check_positional_bias",
    "orders",
    "shuffles",
    "flow",
    "prompt",
    "scoring",
    "min_mass",
    "on_position_bias",
    *OF_PANELS,
)
"""Options that a Grade Score has of its own, or not at all."""


@dataclass(frozen=True, slots=True)
class ReliabilityPlan:
    """What :func:`~evenhand.tables.reliability` asks.

    Attributes:
        rows: The data.
        judges: Who is asked, each for itself.
        assessed: Criteria with options.
        compared: Pairwise criteria.
        response_field: The columns with the responses to assess.
        systems: The columns with the responses to compare.
        shared: Context and reference columns, for all runs.
        offered: What comparisons offer: ties, grades.
        gold: Criterion name -> column with what people said.
        as_index: Labels there that are numbers are places of options.
        options: Of the runs, as they were given; with ``scoring`` where log-probabilities are wanted.
        settings: The options, checked.
        prompts: With which the best of all systems is asked for.
        unrelated_option: Whether that is done a second time with an unrelated candidate.
        resamples: Draws for the intervals of kappa and alpha.
    """

    rows: Sequence[Row]
    judges: tuple[JudgeEngine, ...]
    assessed: tuple[Criterion, ...]
    compared: tuple[Criterion, ...]
    response_field: str | Sequence[str] | None
    systems: Sequence[str] | None
    shared: Mapping[str, Any]
    offered: Mapping[str, Any]
    gold: Mapping[str, str]
    as_index: bool
    options: Mapping[str, Any]
    settings: RunSettings
    prompts: tuple[str, ...]
    unrelated_option: bool
    resamples: int

    def check(self) -> None:
        """What a later run cannot use is an error before the first one; a single run checks by itself."""
        if bool(self.assessed) + len(self.compared) * (2 if self.prompts else 1) > 1:
            self.estimate()

    def estimate(self) -> RunEstimate:
        """Calls, tokens and cost of all runs; what cannot be used is an error."""
        parts: list[RunEstimate] = []
        if self.assessed:
            parts.append(self._assess(self.options, dry_run=True))
        for criterion in self.compared:
            parts.append(self._compare(criterion, self.options, dry_run=True))
            if self.prompts:
                parts.append(self._choose(criterion, self.options, dry_run=True))
        return RunEstimate.total(parts)

    def report(self, *, confidences: bool) -> ReliabilityReport:
        """Ask, one run after the other within one budget, and report."""
        rules = self.settings.rules
        cases: list[Cases] = []
        choices: list[ChoiceReliability] = []
        votes: list[Vote] = []
        if self.assessed:
            judged: JudgementTable = self._assess(self.options)
            cases += cases_of_judgements(judged, rules, self.rows)
            votes += [vote for each in judged.judgements for vote in each.verdict.votes]
        for criterion in self.compared:
            compared: WinrateTable = self._compare(criterion, self._left(votes))
            cases.append(cases_of_contests(compared, rules))
            votes += [vote for entry in compared.contests for vote in entry.contest.verdict.votes]
            if self.prompts:
                graded: GradeTable = self._choose(criterion, self._left(votes))
                choices += choices_of(graded)
                votes += [vote for instance in graded.instances for vote in instance.votes]
        results, agreements = reports_on(
            cases,
            [each.judge_id for each in self.judges],
            level=IntervalLevel(self.settings.level, None, self.settings.interval),
            resamples=self.resamples,
            seed=self.settings.seed,
        )
        return ReliabilityReport(results, tuple(choices), agreements, self._parameters(confidences=confidences))

    def _left(self, votes: Sequence[Vote]) -> dict[str, Any]:
        """The options with what is left of the budget."""
        left = self.settings.limits.after(votes)
        return {**self.options, "max_calls": left.max_calls, "max_cost": left.max_cost}

    def _assess(self, options: Mapping[str, Any], **more: Any) -> Any:
        own = {criterion.name for criterion in self.assessed}
        gold = {name: column for name, column in self.gold.items() if name in own}
        run: Callable[..., Any] = judge
        columns = {**self.shared, "response_field": self.response_field, "gold_fields": gold, "as_index": self.as_index}
        return run(self.rows, list(self.assessed), list(self.judges), **columns, **options, **more)

    def _compare(self, criterion: Criterion, options: Mapping[str, Any], **more: Any) -> Any:
        run: Callable[..., Any] = winrates
        given = {**self.shared, **self.offered, "gold_field": self.gold.get(criterion.name), **options, **more}
        return run(self.rows, self.systems, criterion, list(self.judges), **given)

    def _choose(self, criterion: Criterion, options: Mapping[str, Any], **more: Any) -> Any:
        run: Callable[..., Any] = grade_scores
        asked = {"prompts": self.prompts, "unrelated_option": self.unrelated_option, **self.shared}
        given = {name: value for name, value in options.items() if name not in NOT_OF_CHOICES}
        return run(self.rows, self.systems, criterion, list(self.judges), **asked, **given, **more)

    def _parameters(self, *, confidences: bool) -> dict[str, Any]:
        columns = {"response_field": self.response_field, "systems": self.systems, **self.shared}
        return {
            "evenhand_version": evenhand.__version__,
            "judges": [each.judge_id for each in self.judges],
            "n": len(self.rows),
            "criteria": [each.model_dump(mode="json") for each in (*self.assessed, *self.compared)],
            **{name: list(value) if isinstance(value, tuple) else value for name, value in columns.items()},
            "gold_fields": dict(self.gold),
            "as_index": self.as_index,
            **self.offered,
            "confidences": confidences,
            "prompts": list(self.prompts),
            "unrelated_option": self.unrelated_option,
            "resamples": self.resamples,
            **self.settings.parameters(),
        }

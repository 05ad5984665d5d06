"""The settings of a run: the checked options, and what a mode makes of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from evenhand.aggregation import VoteRules, check_weights
from evenhand.criteria import Scale
from evenhand.engines.base import JudgeEngine
from evenhand.errors import EvenhandWarning
from evenhand.judging.estimate import RunEstimate, estimate_run
from evenhand.judging.flow import TOP_LOGPROBS, Flow
from evenhand.judging.grid import Grid
from evenhand.judging.loop import opened_journal
from evenhand.judging.run import Limits, run_votes
from evenhand.question import Question
from evenhand.results.spending import LIMITS
from evenhand.run_options import FlowOptions, RunOptions
from evenhand.version import __version__
from evenhand.votes import Vote


class AlikeDrawsWarning(EvenhandWarning):
    """Repeated draws are asked of a judge at temperature 0, which tends to give the same reply again."""


class NoLogprobsWarning(EvenhandWarning):
    """Log-probabilities were asked for and a judge gave none, so its votes count what they select."""


def made_by(judges: Iterable[JudgeEngine]) -> dict[str, Any]:
    """By which evenhand and which judges a result was made, as its parameters repeat it."""
    return {"evenhand_version": __version__, "judges": [judge.judge_id for judge in judges]}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Checked options, and what a mode makes of them.

    Attributes:
        options: As they were given.
        rules: How votes become verdicts.
        flow: How a judge is asked.
        limits: What is left of the budget, tolerated failures, progress bar.
        journal: ``"default"``, a path, or None.
    """

    options: RunOptions
    rules: VoteRules
    flow: Flow
    limits: Limits
    journal: str | Path | None

    @classmethod
    def from_options(
        cls, options: Mapping[str, Any] | RunOptions, scales: Sequence[Scale] = (), *, has_values: bool = True
    ) -> Self:
        """Check options, and that the rules among them fit the scales and values of what is judged.

        Raises:
            InvalidInputError: An option that does not exist, or a value that is not accepted.
            UnknownRuleError: A rule that does not exist or does not fit a scale.
        """
        given = options if isinstance(options, RunOptions) else RunOptions(**options)
        rules = given.part(VoteRules)
        for scale in scales:
            rules.check(scale, has_values=has_values)
        check_weights({str(place): weight for place, weight in enumerate(given.judge_weights or ())})
        expected = given.scoring == "expected"
        return cls(
            options=given,
            rules=rules,
            flow=Flow(**given.part(FlowOptions).given(), logprobs=TOP_LOGPROBS if expected else 0, coded=expected),
            limits=given.part(Limits),
            journal=given.journal,
        )

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """The settings that :meth:`parameters` wrote; what is not there, such as limits, has its default."""
        held = {**parameters, **parameters["grid"], **parameters["flow"]}
        return cls.from_options({name: held[name] for name in RunOptions.model_fields if name in held})

    @property
    def grid(self) -> Grid:
        """Orders and samples."""
        return self.options.part(Grid)

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.options.level

    @property
    def interval(self) -> str:
        """The method of the intervals."""
        return self.options.interval

    @property
    def cluster_field(self) -> str | bool | None:
        """The column that says which rows belong together; False and None for none."""
        return self.options.cluster_field

    @property
    def seed(self) -> int:
        """Of everything random."""
        return self.options.seed

    @property
    def judge_weights(self) -> tuple[float, ...] | None:
        """One a judge, or None for equal weights."""
        return self.options.judge_weights

    def asking(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields of a flow
        """The same settings with another flow: see the fields of :class:`~evenhand.judging.flow.Flow`."""
        return replace(self, flow=self.flow.changed(**changes))

    def run(self, questions: Sequence[Question], judges: Sequence[JudgeEngine]) -> list[tuple[Vote, ...]]:
        """The votes on each question; see :func:`evenhand.judging.run.run_votes`."""
        self.check_prompt(questions)
        questions = self.classified(questions)
        self.warn_of_alike_draws(judges)
        with opened_journal(self.journal_for(judges)) as journal:
            votes = run_votes(
                questions,
                judges,
                grid=self.grid,
                flow=self.flow,
                limits=self.limits,
                journal=journal,
                weights=self.judge_weights,
            )
        if self.flow.logprobs:
            warn_of_missing_logprobs(votes)
        return votes

    def estimate(self, questions: Sequence[Question], judges: Sequence[JudgeEngine]) -> RunEstimate:
        """What :meth:`run` would do, without a call."""
        self.check_prompt(questions)
        questions = self.classified(questions)
        with opened_journal(self.journal_for(judges)) as journal:
            return estimate_run(
                questions, judges, grid=self.grid, flow=self.flow, journal=journal, weights=self.judge_weights
            )

    def classified(self, questions: Sequence[Question]) -> Sequence[Question]:
        """The questions, with what is said about all rows."""
        given = self.options.data_classification
        if given is None:
            return questions
        own = (given,) if isinstance(given, str) else given
        return [replace(question, data_classifications=(own, *question.data_classifications)) for question in questions]

    def check_prompt(self, questions: Sequence[Question]) -> None:
        """Check that the prompt is for such questions."""
        for mode, sheet in {(question.mode, bool(question.sheet)) for question in questions}:
            self.flow.check_prompt(mode, sheet=sheet)

    def warn_of_alike_draws(self, judges: Sequence[JudgeEngine]) -> None:
        """Warn (:class:`AlikeDrawsWarning`) of judges whose repeated draws say little."""
        for judge in judges:
            sampling = (judge.identity() or {}).get("sampling", {})
            if self.grid.samples > 1 and sampling.get("temperature") == 0:
                warnings.warn(
                    f"samples={self.grid.samples!r} asks for repeated draws, but the judge {judge.judge_id!r} has the "
                    "temperature 0, so the draws will be alike and their spread says little: give it a temperature",
                    AlikeDrawsWarning,
                    stacklevel=3,
                )

    def journal_for(self, judges: Sequence[JudgeEngine]) -> str | Path | None:
        """The journal, unless no judge's replies need one."""
        return self.journal if any(judge.identity() is not None for judge in judges) else None

    def parameters(self) -> dict[str, Any]:
        """The settings that a result depends on, as plain JSON."""
        return {
            "grid": self.grid.given(),
            "flow": self.flow.given(),
            **self.rules.parameters(),
            "judge_weights": None if self.judge_weights is None else list(self.judge_weights),
            "level": self.level,
            "interval": self.interval,
            "cluster_field": self.cluster_field,
            "seed": self.seed,
            **{name: limit for name in LIMITS if (limit := getattr(self.options, name)) is not None},
        }


def warn_of_missing_logprobs(votes: Sequence[Sequence[Vote]]) -> None:
    """Warn (:class:`NoLogprobsWarning`) of judges that gave none."""
    replied: dict[str, list[bool]] = {}
    for vote in (vote for row in votes for vote in row if vote.selected_index is not None):
        replied.setdefault(vote.judge_id, []).append(vote.probabilities is not None)
    without = [judge_id for judge_id, given in replied.items() if not any(given)]
    if without:
        warnings.warn(
            f"the judges {without!r} gave no log-probabilities that can be read, so their votes count what they "
            "select, and repeated draws (samples > 1) the share of them: use a model and server that give top_logprobs "
            "for probabilities",
            NoLogprobsWarning,
            stacklevel=4,
        )

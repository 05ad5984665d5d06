"""The settings of a run under the names that users give them, for metrics, tables and the command line alike."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, Self, TypedDict, cast

from evenhand.aggregation import NEEDS_ALL_DRAWS, Aggregation, ScoringName, VoteRules
from evenhand.criteria import Scale
from evenhand.engines.base import JudgeEngine
from evenhand.engines.journal import Journal, open_journal
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.clusters import check_cluster_field
from evenhand.judging.estimate import RunEstimate, estimate_run
from evenhand.judging.flow import TOP_LOGPROBS, Flow, FlowName
from evenhand.judging.grid import Grid, Orders
from evenhand.judging.run import Limits, run_votes
from evenhand.question import Question
from evenhand.statistics.clusters import check_interval_method
from evenhand.statistics.dirichlet import check_level
from evenhand.votes import PREDICTIVE, StopConfidence, Vote


class AlikeDrawsWarning(UserWarning):
    """Repeated draws are asked of a judge at temperature 0, which tends to give the same reply again."""


class NoLogprobsWarning(UserWarning):
    """Log-probabilities were asked for and a judge gave none, so its votes count what they select."""


class RunOptions(TypedDict, total=False):
    """How a run judges; every option has a default.

    Attributes:
        check_positional_bias: True (the default) shows every instance in both orders; a share such as 0.2 shows a
            seeded sample of the instances so; False none.
        orders: ``given``, ``reversed``, ``both``, ``cyclic`` or ``shuffled``.
        shuffles: How many permutations ``shuffled`` draws.
        samples: Draws of each prompt. Odd numbers cannot tie; see ``temperature`` of the engine.
        stop_early: Make no further draw once all draws would come to the same outcome. What needs all draws (spread,
            confidences, expected values) is missing then.
        confidence: When that is, with ``stop_early``: ``predictive``, when it is 98.5 % probable; a number such as
            0.95, when the posterior of the leading option reaches it; None, when nothing else is possible.
        flow: ``two_step`` (assessment, then selection), ``one_step`` (one structured reply; half the calls) or
            ``verdict_only`` (no reasons).
        max_reasks: How often a judge whose reply states no option, or merely mentions one, is asked again (1).
        generate_summaries: Ask for a summary of each assessment.
        include_prompts_in_result: Keep the prompts in the votes.
        prompt: The name of one of our prompts, or a text of your own, instead of the mode's.
        aggregation: The rule by which a panel's votes become one, or scale -> rule; the scale's default when None.
        on_position_bias: What a disagreement between orders counts; the scale's default when None.
        scoring: ``selected``: a vote counts the value of its option; ``expected``: the mean value of the options under
            the log-probabilities of the verdict, which are asked for then.
        min_mass: Log-probabilities that cover less than this share of the replies are not used (0.5).
        judge_weights: One positive weight a judge, in the order of the panel.
        max_failure_rate: The share of votes that may fail (0.2) before the run ends in an error.
        max_calls: Calls to launch at most.
        max_cost: US dollars after which no call is launched.
        level: Of the intervals (0.95).
        interval: How the intervals of means and rates are made: ``auto``, ``bounded``, ``t``, ``t_logit``,
            ``bootstrap``, ``mid_p`` or ``exact``; :func:`~evenhand.statistics.ratio_intervals` says what each promises.
        cluster_field: The column whose equal values mark rows that belong together: a document, a conversation, a user.
            Intervals and tests are over these clusters then. False says that the rows do not depend on each other,
            and None (the default) too, with a warning where a column of the data plainly repeats.
        seed: Of the sample of instances, shuffles, designs, nonces and resampled ranks (0).
        journal: ``"default"``, the path of a journal file, or None for no journal.
        progress: Show a progress bar.
    """

    check_positional_bias: bool | float
    orders: str
    shuffles: int
    samples: int
    stop_early: bool
    confidence: StopConfidence
    flow: str
    max_reasks: int
    generate_summaries: bool
    include_prompts_in_result: bool
    prompt: str | None
    aggregation: Aggregation
    on_position_bias: str | None
    scoring: str
    min_mass: float
    judge_weights: Sequence[float] | None
    max_failure_rate: float
    max_calls: int | None
    max_cost: float | None
    level: float
    interval: str
    cluster_field: str | bool | None
    seed: int
    journal: str | Path | None
    progress: bool


DEFAULTS: RunOptions = {
    "check_positional_bias": True,
    "orders": "given",
    "shuffles": 1,
    "samples": 1,
    "stop_early": False,
    "confidence": PREDICTIVE,
    "flow": "two_step",
    "max_reasks": 1,
    "generate_summaries": False,
    "include_prompts_in_result": True,
    "prompt": None,
    "aggregation": None,
    "on_position_bias": None,
    "scoring": "selected",
    "min_mass": 0.5,
    "judge_weights": None,
    "max_failure_rate": 0.2,
    "max_calls": None,
    "max_cost": None,
    "level": 0.95,
    "interval": "auto",
    "cluster_field": None,
    "seed": 0,
    "journal": "default",
    "progress": True,
}


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "max_reasks": ((Integral,), "a whole number"),
    "generate_summaries": ((bool,), "True or False"),
    "include_prompts_in_result": ((bool,), "True or False"),
    "confidence": ((Real, str, NoneType), "'predictive', a number such as 0.95, or None"),
    "prompt": ((str, NoneType), "the name of a prompt, the text of one, or None"),
    "judge_weights": ((list, tuple, NoneType), "a list with one number a judge, or None"),
    "max_failure_rate": ((Real,), "a number between 0 and 1"),
    "max_calls": ((Integral, NoneType), "a whole number, or None for no limit"),
    "max_cost": ((Real, NoneType), "a number of US dollars, or None for no limit"),
    "level": ((Real,), "a number such as 0.95"),
    "journal": ((str, Path, NoneType), "'default', a path, or None for no journal"),
    "progress": ((bool,), "True or False"),
}
"""What the options are that nothing else checks."""


def _check_kinds(given: RunOptions) -> None:
    for name, (kinds, accepted) in _KINDS.items():
        value: object = given[name]  # type: ignore[literal-required] # the keys are those of RunOptions
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InvalidInputError(f"{name} is {value!r}; give {accepted}")
    weights = given["judge_weights"] or ()
    if not all(isinstance(weight, Real) for weight in weights):
        raise InvalidInputError(f"judge_weights is {weights!r}; give {_KINDS['judge_weights'][1]}")


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Checked options.

    Attributes:
        grid: Orders and samples.
        flow: How a judge is asked.
        limits: Budget, tolerated failures, progress bar.
        rules: How votes become verdicts.
        judge_weights: One a judge, or None for equal weights.
        level: Of the intervals.
        interval: Their method.
        cluster_field: The column that says which rows belong together; False and None for none.
        seed: Of everything random.
        journal: ``"default"``, a path, or None.
    """

    grid: Grid
    flow: Flow
    limits: Limits
    rules: VoteRules
    judge_weights: tuple[float, ...] | None
    level: float
    interval: str
    cluster_field: str | bool | None
    seed: int
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
        unknown = [name for name in options if name not in DEFAULTS]
        if unknown:
            raise InvalidInputError(f"there is no option {unknown[0]!r}. {did_you_mean(unknown[0], DEFAULTS)}")
        given = cast(RunOptions, {**DEFAULTS, **options})
        _check_kinds(given)
        weights = given["judge_weights"]
        rules = VoteRules(
            aggregation=given["aggregation"],
            on_position_bias=given["on_position_bias"],
            scoring=cast(ScoringName, given["scoring"]),
            min_mass=given["min_mass"],
        )
        for scale in scales:
            rules.check(scale, has_values=has_values, weights=weights)
        expected = rules.scoring == "expected"
        if expected and given["stop_early"]:
            raise InvalidInputError(
                f"stop_early does not go with scoring='expected': {NEEDS_ALL_DRAWS}; drop one of the two"
            )
        check_level(given["level"])
        check_cluster_field(given["cluster_field"])
        check_interval_method(given["interval"], clustered=isinstance(given["cluster_field"], str))
        return cls(
            grid=Grid(
                orders=cast(Orders, given["orders"]),
                check_positional_bias=given["check_positional_bias"],
                samples=given["samples"],
                shuffles=given["shuffles"],
                seed=given["seed"],
                stop_early=given["stop_early"],
                confidence=given["confidence"],
            ),
            flow=Flow(
                name=cast(FlowName, given["flow"]),
                max_reasks=given["max_reasks"],
                generate_summaries=given["generate_summaries"],
                include_prompts=given["include_prompts_in_result"],
                seed=given["seed"],
                logprobs=TOP_LOGPROBS if expected else 0,
                coded=expected,
                prompt=given["prompt"],
            ),
            limits=Limits(
                max_calls=given["max_calls"],
                max_cost=given["max_cost"],
                max_failure_rate=given["max_failure_rate"],
                progress=given["progress"],
            ),
            rules=rules,
            judge_weights=None if weights is None else tuple(weights),
            level=given["level"],
            interval=given["interval"],
            cluster_field=given["cluster_field"],
            seed=given["seed"],
            journal=given["journal"],
        )

    def asking(self, **changes: Any) -> Self:  # noqa: ANN401 - the fields of a flow
        """The same settings with another flow: see the fields of :class:`~evenhand.judging.flow.Flow`."""
        return replace(self, flow=replace(self.flow, **changes))

    def run(self, questions: Sequence[Question], judges: Sequence[JudgeEngine]) -> list[tuple[Vote, ...]]:
        """The votes on each question; see :func:`evenhand.judging.run.run_votes`."""
        self._check_prompt(questions)
        self._warn_of_alike_draws(judges)
        with self._opened_journal(judges) as journal:
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
            _warn_of_missing_logprobs(votes)
        return votes

    def estimate(self, questions: Sequence[Question], judges: Sequence[JudgeEngine]) -> RunEstimate:
        """What :meth:`run` would do, without a call."""
        self._check_prompt(questions)
        with self._opened_journal(judges) as journal:
            return estimate_run(
                questions, judges, grid=self.grid, flow=self.flow, journal=journal, weights=self.judge_weights
            )

    def _check_prompt(self, questions: Sequence[Question]) -> None:
        for mode, sheet in {(question.mode, bool(question.sheet)) for question in questions}:
            self.flow.check_prompt(mode, sheet=sheet)

    def _warn_of_alike_draws(self, judges: Sequence[JudgeEngine]) -> None:
        for judge in judges:
            sampling = (judge.identity() or {}).get("sampling", {})
            if self.grid.samples > 1 and sampling.get("temperature") == 0:
                warnings.warn(
                    f"samples={self.grid.samples!r} asks for repeated draws, but the judge {judge.judge_id!r} has the "
                    "temperature 0, so the draws will be alike and their spread says little: give it a temperature",
                    AlikeDrawsWarning,
                    stacklevel=3,
                )

    @contextmanager
    def _opened_journal(self, judges: Sequence[JudgeEngine]) -> Iterator[Journal | None]:
        """The journal, unless it is switched off or no judge's replies need one."""
        needed = any(judge.identity() is not None for judge in judges)
        journal = open_journal(self.journal) if needed else None
        try:
            yield journal
        finally:
            if journal is not None:
                journal.close()

    def parameters(self) -> dict[str, Any]:
        """The settings that a result depends on, as plain JSON."""
        return {
            "grid": asdict(self.grid),
            "flow": asdict(self.flow),
            **self.rules.parameters(),
            "judge_weights": None if self.judge_weights is None else list(self.judge_weights),
            "level": self.level,
            "interval": self.interval,
            "cluster_field": self.cluster_field,
            "seed": self.seed,
        }


def _warn_of_missing_logprobs(votes: Sequence[Sequence[Vote]]) -> None:
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

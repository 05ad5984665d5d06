"""Run a grid of votes: one flat queue per judge, no barriers between stages or batches.

The event loop lives in a thread of its own, so a run works in a script, a notebook, a thread, and next to another loop.
A failed call leaves one unscored vote, and the run goes on. Runs that ask one
:class:`~evenhand.judging.loop.OpenPanel` are judged as if they were one.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from evenhand.aggregation.verdict import VoteRules
from evenhand.data.plain import by_key
from evenhand.engines.base import JudgeEngine
from evenhand.engines.calls import check_classified
from evenhand.engines.free_engines import FreeEngine
from evenhand.errors import EvenhandWarning, JournalError
from evenhand.judging.conversation import Flow
from evenhand.judging.loop import OpenPanel, open_panel
from evenhand.options import Grid, Limits, RunOptions
from evenhand.question import Question
from evenhand.results.made_by import DIGITS, LIMITS, NOTHING, digest
from evenhand.votes import Vote

_logger = logging.getLogger(__name__)

AnyLimits = TypeVar("AnyLimits", bound=Limits)
Shown = tuple[int, Mapping[str, str | None], Iterable[Mapping[str, str]]]


class AlikeDrawsWarning(EvenhandWarning):
    """Repeated draws are asked of a judge at temperature 0, which tends to give the same reply again."""


class NoLogprobsWarning(EvenhandWarning):
    """Log-probabilities were asked for and a judge gave none, so its votes count what they select."""


def ask(
    questions: Sequence[Question], judges: Sequence[JudgeEngine], options: RunOptions, flow: Flow
) -> list[tuple[Vote, ...]]:
    """Return every vote of the grid: a tuple per question, ordered by judge, order and sample.

    Questions of one instance that name the same sheet are asked in one call.

    Args:
        questions: The questions.
        judges: The judges; a panel when there are several. An :class:`~evenhand.judging.loop.OpenPanel` has limits,
            journal and weights of its own.
        options: The options of the run.
        flow: The way in which a judge is asked, as the mode has it.

    Raises:
        InvalidInputError: No judge, two judges with one name, or weights that do not fit the judges.
        DataClassificationError: A judge may not be shown what a question is about; no judge was asked.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; its ``votes`` are what this function
            would have returned.
        ServerAwayError: A judge's server stayed away; its ``votes`` are those that came.
        JournalError: Replies could not be recorded, so that calls were not made; its ``votes`` are as above.
    """
    questions = as_asked(questions, options, flow)
    warn_of_alike_draws(judges, options.samples)
    check_classified(questions, judges)
    run = None
    try:
        with nullcontext(judges) if isinstance(judges, OpenPanel) else open_panel(judges, options) as panel:
            run = panel.run_of(questions, options, flow)
            _logger.info("%d questions, %d votes are asked for", len(questions), run.total)
            panel.cast(run)
    except JournalError as error:
        error.votes = [] if run is None else run.cast()
        raise
    votes = panel.finish(run)
    if flow.logprobs:
        warn_of_missing_logprobs(votes)
    return votes


def limits_after(limits: AnyLimits, votes: Iterable[Vote]) -> AnyLimits:
    """Return the same with the limits that are left after these votes: a call without a reply counts too."""
    spent = list(votes)
    calls = sum(vote.usage.calls + (vote.unscored_reason == "engine_error") for vote in spent)
    cost = sum((vote.usage.cost or 0.0) + vote.usage.at_risk for vote in spent)
    return limits.model_copy(
        update={
            "max_calls": None if limits.max_calls is None else max(0, limits.max_calls - calls),
            "max_cost": None if limits.max_cost is None else max(0.0, limits.max_cost - cost),
        }
    )


def parameters_of(options: RunOptions, rules: VoteRules, flow: Flow | None) -> dict[str, Any]:
    """Return what a result depends on, as plain JSON; without a flow, where no judge was asked."""
    return {
        "grid": {name: getattr(options, name) for name in Grid.model_fields},
        **({} if flow is None else {"flow": dict(flow)}),
        **rules.parameters(),
        "judge_weights": None if options.judge_weights is None else list(options.judge_weights),
        "level": options.level,
        "interval": options.interval,
        "cluster_field": options.cluster_field,
        "seed": options.seed,
        **{name: limit for name in LIMITS if (limit := getattr(options, name)) is not None},
    }


def as_asked(questions: Sequence[Question], options: RunOptions, flow: Flow) -> Sequence[Question]:
    """Return the questions with the data classification of the run, once the prompt is seen to fit them."""
    if flow.prompt is not None:
        for mode, sheet in {(question.mode, bool(question.sheet)) for question in questions}:
            flow.check_prompt(mode, sheet=sheet)
    given = options.data_classification
    if given is None:
        return questions
    own = (given,) if isinstance(given, str) else given
    return [replace(question, data_classifications=(own, *question.data_classifications)) for question in questions]


def warn_of_alike_draws(judges: Sequence[JudgeEngine], samples: int) -> None:
    """Warn (:class:`AlikeDrawsWarning`) of judges whose repeated draws say little."""
    alike = [each.judge_id for each in judges if (each.identity() or {}).get("sampling", {}).get("temperature") == 0]
    if samples > 1 and alike:
        warnings.warn(
            f"samples={samples!r} asks for repeated draws, but the judges {alike!r} have the temperature 0, so the "
            "draws will be alike and their spread says little: give them a temperature",
            AlikeDrawsWarning,
            stacklevel=3,
        )


def warn_of_missing_logprobs(votes: Sequence[Sequence[Vote]]) -> None:
    """Warn (:class:`NoLogprobsWarning`) of judges that gave none."""
    selecting = [vote for row in votes for vote in row if vote.selected_index is not None]
    replied = by_key((vote.judge_id, vote.probabilities is not None) for vote in selecting)
    without = [judge_id for judge_id, given in replied.items() if not any(given)]
    if without:
        warnings.warn(
            f"the judges {without!r} gave no log-probabilities that can be read, so their votes count what they "
            "select, and repeated draws (samples > 1) the share of them: use a model and server that give top_logprobs "
            "for probabilities",
            NoLogprobsWarning,
            stacklevel=4,
        )


def fingerprint(
    judges: Iterable[JudgeEngine], asked: Iterable[tuple[Flow, Question]], examples: object, shown: Iterable[Shown]
) -> dict[str, Any]:
    """Return the fingerprint of a run, as its parameters repeat it: ``judge``, ``prompts``, and ``shown`` per row.

    Args:
        judges: The judges.
        asked: Questions as they are asked, of each kind one at least.
        examples: The judged cases from which prompts draw.
        shown: The judged rows: index, judged texts by name, and the contexts shown with them.
    """
    templates = sorted({template for flow, question in asked for template in flow.templates(question)})
    described = []
    for judge in judges:
        identity = judge.identity()
        if identity is None:  # one of ours that sends nothing has plain settings
            identity = judge.settings() if isinstance(judge, FreeEngine) else {}
        described.append(
            {"judge": judge.judge_id, **{name: value for name, value in identity.items() if name != "once"}}
        )
    digits: dict[str, dict[int, set[str]]] = {}
    for row, texts, shown_with in shown:
        contexts = [dict(each) for each in shown_with]
        for name, text in texts.items():
            if text is not None:
                own = digits.setdefault(name or "response", {}).setdefault(row, set())
                own.add(digest(text, contexts, digits=DIGITS))
    of_system = {}
    for name, rows in digits.items():  # where criteria show a row with contexts of their own, digits are of all these
        of_row = {row: min(own) if len(own) == 1 else digest(sorted(own), digits=DIGITS) for row, own in rows.items()}
        of_system[name] = "".join(of_row.get(row, NOTHING) for row in range(max(of_row) + 1))
    return {"judge": digest(*described), "prompts": digest(templates, examples), "shown": of_system}

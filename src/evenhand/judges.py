"""A judge that is called for one response at a time, from any task, thread or event loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypedDict, Unpack

from evenhand.criteria import Checklist, Criterion, Rubric, with_na_option
from evenhand.data.fields import REFERENCE_FIELDS, text_of, texts_of
from evenhand.data.plain import briefly
from evenhand.engines.base import JudgeEngine
from evenhand.engines.budget import Budget
from evenhand.engines.calls import check_classified
from evenhand.engines.names import judges_of
from evenhand.errors import InvalidInputError, UnscoredError, ungrouped
from evenhand.judging.grid import checked_weights
from evenhand.judging.loop import OpenPanel, opened_journal
from evenhand.judging.run import as_asked, warn_of_alike_draws, warn_of_missing_logprobs
from evenhand.modes.checklist import ChecklistMode, ChecklistResult
from evenhand.modes.judgements import DirectMode, RubricMode, RubricResult, rubric_as_judged, subject_of_rubric
from evenhand.modes.mode import Mode, Subject
from evenhand.modes.winrates import TIE, WinratesMode
from evenhand.options import (
    AssessmentOptions,
    ChecklistOptions,
    ContestOptions,
    GuidelineOptions,
    RunOptions,
    unknown_option,
)
from evenhand.question import Question
from evenhand.row_runs import assessment_options, example_pools, read_comparison
from evenhand.unitxt.loading import load
from evenhand.votes import Verdict, Vote, is_missing

Result = Verdict | RubricResult | ChecklistResult
Votes = list[tuple[Vote, ...]]


class _ChecklistOptions(GuidelineOptions, ChecklistOptions):
    """How a checklist is put to judges about one response."""


class SubjectFields(TypedDict, total=False):
    """The arguments of a judge's call.

    Attributes:
        response: The judged response: a text; other data are shown as JSON.
        responses: With a pairwise criterion: name -> response of the two that are compared. The names are not shown.
        context: The texts that the judge is shown with it: name -> text, such as ``{"question": …}``.
        reference: A known good answer, or several; the judge is shown it as ``reference``.
        id: Names the subject in seeded draws, as ``id_field`` does in a run over rows.
    """

    response: object
    responses: Mapping[str, object]
    context: Mapping[str, object] | None
    reference: object
    id: str


class Judge:
    """Judges one response, or compares two, whenever it is called.

    ``await judge(response=…)`` in an event loop, ``judge.run(response=…)`` elsewhere; any number of calls may be under
    way at once, in any tasks, threads and event loops. They share one journal, one budget (``max_calls``, ``max_cost``)
    and the limits of the engine. The first call opens connections, which :meth:`close` (or ``async with``) closes;
    otherwise they end with the judge or the process.

    A failed call gives a result without a score, whose ``unscored_reason`` says why; it never counts as 0. Prompts,
    reading and aggregation are those of :func:`evenhand.judge`, :func:`evenhand.checklist` and
    :func:`evenhand.winrates`, and so is what a journal holds: a row that was judged by one is not bought by another.

    Args:
        criteria: A criterion, rubric or checklist: a catalog id, the path of a file, a dict, a plain sentence (a yes/no
            criterion) or a frozen value.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers' addresses with
            ``model``, catalog ids or engines.
        strict: Raise :class:`~evenhand.errors.UnscoredError` instead of returning a result without a score.
        **options: How to judge: with a criterion or rubric see :class:`~evenhand.options.AssessmentOptions`, with a
            checklist :class:`~evenhand.options.ChecklistOptions` and ``guidelines``, with a pairwise criterion
            :class:`~evenhand.options.ContestOptions`.

    Raises:
        InvalidInputError: Criteria, an engine or options that cannot be used; nothing has been called then.

    Example:
        >>> judge = Judge("criteria.evenhand.direct.relevance", "engines.evenhand.baseline")
        >>> verdict = judge.run(response="It is Paris.", context={"question": "What is the capital of France?"})
        >>> verdict.label, verdict.score
        ('Barely relevant', 0.25)
    """

    def __init__(self, criteria: object, engine: object, *, strict: bool = False, **options: Any) -> None:  # noqa: ANN401 - each option says its own type
        self._mode, self._judged = _mode_of(criteria, {**options, "progress": False})
        self._options, self._flow = self._mode.options, self._mode.flow
        parts = self._judged.criteria if isinstance(self._judged, Rubric) else (self._judged,)
        self._shown = {name: field for each in parts for name, field in each.context_fields.items()}
        self._judges = judges_of(engine, self._options.model)
        self._budget = Budget(self._options.max_calls, self._options.max_cost)
        self._strict = strict
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        checked_weights(self._judges, self._options.judge_weights)
        warn_of_alike_draws(self._judges, self._options.samples)

    def __repr__(self) -> str:
        return f"Judge({self.name!r}, {[judge.judge_id for judge in self._judges]!r})"

    @property
    def name(self) -> str:
        """The name of the criterion, rubric or checklist."""
        return self._judged.name

    async def __call__(self, **subject: Unpack[SubjectFields]) -> Result:
        """Judge one response, or compare two.

        Args:
            **subject: See :class:`SubjectFields`.

        Returns:
            A :class:`~evenhand.votes.Verdict` with a criterion, a :class:`~evenhand.modes.judgements.RubricResult` with
            a rubric, a :class:`~evenhand.modes.checklist.ChecklistResult` with a checklist. All have ``score``,
            ``label``, ``reason`` and ``unscored_reason``. The label of a comparison is the name of the better response,
            or ``tie``, and its score is 1 where the first one wins and 0 where the second one does.

        Raises:
            InvalidInputError: A subject that cannot be judged.
            UnscoredError: There is no score, and the judge is strict.
            JournalError: The journal cannot be opened.
        """
        about, votes = self._begin(subject)
        with ungrouped():
            return self._result(about, await asyncio.wrap_future(votes))

    def run(self, **subject: Unpack[SubjectFields]) -> Result:
        """Do the same outside an event loop; inside one, it blocks the loop until the result is there."""
        about, votes = self._begin(subject)
        try:
            with ungrouped():
                return self._result(about, votes.result())
        finally:
            votes.cancel()  # has no effect on votes that came

    def close(self) -> None:
        """Wait for the calls under way, and close connections and journal. A later call opens them again.

        Raises:
            JournalError: Calls were not made, because their replies could not be recorded.
        """
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    def _begin(self, given: SubjectFields) -> tuple[Subject, Future[Votes]]:
        about = self._subject_of(self._texts(given), given)
        questions = self._questions(about)
        check_classified(questions, self._judges)
        with self._lock:
            if self._opened is None or self._opened.over:
                if self._opened is not None:  # an engine or the journal failed, which may be over by now
                    threading.Thread(target=self._opened.leave, daemon=True).start()
                self._budget = self._budget.left()
                self._opened = _Opened(self, self._judges, self._options, self._budget)
            panel = self._opened.panel
            return about, panel.ask(panel.run_of(questions, self._options, self._flow))

    def _questions(self, about: Subject) -> Sequence[Question]:
        return as_asked(self._mode.questions(about), self._options, self._flow)

    def _result(self, about: Subject, votes: Votes) -> Result:
        if self._flow.logprobs:
            warn_of_missing_logprobs(votes)
        found = self._mode.result(about, votes)
        if isinstance(found, tuple):  # the one contest of a comparison
            winner, found = found[0].winner or TIE, found[0].verdict
            found = found.model_copy(update={"selected_label": winner}) if found.scored else found
        result: Result = found
        if self._strict and result.unscored_reason not in {None, "no_value"}:
            errors = dict.fromkeys(vote.error for row in votes for vote in row if vote.error)
            why = "; ".join(errors) or "strict=False returns such results"
            raise UnscoredError(f"{self.name!r} has no score ({result.unscored_reason}): {why}", result)
        return result

    def _texts(self, given: SubjectFields) -> dict[str, str]:
        """Return the response, or the two that are compared.

        Raises:
            InvalidInputError: If they cannot be judged.
        """
        for name in given:
            if name not in SubjectFields.__annotations__:
                raise unknown_option(name, SubjectFields.__annotations__)
        two = isinstance(self._mode, WinratesMode)
        texts: Any = given.get("responses") if two else {"response": given.get("response")}
        wrong = ("response" if two else "responses") in given
        if wrong or not isinstance(texts, Mapping) or len(texts) != 1 + two or any(map(is_missing, texts.values())):
            how = "judges one response: give response=…; a pairwise criterion compares two"
            if two:
                how = "compares two: give responses={'a': …, 'b': …}; evenhand.winrates compares more"
            raise InvalidInputError(f"{briefly(dict(given))} was given, and {self.name!r} {how}")
        return {str(name): text_of(text, str(name)) for name, text in texts.items()}

    def _subject_of(self, texts: Mapping[str, str], given: SubjectFields) -> Subject:
        references = texts_of(given.get("reference"), "the reference")
        context, judged = self._context(given.get("context"), references), self._judged
        guidelines = self._options.guidelines if isinstance(self._options, GuidelineOptions) else ""
        name = str(given.get("id", ""))
        about = Subject(0, texts, context, references, row_id=name, judged=judged, guidelines=guidelines)
        if not isinstance(judged, Rubric):
            return about
        seen = (replace(about, judged=criterion) for criterion in judged.criteria)
        penalty = self._options.length_penalty if isinstance(self._options, AssessmentOptions) else None
        return subject_of_rubric(judged, seen, penalty)

    def _context(self, given: object, references: tuple[str, ...]) -> dict[str, str]:
        """Return the context of the prompt: the fields that the criteria name in their order, then the rest."""
        if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
            raise InvalidInputError(
                f"context is {briefly(given)}; give a mapping from names to texts, as {{'question': …}}"
            )
        rest = {name: text_of(value, f"context[{name!r}]") for name, value in (given or {}).items()}
        if references and not rest.keys() & REFERENCE_FIELDS:
            rest["reference"] = "\n\n".join(references)
        found = {}
        for name, field in self._shown.items():
            held = next((each for each in (name, field) if each in rest), None)
            held = "reference" if held is None and field in REFERENCE_FIELDS and references else held
            if held is None:
                how = "reference=…" if field in REFERENCE_FIELDS else f"context={{{name!r}: …}}"
                raise InvalidInputError(f"{self.name!r} is judged with {name!r}, which is not given: give {how}")
            found[name] = rest.pop(held)
        return {**found, **rest}


class _Opened:
    """A panel that stays open between calls: until it is closed, its owner is collected, or the process ends.

    Raises:
        JournalError: If the journal cannot be opened.
    """

    def __init__(self, owner: object, judges: Sequence[JudgeEngine], options: RunOptions, budget: Budget) -> None:
        self._held, self._process = ExitStack(), os.getpid()
        journal = self._held.enter_context(opened_journal(judges, options))
        self.panel = OpenPanel(judges, options, journal, budget=budget, many=True)
        self._end = weakref.finalize(owner, _end, self.panel, self._held, self._process)

    @property
    def over(self) -> bool:
        """Whether nothing more can be asked here."""
        return self._process != os.getpid() or self.panel.over

    def close(self) -> None:
        """Wait for what is under way, and close the engines and the journal.

        Raises:
            JournalError: Calls were not made, because their replies could not be recorded.
        """
        if self._process == os.getpid():  # a fork has no thread to wait for
            try:
                self.panel.close()
            finally:
                self._end()

    def leave(self) -> None:
        """Close it after a failure that was reported."""
        with suppress(Exception):
            self.close()


def _end(panel: OpenPanel, held: ExitStack, process: int) -> None:
    """End a panel without waiting for what is under way."""
    if process != os.getpid():
        return
    if threading.current_thread() is panel.thread:  # where the garbage was collected: it cannot wait for itself
        threading.Thread(target=_end, args=(panel, held, process), daemon=True).start()
        return
    panel.end()
    held.close()


def _mode_of(criteria: object, options: Mapping[str, Any]) -> tuple[Mode[Any], Criterion | Rubric | Checklist]:
    """Return the mode of a criterion, rubric or checklist with these options, and what it asks about.

    Raises:
        InvalidInputError: If they do not go together.
    """
    judged = load(criteria)
    if isinstance(judged, Checklist):
        checks = ChecklistMode(_ChecklistOptions(**options).or_else(**ChecklistMode.run_defaults))
        return checks, checks.offered(judged)
    if isinstance(judged, Criterion) and judged.scale == "pairwise":
        compared = ContestOptions(**options)
        return WinratesMode(compared), read_comparison(criteria, compared)
    asked = assessment_options(AssessmentOptions(**options), (), rubric=isinstance(judged, Rubric))
    if isinstance(judged, Rubric):
        judged = rubric_as_judged(judged, asked)
        pools = example_pools(judged.criteria, asked)
        mode = RubricMode(asked, pools=pools, together=asked.calls == "per_item")
        return mode.check_rules(judged.criteria), judged
    judged = with_na_option(judged) if asked.auto_na_option else judged
    return DirectMode(asked, pools=example_pools((judged,), asked)).check_rules((judged,)), judged

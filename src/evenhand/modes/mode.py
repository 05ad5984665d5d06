"""The common parts of all ways of judging: the subject, which is one row as a judge sees it, and the mode.

A way of judging is a :class:`Mode`: the questions that it asks about a subject, the result of the votes on them, and
the measures of many results. The metric, the Python function, the verb of the shell, the table and the saved form are
generic over modes: see :mod:`evenhand.functions`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import groupby
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from evenhand.aggregation.verdict import VoteRules
from evenhand.criteria import Criterion, Option
from evenhand.data.plain import as_plain
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError
from evenhand.judging.conversation import Flow
from evenhand.judging.estimate import RunEstimate, estimate
from evenhand.judging.examples import ExamplePool
from evenhand.judging.run import ask, fingerprint, parameters_of
from evenhand.options import RunOptions, unknown_option
from evenhand.question import Classifications, Question
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import Level
from evenhand.version import __version__
from evenhand.votes import Vote

NO_CRITERION: Final = Criterion(
    name="", description="", options=(Option(label="yes", value=1.0), Option(label="no", value=0.0))
)
"""In place of a criterion if a mode needs only its own."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of questions, such as one response, or all candidates of an instance.

    Attributes:
        instance: The row of the data.
        texts: Name -> text that is judged, in the order given; None if there is none. Names are never shown.
        context: The texts that the judge is shown with it: name -> text.
        references: Known good answers.
        draw_key: The name of the instance in seeded draws; by default its id, or else its place.
        row_id: The id of the row, if it has one.
        data_classifications: The classes of the rows that it is made of.
        guidelines: Instructions for the judge, in addition to the criterion.
        judged: The criterion, rubric or checklist of the subject.
        cluster: The cluster of the row; None if rows are independent.
        facts: Other values that a result depends on, as plain JSON: they are saved with a result, unlike the texts.
        gold: Name of a criterion or item, or two systems -> the label of a person.
        parts: Criterion name -> the subject as that criterion sees it, where each shows a context of its own; a
            criterion for which there is no response is left out.
        pairs: Places of two texts that are compared -> the round of the design; None for all pairs.
    """

    instance: int
    texts: Mapping[str, str | None]
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    references: tuple[str, ...] = ()
    draw_key: str = ""
    row_id: str = ""
    data_classifications: Classifications = ()
    guidelines: str = ""
    judged: Any = None
    cluster: str | None = None
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    gold: Mapping[Any, Any] = field(default_factory=lambda: MappingProxyType({}))
    parts: Mapping[str, Subject] = field(default_factory=lambda: MappingProxyType({}))
    pairs: Mapping[tuple[int, int], int] | None = None

    @property
    def row_name(self) -> str:
        """The name of the instance in questions: its id, or else its place."""
        return self.row_id or str(self.instance)

    @property
    def names(self) -> tuple[str, ...]:
        """The names with a text, in the order given."""
        return tuple(name for name, text in self.texts.items() if text is not None)

    @property
    def missing(self) -> tuple[str, ...]:
        """The names without a text."""
        return tuple(name for name, text in self.texts.items() if text is None)

    @property
    def responses(self) -> tuple[str, ...]:
        """The texts, without those that are missing."""
        return tuple(text for text in self.texts.values() if text is not None)

    def question(self, identifier: str, criterion: Criterion, responses: tuple[str, ...], **how: Any) -> Question:  # noqa: ANN401 - fields of a question
        """Return a question about it.

        Args:
            identifier: Names the question within a run.
            criterion: The criterion with the options.
            responses: The judged texts.
            **how: The fields of :class:`~evenhand.question.Question` that say how it is asked.
        """
        return Question(
            id=identifier,
            criterion=criterion,
            responses=responses,
            context=self.context,
            references=self.references,
            instance=self.instance,
            draw_key=self.draw_key or self.row_id,
            data_classifications=self.data_classifications,
            guidelines=self.guidelines,
            **how,
        )


@dataclass(frozen=True, slots=True)
class JudgedSubject:
    """A subject with the votes on each question about it, and its result.

    Attributes:
        about: The subject, without its texts.
        system: The system of its response; empty if a subject holds those of several.
        votes: The votes on each question.
        result: The result, as the mode has it.
    """

    about: Subject
    system: str
    votes: tuple[tuple[Vote, ...], ...]
    result: Any

    @property
    def instance(self) -> int:
        """The row's index."""
        return self.about.instance

    @property
    def cluster(self) -> str | None:
        """The cluster of the row; None if rows are independent."""
        return self.about.cluster


SubjectVotes = list[tuple[Subject, tuple[tuple[Vote, ...], ...]]]
"""Each subject with the votes on each question about it."""


@dataclass(frozen=True)
class Mode(ABC, Generic[Result]):
    """A way of judging, with the options of a run.

    Attributes:
        options: The options of the run: how often judges are asked, how, under which rules and limits.
        pools: Criterion name -> the labelled cases that are shown first; empty if there are no examples.
    """

    options: RunOptions
    pools: Mapping[str, ExamplePool] = field(default_factory=lambda: MappingProxyType({}), kw_only=True)

    kind: ClassVar[str]
    """Its name in recipes, in the shell and in saved files."""

    function: ClassVar[str] = "run_mode"
    """The function of evenhand that runs it."""

    saved_as: ClassVar[str] = "mode_results"
    """The kind of its results in saved files."""

    compares: ClassVar[bool] = False
    """Whether a subject holds the responses of all systems, and not that of one."""

    run_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """The options of a run that have another default here."""

    @cached_property
    def rules(self) -> VoteRules:
        """The rules by which the votes on a question become a verdict."""
        return VoteRules.from_parameters(dict(self.options))

    @cached_property
    def flow(self) -> Flow:
        """The way in which a judge is asked."""
        return Flow.of(self.options)

    @classmethod
    def own_options(cls) -> list[str]:
        """Return the names of its own options: its fields, except options of the run and examples."""
        return [each.name for each in fields(cls) if each.name not in {"options", "pools"}]

    @classmethod
    def from_options(cls, own: Mapping[str, Any], run: RunOptions) -> Self:
        """Build the mode from its own options, and those of a run with the defaults of the mode.

        Args:
            own: Plain values of its fields; a list is a tuple.
            run: The options of the run.

        Raises:
            InvalidInputError: An option that does not exist, or a value that is not accepted.
        """
        known = cls.own_options()
        for name in own:
            if name not in known:
                raise unknown_option(name, known)
        values: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}
        return cls(run.or_else(**cls.run_defaults), **values)

    def check_rules(self, criteria: Sequence[Criterion]) -> Self:
        """Check that the rules fit the scales and values of what is judged; return the mode.

        Raises:
            UnknownRuleError: A rule that does not fit a scale.
            InvalidInputError: Expected values are asked for, and options have no value.
        """
        has_values = all(criterion.has_values for criterion in criteria)
        for scale in dict.fromkeys(criterion.scale for criterion in criteria):
            self.rules.check(scale, has_values=has_values)
        return self

    @abstractmethod
    def questions(self, about: Subject) -> Sequence[Question]:
        """Return the questions about a subject; none if there is nothing to judge."""

    @abstractmethod
    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> Result:
        """Return the result of the votes on each of :meth:`questions`.

        It may also depend on the criteria of the subject, on its names and on its facts, which are saved, but not on
        its texts, which are not.
        """

    def record(self, about: Subject, result: Result) -> dict[str, Any]:
        """Return the result as a flat row: by default its score, and the reason why there is none."""
        del about
        found: Any = result
        return {"score": found.score, "unscored_reason": found.unscored_reason}

    @abstractmethod
    def measures(self, subjects: Sequence[Subject], results: Sequence[Result], level: Level) -> Any:  # noqa: ANN401 - as declared
        """Return the measures of many results: a frozen dataclass with :func:`~evenhand.results.measures.measure`.

        Args:
            subjects: The judged subjects.
            results: One per subject.
            level: The level of the intervals; an `evenhand.statistics.intervals.IntervalLevel` brings the clusters.
        """

    def table(self, measures: Mapping[str, Any], title: str, level: float) -> TextTable | None:  # noqa: ARG002 - as it is
        """Return the table of the measures, one row per system; None for one with a column for each measure.

        Args:
            measures: System -> what :meth:`measures` made of its results.
            title: The title of the table.
            level: The level of the intervals.
        """
        return None

    def run_parameters(self) -> dict[str, Any]:
        """Return the options of the run that a result depends on, as plain JSON."""
        return parameters_of(self.options, self.rules, self.flow)

    def parameters(self) -> dict[str, Any]:
        """Return all options that a result depends on, as plain JSON."""
        own = {name: getattr(self, name) for name in self.own_options()}
        return {"mode": self.kind, "mode_options": as_plain(own), **self.run_parameters()}

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the criteria, as the header of the saved form has them.

        Args:
            judged: The criteria, rubrics or checklists of the subjects, each once.
            systems: The names of a subject.
        """
        del systems
        return {"criteria": [each.model_dump(mode="json") for each in judged]}

    def cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> Iterator[Cell]:
        """Give the votes on each of :meth:`questions`, and what it is about.

        Args:
            about: The subject.
            votes: The votes on each question.
            place: The place of its criteria among those of :meth:`judged_by`.
        """
        fields = {
            "instance": about.instance,
            "system": system_of(about),
            "criterion": place,
            "names": list(about.texts),
            "given": [text is not None for text in about.texts.values()],
            "facts": json.dumps(dict(about.facts)),
            "cluster": about.cluster,
        }
        for number, cast in enumerate(votes or ((),)):
            yield Cell({**fields, "question": number if votes else None}, tuple(cast))

    def ask(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> SubjectVotes:
        """Return each subject with the votes on each question about it; all questions are in one queue."""
        asked = [self.questions(about) for about in subjects]
        flat = [question for questions in asked for question in questions]
        votes = iter(ask(flat, judges, self.options, self.flow))
        cast = [tuple(next(votes) for _ in questions) for questions in asked]
        return list(zip(subjects, cast, strict=True))

    def made_by(
        self, judges: Sequence[JudgeEngine], subjects: Sequence[Subject], others: Sequence[Mode[Any]] = ()
    ) -> dict[str, Any]:
        """Return the version, judges and fingerprint of prompts and data, for the parameters of a result.

        Args:
            judges: The judges.
            subjects: The subjects that are judged.
            others: Other modes that judge the same subjects for the same result.
        """
        asked: list[tuple[Flow, Question]] = []
        for mode in (self, *others):  # about the first subject that is asked about
            asked += [(mode.flow, question) for question in next(filter(None, map(mode.questions, subjects)), ())]
        examples = [as_plain(pool.cases) for pool in self.pools.values()]
        by = {"evenhand_version": __version__, "judges": [judge.judge_id for judge in judges]}
        shown = (
            (about.instance, about.texts, [part.context for part in about.parts.values()] or [about.context])
            for about in subjects
        )
        return {**by, "fingerprint": fingerprint(judges, asked, examples, shown)}

    def estimate(self, subjects: Sequence[Subject], judges: Sequence[JudgeEngine]) -> RunEstimate:
        """Return the calls, tokens and cost of :meth:`judge`, without a call."""
        questions = [each for about in subjects for each in self.questions(about)]
        return estimate(questions, judges, self.options, self.flow)


def join_reasons(reasons: Mapping[str, str | None]) -> str | None:
    """Join the reasons for parts of a result, one line per part that has some; None if none has."""
    return "\n".join(f"{name}: {reason}" for name, reason in reasons.items() if reason) or None


def one_criterion(judged: Sequence[Criterion]) -> dict[str, Any] | None:
    """Return the criterion if all were judged by one, as plain JSON; None if there are several."""
    return judged[0].model_dump(mode="json") if len(judged) == 1 else None


def system_of(about: Subject) -> str:
    """Return the system of a subject's response, if it holds only one: recipes do not name it."""
    if len(about.texts) > 1:
        return ""
    return next(iter(about.texts), "") or "response"


def subject_name(about: Mapping[str, Any]) -> tuple[str, int]:
    """Return the system and the row of a subject, by which the cells about it, that follow each other, are grouped."""
    return about["system"], about["instance"]


def check_whole(
    abouts: Sequence[Mapping[str, Any]], name: str, wanted: Callable[[Sequence[Mapping[str, Any]]], Sequence[Any]]
) -> None:
    """Check that all questions about each subject are there.

    Args:
        abouts: The subject of each question.
        name: The column that names a question.
        wanted: Returns the names of all questions about the subject of some.

    Raises:
        InvalidInputError: If some are left out.
    """
    for (_, instance), grouped in groupby(abouts, subject_name):
        own = list(grouped)
        given, every = [about[name] for about in own], list(wanted(own))
        if given != every:
            raise InvalidInputError(
                f"of the questions {every!r} about instance {instance} only {given!r} are left; keep all questions "
                "about a row, or none"
            )

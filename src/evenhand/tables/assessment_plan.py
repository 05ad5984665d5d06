"""What a direct assessment of a data set asks, checked before the first call, and how it becomes a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import evenhand
from evenhand.criteria import Criterion, Rubric
from evenhand.data.cells import LabelReader
from evenhand.data.fields import context_of, field_of, read_clusters, references_of, text_of, warn_of_left_out_context
from evenhand.data.rows import Row, read_file, read_rows
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidInputError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.judging.settings import RunSettings
from evenhand.judging.sheet import asked_together, check_calls
from evenhand.modes.rubric import length_penalty_of
from evenhand.question import Question
from evenhand.run_options import AssessmentOptions, RunOptions
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.votes import MISSING_RESPONSE, is_missing

Cell = tuple[int, str, Criterion]


@dataclass(frozen=True, slots=True)
class AssessmentPlan:
    """What :func:`~evenhand.tables.judge` asks.

    Attributes:
        rows: The data.
        criteria: What is judged: those of the rubric, where there is one.
        rubric: As it is judged.
        judges: Who is asked.
        systems: The columns with responses.
        context_fields: Name shown -> column; None for the criteria's own.
        reference_field: The column with a known good answer.
        gold_fields: Criterion name -> column with the label that a person gave.
        pools: Criterion name -> the cases that are shown first.
        assessing: The options beside those of the run.
        settings: The run.
    """

    rows: Sequence[Row]
    criteria: tuple[Criterion, ...]
    rubric: Rubric | None
    judges: tuple[JudgeEngine, ...]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    gold_fields: Mapping[str, str]
    pools: Mapping[str, ExamplePool]
    assessing: Assessing
    settings: RunSettings

    def run(self) -> JudgementTable:
        """Ask, and make the table."""
        cells, gold, clusters = self._cells(), self._gold_labels(), self.clusters()
        penalties = self._penalties()
        questions = self._questions()
        verdicts = [MISSING_RESPONSE] * len(questions)
        asked = self._asked(questions)
        votes = self.settings.run([question for _, question in asked], self.judges)
        for (place, question), cast in zip(asked, votes, strict=True):
            verdicts[place] = self.settings.rules.aggregate(cast, question.criterion)
        return JudgementTable(
            judgements=tuple(
                Judgement(
                    instance=instance,
                    system=system,
                    criterion=criterion.name,
                    verdict=verdict,
                    gold=label,
                    cluster=None if clusters is None else clusters[instance],
                    length_penalty=penalties[system][instance] if penalties else None,
                )
                for (instance, system, criterion), verdict, label in zip(cells, verdicts, gold, strict=True)
            ),
            criteria=self.criteria,
            systems=self.systems,
            parameters=self.parameters(),
            rubric=self.rubric,
        )

    def estimate(self) -> RunEstimate:
        """What :meth:`run` would take, without a call."""
        self._gold_labels()
        self.clusters()
        return self.settings.estimate([question for _, question in self._asked(self._questions())], self.judges)

    def parameters(self) -> dict[str, Any]:
        """What the result repeats."""
        return {
            "evenhand_version": evenhand.__version__,
            "judges": [judge.judge_id for judge in self.judges],
            "n": len(self.rows),
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
            "gold_fields": dict(self.gold_fields),
            **self.assessing.parameters(rubric=self.rubric is not None),
            **self.settings.parameters(),
        }

    def clusters(self) -> tuple[str, ...] | None:
        """What each row belongs to; None where rows do not depend on each other."""
        labels = {column.replace("{system}", system) for column in self.gold_fields.values() for system in self.systems}
        return read_clusters(self.rows, self.settings.cluster_field, apart={*self.systems, *labels})

    def _cells(self) -> list[Cell]:
        """What is judged: instance, system and criterion."""
        return [
            (instance, system, criterion)
            for criterion in self.criteria
            for system in self.systems
            for instance in range(len(self.rows))
        ]

    def _questions(self) -> list[Question | None]:
        """One question a cell; None where there is no response to ask about."""
        asked = [self._question(instance, system, criterion) for instance, system, criterion in self._cells()]
        for criterion in self.criteria:
            warn_of_left_out_context(criterion, self.context_fields)
        return asked if self.assessing.calls == "per_criterion" else self._together(asked)

    def _asked(self, questions: Sequence[Question | None]) -> list[tuple[int, Question]]:
        """The questions that there are, with their places; for a rubric, which needs them all, response by response.

        So a budget that runs out leaves whole responses.
        """
        asked = [(place, question) for place, question in enumerate(questions) if question]
        if self.rubric is not None:
            asked.sort(key=lambda entry: (entry[1].instance, entry[0] // len(self.rows) % len(self.systems)))
        return asked

    def _together(self, asked: list[Question | None]) -> list[Question | None]:
        """The same, those about one response as one sheet."""
        sheets: dict[tuple[int, str], list[int]] = {}
        for place, (instance, system, _) in enumerate(self._cells()):
            sheets.setdefault((instance, system), []).append(place)
        for (_, system), places in sheets.items():
            questions = [question for place in places if (question := asked[place]) is not None]
            for place, question in zip(places, asked_together(questions, system), strict=False):
                asked[place] = question
        return asked

    def _question(self, instance: int, system: str, criterion: Criterion) -> Question | None:
        row = self.rows[instance]
        references = references_of(row, self.reference_field, instance)
        response = field_of(row, system, instance, "response_field")
        if is_missing(response):
            return None
        question = Question(
            id=f"{instance}/{system}/{criterion.name}",
            criterion=criterion,
            responses=(text_of(response),),
            context=context_of(row, self.context_fields, criterion, instance, references),
            references=references,
            instance=instance,
            guidelines=self.assessing.guidelines,
        )
        pool = self.pools.get(criterion.name)
        return question if pool is None else pool.shown_to(question)

    def _gold_labels(self) -> list[str | None]:
        """The label that a person gave, a cell."""
        return [
            label for criterion in self.criteria for system in self.systems for label in self._gold(system, criterion)
        ]

    def _gold(self, system: str, criterion: Criterion) -> list[str | None]:
        column = self.gold_fields.get(criterion.name)
        if column is None:
            return [None] * len(self.rows)
        column = column.replace("{system}", system)
        cells = [field_of(row, column, instance, "gold_fields") for instance, row in enumerate(self.rows)]
        reader = LabelReader.of(criterion, as_index=self.assessing.as_index)
        read = reader.read(cells, lambda instance: f"instance {instance}: the gold label in {column!r} is")
        return [None if place is None else criterion.labels[place] for place in read]

    def _penalties(self) -> dict[str, tuple[float | None, ...]]:
        """System -> what the length of each response takes; empty without a length penalty."""
        penalty = self.assessing.length_penalty
        if penalty is None:
            return {}
        found = {}
        for system in self.systems:
            held = [field_of(row, system, instance, "response_field") for instance, row in enumerate(self.rows)]
            found[system] = tuple(None if is_missing(response) else penalty.of(text_of(response)) for response in held)
        return found


RUBRIC_DEFAULTS: Mapping[str, Any] = {"flow": "one_step", "check_positional_bias": False, "orders": "shuffled"}
"""The options of a run that have another default for a rubric."""

FOR_RUBRICS = ("calls", "na_strategy", "na_partial", "length_penalty")


class Assessing(AssessmentOptions):
    """What an assessment is told beside the options of a run, with the defaults of what is judged."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any], *, rubric: bool) -> tuple[Self, dict[str, Any]]:
        """These options with the defaults of what is judged, and those of the run.

        Raises:
            InvalidInputError: An option that is for rubrics, or has a value that is not accepted.
        """
        for name in options:
            if name in FOR_RUBRICS and not rubric:
                raise InvalidInputError(f"{name} is for a rubric, and criteria were given; drop it, or give a rubric")
        run: dict[str, Any] = {name: value for name, value in options.items() if name in RunOptions.model_fields}
        if rubric:
            run = {**RUBRIC_DEFAULTS, **run}
        own = cls(**{name: value for name, value in options.items() if name in cls.model_fields})
        if own.shuffle_options is not None:
            run["orders"] = _orders(options.get("orders"), shuffled=own.shuffle_options)
        check_number_of_examples(own.num_examples, examples=own.examples)
        check_calls(own.calls, run, examples=own.examples)
        resolved = own.changed(
            auto_na_option=rubric if own.auto_na_option is None else own.auto_na_option,
            examples=_example_rows(own.examples),
            length_penalty=length_penalty_of(own.length_penalty),
        )
        return resolved, run

    def pools(
        self,
        criteria: Sequence[Criterion],
        systems: Sequence[str],
        gold_fields: Mapping[str, str],
        fields: ExampleFields,
        seed: int,
    ) -> dict[str, ExamplePool]:
        """Criterion name -> its labelled cases; empty without examples.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        check_label_fields(self.label_fields, criteria)
        if not self.examples:
            return {}
        labels = {**gold_fields, **(self.label_fields or {})}
        responses = tuple(system for system in systems if any(system in row for row in self.examples))
        return {
            criterion.name: example_pool(
                self.examples,
                criterion,
                ExampleFields(
                    label=labels.get(criterion.name, criterion.name),
                    responses=responses or ("response",),
                    context=fields.context,
                    reference=fields.reference,
                    as_index=self.as_index,
                ),
                number=self.num_examples,
                seed=seed,
            )
            for criterion in criteria
        }

    def parameters(self, *, rubric: bool) -> dict[str, Any]:
        """What a table repeats of these options, as plain JSON; the rubric is in the table itself."""
        shared = {
            "guidelines": self.guidelines,
            "examples": len(self.examples or ()),
            "num_examples": self.num_examples,
            "label_fields": None if self.label_fields is None else dict(self.label_fields),
            "as_index": self.as_index,
        }
        if not rubric:
            return shared
        penalty = None if self.length_penalty is None else asdict(self.length_penalty)
        return {**shared, "calls": self.calls, "length_penalty": penalty}


def _orders(given: str | None, *, shuffled: bool) -> str:
    """The order of options that ``shuffle_options`` and ``orders`` come to.

    Raises:
        InvalidInputError: If they contradict each other.
    """
    if given is not None and (given == "shuffled") != shuffled and (shuffled or given == "shuffled"):
        raise InvalidInputError(f"shuffle_options is {shuffled!r} and orders is {given!r}; drop one of the two")
    return given or ("shuffled" if shuffled else "given")


def _example_rows(given: object) -> tuple[Row, ...]:
    if given is None:
        return ()
    return tuple(read_file(given) if isinstance(given, str | Path) else read_rows(given))

"""What a direct assessment of a data set asks, checked before the first call, and how it becomes a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import evenhand
from evenhand.criteria import Criterion, Rubric
from evenhand.data.cells import LabelReader
from evenhand.data.fields import context_of, field_of, read_clusters, references_of, text_of, warn_of_left_out_context
from evenhand.data.rows import Row
from evenhand.engines.base import JudgeEngine
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import ExamplePool
from evenhand.judging.settings import RunSettings
from evenhand.judging.sheet import asked_together
from evenhand.question import Question
from evenhand.tables.judge_options import Assessing
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

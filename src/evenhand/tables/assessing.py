"""Direct assessment of a data set without a recipe: rows and criteria in, a table of judgements out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, overload

import evenhand
from evenhand.artifacts import context_mapping, load_criterion
from evenhand.criteria import Criterion
from evenhand.engines.base import JudgeEngine
from evenhand.engines.unitxt import as_judge
from evenhand.errors import InvalidInputError
from evenhand.judging.instances import (
    REFERENCE_FIELDS,
    context_of,
    field_of,
    is_missing,
    text_of,
    texts_of,
    warn_of_left_out_context,
)
from evenhand.judging.run import RunEstimate
from evenhand.judging.settings import RunOptions, RunSettings
from evenhand.question import Question
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.rows import Row, read_rows
from evenhand.votes import MISSING_RESPONSE


@dataclass(frozen=True, slots=True)
class _Plan:
    """What :func:`judge` asks, checked, before the first call."""

    rows: Sequence[Row]
    criteria: tuple[Criterion, ...]
    judges: tuple[JudgeEngine, ...]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    gold_fields: Mapping[str, str]
    settings: RunSettings

    def cells(self) -> list[tuple[int, str, Criterion]]:
        """What is judged: instance, system and criterion."""
        return [
            (instance, system, criterion)
            for criterion in self.criteria
            for system in self.systems
            for instance in range(len(self.rows))
        ]

    def questions(self) -> list[Question | None]:
        """One question a cell."""
        asked = [self._question(instance, system, criterion) for instance, system, criterion in self.cells()]
        for criterion in self.criteria:
            warn_of_left_out_context(criterion, self.context_fields)
        return asked

    def gold(self) -> list[str | None]:
        """The label that a person gave, a cell."""
        return [self._gold(instance, system, criterion) for instance, system, criterion in self.cells()]

    def run(self) -> JudgementTable:
        cells, gold = self.cells(), self.gold()
        questions = self.questions()
        votes = iter(self.settings.run([question for question in questions if question], self.judges))
        rules = self.settings.rules
        verdicts = [
            rules.aggregate(next(votes), question.criterion) if question else MISSING_RESPONSE
            for question in questions
        ]
        return JudgementTable(
            judgements=tuple(
                Judgement(
                    instance=instance,
                    system=system,
                    criterion=criterion.name,
                    verdict=verdict,
                    gold=label,
                )
                for (instance, system, criterion), verdict, label in zip(cells, verdicts, gold, strict=True)
            ),
            criteria=self.criteria,
            systems=self.systems,
            parameters=self.parameters(),
        )

    def estimate(self) -> RunEstimate:
        self.gold()
        return self.settings.estimate([question for question in self.questions() if question], self.judges)

    def parameters(self) -> dict[str, Any]:
        """What the result repeats."""
        return {
            "evenhand_version": evenhand.__version__,
            "judges": [judge.judge_id for judge in self.judges],
            "n": len(self.rows),
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
            "gold_fields": dict(self.gold_fields),
            **self.settings.parameters(),
        }

    def _question(self, instance: int, system: str, criterion: Criterion) -> Question | None:
        """What is asked about a cell; None where there is no response to ask about."""
        row = self.rows[instance]
        references: tuple[str, ...] = ()
        if self.reference_field is not None:
            reference = field_of(row, self.reference_field, instance, "reference_field")
            references = texts_of(reference)
        response = field_of(row, system, instance, "response_field")
        if is_missing(response):
            return None
        return Question(
            id=f"{instance}/{system}/{criterion.name}",
            criterion=criterion,
            responses=(text_of(response),),
            context=context_of(row, self.context_fields, criterion, instance, references),
            references=references,
            instance=instance,
        )

    def _gold(self, instance: int, system: str, criterion: Criterion) -> str | None:
        column = self.gold_fields.get(criterion.name)
        if column is None:
            return None
        label = field_of(self.rows[instance], column.replace("{system}", system), instance, "gold_fields")
        return None if is_missing(label) else criterion.options[criterion.index_of(text_of(label))].label


@overload
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = ...,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = ...,
    reference_field: str | None = ...,
    gold_fields: Mapping[str, str] | None = ...,
    split: str | None = ...,
    dry_run: Literal[False] = ...,
    **options: Unpack[RunOptions],
) -> JudgementTable: ...


@overload
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = ...,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = ...,
    reference_field: str | None = ...,
    gold_fields: Mapping[str, str] | None = ...,
    split: str | None = ...,
    dry_run: Literal[True],
    **options: Unpack[RunOptions],
) -> RunEstimate: ...


def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = "response",
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_fields: Mapping[str, str] | None = None,
    split: str | None = None,
    dry_run: bool = False,
    **options: Unpack[RunOptions],
) -> JudgementTable | RunEstimate:
    """Assess every response of a data set against one or more criteria.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        criteria: A criterion, or several: catalog ids, paths, dicts, artifacts or frozen criteria.
        engine: The judge, or several that form a panel: catalog ids or engines.
        response_field: The column with the responses; several columns are several systems.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, each criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_fields: Criterion name -> column with the label that a person gave; ``{system}`` stands for the system.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.judging.settings.RunOptions`.

    Returns:
        The table of judgements; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    loaded = tuple(load_criterion(criterion) for criterion in listed(criteria))
    names = [criterion.name for criterion in loaded]
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"the criteria are named {names!r}; give at least one, each once")
    unknown = sorted(set(gold_fields or {}) - set(names))
    if unknown:
        raise InvalidInputError(f"gold_fields names the criteria {unknown!r}, which are not judged; judged: {names!r}")
    shown = None if context_fields is None else context_mapping(context_fields)
    plan = _Plan(
        rows=rows,
        criteria=loaded,
        judges=tuple(as_judge(item) for item in listed(engine)),
        systems=_systems(response_field),
        context_fields=shown,
        reference_field=reference_field or next((name for name in sorted(REFERENCE_FIELDS) if name in rows[0]), None),
        gold_fields=dict(gold_fields or {}),
        settings=RunSettings.from_options(
            options,
            [criterion.scale for criterion in loaded],
            has_values=all(criterion.has_values for criterion in loaded),
        ),
    )
    return plan.estimate() if dry_run else plan.run()


def _systems(response_field: str | Sequence[str]) -> tuple[str, ...]:
    systems = (response_field,) if isinstance(response_field, str) else tuple(response_field or ())
    if not systems or len(set(systems)) < len(systems) or not all(isinstance(system, str) for system in systems):
        raise InvalidInputError(f"response_field is {response_field!r}; name at least one column, each once")
    return systems


def listed(given: object) -> list[object]:
    """One thing or a list of them, as a list."""
    return list(given) if isinstance(given, (list, tuple)) else [given]

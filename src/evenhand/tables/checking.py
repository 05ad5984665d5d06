"""Checking a data set by a checklist without a recipe: rows and questions in, a table out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import evenhand
from evenhand.aggregation import Answer
from evenhand.checked_options import takes
from evenhand.criteria import Checklist, yes_no_criterion
from evenhand.data.cells import LabelReader
from evenhand.data.fields import (
    context_columns,
    field_of,
    loaded_of_rows,
    read_clusters,
    reference_column,
    response_columns,
    text_of,
    warn_of_left_out_context,
)
from evenhand.data.rows import Row, read_rows
from evenhand.engines.base import JudgeEngine
from evenhand.engines.unitxt import judges_of
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.estimate import RunEstimate
from evenhand.modes.checklist import Checking
from evenhand.modes.subject import subject_of_row
from evenhand.question import Question
from evenhand.run_options import ChecklistOptions, RunOptions
from evenhand.tables.checklist_table import CheckedResponse, ChecklistTable
from evenhand.unitxt.loading import load_checklist, load_checklist_of_row
from evenhand.votes import is_missing

_ANSWERS = LabelReader.of(yes_no_criterion("gold", "The answer that a person gave.", na=True))
_ANSWERED: tuple[Answer, ...] = ("yes", "no", "na")


@dataclass(frozen=True, slots=True)
class _CheckingPlan:
    """What :func:`checklist` asks, checked, before the first call."""

    rows: Sequence[Row]
    checklists: tuple[Checklist, ...]
    checklist_of: Sequence[int]
    checklist_field: str | None
    judges: tuple[JudgeEngine, ...]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    gold_fields: str | Mapping[str, str] | None
    guidelines: str
    checking: Checking

    def run(self) -> ChecklistTable:
        gold, clusters = self._gold_answers(), self._clusters()
        asked = self._questions()
        votes = iter(self.checking.settings.run([each for questions in asked for each in questions], self.judges))
        responses = []
        for (system, instance), questions, answers in zip(self._cells(), asked, gold, strict=True):
            place = self.checklist_of[instance]
            result = self.checking.result(self.checklists[place], [next(votes) for _ in questions] or None)
            cluster = None if clusters is None else clusters[instance]
            responses.append(CheckedResponse(instance, system, place, result.verdicts, answers, cluster))
        return ChecklistTable(
            responses=tuple(responses),
            checklists=self.checklists,
            systems=self.systems,
            parameters=self.parameters(),
        )

    def estimate(self) -> RunEstimate:
        self._gold_answers()
        self._clusters()
        return self.checking.settings.estimate([each for asked in self._questions() for each in asked], self.judges)

    def parameters(self) -> dict[str, Any]:
        """What the result repeats."""
        gold = self.gold_fields
        return {
            "evenhand_version": evenhand.__version__,
            "judges": [judge.judge_id for judge in self.judges],
            "n": len(self.rows),
            "checklist_field": self.checklist_field,
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
            "gold_fields": dict(gold) if isinstance(gold, Mapping) else gold,
            "guidelines": self.guidelines,
            **self.checking.parameters(),
        }

    def _clusters(self) -> tuple[str, ...] | None:
        """What each row belongs to; None where rows do not depend on each other."""
        gold = self.gold_fields
        named = [] if gold is None else [gold] if isinstance(gold, str) else list(gold.values())
        labels = {column.replace("{system}", system) for column in named for system in self.systems}
        apart = {*self.systems, *labels, *([self.checklist_field] if self.checklist_field else [])}
        return read_clusters(self.rows, self.checking.settings.cluster_field, apart=apart)

    def _cells(self) -> list[tuple[str, int]]:
        return [(system, instance) for system in self.systems for instance in range(len(self.rows))]

    def _questions(self) -> list[tuple[Question, ...]]:
        """The questions about each response; none where it is missing."""
        for checklist in self.checklists:
            warn_of_left_out_context(checklist, self.context_fields)
        return [self._questions_about(system, instance) for system, instance in self._cells()]

    def _questions_about(self, system: str, instance: int) -> tuple[Question, ...]:
        row, checklist = self.rows[instance], self.checklists[self.checklist_of[instance]]
        response = field_of(row, system, instance, "response_field")
        if is_missing(response):
            return ()
        subject = subject_of_row(
            row,
            instance,
            {system: text_of(response)},
            checklist,
            context_fields=self.context_fields,
            reference_field=self.reference_field,
            guidelines=self.guidelines,
        )
        return self.checking.questions(checklist, subject)

    def _gold_answers(self) -> list[tuple[Answer | None, ...]]:
        return [self._gold_of(system, instance) for system, instance in self._cells()]

    def _gold_of(self, system: str, instance: int) -> tuple[Answer | None, ...]:
        items, row, fields = self.checklists[self.checklist_of[instance]].items, self.rows[instance], self.gold_fields
        if fields is None:
            return (None,) * len(items)
        if not isinstance(fields, str):
            columns = {name: column.replace("{system}", system) for name, column in fields.items()}
            given = {name: field_of(row, column, instance, "gold_fields") for name, column in columns.items()}
            return tuple(_answer(given.get(item.name), instance) for item in items)
        column = fields.replace("{system}", system)
        found = field_of(row, column, instance, "gold_fields")
        if is_missing(found):
            return (None,) * len(items)
        if isinstance(found, Mapping):
            names = [item.name for item in items]
            for name in found:
                if name not in names:
                    raise InvalidInputError(
                        f"the column {column!r} of instance {instance} has an answer to {name!r}, which is no item of "
                        f"the checklist. {did_you_mean(name, names)}"
                    )
            return tuple(_answer(found.get(item.name), instance) for item in items)
        answers = tuple(found) if isinstance(found, (list, tuple)) else (found,)
        if len(answers) != len(items):
            raise InvalidInputError(
                f"the column {column!r} of instance {instance} has {len(answers)} answer(s) for a checklist of "
                f"{len(items)} items; give one an item, None where there is none"
            )
        return tuple(_answer(answer, instance) for answer in answers)


def _answer(given: object, instance: int) -> Answer | None:
    """The answer that a person gave."""
    place = _ANSWERS.index_of(given, f"instance {instance}: the gold answer is")
    return None if place is None else _ANSWERED[place]


@overload
def checklist(
    dataset: object, checklist: object, engine: object, *, dry_run: Literal[True], **options: Any
) -> RunEstimate: ...


@overload
def checklist(
    dataset: object, checklist: object, engine: object, *, dry_run: Literal[False] = ..., **options: Any
) -> ChecklistTable: ...


@takes(RunOptions, ChecklistOptions)
def checklist(
    dataset: object,
    checklist: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = "response",
    checklist_field: str | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_fields: str | Mapping[str, str] | None = None,
    split: str | None = None,
    guidelines: str = "",
    dry_run: bool = False,
    **options: Any,
) -> ChecklistTable | RunEstimate:
    """Answer the yes/no questions of a checklist about every response of a data set.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        checklist: A catalog id, the path of a YAML or JSON file, a list of questions, a dict, an artifact or a frozen
            :class:`~evenhand.criteria.Checklist`; None with ``checklist_field``.
        engine: The judge, or several that form a panel: catalog ids or engines.
        response_field: The column with the responses; several columns are several systems.
        checklist_field: The column that holds each row's own checklist: a list of questions or items, a mapping, a JSON
            text of one, or the id of a checklist.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, the checklist says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_fields: Item name -> column with the answer that a person gave; or one column with the answers to all
            items, as a list in their order or as a mapping by their names. ``{system}`` stands for the system.
        split: Which split of a ``DatasetDict``.
        guidelines: What the judge is told about judging, beside the checklist.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.ChecklistOptions` and
            :class:`~evenhand.run_options.RunOptions`.

    Returns:
        The table of checked responses; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    own = {name: value for name, value in options.items() if name in ChecklistOptions.model_fields}
    run = {name: value for name, value in options.items() if name in RunOptions.model_fields}
    if not isinstance(guidelines, str):
        raise InvalidInputError(f"guidelines is {guidelines!r}; give a text")
    checking = Checking.from_options(own, run)
    loaded = _checklists(rows, checklist, checklist_field)
    places = {id(each): place for place, each in enumerate({id(each): each for each in loaded}.values())}
    systems = response_columns(response_field)
    plan = _CheckingPlan(
        rows=rows,
        checklists=tuple(checking.offered(each) for each in {id(each): each for each in loaded}.values()),
        checklist_of=[places[id(each)] for each in loaded],
        checklist_field=checklist_field,
        judges=judges_of(engine),
        systems=systems,
        context_fields=context_columns(context_fields),
        reference_field=reference_column(reference_field, rows[0], systems),
        gold_fields=gold_fields,
        guidelines=guidelines,
        checking=checking,
    )
    _check_gold_fields(gold_fields, plan.checklists)
    return plan.estimate() if dry_run else plan.run()


def _checklists(rows: Sequence[Row], given: object, field: str | None) -> list[Checklist]:
    """The checklist of each row."""
    if (given is None) == (field is None):
        raise InvalidInputError(
            f"checklist is {given!r} and checklist_field is {field!r}; give one of them: a checklist for all rows, or "
            "the column with each row's own"
        )
    if field is None:
        return [load_checklist(given)] * len(rows)
    return loaded_of_rows(
        rows,
        field,
        "checklist_field",
        lambda value, instance: load_checklist_of_row(value, f"the field {field!r} of instance {instance}"),
    )


def _check_gold_fields(fields: str | Mapping[str, str] | None, checklists: Sequence[Checklist]) -> None:
    if fields is None or isinstance(fields, str):
        return
    names = {item.name for checklist in checklists for item in checklist.items}
    for name in fields:
        if name not in names:
            raise InvalidInputError(f"gold_fields names the item {name!r}. {did_you_mean(name, sorted(names))}")

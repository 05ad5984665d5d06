"""Checking a data set by a checklist without a recipe: rows and questions in, a table out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from evenhand.aggregation import Answer
from evenhand.checked_options import takes
from evenhand.criteria import Checklist
from evenhand.data.fields import (
    field_of,
    loaded_of_rows,
)
from evenhand.data.rows import Row, read_rows
from evenhand.engines.names import judges_of
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.estimate import RunEstimate
from evenhand.modes.checklist import ChecklistMode
from evenhand.results.run_record import remembers
from evenhand.run_options import ChecklistOptions, ItemVoteFields, RunOptions, StreamOptions
from evenhand.streams import streamed
from evenhand.tables.checklist_table import CheckedResponse, ChecklistTable
from evenhand.tables.recorded_items import answer_of, recorded_checklist
from evenhand.tables.responses import ResponseRows
from evenhand.tables.vote_rows import of_run, refuse_asking, vote_fields
from evenhand.unitxt.loading import load_checklist, load_checklist_of_row
from evenhand.votes import is_missing


def _answer(given: object, instance: int) -> Answer | None:
    """The answer that a person gave."""
    return answer_of(given, f"instance {instance}: the gold answer is")


@overload
def checklist(
    dataset: object = ..., checklist: object = ..., engine: object = ..., *, dry_run: Literal[True], **options: Any
) -> RunEstimate: ...


@overload
def checklist(
    dataset: object = ...,
    checklist: object = ...,
    engine: object = ...,
    *,
    dry_run: Literal[False] = ...,
    **options: Any,
) -> ChecklistTable: ...


@remembers
@takes(RunOptions, ChecklistOptions, ItemVoteFields, StreamOptions)
@streamed
def checklist(
    dataset: object = None,
    checklist: object = None,
    engine: object = None,
    *,
    votes: object = None,
    response_field: str | Sequence[str] = "response",
    checklist_field: str | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    id_field: str | None = None,
    gold_fields: str | Mapping[str, str] | None = None,
    split: str | None = None,
    guidelines: str = "",
    dry_run: bool = False,
    **options: Any,
) -> ChecklistTable | RunEstimate:
    """Answer the yes/no questions of a checklist about every response of a data set.

    With ``votes`` nothing is asked: recorded answers come to the same table. A row is the answer of one judge to one
    item of the response that its id (and system) names; or it is a response, and its cells hold the answers to all.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        checklist: A catalog id, the path of a YAML or JSON file, a list of questions, a dict, an artifact or a frozen
            :class:`~evenhand.criteria.Checklist`; None with ``checklist_field``.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        votes: Recorded answers instead of a judge: the column of ``dataset`` that holds them, or several, one per
            judge; without a ``dataset`` the data themselves, with the column ``vote``. Without a ``checklist`` the
            items are those that occur, of equal weight.
        response_field: The column with the responses; several columns are several systems.
        checklist_field: The column that holds each row's own checklist: a list of questions or items, a mapping, a JSON
            text of one, or the id of a checklist.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, the checklist says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        id_field: The column with the id of each row, which records and saved files have beside its index.
        gold_fields: Item name -> column with the answer that a person gave; or one column with the answers to all
            items, as a list in their order or as a mapping by their names. ``{system}`` stands for the system.
        split: Which split of a ``DatasetDict``.
        guidelines: What the judge is told about judging, beside the checklist.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.ChecklistOptions` and
            :class:`~evenhand.run_options.RunOptions`, and for recorded answers
            :class:`~evenhand.run_options.ItemVoteFields`.

    Returns:
        The table of checked responses; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    if votes is not None:
        refuse_asking(
            engine=engine,
            dry_run=dry_run,
            checklist_field=checklist_field,
            context_fields=context_fields,
            reference_field=reference_field,
            guidelines=guidelines or None,
            response_field=None if response_field == "response" else response_field,
        )
        if gold_fields is not None and not isinstance(gold_fields, str):
            raise InvalidInputError(
                f"gold_fields is {gold_fields!r}; of recorded answers name the one column with the answer of a person "
                "to the item of the row"
            )
        fields = vote_fields(options, ItemVoteFields, id_field=id_field)
        given = None if checklist is None else load_checklist(checklist)
        return recorded_checklist(dataset, votes, fields, given, options, gold_field=gold_fields, split=split)
    options = of_run(options, ItemVoteFields)
    rows = read_rows(dataset, split)
    own = {name: value for name, value in options.items() if name in ChecklistOptions.model_fields}
    run = {name: value for name, value in options.items() if name in RunOptions.model_fields}
    if not isinstance(guidelines, str):
        raise InvalidInputError(f"guidelines is {guidelines!r}; give a text")
    mode = ChecklistMode.from_options(own, run)
    loaded = _checklists(rows, checklist, checklist_field)
    different = {id(each): each for each in loaded}
    places = {each: place for place, each in enumerate(different)}
    checklists = tuple(mode.offered(each) for each in different.values())
    checklist_of = [places[id(each)] for each in loaded]
    data = ResponseRows.of(
        rows,
        response_field,
        context_fields,
        reference_field,
        guidelines,
        id_field=id_field,
        group_fields=run.get("group_fields"),
    )
    judges = judges_of(engine, options.get("model"), batch=options.get("batch"))
    _check_gold_fields(gold_fields, checklists)
    cells = [(row, system) for system in data.systems for row in range(len(rows))]
    gold = [_gold(data, *cell, checklists[checklist_of[cell[0]]], gold_fields) for cell in cells]
    named = [] if gold_fields is None else [gold_fields] if isinstance(gold_fields, str) else gold_fields.values()
    clusters = data.clusters(
        mode.settings.cluster_field, labels=named, others=[checklist_field] if checklist_field else []
    )
    subjects = [data.subject(*cell, checklists[checklist_of[cell[0]]]) for cell in cells]
    data.warn_of_left_out_context(checklists)
    if dry_run:
        return mode.estimate(subjects, judges)
    results = mode.judge(subjects, judges)
    return ChecklistTable(
        responses=tuple(
            CheckedResponse(row, system, checklist_of[row], result.verdicts, answers, clusters[row])
            for (row, system), result, answers in zip(cells, results, gold, strict=True)
        ),
        checklists=checklists,
        systems=data.systems,
        parameters={
            **mode.made_by(judges, subjects),
            **data.parameters(),
            "checklist_field": checklist_field,
            "gold_fields": dict(gold_fields) if isinstance(gold_fields, Mapping) else gold_fields,
            "guidelines": guidelines,
            **mode.parameters(),
        },
    )


def _gold(
    data: ResponseRows, instance: int, system: str, checklist: Checklist, fields: str | Mapping[str, str] | None
) -> tuple[Answer | None, ...]:
    """The answers that a person gave to the items."""
    items, row = checklist.items, data.rows[instance]
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

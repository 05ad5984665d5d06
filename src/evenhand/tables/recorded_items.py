"""Recorded answers to the items of checklists as the table that a run of judges would have given, without a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from evenhand.aggregation import Answer
from evenhand.criteria import NA_LABELS, Checklist, ChecklistItem, fold_label, yes_no_criterion
from evenhand.data.cells import NOT_ASKED, LabelReader, OutOfScale, held_in, is_abstention, set_aside
from evenhand.data.fields import field_of, field_or, name_of
from evenhand.data.recorded_columns import VoteReader
from evenhand.data.rows import Row
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.modes.checked import ChecklistAnalysis
from evenhand.modes.checklist import ChecklistMode
from evenhand.options import ChecklistOptions
from evenhand.result_methods import Results
from evenhand.results.vote_columns import Cell
from evenhand.tables.vote_rows import VoteRow, VoteRows, recorded_rows
from evenhand.votes import Vote

ITEM, SYSTEM = "item", "system"
IN_ORDER = (0, 1)
_ANSWERS = LabelReader.of(yes_no_criterion("gold", "The answer that a person gave.", na=True))
_ANSWERED: tuple[Answer, ...] = ("yes", "no", "na")
_NA = frozenset(map(fold_label, (*NA_LABELS, "NA")))

Key = tuple[str, int, str]
"""System, instance and item."""


def answer_of(given: object, who: str) -> Answer | None:
    """The answer that a person gave; ``who`` begins a message about it."""
    place = _ANSWERS.index_of(given, who)
    return None if place is None else _ANSWERED[place]


def recorded_checklist(
    dataset: object,
    votes: object,
    fields: Mapping[str, Any],
    checklist: Checklist | None,
    options: ChecklistOptions,
    *,
    gold_field: str | None = None,
    split: str | None = None,
) -> Results:
    """The table of recorded answers.

    Args:
        dataset: The data; None where ``votes`` are the data.
        votes: The columns with the answers, or the data. A row is an answer to one item; or it is a response, and its
            cells hold the answers to all items, as a mapping or, in the order of the checklist, as a list.
        fields: The columns that are named.
        checklist: What was asked; None for the items that occur, of equal weight.
        options: Of a run and of a checklist, those that say what answers come to.
        gold_field: The column with the answer of a person to the item of the row.
        split: Which split of a ``DatasetDict``.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other, or options that belong to asking.
    """
    rows, named = recorded_rows(dataset, votes, split)
    item = fields.get("item_field") or ITEM
    if not any(field_or(row, item, NOT_ASKED) is not NOT_ASKED for row in rows):
        if fields.get("item_field") is not None:
            VoteRows(rows, (), (), fields, ()).column("item_field")  # refuses it
        rows = _item_rows(rows, [named] if isinstance(named, str) else list(named), fields, checklist)  # type: ignore[call-overload] # what is no list is refused below
    read = VoteRows.of(rows, named, fields, each=True)
    mode = ChecklistMode(read.run_options(options))
    asked = mode.offered(_checklist_of(read, item) if checklist is None else checklist)
    systems = read.column("systems_field", SYSTEM)
    responses = {
        vote.number: ("response" if systems is None else _name(vote, systems, "systems_field"), vote.instance)
        for vote in read.votes
    }
    named_as = {each.question: each.name for each in asked.items} | {each.name: each.name for each in asked.items}
    items = {vote.number: _item(vote, item, asked, named_as) for vote in read.votes}
    read.check_once(lambda vote: (responses[vote.number], items[vote.number]))
    keys = {vote.number: (*responses[vote.number], items[vote.number]) for vote in read.votes}
    names = tuple(dict.fromkeys(system for system, _ in responses.values()))
    apart = [column for column in (item, systems, gold_field) if column is not None]
    clusters = read.clusters(mode.options.cluster_field, apart)
    cast, gold = _cast(read, keys, asked, mode), _gold(read, keys, gold_field)
    cells = [
        Cell(
            {
                "instance": instance,
                "system": system,
                "checklist": 0,
                "item": each.name,
                "gold": gold.get((system, instance, each.name)),
                "cluster": clusters[instance],
            },
            tuple(cast.get((system, instance, each.name), ())),
        )
        for system in names
        for instance in range(len(read.ids))
        for each in asked.items
    ]
    parameters = {
        **read.parameters(mode.options),
        **{name: getattr(mode.options, name) for name in ("allow_na", "primary_metric")},
        "ids": list(read.ids),
        "gold_fields": gold_field,
    }
    header = {"checklists": [asked.model_dump(mode="json")], "systems": list(names), "parameters": parameters}
    return Results.of_cells(ChecklistAnalysis, header, cells)


def _item_rows(
    rows: Sequence[Row], columns: Sequence[str], fields: Mapping[str, Any], checklist: Checklist | None
) -> list[Row]:
    """A row for each item, of rows whose cells hold the answers to all items."""
    numbered = not any(name in row for row in rows for name in ("id", "prompt_id", "instance"))
    found: list[Row] = []
    for number, row in enumerate(rows):
        held = {
            column: _answers(cell, f"row {number}: {column!r}", checklist)
            for column in columns
            if (cell := field_or(row, column, NOT_ASKED)) is not NOT_ASKED
        }
        named = {"id": number} if numbered and fields.get("id_field") is None else {}
        for item in dict.fromkeys(name for answers in held.values() for name in answers):
            said = {column: answers[item] for column, answers in held.items() if item in answers}
            beside = {name: value for name, value in row.items() if name not in columns}
            found.append({**beside, **named, ITEM: item, **said})
    if not found:
        raise InvalidInputError(
            f"votes names {list(columns)!r}, and no row has an answer in them: name the columns with the answers, and "
            "with item_field=… the one that says which item a row answers"
        )
    return found


def _answers(cell: object, who: str, checklist: Checklist | None) -> dict[str, Any]:
    """Item -> answer, of a cell that holds the answers to all items."""
    if is_abstention(cell):
        return {}
    held = held_in(cell, who) if isinstance(cell, str) else cell
    if hasattr(held, "tolist"):
        held = held.tolist()
    if isinstance(held, Mapping):
        return {str(name): answer for name, answer in held.items()}
    if isinstance(held, (list, tuple)) and checklist is not None:
        if len(held) != len(checklist.items):
            raise InvalidInputError(
                f"{who} has {len(held)} answer(s) for a checklist of {len(checklist.items)} items; give one an item, "
                "None where there is none"
            )
        return {item.name: answer for item, answer in zip(checklist.items, held, strict=True)}
    raise InvalidInputError(
        f"{who} is {cell!r}, and no column says which item that answers: name it with item_field=…, or let the cell "
        "hold item -> answer, or, with a checklist, a list in its order"
    )


def _checklist_of(read: VoteRows, item: str) -> Checklist:
    """The items that occur, in the order of the rows; one to which somebody said that it does not apply offers that."""
    offers: dict[str, bool] = {}
    for vote in read.votes:
        name = _name(vote, item, "item_field")
        offers[name] = offers.get(name, False) or fold_label(str(vote.vote)) in _NA
    items = tuple(ChecklistItem(name=name, question=name, na=na) for name, na in offers.items())
    return Checklist(name="recorded votes", items=items)


def _name(vote: VoteRow, column: str, setting: str) -> str:
    name = name_of(field_of(vote.row, column, vote.number, setting))
    if not name:
        raise InvalidInputError(f"row {vote.number} has no name in {column!r}, which {setting} names: it needs one")
    return name


def _item(vote: VoteRow, column: str, checklist: Checklist, named_as: Mapping[str, str]) -> str:
    """The name of the item that a row answers, which it may name by its question too."""
    given = _name(vote, column, "item_field")
    if given not in named_as:
        raise InvalidInputError(
            f"row {vote.number} answers {given!r}, which is no item of the checklist {checklist.name!r}. "
            f"{did_you_mean(given, [item.name for item in checklist.items])}"
        )
    return named_as[given]


def _cast(read: VoteRows, keys: Mapping[int, Key], checklist: Checklist, mode: ChecklistMode) -> dict[Key, list[Vote]]:
    """The votes on each item of each response.

    An item that nobody answered, of a response of which others were answered, was not asked; that is no "no".
    """
    found: dict[Key, list[Vote]] = {}
    every: list[int | OutOfScale | None] = []
    judges: dict[tuple[str, int], dict[str, VoteRow]] = {}
    by_item: dict[str, list[VoteRow]] = {item.name: [] for item in checklist.items}
    for vote in read.votes:
        by_item[keys[vote.number][2]].append(vote)
    for item in checklist.items:
        criterion, votes = item.as_criterion(), by_item[item.name]
        reader = VoteReader.of(criterion)
        said = reader.read_most([vote.vote for vote in votes], partial(_who, votes))
        every += said
        for vote, index in zip(votes, said, strict=True):
            if vote.judge:
                order = tuple(range(len(criterion.options)))
                cast = read.cast(vote, criterion, index, order, mode.options.judge_weights)
                found.setdefault(keys[vote.number], []).append(cast)
                judges.setdefault(keys[vote.number][:2], {})[vote.judge] = vote
    set_aside(every)
    for (system, instance), asked in judges.items():
        for item in checklist.items:
            if (system, instance, item.name) not in found:
                found[system, instance, item.name] = [
                    Vote(judge_id=judge, order=IN_ORDER, unscored_reason="not_asked") for judge in asked
                ]
    return found


def _who(votes: Sequence[VoteRow], place: int) -> str:
    return votes[place].who


def _gold(read: VoteRows, keys: Mapping[int, Key], field: str | None) -> dict[Key, Answer]:
    """What people answered; rows of one item say the same, or nothing."""
    found: dict[Key, Answer] = {}
    for vote, given in _cells(read, field):
        answer = answer_of(given, f"row {vote.number}: the gold answer is")
        if answer is not None and found.setdefault(keys[vote.number], answer) != answer:
            raise InvalidInputError(
                f"row {vote.number} has the gold answer {answer!r} to {keys[vote.number][2]!r}, and a row before it "
                f"{found[keys[vote.number]]!r}: let them say the same"
            )
    return found


def _cells(read: VoteRows, field: str | None) -> Iterator[tuple[VoteRow, Any]]:
    if field is not None:
        for vote in read.votes:
            yield vote, field_of(vote.row, field, vote.number, "gold_fields")

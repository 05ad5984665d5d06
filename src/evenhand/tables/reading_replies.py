"""Replies recorded by any tool, read again: each becomes the vote that it states, or the reason why it states none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from evenhand.aggregation import check_rule
from evenhand.criteria import Criterion
from evenhand.data.cells import NOT_ASKED
from evenhand.data.fields import column_of, field_of, name_of, read_clusters, row_groups, row_ids, text_of
from evenhand.data.recorded_columns import (
    YES_OR_NO,
    VoteColumn,
    VoteReader,
    named_weights,
    read_column,
    recorded_columns,
)
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.options import RecordedOptions, takes
from evenhand.parsing import compile_pattern, match_closest_option, match_pattern
from evenhand.question import swapped_index
from evenhand.result_methods import Results
from evenhand.results.made_by import remembers
from evenhand.results.vote_columns import Cell
from evenhand.tables.recorded_votes import VoteAnalysis
from evenhand.tables.vote_rows import swapped_in
from evenhand.unitxt.loading import load_criterion
from evenhand.version import __version__
from evenhand.votes import Completion, Match, Vote, is_missing


@remembers
@takes(RecordedOptions)
def read_replies(
    dataset: object,
    replies: str | Sequence[str],
    criteria: object = None,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    gold: str | None = None,
    judge_field: str | None = None,
    id_field: str | None = None,
    swapped_field: str | None = None,
    finish_reason_field: str | None = None,
    pattern: str | None = None,
    as_index: bool = False,
    split: str | None = None,
    **options: Any,
) -> Results:
    r"""Read recorded reply texts as votes, and reduce the votes on each instance to a verdict.

    No call is made. A text is read as the reply of a judge is read in a run, by the four forms of
    :func:`~evenhand.parsing.match_closest_option`; any other text is unscored with the reason, never a guess. Replies
    that another tool asked for in its own form are read by ``pattern``. Each vote keeps its text and how it was read;
    ``table.to_rows()`` gives them as plain rows.

    Args:
        dataset: A data set, a data frame, rows, or the path of a file; :func:`~evenhand.read_log` makes rows of the
            logs of other tools.
        replies: The column with the replies; several columns are several judges. Cells may be lists (repeated draws of
            the judge). A nested column is named ``a/b`` or ``a.b``.
        criteria: Whose options were offered: a catalog id, path, plain sentence, dict, artifact or frozen criterion;
            without it the options are Yes and No.
        rule: The rule by which several judges' votes become one; None for the scale's default.
        weights: One weight per judge, in the order of the columns, or judge -> weight; for the weighted rules.
        gold: The column with the label that is right.
        judge_field: Long data, a row per reply: the column that names the judge.
        id_field: Long data: the column that names the instance; replies of one judge to one instance are draws.
        swapped_field: Of comparisons: the column that is true where the two responses were shown in the other order. A
            vote for the one shown first is then one for the second; options are mirrored by their values.
        finish_reason_field: The column with the server's finish reason: ``length`` says that a reply was cut off.
        pattern: A regular expression with one group, around the label: ``r"\[\[([AB])\]\]"``. A reply that it does
            not match is unscored, and one whose matches name different labels is ambiguous. None for the four forms.
        as_index: Gold labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        **options: Of the intervals; see :class:`~evenhand.options.RecordedOptions`.

    Raises:
        InvalidInputError: No such column, a pattern that is not a regular expression with one group, weights that do
            not fit, or rows of one instance that contradict each other.
        UnknownRuleError: If the rule does not exist or does not fit the criterion.
    """
    drawn = RecordedOptions.of_call(options, signature(read_replies).parameters)
    criterion = YES_OR_NO if criteria is None else load_criterion(criteria)
    rule = check_rule(rule, criterion.scale)
    log = _ReplyLog(
        read_rows(dataset, split),
        _columns(replies, judge_field),
        VoteReader.of(criterion, as_index=as_index),
        judge_field=judge_field,
        swapped_field=swapped_field,
        finish_reason_field=finish_reason_field,
        pattern=None if pattern is None else compile_pattern(pattern),
    )
    grouped = log.instances(id_field)
    first = [log.rows[numbers[0]] for numbers in grouped]
    clusters = read_clusters(first, drawn.cluster_field, apart=recorded_columns(replies, gold, finish_reason_field))
    labels = log.gold_labels(gold, grouped)
    votes = [log.votes(numbers) for numbers in grouped]
    judges = list(dict.fromkeys(vote.judge_id for own in votes for vote in own))
    named = named_weights(weights, judges)
    cells = (
        Cell({"instance": place, "reference": label, "cluster": clusters and clusters[place]}, tuple(own))
        for place, (own, label) in enumerate(zip(votes, labels, strict=True))
    )
    header = {
        "criterion": criterion.model_dump(mode="json"),
        "notes": [],
        "parameters": {
            "evenhand_version": __version__,
            "n": len(grouped),
            "votes": judges,
            "replies": list(log.columns),
            "judge_field": judge_field,
            "id_field": id_field,
            **log.ids(id_field, grouped),
            **row_groups(first, drawn.group_fields),
            "swapped_field": swapped_field,
            "pattern": pattern,
            "as_index": as_index,
            "gold": gold,
            "criteria_given": criteria is not None,
            "rule": rule,
            "weights": named,
            **dict(drawn),
        },
    }
    return Results.of_cells(VoteAnalysis, header, cells)


def _columns(replies: str | Sequence[str], judge_field: str | None) -> tuple[str, ...]:
    columns = (replies,) if isinstance(replies, str) else tuple(replies or ())
    if not columns or len(set(columns)) < len(columns) or not all(isinstance(name, str) for name in columns):
        raise InvalidInputError(f"replies is {replies!r}; name at least one column, each once")
    if judge_field is not None and len(columns) > 1:
        raise InvalidInputError(
            f"judge_field={judge_field!r} says that a row is one judge's reply, and replies names {list(columns)!r}: "
            "name the one column with the texts, or leave judge_field out for a column per judge"
        )
    return columns


@dataclass(frozen=True)
class _ReplyLog:
    """Rows with recorded replies, and who reads them."""

    rows: Sequence[Row]
    columns: tuple[str, ...]
    reader: VoteReader
    judge_field: str | None
    swapped_field: str | None
    finish_reason_field: str | None
    pattern: re.Pattern[str] | None
    _read: dict[tuple[str | None, str | None], Match] = field(default_factory=dict)
    _held: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in self.columns:
            self._held[column] = column_of(self.rows, column, NOT_ASKED)
            if all(cell is NOT_ASKED for cell in self._held[column]):
                known = list(dict.fromkeys(key for row in self.rows for key in row))
                raise InvalidInputError(
                    f"replies names the column {column!r}, which no row has. {did_you_mean(column, known)}"
                )
        options = [option for option in self.criterion.options if not option.na]
        values = sorted(option.value for option in options if option.value is not None)
        mirrored = [values[0] + values[-1] - value for value in reversed(values)] if values else []
        if self.swapped_field is not None and (len(values) < len(options) or mirrored != values):
            raise InvalidInputError(
                f"swapped_field={self.swapped_field!r} mirrors the options of {self.criterion.name!r} by their values, "
                f"which are {values!r}: give the first response's win 1, the second's 0, and a tie 0.5"
            )

    @property
    def criterion(self) -> Criterion:
        return self.reader.criterion

    def instances(self, id_field: str | None) -> list[list[int]]:
        """The rows of each instance, in the order of the first."""
        if id_field is None:
            return [[number] for number in range(len(self.rows))]
        found: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            name = name_of(field_of(row, id_field, number, "id_field"))
            if not name:
                raise InvalidInputError(f"row {number} has no name in {id_field!r}, which id_field names: it needs one")
            found.setdefault(name, []).append(number)
        return list(found.values())

    def ids(self, id_field: str | None, grouped: Sequence[Sequence[int]]) -> dict[str, Any]:
        """The ids of the instances, where rows name them."""
        return {} if id_field is None else row_ids([self.rows[numbers[0]] for numbers in grouped], id_field)

    def gold_labels(self, gold: str | None, grouped: Sequence[Sequence[int]]) -> list[str | None]:
        """The label that is right for each instance; rows of one instance say the same, or nothing."""
        if gold is None:
            return [None] * len(grouped)
        cells = tuple(field_of(row, gold, number, "gold") for number, row in enumerate(self.rows))
        read = read_column(VoteColumn(gold, cells), self.reader, "reference")
        found = []
        for numbers in grouped:
            said = {read[number] for number in numbers} - {None}
            if len(said) > 1:
                labels = [
                    self.criterion.labels[place] for place in sorted(place for place in said if place is not None)
                ]
                raise InvalidInputError(
                    f"rows {list(numbers)!r} are of one instance and have the labels {labels!r} in {gold!r}: gold is "
                    "the one that is right"
                )
            place = next(iter(said), None)
            found.append(None if place is None else self.criterion.labels[place])
        return found

    def votes(self, numbers: Sequence[int]) -> list[Vote]:
        """The votes on one instance; a judge's votes in one order are numbered."""
        found: list[Vote] = []
        drawn: dict[tuple[str, bool], int] = {}
        for number in numbers:
            swapped = self._swapped(number)
            for judge, cell in self._cells(number):
                sample = drawn[judge, swapped] = drawn.get((judge, swapped), -1) + 1
                found.append(self._vote(judge, cell, number, sample, swapped=swapped))
        return found

    def _cells(self, number: int) -> Iterator[tuple[str, object]]:
        row = self.rows[number]
        for column in self.columns:
            held = self._held[column][number]
            judge = column
            if self.judge_field is not None:
                judge = name_of(field_of(row, self.judge_field, number, "judge_field"))
                if not judge:
                    raise InvalidInputError(f"row {number} has no name in {self.judge_field!r}, which names the judge")
            if held is NOT_ASKED:
                continue
            given = held.tolist() if hasattr(held, "tolist") else held
            if isinstance(given, (list, tuple)):
                yield from ((judge, cell) for cell in given)
            else:
                yield judge, given

    def _swapped(self, number: int) -> bool:
        return self.swapped_field is not None and swapped_in(self.rows[number], self.swapped_field, number)

    def _match(self, text: str | None, finish_reason: str | None) -> Match:
        if self.pattern is not None:
            return match_pattern(text, self.criterion.labels, self.pattern)
        return match_closest_option(text, self.criterion.labels, finish_reason=finish_reason)

    def _vote(self, judge: str, cell: object, number: int, sample: int, *, swapped: bool) -> Vote:
        text = None if is_missing(cell) else text_of(cell)
        finish = None
        if self.finish_reason_field is not None:
            finish = text_of(field_of(self.rows[number], self.finish_reason_field, number, "finish_reason_field"))
        key = (text, finish or None)
        match = self._read.get(key)
        if match is None:
            match = self._read[key] = self._match(text, finish or None)
        index = match.index
        if swapped and index is not None:
            index = swapped_index(self.criterion.options, index)
        more: dict[str, Any] = {
            "sample": sample,
            "match": match,
            "unscored_reason": match.reason,
            "completion": Completion(text=text, finish_reason=finish or None),
        }
        if self.swapped_field is not None:
            more["order"] = (1, 0) if swapped else (0, 1)
        return self.reader.vote(judge, index).model_copy(update=more)

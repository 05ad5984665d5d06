"""Votes of raters in the columns of a data set: aggregation to verdicts, agreement, and the annotator test."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from evenhand.aggregation.verdict import WEIGHTED_RULES, check_rule
from evenhand.criteria import Criterion
from evenhand.data.cells import (
    YES_OR_NO,
    LabelReader,
    VoteColumn,
    cast_votes,
    categories_of,
    columns_of,
    weights_by_judge,
)
from evenhand.data.fields import (
    check_names,
    read_clusters,
    row_groups,
    text_of,
)
from evenhand.data.rows import read_rows, row_ids
from evenhand.errors import InvalidInputError
from evenhand.labels.annotators import StandInTest, stand_in_test
from evenhand.modes.recorded_votes import AgreementAnalysis, VoteAnalysis
from evenhand.options import (
    AggregateVotesArguments,
    AgreementArguments,
    ReadRepliesArguments,
    RecordedOptions,
    takes,
)
from evenhand.parsing import compile_pattern, match_closest_option, match_pattern
from evenhand.question import swapped_index
from evenhand.read_votes import IN_ORDER, SWAPPED, RecordedVotes, named_columns, read_assessments
from evenhand.results.vote_columns import Cell
from evenhand.unitxt.loading import load_criterion
from evenhand.version import __version__
from evenhand.votes import Completion, Match, Vote, is_missing

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods as Results
else:
    from evenhand.results.results import Results


def verdicts_of_votes(
    read: RecordedVotes, criterion: Criterion, cells: Sequence[Cell], options: Any, **more: Any
) -> Results:
    """Return the verdicts that recorded votes give.

    Args:
        read: The votes.
        criterion: The criterion of the votes.
        cells: The votes on each instance.
        options: The options of the function.
        **more: Further parameters that the result repeats.
    """
    weights = weights_by_judge(getattr(options, "weights", None), read.judges)
    lacking = [] if weights is None else [judge for judge in read.judges if judge not in weights]
    if lacking and more.get("rule") in WEIGHTED_RULES:
        raise InvalidInputError(f"the weights {weights!r} name no weight for the judge {lacking[0]!r}; add it")
    parameters = {
        "evenhand_version": __version__,
        "n": len(read.ids),
        "votes": list(read.judges),
        **read.fields,
        **({} if None in read.ids else {"ids": list(read.ids)}),
        **read.groups(options.group_fields),
        "gold_fields": options.gold_fields,
        "criteria_given": options.criteria is not None,
        "as_index": options.as_index,
        "rule": None,
        "weights": weights,
        **options.values_of(RecordedOptions),
        **more,
    }
    systems = list(dict.fromkeys(cell.about["system"] for cell in cells))
    header = {"systems": systems, "criteria": [criterion], "parameters": parameters}
    return Results.of_cells(VoteAnalysis, header, cells)


def aggregate_recorded_votes(data: object, options: AggregateVotesArguments) -> Results:
    """Reduce recorded votes to verdicts: see :func:`evenhand.functions.aggregate_votes`."""
    criterion = YES_OR_NO if options.criteria is None else load_criterion(options.criteria)
    rule, fields = check_rule(options.rule, criterion.scale), named_columns(options)
    read = RecordedVotes.of(read_rows(data, options.split), options.votes, fields, usual=False)
    reader = LabelReader(criterion, as_index=options.as_index)
    cells = read_assessments(read, reader, gold=options.gold_fields, cluster_field=options.cluster_field)
    return verdicts_of_votes(read, criterion, cells, options, rule=rule)


def measure_agreement(data: object, options: AgreementArguments) -> Results:
    """Measure the agreement of raters: see :func:`evenhand.functions.agreement`."""
    rows, given = read_rows(data, options.split), {"votes": options.votes, "gold_fields": options.gold_fields or ()}
    named = {setting: check_names(names, setting, int(setting == "votes")) for setting, names in given.items()}
    held = {setting: columns_of(rows, names, setting) if names else () for setting, names in named.items()}
    columns = [column for own in held.values() for column in own]
    check_names([column.name for column in columns], "votes and gold_fields", 2)
    reader = _reader_of(options.criteria, columns, as_index=options.as_index)
    clusters = read_clusters(rows, options.cluster_field, apart={name for own in named.values() for name in own})
    judges, people = (
        cast_votes(own, len(rows), reader, kind) for own, kind in zip(held.values(), ("judge", "human"), strict=True)
    )
    cells = [
        Cell({"instance": row, "cluster": cluster}, (*judges[row], *people[row]))
        for row, cluster in enumerate(clusters)
    ]
    parameters = {
        "evenhand_version": __version__,
        "n": len(rows),
        **row_groups(rows, options.group_fields),
        "as_index": options.as_index,
        **row_ids(rows, options.id_field),
        **{setting: [column.name for column in own] for setting, own in held.items()},
        "criteria_given": options.criteria is not None,
        **options.values_of(RecordedOptions),
    }
    return Results.of_cells(AgreementAnalysis, {"criterion": reader.criterion, "parameters": parameters}, cells)


def _reader_of(criteria: object, columns: Sequence[VoteColumn], *, as_index: bool) -> LabelReader:
    """Return the reader of the labels of a criterion; without one the options are the labels that occur."""
    if as_index and criteria is None:
        raise InvalidInputError("as_index=True says that numbers are places of options; give the criteria")
    return LabelReader(categories_of(columns) if criteria is None else load_criterion(criteria), as_index=as_index)


def read_recorded_replies(data: object, options: ReadRepliesArguments) -> Results:
    """Read recorded replies as votes: see :func:`evenhand.functions.read_replies`."""
    criterion = YES_OR_NO if options.criteria is None else load_criterion(options.criteria)
    rule = check_rule(options.rule, criterion.scale)
    compiled = None if options.pattern is None else compile_pattern(options.pattern)
    rows, fields = read_rows(data, options.split), named_columns(options)
    read = RecordedVotes.of(rows, options.replies, fields, usual=False, draws=True, what="replies")
    values = sorted(option.value for option in criterion.options if option.value is not None and not option.na)
    mirrored = [values[0] + values[-1] - value for value in reversed(values)] if values else []
    scored = [option for option in criterion.options if not option.na]
    if options.swapped_field is not None and (mirrored != values or len(values) < len(scored)):
        raise InvalidInputError(
            f"swapped_field={options.swapped_field!r} mirrors the options of {criterion.name!r} by their values, which "
            f"are {values!r}: give the first response's win 1, the second's 0, and a tie 0.5"
        )

    @cache
    def match(text: str | None, finish: str | None) -> Match:
        if compiled is not None:
            return match_pattern(text, criterion.labels, compiled)
        return match_closest_option(text, criterion.labels, finish_reason=finish)

    reader = LabelReader(criterion, as_index=options.as_index)
    swapped, systems = read.swapped(), read.names("systems_field")
    finishes: Sequence[Any] = [None] * len(read.rows)
    if options.finish_reason_field is not None:
        finishes = read.cells(options.finish_reason_field, "finish_reason_field")
    cast: dict[tuple[Any, ...], list[Vote]] = {}
    draws: dict[Hashable, int] = {}
    for vote in read.votes:
        text, finish = None if is_missing(vote.cell) else text_of(vote.cell), text_of(finishes[vote.number]) or None
        found, turned = match(text, finish), swapped is not None and bool(swapped[vote.number])
        index = found.index if found.index is None or not turned else swapped_index(criterion.options, found.index)
        key = (vote.instance, systems[vote.number])
        sample = draws[key, vote.judge, turned] = draws.get((key, vote.judge, turned), -1) + 1
        more: dict[str, Any] = {"sample": sample, "match": found, "unscored_reason": found.reason}
        more["completion"] = Completion(text=text, finish_reason=finish)
        if swapped is not None:
            more["order"] = SWAPPED if turned else IN_ORDER
        cast.setdefault(key, []).append(reader.vote(vote.judge, index).model_copy(update=more))
    cells = read_assessments(read, reader, gold=options.gold_fields, cluster_field=options.cluster_field, cast=cast)
    more = {"replies": list(read.columns), "pattern": options.pattern, "rule": rule}
    return verdicts_of_votes(read, criterion, cells, options, **more)


@takes(AgreementArguments)
def alternative_annotator_test(
    data: object,
    votes: Any,
    gold_fields: Any,
    criteria: object = None,
    *,
    epsilon: float | Literal["expert", "skilled", "crowd"],
    alpha: float = 0.05,
    **options: Any,
) -> StandInTest:
    """Run the alternative annotator test: may a judge replace annotators?

    One annotator after the other is left out, and the judge and that annotator are compared: which of them is nearer to
    the others, instance by instance. The judge passes if it outdoes half of the annotators, ε given
    (:func:`~evenhand.statistics.agreement.alternative_annotator` has the formulas; Calderon, Reichart and
    Dror, ACL 2025, arXiv 2501.10970). Three annotators or more are needed, 30 instances or more advised.

    Args:
        data: A data set with columns of judges and people (see :func:`~evenhand.data.rows.read_rows`).
        votes: The columns with the judges' votes, one per judge, each tested.
        gold_fields: The columns with what people said, one per annotator.
        criteria: The criterion of the options chosen; without it the options are the labels that occur. Two labels are
            near by their numbers where options have values or an order; else they are the same or not.
        epsilon: The advantage of the judge for being cheaper, from 0 to below 1: to be stated. Recommended:
            0.2 where annotators are experts, 0.15 where they are skilled, 0.1 for crowd workers; or ``expert``,
            ``skilled``, ``crowd``.
        alpha: The false discovery rate over the annotators.
        **options: As :func:`evenhand.agreement` takes them. With ``cluster_field`` the tests are over clusters.

    Raises:
        InvalidInputError: No epsilon, no such columns, labels that cannot be read, or too few annotators to compare.

    >>> said = {"ann": [1, 1, 0, 0] * 10, "bob": [1, 1, 0, 1] * 10, "cyd": [1, 0, 0, 0] * 10, "gpt": [1, 1, 0, 0] * 10}
    >>> rows = [dict(zip(said, row)) for row in zip(*said.values())]
    >>> found = alternative_annotator_test(rows, "gpt", ["ann", "bob", "cyd"], epsilon="skilled")
    >>> found["gpt"].passed, found["gpt"].winning_rate, found["gpt"].advantage.estimate
    (True, 1.0, 1.0)
    """
    asked = AgreementArguments(votes=votes, gold_fields=gold_fields, criteria=criteria, **options)
    return stand_in_test(measure_agreement(data, asked), epsilon, alpha)

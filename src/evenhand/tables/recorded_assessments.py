"""Recorded votes on the options of a criterion as the questions that reports on judges are about, without a call."""

from __future__ import annotations

from collections.abc import Hashable

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion
from evenhand.data.cells import set_aside
from evenhand.data.fields import field_of, name_of, text_of
from evenhand.data.recorded_columns import VoteReader
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.one_judge import Asked, Questions
from evenhand.options import RunOptions
from evenhand.tables.vote_rows import VoteRow, VoteRows, swapped_in
from evenhand.votes import Vote, is_missing

SYSTEM, RESPONSE = "system", "response"


def recorded_assessments(
    read: VoteRows,
    criterion: Criterion,
    rules: VoteRules,
    options: RunOptions,
    *,
    gold_fields: str | None = None,
    as_index: bool = False,
) -> Questions:
    """The questions that recorded votes answer, each about one response.

    Args:
        read: The votes. The column ``swapped_field`` is true where the options were shown in the reversed order; one
            called ``response`` tells how long the responses are.
        criterion: Whose options were voted on.
        rules: How a judge's own votes become its verdict.
        options: With the column of the clusters.
        gold_fields: The column with the label that is right.
        as_index: Numbers are places of options.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other.
    """
    system, swapped = read.column("systems_field", SYSTEM), read.column("swapped_field", "swapped")
    reader = VoteReader.of(criterion, as_index=as_index)
    selected = reader.read_most([vote.vote for vote in read.votes], lambda place: read.votes[place].who)
    set_aside(selected)
    own = tuple(range(len(criterion.options)))
    places: dict[int, tuple[int, str]] = {}
    reversed_in: dict[int, bool] = {}
    for vote in read.votes:
        named = "" if system is None else name_of(field_of(vote.row, system, vote.number, "systems_field"))
        places[vote.number] = (vote.instance, named)
        reversed_in[vote.number] = swapped is not None and swapped_in(vote.row, swapped, vote.number)

    def about(vote: VoteRow) -> Hashable:
        return places[vote.number], reversed_in[vote.number]

    read.check_once(about)
    cast: dict[tuple[int, str], list[Vote]] = {}
    for vote, index in zip(read.votes, selected, strict=True):
        votes = cast.setdefault(places[vote.number], [])
        if vote.judge:
            order = own[::-1] if reversed_in[vote.number] else own
            votes.append(read.cast(vote, criterion, index, order, options.judge_weights))
    labels, lengths = _labels(read, places, reader, gold_fields), _lengths(read, places)
    clusters = read.clusters(options.cluster_field, [each for each in (system, swapped, gold_fields) if each])
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    asked = tuple(
        Asked(
            key[0],
            rules.aggregate(votes, criterion),
            labels.get(key),
            lengths.get(key),
            (key[1],) if key[1] else None,
            None if clusters[key[0]] is None else numbers[clusters[key[0]]],
        )
        for key, votes in sorted(cast.items())
        if votes
    )
    return Questions(criterion, rules, asked)


def _labels(
    read: VoteRows, places: dict[int, tuple[int, str]], reader: VoteReader, field: str | None
) -> dict[tuple[int, str], int]:
    """What people said; the rows of one response say the same, or nothing."""
    if field is None:
        return {}
    cells = [field_of(vote.row, field, vote.number, "gold_fields") for vote in read.votes]
    said = reader.read(cells, lambda place: f"row {read.votes[place].number}: the person voted")
    found: dict[tuple[int, str], int] = {}
    for vote, index in zip(read.votes, said, strict=True):
        if index is not None and found.setdefault(places[vote.number], index) != index:
            labels = reader.criterion.labels
            raise InvalidInputError(
                f"row {vote.number} has the gold label {labels[index]!r}, and a row before it of the same response "
                f"{labels[found[places[vote.number]]]!r}: let them say the same"
            )
    return found


def _lengths(read: VoteRows, places: dict[int, tuple[int, str]]) -> dict[tuple[int, str], tuple[int, ...]]:
    """How many characters the responses have, where rows hold them."""
    given = {places[vote.number]: vote.row.get(RESPONSE) for vote in read.votes}
    return {key: (len(text_of(response)),) for key, response in given.items() if not is_missing(response)}

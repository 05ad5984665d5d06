"""Recorded choices of the best candidate as the table of Grade Scores that a run would have given, without a call."""

from __future__ import annotations

import string
from collections.abc import Sequence
from functools import cache, partial

from evenhand.criteria import Criterion, fold_label
from evenhand.data.cells import OutOfScale, held_in, is_abstention, is_written_nothing, set_aside
from evenhand.data.fields import field_of, name_of
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.modes.grade_scores import GradeMode
from evenhand.options import RunOptions
from evenhand.question import choice_criterion, comparison_criterion
from evenhand.result_methods import Results
from evenhand.results.vote_columns import Cell
from evenhand.tables.grade_table import GradeAnalysis
from evenhand.tables.vote_rows import VoteRow, VoteRows
from evenhand.votes import Vote

RECORDED = "recorded"
"""The name of the prompt of recorded choices."""


def recorded_grades(
    read: VoteRows, candidates: Sequence[str] | None, criterion: Criterion | None, options: RunOptions
) -> Results:
    """The table of recorded choices.

    Args:
        read: The votes, each with the order in which the candidates were shown.
        candidates: The names of all candidates, in their own order; None for the first order of each instance.
        criterion: What makes a candidate the best.
        options: Of a run, those that say what votes come to.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other, or options that belong to asking.
    """
    column = read.column("order_field", "order")
    if column is None:
        raise InvalidInputError(
            "a Grade Score is about the places at which candidates were shown: name the column with the list of their "
            f"names, in the order shown, with order_field=…; the data have the columns {list(read.rows[0])!r}"
        )
    options = GradeMode(read.run_options(options, orders="cyclic")).options
    judged = comparison_criterion("recorded votes", "") if criterion is None else criterion
    choice_of = cache(partial(choice_criterion, judged.name, judged.description))
    own: dict[int, tuple[str, ...]] = {}
    orders: dict[int, tuple[int, ...]] = {}
    cast: dict[int, list[Vote]] = {}
    every: list[int | OutOfScale | None] = []
    for vote in read.votes:
        shown = _shown(vote, column)
        given = shown if candidates is None else tuple(name for name in candidates if name in shown)
        names = own.setdefault(vote.instance, given)
        if len(shown) < 2:
            continue
        order = orders[id(vote)] = _rotation(vote, shown, names, candidates)
        choice = choice_of(len(names))
        chosen = _chosen(vote, shown)
        index = names.index(chosen) if isinstance(chosen, str) else chosen
        every.append(index)
        cast.setdefault(vote.instance, []).append(read.cast(vote, choice, index, order, options.judge_weights))
    set_aside(every)
    read.check_once(lambda vote: orders.get(id(vote)))
    clusters = read.clusters(options.cluster_field, [column])
    cells = [
        Cell(
            {
                "instance": instance,
                "prompt": RECORDED,
                "with_unrelated": False,
                "unrelated": None,
                "cluster": clusters[instance],
                "candidates": list(own[instance]),
                "missing": [name for name in candidates or () if name not in own[instance]],
            },
            tuple(cast.get(instance, ())),
        )
        for instance in range(len(read.ids))
    ]
    parameters = {
        **read.parameters(options),
        "ids": list(read.ids),
        "prompts": [RECORDED],
        "candidates": None if candidates is None else list(candidates),
        "unrelated_option": False,
    }
    header = {"criterion": judged.model_dump(mode="json"), "parameters": parameters}
    return Results.of_cells(GradeAnalysis, header, cells)


def _shown(vote: VoteRow, column: str) -> tuple[str, ...]:
    """The candidates in the order in which they were shown."""
    given = field_of(vote.row, column, vote.number, "order_field")
    held = held_in(given, f"row {vote.number}") if isinstance(given, str) else given
    if hasattr(held, "tolist"):
        held = held.tolist()
    names = tuple(map(name_of, held)) if isinstance(held, (list, tuple)) else ()
    if (len(names) < 2 and vote.reason != "missing_response") or "" in names or len(set(names)) < len(names):
        raise InvalidInputError(
            f"row {vote.number} has {given!r} in {column!r}, which order_field names; give the list of at least two "
            "different names of candidates, in the order in which they were shown"
        )
    return names


def _rotation(
    vote: VoteRow, shown: Sequence[str], names: Sequence[str], candidates: Sequence[str] | None
) -> tuple[int, ...]:
    """The order shown, as places in the candidates' own order, of which it must be a rotation."""
    if set(shown) != set(names):
        other = next(name for name in (*shown, *names) if (name in shown) != (name in names))
        which = "candidates names" if candidates is not None else "other rows of its instance show"
        raise InvalidInputError(
            f"row {vote.number} shows {list(shown)!r} and {which} {list(names)!r}, which differ in {other!r}: all rows "
            "of an instance show the same candidates"
        )
    order = tuple(names.index(name) for name in shown)
    if any((place - order[0]) % len(order) != at for at, place in enumerate(order)):
        raise InvalidInputError(
            f"row {vote.number} shows {list(shown)!r}, which is no rotation of {list(names)!r}: a Grade Score is about "
            "the rotations of one order, which candidates=[…] can name"
        )
    return order


def _chosen(vote: VoteRow, shown: Sequence[str]) -> str | OutOfScale | None:
    """The candidate that a vote names, or the one at the place (A the first) that it names."""
    if is_abstention(vote.vote) or is_written_nothing(vote.vote):
        return None
    said = name_of(vote.vote)
    named = [*zip(shown, shown, strict=True), *zip(string.ascii_uppercase, shown, strict=False)]
    found = {name for label, name in named if label == said}
    found = found or {name for label, name in named if fold_label(label) == fold_label(said)}
    if len(found) == 1:
        return found.pop()
    places = string.ascii_uppercase[: len(shown)]
    if found:
        raise InvalidInputError(
            f"{vote.who} {vote.vote!r}, which may mean a candidate and a place in {list(shown)!r}: rename the "
            "candidates"
        )
    return OutOfScale(
        vote.who,
        str(vote.vote),
        f"{vote.who} {vote.vote!r}, which is no candidate of {list(shown)!r} and no place. "
        f"{did_you_mean(vote.vote, (*shown, *places))} None for no vote",
    )

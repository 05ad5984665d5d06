"""Recorded comparisons as the table of winrates that a run of judges would have given, without a call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evenhand.aggregation import VoteRules
from evenhand.criteria import Criterion, fold_label
from evenhand.data.cells import OutOfScale, as_text, is_abstention, is_written_nothing, number_of, plain_cell, set_aside
from evenhand.data.fields import field_of, field_or, name_of, text_of
from evenhand.data.plain import briefly
from evenhand.data.recorded_columns import VoteReader
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.modes.contest import check_reduction, is_graded
from evenhand.options import WinratesArguments
from evenhand.question import comparison_criterion, swapped_index
from evenhand.result_methods import Results
from evenhand.results.vote_columns import Cell
from evenhand.tables.vote_rows import VoteRow, VoteRows, swapped_in
from evenhand.tables.winrate_table import TIE, WinrateAnalysis
from evenhand.votes import Vote, is_missing

IN_ORDER, SWAPPED = (0, 1), (1, 0)
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class _Pair:
    """The two systems of a recorded comparison.

    Attributes:
        first: The one that the row names first.
        second: The other one.
        swapped: The second was shown first; None where that is not known, and then no vote is for a place.
        systems: The two in the order of the table.
    """

    first: str
    second: str
    swapped: bool | None
    systems: tuple[str, str]

    @property
    def shown(self) -> tuple[str, str]:
        """The two in the order in which the judge saw them."""
        return (self.second, self.first) if self.swapped else (self.first, self.second)

    @property
    def order(self) -> tuple[int, int]:
        """The same as an order of the table's."""
        return IN_ORDER if self.shown == self.systems else SWAPPED

    def sides(self, cell: object) -> set[float]:
        """Whom a label prefers: 1 for the first of the table's two systems, 0 for the second, ½ for neither.

        Several where a system is called as a place is; none where it names neither. What is written in the very
        letters of a name is that name: of systems ``a`` and ``b``, ``a`` is the system and ``A`` the place.
        """
        values = {self.systems[0]: 1.0, self.systems[1]: 0.0}
        named = [*values.items(), ("first", values[self.first]), ("second", values[self.second]), (TIE, 0.5)]
        if self.swapped is not None:
            named += [(place, values[system]) for place, system in zip("AB", self.shown, strict=True)]
        said = (cell if isinstance(cell, str) else briefly(plain_cell(cell))).strip()
        exact = {value for name, value in named if name == said}
        return exact or {value for name, value in named if fold_label(name) == fold_label(said)}


@dataclass(frozen=True)
class _Comparisons:
    """Recorded comparisons, and who reads them."""

    read: VoteRows
    pairs: tuple[_Pair, ...]
    systems: tuple[str, ...]
    orders_known: bool

    @classmethod
    def of(cls, read: VoteRows, systems: tuple[str, ...] | None) -> _Comparisons:
        """Find the systems of each vote."""
        first, second = (read.column(f"{name}_field", name) for name in ("first", "second"))
        if first is None or second is None:
            if first is not None or second is not None or systems is None or len(systems) != 2:
                raise InvalidInputError(
                    "a vote is about two systems: name the columns that say which with first_field=… and "
                    "second_field=…, or, where all votes are about the same two, these with systems=[…]; the data "
                    f"have the columns {list(read.rows[0])!r}"
                )
            named = [(systems[0], systems[1])] * len(read.rows)
        else:
            named = list(zip(read.names(first, "first_field"), read.names(second, "second_field"), strict=True))
        swapped = read.column("swapped_field", "swapped")
        if swapped is not None and read.column("id_field", "id", "prompt_id", "instance") is None:
            raise InvalidInputError(
                f"{swapped!r} says which votes were cast in the other order, and no column says to which prompt they "
                "belong: name it with id_field=…"
            )
        found = tuple(dict.fromkeys(system for pair in named for system in pair))
        _check_systems(found, systems)
        ordered = found if systems is None else tuple(map(name_of, systems))
        pairs = []
        for vote in read.votes:
            one, other = named[vote.number]
            if one == other:
                raise InvalidInputError(f"row {vote.number} compares {one!r} with itself; a vote is about two systems")
            both = (one, other) if ordered.index(one) < ordered.index(other) else (other, one)
            other_order: bool | None = False
            if swapped is not None:
                said = field_of(vote.row, swapped, vote.number, "swapped_field")
                other_order = None if is_missing(said) else swapped_in(vote.row, swapped, vote.number)
            pairs.append(_Pair(one, other, other_order, both))
        return cls(read, tuple(pairs), ordered, all(pair.swapped is not None for pair in pairs))

    def __iter__(self) -> Iterator[tuple[VoteRow, _Pair]]:
        return zip(self.read.votes, self.pairs, strict=True)

    @cached_property
    def has_ties(self) -> bool:
        """Whether a vote is for neither."""
        return any(isinstance(vote.vote, str) and fold_label(vote.vote) == TIE for vote in self.read.votes)

    def side(self, cell: object, pair: _Pair, who: str) -> float | None:
        """Whom a label prefers, that must name a system, a place or a tie; None where it says nothing."""
        if _says_nothing(cell):
            return None
        sides = pair.sides(cell)
        if len(sides) != 1:
            raise InvalidInputError(_refusal(cell, pair, who, several=len(sides) > 1))
        return sides.pop()

    def selected(self, criterion: Criterion, *, labels: bool) -> list[int | OutOfScale | None]:
        """The option that each vote selects, in the order of the table's systems.

        Args:
            criterion: Whose options were offered.
            labels: The criterion was given, so that votes may be its labels and values, as the judge saw them.
        """
        reader, by_value = VoteReader.of(criterion), _by_value(criterion)
        places = [place for place, (vote, _) in enumerate(self) if number_of(vote.vote) is not None]
        numbers: dict[int, int | OutOfScale | None] = {}
        if labels and places:
            cells = [self.read.votes[place].vote for place in places]
            read = reader.read_most(cells, lambda at: self.read.votes[places[at]].who)
            numbers = dict(zip(places, read, strict=True))
        found: list[int | OutOfScale | None] = []
        for place, (vote, pair) in enumerate(self):
            if _says_nothing(vote.vote):
                found.append(None)
                continue
            label = reader.places.get(fold_label(str(vote.vote))) if labels else None
            shown: int | OutOfScale | None = numbers.get(place, label)
            options = {_in_order(criterion, shown, pair)} if isinstance(shown, int) else set()
            sides = pair.sides(vote.vote)
            options |= {by_value[side] for side in sides if side in by_value}
            if len(options) != 1:
                if sides and not options:
                    raise InvalidInputError(_no_option(vote, criterion))
                refusal = _refusal(vote.vote, pair, vote.who, several=bool(options), more=criterion.labels)
                if options:
                    raise InvalidInputError(refusal)
                refusal = shown.refusal if isinstance(shown, OutOfScale) else refusal
                found.append(OutOfScale(vote.who, as_text(vote.vote), refusal))
                continue
            found.append(options.pop())
        set_aside(found)
        return found


def _says_nothing(cell: object) -> bool:
    return is_abstention(cell) or is_written_nothing(cell)


def _in_order(criterion: Criterion, shown: int, pair: _Pair) -> int:
    """An option as it was shown, in the order of the table's systems."""
    return shown if pair.order == IN_ORDER else swapped_index(criterion.options, shown)


def _by_value(criterion: Criterion) -> dict[float, int]:
    """1, ½ and 0 -> the one option that means it."""
    found: dict[float, list[int]] = {1.0: [], 0.5: [], 0.0: []}
    for index, option in enumerate(criterion.options):
        for side, options in found.items():
            if option.value is not None and abs(option.value - side) < _TOLERANCE:
                options.append(index)
    graded = is_graded(criterion)
    return {side: options[0] for side, options in found.items() if options and not (graded and side != 0.5)}


def _check_systems(found: Sequence[str], given: Sequence[str] | None) -> None:
    if given is None:
        return
    named = [name_of(system) for system in given]
    if len(named) < 2 or len(set(named)) < len(named):
        raise InvalidInputError(f"systems is {list(given)!r}; name at least two, each once")
    for system in named:
        if system not in found:
            raise InvalidInputError(f"systems names {system!r}, which no vote is about. {did_you_mean(system, found)}")
    for system in found:
        if system not in named:
            raise InvalidInputError(
                f"there are votes about {system!r}, which systems={named!r} leaves out: add it, or drop these rows"
            )


def _refusal(cell: object, pair: _Pair, who: str, *, several: bool, more: Sequence[str] = ()) -> str:
    if several:
        return (
            f"{who} {briefly(cell)}, which may mean a system and a place in the comparison of {pair.first!r} and "
            f"{pair.second!r}: write 'first' or 'second', or rename the systems"
        )
    accepted = (*pair.systems, TIE, "first", "second", "A", "B")
    given = cell if isinstance(cell, str) else briefly(cell)
    hint = did_you_mean(given, tuple(dict.fromkeys((*accepted, *more))))
    return (
        f"{who} {briefly(cell)}, which is none of the pair. {hint} "
        "None for no vote; numbers are values of the options of a criterion that is given"
    )


def _no_option(vote: VoteRow, criterion: Criterion) -> str:
    hint = "set allow_ties=True" if fold_label(str(vote.vote)) == TIE else "give the label of an option"
    return (
        f"{vote.who} {vote.vote!r}, for which {criterion.name!r} has no option of its own; its options are "
        f"{list(criterion.labels)!r}: {hint}"
    )


def recorded_winrates(
    read: VoteRows,
    systems: tuple[str, ...] | None,
    criterion: Criterion | None,
    given: WinratesArguments,
) -> Results:
    """The table of recorded comparisons.

    Args:
        read: The votes.
        systems: In the order of the table; None for that of the rows.
        criterion: Whose options were offered; None where votes name systems, places or a tie.
        given: What votes come to, and whether ties were offered, though perhaps no vote is for one.

    Raises:
        InvalidInputError: Votes that cannot be read or contradict each other, or options that belong to asking.
    """
    held = _Comparisons.of(read, systems)
    ties = given.allow_ties or held.has_ties
    offered = comparison_criterion("recorded votes", "", allow_ties=ties) if criterion is None else criterion
    shown = {id(vote): (*pair.systems, pair.order) for vote, pair in held}
    read.check_once(lambda vote: shown[id(vote)])
    about: dict[tuple[int, str, str], dict[str, Any]] = {}
    cast: dict[tuple[int, str, str], list[Vote]] = {}
    options = read.run_options(given, check_positional_bias=_both_orders(held))
    VoteRules.from_parameters(dict(options)).check("pairwise")
    clusters = read.clusters(options.cluster_field)
    selected = held.selected(offered, labels=criterion is not None)
    for (vote, pair), index in zip(held, selected, strict=True):
        key = (vote.instance, *pair.systems)
        told = _told(held, vote, pair, given.gold_field)
        known = about.setdefault(key, told)
        for name, value in told.items():
            if known[name] is None:
                known[name] = value
            elif value is not None and value != known[name]:
                raise InvalidInputError(
                    f"row {vote.number} says {name} {value!r} of {pair.systems!r} on {read.ids[vote.instance]!r}, and "
                    f"a row before it {known[name]!r}: let them say the same"
                )
        votes = cast.setdefault(key, [])
        if vote.judge:
            votes.append(read.cast(vote, offered, index, pair.order, options.judge_weights))
    places = {system: place for place, system in enumerate(held.systems)}
    keys = sorted(about, key=lambda key: (key[0], places[key[1]], places[key[2]]))
    cells = [
        Cell(
            {
                "instance": key[0],
                "first": key[1],
                "second": key[2],
                "round": 0,
                "cluster": clusters[key[0]],
                "prompt_id": read.ids[key[0]],
                **about[key],
            },
            tuple(cast[key]),
        )
        for key in keys
    ]
    graded = is_graded(offered)
    parameters = {
        **read.parameters(options),
        "reduction": check_reduction(given.reduction, graded=graded),
        "resamples": given.resamples,
        "gold_field": given.gold_field,
        "design": "recorded",
        "allow_ties": any(option.value == 0.5 for option in offered.options),
        "scale": "graded" if graded else "choice",
        **({} if held.orders_known else {"orders_known": False}),
    }
    header = {"criterion": offered.model_dump(mode="json"), "systems": list(held.systems), "parameters": parameters}
    return Results.of_cells(WinrateAnalysis, header, cells)


def _both_orders(held: _Comparisons) -> bool:
    return len({pair.order for _, pair in held}) > 1


def _told(held: _Comparisons, vote: VoteRow, pair: _Pair, gold_field: str | None) -> dict[str, Any]:
    """What a row says of its contest beside the vote: how long the responses are, and whom people prefer."""
    lengths = dict(zip((pair.first, pair.second), (_length(vote, "first"), _length(vote, "second")), strict=True))
    side = None
    if gold_field is not None:
        cell = field_or(vote.row, gold_field)
        side = held.side(cell, pair, f"row {vote.number}: {gold_field!r}, which gold_field names, says")
    return {
        "first_length": lengths[pair.systems[0]],
        "second_length": lengths[pair.systems[1]],
        "gold": None if side is None else {1.0: pair.systems[0], 0.0: pair.systems[1], 0.5: TIE}[side],
    }


def _length(vote: VoteRow, side: str) -> int | None:
    """How many characters the response has: ``first_length``, or those of ``first_response``."""
    length, response = vote.row.get(f"{side}_length"), vote.row.get(f"{side}_response")
    if not is_missing(length):
        number = number_of(length)
        if number is None or number < 0 or not number.is_integer():
            raise InvalidInputError(f"row {vote.number} has {length!r} in '{side}_length'; give a number of characters")
        return int(number)
    return None if is_missing(response) else len(text_of(response))

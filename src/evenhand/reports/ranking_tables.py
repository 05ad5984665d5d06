"""A ranking as tables of texts: the matrix of pairwise winrates, every pair with its tests, and what must be said."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evenhand.numbers import (
    MISSING,
    format_bounds,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_score,
    format_share,
)
from evenhand.results.render import TextTable
from evenhand.statistics.paired_comparisons import Parameter
from evenhand.statistics.paired_differences import SignFlipTest
from evenhand.statistics.pairwise import ContrastTest
from evenhand.statistics.ranking import Rank, Ranking
from evenhand.statistics.unread import UnreadBounds

Unread = Mapping[tuple[str, str], UnreadBounds]
"""``(first, second)`` of a pair -> the bounds of the first system's winrate head to head, where these lead."""

_ALL_READ: Unread = MappingProxyType({})


def matrix_table(ranking: Ranking, unread: Unread = _ALL_READ) -> TextTable:
    """How often the row's system beats the column's, best first; its bounds where these lead."""
    systems = [entry.system for entry in ranking.systems]
    rates = {(pair.first, pair.second): pair.win_rate for pair in ranking.pairs}
    cells = {}
    for (first, second), rate in rates.items():
        cells[first, second] = format_estimate(rate)
        cells[second, first] = format_number(None if rate is None else 1 - rate.estimate)
    for (first, second), bounds in unread.items():
        cells[first, second] = format_bounds(bounds.low, bounds.high)
        cells[second, first] = format_bounds(1 - bounds.high, 1 - bounds.low)
    return TextTable(
        title="Winrate of the row's system against the column's",
        headers=("", *systems),
        rows=tuple((row, *(cells.get((row, column), "") for column in systems)) for row in systems),
    )


def pairs_table(ranking: Ranking, unread: Unread = _ALL_READ) -> TextTable:
    """Every two systems: head to head, and the difference of their winrates over all contests, or of strengths."""
    level = format_level(ranking.level)
    of_winrates = "Head to head, and the paired difference of winrates over all contests (p corrected by Holm)"
    of_strengths = (
        "Head to head (p corrected by Holm), and the difference of strengths (intervals and p of all pairs at once)"
    )
    return TextTable(
        title=of_winrates if ranking.balanced else of_strengths,
        headers=(
            "systems",
            "contests",
            f"head to head [{level}]",
            "p",
            f"difference [{level}]" if ranking.balanced else f"difference of strengths [{level}]",
            "p",
        ),
        rows=tuple(
            (
                f"{pair.first} – {pair.second}",
                format_count(pair.contests),
                format_score(pair.win_rate, unread.get((pair.first, pair.second))),
                format_adjusted(pair.win_rate_test),
                format_interval(pair.difference, signed=True),
                format_adjusted(pair.difference_test),
            )
            for pair in ranking.pairs
        ),
    )


def ranking_notes(ranking: Ranking) -> tuple[str, ...]:
    """Position advantage, who cannot be told apart, circles, and why an estimate is missing where one is."""
    notes = [_position_note(ranking.model.position_probability), *_groups_note(ranking), *_cycles_note(ranking)]
    notes += _strength_notes(ranking)
    if ranking.length_controlled is not None and ranking.length_controlled.reason is not None:
        notes.append(f"No length-controlled winrates: {ranking.length_controlled.reason}.")
    return (*notes, *_unequal_opponents_note(ranking))


def _unequal_opponents_note(ranking: Ranking) -> list[str]:
    if ranking.balanced:
        return []
    note = (
        "Not every two systems met in equally many scored contests, so raw winrates are over opponents of unequal "
        "strength: ranks, groups and differences are of strengths, and 'against all' is the winrate that the model of "
        "strengths expects against all the other systems."
    )
    if ranking.contests_added:
        note += (
            " A system won or lost all that counts, which leaves a strength infinite; for ranks and differences one "
            "contest a strength was added, half won by each side."
        )
    reasons: dict[str, list[str]] = {}
    for entry in ranking.systems:
        if entry.rank.reason is not None:
            reasons.setdefault(entry.rank.reason, []).append(entry.system)
    return [note, *(f"No rank for {', '.join(systems)}: {reason}." for reason, systems in reasons.items())]


def _position_note(position: Parameter) -> str:
    if position.interval is None:
        return f"Position advantage: no estimate, since {position.reason}."
    share = format_share(position.interval)
    if position.interval.low <= 0 and position.interval.high >= 1:
        return (
            f"Position advantage: the estimate is that between equals the response shown first wins "
            f"{format_percent(position.interval.estimate)} of the decided contests, but the data are compatible with "
            "any share."
        )
    return (
        f"Position advantage: between equals the response shown first wins {share} of the decided contests (Davidson "
        "and Beaver's model)."
    )


def _groups_note(ranking: Ranking) -> list[str]:
    alike = [group for group in ranking.groups if len(group) > 1]
    how = "Holm" if ranking.balanced else "strengths, all pairs at once"
    if not alike:
        return [f"All systems can be told apart at the {format_level(ranking.level)} level ({how})."]
    listed = "; ".join(", ".join(group) for group in alike)
    return [f"Cannot be told apart at the {format_level(ranking.level)} level ({how}): {listed}."]


def _cycles_note(ranking: Ranking) -> list[str]:
    cycles = ranking.cycles
    if not cycles.triples:
        return []
    within = ""
    if cycles.prompt_rate is not None:
        within = f"; within prompts {format_share(cycles.prompt_rate)} of {format_count(cycles.prompt_triples)}"
    found = f"{format_count(cycles.cyclic)} of {format_count(cycles.triples)}"
    return [f"Preferences in a circle: {found} triples of systems{within}."]


def _strength_notes(ranking: Ranking) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for entry in ranking.systems:
        if entry.strength.reason is not None:
            reasons.setdefault(entry.strength.reason, []).append(entry.system)
    return [f"No strength for {', '.join(systems)}: {reason}." for reason, systems in reasons.items()]


def format_rank(rank: Rank) -> str:
    """A rank with the ranks that the tests leave open, or a dash."""
    return MISSING if rank.rank is None else f"{rank.rank} [{rank.low}, {rank.high}]"


def format_adjusted(test: SignFlipTest | ContrastTest | None) -> str:
    """The corrected p-value, or a dash where there was no test."""
    return MISSING if test is None else format_p_value(test.adjusted_p_value)

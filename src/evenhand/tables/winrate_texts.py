"""How a table of winrates is written down: one row per system, the matrix, the pairs, and what must be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evenhand.modes.deciding import Decision
from evenhand.modes.pairwise import SystemSummary, unscored_pairs
from evenhand.numbers import (
    MISSING,
    Missing,
    format_bounds,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    format_range,
    format_score,
    format_share,
    state_p_value,
)
from evenhand.results.measures import Column, measures_table, plain
from evenhand.results.notes import baseline_note, early_stop_note, unscored_bounds_note
from evenhand.results.render import TextTable
from evenhand.results.unscored import UNSCORED_VOTES, unscored_note
from evenhand.scoring import readings_note
from evenhand.statistics.intervals import UnscoredBounds
from evenhand.statistics.paired_differences import DifferenceTest
from evenhand.statistics.ranking import Ranking
from evenhand.statistics.strengths import Parameter

if TYPE_CHECKING:
    from evenhand.statistics import Interval
    from evenhand.tables.winrate_table import WinrateTable

MOST_SYSTEMS_IN_A_MATRIX = 10
"""With more, a matrix is wider than a page, and it and the pairs are tables that are printed when asked for."""

LeadingPairs = Mapping[tuple[str, str], UnscoredBounds]
"""``(first, second)`` of a pair -> the bounds of the first system's winrate head to head, where these lead."""

_NONE_LEAD: LeadingPairs = MappingProxyType({})
_NOTHING: Mapping[tuple[str, str], Decision] = MappingProxyType({})


def winrate_tables(table: WinrateTable) -> tuple[TextTable, ...]:
    """The systems; and, for a field that fits on a page, the matrix and the pairs, or else where these are."""
    systems = _systems_table(table)
    if len(table.systems) <= MOST_SYSTEMS_IN_A_MATRIX:
        return systems, *tables_of_pairs(table)
    pairs = format_count(len(table.ranking.pairs), "pair")
    note = (
        f"{format_count(len(table.systems), 'system')}: the matrix and the tests of {pairs} are tables of their own, "
        "which to_terminal('matrix') and to_terminal('pairs') write, as to_markdown, to_html, to_latex and to_csv do; "
        "results.matrix and results.ranking.pairs hold the numbers."
    )
    return (replace(systems, notes=(*systems.notes, note)),)


def tables_of_pairs(table: WinrateTable) -> tuple[TextTable, TextTable]:
    """The matrix and the pairs."""
    contests = [entry.contest for entry in table.scored_entries]
    leading = unscored_pairs(contests, table.ranking.pairs, reduction=table.reduction, level=table.ranking.level)
    decided = table.decisions if table.ranking.anytime else {}
    rate = table.rate_name
    return matrix_table(table.ranking, leading, rate), pairs_table(table.ranking, leading, decided, rate)


def system_record(table: WinrateTable, system: SystemSummary) -> dict[str, Any]:
    """One system's numbers under flat names; what does not exist is None."""
    return {
        "system": system.system,
        **_interval(system, "winrate"),
        "ranked_by": table.rate_name if table.ranking.balanced else "strength",
        **_interval(system, "field_winrate"),
        **_numbers(system, "winrate_if_unscored_0", "winrate_if_unscored_1"),
        "bounds_lead": system.unscored_bounds is not None,
        **_numbers(system, "rank", "rank_low", "rank_high", "expected_rank"),
        "rank_missing_reason": getattr(system.rank, "reason", None),
        **_interval(system, "strength"),
        "strength_missing_reason": getattr(system.strength, "reason", None),
        **_interval(system, "length_controlled_winrate"),
        **_numbers(system, "contests", "ties", "num_unscored"),
        "num_unscored_votes": system.unscored_counts.unscored_votes,
        "mean_length": table.mean_lengths[system.system],
    }


def _asked(table: WinrateTable) -> int:
    """The prompts that were asked, where not all need be."""
    instances = {entry.instance for entry in table.scored_entries}
    return len(instances) if table.parameters.get("stop") else table.parameters["n"]


def _of_all(some: int, total: int, noun: str) -> str:
    return format_count(total, noun) if some == total else f"{format_count(some)} of {format_count(total, noun)}"


def _anytime_notes(table: WinrateTable) -> tuple[str, ...]:
    """After how much it was decided, and what numbers are that hold at any time."""
    if not table.ranking.anytime:
        return ()
    said = (
        "Intervals and p-values hold at all looks together and wherever one stops: bets on the scores of prompts, or "
        "of clusters of them. A winrate is the mean of those against each of the others. Strengths, the position "
        "advantage and winrates at equal length are left out: their intervals would be those of a sample of a fixed "
        "size."
    )
    return (_stopped(table), said) if table.parameters.get("stop") else (said,)


def _stopped(table: WinrateTable) -> str:
    """After how much of the data a comparison was decided that stops then."""
    known, total, asked = [*table.decisions.values()], table.parameters["n"], _asked(table)
    after = [one.prompts for one in known if one.decided]
    told = " to ".join(format_count(prompts) for prompts in sorted({min(after), max(after)})) if after else ""
    decided = f"Decided after {told}" if len(known) == 1 else f"{_of_all(len(after), len(known), 'pair')} decided"
    if len(known) > 1 and after:
        decided += f", after {told}"
    if not after:
        decided = f"Not decided after {format_count(asked)}"
    rest = f"; the other {format_count(total - asked)} were not asked" if asked < total else ""
    return (
        f"{decided} of {format_count(total, 'prompt')} in a random order{rest}. That any pair of equal systems is ever "
        f"decided has a probability of {format_percent(1 - table.parameters['level'])} at most, over all looks and "
        "pairs." + (" The estimate of a pair that is decided leans away from ½; its interval holds." if after else "")
    )


def _numbers(system: SystemSummary, *names: str) -> dict[str, float | None]:
    return {name: plain(getattr(system, name)) for name in names}


def _interval(system: SystemSummary, name: str) -> dict[str, float | None]:
    interval: Interval | Missing = getattr(system, name)
    limits = (interval.estimate, interval.low, interval.high) if interval else (None,) * 3
    return dict(zip((name, f"{name}_low", f"{name}_high"), limits, strict=True))


def _systems_table(table: WinrateTable) -> TextTable:
    level, balanced = format_level(table.parameters["level"]), table.ranking.balanced
    columns = (
        Column(
            f"{'' if balanced else 'raw '}{table.rate_name} [{level}]",
            lambda one: format_score(one.winrate, one.unscored_bounds),
        ),
        *(() if balanced else (Column(f"against all [{level}]", "field_winrate"),)),
        Column("rank", lambda one: format_rank(one.rank, one.rank_low, one.rank_high)),
        Column("strength", "strength", optional=table.ranking.anytime),
        Column("at equal length", "length_controlled_winrate", optional=table.ranking.anytime),
        Column("contests", "contests"),
        Column("ties", "ties"),
        Column("no score", "num_unscored"),
        UNSCORED_VOTES,
        Column("length", lambda one: format_count(table.mean_lengths[one.system])),
    )
    title = (
        f"{table.rate_name.capitalize()}s on {table.criterion.name!r} by {', '.join(table.parameters['judges'])}: "
        f"{_of_all(_asked(table), table.parameters['n'], 'prompt')}, {format_count(len(table), 'contest')}"
    )
    return measures_table(
        title, ("system",), {(one.system,): one for one in table.ranked}, columns, _notes(table), kind="scores"
    )


def matrix_table(ranking: Ranking, leading: LeadingPairs = _NONE_LEAD, rate_name: str = "winrate") -> TextTable:
    """The winrate of the row's system against the column's, best first; its bounds where these lead."""
    systems = [entry.system for entry in ranking.systems]
    rates = {(pair.first, pair.second): pair.win_rate for pair in ranking.pairs}
    cells = {}
    for (first, second), rate in rates.items():
        cells[first, second] = format_estimate(rate)
        cells[second, first] = format_number(None if rate is None else 1 - rate.estimate)
    for (first, second), bounds in leading.items():
        cells[first, second] = format_bounds(bounds.low, bounds.high)
        cells[second, first] = format_bounds(1 - bounds.high, 1 - bounds.low)
    return TextTable(
        kind="matrix",
        title=f"{rate_name.capitalize()} of the row's system against the column's",
        headers=("", *systems),
        rows=tuple((row, *(cells.get((row, column), "") for column in systems)) for row in systems),
    )


def pairs_table(
    ranking: Ranking,
    leading: LeadingPairs = _NONE_LEAD,
    decided: Mapping[tuple[str, str], Decision] = _NOTHING,
    rate_name: str = "winrate",
) -> TextTable:
    """Every two systems: head to head, and the difference of their winrates over all contests, or of strengths.

    Where all holds at any time, there is head to head alone, and what is decided.
    """
    level = format_level(ranking.level)
    head = "Head to head" if rate_name == "winrate" else f"Head to head by {rate_name}"
    of_winrates = f"{head}, and the paired difference of {rate_name}s over all contests (p corrected by Holm)"
    of_strengths = f"{head}, and the difference of strengths (p corrected by Holm, and by Scheffé where results paired)"
    columns: tuple[Column, ...] = (
        Column("contests", "contests"),
        Column(
            f"head to head [{level}]", lambda pair: format_score(pair.win_rate, leading.get((pair.first, pair.second)))
        ),
        Column("p", lambda pair: format_adjusted(pair.win_rate_test)),
    )
    if ranking.anytime:
        columns += (Column("decided", lambda pair: _decided(decided.get((pair.first, pair.second)))),)
        return _table_of_pairs(f"{head} (p corrected by Holm; all holds at any time)", ranking, columns)
    columns += (
        Column(
            f"difference [{level}]" if ranking.balanced else f"difference of strengths [{level}]",
            lambda pair: format_interval(pair.difference, signed=True),
        ),
        Column("p", lambda pair: format_adjusted(pair.difference_test)),
    )
    return _table_of_pairs(of_winrates if ranking.balanced else of_strengths, ranking, columns)


def _table_of_pairs(title: str, ranking: Ranking, columns: Sequence[Column]) -> TextTable:
    pairs = {(f"{pair.first} – {pair.second}",): pair for pair in ranking.pairs}
    return measures_table(title, ("systems",), pairs, columns, kind="pairs")


def _decided(decision: Decision | None) -> str:
    """Whether a pair is decided, and on how much."""
    if decision is None:
        return MISSING
    return f"{'after' if decision.decided else 'not after'} {format_count(decision.prompts, 'prompt')}"


def format_rank(rank: int | Missing, low: int | Missing, high: int | Missing) -> str:
    """A rank with the ranks that the tests leave open, or a dash."""
    return f"{rank} [{low}, {high}]" if rank else MISSING


def format_adjusted(test: DifferenceTest | None) -> str:
    """The corrected p-value, or a dash where there was no test."""
    return MISSING if test is None else format_p_value(test.adjusted_p_value)


def ranking_notes(ranking: Ranking) -> tuple[str, ...]:
    """Position advantage, who cannot be told apart, circles, and why an estimate is missing where one is."""
    if ranking.anytime:
        unranked = _missing_notes("rank", {entry.system: entry.rank.reason for entry in ranking.systems})
        return _groups_note(ranking), *_cycles_note(ranking), *unranked
    notes = [_position_note(ranking.model.position_probability), _groups_note(ranking), *_cycles_note(ranking)]
    notes += _missing_notes("strength", {entry.system: entry.strength.reason for entry in ranking.systems})
    if ranking.length_controlled is not None and ranking.length_controlled.reason is not None:
        notes.append(f"No length-controlled winrates: {ranking.length_controlled.reason}.")
    if not ranking.balanced:
        notes += _unequal_opponents_notes(ranking)
    return tuple(notes)


def _unequal_opponents_notes(ranking: Ranking) -> list[str]:
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
    return [note, *_missing_notes("rank", {entry.system: entry.rank.reason for entry in ranking.systems})]


def _missing_notes(what: str, reasons: Mapping[str, str | None]) -> list[str]:
    """Which systems have none, for each reason."""
    lacking: dict[str, list[str]] = {}
    for system, reason in reasons.items():
        if reason is not None:
            lacking.setdefault(reason, []).append(system)
    return [f"No {what} for {', '.join(systems)}: {reason}." for reason, systems in lacking.items()]


def _position_note(position: Parameter) -> str:
    if position.interval is None:
        return f"Position advantage: no estimate, since {position.reason}."
    return (
        f"Position advantage: between equals the response shown first wins {format_share(position.interval)} of the "
        "decided contests (Davidson and Beaver's model)."
    )


def _groups_note(ranking: Ranking) -> str:
    alike = [group for group in ranking.groups if len(group) > 1]
    how = "Holm" if ranking.balanced else "Holm, strengths"
    if not alike:
        return f"All systems can be told apart at the {format_level(ranking.level)} level ({how})."
    listed = "; ".join(", ".join(group) for group in alike)
    return f"Cannot be told apart at the {format_level(ranking.level)} level ({how}): {listed}."


def _cycles_note(ranking: Ranking) -> list[str]:
    cycles = ranking.cycles
    if not cycles.triples:
        return []
    within = ""
    if cycles.prompt_rate is not None:
        within = f"; within prompts {format_share(cycles.prompt_rate)} of {format_count(cycles.prompt_triples)}"
    found = f"{format_count(cycles.cyclic)} of {format_count(cycles.triples)}"
    return [f"Preferences in a circle: {found} triples of systems{within}."]


def _notes(table: WinrateTable) -> tuple[str, ...]:
    notes = [
        *_anytime_notes(table),
        "Lengths are mean characters."
        if table.ranking.anytime
        else "Strengths are log-odds by Davidson's model, 0 on average; lengths are mean characters.",
        *ranking_notes(table.ranking),
        _order_note(table),
    ]
    controlled = table.ranking.length_controlled
    if controlled is not None and controlled.reason is None:
        notes.append(
            "At equal length: what the model of systems and lengths makes of them. It takes away the quality that goes "
            "with length too, so that a system whose responses are longer for saying more is held back."
        )
    if table.reduction != "win_rate":
        notes.append(_reduction_note(table.ranking))
    agreement = table.gold_agreement()
    if agreement is not None:
        notes.append(f"Agrees with the gold preferences in {format_share(agreement)} of the contests.")
    notes += [*_unscored_notes(table), *_unscored_bounds_notes(table)]
    notes += readings_note([table.summary.readings])
    notes += early_stop_note(table.parameters)
    return (*notes, *baseline_note(table.parameters["judges"]))


def _reduction_note(ranking: Ranking) -> str:
    """What weighs a win by its grade, and what counts every contest once."""
    if ranking.anytime:
        return "Everything here weighs a win by its grade, but for the counts of contests and ties."
    weighed, once = "Winrates, head to head", "strengths, the position advantage"
    if ranking.balanced:
        weighed += ", differences, ranks, groups and circles"
    else:
        weighed += " and circles"
        once += ", the ranks, groups and differences that are of strengths, winrates against all"
    controlled = ranking.length_controlled
    once += "" if controlled is None or controlled.reason is not None else ", winrates at equal length"
    return f"{weighed} weigh a win by its grade; {once} and the orders count every contest once."


def _order_note(table: WinrateTable) -> str:
    summary = table.summary
    position = summary.position
    if isinstance(position, Missing) or not summary.positional_bias:
        return "Orders: no contest was judged in both, so what position does to the verdicts is not known."
    note = f"Orders: the judge changes its mind in {format_share(summary.positional_bias)} of the contests"
    if position.p_value is not None:
        note += f"; of {format_count(position.n_inconsistent)} such changes of one judge the first place gains from "
        note += f"{format_share(position.first_shown_share)} ({state_p_value(position.p_value)})"
    if table.parameters["on_position_bias"] == "first":
        ranked = ("Winrates, ranks and tests take", "strengths come")
        if not table.ranking.balanced:
            ranked = ("Raw winrates take", "ranks, differences and strengths come")
        note += (
            f". {ranked[0]} the first order alone (on_position_bias='first'); {ranked[1]} from the votes in all "
            "orders, less what the position does"
        )
    return note + "."


def _unscored_notes(table: WinrateTable) -> list[str]:
    notes = [*unscored_note(table.unscored_counts)]
    if table.summary.num_unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in table.summary.unscored_contests.items())
        notes.append(f"Contests without a score: {reasons}.")
    bounds = "; ".join(
        f"{one.system} {format_range(one.winrate_if_unscored_0, one.winrate_if_unscored_1)}"
        for one in table.summary.systems
        if one.winrate_if_unscored_0 != one.winrate_if_unscored_1
    )
    if bounds:
        notes.append(f"Winrates if every unscored vote had been against the system, or for it: {bounds}.")
    return notes


def _unscored_bounds_notes(table: WinrateTable) -> tuple[str, ...]:
    """As beneath other scores; and what else rests on the scored votes alone."""
    said = unscored_bounds_note({one.system: one.unscored_bounds for one in table.summary.systems})
    if not said:
        return ()
    others = ["ranks", "groups", "tests", "strengths"]
    others += [] if table.ranking.balanced else ["winrates against all"]
    others += [] if table.ranking.length_controlled is None else ["winrates at equal length"]
    listed = f"{', '.join(others[:-1])} and {others[-1]}"
    return (*said, f"{listed.capitalize()} rest on the scored votes, and would change with the rest.")

"""How a table of winrates is written down: one row a system, the matrix, the pairs, and what must be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.contests import unread_pairs
from evenhand.numbers import (
    format_count,
    format_interval,
    format_level,
    format_p_value,
    format_range,
    format_score,
    format_share,
)
from evenhand.reports import format_rank, matrix_table, pairs_table, ranking_notes
from evenhand.results.render import TextTable
from evenhand.scoring import readings_note
from evenhand.tables.notes import baseline_note, early_stop_note, unread_note, unscored_votes_note

if TYPE_CHECKING:
    from evenhand.statistics import Interval
    from evenhand.tables.winrate_table import WinrateTable

MOST_SYSTEMS_IN_A_MATRIX = 10
"""With more, a matrix is wider than a page: ``WinrateTable.matrix`` and ``ranking.pairs`` still hold it."""


def winrate_tables(table: WinrateTable) -> tuple[TextTable, ...]:
    """The systems; and, for a field that fits on a page, the matrix and the pairs."""
    systems = _systems_table(table)
    if len(table.systems) > MOST_SYSTEMS_IN_A_MATRIX:
        return (systems,)
    contests = [entry.contest for entry in table.contests]
    unread = unread_pairs(contests, table.ranking.pairs, level=table.ranking.level)
    return systems, matrix_table(table.ranking, unread), pairs_table(table.ranking, unread)


def system_record(table: WinrateTable, system: str) -> dict[str, Any]:
    """One system's numbers under flat names; what does not exist is None."""
    entry = table.entry(system)
    summary = table.summary.systems[table.systems.index(system)]
    return {
        "system": system,
        **_flat("winrate", table.winrate(system)),
        "ranked_by": "winrate" if table.ranking.balanced else "strength",
        **_flat("field_winrate", entry.field_win_rate),
        "winrate_if_unscored_0": summary.winrate_if_unscored_0,
        "winrate_if_unscored_1": summary.winrate_if_unscored_1,
        "bounds_lead": summary.unread is not None,
        "rank": entry.rank.rank,
        "rank_low": entry.rank.low,
        "rank_high": entry.rank.high,
        "expected_rank": entry.rank.expected,
        "rank_missing_reason": entry.rank.reason,
        **_flat("strength", entry.strength.log_strength),
        "strength_missing_reason": entry.strength.reason,
        **_flat("length_controlled_winrate", entry.length_controlled_win_rate),
        "contests": summary.contests,
        "ties": summary.ties,
        "unscored": summary.unscored,
        "mean_length": table.mean_lengths[system],
    }


def _flat(name: str, interval: Interval | None) -> dict[str, float | None]:
    limits = (None, None, None) if interval is None else (interval.estimate, interval.low, interval.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), limits, strict=True))


def _systems_table(table: WinrateTable) -> TextTable:
    level, balanced = format_level(table.parameters["level"]), table.ranking.balanced
    return TextTable(
        title=(
            f"Winrates on {table.criterion.name!r} by {', '.join(table.parameters['judges'])}: "
            f"{format_count(table.parameters['n'], 'prompt')}, {format_count(len(table.contests), 'contest')}"
        ),
        headers=(
            "system",
            *((f"winrate [{level}]",) if balanced else (f"raw winrate [{level}]", f"against all [{level}]")),
            "rank",
            "strength",
            "at equal length",
            "contests",
            "ties",
            "unscored",
            "length",
        ),
        rows=tuple(_system_row(table, entry.system) for entry in table.ranking.systems),
        notes=_notes(table),
    )


def _system_row(table: WinrateTable, system: str) -> tuple[str, ...]:
    entry = table.entry(system)
    summary = table.summary.systems[table.systems.index(system)]
    return (
        system,
        format_score(table.winrate(system), summary.unread),
        *(() if table.ranking.balanced else (format_interval(entry.field_win_rate),)),
        format_rank(entry.rank),
        format_interval(entry.strength.log_strength),
        format_interval(entry.length_controlled_win_rate),
        format_count(summary.contests),
        format_count(summary.ties),
        format_count(summary.unscored),
        format_count(table.mean_lengths[system]),
    )


def _notes(table: WinrateTable) -> tuple[str, ...]:
    notes = [
        "Strengths are log-odds by Davidson's model, 0 on average; lengths are mean characters.",
        *ranking_notes(table.ranking),
        *_order_notes(table),
    ]
    controlled = table.ranking.length_controlled
    if controlled is not None and controlled.reason is None:
        notes.append(
            "At equal length: what the model of systems and lengths makes of them. It takes away the quality that goes "
            "with length too, so that a system whose responses are longer for saying more is held back."
        )
    if table.summary.reduction != "win_rate":
        notes.append("Winrates weigh a win by its grade; ranks, strengths and tests count every contest once.")
    agreement = table.gold_agreement()
    if agreement is not None:
        notes.append(f"Agrees with the gold preferences in {format_share(agreement)} of the contests.")
    notes += [*_unscored_notes(table), *unscored_votes_note(table.summary.unscored_votes), *_unread_notes(table)]
    notes += readings_note([table.summary.readings])
    notes += early_stop_note(table.parameters)
    return (*notes, *baseline_note(table.parameters["judges"]))


def _order_notes(table: WinrateTable) -> list[str]:
    position = table.summary.position
    if table.summary.positional_bias is None or position is None:
        return ["Orders: no contest was judged in both, so what position does to the verdicts is not known."]
    note = f"Orders: the judge changes its mind in {format_share(table.summary.positional_bias)} of the contests"
    if position.p_value is not None:
        note += f"; of {format_count(position.n_stuck)} in which it keeps to one place, that is the first in "
        note += f"{format_share(position.first_shown_preference)} (exact p {_equals(format_p_value(position.p_value))})"
    if table.parameters["on_position_bias"] == "first":
        ranked = ("Winrates, ranks and tests take", "strengths come")
        if not table.ranking.balanced:
            ranked = ("Raw winrates take", "ranks, differences and strengths come")
        note += (
            f". {ranked[0]} the first order alone (on_position_bias='first'); {ranked[1]} from the votes in all "
            "orders, less what the position does"
        )
    return [note + "."]


def _equals(p_value: str) -> str:
    return p_value if p_value[0] in "<>" else f"= {p_value}"


def _unscored_notes(table: WinrateTable) -> list[str]:
    notes = []
    if table.summary.unscored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in table.summary.unscored_contests.items())
        notes.append(f"Unscored contests: {reasons}.")
    bounds = "; ".join(
        f"{one.system} {format_range(one.winrate_if_unscored_0, one.winrate_if_unscored_1)}"
        for one in table.summary.systems
        if one.winrate_if_unscored_0 != one.winrate_if_unscored_1
    )
    if bounds:
        notes.append(f"Winrates if every unscored vote had been against the system, or for it: {bounds}.")
    return notes


def _unread_notes(table: WinrateTable) -> tuple[str, ...]:
    """As beneath other scores; and what else rests on what was read alone."""
    said = unread_note({one.system: one.unread for one in table.summary.systems})
    if not said:
        return ()
    others = ["ranks", "groups", "tests", "strengths"]
    others += [] if table.ranking.balanced else ["winrates against all"]
    others += [] if table.ranking.length_controlled is None else ["winrates at equal length"]
    listed = f"{', '.join(others[:-1])} and {others[-1]}"
    return (*said, f"{listed.capitalize()} rest on what was read, and would change with the rest.")

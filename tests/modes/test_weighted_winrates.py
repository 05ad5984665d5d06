"""Every number of a comparison follows the reduction that it is labelled with."""

import pytest

import evenhand
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.question import comparison_criterion

GRADED = comparison_criterion("better", "Which response is better?", graded=True)
QUIET = {"progress": False, "journal": None}
N = 40


def quality(question, index):
    """System s0 wins often and barely, s1 seldom and by far."""
    system, row = question.responses[index].split()
    near = {"s0": 1.2, "s1": 0.0, "s2": 0.5}
    return near[system] if int(row) % 3 else {"s0": 0.0, "s1": 8.0, "s2": 2.0}[system]


def rows(systems):
    return [{system: f"{system} {row}" for system in systems} for row in range(N)]


def table(systems=("s0", "s1", "s2"), **options):
    judge = SimulatedEngine(quality=quality, seed=3)
    return evenhand.winrates(rows(systems), GRADED, judge, response_fields=systems, scale="graded", **QUIET, **options)


def battles(contests, system, other=None):
    """Battles won and fought by a system, as the option is documented: s battles for a grade s, two for a tie."""
    won, fought = 0.0, 0.0
    for contest in contests:
        met = {contest.first, contest.second}
        if system in met and (other is None or other in met) and contest.grade is not None:
            grade = contest.grade_of(system)
            won += max(grade, 0.0) if grade else 1.0
            fought += abs(grade) if grade else 2.0
    return won / fought


def test_every_rate_is_of_the_battles():
    """Winrates, ranks, matrix, head to head, differences, records and findings are of the battles."""
    found = table(reduction="weighted_win_rate")
    contests = found.contests
    rates = {system: battles(contests, system) for system in found.systems}
    placed = sorted(rates, key=rates.get, reverse=True)
    assert [one.system for one in found.ranked] == placed
    assert [one.rank for one in found.ranked] == list(range(1, len(placed) + 1))
    named = {(each.name, each.of): each.value for each in found.findings()}
    for system in placed:
        assert found.winrate(system).estimate == pytest.approx(rates[system])
        assert named["winrate", (system,)].estimate == pytest.approx(rates[system])
    for pair in found.ranking.pairs:
        head = battles(contests, pair.first, pair.second)
        assert pair.win_rate.estimate == pytest.approx(head)
        assert pair.contests == N
        assert found.head_to_head[pair.first, pair.second].estimate == pytest.approx(head)
        assert found.head_to_head[pair.second, pair.first].estimate == pytest.approx(1 - head)
        assert named["winrate", (pair.first, pair.second)].estimate == pytest.approx(head)
        assert pair.difference.estimate == pytest.approx(rates[pair.first] - rates[pair.second])


def test_the_title_says_which_winrates_pairs_show_where_not_all_meet():
    (pairs,) = table(design="sample:1", reduction="weighted_win_rate").tables("pairs")
    assert pairs.title.startswith("Head to head by weighted winrate, and the difference of strengths")

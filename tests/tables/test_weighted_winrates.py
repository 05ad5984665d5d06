"""Every number of a comparison follows the reduction that it is labelled with."""

import math

import numpy as np
import pytest

import evenhand
from evenhand.engines.simulated import SimulatedEngine
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import PairwiseJudge
from evenhand.modes.winrates import decisions
from evenhand.question import comparison_criterion
from evenhand.statistics.contests import Contests
from evenhand.statistics.ranking import rank_systems
from tests.modes.contests_by_hand import contest as contest_of
from tests.support.recipes import evaluated

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


@pytest.fixture(scope="module")
def weighted():
    return table(reduction="weighted_win_rate")


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


def contests_of(found):
    return list(found.contests)


def check_rates(found):
    """Winrates, ranks, matrix, head to head, differences, records and findings are of the battles."""
    contests = contests_of(found)
    rates = {system: battles(contests, system) for system in found.systems}
    placed = sorted(rates, key=rates.get, reverse=True)
    assert [one.system for one in found.ranked] == placed
    assert [one.rank for one in found.ranked] == list(range(1, len(placed) + 1))
    assert [record.win_rate.estimate for record in (found.entry(each).record for each in placed)] == pytest.approx(
        [rates[each] for each in placed]
    )
    named = {(each.name, each.of): each.value for each in found.findings()}
    for system in placed:
        assert found.winrate(system).estimate == pytest.approx(rates[system])
        assert named["winrate", (system,)].estimate == pytest.approx(rates[system])
    for pair in found.ranking.pairs:
        head = battles(contests, pair.first, pair.second)
        assert pair.win_rate.estimate == pytest.approx(head)
        assert pair.contests == N
        assert found.matrix.loc[pair.first, pair.second] == pytest.approx(head)
        assert found.matrix.loc[pair.second, pair.first] == pytest.approx(1 - head)
        assert named["winrate", (pair.first, pair.second)].estimate == pytest.approx(head)
        assert pair.difference.estimate == pytest.approx(rates[pair.first] - rates[pair.second])
    frame = found.ranking_to_pandas().set_index("system")
    assert frame.winrate.to_dict() == pytest.approx(rates)
    assert set(frame.ranked_by) == {"weighted winrate"}


def test_the_two_reductions_disagree_here(weighted):
    plain = table()
    assert plain.winrate("s0").estimate > 0.5 > weighted.winrate("s0").estimate
    assert (plain.ranked[0].system, weighted.ranked[0].system) == ("s0", "s1")


def test_every_rate_is_of_the_battles(weighted):
    check_rates(weighted)


def test_a_saved_opened_and_recorded_table_has_the_same_numbers(weighted, tmp_path):
    for name in ("table.parquet", "table.jsonl"):
        weighted.save(tmp_path / name)
        opened = evenhand.open(tmp_path / name)
        check_rates(opened)
        assert str(opened) == str(weighted)
    recorded = evenhand.winrates(
        votes=weighted.to_rows(), criteria=GRADED, systems=list(weighted.systems), reduction="weighted_win_rate"
    )
    check_rates(recorded)
    assert recorded.ranking.pairs == weighted.ranking.pairs
    check_rates(weighted.rescore(on_position_bias="first"))


def test_intervals_and_tests_are_those_of_the_battles_as_contests():
    """For two systems a grade s is 2 s contests of the prompt with one winner, and a tie four ties."""
    found = table(("s0", "s1"), reduction="weighted_win_rate")
    grades = np.array([contest.grade for contest in contests_of(found)])
    times = np.where(grades == 0, 4, 2 * np.abs(grades))
    assert np.array_equal(times, np.rint(times))
    times = times.astype(int)
    score, prompt = np.repeat((np.sign(grades) + 1) / 2, times), np.repeat(np.arange(N), times)
    size = len(score)
    fought = Contests.of(["s0", "s1"], first=[0] * size, second=[1] * size, score=score, cluster=prompt)
    oracle = rank_systems(fought, resamples=found.parameters["resamples"], seed=found.parameters["seed"])
    (expected,), (pair,) = oracle.pairs, found.ranking.pairs
    for name in ("win_rate", "difference"):
        own, theirs = getattr(pair, name), getattr(expected, name)
        assert (own.estimate, own.low, own.high) == pytest.approx((theirs.estimate, theirs.low, theirs.high))
    assert pair.win_rate_test.p_value == pytest.approx(expected.win_rate_test.p_value)
    assert pair.difference_test.p_value == pytest.approx(expected.difference_test.p_value)
    for system in ("s0", "s1"):
        own = found.entry(system)
        theirs = next(each for each in oracle.systems if each.system == system)
        assert (own.rank.rank, own.rank.low, own.rank.high) == (theirs.rank.rank, theirs.rank.low, theirs.rank.high)
        assert own.rank.expected == pytest.approx(theirs.rank.expected)
        assert found.winrate(system).low == pytest.approx(theirs.record.win_rate.low)


def test_what_weighs_wins_and_what_does_not_is_said(weighted, tmp_path):
    printed = " ".join(str(weighted).split())
    for said in (
        "Weighted winrates on 'better'",
        "weighted winrate",
        "Weighted winrate of the row's system against the column's",
        "Head to head by weighted winrate, and the paired difference of weighted winrates",
        "Winrates, head to head, differences, ranks, groups and circles weigh a win by its grade; strengths",
    ):
        assert said in printed
    assert "Weighted" not in str(table())
    unequal = " ".join(str(table(reduction="weighted_win_rate", design="baseline:s0")).split())
    assert "Winrates, head to head and circles weigh a win by its grade" in unequal
    assert "ranks, groups and differences that are of strengths" in unequal
    path = tmp_path / "page.html"
    weighted.to_html(path)
    assert "Weighted winrates" in path.read_text(encoding="utf-8")
    note = "Every contest counts once here"
    assert note in str(weighted.compare(table(reduction="weighted_win_rate")))
    assert note in str(weighted.by([str(row % 2) for row in range(N)]))
    labels = [
        {"instance": row, "first": pair.first, "second": pair.second, "label": pair.first}
        for row in range(0, N, 2)
        for pair in weighted.ranking.pairs
    ]
    assert note in str(weighted.correct(labels, design="random"))
    assert note not in str(table().compare(table()))


def test_what_is_decided_is_the_weighted_winrate():
    """Two narrow wins for each clear loss: as many battles are lost as won, and most contests are won."""
    held = [contest_of(0.75 if row % 3 else 0.0, instance=row, criterion=GRADED) for row in range(300)]
    (plain,), (weighted,) = (
        decisions(held, 0.05, reduction=reduction).values() for reduction in ("win_rate", "weighted_win_rate")
    )
    assert plain.decided
    assert not weighted.decided


def test_a_recipe_has_the_numbers_of_the_table(weighted):
    register()
    metric = PairwiseJudge(
        inference_engine="engines.evenhand.simulated[seed=3]",
        criteria="criteria.evenhand.pairwise.overall_quality",
        scale="graded",
        reduction="weighted_win_rate",
        **QUIET,
    )
    results = evaluated(metric, [{"question": str(row)} for row in range(N)], rows(weighted.systems))
    scores, found = results[0]["score"]["global"], evenhand.from_results(results)
    assert found.parameters["reduction"] == "weighted_win_rate"
    contests = contests_of(found)
    for system in found.systems:
        assert scores[f"{system}_winrate"] == pytest.approx(battles(contests, system))
        assert scores[f"{system}_rank"] == found.system(system).rank
        for row, result in enumerate(results):
            own = [each for each in contests if each.instance == row]
            if not math.isnan(result["score"]["instance"][f"{system}_winrate"]):
                assert result["score"]["instance"][f"{system}_winrate"] == pytest.approx(battles(own, system))

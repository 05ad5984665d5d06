import csv
import gzip
import json
from collections import defaultdict

import numpy as np
import pytest

from evenhand.statistics.contests import Contests, win_rate_intervals
from evenhand.statistics.ranking import mean_ranks, rank_systems
from tests.support.shared import shared_path


def ladder_to_the_baseline(*won, prompts=12):
    """Systems 1, 2, … against the baseline 0, each with so many wins of the prompts, spread evenly."""
    first, second, score, cluster = [], [], [], []
    for system, wins in enumerate(won, start=1):
        taken = np.zeros(prompts)
        taken[(np.arange(wins) * prompts) // max(wins, 1)] = 1
        first += [system] * prompts
        second += [0] * prompts
        score += taken.tolist()
        cluster += range(prompts)
    names = ["baseline", *(f"s{system}" for system in range(1, len(won) + 1))]
    return Contests.of(names, first=first, second=second, score=score, cluster=cluster)


def test_who_beats_the_baseline_stands_above_it_though_its_win_rate_is_lower():
    # the baseline's win rate is (4 + 10 + 11 + 10) / 48 = 0.73, the best system's 8 / 12 = 0.67
    ranking = rank_systems(ladder_to_the_baseline(8, 2, 1, 2))
    found = {entry.system: entry for entry in ranking.systems}
    assert found["baseline"].winrate.estimate > found["s1"].winrate.estimate
    assert [entry.system for entry in ranking.systems][:2] == ["s1", "baseline"]
    assert [found[name].rank for name in ("s1", "baseline", "s2", "s4", "s3")] == [1, 2, 3, 3, 5]
    # against the baseline 2 to 1, against s2 and s4 (odds 5) 10 to 1, against s3 (odds 11) 22 to 1
    expected = (2 / 3 + 10 / 11 + 10 / 11 + 22 / 23) / 4
    assert found["s1"].field_winrate.estimate == pytest.approx(expected, abs=1e-6)
    assert found["s1"].field_winrate.low < expected < found["s1"].field_winrate.high
    difference = next(pair.difference for pair in ranking.pairs if (pair.first, pair.second) == ("baseline", "s1"))
    assert difference.estimate == pytest.approx(-np.log(2), abs=1e-6)
    assert difference.method == "cluster_sandwich_t"


def test_ranks_groups_and_tests_of_strengths_agree():
    for seed in range(12):
        generator = np.random.default_rng(seed)
        wins = np.sort(generator.integers(1, 39, size=6))
        ranking = rank_systems(ladder_to_the_baseline(*wins, prompts=40))
        found = {entry.system: entry for entry in ranking.systems}
        above = dict.fromkeys(found, 0)
        below = dict.fromkeys(found, 0)
        for pair in ranking.pairs:
            excludes = pair.difference_test.adjusted_p_value < 0.05
            alone = pair.difference.low > 0 or pair.difference.high < 0  # of this pair by itself
            assert alone == (pair.difference_test.p_value < 0.05)
            assert alone or not excludes
            together = any({pair.first, pair.second} <= set(group) for group in ranking.groups)
            assert together == (not excludes)
            if excludes:
                better, worse = (pair.first, pair.second) if pair.difference.estimate > 0 else (pair.second, pair.first)
                assert found[better].rank < found[worse].rank
                above[worse] += 1
                below[better] += 1
        for name, entry in found.items():
            assert (entry.rank_low, entry.rank_high) == (1 + above[name], len(found) - below[name])
            assert entry.rank_low <= entry.rank <= entry.rank_high


def test_a_system_that_won_every_contest_is_first_and_its_strength_stays_without_a_number():
    ranking = rank_systems(ladder_to_the_baseline(30, 15, 5, prompts=30))
    best = ranking.systems[0]
    assert (best.system, best.rank) == ("s1", 1)
    assert best.strength.reason == "won every contest: no finite strength"
    assert best.rank_high == 1  # 30 of 30 is more than luck


@pytest.fixture(scope="module")
def position_bias_logs():
    """judge -> model -> (question, score of the model when shown second, when shown first), against vicuna-13b."""
    verdicts = {}
    path = shared_path("data/posbias_mtbench_raw.jsonl.gz")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            verdicts[row["judge"], row["q"], row["a"], row["b"]] = row["parsed"]
    score = {"A": 1.0, "B": 0.0, "C": 0.5}
    found = defaultdict(lambda: defaultdict(list))
    for (judge, question, first, second), verdict in verdicts.items():
        if first == "vicuna-13b-v1.3":
            swapped = score.get(verdicts[judge, question, second, first], np.nan)
            found[judge][second].append((int(question), 1 - score.get(verdict, np.nan), swapped))
    return found


def test_published_win_rates_of_three_judges_recompute(position_bias_logs):
    """Their rule: a verdict counts unless its swapped partner contradicts it, a lone one too; a row a verdict."""
    path = shared_path("data/posbias_published_winrates.csv")
    compared = 0
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["bench"] != "MTBench" or row["judge"] not in position_bias_logs:
                continue
            rows = position_bias_logs[row["judge"]][row["model"]]
            kept = [(q, s) for q, one, other in rows if not abs(one - other) > 0 for s in (one, other)]
            contests = Contests.of(
                [row["model"], "vicuna-13b-v1.3"],
                first=[0] * len(kept),
                second=[1] * len(kept),
                score=[score for _, score in kept],
                cluster=[question for question, _ in kept],
            )
            theirs = float(row["win_plus_halfdraw_on_consistent"])
            assert win_rate_intervals(*contests.meetings.by_system)[0].estimate == pytest.approx(theirs, abs=5.001e-5)
            compared += 1
    assert compared == 90


def test_equals_share_the_rank():
    # on each of nine prompts a and b draw, and both beat c
    first, second, prompts = [0, 0, 1] * 9, [1, 2, 2] * 9, np.repeat(np.arange(9), 3)
    contests = Contests.of("abc", first=first, second=second, score=[0.5, 1, 1] * 9, cluster=prompts)
    ranks = rank_systems(contests).systems
    assert [(one.system, one.rank, one.rank_low, one.rank_high) for one in ranks] == [
        ("a", 1, 1, 2),
        ("b", 1, 1, 2),
        ("c", 3, 3, 3),
    ]
    assert [one.mean_rank.estimate for one in ranks] == [1.5, 1.5, 3.0]


def test_mean_ranks_leave_out_prompts_that_are_not_complete_and_systems_that_are_never_scored():
    # c has no scored contest on the last prompt; d has none at all and ranks nowhere
    wins = [[2, 1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0]]
    meetings = [[2, 2, 2, 0], [2, 2, 2, 0], [1, 1, 0, 0]]
    # ranks 1, 2, 3 and then thrice (1 + 2 + 3) / 3
    *ranked, never = mean_ranks(wins, meetings)
    assert [interval.estimate for interval in ranked] == [1.5, 2.0, 2.5]
    assert never is None
    assert all(1 <= interval.low <= interval.high <= 3 for interval in ranked)
    assert mean_ranks(wins[2:], [[1, 1, 0, 0]])[:2] == mean_ranks([[0, 1]], [[1, 1]])  # two ranked systems
    assert mean_ranks([[1, 0, 0], [1, 0, 0]], [[1, 1, 0], [1, 0, 1]]) == (None,) * 3
    assert mean_ranks([[1.0]], [[1]]) == (None,)

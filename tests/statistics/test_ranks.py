import numpy as np
import pytest

from evenhand.statistics.contests import Contests
from evenhand.statistics.ranks import mean_ranks, rank_by_win_rate, steps


def round_robin(*, prompts, scores):
    """Three systems; ``scores`` of a against b, a against c, b against c on every prompt."""
    return Contests.of(
        "abc",
        first=[0, 0, 1] * prompts,
        second=[1, 2, 2] * prompts,
        score=list(scores) * prompts,
        cluster=np.repeat(np.arange(prompts), 3),
    )


def test_a_clear_order():
    ranks = rank_by_win_rate(round_robin(prompts=9, scores=[1, 1, 1]), resamples=50).ranks
    assert [(rank.rank, rank.low, rank.high, rank.expected, rank.first) for rank in ranks] == [
        (1, 1, 1, 1.0, 1.0),
        (2, 2, 2, 2.0, 0.0),
        (3, 3, 3, 3.0, 0.0),
    ]
    assert [rank.mean_rank.estimate for rank in ranks] == [1, 2, 3]


def test_few_prompts_leave_every_rank_open():
    # three prompts: the smallest p-value that three signs can give is 2/8
    ranks = rank_by_win_rate(round_robin(prompts=3, scores=[1, 1, 1]), resamples=50).ranks
    assert [(rank.rank, rank.low, rank.high) for rank in ranks] == [(1, 1, 3), (2, 1, 3), (3, 1, 3)]


def test_equals_share_the_rank():
    ranks = rank_by_win_rate(round_robin(prompts=9, scores=[0.5, 1, 1]), resamples=50).ranks
    assert [rank.rank for rank in ranks] == [1, 1, 3]
    assert [(rank.low, rank.high) for rank in ranks] == [(1, 2), (1, 2), (3, 3)]
    assert [rank.expected for rank in ranks] == [1.5, 1.5, 3.0]
    assert [rank.first for rank in ranks] == [1.0, 1.0, 0.0]
    assert [rank.mean_rank.estimate for rank in ranks] == [1.5, 1.5, 3.0]


def test_the_resampled_ranks_are_those_of_drawing_prompts_one_by_one():
    generator = np.random.default_rng(8)
    contests = Contests.of(
        "abc",
        first=[0, 0, 1] * 12,
        second=[1, 2, 2] * 12,
        score=generator.choice([0, 0.5, 1.0], 36),
        cluster=np.repeat(np.arange(12), 3),
    )
    first = []
    for _ in range(2000):
        drawn = generator.integers(12, size=12)
        score = np.concatenate([contests.score[contests.cluster == prompt] for prompt in drawn]).reshape(-1, 3)
        ab, ac, bc = score.sum(axis=0)
        totals = np.array([ab + ac, 12 - ab + bc, 24 - ac - bc])
        first.append(totals == totals.max())
    by_hand = np.mean(first, axis=0)
    ranks = rank_by_win_rate(contests, resamples=2000, seed=1).ranks
    np.testing.assert_allclose([rank.first for rank in ranks], by_hand, atol=0.045)  # four errors of a share of 2000


def test_same_seed_same_ranks():
    generator = np.random.default_rng(1)
    contests = Contests.of("ab", first=[0] * 30, second=[1] * 30, score=generator.choice([0, 1.0], 30))
    assert rank_by_win_rate(contests, seed=3) == rank_by_win_rate(contests, seed=3)
    assert rank_by_win_rate(contests, seed=3).ranks[0].first != rank_by_win_rate(contests, seed=4).ranks[0].first


def test_a_system_without_a_score_has_no_rank_and_takes_none():
    contests = Contests.of("abc", first=[0, 0, 0], second=[1, 1, 2], score=[1, 1, np.nan])
    ranks = rank_by_win_rate(contests, resamples=20).ranks
    assert (ranks[2].rank, ranks[2].low, ranks[2].high) == (None, None, None)
    assert [rank.high for rank in ranks[:2]] == [2, 2]


def test_resamples_without_a_system_are_counted():
    # c has one contest on one prompt of ten: missing from a resample with probability (9/10)^10 = 0.349
    contests = Contests.of("abc", first=[0] * 10 + [0], second=[1] * 10 + [2], score=[1] * 11, cluster=[*range(10), 0])
    ranks = rank_by_win_rate(contests, resamples=1000)
    assert ranks.undefined_resamples / 1000 == pytest.approx(0.349, abs=0.06)


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


def test_a_ranking_has_the_same_mean_ranks():
    generator = np.random.default_rng(5)
    contests = Contests.of(
        "abc",
        first=[0, 0, 1] * 12,
        second=[1, 2, 2] * 12,
        score=generator.choice([0, 0.5, 1.0, np.nan], 36),
        cluster=np.repeat(np.arange(12), 3),
    )
    complete = ~np.isnan(contests.score.reshape(12, 3)).any(axis=1)
    expected = mean_ranks(contests.wins.sum(axis=2), contests.meetings.sum(axis=2), balanced=complete)
    assert tuple(rank.mean_rank for rank in rank_by_win_rate(contests, resamples=10).ranks) == expected


def test_rates_that_differ_in_the_last_bit_share_a_rank():
    # k/8192 has 13 decimals and ends in 5: rounding to 12 would part two that lie a bit to either side of it
    below, above = np.nextafter(1 / 8192, 0), np.nextafter(1 / 8192, 1)
    assert steps(np.array([below, above, 1 / 8192, 0.2])).tolist() == [0, 0, 0, 1]
    wins = [[below, above, 1 / 8192]]
    assert [interval.estimate for interval in mean_ranks(wins, np.ones((1, 3)))] == [2, 2, 2]

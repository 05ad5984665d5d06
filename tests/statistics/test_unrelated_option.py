import numpy as np
import pytest

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import grade_score, grade_score_chance, unrelated_option


def test_by_hand():
    # With option 2 from elsewhere: 0, 0, 2 stand at the places 0, 2, 0 of 012, 120, 201: L = 0.91830 / 1.58496,
    # C = 2/3, G = 0.61997; 1,1,none is G = 1 on two answers; 2,2,2 is G = 1; no answer at all. Without it: 1, 0, 1, 1.
    with_option = [[0, 0, 2], [1, 1, -1], [2, 2, 2], [-1, -1, -1]]
    without = [[0, 0], [0, 1], [1, 1], [0, 0]]
    found = unrelated_option(with_option, without, [2, 2, 2, 0])
    assert (found.n_chosen, found.n_paired) == (4, 3)
    assert found.chosen.estimate == pytest.approx(4 / 8)
    assert found.ever_chosen.estimate == pytest.approx(2 / 3)
    assert found.difference.estimate == pytest.approx((0.61997 - 1 + 1 - 0 + 1 - 1) / 3, abs=1e-5)
    chance = grade_score_chance(3, 3).expected
    # Two answers of three: E = 1/3 + 1/3 · 2/3 = 5/9, but corrected 1 is 1; two of two: E = 1/2, so 0 is -1.
    corrected = [(0.61997 - chance) / (1 - chance) - 1, 1 + 1, 1 - 1]
    assert found.corrected_difference.estimate == pytest.approx(np.mean(corrected), abs=1e-4)
    assert found.with_option == grade_score(with_option)
    assert found.without_option == grade_score(without)


def test_a_random_judge_takes_it_as_often_as_any_and_its_corrected_scores_do_not_differ():
    generator = np.random.default_rng(7)
    found = unrelated_option(
        generator.integers(4, size=(1500, 4)),
        generator.integers(3, size=(1500, 3)),
        generator.integers(4, size=1500),
        level=0.99,
    )
    assert found.chosen.low < 0.25 < found.chosen.high
    assert found.corrected_difference.low < 0 < found.corrected_difference.high
    expected = grade_score_chance(4, 4).expected - grade_score_chance(3, 3).expected
    assert found.difference.low < expected < found.difference.high


def test_questions_of_several_sizes_and_orders_of_their_own():
    found = unrelated_option(
        [[1, 1, 1], [0, 3, 0, 0]],
        [[0, 0], [0, 0, 0]],
        [0, 3],
        orders_with=[[[2, 0, 1], [0, 1, 2], [1, 2, 0]], [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]],
    )
    assert found.n_chosen == 1
    assert [size.n_options for size in found.with_option.sizes] == [3, 4]
    # 0 at 0, 3 at 2, 0 at 2, 0 at 1: H = 1.5 of 2 bits, C = 3/4.
    assert found.difference.estimate == pytest.approx((0 + 0.75 - 1) / 2)


@pytest.mark.slow
def test_the_intervals_cover_the_truth():
    generator = np.random.default_rng(11)

    def choices(questions, n):
        favourite = generator.integers(n, size=(questions, 1))
        return np.where(generator.random((questions, n)) < 0.6, favourite, generator.integers(n, size=(questions, n)))

    large_with, large_without = (grade_score(choices(60_000, n), shift_draws=1) for n in (4, 3))
    truth = large_with.grade_score.estimate - large_without.grade_score.estimate
    corrected_truth = large_with.chance_corrected.estimate - large_without.chance_corrected.estimate
    # The favourite is the unrelated one in a quarter, and of the rest a quarter is.
    held, repeats = [0, 0, 0], 200
    for _ in range(repeats):
        found = unrelated_option(choices(50, 4), choices(50, 3), generator.integers(4, size=50))
        for index, (interval, true) in enumerate(
            ((found.chosen, 0.25), (found.difference, truth), (found.corrected_difference, corrected_truth))
        ):
            held[index] += interval.low <= true <= interval.high
    # The standard error of a rate of 0.95 over 200 is 0.015.
    assert min(held) >= 0.91 * repeats
    assert max(held) <= 0.99 * repeats


def test_few_differences_are_not_taken_for_the_whole_truth():
    # 29 questions of which one differs, by a whole point: a t interval would end at 1/29 + 2.05/29 = 0.105. If 14 %
    # differed, one or none of 29 would with probability 0.86^29 + 29 · 0.14 · 0.86^28 = 0.07: that must be inside.
    few = unrelated_option([[1, 1, 1]] * 29, [[0, 0]] * 28 + [[0, 1]], [2] * 29).difference
    many = unrelated_option([[1, 1, 1]] * 29, [[0, 0]] * 18 + [[0, 1]] * 11, [2] * 29).difference
    assert (few.method, many.method) == ("bounded_dirichlet", "cluster_t")
    assert few.estimate == pytest.approx(1 / 29)
    assert few.high > 0.14
    same = unrelated_option([[1, 1, 1]] * 29, [[0, 0]] * 29, [2] * 29).difference
    assert same.low < 0 < same.high


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unrelated_option([[0, 0, 0]], [[0, 0], [1, 1]], [2]), "1 questions, without_option 2"),
        (lambda: unrelated_option([[0, 0, 0]], [[0, 0]], [2, 1]), "unrelated the shape"),
        (lambda: unrelated_option([[0, 0, 0]], [[0, 0, 0]], [2]), "one more with it"),
        (lambda: unrelated_option([[0, 0, 0]], [[0, 0]], [3]), "which is the number 3"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_an_answer_it_is_undefined():
    with pytest.raises(EstimationError):
        unrelated_option([[-1, -1, -1]], [[0, 0]], [2])

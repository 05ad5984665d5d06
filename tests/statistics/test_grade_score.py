import itertools
import math
from collections import Counter
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import grade_score_chance, uniformity
from evenhand.statistics.consistency import NOT_ASKED, UNSCORED
from evenhand.statistics.grade_score import grade_score as of_one_size
from tests.statistics.grade_score_of_arrays import grade_score
from tests.statistics.unrelated_option import unrelated_option

FOUR = np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])


def rotations(n):
    return [[(rotation + place) % n for place in range(n)] for rotation in range(n)]


def score_of_question(selected, orders):
    """The definition, one question at a time and in words of the standard library; -1 is no answer."""
    answered = [(choice, order) for choice, order in zip(selected, orders, strict=True) if choice >= 0]
    if len(answered) < 2:
        return None
    places = Counter(list(order).index(choice) for choice, order in answered)
    shares = [count / len(answered) for count in places.values()]
    entropy = -sum(share * math.log2(share) for share in shares) / math.log2(len(answered))
    frequency = max(Counter(choice for choice, _ in answered).values()) / len(answered)
    return 2 * entropy * frequency / (entropy + frequency), entropy, frequency


@st.composite
def questions(draw, least=UNSCORED):
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=6))
    return [draw(st.lists(st.integers(least, n - 1), min_size=n, max_size=n)) for n in sizes]


def means(expected):
    return np.mean([row for row in expected if row is not None], axis=0)


@given(questions())
@settings(max_examples=15, deadline=None)
def test_it_is_the_mean_of_the_questions_scores(selections):
    expected = [score_of_question(row, rotations(len(row))) for row in selections]
    if all(row is None for row in expected):
        with pytest.raises(EstimationError):
            grade_score(selections)
        return
    result = grade_score(selections, shift_draws=1)
    for ours, theirs in zip(result.scores, expected, strict=True):
        assert (ours is None) == (theirs is None)
        assert theirs is None or ours == pytest.approx(theirs[0], abs=1e-12)
    score, entropy, frequency = means(expected)
    assert result.grade_score.estimate == pytest.approx(score, abs=1e-9)
    assert result.position_entropy.estimate == pytest.approx(entropy, abs=1e-9)
    assert result.mode_frequency.estimate == pytest.approx(frequency, abs=1e-9)
    assert result.n_set_aside == expected.count(None)
    assert result.n_unanswered == sum(row.count(UNSCORED) for row in selections)


@given(
    st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(st.integers(-2, n - 1), min_size=n, max_size=n), min_size=1))
)
@settings(max_examples=15, deadline=None)
def test_of_one_number_of_options_the_statistic_is_that_of_arrays_of_any(selections):
    try:
        reference = grade_score(selections)
    except EstimationError as error:
        with pytest.raises(EstimationError, match=str(error)):
            of_one_size(selections)
        return
    found = of_one_size(selections)
    (size,) = reference.sizes
    assert (found.places, found.options) == (size.places, size.options)
    for name in {field.name for field in fields(found)} - {"places", "options"}:
        assert getattr(found, name) == getattr(reference, name), name


@pytest.mark.parametrize("selections", [[[0, 2]], [[0], [0]]])
def test_options_that_were_not_shown_are_refused(selections):
    with pytest.raises(InvalidInputError, match="the greatest selection is"):
        of_one_size(selections)


@given(questions(least=UNSCORED), st.randoms(use_true_random=False))
@settings(max_examples=9, deadline=None)
def test_renaming_the_options_and_rotating_the_presentation_change_nothing(selections, random):
    if sum(choice >= 0 for row in selections for choice in row) == 0:
        return
    if all(sum(choice >= 0 for choice in row) < 2 for row in selections):
        return
    orders = [rotations(len(row)) for row in selections]
    renamed, renamed_orders, turned, turned_orders = [], [], [], []
    for row, shown in zip(selections, orders, strict=True):
        names = list(range(len(row)))
        random.shuffle(names)
        renamed.append([names[choice] if choice >= 0 else choice for choice in row])
        renamed_orders.append([[names[option] for option in order] for order in shown])
        sequence = list(range(len(row)))
        random.shuffle(sequence)
        turned.append([row[index] for index in sequence])
        turned_orders.append([shown[index] for index in sequence])
    plain = grade_score(selections, shift_draws=1)
    for other in (
        grade_score(renamed, renamed_orders, shift_draws=1),
        grade_score(turned, turned_orders, shift_draws=1),
    ):
        assert other.scores == pytest.approx(plain.scores, abs=1e-12)
        assert other.grade_score == plain.grade_score
        assert other.chance_corrected == plain.chance_corrected
        for ours, theirs in zip(other.sizes, plain.sizes, strict=True):
            assert (ours.places and ours.places.counts) == (theirs.places and theirs.places.counts)


def test_three_options_by_hand():
    # Rotations 012, 120, 201. Chosen 1, 1, 2: the places are 1, 0, 0. H = -(1/3)lg(1/3) - (2/3)lg(2/3)
    #   = 0.52832 + 0.38998 = 0.91830 bits, L = 0.91830 / 1.58496 = 0.57938; C = 2/3;
    #   G = 2 · 0.57938 · 0.66667 / 1.24605 = 0.61997.
    # Chosen 0, 2, 1: the places are 0, 1, 2. L = 1, every option once: C = 1/3, G = 2/3 / (4/3) = 1/2.
    # Chosen 2, 2, none: the places are 2, 1. L = lg 2 / lg 2 = 1, C = 1, G = 1 on two of three rotations.
    # Chosen 0, none, 2: the place is 0 twice. L = 0, G = 0.
    # Chosen none, none, 2: one answer has no score.
    result = grade_score([[1, 1, 2], [0, 2, 1], [2, 2, -1], [0, -1, 2], [-1, -1, 2]])
    assert result.scores == (pytest.approx(0.61997, abs=1e-5), pytest.approx(0.5), 1.0, 0.0, None)
    assert result.grade_score.estimate == pytest.approx((0.61997 + 0.5 + 1 + 0) / 4, abs=1e-5)
    assert result.answered_rotations == (3, 3, 2, 2, 1)
    assert (result.n_answered, result.n_unanswered, result.n_set_aside) == (11, 4, 1)
    assert result.answered.estimate == pytest.approx(11 / 15)
    # All questions, the last too: places 1,0,0 / 0,1,2 / 2,1 / 0,0 / and option 2 first in 201: 0.
    assert result.sizes[0].places.counts == (6, 3, 2)
    # Options: 1,1,2 / 0,2,1 / 2,2 / 0,2 / 2.
    assert result.sizes[0].options.counts == (2, 3, 6)


def test_four_options_by_hand():
    # Options 0, 1, 1, 1 in the four rotations stand at the places 0, 0, 3, 2: H = 1.5 bits of 2, C = 3/4: G = 3/4.
    # Options 3, 0, 0, 3 stand at 3, 3, 2, 0: H = 1.5 bits of 2, C = 2/4: G = 2 · 3/4 · 1/2 / (5/4) = 3/5.
    # Three answers 1, 1, 1 at the places 1, 0, 2: H = lg 3 of lg 3, C = 1: G = 1.
    # Three answers 0, 1, -, 1 at the places 0, 0, -, 2: H = 0.91830 of 1.58496, C = 2/3: G = 0.61997 as above.
    result = grade_score([[0, 1, 1, 1], [3, 0, 0, 3], [1, 1, -1, 1], [0, 1, -1, 1]], FOUR)
    assert result.scores == pytest.approx([0.75, 0.6, 1.0, 0.61997], abs=1e-5)
    assert (result.sizes[0].n_options, result.n_set_aside, result.n_unanswered) == (4, 0, 2)


def test_chance_by_hand():
    # N = 3, m = 3. Hold the first choice at place 0 (option 0 in 012); 9 patterns of the places in 120 and 201:
    # places 000: options 0,1,2   L 0                        -> 0
    # places 001: options 0,1,0   L .57938, C 2/3            -> .61997
    # places 002: options 0,1,1   as above                   -> .61997
    # places 010: options 0,2,2                              -> .61997
    # places 011: options 0,2,0                              -> .61997
    # places 012: options 0,2,1   L 1, C 1/3                 -> .5
    # places 020: options 0,0,2                              -> .61997
    # places 021: options 0,0,0   L 1, C 1                   -> 1
    # places 022: options 0,0,1                              -> .61997
    chance = grade_score_chance(3, 3)
    assert chance.expected == pytest.approx((0 + 6 * 0.61997 + 0.5 + 1) / 9, abs=1e-5)
    # m = 2 of N: the places agree in 1/N (0), the options in 1/N (1), else two places and two options:
    # L = 1, C = 1/2, G = 2/3.
    for n in range(2, 13):
        expected = Fraction(1, n) + (1 - Fraction(2, n)) * Fraction(2, 3)
        found = grade_score_chance(n, 2)
        assert found.expected == pytest.approx(float(expected))
        assert (found.method, found.standard_error, found.draws) == ("exact", 0.0, None)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 2), (4, 3), (4, 4), (5, 4), (5, 5)])
def test_chance_is_the_mean_over_all_patterns_of_answers(n, m):
    scores = []
    for asked in itertools.combinations(range(n), m):
        for chosen in itertools.product(range(n), repeat=m):
            row = [UNSCORED] * n
            for rotation, choice in zip(asked, chosen, strict=True):
                row[rotation] = choice
            scores.append(score_of_question(row, rotations(n))[0])
    assert grade_score_chance(n, m).expected == pytest.approx(np.mean(scores), abs=1e-12)


def test_beyond_300000_patterns_chance_is_simulated_and_says_so():
    # 7^6 = 117,649 and C(7, 4) · 8^4 = 143,360 are listed, 8^7 = 2,097,152 are not.
    assert [grade_score_chance(*pair).method for pair in ((7, 7), (8, 5))] == ["exact", "exact"]
    first, again, other = (grade_score_chance(8, 8, draws=20_000, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert (first.method, first.draws, first.seed) == ("simulated", 20_000, 1)
    assert 0 < first.standard_error < 0.001
    assert abs(first.expected - other.expected) < 5 * first.standard_error
    generator = np.random.default_rng(3)
    scores = [score_of_question(row, rotations(8))[0] for row in generator.integers(8, size=(5000, 8)).tolist()]
    assert np.mean(scores) == pytest.approx(first.expected, abs=4 * np.std(scores) / 5000**0.5)


@pytest.mark.parametrize("n", range(2, 13))
def test_the_judge_of_one_mind_scores_exactly_1_and_the_stuck_judge_exactly_0(n):
    generator = np.random.default_rng(n)
    best = np.repeat(generator.integers(n, size=(5, 1)), n, axis=1)
    stuck = np.tile(np.array(rotations(n))[:, n // 2], (5, 1))
    for unanswered in sorted({0, 1, n // 2, n - 2} & set(range(n - 1))):
        fair, biased = best.copy(), stuck.copy()
        fair[:, :unanswered] = biased[:, n - unanswered :] = UNSCORED
        result = grade_score(fair, draws=200, shift_draws=1)
        assert result.scores == (1.0,) * 5
        assert (result.grade_score.estimate, result.chance_corrected.estimate) == (1.0, 1.0)
        assert result.answered.estimate == pytest.approx((n - unanswered) / n)
        worst = grade_score(biased, draws=200, shift_draws=1)
        assert worst.scores == (0.0,) * 5
        assert worst.grade_score.estimate == 0.0
        expected = worst.chances[0].expected
        assert worst.chance_corrected.estimate == pytest.approx(-expected / (1 - expected))


@pytest.mark.parametrize("n", [2, 3, 4, 8])
def test_a_random_judge_is_corrected_to_0(n):
    chosen = np.random.default_rng(n).integers(n, size=(1500, n))
    result = grade_score(chosen, level=0.999, shift_draws=99)
    assert result.chance_corrected.low < 0 < result.chance_corrected.high
    assert result.grade_score.low < result.chances[0].expected < result.grade_score.high
    assert result.sizes[0].places.p_value > 0.001
    assert result.sizes[0].options.shift_p_value > 0.01


def test_the_correction_is_affine_where_all_questions_have_as_many_options_and_answers():
    chosen = np.random.default_rng(5).integers(4, size=(30, 4))
    chosen[:15] = chosen[:15, :1]
    result = grade_score(chosen)
    (chance,) = result.chances
    for limit in ("estimate", "low", "high"):
        corrected = (getattr(result.grade_score, limit) - chance.expected) / (1 - chance.expected)
        assert getattr(result.chance_corrected, limit) == pytest.approx(corrected, abs=1e-7)


def test_questions_of_several_sizes_are_scored_together_and_apart():
    pairs, fours = [[0, 0], [0, 1], [1, 0]], [[0, 1, 1, 1], [2, 2, 2, 2]]
    mixed = grade_score([pairs[0], fours[0], pairs[1], pairs[2], fours[1]])
    assert mixed.scores == (1.0, pytest.approx(0.75), 0.0, 0.0, 1.0)
    small, large = mixed.sizes
    assert (small.n_options, small.n_questions, large.n_options, large.n_questions) == (2, 3, 4, 2)
    alone = grade_score(fours)
    assert (large.grade_score, large.chance_corrected) == (alone.grade_score, alone.chance_corrected)
    assert large.places == alone.sizes[0].places
    # 2 options: E = 1/2, corrected 1, -1, -1; 4 options: E = 0.571.
    four = grade_score_chance(4, 4).expected
    corrected = [1, (0.75 - four) / (1 - four), -1, -1, 1]
    assert mixed.corrected_scores == pytest.approx(corrected)
    assert mixed.chance_corrected.estimate == pytest.approx(np.mean(corrected), abs=1e-9)
    assert [(chance.n_options, chance.n_answered) for chance in mixed.chances] == [(2, 2), (4, 4)]


def test_a_noisier_judge_scores_less():
    generator = np.random.default_rng(1)
    best = np.repeat(generator.integers(0, 4, (300, 1)), 4, axis=1)
    estimates = []
    for noise in (0.0, 0.3, 0.9):
        chosen = np.where(generator.random(best.shape) < noise, generator.integers(0, 4, best.shape), best)
        estimates.append(grade_score(chosen).grade_score.estimate)
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[0] == 1


def test_a_question_that_lacks_an_answer_is_scored_by_the_others_or_set_aside():
    selections = [[1, 1, 1, 1], [1, 1, -1, 1], [-1, -1, -1, -1], [0, NOT_ASKED, NOT_ASKED, NOT_ASKED]]
    answered = grade_score(selections)
    assert answered.scores == (1.0, 1.0, None, None)
    assert (answered.n_set_aside, answered.n_answered, answered.n_unanswered) == (2, 8, 5)
    assert answered.answered.estimate == pytest.approx(8 / 13)
    skipped = grade_score(selections, incomplete="skip")
    assert skipped.scores == (1.0, None, None, None)
    assert (skipped.n_set_aside, skipped.incomplete, skipped.n_unanswered) == (3, "skip", 5)
    assert [chance.n_answered for chance in skipped.chances] == [4]


def test_a_size_without_a_scored_question_has_no_score_and_keeps_its_histogram():
    result = grade_score([[0, 0], [2, -1, -1]])
    pairs, threes = result.sizes
    assert pairs.grade_score.estimate == 1
    assert (threes.grade_score, threes.chance_corrected, threes.n_set_aside) == (None, None, 1)
    assert threes.options.counts == (0, 0, 1)
    assert grade_score([[0, 0], [-1, -1, -1]]).sizes[1].places is None


def test_the_histograms_find_a_preferred_place_and_do_not_mind_a_clear_best():
    generator = np.random.default_rng(8)
    best = np.repeat(generator.integers(0, 4, (60, 1)), 4, axis=1)
    first = np.array(rotations(4))[:, 0]
    biased = np.where(generator.random(best.shape) < 0.3, first, best)
    (size,) = grade_score(biased).sizes
    assert size.places.counts[0] == max(size.places.counts)
    assert size.places.shift_p_value == pytest.approx(1 / 2000)
    # The options are numbered at random and each judged four times alike: independent votes would be a wrong model.
    assert size.options.shift_p_value > 0.01
    (fair,) = grade_score(best).sizes
    assert fair.places.counts == (60, 60, 60, 60)
    assert (fair.places.chi_square, fair.places.p_value, fair.places.shift_p_value) == (0.0, 1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_the_intervals_cover_the_true_score_of_a_judge(n):
    # A judge that takes the first place with probability 0.3, and else softly prefers one of the options.
    generator = np.random.default_rng(12)
    shares = np.full(n, 0.4 / (n - 1))
    shares[0] = 0.6
    first = np.array(rotations(n))[:, 0]

    def draw(questions):
        names = np.argsort(generator.random((questions, 1, n)), axis=2)
        free = np.take_along_axis(names, generator.choice(n, (questions, n, 1), p=shares), axis=2)[:, :, 0]
        return np.where(generator.random((questions, n)) < 0.3, first, free)

    truth = grade_score(draw(20_000), shift_draws=1)
    for questions_asked in (30, 80):
        held = [0, 0]
        for _ in range(100):
            result = grade_score(draw(questions_asked), shift_draws=1)
            held[0] += result.grade_score.low <= truth.grade_score.estimate <= result.grade_score.high
            held[1] += result.chance_corrected.low <= truth.chance_corrected.estimate <= result.chance_corrected.high
        # The standard error of a rate of 0.95 over 100 is 0.022; the scores of two options are 0 or 1.
        assert min(held) >= 89
        assert max(held) <= (100 if n == 2 else 99)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grade_score([[0, 1]], [[0, 1], [0, 1]]), "not the 2 rotations"),
        (lambda: grade_score([[0, 1, 2]], [[0, 1, 2], [1, 2, 0], [2, 1, 0]]), "question 0 are not the 3 rotations"),
        (lambda: grade_score([[0, 2]], [[0, 1], [1, 0]]), "a selection is 2"),
        (lambda: grade_score([[0, 1]], [[0, 0], [1, 0]]), "permutation"),
        (lambda: grade_score([[0, 1]], [[0, 1]]), "orders has the shapes"),
        (lambda: grade_score([[0, 1], [0, 1, 2]], [[0, 1], [1, 0]]), "orders has the shapes"),
        (lambda: grade_score([[0, 1]], [[0, 1, 2], [1, 2, 0]]), "2 rotations of 3 options"),
        (lambda: grade_score([[0.5, 1]]), "integers"),
        (lambda: grade_score([[0]]), "at least two options"),
        (lambda: grade_score([0, 1]), "a row per question"),
        (lambda: grade_score([[0, 1]], incomplete="partial"), "incomplete is 'partial'"),
        (lambda: grade_score_chance(3, 1), "n_answered is 1"),
        (lambda: grade_score_chance(3, 4), "n_answered is 4"),
        (lambda: grade_score_chance(9, 9, draws=1), "draws is 1"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


@pytest.mark.parametrize("selections", [[[-1, -1]], [[0, -1], [-2, -2]], []])
def test_without_two_answers_it_is_undefined(selections):
    with pytest.raises(EstimationError, match="Grade Score is undefined"):
        grade_score(selections)


def test_the_plain_test_is_scipys():
    counts = np.array([[3, 0, 1], [2, 2, 0], [4, 0, 0], [0, 0, 0]])
    result = uniformity(counts)
    expected = stats.chisquare(counts.sum(axis=0))
    assert (result.chi_square, result.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert (result.counts, result.degrees_of_freedom, result.n_instances) == ((9, 2, 1), 2, 3)


def test_the_shift_test_is_the_share_of_all_arrangements():
    rows = np.array([[3, 0, 0], [2, 1, 0], [2, 0, 1], [3, 0, 0], [1, 1, 1]])
    observed = (rows.sum(axis=0) ** 2).sum()
    squares = [
        (np.sum([np.roll(row, shift) for row, shift in zip(rows, shifts, strict=True)], axis=0) ** 2).sum()
        for shifts in itertools.product(range(3), repeat=5)
    ]
    exact = np.mean(np.array(squares) >= observed)
    assert uniformity(rows, draws=40_000).shift_p_value == pytest.approx(exact, abs=0.006)


def test_rows_that_say_nothing_say_nothing():
    result = uniformity([[1, 1, 1]] * 5)
    assert (result.chi_square, result.p_value, result.shift_p_value) == (0.0, 1.0, 1.0)


def test_five_instances_stuck_to_the_first_of_two():
    # All five at one end: 2 of 2^5 arrangements; the plain test takes ten votes for independent: chi2 = 10.
    result = uniformity([[2, 0]] * 5, draws=20_000)
    assert result.chi_square == 10
    assert result.p_value < 0.002
    assert result.shift_p_value == pytest.approx(2 / 32, abs=0.006)


def test_it_is_reproducible():
    rows = [[3, 0, 0], [2, 1, 0], [0, 1, 2], [3, 0, 0]]
    assert uniformity(rows, seed=4) == uniformity(rows, seed=4)
    assert uniformity(rows, draws=5000, seed=4).shift_p_value != uniformity(rows, draws=5000, seed=5).shift_p_value


@pytest.mark.slow
def test_the_shift_test_holds_its_level_where_the_plain_one_does_not():
    generator = np.random.default_rng(3)
    plain, shifted = [], []
    for _ in range(400):
        # Every instance is drawn to a place of its own, three votes of four; no place is preferred over all.
        home = generator.integers(4, size=40)
        votes = np.where(generator.random((40, 4)) < 0.75, home[:, None], generator.integers(4, size=(40, 4)))
        counts = (votes[:, :, None] == np.arange(4)).sum(axis=1)
        result = uniformity(counts, draws=199)
        plain.append(result.p_value <= 0.05)
        shifted.append(result.shift_p_value <= 0.05)
    assert np.mean(plain) > 0.2
    # The standard error of a rate of 0.05 over 400 is 0.011.
    assert 0.02 <= np.mean(shifted) <= 0.08


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uniformity([[1.5, 2]]), "whole numbers"),
        (lambda: uniformity([[1, -2]]), "whole numbers"),
        (lambda: uniformity([[1]]), "at least 2"),
        (lambda: uniformity([1, 2]), "shape"),
        (lambda: uniformity([[1, 2]], draws=0), "draws is 0"),
    ],
)
def test_uniformity_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_a_choice_there_is_no_test():
    with pytest.raises(EstimationError, match="without a choice"):
        uniformity([[0, 0], [0, 0]])


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

    large_with, large_without = (grade_score(choices(20_000, n), shift_draws=1) for n in (4, 3))
    truth = large_with.grade_score.estimate - large_without.grade_score.estimate
    corrected_truth = large_with.chance_corrected.estimate - large_without.chance_corrected.estimate
    # The favourite is the unrelated one in a quarter, and of the rest a quarter is.
    held, repeats = [0, 0, 0], 100
    for _ in range(repeats):
        found = unrelated_option(choices(50, 4), choices(50, 3), generator.integers(4, size=50))
        for index, (interval, true) in enumerate(
            ((found.chosen, 0.25), (found.difference, truth), (found.corrected_difference, corrected_truth))
        ):
            held[index] += interval.low <= true <= interval.high
    # The standard error of a rate of 0.95 over 100 is 0.022.
    assert min(held) >= 0.89 * repeats
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
def test_unrelated_option_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_an_answer_it_is_undefined():
    with pytest.raises(EstimationError):
        unrelated_option([[-1, -1, -1]], [[0, 0]], [2])

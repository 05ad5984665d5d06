import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import EstimationError, InvalidInputError
from evenhand.statistics import grade_score

ROTATIONS = np.array([[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]])


def score_of_question(selected, rotations):
    """The definition, one question at a time and in words of the standard library."""
    places = Counter(list(rotation).index(choice) for choice, rotation in zip(selected, rotations, strict=True))
    shares = [count / len(selected) for count in places.values()]
    entropy = -sum(share * math.log2(share) for share in shares) / math.log2(len(rotations[0]))
    frequency = max(Counter(selected).values()) / len(selected)
    return 2 * entropy * frequency / (entropy + frequency), entropy, frequency


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_it_is_the_mean_of_the_questions_scores(selections):
    expected = [score_of_question(row, ROTATIONS.tolist()) for row in selections]
    result = grade_score(selections, ROTATIONS)
    assert result.scores == pytest.approx([row[0] for row in expected], abs=1e-12)
    score, entropy, frequency = np.mean(expected, axis=0)
    assert result.grade_score.estimate == pytest.approx(score, abs=1e-9)
    assert result.position_entropy.estimate == pytest.approx(entropy, abs=1e-9)
    assert result.mode_frequency.estimate == pytest.approx(frequency, abs=1e-9)


def test_by_hand():
    # Options 0, 1, 1, 1 in the four rotations stand at the positions 0, 0, 3, 2: H = 1.5 bits of 2, C = 3/4.
    result = grade_score([[0, 1, 1, 1]], ROTATIONS)
    assert result.scores == pytest.approx([0.75])
    assert (result.n_rotations, result.n_options, result.n_set_aside) == (4, 4, 0)


def test_the_fair_judge_scores_1_and_the_stuck_judge_0():
    assert grade_score(np.full((6, 4), 2), ROTATIONS).grade_score.estimate == pytest.approx(1)
    stuck = grade_score(np.tile(ROTATIONS[:, 1], (6, 1)), ROTATIONS)
    assert (stuck.grade_score.estimate, stuck.mode_frequency.estimate) == (0, 0.25)
    assert stuck.grade_score.high > 0.1


def test_a_noisier_judge_scores_less():
    generator = np.random.default_rng(1)
    best = np.repeat(generator.integers(0, 4, (300, 1)), 4, axis=1)
    estimates = []
    for noise in (0.0, 0.3, 0.9):
        chosen = np.where(generator.random(best.shape) < noise, generator.integers(0, 4, best.shape), best)
        estimates.append(grade_score(chosen, ROTATIONS).grade_score.estimate)
    assert estimates == sorted(estimates, reverse=True)
    assert estimates[0] == pytest.approx(1)


def test_a_question_that_lacks_a_rotation_is_set_aside_or_scored_as_the_papers_program_does():
    selections = [[1, 1, 1, 1], [1, 1, -1, 1], [-1, -1, -1, -1]]
    skipped = grade_score(selections, ROTATIONS)
    assert skipped.scores == (pytest.approx(1), None, None)
    assert (skipped.n_set_aside, skipped.grade_score.n) == (2, 1)
    # Three positions once each of four: L = log 3 / log 4, C = 1.
    partial = grade_score(selections, ROTATIONS, incomplete="partial")
    entropy = math.log(3) / math.log(4)
    assert partial.scores == (pytest.approx(1), pytest.approx(2 * entropy / (1 + entropy)), None)


def test_every_question_may_have_its_own_rotations():
    orders = np.stack([ROTATIONS, ROTATIONS[::-1]])
    result = grade_score([[0, 1, 1, 1], [1, 1, 1, 0]], orders)
    assert result.scores == pytest.approx([0.75, 0.75])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: grade_score([[0, 1]], [[0, 1], [0, 1]]), "not balanced"),
        (lambda: grade_score([[0, 2]], [[0, 1], [1, 0]]), "a selection is 2"),
        (lambda: grade_score([[0, 1]], [[0, 0], [1, 0]]), "permutation"),
        (lambda: grade_score([[0, 1]], [[0, 1]]), "orders has the shape"),
        (lambda: grade_score([[0.5, 1]], [[0, 1], [1, 0]]), "integers"),
        (lambda: grade_score([[0, 1]], [[0, 1], [1, 0]], incomplete="zero"), "incomplete is 'zero'"),
    ],
)
def test_what_cannot_be_used_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_without_an_answer_it_is_undefined():
    with pytest.raises(EstimationError, match="no question"):
        grade_score([[-1, -1]], [[0, 1], [1, 0]])

"""The sentences name an effect where the interval or the test shows one, and otherwise say that none is shown."""

import pytest

from evenhand.judge_reliability.reliability import FIRST, SECOND, findings
from tests.judge_reliability.builders import comparison, report


def text_of(found):
    return {finding.measure: finding.text for finding in findings(found)}


def placed(first, second, same=0):
    """A report on pairs that are stuck to the first place, to the second, and consistent ones."""
    pairs = [("A", "B")] * first + [("B", "A")] * second + [("A", "A")] * same
    return report([comparison([pair], place) for place, pair in enumerate(pairs)])


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        # Clopper and Pearson's interval of 30 in 40 and the binomial test of 30 in 40 against a half: p = 0.0022.
        (30, 10, "75 % [59, 87] (p = 0.002): what is shown first gains"),
        (52, 48, "52 % [42, 62] (p = 0.764): no preference for a place shown"),
        # Three of three: p = 2 / 8, and no three pairs have a smaller one.
        (3, 0, "100 % [29, 100] (p = 0.250): no preference for a place shown; too few to tell more (n = 3)"),
        # 115 of 200: the interval begins at 50.3 %, which is not rounded to no effect.
        (115, 85, "57 % [50.3, 64] (p = 0.040): what is shown first gains"),
    ],
)
def test_a_preference_for_a_place(first, second, text):
    assert text_of(placed(first, second, 10))["inconsistent towards the first"] == text


@pytest.mark.parametrize(
    ("stated", "right", "words"),
    [
        (0.9, 60, "+0.30 [+0.20, +0.40]: the judge is overconfident"),
        (0.6, 90, "-0.30 [-0.36, -0.22]: the judge is underconfident"),
    ],
)
def test_confidences(stated, right, words):
    questions = [
        comparison([("A",)], place, label=FIRST if place < right else SECOND, probabilities=(stated, 0.0, 1 - stated))
        for place in range(100)
    ]
    text = text_of(report(questions))["overconfidence"]
    assert text.split(": ")[1] == words.split(": ")[1]
    assert text[:4] == words[:4]

"""The sentences name an effect where the interval or the test shows one, and otherwise say that none is shown."""

import pytest

from evenhand.judge_reliability.one_judge import (
    FIRST,
    SECOND,
    ChoiceReliability,
)
from evenhand.judge_reliability.tables import choices_table, findings
from evenhand.modes.grade_scores import grade, unrelated_effect
from evenhand.votes import Vote
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
        (10, 30, "25 % [13, 41] (p = 0.002): what is shown second gains"),
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
        (0.6, 60, "0.00 [-0.10, +0.10]: no over- or underconfidence shown"),
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


def choices(selections, *, unrelated=None):
    """Two candidates in both rotations, an instance a pair; 2 names the unrelated third, where there is one."""
    number = 2 if unrelated is None else 3
    rotations = [tuple((start + place) % number for place in range(number)) for start in range(number)]
    votes = [
        [
            Vote(judge_id="judge", order=order, selected_index=index)
            if index is not None
            else Vote(judge_id="judge", order=order, unscored_reason="refusal")
            for order, index in zip(rotations, chosen, strict=True)
        ]
        for chosen in selections
    ]
    grading = grade(votes, "judge")
    effect = None if unrelated is None else unrelated_effect(grading, unrelated)
    return grading, choices_table([ChoiceReliability("better", "select", grading, effect)])


def test_choices_among_candidates():
    # One mind in thirty instances: 1 where a random judge reaches 1/2.
    grading, steady = choices([(0, 0)] * 30)
    cells = dict(zip(steady.headers, steady.rows[0], strict=True))
    assert cells["Grade Score [95%]"].startswith("1.00 [")
    assert cells["random judge"] == "0.50"
    assert not steady.notes
    # Sixty answers, all at the first place; no draw of shifts is as uneven, so that p is 1 in 2,000.
    _, stuck = choices([(0, 1)] * 30)
    cells = dict(zip(stuck.headers, stuck.rows[0], strict=True))
    assert cells["corrected [95%]"].startswith("-1.00 [")  # (0 - 1/2) / (1/2)
    assert "of 2 places number 1 is chosen most, in 100 % of 60 answers (p < 0.001 if all are chosen" in stuck.notes[0]
    _, silent = choices([(0, None)] * 3)
    assert dict(zip(silent.headers, silent.rows[0], strict=True))["Grade Score [95%]"] == "–"
    # The unrelated candidate in one rotation of three, for thirty instances.
    _, lured = choices([(0, 0, 2)] * 30, unrelated=grading)
    cells = dict(zip(lured.headers, lured.rows[0], strict=True))
    assert cells["unrelated"] == "chosen 33 %"
    assert cells["corrected, change by it [95%]"].startswith("-")

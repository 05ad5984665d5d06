"""Cases from labelled rows: balanced over the labels, seeded, never the question's own."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InvalidInputError
from evenhand.judging.examples import example_pool
from evenhand.question import Question
from tests.support.questions import LEVELS


def row(number, label, topic="t"):
    return {"response": f"response {number}", "topic": topic, "level": label}


def pool_of(rows, *, context=("topic",), **more):
    return example_pool(rows, LEVELS, "level", context={name: name for name in context}, **more)


def question(response="what is judged", key="0", **context):
    return Question(id="0", criterion=LEVELS, responses=(response,), context=context, draw_key=key)


def drawn(pool, asked=None):
    return pool.shown_to(asked or question()).examples


LABELLED = st.lists(st.sampled_from(["High", "Mid", "Low"]), min_size=1, max_size=12).map(
    lambda labels: [row(number, label) for number, label in enumerate(labels)]
)


@given(LABELLED, st.integers(1, 14), st.text(max_size=3))
@settings(max_examples=60)
def test_as_balanced_as_the_rows_allow(rows, number, key):
    cases = drawn(pool_of(rows, number=number), question(key=key))
    assert len(cases) == min(number, len(rows))
    assert len({case.response for case in cases}) == len(cases)
    available, counts = (Counter(labels) for labels in ([each["level"] for each in rows], [c.label for c in cases]))
    # no label could give way to another: one that has more cases left than it gave stands at most one behind
    for label in available:
        if counts[label] < available[label]:
            assert counts[label] >= max(counts.values()) - 1


@given(LABELLED, st.integers(1, 6), st.randoms())
def test_the_order_of_the_rows_does_not_matter_and_the_draw_repeats(rows, number, random):
    mixed = random.sample(rows, len(rows))
    assert drawn(pool_of(rows, number=number)) == drawn(pool_of(mixed, number=number))


def test_nor_another_response_of_its_row():
    rows = [
        {
            "small": f"small {number}",
            "large": f"large {number}",
            "topic": "t",
            "small_level": "Low",
            "large_level": "High",
        }
        for number in range(3)
    ]
    fields = {"responses": ("small", "large"), "context": {"topic": "topic"}}
    pool = example_pool(rows, LEVELS, "{system}_level", number=6, **fields)
    shown = {case.response for case in drawn(pool, question("small 1", topic="t"))}
    assert shown == {"small 0", "large 0", "small 2", "large 2"}
    assert len(drawn(pool, question("new", topic="t"))) == 6


def test_rows_that_cannot_be_used_are_named():
    with pytest.raises(
        InvalidInputError,
        match=r"row 1 of the examples has the label 'Hihg', which is not an option of 'level'. Did you mean 'High'",
    ):
        pool_of([row(0, "High"), row(1, "Hihg")])
    with pytest.raises(InvalidInputError, match="the examples cannot be shown: instance 0 has no field 'theme'"):
        pool_of([row(0, "High")], context=("theme",))
    with pytest.raises(
        InvalidInputError, match="have no case of 'level' with a response in 'response' and a label in 'level'"
    ):
        pool_of([row(0, None)])

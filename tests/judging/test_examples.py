"""Cases from labelled rows: balanced over the labels, seeded, never the question's own."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.examples import ExampleFields, example_pool
from evenhand.options import ExampleOptions
from evenhand.question import Question

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=(Option(label="High", value=1.0), Option(label="Mid", value=0.5), Option(label="Low", value=0.0)),
)


def row(number, label, topic="t"):
    return {"response": f"response {number}", "topic": topic, "level": label}


def pool_of(rows, *, context=("topic",), **more):
    return example_pool(rows, LEVELS, ExampleFields("level", context={name: name for name in context}), **more)


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


@given(LABELLED, st.integers(1, 14), st.data())
def test_never_the_case_itself(rows, number, data):
    own = data.draw(st.sampled_from(rows))
    cases = drawn(pool_of(rows, number=number), question(own["response"], topic="t"))
    assert own["response"] not in {case.response for case in cases}
    assert len(cases) == min(number, len(rows) - 1)
    # the same words in another context are another case
    elsewhere = drawn(pool_of(rows, number=len(rows)), question(own["response"], topic="another"))
    assert own["response"] in {case.response for case in elsewhere}


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
    fields = ExampleFields("{system}_level", responses=("small", "large"), context={"topic": "topic"})
    pool = example_pool(rows, LEVELS, fields, number=6)
    shown = {case.response for case in drawn(pool, question("small 1", topic="t"))}
    assert shown == {"small 0", "large 0", "small 2", "large 2"}
    assert len(drawn(pool, question("new", topic="t"))) == 6


@pytest.mark.parametrize("stripped", ["response 0", " response  0\n"])
def test_white_space_does_not_make_the_case_itself_another(stripped):
    rows = [{**row(0, "High", topic="t\n"), "response": "response 0 "}, row(1, "Low")]
    cases = drawn(pool_of(rows, number=2), question(stripped, topic="t"))
    assert [case.response for case in cases] == ["response 1"]


def test_the_seed_and_the_criterion_make_the_draw():
    rows = [row(number, ("High", "Mid", "Low")[number % 3]) for number in range(60)]
    pool = pool_of(rows, number=6)
    draws = [
        drawn(pool),
        drawn(replace(pool, seed=1)),
        drawn(pool, replace(question(), criterion=LEVELS.model_copy(update={"name": "other"}))),
    ]
    assert len(set(map(str, draws))) == 3
    assert drawn(pool, question("another response", key="1")) == draws[0]


def test_a_case_that_is_left_out_changes_no_other():
    pool = pool_of([row(number, ("High", "Mid", "Low")[number % 3]) for number in range(60)], number=6)
    all_shown = drawn(pool)
    own = all_shown[2]
    shown = drawn(pool, question(own.response, topic="t"))
    [instead] = [case for case in shown if case not in all_shown]
    assert [case for case in shown if case != instead] == [case for case in all_shown if case != own]
    assert instead.label == own.label


def test_labels_and_cases_are_shown_in_no_fixed_order():
    rows = [row(number, ("High", "Mid", "Low")[number % 3]) for number in range(30)]
    pool = pool_of(rows, number=3)
    first = Counter(drawn(replace(pool, seed=seed))[0].label for seed in range(300))
    # each stands first in a third: 100 of 300, with a standard deviation of 8
    assert all(60 < first[label] < 140 for label in ("High", "Mid", "Low"))
    one = Counter(drawn(replace(pool, number=1, seed=seed))[0].label for seed in range(300))
    assert all(60 < one[label] < 140 for label in ("High", "Mid", "Low"))


def test_one_case_with_two_labels_is_shown_once():
    cases = drawn(pool_of([row(1, "High"), row(1, "Low"), row(2, "Low")], number=3))
    assert sorted(case.response for case in cases) == ["response 1", "response 2"]


def test_one_of_each_label_by_default_and_rows_without_a_label_are_no_cases():
    rows = [row(1, "high"), row(2, "HIGH"), row(3, " low "), row(4, None), {**row(5, "Mid"), "response": None}]
    pool = pool_of(rows)
    assert pool.number == 2
    assert sorted(case.label for case in pool.cases) == ["High", "High", "Low"]
    assert {case.context["topic"] for case in pool.cases} == {"t"}


def test_the_cases_of_several_systems():
    rows = [{"a": "from a", "b": "from b", "level_a": "High", "level_b": "Low"}]
    pool = example_pool(rows, LEVELS, ExampleFields("level_{system}", responses=("a", "b"), context={}))
    assert [(case.response, case.label) for case in pool.cases] == [("from a", "High"), ("from b", "Low")]


def test_rows_that_cannot_be_used_are_named():
    with pytest.raises(
        InvalidInputError,
        match=r"row 1 of the examples has the label 'Hihg', which is not an option of 'level'. Did you mean 'High'",
    ):
        pool_of([row(0, "High"), row(1, "Hihg")])
    with pytest.raises(
        InvalidInputError, match="row 0 of the examples cannot be shown: instance 0 has no field 'theme'"
    ):
        pool_of([row(0, "High")], context=("theme",))
    with pytest.raises(
        InvalidInputError, match="have no case of 'level' with a response in 'response' and a label in 'level'"
    ):
        pool_of([row(0, None)])


def test_a_label_column_that_is_not_there_is_named_with_the_way_to_give_it():
    names_a_date = yes_no_criterion("names a date", "Does it name a date?")
    with pytest.raises(InvalidInputError) as caught:
        example_pool([row(0, "High")], names_a_date, ExampleFields("names a date", context={}))
    message = str(caught.value)
    for part in (
        "there is no column 'names a date' with the label of the criterion 'names a date'",
        "the columns are ['response', 'topic', 'level']",
        "label_fields={'names a date': column}",
        "--label-fields 'names a date=COLUMN'",
    ):
        assert part in message
    ragged = [row(0, "High"), {"response": "another", "topic": "t"}]
    with pytest.raises(
        InvalidInputError, match=r"row 1 .* no column 'level' .* \['response', 'topic'\].*--label-fields level="
    ):
        pool_of(ragged)


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", True])
def test_how_many_must_be_a_whole_number(number):
    with pytest.raises(InvalidInputError, match=r"num_examples is .*whole number of at least 1"):
        ExampleOptions(num_examples=number, examples=[row(0, "High")])


def test_a_number_without_examples_is_refused():
    with pytest.raises(InvalidInputError, match="num_examples is 2, but there are no examples"):
        ExampleOptions(num_examples=2)

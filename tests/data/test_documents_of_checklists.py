"""A checklist as it is written: what it becomes, and what each mistake is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.data.documents import checklist_document, read_checklist
from evenhand.data.plain import parse_yaml
from evenhand.errors import InvalidCriterionError

WRITTEN = """
name: minutes
description: For the minutes of a meeting.
prediction_field: notes
context_fields: {the transcript: transcript}
items:
  - Does every task have an owner?
  - question: Is every owner somebody who was there?
    weight: 50
    category: tasks
    prerequisites: [1]
    na: true
  - {name: dates, question: "Does every task have a date?", weight: 0, prerequisites: [2, "1"]}
  - {question: "Is every date in the future?", prerequisites: [dates, 3]}
"""
READ = Checklist(
    name="minutes",
    description="For the minutes of a meeting.",
    prediction_field="notes",
    context_fields={"the transcript": "transcript"},
    items=(
        ChecklistItem(question="Does every task have an owner?"),
        ChecklistItem(
            question="Is every owner somebody who was there?",
            weight=50,
            category="tasks",
            prerequisites=("1",),
            na=True,
        ),
        ChecklistItem(name="dates", question="Does every task have a date?", weight=0, prerequisites=("2", "1")),
        # the third item is called dates, so the number 3 means that name
        ChecklistItem(question="Is every date in the future?", prerequisites=("dates", "dates")),
    ),
)


def test_a_checklist_is_what_was_written():
    assert read_checklist(parse_yaml(WRITTEN, "the text"), "the text") == READ


def test_a_row_of_a_dataset_may_fill_what_is_missing_with_null():
    empty = {"name": None, "weight": None, "category": None, "na": None, "prerequisites": None}
    rows = [{"question": "Is it polite?", **empty}, {"question": "Is it short?", **empty, "weight": 2.0}]
    assert [item.weight for item in read_checklist(rows, "the row").items] == [1.0, 2.0]
    assert read_checklist(rows[:1], "the row") == read_checklist(["Is it polite?"], "the row")


def with_item(**fields):
    return ["Is it polite?", {"question": "Is it short?", **fields}]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (None, "the file holds None; a checklist is a list of questions, or a mapping with items"),
        ({}, "the file has the items None; give a list of at least one"),
        ({"questions": ["a?"]}, "the file has the field 'questions'. Did you mean"),
        ([3], "item 1 of the file is 3; give a text, or a mapping with a question"),
        ([{"weight": 3}], "item 1 of the file has the question None; it must be a text"),
        (with_item(wieght=2), "item 2 of the file has the field 'wieght'. Did you mean 'weight'?"),
        (with_item(weight=101), "the checklist item 'Is it short?' has the weight 101.0; it lies in [0, 100]"),
        (with_item(prerequisites=1), "item 2 of the file has the prerequisites 1; give a list"),
        (with_item(prerequisites=[3]), "has the prerequisite 3; give a name, or a number from 1 to 2"),
        (
            with_item(prerequisites=["polite"]),
            "the item '2' of the checklist 'checklist' has the prerequisite",
        ),
        (with_item(prerequisites=[2]), "go in a circle: '2' -> '2'"),
        (with_item(name="1"), "has these names more than once: ['1']"),
    ],
)
def test_a_mistake_is_told_by_name(written, message):
    with pytest.raises(InvalidCriterionError) as caught:
        read_checklist(written, "the file")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).map(str.strip).filter(bool)


@st.composite
def checklists(draw):
    questions = draw(st.lists(texts, min_size=1, max_size=5))
    items = []
    for number, question in enumerate(questions, start=1):
        earlier = st.sampled_from(items) if items else st.nothing()
        needed = draw(st.lists(earlier.map(lambda item: item.name), max_size=2)) if items else []
        items.append(
            ChecklistItem(
                question=question,
                name=draw(st.sampled_from([str(number), f"item {number}"])),
                weight=draw(st.floats(0, 100)),
                category=draw(st.just("") | texts),
                na=draw(st.booleans()),
                prerequisites=tuple(needed),
            )
        )
    return Checklist(
        name=draw(texts), items=tuple(items), context_fields=draw(st.dictionaries(texts, texts, max_size=2))
    )


@given(checklists())
def test_a_checklist_comes_back_from_its_document_and_from_its_own_json(checklist):
    assert read_checklist(checklist_document(checklist), "its document", name="other") == checklist
    assert read_checklist(checklist.model_dump(mode="json"), "its dump") == checklist

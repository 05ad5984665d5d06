"""A checklist as it is written: what it becomes, and what each mistake is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import Checklist, ChecklistItem
from evenhand.data.documents import checklist_document, read_checklist
from evenhand.errors import InvalidCriterionError


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

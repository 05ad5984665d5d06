"""A checklist as it is written: what it becomes, and what each mistake is told."""

import pytest

from evenhand.data.documents import read_checklist
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
        (with_item(prerequisites=1), "item 2 of the file has the prerequisites 1; give a list"),
        (with_item(prerequisites=[3]), "has the prerequisite 3; give a name, or a number from 1 to 2"),
        (
            with_item(prerequisites=["polite"]),
            "the item '2' of the checklist 'checklist' has the prerequisite",
        ),
    ],
)
def test_a_mistake_is_told_by_name(written, message):
    with pytest.raises(InvalidCriterionError) as caught:
        read_checklist(written, "the file")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)

"""Criteria, rubrics and checklists: what they refuse, and what they say about themselves."""

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.criteria import (
    Checklist,
    ChecklistItem,
    Criterion,
    Option,
    Rubric,
    fold_label,
    with_na_option,
    yes_no_criterion,
)
from evenhand.errors import InvalidCriterionError

GOOD, BAD = Option(label="Good", value=1.0), Option(label="Bad", value=0.0)
NA = Option(label="N/A", na=True)


def criterion(*options, **more):
    return Criterion(**{"name": "tone", "description": "Is it polite?", "options": options, **more})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Option(label="Best", value=math.inf), "value inf; a value is a finite number"),
        (lambda: criterion(GOOD, NA), r"has 1 option\(s\) that are not NA"),
        (
            lambda: criterion(GOOD, Option(label="Middle", value=0.5), BAD, scale="binary"),
            "scale 'binary' exactly two",
        ),
        (lambda: criterion(GOOD, Option(label="Fine", value=1.0), scale="binary"), "both have the value 1.0"),
        (
            lambda: Checklist(name="list", items=(ChecklistItem(name="a", question="?"),) * 2),
            r"names more than once: \['a'\]",
        ),
    ],
)
def test_a_contradiction_is_refused_by_name(make, message):
    with pytest.raises(InvalidCriterionError, match=message):
        make()


@pytest.mark.parametrize("value", [0.0, 7, -1, math.inf, math.nan])
def test_the_value_of_an_na_option_is_ignored(value):
    given = Option(label="N/A", value=value, na=True)
    assert given == NA == Option.model_validate({"label": "N/A", "value": value, "na": "true"})
    assert criterion(GOOD, BAD, given) == criterion(GOOD, BAD, NA)
    assert criterion(GOOD, BAD, given).score_range == (0.0, 1.0)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: Option(label="  "), "label"),
        (lambda: Option(label="Good", vlaue=1.0), "vlaue"),
        (lambda: Option(label="Good", description="half a character: \ud800"), "description"),
        (lambda: criterion(GOOD, BAD, weight=math.nan), "weight"),
        (lambda: Rubric(name="all", criteria=()), "criteria"),
        (lambda: Rubric(name="all", criteria=(criterion(GOOD, BAD),), na_partial=1.5), "na_partial"),
        (lambda: Checklist(name="list", items=()), "items"),
        *((partial(ChecklistItem, question="?", weight=each), "weight") for each in (-1, 100.5, math.inf, math.nan)),
    ],
)
def test_a_field_out_of_its_bounds_is_refused(make, field):
    with pytest.raises(InvalidCriterionError, match=field) as refused:
        make()
    assert "pydantic" not in str(refused.value)
    assert [ChecklistItem(question="?", weight=ends).weight for ends in (0, 100)] == [0.0, 100.0]


def test_an_item_without_a_name_is_called_by_its_number():
    items = (ChecklistItem(question="a?"), ChecklistItem(question="b?", name="b"), ChecklistItem(question="c?"))
    checklist = Checklist(name="list", items=items)
    assert [item.name for item in checklist.items] == ["1", "b", "3"]
    assert Checklist.model_validate_json(checklist.model_dump_json()) == checklist
    with pytest.raises(InvalidCriterionError, match=r"names more than once: \['2'\]"):
        Checklist(name="list", items=(ChecklistItem(question="a?", name="2"), ChecklistItem(question="b?")))


def checklist_of(prerequisites):
    items = tuple(
        ChecklistItem(name=name, question=f"{name}?", prerequisites=tuple(needed))
        for name, needed in prerequisites.items()
    )
    return Checklist(name="list", items=items)


def test_prerequisites_name_other_items():
    assert checklist_of({"a": "", "b": "a", "c": "ab"}).items[2].prerequisites == ("a", "b")
    with pytest.raises(
        InvalidCriterionError,
        match="the item 'b' of the checklist 'list' has the prerequisite 'z', which is not the name of an item",
    ):
        checklist_of({"a": "", "b": "z"})


@given(st.lists(st.sets(st.integers(0, 9), max_size=3), min_size=1, max_size=10))
def test_only_circles_are_refused(edges):
    graph = {
        str(node): {str(target) for target in targets if target < len(edges)} for node, targets in enumerate(edges)
    }
    reached = graph
    for _ in graph:  # as many steps as there are items reach all that can be reached
        reached = {name: needed | {far for near in needed for far in reached[near]} for name, needed in reached.items()}
    if any(name in needed for name, needed in reached.items()):
        with pytest.raises(InvalidCriterionError, match=r"'list' go in a circle: ('\d' -> )+'\d';"):
            checklist_of(graph)
    else:
        assert len(checklist_of(graph).items) == len(edges)


@pytest.mark.parametrize(
    ("labels", "added"),
    [
        (("Good", "Bad"), "N/A"),
        (("n/a", "Bad"), "Not applicable"),
        (("N/A", "not  applicable", "DOES NOT APPLY"), "N/A (2)"),
    ],
)
def test_an_na_option_can_be_offered(labels, added):
    plain = criterion(*(Option(label=label, value=index / 10) for index, label in enumerate(labels)))
    offered = with_na_option(plain)
    assert offered.labels == (*labels, added)
    assert offered.na_index == len(labels)
    assert offered.options[-1].description
    assert with_na_option(offered) is offered
    assert Criterion.model_validate(offered.model_dump()) == offered


def test_a_criterion_knows_its_labels_values_and_na_option():
    tone = criterion(GOOD, NA, BAD)
    assert tone.labels == ("Good", "N/A", "Bad")
    assert tone.has_values
    assert tone.na_index == 1
    assert tone.index_of(" bad\n") == 2
    with pytest.raises(InvalidCriterionError, match=r"has no option 'Godo'. Did you mean 'Good'\?"):
        tone.index_of("Godo")
    plain = criterion(Option(label="Yes"), Option(label="No"), scale="binary")
    assert (plain.has_values, plain.na_index) == (False, None)


def test_a_checklist_item_is_a_binary_criterion():
    item = ChecklistItem(name="cites", question="Does it cite a source?", weight=2.0, na=True)
    asked = item.as_criterion()
    assert (asked.name, asked.description, asked.scale, asked.weight) == ("cites", item.question, "binary", 2.0)
    assert [(option.label, option.value, option.na) for option in asked.options] == [
        ("Yes", 1.0, False),
        ("No", 0.0, False),
        ("N/A", None, True),
    ]
    assert yes_no_criterion("cites", "?").labels == ("Yes", "No")


@given(st.text())
def test_folding_a_label_is_stable_and_blind_to_case_and_space(label):
    folded = fold_label(label)
    assert fold_label(folded) == folded or folded != folded.casefold()
    assert fold_label(f"  {label}\t\n") == folded
    assert fold_label(label.replace(" ", "   ")) == folded


labels = st.lists(st.text(min_size=1).filter(str.strip), min_size=2, max_size=6, unique_by=fold_label)

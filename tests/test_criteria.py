"""Criteria, rubrics and checklists: what they refuse, and what they say about themselves."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.criteria import (
    Checklist,
    ChecklistItem,
    Criterion,
    Option,
    Rubric,
    fold_label,
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
        (lambda: Option(label="  "), "an option's label is '  '"),
        (lambda: Option(label="N/A", value=0.5, na=True), "the NA option 'N/A' has the value 0.5"),
        (lambda: Option(label="Best", value=5), r"value 5.0; a value lies in \[0, 1\]"),
        (lambda: Option(label="Worst", value=-0.1), r"value -0.1; a value lies in \[0, 1\]"),
        (lambda: Option(label="Odd", value=math.nan), "value nan"),
        (lambda: criterion(GOOD, Option(label=" gOOd ", value=0.5)), "the option label ' gOOd ' twice"),
        (lambda: criterion(GOOD), r"has 1 option\(s\) that are not NA; a choice needs at least two"),
        (lambda: criterion(GOOD, NA), r"has 1 option\(s\) that are not NA"),
        (criterion, r"has 0 option\(s\)"),
        (lambda: criterion(GOOD, BAD, weight=math.inf), "weight inf; it must be finite"),
        (lambda: criterion(GOOD, BAD, weight=math.nan), "weight nan"),
        (
            lambda: criterion(GOOD, Option(label="Middle", value=0.5), BAD, scale="binary"),
            "binary criterion 'tone' has 3 options",
        ),
        (lambda: criterion(GOOD, Option(label="Fine", value=1.0), scale="binary"), "both have the value 1.0"),
        (lambda: Rubric(name="all", criteria=()), "the rubric 'all' is empty"),
        (
            lambda: Rubric(name="all", criteria=(criterion(GOOD, BAD), criterion(BAD, GOOD))),
            r"names more than once: \['tone'\]",
        ),
        (lambda: Rubric(name="all", criteria=(criterion(GOOD, BAD, weight=0),)), "has the weight 0; one must count"),
        (lambda: Checklist(name="list", items=()), "the checklist 'list' is empty"),
        (
            lambda: Checklist(name="list", items=(ChecklistItem(name="a", question="?"),) * 2),
            r"names more than once: \['a'\]",
        ),
    ],
)
def test_a_contradiction_is_refused_by_name(make, message):
    with pytest.raises(InvalidCriterionError, match=message):
        make()


@pytest.mark.parametrize("weight", [0, -1, math.inf, math.nan])
def test_a_checklist_item_has_a_positive_weight(weight):
    with pytest.raises(ValidationError, match="weight"):
        ChecklistItem(name="a", question="?", weight=weight)


def test_an_unknown_field_is_refused():
    with pytest.raises(ValidationError, match="vlaue"):
        Option(label="Good", vlaue=1.0)


def test_values_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        GOOD.value = 0.3


def test_two_options_without_values_may_be_binary():
    plain = criterion(Option(label="Yes"), Option(label="No"), scale="binary")
    assert not plain.has_values
    assert plain.na_index is None


def test_a_criterion_knows_its_labels_values_and_na_option():
    tone = criterion(GOOD, NA, BAD)
    assert tone.labels == ("Good", "N/A", "Bad")
    assert tone.has_values
    assert tone.na_index == 1
    assert tone.index_of(" bad\n") == 2


def test_an_unknown_label_names_the_closest():
    with pytest.raises(InvalidCriterionError, match=r"has no option 'Godo'. Did you mean 'Good'\?"):
        criterion(GOOD, BAD).index_of("Godo")


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


@given(labels, st.data())
def test_a_criterion_travels_as_json(given_labels, data):
    values = [data.draw(st.floats(0, 1) | st.none()) for _ in given_labels]
    options = tuple(Option(label=label, value=value) for label, value in zip(given_labels, values, strict=True))
    whole = criterion(*options, scale="nominal", context_fields={"question": "q"}, weight=-2.0)
    assert Criterion.model_validate_json(whole.model_dump_json()) == whole
    assert [whole.index_of(label.swapcase().swapcase()) for label in given_labels] == list(range(len(given_labels)))

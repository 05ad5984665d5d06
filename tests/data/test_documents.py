"""Rubrics and checklists as people write them: what they become, and the message on each mistake."""

import pytest

from evenhand.data.documents import derive_name, read_checklist, read_rubric
from evenhand.errors import InvalidCriterionError


@pytest.mark.parametrize(
    ("requirement", "name"),
    [
        ("Doesn't blame the user", "doesnt_blame_the_user"),
        ("Ist höflich?", "ist_höflich"),
        ("一段文字", "一段文字"),
        ("???", "criterion"),
        ("a" * 90, "a" * 40),
        # 34 characters fit with the last word that does; "mornings" would make 43
        ("Says what the shop can do on weekday mornings", "says_what_the_shop_can_do_on_weekday"),
    ],
)
def test_a_name_is_derived_from_the_first_words(requirement, name):
    assert derive_name(requirement) == name


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ([("a", 1), ("b", 0)], "binary"),
        ([("a", 0), ("b", 1), ("c", None, True)], "binary"),
        ([("a", 1), ("b", 1)], "ordinal"),
        ([("a", None), ("b", None)], "ordinal"),
        ([("a", 1), ("b", 0.5), ("c", 0)], "ordinal"),
    ],
)
def test_a_scale_that_is_not_written_follows_from_the_options(options, scale):
    fields = ("label", "value", "na")
    written = [{**dict(zip(fields, option, strict=False))} for option in options]
    part = {"requirement": "?", "options": written}
    found = read_rubric([part, {**part, "scale_type": "nominal"}], "it").criteria
    assert [criterion.scale for criterion in found] == [scale, "nominal"]


def with_criterion(**fields):
    return {"criteria": [{"name": "tone", "requirement": "Is polite.", **fields}]}


def section(**fields):
    return {"sections": [{"name": "a", "criteria": ["?"], **fields}]}


def with_item(**fields):
    return ["Is it polite?", {"question": "Is it short?", **fields}]


OF_RUBRICS = [
    ("Is polite.", "the file is 'Is polite.'; give a list of criteria or a mapping"),
    ([], "the file has the criteria []; give a list of at least one"),
    ({"criteria": ["a"], "na_strategy": "zeros"}, "the na_strategy 'zeros'. Did you mean 'zero'? Accepted: 'skip'"),
    ({"criteria": ["a"], "name": 5}, 'the file has the name 5; it must be a text: write "5", in quotes'),
    ([" "], "criterion 1 of the file has the requirement ' '; it must be a text"),
    ([{"name": "tone", "requirement": " "}], "the criterion 'tone' of the file has the requirement ' '; it must be"),
    ({"criteria": ["a"], "sections": 0}, "the file has the sections 0; give a list"),
    ([{"name": "tone"}], "the criterion 'tone' of the file has the requirement None; it must be a text"),
    (with_criterion(wieght=2), "the criterion 'tone' of the file has the field 'wieght'. Did you mean 'weight'?"),
    (with_criterion(description="?"), "has the field 'description' under two names: give one"),
    (with_criterion(scale_type="ordinal"), "has no options; give a list of mappings with a label"),
    (with_criterion(options=["a", "b"]), "option 1 of the criterion 'tone' of the file is 'a'; give a mapping"),
    (with_criterion(options=[{"label": True, "value": 1}]), "has the label True; it must be a text: write"),
    (with_criterion(options=[{"label": "a", "worth": 1}]), "has the field 'worth'. Accepted:"),
    (with_criterion(context_fields=[1]), "context_fields is [1]; give a field name, a list of them, or a"),
    ({"sections": ["content"]}, "section 1 of the file is 'content'; give a mapping"),
    ({"sections": [{"name": "x"}]}, "the section 'x' of the file has the criteria None; give a list"),
    (
        {"sections": [{"name": "x", "criteria": [{"requirement": "?", "section": "y"}]}]},
        "criterion 1 of the section 'x' of the file has the section 'y': leave it out",
    ),
    (section(weight=-1), "the section 'a' of the file has the weight -1: Input should be greater"),
    (section(weight=1, within="b"), "lies within 'b', which is not a section before"),
    (section(weight=1, criteria=[{"requirement": "?", "weight": -2}]), "so that weights are >= 0"),
    ({"sections": section(weight=1)["sections"] * 2}, "has these names more than once"),
]
OF_CHECKLISTS = [
    (None, "the file is None; give a list of items or a mapping"),
    ({}, "the file has the items None; give a list of at least one"),
    ({"questions": ["a?"]}, "the file has the field 'questions'. Did you mean"),
    ([3], "item 1 of the file is 3; give a text or a mapping"),
    (with_item(wieght=2), "item 2 of the file has the field 'wieght'. Did you mean 'weight'?"),
    (with_item(prerequisites=1), "item 2 of the file has the prerequisites 1: "),
    (with_item(prerequisites=[3]), "the item '2' of the checklist 'checklist' has the pre"),
    (with_item(prerequisites=["polite"]), "the item '2' of the checklist 'checklist' has the pre"),
]


@pytest.mark.parametrize(
    ("read", "written", "message"),
    [(read_rubric, *each) for each in OF_RUBRICS] + [(read_checklist, *each) for each in OF_CHECKLISTS],
)
def test_a_mistake_is_named(read, written, message):
    with pytest.raises(InvalidCriterionError) as caught:
        read(written, "the file")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_sections_with_weights_are_those_of_a_nested_rubric():
    document = {
        "sections": [
            {
                "name": "method",
                "weight": 3,
                "criteria": ["Trains the model."],
                "sections": [{"name": "data", "criteria": [{"name": "split", "requirement": "?", "weight": 2}]}],
            },
            {"name": "text", "description": "The report.", "criteria": ["Is written."]},
        ],
        "criteria": ["Runs."],
    }
    rubric = read_rubric(document, "the file")
    assert [(section.name, section.weight, section.within) for section in rubric.sections] == [
        ("method", 3.0, ""),
        ("data", 1.0, "method"),
        ("text", 1.0, ""),
    ]
    assert {criterion.name: criterion.section for criterion in rubric.criteria} == {
        "runs": "",
        "trains_the_model": "method",
        "split": "data",
        "is_written": "text",
    }
    assert read_rubric(rubric.model_dump(mode="json"), "the document") == rubric

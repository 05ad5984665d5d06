"""The reading of replies: a file of hard cases, what must be refused, and properties of every reply."""

import json
import string
import time
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evenhand.errors import InvalidInputError
from evenhand.parsing import match_closest_option
from evenhand.parsing.labels import compile_labels
from evenhand.votes import Match
from tests.support.renamed_cases import renamed_cases

LEVELS = ["Excellent", "Very Good", "Good", "Bad"]
SCALES = [
    LEVELS,
    ["Yes", "No"],
    ["1", "2", "3", "4", "5"],
    ["A", "B", "Tie"],
    ["Output (a)", "Output (b)"],
    ["Met", "Not met"],
]
HARD_CASES = [
    json.loads(line) for line in Path(__file__).with_name("parsing_hard_cases.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", HARD_CASES, ids=lambda case: case["desc"])
def test_hard_case(case):
    match = match_closest_option(case["reply"], case["labels"], finish_reason=case.get("finish_reason"))
    assert (match.index, match.reason) == (case["index"], case.get("reason", match.reason))


@pytest.mark.parametrize("case", HARD_CASES, ids=lambda case: case["desc"])
def test_hard_case_with_the_labels_in_reverse(case):
    labels = case["labels"][::-1]
    match = match_closest_option(case["reply"], labels, finish_reason=case.get("finish_reason"))
    expected = None if case["index"] is None else len(labels) - 1 - case["index"]
    assert (match.index, match.reason) == (expected, case.get("reason", match.reason))


@pytest.mark.parametrize(
    "reply",
    [
        "{} or {}.",
        "It is {} or {} or maybe something else.",
        "It is {} or {} depending on the reader",
        "It is {} or perhaps {}, who knows.",
        "Verdict: {} or {} depending on taste",
        "Verdict: {} (or {}, if one is strict)",
        "Verdict: {}. Or {}.",
        "My answer is {}, or maybe {}.",
        "Final answer: {}/{}",
        "Selected option: {}|{}",
        "**{}** or **{}**, hard to say",
    ],
)
@pytest.mark.parametrize(
    "labels",
    [("Yes", "No"), ("Yes", "No", "N/A"), ("High", "Low"), ("All", "None", "Some"), ("1", "2", "3"), ("A", "B")],
    ids="/".join,
)
def test_one_of_two_is_no_verdict(reply, labels):
    for first, second in (labels[:2], labels[1::-1]):
        assert match_closest_option(reply.format(first, second), labels).index is None


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Yes. There are no or only minor errors.", "Yes"),
        ("Verdict: Yes, and no caveats.", "Yes"),
        ("No. It has some or all of the faults.", "No"),
        ("It gives a yes or no answer as asked. Verdict: Yes", "Yes"),
        ("Choose between Yes or No. My choice is No.", "No"),
    ],
)
def test_a_word_of_prose_beside_or_takes_no_verdict_away(reply, label):
    labels = ["Yes", "No", "N/A"]
    assert match_closest_option(reply, labels).index == labels.index(label)


def test_the_hard_cases_are_many_and_distinct():
    assert len(HARD_CASES) >= 120
    assert len({case["desc"] for case in HARD_CASES}) == len(HARD_CASES)
    assert {case.get("reason") for case in HARD_CASES} == {
        None,
        "empty",
        "refusal",
        "ambiguous",
        "no_match",
        "truncated",
        "content_filter",
    }


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("Good", "exact"),
        ("  Good\n", "exact"),
        ("**good**.", "normalized"),
        ("4/5", "none"),
        ("Answer: Good", "verdict"),
        ('{"verdict": "Good"}', "verdict"),
        ("It is Good because it cites its sources.", "mention"),
        ("Excelent", "near"),
        ("Perhaps", "none"),
    ],
)
def test_the_kind_names_the_rule(reply, kind):
    assert match_closest_option(reply, LEVELS).kind == kind


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "labels is empty"),
        (["Good", ""], "''"),
        (["Good", " \t"], "blank"),
        (["Very Good", "very  good"], "'Very Good' and 'very  good'"),
        (["good", "GOOD"], "equal but for case and space"),
    ],
)
def test_unusable_labels_are_refused(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        match_closest_option("Good", labels)


@pytest.mark.parametrize("reply", ["N/A", "n/a.", "NA", "N.A.", "Not applicable", "**not applicable**"])
@pytest.mark.parametrize("label", ["N/A", "Not applicable"])
def test_not_applicable_is_read_in_its_usual_spellings(reply, label):
    assert match_closest_option(reply, ["Yes", "No", label]).index == 2
    assert match_closest_option(f'{{"selected_option": "{reply}"}}', ["Yes", "No", label]).index == 2
    assert match_closest_option(reply, ["Yes", "No"]).index is None


def test_a_label_that_may_be_a_name_is_not_read_from_not_applicable():
    assert match_closest_option("Not applicable", ["NA", "EU"]).index is None
    assert match_closest_option("NA", ["N/A", "NA"]).index == 1


def test_a_match_is_a_frozen_value_that_survives_json():
    match = match_closest_option("Answer: Bad", LEVELS)
    assert Match.model_validate_json(match.model_dump_json()) == match
    with pytest.raises(FrozenInstanceError):
        match.index = 0
    with pytest.raises(ValidationError):
        Match(index=0, kind="exact", certainty=1.0)


@pytest.mark.parametrize("finish_reason", [None, "stop", "tool_calls", "something new"])
def test_other_finish_reasons_change_nothing(finish_reason):
    assert match_closest_option("Good", LEVELS, finish_reason=finish_reason).index == 2
    assert match_closest_option("", LEVELS, finish_reason=finish_reason).reason == "empty"


def test_a_cut_off_reply_keeps_the_verdict_that_it_states():
    assert match_closest_option("Verdict: Bad\nThe reason is", LEVELS, finish_reason="length").index == 3
    assert match_closest_option("It is probably Bad but", LEVELS, finish_reason="length").reason == "truncated"
    assert match_closest_option("Verdict: Bad", LEVELS, finish_reason="content_filter").index == 3
    assert match_closest_option("It is", LEVELS, finish_reason="content_filter").reason == "content_filter"


REPEATED = [
    "not ", "A, ", "A or ", "Good ", "very\n", "[[A", "{", '{"a":', '"', "'", "“", ">", "```\n",
    "<think>\n", "<verdict>",
    "\\boxed{", "1/", "1-", "1 of ", "-", "  ", "\n", "Answer: ", "Answer: \n", "my final ", "neither ",
    "**", "_", "#", "~~",
    "((", "A's ", "A is the ", "than A ", "rate it ", "score for ", "Output (a) and ", "不", "can't ", "a",
    "more x and ", "I ",
]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("Somewhat helpfal", "near"),  # one letter of 16 for another: 2 · 15 of 32 agree, 93.75 %
        ("Somewhet helpfal", "none"),  # two: 2 · 14 of 32, 87.5 %, which is below nine in ten
    ],
)
def test_a_misspelling_is_read_where_nine_in_ten_letters_agree(reply, kind):
    assert match_closest_option(reply, ["Somewhat helpful", "Not at all"]).kind == kind


@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("labels", [["A", "B"], ["Output (a)", "Output (b)"]], ids=["letters", "outputs"])
def test_a_long_hostile_reply_is_read_in_linear_time(repeated, labels):
    """Within five seconds; a pattern that looks at every pair of places needs 1.6 billion steps, which is far more."""
    reply = repeated * (40_000 // len(repeated))
    started = time.process_time()
    match = match_closest_option(reply, labels)
    assert time.process_time() - started < 5
    assert match.index is None or match.index in range(len(labels))


WORDS = st.text(alphabet=string.ascii_letters + "äßñéжя好ا", min_size=2, max_size=9)
LABELS = st.lists(WORDS, min_size=1, max_size=6, unique_by=lambda word: word.casefold())
REPLY_PIECES = st.sampled_from(
    [
        "Good",
        "Bad",
        "Excellent",
        "A",
        "B",
        "Yes",
        "No",
        "4",
        "5",
        "not",
        "than",
        "and",
        "or",
        "is",
        "better",
        "the",
        "answer:",
        "verdict",
        "[[A]]",
        "[[B]]",
        "{",
        "}",
        '"',
        "'",
        "**",
        ">",
        "```",
        "\n",
        ".",
        ",",
        "!",
        "?",
        "Therefore",
        "I",
        "choose",
        "tie",
        "neither",
        "both",
        "Output",
        "(a)",
        "Output",
        "(b)",
        "</think>",
        "<think>",
        "<verdict>",
        "</verdict>",
        "out",
        "of",
        "5",
        "-",
        "/",
        "sorry",
        "cannot",
    ]
)


@given(
    reply=st.one_of(st.text(), st.lists(REPLY_PIECES, max_size=40).map(" ".join)),
    labels=st.one_of(st.sampled_from(SCALES), LABELS),
)
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_and_the_result_is_coherent(reply, labels):
    match = match_closest_option(reply, labels)
    assert match.index is None or 0 <= match.index < len(labels)
    assert (match.index is None) == (match.kind == "none") == (match.reason is not None)
    assert match_closest_option(reply, labels) == match


@given(data=st.data(), reply=st.one_of(st.text(), st.lists(REPLY_PIECES, max_size=25).map(" ".join)))
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_labels_does_not_matter(data, reply):
    labels = data.draw(st.sampled_from(SCALES))
    order = data.draw(st.permutations(range(len(labels))))
    match = match_closest_option(reply, labels)
    shown = match_closest_option(reply, [labels[position] for position in order])
    assert (shown.kind, shown.reason) == (match.kind, match.reason)
    assert (None if shown.index is None else order[shown.index]) == match.index


@given(labels=LABELS, data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_label_as_the_whole_reply_is_itself(labels, data):
    index = data.draw(st.integers(0, len(labels) - 1))
    assert match_closest_option(labels[index], labels) == Match(index=index, kind="exact")


WRAPPERS = [
    "**{}**", "*{}*", "_{}_", "__{}__", "`{}`",
    "# {}", "### {}", "- {}", '"{}"', "'{}'", "“{}”", "„{}“", "«{}»", "« {} »",
    "「{}」", "『{}』", "{}.",
    "{}!", "{}。", "{}！", "¡{}!", "{}؟", "({})", "[{}]", "**{}.**", "\n\n{}\n", "```\n{}\n```",
    '**"{}"**.', "<b>{}</b>", "Answer: {}", "**Answer:** {}", "Final verdict: {}", "Final verdict: **{}**.", "[[{}]]",
    "<verdict>{}</verdict>", "<answer>\n{}\n</answer>", "The selected option is {}.", "\\boxed{{{}}}",
    '{{"verdict": "{}"}}', '```json\n{{"reasoning": "", "selected_option": "{}"}}\n```', "<think>hm</think>{}",
    "Verdict:\n\n{}",
]  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("labels", SCALES, ids=lambda labels: labels[0])
def test_wrapping_a_label_does_not_change_it(wrapper, labels):
    for index, label in enumerate(labels):
        assert match_closest_option(wrapper.format(label), labels).index == index, wrapper.format(label)


@given(
    words=st.lists(st.text(alphabet="cdfghjklmpqrtuvwxz", min_size=2, max_size=8), max_size=60),
    labels=st.sampled_from(SCALES),
)
@settings(max_examples=60, deadline=None)
def test_a_reply_without_any_word_of_the_labels_names_none(words, labels):
    of_labels = {word for label in labels for word in label.casefold().replace("(", " ").replace(")", " ").split()}
    assume(not of_labels & set(words))
    assert match_closest_option(" ".join(words), labels).index is None


OPTIONS_SHOWN = ["Option 1", "Option 2", "Option 3"]


@pytest.mark.parametrize(
    "reply",
    [
        "Option 1 (4/5), Option 2 (5/5), Option 3 (1/5).",
        "Option 1 (5/5)\nOption 2 (3/5)\nOption 3 (1/5)",
        "Option 1 (grade: 5)\nOption 2 (grade: 3)",
        "Option 1 – 5/5\nOption 2 – 3/5",
        "Option 1: good, 4/5; Option 2: bad, 1/5",
        "Option 1: 3\nOption 2: 5\nOption 3: 1",
        '{"Option 1": 3, "Option 2": 5, "Option 3": 1}',
    ],
)
def test_a_list_of_grades_is_not_a_verdict_for_the_option_that_heads_it(reply):
    assert match_closest_option(reply, OPTIONS_SHOWN).index is None


@pytest.mark.parametrize(
    ("reply", "index"),
    [
        ("Option 2 (5/5)", 1),
        ("Option 1 (4/5), Option 2 (5/5), Option 3 (1/5).\nSelected option: Option 2", 1),
        ("Selected option: Option 2\nAssessment: The best alternative is Option 1.", 1),
        ("**Selected option:** Option 2\n\n**Assessment:** I would choose Option 1 if brevity mattered.", 1),
        ("Selected option: Option 1\nAssessment: On reflection, no.\nSelected option: Option 2", 1),
    ],
)
def test_the_field_asked_for_counts_and_not_what_the_assessment_after_it_weighs(reply, index):
    assert match_closest_option(reply, OPTIONS_SHOWN).index == index


def test_a_verdict_counts_only_where_it_is_given_whatever_the_options_are_called():
    cases = list(renamed_cases())
    assert len(cases) > 1000
    wrong = [case for case in cases if match_closest_option(case[1], case[2]).index != case[3]]
    assert wrong == []


@given(
    reply=st.text(max_size=200),
    labels=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_no_reply_and_no_label_makes_the_reader_raise(reply, labels, data):
    try:
        compile_labels(tuple(labels))
    except InvalidInputError:
        assume(False)
    named = data.draw(st.sampled_from(labels))
    around = data.draw(
        st.sampled_from(["{}", "Verdict: {}", "It is not {}.", '{{"answer": "{}"}}', "[[{}]]", "{} or {}"])
    )
    for text in (reply, around.replace("{}", named), around.replace("{}", named.upper()), named.swapcase() + reply):
        match = match_closest_option(text, labels)
        assert match.index is None or 0 <= match.index < len(labels)


@pytest.mark.parametrize(
    ("reply", "labels", "index"),
    [
        ("İYİ", ["İyi", "Kötü"], 0),
        ("Cevap: iyi", ["İyi", "Kötü"], 0),
        ("The response is Off topıc.", ["On topic", "Off topic"], 1),
        ("Verdict: café", ["Cafe\N{COMBINING ACUTE ACCENT}", "Bar"], 0),
        (json.dumps({"selected_option": "\N{GRINNING FACE}"}), ["\N{GRINNING FACE}", "\N{POUTING FACE}"], 0),
        (json.dumps("\N{GRINNING FACE}"), ["\N{GRINNING FACE}", "\N{POUTING FACE}"], 0),
        ("Answer: x\N{SUPERSCRIPT TWO}", ["x2", "y"], None),
        ("Answer: x\N{SUPERSCRIPT TWO}", ["x\N{SUPERSCRIPT TWO}", "x2"], 0),
    ],
)
def test_both_sides_of_a_look_up_are_spelled_alike(reply, labels, index):
    assert match_closest_option(reply, labels).index == index


def test_two_forms_of_one_label_are_one_label():
    with pytest.raises(InvalidInputError, match="equal but for case and space"):
        match_closest_option("x", ["Caf\N{LATIN SMALL LETTER E WITH ACUTE}", "Cafe\N{COMBINING ACUTE ACCENT}"])

"""Recorded replies read again: what they state, and nothing that they do not."""

import gzip
import json
import random

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import Criterion, Option
from evenhand.data.rows import read_file
from evenhand.errors import InvalidInputError
from evenhand.parsing import match_closest_option
from tests.support.shared import shared_path

QUALITY = Criterion(
    name="quality",
    description="How good is it?",
    options=tuple(Option(label=label, value=value) for label, value in (("Bad", 0.0), ("Fair", 0.5), ("Good", 1.0))),
)
ROWS = [
    {"reply": "Good", "right": "Good", "page": "a"},
    {"reply": "It is not Good.\n\nThe verdict: Fair", "right": "Good", "page": "a"},
    {"reply": "Somewhere between Bad and Fair.", "right": "Bad", "page": "b"},
    {"reply": None, "right": "Bad", "page": "b"},
    {"reply": '{"selected_option": "Bad"}', "right": "Bad", "page": "c"},
]


def test_each_reply_is_the_vote_that_it_states_or_says_why_not():
    table = evenhand.read_replies(ROWS, "reply", QUALITY, gold_fields="right")
    votes = [verdict.votes[0] for verdict in table.verdicts]
    assert [vote.selected_label for vote in votes] == ["Good", "Fair", None, None, "Bad"]
    assert [vote.match.kind for vote in votes] == ["exact", "line", "none", "none", "json"]
    assert [vote.unscored_reason for vote in votes] == [None, None, "no_match", "empty", None]
    assert [vote.completion.text for vote in votes] == [row["reply"] for row in ROWS]
    assert table.summary.scores.score.estimate == pytest.approx((1 + 0.5 + 0) / 3)
    assert table.summary.comparison.accuracy.estimate == pytest.approx(2 / 3)  # Good, Fair for Good, Bad
    text = str(table)
    assert "How the 3 selections were read: 1 exact (33 %), 1 json (33 %), 1 line (33 %)." in text
    assert "2 of 5 votes unscored (2 rows affected), 2 verdicts unscored: 1 empty, 1 no_match." in text


def test_the_rows_are_recorded_votes_for_other_functions():
    table = evenhand.read_replies(ROWS, "reply", QUALITY, gold_fields="right", cluster_field="page")
    rows = table.to_rows()
    assert rows[1] == {
        "instance": 1,
        "reference": "Good",
        "cluster": "a",
        "reply": "Fair",
        "reply_match": "line",
        "reply_unscored_reason": None,
    }
    again = evenhand.aggregate_votes(rows, "reply", QUALITY, gold_fields="reference", cluster_field="cluster")
    assert again.summary.scores.score == table.summary.scores.score
    assert again.summary.comparison == table.summary.comparison
    pair = evenhand.agreement(rows, "reply", QUALITY, gold_fields="reference", cluster_field=False).pair(
        "reply", "reference"
    )
    assert pair.num_compared == 3


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_what_was_read_is_saved_with_its_texts_and_scored_by_other_rules(suffix, tmp_path):
    rows = [{"one": "Good", "two": "Bad"}, {"one": "Fair", "two": "Fair"}]
    table = evenhand.read_replies(rows, ["one", "two"], QUALITY)
    table.save(tmp_path / f"read.{suffix}")
    opened = evenhand.open(tmp_path / f"read.{suffix}")
    assert opened == table
    assert [verdict.selected_label for verdict in opened.rescore(rule="min").verdicts] == ["Bad", "Fair"]


def test_long_data_name_the_judge_and_the_instance():
    rows = [
        {"item": 1, "judge": "gpt", "text": "Good", "right": "Good"},
        {"item": 2, "judge": "gpt", "text": "Bad", "right": None},
        {"item": 1.0, "judge": "llama", "text": "Bad", "right": "Good"},
        {"item": 1, "judge": "gpt", "text": "Fair", "right": "Good"},
    ]
    table = evenhand.read_replies(rows, "text", QUALITY, judge_field="judge", id_field="item", gold_fields="right")
    first, second = table.verdicts
    assert [(vote.judge_id, vote.sample, vote.selected_label) for vote in first.votes] == [
        ("gpt", 0, "Good"),
        ("llama", 0, "Bad"),
        ("gpt", 1, "Fair"),
    ]
    assert [vote.selected_label for vote in second.votes] == ["Bad"]
    assert table.references == ("Good", None)
    assert table.to_rows()[0]["gpt_1"] == "Fair"
    with pytest.raises(InvalidInputError, match="row 3 has the gold label 'Bad', and row 0, about the same, 'Good'"):
        evenhand.read_replies(
            [*rows[:3], {**rows[3], "right": "Bad"}], "text", QUALITY, id_field="item", gold_fields="right"
        )


def test_a_pattern_reads_the_form_that_another_tool_asked_for():
    texts = [
        "Feedback: fine. [RESULT] Good",
        "[RESULT] Bad, no: [RESULT] Good",
        "[RESULT] Fair [RESULT] fair",
        "Good",
        None,
    ]
    texts += ["[RESULT] Superb"]
    table = evenhand.read_replies([{"reply": text} for text in texts], "reply", QUALITY, pattern=r"\[RESULT\] (\w+)")
    votes = [verdict.votes[0] for verdict in table.verdicts]
    assert [vote.selected_label for vote in votes] == ["Good", None, "Fair", None, None, None]
    assert [vote.unscored_reason for vote in votes] == [None, "ambiguous", None, "no_match", "empty", "no_match"]


@pytest.mark.parametrize("pattern", ["(", r"\w+", r"(\w)(\w)", 3])
def test_a_pattern_without_exactly_one_group_is_refused(pattern):
    with pytest.raises(InvalidInputError, match=r"pattern is .*(one group|exactly one)"):
        evenhand.read_replies([{"reply": "Good"}], "reply", QUALITY, pattern=pattern)


def test_lists_are_repeated_draws():
    table = evenhand.read_replies([{"replies": ["Good", "Fair", "Good"]}], "replies", QUALITY)
    [verdict] = table.verdicts
    assert [(vote.sample, vote.selected_label) for vote in verdict.votes] == [(0, "Good"), (1, "Fair"), (2, "Good")]
    assert verdict.selected_label == "Good"


def test_a_reply_that_was_cut_off_says_so():
    rows = [{"reply": "The answer shows that", "finish": "length"}, {"reply": "Good", "finish": None}]
    table = evenhand.read_replies(rows, "reply", QUALITY, finish_reason_field="finish")
    assert [verdict.unscored_reason for verdict in table.verdicts] == ["truncated", None]


PAIR = Criterion(
    name="better",
    description="Which is better?",
    options=(Option(label="A", value=1.0), Option(label="tie", value=0.5), Option(label="B", value=0.0)),
)


def test_a_pair_shown_in_both_orders_is_read_in_its_own():
    rows = [
        {"pair": 1, "swapped": False, "text": "[[A]]"},
        {"pair": 1, "swapped": True, "text": "[[B]]"},
        {"pair": 2, "swapped": "false", "text": "[[A]]"},
        {"pair": 2, "swapped": "true", "text": "[[A]]"},
        {"pair": 3, "swapped": 0, "text": "tie"},
        {"pair": 3, "swapped": 1, "text": "tie"},
    ]
    table = evenhand.read_replies(rows, "text", PAIR, id_field="pair", swapped_field="swapped")
    assert [verdict.selected_label for verdict in table.verdicts] == ["A", "tie", "tie"]
    assert [verdict.position_consistent for verdict in table.verdicts] == [True, False, True]
    assert table.to_rows()[1]["text_swapped"] == "B"
    with pytest.raises(InvalidInputError, match="row 2 has in 'pair' 2, which is not an option of 'swapped_field'"):
        evenhand.read_replies(rows, "text", PAIR, swapped_field="pair")
    lopsided = PAIR.model_copy(update={"options": (*PAIR.options[:2], Option(label="B", value=0.4))})
    with pytest.raises(InvalidInputError, match="mirrors the options of 'better' by their values"):
        evenhand.read_replies(rows, "text", lopsided, swapped_field="swapped")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replies": "answer"}, "replies names the column 'answer', which no row has. Did you mean|Accepted"),
        ({"replies": []}, r"replies is \(\); name at least one column"),
        ({"replies": ["reply", "right"], "judge_field": "page"}, "judge_field='page' says that a row is one judge's"),
        ({"replies": "reply", "judge": "page"}, "there is no option 'judge'. Did you mean 'judge_field'"),
        ({"replies": "reply", "gold_fields": "page"}, "is not an option of 'quality'"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_message(options, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.read_replies(ROWS, criteria=QUALITY, **options)


def test_the_shell_reads_replies_and_writes_the_votes(tmp_path, capsys):
    data, criterion, out = tmp_path / "log.jsonl.gz", tmp_path / "quality.json", tmp_path / "votes.parquet"
    data.write_bytes(gzip.compress("".join(json.dumps({"out": row}) + "\n" for row in ROWS).encode()))
    criterion.write_text(QUALITY.model_dump_json())
    arguments = [
        "read-replies",
        str(data),
        "--replies",
        "out.reply",
        "--criteria",
        str(criterion),
        "--gold-fields",
        "out/right",
    ]
    assert main([*arguments, "--max-unscored", "1", "--out", str(out)]) == 0
    assert "How the 3 selections were read" in capsys.readouterr().out
    assert [verdict.selected_label for verdict in evenhand.open(out).verdicts] == ["Good", "Fair", None, None, "Bad"]


def test_recorded_judges_are_read_as_the_reader_reads_each_reply():
    """Replies of MT-bench's judges, where the recorded data are at hand."""
    rows = read_file(shared_path("data/posbias_mtbench_raw.jsonl.gz"))
    sample = random.Random(0).sample(rows, 120)
    labels = Criterion(
        name="better",
        description="",
        options=tuple(Option(label=label, value=value) for label, value in (("A", 1.0), ("C", 0.5), ("B", 0.0))),
    )
    table = evenhand.read_replies(sample, "text", labels, cluster_field=False)
    for row, verdict in zip(sample, table.verdicts, strict=True):
        assert verdict.votes[0].match == match_closest_option(row["text"], ["A", "C", "B"])


def test_a_column_whose_name_has_a_dot_is_never_taken_for_a_nested_one():
    rows = [{"gpt-4.1": "Good", "gpt-4": ["Bad", "Bad"]}, {"gpt-4": ["Bad", "Bad"]}]
    table = evenhand.read_replies(rows, "gpt-4.1", QUALITY)
    assert [len(verdict.votes) for verdict in table.verdicts] == [1, 0]
    votes = evenhand.aggregate_votes(rows, "gpt-4.1", QUALITY)
    assert [verdict.unscored_reason for verdict in votes.verdicts] == [None, "not_asked"]


@pytest.mark.parametrize("column", ["judge/vote", "judge.vote"])
def test_recorded_votes_may_stand_in_a_nested_column(column):
    rows = [{"judge": {"vote": "Good"}, "right": "Good"}, {"judge": {"vote": "Bad"}, "right": "Good"}]
    table = evenhand.aggregate_votes(rows, column, QUALITY, gold_fields="right")
    assert [verdict.selected_label for verdict in table.verdicts] == ["Good", "Bad"]

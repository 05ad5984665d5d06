"""Recorded preferences of AlpacaEval, MT-Bench and Chatbot Arena, in the shape in which these write them."""

from collections import Counter

import pytest

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from tests.support.shared import shared_path


def alpaca(preference, **more):
    return {
        "instruction": "Name a spider.",
        "output_1": "Tarantula.",
        "generator_1": "gpt4",
        "dataset": "helpful_base",
        "output_2": "I like trains.",
        "generator_2": "small",
        "annotator": "weighted_alpaca_eval",
        "preference": preference,
        "raw_completion": "M",
        **more,
    }


@pytest.mark.parametrize(
    ("preference", "winner", "vote"),
    [
        (1, "gpt4", "first"),
        (1.5, "tie", "tie"),
        (1.0000021, "gpt4", "first"),
        (1.97, "small", "second"),
        (None, None, None),
    ],
)
def test_a_preference_of_alpaca_eval_is_a_winner(preference, winner, vote):
    [row] = evenhand.read_log([alpaca(preference)])
    assert (row["winner"], row["vote"], row["first"], row["second"]) == (winner, vote, "gpt4", "small")
    assert (row["judge"], row["reply"], row["first_response"]) == ("weighted_alpaca_eval", "M", "Tarantula.")
    assert row["swapped"] is None  # the order shown is not recorded


@pytest.mark.parametrize("preference", [3, 0.4, "first", True])
def test_what_is_no_preference_is_refused(preference):
    with pytest.raises(InvalidInputError, match=r"annotation 0 of the log has the preference .*; accepted: a number"):
        evenhand.read_log([alpaca(preference)])


@pytest.mark.parametrize("winner", [0, 1, "first"])
def test_a_winner_by_a_code_is_refused(winner):
    with pytest.raises(InvalidInputError, match=rf"has the g1_winner {winner!r}; accepted: 'model_1', "):
        evenhand.read_log([pair(winner, "tie")])


def pair(g1, g2, replies=("[[A]]", "[[B]]"), **more):
    return {
        "question_id": 81,
        "model_1": "alpaca-13b",
        "model_2": "vicuna-13b",
        "g1_winner": g1,
        "g2_winner": g2,
        "judge": ["gpt-4", "pair-v2"],
        "g1_user_prompt": "…",
        "g1_judgment": replies[0],
        "g2_user_prompt": "…",
        "g2_judgment": replies[1],
        "turn": 1,
        "tstamp": 1686286924.0,
        **more,
    }


BETTER = Criterion(
    name="better",
    description="Which is better?",
    options=tuple(Option(label=label, value=value) for label, value in (("A", 1.0), ("C", 0.5), ("B", 0.0))),
)


def test_a_comparison_of_mt_bench_is_a_row_for_each_order():
    rows = evenhand.read_log([pair("model_1", "model_2"), pair("error", "tie", ("$ERROR$", "[[C]]"), question_id=82)])
    assert [(row["id"], row["swapped"], row["winner"], row["vote"], row["reply"]) for row in rows] == [
        (81, False, "alpaca-13b", "first", "[[A]]"),
        (81, True, "vicuna-13b", "second", "[[B]]"),
        (82, False, None, None, None),
        (82, True, "tie", "tie", "[[C]]"),
    ]
    assert {(row["judge"], row["prompt"]) for row in rows} == {("gpt-4", "pair-v2")}
    assert [row["pair"] for row in rows[::2]] == [f"{each}/1/alpaca-13b/vicuna-13b/pair-v2" for each in (81, 82)]


def test_its_replies_are_read_again_in_both_orders():
    """In the second game vicuna is shown first: its [[B]] is for alpaca, as the first game's [[A]]."""
    log = [pair("model_1", "model_1"), pair("model_1", "model_2", ("[[A]]", "[[A]]"), question_id=82)]
    fields = {"id_field": "pair", "swapped_field": "swapped", "judge_field": "judge", "cluster_field": False}
    table = evenhand.read_replies(evenhand.read_log(log), "reply", BETTER, **fields)
    assert [verdict.selected_label for verdict in table.verdicts] == ["A", "C"]
    assert [verdict.position_consistent for verdict in table.verdicts] == [True, False]


def test_recorded_judgements_of_mt_bench_are_read_again():
    """The authors' verdicts on 14,400 recorded replies, as ``gen_judgment.py`` would have written them, and ours."""
    recorded = read_rows(shared_path("data/posbias_mtbench_raw.jsonl.gz"))[:400]
    winners = {"A": "model_1", "B": "model_2", "C": "tie"}
    games = [
        pair(winners.get(row["parsed"], "error"), "error", (row["text"], "$ERROR$"), question_id=number)
        for number, row in enumerate(recorded)
    ]
    rows = [row for row in evenhand.read_log(games) if not row["swapped"]]
    assert Counter(row["vote"] for row in rows)[None] < 40
    table = evenhand.read_replies(rows, "reply", BETTER, cluster_field=False)
    votes = {"A": "first", "C": "tie", "B": "second", None: None}
    differ = [
        row for row, verdict in zip(rows, table.verdicts, strict=True) if votes[verdict.selected_label] != row["vote"]
    ]
    assert len(differ) <= 8  # of 400; the authors take the first [[…]], whatever is said after it

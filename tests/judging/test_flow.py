"""How one vote comes about: what is said in which order, and what the replies become."""

import asyncio
import json
import re

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.errors import (
    BudgetExhaustedError,
    EngineError,
    FatalEngineError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.judging import conversation
from evenhand.judging.conversation import Flow
from evenhand.parsing import read_reply
from evenhand.question import Question, comparison_criterion
from evenhand.votes import Completion
from tests.support.judges import ScriptedJudge, chooses

LEVELS = Criterion(
    name="level",
    description="How good is it?",
    options=(
        Option(label="High", value=1.0),
        Option(label="Mid", value=0.5),
        Option(label="Low", value=0.0),
        Option(label="N/A", na=True),
    ),
)
GIVEN, REVERSED = (0, 1, 2, 3), (3, 2, 1, 0)
ASSESSMENT = Question(id="1", criterion=LEVELS, responses=("an answer",), context={"question": "why?"})


def comparison(*, allow_ties=False, graded=False):
    criterion = comparison_criterion("better", "Which is better?", allow_ties=allow_ties, graded=graded)
    return Question(id="1", criterion=criterion, responses=("first", "second"), mode="compare")


def ask(judge, question=ASSESSMENT, order=GIVEN, *, sample=0, weight=1.0, **flow):
    [vote] = asyncio.run(conversation.ask(Flow(**flow), [question], [order], sample, judge, weight=weight))
    return vote


def one_step(verdict, reasons="It says why."):
    return json.dumps({"assessment": reasons, "selected_option": verdict})


MENTION = "Something like Low."
RATE_LIMIT = TransientEngineError("busy", cause="http_429")
SPENT = BudgetExhaustedError("max_calls=1 is spent")
LATER = {
    "stated": ("Mid", ("Mid", "exact")),
    "stated in a line": ("It is long.\n\nMy verdict: High", ("High", "line")),
    "stated with the nonce": ("I said Low.\n<verdict-{nonce}>Mid</verdict-{nonce}>", ("Mid", "tag")),
    "mentioned again": ("It leans Low.", (None, "no_match")),
    "contradictory": ("[[Low]] or [[Mid]]", (None, "ambiguous")),
    "refused": ("I'm sorry, but I cannot assess this.", (None, "refusal")),
    "filtered": (Completion(text=None, finish_reason="content_filter"), (None, "content_filter")),
    "empty": ("", (None, "empty")),
    "cut off": (Completion(text="As", finish_reason="length"), (None, "truncated")),
    "failed": (RATE_LIMIT, (None, "engine_error")),
    "not paid for": (SPENT, (None, "budget")),
}


@pytest.mark.parametrize("flow", ["two_step", "one_step", "verdict_only"])
@pytest.mark.parametrize(("later", "expected"), LATER.values(), ids=LATER)
def test_a_reply_in_none_of_the_forms_is_asked_for_again_with_the_form(flow, later, expected):
    before = ["It is clear."] if flow == "two_step" else []

    def reply(request):
        said = [*before, MENTION, later][len(judge.requests) - 1]
        nonce = re.findall(r"<verdict-([0-9a-f]{8})>", request.messages[-1]["content"])
        return said.format(nonce=nonce[0]) if isinstance(said, str) and nonce else said

    judge = ScriptedJudge(reply)
    vote = ask(judge, flow=flow)
    assert judge.stages[-1] == "reask"
    assert len(judge.requests) == len(before) + 2
    assert (vote.selected_label, vote.match.kind if expected[0] else vote.unscored_reason) == expected
    assert vote.reasks == 1


def test_a_reply_at_which_the_reader_fails_is_unscored_and_told_and_the_next_one_is_read(monkeypatch, caplog):
    def fails_at_odd_replies(text, labels, **options):
        if text == "odd":
            raise RecursionError("too deep")
        return read_reply(text, labels, **options)

    monkeypatch.setattr(conversation, "read_reply", fails_at_odd_replies)
    vote = ask(ScriptedJudge(["odd"]), flow="verdict_only", max_reasks=0)
    assert (vote.selected_index, vote.unscored_reason) == (None, "no_match")
    assert vote.error == "the reader failed: RecursionError('too deep')"
    assert "A reply of scripted could not be read: 'odd'" in caplog.text
    assert ask(ScriptedJudge(["odd", "Low"]), flow="verdict_only").selected_label == "Low"


@pytest.mark.parametrize("reasks", [0, 1, 3])
def test_after_the_reasks_the_vote_is_unscored(reasks):
    judge = ScriptedJudge(chooses("hm"))
    vote = ask(judge, max_reasks=reasks)
    assert len(judge.requests) == 2 + reasks
    assert (vote.selected_index, vote.selected_label, vote.value, vote.unscored_reason) == (
        None,
        None,
        None,
        "no_match",
    )
    assert (vote.reasks, vote.completion.text, vote.match.kind) == (reasks, "hm", "none")


@pytest.mark.parametrize(
    ("reply", "order", "label"),
    [
        ("Response A", (0, 1), "Response A"),
        ("Response A", (1, 0), "Response B"),
        ("Response B", (1, 0), "Response A"),
        ("B", (0, 1), "Response B"),
        ("B", (1, 0), "Response A"),
        ("**A**", (0, 1), "Response A"),
        ("[[A]]", (1, 0), "Response B"),
        ("Verdict: B.", (0, 1), "Response B"),
        ('{"selected_option": "A"}', (1, 0), "Response B"),
    ],
)
@pytest.mark.parametrize("ties", [False, True])
def test_a_comparison_is_read_back_by_what_was_shown(reply, order, label, ties):
    vote = ask(ScriptedJudge(chooses(reply)), comparison(allow_ties=ties), order)
    assert (vote.selected_label, vote.unscored_reason, vote.reasks) == (label, None, 0)
    assert vote.value == {"Response A": 1.0, "Response B": 0.0}[label]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Completion(text=None), "empty"),
        (Completion(text=""), "empty"),
        (Completion(text=" \n"), "empty"),
        (Completion(text=None, finish_reason="length"), "truncated"),
        (Completion(text="", finish_reason="length"), "truncated"),
        (Completion(text=None, finish_reason="content_filter"), "content_filter"),
    ],
)
def test_without_an_assessment_nothing_is_selected(reply, reason):
    judge = ScriptedJudge([reply])
    vote = ask(judge, generate_summaries=True)
    assert (vote.selected_index, vote.unscored_reason, vote.assessment, vote.summary) == (None, reason, None, None)
    assert vote.completion == reply
    assert len(judge.requests) == 1


@pytest.mark.parametrize("error", [TransientEngineError("lost", cause="connection"), BudgetExhaustedError("max_calls")])
def test_a_failing_summary_does_not_lose_the_vote(error):
    vote = ask(
        ScriptedJudge(lambda request: error if request.stage == "summary" else chooses("Mid")(request)),
        generate_summaries=True,
    )
    assert (vote.selected_label, vote.unscored_reason, vote.summary) == ("Mid", None, None)
    assert vote.error.startswith("summary: ")


@pytest.mark.parametrize("stage", ["assessment", "selection", "reask"])
@pytest.mark.parametrize(
    ("error", "reason", "told"),
    [
        (TransientEngineError("gone", cause="http_500"), "engine_error", "http_500: judge 'scripted': gone"),
        (RejectedRequestError("too long", cause="http_400"), "engine_error", "http_400: judge 'scripted': too long"),
        (FatalEngineError("wrong key", cause="http_401"), "engine_error", "http_401: judge 'scripted': wrong key"),
        (EngineError("odd"), "engine_error", "engine_error: judge 'scripted': odd"),
        (BudgetExhaustedError("max_calls=2 was reached"), "budget", "max_calls=2 was reached"),
    ],
)
def test_a_call_that_fails_leaves_an_unscored_vote(stage, error, reason, told):
    vote = ask(ScriptedJudge(lambda request: error if request.stage == stage else "hm"))
    assert (vote.selected_index, vote.unscored_reason, vote.error, vote.match) == (None, reason, told, None)
    assert vote.assessment == (None if stage == "assessment" else "hm")

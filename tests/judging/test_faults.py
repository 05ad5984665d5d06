"""What a user gets when the server fails: which rows are unscored and why, that the rest is scored, and the calls."""

import pytest

import evenhand
from evenhand.functions import judge
from tests.support.judges import http_judge
from tests.support.questions import LEVELS
from tests.support.server import Fault, JudgeServer, conversation

ROWS = [{"response": f"answer {number}"} for number in range(5)]
HIT = 2
UNDISTURBED = 2 * len(ROWS)  # an assessment and a selection for each
ROW = f"answer {HIT}"
AFTER = f"reasons for {ROW}"  # what a request holds once the row was assessed


def reply(body):
    """The assessment names its row, so that a fault can wait for it; the verdict is always Mid."""
    if len(body["messages"]) > 1:
        return '{"selected_option": "Mid"}' if "response_format" in body else "Mid"
    return next(f"reasons for {row['response']}" for row in ROWS if row["response"] in conversation(body))


def assess(server, *, rows=ROWS, journal=None, max_failure_rate=1.0, options=None, **settings):
    return judge(
        rows,
        LEVELS,
        http_judge(server.base_url, **settings),
        check_positional_bias=False,
        journal=journal,
        max_failure_rate=max_failure_rate,
        progress=False,
        **(options or {}),
    )


def votes_of(table):
    return [judgement.verdict.votes[0] for judgement in table.entries]


@pytest.mark.parametrize(
    ("fault", "settings", "reason", "told", "calls"),
    [
        # in place of the row's two calls: so many attempts at the first one, or the first and so many at the second
        (Fault("status", status=500, match=ROW), {"max_retries": 2}, "engine_error", "http_500", 3),
        (Fault("status", status=500, match=AFTER), {"max_retries": 2}, "engine_error", "http_500", 1 + 3),
        (Fault("status", status=400, match=ROW), {"max_retries": 2}, "engine_error", "http_400", 1),
        (Fault("status", status=413, match=AFTER), {"max_retries": 2}, "engine_error", "http_413", 1 + 1),
        (Fault("hang", match=ROW), {"max_retries": 1, "timeout": 0.4}, "engine_error", "timeout", 2),
        (Fault("cut", match=ROW), {"max_retries": 1}, "engine_error", "connection", 2),
        (Fault("cut_body", match=AFTER), {"max_retries": 1}, "engine_error", "connection", 1 + 2),
        (Fault("no_choices", match=ROW), {"max_retries": 1}, "engine_error", "garbage", 2),
        (Fault("empty", match=ROW), {"max_retries": 2}, "empty", None, 1),
        (Fault("empty", match=AFTER), {}, "empty", None, 1 + 2),  # the selection and its re-ask
        (Fault("content_filter", match=ROW), {}, "content_filter", None, 1),
        (Fault("content_filter", match=AFTER), {}, "content_filter", None, 1 + 1),  # not asked again
        (Fault("truncate", match=AFTER), {}, "truncated", None, 1 + 2),
    ],
    ids=lambda value: f"{value.kind}-{value.status}-{value.match}" if isinstance(value, Fault) else None,
)
def test_what_does_not_pass_leaves_one_row_unscored_and_says_why(fault, settings, reason, told, calls):
    with JudgeServer(reply=reply, faults=[fault]) as server:
        table = assess(server, **settings)
    votes = votes_of(table)
    assert [vote.unscored_reason for vote in votes] == [reason if row == HIT else None for row in range(5)]
    assert [vote.selected_label for vote in votes] == [None if row == HIT else "Mid" for row in range(5)]
    assert server.seen == UNDISTURBED - 2 + calls
    verdict = table.entries[HIT].verdict
    assert (verdict.unscored_reason, verdict.aggregated_value) == (reason, None)
    assert (votes[HIT].error is None) == (told is None)
    if told is not None:
        assert votes[HIT].error.startswith(f"{told}: ")
    summary = table.summaries["response", "level"]
    assert (summary.num_unscored, summary.score.estimate) == (1, 0.5)  # never 0, never the nearest label
    assert (summary.score_if_unscored_0, summary.score_if_unscored_1) == (2 / 5, 3 / 5)
    assert dict(summary.unscored_counts.reasons) == {reason: 1}
    # a row without any reply says nothing about how well the replies can be read; a reply that was asked for again was
    # one more that could not be read: 4 of 6, for two selections of this row
    unscored = {3: 4 / 6}.get(calls, 4 / 5)
    assert summary.parse_rate.estimate == pytest.approx(1.0 if reason == "engine_error" else unscored)
    assert f"1 {reason}" in str(table)


def test_a_truncated_assessment_is_still_followed_by_a_verdict():
    with JudgeServer(reply=reply, faults=[Fault("truncate", match=ROW, times=1)]) as server:
        table = assess(server)
    assert votes_of(table)[HIT].selected_label == "Mid"
    assert reply({"messages": [{"content": ROW}]}).startswith(votes_of(table)[HIT].assessment)
    assert server.seen == UNDISTURBED


def test_half_a_character_in_the_data_is_shown_as_a_replacement(tmp_path):
    with JudgeServer(reply=lambda body: "Mid") as server:
        table = assess(server, rows=[{"response": "cut \ud83d"}], structured_output=False)
    assert "cut \ufffd" in conversation(server.bodies[0])
    table.save(tmp_path / "table.parquet")
    assert evenhand.open(tmp_path / "table.parquet").entries == table.entries
    how = {"response_fields": "\ud83d", "guidelines": "\ud83d", "journal": None}
    judge([{"\ud83d": "good"}], "Is it?", evenhand.SimulatedEngine(), **how).save(tmp_path / "named.parquet")
    assert [*evenhand.open(tmp_path / "named.parquet").systems] == ["\ufffd"]
    graded = evenhand.grade_scores(
        [{"a": "x", "\ud83d": "y"}], "Which?", evenhand.SimulatedEngine(), response_fields=["a", "\ud83d"], journal=None
    )
    for name in ("graded.parquet", "graded.jsonl"):
        graded.save(tmp_path / name)

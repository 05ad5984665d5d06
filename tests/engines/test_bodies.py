"""Bodies of replies are read to a bound, and unpacked to one; what is longer is a reply that nobody reads."""

import pytest

from evenhand.engines.remote import RemoteEngine
from evenhand.engines.replies import MOST_CHARACTERS, decode_reply, short_enough
from evenhand.errors import InvalidInputError, ReplyTooLongError
from evenhand.votes import Completion
from tests.support.asking import ask, ask_all, request
from tests.support.judges import http_judge
from tests.support.server import Fault, JudgeServer


@pytest.mark.parametrize("body", [b"[" * 70_000, b"[" * 30_000 + b"]" * 30_000, b"[" + b"1," * 200_000 + b"1]"])
def test_json_that_is_little_but_brackets_and_commas_is_not_read(body):
    with pytest.raises(ReplyTooLongError):
        decode_reply(body)


def test_a_text_longer_than_a_verdict_is_looked_for_in_is_not_read_in_part():
    usage = {"prompt_tokens": 3, "completion_tokens": 9, "cost": 0.5}
    longer = short_enough(Completion(text="Yes" + " " * MOST_CHARACTERS, finish_reason="stop", **usage))
    assert longer == Completion(text=None, finish_reason="too_long", **usage)
    fits = Completion(text="Yes".ljust(MOST_CHARACTERS), finish_reason="stop")
    assert short_enough(fits) is fits
    assert short_enough(Completion(text="Yes", reasoning="x" * (MOST_CHARACTERS + 1))).reasoning is None


def judge_at(server, **settings):
    return http_judge(server.base_url, **{"max_retries": 2, "backoff": 0.001, "timeout": 30.0, **settings})


def test_the_limit_is_a_field_of_the_engine():
    with JudgeServer(reply="Good", faults=[Fault("inflated", size=100_000)]) as server:
        assert ask(judge_at(server)).text == "Good"
        assert ask(judge_at(server, max_reply_bytes=100_000)).text == "Good"
        assert ask(judge_at(server, max_reply_bytes=99_999)).finish_reason == "too_long"
        assert ask(judge_at(server, max_reply_bytes=100)).finish_reason == "too_long"  # as it is sent
    with pytest.raises(InvalidInputError, match="max_reply_bytes is 0"):
        RemoteEngine(model="m", max_reply_bytes=0)


def test_interim_answers_end_with_the_time_of_the_call():
    with JudgeServer(reply="Good", faults=[Fault("informational", size=50)]) as server:
        assert ask(judge_at(server)).text == "Good"


def test_an_errors_body_is_read_to_a_bound():
    body = Fault("status", status=500, message="overloaded " + "x" * 3_000_000, on=[1])
    with JudgeServer(reply="Good", faults=[body]) as server:
        assert ask(judge_at(server)).text == "Good"
    with JudgeServer(faults=[Fault("status", status=400, message="no such thing " + "x" * 3_000_000)]) as server:
        [refused] = ask_all(judge_at(server), [request()])
    assert "no such thing" in str(refused)
    assert len(str(refused)) < 1000

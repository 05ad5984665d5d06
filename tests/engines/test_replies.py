import math

import pytest

from evenhand.engines.replies import (
    decode_reply,
    read_completion,
    read_error,
)
from evenhand.errors import (
    ConnectionLostError,
    FatalEngineError,
    RateLimitedError,
    RejectedRequestError,
    TransientEngineError,
)
from evenhand.votes import Completion


def reply(message, **more):
    return {"model": "m", "choices": [{"message": message, "finish_reason": "stop", **more}]}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Good"}, "Good"),
        ({"content": ""}, ""),
        ({"content": None}, None),
        ({}, None),
        ({"content": [{"type": "text", "text": "Go"}, {"type": "image"}, "od"]}, "Good"),
        ({"content": []}, None),
        ({"content": None, "refusal": "I cannot judge this."}, "I cannot judge this."),
        ({"content": "Good", "refusal": None}, "Good"),
        ({"content": "Good", "reasoning_content": "Bad? No."}, "Good"),
        ({"content": None, "reasoning_content": "It is Good"}, None),
        ({"content": 4}, None),
    ],
)
def test_the_text_is_the_content_and_nothing_else(message, text):
    assert read_completion(reply(message)).text == text


NOT_FINITE = [math.nan, math.inf, -math.inf, 10**400, True, "-1", None]


@pytest.mark.parametrize("number", NOT_FINITE)
def test_what_is_no_finite_number_is_none_in_logprobs_cost_and_counts(number):
    content = [
        {"token": "Yes", "logprob": number},
        {
            "token": "No",
            "logprob": -2,
            "top_logprobs": [{"token": "a", "logprob": number}, {"token": "b", "logprob": -3}],
        },
    ]
    whole = reply({"content": "Yes"}, logprobs={"content": content}) | {
        "usage": {"prompt_tokens": number, "cost": number}
    }
    completion = read_completion(whole)
    kept = -9999.0 if number == -math.inf else None  # the logarithm of 0 is one
    assert [(token.token, token.logprob, token.top) for token in completion.logprobs] == [
        ("Yes", kept, ()),
        ("No", -2.0, (("a", kept), ("b", -3.0))),
    ]
    assert (completion.cost, completion.prompt_tokens) == (None, None)
    assert Completion.adapter.validate_json(Completion.adapter.dump_json(completion)) == completion


MESSAGE = '{"content": "Good"}'
TWICE = {
    "choices": f'{{"choices": [{{"message": {MESSAGE}}}], "choices": [{{"message": {MESSAGE}}}]}}',
    "message": f'{{"choices": [{{"message": {MESSAGE}, "message": {{"content": "Bad"}}}}]}}',
    "content": '{"choices": [{"message": {"content": "Good", "content": "Bad"}}]}',
    "finish_reason": f'{{"choices": [{{"message": {MESSAGE}, "finish_reason": "length", "finish_reason": "stop"}}]}}',
    "logprob": '{"choices": [{"logprobs": {"content": [{"token": "a", "logprob": -1, "logprob": 0}]}}]}',
    "cost": f'{{"choices": [{{"message": {MESSAGE}}}], "usage": {{"cost": 1, "cost": 0}}}}',
}


@pytest.mark.parametrize(("name", "body"), TWICE.items(), ids=TWICE)
def test_a_body_that_says_twice_what_is_read_is_refused_with_the_name(name, body):
    with pytest.raises(TransientEngineError, match=f"'{name}' twice") as caught:
        decode_reply(body.encode())
    assert caught.value.cause == "repeated_key"


@pytest.mark.parametrize("secret", ["zq7-plain-4711", 'with"quote\\4711', "schlüssel-4711"])
def test_an_error_in_a_200_is_told_without_the_sessions_secrets(secret):
    with pytest.raises(TransientEngineError, match="bad key") as caught:
        read_completion({"error": {"message": f"bad key {secret}"}}, [secret])
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, RejectedRequestError),
        (401, FatalEngineError),
        (402, FatalEngineError),
        (403, FatalEngineError),
        (404, FatalEngineError),
        (307, FatalEngineError),
        (408, TransientEngineError),
        (413, RejectedRequestError),
        (422, RejectedRequestError),
        (429, RateLimitedError),
        (500, TransientEngineError),
        (502, ConnectionLostError),
        (503, ConnectionLostError),
        (529, TransientEngineError),
    ],
)
def test_what_a_status_means(status, kind):
    error = read_error(status, "because")
    assert type(error) is kind
    assert error.cause == f"http_{status}"
    assert str(error) == f"the server answered {status}: because"


def test_a_long_body_is_cut_after_its_secrets_are_gone():
    body = "x" * 290 + " topsecretvalue " + "y" * 1000
    message = str(read_error(500, body, None, ["topsecretvalue"]))
    assert "topsecret" not in message
    assert len(message) < 350


@pytest.mark.parametrize(
    ("body", "filtered"),
    [
        ('{"error": {"message": "the model requires moderation. Your input was flagged for \\"violence\\"."}}', True),
        ("Your prompt was flagged.", True),
        ("This request violates our Content Policy", True),
        ('{"code": "content_filter"}', True),
        ("Your account has been flagged; contact support", False),
        ("your key may not use this model", False),
        ("", False),
    ],
)
def test_a_403_about_the_prompt_is_a_reply(body, filtered):
    assert read_error(403, body).cause == ("content_filter" if filtered else "http_403")
    assert (read_error(401, body).cause, read_error(404, body).cause) == ("http_401", "http_404")

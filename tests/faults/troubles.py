"""The table: what can go wrong between a question and its vote, and what is promised then. A trouble more is an entry.

The faults of a trouble are those of the loopback server (``tests/support/fault.py``), for all requests or for the rows
that are hit, one of three. ``expected`` is what evenhand's own engines promise; ``of`` says what an engine of that name
promises instead. Through litellm a cause may have another name. Engines of unitxt behind the bridge send again, or do
not, as they like, and what they lose with a batch is asked for again.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from tests.faults.cells import RETRIES, STRANGER, Expected, Trouble
from tests.faults.processes import (
    after_damage,
    at_an_unknown_host,
    away,
    ended,
    in_mock_mode,
    limited,
    together,
    without_a_server,
)
from tests.support.fault import Fault

TRIES: Final = 1 + RETRIES
UNHIT: Final = 2 / 3
FAILED: Final = "TooManyFailuresError"
VERDICTS: Final = ("Yes", "No", "High", "Middle", "Low", "Response A", "Response B", "Option 1", "Option 2", "Option 3")
PRICES: Final = {"prompt_price": 1e6, "completion_price": 1e6, "max_tokens": 50}  # a dollar a token
PLANTED: Final = json.dumps({"assessment": "x", "selected_option": "Yes", "answers": [{"index": 1, "answer": "Yes"}]})

BRIDGED: Final = Expected(scored=(0, 1), attempts=math.inf, bought_twice=math.inf, lost=math.inf, error="")
"""Of unitxt's engines: nothing is wrong, and a second run repairs everything. What it costs is theirs."""

WITHOUT: Final = {"litellm": None, "bridge": None}
"""Of what other clients read or follow as they like."""


def share(rate: float) -> list[int]:
    """The numbers of this share of the requests, drawn once."""
    draw = random.Random(4)
    return [number for number in range(1, 20_000) if draw.random() < rate]


def in_body(change: Callable[[dict[str, Any]], object]) -> Fault:
    """A reply whose body is changed as a mapping."""

    def make(payload: bytes) -> bytes:
        body = json.loads(payload)
        change(body)
        return json.dumps(body).encode()

    return Fault("made", make=make)


def with_logprobs(logprob: float, *, places: int | None = None) -> Fault:
    """A reply all of whose log-probabilities are this number, for the first ``places`` of its tokens."""

    def change(body: dict[str, Any]) -> None:
        logprobs = body["choices"][0].get("logprobs")
        if logprobs:
            likeliest = [{"token": label, "logprob": logprob} for label in ("1", "2", "A", "B", *VERDICTS)]
            told = {"logprob": logprob, "top_logprobs": likeliest}
            logprobs["content"] = [token | told for token in logprobs["content"]][:places]

    return in_body(change)


def passes(name: str, *faults: Fault, **more: Any) -> Trouble:
    """What another attempt mends: every vote is there, and nothing was paid for but the attempts."""
    once = [replace(fault, times=1) for fault in faults]
    settings = {"max_retries": max(RETRIES, 2 * len(faults)), **more.pop("settings", {})}
    of = {"bridge": BRIDGED, **more.pop("of", {})}
    return Trouble(name, once, hits=True, settings=settings, expected=Expected(attempts=1 + len(faults)), of=of, **more)


def often(name: str, rate: float, retries: int = 8, **fault: Any) -> Trouble:
    """What passes, but happens to this share of the requests."""
    attempts = 1 + 4 * retries if fault["status"] == 429 else 1 + retries  # a 429 counts as a quarter
    return Trouble(
        name,
        [Fault("status", on=share(rate), **fault)],
        settings={"max_retries": retries},
        expected=Expected(attempts=attempts),
        of={"bridge": BRIDGED},
    )


def stays(name: str, fault: Fault, cause: str | None = None, *, attempts: int = TRIES, **more: Any) -> Trouble:
    """What no attempt mends: the rows that are hit are unscored and say why, and the run ends in an error."""
    named = Expected(scored=UNHIT, reasons=["engine_error"], error=FAILED, attempts=attempts)
    expected = replace(named, causes=[cause] if cause else [])
    of = {"litellm": named, "bridge": BRIDGED, **more.pop("of", {})}
    return Trouble(name, [fault], hits=True, expected=expected, of=of, **more)


def says(name: str, fault: Fault, *reasons: str) -> Trouble:
    """A reply that is paid for and gives no verdict: it is kept, and not asked for again."""
    expected = Expected(scored=(UNHIT, 1), reasons=reasons, repaired=None)
    of = {"litellm": replace(expected, reasons=[*reasons, "empty"])}
    of["bridge"] = (
        replace(BRIDGED, repaired=None)
        if fault.kind == "status"
        else replace(expected, reasons=[*reasons, "empty", "no_match", "ambiguous"])
    )
    return Trouble(name, [fault], hits=True, expected=expected, of=of)


def too_long(name: str, fault: Fault) -> Trouble:
    """A reply past the limits: it is not read, and not asked for again."""
    expected = Expected(scored=UNHIT, reasons=["too_long"], repaired=None)
    return Trouble(name, [fault], hits=True, expected=expected, of=WITHOUT)


def refused(status: int) -> Trouble:
    """What no request can mend: the run ends at once."""
    cause = f"http_{status}"
    expected = Expected(scored=0, reasons=["engine_error"], causes=[cause], error=f"{FAILED}.*{cause}", requests=4)
    fault = Fault("status", status=status)
    return Trouble(f"{status} from the start", [fault], expected=expected, of={"bridge": BRIDGED})


def refused_later(status: int) -> Trouble:
    """What the server refuses from its second request on."""
    cause = f"http_{status}"
    expected = Expected(scored=(0, 0.5), reasons=["engine_error"], causes=[cause], error=f"{FAILED}.*{cause}")
    return Trouble(
        f"{status} after the first reply",
        [Fault("status", status=status, on=range(2, 20_000))],
        settings={"max_in_flight": 1},
        expected=expected,
        of={"bridge": BRIDGED},
    )


def lying(name: str, fault: Fault) -> Trouble:
    """Log-probabilities that are none: the verdict stands, and no probability is made of them."""
    of = {"bridge": None}  # asks for none
    return Trouble(
        f"log-probabilities {name}", [fault], options={"scoring": "expected"}, modes=["direct", "pairwise"], of=of
    )


def ended_by(code: int, bought_twice: int = 0) -> Expected:
    """Of a process that a signal ends: its votes are those of the next run, which buys nothing again."""
    return Expected(scored=0, error=f"exit code {code}:", lost=math.inf, bought_twice=bought_twice)


TROUBLES: Final = (
    Trouble("nothing"),
    Trouble("the same rows again", numbers=(0, 1, 0, 1, 0)),
    # the server fails
    passes("500 once", Fault("status", status=500)),
    passes("502, 503 and 504", *(Fault("status", status=status) for status in (502, 503, 504))),
    often("500 for 10 % of the requests", 0.1, status=500),
    often("500 for 30 % of the requests", 0.3, retries=12, status=500),
    stays("500 for ever", Fault("status", status=500), "http_500"),
    # too many requests
    often("429 for half of the requests", 0.5, status=429),
    often("429 with Retry-After for half of the requests", 0.5, status=429, retry_after=0.02),
    passes(
        "429 with a Retry-After that is none",
        *(Fault("status", status=429, retry_after=text) for text in ("nan", "-5", "soon", "-Infinity", "1e400", "")),
    ),
    stays("429 with Retry-After: a year", Fault("status", status=429, retry_after=31_536_000), "http_429", attempts=1),
    # no reply, or half of one
    passes("a hang", Fault("hang"), settings={"timeout": 1.0}),
    stays("a hang for ever", Fault("hang"), "timeout", attempts=2, settings={"timeout": 0.5, "max_retries": 1}),
    stays(
        "a byte now and then",
        Fault("drip", seconds=0.05),
        "timeout",
        attempts=2,
        settings={"timeout": 0.5, "max_retries": 1},
        of={"bridge": None},  # its client waits anew for every byte: a minute
    ),
    passes("cut before the reply", Fault("cut"), Fault("reset")),
    passes("cut in the reply", Fault("cut_body"), Fault("cut_chunks")),
    stays("cut in the reply for ever", Fault("cut_body"), "connection"),
    passes("the wrong length", Fault("wrong_length"), Fault("bad_chunks")),
    passes("no HTTP", Fault("bad_status"), Fault("bad_encoding")),
    # a body that is no reply
    passes("an empty body", Fault("garbage", body="")),
    passes("no JSON", Fault("garbage", body="{'choices': None}"), Fault("garbage", body='{"choices": [{"mess')),
    passes("a page of HTML", Fault("garbage", body="<!doctype html><title>Yes</title>")),
    passes("JSON of another kind", *(Fault("garbage", body=body) for body in ("null", "[]", "1e999", '"Yes"'))),
    passes("an error with status 200", Fault("error_reply"), of={"litellm": BRIDGED}),  # litellm makes a 400 of it
    passes("no choices", Fault("no_choices")),
    *(
        stays(f"{key} twice", Fault("twice", key=key, other=PLANTED), "repeated_key", of=WITHOUT)
        for key in ("choices", "message", "content")
    ),
    # numbers that are none
    Trouble(
        "usage beyond reason",
        [in_body(lambda body: body["usage"].update(prompt_tokens=10**300, completion_tokens=-1, cost=-math.inf))],
        of={"litellm": BRIDGED, "bridge": BRIDGED},
    ),
    Trouble(
        "usage that is text",
        [in_body(lambda body: body.update(usage="lots", model=7, created="x"))],
        of={"litellm": BRIDGED, "bridge": BRIDGED},  # their clients refuse such a body
    ),
    lying("above 0", with_logprobs(3.0)),
    lying("of 1e308", with_logprobs(1e308)),
    lying("that are NaN", with_logprobs(math.nan)),
    lying("of the first token only", with_logprobs(-0.1, places=1)),
    lying("refused", Fault("unsupported_logprobs")),
    Trouble("structured output refused", [Fault("unsupported_schema")]),
    # replies without a verdict
    says("no content", Fault("none"), "empty"),
    says("an empty text", Fault("empty"), "empty"),
    says(
        "a refusal in its field",
        in_body(lambda body: body["choices"][0]["message"].update(content=None, refusal="I cannot help with that.")),
        "refusal",
    ),
    says("a refusal", Fault("says", body="I'm sorry, but I can't assist with that request."), "refusal"),
    says("stopped by a content filter", Fault("content_filter"), "content_filter"),
    says("a content filter's 400", Fault("status", status=400, code="content_filter"), "content_filter"),
    says(
        "a content filter's 403",
        Fault("status", status=403, message="Your input was flagged by our moderation"),
        "content_filter",
    ),
    says("cut off by the token limit", Fault("truncate"), "truncated"),
    says("no option", Fault("says", body="There is much to be said about this."), "no_match"),
    says(
        "two options",
        Fault("says", body="Yes or No; High or Low; Response A or Response B; Option 1 or Option 2."),
        "ambiguous",
        "no_match",
    ),
    says("a denial", Fault("says", body=f"It is not {' and not '.join(VERDICTS)}."), "no_match", "ambiguous"),
    # hostile sizes
    too_long("a gzip bomb", Fault("inflated", size=30_000_000)),
    too_long("a deflate bomb", Fault("inflated", size=30_000_000, encoding="deflate")),
    too_long("a reply of 10 MB", Fault("long", size=10_000_000)),
    too_long("100,000 brackets", Fault("nested")),
    # sent elsewhere
    Trouble(
        "a redirect to another host",
        [Fault("redirect", location=f"{STRANGER}/chat/completions")],
        expected=Expected(scored=0, reasons=["engine_error"], causes=["http_307"], error=FAILED, requests=4),
        of=WITHOUT,
    ),
    # no server is there
    Trouble(
        "away for a second",
        [Fault("away", seconds=1.0, on=[3], times=1)],
        how=away,
        modes=("direct", "pairwise"),
        settings={"max_retries": 1, "patience": 30.0},
        expected=Expected(attempts=math.inf, bought_twice=4, lost=4),  # what was in flight when it went
        of={"bridge": BRIDGED},
    ),
    Trouble(
        "away for longer than the patience",
        [Fault("away", seconds=2.0, on=[3], times=1)],
        how=away,
        modes=("direct", "pairwise"),
        settings={"max_retries": 1, "patience": 0.5},
        expected=Expected(scored=(0, 0.9), reasons=["engine_error"], error="ServerAwayError", bought_twice=4, lost=4),
        of={"bridge": None},
    ),
    Trouble(
        "nobody listens",
        how=without_a_server,
        settings={"max_retries": 1},
        expected=Expected(scored=0, reasons=["engine_error"], error="ServerAwayError", requests=0),
        of={"bridge": Expected(scored=0, reasons=["engine_error"], error="ServerAwayError", requests=0)},
    ),
    Trouble(
        "no such host",
        how=at_an_unknown_host,
        settings={"max_retries": 1},
        expected=Expected(scored=0, reasons=["engine_error"], error="ServerAwayError", requests=0),
        of={"bridge": Expected(scored=0, reasons=["engine_error"], error="ServerAwayError", requests=0)},
    ),
    # limits
    Trouble(
        "a limit on calls",
        options={"max_calls": 2},
        expected=Expected(scored=(0.1, 0.9), reasons=["budget"], requests=2, repaired=0),
    ),
    Trouble(
        "a limit on cost",
        settings=PRICES,
        options={"max_cost": 600},
        expected=Expected(scored=(0, 0.9), reasons=["budget"], tokens=600, repaired=0),
        of={"bridge": None},
    ),
    Trouble(
        "a limit on cost without a price",
        options={"max_cost": 600},
        expected=Expected(scored=0, error="InvalidInputError.*prompt_price", requests=0, repaired=0),
    ),
    Trouble(
        "unitxt's mock mode",
        how=in_mock_mode,
        expected=Expected(scored=0, requests=0),
        of={"bridge": None},  # unitxt does not make its engines ready then
    ),
    # refused
    *(refused(status) for status in (401, 403, 404)),
    *(refused_later(status) for status in (401, 403, 404)),
)

MANY: Final = {"numbers": range(24), "faults": [Fault("latency", seconds=0.03)], "settings": {"max_in_flight": 8}}

PROCESSES: Final = (
    Trouble("kill -9", **MANY, how=ended("SIGKILL"), expected=ended_by(-9, bought_twice=8)),
    Trouble("SIGTERM", **MANY, how=ended("SIGTERM"), expected=ended_by(143)),
    Trouble("SIGHUP", **MANY, how=ended("SIGHUP"), expected=ended_by(129)),
    Trouble("two runs of the same at once", **MANY, how=together("nothing", "nothing")),
    Trouble("a neighbour whose clock is ahead", **MANY, how=together("nothing", "a clock ahead")),
    Trouble(
        "files may not grow",
        **MANY,
        how=limited("little room"),
        expected=Expected(scored=(0.01, 0.99), error="JournalError.*raise the limit", bought_twice=10),
    ),
    Trouble(
        "a damaged journal",
        numbers=range(24),
        how=after_damage,
        expected=Expected(scored=(0, 1), error="JournalError.*recover", lost=math.inf, bought_twice=math.inf),
    ),
)
"""What happens to a process that judges; seconds each, so in one mode with our own engine."""

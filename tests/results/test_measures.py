"""Measures: declared once, and shown as unitxt's scores, as cells of a table, and as plain JSON."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.numbers import Missing
from evenhand.results.measures import as_json, measure, plain, scores_of
from evenhand.statistics import Interval
from evenhand.votes import Usage

SCORE = Interval(0.5, 0.25, math.inf, 0.95, "beta", 8)


@dataclass(frozen=True, kw_only=True)
class Inner:
    rate: float | Missing = measure("share", name="")
    error: float | Missing = measure("number")


@dataclass(frozen=True, kw_only=True)
class Summary:
    score: Interval | Missing = measure("score", name="", always=True)
    bias: Interval | Missing = measure("share")
    lowest: float | Missing = measure("score", always=True)
    count: int = measure("count")
    reasons: Mapping[str, int] = measure("count")
    kinds: Mapping[str, int] = measure("share", name="kind_share", shares=True)
    usage: Usage = measure("count")
    inner: Inner = measure("number")
    note: str = "not a measure"


FULL = Summary(
    score=SCORE,
    bias=Interval(0.25, 0.0, 0.5, 0.95, "beta", 8),
    lowest=0.375,
    count=1200,
    reasons={"empty": 2},
    kinds={"exact": 3, "near": 1},
    usage=Usage(calls=4, cached=1, prompt_tokens=7, completion_tokens=5, cost=0.5),
    inner=Inner(rate=0.75, error=Missing("no errors are known")),
)
EMPTY = Summary(
    score=Missing("nothing has a score"),
    bias=Missing("nothing was read twice"),
    lowest=Missing("nothing has a score"),
    count=0,
    reasons={},
    kinds={},
    usage=Usage(),
    inner=Inner(rate=Missing("there is nothing"), error=Missing("there is nothing")),
)


def test_unitxt_scores_are_named_after_what_they_are_about():
    assert scores_of(FULL, "main") == {
        "main": 0.5,
        "main_ci_low": 0.25,
        "main_ci_high": math.inf,
        "main_bias": 0.25,
        "main_bias_ci_low": 0.0,
        "main_bias_ci_high": 0.5,
        "main_lowest": 0.375,
        "main_count": 1200,
        "main_reasons_empty": 2,
        "main_kind_share_exact": 0.75,
        "main_kind_share_near": 0.25,
        "main_calls": 4,
        "main_cached_calls": 1,
        "main_prompt_tokens": 7,
        "main_completion_tokens": 5,
        "main_cost": 0.5,
        "main_inner": 0.75,
    }


def test_the_plain_form_is_json_without_nan_and_infinity():
    text = json.dumps(plain(FULL), allow_nan=False)
    assert json.loads(text)["score"]["high"] is None
    assert json.loads(json.dumps(plain(EMPTY), allow_nan=False))["score"] is None
    assert plain(EMPTY, reasons=True)["score"] == {"reason": EMPTY.score.reason}
    assert as_json({"low": -math.inf, "at": [math.nan]}) == '{"low": null, "at": [null]}'

"""What cannot be used is said before the first call, over HTTP: no request is made for it."""

import pytest

import evenhand
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.errors import EvenhandError
from tests.support.judges import http_judge
from tests.support.server import JudgeServer

OK = yes_no_criterion("ok", "Is it?")
RUBRIC = Rubric(name="both", criteria=(OK, yes_no_criterion("short", "Is it short?")))
PENALTY = {"free_budget": 1, "max_cap": 3, "penalty_at_cap": 0.5, "exponent": 1}
ROWS = [{"a": "x", "b": "y", "question": "q", "gold": "Yes"} for _ in range(3)]
RUN = {"progress": False, "journal": None}


def judge(rows, engine, criteria=OK, **options):
    return evenhand.judge(rows, criteria, engine, response_fields="a", **RUN, **options)


def checklist(rows, engine, **options):
    return evenhand.checklist(rows, ["Is it?", "Is it short?"], engine, response_fields="a", **RUN, **options)


def winrates(rows, engine, **options):
    criterion = "criteria.evenhand.pairwise.overall_quality"
    return evenhand.winrates(
        rows, criterion, engine, response_fields=["a", "b"], context_fields="question", **RUN, **options
    )


def reliability(rows, engine, **options):
    return evenhand.reliability(rows, OK, engine, response_fields="a", **RUN, **options)


@pytest.mark.parametrize(
    ("function", "last", "options"),
    [
        (judge, {"question": "q"}, {}),
        (judge, {"a": "x"}, {"context_fields": "question"}),
        (judge, {"a": "x", "gold": "maybe"}, {"gold_fields": {"ok": "gold"}}),
        (judge, {"a": "x", "gold": 2}, {"gold_fields": {"ok": "gold"}}),
        (judge, ROWS[0], {"examples": [{"a": "x", "ok": "maybe"}]}),
        (judge, ROWS[0], {"judge_weights": [1, 2], "aggregation": "weighted"}),
        (judge, ROWS[0], {"criteria": RUBRIC, "length_penalty": {**PENALTY, "max_cap": "3"}}),
        (judge, ROWS[0], {"level": 1.5}),
        (checklist, {"a": "x"}, {"gold_fields": "gold"}),
        (checklist, {"a": "x", "gold": {"1": "yes", "3": "no"}}, {"gold_fields": "gold"}),
        (checklist, ROWS[0], {"primary_metric": "wieghted"}),
        (winrates, {"a": "x", "question": "q"}, {}),
        (winrates, {**ROWS[0], "gold": "c"}, {"gold_fields": "gold"}),
        (winrates, ROWS[0], {"design": "baseline:c"}),
        (winrates, ROWS[0], {"level": 0.4}),
        (reliability, {"a": "x", "gold": "maybe"}, {"gold_fields": "gold"}),
        (reliability, ROWS[0], {"resamples": 0}),
    ],
)
def test_no_request_is_made_for_what_cannot_be_used(function, last, options):
    named = {"criteria": OK} if function is judge else {}
    rows = [{**row, "gold": None if function in {checklist, winrates} else "Yes"} for row in ROWS] + [last]
    with JudgeServer(labels=["Yes", "No"]) as server:
        with pytest.raises(EvenhandError):
            function(rows, http_judge(server.base_url), **{**named, **options})
        assert server.seen == 0

"""What cannot be used is said before the first call, over HTTP: no request is made for it."""

import pytest

import evenhand
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.errors import EvenhandError
from evenhand.question import comparison_criterion
from tests.support.judges import http_judge
from tests.support.server import JudgeServer

OK = yes_no_criterion("ok", "Is it?")
RUBRIC = Rubric(name="both", criteria=(OK, yes_no_criterion("short", "Is it short?")))
PENALTY = {"free_budget": 1, "max_cap": 3, "penalty_at_cap": 0.5, "exponent": 1}
BETTER = comparison_criterion("better", "Which is better?")
ROWS = [{"a": "x", "b": "y", "question": "q", "gold": "Yes"} for _ in range(3)]
SAME = ROWS[0]
RUN = {"progress": False, "journal": None}


def judge(rows, engine, criteria=OK, **options):
    return evenhand.judge(rows, criteria, engine, **{"response_fields": "a", **RUN, **options})


def checklist(rows, engine, **options):
    return evenhand.checklist(rows, ["Is it?", "Is it short?"], engine, response_fields="a", **RUN, **options)


def winrates(rows, engine, **options):
    asked = {"response_fields": ["a", "b"], "context_fields": "question", "criteria": BETTER, **RUN, **options}
    return evenhand.winrates(rows, engine=engine, **asked)


def reliability(rows, engine, **options):
    return evenhand.reliability(rows, OK, engine, response_fields="a", **RUN, **options)


@pytest.mark.parametrize(
    ("function", "last", "options", "message"),
    [
        (judge, {"question": "q"}, {}, "no field 'a'"),
        (judge, {"a": "x"}, {"context_fields": "question"}, "no field 'question'"),
        (judge, {"a": "x", "gold": "maybe"}, {"gold_fields": {"ok": "gold"}}, "the gold label in 'gold' is 'maybe'"),
        (judge, {"a": "x", "gold": 2}, {"gold_fields": {"ok": "gold"}}, "is 2, which is not an option of 'ok'"),
        (judge, SAME, {"examples": [{"a": "x", "ok": "maybe"}]}, "row 0 of the examples has the label 'maybe'"),
        (judge, SAME, {"judge_weights": [1, 2], "aggregation": "weighted"}, "one positive weight for each"),
        (judge, SAME, {"criteria": RUBRIC, "length_penalty": {**PENALTY, "max_cap": "3"}}, "max_cap"),
        (judge, SAME, {"level": 1.5}, "level is 1.5"),
        (judge, SAME, {"response_fields": ["a", "a"]}, "each once"),
        (
            judge,
            SAME,
            {"response_fields": []},
            r"response_fields is \[\]; it should be a valid string, or a list",
        ),
        (judge, SAME, {"reference_field": "answer"}, "'answer', which reference_field names"),
        (judge, SAME, {"gold_fields": {"tone": "gold"}}, "gold_fields names 'tone', which is not judged"),
        (judge, SAME, {"criteria": [RUBRIC, OK]}, "is a rubric; give criteria here, or a rubric alone"),
        (judge, SAME, {"criteria": RUBRIC, "calls": "per_item", "flow": "two_step"}, "one reply a response"),
        (judge, SAME, {"num_examples": 2}, "there are no examples"),
        (judge, SAME, {"cluster_field": "question", "interval": "exact"}, "interval is 'exact', which counts rows"),
        (judge, {**SAME, "doc": None}, {"cluster_field": "doc"}, "'doc', which cluster_field names"),
        (judge, SAME, {"criteria": "rubrics.evenhand.safety", "rubric_field": "b"}, "'b' and criteria is given"),
        (judge, SAME, {"criteria": None, "rubric_field": "b", "gold_fields": {"ok": "gold"}}, "gold_fields is given"),
        (
            judge,
            SAME,
            {"criteria": None, "rubric_field": "b"},
            "the field 'b' of instance 0: 'y' is no rubric of a row",
        ),
        (judge, SAME, {"group_fields": ["a", ""]}, "group_fields is"),
        (judge, SAME, {"group_fields": "color"}, "no field 'color', which group_fields names"),
        (judge, SAME, {"id_field": "question"}, "both have the id 'q'"),
        (checklist, {"a": "x"}, {"gold_fields": "gold"}, "no field 'gold', which gold_fields names"),
        (
            checklist,
            {"a": "x", "gold": {"1": "yes", "3": "no"}},
            {"gold_fields": "gold"},
            "in 'gold', which gold_fields names: give item -> answer",
        ),
        (checklist, SAME, {"primary_metric": "wieghted"}, "Did you mean 'weighted'"),
        (checklist, SAME, {"checklist_field": "question"}, "give one of them"),
        (checklist, SAME, {"flow": "one_step"}, "does not belong to a checklist"),
        (winrates, {"a": "x", "question": "q"}, {}, "no field 'b'"),
        (
            winrates,
            {**SAME, "gold": "c"},
            {"gold_fields": "gold"},
            "the gold label in 'gold' is 'c', which is none of the pair",
        ),
        (winrates, SAME, {"gold_fields": "gold_{first}"}, "no field 'gold_a', which gold_fields names"),
        (winrates, SAME, {"design": "baseline:c"}, "names a system that the predictions do not"),
        (winrates, SAME, {"level": 0.4}, "level is 0.4"),
        (winrates, SAME, {"systems": ["a", "b"]}, "do not say where the responses of two systems are"),
        (
            winrates,
            SAME,
            {"systems_field": "a", "response_fields": None},
            "do not say where the responses of two systems are",
        ),
        (winrates, SAME, {"criteria": [BETTER, BETTER]}, "winrates takes one"),
        (winrates, SAME, {"scale": "graded"}, "'better' brings its own options"),
        (winrates, SAME, {"reduction": "weighted_win_rate"}, "set scale='graded' too"),
        (winrates, SAME, {"stop": "decided", "interval": "t"}, "which holds for a sample of a fixed size"),
        (reliability, {"a": "x", "gold": "maybe"}, {"gold_fields": "gold"}, "the gold label in 'gold' is 'maybe'"),
        (reliability, SAME, {"resamples": 0}, "resamples is 0"),
    ],
)
def test_no_request_is_made_for_what_cannot_be_used(function, last, options, message):
    rows = [{**row, "gold": None if function in {checklist, winrates} else "Yes"} for row in ROWS] + [last]
    with JudgeServer(labels=["Yes", "No"]) as server:
        with pytest.raises(EvenhandError, match=message):
            function(rows, http_judge(server.base_url), **options)
        assert server.seen == 0

"""A small result of every kind, for tests of what all results share."""

from functools import cache

import evenhand
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.modes.choices import BestOfMode

RELEVANCE = "criteria.evenhand.direct.relevance"
JUDGE = SimulatedEngine(refusal_rate=0.2, noise=0.3)
PANEL = [SimulatedEngine(name="one", noise=0.3), SimulatedEngine(name="two", noise=0.3, seed=5, refusal_rate=0.2)]
HOW = {"id_field": "id", "group_fields": "lang", "cluster_field": "doc", "journal": None, "progress": False}
HOW |= {"max_failure_rate": 1.0}
RUBRIC = Rubric(
    name="answer",
    criteria=(yes_no_criterion("clear", "Is it clear?", weight=2), yes_no_criterion("cites", "Does it cite?", na=True)),
)
BOTH = {"response_fields": ["response", "other"], **HOW}


def rows(count):
    return [
        {
            "id": f"p-{row}",
            "lang": "de" if row % 2 else "en",
            "doc": f"d{row // 3}",
            "question": f"What is {row}?",
            "response": f"It is {row}. " * (1 + row % 4),
            "other": f"Nobody knows {row}." if row % 5 else None,
            "third": f"{row}",
            "gold": "Largely relevant" if row % 4 else None,
        }
        for row in range(count)
    ]


def compared(data):
    long = [
        {**{name: row[name] for name in ("id", "lang", "doc", "question")}, "system": system, "response": row[system]}
        for row in data
        for system in ("response", "other", "third")
    ]
    named = {"systems_field": "system", "response_fields": "response", "id_field": "id"}
    systems = ["response", "other", "third"]
    return evenhand.winrates(long, RELEVANCE, JUDGE, systems=systems, **{**HOW, **named, "group_fields": None})


KINDS = {
    "judgements": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, gold_fields={"relevance": "gold"}, **HOW),
    "systems": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, **BOTH),
    "panel": lambda data: evenhand.judge(data, RELEVANCE, PANEL, samples=2, **HOW),
    "expected": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, scoring="expected", **BOTH),
    "rubric": lambda data: evenhand.judge(data, RUBRIC, JUDGE, **BOTH),
    "checklist": lambda data: evenhand.checklist(data, ["Is it clear?", "Is it short?"], JUDGE, **BOTH),
    "winrates": compared,
    "mode": lambda data: evenhand.run_mode(data, BestOfMode, JUDGE, **BOTH),
    "grades": lambda data: evenhand.grade_scores(
        data, RELEVANCE, JUDGE, response_fields=["response", "other", "third"], **{**HOW, "group_fields": None}
    ),
}

VOTES = [{"one": "yes", "two": "no" if row % 3 else "yes", "gold": "yes" if row % 2 else None} for row in range(12)]
REVIEWED = {
    **KINDS,
    "own_rubrics": lambda data: evenhand.judge(
        [{**row, "points": ["Is it right?", "Is it short?"][: 1 + n % 2]} for n, row in enumerate(data)],
        None,
        JUDGE,
        rubric_field="points",
        **BOTH,
    ),
    "votes": lambda data: evenhand.aggregate_votes(VOTES[: len(data)], ["one", "two"], gold_fields="gold"),
    "agreement": lambda data: evenhand.agreement(VOTES[: len(data)], ["one", "two"], gold_fields="gold", resamples=20),
}
"""Every kind, those that are never in parts among them."""


@cache
def whole_of(kind):
    return REVIEWED[kind](rows(12))

"""Every way of judging over rows whose true verdicts are known, and a server's judge that gives them.

The texts of a row hold its number, and the truth is a hash of that number and of what is asked: all that a tool says
of a row, in any order, can be compared with what the server's judge thinks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import evenhand
from evenhand.criteria import Criterion, Option
from tests.support.checklists import shown_items

LEVELS = ("High", "Middle", "Low")
SYSTEMS = ("alder", "birch")
CANDIDATES = ("alder", "birch", "cedar")
ITEM = re.compile(r"item-\d{4}")


def criterion(name: str) -> Criterion:
    """A criterion of three levels."""
    options = tuple(Option(label=label, value=value) for label, value in zip(LEVELS, (1.0, 0.5, 0.0), strict=True))
    return Criterion(name=name, description=f"How much {name} is in the response?", options=options)


RUBRIC = {
    "name": "writing",
    "criteria": [{"name": name, "requirement": f"Has it {name}?", "weight": 1.0} for name in ("clarity", "depth")],
}
CHECKLIST = {
    "name": "mail",
    "items": [{"name": name, "question": f"Is it {name}?"} for name in ("polite", "short", "correct")],
}


def item(number: int) -> str:
    """What tells a row in every text about it."""
    return f"item-{number:04d}"


def truth(number: int, asked: str, offered: Sequence[str]) -> str:
    """What the server's judge thinks."""
    digest = hashlib.sha256(f"{item(number)} {asked}".encode()).digest()
    return offered[digest[0] % len(offered)]


@dataclass(frozen=True)
class JudgedMode:
    """A way of judging, over rows whose true verdicts are known.

    Attributes:
        name: As evenhand calls it.
        judge: From rows, an engine and options to a result.
        row: From a number to a row.
        true_label: From what a question was about to the label that a vote on it has if it is true.
    """

    name: str
    judge: Callable[..., Any]
    row: Callable[[int], Mapping[str, Any]]
    true_label: Callable[[Mapping[str, Any]], str]

    def run(self, numbers: Sequence[int], engine: object, **options: Any) -> Any:
        """The result on the rows of these numbers."""
        return self.judge([self.row(number) for number in numbers], engine, progress=False, **options)

    def true_labels(self, numbers: Sequence[int], abouts: Iterable[Mapping[str, Any]]) -> list[str]:
        """The labels that are true of these questions about these rows."""
        return [self.true_label({**about, "number": numbers[about["instance"]]}) for about in abouts]


def _response(number: int) -> Mapping[str, Any]:
    return {"response": f"What {item(number)} says."}


def _responses(number: int) -> Mapping[str, Any]:
    return {name: f"{name} of {item(number)}." for name in CANDIDATES}


def _true_answer(about: Mapping[str, Any]) -> str:
    questions = {entry["name"]: entry["question"] for entry in CHECKLIST["items"]}
    return truth(about["number"], questions[about["item"]], ("Yes", "No"))


MODES = (
    JudgedMode(
        "direct",
        lambda rows, engine, **options: evenhand.judge(rows, criterion("warmth"), engine, **options),
        _response,
        lambda about: truth(about["number"], "warmth", LEVELS),
    ),
    JudgedMode(
        "pairwise",
        lambda rows, engine, **options: evenhand.winrates(
            rows, "Which is better?", engine, response_fields=list(SYSTEMS), **options
        ),
        _responses,
        lambda about: "Response " + "AB"[SYSTEMS.index(truth(about["number"], "best", SYSTEMS))],
    ),
    JudgedMode(
        "rubric",
        lambda rows, engine, **options: evenhand.judge(rows, RUBRIC, engine, **options),
        _response,
        lambda about: truth(about["number"], about["criterion"], ("Yes", "No")),
    ),
    JudgedMode(
        "checklist",
        lambda rows, engine, **options: evenhand.checklist(rows, CHECKLIST, engine, **options),
        _response,
        _true_answer,
    ),
    JudgedMode(
        "best_of",
        lambda rows, engine, **options: evenhand.grade_scores(
            rows, "Which is best?", engine, response_fields=list(CANDIDATES), **options
        ),
        _responses,
        lambda about: f"Option {1 + CANDIDATES.index(truth(about['number'], 'best', CANDIDATES))}",
    ),
)


def true_of(prompt: str) -> Mapping[str, str]:
    """What the first message of a conversation is about and is true: what is asked -> label."""
    number = number_of(prompt)
    if items := shown_items(prompt):
        return {question: truth(number, question, ("Yes", "No")) for question in items.values()}
    asked = re.search(r"^The criterion: (.+)$", prompt, re.MULTILINE)[1]
    if shown := re.findall(r"<(response|option)-(\w+)-\w+>\s*(\w+) of ", prompt):
        best = truth(number, "best", SYSTEMS if len(shown) == len(SYSTEMS) else CANDIDATES)
        kind, place = next((kind, place) for kind, place, name in shown if name == best)
        return {asked: f"{kind.capitalize()} {place}"}
    return {asked: truth(number, asked, LEVELS if asked == "warmth" else ("Yes", "No"))}


def number_of(prompt: str) -> int:
    """The row that a prompt is about."""
    return int(ITEM.search(prompt)[0][-4:])


def verdicts(body: Mapping[str, Any]) -> Mapping[str, str]:
    """The true verdicts that a request asks for; none for an assessment, which gives none yet."""
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    return {} if "Do not give the verdict yet" in last else true_of(first)


def true_reply(body: Mapping[str, Any]) -> str:
    """The server's judge: it gives the true verdicts in the form that is asked for."""
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    true = verdicts(body)
    if not true:
        return f"Of {ITEM.search(first)[0]} there is nothing else to say."
    if '{"answers": ' in last:
        places = shown_items(first)
        entries = [{"index": place, "answer": true[question]} for place, question in places.items()]
        return json.dumps({"answers": entries})
    [label] = true.values()
    coded = re.compile(rf"^- (\w): {label}\b", re.MULTILINE)
    if code := coded.search(last) or coded.search(first):
        label = code[1]
    if "with two fields" in last:
        return json.dumps({"assessment": "There is little to say.", "selected_option": label})
    return json.dumps({"selected_option": label}) if "response_format" in body else label

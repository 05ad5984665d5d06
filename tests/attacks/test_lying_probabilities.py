"""Log-probabilities that lie are not used: the vote counts what it selects, and a warning says so, in every mode."""

import json
import math
import re
import warnings

import pytest

from evenhand.judging.run import NoLogprobsWarning
from tests.attacks.ways import WAYS
from tests.support.server import JudgeServer, Reply, conversation

WAYS_WITH_VALUES = ["direct", "rubric", "rubric_sheet", "own_rubrics", "pairwise", "checklist", "checklist_item"]


def tokens_of(text):
    return re.findall(r"\w+|\W", text)


ANSWERS = {"1": "2", "2": "1", "3": "1", "Yes": "No", "No": "Yes", "A": "B", "B": "A"}
"""What names an option -> what names another one."""


def truthful(answer):
    return {answer: math.log(0.75), ANSWERS[answer]: math.log(0.25)}


def told(likeliest, own=None):
    """Per token that names an answer what ``likeliest`` says of it; every other token is certain."""

    def tokens(text):
        found = [(each, likeliest(each)) if each in ANSWERS else (each, {each: 0.0}) for each in tokens_of(text)]
        return [(each, top.get(each, 0.0) if own is None else own, top) for each, top in found]

    return tokens


LIES = {
    "positive": told(lambda code: {code: 0.7, "0": -1.0}),
    "huge": told(lambda code: {code: 1e308}),
    "endless": told(lambda code: {code: math.inf}),
    "not_a_number": told(lambda code: {code: math.nan}),
    "none_at_all": told(lambda code: {code: -math.inf}),
    "more_than_one": told(lambda code: {code: math.log(0.9), ANSWERS[code]: math.log(0.9)}),
    "own_is_positive": told(truthful, own=3.0),
    "too_short": lambda text: told(truthful)(text)[:1],
    "nothing": lambda text: [],
    "other_text": lambda text: told(truthful)("Something else was said."),
    "other_words": lambda text: [("9" if each in ANSWERS else each, -0.1, {"9": -0.1}) for each in tokens_of(text)],
}


def row(lie):
    return {"question": f"What of {lie}?", "answer": f"An answer to {lie}.", "other": "No.", "third": "A cup."}


def judge_of():
    """A judge that chooses the first answer everywhere, and is as certain of it as the row's lie has it."""

    def chosen(schema):
        if "enum" in schema:
            return next(answer for answer in schema["enum"] if answer in ANSWERS)
        if "properties" not in schema:
            return "It is so."
        return {
            name: chosen(part) if name != "answers" else entries(part) for name, part in schema["properties"].items()
        }

    def entries(part):
        kinds = part["items"].get("anyOf", [part["items"]])
        found = [(number, kind["properties"]) for kind in kinds for number in kind["properties"]["index"]["enum"]]
        return [
            {"index": number, "answer": chosen(of["answer"])} for number, of in sorted(found, key=lambda one: one[0])
        ]

    def reply(body):
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        if schema is None:
            return "It is so."
        given = chosen(schema)
        text = given if isinstance(given, str) else json.dumps(given)
        lie = re.search(r"An answer to (\w+)", conversation(body))[1]
        return Reply(text, logprobs=LIES.get(lie, told(truthful))(text))

    return reply


def judged(way, lies):
    with JudgeServer(reply=judge_of()) as server, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asked = {"primary_metric": "normalized"} if way.startswith("checklist") else {"scoring": "expected"}
        result = WAYS[way]([row(lie) for lie in lies], f"{server.base_url}[model=m]", **asked)
    votes = [(lies[cell.about["instance"]], vote) for cell in result.cells() for vote in cell.votes]
    return result, votes, [each for each in caught if issubclass(each.category, NoLogprobsWarning)]


def numbers_in(value):
    if isinstance(value, dict):
        return [found for each in value.values() for found in numbers_in(each)]
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in numbers_in(each)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("way", WAYS_WITH_VALUES)
def test_the_truth_is_used(way):
    _, votes, warned = judged(way, ["truth"])
    assert {round(max(vote.probabilities), 6) for _, vote in votes} == {0.75}
    assert not warned


@pytest.mark.parametrize("way", WAYS_WITH_VALUES)
def test_no_lie_is_used_in_any_mode(way):
    result, votes, warned = judged(way, list(LIES))
    assert {lie for lie, _ in votes} == set(LIES)
    assert [lie for lie, vote in votes if vote.probabilities is not None or vote.unscored_reason is not None] == []
    assert len(warned) == 1
    numbers = [number for record in result.records() for number in numbers_in(record)]
    assert numbers
    assert all(0 <= number <= 5 for number in numbers)  # a score on 1–5 is the greatest

"""Results that lie on disk in parts are what the same rows come to when they are judged at once."""

import json
from functools import cache

import pytest

import evenhand
from evenhand.engines.simulated import SimulatedJudge
from evenhand.errors import InvalidInputError
from evenhand.modes.best_of import BestOfMode
from evenhand.results.fingerprint import DIGITS
from evenhand.results.on_disk import EntriesOnDisk

RELEVANCE = "criteria.evenhand.direct.relevance"
JUDGE = SimulatedJudge(refusal_rate=0.2, noise=0.3)
PANEL = [SimulatedJudge(name="one", noise=0.3), SimulatedJudge(name="two", noise=0.3, seed=5, refusal_rate=0.2)]
HOW = {"id_field": "id", "group_fields": "lang", "cluster_field": "doc", "journal": None, "progress": False}
HOW |= {"max_failure_rate": 1.0}
BOTH = {"response_field": ["response", "other"], **HOW}
SHOWN = {"context_fields": {"document": "question"}, **BOTH}


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
    named = {"systems_field": "system", "response_field": "response", "id_field": "id", "resamples": 20}
    systems = ["response", "other", "third"]
    return evenhand.winrates(long, systems, RELEVANCE, JUDGE, **{**HOW, **named, "group_fields": None})


KINDS = {
    "judgements": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, gold_fields={"relevance": "gold"}, **HOW),
    "systems": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, **BOTH),
    "panel": lambda data: evenhand.judge(data, RELEVANCE, PANEL, samples=2, **BOTH),
    "expected": lambda data: evenhand.judge(data, RELEVANCE, JUDGE, scoring="expected", **BOTH),
    "rubric": lambda data: evenhand.judge(
        data, "rubrics.evenhand.summarization", JUDGE, samples=2, context_fields={"document": "question"}, **BOTH
    ),
    "checklist": lambda data: evenhand.checklist(data, ["Is it clear?", "Is it short?"], JUDGE, **BOTH),
    "winrates": compared,
    "mode": lambda data: evenhand.run_mode(data, BestOfMode, JUDGE, **BOTH),
    "grades": lambda data: evenhand.grade_scores(
        data, ["response", "other", "third"], RELEVANCE, JUDGE, **{**HOW, "group_fields": None}
    ),
}


def part_of(whole, first, size):
    """The result of some of the rows, as if these alone had been judged."""
    said = dict(whole.parameters)
    rows = slice(first, first + size)
    said |= {"n": size, "ids": list(whole.ids)[rows]} if whole.ids else {"n": size}
    if "groups" in said:
        said["groups"] = {name: list(values)[rows] for name, values in said["groups"].items()}
    digits = slice(first * DIGITS, (first + size) * DIGITS)
    shown = {name: each[digits] for name, each in said["fingerprint"]["shown"].items()}
    said["fingerprint"] = {**said["fingerprint"], "shown": shown}
    cells = (
        cell._replace(about={**cell.about, "instance": cell.about["instance"] - first})
        for cell in whole.cells()
        if first <= cell.about["instance"] < first + size
    )
    return type(whole).of_cells({**whole.judged(), "parameters": said}, cells)


def in_parts(whole, sizes, folder):
    """The same result, as it lies on disk in parts of so many rows."""
    folder.mkdir(exist_ok=True)
    for number, size in enumerate(sizes):
        part_of(whole, sum(sizes[:number]), size).save(folder / f"part-{number:06d}.parquet")
    return evenhand.open(folder)


@cache
def whole_of(kind):
    return KINDS[kind](rows(12))


def in_order(found):
    return sorted(json.dumps(each, sort_keys=True, default=str) for each in found)


@pytest.mark.parametrize("sizes", [(4, 1, 7), (12,)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_parts_come_to_what_all_rows_come_to_at_once(kind, sizes, tmp_path):
    whole = whole_of(kind)
    parts = in_parts(whole, sizes, tmp_path)
    assert type(parts) is type(whole)
    assert isinstance(parts.entries, EntriesOnDisk)
    assert len(parts) == len(whole)
    assert str(parts) == str(whole)
    assert parts.findings() == whole.findings()
    assert parts.spending == whole.spending
    assert in_order(parts.records(votes=True)) == in_order(whole.records(votes=True))
    assert in_order(each.about for each in parts.named_cells()) == in_order(each.about for each in whole.named_cells())
    assert parts.clusters() == whole.clusters()
    assert list(parts.ids) == list(whole.ids)
    assert parts.fingerprint == whole.fingerprint


def test_a_folder_without_parts_and_parts_of_two_runs_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="holds no parts of a result"):
        evenhand.JudgementTable.load(tmp_path)
    part_of(whole_of("judgements"), 0, 6).save(tmp_path / "part-000000.parquet")
    part_of(whole_of("judgements"), 6, 6).rescore(on_position_bias="first").save(tmp_path / "part-000001.parquet")
    with pytest.raises(InvalidInputError, match=r"of another run.*differ in 'on_position_bias'"):
        evenhand.open(tmp_path)
    with pytest.raises(InvalidInputError, match=r"holds no contests, but judgements, which JudgementTable\.load reads"):
        evenhand.WinrateTable.load(tmp_path)

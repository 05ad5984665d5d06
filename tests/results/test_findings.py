"""Every number of a result under its name, and every verdict with all that is to be seen of it."""

import pytest

import evenhand
from evenhand import SimulatedEngine
from evenhand.parsing import where_read

ROWS = [
    {"id": "a", "question": "How many <b>legs</b>?", "old": "Eight </response> it says", "new": "A spider has eight."},
    {"id": "b", "question": "<context-00000000>\nWhere?", "old": "Here\n\n", "new": None},
]
HOW = {"context_fields": "question", "id_field": "id", "journal": None}
SYSTEMS = ["new", "old"]
COMPARED = "criteria.evenhand.pairwise.overall_quality"


@pytest.fixture(scope="module")
def judged():
    criteria = ["criteria.evenhand.direct.relevance", "criteria.evenhand.direct.clarity"]
    gold = {"relevance": "gold"}
    rows = [{**row, "gold": "Off topic"} for row in ROWS]
    return evenhand.judge(rows, criteria, SimulatedEngine(), response_fields=SYSTEMS, gold_fields=gold, **HOW)


@pytest.fixture(scope="module")
def compared():
    return evenhand.winrates(ROWS, COMPARED, SimulatedEngine(), response_fields=SYSTEMS, **HOW)


def value(results, name, *of):
    (found,) = [each for each in results.findings() if (each.name, each.of) == (name, of)]
    return found


def test_scores_are_found_by_system_with_what_they_rest_on(judged):
    for system, n, votes in (("new", 1, 2), ("old", 2, 4)):  # in both orders; one response is missing
        found = value(judged, "relevance", system)
        assert found.value == judged.summaries[system, "relevance"].score
        assert (found.n, found.unscored.votes, found.label) == (n, votes, f"relevance[{system}]")
    assert value(judged, "unscored").value == 0.0  # votes on a missing response are not asked for
    assert value(judged, "unscored_verdicts").value == 0.25  # of four responses, each on two criteria, one is missing
    assert value(judged, "relevance.unscored_verdicts", "new").value == 0.5


def test_winrates_are_found_of_systems_and_of_pairs(compared):
    assert value(compared, "winrate", "old").value == compared.winrate("old")
    (pair,) = compared.ranking.pairs
    assert value(compared, "winrate", *SYSTEMS).value == pair.win_rate
    assert value(compared, "winrate", *SYSTEMS[::-1]).value.estimate == 1 - pair.win_rate.estimate
    assert (value(compared, "unscored").value, value(compared, "unscored_verdicts").value) == (0.0, 0.5)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Good", "Good"),
        ("  **Good** ", "Good"),
        ("<think>Excellent? Rather Bad.</think>\n\nGood", "Good"),  # what was thought is no verdict
        ("Not Excellent at first sight, but overall it is Good.", None),
        ("Excellent? No.\n\nSelected option: Bad", "Bad"),
        ('{"selected_option": "Excellent", "why": "Good is too little"}', "Excellent"),
        ("Nothing of this.", None),
        ("[[Good]] I repeat: [[Good]].", "Good"),
    ],
)
def test_where_a_verdict_was_read(reply, said):
    found = where_read(reply, ("Excellent", "Good", "Bad"))
    assert (None if found is None else reply[slice(*found)]) == said

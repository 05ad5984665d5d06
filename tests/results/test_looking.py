"""Verdicts to be looked at: chosen, sorted, and a row whole; what is chosen has no scores."""

import html
from dataclasses import replace

import pytest

import evenhand
from evenhand import SimulatedEngine
from evenhand.results.looking import VerdictList

ROWS = [
    {
        "id": "p-17",
        "question": "How many <b>legs</b>?",
        "old": "Eight \x1b[2J legs",
        "new": "A spider has eight.",
        "gold": "Yes",
    },
    {"id": "p-18", "question": "Where? ![i](http://x)", "old": "Here\n\n# not a head", "new": None},
    {"id": "p-19", "question": "Why?", "old": "Because it is so, and for no other reason", "new": "So."},
]
HOW = {"context_fields": "question", "id_field": "id", "journal": None, "progress": False}
RELEVANCE = "criteria.evenhand.direct.relevance"


@pytest.fixture(scope="module")
def judged():
    judges = [SimulatedEngine(accuracy=0.5, name=name, refusal_rate=0.2) for name in ("one", "two")]
    how = {"response_fields": ["new", "old"], "samples": 3, "max_failure_rate": 1.0}
    return evenhand.judge(ROWS, RELEVANCE, judges, **how, **HOW)


@pytest.fixture(scope="module")
def compared():
    criterion = "criteria.evenhand.pairwise.overall_quality"
    engine = SimulatedEngine(position_preference=3.0, seed=3)
    return evenhand.winrates(ROWS, criterion, engine, response_fields=["new", "old"], **HOW)


def test_what_is_chosen_is_chosen_by_what_the_verdicts_say(judged, compared):
    views = list(judged.verdict_views())
    assert list(judged.verdict_list()) == views
    assert [view.name for view in judged.disagreements()] == [view.name for view in views if view.divided]
    assert [view.row for view in judged.unscored()] == ["p-18"]  # a response is missing
    assert [view.name for view in compared.flips()] == [view.name for view in compared.verdict_views() if view.flipped]
    assert len(compared.flips()) > 0
    new = judged.verdict_list().filter(lambda view: view.systems == ("new",))
    assert [view.row for view in new] == ["p-17", "p-18", "p-19"]


def test_a_verdict_is_wrong_if_it_prefers_a_system_whose_name_differs_in_case_only():
    rows = [{"id": "1", "question": "Why?", "GPT": "Because.", "gpt": "So.", "gold": "gpt"}]
    engine = SimulatedEngine(quality={"Because.": 9.0, "So.": -9.0})
    criterion = "criteria.evenhand.pairwise.overall_quality"
    (view,) = evenhand.winrates(
        rows, criterion, engine, response_fields=["GPT", "gpt"], gold_fields="gold", **HOW
    ).verdict_list()
    assert (view.selected, view.gold, view.wrong) == ("GPT", "gpt", True)
    assert replace(view, gold="GPT").wrong is False
    assert replace(view, gold="0.6").wrong is None  # people's mean between the levels contradicts none of them


def test_a_row_shows_every_vote_with_its_reply_and_the_place_that_was_read(judged):
    row = judged["p-17"]
    shown = row.to_terminal(width=100)
    assert "How many <b>legs</b>?" in shown
    assert "Eight \\x1b[2J legs" in shown  # shown and not obeyed
    for view in row.views:
        for each in view.votes:
            assert f"{each.vote.judge_id}, draw {each.vote.sample + 1}" in shown
            if each.read_at:
                assert f"⟦{each.reply[slice(*each.read_at)]}⟧" in shown
            if each.selected is None:
                assert f"unscored: {each.vote.unscored_reason}" in shown
    assert shown.count("A spider has eight.") == 1  # a text stands once
    assert max(map(len, judged.row("p-17").to_terminal(width=60).splitlines())) <= 60
    assert "(missing)" in str(judged["p-18"])
    assert "votes 0" in str(judged["p-18"])


def test_a_screen_shows_the_first_rows_of_a_long_list_and_names_the_call_for_the_rest(judged):
    views = judged.verdict_list().views
    long = VerdictList("many", lambda: views * 10)
    for shown in (str(long), html.unescape(long._repr_html_())):
        assert "10 more rows are in tables('verdicts')." in shown
        assert shown.count("/relevance") == 50
    for written in (long.to_csv(), long.to_html(), long.tables("verdicts")[0].to_latex()):
        assert written.count("/relevance") == 60

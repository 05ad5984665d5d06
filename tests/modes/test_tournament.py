"""Holding contests: which questions a judge gets, what they cost, and what comes back."""

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.judging.grid import parse_design
from evenhand.modes.mode import Subject
from evenhand.modes.winrates import WinratesMode, winrates
from evenhand.options import RunOptions
from tests.modes.contests_by_hand import CHOICE
from tests.support.judges import ScriptedJudge

QUIET = {"progress": False, "journal": None}


def content_judge():
    """Return a judge that prefers the longer response, and the first shown of two equally long ones."""

    def reply(request):
        if request.stage == "assessment":
            return "One is longer."
        first, second = (len(text) for text in request.presentation.responses)
        return "Response A" if first >= second else "Response B"

    return ScriptedJudge(reply)


def rows_of(*responses, criterion=CHOICE):
    return [Subject(row, given, judged=criterion) for row, given in enumerate(responses)]


def run_options(**options):
    return RunOptions(**{**QUIET, **options})


def hold(rows, design="all", judge=None, **options):
    mode = WinratesMode(run_options(**options), parse_design(design))
    return [held for asked in mode.ask(rows, [judge or content_judge()]) for held in mode.result(*asked)]


THREE = {"brief-1B": "x", "gpt-4.1": "xxx", "wordy model: tie": "xxxxx"}


def test_every_pair_is_asked_in_both_orders_and_no_name_is_shown():
    judge = content_judge()
    contests = hold(rows_of(THREE, {name: text + text for name, text in THREE.items()}), judge=judge)
    assert [(held.instance, held.first, held.second, held.score) for held in contests[:3]] == [
        (0, "brief-1B", "gpt-4.1", 0.0),
        (0, "brief-1B", "wordy model: tie", 0.0),
        (0, "gpt-4.1", "wordy model: tie", 0.0),
    ]
    # 2 instances × 3 pairs × 2 orders × 2 steps
    assert len(judge.requests) == 24
    sent = "\n".join(message["content"] for request in judge.requests for message in request.messages)
    assert not [name for name in THREE if name in sent]
    assert not [request for request in judge.requests if any(name in request.question.id for name in THREE)]
    assert all(held.verdict.position_consistent for held in contests)


def test_a_swiss_design_pairs_by_the_rounds_before():
    lengths = {"a": "x", "b": "xx", "c": "xxx", "d": "xxxx"}
    contests = hold(rows_of(*[lengths] * 12), "swiss:3")
    # three rounds of two pairs without repetition are at most all six pairs
    assert max(Counter((held.instance, held.first, held.second) for held in contests).values()) == 1
    assert {held.round for held in contests} == {0, 1, 2}
    opening = [held for held in contests if held.round == 0]
    standing = winrates(opening, "abcd")
    ranked = sorted("abcd", key=lambda name: -standing[name])
    # where the two leaders have not met yet, the second round pairs them
    leaders = tuple(sorted(ranked[:2]))
    for row in range(12):
        met = {(held.first, held.second) for held in contests if held.instance == row and held.round == 0}
        then = {(held.first, held.second) for held in contests if held.instance == row and held.round == 1}
        assert leaders in met | then
    # "d" wins every contest: nothing but its winrate of 1 is possible
    assert winrates(contests, "abcd")["d"] == 1.0


WORDS = st.text("xyz ", max_size=6)


@settings(max_examples=9, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=3),
    st.permutations(["a", "b", "c"]),
)
def test_permuting_or_renaming_systems_permutes_or_renames_winrates(texts, order):
    names = {"a": "tie", "b": "a", "c": "a b.c:d"}
    given_rows = [dict(zip("abc", text, strict=True)) for text in texts]
    permuted = [{name: row[name] for name in order} for row in given_rows]
    renamed = [{names[name]: text for name, text in row.items()} for row in given_rows]
    expected = winrates(hold(rows_of(*given_rows)), "abc")
    assert winrates(hold(rows_of(*permuted)), "abc") == expected
    assert winrates(hold(rows_of(*renamed)), list(names.values())) == {
        names[name]: rate for name, rate in expected.items()
    }

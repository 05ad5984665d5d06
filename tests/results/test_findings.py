"""Every number of a result under its name, and every verdict with all that is to be seen of it."""

import pytest

import evenhand
from evenhand import SimulatedEngine
from evenhand.numbers import format_score
from evenhand.parsing import where_read
from evenhand.prompts import shown_texts

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


def test_a_difference_is_found_in_both_directions(judged):
    there, back = (value(judged, "clarity.difference", *of) for of in (SYSTEMS, SYSTEMS[::-1]))
    assert there.value == next(each for each in judged.differences if each.score == "clarity").difference
    assert (back.value.estimate, back.value.low) == (-there.value.estimate, -there.value.high)


def test_where_so_much_is_unscored_that_bounds_lead_they_are_found_with_the_score_that_they_stand_for(judged, compared):
    unscored = judged.summaries["new", "relevance"].unscored_bounds
    found = value(judged, "relevance", "new")
    assert found.bounds == unscored is not None
    assert found.written == format_score(None, unscored)
    assert value(judged, "relevance.parse_rate", "new").bounds is None
    assert value(judged, "relevance", "old").bounds is None
    assert value(compared, "winrate", "old").bounds == compared.system("old").unscored_bounds is not None


def test_differences_and_pairs_have_bounds_too_where_much_is_unscored(judged, compared):
    there, back = (value(judged, "clarity.difference", *of) for of in (SYSTEMS, SYSTEMS[::-1]))
    told = next(each for each in judged.differences if each.score == "clarity")
    assert (there.bounds.low, there.bounds.high) == (told.if_unscored_low, told.if_unscored_high)
    assert (back.bounds.low, back.bounds.high) == (-told.if_unscored_high, -told.if_unscored_low)
    assert there.bounds.low < there.bounds.high
    met, turned = (value(compared, "winrate", *of) for of in (SYSTEMS, SYSTEMS[::-1]))
    assert (turned.bounds.low, turned.bounds.interval_low) == (1 - met.bounds.high, 1 - met.bounds.interval_high)


def test_winrates_are_found_of_systems_and_of_pairs(compared):
    assert value(compared, "winrate", "old").value == compared.winrate("old")
    (pair,) = compared.ranking.pairs
    assert value(compared, "winrate", *SYSTEMS).value == pair.win_rate
    assert value(compared, "winrate", *SYSTEMS[::-1]).value.estimate == 1 - pair.win_rate.estimate
    assert (value(compared, "unscored").value, value(compared, "unscored_verdicts").value) == (0.0, 0.5)


def results_of_every_kind(judged, compared):
    votes = [{"a": "Yes", "b": "No", "h": "Yes"}, {"a": "No", "b": None, "h": "No"}]
    engine = SimulatedEngine()
    yield judged
    yield compared
    yield evenhand.checklist(ROWS, ["Is it short?", "Is it true?"], engine, response_fields=SYSTEMS, **HOW)
    yield evenhand.run_mode(ROWS, "best_of", engine, response_fields=SYSTEMS, criteria=COMPARED, journal=None)
    yield evenhand.grade_scores(ROWS, COMPARED, engine, response_fields=[*SYSTEMS, "question"], journal=None)
    yield evenhand.aggregate_votes(votes, ["a", "b"], gold_fields="h")
    yield evenhand.agreement(votes, ["a", "b"], gold_fields=["h"])


def test_every_kind_finds_and_shows_the_same_after_saving(judged, compared, tmp_path):
    for results in results_of_every_kind(judged, compared):
        path = tmp_path / f"{results.kind}.parquet"
        results.save(path)
        again = evenhand.open(path)
        assert repr(again.findings()) == repr(results.findings())  # NaN equals nothing
        views = list(results.verdict_views())
        assert list(again.verdict_views()) == views
        assert len(views) == len(list(results.cells())) == len({view.name for view in views})
        labels = [each.label for each in results.findings()]
        assert labels[:2] == ["unscored", "unscored_verdicts"]
        assert len(labels) == len(set(labels)), results.kind


def test_a_verdict_shows_what_the_judge_was_shown_and_said(judged):
    view = next(judged.verdict_views())
    assert (view.row, view.criterion, view.systems) == ("a", "relevance", ("new",))
    assert view.context == {"question": ROWS[0]["question"]}
    assert view.responses == {"new": ROWS[0]["new"]}
    assert view.gold == "Off topic"
    assert view.wrong is (view.selected != "Off topic")
    (vote, *_) = view.votes
    assert vote.reply[slice(*vote.read_at)] == view.selected
    assert vote.reasons.startswith("A simulated assessment")
    assert vote.prompts["selection"][0][1].startswith("You are an impartial judge.")


def test_the_texts_of_the_prompts_are_those_of_the_data(judged, compared):
    for results in (judged, compared):
        sent, read = list(results.verdict_views()), list(results.verdict_views(ROWS))
        assert [view.context for view in sent if view.votes] == [view.context for view in read if view.votes]
        for shown, given in zip(sent, read, strict=True):
            assert shown.responses == {name: given.responses[name] for name in shown.responses}


def test_what_is_shown_first_is_told_by_name(compared):
    view = next(compared.verdict_views())
    assert [vote.shown for vote in view.votes] == [("new", "old"), ("old", "new")]
    assert view.responses == {name: ROWS[0][name] for name in SYSTEMS}
    assert {vote.selected for vote in view.votes} <= set(SYSTEMS)


def test_a_response_that_was_shown_in_part_is_not_taken_for_the_other():
    rows = [{"new": "long " * 40, "old": "short"}]
    how = {**HOW, "context_fields": [], "id_field": None, "prompt": "{{ responses[:150] }} {{ options }}"}
    view = next(evenhand.winrates(rows, COMPARED, SimulatedEngine(), response_fields=SYSTEMS, **how).verdict_views())
    assert len(view.votes) == 2
    assert view.responses == {}


def test_a_missing_response_is_told_apart_from_one_whose_text_was_not_kept(judged, tmp_path):
    missing = next(view for view in judged.verdict_views() if (view.row, view.systems) == ("b", ("new",)))
    assert (missing.responses, missing.unscored, missing.unscored_reason) == ({"new": None}, True, "missing_response")
    path = tmp_path / "short.parquet"
    judged.save(path, leave_out=["prompts"])
    assert next(evenhand.open(path).verdict_views()).responses == {}


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


def test_a_text_that_is_no_prompt_shows_nothing():
    assert shown_texts("Text between a pair of tags.\n<response-12345678>\nx\n</response-12345678>") is None

"""Conditions say what must hold; what is not known, or has no number, never passes."""

import json
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.criteria import yes_no_criterion
from evenhand.errors import CheckFailedError, InvalidInputError
from evenhand.numbers import Missing, UnscoredBounds
from evenhand.report.gates import Summary, check
from evenhand.results.measures import Measure, UnscoredCounts
from evenhand.statistics import Interval
from evenhand.visible import visible_line
from tests.support.judges import ScriptedJudge


def interval(estimate, low, high):
    return Interval(estimate, low, high, 0.95, "beta", 200)


def counts(unscored, votes=200):
    """Votes, one for each row."""
    lost = dict.fromkeys(("unscored_votes", "rows", "unscored_verdicts"), unscored)
    return UnscoredCounts(votes=votes, verdicts=votes, reasons={"refusal": unscored}, **lost)


SCORES = (
    Measure("unscored", (), 0.021, "share", 240),
    Measure("relevance", ("new",), interval(0.71, 0.66, 0.76), "score", 200, counts(0)),
    Measure("relevance", ("old",), interval(0.80, 0.76, 0.84), "score", 200, counts(0)),
    Measure("relevance.parse_rate", ("new",), interval(1.0, 0.985, 1.0), "share", 200, counts(0)),
    Measure("relevance.parse_rate", ("old",), interval(0.99, 0.97, 1.0), "share", 200, counts(0)),
    Measure("relevance.difference", ("new", "old"), interval(-0.09, -0.15, -0.03), "difference", 200),
    Measure("relevance.difference", ("old", "new"), interval(0.09, 0.03, 0.15), "difference", 200),
    Measure("relevance.spread", ("new",), Missing("nothing was drawn twice"), "score", 200, counts(0)),
    Measure("answer quality", ("new",), interval(0.5, 0.4, 0.6), "score", 150, counts(50)),
    Measure(
        "tone", ("new",), Missing("unscored"), "score", 60, counts(40, 100), UnscoredBounds(0.4, 0.8, 0.3, 0.9, 0.4)
    ),
    Measure("calls", (), 400, "count"),
)
"""``tone`` has no mean at all: 40 of 100 rows are unscored."""


def results_of(*findings):
    about = {"kind": "judgements", "parameters": {}, "further_ranges": {}, "unscored_counts": None}
    return SimpleNamespace(findings=lambda: findings, outcomes=list, **about)


def checked(condition):
    (found,) = check(results_of(*SCORES), [condition]).conditions
    return found


def test_the_line_of_a_condition_that_failed_says_value_interval_n_and_unscored_votes():
    found = checked("relevance[new].low >= 0.7")
    assert str(found) == (
        "FAILED relevance[new].low >= 0.7: relevance[new].low is 0.66 (0.71 [0.66, 0.76]; n 200; 0 of 200 votes "
        "unscored)"
    )
    assert (found.measure, found.of, found.value, found.n) == ("relevance.low", ("new",), 0.66, 200)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("relevance[new] >= 0.72", False),
        ("relevance[new] >= 0.71", True),
        ("relevance[new] <= 0.71", True),
        ("relevance[new].high < 76%", False),
        (" relevance [ new ] .low>=.66 ", True),
        ("relevance[new].n >= 201", False),
        ("relevance.parse_rate[new].low >= 98.5 %", True),
        ("unscored <= 2 %", False),
        ("relevance.difference[new, old].high >= 0", False),
        ("relevance.difference[old,new].high >= 0", True),
        ("answer quality >= 0.5", True),  # the one system that has it
    ],
)
def test_what_holds(condition, holds):
    assert checked(condition).holds is holds


def test_a_name_that_several_systems_have_is_refused_with_the_full_names():
    with pytest.raises(InvalidInputError) as refused:
        checked("relevance.low >= 0.7")
    assert "names 2 measures: give the full name of one" in str(refused.value)
    assert "Accepted: 'relevance[new].low', 'relevance[old].low'." in str(refused.value)


@pytest.mark.parametrize(
    ("condition", "holds", "undecided"),
    [  # the mean lies between 0.4 and 0.8, the limits of its interval from 0.3 and to 0.9
        ("tone >= 0.3", True, False),
        ("tone >= 0.5", False, True),
        ("tone >= 0.85", False, False),
        ("tone.low >= 0.7", False, True),
        ("tone.high <= 0.85", False, True),
        ("tone == 0.5", False, False),
    ],
)
def test_where_so_much_is_unscored_that_either_may_be_a_condition_does_not_hold_and_says_so(
    condition, holds, undecided
):
    found = checked(condition)
    assert (found.holds, found.value) == (holds, None)
    assert ("too many votes are unscored to tell" in str(found)) is undecided
    assert "0.40–0.80 [0.30, 0.90], 40 % of rows affected" in str(found)


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("relevence[new].low >= 0.7", "names no measure. Did you mean 'relevance[new].low'?"),
        ("unscored.low <= 0.1", "names no measure"),  # a number without an interval
        ("unscored[new] <= 2 %", "names no measure"),
        ("unscored <= 2", "which lies between 0.00 and 1.00"),
        ("relevance", "is not a condition. Write NAME OP NUMBER"),
        ("relevance[new] >= relevance[old]", "is not a condition"),
        ("unscored <= 1e999", "is not a condition"),
        (0.7, "0.7 is not a condition"),
    ],
)
def test_what_is_no_condition_or_names_nothing_is_one_error_with_the_next_step(condition, said):
    with pytest.raises(InvalidInputError) as refused:
        checked(condition)
    assert said in str(refused.value)


NAMES = st.text(st.characters(exclude_categories=["Cs", "Z"]), min_size=1, max_size=12)


@given(st.lists(NAMES, min_size=1, max_size=3).map(".".join), st.lists(NAMES | st.just("a, b=c"), max_size=2))
def test_what_is_printed_of_a_number_can_be_written_in_a_condition(name, of):
    finding = Measure(name, tuple(of), interval(0.5, 0.4, 0.6), "score", 7)
    for part, value in ((".low", 0.4), (".high", 0.6), (".n", 7)):
        (found,) = check(results_of(finding), [f"{finding.label}{part} == {value}"]).conditions
        assert found.holds
        assert (found.measure, found.of) == (name + part, tuple(of))


HOW = {"flow": "one_step", "journal": None, "progress": False, "max_failure_rate": 1.0}


@pytest.fixture(scope="module")
def judged():
    """Three of four rows are yes, and people say so of all."""
    rows = [{"answer": "Yes" if number % 4 else "No", "gold": "Yes"} for number in range(20)]
    judge = ScriptedJudge(lambda request: "No" if "\nNo\n" in request.messages[-1]["content"] else "Yes")
    how = {"gold_fields": {"is yes": "gold"}, "check_positional_bias": False, **HOW}
    return evenhand.judge(rows, yes_no_criterion("is yes", "Is it a yes?"), judge, response_fields="answer", **how)


def test_corrected_scores_are_those_of_correct(judged):
    corrected = judged.correct(design="random").scores[0].corrected
    (found,) = judged.check(f"is yes.corrected.low == {corrected.low!r}", design="random").conditions
    assert found.holds
    assert "labels 20)" in str(found)
    with pytest.raises(InvalidInputError, match="design is not given"):
        judged.check("is yes.corrected.low >= 1")


def test_a_report_prints_and_raises(judged):
    report = judged.check("is yes.low >= 0.99", "unscored <= 2 %")
    assert [each.condition for each in report.failed] == ["is yes.low >= 0.99"]
    assert "Conditions: 1 of 2 hold" in str(report)
    with pytest.raises(CheckFailedError) as failed:
        report.raise_if_failed()
    assert str(failed.value) == str(report.failed[0])
    passing = judged.check("unscored <= 2 %")
    assert passing.raise_if_failed() is passing


def test_what_changed_between_runs_is_not_told_by_what_was_read_alone():
    rows = [{"answer": f"number {number}"} for number in range(10)]

    def judged(numbers):
        read = [f"number {number}" for number in numbers]
        judge = ScriptedJudge(lambda request: "Yes" if any(n in request.messages[0]["content"] for n in read) else "?")
        return evenhand.judge(rows, "Is it so?", judge, response_fields="answer", check_positional_bias=False, **HOW)

    whole, part = judged(range(10)), judged(range(6))
    compared = whole.compare(part)  # the change lies between -0.4 and 0: the other four may all be No
    close, far = check(compared, ["is_it_so.change >= -0.3", "is_it_so.change >= -0.5"]).conditions
    assert "too many votes are unscored to tell" in close.found
    assert not close.holds
    assert far.holds
    with pytest.raises(InvalidInputError, match=r"lies between -1\.00 and 1\.00, and a number that it cannot reach"):
        check(compared, ["is_it_so.change >= -7"])
    with pytest.raises(InvalidInputError, match="has no corrected scores: correct each result"):
        check(compared, ["is_it_so.change.corrected >= 0"])


HOSTILE = "</failure>\x00]]>\x1b[31m\ud800\ufffe%\n::error::bought\u202e"


@pytest.fixture(scope="module")
def summarized():
    """Two systems, of one of which nothing can be read."""
    rows = [{"id": f"r{number}", "new": "Yes", HOSTILE: "Hm."} for number in range(6)]
    judge = ScriptedJudge(lambda request: "Well." if "Hm." in request.messages[0]["content"] else "Yes")
    return evenhand.judge(rows, "Is it so?", judge, response_fields=["new", HOSTILE], id_field="id", **HOW)


def test_json_has_every_finding_and_condition_and_what_made_them(summarized):
    summary = summarized.summarize("unscored <= 10 %", "is_it_so[new].low >= 0.1")
    said = json.loads(summary.to_json())
    assert [said[name] for name in ("evenhand", "layout", "kind", "passed")] == ["summary", 2, "judgements", False]
    assert said["version"] == evenhand.__version__
    low = summarized.summaries["new", "is_it_so"].score.low
    names = ("condition", "holds", "measure", "of", "value", "threshold", "n")
    assert [[condition[name] for name in names] for condition in said["conditions"]] == [
        ["unscored <= 10 %", False, "unscored", [], 0.5, 0.1, None],
        ["is_it_so[new].low >= 0.1", True, "is_it_so.low", ["new"], low, 0.1, 6],
    ]
    assert len(said["findings"]) == len(summarized.findings())
    for written, found in zip(said["findings"], summarized.findings(), strict=True):
        assert (written["name"], written["of"]) == (found.name, json.loads(json.dumps(found.of)))
    score, nothing = (each for each in said["findings"] if each["name"] == "is_it_so")
    assert (score["value"]["low"], score["n"], score["unscored"]["votes"]) == (low, 6, 12)
    assert nothing["value"]["reason"]
    assert [nothing["bounds"][name] for name in ("low", "high", "share")] == [0.0, 1.0, 1.0]
    assert [said["unscored"][name] for name in ("votes", "unscored_votes", "rows")] == [24, 12, 6]
    assert "ids" not in said["parameters"]
    assert said["fingerprint"]["judges"] == ["scripted"]


def test_junit_has_a_case_for_each_condition(summarized):
    summary = summarized.summarize("unscored <= 10 %", "is_it_so[new].low >= 0.1")
    root = ElementTree.fromstring(summary.to_junit())
    (suite,) = root
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["unscored <= 10 %", "is_it_so[new].low >= 0.1"]
    assert cases[0].find("failure").get("message").startswith("unscored is 50 % (12 of 24 votes unscored")
    assert cases[1].find("system-out").text.startswith("is_it_so[new].low is ")
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["2", "1", "0", "0"]
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["judges"] == "scripted"


@given(st.text(min_size=1, max_size=12))
@settings(max_examples=25)
@example("\ud800\ufffe\x00]]>%:,")
def test_any_name_gives_xml_that_is_read(name):
    results = results_of(Measure(name, (name,), interval(0.5, 0.4, 0.6), "score", 3))
    summary = Summary(results, check(results, [f"{name}[{name}].low >= 0.7"]))
    root = ElementTree.fromstring(summary.to_junit().encode())
    assert visible_line(name) in root.find("testsuite/testcase/failure").get("message")

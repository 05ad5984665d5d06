"""What programs read of a run: JSON that stays, XML that every reader of JUnit takes, and no command of GitHub's."""

import json
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_interval
from evenhand.report import gates
from evenhand.report.gates import Summary, check
from evenhand.results.measures import Finding
from evenhand.results.render import PrintedTables
from evenhand.statistics import Interval
from evenhand.visible import visible_line
from tests.support.judges import ScriptedJudge

HOSTILE = "</failure>\x00]]>\x1b[31m\ud800\ufffe%\n::error::bought\u202e"


@pytest.fixture(scope="module")
def judged():
    """Two systems, of one of which nothing can be read."""
    rows = [{"id": f"r{number}", "new": "Yes", HOSTILE: "Hm."} for number in range(6)]
    judge = ScriptedJudge(lambda request: "Well." if "Hm." in request.messages[0]["content"] else "Yes")
    how = {"flow": "one_step", "max_failure_rate": 1.0, "journal": None, "progress": False, "id_field": "id"}
    return evenhand.judge(rows, "Is it so?", judge, response_fields=["new", HOSTILE], **how)


def test_json_has_every_finding_and_condition_and_what_made_them(judged):
    summary = judged.summarize("unscored <= 10 %", "is_it_so[new].low >= 0.1")
    said = json.loads(summary.to_json())
    assert [said[name] for name in ("evenhand", "layout", "kind", "passed")] == ["summary", 2, "judgements", False]
    assert said["version"] == evenhand.__version__
    low = judged.summaries["new", "is_it_so"].score.low
    names = ("condition", "holds", "measure", "of", "value", "threshold", "n")
    assert [[condition[name] for name in names] for condition in said["conditions"]] == [
        ["unscored <= 10 %", False, "unscored", [], 0.5, 0.1, None],
        ["is_it_so[new].low >= 0.1", True, "is_it_so.low", ["new"], low, 0.1, 6],
    ]
    assert len(said["findings"]) == len(judged.findings())
    for written, found in zip(said["findings"], judged.findings(), strict=True):
        assert (written["name"], tuple(written["of"])) == (found.name, tuple(map(read_back, found.of)))
    score = next(each for each in said["findings"] if each["name"] == "is_it_so" and each["of"] == ["new"])
    interval = judged.summaries["new", "is_it_so"].score
    assert [score["value"][name] for name in ("estimate", "low", "high")] == [1.0, interval.low, interval.high]
    assert (score["n"], score["unscored"]["votes"], score["unscored"]["unscored_votes"]) == (6, 12, 0)
    nothing = next(each for each in said["findings"] if each["name"] == "is_it_so" and each["of"] != ["new"])
    assert nothing["value"]["reason"]
    assert [nothing["bounds"][name] for name in ("low", "high", "share")] == [0.0, 1.0, 1.0]
    named = ("votes", "unscored_votes", "rows", "verdicts", "unscored_verdicts")
    assert [nothing["unscored"][name] for name in named] == [12, 12, 6, 6, 6]
    assert [said["unscored"][name] for name in named] == [24, 12, 6, 12, 6]
    assert "ids" not in said["parameters"]
    assert said["fingerprint"]["judges"] == ["scripted"]


def read_back(name):
    """A name as JSON holds it."""
    return json.loads(json.dumps(name))


def test_junit_has_a_case_for_each_condition_and_each_score(judged):
    summary = judged.summarize("unscored <= 10 %", "is_it_so[new].low >= 0.1")
    root = ElementTree.fromstring(summary.to_junit())
    (suite,) = root
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [
        *("unscored <= 10 %", "is_it_so[new].low >= 0.1"),
        *("is_it_so[new]", f"is_it_so[{visible_line(HOSTILE)}]"),
    ]
    assert cases[0].find("failure").get("message").startswith("unscored is 50 % (12 of 24 votes unscored")
    assert cases[1].find("system-out").text.startswith("is_it_so[new].low is ")
    score = judged.summaries["new", "is_it_so"].score
    assert cases[2].find("system-out").text == f"{format_interval(score)}, n 6, 0 of 12 votes unscored"
    assert "100 % of rows affected" in cases[3].find("system-out").text
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "0", "0"]
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["judges"] == "scripted"


class Results(PrintedTables):
    """A result whose names are what a test says."""

    kind = "judgements"

    def __init__(self, name):
        self.name = name
        self.parameters = {"judges": [], "n": 3}
        self.fingerprint = SimpleNamespace()

    def findings(self):
        return (
            Finding("unscored", (), 0.5, "share", 3),
            Finding(self.name, (self.name,), Interval(0.5, 0.4, 0.6, 0.95, "beta", 3), "score", 3, 0),
        )

    def text_tables(self):
        return ()


@given(st.text(min_size=1, max_size=12))
@settings(max_examples=25)
@example("\ud800\ufffe\x00]]>%:,")
def test_any_name_gives_xml_that_is_read_and_annotations_of_one_line(name):
    results = Results(name)
    summary = Summary(results, check(results, [f"{name}[{name}].low >= 0.7"]))
    root = ElementTree.fromstring(summary.to_junit().encode())
    assert visible_line(name) in root.find("testsuite/testcase/failure").get("message")
    (line,) = summary.annotations()
    assert line.splitlines() == [line]
    assert re.match(r"::error title=[^:,%]*(%3A[^:,%]*)*::FAILED ", line)
    assert "%" not in re.sub("%25|%3A", "", line)


def test_a_step_of_github_has_the_summary_and_heeds_no_command_in_a_name(judged, tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match="GITHUB_STEP_SUMMARY is not set"):
        gates.check_format("github")
    path = tmp_path / "step.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    assert gates.check_format("github") == "github"
    summary = judged.summarize("unscored <= 10 %")
    gates.append_to_step(summary)
    assert path.read_text(encoding="utf-8") == "before\n" + summary.to_markdown() + "\n"
    assert "**Conditions: 0 of 1 hold**" in path.read_text(encoding="utf-8")
    monkeypatch.setattr(gates, "MOST_OF_A_STEP", 100)
    gates.append_to_step(summary)
    assert "longer than a step summary may be" in path.read_text(encoding="utf-8")
    first, *middle, last = gates.unheeded("::error::bought").splitlines()
    token = first.removeprefix("::stop-commands::")
    assert (middle, last) == (["::error::bought"], f"::{token}::")
    assert token not in gates.unheeded("")

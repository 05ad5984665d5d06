"""The report on judges through the Python function: what is asked, what it costs, what it holds, and its files."""

import json
import re
from html.parser import HTMLParser

import pytest

from evenhand import judge, winrates
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion
from evenhand.reliability_report import ReliabilityReport, reliability
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.server import JudgeServer

BETTER = comparison_criterion("better", "Which response is better?", allow_ties=True)
PLAIN = comparison_criterion("better", "Which response is better?")
CITES = yes_no_criterion("cites", "Does the response cite a source?")
UNVALUED = Criterion(
    name="topic", description="What is it about?", options=(Option(label="Cats"), Option(label="Dogs")), scale="nominal"
)
ROWS = [
    {
        "a": f"answer {place}" + "." * place,
        "b": f"other {place}",
        "c": f"third {place}",
        "preferred": ("a", "b", "tie")[place % 3],
        "cited": ("Yes", "No")[place % 2],
    }
    for place in range(6)
]
QUIET = {"progress": False, "journal": None}


def always_first(request):
    """Prefers, or says, what is shown first, whatever it is."""
    if request.stage == "assessment":
        return "I have looked at both."
    return "Response A" if request.question.compares else request.presentation.answers[0]


def report(engine=None, criteria=(BETTER, CITES), **more):
    given = {"response_fields": ["a", "b"], **QUIET, **more}
    return reliability(ROWS, list(criteria), engine or ScriptedJudge(always_first), **given)


def test_a_judge_that_always_takes_the_first_place():
    found = report(samples=3)
    compared, assessed = found.of("better"), found.of("cites")
    for result, questions in ((compared, 6), (assessed, 12)):
        assert result.position.position_consistency.estimate == 0.0
        assert result.position.first_shown_share.estimate == 1.0
        assert result.repetition.pair_agreement.estimate == 1.0
        assert (result.num_questions, result.num_samples) == (questions, 3)
        assert result.replies.unscored_counts.votes == 6 * questions
        # Six clusters that all point one way: 2 / 2^6.
        assert result.position.p_value == pytest.approx(2 / 64)
    assert compared.grade_score.grade_score.estimate == 0.0
    assert [each.flip_rate.estimate for each in assessed.flips.values()] == [1.0, 1.0]
    said = {finding.measure: finding.text for finding in found.findings("better")}
    assert said["inconsistent towards the first"].startswith("100 % [")
    assert "what is shown first gains" in said["inconsistent towards the first"]


def test_what_people_said_is_read_from_columns():
    found = report(gold_fields={"better": "preferred", "cites": "cited"})
    # Orders that disagree are a tie, which is what people said twice, and ½ for yes or no: the worse option.
    assert found.of("better").people.accuracy.estimate == pytest.approx(2 / 6)
    assert found.of("better").people.num_references == 6
    assert found.of("cites").people.vote_accuracy.estimate == pytest.approx(0.5)
    one = reliability(
        ROWS, BETTER, ScriptedJudge(always_first), response_fields=["a", "b"], gold_fields="preferred", **QUIET
    )
    assert one.of().people == found.of("better").people
    assert found.of("cites").people.num_references == 12


def test_the_votes_are_those_of_judge_and_winrates():
    engine = SimulatedEngine(noise=1.0, position_preference=0.5)
    found = report(engine, gold_fields={"better": "preferred", "cites": "cited"})
    table = winrates(ROWS, BETTER, engine, response_fields=["a", "b"], gold_fields="preferred", **QUIET)
    position = table.summary.position
    assert found.of("better").position.n_checked == position.n_checked
    assert found.of("better").position.n_consistent == position.n_consistent
    assert found.of("better").people.accuracy.estimate == pytest.approx(table.gold_agreement().estimate)
    assessed = judge(ROWS, CITES, engine, response_fields=["a", "b"], gold_fields={"cites": "cited"}, **QUIET)
    agreements = [assessed.gold_agreement(system, "cites").estimate for system in ("a", "b")]
    assert found.of("cites").people.accuracy.estimate == pytest.approx(sum(agreements) / 2)


def test_several_judges_are_reported_each_by_itself_and_side_by_side():
    engines = [SimulatedEngine(seed=seed, noise=1.0, name=f"judge {seed}") for seed in range(3)]
    together = report(engines)
    assert together.judges == ("judge 0", "judge 1", "judge 2")
    for engine in engines:
        alone = report(engine)
        assert alone.agreements == ()
        for criterion in ("better", "cites"):
            assert together.of(criterion, engine.judge_id) == alone.of(criterion)
    assert [agreement.criterion for agreement in together.agreements] == ["cites", "better"]
    assert [(pair.first, pair.second) for pair in together.agreements[0].pairs] == [
        ("judge 0", "judge 1"),
        ("judge 0", "judge 2"),
        ("judge 1", "judge 2"),
    ]
    assert "judge 0 – judge 1" in str(together)
    with pytest.raises(InvalidInputError, match="3 results are of the criterion 'better'"):
        together.of("better")


def tags(every):
    """A judge that writes its verdict as a tag on one row in so many, and alone on the others."""

    def reply(request):
        if request.stage == "assessment":
            return "I have looked at it."
        number = int(re.search(r"answer (\d+)", request.messages[0]["content"])[1])
        return "It leans so. [[Yes]]" if number % every == 0 else "Yes"

    return ScriptedJudge(reply, name=f"every {every}")


def test_the_report_says_how_the_selections_were_read(tmp_path):
    rows = [{"a": f"answer {place}"} for place in range(1, 31)]
    given = {"response_fields": "a", "check_positional_bias": False, "max_reasks": 0, **QUIET}
    found = reliability(rows, CITES, [tags(15), tags(10)], **given)
    # 2 of 30 tags, and 3 of 30
    kinds = [result.replies.readings for result in found.results]
    assert [(kind["exact"], kind["tag"]) for kind in kinds] == [(28, 2), (27, 3)]
    found.save(tmp_path / "report.json")
    again = ReliabilityReport.load(tmp_path / "report.json")
    assert again.results == found.results
    text = " ".join(str(again).split())
    assert "every 10: How the 30 selections were read: 27 exact (90 %), 3 tag (10 %)." in text


def test_a_second_report_costs_no_call(tmp_path):
    journal = tmp_path / "journal.sqlite"
    given = {"response_fields": ["a", "b", "c"], "journal": journal, "progress": False, "samples": 2}
    with JudgeServer(labels=["Response A", "Tie", "Response B", "Option 1", "Option 2"]) as server:
        engine = http_judge(server.base_url, temperature=1.0)
        planned = reliability(ROWS, BETTER, engine, dry_run=True, **given)
        assert server.seen == 0
        first = reliability(ROWS, BETTER, engine, **given)
        made = server.seen
        assert made >= planned.calls > 0
        again = reliability(ROWS, BETTER, engine, **given)
        assert server.seen == made
        assert reliability(ROWS, BETTER, engine, dry_run=True, **given).calls == 0
    assert again.of().replies.usage.calls == 0
    assert again.of().replies.usage.cached == first.of().replies.usage.calls + first.of().replies.usage.cached
    assert again.of().position == first.of().position
    assert first.of().replies.usage.calls + first.choices[0].grading.usage.calls == made


def test_three_systems_are_chosen_among_too():
    engine = SimulatedEngine(quality=lambda question, index: 50.0 * question.responses[index].startswith("answer"))
    found = report(engine, criteria=[BETTER], response_fields=["a", "b", "c"])
    [choice] = found.choices
    grading = choice.grading
    assert (choice.prompt, choice.unrelated, grading.num_scored) == ("evaluate_first", None, 6)
    # The best candidate wherever it stands.
    assert grading.grade_score.estimate == grading.chance_corrected.estimate == 1.0
    assert grading.histograms[0].places.counts == (6, 6, 6)
    assert found.of().num_questions == 18
    assert "more than two systems" in found.of().grade_score.reason


def test_all_prompts_with_an_unrelated_option():
    engine = SimulatedEngine(quality=lambda question, index: 1.0, position_preference=50.0)
    found = report(engine, criteria=[BETTER], prompts="all", unrelated_option=True)
    keys = [(choice.prompt, choice.unrelated is not None) for choice in found.choices]
    prompts = ("select", "evaluate_first", "avoid_order_bias", "grade")
    assert keys == [(prompt, unrelated) for prompt in prompts for unrelated in (False, True)]
    for choice in found.choices:
        # Always the first place, where the unrelated candidate stands in one of three rotations.
        assert choice.grading.grade_score.estimate == 0.0
        if choice.unrelated is not None:
            assert choice.unrelated.chosen.estimate == pytest.approx(1 / 3)
            assert choice.unrelated.difference.estimate == 0.0
    named = report(engine, criteria=[BETTER], prompts=["grade", "select"])
    assert [choice.prompt for choice in named.choices] == ["grade", "select"]


def test_what_is_missing_is_counted():
    rows = [{**ROWS[0], "a": None}, *ROWS[1:]]
    found = reliability(rows, [BETTER, CITES], ScriptedJudge(always_first), response_fields=["a", "b"], **QUIET)
    assert [(result.num_questions, result.num_missing) for result in found.results] == [(11, 1), (5, 1)]
    assert "1 question was not asked, as a response is missing." in str(found)


def test_a_judge_that_refuses_has_reasons_and_no_numbers():
    found = report(ScriptedJudge(chooses("I'm sorry, but I can't help with that request.")), max_reasks=1)
    result = found.of("better")
    assert result.replies.unscored_counts.reasons == {"refusal": 12}
    assert (result.replies.num_reasks, result.replies.parse_rate.estimate) == (12, 0.0)
    assert isinstance(result.position, Missing)
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert "nan" not in text.lower()


def test_files(tmp_path):
    engines = [SimulatedEngine(seed=seed, noise=1.0, refusal_rate=0.2, name=f"<{seed}>") for seed in range(2)]
    given = {"gold_fields": {"better": "preferred", "cites": "cited"}, "samples": 3, "prompts": ["select"]}
    found = report(engines, confidences=True, **given)
    found.save(tmp_path / "report.json")
    loaded = ReliabilityReport.load(tmp_path / "report.json")
    assert loaded == found
    assert loaded.to_json() == found.to_json()
    assert str(loaded) == str(found)
    document = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert document["parameters"]["seed"] == 0
    assert document["parameters"]["grid"]["samples"] == 3
    assert {said["judge"] for said in document["findings"]} == {"<0>", "<1>"}
    found.save(tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text() == found.to_markdown() + "\n"
    found.save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "&lt;0&gt;" in page
    assert "<0>" not in page
    HTMLParser().feed(page)
    for name in ("report.txt", "report"):
        with pytest.raises(InvalidInputError, match=r"Accepted: '\.json', '\.md', '\.html'"):
            found.save(tmp_path / name)
    (tmp_path / "other.json").write_text('{"evenhand": "judgements"}')
    for name in ("other.json", "report.md", "nothing.json"):
        with pytest.raises(InvalidInputError, match=r"not a saved report|cannot be read"):
            ReliabilityReport.load(tmp_path / name)


def test_the_budget_is_for_all_runs_together():
    engine = ScriptedJudge(always_first)
    found = report(engine, flow="verdict_only", max_calls=27, max_failure_rate=1.0)
    # 24 calls for the assessments, three for the comparisons.
    assert len(engine.requests) == 27
    assert found.of("better").replies.unscored_counts.reasons == {"budget": 9}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"response_fields": None}, r"response_fields names \[\]; name one column"),
        (
            {"criteria": [BETTER], "response_fields": "a"},
            r"names \['a'\]; name one column or more, and two or more for \['better'\]",
        ),
        ({"systems": ["a", "b"]}, "chooses among the systems of recorded votes"),
        ({"criteria": [BETTER, BETTER], "response_fields": None}, "give at least one, each once"),
        ({"criteria": []}, "give at least one, each once"),
        ({"gold_fields": "preferred"}, "say which column belongs to which"),
        ({"gold_fields": {"best": "preferred"}}, "which is not judged"),
        ({"gold_fields": {"better": "cited"}}, "'Yes' in 'cited'"),
        ({"stop_early": True}, "every judge is reported by itself"),
        ({"judge_weights": [1.0]}, "every judge is reported by itself"),
        ({"aggregation": "mean"}, "every judge is reported by itself"),
        ({"scale": "graded", "criteria": [PLAIN]}, "leave these out"),
        ({"scale": "grade"}, "scale is 'grade'"),
        ({"allow_ties": True, "criteria": [CITES]}, "no criterion is pairwise"),
        ({"resamples": 0}, "whole number from 1"),
        ({"prompts": [], "unrelated_option": True}, "name a prompt"),
        ({"unrelated_option": True, "criteria": [CITES]}, "no criterion is pairwise"),
        ({"response_fields": ["a", "z"]}, "'z'"),
        ({"prompts": ["best"]}, "prompts names 'best'"),
        ({"sample": 3}, "there is no option 'sample'"),
        ({"on_position_bias": "tie"}, "on_position_bias"),
    ],
)
def test_what_cannot_be_used_is_named_before_the_first_call(changes, message):
    engine = ScriptedJudge(always_first)
    with pytest.raises((InvalidInputError, UnknownRuleError), match=message):
        report(engine, **changes)
    assert engine.requests == []


@pytest.mark.filterwarnings("ignore:the criterion 'topic' gives no value")
def test_options_without_values_have_flips_and_no_spread():
    found = report(criteria=[BETTER, UNVALUED], samples=3).of("topic")
    assert [each.flip_rate.estimate for each in found.flips.values()] == [1.0, 1.0]
    assert found.repetition.pair_agreement.estimate == 1.0
    assert isinstance(found.spread, Missing)
    with pytest.raises(InvalidInputError, match="options without a value"):
        report(criteria=[BETTER, UNVALUED], confidences=True)

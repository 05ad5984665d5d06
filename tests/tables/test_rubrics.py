"""A rubric judged without a recipe: its scores, how it is asked, kept and read again, and what a panel says."""

import json
import math
from collections import Counter

import pytest

import evenhand
from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.functions import judge
from evenhand.numbers import Missing
from evenhand.statistics.paired_differences import paired_differences
from tests.support.judges import ScriptedJudge, chooses

CLEAR = Criterion(
    name="clear",
    description="How clear is it?",
    weight=3,
    options=(Option(label="Good", value=1.0), Option(label="Fair", value=0.5), Option(label="Bad", value=0.0)),
)
CITES = yes_no_criterion("cites", "Does it cite a source?", weight=1, na=True)
RUDE = yes_no_criterion("rude", "Is it rude?", weight=-2)
RUBRIC = Rubric(name="answer", criteria=(CLEAR, CITES, RUDE))
ROWS = [{"alder": "alder 0", "birch": "birch 0"}, {"alder": "alder 1", "birch": None}]
SAID = {
    "alder 0": {"clear": "Good", "cites": "Yes", "rude": "No"},
    "alder 1": {"clear": "Fair", "cites": "N/A", "rude": "No"},
    "birch 0": {"clear": "Bad", "cites": "Yes", "rude": "Who can say?"},
}


def says(request):
    return SAID[request.question.responses[0]][request.question.criterion.name]


def assess(engine=None, *, rows=ROWS, rubric=RUBRIC, **options):
    given = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, "max_reasks": 0, **options}
    return judge(rows, rubric, engine or ScriptedJudge(says), **given)


@pytest.fixture(scope="module")
def table():
    return assess()


def test_the_scores_by_hand(table):
    # alder: (3 + 1) / 4 and 3·½ / 3; birch: (0 + 1) / 4 without rude, and no response
    scores = {system: [result.score for result in results] for system, results in table.rubric_results.items()}
    assert scores == {"alder": [1.0, pytest.approx(0.5)], "birch": [0.25, None]}
    alder, birch = table.rubric_scores["alder"], table.rubric_scores["birch"]
    assert (alder.score.estimate, alder.score.n, alder.num_incomplete) == (0.75, 2, 0)
    assert (birch.score.estimate, birch.num_unscored, birch.num_incomplete) == (0.25, 1, 1)
    # birch 0 with rude at Yes: (1 − 2) / 4 < 0, at No: 1 / 4; birch 1 has no response: 0 to 1
    assert (birch.score_if_unscored_0, birch.score_if_unscored_1) == (0.0, (0.25 + 1) / 2)
    assert birch.parse_rate.estimate == pytest.approx(2 / 3)
    assert table.summaries["alder", "clear"].score.estimate == 0.75


@pytest.mark.parametrize("clip", ["score", "mean"])
def test_a_rubric_whose_weights_are_all_0_has_no_score_but_a_reason(clip, tmp_path):
    criteria = [each.model_copy(update={"weight": 0}) for each in (CLEAR, CITES)]
    table = assess(rubric=Rubric(name="noted", criteria=criteria, clip=clip), length_penalty={"free_budget": 0})
    found = {(each.score, each.unscored_reason) for results in table.rubric_results.values() for each in results}
    assert found == {(None, "no_value"), (None, "missing_response")}
    scores = table.rubric_scores["alder"]
    weightless = Missing("every weight of the rubric is 0")
    assert scores.score == scores.raw_score == scores.score_if_unscored_0 == scores.score_if_unscored_1 == weightless
    assert (scores.num_unscored, scores.unscored_bounds) == (2, None)
    assert table.summaries["alder", "clear"].score.estimate == 0.75
    assert table.text_tables()[0].rows[0][1] == "–"
    table.save(tmp_path / "noted.parquet")
    assert evenhand.open(tmp_path / "noted.parquet").rubric_scores == table.rubric_scores


def test_expected_values_come_with_the_mass_that_they_rest_on(tmp_path):
    # a simulated judge spreads all its probability over the options; that on NA carries no expected value
    rows = [{"response": "r"}, {"response": None}]
    rubric = Rubric(name="r", criteria=(CLEAR, CITES))
    simulated = SimulatedEngine(quality={"r": 1.0}, accuracy=0.8)
    table = judge(rows, rubric, simulated, scoring="expected", journal=None, progress=False)
    [vote] = table.judgements[2].verdict.votes
    on_values = math.fsum(
        mass for mass, option in zip(vote.probabilities, table.criteria[1].options, strict=True) if not option.na
    )
    cites = table.summaries["response", "cites"].covered_mass
    assert cites.estimate == pytest.approx(on_values)
    assert cites == table.rubric_scores["response"].criteria["cites"].covered_mass
    assert cites.n == 1
    assert table.text_table().headers[-1] == "covered mass"
    table.save(tmp_path / "table.jsonl")
    header = json.loads((tmp_path / "table.jsonl").read_text().splitlines()[0])
    assert header["summaries"][1]["covered_mass"]["estimate"] == cites.estimate
    assert header["rubric_summaries"][0]["criteria"]["cites"]["covered_mass"]["estimate"] == cites.estimate
    selected = table.rescore(scoring="selected")
    assert not any(summary.covered_mass for summary in selected.summaries.values())
    assert "covered mass" not in str(selected)


def test_examples_balanced_and_never_the_row_itself():
    rows = [{"alder": f"answer {number}", "level": ("Good", "Fair", "Bad")[number % 3]} for number in range(9)]
    engine = ScriptedJudge(chooses("Good"))
    judge(
        rows,
        [CLEAR],
        engine,
        response_fields="alder",
        gold_fields={"clear": "level"},
        examples=rows,
        num_examples=6,
        guidelines="Dates must be exact.",
        flow="verdict_only",
        journal=None,
        progress=False,
    )
    assert len(engine.requests) == 18
    for request in engine.requests:
        cases = request.question.examples
        assert Counter(case.label for case in cases) == {"Good": 2, "Fair": 2, "Bad": 2}
        assert request.question.responses[0] not in {case.response for case in cases}
        assert "Dates must be exact." in request.messages[0]["content"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([RUBRIC, CLEAR], {}, "is a rubric, which is judged alone"),
        ([CLEAR, "rubrics.evenhand.summarization"], {}, "'rubrics.evenhand.summarization' is a rubric"),
        (Checklist(name="c", items=(ChecklistItem(question="Is it so?"),)), {}, "is a checklist"),
        (CLEAR, {"calls": "per_item"}, "calls is for a rubric"),
        (CLEAR, {"na_strategy": "zero"}, "na_strategy is for a rubric"),
        (CLEAR, {"length_penalty": {}}, "length_penalty is for a rubric"),
        (RUBRIC, {"calls": "per_item", "flow": "two_step"}, "one reply a response"),
        (RUBRIC, {"call": "per_item"}, "there is no option 'call'. Did you mean 'calls'"),
        (RUBRIC, {"guidelines": 3}, "guidelines is 3"),
        (RUBRIC, {"shuffle_options": 1}, "shuffle_options is 1"),
        (RUBRIC, {"num_examples": 2}, "there are no examples"),
        (RUBRIC, {"label_fields": {"cleer": "x"}}, "Did you mean 'clear'"),
        (RUBRIC, {"examples": [{"response": "x", "clear": "Good"}]}, "no column 'cites'"),
    ],
)
def test_bad_input_is_told_before_the_first_call(given, options, message):
    engine = ScriptedJudge(says)
    with pytest.raises(InvalidInputError, match=message):
        assess(engine, rubric=given, **options)
    assert engine.requests == []


@pytest.mark.parametrize("accuracy", [0.6, 0.9])
@pytest.mark.parametrize(
    "criterion", [CLEAR, CITES, CLEAR.model_copy(update={"scale": "nominal"})], ids=["ordinal", "binary", "nominal"]
)
def test_stopping_when_it_is_certain_never_changes_an_outcome(criterion, accuracy):
    rows = [{"response": f"response {number}"} for number in range(60)]
    truth = {f"response {number}": (number % 3) / 2 for number in range(60)}
    options = {"samples": 5, "flow": "verdict_only", "check_positional_bias": False, "journal": None, "progress": False}

    def outcomes(**stopping):
        engine = SimulatedEngine(quality=truth, accuracy=accuracy, refusal_rate=0.1, seed=1)
        table = judge(rows, criterion, engine, max_reasks=0, **options, **stopping)
        verdicts = [item.verdict for item in table.judgements]
        return [verdict.selected_index for verdict in verdicts], sum(len(verdict.votes) for verdict in verdicts)

    every, full = outcomes()
    chosen, made = outcomes(stop_early=True, confidence=None)
    assert chosen == every
    assert made < full == 300


def test_scores_that_are_clipped_at_the_mean_differ_by_more_than_1():
    points = Rubric(name="points", criteria=(CITES, RUDE.model_copy(update={"weight": -3})), clip="mean")
    said = {"alder": {"cites": "Yes", "rude": "No"}, "birch": {"cites": "No", "rude": "Yes"}}
    judge_of_two = ScriptedJudge(lambda asked: said[asked.question.responses[0]][asked.question.criterion.name])
    table = assess(judge_of_two, rows=[{"alder": "alder", "birch": "birch"}] * 6, rubric=points)
    assert [table.rubric_results[system][0].score for system in table.systems] == [1.0, -3.0]
    assert [table.rubric_scores[system].score.estimate for system in table.systems] == [1.0, 0.0]
    (pair,) = table.rubric_differences
    assert (pair.difference.estimate, pair.if_unscored_low, pair.if_unscored_high) == (4.0, 4.0, 4.0)
    assert pair.difference.low <= 4 <= pair.difference.high


def test_what_no_response_reached_is_in_the_interval_of_a_difference():
    points = Rubric(name="points", criteria=(CITES, RUDE.model_copy(update={"weight": -3})), clip="mean")
    said = {"alder": {"cites": "Yes", "rude": "No"}, "birch": {"cites": "No", "rude": "No"}}
    judge_of_two = ScriptedJudge(lambda asked: said[asked.question.responses[0]][asked.question.criterion.name])
    table = assess(judge_of_two, rows=[{"alder": "alder", "birch": "birch"}] * 3, rubric=points)
    assert [table.rubric_results[system][0].score for system in table.systems] == [1.0, 0.0]
    # scores lie between -3 and 1, so that a difference lies between -4 and 4, whatever three rows show
    (expected,) = paired_differences([[1.0, 0.0]] * 3, bounds=(-3.0, 1.0))
    assert table.rubric_differences[0].difference == expected.difference

"""A rubric judged without a recipe: its scores, how it is asked, kept and read again, and what a panel says."""

import json
import math
from collections import Counter

import pytest

import evenhand
from evenhand.criteria import Checklist, ChecklistItem, Criterion, Option, Rubric, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.functions import judge
from evenhand.judge_reliability.panel_report import spread_caution
from evenhand.numbers import Missing, format_interval
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


def test_judge_weights_and_the_rule_of_each_scale_are_independent(tmp_path):
    options = (Option(label="x", value=1.0), Option(label="y", value=0.0))
    kind = Criterion(name="kind", description="?", scale="nominal", options=options)
    said = {"a": ("Good", "Yes", "x"), "b": ("Bad", "No", "y"), "c": ("Bad", "No", "y")}
    names = ("clear", "cites", "kind")
    panel = [
        ScriptedJudge(lambda request, own=own: own[names.index(request.question.criterion.name)], name=judge)
        for judge, own in said.items()
    ]
    rubric = Rubric(name="mixed", criteria=(CLEAR, CITES, kind))

    def read(table):
        return {item.criterion: (item.verdict.selected_label, item.verdict.aggregated_value) for item in table}

    weights = (3.0, 1.0, 1.0)
    rules = {"ordinal": "weighted_mean", "nominal": "mode"}
    table = assess(
        panel, rows=ROWS[:1], rubric=rubric, response_fields="alder", aggregation=rules, judge_weights=weights
    )
    # clear: 3·1 / 5, near Fair; cites: two of three, whatever they weigh; kind: likewise
    assert read(table) == {"clear": ("Fair", pytest.approx(0.6)), "cites": ("No", 0), "kind": ("y", 0)}
    assert read(table.rescore(aggregation={"ordinal": "mode", "nominal": "weighted_mode", "binary": "weighted"})) == {
        "clear": ("Bad", 0),
        "cites": ("Yes", 1),
        "kind": ("x", 1),
    }
    table.save(tmp_path / "mixed.parquet")
    again = evenhand.open(tmp_path / "mixed.parquet")
    assert read(again.rescore(aggregation=rules)) == read(table)
    assert read(again.rescore(aggregation=None)) == {
        "clear": ("Fair", pytest.approx(1 / 3)),
        **{name: read(table)[name] for name in ("cites", "kind")},
    }


def test_the_rubric_is_printed_first(table):
    first, *compared = table.text_tables()
    second = compared.pop(1)
    assert first.title == "Rubric answer"
    assert first.rows[0][:2] == ("alder", format_interval(table.rubric_scores["alder"].score))
    assert second.headers[1] == "criterion"
    shown = str(table)
    assert shown.index("Rubric answer") < shown.index("Direct assessment by scripted")
    assert "birch: 0.000 to 0.625" in shown
    assert table.to_markdown().startswith("**Rubric answer**")
    assert [each.title.startswith("Paired differences") for each in compared] == [True] * 2  # rubric, criteria
    assert table._repr_html_().count("<table>") == 4


def test_a_row_of_data_carries_the_rubric_score(table):
    rows = table.to_dataset().to_list()
    assert {(row["system"], row["instance"], row["rubric_score"]) for row in rows} == {
        ("alder", 0, 1.0),
        ("alder", 1, 0.5),
        ("birch", 0, 0.25),
        ("birch", 1, None),
    }
    assert {row["rubric_unscored_reason"] for row in rows} == {None, "missing_response"}
    assert "rubric_score" in table.to_pandas().columns


def test_it_is_saved_and_loaded(tmp_path):
    table = assess(
        [ScriptedJudge(says, name="a"), ScriptedJudge(chooses("Good"), name="b")],
        length_penalty={"free_budget": 1, "max_cap": 3, "penalty_at_cap": 0.5, "exponent": 1},
        samples=2,
    )
    # two words: half-way
    taken = {(item.system, item.instance): item.length_penalty for item in table}
    assert taken == {("alder", 0): 0.25, ("alder", 1): 0.25, ("birch", 0): 0.25, ("birch", 1): None}
    path = tmp_path / "table.jsonl"
    table.save(path)
    again = evenhand.open(path)
    assert again == table
    assert again.rubric_scores == table.rubric_scores
    assert str(again) == str(table)
    header = json.loads(path.read_text(encoding="utf-8").split("\n")[0])
    assert header["rubric"]["name"] == "answer"
    assert [each["system"] for each in header["rubric_summaries"]] == ["alder", "birch"]
    assert header["rubric_summaries"][0]["score"]["estimate"] == table.rubric_scores["alder"].score.estimate
    assert len(header["panels"]) == 6
    assert "NaN" not in json.dumps(header)
    assert "Infinity" not in json.dumps(header)


def test_it_is_rescored_without_a_call(table):
    # alder 1: 3·½ / 4
    zero = table.rescore(na_strategy="zero")
    assert zero.rubric_results["alder"][1].score == pytest.approx(1.5 / 4)
    assert zero.rescore(na_strategy="partial", na_partial=1.0).rubric_results["alder"][1].score == pytest.approx(
        2.5 / 4
    )
    assert zero.rescore(na_strategy="skip").rubric_scores == table.rubric_scores
    panel = assess(
        [ScriptedJudge(chooses(label), name=label) for label in ("Good", "Fair", "Bad")],
        rubric=Rubric(name="r", criteria=(CLEAR,)),
    )
    assert panel.rubric_scores["alder"].score.estimate == 0.5
    assert panel.rescore(aggregation={"ordinal": "min"}).rubric_scores["alder"].score.estimate == 0.0
    assert panel.rescore(aggregation="max").rubric_scores["alder"].score.estimate == 1.0
    with pytest.raises(UnknownRuleError, match="Did you mean 'zero'"):
        table.rescore(na_strategy="zeros")
    with pytest.raises(InvalidInputError, match="are for the table of a rubric"):
        assess(rubric=CLEAR).rescore(na_strategy="zero")


def test_options_are_shuffled_and_offered_na_as_a_rubric_is_by_default(table):
    orders = {vote.order for item in table.judgements for vote in item.verdict.votes}
    assert len(orders) > 3
    assert all(len(item.verdict.votes) <= 1 for item in table.judgements)
    assert all(criterion.na_index is not None for criterion in table.criteria)
    as_written = assess(shuffle_options=False, auto_na_option=False)
    given = {vote.order for item in as_written.judgements for vote in item.verdict.votes}
    assert given == {(0, 1, 2), (0, 1)}
    assert as_written.rubric == RUBRIC


def test_criteria_keep_their_own_defaults_and_may_be_shuffled():
    plain = assess(rubric=CLEAR)
    assert plain.rubric is None
    assert {vote.order for item in plain.judgements for vote in item.verdict.votes} == {(0, 1, 2), (2, 1, 0)}
    assert plain.rubric_scores == {}
    assert [each.title.partition(" ")[0] for each in plain.text_tables()] == ["Direct", "Paired"]
    shuffled = assess(rubric=CLEAR, shuffle_options=True, check_positional_bias=False, auto_na_option=True)
    assert shuffled.parameters["grid"]["orders"] == "shuffled"
    assert shuffled.criteria[0].na_index == 3


def test_one_call_for_the_whole_rubric():
    answers = [{"index": 1, "answer": "Good"}, {"index": 3, "answer": "No"}]
    engine = ScriptedJudge(lambda request: json.dumps({"answers": answers}))
    table = assess(engine, calls="per_item")
    assert len(engine.requests) == 3
    assert [result.unpenalized.unscored for result in table.rubric_results["alder"]] == [("cites",), ("cites",)]
    assert table.rubric_results["alder"][0].score == 1.0
    estimate = assess(engine, calls="per_item", dry_run=True)
    assert (estimate.calls, estimate.votes, len(engine.requests)) == (3, 9, 3)
    # a sheet is not told apart by what was judged with it before
    assert {len(request.items) for request in engine.requests} == {3}


def test_expected_values_are_weighed():
    rows = [{"response": "r"}]
    judge_ = SimulatedEngine(quality={"r": 0.5}, accuracy=0.8)
    skewed = CLEAR.model_copy(update={"options": (Option(label="Good", value=0.9), *CLEAR.options[1:])})
    table = judge(rows, Rubric(name="r", criteria=(skewed,)), judge_, scoring="expected", journal=None, progress=False)
    # 0.8·½ + 0.1·0.9
    assert table.rubric_scores["response"].score.estimate == pytest.approx(0.49)
    assert table.rescore(scoring="selected").rubric_scores["response"].score.estimate == 0.5


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


def test_examples_from_a_file(tmp_path):
    path = tmp_path / "examples.jsonl"
    path.write_text('{"response": "short and clear", "clear": "good"}\n', encoding="utf-8")
    engine = ScriptedJudge(says)
    table = assess(engine, rubric=CLEAR, examples=path)
    assert all("short and clear" in request.messages[0]["content"] for request in engine.requests)
    assert (table.parameters["examples"], table.parameters["num_examples"]) == (1, None)


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


LABELLED = [{"response": f"response {number}", "gold": ("Good", "Fair", "Bad")[number % 3]} for number in range(30)]
TRUTH = {row["response"]: {"Good": 1.0, "Fair": 0.5, "Bad": 0.0}[row["gold"]] for row in LABELLED}


class TestPanels:
    def run(self, judges=3, **options):
        panel = [SimulatedEngine(quality=TRUTH, accuracy=0.8, seed=seed) for seed in range(judges)]
        given = {"check_positional_bias": False, "flow": "verdict_only", "journal": None, "progress": False, **options}
        return judge(LABELLED, CLEAR, panel, **given)

    def test_one_judge_asked_once_shows_nothing_more(self):
        table = self.run(judges=1)
        assert table.panel("response", "clear") is None
        assert len(table.text_tables()) == 1

    def test_several_judges_are_compared(self):
        table = self.run()
        report = table.panel("response", "clear")
        assert [judge_.judge_id for judge_ in report.judges] == ["simulated-0", "simulated-1", "simulated-2"]
        assert (report.num_votes, report.num_planned, report.num_left_out) == (90, 90, 0)
        assert len(report.pairs) == 3
        assert report.alpha.interval.low < report.alpha.interval.estimate
        shown = str(table)
        assert "What the votes say about the judges" in shown
        assert "Judge by judge" in shown
        with pytest.raises(InvalidInputError, match="no cell"):
            table.panel("response", "cleer")

    def test_with_gold_the_judges_are_compared_by_their_errors(self):
        by_scores = self.run().panel("response", "clear").effective
        by_errors = self.run(gold_fields={"clear": "gold"}).panel("response", "clear").effective
        # judges whose errors are independent are worth more than their agreement on the truth lets them seem
        assert by_errors.effective.estimate > by_scores.effective.estimate + 0.5

    def test_draws_that_were_left_out_are_counted_and_few_draws_cautioned_about(self):
        table = self.run(samples=3, stop_early=True, confidence=None)
        report = table.panel("response", "clear")
        made = sum(len(item.verdict.votes) for item in table.judgements)
        assert (report.num_votes, report.num_planned) == (made, 270)
        assert 0 < report.num_left_out == 270 - made
        shown = " ".join(str(table).split())
        assert f"Of the 270 draws of the full grid {270 - made} were not made." in shown
        assert spread_caution(3) in shown
        assert "proves little" not in " ".join(str(self.run(samples=5)).split())


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


def test_a_second_run_makes_no_call(tmp_path):
    journal = tmp_path / "journal.sqlite3"
    panel = [ScriptedJudge(says, name=name) for name in ("a", "b")]
    first = assess(panel, samples=2, journal=journal)
    asked = [len(engine.requests) for engine in panel]
    second = assess(panel, samples=2, journal=journal)
    assert [len(engine.requests) for engine in panel] == asked == [18, 18]
    assert second.rubric_scores["alder"].usage.calls == 0
    assert second.rubric_scores["alder"].score == first.rubric_scores["alder"].score


def test_a_budget_that_runs_out_leaves_whole_responses():
    rows = [{"one": f"a {number}", "other": f"b {number}"} for number in range(4)]
    criteria = [yes_no_criterion(name, f"Is it {name}?", weight=1.0) for name in ("clear", "kind", "true")]
    table = judge(
        rows,
        Rubric(name="reply", criteria=tuple(criteria)),
        ScriptedJudge(chooses("Yes"), concurrency=1),
        response_fields=["one", "other"],
        flow="verdict_only",
        max_calls=9,
        journal=None,
        progress=False,
    )
    # nine calls are three responses of three criteria: both of the first row, and one of the second
    scored = {(result.instance, result.system) for result in table.judgements if result.verdict.scored}
    assert scored == {(0, "one"), (0, "other"), (1, "one")}
    assert table.rubric_scores["one"].num_incomplete == table.rubric_scores["other"].num_incomplete == 0


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

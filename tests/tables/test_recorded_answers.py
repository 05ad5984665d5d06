"""Recorded answers to checklists and recorded choices as the tables that a run would have given."""

import json

import pandas as pd
import pytest

import evenhand
from evenhand.cli import main
from evenhand.data.rows import read_file
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion
from tests.support.shared import shared_path

CHECKS = {
    "name": "mail",
    "items": [
        {"name": "polite", "question": "Is it polite?", "weight": 50},
        {"name": "short", "question": "Is it short?", "weight": 50, "na": True},
    ],
}
# Mail 0: polite (two of three), short. Mail 1: not polite (two of two), and nobody says whether it is short.
ANSWERS = [
    {"id": "m0", "judge": "gpt", "item": "polite", "vote": "yes"},
    {"id": "m0", "judge": "llama", "item": "polite", "vote": "No"},
    {"id": "m0", "judge": "ann", "item": "polite", "vote": True},
    {"id": "m0", "judge": "gpt", "item": "short", "vote": 1},
    {"id": "m1", "judge": "gpt", "item": "polite", "vote": "no"},
    {"id": "m1", "judge": "llama", "item": "polite", "vote": "no"},
    {"id": "m1", "judge": "ann", "item": "polite", "vote": None},
]


def test_answers_by_hand():
    table = evenhand.checklist(votes=ANSWERS, checklist=CHECKS)
    assert table.kind == "checklist"
    assert [result.scores.pass_rate for result in table.results] == [1.0, 0.0]
    (report,) = table.reports.values()
    assert (report.pass_rate.estimate, report.unanswered) == (0.5, 1)
    assert dict(report.unanswered_reasons) == {"not_asked": 1}
    assert table.ids == ["m0", "m1"]
    assert table.parameters["judges"] == ["gpt", "llama", "ann"]
    loose = table.rescore(aggregation="any")
    assert [result.scores.pass_rate for result in loose.results] == [1.0, 0.0]
    strict = table.rescore(aggregation="unanimous")
    assert [result.scores.pass_rate for result in strict.results] == [0.5, 0.0]


@pytest.mark.parametrize(
    "made",
    [
        lambda: evenhand.checklist(votes=ANSWERS, checklist=CHECKS),
        lambda: evenhand.winrates(votes=[{"id": 1, "first": "a", "second": "b", "vote": "a"}]),
        lambda: evenhand.grade_scores(votes=[{"id": 1, "order": ["a", "b"], "vote": "a"}]),
        lambda: evenhand.reliability(votes=[{"id": 1, "vote": "yes"}, {"id": 2, "vote": "no"}]),
    ],
)
def test_nothing_is_said_of_how_a_judge_is_asked(made):
    assert made().parameters.keys().isdisjoint({"flow", "mode", "capture_reasoning", "use_logprobs", "shuffle_items"})


def test_without_a_checklist_the_items_are_those_that_occur():
    table = evenhand.checklist(votes=[*ANSWERS, {"id": "m1", "judge": "gpt", "item": "short", "vote": "n/a"}])
    assert [(item.name, item.na) for item in table.checklists[0].items] == [("polite", False), ("short", True)]
    assert [result.scores.pass_rate for result in table.results] == [1.0, 0.0]


def test_answers_in_the_cells_of_responses_are_the_same_votes():
    rows = [
        {"gpt": {"polite": "yes", "short": "yes"}, "llama": {"polite": "no"}, "ann": '{"polite": true}'},
        {"gpt": {"polite": "no"}, "llama": {"polite": "no"}, "ann": {"polite": None}},
    ]
    wide = evenhand.checklist(rows, CHECKS, votes=["gpt", "llama", "ann"])
    long = evenhand.checklist(votes=ANSWERS, checklist=CHECKS)
    assert [each.verdicts for each in wide.responses] == [each.verdicts for each in long.responses]
    lists = evenhand.checklist([{"gpt": ["yes", "n/a"]}, {"gpt": ["no", None]}], CHECKS, votes="gpt")
    assert [result.scores.pass_rate for result in lists.results] == [1.0, 0.0]


def test_systems_gold_frames_and_files(tmp_path):
    rows = [{**row, "system": name, "right": "yes"} for name in ("alder", "birch") for row in ANSWERS[:4]]
    table = evenhand.checklist(votes=pd.DataFrame(rows), checklist=CHECKS, gold_fields="right")
    assert table.systems == ("alder", "birch")
    assert table.gold_agreement("alder").estimate == 1.0
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = evenhand.checklist(votes=path, checklist=CHECKS, gold_fields="right")
    assert list(read.records()) == list(table.records())
    lacking = evenhand.checklist(votes=[*rows, {**rows[0], "id": "m9"}], checklist=CHECKS)
    assert [each.verdicts[0].unscored_reason for each in lacking.responses if each.system == "birch"] == [
        None,
        "missing_response",
    ]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{**ANSWERS[0], "item": "rude"}], {}, r"row 0 answers 'rude', which is no item of the checklist 'mail'"),
        ([{**ANSWERS[0], "vote": "maybe"}], {}, r"row 0: the judge 'gpt' voted 'maybe', which is no option"),
        ([{**ANSWERS[0], "vote": "n/a"}], {}, r"voted 'n/a', which is no option of 'polite'"),
        ([ANSWERS[0], {**ANSWERS[0], "vote": "no"}], {}, r"rows 0 and 1 both hold the vote of 'gpt' on 'm0'"),
        ([{"judge": "gpt", "item": "polite", "vote": "yes"}], {}, r"name it with id_field"),
        ([{"id": 0, "vote": "yes"}], {}, r"no column says which item that answers: name it with item_field"),
        ([{"id": 0, "vote": ["yes"]}], {}, r"has 1 answer\(s\) for a checklist of 2 items"),
        ([ANSWERS[0]], {"item_field": "itme"}, r"item_field names the column 'itme', which no row has"),
        ([ANSWERS[0]], {"mode": "item"}, r"mode is 'item', which says how a judge is asked"),
        ([ANSWERS[0]], {"engine": "engines.evenhand.baseline"}, r"recorded votes ask no judge"),
        ([ANSWERS[0]], {"gold_fields": {"polite": "x"}}, r"name the one column with the answer of a person"),
        (
            [{**ANSWERS[0], "right": "yes"}, {**ANSWERS[1], "right": "no"}],
            {"gold_fields": "right"},
            r"row 1 has the gold answer 'no' to 'polite', and a row before it 'yes'",
        ),
    ],
)
def test_answers_that_cannot_be_used_are_refused(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.checklist(votes=rows, checklist=CHECKS, **options)


def test_answers_of_a_run_written_as_rows_and_read_back_are_the_same_table():
    judges = [SimulatedEngine(name=name, seed=seed, noise=1.0, refusal_rate=0.2) for seed, name in enumerate("xy")]
    rows = [{"alder": f"alder {n}" * n, "birch": None if n == 3 else f"birch {n}", "doc": n // 2} for n in range(1, 7)]
    asked = evenhand.checklist(
        rows, CHECKS, judges, response_field=["alder", "birch"], cluster_field="doc", progress=False, samples=3
    )
    read = evenhand.checklist(votes=asked.to_rows(), checklist=CHECKS, cluster_field="cluster")
    plain = [{**row, "items": None} for row in asked.records()]
    assert [{**row, "items": None, "id": None} for row in read.records()] == [{**row, "id": None} for row in plain]
    for mine, theirs in zip(read.reports.values(), asked.reports.values(), strict=True):
        assert (mine.pass_rate, mine.primary_score, mine.unanswered) == (
            theirs.pass_rate,
            theirs.primary_score,
            theirs.unanswered,
        )
    assert read.differences == asked.differences


def test_the_published_alignment_of_the_agent_judge_recomputes():
    """DevAI: the share of the requirements on which the judge and the people agree, 92.08 / 86.61 / 90.16 %."""
    rows = [
        {
            "id": row["task"],
            "system": row["system"],
            "item": str(each["id"]),
            "agent": each["agent_judge"],
            "human": each["human"],
        }
        for row in read_file(shared_path("data/devai_checklist.jsonl.gz"))
        for each in row["requirements"]
    ]
    tasks = dict.fromkeys(row["id"] for row in rows)
    hits = {}
    for task in tasks:  # each task has requirements of its own
        own = [row for row in rows if row["id"] == task]
        table = evenhand.checklist(own, votes="agent", gold_fields="human")
        for each, result in zip(table.responses, table.results, strict=True):
            pairs = [(gold, item.judged) for gold, item in zip(each.gold, result.items, strict=True)]
            hits.setdefault(each.system, []).extend(gold == judged for gold, judged in pairs)
    shares = [round(100 * sum(found) / len(found), 2) for found in hits.values()]
    assert sorted(shares) == [86.61, 90.16, 92.08]


BETTER = comparison_criterion("better", "Which is better?")
# Three candidates in all rotations. Poem 0: always z. Poem 1: always what stands first.
CHOICES = [
    {"id": 0, "judge": "gpt", "order": ["x", "y", "z"], "vote": "z"},
    {"id": 0, "judge": "gpt", "order": ["y", "z", "x"], "vote": "B"},
    {"id": 0, "judge": "gpt", "order": ["z", "x", "y"], "vote": "z"},
    {"id": 1, "judge": "gpt", "order": ["x", "y", "z"], "vote": "A"},
    {"id": 1, "judge": "gpt", "order": ["y", "z", "x"], "vote": "A"},
    {"id": 1, "judge": "gpt", "order": ["z", "x", "y"], "vote": "A"},
]


def test_choices_by_hand():
    table = evenhand.grade_scores(votes=CHOICES)
    assert table.kind == "grade_scores"
    (grading,) = table.gradings.values()
    # Always z: every place once (L = 1), one candidate (C = 1), G = 1. Always the first: L = 0, so G = 0.
    assert [each.grade_score for each in grading.instances] == [1.0, 0.0]
    assert grading.grade_score.estimate == pytest.approx(0.5)
    assert grading.histograms[0].places.counts == (4, 1, 1)
    named = evenhand.grade_scores(votes=CHOICES, candidates=["z", "x", "y"])
    assert named.instances[0].candidates == ("z", "x", "y")
    assert next(iter(named.gradings.values())).grade_score == grading.grade_score


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{**CHOICES[0], "vote": "w"}], {}, r"row 0: the judge 'gpt' voted 'w', which is no candidate"),
        ([{**CHOICES[0], "order": ["x"]}], {}, r"row 0 has \['x'\] in 'order'"),
        (
            [CHOICES[0], {**CHOICES[1], "order": ["y", "x", "z"]}],
            {},
            r"row 1 shows .* no rotation of \['x', 'y', 'z'\]",
        ),
        ([CHOICES[0], {**CHOICES[1], "order": ["y", "x"]}], {}, r"row 1 shows \['y', 'x'\] and .* differ in 'z'"),
        ([{**CHOICES[0], "order": ["B", "A"], "vote": "A"}], {}, r"may mean a candidate and a place"),
        ([{"id": 0, "vote": "x"}], {}, r"name the column with the list .*order_field"),
        ([CHOICES[0], CHOICES[0]], {}, r"rows 0 and 1 both hold the vote of 'gpt' on '0'"),
        ([CHOICES[0]], {"aggregation": "mean"}, r"leave out aggregation"),
        ([CHOICES[0]], {"prompts": "grade"}, r"prompts is 'grade', and recorded votes ask no judge"),
    ],
)
def test_choices_that_cannot_be_used_are_refused(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.grade_scores(votes=rows, **options)


def test_choices_of_a_run_written_as_rows_and_read_back_are_the_same_table():
    rows = [{"x": f"x{n}", "y": f"y{n}" * n, "z": None if n == 2 else f"z{n}"} for n in range(1, 6)]
    rows.append({"x": "x", "y": None, "z": None})
    judges = [SimulatedEngine(name=name, seed=seed, noise=1.0, refusal_rate=0.2) for seed, name in enumerate("xy")]
    asked = evenhand.grade_scores(rows, ["x", "y", "z"], BETTER, judges, progress=False, samples=2)
    read = evenhand.grade_scores(votes=asked.to_rows(), candidates=["x", "y", "z"], criteria=BETTER)
    assert [[(v.judge_id, v.order, v.sample, v.selected_index) for v in each.votes] for each in read.instances] == [
        [(v.judge_id, v.order, v.sample, v.selected_index) for v in each.votes] for each in asked.instances
    ]
    for mine, theirs in zip(read.gradings.values(), asked.gradings.values(), strict=True):
        assert mine.instances == theirs.instances
        assert (mine.grade_score, mine.chance_corrected) == (theirs.grade_score, theirs.chance_corrected)
    several = evenhand.grade_scores(rows, ["x", "y"], BETTER, judges[0], progress=False, prompts=("select", "grade"))
    with pytest.raises(InvalidInputError, match=r"filter\(prompt=…"):
        several.to_rows()


def test_the_shell_reads_answers_and_asks_nobody(tmp_path, capsys):
    data, checks, out = tmp_path / "answers.jsonl", tmp_path / "checks.json", tmp_path / "checked.parquet"
    data.write_text("".join(json.dumps(row) + "\n" for row in ANSWERS))
    checks.write_text(json.dumps(CHECKS))
    assert main(["checklist", str(data), "--votes", "vote", "--checklist", str(checks), "--out", str(out)]) == 0
    assert "2 checked responses written" in capsys.readouterr().out
    assert [result.scores.pass_rate for result in evenhand.open(out).results] == [1.0, 0.0]


def test_a_column_of_votes_may_have_a_comma_beside_a_column_of_systems(tmp_path):
    data, checks, out = tmp_path / "answers.jsonl", tmp_path / "checks.json", tmp_path / "checked.parquet"
    rows = [{**row, "vote, last": row["vote"], "model": "gpt"} for row in ANSWERS]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    checks.write_text(json.dumps(CHECKS))
    named = ["--votes", "vote, last", "--systems-field", "model", "--checklist", str(checks)]
    assert main(["checklist", str(data), *named, "--out", str(out)]) == 0
    assert [result.scores.pass_rate for result in evenhand.open(out).results] == [1.0, 0.0]

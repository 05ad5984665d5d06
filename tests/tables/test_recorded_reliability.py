"""Recorded votes get the report on their judges that a run would have given."""

import gzip
import json
from collections import defaultdict
from dataclasses import replace

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import Criterion, Option
from evenhand.data.rows import read_file
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion
from tests.support.shared import shared_path

# Prompt 0: the same system in both orders. Prompt 1: what stands first, twice. Prompt 2: the same again.
PAIRS = [
    {"id": prompt, "judge": "gpt", "first": first, "second": second, "vote": vote, "best": "small"}
    for prompt, votes in enumerate([("small", "small"), ("A", "A"), ("large", "large")])
    for (first, second), vote in zip([("small", "large"), ("large", "small")], votes, strict=True)
]


def test_comparisons_by_hand():
    report = evenhand.reliability(votes=PAIRS, gold_field="best")
    assert isinstance(report, evenhand.ReliabilityReport)
    found = report.of()
    assert found.position.position_consistency.estimate == pytest.approx(2 / 3)
    assert found.num_instances == 3
    # a tie where the orders disagree: right on prompt 0 alone
    assert found.people.accuracy.estimate == pytest.approx(1 / 3)
    assert report.parameters["judges"] == ["gpt"]


QUALITY = Criterion(
    name="quality",
    description="",
    options=tuple(Option(label=label, value=value) for label, value in (("Bad", 0.0), ("Fair", 0.5), ("Good", 1.0))),
)
GRADES = [
    {"id": 0, "system": "alder", "judge": "gpt", "swapped": False, "vote": "Good", "human": "Good"},
    {"id": 0, "system": "alder", "judge": "gpt", "swapped": True, "vote": "Good", "human": "Good"},
    {"id": 1, "system": "alder", "judge": "gpt", "swapped": False, "vote": "Bad", "human": "Fair"},
    {"id": 1, "system": "alder", "judge": "gpt", "swapped": True, "vote": "Good", "human": "Fair"},
]


def test_assessments_by_hand():
    found = evenhand.reliability(votes=GRADES, criteria=QUALITY, gold_field="human").of()
    assert found.position.position_consistency.estimate == pytest.approx(1 / 2)
    # Bad and Good come to Fair, which is what the person said
    assert found.people.accuracy.estimate == 1.0
    votes = [{"id": n, "judge": judge, "vote": n % 2} for n in range(6) for judge in ("gpt", "llama")]
    report = evenhand.reliability(votes=votes)
    assert report.judges == ("gpt", "llama")
    (agreement,) = report.agreements
    assert agreement.pairs[0].cohen_kappa.estimate == 1.0


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (PAIRS, {"engine": "engines.evenhand.baseline"}, "recorded votes ask no judge"),
        (PAIRS, {"prompts": "all"}, "prompts is 'all', and recorded votes ask no judge"),
        (PAIRS, {"judge_weights": (1.0,)}, "judge_weights is .*, which belongs to panels"),
        (PAIRS, {"criteria": [QUALITY, QUALITY]}, "recorded votes are about one criterion"),
        ([{**GRADES[0], "vote": "Great"}], {"criteria": QUALITY}, "row 0: the judge 'gpt' voted 'Great'"),
        ([GRADES[0], {**GRADES[0], "vote": "Bad"}], {"criteria": QUALITY}, "rows 0 and 1 both hold the vote"),
        (
            [GRADES[0], {**GRADES[1], "human": "Bad"}],
            {"criteria": QUALITY, "gold_field": "human"},
            "row 1 has the gold label 'Bad', and row 0, about the same, 'Good'",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.reliability(votes=rows, **options)


def test_the_votes_of_a_run_get_the_report_of_the_run():
    rows = [{"a": f"a{n}" * 3, "b": f"b{n}"} for n in range(8)]
    judges = [SimulatedEngine(name=name, seed=seed, noise=1.0) for seed, name in enumerate(("one", "two"))]
    criterion = comparison_criterion("better", "")
    how = {"progress": False, "samples": 3}
    table = evenhand.winrates(rows, ["a", "b"], criterion, judges, **how)
    asked = evenhand.reliability(rows, criterion, judges, systems=["a", "b"], **how)
    read = evenhand.reliability(votes=table.to_rows(), criteria=criterion)
    for mine, theirs in zip(read.results, asked.results, strict=True):
        assert replace(mine, replies=theirs.replies) == theirs
    assert read.agreements == asked.agreements


@pytest.mark.slow
def test_the_published_consistency_of_recorded_judges_recomputes():
    """arXiv 2406.07791 counts a verdict whose swapped partner could not be read as consistent."""
    published = {
        log["judge"]: log
        for log in json.loads(shared_path("data/posbias_published_logs.json").read_text())
        if log["bench"] == "MTBench" and not log["rep"]
    }
    by_judge = defaultdict(list)
    for row in read_file(shared_path("data/posbias_mtbench_raw.jsonl.gz")):
        by_judge[row["judge"]].append({**row, "said": "tie" if row["parsed"] == "C" else row["parsed"]})
    names = {"votes": "said", "first_field": "a", "second_field": "b", "id_field": "q", "cluster_field": False}
    compared = sorted(by_judge.keys() & published.keys())[::2]
    assert compared
    for judge in compared:
        found = evenhand.reliability(by_judge[judge], **names, resamples=1).of().position
        share = published[judge]["consistent"] / published[judge]["extracted"]
        by_their_rule = (2 * found.n_consistent + found.n_lone) / (2 * found.n_checked + found.n_lone)
        assert by_their_rule == pytest.approx(share, abs=1e-12)


def test_the_shell_reports_on_recorded_votes(tmp_path, capsys):
    data, out = tmp_path / "votes.jsonl.gz", tmp_path / "report.json"
    data.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in PAIRS).encode()))
    assert main(["judge-report", str(data), "--votes", "vote", "--gold", "best", "--out", str(out)]) == 0
    assert "gpt" in capsys.readouterr().out
    assert evenhand.ReliabilityReport.load(out).of().num_instances == 3

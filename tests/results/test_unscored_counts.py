"""Unscored votes, the rows that they affect and unscored verdicts: the same counts on every surface of every mode."""

import pytest

import evenhand
from evenhand.criteria import Rubric, yes_no_criterion
from evenhand.engines.simulated import SimulatedEngine
from evenhand.votes import Vote

QUIET = {"journal": None, "progress": False, "max_reasks": 0, "max_failure_rate": 1.0}


RUBRIC = Rubric(name="both", criteria=(yes_no_criterion("clear", "Is it clear?"), yes_no_criterion("true", "Is it?")))
FAULTY = {"refusal_rate": 0.2, "garbage_rate": 0.1, "noise": 0.3, "recovery_rate": 0.0}


def judges(*names):
    return [SimulatedEngine(name=name, seed=place, **FAULTY) for place, name in enumerate(names)]


SIMULATED = [{"question": f"question {row}", "a": f"answer {row}", "b": f"other {row}", "c": ""} for row in range(12)]
BETTER = "criteria.evenhand.pairwise.overall_quality"
RECORDED = [{"x": 1, "y": None}, {"x": 0, "y": 0}, {"x": None, "y": None}]
KINDS = {
    "direct": lambda: evenhand.judge(SIMULATED, RUBRIC.criteria[0], judges("one"), response_fields=["a", "b"], **QUIET),
    "panel": lambda: evenhand.judge(SIMULATED, RUBRIC, judges("one", "two"), response_fields="a", samples=3, **QUIET),
    "sheet": lambda: evenhand.judge(SIMULATED, RUBRIC, judges("one"), response_fields="a", calls="per_item", **QUIET),
    "stopped early": lambda: evenhand.judge(
        SIMULATED, RUBRIC.criteria[0], judges("one"), response_fields="a", samples=5, stop_early=True, **QUIET
    ),
    "checklist": lambda: evenhand.checklist(
        SIMULATED, ["Is it short?", "Is it true?"], judges("one"), response_fields=["a", "b"], **QUIET
    ),
    "winrates": lambda: evenhand.winrates(SIMULATED, BETTER, judges("one"), response_fields=["a", "b", "c"], **QUIET),
    "best of": lambda: evenhand.run_mode(
        SIMULATED, "best_of", judges("one"), response_fields=["a", "b", "c"], criteria=BETTER, **QUIET
    ),
    "grade scores": lambda: evenhand.grade_scores(
        SIMULATED, BETTER, judges("one", "two"), response_fields=["a", "b", "c"], **QUIET
    ),
    "recorded": lambda: evenhand.aggregate_votes(RECORDED, ["x", "y"]),
    "agreement": lambda: evenhand.agreement(RECORDED, ["x", "y"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_mode_counts_its_votes(kind, tmp_path):
    found = KINDS[kind]()
    cells = list(found.cells())
    silent = [(cell, vote) for cell in cells for vote in cell.votes if vote.selected_index is None and not vote.na]
    counts = found.unscored_counts
    assert (counts.votes, counts.unscored_votes) == (sum(len(cell.votes) for cell in cells), len(silent))
    assert 0 < len(silent) < counts.votes
    assert counts.rows == len({cell.about["instance"] for cell, _ in silent})
    assert counts.verdicts == len(cells)
    assert counts.unscored_verdicts == sum(all(map(is_silent, cell.votes)) for cell in cells)
    shares = {each.name: each.value for each in found.findings() if not each.of}
    assert shares["unscored"] == len(silent) / counts.votes
    if kind != "agreement":
        assert str(counts) in " ".join(str(found).split())
    path = tmp_path / "run.parquet"
    found.save(path)
    assert evenhand.open(path).unscored_counts == counts
    views = list(found.verdict_views())
    assert sum(vote.unscored for view in views for vote in view.votes) == counts.unscored_votes
    assert sum(view.unscored for view in views) == counts.unscored_verdicts
    if found.kind in {"judgements", "checklist", "winrates"}:
        by_system = [each for each in found.findings() if each.name == "unscored" and each.of]
        assert by_system == [] or max(each.unscored.votes for each in by_system) <= counts.votes


def is_silent(vote: Vote):
    return vote.selected_index is None and not vote.na

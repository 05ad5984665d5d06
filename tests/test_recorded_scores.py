"""Votes that other people recorded, aggregated here, against the figures that they published."""

import gzip
import json
from collections import Counter
from functools import cache

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evenhand.aggregation.verdict import VoteRules, aggregate, expected_value
from evenhand.criteria import Criterion, Option
from evenhand.judge_reliability.panel_report import panel_report
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import MISSING_RESPONSE, Vote
from tests.support.shared import shared_path

GRADES = Criterion(
    name="satisfaction",
    description="",
    options=tuple(Option(label=str(grade), value=(grade - 1) / 3) for grade in range(1, 5)),
)
SCORES = Criterion(
    name="quality",
    description="",
    options=tuple(Option(label=str(score), value=(score - 1) / 9) for score in range(1, 11)),
)


def json_lines(name):
    with gzip.open(shared_path(f"data/{name}"), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# LLM-Rubric: README of microsoft/LLM-Rubric, "Real Conversation Data", baselines on Q0.
PUBLISHED_BASELINES = {
    "sample": (1.207228, 0.039810, 0.045245, 0.040967),
    "argmax": (1.201643, 0.140091, 0.086990, 0.081134),
    "expected": (0.918676, 0.177301, 0.086675, 0.065928),
}


@cache
def real_dialogues():
    """One row per human answer to Q0: the grades of the distribution, and the human's."""
    sampled = pd.read_csv(shared_path("data/llm_rubric_real_sampled_labels.csv.gz"), dtype={"annotator": str})
    sampled = sampled[sampled.criterion == "Q0"].set_index(["text_id", "annotator"]).sample_llm
    rows = []
    for dialogue in json_lines("llm_rubric_probs_and_humans.jsonl.gz"):
        for human in dialogue["human"] if dialogue["split"] == "real" else []:
            masses = dialogue["llm_probs_1to4"]["Q0"]
            drawn = GRADES.index_of(f"{sampled[dialogue['text_id'], human['annotator']]:.0f}")
            rows.append({"masses": masses, "drawn": drawn, "human": human["Q0"]})
    return rows


def grade_of(value):
    return 1 + 3 * value


@pytest.mark.parametrize("baseline", PUBLISHED_BASELINES)
def test_the_published_figures_of_a_distribution_over_grades_recompute(baseline):
    values = tuple(option.value for option in GRADES.options)
    human = [row["human"] for row in real_dialogues()]
    judge = []
    for row in real_dialogues():
        if baseline == "expected":
            judge.append(grade_of(expected_value(row["masses"], values)))
        else:
            index = row["drawn"] if baseline == "sample" else int(np.argmax(row["masses"]))
            vote = Vote(judge_id="llm", order=(0, 1, 2, 3), selected_index=index)
            judge.append(grade_of(aggregate([vote], GRADES).aggregated_value))
    assert len(judge) == 223
    found = (
        np.sqrt(np.mean(np.square(np.subtract(judge, human)))),
        stats.pearsonr(judge, human).statistic,
        stats.spearmanr(judge, human).statistic,
        stats.kendalltau(judge, human).statistic,
    )
    # Six decimals were published, so that a figure may be off by half of the last one.
    assert np.abs(np.subtract(found, PUBLISHED_BASELINES[baseline])).max() < 5e-7


def test_a_panel_of_24_people_of_whom_three_read_each_dialogue():
    """Most ratings of the table are missing; the agreement is that of the published implementation of alpha."""
    verdicts, cells = [], []
    dialogues = [row for row in json_lines("llm_rubric_probs_and_humans.jsonl.gz") if row["split"] == "synth"]
    for dialogue in dialogues:
        given = {human["annotator"]: human["Q0"] for human in dialogue["human"] if human["Q0"] in {1, 2, 3, 4}}
        votes = [Vote(judge_id=name, order=(0,), selected_index=int(grade) - 1) for name, grade in given.items()]
        verdicts.append(aggregate(votes, GRADES) if votes else MISSING_RESPONSE)
        cells.append(given)
    table = pd.DataFrame(cells)
    report = panel_report(verdicts, GRADES, VoteRules(), samples=1, level=IntervalLevel(resamples=1))
    assert (report.num_instances, len(report.judges), len(report.kappas)) == (225, 24, 24 * 23 / 2)
    assert report.num_votes == table.notna().to_numpy().sum()
    expected = krippendorff.alpha(table.to_numpy().T, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4])
    assert report.alpha.estimate == pytest.approx(expected, abs=1e-9)
    correlations = table.corr(min_periods=3).to_numpy()[np.triu_indices(24, 1)]
    assert report.judge_correlation.estimate == pytest.approx(np.nanmean(correlations), abs=1e-9)


# RewardBench 2, eight draws of each score: data of composo-ai/llm-judge-criteria-ensembling.


@cache
def runs():
    return json_lines("composo_rewardbench2_k8.jsonl.gz")


@cache
def mean_of_draws(drawn):
    """The draws as a panel under the rule ``mean``: the mean is what the publication compares."""
    votes = [
        Vote(judge_id=str(place), order=(0,), selected_index=None if score is None else score - 1)
        for place, score in enumerate(drawn)
    ]
    return aggregate(votes, SCORES, "mean").aggregated_value


def outcomes(run, model, draws, score_of):
    """How often the right answer, answer 0, is alone at the top, at the top with others, or neither.

    An instance with an answer that no draw scored is left out.
    """
    counts = Counter()
    for row in runs():
        if row["run"] == run and row.get(model) is not None:
            scores = [score_of(tuple(answer[:draws])) for answer in row[model]]
            if None not in scores:
                best = [place for place, score in enumerate(scores) if score > max(scores) - 1e-9]
                counts["right" if best == [0] else "tied" if 0 in best else "wrong"] += 1
    return counts


def test_the_published_accuracies_of_one_and_of_eight_draws_recompute():
    """All 15 published rows. The runs of the smallest model are not among them: its figures do not reproduce."""
    published = json.loads(shared_path("data/composo_published_accuracy.json").read_text(encoding="utf-8"))
    assert len(published) == 15
    assert not any("nano" in row["run"] for row in published)
    for row in published:
        counts = outcomes(row["run"], row["model"], row["k"], mean_of_draws)
        assert counts.total() == row["n"]
        assert 100 * counts["right"] / counts.total() == pytest.approx(row["accuracy_pct"], abs=0.05)


def test_the_draws_of_a_real_judge_agree_as_often_as_counting_says():
    """The panel report on the recorded draws, against a count of the pairs."""
    rows = [row for row in runs() if row["run"] == "base_both_k8"][:300]
    verdicts, pairs, equal = [], 0, 0
    for row in rows:
        drawn = [score for score in row["full"][0] if score is not None]
        pairs += len(drawn) * (len(drawn) - 1) / 2
        equal += sum(count * (count - 1) / 2 for count in Counter(drawn).values())
        votes = [
            Vote(judge_id="llm", order=(0,), sample=place, selected_index=None if score is None else score - 1)
            for place, score in enumerate(row["full"][0])
        ]
        verdicts.append(aggregate(votes, SCORES))
    report = panel_report(verdicts, SCORES, VoteRules(), samples=8)
    (judge,) = report.judges
    assert judge.same_option.estimate == pytest.approx(equal / pairs)
    assert report.num_left_out == 0

"""Rows that belong together, on every surface: intervals and tests over clusters, their number, and what is kept."""

import numpy as np
import pytest

import evenhand
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.data.fields import RepeatedColumnWarning
from evenhand.errors import InvalidInputError
from evenhand.functions import checklist, grade_scores, judge, winrates
from evenhand.raters import aggregate_votes, agreement
from evenhand.reliability_report import reliability
from tests.support.judges import ScriptedJudge

POLITE = yes_no_criterion("polite", "Is it polite?")
BETTER = Criterion(
    name="better",
    description="Which one is better?",
    scale="pairwise",
    options=(Option(label="A", value=1.0), Option(label="B", value=0.0)),
)
# Eight documents of five rows; each document's rows are all alike, so that there are eight numbers and not forty.
ROWS = [
    {"doc": f"d{row // 5}", "alder": "good" if row // 5 % 4 else "bad", "birch": "bad" if row // 5 % 4 else "good"}
    for row in range(40)
]
RUN = {"journal": None, "progress": False, "check_positional_bias": False, "flow": "verdict_only"}
TOGETHER = {"cluster_field": "doc"}


def says(request):
    """Yes of what is good; of two, the good one; the items of a sheet likewise."""
    question = request.question
    texts = question.responses
    if len(texts) == 1:
        return "Yes" if texts[0] == "good" else "No"
    place = request.presentation.order.index(texts.index("good"))
    return request.options[place] if request.options else f"{place}"


def made(**options):
    return judge(ROWS, POLITE, ScriptedJudge(says), response_fields=["alder", "birch"], **RUN, **options)


def widths(found, once):
    """Over forty rows an interval is about a third as wide as over eight documents."""
    return (found.high - found.low) / (once.high - once.low)


def test_judgements_are_over_documents_and_say_how_many(tmp_path):
    table, naive = made(**TOGETHER), made(cluster_field=False)
    summary = table.summaries["alder", "polite"]
    assert (summary.num_instances, summary.num_clusters, summary.score.n) == (40, 8, 8)
    assert widths(summary.score, naive.summaries["alder", "polite"].score) > 1.7
    assert table.text_table().headers[3:5] == ("n", "clusters")
    assert "clusters" not in naive.text_table().headers
    table.save(tmp_path / "judged.jsonl")
    again = evenhand.open(tmp_path / "judged.jsonl")
    assert again.judgements[7].cluster == "d1"
    assert again.summaries == table.summaries
    assert again.rescore(on_position_bias="first").summaries["alder", "polite"].score.n == 8


def test_a_row_without_a_document_is_named_before_the_first_call():
    engine = ScriptedJudge(says)
    with pytest.raises(InvalidInputError, match=r"row 3 has None in 'doc', which cluster_field names"):
        judge([*ROWS[:3], {**ROWS[3], "doc": None}], POLITE, engine, response_fields="alder", **RUN, **TOGETHER)
    assert engine.requests == []


def test_nobody_said_what_a_repeating_column_is():
    with pytest.warns(RepeatedColumnWarning, match="the column 'doc' has 8 values in 40 rows"):
        made()


@pytest.mark.parametrize("interval", ["auto", "t", "bootstrap"])
def test_the_method_is_chosen_and_named(interval):
    methods = {"auto": "beta", "t": "cluster_t", "bootstrap": "cluster_bootstrap"}
    assert made(interval=interval, **TOGETHER).summaries["alder", "polite"].score.method == methods[interval]


def test_a_method_that_counts_rows_is_refused_with_clusters_before_the_first_call():
    with pytest.raises(InvalidInputError, match="interval is 'exact', which counts rows"):
        made(interval="exact", **TOGETHER)
    assert made(interval="exact", cluster_field=False).summaries["alder", "polite"].score.method == "exact"


def test_winrates_and_their_tests_are_over_documents(tmp_path):
    run = {"response_fields": ["alder", "birch"], "criteria": BETTER, "engine": ScriptedJudge(says), **RUN}
    table, naive = winrates(ROWS, **run, **TOGETHER), winrates(ROWS, **run, cluster_field=False)
    (pair,), (naive_pair,) = table.ranking.pairs, naive.ranking.pairs
    # Six documents for alder, two for birch: by signs of eight, 2 (1 + 8 + 28) / 256 = .289; of forty rows < .01.
    assert pair.win_rate_test.p_value == pytest.approx(74 / 256)
    assert naive_pair.win_rate_test.p_value < 0.01
    assert widths(table.winrate("alder"), naive.winrate("alder")) > 1.7
    assert table.summary.num_clusters == 8
    assert table.ranking.prompts == 40
    table.save(tmp_path / "won.jsonl")
    again = evenhand.open(tmp_path / "won.jsonl")
    assert again.contests[7].cluster == "d1"
    assert again.ranking.pairs == table.ranking.pairs


def test_recorded_votes_and_agreement_are_over_documents(tmp_path):
    generator = np.random.default_rng(2)
    wrong = generator.random(8) < 0.3
    rows = [
        {"doc": row // 5, "a": "yes" if row % 2 else "no", "b": "yes" if (row % 2) ^ int(wrong[row // 5]) else "no"}
        for row in range(40)
    ]
    options = {"cluster_field": "doc", "resamples": 400}
    table = aggregate_votes(rows, ["a"], gold_fields="b", **options)
    naive = aggregate_votes(rows, ["a"], gold_fields="b", cluster_field=False, resamples=400)
    assert table.summary.scores.num_clusters == 8
    assert table.summary.comparison.accuracy.n == 8
    assert table.summary.comparison.cohen_kappa.interval.n == 8
    assert widths(table.summary.comparison.accuracy, naive.summary.comparison.accuracy) > 1.7
    assert ("clusters", "8") in table.text_tables()[0].rows
    table.save(tmp_path / "votes.jsonl")
    assert evenhand.open(tmp_path / "votes.jsonl").summary == table.summary
    found = agreement(rows, ["a"], gold_fields="b", **options)
    assert found.pairs[0].accuracy.n == found.pairs[0].cohen_kappa.interval.n == 8
    assert found.panels[0].krippendorff_alpha.interval.n == 8
    assert "of 8 clusters" in found.text_table().title
    found.save(tmp_path / "agreed.jsonl")
    assert evenhand.open(tmp_path / "agreed.jsonl").pairs == found.pairs
    with pytest.raises(InvalidInputError, match="interval is 'exact', which counts rows"):
        agreement(rows, ["a"], gold_fields="b", interval="exact", **options)


def test_checklists_are_over_documents(tmp_path):
    engine = ScriptedJudge(says)
    table = checklist(
        ROWS, ["Is it good?"], engine, response_fields="alder", mode="item", journal=None, progress=False, **TOGETHER
    )
    report = table.reports["alder"]
    assert (report.num_clusters, report.primary_score.n, report.items[0].pass_rate.n) == (8, 8, 8)
    assert "clusters" in table.text_tables()[0].headers
    table.save(tmp_path / "checked.jsonl")
    assert evenhand.open(tmp_path / "checked.jsonl").reports == table.reports


def test_grade_scores_are_over_documents(tmp_path):
    table = grade_scores(
        ROWS,
        BETTER,
        ScriptedJudge(lambda _: "Option 1"),
        response_fields=["alder", "birch"],
        journal=None,
        progress=False,
        **TOGETHER,
    )
    (grading,) = table.gradings.values()
    assert (grading.answered.n, grading.grade_score.n) == (8, 8)
    table.save(tmp_path / "graded.jsonl")
    assert evenhand.open(tmp_path / "graded.jsonl").instances[7].cluster == "d1"


def test_a_report_on_judges_is_over_documents():
    rows = [{**row, "gold": "Yes" if row["alder"] == "good" else "No"} for row in ROWS]
    options = {"response_fields": "alder", "gold_fields": "gold", "journal": None, "progress": False, "resamples": 200}
    judges = [ScriptedJudge(says, name="one"), ScriptedJudge(says, name="two")]
    report = reliability(rows, POLITE, judges, flow="verdict_only", **options, **TOGETHER)
    first = report.results[0]
    assert (first.num_instances, first.num_clusters) == (40, 8)
    assert first.replies.parse_rate.n == first.position.n_clusters == 8
    assert first.people.accuracy.n == first.people.cohen_kappa.interval.n == 8
    assert report.agreements[0].all_judges.krippendorff_alpha.interval.n == 8
    assert "of 8 clusters" in str(report)

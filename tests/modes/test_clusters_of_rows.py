"""Rows that belong together, on every surface: intervals and tests over clusters, their number, and what is kept."""

import pytest

import evenhand
from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.functions import judge, winrates
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
    assert table.text_tables()[0].headers[3:5] == ("n", "clusters")
    assert "clusters" not in naive.text_tables()[0].headers
    table.save(tmp_path / "judged.parquet")
    again = evenhand.open(tmp_path / "judged.parquet")
    assert again.entries[7].cluster == "d1"
    assert again.summaries == table.summaries
    assert again.rescore(on_position_bias="first").summaries["alder", "polite"].score.n == 8


def test_winrates_and_their_tests_are_over_documents(tmp_path):
    run = {"response_fields": ["alder", "birch"], "criteria": BETTER, "engine": ScriptedJudge(says), **RUN}
    table, naive = winrates(ROWS, **run, **TOGETHER), winrates(ROWS, **run, cluster_field=False)
    (pair,), (naive_pair,) = table.ranking.pairs, naive.ranking.pairs
    # Six documents for alder, two for birch: by signs of eight, 2 (1 + 8 + 28) / 256 = .289; of forty rows < .01.
    assert pair.win_rate_test.p_value == pytest.approx(74 / 256)
    assert naive_pair.win_rate_test.p_value < 0.01
    assert widths(table.winrate("alder"), naive.winrate("alder")) > 1.7
    assert table.summary.num_clusters == 8
    table.save(tmp_path / "won.parquet")
    again = evenhand.open(tmp_path / "won.parquet")
    assert again.contests[7].cluster == "d1"
    assert again.ranking.pairs == table.ranking.pairs

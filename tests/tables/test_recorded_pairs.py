"""Recorded comparisons as the table of winrates that a run would have given."""

import csv
import gzip
import json
from collections import defaultdict
from dataclasses import replace

import pandas as pd
import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import Criterion, Option
from evenhand.data.rows import read_file
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion
from tests.support.shared import shared_path

# Prompt 0: small in both orders. Prompt 1: the judge takes what stands first, twice. Prompt 2: a tie and no vote.
ROWS = [
    {"id": 0, "judge": "gpt", "first": "small", "second": "large", "vote": "small"},
    {"id": 0, "judge": "gpt", "first": "large", "second": "small", "vote": "B"},
    {"id": 1, "judge": "gpt", "first": "small", "second": "large", "vote": "A"},
    {"id": 1, "judge": "gpt", "first": "large", "second": "small", "vote": "first"},
    {"id": 2, "judge": "gpt", "first": "small", "second": "large", "vote": "Tie"},
    {"id": 2, "judge": "gpt", "first": "large", "second": "small", "vote": None},
]


def scores(table):
    return [(entry.prompt_id, entry.first, entry.second, entry.contest.score) for entry in table.contests]


def test_both_orders_of_a_prompt_by_hand():
    table = evenhand.winrates(votes=ROWS)
    assert table.kind == "winrates"
    assert scores(table) == [("0", "small", "large", 1.0), ("1", "small", "large", 0.5), ("2", "small", "large", 0.5)]
    assert table.winrate("small").estimate == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert [entry.contest.verdict.position_consistent for entry in table.contests] == [True, False, None]
    assert [vote.order for vote in table[0].contest.verdict.votes] == [(0, 1), (1, 0)]
    assert [vote.unscored_reason for vote in table[2].contest.verdict.votes] == [None, "abstained"]
    assert scores(table.rescore(on_position_bias="abstain"))[1][3] is None
    assert (table.parameters["judges"], table.parameters["n"], table.parameters["allow_ties"]) == (["gpt"], 3, True)


@pytest.mark.parametrize(
    ("swapped", "vote", "winner"),
    [
        (False, "small", "small"),
        (True, "small", "small"),
        (False, "first", "small"),
        (True, "first", "small"),
        (False, "second", "large"),
        (True, "second", "large"),
        (False, "A", "small"),
        (True, "A", "large"),
        (False, "b", "large"),
        (True, "B", "small"),
        (True, "TIE ", None),
    ],
)
def test_the_words_for_a_preference(swapped, vote, winner):
    """Names are systems, first and second the columns of the row, A and B the places at which they were shown."""
    row = {"id": "p", "judge": "j", "first": "small", "second": "large", "swapped": swapped, "vote": vote}
    table = evenhand.winrates(votes=[row])
    assert table[0].contest.winner == winner
    assert table[0].contest.verdict.votes[0].order == ((1, 0) if swapped else (0, 1))


def test_where_the_order_shown_is_not_known_nothing_is_said_of_places():
    """As in the annotations of AlpacaEval, which do not record it: nobody is shown first by default."""
    pair = {"judge": "j", "first": "small", "second": "large", "swapped": None}
    rows = [{**pair, "id": n, "vote": ["first", "second"][n % 3 > 0]} for n in range(9)]
    table = evenhand.winrates(votes=rows)
    assert table.winrate("small").estimate == pytest.approx(3 / 9)
    summary = table.summary
    for told in (summary.position, summary.first_position_share, summary.first_shown_preference):
        assert "which system was shown first" in told.reason
    assert "shown first" not in str(table)
    known = evenhand.winrates(votes=[{**row, "swapped": False} for row in rows])
    assert known.summary.first_position_share.estimate == pytest.approx(3 / 9)
    with pytest.raises(InvalidInputError, match="'A'"):
        evenhand.winrates(votes=[{**rows[0], "vote": "A"}])


def test_a_system_called_as_a_place_is_not_guessed():
    row = {"id": 0, "judge": "j", "first": "B", "second": "A", "vote": "A"}
    with pytest.raises(InvalidInputError, match=r"row 0: the judge 'j' voted 'A', which may mean a system and a place"):
        evenhand.winrates(votes=[row])
    assert evenhand.winrates(votes=[{**row, "vote": "first"}])[0].contest.winner == "B"
    same = {**row, "first": "A", "second": "B"}  # the system and the place are one
    assert evenhand.winrates(votes=[same])[0].contest.winner == "A"
    small = {**row, "first": "b", "second": "a", "vote": "a"}  # written as the name is
    assert evenhand.winrates(votes=[small])[0].contest.winner == "a"


def test_several_judges_in_rows_or_in_columns_come_to_the_same():
    wide = [{"gpt": "small", "llama": "large", "ann": "small"}, {"gpt": "large", "llama": "large", "ann": None}]
    names = ["gpt", "llama", "ann"]
    long = [{"id": n, "judge": name, "vote": row[name]} for n, row in enumerate(wide) for name in names]
    one = evenhand.winrates(wide, ["small", "large"], votes=names)
    other = evenhand.winrates(long, ["small", "large"], votes="vote")
    assert [entry.contest.score for entry in one.contests] == [1.0, 0.0]
    assert [entry.contest.verdict for entry in one.contests] == [entry.contest.verdict for entry in other.contests]
    heavy = evenhand.winrates(
        wide, ["small", "large"], votes=names, aggregation="weighted_mean", judge_weights=(1, 3, 1)
    )
    assert heavy[0].contest.score == pytest.approx((1 + 0 + 1) / 5)


def test_three_systems_lengths_and_gold():
    rows = [
        {"id": 0, "judge": "j", "first": "a", "second": "c", "vote": "c", "first_response": "xy", "best": "C"},
        {"id": 0, "judge": "j", "first": "b", "second": "a", "vote": "a", "first_length": 5, "best": "first"},
    ]
    table = evenhand.winrates(votes=rows, systems=["a", "b", "c"], gold_field="best")
    assert scores(table) == [("0", "a", "b", 1.0), ("0", "a", "c", 0.0)]
    assert [(entry.lengths, entry.gold) for entry in table.contests] == [((None, 5), "b"), ((2, None), "c")]
    assert table.gold_agreement().estimate == pytest.approx(1 / 2)


def test_options_of_a_criterion_are_those_that_the_judge_was_shown():
    graded = comparison_criterion("better", "", graded=True)
    much = graded.labels[0]  # Response A is much better
    rows = [
        {"id": 0, "judge": "j", "first": "a", "second": "b", "swapped": swapped, "vote": much} for swapped in (0, 1)
    ]
    table = evenhand.winrates(votes=rows, criteria=graded, reduction="weighted_win_rate")
    assert [vote.value for vote in table[0].contest.verdict.votes] == [1.0, 0.0]
    letters = Criterion(
        name="better",
        description="",
        scale="pairwise",
        options=(Option(label="[[A]]", value=1.0), Option(label="[[C]]", value=0.5), Option(label="[[B]]", value=0.0)),
    )
    rows = [{**row, "vote": vote} for row, vote in zip(rows, ("[[C]]", "[[A]]"), strict=True)]
    assert [v.value for v in evenhand.winrates(votes=rows, criteria=letters)[0].contest.verdict.votes] == [0.5, 0.0]
    values = [{**row, "vote": value} for row, value in zip(rows, (1, 0), strict=True)]
    assert evenhand.winrates(votes=values, criteria=letters)[0].contest.winner == "a"


ROW = {"id": 0, "judge": "j", "first": "a", "second": "b", "vote": "a"}


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{**ROW, "vote": "c"}], {}, r"row 0: the judge 'j' voted 'c', which is none of the pair. .*'a', 'b', 'tie'"),
        ([{**ROW, "vote": 1}], {}, r"voted 1, which is none of the pair"),
        ([{**ROW, "second": "a"}], {}, r"row 0 compares 'a' with itself"),
        ([{**ROW, "first": None}], {}, r"row 0 has None in 'first', which first_field names"),
        ([ROW, {**ROW, "vote": "b"}], {}, r"rows 0 and 1 both hold the vote of 'j' on '0' in the same order"),
        ([{"winner": "a"}], {}, r"no column 'vote'; give them first, and name .*'winner'"),
        ([ROW], {"first_field": "frist"}, r"first_field names the column 'frist', which no row has.*'first'"),
        ([{**ROW, "judge": ""}], {}, r"row 0 has no name in 'judge'"),
        ([{**ROW, "swapped": "maybe"}], {}, r"row 0 has 'maybe' in 'swapped'.*True or False"),
        ([{**ROW, "sample": "x"}], {}, r"row 0 has 'x' in 'sample'"),
        ([{**ROW, "unscored_reason": "lazy"}], {}, r"unscored_reason 'lazy'"),
        ([{**ROW, "unscored_reason": "empty"}], {}, r"the vote 'a' and the unscored_reason 'empty'"),
        ([{"judge": "j", "first": "a", "second": "b", "vote": "a"}], {}, r"name it with id_field"),
        ([{"id": 0, "vote": "a"}], {}, r"first_field=… and second_field=…"),
        ([{"first": "a", "second": "b", "swapped": 1, "vote": "a"}], {}, r"'swapped' says which.*id_field"),
        ([ROW], {"systems": ["a", "x"]}, r"systems names 'x', which no vote is about"),
        ([ROW, {**ROW, "id": 1, "second": "c"}], {"systems": ["a", "b"]}, r"votes about 'c', which systems="),
        ([{**ROW, "vote": "tie"}], {"criteria": comparison_criterion("x", "")}, r"set allow_ties=True"),
        ([ROW], {"engine": "engines.evenhand.baseline"}, r"recorded votes ask no judge"),
        ([ROW], {"dry_run": True}, r"dry_run is True, and recorded votes ask no judge"),
        ([ROW], {"samples": 3}, r"samples is 3, which says how a judge is asked"),
        ([ROW], {"judge_weights": (1, 2)}, r"2 weights for the judges \['j'\]"),
        ([ROW], {"cluster_field": "nowhere"}, r"no field 'nowhere', which cluster_field names"),
        (
            [{**ROW, "swapped": False, "doc": "x"}, {**ROW, "swapped": True, "doc": "y"}],
            {"cluster_field": "doc"},
            r"contradict each other in 'doc'",
        ),
        (
            [{**ROW, "swapped": False, "best": "a"}, {**ROW, "swapped": True, "best": "b"}],
            {"gold_field": "best"},
            r"row 1 says gold 'b' .* and a row before it 'a'",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_value(rows, options, message):
    with pytest.raises(InvalidInputError, match=message):
        evenhand.winrates(votes=rows, **options)


def test_columns_of_votes_without_votes_are_refused():
    with pytest.raises(InvalidInputError, match=r"judge_field is 'rater'.*votes=…"):
        evenhand.winrates([ROW], ["a", "b"], judge_field="rater")
    with pytest.raises(InvalidInputError, match=r"votes is a DataFrame; with a data set it names"):
        evenhand.winrates([ROW], votes=pd.DataFrame([ROW]))


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "csv", "parquet", "frame"])
def test_rows_frames_and_files_are_the_same_votes(suffix, tmp_path):
    expected = scores(evenhand.winrates(votes=ROWS))
    frame = pd.DataFrame(ROWS)
    path = tmp_path / f"votes.{suffix}"
    if suffix.startswith("jsonl"):
        text = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    elif suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    given = frame if suffix == "frame" else path
    assert scores(evenhand.winrates(votes=given)) == expected
    assert scores(evenhand.winrates(str(path) if suffix != "frame" else frame, votes="vote")) == expected


ANSWERS = [{"q": f"question {n}", "a": f"a{n}" * 3, "b": f"b{n}", "c": None if n == 4 else "c"} for n in range(8)]


@pytest.mark.parametrize("how", [{}, {"allow_ties": True, "samples": 3}, {"scale": "graded"}])
def test_votes_of_a_run_written_as_rows_and_read_back_are_the_same_table(how):
    judges = [
        SimulatedEngine(name=name, seed=seed, noise=1.0, refusal_rate=0.1) for seed, name in enumerate(("one", "two"))
    ]
    criterion = comparison_criterion("better", "", graded="scale" in how, allow_ties="allow_ties" in how)
    run = {name: value for name, value in how.items() if name == "samples"}
    asked = evenhand.winrates(ANSWERS, ["a", "b", "c"], criterion, judges, progress=False, journal=None, **run)
    read = evenhand.winrates(votes=asked.to_rows(), systems=["a", "b", "c"], criteria=criterion)
    assert [[(v.judge_id, v.order, v.sample, v.selected_index) for v in e.contest.verdict.votes] for e in read] == [
        [(v.judge_id, v.order, v.sample, v.selected_index) for v in e.contest.verdict.votes] for e in asked
    ]
    plain = [{**row, "prompt_id": None, "assessment": None} for row in asked.records()]
    assert [{**row, "prompt_id": None} for row in read.records()] == plain
    of_replies = {name: getattr(asked.summary, name) for name in ("parse_rate", "readings", "reasks", "usage")}
    assert replace(read.summary, **of_replies) == asked.summary  # which tell of replies, and rows hold only votes
    assert read.ranking == asked.ranking
    assert read.parameters["grid"] == asked.parameters["grid"]


def test_it_is_saved_filtered_and_compared_as_the_table_of_a_run(tmp_path):
    table = evenhand.winrates(votes=ROWS)
    table.save(tmp_path / "votes.parquet")
    opened = evenhand.open(tmp_path / "votes.parquet")
    assert list(opened.records()) == list(table.records())
    assert len(table.filter(instance=[0, 1])) == 2
    assert table.compare(table.rescore(on_position_bias="first")) is not None
    assert "Winrates on 'recorded votes' by gpt" in str(table)


@pytest.mark.slow
def test_the_published_winrates_of_mt_bench_judges_recompute():
    """arXiv 2406.07791: a vote counts unless its swapped partner contradicts it, and so does one without a partner.

    In our terms a consistent contest counts its two votes, and one that was read in one order only its one.
    """
    recorded = read_file(shared_path("data/posbias_mtbench_raw.jsonl.gz"))
    with shared_path("data/posbias_published_winrates.csv").open(encoding="utf-8") as lines:
        published = {
            (row["judge"], row["model"]): float(row["win_plus_halfdraw_on_consistent"])
            for row in csv.DictReader(lines)
            if row["bench"] == "MTBench"
        }
    base, compared = "vicuna-13b-v1.3", 0
    by_judge = defaultdict(list)
    for row in recorded:
        by_judge[row["judge"]].append({**row, "said": "tie" if row["parsed"] == "C" else row["parsed"]})
    for judge, rows in list(by_judge.items())[::3]:
        how = {"votes": "said", "first_field": "a", "second_field": "b", "id_field": "q", "cluster_field": False}
        table = evenhand.winrates(rows, **how, on_position_bias="average")
        counted = defaultdict(list)
        for entry in table.contests:
            contest = entry.contest
            model = entry.first if entry.second == base else entry.second
            weight = {True: 2, False: 0, None: 1}[contest.verdict.position_consistent]
            if contest.score is not None:
                counted[model] += [contest.score_of(model)] * weight
        for model, found in counted.items():
            assert sum(found) / len(found) == pytest.approx(published[judge, model], abs=5.001e-5)
            compared += 1
    assert compared == 30


def test_the_shell_reads_votes_and_asks_nobody(tmp_path, capsys):
    data, out = tmp_path / "votes.jsonl", tmp_path / "contests.parquet"
    data.write_text("".join(json.dumps({**row, "said": row["vote"]}) + "\n" for row in ROWS))
    assert main(["compare", str(data), "--votes", "said", "--judge-field", "judge", "--out", str(out)]) == 0
    assert "3 contests written" in capsys.readouterr().out
    assert scores(evenhand.open(out)) == scores(evenhand.winrates(votes=ROWS))
    with pytest.raises(SystemExit, match="2"):
        main(["compare", str(data), "--votes", "said", "--engine", "engines.evenhand.baseline"])
    assert "Give --engine or --votes, one of them." in capsys.readouterr().err

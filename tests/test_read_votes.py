"""Recorded votes as the results that a run would have given: comparisons, answers and assessments."""

import csv
import warnings
from collections import defaultdict
from dataclasses import replace

import pytest

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.data.fields import OutOfScaleWarning
from evenhand.data.rows import read_rows
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.question import comparison_criterion, swapped_index
from tests.golden.runs import recipe
from tests.support.questions import QUALITY
from tests.support.shared import shared_path

# Prompt 0: small in both orders. Prompt 1: the judge takes what stands first, twice. Prompt 2: a tie and no vote.
PAIRS = [
    {"id": 0, "judge": "gpt", "first": "small", "second": "large", "vote": "small"},
    {"id": 0, "judge": "gpt", "first": "large", "second": "small", "vote": "B"},
    {"id": 1, "judge": "gpt", "first": "small", "second": "large", "vote": "A"},
    {"id": 1, "judge": "gpt", "first": "large", "second": "small", "vote": "first"},
    {"id": 2, "judge": "gpt", "first": "small", "second": "large", "vote": "Tie"},
    {"id": 2, "judge": "gpt", "first": "large", "second": "small", "vote": None},
]
PAIR = {"id": 0, "judge": "j", "first": "a", "second": "b", "vote": "a"}
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
GRADES = [
    {"id": 0, "system": "alder", "judge": "gpt", "swapped": False, "vote": "Good", "human": "Good"},
    {"id": 0, "system": "alder", "judge": "gpt", "swapped": True, "vote": "Good", "human": "Good"},
    {"id": 1, "system": "alder", "judge": "gpt", "swapped": False, "vote": "Bad", "human": "Fair"},
    {"id": 1, "system": "alder", "judge": "gpt", "swapped": True, "vote": "Good", "human": "Fair"},
]


def scores(table):
    return [(entry.prompt_id, entry.first, entry.second, entry.score) for entry in table.contests]


def cast(votes):
    return [(vote.judge_id, vote.order, vote.sample, vote.selected_index) for vote in votes]


def judges():
    return [SimulatedEngine(name=name, seed=seed, noise=1.0, refusal_rate=0.2) for seed, name in enumerate("xy")]


def test_comparisons_by_hand(tmp_path):
    table = evenhand.winrates(votes=PAIRS)
    assert scores(table) == [("0", "small", "large", 1.0), ("1", "small", "large", 0.5), ("2", "small", "large", 0.5)]
    assert table.winrate("small").estimate == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert [entry.verdict.position_consistent for entry in table.contests] == [True, False, None]
    assert [vote.unscored_reason for vote in table[2].verdict.votes] == [None, "abstained"]
    assert scores(table.rescore(on_position_bias="abstain"))[1][3] is None
    assert (table.parameters["judges"], table.parameters["n"], table.parameters["allow_ties"]) == (["gpt"], 3, True)
    table.save(tmp_path / "votes.parquet")
    assert list(evenhand.open(tmp_path / "votes.parquet").records()) == list(table.records())
    # a tie where the orders disagree: people who prefer small agree on prompt 0 alone
    found = evenhand.reliability(votes=[{**row, "best": "small"} for row in PAIRS[:4]], gold_fields="best").of()
    assert found.position.position_consistency.estimate == pytest.approx(1 / 2)
    assert found.people.accuracy.estimate == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("swapped", "vote", "winner"),
    [
        (False, "small", "small"),
        (True, "small", "small"),
        (True, "first", "small"),
        (False, "A", "small"),
        (True, "A", "large"),
        (True, "TIE ", None),
    ],
)
def test_the_words_for_a_preference(swapped, vote, winner):
    """Names are systems, first and second the columns of the row, A and B the places at which they were shown."""
    row = {"id": "p", "judge": "j", "first": "small", "second": "large", "swapped": swapped, "vote": vote}
    table = evenhand.winrates(votes=[row])
    assert table[0].winner == winner
    assert table[0].verdict.votes[0].order == ((1, 0) if swapped else (0, 1))


@pytest.mark.parametrize("names", [{"id": "prompt_id", "judge": "judge_id"}, {"id": "instance", "judge": "judge_id"}])
def test_the_columns_of_saved_results_need_not_be_named(names):
    rows = [{names.get(name, name): value for name, value in row.items()} for row in PAIRS]
    assert list(evenhand.winrates(votes=rows)) == list(evenhand.winrates(votes=PAIRS))


def test_several_judges_in_rows_or_in_columns_give_the_same():
    wide = [{"gpt": "small", "llama": "large", "ann": "small"}, {"gpt": "large", "llama": "large", "ann": None}]
    names = ["gpt", "llama", "ann"]
    long = [{"id": n, "judge": name, "vote": row[name]} for n, row in enumerate(wide) for name in names]
    one = evenhand.winrates(wide, systems=["small", "large"], votes=names)
    other = evenhand.winrates(long, systems=["small", "large"], votes="vote")
    assert [entry.verdict for entry in one.contests] == [entry.verdict for entry in other.contests]
    weights = {"aggregation": "weighted_mean", "judge_weights": (1, 3, 1)}
    assert evenhand.winrates(wide, systems=["small", "large"], votes=names, **weights)[0].score == pytest.approx(2 / 5)


def test_answers_by_hand():
    table = evenhand.checklist(votes=ANSWERS, checklist=CHECKS)
    assert [result.scores.pass_rate for result in table.results] == [1.0, 0.0]
    (report,) = table.reports.values()
    assert (report.pass_rate.estimate, report.unanswered) == (0.5, 1)
    assert dict(report.unanswered_reasons) == {"not_asked": 1}
    assert (table.ids, table.parameters["judges"]) == (["m0", "m1"], ["gpt", "llama", "ann"])
    strict = table.rescore(aggregation="unanimous")
    assert [result.scores.pass_rate for result in strict.results] == [0.5, 0.0]
    open_list = evenhand.checklist(votes=[*ANSWERS, {"id": "m1", "judge": "gpt", "item": "short", "vote": "n/a"}])
    assert [(item.name, item.na) for item in open_list.checklists[0].items] == [("polite", False), ("short", True)]


REFUSED = [
    ("winrates", [{**PAIR, "vote": "c"}], {}, r"row 0: the judge 'j' voted 'c', which is none of the pair. .*'tie'"),
    ("winrates", [{**PAIR, "second": "a"}], {}, r"row 0 compares 'a' with itself"),
    ("winrates", [PAIR, {**PAIR, "vote": "b"}], {}, r"rows 0 and 1 both hold the vote of 'j' on '0' in the same order"),
    ("winrates", [{**PAIR, "judge": ""}], {}, r"row 0 has '' in 'judge', which judge_field names"),
    ("winrates", [{**PAIR, "swapped": "maybe"}], {}, r"row 0 has in 'swapped' 'maybe', .*'No', 'Yes'"),
    ("winrates", [{**PAIR, "unscored_reason": "shy"}], {}, r"row 0 has 'shy' in 'unscored_reason': Accepted: "),
    (
        "winrates",
        [{**PAIR, "unscored_reason": "empty"}],
        {},
        r"'unscored_reason': there is the vote 'a' too",
    ),
    ("winrates", [{"judge": "j", "first": "a", "second": "b", "vote": "a"}], {}, r"name it with id_field"),
    ("winrates", [PAIR], {"systems": ["a", "x"]}, r"systems is \['a', 'x'\], and the votes are about .* differ in 'b'"),
    (
        "winrates",
        [{**PAIR, "vote": "tie"}],
        {"criteria": comparison_criterion("x", "")},
        r"no option of its own.*allow_ties=True",
    ),
    (
        "winrates",
        [{**PAIR, "swapped": False, "doc": "x"}, {**PAIR, "swapped": True, "doc": "y"}],
        {"cluster_field": "doc"},
        r"row 1 has under 'doc' \(cluster_field\) the name 'y', and row 0, about the same, 'x'",
    ),
    (
        "checklist",
        [{**ANSWERS[0], "item": "rude"}],
        {},
        r"answers 'rude', which is not an item of the checklist 'mail'",
    ),
    ("checklist", [ANSWERS[0]], {"gold_fields": {"polite": "x"}}, r"name the one column with the answer of a person"),
    (
        "reliability",
        [GRADES[0], {**GRADES[1], "human": "Bad"}],
        {"criteria": QUALITY, "gold_fields": "human"},
        "row 1 has the gold label 'Bad', and row 0, about the same, 'Good'",
    ),
]


@pytest.mark.parametrize(("function", "rows", "options", "message"), REFUSED)
def test_what_cannot_be_used_is_refused_with_its_value(function, rows, options, message):
    given = {"checklist": CHECKS, **options} if function == "checklist" else options
    with pytest.raises(InvalidInputError, match=message):
        getattr(evenhand, function)(votes=rows, **given)


def rows_of(asked, criterion):
    """The votes of a run as rows; an option as it was shown."""
    found = []
    for contest in asked.contests:
        for vote in contest.verdict.votes:
            index, swapped = vote.selected_index, vote.order == (1, 0)
            if index is not None and swapped:
                index = swapped_index(criterion.options, index)
            about = {"id": contest.prompt_id or str(contest.instance), "judge": vote.judge_id, "sample": vote.sample}
            about |= {"first": contest.first, "second": contest.second, "swapped": swapped}
            about |= {"first_response": "x" * contest.first_length, "second_response": "x" * contest.second_length}
            about["unscored_reason"] = vote.unscored_reason
            found.append({**about, "vote": None if index is None else criterion.labels[index]})
    return found


@pytest.mark.parametrize("how", [{}, {"allow_ties": True, "samples": 3}, {"scale": "graded"}])
def test_recorded_comparisons_have_the_numbers_of_the_run_that_cast_them(how):
    rows = [{"q": f"question {n}", "a": f"a{n}" * 3, "b": f"b{n}", "c": "c"} for n in range(8)]
    criterion = comparison_criterion("better", "", graded="scale" in how, allow_ties="allow_ties" in how)
    run = {"progress": False, "journal": None, **({"samples": 3} if "samples" in how else {})}
    asked = evenhand.winrates(rows, criterion, judges(), response_fields=["a", "b", "c"], **run)
    votes = rows_of(asked, criterion)
    read = evenhand.winrates(votes=votes, systems=["a", "b", "c"], criteria=criterion)
    assert [cast(each.verdict.votes) for each in read] == [cast(each.verdict.votes) for each in asked]
    plain = [{**row, "prompt_id": None, "assessment": None} for row in asked.records()]
    assert [{**row, "prompt_id": None} for row in read.records()] == plain
    of_replies = {name: getattr(asked.summary, name) for name in ("parse_rate", "readings", "reasks", "usage")}
    assert replace(read.summary, **of_replies) == asked.summary  # rows hold only votes
    assert read.ranking == asked.ranking
    assert read.parameters["grid"] == asked.parameters["grid"]
    assert read.parameters.keys().isdisjoint({"flow", "mode", "use_logprobs"})
    reports = (
        evenhand.reliability(rows, criterion, judges(), response_fields=["a", "b", "c"], **run),
        evenhand.reliability(votes=votes, criteria=criterion, systems=["a", "b", "c"]),
    )
    for mine, theirs in zip(*(each.results for each in reports), strict=True):
        assert replace(theirs, replies=mine.replies) == mine
    assert reports[0].agreements == reports[1].agreements


@pytest.mark.slow
def test_the_published_winrates_of_mt_bench_judges_recompute():
    """arXiv 2406.07791: a vote counts unless its swapped partner contradicts it, and so does one without a partner.

    In our terms a consistent contest counts its two votes, and one that was read in one order only its one.
    """
    with shared_path("data/posbias_published_winrates.csv").open(encoding="utf-8") as lines:
        published = {
            (row["judge"], row["model"]): float(row["win_plus_halfdraw_on_consistent"])
            for row in csv.DictReader(lines)
            if row["bench"] == "MTBench"
        }
    by_judge = defaultdict(list)
    for row in read_rows(shared_path("data/posbias_mtbench_raw.jsonl.gz")):
        by_judge[row["judge"]].append({**row, "said": "tie" if row["parsed"] == "C" else row["parsed"]})
    how = {"votes": "said", "first_field": "a", "second_field": "b", "id_field": "q", "cluster_field": False}
    base, compared = "vicuna-13b-v1.3", 0
    for judge, rows in list(by_judge.items())[::3]:
        counted = defaultdict(list)
        for entry in evenhand.winrates(rows, **how, on_position_bias="average").contests:
            contest = entry
            model = entry.first if entry.second == base else entry.second
            weight = {True: 2, False: 0, None: 1}[contest.verdict.position_consistent]
            if contest.score is not None:
                counted[model] += [contest.score_of(model)] * weight
        for model, found in counted.items():
            assert sum(found) / len(found) == pytest.approx(published[judge, model], abs=5.001e-5)
            compared += 1
    assert compared == 30


def test_the_published_alignment_of_the_agent_judge_recomputes():
    """DevAI: the share of the requirements on which the judge and the people agree, 92.08 / 86.61 / 90.16 %."""
    rows = [
        {
            "id": row["task"],
            "system": row["system"],
            "item": str(each["id"]),
            "a": each["agent_judge"],
            "h": each["human"],
        }
        for row in read_rows(shared_path("data/devai_checklist.jsonl.gz"))
        for each in row["requirements"]
    ]
    hits = {}
    for task in dict.fromkeys(row["id"] for row in rows):  # each task has requirements of its own
        table = evenhand.checklist([row for row in rows if row["id"] == task], votes="a", gold_fields="h")
        for each, result in zip(table.entries, table.results, strict=True):
            pairs = [(gold, item.judged) for gold, item in zip(each.about.gold.values(), result.items, strict=True)]
            hits.setdefault(each.system, []).extend(gold == judged for gold, judged in pairs)
    shares = [round(100 * sum(found) / len(found), 2) for found in hits.values()]
    assert sorted(shares) == [86.61, 90.16, 92.08]


N = 300
FIVE = Criterion(
    name="grade",
    description="Which grade?",
    options=tuple(Option(label=str(n), value=(n - 1) / 4) for n in range(1, 6)),
)


def wide(strange, cell):
    """Two judges and a person on each row; some votes of one judge are not options."""
    rows = [{"a": 1 + n % 5, "b": 1 + n % 4, "gold": 1 + n % 3} for n in range(N)]
    return [{**row, "a": cell} if n < strange else row for n, row in enumerate(rows)]


def long(strange, cell, vote, **more):
    return [
        {"id": n, "judge": "j", **{name: of(n) for name, of in more.items()}, "vote": cell if n < strange else vote(n)}
        for n in range(N)
    ]


def by_recipe(strange, cell):
    rows = [[cell if n < strange else "Off topic", "Barely relevant"] for n in range(N)]
    name = "metrics.evenhand.votes.ordinal.median[criteria=criteria.evenhand.direct.relevance]"
    return recipe([name], rows, {"n": list(range(N))})


OUT_OF_SCALE = {
    "aggregate_votes": lambda *strange: evenhand.aggregate_votes(wide(*strange), ["a", "b"], FIVE),
    "agreement": lambda *strange: evenhand.agreement(wide(*strange), ["a", "b"], gold_fields="gold", criteria=FIVE),
    "reliability": lambda *strange: evenhand.reliability(votes=long(*strange, lambda n: 1 + n % 5), criteria=FIVE),
    "winrates": lambda *strange: evenhand.winrates(
        votes=long(*strange, lambda n: "AB"[n % 2], first=lambda _: "x", second=lambda _: "y")
    ),
    "checklist": lambda *strange: evenhand.checklist(
        votes=long(*strange, lambda n: ("yes", "no")[n % 2], item=lambda n: f"Item {n % 7}?")
    ),
    "recipe": by_recipe,
}


@pytest.mark.parametrize("function", OUT_OF_SCALE)
def test_a_few_votes_that_say_no_option_are_set_aside_and_more_than_a_percent_refused(function):
    with pytest.warns(OutOfScaleWarning, match=r"^2 of (3|6)00 recorded votes name no option.*'x y z'"):
        found = OUT_OF_SCALE[function](2, "x y z")
    if function == "recipe":
        assert found.global_scores["relevance_num_out_of_scale"] == 2
    elif function != "reliability":
        votes = [vote for cell in found.cells() for vote in cell.votes if vote.unscored_reason == "no_match"]
        assert [vote.completion.text for vote in votes] == ["x y z"] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutOfScaleWarning)
        with pytest.raises(InvalidInputError, match="zebra"):
            OUT_OF_SCALE[function](7, "zebra")

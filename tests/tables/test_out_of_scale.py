"""A few recorded votes that say no option are set aside, counted and named; more than 1 % of a table are refused."""

import warnings

import pytest

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.data.cells import OutOfScaleWarning
from evenhand.errors import InvalidInputError
from tests.golden.runs import recipe

GRADES = Criterion(
    name="grade",
    description="Which grade?",
    scale="ordinal",
    options=tuple(Option(label=str(n), value=(n - 1) / 4) for n in range(1, 6)),
)
N = 300


def wide(strange, cell):
    """Two judges and a person on each row."""
    rows = [{"a": 1 + n % 5, "b": 1 + n % 4, "gold": 1 + n % 3} for n in range(N)]
    for n in range(strange):
        rows[7 * n]["a"] = cell
    return rows


def long(vote, strange, cell, **more):
    rows = [{"id": n, "judge": "j", "vote": vote(n), **{k: v(n) for k, v in more.items()}} for n in range(N)]
    for n in range(strange):
        rows[7 * n]["vote"] = cell
    return rows


def aggregated(strange, cell):
    table = evenhand.aggregate_votes(wide(strange, cell), ["a", "b"], GRADES)
    return dict(table.summary.scores.unscored_counts.reasons), str(table)


def agreed(strange, cell):
    table = evenhand.agreement(wide(strange, cell), ["a", "b"], "gold", criteria=GRADES)
    votes = [vote for row in table.cells() for vote in row.votes]
    return {"no_match": sum(vote.unscored_reason == "no_match" for vote in votes)}, str(table)


def assessed(strange, cell):
    report = evenhand.reliability(votes=long(lambda n: 1 + n % 5, strange, cell), criteria=GRADES)
    return None, str(report)


def compared(strange, cell):
    rows = long(lambda n: "AB"[n % 2], strange, cell, first=lambda _: "x", second=lambda _: "y")
    table = evenhand.winrates(votes=rows)
    return dict(table.unscored_counts.reasons), str(table)


def chosen(strange, cell):
    rows = long(lambda n: "AB"[n % 2], strange, cell, order=lambda _: ["x", "y"])
    table = evenhand.grade_scores(votes=rows)
    votes = [vote for row in table.cells() for vote in row.votes]
    return {"no_match": sum(vote.unscored_reason == "no_match" for vote in votes)}, str(table)


def checked(strange, cell):
    table = evenhand.checklist(
        votes=long(lambda n: ("yes", "no")[n % 2], strange, cell, item=lambda n: f"Item {n % 7}?"), item_field="item"
    )
    votes = [vote for row in table.cells() for vote in row.votes]
    return {"no_match": sum(vote.unscored_reason == "no_match" for vote in votes)}, str(table)


def by_recipe(strange, cell):
    rows = wide(strange, cell)
    result = recipe(
        ["metrics.evenhand.votes.ordinal.median[criteria=criteria.evenhand.direct.relevance]"],
        [["Off topic" if row["a"] != cell else cell, "Barely relevant"] for row in rows],
        {"n": list(range(N))},
    )
    return {"no_match": result.global_scores["relevance_num_out_of_scale"]}, ""


EVERY = [aggregated, agreed, assessed, compared, chosen, checked, by_recipe]


@pytest.mark.parametrize("made", EVERY)
@pytest.mark.parametrize("cell", ["9", "excellent!", "x y z"])
def test_few_are_set_aside_counted_and_named(made, cell):
    with pytest.warns(OutOfScaleWarning, match=r"^2 of (3|6)00 recorded votes say no option") as caught:
        counted, _ = made(2, cell)
    assert repr(cell) in str(caught[0].message)
    if counted is not None:
        assert counted["no_match"] == 2


@pytest.mark.parametrize("made", EVERY)
def test_more_than_a_percent_are_refused(made):
    with warnings.catch_warnings():
        warnings.simplefilter("error", OutOfScaleWarning)
        with pytest.raises(InvalidInputError, match="zebra"):
            made(7, "zebra")


def test_the_others_say_whether_numbers_are_labels_or_values():
    rows = [{"a": (n % 5) / 4} for n in range(N)]
    rows[3]["a"] = 17
    with pytest.warns(OutOfScaleWarning, match="row 3: the judge 'a' voted '17'"):
        table = evenhand.aggregate_votes(rows, ["a"], GRADES)
    assert [verdict.selected_label for verdict in table.verdicts[:5]] == ["1", "2", "3", None, "5"]


def test_what_was_set_aside_is_kept_with_the_saved_votes(tmp_path):
    with pytest.warns(OutOfScaleWarning):
        table = evenhand.aggregate_votes(wide(1, "9"), ["a", "b"], GRADES)
    table.save(tmp_path / "votes.jsonl")
    cells = evenhand.open(tmp_path / "votes.jsonl").cells()
    (vote,) = [vote for cell in cells for vote in cell.votes if vote.selected_index is None]
    assert (vote.unscored_reason, vote.completion.text) == ("no_match", "9")


def test_a_gold_label_that_is_none_is_set_aside_too():
    rows = wide(0, None)
    rows[5]["gold"] = "??"
    with pytest.warns(OutOfScaleWarning, match="1 of 300 recorded votes"):
        table = evenhand.aggregate_votes(rows, ["a", "b"], GRADES, gold="gold")
    assert table.references[5] is None
    assert sum(label is None for label in table.references) == 1

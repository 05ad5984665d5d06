"""Recorded votes of a data set: verdicts, summary, and what the table says."""

import json

import datasets
import pytest

import evenhand
from evenhand.aggregation.verdict import aggregate
from evenhand.errors import ArtifactError, InvalidInputError, UnknownRuleError
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion
from evenhand.read_votes import aggregate_votes, agreement
from tests.judge_reliability.criteria import KINDS, LEVELS, SAFE

ROWS = [
    {"gpt": "Excellent", "llama": "Good", "qwen": None, "human": "Excellent"},
    {"gpt": "Good", "llama": "Good", "qwen": "Poor", "human": "Good"},
    {"gpt": "Poor", "llama": "Fair", "qwen": "Poor", "human": "Fair"},
    {"gpt": None, "llama": None, "qwen": None, "human": "Bad"},
]
JUDGES = ["gpt", "llama", "qwen"]


def test_each_row_is_aggregated():
    table = aggregate_votes(ROWS, JUDGES, LEVELS, "median", gold_fields="human")
    assert all(verdict == aggregate(verdict.votes, LEVELS, "median") for verdict in table.verdicts)
    assert table.references == ("Excellent", "Good", "Fair", "Bad")
    # medians: (1 + .75)/2 = .875, at equal distance of two levels: the worse; .75; .25; none
    assert [verdict.selected_label for verdict in table.verdicts] == ["Good", "Good", "Poor", None]
    assert table.summary.scores.score.estimate == pytest.approx((0.875 + 0.75 + 0.25) / 3)
    comparison = table.summary.comparison
    assert comparison.accuracy.estimate == pytest.approx(1 / 3)
    assert comparison.adjacent_accuracy.estimate == 1
    assert (comparison.accuracy_if_unscored_0, comparison.accuracy_if_unscored_1) == (1 / 4, 2 / 4)
    assert table.summary.num_abstentions == 4


@pytest.mark.filterwarnings("ignore::evenhand.unitxt.loading.UndefinedScoreWarning")
def test_without_values_there_is_no_score_to_bound():
    text = str(aggregate_votes([{"a": "Fact", "b": None}, {"a": "Opinion", "b": "Opinion"}], ["a", "b"], KINDS))
    assert "The options selected have no values, so there is no score." in text
    assert "if every unscored vote" not in text
    assert "of rows affected" not in text
    assert "if every unscored vote were" in str(aggregate_votes([{"a": None, "b": None}], ["a", "b"], LEVELS))


def test_one_column_of_lists_is_one_column_a_judge():
    lists = [{"votes": [row[judge] for judge in JUDGES]} for row in ROWS]
    mappings = [{"votes": json.dumps({judge: row[judge] for judge in JUDGES})} for row in ROWS]
    expected = aggregate_votes(ROWS, JUDGES, LEVELS).summary.scores.score
    assert aggregate_votes(lists, "votes", LEVELS).summary.scores.score == expected
    table = aggregate_votes(datasets.Dataset.from_list(mappings), "votes", LEVELS)
    assert table.summary.scores.score == expected
    assert table.parameters["votes"] == JUDGES


def test_weights_in_order_or_by_name():
    listed = aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", [2, 1, 1])
    named = aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", {"qwen": 1, "llama": 1, "gpt": 2})
    assert listed.verdicts == named.verdicts
    assert listed.verdicts[1].aggregated_value == pytest.approx((2 * 0.75 + 0.75 + 0.25) / 4)
    with pytest.raises(InvalidInputError, match="there are 2 weights for the judges"):
        aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", [2, 1])
    with pytest.raises(InvalidInputError, match=r"the weights name \['gtp'\], who did not vote"):
        aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", {"gtp": 1, "llama": 1, "qwen": 1})
    with pytest.raises(InvalidInputError, match="no weight for the judge 'gpt'"):
        aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", {"llama": 1, "qwen": 1})


def test_yes_or_no_without_criteria():
    rows = [{"a": True, "b": False, "c": True}, {"a": 0, "b": 1, "c": None}]
    table = aggregate_votes(rows, ["a", "b", "c"])
    assert [verdict.selected_label for verdict in table.verdicts] == ["Yes", "No"]
    assert table.parameters["rule"] == "majority"
    assert "values of options: 0 = No, 1 = Yes" in str(table)
    assert "values of options" not in str(aggregate_votes([{"a": "yes", "b": "no"}], ["a", "b"]))


def test_what_cannot_be_aggregated_is_refused():
    with pytest.raises(InvalidInputError, match="row 0: the judge 'gpt' voted 'Excellent', which is no option"):
        aggregate_votes(ROWS, JUDGES)
    with pytest.raises(InvalidInputError, match="row 0: the gold label in 'human' is 'maybe'"):
        aggregate_votes([{"a": True, "human": "maybe"}], "a", gold_fields="human")
    with pytest.raises(UnknownRuleError, match="'majority' is not a rule for the scale 'ordinal'"):
        aggregate_votes(ROWS, JUDGES, LEVELS, "majority")
    with pytest.raises(InvalidInputError, match="votes names the column 'mistral'"):
        aggregate_votes(ROWS, ["mistral"], LEVELS)
    with pytest.raises(InvalidInputError, match="the gold label in 'gold' is"):
        aggregate_votes([{"a": True, "gold": [True, False]}], "a", gold_fields="gold")
    with pytest.raises(InvalidInputError, match="comparison"):
        aggregate_votes(ROWS, JUDGES, comparison_criterion("better", "Which is better?"))
    with pytest.raises(InvalidInputError, match="the data set is empty"):
        aggregate_votes([], JUDGES, LEVELS)


def test_the_table_prints_is_saved_and_cannot_be_changed(tmp_path):
    table = aggregate_votes(ROWS, JUDGES, LEVELS, "median", gold_fields="human")
    for text in (str(table), table.to_markdown(), table._repr_html_()):
        for part in ("clear: median of gpt, llama, qwen", "abstentions", "quadratic-weighted kappa", "unscored"):
            assert part in text
    assert "Accuracy if every instance without a verdict were wrong or right: 25 % to 50 %." in str(table)
    assert repr(table).startswith("<Results: 4 aggregated votes>")
    assert list(table.to_pandas()["match"]) == [False, True, False, None]
    table.save(tmp_path / "votes.jsonl")
    header, *rows = [json.loads(line) for line in (tmp_path / "votes.jsonl").read_text().splitlines()]
    assert (header["evenhand"], header["rows"]) == ("aggregated_votes", 4)
    assert header["summary"]["comparison"]["num_compared"] == 3
    assert rows[3]["unscored_reason"] == "abstained"
    cast = {vote["judge_id"]: vote["selected_label"] for vote in rows[1]["votes"]}
    assert cast == {"gpt": "Good", "llama": "Good", "qwen": "Poor"}
    with pytest.raises(AttributeError):
        table.verdicts = ()
    without = aggregate_votes(ROWS, JUDGES, LEVELS)
    assert isinstance(without.summary.comparison, Missing)
    with pytest.raises(InvalidInputError, match="no references to compare with"):
        without.confusion_table()


def test_a_saved_table_comes_back_whole(tmp_path):
    path = tmp_path / "votes.jsonl"
    numbered = [
        {judge: vote if vote is None else LEVELS.labels.index(vote) for judge, vote in row.items()} for row in ROWS
    ]
    for table in (
        aggregate_votes(ROWS, JUDGES, LEVELS, "median", gold_fields="human", resamples=50, seed=3),
        aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", [2, 1, 1], level=0.9),
        aggregate_votes([{"a": True, "b": None}, {"a": False, "b": True}], ["a", "b"]),
        aggregate_votes(numbered, JUDGES, LEVELS, gold_fields="human", as_index=True, resamples=50),
    ):
        table.save(path)
        loaded = evenhand.open(path)
        assert loaded == table
        assert str(loaded) == str(table)
        assert loaded.to_markdown() == table.to_markdown()
    assert loaded.notes  # numbers were read as places of options


def test_one_judge_has_no_alpha_and_the_table_says_so():
    table = aggregate_votes([{"a": True}, {"a": False}], "a", SAFE)
    assert "no unit has the ratings of two judges" in str(table)


UNEQUAL = [["Yes", "Yes"], ["No", "No", "No"], [None, "Yes"], []]
"""Two and three judges; one who abstains beside one who votes; nobody asked."""


@pytest.mark.parametrize("named", [False, True])
def test_who_was_not_asked_neither_dissents_nor_abstains(named):
    """Lists of unequal length: an empty cell is no vote. Agreement 1, 1 and 1/2, of three instances with a verdict."""
    cells = [{f"judge {place}": vote for place, vote in enumerate(row)} if named else row for row in UNEQUAL]
    table = aggregate_votes([{"votes": cell} for cell in cells], "votes")
    assert [len(verdict.votes) for verdict in table.verdicts] == [2, 3, 2, 0]
    assert [verdict.agreement for verdict in table.verdicts] == [1, 1, 0.5, None]
    assert [verdict.unscored_reason for verdict in table.verdicts] == [None, None, None, "not_asked"]
    assert (table.summary.num_votes, table.summary.num_abstentions) == (7, 1)
    assert table.summary.scores.agreement.estimate == pytest.approx(2.5 / 3)
    shown = {row[0]: row[1] for row in table.text_table().rows}
    assert (shown["votes"], shown["abstentions"]) == ("7", "1")


def test_a_row_without_the_column_was_not_asked():
    rows = [{"a": "Yes", "b": "Yes"}, {"a": "No"}, {"a": "No", "b": None}, {"a": "No", "b": "Yes"}]
    votes = aggregate_votes(rows, ["a", "b"])
    assert [verdict.agreement for verdict in votes.verdicts] == [1, 1, 0.5, 0.5]
    compared = agreement(rows, ["a", "b"])
    assert (dict(compared.missing), dict(compared.not_asked)) == ({"a": 0, "b": 2}, {"a": 0, "b": 1})
    assert "b 2 (1 of them not asked)" in str(compared)


@pytest.mark.parametrize("ask", [aggregate_votes, agreement])
def test_a_comparison_is_refused_for_what_it_is(ask):
    """Its options are not denied while the message lists them."""
    with pytest.raises(ArtifactError, match=r"two responses: its options \['Response A', 'Tie', 'Response B'\]"):
        ask([{"a": "Tie", "b": "Tie"}], ["a", "b"], criteria=comparison_criterion("better", "Which?", allow_ties=True))


def test_where_many_abstain_the_bounds_lead_and_the_note_says_why():
    # yes 12 times of 12, and 8 rows on which nobody voted for anything: 12 to 20 of 20
    rows = [{"a": "yes", "b": "yes"}] * 12 + [{"a": None, "b": None}] * 8
    table = aggregate_votes(rows, ["a", "b"]).text_table()
    cells = dict(table.rows)
    assert cells["aggregated score"].startswith("0.60–1.00 [")
    assert cells["aggregated score"].endswith("], 40 % of rows affected")
    assert "Bounds lead for the aggregated score" in " ".join(table.notes)
    assert "Bounds lead" not in str(aggregate_votes(rows[:12], ["a", "b"]))

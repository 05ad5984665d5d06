"""Recorded votes and replies reduced to verdicts: rules, what stands for a vote, systems, and what results say."""

import pytest

import evenhand
from evenhand.criteria import Criterion, Option
from evenhand.errors import ArtifactError, InvalidInputError
from evenhand.functions import aggregate_votes, agreement, read_replies
from evenhand.question import comparison_criterion
from evenhand.unitxt.loading import UndefinedScoreWarning
from tests.judge_reliability.criteria import LEVELS, SAFE
from tests.support.questions import QUALITY

ROWS = [
    {"gpt": "Excellent", "llama": "Good", "qwen": None, "human": "Excellent"},
    {"gpt": "Good", "llama": "Good", "qwen": "Poor", "human": "Good"},
    {"gpt": "Poor", "llama": "Fair", "qwen": "Poor", "human": "Fair"},
    {"gpt": None, "llama": None, "qwen": None, "human": "Bad"},
]
JUDGES = ["gpt", "llama", "qwen"]


def labels(table):
    return [verdict.selected_label for verdict in table.verdicts]


def test_rows_of_votes_name_the_judge_the_draw_and_the_system():
    """Long data: two systems on two prompts, judged by two judges, of which one draws twice."""
    said = {("p", "alder"): ("Good", "Good", "Fair"), ("p", "birch"): ("Bad", "Bad", "Poor")}
    said |= {("q", "alder"): ("Fair", "Fair", "Fair"), ("q", "birch"): ("Good", "Fair", "Good")}
    rows = [
        {"prompt": prompt, "model": system, "who": who, "draw": draw, "said": vote, "right": votes[0]}
        for (prompt, system), votes in said.items()
        for (who, draw), vote in zip([("gpt", 0), ("gpt", 1), ("llama", 0)], votes, strict=True)
    ]
    columns = {"judge_field": "who", "sample_field": "draw", "systems_field": "model", "id_field": "prompt"}
    table = aggregate_votes(rows, "said", LEVELS, gold_fields="right", **columns)
    assert [(each.instance, each.system) for each in table] == [(0, "alder"), (0, "birch"), (1, "alder"), (1, "birch")]
    # the draws Good and Fair are snapped to the worse, Fair: (0.5 + 0.75) / 2
    assert [verdict.aggregated_value for verdict in table.verdicts] == [0.625, 0.125, 0.5, 0.625]
    assert [each.gold for each in table] == ["Good", "Bad", "Fair", "Good"]
    assert (table.ids, table.parameters["n"], table.parameters["votes"]) == (["p", "q"], 2, ["gpt", "llama"])
    alder = table.summaries["alder"]
    assert (alder.scores.score.estimate, alder.comparison.accuracy.estimate) == ((0.625 + 0.5) / 2, 1 / 2)
    with pytest.raises(InvalidInputError, match=r"about \['alder', 'birch'\]: take summaries"):
        _ = table.summary
    assert [each.title for each in table.text_tables()][::2] == [
        "clear of alder: mean of gpt, llama",
        "clear of birch: mean of gpt, llama",
    ]
    assert table["1/birch"].views[0].verdict == table.filter(system="birch", instance=1).verdicts[0]
    with pytest.raises(InvalidInputError, match=r"rows 0 and 1 both hold the vote of 'gpt' on 'p'"):
        aggregate_votes(rows, "said", LEVELS, **{**columns, "sample_field": None})


def test_what_cannot_be_aggregated_is_refused():
    with pytest.raises(InvalidInputError, match="no weight for the judge 'gpt'"):
        aggregate_votes(ROWS, JUDGES, LEVELS, "weighted_mean", {"llama": 1, "qwen": 1})
    with pytest.raises(InvalidInputError, match="row 0: the gold label in 'human' is 'maybe'"):
        aggregate_votes([{"a": True, "human": "maybe"}], "a", gold_fields="human")
    for ask in (aggregate_votes, agreement):
        with pytest.raises(ArtifactError, match="fits a comparison"):
            ask([{"a": "Tie", "b": "Tie"}], ["a", "b"], criteria=comparison_criterion("c", "?", allow_ties=True))


@pytest.mark.parametrize("named", [False, True])
def test_who_was_not_asked_neither_dissents_nor_abstains(named):
    """Lists of unequal length: an empty cell is no vote. Agreement 1, 1 and 1/2, of three instances with a verdict."""
    lists = [["Yes", "Yes"], ["No", "No", "No"], [None, "Yes"], []]
    cells = [{f"judge {place}": vote for place, vote in enumerate(row)} if named else row for row in lists]
    table = aggregate_votes([{"votes": cell} for cell in cells], "votes")
    assert [len(verdict.votes) for verdict in table.verdicts] == [2, 3, 2, 0]
    assert [verdict.agreement for verdict in table.verdicts] == [1, 1, 0.5, None]
    assert [verdict.unscored_reason for verdict in table.verdicts] == [None, None, None, "not_asked"]
    assert (table.summary.num_votes, table.summary.num_abstentions) == (7, 1)
    assert table.summary.scores.agreement.estimate == pytest.approx(2.5 / 3)


def test_hand_worked():
    # 1, 0.75 and 0.25: the mean 2/3 is nearest to 0.75, the median is 0.75
    votes = {"ann": "Excellent", "bob": "Good", "eve": "Poor", "joe": None}
    (mean,) = aggregate_votes([{"votes": votes}], "votes", LEVELS).verdicts
    assert mean.aggregated_value == pytest.approx(2 / 3)
    assert (mean.selected_label, mean.agreement) == ("Good", 1 / 4)
    assert mean.bounds == pytest.approx((2 / 4, 3 / 4))  # joe's vote as the lowest and the highest level
    # (3·1 + 1·0.75 + 0·0.25) / 4
    weights = {"ann": 3, "bob": 1, "eve": 0, "joe": 1}
    (weighted,) = aggregate_votes([{"votes": votes}], "votes", LEVELS, "weighted_mean", weights).verdicts
    assert weighted.aggregated_value == pytest.approx(3.75 / 4)
    # weights belong to the columns as they are named, also if the first row lacks one: 1 · 0.25 + 3 · 0 over 4
    rows = [{"bob": "Poor"}, {"ann": "Bad", "bob": "Poor"}]
    by_column = aggregate_votes(rows, ["ann", "bob"], LEVELS, "weighted_mean", [3, 1]).verdicts
    assert [verdict.aggregated_value for verdict in by_column] == pytest.approx([0.25, 0.25 / 4])
    for panel, label in (([True, False, True], "Safe"), ([True, False], "Unsafe")):  # a tie is not met
        assert labels(aggregate_votes([{"votes": panel}], "votes", SAFE)) == [label]
    na, none = aggregate_votes([{"votes": ["N/A", None]}, {"votes": [None, ""]}], "votes", SAFE).verdicts
    assert (na.na, none.unscored_reason) == (True, "abstained")


REPLIES = [
    {"reply": "Good", "right": "Good", "page": "a"},
    {"reply": "It is not Good.\n\nThe verdict: Fair", "right": "Good", "page": "a"},
    {"reply": "Somewhere between Bad and Fair.", "right": "Bad", "page": "b"},
    {"reply": None, "right": "Bad", "page": "b"},
    {"reply": '{"selected_option": "Bad"}', "right": "Bad", "page": "c"},
]


def test_each_reply_is_the_vote_that_it_states_or_says_why_not(tmp_path):
    table = read_replies(REPLIES, "reply", QUALITY, gold_fields="right", cluster_field="page")
    votes = [verdict.votes[0] for verdict in table.verdicts]
    assert [vote.selected_label for vote in votes] == ["Good", "Fair", None, None, "Bad"]
    assert [vote.match.kind for vote in votes] == ["exact", "line", "none", "none", "json"]
    assert [vote.unscored_reason for vote in votes] == [None, None, "no_match", "empty", None]
    assert [vote.completion.text for vote in votes] == [row["reply"] for row in REPLIES]
    assert table.summary.scores.score.estimate == pytest.approx((1 + 0.5 + 0) / 3)
    assert table.summary.comparison.accuracy.estimate == pytest.approx(2 / 3)  # Good, Fair for Good, Bad
    text = str(table)
    assert "How the 3 selections were read: 1 exact (33 %), 1 json (33 %), 1 line (33 %)." in text
    assert "2 of 5 votes unscored (2 rows affected), 2 verdicts unscored: 1 empty, 1 no_match." in text
    table.save(tmp_path / "read.parquet")
    assert evenhand.open(tmp_path / "read.parquet") == table


def test_a_pattern_reads_the_form_that_another_tool_asked_for_and_a_cut_off_reply_says_so():
    texts = ["Feedback: fine. [RESULT] Good", "[RESULT] Bad, no: [RESULT] Good", "[RESULT] Fair [RESULT] fair", "Good"]
    texts += [None, "[RESULT] Superb"]
    table = read_replies([{"reply": text} for text in texts], "reply", QUALITY, pattern=r"\[RESULT\] (\w+)")
    votes = [verdict.votes[0] for verdict in table.verdicts]
    assert [vote.selected_label for vote in votes] == ["Good", None, "Fair", None, None, None]
    assert [vote.unscored_reason for vote in votes] == [None, "ambiguous", None, "no_match", "empty", "no_match"]
    rows = [{"reply": "The answer shows that", "finish": "length"}, {"reply": "Good", "finish": None}]
    cut = read_replies(rows, "reply", QUALITY, finish_reason_field="finish")
    assert [verdict.unscored_reason for verdict in cut.verdicts] == ["truncated", None]


def test_a_pair_shown_in_both_orders_is_read_in_its_own():
    options = tuple(Option(label=label, value=value) for label, value in (("A", 1.0), ("tie", 0.5), ("B", 0.0)))
    pair = Criterion(name="better", description="Which is better?", options=options)
    rows = [
        {"pair": 1, "swapped": False, "text": "[[A]]"},
        {"pair": 1, "swapped": True, "text": "[[B]]"},
        {"pair": 2, "swapped": "false", "text": "[[A]]"},
        {"pair": 2, "swapped": "true", "text": "[[A]]"},
        {"pair": 3, "swapped": 0, "text": "tie"},
        {"pair": 3, "swapped": 1, "text": "tie"},
    ]
    table = read_replies(rows, "text", pair, id_field="pair", swapped_field="swapped")
    assert labels(table) == ["A", "tie", "tie"]
    assert [verdict.position_consistent for verdict in table.verdicts] == [True, False, True]
    lopsided = pair.model_copy(update={"options": (*options[:2], Option(label="B", value=0.4))})
    with pytest.raises(InvalidInputError, match="mirrors the options of 'better' by their values"):
        read_replies(rows, "text", lopsided, swapped_field="swapped")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replies": []}, r"replies is \(\); name at least 1"),
        (
            {"replies": ["reply", "right"], "judge_field": "page"},
            "judge_field is 'page', and replies names .*: name one",
        ),
        ({"replies": "reply", "swapped_field": "page"}, "row 0 has in 'page' 'a', which is not an option of"),
        *[({"replies": "reply", "pattern": each}, "pattern is ") for each in ("(", r"\w+", r"(\w)(\w)", 3)],
    ],
)
def test_replies_that_cannot_be_read_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        read_replies(REPLIES, criteria=QUALITY, **options)


def test_what_unscored_votes_could_change_is_said_once_and_only_of_options_with_values():
    rows = [{"a": "yes", "b": "no" if number % 2 else None} for number in range(8)]
    assert str(aggregate_votes(rows, ["a", "b"])).count("0.000 to ") == 1
    plain = {"name": "x", "description": "?", "options": [{"label": "yes"}, {"label": "no"}]}
    with pytest.warns(UndefinedScoreWarning):
        shown = str(aggregate_votes(rows, ["a", "b"], plain))
    assert "The options have no values, so there is no score." in shown
    assert "1.000" not in shown

"""Scores by groups of rows, systems within groups, and losses that the whole hides."""

import pytest
from scipy.stats import binomtest

import evenhand
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.labels.correct import ALL
from evenhand.statistics import mean_intervals
from tests.golden.runs import QUIET, TONE

GOOD = evenhand.load({"name": "good", "requirement": "Is it good?"})
HOW = {"context_fields": [], "check_positional_bias": False, **QUIET}
SYSTEMS = ["new", "old"]


def data(groups):
    """Group -> per system which of its rows are good."""
    rows = []
    for group, systems in groups.items():
        for place, (new, old) in enumerate(zip(*systems, strict=True)):
            rows.append({"id": f"{group}{place}", "topic": group, "good_new": new, "good_old": old})
    return [{**row, "new": f"new {row['id']}", "old": f"old {row['id']}"} for row in rows]


def judged(rows, **options):
    quality = {row[system]: 0.9 if row[f"good_{system}"] else 0.1 for row in rows for system in SYSTEMS}
    judge = SimulatedEngine(quality=quality)
    return evenhand.judge(rows, GOOD, judge, response_fields=SYSTEMS, group_fields="topic", **{**HOW, **options})


# "many": new is good on 30 of 40, old on 10; "few": new on 0 of 10, old on all
HIDDEN = data({"many": ([True] * 30 + [False] * 10, [False] * 30 + [True] * 10), "few": ([False] * 10, [True] * 10)})


def test_each_group_has_the_score_of_its_rows():
    found = judged(HIDDEN).by("topic")
    assert dict(found.groups) == {"many": 40, "few": 10}
    (alone,) = mean_intervals([1.0] * 30 + [0.0] * 10)
    score = found.scores["many", "new", "good"]
    assert (score.judge.estimate, score.judge.low, score.judge.high) == (0.75, alone.low, alone.high)
    assert found.scores["few", "old", "good"].judge.estimate == 1.0
    assert found.scores[ALL, "new", "good"].judge.estimate == 30 / 50
    assert (score.num_rows, score.num_labelled, score.num_unscored) == (40, 0, 0)


def test_a_loss_that_the_whole_hides_is_said():
    found = judged(HIDDEN).by("topic")
    whole, many, few = (found.differences[group, "new", "old", "good"] for group in (ALL, "many", "few"))
    assert whole.difference.estimate == pytest.approx((20 - 10) / 50)
    raw = {"many": binomtest(10, 40, 0.5).pvalue, "few": binomtest(0, 10, 0.5).pvalue}
    assert many.p_value == pytest.approx(max(raw["many"], 2 * raw["few"]))  # Holm over the two groups
    assert few.p_value == pytest.approx(2 * raw["few"])
    assert whole.p_value == pytest.approx(binomtest(20, 50, 0.5).pvalue)
    (said,) = found.reversals
    assert said.startswith("On all rows new is ahead of old on good, and where topic is few it is behind: new less old")
    assert "is +0.20 [" in said
    assert ", which may be chance on all rows, and -1.00" in said
    assert said in str(found).replace("\n", " ")


def test_groups_that_agree_with_the_whole_say_nothing():
    rows = data({"a": ([True] * 9, [False] * 9), "b": ([True] * 4 + [False] * 5, [False] * 8 + [True])})
    found = judged(rows).by("topic")
    assert found.reversals == ()
    chance = data({"a": ([True] * 9, [False] * 9), "b": ([True] * 2 + [False] * 7, [False] * 6 + [True] * 3)})
    (said,) = judged(chance).by("topic").reversals
    assert "on all rows, and -0.11" in said
    assert said.endswith(", which may be chance there.")


def test_labels_correct_the_scores_of_their_groups():
    rows = HIDDEN
    people = [
        {"id": row["id"], "system": system, "label": "Yes" if row[f"good_{system}"] else "No"}
        for row in rows[::2]
        for system in SYSTEMS
    ]
    results = judged(rows, id_field="id")
    found = results.by("topic", gold=people, design="random")
    score = found.scores["many", "new", "good"]
    assert score.num_labelled == 20
    only = results.filter(id=[row["id"] for row in rows if row["topic"] == "many"])
    own = [each for each in people if each["id"].startswith("many")]
    alone = evenhand.correct(only, own, design="random")
    (same,) = [each for each in alone.scores if each.system == "new"]
    assert score.corrected == same.corrected
    without = results.by("topic", gold=people)
    assert without.design is None
    assert not without.scores["many", "new", "good"].corrected
    assert "corrected [" not in str(without)
    with pytest.raises(InvalidInputError, match="design is 'guess'"):
        results.by("topic", gold=people, design="guess")


def test_a_group_without_labels_is_told_and_not_corrected():
    people = [{"id": row["id"], "system": "new", "label": "Yes"} for row in HIDDEN if row["topic"] == "many"]
    found = judged(HIDDEN, id_field="id").by("topic", gold=people, design="random")
    assert found.scores["few", "new", "good"].corrected.reason == "no row is labelled"


def test_contests_are_told_by_group():
    contest = {"first": "new", "second": "old"}
    votes = [{**row, **contest, "vote": "new" if row["good_new"] else "old"} for row in HIDDEN]
    found = evenhand.winrates(votes=votes, group_fields="topic").by("topic")
    assert found.scores["few", "old", "recorded votes"].judge.estimate == 1.0
    assert found.scores["many", "new", "recorded votes"].judge.estimate == 0.75


IN_TOPICS = {"response_fields": SYSTEMS, "group_fields": "topic", **HOW}


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: evenhand.checklist(rows, ["Short?", "Kind?"], SimulatedEngine(), **IN_TOPICS),
        lambda rows: evenhand.judge(rows, TONE, SimulatedEngine(), **IN_TOPICS),
        lambda rows: evenhand.aggregate_votes(
            [{"v": n % 3 > 0, **row} for n, row in enumerate(rows)], "v", group_fields="topic"
        ),
    ],
)
def test_every_kind_of_result_is_told_by_group(make):
    rows = HIDDEN[:6] + HIDDEN[-4:]
    results = make(rows)
    found = results.by("topic")
    assert dict(found.groups) == {"many": 6, "few": 4}
    named = {name[1:] for name in found.scores}
    assert set(found.scores) == {(group, *name) for group in (ALL, "many", "few") for name in named}
    assert str(found)


def test_unscored_votes_are_counted_beneath_the_scores():
    found = evenhand.aggregate_votes(
        [{"a": "Yes", "b": None, "topic": "x"}, {"a": "No", "b": "No", "topic": "y"}], ["a", "b"], group_fields="topic"
    ).by("topic")
    assert "1 of 4 votes unscored (1 row affected)" in str(found)

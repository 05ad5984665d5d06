"""A plan says how much it takes, from guesses or from a pilot, and where each number comes from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.engines.simulated import SimulatedJudge
from evenhand.errors import InvalidInputError
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion
from evenhand.statistics.planning import power, rows_for_power
from evenhand.statistics.row_distributions import Distribution, Population

HOW: dict[str, Any] = {
    "journal": None,
    "progress": False,
    "flow": "verdict_only",
    "check_positional_bias": False,
    "response_field": ["a", "b"],
    "include_prompts_in_result": False,
}
GOOD = yes_no_criterion("good", "Is it good?")
SCALE = evenhand.Criterion(
    name="depth",
    description="How deep is it?",
    options=[evenhand.Option(label=str(level), value=float(level)) for level in range(1, 6)],
)
YES, NO = 0.9, 0.1
PATTERN = [(YES, NO)] * 6 + [(NO, YES)] * 3 + [(YES, YES)] * 15 + [(NO, NO)] * 16
"""What systems a and b deserve on 40 rows: 9 differ."""


def rows(n: int = 40) -> list[dict[str, Any]]:
    return [
        {"a": f"a{i}", "b": f"b{i}", "doc": f"d{i // 4}", "gold": "Yes" if PATTERN[i % 40][0] == YES else "No"}
        for i in range(n)
    ]


def deserved(question: Any, index: int) -> float:
    text = question.responses[index]
    return PATTERN[int(text[1:]) % 40]["ab".index(text[0])]


def judged(criterion: Any = GOOD, *, noise: float = 0.0, **how: Any) -> Any:
    return evenhand.judge(rows(), criterion, SimulatedJudge(quality=deserved, noise=noise), **{**HOW, **how})


@pytest.fixture(scope="module")
def pilot() -> Any:
    return judged(cluster_field=False)


def test_a_pilot_tells_how_differences_spread(pilot: Any) -> None:
    """9 of 40 rows differ, as likely either way; tilted to the difference asked about."""
    found = evenhand.plan(pilot, difference=0.1).difference
    by_hand = Population(Distribution.of([-1, 0, 1], [4.5, 31, 4.5]).tilted(0.1))
    assert (found.rows, found.method) == (rows_for_power(by_hand, 0.05, 0.8).value, "exact")
    assert found.rows_open[0] < found.rows < found.rows_open[1]
    seen = evenhand.plan(pilot, rows=200, difference=0.1)
    assert seen.power.value == power(by_hand, 200, 0.05).value
    assert power(
        Population(Distribution.of([-1, 0, 1], [4.5, 31, 4.5]).tilted(seen.difference.value)), 200, 0.05
    ).value == (pytest.approx(0.8, abs=1e-3))


def test_a_plan_is_in_the_units_of_scores() -> None:
    """Yes and no as 5 and 1: a quarter of the range is 1 there."""
    shares, levels = (evenhand.plan(judged(each, cluster_field=False), rows=100) for each in (GOOD, SCALE))
    assert levels.half_width.value == pytest.approx(4 * shares.half_width.value)
    assert levels.difference.value == pytest.approx(4 * shares.difference.value)


def test_rows_that_belong_together_tell_less() -> None:
    together = judged(cluster_field="doc")
    apart, clustered = (
        evenhand.plan(each, half_width=0.1).half_width for each in (judged(cluster_field=False), together)
    )
    assert clustered.rows > 2 * apart.rows  # four rows of a document are nearly one
    assert clustered.rows % 4 == 0


def test_draws_are_measured_by_leaving_some_out() -> None:
    """The votes of one draw of three are those of a run with one."""
    three, one = (judged(noise=0.6, samples=samples, cluster_field=False) for samples in (3, 1))
    table = evenhand.plan(three, difference=0.1).repetition
    spread = [np.mean([(x.scores - y.scores) ** 2]) for x, y in (each.outcomes() for each in (one, three))]
    narrower = 1 - math.sqrt(spread[1] / spread[0])
    assert [row[0] for row in table.rows] == ["1", "3"]
    assert table.rows[1][2] == (f"{100 * narrower:.0f} %" if narrower > 0 else "0 %")
    assert evenhand.plan(one, difference=0.1).repetition is None


def test_labels_are_planned_from_a_pilot_that_people_labelled() -> None:
    """People agree with the judge on a, and on b but for 9 rows."""
    labelled = judged(gold_fields={"good": "gold"}, cluster_field=False)
    found = evenhand.plan(labelled, half_width=0.08, call_price=0.001, label_price=0.5)
    corrected, alone = found.corrected_half_width, found.labels_alone
    assert corrected.labels < alone.labels
    assert corrected.rows > corrected.labels
    assert corrected.cost == pytest.approx(corrected.calls * 0.001 + corrected.labels * 2 * 0.5)
    assert found.corrected_difference is None
    assert "is another matter" not in str(found)
    at_odds = [{"instance": i, "system": each, "label": ["Yes", "No"][i % 2]} for i in range(40) for each in "ab"]
    given = evenhand.plan(judged(cluster_field=False), gold=at_odds, rows=100, labels=50)
    assert given.corrected_half_width.value > found.corrected_half_width.value


def test_winrates_are_planned_from_contests() -> None:
    engine = SimulatedJudge(quality=lambda question, index: 6 * deserved(question, index))
    criterion = comparison_criterion("better", "Which is better?", allow_ties=True)
    how = {name: value for name, value in HOW.items() if name not in {"response_field", "check_positional_bias"}}
    contests = evenhand.winrates(rows(), ["a", "b"], criterion, engine, cluster_field=False, resamples=10, **how)
    found = evenhand.plan(contests, difference=0.1, half_width=0.05)
    ties = np.mean([each.contest.score == 0.5 for each in contests])
    by_hand = Population(Distribution.of([-1, 0, 1], [(1 - ties) / 2, ties, (1 - ties) / 2]).tilted(0.1))
    assert found.difference.rows == rows_for_power(by_hand, 0.05, 0.8).value
    assert found.half_width.goal == "half-width of a winrate"
    assert found.difference.calls == 2 * found.difference.rows  # both orders
    assert "55 % against 45 %" in str(found)


@pytest.mark.parametrize(
    "asked",
    [
        {"rows": 2},
        {"rows": 3, "levels": 5},
        {"rows": 30, "labels": 2, "judge_accuracy": 0.6},
        {"half_width": 1e-7, "difference": 1e-7},
        {"half_width": 0.01, "labels": 20, "judge_accuracy": (0.9, 0.8)},
        {"rows": 20, "half_width": 0.01, "difference": 0.01, "judge_accuracy": 0.9},
        {"rows": 50, "cluster_size": 10, "icc": 0.9, "mean": 0.99},
        {"rows": 20, "compare": "winrates", "systems": 3, "tie_rate": 0.9},
        {"difference": 0.2, "samples": 3, "judges": 3, "label_price": 1.0},
        {"half_width": 0.1, "systems": 1},
    ],
)
def test_no_plan_shows_what_is_no_number(asked: dict[str, Any]) -> None:
    found = evenhand.plan(**asked)
    assert not {"nan", "inf", "∞"} & set(str(found).replace("[", " ").replace("]", " ").split())
    for number in found.numbers:
        for value in (number.value, number.rows, number.labels, number.calls, number.cost):
            assert value is None or isinstance(value, Missing) or (math.isfinite(value) and value >= 0)


def test_what_cannot_be_had_says_why() -> None:
    found = evenhand.plan(half_width=0.01, labels=20, judge_accuracy=0.9)
    assert str(found.corrected_half_width.rows) == "– (with 20 labels no number of rows is enough)"
    assert "with 20 labels no number of rows is enough" in str(found)


def test_costs_are_those_of_calls_and_labels() -> None:
    calls = 385 * 2 * 2 * 2  # rows, systems, orders, calls of a vote
    by_tokens = evenhand.plan(
        half_width=0.05, prompt_price=1.0, completion_price=2.0, prompt_tokens=500, completion_tokens=250
    )
    assert by_tokens.half_width.calls == calls
    assert by_tokens.half_width.cost == pytest.approx(calls * (500 + 2 * 250) / 1e6)
    engine = evenhand.OpenAICompatibleEngine(
        base_url="http://127.0.0.1:9/v1", model="m", prompt_price=1.0, completion_price=2.0
    )
    asked = evenhand.plan(half_width=0.05, engine=engine, prompt_tokens=500, completion_tokens=250)
    assert asked.half_width.cost == by_tokens.half_width.cost
    assert isinstance(evenhand.plan(half_width=0.05).half_width.cost, Missing)


def test_all_pairs_share_the_level() -> None:
    """Of four systems six pairs: as one pair at a level of 1 - 0.05 / 6."""
    many, strict = evenhand.plan(difference=0.1, systems=4), evenhand.plan(difference=0.1, level=1 - 0.05 / 6)
    assert many.difference.rows == strict.difference.rows


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "say what the plan is for"),
        ({"half_width": 0}, "half_width is 0; give a number above 0"),
        ({"half_width": math.inf}, "half_width is inf; give a number above 0"),
        ({"half_width": 2}, "half_width or difference is 2, and scores lie between 0 and 1"),
        ({"difference": 0.4, "mean": 0.9}, "difference is 0.4, and the largest that is possible here is 0.198"),
        ({"diference": 0.4}, "Did you mean 'difference'"),
        ({"rows": 50, "labels": 60}, "labels is 60 of 50 rows"),
        ({"rows": 50, "labels": 20}, "nothing says how far the judge is right"),
        ({"rows": 50, "judge_accuracy": (0.9, 0.8), "levels": 5}, "give one share"),
        ({"rows": 50, "judge_accuracy": 1.5}, "judge_accuracy is 1.5; give shares"),
        ({"rows": 50, "gold": "labels.csv"}, "gold is for the rows of a pilot"),
        ({"rows": 50, "pilot": "run.parquet"}, "pilot is a str"),
        ({"rows": 50, "prompt_price": 1.0}, "give prompt_price and completion_price"),
        ({"rows": 50, "compare": "winrates", "systems": 1}, "systems is 1; winrates need at least 2"),
        ({"difference": 0.1, "systems": 1}, "difference is 0.1 and systems 1; give at least 2"),
        ({"rows": 50, "sd": 0.7, "levels": 5}, "sd is 0.7"),
    ],
)
def test_bad_input_gets_one_clear_error(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        evenhand.plan(**asked)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"mean": 0.6}, "mean is 0.6, and the pilot tells it"),
        ({"criterion": "god"}, "Did you mean 'good'"),
    ],
)
def test_what_a_pilot_tells_is_not_guessed(pilot: Any, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        evenhand.plan(pilot, rows=100, **asked)
    assert said in str(raised.value)


def test_a_pilot_without_spread_is_refused(pilot: Any) -> None:
    with pytest.raises(InvalidInputError, match="at least 5 with a score"):
        evenhand.plan(pilot.filter(instance=[0, 1, 2]), rows=100)
    with pytest.raises(InvalidInputError, match="every score of the pilot is the same"):
        evenhand.plan(pilot.filter(instance=list(range(9, 24))), rows=100)


def test_the_shell_says_the_same(capsys: Any, tmp_path: Any, pilot: Any) -> None:
    assert main(["plan", "--difference", "0.1", "--judge-accuracy", "0.9", "0.8"]) == 0
    assert capsys.readouterr().out.rstrip() == str(evenhand.plan(difference=0.1, judge_accuracy=(0.9, 0.8))).rstrip()
    pilot.save(tmp_path / "pilot.jsonl")
    assert main(["plan", str(tmp_path / "pilot.jsonl"), "--rows", "100"]) == 0
    assert "From a pilot of 40 rows and 2 systems: good" in capsys.readouterr().out
    assert main(["plan"]) == 2


def test_a_pilot_without_spread_is_refused_where_rows_belong_together_too() -> None:
    rows = [{"response": "the same", "doc": str(row // 3)} for row in range(12)]
    pilot = evenhand.judge(rows, "Is it fine?", SimulatedJudge(), cluster_field="doc", journal=None, progress=False)
    with pytest.raises(InvalidInputError, match="every score of the pilot is the same"):
        evenhand.plan(pilot, half_width=0.05)

"""A plan says how many rows and labels it takes, from options or from a pilot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.labels.plan import power
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion

HOW: dict[str, Any] = {
    "journal": None,
    "progress": False,
    "flow": "verdict_only",
    "check_positional_bias": False,
    "response_fields": ["a", "b"],
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
"""What systems a and b deserve on 40 rows: 9 differ, a is good on 21."""


def rows(n: int = 40) -> list[dict[str, Any]]:
    return [
        {"a": f"a{i}", "b": f"b{i}", "doc": f"d{i // 4}", "gold": "Yes" if PATTERN[i % 40][0] == YES else "No"}
        for i in range(n)
    ]


def deserved(question: Any, index: int) -> float:
    text = question.responses[index]
    return PATTERN[int(text[1:]) % 40]["ab".index(text[0])]


def judged(criterion: Any = GOOD, **how: Any) -> Any:
    return evenhand.judge(rows(), criterion, SimulatedEngine(quality=deserved), **{**HOW, **how})


@pytest.fixture(scope="module")
def pilot() -> Any:
    return judged(cluster_field=False)


def test_a_pilot_tells_how_scores_and_differences_vary(pilot: Any) -> None:
    """System a is good on 21 of 40 rows, and 9 rows differ: 6 one way and 3 the other."""
    found = evenhand.plan(pilot, rows=200, difference=0.1).lines
    sd = math.sqrt(21 / 40 * 19 / 40 * 40 / 39)
    apart = math.sqrt((9 / 40 - (3 / 40) ** 2) * 40 / 39)
    assert found["half_width"].value == pytest.approx(1.959964 * sd / math.sqrt(200), rel=1e-5)
    assert found["power"].value == pytest.approx(power(0.1, apart, 200, 0.05, yes_no=True))
    assert power(found["difference"].value, apart, 200, 0.05, yes_no=True) == pytest.approx(0.8, abs=1e-3)
    needed = evenhand.plan(pilot, difference=0.1).lines["difference"].rows
    assert power(0.1, apart, needed, 0.05, yes_no=True) >= 0.8 > power(0.1, apart, needed - 1, 0.05, yes_no=True)
    assert "open by a factor of 0.67 to 1.6" in str(evenhand.plan(pilot, rows=200))  # 39 / quantiles of chi²


def test_a_plan_is_in_the_units_of_scores(pilot: Any) -> None:
    """Yes and no as 5 and 1: a quarter of the range is 1 there."""
    shares, levels = (evenhand.plan(each, rows=100).lines for each in (pilot, judged(SCALE, cluster_field=False)))
    for name in ("half_width", "difference"):
        assert levels[name].value == pytest.approx(4 * shares[name].value)


def test_rows_that_belong_together_tell_less(pilot: Any) -> None:
    apart, clustered = (
        evenhand.plan(each, half_width=0.1).lines["half_width"].rows for each in (pilot, judged(cluster_field="doc"))
    )
    assert clustered > 2 * apart  # four rows of a document are nearly one


def test_labels_are_planned_from_a_pilot_that_people_labelled(pilot: Any) -> None:
    """People agree with the judge on a, and on b but for 9 rows."""
    labelled = judged(gold_fields={"good": "gold"}, cluster_field=False)
    found = evenhand.plan(labelled, half_width=0.08).lines["corrected_half_width"]
    assert found.labels < 151 < found.rows  # 151 labels alone are (1.96 · .5 / .08)²
    at_odds = [{"instance": i, "system": each, "label": ["Yes", "No"][i % 2]} for i in range(40) for each in "ab"]
    wide, narrow = (
        evenhand.plan(each, gold=gold, rows=100, labels=50).lines["corrected_half_width"].value
        for each, gold in ((pilot, at_odds), (labelled, None))
    )
    assert wide > narrow


def test_winrates_are_planned_from_contests() -> None:
    engine = SimulatedEngine(quality=lambda question, index: 6 * deserved(question, index))
    criterion = comparison_criterion("better", "Which is better?", allow_ties=True)
    how = {name: value for name, value in HOW.items() if name not in {"response_fields", "check_positional_bias"}}
    contests = evenhand.winrates(
        rows(), criterion, engine, response_fields=["a", "b"], cluster_field=False, resamples=10, **how
    )
    scores = np.array([each.score for each in contests])
    found = evenhand.plan(contests, difference=0.1, rows=300).lines
    apart = 2 * float(scores.std(ddof=1))  # one wins what the other loses
    assert found["power"].value == pytest.approx(power(0.1, apart, 300, 0.05))


@pytest.mark.parametrize(
    "asked",
    [
        {"rows": 2},
        {"rows": 30, "labels": 2, "judge_correlation": 0.2},
        {"half_width": 1e-7, "difference": 1e-7},
        {"half_width": 0.01, "labels": 20, "judge_correlation": 0.7},
        {"rows": 20, "systems": 3, "correlation": -1},
        {"difference": 0.2, "correlation": 0.95, "sd": 0.1},
    ],
)
def test_no_plan_shows_what_is_no_number(asked: dict[str, Any]) -> None:
    found = evenhand.plan(**asked)
    assert not {"nan", "inf", "∞"} & set(str(found).split())
    for line in found.lines.values():
        for value in (line.value, line.rows, line.labels):
            assert value is None or isinstance(value, Missing) or (math.isfinite(value) and value >= 0)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "nothing is asked"),
        ({"half_width": 0}, "half_width is 0; give a number above 0"),
        ({"half_width": 2.5}, "half_width is 2.5; give less than the range, 1"),
        ({"diference": 0.4}, "Did you mean 'difference'"),
        ({"rows": 50, "labels": 60}, "labels is 60; give half_width too, or that number of rows or more"),
        ({"rows": 50, "labels": 20}, "nothing says how far the judge agrees with people"),
        ({"rows": 50, "judge_correlation": 1.5}, "judge_correlation is 1.5; give a number above 0 and below 1"),
        ({"rows": 50, "gold": "labels.csv"}, "gold is for the rows of a pilot"),
        ({"rows": 50, "pilot": "run.parquet"}, "pilot is a str"),
        ({"difference": 0.1, "systems": 1}, "difference is 0.1, and there is one system"),
        ({"rows": 50, "sd": 0.2, "mean": 0.7}, "mean is of yes/no scores, and sd of others"),
    ],
)
def test_bad_input_gets_one_clear_error(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        evenhand.plan(**asked)
    assert said in str(raised.value)


def test_the_shell_says_the_same(capsys: Any, tmp_path: Any, pilot: Any) -> None:
    assert main(["plan", "--difference", "0.1", "--judge-correlation", "0.7"]) == 0
    assert capsys.readouterr().out.rstrip() == str(evenhand.plan(difference=0.1, judge_correlation=0.7)).rstrip()
    labels = tmp_path / "labels.csv"
    labels.write_text("instance,label\n" + "\n".join(f"{i},{row['gold']}" for i, row in enumerate(rows())), "utf-8")
    alone = pilot.filter(system="a")
    alone.save(tmp_path / "a.parquet")
    assert main(["plan", str(tmp_path / "a.parquet"), "--rows", "100", "--labels", "50", "--gold", str(labels)]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip() == str(evenhand.plan(alone, gold=labels, rows=100, labels=50)).rstrip()

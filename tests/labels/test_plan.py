"""A plan says how many rows and labels it takes, from options or from a pilot."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.errors import InvalidInputError
from evenhand.labels.plan import corrected_half_width, fewest, half_width, power
from evenhand.question import comparison_criterion
from evenhand.statistics.correction import corrected_mean
from evenhand.statistics.intervals import IntervalLevel, mean_intervals
from evenhand.statistics.ranking import paired_test

ONCE: dict[str, Any] = {"journal": None, "progress": False, "flow": "verdict_only", "include_prompts_in_result": False}
HOW: dict[str, Any] = {"check_positional_bias": False, "response_fields": ["a", "b"], **ONCE}
GOOD = yes_no_criterion("good", "Is it good?")
LEVELS = [evenhand.Option(label=str(level), value=float(level)) for level in range(1, 6)]
SCALE = evenhand.Criterion(name="depth", description="How deep is it?", options=LEVELS)
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
    at_odds = [{"id": i, "system": each, "label": ["Yes", "No"][i % 2]} for i in range(40) for each in "ab"]
    wide, narrow = (
        evenhand.plan(each, gold=gold, rows=100, labels=50).lines["corrected_half_width"].value
        for each, gold in ((pilot, at_odds), (labelled, None))
    )
    assert wide > narrow


def test_winrates_are_planned_from_contests() -> None:
    engine = SimulatedEngine(quality=lambda question, index: 6 * deserved(question, index))
    criterion = comparison_criterion("better", "Which is better?", allow_ties=True)
    contests = evenhand.winrates(rows(), criterion, engine, response_fields=["a", "b"], cluster_field=False, **ONCE)
    scores = np.array([each.score for each in contests])
    found = evenhand.plan(contests, difference=0.1, rows=300).lines
    apart = 2 * float(scores.std(ddof=1))  # one wins what the other loses
    assert found["power"].value == pytest.approx(power(0.1, apart, 300, 0.05))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"half_width": 2.5}, "half_width is 2.5; give less than the range, 1"),
        ({"rows": 50, "labels": 20}, "nothing says how far the judge agrees with people"),
        ({"rows": 50, "judge_correlation": 1.5}, "judge_correlation is 1.5; it should be less than 1"),
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
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "\n".join(f"{i},{row['gold']}" for i, row in enumerate(rows())), "utf-8")
    alone = pilot.filter(system="a")
    alone.save(tmp_path / "a.parquet")
    assert main(["plan", str(tmp_path / "a.parquet"), "--rows", "100", "--labels", "50", "--gold", str(labels)]) == 0
    shown = capsys.readouterr().out
    assert shown.rstrip() == str(evenhand.plan(alone, gold=labels, rows=100, labels=50)).rstrip()


NAN = float("nan")


def levels(random, rows, columns, *, count=5, mean=0.6, spread=0.3, alike=0.0):
    """Scores on levels from 0 to 1, of columns whose qualities correlate."""
    shared, own = random.standard_normal((rows, 1)), random.standard_normal((rows, columns))
    quality = mean + spread * (math.sqrt(alike) * shared + math.sqrt(1 - alike) * own)
    return np.clip(np.round(quality * (count - 1)), 0, count - 1) / (count - 1)


def reached(intervals):
    return float(np.mean([(each.high - each.low) / 2 for each in intervals]))


@pytest.mark.parametrize("rows", [60, 250])
@pytest.mark.parametrize("mean", [0.5, 0.8])
def test_planned_half_widths_of_yes_no_scores_come(rows, mean):
    found = mean_intervals((np.random.default_rng(3).random((rows, 300)) < mean).astype(float))
    assert half_width(math.sqrt(mean * (1 - mean)), rows, 0.95, yes_no=True) == pytest.approx(reached(found), rel=0.03)


@pytest.mark.parametrize("size", [1, 4])
def test_planned_half_widths_of_scales_come(size):
    """Rows of a cluster are alike: their standard deviation is √size times as large."""
    random = np.random.default_rng(5)
    scores = np.repeat(levels(random, 240 // size, 200), size, axis=0)
    over = IntervalLevel(0.95, [row // size for row in range(240)]) if size > 1 else 0.95
    planned = half_width(float(scores.std()) * math.sqrt(size), 240, 0.95, per_row=1 / size)
    assert planned == pytest.approx(reached(mean_intervals(scores, level=over)), rel=0.03)


@pytest.mark.parametrize(("count", "spread", "rows"), [(2, 1.0, 150), (5, 0.3, 120)])
def test_planned_power_comes(count, spread, rows):
    """Within 3 points and 3 standard errors, for a difference planned for 80 %."""
    random, sets = np.random.default_rng(7), 400
    many = levels(random, 200_000, 2, count=count, spread=spread, alike=0.5)
    sd, correlation = float(many.std()), float(np.corrcoef(many.T)[0, 1])
    apart = sd * math.sqrt(2 * (1 - correlation))
    assert apart == pytest.approx(float(np.subtract(*many.T).std()), rel=0.01)
    difference = next(
        each / 1000 for each in range(1000) if power(each / 1000, apart, rows, 0.05, yes_no=count == 2) >= 0.8
    )
    # the first system's mean is raised by giving it the higher score of the two in a share of the rows
    gain = difference / float(np.abs(np.subtract(*many.T)).mean())

    told = 0
    for _ in range(sets):
        apart_now = np.subtract(*levels(random, rows, 2, count=count, spread=spread, alike=0.5).T)
        turned = np.where(random.random(rows) < gain, np.abs(apart_now), apart_now)
        told += paired_test(turned).p_value < 0.05
    assert abs(told / sets - 0.8) < 0.03 + 3 * math.sqrt(0.16 / sets)


def test_many_rows_take_what_the_textbook_says():
    """n = (z sd / h)², and (z₁ + z₂) errors apart less the step of an exact test."""
    z, z_power = NormalDist().inv_cdf(0.975), NormalDist().inv_cdf(0.8)
    assert fewest(lambda n: half_width(0.5, n, 0.95, yes_no=True) <= 0.01) == math.ceil((z * 0.5 / 0.01) ** 2)
    apart = 0.5 * math.sqrt(2)
    rows = fewest(lambda n: power(0.03, apart, n, 0.05, yes_no=True) >= 0.8)
    assert (rows * 0.03 - 1) / (apart * math.sqrt(rows)) == pytest.approx(z + z_power, abs=0.005)


@pytest.mark.parametrize(("accuracy", "labels"), [(0.85, 100), (0.9, 60), (0.6, 100)])
def test_planned_corrected_half_widths_come(accuracy, labels):
    random, widths = np.random.default_rng(5), []
    for _ in range(40):
        human = (random.random(800) < 0.6).astype(float)
        judged = np.where(random.random(800) < accuracy, human, 1 - human)
        known = np.where(random.permutation(800) < labels, human, NAN)
        widths.append(corrected_mean(judged, known, design="random", support=[0, 1]).corrected)
    human = (random.random(200_000) < 0.6).astype(float)
    together = np.corrcoef(human, np.where(random.random(human.size) < accuracy, human, 1 - human))[0, 1]
    planned = corrected_half_width(math.sqrt(0.24), together**2, labels, 800, 0.95, yes_no=True)
    assert planned == pytest.approx(reached(widths), rel=0.06)

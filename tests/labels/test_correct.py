"""Corrected scores from end to end: worked by hand, of every kind of result, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from evenhand.data.fields import LabelReader
from evenhand.errors import InvalidInputError
from evenhand.results.vote_columns import Cell
from tests.modes.test_new_mode import ToneMode
from tests.support.judges import ScriptedJudge

GOOD = yes_no_criterion("good", "Is it good?")
QUIET: dict[str, Any] = {"journal": None, "progress": False, "check_positional_bias": False, "flow": "verdict_only"}
LABELS = ("Yes", "No")


def said(request: Any) -> str:
    """The judge says what the response says."""
    return str(request.question.responses[0])


def judged(columns: dict[str, list[str | None]], criterion: Any = GOOD) -> Any:
    """System -> what the judge says of each row, without the time that judging takes."""
    reader = LabelReader(criterion)
    made = evenhand.judge([{"response": "Yes"}], criterion, ScriptedJudge(said), **QUIET)
    cells = [
        Cell(
            {"instance": row, "system": system, "criterion": criterion.name, "gold": None, "cluster": None},
            () if label is None else (reader.vote("judge", criterion.index_of(label)),),
        )
        for system, own in columns.items()
        for row, label in enumerate(own)
    ]
    parameters = {**made.parameters, "n": len(cells) // len(columns)}
    return made.of_cells(made.analyse, {**made.header, "systems": list(columns), "parameters": parameters}, cells)


def yes(count: int, of: int) -> list[str | None]:
    return ["Yes"] * count + ["No"] * (of - count)


@pytest.fixture(scope="module")
def table() -> Any:
    return judged({"alder": yes(60, 100)})


GOLD = {**{row: "Yes" if row < 16 else "No" for row in range(20)}, **dict.fromkeys(range(60, 80), "No"), 79: "Yes"}
"""Of 20 that the judge finds good 16 are, and 1 of 20 that it does not."""


def test_the_score_by_hand(table: Any) -> None:
    found = evenhand.correct(table, GOLD, design="by_verdict")["alder"]
    # 0.6 · 16/20 + 0.4 · 1/20, where the judge says 0.6, and the labels, weighted by the design, the same as both
    assert found.corrected.estimate == pytest.approx(0.6 * 0.8 + 0.4 * 0.05)
    assert found.judge.estimate == pytest.approx(0.6)
    assert found.labels.estimate == pytest.approx(0.5)
    assert (found.num_rows, found.num_labelled, found.num_unscored) == (100, 40, 0)
    assert "do not look drawn" not in str(evenhand.correct(table, GOLD, design="random"))
    only_yes = dict.fromkeys(range(30), "Yes")
    assert "do not look drawn at random" in str(evenhand.correct(table, only_yes, design="random"))
    alone = evenhand.correct(table, GOLD, design="random")["alder"]
    assert alone.labels.estimate == pytest.approx(17 / 40)  # each label counts once
    assert alone.corrected.estimate == pytest.approx(0.5)


def test_what_the_judge_is_worth_is_said(table: Any) -> None:
    shown = evenhand.correct(table, GOLD, design="random")
    found = shown["alder"]
    more = 40 * (((found.labels.high - found.labels.low) / (found.corrected.high - found.corrected.low)) ** 2 - 1)
    assert found.labels_saved == pytest.approx(more)
    assert more > 9
    assert f"with these 40 labels the judge is worth {more:.0f} more." in str(shown)


@pytest.mark.parametrize(
    ("column", "gold", "told"),
    [
        (yes(99, 100), dict.fromkeys(range(40), "Yes"), "40 labels are too few for 2 strata"),
        (yes(100, 100), {row: "No" if row == 7 else "Yes" for row in range(40)}, "said the same of every row"),
        (yes(50, 100), {row: "Yes" if row < 49 else "No" for row in range(100)}, "every row is labelled"),
        (yes(50, 100), {row: LABELS[row // 2 % 2] for row in range(30, 70)}, "drawn at random"),
    ],
    ids=["too few of a verdict", "a constant judge", "all labelled", "too few to tell"],
)
def test_what_the_judge_is_worth_is_not_said_where_labels_do_not_show_it(
    column: list[str | None], gold: dict[int, str], told: str
) -> None:
    shown = " ".join(str(evenhand.correct(judged({"alder": column}), gold, design="random")).split())
    assert told in shown
    assert "the judge is worth" not in shown


def test_labels_of_unequal_probabilities_that_are_worth_few_are_warned_of(table: Any) -> None:
    """2 of 20 are "No", and the one stands for 20 rows, the other for 2: (20 + 2)² / (20² + 2²) = 1.2."""
    shares = {**dict.fromkeys(range(18), 0.5), 60: 0.05, 61: 0.5}
    rows = [{"id": row, "label": "Yes" if row < 60 else "No", "probability": share} for row, share in shares.items()]
    shown = " ".join(str(evenhand.correct(table, rows, design="probabilities")).split())
    assert "the rarer ones are worth 1.2 equal ones" in shown
    alike = [{**row, "probability": 0.2} for row in rows]
    assert "rarer side" not in str(evenhand.correct(table, alike, design="probabilities"))


@pytest.mark.filterwarnings("ignore:the criterion 'tone' gives no value")
def test_the_options_of_a_nominal_criterion_have_a_share_each() -> None:
    options = [evenhand.Option(label=each, value=None) for each in ("warm", "plain", "harsh")]
    tone = evenhand.Criterion(name="tone", description="Which tone has it?", options=options, scale="nominal")
    table = judged({"alder": ["warm"] * 45 + ["plain"] * 45 + ["harsh"] * 10}, tone)
    gold = {
        **dict.fromkeys(range(15), "warm"),
        **dict.fromkeys(range(15, 20), "plain"),
        **dict.fromkeys(range(45, 65), "plain"),
        **dict.fromkeys(range(90, 95), "harsh"),
    }
    found = evenhand.correct(table, gold, design="by_verdict")
    shares = {each.option: each.corrected.estimate for each in found.scores}
    assert shares == {
        "warm": pytest.approx(0.45 * 15 / 20, abs=1e-9),
        "plain": pytest.approx(0.45 * 5 / 20 + 0.45, abs=1e-9),
        "harsh": pytest.approx(0.1, abs=1e-9),
    }
    assert found["alder", "tone", "harsh"].judge.estimate == pytest.approx(0.1)


def test_where_it_does_not_apply_there_is_no_score() -> None:
    table = judged({"alder": yes(60, 100)}, yes_no_criterion("cites", "Does it cite the source?", na=True))
    gold = {
        **dict.fromkeys(range(10), "Yes"),
        **dict.fromkeys(range(10, 20), "N/A"),
        **dict.fromkeys(range(60, 80), "No"),
    }
    found = evenhand.correct(table, gold, design="by_verdict")
    # applies to half of the 60 %, all of which are 1, and to the 40 %, of which none is: 0.3 / (0.3 + 0.4)
    assert found["alder"].corrected.estimate == pytest.approx(3 / 7, abs=1e-4)
    assert found["alder"].corrected.low < 3 / 7 < found["alder"].corrected.high
    assert "does not apply to labelled rows of: alder, cites (10)" in found.to_markdown()


def test_systems_are_compared_on_the_same_rows_and_all_differences_hold_together() -> None:
    table = judged({"alder": yes(80, 120), "birch": yes(50, 120), "cedar": yes(50, 120)})
    gold = [
        {"id": row, "system": system, "label": table[f"{row}/{system}/good"].views[0].selected}
        for system in table.systems
        for row in range(0, 120, 3)
    ]
    found = evenhand.correct(table, gold, design="random")
    pairs = [("alder", "birch"), ("alder", "cedar"), ("birch", "cedar")]
    assert [(each.system, each.second) for each in found.differences] == pairs
    first, _, last = found.differences
    assert first.corrected.level == pytest.approx(1 - 0.05 / 3, abs=1e-4)
    assert first.corrected.estimate == pytest.approx(30 / 120)
    assert (first.distinguishable, last.distinguishable) == (True, False)
    assert last.corrected.estimate == pytest.approx(0)
    frame = found.to_pandas()
    corrected = [each.corrected.estimate for each in (*found.scores, *found.differences)]
    assert frame["corrected_estimate"].tolist() == corrected


def test_winrates_are_corrected_contest_by_contest() -> None:
    rows = [{"alder": f"a {row}", "birch": f"b {row}"} for row in range(60)]

    def better(request: Any) -> str:
        row = int(request.question.responses[0].split()[1])
        wanted = "a" if row < 40 else "b"
        shown = [request.question.responses[place][0] for place in request.presentation.order]
        return "AB"[shown.index(wanted)]

    table = evenhand.winrates(
        rows, "Which is better?", ScriptedJudge(better), response_fields=["alder", "birch"], **QUIET
    )
    gold = [{"id": row, "label": "alder" if row < 20 or row == 59 else "birch"} for row in range(60)]
    found = evenhand.correct(table, [each for each in gold if each["id"] % 2], design="random")
    # labelled are the odd rows: 20 that the judge gives alder, of which people give it 10, and 10 more, of which it
    # gets 1: 2/3 · 10/20 + 1/3 · 1/10
    assert found["alder"].judge.estimate == pytest.approx(40 / 60)
    assert found["alder"].corrected.estimate == pytest.approx(2 / 3 * 0.5 + 1 / 3 * 0.1)
    assert found["birch"].corrected.estimate == pytest.approx(1 - found["alder"].corrected.estimate)
    assert found.differences == ()


def test_rubrics_are_corrected_as_a_whole_and_in_their_parts() -> None:
    rubric = evenhand.Rubric(
        name="both", criteria=[yes_no_criterion("first", "One?"), yes_no_criterion("last", "Two?")]
    )
    table = evenhand.judge([{"response": each} for each in yes(30, 60)], rubric, ScriptedJudge(said), **QUIET)
    gold = [
        {"id": row, "criterion": name, "label": "Yes" if row < 30 and name == "first" else "No"}
        for row in range(0, 60, 2)
        for name in ("first", "last")
    ]
    found = evenhand.correct(table, gold, design="random")
    assert [each.criterion for each in found.scores] == ["both", "first", "last"]
    assert found["response", "first"].corrected.estimate == pytest.approx(0.5)
    assert found["response", "both"].corrected.estimate == pytest.approx(0.25)  # half of it where the judge says all
    whole = evenhand.correct(table, [{"id": row, "label": 0.5} for row in range(0, 60, 3)], design="random")
    assert [each.criterion for each in whole.scores] == ["both"]
    assert "Left out, as no row is labelled: first, last." in str(whole)


def test_the_score_of_a_mode_of_ones_own_is_corrected_by_the_labels_that_it_asks_for() -> None:
    rows = [{"response": "friendly" if row < 30 else "harsh"} for row in range(60)]
    found = evenhand.run_mode(rows, ToneMode, ScriptedJudge(said), journal=None, progress=False, orders="given")
    gold = {row: "friendly" if row % 4 == 0 and row < 30 else "neutral" for row in range(0, 60, 2)}
    corrected = evenhand.correct(found, gold, design="random").scores[0]
    # the score is the share of friendly ones: of 15 labelled that the judge finds friendly 8 are, of the others none
    assert corrected.judge.estimate == pytest.approx(0.5)
    assert corrected.corrected.estimate == pytest.approx(0.5 * 8 / 15)


def test_labels_correct_the_system_that_they_name() -> None:
    table = judged({"alder": yes(60, 100), "birch": yes(40, 100)})
    gold = [{"id": row, "system": "alder", "label": label} for row, label in GOLD.items()]
    with pytest.raises(InvalidInputError, match=r"there are no labels of \['birch'\] on 'good'.*system=\['alder'\]"):
        evenhand.correct(table, gold, design="random")
    alone = evenhand.correct(table.filter(system="alder"), gold, design="random")
    assert [each.system for each in alone.scores] == ["alder"]


def test_what_it_says_is_kept(table: Any, tmp_path: Any) -> None:
    found = evenhand.correct(table, GOLD, design="random")
    for name in ("scores.json", "scores.csv", "scores.md", "scores.html"):
        found.save(tmp_path / name)
    document = json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))
    assert document["scores"][0]["corrected"]["estimate"] == pytest.approx(0.5)
    assert document["design"] == "random"
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8").startswith("system,criterion,judge alone [95%]")
    with pytest.raises(InvalidInputError, match=r"\.parquet"):
        found.save(tmp_path / "scores.parquet")
    with pytest.raises(InvalidInputError, match="names 0 of the scores"):
        found["birch"]


def test_a_saved_result_is_corrected_in_the_shell(table: Any, tmp_path: Any, capsys: Any) -> None:
    table.save(tmp_path / "run.parquet")
    gold = tmp_path / "labels.csv"
    rows = [f"{row},{label}" for row, label in GOLD.items()]
    gold.write_text("\n".join(["id,said", *rows]), encoding="utf-8")
    run, out = tmp_path / "run.parquet", tmp_path / "scores.json"
    given = (run, "--gold", gold, "--label-field", "said", "--design", "by_verdict")
    assert main(["correct", *map(str, (*given, "--out", out))]) == 0
    assert f"corrected scores written to {out}" in capsys.readouterr().out.replace("\n", "")
    in_python = evenhand.correct(table, GOLD, design="by_verdict")
    saved = json.loads(out.read_text(encoding="utf-8"))["scores"][0]["corrected"]
    assert saved["low"] == in_python["alder"].corrected.low

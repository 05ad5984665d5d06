"""Corrected scores from end to end: worked by hand, of every kind of result, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import evenhand
from evenhand.criteria import yes_no_criterion
from evenhand.data.cells import LabelReader
from evenhand.errors import InvalidInputError
from evenhand.results.vote_columns import Cell
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
    return made.remade({**made.judged(), "systems": list(columns), "parameters": parameters}, cells)


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
    alone = evenhand.correct(table, GOLD, design="random")["alder"]
    assert alone.labels.estimate == pytest.approx(17 / 40)  # each label counts once
    assert alone.corrected.estimate == pytest.approx(0.5)


WORTH = ("the judge is worth", "the judge adds nothing", "adds nothing to the labels")


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
    assert not [sentence for sentence in WORTH if sentence in shown]


def test_probabilities_weigh_the_labels(table: Any) -> None:
    rows = [
        {"instance": row, "label": label, "probability": 20 / 60 if row < 60 else 20 / 40}
        for row, label in GOLD.items()
    ]
    found = evenhand.correct(table, rows, design="probabilities")["alder"]
    # each label stands for 3 rows or for 2: (16 · 3 + 1 · 2) / 100
    assert found.labels.estimate == pytest.approx(0.5)
    with pytest.raises(InvalidInputError, match="with a column 'probability'"):
        evenhand.correct(table, GOLD, design="probabilities")


@pytest.mark.filterwarnings("ignore:the criterion 'tone' gives no value")
def test_the_options_of_a_nominal_criterion_have_a_share_each() -> None:
    tone = evenhand.Criterion(
        name="tone",
        description="Which tone has it?",
        options=[evenhand.Option(label=each, value=None) for each in ("warm", "plain", "harsh")],
        scale="nominal",
    )
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


def test_systems_are_compared_on_the_same_rows_and_all_differences_hold_together() -> None:
    table = judged({"alder": yes(80, 120), "birch": yes(50, 120), "cedar": yes(50, 120)})
    gold = [
        {"instance": row, "system": system, "label": table[f"{row}/{system}/good"].verdict.selected_label}
        for system in table.systems
        for row in range(0, 120, 3)
    ]
    found = evenhand.correct(table, gold, design="random")
    assert [(each.system, each.second) for each in found.differences] == [
        ("alder", "birch"),
        ("alder", "cedar"),
        ("birch", "cedar"),
    ]
    first, _, last = found.differences
    assert first.corrected.level == pytest.approx(1 - 0.05 / 3, abs=1e-4)
    assert first.corrected.estimate == pytest.approx(30 / 120)
    assert (first.distinguishable, last.distinguishable) == (True, False)
    assert last.corrected.estimate == pytest.approx(0)
    assert "Distinguishable by what people would say: alder – birch, good; alder – cedar, good." in str(found)


def test_rubrics_and_checklists_are_corrected_as_a_whole_and_in_their_parts() -> None:
    rubric = evenhand.Rubric(
        name="both", criteria=[yes_no_criterion("first", "One?"), yes_no_criterion("last", "Two?")]
    )
    table = evenhand.judge([{"response": each} for each in yes(30, 60)], rubric, ScriptedJudge(said), **QUIET)
    gold = [
        {"instance": row, "criterion": name, "label": "Yes" if row < 30 and name == "first" else "No"}
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
    checked = evenhand.checklist(
        [{"response": each} for each in yes(30, 60)], ["One?", "Two?"], ScriptedJudge(said), mode="item", journal=None
    )
    part = [
        {"id": row, "item": item.name, "label": "yes"}
        for row in range(0, 60, 2)
        for item in checked.checklists[0].items
    ]
    assert evenhand.correct(checked, part, design="random").scores[0].corrected.estimate > 0.9

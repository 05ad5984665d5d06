"""Labels of people are read from files, rows and results, and paired with the judge's scores of the same rows."""

from __future__ import annotations

import math
from typing import Any

import pytest

import evenhand
from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.labels.people import Label, Labels, Paired, paired, read_gold

GOOD = yes_no_criterion("good", "Is it good?")
ROWS = [{"id": f"p-{i}", "question": f"q{i}", "alder": f"a{i}", "birch": f"b{i}", "gold": "Yes"} for i in range(4)]
SYSTEMS = ["alder", "birch"]


@pytest.fixture(scope="module")
def judged() -> Any:
    return evenhand.judge(ROWS, GOOD, evenhand.SimulatedEngine(), response_fields=SYSTEMS, id_field="id", **_HOW)


_HOW: dict[str, Any] = {"context_fields": ["question"], "journal": None}


def by_name(pairs: tuple[Paired, ...]) -> dict[tuple[str, str], Paired]:
    return {(each.judge.system, each.judge.criterion): each for each in pairs}


def values(pair: Paired) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in pair.people.scores]


@pytest.mark.parametrize(
    "gold",
    [
        [{"id": "p-2", "system": "birch", "criterion": "good", "label": "No"}],
        [{"id": "p-2", "system": "birch", "label": 0}],
        [{"instance": 2, "system": "birch", "label": "no"}],
    ],
    ids=["whole name", "the only criterion", "by number"],
)
def test_a_label_finds_its_question(judged: Any, gold: Any) -> None:
    found = by_name(paired(judged, read_gold(judged, gold)))
    assert values(found["birch", "good"]) == [None, None, 0.0, None]
    assert values(found["alder", "good"]) == [None] * 4
    assert [row.selected for row in found["birch", "good"].people.rows] == [None, None, "No", None]


def test_the_gold_that_a_result_holds_is_read(judged: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"give gold="):
        read_gold(judged)
    held = evenhand.judge(
        ROWS, GOOD, evenhand.SimulatedEngine(), response_fields=SYSTEMS, gold_fields={"good": "gold"}, **_HOW
    )
    assert [values(each) for each in paired(held, read_gold(held))] == [[1.0] * 4] * 2


def test_one_label_a_row_needs_one_question_a_row() -> None:
    alone = evenhand.judge(ROWS, GOOD, evenhand.SimulatedEngine(), response_fields="alder", **_HOW)
    (found,) = paired(alone, read_gold(alone, {0: "Yes", 1: None, "2": "No", 3: float("nan")}))
    assert values(found) == [1.0, None, 0.0, None]
    (found,) = paired(alone, read_gold(alone, {3: "Yes"}))
    assert values(found) == [None, None, None, 1.0]


def test_winrates_are_labelled_by_the_system_that_is_better() -> None:
    compared = evenhand.winrates(
        ROWS, "criteria.evenhand.pairwise.clarity", evenhand.SimulatedEngine(), response_fields=SYSTEMS, **_HOW
    )
    tie = {"id": 1, "first": "birch", "second": "alder", "label": "tie"}
    labels = read_gold(compared, [{"id": 0, "label": "alder"}, tie, {"id": 3, "label": "birch"}])
    found = by_name(paired(compared, labels))
    assert values(found["alder", "clarity"]) == [1.0, 0.5, None, 0.0]
    assert values(found["birch", "clarity"]) == [0.0, 0.5, None, 1.0]
    said = [(0, "alder", "ann"), (0, "birch", "bo"), (1, "birch", "ann"), (1, "tie", "bo")]  # divided on both
    labels = read_gold(compared, [{"id": row, "label": label, "annotator": who} for row, label, who in said])
    assert values(by_name(paired(compared, labels))["alder", "clarity"]) == [0.5, 0.25, None, None]


def test_people_check_a_checklist_item_by_item_or_as_a_whole() -> None:
    names = ["cites", "dated", "signed"]
    items = [evenhand.ChecklistItem(question=f"Is it {name}?", name=name) for name in names]
    checklist = evenhand.Checklist(name="letter", items=items)
    checked = evenhand.checklist(ROWS, checklist, evenhand.SimulatedEngine(), response_fields="alder", **_HOW)
    given = [(0, "cites", "yes"), (0, "dated", "no"), (0, "signed", "no"), (1, "cites", "yes"), (1, "dated", "yes")]
    labels = [{"id": row, "item": item, "label": label} for row, item, label in given]
    found = by_name(paired(checked, read_gold(checked, labels)))
    assert values(found["alder", "letter"]) == [pytest.approx(1 / 3), None, None, None]  # row 1 lacks an answer
    assert values(found["alder", "cites"]) == [1.0, 1.0, None, None]
    whole = by_name(paired(checked, read_gold(checked, [{"id": 2, "label": 0.25}])))
    assert values(whole["alder", "letter"]) == [None, None, 0.25, None]
    with pytest.raises(InvalidInputError, match=r"1\.5.*from 0 to 1"):
        read_gold(checked, [{"id": 2, "label": 1.5}])


def test_the_majority_counts_and_the_mean_where_people_are_divided() -> None:
    alone = evenhand.judge(ROWS, GOOD, evenhand.SimulatedEngine(), response_fields="alder", **_HOW)
    said = [(0, "Yes", "ann"), (0, "No", "bo"), (0, "Yes", "cy"), (1, "Yes", "ann"), (1, "No", "bo"), (2, "No", "cy")]
    labels = read_gold(alone, [{"id": row, "label": label, "annotator": who} for row, label, who in said])
    (found,) = paired(alone, labels)
    assert values(found) == [1.0, 0.5, 0.0, None]
    assert [row.selected for row in found.people.rows] == ["Yes", None, "No", None]
    assert labels.annotators == ("ann", "bo", "cy")


def test_probabilities_travel_with_the_labels(judged: Any) -> None:
    gold = [{"id": "p-1", "system": "alder", "label": "Yes", "probability": 0.25}]
    found = by_name(paired(judged, read_gold(judged, gold)))["alder", "good"]
    assert [math.isnan(each) or float(each) for each in found.probabilities] == [True, 0.25, True, True]
    with pytest.raises(InvalidInputError, match=r"probability 2\.0"):
        read_gold(judged, [{**gold[0], "probability": 2}])


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([{"id": "p-9", "system": "alder", "label": "Yes"}], r"'p-9'.*was not judged"),
        ([{"id": "p-1", "label": "Yes"}], r"may be about any of"),
        ([{"id": "p-1", "system": "cedar", "label": "Yes"}], r"'cedar'"),
        ([{"id": "p-1", "system": "alder", "label": "Perhaps"}], r"'Perhaps'"),
        ([{"system": "alder", "label": "Yes"}], r"has no column 'id'"),
        ([{"id": "p-1", "remark": "fine"}], r"label_field"),
        ([], r"no label"),
        (Labels(()), r"no label"),
    ],
)
def test_what_cannot_be_a_label_is_told(judged: Any, gold: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said):
        read_gold(judged, gold)


RECORDED = evenhand.aggregate_votes([{"vote": "Yes", "system": "alder"}] * 4, "vote", GOOD)


@pytest.mark.parametrize(
    ("name", "said"), [("system", "leave it out"), ("lable", "Did you mean 'label'")], ids=["no column", "a typo"]
)
def test_labels_of_recorded_votes_name_what_was_judged(name: str, said: str, tmp_path: Any) -> None:
    path, row = tmp_path / "labels.csv", {"id": 0, "label": "Yes", name: "Yes"}
    path.write_text(f"id,label,{name}\n0,Yes,Yes", encoding="utf-8")
    for gold in ([row], path):
        with pytest.raises(InvalidInputError, match=rf"has the column '{name}', which is not read: .*{said}"):
            read_gold(RECORDED, gold)


def test_labels_that_are_about_nothing_that_was_judged_are_refused(judged: Any) -> None:
    other = Labels((Label((0, "cedar", "good"), "Yes"),))
    with pytest.raises(
        InvalidInputError, match=r"about \[0, 'cedar', 'good'\] …, and judged were \[0, 'alder', 'good'\]"
    ):
        read_gold(judged, other)

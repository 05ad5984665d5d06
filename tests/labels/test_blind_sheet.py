"""A sheet hides who wrote or judged what, its labels are read back, and rows are drawn with their probabilities."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenhand
from evenhand.cli import main
from evenhand.criteria import Checklist, Rubric, yes_no_criterion
from evenhand.errors import InvalidInputError
from evenhand.labels.blind_sheet import CANNOT_TELL, BlindSheet, Draw, SheetLabels, drawn_rows, page
from evenhand.labels.people import LabelsOfOtherRowsWarning, paired, read_gold
from tests.support import browser

TAGS = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>"
HOSTILE = TAGS + " \u202eevil\u0000 \u2028 {{ 7*7 }} &lt;"
GOOD = yes_no_criterion("good", "Is it good?")
DEPTH = evenhand.Criterion(
    name="depth", description="Is it deep?", options=[evenhand.Option(label=f"{n}", value=float(n)) for n in (1, 2, 3)]
)
SYSTEMS = ["zelkova-9", "quillaja-7"]
ROWS = [
    {"id": f"p-{i}", "question": f"What of {i}?", "zelkova-9": f"It is {i} by now.", "quillaja-7": f"No {i}!"}
    for i in range(40)
]
ROWS[0] |= {"quillaja-7": None}
ROWS[1] |= {"question": HOSTILE, "zelkova-9": HOSTILE, "quillaja-7": "=HYPERLINK(1)"}
HOW: dict[str, Any] = {"context_fields": ["question"], "journal": None, "flow": "verdict_only"}
SEED = 4
JUDGE = evenhand.SimulatedEngine(noise=0.3)


def judge(criteria: Any = (GOOD, DEPTH), **how: Any) -> Any:
    return evenhand.judge(
        ROWS, criteria, JUDGE, response_fields=SYSTEMS, id_field="id", **{**HOW, "check_positional_bias": False, **how}
    )


@pytest.fixture(scope="module")
def judged() -> Any:
    return judge(samples=3)


@pytest.fixture(scope="module")
def compared() -> Any:
    return evenhand.winrates(ROWS, "criteria.evenhand.pairwise.clarity", JUDGE, response_fields=SYSTEMS, **HOW)


@pytest.fixture(scope="module")
def sheet(judged) -> BlindSheet:
    found: BlindSheet = judged.to_label(30, data=ROWS, seed=SEED)
    return found


def wanted(sheet: BlindSheet) -> dict[str, str]:
    """Question -> the answer of somebody who likes odd rows, and those of the first system."""
    answers = {}
    for asked in sheet.draw.questions:
        labels = list(asked.answers)
        if "A" in labels:
            answers[asked.id] = next(label for label, own in asked.answers.items() if own == SYSTEMS[0])
        else:
            odd = (asked.name[0] + SYSTEMS.index(asked.name[1])) % 2
            answers[asked.id] = labels[0] if odd else "3" if "3" in labels else "No"
    return answers


def filled_csv(sheet: BlindSheet, folder: Path) -> Path:
    path, answers = folder / "ann.csv", wanted(sheet)
    sheet.save(path)
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # as a spreadsheet may save it
        lines = csv.DictWriter(file, list(rows[0]), delimiter=";")
        lines.writeheader()
        lines.writerows({**row, "label": answers[row["question"]].upper()} for row in rows)
    return path


def json_min(sheet: BlindSheet, folder: Path) -> Path:
    path, answers = folder / "ann.jsonl", wanted(sheet)
    rows = [
        {"question": asked, "draw": sheet.draw.id, "label": label, "annotator": 7} for asked, label in answers.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


FORMS = [filled_csv, json_min]


def human(results: Any, labels: SheetLabels) -> dict[tuple[str, str], dict[int, float]]:
    """(System, criterion) -> row -> the score of the people."""
    return {
        (each.judge.system, each.judge.criterion): {
            row.instance: float(score)
            for row, score in zip(each.judge.rows, each.people.scores, strict=True)
            if not math.isnan(score)
        }
        for each in paired(results, labels)
    }


@pytest.mark.parametrize("form", FORMS)
def test_each_form_comes_back_as_what_was_answered(judged, sheet, form: Callable[..., Path], tmp_path):
    labels = evenhand.read_labels(form(sheet, tmp_path), draw=sheet)
    found = human(judged, labels)
    for (system, criterion), scores in found.items():
        odd, even = (1.0, 0.0) if criterion == "good" else (1.0, 3.0)
        expected = {row: odd if (row + SYSTEMS.index(system)) % 2 else even for row in scores}
        assert scores == expected
        assert len(scores) == 30
    assert labels.design == "random"
    assert {each.probability for each in labels.entries} == {30 / 40, 30 / 39}


def test_sides_are_mapped_back(compared, tmp_path):
    sheet = compared.to_label(20, data=ROWS, design="by_verdict")
    assert len({tuple(asked.answers.items()) for asked in sheet.draw.questions}) == 2  # both orders
    labels = evenhand.read_labels(filled_csv(sheet, tmp_path), draw=sheet)
    found = human(compared, labels)
    assert set(found[SYSTEMS[0], "clarity"].values()) == {1.0}
    assert set(found[SYSTEMS[1], "clarity"].values()) == {0.0}
    assert labels.design == "by_verdict"
    for card, (asked,) in ((card, card.questions) for card in sheet.cards):
        shown = dict(zip(("A", "B"), card.responses.values(), strict=True))
        assert shown["A"] == evenhand_text(ROWS[asked.name[0]][asked.answers["A"]])


def evenhand_text(text: str) -> str:
    return text.replace("\u202e", "\\u202e").replace("\0", "\\x00").replace("\u2028", "\\u2028")


@pytest.mark.parametrize("name", ["s.html", "s.csv"])
def test_nothing_that_people_open_names_a_system_or_a_judge_or_a_verdict(judged, compared, name, tmp_path):
    for results in (judged, compared):
        made = results.to_label(20, data=ROWS, design="by_verdict")
        folder = tmp_path / results.kind
        folder.mkdir()
        kept = made.save(folder / name)
        opened = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path != kept]
        secret = (*SYSTEMS, "simulated", "p-3", "instance", "probability", "by_verdict")
        assert not [word for word in secret for text in opened if word in text]
        assert all(word in kept.read_text(encoding="utf-8") for word in (*SYSTEMS, "by_verdict", "probability"))
        assert len({next(iter(card.responses.values())) for card in made.cards}) > 10


def test_the_draw_is_read_as_it_was_and_a_seed_gives_the_same_sheet(judged, sheet, tmp_path):
    kept = sheet.save(tmp_path / "sheet.html")
    assert kept == tmp_path / "sheet.draw.json"
    assert Draw.read(kept) == sheet.draw
    again = judged.to_label(30, data=ROWS[::-1], seed=SEED)  # found by their ids
    assert again == sheet
    assert judged.to_label(30, data=ROWS, seed=SEED + 1).draw.id != sheet.draw.id
    assert "1 row without a response" in str(judged.filter(criterion="good").to_label(5, data=ROWS))


def test_a_rubric_and_a_checklist_are_asked_about_whole(tmp_path):
    rubric = Rubric(name="all", criteria=(GOOD, DEPTH.model_copy(update={"weight": 2.0})))
    items = Checklist(name="list", items=({"question": "Is it short?"}, {"question": "Is it kind?"}))  # type: ignore[arg-type] # as users write it
    checked = evenhand.checklist(ROWS, items, JUDGE, response_fields=SYSTEMS, context_fields="question", journal=None)
    for results, name in ((judge(rubric), "all"), (checked, "list")):
        made = results.to_label(8, data=ROWS, design="by_verdict")
        assert {len(card.questions) for card in made.cards} == {2}
        assert made.draw.corrected_as == "probabilities"  # scores are no labels
        (tmp_path / name).mkdir()
        labels = evenhand.read_labels(json_min(made, tmp_path / name), draw=made)
        assert len(human(results, labels)[SYSTEMS[0], name]) == 8


def test_the_data_must_be_those_that_were_judged(judged, compared):
    with pytest.raises(InvalidInputError, match=r"no row with the id 'p-39'.*1 row of 40"):
        judged.to_label(5, data=ROWS[:39])
    with pytest.raises(InvalidInputError, match="the data have 39 rows, and 40 rows were judged"):
        compared.to_label(5, data=ROWS[:39])
    with pytest.raises(InvalidInputError, match=r"of the data is not the one that was judged.*id_field"):
        compared.to_label(5, data=[*ROWS[:2], *ROWS[3:], ROWS[2]])
    with pytest.raises(InvalidInputError, match="has no field 'question'"):
        judged.to_label(5, data=[{name: row[name] for name in row if name != "question"} for row in ROWS])
    with pytest.raises(InvalidInputError, match=r"n is 41, and zelkova-9, good has 40 rows"):
        judged.to_label(41, data=ROWS)
    with pytest.raises(InvalidInputError, match=r"ends in '.xlsx'"):
        judged.to_label(5, data=ROWS).save("sheet.xlsx")


def test_recorded_votes_are_labelled_beside_the_column_that_is_named():
    votes = [{**row, "judge_a": "Yes" if number % 3 else "No"} for number, row in enumerate(ROWS)]
    recorded = evenhand.aggregate_votes(votes, votes=["judge_a"], criteria=GOOD)
    with pytest.raises(InvalidInputError, match=r"name their column, response_fields=…"):
        recorded.to_label(9, data=votes)
    made = recorded.to_label(9, data=votes, design="by_verdict", response_fields="zelkova-9", context_fields="question")
    shares = [each.probability for each in made.draw.questions]
    assert (shares.count(4 / 14), shares.count(5 / 26)) == (4, 5)  # by the roots of 14 and 26
    assert {card.responses["Response"] for card in made.cards} <= {evenhand_text(row["zelkova-9"]) for row in ROWS}


def answered(sheet: BlindSheet, folder: Path, who: str, answers: dict[str, Any], **other: Any) -> Path:
    path = folder / f"{who}.json"
    file = {"evenhand": "labels", "draw": sheet.draw.id, "annotator": who, "answers": answers, **other}
    path.write_text(json.dumps(file), encoding="utf-8")
    return path


def test_what_is_missing_doubled_unknown_or_of_another_sheet_is_said(judged, sheet, tmp_path):
    answers = wanted(sheet)
    one, two, three, four, *_ = answers
    few = answered(sheet, tmp_path, "ann", {one: answers[one], two: None, three: " ", four: "nan"})
    found = evenhand.read_labels([few, few], draw=sheet)
    assert (len(found), found.cannot_tell) == (1, 1)
    assert "missing" in str(found)
    twice = answered(sheet, tmp_path, "cem", {two: answers[two]}, annotator="ann")
    with pytest.raises(InvalidInputError, match=rf"'ann' gives two answers to the question '{two}'"):
        evenhand.read_labels([few, twice], draw=sheet)
    wrong = answered(sheet, tmp_path, "dee", {one: "Perhaps", three: answers[three]})
    with pytest.raises(InvalidInputError, match=r"has the label 'Perhaps'"):
        evenhand.read_labels(wrong, draw=sheet)
    with pytest.raises(InvalidInputError, match=r"'q999_1', which is not on the sheet"):
        evenhand.read_labels(answered(sheet, tmp_path, "eve", {"q999_1": "Yes"}), draw=sheet)
    with pytest.raises(InvalidInputError, match=r"is of the sheet 'another', and the draw is that of"):
        evenhand.read_labels(answered(sheet, tmp_path, "fay", answers, draw="another"), draw=sheet)
    with pytest.raises(InvalidInputError, match="there is no label"):
        evenhand.read_labels(answered(sheet, tmp_path, "gus", {one: None}), draw=sheet)
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"rows with \['a'\], which are not answers"):
        evenhand.read_labels(tmp_path / "rows.jsonl", draw=sheet)
    with pytest.raises(InvalidInputError, match="is no draw of a sheet"):
        evenhand.read_labels(few, draw=tmp_path / "rows.jsonl")


DAMAGES: dict[str, tuple[str, Any, str]] = {
    "a number of rows in words": ("n", "many", r"Draw has the n 'many': .*integer"),
    "a field of nothing": ("self", 2, r"Draw has the self 2: Extra"),
    "an unknown way to correct": ("corrected_as", "by hand", r"corrected_as 'by hand': .*'probabilities'"),
    "other columns": ("labelled_by", ["system"], r"name \(\d+, .*\); it is .* texts: \('system',\)"),
    "no criteria": ("criteria", [], r"criterion \d\. Accepted: none"),
    "a criterion that is not there": ("questions.criterion", 99, r"'q1_1' has the criterion 99\. Accepted: '0', '1'"),
    "a criterion before the first": ("questions.criterion", -1, r"the criterion -1\. .*Accepted: '0', '1'"),
    "an impossible chance": ("questions.probability", 1.5, r"probability 1\.5: .*less than or equal to 1"),
    "a row before the first": ("questions.name", [-1, SYSTEMS[0], "good"], r"name \(-1, .*number of a row, from 0"),
    "a row in words": ("questions.name", ["p-1", SYSTEMS[0], "good"], r"name \('p-1', .*number of a row, from 0"),
    "no name": ("questions.name", [], r"name \(\); it is .* texts: \('system', 'criterion'\)"),
    "an option that is not there": ("questions.answers", {"Nope": "Yes"}, r"answers \['Nope'\]; the options are \("),
    "the id of another question": ("questions.id", "q2_1", r"'q2_1' has the id of another question"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_draw_that_was_edited_is_refused(sheet, tmp_path, damage):
    at, value, problem = DAMAGES[damage]
    document = json.loads(sheet.draw.model_dump_json())
    (document["questions"][0] if "." in at else document)[at.split(".")[-1]] = value
    path = tmp_path / "damaged.draw.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    where = r"damaged\.draw\.json' is a damaged draw of a sheet; give the file that was written with the sheet: "
    with pytest.raises(InvalidInputError, match=where + rf".*{problem}"):
        evenhand.read_labels(answered(sheet, tmp_path, "ann", wanted(sheet)), draw=path)


def test_labels_that_the_judge_was_not_offered_are_refused(judged, sheet, tmp_path):
    first, *others = sheet.draw.questions
    edited = first.model_copy(update={"answers": dict.fromkeys(first.answers, "Nope")})
    draw = sheet.draw.model_copy(update={"questions": (edited, *others)})
    labels = evenhand.read_labels(answered(sheet, tmp_path, "ann", wanted(sheet)), draw=draw)
    with pytest.raises(
        InvalidInputError, match=r"the labels say 'Nope' of \[.*: give the labels of what was judged\. "
    ):
        evenhand.correct(judged, labels)


def test_a_draw_is_not_written_over_that_of_another_sheet(judged, sheet, tmp_path):
    sheet.save(tmp_path / "sheet.html")
    sheet.save(tmp_path / "sheet.html")
    with pytest.raises(InvalidInputError, match=rf"is the draw of another sheet, '{sheet.draw.id}'"):
        judged.to_label(5, data=ROWS).save(tmp_path / "sheet.csv")
    assert not (tmp_path / "sheet.csv").exists()


def test_several_people_and_how_far_they_agree(judged, tmp_path):
    sheet = judged.filter(criterion="good").to_label(30, data=ROWS)
    answers = wanted(sheet)
    differs = list(answers)[:15]  # of 60
    flipped = {"Yes": "No", "No": "Yes"}
    second = {asked: flipped[label] if asked in differs else label for asked, label in answers.items()}
    files = [answered(sheet, tmp_path, "ann", answers), answered(sheet, tmp_path, "bob", second)]
    found = evenhand.read_labels(files, draw=sheet)
    assert found.annotators == ("ann", "bob")
    text = str(found)
    assert "75 % [" in text  # 45 of 60
    yes = sum(label == "Yes" for label in answers.values()) / 60
    other = sum(label == "Yes" for label in second.values()) / 60
    chance = yes * other + (1 - yes) * (1 - other)
    assert f"{(0.75 - chance) / (1 - chance):.2f} [" in text  # Cohen's kappa
    assert "Krippendorff's alpha of the 2 humans" in text
    divided = paired(judged.filter(criterion="good"), found)
    assert sum(int((each.people.scores == 0.5).sum()) for each in divided) == 15
    found.save(tmp_path / "gold.jsonl")
    again = read_gold(judged, tmp_path / "gold.jsonl")
    assert (again.entries, again.design) == (found.entries, "random")


def test_labels_of_other_rows_are_warned_of(judged, sheet, tmp_path):
    labels = evenhand.read_labels(answered(sheet, tmp_path, "ann", wanted(sheet)), draw=sheet)
    assert read_gold(judged.filter(system=SYSTEMS[0]), labels) is labels
    turned = evenhand.judge(ROWS[::-1], GOOD, JUDGE, response_fields=SYSTEMS, **HOW)
    with pytest.warns(LabelsOfOtherRowsWarning, match="118 of 120 questions on the sheet"):
        read_gold(turned, labels)


def test_the_shell_makes_a_sheet_and_reads_the_labels(judged, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judged.save("run.parquet")
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    given = ["run.parquet", "--data", "rows.jsonl", "--n", "9", "--design", "by_verdict", "--out", "sheet.html"]
    assert main(["to-label", *given]) == 0
    assert "draw written to sheet.draw.json: keep it" in capsys.readouterr().out
    sheet = judged.to_label(9, data=ROWS, design="by_verdict")
    assert Draw.read("sheet.draw.json") == sheet.draw
    saved = answered(sheet, tmp_path, "ann", wanted(sheet))
    assert main(["read-labels", str(saved), "--draw", "sheet.draw.json", "--out", "gold.jsonl"]) == 0
    assert "36 of 36 questions have a label" in capsys.readouterr().out
    assert len(read_gold(judged, "gold.jsonl")) == 36


def test_a_page_carries_its_own_policy_and_no_sign_of_the_data_that_html_obeys(sheet):
    text = page(sheet)
    assert "default-src 'none'" in text
    assert text.count("<script") == 2
    assert "onerror" in text  # the hostile row is on the sheet
    data = re.search(r'id="sheet">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert not {*"<>&\u202e\0"} & {*data[1]}
    assert not re.search(r"https?://|src=|@import|url\(", re.sub(re.escape(data[1]), "", text))
    script = text[text.rindex("<script>") :]
    assert len(script) <= 15_000


@pytest.mark.skipif(browser.MISSING is not None, reason=str(browser.MISSING))
def test_a_page_is_answered_reloaded_and_saved_in_a_browser(judged, sheet, tmp_path):
    sheet.save(tmp_path / "sheet.html")
    answers = wanted(sheet)
    number = next(place for place, card in enumerate(sheet.cards) if TAGS in card.responses["Response"])
    with browser.browser(tmp_path, width=390) as window:
        window.open(tmp_path / "sheet.html")
        assert f"Item 1 of {len(sheet.cards)} · 0 of {len(answers)} questions answered" in window.text("#status")
        for card in sheet.cards[:2]:  # by keys alone: the place of each option, then on
            for asked in card.questions:
                window.press(str(1 + list(asked.answers).index(answers[asked.id])))
            window.press("n")
        window.press("0")  # I cannot tell
        window.click("#save")
        assert "name or initials" in window.text("#problem")
        window.type_into("#who", "Ann 1")
        time.sleep(1)  # Chromium takes a moment to hand what a page stored to the process of the next one
        window.reload()
        done = sum(len(card.questions) for card in sheet.cards[:2]) + 1
        assert f"Item 3 of {len(sheet.cards)} · {done} of {len(answers)}" in window.text("#status")
        assert window.run("return document.querySelector('#who').value") == "Ann 1"
        assert window.run("return document.querySelector('fieldset input:checked').value") == "-1"
        window.press("n" * (number - 2) if number > 2 else "p" * (2 - number))
        assert "</script><script>window.hit=1" in window.text("#card")
        assert window.run("return typeof window.hit") == "undefined"
        assert window.run("return document.documentElement.scrollWidth <= innerWidth")
        unnamed = "return [...document.querySelectorAll('input')].filter((each) => !each.labels.length).length"
        assert window.run(unnamed) == 0
        left = len(sheet.cards) - (3 if len(sheet.cards[2].questions) == 1 else 2)
        assert f"{left} item{'' if left == 1 else 's'} unanswered" in window.text("#status")
        window.click("#save")
        assert f"saved as labels-{sheet.draw.id}-Ann_1.json" in window.text("#status")
        saved = window.downloaded("labels-*.json")
        assert window.complaints() == []
    labels = evenhand.read_labels(saved, draw=tmp_path / "sheet.draw.json")
    first = {asked.name: asked.answers[answers[asked.id]] for card in sheet.cards[:2] for asked in card.questions}
    assert {each.name: each.value for each in labels.entries} == first
    assert (labels.annotators, labels.cannot_tell) == (("Ann 1",), 1)
    assert CANNOT_TELL in (tmp_path / "sheet.html").read_text(encoding="utf-8")


STRATA = ["yes"] * 30 + ["no"] * 17 + ["unscored"] * 3
DRAWS = 1500

SAME = [""] * 50


def draws(strata: list[str], times: int = DRAWS) -> list[list[int]]:
    orders = (np.random.default_rng(seed).permutation(len(strata)) for seed in range(times))
    return [drawn_rows(strata, 12, order)[0] for order in orders]


@pytest.mark.parametrize("strata", [SAME, STRATA], ids=["random", "by_verdict"])
def test_each_row_is_drawn_as_often_as_its_probability_says_and_the_number_drawn_is_fixed(strata):
    probabilities, found = drawn_rows(strata, 12, range(50))[1], draws(strata)
    assert {len(each) for each in found} == {12}
    times = np.bincount(np.concatenate(found), minlength=50)
    expected, spread = DRAWS * probabilities, np.sqrt(DRAWS * probabilities * (1 - probabilities))
    assert np.all(abs(times - expected) <= 4 * spread + 1e-9)  # 4 standard errors: 50 rows, p = .003 for any


def test_strata_have_their_share_in_every_draw():
    shares = {"yes": 6, "no": 4, "unscored": 2}  # in proportion to the roots 5.5, 4.1 and 1.7 of 12, at least 2
    _, probabilities = drawn_rows(STRATA, 12, range(50))
    assert probabilities[[0, 30, 47]].tolist() == pytest.approx([6 / 30, 4 / 17, 2 / 3])
    for each in draws(STRATA, times=50):
        assert {name: sum(STRATA[unit] == name for unit in each) for name in shares} == shares


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.integers(1, 60))
def test_any_strata_are_drawn_from(strata, n):
    n = min(n, len(strata))
    places, probabilities = drawn_rows(strata, n, range(len(strata)))
    assert len(places) == n
    assert probabilities.sum() == pytest.approx(n)
    assert probabilities.max() <= 1

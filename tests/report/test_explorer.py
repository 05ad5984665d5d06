"""The page of a result: what it says, what it holds, and what it refuses; test_explorer_in_browser opens it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import evenhand
from evenhand.cli import main
from evenhand.data.fields import LeftOutContextWarning
from evenhand.errors import InvalidInputError
from evenhand.labels.people import Label, Labels
from evenhand.report.explorer import _as_labelled, _in_place
from evenhand.report.packed import _pieces, pack
from tests.golden import runs


@pytest.fixture(scope="module")
def direct():
    with pytest.warns(LeftOutContextWarning):
        return runs.direct()


def test_the_command_writes_one_file_and_refuses_what_other_verbs_refuse(direct, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    direct.save("run.parquet")
    direct.rescore(on_position_bias="first").save("other.jsonl")
    assert main(["report", "run.parquet", "other.jsonl", "--out", "report.html"]) == 0
    assert "report written to report.html" in capsys.readouterr().out
    text = Path("report.html").read_text(encoding="utf-8")
    assert "What changed between the runs" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.jsonl", "report.html", "run.parquet"]
    Path("runs").mkdir()
    direct.save("runs/run.parquet")
    assert main(["report", "runs/run.parquet"]) == 0
    assert "report written to runs/report.html" in capsys.readouterr().out
    assert Path("runs/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for out, told in (("report.pdf", "Accepted: '.html'"), ("run.parquet", "same file"), ("no/report.html", "folder")):
        assert main(["report", "run.parquet", "--out", out]) == 2
        assert told in capsys.readouterr().err
    runs.aggregated_votes().save("votes.jsonl")
    assert main(["report", "run.parquet", "votes.jsonl", "--out", "report.html"]) == 2
    assert "cannot be compared with those that hold aggregated votes" in capsys.readouterr().err
    label = {"instance": 0, "system": "alder", "criterion": "relevance", "label": "Off topic"}
    Path("gold.jsonl").write_text(json.dumps(label), encoding="utf-8")
    assert main(["report", "run.parquet", "--gold", "gold.jsonl", "--out", "report.html"]) == 2
    assert "design is not given" in capsys.readouterr().err
    assert Path("report.html").read_text(encoding="utf-8") == text


def test_without_a_path_the_tables_stay_as_they_were(direct):
    assert "<!doctype" not in direct.to_html()
    assert direct.to_html().count("<table>") == len(direct.text_tables())
    with pytest.raises(InvalidInputError, match="None is no path"):
        direct.to_html(title="x")
    with pytest.raises(InvalidInputError, match="names is 'one'"):
        direct.to_html("page.html", other=direct, names="one")
    with pytest.raises(InvalidInputError, match="leave_out names 'prompt'"):
        direct.to_html("page.html", leave_out=["prompt"])


def test_it_is_said_of_what_bounds_are_where_they_lead(direct, tmp_path):
    said = "a row is affected if any vote on it is unscored"
    faulty = runs.judge_of(refusal_rate=0.4)
    unscored = evenhand.judge(
        runs.rows(8), runs.RELEVANCE, faulty, response_field="alder", max_failure_rate=1.0, **runs.QUIET
    )
    assert any(finding.bounds is not None for finding in unscored.findings())
    for judged, shown in ((direct, False), (unscored, True)):
        judged.to_html(tmp_path / "page.html")
        assert (said in (tmp_path / "page.html").read_text(encoding="utf-8")) == shown


def test_labels_correct_the_scores_where_it_is_said_how_they_were_chosen(direct, tmp_path):
    direct.filter(criterion="relevance").to_html(tmp_path / "corrected.html", design="random")
    text = (tmp_path / "corrected.html").read_text(encoding="utf-8")
    assert "What people would say, by their labels and simulated" in text
    assert "are not corrected by them" not in text
    direct.to_html(tmp_path / "plain.html")
    assert "are not corrected by them" in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_verdicts_are_laid_beside_labels_that_are_given(direct):
    names = ["0/alder/relevance", "1/alder/relevance", "2/alder/relevance"]
    views = {view.name: view for view in direct.verdict_views()}
    said = [views[names[0]].selected, "Off topic", "Off topic", views[names[2]].selected]
    of = [names[0], names[1], names[2], names[2]]
    labels = [Label((int(name[0]), "alder", "relevance"), str(value)) for name, value in zip(of, said, strict=True)]
    found = {view.name: view for view in _as_labelled(views.values(), Labels(tuple(labels)))}
    assert [found[name].wrong for name in names] == [False, True, False]
    assert found[names[2]].gold == f"Off topic / {views[names[2]].selected}"
    assert found["3/alder/relevance"].gold is None


def test_both_of_two_runs_are_laid_beside_labels_that_are_given(direct, tmp_path):
    one = direct.filter(system="alder", criterion="relevance")
    gold = [{"instance": row, "system": "alder", "criterion": "relevance", "label": "Off topic"} for row in range(3)]
    other = one.rescore(on_position_bias="first")
    one.to_html(tmp_path / "page.html", other=other, gold=gold, design="random")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    index = json.loads(text.partition('id="index">')[2].partition("</script>")[0])
    for run in index["runs"]:
        told = [index["lists"]["labels"][label] for label in run[6] if label >= 0]
        assert told[:3] == ["Off topic"] * 3


def test_prompts_are_held_in_pieces_that_make_the_whole_again(direct):
    views = list(direct.verdict_views())
    packed = pack([views])
    for number, name in enumerate(packed.index["names"]):
        view = next(each for each in views if each.name == name)
        part = packed.parts[packed.index["part"][number]]
        for vote, own in zip(view.votes, part["verdicts"][number][-1][0], strict=True):
            sent = {
                packed.index["lists"]["stages"][stage]: [
                    "".join(part["texts"][piece] for piece in part["messages"][message][1]) for message in messages
                ]
                for stage, *messages in own[16]
            }
            assert sent == {stage: [content for _, content in told] for stage, told in vote.prompts.items()}
    assert "".join(_pieces("<a-12345678>\nx</a-12345678>\n")) == "<a-12345678>\nx</a-12345678>\n"
    left = pack([views], leave_out=["prompts"])
    assert not any(own[16] for part in left.parts for each in part["verdicts"].values() for own in each[-1][0])


def test_the_page_allows_nothing_but_its_own_style_and_script(direct, tmp_path):
    direct.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "img-src data:;" in policy[1]
    assert "unsafe" not in policy[1]
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert [type(json.loads(each)) for each in data] == [dict] * len(data)
    page = text
    for each in data:
        page = page.replace(each, "")
    assert not re.search(r"(src|href)=\"(?!#|data:image/svg\+xml;base64,)|@import|url\((?!#)|style=", page)
    script = page[page.rindex("<script>") :]
    assert len(script) <= 30_000


def test_equal_results_give_equal_pages(direct, tmp_path):
    direct.save(tmp_path / "run.parquet")
    for name, result in (("one", direct), ("two", evenhand.open(tmp_path / "run.parquet"))):
        result.to_html(tmp_path / f"{name}.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_two_runs_meet_by_the_ids_of_their_rows_and_show_both_responses():
    rows = [{"id": f"p-{place}", "alder": f"{row['alder']} ({place})"} for place, row in enumerate(runs.rows(4))]
    changed = [{**row, "alder": row["alder"].upper()} if row["id"] == "p-1" else row for row in reversed(rows)]
    how = {"response_field": "alder", "id_field": "id", "context_fields": {}, **runs.QUIET}
    one, other = (evenhand.judge(data, runs.RELEVANCE, runs.judge_of(), **how) for data in (rows, changed))
    packed = pack([one.verdict_views(), _in_place(one, other, None)])
    assert packed.index["names"] == [f"{place}/alder/relevance" for place in range(4)]
    (part,) = packed.parts
    responses = [[(part["texts"][text], run) for _, text, run in part["verdicts"][place][2]] for place in range(4)]
    twice = pack([[view, view] for view in list(one.verdict_views())[:1]])
    assert twice.index["names"] == ["0/alder/relevance", "0/alder/relevance (2)"]
    told = rows[1]["alder"]
    assert responses == [[(row["alder"], -1)] if row["id"] != "p-1" else [(told, 0), (told.upper(), 1)] for row in rows]

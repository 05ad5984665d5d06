"""The page of a result: what it says, what it holds, and what it refuses; test_page_in_browser opens it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from pathlib import Path

import pytest

import evenhand
from evenhand import demo
from evenhand.cli import main
from evenhand.data.fields import LeftOutContextWarning
from evenhand.errors import InvalidInputError
from tests.golden import runs

BASELINE = "engines.evenhand.baseline"


@pytest.fixture(scope="module")
def direct():
    with pytest.warns(LeftOutContextWarning):
        return runs.direct()


def test_the_command_writes_one_file_and_refuses_what_other_verbs_refuse(direct, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    direct.save("run.parquet")
    direct.rescore(on_position_bias="first").save("other.parquet")
    assert main(["report", "run.parquet", "other.parquet", "--out", "report.html"]) == 0
    assert "report written to report.html" in capsys.readouterr().out
    text = Path("report.html").read_text(encoding="utf-8")
    assert "What changed between the runs" in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.parquet", "report.html", "run.parquet"]
    for out, refusal in (("report.pdf", "Accepted: '.html'"), ("run.parquet", "same file")):
        assert main(["report", "run.parquet", "--out", out]) == 2
        assert refusal in capsys.readouterr().err
    runs.aggregated_votes().save("votes.parquet")
    assert main(["report", "run.parquet", "votes.parquet", "--out", "report.html"]) == 2
    assert "cannot be compared with those that hold aggregated votes" in capsys.readouterr().err
    assert Path("report.html").read_text(encoding="utf-8") == text


def page_of(results, tmp_path, **how):
    results.to_html(tmp_path / "page.html", **how)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def answers_of(text):
    return re.findall(r"<p>(.*?)</p>", text.partition('class="answers"')[2].partition("</div>")[0])


def test_a_page_needs_a_path(direct):
    with pytest.raises(InvalidInputError, match="None is not the path"):
        direct.to_html(title="x")


def judged(rows, systems=("alder", "birch"), **faults):
    how = {"response_fields": list(systems), "max_failure_rate": 1.0, **runs.QUIET}
    return evenhand.judge(runs.rows(rows), runs.RELEVANCE, runs.judge_of(**faults), **how)


def baseline():
    return evenhand.judge(demo.load_rows(), runs.RELEVANCE, BASELINE, response_fields=["alder", "birch"], **runs.QUIET)


@pytest.mark.parametrize(
    ("make", "beginning"),
    [
        (baseline, "birch leads on relevance over alder by 0.68 [0.57, 0.76], p < 0.001."),
        (lambda: judged(3), "No difference was found in relevance between "),
        (lambda: judged(8, refusal_rate=0.4), "Too many votes are unscored to say whether there is a difference in "),
        (lambda: judged(8, ["alder"], refusal_rate=0.4), "Too many votes are unscored to give more than bounds of "),
        (lambda: judged(8, ["alder"]), "relevance: "),
    ],
    ids=["a leader", "no difference", "unscored", "one system unscored", "one system"],
)
def test_the_first_sentence_says_what_was_found(tmp_path, make, beginning):
    text = page_of(make(), tmp_path)
    (sentence,) = answers_of(text)
    assert html.unescape(sentence).startswith(beginning)
    bounds = "a row is affected if any vote on it is unscored" in text
    assert bounds == ("Too many" in beginning)
    notes = text.partition('class="facts warn"')[2].partition("</dl>")[0]
    assert text.index('id="headlines"') < text.index('class="notes"') < text.index('id="pictures"')
    assert 0 < notes.count("<dt>") <= 5


def test_the_demo_shows_its_three_parts_on_one_page_with_rows_by_their_ids(tmp_path, capsys):
    out = tmp_path / "demo.html"
    assert main(["demo", "--out", str(out), "--no-progress"]) == 0
    text = out.read_text(encoding="utf-8")
    packed = re.search(r'id="data" data-packed>(.*?)</script>', text)[1]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    rows = dict.fromkeys(data["texts"][verdict["runs"][0]["row"]] for verdict in data["verdicts"])
    assert list(rows) == [row["id"] for row in demo.load_rows()]
    assert len(data["verdicts"]) == 48 * (3 * 2 + 3 + 3 * 8)
    for score in ("relevance", "correctness", "winrate", "demo"):
        assert re.search(rf">{score}</h3>\s*<ul.*?>birch<.*?>cedar<.*?>alder<", text, re.DOTALL)  # the best first
    assert len(answers_of(text)) == 4
    for title in ("Scores on relevance, correctness", "Winrates", "Pass rate of each item"):
        assert f"<figcaption>{title}</figcaption>" in text


def test_labels_correct_the_scores_where_it_is_said_how_they_were_chosen(direct, tmp_path):
    direct.filter(criterion="relevance").to_html(tmp_path / "corrected.html", design="random")
    text = (tmp_path / "corrected.html").read_text(encoding="utf-8")
    assert "What people would say, by their labels and simulated" in text
    assert "are not corrected by them" not in text
    direct.to_html(tmp_path / "plain.html")
    assert "are not corrected by them" in (tmp_path / "plain.html").read_text(encoding="utf-8")


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

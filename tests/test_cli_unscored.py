"""The command line over files and HTTP: bounds lead where much is unscored."""

import re

import pytest

import evenhand
from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from tests.support.rows import write_rows
from tests.support.server import JudgeServer, conversation

# "late" holds on rows 0 to 17, "early" on rows 0 to 5
ROWS = [
    {"question": f"question {n}", "late": "fine" if n < 18 else "bad", "early": "fine" if n < 6 else "bad"}
    for n in range(20)
]
REFUSAL = "I cannot assist with that request."


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # each row in one line
    data, criterion, out = tmp_path / "rows.jsonl", tmp_path / "criterion.json", tmp_path / "out.parquet"
    write_rows(data, ROWS)
    criterion.write_text(yes_no_criterion("holds", "Does it hold?").model_dump_json(), encoding="utf-8")
    return str(data), str(criterion), str(out)


def run(verb, files, arguments, reply, code=0):
    data, criterion, out = files
    criteria = ["--criteria", "criteria.evenhand.pairwise.overall_quality" if verb == "winrates" else criterion]
    with JudgeServer(reply=lambda body: reply(conversation(body))) as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        given = ["--engine", engine, "--no-progress", "--max-reasks", "0", "--out", out]
        assert main([verb, data, *criteria, *given, *arguments]) == code


def printed(capsys):
    """Every line without the spaces that only align."""
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def shown(text):
    """The two responses of a comparison, in the order shown."""
    return re.findall(r"\b(fine|bad)\b", text)[:2]


def test_judge_leads_with_the_bounds_of_what_is_refused(files, capsys):
    run(
        "judge", files, ["--response-fields", "late", "early"], lambda text: REFUSAL if "bad" in text else "Yes", code=3
    )
    lines = printed(capsys)
    (late,) = [line for line in lines if line.startswith("late holds")]
    (early,) = [line for line in lines if line.startswith("early holds")]
    # all that was read is 1: 18 of 20, and 6 of 20, are known
    assert late.startswith("late holds 0.90–1.00 [")
    assert "], 10 % of rows affected" in late
    assert early.startswith("early holds 0.30–1.00 [")
    assert "], 70 % of rows affected" in early
    assert "Bounds lead for late, holds; early, holds" in " ".join(lines)
    # equal on the 6 rows on which both were read; of all 20, late is 18 to 20 and early 6 to 20
    (pair,) = [line for line in lines if line.startswith("late – early")]
    assert pair.startswith("late – early 0.00 [")
    assert pair.endswith("12 -0.10 to 0.70")


def test_compare_leads_with_the_bounds_of_what_is_refused(files, capsys):
    def reply(text):
        first, second = shown(text)
        return REFUSAL if (first, second) == ("bad", "bad") else "Response A" if first == "fine" else "Response B"

    run("winrates", files, ["--response-fields", "late", "early"], reply)
    lines = printed(capsys)
    # rows 0 to 5: the first place in either order, a tie; 6 to 17: late; 18 and 19 unscored: 15 of 18, 15 to 17 of 20
    (late,) = [line for line in lines if line.startswith("late 0.")][:1]
    assert late.startswith("late 0.75–0.85 [")
    text = " ".join(lines)
    assert "Bounds lead for late; early" in text
    assert "rest on the scored votes, and would change with the rest." in text
    table = evenhand.open(files[2])
    assert table.winrate("late").estimate == pytest.approx(15 / 18)
    assert table.text_tables()[0].rows[0][1].endswith("], 10 % of contests affected")
    assert table.text_tables()[2].rows[0][:2] == ("late – early", "18")
    assert table.text_tables()[2].rows[0][2].startswith("0.75–0.85 [")

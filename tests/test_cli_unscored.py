"""The command line over files and HTTP: bounds lead where much is unscored."""

from evenhand.cli import main
from evenhand.criteria import yes_no_criterion
from tests.support.rows import write_rows
from tests.support.server import JudgeServer, conversation

# "late" holds on rows 0 to 17, "early" on rows 0 to 5
ROWS = [{"late": "fine" if n < 18 else "bad", "early": "fine" if n < 6 else "bad"} for n in range(20)]
REFUSAL = "I cannot assist with that request."


def test_judge_leads_with_the_bounds_of_what_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")  # each row in one line
    data, criterion = write_rows(tmp_path / "rows.jsonl", ROWS), tmp_path / "criterion.json"
    criterion.write_text(yes_no_criterion("holds", "Does it hold?").model_dump_json(), encoding="utf-8")
    with JudgeServer(reply=lambda body: REFUSAL if "bad" in conversation(body) else "Yes") as server:
        engine = f"engines.evenhand.openai_compatible[base_url={server.base_url},model=judge]"
        how = ["--response-fields", "late", "early", "--no-progress", "--max-reasks", "0"]
        assert main(["judge", str(data), "--criteria", str(criterion), "--engine", engine, *how]) == 3
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    (late,) = [line for line in lines if line.startswith("late holds")]
    (early,) = [line for line in lines if line.startswith("early holds")]
    # all scored verdicts are 1: 18 of 20, and 6 of 20, are known
    assert late.startswith("late holds 0.90–1.00 [")
    assert "], 10 % of rows affected" in late
    assert early.startswith("early holds 0.30–1.00 [")
    assert "], 70 % of rows affected" in early
    assert "Bounds lead for late, holds; early, holds" in " ".join(lines)
    # equal on the 6 rows on which both are scored; of all 20, late is 18 to 20 and early 6 to 20
    (pair,) = [line for line in lines if line.startswith("late – early")]
    assert pair.startswith("late – early 0.00 [")
    assert pair.endswith("12 -0.10 to 0.70")

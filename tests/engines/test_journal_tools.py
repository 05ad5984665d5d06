"""A journal that is looked after: damage is found, and what is old may go."""

import json
import os
import re
import shutil
import subprocess
import time

import pytest

from evenhand.cli import main
from evenhand.engines.journal import Journal, Row, canonical_json, export_lines, import_lines, prune, request_key
from evenhand.errors import JournalError

IDENTITY = canonical_json({"endpoint": "http://localhost/v1", "sampling": {"model": "m"}})
SHARED = "the text that all of them begin with " * 20
ROWS = 120


def row_of(number, recorded_at=None):
    """One of three overflows its page, as long prompts do."""
    text = f"{SHARED}{number} " + f"{number} " * (2500 if number % 3 == 0 else 5)
    messages = [{"content": text, "role": "user"}]
    request = canonical_json({"logprobs": 0, "messages": messages, "response_schema": None, "sample": 0})
    reply = json.dumps({"text": f"reply {number}", "cost": 0.5, "prompt_tokens": 10, "completion_tokens": 2})
    return Row(request_key(IDENTITY, request), IDENTITY, request, reply, recorded_at or 1.7e9 + number)


@pytest.fixture
def path(tmp_path):
    with Journal(tmp_path / "journal.sqlite3") as journal:
        journal.exchange([row_of(number) for number in range(ROWS)])
    return tmp_path / "journal.sqlite3"


def kept(path):
    with Journal(path) as journal:
        return {number for number in range(ROWS) if journal.get(row_of(number).key) is not None}


def damage(path, start, content):
    data = bytearray(path.read_bytes())
    data[start : start + len(content)] = content
    path.write_bytes(data)


def can_recover():
    """Some systems build SQLite's command line without what .recover needs."""
    asked = ["sqlite3", ":memory:", "SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')"]
    return shutil.which("sqlite3") is not None and subprocess.check_output(asked, text=True).strip() == "1"


def test_what_the_message_of_a_damaged_journal_names_saves_its_replies(path, capsys):
    damage(path, path.stat().st_size // 2 // 4096 * 4096, b"\x5a" * 4096)
    with pytest.raises(JournalError) as caught, Journal(path) as journal:
        [journal.get(row_of(number).key) for number in range(ROWS)]
    assert main(["journal", "check", "--journal", str(path)]) == 1
    command = re.search(r"'(sqlite3 .* \| sqlite3 NEW.sqlite3)'", str(caught.value))[1]
    assert command in capsys.readouterr().err
    if not can_recover():
        pytest.skip("needs the command line of SQLite with .recover")
    subprocess.run(command, shell=True, check=True, cwd=path.parent)
    assert len(kept(path.with_name("NEW.sqlite3"))) >= ROWS * 0.9


def test_prune_removes_the_oldest_and_gives_room_back(path, capsys):
    with Journal(path) as journal:
        journal.exchange([row_of(number, time.time()) for number in range(ROWS, ROWS + 5)])
        before = path.stat().st_size
        assert prune(path, older_than=86400) == (ROWS, 5)
        assert journal.count() == 5  # another that has it open goes on
        journal.exchange([row_of(999, time.time())])
    assert path.stat().st_size < before / 4
    assert main(["journal", "prune", "--journal", str(path), "--older-than", "1d"]) == 0
    assert "0 replies removed, 6 replies left" in capsys.readouterr().out


def test_what_is_exported_is_imported_again(path, tmp_path, capsys):
    [first] = json.loads(row_of(7).request)["messages"]
    request = canonical_json({"messages": [first, {"content": "Which option?", "role": "user"}]})
    with Journal(path) as journal:
        journal.exchange([row_of(ROWS)._replace(key=request_key(IDENTITY, request), request=request)])
    lines = "".join(export_lines(path))
    other = tmp_path / "other.sqlite3"
    assert import_lines(other, lines.splitlines()) == (ROWS + 1, [])
    assert import_lines(other, lines.splitlines()) == (0, [])
    assert "".join(export_lines(other)) == lines
    spoilt = lines.replace("reply 8", "reply eight", 1).replace(row_of(9).key, "0" * 64)
    new, faults = import_lines(tmp_path / "third.sqlite3", spoilt.splitlines())
    assert (new, len(faults)) == (ROWS, 1)  # a reply may be changed; a key is that of what was asked


def test_the_verbs_on_a_journal(path, tmp_path, capsys):
    out = tmp_path / "journal.jsonl"
    assert main(["journal", "check", "--journal", str(path)]) == 0
    assert f"{path} is sound" in capsys.readouterr().out
    assert main(["journal", "export", "--journal", str(path), "--out", str(out)]) == 0
    assert main(["journal", "import", str(out), "--journal", str(tmp_path / "new.sqlite3")]) == 0
    assert f"{ROWS} new replies" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check"], "there is no journal"),
        (["prune"], "parameter --older-than requires"),
        (["prune", "--older-than", "soon"], "Invalid value for --older-than"),
        (["check", "--older-than", "5d"], "Unknown option: --older-than"),
        (["import"], "parameter FILE requires"),
        (["import", "nowhere.jsonl"], "cannot be read"),
        (["import", "~nobody-at-all/lines.jsonl"], "cannot be read"),
        (["import", "queue"], "it is no regular file"),
        (["import", "."], "it is a folder"),
    ],
)
def test_bad_input_is_one_message(arguments, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "queue" in arguments:
        if not hasattr(os, "mkfifo"):
            pytest.skip("Windows has no named pipes")
        os.mkfifo("queue")
    assert main(["journal", *arguments, "--journal", str(tmp_path / "journal.sqlite3")]) == 2
    assert told in capsys.readouterr().err

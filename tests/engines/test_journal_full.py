"""A journal that cannot be written: launching stops, and the error carries the votes; and who may read its file."""

import os
import sys

import pytest

from evenhand.engines import journal as journal_file
from evenhand.engines.journal import Journal
from evenhand.errors import JournalError
from evenhand.functions import judge
from tests.support.judges import http_judge
from tests.support.questions import LEVELS
from tests.support.server import JudgeServer

ROWS = [{"response": f"answer {number} " * 30} for number in range(40)]
CALLS = len(ROWS) * 2 * 2
IN_FLIGHT = 8
UNRECORDED = 10
"""Replies at most that are on their way, or read and not yet written: a quarter more than may be in flight."""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk" / "journal.sqlite3"


def assess(server, path):
    return judge(ROWS, LEVELS, http_judge(server.base_url, max_in_flight=IN_FLIGHT), journal=str(path), progress=False)


def recorded(path):
    with Journal(path) as journal:
        return journal.count()


def test_on_a_full_disk_no_more_calls_are_made_and_the_error_carries_the_votes(path, tmp_path, monkeypatch):
    connect = journal_file.connect

    def limited(path):
        connection = connect(path)
        connection.execute("PRAGMA max_page_count = 30")
        return connection

    with JudgeServer(labels=LEVELS.labels, latency=0.02) as server:
        with monkeypatch.context() as patch:
            patch.setattr("evenhand.engines.journal.connect", limited)
            with pytest.raises(JournalError, match=r"room.*a second run asks only") as caught:
                assess(server, path)
        paid = server.finished
        assert 0 < paid < CALLS
        assert paid - recorded(path) <= UNRECORDED
        assert any(vote.selected_label for votes in caught.value.votes for vote in votes)
        assess(server, path)
        assert server.seen <= CALLS + UNRECORDED
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert [folder.name for folder in tmp_path.iterdir()] == ["disk"]


HELD = """{"evenhand": "journal", "layout": 1}
{"engine": 1, "identity": {"name": "x"}}
"""


def test_no_file_beside_the_journal_or_in_the_working_directory_is_read(path, tmp_path):
    """Replies were taken in from a file in the working directory, named by a hash of the journal's path."""
    planted = [folder / name for folder in (tmp_path, path.parent) for name in NAMES]
    for file in planted:
        file.write_text(HELD)
    before = {file: file.stat().st_mtime_ns for file in planted}
    opened = []
    sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
    with Journal(path) as journal, JudgeServer(labels=LEVELS.labels) as server:
        assert journal.count() == 0
        assess(server, path)
        assert server.seen == CALLS
    assert {file: file.stat().st_mtime_ns for file in planted} == before
    assert not {str(file) for file in planted} & set(opened)


NAMES = ("evenhand-held-0123456789ab-1.jsonl", "journal.sqlite3-intake-1-abcdef01", "journal.sqlite3-reserve")


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_journal_is_for_its_user_alone(tmp_path):
    before = os.umask(0o022)
    try:
        folder = tmp_path / "made" / "here"
        with Journal(folder / "journal.sqlite3") as journal:
            journal.exchange()
            assert folder.stat().st_mode & 0o777 == 0o700
            modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
        assert len(modes) == 3
        assert set(modes.values()) == {0o600}
    finally:
        os.umask(before)

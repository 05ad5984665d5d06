"""What becomes of replies that the journal cannot take: none is lost, and none is bought again."""

import os
import sqlite3
import sys

import pytest

from evenhand.criteria import Criterion, Option
from evenhand.engines import holding, journal_file, journal_lines
from evenhand.engines.intake import Intake, left_behind
from evenhand.engines.journal import Journal
from evenhand.engines.journal_lines import Row, hold_elsewhere, request_key
from evenhand.errors import JournalError
from evenhand.results.saved import written_whole
from evenhand.tables import judge
from tests.support.judges import http_judge
from tests.support.processes import Running
from tests.support.server import JudgeServer

LEVELS = Criterion(
    name="level", description="How good?", options=(Option(label="High", value=1.0), Option(label="Low", value=0.0))
)
ROWS = [{"response": f"answer {number} " * 30} for number in range(40)]
CALLS = len(ROWS) * 2 * 2


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """The other places are this test's own, and nobody waits for long."""
    monkeypatch.setenv("EVENHAND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(holding, "ROOM_PATIENCE_SECONDS", 0.6)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "disk").mkdir()
    return tmp_path / "disk" / "journal.sqlite3"


def assess(server, path):
    return judge(ROWS, LEVELS, http_judge(server.base_url, max_in_flight=8), journal=str(path), progress=False)


def full_disk(monkeypatch, pages, until_given_up=True):
    """A journal that may have so many pages, and no more than that until the room that was kept is given up."""
    connect = journal_file.connect
    opened = []

    def limited(path):
        connection = connect(path)
        connection.execute(f"PRAGMA max_page_count = {pages}")
        opened.append(connection)
        return connection

    def give_up(path):
        if until_given_up:
            for connection in opened:
                connection.execute("PRAGMA max_page_count = 100000")

    monkeypatch.setattr("evenhand.engines.journal.connect", limited)
    monkeypatch.setattr("evenhand.engines.journal.give_up_reserve", give_up)


def row_of(number):
    request = journal_lines.canonical_json({"messages": [{"content": f"{number} " * 200, "role": "user"}]})
    return Row(request_key('{"name":"x"}', request), '{"name":"x"}', request, '{"text":"Good"}', 1700000000.25)


def test_on_a_full_disk_every_reply_that_was_paid_is_kept(path, monkeypatch):
    """Seen: of 81 replies paid, 18 were kept."""
    with JudgeServer(labels=LEVELS.labels, latency=0.02) as server:
        with monkeypatch.context() as patch:
            full_disk(patch, 30)
            patch.setattr("evenhand.engines.journal.reserve", lambda path, size=None: 0)
            with pytest.raises(JournalError, match=r"free at least .*iB") as caught:
                assess(server, path)
        paid = server.finished
        assert 0 < paid < CALLS
        with Journal(path) as journal:
            assert journal.count() == paid
        cast = [vote for votes in caught.value.votes for vote in votes if vote.selected_label]
        assert cast
        assess(server, path)
        assert server.seen == CALLS


def test_where_room_comes_back_the_run_goes_on(path, monkeypatch):
    full_disk(monkeypatch, 30)
    with JudgeServer(labels=LEVELS.labels) as server:
        table = assess(server, path)
        assert server.seen == CALLS
    assert all(vote.selected_label for judgement in table.judgements for vote in judgement.verdict.votes)


def test_what_the_journal_cannot_take_to_the_end_lies_elsewhere_until_the_next_run(path, monkeypatch):
    with JudgeServer(labels=LEVELS.labels, latency=0.02) as server:
        with monkeypatch.context() as patch:
            full_disk(patch, 30, until_given_up=False)
            with pytest.raises(JournalError, match="evenhand-held") as caught:
                assess(server, path)
        paid = server.finished
        assert "the next run with this journal takes them in" in str(caught.value)
        assert list(path.parent.glob("evenhand-held-*"))
        assess(server, path)
        assert server.seen == CALLS
    assert 0 < paid < CALLS
    assert not list(path.parent.glob("evenhand-held-*"))
    assert [file.name for file in path.parent.iterdir()] == [path.name]


LIMITED = """
import resource, sys
from tests.engines.test_holding import LEVELS, ROWS
from evenhand.errors import JournalError
from evenhand.tables import judge
from tests.support.judges import http_judge
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    judge(ROWS, LEVELS, http_judge(sys.argv[1], max_in_flight=8), journal=sys.argv[2], progress=False)
except JournalError as error:
    assert "ulimit" in str(error), error
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("limit", [90_000, 200_000])
def test_under_a_file_size_limit_every_reply_is_kept(path, tmp_path, limit):
    """Seen: none."""
    with JudgeServer(labels=LEVELS.labels, latency=0.02) as server:
        run = Running(LIMITED, server.base_url, path, limit, output=tmp_path / "told.txt")
        assert run.wait() == 7, run.told
        assert 0 < server.finished < CALLS
        assess(server, path)
        assert server.seen == CALLS


def test_replies_held_elsewhere_are_split_where_there_is_little_room_and_come_back_whole(path, monkeypatch):
    rows = [row_of(number) for number in range(30)]
    write, room = journal_lines._write_new, iter([7, 0, 12, 30])
    monkeypatch.setattr(journal_lines, "_write_new", lambda place, rows: write(place, rows[: next(room)]))
    files, left = hold_elsewhere(path, rows)
    assert (len(files), left) == (3, [])
    assert all(os.name != "posix" or file.stat().st_mode & 0o777 == 0o600 for file in files)
    with Journal(path) as journal:
        assert journal.count() == 30
        assert journal.get(rows[3].key).text == "Good"
    assert not any(file.exists() for file in files)


@pytest.mark.parametrize("cut", [0, 1, 100])
def test_what_a_killed_process_had_read_is_taken_in(path, monkeypatch, cut):
    intake = Intake(path)
    for number in range(3):
        intake.add(row_of(number))
    file = intake._path
    assert list(left_behind(path)) == []  # its process lives
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - cut])
    monkeypatch.setattr("evenhand.engines.intake.is_running", lambda process, here: False)
    with Journal(path) as journal:
        assert journal.count() == (2 if cut else 3)
        assert journal.get(row_of(1).key).text == "Good"
    assert not file.exists()
    intake.close(keep=True)


@pytest.mark.parametrize("name", ["run[1].sqlite3", "what?.sqlite3", "*.sqlite3"])
def test_what_a_killed_process_had_read_is_found_whatever_the_journal_is_called(name, tmp_path, monkeypatch):
    intake, other = Intake(tmp_path / name), Intake(tmp_path / "run1.sqlite3")
    intake.add(row_of(1))
    other.add(row_of(2))
    monkeypatch.setattr("evenhand.engines.intake.is_running", lambda process, here: False)
    with Journal(tmp_path / name) as journal:
        assert [journal.get(row_of(number).key) is not None for number in (1, 2)] == [True, False]
    for each in (intake, other):
        each.close(keep=False)


def test_what_is_written_over_is_not_read_as_new(path, monkeypatch):
    intake = Intake(path)
    for number in range(5):
        intake.add(row_of(number))
    intake.empty()
    intake.add(row_of(7)._replace(completion='{"text":"a longer one"}'))
    monkeypatch.setattr("evenhand.engines.intake.is_running", lambda process, here: False)
    [(_, rows)] = left_behind(path)
    assert rows == [row_of(7)._replace(completion='{"text":"a longer one"}')]
    intake.close(keep=False)


def test_room_is_kept_while_a_run_lasts_and_freed_after_it(path):
    with Journal(path) as journal:
        kept = journal.reserve()
        assert kept == path.with_name(path.name + "-reserve").stat().st_size > 0
        journal.claim(["a"])
        with Journal(path) as other:
            other.claim(["b"])
        assert path.with_name(path.name + "-reserve").exists()  # the first is still at work
    assert not path.with_name(path.name + "-reserve").exists()


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_journal_is_for_its_user_alone(tmp_path, monkeypatch):
    before = os.umask(0o022)
    try:
        folder = tmp_path / "made" / "here"
        with Journal(folder / "journal.sqlite3") as journal:
            journal.reserve()
            journal.put([])
            assert folder.stat().st_mode & 0o777 == 0o700
            modes = {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}
        assert len(modes) == 4
        assert set(modes.values()) == {0o600}
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_what_exists_is_tightened_but_no_folder_of_the_user(tmp_path, monkeypatch):
    cache, mine = tmp_path / "cache", tmp_path / "mine"
    for folder in (cache, mine):
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)
        sqlite3.connect(folder / "journal.sqlite3").close()
        (folder / "journal.sqlite3").chmod(0o644)
    Journal().close()
    Journal(mine / "journal.sqlite3").close()
    assert [folder.stat().st_mode & 0o777 for folder in (cache, mine)] == [0o700, 0o755]
    assert all((folder / "journal.sqlite3").stat().st_mode & 0o777 == 0o600 for folder in (cache, mine))


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_what_is_saved_under_the_cache_is_for_its_user_alone(tmp_path):
    for name, mode in (("cache", 0o600), ("mine", 0o644)):
        (tmp_path / name).mkdir()
        before = os.umask(0o022)
        try:
            with written_whole(tmp_path / name / "table.jsonl") as beside:
                beside.write_text("{}")
        finally:
            os.umask(before)
        assert (tmp_path / name / "table.jsonl").stat().st_mode & 0o777 == mode

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from evenhand.engines.journal import (
    Journal,
    Row,
    canonical_json,
    check,
    default_journal_path,
    describe_request,
    open_journal,
    request_key,
)
from evenhand.errors import JournalError
from evenhand.votes import Completion, TokenLogprob
from tests.support.asking import request

IDENTITY = canonical_json({"endpoint": "http://localhost/v1", "sampling": {"model": "m"}})
FULL = Completion(
    text="Good – ‘very’ good",
    finish_reason="stop",
    prompt_tokens=3,
    completion_tokens=4,
    cost=0.25,
    model="m",
    logprobs=(TokenLogprob(token="Good", logprob=-0.5, top=(("Good", -0.5), ("Bad", -1.5))),),
)


def key_of(asked, identity=IDENTITY):
    return request_key(identity, describe_request(asked))


def put(journal, asked, completion=FULL, identity=IDENTITY):
    journal.exchange([Row.of(key_of(asked, identity), identity, describe_request(asked), completion)])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "journal.sqlite3"


def test_a_reply_comes_back_whole_and_marked_as_cached(path):
    asked = request("is it good?")
    with Journal(path) as journal:
        assert journal.get(key_of(asked)) is None
        put(journal, asked)
    with Journal(path) as journal:
        assert journal.get(key_of(asked)) == FULL.model_copy(update={"cached": True})


@pytest.mark.parametrize(
    "other",
    [
        request("judge that"),
        request(sample=1),
        request(logprobs=5),
        request(response_schema={"type": "object"}),
    ],
)
def test_the_key_tells_apart_what_a_reply_depends_on(other):
    assert key_of(request()) != key_of(other)


WRITER = """
import sys
from evenhand.engines.journal import Journal, Row, describe_request, request_key
from evenhand.engines.base import Request
from evenhand.votes import Completion

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
journal = Journal(path)
for number in range(count):
    description = describe_request(Request(messages=({"role": "user", "content": f"{name}-{number}"},)))
    journal.exchange([Row.of(request_key("{}", description), "{}", description, Completion(text=str(number)))])
    print(number, flush=True)
"""


def test_processes_share_one_file_from_its_creation_on(path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name, "200"], stdout=subprocess.DEVNULL)
        for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with Journal(path) as journal:
        assert journal.count() == 400


def test_kill_9_loses_no_reply_that_exchange_returned(path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path, "w", "1000000"], stdout=subprocess.PIPE, text=True)
    for _ in range(300):
        writer.stdout.readline()
    os.kill(writer.pid, signal.SIGKILL)
    told = 300 + len([line for line in writer.stdout.read().split("\n") if line])
    writer.stdout.close()
    writer.wait()
    with Journal(path) as journal:
        assert journal.count() >= told
        assert journal.get(key_of(request("w-299"), "{}")).text == "299"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_the_file_anew(path):
    with Journal(path) as journal:
        put(journal, request("parent"))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                put(journal, request("child"), Completion(text="from the child"))
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert journal.get(key_of(request("child"))).text == "from the child"
        put(journal, request("parent again"))
        assert journal.count() == 3


def test_what_is_not_a_database_is_not_touched(path):
    path.parent.mkdir()
    path.write_text("my diary " * 100)
    with pytest.raises(JournalError, match=r"not a database.*sqlite3 .*recover.*move the file.*EVENHAND_CACHE_DIR"):
        Journal(path)
    assert path.read_text() == "my diary " * 100


UNREADABLE = {
    "another form": '{"txt": 1}',
    "a word for a number": '{"text": "Good", "logprobs": [{"token": "Good", "logprob": "low"}]}',
    "cut off": '{"text": "Go',
    "no UTF-8": b'{"text": "\xff"}',
    "another text than its checksum says": FULL.adapter.dump_json(FULL).decode().replace("very", "vary"),
}


@pytest.mark.parametrize("completion", UNREADABLE.values(), ids=UNREADABLE)
def test_a_row_that_cannot_be_read_is_missing_and_the_next_reply_takes_its_place(path, completion, caplog):
    asked, other = request("spoilt"), request("sound")
    with Journal(path) as journal:
        put(journal, asked)
        put(journal, other)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE reply SET completion = CAST(? AS TEXT) WHERE key = ?", (completion, key_of(asked)))
    [fault] = check(path)
    assert key_of(asked) in fault
    with Journal(path) as journal:
        assert [journal.get(key_of(asked)) for _ in range(3)] == [None] * 3
        assert [record.levelname for record in caplog.records if "cannot be read" in record.message] == ["WARNING"]
        put(journal, asked, Completion(text="asked again"))
        put(journal, other, Completion(text="the first reply stays"))
    with Journal(path) as journal:
        assert (journal.get(key_of(asked)).text, journal.get(key_of(other)).text) == ("asked again", FULL.text)
        assert journal.count() == 2
    assert check(path) == []


def test_a_locked_file_is_waited_for_and_then_named(path, monkeypatch):
    Journal(path).close()
    monkeypatch.setattr("evenhand.engines.journal.BUSY_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    with Journal(path) as journal:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(JournalError, match="no other program holds the file"):
            put(journal, request())
        holder.execute("ROLLBACK")
        put(journal, request())
    holder.close()


def test_the_default_place_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_CACHE_DIR", str(tmp_path))
    assert default_journal_path() == tmp_path / "journal.sqlite3"
    with open_journal("default") as journal:
        assert journal.path == tmp_path / "journal.sqlite3"
    with open_journal(tmp_path / "mine.sqlite3") as journal:
        assert journal.path == tmp_path / "mine.sqlite3"
    assert open_journal(None) is None
    monkeypatch.delenv("EVENHAND_CACHE_DIR")
    assert "evenhand" in str(default_journal_path())

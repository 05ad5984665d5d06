"""SIGTERM and SIGHUP end a run as Control-C does: what the server has sent is kept, and nothing is asked for again."""

import json
import re
import signal
import sys
import threading
import time
from collections import Counter

import pytest

from evenhand.engines.journal import Journal
from evenhand.errors import Terminated
from evenhand.interrupts import heeding_termination
from tests.support.processes import Running
from tests.support.server import Fault, JudgeServer, JudgeServerProcess

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that only asks")

ROWS = 60
HEEDED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
IGNORED = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "  # as a shell starts what runs in background
HUNG_UP = "import os, pty; host, terminal = pty.openpty(); os.dup2(terminal, 2); os.close(host); "
SHELL = (
    "import sys; from evenhand.cli import main; data, address, journal, out = sys.argv[1:]; "
    "sys.exit(main(['judge', data, '--criteria', 'Is it fine?', '--engine', address, '--response-fields', 'answer', "
    "'--journal', journal, '--out', out, '--verbose']))"
)
SCRIPT = (
    "import sys; from evenhand.data.rows import read_rows; from evenhand.functions import judge; "
    "data, address, journal, out = sys.argv[1:]; "
    "judge(read_rows(data), 'Is it fine?', address, response_fields='answer', journal=journal).save(out)"
)
NOT_LONG = "from evenhand.judging import loop; loop.GRACE_SECONDS = 0.3; "


@pytest.fixture
def start(tmp_path):
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"answer": f"answer {row}"}) + "\n" for row in range(ROWS)), encoding="utf-8")

    def start(code, server, told="told.txt"):
        address = f"{server.base_url}[model=m,max_in_flight=16]"
        given = (data, address, tmp_path / "journal.sqlite3", tmp_path / "out.parquet")
        return Running(code, *given, output=tmp_path / told)

    return start


@pytest.mark.parametrize(
    ("number", "code", "exit_code"),
    [
        (signal.SIGINT, HEEDED + SHELL, 130),
        (signal.SIGTERM, IGNORED + SHELL, 143),
        (signal.SIGTERM, HEEDED + SCRIPT, 143),
        (signal.SIGHUP, HUNG_UP + SHELL, 129),
    ],
    ids=["SIGINT", "SIGTERM", "SIGTERM-script", "SIGHUP-terminal"],
)
def test_what_is_on_its_way_is_awaited_and_asked_for_once(number, code, exit_code, start, tmp_path):
    with JudgeServerProcess(latency=0.2, labels=["Yes", "No"]) as server:
        running = start(code, server)
        running.wait_until(lambda: server.stats()["seen"] >= 30)
        running.send(number)
        running.send(number)  # timeout sends it twice, and so does a closing terminal
        assert running.wait() == exit_code
        stopped = server.stats()
        with Journal(tmp_path / "journal.sqlite3") as journal:
            assert journal.count() == stopped["finished"] == stopped["seen"] < 4 * ROWS
        assert not (tmp_path / "out.parquet").exists()
        if "pty" not in code:
            assert "no new calls are made" in running.told
            assert f"is in the journal {str(tmp_path / 'journal.sqlite3')!r}: run the same again" in running.told
            assert f"of {2 * ROWS} votes were cast" in running.told
        if code.endswith(SCRIPT):
            assert "Traceback" not in running.told
            assert start(code, server).wait() == 0
            asked = Counter(json.dumps(request["body"]["messages"]) for request in server.requests())
            assert set(asked.values()) == {1}


@pytest.mark.parametrize("second", [signal.SIGHUP, None], ids=["a second one", "grace"])
def test_neither_a_second_signal_nor_a_dead_server_is_waited_for(second, start):
    with JudgeServerProcess(latency=60.0) as server:
        running = start(IGNORED + SHELL if second else IGNORED + NOT_LONG + SHELL, server)
        running.wait_until(lambda: server.stats()["seen"] >= 16)
        running.send(signal.SIGTERM)
        if second:
            running.wait_until(lambda: "no new calls are made" in running.told)
            time.sleep(0.5)  # longer than an echo
            running.send(second)
        assert running.wait(40) == 143
        assert re.search(r"every reply that came but the \d+ that were still on their way is in the", running.told)


@pytest.mark.parametrize(
    "fault",
    [Fault("status", status=429, retry_after=250, on=range(20, 10_000)), Fault("away", seconds=250, on=[20])],
    ids=["asks to wait", "away"],
)
def test_no_wait_for_a_server_outlasts_an_interrupt(fault, start, tmp_path):
    with JudgeServer(labels=["Yes", "No"], faults=[fault]) as server:
        running = start(IGNORED + SHELL, server)
        running.wait_until(lambda: server.seen >= 20 and not server.in_flight)
        time.sleep(0.5)
        running.send(signal.SIGTERM)
        assert running.wait(40) == 143
        answered = sum(seen.status == 200 for seen in server.requests)
    with Journal(tmp_path / "journal.sqlite3") as journal:
        assert journal.count() == answered
    assert "every reply that came is in the journal" in running.told


def test_no_wait_for_another_process_outlasts_an_interrupt(start, tmp_path):
    with JudgeServerProcess(latency=60.0) as server:
        first = start(IGNORED + SHELL, server)
        first.wait_until(lambda: server.stats()["seen"] >= 16)
        second = start(IGNORED + SHELL, server, told="second.txt")
        second.wait_until(lambda: "evenhand.judging.run" in second.told)  # it says that it begins
        time.sleep(0.5)
        second.send(signal.SIGTERM)
        assert second.wait(40) == 143
        assert server.stats()["seen"] == 16  # the second asked for nothing that the first is asking for
        first.kill()


def raise_in_main_thread(number):
    signal.pthread_kill(threading.main_thread().ident, number)


@pytest.mark.usefixtures("default_action")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_handler_is_there_for_a_run_and_no_longer(number):
    with pytest.raises(Terminated) as ended, heeding_termination(), heeding_termination():  # a run in the command
        raise_in_main_thread(number)
    assert ended.value.code == 128 + number
    assert ended.value.signal is number
    assert not isinstance(ended.value, Exception)
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.usefixtures("default_action")
def test_a_handler_of_the_users_and_an_ignored_signal_stay():
    heard = []
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    with heeding_termination():
        raise_in_main_thread(signal.SIGTERM)
        raise_in_main_thread(signal.SIGHUP)
    assert heard == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN

"""What a run says while it runs: a bar in a terminal, a line every ten seconds elsewhere, and nothing that fails it."""

import asyncio
import io
import sys
import threading

import pytest

import evenhand
from evenhand.judging.progress import progress_bar, tell
from evenhand.votes import Usage, Vote
from tests.support.judges import ScriptedJudge


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Gone(io.StringIO):
    def write(self, text):
        raise BrokenPipeError

    flush = isatty = lambda self: self.write("")


def votes(number, *, unscored=0, cost=0.001):
    paid = Usage(calls=1, prompt_tokens=90, completion_tokens=10, cost=cost)
    read = [Vote(judge_id="a", order=(0, 1), selected_index=0, usage=paid)] * (number - unscored)
    return [*read, *[Vote(judge_id="a", order=(0, 1), unscored_reason="empty", usage=paid)] * unscored]


@pytest.fixture
def stderr(monkeypatch):
    def replaced(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return replaced


def test_without_a_terminal_the_last_line_says_all(stderr):
    said, clock = stderr(io.StringIO()), Clock()
    with progress_bar(shown=True, clock=clock) as progress:
        progress.total = 960
        for _ in range(80):
            clock.now += 0.125
            progress.add(votes(2, unscored=1))
    # in 10 seconds 80 times 2 votes; the other 800 take 50 seconds
    assert said.getvalue() == (
        "judging: 160/960 votes (17 %), 16.0 a second, 80 votes unscored, 160 calls, 16,000 tokens, $0.1600, "
        "0:50 left\n"
    )


class Heard(io.StringIO):
    """A screen that lets a judge go on that waits until somebody is told that nothing comes."""

    told = None

    def write(self, text):
        if "nothing has come for" in text:
            self.told.set()
        return super().write(text)


class Stalls(ScriptedJudge):
    """A judge that answers once that was told."""

    async def complete(self, request):
        sys.stderr.told = asyncio.Event()
        await sys.stderr.told.wait()
        return await super().complete(request)


def test_there_are_lines_while_a_server_stalls_and_nothing_stays_behind(stderr, monkeypatch):
    screen = stderr(Heard())
    monkeypatch.setattr("evenhand.judging.progress.SECONDS_BETWEEN_LINES", 0.05)
    before = set(threading.enumerate())
    how = {"response_fields": "a", "flow": "verdict_only", "check_positional_bias": False, "journal": None}
    evenhand.judge([{"a": "Eight."}], "Is it a number?", Stalls(["Yes"]), progress=True, **how)
    first, *_, last = screen.getvalue().splitlines()
    assert first.startswith("judging: 0/1 vote")
    assert "nothing has come for" not in last
    assert set(threading.enumerate()) <= before


def test_a_terminal_has_a_bar_and_messages_stand_above_it(stderr, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    said = stderr(Terminal())
    with progress_bar(shown=True) as progress:
        progress.total = 40
        tell("a word\x1b[2J")
        progress.add(votes(30, unscored=2))
    shown = said.getvalue()
    assert "a word\\x1b[2J" in shown
    assert "30/40 votes (75 %)" in shown
    assert "2 votes unscored, 30 calls, 3,000 tokens, $0.0300" in shown
    assert shown.index("a word") < shown.index("30/40")
    assert sys.stderr is said


@pytest.mark.parametrize("stream", [None, Gone()])
def test_a_terminal_that_is_gone_ends_no_run(stderr, stream):
    stderr(stream)
    with progress_bar(shown=True) as progress:
        progress.total = 4
        tell("a word")
        progress.add(votes(4))
    assert progress.done == 4

"""What is printed comes after what is saved, and a reader who leaves or a disk that is full costs no result."""

import errno
import io
import os
import sys
from pathlib import Path

import pytest

from evenhand.by_name import open as open_results
from evenhand.cli import main
from evenhand.results.vote_columns import RESULT_KINDS, header_of
from evenhand.run_files import JOBS
from tests.support.processes import Running
from tests.support.rows import write_rows

BASELINE = ["--engine", "engines.evenhand.baseline", "--no-progress"]
ROWS = [
    {"document": "How many legs?", "answer": "Eight legs.", "other": "Cheese.", "one": "Yes", "two": "Yes"},
    {"document": "Which capital?", "answer": "Paris.", "other": "No idea.", "one": "No", "two": "Yes"},
]
VERBS = {
    "judge": ["--criteria", "Is it so?", *BASELINE, "--response-fields", "answer"],
    "winrates": ["--criteria", "Which is better?", *BASELINE, "--response-fields", "answer", "other"],
    "checklist": ["--checklist", "checklists.evenhand.summary", *BASELINE, "--response-fields", "answer"],
    "reliability": ["--criteria", "Is it so?", *BASELINE, "--response-fields", "answer"],
    "aggregate-votes": ["--votes", "one", "two"],
    "read-replies": ["--replies", "one", "two", "--criteria", "Is it so?"],
    "agreement": ["--votes", "one", "two"],
}


class Refusing(io.StringIO):
    """A stream without a reader, or to a full disk."""

    def __init__(self, number):
        super().__init__()
        self.error = OSError(number, os.strerror(number))

    def write(self, text):
        raise self.error


@pytest.fixture
def data(tmp_path):
    return write_rows(tmp_path / "rows.jsonl", ROWS)


def test_every_verb_that_saves_is_here():
    assert set(JOBS) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC], ids=["pipe", "disk"])
def test_the_result_is_saved_before_it_is_printed(verb, number, data, monkeypatch, capsys):
    report = verb == "reliability"
    out = data.with_name("out.json" if report else "out.parquet")
    monkeypatch.setattr(sys, "stdout", Refusing(number))
    code = main([verb, str(data), *VERBS[verb], "--out", str(out)])
    said = capsys.readouterr().err
    monkeypatch.undo()
    assert out.exists(), said
    assert report or header_of(out)["evenhand"] in RESULT_KINDS
    assert report or open_results(out)
    assert out.stat().st_size
    if number == errno.EPIPE:
        assert (code, said) == (0, "")
    else:
        assert code == 1
        assert said.splitlines()[-1] == (
            f"evenhand: the output could not be written (No space left on device); the result is in {str(out)!r}"
        )


@pytest.mark.parametrize(
    "arguments", [["catalog", "list"], ["catalog", "show", "criteria.evenhand.direct.relevance"], ["demo"], ["judge"]]
)
def test_what_is_printed_alone_ends_as_programs_in_pipes_do(arguments, data, monkeypatch, capsys):
    given = [*arguments, str(data), *VERBS["judge"]] if arguments == ["judge"] else arguments
    given = [*given, "--no-progress"] if arguments == ["demo"] else given
    monkeypatch.setattr(sys, "stdout", Refusing(errno.EPIPE))
    assert main(given) == 141
    assert "Traceback" not in capsys.readouterr().err


def test_a_result_that_cannot_be_saved_is_shown_at_least(data, monkeypatch, capsys):
    from evenhand.results.results import Results  # noqa: PLC0415 - seconds of import

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "out.parquet")

    monkeypatch.setattr(Results, "save", full)
    assert main(["judge", str(data), *VERBS["judge"], "--out", str(data.with_name("out.parquet"))]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("Direct assessment by baseline")
    assert shown.err.endswith("evenhand: 'out.parquet' cannot be read or written (No space left on device)\n")


CALL = "import os, sys; {}; from evenhand.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a Linux device")
@pytest.mark.parametrize(
    "change",
    [
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1); os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
        "sys.stdout = sys.stderr = sys.stdin = None",  # as Python has it where they are closed
        "sys.stdout.reconfigure(encoding='ascii')",
    ],
    ids=["gone and full", "closed", "ascii"],
)
def test_streams_that_do_not_take_what_is_said(change, data):
    out = data.with_name("out.parquet")
    asked = [each for each in VERBS["judge"] if each != "--no-progress"]
    arguments = ["judge", data, *asked, "--out", out]
    running = Running(CALL.format(change), *arguments, output=data.with_name("told.txt"))
    assert running.wait() == 0, running.told
    assert open_results(out)
    assert "Traceback" not in running.told


def test_a_message_is_one_message_whatever_a_name_holds(data, capsys):
    name = "gone\x1b[2J\nevenhand: 2 verdicts written to out.parquet"
    assert main(["judge", str(data), *VERBS["judge"][:-1], name]) == 2
    assert main(["catalog", "show", f"{data}\x1b]0;x\x07"]) == 2
    assert main(["judge", f"{data}\u202e", *VERBS["judge"]]) == 2
    said = capsys.readouterr().err
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert [line[:9] for line in said.splitlines()] == ["evenhand:"] * 3

"""Saving through a name that somebody else has planted: no link is followed, and nothing is written over."""

import os

import pytest

import evenhand
from evenhand.cli import main
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.engines.journal import Journal
from evenhand.errors import UnwritableFileError
from evenhand.files import written_whole
from evenhand.functions import judge
from tests.support.questions import LEVELS

ROWS = [{"response": f"r{n}"} for n in range(6)]


def result():
    return judge(ROWS, LEVELS, SimulatedEngine(), progress=False, journal=None)


def export(path):
    Journal(path.with_name("journal.sqlite3")).close()
    assert main(["journal", "export", "--journal", str(path.with_name("journal.sqlite3")), "--out", str(path)]) == 1
    raise UnwritableFileError("as the shell said")


WRITERS = {
    "result.parquet": lambda path: result().save(path),
    "result.jsonl": lambda path: result().save(path),
    "page.html": lambda path: result().to_html(path),
    "sheet.html": lambda path: evenhand.to_label(result(), data=ROWS, n=2).save(path),
    "sheet.csv": lambda path: evenhand.to_label(result(), data=ROWS, n=2).save(path),
    "journal.jsonl": export,
}


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.parametrize("name", WRITERS)
def test_a_planted_link_is_not_followed(name, tmp_path, monkeypatch):
    """The name is told here, as it was by the number of the process; it cannot be known."""
    monkeypatch.setattr("evenhand.files.token_hex", lambda size: "known")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for end in ("known", str(os.getpid())):
        (tmp_path / f".{name}.{end}").symlink_to(victim)
    with pytest.raises(UnwritableFileError):
        WRITERS[name](tmp_path / name)
    assert victim.read_text() == "precious"
    assert not (tmp_path / name).exists()


def test_the_name_is_another_each_time_and_nothing_is_left(tmp_path):
    names = []
    for _ in range(3):
        with written_whole(tmp_path / "table.jsonl") as beside:
            names.append(beside.name)
            beside.write_text("{}")
    assert len(set(names)) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["table.jsonl"]

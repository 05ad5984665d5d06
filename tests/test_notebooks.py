"""The notebooks run in a real kernel, and so inside a running event loop, and show what they are stored with."""

import json

import pytest

from tests.support.notebooks import NOTEBOOKS, executed, read, shown
from tests.support.pages import ROOT


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return executed([*map(read, NOTEBOOKS)], tmp_path_factory.mktemp("notebooks"))


def test_the_notebooks_run_and_show_what_is_stored(run):
    assert len(NOTEBOOKS) == 1
    for path, done in zip(NOTEBOOKS, run, strict=True):
        for number, (stored, now) in enumerate(zip(shown(read(path)), shown(done), strict=True)):
            assert stored == now, f"{path.name}, cell {number}: python -m tests.support.notebooks writes it anew"


def test_a_cell_shows_tables_and_pictures(run):
    kinds = {
        kind for done in run for cell in shown(done) for output in cell if isinstance(output, dict) for kind in output
    }
    assert {"text/html", "image/png"} <= kinds


def test_what_is_stored_is_small_and_names_no_place_of_a_machine():
    for path in NOTEBOOKS:
        text = path.read_text(encoding="utf-8")
        assert len(text) < 300_000
        assert str(ROOT) not in text
        assert "/tmp/" not in text
        assert json.loads(text)["metadata"].keys() == {"kernelspec"}

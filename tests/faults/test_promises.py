"""docs/reliability.md: every promise has a test that exists, and every trouble of the table is named there."""

import re
from pathlib import Path

import pytest

from tests.faults.troubles import PROCESSES, TROUBLES

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| (?!promised|---)(.+?) \| (.+) \|$", TEXT, re.MULTILINE)
TROUBLE_NAMES = {trouble.name for trouble in (*TROUBLES, *PROCESSES)}
NAMED_TROUBLES = {name for _, held in PROMISES for name in re.findall(r'"([^"]+)"', held)}


@pytest.mark.parametrize(("promise", "held"), PROMISES, ids=[promise[:60] for promise, _ in PROMISES])
def test_what_is_promised_is_held_by_tests_that_exist(promise, held):
    paths, troubles = re.findall(r"`(tests/[^`]+)`", held), set(re.findall(r'"([^"]+)"', held))
    assert paths or troubles, promise
    assert troubles <= TROUBLE_NAMES
    for path in paths:
        file, _, test = path.partition("::")
        assert (ROOT / file).is_file(), path
        assert not test or re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), path


def test_every_trouble_is_part_of_a_promise():
    assert len(TROUBLE_NAMES) == len((*TROUBLES, *PROCESSES))
    assert {"nothing"} == TROUBLE_NAMES - NAMED_TROUBLES

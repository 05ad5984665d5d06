"""Every number, name and sentence of the golden runs stays, unless a change says which one moves and why."""

import pytest

from tests.golden.snapshot import HERE, RUNS, path_of, snapshot

pytestmark = pytest.mark.filterwarnings("ignore")  # what a run warns of is tested where the warning belongs


@pytest.mark.parametrize("name", RUNS)
def test_a_run_says_what_it_said(name):
    assert snapshot(name).splitlines() == path_of(name).read_text(encoding="utf-8").splitlines()


def test_every_golden_file_belongs_to_a_run():
    assert {path.stem for path in HERE.glob("*.txt")} == set(RUNS)


def test_every_refusal_refuses():
    assert "NOT REFUSED" not in path_of("refusals").read_text(encoding="utf-8")

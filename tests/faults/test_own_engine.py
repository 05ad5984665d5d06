"""Every trouble in the four modes that are used most, with our own engine: what it comes to and what it costs."""

import pytest

from tests.faults.cells import broken, run_cell
from tests.faults.modes import MODES
from tests.faults.troubles import TROUBLES

CELLS = [
    (mode, trouble)
    for trouble in TROUBLES
    for mode in MODES
    if mode.name in (trouble.modes or ("direct", "pairwise", "rubric", "checklist"))  # best of N: with other engines
]


@pytest.mark.parametrize(("mode", "trouble"), CELLS, ids=lambda part: part.name.replace(" ", "_"))
def test_what_is_promised_holds(mode, trouble, tmp_path):
    assert broken(run_cell(mode, "own", trouble, tmp_path), trouble.expected) == []

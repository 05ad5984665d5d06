"""What is done to a process that judges, in one mode each: what it kept, and what is asked again."""

import pytest

from tests.faults.cells import broken, run_cell
from tests.faults.modes import MODES
from tests.faults.troubles import PROCESSES


@pytest.mark.parametrize("trouble", PROCESSES, ids=lambda trouble: trouble.name.replace(" ", "_"))
def test_what_is_promised_holds(trouble, tmp_path):
    assert broken(run_cell(MODES[0], "own", trouble, tmp_path), trouble.expected) == []

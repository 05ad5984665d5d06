"""Every trouble, with our own engine, litellm, and an engine of unitxt behind the bridge: the expected result."""

from itertools import cycle

import pytest

from tests.faults.cells import broken, run_cell
from tests.faults.modes import MODES
from tests.faults.troubles import PROCESSES, TROUBLES

MOST_USED = ("direct", "pairwise", "rubric", "checklist")  # best of N: with other engines
TURNS = cycle(MODES)
CELLS = [
    *((mode, "own", trouble) for trouble in TROUBLES for mode in MODES if mode.name in (trouble.modes or MOST_USED)),
    # in one mode each: the benchmark runs all
    *(
        (next(mode for mode in TURNS if trouble.modes is None or mode.name in trouble.modes), engine, trouble)
        for engine in ("litellm", "bridge")
        for trouble in TROUBLES
        if trouble.of_engine(engine) is not None
    ),
    *((MODES[0], "own", trouble) for trouble in PROCESSES),
]


@pytest.mark.parametrize(
    ("mode", "engine", "trouble"), CELLS, ids=lambda part: getattr(part, "name", str(part)).replace(" ", "_")
)
def test_what_is_promised_holds(mode, engine, trouble, tmp_path):
    assert broken(run_cell(mode, engine, trouble, tmp_path), trouble.of_engine(engine)) == []

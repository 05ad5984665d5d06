"""Every trouble with litellm and with an engine of unitxt behind the bridge, in a mode each: the benchmark runs all."""

from itertools import cycle

import pytest

from tests.faults.cells import broken, run_cell
from tests.faults.modes import MODES
from tests.faults.troubles import TROUBLES

TURNS = cycle(MODES)
CELLS = [
    (next(mode for mode in TURNS if trouble.modes is None or mode.name in trouble.modes), engine, trouble)
    for engine in ("litellm", "bridge")
    for trouble in TROUBLES
    if trouble.of_engine(engine) is not None
]


@pytest.mark.parametrize(
    ("mode", "engine", "trouble"), CELLS, ids=lambda part: getattr(part, "name", str(part)).replace(" ", "_")
)
def test_what_is_promised_holds(mode, engine, trouble, tmp_path):
    assert broken(run_cell(mode, engine, trouble, tmp_path), trouble.of_engine(engine)) == []

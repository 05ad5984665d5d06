import signal

import pytest

from evenhand.engines.journal import Journal


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite3") as opened:
        yield opened


@pytest.fixture
def default_action():
    """Signals that ask a process to end do so: tests may be run where they are ignored."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)

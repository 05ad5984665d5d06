import pytest

from evenhand.engines.journal import Journal


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite3") as opened:
        yield opened

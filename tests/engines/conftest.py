import pytest

from evenhand.engines.journal import Journal


@pytest.fixture(autouse=True)
def _no_key_of_this_machine(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite3") as opened:
        yield opened

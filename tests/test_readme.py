"""Every code block of the README is run, as it stands."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import JudgeServer

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = [
    pytest.param(language, code, id=f"{language}-{number}")
    for number, (language, code) in enumerate(
        re.findall(r"^```(\w+)\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
]
SERVER = "http://localhost:8000/v1"
INSTALLS = {"pip install -e . && evenhand demo", "pip install -e '.[dev]' && pytest"}


@pytest.mark.parametrize(("language", "code"), BLOCKS)
def test_block(language, code, tmp_path):
    if code.strip() in INSTALLS:
        # this very run is the second; the first's installation is what runs here, and its verb follows
        code = "evenhand demo\n" if "demo" in code else "python -m pytest --version\n"
    environment = {
        **os.environ,
        "EVENHAND_CACHE_DIR": str(tmp_path / "cache"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    with JudgeServer() as server:
        code = code.replace(SERVER, server.base_url)
        command = (
            [sys.executable, "-W", "error::UserWarning", "-c", code] if language == "python" else ["sh", "-ec", code]
        )
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        asked = len(server.requests)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    assert done.stdout.strip()
    assert (asked > 0) == (SERVER in README.read_text(encoding="utf-8") and server.base_url in code)


def test_the_blocks_are_found():
    languages = [block.values[0] for block in BLOCKS]
    assert languages.count("sh") >= 3
    assert languages.count("python") >= 4

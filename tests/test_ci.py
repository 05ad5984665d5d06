"""The browser of the tests, which `.ci/run` installs in addition to the README's test command."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL = [shutil.which("bash"), Path(__file__).resolve().parents[1] / ".ci" / "install-browser"]
TOOLS = ("bash", "cat", "chmod", "env", "id", "sh", "sudo", "tail", "timeout", "true")
ASKED = """#!/bin/sh
echo "$*" >> "$0.log"
case "$*" in
*--no-download*) for name in chromium chromedriver; do echo > "${0%/*}/$name"; chmod +x "${0%/*}/$name"; done ;;
esac
"""

pytestmark = pytest.mark.skipif(not shutil.which("timeout"), reason="what runs in CI runs on Linux")


def installing(folder, apt_get=None):
    """What the script says and ends with on a machine that has no browser."""
    for name in TOOLS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    if apt_get:
        (folder / "apt-get").write_text(apt_get, encoding="utf-8")
        (folder / "apt-get").chmod(0o755)
    if hasattr(os, "geteuid") and os.geteuid() != 0:  # as if nobody asked for a password
        (folder / "sudo").unlink(missing_ok=True)
        (folder / "sudo").write_text('#!/bin/sh\nshift\nexec "$@"\n', encoding="utf-8")
        (folder / "sudo").chmod(0o755)
    done = subprocess.run(INSTALL, env={"PATH": str(folder)}, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_browser_that_is_missing_is_installed_and_one_that_is_there_is_left_alone(tmp_path):
    assert installing(tmp_path, ASKED) == (0, "", "")
    asked = (tmp_path / "apt-get.log").read_text(encoding="utf-8").splitlines()
    assert asked[0] == "-q update"
    assert all(line.endswith("install chromium chromium-driver") for line in asked[1:])
    assert len(asked) == 3
    again = subprocess.run(INSTALL, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len((tmp_path / "apt-get.log").read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.parametrize(
    ("apt_get", "why"),
    [
        (None, "it takes apt-get, and to be root"),
        ("#!/bin/sh\necho 'E: Could not resolve deb.debian.org'\nexit 100\n", "E: Could not resolve deb.debian.org"),
        ("#!/bin/sh\nexit 124\n", "apt-get did not end in time"),
    ],
)
def test_where_it_cannot_be_had_the_run_goes_on_and_a_line_says_why(tmp_path, apt_get, why):
    said = f"The tests in a browser skip: Chromium cannot be installed here ({why}).\n"
    assert installing(tmp_path, apt_get) == (0, said, "")

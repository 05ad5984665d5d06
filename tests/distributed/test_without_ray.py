"""What judging on a cluster refuses, with Ray and without."""

import json
import sys

import pytest

from evenhand import distributed
from evenhand.cli import main
from evenhand.errors import InvalidInputError, MissingDependencyError

ENGINE = "engines.evenhand.simulated"


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evenhand\[ray\]'"):
        distributed.judge([{"response": "x"}], "Is it polite?", ENGINE, stream_to=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_folder_must_be_named():
    with pytest.raises(InvalidInputError, match="stream_to"):
        distributed.judge([{"response": "x"}], "Is it polite?", ENGINE)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (["--ray"], "--stream-to is missing"),
        (["--ray", "ray://somewhere:10001"], "ray://somewhere:10001"),
        (["--workers", "2"], "--workers is 2"),
    ],
)
def test_the_shell_says_what_is_missing(said, what, tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"response": "x"}), encoding="utf-8")
    command = ["judge", str(path), "--criteria", "Is it polite?", "--engine", ENGINE, "--response-fields", "response"]
    assert main([*command, *said]) == 2
    assert what in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "given", "what"),
    [
        ("-", {}, "which only this process can read"),
        ("/dev/fd/63", {}, "'/dev/fd/63', which only this process can read"),
        ([{"response": "see https://example.org"}], {"batch": True}, "batch=True"),
    ],
)
def test_what_other_processes_could_not_go_on_with_is_refused(data, given, what, tmp_path):
    engine = "http://127.0.0.1:9/v1[model=m,batch=True]" if given else ENGINE
    with pytest.raises(InvalidInputError, match=what):
        distributed.judge(data, "Is it polite?", engine, stream_to=tmp_path / "out")

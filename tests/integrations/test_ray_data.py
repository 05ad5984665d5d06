"""Judging by two workers on a cluster of this machine, with real processes, kills and HTTP, where Ray is installed."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import datasets
import pyarrow.parquet
import pytest

import evenhand
from evenhand.cli import main
from evenhand.data.rows import read_rows
from evenhand.engines.hosted import OpenAICompatibleEngine
from evenhand.errors import FatalEngineError, InvalidInputError, MissingDependencyError, TooManyFailuresError
from evenhand.integrations import ray_data
from tests.support.server import JudgeServer

try:
    import ray
    from ray.data._internal.object_extensions.arrow import ArrowPythonObjectType
except ImportError:
    ray = None
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]
with_ray = pytest.mark.skipif(ray is None, reason="Ray is not installed")

ROWS = 120
READ = 0.3
"""Seconds in which a worker that is alive has read a reply that was sent."""

HOW = {"criteria": "Is it polite?", "flow": "one_step", "check_positional_bias": False, "context_fields": ["question"]}
HOW |= {"id_field": "id", "part_rows": 8, "orders": "shuffled", "progress": False, "max_reasks": 0}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    if ray is None:
        yield
        return
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="FATAL")
    yield
    ray.shutdown()


@pytest.fixture
def server():
    with JudgeServer(latency=0.5) as running:  # longer than Ray takes to end the workers of a dead driver
        yield running


def engine(server):
    return OpenAICompatibleEngine(base_url=server.base_url, model="judge", max_in_flight=8)


def rows(number=ROWS):
    return [{"id": f"r{i}", "question": f"What is {i}?", "response": f"It is {i}, 007."} for i in range(number)]


def written(folder, lines):
    path = folder / "rows.jsonl"
    path.write_text("".join(each if isinstance(each, str) else json.dumps(each) + "\n" for each in lines))
    return path


def judged(server, data, folder, **how):
    how = {**HOW, "engine": engine(server), "journal": folder / "journal.sqlite3", "workers": 2, **how}
    return ray_data.judge(data, how.pop("criteria"), how.pop("engine"), stream_to=folder / "out", **how)


def alone(server, given, folder):
    how = {name: value for name, value in HOW.items() if name not in {"criteria", "part_rows"}}
    return evenhand.judge(given, HOW["criteria"], engine(server), journal=folder / "alone.sqlite3", **how)


def verdicts(table):
    """Everything that records say of a row: its index, selections, scores, assessments, the order, and why not."""
    frame = table.to_pandas().sort_values("instance").fillna("none")
    return frame.to_dict("records")


def prompts(server, first=0):
    return sorted(json.dumps(each.body, sort_keys=True) for each in server.requests[first:])


def asked_again(server, killed_at):
    """Requests whose reply a worker had read by then, and that were sent once more."""
    by_body = defaultdict(list)
    for each in server.requests:
        by_body[json.dumps(each.body, sort_keys=True)].append(each)
    return [
        same
        for same in by_body.values()
        if len(same) > 1 and any(each.sent_at is not None and each.sent_at < killed_at - READ for each in same[:-1])
    ]


def workers_of():
    """The processes of this machine that judge."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in found.splitlines() if "ray::MapWorker" in line]


def is_there(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(reached, seconds=600):
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, "it did not get so far"
        time.sleep(0.02)


@with_ray
def test_a_worker_that_is_killed_loses_no_row_and_no_reply(server, tmp_path):
    given, killed = rows(), []

    def kill_one():
        until(lambda: server.finished >= 24)
        os.kill(workers_of()[0], signal.SIGKILL)
        killed.append(time.monotonic())

    killing = threading.Thread(target=kill_one, daemon=True)
    killing.start()
    table = judged(server, written(tmp_path, given), tmp_path)
    killing.join(1)
    assert killed, "no worker was killed"
    on_cluster = len(server.requests)
    assert asked_again(server, killed[0]) == []
    assert on_cluster <= ROWS + 4  # the calls of one worker that were in flight
    assert server.max_in_flight <= 8  # of both workers together
    one = alone(server, given, tmp_path)
    assert verdicts(table) == verdicts(one)
    assert len(verdicts(table)) == ROWS
    assert set(prompts(server)[:on_cluster]) <= set(prompts(server, on_cluster))
    assert not (tmp_path / "out" / ".workers").exists()

    before = len(server.requests)
    how = {name: value for name, value in HOW.items() if name not in {"criteria", "part_rows"}}
    again = evenhand.judge(given, HOW["criteria"], engine(server), journal=tmp_path / "journal.sqlite3", **how)
    assert len(server.requests) == before, "all replies are in the run's journal"
    assert verdicts(again) == verdicts(one)


@contextmanager
def driven(server, data, folder, finished):
    """A driver in a process of its own, when the server has given a number of replies."""
    script = (
        "import signal, sys; from pathlib import Path; from types import SimpleNamespace\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored by the background jobs of a shell
        "from tests.integrations.test_ray_data import judged\n"
        "judged(SimpleNamespace(base_url=sys.argv[1]), sys.argv[2], Path(sys.argv[3]), address=sys.argv[4])\n"
    )
    address = ray.get_runtime_context().gcs_address
    command = [sys.executable, "-c", script, server.base_url, str(data), str(folder), address]
    root = Path(__file__).resolve().parents[2]
    with (folder / "said").open("wb") as said:
        driver = subprocess.Popen(command, cwd=root, stdout=said, stderr=said)
        until(lambda: server.finished >= finished or driver.poll() is not None)
        assert driver.poll() is None, (folder / "said").read_text()
        yield driver
        driver.wait(120)


@with_ray
def test_a_driver_that_is_interrupted_or_killed_loses_the_replies_in_flight_alone(server, tmp_path):
    data = written(tmp_path, rows())
    for number in (signal.SIGINT, signal.SIGKILL):
        with driven(server, data, tmp_path, server.finished + 16) as driver:
            workers = workers_of()
            driver.send_signal(number)
        until(lambda: not any(map(is_there, workers)))  # noqa: B023 - they end with it, some seconds later
        ended = time.monotonic()
        assert server.finished < ROWS
        if number == signal.SIGINT:
            said = (tmp_path / "said").read_text()
            assert "run the same again, and only the rest is asked for" in said
            assert "KeyboardInterrupt" in said, "it ends as Python programs do"
    table = judged(server, rows(), tmp_path)  # the same, however they are given
    assert asked_again(server, ended - 10 * READ) == []
    assert len(server.requests) <= ROWS + 16  # what was in flight at each end
    assert verdicts(table) == verdicts(alone(server, rows(), tmp_path))
    with pytest.raises(InvalidInputError, match="the parts of another run"):
        judged(server, [{"id": "new", "question": "?", "response": "https://"}], tmp_path, criteria="Is it short?")


@with_ray
def test_what_one_worker_cannot_go_on_from_is_one_error_in_plain_words(server, tmp_path):
    data = written(tmp_path, rows(40))
    broken = OpenAICompatibleEngine(base_url="http://127.0.0.1:9/v1", model="judge", patience=0.0)
    with pytest.raises((TooManyFailuresError, FatalEngineError)) as caught:
        judged(server, data, tmp_path, engine=broken, workers=1)
    said = str(caught.value)
    assert "127.0.0.1:9" in said
    assert "Traceback" not in said
    assert "RayTaskError" not in said


@with_ray
def test_data_that_all_are_bad_are_an_error(server, tmp_path):
    data = written(tmp_path, [{"id": f"r{i}", "answer": "?"} for i in range(20)])
    with pytest.raises(InvalidInputError, match="response"):
        judged(server, data, tmp_path, workers=1)
    assert server.requests == []


def written_as_parquet(path, given):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(given), path)
    return str(path)


@with_ray
@pytest.mark.parametrize("way", ["parquet", "hugging face stream", "a data set of Ray", "two systems"])
def test_rows_are_those_of_one_process(server, tmp_path, way):
    given = rows(20)
    data = {
        "parquet": lambda: written_as_parquet(tmp_path / "a.parquet", given),
        "hugging face stream": lambda: datasets.Dataset.from_list(given).to_iterable_dataset(),
        "a data set of Ray": lambda: ray.data.from_items(given).repartition(3),
    }
    simulated = evenhand.SimulatedEngine(noise=0.4)
    if way in data:
        table = judged(server, data[way](), tmp_path, engine=simulated)
        how = {name: value for name, value in HOW.items() if name not in {"criteria", "part_rows"}}
        assert verdicts(table) == verdicts(evenhand.judge(given, HOW["criteria"], simulated, journal=None, **how))
        return
    wide = [{**row, **{name: f"{name} {row['id']}" for name in "ab"}} for row in given]
    how = {"response_fields": ["a", "b"], "id_field": "id", "progress": False}
    how |= {"criteria": "Which is better?", "engine": simulated}
    on_ray = ray_data.winrates(wide, stream_to=tmp_path / "out", part_rows=6, **how)
    assert str(on_ray) == str(evenhand.winrates(wide, **how))


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.open, (self.marker, os.O_CREAT | os.O_WRONLY)


@with_ray
@pytest.mark.parametrize("way", ["one process", "a file", "files", "a data set of Ray"])
def test_nothing_is_unpickled_where_ray_has_registered_its_types(server, tmp_path, way):
    marker, path = tmp_path / "marker", tmp_path / "rows.parquet"
    held = pyarrow.array([pickle.dumps(Planted(marker))], pyarrow.large_binary())
    extra = pyarrow.ExtensionArray.from_storage(ArrowPythonObjectType(), held)
    table = pyarrow.table({"id": ["a"], "question": ["b"], "response": ["c"], "extra": extra})
    for each in (path, tmp_path / "more.parquet"):
        pyarrow.parquet.write_table(table, each)
    data = {"a data set of Ray": ray.data.from_arrow(table), "files": tmp_path / "*.parquet"}.get(way, path)
    with pytest.raises(InvalidInputError, match=r"extension type 'ray.data.arrow_pickled_object'"):
        read_rows(path) if way == "one process" else judged(server, data, tmp_path)
    assert not marker.exists()
    table["extra"].to_pylist()
    assert marker.exists()


SIMULATED = "engines.evenhand.simulated"


def test_without_ray_the_command_that_installs_it_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'evenhand\[ray\]'"):
        ray_data.judge([{"response": "x"}], "Is it polite?", SIMULATED, stream_to=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_folder_must_be_named():
    with pytest.raises(InvalidInputError, match="stream_to"):
        ray_data.judge([{"response": "x"}], "Is it polite?", SIMULATED)


def test_the_shell_says_what_is_missing(tmp_path, capsys):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"response": "x"}), encoding="utf-8")
    command = ["judge", str(path), "--criteria", "Is it polite?", "--engine", SIMULATED]
    command += ["--response-fields", "response"]
    assert main([*command, "--ray", "here"]) == 2
    assert "stream_to is missing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "given", "what"),
    [
        ("-", {}, "which other processes cannot read"),
        ("/dev/fd/63", {}, "'/dev/fd/63', which other processes cannot read"),
        (iter([{"response": "x"}]), {}, "which other processes cannot read"),
        ([{"response": "see https://example.org"}], {"batch": True}, "batch=True"),
    ],
)
def test_what_other_processes_could_not_go_on_with_is_refused(data, given, what, tmp_path):
    engine = "http://127.0.0.1:9/v1[model=m,batch=True]" if given else SIMULATED
    with pytest.raises(InvalidInputError, match=what):
        ray_data.judge(data, "Is it polite?", engine, stream_to=tmp_path / "out")

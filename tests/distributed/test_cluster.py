"""Judging by two workers on a cluster of this machine, with real processes, kills and HTTP. Where Ray is installed."""

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
from datetime import UTC, datetime
from pathlib import Path

import datasets
import pyarrow.parquet
import pytest

import evenhand
from evenhand import distributed
from evenhand.data.rows import read_rows
from evenhand.distributed.sources import first_rows, rows_of, source_of
from evenhand.engines.journal import Journal
from evenhand.engines.openai_compatible import OpenAICompatibleEngine
from evenhand.errors import FatalEngineError, InvalidInputError, TooManyFailuresError
from tests.support.server import JudgeServer

ray = pytest.importorskip("ray")
ArrowPythonObjectType = pytest.importorskip("ray.data._internal.object_extensions.arrow").ArrowPythonObjectType
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(900)]

ROWS = 120
READ = 0.3
"""Seconds in which a worker that is alive has read a reply that was sent."""

HOW = {"criteria": "Is it polite?", "flow": "one_step", "check_positional_bias": False, "context_fields": ["question"]}
HOW |= {"id_field": "id", "part_rows": 8, "orders": "shuffled", "progress": False, "max_reasks": 0}


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="FATAL")
    yield
    ray.shutdown()


@pytest.fixture
def server():
    with JudgeServer(latency=0.25) as running:
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
    return distributed.judge(data, how.pop("criteria"), how.pop("engine"), stream_to=folder / "out", **how)


def alone(server, given, folder):
    how = {name: value for name, value in HOW.items() if name not in {"criteria", "part_rows"}}
    return evenhand.judge(given, HOW["criteria"], engine(server), journal=folder / "alone.sqlite3", **how)


def verdicts(table):
    """Everything that records say of a row, by its id: selections, scores, assessments, in which order, and why not."""
    frame = table.to_pandas().drop(columns="instance").fillna("none")
    return {row["id"]: row for row in frame.to_dict("records")}


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


def workers_of(folder):
    return [json.loads(path.read_text())[1] for path in (folder / "out" / "shards").glob("*.alive")]


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


def test_a_worker_is_killed_and_bad_rows_cost_themselves(server, tmp_path):
    given = rows()
    lines = [*given[:20], "this is no row\n", {"id": "r3", "question": "?", "response": "again"}, *given[20:]]
    killed = []

    def kill_one():
        until(lambda: server.finished >= 24)
        pid = workers_of(tmp_path)[0]
        os.kill(pid, signal.SIGKILL)
        killed.append(time.monotonic())

    killing = threading.Thread(target=kill_one, daemon=True)
    killing.start()
    table = judged(server, written(tmp_path, lines), tmp_path)
    killing.join(1)
    assert killed, "no worker was killed"
    on_cluster = len(server.requests)
    assert asked_again(server, killed[0]) == []
    assert on_cluster <= ROWS + 8  # the calls that were in flight
    assert server.max_in_flight <= 8  # of both workers together
    told = [json.loads(line) for line in (tmp_path / "out" / "rows-not-judged.jsonl").read_text().splitlines()]
    assert sorted(each["id"] for each in told) == ["line 21 of 'rows.jsonl'", "r3"]
    assert "not JSONL" in next(each["why"] for each in told if each["id"] != "r3")

    one = alone(server, given, tmp_path)
    assert verdicts(table) == verdicts(one)
    assert len(verdicts(table)) == ROWS
    assert set(prompts(server)[:on_cluster]) <= set(prompts(server, on_cluster))
    assert not (tmp_path / "out" / "shards").exists()

    before = len(server.requests)
    again = alone_from(tmp_path, server, given)
    assert len(server.requests) == before, "all replies are in the run's journal"
    assert verdicts(again) == verdicts(one)


def alone_from(folder, server, given):
    how = {name: value for name, value in HOW.items() if name not in {"criteria", "part_rows"}}
    return evenhand.judge(given, HOW["criteria"], engine(server), journal=folder / "journal.sqlite3", **how)


@contextmanager
def driven(server, data, folder, finished):
    """A driver in a process of its own, when the server has given so many replies."""
    script = (
        "import sys; from pathlib import Path; from types import SimpleNamespace\n"
        "from tests.distributed.test_cluster import judged\n"
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


def test_control_c_loses_no_reply_and_a_driver_that_is_killed_those_in_flight(server, tmp_path):
    data, journal = written(tmp_path, rows()), tmp_path / "journal.sqlite3"
    with driven(server, data, tmp_path, 16) as driver:
        driver.send_signal(signal.SIGINT)
    said = (tmp_path / "said").read_text()
    assert "interrupted: no new calls are made" in said
    assert "KeyboardInterrupt" in said, "it ends as Python programs do"
    assert len(server.requests) == server.finished < ROWS
    with Journal(journal) as kept:
        assert kept.count() == server.finished
    interrupted = server.finished

    with driven(server, data, tmp_path, interrupted + 16) as driver:
        workers = workers_of(tmp_path)
        driver.kill()
    until(lambda: not any(map(is_there, workers)))  # which end with it, some seconds later
    ended = time.monotonic()
    table = judged(server, iter(rows()), tmp_path)  # the same, however they are given
    assert asked_again(server, ended - 10 * READ) == []
    assert len(server.requests) <= ROWS + 8
    assert verdicts(table) == verdicts(alone(server, rows(), tmp_path))
    with pytest.raises(InvalidInputError, match="the parts of another run"):
        judged(server, [{"id": "new", "question": "?", "response": "https://"}], tmp_path, criteria="Is it short?")


def test_what_one_worker_cannot_go_on_from_is_one_error_in_plain_words(server, tmp_path):
    data = written(tmp_path, rows(40))
    broken = OpenAICompatibleEngine(base_url="http://127.0.0.1:9/v1", model="judge", patience=0.0)
    with pytest.raises((TooManyFailuresError, FatalEngineError)) as caught:
        judged(server, data, tmp_path, engine=broken, workers=1)
    said = str(caught.value)
    assert "127.0.0.1:9" in said
    assert "Traceback" not in said
    assert "RayTaskError" not in said


def test_data_that_all_are_bad_are_an_error(server, tmp_path):
    data = written(tmp_path, [{"id": f"r{i}", "answer": "?"} for i in range(20)])
    with pytest.raises(InvalidInputError, match="response"):
        judged(server, data, tmp_path, workers=1)
    assert server.requests == []


def written_as_parquet(path, given):
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(given), path)
    return str(path)


SCORED = [
    {"id": f"r{n}", "label": n % 2, "score": 0.1 * n, "at": datetime(2026, 1, 1 + n, tzinfo=UTC), "said": [{"b": n}]}
    for n in range(9)
]
PLAIN = [{**row, "at": "007"} for row in SCORED]


def hugging_face(given):
    classes = datasets.ClassLabel(names=["bad", "good"])
    return datasets.Dataset.from_list(given).cast_column("label", classes)


@pytest.mark.parametrize(
    "given",
    [
        lambda folder: written_as_parquet(folder / "a.parquet", SCORED),
        lambda folder: [  # of which one has columns that the other has not
            written_as_parquet(folder / "a.parquet", PLAIN[:3]),
            written_as_parquet(folder / "b.parquet", [{"id": "r9", "score": 1}]),
        ],
        lambda folder: hugging_face(PLAIN).select(range(2, 7)),
        lambda folder: hugging_face(PLAIN).to_iterable_dataset().filter(lambda row: row["score"] > 0.35),
        lambda folder: PLAIN,
    ],
    ids=["parquet", "unlike files", "hugging face", "hugging face stream", "rows"],
)
def test_rows_are_those_of_one_process(given, tmp_path):
    data = given(tmp_path)
    blocks = source_of(data, None, 0.5).iter_batches(batch_size=None, batch_format="pyarrow")
    found = [row for block in blocks for row in rows_of(block)]
    assert sorted(found, key=str) == sorted(map(dict, read_rows(data)), key=str)
    first = [row for batch in first_rows(data, None, 2) for row in batch]
    assert all(row in found for row in first)


class Planted:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = str(marker)

    def __reduce__(self):
        return os.open, (self.marker, os.O_CREAT | os.O_WRONLY)


@pytest.mark.parametrize("way", ["one process", "a file", "files", "a data set of Ray"])
def test_nothing_is_unpickled_where_ray_has_registered_its_types(server, tmp_path, way):
    marker, path = tmp_path / "marker", tmp_path / "rows.parquet"
    held = pyarrow.array([pickle.dumps(Planted(marker))], pyarrow.large_binary())
    extra = pyarrow.ExtensionArray.from_storage(ArrowPythonObjectType(), held)
    table = pyarrow.table({"id": ["a"], "question": ["b"], "response": ["c"], "extra": extra})
    pyarrow.parquet.write_table(table, path)
    data = {"a data set of Ray": ray.data.from_arrow(table), "files": [path, path]}.get(way, path)
    with pytest.raises(InvalidInputError, match=r"extension type 'ray.data.arrow_pickled_object'"):
        read_rows(path) if way == "one process" else judged(server, data, tmp_path)
    assert not marker.exists()
    table["extra"].to_pylist()
    assert marker.exists()

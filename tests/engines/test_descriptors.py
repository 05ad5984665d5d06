"""File descriptors: fewer calls are in flight where few can be opened, and none is lost for want of one."""

import errno
import subprocess
import sys

import pytest

from evenhand.engines.descriptors import connections_allowed, out_of_descriptors
from tests.support.server import JudgeServerProcess

resource = pytest.importorskip("resource")

RUN = """
import resource, sys
from evenhand.engines.budget import Budget
from evenhand.engines.descriptors import connections_allowed
from tests.support.asking import ask_all, request
from tests.support.judges import http_judge, litellm_judge
from evenhand.engines.remote import RemoteSettings

def judge(kind, **more):
    settings = {"max_retries": 1, "backoff": 0.01, **more}
    if kind == "own":
        return http_judge(sys.argv[1], **settings)
    return litellm_judge(RemoteSettings(model="openai/judge", **settings), api_base=sys.argv[1])

kind, spent = sys.argv[2], sys.argv[3] == "spent"
ask_all(judge(kind, max_in_flight=2), [request("warm up")])
resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
asked = [request(f"judge {number}") for number in range(80)]
if spent:  # somebody else takes what was free when the run began
    import evenhand.engines.remote as remote
    remote.connections_allowed = lambda wanted: wanted
outcomes = ask_all(judge(kind, max_in_flight=128), asked)
print(len([outcome for outcome in outcomes if getattr(outcome, "text", None)]), "replies")
"""


@pytest.mark.parametrize(("kind", "when"), [("own", "known"), ("own", "spent"), ("litellm", "spent")])
def test_forty_eight_descriptors_are_enough_for_a_hundred_and_twenty_eight_in_flight(kind, when):
    with JudgeServerProcess(latency=0.1, text="Good") as server:
        command = [sys.executable, "-c", RUN, server.base_url, kind, when]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
        assert "80 replies" in ended.stdout, ended.stderr[-3000:]
        assert server.stats()["max_in_flight"] < 48
    assert "calls are in flight at once" in ended.stderr
    assert "ulimit -n" in ended.stderr


def test_the_soft_limit_is_raised_as_far_as_is_needed_and_allowed():
    script = (
        "import resource; from evenhand.engines.descriptors import connections_allowed as allowed\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (30, 200))\n"
        "print(allowed(100) == 100, 112 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 200)\n"
        "few = allowed(1000); print(100 < few < 200, resource.getrlimit(resource.RLIMIT_NOFILE) == (200, 200))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.split() == ["True"] * 4


def test_what_is_enough_changes_nothing():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert connections_allowed(1) == 1
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_the_want_of_a_descriptor_is_seen_behind_what_was_made_of_it():
    error = ConnectionError("no connection")
    error.__cause__ = OSError(errno.EMFILE, "Too many open files")
    assert out_of_descriptors(error)
    assert not out_of_descriptors(OSError(errno.ECONNREFUSED, "refused"))

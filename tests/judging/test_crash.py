"""A run that is killed and started again: no reply that was stored is paid for again, and the scores are the same."""

import json
import time
from itertools import pairwise

import evenhand
from evenhand.engines.journal import Journal, canonical_json
from evenhand.functions import judge
from tests.support.judges import http_judge
from tests.support.processes import Running
from tests.support.questions import LEVELS
from tests.support.server import JudgeServerProcess

ROWS = 40
IN_FLIGHT = 4
CALLS = ROWS * 2 * 2  # two orders of two steps
KILLS = (CALLS // 4, CALLS // 3)  # each after so many calls more


def assess(base_url, journal):
    """What the killed process runs, and this one for comparison."""
    return judge(
        [{"response": f"answer {number}"} for number in range(ROWS)],
        LEVELS,
        http_judge(base_url, max_in_flight=IN_FLIGHT),
        journal=str(journal),
        progress=False,
    )


def selections(table):
    return [
        [(vote.order, vote.selected_label, vote.assessment) for vote in judgement.verdict.votes]
        for judgement in table.judgements
    ]


def start(base_url, journal, out):
    code = (
        "import sys; from tests.judging.test_crash import assess; table = assess(sys.argv[1], sys.argv[2]); "
        "table.save(sys.argv[3])"
    )
    return Running(code, base_url, journal, out, output=out.with_name("told.txt"))


def messages_seen(server):
    """What was asked, in the order received."""
    return [canonical_json(request["body"]["messages"]) for request in server.requests()]


def journaled_messages(path):
    with Journal(path) as journal, journal.reading() as connection:
        return {
            canonical_json(json.loads(row[0])["messages"]) for row in connection.execute("SELECT request FROM reply")
        }


def test_a_run_that_is_killed_twice_goes_on_where_it_stopped(tmp_path):
    journal, out = tmp_path / "journal.sqlite3", tmp_path / "table.parquet"
    with JudgeServerProcess(latency=0.03, labels=LEVELS.labels) as server:
        kept = [(0, set())]  # at each start: the requests that the server has seen, and the replies that are journaled
        for more in KILLS:
            finished = server.stats()["finished"] + more
            start(server.base_url, journal, out).kill_when(lambda: server.stats()["finished"] >= finished)  # noqa: B023
            time.sleep(0.3)  # what was in flight at the kill is over at the server
            kept.append((server.stats()["seen"], journaled_messages(journal)))
            assert not out.exists()
        assert start(server.base_url, journal, out).wait() == 0
        asked = messages_seen(server)
        resumed = evenhand.open(out)
        undisturbed = assess(server.base_url, tmp_path / "other.sqlite3")
        assert server.stats()["seen"] == len(asked) + CALLS

    for (_, earlier), (seen, later) in pairwise(kept):
        assert earlier < later, "a journaled reply is gone, or none was journaled"
        assert len(later) < CALLS
        assert not later & set(asked[seen:]), "a journaled reply was asked for again"
    assert len(set(asked)) == CALLS
    assert len(asked) - CALLS <= IN_FLIGHT * len(KILLS)  # only what was in flight at a kill was asked for again
    assert selections(resumed) == selections(undisturbed)
    assert resumed.summaries["response", "level"].score == undisturbed.summaries["response", "level"].score
    assert all(vote.selected_label for judgement in resumed.judgements for vote in judgement.verdict.votes)

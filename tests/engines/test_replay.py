import asyncio
import json

import pytest

import evenhand
from evenhand.engines.base import Request
from evenhand.engines.free_engines import ReplayEngine
from evenhand.engines.journal import canonical_json, describe_request, export_lines, request_key
from evenhand.errors import InvalidInputError, RejectedRequestError
from tests.support.judges import ScriptedJudge

ROWS = [{"question": f"question {number}", "response": f"answer {number}"} for number in range(6)]
CRITERION = "criteria.evenhand.direct.relevance"


def recorded(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def line(text, reply, model="m"):
    request, identity = Request(messages=({"role": "user", "content": text},)), {"sampling": {"model": model}}
    return {
        "key": request_key(canonical_json(identity), describe_request(request)),
        "identity": identity,
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "request": json.loads(describe_request(request)),
        "completion": {"text": reply},
    }


def ask(engine, text):
    return asyncio.run(engine.complete(Request(messages=({"role": "user", "content": text},)))).text


@pytest.mark.parametrize("flow", ["two_step", "one_step"])
def test_an_exported_run_is_repeated_vote_for_vote(tmp_path, flow):
    simulated = evenhand.SimulatedEngine(noise=0.5, garbage_rate=0.3, recovery_rate=0.5, name="judge")
    options = {"context_fields": "question", "samples": 2, "flow": flow, "progress": False}
    journal = tmp_path / "journal.sqlite3"
    first = evenhand.judge(
        ROWS, CRITERION, ScriptedJudge(simulated.reply, name="judge"), journal=str(journal), **options
    )
    path = tmp_path / "run.jsonl"
    path.write_text("".join(export_lines(journal)))
    for recording in (path, journal):
        engine = f"engines.evenhand.replay[path={recording},name=judge]"
        again = evenhand.judge(ROWS, CRITERION, engine, journal=None, **options)
        assert [*again.records()] == [*first.records()]
    assert first.unscored_counts.votes > 0


@pytest.mark.parametrize(
    "wrong",
    ["{not json", "[1, 2]", '{"request": {}}', '{"request": {}, "completion": {"text": 3}}', "[" * 100_000],
)
def test_a_malformed_line_is_named_by_file_and_number(tmp_path, wrong):
    path = recorded(tmp_path / "run.jsonl", line("a", "A"), wrong)
    with pytest.raises(InvalidInputError, match=r"line 2 of the recording .*run\.jsonl"):
        ReplayEngine(path=path)


def test_recordings_that_cannot_answer_are_refused(tmp_path):
    same = recorded(tmp_path / "same.jsonl", line("a", "A"), line("a", "A"))
    assert ask(ReplayEngine(path=same), "a") == "A"
    with pytest.raises(RejectedRequestError, match="has no reply to this request"):
        ask(ReplayEngine(path=same), "b")
    with pytest.raises(InvalidInputError, match="two replies to one request"):
        ReplayEngine(path=recorded(tmp_path / "two.jsonl", line("a", "A"), line("a", "B", model="n")))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        ReplayEngine(path=tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInputError, match="line 1 of the recording"):
        ReplayEngine(path=tmp_path / "latin.jsonl")
    with pytest.raises(InvalidInputError, match="needs a recording"):
        ReplayEngine().to_judge()

import asyncio
import json

import pytest

import evenhand
from evenhand.engines.base import Request
from evenhand.engines.free_engines import ReplayEngine
from evenhand.engines.journal import describe_request, export_lines
from evenhand.errors import InvalidInputError
from tests.support.judges import ScriptedJudge

ROWS = [{"question": f"question {number}", "response": f"answer {number}"} for number in range(6)]
CRITERION = "criteria.evenhand.direct.relevance"


def recorded(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def line(text, reply, sample=0):
    request = Request(messages=({"role": "user", "content": text},), sample=sample)
    return {"request": json.loads(describe_request(request)), "completion": {"text": reply}}


def ask(engine, text, sample=0):
    return asyncio.run(engine.complete(Request(messages=({"role": "user", "content": text},), sample=sample))).text


@pytest.mark.parametrize("flow", ["two_step", "one_step"])
def test_an_exported_run_is_repeated_vote_for_vote(tmp_path, flow):
    simulated = evenhand.SimulatedEngine(noise=0.5, garbage_rate=0.3, recovery_rate=0.5, name="judge")
    options = {"context_fields": "question", "samples": 2, "flow": flow, "progress": False}
    journal = tmp_path / "journal.sqlite3"
    first = evenhand.judge(
        ROWS, CRITERION, ScriptedJudge(simulated.reply, name="judge"), journal=str(journal), **options
    )
    path = recorded(tmp_path / "run.jsonl", *export_lines(journal))
    engine = f"engines.evenhand.replay[path={path},name=judge]"
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
    with pytest.raises(InvalidInputError, match=r"line 2 .* another reply"):
        ReplayEngine(path=recorded(tmp_path / "two.jsonl", line("a", "A"), line("a", "B")))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        ReplayEngine(path=tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInputError, match="utf-8"):
        ReplayEngine(path=tmp_path / "latin.jsonl")
    with pytest.raises(InvalidInputError, match="needs a recording"):
        ReplayEngine().to_judge()

import asyncio
import json

import pytest

from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.calls import Calls
from evenhand.engines.journal import Journal, describe_request
from evenhand.engines.journal_tools import exported
from evenhand.engines.replay import ReplayEngine
from evenhand.engines.simulated import SimulatedEngine
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.judging.conversation import Flow, ask
from evenhand.question import Question, comparison_criterion
from evenhand.votes import Completion, TokenLogprob
from tests.support.judges import ScriptedJudge

QUESTION = Question(
    id="q1", criterion=comparison_criterion("better", "Which is better?"), responses=("one", "two"), mode="compare"
)


def request(*texts, sample=0, schema=None):
    return Request(
        messages=tuple({"role": "user", "content": text} for text in texts), sample=sample, response_schema=schema
    )


def asked(*texts, **more):
    return json.loads(describe_request(request(*texts, **more)))


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def reply(engine, asked):
    async def run():
        async with engine.running():
            return await engine.complete(asked)

    return asyncio.run(run())


def votes(engine, flow, journal=None):
    async def run():
        calls = Calls(engine, journal)
        async with calls.running():
            draws = [(order, sample) for order in ((0, 1), (1, 0)) for sample in range(3)]
            return [await ask(flow, QUESTION, *draw, calls) for draw in draws]

    return [(vote.selected_index, vote.unscored_reason, vote.assessment) for vote in asyncio.run(run())]


@pytest.mark.parametrize("flow", [Flow(), Flow(flow="one_step")])
def test_a_journaled_run_is_repeated_vote_for_vote(tmp_path, flow):
    simulated = SimulatedEngine(position_preference=1.0, garbage_rate=0.3, recovery_rate=0.5, name="judge")
    with Journal(tmp_path / "journal.sqlite3") as journal:
        recorded = votes(ScriptedJudge(simulated.reply, name="judge"), flow, journal)
        path = write(tmp_path / "run.jsonl", *exported(journal.path))
    assert votes(ReplayEngine(path=path, name="judge"), flow) == recorded
    assert len({index for index, _, _ in recorded}) > 1


def test_a_recording_keeps_everything_that_a_reply_has(tmp_path):
    whole = Completion(
        text=None,
        finish_reason="content_filter",
        prompt_tokens=5,
        completion_tokens=0,
        cost=0.25,
        model="m",
        logprobs=(TokenLogprob(token="a", logprob=-0.5, top=(("a", -0.5), ("b", -1.5))),),
    )
    line = {"request": asked("a"), "completion": whole.model_dump(mode="json", exclude_defaults=True) | {"text": None}}
    assert reply(ReplayEngine(path=write(tmp_path / "run.jsonl", line)), request("a")) == whole


def test_a_request_is_told_apart_by_all_that_its_reply_depends_on(tmp_path):
    requests = [request("a"), request("a", sample=1), request("a", schema={"type": "object"}), request("b", "a")]
    lines = [{"request": json.loads(describe_request(one)), "text": str(place)} for place, one in enumerate(requests)]
    engine = ReplayEngine(path=write(tmp_path / "run.jsonl", *lines))
    assert [reply(engine, one).text for one in requests] == ["0", "1", "2", "3"]


def test_the_simple_form_answers_by_the_last_message_and_the_sample(tmp_path):
    path = write(
        tmp_path / "run.jsonl",
        {"message": "verdict?", "text": "Yes"},
        "",
        {"message": "verdict?", "sample": 1, "text": "No"},
    )
    engine = ReplayEngine(path=path)
    assert reply(engine, request("anything", "verdict?")).text == "Yes"
    assert reply(engine, request("verdict?", sample=1)).text == "No"
    with pytest.raises(RejectedRequestError):
        reply(engine, request("verdict?", sample=2))


def test_the_exact_request_goes_before_its_last_message(tmp_path):
    exact = {
        "request": {"messages": [{"role": "user", "content": "a"}], "response_schema": None, "logprobs": 0, "sample": 0}
    }
    path = write(tmp_path / "run.jsonl", {"message": "a", "text": "simple"}, exact | {"completion": {"text": "exact"}})
    assert reply(ReplayEngine(path=path), request("a")).text == "exact"


def test_a_reply_that_was_not_recorded_is_refused_with_its_file(tmp_path):
    path = write(tmp_path / "run.jsonl", {"message": "a", "text": "A"})
    with pytest.raises(RejectedRequestError) as caught:
        reply(ReplayEngine(path=path), request("b"))
    assert str(path) in str(caught.value)
    assert caught.value.cause == "not_recorded"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{not json", "Expecting property name"),
        ("[1, 2]", "valid dictionary"),
        ({"message": "a"}, "exactly one"),
        ({"text": "a"}, "exactly one"),
        ({"message": "a", "request": asked("a"), "text": "c"}, "exactly one"),
        ({"message": "a", "text": "c", "modle": "gpt"}, "modle"),
        ({"message": 1, "text": "c"}, "message: Input should be a valid string"),
        ({"message": "a", "sample": "0", "text": "c"}, "sample: Input should be a valid integer"),
        ({"message": "a", "text": 3}, "text"),
        ("[" * 100_000, "recursion"),
        ("9" * 5_000, "digits"),
        ({"message": "a", "completion": {"text": "c", "finish": "stop"}}, "finish"),
        ({"request": {"messages": []}, "text": "c"}, "response_schema"),
    ],
)
def test_a_malformed_line_is_named_by_file_and_number(tmp_path, line, says):
    path = write(tmp_path / "run.jsonl", {"message": "fine", "text": "fine"}, line)
    with pytest.raises(InvalidInputError) as caught:
        ReplayEngine(path=path)
    assert f"line 2 of the recording {str(path)!r}" in str(caught.value)
    assert says in str(caught.value)


def test_two_replies_to_one_request_contradict_each_other_unless_they_are_the_same(tmp_path):
    same = {"message": "a", "text": "A"}
    assert len(ReplayEngine(path=write(tmp_path / "same.jsonl", same, same))._replies) == 1
    with pytest.raises(InvalidInputError, match="lines 1 and 3"):
        ReplayEngine(
            path=write(tmp_path / "run.jsonl", same, {"message": "b", "text": "A"}, {"message": "a", "text": "B"})
        )


def test_a_file_that_holds_no_recording_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="empty"):
        ReplayEngine(path=write(tmp_path / "run.jsonl", ""))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        ReplayEngine(path=tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        ReplayEngine(path=tmp_path / "latin.jsonl")


def test_a_recording_is_a_judge(tmp_path):
    replay = ReplayEngine(path=write(tmp_path / "run.jsonl", {"message": "a", "text": "A"}))
    assert isinstance(replay, JudgeEngine)
    assert replay.judge_id == "replay-run"
    assert replay.identity() is None

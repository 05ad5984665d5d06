import asyncio
import json

import pytest

from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.calls import Calls
from evenhand.engines.replay import RecordingEngine, ReplayJudge, replay_key
from evenhand.engines.simulated import SimulatedJudge
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.judging.conversation import ask
from evenhand.judging.flow import Flow
from evenhand.question import Question, comparison_criterion
from evenhand.votes import Completion, TokenLogprob

QUESTION = Question(
    id="q1", criterion=comparison_criterion("better", "Which is better?"), responses=("one", "two"), mode="compare"
)


def request(*texts, sample=0, schema=None):
    return Request(
        messages=tuple({"role": "user", "content": text} for text in texts), sample=sample, response_schema=schema
    )


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def reply(engine, asked):
    async def run():
        async with engine.running():
            return await engine.complete(asked)

    return asyncio.run(run())


def votes(engine, flow):
    async def run():
        calls = Calls(engine)
        async with calls.running():
            draws = [(order, sample) for order in ((0, 1), (1, 0)) for sample in range(3)]
            return [await ask(flow, QUESTION, *draw, calls) for draw in draws]

    return asyncio.run(run())


@pytest.mark.parametrize("flow", [Flow(), Flow(flow="one_step")])
def test_a_recorded_run_is_repeated_vote_for_vote(tmp_path, flow):
    judge = SimulatedJudge(position_preference=1.0, garbage_rate=0.3, recovery_rate=0.5, name="judge")
    recorded = votes(RecordingEngine(judge, tmp_path / "run.jsonl"), flow)
    repeated = votes(ReplayJudge(tmp_path / "run.jsonl", judge_id="judge"), flow)
    assert repeated == recorded
    assert len({vote.selected_index for vote in recorded}) > 1


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

    class OneReply(ReplayJudge):
        def __init__(self):
            self._judge_id = "one"

        async def complete(self, request):
            return whole

    assert reply(RecordingEngine(OneReply(), tmp_path / "run.jsonl"), request("a")) == whole
    assert reply(ReplayJudge(tmp_path / "run.jsonl"), request("a")) == whole


def test_a_recording_is_continued(tmp_path):
    judge = ReplayJudge(write(tmp_path / "in.jsonl", {"message": "a", "text": "A"}, {"message": "b", "text": "B"}))
    for text in "ab":
        reply(RecordingEngine(judge, tmp_path / "out.jsonl"), request(text))
    assert len(ReplayJudge(tmp_path / "out.jsonl")) == 2


def test_a_request_is_told_apart_by_all_that_its_reply_depends_on(tmp_path):
    asked = [request("a"), request("a", sample=1), request("a", schema={"type": "object"}), request("b", "a")]
    lines = [{"key": replay_key(one), "text": str(place)} for place, one in enumerate(asked)]
    engine = ReplayJudge(write(tmp_path / "run.jsonl", *lines))
    assert [reply(engine, one).text for one in asked] == ["0", "1", "2", "3"]


def test_the_simple_form_answers_by_the_last_message_and_the_sample(tmp_path):
    path = write(
        tmp_path / "run.jsonl",
        {"message": "verdict?", "text": "Yes"},
        "",
        {"message": "verdict?", "sample": 1, "text": "No"},
    )
    engine = ReplayJudge(path)
    assert reply(engine, request("anything", "verdict?")).text == "Yes"
    assert reply(engine, request("verdict?", sample=1)).text == "No"
    with pytest.raises(RejectedRequestError):
        reply(engine, request("verdict?", sample=2))


def test_the_exact_request_goes_before_its_last_message(tmp_path):
    exact = {
        "request": {"messages": [{"role": "user", "content": "a"}], "response_schema": None, "logprobs": 0, "sample": 0}
    }
    path = write(tmp_path / "run.jsonl", {"message": "a", "text": "simple"}, exact | {"completion": {"text": "exact"}})
    assert reply(ReplayJudge(path), request("a")).text == "exact"


def test_a_reply_that_was_not_recorded_is_refused_with_key_and_file(tmp_path):
    path = write(tmp_path / "run.jsonl", {"message": "a", "text": "A"})
    with pytest.raises(RejectedRequestError) as caught:
        reply(ReplayJudge(path), request("b"))
    assert replay_key(request("b")) in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.cause == "not_recorded"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{not json", "Expecting property name"),
        ("[1, 2]", "list, not an object"),
        ({"message": "a"}, "exactly one"),
        ({"text": "a"}, "exactly one"),
        ({"message": "a", "key": "b", "text": "c"}, "exactly one"),
        ({"message": "a", "text": "c", "modle": "gpt"}, "modle"),
        ({"key": "a", "sample": 1, "text": "c"}, "sample"),
        ({"message": 1, "text": "c"}, "not a text"),
        ({"key": 1, "text": "c"}, "not a text"),
        ({"message": "a", "sample": "0", "text": "c"}, "whole number"),
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
        ReplayJudge(path)
    assert f"line 2 of the recording {str(path)!r}" in str(caught.value)
    assert says in str(caught.value)


def test_two_replies_to_one_request_contradict_each_other_unless_they_are_the_same(tmp_path):
    same = {"message": "a", "text": "A"}
    assert len(ReplayJudge(write(tmp_path / "same.jsonl", same, same))) == 1
    with pytest.raises(InvalidInputError, match="lines 1 and 3"):
        ReplayJudge(write(tmp_path / "run.jsonl", same, {"message": "b", "text": "A"}, {"message": "a", "text": "B"}))


def test_a_file_that_holds_no_recording_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="empty"):
        ReplayJudge(write(tmp_path / "run.jsonl", ""))
    with pytest.raises(InvalidInputError, match="cannot be read"):
        ReplayJudge(tmp_path / "absent.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidInputError, match="UTF-8"):
        ReplayJudge(tmp_path / "latin.jsonl")


def test_recording_needs_a_run_and_a_folder(tmp_path):
    judge = SimulatedJudge()
    with pytest.raises(InvalidInputError, match="not running"):
        asyncio.run(RecordingEngine(judge, tmp_path / "run.jsonl").complete(request("a")))
    with pytest.raises(InvalidInputError, match="folder that exists"):
        reply(RecordingEngine(judge, tmp_path / "absent" / "run.jsonl"), request("a"))


def test_both_are_judges(tmp_path):
    replay = ReplayJudge(write(tmp_path / "run.jsonl", {"message": "a", "text": "A"}))
    recording = RecordingEngine(replay, tmp_path / "out.jsonl")
    assert isinstance(replay, JudgeEngine)
    assert isinstance(recording, JudgeEngine)
    assert (replay.judge_id, recording.judge_id) == ("replay-run", "replay-run")
    assert replay.identity() is None

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import unitxt

from evenhand.criteria import yes_no_criterion
from evenhand.engines.base import Request
from evenhand.engines.free_engines import BaselineEngine
from evenhand.engines.names import as_judge
from evenhand.errors import (
    EngineError,
    FatalEngineError,
    InvalidInputError,
    RejectedRequestError,
)
from evenhand.question import Question
from evenhand.unitxt.bases import Artifact, InferenceEngine
from evenhand.unitxt.engine_replies import public_fields, secret_values
from evenhand.unitxt.engines import UnitxtBridge

CRITERION = yes_no_criterion("polite", "Is it polite?")


class BridgeTestScriptedEngine(InferenceEngine):
    """Answers with the last message, upper case, and keeps every batch; some texts make it fail."""

    label: str = "scripted"
    model: str = "echo"
    credentials: dict = None
    extra_headers: dict = None
    max_retries: int = 3

    def prepare_engine(self):
        self.batches = []
        self.threads = set()
        self.failure = RuntimeError("the whole batch is lost")

    def get_engine_id(self):
        return f"{self.model}_{self.label}"

    def text_of(self, source):
        return source[-1]["content"]

    def _infer(self, dataset, return_meta_data=False):
        self.batches.append([dict(instance) for instance in dataset])
        self.threads.add(threading.get_ident())
        sources = [self.text_of(instance["source"]) for instance in dataset]
        if any("poison" in source for source in sources):
            raise self.failure
        return [None if source == "nothing" else source.upper() for source in sources]


class BridgeTestTextOnlyEngine(BridgeTestScriptedEngine):
    def text_of(self, source):
        return source

    def _infer(self, dataset, return_meta_data=False):
        self.verify_not_chat_api(dataset)
        return super()._infer(dataset, return_meta_data)


class BridgeTestMiscountingEngine(BridgeTestScriptedEngine):
    def _infer(self, dataset, return_meta_data=False):
        return ["only one"]


def request(text, *, sample=0, policy=None, options=None, history=()):
    question = Question(
        id="q", criterion=CRITERION, responses=("r",), data_classifications=() if policy is None else (policy,)
    )
    messages = (*history, {"role": "user", "content": text})
    return Request(messages=messages, sample=sample, options=options, question=question)


def ask(judge, *requests):
    """The replies, or the failures, in order."""

    async def run():
        async with judge.running():
            return await asyncio.gather(*(judge.complete(one) for one in requests), return_exceptions=True)

    return asyncio.run(run())


def texts(outcomes):
    return [getattr(outcome, "text", outcome) for outcome in outcomes]


def test_waiting_requests_travel_as_one_batch_off_the_event_loop():
    engine = BridgeTestScriptedEngine()
    outcomes = ask(UnitxtBridge(engine), *(request(f"a{i}") for i in range(50)))
    assert texts(outcomes) == [f"A{i}" for i in range(50)]
    assert [len(batch) for batch in engine.batches] == [50]
    assert threading.get_ident() not in engine.threads


def test_messages_options_and_policy_arrive_unchanged():
    engine = BridgeTestScriptedEngine(data_classification_policy=["pii", "public"])
    history = ({"role": "user", "content": "Assess."}, {"role": "assistant", "content": "Fine."})
    ask(UnitxtBridge(engine), request("Select.", policy=("pii",), options=("Yes", "No"), history=history))
    assert engine.batches[0][0] == {
        "source": [*history, {"role": "user", "content": "Select."}],
        "task_data": {"options": ["Yes", "No"]},
        "data_classification_policy": ["pii"],
    }


def test_data_that_the_engine_may_not_see_is_refused_alone():
    engine = BridgeTestScriptedEngine(data_classification_policy=["public"])
    refused, answered = ask(
        UnitxtBridge(engine), request("secret", policy=("pii",)), request("open", policy=("public",))
    )
    assert "['pii']" in str(refused)
    assert answered.text == "OPEN"
    assert [[instance["source"][-1]["content"] for instance in batch] for batch in engine.batches] == [["open"]]


def test_samples_of_one_prompt_are_asked_again_although_unitxts_cache_is_on(tmp_path):
    with unitxt.settings.context(inference_engine_cache_path=str(tmp_path)):
        engine = BridgeTestScriptedEngine(use_cache=True)
    judge = UnitxtBridge(engine)
    ask(judge, *(request("same", sample=sample) for sample in range(3)))
    ask(judge, request("same"))
    assert [len(batch) for batch in engine.batches] == [3, 1]
    assert engine.use_cache is True
    engine._cache.close()


def test_only_the_request_at_fault_fails():
    engine = BridgeTestScriptedEngine()
    requests = [request(f"a{i}" if i != 11 else "poison") for i in range(32)]
    outcomes = ask(UnitxtBridge(engine), *requests)
    assert isinstance(outcomes[11], EngineError)
    assert outcomes[11].cause == "RuntimeError"
    assert "the whole batch is lost" in str(outcomes[11])
    assert [text for i, text in enumerate(texts(outcomes)) if i != 11] == [f"A{i}" for i in range(32) if i != 11]
    # 32, then both halves of every failed batch: 16 16, 8 8, 4 4, 2 2, 1 1
    assert len(engine.batches) == 11


def test_a_refused_key_is_fatal_and_tried_once_and_not_repeated_in_the_message():
    class UnauthorizedError(Exception):
        status_code = 401

    engine = BridgeTestScriptedEngine(credentials={"api_key": "a-very-secret-value"})
    engine.failure = UnauthorizedError("no such key: a-very-secret-value")
    outcomes = ask(UnitxtBridge(engine), *(request(f"poison {i}") for i in range(16)))
    assert all(isinstance(outcome, FatalEngineError) for outcome in outcomes)
    assert not any("a-very-secret-value" in str(outcome) for outcome in outcomes)
    assert len(engine.batches) == 1


def refusal(status, message="no such thing"):
    error = RuntimeError(message)
    error.status_code = status
    return error


@pytest.mark.parametrize("place", [0, 7, 15])
@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_of_one_request_costs_that_request(place, status):
    engine = BridgeTestScriptedEngine()
    engine.failure = refusal(status)
    outcomes = ask(UnitxtBridge(engine), *(request("poison" if i == place else f"a{i}") for i in range(16)))
    refused = outcomes.pop(place)
    assert (type(refused), refused.cause) == (RejectedRequestError, f"http_{status}")
    assert all(outcome.text.startswith("A") for outcome in outcomes)


@pytest.mark.parametrize("count", [1, 3, 64])
def test_a_refusal_of_all_is_fatal(count):
    engine = BridgeTestScriptedEngine()
    engine.failure = refusal(404)
    outcomes = ask(UnitxtBridge(engine), *(request(f"poison {i}") for i in range(count)))
    assert [type(outcome) for outcome in outcomes] == [FatalEngineError] * count
    assert len(engine.batches) < 25  # 64 … 2 (6 calls), then eight single requests with the pairs and fours in between


def test_an_engine_without_chat_gets_a_text_with_headings():
    engine = BridgeTestTextOnlyEngine()
    history = ({"role": "user", "content": "Assess."}, {"role": "assistant", "content": "Fine."})
    judge = UnitxtBridge(engine)
    assert texts(ask(judge, request("alone"), request("Select.", history=history))) == [
        "ALONE",
        "USER:\nASSESS.\n\nASSISTANT:\nFINE.\n\nUSER:\nSELECT.\n\nASSISTANT:",
    ]
    ask(judge, request("again"))
    assert len(engine.batches) == 2  # the chat form is not tried a second time


def test_replies_that_do_not_match_the_requests_are_an_error():
    first, second = ask(UnitxtBridge(BridgeTestMiscountingEngine()), request("a"), request("b"))
    assert (first.text, second.text) == ("only one", "only one")  # alone, each has its one reply


def test_the_identity_says_what_a_reply_depends_on_and_no_secret():
    engine = BridgeTestScriptedEngine(
        model="llama",
        credentials={"api_key": "s3cr3t-key"},
        extra_headers={"Authorization": "Bearer s3cr3t"},
        max_retries=9,
    )
    judge = UnitxtBridge(engine)
    assert judge.judge_id == "llama_scripted"
    assert judge.identity() == {
        "unitxt": "BridgeTestScriptedEngine",
        "id": "llama_scripted",
        "fields": {"model": "llama"},
    }
    json.dumps(judge.identity())


@pytest.mark.parametrize(
    "name",
    ["token", "hf_token", "access_token", "client_secret", "watsonx_apikey", "RITS_API_KEY", "X-Auth", "db-password"],
)
def test_fields_named_like_secrets_are_in_no_identity(name):
    held = {name: "an-innocent-looking-word"}
    assert public_fields(held | {"model": "m"})[0] == {"model": "m"}
    assert public_fields({"extra": held | {"a": 1}})[0] == {"extra": {"a": 1}}
    assert public_fields({"credentials": held})[0] == {}
    assert list(secret_values({"credentials": held})) == ["an-innocent-looking-word"]
    assert list(secret_values({"extra": held})) == ["an-innocent-looking-word"]


@pytest.mark.parametrize(
    "value",
    [
        "sk-test-0123456789abcdefghij",
        "Bearer abcdef123",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.abc",
    ],
)
def test_values_that_look_like_keys_are_in_no_identity(value):
    assert public_fields({"model": "m", "about": value})[0] == {"model": "m"}
    assert public_fields({"extra_headers": {"X-Id": "8f3k2Lq9ZxY7w5Tn1VbC0d"}})[0] == {}


def test_an_engine_with_an_object_field_shares_no_replies_and_says_so_once(caplog):
    engine = BridgeTestScriptedEngine(extra_headers={"nested": {"thing": threading.Lock}})
    judge = UnitxtBridge(engine)
    identities = [judge.identity(), judge.identity(), UnitxtBridge(engine).identity()]
    assert all(one != other for one, other in itertools.combinations(identities, 2))
    json.dumps(identities)
    warnings = [record.message.count("(builtin_function_or_method)") for record in caplog.records]
    assert warnings == [1, 1]  # once for each bridge
    plain = BridgeTestScriptedEngine(extra_headers={"a": [1, 0.5, None, True, ("x",), {"y"}, Path("z")]})
    assert UnitxtBridge(plain).identity() == UnitxtBridge(plain).identity()
    assert public_fields({"stop": [set("hgfedcba")]})[0] == {"stop": [list("abcdefgh")]}  # the same in every process


@pytest.mark.parametrize("wrong", [None, 3, {"model": "x"}, BaselineEngine, Artifact()])
def test_what_is_no_judge_is_refused_with_three_ways_to_give_one(wrong):
    with pytest.raises(InvalidInputError, match="four ways"):
        as_judge(wrong)


def identity_of(**fields):
    return UnitxtBridge(BridgeTestScriptedEngine(**fields)).identity()


@pytest.mark.parametrize("field", ["api_base", "base_url", "url", "project_id", "deployment", "region"])
@pytest.mark.parametrize("place", ["credentials", "extra_headers"])
def test_engines_at_different_addresses_have_different_identities(field, place):
    project = "6f1c2b3a4d5e6f708192a3b4c5d6e7f8"  # as random as a key, and none
    one, other = ({place: {"api_key": "s3cr3t-key", field: value}} for value in (project, project[::-1]))
    assert identity_of(**one)["fields"] == {place: {field: project}}
    assert identity_of(**one) != identity_of(**other)


SLOW = """
import time, evenhand
from evenhand.unitxt.bases import InferenceEngine

class BridgeTestSlowEngine(InferenceEngine):
    label: str = "slow"
    def prepare_engine(self): pass
    def get_engine_id(self): return "slow"
    def _infer(self, dataset, return_meta_data=False):
        print("called", flush=True)
        time.sleep(120)

how = {"response_fields": "answer", "context_fields": [], "journal": None, "progress": False}
evenhand.judge([{"answer": "x"}], "Is it right?", BridgeTestSlowEngine(), **how)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_process_that_is_interrupted_twice_does_not_wait_for_a_call():
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen([sys.executable, "-c", SLOW], **pipes) as process:
        assert process.stdout.readline() == "called\n"
        for _ in range(2):
            time.sleep(0.5)  # a signal that follows at once is an echo of the first
            process.send_signal(signal.SIGINT)
        assert process.wait(60) != 0

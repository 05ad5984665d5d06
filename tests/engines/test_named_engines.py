"""An engine named by its model or by the address of its server, wherever an engine is taken."""

import json
import subprocess
import sys

import pytest

import evenhand
from evenhand.catalog import entry_ids
from evenhand.cli import main
from evenhand.engines.litellm import LiteLLMEngine
from evenhand.engines.names import as_judge, engine_of, engine_of_name, judges_of
from evenhand.engines.openai_compatible import OpenAICompatibleEngine
from evenhand.errors import ArtifactError, InvalidInputError
from evenhand.metrics import register
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.unitxt.bases import EvaluationInput, fetch_artifact
from evenhand.unitxt.loading import register_catalog
from tests.support.server import JudgeServer

CLARITY = "criteria.evenhand.direct.clarity"
ROWS = [{"response": "One."}, {"response": "Two."}]


@pytest.fixture(autouse=True)
def _no_key_of_this_machine(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.mark.parametrize(
    ("text", "model", "fields"),
    [
        ("openai/gpt-4.1-mini", "openai/gpt-4.1-mini", {}),
        ("together_ai/meta-llama/Llama-3-8b", "together_ai/meta-llama/Llama-3-8b", {}),
        ("bedrock/anthropic.claude-v2:1", "bedrock/anthropic.claude-v2:1", {}),
        (" openai/gpt-4.1-mini[temperature=1e-5, max_tokens=50]", "openai/gpt-4.1-mini", {"temperature": 1e-5}),
    ],
)
def test_a_model_is_one_of_litellm(text, model, fields):
    engine = engine_of_name(text)
    assert type(engine) is LiteLLMEngine
    assert engine.model == model
    assert {name: getattr(engine, name) for name in fields} == fields
    assert as_judge(text).judge_id == model


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://localhost:8000/v1[model=qwen]", "http://localhost:8000/v1"),
        ("HTTPS://example.org/api/[model=org/qwen-3,temperature=0.7]", "https://example.org/api"),
        ("http://[::1]:8000/v1[model=qwen]", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_a_server(text, address):
    judge = as_judge(text)
    assert judge.settings.base_url == address
    assert judge.settings.model.endswith(("qwen", "qwen-3"))


ASKING = """
import asyncio, sys

import evenhand
from evenhand.engines.base import Request
from evenhand.engines.calls import Calls
from evenhand.engines.names import judges_of

[_, address] = sys.argv
engines = [
    evenhand.OpenAICompatibleEngine(base_url=address, model="object"),
    f"{address}[model=address]",
    f"engines.evenhand.openai_compatible[base_url={address},model=id]",
]
for judge in judges_of(engines):
    calls = Calls(judge)

    async def ask():
        async with calls.running():
            return await calls.complete(Request(({"role": "user", "content": "Good?"},)))

    print(judge.judge_id, asyncio.run(ask()).text)
judges_of(["engines.evenhand.baseline", "engines.evenhand.simulated[seed=3]", "openai/gpt-4.1-mini"])
print(sorted({"unitxt", "datasets", "litellm"} & sys.modules.keys()))
"""


def test_engines_of_ours_are_found_and_asked_without_unitxt():
    with JudgeServer(reply="Good") as server:
        arguments = [sys.executable, "-c", ASKING, server.base_url]
        told = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["object Good", "address Good", "id Good", "[]"]


@pytest.mark.parametrize("identifier", entry_ids("engines"))
def test_an_engine_of_the_catalog_is_the_same_with_and_without_unitxt(identifier):
    fields = {
        "litellm": "[model=openai/m,stop=[END,Stop now],extra={top_k=1,b=[1.5,None]},temperature=1e-5]",
        "openai_compatible": "[base_url=http://localhost:1,model=m,batch=True,patience=0]",
        "simulated": "[position_preference=-0.5,quality_by_response={a=0.5,b=1},seed=3]",
    }.get(identifier.rpartition(".")[2], "")
    register_catalog()
    assert fetch_artifact(identifier + fields)[0].engine == engine_of(identifier + fields)


def test_what_is_neither_is_looked_for_in_the_catalog():
    assert engine_of_name("engines.evenhand.baseline") is None
    assert engine_of_name("engines.evenhand.litellm[model=openai/m]") is None
    assert engine_of_name("gpt-4.1-mini") is None
    assert engine_of_name("folder/engine.json") is None
    with pytest.raises(ArtifactError, match=r"no catalog holds the engine 'gpt'.*such as 'openai/gpt-4.1-mini'"):
        as_judge("gpt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://localhost:8000/v1", r"is a server's address without a model: give model='…' too .*--model"),
        ("openai/m[temperatur=1]", "there is no option 'temperatur'. Did you mean 'temperature'"),
        ("openai/m[temperature=hot]", "temperature is 'hot'; give a number"),
        ("http://localhost:8000/v1[api_key=sk-secret-0123456789]", "api_key is not accepted"),
        ("http://user:pass@localhost/v1[model=m]", "base_url holds a user name"),
        ("http://user:pass@localhost/v1", "base_url holds a user name"),
        ("http://localhost/v1?key=pass", "base_url holds a user name"),
        ("openai/m[apikey=sk-secret-0123456789]", "there is no option 'apikey'. Did you mean 'api_key_env'"),
        ("http://localhost/v1[model=m,apikey=pass]", "there is no option 'apikey'. Did you mean 'api_key_env'"),
        ("openai/m[extra={'key':'pass'}]", r"'openai/m\[…\]' is not of the form"),
        ("http://user:pass@localhost/v1[model=m,extra={'a':'b'}]", "base_url holds a user name"),
        ("http://user:pass@localhost/v1[model=m,colour=red]", "base_url holds a user name"),
        ("openai/m[pass]", r"'openai/m\[…\]' is not of the form"),
        ("engines.evenhand.litellm[pass]", r"litellm\[…\]' is not of the form"),
        ("http://user:pass@localhost/v1[model=m", "base_url holds a user name"),
    ],
)
def test_what_cannot_be_made_is_told_in_one_message_without_secrets(text, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        as_judge(text)
    assert "sk-secret" not in str(caught.value)
    assert "pass" not in str(caught.value).replace("password", "")


def test_a_metric_holds_no_address_with_a_password():
    with pytest.raises(InvalidInputError, match="base_url holds a user name") as caught:
        evenhand.DirectJudge(criteria=CLARITY, inference_engine="http://user:pass@localhost/v1")
    assert "user:pass" not in str(caught.value)


def test_the_model_of_an_address_may_be_given_beside_it():
    first, second = judges_of(["http://localhost:8000/v1", "openai/other"], "qwen")
    assert (first.judge_id, second.judge_id) == ("qwen", "openai/other")
    engine = OpenAICompatibleEngine(base_url="http://localhost:8000/v1")
    assert judges_of(engine, "qwen")[0].judge_id == "qwen"
    assert engine.model is None  # what is given is not changed
    with pytest.raises(InvalidInputError, match="model is 'qwen', but no engine is a server's address without a model"):
        judges_of("openai/other", "qwen")


def judged(metric):
    rows = [{"prediction": text, "references": [], "task_data": {}} for text in ("One.", "Two.")]
    inputs = [EvaluationInput(row["prediction"], row["references"], row["task_data"]) for row in rows]
    return metric.reduce_and_bootstrap(metric.map_stream(inputs))


def test_a_metric_takes_an_address_a_model_and_a_sentence():
    with JudgeServer(reply=lambda body: "Yes") as server:
        how = {"flow": "verdict_only", "journal": None, "progress": False, "check_positional_bias": False}
        metric = DirectJudge(inference_engine=server.base_url, model="judge", criteria="Is it polite?", **how)
        assert judged(metric)["is_it_polite"] == 1.0
        text = (
            f"metrics.evenhand.direct[criteria=Is it polite?,inference_engine={server.base_url},model=judge,"
            "flow=verdict_only,journal=None,progress=False,check_positional_bias=False]"
        )
        register()
        again, _ = fetch_artifact(text)
        assert judged(again)["is_it_polite"] == 1.0
        named = f"metrics.evenhand.direct[criteria={CLARITY},inference_engine={server.base_url}[model=other]]"
        assert fetch_artifact(named)[0].evaluator().startswith("other")
    assert {body["model"] for body in server.bodies} == {"judge"}
    assert fetch_artifact(json.loads(metric.to_json()))[0].to_json() == metric.to_json()


@pytest.mark.parametrize("named", ["{address}[model=judge]", "{address} --model judge"])
def test_the_shell_takes_an_address(named, tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"question": "Is it?", **row}) + "\n" for row in ROWS))
    with JudgeServer(reply=lambda body: "Yes") as server:
        engine = named.format(address=server.base_url).split()
        arguments = [
            "judge",
            str(data),
            "--criteria",
            "Is it polite?",
            "--response-fields",
            "response",
            "--journal",
            "none",
        ]
        assert main([*arguments, "--no-progress", "--flow", "verdict_only", "--engine", *engine]) == 0
    assert {body["model"] for body in server.bodies} == {"judge"}
    assert main([*arguments, "--engine", "http://localhost:9/v1"]) == 2
    assert "is a server's address without a model" in capsys.readouterr().err

"""An engine named by its model or by the address of its server, wherever an engine is taken."""

import json
import traceback

import pytest

import evenhand
from evenhand.catalog import catalog_entries
from evenhand.cli import main
from evenhand.engines.hosted import LiteLLMEngine
from evenhand.engines.names import as_judge, engine_of, engine_of_name
from evenhand.errors import InvalidInputError
from evenhand.unitxt.bases import fetch_artifact
from tests.support.server import JudgeServer

CLARITY = "criteria.evenhand.direct.clarity"
ROWS = [{"response": "One."}, {"response": "Two."}]


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


@pytest.mark.parametrize("identifier", [each for each in catalog_entries() if each.startswith("engines.")])
def test_an_engine_of_the_catalog_is_the_same_with_and_without_unitxt(identifier):
    fields = {
        "litellm": "[model=openai/m,stop=[END,Stop now],extra={top_k=1,b=[1.5,None]},temperature=0.5]",
        "openai_compatible": "[base_url=http://localhost:1,model=m,batch=True,patience=0]",
        "simulated": "[position_preference=-0.5,quality={a=0.5,b=1},seed=3]",
    }.get(identifier.rpartition(".")[2], "")
    evenhand.register()
    assert fetch_artifact(identifier + fields)[0].value == engine_of(identifier + fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://localhost:8000/v1", r"OpenAICompatibleEngine needs model: give model=… \(--model in the shell\)"),
        ("openai/m[temperatur=1]", "there is no option 'temperatur'. Did you mean 'temperature'"),
        ("openai/m[temperature=hot]", "temperature is 'hot'; it should be a valid number"),
        ("http://localhost:8000/v1[api_key=sk-secret-0123456789]", "api_key is not accepted"),
        ("http://user:pass@localhost/v1[model=m]", "base_url holds a user name"),
        ("http://localhost/v1?key=pass", "base_url holds a user name"),
        ("openai/m[apikey=sk-secret-0123456789]", "there is no option 'apikey'. Did you mean 'api_key_env'"),
        ("openai/m[extra={'key':'pass'}]", r"'openai/m\[…\]' is not of the form"),
        ("http://user:pass@localhost/v1[model=m,extra={'a':'b'}]", "base_url holds a user name"),
        ("engines.evenhand.litellm[pass]", r"litellm\[…\]' is not of the form"),
        ("http://user:pass@localhost/v1[model=m", "base_url holds a user name"),
        ("metrics.evenhand.direct", r"^'metrics\.evenhand\.direct' is not an inference engine\. Give one"),
        ("engines.evenhand.openai_compatible[base_url=http://localhost:1,model=m,api_base=x]", "no option 'api_base'"),
        ("engines.evenhand.litellm[model=openai/m,api_key=plain-pass-phrase]", "^api_key is not accepted"),
        ("engines.evenhand.litellm[api_key=plain-pass-phrase", r"litellm\[…\]' is not of the form"),
        ("engines.evenhand.nothing[api_key=plain-pass-phrase]", "^no local catalog holds the engine"),
        (
            "engines.evenhand.litellm[model=openai/m,temperature=-3]",
            "^temperature is -3; it should be greater",
        ),
    ],
)
def test_what_cannot_be_made_is_told_in_one_message_without_secrets(text, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        as_judge(text)
    assert "sk-secret" not in str(caught.value)
    assert "pass" not in "".join(traceback.format_exception(caught.value)).replace("password", "")
    assert "\n" not in str(caught.value)


def test_a_metric_holds_no_address_with_a_password():
    with pytest.raises(InvalidInputError, match="base_url holds a user name") as caught:
        evenhand.DirectJudge(criteria=CLARITY, inference_engine="http://user:pass@localhost/v1")
    assert "user:pass" not in str(caught.value)


@pytest.mark.parametrize("named", ["{address}[model=judge]", "{address} --model judge"])
def test_the_shell_takes_an_address(named, tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps({"question": "Is it?", **row}) + "\n" for row in ROWS))
    with JudgeServer(reply=lambda body: "Yes") as server:
        engine = named.format(address=server.base_url).split()
        arguments = ["judge", str(data), "--criteria", "Is it polite?", "--response-fields", "response"]
        arguments += ["--journal", "none"]
        assert main([*arguments, "--no-progress", "--flow", "verdict_only", "--engine", *engine]) == 0
    assert {body["model"] for body in server.bodies} == {"judge"}
    assert main([*arguments, "--engine", "http://localhost:9/v1"]) == 2
    assert "needs model: give model=… (--model in the shell)" in capsys.readouterr().err

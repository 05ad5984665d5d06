import json

import pytest

import evenhand
from evenhand.errors import InvalidInputError
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.unitxt import engines as artifacts
from evenhand.unitxt.bases import fetch_artifact
from evenhand.unitxt.engines import BaselineEngine, LiteLLMEngine, OpenAICompatibleEngine
from tests.support.server import JudgeServer

KEY = "sk-test-0123456789abcdefghij"


@pytest.fixture(params=["openai_compatible", "litellm"])
def engine_at(request):
    """Makes an engine of either kind for a server."""

    def make(server, **fields):
        fields = {"backoff": 0.002} | fields
        if request.param == "litellm":
            return LiteLLMEngine(model="openai/judge", api_base=server.base_url, **fields)
        return OpenAICompatibleEngine(model="judge", base_url=server.base_url, **fields)

    return make


def instances(*texts):
    return [{"source": text} for text in texts]


def test_it_is_an_ordinary_unitxt_engine(engine_at):
    with JudgeServer(reply=lambda body: "reply to " + body["messages"][-1]["content"]) as server:
        engine = engine_at(server)
        assert list(engine.infer(instances("a", "b", "c"))) == ["reply to a", "reply to b", "reply to c"]
        chat = [{"source": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "d"}]}]
        [output] = engine.infer(chat, return_meta_data=True)
    assert (output.prediction, output.stop_reason, output.output_tokens) == ("reply to d", "stop", 3)
    assert server.bodies[-1]["messages"] == chat[0]["source"]
    assert engine.use_cache is False


@pytest.mark.parametrize("name", ["BaselineEngine", "LiteLLMEngine", "OpenAICompatibleEngine", "SimulatedEngine"])
def test_every_option_has_a_field_with_the_same_default(name):
    plain, artifact = getattr(evenhand, name), getattr(artifacts, name)()
    assert artifact.value == plain()
    assert type(artifact).__name__ == name


def test_an_engine_and_its_artifact_are_made_of_each_other():
    engine = evenhand.OpenAICompatibleEngine(base_url="http://localhost:8000", model="m", stop="END", extra={"k": [1]})
    artifact = artifacts.to_artifact(engine)
    assert artifact.value == engine
    assert fetch_artifact(json.loads(artifact.to_json()))[0].value == engine
    artifact.temperature = 0.5
    assert artifact.value == engine.changed(temperature=0.5)  # made anew of what the fields are now


@pytest.mark.parametrize(
    "wrong", [{"api_key": KEY}, {"credentials": {"api_key": KEY}}, {"api_key_env": KEY}, {"extra": {"api_key": KEY}}]
)
@pytest.mark.parametrize("kind", [LiteLLMEngine, OpenAICompatibleEngine])
def test_a_key_in_a_field_is_refused_unseen(kind, wrong):
    address = {"base_url": "http://localhost:8000"} if kind is OpenAICompatibleEngine else {}
    for fields in (wrong | address | {"model": "m"}, wrong):
        if fields is wrong and not {"api_key", "credentials"} & set(wrong):
            continue  # what is still to be given is checked when it is
        with pytest.raises(InvalidInputError) as caught:
            kind(**fields)
        assert KEY not in str(caught.value)


def test_a_key_is_in_no_artifact_file_and_no_result(engine_at, monkeypatch, tmp_path):
    monkeypatch.setenv("TEAM_API_KEY", KEY)
    monkeypatch.setenv("EVENHAND_CACHE_DIR", str(tmp_path / "cache"))
    with JudgeServer(reply="Good") as server:
        engine = engine_at(server, api_key_env="TEAM_API_KEY")
        result = engine.infer(instances("a"), return_meta_data=True)
        assert server.requests[0].headers["Authorization"] == f"Bearer {KEY}"
    written = [engine.to_json(), json.dumps(engine.to_dict()), repr(engine), repr(result), repr(result.metadata)]
    assert all(KEY not in text for text in written)
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        (LiteLLMEngine(model="openai/gpt-4.1-mini"), "gpt_4,1_mini_evenhand_litellm"),
        (LiteLLMEngine(model="openai/m", name="Strict-1"), "strict_1_evenhand_litellm"),
        (OpenAICompatibleEngine(model="m1", base_url="http://localhost:1"), "m1_evenhand_openai_compatible"),
        (BaselineEngine(), "baseline_text_statistics_evenhand"),
    ],
)
def test_the_label_stands_once_in_a_score_name(engine, name):
    metric = DirectJudge(criteria="criteria.evenhand.direct.relevance", inference_engine=engine)
    assert metric.panel()[1] == name

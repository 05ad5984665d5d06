"""A key reaches the server and nothing else: no journal, log line, message, result or file."""

import logging
import traceback

import pytest

from evenhand.engines.hosted import OpenAICompatibleEngine
from evenhand.engines.names import as_judge
from evenhand.errors import EvenhandError, TooManyFailuresError
from evenhand.functions import judge
from evenhand.unitxt.bases import InferenceEngine
from evenhand.unitxt.engines import UnitxtBridge, to_artifact
from tests.support.judges import http_judge
from tests.support.questions import LEVELS
from tests.support.server import Fault, JudgeServer

KEY = "zq7-very-secret-key-4711"
HEADER = "project-credential-0815"
ROWS = [{"response": f"answer {number}"} for number in range(6)]
FAULTS = [
    Fault("status", status=429, retry_after=0.01, on=[1]),
    Fault("status", status=500, match="answer 1"),
    Fault("status", status=400, match="answer 2", message=f"no model for the key {KEY} in project {HEADER}"),
    Fault("cut", match="answer 3"),
    Fault("garbage", match="answer 4"),
]


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("OUR_SECRET_NAME", KEY)
    monkeypatch.setenv("OUR_HEADERS", f'{{"X-Project": "{HEADER}"}}')


@pytest.fixture
def everything_logged(caplog):
    """Every library at its most talkative."""
    caplog.set_level(logging.DEBUG)
    for name in ("aiohttp", "asyncio", "evenhand", "httpx", "LiteLLM"):
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def assert_silent(text):
    for secret in (KEY, HEADER):
        assert secret not in text
        assert secret[4:-4] not in text


def assert_no_file_tells(folder):
    written = [path for path in folder.rglob("*") if path.is_file()]
    for path in written:
        assert_silent(path.read_bytes().decode("utf-8", "replace"))
    return len(written)


def assess(engine, **options):
    return judge(ROWS, LEVELS, engine, check_positional_bias=False, **{"max_failure_rate": 1.0, **options})


def authorized_judge(server, **settings):
    return http_judge(server.base_url, api_key_env="OUR_SECRET_NAME", headers_env="OUR_HEADERS", **settings)


def test_a_run_with_every_kind_of_failure(tmp_path, everything_logged, capfd):
    with JudgeServer(labels=LEVELS.labels, faults=FAULTS) as server:
        engine = authorized_judge(server, max_retries=1)
        table = assess(engine, journal=tmp_path / "journal.sqlite3", generate_summaries=True)
    assert all(seen.headers["Authorization"] == f"Bearer {KEY}" for seen in server.requests)
    assert all(seen.headers["X-Project"] == HEADER for seen in server.requests)
    reasons = [judgement.verdict.votes[0].unscored_reason for judgement in table.entries]
    assert reasons.count("engine_error") == 4
    told = [str(judgement.verdict.votes[0].error) for judgement in table.entries]
    assert sum("[redacted]" in message for message in told) >= 2  # the 500 and the 400 echoed the key, and said so
    table.save(tmp_path / "table.jsonl")
    table.to_pandas().to_csv(tmp_path / "table.csv")
    table.to_dataset().to_json(str(tmp_path / "dataset.jsonl"))
    (tmp_path / "table.md").write_text(table.to_markdown())
    (tmp_path / "table.html").write_text(table._repr_html_())
    assert assert_no_file_tells(tmp_path) >= 5
    assert_silent(everything_logged.text)
    assert_silent("".join(capfd.readouterr()))
    for shown in (repr(table), str(table), repr(engine), repr(engine.identity()), repr(table.parameters)):
        assert_silent(shown)


@pytest.mark.parametrize("secret", [KEY, HEADER])
def test_an_error_with_the_key_in_a_200_is_told_without_it(tmp_path, everything_logged, secret):
    """No status tells that it is an error, and the key has no shape by which it could be known."""
    with JudgeServer(reply=lambda body: {"error": {"message": f"bad key <{secret}>"}}) as server:
        table = assess(authorized_judge(server), journal=tmp_path / "journal.sqlite3")
    table.save(tmp_path / "table.jsonl")
    assert "bad key <[redacted]>" in str(table.entries[0].verdict.votes[0].error)
    assert_no_file_tells(tmp_path)
    assert_silent(everything_logged.text)


def test_a_401_that_echoes_the_key(tmp_path, everything_logged):
    with (
        JudgeServer(labels=LEVELS.labels, faults=[Fault("status", status=401, message=f"bad key {KEY}")]) as server,
        pytest.raises(TooManyFailuresError, match="http_401") as caught,
    ):
        assess(authorized_judge(server), journal=tmp_path / "journal.sqlite3", max_failure_rate=0.0)
    assert "Bearer" not in str(caught.value) or "[redacted]" in str(caught.value)
    assert_silent("".join(traceback.format_exception(caught.value)))
    assert_silent(repr(caught.value.votes))
    assert_silent(everything_logged.text)
    assert_no_file_tells(tmp_path)


def test_the_artifact_written_as_a_catalog_entry():
    engine = OpenAICompatibleEngine(
        base_url="http://127.0.0.1:9/v1", model="m", api_key_env="OUR_SECRET_NAME", headers_env="OUR_HEADERS"
    )
    artifact = to_artifact(engine)
    assert "OUR_SECRET_NAME" in artifact.to_json()
    for shown in (artifact.to_json(), repr(artifact), repr(engine), artifact.get_engine_id()):
        assert_silent(shown)


@pytest.mark.parametrize(
    "fields",
    [
        {"api_key_env": KEY},
        {"headers_env": KEY},
        {"api_key": KEY},
        {"credentials": {"api_key": KEY}},
        {"extra": {"api_key": KEY}},
        {"base_url": f"http://user:{KEY}@127.0.0.1:9/v1"},
        {"base_url": f"http://127.0.0.1:9/v1?key={KEY}"},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_key_in_the_wrong_place_is_refused_without_being_shown(fields):
    with pytest.raises(EvenhandError) as caught:
        OpenAICompatibleEngine(**{"base_url": "http://127.0.0.1:9/v1", "model": "m", **fields})
    told = "".join(traceback.format_exception_only(caught.value))
    assert_silent(told)


@pytest.mark.parametrize(
    "form",
    [
        *(
            "engines.evenhand." + kind + "[model=x,%s=%s]"
            for kind in ("litellm", "openai_compatible", "no_such_engine")
        ),
        *('{"__type__": "' + kind + '", "%s": "%s"}' for kind in ("open_ai_inference_engine", "no_such_engine")),
    ],
)
@pytest.mark.parametrize("field", ["apikey", "key", "token", "api_key", "credentials", "api_key_env"])
def test_a_key_in_an_engines_id_is_not_shown(form, field):
    with pytest.raises(EvenhandError) as caught:
        as_judge(form % (field, KEY))
    assert_silent("".join(traceback.format_exception(caught.value)))


class SecretTestEngine(InferenceEngine):
    """An engine of unitxt's kind with every place where one keeps keys; it repeats what it was made with on failure."""

    label: str = "secret_test"
    hf_token: str = None
    client_secret: str = None
    watsonx_apikey: str = None
    credentials: dict = None
    extra_headers: dict = None

    def prepare_engine(self):
        pass

    def get_engine_id(self):
        return "secret_test"

    def _infer(self, dataset, return_meta_data=False):
        if any("answer 2" in instance["source"][-1]["content"] for instance in dataset):
            raise RuntimeError(f"refused: {self._init_dict}")
        return ["Mid"] * len(dataset)


@pytest.mark.parametrize(
    "fields",
    [
        {"hf_token": KEY},
        {"client_secret": KEY},
        {"watsonx_apikey": KEY},
        {"credentials": {"api_base": "http://127.0.0.1:9", "access_token": KEY, "password": HEADER}},
        {"extra_headers": {"X-Auth": KEY, "Cookie": HEADER}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_an_engine_of_unitxt_with_a_key(tmp_path, everything_logged, monkeypatch, fields):
    monkeypatch.delenv("OUR_SECRET_NAME")
    engine = SecretTestEngine(**fields)
    table = assess(engine, journal=tmp_path / "journal.sqlite3")
    assert "[redacted]" in str(table.entries[2].verdict.votes[0].error)
    table.save(tmp_path / "table.jsonl")
    assert_no_file_tells(tmp_path)
    assert_silent(repr(UnitxtBridge(engine).identity()) + repr(table.parameters))
    assert_silent("".join(record.getMessage() for record in everything_logged.records if "evenhand" in record.name))


def test_the_key_is_no_part_of_a_replys_identity(tmp_path, monkeypatch):
    """Another key finds the same journaled replies."""
    with JudgeServer(labels=LEVELS.labels) as server:
        assess(authorized_judge(server), journal=tmp_path / "journal.sqlite3")
        seen = server.seen
        monkeypatch.setenv("OUR_SECRET_NAME", "another-key-altogether")
        assess(authorized_judge(server), journal=tmp_path / "journal.sqlite3")
        assert server.seen == seen
    assert_silent(str(server.bodies))  # the key travels in a header

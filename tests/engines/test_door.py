"""The one door: what may not leave does not leave, for any judge and any mode. The server counts."""

import json
import math

import pytest
import unitxt

from evenhand.criteria import yes_no_criterion
from evenhand.engines import calls
from evenhand.engines.base import SheetItem
from evenhand.engines.free_engines import BaselineEngine, SimulatedEngine
from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from evenhand.engines.journal import Journal
from evenhand.engines.names import as_judge
from evenhand.errors import DataClassificationError, InvalidInputError, MockModeError, OfflineError
from evenhand.metrics.judge_metrics import DirectJudge
from evenhand.question import Question
from evenhand.unitxt.engines import UnitxtBridge, to_artifact
from tests.support.asking import ask, request
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.questions import estimated, run
from tests.support.recipes import evaluated
from tests.support.server import JudgeServer

CLEAR = yes_no_criterion("clear", "Is it clear?")
ROWS = [{"q": f"question {number}", "a": f"answer {number}", "b": f"reply {number}"} for number in range(3)]


def questions(*classifications):
    return [
        Question(
            id=str(n),
            criterion=CLEAR,
            responses=(f"answer {n}",),
            instance=n,
            data_classifications=() if each is None else (each,),
        )
        for n, each in enumerate(classifications)
    ]


@pytest.fixture
def server():
    with JudgeServer(labels=["Yes", "No"]) as running:
        yield running


@pytest.fixture(autouse=True)
def _undisturbed(monkeypatch):
    for variable in (calls.MOCK_VARIABLE, calls.OFFLINE_VARIABLE):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("kind", ["bridge", "object"])
def test_in_mock_mode_no_engine_sends_anything(kind, server, tmp_path, monkeypatch):
    judge = {
        "bridge": lambda: UnitxtBridge(to_artifact(LiteLLMEngine(model="openai/judge", api_base=server.base_url))),
        "object": lambda: ScriptedJudge(chooses("Yes")),
    }[kind]()
    monkeypatch.setenv(calls.MOCK_VARIABLE, "True")
    votes = run(questions(None, None), [judge])
    assert {vote.unscored_reason for row in votes for vote in row} == {"mock_mode"}
    assert all("mock_inference_mode" in vote.error and vote.usage.calls == 0 for row in votes for vote in row)
    assert server.seen == 0
    assert not getattr(judge, "requests", None)
    with pytest.raises(MockModeError, match=repr(judge.judge_id)):
        ask(judge)


def test_a_recipe_in_mock_mode_ends_with_unscored_votes_and_no_score(server):
    engine = OpenAICompatibleEngine(base_url=server.base_url, model="judge")
    metric = DirectJudge(inference_engine=engine, criteria=CLEAR, journal=None, progress=False, context_fields=[])
    with unitxt.settings.context(mock_inference_mode=True):
        results = evaluated(metric, ROWS, ["an answer"] * 3)
    scores = results[0]["score"]["global"]
    assert scores["clear_unscored_votes_mock_mode"] == 6
    assert scores["clear_calls"] == 0
    assert math.isnan(scores["clear"])
    assert server.seen == 0


@pytest.mark.parametrize(("value", "on"), [("True", True), ("False", False), (None, False)])
def test_without_unitxt_the_variable_is_read_as_unitxt_reads_it(value, on, monkeypatch):
    monkeypatch.delitem(calls.sys.modules, "unitxt.settings_utils")
    if value is not None:
        monkeypatch.setenv(calls.MOCK_VARIABLE, value)
    assert calls.mock_mode() is on


@pytest.mark.parametrize("loaded", [True, False])
def test_a_variable_that_says_neither_is_refused_by_name(loaded, monkeypatch):
    if not loaded:
        monkeypatch.delitem(calls.sys.modules, "unitxt.settings_utils")
    for name in (calls.MOCK_VARIABLE, calls.OFFLINE_VARIABLE):
        with monkeypatch.context() as patch:
            patch.setenv(name, "perhaps")
            with pytest.raises(InvalidInputError, match=f"{name} is 'perhaps'; accepted"):
                calls.why_withheld("judge")


def test_offline_the_journal_answers_and_nothing_else_does(server, tmp_path, monkeypatch):
    judge = http_judge(server.base_url)
    with Journal(tmp_path / "journal.sqlite3") as journal:
        known = run(questions(None, None), [judge], journal=journal)
        before = server.seen
        asked = questions(None, None, None)
        again = run(asked, [judge], journal=journal, offline=True)
        monkeypatch.setenv(calls.OFFLINE_VARIABLE, "1")
        by_variable = run(asked, [judge], journal=journal)
        with pytest.raises(
            OfflineError, match="EVENHAND_OFFLINE=1 says that nothing is sent, and the journal holds no"
        ):
            ask(judge, request("new"), journal=journal)
    assert server.seen == before
    for votes in (again, by_variable):
        assert [vote.selected_label for row in votes[:2] for vote in row] == [
            vote.selected_label for row in known for vote in row
        ]
        assert {vote.unscored_reason for vote in votes[2]} == {"offline"}


def engines_for_public_data(server):
    class Own(ScriptedJudge):
        data_classification_policy = ("public",)

    address = {"base_url": server.base_url, "model": "judge"}
    return [
        OpenAICompatibleEngine(**address, data_classification_policy=["public"]),
        f"{server.base_url}[model=judge,data_classification_policy=[public]]",
        LiteLLMEngine(model="openai/judge", api_base=server.base_url, data_classification_policy=["public"]),
        BaselineEngine(data_classification_policy=["public"]),
        SimulatedEngine(data_classification_policy=["public"]),
        Own(chooses("Yes")),
    ]


def test_one_row_that_an_engine_may_not_see_ends_the_run_before_the_first_call(server):
    for engine in engines_for_public_data(server):
        judges = [ScriptedJudge(chooses("Yes"), name="open"), as_judge(engine)]
        assert run(questions(("public", "pii"), None), judges)
        seen, asked = server.seen, len(judges[0].requests)
        for ends in (run, estimated):
            with pytest.raises(DataClassificationError) as refused:
                ends(questions(("public",), ("pii", "secret")), judges)
            for part in ("['pii', 'secret']", repr(judges[1].judge_id), "['public']", "data_classification_policy"):
                assert part in str(refused.value)
        assert (server.seen, len(judges[0].requests)) == (seen, asked)


def test_the_environment_says_what_an_engine_may_see_as_it_does_for_unitxt(server, monkeypatch):
    engine = OpenAICompatibleEngine(base_url=server.base_url, model="judge", data_classification_policy=["public"])
    artifact = to_artifact(engine)
    policy = {artifact.get_pretty_print_name(): ["pii"]}
    monkeypatch.setenv("UNITXT_DATA_CLASSIFICATION_POLICY", json.dumps(policy))
    assert as_judge(engine).data_classification_policy == ("pii",)
    assert artifact.to_judge().data_classification_policy == ("pii",)
    assert UnitxtBridge(artifact).data_classification_policy == ("pii",)


def test_whoever_asks_at_the_door_is_checked_also_about_one_item_of_a_sheet():
    judge = as_judge(BaselineEngine(data_classification_policy=["public"]))
    [open_, secret] = questions(("public",), ("pii",))
    items = tuple(SheetItem(place, each, each.present((0, 1))) for place, each in enumerate((open_, secret), 1))
    for asked in (request(question=secret), request(items=items, stage="sheet")):
        with pytest.raises(DataClassificationError, match="'pii'"):
            ask(judge, asked)

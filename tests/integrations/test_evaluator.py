"""One callable for other frameworks, and the lines by which the page says that each takes it."""

import inspect
import json
import re
from types import SimpleNamespace

import pytest

from evenhand.criteria import Checklist, ChecklistItem, Rubric, yes_no_criterion
from evenhand.errors import InvalidInputError, TransientEngineError
from evenhand.integrations.evaluator import evaluator
from evenhand.judges import Judge
from tests.support.judges import ScriptedJudge, chooses
from tests.support.pages import ROOT
from tests.support.questions import LEVELS

PAGE = (ROOT / "docs" / "how-to" / "one-response.md").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^\| (\w+) \| `(.*)` \|$", PAGE, re.MULTILINE))


def rated(judged, reply, **given):
    engine = ScriptedJudge(reply, identity=False)
    found = evaluator(Judge(judged, engine))(**given)
    assert json.loads(json.dumps(found)) == found
    return found, engine


def test_it_has_score_label_reason_and_plain_metadata():
    found, engine = rated(LEVELS, chooses("Mid"), input="Which?", output="This.", expected="That.", id=7, metadata={})
    assert (found["score"], found["label"], found["reason"]) == (0.5, "Mid", "It answers.")
    assert found["metadata"]["unscored_reason"] is None
    assert [vote["selected_label"] for vote in found["metadata"]["votes"]] == ["Mid", "Mid"]
    assert engine.requests[0].question.context == {"question": "Which?", "reference": "That."}


def test_an_input_with_names_is_shown_by_them():
    _, engine = rated(LEVELS, chooses("Mid"), input={"document": "d", "task": "t"}, output="This.")
    assert engine.requests[0].question.context == {"document": "d", "task": "t"}
    named = evaluator(Judge(LEVELS, engine), input_name="task")
    named(input="t", output="x")
    assert engine.requests[-1].question.context == {"task": "t"}
    assert named.__name__ == "level"


def test_what_has_no_score_is_none_and_says_why():
    found, _ = rated(LEVELS, lambda request: TransientEngineError("away"), output="x")
    assert (found["score"], found["label"], found["metadata"]["unscored_reason"]) == (None, None, "engine_error")
    with pytest.raises(InvalidInputError, match="judges one response"):
        evaluator(Judge(LEVELS, ScriptedJudge(chooses("Mid"))))(input="x")


def test_parts_of_rubrics_and_checklists_are_told():
    criteria = (yes_no_criterion("polite", "Polite?"), yes_no_criterion("short", "Short?"))
    rubric = Rubric(name="manners", criteria=criteria)
    found, _ = rated(rubric, chooses("Yes"), output="x")
    parts = found["metadata"]["parts"]
    assert {name: part["label"] for name, part in parts.items()} == {"polite": "Yes", "short": "Yes"}
    checklist = Checklist(name="facts", items=(ChecklistItem(question="Is it true?", name="true"),))
    found, _ = rated(checklist, lambda request: '{"answers": [{"index": 1, "answer": "Yes"}]}', output="x")
    assert (found["score"], list(found["metadata"]["parts"])) == (1.0, ["true"])


def called(function, **given):
    """A function called as frameworks do: with what it takes of all there is."""
    taken = inspect.signature(function).parameters
    every = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in taken.values())
    return function(**{name: value for name, value in given.items() if every or name in taken})


ASKED = {"input": {"question": "Which?"}, "output": "This.", "expected": "That.", "metadata": {}}
FRAMEWORKS = {
    "mlflow": (
        {"scorer": lambda name: lambda function: function},
        lambda scorer: called(scorer, inputs=ASKED["input"], outputs="This.", expectations={}, trace=None),
    ),
    "langfuse": (
        {"langfuse": SimpleNamespace(run_experiment=lambda **how: how["evaluators"][0]), "Evaluation": SimpleNamespace},
        lambda evaluate: called(evaluate, **ASKED, expected_output="That.").value,
    ),
    "phoenix": (
        {"run_experiment": lambda dataset, task, evaluators: evaluators["relevance"], "dataset": []},
        lambda evaluate: called(evaluate, **ASKED),
    ),
    "braintrust": (
        {"Eval": lambda name, data, task, scores: scores[0], "Score": lambda name, score: score},
        lambda scorer: called(scorer, **ASKED),
    ),
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_line_for_a_framework_makes_what_it_calls(framework):
    names, call = FRAMEWORKS[framework]
    relevance = evaluator(Judge(LEVELS, ScriptedJudge(chooses("Mid"), identity=False)))
    made = eval(LINES[framework], {**names, "relevance": relevance, "data": [], "task": None})
    assert call(made) == 0.5


def test_the_line_for_promptfoo():
    names = {"relevance": evaluator(Judge(LEVELS, ScriptedJudge(chooses("Mid"), identity=False)))}
    exec(LINES["promptfoo"], names)
    found = names["get_assert"]("This.", {"vars": {"question": "Which?"}, "prompt": "p"})
    assert (found["pass"], found["score"], found["reason"]) == (True, 0.5, "It answers.")
    assert LINES.keys() == {*FRAMEWORKS, "promptfoo"}

"""Prompts in the form of autochecklist, and its scorers by name."""

import pytest

import evenhand
from evenhand.errors import InvalidPromptError
from evenhand.prompts import check_first_prompt
from tests.support.judges import ScriptedJudge

ITEM = 'History:\n{history}\nInput:\n{input}\nTarget:\n{target}\nReply {{"answer": "YES"}} to: {question}'


def test_a_prompt_for_one_item():
    check_first_prompt(ITEM, "response", "verdict")
    sent = []

    def says(request):
        sent.append(request.messages[-1]["content"])
        return "Yes"

    rows = [{"input": "Write {a} poem.", "response": "Roses {target}.", "unseen": "x"}]
    how = {"mode": "item", "prompt": ITEM, "context_fields": ["input"], "journal": None, "progress": False}
    evenhand.checklist(rows, ["Does it rhyme?"], ScriptedJudge(says), **how)
    (prompt,) = sent
    assert (
        prompt.index("Write {a} poem.") < prompt.index("Roses {target}.") < prompt.index('Reply {"answer": "YES"} to')
    )
    assert prompt.count("Write {a} poem.") == 1
    assert 'Reply {"answer": "YES"} to: Does it rhyme?' in prompt
    assert "History:\n\nInput:" in prompt  # there is none


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{target} {qeustion}", "names {qeustion}, which is not one of its placeholders. Did you mean 'question'?"),
        ("{target} {checklist}", "the prompt names 'items', which is not one of its placeholders"),
    ],
)
def test_what_it_is_not_filled_with_is_refused(text, message):
    with pytest.raises(InvalidPromptError) as caught:
        check_first_prompt(text, "response", "verdict")
    assert message in str(caught.value)


def test_the_scores_of_the_scorer_rlcf():
    rows = [{"response": "Roses."}]
    checklist = {
        "questions": [{"question": "Does it rhyme?", "weight": 30}, {"question": "Is it short?", "weight": 10}]
    }
    says = ScriptedJudge(lambda request: "Yes" if "rhyme" in request.question.criterion.description else "No")
    how = {"mode": "item", "primary_metric": "weighted", "journal": None, "progress": False}
    table = evenhand.checklist(rows, checklist, says, **how)
    assert table.reports["response"].primary_score.estimate == 0.75  # 30 of 40

"""The report on judges through the Python function: what is asked, what it costs, what it holds, and its files."""

import pytest

from evenhand.criteria import yes_no_criterion
from evenhand.errors import InvalidInputError, UnknownRuleError
from evenhand.functions import reliability
from evenhand.numbers import Missing
from evenhand.question import comparison_criterion
from tests.support.judges import ScriptedJudge, chooses, http_judge
from tests.support.server import JudgeServer

BETTER = comparison_criterion("better", "Which response is better?", allow_ties=True)
PLAIN = comparison_criterion("better", "Which response is better?")
CITES = yes_no_criterion("cites", "Does the response cite a source?")
ROWS = [
    {
        "a": f"answer {place}" + "." * place,
        "b": f"other {place}",
        "c": f"third {place}",
        "preferred": ("a", "b", "tie")[place % 3],
        "cited": ("Yes", "No")[place % 2],
    }
    for place in range(6)
]
QUIET = {"progress": False, "journal": None}


def always_first(request):
    """Prefers, or says, what is shown first, whatever it is."""
    if request.stage == "assessment":
        return "I have looked at both."
    return "Response A" if request.question.compares else request.presentation.answers[0]


def report(engine=None, criteria=(BETTER, CITES), **more):
    given = {"response_fields": ["a", "b"], **QUIET, **more}
    return reliability(ROWS, list(criteria), engine or ScriptedJudge(always_first), **given)


def test_a_judge_that_always_takes_the_first_place():
    found = report(samples=3)
    compared, assessed = found.of("better"), found.of("cites")
    for result, questions in ((compared, 6), (assessed, 12)):
        assert result.position.position_consistency.estimate == 0.0
        assert result.position.first_shown_share.estimate == 1.0
        assert result.repetition.pair_agreement.estimate == 1.0
        assert (result.num_questions, result.num_samples) == (questions, 3)
        assert result.replies.unscored_counts.votes == 6 * questions
        # Six clusters that all point one way: 2 / 2^6.
        assert result.position.p_value == pytest.approx(2 / 64)
    said = {finding.measure: finding.text for finding in found.findings("better")}
    assert said["inconsistent towards the first"].startswith("100 % [")
    assert "what is shown first gains" in said["inconsistent towards the first"]


def test_what_people_said_is_read_from_columns():
    found = report(gold_fields={"better": "preferred", "cites": "cited"})
    # Orders that disagree are a tie, which is what people said twice, and ½ for yes or no: the worse option.
    assert found.of("better").people.accuracy.estimate == pytest.approx(2 / 6)
    assert found.of("better").people.num_references == 6
    assert found.of("cites").people.vote_accuracy.estimate == pytest.approx(0.5)
    one = reliability(
        ROWS, BETTER, ScriptedJudge(always_first), response_fields=["a", "b"], gold_fields="preferred", **QUIET
    )
    assert one.of().people == found.of("better").people
    assert found.of("cites").people.num_references == 12


def test_a_second_report_costs_no_call(tmp_path):
    journal = tmp_path / "journal.sqlite"
    given = {"response_fields": ["a", "b", "c"], "journal": journal, "progress": False, "samples": 2}
    with JudgeServer(labels=["Response A", "Tie", "Response B", "Option 1", "Option 2"]) as server:
        engine = http_judge(server.base_url, temperature=1.0)
        planned = reliability(ROWS, BETTER, engine, dry_run=True, **given)
        assert server.seen == 0
        first = reliability(ROWS, BETTER, engine, **given)
        made = server.seen
        assert made >= planned.calls > 0
        again = reliability(ROWS, BETTER, engine, **given)
        assert server.seen == made
        assert reliability(ROWS, BETTER, engine, dry_run=True, **given).calls == 0
    assert again.of().replies.usage.calls == 0
    assert again.of().replies.usage.cached == first.of().replies.usage.calls + first.of().replies.usage.cached
    assert again.of().position == first.of().position
    assert first.of().replies.usage.calls == made


def test_a_judge_that_refuses_has_reasons_and_no_numbers():
    found = report(ScriptedJudge(chooses("I'm sorry, but I can't help with that request.")), max_reasks=1)
    result = found.of("better")
    assert result.replies.unscored_counts.reasons == {"refusal": 12}
    assert (result.replies.reasks, result.replies.parse_rate.estimate) == (12, 0.0)
    assert isinstance(result.position, Missing)
    for text in (str(found), found.to_markdown(), found.to_html(), found.to_json()):
        assert "nan" not in text.lower()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"criteria": [BETTER], "response_fields": "a"},
            r"names \['a'\]; name one column or more, and two or more for \['better'\]",
        ),
        ({"systems": ["a", "b"]}, "chooses among the systems of recorded votes"),
        ({"gold_fields": {"best": "preferred"}}, "which is not judged"),
        ({"gold_fields": {"better": "cited"}}, "the gold label in 'cited' is 'Yes'"),
        ({"scale": "graded", "criteria": [PLAIN]}, "leave these out"),
        ({"allow_ties": True, "criteria": [CITES]}, "no criterion is pairwise"),
    ],
)
def test_what_cannot_be_used_is_named_before_the_first_call(changes, message):
    engine = ScriptedJudge(always_first)
    with pytest.raises((InvalidInputError, UnknownRuleError), match=message):
        report(engine, **changes)
    assert engine.requests == []

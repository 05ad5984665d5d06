"""Direct assessment of a data set: what is asked, what the table holds, and how it is kept and shown."""

import pytest

from evenhand.criteria import Criterion, Option, yes_no_criterion
from evenhand.functions import judge
from evenhand.modes.judgements import DifferentRangesWarning, DirectMode
from evenhand.modes.mode import Subject
from evenhand.options import AssessmentOptions
from evenhand.votes import Verdict
from tests.support.judges import ScriptedJudge, chooses
from tests.support.questions import LEVELS

POLITE = yes_no_criterion("polite", "Is it polite?")
ROWS = [
    {"question": "q0", "alder": "alder 0", "birch": "birch 0", "gold_alder": "High", "gold_birch": "low"},
    {"question": "q1", "alder": "alder 1", "birch": "birch 1", "gold_alder": "Mid", "gold_birch": None},
    {"question": "q2", "alder": "alder 2", "birch": "birch 2", "gold_alder": "High", "gold_birch": "Low"},
]


def verdicts(request):
    """alder is High and polite, birch Low and impolite; reversed, alder 1 is only Mid, and birch 2 is not read."""
    if request.options is None:
        return f"on {request.question.responses[0]}"
    response, reversed_order = request.question.responses[0], request.presentation.order[0] != 0
    if response == "birch 2" and reversed_order:
        return "hm"
    if request.question.criterion.name == "polite":
        return "Yes" if response.startswith("alder") else "No"
    if response == "alder 1" and reversed_order:
        return "Mid"
    return "High" if response.startswith("alder") else "Low"


def assess(engine=None, *, rows=ROWS, criteria=(LEVELS, POLITE), **options):
    given = {"response_fields": ["alder", "birch"], "journal": None, "progress": False, **options}
    return judge(rows, list(criteria), engine or ScriptedJudge(verdicts), **given)


@pytest.fixture(scope="module")
def table():
    return assess(gold_fields={"level": "gold_{system}"}, context_fields="question")


def test_the_scores_by_hand(table):
    alder, birch = table.summaries["alder", "level"], table.summaries["birch", "level"]
    # alder: 1, (1 + 0.5) / 2, 1 with one flip in three; birch: 0, 0, 0 with the third read in one order only
    assert alder.score.estimate == pytest.approx(2.75 / 3)
    assert alder.positional_bias.estimate == pytest.approx(1 / 3)
    assert birch.score.estimate == 0.0
    assert birch.positional_bias.n == 2
    # six votes, five of them read; one reply more led to a re-ask
    assert birch.parse_rate.estimate == pytest.approx(5 / 7)
    assert birch.reasks == 1
    assert table.summaries["alder", "polite"].score.estimate == 1.0
    assert table.summaries["birch", "polite"].score.estimate == 0.0


def test_the_agreement_with_people_by_hand(table):
    # alder selects High, Mid or High, High against High, Mid, High; the mean 0.75 lies between two options, and a tie
    # goes to the worse one: Mid
    assert table.gold_agreement("alder", "level").estimate == 1.0
    # birch: Low, Low, Low against Low, nothing, Low
    share = table.gold_agreement("birch", "level")
    assert (share.estimate, share.n) == (1.0, 2)
    assert table.gold_agreement("alder", "polite") is None


def test_a_mean_over_rows_whose_criteria_have_different_ranges_is_warned_of():
    grade = Criterion(name="grade", description="?", options=tuple(Option(label=f"{n}", value=n) for n in range(1, 6)))
    subjects = [Subject(0, {"": "x"}, judged=POLITE), Subject(1, {"": "x"}, judged=grade)]
    results = [Verdict(value=value, aggregated_value=value) for value in (1.0, 5.0)]
    with pytest.warns(DifferentRangesWarning, match="'polite' from 0 to 1; 'grade' from 1 to 5"):
        DirectMode(AssessmentOptions()).measures(subjects, results, 0.95)


def test_the_judge_sees_the_context_and_not_the_system():
    engine = ScriptedJudge(verdicts)
    assess(engine, context_fields={"the question": "question"})
    sent = [request.messages[0]["content"] for request in engine.requests]
    assert all("Context, the question:" in prompt for prompt in sent)
    assert not any("gold" in prompt for prompt in sent)


def test_references_reach_the_engine_but_only_a_context_shows_them():
    rows = [{"response": "r", "reference": "the answer"}, {"response": "s", "reference": None}]
    engine = ScriptedJudge(chooses("Mid"))
    judge(rows, LEVELS, engine, journal=None, progress=False, check_positional_bias=False)
    assert {request.question.references for request in engine.requests} == {("the answer",), ()}
    assert not any("the answer" in request.messages[0]["content"] for request in engine.requests)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_response_is_unscored_and_no_judge_is_asked(missing):
    engine = ScriptedJudge(chooses("Mid"))
    rows = [ROWS[0], {**ROWS[1], "birch": missing}]
    table = judge(
        rows, LEVELS, engine, response_fields=("alder", "birch"), context_fields=[], journal=None, progress=False
    )
    assert len(engine.requests) == 3 * 2 * 2  # three responses, two orders, two steps
    last = table.entries[-1]
    assert (last.system, last.instance, last.verdict.unscored_reason) == ("birch", 1, "missing_response")
    summary = table.summaries["birch", "level"]
    assert (summary.num_instances, summary.num_unscored, summary.score.n) == (2, 1, 1)
    assert (summary.score_if_unscored_0, summary.score_if_unscored_1) == (0.25, 0.75)
    assert table.rescore(on_position_bias="first").entries[-1] == last
    assert "missing_response" in table.to_dataset()["unscored_reason"]

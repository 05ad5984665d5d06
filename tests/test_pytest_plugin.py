"""assert_judged of one response and of a result: what does not hold is said as pytest says it."""

from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest

import evenhand
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_number
from evenhand.pytest_plugin import assert_judged
from evenhand.statistics import mean_intervals
from tests.support.judges import ScriptedJudge

pytest_plugins = ["pytester"]

INSTALLED = [each for each in entry_points(group="pytest11") if each.name == "evenhand"]
PLUGIN = () if INSTALLED else ("-p", "evenhand.pytest_plugin")
"""What makes pytest load it, where evenhand was installed before it had a plugin."""

JUDGED = """
import evenhand
from evenhand.votes import Completion
from tests.support.judges import ScriptedJudge

ANSWERS = ["Yes", "No!\\x1b[31m"]
ROWS = [{"question": f"Is {number} even?", "answer": ANSWERS[number % 2]} for number in range(12)]


def reply(request):
    if request.stage == "assessment":
        return Completion(text="It is odd.", cost=0.01, attempts=1)
    return Completion(text="No" if "No!" in request.messages[0]["content"] else "Yes", cost=0.01, attempts=1)


def judged(judge, **how):
    options = (evenhand.Option(label="Yes", value=1.0), evenhand.Option(label="No", value=0.0))
    even = evenhand.Criterion(name="even", description="Is it so?", options=options, scale="binary")
    how = {"response_fields": "answer", "context_fields": "question", "check_positional_bias": False, **how}
    return judge(ROWS, even, ScriptedJudge(reply), **how)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A result with a third of its votes unscored; all is imported that runs in these tests would import again."""
    rows = [{"answer": text} for text in ("Yes", "No", "Perhaps")]
    judge = ScriptedJudge(lambda request: "Hm." if "Perhaps" in request.messages[0]["content"] else "Yes")
    how = {"response_fields": "answer", "flow": "one_step", "max_failure_rate": 1.0, "journal": None, "progress": False}
    results = evenhand.judge(rows, "Is it so?", judge, **how)
    assert results.check("unscored <= 10 %").failed
    path = tmp_path_factory.mktemp("saved") / "run.parquet"
    results.save(path)
    return path


@pytest.fixture
def run(pytester, saved):
    pytester.makepyfile(what=JUDGED)

    def run(test, *arguments):
        pytester.makepyfile(
            test_it=f"from evenhand.pytest_plugin import assert_judged\nfrom what import judged\n\n\n{test}"
        )
        return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:randomly", *arguments)

    return run


FAILING = """
def test_it(evenhand_judge):
    assert_judged(judged(evenhand_judge), "even.low >= 0.7", "unscored <= 2 %")
"""


def test_a_failure_shows_the_score_and_the_three_worst_verdicts_with_reasons(run):
    done = run(FAILING)
    half = mean_intervals([1.0] * 6 + [0.0] * 6)[0]
    low, high = format_number(half.low), format_number(half.high)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            ">       assert_judged(judged(evenhand_judge), *",
            "E       AssertionError: even.low >= 0.7 does not hold:",
            f"E         even[[]answer[]].low is {low} (0.50 [[]{low}, {high}[]]; n 12; 0 of 12 votes unscored)",
            "E       The worst verdicts:",
            "E         1/answer/even: No, score 0.00",
            "E           question: Is 1 even?",
            r"E           answer: No!\x1b[[]31m",
            "E           scripted: It is odd.",
        ]
    )
    assert "unscored <= 2 % does not hold" not in done.stdout.str()
    assert "pytest_plugin.py" not in done.stdout.str()  # the traceback ends in the test
    assert "0/answer/even" not in done.stdout.str()  # whose score is 1


def test_a_second_run_buys_nothing(run):
    bought = "(results.spending.bought, results.spending.from_journal)"
    for expected in ((24, 0), (0, 24)):
        test = f"results = judged(evenhand_judge)\n    assert_judged(results, 'even.n == 12')\n    assert {bought}"
        run(f"def test_it(evenhand_judge):\n    {test} == {expected}\n").assert_outcomes(passed=1)


def test_a_saved_result_is_asserted_by_its_path(run, saved):
    done = run(f"def test_it():\n    assert_judged({str(saved)!r}, 'unscored < 10 %')\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "E       AssertionError: unscored < 10 % does not hold:",
            "E         unscored is 33 % (2 of 6 votes unscored (1 row affected), 1 verdict unscored)",
            "E       The worst verdicts:",
            "E         2/answer/*: nothing selected, no score (no_match)",
        ]
    )
    assert "0/answer/" not in done.stdout.str()  # whose votes are scored


def test_who_does_not_use_it_loads_nothing_of_it(pytester):
    pytester.makepyfile(
        "import sys\n\n\ndef test_it():\n    assert not {'unitxt', 'numpy', 'evenhand.results'} & set(sys.modules)\n"
    )
    done = pytester.runpytest_subprocess(*PLUGIN, "-p", "no:xdist", "-p", "no:cov")
    done.assert_outcomes(passed=1)


class Judge:
    """A judge of one response: a score by its length, and none where there is no text."""

    def run(self, *, response, context=None):
        words = len(response.split())
        return SimpleNamespace(
            score=min(words, 10) / 10 if words else None,
            label="long" if words > 5 else "short",
            reason=f"{context or 'It'} has {words} words.\x1b[31m",
            unscored_reason=None if words else "missing_response",
        )


def test_a_response_is_asserted_by_its_score():
    found = assert_judged(Judge(), response="one two three four five six seven", at_least=0.7)
    assert (found.score, found.label) == (0.7, "long")
    assert_judged(Judge(), response="one two three", at_least=0.1 + 0.2)  # 0.30000000000000004
    with pytest.raises(AssertionError) as failed:
        assert_judged(Judge(), response="one two", context="This", at_least=0.7)
    assert str(failed.value) == r"the score 0.20 (short) is below 0.7: This has 2 words.\x1b[31m"
    with pytest.raises(AssertionError, match="the response has no score: missing_response"):
        assert_judged(Judge(), response="", at_least=0.0)


def test_a_judge_without_a_lowest_score_is_refused():
    with pytest.raises(InvalidInputError, match=r"assert_judged\(judge, response=answer, at_least=0\.7\)"):
        assert_judged(Judge(), response="one")

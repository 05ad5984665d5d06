"""The options under the names that users give them: what is taken, what is refused, what they become."""

import pytest

from evenhand.aggregation.verdict import VoteRules
from evenhand.engines.journal import default_journal_path
from evenhand.errors import InvalidInputError
from evenhand.judging.conversation import Flow
from evenhand.judging.run import ask, estimate
from evenhand.options import RunOptions
from tests.support.judges import ScriptedJudge, chooses
from tests.support.questions import questions


def rules_of(options):
    return VoteRules.from_parameters(dict(RunOptions(**options)))


def test_an_expected_value_asks_for_log_probabilities_and_short_answers():
    flow = Flow.of(RunOptions(scoring="expected", min_mass=0.7))
    assert rules_of({"scoring": "expected", "min_mass": 0.7}) == VoteRules(scoring="expected", min_mass=0.7)
    assert (flow.logprobs, flow.coded) == (20, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregation": ["median"]}, r"aggregation is \['median'\]; give the name of a rule"),
        ({"scoring": "mean"}, "scoring is 'mean'"),
        ({"min_mass": 2}, "min_mass is 2"),
        ({"stop_early": 1}, "stop_early is 1"),
        ({"prompt": 3}, "prompt is 3"),
        ({"stop_early": True, "scoring": "expected"}, "every further draw changes a mean"),
        ({"flow": "three_step"}, "flow is 'three_step'"),
        ({"level": 95}, "level is 95"),
        ({"max_failure_rate": "0.2"}, "max_failure_rate is '0.2'; give a number between 0 and 1"),
        ({"max_reasks": "2"}, "max_reasks is '2'; give a whole number"),
        ({"max_calls": 2.5}, "max_calls is 2.5; give a whole number, or None for no limit"),
        ({"generate_summaries": "no"}, "generate_summaries is 'no'; give True or False"),
        ({"judge_weights": 2.0}, "judge_weights is 2.0; give a list with one positive number per judge"),
        ({"journal": 3}, "journal is 3; give 'default', a path, or None"),
    ],
)
def test_what_is_no_option_is_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        RunOptions(**options)


def asked(count, judge, **options):
    given = RunOptions(**{"progress": False, **options})
    return ask(questions(count), [judge], given, Flow.of(given))


def test_the_journal_is_opened_where_the_option_says(tmp_path):
    path = tmp_path / "deep" / "replies.sqlite3"
    judge = ScriptedJudge(chooses("Mid"))
    asked(2, judge, journal=str(path))
    assert path.exists()
    before = len(judge.requests)
    asked(2, judge, journal=str(path))
    assert len(judge.requests) == before == 8
    options = RunOptions(journal=str(path))
    assert estimate(questions(2), [judge], options, Flow.of(options)).calls == 0
    assert not default_journal_path().exists()

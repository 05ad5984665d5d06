"""The options under the names that users give them: what is taken, what is refused, what they become."""

from evenhand.aggregation.verdict import VoteRules
from evenhand.engines.journal import default_journal_path
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

"""Comparisons that stop when they are decided: what is asked, what is paid, and what is said."""

import pytest

from evenhand import winrates
from evenhand.errors import EngineError, TooManyFailuresError
from evenhand.modes.winrates import FIRST_BLOCK
from evenhand.question import comparison_criterion
from evenhand.statistics.intervals import ConfidenceSequence
from tests.support.judges import ScriptedJudge

BETTER = comparison_criterion("better", "Which response is better?")
SURE = {"a": 2.0, "b": 1.0}
TOTAL = 100


def rows_of():
    return [{"n": str(place), "a": f"a of {place}", "b": f"b of {place}"} for place in range(TOTAL)]


def prefers(qualities):
    """A reply by the systems' qualities: of equals the better one is another on every second row."""

    def reply(request):
        texts = request.question.responses
        names = [text[0] for text in texts]
        row = int(texts[0].split()[-1])
        one, other = (qualities[name] for name in names)
        first = one > other if one != other else (row % 2 == 0) == (names[0] < names[1])
        order = request.options
        return order[0 if first else 1]

    return ScriptedJudge(reply)


def compare(judge, rows=None, **options):
    settings = {"flow": "verdict_only", "progress": False, "journal": None, "check_positional_bias": False, **options}
    return winrates(rows or rows_of(), BETTER, judge, response_fields=["a", "b"], stop="decided", **settings)


class TestWhatIsAsked:
    def test_what_is_decided_is_asked_no_further(self, capsys):
        judge = prefers(SURE)
        table = compare(judge, progress=True)
        asked = FIRST_BLOCK
        assert capsys.readouterr().err == f"{asked} of {TOTAL} prompts asked, 1 of 1 pair decided\n"
        assert len(judge.requests) == len(table.contests) == asked
        assert not any(entry.unscored_reason for entry in table.contests)
        decision = table.decisions["a", "b"]
        assert (decision.decided, decision.prompts) == (True, asked)
        # All won: K is the mean of (1 + c)^16 and (1 - c)^16 over the stakes c.
        assert decision.p_value == ConfidenceSequence.of([1] * asked).p_value() < 0.05
        text = " ".join(str(table).split())
        assert f"{asked} of {TOTAL} prompts, {asked} contests" in text
        assert f"1 pair decided, after {asked} prompts; {asked} of {TOTAL} prompts asked, in a random order." in text
        assert "unscored contests" not in text.lower()

    def test_prompts_of_a_cluster_are_asked_together_and_are_one_bet(self):
        rows = [{**row, "topic": f"t{place // 4}"} for place, row in enumerate(rows_of())]
        table = compare(prefers(SURE), rows, cluster_field="topic")
        by_topic = {}
        for entry in table.contests:
            by_topic.setdefault(entry.cluster, []).append(entry)
        assert {len(held) for held in by_topic.values()} == {4}
        assert table.decisions["a", "b"].p_value == ConfidenceSequence.of([1] * len(by_topic)).p_value()
        assert len(table.contests) > FIRST_BLOCK  # four clusters are too few bets


class TestWhatIsPaid:
    def test_an_error_brings_the_votes_of_all_blocks(self):
        replies = prefers({"a": 1.0, "b": 1.0})
        answer = replies._reply

        def reply(request):
            return answer(request) if len(judge.requests) <= 20 else EngineError("broken")

        judge = ScriptedJudge(reply)
        with pytest.raises(TooManyFailuresError) as caught:
            compare(judge, max_failure_rate=0.5)
        cast = [vote for votes in caught.value.votes for vote in votes if vote.selected_index is not None]
        assert len(cast) == 20


class TestWhatIsUnscored:
    def test_a_judge_that_refuses_where_one_side_would_lose_decides_nothing(self):
        answer = prefers({"a": 1.0, "b": 1.0})._reply

        def reply(request):
            row = int(request.question.responses[0].split()[-1])
            return answer(request) if row % 2 == 0 else "I'm sorry, but I can't help with that request."

        table = compare(ScriptedJudge(reply), max_reasks=0)
        assert table.ranking.pairs[0].win_rate.estimate == 1.0
        assert not table.decisions["a", "b"].decided
        assert len(table.contests) == TOTAL

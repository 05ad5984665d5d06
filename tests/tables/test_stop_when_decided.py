"""Comparisons that stop when they are decided: what is asked, what is paid, and what is said."""

import math
from dataclasses import replace

import numpy as np
import pytest

import evenhand
from evenhand import winrates
from evenhand.cli import main
from evenhand.errors import EngineError, InvalidInputError, TooManyFailuresError
from evenhand.modes.winrates import FIRST_BLOCK, decisions
from evenhand.question import comparison_criterion
from evenhand.statistics.anytime import ConfidenceSequence
from tests.support.judges import ScriptedJudge
from tests.support.rows import write_rows

BETTER = comparison_criterion("better", "Which response is better?")
SURE = {"a": 2.0, "b": 1.0, "c": 1.0}
TOTAL = 100


def rows_of(total=TOTAL, systems="abc"):
    return [{"n": str(place), **{name: f"{name} of {place}" for name in systems}} for place in range(total)]


def prefers(qualities, *, log=None):
    """A reply by the systems' qualities: of equals the better one is another on every second row."""

    def reply(request):
        texts = request.question.responses
        names = [text[0] for text in texts]
        row = int(texts[0].split()[-1])
        if log is not None:
            log.append((row, *sorted(names)))
        one, other = (qualities[name] for name in names)
        first = one > other if one != other else (row % 2 == 0) == (names[0] < names[1])
        order = request.options
        return order[0 if first else 1]

    return ScriptedJudge(reply)


def compare(judge, systems=("a", "b"), total=TOTAL, **options):
    settings = {"flow": "verdict_only", "progress": False, "journal": None, "check_positional_bias": False, **options}
    return winrates(rows_of(total), BETTER, judge, response_fields=list(systems), **{"stop": "decided", **settings})


class TestWhatIsAsked:
    def test_what_is_decided_is_asked_no_further(self):
        judge = prefers(SURE)
        table = compare(judge)
        asked = FIRST_BLOCK
        assert len(judge.requests) == len(table.contests) == asked
        assert not any(entry.unscored_reason for entry in table.contests)
        decision = table.decisions["a", "b"]
        assert (decision.decided, decision.prompts) == (True, asked)
        # All won: K is the mean of (1 + c)^16 and (1 - c)^16 over the stakes c.
        assert decision.p_value == ConfidenceSequence.of([1] * asked).p_value() < 0.05
        text = " ".join(str(table).split())
        assert f"{asked} of {TOTAL} prompts, {asked} contests" in text
        assert f"Decided after {asked} of {TOTAL} prompts in a random order; the other {TOTAL - asked} were not" in text
        assert "unscored contests" not in text.lower()

    def test_a_decided_pair_is_left_while_others_go_on(self):
        log = []
        table = compare(prefers(SURE, log=log), "abc")
        met = [(one, other) for _, one, other in log]
        counts = {pair: met.count(pair) for pair in (("a", "b"), ("a", "c"), ("b", "c"))}
        assert counts["a", "b"] == counts["a", "c"] < counts["b", "c"] == TOTAL
        decided = {pair: decision.decided for pair, decision in table.decisions.items()}
        assert decided == {("a", "b"): True, ("a", "c"): True, ("b", "c"): False}
        # Against each of the others alike, however often they met: (1 + 1)/2, (0 + 1/2)/2.
        assert [table.winrate(name).estimate for name in "abc"] == pytest.approx([1.0, 0.25, 0.25], abs=0.01)
        assert {table.winrate(name).method for name in "abc"} == {"betting"}
        ranks = {entry.system: (entry.rank.rank, entry.rank.low, entry.rank.high) for entry in table.ranking.systems}
        assert ranks["a"] == (1, 1, 1)
        assert {ranks["b"][1:], ranks["c"][1:]} == {(2, 3)}
        assert "2 of 3 pairs decided" in str(table)

    def test_prompts_of_a_cluster_are_asked_together_and_are_one_bet(self):
        rows = [{**row, "topic": f"t{place // 4}"} for place, row in enumerate(rows_of())]
        table = winrates(
            rows,
            BETTER,
            prefers(SURE),
            response_fields=["a", "b"],
            stop="decided",
            cluster_field="topic",
            flow="verdict_only",
            progress=False,
            journal=None,
            check_positional_bias=False,
        )
        by_topic = {}
        for entry in table.contests:
            by_topic.setdefault(entry.cluster, []).append(entry)
        assert {len(held) for held in by_topic.values()} == {4}
        assert table.decisions["a", "b"].p_value == ConfidenceSequence.of([1] * len(by_topic)).p_value()
        assert len(table.contests) > FIRST_BLOCK  # four clusters are too few bets

    def test_the_budget_ends_it(self):
        judge = prefers({"a": 1.0, "b": 1.0})
        table = compare(judge, max_calls=40)
        assert len(judge.requests) == 40
        reasons = [entry.unscored_reason for entry in table.contests]
        assert reasons.count("budget") == len(table.contests) - 40
        assert len(table.contests) == 3 * FIRST_BLOCK  # and no block after the one in which it ended
        assert "Not decided after 48 of 100 prompts in a random order; the other 52 were not asked" in " ".join(
            str(table).split()
        )


class TestWhatIsPaid:
    def test_nothing_is_bought_twice(self, tmp_path):
        whole, judge = prefers(SURE), prefers(SURE)
        expected = compare(whole, "abc", journal=str(tmp_path / "whole.sqlite"))
        journal = str(tmp_path / "parts.sqlite")
        for most in (10, 50, None):
            table = compare(judge, "abc", journal=journal, max_calls=most)
        assert len(judge.requests) == len(whole.requests) == len(expected.contests)
        assert [entry.score for entry in table.contests] == [entry.score for entry in expected.contests]

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

    def test_a_dry_run_says_at_most(self, tmp_path, capsys):
        path = write_rows(tmp_path / "rows.jsonl", [{"question": "?", **row} for row in rows_of(30)])
        arguments = [
            "winrates",
            str(path),
            "--response-fields",
            "a,b",
            "--criteria",
            "criteria.evenhand.pairwise.overall_quality",
        ]
        arguments += ["--engine", "engines.evenhand.simulated", "--stop", "decided", "--alpha", "0.1", "--no-progress"]
        arguments += ["--flow", "verdict_only", "--journal", "none"]
        assert main([*arguments, "--dry-run"]) == 0
        assert "calls: at most 60 (" in capsys.readouterr().out
        assert main(arguments) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "ecided after" in shown
        assert "a probability of 10 % at most" in shown
        assert "[90%]" in shown


class TestWhatIsUnscored:
    def test_it_counts_against_both(self):
        # 16 of 20 read, all won: had the judge answered the other four, they could all have been lost.
        table = compare(prefers(SURE), total=20, stop=None, interval="anytime")
        contests = list(table.contests)
        assert decisions(contests, 0.05)["a", "b"].decided
        refused = evenhand.Verdict(unscored_reason="refusal")
        lost = [replace(contest, verdict=refused) for contest in contests]
        mixed = [*contests[:16], *lost[16:]]
        least, most = ConfidenceSequence.of([1] * 16 + [0] * 4), ConfidenceSequence.of([1] * 20)
        capital = (math.exp(least.log_capital(0.5, above=True)) + math.exp(most.log_capital(0.5, above=False))) / 2
        assert decisions(mixed, 0.05)["a", "b"].p_value == pytest.approx(1 / capital)

    def test_a_judge_that_refuses_where_one_side_would_lose_decides_nothing(self):
        answer = prefers({"a": 1.0, "b": 1.0})._reply

        def reply(request):
            row = int(request.question.responses[0].split()[-1])
            return answer(request) if row % 2 == 0 else "I'm sorry, but I can't help with that request."

        table = compare(ScriptedJudge(reply), max_reasks=0)
        assert table.ranking.pairs[0].win_rate.estimate == 1.0
        assert not table.decisions["a", "b"].decided
        assert len(table.contests) == TOTAL


class TestFiles:
    def test_what_holds_for_a_fixed_sample_only_is_missing(self):
        table = compare(prefers(SURE), "abc")
        assert not table.system("a").strength
        assert "all looks together" in table.system("a").strength.reason
        assert table.ranking.length_controlled.win_rates == (None,) * 3

    def test_a_winrate_counts_every_opponent_alike(self):
        # a beats b thrice of four, and c the only time that they met: (3/4 + 1)/2, not 4/5.
        rows = [{"first": "a", "second": "b", "vote": who, "id": str(place)} for place, who in enumerate("aaba")]
        rows.append({"first": "a", "second": "c", "vote": "a", "id": "4"})
        table = winrates(votes=rows, interval="anytime")
        assert table.winrate("a").estimate == pytest.approx(0.875)
        limits = ConfidenceSequence.of([1, 1, 0, 1]).limits(0.975), ConfidenceSequence.of([1]).limits(0.975)
        assert table.winrate("a").low == pytest.approx(np.mean([low for low, _ in limits]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "swiss:2"}, "does not go with design='swiss:2'"),
        ({"interval": "t"}, "interval is 't', which holds for a sample of a fixed size"),
        ({"stop": None, "alpha": 0.05}, "alpha is 0.05, the error rate of stop='decided', and stop is None"),
        ({"alpha": 0.1, "level": 0.99}, "the one is 1 less the other"),
        ({"alpha": 0.7}, r"alpha is 0.7; give a number such as 0.05"),
        ({"stop": "soon"}, "stop is 'soon'"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_call(options, message):
    judge = prefers(SURE)
    with pytest.raises(InvalidInputError, match=message):
        compare(judge, "abc", **options)
    assert not judge.requests


def test_who_never_met_has_no_rank():
    # Against a baseline: rates are over other opponents, and strengths hold for a sample of a fixed size.
    table = compare(prefers({"a": 1.0, "b": 2.0, "c": 0.0}), "abc", design="baseline:a")
    assert {entry.rank.reason for entry in table.ranking.systems} == {
        "not every two systems met, and strengths are of a sample of a fixed size"
    }
    assert [table.winrate(name).estimate for name in "abc"] == [0.5, 1.0, 0.0]
    assert {pair for pair, decision in table.decisions.items() if decision.decided} == {("a", "b"), ("a", "c")}
    assert "No rank for a, b, c" in str(table)

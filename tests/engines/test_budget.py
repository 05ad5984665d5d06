"""What a run may spend: reserved before a call leaves, settled after it, never more than there is."""

import asyncio
import gzip
import json
import math
import random
from collections import Counter
from contextlib import asynccontextmanager
from functools import cache
from itertools import islice
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engines.base import Request
from evenhand.engines.budget import TEMPLATE_TOKENS, Budget, Share, least_tokens, message_bytes
from evenhand.engines.calls import Calls
from evenhand.engines.hosted import import_litellm
from evenhand.engines.journal import Journal
from evenhand.engines.replies import read_completion
from evenhand.errors import BudgetExhaustedError
from evenhand.votes import Completion
from tests.support.asking import ask, ask_all, request
from tests.support.judges import remote_judge
from tests.support.shared import shared_path

PRICE = 1e-6
"""US dollars a token."""


class PricedJudge:
    """A judge whose replies have as many tokens as the request says, in the order of the conversation.

    Attributes:
        billed: What its server counts, in US dollars.
        most_reply_tokens: The token limit of a reply.
    """

    judge_id = "priced"
    concurrency = 8

    def __init__(self, most_reply_tokens=None, prompt_share=0.3, fails=frozenset()):
        self.billed = 0.0
        self.answered = Counter()
        self.most_reply_tokens = most_reply_tokens
        self._prompt_share = prompt_share
        self._fails = fails
        self._turns = random.Random(0)

    def identity(self):
        return {"name": "priced"}

    def estimated_cost(self, prompt_tokens, completion_tokens):
        return (prompt_tokens + completion_tokens) * PRICE

    @asynccontextmanager
    async def running(self):
        yield

    async def complete(self, asked):
        vote, *replies = json.loads(asked.messages[0]["content"])
        place = len(asked.messages) // 2
        prompt = int((sum(map(message_bytes, asked.messages)) + TEMPLATE_TOKENS) * self._prompt_share)
        for attempt in range(3):
            for _ in range(self._turns.randrange(4)):
                await asyncio.sleep(0)
            if (vote, place, attempt) not in self._fails:
                break
            self.billed += (prompt + replies[place]) * PRICE  # worked for, and then the connection broke
            asked.again(True)
        cost = (prompt + replies[place]) * PRICE
        self.billed += cost
        self.answered[vote] += 1
        return Completion(
            text="x" * replies[place], prompt_tokens=prompt, completion_tokens=replies[place], cost=cost, model="m"
        )


def votes_within(judge, votes, budget, at_once):
    """Ask for every vote, each a conversation of as many calls as it has replies; how many calls of each were made."""
    calls = Calls(judge, budget=budget)

    async def vote(number, replies):
        share = Share(budget, len(replies))
        messages = ({"role": "user", "content": json.dumps([number, *replies])},)
        try:
            for stage, tokens in zip(("assessment", "selection", "summary"), replies, strict=False):
                await calls.complete(Request(messages=messages, stage=stage), share)
                messages += ({"role": "assistant", "content": "x" * tokens}, {"role": "user", "content": "And?"})
        except BudgetExhaustedError:
            pass
        finally:
            share.close()

    async def work(queue):
        for number, replies in queue:
            await vote(number, replies)

    async def run():
        queue = iter(enumerate(votes))
        async with calls.running():
            await asyncio.wait_for(asyncio.gather(*(work(queue) for _ in range(at_once))), 60)

    asyncio.run(run())
    assert (budget.in_flight, budget.begun) == (0, 0)


def whole_cost(judge, votes):
    """What all of them cost when nothing limits it."""
    votes_within(judge, votes, Budget(), 1)
    return judge.billed


VOTES = st.lists(st.lists(st.integers(1, 60), min_size=1, max_size=3), min_size=1, max_size=12)


@given(
    votes=VOTES,
    share=st.floats(0.0, 1.3),
    at_once=st.integers(1, 8),
    judged=st.tuples(st.sampled_from([60, 90, 500]), st.sampled_from([0.05, 0.3, 1.0])),
    max_calls=st.none() | st.integers(0, 40),
    fails=st.sets(st.tuples(st.integers(0, 11), st.integers(0, 2), st.integers(0, 1)), max_size=4).map(frozenset),
)
@settings(max_examples=60, deadline=None)
def test_with_a_token_limit_the_server_never_bills_more_than_the_budget(votes, share, at_once, judged, **limits):
    most = share * whole_cost(PricedJudge(*judged), votes)
    judge, budget = PricedJudge(*judged, limits["fails"]), Budget(limits["max_calls"], most)
    votes_within(judge, votes, budget, at_once)
    assert judge.billed <= most + 1e-9
    assert judge.billed <= budget.cost + budget.at_risk + 1e-9
    assert budget.launched <= (math.inf if budget.max_calls is None else budget.max_calls)


@given(votes=VOTES, share=st.floats(0.3, 3.0), at_once=st.integers(1, 8), replies=st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_every_vote_that_begins_is_finished_where_replies_are_as_long_as_those_before(votes, share, at_once, replies):
    votes = [[replies] * len(votes[0])] * len(votes)
    most = share * whole_cost(PricedJudge(), votes)
    judge, budget = PricedJudge(), Budget(max_cost=most)
    votes_within(judge, votes, budget, at_once)
    begun = [number for number in range(len(votes)) if judge.answered[number]]
    unfinished = [number for number in begun if judge.answered[number] < len(votes[number])]
    assert unfinished in ([], [0])  # the first one goes alone, to find out what a call costs


@pytest.mark.parametrize("limit", [None, 60])
@pytest.mark.parametrize("number", [5, 20, 50])
def test_a_budget_for_so_many_votes_buys_about_as_many(limit, number):
    votes = [[50, 5]] * 100
    each = whole_cost(PricedJudge(limit), votes[:1])
    judge, budget = PricedJudge(limit), Budget(max_cost=number * each)
    votes_within(judge, votes, budget, 8)
    finished = sum(judge.answered[place] == 2 for place in range(100))
    assert number - 3 <= finished <= number
    assert judge.billed <= number * each + 1e-9
    assert set(judge.answered.values()) <= {2}


@cache
def tokenizers():
    """Two that litellm has with it: cl100k of OpenAI, and the one that Anthropic published."""
    import_litellm()
    from litellm import encoding  # noqa: PLC0415 - takes seconds
    from litellm.utils import claude_json_str  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    claude = Tokenizer.from_str(claude_json_str)
    return lambda text: len(encoding.encode(text, disallowed_special=())), lambda text: len(claude.encode(text).ids)


def test_the_least_is_never_more_than_real_tokenizers_count_of_recorded_replies():
    counts = tokenizers()
    for name in ("llmbar_raw_completions", "openqa_replies_dev", "posbias_mtbench_raw"):
        with gzip.open(shared_path(f"data/{name}.jsonl.gz"), "rt") as lines:
            texts = [json.loads(line)["text"] or "" for line in islice(lines, 0, None, 20)]
        for text in texts:
            assert least_tokens(text) <= min(count(text) for count in counts)
        words, tokens = sum(map(least_tokens, texts)), sum(map(counts[0], texts))
        assert words > tokens / 2  # and it is near enough to be of use


def usage(prompt, completion, total, *, cached=None, reasoning=None, **more):
    """What a server counts, in the words of OpenAI."""
    counted = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, **more}
    if cached is not None:
        counted["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoning is not None:
        counted["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return counted


DEEPSEEK = {"prompt_cache_hit_tokens": 1920, "prompt_cache_miss_tokens": 89}
HONEST = {
    "OpenAI": (usage(9, 4, 13), 9 * 2.0 + 4 * 10.0),
    "OpenAI, reasoning": (usage(9, 132, 141, cached=0, reasoning=128), 9 * 2.0 + 132 * 10.0),
    "OpenAI, cached": (usage(2009, 4, 2013, cached=1920), 89 * 2.0 + 1920 * 0.5 + 4 * 10.0),
    "xAI": (usage(9, 4, 141, cached=5, reasoning=128), 4 * 2.0 + 5 * 0.5 + 132 * 10.0),
    "Gemini": (usage(9, 4, 141), 9 * 2.0 + 132 * 10.0),
    "DeepSeek": (usage(2009, 4, 2013, cached=1920, **DEEPSEEK), 89 * 2.0 + 1920 * 0.5 + 4 * 10.0),
    "a gateway to Anthropic": (usage(9, 4, 1933, cache_read_input_tokens=1920), 0 * 2.0 + 9 * 0.5 + 4 * 10.0),
}


@pytest.mark.parametrize(("counted", "millionths"), HONEST.values(), ids=HONEST)
def test_an_honest_usage_is_booked_as_it_is(counted, millionths):
    reply = read_completion({"choices": [{"message": {"content": "Verdict: Yes"}}], "usage": counted})
    prices = {"prompt_price": 2.0, "completion_price": 10.0, "cached_price": 0.5}
    judge = remote_judge(SimpleNamespace(endpoint={}), model="m", **prices)
    priced = judge.priced(reply, request("Is it good? Yes or no.").messages)
    assert priced.counted
    assert priced.cost == pytest.approx(millionths / 1e6)
    assert priced.usage.unreported == 0


def test_without_a_token_limit_one_call_is_priced_before_the_others_leave():
    judge, budget = PricedJudge(), Budget(max_cost=300 * PRICE)  # less than a reply is taken to cost before the first
    votes_within(judge, [[100]] * 20, budget, 8)
    assert judge.answered.total() == 1
    assert judge.billed < 300 * PRICE


def test_a_reply_that_another_process_got_meanwhile_shows_how_long_replies_are(tmp_path):
    class Late(Journal):
        looked = True

        def get(self, key):
            looked, self.looked = self.looked, True
            return super().get(key) if looked else None

    first, second = (request(json.dumps([vote, 1000])) for vote in (0, 1))
    with Late(tmp_path / "journal.sqlite3") as journal:
        ask(PricedJudge(), first, journal=journal)
        journal.looked = False
        judge, budget = PricedJudge(), Budget(max_cost=1500 * PRICE)
        calls = Calls(judge, journal, budget)
        assert ask(judge, first, calls=calls).cached
        with pytest.raises(BudgetExhaustedError, match="max_cost"):  # 1000 tokens may be 2000
            ask(judge, second, calls=calls)
    assert (judge.billed, budget.in_flight) == (0, 0)


def test_a_call_that_costs_nothing_fits_a_budget_of_nothing():
    class Own(PricedJudge):
        def estimated_cost(self, prompt_tokens, completion_tokens):
            return 0.0

    judge = Own()
    calls = Calls(judge, budget=Budget(max_cost=0))
    assert ask(judge, request(json.dumps([0, 7])), calls=calls).completion_tokens == 7


def test_a_reply_without_a_count_is_counted_at_its_most_or_ends_the_run():
    class Silent(PricedJudge):
        async def complete(self, asked):
            return Completion(text="x", model="mute")

    limited, unlimited = Silent(most_reply_tokens=50), Silent()
    budget = Budget(max_cost=0.001)
    outcomes = ask_all(limited, [request(str(n)) for n in range(20)], budget=budget)
    assert 0 < sum(isinstance(outcome, Completion) for outcome in outcomes) < 20
    assert budget.cost <= 0.001
    calls = Calls(unlimited, budget=Budget(max_cost=1.0))
    ask(unlimited, request("first"), calls=calls)
    with pytest.raises(BudgetExhaustedError, match="'mute' does not say how many tokens it has, or says too few: give"):
        ask(unlimited, request("second"), calls=calls)


@pytest.mark.parametrize("vote", [[3000], [10, 3000], [3000, 10, 3000]])
def test_without_a_token_limit_replies_much_longer_than_assumed_do_not_leave_together(vote):
    each = whole_cost(PricedJudge(), [vote])
    judge, budget = PricedJudge(), Budget(max_cost=4.5 * each)
    votes_within(judge, [vote] * 40, budget, 8)
    assert judge.billed <= 4.5 * each
    assert 2 <= sum(judge.answered[place] == len(vote) for place in range(40)) <= 4
    assert set(judge.answered.values()) == {len(vote)}

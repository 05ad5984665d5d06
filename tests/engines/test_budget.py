"""Places in a budget: promised to the votes begun, given back when not needed, never more than there are."""

import asyncio

import pytest

from evenhand.engines.limits import Budget
from evenhand.errors import BudgetExhaustedError
from evenhand.votes import Completion


def test_a_vote_that_begins_takes_what_it_is_expected_to_need_or_what_there_is():
    budget = Budget(max_calls=5)
    shares = [budget.share(2, (number,)) for number in range(4)]
    assert [share.held for share in shares] == [2, 2, 1, 0]
    assert (budget.reserved, budget.launched) == (5, 0)


def test_what_is_given_back_goes_to_the_first_that_lacks_a_place():
    budget = Budget(max_calls=4)
    first, second = (budget.share(2, (number,)) for number in range(2))
    late = budget.share(2, (9,))
    early = budget.share(2, (3,))
    first.skip()
    assert (early.held, late.held) == (1, 0)
    second.close()
    assert (early.held, late.held) == (2, 1)
    first.launch()
    budget.settle(None)  # a call that failed was a call
    first.close()
    assert (budget.launched, budget.reserved, early.held, late.held) == (1, 3, 2, 1)


def test_a_vote_waits_as_long_as_another_may_give_back():
    async def run():
        budget = Budget(max_calls=1)
        holder, waiter, refused = budget.share(1, (0,)), budget.share(1, (1,)), budget.share(1, (2,))
        assert (holder.ready(), waiter.ready(), refused.ready()) == (True, False, False)
        waiting, lost = asyncio.create_task(waiter.granted()), asyncio.create_task(refused.granted())
        await asyncio.sleep(0)
        holder.close()
        await waiting
        waiter.launch()
        waiter.close()
        with pytest.raises(BudgetExhaustedError, match="max_calls=1 was reached"):
            await lost
        return budget.launched

    assert asyncio.run(run()) == 1


def test_a_stopped_budget_launches_nothing_not_even_what_was_promised():
    async def run():
        budget = Budget(max_calls=2)
        holder, waiter = budget.share(2, (0,)), budget.share(1, (1,))
        assert not waiter.ready()
        waiting = asyncio.create_task(waiter.granted())
        await asyncio.sleep(0)
        budget.stop()
        for refused in (lambda: waiting, lambda: holder.launch() or asyncio.sleep(0)):
            with pytest.raises(BudgetExhaustedError, match="interrupted"):
                await refused()
        unlimited = Budget()
        share = unlimited.share(2)
        assert share.ready()
        unlimited.stop()
        with pytest.raises(BudgetExhaustedError, match="interrupted"):
            share.launch()
        return budget.launched + unlimited.launched

    assert asyncio.run(run()) == 0


def test_calls_are_promised_at_the_mean_cost():
    budget = Budget(max_cost=10.0)
    first = budget.share(2, (0,))
    first.launch()
    budget.settle(Completion(text="x", cost=3.0))
    # 3 spent and one call promised at 3: room for one more, since 3 + 3 + 3 <= 10 < 12
    assert budget.share(2, (1,)).held == 1
    assert budget.reserved == 2
    first.launch()
    budget.settle(Completion(text="x", cost=1.0))
    # 4 spent at a mean of 2: three may be promised, 4 + 3 · 2 = 10; the second vote has got its other place already
    assert budget.share(2, (2,)).held == 1
    assert budget.reserved == 3

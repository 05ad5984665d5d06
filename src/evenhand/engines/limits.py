"""What limits a run: what it may spend (calls, cost, who gets the last places), and how fast a server is asked.

The gate in front of a server counts calls in flight, calls a minute and tokens a minute, and what a 429 does to them.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

from evenhand.errors import BudgetExhaustedError, InvalidInputError
from evenhand.numbers import format_cost
from evenhand.votes import Completion


class Budget:
    """How many calls one run may launch, and what they may cost; shared by all its engines.

    A call counts when it is launched, whether or not it succeeds; the retries inside an engine are part of their
    call. Replies taken from a journal are free. A vote that begins takes a :class:`Share` of as many places as it is
    expected to need, so that the votes begun are finished before others begin. The cost of the calls in flight is not
    known, so they are assumed to cost what the finished ones did on average; only the calls launched before the first
    reply can exceed ``max_cost``.

    Attributes:
        max_calls: None for no limit.
        max_cost: US dollars; None for no limit. Reached too when a reply has no known price.
        launched: Calls launched.
        in_flight: Calls launched and not yet answered.
        cost: US dollars that the answered calls cost.
        stopped: Nothing more is launched, whatever is left.
        limited: There is a limit to keep.
        reserved: Calls promised to shares and not launched.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        if max_calls is not None and max_calls < 0:
            raise InvalidInputError(f"max_calls is {max_calls!r}; give a number of calls from 0, or None for no limit")
        if max_cost is not None and not max_cost >= 0:
            raise InvalidInputError(f"max_cost is {max_cost!r}; give US dollars from 0, or None for no limit")
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.launched = 0
        self.in_flight = 0
        self.cost = 0.0
        self.stopped = False
        self.limited = max_calls is not None or max_cost is not None
        self.reserved = 0
        self._hungry: list[tuple[tuple[int, ...], int, Share]] = []
        self._entries = 0
        self._priced = 0
        self._unpriced: str | None = None

    def __repr__(self) -> str:
        return f"Budget(max_calls={self.max_calls!r}, max_cost={self.max_cost!r})"

    def share(self, expected: int = 0, order: tuple[int, ...] = ()) -> Share:
        """The places of one vote: so many as it is expected to need, or as many of them as there are.

        Places that are given back go to the shares that lack some, the smallest ``order`` first.
        """
        share = Share(self, order)
        share.expect(expected)
        return share

    def settle(self, completion: Completion | None) -> None:
        """Count a call as answered, or as failed when there is no completion."""
        self.in_flight -= 1
        if completion is not None:
            if completion.cost is None:
                self._unpriced = completion.model or "the engine"
            else:
                self.cost += completion.cost
                self._priced += 1
        self.distribute()

    def stop(self) -> None:
        """Launch nothing more; whoever waits for a place is refused. For the thread of the event loop."""
        self.stopped = self.limited = True
        self.distribute()

    def fits(self, promised: int) -> bool:
        """Whether one more call fits beside those launched and so many promised ones."""
        if self.stopped or (self.max_calls is not None and self.launched + promised >= self.max_calls):
            return False
        if self.max_cost is None:
            return True
        mean = self.cost / self._priced if self._priced else 0.0
        within = self.cost + (self.in_flight + promised) * mean + mean <= self.max_cost
        return within and self.max_cost > 0 and self._unpriced is None

    def launch(self) -> None:
        """Count one more call in flight.

        Raises:
            BudgetExhaustedError: If it must not be launched.
        """
        if self.limited and not self.fits(0):
            raise self.refusal()
        self.launched += 1
        self.in_flight += 1

    def queue(self, share: Share) -> None:
        """Give this share what it wants, when its turn comes."""
        self._entries += 1
        heappush(self._hungry, (share.order, self._entries, share))
        self.distribute()

    def distribute(self) -> None:
        """Hand out what there is; when no share holds a place that it could give back, refuse whoever waits."""
        while self._hungry and self.fits(self.reserved):
            share = self._hungry[0][-1]
            if share.wanted:
                self.reserved += 1
                share.give()
            if not share.wanted:
                heappop(self._hungry)
                share.queued = False
        if self._hungry and (self.stopped or not self.reserved):
            refused, self._hungry = self._hungry, []
            for _, _, share in refused:
                share.queued = False
                share.refuse(self.refusal())

    def refusal(self) -> BudgetExhaustedError:
        """Why there is no place."""
        again = "raise it and run again; what a journal holds is not asked for again"
        if self.stopped:
            return BudgetExhaustedError("the run was interrupted before this call was launched")
        if self.max_calls is not None and self.launched >= self.max_calls:
            return BudgetExhaustedError(f"max_calls={self.max_calls!r} was reached: {again}")
        if self._unpriced is not None:
            return BudgetExhaustedError(
                f"max_cost={self.max_cost!r} cannot be kept, because the price of {self._unpriced!r} is not known: "
                "limit the run with max_calls instead, or give the engine its prompt_price and completion_price "
                "(0 for a server of your own)"
            )
        return BudgetExhaustedError(
            f"max_cost={self.max_cost!r} was reached ({format_cost(self.cost)} spent, {self.in_flight} calls in "
            f"flight): {again}"
        )


class Share:
    """The places in a budget that one vote holds, for one call after the other.

    A share that holds a place never waits for another one's, so that waiting always ends.

    Attributes:
        order: The smallest is served first.
        held: Places promised to this vote.
        wanted: Places that it still lacks.
        queued: It is in the budget's queue.
    """

    __slots__ = ("_budget", "_waiter", "held", "order", "queued", "wanted")

    def __init__(self, budget: Budget, order: tuple[int, ...]) -> None:
        self.order = order
        self.held = 0
        self.wanted = 0
        self.queued = False
        self._budget = budget
        self._waiter: asyncio.Future[None] | None = None

    def expect(self, calls: int) -> None:
        """So many more calls than were expected."""
        if self._budget.limited and calls:
            self.wanted += calls
            if not self.queued:
                self.queued = True
                self._budget.queue(self)

    def ready(self) -> bool:
        """Whether a place is held for the next call; one is sought."""
        if not self._budget.limited or self.held:
            return True
        if not self.wanted:
            self.expect(1)
        elif not self.queued:
            self.queued = True
            self._budget.queue(self)
        return self.held > 0

    async def granted(self) -> None:
        """Wait for a place that another vote gives back.

        Raises:
            BudgetExhaustedError: When none can come any more.
        """
        if self.held:
            return
        if self._budget.stopped or not self._budget.reserved:
            raise self._budget.refusal()
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def launch(self) -> None:
        """Use a place: one more call is in flight. Every launch is followed by one :meth:`Budget.settle`.

        Raises:
            BudgetExhaustedError: If it must not be launched.
        """
        if self.held:
            self.held -= 1
            self._budget.reserved -= 1
            self._budget.launch()
        elif self._budget.limited and not self._budget.fits(self._budget.reserved):
            raise self._budget.refusal()
        else:
            self._budget.launch()

    def skip(self) -> None:
        """An expected call was not needed."""
        if self.wanted:
            self.wanted -= 1
        elif self.held:
            self._give_back(1)

    def close(self) -> None:
        """The vote is done; what it did not use goes to others."""
        self.wanted = 0
        self._give_back(self.held)

    def give(self) -> None:
        """A place for this vote."""
        self.held += 1
        self.wanted -= 1
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def refuse(self, error: BudgetExhaustedError) -> None:
        """No place will come."""
        self.wanted = 0
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)

    def _give_back(self, places: int) -> None:
        self.held -= places
        self._budget.reserved -= places
        self._budget.distribute()


SECONDS_PER_MINUTE: Final = 60.0
ROUNDING: Final = 1e-6
CATCH_UP_SECONDS: Final = 0.05


class Pace:
    """So many units a minute, evenly spaced (the generic cell rate algorithm, with next to no burst).

    Spacing keeps every window of a minute within the limit, from any moment on. What a late timer lost may be caught up
    within 50 ms, so that thousands a minute can be reached; rates below twenty a second are spaced exactly.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._interval = SECONDS_PER_MINUTE / per_minute
        self._slack = CATCH_UP_SECONDS if self._interval < CATCH_UP_SECONDS else 0.0
        self.ready_at = now

    def take(self, units: float, now: float) -> None:
        """Use up this many units from now on."""
        self.ready_at = max(self.ready_at, now - self._slack) + units * self._interval

    def correct(self, units: float) -> None:
        """Use up more units than were taken, or give some back."""
        self.ready_at += units * self._interval


class TokenPace:
    """So many tokens a minute: evenly spaced, as by :class:`Pace`, and never more within any minute.

    What a call will use is not known when it is let in: until it ends it counts its estimate, and from then on what it
    used. It counts until a minute after its end, so that no minute of a server that counts it at any time between its
    beginning and its end holds more than the limit, as far as no estimate is too low. A call alone is never kept out.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._limit = per_minute
        self._pace = Pace(per_minute, now)
        self._under_way = 0
        self._ended: deque[tuple[float, float]] = deque()
        self._counting = 0.0

    def ready_at(self, tokens: float, now: float) -> float:
        """When a call of so many tokens may be let in; infinity while that depends on calls that are under way."""
        while self._ended and self._ended[0][0] + SECONDS_PER_MINUTE <= now:
            self._counting -= self._ended.popleft()[1]
        ready, beyond = self._pace.ready_at, self._counting + tokens - self._limit
        for ended_at, used in self._ended:
            if beyond <= ROUNDING:
                return ready
            beyond -= used
            ready = max(ready, ended_at + SECONDS_PER_MINUTE)
        return ready if beyond <= ROUNDING or not self._under_way else math.inf

    def take(self, tokens: float, now: float) -> None:
        """Let a call of about so many tokens in."""
        self._pace.take(tokens, now)
        self._under_way += 1
        self._counting += tokens

    def settle(self, taken: float, used: float, now: float) -> None:
        """A call that was let in with ``taken`` tokens has ended, and used so many."""
        self._pace.correct(used - taken)
        self._under_way -= 1
        self._counting += used - taken
        self._ended.append((now, used))


class Gate:
    """Lets requests through, first come first served, as the limits allow; a request sent again goes first.

    A 429 halves the number of calls that may be in flight, once for all calls that were under way at that time, and
    every reply adds a little, so that a full round of replies raises it by one (additive increase, multiplicative
    decrease). A Retry-After stops the whole gate until then.

    Attributes:
        limit: How many calls may be in flight now, between 1 and ``max_in_flight``.
        in_flight: How many are.
    """

    def __init__(
        self,
        max_in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_in_flight = max_in_flight
        self.limit = float(max_in_flight)
        self.in_flight = 0
        self._clock = clock
        self._requests = None if requests_per_minute is None else Pace(requests_per_minute, clock())
        self._tokens = None if tokens_per_minute is None else TokenPace(tokens_per_minute, clock())
        self._paused_until = 0.0
        self._decreased_at = -1.0
        self._waiting: deque[tuple[asyncio.Future[None], float]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, tokens: float = 0.0, *, again: bool = False) -> float:
        """Wait for a place; return the time at which it was given. Every entry is followed by one :meth:`leave`."""
        if not self._waiting and self.in_flight + 1 <= self.limit:
            now = self._clock()
            if self._ready_at(tokens, now) <= now:
                self._admit_one(tokens, now)
                return now
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if again:
            self._waiting.appendleft((place, tokens))
        else:
            self._waiting.append((place, tokens))
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise
        return self._clock()

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        if self._waiting:
            self._admit()

    def succeeded(self) -> None:
        """A reply came."""
        if self.limit < self.max_in_flight:
            self.limit = min(float(self.max_in_flight), self.limit + 1 / self.limit)

    def used(self, tokens: float, expected: float) -> None:
        """A call ended that was let in with ``expected`` tokens, and used so many; it goes before :meth:`leave`."""
        if self._tokens is not None:
            self._tokens.settle(expected, tokens, self._clock())

    def slow_down(self, entered_at: float) -> None:
        """The server answered 429 to a call that was let in at this time."""
        if entered_at > self._decreased_at:
            self._decreased_at = self._clock()
            self.limit = max(1.0, self.limit / 2)

    def pause(self, seconds: float) -> None:
        """Let nothing in for so long."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def close(self) -> None:
        """Forget the timer; whoever still waits is cancelled."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            self._waiting.popleft()[0].cancel()

    def _ready_at(self, tokens: float, now: float) -> float:
        ready = self._paused_until
        if self._requests is not None:
            ready = max(ready, self._requests.ready_at)
        if self._tokens is not None:
            ready = max(ready, self._tokens.ready_at(tokens, now))
        return ready

    def _admit_one(self, tokens: float, now: float) -> None:
        self.in_flight += 1
        if self._requests is not None:
            self._requests.take(1, now)
        if self._tokens is not None:
            self._tokens.take(tokens, now)

    def _admit(self) -> None:
        while self._waiting and self.in_flight + 1 <= self.limit:
            place, tokens = self._waiting[0]
            if place.cancelled():
                self._waiting.popleft()
                continue
            now = self._clock()
            wait = self._ready_at(tokens, now) - now
            if wait > 0:
                self._admit_after(wait)
                return
            self._waiting.popleft()
            self._admit_one(tokens, now)
            place.set_result(None)

    def _admit_after(self, wait: float) -> None:
        """Look again then; a call that ends meanwhile may make it earlier, or is what is waited for."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if wait < math.inf:
            self._timer = asyncio.get_running_loop().call_later(wait, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()

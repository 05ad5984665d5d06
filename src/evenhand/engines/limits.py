"""How fast a server is asked, and what happens to the queue while it is away.

The gate in front of a server counts calls in flight, calls a minute and tokens a minute; a 429 lowers them.

A server is away when connections to it are refused, reset or not made in time, when its name is not found, and when
the gateway in front of it says that nothing is behind (502, 503, 504). One such failure is an ordinary one, and that
call is tried again. Several in a row, with no answer between them, open the circuit. So do several calls in a row that
the server accepts and does not answer in time; a call that is tried again counts once, since it may be the slow one.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from evenhand.errors import ConnectionLostError, EngineError, UnreachableError
from evenhand.numbers import format_count
from evenhand.visible import visible

DEFAULT_PATIENCE: Final = 300.0
FIRST_PATIENCE: Final = 1.0
"""Seconds for a server that has never answered, unless the caller says otherwise: an address is mistyped more often
than a server is away at the very start."""
UNREACHED_IN_A_ROW: Final = 3
BROKEN_OFF_IN_A_ROW: Final = 8
"""More than for connections that are not even made: a request can be what breaks its connection."""
TIMED_OUT_IN_A_ROW: Final = 8
"""Calls without a reply in time, that open the circuit."""
TIMED_OUT_PROBES: Final = 4
"""Probes without a reply in time, after which nothing is sent any more, unless the caller gave a patience."""
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 5.0
TOLD_AFTER: Final = 2
"""Probes that fail before a word is said: what is over within a second needs none."""

_logger = logging.getLogger(__name__)


class Breaker:
    """A circuit breaker: closed while a server answers, open while it is away, with one probe at a time.

    Pauses double from a quarter of a second to 5 seconds. After the patience, nothing is sent any more.

    Attributes:
        name: Of the judge, for what is told.
        given_patience: Seconds; None is 300 for a server that was reached before, and 1 for one that never was.
        answers: Answers so far.
        is_open: The server is away.
        probing: A probe is under way.
        probe_at: When the next may leave, by the clock.
        ended: Why nothing is sent any more.
    """

    def __init__(
        self, name: str = "the judge", patience: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.name = name
        self.given_patience = patience
        self.is_open = False
        self.probe_at = 0.0
        self.ended: UnreachableError | None = None
        self.answers = 0
        self._clock = clock
        self._reached = False
        self._in_a_row = 0
        self._timed_out = 0
        self._timed_out_probes = 0
        self._since = 0.0
        self._pause = FIRST_PAUSE
        self._probes = 0
        self._probe: float | None = None

    @property
    def probing(self) -> bool:
        """Whether a probe is under way."""
        return self._probe is not None

    @property
    def doubted(self) -> bool:
        """Whether the server is away, or has not answered since a call timed out."""
        return self.is_open or self._timed_out > 0

    @property
    def patience(self) -> float:
        """Seconds that a server may be away."""
        if self.given_patience is not None:
            return self.given_patience
        return DEFAULT_PATIENCE if self._reached else FIRST_PATIENCE

    def let_through(self, now: float) -> None:
        """A call leaves; while the circuit is open, as its probe."""
        if self.is_open:
            self._probe = now

    def answered(self) -> None:
        """The server is there, whatever it said."""
        self._reached, self._in_a_row, self._timed_out, self._timed_out_probes = True, 0, 0, 0
        self.answers += 1
        if self.is_open:
            self.is_open, self._probe = False, None
            if self._probes > TOLD_AFTER:
                tell(f"{self.name!r}: the server is back after {self._away()}, and the queue goes on")

    def failed(self, error: ConnectionLostError, entered_at: float) -> None:
        """A connection was not made, or broke off, for the call that was let through at this time."""
        self._reached |= error.reached
        if self.is_open:
            if self._probe == entered_at:
                self._probe_failed(str(error))
            return  # sent before the others showed that the server is away
        self._count()
        if self._in_a_row >= (BROKEN_OFF_IN_A_ROW if error.reached else UNREACHED_IN_A_ROW):
            self.open(error)

    def timed_out(self, error: EngineError, entered_at: float, *, first: bool) -> None:
        """No reply came in time to the call that was let through at this time.

        Args:
            error: What the call failed with.
            entered_at: By the clock.
            first: The call has not timed out before since the last answer.
        """
        self._reached = True
        if self.is_open:
            if self._probe == entered_at:
                self._timed_out_probes += 1
                self._probe_failed(str(error))
            return
        self._count()
        self._timed_out += first
        if self._timed_out >= TIMED_OUT_IN_A_ROW:
            self.open(error)

    def _count(self) -> None:
        if self._in_a_row == 0:
            self._since = self._clock()
        self._in_a_row += 1

    def open(self, error: EngineError) -> None:
        """The server is away: a batch of calls failed of this, or enough in a row."""
        self._count()
        self.is_open, self._pause, self._probes, self._probe = True, FIRST_PAUSE, 0, None
        self._probe_failed(str(error))

    def left(self, entered_at: float) -> None:
        """A call is over; a probe that brought neither an answer nor a lost connection has found nothing out."""
        if self.is_open and self._probe == entered_at:
            self._probe_failed("no reply in time")

    def _probe_failed(self, told: str) -> None:
        now = self._clock()
        self._probe = None
        self._probes += 1
        left = self._since + self.patience - now
        if left <= 0 or (self.given_patience is None and self._timed_out_probes >= TIMED_OUT_PROBES):
            self.ended = self._unreachable(told)
        elif self._probes == TOLD_AFTER + 1 and self.patience > FIRST_PATIENCE:
            within = f"{self.patience:g} seconds (patience)"
            if self._timed_out_probes and self.given_patience is None:
                within = f"{TIMED_OUT_PROBES} calls without a reply in time"
            tell(
                f"{self.name!r}: the server is away ({told}). The queue waits and tries one call at a time, for up to "
                f"{within}; calls that wait lose no attempt"
            )
        self.probe_at = now + min(self._pause, max(0.0, left))
        self._pause = min(LONGEST_PAUSE, 2 * self._pause)

    def _away(self) -> str:
        seconds = max(1, round(self._clock() - self._since))
        return "a second" if seconds == 1 else f"{seconds} seconds"

    def _unreachable(self, told: str) -> UnreachableError:
        if self._timed_out_probes:
            return UnreachableError(
                f"the server accepts requests and has answered none for {self._away()}: neither those in flight nor "
                f"{format_count(self._timed_out_probes, 'call')} after them; the last time, {told}. If it is only "
                "slow, give the engine a longer timeout, or a smaller max_in_flight"
            )
        if self._reached:
            return UnreachableError(
                f"the server has been away for {self._away()} (patience={self.patience:g}); the last time, {told}"
            )
        return UnreachableError(
            f"the server cannot be reached: {told}. Check the address and that the server runs; an engine with "
            "patience=600 waits ten minutes for one that is still starting"
        )


def tell(line: str) -> None:
    """One line to the log, which is on stderr where nothing else is set up; a progress bar there makes room for it."""
    with suppress(OSError, ValueError):  # a terminal that is gone
        _logger.warning(visible(line))


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

    def change(self, per_minute: float, now: float) -> None:
        """So many a minute from now on."""
        waiting = max(0.0, self.ready_at - now) / self._interval  # units that were let in ahead of their time
        self._interval = SECONDS_PER_MINUTE / per_minute
        self._slack = CATCH_UP_SECONDS if self._interval < CATCH_UP_SECONDS else 0.0
        if waiting:
            self.ready_at = now + waiting * self._interval


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

    def change(self, per_minute: float, now: float) -> None:
        """So many a minute from now on."""
        self._limit = per_minute
        self._pace.change(per_minute, now)

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
    decrease). A Retry-After stops the whole gate until then. While the server is away, one call at a time goes through;
    see :class:`~evenhand.engines.limits.Breaker`.

    Attributes:
        limit: How many calls may be in flight now, between 1 and ``max_in_flight``.
        in_flight: How many are.
        breaker: Whether the server is there.
        ended: Makes the error that whoever asks for a place gets instead.
    """

    def __init__(
        self,
        max_in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        breaker: Breaker | None = None,
    ) -> None:
        self.breaker = breaker if breaker is not None else Breaker(clock=clock)
        self.ended: Callable[[], Exception] | None = None
        self.max_in_flight = self._whole = max_in_flight
        self._per_minute = requests_per_minute, tokens_per_minute
        self.limit = float(max_in_flight)
        self.in_flight = 0
        self._clock = clock
        self._requests = None if requests_per_minute is None else Pace(requests_per_minute, clock())
        self._tokens = None if tokens_per_minute is None else TokenPace(tokens_per_minute, clock())
        self._paused_until = 0.0
        self._decreased_at = -1.0
        self._waiting: deque[tuple[asyncio.Future[float], float]] = deque()
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, tokens: float = 0.0, *, again: bool = False) -> float:
        """Wait for a place; return the time at which it was given. Every entry is followed by one :meth:`leave`.

        Raises:
            Exception: What the gate was ended with.
        """
        if self.ended is not None:
            raise self.ended()
        if not self._waiting and self._has_room():
            now = self._clock()
            if self._ready_at(tokens, now) <= now:
                self._admit_one(tokens, now)
                return now
        place: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        if again and not self.breaker.doubted:  # else another call finds out whether the server answers it
            self._waiting.appendleft((place, tokens))
        else:
            self._waiting.append((place, tokens))
        self._admit()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave(place.result())
            raise

    def leave(self, entered_at: float = -1.0) -> None:
        """Give the place back that was given at this time."""
        self.in_flight -= 1
        self.breaker.left(entered_at)
        if self._waiting:
            self._admit()

    def end(self, error: Callable[[], Exception]) -> None:
        """Let nobody in any more; whoever waits gets an error that this makes."""
        self.ended = self.ended or error
        self._over.set()
        self._end_timer()
        while self._waiting:
            place, _ = self._waiting.popleft()
            if not place.done():
                place.set_exception(error())

    async def rest(self, seconds: float) -> None:
        """Wait outside the gate, for no longer than it lets anybody in."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

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
            self.limit = max(min(1.0, self.max_in_flight), self.limit / 2)

    def scale(self, share: float) -> None:
        """Keep to a share of every limit from now on; with a share of 0 nobody is let in."""
        most = math.floor(self._whole * share + ROUNDING)
        self.limit = float(most) if self.limit >= self.max_in_flight else min(self.limit, float(most))
        self.max_in_flight = most
        now = self._clock()
        for pace, per_minute in ((self._requests, self._per_minute[0]), (self._tokens, self._per_minute[1])):
            if pace is not None and per_minute is not None and most:
                pace.change(per_minute * share, now)
        self._admit()

    def pause(self, seconds: float) -> None:
        """Let nothing in for so long."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def close(self) -> None:
        """Forget the timer; whoever still waits is cancelled."""
        self._end_timer()
        while self._waiting:
            self._waiting.popleft()[0].cancel()

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _has_room(self) -> bool:
        return not self.breaker.probing if self.breaker.is_open else self.in_flight + 1 <= self.limit

    def _ready_at(self, tokens: float, now: float) -> float:
        ready = max(self._paused_until, self.breaker.probe_at if self.breaker.is_open else 0.0)
        if self._requests is not None:
            ready = max(ready, self._requests.ready_at)
        if self._tokens is not None:
            ready = max(ready, self._tokens.ready_at(tokens, now))
        return ready

    def _admit_one(self, tokens: float, now: float) -> None:
        self.in_flight += 1
        self.breaker.let_through(now)
        if self._requests is not None:
            self._requests.take(1, now)
        if self._tokens is not None:
            self._tokens.take(tokens, now)

    def _admit(self) -> None:
        while self._waiting and self._has_room():
            place, tokens = self._waiting[0]
            if place.done():
                self._waiting.popleft()
                continue
            now = self._clock()
            wait = self._ready_at(tokens, now) - now
            if wait > 0:
                self._admit_after(wait)
                return
            self._waiting.popleft()
            self._admit_one(tokens, now)
            place.set_result(now)

    def _admit_after(self, wait: float) -> None:
        """Look again then; a call that ends meanwhile may make it earlier, or is what is waited for."""
        self._end_timer()
        if wait < math.inf:
            self._timer = asyncio.get_running_loop().call_later(wait, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._admit()

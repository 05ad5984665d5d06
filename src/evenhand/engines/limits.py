"""The rate at which a server is asked, and the behaviour while it does not answer.

The gate in front of a server counts calls in flight, requests per minute and tokens per minute; a 429 lowers the number
of calls in flight. A server is away when several calls in a row find no connection, lose it, or get no reply in time,
with no answer between them. Then one call at a time tries it, after ever longer pauses, and the run ends when it has
been away for longer than the patience.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from evenhand.engines.base import not_sent
from evenhand.errors import ConnectionLostError, EngineError, UnreachableError, WithheldError
from evenhand.numbers import format_count
from evenhand.visible import visible

PATIENCE: Final = 300.0
FIRST_PATIENCE: Final = 1.0
"""Seconds for a server that has never answered: at the start a mistyped address is likelier than a server away."""
UNANSWERED_IN_A_ROW: Final = 8
"""A single request can be what breaks its connection, or takes long."""
LONGEST_PAUSE: Final = 5.0

_logger = logging.getLogger(__name__)


def tell(line: str) -> None:
    """Write one line to the log, which is on stderr unless the program sets it up; a progress bar makes room for it."""
    with suppress(OSError, ValueError):  # a terminal that is gone
        _logger.warning(visible(line))


class Pace:
    """A number of units per minute, evenly spaced (the generic cell rate algorithm with hardly any burst).

    A late timer may catch up within 50 ms, so that thousands per minute can be reached; rates below twenty per second
    are spaced exactly.

    Attributes:
        ready_at: When the next units may be taken, by the clock.
    """

    def __init__(self, per_minute: float, now: float, catch_up: float = 0.05) -> None:
        self._interval = 60.0 / per_minute
        self._slack = catch_up if self._interval < catch_up else 0.0
        self.ready_at = now

    def take(self, units: float, now: float) -> None:
        """Use up this many units from now on."""
        self.ready_at = max(self.ready_at, now - self._slack) + units * self._interval

    def correct(self, units: float) -> None:
        """Use up more units than were taken, or give some back."""
        self.ready_at += units * self._interval


class Gate:
    """Lets calls through, first come first served, as the limits allow; a call that is sent again goes first.

    A 429 halves the number of calls that may be in flight, once for all calls that were under way at that time, and
    every reply adds a little, so that a full round of replies raises it by one (additive increase, multiplicative
    decrease). A Retry-After stops the whole gate until then.

    Args:
        name: The name of the judge, for messages.
        max_in_flight: The most calls in flight.
        requests_per_minute: None for no limit.
        tokens_per_minute: None for no limit. A call counts its estimate until it ends, and then what it used.
        patience: Seconds that the server may be away; None is 300, or 1 if it was never reached.
        clock: Seconds that only grow.

    Attributes:
        limit: The number of calls that may be in flight now.
        in_flight: The number of calls in flight.
        answers: Answers so far, refusals included.
        given_up: Calls since the last reply that were given up because of a 429.
        replied: There was a reply.
        away: The server is away.
        ended: The error of which every caller gets a copy instead of a place.
    """

    def __init__(  # noqa: PLR0917 - the limits in the order of the options
        self,
        name: str,
        max_in_flight: int,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        patience: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = float(max_in_flight)
        self.in_flight = self.answers = self.given_up = 0
        self.away = self.replied = False
        self.ended: EngineError | WithheldError | None = None
        self._name, self._most, self._patience, self._clock = name, max_in_flight, patience, clock
        self._requests = None if requests_per_minute is None else Pace(requests_per_minute, clock())
        self._tokens = None if tokens_per_minute is None else Pace(tokens_per_minute, clock(), catch_up=0.0)
        self._paused_until = 0.0
        self._decreased_at = -1.0
        self._waiting: deque[tuple[asyncio.Future[float], float]] = deque()
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._reached = False
        self._probe: float | None = None  # when the call left that finds out whether the server is back
        self._answered()

    async def enter(self, tokens: float = 0.0, *, again: bool = False) -> float:
        """Wait for a place; return the time at which it was given. Every entry is followed by one :meth:`leave`.

        Raises:
            Exception: The error that ended the gate.
        """
        if self.ended is not None:
            raise not_sent(self.ended)
        place: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        if again and not self._in_a_row:  # else another call finds out whether the server answers it
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

    def leave(self, entered_at: float, tokens: float = 0.0) -> None:
        """Give back the place that was given at this time.

        Args:
            entered_at: By the clock.
            tokens: The number of tokens that the call used beyond the expected number.
        """
        self.in_flight -= 1
        if self._tokens is not None:
            self._tokens.correct(tokens)
        if self._probe == entered_at:
            self._probe = None
        self._admit()

    def answered(self, *, replied: bool = False) -> None:
        """Note an answer of the server; a reply raises the limit."""
        self._reached = True
        self.answers += 1
        self._answered()
        if replied:
            self.replied, self.given_up = True, 0
            self.limit = min(float(self._most), self.limit + 1 / self.limit)

    def _answered(self) -> None:
        self.away, self._in_a_row, self._since, self._pause = False, 0, 0.0, 0.25

    def slow_down(self, entered_at: float) -> None:
        """Lower the limit: the server answered 429 to a call that was let in at this time."""
        if entered_at > self._decreased_at:
            self._decreased_at = self._clock()
            self.limit = max(1.0, self.limit / 2)

    def failed(self, error: EngineError, entered_at: float, *, first: bool) -> None:
        """Note that the server did not answer the call that was let in at this time.

        Args:
            error: No connection, one that broke off, or no reply in time.
            entered_at: By the clock.
            first: The call has not timed out before since the last answer.
        """
        now, lost = self._clock(), isinstance(error, ConnectionLostError)
        self._reached |= error.reached
        if self.away and self._probe != entered_at:
            return  # sent before others showed that the server is away
        patience = (PATIENCE if self._reached else FIRST_PATIENCE) if self._patience is None else self._patience
        if not self.away:
            self._since = self._since if self._in_a_row else now
            self._in_a_row += first or lost
            self.away = self._in_a_row >= UNANSWERED_IN_A_ROW
            if not self.away:
                return
            if patience > FIRST_PATIENCE:
                tell(
                    f"{self._name!r}: the server is away ({error}). The queue waits and tries one call at a time, for "
                    f"up to {patience:g} seconds (patience); calls that wait lose no attempt"
                )
        left = self._since + patience - now
        if left <= 0:
            time_away = format_count(max(1, round(now - self._since)), "second")
            self.end(
                UnreachableError(
                    f"the server has been away for {time_away} (patience={patience:g}): {error}. Check its address and "
                    "that it runs; patience=600 waits ten minutes for one that is still starting. If it is only slow, "
                    "give the engine a longer timeout, or a smaller max_in_flight"
                )
            )
        self.pause(min(self._pause, max(0.0, left)))
        self._pause = min(LONGEST_PAUSE, 2 * self._pause)

    def end(self, error: EngineError | WithheldError) -> None:
        """Close the gate; every caller that waits gets a copy of this error."""
        self.ended = self.ended or error
        self._over.set()
        self._stop_timer()
        while self._waiting:
            place, _ = self._waiting.popleft()
            if not place.done():
                place.set_exception(not_sent(self.ended))

    async def rest(self, seconds: float) -> None:
        """Wait outside the gate, unless it ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._over.wait()

    def pause(self, seconds: float) -> None:
        """Let nothing in for this long."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _admit(self) -> None:
        """Let in those at the head of the queue, as far as the limits allow, and look again when they allow more."""
        while self._waiting:
            if (self._probe is not None) if self.away else (self.in_flight + 1 > self.limit):
                return
            place, tokens = self._waiting[0]
            if place.done():
                self._waiting.popleft()
                continue
            now = self._clock()
            paces = [pace for pace in (self._requests, self._tokens) if pace is not None]
            wait = max([self._paused_until, *(pace.ready_at for pace in paces)]) - now
            if wait > 0:
                self._stop_timer()
                self._timer = asyncio.get_running_loop().call_later(wait, self._admit)
                return
            self._waiting.popleft()
            self.in_flight += 1
            self._probe = now if self.away else None
            for pace in paces:
                pace.take(1 if pace is self._requests else tokens, now)
            place.set_result(now)

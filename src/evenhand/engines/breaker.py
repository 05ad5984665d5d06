"""What happens to a queue while its server is away: it waits, and one call at a time looks whether the server is back.

A server is away when connections to it are refused, reset or not made in time, when its name is not found, and when
the gateway in front of it says that nothing is behind (502, 503, 504). One such failure is an ordinary one, and that
call is tried again. Several in a row, with no answer between them, open the circuit. So do several calls in a row that
the server accepts and does not answer in time; a call that is tried again counts once, since it may be the slow one.
"""

from __future__ import annotations

import logging
import time
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

"""The progress of a run, on the standard error stream: a terminal that is gone ends no run.

In a terminal a bar, redrawn four times a second; elsewhere (a file, CI, a notebook) a line every ten seconds, and one
at the end. When no vote comes for a while, it says so.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from rich.console import Console
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evenhand.numbers import format_cost, format_count, format_duration, format_number, format_percent
from evenhand.visible import visible
from evenhand.votes import Vote

SECONDS_BETWEEN_LINES: Final = 10.0
_RECENT: Final = 30.0  # seconds, over which the rate is measured
_BAR: Final = 24

Clock = Callable[[], float]


def tell(text: str) -> None:
    """Print a line to the standard error stream, above a bar; a stream that is gone is no failure."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(visible(text), file=sys.stderr, flush=True)  # noqa: T201 - the place where it is done


@dataclass(slots=True)
class Progress:
    """The progress of a run: votes, those unscored, calls, tokens, cost, and the time left.

    Attributes:
        total: Votes to be cast.
        clock: Seconds, whose differences count.
        line: Prints a line every ten seconds; None if a bar is drawn, or nothing.
        calls: Calls that were answered.
        tokens: Of prompts and replies.
        cost: The cost in US dollars; None if no price is known.
        unscored: Unscored votes.
        done: Votes cast, and draws that were not needed.
    """

    total: int = 0
    clock: Clock = time.monotonic
    line: Callable[[str], None] | None = None
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    unscored: int = 0
    done: int = 0
    _marks: deque[tuple[float, int]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self._marks.append((self.clock(), 0))

    def add(self, votes: Sequence[Vote], not_needed: int = 0) -> None:
        """Count votes as cast, and draws that are not needed as done."""
        for vote in votes:
            used = vote.usage
            self.calls += used.calls
            self.tokens += used.prompt_tokens + used.completion_tokens
            self.cost = self.cost if used.cost is None else used.cost + (self.cost or 0.0)
            self.unscored += vote.unscored
        self.done += len(votes) + not_needed

    async def watch(self) -> None:
        """Print a line every ten seconds until this is cancelled, also while a server stalls."""
        while self.line is not None:
            await asyncio.sleep(SECONDS_BETWEEN_LINES)
            self.line(f"judging: {self}")

    def __str__(self) -> str:
        """Return it as text: ``120/960 votes (12 %), 11.9 a second, 3 votes unscored, 240 calls, 48,000 tokens, …``."""
        now = self.clock()
        if self.done != self._marks[-1][1]:
            self._marks.append((now, self.done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _RECENT:
            self._marks.popleft()
        since, before = self._marks[0]
        rate = (self.done - before) / (now - since) if now > since else 0.0  # of late; 0 while it is unknown
        silent = now - self._marks[-1][0]
        stalled = silent >= SECONDS_BETWEEN_LINES and self.done < self.total
        parts = [
            f"{format_count(self.done)}/{format_count(self.total)} votes"
            + (f" ({format_percent(self.done / self.total)})" if self.total else ""),
            f"{format_number(rate, digits=1)} a second" if rate else "",
            f"{format_count(self.unscored, 'vote')} unscored",
            format_count(self.calls, "call"),
            format_count(self.tokens, "token"),
            "" if self.cost is None else format_cost(self.cost),
            f"{format_duration((self.total - self.done) / rate)} left" if rate and self.done < self.total else "",
            f"nothing has come for {format_duration(silent)}" if stalled else "",
        ]
        return ", ".join(filter(None, parts))

    def __rich__(self) -> Table:
        """Return a bar with its text."""
        row = Table.grid(padding=(0, 1, 0, 0))
        bar = ProgressBar(total=max(self.total, 1), completed=self.done, width=_BAR)
        row.add_row("judging", bar, Text(str(self), overflow="ellipsis"))
        return row


@contextmanager
def progress_bar(*, shown: bool, clock: Clock = time.monotonic) -> Iterator[Progress]:
    """Show progress over votes.

    Args:
        shown: Whether it is visible: the option ``progress`` of a run, which ``--quiet`` switches off.
        clock: Seconds.
    """
    progress = Progress(clock=clock)
    if not shown or sys.stderr is None:
        yield progress
        return
    live: Live | None = None
    with suppress(OSError, ValueError):  # a stream that is gone
        console = Console(stderr=True)
        if sys.stderr.isatty() and console.is_interactive and not isinstance(sys.stderr, FileProxy):  # or has a bar
            live = Live(progress, console=console, refresh_per_second=4, redirect_stdout=False)  # it may go elsewhere
            live.start()
    progress.line = tell if live is None else None
    try:
        yield progress
    finally:
        with suppress(OSError, ValueError):
            if live is not None:
                live.stop()
        if progress.line is not None and progress.total:
            tell(f"judging: {progress}")

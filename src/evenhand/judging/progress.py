"""What a run says while it runs, to whoever may be there to read it: a terminal that is gone ends no run.

In a terminal a bar, redrawn four times a second whatever comes in between; elsewhere (a file, CI, a notebook) a line
every ten seconds, and one at the end. A vote only counts. Where nothing comes, that is said too, ever more rarely.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from evenhand.numbers import format_cost, format_count, format_duration, format_number, format_percent
from evenhand.visible import visible
from evenhand.votes import Vote

SECONDS_BETWEEN_LINES: Final = 10.0
_REDRAWN: Final = 4  # times a second
_RECENT: Final = 30.0  # seconds, over which the rate is that of the time left
_BAR: Final = 24

Clock = Callable[[], float]


class _Screen:
    """The standard error stream, whose failures are nobody's loss."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - whatever stands there
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def isatty(self) -> bool:
        with suppress(OSError, ValueError, AttributeError):
            return bool(self._stream.isatty())
        return False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)


_bars: list[Live] = []
"""The bar that is on the screen, if one is: what is said beside it goes above it."""


def tell(text: str) -> None:
    """Say something, above the bar where there is one."""
    if _bars:
        _bars[-1].console.print(Text(visible(text)), soft_wrap=True)
    elif sys.stderr is not None:
        screen = _Screen(sys.stderr)
        screen.write(visible(text) + "\n")
        screen.flush()


@dataclass(slots=True)
class Progress:
    """How far a run is: votes, those unscored, calls, tokens, cost, and the time left.

    Attributes:
        total: Votes to be cast.
        clock: Seconds, of which only differences count.
        line: What takes a line every ten seconds; None where a bar is drawn, or nothing.
        calls: Calls that were answered.
        tokens: Of prompts and replies.
        cost: US dollars; None where no price is known.
        unscored: Unscored votes.
        done: Votes cast, and draws that were not needed.
    """

    total: int
    clock: Clock
    line: Callable[[str], None] | None = None
    calls: int = 0
    tokens: int = 0
    cost: float | None = None
    unscored: int = 0
    done: int = 0
    _marks: deque[tuple[float, int]] = field(default_factory=deque)
    _said: float = 0.0
    _moved: float = 0.0

    def __post_init__(self) -> None:
        self._said = self._moved = self.clock()
        self._marks.append((self._said, 0))

    def add(self, votes: Sequence[Vote]) -> None:
        """Count votes as cast."""
        for vote in votes:
            used = vote.usage
            self.calls += used.calls
            self.tokens += used.prompt_tokens + used.completion_tokens
            self.cost = self.cost if used.cost is None else used.cost + (self.cost or 0.0)
            self.unscored += vote.unscored
        self.skip(len(votes))

    def skip(self, votes: int) -> None:
        """Count draws that are not needed as done."""
        self.done += votes
        self._moved = self.clock()
        self._tell()

    async def watch(self) -> None:
        """Tell where nothing comes, as from a server that stalls, until this is cancelled."""
        while self.line is not None:
            await asyncio.sleep(SECONDS_BETWEEN_LINES / 10)
            self._tell()

    def _tell(self) -> None:
        """Say a line where the last one is old: ten seconds, or as long as nothing had come then."""
        now = self.clock()
        if self.line is not None and now - self._said >= max(SECONDS_BETWEEN_LINES, (now - self._moved) / 2):
            self._said = now
            self.line(f"judging: {self.told()}")

    def told(self) -> str:
        """It as text: ``120/960 votes (12 %), 11.9 a second, 3 votes unscored, 240 calls, 48,000 tokens, …``."""
        rate = self._rate()
        silent = self.clock() - self._moved
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

    def _rate(self) -> float:
        """Votes a second lately; 0 while there is nothing to tell it by."""
        now = self.clock()
        self._marks.append((now, self.done))
        while len(self._marks) > 2 and now - self._marks[1][0] > _RECENT:
            self._marks.popleft()
        since, before = self._marks[0]
        return (self.done - before) / (now - since) if now > since else 0.0

    def drawn(self, width: int) -> Text | Table:
        """A bar with what there is to say beside it; the words alone where the terminal is too narrow for both."""
        head, told = Text("judging"), Text(self.told())
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(head, ProgressBar(total=max(self.total, 1), completed=self.done, width=_BAR), told)
        fits = cell_len(head.plain) + _BAR + cell_len(told.plain) + 3 <= width
        return row if fits else Text(f"{head}: {told}")


@contextmanager
def progress_bar(total: int, *, shown: bool, clock: Clock = time.monotonic) -> Iterator[Progress]:
    """Progress over so many votes.

    Args:
        total: Votes.
        shown: Whether it is to be seen: the option ``progress`` of a run, which ``--quiet`` switches off.
        clock: Seconds.
    """
    if not shown or sys.stderr is None:
        yield Progress(total, clock)
        return
    screen = _Screen(sys.stderr)
    console = Console(file=screen)  # type: ignore[arg-type] # as much of a file as is written to
    if not console.is_terminal or console.is_jupyter or console.is_dumb_terminal or _bars:
        progress = Progress(total, clock, line=tell)
        try:
            yield progress
        finally:
            tell(f"judging: {progress.told()}")
        return
    progress = Progress(total, clock)
    live = Live(
        console=console,
        get_renderable=lambda: progress.drawn(console.width),
        refresh_per_second=_REDRAWN,
        redirect_stdout=False,  # it may go elsewhere
    )
    with live:
        _bars.append(live)
        try:
            yield progress
        finally:
            _bars.remove(live)

"""What a run says while it runs, to whoever may be there to read it: a terminal that is gone ends no run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tqdm.auto import tqdm
from tqdm.utils import ObjectWrapper

from evenhand.numbers import format_cost
from evenhand.visible import visible
from evenhand.votes import Usage, Vote


class _Screen(ObjectWrapper):  # type: ignore[misc] # tqdm has no types
    """The standard error stream, whose failures are nobody's loss."""

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._wrapped.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._wrapped.flush()

    def __eq__(self, other: object) -> bool:  # tqdm asks whether it writes to a standard stream, and how wide that is
        return other is self or other is self._wrapped

    def __hash__(self) -> int:
        return hash(self._wrapped)


def tell(text: str) -> None:
    """Say something above the progress bars."""
    if sys.stderr is not None:
        tqdm.write(visible(text), file=_Screen(sys.stderr))


@dataclass(slots=True)
class Progress:
    """The bar: judged, unscored, calls, tokens, cost, and the time left."""

    bar: tqdm[None]
    usage: Usage = field(default_factory=Usage)
    unscored: int = 0

    def add(self, votes: Sequence[Vote]) -> None:
        """Count votes as cast."""
        for vote in votes:
            self.usage += vote.usage
            self.unscored += vote.unscored_reason is not None
        if self.bar.disable:
            return
        cost = "" if self.usage.cost is None else f", {format_cost(self.usage.cost)}"
        tokens = self.usage.prompt_tokens + self.usage.completion_tokens
        self.bar.set_postfix_str(
            f"{self.unscored} unscored, {self.usage.calls} calls, {tokens} tokens{cost}", refresh=False
        )
        self.bar.update(len(votes))

    def skip(self, votes: int) -> None:
        """Count draws that are not needed as done."""
        self.bar.update(votes)


@contextmanager
def progress_bar(total: int, *, shown: bool) -> Iterator[Progress]:
    """A bar of so many votes."""
    disable = not shown or sys.stderr is None
    file = None if disable else _Screen(sys.stderr)
    with tqdm(total=total, unit="vote", disable=disable, desc="judging", file=file) as bar:
        yield Progress(bar)

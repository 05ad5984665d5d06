"""A worker's part of the budget of a run: what it may spend without asking, and what it wrote down of its spending."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Final

from evenhand.distributed.coordinator import Amount, Terms
from evenhand.engines.budget import AGAIN, Budget, Quote, Share
from evenhand.errors import BudgetExhaustedError
from evenhand.votes import Completion

_WRITTEN: Final = struct.Struct(">qd")
CALLS_AHEAD: Final = 8
"""So many calls are asked for before they are lacked."""


class Ledger:
    """A file of 16 bytes: what a worker has spent. It outlives the worker, killed in whatever moment."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        self.write(Amount())

    def write(self, spent: Amount) -> None:
        """What was spent until now, with what is at stake."""
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, _WRITTEN.pack(spent.calls, spent.cost))

    @staticmethod
    def read(path: Path) -> Amount | None:
        """What a worker wrote; None where that cannot be read."""
        try:
            return Amount(*_WRITTEN.unpack(path.read_bytes()))
        except (OSError, struct.error):
            return None


class LeasedBudget(Budget):
    """A budget that may grow: where it does not suffice, more is asked for, and whoever waits is refused when none is.

    Args:
        max_calls: Of the whole run; None for no limit.
        max_cost: Of the whole run, in US dollars; None for no limit.
        ledger: Where it is written down what is spent.
        ask: Called when more is needed.
    """

    def __init__(
        self, max_calls: int | None, max_cost: float | None, ledger: Ledger, ask: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(None if max_calls is None else 0, None if max_cost is None else 0.0)
        self._of_run = max_calls, max_cost
        self._ledger = ledger
        self._ask = ask
        self._no_more_calls = self._no_more_cost = False

    def may_grow(self, quote: Quote | None = None) -> bool:
        """Whether more may come: of calls, or with a quote of dollars."""
        if self.stopped or (self._no_more_calls if quote is None else self._no_more_cost):
            return False
        self._ask()
        return True

    def distribute(self) -> None:
        """Hand out what there is, and ask for more where it does not suffice."""
        super().distribute()
        if self._hungry:
            self._ask()

    @property
    def spent(self) -> Amount:
        """Launched, and paid or perhaps billed."""
        return Amount(self.launched, self.cost + self.at_risk)

    @property
    def lease(self) -> Amount:
        """What may be spent in all."""
        return Amount(self.max_calls or 0, self.max_cost or 0.0)

    def wants(self, *, ahead: bool) -> Amount:
        """What is lacked, and with ``ahead`` what will be soon."""
        calls, cost = 0, 0.0
        if self.max_calls is not None:
            calls = sum(share.wanted for _, _, share in self._hungry)
            if ahead and (calls or self.launched):
                calls += max(0, CALLS_AHEAD - (self.max_calls - self.launched - self.reserved))
        if self.max_cost is not None and self._poor and (quote := self._poor[0][-1].quote) is not None:
            cost = max(0.0, self.spent.cost + self._lacking(self._poor[0][-1], quote) - self.max_cost)
        return Amount(calls, cost)

    def _lacking(self, share: Share, quote: Quote) -> float:
        """What must be left so that a call may leave; for the first one, of which nothing is known, as much as is."""
        return quote.least_known() if quote.unknown and not quote.sure else self._needs(share, quote)[1]

    def give_back(self) -> None:
        """Keep no more than what is spent, at stake and promised."""
        if self.max_calls is not None:
            self.max_calls = min(self.max_calls, self.launched + self.reserved)
        if self.max_cost is not None:
            at_stake = max(self._at_stake, self._expected + self._promised)
            self.max_cost = min(self.max_cost, self.spent.cost + at_stake)

    def apply(self, terms: Terms) -> None:
        """Take what was granted; whoever cannot have what it waits for is told."""
        if self.max_calls is not None:
            self.max_calls = max(self.max_calls, terms.lease.calls)
        if self.max_cost is not None:
            self.max_cost = max(self.max_cost, terms.lease.cost)
        self._no_more_calls, self._no_more_cost = terms.no_more_calls, terms.no_more_cost
        if terms.stopped and not self.stopped:
            self.stop()
        elif self.limited:
            self.distribute()
        self._no_more_cost = False  # it holds for what was asked, and the next call may cost less

    def refusal(self, quote: Quote | None = None) -> BudgetExhaustedError:
        """As of the whole run."""
        calls, cost = self._of_run
        if self.stopped or self._unpriced is not None:
            return super().refusal(quote)
        if quote is None:
            return BudgetExhaustedError(f"max_calls={calls!r} was reached, by all workers together: {AGAIN}")
        return BudgetExhaustedError(f"max_cost={cost!r} was reached, by all workers together ({quote.told()}): {AGAIN}")

    def launch(self) -> None:
        """Count one more call in flight, and write it down before it leaves."""
        super().launch()
        self._write()

    def set_aside(self, most: float, likely: float, holds: int) -> None:
        """Count what a call may cost, and write it down before it leaves."""
        super().set_aside(most, likely, holds)
        self._write()

    def paid(self, completion: Completion, quote: Quote) -> float:
        """Count what a reply cost."""
        reserved = super().paid(completion, quote)
        self._write()
        return reserved

    def _write(self) -> None:
        if self.limited:
            self._ledger.write(Amount(self.launched, self.cost + self.at_risk + self._at_stake))

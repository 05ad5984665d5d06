"""What becomes of a paid reply that the journal cannot take: a full disk, a limit, a damaged file.

It is held in memory, and no new call is made. What is on its way is waited for and held too. The room that was kept
beside the journal is given up for it, recording is tried again for a while, and what still cannot be recorded when the
run ends is written to another place, from which the next run on this journal takes it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Final

from evenhand.engines.intake import Intake
from evenhand.engines.journal import Journal
from evenhand.engines.journal_file import RESERVE_BYTES
from evenhand.engines.journal_lines import Row, hold_elsewhere
from evenhand.errors import BudgetExhaustedError, JournalError
from evenhand.numbers import format_count
from evenhand.votes import Completion

ROOM_PATIENCE_SECONDS: Final = 20.0
"""So long room on a full disk is waited for."""

_logger = logging.getLogger(__name__)


class HoldingJournal:
    """A journal for one run, which loses nothing when it cannot be written.

    Attributes:
        journal: Where replies go.
        trouble: Why it cannot be written now.
        ended: It was waited for in vain, or cannot be mended by waiting: the run makes no more calls.
        changed: Something was recorded since this was last set to False.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.trouble: JournalError | None = None
        self.ended = False
        self.changed = False
        self._intake: Intake | None = None
        self._held: dict[str, Row] = {}
        self._released: list[str] = []
        self._reserved = 0
        self._since = 0.0
        self._refused = False

    def start(self) -> None:
        """Keep room for what will be on its way, and make ready to write down what is read."""
        self._reserved = self._reserved or self.journal.reserve()
        self._intake = Intake(self.journal.path)

    def add(self, row: Row) -> None:
        """A reply was read: it is safe from now on."""
        if self._intake is not None:
            self._intake.add(row)

    def get(self, key: str) -> Completion | None:
        """The recorded reply, marked as cached, or one that is held.

        Raises:
            BudgetExhaustedError: If the journal cannot be read; the run ends with its error.
        """
        if key in self._held:
            return Completion.model_validate_json(self._held[key].completion).model_copy(update={"cached": True})
        try:
            return self.journal.get(key)
        except JournalError as error:
            self._fail(error)
            raise self.refusal() from error

    def claimed(self, key: str) -> bool:
        """Whether anyone alive has a claim on the key."""
        try:
            return self.journal.claimed(key)
        except JournalError as error:
            self._fail(error)
            return False

    def exchange(self, rows: Sequence[Row], claims: Sequence[str], releases: Sequence[str]) -> set[str]:
        """As :meth:`Journal.exchange`; where that fails, the replies are held and nothing is claimed."""
        if self.trouble is None:
            try:
                taken = self.journal.exchange(rows, claims, releases)
            except JournalError as error:
                self._fail(error)
            else:
                self._has_recorded()
                return taken
        self._held.update((row.key, row) for row in rows)
        self._released += releases
        if self.trouble is None or self.trouble.full:
            self._write_held()
        return set()

    def try_again(self) -> None:
        """Go on where there is as much room again as there was; end where that was waited for long enough."""
        if self.trouble is None or self.ended:
            return
        if self._write_held() and self.journal.reserve(self._reserved or RESERVE_BYTES):
            _logger.warning("the journal %r can be written again: the run goes on", str(self.journal.path))
            self.trouble = None
        elif time.monotonic() - self._since > ROOM_PATIENCE_SECONDS:
            self.ended = True

    def refusal(self) -> BudgetExhaustedError:
        """What a call is told that is not made."""
        self._refused = True
        return BudgetExhaustedError(f"no call is made whose reply could not be recorded: {self.trouble}")

    def finish(self) -> JournalError | None:
        """Record what is held, or write it to another place.

        Returns:
            What ended a run before all its calls were made; None where they were.
        """
        kept = "Every reply that came is in it"
        left: list[Row] = []
        if self._held and not self._write_held():
            kept, left = self._hold_elsewhere()
            _logger.warning("the journal %r could not take every reply. %s", str(self.journal.path), kept)
        if self._intake is not None:
            self._intake.close(keep=bool(left))
            self._intake = None
        if self.trouble is None or not self._refused:
            return None
        return JournalError(
            f"{self.trouble}. {kept}, and a second run asks only for what is missing; the votes that were cast are in "
            "this error's votes",
            full=self.trouble.full,
        )

    def _hold_elsewhere(self) -> tuple[str, list[Row]]:
        held = list(self._held.values())
        files, left = hold_elsewhere(self.journal.path, held)
        lost = f"; for {format_count(len(left), 'reply')} there was no room anywhere" if left else ""
        names = ", ".join(repr(str(file)) for file in files) or "no file"
        told = (
            f"{format_count(len(held) - len(left), 'reply')} that it could not take: in {names}, from which the next "
            f"run with this journal takes them in{lost}"
        )
        return told, left

    def _fail(self, error: JournalError) -> None:
        if self.trouble is None:
            self._since = time.monotonic()
            _logger.warning("no new calls are made, and replies on their way are held in memory: %s", error)
        self.trouble = error
        self.ended = self.ended or not error.full
        self.journal.give_up_reserve()

    def _write_held(self) -> bool:
        try:
            self.journal.exchange(list(self._held.values()), (), self._released)
        except JournalError as error:
            self.trouble = error
            return False
        self._held.clear()
        self._released.clear()
        self._has_recorded()
        return True

    def _has_recorded(self) -> None:
        self.changed = True
        if self._intake is not None:
            self._intake.empty()

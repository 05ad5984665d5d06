"""``evenhand journal``: check, prune, export and import the journal."""

from __future__ import annotations

import io
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from evenhand.cli.output import complain, say
from evenhand.engines import journal as tools
from evenhand.errors import InvalidInputError, check_known
from evenhand.files import check_out, expanded, open_file, write_texts
from evenhand.numbers import format_count

EXIT_UNSOUND: Final = 1
Journal = Annotated[Path | None, Parameter(name="--journal")]
journal = App(name="journal", group="Maintenance", help="Check, prune, export and import the journal of paid replies.")


def _place(given: Path | None) -> Path:
    return tools.default_journal_path() if given is None else expanded(given)


@journal.command(name="check")
def check_journal(*, path: Journal = None) -> int:
    """Read every reply, and say whether all are sound.

    Args:
        path: The journal; by default that of runs.
    """
    place = _place(path)
    faults = tools.check(place)
    for key in faults:
        complain(f"{place}: the reply {key!r} cannot be read, or does not fit its checksum: it counts as missing")
    if not faults:
        say(f"{place} is sound")
    return EXIT_UNSOUND if faults else 0


@journal.command(name="prune")
def prune_journal(*, older_than: timedelta, path: Journal = None) -> int:
    """Remove old replies.

    Args:
        older_than: Remove replies above this age, such as 12h, 30d or 8w.
        path: The journal; by default that of runs.
    """
    removed, left = tools.prune(_place(path), older_than.total_seconds())
    say(f"{format_count(removed, 'reply')} removed, {format_count(left, 'reply')} left")
    return 0


@journal.command(name="export")
def export_journal(*, path: Journal = None, out: Path | None = None) -> int:
    """Write the replies as JSON lines, which import reads, and engines.evenhand.replay answers from.

    Args:
        path: The journal; by default that of runs.
        out: The file; printed without it.
    """
    place = _place(path)
    out = check_out(out, [str(place)])
    if out is None:
        for line in tools.export_lines(place):
            sys.stdout.write(line)
        return 0
    write_texts(out, tools.export_lines(place))
    say(f"{place} exported to {out}")
    return 0


@journal.command(name="import")
def import_journal(file: str, /, *, path: Journal = None) -> int:
    """Add exported replies to a journal.

    Args:
        path: The journal; by default that of runs.
        file: The JSON lines that export wrote.
    """
    place = _place(path)
    try:
        with io.TextIOWrapper(open_file(expanded(file)), encoding="utf-8", errors="replace") as lines:
            new, faults = tools.import_lines(place, lines)
    except OSError as error:
        raise InvalidInputError(f"{file!r} cannot be read ({error.strerror})") from error
    say(f"{format_count(new, 'new reply')} in {place}")
    if faults:
        complain(f"no reply could be read in {format_count(len(faults), 'line')}, the first of them {faults[0]}")
    return EXIT_UNSOUND if faults else 0


@journal.command(name="forget")
def forget_batch(name: str, /, *, path: Journal = None) -> int:
    """Give up a batch whose replies cannot be read: they are asked for again.

    Args:
        path: The journal; by default that of runs.
        name: The name of the batch.
    """
    place = _place(path)
    with tools.existing_journal(place) as opened:
        batches = {each.name: each for each in opened.batches()}
        check_known(name, batches, f"the journal has no batch {name!r}")
        opened.forget_batch(batches[name])
    say(f"{name} is given up; its {format_count(batches[name].requests, 'request')} may be asked for again")
    return 0

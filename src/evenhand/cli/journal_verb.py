"""``evenhand journal``: check, describe and prune the journal."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from evenhand.cli.output import check_out, complain, say
from evenhand.errors import InvalidInputError
from evenhand.files import expanded, open_file, written_whole
from evenhand.numbers import format_bytes, format_cost, format_count

if TYPE_CHECKING:
    pass

EXIT_UNSOUND: Final = 1
SECONDS: Final[Mapping[str, float]] = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}


def journal(
    action: Literal["check", "prune", "export", "import", "stats", "forget"],
    file: Annotated[
        str | None,
        Parameter(name="FILE", help="For import: the JSON lines that export wrote; for forget: the name of a batch."),
    ] = None,
    /,
    *,
    path: Annotated[
        Path | None, Parameter(name="--journal", help="The journal; by default the one that runs use by default.")
    ] = None,
    older_than: Annotated[
        str | None, Parameter(name="--older-than", help="For prune: an age, such as 12h, 30d, 8w or 1y.")
    ] = None,
    out: Annotated[
        Path | None,
        Parameter(name="--out", help="For export: the file to write."),
    ] = None,
) -> int:
    """Check, prune, export, import and describe the journal of paid replies.

    forget gives up a batch whose replies cannot be read: they are asked for again.
    """
    takes = {
        "prune": {"--older-than"},
        "export": {"--out"},
        "import": {"FILE"},
        "forget": {"FILE"},
    }
    given = {"FILE": file, "--older-than": older_than, "--out": out}
    for name, value in given.items():
        if value is not None and name not in takes.get(action, ()):
            raise InvalidInputError(f"journal {action} takes no {name} (given: {str(value)!r})")
    from evenhand.engines.journal import default_journal_path  # noqa: PLC0415 - a second of import

    there = default_journal_path() if path is None else expanded(path)
    if action == "check":
        return _check(there)
    if action == "prune":
        _prune(there, older_than)
    elif action == "export":
        _export(there, out)
    elif action == "import":
        return _import(there, file)
    elif action == "forget":
        _forget(there, str(file))
    else:
        _stats(there)
    return 0


def _check(path: Path) -> int:
    from evenhand.engines.journal import recovery  # noqa: PLC0415 - as above
    from evenhand.engines.journal_tools import check  # noqa: PLC0415 - a second of import

    faults = check(path)
    for fault in faults:
        complain(f"{path}: {fault}")
    if faults:
        complain(recovery(path))
        return EXIT_UNSOUND
    say(f"{path} is sound")
    return 0


def _prune(path: Path, older_than: str | None) -> None:
    from evenhand.engines.journal_tools import prune  # noqa: PLC0415 - a second of import

    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([mhdwy])\s*", older_than or "")
    if found is None:
        raise InvalidInputError(
            f"--older-than is {older_than!r}; prune needs an age with its unit ({', '.join(SECONDS)}), such as 30d"
        )
    removed, left = prune(path, float(found[1]) * SECONDS[found[2]])
    say(f"{format_count(removed, 'reply')} removed, {format_count(left, 'reply')} left")


def _export(path: Path, out: Path | None) -> None:
    from evenhand.engines.journal_tools import export_lines  # noqa: PLC0415 - seconds of import

    out = check_out(out, [str(path)])
    if out is None:
        for line in export_lines(path):
            sys.stdout.write(line)
        return
    with written_whole(out) as temporary, temporary.open("w", encoding="utf-8") as lines:
        lines.writelines(export_lines(path))
    say(f"{path} exported to {out}")


def _import(path: Path, file: str | None) -> int:
    from evenhand.engines.journal_tools import import_lines  # noqa: PLC0415 - a second of import

    if file is None:
        raise InvalidInputError("journal import needs a FILE: what 'evenhand journal export' wrote")
    try:
        with io.TextIOWrapper(open_file(expanded(file)), encoding="utf-8", errors="replace") as lines:
            new, faults = import_lines(path, lines)
    except OSError as error:
        raise InvalidInputError(f"{str(file)!r} cannot be read ({error.strerror})") from error
    say(f"{format_count(new, 'new reply')} in {path}")
    if faults:
        complain(f"no reply could be read in {format_count(len(faults), 'line')}, the first of them {faults[0]}")
    return EXIT_UNSOUND if faults else 0


def _stats(path: Path) -> None:
    from evenhand.engines.journal_tools import stats  # noqa: PLC0415 - a second of import

    engines = stats(path)
    say(f"{path}: {format_count(sum(each.replies for each in engines), 'reply')}, {format_bytes(path.stat().st_size)}")
    for each in engines:
        model = each.identity.get("sampling", {}).get("model") or each.identity.get("name") or "an engine"
        place = each.identity.get("endpoint")
        say(
            f"  {model}{f' at {place}' if place else ''}: {format_count(each.replies, 'reply')}, "
            f"{'no known cost' if each.cost is None else format_cost(each.cost)}, "
            f"{format_count(each.tokens, 'token')}, {_day(each.first)} to {_day(each.last)}"
        )


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


def _forget(path: Path, named: str) -> None:
    """Give up a batch."""
    from evenhand.engines.batches import BatchRecords  # noqa: PLC0415 - a second of import
    from evenhand.engines.journal import Journal  # noqa: PLC0415 - as above

    if not path.is_file():
        raise InvalidInputError(f"there is no journal {str(path)!r}: name the one that the run had with --journal")
    with Journal(path) as opened:
        records = BatchRecords(opened)
        batches = records.all()
        found = [each for each in batches if each.name == named]
        if not found:
            there = ", ".join(each.name for each in batches) or "none"
            raise InvalidInputError(f"the journal {str(path)!r} has no batch {named!r}; it has {there}")
        for each in found:
            records.forget(each)
            say(f"{each.name} is given up; its {format_count(each.requests, 'request')} may be asked for again")

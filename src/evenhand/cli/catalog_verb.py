"""``evenhand catalog`` and ``evenhand unitxt``: the entries of the catalog, and unitxt's own command line with them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from evenhand.catalog import catalog_entries, catalog_path
from evenhand.cli.output import complain, say
from evenhand.errors import InvalidInputError, Terminated, did_you_mean
from evenhand.files import expanded

EXIT_UNSOUND = 1


def catalog(
    action: Literal["list", "show", "path", "check"],
    entry: Annotated[
        str | None,
        Parameter(name="ID", help="An id; for list, a part of one; for check, an id or a file."),
    ] = None,
    /,
) -> int:
    """List, show, locate and check the entries of the catalog."""
    entries = catalog_entries()
    if action == "path":
        say(str(catalog_path() if entry is None else _entry(entries, entry)))
    elif action == "list":
        say(
            *(
                f"{identifier:<58} {json.loads(path.read_text(encoding='utf-8')).get('__description__', '')}"
                for identifier, path in entries.items()
                if entry is None or entry in identifier
            )
        )
    elif action == "show":
        if entry is None:
            raise InvalidInputError("catalog show needs an id, such as criteria.evenhand.direct.relevance")
        say(_entry(entries, entry).read_text(encoding="utf-8").rstrip("\n"))
    else:
        return _check_entries(entries if entry is None else _entry_or_file(entries, entry))
    return 0


def _entry(entries: Mapping[str, Path], identifier: str) -> Path:
    if identifier not in entries:
        raise InvalidInputError(f"the catalog has no entry {identifier!r}. {did_you_mean(identifier, entries)}")
    return entries[identifier]


def _entry_or_file(entries: Mapping[str, Path], given: str) -> Mapping[str, Path]:
    """Return the one entry of an id, or the file of a future entry."""
    path = expanded(given)
    return {given: path if given not in entries and path.exists() else _entry(entries, given)}


def _check_entries(entries: Mapping[str, Path]) -> int:
    """Build every entry; name those that cannot be built."""
    from evenhand.metrics import register  # noqa: PLC0415 - seconds of import

    register()
    faults = {identifier: fault for identifier, path in entries.items() if (fault := _fault(path))}
    for identifier, fault in faults.items():
        complain(f"{identifier}: {fault}")
    say(f"{len(entries) - len(faults)} of {len(entries)} {'entry is' if len(entries) == 1 else 'entries are'} sound")
    return EXIT_UNSOUND if faults else 0


def _fault(path: Path) -> str | None:
    """Return the fault of an entry, or of a criterion, rubric or checklist that a user wrote; None for no fault."""
    from evenhand.data.plain import read_document  # noqa: PLC0415 - as above
    from evenhand.unitxt.loading import check_entry, load  # noqa: PLC0415 - seconds of import

    data = read_document(path, f"the file {str(path)!r}")
    try:
        if isinstance(data, dict) and any(field.startswith("__") for field in data):
            return check_entry(path)
        load(path)
    except InvalidInputError as error:
        return str(error)
    return None


def run_unitxt(*arguments: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """unitxt-evaluate with evenhand's catalog registered; takes its options."""
    code = (
        "import sys; from evenhand.cli.catalog_verb import register_or_exit; register_or_exit(); "
        "from unitxt.evaluate_cli import main; sys.argv[0] = 'evenhand unitxt'; sys.exit(main())"
    )
    with subprocess.Popen([sys.executable, "-c", code, *arguments]) as child:  # noqa: S603 - the user's own words
        return wait_for(child)


def wait_for(child: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process that handles an interrupt itself: the interrupt is passed on."""
    while True:
        try:
            code = child.wait()
        except KeyboardInterrupt:  # the terminal has told it too
            continue
        except Terminated as ended:
            child.send_signal(ended.signal)
        else:
            return code if code >= 0 else 128 - code


def register_or_exit() -> None:
    """Make evenhand known to unitxt; bad input is one message and exit code 2, as for every verb."""
    try:
        from evenhand.metrics import register  # noqa: PLC0415 - seconds of import

        register()
    except InvalidInputError as error:
        complain(error)
        sys.exit(2)

"""``evenhand unitxt``: unitxt's own command line, with evenhand's catalog and classes registered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from evenhand.errors import InvalidInputError


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb, which the help lists; its options are unitxt's."""
    verbs.add_parser("unitxt", help="unitxt-evaluate with evenhand's catalog registered; takes its options")


def run(arguments: Sequence[str]) -> int:
    """Unitxt's own command line in this environment, with the catalog and the classes registered."""
    code = (
        "import sys; from evenhand.cli.unitxt import register_or_exit; register_or_exit(); "
        "from unitxt.evaluate_cli import main; sys.argv[0] = 'evenhand unitxt'; sys.exit(main())"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode  # noqa: S603 - the user's own words


def register_or_exit() -> None:
    """Make evenhand known to unitxt; bad input is one message and exit code 2, as for every verb."""
    try:
        from evenhand.registration import register  # noqa: PLC0415 - seconds of import

        register()
    except InvalidInputError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        sys.exit(2)

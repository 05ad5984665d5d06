"""``evenhand unitxt``: unitxt's own command line, with evenhand's catalog and classes registered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def add_to(verbs: Any) -> None:  # noqa: ANN401 - argparse keeps the type private
    """Add the verb, which the help lists; its options are unitxt's."""
    verbs.add_parser("unitxt", help="unitxt-evaluate with evenhand's catalog registered; takes its options")


def run(arguments: Sequence[str]) -> int:
    """Unitxt's own command line in this environment, with the catalog and the classes registered."""
    code = (
        "import sys; from evenhand.registration import register; register(); "
        "from unitxt.evaluate_cli import main; sys.argv[0] = 'evenhand unitxt'; sys.exit(main())"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], check=False).returncode  # noqa: S603 - the user's own words

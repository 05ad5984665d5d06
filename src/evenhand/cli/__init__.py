"""The ``evenhand`` command: the verbs and option names of the Python functions, for the shell. A verb is a module."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from evenhand import __version__
from evenhand.cli import catalog, compare, demo, judge, unitxt
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError

__all__ = ["main"]

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (0 done, 1 the run failed, 2 bad input, 130 interrupted)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["unitxt"]:  # everything behind it belongs to unitxt's own parser
        return unitxt.run(given[1:])
    options = _parser().parse_args(given)
    try:
        return int(options.run(options))
    except (InvalidInputError, MissingDependencyError) as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except EvenhandError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("evenhand: interrupted; run the same again, and it goes on where it stopped", file=sys.stderr)
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evenhand",
        description="LLM judges for unitxt that say truthfully how far their judgement can be trusted.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb in (demo, judge, compare, catalog, unitxt):
        verb.add_to(verbs)
    return parser

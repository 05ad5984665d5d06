"""The ``evenhand`` command: the verbs and option names of the Python functions, for the shell. A verb is a module."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from evenhand import __version__
from evenhand.cli import aggregate, catalog, checklist, compare, demo, judge, judge_report
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError

__all__ = ["main"]

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (0 done, 1 the run failed, 2 bad input, 130 interrupted)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["unitxt"]:  # everything behind it belongs to unitxt's own parser
        return catalog.run_unitxt(given[1:])
    try:
        options = _parser().parse_args(given)
        code = int(options.run(options))
        sys.stdout.flush()
    except (InvalidInputError, MissingDependencyError) as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except EvenhandError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        return EXIT_FAILED
    except BrokenPipeError:  # whoever read the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        print("evenhand: interrupted; run the same again, and it goes on where it stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evenhand",
        description="LLM judges for unitxt that say truthfully how far their judgement can be trusted.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"evenhand {__version__}")
    verbs = parser.add_subparsers(title="verbs", required=True, metavar="VERB")
    for verb in (demo, judge, compare, checklist, judge_report, aggregate, catalog):
        verb.add_to(verbs)
    return parser

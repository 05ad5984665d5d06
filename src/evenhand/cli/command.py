"""Running the command: from arguments to an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cache

from cyclopts import App, CycloptsError

from evenhand import __version__
from evenhand.cli.catalog import catalog, run_unitxt
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError

LISTED = {
    "aggregate": "Reduce the recorded votes of every row to a verdict, and the verdicts to scores.",
    "agree": "How far judges agree with people, people with people, and judges with judges.",
    "checklist": "Answer the yes/no questions of a checklist about every response of a data set.",
    "compare": "Which of these systems is better, by how much, and how sure is that.",
    "demo": "Judge the data that ships with evenhand, offline unless an engine is given.",
    "judge": "Assess every response of a data set against one or more criteria, or against a rubric.",
    "run-mode": "Judge a data set in any way: by a mode of evenhand, of another package, or of your own.",
    "judge-report": "How far a judge can be trusted: what it does when the order changes, and when it is asked again.",
    "read": "Read recorded reply texts as votes, and reduce the votes on each instance to a verdict.",
}
"""What the help lists. A verb with its options, for which all options of a run are read, is made when it is run."""

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code (0 done, 1 the run failed, 2 bad input, 130 interrupted).

    Raises:
        SystemExit: With the code 2, if the arguments name no verb or option that exists, or lack one.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _app()(given or ["--help"])
        sys.stdout.flush()
    except CycloptsError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        raise SystemExit(EXIT_BAD_INPUT) from None
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
    return EXIT_BAD_INPUT if not given else code or 0


@cache
def _app() -> App:
    app = App(
        name="evenhand",
        help="LLM judges for unitxt that say truthfully how far their judgement can be trusted.",
        help_format="plaintext",
        version=f"evenhand {__version__}",
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, sentence in LISTED.items():
        app.command(f"evenhand.cli.verbs:{name}", name=name, help=sentence)
    app.command(catalog)
    unitxt = App(name="unitxt", help_flags=[], version_flags=[], end_of_options_delimiter="")
    unitxt.default(run_unitxt)
    app.command(unitxt)
    return app

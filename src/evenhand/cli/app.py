"""The command: its verbs, and the way from arguments to an exit code."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cyclopts import App, CycloptsError, Group, Parameter
from cyclopts.help import DefaultFormatter

from evenhand.cli import catalog_verb, journal_verb, label_verbs, output, result_verbs, verbs
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError, Terminated
from evenhand.interrupts import heeding_termination
from evenhand.run_files import JOBS, RunFile
from evenhand.version import __version__

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

VERBS: Final[Mapping[str, tuple[Callable[..., int] | App, ...]]] = {
    "Judge": (*map(verbs.verb_of, JOBS.values()), verbs.run, verbs.demo),
    "Inspect": (
        result_verbs.show,
        result_verbs.compare,
        result_verbs.rescore,
        result_verbs.export,
        result_verbs.report,
    ),
    "Labels": (label_verbs.plan, label_verbs.to_label, label_verbs.read_labels, label_verbs.correct),
    "Maintenance": (journal_verb.journal, catalog_verb.catalog, catalog_verb.unitxt),
}
"""Group of the help -> its verbs."""

FIRST: Final = tuple(
    f"--{name}"
    for name in (
        *("criteria", "checklist", "engine", "votes", "replies", "rule", "response-fields", "context-fields"),
        *("gold-fields", "id-field", "samples", "limit", "out", "report", "require", "dry-run", "annotator-test"),
    )
)
PARAMETER: Final = Parameter(
    consume_multiple=True, negative_none=(), negative_bool=(), negative_iterable=(), show_default=False
)
"""What holds for every parameter of a verb."""

MOST_SHOWN: Final = 15
"""A verb with more options shows those of FIRST alone, until ``--help-all``."""

WELCOME: Final = f"""\
evenhand {__version__}: LLM judges for unitxt, with honest error bars.

See what it does, offline and without a key:
    evenhand demo

Judge every response of a data set:
    evenhand judge answers.jsonl --response-fields answer --context-fields question \\
        --criteria criteria.evenhand.direct.relevance --engine openai/gpt-4.1-mini --out run.parquet

Say which of two systems is better, and how sure that is:
    evenhand winrates answers.jsonl --response-fields old new --context-fields question \\
        --criteria criteria.evenhand.pairwise.overall_quality --engine openai/gpt-4.1-mini

Find out how good the judge is: order, repetition, length, refusals:
    evenhand reliability answers.jsonl --response-fields old new --context-fields question --samples 3 \\
        --criteria criteria.evenhand.pairwise.overall_quality --engine openai/gpt-4.1-mini

Correct a judge's score by a few labels of people:
    evenhand correct run.parquet --gold labels.csv --design random

A server of yours is --engine http://localhost:8000/v1 --model NAME; --dry-run prints calls and cost first.
evenhand --help lists all verbs, evenhand VERB --help its options, evenhand catalog list what to judge by."""
"""The text that is shown without a verb: the five commonest jobs."""

EPILOGUE: Final = (
    "Every verb takes --quiet (results and errors only) and --verbose (what is done, line by line); the logger is "
    "called evenhand, and logs neither texts of rows nor keys. --help shows the options that most runs need, "
    "--help-all every option.\n\n"
    "Exit codes: 0 done; 1 the run failed, or what was checked is not sound; 2 bad input, found before the first call "
    "wherever possible; 3 a check failed: too many unscored votes, or a --require condition does not hold, and the "
    "result is written all the same; 130 interrupted; 143 or 129 ended by SIGTERM or SIGHUP; 141 the reader of the "
    "output is gone."
)
EXIT_FAILED: Final = 1
EXIT_BAD_INPUT: Final = 2
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141


class ShortHelp(DefaultFormatter):
    """Shows the options that most runs need."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print a panel of the help."""
        entries = panel.entries
        if len(entries) > MOST_SHOWN and panel.format == "parameter":
            named = {name: each for each in entries for name in each.names}
            entries = [named[name] for name in FIRST if name in named]
            console.print(f"{len(entries)} of {len(panel.entries)} options; --help-all shows all.")
        super().__call__(console, options, panel.copy(entries=entries))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        Its exit code: 0 done, 1 the run failed, 2 bad input, 3 a check failed, 130 interrupted, 143 or 129 ended by
        SIGTERM or SIGHUP. If the reader of the output is gone: 0 where the result was saved, 141 elsewhere.
    """
    given = ["/dev/stdin" if each == "-" else each for each in (sys.argv[1:] if arguments is None else arguments)]
    output.prepare()
    try:
        with heeding_termination():
            code = _carry_out(given)
    except CycloptsError as error:
        output.complain(error)
        code = EXIT_BAD_INPUT
    except EvenhandError as error:
        output.complain(error)
        code = EXIT_BAD_INPUT if isinstance(error, (InvalidInputError, MissingDependencyError)) else EXIT_FAILED
    except output.OutputError as error:
        code = _unwritten(*error.args)
    except OSError as error:
        if error.filename is None:  # the help, which cyclopts prints
            output.abandon(sys.stdout)
            code = _unwritten(error)
        else:
            output.complain(f"{error.filename!r} cannot be read or written ({error.strerror})")
            code = EXIT_FAILED
    except (KeyboardInterrupt, Terminated) as interrupt:
        if not getattr(interrupt, "__notes__", ()):  # else the run has said what is left, and how to go on
            output.complain("interrupted; run the same again, and it goes on where it stopped")
        code = 128 + interrupt.signal if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED
    finally:
        output.end_complaints()
    return code


def _carry_out(given: Sequence[str]) -> int:
    """Run the verb that is named, with the amount of messages that is asked for."""
    if given[:1] == ["unitxt"]:  # whose options are its own
        return command_line()(given) or 0
    words = [each for each in given if each not in {"--quiet", "--verbose", "--help-all"}]
    if not words and "--help-all" not in given:
        output.say(WELCOME)
        return EXIT_BAD_INPUT
    words += ["--help"] if "--help-all" in given else []
    if words[:1] == ["run"] and len(words) > 1 and not words[1].startswith("-"):
        words = [RunFile.read(words[1]).job.verb(), "--config", *words[1:]]
    level = logging.ERROR if "--quiet" in given else logging.INFO if "--verbose" in given else logging.WARNING
    with output.logged(level):
        done = command_line(everything="--help-all" in given)(words)
        output.say()  # what cyclopts printed is sent on its way too
    return done or 0


def _unwritten(error: OSError, saved: Path | None = None) -> int:
    """Say what was not written and where it is; nothing if the reader of a pipe is gone."""
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE if saved is None else 0
    again = "mend that and run the same again: what is in the journal is not asked for again"
    kept = again if saved is None else f"the result is in {str(saved)!r}"
    output.complain(f"the output could not be written ({error.strerror or error}); {kept}")
    return EXIT_FAILED


def command_line(*, everything: bool = True) -> App:
    """Return the verbs.

    Args:
        everything: The help shows every option.
    """
    app = App(
        name="evenhand",
        help="LLM judges for unitxt, with honest error bars.",
        help_epilogue=EPILOGUE,
        help_format="plaintext",
        help_formatter=DefaultFormatter() if everything else ShortHelp(),
        version=f"evenhand {__version__}",
        default_parameter=PARAMETER,
        print_error=False,
        exit_on_error=False,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for place, (title, named) in enumerate(VERBS.items()):
        group = Group(title, sort_key=place)
        for verb in named:
            more: dict[str, Any] = {} if isinstance(verb, App) else {"group": group}  # an App has its own
            app.command(verb, **more)
    app.register_install_completion_command(help="Install completion for your shell, and say where.")
    return app

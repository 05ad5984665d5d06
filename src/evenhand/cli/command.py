"""Running the command: from arguments to an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter

from evenhand.cli import output
from evenhand.cli.catalog_verb import catalog, run_unitxt
from evenhand.cli.journal_verbs import journal
from evenhand.cli.label_verbs import correct, read_labels, stand_in, to_label
from evenhand.cli.plot_verb import plot
from evenhand.cli.report_verb import report
from evenhand.cli.result_verbs import compare, export, filter_results, rescore, show
from evenhand.cli.resume_verb import resume
from evenhand.errors import EvenhandError, InvalidInputError, MissingDependencyError, Terminated
from evenhand.judging.loop import heeding_termination
from evenhand.version import __version__

LISTED = {
    "aggregate-votes": "Reduce recorded votes to verdicts, and the verdicts to scores.",
    "agreement": "Measure how far judges agree with people, people with people, and judges with judges.",
    "checklist": "Answer the yes/no questions of a checklist about every response of a data set.",
    "winrates": "Which of these systems is better, by how much, and how sure is that.",
    "demo": "Judge the data that ships with evenhand, offline unless an engine is given.",
    "judge": "Assess every response of a data set against one or more criteria, or against a rubric.",
    "run-mode": "Judge a data set in any way: by a mode of evenhand, of another package, or of your own.",
    "reliability": "How far a judge can be trusted: what it does when the order changes, and when it is asked again.",
    "read-replies": "Read recorded reply texts as votes, and reduce the votes on each instance to a verdict.",
}
"""What the help lists. A verb with its options, for which all options of a run are read, is made when it is run."""

Shell = Literal["bash", "zsh", "fish", "powershell"]
PLAN = "How many rows and labels a question takes, or what a given number of rows can show."

WELCOME = f"""\
evenhand {__version__}: LLM judges that say truthfully how far their judgement can be trusted.

See what it does, offline and without a key:
    evenhand demo

Judge every response of a data set:
    evenhand judge answers.jsonl --response-fields answer --context-fields question \\
        --criteria criteria.evenhand.direct.relevance --engine openai/gpt-4.1-mini --out run.parquet

Say which of two systems is better, and how sure that is:
    evenhand winrates answers.jsonl --response-fields old,new --context-fields question \\
        --criteria criteria.evenhand.pairwise.overall_quality --engine openai/gpt-4.1-mini

Find out how good the judge is: order, repetition, length, refusals:
    evenhand reliability answers.jsonl --response-fields old,new --context-fields question --samples 3 \\
        --criteria criteria.evenhand.pairwise.overall_quality --engine openai/gpt-4.1-mini

Correct a judge's score by a few labels of people:
    evenhand correct run.parquet --gold labels.csv --design random

A server of yours is --engine http://localhost:8000/v1 --model NAME; --dry-run prints calls and cost first.
evenhand --help lists all verbs, evenhand VERB --help its options, evenhand catalog list what to judge by."""
"""What is shown where no verb is given: the five commonest jobs."""

EPILOGUE = (
    "Every verb takes --quiet (results and errors only), --verbose (what is done, line by line) and --log-level debug, "
    "info, warning or error; the logger is called evenhand, and no text of a row and no key is logged.\n\n"
    "Exit codes: 0 done; 1 the run failed, or what was checked is not sound; 2 bad input, found before the first call "
    "wherever it can be; 3 a check failed: too many unscored votes, or a --require condition does not "
    "hold, and the result is written all the same; 130 interrupted; 143 or 129 ended by SIGTERM or "
    "SIGHUP; 141 nobody reads the output."
)
"""What the help ends with: the one place, beside the reference, where exit codes are told."""

CONFIGURED = "_with_a_run_file"
"""Behind the name of a verb that need not be given all in the shell."""

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        Its exit code: 0 done, 1 the run failed, 2 bad input, 3 a check failed, 130 interrupted, 143 or 129 ended by
        SIGTERM or SIGHUP.
        When whoever reads the output, such as head, has seen enough: 0 where the result was saved, 141 elsewhere.

    Raises:
        SystemExit: With the code 2, if the arguments name no verb or option that exists, or lack one.
    """
    given = ["/dev/stdin" if each == "-" else each for each in (sys.argv[1:] if arguments is None else arguments)]
    for place, (each, behind) in enumerate(pairwise([*given, "--"])):
        if each == "--ray" and behind.startswith("--"):  # its address may be left out
            given[place] = "--ray=here"
    output.prepare()
    try:
        with heeding_termination():
            code = _carry_out(given)
    except CycloptsError as error:
        output.complain(error)
        raise SystemExit(EXIT_BAD_INPUT) from None
    except EvenhandError as error:
        output.complain(error)
        code = EXIT_BAD_INPUT if isinstance(error, (InvalidInputError, MissingDependencyError)) else EXIT_FAILED
    except output.OutputError as error:
        code = _unwritten(error.cause, error.saved)
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
    """Run the verb that is named, and say as much as is asked for."""
    if given[:1] == ["unitxt"]:  # whose options are its own
        return command_line()(given) or 0
    with output.heard(given) as said:
        configured = any(each.partition("=")[0] == "--config" for each in said)
        done = command_line(configured=configured)(said) if said else None
        output.say(*() if said else (WELCOME,))  # what cyclopts printed is sent on its way too
    return done or 0 if said else EXIT_BAD_INPUT


def _unwritten(error: OSError, saved: Path | None = None) -> int:
    """Say what was not written and where it is; nothing where the reader of a pipe has seen enough."""
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE if saved is None else 0
    again = "mend that and run the same again: what is in the journal is not asked for again"
    kept = again if saved is None else f"the result is in {str(saved)!r}"
    output.complain(f"the output could not be written ({error.strerror or error}); {kept}")
    return EXIT_FAILED


@cache
def command_line(*, configured: bool = False) -> App:
    """The verbs; where a run file is given, it may say what the shell else must."""
    app = App(
        name="evenhand",
        help="LLM judges for unitxt that say truthfully how far their judgement can be trusted.",
        help_format="plaintext",
        help_epilogue=EPILOGUE,
        version=f"evenhand {__version__}",
        print_error=False,
        exit_on_error=False,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, sentence in LISTED.items():
        place = f"evenhand.cli.verbs:{name}{CONFIGURED if configured and name != 'demo' else ''}"
        app.command(place, name=name, help=sentence)
    app.command(run_file_verb, name="run")
    app.command(resume)
    app.command(catalog)
    app.command(show)
    app.command(rescore)
    app.command(filter_results, name="filter")
    app.command(export)
    app.command(compare)
    app.command(journal)
    app.command(correct)
    app.command(plot)
    app.command(report)
    app.command(read_labels)
    app.command(stand_in)
    app.command(to_label)
    app.command("evenhand.cli.label_verbs:plan", name="plan", help=PLAN)
    unitxt = App(name="unitxt", help_flags=[], version_flags=[], end_of_options_delimiter="")
    unitxt.default(run_unitxt)
    app.command(unitxt)
    app.command(completion)
    app.register_install_completion_command(help="Install completion for your shell, and say where.")
    return app


def completion(shell: Shell, /) -> int:
    """Print the script that completes verbs, options and files in a shell: source it, or see --install-completion."""
    print(command_line().generate_completion(shell=shell))
    return 0


def run_file_verb(
    file: Annotated[
        str | None,
        Parameter(
            name="FILE",
            help="A run file (.yaml, .json, .toml; - for a pipe), or a saved result, which holds the run that made it.",
        ),
    ] = None,
    /,
    *options: Annotated[
        str,
        Parameter(
            name="OPTIONS",
            help="Options of the verb that the file names; they count instead of what it says. evenhand VERB --help.",
            allow_leading_hyphen=True,
        ),
    ],
    template: Annotated[
        str | None,
        Parameter(help="Print a run file to start from, which runs as it is: NAME, or list for their names."),
    ] = None,
    schema: Annotated[
        bool,
        Parameter(
            help="Print the JSON schema of run files, by which editors complete and check them.",
            negative=(),
            show_default=False,
        ),
    ] = False,
) -> int:
    """Run what a file says: data, judges, criteria, options, labels, outputs and what must hold.

    An option of the shell counts before the environment (EVENHAND_RUN_MAX_CALLS=20), and that before the file. Paths in
    the file are relative to it.
    """
    from evenhand.cli.run_file import RunFile, verb_named  # noqa: PLC0415 - only who runs a file needs it
    from evenhand.cli.run_templates import run_schema, run_template  # noqa: PLC0415 - as above

    if schema:
        output.say(run_schema())
    elif template is not None:
        output.say(run_template(template))
    elif file is None:
        raise InvalidInputError("run needs FILE, a run file; evenhand run --template direct > run.yaml writes one")
    else:
        verb = verb_named(RunFile.read(file))
        code: int | None = command_line(configured=True)([verb.name, "--config", file, *options])
        return code or 0
    return 0

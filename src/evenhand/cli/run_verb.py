"""``evenhand run``: a run as a file says it; the same for Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from evenhand.cli.ending import Ending
from evenhand.cli.output import say
from evenhand.cli.run_file import RunFile, settled, verb_named
from evenhand.cli.run_templates import run_schema, run_template
from evenhand.errors import InvalidInputError


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
    from evenhand.cli.command import command_line  # noqa: PLC0415 - which imports this module

    if schema:
        say(run_schema())
    elif template is not None:
        say(run_template(template))
    elif file is None:
        raise InvalidInputError("run needs FILE, a run file; evenhand run --template direct > run.yaml writes one")
    else:
        verb = verb_named(RunFile.read(file))
        code: int | None = command_line(configured=True)([verb.name, "--config", file, *options])
        return code or 0
    return 0


def run(path: str | Path, **given: Any) -> Any:  # noqa: ANN401 - of any verb
    """Run what a run file says, as ``evenhand run`` does.

    Args:
        path: A run file (.yaml, .json, .toml), or a saved result, which holds the run that made it.
        **given: What counts instead of what the file says, by the names of the function that its job stands for:
            ``limit=20``, ``engine=…``, ``data=rows``.

    Returns:
        The result, which is written where the file says; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: The file or what is given cannot be used; found before the first call wherever it can be.
        GateFailedError: Something that the file demands does not hold; the result is written, and the error has it.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.

    Example::

        table = evenhand.run("run.yaml", limit=20)
    """
    file = RunFile.read(path)
    verb = verb_named(file)
    said = settled(verb, file, given)
    verb.check_given(said)
    ending = Ending.of(verb, said)
    result = verb.result(said, ending)
    if said.get("dry_run"):
        return result
    _, corrected = ending.written(result)
    ending.demand(result, corrected)
    return result

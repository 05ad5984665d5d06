"""A run as a file says it, for Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any


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
        CheckFailedError: A condition of the file does not hold; the result is written, and the error has it.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.

    Example::

        table = evenhand.run("run.yaml", limit=20)
    """
    from evenhand.cli.ending import Ending  # noqa: PLC0415 - seconds of import
    from evenhand.cli.run_file import RunFile, settled, verb_named  # noqa: PLC0415 - as above
    from evenhand.cli.verbs import result_of  # noqa: PLC0415 - as above

    file = RunFile.read(path)
    verb = verb_named(file)
    said = settled(verb, file, given)
    verb.check_given(said)
    ending = Ending.of(verb, said)
    result = result_of(verb, said, ending)
    if said.get("dry_run"):
        return result
    _, corrected = ending.written(result)
    ending.demand(result, corrected)
    return result

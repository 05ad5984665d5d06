"""Judge rows: by criteria or a rubric, by a checklist, in comparison, for a Grade Score, or in any way.

The keywords of each function are one model of :mod:`evenhand.options`: they are checked when a function is called, and
the object is handed on. ``functions.pyi`` writes them out for editors and type checkers; ``python -m
tests.support.stubs`` generates it.
"""

from __future__ import annotations

from typing import Any

from evenhand.judging.estimate import RunEstimate
from evenhand.options import (
    ChecklistArguments,
    GradeScoresArguments,
    JudgeArguments,
    RunModeArguments,
    WinratesArguments,
    takes,
)
from evenhand.results.results import Results
from evenhand.row_runs import call


@takes(JudgeArguments)
def judge(data: object, criteria: object, engine: object, **options: Any) -> Results | RunEstimate:
    """Assess every response of a data set against one or more criteria, or against a rubric.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        criteria: A criterion, or several, or one rubric: catalog ids, paths, dicts, artifacts or frozen values. A
            rubric also has a score of each response (``rubric_scores`` of the table). None with ``rubric_field``.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.JudgeArguments`. Odd numbers of ``samples`` cannot tie,
            and a spread of 0 from fewer than 5 proves little where a threshold decides.

    Returns:
        The table of judgements, or with ``rubric_field`` the score of each response and their mean; with ``dry_run``
        the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("judge", data, {"criteria": criteria, "engine": engine, **options})


@takes(ChecklistArguments)
def checklist(
    data: object = None, checklist: object = None, engine: object = None, **options: Any
) -> Results | RunEstimate:
    """Answer the yes/no questions of a checklist about every response of a data set.

    With ``votes`` nothing is asked: recorded answers make the same table. A row is the answer of one judge to one
    item of the response that its id (and system) names; or it is a response, and its cells hold the answers to all.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        checklist: A catalog id, the path of a YAML or JSON file, a list of questions, a dict, an artifact or a frozen
            :class:`~evenhand.criteria.Checklist`; None with ``checklist_field``.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.ChecklistArguments`.

    Returns:
        The table of checked responses; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("checklist", data, {"checklist": checklist, "engine": engine, **options})


@takes(WinratesArguments)
def winrates(
    data: object = None,
    criteria: object = None,
    engine: object = None,
    **options: Any,
) -> Results | RunEstimate:
    """Compare systems: which is better, by how much, and how sure that is.

    Wide data have one column per system: ``response_fields=["gpt", "llama"]``. Long data have one row per response, and
    columns for the system, the response and the prompt: ``systems_field="model", response_fields="output",
    id_field="prompt_id"``. A response that is None, or that long data lack, is missing: its
    contests are unscored, and counted.

    With ``votes`` nothing is asked: recorded preferences make the same table. A vote is the name of a system or
    ``tie``; ``first`` or ``second``, the system that this column of the row names; ``A`` or ``B``, the place at which
    it was shown; or an option of the criterion. Both orders and all judges of a prompt are brought together by its id.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        criteria: The criterion: a catalog id, path, dict, artifact or frozen criterion.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.WinratesArguments`.

    Returns:
        The table of winrates; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("winrates", data, {"criteria": criteria, "engine": engine, **options})


@takes(GradeScoresArguments)
def grade_scores(
    data: object = None,
    criteria: object = None,
    engine: object = None,
    **options: Any,
) -> Results | RunEstimate:
    """Measure how well judges choose the best of several candidates: the Grade Score, by judge and prompt.

    Every instance is asked once in each of the rotations of its candidates. A candidate that is None is left out; an
    instance with fewer than two left is unscored (``missing_response``) and counted.

    With ``votes`` nothing is asked: recorded choices make the same table. A row is the choice of a judge among
    candidates in one order; a vote is the name of a candidate, or the place (``A`` the first) at which it was shown.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        criteria: The criterion: a catalog id, path, dict, artifact or frozen criterion; options play no part.
        engine: The judge, or several with scores of their own: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.GradeScoresArguments`. Orders, rules and flow are those
            of a Grade Score. With ``samples`` each draw is a set of rotations of its own. ``max_calls`` and
            ``max_cost`` are for all prompts together.

    Returns:
        The table of scores; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("grade_scores", data, {"criteria": criteria, "engine": engine, **options})


@takes(RunModeArguments)
def run_mode(data: object, mode: object, engine: object, **options: Any) -> Results | RunEstimate:
    """Judge a data set in any way: by a mode of evenhand, of another package, or of your own.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        mode: A class derived from :class:`evenhand.Mode`, or the ``kind`` of one.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.RunModeArguments`.

    Returns:
        The results; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields, a mode or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("run_mode", data, {"mode": mode, "engine": engine, **options})

"""The functions over rows and over recorded votes.

The arguments of each function are one model of :mod:`evenhand.options`: they are checked when a function is called, and
the object is handed on. ``functions.pyi`` writes them out for editors and type checkers; ``python -m
tests.support.stubs`` generates it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.by_name import FUNCTIONS, call
from evenhand.judging.estimate import RunEstimate
from evenhand.options import takes
from evenhand.reliability_report import ReliabilityReport
from evenhand.results.results import Results


@takes(FUNCTIONS["judge"].arguments)
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


@takes(FUNCTIONS["checklist"].arguments)
def checklist(
    data: object = None, checklist: object = None, engine: object = None, **options: Any
) -> Results | RunEstimate:
    """Answer the yes/no questions of a checklist about every response of a data set.

    With ``votes`` nothing is asked: recorded answers make the same table. A row is the answer of one judge to one
    item of the response that its id (and system) names.

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


@takes(FUNCTIONS["winrates"].arguments)
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


@takes(FUNCTIONS["grade_scores"].arguments)
def grade_scores(
    data: object = None, criteria: object = None, engine: object = None, **options: Any
) -> Results | RunEstimate:
    """Measure how well judges choose the best of several candidates: the Grade Score, by judge and prompt.

    Every instance is asked once in each of the rotations of its candidates. A candidate that is None is left out; an
    instance with fewer than two left is unscored (``missing_response``) and counted.

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


@takes(FUNCTIONS["run_mode"].arguments)
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


@takes(FUNCTIONS["aggregate_votes"].arguments)
def aggregate_votes(
    data: object,
    votes: str | Sequence[str],
    criteria: object = None,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    **options: Any,
) -> Results:
    """Reduce recorded votes to verdicts, and the verdicts to scores.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        votes: The columns with the votes, one per judge; or one column whose cells are lists or mappings. A vote is
            a label, the value of an option, True or False, or None if there is none (how they are read:
            :mod:`evenhand.data.fields`).
        criteria: The criterion of the votes: a catalog id, path, dict, artifact or frozen criterion; without it the
            votes are yes or no (True or False, 1 or 0).
        rule: The panel rule; None for the scale's default.
        weights: One weight per judge, in the order of the columns, or judge -> weight; for the weighted rules.
        **options: How the votes are read; see :class:`~evenhand.options.AggregateVotesArguments`.

    Raises:
        InvalidInputError: No such column, a vote that is not an option, or weights that do not fit.
        UnknownRuleError: If the rule does not exist or does not fit the criterion.
    """
    return call(
        "aggregate_votes", data, {"votes": votes, "criteria": criteria, "rule": rule, "weights": weights, **options}
    )


@takes(FUNCTIONS["agreement"].arguments)
def agreement(data: object, votes: str | Sequence[str], criteria: object = None, **options: Any) -> Results:
    """Measure how far judges agree with people, people with people, and judges with judges.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        votes: The columns with the judges' votes, one per judge; or one column whose cells are lists or mappings. A
            vote is a label, the value of an option, True or False, or None if there is none (how they are read:
            :mod:`evenhand.data.fields`).
        criteria: Whose options were chosen: a catalog id, path, dict, artifact or frozen criterion. An ordinal one
            gives weighted kappas and adjacent accuracies too; without it the options are the labels that occur.
        **options: How the votes are read; see :class:`~evenhand.options.AgreementArguments`.

    Raises:
        InvalidInputError: No such column, fewer than two raters, or a vote that is not an option.
    """
    return call("agreement", data, {"votes": votes, "criteria": criteria, **options})


@takes(FUNCTIONS["read_replies"].arguments)
def read_replies(
    data: object,
    replies: str | Sequence[str],
    criteria: object = None,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    **options: Any,
) -> Results:
    """Read recorded reply texts as votes, and reduce the votes on each instance to a verdict.

    No call is made. A text is read as the reply of a judge is read in a run, by the four forms of
    :func:`~evenhand.parsing.match_closest_option`; any other text is unscored with the reason, never a guess. Replies
    that another tool asked for in its own form are read by ``pattern``. Each vote keeps its text and how it was read.

    Args:
        data: A data set, a data frame, rows, or the path of a file; :func:`~evenhand.read_log` makes rows of the
            logs of other tools.
        replies: The column with the replies; several columns are several judges. Cells may be lists (repeated draws of
            the judge). A nested column is named ``a/b`` or ``a.b``.
        criteria: Whose options were offered: a catalog id, path, plain sentence, dict, artifact or frozen criterion;
            without it the options are Yes and No.
        rule: The rule by which several judges' votes become one; None for the scale's default.
        weights: One weight per judge, in the order of the columns, or judge -> weight; for the weighted rules.
        **options: How the votes are read; see :class:`~evenhand.options.ReadRepliesArguments`.

    Raises:
        InvalidInputError: No such column, a pattern that is not a regular expression with one group, weights that do
            not fit, or rows of one instance that contradict each other.
        UnknownRuleError: If the rule does not exist or does not fit the criterion.
    """
    return call(
        "read_replies", data, {"replies": replies, "criteria": criteria, "rule": rule, "weights": weights, **options}
    )


@takes(FUNCTIONS["reliability"].arguments)
def reliability(
    data: object = None, criteria: object = None, engine: object = None, **options: Any
) -> ReliabilityReport | RunEstimate:
    """Return how far a judge can be trusted: what it does when the order changes, and when it is asked again.

    Criteria with options assess each of the responses in ``response_fields``; pairwise criteria compare them. The
    votes are those of :func:`judge` and :func:`winrates` with the same options, so that a report on what was judged
    before, and a second report, take their replies from the journal.

    Several engines are several judges, each reported by itself, and how far they agree.

    With ``votes`` nothing is asked: recorded votes get the same report. They are comparisons where the criterion is
    pairwise, or rows name two systems, and are read as :func:`winrates` reads them; else assessments, with one vote per
    row.

    Args:
        data: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        criteria: One or more, with options or pairwise: catalog ids, paths, dicts, artifacts or frozen criteria.
        engine: The judge, or several: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        **options: How to judge; see :class:`~evenhand.options.ReliabilityArguments`. ``samples=3`` or more measures
            whether repeated draws agree.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    return call("reliability", data, {"criteria": criteria, "engine": engine, **options})

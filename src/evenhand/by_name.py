"""Lookup by name: the functions that verbs and run files run, and the class of a saved result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evenhand import read_votes, row_runs
from evenhand.data.rows import named_rows
from evenhand.errors import InvalidInputError
from evenhand.modes.any_mode import ANALYSES, find_mode
from evenhand.options import (
    AggregateVotesArguments,
    AgreementArguments,
    ChecklistArguments,
    GradeScoresArguments,
    JudgeArguments,
    Options,
    ReadRepliesArguments,
    ReliabilityArguments,
    RunArguments,
    RunModeArguments,
    WinratesArguments,
)
from evenhand.reliability_report import report_reliability
from evenhand.results.made_by import run_record
from evenhand.results.vote_columns import RESULT_KINDS, Cell
from evenhand.streams import FunctionCall, judge_stream
from evenhand.votes import Vote

if TYPE_CHECKING:
    from evenhand.result_methods import ResultMethods as Results
else:
    from evenhand.results.results import Results


class Function(NamedTuple):
    """A function of data.

    Attributes:
        run: The function of the data and its other arguments, which are checked.
        arguments: The model of its other arguments.
    """

    run: Callable[..., Any]
    arguments: type[Options]


FUNCTIONS: Final[dict[str, Function]] = {
    "aggregate_votes": Function(read_votes.aggregate_recorded_votes, AggregateVotesArguments),
    "agreement": Function(read_votes.measure_agreement, AgreementArguments),
    "checklist": Function(row_runs.answer_checklists, ChecklistArguments),
    "grade_scores": Function(row_runs.measure_grade_scores, GradeScoresArguments),
    "judge": Function(row_runs.assess, JudgeArguments),
    "read_replies": Function(read_votes.read_recorded_replies, ReadRepliesArguments),
    "reliability": Function(report_reliability, ReliabilityArguments),
    "run_mode": Function(row_runs.judge_by_mode, RunModeArguments),
    "winrates": Function(row_runs.compare_systems, WinratesArguments),
}
"""The functions of data by their public names."""


def call(name: str, data: object, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - of the function
    """Call a function of data; its result keeps the call.

    Args:
        name: The name of the function.
        data: The rows.
        given: Its other arguments by their names.

    Raises:
        InvalidInputError: An option that does not exist, or a value that is not accepted.
    """
    job, record = call_of(name, data, given)
    return run_job(job, data, record)


def call_of(name: str, data: object, given: Mapping[str, Any]) -> tuple[FunctionCall, dict[str, Any] | None]:
    """Return the call of a function, checked, and as its result keeps it; None if no verb can run it again.

    Raises:
        InvalidInputError: An option that does not exist, or a value that is not accepted.
    """
    run, arguments = FUNCTIONS[name]
    fields, job = arguments.model_fields, FunctionCall(run, arguments(**given))
    kept = {option: value for option, value in given.items() if value is not None or fields[option].default is not None}
    verb = name.replace("_", "-")
    if name == "run_mode":
        verb, kept["mode"] = "judge", find_mode(given["mode"]).kind
    kept = {**({} if data is None else {"data": data}), **kept}
    return job, None if name == "grade_scores" else run_record(verb, kept)


def run_job(job: FunctionCall, data: object, record: Mapping[str, Any] | None, *, limit: int | None = None) -> Any:  # noqa: ANN401 - as above
    """Run a call on all rows together, or with ``stream_to`` part by part; the result keeps the record of the run.

    Args:
        job: The call.
        data: The rows.
        record: The run, as results keep it.
        limit: With ``stream_to``, take this many rows at most.
    """
    if isinstance(job.options, RunArguments) and job.options.stream_to is not None:
        split = job.options.split
        count = len(data) if isinstance(data, Sized) and not isinstance(data, str | Mapping) else None
        return judge_stream(job, named_rows(data, split), count=count, limit=limit, record=record)
    result = job.function(data, job.options)
    return replace(result, run_file=record) if isinstance(result, Results) else result


_RUN, _VOTES = "_run", "_votes"


def open(path: str | Path) -> Results:  # noqa: A001 - the public name is evenhand.open
    """Open a saved result of any kind: what ``save`` wrote.

    A folder of parts, as ``stream_to`` writes them, is a result too: it stays on disk, and what its scores need is read
    when they are asked for.

    Raises:
        InvalidInputError: If the file cannot be read, or holds no result.
    """
    return Results.load(path, ANALYSES)


def from_results(results: Iterable[Mapping[str, Any]], name: str | None = None) -> Results:
    """Return the results of a recipe's judge metric as the Python functions give them: rescored, filtered, saved.

    A response is called ``response`` where a recipe has no names of systems; there are no gold labels.

    Args:
        results: What ``unitxt.evaluate`` returned, or some of its rows; of a benchmark, those of one subset.
        name: The name of the metric's main score, with its prefix, where there are several metrics.

    Returns:
        The results, of the kind that the function of the same mode gives.

    Raises:
        InvalidInputError: If the results hold no votes of evenhand, or those of several metrics and ``name`` is none of
            them, or the instances were judged by criteria of their own, or they are of several subsets.

    Example::

        results = unitxt.evaluate(predictions=predictions, data=data)
        print(evenhand.from_results(results).rescore(on_position_bias="first"))
    """
    given: object = results
    rows = list(results) if isinstance(given, Iterable) else []
    runs = _runs(rows) if all("score" in row for row in rows) else {}
    if not runs:
        raise InvalidInputError(
            "the results hold no votes of evenhand: give what unitxt's evaluate returned for a recipe with a judge "
            "metric of evenhand, such as metrics.evenhand.direct"
        )
    if name not in runs and (name is not None or len(runs) > 1):
        raise InvalidInputError(
            f"name is {name!r}, and the results are those of {len(runs)} metric(s); give the name of one: "
            f"{', '.join(repr(each) for each in runs)}"
        )
    named = next(iter(runs)) if name is None else name
    votes = [row["score"]["instance"][named + _VOTES] for row in rows]
    lines = [{**line, "instance": instance} for instance, own in enumerate(votes) for line in own]
    run = _of_one_criterion(runs[named], lines, named)
    cells = [
        Cell({key: line[key] for key in line if key != "votes"}, tuple(map(Vote.model_validate, line["votes"])))
        for line in lines
    ]
    return results_of_run({**run, "parameters": {**run["parameters"], "n": len(rows)}}, cells)


def results_of_run(run: Mapping[str, Any], cells: Iterable[Cell]) -> Results:
    """Return the result of a metric's run and its votes.

    Args:
        run: The criteria, judges and parameters; ``evenhand`` names the kind of the result.
        cells: The votes.
    """
    return Results.of_cells(ANALYSES[run["evenhand"]], run, cells)


def _runs(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Name of a main score -> what its metric says of the run; of a benchmark, in the subset that the rows are of."""
    if not rows:
        return {}
    first, *others = dict.fromkeys(tuple(row.get("subset") or ()) for row in rows)
    if others:
        raise InvalidInputError(
            f"the results are those of {1 + len(others)} subsets of a benchmark, and a result is about one: give the "
            f"rows of one, as in [row for row in results if row['subset'] == {list(first)!r}]"
        )
    scores = rows[0]["score"]["subsets" if first else "global"]
    for subset in first:
        scores = scores[subset]
    return {
        key.removesuffix(_RUN): run
        for key, run in scores.items()
        if key.endswith(_RUN) and isinstance(run, Mapping) and run.get("evenhand") in RESULT_KINDS
    }


def _of_one_criterion(run: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], named: str) -> Mapping[str, Any]:
    """Return the run of a metric as one with a single criterion, if all that is left was judged by the same.

    Raises:
        InvalidInputError: If instances were judged by criteria of their own.
    """
    if "rubric" in run and run["rubric"] is None:
        left = {line["criterion"] for line in lines}
        criteria = [each for each in run["criteria"] if each["name"] in left]
        if len(criteria) == 1:
            return {**run, "criteria": criteria}
        how = "give the rows of one criterion alone"
    elif run.get("criterion", run) is None:
        how = "evaluate the instances of one criterion alone"
    else:
        return run
    raise InvalidInputError(
        f"the instances of {named!r} were judged by criteria of their own, and a result is about the same ones for "
        f"all rows: {how}"
    )

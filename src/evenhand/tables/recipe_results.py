"""The results of a recipe as the results of a function: the votes that its scores were made of, without a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from evenhand.data.rows import KINDS
from evenhand.errors import InvalidInputError
from evenhand.results.results import Results
from evenhand.results.saved import cell_of

_RUN, _VOTES = "_run", "_votes"


def from_results(results: Iterable[Mapping[str, Any]], name: str | None = None) -> Results[Any]:
    """What the judge metric of a recipe found, as the Python functions give it: rescored, filtered, printed, saved.

    A response is called ``response`` where a recipe has no names of systems; there are no gold labels.

    Args:
        results: What ``unitxt.evaluate`` returned.
        name: Of the metric's main score, with its prefix, where there are several metrics.

    Returns:
        The results, of the kind that the function of the same mode gives.

    Raises:
        InvalidInputError: If the results hold no votes of evenhand, or those of several metrics and ``name`` is none of
            them, or the instances were judged by criteria of their own.

    >>> results = evaluate(predictions, data)  # doctest: +SKIP
    >>> evenhand.from_results(results).rescore(on_position_bias="first")  # doctest: +SKIP
    """
    rows = list(results)
    scores = rows[0]["score"]["global"] if rows else {}
    runs = {key.removesuffix(_RUN): run for key, run in scores.items() if key.endswith(_RUN) and _is_run(run)}
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
    run = runs[named]
    several = (
        run["rubric"] is None and len(run["criteria"]) > 1 if "rubric" in run else run.get("criterion", run) is None
    )
    if several:
        raise InvalidInputError(
            f"the instances of {named!r} were judged by criteria of their own, and a result is about the same ones for "
            "all rows: take the results of one criterion's instances alone"
        )
    cells = [
        cell_of({"instance": instance, **line}, ["instance", *(key for key in line if key != "votes")])
        for instance, row in enumerate(rows)
        for line in row["score"]["instance"][named + _VOTES]
    ]
    held: type[Results[Any]] = getattr(import_module("evenhand"), KINDS[run["evenhand"]].class_name)
    return held.of_cells({**run, "parameters": {**run["parameters"], "n": len(rows)}}, cells)


def _is_run(given: object) -> bool:
    return isinstance(given, Mapping) and given.get("evenhand") in KINDS

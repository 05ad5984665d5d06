"""Which pictures a result can give; :mod:`evenhand.report.shapes` says what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.numbers import format_count
from evenhand.report.drawn_judges import REPORTED
from evenhand.report.drawn_results import PICTURES, Drawn, Held
from evenhand.report.shapes import Picture
from evenhand.results.results import Results


def pictures_of(results: Any, kinds: Sequence[str] | None = None) -> tuple[Picture, ...]:  # noqa: ANN401 - a table of the layer above
    """The pictures that a result can give.

    Args:
        results: A result of any kind, or a report on the reliability of judges.
        kinds: The short names of those that are wanted; all by default.

    Raises:
        InvalidInputError: A kind that this result cannot give.
    """
    for kind in kinds or ():
        if kind not in PICTURES:
            raise InvalidInputError(f"there is no picture {kind!r}. {did_you_mean(kind, list(PICTURES))}")
    draw = _of_result(results) if isinstance(results, Results) else _of_report(results)
    found = {kind: draw(kind) for kind in (kinds or PICTURES)}
    lacking = [kind for kind in kinds or () if found[kind] is None]
    if lacking:
        able = ", ".join(repr(kind) for kind in PICTURES if draw(kind) is not None)
        raise InvalidInputError(
            f"this {type(results).__name__} has nothing to show as {lacking[0]!r}; it has the pictures {able or 'none'}"
        )
    return tuple(picture for picture in found.values() if picture is not None)


def first_picture(results: Any, kind: str | None = None) -> Picture:  # noqa: ANN401 - as above
    """The picture of a kind, or the first that a result can give.

    Raises:
        InvalidInputError: If it cannot give it, or none.
    """
    found = pictures_of(results, None if kind is None else [kind])
    if not found:
        raise InvalidInputError(f"a {type(results).__name__} of this kind has nothing that can be drawn")
    return found[0]


def _of_result(results: Results[Any]) -> Callable[[str], Picture | None]:
    """Draws a kind of picture of a result, whose caption ends with who judged, how much, and what is unscored."""
    held, said = Held(results), results.parameters
    judges = ", ".join(said.get("judges") or said.get("votes") or ())
    clusters = len(set(results.clusters().values()))
    of = f" of {format_count(clusters, 'cluster')}" if clusters else ""
    about = f"Judged by {judges}; n = {format_count(said['n'], 'row')}{of}; {results.unscored_counts}."
    return lambda kind: _captioned(kind, PICTURES[kind](held), about)


def _of_report(report: Any) -> Callable[[str], Picture | None]:  # noqa: ANN401 - as above
    """Draws a kind of picture of a report on judges; nothing of what is no such report."""
    if not hasattr(report, "agreements"):
        return lambda _: None
    about = f"n = {format_count(report.parameters['n'], 'row')}; {report.unscored_counts}."
    return lambda kind: _captioned(kind, REPORTED[kind](report) if kind in REPORTED else None, about)


def _captioned(kind: str, drawn: Drawn | None, about: str) -> Picture | None:
    if drawn is None:
        return None
    title, panels, notes = drawn
    return Picture(kind, title, " ".join([f"{title}.", *notes, about]), tuple(panels))

"""Corrected scores as a result: what is reported of each, the tables, and what the judge was worth in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import pandas as pd

from evenhand.errors import InvalidInputError
from evenhand.files import write_as_it_ends
from evenhand.labels.samples import named
from evenhand.numbers import (
    Missing,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_share,
)
from evenhand.results.measures import Column, as_json, measure, measures_table, plain
from evenhand.results.render import PrintedTables, TextTable
from evenhand.statistics import Interval
from evenhand.statistics.correction import Correction, Worth

Estimate = Interval | Missing

SAVED_AS: Final = (".json", ".csv", ".md", ".html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A number as the judge gives it, as the labels alone do, and as both together do.

    Attributes:
        criterion: What it is about.
        option: Of a criterion whose options have no values, the one whose share it is.
        judge: By the judge's scores; its interval is one of the judge, and not of people.
        labels: By the labels, without the judge.
        corrected: What people would say, by their labels and what the judge says of all rows.
        num_rows: Rows that were judged.
        num_labelled: Rows that people labelled.
        num_unscored: Rows without a score of the judge: a stratum of their own.
        labels_saved: How many more labels, drawn at random, would tell as much without the judge.
        worth: Whether that is surely more, or surely next to nothing; None where neither is sure.
        method: Of the corrected interval.
        notes: What must be said of it.
    """

    criterion: str
    option: str | None = None
    judge: Estimate = measure("score", name="by_judge")
    labels: Estimate = measure("score", name="by_labels")
    corrected: Estimate = measure("score", always=True)
    num_rows: int = measure("count")
    num_labelled: int = measure("count")
    num_unscored: int = measure("count")
    labels_saved: float | Missing = measure("count")
    worth: Worth | None = None
    method: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Correction, **names: str | None) -> Self:
        """What a correction found, with its names."""
        return cls(**names, **{field.name: getattr(found, field.name) for field in fields(Correction)})  # type: ignore[arg-type]

    @property
    def of_what(self) -> str:
        """Whose it is."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """What it is called in sentences."""
        return named(self.of_what, self.criterion, self.option)

    def record(self) -> dict[str, Any]:
        """A plain row."""
        row: dict[str, Any] = {"of": self.of_what, "criterion": self.criterion, "option": self.option}
        for name in ("judge", "labels", "corrected"):
            value = getattr(self, name)
            known = None if isinstance(value, Missing) else value
            row |= {name: known and known.estimate, f"{name}_low": known and known.low}
            row |= {f"{name}_high": known and known.high}
        row |= {name: getattr(self, name) for name in ("num_rows", "num_labelled", "num_unscored")}
        row["labels_saved"] = None if isinstance(self.labels_saved, Missing) else self.labels_saved
        row["level"] = None if isinstance(self.corrected, Missing) else self.corrected.level
        return {**row, "method": self.method}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean(Corrected):
    """The score of a system: see :class:`Corrected`.

    Attributes:
        system: Whose; empty where a result knows no systems.
    """

    system: str

    @property
    def of_what(self) -> str:
        """The system."""
        return self.system


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedDifference(Corrected):
    """How far two systems differ, paired over the rows that both have: see :class:`Corrected`.

    Attributes:
        first: The system from whose score that of the second is taken.
        second: The other.
    """

    first: str
    second: str

    @property
    def of_what(self) -> str:
        """The two systems."""
        return f"{self.first} – {self.second}"

    @property
    def told_apart(self) -> bool:
        """Whether the corrected interval leaves 0 out."""
        return not isinstance(self.corrected, Missing) and not self.corrected.low <= 0 <= self.corrected.high


@dataclass(frozen=True, kw_only=True)
class CorrectedScores(PrintedTables):
    """The result of :func:`evenhand.correct`.

    Attributes:
        scores: One a system and criterion, and of a nominal criterion one an option.
        differences: Every two systems on each criterion, as far as both are labelled.
        design: How the labelled rows were chosen, as was said.
        level: Of the intervals; that of a difference is higher, so that all hold together.
        notes: What must be said of the labels.
        parameters: Judges, seed, design and what else made it.
    """

    scores: tuple[CorrectedMean, ...]
    differences: tuple[CorrectedDifference, ...] = ()
    design: str
    level: float
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any]

    def __getitem__(self, name: str | tuple[str, ...]) -> CorrectedMean:
        """The score of ``system``, ``(system, criterion)`` or ``(system, criterion, option)``.

        Raises:
            InvalidInputError: If there is none, or several.
        """
        asked = (name,) if isinstance(name, str) else tuple(name)
        fits = [each for each in self.scores if (each.system, each.criterion, each.option)[: len(asked)] == asked]
        if len(fits) != 1:
            names = [(each.system, each.criterion, *([each.option] if each.option else [])) for each in self.scores]
            raise InvalidInputError(f"{name!r} names {len(fits)} of the scores; they are named {names!r}")
        return fits[0]

    def text_tables(self) -> tuple[TextTable, ...]:
        """The scores, and the differences."""
        return (self._scores(), *([self._differences()] if self.differences else []))

    def _scores(self) -> TextTable:
        title = f"What people would say, by their labels and {', '.join(self.parameters['judges'])}"
        notes = (*worth(self.scores), *_own_notes(self.scores), *self.notes)
        return _table(title, "system", self.scores, self.level, Column("no score", "num_unscored"), notes=notes)

    def _differences(self) -> TextTable:
        told = [each.name for each in self.differences if each.told_apart]
        notes = [f"Told apart by what people would say: {'; '.join(told)}." if told else "None can be told apart."]
        known = (each.corrected.level for each in self.differences if not isinstance(each.corrected, Missing))
        level = next(known, self.level)
        if len(self.differences) > 1:
            notes.append(
                f"Each interval has the level {format_level(level)}, so that all "
                f"{format_count(len(self.differences))} hold together at {format_level(self.level)} (Bonferroni)."
            )
        title = "Differences of what people would say, paired over the rows"
        return _table(title, "systems", self.differences, level, notes=notes)

    def records(self) -> Iterator[dict[str, Any]]:
        """A plain row for each score, and after these for each difference."""
        yield from ({"kind": "score", **each.record()} for each in self.scores)
        yield from ({"kind": "difference", **each.record()} for each in self.differences)

    def to_pandas(self) -> pd.DataFrame:
        """A row for each score, and after these for each difference."""
        return pd.DataFrame.from_records(list(self.records()))

    def to_json(self) -> str:
        """All of it as JSON; what is missing is ``{"reason": …}``."""
        return as_json({"evenhand": "corrected_scores", **plain(self, reasons=True)}, indent=1)

    def save(self, path: str | Path) -> None:
        """Write ``.json`` (all of it), ``.csv`` (the tables), ``.md`` or ``.html``.

        Raises:
            InvalidInputError: If the name ends otherwise.
            UnwritableFileError: If the file cannot be written.
        """
        made = (self.to_json, self.to_csv, self.to_markdown, lambda: self.to_page("Corrected scores"))
        write_as_it_ends(path, dict(zip(SAVED_AS, made, strict=True)))

    def __repr__(self) -> str:
        return f"<CorrectedScores of {len(self.scores)} score(s), design {self.design!r}>\n{self}"


def worth(scores: Sequence[CorrectedMean]) -> list[str]:
    """What the judge was worth beside the labels, and where its own mean misleads, in sentences.

    A sentence about its worth needs a test or a limit that allows it: ``worth`` of a correction.
    """
    notes, useless = [], []
    for each in scores:
        labels = format_count(each.num_labelled, "label")
        missing = next((value for value in (each.corrected, each.labels_saved) if isinstance(value, Missing)), None)
        if missing is not None:
            notes.append(f"{each.name}: {missing.reason}.")
        elif each.worth == "nothing":
            useless.append(f"{each.name} ({labels})")
        elif each.worth == "more" and each.labels_saved >= 1:  # type: ignore[operator] # it is not missing
            more = format_count(each.labels_saved)
            notes.append(f"{each.name}: with these {labels} the judge is worth {more} more.")
    if useless:
        notes.append(f"Labels alone would do, to which the judge adds nothing: {_listed(useless, len(scores))}.")
    off = [f"{each.name} ({format_number(each.judge.estimate)})" for each in scores if _misleads(each)]  # type: ignore[union-attr]
    if off:
        notes.append(f"The judge's own mean is not what people would say of: {'; '.join(off)}.")
    return notes


def _own_notes(found: Sequence[Corrected]) -> list[str]:
    """The notes of the numbers, each once, with what it is about."""
    about: dict[str, list[str]] = {}
    for each in found:
        for note in each.notes:
            about.setdefault(note, []).append(each.name)
    return [f"{_listed(names, len(found))}: {note}." for note, names in about.items()]


def _listed(names: Sequence[str], total: int) -> str:
    """Some of the scores by their names, and all of several as that."""
    return "all scores" if 1 < len(names) == total else "; ".join(names)


def _misleads(score: CorrectedMean) -> bool:
    """Whether the judge's mean lies outside of the corrected interval."""
    judge, corrected = score.judge, score.corrected
    if isinstance(judge, Missing) or isinstance(corrected, Missing):
        return False
    return not corrected.low <= judge.estimate <= corrected.high


def _table(
    title: str,
    header: str,
    found: Sequence[Corrected],
    level: float,
    *more: Column,
    notes: Sequence[str],
) -> TextTable:
    """Judge, labels and both, side by side."""
    several = any(each.option for each in found)
    signed = isinstance(found[0], CorrectedDifference)
    rows = [((each.of_what, each.criterion, *([each.option or ""] if several else [])), each) for each in found]

    def shown(name: str) -> Column:
        def cell(each: Corrected) -> str:
            value = getattr(each, name)
            return format_share(value) if each.option and not signed else format_interval(value, signed=signed)

        alone = "corrected" if name == "corrected" else f"{name} alone"
        return Column(f"{alone} [{format_level(level)}]", cell)

    columns = (*map(shown, ("judge", "labels", "corrected")), Column("labels", "num_labelled"))
    headers = (header, "criterion", *(["option"] if several else []))
    kind = "differences" if signed else "scores"
    return measures_table(title, headers, rows, (*columns, Column("rows", "num_rows"), *more), notes, kind=kind)

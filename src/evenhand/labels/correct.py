"""The score that people would give: the judge's scores of all rows, corrected by people's labels of some."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import pandas as pd

from evenhand.errors import InvalidInputError
from evenhand.files import write_as_it_ends
from evenhand.labels.people import Labels, Paired, paired, read_gold
from evenhand.numbers import (
    Missing,
    format_count,
    format_interval,
    format_level,
    format_number,
    format_share,
    state_p_value,
)
from evenhand.options import Design
from evenhand.results.measures import Column, as_json, measure, measures_table, plain
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results
from evenhand.statistics import Interval
from evenhand.statistics.correction import Correction, Worth, corrected_mean, draw_p_value, labels_saved
from evenhand.statistics.intervals import BoolArray, FloatArray, IntArray, check_level

DESIGNS: Final[Mapping[Design, str]] = {
    "random": "rows drawn at random, each as likely as any other",
    "by_verdict": "rows drawn at random within what the judge said of them, such as 30 of each verdict",
    "probabilities": "rows drawn with a probability of their own, which a column of the labels holds",
}
SAVED_AS: Final = (".json", ".csv", ".md", ".html")
UNLIKELY: Final = 0.001
"""Draws less likely than this are reported as doubtful."""

HALVINGS: Final = 16
"""The halvings of the range of scores when an interval is inverted: to 1.5e-5 of the range."""

Estimate = Interval | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One score of one system as arrays: the judge's score of each row, and people's scores of labelled rows.

    Attributes:
        system: Whose score it is; empty where a result knows no systems.
        criterion: What it is a score of.
        option: Of a criterion whose options have no values, the one whose share is the score; None elsewhere.
        instances: The row of the data of each of the n rows.
        judged: (n,), the judge's scores, NaN where a row is unscored.
        human: (n,), people's, NaN where a row is not labelled.
        spared: (n,), whether people say that the criterion does not apply.
        strata: (n,), the place of the option selected, the number of options where it does not apply, and -1 for none;
            None if the score is of several questions.
        probabilities: (n,), with which each was drawn to be labelled, NaN where that is not known.
        clusters: (n,), what each belongs to.
        bounds: The least and the greatest score.
        support: The scores that one label can give; None if they are any numbers within the bounds.
        num_options: How many can be selected.
        averaged: Rows on which people are divided, whose label is the mean of what these say.
        undecided: Rows on which people are divided, and which have no label.
        design: How labelled rows were chosen.
        seed: Of draws.
    """

    system: str
    criterion: str
    option: str | None = None
    instances: IntArray
    judged: FloatArray
    human: FloatArray
    spared: BoolArray
    strata: IntArray | None
    probabilities: FloatArray
    clusters: tuple[Hashable, ...]
    bounds: tuple[float, float]
    support: tuple[float, ...] | None
    num_options: int
    averaged: int = 0
    undecided: int = 0
    design: Design = "random"
    seed: int = 0

    @property
    def labelled(self) -> BoolArray:
        """Whether people gave a score, shape (n,)."""
        return ~np.isnan(self.human)

    @property
    def num_labelled(self) -> int:
        """The number of rows that people scored."""
        return int(self.labelled.sum())

    @property
    def what(self) -> tuple[str, str | None]:
        """The criterion and the option on which systems are compared."""
        return self.criterion, self.option

    @property
    def name(self) -> str:
        """The name in sentences."""
        return name_of(self.system, *self.what)

    def only(self, rows: BoolArray) -> Sample:
        """Return some of the rows."""
        return replace(
            self,
            instances=self.instances[rows],
            judged=self.judged[rows],
            human=self.human[rows],
            spared=self.spared[rows],
            strata=None if self.strata is None else self.strata[rows],
            probabilities=self.probabilities[rows],
            clusters=tuple(each for each, kept in zip(self.clusters, rows, strict=True) if kept),
        )

    def correction(self, level: float) -> Correction:
        """Estimate the score of the judge, of the labels, and of both."""
        if self.spared.any():
            return self._where_it_applies(level)
        return corrected_mean(
            self.judged,
            self.human,
            strata=self.strata,
            support=self.support,
            probabilities=self.probabilities,
            **self._given(level, self.clusters),
        )

    def minus(self, other: Sample, level: float) -> Correction:
        """Estimate the difference to another system, paired over the rows that both have."""
        _, ours, theirs = np.intersect1d(self.instances, other.instances, return_indices=True)

        def both(one: FloatArray, two: FloatArray) -> FloatArray:
            return np.column_stack([one[ours], two[theirs]])

        strata = None
        if self.strata is not None and other.strata is not None:
            strata = np.column_stack([self.strata[ours], other.strata[theirs]])
        return corrected_mean(
            both(self.judged, other.judged),
            both(self.human, other.human),
            strata=strata,
            support=self.support if self.support == other.support else None,
            probabilities=both(self.probabilities, other.probabilities),
            **self._given(level, [self.clusters[place] for place in ours]),
        )

    def _given(self, level: float, clusters: Sequence[Hashable]) -> dict[str, Any]:
        together = clusters if len({*clusters}) < len(clusters) else None
        return {"design": self.design, "bounds": self.bounds, "level": level, "clusters": together}

    def _where_it_applies(self, level: float) -> Correction:
        r"""Return the mean over the rows to which it applies, as people see it, though most rows are not labelled.

        With :math:`a` 1 where it applies and 0 elsewhere, the mean :math:`\theta` is where :math:`E[a (y - \theta)] =
        0`; the interval holds each :math:`\theta` for which that of the corrected mean of :math:`a (y - \theta)` holds
        0 (Fieller, Some problems in interval estimation, Journal of the Royal Statistical Society B 16 (1954)).
        """
        plain = replace(self, spared=np.zeros_like(self.spared)).correction(level)
        if isinstance(plain.corrected, Missing):
            return plain

        def shifted(theta: float) -> Correction:
            support = None if self.support is None else tuple(sorted({0.0, *(each - theta for each in self.support)}))
            moved = replace(
                self,
                judged=self.judged - theta,
                human=np.where(self.spared, 0.0, self.human - theta),
                spared=np.zeros_like(self.spared),
                bounds=(min(self.bounds[0] - theta, 0.0), max(self.bounds[1] - theta, 0.0)),
                support=support,
            )
            return moved.correction(level)

        def crossing(part: str) -> float:
            def moved(theta: float) -> float:
                found = shifted(theta).corrected
                return math.nan if isinstance(found, Missing) else float(getattr(found, part))

            return _crossing(moved, *self.bounds)

        corrected = replace(
            plain.corrected,
            estimate=crossing("estimate"),
            low=crossing("low"),
            high=crossing("high"),
            standard_error=None,
        )
        if isinstance(plain.labels, Missing):
            return replace(plain, corrected=corrected)
        saved = labels_saved(plain.labels, corrected, plain.num_labelled)
        return replace(plain, corrected=corrected, labels_saved=saved)


def name_of(*parts: str | None) -> str:
    """Name a system, a criterion and an option in a sentence; what is empty is left out."""
    return ", ".join(part for part in parts if part)


def _crossing(decreasing: Callable[[float], float], low: float, high: float) -> float:
    """Find the zero of a decreasing function; an end of the range if there is none within it."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > 0 else (low, middle)
    return (low + high) / 2


def samples_of(pairs: Sequence[Paired], design: Design = "random", seed: int = 0) -> tuple[Sample, ...]:
    """Make a sample of each score; of a criterion whose options have no values, one of each option."""
    return tuple(replace(sample, design=design, seed=seed) for pair in pairs for sample in _samples(pair))


def _samples(pair: Paired) -> Iterator[Sample]:
    judge, given = pair.judge, {*pair.human[pair.labelled].tolist()}
    values = {value for value in judge.values if value is not None}
    base = Sample(
        system=judge.system,
        criterion=judge.criterion,
        instances=np.array([row.instance for row in judge.rows], dtype=np.int64),
        judged=judge.scores,
        human=pair.human,
        spared=np.array([bool(judge.labels) and told not in {None, *judge.labels} for told in pair.selected]),
        strata=np.where([row.na for row in judge.rows], len(judge.labels), judge.places) if judge.labels else None,
        probabilities=pair.probabilities,
        clusters=tuple(judge.clusters),
        bounds=judge.bounds,
        support=tuple(sorted(values)) if values and given <= values else None,
        num_options=len(judge.labels),
        averaged=pair.averaged,
        undecided=pair.undecided,
    )
    if None not in judge.values:
        yield base
        return
    said = [row.selected for row in judge.rows]

    def share(selected: Sequence[str | None], option: str) -> FloatArray:
        return np.array([np.nan if each not in judge.labels else each == option for each in selected], dtype=float)

    for option in judge.labels:
        judged, human = share(said, option), share(pair.selected, option)
        yield replace(base, option=option, judged=judged, human=human, bounds=(0.0, 1.0), support=(0.0, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """A score, or the difference of two, from the judge, from the labels alone, and from both.

    Attributes:
        system: Whose score it is, or the system from whose score that of the second is taken; empty where a result
            knows no systems.
        second: The other system of a difference, paired over the rows that both have; None for a score.
        criterion: The criterion of the score.
        option: Of a criterion whose options have no values, the one whose share it is.
        judge: By the judge's scores; its interval is one of the judge, and not of people.
        labels: By the labels, without the judge.
        corrected: What people would say, by their labels and what the judge says of all rows.
        num_rows: Rows that were judged.
        num_labelled: Rows that people labelled.
        num_unscored: Rows without a score of the judge: a stratum of their own.
        labels_saved: How many more labels, drawn at random, would be as informative without the judge.
        worth: Whether that is surely more, or surely next to nothing; None if neither is sure.
        method: The method of the corrected interval.
        notes: What must be said of it.
    """

    system: str
    second: str | None = None
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
        """Return the result of a correction, with its names."""
        return cls(**names, **{field.name: getattr(found, field.name) for field in fields(Correction)})  # type: ignore[arg-type]

    @property
    def of_what(self) -> str:
        """The system, or the two."""
        return self.system if self.second is None else f"{self.system} – {self.second}"

    @property
    def name(self) -> str:
        """The name in sentences."""
        return name_of(self.of_what, self.criterion, self.option)

    def record(self) -> dict[str, Any]:
        """Return a plain row."""
        row: dict[str, Any] = {"of": self.of_what, "criterion": self.criterion, "option": self.option}
        for name in ("judge", "labels", "corrected"):
            value = getattr(self, name) or None
            row[name] = value and value.estimate
            row |= {f"{name}_{limit}": value and getattr(value, limit) for limit in ("low", "high")}
        row |= {name: getattr(self, name) for name in ("num_rows", "num_labelled", "num_unscored")}
        row["labels_saved"] = None if isinstance(self.labels_saved, Missing) else self.labels_saved
        row["level"] = self.corrected.level if self.corrected else None
        return {**row, "method": self.method}

    @property
    def distinguishable(self) -> bool:
        """Whether the corrected interval of a difference leaves 0 out."""
        return not isinstance(self.corrected, Missing) and not self.corrected.low <= 0 <= self.corrected.high


@dataclass(frozen=True, kw_only=True)
class CorrectedScores(PrintedTables):
    """The result of :func:`evenhand.correct`.

    Attributes:
        scores: One per system and criterion; for a nominal criterion one per option.
        differences: Every two systems on each criterion, as far as both are labelled.
        design: How the labelled rows were chosen, as was said.
        level: The level of the intervals; that of a difference is higher, so that all hold together.
        notes: What must be said of the labels.
        parameters: Judges, seed, design and what else made it.
    """

    scores: tuple[Corrected, ...]
    differences: tuple[Corrected, ...] = ()
    design: str
    level: float
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Any]

    def __getitem__(self, name: str | tuple[str, ...]) -> Corrected:
        """Return the score of ``system``, ``(system, criterion)`` or ``(system, criterion, option)``.

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
        """Return the scores, and the differences."""
        title = f"What people would say, by their labels and {', '.join(self.parameters['judges'])}"
        notes = (*worth(self.scores), *_own_notes(self.scores), *self.notes)
        scores = _table(title, "system", self.scores, self.level, Column("no score", "num_unscored"), notes=notes)
        if not self.differences:
            return (scores,)
        names = [each.name for each in self.differences if each.distinguishable]
        said = [f"Distinguishable by what people would say: {'; '.join(names) or 'none'}."]
        level = next((each.corrected.level for each in self.differences if each.corrected), self.level)
        if len(self.differences) > 1:
            said.append(
                f"Each interval has the level {format_level(level)}, so that all "
                f"{format_count(len(self.differences))} hold together at {format_level(self.level)} (Bonferroni)."
            )
        title = "Differences of what people would say, paired over the rows"
        return scores, _table(title, "systems", self.differences, level, notes=said)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a plain row for each score, and after these for each difference."""
        yield from ({"kind": "score", **each.record()} for each in self.scores)
        yield from ({"kind": "difference", **each.record()} for each in self.differences)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each score, and after these for each difference."""
        return pd.DataFrame.from_records(list(self.records()))

    def to_json(self) -> str:
        """Return all of it as JSON; what is missing is ``{"reason": …}``."""
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


def worth(scores: Sequence[Corrected]) -> list[str]:
    """Say how many labels the judge is worth, and where its own mean misleads.

    A sentence about its worth needs a test or a limit that allows it: ``worth`` of a correction.
    """
    notes, useless, off = [], [], []
    for each in scores:
        labels = format_count(each.num_labelled, "label")
        corrected, saved = each.corrected, each.labels_saved
        if isinstance(corrected, Missing) or isinstance(saved, Missing):
            notes += [f"{each.name}: {why.reason}." for why in (corrected, saved) if isinstance(why, Missing)][:1]
            continue
        if each.worth == "nothing":
            useless.append(f"{each.name} ({labels})")
        elif each.worth == "more" and saved >= 1:
            notes.append(f"{each.name}: with these {labels} the judge is worth {format_count(saved)} more.")
        if each.judge and not corrected.low <= each.judge.estimate <= corrected.high:
            off.append(f"{each.name} ({format_number(each.judge.estimate)})")
    if useless:
        notes.append(f"The judge adds nothing to the labels alone for: {_listed(useless, len(scores))}.")
    return notes + ([f"The judge's mean lies outside the corrected interval for: {'; '.join(off)}."] if off else [])


def _own_notes(found: Sequence[Corrected]) -> list[str]:
    """Return the notes of the numbers, each once, with what it is about."""
    about: dict[str, list[str]] = {}
    for each in found:
        for note in each.notes:
            about.setdefault(note, []).append(each.name)
    return [f"{_listed(names, len(found))}: {note}." for note, names in about.items()]


def _listed(names: Sequence[str], total: int) -> str:
    """List the names of some scores; summarize if all of several are meant."""
    return "all scores" if 1 < len(names) == total else "; ".join(names)


def _table(
    title: str,
    header: str,
    found: Sequence[Corrected],
    level: float,
    *more: Column,
    notes: Sequence[str],
) -> TextTable:
    """Tabulate the scores of judge, labels and both."""
    several = any(each.option for each in found)
    signed = found[0].second is not None
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


def correct(
    results: Results,
    gold: object = None,
    *,
    design: str | None = None,
    level: float | None = None,
    seed: int = 0,
    label_field: str | None = None,
    annotator_field: str | None = None,
    probability_field: str | None = None,
) -> CorrectedScores:
    """Estimate people's score per system and criterion, from a judge's scores of all rows and a few labels.

    Statistics: :mod:`evenhand.statistics.correction`. Systems are compared on the rows that both have, with intervals
    that all hold together.

    Args:
        results: What a judge scored: of ``judge``, ``winrates``, ``checklist``, ``aggregate_votes`` or ``run_mode``, or
            what ``evenhand.open`` reads.
        gold: What people say: see :func:`~evenhand.labels.people.read_gold`. None for the gold labels that the results
            hold. Where several people labelled a row, the label that most of them give counts, and of numbers the mean.
        design: How the labelled rows were chosen. It cannot be seen in the labels, and is never assumed:

            - ``random``: drawn at random, each row as likely as any other;
            - ``by_verdict``: at random within what the judge said of them, such as 30 of each verdict;
            - ``probabilities``: each with a probability of its own, which a column of the labels holds.
        level: The level of the intervals; that of the results by default.
        seed: Of draws.
        label_field: The column of ``gold`` with the label.
        annotator_field: That with who gave it.
        probability_field: That with the probability with which a row was drawn.

    Raises:
        InvalidInputError: No design, labels that fit no row, or a system without labels where another one has some.

    Example::

        table = evenhand.judge(rows, "criteria.evenhand.direct.relevance", engine)
        print(evenhand.correct(table, {"p-3": "Excellent", …}, design="random"))
    """
    if not isinstance(results, Results):
        raise InvalidInputError(
            f"results is {results!r}; give what judge, winrates, checklist, aggregate_votes or run_mode returned, or "
            "what evenhand.open reads"
        )
    fields = {"label_field": label_field, "annotator_field": annotator_field, "probability_field": probability_field}
    labels = read_gold(results, gold, **fields)
    wanted = float(results.parameters["level"]) if level is None else level
    check_level(wanted)
    said = checked_design(design, labels)
    every = samples_of(paired(results, labels), said, seed)
    silent = _check_labelled(every, said)
    own = [sample for sample in every if sample.criterion not in silent]
    left_out = [f"Left out, as no row is labelled: {', '.join(silent)}."] if silent else []
    return CorrectedScores(
        scores=tuple(
            Corrected.of(each.correction(wanted), system=each.system, criterion=each.criterion, option=each.option)
            for each in own
        ),
        differences=() if results.kind == "winrates" else _differences(own, wanted),
        design=said,
        level=wanted,
        notes=(*_notes(labels, own, said), *left_out, *results.outcome_notes),
        parameters={
            "judges": list(results.parameters.get("judges", ())) or ["recorded votes"],
            "design": said,
            "level": wanted,
            "seed": seed,
        },
    )


def checked_design(given: object, labels: Labels) -> Design:
    """Check how the labelled rows are said to have been chosen.

    Raises:
        InvalidInputError: If it is not said, is none, or is not what the labels say.
    """
    if labels.design is not None and given not in {None, labels.design}:
        raise InvalidInputError(
            f"design is {given!r}, and the rows of these labels were drawn with {labels.design!r}: leave design out"
        )
    asked = labels.design if given is None else given
    for name in DESIGNS:
        if asked == name:
            return name
    said = "design is not given" if asked is None else f"design is {asked!r}"
    meant = "; ".join(f"{name!r}: {what}" for name, what in DESIGNS.items())
    raise InvalidInputError(
        f"{said}, and the labels do not show how the labelled rows were chosen, on which the correction rests. Say "
        f"which it was, design=…, in the shell --design. {meant}"
    )


def _check_labelled(samples: Sequence[Sample], design: Design) -> list[str]:
    """Check that no system would be scored by the labels of another one; return the criteria without labels.

    Raises:
        InvalidInputError: If these are all, a system has no labels where others have some, or a row no probability.
    """
    labelled: dict[str, dict[str, bool]] = {}
    for sample in samples:
        systems = labelled.setdefault(sample.criterion, {})
        systems[sample.system] = systems.get(sample.system, False) or bool(sample.num_labelled)
        if design == "probabilities" and np.isnan(sample.probabilities[sample.labelled]).any():
            raise InvalidInputError(
                f"design is 'probabilities', and labelled rows of {sample.name!r} have none: give the labels as a "
                "table with a column 'probability', or name that column, probability_field=…"
            )
    silent = [criterion for criterion, systems in labelled.items() if not any(systems.values())]
    if len(silent) == len(labelled):
        raise InvalidInputError(
            "of no row people say all that its score is made of: label every question about a row, or give the score "
            "of the whole as a number"
        )
    for criterion, systems in labelled.items():
        others, lacking = ([system for system, has in systems.items() if has is wanted] for wanted in (True, False))
        if others and lacking:
            raise InvalidInputError(
                f"there are no labels of {lacking!r} on {criterion!r}, and labels correct the system that they name: "
                f"label some of its rows, or leave it out with results.filter(system={others!r})"
            )
    return silent


def _differences(samples: Sequence[Sample], level: float) -> tuple[Corrected, ...]:
    """Compare every two systems on each criterion, as far as it applies to all rows; all hold together (Bonferroni)."""
    criteria = dict.fromkeys(sample.what for sample in samples)
    pairs = [
        (one, other)
        for what in criteria
        for one, other in combinations([sample for sample in samples if sample.what == what], 2)
        if (one.bounds, one.num_options) == (other.bounds, other.num_options)
        and np.intersect1d(one.instances, other.instances).size
        and not (one.spared.any() or other.spared.any())
    ]
    each = round(1 - (1 - level) / max(len(pairs), 1), 4)
    return tuple(
        Corrected.of(
            one.minus(other, each),
            system=one.system,
            second=other.system,
            criterion=one.criterion,
            option=one.option,
        )
        for one, other in pairs
    )


def _notes(labels: Labels, samples: Sequence[Sample], design: Design) -> list[str]:
    """Return the notes on the labels."""
    notes = [f"How the labelled rows were chosen, as was said: {DESIGNS[design]} (design={design!r})."]
    people = len(labels.annotators)
    if people > 1:
        several = sum(len(given) > 1 for given in labels.by_question.values())
        notes.append(
            f"{format_count(len(labels), 'label')} by {people} people; of {format_count(several, 'question')} with "
            "several labels the one that most gave counts, and of numbers the mean."
        )
    if averaged := max(sample.averaged for sample in samples):
        notes.append(f"{format_count(averaged, 'row')} on which people are divided: the mean of what they say counts.")
    if undecided := max(sample.undecided for sample in samples):
        notes.append(f"{format_count(undecided, 'row')} on which people are divided have no label, and are left out.")
    if labels.cannot_tell:
        notes.append(f"Of {format_count(labels.cannot_tell, 'row')} people could not tell; they are left out.")
    spared = [f"{each.name} ({int(each.spared.sum())})" for each in samples if each.spared.any()]
    if spared:
        notes.append(
            "The score is over the rows to which the criterion applies, as people see it, and no difference is given; "
            f"they say that it does not apply to labelled rows of: {'; '.join(spared)}."
        )
    return notes + _doubts(samples) if design == "random" else notes


def _doubts(samples: Sequence[Sample]) -> list[str]:
    """Doubt labelled rows that are unlikely to be a random draw."""
    notes = []
    for sample in samples:
        if sample.strata is None or sample.option is not None or not sample.labelled.any():
            continue
        p_value = draw_p_value(sample.strata, sample.labelled, seed=sample.seed)
        if p_value < UNLIKELY:
            notes.append(
                f"{sample.name}: the labelled rows do not look drawn at random: by what the judge says of them such a "
                f"draw is unlikely ({state_p_value(p_value)}). If they were chosen by the verdict, say "
                "design='by_verdict'."
            )
    return notes

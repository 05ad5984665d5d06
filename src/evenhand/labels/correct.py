"""The score that people would give: the judge's scores of all rows, corrected by people's labels of some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from evenhand.errors import InvalidInputError
from evenhand.labels.corrected import CorrectedDifference, CorrectedMean, CorrectedScores
from evenhand.labels.people import Labels, paired, read_gold
from evenhand.labels.samples import Sample, Way, difference_of, samples_of
from evenhand.numbers import format_count, state_p_value
from evenhand.results.results import Results
from evenhand.run_options import Design
from evenhand.statistics.correction import draw_p_value
from evenhand.statistics.intervals import check_level

DESIGNS: Final[Mapping[Design, str]] = {
    "random": "rows drawn at random, each as likely as any other",
    "by_verdict": "rows drawn at random within what the judge said of them, such as 30 of each verdict",
    "probabilities": "rows drawn with a probability of their own, which a column of the labels holds",
}

UNLIKELY: Final = 0.001
"""A draw that is less likely than this is doubted aloud."""


def correct(
    results: Results[Any],
    gold: object = None,
    *,
    design: str | None = None,
    level: float | None = None,
    seed: int = 0,
    label_field: str | None = None,
    annotator_field: str | None = None,
    probability_field: str | None = None,
) -> CorrectedScores:
    """The score that people would give, per system and criterion, from a judge's scores of all rows and a few labels.

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
        level: Of the intervals; that of the results by default.
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
    way = Way(design=checked_design(design, labels), level=wanted, seed=seed)
    every = samples_of(paired(results, labels))
    silent = _without_labels(every)
    own = [sample for sample in every if sample.criterion not in silent]
    _check_probabilities(way, own)
    _check_labelled(own)
    return CorrectedScores(
        scores=tuple(
            CorrectedMean.of(each.correction(way), system=each.system, criterion=each.criterion, option=each.option)
            for each in own
        ),
        differences=() if results.kind == "winrates" else _differences(own, way),
        design=way.design,
        level=way.level,
        notes=(*_notes(labels, own, way), *_left_out(silent), *results.outcome_notes),
        parameters={
            "judges": list(results.parameters.get("judges", ())) or ["recorded votes"],
            "design": way.design,
            "level": way.level,
            "seed": seed,
        },
    )


def checked_design(given: object, labels: Labels) -> Design:
    """How the labelled rows were chosen.

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


def _without_labels(samples: Sequence[Sample]) -> list[str]:
    """The criteria on which nobody labelled a row.

    Raises:
        InvalidInputError: If they are all.
    """
    criteria = {sample.criterion: False for sample in samples}
    for sample in samples:
        criteria[sample.criterion] |= bool(sample.num_labelled)
    if not any(criteria.values()):
        raise InvalidInputError(
            "of no row people say all that its score is made of: label every question about a row, or give the score "
            "of the whole as a number"
        )
    return [criterion for criterion, told in criteria.items() if not told]


def _check_probabilities(way: Way, samples: Sequence[Sample]) -> None:
    lacking = [sample for sample in samples if np.isnan(sample.probabilities[sample.labelled]).any()]
    if way.design == "probabilities" and lacking:
        raise InvalidInputError(
            f"design is 'probabilities', and labelled rows of {lacking[0].name!r} have none: give the labels as a "
            "table with a column 'probability', or name that column, probability_field=…"
        )


def _check_labelled(samples: Sequence[Sample]) -> None:
    """Check that no system would be scored by the labels of another one."""
    for criterion in dict.fromkeys(sample.criterion for sample in samples):
        told = {sample.system: False for sample in samples if sample.criterion == criterion}
        for sample in samples:
            if sample.criterion == criterion:
                told[sample.system] |= bool(sample.num_labelled)
        others, lacking = ([system for system, has in told.items() if has is wanted] for wanted in (True, False))
        if lacking:
            raise InvalidInputError(
                f"there are no labels of {lacking!r} on {criterion!r}, and labels correct the system that they name: "
                f"label some of its rows, or leave it out with results.filter(system={others!r})"
            )


def _differences(samples: Sequence[Sample], way: Way) -> tuple[CorrectedDifference, ...]:
    """Every two systems on each criterion, as far as it applies to all rows; all hold together (Bonferroni)."""
    criteria = dict.fromkeys(sample.what for sample in samples)
    pairs = [
        (one, other)
        for what in criteria
        for one, other in combinations([sample for sample in samples if sample.what == what], 2)
        if (one.bounds, one.num_options) == (other.bounds, other.num_options)
        and np.intersect1d(one.instances, other.instances).size
        and not (one.spared.any() or other.spared.any())
    ]
    each = replace(way, level=round(1 - (1 - way.level) / max(len(pairs), 1), 4))
    return tuple(
        CorrectedDifference.of(
            difference_of(one, other, each),
            first=one.system,
            second=other.system,
            criterion=one.criterion,
            option=one.option,
        )
        for one, other in pairs
    )


def _notes(labels: Labels, samples: Sequence[Sample], way: Way) -> list[str]:
    """What must be said of the labels."""
    notes = [f"How the labelled rows were chosen, as was said: {DESIGNS[way.design]} (design={way.design!r})."]
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
    if way.design == "random":
        notes += _doubts(samples, way.seed)
    return notes


def _left_out(criteria: Sequence[str]) -> list[str]:
    return [f"Left out is what nobody labelled: {', '.join(criteria)}."] if criteria else []


def _doubts(samples: Sequence[Sample], seed: int) -> list[str]:
    """Labelled rows that hardly anybody would draw at random."""
    notes = []
    for sample in samples:
        if sample.strata is None or sample.option is not None or not sample.labelled.any():
            continue
        p_value = draw_p_value(sample.strata, sample.labelled, seed=seed)
        if p_value < UNLIKELY:
            notes.append(
                f"{sample.name}: the labelled rows do not look drawn at random: by what the judge says of them such a "
                f"draw is unlikely ({state_p_value(p_value)}). If they were chosen by the verdict, say "
                "design='by_verdict'."
            )
    return notes

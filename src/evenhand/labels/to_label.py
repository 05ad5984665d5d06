"""Blind sheets from results: the rows drawn for each score, and how they are shown.

A score that people are asked about is that of a system on a criterion, a rubric or a checklist, or that of a pair of
systems; all questions of a rubric or checklist about one response are drawn together.

All draws go through the rows in one random order. At random, and at random within strata, the first rows of that order
are drawn, so that systems whose rows are drawn from it share as many rows as can be, and their differences are paired
(permanent random numbers, Ohlsson 1995, in Cox et al., Business Survey Methods, ch. 9).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from evenhand.criteria import Criterion, Option
from evenhand.data.texts import JudgedTexts
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.labels.blind_sheet import DRAWN_BY, SIDES, AskedOfPeople, BlindSheet, Card, Design, Draw, DrawnScore
from evenhand.numbers import format_count
from evenhand.results.made_by import digest
from evenhand.results.measures import Outcome, Outcomes, QuestionName
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.statistics.intervals import FloatArray
from evenhand.visible import visible

SCORE_LEVELS: Final = 5
"""The number of groups of about equal size into which scores that are not labels are divided."""


FEWEST_OF_A_STRATUM: Final = 2
"""The fewest units drawn per stratum: one does not show how far units differ."""


def to_label(
    results: Results,
    n: int,
    *,
    data: object,
    design: str = "random",
    seed: int = 0,
    response_fields: str | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
) -> BlindSheet:
    """Return a blind sheet on which people label a sample of what was judged.

    Args:
        results: What was judged. ``results.filter(system=…)`` leaves a sheet about some of it.
        n: How many rows are drawn for each score: of each system on each criterion, on each rubric or checklist, or of
            each pair of systems. All that is asked about one response stands on one item.
        data: The data that were judged: results do not hold the texts.
        design: How rows are drawn. ``random``; ``by_verdict``: at random within what the judge said, rare verdicts more
            often. The probabilities go with the labels, so that estimates stay unbiased. If you do not know, draw at
            random.
        seed: The seed of the draw: the same results and seed give the same sheet.
        response_fields: The column with the responses, where the results do not know it: those of recorded votes.
        context_fields: What is shown with the responses, in place of what the judge was shown: a column, several, or
            name shown -> column.

    Returns:
        The sheet: :meth:`~BlindSheet.save` writes it and its draw, which :func:`evenhand.read_labels` needs.

    Raises:
        InvalidInputError: Data that are not those that were judged, more rows than there are, a design that does not
            exist or that these verdicts do not allow.
    """
    for name, given, least in (("n", n, 1), ("seed", seed, 0)):
        if type(given) is not int or given < least:
            raise InvalidInputError(f"{name} is {given!r}; give a whole number, {least} or more")
    if design not in DRAWN_BY:
        raise InvalidInputError(f"design is {design!r}, not a sampling design. {did_you_mean(design, DRAWN_BY)}")
    whole = [each for each in results.outcomes() if each.part_of is None]
    texts = results.texts(data, response_fields, context_fields)
    cells = {results.question_name(cell): cell for cell in results.cells()}
    ranks = {row: rank for rank, row in enumerate(random_order(1 + max(name[0] for name in cells), seed))}
    chosen: list[_Chosen] = []
    scores = []
    for name, rows in _rows_by_score(results, whole).items():
        units = [pair for pair in rows if _has_texts(pair[1], cells, texts)]
        if not units:
            raise InvalidInputError(f"{name} has no row with a response, so there is nothing to label")
        if n > len(units):
            raise InvalidInputError(
                f"n is {n}, and {name} has {format_count(len(units), 'row')} with a response: ask for at most "
                f"{len(units)}"
            )
        verdicts = _strata(units) if design == "by_verdict" else [None] * len(units)
        shares = probabilities_by_stratum(verdicts, n)
        order = sorted(range(len(units)), key=lambda place, units=units: ranks[units[place][1].instance])  # type: ignore[misc] # the default binds the loop's units
        places = drawn_within(verdicts, shares, order)
        for place in places:
            names = units[place][1].questions
            chosen += [_Chosen(each, cells[each], float(shares[place]), verdicts[place]) for each in names]
        least_and_most = float(shares.min()), float(shares.max())
        scores.append(DrawnScore(name, len(units), len(places), len(rows) - len(units), *least_and_most))
    cards, criteria = _cards(results, texts, chosen, seed)
    questions = tuple(asked for card in cards for asked in card.questions)
    how: tuple[Design, int, int] = ("random" if design == "random" else "by_verdict", n, seed)
    by_label = all(each.labels for each in whole) and not (_compares(results) and len(scores) > 1)
    draw = Draw(
        id=digest(how, [each._asdict() for each in questions], [card.responses for card in cards]),
        design=how[0],
        corrected_as=design if design == "random" or by_label else "probabilities",
        n=n,
        seed=seed,
        labelled_by=results.labelled_by,
        criteria=criteria,
        questions=questions,
        scores=tuple(scores),
    )
    about = dict.fromkeys(each.criterion for each in whole)
    return BlindSheet(cards, draw, "Labels: " + visible(", ".join(about)))


class _Chosen(NamedTuple):
    """A question that was drawn."""

    name: QuestionName
    cell: Cell
    probability: float
    stratum: str | None


def _compares(results: Results) -> bool:
    return bool(results.labelled_by == ("first", "second"))


def _rows_by_score(results: Results, whole: Sequence[Outcomes]) -> dict[str, list[tuple[Outcomes, Outcome]]]:
    """Return the rows of each score that people are asked about; every question belongs to one of them."""
    found: dict[tuple[str, ...], dict[tuple[QuestionName, ...], tuple[Outcomes, Outcome]]] = {}
    for outcomes in whole:
        for row in outcomes.rows:
            _, *named = row.questions[0] if row.questions else (0,)
            key = tuple(map(str, named)) if _compares(results) else (outcomes.system, outcomes.criterion)
            found.setdefault(key, {}).setdefault(row.questions or ((row.instance,),), (outcomes, row))
    return {", ".join(filter(None, key)): list(rows.values()) for key, rows in found.items()}


def _has_texts(row: Outcome, cells: Mapping[QuestionName, Cell], texts: JudgedTexts) -> bool:
    asked = [cells[name] for name in row.questions]
    return bool(asked) and all(text is not None for cell in asked for text in texts.shown(cell.about).values())


def _strata(rows: Sequence[tuple[Outcomes, Outcome]]) -> list[str | None]:
    """Return the judge's label of each row, or for other scores the group of similar scores."""
    scores = np.array([np.nan if row.score is None else row.score for _, row in rows])
    known = np.unique(scores[~np.isnan(scores)])
    edges = np.quantile(scores[~np.isnan(scores)], np.linspace(0, 1, SCORE_LEVELS + 1)[1:-1]) if len(known) else known
    found: list[str | None] = []
    for (outcomes, row), score in zip(rows, scores, strict=True):
        unscored = (row.selected if outcomes.labels else row.score) is None
        level = f"scores {1 + int(np.searchsorted(edges, score))} of {SCORE_LEVELS}"
        found.append("not applicable" if row.na else "unscored" if unscored else row.selected or level)
    return found


def _cards(
    results: Results, texts: JudgedTexts, chosen: Sequence[_Chosen], seed: int
) -> tuple[tuple[Card, ...], tuple[Criterion, ...]]:
    """Return the questions as cards in random order, with the sides of contests in random order; and their criteria."""
    compares = _compares(results)
    together: dict[Hashable, list[_Chosen]] = {}
    for each in chosen:
        response = each.cell.about["instance"], each.cell.about.get("system")
        together.setdefault(each.name if compares else response, []).append(each)
    responses, generator = list(together.values()), np.random.default_rng((seed, 1))
    criteria: list[Criterion] = []
    cards = []
    for number, place in enumerate(generator.permutation(len(responses)).tolist(), start=1):
        swapped = compares and bool(generator.integers(2))
        cards.append(_card(results, number, responses[place], texts, criteria, swapped=swapped))
    return tuple(cards), tuple(criteria)


def _card(
    results: Results,
    number: int,
    own: Sequence[_Chosen],
    texts: JudgedTexts,
    criteria: list[Criterion],
    *,
    swapped: bool,
) -> Card:
    """Return the questions about one response or contest; new criteria are added to those of the sheet."""
    compares = _compares(results)
    asked: list[AskedOfPeople] = []
    for each in own:
        criterion = results.criterion_of(each.cell)
        as_read, answers = _as_read(criterion, compares=compares, swapped=swapped)
        used = {other.criterion for other in asked}
        at = next((at for at, other in enumerate(criteria) if other == as_read and at not in used), len(criteria))
        criteria += [as_read] * (at == len(criteria))
        row = results.ids[each.name[0]] if results.ids else None
        judged = results.fingerprint.shown_of(each.name[0], list(texts.shown(each.cell.about)))
        drawn = (each.name, each.probability, each.stratum)
        asked.append(AskedOfPeople(f"q{number}_{at + 1}", number, at, *drawn, answers, row, judged))
    contexts = (texts.context(each.cell.about, partial(results.criterion_of, each.cell)) for each in own)
    context = {name: text for each in contexts for name, text in each.items()}
    shown = [visible(text or "") for text in texts.shown(own[0].cell.about).values()]
    return Card(
        {visible(name): visible(text) for name, text in context.items()},
        dict(zip(SIDES if compares else ("Response",), reversed(shown) if swapped else shown, strict=True)),
        tuple(asked),
    )


def _as_read(criterion: Criterion, *, compares: bool, swapped: bool) -> tuple[Criterion, Mapping[str, str]]:
    """Return a criterion as people read it, and what its labels mean.

    People know two responses by their places, and the labels of a comparison name systems, or a tie.
    """
    options, meant = criterion.options, criterion.labels
    if compares:
        described = ("Response A is better.", "Neither is better.", "Response B is better.")
        shown = zip(("A", "Equal", "B"), (1.0, 0.5, 0.0), described, strict=True)
        options = tuple(Option(label=label, value=value, description=text) for label, value, text in shown)
        meant = meant[::-1] if swapped else meant
    read = Criterion(
        name=visible(criterion.name),
        description=visible(criterion.description),
        options=tuple(
            Option(label=visible(each.label), value=each.value, description=visible(each.description), na=each.na)
            for each in options
        ),
        scale="pairwise" if compares else criterion.scale,
    )
    return read, dict(zip(read.labels, meant, strict=True))


def probabilities_by_stratum(strata: Sequence[Hashable], n: int) -> FloatArray:
    """Return each stratum's share drawn, where the number drawn of a stratum grows with the square root of its size.

    A stratum of N_h units has n_h of the n draws, ∝ √N_h (power allocation, Bankier 1988, The American Statistician
    42, 174), at least two and at most N_h: rare verdicts are labelled more often than at random, frequent ones less.

    Args:
        strata: Of each unit.
        n: Draws; fewer than two for each stratum are shared out as far as they go, the largest strata first.

    Returns:
        (n_units,) n_h / N_h for each unit; n in sum.

    >>> probabilities_by_stratum(["yes"] * 9 + ["no"], 4)[[0, 9]].round(3).tolist()
    [0.333, 1.0]
    """
    sizes = Counter(strata)
    largest = sorted(sizes, key=lambda each: -sizes[each])  # ties stay in the order of their first units
    drawn = dict.fromkeys(largest, 0)
    for _ in range(min(n, len(strata))):  # one by one to the stratum furthest below its share
        open_to = [each for each in largest if drawn[each] < sizes[each]]
        lacking = [each for each in open_to if drawn[each] < FEWEST_OF_A_STRATUM]
        taker = min(lacking or open_to, key=lambda each: (drawn[each] + 0.5) / math.sqrt(sizes[each]))
        drawn[taker] += 1
    return np.array([drawn[each] / sizes[each] for each in strata], dtype=float)


def drawn_within(strata: Sequence[Hashable], probabilities: FloatArray, order: Sequence[int]) -> list[int]:
    """Return the drawn units, ascending: of each stratum the first in the given order, up to its share.

    In random order this is simple random sampling within strata.

    Args:
        strata: Of each unit.
        probabilities: (n_units,) of inclusion, as :func:`probabilities_by_stratum` has them.
        order: The units.

    >>> drawn_within("aabb", np.array([0.5, 0.5, 1.0, 1.0]), [1, 3, 0, 2])
    [1, 2, 3]
    """
    sizes = Counter(strata)
    left = {stratum: round(share * sizes[stratum]) for stratum, share in zip(strata, probabilities, strict=True)}
    found = []
    for unit in order:
        if left[strata[unit]]:
            left[strata[unit]] -= 1
            found.append(unit)
    return sorted(found)


def random_order(units: int, seed: int) -> list[int]:
    """Return the units in random order."""
    return [int(unit) for unit in np.random.default_rng(seed).permutation(units)]

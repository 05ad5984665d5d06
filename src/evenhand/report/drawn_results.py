"""What is drawn in each picture of a result: numbers that it holds already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.agreement_with_people import Confidences, confidences_of
from evenhand.judge_reliability.asked import NEITHER, SIDES, Asked, Categories
from evenhand.modes.pairwise import unscored_pairs
from evenhand.numbers import (
    Missing,
    format_bounds,
    format_count,
    format_estimate,
    format_level,
    format_number,
)
from evenhand.report.shapes import Axis, Curve, Mark, Marks, Matrix, Panel, Point, Shares, Whole
from evenhand.results.findings import Finding
from evenhand.results.outcomes import Outcomes
from evenhand.results.results import Results
from evenhand.statistics.agreement import confusion_matrix
from evenhand.statistics.intervals import Interval

MOST_ITEMS: Final = 50
"""Of a checklist: of more, those that pass the least."""

MOST_MARKS: Final = 240
"""Rows of a panel."""

MOST_IN_A_MATRIX: Final = 16
"""Systems: of more, the best."""

NA: Final = "not applicable"
NONE: Final = "no verdict"
HALF: Final = 0.5
UNIT: Final = (0.0, 1.0)

Row = TypeVar("Row")
Drawn = tuple[str, list[Panel], list[str]]
"""The title of a picture, what is in it, and what its caption says besides n, level and what is unscored."""


@dataclass(frozen=True)
class Held:
    """A result, and its numbers by their names."""

    results: Results[Any]

    @property
    def table(self) -> Any:  # noqa: ANN401 - a table of the layer above
        """The result with what its own kind has."""
        return self.results

    @cached_property
    def findings(self) -> Mapping[tuple[str, tuple[str, ...]], Finding]:
        """(Name, of whom) -> the number."""
        return {(each.name, each.of): each for each in self.results.findings()}

    @cached_property
    def outcomes(self) -> tuple[Outcomes, ...]:
        """Of each system on each criterion; none of a result without scores."""
        try:
            return self.results.outcomes()
        except InvalidInputError:
            return ()

    @cached_property
    def labelled(self) -> Mapping[str, tuple[Criterion, list[Asked]]]:
        """Criterion -> the questions with a label of a person."""
        found: dict[str, tuple[Criterion, list[Asked]]] = {}
        clusters: dict[object, int] = {}
        for cell, asked in zip(self.results.cells(), self.results.asked(), strict=True):
            if asked.gold is None or not cell.votes:
                continue
            criterion = self.table.criterion if asked.compares else self.results.criterion_of(cell)
            if asked.compares:
                label = asked.judged.index(asked.gold) if asked.gold in asked.judged else NEITHER
            else:
                label = criterion.index_of(asked.gold)
            row, together = cell.about["instance"], cell.about.get("cluster")
            number = None if together is None else clusters.setdefault(together, len(clusters))
            own = found.setdefault(criterion.name, (criterion, []))[1]
            own.append(Asked(row, asked.verdict, label, cluster=number))
        return found

    def named(self, name: str, width: int = 1) -> list[Finding]:
        """The numbers of this name, of so many systems or of the whole."""
        return [each for (own, of), each in self.findings.items() if own == name and len(of) in {0, width}]


def _mark(name: str, found: Finding, heading: str = "") -> Mark:
    """A number on an axis; its bounds where these lead."""
    return Mark.of(name, found.value, found.kind, leading=found.bounds, heading=heading)


def _intervals_note(found: Sequence[Finding]) -> list[str]:
    """The level and the method of intervals, on how much they rest where that is not all rows."""
    values = (getattr(each.value, "interval", each.value) for each in found)
    made = [value for value in values if isinstance(value, Interval)]
    if not made:
        return []
    methods = ", ".join(dict.fromkeys(each.method.replace("_", " ") for each in made))
    counts = sorted({each.n for each in found if each.n is not None})
    rest = f", on {format_count(counts[0])} to {format_count(counts[-1])} each" if len(counts) > 1 else ""
    alone = f", on {format_count(counts[0])} each" if len(counts) == 1 else ""
    level = format_level(made[0].level)
    return [f"Points are estimates, lines {level} intervals ({methods}){rest}{alone}."]


def _bounds_note(marks: Iterable[Mark]) -> list[str]:
    said = (
        "Hatched: the bounds of a score, where too many votes are unscored for its mean to lead, with the interval "
        "around both."
    )
    return [said] if any(mark.bounds is not None for mark in marks) else []


def _marks(axis: Axis, marks: Sequence[Mark], title: str = "") -> Marks:
    """Marks on an axis that goes as far beyond its ends as they do."""
    numbers = [number for mark in marks for number in mark.numbers]
    return Marks(title, axis.over(numbers), tuple(marks))


def _most(rows: Sequence[Row]) -> tuple[Sequence[Row], list[str]]:
    """As many as can be looked at, and a word on the others."""
    if len(rows) <= MOST_MARKS:
        return rows, []
    return rows[:MOST_MARKS], [f"Shown are the first {format_count(MOST_MARKS)} of {format_count(len(rows), 'row')}."]


def _scores(held: Held) -> Drawn | None:
    """The score of each system, in a panel for each range of scores."""
    ranges: dict[tuple[float, float], dict[str, list[Finding]]] = {}
    for each in held.outcomes:
        found = held.findings.get((each.criterion, (each.system,))) or held.findings.get((each.criterion, ()))
        if found is not None:
            ranges.setdefault(each.bounds, {}).setdefault(each.criterion, []).append(found)
    if not ranges and (graded := [each for (name, _), each in held.findings.items() if name == "grade_score"]):
        ranges = {UNIT: {"Grade Score": graded}}
    if not ranges:
        return None
    panels: list[Panel] = []
    notes: list[str] = []
    every = [each for names in ranges.values() for own in names.values() for each in own]
    for span, names in ranges.items():
        alone = len(names) == 1
        marks, more = _most([mark for name, own in names.items() for mark in _of_score(name, own, alone=alone)])
        label = f"score ({next(iter(names))})" if alone else "score"
        panels.append(_marks(Axis(label, *span), marks))
        notes += [*_bounds_note(marks), *more]
    listed = ", ".join(dict.fromkeys(name for names in ranges.values() for name in names))
    return f"Scores on {listed}", panels, [*_intervals_note(every), *dict.fromkeys(notes)]


def _of_score(name: str, found: Sequence[Finding], *, alone: bool = False) -> Iterator[Mark]:
    """A row for each system, beneath the name of the score where there are several; of one system it names the row."""
    headed = len(found) > 1 and not alone
    for each in found:
        system = ", ".join(each.of) if headed or alone else ""
        yield _mark(system or name, each, name if headed else "")


def _winrates(held: Held) -> Drawn | None:
    """Each system, best first, with its rank."""
    found = [each for each in held.named("winrate") if each.of]
    if not found:
        return None
    marks, notes = _most([_mark(each.of[0], each) for each in found])
    panels: list[Panel] = [_marks(Axis("winrate", *UNIT, reference=HALF), marks)]
    notes = [*_intervals_note(found), *_bounds_note(marks), *notes]
    against_all = [each for each in held.named("field_winrate") if each.value]
    if against_all:
        own = [_mark(each.of[0], each) for each in against_all]
        panels.append(_marks(Axis("winrate", *UNIT, reference=HALF), own, "Expected against all the others"))
        notes.append("Not all met equally often: winrates above are over unequal opponents.")
    return f"{held.table.rate_name.capitalize()}s", panels, ["Dashed: as many won as lost.", *notes]


def _ranks(held: Held) -> Drawn | None:
    """Each system, best first, with the ranks that the tests leave open."""
    found = held.named("rank")
    if not found:
        return None
    marks, notes = _most([_rank(held, each) for each in found])
    axis = Axis("rank (1 is best)", HALF, len(found) + HALF, "count")
    level = format_level(held.results.parameters["level"])
    said = f"Lines: the ranks that the tests leave open at the {level} level, p corrected for all pairs."
    return "Ranks", [Marks("", axis, tuple(marks))], [said, *notes]


def _rank(held: Held, found: Finding) -> Mark:
    low, high = (held.findings[f"rank_ci_{side}", found.of].value for side in ("low", "high"))
    if not isinstance(found.value, int) or not isinstance(low, int) or not isinstance(high, int):
        return _mark(found.of[0], found)
    text = f"{format_count(found.value)} [{format_count(low)}, {format_count(high)}]"
    return Mark(found.of[0], text, float(found.value), (float(low), float(high)))


def _matrix(held: Held) -> Drawn | None:
    """How often each system beats each other one, best first."""
    systems = [each.of[0] for each in held.named("winrate") if each.of]
    if len(systems) < 2 or not hasattr(held.results, "ranking"):
        return None
    shown = systems[:MOST_IN_A_MATRIX]
    ranking, contests = held.table.ranking, [entry.contest for entry in held.table.scored_entries]
    leading = unscored_pairs(contests, ranking.pairs, reduction=held.table.reduction, level=ranking.level)
    values: dict[tuple[str, str], float | None] = {}
    texts: dict[tuple[str, str], str] = {}
    for pair in ((first, second) for first in shown for second in shown if first != second):
        found = held.findings["winrate", pair].value
        values[pair] = found.estimate if isinstance(found, Interval) else None
        texts[pair] = format_estimate(found if isinstance(found, (Interval, Missing)) else None)
    for (first, second), bounds in leading.items():
        for pair, ends in (
            ((first, second), (bounds.low, bounds.high)),
            ((second, first), (1 - bounds.high, 1 - bounds.low)),
        ):
            if pair in values:
                values[pair], texts[pair] = None, format_bounds(*ends)
    grid = [[(row, column) for column in shown] for row in shown]
    panel = Matrix(
        title="",
        names=tuple(shown),
        columns=tuple(shown),
        values=tuple(tuple(values.get(pair) for pair in row) for row in grid),
        texts=tuple(tuple(texts.get(pair, "") for pair in row) for row in grid),
        across="against the column's",
        down="the row's system",
        middle=HALF,
    )
    rate = held.table.rate_name.capitalize()
    notes = [f"{rate} of the system of the row against that of the column, best first; a tie counts half."]
    if leading:
        notes.append("Where too many votes are unscored, bounds replace the winrate, without a shade.")
    if len(shown) < len(systems):
        notes.append(f"Shown are the best {format_count(len(shown))} of {format_count(len(systems), 'system')}.")
    return "Who beats whom", [panel], notes


_FLIPS: Final = {
    "positional_bias": "changes with the order",
    "judge_flip_rate": "each judge's changes with the order",
}
_STUCK: Final = {"first_shown_preference": "chooses what is shown first"}
_SHARES_OF_AGREEMENT: Final = {
    "agreement": "votes that equal the verdict",
    "percent_agreement": "judges that agree",
    "accuracy": "same option selected",
    "gold_agreement": "verdicts that equal gold",
}
_COEFFICIENTS: Final = {"krippendorff_alpha": "Krippendorff's alpha", "cohen_kappa": "Cohen's kappa"}


def _flips(held: Held) -> Drawn | None:
    """How often the order in which things are shown changes what a judge says."""
    asked = Axis("share of the questions", *UNIT, "share")
    stuck = Axis("share of those in which it keeps to one place", *UNIT, "share", HALF)
    return named_marks(held.findings.values(), "Position flips", [(asked, _FLIPS), (stuck, _STUCK)])


def _agreement(held: Held) -> Drawn | None:
    """How far votes, judges, raters and gold agree."""
    shares = Axis("share", *UNIT, "share")
    coefficients = Axis("coefficient (0 is chance)", *UNIT, "number", 0.0)
    return named_marks(
        held.findings.values(), "Agreement", [(shares, _SHARES_OF_AGREEMENT), (coefficients, _COEFFICIENTS)]
    )


def named_marks(
    findings: Collection[Finding], title: str, wanted: Sequence[tuple[Axis, Mapping[str, str]]]
) -> Drawn | None:
    """Panels of all numbers whose names end in certain words; what is missing for all is left out."""
    panels: list[Panel] = []
    every: list[Finding] = []
    notes: list[str] = []
    for axis, words in wanted:
        found = [(each, named) for each in findings if (named := _ends_in(each, words)) is not None]
        known = {heading for each, (heading, _) in found if not isinstance(each.value, Missing)}
        found = sorted((pair for pair in found if pair[1][0] in known), key=lambda pair: pair[1][0])
        if not found:
            continue
        marks, more = _most([_mark(row, each, heading) for each, (heading, row) in found])
        panels.append(_marks(axis, marks))
        every += [each for each, _ in found]
        notes += more
    return (title, panels, [*_intervals_note(every), *notes]) if panels else None


def _ends_in(found: Finding, words: Mapping[str, str]) -> tuple[str, str] | None:
    """What a number stands beneath, and the name of its row; None for another one."""
    for word, said in words.items():
        score, named, rest = f".{found.name}".partition(f".{word}")
        if (
            named
            and (not rest or rest.startswith("_"))
            and not rest.endswith(("p_value", "if_unscored_0", "if_unscored_1"))
        ):
            heading = ", ".join(filter(None, (said, score.strip("."))))
            whose = ", ".join(filter(None, (" – ".join(found.of), rest[1:].replace("_vs_", " – "))))
            return (heading, whose) if whose else ("", heading)
    return None


def _levels(held: Held) -> Drawn | None:
    """What was selected: how often each level, the best first, and how often none."""
    by_labels: dict[tuple[str, ...], list[Outcomes]] = {}
    for each in held.outcomes:
        if each.labels and not each.criterion.startswith("against "):
            by_labels.setdefault(_best_first(each), []).append(each)
    panels: list[Panel] = []
    notes: list[str] = []
    for labels, own in by_labels.items():
        criteria, systems = sorted({each.criterion for each in own}), {each.system for each in own}
        na = any(row.na for each in own for row in each.rows)
        shown, more = _most(own)
        parts = (*labels, *([NA] if na else []), NONE)
        wholes = tuple(Whole(_whose(each, criteria, systems), _counts(each, parts)) for each in shown)
        title = ", ".join(criteria) if len(criteria) < 3 else f"{format_count(len(criteria))} questions"
        panels.append(Shares(title, parts, len(parts) - len(labels), wholes))
        notes += more
    said = "The share of each level among all rows; hatched are those without a verdict."
    return ("Distribution of levels", panels, [said, *notes]) if panels else None


def _best_first(found: Outcomes) -> tuple[str, ...]:
    """The labels by their values, where they have some."""
    if None in found.values:
        return found.labels
    return tuple(
        label for _, label in sorted(zip(found.values, found.labels, strict=True), key=lambda each: -(each[0] or 0))
    )


def _whose(found: Outcomes, criteria: Collection[str], systems: Collection[str]) -> str:
    """What tells a bar apart from the others."""
    criterion = found.criterion if len(criteria) > 1 else ""
    system = found.system if len(systems) > 1 or not criterion else ""
    return ", ".join(filter(None, (criterion, system))) or found.criterion


def _counts(found: Outcomes, parts: Sequence[str]) -> tuple[int, ...]:
    counts = Counter(NA if row.na else NONE if row.selected is None else row.selected for row in found.rows)
    return tuple(counts[part] for part in parts)


def _calibration(held: Held) -> Drawn | None:
    """The probabilities that judges gave to what they selected, against how often people say the same."""
    level = held.results.parameters["level"]
    return curves(
        (name, confidences_of(asked, Categories(criterion), level=level))
        for name, (criterion, asked) in held.labelled.items()
    )


def curves(named: Iterable[tuple[str, Confidences | Missing]]) -> Drawn | None:
    """A reliability diagram for each."""
    known = [(name, each) for name, each in named if not isinstance(each, Missing)]
    if not known:
        return None
    across, up = Axis("probability stated", *UNIT), Axis("share that gold confirms", *UNIT)
    panels: list[Panel] = []
    notes = ["On the dashed line, what is said with 80 % comes true in 80 %."]
    for name, each in known:
        bins, error = each.calibration.bins, each.calibration.expected_calibration_error
        points = tuple(Point(one.mean_confidence, Mark.of("", one.accuracy, "score"), one.n) for one in bins)
        panels.append(Curve(name, across, up, points))
        notes.append(f"{name}: {format_count(each.num_votes, 'vote')}, calibration error {format_number(error)}.")
    notes.append(f"Lines: {format_level(known[0][1].calibration.level)} intervals over clusters.")
    return "Calibration against gold", panels, notes


def _gold(held: Held) -> Drawn | None:
    """What people say against what was selected, together for criteria of the same labels."""
    systems: Sequence[str] = getattr(held.results, "systems", ())
    sides = (systems[0], systems[1]) if len(systems) == 2 else SIDES
    by_labels: dict[tuple[str, ...], tuple[list[str], Categories, list[Asked]]] = {}
    for name, (criterion, questions) in held.labelled.items():
        categories = Categories(criterion, sides)
        names, _, own = by_labels.setdefault(categories.scale.labels, ([], categories, []))
        names.append(name)
        own += questions
    panels: list[Panel] = []
    for labels, (names, categories, own) in by_labels.items():
        scale = categories.scale
        people = scale.as_places([question.label for question in own])
        judged = scale.as_places([categories.of_verdict(question.verdict) for question in own])
        counts = confusion_matrix(people, judged, len(labels))[:-1]  # the last row is of what nobody labelled
        title = ", ".join(names) if len(names) < 3 else f"{format_count(len(names))} questions"
        panels.append(
            Matrix(
                title=title,
                names=labels,
                columns=(*labels, NONE),
                values=tuple(tuple(count / sum(row) if sum(row) else None for count in row) for row in counts),
                texts=tuple(tuple(map(format_count, row)) for row in counts),
                across="verdicts",
                down="people",
            )
        )
    said = "How many of what people chose (rows) was selected as what (columns); shades are shares of the row."
    return ("Verdicts against gold", panels, [said]) if panels else None


def _items(held: Held) -> Drawn | None:
    """The pass rate of each item of a checklist."""
    rates: dict[str, list[Finding]] = {}
    for each in held.findings.values():
        if each.name.startswith("item.") and each.name.endswith(".pass_rate"):
            rates.setdefault(each.name.removeprefix("item.").removesuffix(".pass_rate"), []).append(each)
    if not rates:
        return None
    names, notes = list(rates), []
    if len(names) > MOST_ITEMS:
        names = sorted(names, key=lambda name: min(_passed(each) for each in rates[name]))[:MOST_ITEMS]
        notes = [f"Shown are the {format_count(MOST_ITEMS)} of {format_count(len(rates), 'item')} that pass the least."]
    marks, more = _most([mark for name in names for mark in _of_score(name, rates[name])])
    shown = [each for name in names for each in rates[name]]
    panel = _marks(Axis("pass rate", *UNIT), marks)
    return "Pass rate of each item", [panel], [*_intervals_note(shown), *notes, *more]


def _passed(found: Finding) -> float:
    """How often an item is passed; one that nobody answered comes last."""
    estimate = _mark("", found).estimate
    return float("inf") if estimate is None else estimate


PICTURES: Final[Mapping[str, Callable[[Held], Drawn | None]]] = {
    "scores": _scores,
    "winrates": _winrates,
    "ranks": _ranks,
    "matrix": _matrix,
    "items": _items,
    "levels": _levels,
    "flips": _flips,
    "agreement": _agreement,
    "gold": _gold,
    "calibration": _calibration,
}
"""Short name -> what draws it; in the order in which they are looked at."""

"""The numbers that gates name: findings of a result, of a group of its rows, and those that labels correct."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final, Literal, NoReturn, get_args

from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.labels.correct import CorrectedScores
from evenhand.labels.people import holds_labels
from evenhand.numbers import Missing, format_number
from evenhand.report.gate_expressions import Expression, GateComparison, Limit, Named, comparisons_in
from evenhand.results.compare import RunComparison
from evenhand.results.findings import Finding
from evenhand.results.gate_names import CORRECTED, in_brackets, spelled
from evenhand.results.measures import Kind
from evenhand.results.results import Results

Aspect = Literal["estimate", "low", "high", "n", "unscored", "unscored_verdicts"]
COUNTED: Final = frozenset({"n", "unscored", "unscored_verdicts"})
"""What is counted of a measure, and not estimated."""

Ranges = Mapping[str, tuple[float, float]]
EVERY: Final = "*"
CLOSE: Final = 1e-9
"""Numbers so near are the same: a mean of 0.7 may be a last digit off."""

TWO_NUMBERS: Final = Missing("two numbers are called so: give what is judged by another name")
SYSTEM: Final = ("", "system")

Open = tuple[str, str]
"""What a gate leaves open: ``SYSTEM``, the other one of a pair, or the group of a column."""

Bound = Mapping[Open, Any]
"""What stands for it."""

Findings = Mapping[str, Mapping[tuple[str, ...], Finding]]
"""Name -> whose -> the number."""


@dataclass(frozen=True, slots=True)
class GateReading:
    """A number that a gate names, once all is chosen that it leaves open.

    Attributes:
        finding: What it is of.
        aspect: What of that.
        group: Column -> group of the rows that it is of.
        corrected: By labels of people, whose number is its n.
        deviation: The standard deviation of one draw of the score, where prompts were drawn more than once.
        draws: So often.
    """

    finding: Finding
    aspect: Aspect
    group: Mapping[str, str]
    corrected: bool = False
    deviation: float | None = None
    draws: int = 1

    @property
    def kind(self) -> Kind:
        """What kind of number it is."""
        return {"n": "count", "unscored": "share", "unscored_verdicts": "share"}.get(self.aspect, self.finding.kind)  # type: ignore[return-value]

    @property
    def number(self) -> float | Missing:
        """The number, or why there is none."""
        value = self.finding.value
        if self.aspect in COUNTED:
            return _counted(self.finding, self.aspect)
        if isinstance(value, (Missing, int, float)):
            return value
        return float(getattr(value, self.aspect))


def _counted(finding: Finding, aspect: str) -> float | Missing:
    if aspect == "n":
        return Missing("on how many rows it rests is not counted") if finding.n is None else finding.n
    if finding.unscored is None:
        return Missing("its unscored votes are not counted")
    return finding.unscored.share if aspect == "unscored" else finding.unscored.verdict_share


@dataclass(frozen=True)
class GateEvidence:
    """What gates are checked against; each part is made when a gate asks for it.

    Attributes:
        results: What was judged, or what changed between two runs.
        gold: Labels of people, as :func:`evenhand.correct` takes them; those that the result holds, if None.
        design: How the labelled rows were chosen.
        data: The rows that were judged, where the result keeps no column of groups.
        corrected: The corrected scores, where they are known already.
    """

    results: Results[Any] | RunComparison
    gold: object = None
    design: str | None = None
    data: object = None
    corrected: CorrectedScores | None = None
    _made: dict[Any, Any] = field(default_factory=dict)

    def bindings(self, expression: Expression) -> Iterator[Bound]:
        """All that a gate stands for: a choice of system, of pair and of group for each that it leaves open.

        Raises:
            InvalidInputError: A name that the result does not have, or a number in other units.
        """
        measures = [named for comparison in comparisons_in(expression) for named in comparison.measures]
        choices = self._choices(measures)
        alike = len({frozenset(dict(named.where)) for named in measures if named.where}) == 1
        every = [named for named in measures if alike and EVERY in dict(named.where).values()]
        told = False
        for chosen in product(*choices.values()):
            bound = dict(zip(choices, chosen, strict=True))
            if every and not any(self._rows_of(_group(named, bound)) for named in every):
                continue  # of groups without rows there is nothing to say; what else is named stands beside others too
            for comparison in comparisons_in(expression):
                self._check(comparison, bound)
            told = True
            yield bound
        if not told:
            raise InvalidInputError(f"the gate names {every[0].text!r}, and no row is of such groups")

    def _choices(self, measures: Sequence[Named]) -> dict[Open, dict[Any, None]]:
        """What a gate leaves open, and all that may stand there."""
        choices: dict[Open, dict[Any, None]] = {}
        for named in measures:
            if len(dict(named.where)) < len(named.where):
                raise InvalidInputError(f"the gate names {named.text!r}, a column twice: a row is of one group")
            for column, group in named.where:
                groups = self._groups(column, group)
                if group == EVERY:
                    choices[EVERY, column] = dict.fromkeys(groups)
            key, values = self._left_open(named)
            if key is not None:
                choices.setdefault(key, {}).update(dict.fromkeys(values))
        return choices

    def reading(self, named: Named, bound: Bound) -> GateReading:
        """The number that a measure names.

        Args:
            named: As it was written.
            bound: What stands for what it leaves open.
        """
        name, aspect, corrected = self._resolved(named)
        group = _group(named, bound)
        key, _ = self._left_open(named)
        of = named.of if key is None else (bound[key],) if key == SYSTEM else bound[key]
        found = self._corrected(group) if corrected else self._findings(group)
        finding = Finding(name, of, found, "score") if isinstance(found, Missing) else found.get(name, {}).get(of)
        if finding is None:
            nothing = Missing(f"there is no {name} of {' and '.join(of)}" if of else f"there is no {name}")
            finding = Finding(name, of, nothing, "score")
        if corrected or isinstance(found, Missing):
            return GateReading(replace(finding, name=f"corrected {name}"), aspect, group, corrected)
        draws = self.results.parameters.get("grid", {}).get("samples", 1)
        return GateReading(finding, aspect, group, corrected, _deviation(found, name, of), draws)

    # What a name means

    def _resolved(self, named: Named) -> tuple[str, Aspect, bool]:
        """The name of the finding, what of it, and whether it is corrected."""
        names = self._findings({})
        path = named.path
        corrected = CORRECTED in path[1:]
        if corrected:
            place = path.index(CORRECTED, 1)
            path = (*path[:place], *path[place + 1 :])
        for parts, aspect in ((path, "estimate"), (path[:-1], path[-1])):
            name = ".".join(parts)
            if aspect in get_args(Aspect) and name in names:
                return name, aspect, corrected  # type: ignore[return-value] # it is one
        given, known = ".".join(path), list(names)
        near = [each for name in map(spelled, known) for each in (name, f"{name}.low", f"{name}.high")]
        hint = did_you_mean(given, near)
        raise InvalidInputError(
            f"the gate names {named.text!r}, which this result does not have. {hint.partition('Accepted')[0]}It has "
            f"{_listed(known)}; and of each .low, .high, .n, .unscored and .unscored_verdicts, where they exist"
        )

    def _left_open(self, named: Named) -> tuple[Open | None, Sequence[Any]]:
        """What of whose it is a measure leaves open, and all that may stand there; None for nothing."""
        name, _, _ = self._resolved(named)
        found = self._findings({})[name]
        whose = list(found)
        if not named.of and () in found and len({each.kind for each in found.values()}) > 1:
            refuse_two_meanings(named)
        if named.of in whose:
            return None, ()
        singles = [of[0] for of in whose if len(of) == 1]
        if not named.of and singles:
            return SYSTEM, singles
        began = [of for of in whose if named.of and of[: len(named.of)] == named.of]
        if began:
            return ("pair", named.text), began
        if not named.of:
            one, other = whose[0]
            raise InvalidInputError(
                f"the gate names {named.text!r}, which is of two systems: name them, as {spelled(name)}"
                f"{in_brackets([one, other])}"
            )
        if whose == [()]:
            raise InvalidInputError(
                f"the gate names {named.text!r}, and {name} is of the whole: leave the brackets out"
            )
        accepted = [of for of in whose if len(of) == len(named.of)] or whose
        given, *known = (in_brackets(of)[1:-1] for of in (named.of, *accepted))
        raise InvalidInputError(
            f"the gate names {named.text!r}, and there is no {name} of {given!r}. {did_you_mean(given, known)}"
        )

    def _groups(self, column: str, group: str) -> list[str]:
        """The groups of a column that a gate names: one, or with * each."""
        known = list(dict.fromkeys(filter(None, self._group_of(column))))
        if not known:
            raise InvalidInputError(f"the gate names {column}={group}, and no row has anything in {column!r}")
        if group == EVERY:
            return known
        if group not in known:
            raise InvalidInputError(
                f"the gate names {column}={group}, and no row has {group!r} there. {did_you_mean(group, known)}"
            )
        return [group]

    def _check(self, comparison: GateComparison, bound: Bound) -> None:
        """Check that a measure has what of it is compared, and that a share is compared with one."""
        readings = [self.reading(named, bound) for named in comparison.measures]
        for named, reading in zip(comparison.measures, readings, strict=True):
            value = reading.finding.value
            if reading.aspect in {"low", "high"} and isinstance(value, (int, float)):
                raise InvalidInputError(
                    f"the gate names {named.text!r}, and {reading.finding.name} is a number without an interval: leave "
                    f".{reading.aspect} out"
                )
        limits = [each for each in (comparison.left, comparison.right) if isinstance(each, Limit)]
        for limit, reading in zip(limits, readings, strict=False):
            name = reading.finding.name.removeprefix(f"{CORRECTED} ")
            share = reading.kind in {"share", "p_value"}
            _check_limit(comparison.measures[0], limit, _range_of(name, reading.aspect, self._ranges), share=share)

    @property
    def _ranges(self) -> Ranges:
        """The name of each score of the result -> its range."""
        if "ranges" not in self._made:
            found: dict[str, tuple[float, float]] = {}
            if isinstance(self.results, RunComparison):
                found = self.results.ranges()
            elif isinstance(self.results, Results):
                found = dict(self.results.further_ranges)
            if isinstance(self.results, Results) and self.results.labelled_by:
                for each in self.results.outcomes():
                    name = _winrate_of(each.criterion, (each.system,), self.results)[0]
                    low, high = found.get(name, each.bounds)
                    found[name] = min(low, each.bounds[0]), max(high, each.bounds[1])
            self._made["ranges"] = found
        ranges: Ranges = self._made["ranges"]
        return ranges

    # Where numbers come from

    def _findings(self, group: Mapping[str, str]) -> Findings:
        key = ("findings", *group.items())
        if key not in self._made:
            part = self._part(group)
            self._made[key] = {} if part is None else _by_name(part.findings())
        found: Findings = self._made[key]
        return found

    def _part(self, group: Mapping[str, str]) -> Results[Any] | RunComparison | None:
        """The result of the rows of a group; None where there are none."""
        if not group or not isinstance(self.results, Results):
            return self.results
        present = {cell.about["instance"] for cell in self.results.cells()}
        kept = [row for row in self._rows_of(group) if row in present]
        return self.results.filter(instance=kept) if kept else None

    def _rows_of(self, group: Mapping[str, str]) -> list[int]:
        """The rows of the data that are of a group, judged or not."""
        columns = [(self._group_of(column), value) for column, value in group.items()]
        return [row for row in range(len(columns[0][0])) if all(names[row] == value for names, value in columns)]

    def _group_of(self, column: str) -> Sequence[str | None]:
        if isinstance(self.results, RunComparison):
            raise InvalidInputError(
                f"the gate names groups of {column!r}, and a comparison of two runs has none: filter both runs first"
            )
        if column not in self._made:
            self._made[column] = self.results.group_of(column, self.data)
        names: Sequence[str | None] = self._made[column]
        return names

    def _corrected(self, group: Mapping[str, str]) -> Findings | Missing:
        """The scores that people would give, under the names of those of the judge."""
        key = (CORRECTED, *group.items())
        if key not in self._made:
            part = self._part(group)
            if not group and self.corrected is not None:
                self._made[key] = corrected_findings(self.corrected, part)
            elif part is None:
                self._made[key] = Missing("no row is of the group")
            elif isinstance(part, RunComparison):
                self._made[key] = Missing("a comparison of two runs is not corrected")
            elif self.gold is None and not holds_labels(part):
                self._made[key] = Missing("there are no labels of people: give gold=…, in the shell --gold")
            else:
                self._made[key] = corrected_findings(part.correct(self.gold, design=self.design), part)
        found: Findings | Missing = self._made[key]
        return found


def _group(named: Named, bound: Bound) -> dict[str, str]:
    """The group of rows that a measure is of: column -> what stands there."""
    return {column: bound[EVERY, column] if group == EVERY else group for column, group in named.where}


def check_known_limits(comparison: GateComparison, ranges: Ranges) -> None:
    """Check before there is a result that a limit can be reached, where the range of what it is for is known.

    Args:
        comparison: Of a gate.
        ranges: Name of a score -> its range.

    Raises:
        InvalidInputError: If it cannot.
    """
    limits = [each for each in (comparison.left, comparison.right) if isinstance(each, Limit)]
    for named, limit in zip(comparison.measures, limits, strict=False):
        whole = ".".join(each for place, each in enumerate(named.path) if not place or each != CORRECTED)
        score, _, aspect = whole.rpartition(".")
        name = score if (of_it := aspect in get_args(Aspect) and whole not in ranges) else whole
        within = _range_of(name, aspect if of_it else "estimate", ranges)
        _check_limit(named, limit, within, share=of_it and aspect in COUNTED - {"n"})


def refuse_two_meanings(named: Named) -> NoReturn:
    """Say what to write where a criterion or checklist is called as a share of the whole is."""
    raise InvalidInputError(
        f"the gate names {named.text!r}, which is the share of the whole and the name of a score: name the system of "
        f"the score, as {spelled(named.path[0])}[SYSTEM], and limit unscored votes by max_unscored, in the "
        "shell --max-unscored"
    )


def _check_limit(named: Named, limit: Limit, within: tuple[float, float], *, share: bool) -> None:
    if share and not 0 <= limit.value <= 1:
        raise InvalidInputError(
            f"the gate compares {named.text!r}, a share from 0 to 1, with {limit.text}: write 2 % or 0.02 for two in a "
            "hundred"
        )
    low, high = within
    if not low - CLOSE <= limit.value <= high + CLOSE:
        raise InvalidInputError(
            f"the gate compares {named.text!r}, which lies between {format_number(low)} and {format_number(high)}, "
            f"with {limit.text}: it would always come out the same. Give a limit in its units"
        )


def _range_of(name: str, aspect: str, ranges: Ranges) -> tuple[float, float]:
    """Between which numbers a score, or a difference of scores, can lie; any where that is not known."""
    score, dot, kind = name.rpartition(".")
    between = bool(dot) and kind in {"difference", "change"} and name not in ranges
    low, high = ranges.get(score if between else name, (-math.inf, math.inf))
    if aspect in COUNTED or math.inf in {-low, high}:
        return -math.inf, math.inf
    return (low - high, high - low) if between else (low, high)


def _deviation(found: Findings, name: str, of: tuple[str, ...]) -> float | None:
    """The standard deviation of one draw of a score; None where nothing was drawn twice."""
    for begin in ("", "overall_"):
        finding = found.get(f"{name}.{begin}draw_deviation", {}).get(of)
        if finding is not None and not isinstance(finding.value, (Missing, int, float)):
            return finding.value.estimate
    return None


def corrected_findings(scores: CorrectedScores, results: object = None) -> Findings:
    """Corrected scores as findings, under the names of those of the judge.

    Args:
        scores: With their names.
        results: What was judged, whose findings have other names where systems were compared.
    """
    found = []
    for one in scores.scores:
        name, of = _winrate_of(_named(one.criterion, one.option), (one.system,), results)
        found.append(Finding(name, of, one.corrected, "score", one.num_labelled))
    for each in scores.differences:
        name = f"{_winrate_of(_named(each.criterion, each.option), (), results)[0]}.difference"
        back = each.corrected if isinstance(each.corrected, Missing) else each.corrected.subtracted_from(0.0)
        found.append(Finding(name, (each.first, each.second), each.corrected, "difference", each.num_labelled))
        found.append(Finding(name, (each.second, each.first), back, "difference", each.num_labelled))
    return _by_name(found)


def _winrate_of(name: str, of: tuple[str, ...], results: object) -> tuple[str, tuple[str, ...]]:
    """What a score of a comparison is called among findings, and whose it is: a winrate, of one system or of two."""
    if not isinstance(results, Results) or results.labelled_by != ("first", "second"):
        return name, of
    against = name.removeprefix("against ")
    return "winrate", of if against == name or not of else (*of, against)


def _named(criterion: str, option: str | None) -> str:
    return criterion if option is None else f"{criterion}.{option}"


def _listed(names: Sequence[str]) -> str:
    """Names of findings, those together that go on in the same ways.

    >>> _listed(["unscored", "clarity", "clarity.calls", "tone", "tone.calls"])
    'unscored; clarity, tone, and of these .calls'
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for begin in (name for name in names if not any(name.startswith(f"{one}.") for one in names)):
        ends = tuple(name.removeprefix(begin) for name in names if name.startswith(f"{begin}."))
        alike.setdefault(ends, []).append(spelled(begin))
    told = {ends: f", and of {'these' if len(begun) > 1 else 'it'} {', '.join(ends)}" for ends, begun in alike.items()}
    return "; ".join(", ".join(begun) + (told[ends] if ends else "") for ends, begun in alike.items())


def _by_name(findings: Sequence[Finding]) -> Findings:
    found: dict[str, dict[tuple[str, ...], Finding]] = {}
    for each in findings:
        own = found.setdefault(each.name, {})
        same = own.setdefault(each.of, each)
        if (same.kind, same.value) != (each.kind, each.value):
            own[each.of] = replace(same, value=TWO_NUMBERS, bounds=None)
    return found

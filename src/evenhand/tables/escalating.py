"""Judging by a plan: a cheap judge first, a stronger one for what it is unsure of, and a list of what is for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from evenhand.data.cells import is_abstention
from evenhand.data.rows import Row, read_rows
from evenhand.engines.unitxt import judges_of, listed
from evenhand.errors import InvalidInputError
from evenhand.labels.confidence import questions_of
from evenhand.labels.escalation import EscalationPlan, escalation
from evenhand.labels.people import Labels, as_judge, read_gold
from evenhand.numbers import format_cost, format_count, format_percent
from evenhand.results.outcomes import QuestionName
from evenhand.results.render import PrintedTables, TextTable
from evenhand.results.results import Results, named_row
from evenhand.results.votes_columns import Cell
from evenhand.tables.assessing import judge
from evenhand.tables.comparing import winrates
from evenhand.unitxt.catalogs import resolve
from evenhand.unitxt.loading import kind_of, load_comparison, load_criterion, load_rubric
from evenhand.votes import Usage, Vote, total_usage

PEOPLE: Final = "people"
_NO_SYSTEMS: Final = (
    "the plan is of winrates: name the columns of the systems, systems=['gpt', 'llama'], one column each"
)


@dataclass(frozen=True)
class Escalated(PrintedTables):
    """The result of :func:`escalate`.

    Attributes:
        results: One result, in which each question has the votes of the judge that decided it; what is left to people
            has none that was read, and is unscored.
        plan: By which it was judged.
        decided_by: Question -> place of the judge that decided it, from 0; the number of judges for people.
        usage: What each judge consumed.
        asked: How many questions each judge was asked.
        void: Why the promise does not hold, where it does not.
    """

    results: Results[Any]
    plan: EscalationPlan
    decided_by: Mapping[QuestionName, int]
    usage: tuple[Usage, ...]
    asked: tuple[int, ...]
    void: tuple[str, ...] = ()

    @property
    def for_people(self) -> tuple[dict[str, Any], ...]:
        """What is left to people, a row a question: ``instance``, ``id`` where rows have some, and what else names it.

        With a column ``label`` beside them these are labels that :meth:`with_labels` takes.
        """
        left = [name for name, stage in self.decided_by.items() if stage == len(self.plan.judges)]
        return tuple(self._named(name) for name in left)

    def _named(self, name: QuestionName) -> dict[str, Any]:
        row = {"instance": name[0], **dict(zip(self.results.labelled_by, name[1:], strict=True))}
        return named_row(row, self.results.ids) if self.results.ids else row

    def records(self) -> Iterator[dict[str, Any]]:
        """A row a question: what names it, who decided it, and what was selected."""
        chosen = {
            row.questions[0]: row.selected
            for outcomes in reversed(self.results.outcomes())
            for row in outcomes.rows
            if outcomes.labels and len(row.questions) == 1
        }
        names = [*(each.name for each in self.plan.judges), PEOPLE]
        for name, stage in self.decided_by.items():
            yield {**self._named(name), "decided_by": names[stage], "selected": chosen.get(name)}

    def with_labels(self, gold: object, *, label_field: str | None = None) -> Results[Any]:
        """The result in which people decided what was left to them.

        Args:
            gold: Labels, as :func:`~evenhand.labels.people.read_gold` takes them; those of other questions do not
                count. Of several people the label that most give.
            label_field: The column with the label.

        Raises:
            InvalidInputError: Labels that cannot be read, or none.
        """
        left = {name for name, stage in self.decided_by.items() if stage == len(self.plan.judges)}
        if not left:
            return self.results
        given = read_gold(self.results, gold, label_field=label_field)
        own = Labels(tuple(each for each in given.entries if each.name in left), given.design)
        told = {self.results.question_name(cell): cell for cell in as_judge(self.results, own).cells() if cell.votes}
        cells = [told.get(self.results.question_name(cell), cell) for cell in self.results.cells()]
        return _of_cells(self.results, cells, [*self.results.parameters["judges"], *([PEOPLE] if told else [])])

    def text_tables(self) -> tuple[TextTable, ...]:
        """Who decided how much, and what it cost."""
        total = len(self.decided_by)
        rows = []
        for place, each in enumerate(self.plan.judges):
            number = sum(stage == place for stage in self.decided_by.values())
            spent = format_cost(self.usage[place].cost)
            shares = (format_count(self.asked[place]), format_count(number), format_percent(number / total))
            rows.append((each.name, *shares, format_count(self.usage[place].calls), spent))
        left = len(self.for_people)
        labels = None if self.plan.label_price is None else self.plan.label_price * left
        last = (PEOPLE, format_count(left), "", format_percent(left / total), "", format_cost(labels))
        headers = ("who", "asked", "decided", "share", "calls", "cost")
        title = f"Escalation of {format_count(total, 'question')}"
        summary = TextTable(title, headers, (*rows, last), tuple(self._notes(left)), "escalation")
        return (summary, self.results.text_tables()[0])  # what follows compares judges, which had different rows

    def _notes(self, left: int) -> Iterator[str]:
        agreement, certainty = format_percent(self.plan.agreement), format_percent(self.plan.certainty)
        if self.void:
            yield f"Nothing is promised: {'; '.join(self.void)}."
        elif left < len(self.decided_by):
            yield f"What the judges decided agrees with people in {agreement} or more, with {certainty} certainty."
        for planned in self.plan.criteria:
            if planned.abstains:
                yield f"{planned.criterion}: the plan abstains; no judge was asked, and all is left to people."
        if left:
            yield (
                f"{format_count(left, 'question')} left to people (for_people); until they are labelled (with_labels) "
                "they are unscored below, and a mean over the others is that of what judges were sure of."
            )

    def __repr__(self) -> str:
        return f"<Escalated of {format_count(len(self.decided_by), 'question')}>\n{self}"


def escalate(
    dataset: object,
    criteria: object,
    engines: Sequence[object],
    plan: EscalationPlan | str | Path | None = None,
    *,
    agreement: float | None = None,
    certainty: float = 0.9,
    design: str | None = None,
    label_price: float | None = None,
    systems: Sequence[str] | None = None,
    split: str | None = None,
    **options: Any,
) -> Escalated:
    """Judge a data set by a plan: a cheap judge first, a stronger one for the rest, people for what is left.

    Nothing is asked twice: a judge is asked only what those before it handed on, and where the plan has no threshold
    for a judge it is not asked at all. Run again, replies come from the journal.

    Args:
        dataset: As :func:`evenhand.judge` takes it, or for a plan of winrates :func:`evenhand.winrates`, with a column
            for each system.
        criteria: As these take them, and as the plan was learnt.
        engines: The judges, the cheapest first, or those of the plan in its order; a list in place of one stands for a
            panel.
        plan: What :func:`evenhand.escalation` made, or the file of it. Without one it is learnt first: every judge is
            asked about the rows that people labelled (in the columns ``gold_fields``, of winrates ``gold_field``).
        agreement: What a plan that is learnt here promises, as :func:`evenhand.escalation` takes it.
        certainty: Of that promise.
        design: How the labelled rows were chosen: ``random`` from all rows.
        label_price: US dollars a label.
        systems: Of winrates, the columns of the systems.
        split: Which split of a ``DatasetDict``.
        **options: As :func:`evenhand.judge` or :func:`evenhand.winrates` takes them: the fields, and how to judge.

    Raises:
        InvalidInputError: Judges that are not those of the plan, a plan of another kind, no label to learn one from, or
            what judging raises.
    """
    asked, rows = list(engines), read_rows(dataset, split)
    way: _Way = _Judging(rows, criteria, options) if systems is None else _Comparing(rows, criteria, options, systems)
    if plan is None:
        planned = _learnt(way, asked, agreement=agreement, certainty=certainty, design=design, label_price=label_price)
    elif agreement is not None:
        raise InvalidInputError(
            f"agreement is {agreement!r}, and the plan has a promise of its own: drop one of the two"
        )
    else:
        planned = plan if isinstance(plan, EscalationPlan) else EscalationPlan.load(plan)
    _check_engines(asked, planned, options.get("model"))
    if planned.kind == "winrates" and systems is None:
        raise InvalidInputError(_NO_SYSTEMS)
    if planned.kind != ("judgements" if systems is None else "winrates"):
        raise InvalidInputError(
            f"the plan is of {planned.kind!r}, and systems is {systems!r}: escalate takes plans that were learnt from "
            "results of judge, and with systems=… from those of winrates"
        )
    if (given := sorted(way.parts)) != (known := sorted(each.criterion for each in planned.criteria)):
        raise InvalidInputError(f"the criteria are {given!r}, and the plan was learnt on {known!r}: judge by these")
    return _Escalation(planned, way, asked).result()


def _learnt(way: _Way, engines: Sequence[object], *, agreement: float | None, **promise: Any) -> EscalationPlan:
    """The plan that the labelled rows of the data tell: every judge is asked about these.

    Raises:
        InvalidInputError: No agreement to be promised, no journal, or no labelled row.
    """
    if agreement is None:
        raise InvalidInputError(
            "there is neither a plan nor an agreement: give the plan that evenhand.escalation made, or say what is to "
            "be promised, agreement=0.9, and have people's labels in the data (gold_fields)"
        )
    if "journal" in way.options and way.options["journal"] is None:
        raise InvalidInputError(
            "journal is None, and labelled rows are judged to learn the plan, and then by it: without a journal they "
            "would be bought twice; leave the journal on, or learn the plan first, evenhand.escalation([...])"
        )
    told = way.labelled()
    if not told.rows:
        raise InvalidInputError(
            f"of {format_count(len(way.rows), 'row')} none has a label of people, by which the plan would be learnt: "
            "name their columns with gold_fields=…, of winrates gold_field=…"
        )
    results = [told.first(told.parts, engine) for engine in engines]
    return escalation(results, agreement=agreement, **promise)


def _check_engines(engines: Sequence[object], plan: EscalationPlan, model: str | None) -> None:
    named = [tuple(each.judge_id for each in judges_of(engine, model)) for engine in engines]
    planned = [each.judges for each in plan.judges]
    if named != planned:
        raise InvalidInputError(
            f"the engines are {named!r}, and the plan was learnt with {planned!r}: give these in this order, or learn "
            "a plan with the others, evenhand.escalation([…])"
        )
    if all(each.abstains for each in plan.criteria):
        raise InvalidInputError(
            "the plan abstains: no threshold of any judge keeps the promise, so that all is left to people and no "
            "judge is asked. Learn one from more labels, with better judges, or with a lower agreement"
        )


Asked = tuple[Sequence[int], Results[Any]]
"""The rows of the data that a result is about, in its order; and the result."""


@dataclass(frozen=True)
class _Way:
    """How the rows of a data set are judged: all of them first, and then what is left."""

    rows: Sequence[Row]
    criteria: object
    options: Mapping[str, Any]

    @property
    def parts(self) -> list[str]:
        """The criteria, or the rubric that they are of."""
        raise NotImplementedError

    def first(self, parts: Sequence[str], engine: object) -> Results[Any]:
        """Judge all rows on these criteria."""
        raise NotImplementedError

    def rest(self, left: Iterable[QuestionName], engine: object) -> Iterator[Asked]:
        """Judge what covers these questions, and as little else as can be."""
        raise NotImplementedError

    def with_unasked(self, results: Results[Any], parts: Sequence[str]) -> Results[Any]:
        """The result with the criteria on which no judge was asked, without a vote."""
        del parts  # there are several in an assessment only
        return results

    def labelled(self) -> Self:
        """The same of the rows that hold a label of people."""
        golden = self.options.get("gold_fields") or {"": self.options.get("gold_field")}
        named = [re.escape(str(column)) for column in golden.values() if column is not None]
        patterns = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", name)) for name in named]
        columns = [name for name in self.rows[0] if any(each.fullmatch(name) for each in patterns)] if self.rows else []
        return replace(
            self, rows=[row for row in self.rows if any(not is_abstention(row.get(name)) for name in columns)]
        )

    def only(self, places: Sequence[int]) -> list[Row]:
        """Some of the rows."""
        return [self.rows[place] for place in places]


@dataclass(frozen=True)
class _Comparing(_Way):
    """Contests, a pair of systems at a time."""

    systems: Sequence[str] | None

    def __post_init__(self) -> None:
        if self.systems is None or self.options.get("systems_field") is not None:
            raise InvalidInputError(_NO_SYSTEMS)

    @property
    def parts(self) -> list[str]:
        graded = self.options.get("scale") == "graded"
        ties = bool(self.options.get("allow_ties", False))
        return [load_comparison(each, allow_ties=ties, graded=graded).name for each in listed(self.criteria)]

    def first(self, parts: Sequence[str], engine: object) -> Results[Any]:
        del parts  # there is one
        found: Results[Any] = winrates(self.rows, self.systems, self.criteria, engine, **self.options)
        return found

    def rest(self, left: Iterable[QuestionName], engine: object) -> Iterator[Asked]:
        options = {name: value for name, value in self.options.items() if name != "design"}
        for pair, places in _grouped(left).items():
            yield places, winrates(self.only(places), list(pair), self.criteria, engine, **options)


@dataclass(frozen=True)
class _Judging(_Way):
    """Responses, a system and criterion at a time; the criteria of a rubric at once, as they are judged together."""

    @cached_property
    def named(self) -> Mapping[str, object]:
        """Name -> criterion; empty for a rubric."""
        given = [resolve(each) for each in listed(self.criteria)]
        if any(kind_of(each) == "rubric" for each in given):
            return {}
        return {load_criterion(each).name: each for each in given}

    @property
    def parts(self) -> list[str]:
        return list(self.named) or [load_rubric(resolve(each)).name for each in listed(self.criteria)]

    def first(self, parts: Sequence[str], engine: object) -> Results[Any]:
        kept = [criterion for name, criterion in self.named.items() if name in parts]
        found: Results[Any] = judge(self.rows, kept or self.criteria, engine, **self._options(parts))
        return found

    def rest(self, left: Iterable[QuestionName], engine: object) -> Iterator[Asked]:
        for (system, *criterion), places in _grouped(left, parts=None if self.named else 1).items():
            own = self.named[criterion[0]] if criterion else self.criteria
            how = {**self._options(criterion), "response_field": system}
            yield places, judge(self.only(places), own, engine, **how)

    def with_unasked(self, results: Results[Any], parts: Sequence[str]) -> Results[Any]:
        criteria = [load_criterion(self.named[part]) for part in parts if part in self.named]
        judged, cells = results.judged(), list(results.cells())
        like = [cell for cell in cells if cell.about["criterion"] == judged["criteria"][0]["name"]]
        for criterion in criteria:
            cells += [Cell({**cell.about, "criterion": criterion.name, "gold": None}, ()) for cell in like]
        judged["criteria"] = [*judged["criteria"], *(each.model_dump(mode="json") for each in criteria)]
        return type(results).of_cells({**judged, "parameters": results.parameters}, cells)

    def _options(self, parts: Sequence[str]) -> dict[str, Any]:
        """Those of a run on some of the criteria."""
        gold = self.options.get("gold_fields")
        if gold is None or not self.named:
            return dict(self.options)
        return {**self.options, "gold_fields": {name: column for name, column in gold.items() if name in parts} or None}


def _grouped(left: Iterable[QuestionName], *, parts: int | None = None) -> dict[tuple[str, ...], list[int]]:
    """What names questions beside their row, or the first parts of that -> the rows, in their order."""
    found: dict[tuple[str, ...], set[int]] = {}
    for row, *name in left:
        found.setdefault(tuple(name[:parts]), set()).add(row)
    return {name: sorted(places) for name, places in found.items()}


@dataclass
class _Escalation:
    """One judge after the other."""

    plan: EscalationPlan
    way: _Way
    engines: Sequence[object]
    results: list[Results[Any]] = field(default_factory=list)
    cells: dict[QuestionName, Cell] = field(default_factory=dict)
    decided_by: dict[QuestionName, int] = field(default_factory=dict)
    part_of: dict[QuestionName, str] = field(default_factory=dict)
    void: dict[str, None] = field(default_factory=dict)

    def result(self) -> Escalated:
        """Ask every judge in its turn."""
        people, usage, asked = len(self.engines), [], []
        for stage, engine in enumerate(self.engines):
            sure = [each.criterion for each in self.plan.criteria if each.stages[stage].threshold is not None]
            new = [part for part in sure if part not in self.part_of.values()]
            left = [name for name, by in self.decided_by.items() if by == people and self.part_of[name] in sure]
            used = [self._first(new, stage, engine)] if new else []
            if left:
                used += [self._rest(set(left), *each, stage) for each in self.way.rest(left, engine)]
            usage.append(total_usage(used))
            asked.append(len(left) + sum(part in new for part in self.part_of.values()))
        unasked = [each.criterion for each in self.plan.criteria if each.abstains]
        merged = self.way.with_unasked(_merged(self.results), unasked)
        for cell in merged.cells():
            self.decided_by.setdefault(merged.question_name(cell), people)
        cells = [self._final(merged, cell) for cell in merged.cells()]
        judges = dict.fromkeys(name for each in self.plan.judges for name in each.judges)
        results = _of_cells(merged, cells, list(judges))
        return Escalated(results, self.plan, self.decided_by, tuple(usage), tuple(asked), tuple(self.void))

    def _first(self, parts: Sequence[str], stage: int, engine: object) -> Usage:
        """All rows on criteria that no judge was asked about yet."""
        found = self.way.first(parts, engine)
        self.results.append(found)
        self.part_of |= {each.name: each.part for each in questions_of(found, "votes").values()}
        every = range(len(self.way.rows))
        self.decided_by |= dict.fromkeys(map(found.question_name, found.cells()), len(self.engines))
        return self._rest(self.decided_by.keys() - self.cells.keys(), every, found, stage)

    def _rest(self, left: AbstractSet[QuestionName], places: Sequence[int], found: Results[Any], stage: int) -> Usage:
        """What a judge said of what was left, and of it what it decides."""
        decided = self.plan.decided(found, stage)
        for cell in found.cells():
            own = found.question_name(cell)
            name: QuestionName = (places[own[0]], *own[1:])
            if name in left:
                self.cells[name] = cell
                self.decided_by[name] = stage if decided[own] else len(self.engines)
        for change in self.plan.differences(found, stage):
            self.void[f"{change}, of {self.plan.judges[stage].name}, is not as the plan was learnt"] = None
        return total_usage(vote.usage for cell in found.cells() for vote in cell.votes)

    def _final(self, results: Results[Any], cell: Cell) -> Cell:
        """The cell with the votes of who decided it, and of people none yet."""
        name = results.question_name(cell)
        if self.decided_by[name] < len(self.engines):
            return cell._replace(votes=self.cells[name].votes)
        order = tuple(range(len(results.criterion_of(cell).options)))
        return cell._replace(votes=(Vote(judge_id=PEOPLE, order=order, unscored_reason="not_asked"),))


def _merged(results: Sequence[Results[Any]]) -> Results[Any]:
    """Results on different criteria of the same rows as one."""
    first, *others = results
    if not others:
        return first
    judged = first.judged()
    judged["criteria"] = [criterion for each in results for criterion in each.judged()["criteria"]]
    cells = [cell for each in results for cell in each.cells()]
    return type(first).of_cells({**judged, "parameters": first.parameters}, cells)


def _of_cells(results: Results[Any], cells: Sequence[Cell], judges: Sequence[str]) -> Results[Any]:
    """The result of these votes, by these judges."""
    parameters = {name: value for name, value in results.parameters.items() if name != "fingerprint"}
    return type(results).of_cells({**results.judged(), "parameters": {**parameters, "judges": list(judges)}}, cells)

"""The modes and analyses by name, and the results of a mode that has no analysis of its own.

Modes are those of evenhand, of installed packages, and of the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.metadata import entry_points
from itertools import chain, groupby
from typing import Any, ClassVar, Final

from evenhand.aggregation.scores import rubric_range
from evenhand.criteria import Criterion, Rubric
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.modes.checklist import ChecklistAnalysis, ChecklistMode
from evenhand.modes.choices import BestOfMode, GradeAnalysis, GradeMode
from evenhand.modes.judgements import DirectMode, JudgementAnalysis, RubricMode
from evenhand.modes.mode import NO_CRITERION, JudgedSubject, Mode, Subject, check_whole, subject_name
from evenhand.modes.recorded_votes import AgreementAnalysis, VoteAnalysis
from evenhand.modes.winrates import WinrateAnalysis, WinratesMode
from evenhand.numbers import format_level
from evenhand.options import RunOptions
from evenhand.results.looking import QuestionAsked
from evenhand.results.measures import (
    Column,
    Measure,
    Outcome,
    Outcomes,
    Reported,
    measures_of,
    measures_table,
)
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis, with_votes
from evenhand.results.vote_columns import Cell
from evenhand.votes import Verdict

_MOST_COLUMNS = 10
"""The most columns of a table that can be read on a page."""

MODES: Final[Mapping[str, type[Mode[Any]]]] = {
    mode.kind: mode for mode in (BestOfMode, ChecklistMode, DirectMode, GradeMode, WinratesMode, RubricMode)
}


def find_mode(given: object) -> type[Mode[Any]]:
    """Return the class of a mode, by itself or by its ``kind``.

    The modes of evenhand are known, those of installed packages that name them as entry points of the group
    ``evenhand.modes``, and all whose classes have been imported.

    Raises:
        InvalidInputError: If there is no such mode.
    """
    if isinstance(given, type) and issubclass(given, Mode):
        return given
    if given not in (known := _known_modes()):
        for entry in entry_points(group="evenhand.modes"):
            entry.load()
        known = _known_modes()
    if given not in known:
        raise InvalidInputError(
            f"the mode is {given!r}. {did_you_mean(given, sorted(known))} A mode of your own is known when the module "
            "that defines its class has been imported"
        )
    return known[str(given)]


def _known_modes() -> dict[str, type[Mode[Any]]]:
    found: list[type[Any]] = [Mode]
    for mode in found:  # the list grows by the subclasses of each
        found += mode.__subclasses__()
    return {**{mode.kind: mode for mode in found if hasattr(mode, "kind")}, **MODES}


class ModeAnalysis(Analysis):
    """The result of :func:`evenhand.run_mode`: every subject with its votes, and the measures of each system."""

    kind: ClassVar = "mode_results"
    judged: ClassVar = ("criteria",)
    names: ClassVar = ("instance", "system")
    compared: ClassVar = ("score", "score")
    labelled_by: ClassVar = ("system", "question")

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems of the subjects; an empty name for subjects with the responses of several."""
        return tuple(dict.fromkeys(each.system for each in self.entries))

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check that all questions about a subject are there."""
        check_whole(abouts, "question", lambda own: [None] if own[0]["question"] is None else [*range(len(own))])
        return super().check(header, abouts)

    @cached_property
    def mode(self) -> Mode[Any]:
        """The mode, with its options."""
        held = {**self.parameters, **self.parameters["grid"], **self.parameters["flow"]}
        options = RunOptions(**{name: held[name] for name in RunOptions.model_fields if name in held})
        return find_mode(self.parameters["mode"]).from_options(self.parameters["mode_options"], options)

    @cached_property
    def _criteria(self) -> list[Criterion | Rubric]:
        """All criteria of the header."""
        return [(Rubric if "criteria" in each else Criterion).model_validate(each) for each in self.header["criteria"]]

    def read(self, cells: Iterable[Cell]) -> Iterator[JudgedSubject]:
        """Make a subject, with its result, of the cells about it."""
        for _, grouped in groupby(cells, lambda cell: subject_name(cell.about)):
            own = list(grouped)
            about = own[0].about
            votes = () if about["question"] is None else tuple(cell.votes for cell in own)
            subject = Subject(
                about["instance"],
                {name: "" if given else None for name, given in zip(about["names"], about["given"], strict=True)},
                judged=self._criteria[about["criterion"]],
                cluster=about["cluster"],
                facts=json.loads(about["facts"]),
            )
            yield JudgedSubject(subject, about["system"], votes, self.mode.result(subject, votes))

    @cached_property
    def measures(self) -> Mapping[str, Any]:
        """System -> its measures, as the mode has them."""
        return {
            system: self.mode.measures(
                [each.about for each in own], [each.result for each in own], self.level_of(system)
            )
            for system, own in self.by_system.items()
        }

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float]:
        """Return the score range of the criteria and rubrics; of a mode that compares, that of shares."""
        del group
        ranges = [rubric_range(each).score if isinstance(each, Rubric) else each.score_range for each in self._criteria]
        if self.mode.compares or not ranges:
            return 0.0, 1.0
        return min(low for low, _ in ranges), max(high for _, high in ranges)

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Return the score of each system, as the records of the mode have it.

        Raises:
            InvalidInputError: A mode whose records have no score.
        """
        found: dict[str, list[Outcome]] = {}
        for each, record in zip(self.entries, self.records(), strict=True):
            if "score" not in record:
                raise InvalidInputError(
                    f"a record of the mode {self.mode.kind!r} has no 'score', which is what people could give too"
                )
            questions = tuple((each.instance, each.system, str(place)) for place in range(len(each.votes)))
            selected = each.result.selected_label if isinstance(each.result, Verdict) else None
            row = Outcome(each.instance, questions, record["score"], selected, cluster=each.about.cluster)
            found.setdefault(each.system, []).append(row)
        one = self._criteria[0] if len(self._criteria) == 1 else None
        whole = isinstance(self.entries[0].result, Verdict)
        own = one if isinstance(one, Criterion) and one != NO_CRITERION and whole else None
        given = [row.score for rows in found.values() for row in rows if row.score is not None]
        ends = [*self.score_range({}), *given]  # a mode of one's own may score anything
        return tuple(
            Outcomes(system, self._name, tuple(rows), (min(ends), max(ends)))
            if own is None
            else Outcomes.by(own, rows, system=system)
            for system, rows in found.items()
        )

    def reported(self) -> Iterator[Reported]:
        """Return the measures of each system; the score itself has the name of the criterion or of the mode."""
        for system, own in self.measures.items():
            n = getattr(own, "num_instances", None)
            of = (system,) if system else ()
            scored = None if n is None else n - getattr(own, "num_unscored", 0)
            counts = self.unscored_counts_of(system)
            for each in measures_of(own):
                yield Reported("", of, replace(each, name=each.name or self._name), scored, counts)

    @property
    def _name(self) -> str:
        """The name of the score."""
        one = self._criteria[0] if len(self._criteria) == 1 else None
        return self.mode.kind if one is None or one == NO_CRITERION else one.name

    def asked(self) -> Iterator[QuestionAsked]:
        """Give the questions with their verdicts; for choices among several responses without a score."""
        for cell, asked in zip(self.stored.cells(), super().asked(), strict=True):
            names = self._subjects[cell.about["system"], cell.about["instance"]].names
            if len(cell.about["names"]) > 1:
                picked, offered = asked.verdict.selected_index, asked.options
                selected = names[picked] if picked is not None and picked < len(names) else asked.selected
                yield replace(
                    asked, options=names, systems=names, selected=selected, score=None, compares=True, offered=offered
                )
            else:
                yield replace(asked, systems=asked.systems or tuple(cell.about["names"]))

    def criterion_of(self, cell: Cell) -> Criterion:
        """Return the criterion of the question, as the mode asks it; of a subject without a question an empty one."""
        about = cell.about
        place: int | None = about["question"]
        subject = self._subjects[about["system"], about["instance"]]
        if place is None:
            return NO_CRITERION.model_copy(update={"name": self._name})
        if isinstance(subject.judged, Rubric):  # whose questions need the texts
            return subject.judged.criteria[place]
        texts = {name: text if text is None else "?" for name, text in subject.texts.items()}  # texts are not saved
        return self.mode.questions(replace(subject, texts=texts))[place].criterion

    @cached_property
    def _subjects(self) -> Mapping[tuple[str, int], Subject]:
        return {(each.system, each.instance): each.about for each in self.entries}

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the measures, one row per system; if they are too many for a page's width, one row per measure."""
        title = f"{self.mode.kind}, by {', '.join(self.parameters['judges'])}"
        own = self.mode.table(self.measures, title, self.parameters["level"])
        if own is not None:
            return (replace(own, notes=(*own.notes, *self.run_notes)),)
        reported = {(system,): {each.name: each for each in measures_of(own)} for system, own in self.measures.items()}
        names = dict.fromkeys(name for own in reported.values() for name in own)
        level = format_level(self.parameters["level"])
        columns = [Column(name.replace("_", " ") or f"score [{level}]", _cell(name), optional=True) for name in names]
        table = measures_table(title, ("system",), reported, columns, self.run_notes, kind="scores")
        if len(table.headers) <= _MOST_COLUMNS:
            return (table,)
        headers = (f"measure [{level}]", *(row[0] for row in table.rows))
        turned = zip(table.headers[1:], *(row[1:] for row in table.rows), strict=True)
        return (replace(table, headers=headers, rows=tuple(turned)),)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """Return a row for each subject."""
        for each in self.entries:
            record = {
                "instance": each.instance,
                "system": each.system,
                **self.mode.record(each.about, each.result),
                "cluster": each.about.cluster,
            }
            yield with_votes(record, chain.from_iterable(each.votes), votes=votes)


def _cell(name: str) -> Callable[[Mapping[str, Measure]], str]:
    return lambda measures: measures[name].written if name in measures else ""


ANALYSES: Final[Mapping[str, type[Analysis]]] = {
    analysis.kind: analysis
    for analysis in (
        JudgementAnalysis,
        WinrateAnalysis,
        ChecklistAnalysis,
        GradeAnalysis,
        ModeAnalysis,
        VoteAnalysis,
        AgreementAnalysis,
    )
}
"""Kind in saved files -> what its way of judging makes of votes."""

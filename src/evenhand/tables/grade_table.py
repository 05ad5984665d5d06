"""Grade Scores of a data set: judges × prompts, with and without an unrelated option, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.modes.grade_scores import Grading, UnrelatedEffect, grade, unrelated_effect
from evenhand.numbers import (
    Missing,
    format_count,
    format_estimate,
    format_level,
    format_p_value,
    format_percent,
    format_range,
)
from evenhand.results.analysis import Analysis
from evenhand.results.looking import NO_VERDICT, QuestionAsked
from evenhand.results.measures import Column, Reported, measures_table
from evenhand.results.notes import baseline_note, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.vote_columns import Cell, plain_vote, vote_row
from evenhand.scoring import GRADED_ON_OTHERS, readings_note
from evenhand.statistics import Uniformity
from evenhand.statistics.intervals import IntervalLevel
from evenhand.votes import MISSING_RESPONSE, Vote


@dataclass(frozen=True, slots=True)
class GradedInstance:
    """One instance under one prompt, with or without an unrelated option.

    Attributes:
        instance: The row's index.
        prompt: The prompt's name.
        with_unrelated: Whether this is the run with an unrelated option.
        candidates: The names of the candidates that have a text, in their own order.
        missing: The names of those without one.
        unrelated: The text of the unrelated option, which comes after the others; None without one.
        votes: All judges' votes; none where fewer than two candidates are left.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    prompt: str
    with_unrelated: bool
    candidates: tuple[str, ...]
    missing: tuple[str, ...]
    unrelated: str | None
    votes: tuple[Vote, ...]
    cluster: str | None = None


_ABOUT = ("instance", "prompt", "with_unrelated", "unrelated", "cluster")
"""What an instance is told apart by, and what is plain of it."""


class GradeAnalysis(Analysis):
    """The result of :func:`grade_scores`: every vote, and the Grade Score of each judge under each prompt."""

    kind: ClassVar = "grade_scores"
    judged: ClassVar = ("criterion",)
    names: ClassVar = ("prompt", "with_unrelated", "instance")
    rows_by: ClassVar = ("judge", "prompt", "unrelated_option", "instance")
    compared: ClassVar = ("grade_score", "grade_score")
    same_rows: ClassVar = ("prompt", "with_unrelated")

    def read(self, cells: Iterable[Cell]) -> Iterator[GradedInstance]:
        """Make an instance, under one prompt, of each cell."""
        return map(_instance_of, cells)

    @property
    def instances(self) -> tuple[GradedInstance, ...]:
        """The entries, ordered by prompt, by run (without the unrelated option first), and by row."""
        return self.entries

    @cached_property
    def criterion(self) -> Criterion:
        """What makes a candidate the best."""
        return Criterion.model_validate(self.header["criterion"])

    @cached_property
    def gradings(self) -> Mapping[tuple[str, str, bool], Grading]:
        """``(judge, prompt, with the unrelated option?)`` -> the Grade Score and what it rests on."""
        runs = dict.fromkeys((each.prompt, each.with_unrelated) for each in self.entries)
        return {
            (judge, prompt, unrelated): grade(
                [each.votes for each in self.entries if (each.prompt, each.with_unrelated) == (prompt, unrelated)],
                judge,
                level=self._interval_level,
                seed=self.parameters["seed"],
            )
            for judge in self.parameters["judges"]
            for prompt, unrelated in runs
        }

    @property
    def _interval_level(self) -> IntervalLevel:
        """The level of intervals over the rows, with their clusters."""
        runs = [(each.prompt, each.with_unrelated) for each in self.entries]
        own = [each.cluster for each, run in zip(self.entries, runs, strict=True) if run == runs[0]]
        return self.level_over(own)

    @cached_property
    def unrelated_effects(self) -> Mapping[tuple[str, str], UnrelatedEffect]:
        """``(judge, prompt)`` -> what the unrelated option changes; empty where none was asked with."""
        return {
            (judge, prompt): unrelated_effect(grading, self.gradings[judge, prompt, False])
            for (judge, prompt, unrelated), grading in self.gradings.items()
            if unrelated and (judge, prompt, False) in self.gradings
        }

    def reported(self) -> Iterator[Reported]:
        """Of each judge under each prompt, and what an unrelated option changes."""
        for (judge, prompt, unrelated), grading in self.gradings.items():
            of = (judge, prompt, *(["unrelated"] if unrelated else []))
            yield Reported("", of, grading, grading.num_scored, grading.unscored_counts)
        for run, effect in self.unrelated_effects.items():
            yield Reported("unrelated", run, effect, effect.num_paired)

    def asked(self) -> Iterator[QuestionAsked]:
        """The choices of each run, which come to no verdict."""
        for each in self.entries:
            run = (each.instance, each.prompt, *(["unrelated"] if each.with_unrelated else []))
            unrelated = ("(unrelated)",) if each.unrelated is not None else ()
            names = (*each.candidates, *unrelated)
            yield QuestionAsked(
                name="/".join(map(str, run)),
                criterion=self.criterion.name,
                question=self.criterion.description,
                options=names,
                judged=names,
                selected=None,
                score=None,
                verdict=NO_VERDICT if each.votes else MISSING_RESPONSE,
                compares=True,
                offered=tuple(f"Option {place + 1}" for place in range(len(names))),
            )

    def text_tables(self) -> tuple[TextTable, ...]:
        """The scores, what the unrelated option changes where there is one, and the places chosen."""
        tables = [self._scores_table()]
        if self.unrelated_effects:
            tables.append(self._effects_table())
        return (*tables, self._places_table())

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each choice, as ``grade_scores(votes=rows)`` reads them: ``order`` is what was shown, by name.

        An instance of which too few candidates have a text is a row without a judge.

        Raises:
            InvalidInputError: If there are several prompts, or an unrelated option, which rows cannot tell apart.
        """
        runs = {(each.prompt, each.with_unrelated) for each in self.entries}
        if len(runs) > 1 or any(unrelated for _, unrelated in runs):
            raise InvalidInputError(
                f"the table has the runs {sorted(runs)!r} (prompt, with an unrelated option); rows are of one without "
                "such an option: filter(prompt=…, with_unrelated=False) first"
            )
        found: list[dict[str, Any]] = []
        for each in self.entries:
            about = {"id": self.row_name(each.instance)}
            about |= {} if each.cluster is None else {"cluster": each.cluster}
            nobody = {"judge": None, "sample": 0, "order": list(each.candidates), "vote": None}
            for vote in each.votes:
                chosen = None if vote.selected_index is None else each.candidates[vote.selected_index]
                order = [each.candidates[place] for place in vote.order]
                found.append({**about, **plain_vote(vote), "order": order, "vote": chosen})
            found += [] if each.votes else [{**about, **nobody, "unscored_reason": "missing_response"}]
        return found

    @property
    def _level(self) -> str:
        return format_level(self.parameters["level"])

    @property
    def _key(self) -> str:
        return "prompt" if len(self.parameters["judges"]) == 1 else "judge, prompt"

    def _named(self, judge: str, prompt: str) -> str:
        return prompt if len(self.parameters["judges"]) == 1 else f"{judge}, {prompt}"

    def _scores_table(self) -> TextTable:
        columns = (
            Column("LLM\nscore", "llm_score", limits=False),
            Column("choice\nscore", "choice_score", limits=False),
            Column(f"Grade Score\n[{self._level}]", "grade_score"),
            Column(f"corrected\n[{self._level}]", "chance_corrected"),
            Column("answered", "answered", limits=False),
            Column("n", "num_scored"),
        )
        named = [
            (
                (
                    self._named(judge, prompt),
                    self._unrelated_share(judge, prompt) if unrelated else "no",
                ),
                grading,
            )
            for (judge, prompt, unrelated), grading in self.gradings.items()
        ]
        title = f"Grade Score of {', '.join(self.parameters['judges'])} on {self.criterion.name}"
        return measures_table(
            title, (self._key, "unrelated\noption"), named, columns, tuple(self._notes()), kind="scores"
        )

    def _unrelated_share(self, judge: str, prompt: str) -> str:
        effect = self.unrelated_effects.get((judge, prompt))  # none where the run without the option is left out
        return "yes" if effect is None else f"chosen {format_estimate(effect.chosen, share=True)}"

    def _effects_table(self) -> TextTable:
        columns = (
            Column(f"chosen [{self._level}]", "chosen"),
            Column(f"ever chosen [{self._level}]", "ever_chosen"),
            Column(f"Grade Score\nwith − without [{self._level}]", "difference"),
            Column(f"corrected\nwith − without [{self._level}]", "corrected_difference"),
        )
        named = [((self._named(*run),), effect) for run, effect in self.unrelated_effects.items()]
        title = "An unrelated option among the candidates"
        return measures_table(title, (self._key,), named, columns, kind="unrelated")

    def _places_table(self) -> TextTable:
        """Shares of the places, and the tests that they are even."""
        found = [
            (judge, prompt, unrelated, histograms)
            for (judge, prompt, unrelated), grading in self.gradings.items()
            for histograms in grading.histograms
        ]
        width = max((histograms.n_options for *_, histograms in found), default=0)
        return TextTable(
            kind="places",
            title="Which places were chosen (p: are all places chosen equally often; instances shifted as wholes)",
            headers=(
                self._key,
                "unrelated\noption",
                "candidates",
                *(str(place) for place in range(1, width + 1)),
                "p",
                "p of candidates",
            ),
            rows=tuple(
                (
                    self._named(judge, prompt),
                    "yes" if unrelated else "no",
                    format_count(histograms.n_options),
                    *_bars(histograms.places, width),
                    _p_value(histograms.places),
                    _p_value(histograms.candidates),
                )
                for judge, prompt, unrelated, histograms in found
            ),
        )

    def _notes(self) -> Iterator[str]:
        gradings = list(self.gradings.values())
        chances = [grading.chance for grading in gradings if not isinstance(grading.chance, Missing)]
        if chances:
            reached = format_range(min(chances), max(chances))
            yield f"A judge that chooses at random would reach a Grade Score of {reached}; corrected for chance, 0."
        if any(grading.num_missing_response for grading in gradings):
            missing = max(grading.num_missing_response for grading in gradings)
            yield f"Instances with fewer than two candidates that have a text, which were not asked: {missing}."
        yield from unscored_note(self.unscored_counts)
        yield from readings_note(grading.readings for grading in gradings)
        if self.unscored_counts.unscored_votes:
            yield GRADED_ON_OTHERS
        yield from baseline_note(self.parameters["judges"])

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """A row for each judge, prompt, run and instance."""
        asked: dict[tuple[str, bool], list[GradedInstance]] = {}
        for each in self.entries:
            asked.setdefault((each.prompt, each.with_unrelated), []).append(each)
        for (judge, prompt, unrelated), grading in self.gradings.items():
            for each, one in zip(asked[prompt, unrelated], grading.instances, strict=True):
                record: dict[str, Any] = {
                    "judge": judge,
                    "prompt": prompt,
                    "unrelated_option": unrelated,
                    "instance": each.instance,
                    "candidates": list(each.candidates),
                    "missing_candidates": list(each.missing),
                    "unrelated": each.unrelated,
                    "grade_score": one.grade_score,
                    "chance_corrected_grade_score": one.chance_corrected,
                    "llm_score": one.llm_score,
                    "choice_score": one.choice_score,
                    "asked": one.asked,
                    "answered": one.answered,
                    "places": list(one.places),
                    "chosen": list(one.chosen),
                    "unscored_reason": one.unscored_reason,
                }
                if votes:
                    record["votes"] = [vote_row(vote) for vote in each.votes if vote.judge_id == judge]
                yield record


def about_instance(each: GradedInstance) -> dict[str, Any]:
    """Return what a cell is about."""
    about = {name: getattr(each, name) for name in _ABOUT}
    return {**about, "candidates": list(each.candidates), "missing": list(each.missing)}


def _instance_of(cell: Cell) -> GradedInstance:
    about: dict[str, Any] = {name: cell.about[name] for name in _ABOUT}
    about |= {name: tuple(cell.about[name]) for name in ("candidates", "missing")}
    return GradedInstance(**about, votes=cell.votes)


def _bars(histogram: Uniformity | Missing, width: int) -> tuple[str, ...]:
    """Shares of the places that there are, and nothing for those that there are not."""
    if isinstance(histogram, Missing):
        return ("",) * width
    total = sum(histogram.counts)
    shares = [format_percent(count / total) for count in histogram.counts]
    return (*shares, *("",) * (width - len(shares)))


def _p_value(histogram: Uniformity | Missing) -> str:
    return format_p_value(histogram if isinstance(histogram, Missing) else histogram.instance_p_value)

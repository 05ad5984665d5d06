"""Direct assessment: one of a criterion's options for each response."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from evenhand.aggregation.verdict import VoteRules, mean_covered_mass
from evenhand.criteria import Criterion
from evenhand.errors import EvenhandWarning
from evenhand.judging.examples import ExamplePool
from evenhand.modes.mode import MADE_OF_DATA, Mode, Subject, VoteCells, system_of
from evenhand.question import Question
from evenhand.scoring import ScoreSummary, summarize
from evenhand.statistics.intervals import Level
from evenhand.votes import MISSING_RESPONSE, Verdict, Vote


class DifferentRangesWarning(EvenhandWarning):
    """Scores in different units are averaged."""


@dataclass(frozen=True)
class DirectMode(Mode[Verdict]):
    """A judge chooses one of a criterion's options for each response. A subject is judged by a criterion.

    Attributes:
        pools: Criterion name -> the labelled cases that are shown first; empty if there are no examples.
    """

    pools: Mapping[str, ExamplePool] = field(default_factory=lambda: MappingProxyType({}), metadata=MADE_OF_DATA)

    kind: ClassVar = "direct"
    function: ClassVar = "judge"

    def questions(self, about: Subject) -> tuple[Question, ...]:
        """Return the one question; none about a response that is missing."""
        (name,) = about.texts
        identifier = f"{about.named}/{name}/{about.judged.name}" if name else about.named
        return tuple(assessment_question(identifier, about, self.pools) for _ in about.responses)

    def result(self, about: Subject, votes: Sequence[Sequence[Vote]]) -> Verdict:
        """Return the verdict."""
        return self.rules.aggregate(votes[0], about.judged) if votes and votes[0] else MISSING_RESPONSE

    def record(self, about: Subject, result: Verdict) -> dict[str, Any]:
        """Return the verdict as a flat row."""
        del about
        return verdict_record(result)

    def vote_cells(self, about: Subject, votes: Sequence[Sequence[Vote]], place: int) -> VoteCells:
        """Give the one cell."""
        del place
        yield judgement_about(about, about.judged.name), votes[0] if votes else ()

    @property
    def saved_as(self) -> str:
        """The kind of the Python function's results."""
        return "judgements"

    def judged_by(self, judged: Sequence[Any], systems: Sequence[str]) -> dict[str, Any]:
        """Return the criteria."""
        return {"systems": [*systems], **super().judged_by(judged, systems), "rubric": None}

    def measures(self, subjects: Sequence[Subject], results: Sequence[Verdict], level: Level) -> ScoreSummary:
        """Return the measures; see :func:`~evenhand.scoring.summarize`."""
        rules = self.rules
        masses = [covered_mass(verdict, about.judged, rules) for about, verdict in zip(subjects, results, strict=True)]
        ranges = [about.judged.score_range for about in subjects]
        _warn_of_different_ranges([about.judged for about in subjects])
        return summarize(results, ranges, level=level, covered_masses=masses if rules.scoring == "expected" else ())


def _warn_of_different_ranges(criteria: Sequence[Criterion]) -> None:
    """Warn (:class:`DifferentRangesWarning`) where rows bring criteria of their own, in different units."""
    ranges = {criterion.units: criterion.name for criterion in criteria}
    if len(ranges) > 1:
        said = "; ".join(f"{name!r} from {low:g} to {high:g}" for (low, high), name in ranges.items())
        warnings.warn(
            f"the scores of the rows' criteria have different ranges ({said}), so that their mean is in no units: give "
            "their options values of one range, or group the rows by their criteria",
            DifferentRangesWarning,
            stacklevel=3,
        )


def judgement_about(about: Subject, criterion: str) -> dict[str, Any]:
    """Return what the cell of a response and a criterion is about."""
    return {
        "instance": about.instance,
        "system": system_of(about),
        "criterion": criterion,
        "gold": about.gold.get(criterion),
        "cluster": about.cluster,
        "length_penalty": about.facts.get("length_penalty"),
    }


def covered_mass(verdict: Verdict, criterion: Criterion, rules: VoteRules) -> float | None:
    """Return the probability behind an expected value; None without probabilities."""
    return mean_covered_mass(verdict.votes, criterion) if rules.scoring == "expected" else None


def assessment_question(identifier: str, about: Subject, pools: Mapping[str, ExamplePool]) -> Question:
    """Return the question about one response on one criterion, with its examples."""
    question = about.question(identifier, about.judged, about.responses)
    pool = pools.get(about.judged.name)
    return question if pool is None else pool.shown_to(question)


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a flat row, without its votes."""
    return {
        "selected_option": verdict.selected_label,
        "score": verdict.aggregated_value,
        "position_consistent": verdict.position_consistent,
        "agreement": verdict.agreement,
        "spread": verdict.spread,
        "na": verdict.na,
        "unscored_reason": verdict.unscored_reason,
        "assessment": verdict.assessment,
    }

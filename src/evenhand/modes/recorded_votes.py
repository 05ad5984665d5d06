"""Results of recorded votes: verdicts with their scores, system by system, or the agreement of raters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from evenhand.aggregation.verdict import aggregate, check_rule
from evenhand.criteria import Criterion
from evenhand.data.fields import NO_VERDICT, clustered_level, weights_by_judge
from evenhand.errors import InvalidInputError, check_known
from evenhand.judge_reliability.reliability import (
    PanelAgreement,
    RaterPair,
    Scale,
    VoteSummary,
    all_pairs,
    labels_table,
    pairs_of_raters_table,
    panels,
    summarize_votes,
    vote_summary_table,
)
from evenhand.modes.judgements import Judgement, VerdictAnalysis
from evenhand.numbers import format_count
from evenhand.results.measures import (
    Measure,
    Reported,
    measures_of,
    readings_note,
    score_entries,
    unscored_bounds_notes,
    unscored_note,
)
from evenhand.results.render import TextTable
from evenhand.results.results import Analysis
from evenhand.results.vote_columns import Cell, Stored
from evenhand.votes import Verdict

WITHOUT_CRITERIA = (
    "Without criteria the options are the labels that occur, without an order: give criteria for levels, weighted "
    "kappa and options that were never chosen."
)


class VoteAnalysis(VerdictAnalysis):
    """The result of :func:`evenhand.aggregate_votes`; the verdicts of each system have scores of their own."""

    kind: ClassVar = "aggregated_votes"
    judged: ClassVar = ("systems", "criteria")

    def __init__(self, header: Mapping[str, Any], parameters: Mapping[str, Any], stored: Stored) -> None:
        super().__init__(header, parameters, stored)
        self.labelled_by = ("system",) if any(self.systems) else ()  # type: ignore[misc] # of these votes
        self.names = ("instance", *self.labelled_by)  # type: ignore[misc] # of these votes

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion of the votes."""
        return self.criteria[0]

    def read(self, cells: Iterable[Cell]) -> Iterator[Judgement]:
        """Make a judgement of each cell."""
        rule, weights = self.parameters["rule"], self.parameters["weights"]
        shared: dict[tuple[int, ...], Verdict] = {}  # equal votes in memory are one value
        for cell in cells:
            votes = tuple(map(id, cell.votes))
            if votes not in shared:  # its verdict holds the votes, so that no other has the same number
                cast = cell.votes
                shared[votes] = aggregate(cast, self.criterion, rule, weights=weights) if cast else NO_VERDICT
            yield Judgement(**cell.about, verdict=shared[votes])

    def reported(self) -> Iterator[Reported]:
        """Give the aggregated score of each system, and what the votes say of the judges."""
        for system, summary in self.summaries.items():
            scores, of = summary.scores, (system,) if system else ()
            n = scores.num_instances - scores.num_unscored - scores.num_na
            yield Reported(self.criterion.name, of, scores, n, scores.unscored_counts)
            yield Reported("", of, summary, n, scores.unscored_counts)

    def by_people(self) -> dict[str, Any]:
        """Return the header for labels of people, with the rule of the scale, which needs no weights."""
        header = super().by_people()
        rule = check_rule(None, self.criterion.scale)
        return {**header, "parameters": {**header["parameters"], "votes": ["people"], "rule": rule, "weights": None}}

    @cached_property
    def summaries(self) -> Mapping[str, VoteSummary]:
        """System -> what its verdicts say."""
        labels = self.criterion.labels
        return {
            system: summarize_votes(
                [each.verdict for each in own],
                self.criterion,
                [None if each.gold is None else labels.index(each.gold) for each in own],
                level=self.level_of(system),
            )
            for system, own in self.by_system.items()
        }

    @property
    def summary(self) -> VoteSummary:
        """The summary of the verdicts on one system.

        Raises:
            InvalidInputError: If there are several.
        """
        if len(self.systems) > 1:
            raise InvalidInputError(f"the votes are about {list(self.systems)!r}: take summaries[system]")
        return self.summaries[self.systems[0]]

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the summary of each system, and its confusion matrix where there are references."""
        tables = []
        for system, summary in self.summaries.items():
            about = f"{self.criterion.name} of {system}" if system else self.criterion.name
            title = f"{about}: {self.parameters['rule']} of {', '.join(self.parameters['votes'])}"
            leading: Iterable[str] = unscored_bounds_notes({"the aggregated score": summary.scores})
            if not self.criterion.has_values:
                leading = ("The options have no values, so there is no score.",)
            read = (*readings_note(summary.scores.readings), *unscored_note(summary.scores.unscored_counts))
            tables.append(vote_summary_table(title, summary, (*leading, *read)))
            if compared := summary.comparison:
                title = f"References (rows) and verdicts (columns){f' of {system}' if system else ''}"
                tables.append(labels_table(title, compared))
        return tuple(tables)

    def rescored(self, **rules: Any) -> dict[str, Any]:  # noqa: ANN401 - rules by name
        """Return the same votes under another rule.

        Args:
            **rules: ``rule``, the panel rule, or ``weights``, one per judge in the order of the columns, or judge ->
                weight; None leaves them as they were.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit the scale.
            InvalidInputError: Other options, or weights that do not fit the judges or the rule.
        """
        for name in rules:
            check_known(name, ("rule", "weights"), f"there is no option {name!r}")
        parameters, rule, weights = self.parameters, rules.get("rule"), rules.get("weights")
        changed: dict[str, Any] = {
            "rule": check_rule(parameters["rule"] if rule is None else rule, self.criterion.scale),
            "weights": parameters["weights"] if weights is None else weights_by_judge(weights, parameters["votes"]),
        }
        return {**self.header, "parameters": {**parameters, **changed}}


class AgreementAnalysis(Analysis):
    """The result of :func:`evenhand.agreement`.

    Attributes:
        pairs: The agreement of every two raters: people with judges (the judges' accuracy), people, judges.
        panels: Krippendorff's alpha of the judges, of the people, and of all, for panels of at least two.
        missing: Rater -> instances without a vote: abstentions, and instances on which the rater was not asked.
    """

    kind: ClassVar = "agreement"
    judged: ClassVar = ("criterion",)
    names: ClassVar = ("first", "second")

    def __init__(self, header: Mapping[str, Any], parameters: Mapping[str, Any], stored: Stored) -> None:
        super().__init__(header, parameters, stored)
        cells = list(stored.cells())
        cast = [{vote.judge_id: vote.selected_index for vote in cell.votes} for cell in cells]
        judges, humans = (
            {name: [votes.get(name) for votes in cast] for name in parameters[setting]}
            for setting in ("votes", "gold_fields")
        )
        level = self.level_over([cell.about["cluster"] for cell in cells])
        scale = Scale.of(self.criterion)
        self.pairs: tuple[RaterPair, ...] = all_pairs(judges, humans, scale, level=level)
        self.panels: tuple[PanelAgreement, ...] = panels(judges, humans, scale, level=level)
        self.missing = {name: selected.count(None) for name, selected in {**judges, **humans}.items()}

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Count the clusters."""
        parameters = header["parameters"]
        level = clustered_level(parameters["level"], [about["cluster"] for about in abouts], parameters["interval"])
        return {**header, "parameters": {**parameters, "num_clusters": level.n_clusters}}

    @cached_property
    def entries(self) -> tuple[RaterPair, ...]:
        """The pairs of raters."""
        return self.pairs

    def pair(self, first: str, second: str) -> RaterPair:
        """Return the agreement of two raters, in either order.

        Raises:
            InvalidInputError: If there is no such pair.
        """
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise InvalidInputError(
            f"there is no pair of {first!r} and {second!r}; the raters are {list(self.missing)!r}, and a pair is of two"
        )

    def text_tables(self) -> tuple[TextTable, ...]:
        """Return the table of the pairs, with the agreement of all beneath them."""
        clusters, notes = self.parameters.get("num_clusters"), list[str]()
        if silent := [f"{name} {count}" for name, count in self.missing.items() if count]:
            notes.append(f"Instances without a vote: {', '.join(silent)}. They are set aside, pair by pair.")
        if not self.parameters["criteria_given"]:
            notes.append(WITHOUT_CRITERIA)
        title = f"Agreement on {format_count(self.parameters['n'], 'instance')}"
        title += "" if clusters is None else f" of {format_count(clusters, 'cluster')}"
        return (pairs_of_raters_table(title, self.pairs, self.panels, notes, level=self.parameters["level"]),)

    def reported(self) -> Iterator[Reported]:
        """Return the measures of every two raters, and of each panel."""
        for pair in self.pairs:
            yield Reported("", (pair.first, pair.second), pair, pair.num_compared)
        for panel in self.panels:
            alpha = Measure("krippendorff_alpha", (), panel.krippendorff_alpha, "number")
            yield Reported("", (panel.name,), alpha)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """An empty verdict for each cell."""
        return (Verdict(),) * len(self.stored)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:  # noqa: ARG002 - a pair casts none
        """Give a row for each pair; a measure is its estimate, with its limits."""
        for pair in self.pairs:
            record: dict[str, Any] = {
                "first": pair.first,
                "second": pair.second,
                "kind": f"{pair.kinds[0]}-{pair.kinds[1]}",
                "num_compared": pair.num_compared,
            }
            for name in ("accuracy", "adjacent_accuracy", "cohen_kappa", "quadratic_weighted_kappa"):
                record |= dict.fromkeys((name, f"{name}_ci_low", f"{name}_ci_high"))
            for each in measures_of(pair):
                if each.value:
                    record |= score_entries(each.name, each.value)
            yield record

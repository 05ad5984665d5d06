"""Votes recorded in the columns of a data set: reduced to verdicts, or compared rater by rater. No call is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar, Self

from evenhand.aggregation import check_rule
from evenhand.aggregation.rules import check_weights
from evenhand.criteria import Criterion
from evenhand.data.fields import clustered_level, read_clusters, row_groups, row_ids
from evenhand.data.recorded_columns import (
    YES_OR_NO,
    VoteColumn,
    VoteReader,
    cast_votes,
    categories_of,
    columns_of,
    named_weights,
    read_column,
    recorded_columns,
)
from evenhand.data.rows import Row, read_rows
from evenhand.errors import InvalidInputError
from evenhand.judge_reliability.against_people import (
    Drawing,
    GoldComparison,
    JudgedRow,
    PanelAgreement,
    Rater,
    RaterPair,
    Scale,
    VoteSummary,
    all_pairs,
    compare_with_gold,
    panels,
    recorded_verdict,
    summarize_votes,
)
from evenhand.judge_reliability.tables import labels_table, pairs_of_raters_table, vote_summary_table
from evenhand.numbers import Missing, format_count
from evenhand.options import RecordedOptions, takes
from evenhand.result_methods import Results
from evenhand.results.analysis import Analysis, with_votes
from evenhand.results.looking import NO_VERDICT, QuestionAsked
from evenhand.results.made_by import remembers
from evenhand.results.measures import Measure, Outcome, Outcomes, Reported, measures_of, plain, score_entries
from evenhand.results.notes import unscored_bounds_note, unscored_note
from evenhand.results.render import TextTable
from evenhand.results.stored import Stored
from evenhand.results.vote_columns import Cell
from evenhand.scoring import count_readings, readings_note
from evenhand.unitxt.loading import load_criterion
from evenhand.version import __version__
from evenhand.votes import Verdict, Vote

WITHOUT_CRITERIA = (
    "Without criteria the options are the labels that occur, without an order: give criteria for levels, weighted "
    "kappa and options that nobody chose."
)


@dataclass(frozen=True, slots=True)
class RecordedInstance:
    """One instance on which votes were recorded.

    Attributes:
        instance: The row's index.
        verdict: What its votes come to, with these.
        reference: The label that is right; None where it is not known.
        cluster: What the row belongs to; None where rows do not depend on each other.
    """

    instance: int
    verdict: Verdict
    reference: str | None
    cluster: str | None = None


class VoteAnalysis(Analysis):
    """The result of :func:`aggregate_votes`."""

    kind: ClassVar = "aggregated_votes"
    judged: ClassVar = ("criterion", "notes")
    names: ClassVar = ("instance",)
    compared: ClassVar = ("aggregated_value", "selected_option")
    has_verdicts: ClassVar = True

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Check the weights."""
        check_weights(header["parameters"]["weights"])
        return super().check(header, abouts)

    def read(self, cells: Iterable[Cell]) -> Iterator[RecordedInstance]:
        """Make an instance of each cell."""
        rule, weights = self.parameters["rule"], self.parameters["weights"]
        for cell in cells:
            verdict = recorded_verdict(cell.votes, self.criterion, rule, weights)
            yield RecordedInstance(**cell.about, verdict=verdict)

    @property
    def instances(self) -> tuple[RecordedInstance, ...]:
        """The entries, in the order of the rows."""
        return self.entries

    @cached_property
    def criterion(self) -> Criterion:
        """The criterion whose options were voted on."""
        return Criterion.model_validate(self.header["criterion"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader must know about how the votes were read."""
        return tuple(self.header["notes"])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict on each cell."""
        return tuple(each.verdict for each in self.entries)

    @property
    def references(self) -> tuple[str | None, ...]:
        """The label that is right, for each instance."""
        return tuple(each.reference for each in self.instances)

    def units(self, group: Mapping[str, str]) -> tuple[float, float]:
        """Those of the criterion."""
        del group
        return self.criterion.units

    def score_range(self, group: Mapping[str, str]) -> tuple[float, float]:
        """That of the criterion."""
        del group
        return self.criterion.score_range

    def outcomes(self) -> tuple[Outcomes, ...]:
        """Of the verdicts."""
        rows = [Outcome.of_verdict((each.instance,), each.verdict, each.cluster) for each in self.instances]
        return (Outcomes.by(self.criterion, rows),)

    def reported(self) -> Iterator[Reported]:
        """The aggregated score, and what the votes say of the judges."""
        scores = self.summary.scores
        n = scores.num_instances - scores.num_unscored - scores.num_na
        yield Reported(self.criterion.name, (), scores, n, scores.unscored_counts)
        yield Reported("", (), self.summary, n, scores.unscored_counts)

    def criterion_of(self, cell: Cell) -> Criterion:  # noqa: ARG002 - there is one
        """The criterion."""
        return self.criterion

    def by_people(self) -> dict[str, Any]:
        """With the rule of the scale, which needs no weights."""
        said = super().by_people()
        rule = check_rule(None, self.criterion.scale)
        return {**said, "parameters": {**said["parameters"], "votes": ["people"], "rule": rule, "weights": None}}

    @cached_property
    def summary(self) -> VoteSummary:
        """What the verdicts come to."""
        said, labels = self.parameters, self.criterion.labels
        return summarize_votes(
            list(self.verdicts),
            self.criterion,
            [None if label is None else labels.index(label) for label in self.references],
            level=self.level_over([each.cluster for each in self.instances]),
            resamples=said["resamples"],
            seed=said["seed"],
        )

    def text_table(self) -> TextTable:
        """The summary as texts."""
        judges = ", ".join(self.parameters["votes"])
        title = f"{self.criterion.name}: {self.parameters['rule']} of {judges}"
        leading = unscored_bounds_note({"the aggregated score": self.summary.scores.unscored_bounds})
        votes = [vote for verdict in self.verdicts for vote in verdict.votes]
        read = (*readings_note([count_readings(votes)]), *unscored_note(self.unscored_counts))
        return vote_summary_table(title, self.summary, (*leading, *read, *self.notes))

    def confusion_table(self) -> TextTable:
        """References against verdicts as texts.

        Raises:
            InvalidInputError: If there are no references.
        """
        compared = self.summary.comparison
        if isinstance(compared, Missing):
            raise InvalidInputError("there are no references to compare with; name their column: gold=…")
        return labels_table("References (rows) and verdicts (columns)", compared.labels, compared.confusion_matrix)

    def text_tables(self) -> tuple[TextTable, ...]:
        """The summary, and the confusion matrix where there are references."""
        return (self.text_table(), *([self.confusion_table()] if self.summary.comparison else []))

    def against_gold(
        self,
        *,
        gold: Sequence[object] | None = None,
        groups: Sequence[Hashable] | None = None,
        resamples: int | None = None,
    ) -> GoldComparison:
        """The verdicts against people: accuracy, precision, recall, F1, kappas, correlations, pairs in the right order.

        Args:
            gold: Numbers that people gave in place of labels: one for each row of the data, None where there is none.
            groups: A label for each row of the data: correlations are averaged within these too. By default rows of one
                instance are a group, where there are several.
            resamples: Draws for the intervals of kappas and balanced accuracy; as the table's by default.

        Raises:
            InvalidInputError: Gold or groups that do not fit the rows.
        """
        said = self.parameters
        return compare_with_gold(
            [JudgedRow.of(each, self.criterion, each.reference) for each in self.instances],
            Scale.of(self.criterion),
            title=f"{self.criterion.name}: {said['rule']} of {', '.join(said['votes'])} against gold",
            level=self.level_over([]),
            gold=gold,
            groups=groups,
            resamples=said["resamples"] if resamples is None else resamples,
            seed=said["seed"],
        )

    def rescored(  # type: ignore[override] # the rules of recorded votes
        self, rule: str | None = None, weights: Mapping[str, float] | Sequence[float] | None = None
    ) -> dict[str, Any]:
        """The same votes under another rule.

        Args:
            rule: The panel rule; None leaves it as it was.
            weights: One weight per judge, in the order of the columns, or judge -> weight; None leaves them.

        Raises:
            UnknownRuleError: A rule that does not exist or does not fit the scale.
            InvalidInputError: Weights that do not fit the judges or the rule.
        """
        said = self.parameters
        changed = {
            "rule": check_rule(said["rule"] if rule is None else rule, self.criterion.scale),
            "weights": said["weights"] if weights is None else named_weights(weights, said["votes"]),
        }
        check_weights(changed["weights"])
        return {**self.header, "parameters": {**said, **changed}}

    def overview(self) -> dict[str, Any]:
        """The fields of the summary."""
        return {"summary": plain(self.summary)}

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each instance as :func:`aggregate_votes` and :func:`agreement` read them.

        Judge -> the label of its vote, None where it has none; of votes that were read from replies also
        ``<judge>_match`` and ``<judge>_unscored_reason``. Beside them ``instance``, and where they are known
        ``reference`` (the label that is right) and ``cluster``. Repeated draws of a judge are columns of their own,
        ``<judge>_1`` the second; so is what it said of a pair in the other order, ``<judge>_swapped``.
        """
        found = []
        for each in self.instances:
            about = {"instance": each.instance, "reference": each.reference, "cluster": each.cluster}
            row: dict[str, Any] = {name: value for name, value in about.items() if value is not None}
            for vote in each.verdict.votes:
                name = vote.judge_id + ("_swapped" if vote.order == (1, 0) else "")
                name += f"_{vote.sample}" if vote.sample else ""
                row[name] = vote.selected_label
                if vote.match is not None:
                    row |= {f"{name}_match": vote.match.kind, f"{name}_unscored_reason": vote.unscored_reason}
            found.append(row)
        return found

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:
        """A row for each instance."""
        for each in self.instances:
            verdict, reference = each.verdict, each.reference
            record = {
                "instance": each.instance,
                "selected_option": verdict.selected_label,
                "aggregated_value": verdict.aggregated_value,
                "agreement": verdict.agreement,
                "na": verdict.na,
                "unscored_reason": verdict.unscored_reason,
                "reference": reference,
                "cluster": each.cluster,
                "match": None
                if reference is None or verdict.selected_label is None
                else verdict.selected_label == reference,
            }
            yield with_votes(record, [verdict], votes=votes)


class AgreementAnalysis(Analysis):
    """The result of :func:`agreement`.

    Attributes:
        pairs: Every two raters: people with judges (the judges' accuracy), people, judges.
        panels: Krippendorff's alpha of the judges, of the people, and of all, where there are at least two.
        missing: Rater -> instances without a vote: abstentions, and those on which the rater was not asked.
        not_asked: Rater -> those of them on which the rater was not asked.
    """

    kind: ClassVar = "agreement"
    judged: ClassVar = ("criterion",)
    names: ClassVar = ("first", "second")

    def __init__(self, header: Mapping[str, Any], parameters: Mapping[str, Any], stored: Stored) -> None:
        super().__init__(header, parameters, stored)
        said, cells = parameters, list(stored.cells())
        cast = [{vote.judge_id: vote.selected_index for vote in cell.votes} for cell in cells]
        raters = [Rater(name, "judge", tuple(votes.get(name) for votes in cast)) for name in said["votes"]]
        raters += [Rater(name, "human", tuple(votes.get(name) for votes in cast)) for name in said["gold"]]
        level = self.level_over([cell.about["cluster"] for cell in cells])
        drawn = Drawing(level=level, resamples=said["resamples"], seed=said["seed"])
        scale = Scale.of(self.criterion)
        self.pairs: tuple[RaterPair, ...] = all_pairs(raters, scale, **drawn)
        self.panels: tuple[PanelAgreement, ...] = panels(raters, scale, **drawn)
        self.missing = {rater.name: rater.selected.count(None) for rater in raters}
        self.not_asked = {rater.name: sum(rater.name not in votes for votes in cast) for rater in raters}

    @classmethod
    def check(cls, header: Mapping[str, Any], abouts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Count the clusters."""
        said = header["parameters"]
        level = clustered_level(said["level"], [about["cluster"] for about in abouts], said["interval"])
        return {**header, "parameters": {**said, "num_clusters": level.n_clusters}}

    @cached_property
    def criterion(self) -> Criterion:
        """Whose options were chosen; made of the labels that occur if none was given."""
        return Criterion.model_validate(self.header["criterion"])

    @cached_property
    def entries(self) -> tuple[RaterPair, ...]:
        """The pairs of raters."""
        return self.pairs

    def pair(self, first: str, second: str) -> RaterPair:
        """The agreement of two raters, in either order.

        Raises:
            InvalidInputError: If there is no such pair.
        """
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise InvalidInputError(
            f"there is no pair of {first!r} and {second!r}; the raters are {list(self.missing)!r}, and a pair is of two"
        )

    def text_table(self) -> TextTable:
        """The pairs as texts, with the agreement of all beneath them."""
        instances, clusters = self.parameters["n"], self.parameters.get("num_clusters")
        silent = [self._silence(name, count) for name, count in self.missing.items() if count]
        notes = [f"Instances without a vote: {', '.join(silent)}. They are set aside, pair by pair."] if silent else []
        if (numbers := self.parameters.get("numbers_read_as")) is not None:
            notes.append(numbers)
        if not self.parameters["criteria_given"]:
            notes.append(WITHOUT_CRITERIA)
        return pairs_of_raters_table(
            f"Agreement on {format_count(instances, 'instance')}"
            + ("" if clusters is None else f" of {format_count(clusters, 'cluster')}"),
            self.pairs,
            self.panels,
            notes,
            level=self.parameters["level"],
        )

    def text_tables(self) -> tuple[TextTable, ...]:
        """That table, as other results have several."""
        return (self.text_table(),)

    def _silence(self, name: str, missing: int) -> str:
        not_asked = self.not_asked.get(name, 0)
        return f"{name} {missing}" + (f" ({not_asked} of them not asked)" if not_asked else "")

    def reported(self) -> Iterator[Reported]:
        """Of every two raters, and of each panel."""
        for pair in self.pairs:
            yield Reported("", (pair.first, pair.second), pair, pair.num_compared)
        for panel in self.panels:
            alpha = Measure("krippendorff_alpha", panel.krippendorff_alpha, "number")
            yield Reported("", (panel.name,), alpha)

    def asked(self) -> Iterator[QuestionAsked]:
        """Give the votes of all raters on each instance, which make no verdict."""
        return (replace(asked, selected=None, score=None, verdict=NO_VERDICT) for asked in super().asked())

    def criterion_of(self, cell: Cell) -> Criterion:  # noqa: ARG002 - there is one
        """Return the criterion."""
        return self.criterion

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """No verdict on each cell."""
        return (NO_VERDICT,) * len(self.stored)

    def records(self, *, votes: bool = False) -> Iterator[dict[str, Any]]:  # noqa: ARG002 - a pair casts none
        """A row for each pair; a measure is its estimate, with its limits beside it."""
        yield from map(_pair_record, self.pairs)

    def overview(self) -> dict[str, Any]:
        """Return what was measured of the raters."""
        return {
            "missing": dict(self.missing),
            "not_asked": dict(self.not_asked),
            "panels": plain(self.panels, reasons=True),
            "pairs": plain(self.pairs, reasons=True),
        }


def _pair_record(pair: RaterPair) -> dict[str, Any]:
    record: dict[str, Any] = {
        "first": pair.first,
        "second": pair.second,
        "kind": f"{pair.kinds[0]}-{pair.kinds[1]}",
        "num_compared": pair.num_compared,
    }
    for name in ("accuracy", "adjacent_accuracy", "cohen_kappa", "quadratic_weighted_kappa"):
        record |= dict.fromkeys((name, f"{name}_ci_low", f"{name}_ci_high"))
    defined = {each.name: each for each in measures_of(pair) if each.value}
    return record | {key: value for name, each in defined.items() for key, value in score_entries(name, each).items()}


@remembers
@takes(RecordedOptions)
def aggregate_votes(
    dataset: object,
    votes: str | Sequence[str],
    criteria: object = None,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    gold: str | None = None,
    id_field: str | None = None,
    as_index: bool = False,
    split: str | None = None,
    **options: Any,
) -> Results:
    """Reduce the recorded votes of every row to a verdict, and the verdicts to scores.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        votes: The columns with the votes, one per judge; or one column whose cells are lists or mappings. A vote is
            a label, the value of an option, True or False, or None where there is none (how they are read:
            :mod:`evenhand.data.cells`).
        criteria: Whose options were voted on: a catalog id, path, dict, artifact or frozen criterion; without it the
            votes are yes or no (True or False, 1 or 0).
        rule: The panel rule; None for the scale's default.
        weights: One weight per judge, in the order of the columns, or judge -> weight; for the weighted rules.
        gold: The column with the label that is right.
        id_field: The column with the id of each row, which records and saved files have beside its index.
        as_index: Votes and labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        **options: Of the intervals; see :class:`~evenhand.options.RecordedOptions`.

    Raises:
        InvalidInputError: No such column, a vote that is no option, or weights that do not fit.
        UnknownRuleError: If the rule does not exist or does not fit the criterion.
    """
    drawn = RecordedOptions.of_call(options, signature(aggregate_votes).parameters)
    criterion = YES_OR_NO if criteria is None else load_criterion(criteria)
    rule = check_rule(rule, criterion.scale)
    read = _RecordedVotes.of(read_rows(dataset, split), votes, gold, lambda _: criterion, as_index=as_index)
    if len(read.gold) > 1:
        raise InvalidInputError(f"the column {gold!r} holds several labels a row; gold is the one that is right")
    clusters = read_clusters(read.rows, drawn.cluster_field, apart=recorded_columns(votes, gold))
    named = named_weights(weights, [column.name for column in read.judges])
    right = next((read_column(column, read.reader, "reference") for column in read.gold), (None,) * len(read.rows))
    labels = [None if place is None else criterion.labels[place] for place in right]
    cells = _cells(cast_votes(read.judges, len(read.rows), read.reader), reference=labels, cluster=clusters)
    said = {"gold": gold, "criteria_given": criteria is not None, "rule": rule, "weights": named}
    notes = [] if read.note is None else [read.note]
    header = {
        "criterion": criterion.model_dump(mode="json"),
        "notes": notes,
        "parameters": {
            **read.parameters(drawn),
            **row_ids(read.rows, id_field),
            **said,
            **dict(drawn),
        },
    }
    return Results.of_cells(VoteAnalysis, header, cells)


@remembers
@takes(RecordedOptions)
def agreement(
    dataset: object,
    votes: str | Sequence[str],
    gold: str | Sequence[str] | None = None,
    criteria: object = None,
    *,
    id_field: str | None = None,
    as_index: bool = False,
    split: str | None = None,
    **options: Any,
) -> Results:
    """How far judges agree with people, people with people, and judges with judges.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        votes: The columns with the judges' votes, one per judge; or one column whose cells are lists or mappings. A
            vote is a label, the value of an option, True or False, or None where there is none (how they are read:
            :mod:`evenhand.data.cells`).
        gold: The column with the labels that a person gave; several are several people.
        criteria: Whose options were chosen: a catalog id, path, dict, artifact or frozen criterion. An ordinal one
            gives weighted kappas and adjacent accuracies too; without it the options are the labels that occur.
        id_field: The column with the id of each row, which records and saved files have beside its index.
        as_index: Votes and labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        **options: Of the intervals; see :class:`~evenhand.options.RecordedOptions`.

    Raises:
        InvalidInputError: No such column, fewer than two raters, or a vote that is no option.
    """

    def criterion_of(columns: Sequence[VoteColumn]) -> Criterion:
        names = [column.name for column in columns]
        if len(names) < 2 or len(set(names)) < len(names):
            raise InvalidInputError(
                f"the raters are {names!r}; agreement is between at least two, each named once: name more columns in "
                "votes, or people's in gold"
            )
        if as_index and criteria is None:
            raise InvalidInputError("as_index=True says that numbers are places of options; give the criteria")
        return categories_of(columns) if criteria is None else load_criterion(criteria)

    drawn = RecordedOptions.of_call(options, signature(agreement).parameters)
    read = _RecordedVotes.of(read_rows(dataset, split), votes, gold, criterion_of, as_index=as_index)
    clusters = read_clusters(read.rows, drawn.cluster_field, apart=recorded_columns(votes, gold))
    judges = cast_votes(read.judges, len(read.rows), read.reader)
    people = cast_votes(read.gold, len(read.rows), read.reader, "human")
    cells = _cells([(*judged, *said) for judged, said in zip(judges, people, strict=True)], cluster=clusters)
    named = {"gold": [column.name for column in read.gold], "criteria_given": criteria is not None}
    parameters = {
        **read.parameters(drawn),
        **row_ids(read.rows, id_field),
        **named,
        "numbers_read_as": read.note,
        **dict(drawn),
    }
    return Results.of_cells(
        AgreementAnalysis, {"criterion": read.reader.criterion.model_dump(mode="json"), "parameters": parameters}, cells
    )


def _cells(cast: Sequence[tuple[Vote, ...]], **about: Sequence[str | None] | None) -> Iterator[Cell]:
    """The votes on each instance, and what columns say of it."""
    for row, votes in enumerate(cast):
        yield Cell({"instance": row, **{name: column and column[row] for name, column in about.items()}}, votes)


@dataclass(frozen=True)
class _RecordedVotes:
    """The columns that hold votes and labels, and who reads them."""

    rows: Sequence[Row]
    judges: tuple[VoteColumn, ...]
    gold: tuple[VoteColumn, ...]
    reader: VoteReader

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        votes: str | Sequence[str],
        gold: str | Sequence[str] | None,
        criterion_of: Callable[[Sequence[VoteColumn]], Criterion],
        *,
        as_index: bool,
    ) -> Self:
        """Find the columns; the criterion may depend on what they hold."""
        judges = columns_of(rows, votes, "votes")
        people = () if gold is None else columns_of(rows, gold, "gold")
        return cls(rows, judges, people, VoteReader.of(criterion_of((*judges, *people)), as_index=as_index))

    @property
    def columns(self) -> tuple[VoteColumn, ...]:
        return (*self.judges, *self.gold)

    @property
    def note(self) -> str | None:
        """How numbers were read, where that is not seen."""
        return self.reader.note([column.cells for column in self.columns])

    def parameters(self, how: RecordedOptions) -> dict[str, Any]:
        return {
            "evenhand_version": __version__,
            "n": len(self.rows),
            **row_groups(self.rows, how.group_fields),
            "votes": [column.name for column in self.judges],
            "as_index": self.reader.as_index,
        }

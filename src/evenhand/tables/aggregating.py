"""Recorded votes of a data set to verdicts: one an instance, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import evenhand
from evenhand.aggregation import aggregate, check_rule
from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.data.cells import NOT_ASKED
from evenhand.data.fields import read_clusters
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from evenhand.recorded import (
    NO_VERDICT,
    YES_OR_NO,
    Column,
    VoteReader,
    VoteSummary,
    columns_of,
    judge_weights,
    read_column,
    summarize_votes,
)
from evenhand.recorded.columns import recorded_columns
from evenhand.reports import confusion_table, vote_summary_table
from evenhand.results.measures import plain
from evenhand.results.render import TextTable
from evenhand.statistics.intervals import IntervalLevel
from evenhand.tables.notes import unread_note
from evenhand.tables.read_only import PrintedTables, read_only
from evenhand.tables.saved import load_table, save_table
from evenhand.unitxt.loading import load_criterion
from evenhand.votes import Verdict, Vote

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class VoteTable(PrintedTables):
    """The result of :func:`aggregate_votes`.

    Attributes:
        verdicts: One an instance, with its votes.
        references: Per instance the label that is right; None where it is not known.
        summary: What they come to.
        criterion: Whose options were voted on.
        parameters: What made the table: columns, rule, weights, level, resamples, seed, version.
        notes: What the reader must know about how the votes were read.
        clusters: What each instance belongs to; None where instances do not depend on each other.
    """

    verdicts: tuple[Verdict, ...]
    references: tuple[str | None, ...]
    summary: VoteSummary
    criterion: Criterion
    parameters: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", read_only(self.parameters))

    def text_table(self) -> TextTable:
        """The summary as texts."""
        judges = ", ".join(self.parameters["votes"])
        title = f"{self.criterion.name}: {self.parameters['rule']} of {judges}"
        leading = unread_note({"the aggregated score": self.summary.scores.unread})
        return vote_summary_table(title, self.summary, (*leading, *self.notes))

    def confusion_table(self) -> TextTable:
        """References against verdicts as texts.

        Raises:
            InvalidInputError: If there are no references.
        """
        if self.summary.comparison is None:
            raise InvalidInputError("there are no references to compare with; name their column: gold=…")
        return confusion_table(self.summary.comparison)

    def text_tables(self) -> tuple[TextTable, ...]:
        """The summary, and the confusion matrix where there are references."""
        if self.summary.comparison is None:
            return (self.text_table(),)
        return self.text_table(), self.confusion_table()

    def to_pandas(self) -> pd.DataFrame:
        """One row an instance, without the votes."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        records = self._records()
        for record in records:
            del record["votes"]
        return pd.DataFrame.from_records(records)

    def save(self, path: str | Path) -> None:
        """Write JSONL: a line for the table, with the summary, then a line an instance, with its votes."""
        header = {
            "parameters": dict(self.parameters),
            "criterion": self.criterion.model_dump(mode="json"),
            "summary": plain(self.summary),
            "notes": list(self.notes),
        }
        rows = (
            {**record, "verdict": verdict.model_dump(mode="json", exclude_defaults=True)}
            for record, verdict in zip(self._records(), self.verdicts, strict=True)
        )
        save_table(path, "aggregated_votes", header, rows)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; the summary is made anew of the verdicts.

        Raises:
            InvalidInputError: If the file is something else.
        """
        return load_table(path, "aggregated_votes", cls._of, cls.__name__)

    @classmethod
    def _of(cls, header: dict[str, Any], rows: list[dict[str, Any]]) -> Self:
        criterion, parameters = Criterion.model_validate(header["criterion"]), header["parameters"]
        verdicts = tuple(Verdict.model_validate(row["verdict"]) for row in rows)
        references = tuple(row["reference"] for row in rows)
        clusters = tuple(row["cluster"] for row in rows) if parameters.get("cluster_field") else None
        return cls(
            verdicts=verdicts,
            references=references,
            summary=summarize_votes(
                verdicts,
                criterion,
                [None if label is None else criterion.labels.index(label) for label in references],
                level=IntervalLevel(parameters["level"], clusters, parameters.get("interval", "auto")),
                resamples=parameters["resamples"],
                seed=parameters["seed"],
            ),
            criterion=criterion,
            parameters=parameters,
            notes=tuple(header["notes"]),
            clusters=clusters,
        )

    def __repr__(self) -> str:
        return f"<VoteTable of {len(self.parameters['votes'])} judges and {len(self.verdicts)} instances>\n{self}"

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "instance": instance,
                "selected_option": verdict.selected_label,
                "aggregated_value": verdict.aggregated_value,
                "agreement": verdict.agreement,
                "na": verdict.na,
                "unscored_reason": verdict.unscored_reason,
                "reference": reference,
                "cluster": None if self.clusters is None else self.clusters[instance],
                "match": None
                if reference is None or verdict.selected_label is None
                else verdict.selected_label == reference,
                "votes": {vote.judge_id: vote.selected_label for vote in verdict.votes},
            }
            for instance, (verdict, reference) in enumerate(zip(self.verdicts, self.references, strict=True))
        ]


@takes()
def aggregate_votes(
    dataset: object,
    votes: str | Sequence[str],
    criteria: object = None,
    rule: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    *,
    gold: str | None = None,
    as_index: bool = False,
    split: str | None = None,
    cluster_field: str | bool | None = None,
    level: float = 0.95,
    interval: str = "auto",
    resamples: int = 1000,
    seed: int = 0,
) -> VoteTable:
    """Reduce the recorded votes of every row to a verdict, and the verdicts to scores.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        votes: The columns with the votes, one a judge; or one column whose cells are lists or mappings. A vote is a
            label, the value of an option, True or False, or None where there is none (how they are read:
            :mod:`evenhand.data.cells`).
        criteria: Whose options were voted on: a catalog id, path, dict, artifact or frozen criterion; without it the
            votes are yes or no (True or False, 1 or 0).
        rule: The panel rule; None for the scale's default.
        weights: One weight a judge, in the order of the columns, or judge -> weight; for the weighted rules.
        gold: The column with the label that is right.
        as_index: Votes and labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        cluster_field: The column whose equal values mark rows that belong together; False where rows do not depend on
            each other. See :class:`~evenhand.judging.settings.RunOptions`.
        level: Of the intervals.
        interval: How those of means and rates are made: see :func:`~evenhand.statistics.ratio_intervals`.
        resamples: Draws for the intervals of kappa and alpha.
        seed: Of the draws.

    Raises:
        InvalidInputError: No such column, a vote that is no option, or weights that do not fit.
        UnknownRuleError: If the rule does not exist or does not fit the criterion.
    """
    rows = read_rows(dataset, split)
    criterion = YES_OR_NO if criteria is None else load_criterion(criteria)
    rule = check_rule(rule, criterion.scale)
    judges = columns_of(rows, votes, "votes")
    references = columns_of(rows, gold, "gold") if gold is not None else ()
    if len(references) > 1:
        raise InvalidInputError(f"the column {gold!r} holds several labels a row; gold is the one that is right")
    reader = VoteReader.of(criterion, as_index=as_index)
    right = read_column(references[0], reader, "reference") if references else None
    named = _named_weights(weights, judges)
    clusters = read_clusters(rows, cluster_field, apart=recorded_columns(votes, gold))
    confidence = IntervalLevel(level, clusters, interval)
    cast = [[reader.vote(judge.name, index) for index in read_column(judge, reader, "judge")] for judge in judges]
    asked = [
        [votes[row] for judge, votes in zip(judges, cast, strict=True) if judge.cells[row] is not NOT_ASKED]
        for row in range(len(rows))
    ]
    verdicts = tuple(_verdict(votes, row, criterion, rule, named) for row, votes in enumerate(asked))
    note = reader.note([column.cells for column in (*judges, *references)])
    return VoteTable(
        verdicts=verdicts,
        references=tuple(None if place is None else criterion.labels[place] for place in right)
        if right is not None
        else (None,) * len(rows),
        summary=summarize_votes(verdicts, criterion, right, level=confidence, resamples=resamples, seed=seed),
        criterion=criterion,
        parameters={
            "evenhand_version": evenhand.__version__,
            "n": len(rows),
            "votes": [column.name for column in judges],
            "gold": gold,
            "criteria_given": criteria is not None,
            "as_index": as_index,
            "rule": rule,
            "weights": named,
            "cluster_field": cluster_field,
            "level": level,
            "interval": interval,
            "resamples": resamples,
            "seed": seed,
        },
        notes=() if note is None else (note,),
        clusters=clusters,
    )


def _named_weights(
    weights: Mapping[str, float] | Sequence[float] | None, judges: Sequence[Column]
) -> dict[str, float] | None:
    names = [column.name for column in judges]
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        if len(weights) != len(names):
            raise InvalidInputError(f"there are {len(weights)} weights for the judges {names!r}; give one a judge")
        return dict(zip(names, weights, strict=True))
    unknown = [judge for judge in weights if judge not in names]
    if unknown:
        raise InvalidInputError(f"the weights name {unknown!r}, who did not vote; the judges are {names!r}")
    return dict(weights)


def _verdict(
    votes: Sequence[Vote], row: int, criterion: Criterion, rule: str, weights: Mapping[str, float] | None
) -> Verdict:
    if not votes:
        return NO_VERDICT
    return aggregate(votes, criterion, rule, weights=judge_weights(weights, votes, f"instance {row}"))

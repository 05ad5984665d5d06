"""How far judges and people agree, from the columns of a data set: a frozen table of every two and of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import TypeAdapter

import evenhand
from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.data.fields import read_clusters
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_count
from evenhand.recorded import (
    NOT_ASKED,
    Drawing,
    PanelAgreement,
    Rater,
    RaterPair,
    Scale,
    Undefined,
    VoteReader,
    all_pairs,
    categories_of,
    columns_of,
    panels,
    read_column,
)
from evenhand.recorded.columns import recorded_columns
from evenhand.reports import pairs_of_raters_table
from evenhand.results.render import TextTable
from evenhand.statistics import Agreement, Interval
from evenhand.statistics.intervals import IntervalLevel
from evenhand.tables.read_only import PrintedTables, read_only
from evenhand.tables.saved import load_table, save_table
from evenhand.unitxt.loading import load_criterion

if TYPE_CHECKING:
    import pandas as pd

WITHOUT_CRITERIA = (
    "Without criteria the options are the labels that occur, without an order: give criteria for levels, weighted "
    "kappa and options that nobody chose."
)


@dataclass(frozen=True)
class AgreementTable(PrintedTables):
    """The result of :func:`agreement`.

    Attributes:
        pairs: Every two raters: people with judges (the judges' accuracy), people, judges.
        panels: Krippendorff's alpha of the judges, of the people, and of all, where there are at least two.
        criterion: Whose options were chosen; made of the labels that occur where none was given.
        missing: Rater -> instances without a vote: abstentions, and those on which the rater was not asked.
        not_asked: Rater -> those of them on which the rater was not asked.
        parameters: What made the table: columns, n, level, resamples, seed, version.
    """

    pairs: tuple[RaterPair, ...]
    panels: tuple[PanelAgreement, ...]
    criterion: Criterion
    missing: Mapping[str, int]
    parameters: Mapping[str, Any]
    not_asked: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing", read_only(self.missing))
        object.__setattr__(self, "not_asked", read_only(self.not_asked))
        object.__setattr__(self, "parameters", read_only(self.parameters))

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
        """The table as texts."""
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

    def _silence(self, name: str, missing: int) -> str:
        not_asked = self.not_asked.get(name, 0)
        return f"{name} {missing}" + (f" ({not_asked} of them not asked)" if not_asked else "")

    def text_tables(self) -> tuple[TextTable, ...]:
        """That table, as other results have several."""
        return (self.text_table(),)

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair; a measure is its estimate, with its limits beside it."""
        import pandas as pd  # noqa: PLC0415 - a second of import that only this needs

        return pd.DataFrame.from_records([_flat_pair(pair) for pair in self.pairs])

    def save(self, path: str | Path) -> None:
        """Write JSONL: a line for the table, with the alphas, then a line a pair.

        A measure is its fields; one that the data do not define has only the field ``reason``.
        """
        header = {
            "parameters": dict(self.parameters),
            "missing": dict(self.missing),
            "not_asked": dict(self.not_asked),
            "criterion": self.criterion.model_dump(mode="json"),
            "panels": [asdict(panel) for panel in self.panels],
        }
        save_table(path, "agreement", header, [asdict(pair) for pair in self.pairs])

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            InvalidInputError: If the file is something else.
        """
        return load_table(path, "agreement", cls._of, cls.__name__)

    @classmethod
    def _of(cls, header: dict[str, Any], rows: list[dict[str, Any]]) -> Self:
        return cls(
            pairs=TypeAdapter(tuple[RaterPair, ...]).validate_python(rows),
            panels=TypeAdapter(tuple[PanelAgreement, ...]).validate_python(header["panels"]),
            criterion=Criterion.model_validate(header["criterion"]),
            missing=header["missing"],
            parameters=header["parameters"],
            not_asked=header.get("not_asked", {}),
        )

    def __repr__(self) -> str:
        return f"<AgreementTable of {len(self.missing)} raters and {self.parameters['n']} instances>\n{self}"


@takes()
def agreement(
    dataset: object,
    votes: str | Sequence[str],
    gold: str | Sequence[str] | None = None,
    criteria: object = None,
    *,
    as_index: bool = False,
    split: str | None = None,
    cluster_field: str | bool | None = None,
    level: float = 0.95,
    interval: str = "auto",
    resamples: int = 1000,
    seed: int = 0,
) -> AgreementTable:
    """How far judges agree with people, people with people, and judges with judges.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        votes: The columns with the judges' votes, one a judge; or one column whose cells are lists or mappings. A vote
            is a label, the value of an option, True or False, or None where there is none (how they are read:
            :mod:`evenhand.data.cells`).
        gold: The column with the labels that a person gave; several are several people.
        criteria: Whose options were chosen: a catalog id, path, dict, artifact or frozen criterion. An ordinal one
            gives weighted kappas and adjacent accuracies too; without it the options are the labels that occur.
        as_index: Votes and labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        cluster_field: The column whose equal values mark rows that belong together; False where rows do not depend on
            each other. See :class:`~evenhand.judging.settings.RunOptions`.
        level: Of the intervals.
        interval: How those of shares are made: see :func:`~evenhand.statistics.ratio_intervals`.
        resamples: Draws for the intervals of kappa and alpha.
        seed: Of the draws.

    Raises:
        InvalidInputError: No such column, fewer than two raters, or a vote that is no option.
    """
    rows = read_rows(dataset, split)
    judges = columns_of(rows, votes, "votes")
    humans = () if gold is None else columns_of(rows, gold, "gold")
    names = [column.name for column in (*judges, *humans)]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InvalidInputError(
            f"the raters are {names!r}; agreement is between at least two, each named once: name more columns in "
            "votes, or people's in gold"
        )
    if as_index and criteria is None:
        raise InvalidInputError("as_index=True says that numbers are places of options; give the criteria")
    criterion = categories_of([*judges, *humans]) if criteria is None else load_criterion(criteria)
    reader, scale = VoteReader.of(criterion, as_index=as_index), Scale.of(criterion)
    raters = [Rater(column.name, "judge", read_column(column, reader, "judge")) for column in judges]
    raters += [Rater(column.name, "human", read_column(column, reader, "human")) for column in humans]
    clusters = read_clusters(rows, cluster_field, apart=recorded_columns(votes, gold))
    confidence = IntervalLevel(level, clusters, interval)
    drawn = Drawing(level=confidence, resamples=resamples, seed=seed)
    return AgreementTable(
        pairs=all_pairs(raters, scale, **drawn),
        panels=panels(raters, scale, **drawn),
        criterion=criterion,
        missing={rater.name: rater.selected.count(None) for rater in raters},
        parameters={
            "evenhand_version": evenhand.__version__,
            "n": len(rows),
            "votes": [column.name for column in judges],
            "gold": [column.name for column in humans],
            "criteria_given": criteria is not None,
            "as_index": as_index,
            "numbers_read_as": reader.note([column.cells for column in (*judges, *humans)]),
            "cluster_field": cluster_field,
            "num_clusters": confidence.n_clusters,
            "interval": interval,
            **drawn,
            "level": level,
        },
        not_asked={column.name: sum(cell is NOT_ASKED for cell in column.cells) for column in (*judges, *humans)},
    )


def _flat_pair(pair: RaterPair) -> dict[str, Any]:
    record: dict[str, Any] = {
        "first": pair.first,
        "second": pair.second,
        "kind": f"{pair.kinds[0]}-{pair.kinds[1]}",
        "num_compared": pair.num_compared,
    }
    for name in ("accuracy", "adjacent_accuracy", "cohen_kappa", "quadratic_weighted_kappa"):
        record |= _flat_measure(name, getattr(pair, name))
    return record


def _flat_measure(name: str, found: Interval | Agreement | Undefined | None) -> dict[str, float | None]:
    interval = found.interval if isinstance(found, Agreement) else found
    if not isinstance(interval, Interval):
        return dict.fromkeys((name, f"{name}_ci_low", f"{name}_ci_high"))
    return {name: interval.estimate, f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}

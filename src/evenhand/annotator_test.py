"""May a judge stand in for annotators: the test on columns of recorded votes, or on a result and labels of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Literal

from evenhand.data.cells import LabelReader, columns_of
from evenhand.data.fields import read_clusters
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from evenhand.labels.annotators import StandInTest, check_epsilon, said_in_columns, said_of_results, stand_in_test
from evenhand.labels.people import read_gold
from evenhand.options import IntervalOptions, takes
from evenhand.results.results import Results
from evenhand.statistics.agreement import Similarity
from evenhand.unitxt.loading import load_criterion


@takes(IntervalOptions)
def alternative_annotator_test(
    data: object,
    votes: str | Sequence[str] | None = None,
    annotators: object = None,
    criteria: object = None,
    *,
    epsilon: float | Literal["expert", "skilled", "crowd"],
    scoring: Literal["auto", "exact", "rmse"] | Similarity = "auto",
    alpha: float = 0.05,
    annotator_field: str | None = None,
    label_field: str | None = None,
    as_index: bool = False,
    split: str | None = None,
    **options: Any,
) -> StandInTest:
    """May a judge stand in for annotators? The alternative annotator test.

    One annotator after the other is left out, and the judge and that annotator are compared: which of them is nearer to
    the others, instance by instance. The judge passes if it outdoes half of the annotators, ε given
    (:func:`~evenhand.statistics.agreement.alternative_annotator` has the formulas; Calderon, Reichart and
    Dror, ACL 2025, arXiv 2501.10970). Three annotators or more are needed, 30 instances or more advised.

    Args:
        data: A data set with columns of judges and people (see :func:`~evenhand.data.rows.read_rows`); or a result of
            ``judge``, ``winrates``, ``checklist``, ``aggregate_votes`` or ``run_mode``, whose verdicts are tested.
        votes: The columns with the judges' votes, one per judge, each tested; None for a result.
        annotators: The columns with what people said, one per annotator; for a result their labels, with a column
            ``annotator``: a file, rows, or what ``read_labels`` returns.
        criteria: Whose options were chosen, for columns; without it the options are the labels that occur.
        epsilon: What the judge is given in advance for being cheaper, from 0 to below 1: to be stated. Recommended:
            0.2 where annotators are experts, 0.15 where they are skilled, 0.1 for crowd workers; or ``expert``,
            ``skilled``, ``crowd``.
        scoring: How near two labels are: ``exact`` (the same or not), ``rmse`` (by their numbers), or a function of two
            cells that grows with their likeness, for free scores and texts. By default ``rmse`` where options have
            values or an order, else ``exact``. Columns of numbers without criteria take ``rmse`` too.
        alpha: The false discovery rate over the annotators.
        annotator_field: Of labels for a result: the column that says who gave them.
        label_field: Of labels for a result: the column with the label.
        as_index: Votes and labels that are numbers are places of options, 0 for the first.
        split: Which split of a ``DatasetDict``.
        **options: Of the intervals; see :class:`~evenhand.options.IntervalOptions`. With ``cluster_field`` the
            tests are over clusters.

    Raises:
        InvalidInputError: No epsilon, no such columns, labels that cannot be read, or too few annotators to compare.

    >>> said = {"ann": [1, 1, 0, 0] * 10, "bob": [1, 1, 0, 1] * 10, "cyd": [1, 0, 0, 0] * 10, "gpt": [1, 1, 0, 0] * 10}
    >>> rows = [dict(zip(said, row)) for row in zip(*said.values())]
    >>> found = alternative_annotator_test(rows, "gpt", ["ann", "bob", "cyd"], epsilon="skilled")
    >>> found["gpt"].passed, found["gpt"].winning_rate, found["gpt"].advantage.estimate
    (True, 1.0, 1.0)
    """
    drawn = IntervalOptions.of_call(options, signature(alternative_annotator_test).parameters)
    given = check_epsilon(epsilon)
    if not callable(scoring) and scoring not in ("auto", "exact", "rmse"):
        raise InvalidInputError(f"scoring is {scoring!r}; give 'auto', 'exact', 'rmse' or a function of two labels")
    if annotators is None:
        raise InvalidInputError("annotators is None; name the columns of people, or give their labels for a result")
    if isinstance(data, Results):
        own = {"votes": votes, "criteria": criteria, "split": split, "cluster_field": drawn.cluster_field or None}
        _refuse(own, "a result is tested, which has its own: leave it out")
        labels = read_gold(data, annotators, annotator_field=annotator_field, label_field=label_field)
        said = said_of_results(data, labels, scoring)
    else:
        fields = {"annotator_field": annotator_field, "label_field": label_field}
        _refuse(fields, "that is for labels of a result: name columns in annotators")
        if votes is None:
            raise InvalidInputError("votes is None; name the columns with the judges' votes")
        if as_index and criteria is None:
            raise InvalidInputError("as_index=True says that numbers are places of options; give the criteria")
        rows = read_rows(data, split)
        judges = columns_of(rows, votes, "votes")
        people = columns_of(rows, annotators, "annotators")  # type: ignore[arg-type] # it refuses what is no name
        clusters = read_clusters(rows, drawn.cluster_field, apart={each.name for each in (*judges, *people)})
        reader = None if criteria is None else LabelReader(load_criterion(criteria), as_index=as_index)
        said = said_in_columns(judges, people, reader, scoring, clusters or ())
    return stand_in_test(said, epsilon=given, alpha=alpha, level=drawn.level, interval=drawn.interval)


def _refuse(given: Mapping[str, object], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidInputError(f"{name} is {value!r}, and {why}")

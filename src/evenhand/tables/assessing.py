"""Direct assessment of a data set without a recipe: rows and criteria in, a table of judgements out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from evenhand.checked_options import takes
from evenhand.criteria import Criterion, Rubric, names_of, with_na_option
from evenhand.data.fields import check_gold_criteria, context_columns, reference_column, response_columns
from evenhand.data.rows import read_rows
from evenhand.engines.unitxt import judges_of, listed
from evenhand.errors import InvalidInputError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import ExampleFields
from evenhand.judging.settings import RunSettings
from evenhand.modes.rubric import rubric_as_judged
from evenhand.run_options import AssessmentOptions, RunOptions
from evenhand.tables.assessment_plan import Assessing, AssessmentPlan
from evenhand.tables.judgements import JudgementTable
from evenhand.unitxt.catalogs import resolve, shown
from evenhand.unitxt.loading import kind_of, load_criterion, load_rubric


@overload
def judge(
    dataset: object, criteria: object, engine: object, *, dry_run: Literal[True], **options: Any
) -> RunEstimate: ...


@overload
def judge(
    dataset: object, criteria: object, engine: object, *, dry_run: Literal[False] = ..., **options: Any
) -> JudgementTable: ...


@takes(RunOptions, AssessmentOptions)
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = "response",
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_fields: Mapping[str, str] | None = None,
    split: str | None = None,
    dry_run: bool = False,
    **options: Any,
) -> JudgementTable | RunEstimate:
    """Assess every response of a data set against one or more criteria, or against a rubric.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        criteria: A criterion, or several, or one rubric: catalog ids, paths, dicts, artifacts or frozen values. A
            rubric also has a score of each response (``rubric_scores`` of the table).
        engine: The judge, or several that form a panel: catalog ids or engines.
        response_field: The column with the responses; several columns are several systems.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, each criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_fields: Criterion name -> column with the label that a person gave; ``{system}`` stands for the system.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.RunOptions` and
            :class:`~evenhand.run_options.AssessmentOptions`. Odd numbers of ``samples`` cannot tie, and a
            spread of 0 from fewer than 5 proves little where a threshold decides.

    Returns:
        The table of judgements; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    loaded, rubric = _what_is_judged(criteria)
    assessing, run = Assessing.from_options(options, rubric=rubric is not None)
    if rubric is not None:
        rubric = rubric_as_judged(
            rubric,
            auto_na_option=bool(assessing.auto_na_option),
            na_strategy=assessing.na_strategy,
            na_partial=assessing.na_partial,
        )
        loaded = rubric.criteria
    elif assessing.auto_na_option:
        loaded = tuple(with_na_option(criterion) for criterion in loaded)
    check_gold_criteria(gold_fields, names_of(loaded))
    context = context_columns(context_fields)
    systems = response_columns(response_field)
    reference = reference_column(reference_field, rows[0], systems)
    settings = RunSettings.from_options(
        run,
        list(dict.fromkeys(criterion.scale for criterion in loaded)),
        has_values=all(criterion.has_values for criterion in loaded),
    )
    if assessing.calls == "per_item":
        settings = settings.asking(reasoning=settings.flow.flow != "verdict_only")
    plan = AssessmentPlan(
        rows=rows,
        criteria=loaded,
        rubric=rubric,
        judges=judges_of(engine),
        systems=systems,
        context_fields=context,
        reference_field=reference,
        gold_fields=dict(gold_fields or {}),
        pools=assessing.pools(
            loaded, systems, gold_fields or {}, ExampleFields("", context=context, reference=reference), settings.seed
        ),
        assessing=assessing,
        settings=settings,
    )
    return plan.estimate() if dry_run else plan.run()


def _what_is_judged(given: object) -> tuple[tuple[Criterion, ...], Rubric | None]:
    """The criteria, and the rubric that they are of.

    Raises:
        InvalidInputError: If nothing is given, or a rubric beside something else, or a checklist.
    """
    references = [resolve(reference) for reference in listed(given)]
    kinds = [kind_of(reference) for reference in references]
    if "checklist" in kinds:
        raise InvalidInputError(
            f"{shown(references[kinds.index('checklist')])} is a checklist; give criteria or a rubric here"
        )
    if kinds == ["rubric"]:
        rubric = load_rubric(references[0])
        return rubric.criteria, rubric
    if "rubric" in kinds:
        raise InvalidInputError(
            f"{shown(references[kinds.index('rubric')])} is a rubric, which is judged alone; judge the others "
            "in a run of their own"
        )
    criteria = tuple(load_criterion(reference) for reference in references)
    names_of(criteria)
    return criteria, None

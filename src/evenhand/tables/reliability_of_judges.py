"""How reliable a judge is on a data set: rows, criteria and judges in, a report on each judge out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.data.rows import read_rows
from evenhand.errors import InvalidInputError
from evenhand.judging.choices import CHOICE_PROMPTS
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.run_options import RunOptions
from evenhand.tables.arguments import check_gold_criteria, check_resamples, judges_of, listed, names_of
from evenhand.tables.reliability_plan import OF_PANELS, ReliabilityPlan
from evenhand.tables.reliability_report import ReliabilityReport
from evenhand.unitxt.loading import load_any_criterion, load_comparison


@overload
def reliability(
    dataset: object, criteria: object, engine: object, *, dry_run: Literal[True], **options: Any
) -> RunEstimate: ...


@overload
def reliability(
    dataset: object, criteria: object, engine: object, *, dry_run: Literal[False] = ..., **options: Any
) -> ReliabilityReport: ...


@takes(RunOptions)
def reliability(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_fields: Mapping[str, str] | None = None,
    gold_field: str | None = None,
    as_index: bool = False,
    allow_ties: bool = False,
    scale: str = "choice",
    confidences: bool = False,
    prompts: str | Sequence[str] | None = None,
    unrelated_option: bool = False,
    resamples: int = 1000,
    split: str | None = None,
    dry_run: bool = False,
    **options: Any,
) -> ReliabilityReport | RunEstimate:
    """How far a judge can be trusted: what it does when the order changes, and when it is asked again.

    Criteria with options assess the responses in ``response_field``; pairwise criteria compare the ``systems``. The
    votes are those of :func:`judge` and :func:`winrates` with the same options, so that a report on what was judged
    before, and a second report, take their replies from the journal.

    Several engines are several judges, each reported by itself, and how far they agree.

    Args:
        dataset: A ``datasets.Dataset``, a ``DatasetDict`` (with ``split``), or rows.
        criteria: One or more, with options or pairwise: catalog ids, paths, dicts, artifacts or frozen criteria.
        engine: The judge, or several: catalog ids or engines.
        response_field: The column with the responses to assess, or several.
        systems: The columns with the responses to compare, two or more.
        context_fields: What the judge is shown besides: a column, several, or name shown -> column.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_fields: Criterion name -> column with what a person said: a label (``{system}`` stands for the response
            column), or a preferred system or ``tie`` (``{first}`` and ``{second}`` stand for the pair).
        gold_field: That column where there is one criterion.
        as_index: Labels that are numbers are places of options, 0 for the first (default: values of options).
        allow_ties: Offer a tie in comparisons.
        scale: Of comparisons: ``choice`` or ``graded``.
        confidences: Ask for log-probabilities, and measure whether they are calibrated; needs people's labels.
        prompts: Ask for the best of all systems with these prompts too (``select``, ``evaluate_first``,
            ``avoid_order_bias``, ``grade``, or ``all``), and report the Grade Score under each. With three systems or
            more that is done in any case, with ``evaluate_first``, unless this is ``()``; of two the orders say it
            without further calls.
        unrelated_option: Ask for the best of all a second time, with a response to another row among them.
        resamples: Draws for the intervals of kappa and alpha.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the runs would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.RunOptions`. ``samples=3`` or more measures
            whether repeated draws agree.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    judges = judges_of(engine)
    assessed, compared = _sorted_criteria(criteria, allow_ties=allow_ties, graded=scale == "graded")
    _check_subjects(assessed, compared, response_field, systems)
    check_resamples(resamples)
    if not compared and (allow_ties or scale != "choice"):
        raise InvalidInputError(
            f"allow_ties={allow_ties!r} and scale={scale!r} belong to comparisons, and no criterion is pairwise: leave "
            "them out"
        )
    settings = _checked_settings(options, (*assessed, *compared), confidences=confidences)
    gold = _gold_columns(gold_fields, gold_field, [*assessed, *compared])
    plan = ReliabilityPlan(
        rows=rows,
        judges=judges,
        assessed=assessed,
        compared=compared,
        response_field=response_field,
        systems=systems,
        shared={"context_fields": context_fields, "reference_field": reference_field},
        offered={"allow_ties": allow_ties, "scale": scale},
        gold=gold,
        as_index=as_index,
        options={**options, **({"scoring": "expected"} if confidences else {})},
        settings=settings,
        prompts=_choice_prompts(prompts, systems, unrelated_option=unrelated_option),
        unrelated_option=unrelated_option,
        resamples=resamples,
    )
    if dry_run:
        return plan.estimate()
    plan.check()
    return plan.report(confidences=confidences)


def _sorted_criteria(
    criteria: object, *, allow_ties: bool, graded: bool
) -> tuple[tuple[Criterion, ...], tuple[Criterion, ...]]:
    """Those that assess, and those that compare."""
    assessed, compared = [], []
    for reference in listed(criteria):
        criterion = load_any_criterion(reference)
        if criterion.scale == "pairwise":
            compared.append(load_comparison(reference, allow_ties=allow_ties, graded=graded))
        else:
            assessed.append(criterion)
    names_of((*assessed, *compared))
    return tuple(assessed), tuple(compared)


def _check_subjects(
    assessed: Sequence[Criterion], compared: Sequence[Criterion], response_field: object, systems: object
) -> None:
    """Check that what the criteria need is named, and nothing else."""
    for criteria, given, name, what, need in (
        (assessed, response_field, "response_field", "have options and assess responses", "columns with responses"),
        (compared, systems, "systems", "are pairwise and compare systems", "two columns or more, one a system"),
    ):
        names = [criterion.name for criterion in criteria]
        if names and not given:
            raise InvalidInputError(f"the criteria {names!r} {what}, but {name} is {given!r}; name {need}")
        if given and not names:
            kind = "a criterion with options" if name == "response_field" else "a pairwise criterion"
            raise InvalidInputError(f"{name} is {given!r}, but no criterion needs it; leave it out, or give {kind}")


def _choice_prompts(
    prompts: str | Sequence[str] | None, systems: Sequence[str] | None, *, unrelated_option: bool
) -> tuple[str, ...]:
    """The prompts that ask for the best of all systems; none where nobody wants to know."""
    if not systems and (prompts is not None or unrelated_option):
        raise InvalidInputError(
            f"prompts={prompts!r} and unrelated_option={unrelated_option!r} ask for the best of several systems; name "
            "these with systems=[…], or leave both out"
        )
    if prompts is None:
        return ("evaluate_first",) if unrelated_option or len(systems or ()) > 2 else ()
    if not prompts and unrelated_option:
        raise InvalidInputError(f"unrelated_option is True, but prompts is {prompts!r}; name a prompt, or 'all'")
    return tuple(CHOICE_PROMPTS) if prompts == "all" else (prompts,) if isinstance(prompts, str) else tuple(prompts)


def _checked_settings(options: Mapping[str, Any], criteria: Sequence[Criterion], *, confidences: bool) -> RunSettings:
    without = [criterion.name for criterion in criteria if not criterion.has_values]
    if confidences and without:
        raise InvalidInputError(
            f"confidences=True needs a value in [0, 1] for each option, as scoring='expected' does, and the criteria "
            f"{without!r} have options without one: give them values, or leave confidences out"
        )
    if options.get("stop_early"):
        raise InvalidInputError(
            "stop_early=True leaves out draws because of what the others say, and the agreement of draws is measured "
            "here; leave it out"
        )
    for name in OF_PANELS:
        if options.get(name) is not None:
            raise InvalidInputError(
                f"{name} is {options[name]!r}, which belongs to panels; here every judge is reported by itself: leave "
                "it out"
            )
    return RunSettings.from_options(
        options,
        list(dict.fromkeys(criterion.scale for criterion in criteria)),
        has_values=all(criterion.has_values for criterion in criteria),
    )


def _gold_columns(
    gold_fields: Mapping[str, str] | None, gold_field: str | None, criteria: Sequence[Criterion]
) -> dict[str, str]:
    """Criterion name -> column."""
    names = [criterion.name for criterion in criteria]
    if gold_field is not None:
        if gold_fields or len(names) > 1:
            raise InvalidInputError(
                f"gold_field={gold_field!r} is for one criterion without gold_fields; here are {names!r}: say which "
                "column belongs to which with gold_fields={criterion: column}"
            )
        return {names[0]: gold_field}
    check_gold_criteria(gold_fields, names)
    return dict(gold_fields or {})

"""The Grade Score of judges on a data set without a recipe: rows and candidates in, a table of scores out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, overload

from evenhand.checked_options import takes
from evenhand.criteria import Criterion
from evenhand.data.fields import (
    context_columns,
    field_of,
    read_clusters,
    reference_column,
    row_groups,
    row_ids,
    warn_of_left_out_context,
)
from evenhand.data.rows import Row, read_rows
from evenhand.data.systems import read_responses
from evenhand.engines.base import JudgeEngine
from evenhand.engines.names import judges_of, listed
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.modes.best_of import (
    CHOICE_PROMPTS,
    choice_prompt,
    warn_of_equal_candidates,
)
from evenhand.modes.grade_scores import UNRELATED, GradeMode, check_grade_settings, with_unrelated
from evenhand.modes.mode import Subject, subject_of_row
from evenhand.run_options import ChoiceVoteFields, RunOptions, StreamOptions
from evenhand.streams import streamed
from evenhand.tables.grade_table import GradedInstance, GradeTable
from evenhand.tables.recorded_choices import recorded_grades
from evenhand.tables.vote_rows import VoteRows, of_run, refuse_asking, vote_fields
from evenhand.unitxt.loading import load_comparison


def _graded(
    subjects: Sequence[Subject], judges: Sequence[JudgeEngine], settings: RunSettings, prompts: Sequence[str]
) -> Iterator[GradedInstance]:
    """What is asked under each prompt, one after the other within one budget."""
    for prompt in prompts:
        mode = GradeMode(_asking(settings, prompt))
        results = list(zip(subjects, mode.judge(subjects, judges), strict=True))
        spent = (vote for _, result in results for votes in result.runs for vote in votes)
        settings = replace(settings, limits=settings.limits.after(spent))
        for run in range(1 + (UNRELATED in subjects[0].facts)):
            for about, result in results:
                yield GradedInstance(
                    instance=about.instance,
                    prompt=prompt,
                    with_unrelated=bool(run),
                    candidates=about.names,
                    missing=about.missing,
                    unrelated=about.facts[UNRELATED] if run else None,
                    votes=result.runs[run],
                    cluster=about.cluster,
                )


def _asking(settings: RunSettings, prompt: str) -> RunSettings:
    return settings.asking(prompt=choice_prompt(prompt, settings.flow.flow))


def _texts(row: Row, place: int, candidates: str | tuple[str, ...]) -> Mapping[str, str | None]:
    """The candidates of one row."""
    if isinstance(candidates, str):
        held = field_of(row, candidates, place, "candidates")
    else:
        held = {name: field_of(row, name, place, "candidates") for name in candidates}
    texts = read_responses(held, place)
    if len(texts) < 2:
        raise InvalidInputError(
            f"instance {place} has {len(texts)} candidate(s), {list(texts)!r}; the best is chosen of two or more "
            "(None where one is missing)"
        )
    return texts


@overload
def grade_scores(
    dataset: object = ...,
    candidates: str | Sequence[str] | None = ...,
    criteria: object = ...,
    engine: object = ...,
    *,
    dry_run: Literal[True],
    **options: Any,
) -> RunEstimate: ...


@overload
def grade_scores(
    dataset: object = ...,
    candidates: str | Sequence[str] | None = ...,
    criteria: object = ...,
    engine: object = ...,
    *,
    dry_run: Literal[False] = ...,
    **options: Any,
) -> GradeTable: ...


@takes(RunOptions, ChoiceVoteFields, StreamOptions)
@streamed
def grade_scores(
    dataset: object = None,
    candidates: str | Sequence[str] | None = None,
    criteria: object = None,
    engine: object = None,
    *,
    votes: object = None,
    prompts: str | Sequence[str] = ("evaluate_first",),
    unrelated_option: bool = False,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    id_field: str | None = None,
    split: str | None = None,
    dry_run: bool = False,
    **options: Any,
) -> GradeTable | RunEstimate:
    """How good judges are at choosing the best of several candidates: the Grade Score, by judge and prompt.

    Every instance is asked once in each of the rotations of its candidates. A candidate that is None is left out; an
    instance with fewer than two left is unscored (``missing_response``) and counted.

    With ``votes`` nothing is asked: recorded choices come to the same table. A row is the choice of a judge among
    candidates in one order; a vote is the name of a candidate, or the place (``A`` the first) at which it was shown.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        candidates: The column that holds each instance's list of candidates (or dict of name and candidate), or several
            columns, one per candidate. Of recorded choices: the names of the candidates in their own order (by default
            the first order of each instance).
        criteria: The criterion: a catalog id, path, dict, artifact or frozen criterion; options play no part.
        engine: The judge, or several, each of which gets its own scores: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        votes: Recorded choices instead of a judge: the column of ``dataset`` that holds them, or several, one per
            judge; without a ``dataset`` the data themselves, with the column ``vote``.
        prompts: ``select``, ``evaluate_first``, ``avoid_order_bias``, ``grade``, several of them, or ``all``.
        unrelated_option: Ask everything a second time with a candidate of another instance among the candidates.
        context_fields: What the judge is shown beside the candidates: a column, several, or name shown -> column.
            Without it, the criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        id_field: The column with the id of each row, which records and saved files have beside its index.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.RunOptions`. Orders, rules and flow are those of
            a Grade Score. With ``samples`` each draw is a set of rotations of its own. ``max_calls`` and ``max_cost``
            are for all prompts together. For recorded choices :class:`~evenhand.run_options.ChoiceVoteFields`.

    Returns:
        The table of scores; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    if votes is not None:
        refuse_asking(
            engine=engine,
            dry_run=dry_run,
            unrelated_option=unrelated_option,
            prompts=None if tuple(listed(prompts)) == ("evaluate_first",) else prompts,
            context_fields=context_fields,
            reference_field=reference_field,
        )
        fields = vote_fields(options, ChoiceVoteFields, id_field=id_field)
        recorded = VoteRows.of(dataset, votes, fields, split=split, each=True)
        named = None if candidates is None else tuple(map(str, _columns(listed(candidates))))
        return recorded_grades(recorded, named, None if criteria is None else _criterion(criteria), options)
    options = of_run(options, ChoiceVoteFields)
    rows = read_rows(dataset, split)
    settings = _settings(options, unrelated_option)
    criterion = _criterion(criteria)
    columns = _columns(candidates)
    context, reference = context_columns(context_fields), reference_column(reference_field, rows[0], listed(columns))
    kept = {**row_ids(rows, id_field), **row_groups(rows, settings.options.group_fields)}
    clusters = read_clusters(rows, settings.cluster_field, apart=[str(column) for column in listed(columns)])
    read = tuple(
        subject_of_row(
            row,
            place,
            _texts(row, place, columns),
            criterion,
            context_fields=context,
            reference_field=reference,
            row_id=kept["ids"][place] if "ids" in kept else "",
            cluster=None if clusters is None else clusters[place],
        )
        for place, row in enumerate(rows)
    )
    warn_of_left_out_context(criterion, context)
    warn_of_equal_candidates(read)
    judges, names = judges_of(engine, options.get("model"), batch=options.get("batch")), _prompts(prompts)
    subjects = with_unrelated(read, seed=settings.seed) if unrelated_option else read
    modes = [GradeMode(_asking(settings, name)) for name in names]
    if dry_run:
        return RunEstimate.total([mode.estimate(subjects, judges) for mode in modes])
    return GradeTable(
        instances=tuple(_graded(subjects, judges, settings, names)),
        criterion=criterion,
        parameters={
            **modes[0].made_by(judges, subjects, modes[1:]),
            "prompts": list(names),
            "n": len(rows),
            **kept,
            "candidates": columns if isinstance(columns, str) else list(columns),
            "unrelated_option": unrelated_option,
            "context_fields": None if context is None else dict(context),
            "reference_field": reference,
            **settings.parameters(),
        },
    )


def _settings(options: Mapping[str, Any], unrelated_option: object) -> RunSettings:
    if options.get("prompt") is not None:
        raise InvalidInputError(f"prompt is {options['prompt']!r}; name one or several with prompts=…")
    given = {"flow": "one_step", "orders": "cyclic", "check_positional_bias": False, **options}
    settings = RunSettings.from_options(given)
    if settings.flow.flow != "one_step":
        raise InvalidInputError(
            f"flow is {settings.flow.flow!r}, but the prompts ask for reasons and choice in one reply: leave it out"
        )
    if settings.rules.scoring != "selected":
        raise InvalidInputError(
            f"scoring is {settings.rules.scoring!r}, but a choice among candidates has no values: leave it out"
        )
    rules = (settings.rules.aggregation, settings.rules.on_position_bias)
    check_grade_settings(settings, unrelated_option=unrelated_option, rules=rules)
    return settings


def _columns(candidates: object) -> str | tuple[str, ...]:
    if isinstance(candidates, str):
        return candidates
    columns = tuple(candidates) if isinstance(candidates, (list, tuple)) else ()
    if len(columns) < 2 or len(set(columns)) < len(columns) or not all(isinstance(name, str) for name in columns):
        raise InvalidInputError(
            f"candidates is {candidates!r}; name the column that holds each instance's list of candidates, or at least "
            "two columns with a candidate each"
        )
    return columns


def _criterion(criteria: object) -> Criterion:
    given = listed(criteria)
    if criteria is None or len(given) != 1:
        raise InvalidInputError(
            f"criteria is {criteria!r}; a Grade Score is about one criterion, such as "
            "'criteria.evenhand.pairwise.overall_quality': call grade_scores once for each"
        )
    return load_comparison(given[0])


def _prompts(prompts: object) -> tuple[str, ...]:
    if prompts == "all":
        return tuple(CHOICE_PROMPTS)
    names = tuple(str(name) for name in listed(prompts))
    for name in names:
        if name not in CHOICE_PROMPTS:
            raise InvalidInputError(f"prompts names {name!r}. {did_you_mean(name, [*CHOICE_PROMPTS, 'all'])}")
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"prompts is {prompts!r}; name at least one, each once, or 'all'")
    return names

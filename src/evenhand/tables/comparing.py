"""Comparing systems on a data set without a recipe: rows, a criterion and a judge in, a table of winrates out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any, Literal, overload

from evenhand.checked_options import takes
from evenhand.criteria import Criterion, fold_label
from evenhand.data.cells import is_abstention, is_written_nothing, plain_cell
from evenhand.data.fields import (
    context_columns,
    field_of,
    group_columns,
    read_clusters,
    reference_column,
    row_groups,
    warn_of_left_out_context,
)
from evenhand.data.plain import briefly
from evenhand.data.rows import read_rows
from evenhand.data.systems import Layout, Prompt
from evenhand.engines.names import judges_of, listed, one_step_in_batches
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.design import parse_design
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.settings import RunSettings
from evenhand.modes.contest import Contest, check_reduction, check_scale
from evenhand.modes.mode import subject_of_row
from evenhand.modes.pairwise import PairwiseMode
from evenhand.results.run_record import remembers
from evenhand.run_options import PairVoteFields, RunOptions, StopOptions, StreamOptions, check_resamples
from evenhand.streams import streamed
from evenhand.tables.recorded_pairs import recorded_winrates
from evenhand.tables.vote_rows import VoteRows, of_run, refuse_asking, vote_fields
from evenhand.tables.winrate_table import TIE, ContestEntry, WinrateTable
from evenhand.unitxt.loading import load_comparison


def read_preferences(prompts: Sequence[Prompt], gold_field: str | None) -> dict[tuple[int, str, str], str]:
    """(Instance, first system, second system) -> the system preferred, or ``"tie"``; nothing where there is no label.

    Args:
        prompts: All with the same systems.
        gold_field: The column; ``{first}`` and ``{second}`` stand for the systems of the pair, in either order.

    Raises:
        InvalidInputError: If there is no such column, or a label names neither system of the pair.
    """
    if gold_field is None:
        return {}
    found = {}
    for instance, prompt in enumerate(prompts):
        for first, second in combinations(prompt.responses, 2):
            preference = _preference(prompt, instance, (first, second), gold_field)
            if preference is not None:
                found[instance, first, second] = preference
    return found


def _gold_column(gold_field: str, first: str, second: str) -> str:
    return gold_field.replace("{first}", first).replace("{second}", second)


def _preference(prompt: Prompt, instance: int, pair: tuple[str, str], gold_field: str) -> str | None:
    columns = [_gold_column(gold_field, *either) for either in (pair, pair[::-1])]
    column = next((column for column in columns if column in prompt.fields), columns[0])
    value = field_of(prompt.fields, column, instance, "gold_field")
    value = value if isinstance(value, str) or is_abstention(value) else briefly(plain_cell(value))
    if is_abstention(value) or is_written_nothing(value):
        return None
    if value in (*pair, TIE):
        return str(value)
    named = [name for name in (*pair, TIE) if fold_label(name) == fold_label(str(value))]
    if len(named) != 1:
        raise InvalidInputError(
            f"instance {instance} has {value!r} in {column!r}, which gold_field names. "
            + did_you_mean(value, (*pair, TIE))
        )
    return named[0]


def _entry(contest: Contest, prompt: Prompt, gold: Mapping[tuple[int, str, str], str]) -> ContestEntry:
    first, second = (prompt.responses[system] for system in (contest.first, contest.second))
    return ContestEntry(
        contest=contest,
        prompt_id=prompt.id,
        lengths=(None if first is None else len(first), None if second is None else len(second)),
        gold=gold.get((contest.instance, contest.first, contest.second)),
    )


@overload
def winrates(
    dataset: object = ...,
    systems: Sequence[str] | None = ...,
    criteria: object = ...,
    engine: object = ...,
    *,
    dry_run: Literal[True],
    **options: Any,
) -> RunEstimate: ...


@overload
def winrates(
    dataset: object = ...,
    systems: Sequence[str] | None = ...,
    criteria: object = ...,
    engine: object = ...,
    *,
    dry_run: Literal[False] = ...,
    **options: Any,
) -> WinrateTable: ...


@remembers
@takes(RunOptions, StopOptions, PairVoteFields, StreamOptions)
@streamed
def winrates(
    dataset: object = None,
    systems: Sequence[str] | None = None,
    criteria: object = None,
    engine: object = None,
    *,
    votes: object = None,
    systems_field: str | None = None,
    response_field: str | None = None,
    id_field: str | None = None,
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    gold_field: str | None = None,
    split: str | None = None,
    design: str = "all",
    allow_ties: bool = False,
    scale: str = "choice",
    reduction: str = "win_rate",
    resamples: int = 1000,
    dry_run: bool = False,
    **options: Any,
) -> WinrateTable | RunEstimate:
    """Which of these systems is better, by how much, and how sure is that.

    Wide data have one column per system: ``systems=["gpt", "llama"]``. Long data have one row per response, and columns
    for the system, the response and the prompt: ``systems_field="model", response_field="output",
    id_field="prompt_id"``. A response that is None, or that long data lack, is no response: its
    contests are unscored, and counted.

    With ``votes`` nothing is asked: recorded preferences come to the same table. A vote is the name of a system or
    ``tie``; ``first`` or ``second``, the system that this column of the row names; ``A`` or ``B``, the place at which
    it was shown; or an option of the criterion. Both orders and all judges of a prompt are brought together by its id.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        systems: Wide data: the columns. Long data: which systems to compare; all without it.
        criteria: The criterion: a catalog id, path, dict, artifact or frozen criterion.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        votes: Recorded votes instead of a judge: the column of ``dataset`` that holds them, or several, one per judge;
            without a ``dataset`` the data themselves, with the column ``vote``.
        systems_field: Long data: the column that names the system.
        response_field: Long data: the column with the response.
        id_field: The column that names the prompt, which long data must have; 2, 2.0 and ``"2"`` are one name.
        context_fields: What the judge is shown beside the responses: a column, several, or name shown -> column.
            Without it, the criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        gold_field: Wide data: the column with the preference of a person, the name of a system or ``tie``; ``{first}``
            and ``{second}`` stand for the pair, as in ``preferred_{first}_{second}``.
        split: Which split of a ``DatasetDict``.
        design: Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs a prompt>`` or ``swiss:<rounds>``.
        allow_ties: Offer the judge a tie; the graded scale always does.
        scale: ``choice`` (which one is better) or ``graded`` (five levels).
        reduction: ``win_rate``, or, with the graded scale, ``weighted_win_rate``.
        resamples: For the expected ranks.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.RunOptions` and
            :class:`~evenhand.run_options.StopOptions`, and for recorded votes
            :class:`~evenhand.run_options.PairVoteFields`.

    Returns:
        The table of winrates; with ``dry_run`` the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    check_scale(scale)
    check_resamples(resamples)
    _check_columns(
        systems_field=systems_field,
        response_field=response_field,
        id_field=id_field,
        reference_field=reference_field,
        gold_field=gold_field,
    )
    until = StopOptions(**{name: options.pop(name, None) for name in StopOptions.model_fields})
    if votes is not None:
        refuse_asking(
            **until.given(),
            engine=engine,
            dry_run=dry_run,
            systems_field=systems_field,
            response_field=response_field,
            context_fields=context_fields,
            reference_field=reference_field,
            design=None if design == "all" else design,
        )
        given = None if criteria is None else read_comparison(criteria, allow_ties=allow_ties, graded=scale == "graded")
        fields = vote_fields(options, PairVoteFields, id_field=id_field)
        read = VoteRows.of(dataset, votes, fields, split=split)
        how = {"reduction": reduction, "resamples": resamples, "gold_field": gold_field}
        return recorded_winrates(read, _named(systems), given, how, options, allow_ties=allow_ties)
    options = until.applied(of_run(options, PairVoteFields))
    rows = read_rows(dataset, split)
    layout = Layout(_named(systems), systems_field, response_field, id_field)
    layout.check(list(rows[0]))
    if gold_field is not None and layout.is_long:
        raise InvalidInputError(
            f"gold_field={gold_field!r} needs data with one column per system: a preference is a pair's"
        )
    criterion = read_comparison(criteria, allow_ties=allow_ties, graded=scale == "graded")
    values = {option.value for option in criterion.options if not option.na}
    context = context_columns(context_fields)
    reference = reference_column(reference_field, rows[0], layout.systems or ())
    options = one_step_in_batches(options, engine)
    settings = RunSettings.from_options(options, [criterion.scale])
    shared = [*(criterion.context_fields if context is None else context).values(), *([reference] if reference else [])]
    shared += [settings.cluster_field] if isinstance(settings.cluster_field, str) else []
    shared += group_columns(settings.options.group_fields)
    reduced = check_reduction(reduction, graded=len(values) > 3)
    parsed = parse_design(design, seed=settings.seed)
    mode = PairwiseMode(settings, parsed, reduced, stop=until.stop)
    prompts = layout.prompts(rows, shared)
    judges = judges_of(engine, options.get("model"), batch=options.get("batch"))
    gold = read_preferences(prompts, gold_field)
    names = tuple(prompts[0].responses)
    apart = {*names, *([response_field] if response_field else [])}
    apart |= {_gold_column(gold_field, *pair) for pair in product(names, names)} if gold_field else set()
    clusters = read_clusters([prompt.fields for prompt in prompts], settings.cluster_field, apart=apart, what="prompt")
    subjects = [
        subject_of_row(
            prompt.fields,
            place,
            prompt.responses,
            criterion,
            context_fields=context,
            reference_field=reference,
            data_classifications=prompt.data_classifications,
            row_id=prompt.id or "",
            cluster=None if clusters is None else clusters[place],
        )
        for place, prompt in enumerate(prompts)
    ]
    warn_of_left_out_context(criterion, context)
    if dry_run:
        return mode.estimate(subjects, judges)
    parameters = {
        **mode.made_by(judges, subjects),
        "n": len(prompts),
        **row_groups([prompt.fields for prompt in prompts], settings.options.group_fields),
        "systems_field": systems_field,
        "response_field": response_field,
        "id_field": id_field,
        "context_fields": None if context is None else dict(context),
        "reference_field": reference,
        "gold_field": gold_field,
        "design": str(parsed),
        "allow_ties": 0.5 in values,
        "scale": "graded" if len(values) > 3 else "choice",
        "reduction": reduction,
        "resamples": resamples,
        **({"stop": until.stop} if until.stop else {}),
        **settings.parameters(),
    }
    contests = chain.from_iterable(mode.judge(subjects, judges))
    entries = tuple(_entry(contest, prompts[contest.instance], gold) for contest in contests)
    return WinrateTable(contests=entries, criterion=criterion, systems=names, parameters=parameters)


def _check_columns(**fields: object) -> None:
    for setting, field in fields.items():
        if field is not None and not isinstance(field, str):
            raise InvalidInputError(f"{setting} is {field!r}; give the name of a column")


def _named(systems: object) -> tuple[str, ...] | None:
    if systems is None:
        return None
    if (
        isinstance(systems, str)
        or not isinstance(systems, Sequence)
        or not all(isinstance(system, str) for system in systems)
    ):
        raise InvalidInputError(f"systems is {systems!r}; give a list of names, as ['gpt', 'llama']")
    return tuple(systems)


def read_comparison(criteria: object, *, allow_ties: bool, graded: bool) -> Criterion:
    """The pairwise criterion that criteria stand for.

    Raises:
        InvalidInputError: If they are not one, or bring other options than these.
    """
    given = listed(criteria)
    if criteria is None or len(given) != 1:
        raise InvalidInputError(
            f"criteria is {criteria!r}; a table of winrates is about one criterion, such as "
            "'criteria.evenhand.pairwise.overall_quality': call winrates once for each"
        )
    criterion = load_comparison(given[0], allow_ties=allow_ties, graded=graded)
    values = {option.value for option in criterion.options if not option.na}
    if (graded and len(values) <= 3) or (allow_ties and 0.5 not in values):
        labels, scale = [option.label for option in criterion.options], "graded" if graded else "choice"
        raise InvalidInputError(
            f"the criterion {criterion.name!r} brings its own options, {labels!r}, which do not fit scale={scale!r} "
            f"and allow_ties={allow_ties!r}: leave these out"
        )
    return criterion

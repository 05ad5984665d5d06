"""Direct assessment of a data set without a recipe: rows and criteria in, a table of judgements out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, overload

from evenhand.checked_options import takes
from evenhand.criteria import Criterion, Rubric, names_of, with_na_option
from evenhand.data.cells import LabelReader
from evenhand.data.fields import check_gold_criteria, field_of, loaded_of_rows
from evenhand.data.rows import Row, read_file, read_rows
from evenhand.engines.base import JudgeEngine
from evenhand.engines.names import judges_of, listed, one_step_in_batches
from evenhand.errors import InvalidInputError
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.judging.settings import RunSettings
from evenhand.judging.sheet import check_calls
from evenhand.modes.direct_assessment import DirectMode
from evenhand.modes.mode import Mode, Subject
from evenhand.modes.rubric import RubricMode, length_penalty_of, rubric_as_judged
from evenhand.results.run_record import remembers
from evenhand.run_options import AssessmentOptions, RunOptions, StreamOptions
from evenhand.streams import streamed
from evenhand.tables.judgements import Judgement, JudgementTable
from evenhand.tables.mode_results import ModeResults
from evenhand.tables.responses import ResponseRows
from evenhand.unitxt.catalogs import resolve, shown
from evenhand.unitxt.loading import kind_of, load_criterion, load_rubric, load_rubric_of_row


@overload
def judge(
    dataset: object, criteria: object, engine: object, *, dry_run: Literal[True], **options: Any
) -> RunEstimate: ...


@overload
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    rubric_field: None = ...,
    dry_run: Literal[False] = ...,
    **options: Any,
) -> JudgementTable: ...


@overload
def judge(
    dataset: object, criteria: None, engine: object, *, rubric_field: str, dry_run: Literal[False] = ..., **options: Any
) -> ModeResults: ...


@remembers
@takes(RunOptions, AssessmentOptions, StreamOptions)
@streamed
def judge(
    dataset: object,
    criteria: object,
    engine: object,
    *,
    response_field: str | Sequence[str] = "response",
    context_fields: str | Sequence[str] | Mapping[str, str] | None = None,
    reference_field: str | None = None,
    id_field: str | None = None,
    gold_fields: Mapping[str, str] | None = None,
    rubric_field: str | None = None,
    split: str | None = None,
    dry_run: bool = False,
    **options: Any,
) -> JudgementTable | ModeResults | RunEstimate:
    """Assess every response of a data set against one or more criteria, or against a rubric.

    Args:
        dataset: A data set, a data frame, an Arrow table, rows, or the path of a file: see
            :func:`~evenhand.data.rows.read_rows`.
        criteria: A criterion, or several, or one rubric: catalog ids, paths, dicts, artifacts or frozen values. A
            rubric also has a score of each response (``rubric_scores`` of the table). None with ``rubric_field``.
        engine: The judge, or several that form a panel: models (``openai/gpt-4.1-mini``), servers'
            addresses with ``model``, catalog ids or engines.
        response_field: The column with the responses; several columns are several systems.
        context_fields: What the judge is shown beside the response: a column, several, or name shown -> column. Without
            it, each criterion says.
        reference_field: The column with a known good answer; ``reference`` when there is one.
        id_field: The column with the id of each row, which records and saved files have beside its index.
        gold_fields: Criterion name -> column with the label that a person gave; ``{system}`` stands for the system.
        rubric_field: The column that holds each row's own rubric: a list or mapping of criteria, in the form of another
            tool too (such as the ``rubrics`` of HealthBench), a JSON text of one, or the id of a rubric.
        split: Which split of a ``DatasetDict``.
        dry_run: Return what the run would take, without a call.
        **options: How to judge; see :class:`~evenhand.run_options.RunOptions` and
            :class:`~evenhand.run_options.AssessmentOptions`. Odd numbers of ``samples`` cannot tie, and a
            spread of 0 from fewer than 5 proves little where a threshold decides.

    Returns:
        The table of judgements, or with ``rubric_field`` the score of each response and their mean; with ``dry_run``
        the estimated calls, tokens and cost.

    Raises:
        InvalidInputError: Data, fields or options that cannot be used; nothing has been called then.
        TooManyFailuresError: More votes failed than ``max_failure_rate`` allows; what was judged is journaled.
    """
    rows = read_rows(dataset, split)
    if rubric_field is None:
        loaded, rubric = what_is_judged(criteria)
    else:
        _check_own_rubrics(rubric_field, criteria=criteria, gold_fields=gold_fields, examples=options.get("examples"))
        loaded, rubric = (), None
    options = one_step_in_batches(options, engine)
    assessing, run = Assessing.from_options(options, rubric=rubric_field is not None or rubric is not None)
    if rubric is not None:
        rubric = assessing.as_judged(rubric)
        loaded = rubric.criteria
    elif assessing.auto_na_option:
        loaded = tuple(with_na_option(criterion) for criterion in loaded)
    check_gold_criteria(gold_fields, [criterion.name for criterion in loaded])
    data = ResponseRows.of(
        rows,
        response_field,
        context_fields,
        reference_field,
        assessing.guidelines,
        id_field=id_field,
        group_fields=run.get("group_fields"),
    )
    judges = judges_of(engine, options.get("model"), batch=options.get("batch"))
    if rubric_field is not None:
        return _by_own_rubrics(data, rubric_field, judges, assessing, run, dry_run=dry_run)
    golden = dict(gold_fields or {})
    return _by_the_same(
        data, loaded, rubric, judges=judges, assessing=assessing, run=run, gold_fields=golden, dry_run=dry_run
    )


def _by_the_same(
    data: ResponseRows,
    criteria: tuple[Criterion, ...],
    rubric: Rubric | None,
    *,
    judges: Sequence[JudgeEngine],
    assessing: Assessing,
    run: Mapping[str, Any],
    gold_fields: Mapping[str, str],
    dry_run: bool,
) -> JudgementTable | RunEstimate:
    """Judge all responses by the same criteria, which may be those of a rubric."""
    settings = assessing.settings(run, criteria)
    pools = assessing.pools(criteria, settings.seed, data, gold_fields)
    cells = [(system, criterion) for criterion in criteria for system in data.systems]
    gold = [_gold(data, *cell, gold_fields.get(cell[1].name), assessing) for cell in cells]
    clusters = data.clusters(settings.cluster_field, labels=gold_fields.values())
    penalties = assessing.penalties(data)
    places = range(len(data.rows))
    mode: Mode[Any]
    if rubric is None:
        mode = DirectMode(settings, pools)
        subjects = [data.subject(row, *cell) for cell in cells for row in places]
    else:  # response by response, so that a budget that runs out leaves whole responses
        mode = RubricMode(settings, pools, together=assessing.together)
        responses = [(row, system) for row in places for system in data.systems]
        subjects = [_of_rubric(data, *response, rubric, penalties.get(response)) for response in responses]
    data.warn_of_left_out_context(criteria)
    if dry_run:
        return mode.estimate(subjects, judges)
    verdicts: list[Any] = mode.judge(subjects, judges)
    if rubric is not None:
        results = dict(zip(responses, verdicts, strict=True))
        verdicts = [
            results[row, system].verdicts[criterion]
            for criterion, system, row in product(range(len(criteria)), data.systems, places)
        ]
    return JudgementTable(
        judgements=tuple(
            Judgement(row, system, criterion.name, verdict, label, clusters[row], penalties.get((row, system)))
            for ((system, criterion), row), verdict, label in zip(
                product(cells, places), verdicts, chain.from_iterable(gold), strict=True
            )
        ),
        criteria=criteria,
        systems=data.systems,
        parameters={
            **mode.made_by(judges, subjects),
            **data.parameters(),
            "gold_fields": gold_fields,
            **assessing.parameters(rubric=rubric is not None),
            **settings.parameters(),
        },
        rubric=rubric,
    )


def _check_own_rubrics(rubric_field: str, **others: object) -> None:
    for name, given in others.items():
        if given is not None:
            raise InvalidInputError(
                f"rubric_field is {rubric_field!r} and {name} is given: where each row has a rubric of its own, no "
                "criterion is that of all rows; drop one of the two"
            )


def _by_own_rubrics(
    data: ResponseRows,
    field: str,
    judges: Sequence[JudgeEngine],
    assessing: Assessing,
    run: Mapping[str, Any],
    *,
    dry_run: bool,
) -> ModeResults | RunEstimate:
    """Judge each response by the rubric that its row holds or names."""
    rubrics = loaded_of_rows(
        data.rows,
        field,
        "rubric_field",
        lambda given, row: assessing.as_judged(load_rubric_of_row(given, f"the field {field!r} of instance {row}")),
    )
    criteria = [criterion for rubric in rubrics for criterion in rubric.criteria]
    settings = assessing.settings(run, criteria)
    mode = RubricMode(settings, together=assessing.together, own_rubrics=True)
    clusters = data.clusters(settings.cluster_field, others=[field])
    penalties = assessing.penalties(data)
    places = [(row, system) for system in data.systems for row in range(len(rubrics))]
    subjects = [
        replace(_of_rubric(data, row, system, rubrics[row], penalties.get((row, system))), cluster=clusters[row])
        for row, system in places
    ]
    data.warn_of_left_out_context(criteria)
    if dry_run:
        return mode.estimate(subjects, judges)
    parameters = {
        **mode.made_by(judges, subjects),
        **data.parameters(),
        "rubric_field": field,
        **assessing.parameters(rubric=True),
        **mode.parameters(),
    }
    return ModeResults.judged_now(mode, subjects, [system for _, system in places], judges, parameters)


def _of_rubric(data: ResponseRows, row: int, system: str, rubric: Rubric, penalty: float | None) -> Subject:
    """A response as each criterion of a rubric sees it."""
    parts = {criterion.name: data.subject(row, system, criterion) for criterion in rubric.criteria}
    return Subject(
        row,
        {system: data.text(row, system)},
        row_id=data.row_id(row),
        judged=rubric,
        facts={} if penalty is None else {"length_penalty": penalty},
        parts={name: part for name, part in parts.items() if part.responses},
    )


def _gold(
    data: ResponseRows, system: str, criterion: Criterion, column: str | None, assessing: Assessing
) -> list[str | None]:
    """The label that a person gave, a row."""
    if column is None:
        return [None] * len(data.rows)
    column = column.replace("{system}", system)
    cells = [field_of(row, column, instance, "gold_fields") for instance, row in enumerate(data.rows)]
    reader = LabelReader.of(criterion, as_index=assessing.as_index)
    read = reader.read(cells, lambda instance: f"instance {instance}: the gold label in {column!r} is")
    return [None if place is None else criterion.labels[place] for place in read]


def what_is_judged(given: object) -> tuple[tuple[Criterion, ...], Rubric | None]:
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


RUBRIC_DEFAULTS: Mapping[str, Any] = {"flow": "one_step", "check_positional_bias": False, "orders": "shuffled"}
"""The options of a run that have another default for a rubric."""

FOR_RUBRICS = ("calls", "na_strategy", "na_partial", "length_penalty")


class Assessing(AssessmentOptions):
    """What an assessment is told beside the options of a run, with the defaults of what is judged."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any], *, rubric: bool) -> tuple[Self, dict[str, Any]]:
        """These options with the defaults of what is judged, and those of the run.

        Raises:
            InvalidInputError: An option that is for rubrics, or has a value that is not accepted.
        """
        for name in options:
            if name in FOR_RUBRICS and not rubric:
                raise InvalidInputError(f"{name} is for a rubric, and criteria were given; drop it, or give a rubric")
        run: dict[str, Any] = {name: value for name, value in options.items() if name in RunOptions.model_fields}
        if rubric:
            run = {**RUBRIC_DEFAULTS, **run}
        own = cls(**{name: value for name, value in options.items() if name in cls.model_fields})
        if own.shuffle_options is not None:
            run["orders"] = _orders(options.get("orders"), shuffled=own.shuffle_options)
        check_number_of_examples(own.num_examples, examples=own.examples)
        check_calls(own.calls, run, examples=own.examples)
        resolved = own.changed(
            auto_na_option=rubric if own.auto_na_option is None else own.auto_na_option,
            examples=_example_rows(own.examples),
            length_penalty=length_penalty_of(own.length_penalty),
        )
        return resolved, run

    def as_judged(self, rubric: Rubric) -> Rubric:
        """A rubric as these options have it judged."""
        return rubric_as_judged(
            rubric,
            auto_na_option=bool(self.auto_na_option),
            na_strategy=self.na_strategy,
            na_partial=self.na_partial,
        )

    @property
    def together(self) -> bool:
        """Whether one call asks about all criteria of a rubric."""
        return bool(self.calls == "per_item")

    def settings(self, run: Mapping[str, Any], criteria: Sequence[Criterion]) -> RunSettings:
        """The settings of the run, with rules that fit the criteria.

        Raises:
            InvalidInputError: If they do not.
        """
        settings = RunSettings.from_options(
            run,
            list(dict.fromkeys(criterion.scale for criterion in criteria)),
            has_values=all(criterion.has_values for criterion in criteria),
        )
        return settings.asking(reasoning=settings.flow.flow != "verdict_only") if self.together else settings

    def penalties(self, data: ResponseRows) -> dict[tuple[int, str], float]:
        """``(row, system)`` -> what the length of the response takes; empty without a length penalty."""
        penalty = self.length_penalty
        if penalty is None:
            return {}
        found = {place: data.text(*place) for place in product(range(len(data.rows)), data.systems)}
        return {place: penalty.of(text) for place, text in found.items() if text is not None}

    def pools(
        self,
        criteria: Sequence[Criterion],
        seed: int,
        data: ResponseRows | None = None,
        gold_fields: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, ExamplePool]:
        """Criterion name -> its labelled cases; empty without examples.

        Args:
            criteria: What is judged.
            seed: Of the draws.
            data: The rows that are judged, whose columns examples have too.
            gold_fields: Criterion name -> column with labels.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        check_label_fields(self.label_fields, criteria)
        if not self.examples:
            return {}
        labels = {**gold_fields, **(self.label_fields or {})}
        systems = () if data is None else data.systems
        responses = tuple(system for system in systems if any(system in row for row in self.examples))
        return {
            criterion.name: example_pool(
                self.examples,
                criterion,
                ExampleFields(
                    label=labels.get(criterion.name, criterion.name),
                    responses=responses or ("response",),
                    context=None if data is None else data.context_fields,
                    reference=None if data is None else data.reference_field,
                    as_index=self.as_index,
                ),
                number=self.num_examples,
                seed=seed,
            )
            for criterion in criteria
        }

    def parameters(self, *, rubric: bool) -> dict[str, Any]:
        """What a table repeats of these options, as plain JSON; the rubric is in the table itself."""
        shared = {
            "guidelines": self.guidelines,
            "examples": len(self.examples or ()),
            "num_examples": self.num_examples,
            "label_fields": None if self.label_fields is None else dict(self.label_fields),
            "as_index": self.as_index,
        }
        if not rubric:
            return shared
        penalty = None if self.length_penalty is None else asdict(self.length_penalty)
        return {**shared, "calls": self.calls, "length_penalty": penalty}


def _orders(given: str | None, *, shuffled: bool) -> str:
    """The order of options that ``shuffle_options`` and ``orders`` come to.

    Raises:
        InvalidInputError: If they contradict each other.
    """
    if given is not None and (given == "shuffled") != shuffled and (shuffled or given == "shuffled"):
        raise InvalidInputError(f"shuffle_options is {shuffled!r} and orders is {given!r}; drop one of the two")
    return given or ("shuffled" if shuffled else "given")


def _example_rows(given: object) -> tuple[Row, ...]:
    if given is None:
        return ()
    return tuple(read_file(given) if isinstance(given, str | Path) else read_rows(given))

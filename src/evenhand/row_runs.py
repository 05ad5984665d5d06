"""Runs over rows: from the checked options of a function to subjects, a mode, and the result.

Each function of :mod:`evenhand.functions` that asks judges has one function here, and all of them share :func:`run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

from evenhand.aggregation.checklist_score import Answer
from evenhand.criteria import Checklist, Criterion, Rubric, fold_label, names_of, with_na_option
from evenhand.data.cells import LabelReader, is_abstention, is_text_for_nothing
from evenhand.data.fields import (
    cell_name,
    check_label_columns,
    field_of,
    group_columns,
    read_clusters,
    reference_column,
    row_groups,
    text_of,
    warn_of_left_out_context,
)
from evenhand.data.plain import briefly, context_mapping, plain_cell
from evenhand.data.responses import Layout, Prompt, read_responses
from evenhand.data.rows import Row, read_file, read_rows, row_ids
from evenhand.engines.base import JudgeEngine
from evenhand.engines.names import as_list, judges_of, one_step_in_batches
from evenhand.errors import InvalidInputError, did_you_mean
from evenhand.judging.conversation import Flow
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import ExamplePool, example_pool
from evenhand.judging.grid import parse_design
from evenhand.judging.run import limits_after, parameters_of
from evenhand.modes.analyses import ANALYSES
from evenhand.modes.best_of import CHOICE_PROMPTS, choice_prompt, warn_of_equal_candidates
from evenhand.modes.checklist import ChecklistMode
from evenhand.modes.contest import TIE, check_reduction
from evenhand.modes.grade_scores import (
    GradeAnalysis,
    GradeMode,
    with_unrelated,
)
from evenhand.modes.judgements import DirectMode, RubricMode, length_penalty_of, rubric_as_judged
from evenhand.modes.known import find_mode
from evenhand.modes.mode import NO_CRITERION, Mode, Subject, subject_of_row
from evenhand.modes.winrates import WinratesMode
from evenhand.options import (
    AssessmentOptions,
    ChecklistArguments,
    ContestOptions,
    GradeScoresArguments,
    JudgeArguments,
    RunArguments,
    RunModeArguments,
    WinratesArguments,
)
from evenhand.read_votes import answer_of, read_votes, refuse_vote_columns
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.unitxt.loading import (
    kind_of,
    load_checklist,
    load_comparison,
    load_criterion,
    load_of_rows,
    load_rubric,
    resolve,
    shown,
)
from evenhand.votes import is_missing

Assessment = TypeVar("Assessment", bound=AssessmentOptions)


@dataclass(frozen=True, slots=True)
class ResponseRows:
    """Rows with a response of each system.

    Attributes:
        rows: The data.
        systems: The columns with responses.
        context_fields: Name shown -> column; None for those of what is judged.
        reference_field: The column with a known good answer.
        guidelines: Instructions for the judge.
        kept: What a result repeats of the columns of the rows: their ids (:func:`~evenhand.data.fields.row_ids`) and
            groups (:func:`~evenhand.data.fields.row_groups`).
    """

    rows: Sequence[Row]
    systems: tuple[str, ...]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    guidelines: str
    kept: Mapping[str, Any]

    @classmethod
    def of(cls, rows: Sequence[Row], options: JudgeArguments | ChecklistArguments | RunModeArguments) -> Self:
        """Return rows with the columns that the options name.

        Raises:
            InvalidInputError: If a row has no id, or one that another has.
        """
        named, context = options.response_fields, options.context_fields
        systems = (named,) if isinstance(named, str) else named
        reference = reference_column(options.reference_field, rows[0], systems)
        kept = {**row_ids(rows, options.id_field), **row_groups(rows, options.group_fields)}
        return cls(rows, systems, context_mapping(context), reference, options.guidelines, kept)

    def text(self, instance: int, system: str) -> str | None:
        """Return a response; None if there is none.

        Raises:
            InvalidInputError: If the row has no such column.
        """
        response = field_of(self.rows[instance], system, instance, "response_fields")
        return None if is_missing(response) else text_of(response, cell_name(system, instance))

    def row_id(self, instance: int) -> str:
        """Return the id of a row; empty if it has none."""
        return str(self.kept["ids"][instance]) if "ids" in self.kept else ""

    def subject(
        self, instance: int, systems: str | Sequence[str], judged: Criterion | Checklist, **known: Any
    ) -> Subject:
        """Return the responses of a system, or of several, and what is shown with them; read if there is a response.

        Raises:
            InvalidInputError: If the row lacks a column.
        """
        named = [systems] if isinstance(systems, str) else systems
        known = {"row_id": self.row_id(instance), **known}
        texts = {system: self.text(instance, system) for system in named}
        if all(text is None for text in texts.values()):
            return Subject(instance, texts, judged=judged, **known)
        return subject_of_row(
            self.rows[instance],
            instance,
            texts,
            judged,
            context_fields=self.context_fields,
            reference_field=self.reference_field,
            guidelines=self.guidelines,
            **known,
        )

    def clusters(
        self, field: str | bool | None, *, labels: Iterable[str] = (), others: Iterable[str] = ()
    ) -> tuple[str | None, ...]:
        """Return the cluster of each row; None if rows are independent.

        Args:
            field: The column that says so.
            labels: Columns of labels, in which ``{system}`` stands for a system: they tell rows apart.
            others: Columns that tell rows apart too.
        """
        named = {column.replace("{system}", system) for column in labels for system in self.systems}
        found = read_clusters(self.rows, field, apart={*self.systems, *named, *others})
        return (None,) * len(self.rows) if found is None else found

    def parameters(self) -> dict[str, Any]:
        """Return what a result repeats of them."""
        return {
            "n": len(self.rows),
            **self.kept,
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
        }


def run(
    mode: Mode[Any],
    subjects: Sequence[Subject],
    *,
    options: RunArguments,
    systems: Sequence[str],
    parameters: Mapping[str, Any],
) -> Results | RunEstimate:
    """Judge subjects by a mode, or estimate what that takes.

    Args:
        mode: The way of judging.
        subjects: The judged subjects.
        options: The judges, and whether it is only estimated.
        systems: The systems with the judged responses.
        parameters: The parameters of the data and the options that the result repeats.
    """
    judges = judges_of(options.engine, options.model, batch=options.batch)
    if options.dry_run:
        return mode.estimate(subjects, judges)
    judged: list[Any] = []
    places: dict[int, int] = {}
    for each in (about.judged for about in subjects):
        if id(each) not in places:
            judged += [] if each in judged else [each]
            places[id(each)] = judged.index(each)
    parameters = {**mode.made_by(judges, subjects), **parameters}
    cells = mode.judged_cells(subjects, judges, [places[id(about.judged)] for about in subjects])
    header = {**mode.judged_by(judged, systems), "parameters": parameters}
    return Results.of_cells(ANALYSES[mode.saved_as], header, cells)


RUBRIC_DEFAULTS: Final[Mapping[str, Any]] = {
    "flow": "one_step",
    "check_positional_bias": False,
    "orders": "shuffled",
}
"""The options of a run that have another default for a rubric."""

FOR_RUBRICS: Final = ("calls", "na_strategy", "na_partial", "length_penalty")


def assess(data: object, options: JudgeArguments) -> Results | RunEstimate:
    """Assess responses by criteria or rubrics: see :func:`evenhand.functions.judge`."""
    rows, own = read_rows(data, options.split), options.rubric_field
    given = {"criteria": options.criteria, "gold_fields": options.gold_fields, "examples": options.examples}
    for name in given if own is not None else ():
        if given[name] is not None:
            raise InvalidInputError(
                f"rubric_field is {own!r} and {name} is given: where each row has a rubric of its own, no criterion is "
                "that of all rows; drop one of the two"
            )
    judged, rubric = what_is_judged(options.criteria) if own is None else ((), None)
    options = assessment_options(options, options.engine, rubric=own is not None or rubric is not None)
    if rubric is not None:
        rubric = as_judged(rubric, options)
        judged = rubric.criteria
    elif options.auto_na_option:
        judged = tuple(with_na_option(criterion) for criterion in judged)
    if options.gold_fields is not None:
        check_label_columns(options.gold_fields, [criterion.name for criterion in judged], "gold_fields")
    responses = ResponseRows.of(rows, options)
    rubrics = [] if rubric is None else [rubric] * len(rows)
    if own is not None:
        rubrics = load_of_rows(rows, own, "rubric_field", "rubric", lambda each: as_judged(each, options))
        judged = tuple(criterion for each in rubrics for criterion in each.criteria)
    gold_fields = dict(options.gold_fields) if isinstance(options.gold_fields, Mapping) else {}
    with_examples = options.examples is not None or options.label_fields is not None
    pools = example_pools(judged, options, responses, gold_fields) if with_examples else {}
    labels = _gold_labels(responses, judged, gold_fields, options)
    clusters = responses.clusters(options.cluster_field, labels=gold_fields.values(), others=[own] if own else [])
    places = range(len(rows))
    mode: Mode[Any]
    if own is None and rubric is None:
        mode = DirectMode(options, pools)
        subjects = [
            responses.subject(row, system, each, gold=labels[system][row], cluster=clusters[row])
            for each, system, row in product(judged, responses.systems, places)
        ]
    else:
        mode = RubricMode(options, pools, together=options.calls == "per_item", own_rubrics=own is not None)
        pairs = list(product(places, responses.systems))  # a budget leaves whole responses
        pairs = pairs if own is None else [(row, system) for system, row in product(responses.systems, places)]
        subjects = [
            _subject_of_rubric(
                responses, row, system, rubrics[row], options, gold=labels[system][row], cluster=clusters[row]
            )
            for row, system in pairs
        ]
    mode.check_rules(judged)
    for each in judged:
        warn_of_left_out_context(each, responses.context_fields)
    parameters = {
        **responses.parameters(),
        **({"gold_fields": gold_fields} if own is None else {"rubric_field": own}),
        "guidelines": options.guidelines,
        "examples": len(options.examples or ()),
        "num_examples": options.num_examples,
        "label_fields": None if options.label_fields is None else dict(options.label_fields),
        "as_index": options.as_index,
        **(mode.run_parameters() if own is None else mode.parameters()),
    }
    if isinstance(mode, RubricMode):
        penalty = options.length_penalty
        parameters |= {"calls": options.calls, "length_penalty": None if penalty is None else penalty.model_dump()}
    return run(mode, subjects, options=options, systems=responses.systems, parameters=parameters)


def assessment_options(options: Assessment, engine: object, *, rubric: bool) -> Assessment:
    """Return the options of an assessment with the defaults of what is judged, and with the rows of the examples.

    Raises:
        InvalidInputError: An option that is for rubrics, or two that contradict each other.
    """
    for name in FOR_RUBRICS:
        if name in options.model_fields_set and not rubric:
            raise InvalidInputError(f"{name} is for a rubric, and criteria were given; drop it, or give a rubric")
    changes: dict[str, Any] = {"auto_na_option": rubric if options.auto_na_option is None else options.auto_na_option}
    if options.examples is not None:
        given = options.examples
        changes["examples"] = tuple(read_file(given) if isinstance(given, str | Path) else read_rows(given))
    if options.length_penalty is not None:
        changes["length_penalty"] = length_penalty_of(options.length_penalty)
    if options.shuffle_options is not None:
        orders = options.orders if "orders" in options.model_fields_set else None
        changes["orders"] = _orders(orders, shuffled=options.shuffle_options)
    defaults = {**one_step_in_batches({"batch": options.batch}, engine), **(RUBRIC_DEFAULTS if rubric else {})}
    return options.or_else(**defaults).model_copy(update=changes)


def _orders(given: str | None, *, shuffled: bool) -> str:
    """Return the order of options that ``shuffle_options`` and ``orders`` ask for.

    Raises:
        InvalidInputError: If they contradict each other.
    """
    if given is not None and (given == "shuffled") != shuffled and (shuffled or given == "shuffled"):
        raise InvalidInputError(f"shuffle_options is {shuffled!r} and orders is {given!r}; drop one of the two")
    return given or ("shuffled" if shuffled else "given")


def what_is_judged(given: object) -> tuple[tuple[Criterion, ...], Rubric | None]:
    """Return the criteria, and the rubric that they are of.

    Raises:
        InvalidInputError: If nothing is given, or a rubric with something else, or a checklist.
    """
    references = [resolve(reference) for reference in as_list(given)]
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


def _subject_of_rubric(
    data: ResponseRows, row: int, system: str, rubric: Rubric, options: JudgeArguments, **known: Any
) -> Subject:
    """Return a response as each criterion of a rubric sees it."""
    parts = {criterion.name: data.subject(row, system, criterion) for criterion in rubric.criteria}
    text, penalty = data.text(row, system), options.length_penalty
    return Subject(
        row,
        {system: text},
        row_id=data.row_id(row),
        judged=rubric,
        facts={} if penalty is None or text is None else {"length_penalty": penalty.of(text)},
        parts={name: part for name, part in parts.items() if part.responses},
        **known,
    )


def as_judged(rubric: Rubric, options: AssessmentOptions) -> Rubric:
    """Return a rubric as these options have it judged."""
    return rubric_as_judged(
        rubric,
        auto_na_option=bool(options.auto_na_option),
        na_strategy=options.na_strategy,
        na_partial=options.na_partial,
    )


def _gold_labels(
    data: ResponseRows, criteria: Iterable[Criterion], gold_fields: Mapping[str, str], options: JudgeArguments
) -> dict[str, list[dict[str, str | None]]]:
    """Return system -> for each row, criterion name -> the label that a person gave."""
    found: dict[str, list[dict[str, str | None]]] = {system: [{} for _ in data.rows] for system in data.systems}
    asked = [criterion for criterion in criteria if criterion.name in gold_fields]
    for criterion, system in product(asked, data.systems):
        column = gold_fields[criterion.name].replace("{system}", system)
        cells = [field_of(row, column, instance, "gold_fields") for instance, row in enumerate(data.rows)]
        where = "instance {}: the gold label in " + repr(column).replace("{", "{{").replace("}", "}}") + " is"
        read = LabelReader(criterion, as_index=options.as_index).read(cells, where.format)
        for row, place in enumerate(read):
            found[system][row][criterion.name] = None if place is None else criterion.labels[place]
    return found


def example_pools(
    criteria: Sequence[Criterion],
    options: AssessmentOptions,
    data: ResponseRows | None = None,
    gold_fields: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, ExamplePool]:
    """Return criterion name -> its labelled cases; empty without examples.

    Args:
        criteria: The criteria, rubric or checklist.
        options: With the rows of the examples.
        data: The rows that are judged, whose columns examples have too.
        gold_fields: Criterion name -> column with labels.

    Raises:
        InvalidInputError: If the rows cannot be used.
    """
    check_label_columns(options.label_fields, [criterion.name for criterion in criteria], "label_fields")
    if not options.examples:
        return {}
    labels = {**gold_fields, **(options.label_fields or {})}
    systems = () if data is None else data.systems
    responses = tuple(system for system in systems if any(system in row for row in options.examples))
    return {
        criterion.name: example_pool(
            options.examples,
            criterion,
            labels.get(criterion.name, criterion.name),
            responses=responses or ("response",),
            context=None if data is None else data.context_fields,
            reference=None if data is None else data.reference_field,
            as_index=options.as_index,
            number=options.num_examples,
            seed=options.seed,
        )
        for criterion in criteria
    }


def answer_checklists(data: object, options: ChecklistArguments) -> Results | RunEstimate:
    """Answer the items of checklists: see :func:`evenhand.functions.checklist`."""
    gold_fields = options.gold_fields
    if options.votes is not None:
        if gold_fields is not None and not isinstance(gold_fields, str):
            raise InvalidInputError(
                f"gold_fields is {gold_fields!r}; of recorded answers name the one column with the answer of a person "
                "to the item of the row"
            )
        given = None if options.checklist is None else load_checklist(options.checklist)
        return read_votes(data, "checklist", options, given)
    refuse_vote_columns(options)
    rows = read_rows(data, options.split)
    mode = ChecklistMode(options.or_else(**ChecklistMode.run_defaults))
    loaded = _checklists_of(rows, options.checklist, options.checklist_field)
    offered = {number: mode.offered(each) for number, each in {id(each): each for each in loaded}.items()}
    checklists = tuple(offered.values())
    responses = ResponseRows.of(rows, options)
    if isinstance(gold_fields, Mapping):
        check_label_columns(gold_fields, [item.name for each in checklists for item in each.items], "gold_fields")
    named = [] if gold_fields is None else [gold_fields] if isinstance(gold_fields, str) else gold_fields.values()
    clusters = responses.clusters(
        options.cluster_field, labels=named, others=[options.checklist_field] if options.checklist_field else []
    )
    subjects = []
    for system, row in product(responses.systems, range(len(rows))):
        own = offered[id(loaded[row])]
        gold = _gold_answers(responses, row, system, own, gold_fields)
        subjects.append(responses.subject(row, system, own, gold=gold, cluster=clusters[row]))
    for each in checklists:
        warn_of_left_out_context(each, responses.context_fields)
    parameters = {
        **responses.parameters(),
        "checklist_field": options.checklist_field,
        "gold_fields": gold_fields,
        "guidelines": options.guidelines,
        **mode.parameters(),
    }
    return run(mode, subjects, options=options, systems=responses.systems, parameters=parameters)


def _gold_answers(
    data: ResponseRows, instance: int, system: str, checklist: Checklist, fields: str | Mapping[str, str] | None
) -> dict[str, Answer | None]:
    """Return item name -> the answer that a person gave."""
    names, row = [item.name for item in checklist.items], data.rows[instance]
    cells: Mapping[str, object] = {}
    if isinstance(fields, str):
        column = fields.replace("{system}", system)
        found = field_of(row, column, instance, "gold_fields")
        if isinstance(found, Mapping):
            cells = found
            for name in found:
                if name not in names:
                    raise InvalidInputError(
                        f"the column {column!r} of instance {instance} has an answer to {name!r}, which is no item of "
                        f"the checklist. {did_you_mean(name, names)}"
                    )
        elif not is_missing(found):
            answers = found if isinstance(found, (list, tuple)) else (found,)
            if len(answers) != len(names):
                raise InvalidInputError(
                    f"the column {column!r} of instance {instance} has {len(answers)} answer(s) for a checklist of "
                    f"{len(names)} items; give one an item, None where there is none"
                )
            cells = dict(zip(names, answers, strict=True))
    elif fields is not None:
        columns = {name: column.replace("{system}", system) for name, column in fields.items()}
        cells = {name: field_of(row, column, instance, "gold_fields") for name, column in columns.items()}
    return {name: answer_of(cells.get(name), f"instance {instance}: the gold answer is") for name in names}


def _checklists_of(rows: Sequence[Row], given: object, field: str | None) -> list[Checklist]:
    """Return the checklist of each row."""
    if (given is None) == (field is None):
        raise InvalidInputError(
            f"checklist is {given!r} and checklist_field is {field!r}; give one of them: a checklist for all rows, or "
            "the column with each row's own"
        )
    if field is None:
        return [load_checklist(list(given) if isinstance(given, tuple) else given)] * len(rows)
    return load_of_rows(rows, field, "checklist_field", "checklist")


def compare_systems(data: object, options: WinratesArguments) -> Results | RunEstimate:
    """Compare systems: see :func:`evenhand.functions.winrates`."""
    if options.votes is not None:
        given = None if options.criteria is None else read_comparison(options.criteria, options)
        return read_votes(data, "winrates", options, given, options.systems)
    refuse_vote_columns(options, "systems_field")
    if options.stop is not None:
        options = options.model_copy(update={"interval": "anytime"})
    rows = read_rows(data, options.split)
    gold_fields, id_field = options.gold_fields, options.id_field
    layout = Layout(options.response_fields, options.systems, options.systems_field, id_field)
    if gold_fields is not None and layout.is_long:
        raise InvalidInputError(
            f"gold_fields={gold_fields!r} needs data with one column per system: a preference is a pair's"
        )
    criterion = read_comparison(options.criteria, options)
    values = {option.value for option in criterion.options if not option.na}
    context = context_mapping(options.context_fields)
    reference = reference_column(options.reference_field, rows[0], () if layout.is_long else layout.columns)
    options = options.or_else(**one_step_in_batches({"batch": options.batch}, options.engine))
    shared = [*(criterion.context_fields if context is None else context).values(), *([reference] if reference else [])]
    shared += [options.cluster_field] if isinstance(options.cluster_field, str) else []
    shared += group_columns(options.group_fields)
    mode = WinratesMode(
        options,
        parse_design(options.design, seed=options.seed),
        check_reduction(options.reduction, graded=len(values) > 3),
        stop=options.stop,
    )
    mode.check_rules([criterion])
    prompts = layout.prompts(rows, shared)
    gold = read_preferences(prompts, gold_fields)
    names = tuple(prompts[0].responses)
    apart = {*names, *layout.columns}
    apart |= {_gold_column(gold_fields, *pair) for pair in product(names, names)} if gold_fields else set()
    clusters = read_clusters([prompt.fields for prompt in prompts], options.cluster_field, apart=apart, what="prompt")
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
            gold=gold[place],
        )
        for place, prompt in enumerate(prompts)
    ]
    warn_of_left_out_context(criterion, context)

    parameters = {
        "n": len(prompts),
        **row_groups([prompt.fields for prompt in prompts], options.group_fields),
        "systems_field": options.systems_field,
        "response_fields": layout.columns[0] if layout.is_long else list(layout.columns),
        "id_field": id_field,
        "context_fields": None if context is None else dict(context),
        "reference_field": reference,
        "gold_fields": gold_fields,
        "design": str(mode.design),
        "allow_ties": 0.5 in values,
        "scale": "graded" if len(values) > 3 else "choice",
        "reduction": options.reduction,
        **({"stop": options.stop} if options.stop else {}),
        **mode.run_parameters(),
    }
    return run(mode, subjects, options=options, systems=names, parameters=parameters)


def read_preferences(prompts: Sequence[Prompt], gold_fields: str | None) -> list[dict[tuple[str, str], str]]:
    """Read for each prompt (first system, second system) -> the system preferred, or ``"tie"``; only labelled pairs.

    Args:
        prompts: All with the same systems.
        gold_fields: The column; ``{first}`` and ``{second}`` stand for the systems of the pair, in either order.

    Raises:
        InvalidInputError: If there is no such column, or a label names neither system of the pair.
    """
    found: list[dict[tuple[str, str], str]] = [{} for _ in prompts]
    for instance, prompt in enumerate(prompts if gold_fields is not None else ()):
        for pair in combinations(prompt.responses, 2):
            preference = _preference(prompt, instance, pair, str(gold_fields))
            if preference is not None:
                found[instance][pair] = preference
    return found


def _gold_column(gold_fields: str, first: str, second: str) -> str:
    return gold_fields.replace("{first}", first).replace("{second}", second)


def _preference(prompt: Prompt, instance: int, pair: tuple[str, str], gold_fields: str) -> str | None:
    columns = [_gold_column(gold_fields, *either) for either in (pair, pair[::-1])]
    column = next((column for column in columns if column in prompt.fields), columns[0])
    value = field_of(prompt.fields, column, instance, "gold_fields")
    value = value if isinstance(value, str) or is_abstention(value) else briefly(plain_cell(value))
    if is_abstention(value) or is_text_for_nothing(value):
        return None
    if value in (*pair, TIE):
        return str(value)
    named = [name for name in (*pair, TIE) if fold_label(name) == fold_label(str(value))]
    if len(named) != 1:
        raise InvalidInputError(
            f"instance {instance} has {value!r} in {column!r}, which gold_fields names. "
            + did_you_mean(value, (*pair, TIE))
        )
    return named[0]


def _only_criterion(criteria: object, result: str, function: str) -> object:
    """Return the single criterion of a function that takes one."""
    given = as_list(criteria)
    if criteria is None or len(given) != 1:
        raise InvalidInputError(
            f"criteria is {criteria!r}; a {result} is about one criterion, such as "
            f"'criteria.evenhand.pairwise.overall_quality': call {function} once for each"
        )
    return given[0]


def read_comparison(criteria: object, options: ContestOptions) -> Criterion:
    """Return the pairwise criterion that criteria stand for.

    Raises:
        InvalidInputError: If they are not one, or bring other options than these.
    """
    allow_ties, graded = options.allow_ties, options.scale == "graded"
    given = _only_criterion(criteria, "table of winrates", "winrates")
    criterion = load_comparison(given, allow_ties=allow_ties, graded=graded)
    values = {option.value for option in criterion.options if not option.na}
    if (graded and len(values) <= 3) or (allow_ties and 0.5 not in values):
        labels = [option.label for option in criterion.options]
        raise InvalidInputError(
            f"the criterion {criterion.name!r} brings its own options, {labels!r}, which do not fit "
            f"scale={options.scale!r} and allow_ties={allow_ties!r}: leave these out"
        )
    return criterion


def measure_grade_scores(data: object, options: GradeScoresArguments) -> Results | RunEstimate:
    """Measure Grade Scores: see :func:`evenhand.functions.grade_scores`."""
    if options.votes is not None:
        given = None if options.criteria is None else _choice_criterion(options.criteria)
        return read_votes(data, "grade_scores", options, given, options.systems)
    refuse_vote_columns(options)
    if options.systems is not None:
        raise InvalidInputError(
            f"systems is {list(options.systems)!r}, the candidates of recorded votes, and there are no votes: name the "
            "columns with the candidates with response_fields=[…]"
        )
    rows = read_rows(data, options.split)
    if options.prompt is not None:
        raise InvalidInputError(f"prompt is {options.prompt!r}; name one or several with prompts=…")
    options = options.or_else(flow="one_step", orders="cyclic", check_positional_bias=False)
    if options.flow != "one_step":
        raise InvalidInputError(
            f"flow is {options.flow!r}, but the prompts ask for reasons and choice in one reply: leave it out"
        )
    names = _choice_prompts(options.prompts)
    modes = [GradeMode(_with_prompt(options, name)) for name in names]
    criterion, columns = _choice_criterion(options.criteria), _candidate_columns(options.response_fields)
    context = context_mapping(options.context_fields)
    reference = reference_column(options.reference_field, rows[0], as_list(columns))
    kept = {**row_ids(rows, options.id_field), **row_groups(rows, options.group_fields)}
    clusters = read_clusters(rows, options.cluster_field, apart=[str(column) for column in as_list(columns)])
    subjects = tuple(
        subject_of_row(
            row,
            place,
            _candidates_of(row, place, columns),
            criterion,
            context_fields=context,
            reference_field=reference,
            row_id=kept["ids"][place] if "ids" in kept else "",
            cluster=None if clusters is None else clusters[place],
        )
        for place, row in enumerate(rows)
    )
    warn_of_left_out_context(criterion, context)
    warn_of_equal_candidates(subjects)
    judges = judges_of(options.engine, options.model, batch=options.batch)
    subjects = with_unrelated(subjects, seed=options.seed) if options.unrelated_option else subjects
    if options.dry_run:
        return RunEstimate.total([mode.estimate(subjects, judges) for mode in modes])
    graded = list(_graded_cells(subjects, judges, options, names))
    header = {
        "criterion": criterion.model_dump(mode="json"),
        "parameters": {
            **modes[0].made_by(judges, subjects, modes[1:]),
            "prompts": list(names),
            "n": len(rows),
            **kept,
            "response_fields": columns if isinstance(columns, str) else list(columns),
            "unrelated_option": options.unrelated_option,
            "context_fields": None if context is None else dict(context),
            "reference_field": reference,
            **parameters_of(options, modes[0].rules, Flow.of(options)),
        },
    }
    return Results.of_cells(GradeAnalysis, header, graded)


def _with_prompt(options: GradeScoresArguments, name: str) -> GradeScoresArguments:
    return options.model_copy(update={"prompt": choice_prompt(name, options.flow)})


def _graded_cells(
    subjects: Sequence[Subject], judges: Sequence[JudgeEngine], options: GradeScoresArguments, prompts: Sequence[str]
) -> Iterator[Cell]:
    """Yield the cells of each prompt, without and with the unrelated option, one prompt after the other in a budget."""
    for prompt in prompts:
        mode = GradeMode(_with_prompt(options, prompt))
        results = list(zip(subjects, mode.judge(subjects, judges), strict=True))
        options = limits_after(options, (vote for _, runs in results for votes in runs for vote in votes))
        for run in zip(*(mode.cells(about, runs, 0) for about, runs in results), strict=True):
            yield from (Cell(about, tuple(votes)) for about, votes in run)


def _candidates_of(row: Row, place: int, columns: str | tuple[str, ...]) -> Mapping[str, str | None]:
    """Return the candidates of one row."""
    if isinstance(columns, str):
        held = field_of(row, columns, place, "response_fields")
    else:
        held = {name: field_of(row, name, place, "response_fields") for name in columns}
    texts = read_responses(held, place)
    if len(texts) < 2:
        raise InvalidInputError(
            f"instance {place} has {len(texts)} candidate(s), {list(texts)!r}; the best is chosen of two or more "
            "(None where one is missing)"
        )
    return texts


def _candidate_columns(named: str | tuple[str, ...] | None) -> str | tuple[str, ...]:
    if isinstance(named, str):
        return named
    if named is None or len(named) < 2 or len(set(named)) < len(named):
        raise InvalidInputError(
            f"response_fields is {named!r}; name the column that holds each row's list of candidates, or at least two "
            "columns with a candidate each"
        )
    return named


def _choice_criterion(criteria: object) -> Criterion:
    return load_comparison(_only_criterion(criteria, "Grade Score", "grade_scores"))


def _choice_prompts(prompts: str | tuple[str, ...]) -> tuple[str, ...]:
    if prompts == "all":
        return tuple(CHOICE_PROMPTS)
    names = (prompts,) if isinstance(prompts, str) else prompts
    for name in names:
        if name not in CHOICE_PROMPTS:
            raise InvalidInputError(f"prompts names {name!r}. {did_you_mean(name, [*CHOICE_PROMPTS, 'all'])}")
    if not names or len(set(names)) < len(names):
        raise InvalidInputError(f"prompts is {prompts!r}; name at least one, each once, or 'all'")
    return names


def judge_by_mode(data: object, options: RunModeArguments) -> Results | RunEstimate:
    """Judge by any mode: see :func:`evenhand.functions.run_mode`."""
    rows, kind = read_rows(data, options.split), find_mode(options.mode)
    if kind.function != "run_mode":
        raise InvalidInputError(f"the mode {kind.kind!r} has a function of its own: evenhand.{kind.function}")
    options = options.or_else(**one_step_in_batches({"batch": options.batch}, options.engine))
    way, criteria = kind.from_options(options.mode_options or {}, options), options.criteria
    criterion = (
        NO_CRITERION if criteria is None else load_comparison(criteria) if kind.compares else load_criterion(criteria)
    )
    responses = ResponseRows.of(rows, options)
    if kind.compares and len(responses.systems) < 2:
        raise InvalidInputError(
            f"response_fields is {options.response_fields!r}, and the mode {kind.kind!r} is about the responses of two "
            "or more: name their columns"
        )
    clusters = responses.clusters(options.cluster_field)
    systems = [responses.systems] if kind.compares else [(system,) for system in responses.systems]
    places = product(systems, range(len(rows)))
    subjects = [responses.subject(row, named, criterion, cluster=clusters[row]) for named, row in places]
    parameters = {**responses.parameters(), "guidelines": options.guidelines, **way.parameters()}
    return run(way, subjects, options=options, systems=responses.systems, parameters=parameters)

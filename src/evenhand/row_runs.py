"""Runs over rows: from the checked options of a function to subjects, a mode, and the result.

Each function of :mod:`evenhand.functions` that asks judges has one function here, and all of them share :func:`run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

from evenhand.aggregation.scores import Answer
from evenhand.criteria import Checklist, Criterion, Rubric, context_mapping, names_of, with_na_option
from evenhand.data.fields import (
    LabelReader,
    cell_error,
    check_label_columns,
    check_names,
    classifications_of,
    context_of,
    field_of,
    group_columns,
    read_clusters,
    reference_column,
    references_of,
    row_groups,
    warn_of_left_out_context,
)
from evenhand.data.responses import Layout, Prompt, read_responses, responses_in
from evenhand.data.rows import Row, read_rows, row_ids
from evenhand.engines.names import as_list, judges_of, one_step_in_batches
from evenhand.errors import InvalidInputError, check_known
from evenhand.judging.conversation import Flow
from evenhand.judging.estimate import RunEstimate
from evenhand.judging.examples import ExamplePool, example_pool
from evenhand.judging.grid import parse_design
from evenhand.judging.run import limits_after, parameters_of
from evenhand.modes.any_mode import ANALYSES, find_mode
from evenhand.modes.checklist import ChecklistMode
from evenhand.modes.choices import CHOICE_PROMPTS, GradeMode, with_unrelated
from evenhand.modes.judgements import DirectMode, RubricMode, length_penalty_of, rubric_as_judged, subject_of_rubric
from evenhand.modes.mode import NO_CRITERION, Mode, Subject
from evenhand.modes.winrates import WinratesMode, check_reduction
from evenhand.options import (
    AssessmentOptions,
    ChecklistArguments,
    ContestOptions,
    GradeScoresArguments,
    JudgeArguments,
    ResponseArguments,
    RunArguments,
    RunModeArguments,
    WinratesArguments,
)
from evenhand.read_votes import Pair, answer_of, read_answers, read_comparisons, refuse_vote_columns
from evenhand.results.results import Results
from evenhand.results.vote_columns import Cell
from evenhand.unitxt.loading import (
    describe,
    kind_of,
    load_checklist,
    load_comparison,
    load_criterion,
    load_of_rows,
    load_rubric,
    resolve,
)
from evenhand.votes import is_missing

Assessment = TypeVar("Assessment", bound=AssessmentOptions)


@dataclass(frozen=True, slots=True)
class ResponseRows:
    """Rows with a response of each system.

    Attributes:
        rows: The data; of data with one row per response the first row of each prompt.
        systems: The columns with responses, or the names of the systems.
        prompts: The responses to each row.
        ids: The id of each row; empty if it has none.
        context_fields: Name shown -> column; None for those of what is judged.
        reference_field: The column with a known good answer.
        guidelines: Instructions for the judge.
        clusters: The cluster of each row; None if rows are independent.
        kept: What a result repeats of the columns of the rows: their ids (:func:`~evenhand.data.rows.row_ids`) and
            groups (:func:`~evenhand.data.fields.row_groups`).
    """

    rows: Sequence[Row]
    systems: tuple[str, ...]
    prompts: Sequence[Prompt]
    ids: Sequence[str]
    context_fields: Mapping[str, str] | None
    reference_field: str | None
    guidelines: str
    clusters: tuple[str | None, ...]
    kept: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        rows: Sequence[Row],
        options: RunArguments,
        *,
        prompts: Sequence[Prompt] = (),
        apart: Iterable[str] = (),
    ) -> Self:
        """Return rows with the columns that the options name.

        Args:
            rows: The data.
            options: The arguments of the function.
            prompts: The responses to each row, if they are not in columns that ``response_fields`` names; ids of
                prompts are kept with contests.
            apart: Columns that are neither contexts nor clusters, such as those of labels, in which ``{system}`` stands
                for a system.

        Raises:
            InvalidInputError: If a row has no id, or one that another has.
        """
        kept = {} if prompts and prompts[0].id is not None else row_ids(rows, options.id_field)
        what, guidelines = "prompt" if prompts else "row", ""
        if isinstance(options, ResponseArguments):
            guidelines = options.guidelines
            columns = {str(column): str(column) for column in as_list(options.response_fields)}
            prompts = [Prompt(None, row, responses_in(row, number, columns)) for number, row in enumerate(rows)]
        systems = tuple(prompts[0].responses)
        apart = {*systems, *(column.replace("{system}", system) for column in apart for system in systems)}
        return cls(
            rows,
            systems,
            prompts,
            kept.get("ids") or [each.id or "" for each in prompts],
            context_mapping(options.context_fields),
            reference_column(options.reference_field, rows[0], apart),
            guidelines,
            read_clusters(rows, options.cluster_field, apart=apart, what=what),
            {**kept, **row_groups(rows, options.group_fields)},
        )

    def subject(
        self, instance: int, systems: str | Iterable[str], judged: Criterion | Checklist, **known: Any
    ) -> Subject:
        """Return the responses of a system, or of several, and what is shown with them; read if there is a response.

        Raises:
            InvalidInputError: If the row lacks a column.
        """
        prompt = self.prompts[instance]
        texts = {system: prompt.responses[system] for system in ([systems] if isinstance(systems, str) else systems)}
        known |= {"row_id": self.ids[instance], "cluster": self.clusters[instance]}
        if all(text is None for text in texts.values()):
            return Subject(instance, texts, judged=judged, **known)
        row = self.rows[instance]
        references = references_of(row, self.reference_field, instance)
        return Subject(
            instance,
            texts,
            context_of(row, self.context_fields, judged, instance, references),
            references,
            judged=judged,
            guidelines=self.guidelines,
            data_classifications=prompt.data_classifications or classifications_of(row, instance),
            **known,
        )

    def parameters(self) -> dict[str, Any]:
        """Return what a result repeats of them."""
        return {
            "n": len(self.rows),
            **self.kept,
            "context_fields": None if self.context_fields is None else dict(self.context_fields),
            "reference_field": self.reference_field,
        }


def run(
    modes: Sequence[Mode[Any]],
    subjects: Sequence[Subject],
    data: ResponseRows,
    options: RunArguments,
    parameters: Mapping[str, Any],
) -> Results | RunEstimate:
    """Judge subjects by a mode, or by several for one result, or estimate what that takes.

    Args:
        modes: The ways of judging, one after the other in one budget.
        subjects: The judged subjects.
        data: The rows that they are of.
        options: The judges, and whether it is only estimated.
        parameters: The further parameters that the result repeats.
    """
    judges = judges_of(options.engine, options.model, batch=options.batch)
    judged: list[Any] = []
    places: dict[int, int] = {}
    for each in (about.judged for about in subjects):
        if id(each) not in places:
            judged += [] if each in judged else [each]
            places[id(each)] = judged.index(each)
    for each in judged:
        warn_of_left_out_context(each, data.context_fields)
    if options.dry_run:
        return RunEstimate.total([mode.estimate(subjects, judges) for mode in modes])
    first, cells = modes[0], list[Cell]()
    repeated = {name: getattr(options, name) for name in REPEATED if name in type(options).model_fields}
    parameters = {**first.made_by(judges, subjects, modes[1:]), **data.parameters(), **repeated, **parameters}
    for mode in modes:
        left = limits_after(mode.options, (vote for cell in cells for vote in cell.votes))
        asked = replace(mode, options=left) if cells else mode
        for about, votes in asked.ask(subjects, judges):
            cells += mode.cells(about, votes, places[id(about.judged)])
    header = {**first.judged_by(judged, data.systems), "parameters": parameters}
    return Results.of_cells(ANALYSES[first.saved_as], header, cells)


REPEATED: Final[tuple[str, ...]] = ("guidelines", "num_examples", "as_index", "checklist_field")
"""The options that a result repeats as they are, of those that the function takes."""

FOR_RUBRICS: Final = ("calls", "na_strategy", "na_partial", "length_penalty")


def assess(data: object, options: JudgeArguments) -> Results | RunEstimate:
    """Assess responses by criteria or rubrics: see :func:`evenhand.functions.judge`."""
    rows, own = read_rows(data, options.split), options.rubric_field
    for name in ("criteria", "gold_fields", "examples") if own is not None else ():
        if getattr(options, name) is not None:
            raise InvalidInputError(
                f"rubric_field is {own!r} and {name} is given: where each row has a rubric of its own, no criterion is "
                "that of all rows; drop one of the two"
            )
    judged, rubric = what_is_judged(options.criteria) if own is None else ((), None)
    options = assessment_options(options, options.engine, rubric=own is not None or rubric is not None)
    if rubric is not None:
        rubric = rubric_as_judged(rubric, options)
        judged = rubric.criteria
    elif options.auto_na_option:
        judged = tuple(with_na_option(criterion) for criterion in judged)
    check_label_columns(options.gold_fields, [criterion.name for criterion in judged], "gold_fields")
    rubrics = [] if rubric is None else [rubric] * len(rows)
    if own is not None:
        rubrics = load_of_rows(rows, own, "rubric_field", "rubric", lambda each: rubric_as_judged(each, options))
        judged = tuple(criterion for each in rubrics for criterion in each.criteria)
    gold_fields = dict(options.gold_fields) if isinstance(options.gold_fields, Mapping) else {}
    responses = ResponseRows.of(rows, options, apart=[*gold_fields.values(), *([own] if own else [])])
    pools = example_pools(judged, options, responses, gold_fields)
    labels = _gold_labels(responses, judged, gold_fields, options)
    systems, places = responses.systems, range(len(rows))
    parameters = {
        **({"gold_fields": gold_fields} if own is None else {"rubric_field": own}),
        "examples": len(options.examples or ()),
        "label_fields": None if options.label_fields is None else dict(options.label_fields),
    }
    mode: Mode[Any]
    if rubrics:
        mode = RubricMode(options, pools=pools, together=options.calls == "per_item", own_rubrics=own is not None)
        penalty = options.length_penalty
        subjects = []
        for row, system in product(places, systems):  # a budget leaves whole responses
            seen = (responses.subject(row, system, each, gold=labels[system][row]) for each in rubrics[row].criteria)
            subjects.append(subject_of_rubric(rubrics[row], seen, penalty))
        parameters |= {"calls": options.calls, "length_penalty": None if penalty is None else penalty.model_dump()}
    else:
        mode = DirectMode(options, pools=pools)
        subjects = [
            responses.subject(row, system, each, gold=labels[system][row])
            for each, system, row in product(judged, systems, places)
        ]
    mode.check_rules(judged)
    parameters |= mode.run_parameters() if own is None else mode.parameters()
    return run([mode], subjects, responses, options, parameters)


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
        changes["examples"] = tuple(read_rows(options.examples))
    if options.length_penalty is not None:
        changes["length_penalty"] = length_penalty_of(options.length_penalty)
    defaults = {**one_step_in_batches(engine, options.batch), **(RubricMode.run_defaults if rubric else {})}
    return options.or_else(**defaults).model_copy(update=changes)


def what_is_judged(given: object) -> tuple[tuple[Criterion, ...], Rubric | None]:
    """Return the criteria, and the rubric that they are of.

    Raises:
        InvalidInputError: If nothing is given, or a rubric with something else, or a checklist.
    """
    references = [resolve(reference) for reference in as_list(given)]
    kinds = [kind_of(reference) for reference in references]
    if kinds == ["rubric"]:
        rubric = load_rubric(references[0])
        return rubric.criteria, rubric
    for reference, kind in zip(references, kinds, strict=True):
        if kind != "criterion":
            raise InvalidInputError(f"{describe(reference)} is a {kind}; give criteria here, or a rubric alone")
    criteria = tuple(load_criterion(reference) for reference in references)
    names_of(criteria)
    return criteria, None


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
    context_fields: Mapping[str, str] | None = None,
) -> dict[str, ExamplePool]:
    """Return criterion name -> its labelled cases; empty without examples.

    Args:
        criteria: The criteria, rubric or checklist.
        options: With the rows of the examples.
        data: The rows that are judged, whose columns examples have too.
        gold_fields: Criterion name -> column with labels.
        context_fields: The context that cases are shown with, where there are no data.

    Raises:
        InvalidInputError: If the rows cannot be used.
    """
    check_label_columns(options.label_fields, [criterion.name for criterion in criteria], "label_fields")
    if not options.examples:
        return {}
    labels = {**gold_fields, **(options.label_fields or {})}
    columns = {column for row in options.examples for column in row}
    responses = () if data is None else tuple(system for system in data.systems if system in columns)
    return {
        criterion.name: example_pool(
            options.examples,
            criterion,
            labels.get(criterion.name, criterion.name),
            responses=responses
            or (str(criterion.prediction_field) if criterion.prediction_field in columns else "response",),
            context=context_fields if data is None else data.context_fields,
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
        return read_answers(data, options, None if options.checklist is None else load_checklist(options.checklist))
    refuse_vote_columns(options)
    rows = read_rows(data, options.split)
    mode = ChecklistMode(options.or_else(**ChecklistMode.run_defaults))
    loaded = _checklists_of(rows, options.checklist, options.checklist_field)
    offered = {number: mode.offered(each) for number, each in {id(each): each for each in loaded}.items()}
    named: list[Any] = [gold_fields]
    if isinstance(gold_fields, Mapping):
        items = [item.name for each in offered.values() for item in each.items]
        check_label_columns(gold_fields, items, "gold_fields")
        named = [*gold_fields.values()]
    responses = ResponseRows.of(rows, options, apart=filter(None, [*named, options.checklist_field]))
    subjects = []
    for system, row in product(responses.systems, range(len(rows))):
        own = offered[id(loaded[row])]
        gold = _gold_answers(responses, row, system, own, gold_fields)
        subjects.append(responses.subject(row, system, own, gold=gold))
    return run([mode], subjects, responses, options, {"gold_fields": gold_fields, **mode.parameters()})


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
        elif not is_missing(found):
            answers = found if isinstance(found, (list, tuple)) else (found,)
            cells = dict(zip(names, answers, strict=True)) if len(answers) == len(names) else {"": found}
        if not cells.keys() <= {*names}:
            advice = f"give item -> answer, or a list with an answer to each of {names!r}"
            raise cell_error(instance, column, found, advice, setting="gold_fields", what="instance")
    elif fields is not None:
        columns = {name: column.replace("{system}", system) for name, column in fields.items()}
        cells = {name: field_of(row, column, instance, "gold_fields") for name, column in columns.items()}
    return {name: answer_of(cells.get(name), f"instance {instance}: the gold answer is") for name in names}


def _checklists_of(rows: Sequence[Row], given: object, field: str | None) -> list[Checklist]:
    """Return the checklist of each row."""
    if (given is None) == (field is None):
        raise InvalidInputError(f"checklist is {given!r} and checklist_field is {field!r}; give one of them")
    if field is None:
        return [load_checklist(list(given) if isinstance(given, tuple) else given)] * len(rows)
    return load_of_rows(rows, field, "checklist_field", "checklist")


def compare_systems(data: object, options: WinratesArguments) -> Results | RunEstimate:
    """Compare systems: see :func:`evenhand.functions.winrates`."""
    if options.votes is not None:
        given = None if options.criteria is None else read_comparison(options.criteria, options)
        return read_comparisons(data, options, given)
    refuse_vote_columns(options, "systems_field")
    if options.stop is not None:
        options = options.model_copy(update={"interval": "anytime"})
    rows, gold_fields = read_rows(data, options.split), options.gold_fields
    layout = Layout(options.response_fields, options.systems, options.systems_field, options.id_field)
    if gold_fields is not None and layout.is_long:
        raise InvalidInputError(
            f"gold_fields={gold_fields!r} needs data with one column per system: a preference is a pair's"
        )
    criterion = read_comparison(options.criteria, options)
    values = {option.value for option in criterion.options if not option.na}
    options = options.or_else(**one_step_in_batches(options.engine, options.batch))
    mode = WinratesMode(
        options,
        parse_design(options.design, seed=options.seed),
        check_reduction(options.reduction, graded=len(values) > 3),
        stop=options.stop,
    )
    context = context_mapping(options.context_fields)
    reference = reference_column(options.reference_field, rows[0], layout.columns)
    shared = [*(criterion.context_fields if context is None else context).values(), *([reference] if reference else [])]
    shared += [options.cluster_field] if isinstance(options.cluster_field, str) else []
    prompts = layout.prompts(rows, [*shared, *group_columns(options.group_fields)])
    names = tuple(prompts[0].responses)
    gold_columns = {}
    for pair in combinations(names, 2) if gold_fields is not None else ():  # a column stands for either order
        either = [str(gold_fields).replace("{first}", a).replace("{second}", b) for a, b in (pair, pair[::-1])]
        gold_columns[pair] = next((column for column in either if column in prompts[0].fields), either[0])
    gold = [read_preferences(prompt, place, gold_columns) for place, prompt in enumerate(prompts)]
    apart, held = [*layout.columns, *gold_columns.values()], [prompt.fields for prompt in prompts]
    responses = ResponseRows.of(held, options, prompts=prompts, apart=apart)
    subjects = [responses.subject(place, names, criterion, gold=own) for place, own in enumerate(gold)]
    parameters = {
        "systems_field": options.systems_field,
        "response_fields": layout.columns[0] if layout.is_long else list(layout.columns),
        "id_field": options.id_field,
        "gold_fields": gold_fields,
        "allow_ties": 0.5 in values,
        "scale": "graded" if len(values) > 3 else "choice",
        **({"stop": options.stop} if options.stop else {}),
        **mode.parameters(),
    }
    return run([mode], subjects, responses, options, parameters)


def read_preferences(
    prompt: Prompt, instance: int, columns: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], str]:
    """Read (first system, second system) -> the system preferred, or ``"tie"``; only labelled pairs.

    Args:
        prompt: The prompt.
        instance: Its number.
        columns: The column of each pair.

    Raises:
        InvalidInputError: If there is no such column, or a label names neither system of the pair.
    """
    found = {}
    for pair, column in columns.items():
        cell = field_of(prompt.fields, column, instance, "gold_fields")
        preferred = Pair(*pair, None, pair).preferred(cell, f"instance {instance}: the gold label in {column!r} is")
        if preferred is not None:
            found[pair] = preferred
    return found


def _only_criterion(criteria: object, function: str) -> object:
    """Return the single criterion of a function that takes one."""
    given = as_list(criteria)
    if criteria is None or len(given) != 1:
        raise InvalidInputError(
            f"criteria is {criteria!r}; {function} takes one, such as 'criteria.evenhand.pairwise.overall_quality'"
        )
    return given[0]


def read_comparison(criteria: object, options: ContestOptions) -> Criterion:
    """Return the pairwise criterion that criteria stand for.

    Raises:
        InvalidInputError: If they are not one, or bring other options than these.
    """
    allow_ties, graded = options.allow_ties, options.scale == "graded"
    criterion = load_comparison(_only_criterion(criteria, "winrates"), allow_ties=allow_ties, graded=graded)
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
    rows = read_rows(data, options.split)
    options = options.or_else(flow="one_step", orders="cyclic", check_positional_bias=False)
    if options.flow != "one_step" or options.prompt is not None:
        raise InvalidInputError("flow and prompt are those of prompts=…: leave them out")
    names = CHOICE_PROMPTS if options.prompts == "all" else check_names(options.prompts, "prompts")
    for name in names:
        check_known(name, (*CHOICE_PROMPTS, "all"), f"prompts names {name!r}")
    modes = [GradeMode(options.model_copy(update={"prompt": name})) for name in names]
    criterion = load_comparison(_only_criterion(options.criteria, "grade_scores"))
    named = options.response_fields
    columns = named if isinstance(named, str) else check_names(named or (), "response_fields", 2)
    given = [Prompt(None, row, _candidates_of(row, place, columns)) for place, row in enumerate(rows)]
    responses = ResponseRows.of(rows, options, prompts=given, apart=map(str, as_list(columns)))
    subjects = tuple(responses.subject(place, own.responses, criterion) for place, own in enumerate(given))
    subjects = with_unrelated(subjects, seed=options.seed) if options.unrelated_option else subjects
    parameters = {
        "prompts": list(names),
        "response_fields": columns if isinstance(columns, str) else list(columns),
        "unrelated_option": options.unrelated_option,
        **parameters_of(options, modes[0].rules, Flow.of(options)),
    }
    return run(modes, subjects, responses, options, parameters)


def _candidates_of(row: Row, place: int, columns: str | tuple[str, ...]) -> Mapping[str, str | None]:
    """Return the candidates of one row."""
    if isinstance(columns, str):
        return read_responses(field_of(row, columns, place, "response_fields"), place)
    return responses_in(row, place, {name: name for name in columns})


def judge_by_mode(data: object, options: RunModeArguments) -> Results | RunEstimate:
    """Judge by any mode: see :func:`evenhand.functions.run_mode`."""
    rows, kind = read_rows(data, options.split), find_mode(options.mode)
    if kind.function != "run_mode":
        raise InvalidInputError(f"the mode {kind.kind!r} has a function of its own: evenhand.{kind.function}")
    options = options.or_else(**one_step_in_batches(options.engine, options.batch))
    way, criteria = kind.from_options(options.mode_options or {}, options), options.criteria
    criterion = NO_CRITERION
    if criteria is not None:
        criterion = load_comparison(criteria) if kind.compares else load_criterion(criteria)
    responses = ResponseRows.of(rows, options)
    if kind.compares:
        check_names(responses.systems, "response_fields", 2)
    systems = [responses.systems] if kind.compares else [(system,) for system in responses.systems]
    subjects = [responses.subject(row, named, criterion) for named, row in product(systems, range(len(rows)))]
    return run([way], subjects, responses, options, way.parameters())

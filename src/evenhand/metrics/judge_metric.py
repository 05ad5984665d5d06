"""What all judge metrics share: the engines, the run, and how results are handed to unitxt."""

import json
import warnings
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Dict, List, TypeVar, Union

from evenhand.criteria import Checklist, Criterion
from evenhand.data.fields import (
    CLASSIFICATION,
    check_label_columns,
    classifications_of,
    context_of,
    field_of,
    loaded_of_rows,
    named_groups,
    recipe_context_fields,
    row_groups,
    text_of,
    texts_of,
    warn_of_left_out_context,
)
from evenhand.data.plain import context_mapping
from evenhand.engines.base import Engine, JudgeEngine
from evenhand.engines.names import as_judge, engine_named, one_step_in_batches, with_batch, with_model
from evenhand.errors import EvenhandWarning, InvalidInputError
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    example_pool,
)
from evenhand.metrics.base_metric import EvenhandMetric, InstanceScores, score_name_of
from evenhand.metrics.correcting import Correcting, Gold, gold_options
from evenhand.modes.mode import Mode, Subject
from evenhand.numbers import Missing
from evenhand.options import AssessmentOptions, GoldOptions, IntervalOptions, RunOptions
from evenhand.question import Classifications
from evenhand.results.measures import Measure, score_entries, scores_of
from evenhand.results.notes import LIMITS, Spending
from evenhand.results.saved import line_of
from evenhand.results.vote_columns import Cell
from evenhand.statistics import Interval
from evenhand.unitxt.bases import (
    Artifact,
    Criteria,
    EmptyPrediction,
    EvaluationInput,
    InferenceEngine,
    Maybe,
    fields_class,
    get_parsed_context,
    group_str,
)
from evenhand.unitxt.engines import UnitxtBridge, to_artifact
from evenhand.unitxt.loading import load_comparison, load_criteria_artifact, load_criteria_artifact_of_row
from evenhand.votes import is_missing

Value = TypeVar("Value")

NO_ENGINE = (
    "the metric has no inference_engine, and a judge has no default. Give one in four ways: the name of "
    "a model, as in inference_engine=openai/gpt-4.1-mini, or the address of a server, as in "
    "inference_engine=http://localhost:8000/v1 with model=…; a catalog id, as in "
    "metrics.evenhand.direct[inference_engine=engines.evenhand.litellm[model=openai/gpt-4.1-mini]]; an engine object, "
    "as in DirectJudge(inference_engine=OpenAICompatibleEngine(base_url='http://localhost:8000/v1', model='…')); or, "
    "offline and without a model, engines.evenhand.baseline"
)


class MarkedDataWarning(EvenhandWarning):
    """An engine of unitxt's is shown data of a class that it does not declare, as unitxt's judges show them."""


@dataclass(frozen=True, slots=True)
class JudgedInstance:
    """What one instance maps to.

    Attributes:
        score_name: The main score's name in this evaluation.
        evaluator: The judge's name in score names.
        mode: The way of judging.
        about: What was judged, and by what.
        result: What the votes come to, as the mode has it.
        criteria_json: The criteria artifact as JSON; None where what is judged is none.
        place: Of what it is judged by, among all that the instances are judged by.
        groups: Column -> the group that the instance is of.
        gold: What people say of it.
        spent: What the run in which it was judged spent of its limits; None without limits.
        panel: Who judges.
    """

    score_name: str
    evaluator: str
    mode: Any
    about: Subject
    result: Any
    criteria_json: Union[str, None] = None
    place: int = 0
    groups: Mapping[str, Union[str, None]] = field(default_factory=dict)
    gold: Gold = ()
    spent: Union[Spending, None] = None
    panel: Sequence[JudgeEngine] = ()

    @property
    def cluster(self) -> Union[str, None]:
        """What the instance belongs to; None where instances do not depend on each other."""
        return self.about.cluster


class RecipeInput(EvaluationInput):
    """One instance as a judge metric sees it, with the instance of the recipe that it was read from."""

    instance: Mapping[str, Any] = MappingProxyType({})


class AwaitedGroups:
    """What the instances of an evaluation map to, kept until unitxt has asked for each of their groups.

    unitxt scores all instances first, and then each group by another call of the same metric, without saying of which
    evaluation the group is. Each call gets copies of the containers alone: the texts and numbers in them are the same
    objects, which tell the instances of an evaluation from equal ones of another. Nothing is kept after the last group.
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._awaited: List[tuple[List[tuple[int, ...]], Dict[tuple[int, ...], tuple[Any, JudgedInstance]]]] = []

    def keep(self, inputs: Sequence[EvaluationInput], judged: Sequence[JudgedInstance]) -> None:
        """Keep what the instances map to for the groups that they are in.

        Args:
            inputs: The instances.
            judged: What each maps to.
        """
        kept, groups = {}, defaultdict(list)
        for given, mapped in zip(inputs, judged, strict=True):
            instance = getattr(given, "instance", {})
            if instance.get("groups"):
                kept[_identity(instance)] = (instance, mapped)
                for group in instance["groups"]:
                    groups[group_str(group)].append(_identity(instance))
        self._awaited += [(members, kept) for members in groups.values()]

    def take(self, inputs: Sequence[EvaluationInput]) -> Union[List[JudgedInstance], None]:
        """What the instances map to where they are a group that is awaited; None where they are not.

        Args:
            inputs: The instances.
        """
        if not self._awaited:
            return None
        instances = [getattr(given, "instance", {}) for given in inputs]
        members = [_identity(instance) for instance in instances if "__idx__" in instance]
        for place, (awaited, kept) in enumerate(self._awaited):
            if members == awaited:
                del self._awaited[place]
                return [kept[each][1] for each in members]
        return None


def _identity(instance: Mapping[str, Any]) -> tuple[int, ...]:
    """The identities of the values in an instance, which copies of its containers share."""
    return tuple(map(id, _values([instance[name] for name in ("__idx__", "task_data", "prediction", "references")])))


def _values(given: Any) -> Iterator[Any]:
    if isinstance(given, (dict, list, tuple)):
        for each in given.values() if isinstance(given, dict) else given:
            yield from _values(each)
    else:
        yield given


OF_ALL_METRICS = tuple(IntervalOptions.model_fields)
"""The options of a run that all metrics have; ``level`` is unitxt's ``confidence_level``."""

if TYPE_CHECKING:

    class RunFields(EvenhandMetric):
        """Options as fields: :class:`~evenhand.options.RunOptions`, :class:`~evenhand.options.GoldOptions`."""

        def __getattr__(self, name: str) -> Any: ...
else:
    RunFields = fields_class(
        "RunFields",
        fields_class("GoldFields", EvenhandMetric, GoldOptions, module=__name__),
        RunOptions,
        module=__name__,
        left_out=OF_ALL_METRICS,
    )


def _engine_given(engine: Any) -> Any:
    """An engine of ours as an artifact, also that of a model's name or of a server's address; any other as it is."""
    found = (engine_named(engine) or engine) if isinstance(engine, str) else engine
    return to_artifact(found) if isinstance(found, Engine) else found


def _written(engine: Any) -> Any:
    """Engines as a metric was given them, as unitxt writes them."""
    if isinstance(engine, list):
        return [_written(each) for each in engine]
    return to_artifact(engine).to_dict() if isinstance(engine, Engine) else engine


class JudgeMetric(RunFields):
    """The base of every metric in which a model judges.

    Attributes:
        inference_engine: The judge: an engine, its catalog id, the name of a model (``openai/gpt-4.1-mini``) or the
            address of a server (``http://localhost:8000/v1``, with ``model``); or a list of them, which form a panel.
            It has no default.
        criteria: What is judged: an artifact, its catalog id, or a frozen :class:`~evenhand.criteria.Criterion`.
        criteria_field: The task data field that names each instance's own criterion; used when ``criteria`` is not set.
        context_fields: What the judge is shown beside the response: a field name, a list of them, or name shown ->
            field. Unless it is set, the row's ``context``, which unitxt's judges show too, and the fields that the
            criterion names (unitxt's do not show these beside it). An empty list: the latter alone, as in unitxt, as
            far as the row has them.
        guidelines: What the judge is told about judging, beside the criterion.
        evaluator_name: Names the judge in the score ``using_<evaluator>``; by default the engine does.
        format: Of unitxt's judges: ``formats.chat_api``, the only one that they take too.
    """

    main_score: str = "llm_as_judge"
    format: str = "formats.chat_api"

    inference_engine: Maybe[Union[InferenceEngine, List[InferenceEngine]]] = None
    criteria_field: Maybe[str] = None
    context_fields: Maybe[Union[str, List[str], Dict[str, str]]] = None
    evaluator_name: Maybe[str] = None
    guidelines: str = ""

    def prepare(self) -> None:
        """Begin without instances whose groups are awaited; unitxt's copies of the metric share them."""
        super().prepare()
        self._awaited_groups = AwaitedGroups()

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "inference_engine":
            value = [_engine_given(each) for each in value] if isinstance(value, list) else _engine_given(value)
        super().__setattr__(name, value)

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        super().verify()
        if self.format != "formats.chat_api":
            raise InvalidInputError(f"format is {self.format!r}; judges are asked by chat: leave it out")
        for engine in self.engines() if self.inference_engine or self.model is not None else ():
            if not isinstance(engine, (InferenceEngine, JudgeEngine, Engine)):
                raise InvalidInputError(
                    f"inference_engine is {engine!r}, which cannot be asked: give the catalog id of an engine, an "
                    "inference engine of unitxt, or a judge (evenhand.JudgeEngine)"
                )
        gold_options(self)

    def check_options(self) -> None:
        """Check the options of the run, and what they ask of what is known to be judged."""
        self.check_prompt(self.mode_of(self.known()))

    def check_prompt(self, mode: Any) -> None:
        """Check that the prompt fits what the metric asks."""
        mode.flow.check_prompt("assess")

    def known(self) -> Sequence[Subject]:
        """Subjects that stand for what is judged, as far as that is known before there is data."""
        return ()

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """What the metric was made from, as unitxt writes it.

        Raises:
            InvalidInputError: If the engine is none that unitxt can write.
        """
        for engine in self.engines() if self.inference_engine else ():
            if not isinstance(engine, Artifact):
                raise InvalidInputError(
                    f"inference_engine is {engine!r}, which is no artifact of unitxt, and a recipe copies its metrics "
                    "by writing them: give the catalog id of an engine, or an engine artifact, such as "
                    "evenhand.SimulatedEngine(…)"
                )
        if "inference_engine" in data:
            data = {**data, "inference_engine": _written(data["inference_engine"])}
        return super().process_data_before_dump(data)

    def option_values(self, model: type[RunOptions] = RunOptions) -> Dict[str, Any]:
        """The options of a model, as the fields of the metric have them."""
        own = {name: getattr(self, name) for name in model.model_fields if hasattr(self, name)}
        if "flow" not in self._init_dict:
            own |= one_step_in_batches({"batch": self.batch}, self.inference_engine)
        return {**own, "level": self.confidence_level}

    def run_options(self) -> RunOptions:
        """The options of the run, checked."""
        return RunOptions(**self.option_values())

    def engines(self) -> list[Any]:
        """The engines of the panel.

        Raises:
            InvalidInputError: If there is none.
        """
        if not self.inference_engine:
            raise InvalidInputError(NO_ENGINE)
        given = self.inference_engine if isinstance(self.inference_engine, list) else [self.inference_engine]
        return list(with_batch(given if self.model is None else with_model(given, self.model), self.batch))

    def evaluator(self) -> str:
        """The judge's name in score names, as unitxt builds it: the evaluator's name (or the engine's id) and label."""
        names = []
        for engine in self.engines():
            if isinstance(engine, InferenceEngine):
                names.append(f"{(self.evaluator_name or engine.get_engine_id()).lower()}_{engine.label}")
            else:
                names.append((self.evaluator_name or as_judge(engine).judge_id).lower())
        return "+".join(dict.fromkeys(names))

    def panel(self) -> list[JudgeEngine]:
        """The judges. The prompts to an engine of unitxt's are marked public, as those of unitxt's judges are.

        Where the metric names the class of the data itself, they are marked so.
        """
        named: Union[str, Sequence[str], None] = self.data_classification
        marked = (named,) if isinstance(named, str) else tuple(named or ("public",))
        return [as_judge(engine, marked=marked) for engine in self.engines()]

    def check_marks(self, panel: Sequence[JudgeEngine], subjects: Sequence[Subject]) -> None:
        """Check that the engines may see prompts so marked; warn of data that they are shown because of it.

        A recipe with groups copies its metrics: that the warning is shown once is due to Python's filter of warnings.

        Raises:
            DataClassificationError: If one may not.
        """
        for judge in panel:
            if not isinstance(judge, UnitxtBridge):
                continue
            caution = judge.check_mark({each for about in subjects for each in about.data_classifications})
            if caution is not None:
                warnings.warn(caution, MarkedDataWarning, stacklevel=2)

    def classifications_of(self, given: EvaluationInput, row: int) -> Classifications:
        """How an instance is classified: by its recipe, or by its task data."""
        marked = getattr(given, "instance", {}).get(CLASSIFICATION)
        return (*classifications_of({CLASSIFICATION: marked}, row), *classifications_of(given[2], row))

    def criteria_artifacts(self, rows: Sequence[Mapping[str, Any]]) -> list[Criteria]:
        """One criteria artifact a row of task data: the metric's own, or the one that the row names.

        Raises:
            InvalidInputError: If neither is given.
            ArtifactError: If a row names something that is not a criterion.
        """
        if self.criteria is not None:
            return [load_criteria_artifact(self.criteria)] * len(rows)
        if self.criteria_field is None:
            raise InvalidInputError(
                "the metric has neither criteria nor criteria_field: give criteria (a catalog id such as "
                "criteria.evenhand.direct.relevance, or an artifact), or the task data field that names each "
                "instance's own"
            )
        field = self.criteria_field
        return loaded_of_rows(
            rows,
            field,
            "criteria_field",
            lambda given, row: load_criteria_artifact_of_row(given, f"the field {field!r} of instance {row}"),
        )

    def get_criteria(self, task_data: Sequence[Mapping[str, Any]], eval_count: int) -> list[Criteria]:
        """One criteria artifact a row, as unitxt's judges give them.

        Args:
            task_data: The rows.
            eval_count: How many there are.
        """
        return self.criteria_artifacts(list(task_data) or [{}] * eval_count)

    def get_contexts(self, task_data: Sequence[Dict[str, Any]], criteria: Sequence[Criteria]) -> list[str]:
        """What the judge is shown beside each response, as unitxt's judges give it: in one text.

        Args:
            task_data: The rows.
            criteria: Of each.
        """
        rows = enumerate(zip(task_data, map(load_comparison, criteria), strict=True))
        shown = [self.context_of(EvaluationInput(None, [], data), own, row) for row, (data, own) in rows]
        return [get_parsed_context(context) for context in shown]

    def get_predictions(
        self, task_data: Sequence[Dict[str, Any]], criteria: Sequence[Criteria], predictions: Sequence[Any]
    ) -> list[Any]:
        """The predictions, or what the criteria say that the rows hold in their place, as unitxt's judges give them."""
        given = predictions or [EmptyPrediction()] * len(task_data)
        rows = enumerate(zip(given, task_data, criteria, strict=True))
        return [
            self.response_of(EvaluationInput(prediction, [], data), own.prediction_field, row)
            for row, (prediction, data, own) in rows
        ]

    def clean_results(self, results: Any) -> Any:
        """Results without what is None or empty, at any depth of dicts, as unitxt's judges clean theirs."""
        if isinstance(results, list):
            return [self.clean_results(each) for each in results]
        cleaned = {
            name: self.clean_results(value) if isinstance(value, dict) else value for name, value in results.items()
        }
        return {
            name: value
            for name, value in cleaned.items()
            if value is not None and not (isinstance(value, (list, dict)) and not value)
        }

    def frozen_criteria(
        self, inputs: Sequence[EvaluationInput], freeze: Callable[[Criteria], Criterion]
    ) -> tuple[list[Criterion], list[str]]:
        """The criterion of each instance, and its artifact as JSON; each artifact is frozen and written once.

        Args:
            inputs: The instances.
            freeze: Makes a criterion of an artifact, as the metric judges it.
        """
        artifacts = self.criteria_artifacts([task_data for _, _, task_data in inputs])
        frozen = {id(artifact): (freeze(artifact), artifact.to_json()) for artifact in distinct(artifacts)}
        found = [frozen[id(artifact)] for artifact in artifacts]
        return [criterion for criterion, _ in found], [as_json for _, as_json in found]

    def warn_of_context(self, judged: Iterable[Union[Criterion, Checklist]]) -> None:
        """Warn, once for each, of what is judged by fields that ``context_fields`` leaves out."""
        for one in distinct(judged):
            warn_of_left_out_context(one, self.given_context_fields())

    def context_of(self, given: EvaluationInput, criterion: Union[Criterion, Checklist], row: int) -> dict[str, str]:
        """What the judge is shown beside the response, as `context_fields` says."""
        _, references, task_data = given
        fields = self.given_context_fields()
        if not fields:
            fields = recipe_context_fields(task_data, criterion, with_context=fields is None)
        return context_of(task_data, fields, criterion, row, texts_of(references))

    def subject(
        self,
        given: EvaluationInput,
        judged: Union[Criterion, Checklist],
        row: int,
        texts: Mapping[str, Union[str, None]],
    ) -> Subject:
        """What the judge is told about an instance.

        Args:
            given: The instance.
            judged: What says which fields are shown, where ``context_fields`` does not.
            row: Its place.
            texts: Name -> text of what is judged.
        """
        return Subject(
            instance=row,
            texts=texts,
            context=self.context_of(given, judged, row),
            references=texts_of(given[1]),
            draw_key=draw_key_of(given),
            data_classifications=self.classifications_of(given, row),
            guidelines=self.guidelines,
            judged=judged,
        )

    def given_context_fields(self) -> Union[dict[str, str], None]:
        """The metric's own context fields; None where none were set, nothing where only the criterion's count."""
        return None if self.context_fields is None else context_mapping(self.context_fields)

    def judged_name(self) -> str:
        """The name of what is judged; empty where instances name their own."""
        return "" if self.criteria is None else load_criteria_artifact(self.criteria).name

    def shown_fields(self) -> list[str]:
        """The task data fields that the judge is shown beside the response, as far as they are known before the data.

        Those of the metric, or else of what is judged.
        """
        own = self.given_context_fields()
        if own is not None:
            return list(own.values())
        if self.criteria is None:
            return [self.criteria_field] if self.criteria_field else []
        return list(context_mapping(load_criteria_artifact(self.criteria).context_fields).values())

    def response_of(self, given: EvaluationInput, prediction_field: Union[str, None], row: int) -> Any:
        """The prediction, or the task data field that the criterion names when no predictions were given."""
        prediction, _, task_data = given
        if not isinstance(prediction, EmptyPrediction) and prediction != str(EmptyPrediction()):
            return prediction
        if prediction_field is None:
            raise InvalidInputError(
                f"instance {row} has no prediction, and the criterion names no prediction_field: give predictions to "
                "evaluate(), or name the field in the criterion"
            )
        return field_of(task_data, prediction_field, row, "prediction_field")

    def _instance_to_evaluation_input(self, instance: Dict[str, Any]) -> EvaluationInput:
        prediction, references, task_data = super()._instance_to_evaluation_input(instance)
        given = RecipeInput(prediction, references, task_data)
        given.instance = instance
        return given

    @abstractmethod
    def mode_of(self, subjects: Sequence[Subject]) -> Mode[Any]:
        """The way of judging these, with the settings of the run, checked."""

    @abstractmethod
    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[Sequence[Subject], Sequence[Union[str, None]]]:
        """What is judged, one an instance, and the criteria artifact of each as JSON."""

    def response_subject(self, row: int, given: EvaluationInput, judged: Union[Criterion, Checklist]) -> Subject:
        """The one response of an instance; what is shown beside it is read only where there is one."""
        response = self.response_of(given, judged.prediction_field, row)
        if is_missing(response):
            return Subject(row, {"": None}, judged=judged)
        return self.subject(given, judged, row, {"": text_of(response, f"the prediction of instance {row}")})

    def score_name(self, subjects: Sequence[Subject]) -> str:
        """The name of the main score: that of what is judged, where all instances share one that has a name."""
        return score_name_of((about.judged.name for about in subjects), self.main_score)

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[JudgedInstance]:
        """Judge all instances; one intermediate each. Those of a group of instances judged before are not judged again.

        Args:
            evaluation_inputs_stream: The instances.
        """
        inputs = list(evaluation_inputs_stream)
        group = self._awaited_groups.take(inputs)
        if group is not None:
            return self._named(group)
        judged = self._judge(inputs)
        self._awaited_groups.keep(inputs, judged)
        return judged

    def _judge(self, inputs: Sequence[EvaluationInput]) -> List[JudgedInstance]:
        clusters = self.clusters_of(inputs)
        columns = row_groups([task_data for _, _, task_data in inputs], self.group_fields).get("groups", {})
        read, artifacts = self.subjects(inputs)
        if not read:
            return []
        subjects = [replace(about, cluster=cluster) for about, cluster in zip(read, clusters, strict=True)]
        evaluator, panel, mode = self.evaluator(), self.panel(), self.mode_of(subjects)
        self.check_marks(panel, subjects)
        groups = [{column: names[row] for column, names in columns.items()} for row in range(len(subjects))]
        correcting = self.correcting()
        gold = [()] * len(subjects) if correcting is None else correcting.gold_of([each for _, _, each in inputs])
        planned = self._named(
            [
                JudgedInstance("", evaluator, mode, about, None, criteria_json, groups=named, gold=labels, panel=panel)
                for about, criteria_json, named, labels in zip(subjects, artifacts, groups, gold, strict=True)
            ]
        )
        if correcting is not None:
            correcting.check(self._run(planned), mode, subjects, gold)
        results = mode.judge(subjects, panel)
        judged = [replace(each, result=result) for each, result in zip(planned, results, strict=True)]
        spent = self._spent(judged)
        return [replace(each, spent=spent) for each in judged]

    def _named(self, judged: Sequence[JudgedInstance]) -> List[JudgedInstance]:
        """Name the main score of these instances, and number what they are judged by."""
        subjects = [each.about for each in judged]
        name = self.score_name(subjects)
        places = {id(each): place for place, each in enumerate(distinct(about.judged for about in subjects))}
        return [replace(each, score_name=name, place=places[id(each.about.judged)]) for each in judged]

    def _spent(self, judged: Sequence[JudgedInstance]) -> Union[Spending, None]:
        """What the run spent of the limits that were given; None without limits."""
        limits = {name: limit for name in LIMITS if (limit := getattr(self, name)) is not None}
        cells = (cell for each in judged for cell in each.mode.cells(each.about, each.result, each.place))
        return Spending.of((vote for _, votes in cells for vote in votes), limits) if limits else None

    def correcting(self) -> Union[Correcting, None]:
        """How scores are corrected by what people say; None where no field holds that."""
        fields = gold_options(self)
        return None if fields is None else Correcting(fields, self.seed)

    def reduce_one(self, intermidate: JudgedInstance) -> InstanceScores:  # unitxt spells its parameter so
        """The scores of one instance, and the votes that they were made of, unless another score has this name."""
        scores = super().reduce_one(intermidate)
        cells = intermidate.mode.cells(intermidate.about, intermidate.result, intermidate.place)
        cluster = {"cluster": intermidate.cluster}
        lines = [line_of(Cell({**about, **cluster}, tuple(votes)).without(("prompts",))) for about, votes in cells]
        if (name := f"{intermidate.score_name}_votes") not in scores.whole:
            scores.texts[name] = lines
        return scores

    def reduce(self, intermediates: List[JudgedInstance]) -> Dict[str, Any]:
        """The global scores: the main one and every measure of how far it can be trusted."""
        measures = intermediates[0].mode.measures(
            [each.about for each in intermediates],
            [each.result for each in intermediates],
            self.level_of(intermediates),
        )
        main, spent = intermediates[0].score_name, intermediates[0].spent
        return {
            f"{main}_run": self._run(intermediates),
            **self._corrected(main, intermediates),
            **self.global_scores(measures, intermediates),
            **({} if spent is None else scores_of(spent, main, only=("calls_left", "cost_left"))),
            "score_name": main,
        }

    def _corrected(self, main: str, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The scores that people would give, where a field says what they say of some."""
        correcting = self.correcting()
        if correcting is None:
            return {}
        cells = [
            Cell({"instance": each.about.instance, **about, "cluster": each.cluster}, tuple(votes))
            for each in judged
            for about, votes in each.mode.cells(each.about, each.result, each.place)
        ]
        gold, shown = [each.gold for each in judged], self.return_confidence_interval
        return correcting.scores(self._run(judged), cells, gold, main, with_intervals=shown)

    def _run(self, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """What :func:`evenhand.from_results` needs to know beside the votes: what was judged, by whom, and how."""
        mode = judged[0].mode
        systems = dict.fromkeys(name or "response" for each in judged for name in each.about.texts)
        different = {each.place: each.about.judged for each in judged}
        return {
            "evenhand": mode.saved_as,
            "parameters": {
                **mode.made_by(judged[0].panel, [each.about for each in judged]),
                "n": len(judged),
                **named_groups({column: [each.groups[column] for each in judged] for column in judged[0].groups}),
                **mode.parameters(),
            },
            **mode.judged_by([different[place] for place in sorted(different)], list(systems)),
        }

    @abstractmethod
    def global_scores(self, measures: Any, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The scores of all instances, the main one among them.

        Args:
            measures: What the mode makes of the results.
            judged: What the instances map to.
        """


def using_scores(judged: JudgedInstance, score: Union[Interval, Missing], *, with_intervals: bool) -> dict[str, float]:
    """The main score under the name that says who judged, as unitxt has it."""
    using = Measure(f"{judged.score_name}_using_{judged.evaluator}", score, always=True)
    return score_entries(using.name, using, with_intervals=with_intervals)


def distinct(values: Iterable[Value]) -> list[Value]:
    """Each object once, however often it occurs, in the order of first occurrence."""
    return list({id(value): value for value in values}.values())


def draw_key_of(given: EvaluationInput) -> str:
    """What names an instance in seeded draws: its content, so that a group of the data draws as the whole does."""
    return json.dumps(given, default=str)


class AssessingJudge(JudgeMetric):
    """The base of the metrics in which one response is judged at a time.

    Attributes:
        examples: Labelled rows, from which each question draws cases that are shown first: balanced over the labels,
            seeded by the content of the instance, never the instance itself. A row has the fields of the task data
            that are shown as context, ``response`` (or the criterion's prediction field) and the label.
        num_examples: How many cases each question is shown; one of each label in the rows when None.
        label_fields: Criterion name -> the field of ``examples`` with the label; a criterion that is not named has its
            labels in the field of its own name.
        as_index: Labels of ``examples`` that are numbers are places of options, 0 for the first, not values.
    """

    examples: Maybe[List[Dict[str, Any]]] = None
    num_examples: Maybe[int] = None
    label_fields: Maybe[Dict[str, str]] = None
    as_index: bool = False

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        rows: object = self.examples
        if rows is not None and not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise InvalidInputError(f"examples is {rows!r}; give a list of rows, each a dict")
        super().verify()

    def run_options(self) -> AssessmentOptions:
        """The options of the run, and of the assessment."""
        return AssessmentOptions(**self.option_values(AssessmentOptions))

    def example_pools(self, criteria: Sequence[Criterion]) -> dict[str, ExamplePool]:
        """Criterion name -> its labelled cases; empty without examples, and where no criterion is known.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        if criteria:
            check_label_columns(self.label_fields, [criterion.name for criterion in criteria], "label_fields")
        return {
            criterion.name: self._pool(criterion, self.examples) for criterion in criteria if self.examples is not None
        }

    def _pool(self, criterion: Criterion, rows: List[Dict[str, Any]]) -> ExamplePool:
        field = criterion.prediction_field
        response = field if field is not None and any(field in row for row in rows) else "response"
        fields = ExampleFields(
            label=(self.label_fields or {}).get(criterion.name, criterion.name),
            responses=(response,),
            context=self.given_context_fields() or None,
            as_index=self.as_index,
        )
        return example_pool(rows, criterion, fields, number=self.num_examples, seed=self.seed)

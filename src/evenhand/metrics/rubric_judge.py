"""A rubric: a judge chooses an option of every criterion, and the options make one score."""

from collections.abc import Mapping, Sequence
from typing import Any, Dict, List, Union

from evenhand.aggregation import mean_covered_mass
from evenhand.criteria import Criterion, Rubric
from evenhand.data.fields import loaded_of_rows
from evenhand.errors import InvalidCriterionError, InvalidInputError
from evenhand.judge_reliability.panel_report import PanelReport, report_of_run
from evenhand.metrics.base_metric import (
    number_or_nan,
    panel_scores,
    score_name_of,
    warn_of_unscored,
)
from evenhand.metrics.judge_metric import AssessingJudge, JudgedInstance, distinct, using_scores
from evenhand.modes.mode import Subject
from evenhand.modes.rubric import (
    RubricMode,
    RubricResult,
    RubricSummary,
    length_penalty_of,
    rubric_as_judged,
)
from evenhand.options import RunOptions
from evenhand.results.measures import scores_of
from evenhand.scoring import ScoreSummary
from evenhand.unitxt.bases import EvaluationInput, Maybe
from evenhand.unitxt.criteria_artifacts import EvenhandRubric, to_artifact
from evenhand.unitxt.loading import load_rubric, load_rubric_of_row
from evenhand.votes import Verdict

NO_RUBRIC = (
    "the metric has no rubric: give a catalog id such as rubrics.evenhand.summarization, the path of a YAML or JSON "
    "file, a dict, or a rubric; or rubric_field, the task data field with each instance's own"
)


class RubricJudge(AssessingJudge):
    """A judge chooses an option of every criterion of a rubric, and their weighted values make the score.

    The score of an instance is :func:`~evenhand.aggregation.rubric_score` of the options chosen (with
    ``scoring="expected"``, of the expected values), less the length penalty. A criterion whose reply names no option
    is unscored: it is left out of the score, named and counted, and ``score_if_unscored_0`` and ``_1`` say what the
    score would be at its worst and at its best option. The score of a criterion is the number that its votes were
    aggregated to, as in :class:`~evenhand.metrics.direct.DirectJudge`; with ``scoring="expected"``
    ``<main>_<criterion>_covered_mass`` says how much of the probability was on its options. All criteria of all
    instances are asked in one queue.

    :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists the other settings, and
    :class:`~evenhand.metrics.judge_metric.AssessingJudge` those for examples; ``criteria`` and ``criteria_field``
    are not for rubrics. Defaults of its own: ``flow="one_step"``, since a rubric asks many questions a response, and
    ``check_positional_bias=False``, since the options stand in a random order.

    Attributes:
        rubric: What is judged: a catalog id, the path of a YAML or JSON file, a dict, an artifact, or a frozen
            :class:`~evenhand.criteria.Rubric`.
        rubric_field: The task data field that holds each instance's own rubric: a list or mapping of criteria, in the
            form of another tool too (such as the ``rubrics`` of HealthBench), a JSON text of one, or the id of a
            rubric. The scores of its criteria are then those of an instance, in the list ``<main>_criteria``.
        calls: ``per_criterion``: a call for each criterion; ``per_item``: one reply for the whole rubric, in which a
            missing or invalid entry leaves only its own criterion unscored.
        shuffle_options: Show the options in a seeded random order of each instance and criterion, which is in each
            vote; False shows them as written.
        orders: Another order than ``shuffled``.
        check_positional_bias: True shows each order's reverse too, and averages.
        auto_na_option: Offer an option that says that it does not apply to each criterion that has none.
        na_strategy: What a criterion that does not apply does, instead of what the rubric says: ``skip``, ``zero``,
            ``partial`` or ``fail``.
        na_partial: What ``partial`` counts, instead of what the rubric says.
        length_penalty: Fields of :class:`~evenhand.aggregation.LengthPenalty`: what a response that is too long loses.
    """

    rubric: Any = None
    rubric_field: Maybe[str] = None
    calls: str = "per_criterion"
    shuffle_options: bool = True
    auto_na_option: bool = True
    na_strategy: Maybe[str] = None
    na_partial: Maybe[float] = None
    length_penalty: Maybe[Dict[str, Any]] = None
    orders: str = "shuffled"
    check_positional_bias: Union[bool, float] = False
    flow: str = "one_step"

    def prepare(self) -> None:
        """Make the rubric an artifact, which unitxt can copy and write."""
        super().prepare()
        if self.rubric is not None and not isinstance(self.rubric, EvenhandRubric):
            self.rubric = to_artifact(load_rubric(self.rubric))

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """What the metric was made from, as unitxt writes it."""
        data = super().process_data_before_dump(data)
        given = data.get("rubric")
        if given is None or isinstance(given, str):
            return data
        return {**data, "rubric": self.rubric.to_dict()}

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        if self.criteria is not None or self.criteria_field is not None:
            raise InvalidInputError(
                "the metric judges a rubric and takes neither criteria nor criteria_field: give rubric, or use "
                "metrics.evenhand.direct for one criterion"
            )
        own = self.rubric_field
        if own is not None and (self.rubric is not None or self.examples is not None):
            raise InvalidInputError(
                f"rubric_field is {own!r} and {'examples is' if self.rubric is None else 'rubric is'} given too: where "
                "each instance has a rubric of its own, no criterion is that of all; drop one of the two"
            )
        super().verify()
        length_penalty_of(self.length_penalty)

    def check_prompt(self, mode: RubricMode) -> None:
        """Check that the prompt is for one criterion, or for all of them at once."""
        mode.flow.check_prompt("assess", sheet=mode.together)

    def known(self) -> Sequence[Subject]:
        """The metric's own rubric, if it has one."""
        if self.rubric is None:
            return ()
        rubric = self.judged_rubric()
        check_score_names(rubric)
        return (Subject(0, {}, judged=rubric),)

    def judged_name(self) -> str:
        """The name of the rubric."""
        return "" if self.rubric is None else str(self.rubric.name)

    def shown_fields(self) -> List[str]:
        """The task data fields that the judge is shown beside the response, for any of the criteria."""
        if self.rubric is None or self.context_fields is not None:
            return [*super().shown_fields(), *([self.rubric_field] if self.rubric_field else [])]
        fields = [field for each in self.judged_rubric().criteria for field in each.context_fields.values()]
        return list(dict.fromkeys(fields))

    def option_values(self, model: type[RunOptions] = RunOptions) -> Dict[str, Any]:
        """The options as the fields have them; ``shuffle_options`` says in which order the options are shown."""
        as_written = self.shuffle_options is False and self.orders == "shuffled"
        return {**super().option_values(model), "orders": "given" if as_written else self.orders}

    def judged_rubric(self) -> Rubric:
        """The rubric as it is judged: with the NA options offered, and the metric's own NA strategy.

        Raises:
            InvalidInputError: If there is none.
        """
        if self.rubric is None:
            raise InvalidInputError(NO_RUBRIC)
        return self._as_judged(load_rubric(self.rubric))

    def rubrics(self, inputs: Sequence[EvaluationInput]) -> Sequence[Rubric]:
        """The rubric of each instance, as it is judged: the metric's own, or the one that the instance holds or names.

        Raises:
            InvalidInputError: If there is none.
        """
        if self.rubric_field is None:
            return [self.judged_rubric()] * len(inputs)
        field = self.rubric_field
        return loaded_of_rows(
            [task_data for _, _, task_data in inputs],
            field,
            "rubric_field",
            lambda given, row: self._as_judged(load_rubric_of_row(given, f"the field {field!r} of instance {row}")),
        )

    def _as_judged(self, rubric: Rubric) -> Rubric:
        return rubric_as_judged(
            rubric,
            auto_na_option=self.auto_na_option,
            na_strategy=self.na_strategy,
            na_partial=self.na_partial,
        )

    def mode_of(self, subjects: Sequence[Subject]) -> RubricMode:
        """An option of every criterion for each response."""
        own, together = self.rubric_field is not None, self.calls == "per_item"
        criteria = [each for rubric in distinct(about.judged for about in subjects) for each in rubric.criteria]
        options, pools = self.run_options(), {} if own else self.example_pools(criteria)
        mode = RubricMode(options, pools, together=together, own_rubrics=own)
        mode.check_rules(criteria)
        return mode

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[List[Subject], List[None]]:
        """The response of each instance, as each criterion sees it."""
        rubrics = self.rubrics(inputs)
        penalty = length_penalty_of(self.length_penalty)
        found = []
        for row, (given, rubric) in enumerate(zip(inputs, rubrics, strict=True)):
            parts = {each.name: self.response_subject(row, given, each) for each in rubric.criteria}
            parts = {name: part for name, part in parts.items() if part.responses}
            responses = [part.responses[0] for part in parts.values()]
            facts = {"length_penalty": penalty.of(responses[0])} if penalty is not None and responses else {}
            texts = {"": responses[0] if responses else None}
            found.append(Subject(row, texts, judged=rubric, facts=facts, parts=parts))
        self.warn_of_context([each for rubric in distinct(rubrics) for each in rubric.criteria])
        return found, [None] * len(found)

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance: the rubric's, and those of each criterion."""
        main, result = judged.score_name, judged.result
        score = number_or_nan(result.score)
        scores = instance_scores(
            main,
            judged.about.judged,
            result,
            expected=judged.mode.rules.scoring == "expected",
            with_prompts=self.include_prompts_in_result,
            own_rubric=self.rubric_field is not None,
        )
        return {main: score, f"{main}_using_{judged.evaluator}": score, **scores}

    def global_scores(self, measures: RubricSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The mean rubric score, that of each criterion, and how far they can be trusted."""
        main, shown = judged[0].score_name, self.return_confidence_interval
        criteria = () if self.rubric_field is not None else judged[0].about.judged.criteria
        warn_of_unscored(main, measures.unscored_counts, measures.unscored_bounds)
        return {
            **global_scores(main, criteria, measures, self._panels(judged, criteria), with_intervals=shown),
            **using_scores(judged[0], measures.score, with_intervals=shown),
        }

    def _panels(
        self, assessments: Sequence[JudgedInstance], criteria: Sequence[Criterion]
    ) -> Dict[str, Union[PanelReport, None]]:
        """Criterion name -> what the votes say about the judges."""
        return {
            criterion.name: report_of_run(
                [each.result.verdicts[place] for each in assessments],
                criterion,
                assessments[0].mode.rules,
                samples=self.samples,
                level=self.level_of(assessments),
                seed=self.seed,
            )
            for place, criterion in enumerate(criteria)
        }


COUNTED = ("num_asked_votes", "num_unscored_votes", "num_rows_affected", "num_unscored_verdicts")
"""The scores of :class:`~evenhand.results.measures.UnscoredCounts`."""

OF_RUBRIC = (
    "raw_score",
    "length_penalty",
    "unscored_reason",
    "na",
    "criteria",
    "counted_criteria",
    "na_criteria",
    "unscored_criteria",
    "prompts",
    "run",
    "votes",
    "parse_rate",
    "num_unscored",
    *COUNTED,
    "num_incomplete",
    "num_na",
    "num_clusters",
    "score_if_unscored_0",
    "score_if_unscored_1",
    "reasks",
    "calls",
    "cached_calls",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "requests",
    "wasted_replies",
    "wasted_cost",
    "lost_requests",
    "unreported_replies",
    "calls_left",
    "cost_left",
    "cost_reserved",
)
"""What follows the rubric's name in the name of a score of its own."""

OF_CRITERION = (
    "selected_option",
    "unscored_reason",
    "na",
    "agreement",
    "spread",
    "draw_deviation",
    "covered_mass",
    "positional_bias",
    "assessment",
    "orders",
    "parse_rate",
    "num_unscored",
    *COUNTED,
    "num_na",
    "score_if_unscored_0",
    "score_if_unscored_1",
)
"""What follows a criterion's name."""

_MEASURED = frozenset(
    {field for field in OF_CRITERION if field in ScoreSummary.__dataclass_fields__} | {"score", "unscored_counts"}
)
"""The measures of a criterion that are reported; what calls cost is the rubric's."""

_BOUNDS = ("_ci_low", "_ci_high")


def criterion_score_name(criterion: Criterion) -> str:
    """What a criterion is called in the names of scores.

    >>> from evenhand.criteria import yes_no_criterion
    >>> criterion_score_name(yes_no_criterion("Names a date", "…"))
    'names_a_date'
    """
    return score_name_of([criterion.name], criterion.name)


def check_score_names(rubric: Rubric) -> None:
    """Check that no two scores would have one name.

    Raises:
        InvalidCriterionError: If the names of the criteria make it so.
    """
    taken = {name + bound: "the rubric" for name in OF_RUBRIC for bound in ("", *_BOUNDS)}
    for criterion in rubric.criteria:
        own = criterion_score_name(criterion)
        for name in (own, *(f"{own}_{each}" for each in OF_CRITERION)):
            for scored in (name, *(name + bound for bound in _BOUNDS)):
                if scored in taken:
                    raise InvalidCriterionError(
                        f"the criterion {criterion.name!r} of the rubric {rubric.name!r} would have a score called "
                        f"{scored!r}, as {taken[scored]} has: rename the criterion"
                    )
                taken[scored] = f"the criterion {criterion.name!r}"


def instance_scores(
    main: str,
    rubric: Rubric,
    result: RubricResult,
    *,
    expected: bool,
    with_prompts: bool,
    own_rubric: bool = False,
) -> Dict[str, Any]:
    """The scores of one instance; None for what there is nothing to say about."""
    scored = result.unpenalized
    named: Dict[str, Any] = {
        "raw_score": number_or_nan(result.raw_score),
        "length_penalty": result.length_penalty,
        "unscored_reason": result.unscored_reason,
        "na": result.na or None,
        "counted_criteria": list(scored.counted),
        "na_criteria": list(scored.na),
        "unscored_criteria": list(scored.unscored),
    }
    prompts = {}
    if own_rubric:
        named["criteria"] = []
    for criterion, verdict in zip(rubric.criteria, result.verdicts, strict=True):
        if own_rubric:
            named["criteria"].append(_own_criterion(criterion, verdict))
        else:
            named |= _criterion_scores(criterion, verdict, expected=expected)
        sent = next((dict(vote.prompts) for vote in verdict.votes if vote.prompts), None)
        if sent is not None:
            prompts[criterion.name] = sent
    named["prompts"] = (prompts or None) if with_prompts else None
    return {f"{main}_{name}": value for name, value in named.items()}


def _own_criterion(criterion: Criterion, verdict: Verdict) -> Dict[str, Any]:
    """What a criterion of an instance's own rubric got."""
    return {
        "name": criterion.name,
        "weight": criterion.weight,
        "score": number_or_nan(verdict.aggregated_value),
        "selected_option": verdict.selected_label,
        "unscored_reason": verdict.unscored_reason,
        "assessment": verdict.assessment,
    }


def _criterion_scores(criterion: Criterion, verdict: Verdict, *, expected: bool) -> Dict[str, Any]:
    name, consistent = criterion_score_name(criterion), verdict.position_consistent
    orders = list(dict.fromkeys(vote.order for vote in verdict.votes))
    return {
        name: number_or_nan(verdict.aggregated_value),
        f"{name}_selected_option": verdict.selected_label,
        f"{name}_unscored_reason": verdict.unscored_reason,
        f"{name}_na": verdict.na or None,
        f"{name}_agreement": verdict.agreement,
        f"{name}_spread": verdict.spread,
        f"{name}_covered_mass": mean_covered_mass(verdict.votes, criterion) if expected else None,
        f"{name}_positional_bias": None if consistent is None else not consistent,
        f"{name}_assessment": verdict.assessment,
        f"{name}_orders": [list(order) for order in orders] or None,
    }


def global_scores(
    main: str,
    criteria: Sequence[Criterion],
    summary: RubricSummary,
    panels: Mapping[str, Union[PanelReport, None]],
    *,
    with_intervals: bool,
) -> Dict[str, Any]:
    """The scores of all instances together."""
    scores: Dict[str, Any] = scores_of(summary, main, with_intervals=with_intervals)
    for criterion in criteria:
        named = f"{main}_{criterion_score_name(criterion)}"
        found = summary.criteria[criterion.name]
        scores |= scores_of(found, named, with_intervals=with_intervals, only=_MEASURED)
        scores |= panel_scores(named, panels[criterion.name], with_intervals=with_intervals)
    return scores

"""The metrics: one class per way of judging, with the names of unitxt's scores, and one of recorded votes."""

import logging
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Dict, Final, List, NamedTuple, Union, cast, get_args

from evenhand.aggregation.verdict import aggregate, check_rule, check_weights
from evenhand.criteria import Checklist, Criterion, Rubric, Scale, context_mapping
from evenhand.data.fields import YES_OR_NO, LabelReader, clustered_level, is_text_for_nothing, read_clusters, set_aside
from evenhand.data.responses import common_systems
from evenhand.engines.base import JudgeEngine
from evenhand.errors import InvalidCriterionError, InvalidInputError, UnknownRuleError, did_you_mean
from evenhand.judge_reliability.panel_report import PanelReport, panel_report
from evenhand.judge_reliability.reliability import Comparison, summarize_votes
from evenhand.judging.examples import ExamplePool
from evenhand.judging.grid import parse_design
from evenhand.metrics.metric import (
    NO_INSTANCES,
    EvenhandMetric,
    JudgedInstance,
    JudgeMetric,
    number_or_nan,
    score_name_of,
    warn_of_unscored,
)
from evenhand.modes.any_mode import find_mode
from evenhand.modes.checklist import OF_RESPONSE, RATES, ChecklistMode, ChecklistReport, item_record
from evenhand.modes.choices import (
    UNRELATED,
    BestOfMode,
    GradeMode,
    Grading,
    SelectionSummary,
    grade_instance,
    select,
    unrelated_effect,
    with_unrelated,
)
from evenhand.modes.judgements import (
    DirectMode,
    RubricMode,
    RubricSummary,
    covered_mass,
    length_penalty_of,
    rubric_as_judged,
    subject_of_rubric,
)
from evenhand.modes.mode import NO_CRITERION, Mode, Subject
from evenhand.modes.winrates import (
    Contest,
    ContestSummary,
    SystemSummary,
    WinratesMode,
    check_reduction,
    instance_rankings,
    winrates,
)
from evenhand.numbers import Missing
from evenhand.options import AggregateVotesArguments, AssessmentOptions, ChecklistOptions, PairwiseOptions, RunOptions
from evenhand.read_votes import aggregate_recorded_votes
from evenhand.results.measures import Spending, UnscoredCounts, measure_at, names_of, score_entries, scores_of
from evenhand.results.vote_columns import REASONS
from evenhand.row_runs import example_pools
from evenhand.scoring import GRADED_ON_OTHERS, ScoreSummary, summarize
from evenhand.statistics.consistency import PositionBias
from evenhand.statistics.correction import Correction
from evenhand.unitxt.bases import EvaluationInput, Maybe, fields_class
from evenhand.unitxt.criteria_artifacts import EvenhandCriterion
from evenhand.unitxt.loading import load_checklist, load_comparison, load_criterion, load_rubric
from evenhand.votes import MatchKind, Verdict, Vote, is_missing

logger = logging.getLogger(__name__)

PROMPT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "assessment": "assessment",
        "one_step": "assessment",
        "selection": "option_selection",
        "verdict": "option_selection",
        "reask": "option_selection_reask",
        "summary": "summarization",
    }
)
"""The stage of a conversation -> the name of its prompt in the results of unitxt's judges."""


OrderView = tuple[Union[Verdict, None], Union[Vote, None]]
"""The verdict on the votes in one order, and the vote with its assessment or else the first; None without votes."""


def by_order(votes: Iterable[Vote]) -> List[List[Vote]]:
    """Return the votes of each order, in the order in which they were asked."""
    orders: Dict[tuple[int, ...], List[Vote]] = {}
    for vote in votes:
        orders.setdefault(vote.order, []).append(vote)
    return list(orders.values())


def first_orders(votes: Sequence[Vote], verdict_of: Callable[[Sequence[Vote]], Verdict]) -> List[OrderView]:
    """Return the views of the given order and of the other one."""
    views: List[OrderView] = []
    for own in by_order(votes)[:2]:
        verdict = verdict_of(own)
        views.append((verdict, next((vote for vote in own if vote.assessment == verdict.assessment), own[0])))
    return [*views, (None, None), (None, None)][:2]


def named_prompts(views: Sequence[OrderView], names: Mapping[str, str] = PROMPT_NAMES) -> Dict[str, Any]:
    """Return the prompts of the given order and of the other one under unitxt's names."""
    return {
        prefix + names[stage]: messages
        for prefix, (_, vote) in zip(("", "positional_bias_"), views, strict=True)
        for stage, messages in (vote.prompts.plain() if vote and vote.prompts is not None else {}).items()
    }


BIASED: Final = {True: False, False: True, None: None}
"""Whether the orders select the same -> whether the order changed the outcome; None if there was only one order."""


BOUNDS: Final = ("", "_ci_low", "_ci_high")


def check_score_names(owner: str, names: Iterable[str], ends: Iterable[str], others: Iterable[str]) -> None:
    """Check that no two scores, or limits of their intervals, have the same name.

    Args:
        owner: What the names are of.
        names: Of criteria or systems, with which the names of their scores begin.
        ends: The ends of the names of their scores; empty for the score that has the name alone.
        others: The names of the other scores.

    Raises:
        InvalidCriterionError: If two have the same.
    """
    taken, ends = {f"{name}{bound}" for name in others for bound in BOUNDS}, [*ends]
    for name in names:
        own = {"_".join(filter(None, (name, end))) + bound for end in ends for bound in BOUNDS}
        if twice := taken & own:
            raise InvalidCriterionError(f"two scores would be called {min(twice)!r}: rename the {owner} {name!r}")
        taken |= own


class ModeJudge(JudgeMetric):
    """A judge judges by a mode: any class derived from :class:`evenhand.modes.mode.Mode`.

    An instance's scores are the mode's record, the global ones its measures, under the name of the criterion, or of the
    mode if there is no criterion. :class:`~evenhand.metrics.metric.JudgeMetric` lists the other settings; an option of
    the run that is left at its default has the mode's own default.

    Attributes:
        mode: The ``kind`` of the mode; one of your own is known when the module that defines it has been imported.
        mode_options: The mode's own options.
    """

    mode: str = ""
    mode_options: Maybe[Dict[str, Any]] = None

    @property
    def compares(self) -> bool:  # type: ignore[override] # a property here
        """Whether a prediction holds several responses."""
        return find_mode(self.mode).compares

    def verify(self) -> None:
        """Check every setting that can be checked before there is data; the catalog's entry does not name its mode."""
        if self.mode:
            super().verify()
        else:
            EvenhandMetric.verify(self)

    def mode_of(self, judged: Sequence[Any]) -> Mode[Any]:  # noqa: ARG002 - as declared
        """Return the mode with its options.

        Raises:
            InvalidInputError: If there is no such mode, or it has a metric of its own.
        """
        kind = find_mode(self.mode)
        if kind.function != "run_mode":
            raise InvalidInputError(f"the mode {kind.kind!r} has a metric of its own: see metrics.evenhand")
        changed = self.options.changed_from_default(*RunOptions.model_fields)
        return kind.from_options(self.mode_options or {}, RunOptions(**changed))

    def freeze(self, given: Any) -> Criterion:
        """Return the criterion, of a comparison where the mode compares."""
        return load_comparison(given) if self.compares else load_criterion(given)

    def judged_by(self, rows: Sequence[Mapping[str, Any]]) -> tuple[Sequence[Any], Sequence[Union[str, None]]]:
        """Return the criterion of each instance; a mode may need none."""
        if self.criteria is None and self.criteria_field is None:
            return [NO_CRITERION] * len(rows), [None] * len(rows)
        return super().judged_by(rows)

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:
        """Return the name of the criterion, if all instances share one, or of the mode."""
        return score_name_of((each.about.judged.name for each in judged), self.mode)


class AssessingJudge(JudgeMetric):
    """The base of the metrics in which one response is judged at a time.

    Attributes:
        examples: Labelled rows, from which each question draws cases that are shown first: balanced over the labels,
            seeded by the content of the instance, never the instance itself. A row has the fields of the task data
            that are shown as context, ``response`` (or the criterion's prediction field) and the label.
        num_examples: The number of cases that each question is shown; one of each label in the rows if it is None.
        label_fields: Criterion name -> the field of ``examples`` with the label; a criterion that is not named has its
            labels in the field of its own name.
        as_index: Labels of ``examples`` that are numbers are indices of options, 0 for the first, not values.
    """

    options_model = AssessmentOptions

    examples: Maybe[List[Dict[str, Any]]] = None
    num_examples: Maybe[int] = None
    label_fields: Maybe[Dict[str, str]] = None
    as_index: bool = False

    def example_pools(self, criteria: Sequence[Criterion]) -> Dict[str, ExamplePool]:
        """Return criterion name -> its labelled cases.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        rows: object = self.examples
        if not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise InvalidInputError(f"examples is {rows!r}; give a list of rows, each a dict")
        return example_pools(criteria, self.options, context_fields=context_mapping(self.context_fields) or None)

    def panel_scores(
        self, judged: Sequence[JudgedInstance], name: str, criterion: Criterion, verdicts: Sequence[Verdict]
    ) -> Dict[str, float]:
        """Return what several judges or draws show about the judges; empty if one judge was asked once.

        Args:
            judged: The instances.
            name: The name of the score that the votes made.
            criterion: On which the votes are.
            verdicts: One per instance.
        """
        report = panel_report(
            verdicts,
            criterion,
            judged[0].mode.rules,
            samples=self.samples,
            level=clustered_level(
                self.confidence_level, [each.about.cluster for each in judged], self.interval, seed=self.seed
            ),
        )
        scores = {} if report is None else report.scores(with_intervals=self.return_confidence_interval)
        return {f"{name}_{each}": value for each, value in scores.items()}

    def global_scores(self, measures: Any, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the mean score, how far it can be trusted, and the scores of the criteria and judges."""
        main, shown = judged[0].score_name, self.return_confidence_interval
        warn_of_unscored(main, measures.unscored_counts, measures.unscored_bounds)
        return {
            **scores_of(measures, main, with_intervals=shown),
            **self.part_scores(measures, judged),
            **score_entries(f"{main}_using_{judged[0].evaluator}", measures.score, with_intervals=shown),
        }

    @abstractmethod
    def part_scores(self, measures: Any, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the scores of each criterion and what several judges or draws show."""


def verdict_entries(judged: JudgedInstance, criterion: Criterion, verdict: Verdict) -> Dict[str, Any]:
    """Return the entries of a verdict in direct assessments and rubrics."""
    return {
        "unscored_reason": verdict.unscored_reason,
        "agreement": verdict.agreement,
        "spread": verdict.spread,
        "covered_mass": covered_mass(verdict, criterion, judged.mode.rules),
        "positional_bias": BIASED[verdict.position_consistent],
    }


class DirectJudge(AssessingJudge):
    """A judge assesses each response against a criterion and chooses one of its options.

    The score of an instance is the value of the option chosen, averaged over the orders in which the options were
    shown; an instance whose reply names no option, or whose prediction is None, is unscored (NaN) and counted. The
    scores' names are those of unitxt's ``LLMJudgeDirect``. :class:`~evenhand.metrics.metric.JudgeMetric` lists
    the settings, and :class:`~evenhand.metrics.judge_metrics.AssessingJudge` those for examples. With several judges
    or draws the global scores also say what the votes show about the judges
    (:class:`~evenhand.judge_reliability.panel_report.PanelReport`), if all instances share one criterion. With
    ``scoring="expected"`` ``<main>_covered_mass`` says how much of the probability was on the options.
    """

    def freeze(self, given: Any) -> Criterion:
        """Return the criterion, which has options."""
        if isinstance(given, EvenhandCriterion) and given.value.has_values:
            return given.value
        return load_criterion(given)

    def mode_of(self, judged: Sequence[Criterion]) -> DirectMode:
        """Return one option for each response."""
        pools = self.example_pools(judged) if judged and self.examples is not None else {}
        return DirectMode(self.options, pools=pools).check_rules(judged)

    def entries(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the entries of one instance, under the names that unitxt documents for ``LLMJudgeDirect``."""
        verdict, about = judged.result, judged.about
        views = first_orders(verdict.votes, lambda votes: judged.mode.result(about, [votes]))
        entries = {"score": verdict.aggregated_value, **verdict_entries(judged, about.judged, verdict)}
        for prefix, (own, vote) in zip(("", "positional_bias_"), views, strict=True):
            entries |= {
                f"{prefix}selected_option": own and own.selected_label,
                f"{prefix}value": own and own.aggregated_value,
                f"{prefix}assessment": (own and own.assessment) or (vote and vote.assessment),
                f"{prefix}summary": vote and vote.summary,
                f"{prefix}option_selection_completion": vote and vote.completion and vote.completion.text,
            }
        entries |= {"prompts": named_prompts(views) or None, "criteria": judged.criteria_json}
        return {**entries, "final_option": verdict.selected_label}

    def part_scores(self, measures: ScoreSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:  # noqa: ARG002
        """Return what the votes show about the judges, if all instances share one criterion."""
        criteria, asked_once = {each.about.judged.name for each in judged}, self.samples == 1 == len(judged[0].panel)
        if len(criteria) > 1 or asked_once:
            return {}
        verdicts = [each.result for each in judged]
        return self.panel_scores(judged, judged[0].score_name, judged[0].about.judged, verdicts)


class RubricJudge(AssessingJudge):
    """A judge chooses an option of every criterion of a rubric, and their weighted values make the score.

    The score of an instance is :func:`~evenhand.aggregation.scores.rubric_score` of the options chosen (with
    ``scoring="expected"``, of the expected values), less the length penalty. A criterion whose reply names no option
    is unscored: it is left out of the score, named and counted, and ``score_if_unscored_0`` and ``_1`` say what the
    score would be at its worst and at its best option. The score of a criterion is the number that its votes were
    aggregated to, as in :class:`~evenhand.metrics.judge_metrics.DirectJudge`; with ``scoring="expected"``
    ``<main>_<criterion>_covered_mass`` says how much of the probability was on its options. All criteria of all
    instances are asked in one queue.

    :class:`~evenhand.metrics.metric.JudgeMetric` lists the other settings, and
    :class:`~evenhand.metrics.judge_metrics.AssessingJudge` those for examples; ``criteria`` and ``criteria_field``
    are not for rubrics. Defaults of its own: ``flow="one_step"``, since a rubric asks many questions per response, and
    ``check_positional_bias=False``, since the options are shown in a random order.

    Attributes:
        rubric: What is judged: a catalog id, the path of a YAML or JSON file, a dict, an artifact, or a frozen
            :class:`~evenhand.criteria.Rubric`.
        rubric_field: The task data field that holds each instance's own rubric: a list or mapping of criteria, in the
            form of another tool too (such as the ``rubrics`` of HealthBench), a JSON text of one, or the id of a
            rubric. The scores of its criteria are then those of an instance, in the list ``<main>_criteria``.
        calls: ``per_criterion``: a call for each criterion; ``per_item``: one reply for the whole rubric, in which a
            missing or invalid entry leaves only its own criterion unscored.
        orders: The order of the options: ``shuffled``, a seeded random order of each instance and criterion, which is
            in each vote; ``given`` as written; or another one.
        check_positional_bias: True shows each order's reverse too, and averages.
        auto_na_option: Offer an option that says that it does not apply to each criterion that has none.
        na_strategy: What a criterion that does not apply does, instead of what the rubric says: ``skip``, ``zero``,
            ``partial`` or ``fail``.
        na_partial: What ``partial`` counts, instead of what the rubric says.
        length_penalty: Fields of :class:`~evenhand.aggregation.scores.LengthPenalty`: what a response that is too
            long loses.
    """

    rubric: Any = None
    rubric_field: Maybe[str] = None
    calls: str = "per_criterion"
    auto_na_option: bool = True
    na_strategy: Maybe[str] = None
    na_partial: Maybe[float] = None
    length_penalty: Maybe[Dict[str, Any]] = None
    orders: str = "shuffled"
    check_positional_bias: Union[bool, float] = False
    flow: str = "one_step"
    judges_by = "rubric"

    def changed_options(self) -> Dict[str, Any]:
        """Return the length penalty that its fields describe, too."""
        return {**super().changed_options(), "length_penalty": length_penalty_of(self.length_penalty)}

    def verify(self) -> None:
        """Check every setting that can be checked before there is data, and the names of the scores."""
        if self.rubric_field is not None and self.examples is not None:
            raise InvalidInputError(
                f"rubric_field is {self.rubric_field!r} and examples is given too: where each instance has a rubric of "
                "its own, no criterion is that of all; drop one of the two"
            )
        super().verify()
        if (rubric := self.own_judged()) is not None:
            names = [score_name_of([each.name], each.name) for each in rubric.criteria]
            check_score_names("criterion", names, OF_CRITERION, OF_RUBRIC)

    def freeze(self, given: Any) -> Rubric:
        """Return a rubric as it is judged, with the NA options offered, and the metric's own NA strategy."""
        return rubric_as_judged(load_rubric(given), self.options)

    def mode_of(self, judged: Sequence[Rubric]) -> RubricMode:
        """Return an option of every criterion for each response."""
        criteria = [each for rubric in judged for each in rubric.criteria]
        pools = self.example_pools(criteria) if self.examples is not None else {}
        own = self.rubric_field is not None
        mode = RubricMode(self.options, pools=pools, together=self.calls == "per_item", own_rubrics=own)
        return mode.check_rules(criteria)

    def subject(self, row: int, given: EvaluationInput, judged: Rubric) -> Subject:
        """Return the response of an instance, as each criterion sees it."""
        of_criterion = super().subject
        seen = [of_criterion(row, given, criterion) for criterion in judged.criteria]
        return subject_of_rubric(judged, seen, self.options.length_penalty)

    def entries(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the entries of one instance: the rubric's, and those of each criterion."""
        result, named = judged.result, judged.result.by_criterion.items()
        prompts: Dict[str, Any] = {}
        criteria: List[Dict[str, Any]] = []
        entries: Dict[str, Any] = {
            "score": result.score,
            "raw_score": number_or_nan(result.raw_score),
            "length_penalty": result.length_penalty,
            "unscored_reason": result.unscored_reason,
            "na": result.na or None,
            "counted_criteria": list(result.unpenalized.counted),
            "na_criteria": [name for name, own in named if own.na],
            "unscored_criteria": [name for name, own in named if own.value is None and not own.na],
        }
        for criterion, verdict in zip(judged.about.judged.criteria, result.verdicts, strict=True):
            number = number_or_nan(verdict.aggregated_value)
            own = {"selected_option": verdict.selected_label, "assessment": verdict.assessment}
            sent = next((dict(vote.prompts) for vote in verdict.votes if vote.prompts), None)
            prompts |= {criterion.name: sent} if sent is not None else {}
            if self.rubric_field is not None:
                about = {"name": criterion.name, "weight": criterion.weight, "score": number}
                criteria.append({**about, **own, "unscored_reason": verdict.unscored_reason})
                continue
            orders = [list(votes[0].order) for votes in by_order(verdict.votes)]
            own |= {"na": verdict.na or None, "orders": orders or None, **verdict_entries(judged, criterion, verdict)}
            name = score_name_of([criterion.name], criterion.name)
            entries |= {name: number, **{f"{name}_{each}": value for each, value in own.items()}}
        entries |= {"criteria": criteria} if self.rubric_field is not None else {}
        return {**entries, "prompts": (prompts or None) if self.include_prompts_in_result else None}

    def part_scores(self, measures: RubricSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:  # noqa: ARG002
        """Return the scores of each criterion, and what its votes show about the judges."""
        if self.rubric_field is not None:
            return {}
        main, shown = judged[0].score_name, self.return_confidence_interval
        level = clustered_level(self.confidence_level, [each.about.cluster for each in judged], self.interval)
        scores: Dict[str, Any] = {}
        for place, criterion in enumerate(judged[0].about.judged.criteria):
            name = f"{main}_{score_name_of([criterion.name], criterion.name)}"
            verdicts = [each.result.verdicts[place] for each in judged]
            masses = [covered_mass(verdict, criterion, judged[0].mode.rules) for verdict in verdicts]
            summary = summarize(verdicts, criterion.limits, level=level, covered_masses=masses)
            scores |= scores_of(summary, name, with_intervals=shown, only=MEASURED_OF_CRITERION)
            scores |= self.panel_scores(judged, name, criterion, verdicts)
        return scores


MEASURED_OF_CRITERION: Final = frozenset(
    {"score", "agreement", "spread", "covered_mass", "positional_bias", "parse_rate"}
    | {"num_unscored", "num_na", "unscored_counts", "score_if_unscored_0", "score_if_unscored_1"}
)
"""The measures of a criterion that are reported; the usage of calls is the rubric's."""

OF_VOTES: Final = (
    *("calls", "cached_calls", "prompt_tokens", "completion_tokens", "cost", *names_of(UnscoredCounts, Spending)),
    *(f"unscored_votes_{reason}" for reason in REASONS),
    *(f"match_share_{kind}" for kind in get_args(MatchKind)),
)
"""The names of the scores that say how votes were read and what they cost."""

OF_RUBRIC: Final = (
    *("unscored_reason", "na", "criteria", "counted_criteria", "na_criteria", "unscored_criteria", "prompts"),
    *("run", "votes", "corrected_notes", *names_of(RubricSummary, Correction), *OF_VOTES),
)
"""The names of a rubric's scores, without those of its criteria."""

OF_CRITERION: Final = (
    *("", "selected_option", "unscored_reason", "na", "positional_bias", "assessment", "orders"),
    *names_of(ScoreSummary, PanelReport, Correction),
    *OF_VOTES,
)
"""The ends of the names of a criterion's scores."""

PLAIN: Final = frozenset(
    {f"{name}{bound}" for name in (*RATES, *OF_RESPONSE, "macro_pass_rate", "parse_rate", "spread") for bound in BOUNDS}
    | {"primary_metric", "items", "categories", "score", "score_name"}
)
"""The scores of a checklist that are also reported without its name."""


ChecklistFields: Any = fields_class(
    "ChecklistFields", JudgeMetric, ChecklistOptions, module=__name__, left_out=tuple(RunOptions.model_fields)
)


class ChecklistJudge(ChecklistFields):  # type: ignore[misc] # made of options
    """A judge answers the yes/no questions of a checklist about each response.

    The scores of an instance are over the questions that were answered: one whose answer is missing, doubled or
    unscored is unanswered, with its reason, and never a no. The main score is the primary metric, under the
    checklist's name, with which the names of all other scores begin; the scores that every checklist has, such as
    ``pass_rate``, are also reported under their own names, for recipes with one checklist.

    :class:`~evenhand.metrics.metric.JudgeMetric` lists the settings that all judges share; ``criteria``,
    ``criteria_field``, ``flow``, ``scoring`` and ``generate_summaries`` do not belong to a checklist, and are refused.
    ``check_positional_bias=True`` shows the items (with ``mode="item"``: yes and no) in the reverse order too, and
    measures how often an answer changes with that. With ``stop_early`` draws end when an answer is settled, so that
    the share of yes among them is biased towards that answer.

    Attributes:
        checklist: An artifact, its catalog id, a file, a list of questions, or a frozen
            :class:`~evenhand.criteria.Checklist`.
        checklist_field: The task data field that holds each instance's own checklist: a list of questions or of items,
            a mapping, or the id of a checklist.
    """

    main_score: str = "checklist"
    check_positional_bias: Union[bool, float] = False
    options_model = ChecklistOptions
    judges_by = "checklist"

    checklist: Any = None
    checklist_field: Maybe[str] = None

    def changed_options(self) -> Dict[str, Any]:
        """Return nothing: ``mode`` says how a checklist is asked in batches too."""
        return {}

    def mode_of(self, judged: Sequence[Any] = ()) -> ChecklistMode:  # noqa: ARG002 - as declared
        """Return how checklists are put to the judges."""
        return ChecklistMode(self.options)

    def freeze(self, given: Any) -> Checklist:
        """Return the checklist with the items and answers that are offered."""
        return self.mode_of().offered(load_checklist(given))

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:
        """Return the name of the checklist, if all instances share one that has a name."""
        name: str = super().score_name(judged)
        check_score_names("checklist", [name], ("", *PLAIN), PLAIN)
        return name

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the scores of one instance."""
        result, record = judged.result, judged.result.record()
        sent = {
            item.item.name: dict(vote.prompts)
            for item in result.items
            for vote in item.verdict.votes[::-1]  # of several the first stays
            if vote.prompts
        }
        return _with_plain_names(
            {
                **record,
                **{name: number_or_nan(record[name]) for name in OF_RESPONSE},
                "prompts": (sent or None) if self.include_prompts_in_result else None,
                "num_items": len(result.items),
                **{f"num_{name}": count for name, count in result.counts().items()},
                "categories": {name: number_or_nan(rate) for name, rate in result.category_pass_rates.items()},
                "items": [
                    {
                        "name": item.item.name,
                        **item_record(item),
                        "orders": [list(votes[0].order) for votes in by_order(item.verdict.votes)],
                    }
                    for item in result.items
                ],
            },
            judged,
        )

    def global_scores(self, measures: ChecklistReport, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the scores of the instances with intervals, and those of each question and category."""
        results, shown = [each.result for each in judged], self.return_confidence_interval
        warn_of_unscored("primary_score", measures.unscored_counts, measures.unscored_bounds)
        scores: Dict[str, Any] = scores_of(measures, with_intervals=shown)
        if measures.pass_rate:
            scores |= scores_of(measures, "macro", with_intervals=shown, only={"pass_rate"})
        scores["categories"] = {each.category: scores_of(each, with_intervals=shown) for each in measures.categories}
        scores["items"] = [
            {
                "name": item.label,
                **{name: getattr(item, name) for name in ("question", "category", "weight", "finding")},
                **scores_of(item, with_intervals=shown),
            }
            for item in measures.items
        ]
        return _with_plain_names({**scores, "primary_metric": results[0].asked_metric}, judged[0])


def _with_plain_names(scores: Dict[str, Any], instance: JudgedInstance) -> Dict[str, Any]:
    """Return the scores under the checklist's name, and those of :data:`PLAIN` under their own too."""
    main = instance.score_name
    headline = {
        f"{name}{bound}": scores[f"primary_score{bound}"]
        for name in (f"{main}_using_{instance.evaluator}", main)
        for bound in BOUNDS
        if f"primary_score{bound}" in scores
    }
    plain = {name: value for name, value in scores.items() if name in PLAIN}
    return {**plain, **{f"{main}_{name}": value for name, value in scores.items()}, **headline}


class PairwiseJudge(JudgeMetric):
    """A judge compares the responses of two or more systems, pair by pair, without seeing whose they are.

    An instance's prediction is a list of responses (the systems ``"1"``, ``"2"``, …) or a dict system -> response.
    Every pair is shown in both orders; if they disagree, the contest is a tie unless ``on_position_bias`` says
    otherwise (``first`` gives unitxt's numbers). An empty response is judged like any other; None is an unscored
    contest. The scores' names are those of unitxt's ``LLMJudgePairwise``; the main one is the first system's winrate.
    :class:`~evenhand.metrics.metric.JudgeMetric` lists the other settings.

    Attributes:
        design: Which pairs meet: ``all``, ``baseline:<system>``, ``sample:<pairs per instance>`` or ``swiss:<rounds>``.
        scale: ``choice`` (which one is better) or ``graded`` (five levels, from A much better to B much better).
        allow_ties: Offer the judge a tie; the graded scale always does.
        reduction: ``win_rate``, or, with the graded scale, ``weighted_win_rate``: a grade s in −2 … 2 is s battles won,
            or |s| lost, and 0 is one win in two battles.
    """

    main_score: str = "1_winrate"
    options_model = PairwiseOptions
    compares = True

    design: str = "all"
    scale: str = "choice"
    allow_ties: bool = False
    reduction: str = "win_rate"

    def freeze(self, given: Any) -> Criterion:
        """Return the criterion of a comparison, with the options that the scale offers."""
        return load_comparison(given, allow_ties=self.allow_ties, graded=self.scale == "graded")

    def mode_of(self, judged: Sequence[Any]) -> WinratesMode:  # noqa: ARG002 - as declared
        """Return the pairs of the design."""
        options = self.options
        reduction = check_reduction(options.reduction, graded=options.scale == "graded")
        return WinratesMode(options, parse_design(options.design, seed=options.seed), reduction)

    def subjects(self, inputs: Sequence[EvaluationInput], judged: Sequence[Criterion]) -> List[Subject]:
        """Return the responses of each instance, with the systems in one order."""
        found = super().subjects(inputs, judged)
        systems = common_systems([about.texts for about in found])
        return [replace(about, texts={system: about.texts[system] for system in systems}) for about in found]

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:
        """Return the first system's winrate."""
        systems = tuple(judged[0].about.texts)
        corrected = (f"winrate_{each}" for each in names_of(Correction))
        ends = (*_system_entries("", (), None, None), *names_of(SystemSummary), *corrected, *OF_VOTES)
        others = ("criteria", "score", "score_name", *names_of(ContestSummary, PositionBias), *OF_VOTES)
        check_score_names("system", systems, ends, others)
        return f"{systems[0]}_winrate"

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the scores of one instance, under the names that unitxt documents for ``LLMJudgePairwise``.

        A list has an entry per contest of the system; it is empty if there is nothing. ``selections`` are those of the
        given order and ``positional_bias_selection`` those of the other one; ``contest_results`` and
        ``contest_scores`` are the outcomes of both. A selection is None for a tie and for a reply that names no option,
        since a system may be called "tie". ``contest_results`` is None for an unscored contest; of a tied one neither
        side is the winner (False). ``option_selection_outputs`` are the replies, which call the systems A and B.
        """
        about, mode, systems = judged.about, judged.mode, tuple(judged.about.texts)
        rule = mode.rules.panel_rule("pairwise")
        rates = winrates(judged.result, systems, mode.reduction)
        ranks = instance_rankings(judged.result, systems, mode.reduction)
        held: Dict[str, List[Any]] = {system: [] for system in systems}
        for contest in judged.result:
            view = (contest, first_orders(contest.verdict.votes, lambda votes: aggregate(votes, about.judged, rule)))
            held[contest.first].append(view)
            held[contest.second].append(view)
        scores: Dict[str, Any] = {"criteria": judged.criteria_json}
        for system, own in held.items():
            entries = _system_entries(system, own, rates[system], ranks[system])
            scores |= {f"{system}_{name}": value for name, value in entries.items()}
        return scores

    def global_scores(self, measures: ContestSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return each system's winrate and mean rank, and every measure of how far they can be trusted."""
        del judged
        shown = self.return_confidence_interval
        only = set(SystemSummary.__dataclass_fields__) - (set() if shown else {"rank_low", "rank_high"})
        scores: Dict[str, Any] = scores_of(measures, with_intervals=shown)
        for one in measures.systems:
            name = f"{one.system}_winrate"
            warn_of_unscored(name, one.unscored_counts, one.unscored_bounds, f"{name}_if_unscored")
            scores |= scores_of(one, one.system, with_intervals=shown, only=only)
        return scores


PAIRWISE_PROMPTS: Final[Mapping[str, str]] = MappingProxyType({**PROMPT_NAMES, "summary": "summary"})


def _system_entries(
    system: str, held: Sequence[tuple[Contest, Sequence[OrderView]]], rate: Union[float, None], rank: Union[int, None]
) -> Dict[str, Any]:
    """Return an instance's entries for a system, with one entry per contest."""
    contests = [contest for contest, _ in held]
    given, other = [[(contest, *views[place]) for contest, views in held] for place in (0, 1)]
    other = other if any(vote for *_, vote in other) else []

    def unless_none(values: Iterable[Any]) -> List[Any]:
        found = list(values)
        return found if any(value is not None for value in found) else []

    prompts = [named_prompts(views, PAIRWISE_PROMPTS) for _, views in held]
    sent = {
        name: [each.get(name) for each in prompts] for name in dict.fromkeys(name for own in prompts for name in own)
    }
    opponents = [contest.opponent(system) for contest in contests]
    return {
        "contest_results": [None if contest.score is None else contest.winner == system for contest in contests],
        "contest_scores": [contest.score_of(system) for contest in contests],
        "selections": [own and contest.winner_in(own) for contest, own, _ in given],
        "compared_to": opponents,
        "assessments": [vote and vote.assessment for *_, vote in given],
        "option_selection_outputs": [vote and vote.completion and vote.completion.text for *_, vote in given],
        "summaries": unless_none(vote and vote.summary for *_, vote in given),
        "contest_grades": unless_none(contest.grade_of(system) for contest in contests),
        "unscored_reasons": unless_none(contest.unscored_reason for contest in contests),
        "positional_bias": unless_none(BIASED[contest.verdict.position_consistent] for contest in contests),
        "prompts": {"compared_to": opponents, **sent} if sent else {},
        "positional_bias_assessments": [vote and vote.assessment for *_, vote in other],
        "positional_bias_summaries": unless_none(vote and vote.summary for *_, vote in other),
        "positional_bias_selection": [own and contest.winner_in(own) for contest, own, _ in other],
        "winrate": number_or_nan(rate),
        "llm_as_judge": number_or_nan(rate),
        "ranking": rank,
        "response_name": system,
    }


class ChoiceMetric(JudgeMetric):
    """The base of the metrics in which a judge chooses the best of several candidates.

    An instance's prediction is a list of candidates (called ``"1"``, ``"2"``, …) or a dict name -> candidate, two or
    more, not necessarily the same number on every instance. One that is None is left out and counted. Any criterion
    will do; its options, if it has some, play no part. The judge sees Option 1, Option 2, …, never a name.

    Attributes:
        prompt: ``select`` (choose, then explain), ``evaluate_first`` (weigh every candidate, then choose; the default),
            ``avoid_order_bias`` (warned of it) or ``grade`` (grade every candidate from 0 to 5, then choose). They
            belong to ``flow="one_step"``, the default.
    """

    flow: str = "one_step"
    compares = True


def choices(votes: Sequence[Vote], names: Sequence[str]) -> Dict[str, Any]:
    """Return the selections, orders, assessments and prompts of votes that choose among candidates."""
    prompts = [vote.prompts and dict(vote.prompts) for vote in votes]
    return {
        "selections": [None if vote.selected_index is None else names[vote.selected_index] for vote in votes],
        "orders": [[names[index] for index in vote.order] for vote in votes],
        "assessments": [vote.assessment for vote in votes],
        "prompts": prompts if any(prompts) else None,
    }


class BestOfJudge(ChoiceMetric):
    """A judge chooses the best of each instance's candidates.

    An instance gives each candidate its share: with one order and one draw 1 to the candidate chosen; otherwise draws,
    orders and judges are averaged, so that a judge that changes its mind with the order gives half to each. A candidate
    is *selected* if its share is the largest; a tie selects none, with the reason ``inconsistent``, and is not decided
    by the numbering. An instance without a readable choice, or with fewer than two candidates that have a text, is
    unscored and in no rate. The main score is the selection rate of the first candidate, as in pairwise judging.

    The default orders are the given one and its reverse, which show a middle candidate at middle places only;
    ``orders="cyclic"`` shows every candidate at every place.

    Attributes:
        on_position_bias: ``average`` (default): orders that disagree share the instance. ``abstain``: they are no
            choice, and the instance is unscored. ``first``: the given order counts alone.
        aggregation: A panel's ``mode`` (default), ``weighted_mode`` or ``unanimous``.
    """

    main_score: str = "1_selection_rate"

    def mode_of(self, judged: Sequence[Any]) -> BestOfMode:  # noqa: ARG002 - as declared
        """Return the best of several candidates."""
        return BestOfMode(self.options)

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:
        """Return the selection rate of the first candidate of the first instance."""
        return f"{next(iter(judged[0].about.texts))}_selection_rate"

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the scores of one instance: the selection, those of each order, and each candidate's share."""
        selection, given = judged.result, by_order(judged.result.votes)
        shares = dict(zip(selection.names, selection.shares or (), strict=False))
        return {
            "selected_candidate": selection.selected,
            "unscored_reason": selection.unscored_reason,
            "positional_bias": BIASED[selection.position_consistent],
            "agreement": selection.agreement,
            **choices([votes[0] for votes in given], selection.names),
            "selections": [select(votes, selection.names).selected for votes in given],
            "assessments": [[vote.assessment for vote in votes] for votes in given],
            "missing_candidates": list(selection.missing) or None,
            "criteria": judged.criteria_json,
            judged.score_name: math.nan,
            **{f"{name}_selection_rate": share for name, share in shares.items()},
        }

    def global_scores(self, measures: SelectionSummary, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return how often each candidate is selected, and how far that can be trusted."""
        del judged
        for candidate, found in measures.candidates.items():
            name = f"{candidate}_selection_rate"
            warn_of_unscored(name, measures.votes.unscored_counts, found.unscored_bounds, f"{name}_if_unscored")
        return scores_of(measures, with_intervals=self.return_confidence_interval)


WITH_UNRELATED: Final = "with_unrelated_"
UNRELATED_OPTION: Final = "unrelated_option"
"""The name of the unrelated option in the selections of an instance."""


class GradeScore(ChoiceMetric):
    """How good a judge is at choosing: even over places, and of one mind about candidates.

    Each instance is asked once in each of the N rotations of its candidates, so that every candidate stands at every
    place once. Per instance: the *LLM score* is the entropy of the places chosen over its greatest value, the *choice
    score* the share of the candidate chosen most, the *Grade Score* their harmonic mean: 1 for a judge that always
    chooses the same candidate, 0 for one that always chooses the same place. A random judge scores about 0.5, so the
    chance-corrected score, 0 for such a judge on average, is reported with every Grade Score. Rotations whose reply
    names no option are counted by reason in ``unscored_votes_…``; the score is over those answered, two at least.

    A Grade Score belongs to one judge; :func:`evenhand.grade_scores` takes several. With ``samples`` each draw is a set
    of rotations of its own, and an instance counts the mean of its draws. Source: Iourovitski (2024), arXiv:2406.12043.

    Attributes:
        unrelated_option: Ask every instance a second time with a further candidate, drawn with the seed from another
            instance, and report both, the difference, and how often it was chosen.
    """

    main_score: str = "grade_score"
    orders: str = "cyclic"
    check_positional_bias: Union[bool, float] = False
    unrelated_option: bool = False

    def subjects(self, inputs: Sequence[EvaluationInput], judged: Sequence[Criterion]) -> Sequence[Subject]:
        """Return the candidates of each instance, with an unrelated one if it is asked for."""
        found = super().subjects(inputs, judged)
        return with_unrelated(found, seed=self.seed) if self.unrelated_option else found

    def panel(self) -> tuple[list[JudgeEngine], str]:
        """Return the judge.

        Raises:
            InvalidInputError: If there are several.
        """
        panel, name = super().panel()
        if len(panel) > 1:
            raise InvalidInputError(
                f"inference_engine has {len(panel)} judges, and a Grade Score belongs to one: give a metric for each"
            )
        return panel, name

    def mode_of(self, judged: Sequence[Any]) -> GradeMode:  # noqa: ARG002 - as declared
        """Return all rotations."""
        return GradeMode(self.options)

    def score_name(self, judged: Sequence[JudgedInstance]) -> str:  # noqa: ARG002 - as declared
        """Return the name of the Grade Score, which no criterion changes."""
        return self.main_score

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """Return the scores of one instance; a list has one entry per vote."""
        names = (*judged.about.names, UNRELATED_OPTION)
        scores: Dict[str, Any] = {}
        for prefix, votes in zip(("", WITH_UNRELATED), judged.result, strict=False):
            grade = grade_instance(votes, seed=self.seed)
            found = {
                **{name: number_or_nan(getattr(grade, name)) for name in ("grade_score", "llm_score", "choice_score")},
                "chance_corrected_grade_score": number_or_nan(grade.chance_corrected),
                "answered": grade.answered / grade.asked if grade.asked else math.nan,
                "num_asked": grade.asked,
                "num_answered": grade.answered,
                "places": list(grade.places),
                "candidates": list(grade.chosen),
                **choices(votes, names),
                "unscored_reason": grade.unscored_reason,
            }
            scores |= {prefix + name: value for name, value in found.items()}
        return {
            **scores,
            "unrelated_option": judged.about.facts.get(UNRELATED),
            "missing_candidates": list(judged.about.missing) or None,
            "criteria": judged.criteria_json,
        }

    def global_scores(self, measures: Sequence[Grading], judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """Return the Grade Score, its parts, and what they rest on."""
        del judged
        shown = self.return_confidence_interval
        scores: Dict[str, Any] = {}
        for prefix, grading in zip(("", WITH_UNRELATED), measures, strict=False):
            if grading.unscored_counts.unscored_votes:
                logger.warning(
                    "The score %r: %s. %s", f"{prefix}grade_score", grading.unscored_counts, GRADED_ON_OTHERS
                )
            own = scores_of(grading, with_intervals=shown)
            scores |= {name: own.pop(name) for name in ("num_clusters",) if name in own}
            for histograms in grading.histograms:
                own |= histograms.scores()
            scores |= {prefix + name: value for name, value in own.items()}
        if len(measures) > 1:
            scores |= scores_of(unrelated_effect(measures[1], measures[0]), "unrelated", with_intervals=shown)
        return scores


SCALES = ("binary", "ordinal", "nominal")
_OF_SCORES = frozenset(
    {"score", "num_unscored", "num_na", "num_clusters", "unscored_counts"}
    | {"score_if_unscored_0", "score_if_unscored_1"}
)
"""The measures of the aggregated score that are reported; recorded votes were neither read nor paid for."""


_OF_VERDICT = ("value", "aggregated_value", "agreement", "na", "unscored_reason")


class AggregatedInstance(NamedTuple):
    """The intermediate value of one instance.

    Attributes:
        score_name: The name of the main score.
        verdict: The verdict with all votes.
        right: The label that is right; None if it is not known.
        cluster: The cluster of the instance; None if instances do not depend on each other.
    """

    score_name: str
    verdict: Verdict
    right: Union[str, None]
    cluster: Union[str, None]


class VoteAggregation(EvenhandMetric):
    """A metric that reduces recorded votes to one verdict per instance, and verdicts to scores, without calls.

    A prediction is the votes on one instance: a list with one per judge, or a dict judge -> vote; each vote is a label,
    the value of an option, True or False, or None for an abstention, which is missing and no level. References are
    ground-truth labels or values, where there are any (:mod:`evenhand.data.fields` says how both are read).
    ``prediction_field`` and ``reference_field`` read them from the task data instead.

    Attributes:
        scale: ``binary``, ``ordinal`` or ``nominal``; the criterion's must be the same.
        rule: The panel rule; the scale's default when None.
        criteria: What was voted on: an artifact, its catalog id, or a frozen criterion. Binary votes are yes (or True,
            or 1) and no (False, 0) without it.
        as_index: Votes and references that are numbers are places of options, 0 for the first.
        judge_weights: For the weighted rules: a list with one weight per judge, or a dict judge -> weight.
        resamples: Draws for the intervals of alpha and kappa.
        seed: The seed of the draws.
    """

    main_score: str = "votes"

    scale: str = "binary"
    rule: Maybe[str] = None
    as_index: bool = False
    judge_weights: Maybe[Union[List[float], Dict[str, float]]] = None
    resamples: int = 1000
    seed: int = 0

    def verify(self) -> None:
        """Check every setting that can be checked before there are votes."""
        super().verify()
        if self.scale not in SCALES:
            raise UnknownRuleError(f"scale is {self.scale!r}. {did_you_mean(self.scale, SCALES)}")
        check_rule(self.rule, cast(Scale, self.scale))
        weights = self.judge_weights
        if isinstance(weights, list):
            weights = {f"judge_{place}": weight for place, weight in enumerate(weights)}
        check_weights(weights)
        if self.criteria is not None:
            self.criterion()

    def criterion(self) -> Criterion:
        """Return the criterion of the votes.

        Raises:
            InvalidCriterionError: If there is none, or its scale is another one.
        """
        if self.criteria is None and self.scale == "binary":
            return YES_OR_NO
        criterion = None if self.criteria is None else load_criterion(self.criteria)
        if criterion is None or criterion.scale != self.scale:
            found = "is not given" if criterion is None else f"{criterion.name!r} is {criterion.scale}"
            raise InvalidCriterionError(
                f"the criterion {found}, and the metric aggregates {self.scale} votes: give criteria of this scale, "
                "which say what the options are, or take metrics.evenhand.votes of another scale"
            )
        return criterion

    def judged_name(self) -> str:
        """Return the name of what was voted on; empty without criteria."""
        return "" if self.criteria is None else self.criterion().name

    def map_stream(self, evaluation_inputs_stream: Iterable[EvaluationInput]) -> List[AggregatedInstance]:
        """Aggregate the votes on all instances."""
        inputs, criterion = list(evaluation_inputs_stream), self.criterion()
        if not inputs:
            raise InvalidInputError(NO_INSTANCES)
        right = self.reference_labels([references or () for _, references, _ in inputs])
        clusters = read_clusters([task_data for _, _, task_data in inputs], self.cluster_field, what="instance")
        responses = [self.response_of(each, None, row) for row, each in enumerate(inputs)]
        rows = [{"judge": {} if is_missing(each) or is_text_for_nothing(each) else each} for each in responses]
        how: Dict[str, Any] = {"rule": self.rule, "weights": self.judge_weights, "as_index": self.as_index}
        how |= {"criteria": criterion, "cluster_field": False}
        aggregated = aggregate_recorded_votes(rows, AggregateVotesArguments(votes="judge", **how))
        name = self.main_score if self.criteria is None else score_name_of([criterion.name], self.main_score)
        return [
            AggregatedInstance(name, each.verdict, *of) for each, *of in zip(aggregated, right, clusters, strict=True)
        ]

    def reference_labels(self, references: Sequence[Sequence[Any]]) -> List[Union[str, None]]:
        """Return the label that is right, where one is given.

        Raises:
            InvalidInputError: If references contradict each other, or one is not an option.
        """
        held = [(row, reference) for row, given in enumerate(references) for reference in given]
        reader = LabelReader(self.criterion(), as_index=self.as_index)
        read = reader.read_most(
            [each for _, each in held], lambda place: f"instance {held[place][0]}: the reference is"
        )
        set_aside(read)
        found: List[Union[str, None]] = [None] * len(references)
        for (row, _), index in zip(held, read, strict=True):
            label = reader.criterion.labels[index] if isinstance(index, int) else found[row]
            if found[row] not in (None, label):
                raise InvalidInputError(
                    f"instance {row} has the references {list(references[row])!r}, which name different options; give "
                    "the one that is right (evenhand.agreement compares judges with several people)"
                )
            found[row] = label
        return found

    def instance_scores(self, judged: AggregatedInstance) -> Dict[str, Any]:
        """Return the scores of one instance."""
        main, verdict, right, _ = judged
        selected = verdict.selected_label
        results = {
            "selected_option": selected,
            **{name: getattr(verdict, name) for name in _OF_VERDICT},
            "num_votes": len(verdict.votes),
            "num_abstentions": sum(vote.unscored_reason == "abstained" for vote in verdict.votes),
            "reference": right,
            "match": None if right is None or selected is None else selected == right,
        }
        named = {f"{main}_{name}": value for name, value in results.items()}
        return {main: number_or_nan(verdict.aggregated_value), **named}

    def reduce(self, intermediates: List[AggregatedInstance]) -> Dict[str, Any]:
        """Return the global scores: the aggregated score, how far the judges agree, and how often they are right."""
        (main, *_), criterion = intermediates[0], self.criterion()
        clusters = [each.cluster for each in intermediates]
        summary = summarize_votes(
            [each.verdict for each in intermediates],
            criterion,
            [None if each.right is None else criterion.labels.index(each.right) for each in intermediates],
            level=clustered_level(self.confidence_level, clusters, self.interval, self.resamples, self.seed),
        )
        warn_of_unscored(main, summary.scores.unscored_counts, summary.scores.unscored_bounds)
        shown = self.return_confidence_interval
        return {
            **scores_of(summary.scores, main, with_intervals=shown, only=_OF_SCORES),
            **score_entries(f"{main}_agreement", summary.scores.agreement, with_intervals=shown),
            **scores_of(summary, main, with_intervals=shown),
            **self._comparison_scores(main, summary.comparison),
            "score_name": main,
        }

    def _comparison_scores(self, main: str, compared: Union[Comparison, Missing]) -> Dict[str, Any]:
        """Return the scores from references, in addition to the measures of agreement."""
        if isinstance(compared, Missing):
            return {}
        scores: Dict[str, Any] = {}
        for short, name in (("rmse", "root_mean_square"), ("mae", "mean_absolute"), ("bias", "bias")):
            error = measure_at(compared, f"errors.{name}")
            scores |= score_entries(f"{main}_{short}", error, with_intervals=self.return_confidence_interval)
        rows = zip(compared.labels, compared.confusion_matrix, strict=True)
        matrix = {label: dict(zip(compared.labels, counts, strict=True)) for label, counts in rows}
        return {**scores, f"{main}_confusion_matrix": matrix}

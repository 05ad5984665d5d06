"""Checklists: a judge answers yes/no questions about each response."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Dict, List, Union

from evenhand.criteria import Checklist
from evenhand.data.fields import loaded_of_rows
from evenhand.errors import InvalidInputError
from evenhand.metrics.base_metric import number_or_nan, warn_of_unscored
from evenhand.metrics.judge_metric import JudgedInstance, JudgeMetric
from evenhand.modes.checked import item_panels
from evenhand.modes.checklist import (
    OF_RESPONSE,
    RATES,
    ChecklistMode,
    ChecklistReport,
    ChecklistResult,
    item_record,
)
from evenhand.modes.mode import Subject
from evenhand.options import ChecklistOptions, RunOptions
from evenhand.results.measures import scores_of
from evenhand.unitxt.bases import EvaluationInput, Maybe, fields_class
from evenhand.unitxt.criteria_artifacts import EvenhandChecklist, to_artifact
from evenhand.unitxt.loading import load_checklist, load_checklist_of_row

PLAIN = frozenset(
    {
        f"{name}{bound}"
        for name in (*RATES, *OF_RESPONSE, "macro_pass_rate", "parse_rate", "spread")
        for bound in ("", "_ci_low", "_ci_high")
    }
    | {"primary_metric", "items", "categories"}
)
"""The scores that stand under their own names, beside those that begin with the checklist's."""


if TYPE_CHECKING:

    class ChecklistFields(JudgeMetric):
        """The options of a checklist as fields: see :class:`~evenhand.options.ChecklistOptions`."""
else:
    ChecklistFields = fields_class(
        "ChecklistFields", JudgeMetric, ChecklistOptions, module=__name__, left_out=tuple(RunOptions.model_fields)
    )


class ChecklistJudge(ChecklistFields):
    """A judge answers the yes/no questions of a checklist about each response.

    The scores of an instance are over the questions that were answered: one whose answer is missing, doubled or
    unscored is unanswered, with its reason, and never a no. The main score is the primary metric, under the
    checklist's name, with which the names of all other scores begin; the scores that every checklist has, such as
    ``pass_rate``, stand under their own names too, for recipes with one checklist.

    :class:`~evenhand.metrics.judge_metric.JudgeMetric` lists the settings that all judges share; of these ``criteria``,
    ``criteria_field``, ``flow``, ``scoring`` and ``generate_summaries`` do not belong here, and are refused.
    ``check_positional_bias=True`` shows the items (with ``mode="item"``: yes and no) in the reverse order too, and
    measures how often an answer changes with that. With ``stop_early`` draws end when an answer is settled, so that
    the share of yes among them leans to that answer.

    Attributes:
        checklist: An artifact, its catalog id, a file, a list of questions, or a frozen
            :class:`~evenhand.criteria.Checklist`.
        checklist_field: The task data field that holds each instance's own checklist: a list of questions or of items,
            a mapping, or the id of a checklist.
    """

    main_score: str = "checklist"
    check_positional_bias: Union[bool, float] = False

    checklist: Any = None
    checklist_field: Maybe[str] = None

    def prepare(self) -> None:
        """Check what the checklist is, and make it an artifact, which unitxt can copy and write."""
        super().prepare()
        if self.checklist is not None and not isinstance(self.checklist, EvenhandChecklist):
            self.checklist = to_artifact(load_checklist(self.checklist))

    def process_data_before_dump(self, data: Dict[str, Any]) -> Dict[str, Any]:
        """What the metric was made from, as unitxt writes it."""
        data = super().process_data_before_dump(data)
        if isinstance(data.get("checklist"), Checklist):
            return {**data, "checklist": self.checklist.to_dict()}
        return data

    def verify(self) -> None:
        """Check every setting that can be checked before there is data."""
        for name in ("criteria", "criteria_field"):
            if getattr(self, name) is not None:
                raise InvalidInputError(
                    f"a checklist judge has no {name}, and it is {getattr(self, name)!r}: give checklist, or "
                    "checklist_field for a checklist in each row"
                )
        if self.checklist is not None and self.checklist_field is not None:
            raise InvalidInputError(
                f"both checklist and checklist_field={self.checklist_field!r} are given: give one of them"
            )
        super().verify()

    def check_prompt(self, mode: ChecklistMode) -> None:
        """Nothing: the mode checks that the prompt is for one item, or for all of them at once."""

    def judged_name(self) -> str:
        """The name of the checklist; empty where instances have their own."""
        return "" if self.checklist is None else load_checklist(self.checklist).name

    def shown_fields(self) -> list[str]:
        """The task data fields that are shown, and the one that holds each instance's checklist."""
        fields = self.given_context_fields()
        if fields is None and self.checklist is not None:
            fields = load_checklist(self.checklist).context_fields
        return [*(fields or {}).values(), *([self.checklist_field] if self.checklist_field else [])]

    def run_options(self) -> ChecklistOptions:
        """The options of the run; in batches too, its mode says how a checklist is asked, and no flow."""
        return ChecklistOptions(**{**self.option_values(ChecklistOptions), "flow": self.flow})

    def mode_of(self, subjects: Sequence[Subject] = ()) -> ChecklistMode:  # noqa: ARG002 - other modes need to know
        """How checklists are put to the judges."""
        return ChecklistMode(self.run_options())

    def subjects(self, inputs: Sequence[EvaluationInput]) -> tuple[List[Subject], List[None]]:
        """The response of each instance, and its checklist."""
        mode = self.mode_of()
        checklists = [mode.offered(checklist) for checklist in self.checklists(inputs)]
        rows = enumerate(zip(inputs, checklists, strict=True))
        found = [self.response_subject(row, *about) for row, about in rows]
        self.warn_of_context({checklist.name: checklist for checklist in checklists}.values())
        return found, [None] * len(found)

    def score_name(self, subjects: Sequence[Subject]) -> str:
        """The name of the checklist, where all instances share one that has a name."""
        name = super().score_name(subjects)
        if name in PLAIN or name in {"score", "score_name"}:
            raise InvalidInputError(
                f"the checklist is called {name!r}, and so is one of the scores of every checklist, whose place it "
                "would take: give it another name"
            )
        return name

    def checklists(self, inputs: Sequence[EvaluationInput]) -> list[Checklist]:
        """One checklist an instance: the metric's own, or the one that the instance holds or names.

        Raises:
            InvalidInputError: If neither is given, or a row has none.
            ArtifactError: If an instance names something that is not a checklist.
        """
        if self.checklist is not None:
            return [load_checklist(self.checklist)] * len(inputs)
        if self.checklist_field is None:
            raise InvalidInputError(
                "the metric has neither checklist nor checklist_field: give checklist (a catalog id such as "
                "checklists.evenhand.summary, a file, or a list of questions), or the task data field that holds each "
                "instance's own"
            )
        field, rows = self.checklist_field, [task_data for _, _, task_data in inputs]
        return loaded_of_rows(
            rows,
            field,
            "checklist_field",
            lambda given, row: load_checklist_of_row(given, f"the field {field!r} of instance {row}"),
        )

    def instance_scores(self, judged: JudgedInstance) -> Dict[str, Any]:
        """The scores of one instance."""
        return _named(_instance_scores(judged.result, with_prompts=self.include_prompts_in_result), judged)

    def global_scores(self, measures: ChecklistReport, judged: Sequence[JudgedInstance]) -> Dict[str, Any]:
        """The scores of the instances with intervals, and what each question tells."""
        results = [each.result for each in judged]
        warn_of_unscored("primary_score", measures.unscored_counts, measures.unscored_bounds)
        panels = item_panels(
            results, judged[0].mode.rules, samples=self.samples, level=self.level_of(judged), seed=self.seed
        )
        shown = self.return_confidence_interval
        scores = {**_global_scores(measures, with_intervals=shown), "primary_metric": results[0].asked_metric}
        named = zip(scores["items"], results[0].checklist.items, strict=False) if panels else ()
        for record, item in named:
            record["panel"] = panels[item.name].scores(with_intervals=shown)
        return _named(scores, judged[0])


def _instance_scores(result: ChecklistResult, *, with_prompts: bool) -> Dict[str, Any]:
    record = result.record()
    reasons = {
        "primary_metric": record["primary_metric"],
        "unscored_reason": record["unscored_reason"],
        "weighted_score_reason": result.weighted_score_reason,
        "prompts": _prompts(result) if with_prompts else None,
    }
    return {
        **{name: number_or_nan(record[name]) for name in OF_RESPONSE},
        **reasons,
        "num_items": len(result.items),
        **{f"num_{name}": count for name, count in result.counts().items()},
        "categories": {category: number_or_nan(rate) for category, rate in result.category_pass_rates.items()},
        "items": [
            {
                "name": item.item.name,
                **item_record(item),
                "orders": [list(order) for order in dict.fromkeys(vote.order for vote in item.verdict.votes)],
            }
            for item in result.items
        ],
    }


def _prompts(result: ChecklistResult) -> Union[dict[str, Any], None]:
    """The messages sent in the first call about each item: by item, or once for all where they were asked together."""
    sent = {
        item.item.name: next((dict(vote.prompts) for vote in item.verdict.votes if vote.prompts), None)
        for item in result.items
    }
    return {name: prompts for name, prompts in sent.items() if prompts is not None} or None


def _global_scores(report: ChecklistReport, *, with_intervals: bool) -> Dict[str, Any]:
    """The measures of a report, with those of its categories and its questions."""
    scores: Dict[str, Any] = scores_of(report, with_intervals=with_intervals)
    if report.pass_rate:
        scores |= scores_of(report, "macro", with_intervals=with_intervals, only={"pass_rate"})
    scores["categories"] = {each.category: scores_of(each, with_intervals=with_intervals) for each in report.categories}
    scores["items"] = [
        {
            "name": item.label,
            **{name: getattr(item, name) for name in ("question", "category", "weight", "finding")},
            **scores_of(item, with_intervals=with_intervals),
        }
        for item in report.items
    ]
    return scores


def _named(scores: Dict[str, Any], instance: JudgedInstance) -> Dict[str, Any]:
    """The scores under the checklist's name, and those of :data:`PLAIN` under their own too."""
    main = instance.score_name
    plain = {name: value for name, value in scores.items() if name in PLAIN}
    headline = {
        f"{name}{bound}": scores[f"primary_score{bound}"]
        for name in (f"{main}_using_{instance.evaluator}", main)
        for bound in ("", "_ci_low", "_ci_high")
        if f"primary_score{bound}" in scores
    }
    return {**plain, **{f"{main}_{name}": value for name, value in scores.items()}, **headline, "score_name": main}

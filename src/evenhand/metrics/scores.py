"""Names and numbers of scores as unitxt shows them."""

import logging
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Dict, List, Union

from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.judging.examples import (
    ExampleFields,
    ExamplePool,
    check_label_fields,
    check_number_of_examples,
    example_pool,
)
from evenhand.judging.instances import text_of, texts_of
from evenhand.metrics.judge_metric import JudgeMetric, draw_key_of
from evenhand.numbers import format_number, format_percent
from evenhand.panel import PanelReport
from evenhand.question import Question
from evenhand.scoring import mention_caution
from evenhand.statistics import Interval
from evenhand.statistics.unread import UnreadBounds
from evenhand.unitxt_bases import EvaluationInput, Maybe
from evenhand.votes import MatchKind, Usage

logger = logging.getLogger(__name__)


def number_or_nan(value: Union[float, None]) -> float:
    """A score as unitxt takes it: NaN where it is undefined."""
    return math.nan if value is None else value


def interval_scores(name: str, interval: Union[Interval, None], *, with_intervals: bool) -> dict[str, float]:
    """A score and its interval under unitxt's names; NaN where it is undefined."""
    if interval is None:
        return {name: math.nan}
    scores = {name: interval.estimate}
    if with_intervals:
        scores |= {f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}
    return scores


def warn_of_unread(
    name: str, unread: Union[UnreadBounds, None], *, bounds: str = "score_if_unscored", of: str = "instances"
) -> None:
    """Warn that the bounds of a score, and not its mean, are what is known; nothing where the mean leads.

    Args:
        name: The score.
        unread: Its bounds, where these lead.
        bounds: How the scores are called that hold them, without ``_0`` and ``_1``.
        of: What is not read in full.
    """
    if unread is not None:
        logger.warning(
            "The score %r is that of what was read, and %s of the %s are not read in full: the score of all lies "
            "between %s and %s (%s_0 and %s_1), and need not be this one, since what judges do not answer is no random "
            "part.",
            name,
            format_percent(unread.share),
            of,
            format_number(unread.low),
            format_number(unread.high),
            bounds,
            bounds,
        )


def cluster_scores(name: str, clusters: Union[int, None]) -> dict[str, float]:
    """How many clusters the instances are of; nothing where they do not depend on each other."""
    return {} if clusters is None else {name: clusters}


def panel_scores(name: str, report: Union[PanelReport, None], *, with_intervals: bool) -> dict[str, float]:
    """What the votes say about the judges, under the name of the score that they made; nothing without a report."""
    if report is None:
        return {}
    return {f"{name}_{each}": value for each, value in report.scores(with_intervals=with_intervals).items()}


def usage_scores(usage: Usage) -> dict[str, float]:
    """What the calls consumed, by score name; the cost only where a price is known."""
    scores: dict[str, float] = {
        "calls": usage.calls,
        "cached_calls": usage.cached,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
    return scores if usage.cost is None else {**scores, "cost": usage.cost}


class MentionedVerdictsWarning(UserWarning):
    """Many selections rest on replies that merely mention an option."""


def reading_scores(readings: Mapping[MatchKind, int]) -> dict[str, float]:
    """How the selections were read: ``match_share_<kind>``, a share of them; nothing where nothing was read.

    Warns (:class:`MentionedVerdictsWarning`) where too many rest on mentions.
    """
    if (caution := mention_caution(readings)) is not None:
        warnings.warn(caution, MentionedVerdictsWarning, stacklevel=2)
    total = sum(readings.values())
    return {f"match_share_{kind}": count / total for kind, count in readings.items()}


def score_name_of(names: Iterable[str], default: str) -> str:
    """The score's name, as unitxt makes it: the criterion's, when all instances share one that has a name.

    >>> score_name_of(["Answer relevance", "Answer relevance"], "llm_as_judge")
    'answer_relevance'
    >>> score_name_of(["relevance", "fluency"], "llm_as_judge")
    'llm_as_judge'
    """
    unique = set(names)
    only = unique.pop() if len(unique) == 1 else ""
    return "_".join(only.lower().split(" ")) if only else default


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
        super().verify()
        check_number_of_examples(self.num_examples, examples=self.examples)
        rows: object = self.examples
        if rows is not None and not (isinstance(rows, list) and all(isinstance(row, dict) for row in rows)):
            raise InvalidInputError(f"examples is {rows!r}; give a list of rows, each a dict")

    def example_pools(self, criteria: Sequence[Criterion]) -> dict[str, Union[ExamplePool, None]]:
        """Criterion name -> its labelled cases; None without examples.

        Raises:
            InvalidInputError: If the rows cannot be used.
        """
        check_label_fields(self.label_fields, criteria)
        return {criterion.name: self._pool(criterion) for criterion in criteria}

    def question(
        self,
        identifier: str,
        row: int,
        given: EvaluationInput,
        criterion: Criterion,
        response: Any,
        *,
        pool: Union[ExamplePool, None],
    ) -> Question:
        """What the judge is asked about one response on one criterion, with its examples."""
        question = Question(
            id=identifier,
            criterion=criterion,
            responses=(text_of(response),),
            context=self.context_of(given, criterion, row),
            references=texts_of(given[1]),
            instance=row,
            draw_key=draw_key_of(given),
            guidelines=self.guidelines,
            data_classification=getattr(given, "data_classification", None),
        )
        return question if pool is None else pool.shown_to(question)

    def _pool(self, criterion: Criterion) -> Union[ExamplePool, None]:
        if self.examples is None:
            return None
        field = criterion.prediction_field
        response = field if field is not None and any(field in row for row in self.examples) else "response"
        fields = ExampleFields(
            label=(self.label_fields or {}).get(criterion.name, criterion.name),
            responses=(response,),
            context=self.given_context_fields() or None,
            as_index=self.as_index,
        )
        return example_pool(self.examples, criterion, fields, number=self.num_examples, seed=self.seed)

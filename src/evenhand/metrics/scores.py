"""Names and numbers of scores as unitxt shows them."""

import logging
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Union

from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.numbers import Missing, format_number, format_percent
from evenhand.scoring import mention_caution
from evenhand.statistics import Interval
from evenhand.statistics.unread import UnreadBounds
from evenhand.votes import MatchKind, Usage

logger = logging.getLogger(__name__)


def number_or_nan(value: Union[float, Missing, None]) -> float:
    """A score as unitxt takes it: NaN where it is undefined."""
    return math.nan if value is None or isinstance(value, Missing) else value


def interval_scores(name: str, interval: Union[Interval, Missing, None], *, with_intervals: bool) -> dict[str, float]:
    """A score and its interval under unitxt's names; NaN where it is undefined."""
    if not interval:
        return {name: math.nan}
    scores = {name: interval.estimate}
    if with_intervals:
        scores |= {f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}
    return scores


def all_interval_scores(
    intervals: Mapping[str, Union[Interval, Missing, None]], *, with_intervals: bool, undefined: bool = True
) -> dict[str, float]:
    """Scores and their intervals under unitxt's names.

    Args:
        intervals: Name -> score.
        with_intervals: Give the limits too.
        undefined: Give NaN for what is undefined, instead of leaving it out.
    """
    shown = {name: interval for name, interval in intervals.items() if undefined or interval}
    return {
        key: value
        for name, interval in shown.items()
        for key, value in interval_scores(name, interval, with_intervals=with_intervals).items()
    }


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


def cluster_scores(name: str, clusters: Union[int, Missing, None]) -> dict[str, float]:
    """How many clusters the instances are of; nothing where they do not depend on each other."""
    return {name: clusters} if clusters else {}


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


def warn_of_mentions(readings: Mapping[MatchKind, int]) -> None:
    """Warn (:class:`MentionedVerdictsWarning`) where too many selections rest on replies that merely mention one."""
    if (caution := mention_caution(readings)) is not None:
        warnings.warn(caution, MentionedVerdictsWarning, stacklevel=2)


def reading_scores(readings: Mapping[MatchKind, int]) -> dict[str, float]:
    """How the selections were read: ``match_share_<kind>``, a share of them; nothing where nothing was read.

    Warns (:class:`MentionedVerdictsWarning`) where too many rest on mentions.
    """
    warn_of_mentions(readings)
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

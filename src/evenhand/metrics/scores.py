"""Names and numbers of scores as unitxt shows them."""

import logging
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Union

from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.numbers import Missing, format_number, format_percent
from evenhand.scoring import mention_caution
from evenhand.statistics.unread import UnreadBounds
from evenhand.votes import MatchKind

logger = logging.getLogger(__name__)


def number_or_nan(value: Union[float, Missing, None]) -> float:
    """A score as unitxt takes it: NaN where it is undefined."""
    return math.nan if value is None or isinstance(value, Missing) else value


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


def panel_scores(name: str, report: Union[PanelReport, None], *, with_intervals: bool) -> dict[str, float]:
    """What the votes say about the judges, under the name of the score that they made; nothing without a report."""
    if report is None:
        return {}
    return {f"{name}_{each}": value for each, value in report.scores(with_intervals=with_intervals).items()}


class MentionedVerdictsWarning(UserWarning):
    """Many selections rest on replies that merely mention an option."""


def warn_of_mentions(readings: Mapping[MatchKind, int]) -> None:
    """Warn (:class:`MentionedVerdictsWarning`) where too many selections rest on replies that merely mention one."""
    if (caution := mention_caution(readings)) is not None:
        warnings.warn(caution, MentionedVerdictsWarning, stacklevel=2)


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

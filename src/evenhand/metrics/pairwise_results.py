"""The names and values under which contests are handed to unitxt."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union, get_args

from evenhand.aggregation import aggregate
from evenhand.contests import Contest, ContestSummary, Reduction, instance_rankings, winrates
from evenhand.criteria import Criterion
from evenhand.errors import InvalidInputError
from evenhand.metrics.scores import (
    all_interval_scores,
    cluster_scores,
    interval_scores,
    number_or_nan,
    reading_scores,
    usage_scores,
    warn_of_unread,
)
from evenhand.votes import MatchKind, UnscoredReason, Vote

INSTANCE_FIELDS = (
    "summaries",
    "contest_results",
    "contest_scores",
    "contest_grades",
    "unscored_reasons",
    "selections",
    "compared_to",
    "assessments",
    "positional_bias_assessments",
    "positional_bias_summaries",
    "option_selection_outputs",
    "positional_bias",
    "positional_bias_selection",
    "prompts",
    "winrate",
    "llm_as_judge",
    "ranking",
    "response_name",
)
"""Per system, on an instance: unitxt's names, and ``contest_scores``, ``contest_grades``, ``unscored_reasons``."""

SYSTEM_INTERVALS = ("winrate", "mean_rank")
SYSTEM_RANKS = ("rank", "rank_ci_low", "rank_ci_high")
FIELD_WINRATE = "field_winrate"
"""Only where not all systems met equally often, so that a winrate is over unequal opponents."""
SYSTEM_NUMBERS = ("winrate_if_unscored_0", "winrate_if_unscored_1", "num_contests", "num_ties", "num_unscored")
SHARED_INTERVALS = (
    "tie_rate",
    "positional_bias",
    "position_consistency",
    "agreement",
    "spread",
    "parse_rate",
)
POSITION_INTERVALS = ("first_shown_preference", "first_position_share")
SHARED_NUMBERS = (
    "num_contests",
    "num_ties",
    "num_unscored",
    "num_inconsistent",
    "num_lone",
    "num_clusters",
    "first_shown_preference_p_value",
    "reasks",
    "calls",
    "cached_calls",
    "prompt_tokens",
    "completion_tokens",
    "cost",
)

_PROMPT_NAMES = {
    "assessment": "assessment",
    "one_step": "assessment",
    "selection": "option_selection",
    "verdict": "option_selection",
    "reask": "option_selection_reask",
    "summary": "summary",
}


def check_names(systems: Sequence[str]) -> None:
    """Check that no two scores would have one name, which can happen when system names contain one another.

    Raises:
        InvalidInputError: If two would.
    """
    reasons = (*get_args(UnscoredReason), "not_applicable")
    shared = {"criteria", "score", "score_name", "num_of_instances", *SHARED_NUMBERS}
    shared |= {f"unscored_{what}_{reason}" for what in ("votes", "contests") for reason in reasons}
    shared |= {f"match_share_{kind}" for kind in get_args(MatchKind)}
    intervals = ("score", *SHARED_INTERVALS, *POSITION_INTERVALS)
    shared |= {f"{name}{bound}" for name in intervals for bound in ("", "_ci_low", "_ci_high")}
    bounded = [
        f"{name}{bound}" for name in (*SYSTEM_INTERVALS, "rank", FIELD_WINRATE) for bound in ("", "_ci_low", "_ci_high")
    ]
    fields = sorted({*INSTANCE_FIELDS, *SYSTEM_NUMBERS, *bounded})
    owner: dict[str, str] = dict.fromkeys(shared, "")
    for system in systems:
        for field in fields:
            name = f"{system}_{field}"
            if name in owner:
                other = f"the system {owner[name]!r}" if owner[name] else "all systems together"
                raise InvalidInputError(
                    f"the system {system!r} and {other} would both have a score {name!r}: rename the system {system!r}"
                )
            owner[name] = system


def instance_results(
    contests: Sequence[Contest],
    systems: Sequence[str],
    criterion: Criterion,
    *,
    rule: Union[str, None] = None,
    reduction: Reduction = "win_rate",
) -> dict[str, Any]:
    """The scores of one instance. A list has an entry a contest of the system; an empty list has no key.

    ``selections`` are those of the given order and ``positional_bias_selection`` those of the other one;
    ``contest_results`` and ``contest_scores`` are what both come to. A selection is None for a tie and for a reply that
    names no option, since a system may be called "tie". ``contest_results`` is None for an unscored contest; of a tied
    one neither side is the winner (False). ``option_selection_outputs`` are the replies, which know the systems as A
    and B only. ``<system>_prompts`` holds the contests in which the system is the first of the pair, their opponents
    under ``compared_to``, so that each is stored once.
    """
    rates = winrates(contests, systems, reduction)
    ranks = instance_rankings(contests, systems, reduction)
    views: dict[str, list[_ContestView]] = {system: [] for system in systems}
    for contest in contests:
        view = _ContestView(contest, criterion, rule)
        views[contest.first].append(view)
        views[contest.second].append(view)
    results: dict[str, Any] = {}
    for system, own in views.items():
        fields = _contest_fields(system, own)
        rate = rates[system]
        fields |= {
            "winrate": number_or_nan(rate),
            "llm_as_judge": number_or_nan(rate),
            "ranking": ranks[system],
            "response_name": system,
        }
        results |= {f"{system}_{name}": value for name, value in fields.items() if not _is_nothing(value)}
    return results


def global_results(summary: ContestSummary, *, with_intervals: bool = True) -> dict[str, Any]:
    """The scores of all instances together."""
    scores: dict[str, Any] = {}
    for one in summary.systems:
        warn_of_unread(
            f"{one.system}_winrate", one.unread, bounds=f"{one.system}_winrate_if_unscored", of="system's contests"
        )
        numbers = {
            "winrate_if_unscored_0": one.winrate_if_unscored_0,
            "winrate_if_unscored_1": one.winrate_if_unscored_1,
            "num_contests": one.contests,
            "num_ties": one.ties,
            "num_unscored": one.unscored,
        }
        for name in SYSTEM_INTERVALS:
            scores |= interval_scores(f"{one.system}_{name}", getattr(one, name), with_intervals=with_intervals)
        ranks = (one.rank.rank, one.rank.low, one.rank.high)
        numbers |= dict(zip(SYSTEM_RANKS if with_intervals else SYSTEM_RANKS[:1], ranks, strict=False))
        if one.field_winrate is not None:
            scores |= interval_scores(f"{one.system}_{FIELD_WINRATE}", one.field_winrate, with_intervals=with_intervals)
        scores |= {f"{one.system}_{name}": number_or_nan(value) for name, value in numbers.items()}
    shared_intervals = {name: getattr(summary, name) for name in SHARED_INTERVALS}
    shared_intervals |= {name: getattr(summary.position, name, None) for name in POSITION_INTERVALS}
    scores |= all_interval_scores(shared_intervals, with_intervals=with_intervals, undefined=False)
    shared = {
        "num_contests": summary.contests,
        "num_ties": summary.ties,
        "num_unscored": summary.unscored,
        "num_inconsistent": summary.position.n_inconsistent if summary.position else 0,
        "num_lone": summary.position.n_lone if summary.position else 0,
        "first_shown_preference_p_value": summary.position.p_value if summary.position else None,
        **cluster_scores("num_clusters", summary.num_clusters),
        "reasks": summary.reasks,
        **reading_scores(summary.readings),
        **usage_scores(summary.usage),
    }
    scores |= {name: value for name, value in shared.items() if value is not None}
    for what in ("contests", "votes"):
        counts: Mapping[str, int] = getattr(summary, f"unscored_{what}")
        scores |= {f"unscored_{what}_{reason}": count for reason, count in counts.items()}
    return scores


class _ContestView:
    """A contest as its result fields show it: the given order, and the other one where it was asked."""

    def __init__(self, contest: Contest, criterion: Criterion, rule: Union[str, None]) -> None:
        orders: dict[tuple[int, ...], list[Vote]] = {}
        for vote in contest.verdict.votes:
            orders.setdefault(vote.order, []).append(vote)
        views = [_OrderView(contest, votes, criterion, rule) for votes in orders.values()]
        self.contest = contest
        self.given = views[0] if views else None
        self.other = views[1] if len(views) > 1 else None

    @property
    def positional_bias(self) -> Union[bool, None]:
        consistent = self.contest.verdict.position_consistent
        return None if consistent is None else not consistent

    def prompts(self) -> dict[str, Any]:
        """The prompts under unitxt's names."""
        found: dict[str, Any] = {}
        for prefix, view in (("", self.given), ("positional_bias_", self.other)):
            for stage, messages in ((view.shown.prompts if view else None) or {}).items():
                found[prefix + _PROMPT_NAMES[stage]] = messages
        return found


class _OrderView:
    """What the judges say in one order, and one vote that shows it."""

    def __init__(self, contest: Contest, votes: Sequence[Vote], criterion: Criterion, rule: Union[str, None]) -> None:
        verdict = aggregate(votes, criterion, rule)
        self.selection = contest.winner_in(verdict)
        self.shown = next((vote for vote in votes if vote.assessment == verdict.assessment), votes[0])

    @property
    def output(self) -> Union[str, None]:
        return self.shown.completion.text if self.shown.completion else None


def _contest_fields(system: str, views: Sequence[_ContestView]) -> dict[str, Any]:
    """One entry a contest of this system."""
    contests = [view.contest for view in views]
    given = [view.given for view in views]
    other = [view.other for view in views]
    fields = {
        "contest_results": [None if contest.score is None else contest.winner == system for contest in contests],
        "contest_scores": [contest.score_of(system) for contest in contests],
        "selections": [view.selection if view else None for view in given],
        "compared_to": [contest.opponent(system) for contest in contests],
        "assessments": [view.shown.assessment if view else None for view in given],
        "option_selection_outputs": [view.output if view else None for view in given],
        "summaries": _unless_none(view.shown.summary if view else None for view in given),
        "contest_grades": _unless_none(contest.grade_of(system) for contest in contests),
        "unscored_reasons": _unless_none(contest.unscored_reason for contest in contests),
        "positional_bias": _unless_none(view.positional_bias for view in views),
        "prompts": _prompts([view for view in views if view.contest.first == system]),
    }
    if any(other):
        fields["positional_bias_assessments"] = [view.shown.assessment if view else None for view in other]
        fields["positional_bias_summaries"] = _unless_none(view.shown.summary if view else None for view in other)
        fields["positional_bias_selection"] = [view.selection if view else None for view in other]
    return fields


def _prompts(views: Sequence[_ContestView]) -> dict[str, Any]:
    """The prompts of these contests: unitxt's names, an entry a contest, and the opponents beside them."""
    found = [view.prompts() for view in views]
    names = list(dict.fromkeys(name for prompts in found for name in prompts))
    if not names:
        return {}
    opponents = [view.contest.second for view in views]
    return {"compared_to": opponents, **{name: [prompts.get(name) for prompts in found] for name in names}}


def _unless_none(values: Iterable[Any]) -> list[Any]:
    """The values, or nothing when every one is missing."""
    found = list(values)
    return found if any(value is not None for value in found) else []


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, (list, dict)) and not value)

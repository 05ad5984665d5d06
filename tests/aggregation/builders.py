"""Short ways to write the votes and criteria of a test."""

from collections.abc import Sequence

from evenhand.aggregation.scores import item_results, score_items
from evenhand.aggregation.verdict import DEFAULT_RULES
from evenhand.criteria import Criterion, Option, Scale
from evenhand.votes import Vote


def criterion_of(
    values: Sequence[float | None], *, scale: Scale = "ordinal", weight: float = 1.0, na: Sequence[int] = ()
) -> Criterion:
    """Options named o0, o1, … with these values; those at the places ``na`` say that the criterion does not apply."""
    options = tuple(
        Option(label=f"o{place}", value=None if place in na else value, na=place in na)
        for place, value in enumerate(values)
    )
    return Criterion(name="c", description="", options=options, scale=scale, weight=weight)


def panel(*selected: int | str | None, weights: Sequence[float] | None = None) -> list[Vote]:
    """One vote per judge in one order: an option's index, ``"na"``, or None for an unscored vote."""
    return [
        vote(f"j{place}", option, weight=weights[place] if weights else 1.0) for place, option in enumerate(selected)
    ]


def vote(
    judge: str, option: int | str | None, order: tuple[int, ...] = (0, 1), *, sample: int = 0, weight: float = 1.0
) -> Vote:
    """One vote; see :func:`panel`."""
    if option is None:
        return Vote(judge_id=judge, order=order, sample=sample, weight=weight, unscored_reason="no_match")
    if isinstance(option, str):
        return Vote(judge_id=judge, order=order, sample=sample, weight=weight, na=True)
    return Vote(judge_id=judge, order=order, sample=sample, weight=weight, selected_index=option)


def orders(*selected: int | str | None, judge: str = "j") -> list[Vote]:
    """One judge, one vote in the given order of two places and, if there is a second, one in the swapped order."""
    return [vote(judge, option, order) for option, order in zip(selected, ((0, 1), (1, 0)), strict=False)]


def draws(*selected: int | None, judge: str = "j") -> list[Vote]:
    """One judge, one order, one sample per option."""
    return [vote(judge, option, sample=sample) for sample, option in enumerate(selected)]


def checklist_scores(verdicts, checklist, *, primary="pass_rate", rules=DEFAULT_RULES):
    """The scores of one checklist from one verdict an item, in its order."""
    return score_items(item_results(verdicts, checklist, rules=rules), primary=primary)


def possible_scores(verdicts, checklist, *, primary="pass_rate", rules=DEFAULT_RULES):
    """The least and the greatest primary score, whatever the missing answers would have been; None without any."""
    items = item_results(verdicts, checklist, rules=rules)
    low, high = (score_items(items, primary=primary, end=end) for end in (0, 1))
    return None if low.primary_score is None else (low.primary_score, high.primary_score)

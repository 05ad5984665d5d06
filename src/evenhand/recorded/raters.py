"""How far judges and people agree: every two of them, and all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, Unpack

import numpy as np

from evenhand.recorded.scales import Drawing, Scale, Undefined, defined
from evenhand.recorded.vote_scores import adjacent_accuracy
from evenhand.statistics import Agreement, Interval, accuracy, cohen_kappa

Kind = Literal["judge", "human"]


@dataclass(frozen=True, slots=True)
class Rater:
    """A judge or a person, and what each instance was rated.

    Attributes:
        name: Of the judge or person.
        kind: ``judge`` or ``human``.
        selected: Per instance the option chosen; None where nothing was.
    """

    name: str
    kind: Kind
    selected: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class RaterPair:
    """How far two raters agree on the instances that both rated.

    Attributes:
        first: The person's name, where one of the two is a person.
        second: The other's name.
        kinds: ``human`` and ``judge``, of the first and the second.
        num_compared: Instances that both rated. NA is a rating like any other here.
        accuracy: The share on which both chose the same option: of a judge against a person, the judge's accuracy.
        adjacent_accuracy: Ordinal: the share on which they are at most one level apart.
        cohen_kappa: Beyond chance, over all options.
        quadratic_weighted_kappa: Ordinal: over all levels, used or not, without the instances that either found NA.
    """

    first: str
    second: str
    kinds: tuple[Kind, Kind]
    num_compared: int
    accuracy: Interval | Undefined
    adjacent_accuracy: Interval | Undefined | None
    cohen_kappa: Agreement | Undefined
    quadratic_weighted_kappa: Agreement | Undefined | None


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far several raters agree.

    Attributes:
        name: ``judges``, ``humans`` or ``judges and humans``.
        raters: Their names.
        krippendorff_alpha: At the criterion's level of measurement; abstentions and NA are missing.
    """

    name: str
    raters: tuple[str, ...]
    krippendorff_alpha: Agreement | Undefined


def compare_raters(first: Rater, second: Rater, scale: Scale, **drawn: Unpack[Drawing]) -> RaterPair:
    """Two raters; the first is who counts as right."""
    truth, judged = scale.as_places(first.selected), scale.as_places(second.selected)
    levels = scale.as_levels(first.selected), scale.as_levels(second.selected)
    level = drawn["level"]
    return RaterPair(
        first=first.name,
        second=second.name,
        kinds=(first.kind, second.kind),
        num_compared=int((~np.isnan(truth) & ~np.isnan(judged)).sum()),
        accuracy=defined(lambda: accuracy(truth, judged, level=level)),
        adjacent_accuracy=defined(lambda: adjacent_accuracy(scale, first.selected, second.selected, level))
        if scale.ordinal
        else None,
        cohen_kappa=defined(lambda: cohen_kappa(truth, judged, categories=scale.places, **drawn)),
        quadratic_weighted_kappa=defined(
            lambda: cohen_kappa(*levels, weights="quadratic", categories=scale.ranks, **drawn)
        )
        if scale.ordinal
        else None,
    )


def all_pairs(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[RaterPair, ...]:
    """Every two raters: humans and judges, then humans, then judges; in each part in the order given."""
    humans = [rater for rater in raters if rater.kind == "human"]
    judges = [rater for rater in raters if rater.kind == "judge"]
    pairs = [(human, judge) for human in humans for judge in judges]
    pairs += [*combinations(humans, 2), *combinations(judges, 2)]
    return tuple(compare_raters(first, second, scale, **drawn) for first, second in pairs)


def panels(raters: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> tuple[PanelAgreement, ...]:
    """The judges, the humans, and all of them, as far as there are two."""
    humans = [rater for rater in raters if rater.kind == "human"]
    judges = [rater for rater in raters if rater.kind == "judge"]
    named = {"judges": judges, "humans": humans}
    if humans and judges:
        named["judges and humans"] = [*judges, *humans]
    return tuple(_panel(name, members, scale, **drawn) for name, members in named.items() if len(members) > 1)


def _panel(name: str, members: Sequence[Rater], scale: Scale, **drawn: Unpack[Drawing]) -> PanelAgreement:
    ratings = np.column_stack([scale.as_ratings(member.selected) for member in members])
    return PanelAgreement(
        name=name,
        raters=tuple(member.name for member in members),
        krippendorff_alpha=scale.alpha(ratings, **drawn),
    )

"""The report on a panel: frozen results, and their two plain forms, JSON and score names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.statistics import Agreement, EffectiveJudges, Interval


@dataclass(frozen=True, slots=True)
class JudgeStability:
    """What one judge's repeated draws and orders say about it.

    Attributes:
        same_option: The share of the pairs of draws in one order of one instance that select the same option, NA being
            an option; see `evenhand.statistics.draw_stability`.
        first_two: Only the first two draws were compared, because draws could stop early, or not every question had the
            same number of draws.
        spread: The mean over instances of the standard deviation of the values drawn.
        flip_rate: The share of the instances answered in several orders whose selections disagree.
    """

    same_option: Interval | None
    first_two: bool
    spread: Interval | None
    flip_rate: Interval | None


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """One judge of the panel.

    Attributes:
        judge_id: Which judge.
        num_votes: Draws made of this judge.
        num_unscored: Those of them that named no option.
        num_na: Those of them that said that the criterion does not apply.
        mean: The mean over instances of the judge's own score.
        stability: Of its draws and orders.
        score_without: The panel's score without this judge, over the instances that have one.
        change_without: The mean of (score without the judge - score of the whole panel) over the instances that have
            both, with a paired interval.
        num_lost: Instances that have a score only with this judge.
    """

    judge_id: str
    num_votes: int
    num_unscored: int
    num_na: int
    mean: Interval | None
    stability: JudgeStability
    score_without: Interval | None
    change_without: Interval | None
    num_lost: int


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two judges: Cohen's kappa of their selections, quadratic-weighted over the full scale where it has an order."""

    first: str
    second: str
    kappa: Agreement | None


@dataclass(frozen=True, slots=True)
class PanelReport:
    """What the votes on many instances of one criterion say about the judges.

    What is undefined is None here and absent from :meth:`scores`; ``undefined`` names it and says why.

    Attributes:
        criterion: The criterion's name.
        scale: Its scale.
        rule: The panel rule, by which the scores without a judge were made too.
        num_instances: Verdicts in the input.
        num_judged: Those of them that have votes.
        num_votes: Draws made: votes recorded, except those that the budget kept from being asked for.
        num_planned: Draws of the full grid, where it was told.
        num_left_out: num_planned - num_votes: what stopping early, and the budget, saved.
        agreement: The mean share of an instance's votes that equal its verdict, over the instances with several votes.
        percent_agreement: The share of agreeing pairs of judges.
        alpha: Krippendorff's alpha of the judges' selections, by the metric that belongs to the scale.
        effective: Of errors, how many independent judges the panel is worth; of scores, how many votes do not repeat
            each other, for a shared truth or a shared error. See `evenhand.statistics.effective_judges`.
        correlated: Whether its correlations are those of the judges' ``scores``, or of ``errors`` against a reference.
        judges: In the order of their names.
        pairs: Every two judges.
        undefined: Score name -> why there is none.
        notes: What a reader of the numbers must know, in sentences.
        level: Of the intervals.
        resamples: Of the intervals that are drawn.
        seed: Of the draws.
    """

    criterion: str
    scale: str
    rule: str
    num_instances: int
    num_judged: int
    num_votes: int
    num_planned: int | None
    num_left_out: int | None
    agreement: Interval | None
    percent_agreement: Agreement | None
    alpha: Agreement | None
    effective: EffectiveJudges | None
    correlated: Literal["scores", "errors"]
    judges: tuple[JudgeReport, ...]
    pairs: tuple[PairReport, ...]
    undefined: Mapping[str, str]
    notes: tuple[str, ...]
    level: float
    resamples: int
    seed: int

    def scores(self, *, with_intervals: bool = True) -> dict[str, float]:
        """Score name -> number, the defined ones only; limits as ``<name>_ci_low`` and ``<name>_ci_high``.

        ``krippendorff_alpha``, ``percent_agreement``, ``agreement``, ``effective_judges``, ``judge_correlation``,
        ``num_votes``, ``num_votes_planned``, ``num_votes_left_out``; of each judge ``judge_mean_<judge>``,
        ``judge_stability_<judge>``, ``judge_spread_<judge>``, ``judge_flip_rate_<judge>``, ``score_without_<judge>``,
        ``change_without_<judge>``; of each pair ``cohen_kappa_<judge>_vs_<judge>``.
        """
        found: dict[str, float] = {"num_votes": self.num_votes}
        if self.num_planned is not None and self.num_left_out is not None:
            found |= {"num_votes_planned": self.num_planned, "num_votes_left_out": self.num_left_out}
        for name, interval in self._intervals():
            if interval is not None:
                found[name] = interval.estimate
                if with_intervals:
                    found |= {f"{name}_ci_low": interval.low, f"{name}_ci_high": interval.high}
        return found

    def as_json(self) -> dict[str, Any]:
        """The whole report as plain JSON values: numbers, texts, lists, objects and null, never NaN."""
        return {field.name: _plain(getattr(self, field.name)) for field in dataclasses.fields(self)}

    def _intervals(self) -> Iterator[tuple[str, Interval | None]]:
        yield "agreement", self.agreement
        yield "percent_agreement", _interval(self.percent_agreement)
        yield "krippendorff_alpha", _interval(self.alpha)
        yield "effective_judges", self.effective.effective if self.effective else None
        yield "judge_correlation", self.effective.mean_correlation if self.effective else None
        for judge in self.judges:
            name = judge.judge_id
            yield f"judge_mean_{name}", judge.mean
            yield f"judge_stability_{name}", judge.stability.same_option
            yield f"judge_spread_{name}", judge.stability.spread
            yield f"judge_flip_rate_{name}", judge.stability.flip_rate
            yield f"score_without_{name}", judge.score_without
            yield f"change_without_{name}", judge.change_without
        for pair in self.pairs:
            yield f"cohen_kappa_{pair.first}_vs_{pair.second}", _interval(pair.kappa)


def _interval(agreement: Agreement | None) -> Interval | None:
    return None if agreement is None else agreement.interval


def _plain(value: Any) -> Any:  # noqa: ANN401 - any field of a result
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value

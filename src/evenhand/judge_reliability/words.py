"""What the numbers on a judge say in words: a sentence per measure, each with its evidence.

A sentence is a function of the numbers alone. An effect is named where its interval, or its exact test, excludes no
effect at the report's level; otherwise the sentence says what size of effect the data leave open. Where an interval is
wider than `WIDE`, the sentence says that there is too little to tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Concatenate, ParamSpec, TypeVar

from scipy.stats import binomtest

from evenhand.judge_reliability.agreement_with_people import AgreementWithPeople, Confidences, JudgesAgreement
from evenhand.judge_reliability.one_judge import (
    ChoiceReliability,
    CriterionReliability,
    Mode,
    OptionFlipRate,
    PlacesChosen,
    Replies,
    TwoGraded,
)
from evenhand.judge_reliability.raters import RaterPair
from evenhand.numbers import (
    Missing,
    format_cost,
    format_count,
    format_interval,
    format_number,
    format_percent,
    format_points,
    format_share,
    state_p_value,
)
from evenhand.statistics import Interval
from evenhand.statistics.agreement import Agreement
from evenhand.statistics.consistency import PositionBias, RepetitionStability
from evenhand.statistics.length import VerbositySlope

Measured = TypeVar("Measured")
More = ParamSpec("More")

NO_NUMBER = "no number: "

WIDE = 0.3
"""Width of the interval of a share from which on there is too little data to tell."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence on one measure.

    Attributes:
        measure: What is measured.
        text: The sentence, with the numbers that it rests on; or why there is none.
        measured: Whether there is a number.
    """

    measure: str
    text: str
    measured: bool = True


def findings(report: CriterionReliability) -> tuple[Remark, ...]:
    """Every measure of a judge on a criterion in words, those without a number with the reason."""
    mode = report.mode
    said = {
        "replies": replies_in_words(report.replies),
        "position consistency": _said(report.position, consistency_in_words, mode),
        "preference for a place": _said(report.position, fairness_in_words, mode),
        "option flips": _said(report.flips, flips_in_words),
        "repetition": _said(report.repetition, repetition_in_words, report.num_samples),
        "spread of draws": _said(report.spread, spread_in_words, report.greatest_spread),
        "Grade Score": _said(report.grade_score, grade_score_in_words),
        "verbosity": _said(report.verbosity, verbosity_in_words, mode),
        "verbosity, preference fixed": _said(report.verbosity_given_people, fixed_verbosity_in_words, mode),
        "agreement with people": _said(report.people, people_in_words),
        "confidences": _said(report.confidences, confidences_in_words),
        "calls": calls_in_words(report.replies),
    }
    return tuple(_finding(measure, text) for measure, text in said.items())


def findings_on_judges(agreement: JudgesAgreement) -> tuple[Remark, ...]:
    """How far the judges agree, a sentence per pair and one on all."""
    alpha = agreement.all_judges.krippendorff_alpha
    return (
        *(_finding(f"{pair.first} and {pair.second}", pair_in_words(pair)) for pair in agreement.pairs),
        Remark("all judges", f"Krippendorff's alpha is {_coefficient(alpha)}"),
    )


def finding_on_choices(found: ChoiceReliability) -> Remark:
    """One way of asking for the best of several candidates, in words."""
    unrelated = ", with an unrelated candidate" if found.with_unrelated else ""
    return _finding(f"Grade Score, prompt {found.prompt!r}{unrelated}", choices_in_words(found))


def choices_in_words(found: ChoiceReliability) -> str | Missing:
    """The Grade Score beside what a random judge reaches, and what an unrelated candidate does."""
    if isinstance(found.grade_score, Missing):
        return found.grade_score
    if isinstance(found.chance_corrected, Missing):
        return format_interval(found.grade_score)
    text = (
        f"{format_interval(found.grade_score)}, where a random judge reaches {format_number(found.chance or 0.0)}; "
        f"{_beyond_chance(found.chance_corrected)}"
    )
    if isinstance(found.answered, Interval):
        text += f"; {format_share(found.answered)} of the rotations were answered"
    text += "".join(_place_in_words(each, found.level) for each in found.places)
    if isinstance(found.unrelated_chosen, Interval):
        text += f"; the unrelated candidate was chosen in {format_share(found.unrelated_chosen)} of the answers"
    if isinstance(found.unrelated_corrected_difference, Interval):
        difference = found.unrelated_corrected_difference
        text += f" and changes the corrected score by {format_interval(difference, signed=True)}"
    return text + _too_few(found.grade_score)


def _place_in_words(places: PlacesChosen, level: float) -> str:
    """Which place attracts the judge, where tests say that the places differ and that this one is ahead.

    The first is the test that all places are chosen alike; the second the binomial test of the most frequent place
    against the next, with Bonferroni's factor for all pairs of places, since the data pick the two.
    """
    if places.p_value >= 1 - level:
        return ""
    ranked = sorted(range(len(places.counts)), key=lambda place: -places.counts[place])
    most, following = (places.counts[place] for place in ranked[:2])
    pairs = len(ranked) * (len(ranked) - 1) / 2
    ahead = binomtest(most, most + following).pvalue * pairs < 1 - level
    answers = sum(places.counts)
    chosen = f"number {ranked[0] + 1} is chosen{' most,' if ahead else ''} in {format_percent(most / answers)}"
    if not ahead:
        chosen += f" and number {ranked[1] + 1} in {format_percent(following / answers)}"
    return (
        f"; of {places.n_options} places {chosen} of {format_count(answers, 'answer')} "
        f"({state_p_value(places.p_value)} if all are chosen alike{'' if ahead else '; the two are not told apart'})"
    )


def replies_in_words(replies: Replies) -> str | Missing:
    """How many replies named an option, and why the others did not.

    >>> from evenhand.results.unscored import UnscoredCounts
    >>> counts = UnscoredCounts(votes=2, unscored_votes=0, rows=0, verdicts=2, unscored_verdicts=0, reasons={})
    >>> replies_in_words(Replies(counts, 0, 0, Interval(1.0, 0.4, 1.0, 0.95, "exact", 2), (), 2, 0, 0, 0, None))
    '100 % [40, 100] of the replies name an option; 0 of 2 votes unscored; too few to tell (n = 2)'
    """
    if isinstance(replies.parse_rate, Missing):
        return replies.parse_rate
    text = f"{format_share(replies.parse_rate)} of the replies name an option; {replies.unscored_counts}"
    if replies.unscored:
        text += ": " + ", ".join(
            f"{format_count(each.count)} {each.reason} ({format_share(each.share)})" for each in replies.unscored
        )
    if replies.num_na:
        text += f"; {format_count(replies.num_na, 'vote')} say that the criterion does not apply"
    if replies.num_reasks:
        text += f"; {format_count(replies.num_reasks, 're-ask')}"
    return text + _too_few(replies.parse_rate)


def consistency_in_words(position: PositionBias, mode: Mode) -> str | Missing:
    """How often the swap of the order leaves the selection as it is."""
    rate = position.position_consistency
    if rate is None:
        return Missing("nothing was selected in both orders")
    what = "the same response wins" if mode == "compare" else "the same option is selected"
    text = f"{what} in both orders in {format_share(rate)} of {format_count(position.n_checked, 'pair')} of votes"
    if position.n_lone:
        text += f"; {format_count(position.n_lone, 'pair')} more have a selection in one order only"
    return text + _too_few(rate)


def fairness_in_words(position: PositionBias, mode: Mode) -> str | Missing:
    """Which place gains when the selection changes with the order."""
    share, made = position.first_shown_share, position.test
    n = position.n_inconsistent
    if share is None or made is None:
        return Missing(f"none of {format_count(position.n_checked, 'pair')} of votes changes with the order")
    p, test = made.p_value, f"{state_p_value(made.p_value)}, {_TESTS[made.method]}"
    inconsistent = f"the {format_count(n, 'inconsistent pair')}"
    alpha = 1 - position.level
    includes_a_half = share.low <= 0.5 <= share.high
    if p < alpha:
        first = share.estimate > 0.5
        gaining = (
            ("first-shown responses win" if first else "second-shown responses win")
            if mode == "compare"
            else (
                "the selection moves to an option shown earlier"
                if first
                else "the selection moves to an option shown later"
            )
        )
        shown = share if first else _complement(share)
        aside = "; by the test alone, as the interval does not exclude 50 %" if includes_a_half else ""
        return f"{gaining} in {format_share(shown)} of {inconsistent} ({test}){aside}"
    gains = "first-shown responses win" if mode == "compare" else "the selection moves to an option shown earlier"
    stated = f"{gains} in {format_share(share)} of {inconsistent} ({test})"
    least = 2 / 2**share.n
    if least > alpha:
        of = f"{n}" if share.n == n else f"pairs from {format_count(share.n, 'instance')}"
        return f"too few to tell: {stated}, and with {of} the test cannot fall below {state_p_value(least)}"
    if not includes_a_half:
        return f"unclear: {stated}; the interval excludes 50 %, and the test does not{_too_few(share)}"
    return f"no evidence of a preference for a place: {stated}; the data leave open {_range(share)}" + _too_few(share)


def flips_in_words(flips: tuple[OptionFlipRate, ...]) -> str | Missing:
    """The option with the greatest flip rate; that it is abandoned most is said where the intervals tell it apart.

    Its lower limit must lie above the upper limit of every other option. For two rates with intervals at 95 % that is a
    test at about 0.6 % (Goldstein and Healy, 1995), so that picking the greatest of up to eight stays within 5 %.
    """
    known = [(each.flips.flip_rate, each) for each in flips if each.flips.flip_rate is not None]
    if not known:
        return Missing("no option was selected in a question scored in two orders")
    rate, worst = max(known, key=lambda found: found[0].estimate)
    unused = [each.label for each in flips if each.flips.flip_rate is None]
    if rate.estimate == 0:
        rate, least = max(known, key=lambda found: found[0].high)
        selected = format_count(least.flips.n_selected, "time")
        return (
            f"no option is abandoned in another order; of {least.label!r}, selected {selected}, the data leave open up "
            f"to {format_percent(rate.high)}"
        )
    others = [each for each, option in known if option is not worst]
    most = bool(others) and all(rate.low > each.high for each in others)
    alike = any(each.estimate == rate.estimate for each in others)
    how = " most" if most else " as often as any" if alike else ""
    text = (
        f"{worst.label!r} is abandoned{how}: another order selects something else "
        f"in {format_share(rate)} of the {format_count(worst.flips.n_selected, 'time')} that some order selects it"
    )
    if others and not most and not alike:
        text += "; which option is abandoned most these data do not tell"
    if unused:
        text += f"; never selected where two orders answer: {', '.join(map(repr, unused))}"
    return text + _too_few(rate)


def repetition_in_words(repetition: RepetitionStability, samples: int) -> str | Missing:
    """How often two draws of a prompt select the same."""
    agreement = repetition.pair_agreement
    if agreement is None:
        return Missing("no prompt has a selection in two draws")
    text = (
        f"repeated draws agree in {format_share(agreement)} of the pairs of draws "
        f"({format_count(repetition.n_repeated, 'prompt')} of up to {format_count(samples, 'draw')})"
    )
    if repetition.n_unscored:
        text += f"; {format_count(repetition.n_unscored, 'draw')} select nothing"
    return text + _too_few(agreement)


def spread_in_words(spread: Interval, greatest: float = 0.5) -> str:
    """How far the values of a prompt's draws lie apart."""
    return (
        f"the values drawn for one prompt have a standard deviation of {format_interval(spread, digits=3)} on average "
        f"(0 for one answer throughout, {greatest:g} at most)"
    )


def grade_score_in_words(score: TwoGraded) -> str:
    """The Grade Score of two systems and what a random judge reaches; a tie chooses neither."""
    return (
        f"the Grade Score is {format_interval(score.grade_score)}, where a random judge reaches "
        f"{format_number(score.chance)}; {_beyond_chance(score.chance_corrected)}; {format_share(score.answered)} of "
        "the votes chose one"
    ) + _too_few(score.grade_score)


def verbosity_in_words(verbosity: VerbositySlope, mode: Mode) -> str | Missing:
    """What twice the length does to the chance of winning."""
    chance = verbosity.win_probability_at_double.interval
    if chance is None:
        return Missing(verbosity.reason or "the slope is not known")
    text = format_share(chance)
    winning = "winning" if mode == "compare" else "the higher score"
    ties = "" if verbosity.ties == "half" else ", ties aside,"
    effect = f"the chance of {winning}{ties} from 50 % to {text}"
    if chance.low > 0.5:
        return f"longer responses are preferred: twice the length raises {effect}"
    if chance.high < 0.5:
        return f"shorter responses are preferred: twice the length lowers {effect}"
    return (
        f"no evidence of a preference for length: at twice the length the chance of {winning}{ties} is {text}, where "
        f"50 % is no effect; the data leave open {_range(chance)}" + _too_few(chance)
    )


def fixed_verbosity_in_words(verbosity: VerbositySlope, mode: Mode) -> str | Missing:
    """The same among responses of which people think alike."""
    said = verbosity_in_words(verbosity, mode)
    return said if isinstance(said, Missing) else f"with people's preference held fixed, {said}"


def people_in_words(people: AgreementWithPeople) -> str | Missing:
    """How often the verdicts are what people chose, and how much of that is beyond chance."""
    accuracy = people.verdict_accuracy
    if isinstance(accuracy, Missing):
        return accuracy
    text = f"the verdict is what people chose in {format_share(accuracy)} of "
    text += format_count(people.num_compared, "question")
    if isinstance(people.vote_accuracy, Interval):
        text += f", a single vote in {format_share(people.vote_accuracy)}"
    text += f"; Cohen's kappa is {_coefficient(people.cohen_kappa)}"
    if people.quadratic_weighted_kappa is not None:
        text += f", quadratic-weighted {_coefficient(people.quadratic_weighted_kappa)}"
    if people.num_compared < people.num_labels:
        text += f"; {format_count(people.num_labels - people.num_compared, 'labelled question')} without a verdict"
    return text + _too_few(accuracy)


def confidences_in_words(confidences: Confidences) -> str:
    """Whether stated probabilities are higher or lower than the share that is right."""
    calibration = confidences.calibration
    gap = calibration.overconfidence
    estimate, low, high = (format_points(value) for value in (gap.estimate, gap.low, gap.high))
    gap_in_points = f"{estimate} points [{low}, {high}]"
    if gap.low > 0:
        text = f"the judge is overconfident: mean confidence less share right is {gap_in_points}"
    elif gap.high < 0:
        text = f"the judge is underconfident: mean confidence less share right is {gap_in_points}"
    else:
        text = f"no evidence of over- or underconfidence: mean confidence less share right is {gap_in_points}"
    return (
        f"{text} over {format_count(confidences.num_votes, 'vote')}; expected calibration error "
        f"{format_number(calibration.expected_calibration_error)}; Brier score {format_interval(calibration.brier)}"
    )


def calls_in_words(replies: Replies) -> str:
    """What was spent."""
    cost = "at an unknown price" if replies.cost is None else f"for {format_cost(replies.cost)}"
    tokens = replies.prompt_tokens + replies.completion_tokens
    return (
        f"{format_count(replies.calls, 'call')} and {format_count(replies.cached, 'reply')} from the journal, "
        f"{format_count(tokens, 'token')}, {cost}"
    )


def pair_in_words(pair: RaterPair) -> str | Missing:
    """How often two judges select the same, and how much of that is beyond chance."""
    if isinstance(pair.accuracy, Missing):
        return pair.accuracy
    text = f"the same selection in {format_share(pair.accuracy)} of {format_count(pair.num_compared, 'question')}"
    text += f"; Cohen's kappa is {_coefficient(pair.cohen_kappa)}"
    if pair.quadratic_weighted_kappa is not None:
        text += f", quadratic-weighted {_coefficient(pair.quadratic_weighted_kappa)}"
    return text + _too_few(pair.accuracy)


_TESTS = {"exact": "exact test", "t": "t test over clusters"}


def _finding(measure: str, said: str | Missing) -> Remark:
    if isinstance(said, Missing):
        return Remark(measure, f"{NO_NUMBER}{said.reason}", measured=False)
    return Remark(measure, said)


def _said(
    found: Measured | Missing,
    in_words: Callable[Concatenate[Measured, More], str | Missing],
    *more: More.args,
    **named: More.kwargs,
) -> str | Missing:
    return found if isinstance(found, Missing) else in_words(found, *more, **named)


def _coefficient(found: Agreement | Missing) -> str:
    return f"undefined ({found.reason})" if isinstance(found, Missing) else format_interval(found)


def _beyond_chance(corrected: Interval) -> str:
    """The score corrected for chance, and whether that tells the judge from a random one."""
    text = f"corrected for chance {format_interval(corrected)}"
    if corrected.low > 0:
        return text
    return text + (
        ", below what a random judge reaches"
        if corrected.high < 0
        else ", which does not tell the judge from a random one"
    )


def _range(interval: Interval) -> str:
    return f"{format_percent(interval.low)} to {format_percent(interval.high)}"


def _too_few(interval: Interval) -> str:
    if interval.high - interval.low <= WIDE:
        return ""
    return f"; too few to tell (n = {format_count(interval.n)})"


def _complement(share: Interval) -> Interval:
    return replace(share, estimate=1 - share.estimate, low=1 - share.high, high=1 - share.low)

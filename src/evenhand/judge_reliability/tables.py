"""What is known of judges in words and as tables: a sentence and a row from each measure.

A sentence is filled from the numbers alone. An effect is named where its interval, or its exact test, excludes no
effect at the report's level; otherwise the sentence says what size of effect the data leave open. Where an interval is
wider than `WIDE`, the sentence says that there is too little to tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import Formatter
from typing import Any, Final

from scipy.stats import binomtest

from evenhand.judge_reliability.against_people import PanelAgreement, RaterPair, VoteSummary
from evenhand.judge_reliability.one_judge import (
    ChoiceReliability,
    CriterionReliability,
    JudgesAgreement,
    UnscoredShare,
)
from evenhand.judge_reliability.panel_report import PanelReport
from evenhand.modes.grade_scores import ChoiceHistograms
from evenhand.numbers import (
    MISSING,
    Missing,
    format_cost,
    format_count,
    format_estimate,
    format_interval,
    format_level,
    format_number,
    format_percent,
    format_points,
    format_range,
    format_share,
    state_p_value,
)
from evenhand.results.measures import Column, Kind, format_value, measures_table, score_cell
from evenhand.results.render import TextTable
from evenhand.scoring import GRADED_ON_OTHERS, readings_note
from evenhand.statistics import Interval
from evenhand.statistics.agreement import Agreement
from evenhand.votes import Usage

NO_NUMBER = "no number: "
WIDE = 0.3
"""Width of the interval of a share from which on there is too little data to tell."""

MOST_BY_JUDGE = 4
"""Cells of a table up to which the judges of a panel are listed one by one."""


def measure_at(result: object, path: str) -> Any:  # noqa: ANN401 - what the path leads to
    """Follow names joined by points into a result; what is missing, or None, where one of them is."""
    for name in filter(None, path.split(".")):
        result = getattr(result, name)
        if result is None or isinstance(result, Missing):
            return result
    return result


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


@dataclass(frozen=True, slots=True)
class Effect:
    """A part of a sentence that depends on whether an interval excludes no effect.

    Attributes:
        nothing: What no effect is.
        above: The words where the interval lies above that; ``it`` is what the part is about.
        below: Where it lies below.
        neither: Where it does neither.
        path: Of the interval, within what the part is about.
    """

    nothing: float
    above: str
    below: str
    neither: str
    path: str = ""

    def words_for(self, value: object) -> str:
        """Choose the words by the interval."""
        found = measure_at(value, self.path)
        return self.above if found.low > self.nothing else self.below if found.high < self.nothing else self.neither


def _few(interval: Interval) -> str:
    return "" if interval.high - interval.low <= WIDE else f"; too few to tell (n = {format_count(interval.n)})"


def _range(interval: Interval) -> str:
    return f"{format_percent(interval.low)} to {format_percent(interval.high)}"


def _coefficient(found: Agreement | Missing) -> str:
    return f"undefined ({found.reason})" if isinstance(found, Missing) else format_interval(found)


def _points(found: Interval) -> str:
    estimate, low, high = (format_points(value) for value in (found.estimate, found.low, found.high))
    return f"{estimate} points [{low}, {high}]"


def _reasons(unscored: Sequence[UnscoredShare]) -> str:
    return ", ".join(f"{format_count(each.count)} {each.reason} ({format_share(each.share)})" for each in unscored)


def _tokens(usage: Usage) -> str:
    return format_count(usage.prompt_tokens + usage.completion_tokens)


_CONFIDENT = "mean confidence less share right is {it:points}"
_CORRECTED = "corrected for chance {it:number}"
_WINNING = "the chance of {mode:winning}{it.ties:ties}"
_DOUBLE = "it.win_probability_at_double.interval"
_WRITERS: Final[Mapping[str, Callable[[Any], str] | Effect]] = {
    "": str,
    "number": lambda value: format_number(value) if isinstance(value, float) else format_interval(value),
    "signed": partial(format_interval, signed=True),
    "precise": partial(format_interval, digits=3),
    "share": format_share,
    "plain": "{:g}".format,
    "few": _few,
    "range": _range,
    "coefficient": _coefficient,
    "points": _points,
    "reasons": _reasons,
    "tokens": _tokens,
    "cost": lambda cost: "at an unknown price" if cost is None else f"for {format_cost(cost)}",
    "same": {"compare": "the same response wins", "assess": "the same option is selected"}.__getitem__,
    "winning": {"compare": "winning", "assess": "the higher score"}.__getitem__,
    "ties": {"half": "", "davidson": ", ties aside,"}.__getitem__,
    "confidence": Effect(
        0.0,
        f"the judge is overconfident: {_CONFIDENT}",
        f"the judge is underconfident: {_CONFIDENT}",
        f"no evidence of over- or underconfidence: {_CONFIDENT}",
    ),
    "beyond chance": Effect(
        0.0,
        _CORRECTED,
        f"{_CORRECTED}, below what a random judge reaches",
        f"{_CORRECTED}, which does not tell the judge from a random one",
    ),
    "length": Effect(
        0.5,
        f"longer responses are preferred: twice the length raises {_WINNING} from 50 % to {{{_DOUBLE}:share}}",
        f"shorter responses are preferred: twice the length lowers {_WINNING} from 50 % to {{{_DOUBLE}:share}}",
        f"no evidence of a preference for length: at twice the length {_WINNING} is {{{_DOUBLE}:share}}, where 50 % is "
        f"no effect; the data leave open {{{_DOUBLE}:range}}{{{_DOUBLE}:few}}",
        path="win_probability_at_double.interval",
    ),
}
"""Kind -> what writes a number in a sentence; every other kind is a noun to count."""

_OPTIONAL = re.compile(r"\[(.*?)\]")


class _Filler(Formatter):
    """Fills ``{path:kind}`` in the words of a sentence with the numbers of a result."""

    def __init__(self, result: object, it: object = None) -> None:
        self.result, self.it = result, it

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        del args, kwargs
        root, _, path = field_name.partition(".")
        return (measure_at(self.it, path) if root == "it" else measure_at(self.result, field_name)), field_name

    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401 - as the base class
        writer = _WRITERS.get(format_spec)
        if isinstance(writer, Effect):
            return _Filler(self.result, value).format(writer.words_for(value))
        return format_count(value, format_spec) if writer is None else writer(value)

    def numbers(self, words: str) -> list[Any]:
        """The numbers that the words need; a coefficient that is undefined has its reason in the sentence."""
        found = [(kind, self.get_field(path, (), {})[0]) for _, path, kind, _ in self.parse(words) if path]
        return [_coefficient(value) if kind == "coefficient" and value is not None else value for kind, value in found]


Sentence = str | Callable[[Any], str | Missing]
"""Words with ``{path:kind}`` for numbers. A part in brackets is left out where its first number is missing or 0."""


def remark(measure: str, sentence: Sentence, result: object) -> Remark:
    """Say one measure of a result in words, or why it has no number."""
    if isinstance(sentence, str):
        filler = _Filler(result)
        needed = filler.numbers(_OPTIONAL.sub("", sentence))
        missing = next((value for value in needed if isinstance(value, Missing)), None)
        words = _OPTIONAL.sub(lambda part: part[1] if filler.numbers(part[1])[0] else "", sentence)
        said = filler.format(words) if missing is None else missing
    else:
        said = sentence(result)
    if isinstance(said, Missing):
        return Remark(measure, f"{NO_NUMBER}{said.reason}", measured=False)
    return Remark(measure, said)


_TESTS = {"exact": "exact test", "t": "t test over clusters"}
_GAINS = {
    "compare": ("first-shown responses win", "second-shown responses win"),
    "assess": ("the selection moves to an option shown earlier", "the selection moves to an option shown later"),
}


def _preference(report: CriterionReliability) -> str | Missing:
    """Say which place gains when the selection changes with the order."""
    position = report.position
    if isinstance(position, Missing):
        return position
    share, made, alpha = position.first_shown_share, position.test, 1 - position.level
    if share is None or made is None:
        return Missing(f"none of {format_count(position.n_checked, 'pair')} of votes changes with the order")
    p, n = made.p_value, position.n_inconsistent
    pairs = f"the {format_count(n, 'inconsistent pair')}"
    test = f"({state_p_value(p)}, {_TESTS[made.method]})"
    first, second = _GAINS[report.mode]
    includes_a_half = share.low <= 0.5 <= share.high
    if p < alpha:
        aside = "; by the test alone, as the interval does not exclude 50 %" if includes_a_half else ""
        if share.estimate <= 0.5:
            first = second
            share = replace(share, estimate=1 - share.estimate, low=1 - share.high, high=1 - share.low)
        return f"{first} in {format_share(share)} of {pairs} {test}{aside}"
    stated = f"{first} in {format_share(share)} of {pairs} {test}"
    least = 2 / 2**share.n
    if least > alpha:
        of = f"{n}" if share.n == n else f"pairs from {format_count(share.n, 'instance')}"
        return f"too few to tell: {stated}, and with {of} the test cannot fall below {state_p_value(least)}"
    if not includes_a_half:
        return f"unclear: {stated}; the interval excludes 50 %, and the test does not{_few(share)}"
    return f"no evidence of a preference for a place: {stated}; the data leave open {_range(share)}{_few(share)}"


def _flips(report: CriterionReliability) -> str | Missing:
    """Say which option has the greatest flip rate; that it is abandoned most where the intervals tell it apart.

    Its lower limit must lie above the upper limit of every other option. For two rates with intervals at 95 % that is a
    test at about 0.6 % (Goldstein and Healy, 1995), so that picking the greatest of up to eight stays within 5 %.
    """
    flips = report.flips
    if isinstance(flips, Missing):
        return flips
    rates = [(each.flips.flip_rate, each) for each in flips if each.flips.flip_rate is not None]
    rate, worst = max(rates, key=lambda found: found[0].estimate)
    unused = [each.label for each in flips if each.flips.flip_rate is None]
    if rate.estimate == 0:
        rate, least = max(rates, key=lambda found: found[0].high)
        selected = format_count(least.flips.n_selected, "time")
        return (
            f"no option is abandoned in another order; of {least.label!r}, selected {selected}, the data leave open up "
            f"to {format_percent(rate.high)}"
        )
    others = [each for each, option in rates if option is not worst]
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
    return text + _few(rate)


def _place(histograms: ChoiceHistograms, level: float) -> str:
    """Say which place attracts the judge, where tests say that the places differ and that this one is ahead.

    The first is the test that all places are chosen alike; the second the binomial test of the most frequent place
    against the next, with Bonferroni's factor for all pairs of places, since the data pick the two.
    """
    places = histograms.places
    if isinstance(places, Missing) or places.instance_p_value >= 1 - level:
        return ""
    ranked = sorted(range(len(places.counts)), key=lambda place: -places.counts[place])
    most, following = (places.counts[place] for place in ranked[:2])
    pairs = len(ranked) * (len(ranked) - 1) / 2
    ahead = binomtest(most, most + following).pvalue * pairs < 1 - level
    answers = sum(places.counts)
    chosen = f"number {ranked[0] + 1} is chosen{' most,' if ahead else ''} in {format_percent(most / answers)}"
    if not ahead:
        chosen += f" and number {ranked[1] + 1} in {format_percent(following / answers)}"
    apart = "" if ahead else "; the two are not told apart"
    return (
        f"; of {histograms.n_options} places {chosen} of {format_count(answers, 'answer')} "
        f"({state_p_value(places.instance_p_value)} if all are chosen alike{apart})"
    )


SENTENCES: Final[Mapping[str, Sentence]] = {
    "replies": (
        "{replies.parse_rate:share} of the replies name an option; {replies.unscored_counts}"
        "[: {replies.unscored:reasons}][; {replies.num_na:vote} say that the criterion does not apply]"
        "[; {replies.num_reasks:re-ask}]{replies.parse_rate:few}"
    ),
    "position consistency": (
        "{mode:same} in both orders in {position.position_consistency:share} of {position.n_checked:pair} of votes"
        "[; {position.n_lone:pair} more have a selection in one order only]{position.position_consistency:few}"
    ),
    "preference for a place": _preference,
    "option flips": _flips,
    "repetition": (
        "repeated draws agree in {repetition.pair_agreement:share} of the pairs of draws "
        "({repetition.n_repeated:prompt} of up to {num_samples:draw})"
        "[; {repetition.n_unscored:draw} select nothing]{repetition.pair_agreement:few}"
    ),
    "spread of draws": (
        "the values drawn for one prompt have a standard deviation of {spread:precise} on average "
        "(0 for one answer throughout, {greatest_spread:plain} at most)"
    ),
    "Grade Score": (
        "the Grade Score is {grade_score.grade_score:number}, where a random judge reaches {grade_score.chance:number}"
        "; {grade_score.chance_corrected:beyond chance}; {grade_score.answered:share} of the votes chose one"
        "{grade_score.grade_score:few}"
    ),
    "verbosity": "{verbosity:length}",
    "verbosity, preference fixed": "with people's preference held fixed, {verbosity_given_people:length}",
    "agreement with people": (
        "the verdict is what people chose in {people.accuracy:share} of {people.num_compared:question}"
        "[, a single vote in {people.vote_accuracy:share}][; Cohen's kappa is {people.cohen_kappa:coefficient}]"
        "[, quadratic-weighted {people.quadratic_weighted_kappa:coefficient}]"
        "[; {people.num_without_verdict:labelled question} without a verdict]{people.accuracy:few}"
    ),
    "confidences": (
        "{confidences.calibration.overconfidence:confidence} over {confidences.num_votes:vote}; expected calibration "
        "error {confidences.calibration.expected_calibration_error:number}; "
        "Brier score {confidences.calibration.brier:number}"
    ),
    "calls": (
        "{replies.usage.calls:call} and {replies.usage.cached:reply} from the journal, {replies.usage:tokens} tokens, "
        "{replies.usage.cost:cost}"
    ),
}
"""Measure of a judge on a criterion -> what is said of it."""

_ON_PAIRS: Final = (
    "the same selection in {accuracy:share} of {num_compared:question}[; Cohen's kappa is {cohen_kappa:coefficient}]"
    "[, quadratic-weighted {quadratic_weighted_kappa:coefficient}]{accuracy:few}"
)
_ON_CHOICES: Final = (
    "{grading.grade_score:number}, where a random judge reaches {grading.chance:number}; "
    "{grading.chance_corrected:beyond chance}[; {grading.answered:share} of the rotations were answered]{places}"
    "[; the unrelated candidate was chosen in {unrelated.chosen:share} of the answers]"
    "[ and changes the corrected score by {unrelated.corrected_difference:signed}]{grading.grade_score:few}"
)


def findings(report: CriterionReliability) -> tuple[Remark, ...]:
    """Say every measure of a judge on a criterion in words, those without a number with the reason."""
    return tuple(remark(measure, sentence, report) for measure, sentence in SENTENCES.items())


def findings_on_judges(agreement: JudgesAgreement) -> tuple[Remark, ...]:
    """Say how far the judges agree, a sentence per pair and one on all."""
    alpha = agreement.all_judges.krippendorff_alpha
    return (
        *(remark(f"{pair.first} and {pair.second}", _ON_PAIRS, pair) for pair in agreement.pairs),
        Remark("all judges", f"Krippendorff's alpha is {_coefficient(alpha)}"),
    )


def finding_on_choices(found: ChoiceReliability) -> Remark:
    """Say in words what one way of asking for the best of several candidates found."""
    unrelated = ", with an unrelated candidate" if found.unrelated else ""
    places = "".join(_place(each, float(found.grading.level)) for each in found.grading.histograms)
    return remark(f"Grade Score, prompt {found.prompt!r}{unrelated}", _ON_CHOICES.replace("{places}", places), found)


Line = tuple[str, str, Kind | Callable[[Any], str]]
"""A row on one measure: its name, where a result holds it (names joined by points), and its kind or what writes it."""


def _rows(lines: Iterable[Line], *results: object) -> list[tuple[str, ...]]:
    """Write a row per line with a cell per result; a line that is of no result is left out."""

    def cell(found: Any, kind: Kind | Callable[[Any], str]) -> str:  # noqa: ANN401 - as measured
        if callable(kind):
            return kind(found) if found else MISSING
        return format_value(found, kind)

    found = [(name, kind, [measure_at(each, path) for each in results]) for name, path, kind in lines]
    return [
        (name, *(cell(each, kind) for each in values))
        for name, kind, values in found
        if any(each is not None for each in values)
    ]


_SUMMARY: Final[tuple[Line, ...]] = (
    ("aggregated score", "scores", score_cell),
    ("agreement with the verdict", "scores.agreement", "share"),
    ("Krippendorff's alpha", "krippendorff_alpha", "number"),
    ("instances", "scores.num_instances", "count"),
    ("clusters", "scores.num_clusters", "count"),
    ("no score", "scores.num_unscored", "count"),
    ("NA", "scores.num_na", "count"),
    ("votes", "num_votes", "count"),
    ("unscored votes", "scores.unscored_counts.unscored_votes", "count"),
    ("abstentions", "num_abstentions", "count"),
)
_COMPARED: Final[tuple[Line, ...]] = (
    ("references", "num_references", "count"),
    ("compared", "num_compared", "count"),
    ("accuracy", "accuracy", "share"),
    ("within one level", "adjacent_accuracy", "share"),
    ("Cohen's kappa", "cohen_kappa", "number"),
    ("quadratic-weighted kappa", "quadratic_weighted_kappa", "number"),
)
_ERRORS: Final[tuple[Line, ...]] = (
    ("root mean square error", "errors.root_mean_square", "number"),
    ("mean absolute error", "errors.mean_absolute", "number"),
    ("bias", "errors.bias", "difference"),
)


def vote_summary_table(title: str, summary: VoteSummary, notes: Sequence[str]) -> TextTable:
    """Make the table of recorded votes: one measure per row."""
    rows = _rows([line for line in _SUMMARY if line[0] != "clusters" or summary.scores.num_clusters], summary)
    rows += [(f"selected {label!r}", format_count(count)) for label, count in summary.selections]
    if compared := summary.comparison:
        rows += _rows((*_COMPARED, *(_ERRORS if compared.errors else ())), compared)
    return TextTable(
        title=title,
        headers=("measure", f"value [{format_level(summary.level)}]"),
        rows=tuple(rows),
        notes=(*_missing_reasons(summary), *notes),
        kind="scores",
    )


def _missing_reasons(summary: VoteSummary) -> Iterator[str]:
    """Why a measure is missing, where one is, and what unscored votes could change."""
    compared, scores = summary.comparison, summary.scores
    measures: list[object] = [summary.krippendorff_alpha]
    if not isinstance(compared, Missing):
        measures += [compared.cohen_kappa, compared.quadratic_weighted_kappa, compared.errors]
    reasons = dict.fromkeys(measure.reason for measure in measures if isinstance(measure, Missing))
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in reasons)
    if not scores.score and sum(count for _, count in summary.selections) > scores.num_na:
        yield "The options selected have no values, so there is no score."
    elif scores.unscored_counts.unscored_votes and not isinstance(scores.score_if_unscored_0, Missing):
        yield (
            f"Score if every unscored vote were the lowest or the highest level: "
            f"{format_range(scores.score_if_unscored_0, scores.score_if_unscored_1, digits=3)}."
        )
    if not isinstance(compared, Missing) and compared.num_compared < compared.num_references:
        yield (
            f"Accuracy if every instance without a verdict were wrong or right: "
            f"{format_percent(compared.accuracy_if_unscored_0)} to {format_percent(compared.accuracy_if_unscored_1)}."
        )


def labels_table(title: str, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> TextTable:
    """A confusion matrix; its last label stands for what is missing."""
    rows = tuple((label, *map(format_count, row)) for label, row in zip(labels, counts, strict=True))
    return TextTable(title=title, headers=("", *labels), rows=rows, kind="confusion")


def pairs_of_raters_table(
    title: str, pairs: Sequence[RaterPair], panels: Sequence[PanelAgreement], notes: Sequence[str], *, level: float
) -> TextTable:
    """One row per pair, with the agreement of all beneath it."""
    columns = [
        Column("n", "num_compared"),
        Column(f"same option [{format_level(level)}]", "accuracy"),
        Column("Cohen's kappa", "cohen_kappa"),
    ]
    if any(pair.adjacent_accuracy is not None for pair in pairs):
        columns += [
            Column("within one level", "adjacent_accuracy"),
            Column("quadratic-weighted kappa", "quadratic_weighted_kappa"),
        ]
    named = {(f"{pair.first} – {pair.second}", f"{pair.kinds[0]}–{pair.kinds[1]}"): pair for pair in pairs}
    return measures_table(
        title, ("raters", "kind"), named, columns, (*_panel_notes(panels), *_pair_reasons(pairs), *notes), kind="raters"
    )


def _panel_notes(panels: Sequence[PanelAgreement]) -> Iterator[str]:
    for panel in panels:
        alpha = panel.krippendorff_alpha
        shown = f"undefined: {alpha.reason}" if isinstance(alpha, Missing) else format_interval(alpha)
        kind = "" if isinstance(alpha, Missing) else f" ({alpha.weighting}, {alpha.n_units} instances)"
        yield f"Krippendorff's alpha of the {len(panel.raters)} {panel.name}{kind}: {shown}."


def _pair_reasons(pairs: Sequence[RaterPair]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for pair in pairs:
        if isinstance(pair.cohen_kappa, Missing):
            reasons.setdefault(pair.cohen_kappa.reason, []).append(f"{pair.first} – {pair.second}")
    for reason, names in reasons.items():
        yield f"No kappa for {', '.join(names)}: {reason}."


Cells = Sequence[tuple[tuple[str, str], PanelReport]]


def panel_tables(reports: Cells, *, level: float) -> tuple[TextTable, ...]:
    """The panel as a whole and, where there are few cells, judge by judge; nothing without reports.

    Args:
        reports: ``((system, criterion), report)``.
        level: Of the intervals.
    """
    if not reports:
        return ()
    on_errors = all(report.correlated == "errors" for _, report in reports)
    columns = (
        Column("votes", "num_votes"),
        Column("left out", "num_left_out"),
        Column(f"agreement [{format_level(level)}]", "agreement"),
        Column("alpha", "alpha"),
        Column("kappas", _range_of_kappas),
        Column(
            "effective judges" if on_errors else "effective votes",
            lambda report: format_interval(measure_at(report, "effective.effective")),
        ),
    )
    few = len(reports) <= MOST_BY_JUDGE
    notes = (*_notes_on_panels(reports), *(() if few else ("Judge by judge: table.panel(system, criterion).",)))
    title = "What the votes say about the judges"
    together = measures_table(title, ("system", "criterion"), dict(reports), columns, notes, kind="panel")
    return (together, _panels_by_judge(reports)) if few else (together,)


def _range_of_kappas(report: PanelReport) -> str:
    kappas = [pair.kappa.estimate for pair in report.pairs if isinstance(pair.kappa, Agreement)]
    return format_range(min(kappas, default=None), max(kappas, default=None))


def _notes_on_panels(reports: Cells) -> tuple[str, ...]:
    notes = dict.fromkeys(note for _, report in reports for note in report.notes)
    made = sum(report.num_votes for _, report in reports)
    left_out = sum(report.num_left_out or 0 for _, report in reports)
    if left_out:
        notes[f"Of the {made + left_out} draws of the full grid {left_out} were not made."] = None
    return tuple(notes)


def _panels_by_judge(reports: Cells) -> TextTable:
    judges = {(*cell, judge.judge_id): judge for cell, report in reports for judge in report.judges}
    columns = (
        Column("score", "mean"),
        Column("equal draws", lambda judge: format_share(judge.stability.same_option)),
        Column("spread", lambda judge: format_interval(judge.stability.spread)),
        Column("flips", lambda judge: format_share(judge.stability.flip_rate)),
        Column("score without it", "change_without"),
    )
    said = "The last column is the score of the panel without the judge, less that of the whole panel."
    notes = (said,) if any(judge.change_without for judge in judges.values()) else ()
    return measures_table("Judge by judge", ("system", "criterion", "judge"), judges, columns, notes, kind="judges")


def judges_table(agreement: JudgesAgreement, *, level: float) -> TextTable:
    """How far the judges agree on one criterion."""
    return pairs_of_raters_table(
        f"How far the judges agree on {agreement.criterion!r}",
        agreement.pairs,
        (agreement.all_judges,),
        [f"{found.measure}: {found.text}." for found in findings_on_judges(agreement)],
        level=level,
    )


def choices_table(found: Sequence[ChoiceReliability]) -> TextTable:
    """The Grade Score of every judge and prompt on one criterion, with and without the unrelated candidate."""
    several = len({each.judge_id for each in found}) > 1
    level = format_level(float(found[0].grading.level))
    columns = (
        Column("LLM score", lambda each: format_estimate(each.llm_score)),
        Column("choice score", lambda each: format_estimate(each.choice_score)),
        Column(f"Grade Score [{level}]", "grade_score"),
        Column(f"corrected [{level}]", "chance_corrected"),
        Column("answered", lambda each: format_estimate(each.answered, share=True)),
        Column("n", "num_scored"),
    )
    shown, notes = {}, []
    for each in found:
        chosen = f"chosen {format_estimate(each.unrelated.chosen, share=True)}" if each.unrelated else "no"
        shown[*([each.judge_id] if several else []), each.prompt, chosen] = each.grading
        said = finding_on_choices(each)
        notes.append(f"{each.judge_id + ': ' if several else ''}{said.measure}: {said.text}.")
    unscored = (GRADED_ON_OTHERS,) if any(each.grading.unanswered for each in found) else ()
    title = f"The best of several on {found[0].criterion!r}, asked in all rotations"
    labels = (*(["judge"] if several else []), "prompt", "unrelated")
    return measures_table(title, labels, shown, columns, (*notes, *unscored), kind="choices")


def criterion_tables(results: Sequence[CriterionReliability]) -> tuple[TextTable, ...]:
    """All tables on one criterion: the measures of all judges, their flips, and a matrix for each judge.

    Args:
        results: One per judge, all on the same criterion.
    """
    tables = [_measures_table(results)]
    if any(not isinstance(result.flips, Missing) for result in results):
        tables.append(_flips_table(results))
    for result in results:
        if not isinstance(result.people, Missing):
            title = f"What people chose on {result.criterion!r} (rows) and the verdicts of {result.judge_id} (columns)"
            tables.append(labels_table(title, result.people.labels, result.people.confusion_matrix))
    return tuple(tables)


_MEASURES: Final[tuple[Line, ...]] = (
    ("position consistency", "position.position_consistency", "share"),
    (
        "  pairs checked",
        "position",
        lambda found: f"{format_count(found.n_checked)} ({format_count(found.n_lone)} lone)",
    ),
    ("preference fairness (− first, + second)", "position.preference_fairness", "difference"),
    ("  inconsistent towards the first", "position.first_shown_share", "share"),
    ("  p of no preference", "position.p_value", "p_value"),
    ("repeated draws agree", "repetition.pair_agreement", "share"),
    ("  share of the mode", "repetition.mode_share", "share"),
    ("spread of draws", "spread", partial(format_interval, digits=3)),
    ("Grade Score", "grade_score.grade_score", "number"),
    ("  corrected for chance", "grade_score.chance_corrected", "number"),
    ("wins at twice the length", "verbosity.win_probability_at_double.interval", "share"),
    ("  log-odds for each e-fold", "verbosity.slope.interval", "difference"),
    ("  people's preference held fixed", "verbosity_given_people.win_probability_at_double.interval", "share"),
    ("verdicts as people", "people.accuracy", "share"),
    ("  single votes", "people.vote_accuracy", "share"),
    ("  right in every order", "people.all_orders_right", "share"),
    ("  Cohen's kappa", "people.cohen_kappa", "number"),
    ("  quadratic-weighted kappa", "people.quadratic_weighted_kappa", "number"),
    ("  Krippendorff's alpha", "people.krippendorff_alpha", "number"),
    ("overconfidence", "confidences.calibration.overconfidence", "difference"),
    ("  calibration error", "confidences.calibration.expected_calibration_error", "number"),
    ("  Brier score", "confidences.calibration.brier", "number"),
    ("parse rate", "replies.parse_rate", "share"),
    ("  votes", "replies.unscored_counts.votes", "count"),
    ("  unscored votes", "replies.unscored_counts.unscored_votes", "count"),
    ("  unscored verdicts", "replies.unscored_counts.unscored_verdicts", "count"),
    ("  re-asks", "replies.num_reasks", "count"),
    (
        "calls + from the journal",
        "replies.usage",
        lambda usage: f"{format_count(usage.calls)} + {format_count(usage.cached)}",
    ),
    ("  tokens", "replies.usage", lambda usage: format_count(usage.prompt_tokens + usage.completion_tokens)),
    ("  cost", "replies.usage.cost", "money"),
)
"""What judges are shown side by side by: name, path, writer. A row that no judge has is left out."""


def _measures_table(results: Sequence[CriterionReliability]) -> TextTable:
    first = results[0]
    act = "Comparisons" if first.mode == "compare" else "Assessments"
    clusters = "" if first.num_clusters is None else f" of {format_count(first.num_clusters, 'cluster')}"
    return TextTable(
        kind="measures",
        title=(
            f"{act} on {first.criterion!r}: {format_count(first.num_questions, 'question')} on "
            f"{format_count(first.num_instances, 'instance')}{clusters}, "
            f"{format_count(first.num_samples, 'draw')} of each prompt"
        ),
        headers=(f"measure [{format_level(first.level)}]", *(result.judge_id for result in results)),
        rows=tuple(row for row in _rows(_MEASURES, *results) if set(row[1:]) != {MISSING}),
        notes=tuple(note for result in results for note in _notes_on_judge(result, named=len(results) > 1)),
    )


def _notes_on_judge(result: CriterionReliability, *, named: bool) -> list[str]:
    prefix = f"{result.judge_id}: " if named else ""
    said = findings(result)
    notes = [f"{prefix}{found.measure}: {found.text}." for found in said if found.measured]
    if unmeasured := [
        f"{found.measure} ({found.text.removeprefix(NO_NUMBER)})" for found in said if not found.measured
    ]:
        notes.append(f"{prefix}Not measured: {'; '.join(unmeasured)}.")
    notes += [f"{prefix}{note}" for note in readings_note([result.replies.readings])]
    if result.num_missing:
        put = "was" if result.num_missing == 1 else "were"
        notes.append(
            f"{prefix}{format_count(result.num_missing, 'question')} {put} not asked, as a response is missing."
        )
    if not isinstance(result.people, Missing) and result.num_questions > result.num_instances:
        notes.append(
            f"{prefix}The intervals of kappa and alpha take the {format_count(result.num_questions)} questions as "
            "independent; those that share an instance may not be."
        )
    return notes


def _flips_table(results: Sequence[CriterionReliability]) -> TextTable:
    """How often each option is abandoned in another order, and of how many questions that selected it."""

    def cells(result: CriterionReliability) -> list[str]:
        flips = [each.flips for each in result.flips or ()]
        return [f"{format_share(each.flip_rate)} of {format_count(each.n_selected)}" for each in flips]

    labels = next([each.label for each in result.flips] for result in results if result.flips)
    columns = [cells(result) or [MISSING] * len(labels) for result in results]
    return TextTable(
        kind="flips",
        title=f"How often an option of {results[0].criterion!r} is abandoned in another order",
        headers=(f"option [{format_level(results[0].level)}]", *(result.judge_id for result in results)),
        rows=tuple(zip(labels, *columns, strict=True)),
    )

"""Compute one score of a response from its verdicts: that of a rubric, less a penalty for length, or of a checklist."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Final, Literal, get_args

from evenhand.aggregation.verdict import (
    DEFAULT_RULES,
    VoteRules,
    aggregate,
    average_of,
    expected_value,
    mean_covered_mass,
    most_frequent_reason,
    stopped_early,
)
from evenhand.criteria import Checklist, ChecklistItem, Clip, Criterion, Rubric
from evenhand.data.plain import by_key
from evenhand.options import Options, option
from evenhand.votes import UnscoredReason, Verdict, unselected_draws

_HAN = r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA_AND_YI = r"\u3041-\u3096\u309d-\u309f\ua000-\ua4cf"
_KATAKANA = r"\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTHEAST_ASIAN = r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_UNSPACED = re.compile(f"([{_HAN}{_HIRAGANA_AND_YI}])|([{_KATAKANA}]+)|([{_SOUTHEAST_ASIAN}]+)")

LETTERS_A_WORD = 3
"""The letters per word of Thai, Lao, Khmer and Burmese, without vowel and tone marks above and below."""


@dataclass(frozen=True, slots=True)
class RubricScore:
    """The score of a response on a rubric, with its parameters.

    Attributes:
        score: In [0, 1], but for a rubric that is clipped at the mean; None when it is undefined.
        raw_score: The weighted sum before it is divided and clamped; None when nothing is counted.
        counted: The names of the criteria that the score rests on.
        unscored_reason: Why there is no score, when nothing applicable was scored: the most frequent reason of the
            verdicts; ``no_value`` when only criteria were counted that no score can be divided by.
        sections: Of a nested rubric: section name -> its score; None if nothing in it is counted.
    """

    score: float | None
    raw_score: float | None
    counted: tuple[str, ...]
    unscored_reason: UnscoredReason | None
    sections: Mapping[str, float | None]


def rubric_score(
    verdicts: Sequence[Verdict], rubric: Rubric, values: Sequence[float | None] | None = None
) -> RubricScore:
    r"""Return one score in [0, 1] from one verdict per criterion, in the rubric's order.

    With weights :math:`w_i` and the values :math:`v_i` of the options selected (``Verdict.value``, snapped), each as a
    share of its criterion's range (:meth:`~evenhand.criteria.Criterion.share_of_range`; the value itself in [0, 1]):

    .. math:: \mathrm{score} = \frac{\sum w_i v_i}{\sum_{w_i > 0} w_i}
        \quad\text{or, with no positive weight,}\quad 1 + \frac{\sum w_i v_i}{\sum |w_i|},

    clamped to [0, 1]; both sums run over the criteria that are counted. Which form applies depends on the rubric as
    written, never on which criteria happened to be left out. A rubric that is clipped at the mean has the first form
    only, and what lies outside [0, 1] stays (HealthBench, arXiv:2505.08775, section 3).

    In a nested rubric the :math:`v_i` of a section is its own score, the weighted mean :math:`\sum w v / \sum w` of
    what it holds, and the rubric's score is that of what no section holds (PaperBench, arXiv:2504.01848, section 2).

    A criterion that does not apply is left out (``skip``), contributes nothing and stays in the divisor (``zero``),
    contributes ``na_partial`` of a positive weight and nothing of a negative one (``partial``), or counts as its worst
    option: the lowest value for a positive weight, the highest for a negative one (``fail``). An unscored verdict is
    always left out; so is a section in which nothing is counted.

    Degenerate cases: nothing counted, or a divisor of 0 (every weight is 0, or every positive criterion left out),
    gives no score. In a nested rubric that has a weight somewhere, parts that all weigh 0 score 0 together, as in
    PaperBench.

    Args:
        verdicts: One per criterion.
        rubric: Gives weights, values and the NA strategy.
        values: The value of each criterion; by default that of the option that its verdict selects.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> rubric = Rubric(
        ...     name="answer",
        ...     criteria=(yes_no_criterion("correct", "…", weight=10), yes_no_criterion("rude", "…", weight=-5)),
        ... )
        >>> met = Verdict(selected_index=0, value=1.0, aggregated_value=1.0)
        >>> rubric_score([met, met], rubric).score
        0.5
    """
    held: defaultdict[str, list[_Weighed]] = defaultdict(list)
    counted: list[str] = []
    reasons: list[UnscoredReason] = []
    given = [verdict.value for verdict in verdicts] if values is None else values
    for criterion, verdict, own in zip(rubric.criteria, verdicts, given, strict=True):
        value = None if own is None else criterion.share_of_range(own)
        if verdict.na:
            value = _na_value(criterion, rubric) if own is None else value
        elif value is None:
            reasons.append(verdict.unscored_reason or "no_value")
        if value is not None:
            counted.append(criterion.name)
        held[criterion.section if rubric.sections else ""].append((criterion.weight, value))
    sections: dict[str, float | None] = {}
    weights = [*(part.weight for part in rubric.criteria), *(part.weight for part in rubric.sections)]
    nested = bool(rubric.sections) and any(weights)
    for section in reversed(rubric.sections):  # each stands after the one that holds it
        sections[section.name] = _scored(held[section.name], "score", nested=nested)[1]
        held[section.within].append((section.weight, sections[section.name]))
    raw_score, score = _scored(held[""], rubric.clip, nested=nested)
    reason = most_frequent_reason(reasons or ["no_value"])
    return RubricScore(
        score=score,
        raw_score=raw_score,
        counted=tuple(counted),
        unscored_reason=None if score is not None or not (reasons or counted) else reason,
        sections=MappingProxyType({section.name: sections[section.name] for section in rubric.sections}),
    )


_Weighed = tuple[float, float | None]
"""A weight, and the value that it weighs; None if it is left out."""


def _na_value(criterion: Criterion, rubric: Rubric) -> float | None:
    """Return the value of a criterion that does not apply; None if it is left out."""
    if rubric.na_strategy == "skip":
        return None
    if rubric.na_strategy == "zero":
        return 0.0
    if rubric.na_strategy == "partial":
        return rubric.na_partial if criterion.weight >= 0 else 0.0
    values = [option.value for option in criterion.options if option.value is not None]
    if not values:
        return None
    return criterion.share_of_range(min(values) if criterion.weight >= 0 else max(values))


def _scored(parts: Sequence[_Weighed], clip: Clip, *, nested: bool) -> tuple[float | None, float | None]:
    """Return the weighted sum of the parts that are counted, and the resulting score."""
    counted = [(weight, value) for weight, value in parts if value is not None]
    if not counted:
        return None, None
    raw_score = math.fsum(weight * value for weight, value in counted)
    if nested and not any(weight for weight, _ in parts):
        return raw_score, 0.0
    negative_only = clip == "score" and all(weight <= 0 for weight, _ in parts)
    divisor = math.fsum(-weight if negative_only else max(weight, 0.0) for weight, _ in counted)
    if divisor <= 0:
        return raw_score, None
    score = raw_score / divisor + (1.0 if negative_only else 0.0)
    return raw_score, score if clip == "mean" else min(max(score, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class RubricRange:
    """The range of the scores of a rubric.

    Attributes:
        score: The range of the score of one response.
        raw_score: Of its weighted sum.
    """

    score: tuple[float, float]
    raw_score: tuple[float, float]


def rubric_range(rubric: Rubric) -> RubricRange:
    """Return the range of a rubric's scores; if it is clipped at the mean, the range with all criteria counted.

    Example:
        >>> from evenhand.criteria import yes_no_criterion
        >>> criteria = (yes_no_criterion("correct", "…", weight=10), yes_no_criterion("rude", "…", weight=-5))
        >>> rubric_range(Rubric(name="answer", criteria=criteria, clip="mean"))
        RubricRange(score=(-0.5, 1.0), raw_score=(-5.0, 10.0))
    """
    held: defaultdict[str, list[_Ranged]] = defaultdict(list)
    for criterion in rubric.criteria:
        ends = [criterion.share_of_range(score) for score in criterion.score_range]
        ends += [value for value in [_na_value(criterion, rubric)] if value is not None]
        held[criterion.section if rubric.sections else ""].append((criterion.weight, (min(ends), max(ends))))
    for section in reversed(rubric.sections):
        held[section.within].append((section.weight, _range_of_score(held[section.name])))
    sums = [[0.0, weight * low, weight * high] for weight, (low, high) in held[""]]
    low, high = math.fsum(map(min, sums)), math.fsum(map(max, sums))
    if rubric.clip == "mean":
        divisor = math.fsum(max(weight, 0.0) for weight, _ in held[""])
        return RubricRange((low / divisor, high / divisor) if divisor > 0 else (0.0, 1.0), (low, high))
    return RubricRange(_range_of_score(held[""]), (low, high))


_Ranged = tuple[float, tuple[float, float]]
"""A weight, and the range of the weighted value."""


def _range_of_score(parts: Sequence[_Ranged]) -> tuple[float, float]:
    """Return the range in [0, 1] of the score of the parts, over all choices of counted parts."""
    added = [ends for weight, ends in parts if weight > 0]
    taken = [ends for weight, ends in parts if weight < 0]
    ends = added or [(1 - high, 1 - low) for low, high in taken] or [(0.0, 1.0)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return (0.0 if added and taken else low), high


class LengthPenalty(Options):
    r"""A penalty that grows with the number of words w, from 0 at the free budget to its maximum at the cap.

    .. math:: \mathrm{penalty}(w) = p \left(\frac{w - \mathrm{free}}{\mathrm{cap} - \mathrm{free}}\right)^{e}

    0 up to and including the free budget, p from the cap on; a cap at or below the budget is a step right after the
    budget. Words are counted by :func:`count_words`, also where no spaces are written between them.

    Example:
        >>> penalty = LengthPenalty(free_budget=10, max_cap=30, penalty_at_cap=0.4, exponent=2)
        >>> penalty.of_words(20), penalty.of("one two three")
        (0.1, 0.0)
    """

    free_budget: int | float = option(6000, "Words that cost nothing.", ge=0, allow_inf_nan=False)
    max_cap: int | float = option(8000, "Words from which the penalty grows no more.", ge=0, allow_inf_nan=False)
    penalty_at_cap: int | float = option(0.5, "p, the maximum.", ge=0, allow_inf_nan=False)
    exponent: int | float = option(1.6, "e; 1 is linear, larger is lenient near the budget.", gt=0, allow_inf_nan=False)

    def of(self, text: str) -> float:
        """Compute the penalty of a text."""
        return self.of_words(count_words(text))

    def of_words(self, words: int) -> float:
        """Compute the penalty of a number of words."""
        if words <= self.free_budget:
            return 0.0
        if words >= self.max_cap:
            return float(self.penalty_at_cap)
        excess = (words - self.free_budget) / (self.max_cap - self.free_budget)
        return float(self.penalty_at_cap * excess**self.exponent)


def count_words(text: str) -> int:
    """Return how many words a text has: one count for every script, in linear time and without a dictionary.

    Any text between white space is a word. Within it, where a script writes no spaces, the default word
    boundaries of Unicode count (Unicode Standard Annex 29, section 4): every Chinese character and every hiragana is a
    word, and so is a run of katakana. That annex leaves Thai, Lao, Khmer and Burmese to dictionaries; there every three
    letters are taken for a word, marks not counted. A Chinese word of two characters counts two, as in word processors:
    choose budgets by the language of the responses.

    >>> count_words("It isn't 3.5 – yet."), count_words("今天天气很好。"), count_words("GPT-4は犬とコーヒーが好き")
    (5, 6, 8)
    >>> count_words("ฉันชอบกินข้าว")  # I, like, eat, rice
    4
    """
    return sum(_count_piece(piece) for piece in text.split())


def _count_piece(piece: str) -> int:
    count, end, between = 0, 0, []
    for found in _UNSPACED.finditer(piece):
        between.append(piece[end : found.start()])
        end = found.end()
        letters = sum(unicodedata.category(character)[0] in "LN" for character in found[3] or "")
        count += math.ceil(letters / LETTERS_A_WORD) if found[3] else 1
    if not end:
        return 1
    return count + sum(any(map(str.isalnum, part)) for part in (*between, piece[end:]))


Answer = Literal["yes", "no", "na"]
ConfidenceLevel = Literal["no_10", "no_30", "unsure", "yes_70", "yes_90"]

CONFIDENT: Final = 0.6
"""The least confidence of a yes: that of the level ``yes_70``."""


def confidence_level(confidence: float) -> ConfidenceLevel:
    """Return the confidence in five steps: < 0.2, < 0.4, < 0.6, < 0.8, and above.

    Example:
        >>> confidence_level(0.19), confidence_level(0.2), confidence_level(0.8)
        ('no_10', 'no_30', 'yes_90')
    """
    level: ConfidenceLevel = get_args(ConfidenceLevel)[bisect((0.2, 0.4, CONFIDENT, 0.8), confidence)]
    return level


ItemReason = UnscoredReason | Literal["prerequisite", "prerequisite_unanswered"]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result of one item of a checklist.

    Attributes:
        item: The item.
        verdict: The verdict on its question, with all votes.
        answer: What it counts, after its prerequisites; None when it is unanswered.
        confidence: The probability of yes; 0 for an item that its prerequisite fails. None if nothing but a single
            plain answer is known, and for an item that is NA or unanswered.
        covered_mass: The mean of P(yes) + P(no) over the votes that have log-probabilities; None without any.
        reason: Why it is unanswered; or ``prerequisite``, which makes it a no for any answer to its own question.
        judged: The answer to its own question, without regard to prerequisites.
        possible: What it would count if every unscored vote had said no, and if every one had said yes.
        possible_confidences: The confidence in these two cases.
    """

    item: ChecklistItem
    verdict: Verdict
    answer: Answer | None
    judged: Answer | None
    confidence: float | None
    covered_mass: float | None
    possible: tuple[Answer | None, Answer | None]
    possible_confidences: tuple[float, float]
    reason: ItemReason | None = None

    @property
    def confidence_level(self) -> ConfidenceLevel | None:
        """The confidence in five steps."""
        return None if self.confidence is None else confidence_level(self.confidence)

    @property
    def category(self) -> str:
        """The category of the item; ``ungrouped`` if it has none."""
        return self.item.category or UNGROUPED

    @property
    def met(self) -> float | None:
        """1 for yes, 0 for no; None if there is neither."""
        return _MET.get(self.answer)

    @property
    def possible_met(self) -> tuple[float, float] | None:
        """The same if every unscored vote had said no, and yes; None if the item does not apply."""
        low, high = map(_MET.get, self.possible)
        return None if low is None or high is None else (low, high)

    @property
    def sure_within(self) -> tuple[float, float] | None:
        """The limits of its confidence; None too if an answer that was scored has none."""
        lacking = self.possible_met is None or (self.answer is not None and self.confidence is None)
        return None if lacking else self.possible_confidences


def item_results(
    verdicts: Sequence[Verdict], checklist: Checklist, *, rules: VoteRules = DEFAULT_RULES
) -> tuple[ItemResult, ...]:
    """Compute the result of each item from one verdict per item, in the checklist's order.

    Args:
        verdicts: A verdict of value 1 is yes, of value 0 no.
        checklist: The checklist of the items.
        rules: The rules of the verdicts, and the least mass that log-probabilities may cover.
    """
    own = [_own_result(*asked, rules) for asked in zip(checklist.items, verdicts, strict=True)]
    needed = {item.name: item.prerequisites for item in checklist.items}
    met = met_answers({each.item.name: each.judged for each in own}, needed)
    least, greatest = (met_answers({each.item.name: each.possible[end] for each in own}, needed) for end in (0, 1))
    results = []
    for each in own:
        name = each.item.name
        answer, ends = met[name], (least[name], greatest[name])
        reason: ItemReason | None = None
        confidence = each.confidence if answer in {"yes", "no"} else None
        if answer == "no" and each.judged != "no":
            reason, confidence = "prerequisite", 0.0
        elif answer is None:
            reason = "prerequisite_unanswered" if each.judged == "yes" else each.verdict.unscored_reason or "no_match"
        sure = (0.0, 1.0) if "na" in ends else each.possible_confidences
        low, high = (one if end == mine else 0.0 for one, end, mine in zip(sure, ends, each.possible, strict=True))
        results.append(
            replace(
                each,
                answer=answer,
                confidence=confidence,
                reason=reason,
                possible=ends,
                possible_confidences=(low, high),
            )
        )
    return tuple(results)


def _own_result(item: ChecklistItem, verdict: Verdict, rules: VoteRules) -> ItemResult:
    """Return the result of an item on its own question (yes is option 0), without regard to prerequisites.

    A yes has to be earned, as in the table of levels: where votes have log-probabilities that cover at least
    ``rules.min_mass``,

    - a vote for yes with P(yes) / (P(yes) + P(no)) below 0.6 counts as a no under the panel's rule, and
    - under the rules that weigh all votes (``majority``, ``weighted``, and any under expected scoring) the item's
      confidence, the mean of theirs, must be 0.6 or more too, so that no item is both a yes and ``unsure``.

    A no stays a no at any probability: no vote said yes. Without log-probabilities the panel's rule alone decides.

    Confidence: a vote whose log-probabilities cover at least ``rules.min_mass`` counts P(yes) / (P(yes) + P(no)), any
    other one 1 or 0 for what it answers. They are averaged as all votes are: over the draws of an order, the orders of
    a judge, and the judges (weighted where the panel's rule is ``weighted``). There is none for a single vote without
    log-probabilities (one answer says nothing about how sure it is), and where draws could stop early, whose mean is
    biased by that.
    """
    votes, criterion, panel_rule = verdict.votes, item.as_criterion(), rules.panel_rule("binary")
    values = [option.value for option in criterion.options]
    known = [
        expected_value(vote.probabilities, values, min_mass=rules.min_mass)
        if vote.scored and vote.probabilities is not None
        else None
        for vote in votes
    ]
    expected = rules.scoring == "expected"  # which counts the probabilities themselves
    weighs = (expected or panel_rule not in {"any", "unanimous"}) and any(each is not None for each in known)
    doubted = [
        vote.selected_index == YES and each is not None and each < CONFIDENT
        for vote, each in zip(votes, known, strict=True)
    ]
    earned = verdict
    if any(doubted) and not expected:
        refused = {"selected_index": NO, "selected_label": None, "value": 0.0}
        heard = zip(votes, doubted, strict=True)
        earned = rules.aggregate(
            [vote.model_copy(update=refused) if doubts else vote for vote, doubts in heard], criterion
        )
    n_scored, stopped = sum(vote.scored for vote in votes), stopped_early(votes)
    center, ends = None, (0.0, 1.0)
    if n_scored and (weighs or not stopped):
        mean = aggregate(
            votes,
            criterion.model_copy(update={"scale": "ordinal"}),  # whose rules average the values: probabilities here
            "weighted_mean" if panel_rule == "weighted" else "mean",
            on_position_bias=rules.on_position_bias,
            min_mass=rules.min_mass,
        )
        center = mean.aggregated_value
        ends = ends if center is None else mean.bounds or (center, center)

    def earns(value: float | None, confidence: float | None) -> Answer:
        doubtful = weighs and confidence is not None and confidence < CONFIDENT
        return "no" if value is None or value <= 0.5 or doubtful else "yes"

    answer: Answer | None = None
    if verdict.na:
        answer = "na"
    elif verdict.value is not None:
        answer = earns(earned.value, center)
    possible: tuple[Answer, Answer] = ("no", "yes") if answer is None else (answer, answer)
    if earned.bounds is not None and not verdict.na:
        possible = (earns(earned.bounds[0], ends[0]), earns(earned.bounds[1], ends[1]))
    return ItemResult(
        item=item,
        verdict=verdict,
        answer=answer,
        judged=answer,
        confidence=None if stopped or (n_scored == 1 and not any(each is not None for each in known)) else center,
        covered_mass=mean_covered_mass(unselected_draws(votes), criterion),
        possible=possible,
        possible_confidences=ends,
    )


def met_answers(
    answers: Mapping[str, Answer | None], prerequisites: Mapping[str, Sequence[str]], *, transitive: bool = True
) -> dict[str, Answer | None]:
    """Apply prerequisites to the answers: an item is met if it and all its prerequisites are met.

    A yes needs a yes to its own question and no failed prerequisite. What is unknown stays unknown, and
    never becomes a no (Kleene's three-valued *and*):

    - a prerequisite that is not met makes the item a no, also where its own question has no answer;
    - a prerequisite without an answer leaves a yes unanswered, and a no a no;
    - a prerequisite that is NA does not apply, and so cannot fail: it is left out;
    - an item that is NA itself stays NA.

    Args:
        answers: Item -> the answer to its own question, None if there is none.
        prerequisites: Item -> the items that it needs, without a circle; an item that is not named needs none.
        transitive: A prerequisite fails too if one of its own does. Without it only its own answer counts, as where
            all ancestors are listed (so do Zhuge et al., 2024, "Agent-as-a-Judge").

    Returns:
        One answer an item, in the order of ``answers``.

    Example:
        >>> met_answers({"runs": "no", "fast": "yes"}, {"fast": ["runs"]})
        {'runs': 'no', 'fast': 'no'}
        >>> met_answers({"runs": None, "fast": "yes", "short": "no"}, {"fast": ["runs"], "short": ["runs"]})
        {'runs': None, 'fast': None, 'short': 'no'}
    """
    met: dict[str, Answer | None] = {}
    for name in TopologicalSorter({name: prerequisites.get(name, ()) for name in answers}).static_order():
        own = answers[name]
        needed = [(met if transitive else answers)[each] for each in prerequisites.get(name, ())]
        if own != "na" and (own == "no" or "no" in needed):
            own = "no"
        elif own == "yes" and None in needed:
            own = None
        met[name] = own
    return {name: met[name] for name in answers}


_MET: Mapping[str | None, float] = {"yes": 1.0, "no": 0.0}
YES, NO = 0, 1

PrimaryScore = Literal["pass_rate", "weighted_score", "normalized_score"]
UNGROUPED = "ungrouped"
"""The category of items without a category."""


@dataclass(frozen=True, slots=True)
class ChecklistScore:
    """The scores of one checklist. Every score is over the answered items only.

    Attributes:
        yes: Items answered yes.
        no: Items answered no.
        na: Items that do not apply.
        unanswered: Items without an answer; they are never counted as no.
        weighted_score: Σ w·yes / Σ w over the answered items; None when that is 0 / 0.
        normalized_score: The mean confidence over the answered items; None when there are none.
        primary: The name of the primary score.
    """

    yes: int
    no: int
    na: int = 0
    unanswered: int = 0
    weighted_score: float | None = None
    normalized_score: float | None = None
    primary: PrimaryScore = "pass_rate"

    @property
    def answered(self) -> int:
        """Items answered yes or no."""
        return self.yes + self.no

    @property
    def pass_rate(self) -> float | None:
        """Yes / answered; None when nothing is answered."""
        return self.yes / self.answered if self.answered else None

    @property
    def scaled_score_1_5(self) -> float | None:
        """The pass rate on a scale from 1 to 5: 4 · pass_rate + 1."""
        return None if self.pass_rate is None else 4 * self.pass_rate + 1

    @property
    def primary_score(self) -> float | None:
        """The score that ``primary`` names; None if it is undefined."""
        score: float | None = getattr(self, self.primary)
        return score


def score_answers(
    answers: Sequence[Answer | None],
    weights: Sequence[float] | None = None,
    *,
    confidences: Sequence[float | None] | None = None,
    primary: PrimaryScore = "pass_rate",
) -> ChecklistScore:
    """Return the scores of one checklist from the answers to its items.

    An item's confidence is the probability of yes among yes and no. An item without one counts as 1 or 0 in
    ``normalized_score``, which therefore equals the pass rate when no item has one.

    Args:
        answers: Per item ``"yes"``, ``"no"``, ``"na"``, or None for an item without an answer.
        weights: Per item, finite and >= 0; None weighs all alike.
        confidences: Per item in [0, 1], or None if log-probabilities were not given.
        primary: The score that ``primary_score`` is.

    Example:
        >>> score = score_answers(["yes", "no", None, "yes"], [100, 50, 10, 50])
        >>> score.pass_rate, score.weighted_score, score.unanswered
        (0.6666666666666666, 0.75, 1)
    """
    weights = [1.0] * len(answers) if weights is None else weights
    confidences = [None] * len(answers) if confidences is None else confidences
    met: list[tuple[float, float, float]] = []
    for answer, weight, confidence in zip(answers, weights, confidences, strict=True):
        if answer in {"yes", "no"}:
            passed = 1.0 if answer == "yes" else 0.0
            met.append((passed, weight, passed if confidence is None else confidence))
    total = math.fsum(weight for _, weight, _ in met)
    return ChecklistScore(
        yes=sum(answer == "yes" for answer in answers),
        no=sum(answer == "no" for answer in answers),
        na=sum(answer == "na" for answer in answers),
        unanswered=sum(answer is None for answer in answers),
        weighted_score=math.fsum(passed * weight for passed, weight, _ in met) / total if total > 0 else None,
        normalized_score=average_of([confidence for *_, confidence in met]) if met else None,
        primary=primary,
    )


def score_items(
    items: Sequence[ItemResult], *, primary: PrimaryScore = "pass_rate", end: int | None = None
) -> ChecklistScore:
    """Return the scores of the items of one checklist.

    There is no normalized score if the draws of an answered item could stop early: it is a mean over draws
    (:mod:`evenhand.aggregation.verdict`).

    Args:
        items: One result per item.
        primary: The score that ``primary_score`` is.
        end: None for the answers as they are; 0 as if every missing answer had been no, 1 as if it had been yes. An
            unanswered item, and every unscored vote on an item that is answered, counts so; prerequisites are looked
            at after that. For any values of the missing answers, each score lies between these two.
    """
    answers = [result.answer if end is None else result.possible[end] for result in items]
    confidences = [result.confidence if end is None else result.possible_confidences[end] for result in items]
    weights = [result.item.weight for result in items]
    score = score_answers(answers, weights, confidences=confidences, primary=primary)
    stopped = any(result.answer in {"yes", "no"} and stopped_early(result.verdict.votes) for result in items)
    return replace(score, normalized_score=None) if stopped else score


def category_pass_rates(answers: Sequence[Answer | None], categories: Sequence[str | None]) -> dict[str, float | None]:
    """Return category -> yes / answered, in the order of first appearance; None if nothing is answered.

    Example:
        >>> category_pass_rates(["yes", "no", "no"], ["style", "facts", "style"])
        {'style': 0.5, 'facts': 0.0}
    """
    grouped = by_key((category or UNGROUPED, answer) for answer, category in zip(answers, categories, strict=True))
    return {category: score_answers(group).pass_rate for category, group in grouped.items()}

"""Compute one score from the verdicts on a rubric's criteria, and the penalty of long responses."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evenhand.aggregation.verdict import most_frequent_reason
from evenhand.criteria import Clip, Criterion, Rubric
from evenhand.errors import InvalidInputError
from evenhand.options import Options, option
from evenhand.votes import UnscoredReason, Verdict

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
        na: The names of the criteria that do not apply.
        unscored: The names of the criteria without a number; they are left out under every strategy.
        unscored_reason: Why there is no score, when nothing applicable was scored: the most frequent reason of the
            verdicts; ``no_value`` when only criteria were counted that no score can be divided by.
        sections: Of a nested rubric: section name -> its score; None if nothing in it is counted.
    """

    score: float | None
    raw_score: float | None
    counted: tuple[str, ...]
    na: tuple[str, ...]
    unscored: tuple[str, ...]
    unscored_reason: UnscoredReason | None
    sections: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))


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
    always left out, and named; so is a section in which nothing is counted.

    Degenerate cases: nothing counted, or a divisor of 0 (every weight is 0, or every positive criterion left out),
    gives no score. In a nested rubric that has a weight somewhere, parts that all weigh 0 score 0 together, as in
    PaperBench.

    Args:
        verdicts: One per criterion.
        rubric: Gives weights, values and the NA strategy.
        values: The value of each criterion; by default that of the option that its verdict selects.

    Raises:
        InvalidInputError: If there are more or fewer verdicts than criteria.

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
    if len(verdicts) != len(rubric.criteria):
        raise InvalidInputError(
            f"{len(verdicts)} verdicts for the {len(rubric.criteria)} criteria of the rubric {rubric.name!r}; "
            "give one per criterion, an unscored one where there is none"
        )
    held: defaultdict[str, list[_Weighed]] = defaultdict(list)
    counted: list[str] = []
    na: list[str] = []
    unscored: list[str] = []
    reasons: list[UnscoredReason] = []
    given = [verdict.value for verdict in verdicts] if values is None else values
    for criterion, verdict, own in zip(rubric.criteria, verdicts, given, strict=True):
        value = None if own is None else criterion.share_of_range(own)
        if verdict.na:
            na.append(criterion.name)
            value = _na_value(criterion, rubric) if own is None else value
        elif value is None:
            unscored.append(criterion.name)
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
    reason: UnscoredReason | None = None
    if score is None:
        reason = most_frequent_reason(reasons) if reasons else "no_value" if counted else None
    return RubricScore(
        score=score,
        raw_score=raw_score,
        counted=tuple(counted),
        na=tuple(na),
        unscored=tuple(unscored),
        unscored_reason=reason,
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

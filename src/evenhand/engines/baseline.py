"""The embedded default judge: transparent text statistics, no model, no network. The floor that a real judge must beat.

The quality of a response, in [0, 1], with the statistics of :func:`text_statistics`:

    with references     q = min(1, (0.6 · words + 0.4 · characters) / 0.6) · (0.7 + 0.3 · completeness) · faults
    without             q = (0.3 · words + 0.7 · completeness) · faults
    faults              (1 − repetition) · (½ + ½ · script) · ½ if copied · ⅕ if refused; 0 if there is no word

Two people who give the same answer share some three fifths of their words, so that much counts as full similarity.
Without a reference overlap with the context says little, and whether there is an answer at all says most.

An assessment, or an item of a checklist, selects the option whose value is nearest to q (of two equally near ones the
lower); a binary one therefore says yes above ½. A comparison of two maps ½ + 4 · (q₁ − q₂) onto the options in the
same way: with a tie offered, a difference below 1/16 is one. The best of several: the highest q. Options without
values count as evenly spaced from 1 down to 0 in the criterion's order, for this choice only; no score comes of it.

It never reads the criterion's description, so it judges every criterion alike, and it never selects an NA option. It
chooses in the question's own order, so its position bias is zero; equally good responses are ordered by a hash of their
texts, so that neither system is preferred; of two that are the same text, the one shown first is taken where no
tie is offered. References are those of the question, and the context whose
name says that it is one ("reference", "ground truth", "gold").
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from anyio.lowlevel import checkpoint
from rapidfuzz import fuzz

from evenhand.criteria import Criterion
from evenhand.engines.base import (
    SHEET_STAGES,
    FreeEngine,
    Request,
    Spoken,
    SpokenItem,
    items_of,
    phrase,
    phrase_sheet,
    question_of,
)
from evenhand.numbers import format_percent
from evenhand.question import Presentation, Question
from evenhand.votes import Completion

FULL_SIMILARITY = 0.6
DIFFERENCE_GAIN = 4.0
REFUSAL_FACTOR = 0.2
COPY_FACTOR = 0.5
BASELINE_ID = "baseline-text-statistics"
_SAME = 1e-9
_REFERENCE_NAME = re.compile(r"reference|ground[ _-]?truth|\bgold(?:en)?\b")


class BaselineEngine(FreeEngine):
    """An engine that counts words: the embedded judge without a model. Deterministic, free, the same in every order."""

    @property
    def judge_id(self) -> str:
        """``baseline-text-statistics``: what it is, wherever its verdicts are shown."""
        return BASELINE_ID

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            RejectedRequestError: If the request has no question and no items.
        """
        await checkpoint()
        if request.stage in SHEET_STAGES:
            items = items_of(request, self.judge_id)
            answers = [
                SpokenItem(item.number, _answer(item.question, item.presentation), _reasons(item.question))
                for item in items
            ]
            return phrase_sheet(request, answers, model=self.judge_id)
        question, presentation = question_of(request, self.judge_id)
        reasons = _reasons(question, presentation.responses)
        return phrase(request, _answer(question, presentation), reasons, model=self.judge_id)


def _answer(question: Question, presentation: Presentation) -> Spoken:
    own_index = choose_option(question, first_shown=presentation.order[0])
    return Spoken(presentation.answers[presentation.to_own.index(own_index)])


def response_statistics(question: Question, response: str) -> TextStatistics:
    """Return the statistics by which a response to this question is judged."""
    named = {name: _REFERENCE_NAME.search(name.casefold()) is not None for name in question.context}
    references = tuple(text for name, text in question.context.items() if named[name])
    context = tuple(text for name, text in question.context.items() if not named[name])
    return text_statistics(response, question.references + references, context)


def quality(statistics: TextStatistics) -> float:
    """Return the quality in [0, 1], by the formula at the top of this module."""
    if statistics.empty:
        return 0.0
    if statistics.with_reference:
        similarity = 0.6 * statistics.words + 0.4 * statistics.characters
        base = min(1.0, similarity / FULL_SIMILARITY) * (0.7 + 0.3 * statistics.completeness)
    else:
        base = 0.3 * statistics.words + 0.7 * statistics.completeness
    faults = (1 - statistics.repetition) * (0.5 + 0.5 * statistics.script)
    if statistics.copied:
        faults *= COPY_FACTOR
    if statistics.refused:
        faults *= REFUSAL_FACTOR
    return base * faults


def choose_option(question: Question, *, first_shown: int = 0) -> int:
    """Return the option that the baseline selects, in the criterion's own order.

    Args:
        question: The question.
        first_shown: The response shown first. It only counts between two responses that are the same text where no
            tie is offered: there the one shown first is taken, so that the two orders make a tie.
    """
    qualities = [quality(response_statistics(question, response)) for response in question.responses]
    positions = option_positions(question.criterion)
    if not question.compares:
        return _nearest(positions, qualities[0], prefer_high=False)
    if question.mode == "compare":
        target = min(1.0, max(0.0, 0.5 + DIFFERENCE_GAIN * (qualities[0] - qualities[1])))
        return _nearest(positions, target, prefer_high=_first_preferred(*question.responses, first_shown=first_shown))
    best = max(qualities)
    tied = [place for place, value in enumerate(qualities) if value >= best - _SAME]
    return max(tied, key=lambda place: _digest(question.responses[place]))


def option_positions(criterion: Criterion) -> dict[int, float]:
    """Map the index of each option that is not NA to how good it is, from 0 to 1.

    That is the share of the criterion's range that its value is, or, where values are missing, its place from 1 down to
    0.
    """
    scored = [index for index, option in enumerate(criterion.options) if not option.na]
    values = [criterion.options[index].value for index in scored]
    spaced = [1 - place / (len(scored) - 1) for place in range(len(scored))]
    low, high = criterion.score_range
    given = [(value - low) / (high - low) for value in values if value is not None]
    return dict(zip(scored, given if len(given) == len(scored) else spaced, strict=True))


def _nearest(positions: Mapping[int, float], target: float, *, prefer_high: bool) -> int:
    """Return the option nearest to the target; of two equally near ones the higher or the lower."""
    nearest = min(abs(value - target) for value in positions.values())
    tied = [index for index, value in positions.items() if abs(value - target) <= nearest + _SAME]
    return (max if prefer_high else min)(tied, key=lambda index: positions[index])


def _first_preferred(first: str, second: str, *, first_shown: int) -> bool:
    """Toss a coin for two responses of equal quality: it falls the other way when they change places."""
    if first == second:
        return first_shown == 0
    return _digest(first) > _digest(second)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _reasons(question: Question, responses: Sequence[str] | None = None) -> str:
    lines = ["Text statistics only; the meaning of the response and of the criterion was not read."]
    kind = "Option" if question.mode == "choose" else "Response"
    for place, response in enumerate(question.responses if responses is None else responses):
        name = f"{kind} {question.place_name(place)}" if question.compares else "The response"
        lines.append(f"{name}: {_describe(response_statistics(question, response))}")
    return "\n".join(lines)


def _describe(statistics: TextStatistics) -> str:
    if statistics.empty:
        return "it has no word, so its quality is 0.00."
    against = "the nearest reference" if statistics.with_reference else "the context"
    findings = [
        f"word overlap with {against} {statistics.words:.2f}",
        f"character overlap {statistics.characters:.2f}",
        f"completeness {statistics.completeness:.2f}",
        f"repetition {statistics.repetition:.2f}",
    ]
    if statistics.script < 1:
        findings.append(f"{format_percent(1 - statistics.script)} of the letters are in another script")
    if statistics.copied:
        findings.append("it copies the context")
    if statistics.refused:
        findings.append("it declines to answer")
    return f"{', '.join(findings)}; quality {quality(statistics):.2f}."


ECHO_WEIGHT = 0.25
NUMBER_WEIGHT = 2.0
FULL_ANSWER_WORDS = 40

_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
_REFUSAL = re.compile(
    r"\b(?:i(?: a|')m (?:very |so |really )?sorry|i apologi[sz]e|my apologies|as an? (?:ai|artificial|language)\b"
    r"|i(?: can(?:no|')t| can not| am (?:not able|unable)|'m (?:not able|unable)| won't| will not| must decline"
    r"| do(?:n't| not) (?:know|have (?:enough|access|the ability|any information)))\b"
    r"|(?:sorry,? (?:but )?(?:i|we)\b)|(?:no answer|not sure)\b)"
)
_REFUSAL_OPENING = 160
_REFUSAL_WORDS = 60
_SCRIPT_SHARE = 0.1
# Words that carry grammar and little else, in English; other languages keep all of their words.
_GRAMMAR = """
    a about after all also am an and any are as at be because been before being but by can could did do does
    doing for from had has have he her here him his how i if in into is it its just me more most my no nor not
    of on once only or other our out over own s same she should so some such t than that the their them then
    there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your
"""
_FUNCTION_WORDS = frozenset(_GRAMMAR.split())


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """The counts behind the quality of one response; each number in [0, 1].

    Attributes:
        words: Weighted overlap of content words with the nearest reference (F with recall counted double), or, without
            references, the overlap coefficient with the context.
        characters: The same for character trigrams, which see inflected and compound forms.
        completeness: Length in words relative to the nearest reference, or to 40 words on a log scale, at most 1.
        repetition: The share of the word trigrams that repeat an earlier one.
        script: The share of the letters in a script that the references (or the context) use.
        copied: The response is a copy of the context.
        refused: The response declines to answer, and the nearest reference does not.
        empty: The response has no word.
        with_reference: Whether there were references to compare with.
    """

    words: float
    characters: float
    completeness: float
    repetition: float
    script: float
    copied: bool
    refused: bool
    empty: bool
    with_reference: bool


@lru_cache(maxsize=4096)
def text_statistics(response: str, references: tuple[str, ...], context: tuple[str, ...]) -> TextStatistics:
    """Compute the statistics of a response, against the reference that it overlaps with most, or against the context.

    A word of the question weighs a quarter, because repeating the question answers nothing; a word with a digit weighs
    double, because a wrong number is more often a wrong answer than a wrong word is.

    Args:
        response: The text to describe.
        references: Known good answers; blank ones are ignored.
        context: The context of the response.
    """
    given = [reference for reference in references if tokenize(reference)]
    candidates = [_against_reference(response, reference, context) for reference in given]
    if candidates:
        return max(candidates, key=lambda found: found.words + found.characters)
    return _against_context(response, context)


def _against_reference(response: str, reference: str, context: tuple[str, ...]) -> TextStatistics:
    known = _words_of_question(context)
    ours, theirs = tokenize(response), tokenize(reference)
    words = f_measure(_bag(_content(ours), known), _bag(_content(theirs), known))
    characters = f_measure(_grams(_content(ours), known), _grams(_content(theirs), known))
    return TextStatistics(
        words=words,
        characters=characters,
        completeness=min(1.0, len(ours) / len(theirs)),
        repetition=repetition(ours),
        script=_script_share(response, reference),
        copied=False,
        refused=is_refusal(response) and not is_refusal(reference),
        empty=not ours,
        with_reference=True,
    )


def _against_context(response: str, context: tuple[str, ...]) -> TextStatistics:
    ours, theirs = tokenize(response), tokenize("\n".join(context))
    nothing: frozenset[str] = frozenset()
    return TextStatistics(
        words=overlap_coefficient(_bag(_content(ours), nothing), _bag(_content(theirs), nothing)),
        characters=overlap_coefficient(_grams(_content(ours), nothing), _grams(_content(theirs), nothing)),
        completeness=min(1.0, math.log1p(len(ours)) / math.log1p(FULL_ANSWER_WORDS)),
        repetition=repetition(ours),
        script=_script_share(response, "\n".join(context)),
        copied=any(fuzz.ratio(response.strip(), text.strip(), score_cutoff=95) > 0 for text in context if text.strip()),
        refused=is_refusal(response),
        empty=not ours,
        with_reference=False,
    )


def tokenize(text: str) -> list[str]:
    """Return words in compatibility form and lower case; scripts without spaces give overlapping character pairs.

    >>> tokenize("The Café's 2 cats")
    ['the', 'café', 's', '2', 'cats']
    >>> tokenize("今日は雨")
    ['今日', '日は', 'は雨']
    """
    tokens: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        position = 0
        for run in _UNSPACED.finditer(word):
            if run.start() > position:
                tokens.append(word[position : run.start()])
            characters = run.group()
            tokens.extend(characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
            position = run.end()
        if position < len(word):
            tokens.append(word[position:])
    return tokens


def f_measure(ours: Mapping[str, float], theirs: Mapping[str, float], *, beta: float = 2.0) -> float:
    """Return F-beta of two weighted bags: (1 + β²)·P·R / (β²·P + R), with P over ``ours`` and R over ``theirs``.

    0 when nothing is shared. β = 2 counts recall double: a response may say more than the reference.

    >>> f_measure({"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 2}, beta=1)  # P = 2/2, R = 2/4
    0.6666666666666666
    """
    shared = _shared_mass(ours, theirs)
    if not shared:
        return 0.0
    precision, recall = shared / sum(ours.values()), shared / sum(theirs.values())
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def overlap_coefficient(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float:
    """Return the shared mass of two bags over that of the smaller one (Szymkiewicz–Simpson); 0 when either is empty.

    >>> overlap_coefficient({"a": 1, "b": 1}, {"a": 1, "c": 1, "d": 1})  # 1 / 2
    0.5
    """
    shared = _shared_mass(ours, theirs)
    return shared / min(sum(ours.values()), sum(theirs.values())) if shared else 0.0


def repetition(tokens: list[str]) -> float:
    """Return the share of the word trigrams that occurred before; 0 for fewer than four words.

    >>> repetition("so it is so it is".split())  # of 4 trigrams, the last repeats the first
    0.25
    """
    trigrams = list(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return 1 - len(set(trigrams)) / len(trigrams) if len(trigrams) > 1 else 0.0


def is_refusal(text: str) -> bool:
    """Return whether a text opens, in English, by declining to answer, and does not go on at length.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("Sorry is a five-letter word.")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").strip()
    if _REFUSAL.search(folded[:_REFUSAL_OPENING]) is None:
        return False
    return len(_WORD.findall(folded)) <= _REFUSAL_WORDS


def _words_of_question(context: tuple[str, ...]) -> frozenset[str]:
    """Return the words of the shortest text of the context, which is taken to be the question; the rest is sources."""
    texts = [text for text in context if text.strip()]
    return frozenset(tokenize(min(texts, key=len))) if texts else frozenset()


def _content(tokens: list[str]) -> list[str]:
    """Return the words that carry content, or all words if none carries content."""
    return [token for token in tokens if token not in _FUNCTION_WORDS] or tokens


def _weight(token: str, known: frozenset[str]) -> float:
    informative = NUMBER_WEIGHT if any(character.isdigit() for character in token) else 1.0
    return informative * (ECHO_WEIGHT if token in known else 1.0)


def _bag(tokens: Iterable[str], known: frozenset[str]) -> dict[str, float]:
    bag: dict[str, float] = {}
    for token in tokens:
        bag[token] = bag.get(token, 0.0) + _weight(token, known)
    return bag


def _grams(tokens: Iterable[str], known: frozenset[str]) -> dict[str, float]:
    bag: dict[str, float] = {}
    for token in tokens:
        padded, weight = f" {token} ", _weight(token, known)
        for start in range(len(padded) - 2):
            gram = padded[start : start + 3]
            bag[gram] = bag.get(gram, 0.0) + weight
    return bag


def _shared_mass(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float:
    return sum(min(mass, theirs[key]) for key, mass in ours.items() if key in theirs)


def _script_share(response: str, witness: str) -> float:
    """Return the share of the response's letters in scripts that hold at least a tenth of the witness's letters."""
    expected, found = (Counter(map(_script, filter(str.isalpha, text))) for text in (witness, response))
    if not expected or not found:
        return 1.0
    usual = {script for script, count in expected.items() if count >= _SCRIPT_SHARE * expected.total()}
    return sum(count for script, count in found.items() if script in usual) / found.total()


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """Return the script named first in the character's Unicode name; Japanese scripts count as Chinese."""
    name = unicodedata.name(character, "UNKNOWN").partition(" ")[0]
    return "CJK" if name in {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else name

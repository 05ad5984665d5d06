"""What can be counted about a response without reading it: overlap, completeness, repetition, refusal, script."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

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
_FUNCTION_WORDS = """
    a about after all also am an and any are as at be because been before being but by can could did do does
    doing for from had has have he her here him his how i if in into is it its just me more most my no nor not
    of on once only or other our out over own s same she should so some such t than that the their them then
    there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your
"""


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
    """The statistics of a response, against the reference that it overlaps with most, or against the context.

    A word of the question weighs a quarter, because repeating the question answers nothing; a word with a digit weighs
    double, because a wrong number is more often a wrong answer than a wrong word is.

    Args:
        response: The text to describe.
        references: Known good answers; blank ones are ignored.
        context: What the response answers.
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
    """Words in compatibility form and lower case; scripts written without spaces give overlapping character pairs.

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
    """F-beta of two weighted bags: (1 + β²)·P·R / (β²·P + R), with P over ``ours`` and R over ``theirs``.

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
    """The shared mass of two bags over the mass of the smaller one (Szymkiewicz–Simpson); 0 when either is empty.

    >>> overlap_coefficient({"a": 1, "b": 1}, {"a": 1, "c": 1, "d": 1})  # 1 / 2
    0.5
    """
    shared = _shared_mass(ours, theirs)
    return shared / min(sum(ours.values()), sum(theirs.values())) if shared else 0.0


def repetition(tokens: list[str]) -> float:
    """The share of the word trigrams that occurred before; 0 for fewer than four words.

    >>> repetition("so it is so it is".split())  # of 4 trigrams, the last repeats the first
    0.25
    """
    trigrams = list(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return 1 - len(set(trigrams)) / len(trigrams) if len(trigrams) > 1 else 0.0


def is_refusal(text: str) -> bool:
    """Whether a text opens, in English, by declining to answer, and does not go on at length.

    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("Sorry is a five-letter word.")
    (True, False)
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").strip()
    if _REFUSAL.search(folded[:_REFUSAL_OPENING]) is None:
        return False
    return len(_WORD.findall(folded)) <= _REFUSAL_WORDS


def _words_of_question(context: tuple[str, ...]) -> frozenset[str]:
    """The words of the shortest text of the context, which is taken to be the question; the rest is source material."""
    texts = [text for text in context if text.strip()]
    return frozenset(tokenize(min(texts, key=len))) if texts else frozenset()


def _content(tokens: list[str]) -> list[str]:
    """The words that carry content; all of them when none would be left."""
    return [token for token in tokens if token not in _function_words()] or tokens


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    return frozenset(_FUNCTION_WORDS.split())


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
    """The share of the response's letters in a script that makes up at least a tenth of the witness's letters."""
    expected = _scripts(witness)
    found = _scripts(response)
    total, letters = sum(expected.values()), sum(found.values())
    if not total or not letters:
        return 1.0
    usual = {script for script, count in expected.items() if count >= _SCRIPT_SHARE * total}
    return sum(count for script, count in found.items() if script in usual) / letters


def _scripts(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for character in text:
        if character.isalpha():
            script = _script(character)
            counts[script] = counts.get(script, 0) + 1
    return counts


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    """The script as the character's Unicode name begins; the scripts of Japanese count as one with Chinese."""
    name = unicodedata.name(character, "UNKNOWN").partition(" ")[0]
    return "CJK" if name in {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"} else name

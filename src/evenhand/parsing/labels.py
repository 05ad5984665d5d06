"""The offered labels, compiled once, and the recognition of a short text as one of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from rapidfuzz import fuzz

from evenhand.errors import InvalidInputError
from evenhand.parsing.cleaning import plain_characters, without_markup

_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:\d+(?:\.\d+|,\d{1,2})?|\.\d+))(?:\s?(?:/|out of|of)\s?(?P<top>\d+(?:[.,]0+)?))?"
    r"(?:\s?(?:stars?|points?))?",
    re.ASCII | re.IGNORECASE,
)
_SHARED_WORD = re.compile(
    r"(assistant|option|answer|response|output|choice|model|candidate|system|summary|translation|version|agent|story|"
    r"essay|solution|reply|completion|level|grade|category|class|item|label|text)[ _-]?\W?(\w{1,3})\W?",
    re.IGNORECASE,
)
_EDGE_KEPT = frozenset("+-<>=%#≥≤±$€£&@^/")
_SEPARATORS = re.compile(r"(?<=[^\W_])[\s_\-‐‑–—]+(?=[^\W_])|\s+")
_QUOTING = re.compile(r"[\"'“”„«»‹›「」『』‘’‚`()\[\]{}|]+")
_SPELLINGS_OF_NA = ("n/a", "na", "n.a", "notapplicable")  # as comparison_key writes them
_QUESTION = re.compile(r"[?？][\s*_`\"'”’)\]]*\Z")
_DASHED = re.compile(r"(?:[‐-―]\s*|-\s+)\d")  # a minus sign, or punctuation before a number
_GRADES = re.compile(r"scor|rating|grade|level|value")
_NEGATION = re.compile(r"(?:un|in|im|ir|il|dis|non|not)[ -]?")
_WORD = re.compile(r"[^\W_]+")
_LONGEST = 400
"""The most characters of a label: a text longer than this and than twice the longest label is not a label."""

NEAR_RATIO = 90.0
NEAR_LEAD = 5.0
NEAR_WORD_RATIO = 80.0  # a letter too many or too few, but no other letter, in a word of four
SHORTEST_NEAR = 5  # below this a single slip is another word


def strip_edges(text: str) -> str:
    """Return the text without the quotes, brackets, emphasis and punctuation of any script around it."""
    edges = {
        character
        for character in {*text} - {*_EDGE_KEPT}
        if not character.isalnum() and (unicodedata.category(character)[0] in "PSZC" or character in "`^~|<>")
    }
    return text.strip("".join(edges)) if edges else text


def folded(text: str) -> str:
    """Return the text without its case; dotted and dotless i are one letter, as for ``re.IGNORECASE``.

    >>> folded("İYİ") == folded("ıyı") == "iyi"
    True
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text.casefold().replace("i\u0307", "i").replace("ı", "i"))


def comparison_key(text: str) -> str:
    """Return what counts of a short text when it is compared with a label: its letters and digits, in one case.

    >>> comparison_key("**Very_Good!**") == comparison_key("very good")
    True
    >>> comparison_key("-1") == comparison_key("1")
    False
    """
    stripped = strip_edges(without_markup(plain_characters(text)).strip())
    if not stripped:
        signs = folded(re.sub(r"\s+", "", text))
        return signs.strip(".。\"'“”„«»‘’") or signs
    key = _QUOTING.sub(" ", folded(stripped)).strip() or folded(stripped)
    if key[0] == "<" and key[-1] == ">":
        key = key.strip("<> ") or key
    joiner = " " if any(map(str.isdigit, key)) else ""
    if key[0] in "+-" and joiner:
        return key[0] + _SEPARATORS.sub(joiner, key[1:].strip())
    return _SEPARATORS.sub(joiner, key).strip()


def _number(text: str) -> Decimal | None:
    """Return the number that the whole text is, or None. A comma may be the decimal sign: "4,0" is 4."""
    found = _NUMBER.fullmatch(text.strip())
    return None if found is None or found["top"] else Decimal(found["number"].replace(",", ".")).normalize() + 0


@dataclass(frozen=True)
class OfferedLabels:
    """The labels of one question.

    Attributes:
        given: The labels as offered.
        by_key: Comparison key -> index.
        by_number: Number -> index, for labels that are numbers.
        by_bare: ``b`` -> index of ``Response B``, where the other labels share the word.
        signs: The labels without a letter or a digit.
    """

    given: tuple[str, ...]
    by_key: dict[str, int]
    by_number: dict[Decimal, int]
    by_bare: dict[str, int]
    signs: tuple[str, ...]

    def find(self, text: str, *, name: str = "") -> tuple[int, Literal["exact", "normalized"]] | None:
        """Return the index of the label that the whole text is, and how, or None.

        Args:
            text: A whole reply, the value of a field, the content of a tag, or what a line says.
            name: The name of the field or the tag, or the lead-in: the 2 of "Score: 2" does not name ``Response 2``.
        """
        stripped = text.strip()
        if stripped in self.given:
            return self.given.index(stripped), "exact"
        too_long = len(stripped) > max(_LONGEST, 2 * max(map(len, self.given)))
        if too_long or _QUESTION.search(stripped) or self.may_be_signed(stripped):
            return None
        key = comparison_key(stripped)
        index = self.by_key.get(key)
        if index is None and (not _GRADES.search(name.lower()) or _GRADES.search(self.given[0].lower())):
            index = self.by_bare.get(key)
        if index is None and self.by_number:
            index = self._of_number(strip_edges(without_markup(plain_characters(stripped))))
        another = index is not None and self.signs and self._holds_another_sign(stripped, index)
        return None if index is None or another else (index, "normalized")

    def _holds_another_sign(self, text: str, index: int) -> bool:
        """Return whether a text also holds another label that is a sign, which comparison ignores: "👍 or Neutral"."""
        return any(sign in text and sign not in self.given[index] for sign in self.signs)

    def may_be_signed(self, text: str) -> bool:
        """Return whether a dash before a number may be a sign, where some labels are negative numbers: "Score - 1"."""
        return bool(self.by_number) and min(self.by_number) < 0 and _DASHED.search(text) is not None

    def _of_number(self, text: str) -> int | None:
        """Return the label that a number is; "4/5" and "4 out of 5" are 4 if 5 is the top of the scale."""
        found = _NUMBER.fullmatch(text)
        if found is None or (found["top"] and _number(found["top"]) != max(self.by_number)):
            return None
        value = _number(found["number"])
        return None if value is None else self.by_number.get(value)

    def near(self, text: str) -> int | None:
        """Return the label that the whole text misspells, or None.

        At least nine in ten characters agree (``rapidfuzz.fuzz.ratio``), clearly more than with any other label. It is
        compared word by word too: the number of words is the same, every word begins with the same letter, short words
        and numbers are equal, and no word differs from its counterpart by a negation.
        """
        stripped = strip_edges(without_markup(plain_characters(text)))
        longest = max(map(len, self.given))
        if len(stripped) < SHORTEST_NEAR or len(stripped) > longest * 1.3 + 2 or _QUESTION.search(text):
            return None
        read = _WORD.findall(folded(stripped))
        candidates = [_WORD.findall(folded(label)) for label in self.given]
        scores = [fuzz.ratio(" ".join(read), " ".join(words)) for words in candidates]
        best = scores.index(max(scores))
        runner_up = max((score for index, score in enumerate(scores) if index != best), default=0.0)
        words = candidates[best]
        if scores[best] < NEAR_RATIO or scores[best] - runner_up < NEAR_LEAD or len(" ".join(words)) < SHORTEST_NEAR:
            return None
        if self._holds_another_sign(text, best):
            return None
        return best if len(read) == len(words) and all(map(_same_word, read, words)) else None

    def begins_another(self, index: int) -> bool:
        """Return whether another label begins with this one, which a reply that was cut off may have meant."""
        label = self.given[index].casefold()
        return any(other != index and text.casefold().startswith(label) for other, text in enumerate(self.given))


def _same_word(read: str, word: str) -> bool:
    if read == word:
        return True
    if len(word) < SHORTEST_NEAR - 1 or any(character.isdigit() for character in read + word):
        return False
    if _NEGATION.sub("", read, count=1) == word or _NEGATION.sub("", word, count=1) == read:
        return False
    return read[0] == word[0] and fuzz.ratio(read, word) >= NEAR_WORD_RATIO


@lru_cache(maxsize=1024)
def compile_labels(labels: tuple[str, ...]) -> OfferedLabels:
    """Check and compile the labels.

    Raises:
        InvalidInputError: No label, a blank one, or two that are equal but for case and space.
    """
    named = ["".join(folded(label).split()) for label in labels]
    if not labels or not all(named) or len(set(named)) < len(named):
        raise InvalidInputError(
            f"labels is {list(labels)!r}; give one at least, each with a text that no other has but for case and space"
        )
    plain = [without_markup(plain_characters(label)) or label.strip() for label in labels]
    numbers = [_number(label) for label in plain]
    by_number = {value: index for index, value in enumerate(numbers) if value is not None}
    if len(by_number) < sum(value is not None for value in numbers):
        by_number = {}  # "4" and "4.0" are different labels here: only their spelling distinguishes them
    keys = [comparison_key(label) for label in labels]
    by_key = {key: index for index, key in enumerate(keys) if key and keys.count(key) == 1}
    offered = [by_key[key] for key in ("n/a", "notapplicable") if key in by_key]
    if len(offered) == 1:  # "NA" alone may be a name
        by_key = {**dict.fromkeys(_SPELLINGS_OF_NA, offered[0]), **by_key}
    signs = tuple(label.strip() for label in labels if not any(map(str.isalnum, label)))
    return OfferedLabels(labels, by_key, by_number, _bare_names(plain), signs)


def _bare_names(plain: Sequence[str]) -> dict[str, int]:
    """Return what is left of labels such as "Response A" and "Response B" without the word that they share."""
    parts = [_SHARED_WORD.fullmatch(label) for label in plain]
    named = [(folded(part[1]), folded(part[2]), index) for index, part in enumerate(parts) if part]
    if len(named) < 2 or len({word for word, _, _ in named}) > 1 or len({bare for _, bare, _ in named}) < len(named):
        return {}
    taken = {comparison_key(label) for label in plain}
    return {bare: index for _, bare, index in named if bare not in taken}

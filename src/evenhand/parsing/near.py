"""A misspelling of exactly one label."""

from __future__ import annotations

import re

from rapidfuzz import fuzz

from evenhand.parsing.labels import Labels, folded, strip_edges

RATIO = 90.0  # as good as the same
LEAD = 5.0  # and clearly ahead of the runner-up
WORD_RATIO = 75.0
SHORTEST = 5  # below this a single slip is another word
_WORD = re.compile(r"[^\W_]+")


def near_label(text: str, labels: Labels) -> int | None:
    """The label that the whole text misspells, or None.

    Word by word, so that what turns a label into its opposite or its neighbour is never taken for a slip: the number of
    words is the same, every word begins with the same letter, and short words and numbers are equal.
    """
    stripped = strip_edges(text)
    longest = max(map(len, labels.given))
    if len(stripped) < SHORTEST or len(stripped) > longest * 1.3 + 2:
        return None
    read = " ".join(_WORD.findall(folded(stripped)))
    scores = []
    for index, label in enumerate(labels.given):
        candidate = " ".join(_WORD.findall(folded(label)))
        scores.append((fuzz.ratio(read, candidate), -index, candidate))
    scores.sort(reverse=True)
    best = scores[0]
    if best[0] < RATIO or len(best[2]) < SHORTEST or (len(scores) > 1 and best[0] - scores[1][0] < LEAD):
        return None
    return -best[1] if _same_words(read.split(), best[2].split()) else None


def _same_words(read: list[str], label: list[str]) -> bool:
    return len(read) == len(label) and all(map(_same_word, read, label))


def _same_word(read: str, word: str) -> bool:
    if read == word:
        return True
    if len(word) < SHORTEST - 1 or any(character.isdigit() for character in read + word):
        return False
    return read[0] == word[0] and fuzz.ratio(read, word) >= WORD_RATIO

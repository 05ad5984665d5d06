"""Words: which one a token of a model's vocabulary is, and how many a text has, in any script."""

from __future__ import annotations

import math
import re
import unicodedata

_HAN = r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA_AND_YI = r"\u3041-\u3096\u309d-\u309f\ua000-\ua4cf"
_KATAKANA = r"\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_SOUTHEAST_ASIAN = r"\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_UNSPACED = re.compile(f"([{_HAN}{_HIRAGANA_AND_YI}])|([{_KATAKANA}]+)|([{_SOUTHEAST_ASIAN}]+)")

LETTERS_A_WORD = 3
"""Of Thai, Lao, Khmer and Burmese, vowel and tone marks above and below aside."""

_SURROUNDINGS = " \t\r\n\u00a0\u0120\u010a\u2581\"'`*_.,:;!()[]{}<>“”„‘’«»「」『』（）【】。，、：；！…"
"""What may stand around a word within a token: white space and its marks in vocabularies (Ġ, Ċ, ▁), quotes,
Markdown, punctuation."""


def spoken_word(token: str) -> str:
    r"""The word of a token in one case, without white space, quotes, Markdown and punctuation around it.

    Every surface form of an answer has the same word: its masses may be summed.

    >>> {spoken_word(token) for token in ("Yes", " yes", "YES", "\u0120Yes", "\u2581yes", '"yes', "**Yes", "yes.")}
    {'yes'}
    """
    return token.strip(_SURROUNDINGS).casefold()


def count_words(text: str) -> int:
    """How many words a text has: one count for every script, in linear time and without a dictionary.

    What white space separates is a word, whatever it is. Within it, where a script writes no spaces, the default word
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

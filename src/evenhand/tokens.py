"""What word a token of a model's vocabulary is, whatever is written around it."""

from __future__ import annotations

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

"""The probability of each answer at the token with which a judge gave its verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from evenhand.parsing.reading import Span, field_span
from evenhand.votes import TokenLogprob

_SURROUNDINGS = " \t\r\n\u00a0\u0120\u010a\u2581\"'`*_.,:;!()[]{}<>“”„‘’«»「」『』（）【】。，、：；！…"
"""The signs around a word within a token: white space and its marks in vocabularies (Ġ, Ċ, ▁), quotes,
Markdown, punctuation."""

_BYTES = re.compile(r"<0x[0-9A-Fa-f]{2}>|bytes:(?:\\x[0-9A-Fa-f]{2})+")
"""The parts of a character as servers write them."""
_ABOVE_ONE = 1e-6
_MOST_LISTED = 1.02  # servers round to two or three digits
_TRUTH = {"true": "yes", "false": "no"}


def option_probabilities(
    logprobs: Sequence[TokenLogprob],
    answers: Sequence[str],
    chosen: int,
    *,
    text: str,
    span: Span | None = None,
) -> tuple[float, ...] | None:
    """Return the probability mass of each answer at the token of the verdict.

    That token is, in the stretch of the reply that ``span`` names, the first one whose word is the chosen answer.
    Without a span it is looked for in the one JSON field of the reply that is named like a verdict; or else it is the
    last such token of the whole reply, since the verdict comes after the reasons.

    The mass of an answer is summed over every surface form among the likeliest tokens there (see
    :func:`spoken_word`); the generated token counts once, whether the server lists it or not. An
    answer is only read where one token is the whole of it: a token that merely begins an answer ("Part" of "Partly
    met") counts for none, and where the chosen answer itself took several tokens there is no result. Codes of one
    character avoid that.

    Args:
        logprobs: Per generated token.
        answers: The judge's names for the options, as shown.
        chosen: The index of the answer that was read from the reply.
        text: The reply. Its tokens may be written as the vocabulary writes them, be bytes of characters, and have
            hidden thinking before or special tokens around them.
        span: Character offsets of the verdict in ``text``.

    Returns:
        One mass per answer, not normalised: their sum is the covered mass, at most 1. None if no such token can be
        found, or one word does not distinguish two answers. None too if a number there is not a log-probability
        (none at all, NaN, above 0 by more than rounding, alternatives that sum to more than 1), if the generated
        token has no probability, and if the tokens end before the reply does: a list that is cut says nothing about
        the answers that it lost.

    >>> from math import log
    >>> top = (("Yes", log(0.5)), (" yes", log(0.25)), ("No", log(0.125)))
    >>> masses = option_probabilities([TokenLogprob(token="Yes", logprob=log(0.5), top=top)], ["yes", "no"], 0,
    ...                               text="Yes")
    >>> [round(mass, 9) for mass in masses]
    [0.75, 0.125]
    """
    span = span or (field_span(text) if "{" in text else None)
    words = _words(answers, by_truth=span is not None)
    if words is None:
        return None
    extents = _extents([entry.token for entry in logprobs], text)
    spoken = [spoken_word(entry.token) for entry in logprobs]
    naming = [place for place, word in enumerate(spoken) if words.get(word) == chosen]
    if span is not None:
        start, end = span
        held = [place for place in naming if (at := extents[place]) is not None and at[0] < end and start < at[1]][:1]
    else:  # the last one that is no article, if no words of the reply come after all tokens
        covered = max((extent[1] for extent in extents if extent is not None), default=0)
        complete = not any(character.isalnum() for character in text[covered:])
        held = [place for place in naming if complete and not _is_article(logprobs[place].token)][-1:]
    return answer_masses(logprobs[held[0]], words, len(answers)) if held else None


def _words(answers: Sequence[str], *, by_truth: bool) -> Mapping[str, int] | None:
    """Map each word to the answer that it names; None if a word names two answers, or an answer has none."""
    words = {spoken_word(answer): index for index, answer in enumerate(answers)}
    if len(words) < len(answers) or "" in words:
        return None
    if by_truth:
        words |= {truth: words[word] for truth, word in _TRUTH.items() if word in words and truth not in words}
    return words


def _is_article(token: str) -> bool:
    word = spoken_word(token)
    return len(word) == 1 and word.isalpha() and word in token


def answer_masses(entry: TokenLogprob, words: Mapping[str, int], count: int) -> tuple[float, ...] | None:
    """Return the mass of each answer at one token; None if that cannot be, see :func:`option_probabilities`."""
    listed = list(dict.fromkeys(entry.top))
    numbers = [entry.logprob, *(logprob for _, logprob in listed)]
    if any(number is None or not number <= _ABOVE_ONE for number in numbers):
        return None
    if math.fsum(math.exp(number) for number in numbers[1:] if number is not None) > _MOST_LISTED:
        return None
    if entry.token not in {token for token, _ in listed}:
        listed.append((entry.token, entry.logprob))
    masses = [0.0] * count
    for token, logprob in listed:
        index = words.get(spoken_word(token))
        if index is not None and logprob is not None:
            masses[index] += math.exp(min(0.0, logprob))
    generated, covered = words.get(spoken_word(entry.token)), math.fsum(masses)
    if covered <= 0 or (generated is not None and masses[generated] <= 0):
        return None
    return tuple(mass / max(1.0, covered) for mass in masses)


def _extents(tokens: Sequence[str], text: str) -> list[Span | None]:
    """Return the extent of the word of each token in the text; None for a token without a word, or of other texts.

    Tokens may be written as the vocabulary writes them: only the characters of words are compared, and only those in
    ASCII if others are split over several tokens.
    """
    for kept in (_is_of_a_word, lambda character: character.isascii() and _is_of_a_word(character)):
        places = [place for place, character in enumerate(text) if kept(character)]
        words = ["".join(filter(kept, _BYTES.sub("", token))) for token in tokens]
        start = "".join(words).rfind("".join(text[place] for place in places))
        if places and start >= 0:
            edges = [min(max(0, edge - start), len(places)) for edge in accumulate(map(len, words), initial=0)]
            return [(places[a], places[b - 1] + 1) if a < b else None for a, b in pairwise(edges)]
    return [None] * len(tokens)


def _is_of_a_word(character: str) -> bool:
    return character not in _SURROUNDINGS and not character.isspace()


def spoken_word(token: str) -> str:
    r"""Return the word of a token in one case, without white space, quotes, Markdown and punctuation around it.

    Every surface form of an answer has the same word: its masses may be summed.

    >>> {spoken_word(token) for token in ("Yes", " yes", "YES", "\u0120Yes", "\u2581yes", '"yes', "**Yes", "yes.")}
    {'yes'}
    """
    return token.strip(_SURROUNDINGS).casefold()

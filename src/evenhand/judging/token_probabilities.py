"""The probability of each answer at the token with which a judge gave its verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

from evenhand.parsing.reading import field_span
from evenhand.votes import TokenLogprob

_SURROUNDINGS = " \t\r\n\u00a0\u0120\u010a\u2581\"'`*_.,:;!()[]{}<>“”„‘’«»「」『』（）【】。，、：；！…"
"""The signs around a word within a token: white space and its marks in vocabularies (Ġ, Ċ, ▁), quotes,
Markdown, punctuation."""


Span = tuple[int, int]

_BYTES = re.compile(r"<0x[0-9A-Fa-f]{2}>|bytes:(?:\\x[0-9A-Fa-f]{2})+")
"""The parts of a character as servers write them."""
_ABOVE_ONE = 1e-6
_MOST_LISTED = 1.02  # servers round to two or three digits
_TRUTH = {"true": "yes", "false": "no"}


def option_probabilities(
    logprobs: Sequence[TokenLogprob],
    answers: Sequence[str],
    chosen: int | None,
    *,
    text: str,
    span: Span | None = None,
) -> tuple[float, ...] | None:
    """Return the probability mass of each answer at the token of the verdict.

    That token is, in the stretch of the reply that ``span`` names, the first one whose word is the chosen answer.
    Without a span it is looked for in the one JSON field of the reply that is named like a verdict; or else it is the
    last such token of the whole reply, since the verdict comes after the reasons. Where nothing was chosen it is the
    first token that names an answer itself or among its alternatives.

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
    places = range(len(logprobs)) if span is None else _tokens_at(logprobs, text, span)
    place = _verdict_token(logprobs, places, words, chosen, last=span is None)
    if place is None or (span is None and _end_early(logprobs, text)):
        return None
    return _masses(logprobs[place], words, len(answers))


def _words(answers: Sequence[str], *, by_truth: bool) -> Mapping[str, int] | None:
    """Map each word to the answer that it names; None if a word names two answers, or an answer has none."""
    words = {spoken_word(answer): index for index, answer in enumerate(answers)}
    if len(words) < len(answers) or "" in words:
        return None
    if by_truth:
        words |= {truth: words[word] for truth, word in _TRUTH.items() if word in words and truth not in words}
    return words


def _verdict_token(
    logprobs: Sequence[TokenLogprob], places: Sequence[int], words: Mapping[str, int], chosen: int | None, *, last: bool
) -> int | None:
    if chosen is not None:
        naming = [place for place in places if words.get(spoken_word(logprobs[place].token)) == chosen]
        if last:  # among prose an "a" is no A
            naming = [place for place in naming if not _is_article(logprobs[place].token)]
        return naming[-1 if last else 0] if naming else None
    for place in places:
        if any(spoken_word(token) in words for token, _ in _candidates(logprobs[place])):
            return place
    return None


def _is_article(token: str) -> bool:
    word = spoken_word(token)
    return len(word) == 1 and word.isalpha() and word in token


def _end_early(logprobs: Sequence[TokenLogprob], text: str) -> bool:
    """Return whether words of the reply come after the last token, so that the verdict may be among them."""
    extents = _extents([entry.token for entry in logprobs], text)
    covered = max((extent[1] for extent in extents if extent is not None), default=0)
    return any(character.isalnum() for character in text[covered:])


def _candidates(entry: TokenLogprob) -> Iterator[tuple[str, float | None]]:
    """Return the likeliest tokens at a place, each once, the generated one among them."""
    yield from dict.fromkeys(entry.top)
    if entry.token not in {token for token, _ in entry.top}:
        yield entry.token, entry.logprob


def _masses(entry: TokenLogprob, words: Mapping[str, int], count: int) -> tuple[float, ...] | None:
    listed = [logprob for _, logprob in dict.fromkeys(entry.top)]
    if any(number is None or not number <= _ABOVE_ONE for number in (entry.logprob, *listed)):
        return None
    if math.fsum(math.exp(number) for number in listed if number is not None) > _MOST_LISTED:
        return None
    terms: list[list[float]] = [[] for _ in range(count)]
    for token, logprob in _candidates(entry):
        index = words.get(spoken_word(token))
        if index is not None and logprob is not None:
            terms[index].append(math.exp(min(0.0, logprob)))
    masses = [math.fsum(parts) for parts in terms]
    generated = words.get(spoken_word(entry.token))
    if generated is not None and masses[generated] <= 0:
        return None
    covered = math.fsum(masses)
    if covered <= 0:
        return None
    return tuple(mass / max(1.0, covered) for mass in masses)


def _tokens_at(logprobs: Sequence[TokenLogprob], text: str, span: Span) -> list[int]:
    """Return the tokens that cover a stretch of the text."""
    start, end = span
    return [
        place
        for place, extent in enumerate(_extents([entry.token for entry in logprobs], text))
        if extent is not None and extent[0] < end and start < extent[1]
    ]


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

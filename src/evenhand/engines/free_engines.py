"""Engines without a model or a network: the baseline, which counts words, and the simulated judge with known faults.

Both are free, deterministic, and word a choice alike at each stage of the flow.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from json.encoder import encode_basestring
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from anyio.lowlevel import checkpoint
from pydantic import ConfigDict
from rapidfuzz import fuzz
from scipy.special import expit, logit, ndtr

from evenhand.criteria import Criterion
from evenhand.engines.base import Engine, Request, SheetItem
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.numbers import format_percent
from evenhand.options import option
from evenhand.question import Presentation, Question
from evenhand.votes import Completion, TokenLogprob

SHEET_STAGES = frozenset({"sheet", "sheet_reask"})
_TOKEN = re.compile(r"\s*\S+|\s+")


class Spoken(NamedTuple):
    """A piece of a reply.

    Attributes:
        text: The text of the piece.
        shares: If the piece names an answer: the probability of each answer there. Empty if that is not known.
    """

    text: str
    shares: tuple[tuple[str, float], ...] = ()

    def in_json(self) -> Spoken:
        """Return the piece as it stands within the quotes of a JSON string."""
        return Spoken(_escaped(self.text), tuple((_escaped(answer), share) for answer, share in self.shares))


class SpokenItem(NamedTuple):
    """The answer to one question of a sheet: its number, the answer, and what it rests on."""

    number: int
    answer: Spoken
    reasons: str


def asked_in(request: Request, judge_id: str) -> tuple[SheetItem, ...]:
    """Return the questions behind a request, as shown: those of a sheet, or one.

    Raises:
        RejectedRequestError: If the request carries only messages, which a judge without a model cannot read.
    """
    if request.items:
        return request.items
    if request.question is None or request.presentation is None:
        raise RejectedRequestError(
            f"the judge {judge_id!r} has no model and cannot read messages; give the request its question and "
            "presentation, or the items of its sheet, or use a judge with a model",
            cause="no_question",
        )
    return (SheetItem(1, request.question, request.presentation),)


def phrase(request: Request, answer: Spoken, reasons: str, *, model: str) -> Completion:
    """Return the reply that gives an answer, in the form that the request's stage expects.

    Args:
        request: The request.
        answer: The answer chosen, as the judge is to name it.
        reasons: The reasons for the choice.
        model: The model that answers.
    """
    if request.stage == "assessment":
        pieces = [Spoken(reasons)]
    elif request.stage == "summary":
        pieces = [Spoken(f"{model} prefers the verdict {answer.text!r}.")]
    elif request.stage == "one_step" and request.response_schema is not None:
        fields: dict[str, Spoken] = {"assessment": Spoken(reasons), "selected_option": answer}
        properties = [name for name in request.response_schema.get("properties", ()) if name in fields]
        pieces = _object({name: fields[name] for name in properties} | fields)
    elif request.stage == "one_step" or (
        request.stage == "verdict" and request.reasoning and request.response_schema is None
    ):
        pieces = [Spoken(f"{reasons}\nSelected option: "), answer]
    else:
        pieces = [answer]
    return _completion(request, pieces, model)


def phrase_sheet(request: Request, answers: Sequence[SpokenItem], *, model: str) -> Completion:
    """Return the reply that answers the questions of a sheet, with reasons if the request asks for them."""
    pieces = [Spoken('{"answers": [')]
    for place, item in enumerate(answers):
        if place:
            pieces.append(Spoken(", "))
        reasons = {"reasoning": Spoken(item.reasons)} if request.reasoning else {}
        pieces.extend(_object({"index": item.number, **reasons, "answer": item.answer}))
    pieces.append(Spoken("]}"))
    return _completion(request, pieces, model)


def _object(fields: Mapping[str, Spoken | int]) -> list[Spoken]:
    """Return the pieces of a JSON object."""
    pieces: list[Spoken] = []
    for place, (name, value) in enumerate(fields.items()):
        opening = f'{", " if place else "{"}"{name}": '
        if isinstance(value, int):
            pieces.append(Spoken(f"{opening}{value}"))
        else:
            pieces += [Spoken(f'{opening}"'), value.in_json(), Spoken('"')]
    return [*pieces, Spoken("}")]


def _escaped(text: str) -> str:
    return encode_basestring(text)[1:-1]


def _completion(request: Request, pieces: Sequence[Spoken], model: str) -> Completion:
    text = "".join(piece.text for piece in pieces)
    known = request.logprobs > 0 and any(piece.shares for piece in pieces)
    logprobs = tuple(_token_logprobs(pieces, request.logprobs)) if known else None
    return Completion(text=text, finish_reason="stop", model=model, logprobs=logprobs)


def _token_logprobs(pieces: Sequence[Spoken], most: int) -> Iterator[TokenLogprob]:
    """Return the tokens of the text: an answer is one, with the space before it; each other word is certain."""
    space = ""
    for place, piece in enumerate(pieces):
        if piece.shares:
            yield _answer_logprob(piece, space, most)
            space = ""
            continue
        text = piece.text
        if place + 1 < len(pieces) and pieces[place + 1].shares:
            text, space = text.rstrip(), text[len(text.rstrip()) :]
        for word in _TOKEN.findall(text):
            yield TokenLogprob(token=word, logprob=0.0, top=((word, 0.0),))


def _answer_logprob(piece: Spoken, space: str, most: int) -> TokenLogprob:
    """Return the whole answer as one token, with the answers as the likeliest tokens at its place."""
    ranked = sorted(piece.shares, key=lambda answer: -answer[1])
    top = tuple((space + answer, math.log(share)) for answer, share in ranked[:most] if share > 0)
    return TokenLogprob(token=space + piece.text, logprob=math.log(dict(piece.shares)[piece.text]), top=top)


class FreeEngine(Engine):
    """An engine whose replies cost nothing and need neither connections nor threads: it is its own judge."""

    @property
    def judge_id(self) -> str:
        """The judge's name in every vote and score."""
        raise NotImplementedError

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request."""
        raise NotImplementedError

    concurrency: ClassVar[int] = 8
    """The number of requests that may wait: few, since it answers at once."""

    def to_judge(self) -> Self:
        """Return the engine itself."""
        return self

    def settings(self) -> dict[str, Any]:
        """Return the options that are plain values, by which results tell engines apart."""
        return {name: value for name, value in self if isinstance(value, str | int | float | None)}

    def identity(self) -> Mapping[str, Any] | None:
        """Return None: its replies cost nothing."""
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold nothing."""
        yield


FULL_SIMILARITY = 0.6
DIFFERENCE_GAIN = 4.0
REFUSAL_FACTOR = 0.2
COPY_FACTOR = 0.5
BASELINE_ID = "baseline-text-statistics"
_SAME = 1e-9
_REFERENCE_NAME = re.compile(r"reference|ground[ _-]?truth|\bgold(?:en)?\b")


class BaselineEngine(FreeEngine):
    """An engine that counts words: the judge without a model. The floor that a real judge must beat.

    The quality of a response, in [0, 1], with the statistics of `text_statistics`:

        with references     q = min(1, (0.6 · words + 0.4 · characters) / 0.6) · (0.7 + 0.3 · completeness) · faults
        without             q = (0.3 · words + 0.7 · completeness) · faults
        faults              (1 − repetition) · (½ + ½ · script) · ½ if copied · ⅕ if refused; 0 if there is no word

    Two people who give the same answer share some three fifths of their words, so that much counts as full similarity.
    Without a reference overlap with the context says little, and whether there is an answer at all says most.

    An assessment, or an item of a checklist, selects the option whose value is nearest to q (of two equally near ones
    the lower); a binary one therefore says yes above ½. A comparison of two maps ½ + 4 · (q₁ − q₂) onto the options in
    the same way: with a tie offered, a difference below 1/16 is one. The best of several: the highest q. Options
    without values count as evenly spaced from 1 down to 0 in the criterion's order, for this choice only; no score
    comes of it.

    It never reads the criterion's description, so it judges every criterion alike, and it never selects an NA option.
    It chooses in the question's own order, so its position bias is zero; equally good responses are ordered by a hash
    of their texts, so that neither system is preferred; of two that are the same text, the one shown first is taken
    where no tie is offered. References are those of the question, and the context whose name says that it is one
    ("reference", "ground truth", "gold").
    """

    judge_id: ClassVar[str] = BASELINE_ID

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            RejectedRequestError: If the request has no question and no items.
        """
        await checkpoint()
        items = asked_in(request, self.judge_id)
        chosen = [
            each.presentation.to_own.index(choose_option(each.question, first_shown=each.presentation.order[0]))
            for each in items
        ]
        answers = [Spoken(each.presentation.answers[place]) for each, place in zip(items, chosen, strict=True)]
        if request.stage not in SHEET_STAGES:
            reasons = _reasons(items[0].question, items[0].presentation.responses)
            return phrase(request, answers[0], reasons, model=self.judge_id)
        spoken = [
            SpokenItem(each.number, answer, _reasons(each.question, each.question.responses))
            for each, answer in zip(items, answers, strict=True)
        ]
        return phrase_sheet(request, spoken, model=self.judge_id)


def response_statistics(question: Question, response: str) -> TextStatistics:
    """Return the statistics by which a response to this question is judged."""
    named = {name: _REFERENCE_NAME.search(name.casefold()) is not None for name in question.context}
    references = tuple(text for name, text in question.context.items() if named[name])
    context = tuple(text for name, text in question.context.items() if not named[name])
    return text_statistics(response, question.references + references, context)


def quality(statistics: TextStatistics) -> float:
    """Return the quality in [0, 1], by the formula of :class:`BaselineEngine`."""
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
    if not question.compares:
        return _nearest(question.criterion, qualities[0], prefer_high=False)
    if question.mode == "compare":
        target = min(1.0, max(0.0, 0.5 + DIFFERENCE_GAIN * (qualities[0] - qualities[1])))
        first, second = question.responses  # of equal quality: a coin that falls the other way when they change places
        heads = first_shown == 0 if first == second else _digest(first) > _digest(second)
        return _nearest(question.criterion, target, prefer_high=heads)
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


def _nearest(criterion: Criterion, target: float, *, prefer_high: bool) -> int:
    """Return the option nearest to the target; of two equally near ones the higher or the lower."""
    positions = option_positions(criterion)
    nearest = min(abs(value - target) for value in positions.values())
    tied = [index for index, value in positions.items() if abs(value - target) <= nearest + _SAME]
    return (max if prefer_high else min)(tied, key=lambda index: positions[index])


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _reasons(question: Question, responses: Sequence[str]) -> str:
    lines = ["Text statistics only; the meaning of the response and of the criterion was not read."]
    kind = "Option" if question.mode == "choose" else "Response"
    for place, response in enumerate(responses):
        name = f"{kind} {question.place_name(place)}" if question.compares else "The response"
        statistics = response_statistics(question, response)
        if statistics.empty:
            lines.append(f"{name}: it has no word, so its quality is 0.00.")
            continue
        against = "the nearest reference" if statistics.with_reference else "the context"
        findings = [
            f"word overlap with {against} {statistics.words:.2f}",
            f"character overlap {statistics.characters:.2f}",
            f"completeness {statistics.completeness:.2f}",
            f"repetition {statistics.repetition:.2f}",
        ]
        if statistics.script < 1:
            findings.append(f"{format_percent(1 - statistics.script)} of the letters are in another script")
        findings += ["it copies the context"] * statistics.copied + ["it declines to answer"] * statistics.refused
        lines.append(f"{name}: {', '.join(findings)}; quality {quality(statistics):.2f}.")
    return "\n".join(lines)


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
    texts = [text for text in context if text.strip()]
    candidates = [_compare(response, each, texts, to_reference=True) for each in references if tokenize(each)]
    if candidates:
        return max(candidates, key=lambda found: found.words + found.characters)
    return _compare(response, "\n".join(context), texts, to_reference=False)


def _compare(response: str, other: str, context: Sequence[str], *, to_reference: bool) -> TextStatistics:
    """Compare a response with a reference, or with its context."""
    # the shortest text of the context is taken to be the question, the rest is sources
    question = frozenset(tokenize(min(context, key=len))) if context and to_reference else frozenset[str]()
    ours, theirs = tokenize(response), tokenize(other)
    beta = 2.0 if to_reference else None  # recall counts double: a response may say more than the reference
    words, characters = (
        overlap(_bag(ours, question, grams=grams), _bag(theirs, question, grams=grams), beta) for grams in (False, True)
    )
    full = len(theirs) if to_reference else math.log1p(FULL_ANSWER_WORDS)
    return TextStatistics(
        words=words,
        characters=characters,
        completeness=min(1.0, (len(ours) if to_reference else math.log1p(len(ours))) / full),
        repetition=repetition(ours),
        script=_script_share(response, other),
        copied=not to_reference
        and any(fuzz.ratio(response.strip(), text.strip(), score_cutoff=95) for text in context),
        refused=is_refusal(response) and not (to_reference and is_refusal(other)),
        empty=not ours,
        with_reference=to_reference,
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


def overlap(ours: Mapping[str, float], theirs: Mapping[str, float], beta: float | None = None) -> float:
    """Return the overlap of two weighted bags; 0 when nothing is shared.

    With ``beta`` it is F-beta, (1 + β²)·P·R / (β²·P + R), with P over ``ours`` and R over ``theirs``; else the shared
    mass over that of the smaller bag (Szymkiewicz–Simpson).

    >>> overlap({"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 2}, beta=1)  # P = 2/2, R = 2/4
    0.6666666666666666
    >>> overlap({"a": 1, "b": 1}, {"a": 1, "c": 1, "d": 1})  # 1 / 2
    0.5
    """
    shared = sum(min(mass, theirs[key]) for key, mass in ours.items() if key in theirs)
    if not shared:
        return 0.0
    precision, recall = shared / sum(ours.values()), shared / sum(theirs.values())
    if beta is None:
        return max(precision, recall)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


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


def _bag(tokens: list[str], question: frozenset[str], *, grams: bool) -> dict[str, float]:
    """Return the weights of the words that carry content (of all where none does), or of their character trigrams."""
    bag: dict[str, float] = {}
    for token in [token for token in tokens if token not in _FUNCTION_WORDS] or tokens:
        weight = NUMBER_WEIGHT if any(character.isdigit() for character in token) else 1.0
        weight *= ECHO_WEIGHT if token in question else 1.0
        padded = f" {token} "
        for piece in [padded[start : start + 3] for start in range(len(padded) - 2)] if grams else [token]:
            bag[piece] = bag.get(piece, 0.0) + weight
    return bag


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


QualityRule = Callable[[Question, int], float]
Fault = Literal["refusal", "truncation", "garbage"]
Probabilities = npt.NDArray[np.float64]

_REPLIES: Mapping[Fault, tuple[str, str]] = {
    "refusal": ("I'm sorry, but I can't help with that request.", "stop"),
    "truncation": ("Having weighed all that was said above, the verdict that I arrive at", "length"),
    "garbage": ("zxqv wvkj qqzx", "stop"),
}
_NODES = 64


def quality_of_text(question: Question, index: int) -> float:
    """Return the default quality: a uniform number in [0, 1) that depends on the response's text alone.

    >>> from evenhand.criteria import yes_no_criterion
    >>> question = Question(id="1", criterion=yes_no_criterion("a", "b"), responses=("Paris.",))
    >>> quality_of_text(question, 0) == quality_of_text(question, 0) < 1
    True
    """
    return _uniform(question.responses[index])


def quality_from_context(name: str) -> QualityRule:
    """Read the qualities from the question's context: a number for one response, a JSON list for several.

    A JSON object holds one of them for each criterion or item, by its name.

    >>> from evenhand.question import comparison_criterion
    >>> question = Question(id="1", criterion=comparison_criterion("a", "b"), responses=("x", "y"), mode="compare",
    ...                     context={"quality": "[0.5, 2]"})
    >>> quality_from_context("quality")(question, 1)
    2.0
    """

    def rule(question: Question, index: int) -> float:
        text = question.context.get(name)
        try:
            read = json.loads(text or "", parse_int=float)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, dict):
            read = read.get(question.criterion.name)
        values = read if isinstance(read, list) else [read]
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if not len(numbers) == len(values) == len(question.responses):
            raise RejectedRequestError(
                f"the context {name!r} of question {question.id!r} is {text!r}; it must be a number, a JSON list of "
                f"{len(question.responses)} numbers, or an object with one of them for {question.criterion.name!r}",
                cause="no_quality",
            )
        return float(numbers[index])

    return rule


class SimulatedEngine(FreeEngine):
    """A judge whose preferences, noise and faults are parameters: the truth for tests of reliability measures.

    Every response has a latent quality: an assessment expects it in [0, 1], as a share of the range of the criterion's
    values; a comparison reads it as log-odds. With quality q, length preference λ · ln((1 + length) / (1 +
    ``typical_length``)) (length in characters), and θ the ``position_preference`` in log-odds, the judge's choice has
    these probabilities:

        two responses, two options     P(first shown) = σ(δ), with δ = s₁ − s₂ + θ and s = q + length preference
        … with a tie (three options)   P(first) : P(tie) : P(second) = exp(δ/2) : ``tie`` : exp(−δ/2)   (Davidson 1970)
        … graded (four and more)       y = δ + a standard logistic draw; the option whose value is nearest to σ(y)
        the best of several responses  P(place i) ∝ exp(s_i + θ·[i is shown first])   (Luce 1959)
        one response                   the option whose value is nearest to s

    ``noise`` is the standard deviation of a normal error added to every s, drawn anew for each sample. With probability
    1 − ``accuracy`` another option than the one so chosen is taken, each equally often. In an assessment the judge
    takes, with probability |tanh(θ/2)|, the option shown first (shown last for θ < 0), for any response; that is the
    difference that a comparison with the same θ makes between two equally good responses. On a checklist of several
    items it answers, with the same probability, the item shown first (shown last for θ < 0) with the option of the
    highest value, for any response; the other items keep their probabilities.

    So the probabilities of every choice are known in closed form (with ``noise``, in a comparison of two by
    Gauss–Hermite quadrature, good to about 1e-6, and in a choice of the best by 4,096 fixed draws), and a reply is a
    draw from them, seeded by (seed, question id, order, sample). Each item of a sheet is drawn by itself.
    Log-probabilities, where they are asked for, are the logarithms of those probabilities, at a token that is the whole
    answer: a calibrated judge.

    After that the reply may go wrong: with the probabilities ``refusal_rate``, ``truncation_rate`` and ``garbage_rate``
    it refuses, breaks off before the verdict, or names no option. A sheet is refused or broken off as a whole, and each
    of its items may name no option by itself. A re-ask mends that with probability ``recovery_rate``.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    quality: Any = option(
        None, "Response text -> latent quality, or a function of the question and of the response's index; else random."
    )
    quality_context: str | None = option(None, "The context that holds the quality: a number, or one per response.")
    position_preference: float = option(0.0, "Log-odds in favour of what is shown first; negative for what is last.")
    verbosity_preference: float = option(0.0, "Added to a response's quality for each e-fold of its length.")
    noise: float = option(0.0, "Standard deviation of the error on each quality, drawn anew for each sample.", ge=0)
    accuracy: float = option(1.0, "Probability that the judge names the option it means.", ge=0, le=1)
    tie: float = option(1.0, "Davidson's ν: two equal responses tie with probability ν / (ν + 2).", ge=0)
    refusal_rate: float = option(0.0, "Probability of a refusal instead of a verdict.", ge=0, le=1)
    truncation_rate: float = option(0.0, "Probability of a reply that breaks off before the verdict.", ge=0, le=1)
    garbage_rate: float = option(0.0, "Probability of a reply that names no option.", ge=0, le=1)
    recovery_rate: float = option(0.0, "Probability that a re-ask mends such a reply.", ge=0, le=1)
    typical_length: int = option(500, "Characters of a response that ``verbosity_preference`` leaves alone.", ge=0)
    seed: int = option(0, "Another seed, another judge of the same kind.")
    name: str | None = option(None, "The judge's name; by default it has the seed.")

    def model_post_init(self, _: object) -> None:
        """Check what options must be together."""
        if self.refusal_rate + self.truncation_rate + self.garbage_rate > 1 + 1e-9:
            raise InvalidInputError(
                "refusal_rate + truncation_rate + garbage_rate is above 1; give rates whose sum is at most 1"
            )
        if self.quality is not None and self.quality_context is not None:
            raise InvalidInputError("quality and quality_context are both given; the truth has one source")

    def settings(self) -> dict[str, Any]:
        """Return the options that are plain values, without sources of the truth that were not given."""
        sources = ("quality", "quality_context")
        return {name: value for name, value in super().settings().items() if value is not None or name not in sources}

    @property
    def truth(self) -> Mapping[str, float] | QualityRule:
        """The source of the qualities."""
        if self.quality_context is not None:
            return quality_from_context(self.quality_context)
        known: Mapping[str, float] | QualityRule | None = self.quality
        return quality_of_text if known is None else known

    @property
    def judge_id(self) -> str:
        """``simulated``, with the seed, unless a name was given."""
        return self.name if self.name is not None else f"simulated-{self.seed}"

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            RejectedRequestError: If the request has no question and no items, or a response has no known quality.
        """
        await checkpoint()
        return self.reply(request)

    def reply(self, request: Request) -> Completion:
        """Return the reply to one request, at once.

        Raises:
            RejectedRequestError: The same as :meth:`complete`.
        """
        items = asked_in(request, self.judge_id)
        if request.stage in SHEET_STAGES:
            return self._sheet_reply(request, items)
        question, presentation = items[0].question, items[0].presentation
        random = self._random(question.id, presentation.order, request.sample)
        answer = self._answer(question, presentation, random)
        fault = self._fault(random.random())
        recovers = random.random() < self.recovery_rate
        if fault is not None and (
            request.stage in {"selection", "one_step", "verdict"} or (request.stage == "reask" and not recovers)
        ):
            return self._faulty(fault)
        return phrase(request, answer, self._reasons(question, presentation), model=self.judge_id)

    def _sheet_reply(self, request: Request, items: tuple[SheetItem, ...]) -> Completion:
        again = request.stage == "sheet_reask"
        first = items[0]
        order = first.presentation.order if first.question.mode == "check" else ()
        random = self._random(f"sheet {first.question.sheet}", order, request.sample)
        fault, recovers = self._fault(random.random()), random.random() < self.recovery_rate
        if fault in {"refusal", "truncation"} and not (again and recovers):
            return self._faulty(fault)
        answers = [self._sheet_answer(item, request.sample, again=again) for item in items]
        return phrase_sheet(request, answers, model=self.judge_id)

    def _sheet_answer(self, item: SheetItem, sample: int, *, again: bool) -> SpokenItem:
        question, presentation = item.question, item.presentation
        random = self._random(question.id, presentation.order, sample)
        answer = self._answer(question, presentation, random, place=item.number - 1)
        garbled, recovers = random.random() < self.garbage_rate, random.random() < self.recovery_rate
        if garbled and not (again and recovers):
            answer = Spoken(_REPLIES["garbage"][0])
        return SpokenItem(item.number, answer, self._reasons(question, presentation))

    def _answer(
        self, question: Question, presentation: Presentation, random: np.random.Generator, *, place: int | None = None
    ) -> Spoken:
        """Draw an answer from its probabilities, which it carries."""
        probabilities = self.choice_probabilities(question, presentation.order, place=place)
        summed = probabilities.cumsum()
        chosen = int(summed.searchsorted(random.random() * summed[-1], side="right"))
        shares = tuple(
            (answer, float(probabilities[own]))
            for answer, own in zip(presentation.answers, presentation.to_own, strict=True)
        )
        return Spoken(presentation.answers[presentation.to_own.index(chosen)], shares)

    def _faulty(self, fault: Fault) -> Completion:
        text, finish_reason = _REPLIES[fault]
        return Completion(text=text, finish_reason=finish_reason, model=self.judge_id)

    def choice_probabilities(
        self, question: Question, order: Sequence[int], *, place: int | None = None
    ) -> Probabilities:
        """Return P(option) in this order, if the reply names one; indices are the criterion's own. NA options get 0.

        Args:
            question: The question.
            order: The permutation shown.
            place: Of an item of a checklist: where it is shown. None leaves the effect of its place out.

        Raises:
            RejectedRequestError: If a response has no known quality, or there are fewer options than responses.
        """
        presentation = question.present(tuple(order))
        if not question.compares:
            chosen = self._assessment(question)
        elif question.mode == "compare":
            chosen = self._comparison(question, presentation)
        else:
            chosen = self._selection(question, presentation)
        positions = [index for index, option in enumerate(question.criterion.options) if not option.na]
        others = max(1, len(positions) - 1)
        meant = np.zeros(len(question.criterion.options))
        meant[positions] = self.accuracy * chosen[positions] + (1 - self.accuracy) * (1 - chosen[positions]) / others
        favoured = self._favoured(question, presentation, place)
        if favoured is not None:
            taken = math.tanh(abs(self.position_preference) / 2)
            meant *= 1 - taken
            meant[favoured] += taken
        normalized: Probabilities = meant / meant.sum()
        return normalized

    def _favoured(self, question: Question, presentation: Presentation, place: int | None) -> int | None:
        """Return the option, in the criterion's own order, that its place or its question's place favours."""
        if question.compares or not self.position_preference:
            return None
        positions, first = option_positions(question.criterion), self.position_preference > 0
        if question.mode == "assess":
            shown = [own for own in presentation.to_own if own in positions]
            return shown[0 if first else -1]
        if question.places < 2 or place != (0 if first else question.places - 1):
            return None
        return max(positions, key=lambda own: positions[own])

    def expected_value(self, question: Question, orders: Sequence[Sequence[int]]) -> float:
        """Return the mean over the orders of the chosen option's expected value; of two responses, the first's winrate.

        With both orders of a comparison this is what a winrate measured with this judge converges to, whether orders
        that disagree are averaged or made ties, unless replies go wrong.

        Raises:
            InvalidInputError: If an option has no value.
        """
        if not question.criterion.has_values:
            raise InvalidInputError(
                f"the criterion {question.criterion.name!r} has options without values; an expected value needs all"
            )
        weights = np.array([option.value or 0.0 for option in question.criterion.options])
        return float(np.mean([self.choice_probabilities(question, order) @ weights for order in orders]))

    def quality_of(self, question: Question, index: int) -> float:
        """Return the latent quality of a response, by its index in the question's own order.

        Raises:
            RejectedRequestError: If it is not known, or not finite.
        """
        truth = self.truth
        if callable(truth):
            value = float(truth(question, index))
        else:
            response = question.responses[index]
            if response not in truth:
                raise RejectedRequestError(
                    f"the simulated judge {self.judge_id!r} knows no quality of the response {response[:80]!r} "
                    f"(question {question.id!r}): add it to quality, or give a function",
                    cause="no_quality",
                )
            value = float(truth[response])
        if not math.isfinite(value):
            raise RejectedRequestError(
                f"the quality of response {index} of question {question.id!r} is {value!r}; it must be finite",
                cause="no_quality",
            )
        return value

    def _strength(self, question: Question, index: int) -> float:
        length = math.log((1 + len(question.responses[index])) / (1 + self.typical_length))
        return self.quality_of(question, index) + self.verbosity_preference * length

    def _assessment(self, question: Question) -> Probabilities:
        """Assign each option the interval between the midpoints to its neighbours; of equal values the first."""
        positions = option_positions(question.criterion)
        first_of = {value: index for index, value in reversed(positions.items())}
        ranked = sorted(first_of)
        edges = [-math.inf, *((low + high) / 2 for low, high in pairwise(ranked)), math.inf]
        strength = self._strength(question, 0)
        probabilities = np.zeros(len(question.criterion.options))
        for place, value in enumerate(ranked):
            low, high = edges[place], edges[place + 1]
            if self.noise:
                share = float(ndtr((high - strength) / self.noise) - ndtr((low - strength) / self.noise))
            else:
                share = float(low < strength <= high)
            probabilities[first_of[value]] = share
        return probabilities

    def _comparison(self, question: Question, presentation: Presentation) -> Probabilities:
        first, second = (self._strength(question, index) for index in presentation.order)
        difference = first - second + self.position_preference
        shown = _mean_over_noise(
            lambda error: self._shown_pair(question, difference + error), self.noise * math.sqrt(2)
        )
        probabilities = np.zeros(len(question.criterion.options))
        for place, own in enumerate(presentation.to_own):
            probabilities[own] = shown[place]
        return probabilities

    def _shown_pair(self, question: Question, difference: Probabilities) -> Probabilities:
        """Return choice probabilities with a row per option as shown and a column per difference."""
        positions = option_positions(question.criterion)
        ranked = sorted(positions, key=lambda index: -positions[index])
        table = np.zeros((len(question.criterion.options), len(difference)))
        if len(ranked) == 2:
            table[ranked[0]] = expit(difference)
            table[ranked[1]] = expit(-difference)
        elif len(ranked) == 3:
            wins, losses = np.exp(difference / 2), np.exp(-difference / 2)
            total = wins + losses + self.tie
            table[ranked[0]], table[ranked[1]], table[ranked[2]] = wins / total, self.tie / total, losses / total
        else:
            values = [positions[index] for index in ranked]
            above = np.array([expit(difference - logit((high + low) / 2)) for high, low in pairwise(values)])
            bounded = np.vstack([np.zeros_like(difference), above, np.ones_like(difference)])
            table[ranked] = np.diff(bounded, axis=0)
        return table

    def _selection(self, question: Question, presentation: Presentation) -> Probabilities:
        """Return the selection of the best of several responses: a softmax over them."""
        positions = list(option_positions(question.criterion))
        count = len(question.responses)
        if len(positions) < count:
            raise RejectedRequestError(
                f"question {question.id!r} chooses among {count} responses with {len(positions)} options that are "
                "not NA; give one option per response",
                cause="options",
            )
        strengths = np.array([self._strength(question, index) for index in range(count)])
        strengths[presentation.order[0]] += self.position_preference
        if self.noise:
            errors = np.random.default_rng(0).normal(scale=self.noise, size=(4096, count))
            strengths = strengths + errors
        weights = np.exp(strengths - strengths.max(axis=-1, keepdims=True))
        shares = weights / weights.sum(axis=-1, keepdims=True)
        probabilities = np.zeros(len(question.criterion.options))
        probabilities[positions[:count]] = shares.reshape(-1, count).mean(axis=0)
        return probabilities

    def _fault(self, draw: float) -> Fault | None:
        rates = {"refusal": self.refusal_rate, "truncation": self.truncation_rate, "garbage": self.garbage_rate}
        for fault, rate in rates.items():
            if draw < rate:
                return fault  # type: ignore[return-value] # a name of the table
            draw -= rate
        return None

    def _random(self, name: str, order: tuple[int, ...], sample: int) -> np.random.Generator:
        key = f"{self.seed}\n{name}\n{order}\n{sample}"
        return np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:16]))

    def _reasons(self, question: Question, presentation: Presentation) -> str:
        order = presentation.order if question.compares else (0,)
        strengths = ", ".join(f"{self._strength(question, index):.3f}" for index in order)
        return f"A simulated assessment; the latent quality as shown: {strengths}."


def _mean_over_noise(table: Callable[[Probabilities], Probabilities], scale: float) -> Probabilities:
    """Return the expectation of each row over a normal error of this scale."""
    if not scale:
        return table(np.zeros(1))[:, 0]
    nodes, weights = _normal_quadrature()
    mean: Probabilities = table(nodes * scale) @ weights
    return mean


@cache
def _normal_quadrature() -> tuple[Probabilities, Probabilities]:
    """Return Gauss-Hermite nodes of a standard normal error, and their weights, which sum to 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def _uniform(text: str) -> float:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48

"""Engines without a model or a network: the baseline, which counts words, the simulated judge, and replay.

All are free and deterministic. The first two word a choice alike at each stage of the flow. The third repeats a paid
run without a key, from its journal or what ``evenhand journal export`` wrote.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from itertools import pairwise
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from anyio.lowlevel import checkpoint
from pydantic import ConfigDict, PrivateAttr
from scipy.special import expit, logit, ndtr, softmax

from evenhand.criteria import Criterion
from evenhand.engines.base import Engine, Request, SheetItem
from evenhand.engines.journal import describe_request, recorded_rows
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.files import expanded
from evenhand.options import option
from evenhand.question import Presentation, Question
from evenhand.votes import Completion, TokenLogprob

SHEET_STAGES = frozenset({"sheet", "sheet_reask"})
_TOKEN = re.compile(r"\s*\S+|\s+")
_ANSWER = "\ue000"
"""The mark of an answer in the text of a reply."""


class SpokenAnswer(NamedTuple):
    """The answer to one question.

    Attributes:
        number: The number of the question on its sheet.
        text: The answer, as the judge is to name it.
        reasons: The reasons for it.
        shares: The probability of each possible answer; empty if that is not known.
    """

    number: int
    text: str
    reasons: str
    shares: tuple[tuple[str, float], ...] = ()


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


def phrase(request: Request, answers: Sequence[SpokenAnswer], *, model: str) -> Completion:
    """Return the reply that gives these answers, in the form that the request's stage expects."""
    between = _form_of_reply(request, answers, model).split(_ANSWER)
    pieces: list[tuple[str, Mapping[str, float]]] = [(between[0], {})]
    in_json = between[0].startswith("{")
    for answer, after in zip(answers, between[1:], strict=False):
        texts = (answer.text, *dict(answer.shares))
        said = {text: encode_basestring(text)[1:-1] if in_json else text for text in texts}
        pieces += [(said[answer.text], {said[text]: share for text, share in answer.shares}), (after, {})]
    logprobs = None
    if request.logprobs and any(shares for _, shares in pieces):
        logprobs = tuple(token for piece in pieces for token in _token_logprobs(*piece, request.logprobs))
    text = "".join(text for text, _ in pieces)
    return Completion(text=text, finish_reason="stop", model=model, logprobs=logprobs)


def _form_of_reply(request: Request, answers: Sequence[SpokenAnswer], model: str) -> str:
    """Return the text of a reply, with a mark for each answer."""
    answer, schema = answers[0], request.response_schema
    if request.stage in SHEET_STAGES:
        entries = []
        for each in answers:
            reasons = {"reasoning": each.reasons} if request.reasoning else {}
            entries.append({"index": each.number, **reasons, "answer": _ANSWER})
        return json.dumps({"answers": entries}, ensure_ascii=False)
    if request.stage == "assessment":
        return answer.reasons
    if request.stage == "summary":
        return f"{model} prefers the verdict {answer.text!r}."
    if request.stage == "one_step" and schema is not None:
        fields = {name: answer.reasons if name == "assessment" else _ANSWER for name in schema["properties"]}
        return json.dumps(fields, ensure_ascii=False)
    if request.stage == "one_step" or (request.stage == "verdict" and request.reasoning and schema is None):
        return f"{answer.reasons}\nSelected option: {_ANSWER}"
    return _ANSWER


def _token_logprobs(text: str, shares: Mapping[str, float], most: int) -> Iterator[TokenLogprob]:
    """Return the tokens of a text: an answer is one, with the likeliest answers; each other word is certain."""
    for word in [text] if shares else _TOKEN.findall(text):
        ranked = sorted((shares or {word: 1.0}).items(), key=lambda answer: -answer[1])[:most]
        top = tuple((answer, math.log(share)) for answer, share in ranked if share > 0)
        yield TokenLogprob(token=word, logprob=math.log(shares.get(word, 1.0)), top=top)


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
        """Return the options that are plain values, by which results distinguish engines."""
        return {name: value for name, value in self if isinstance(value, str | int | float | None)}

    def identity(self) -> Mapping[str, Any] | None:
        """Return None: its replies cost nothing."""
        return None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold nothing."""
        yield


_SAME = 1e-9
_REFERENCE_NAME = re.compile(r"reference|ground[ _-]?truth|\bgold(?:en)?\b")


class BaselineEngine(FreeEngine):
    """An engine that counts words: the judge without a model. The floor that a real judge must beat.

    The quality of a response, in [0, 1], with the statistics of `text_statistics`:

        with references     q = min(1, (0.6 · words + 0.4 · characters) / 0.6) · (0.7 + 0.3 · completeness) · faults
        without             q = (0.3 · words + 0.7 · completeness) · faults
        faults              (1 − repetition) · ⅕ if refused; 0 if there is no word

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

    judge_id: ClassVar[str] = "baseline-text-statistics"

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            RejectedRequestError: If the request has no question and no items.
        """
        await checkpoint()
        items = asked_in(request, self.judge_id)
        answers = []
        for each in items:
            shown = each.presentation
            place = shown.to_own.index(choose_option(each.question, first_shown=shown.order[0]))
            answers.append(SpokenAnswer(each.number, shown.answers[place], _reasons(each.question, shown.responses)))
        return phrase(request, answers, model=self.judge_id)


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
        base = min(1.0, similarity / 0.6) * (0.7 + 0.3 * statistics.completeness)
    else:
        base = 0.3 * statistics.words + 0.7 * statistics.completeness
    return base * (0.2 if statistics.refused else 1) * (1 - statistics.repetition)


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
        target = min(1.0, max(0.0, 0.5 + 4.0 * (qualities[0] - qualities[1])))
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
    for place, response in enumerate(responses):
        statistics = response_statistics(question, response)
        found = ", ".join(f"{name} {float(value):.2g}" for name, value in asdict(statistics).items())
        lines.append(f"Response {question.place_name(place)}: {found}; quality {quality(statistics):.2f}.")
    return "\n".join(lines)


_UNSPACED = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_WORD = re.compile(rf"(?P<unspaced>(?:(?=\w){_UNSPACED})+)|(?:(?!{_UNSPACED})\w)+")
_REFUSAL = re.compile(
    r"\b(?:i(?: a|')m (?:very |so |really )?sorry|i apologi[sz]e|my apologies|as an? (?:ai|artificial|language)\b"
    r"|i(?: can(?:no|')t| can not| am (?:not able|unable)|'m (?:not able|unable)| won't| will not| must decline"
    r"| do(?:n't| not) (?:know|have (?:enough|access|the ability|any information)))\b"
    r"|(?:sorry,? (?:but )?(?:i|we)\b)|(?:no answer|not sure)\b)"
)
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
        refused: The response declines to answer, and the nearest reference does not.
        empty: The response has no word.
        with_reference: Whether there were references to compare with.
    """

    words: float
    characters: float
    completeness: float
    repetition: float
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
    full = len(theirs) if to_reference else math.log1p(40)
    return TextStatistics(
        words=words,
        characters=characters,
        completeness=min(1.0, (len(ours) if to_reference else math.log1p(len(ours))) / full),
        repetition=repetition(ours),
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
    for found in _WORD.finditer(unicodedata.normalize("NFKC", text).casefold()):
        word = found.group()
        if found["unspaced"]:
            tokens += [word[start : start + 2] for start in range(max(1, len(word) - 1))]
        else:
            tokens.append(word)
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
    if _REFUSAL.search(folded[:160]) is None:
        return False
    return len(re.findall(r"\w+", folded)) <= 60


def _bag(tokens: list[str], question: frozenset[str], *, grams: bool) -> dict[str, float]:
    """Return the weights of the words that carry content (of all where none does), or of their character trigrams."""
    bag: dict[str, float] = {}
    for token in [token for token in tokens if token not in _FUNCTION_WORDS] or tokens:
        weight = 2.0 if any(character.isdigit() for character in token) else 1.0
        weight *= 0.25 if token in question else 1.0
        padded = f" {token} "
        for piece in [padded[start : start + 3] for start in range(len(padded) - 2)] if grams else [token]:
            bag[piece] = bag.get(piece, 0.0) + weight
    return bag


Probabilities = npt.NDArray[np.float64]

_FAULTS: Mapping[str, tuple[str, str]] = {
    "refusal": ("I'm sorry, but I can't help with that request.", "stop"),
    "truncation": ("Having weighed all that was said above, the verdict that I arrive at", "length"),
    "garbage": ("zxqv wvkj qqzx", "stop"),
}


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

    def settings(self) -> dict[str, Any]:
        """Return the options that are plain values, without the truth."""
        return {name: value for name, value in super().settings().items() if name != "quality"}

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
        again, on_sheet = request.stage in {"reask", "sheet_reask"}, request.stage in SHEET_STAGES
        first, shown = items[0].question, items[0].presentation
        if on_sheet:
            name, order = f"sheet {first.sheet}", shown.order if first.mode == "check" else ()
            random, answers = self._random(name, order, request.sample), []
        else:
            random = self._random(first.id, shown.order, request.sample)
            answers = [self._answer(items[0], random)]
        fault, recovers = self._fault(random.random()), random.random() < self.recovery_rate
        if on_sheet and fault == "garbage":  # each item may name no option by itself
            fault = None
        if fault is not None and request.stage not in {"assessment", "summary"} and not (again and recovers):
            text, finish_reason = _FAULTS[fault]
            return Completion(text=text, finish_reason=finish_reason, model=self.judge_id)
        if on_sheet:
            answers = [self._item_answer(item, request.sample, again=again) for item in items]
        return phrase(request, answers, model=self.judge_id)

    def _item_answer(self, item: SheetItem, sample: int, *, again: bool) -> SpokenAnswer:
        random = self._random(item.question.id, item.presentation.order, sample)
        answer = self._answer(item, random, place=item.number - 1)
        garbled, recovers = random.random() < self.garbage_rate, random.random() < self.recovery_rate
        if garbled and not (again and recovers):
            return answer._replace(text=_FAULTS["garbage"][0], shares=())
        return answer

    def _answer(self, item: SheetItem, random: np.random.Generator, *, place: int | None = None) -> SpokenAnswer:
        """Draw an answer from its probabilities, which it carries."""
        question, shown = item.question, item.presentation
        probabilities = self.choice_probabilities(question, shown.order, place=place)
        summed = probabilities.cumsum()
        chosen = int(summed.searchsorted(random.random() * summed[-1], side="right"))
        shares = zip(shown.answers, probabilities[[*shown.to_own]].tolist(), strict=True)
        strengths = [self._strength(question, index) for index in (shown.order if question.compares else (0,))]
        reasons = f"A simulated assessment; the latent quality as shown: {', '.join(f'{x:.3f}' for x in strengths)}."
        return SpokenAnswer(item.number, shown.answers[shown.to_own.index(chosen)], reasons, tuple(shares))

    def _fault(self, draw: float) -> str | None:
        for fault, rate in zip(_FAULTS, (self.refusal_rate, self.truncation_rate, self.garbage_rate), strict=True):
            if draw < rate:
                return fault
            draw -= rate
        return None

    def _random(self, name: str, order: tuple[int, ...], sample: int) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(_digest(f"{self.seed}\n{name}\n{order}\n{sample}")[:16]))

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
        choose = {"compare": self._comparison, "choose": self._selection}.get(question.mode, self._assessment)
        chosen = choose(question, presentation)
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

    def quality_of(self, question: Question, index: int) -> float:
        """Return the latent quality of a response, by its index in the question's own order.

        Where none is given, it is a uniform number in [0, 1) that depends on the response's text alone.

        Raises:
            RejectedRequestError: If it is not known, or not finite.
        """
        response = question.responses[index]
        if self.quality is None:
            return int.from_bytes(_digest(response)[:6], "big") / 2**48
        value = self.quality(question, index) if callable(self.quality) else self.quality.get(response)
        if value is None or not math.isfinite(value):
            raise RejectedRequestError(
                f"the simulated judge {self.judge_id!r} knows no finite quality of the response {response[:80]!r} "
                f"(question {question.id!r}): add it to quality",
                cause="no_quality",
            )
        return float(value)

    def _strength(self, question: Question, index: int) -> float:
        length = math.log((1 + len(question.responses[index])) / (1 + self.typical_length))
        return self.quality_of(question, index) + self.verbosity_preference * length

    def _assessment(self, question: Question, _: Presentation) -> Probabilities:
        """Assign each option the interval between the midpoints to its neighbours; of equal values the first."""
        first_of = {value: index for index, value in reversed(option_positions(question.criterion).items())}
        ranked = sorted(first_of)
        edges = np.array([-math.inf, *((low + high) / 2 for low, high in pairwise(ranked)), math.inf])
        strength = self._strength(question, 0)
        below = ndtr((edges - strength) / self.noise) if self.noise else (strength <= edges).astype(float)
        probabilities = np.zeros(len(question.criterion.options))
        probabilities[[first_of[value] for value in ranked]] = np.diff(below)
        return probabilities

    def _comparison(self, question: Question, presentation: Presentation) -> Probabilities:
        """Return the expectation of the choice over the normal errors of both strengths."""
        first, second = (self._strength(question, index) for index in presentation.order)
        errors, weights = _normal_quadrature() if self.noise else (np.zeros(1), np.ones(1))
        difference = first - second + self.position_preference + self.noise * math.sqrt(2) * errors
        probabilities = np.zeros(len(question.criterion.options))
        probabilities[[*presentation.to_own]] = self._shown_pair(question, difference) @ weights
        return probabilities

    def _shown_pair(self, question: Question, difference: Probabilities) -> Probabilities:
        """Return choice probabilities with a row per option as shown and a column per difference."""
        positions = option_positions(question.criterion)
        ranked = sorted(positions, key=lambda index: -positions[index])
        table = np.zeros((len(question.criterion.options), len(difference)))
        if len(ranked) == 3:
            wins, losses = np.exp(difference / 2), np.exp(-difference / 2)
            table[ranked] = np.array([wins, np.full_like(wins, self.tie), losses]) / (wins + losses + self.tie)
            return table
        cuts = [logit((positions[high] + positions[low]) / 2) for high, low in pairwise(ranked)]
        above = [expit(difference - cut) for cut in cuts]
        table[ranked] = np.diff([np.zeros_like(difference), *above, np.ones_like(difference)], axis=0)
        return table

    def _selection(self, question: Question, presentation: Presentation) -> Probabilities:
        """Return the selection of the best of several responses: a softmax over them."""
        count = len(question.responses)
        strengths = np.array([self._strength(question, index) for index in range(count)])
        strengths[presentation.order[0]] += self.position_preference
        if self.noise:
            strengths = strengths + np.random.default_rng(0).normal(scale=self.noise, size=(4096, count))
        probabilities = np.zeros(len(question.criterion.options))
        probabilities[:count] = softmax(strengths, axis=-1).reshape(-1, count).mean(axis=0)
        return probabilities


@cache
def _normal_quadrature() -> tuple[Probabilities, Probabilities]:
    """Return Gauss-Hermite nodes of a standard normal error, and their weights, which sum to 1."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    return nodes, weights / weights.sum()


class ReplayEngine(FreeEngine):
    """Answer from a recording of any judge, and refuse requests that it does not hold.

    Raises:
        InvalidInputError: If the file cannot be read, or holds two replies to one request.
    """

    path: str | Path | None = option(None, "The recording: an exported journal, or a journal.")
    name: str | None = option(None, "The judge's name; by default ``replay-`` and the name of the file.")
    _replies: dict[str, Completion] = PrivateAttr(default_factory=dict)

    def model_post_init(self, _: object) -> None:
        """Read the recording."""
        if self.path is None:
            return
        for row, completion in recorded_rows(expanded(self.path)):
            if self._replies.setdefault(row.request, completion) != completion:
                raise InvalidInputError(
                    f"the recording {str(self.path)!r} holds two replies to one request: keep the recordings of "
                    "different judges in different files"
                )

    def to_judge(self) -> Self:
        """Return the engine itself.

        Raises:
            InvalidInputError: If it has no recording.
        """
        if self.path is None:
            raise InvalidInputError("a replay engine needs a recording: engines.evenhand.replay[path=replies.jsonl]")
        return self

    @property
    def judge_id(self) -> str:
        """The name, by default that of the file."""
        return f"replay-{Path(self.path or '').stem}" if self.name is None else self.name

    async def complete(self, request: Request) -> Completion:
        """Return the recorded reply to exactly this request.

        Raises:
            RejectedRequestError: If the recording does not hold it.
        """
        await checkpoint()
        if (completion := self._replies.get(describe_request(request))) is None:
            raise RejectedRequestError(
                f"the recording {str(self.path)!r} has no reply to this request (stage {request.stage!r}, sample "
                f"{request.sample}): record it again with the same data, prompts, flow and seed",
                cause="not_recorded",
            )
        return completion

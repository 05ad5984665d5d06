"""A judge with known faults: the truth against which every reliability measure is tested, and a planning tool.

Every response has a latent quality: an assessment expects it in [0, 1], as a share of the range of the criterion's
values; a comparison reads it as log-odds. With quality q, length preference λ · ln((1 + length) /
(1 + ``typical_length``)) (length in characters), and θ the ``position_preference`` in log-odds, the judge's choice has
these probabilities:

    two responses, two options     P(first shown) = σ(δ), with δ = s₁ − s₂ + θ and s = q + length preference
    … with a tie (three options)   P(first) : P(tie) : P(second) = exp(δ/2) : ``tie`` : exp(−δ/2)   (Davidson 1970)
    … graded (four and more)       y = δ + a standard logistic draw; the option whose value is nearest to σ(y)
    the best of several responses  P(place i) ∝ exp(s_i + θ·[i is shown first])   (Luce 1959)
    one response                   the option whose value is nearest to s

``noise`` is the standard deviation of a normal error added to every s, drawn anew for each sample. With probability
1 − ``accuracy`` another option than the one so chosen is taken, each equally often. In an assessment the judge takes,
with probability |tanh(θ/2)|, the option shown first (shown last for θ < 0), for any response; that is the difference
that a comparison with the same θ makes between two equally good responses. On a checklist of several items it
answers, with the same probability, the item shown first (shown last for θ < 0) with the option of the highest value,
for any response; the other items keep their probabilities.

So the probabilities of every choice are known in closed form (with ``noise``, in a comparison of two by Gauss–Hermite
quadrature, good to about 1e-6, and in a choice of the best by 4,096 fixed draws), and a reply is a draw from them,
seeded by (seed, question id, order, sample). Each item of a sheet is drawn by itself. Log-probabilities, where they are
asked for, are the logarithms of those probabilities, at a token that is the whole answer: a calibrated judge.

After that the reply may go wrong: with the probabilities ``refusal_rate``, ``truncation_rate`` and ``garbage_rate`` it
refuses, breaks off before the verdict, or names no option. A sheet is refused or broken off as a whole, and each of its
items may name no option by itself. A re-ask mends that with probability ``recovery_rate``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from anyio.lowlevel import checkpoint
from pydantic import ConfigDict
from scipy.special import expit, ndtr

from evenhand.engines.base import (
    SHEET_STAGES,
    FreeEngine,
    Request,
    SheetItem,
    Spoken,
    SpokenItem,
    items_of,
    phrase,
    phrase_sheet,
    question_of,
)
from evenhand.engines.baseline import option_positions
from evenhand.errors import InvalidInputError, RejectedRequestError
from evenhand.options import option
from evenhand.question import Presentation, Question
from evenhand.votes import Completion

QualityRule = Callable[[Question, int], float]
Fault = Literal["refusal", "truncation", "garbage"]
Probabilities = npt.NDArray[np.float64]

_REPLIES: Mapping[Fault, tuple[str, str]] = {
    "refusal": ("I'm sorry, but I can't help with that request.", "stop"),
    "truncation": ("Having weighed all that was said above, the verdict that I arrive at", "length"),
    "garbage": ("zxqv wvkj qqzx", "stop"),
}
_NODES = 64
_SOURCES = ("quality", "quality_by_response", "quality_context")


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
    """A judge whose preferences, noise and faults are parameters. Deterministic for a seed, and free."""

    model_config = ConfigDict(allow_inf_nan=False)

    quality: Any = option(
        None, "Response text -> latent quality, or a function of the question and of the response's index; else random."
    )
    quality_by_response: Mapping[str, float] | None = option(None, "Response text -> its latent quality.")
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
        if self.fault_rate > 1 + 1e-9:
            raise InvalidInputError(
                f"refusal_rate + truncation_rate + garbage_rate is {self.fault_rate!r}; together they are at most 1"
            )
        given = [name for name in _SOURCES if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInputError(f"{' and '.join(given)} are both given; the truth has one source")

    @property
    def fault_rate(self) -> float:
        """Probability that a first reply names no option."""
        return self.refusal_rate + self.truncation_rate + self.garbage_rate

    def settings(self) -> dict[str, Any]:
        """Return the options that are plain values, without sources of the truth that were not given."""
        return {name: value for name, value in super().settings().items() if not (value is None and name in _SOURCES)}

    @property
    def truth(self) -> Mapping[str, float] | QualityRule:
        """The source of the qualities."""
        if self.quality_context is not None:
            return quality_from_context(self.quality_context)
        known: Mapping[str, float] | QualityRule | None = (
            self.quality if self.quality_by_response is None else self.quality_by_response
        )
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
        if request.stage in SHEET_STAGES:
            return self._sheet_reply(request)
        question, presentation = question_of(request, self.judge_id)
        random = self._random(question.id, presentation.order, request.sample)
        answer = self._answer(question, presentation, random)
        fault = self._fault(random.random())
        recovers = random.random() < self.recovery_rate
        if fault is not None and (
            request.stage in {"selection", "one_step", "verdict"} or (request.stage == "reask" and not recovers)
        ):
            return self._faulty(fault)
        return phrase(request, answer, self._reasons(question, presentation), model=self.judge_id)

    def _sheet_reply(self, request: Request) -> Completion:
        items = items_of(request, self.judge_id)
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

    def true_value(self, question: Question) -> float:
        """Return the expected value with the same qualities and tie parameter, without noise, error or preference."""
        unbiased = SimulatedEngine(quality=self.truth, tie=self.tie)
        return unbiased.expected_value(question, [tuple(range(question.places))])

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
            cuts = [_logit((high + low) / 2) for high, low in pairwise(values)]
            above = np.array([expit(difference - cut) for cut in cuts])
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
        rates: tuple[tuple[Fault, float], ...] = (
            ("refusal", self.refusal_rate),
            ("truncation", self.truncation_rate),
            ("garbage", self.garbage_rate),
        )
        for fault, rate in rates:
            if draw < rate:
                return fault
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


def _logit(share: float) -> float:
    if share <= 0:
        return -math.inf
    return math.inf if share >= 1 else math.log(share / (1 - share))


def _uniform(text: str) -> float:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big") / 2**48

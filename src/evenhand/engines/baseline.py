"""The embedded default judge: transparent text statistics, no model, no network. The floor that a real judge must beat.

The quality of a response, in [0, 1], with the statistics of :mod:`evenhand.engines.text_statistics`:

    with references     q = min(1, (0.6 · words + 0.4 · characters) / 0.6) · (0.7 + 0.3 · completeness) · faults
    without             q = (0.3 · words + 0.7 · completeness) · faults
    faults              (1 − repetition) · (½ + ½ · script) · ½ if copied · ⅕ if refused; 0 if there is no word

Two people who give the same answer share some three fifths of their words, so that much counts as full similarity.
Without a reference overlap with the context says little, and whether there is an answer at all says most.

An assessment, or an item of a checklist, selects the option whose value is nearest to q (of two equally near ones the
lower); a binary one therefore says yes above ½. A comparison of two maps ½ + 4 · (q₁ − q₂) onto the options in the
same way: with a tie offered, a difference below 1/16 is one. The best of several: the highest q. Options without
values count as evenly spaced from 1 down to 0 in the criterion's order, for this choice only; no score comes of it.

It never reads the criterion's description, so it judges every criterion alike, and it never selects an NA option. It
chooses in the question's own order, so its position bias is zero; equally good responses are told apart by a hash of
their texts, so that neither system is preferred; of two that are the same text, the one shown first is taken where no
tie is offered. References are those of the question, and the context whose
name says that it is one ("reference", "ground truth", "gold").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anyio.lowlevel import checkpoint

from evenhand.criteria import Criterion
from evenhand.engines.base import Request
from evenhand.engines.phrasing import (
    SHEET_STAGES,
    FreeJudge,
    Spoken,
    SpokenItem,
    asked,
    asked_items,
    phrase,
    phrase_sheet,
)
from evenhand.engines.text_statistics import TextStatistics, text_statistics
from evenhand.errors import RejectedRequestError
from evenhand.numbers import format_percent
from evenhand.question import Presentation, Question
from evenhand.votes import Completion

FULL_SIMILARITY = 0.6
DIFFERENCE_GAIN = 4.0
REFUSAL_FACTOR = 0.2
COPY_FACTOR = 0.5
BASELINE_ID = "baseline-text-statistics"
_SAME = 1e-9
_REFERENCE_NAME = re.compile(r"reference|ground[ _-]?truth|\bgold(?:en)?\b")


@dataclass(frozen=True, slots=True)
class BaselineJudge(FreeJudge):
    """A judge that counts words. Deterministic, free, and the same in every order."""

    @property
    def judge_id(self) -> str:
        """``baseline-text-statistics``: what it is, wherever its verdicts are shown."""
        return BASELINE_ID

    async def complete(self, request: Request) -> Completion:
        """The reply to one request.

        Raises:
            RejectedRequestError: If the request has no question and no items, or chooses among more responses than
                there are options.
        """
        await checkpoint()
        if request.stage in SHEET_STAGES:
            items = asked_items(request, self.judge_id)
            answers = [
                SpokenItem(item.number, _answer(item.question, item.presentation), _reasons(item.question))
                for item in items
            ]
            return phrase_sheet(request, answers, model=self.judge_id)
        question, presentation = asked(request, self.judge_id)
        reasons = _reasons(question, presentation.responses)
        return phrase(request, _answer(question, presentation), reasons, model=self.judge_id)


def _answer(question: Question, presentation: Presentation) -> Spoken:
    own_index = choose_option(question, first_shown=presentation.order[0])
    return Spoken(presentation.answers[presentation.to_own.index(own_index)])


def response_statistics(question: Question, response: str) -> TextStatistics:
    """The statistics that a response to this question is judged by."""
    named = {name: _REFERENCE_NAME.search(name.casefold()) is not None for name in question.context}
    references = tuple(text for name, text in question.context.items() if named[name])
    context = tuple(text for name, text in question.context.items() if not named[name])
    return text_statistics(response, question.references + references, context)


def quality(statistics: TextStatistics) -> float:
    """The quality in [0, 1], by the formula at the top of this module."""
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
    """The option that the baseline selects, in the criterion's own order.

    Args:
        question: What is asked.
        first_shown: Which response is shown first. It only counts between two responses that are the same text where no
            tie is offered: there the one shown first is taken, so that the two orders make a tie.

    Raises:
        RejectedRequestError: If one of several responses is chosen and there are fewer options than responses.
    """
    qualities = [quality(response_statistics(question, response)) for response in question.responses]
    positions = option_positions(question.criterion)
    if not question.compares:
        return _nearest(positions, qualities[0], prefer_high=False)
    if question.mode == "compare":
        target = min(1.0, max(0.0, 0.5 + DIFFERENCE_GAIN * (qualities[0] - qualities[1])))
        return _nearest(positions, target, prefer_high=_first_preferred(*question.responses, first_shown=first_shown))
    candidates = list(positions)[: len(qualities)]
    if len(candidates) < len(qualities):
        raise RejectedRequestError(
            f"question {question.id!r} chooses among {len(qualities)} responses with {len(candidates)} options that "
            "are not NA; give one option a response",
            cause="options",
        )
    best = max(qualities)
    tied = [place for place, value in enumerate(qualities) if value >= best - _SAME]
    return candidates[max(tied, key=lambda place: _digest(question.responses[place]))]


def option_positions(criterion: Criterion) -> dict[int, float]:
    """Index of each option that is not NA -> its value, or, where values are missing, its place from 1 down to 0."""
    scored = [index for index, option in enumerate(criterion.options) if not option.na]
    values = [criterion.options[index].value for index in scored]
    spaced = [1 - place / (len(scored) - 1) for place in range(len(scored))]
    given = [value for value in values if value is not None]
    return dict(zip(scored, given if len(given) == len(scored) else spaced, strict=True))


def _nearest(positions: Mapping[int, float], target: float, *, prefer_high: bool) -> int:
    """The option nearest to the target; of two equally near ones the higher or the lower."""
    nearest = min(abs(value - target) for value in positions.values())
    tied = [index for index, value in positions.items() if abs(value - target) <= nearest + _SAME]
    return (max if prefer_high else min)(tied, key=lambda index: positions[index])


def _first_preferred(first: str, second: str, *, first_shown: int) -> bool:
    """A coin that two responses of equal quality toss: it falls the other way when they change places."""
    if first == second:
        return first_shown == 0
    return _digest(first) > _digest(second)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _reasons(question: Question, responses: Sequence[str] | None = None) -> str:
    lines = ["Text statistics only; the meaning of the response and of the criterion was not read."]
    kind = "Option" if question.mode == "choose" else "Response"
    for place, response in enumerate(question.responses if responses is None else responses):
        name = f"{kind} {question.place_name(place)}" if question.compares else "The response"
        lines.append(f"{name}: {_describe(response_statistics(question, response))}")
    return "\n".join(lines)


def _describe(statistics: TextStatistics) -> str:
    if statistics.empty:
        return "it has no word, so its quality is 0.00."
    against = "the nearest reference" if statistics.with_reference else "the context"
    findings = [
        f"word overlap with {against} {statistics.words:.2f}",
        f"character overlap {statistics.characters:.2f}",
        f"completeness {statistics.completeness:.2f}",
        f"repetition {statistics.repetition:.2f}",
    ]
    if statistics.script < 1:
        findings.append(f"{format_percent(1 - statistics.script)} of the letters are in another script")
    if statistics.copied:
        findings.append("it copies the context")
    if statistics.refused:
        findings.append("it declines to answer")
    return f"{', '.join(findings)}; quality {quality(statistics):.2f}."

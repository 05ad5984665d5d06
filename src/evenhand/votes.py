"""Completions, votes and verdicts, as frozen values that travel as JSON.

A vote or a verdict without a selected option is unscored, and says why; it is never a zero, never the nearest
label, never a guess. An NA vote is not unscored: the judge answered, and said that the question does not apply.
"""

from __future__ import annotations

import json
import math
import re
import sys
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, islice
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticSerializationError, SchemaValidator, core_schema, from_json, to_json

from evenhand.criteria import FrozenValue, frozen_value

UnscoredReason = Literal[
    "missing_response",
    "not_asked",
    "mock_mode",
    "offline",
    "engine_error",
    "budget",
    "content_filter",
    "refusal",
    "too_long",
    "truncated",
    "empty",
    "abstained",
    "quoted",
    "no_match",
    "ambiguous",
    "inconsistent",
    "no_value",
    "stopped_early",
]
"""Why nothing was selected, the reason that is furthest from an answer first.

``missing_response``: a system gave no response. ``mock_mode`` (unitxt's), ``offline`` and ``budget``: no judge was
asked. ``engine_error``: there was no reply. ``too_long``: the reply is too long for reading, and still paid for.
``quoted``: its only verdict is also in a text that was judged. ``no_match``: it has none of the forms of a verdict.
``inconsistent``: the orders disagree under ``on_position_bias="abstain"``. ``no_value``: the option selected has no
value, or the weights of a rubric or checklist are 0. ``stopped_early``: the draws ended before they settle the verdict.
Of votes that were recorded elsewhere, ``abstained`` means that a rater was asked and did not vote, and ``not_asked``
that nothing was recorded for the question."""

WITHHELD: frozenset[UnscoredReason | None] = frozenset({"budget", "mock_mode", "offline"})
"""The reasons of votes that were held back on purpose: no judge was asked, and they say nothing about a judge."""

REASON_BY_FINISH: Mapping[str | None, UnscoredReason] = {
    "length": "truncated",
    "content_filter": "content_filter",
    "too_long": "too_long",
}
"""Why a reply without a verdict has none, where its finish reason says so."""

FINAL_FINISHES: frozenset[UnscoredReason] = frozenset({"content_filter", "too_long"})
"""After these, asking again in the same conversation brings the same."""

MatchKind = Literal["exact", "normalized", "near", "json", "tag", "line", "none"]

Message = dict[str, str]
"""One chat message: ``{"role": …, "content": …}``."""


def without_lone_surrogates(text: str) -> str:
    r"""Return the text with half characters replaced, which no file, journal or request can carry.

    A reply or a row of data that was cut in the middle of an emoji ends in one.

    >>> without_lone_surrogates("cut off \ud83d")
    'cut off �'
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_missing(value: object) -> bool:
    """Return whether a cell is empty: None, the NaN of Python or numpy, or the empty values of pandas (NA, NaT).

    >>> import numpy, pandas
    >>> [is_missing(cell) for cell in (None, float("nan"), numpy.float32("nan"), pandas.NA, "nan", 0.0, [])]
    [True, True, True, True, False, False, False]
    """
    numpy, kind = sys.modules.get("numpy"), type(value)  # where numpy is not, nothing is of its kinds
    if isinstance(value, float) or (numpy is not None and isinstance(value, numpy.floating)):
        return math.isnan(value)
    of_pandas = kind.__name__ in {"NAType", "NaTType"} and kind.__module__.startswith("pandas.")
    return value is None or of_pandas  # by name, as another thread may be importing pandas


SoundText = Annotated[str, AfterValidator(without_lone_surrogates)]
"""A text that can be written down; see :func:`without_lone_surrogates`."""

Name = Annotated[str, AfterValidator(sys.intern)]
"""A text that many votes share, held once for all."""

SoundName = Annotated[SoundText, AfterValidator(sys.intern)]
"""The same of an engine, whose texts may not be sound."""

_Value = TypeVar("_Value", bound=Hashable)


@lru_cache(maxsize=4096)
def held_once(value: _Value) -> _Value:
    """Return the value, or an equal one that is held already: votes hold few different orders and matches.

    >>> held_once((0, 1, len("ab"))) is held_once((0, 1, 2))
    True
    """
    return value


@frozen_value
class Match(FrozenValue):
    """The offered label that a reply names.

    Attributes:
        index: The label's index, or None.
        kind: By which rule it was found; ``none`` when it was not.
        reason: Why nothing was found, when nothing was.
    """

    index: int | None
    kind: MatchKind
    reason: UnscoredReason | None = None


@frozen_value
class Usage(FrozenValue):
    """The consumption of one or more calls.

    Attributes:
        calls: Calls sent to the engine and answered (a reply taken from the journal is not a call).
        cached: Replies taken from the journal.
        requests: Requests sent for all calls, retries and calls without a reply included; 0 for engines that send none.
        lost: Of these, those that brought no reply and may have been billed all the same.
        prompt_tokens: The tokens as the server counted them, journaled replies included.
        completion_tokens: The tokens as the server counted them, journaled replies included.
        cached_tokens: Prompt tokens of newly bought replies that the server's own cache held.
        cost: US dollars spent by the calls; None if the price is not known. Journaled replies cost nothing.
        at_risk: US dollars at most that the lost requests cost, and the unreported replies beyond their ``cost``, where
            ``max_cost`` was to be kept; else 0.
        unreported: Calls answered with no usage, or with less than the texts have; their ``cost`` is the least.
    """

    calls: int = 0
    cached: int = 0
    requests: int = 0
    lost: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    at_risk: float = 0.0
    cached_tokens: int = 0
    unreported: int = 0

    def __add__(self, other: Usage) -> Usage:
        if self is NOTHING_USED:
            return other
        counted: dict[str, float | None] = {
            name: (getattr(self, name) or 0) + (getattr(other, name) or 0) for name in self.__slots__
        }
        if self.cost is None and other.cost is None:
            counted["cost"] = None
        return self.model_copy(update=counted)


NOTHING_USED = Usage()
"""The usage without calls."""


@frozen_value
class TokenLogprob(FrozenValue):
    """One generated token with its log-probability, and the likeliest tokens at its place.

    A log-probability is None if the server sent none, or something other than a number.
    """

    token: SoundText
    logprob: float | None
    top: tuple[tuple[SoundText, float | None], ...] = ()


@frozen_value
class Completion(FrozenValue):
    """One reply of an engine.

    Attributes:
        text: The reply; None when the server sent no content.
        finish_reason: As named by the server: ``stop``, ``length``, ``content_filter``, …; ``too_long`` for a reply
            that was not read, because it is longer than what is read.
        prompt_tokens: Tokens of the request, where the server counted them and not too few for its text.
        completion_tokens: Tokens of the reply and its reasoning, where the server counted them and not too few.
        cached_tokens: Tokens of the request that the server's own cache held, where it says so.
        cost: US dollars, where the price is known; the least that it can have cost, where tokens were not counted.
        model: The model that answered, as the server named it.
        logprobs: Per generated token, where they were asked for and given.
        cached: The reply came from the journal.
        attempts: Requests sent for it, retries included; 0 where none was.
        lost: Of these, those before it that may have been billed.
        at_risk: US dollars at most that these cost, and this reply beyond ``cost``, where ``max_cost`` was to be kept.
        reasoning: The reasoning trace of a thinking model, where the server sent one; no verdict is read from it.
    """

    text: SoundText | None
    finish_reason: SoundName | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    model: SoundName | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    cached: bool = False
    reasoning: SoundText | None = None
    attempts: int = 0
    lost: int = 0
    at_risk: float = 0.0
    cached_tokens: int | None = None

    @property
    def counted(self) -> bool:
        """Whether the server counted its tokens and the price is known, so that ``cost`` is what it cost."""
        return None not in (self.cost, self.prompt_tokens, self.completion_tokens)

    @property
    def usage(self) -> Usage:
        """The usage of this reply."""
        tokens = {"prompt_tokens": self.prompt_tokens or 0, "completion_tokens": self.completion_tokens or 0}
        if self.cached:
            return NOTHING_USED.model_copy(update={**tokens, "cached": 1, "cost": None if self.cost is None else 0.0})
        sent = {"calls": 1, "requests": self.attempts, "lost": self.lost, "at_risk": self.at_risk}
        sent["cached_tokens"] = self.cached_tokens or 0
        sent["unreported"] = int(not self.counted and bool(self.cost or self.at_risk))
        return NOTHING_USED.model_copy(update={**tokens, **sent, "cost": self.cost})


class Prompts(Mapping[str, list[Message]]):
    """The messages that were sent, by stage, held small: most of a prompt is our own text and that of the question.

    What is left of them without the texts that are held elsewhere is the same for most votes of a run, and held once.

    A mapping stage -> messages, which is written as the plain one that it equals.

    >>> sent = Prompts({"assessment": [{"role": "user", "content": "Is it clear?"}]}, like=("Is it clear?",))
    >>> sent["assessment"], sent == {"assessment": [{"role": "user", "content": "Is it clear?"}]}
    ([{'role': 'user', 'content': 'Is it clear?'}], True)
    """

    __slots__ = ("_known", "_like", "_packed")

    def __init__(self, messages: Mapping[str, list[Message]], like: tuple[str, ...] = (), known: bytes = b"") -> None:
        """Pack the messages.

        Args:
            messages: By stage.
            like: Texts that occur in them and are held elsewhere too: of these, nothing is held twice.
            known: Texts that they repeat in part, and that are held anyway.
        """
        written = json_bytes(dict(messages))
        nonces = dict.fromkeys(found[1].decode() for found in islice(_NONCE.finditer(written), _MOST_NONCES))
        self._like = (*like, *nonces)
        self._known = known
        for text, place in sorted(zip(self._like, count()), key=lambda each: len(each[0]), reverse=True):
            said, pointer = json_bytes(text)[1:-1], b"\x00%d\x00" % place
            if not text:  # the longer ones come first, since they may hold others
                break
            if len(text) < _SHORTEST_ANYWHERE:
                said, pointer = _LINE % said, _LINE % pointer
            written = written.replace(said, pointer)
        self._packed = _packed(written, known)

    def as_json(self) -> bytes:
        """Return the plain mapping as JSON."""
        unpacker = zlib.decompressobj(zdict=self._known) if self._known else zlib.decompressobj()
        written = unpacker.decompress(self._packed)
        return _POINTER.sub(lambda found: json_bytes(self._like[int(found[1])])[1:-1], written)

    def plain(self) -> dict[str, list[Message]]:
        """Return the plain mapping."""
        found: dict[str, list[Message]] = from_json(self.as_json())
        return found

    def __getitem__(self, stage: str) -> list[Message]:
        return self.plain()[stage]

    def __iter__(self) -> Iterator[str]:
        return iter(self.plain())

    def __len__(self) -> int:
        return len(self.plain())

    def __hash__(self) -> int:
        return hash(frozenset(self.plain()))

    def __repr__(self) -> str:
        return repr(self.plain())

    def __reduce__(self) -> tuple[type[Prompts], tuple[dict[str, list[Message]]]]:
        return Prompts, (self.plain(),)  # what is held elsewhere here is not held there

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        plain = SchemaValidator(handler(dict[str, list[Message]]))
        return core_schema.no_info_before_validator_function(
            lambda given: given if isinstance(given, cls) else cls(plain.validate_python(given)),
            core_schema.is_instance_schema(cls),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.plain),
        )


_NONCE = re.compile(rb"-([0-9a-f]{8})>")
_MOST_NONCES = 8
_SHORTEST_ANYWHERE = 8
"""A text that is shorter is looked for in a line of its own, as data stand in prompts."""
_LINE = b"\\n%b\\n"
_POINTER = re.compile(rb"\x00(\d+)\x00")  # JSON itself never holds this character


@lru_cache(maxsize=128)
def _packed(written: bytes, known: bytes) -> bytes:
    """Return the text compressed; the same object for a text that was packed lately."""
    packer = zlib.compressobj(zdict=known) if known else zlib.compressobj()
    return packer.compress(written) + packer.flush()


def json_bytes(value: object) -> bytes:
    """Return a value as JSON, half characters replaced."""
    try:
        return to_json(value)
    except PydanticSerializationError:  # half a character, which nothing can carry
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


@frozen_value
class Vote(FrozenValue):
    """One answer to one question: one judge, one order, one sample.

    Attributes:
        judge_id: The judge.
        order: The permutation shown: place ``i`` showed the option (or response) ``order[i]`` of the criterion's
            own order.
        sample: The number of the draw among repeated draws, from 0.
        selected_index: The option selected, in the criterion's own order; None when unscored.
        selected_label: Its label; for a comparison in the criterion's own order too, not as it was shown.
        value: Its value, where it has one.
        na: The selected option says that the question does not apply.
        probabilities: Per option in the criterion's own order, where log-probabilities were asked for and given.
        assessment: The reasons that the judge gave before it chose.
        summary: A summary of the assessment, where one was asked for.
        completion: The reply that the selection was read from. Its reasoning trace begins with that of the assessment,
            where that was a reply of its own.
        match: The way in which the selection was read.
        unscored_reason: Why nothing was selected, when nothing was.
        error: The engine's message, when a call failed.
        weight: The judge's weight in the panel.
        reasks: The number of times that the judge was asked again to name an option.
        usage: The consumption of all calls of this vote.
        prompts: Stage -> the messages sent, for the stages that ran.
        draws_planned: The draws of the prompt at most, if they could stop early; None if their number was fixed.
    """

    judge_id: Name
    order: Annotated[tuple[int, ...], AfterValidator(held_once)]
    sample: int = 0
    selected_index: int | None = None
    selected_label: Name | None = None
    value: float | None = None
    na: bool = False
    probabilities: tuple[float, ...] | None = None
    assessment: str | None = None
    summary: str | None = None
    completion: Completion | None = None
    match: Annotated[Match | None, AfterValidator(held_once)] = None
    unscored_reason: UnscoredReason | None = None
    error: Name | None = None
    weight: float = 1.0
    reasks: int = 0
    usage: Annotated[Usage, AfterValidator(held_once)] = NOTHING_USED
    prompts: Prompts | None = None
    draws_planned: int | None = None

    @property
    def asked(self) -> bool:
        """Whether the judge was asked; what the budget held back was not, and says nothing about agreement."""
        return self.unscored_reason not in WITHHELD | {"not_asked"}

    @property
    def replied(self) -> bool:
        """Whether a reply was read for it."""
        return self.completion is not None

    @property
    def unscored(self) -> bool:
        """Whether it selects nothing and is not NA."""
        return self.selected_index is None and not self.na

    @property
    def scored(self) -> bool:
        """Whether an option that is not NA was selected."""
        return self.selected_index is not None and not self.na


def unselected_draws(votes: Sequence[Vote]) -> list[Vote]:
    """Return the votes that are cast in any case: all if the number of draws was fixed, else the first two.

    If two draws were planned, only the first is made in any case.

    >>> drawn = [Vote(judge_id="j", order=(0, 1), sample=sample, draws_planned=5) for sample in range(3)]
    >>> [vote.sample for vote in unselected_draws(drawn)]
    [0, 1]
    """
    return [
        vote
        for vote in votes
        if vote.draws_planned is None or vote.sample % vote.draws_planned < max(1, min(2, vote.draws_planned - 1))
    ]


@frozen_value
class Verdict(FrozenValue):
    """The result of the votes on one question.

    Attributes:
        selected_index: The option selected, in the criterion's own order; None when unscored or a pairwise tie that
            no option names.
        selected_label: Its label (``"tie"`` for such a tie).
        value: Its value, where it has one.
        aggregated_value: The number before it was snapped to an option; equals ``value`` for rules that select.
        na: Every judge that answered said that the question does not apply.
        agreement: The share of all votes that equal the final choice. Votes that failed and abstentions are in the
            base; who was not asked has no vote, and what the budget held back is none. Of draws that could stop early
            the first two, which no stop selects, stand for all.
        spread: The mean over judges and orders of the population standard deviation of the values drawn; None without
            repeated draws, and where they could stop early.
        position_consistent: Whether every judge selected the same option in all orders; None if no judge answered in
            two.
        bounds: The lowest and highest ``aggregated_value`` with the unscored votes left out, or all for one option;
            None when no vote is unscored.
        unscored_reason: Why nothing was selected, when nothing was.
        assessment: The reasons of one of the votes that the verdict rests on.
        votes: All votes, the unscored ones included.
    """

    selected_index: int | None = None
    selected_label: Name | None = None
    value: float | None = None
    aggregated_value: float | None = None
    na: bool = False
    agreement: float | None = None
    spread: float | None = None
    position_consistent: bool | None = None
    bounds: tuple[float, float] | None = None
    unscored_reason: UnscoredReason | None = None
    assessment: str | None = None
    votes: tuple[Vote, ...] = ()

    @property
    def score(self) -> float | None:
        """The number that the votes were aggregated to; None if there is none."""
        return self.aggregated_value

    @property
    def label(self) -> str | None:
        """The option selected."""
        return self.selected_label

    @property
    def reason(self) -> str | None:
        """The reasons of one of the votes that the verdict rests on."""
        return self.assessment

    @property
    def complete(self) -> bool:
        """Whether there are votes, and none is unscored."""
        return bool(self.votes) and not any(vote.unscored for vote in self.votes)

    @property
    def scored(self) -> bool:
        """Whether the verdict has a number."""
        return self.aggregated_value is not None


MISSING_RESPONSE = Verdict(unscored_reason="missing_response")
"""The verdict on an instance that has no response to judge: no judge was asked."""

"""What a run may spend: calls and dollars, authorised before a call leaves, and who gets the last of them.

What a call will cost is told before it leaves by its price, its prompt, its token limit, and what replies have taught.
No tokenizer is asked: which one a server has is not known, and fetching one needs a network. A text has no more tokens
than bytes: byte-level vocabularies hold every byte, and what SentencePiece does not know it spells in bytes too. It has
no fewer than words: see :func:`least_tokens`.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, Self

from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.errors import BudgetExhaustedError, InvalidInputError
from evenhand.numbers import format_cost
from evenhand.votes import Completion, Message

TEMPLATE_TOKENS: Final = 64
"""What a chat template may write around a conversation: a system prompt of the server's own is learnt from replies."""
MESSAGE_TOKENS: Final = 16
ASSUMED_REPLY_TOKENS: Final = 1024
"""Of a reply without a token limit, until the first one has come."""
INSTRUCTION_BYTES: Final = 1024
"""What a further prompt of a conversation adds to it, until one was seen."""
BYTES_PER_TOKEN: Final = 4
"""Of a reply, until one was seen."""
LONGEST_TOKEN: Final = 128
"""Bytes of the longest token in the vocabularies of OpenAI (r50k, cl100k, o200k) and Llama 3; SentencePiece trains none
of more than 16 characters (``max_sentencepiece_length``)."""
MARGIN: Final = 2.0
"""How much longer than the longest seen the next reply without a token limit may be."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of a request and its reply."""

    prompt: float
    reply: float


@dataclass(frozen=True, slots=True)
class CallSize:
    """How large a call is.

    Attributes:
        stage: Of the flow.
        prompt: No less than its prompt's tokens: the bytes of its messages and schema, and what a chat template adds.
        added: Of these, what the last prompt of a longer conversation added to it; 0 for a first one.
    """

    stage: Stage
    prompt: int
    added: int

    @classmethod
    def of(cls, request: Request) -> Self:
        """The size of a request's call."""
        schema, sizes = request.response_schema, [_message_bytes(message) for message in request.messages]
        beside = TEMPLATE_TOKENS + (0 if schema is None else len(json.dumps(dict(schema))))
        return cls(request.stage, sum(sizes) + beside, sum(sizes[2:]) + beside if len(sizes) > 2 else 0)


def _message_bytes(message: Message) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in message.values()) + MESSAGE_TOKENS


def least_tokens(*texts: str | None) -> int:
    """Count the tokens that texts have at least: one per word, and one per :data:`LONGEST_TOKEN` bytes of a long word.

    A word is a run without white space that holds a letter or a digit. No token holds parts of two words: byte-level
    tokenizers split a text before they merge bytes, by patterns whose pieces have white space at the ends only (GPT-2's
    and those of cl100k and o200k, ``tiktoken_ext/openai_public.py``; Llama 3, Qwen, DeepSeek and Mistral use variants),
    and SentencePiece keeps pieces within white space (``split_by_whitespace``, its default). English has about 0.75
    words per token, so the bound is near; scripts without spaces have it far below.

    >>> least_tokens("Verdict: **Yes**, it is 3.5 m.", None, "-----"), least_tokens("x" * 300)
    (6, 3)
    """
    words = [word for text in texts if text for word in _WORD.findall(text)]
    if max(map(len, words), default=0) <= _SHORT_WORD:
        return len(words)
    return sum(-(-len(word.encode("utf-8", "replace")) // LONGEST_TOKEN) for word in words)


def believed_tokens(count: int | None, *texts: str | None) -> tuple[int, bool]:
    """Return a server's count and True, or the least that texts have and False where it is missing or smaller."""
    if count is not None:
        plenty = sum(len(text.split()) + len(text) // _SHORT_WORD for text in texts if text)  # no less, and quick
        if count >= plenty or count >= least_tokens(*texts):
            return count, True
    return least_tokens(*texts), False


_WORD: Final = re.compile(r"[^\W_]\S*")
_SHORT_WORD: Final = LONGEST_TOKEN // 4  # UTF-8 takes four bytes per character at most


@dataclass(slots=True)
class TokenForecast:
    """What one judge's calls are expected to have; never less than the most that was seen.

    Attributes:
        most_reply: The token limit of a reply; None where it has none.
        tried: A whole vote was done, so that its replies at each stage were seen.
    """

    most_reply: int | None = None
    tried: bool = False
    _replies: int = 0
    _ratio: float | None = None
    _longest: dict[Stage, int] = field(default_factory=dict)
    _bytes: dict[Stage, int] = field(default_factory=dict)
    _added: dict[Stage, int] = field(default_factory=dict)

    @property
    def learnt(self) -> bool:
        """Whether the replies of a vote were seen; where they have a limit, one reply is enough."""
        return self._replies > 0 and (self.tried or self.sure)

    @property
    def sure(self) -> bool:
        """Whether :meth:`most` is a bound: replies have a token limit."""
        return self.most_reply is not None

    def most(self, call: CallSize) -> Tokens:
        """The most that a call may have.

        With a token limit that is a bound: the bytes of the prompt (more, where a server has counted more tokens than
        bytes), and the limit. Without one, so many as :data:`MARGIN` times the most seen, or before the first reply
        :data:`ASSUMED_REPLY_TOKENS`.
        """
        likely = self.likely(call)
        bound = call.prompt * max(1.0, self._ratio or 0.0)
        if self.most_reply is not None:
            return Tokens(bound, float(self.most_reply))
        if not self._longest:
            return Tokens(bound, float(ASSUMED_REPLY_TOKENS))
        return Tokens(min(bound, MARGIN * likely.prompt), MARGIN * likely.reply)

    def likely(self, call: CallSize) -> Tokens:
        """As many as the prompts seen had a byte, and as the longest reply at this stage had; before that, the most."""
        prompt = call.prompt * (1.0 if self._ratio is None else self._ratio)
        return Tokens(prompt, self.likely_reply(call.stage))

    def likely_reply(self, stage: Stage) -> float:
        """Tokens of a reply at a stage; as at the others, where none was seen."""
        limit = self.most_reply if self.most_reply is not None else ASSUMED_REPLY_TOKENS
        longest = self._longest.get(stage, max(self._longest.values(), default=limit))
        return float(longest if self.most_reply is None else min(longest, self.most_reply))

    def most_after(self, call: CallSize, stages: Sequence[Stage]) -> Tokens:
        """The most that the last of these stages may have, which follow a request in its conversation."""
        most = self.most(call)
        reply, added = self._bytes.get(call.stage), 0.0
        for stage in stages:
            added += self.likely_reply(call.stage) * BYTES_PER_TOKEN if reply is None else reply
            added += self._added.get(stage, INSTRUCTION_BYTES)
            reply = self._bytes.get(stage)
        longest = MARGIN * self.likely_reply(stages[-1])
        limit = longest if self.most_reply is None else self.most_reply
        return Tokens(most.prompt + added * (most.prompt / call.prompt), float(limit))

    def learn(self, call: CallSize, completion: Completion) -> None:
        """Take note of what a reply had, where the server counted it."""
        self._replies += 1
        if completion.prompt_tokens is not None:
            self._ratio = max(self._ratio or 0.0, completion.prompt_tokens / call.prompt)
        if call.added:
            self._added[call.stage] = max(self._added.get(call.stage, 1), call.added)
        if completion.text is not None:
            written = len(completion.text.encode("utf-8", "replace"))
            self._bytes[call.stage] = max(self._bytes.get(call.stage, 1), written)
        if completion.completion_tokens is not None:
            self._longest[call.stage] = max(self._longest.get(call.stage, 1), completion.completion_tokens)


NEXT_STAGE: Final[Mapping[Stage, Stage]] = {"assessment": "selection"}
"""What follows a stage, where more calls are expected; else a summary does."""
REASKS: Final[frozenset[Stage]] = frozenset({"reask", "sheet_reask"})
INSTRUCTION_TOKENS: Final = 128
"""What a further prompt of a conversation adds, beside the reply that it follows."""


class Prices:
    """What the calls of one judge cost.

    Raises:
        InvalidInputError: If the judge's price is not known.
    """

    def __init__(self, engine: JudgeEngine, max_cost: float) -> None:
        if not isinstance(engine, PricedEngine) or engine.estimated_cost(1000, 1000) is None:
            raise InvalidInputError(
                f"max_cost={max_cost!r} cannot be kept, because the price of the judge {engine.judge_id!r} is not "
                "known: give its prompt_price and completion_price in US dollars a million tokens (0 for a server of "
                "your own), as in '…[model=NAME,prompt_price=0.15,completion_price=0.60]', or limit the run with "
                "max_calls instead; engines of unitxt have no price"
            )
        self._price = engine.estimated_cost
        taught = getattr(engine, "forecast", None)  # what its replies have taught before holds in a next run, too
        own = TokenForecast(getattr(engine, "most_reply_tokens", None))
        self.forecast: TokenForecast = taught if isinstance(taught, TokenForecast) else own

    def cost(self, tokens: Tokens) -> float:
        """US dollars for so many tokens."""
        return self._price(math.ceil(tokens.prompt), math.ceil(tokens.reply)) or 0.0

    def learn(self, request: Request, completion: Completion) -> None:
        """Take note of what a reply had."""
        self.forecast.learn(CallSize.of(request), completion)

    def quote(self, request: Request) -> Quote:
        """What the call of a request costs."""
        return Quote(self, CallSize.of(request))


@dataclass(frozen=True, slots=True)
class Quote:
    """What one call is taken to cost, as far as is known now: replies that come while it waits teach more."""

    prices: Prices
    call: CallSize

    @property
    def again(self) -> bool:
        """Whether the call asks once more, beyond what was expected of its vote."""
        return self.call.stage in REASKS

    @property
    def sure(self) -> bool:
        """Whether :meth:`most` is a bound."""
        return self.prices.forecast.sure

    @property
    def unknown(self) -> bool:
        """Whether the replies of no vote were seen: one may go alone, to find out what calls cost."""
        return not self.prices.forecast.learnt

    def most(self) -> float:
        """US dollars at most."""
        return self.prices.cost(self.prices.forecast.most(self.call))

    def likely(self) -> float:
        """US dollars as the calls before tell."""
        return self.prices.cost(self.prices.forecast.likely(self.call))

    def least_known(self) -> float:
        """US dollars at most as far as a limit tells: without one, the prompt's."""
        return self.most() if self.sure else self.prices.cost(Tokens(self.prices.forecast.most(self.call).prompt, 0))

    def rest(self, calls: int) -> tuple[float, float]:
        """What so many calls after this one are likely to cost together, and how much more the dearest may cost."""
        forecast, likely, stages = self.prices.forecast, self.prices.forecast.likely(self.call), [self.call.stage]
        total = gap = 0.0
        for _ in range(calls):
            added = forecast.likely_reply(stages[-1]) + INSTRUCTION_TOKENS
            stages.append(NEXT_STAGE.get(stages[-1], "summary"))
            likely = Tokens(likely.prompt + added, forecast.likely_reply(stages[-1]))
            cost = self.prices.cost(likely)
            total += cost
            gap = max(gap, self.prices.cost(forecast.most_after(self.call, stages[1:])) - cost)
        return total, gap

    def told(self) -> str:
        """What a refusal says of it."""
        limit = self.prices.forecast.most_reply
        limited = "without max_tokens" if limit is None else f"with max_tokens={limit}"
        return f"the next call may cost {format_cost(self.most())}, {limited}"


ROUNDING: Final = 1e-9
AGAIN: Final = "raise it and run again; what a journal holds is not asked for again"


class Budget:
    """How many calls one run may launch, and what they may cost; shared by all its engines.

    A call asks for one reply. It counts when it is launched, whether or not it succeeds; the retries inside an engine
    are part of their call, so that there can be more requests than ``max_calls``. Replies taken from a journal are
    free. A vote that begins takes a :class:`Share` of as many places as it is expected to need, so that the votes begun
    are finished before others begin.

    Dollars are kept likewise. No call leaves unless what was spent, the most that each call under way may cost, and the
    most that it may cost itself come to no more than ``max_cost``; what it really cost counts once that is known. A
    vote begins only where what the votes begun are likely to need is left beside what it is likely to need itself, and
    what its dearest call may cost beyond that. Where replies have a token limit, ``max_cost`` is never exceeded, as far
    as prices tell. Without one, what a reply may cost is learnt from those before, for which a judge's first vote goes
    alone; replies more than twice as long as any before at their stage may exceed it. A reply whose usage the server
    did not report, or that is less than its texts have, is taken to cost the most that it can.

    Attributes:
        max_calls: None for no limit.
        max_cost: US dollars; None for no limit.
        launched: Calls launched.
        in_flight: Calls launched and not yet answered.
        cost: US dollars that the answered calls cost.
        at_risk: US dollars at most of attempts that brought no reply and may have been billed, and of replies whose
            usage the server did not report, beyond what they cost at least.
        stopped: Nothing more is launched, whatever is left.
        limited: There is a limit to keep.
        reserved: Calls promised to shares and not launched.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        if max_calls is not None and max_calls < 0:
            raise InvalidInputError(f"max_calls is {max_calls!r}; give a number of calls from 0, or None for no limit")
        if max_cost is not None and not max_cost >= 0:
            raise InvalidInputError(f"max_cost is {max_cost!r}; give US dollars from 0, or None for no limit")
        self.max_calls = max_calls
        self.max_cost = max_cost
        self.launched = 0
        self.in_flight = 0
        self.cost = 0.0
        self.at_risk = 0.0
        self.stopped = False
        self.limited = max_calls is not None or max_cost is not None
        self.reserved = 0
        self._when_stopped: list[Callable[[], None]] = []
        self._hungry: list[tuple[tuple[int, ...], int, Share]] = []
        self._poor: list[tuple[bool, tuple[int, ...], int, Share]] = []
        self._entries = 0
        self._busy = 0  # shares that wait for nothing: each may still give back what it has
        self._under_way = 0  # votes that have begun
        self._holds = 0
        self._at_stake = 0.0
        self._expected = 0.0
        self._promised = 0.0
        self._unpriced: str | None = None

    def __repr__(self) -> str:
        return f"Budget(max_calls={self.max_calls!r}, max_cost={self.max_cost!r})"

    def left(self) -> Budget:
        """A budget of what is left of this one."""
        spent = self.cost + self.at_risk + self._at_stake
        return Budget(
            None if self.max_calls is None else max(0, self.max_calls - self.launched),
            None if self.max_cost is None else max(0.0, self.max_cost - spent),
        )

    def share(self, expected: int = 0, order: tuple[int, ...] = ()) -> Share:
        """The places of one vote: so many as it is expected to need, or as many of them as there are.

        Places that are given back go to the shares that lack some, the smallest ``order`` first. Every share is closed.
        """
        share = Share(self, order, expected)
        share.expect(expected)
        return share

    def stop(self) -> None:
        """Launch nothing more; whoever waits for a place is refused. For the thread of the event loop."""
        self.stopped = self.limited = True
        self.distribute()
        for tell in self._when_stopped:
            tell()

    def when_stopped(self, tell: Callable[[], None]) -> None:
        """Call this when the budget is stopped."""
        self._when_stopped.append(tell)

    def may_grow(self, quote: Quote | None = None) -> bool:  # noqa: ARG002 - of what may be lent
        """Whether more may come from elsewhere: of calls, or for a quote of dollars."""
        return False

    def fits(self, promised: int) -> bool:
        """Whether one more call fits beside those launched and so many promised ones."""
        return not self.stopped and (self.max_calls is None or self.launched + promised < self.max_calls)

    def launch(self) -> None:
        """Count one more call in flight.

        Raises:
            BudgetExhaustedError: If it must not be launched.
        """
        if self.limited and not self.fits(0):
            raise self.refusal()
        self.launched += 1
        self.in_flight += 1

    def settled(self) -> None:
        """Count a call as answered, or as failed."""
        self.in_flight -= 1
        self.distribute()

    def queue(self, share: Share) -> None:
        """Give this share the places that it wants, when its turn comes."""
        self._entries += 1
        heappush(self._hungry, (share.order, self._entries, share))
        self.distribute()

    def distribute(self) -> None:
        """Hand out what there is; when no share holds a place that it could give back, refuse whoever waits."""
        while self._hungry and self.fits(self.reserved):
            share = self._hungry[0][-1]
            if share.wanted:
                self.reserved += 1
                share.give()
            if not share.wanted:
                heappop(self._hungry)
                share.queued = False
        if self._hungry and (self.stopped or not (self.reserved or self.may_grow())):
            refused, self._hungry = self._hungry, []
            for _, _, share in refused:
                share.queued = False
                share.refuse(self.refusal())
        self.pay_out()

    def queue_to_pay(self, share: Share) -> None:
        """Let this share pay for its call when its turn comes: votes that have begun go first."""
        self._entries += 1
        heappush(self._poor, (not share.begun, share.order, self._entries, share))

    def pay_out(self) -> None:
        """Let those pay whose turn it is; whoever could not even if all calls under way were free is refused."""
        while self._poor:
            share = self._poor[0][-1]
            if (quote := share.quote) is not None:
                if not self.stopped and self._authorised(share, quote):
                    share.pay()
                elif self._may_fit_later(quote):
                    return
                else:
                    share.refuse(self.refusal(quote))
            heappop(self._poor)

    def _authorised(self, share: Share, quote: Quote) -> bool:
        """Set aside what a share's next call may cost, and for a vote that begins what it is likely to need after it.

        Returns:
            Whether there is enough.
        """
        if self.max_cost is None or self._unpriced is not None:
            return False
        begins, most, likely = not share.begun, quote.most(), quote.likely()
        left = self.max_cost - self.cost - self.at_risk + ROUNDING
        rest, needs = self._needs(share, quote)
        fits = needs <= left
        if begins and quote.unknown and not (fits and quote.sure):
            fits = not self._under_way and quote.least_known() <= left
        if not fits:
            return False
        self._under_way += begins
        share.begun, share.forecast = True, quote.prices.forecast
        self.promise(share, rest)
        share.hold = Hold(self, quote, most, likely)
        return True

    def _needs(self, share: Share, quote: Quote) -> tuple[float, float]:
        """What calls after a share's next one are likely to cost, and what must be left so that this one may leave."""
        begins, most, likely = not share.begun, quote.most(), quote.likely()
        rest, gap = quote.rest(share.calls_after(quote)) if begins or not quote.again else (share.promised, 0.0)
        needs = self._at_stake + most
        if begins or quote.again:
            more = likely + max(gap, most - likely) + (rest if begins else 0.0)
            needs = max(needs, self._expected + self._promised + more)
        return rest, needs

    def ended(self) -> None:
        """A vote that had begun is done."""
        self._under_way -= 1

    def promise(self, share: Share, dollars: float) -> None:
        """Keep so much for the calls to come of a vote that has begun."""
        self._promised += dollars - share.promised
        share.promised = dollars

    def set_aside(self, most: float, likely: float, holds: int) -> None:
        """Count what a call may cost, from when it is authorised until it is settled."""
        self._at_stake = max(0.0, self._at_stake + most)
        self._expected = max(0.0, self._expected + likely)
        self._holds += holds
        if not self._holds:
            self._at_stake = self._expected = 0.0  # what rounding left

    def paid(self, completion: Completion, quote: Quote) -> float:
        """Count what a reply cost, and reserve the most that it may have cost where its tokens were not counted.

        Where that has no bound, all that is left is reserved.

        Returns:
            US dollars reserved.
        """
        cost = completion.cost or 0.0
        self.cost += cost
        if completion.counted:
            return 0.0
        most = quote.most()
        reserved = max(0.0, most - cost)
        if most and not quote.sure:
            self._unpriced = completion.model or "the engine"
            reserved = max(reserved, (self.max_cost or 0.0) - self.cost - self.at_risk - self._at_stake + most)
        self.at_risk += reserved
        return reserved

    def within(self) -> bool:
        """Whether what was spent and what is at stake keep to ``max_cost``."""
        return self.max_cost is None or self.cost + self.at_risk + self._at_stake <= self.max_cost + ROUNDING

    def busy(self, change: int) -> None:
        """Count the shares that wait for nothing."""
        self._busy += change

    def refusal(self, quote: Quote | None = None) -> BudgetExhaustedError:
        """Why there is no place, or not enough for a call."""
        if self.stopped:
            return BudgetExhaustedError("the run was interrupted before this call was launched")
        if quote is None:
            return BudgetExhaustedError(f"max_calls={self.max_calls!r} was reached: {AGAIN}")
        if self._unpriced is not None:
            return BudgetExhaustedError(
                f"max_cost={self.max_cost!r} cannot be kept, because a reply of {self._unpriced!r} does not say how "
                "many tokens it has, or says too few: give the engine its max_tokens, or limit the run with max_calls "
                "instead"
            )
        risk = f", {format_cost(self.at_risk)} reserved for what the server did not report" if self.at_risk else ""
        return BudgetExhaustedError(
            f"max_cost={self.max_cost!r} was reached ({format_cost(self.cost)} spent{risk}; {quote.told()}): {AGAIN}"
        )

    def _may_fit_later(self, quote: Quote) -> bool:
        """Whether a call that has no room now may have it once others are settled or give back."""
        if self.stopped or self._unpriced is not None or self.max_cost is None:
            return False
        if quote.sure and self.cost + self.at_risk + quote.most() > self.max_cost + ROUNDING:
            return self.may_grow(quote)
        return self.may_grow(quote) or bool(self._busy or self._holds)


class Hold:
    """What is set aside for one call, until it is settled. It is asked before an attempt is made again.

    Attributes:
        attempts: Requests sent.
        lost: Of these, those that brought no reply and may have been billed.
        at_risk: US dollars at most that these cost, and the reply beyond its cost, where that is limited.
        open: Something is set aside.
    """

    __slots__ = ("_budget", "_likely", "_most", "_quote", "at_risk", "attempts", "lost", "open")

    def __init__(self, budget: Budget, quote: Quote | None, most: float, likely: float) -> None:
        self._budget = budget
        self._quote = quote
        self._most = most
        self._likely = likely
        self.attempts = 1
        self.lost = 0
        self.at_risk = 0.0
        self.open = True
        budget.set_aside(most, likely, 1)

    def again(self, *, may_be_billed: bool) -> None:
        """Before a request is sent again: the attempt before it may have to be paid for, too.

        Raises:
            BudgetExhaustedError: If another attempt might cost more than there is.
        """
        if may_be_billed:
            self._risk()
        if self._quote is not None and not self._budget.within():
            raise self._budget.refusal(self._quote)
        self.attempts += 1

    def settle(self, completion: Completion | None, *, may_be_billed: bool = False) -> None:
        """The call was answered, or brought no reply."""
        if completion is not None and self._quote is not None:
            self.at_risk += self._budget.paid(completion, self._quote)
        elif may_be_billed:
            self._risk()
        self.release()
        self._budget.settled()

    def release(self) -> None:
        """Nothing is set aside any more."""
        if self.open:
            self.open = False
            self._budget.set_aside(-self._most, -self._likely, -1)

    def _risk(self) -> None:
        self.lost += 1
        self.at_risk += self._most
        self._budget.at_risk += self._most


class Share:
    """The places in a budget that one vote holds, for one call after the other, and what it may spend.

    A share that holds a place never waits for another one's, and one that waits to pay is refused as soon as nobody can
    give anything back, so that waiting always ends.

    Attributes:
        order: The smallest is served first.
        held: Places promised to this vote.
        wanted: Places that it still lacks.
        queued: It is in the budget's queue.
        begun: A call of it was paid for.
        forecast: What the judge's replies teach, of a vote that has begun.
        promised: US dollars kept for its calls to come.
        quote: What the call costs that it waits to pay for.
        hold: What is set aside for its next call.
    """

    __slots__ = (
        "_budget", "_calls", "_closed", "_refused", "_waiter", "begun", "forecast", "held", "hold", "order", "promised",
        "queued", "quote", "wanted",
    )  # fmt: skip

    def __init__(self, budget: Budget, order: tuple[int, ...], calls: int = 0) -> None:
        self.order = order
        self.held = 0
        self.wanted = 0
        self.queued = False
        self.begun = False
        self.forecast: TokenForecast | None = None
        self.promised = 0.0
        self.quote: Quote | None = None
        self.hold: Hold | None = None
        self._budget = budget
        self._calls = calls
        self._closed = False
        self._refused: BudgetExhaustedError | None = None
        self._waiter: asyncio.Future[None] | None = None
        budget.busy(1)

    def calls_after(self, quote: Quote) -> int:
        """How many calls are expected after this one."""
        return max(0, self._calls - (not quote.again))

    def expect(self, calls: int) -> None:
        """So many more calls than were expected."""
        if self._budget.limited and calls:
            self.wanted += calls
            if not self.queued:
                self.queued = True
                self._budget.queue(self)

    def ready(self, quote: Quote | None = None) -> bool:
        """Whether a place is held and paid for for the next call; both are sought.

        Args:
            quote: What the call costs; None where nothing limits the cost.
        """
        if not self._budget.limited:
            return True
        if not self._has_place():
            return False
        if quote is None or self.hold is not None:
            return True
        self.quote = quote
        self._budget.queue_to_pay(self)
        self._budget.pay_out()
        return self.hold is not None

    def _has_place(self) -> bool:
        if self.held:
            return True
        if not self.wanted:
            self.expect(1)
        elif not self.queued:
            self.queued = True
            self._budget.queue(self)
        return self.held > 0

    async def granted(self) -> None:
        """Wait for what :meth:`ready` lacked.

        Raises:
            BudgetExhaustedError: When it can come no more.
        """
        if self._refused is not None:
            error, self._refused = self._refused, None
            raise error
        if self.quote is None:
            if self.held:
                return
            if self._budget.stopped or not (self._budget.reserved or self._budget.may_grow()):
                raise self._budget.refusal()
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        self._budget.busy(-1)
        self._budget.pay_out()
        try:
            await waiter
        finally:
            if waiter.cancelled() or not waiter.done():
                self._budget.busy(1)
            self._waiter = self.quote = None

    def take(self) -> Hold:
        """What is set aside for the next call, which settles or releases it from now on."""
        hold, self.hold = self.hold, None
        return Hold(self._budget, None, 0.0, 0.0) if hold is None else hold

    def launch(self) -> None:
        """Use a place: one more call is in flight, until what it holds is settled.

        Raises:
            BudgetExhaustedError: If it must not be launched.
        """
        if self.held:
            self.held -= 1
            self._budget.reserved -= 1
            self._budget.launch()
        elif self._budget.limited and not self._budget.fits(self._budget.reserved):
            raise self._budget.refusal()
        else:
            self._budget.launch()

    def skip(self, hold: Hold | None = None) -> None:
        """An expected call was not needed.

        Args:
            hold: What was set aside for it already.
        """
        if hold is not None:
            hold.release()
        elif self._calls:
            self._budget.promise(self, self.promised * (self._calls - 1) / self._calls)
            self._calls -= 1
        if self.wanted:
            self.wanted -= 1
        elif self.held:
            self._give_back(1)
        else:
            self._budget.pay_out()

    def close(self) -> None:
        """The vote is done; what it did not use goes to others."""
        if self._closed:
            return
        self._closed = True
        if self.forecast is not None:
            self.forecast.tried = True
            self._budget.ended()
        self.wanted = 0
        self.quote = None
        self.take().release()
        self._budget.busy(-1)
        self._budget.promise(self, 0.0)
        self._give_back(self.held)

    def give(self) -> None:
        """A place for this vote."""
        self.held += 1
        self.wanted -= 1
        self.wake()

    def pay(self) -> None:
        """The call that was waited for is paid for."""
        if self.quote is not None:
            self._calls = self.calls_after(self.quote)
            self.quote = None
        self.wake()

    def wake(self) -> None:
        """What was waited for is there."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
            self._budget.busy(1)

    def refuse(self, error: BudgetExhaustedError) -> None:
        """It will not come."""
        self.wanted = 0
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(error)
            self._budget.busy(1)
        elif self.quote is not None:
            self._refused = error
        self.quote = None

    def _give_back(self, places: int) -> None:
        self.held -= places
        self._budget.reserved -= places
        self._budget.distribute()

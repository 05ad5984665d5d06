"""The budget of a run: an upper bound is reserved before a call leaves, and settled after it.

No tokenizer is asked: which one a server has is not known, and fetching one needs a network. A text has no more tokens
than bytes: byte-level vocabularies hold every byte, and what SentencePiece does not know it spells in bytes too. It has
no fewer than words: see :func:`least_tokens`.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Callable
from typing import Final

from evenhand.engines.base import JudgeEngine, PricedEngine, Request
from evenhand.errors import BudgetExhaustedError, InvalidInputError
from evenhand.numbers import format_cost
from evenhand.votes import Completion, Message

TEMPLATE_TOKENS: Final = 64
"""Tokens that a chat template may add to a conversation: a system prompt of the server is learnt from replies."""
INSTRUCTION_TOKENS: Final = 1024
"""Tokens that a further prompt of a conversation adds to the reply before it, until one was seen."""
MARGIN: Final = 2
"""The factor by which the next reply without a token limit may be longer than the longest seen."""
LONGEST_TOKEN: Final = 128
"""Bytes of the longest token in the vocabularies of OpenAI (r50k, cl100k, o200k) and Llama 3; SentencePiece trains none
of more than 16 characters (``max_sentencepiece_length``)."""
AGAIN: Final = "raise it and run again; what a journal holds is not asked for again"
_WORD: Final = re.compile(r"[^\W_]\S*")


def message_bytes(message: Message) -> int:
    """Return no less than the tokens of a message."""
    return sum(len(text.encode("utf-8", "replace")) for text in message.values()) + 16  # of a template


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
    long = [word for word in words if len(word) > LONGEST_TOKEN // 4]  # UTF-8 takes four bytes per character at most
    return len(words) + sum((len(word.encode("utf-8", "replace")) - 1) // LONGEST_TOKEN for word in long)


def believed_tokens(count: int | None, *texts: str | None) -> tuple[int, bool]:
    """Return a server's count and True, or the least that texts have and False where it is missing or smaller."""
    if count is not None:
        runs = [run for text in texts if text for run in text.split()]  # no fewer than words, and quick to count
        short = max(map(len, runs), default=0) <= LONGEST_TOKEN and all(text.isascii() for text in texts if text)
        if (short and count >= len(runs)) or count >= least_tokens(*texts):
            return count, True
    return least_tokens(*texts), False


class Prices:
    """The highest possible cost of one judge's calls, as far as its replies show.

    Attributes:
        sure: Replies have a token limit, so that the bounds hold.
        tried: A whole vote was done, so that its replies at each stage were seen.

    Raises:
        InvalidInputError: If the judge's price is not known.
    """

    def __init__(self, engine: JudgeEngine, max_cost: float) -> None:
        if not isinstance(engine, PricedEngine) or engine.estimated_cost(1000, 1000) is None:
            raise InvalidInputError(
                f"max_cost={max_cost!r} cannot be kept, because the price of the judge {engine.judge_id!r} is not "
                "known: give its prompt_price and completion_price in US dollars per million tokens, as in "
                "'…[model=NAME,prompt_price=0.15,completion_price=0.60]', or limit the run with max_calls instead"
            )
        self._price = engine.estimated_cost
        self._limit: int | None = getattr(engine, "most_reply_tokens", None)
        self.sure, self.tried = self._limit is not None, False
        self._longest: dict[int, int] = {}  # tokens of a reply, by its turn in the conversation
        self._added = 0.0
        self._ratio = 1.0

    def bounds(self, request: Request, calls: int) -> tuple[float, float]:
        """Return US dollars of the call of a request at most, and of as many more calls of its conversation.

        With a token limit the first is a bound: the bytes of the prompt (more, if the server has counted more tokens
        than bytes), and the limit. Without one, a reply is taken to have :data:`MARGIN` times the tokens of the longest
        seen at its place in the conversation. Later prompts are taken to grow as they have grown before.
        """
        turn, ratio, any_turn = len(request.messages) // 2, self._ratio, max(self._longest.values(), default=0)
        added = ratio * self._added if self.tried else INSTRUCTION_TOKENS + (self._limit or any_turn)
        costs = []
        for later in range(calls + 1):
            longest = MARGIN * self._longest.get(turn + later, any_turn)
            prompt = ratio * _prompt_bytes(request) + later * added
            costs.append(self._price(math.ceil(prompt), longest if self._limit is None else self._limit) or 0.0)
        return costs[0], sum(costs[1:])

    def learn(self, request: Request, completion: Completion) -> None:
        """Take note of what a reply had, where the server counted it."""
        if completion.prompt_tokens is not None:
            self._ratio = max(self._ratio, completion.prompt_tokens / _prompt_bytes(request))
        turns, reply = len(request.messages) // 2, {"role": "assistant", "content": completion.text or ""}
        self._longest[turns] = max(self._longest.get(turns, 0), completion.completion_tokens or 0)
        later = [*map(message_bytes, request.messages[1:])] if turns else [message_bytes(reply)]
        self._added = max(self._added, sum(later) / max(1, turns))


def _prompt_bytes(request: Request) -> int:
    schema = request.response_schema
    template = TEMPLATE_TOKENS + (0 if schema is None else len(json.dumps(dict(schema))))
    return sum(map(message_bytes, request.messages)) + template


class Budget:
    """The number of calls that one run may launch, and their cost; shared by all its engines.

    A call asks for one reply. It counts when it is launched, whether or not it succeeds; the retries inside an engine
    are part of their call, so that there can be more requests than ``max_calls``. Replies from a journal are free.

    No call leaves unless what was spent and the most that it, and every call under way, may cost are within
    ``max_cost``; its real cost counts once that is known. A vote begins only where the calls that it is expected to
    need fit, or where no other vote is under way. Where replies have a token limit, ``max_cost`` is not exceeded, as
    far as prices go. Without one, a judge's first call goes alone, and ``max_cost`` may be exceeded by the calls in
    flight, if their replies are more than twice as long as any before. A reply whose usage the server did not report,
    or that is less than its texts have, is taken to cost the most that it can.

    Attributes:
        max_calls: None for no limit.
        max_cost: US dollars; None for no limit.
        launched: Calls launched.
        in_flight: Calls launched and not yet answered.
        cost: US dollars that the answered calls cost.
        at_risk: US dollars at most of attempts that brought no reply and may have been billed, and of replies whose
            usage the server did not report, beyond what they cost at least.
        stopped: Nothing more is launched.
        limited: There is a limit to keep.
        begun: Votes that have begun and not ended.
        on_stop: Called when the budget is stopped.
    """

    def __init__(self, max_calls: int | None = None, max_cost: float | None = None) -> None:
        self.max_calls, self.max_cost = max_calls, max_cost
        self.launched = self.in_flight = 0
        self.cost = self.at_risk = 0.0
        self.stopped = False
        self.limited = max_calls is not None or max_cost is not None
        self.begun = 0
        self._calls, self._dollars = 0, 0.0  # promised to votes that have begun, and to calls under way
        self._unpriced: str | None = None
        self.on_stop: list[Callable[[], None]] = []
        self._changed = asyncio.Event()

    def left(self) -> Budget:
        """Return a budget of what is left of this one."""
        return Budget(
            None if self.max_calls is None else max(0, self.max_calls - self.launched),
            None if self.max_cost is None else max(0.0, self.max_cost - self.cost - self.at_risk - self._dollars),
        )

    def stop(self) -> None:
        """Launch nothing more and refuse every vote that waits. For the thread of the event loop."""
        self.stopped = self.limited = True
        self._changed.set()
        for stop in self.on_stop:
            stop()

    def fits(self, calls: int, dollars: float) -> bool:
        """Return whether calls fit, and dollars, next to what was spent and promised."""
        if self.stopped or (self.max_calls is not None and self.launched + self._calls + calls > self.max_calls):
            return False
        spent = self.cost + self.at_risk + self._dollars
        return self.max_cost is None or (self._unpriced is None and spent + dollars <= self.max_cost + 1e-9)

    def promise(self, calls: int, dollars: float) -> None:
        """Keep calls and dollars for a vote; negative numbers give them back, and votes that wait look again."""
        self._calls += calls
        self._dollars = max(0.0, self._dollars + dollars)
        self._changed.set()

    async def changed(self) -> None:
        """Wait until something was given back."""
        self._changed.clear()
        await self._changed.wait()

    def paid(self, completion: Completion, bound: float, *, sure: bool) -> float:
        """Count what a reply cost, and the most that it may have cost where its tokens were not counted.

        Where that has no bound, nothing more is launched.

        Returns:
            US dollars beyond its cost.
        """
        cost = completion.cost or 0.0
        self.cost += cost
        if completion.counted:
            return 0.0
        beyond = max(0.0, bound - cost)
        if bound and not sure:
            self._unpriced = completion.model or "the engine"
            beyond = max(beyond, (self.max_cost or 0.0) - self.cost - self.at_risk)
        self.at_risk += beyond
        return beyond

    def refusal(self, bound: float = 0.0) -> BudgetExhaustedError:
        """Return why a call is not launched that may cost this much."""
        if self.stopped:
            return BudgetExhaustedError("the run was interrupted before this call was launched")
        if self._unpriced is not None:
            return BudgetExhaustedError(
                f"max_cost={self.max_cost!r} cannot be kept, because a reply of {self._unpriced!r} does not say how "
                "many tokens it has, or says too few: give the engine its max_tokens, or limit the run with max_calls "
                "instead"
            )
        if self.max_calls is not None and self.launched + self._calls >= self.max_calls:
            return BudgetExhaustedError(f"max_calls={self.max_calls!r} was reached: {AGAIN}")
        risk = f", {format_cost(self.at_risk)} reserved for what the server did not report" if self.at_risk else ""
        return BudgetExhaustedError(
            f"max_cost={self.max_cost!r} was reached ({format_cost(self.cost)} spent{risk}; the next call may cost "
            f"{format_cost(bound)}): {AGAIN}"
        )


class Share:
    """The calls and dollars that one vote, which is expected to need this many calls, may still spend.

    Every share is closed.
    """

    __slots__ = ("_begun", "_budget", "_calls", "_dollars", "_expected", "_prices")

    def __init__(self, budget: Budget, expected: int = 0) -> None:
        self._budget, self._expected = budget, expected
        self._calls, self._dollars, self._begun = 0, 0.0, False
        self._prices: Prices | None = None

    async def reserve(self, request: Request, prices: Prices | None) -> Hold:
        """Reserve the next call, and when the vote begins those expected after it, which may wait for other votes.

        Raises:
            BudgetExhaustedError: If there is no room for it, and none can come.
        """
        budget, calls = self._budget, max(1, self._expected)
        if not budget.limited:
            return Hold(budget, 0.0, prices)
        while True:  # replies that came meanwhile have taught more
            bound, rest = (0.0, 0.0) if prices is None else prices.bounds(request, calls - 1)
            tried = prices is None or prices.tried
            if self._begun:
                more = max(0, 1 - self._calls), max(0.0, bound - self._dollars)
            elif budget.begun:
                more = calls, bound + rest
            else:  # this vote has what is left
                most = calls if budget.max_calls is None else budget.max_calls - budget.launched
                whole = tried or budget.fits(calls, bound + rest)
                more = max(1, min(calls, most)), bound + (rest if whole else 0.0)
            if budget.fits(*more) and (self._begun or not budget.begun or tried or (prices and prices.sure)):
                break
            if self._begun or not budget.begun:
                raise budget.refusal(bound)
            await budget.changed()
        budget.promise(*more)
        budget.begun += not self._begun
        self._begun, self._prices = True, prices
        self._calls += more[0] - 1
        self._dollars += more[1] - bound
        return Hold(budget, bound, prices, held=True)

    def skip(self) -> None:
        """Expect one call less: its reply is known, or it was made."""
        self._expected = max(0, self._expected - 1)

    def close(self) -> None:
        """End the vote, and give back what was not used."""
        self._budget.begun -= self._begun
        self._budget.promise(-self._calls, -self._dollars)
        if self._prices is not None:
            self._prices.tried = True


class Hold:
    """The amount reserved for one call, until it is settled.

    Attributes:
        attempts: Requests sent.
        lost: The number of these that brought no reply and may have been billed.
        at_risk: US dollars at most that these cost, and the reply beyond its cost, where that is limited.
    """

    __slots__ = ("_bound", "_budget", "_held", "_launched", "_prices", "at_risk", "attempts", "lost")

    def __init__(self, budget: Budget, bound: float, prices: Prices | None, *, held: bool = False) -> None:
        self._budget, self._bound, self._prices, self._held = budget, bound, prices, held
        self._launched = False
        self.attempts = 1
        self.lost = 0
        self.at_risk = 0.0

    def launch(self) -> None:
        """Count the call as in flight.

        Raises:
            BudgetExhaustedError: If the budget was stopped meanwhile.
        """
        if self._budget.stopped:
            raise self._budget.refusal()
        self._launched = True
        self._budget.launched += 1
        self._budget.in_flight += 1
        if self._held:
            self._budget.promise(-1, 0.0)

    def again(self, may_be_billed: bool) -> None:
        """Allow one more attempt; the one before it may have to be paid for, too.

        Raises:
            BudgetExhaustedError: If another attempt might cost more than there is.
        """
        if may_be_billed:
            self._risk()
        if self._prices is not None and not self._budget.fits(0, 0.0):
            raise self._budget.refusal(self._bound)
        self.attempts += 1

    def settle(self, completion: Completion | None, *, may_be_billed: bool = False) -> None:
        """Settle the reservation: the call was answered, or brought no reply."""
        self._budget.in_flight -= 1
        if completion is not None and self._prices is not None:
            self.at_risk += self._budget.paid(completion, self._bound, sure=self._prices.sure)
        elif may_be_billed:
            self._risk()
        self.release()

    def release(self) -> None:
        """Reserve nothing any more."""
        if self._held:
            self._held = False
            self._budget.promise(-(not self._launched), -self._bound)

    def _risk(self) -> None:
        self.lost += 1
        self.at_risk += self._bound
        self._budget.at_risk += self._bound

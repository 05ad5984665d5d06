"""What a call will cost, before it leaves: its price, its prompt, its token limit, and what replies have taught."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from evenhand.engines.base import JudgeEngine, PricedEngine, Request, Stage
from evenhand.engines.forecast import CallSize, TokenForecast, Tokens
from evenhand.errors import InvalidInputError
from evenhand.numbers import format_cost
from evenhand.votes import Completion

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

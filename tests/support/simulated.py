"""A simulated judge behind the loopback server, so that a flow is tested over real HTTP against a known truth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.engines.base import Request
from evenhand.engines.free_engines import SimulatedEngine
from evenhand.engines.remote import RemoteJudge
from evenhand.question import Question
from evenhand.votes import Completion
from tests.support.server import Reply


def expected_value(engine: SimulatedEngine, question: Question, orders: Sequence[Sequence[int]]) -> float:
    """Return the mean over the orders of the chosen option's expected value; of two responses, the first's winrate.

    With both orders of a comparison this is what a winrate measured with this judge converges to, whether orders that
    disagree are averaged or made ties, unless replies go wrong.
    """
    weights = np.array([option.value or 0.0 for option in question.criterion.options])
    return float(np.mean([engine.choice_probabilities(question, order) @ weights for order in orders]))


class SimulatedReplies:
    """A judge without a model behind the server: it answers the requests that a real judge sends there.

    The server sees messages only, so what they ask is noted on their way::

        simulated = SimulatedReplies(SimulatedEngine(noise=0.3))
        with JudgeServer(reply=simulated) as server:
            judge = simulated.in_front_of(http_judge(server.base_url, seed=0))

    Repeated draws of the same messages are distinguished by the seed, so a judge that makes some needs ``seed=0``.
    """

    def __init__(self, engine: SimulatedEngine) -> None:
        self.engine = engine
        self._asked: dict[str, Request] = {}

    @staticmethod
    def _key(messages: Sequence[Mapping[str, Any]], sample: int) -> str:
        return json.dumps([sample, *messages], sort_keys=True)

    def __call__(self, body: Mapping[str, Any]) -> Reply:
        request = self._asked[self._key(body["messages"], body.get("seed") or 0)]
        if "response_format" not in body:
            request = replace(request, response_schema=None)
        return completion_reply(self.engine.reply(replace(request, logprobs=body.get("top_logprobs") or 0)))

    def note(self, judge: RemoteJudge, request: Request) -> None:
        """Remember what the messages ask that a judge is about to send."""
        sample = 0 if judge.settings.seed is None else judge.settings.seed + request.sample
        self._asked[self._key(request.messages, sample)] = request

    def in_front_of(self, judge: RemoteJudge) -> RemoteJudge:
        """The judge itself, which from now on notes what it is asked."""
        complete = judge.complete

        async def noted(request: Request) -> Completion:
            self.note(judge, request)
            return await complete(request)

        judge.complete = noted
        return judge


def completion_reply(completion: Completion) -> Reply:
    """What a server sends for a completion, its log-probabilities included."""
    logprobs = completion.logprobs
    tokens = None if logprobs is None else [(token.token, token.logprob, dict(token.top)) for token in logprobs]
    return Reply(completion.text, finish_reason=completion.finish_reason or "stop", logprobs=tokens)

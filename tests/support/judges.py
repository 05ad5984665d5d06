"""Judges for tests: they answer from a script, and keep what they were asked."""

import asyncio
import threading
from contextlib import asynccontextmanager

from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from evenhand.engines.remote import RemoteEngine, RemoteJudge
from evenhand.votes import Completion


def litellm_judge(model="openai/judge", **fields):
    """A judge behind litellm."""
    return LiteLLMEngine(model=model, **fields).to_judge()


def openai_compatible_judge(base_url, model="judge", **fields):
    """A judge on a server of OpenAI's protocol."""
    return OpenAICompatibleEngine(base_url=base_url, model=model, **fields).to_judge()


def remote_judge(transport, **fields):
    """A judge whose requests travel as a test says: by an object with ``endpoint`` and ``opened``."""

    class ScriptedEngine(RemoteEngine):
        endpoint = property(lambda _: transport.endpoint)

        def opened(self):
            return transport.opened(self)

    return RemoteJudge(ScriptedEngine(**{"model": "m", **fields}))


class ScriptedJudge:
    """Answers with ``reply(request)``: a text, a completion, or an error to raise; or with those of a list in turn.

    Attributes:
        requests: Every request, in the order received.
    """

    def __init__(self, reply, *, name="scripted", concurrency=4, identity=True, delay=None):
        self.judge_id = name
        self.concurrency = concurrency
        self.requests = []
        self._identity = {"scripted": name} if identity else None
        self._reply = reply if callable(reply) else self._in_turn(list(reply))
        self._delay = delay
        self._lock = threading.Lock()

    @staticmethod
    def _in_turn(replies):
        script = iter(replies)
        return lambda request: next(script)

    def identity(self):
        return self._identity

    @asynccontextmanager
    async def running(self):
        yield

    async def complete(self, request):
        with self._lock:
            self.requests.append(request)
        if self._delay is not None:
            await asyncio.sleep(self._delay(request))
        reply = self._reply(request)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return Completion(text=reply, finish_reason="stop", prompt_tokens=10, completion_tokens=2)

    @property
    def stages(self):
        return [request.stage for request in self.requests]

    def sent(self, number=-1):
        """The last message of a request: the prompt."""
        return self.requests[number].messages[-1]["content"]


def chooses(label):
    """A reply for every stage that ends in this label."""
    return lambda request: {"assessment": "It answers.", "summary": "In short: it answers."}.get(request.stage, label)


def http_judge(base_url, **settings):
    """A judge on a loopback server, quick to give up and without a key."""
    given = {"model": "judge", "max_retries": 0, "backoff": 0.0, "timeout": 10.0, **settings}
    return openai_compatible_judge(base_url, **{"api_key_env": "", **given})

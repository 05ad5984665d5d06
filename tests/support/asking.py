"""Asking an engine from a test that is not itself asynchronous."""

import asyncio

from evenhand.engines.base import Request
from evenhand.engines.calls import Calls
from evenhand.errors import EvenhandError


def request(text="judge this", **more):
    return Request(messages=({"role": "user", "content": text},), **more)


def ask_all(judge, requests, *, journal=None, budget=None, calls=None):
    """What each of the requests brings, asked at the same time: a completion, or the error."""
    calls = calls or Calls(judge, journal, budget)

    async def one(asked):
        try:
            return await calls.complete(asked)
        except EvenhandError as error:
            return error

    async def run():
        async with calls.running():
            return await asyncio.gather(*(one(asked) for asked in requests))

    return asyncio.run(run())


def ask(judge, asked=None, **more):
    """What one request brings; an error is raised."""
    [outcome] = ask_all(judge, [asked or request()], **more)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome

"""One cell of the matrix: a mode, an engine and a trouble, run over the loopback server, and what the server counted.

Every cell is run twice: with the trouble, and once more with the same journal and a server that is well. What a tool
says that it kept, it does not ask for again.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from evenhand.engines.hosted import LiteLLMEngine, OpenAICompatibleEngine
from evenhand.errors import EvenhandError
from evenhand.judging.run import NoLogprobsWarning
from evenhand.votes import Vote
from tests.faults.modes import JudgedMode, item, number_of, true_of, true_reply, verdicts
from tests.support.fault import Fault
from tests.support.server import JudgeServer, SeenRequest

Body = Mapping[str, Any]
NUMBERS: Final = (0, 1, 2)
RETRIES: Final = 3
STRANGER: Final = "{stranger}"
"""Stands in a fault for the address of another server, which no prompt may reach."""


def is_hit(number: int) -> bool:
    """Whether the row is one of those that a trouble is about, where it is not about all."""
    return number % 3 == 1


@dataclass(frozen=True)
class Expected:
    """The expected result of a run under a trouble.

    Attributes:
        scored: The share of votes that are scored, or the least and the greatest where it depends on chance.
        reasons: Why the others are not: one of these.
        causes: How their errors begin: with one of these.
        error: The run ends in an error whose message matches this; None where it ends in a result.
        attempts: No request is sent more often, the first attempt included.
        requests: The most that are sent in the first run.
        tokens: The most that are paid for in the first run.
        repaired: The least share of votes scored when the same is run again and the server is well; None for as many.
        bought_twice: The most replies that were sent in full and asked for again.
        lost: The most verdicts that were sent in full and are in no vote of the first run.
    """

    scored: float | tuple[float, float] = 1.0
    reasons: Sequence[str] = ()
    causes: Sequence[str] = ()
    error: str | None = None
    attempts: float = 1
    requests: float = math.inf
    tokens: float = math.inf
    repaired: float | None = 1.0
    bought_twice: float = 0
    lost: float = 0


@dataclass(frozen=True)
class Trouble:
    """What goes wrong, and what is expected then.

    Attributes:
        name: In the table.
        faults: What the server does.
        hits: The faults happen to the rows of :func:`is_hit`; otherwise to any request.
        numbers: The rows that are judged.
        settings: Of the engine.
        options: Of the run.
        expected: Of evenhand's own engines.
        of: What is expected of an engine of that name instead; None where the trouble cannot be had with it.
        modes: None for all.
        how: How the rows are judged the first time: in this process, unless something is done to a process.
    """

    name: str
    faults: Sequence[Fault] = ()
    hits: bool = False
    numbers: Sequence[int] = NUMBERS
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    expected: Expected = Expected()
    of: Mapping[str, Expected | None] = field(default_factory=dict)
    modes: Sequence[str] | None = None
    how: Callable[[Scene], Run] | None = None

    def of_engine(self, engine: str) -> Expected | None:
        """What is expected of it."""
        return self.of.get(engine, self.expected)

    def at(self, stranger: str) -> list[Fault]:
        """The faults, one for each row that is hit."""
        faults = [replace(fault, location=fault.location.replace(STRANGER, stranger)) for fault in self.faults]
        hit = sorted({item(number) for number in self.numbers if is_hit(number)})
        return [replace(fault, match=text) for text in hit for fault in faults] if self.hits else faults


@dataclass(frozen=True)
class Run:
    """What a tool said, by vote, and how it ended.

    Attributes:
        said: Per vote the label that it selected, or None.
        wrong: Votes that say something else than the server's judge.
        reasons: Why votes are unscored, counted.
        causes: How errors in votes begin, counted.
        error: The error that ended the run.
    """

    said: Sequence[str | None]
    wrong: int
    reasons: Mapping[str, int]
    causes: Mapping[str, int]
    error: str | None

    @property
    def votes(self) -> int:
        """How many select something."""
        return sum(label is not None for label in self.said)

    @property
    def scored(self) -> float:
        """The share of votes that select something."""
        return self.votes / len(self.said)


@dataclass(frozen=True)
class Outcome:
    """What one cell came to.

    Attributes:
        first: The run with the trouble.
        again: The run after it.
        lost: Verdicts that the server had sent in full and that no vote of the first run tells.
        bought_twice: Replies that were sent in full although one to the same request had been, in both runs.
        attempts: How often the same request was sent in the first run, at most.
        requests: In the first run.
        tokens: Of the replies sent in full in the first run.
        let_out: Requests that another server saw.
    """

    first: Run
    again: Run
    lost: int
    bought_twice: int
    attempts: int
    requests: int
    tokens: int
    let_out: int


def own(base_url: str, **settings: Any) -> OpenAICompatibleEngine:
    """The engine of our own."""
    return OpenAICompatibleEngine(base_url=base_url, model="judge", api_key_env="", **_quick(settings))


def litellm(base_url: str, **settings: Any) -> LiteLLMEngine:
    """litellm's providers, by our engine."""
    return LiteLLMEngine(model="openai/judge", api_base=base_url, **_quick(settings))


def _quick(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"max_retries": RETRIES, "backoff": 0.01, "timeout": 10.0, "max_in_flight": 4, **settings}


def bridge(base_url: str, **settings: Any) -> object:
    """unitxt's own engine for OpenAI's API, behind the bridge; it takes none of our settings but a time-out."""
    from unitxt.inference import OpenAiInferenceEngine  # noqa: PLC0415 - takes seconds, and few cells need it

    given = {"api_key": "none", "api_url": base_url}
    engine = OpenAiInferenceEngine(
        model_name="judge", credentials=given, logprobs=None, top_logprobs=None, use_cache=False
    )
    engine.client = engine.client.with_options(max_retries=0, timeout=settings.get("timeout", 10.0))
    return engine


ENGINES: Final[Mapping[str, Callable[..., Any]]] = {"own": own, "litellm": litellm, "bridge": bridge}


@dataclass(frozen=True)
class Scene:
    """Where a cell happens: what is judged, by what, at which server, and where its files are."""

    mode: JudgedMode
    engine: str
    trouble: Trouble
    server: JudgeServer
    folder: Path

    @property
    def journal(self) -> Path:
        """The journal of both runs."""
        return self.folder / "journal.sqlite3"

    def run(self, numbers: Sequence[int] | None = None, *, base_url: str | None = None) -> Run:
        """Judge the rows in this process."""
        engine = ENGINES[self.engine](base_url or self.server.base_url, **self.trouble.settings)
        options = {"journal": str(self.journal), **self.trouble.options}
        try:
            return run_once(self.mode, engine, self.trouble.numbers if numbers is None else numbers, **options)
        finally:
            if self.engine == "bridge":
                engine.client.close()  # unitxt leaves it open


def run_cell(mode: JudgedMode, engine: str, trouble: Trouble, folder: Path) -> Outcome:
    """Judge the rows in trouble, and once more when it is over."""
    with JudgeServer(reply=true_reply) as stranger, JudgeServer(reply=true_reply) as server:
        for fault in trouble.at(stranger.base_url):
            server.faults.append(fault)
        scene = Scene(mode, engine, trouble, server, folder)
        first = (trouble.how or Scene.run)(scene)
        seen = list(server.requests)
        server.clear_faults()
        return counted(first, scene.run(), seen, server.requests, stranger.seen)


def run_once(mode: JudgedMode, engine: object, numbers: Sequence[int], **options: Any) -> Run:
    """What evenhand says of these rows, whether it ends in a result or in an error with the votes."""
    error, votes, abouts = None, (), None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoLogprobsWarning)
            cells = list(mode.run(numbers, engine, **options).cells())
        votes, abouts = [cell.votes for cell in cells], [cell.about for cell in cells]
    except EvenhandError as ended:
        error, votes = f"{type(ended).__name__}: {ended}", getattr(ended, "votes", ())
    true = None if abouts is None else mode.true_labels(numbers, abouts)
    cast = [(vote, true and true[place]) for place, row in enumerate(votes) for vote in row]
    reasons = Counter(vote.unscored_reason for vote, _ in cast if vote.unscored_reason)
    causes = Counter(str(vote.error).partition(":")[0] for vote, _ in cast if vote.error)
    said = [None if vote.selected_label is None else str(vote.selected_label) for vote, _ in cast]
    wrong = sum(is_wrong(mode, vote, label) for vote, label in cast)
    missing = planned_votes(mode, tuple(numbers)) - len(said)
    return Run(said + [None] * missing, wrong, reasons, causes, error)


def is_wrong(mode: JudgedMode, vote: Vote, true: str | None) -> bool:
    """Whether a vote says something else than the server's judge, or with probabilities that are none.

    The votes of an error do not tell what they are about; their prompts do, where they are about one question.
    """
    if vote.probabilities is not None and not all(0 <= each <= 1 for each in vote.probabilities):
        return True
    if true is None and vote.prompts:
        prompt = next(iter(vote.prompts.values()))[0]["content"]
        asked = [*true_of(prompt)]
        about = {"number": number_of(prompt), "criterion": asked[0]}
        true = mode.true_label(about) if len(asked) == 1 else None
    return None not in (true, vote.selected_label) and vote.selected_label != true


@cache
def planned_votes(mode: JudgedMode, numbers: tuple[int, ...]) -> int:
    """How many votes the rows have when nothing goes wrong."""
    with JudgeServer(reply=true_reply) as server:
        result = mode.run(numbers, own(server.base_url, max_in_flight=32), journal=None)
        return sum(len(cell.votes) for cell in result.cells())


def counted(
    first: Run,
    again: Run,
    seen: Sequence[SeenRequest],
    seen_in_both: Sequence[SeenRequest],
    let_out: int,
    *,
    reply: Callable[[Body], str] = true_reply,
    asked: Callable[[Body], Mapping[str, str]] = verdicts,
) -> Outcome:
    """A cell's outcome, from what was said and what the server saw.

    Args:
        first: The run with the trouble.
        again: The run after it.
        seen: What the server saw of the first.
        seen_in_both: What it saw of both.
        let_out: Requests that another server saw.
        reply: The server's judge.
        asked: The true verdicts that a request asks for.
    """
    whole = Counter(_key(request) for request in seen_in_both if request.reply is not None)
    sent = Counter(_key(request) for request in seen)
    told = {_key(request): request.body for request in seen if request.reply == reply(request.body)}
    return Outcome(
        first=first,
        again=again,
        lost=max(0, sum(len(asked(body)) for body in told.values()) - first.votes),
        bought_twice=sum(times - 1 for times in whole.values()),
        attempts=max(sent.values(), default=0),
        requests=len(seen),
        tokens=sum(request.tokens for request in seen),
        let_out=let_out,
    )


def _key(request: SeenRequest) -> str:
    return json.dumps(request.body, sort_keys=True)


def broken(outcome: Outcome, expected: Expected) -> list[str]:
    """What a cell came to that is not what is promised; nothing where all promises are kept."""
    first, again = outcome.first, outcome.again
    least, most = expected.scored if isinstance(expected.scored, tuple) else (expected.scored,) * 2
    repaired = first.scored if expected.repaired is None else expected.repaired
    told = first.error or ""
    promises = {
        f"{first.wrong} votes, and {again.wrong} when it was run again, are wrong": first.wrong + again.wrong == 0,
        f"another server saw {outcome.let_out} requests": outcome.let_out == 0,
        f"{outcome.lost} verdicts that were sent in full are lost": outcome.lost <= expected.lost,
        f"{outcome.bought_twice} replies were bought twice": outcome.bought_twice <= expected.bought_twice,
        f"{first.scored:.3f} of the votes are scored": least - 1e-9 <= first.scored <= most + 1e-9,
        f"{again.scored:.3f} are scored when it is run again: {again.error}": again.scored >= repaired - 1e-9,
        f"it ended in {told!r}": re.match(expected.error, told, re.DOTALL) if expected.error is not None else not told,
        f"votes are unscored for {dict(first.reasons)}": {*first.reasons} <= {*(expected.reasons or first.reasons)},
        f"errors are named {dict(first.causes)}": {*first.causes} <= {*(expected.causes or first.causes)},
        f"a request was sent {outcome.attempts} times": outcome.attempts <= expected.attempts,
        f"{outcome.requests} requests were sent": outcome.requests <= expected.requests,
        f"{outcome.tokens} tokens were paid for": outcome.tokens <= expected.tokens,
    }
    return [told for told, kept in promises.items() if not kept]

"""Any unitxt inference engine as a judge: vLLM, Hugging Face, watsonx, CrossProvider, and what users define themselves.

Those engines take batches, so the bridge gathers what the running questions wait for and sends it as one batch, in the
engine's own thread: calls block, and must neither stop the event loop nor meet each other. The thread and its event
loop live as long as the engine, not as long as a run: engines such as unitxt's litellm engine bind what they hold to
the first event loop they wait in, and models on a graphics card are not made for two threads.

unitxt's cache is switched off for that call: it has no sample index, and would answer the second draw of a prompt with
the first; the journal keeps the replies instead.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from json import JSONDecodeError
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeGuard, TypeVar
from uuid import uuid4

from evenhand.catalog import HOW_TO_GIVE_AN_ENGINE, unknown_engine, unknown_id
from evenhand.data.documents import FILE_ENDINGS
from evenhand.engines.base import JudgeEngine, Request
from evenhand.engines.batches import BatchJudge
from evenhand.engines.breaker import Breaker
from evenhand.engines.door import classifications_of
from evenhand.engines.openai_compatible import normalized_base_url
from evenhand.engines.remote import REFUSALS
from evenhand.engines.replies import redact, short_enough
from evenhand.engines.unitxt_replies import flatten, public_fields, read_failure, read_output, refusal_of_data
from evenhand.errors import (
    ArtifactError,
    BudgetExhaustedError,
    ConnectionLostError,
    DataClassificationError,
    EngineError,
    EvenhandError,
    FatalEngineError,
    InvalidInputError,
    RejectedRequestError,
    UnreachableError,
    did_you_mean,
)
from evenhand.unitxt.catalogs import is_artifact, local_entry, register_catalog
from evenhand.votes import FINAL_FINISHES, Completion, Message

if TYPE_CHECKING:
    from evenhand.engines.artifacts import LiteLLMEngine, OpenAICompatibleEngine, RemoteJudgeArtifact
    from evenhand.unitxt.bases import InferenceEngine

_NOT_OFFERED = frozenset({"api_key", "credentials", "cache_batch_size", "use_cache", "label"})
_FIELD = re.compile(r"'(\w+)'")
_HOPELESS_AFTER = 8
"""So many single requests in a row without one reply, and the rest of a failed batch is not tried."""

_logger = logging.getLogger(__name__)


_WITH_FIELDS = re.compile(r"(?P<name>.*?)(?P<fields>\[\s*\w+\s*=.*\])?", re.DOTALL)
_BATCH = re.compile(r"[\[,]\s*batch\s*=\s*[Tt]rue")
_MODEL_NAME = re.compile(r"[\w.-]+(/[\w.:@-]+)+")


def as_judge(engine: object, *, marked: tuple[str, ...] | None = None) -> JudgeEngine:
    """The judge that an engine, an artifact or a text stands for.

    Args:
        engine: A catalog id; the name of a model as litellm has it (``openai/gpt-4.1-mini``); the address of a server
            with its model (``http://localhost:8000/v1[model=…]``); an artifact of evenhand; any inference engine of
            unitxt; or a judge, which is returned as it is.
        marked: For an inference engine of unitxt's: see :class:`UnitxtBridge`.

    Raises:
        ArtifactError: If the id names nothing, or something that is not an engine.
        InvalidInputError: If it is none of these.
    """
    if isinstance(engine, str):
        named = engine_named(engine)
        if named is not None and named.model is None:
            address = named.base_url
            raise InvalidInputError(
                f"the engine {address!r} is a server's address without a model: give model='…' too (in the shell "
                f"--model …), or write '{address}[model=…]'"
            )
        return as_judge(named or _fetch_engine(engine), marked=marked)
    to_judge = getattr(engine, "to_judge", None)
    if callable(to_judge):
        judge: JudgeEngine = to_judge()
        return judge
    if _is_inference_engine(engine):
        return UnitxtBridge(engine, marked=marked)
    if isinstance(engine, JudgeEngine) and not isinstance(engine, type):
        return engine
    raise InvalidInputError(f"{_name(engine)} is not a judge. {HOW_TO_GIVE_AN_ENGINE}")


def _is_inference_engine(engine: object) -> TypeGuard[InferenceEngine]:
    if not is_artifact(engine):
        return False
    from evenhand.unitxt.bases import InferenceEngine  # noqa: PLC0415 - imports unitxt

    return isinstance(engine, InferenceEngine)


def engine_named(text: str) -> OpenAICompatibleEngine | LiteLLMEngine | None:
    """The engine that an address or the name of a model stands for; None for anything else, such as a catalog id.

    Fields of the engine may stand behind it in brackets, as behind a catalog id: ``openai/gpt-4.1[temperature=1]``. An
    address may lack its model, which an option then gives.

    Raises:
        InvalidInputError: If a field cannot be what it is.

    >>> engine_named("http://localhost:8000[model=qwen3-8b]").to_judge().judge_id
    'qwen3-8b'
    """
    found = _WITH_FIELDS.fullmatch(text.strip())
    if found is None:
        return None
    name = found["name"].strip()
    at_address = re.match("https?://", name, re.IGNORECASE) is not None
    if not at_address and (not _MODEL_NAME.fullmatch(name) or name.endswith(FILE_ENDINGS)):
        return None
    if at_address:
        normalized_base_url(name)  # one with a password in it is not shown
    from evenhand.engines.artifacts import LiteLLMEngine, OpenAICompatibleEngine  # noqa: PLC0415 - imports unitxt

    shown = redact(name) if at_address else name
    fields = _fields_behind(shown, found["fields"] or "")
    try:
        return (
            OpenAICompatibleEngine(**{"base_url": name, **fields})
            if at_address
            else LiteLLMEngine(model=name, **fields)
        )
    except EvenhandError:
        raise
    except Exception as error:  # noqa: BLE001 - as for a catalog id
        raise InvalidInputError(f"the engine {shown!r} cannot be made: {_fault(error, fields)}") from None


def _fields_behind(name: str, brackets: str) -> dict[str, Any]:
    """What the brackets behind an engine's name hold.

    Raises:
        ArtifactError: If they hold something else than fields; it is not shown, in case it is a key.
    """
    from evenhand.unitxt.bases import separate_overrides  # noqa: PLC0415 - imports unitxt

    try:
        return (separate_overrides(f"engine{brackets}")[1] if brackets else None) or {}
    except Exception:  # noqa: BLE001 - whatever unitxt's parser raises
        raise ArtifactError(
            f"the engine '{name}[…]' is not of the form id[name=value,…] (what is in its brackets is not shown here, "
            "in case it is secret)"
        ) from None


def _fetch_engine(identifier: str) -> object:
    """The engine of an id; one of ours is looked for on this machine only, others where unitxt looks for them.

    No message holds what stands in the brackets behind the id: it may be a key.
    """
    from evenhand.engines import artifacts  # noqa: F401, PLC0415 - unitxt knows a class once its module is imported
    from evenhand.unitxt.bases import UnitxtArtifactNotFoundError, fetch_artifact  # noqa: PLC0415 - imports unitxt

    name, bracket, rest = identifier.partition("[")
    overrides: Mapping[str, Any] = {} if "{" in name else _fields_behind(name, bracket + rest)  # unless it is JSON
    try:
        if ".evenhand." in name:
            _, overrides = local_entry(identifier)
        register_catalog()
        engine = name.startswith("engines.") or ".evenhand." not in name
        artifact = fetch_artifact(identifier)[0] if engine else None
    except ArtifactError as error:
        raise ArtifactError(str(error).replace(identifier, f"{name}[…]" if "[" in identifier else name)) from None
    except EvenhandError:
        raise
    except (LookupError, UnitxtArtifactNotFoundError, OSError, JSONDecodeError):  # read as JSON: what is no name
        if name.startswith("engines.evenhand."):
            raise unknown_id(name) from None
        raise unknown_engine(name) from None
    except Exception as error:  # noqa: BLE001 - an artifact of any origin may raise anything while it is made
        raise ArtifactError(f"the engine {name!r} cannot be made: {_fault(error, overrides)}") from None
    if not _is_inference_engine(artifact):
        kind = f"{_name(artifact)}, not" if engine else "not"
        raise ArtifactError(f"{name!r} is {kind} an inference engine. {HOW_TO_GIVE_AN_ENGINE}")
    return artifact


def _fault(error: Exception, overrides: Mapping[str, Any]) -> str:
    """What is wrong with an id, in one line and without the values given in it."""
    from evenhand.unitxt.bases import own_words  # noqa: PLC0415 - imports unitxt

    told = own_words(error)
    listed = _FIELD.findall(told.partition("Should be one of: ")[2])[::-1]  # the engine's own fields first
    accepted = [field for field in listed if field[0] != "_" and field not in _NOT_OFFERED]
    unknown = [field for field in overrides if field not in accepted]
    if accepted and unknown:
        return f"it has no field {' and no field '.join(map(repr, unknown))}. {did_you_mean(unknown[0], accepted)}"
    return redact(told, [str(value) for value in overrides.values()])


def _name(thing: object) -> str:
    kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
    if isinstance(thing, type):
        return f"the class {kind} (make an object of it)"
    return f"an artifact of the type {kind}" if is_artifact(thing) else f"an object of the type {kind}"


@dataclass(slots=True)
class _Waiting:
    """A request on its way to a batch."""

    messages: tuple[Message, ...]
    options: tuple[str, ...] | None
    policy: tuple[str, ...] | None
    reply: asyncio.Future[Completion]

    def instance(self, *, chat: bool) -> dict[str, Any]:
        """The request as unitxt's engines read it; the options are there for engines that choose by likelihood."""
        instance: dict[str, Any] = {
            "source": [dict(message) for message in self.messages] if chat else flatten(self.messages),
            "task_data": {} if self.options is None else {"options": list(self.options)},
        }
        if self.policy is not None:
            instance["data_classification_policy"] = list(self.policy)
        return instance

    def answer(self, completion: Completion) -> None:
        if not self.reply.done():
            self.reply.set_result(completion)

    def fail(self, error: EvenhandError) -> None:
        if not self.reply.done():
            self.reply.set_exception(error)


@dataclass(slots=True)
class _Batch:
    """How the splitting of one failed batch goes.

    A 403 or 404 is set down until the end: it is about one request if another was answered, and about all if none was.
    """

    answered: bool = False
    failed: int = 0
    last: EngineError | None = None
    refused: list[tuple[_Waiting, EngineError]] = field(default_factory=list)

    def fail(self, requests: list[_Waiting], failure: EngineError) -> None:
        self.failed += len(requests)
        self.last = failure
        for waiting in requests:
            if failure.cause in REFUSALS:
                self.refused.append((waiting, failure))
            else:
                waiting.fail(failure)

    def end(self, *, answered: bool) -> None:
        """Tell those that were refused; ``answered`` says whether the run has had any reply."""
        for waiting, failure in self.refused:
            waiting.fail(RejectedRequestError(str(failure), cause=failure.cause) if answered else failure)


@dataclass(slots=True)
class _Gathering:
    """What one run has waiting, and whether the engine's server is there."""

    breaker: Breaker
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: deque[_Waiting] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    arrivals: int = 0
    answered: bool = False

    def over(self) -> EvenhandError | None:
        """Why nothing is sent any more."""
        if self.breaker.ended is not None:
            return UnreachableError(str(self.breaker.ended), attempts=0)
        stopped = "the run was interrupted before this call was sent"
        return BudgetExhaustedError(stopped) if self.stopped.is_set() else None


class UnitxtBridge:
    """A unitxt inference engine as a judge.

    A batch leaves when no request has arrived for ``quiet_seconds`` or when it has ``max_batch`` requests; while the
    engine works, the next one gathers. A batch that fails is halved and sent again, so that only the request that is
    at fault fails; replies that the engine lost with the batch are asked for a second time.

    Attributes:
        engine: What answers. Its own limits, retries and batch size apply.
        max_batch: Requests in one call of the engine at most.
        quiet_seconds: How long the next request may take to arrive before the batch leaves without it.
        patience: Seconds to wait for a server that refuses connections; see
            :class:`~evenhand.engines.remote.RemoteSettings`. The engine's own retries come first.
        marked: The data classification that every prompt has for the engine, whatever its data have: unitxt's judges
            mark all of theirs ``public``. None for that of the data.
    """

    def __init__(
        self,
        engine: InferenceEngine,
        *,
        judge_id: str | None = None,
        max_batch: int = 512,
        quiet_seconds: float = 0.01,
        patience: float | None = None,
        marked: tuple[str, ...] | None = None,
    ) -> None:
        if not _is_inference_engine(engine):
            raise InvalidInputError(f"{_name(engine)} is not an inference engine of unitxt. {HOW_TO_GIVE_AN_ENGINE}")
        if max_batch < 1:
            raise InvalidInputError(f"max_batch is {max_batch!r}; a batch has at least one request")
        if not quiet_seconds >= 0:
            raise InvalidInputError(f"quiet_seconds is {quiet_seconds!r}; it is 0 or more")
        self.engine = engine
        self.max_batch = max_batch
        self.quiet_seconds = quiet_seconds
        self.patience = patience
        self.marked = marked
        self._judge_id = judge_id if judge_id is not None else _engine_id(engine)
        self._chat = True
        self._warned = False
        self._gathering: _Gathering | None = None

    def __repr__(self) -> str:
        return f"UnitxtBridge({self._judge_id!r}, max_batch={self.max_batch!r})"

    @property
    def judge_id(self) -> str:
        """The engine's id, unless another name was given."""
        return self._judge_id

    @property
    def concurrency(self) -> int:
        """Enough for one batch with the engine and three gathering."""
        return 4 * self.max_batch

    @property
    def data_classification_policy(self) -> tuple[str, ...] | None:
        """The engine's: of which classifications the data may be that it is shown; None for any.

        Any, too, where prompts are marked: :meth:`check_mark` is then what checks.
        """
        return self._own_policy() if self.marked is None else None

    def _own_policy(self) -> tuple[str, ...] | None:
        from evenhand.unitxt.bases import data_classifications_of  # noqa: PLC0415 - imports unitxt

        return data_classifications_of(self.engine)

    def check_mark(self, classifications: Iterable[tuple[str, ...]]) -> str | None:
        """Check that the engine may see prompts that are marked, as unitxt's judges are checked.

        Args:
            classifications: Of the data.

        Returns:
            What to warn of: data that the engine is shown only because their prompts are marked otherwise.

        Raises:
            DataClassificationError: If it may not.
        """
        allowed = self._own_policy() or ()
        if self.marked is None or not allowed:
            return None
        if not set(self.marked) & set(allowed):
            raise DataClassificationError(
                f"the engine {self._judge_id!r} may only be shown data of {list(allowed)!r} (its "
                f"data_classification_policy), and the prompts of this metric are marked {list(self.marked)!r}, so "
                f"nothing was sent: give an engine that may see them, or, where this one may, add "
                f"{self.marked[0]!r} to its data_classification_policy"
            )
        hidden = sorted({each for each in classifications if not set(each) & set(allowed)})
        if not hidden:
            return None
        return (
            f"the engine {self._judge_id!r} declares that it may be shown data of {list(allowed)!r}, and it is shown "
            f"data of {list(hidden[0])!r}: as with unitxt's LLMJudgeDirect and LLMJudgePairwise, every prompt is "
            f"marked {list(self.marked)!r}. Name the class of the data to the metric, as data_classification="
            f"{hidden[0][0]!r}, to have such an engine refused"
        )

    def identity(self) -> Mapping[str, Any]:
        """The engine's class and id and the fields that it was made with, without secrets and without limits.

        When a field is an object, nothing tells it from others of its type: every call gives another identity then, so
        that no run is answered with the replies of an engine that may have been another.
        """
        fields = public_fields(getattr(self.engine, "_init_dict", {}))
        identity = {"unitxt": type(self.engine).__name__, "id": _engine_id(self.engine), "fields": fields.values}
        if not fields.opaque:
            return identity
        if not self._warned:
            self._warned = True
            _logger.warning(
                "%s is made with objects (%s), which no journal can tell from others of their type: its replies are "
                "recorded, but a second run does not find them again. Give those fields as texts, numbers, lists or "
                "dictionaries where the engine accepts them",
                self._judge_id,
                ", ".join(fields.opaque),
            )
        return identity | {"once": uuid4().hex}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Gathers requests into batches while it is entered."""
        if self._gathering is not None:
            raise InvalidInputError(
                f"the judge {self._judge_id!r} is already running; make a second bridge for a second run"
            )
        self._gathering = _Gathering(Breaker(self._judge_id, self.patience))
        gatherer = asyncio.create_task(self._gather(self._gathering))
        try:
            yield
        finally:
            gatherer.cancel()
            with suppress(asyncio.CancelledError):
                await gatherer
            self._gathering = None

    async def complete(self, request: Request) -> Completion:
        """The reply to one request.

        Raises:
            RejectedRequestError: If the engine may not see data of the classification of the question, or of one on the
                sheet.
            EngineError: If the engine failed on this request.
        """
        if self._gathering is None:
            raise InvalidInputError(f"the judge {self._judge_id!r} is not running; enter its running() first")
        policies = classifications_of(request) if self.marked is None else (self.marked,)
        for policy in policies:
            self._check_policy(policy)
        reply: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request.messages, request.options, policies[0] if policies else None, reply)
        self._gathering.waiting.append(waiting)
        self._gathering.arrivals += 1
        self._gathering.arrived.set()
        return await reply

    def _check_policy(self, policy: tuple[str, ...]) -> None:
        """Refuse a request that the engine would refuse before it costs the others of its batch anything."""
        try:
            self.engine.verify_instance({"source": "", "data_classification_policy": list(policy)})
        except Exception as error:
            raise refusal_of_data(error) from error

    async def _gather(self, gathering: _Gathering) -> None:
        batch: list[_Waiting] = []
        try:
            while True:
                await gathering.arrived.wait()
                await self._until_quiet(gathering)
                batch = [gathering.waiting.popleft() for _ in range(min(self.max_batch, len(gathering.waiting)))]
                if not gathering.waiting:
                    gathering.arrived.clear()
                batch = [waiting for waiting in batch if not waiting.reply.done()]
                if (over := gathering.over()) is not None:
                    for waiting in batch:
                        waiting.fail(over)
                elif batch:
                    progress = _Batch()
                    await self._send(batch, progress)
                    gathering.answered |= progress.answered
                    progress.end(answered=gathering.answered)
        finally:
            for waiting in [*batch, *gathering.waiting]:
                waiting.fail(EngineError(f"the run of {self._judge_id!r} ended before the reply came", cause="ended"))

    async def _until_quiet(self, gathering: _Gathering) -> None:
        while len(gathering.waiting) < self.max_batch:
            before = gathering.arrivals
            await asyncio.sleep(self.quiet_seconds)
            if gathering.arrivals == before:
                return

    async def _send(self, requests: list[_Waiting], batch: _Batch) -> None:
        """Send the requests as one batch; on a failure its halves, down to the request that is at fault."""
        if batch.last is not None and not batch.answered and batch.failed >= _HOPELESS_AFTER:
            batch.fail(requests, batch.last)
            return
        loop = asyncio.get_running_loop()
        try:
            completions = await loop.run_in_executor(thread_of(self.engine), self._infer, requests)
        except Exception as error:  # noqa: BLE001 - an engine of any origin may raise anything; it becomes an EngineError
            failure = read_failure(error, self.engine)
            if isinstance(failure, ConnectionLostError) and not failure.reached:
                left = await self._when_it_is_back(failure, requests, batch)
                if left:
                    await self._send(left, batch)
                return
            if len(requests) == 1 and failure.cause in FINAL_FINISHES:
                batch.answered = True
                requests[0].answer(Completion(text=None, finish_reason=failure.cause))
                return
            if len(requests) == 1 or (isinstance(failure, FatalEngineError) and failure.cause not in REFUSALS):
                batch.fail(requests, failure)
                return
            _logger.warning(
                "a batch of %d requests to %s failed and is halved: %s", len(requests), self._judge_id, failure
            )
            middle = len(requests) // 2
            await self._send(requests[:middle], batch)
            await self._send(requests[middle:], batch)
            return
        self._answer(requests, completions, batch)

    def _answer(self, requests: list[_Waiting], completions: list[Completion | EngineError], batch: _Batch) -> None:
        batch.answered = True
        if self._gathering is not None:
            self._gathering.breaker.answered()
        for waiting, completion in zip(requests, completions, strict=True):
            if isinstance(completion, EngineError):
                waiting.fail(completion)
            else:
                waiting.answer(short_enough(completion))

    async def _when_it_is_back(
        self, failure: ConnectionLostError, requests: list[_Waiting], batch: _Batch
    ) -> list[_Waiting]:
        """Send one request at a time until the server answers; those that are then still to be sent.

        Where it stays away for longer than the patience, or the run is stopped, all of them fail.
        """
        gathering, loop = self._gathering, asyncio.get_running_loop()
        if gathering is None:
            return []
        breaker = gathering.breaker
        breaker.open(failure)
        while breaker.is_open:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, breaker.probe_at - time.monotonic())):
                    await gathering.stopped.wait()
            if (over := gathering.over()) is not None:
                for waiting in requests:
                    waiting.fail(over)
                return []
            sent_at, probe = time.monotonic(), requests[:1]
            breaker.let_through(sent_at)
            try:
                completions = await loop.run_in_executor(thread_of(self.engine), self._infer, probe)
            except Exception as error:  # noqa: BLE001 - as for a batch
                requests = [*requests[1:], *probe]
                again = read_failure(error, self.engine)
                if isinstance(again, ConnectionLostError) and not again.reached:
                    breaker.failed(again, sent_at)
                else:
                    breaker.answered()
            else:
                self._answer(probe, completions, batch)
                requests = requests[1:]
        return requests

    def stop_sending(self) -> None:
        """Send no further batch; whoever waits is told."""
        if self._gathering is not None:
            self._gathering.stopped.set()
            self._gathering.arrived.set()

    def _infer(self, requests: list[_Waiting]) -> list[Completion | EngineError]:
        """One call of the engine; runs in the engine's thread."""
        with_metadata = hasattr(self.engine, "get_return_object")
        cached, self.engine.use_cache = self.engine.use_cache, False
        try:
            outputs = call_alone(lambda: self._infer_as_chat_or_text(requests, with_metadata=with_metadata))
        finally:
            self.engine.use_cache = cached
        if len(outputs) != len(requests):
            raise EngineError(
                f"the engine {self._judge_id!r} gave {len(outputs)} replies to {len(requests)} requests", cause="count"
            )
        return [read_output(output) for output in outputs]

    def _infer_as_chat_or_text(self, requests: list[_Waiting], *, with_metadata: bool) -> list[object]:
        if self._chat:
            try:
                return list(self.engine.infer([waiting.instance(chat=True) for waiting in requests], with_metadata))
            except NotImplementedError:  # what unitxt's engines raise that know no chat
                _logger.info("%s takes no conversations; they are sent to it as text", self._judge_id)
        replies = list(self.engine.infer([waiting.instance(chat=False) for waiting in requests], with_metadata))
        self._chat = False
        return replies


def _engine_id(engine: InferenceEngine) -> str:
    try:
        return str(engine.get_engine_id())
    except NotImplementedError:
        return type(engine).__name__


def listed(given: object) -> list[object]:
    """One thing or a list of them, as a list."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


def judges_of(engine: object, model: str | None = None, *, batch: bool | None = None) -> tuple[JudgeEngine, ...]:
    """The judge, or the judges of a panel.

    Args:
        engine: An engine as :func:`as_judge` takes it, or a list of them.
        model: The model of the servers whose addresses are given without one.
        batch: Whether they are asked in batches; None leaves it to each.

    Raises:
        InvalidInputError: If there is none, or it is something else, or nothing needs the model.
    """
    if engine is None:
        raise InvalidInputError(
            "no engine was given, and a judge has no default: give the name of a model such as 'openai/gpt-4.1-mini', "
            "the address of a server such as 'http://localhost:8000/v1' with model=…, a catalog id, an engine object, "
            "or, offline and without a model, 'engines.evenhand.baseline'"
        )
    given = listed(engine)
    return tuple(as_judge(item) for item in with_batch(given if model is None else with_model(given, model), batch))


def with_batch(engines: Sequence[object], batch: bool | None) -> Sequence[object]:
    """The engines, asked in batches or not; None leaves it to each.

    Raises:
        InvalidInputError: If one is to be asked in batches and has none.
    """
    return engines if batch is None else [_with_batch(engine, batch) for engine in engines]


def _with_batch(engine: object, batch: bool) -> object:
    found = (engine_named(engine) or _fetch_engine(engine)) if isinstance(engine, str) else engine
    if _is_remote(found):
        return found.changed(batch=batch)
    if isinstance(found, BatchJudge):
        return found if batch else found.judge
    if batch:
        shown = redact(engine) if isinstance(engine, str) else _name(engine)
        raise InvalidInputError(
            f"batch=True, and the engine {shown!r} has no batches: take engines.evenhand.openai_compatible or "
            "engines.evenhand.litellm (an address, or a model such as 'openai/gpt-4.1-mini'), or leave batch out"
        )
    return found


def _is_remote(engine: object) -> TypeGuard[RemoteJudgeArtifact]:
    if not is_artifact(engine):
        return False
    from evenhand.engines.artifacts import RemoteJudgeArtifact  # noqa: PLC0415 - imports unitxt

    return isinstance(engine, RemoteJudgeArtifact)


def one_step_in_batches(options: Mapping[str, Any], engine: object) -> dict[str, Any]:
    """The options of a run, with ``flow="one_step"`` where batches are asked for and no flow: each step is a wave."""
    batch = options.get("batch")
    if batch is None:
        batch = engine is not None and any(_says_batch(each) for each in listed(engine))
    return {"flow": "one_step", **options} if batch else dict(options)


def _says_batch(engine: object) -> bool:
    if isinstance(engine, str):
        return _BATCH.search(engine) is not None
    return isinstance(engine, BatchJudge) or (_is_remote(engine) and engine.batch is True)


def with_model(engines: Sequence[object], model: str) -> list[object]:
    """The engines; those that are servers' addresses without a model have this one.

    Raises:
        InvalidInputError: If there is none that lacks a model.
    """
    from evenhand.engines.artifacts import OpenAICompatibleEngine  # noqa: PLC0415 - imports unitxt

    found: list[object] = []
    for engine in engines:
        named = engine_named(engine) if isinstance(engine, str) else engine
        if isinstance(named, OpenAICompatibleEngine) and named.model is None:
            found.append(named.changed(model=model))
        else:
            found.append(engine)
    if not any(one is not engine for one, engine in zip(found, engines, strict=True)):
        raise InvalidInputError(
            f"model is {model!r}, but no engine is a server's address without a model: leave model out, or give the "
            "address, as engine='http://localhost:8000/v1'"
        )
    return found


END_SECONDS: Final = 5.0

_Result = TypeVar("_Result")


class _OwnThread(Executor):
    """One thread with an event loop set, for one call after the other.

    The process may end while a call is under way, which ``concurrent.futures`` would wait for: whoever interrupts twice
    does not want to wait.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        threading.Thread(target=self._work, args=(loop,), name="evenhand-engine", daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - as inherited
        """Call it when those before it have ended."""
        future: Future[Any] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - as inherited
        """End the thread when its calls have ended; nothing is waited for."""
        self._calls.put(None)

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while (given := self._calls.get()) is not None:
            future, call = given
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # noqa: BLE001 - whatever it is, it is told to the one who waits
                    future.set_exception(error)
            del given, future, call  # an engine that nobody else holds ends with its last call


_threads: weakref.WeakKeyDictionary[object, _OwnThread] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def thread_of(engine: object) -> Executor:
    """The one-threaded executor in which all calls of this engine are made."""
    with _lock:
        executor = _threads.get(engine)
        if executor is None:
            loop = asyncio.new_event_loop()
            executor = _OwnThread(loop)
            weakref.finalize(engine, _close, executor, loop)
            _threads[engine] = executor
        return executor


def call_alone(call: Callable[[], _Result]) -> _Result:
    """Make a call in an engine's thread; when it fails, end the tasks that it left behind in the thread's event loop.

    An engine that gathers its requests and gives up at the first failure leaves the others waiting for their turn. The
    next call would send them, and nobody would read the replies.
    """
    loop = asyncio.get_event_loop()
    before = asyncio.all_tasks(loop)
    try:
        return call()
    except BaseException:
        _end(asyncio.all_tasks(loop) - before, loop)
        raise


def _end(tasks: set[asyncio.Task[object]], loop: asyncio.AbstractEventLoop) -> None:
    for task in tasks:
        task.cancel()
    if tasks and not loop.is_running():
        loop.run_until_complete(asyncio.wait(tasks, timeout=END_SECONDS))


def _close(executor: Executor, loop: asyncio.AbstractEventLoop) -> None:
    """Runs wherever the garbage collector does, so it waits for nothing and submits nothing."""
    executor.shutdown(wait=False)
    if not loop.is_running():
        loop.close()

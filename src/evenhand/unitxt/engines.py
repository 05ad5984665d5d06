"""unitxt's engines and ours in one place: our engines as artifacts, and any engine of unitxt as a judge.

The artifacts are derived: their fields are the options of our engines. Each is an ordinary ``InferenceEngine``:
``infer`` sends its instances through the same journal, limits and retries as a judge's questions.

unitxt's own engines (vLLM, Hugging Face, watsonx, CrossProvider, and what users define) take batches, so the bridge
gathers what the running questions wait for and sends it as one batch, in the engine's own thread: calls block, and must
neither stop the event loop nor meet each other. The thread and its event loop live as long as the engine, not as long
as a run: engines such as unitxt's litellm engine bind what they hold to the first event loop they wait in, and models
on a graphics card are not made for two threads.

unitxt's cache is switched off for that call: it has no sample index, and would answer the second draw of a prompt with
the first; the journal keeps the replies instead.
"""

import asyncio
import json
import logging
import re
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from json import JSONDecodeError
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Dict, Final, Self
from uuid import uuid4

from anyio.from_thread import start_blocking_portal

from evenhand.catalog import HOW_TO_GIVE_AN_ENGINE
from evenhand.engines import free_engines, hosted
from evenhand.engines.base import HOSTED, Engine, JudgeEngine, Request
from evenhand.engines.calls import Calls, questions_of
from evenhand.engines.journal import Journal, open_journal
from evenhand.engines.remote import REFUSALS
from evenhand.engines.replies import redact, reply_without_text, short_enough
from evenhand.errors import (
    ArtifactError,
    BudgetExhaustedError,
    DataClassificationError,
    EngineError,
    EvenhandError,
    FatalEngineError,
    InvalidInputError,
    RejectedRequestError,
    UnreachableError,
)
from evenhand.unitxt.bases import (
    InferenceEngine,
    Maybe,
    TextGenerationInferenceOutput,
    UnitxtArtifactNotFoundError,
    data_classifications_of,
    fetch_artifact,
    fields_class,
    own_words,
)
from evenhand.unitxt.criteria_artifacts import FrozenArtifact
from evenhand.unitxt.engine_replies import flatten, public_fields, read_failure, read_output, secret_values
from evenhand.unitxt.loading import register_catalog
from evenhand.votes import Completion

_HOPELESS_AFTER: Final = 8
"""After this number of single requests without one reply, the rest of a failed batch is not tried."""

_logger = logging.getLogger(__name__)


class EngineArtifact(FrozenArtifact, InferenceEngine):
    """An engine of ours as an inference engine of unitxt.

    Attributes:
        kind: The engine's class.
        use_cache: Stays False: unitxt's cache knows no sample index; replies are kept in the journal instead.
        journal: Where ``infer`` keeps replies: ``"default"`` (see
            :func:`~evenhand.engines.journal.default_journal_path`), a path, or None for nowhere. A metric has its own.
    """

    kind = Engine  # unitxt takes what is annotated for a field
    refused = tuple[str, ...]()
    use_cache: bool = False
    journal: Maybe[str] = "default"
    label: str = "evenhand"

    @cached_property
    def value(self) -> Engine:
        """The engine itself, with the values that the fields have now."""
        return self.kind(**{name: getattr(self, name) for name in (*self.kind.model_fields, *self.refused)})

    def to_judge(self) -> JudgeEngine:
        """Return a fresh judge with these fields, which may see what unitxt lets the artifact see."""
        return self.value.changed(data_classification_policy=data_classifications_of(self)).to_judge()

    def changed(self, **fields: Any) -> Self:
        """Return the same artifact with other values of these fields."""
        return type(self)(**{**self._init_dict, **fields})

    def prepare_engine(self) -> None:
        """Open nothing before the first call."""

    def get_engine_id(self) -> str:
        """Return the judge's name in the form of unitxt's engine ids, without the label: metrics add that."""
        return engine_id(self.to_judge().judge_id)

    def _infer(self, dataset: list[dict[str, Any]], return_meta_data: bool = False) -> list[Any]:
        judge, journal = self.to_judge(), open_journal(self.journal)
        requests = [Request(messages=tuple(self.to_messages(instance))) for instance in dataset]
        with journal or nullcontext(), start_blocking_portal() as portal:
            outcomes = portal.call(_complete_all, judge, journal, requests)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):  # the replies that came are in the journal
                raise outcome
        outputs = [
            TextGenerationInferenceOutput(
                prediction=reply.text or "",
                generated_text=reply.text or "",
                input_tokens=reply.prompt_tokens,
                output_tokens=reply.completion_tokens,
                stop_reason=reply.finish_reason,
                model_name=reply.model,
                inference_type=self.label,
            )
            for reply in outcomes
            if isinstance(reply, Completion)
        ]
        return self.get_return_object(outputs, return_meta_data)

    def get_return_object(self, outputs: list[TextGenerationInferenceOutput], return_meta_data: bool) -> list[Any]:
        """Return texts, or with meta data unitxt's outputs."""
        return outputs if return_meta_data else [output.prediction for output in outputs]


def engine_id(judge_id: str) -> str:
    """Return a judge's name in the form of unitxt's engine ids, without the label."""
    return re.sub(r"[^\w,]+", "_", judge_id.rsplit("/", maxsplit=1)[-1].replace(".", ",")).lower()


async def _complete_all(
    judge: JudgeEngine, journal: Journal | None, requests: list[Request]
) -> list[Completion | BaseException]:
    """Return every request's reply or failure, in order."""
    calls = Calls(judge, journal)
    async with calls.running():
        return await asyncio.gather(*map(calls.complete, requests), return_exceptions=True)


class HostedArtifact(EngineArtifact):
    """An engine of ours behind a network.

    Attributes:
        api_key: Refused, like ``credentials``, and a field only for that: unitxt's own error for an unknown field would
            show the key.
        credentials: Refused.
    """

    refused = ("api_key", "credentials")
    api_key: Maybe[str] = None
    credentials: Maybe[Dict[str, Any]] = None
    data_classification_policy = [*HOSTED]


def _derive(kind: type[Engine], base: type[EngineArtifact] = EngineArtifact, **defaults: Any) -> type[EngineArtifact]:
    """Derive the artifact of an engine, with other defaults of these fields; unitxt knows it by the engine's name."""
    given: Any = {"module": __name__, "left_out": ("data_classification_policy",), "kind": kind, **defaults}
    made: Any = fields_class(kind.__name__, base, kind, **given)
    return made  # type: ignore[no-any-return] # a class below the base


BaselineEngine = _derive(free_engines.BaselineEngine, journal=None)
LiteLLMEngine = _derive(hosted.LiteLLMEngine, HostedArtifact, label="evenhand_litellm")
OpenAICompatibleEngine = _derive(hosted.OpenAICompatibleEngine, HostedArtifact, label="evenhand_openai_compatible")
ReplayEngine = _derive(
    free_engines.ReplayEngine,
    journal=None,
    get_engine_id=lambda _: "replay",  # a recording holds the replies of another judge
)
SimulatedEngine = _derive(free_engines.SimulatedEngine, journal=None)


def to_artifact(engine: Engine) -> Any:
    """Return the artifact of an engine of ours, for the field of a metric; one of another class as it is."""
    kinds = (BaselineEngine, LiteLLMEngine, OpenAICompatibleEngine, ReplayEngine, SimulatedEngine)
    kind: Any = next((each for each in kinds if each.kind is type(engine)), None)
    if kind is None:
        return engine
    given: Dict[str, Any] = {name: getattr(engine, name) for name in engine.model_fields_set}
    for name, value in given.items():
        if isinstance(value, tuple):
            given[name] = list(value)
        elif isinstance(value, Path):
            given[name] = str(value)
    return kind(**given)


def fetch_engine(identifier: str, overrides: Mapping[str, Any]) -> InferenceEngine:
    """Return the engine of an id that is not ours, from where unitxt looks for it.

    Args:
        identifier: The id, with what stands in brackets behind it. No message holds that: it may be a key.
        overrides: What stands in the brackets.

    Raises:
        ArtifactError: If the id names nothing, or something that is not an engine.
    """
    is_json = identifier.lstrip().startswith("{")
    name = "a JSON text" if is_json else re.split(r"[\[{]", identifier)[0]
    try:
        register_catalog()
        artifact = fetch_artifact(identifier)[0]
    except ArtifactError as error:
        raise ArtifactError(str(error).replace(identifier, f"{name}[…]" if overrides else name)) from None
    except EvenhandError:
        raise
    except (LookupError, UnitxtArtifactNotFoundError, OSError, JSONDecodeError):  # not a name: read as JSON
        raise ArtifactError(f"no catalog holds the engine {name!r}. {HOW_TO_GIVE_AN_ENGINE}") from None
    except Exception as error:  # noqa: BLE001 - an artifact of any origin may raise anything while it is made
        given = secret_values(json.loads(identifier)) if is_json else map(str, overrides.values())
        message = redact(own_words(error), given)
        raise ArtifactError(f"the engine {name!r} cannot be made: {message}") from None
    if not isinstance(artifact, InferenceEngine):
        raise ArtifactError(f"{name!r} is {type(artifact).__name__}, not an inference engine. {HOW_TO_GIVE_AN_ENGINE}")
    return artifact


MAX_BATCH: Final = 512
"""The greatest number of requests in one call of an engine."""
QUIET_SECONDS: Final = 0.01
"""How long the next request may take to arrive before a batch leaves without it."""


@dataclass(slots=True)
class _Waiting:
    """A request that waits for a batch, and for its reply."""

    request: Request
    policy: tuple[str, ...] | None
    reply: asyncio.Future[Completion]

    def instance(self, *, chat: bool) -> dict[str, Any]:
        """Return the request as unitxt's engines read it; engines that choose by likelihood use the options."""
        messages, options = self.request.messages, self.request.options
        instance: dict[str, Any] = {
            "source": [dict(message) for message in messages] if chat else flatten(messages),
            "task_data": {} if options is None else {"options": list(options)},
        }
        if self.policy is not None:
            instance["data_classification_policy"] = list(self.policy)
        return instance

    def settle(self, outcome: Completion | EvenhandError, *, answered: bool = False) -> None:
        """Give the reply, or the failure, to the caller, who may have given up.

        A 403 or 404 is about one request if another was answered, and about all if none was.
        """
        if answered and isinstance(outcome, EngineError) and outcome.cause in REFUSALS:
            outcome = RejectedRequestError(str(outcome), cause=outcome.cause)
        if self.reply.done():
            return
        if isinstance(outcome, EvenhandError):
            self.reply.set_exception(outcome)
        else:
            self.reply.set_result(short_enough(outcome))


class UnitxtBridge:
    """A unitxt inference engine as a judge.

    A batch leaves when no request has arrived for :data:`QUIET_SECONDS` or when it has :data:`MAX_BATCH` requests;
    while the engine works, the next one gathers. A batch that fails is halved and sent again, so that only the request
    that is at fault fails; replies that the engine lost with the batch are asked for a second time.

    Attributes:
        engine: The engine. Its own limits, retries and batch size apply.
        marked: The data classification that every prompt has for the engine, instead of that of the data: unitxt's
            judges mark all of theirs ``public``. None for that of the data.
        judge_id: The engine's id.
    """

    concurrency = 4 * MAX_BATCH  # one batch with the engine and three gathering

    def __init__(self, engine: object, *, marked: tuple[str, ...] | None = None) -> None:
        if not isinstance(engine, InferenceEngine):
            name = type(engine).__name__
            raise InvalidInputError(f"an object of the type {name} is not a judge. {HOW_TO_GIVE_AN_ENGINE}")
        self.engine, self.marked = engine, marked
        try:
            self.judge_id = str(engine.get_engine_id())
        except NotImplementedError:
            self.judge_id = type(engine).__name__
        self._chat = True
        self._warned = self._stopped = self._answered = False
        self._queue: asyncio.Queue[_Waiting] = asyncio.Queue()

    @property
    def data_classification_policy(self) -> tuple[str, ...] | None:
        """The classifications of the data that the engine may be shown; None for any.

        If prompts are marked, any: :meth:`check_mark` is then what checks.
        """
        return data_classifications_of(self.engine) if self.marked is None else None

    def check_mark(self, classifications: Iterable[tuple[str, ...]]) -> str | None:
        """Check that the engine may see prompts that are marked, as unitxt's judges are checked.

        Args:
            classifications: The classifications of the data.

        Returns:
            A warning about data that the engine is shown only because their prompts are marked otherwise.

        Raises:
            DataClassificationError: If it may not.
        """
        allowed = data_classifications_of(self.engine) or ()
        if self.marked is None or not allowed:
            return None
        if not set(self.marked) & set(allowed):
            raise DataClassificationError(
                f"the engine {self.judge_id!r} may only be shown data of {list(allowed)!r} (its "
                f"data_classification_policy), and the prompts of this metric are marked {list(self.marked)!r}, so "
                f"nothing was sent: give an engine that may see them, or, where this one may, add "
                f"{self.marked[0]!r} to its data_classification_policy"
            )
        hidden = min((each for each in classifications if not set(each) & set(allowed)), default=None)
        if hidden is None:
            return None
        return (
            f"the engine {self.judge_id!r} declares that it may be shown data of {list(allowed)!r}, and it is shown "
            f"data of {list(hidden)!r}: as with unitxt's LLMJudgeDirect and LLMJudgePairwise, every prompt is "
            f"marked {list(self.marked)!r}. Name the class of the data to the metric, as data_classification="
            f"{hidden[0]!r}, to have such an engine refused"
        )

    def identity(self) -> Mapping[str, Any]:
        """Return the engine's class and id and the fields that it was made with, without secrets and without limits.

        A field that holds an object is not distinguishable from others of its type: then every call gives another
        identity, so that no run is answered with the replies of an engine that may have been another.
        """
        fields, opaque = public_fields(getattr(self.engine, "_init_dict", {}))
        identity = {"unitxt": type(self.engine).__name__, "id": self.judge_id, "fields": fields}
        if not opaque:
            return identity
        if not self._warned:
            self._warned = True
            _logger.warning(
                "%s is made with objects (%s), which no journal can tell from others of their type: its replies are "
                "recorded, but a second run does not find them again. Give those fields as texts, numbers, lists or "
                "dictionaries where the engine accepts them",
                self.judge_id,
                ", ".join(opaque),
            )
        return identity | {"once": uuid4().hex}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Gather requests into batches while it is entered."""
        self._queue, self._stopped, self._answered = asyncio.Queue(), False, False
        gatherer = asyncio.create_task(self._gather(self._queue))
        try:
            yield
        finally:
            gatherer.cancel()
            with suppress(asyncio.CancelledError):
                await gatherer

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            EngineError: If the engine failed on this request.
        """
        policies = [each for question in questions_of(request) for each in question.classifications]
        policy = self.marked or next(iter(policies), None)
        reply: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._queue.put_nowait(_Waiting(request, policy, reply))
        return await reply

    def stop_sending(self) -> None:
        """Send no further batch; the requests that wait fail."""
        self._stopped = True

    async def _gather(self, queue: asyncio.Queue[_Waiting]) -> None:
        batch: list[_Waiting] = []
        try:
            while True:
                batch = [await queue.get()]
                while len(batch) < MAX_BATCH:
                    if queue.empty():
                        await asyncio.sleep(QUIET_SECONDS)
                    if queue.empty():
                        break
                    batch.append(queue.get_nowait())
                batch = [each for each in batch if not each.reply.done()]
                outcomes: list[Completion | EvenhandError] = []
                if self._stopped:
                    outcomes += [BudgetExhaustedError("the run was interrupted before this call was sent")] * len(batch)
                elif batch:
                    outcomes += await self._send(batch, [])
                self._answered |= any(isinstance(outcome, Completion) for outcome in outcomes)
                for each, outcome in zip(batch, outcomes, strict=True):
                    each.settle(outcome, answered=self._answered)
        finally:
            while not queue.empty():
                batch.append(queue.get_nowait())
            for each in batch:
                each.settle(EngineError(f"the run of {self.judge_id!r} ended before the reply came", cause="ended"))

    async def _send(self, requests: list[_Waiting], tried: list[bool]) -> list[Completion | EngineError]:
        """Send the requests as one batch; if it fails, its halves, down to the request that is at fault.

        Args:
            requests: The batch.
            tried: Whether each request that was decided so far was answered.
        """
        try:
            future: Future[list[Completion | EngineError]] = Future()
            _calls_of(self.engine).put((future, partial(self._infer, requests)))
            found = await asyncio.wrap_future(future)
        except Exception as error:  # noqa: BLE001 - an engine of any origin may raise anything
            failure = read_failure(error, self.engine)
        else:
            tried += [True] * len(found)
            return found
        if not failure.reached:
            failure = UnreachableError(f"the server cannot be reached: {failure}")
        if len(requests) > 1 and (not isinstance(failure, FatalEngineError) or failure.cause in REFUSALS):
            _logger.warning(
                "a batch of %d requests to %s failed and is halved: %s", len(requests), self.judge_id, failure
            )
            outcomes: list[Completion | EngineError] = []
            middle = len(requests) // 2
            for half in (requests[:middle], requests[middle:]):
                hopeless = len(tried) >= _HOPELESS_AFTER and not any(tried)
                outcomes += [failure] * len(half) if hopeless else await self._send(half, tried)
            return outcomes
        reply = reply_without_text(failure) if len(requests) == 1 else None
        tried += [reply is not None] * len(requests)
        return [reply or failure] * len(requests)

    def _infer(self, requests: list[_Waiting]) -> list[Completion | EngineError]:
        """Call the engine once; this runs in the engine's thread.

        An engine that gives up at the first failure leaves other requests waiting on its event loop. Its next call
        would send them, and no one would read the replies: these tasks are cancelled.
        """
        with_metadata = hasattr(self.engine, "get_return_object")
        cached, self.engine.use_cache = self.engine.use_cache, False
        loop = asyncio.get_event_loop()
        before = asyncio.all_tasks(loop)
        try:
            outputs = self._infer_as_chat_or_text(requests, with_metadata=with_metadata)
        except BaseException:
            if left := asyncio.all_tasks(loop) - before:
                for task in left:
                    task.cancel()
                loop.run_until_complete(asyncio.wait(left, timeout=5.0))
            raise
        finally:
            self.engine.use_cache = cached
        if len(outputs) != len(requests):
            raise EngineError(
                f"the engine {self.judge_id!r} gave {len(outputs)} replies to {len(requests)} requests", cause="count"
            )
        return [read_output(output) for output in outputs]

    def _infer_as_chat_or_text(self, requests: list[_Waiting], *, with_metadata: bool) -> list[object]:
        if self._chat:
            try:
                return list(self.engine.infer([each.instance(chat=True) for each in requests], with_metadata))
            except NotImplementedError:  # the error of unitxt's engines without chat
                _logger.info("%s takes no conversations; they are sent to it as text", self.judge_id)
        replies = list(self.engine.infer([each.instance(chat=False) for each in requests], with_metadata))
        self._chat = False
        return replies


_Call = tuple[Future[Any], Callable[[], Any]]


def _serve(calls: SimpleQueue[_Call | None]) -> None:
    """Make the calls of an engine, one after the other, until None comes."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    while (given := calls.get()) is not None:
        future, call = given
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - the caller gets it
                future.set_exception(error)
        del given, future, call  # an engine to which nothing else refers ends with its last call
    loop.close()


_threads: weakref.WeakKeyDictionary[object, SimpleQueue[_Call | None]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _calls_of(engine: object) -> SimpleQueue[_Call | None]:
    """Return the queue of the thread in which all calls of this engine are made, in every run; it ends with the engine.

    The thread is a daemon, unlike those of an executor: a process that is interrupted twice does not wait for a call.
    """
    with _lock:
        if engine not in _threads:
            calls = _threads[engine] = SimpleQueue()
            threading.Thread(target=_serve, args=(calls,), name="evenhand-engine", daemon=True).start()
            weakref.finalize(engine, calls.put, None)
        return _threads[engine]

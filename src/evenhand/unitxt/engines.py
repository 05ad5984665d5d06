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
import logging
import re
import threading
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from json import JSONDecodeError
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Dict, Final, Self, TypeVar
from uuid import uuid4

from anyio.from_thread import start_blocking_portal

from evenhand.catalog import HOW_TO_GIVE_AN_ENGINE, unknown_engine
from evenhand.engines import free_engines, hosted
from evenhand.engines.base import HOSTED, Engine, JudgeEngine, Request
from evenhand.engines.calls import Calls, classifications_of
from evenhand.engines.journal import Journal, open_journal
from evenhand.engines.remote import REFUSALS
from evenhand.engines.replies import redact, short_enough
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
    WithheldError,
    did_you_mean,
)
from evenhand.unitxt.bases import (
    Artifact,
    InferenceEngine,
    Maybe,
    TextGenerationInferenceOutput,
    UnitxtArtifactNotFoundError,
    data_classifications_of,
    fetch_artifact,
    fields_class,
    own_words,
    separate_overrides,
    text_fields,
    with_numbers,
)
from evenhand.unitxt.criteria_artifacts import FrozenArtifact
from evenhand.unitxt.engine_replies import flatten, public_fields, read_failure, read_output, refusal_of_data
from evenhand.unitxt.loading import register_catalog
from evenhand.votes import FINAL_FINISHES, Completion, Message

_NOT_OFFERED = frozenset({"api_key", "credentials", "cache_batch_size", "use_cache", "label"})
_FIELD = re.compile(r"'(\w+)'")
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
        kind: Any = type(self)
        texts = text_fields(kind)
        given = {name: getattr(self, name) for name in (*self.kind.model_fields, *self.refused)}
        read: Dict[str, Any] = {name: each if name in texts else with_numbers(each) for name, each in given.items()}
        return self.kind(**read)

    def to_judge(self) -> JudgeEngine:
        """Return a fresh judge with these fields, which may see what unitxt lets the artifact see."""
        allowed = data_classifications_of(self)
        if allowed == self.value.data_classification_policy:
            return self.value.to_judge()
        return self.value.changed(data_classification_policy=allowed).to_judge()

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
        try:
            requests = [Request(messages=tuple(self.to_messages(instance))) for instance in dataset]
            with start_blocking_portal() as portal:
                outcomes = portal.call(_complete_all, judge, journal, requests)
        finally:
            if journal is not None:
                journal.close()
        failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        for failure in failures:
            if not isinstance(failure, EngineError | WithheldError):
                raise failure
        if failures:
            kept = "" if journal is None else "; the others are journaled, and a second run asks only for what failed"
            raise EngineError(
                f"{len(failures)} of {len(outcomes)} requests to {judge.judge_id!r} failed{kept}. "
                f"The first: {failures[0]}",
                cause=getattr(failures[0], "cause", "withheld"),
            ) from failures[0]
        outputs = [self._to_output(outcome) for outcome in outcomes if isinstance(outcome, Completion)]
        return self.get_return_object(outputs, return_meta_data)

    def _to_output(self, completion: Completion) -> TextGenerationInferenceOutput:
        text = completion.text or ""
        return TextGenerationInferenceOutput(
            prediction=text,
            generated_text=text,
            input_tokens=completion.prompt_tokens,
            output_tokens=completion.completion_tokens,
            stop_reason=completion.finish_reason,
            model_name=completion.model,
            inference_type=self.label,
        )

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


def _derived(kind: type[Engine], base: type[EngineArtifact] = EngineArtifact, **defaults: Any) -> type[EngineArtifact]:
    """Derive the artifact of an engine, with other defaults of these fields; unitxt knows it by the engine's name."""
    given: Any = {"module": __name__, "left_out": ("data_classification_policy",), "kind": kind, **defaults}
    made: Any = fields_class(kind.__name__, base, kind, **given)
    return made  # type: ignore[no-any-return] # a class below the base


BaselineEngine = _derived(free_engines.BaselineEngine, journal=None)
LiteLLMEngine = _derived(hosted.LiteLLMEngine, HostedArtifact, label="evenhand_litellm")
OpenAICompatibleEngine = _derived(hosted.OpenAICompatibleEngine, HostedArtifact, label="evenhand_openai_compatible")
ReplayEngine = _derived(
    free_engines.ReplayEngine,
    journal=None,
    get_engine_id=lambda _: "replay",  # a recording holds the replies of another judge
)
SimulatedEngine = _derived(free_engines.SimulatedEngine, journal=None)


def to_artifact(engine: Engine) -> Any:
    """Return the artifact of an engine of ours, for the field of a metric; one of another class as it is."""
    kinds = (BaselineEngine, LiteLLMEngine, OpenAICompatibleEngine, ReplayEngine, SimulatedEngine)
    kind: Any = next((each for each in kinds if each.kind is type(engine)), None)
    if kind is None:
        return engine
    given: Dict[str, Any] = {name: _as_unitxt_has_it(getattr(engine, name)) for name in engine.model_fields_set}
    return kind(**given)


def _as_unitxt_has_it(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def fetch_engine(identifier: str) -> InferenceEngine:
    """Return the engine of an id that is not ours, from where unitxt looks for it.

    No message holds what stands in the brackets behind the id: it may be a key.

    Raises:
        ArtifactError: If the id names nothing, or something that is not an engine.
    """
    name, bracket, rest = identifier.partition("[")
    overrides: Mapping[str, Any] = {} if "{" in name else _fields_behind(name, bracket + rest)  # unless it is JSON
    try:
        register_catalog()
        artifact = fetch_artifact(identifier)[0]
    except ArtifactError as error:
        raise ArtifactError(str(error).replace(identifier, f"{name}[…]" if "[" in identifier else name)) from None
    except EvenhandError:
        raise
    except (LookupError, UnitxtArtifactNotFoundError, OSError, JSONDecodeError):  # not a name: read as JSON
        raise unknown_engine(name) from None
    except Exception as error:  # noqa: BLE001 - an artifact of any origin may raise anything while it is made
        raise ArtifactError(f"the engine {name!r} cannot be made: {_fault(error, overrides)}") from None
    if not isinstance(artifact, InferenceEngine):
        raise ArtifactError(f"{name!r} is {_kind(artifact)}, not an inference engine. {HOW_TO_GIVE_AN_ENGINE}")
    return artifact


def _fields_behind(name: str, brackets: str) -> dict[str, Any]:
    """Return the fields in the brackets behind an engine's name.

    Raises:
        ArtifactError: If they hold something else than fields; it is not shown, in case it is a key.
    """
    try:
        return (separate_overrides(f"engine{brackets}")[1] if brackets else None) or {}
    except Exception:  # noqa: BLE001 - anything that unitxt's parser raises
        raise ArtifactError(
            f"the engine '{name}[…]' is not of the form id[name=value,…] (what is in its brackets is not shown here, "
            "in case it is secret)"
        ) from None


def _fault(error: Exception, overrides: Mapping[str, Any]) -> str:
    """Describe the fault of an id in one line, without the values given in it."""
    message = own_words(error)
    listed = _FIELD.findall(message.partition("Should be one of: ")[2])[::-1]  # the engine's own fields first
    accepted = [field for field in listed if field[0] != "_" and field not in _NOT_OFFERED]
    unknown = [field for field in overrides if field not in accepted]
    if accepted and unknown:
        return f"it has no field {' and no field '.join(map(repr, unknown))}. {did_you_mean(unknown[0], accepted)}"
    return redact(message, [str(value) for value in overrides.values()])


def _kind(thing: object) -> str:
    kind = thing.__name__ if isinstance(thing, type) else type(thing).__name__
    if isinstance(thing, type):
        return f"the class {kind} (make an object of it)"
    return f"an artifact of the type {kind}" if isinstance(thing, Artifact) else f"an object of the type {kind}"


@dataclass(slots=True)
class _Waiting:
    """A request that waits for a batch, and for its reply."""

    messages: tuple[Message, ...]
    options: tuple[str, ...] | None
    policy: tuple[str, ...] | None
    reply: asyncio.Future[Completion]

    def instance(self, *, chat: bool) -> dict[str, Any]:
        """Return the request as unitxt's engines read it; engines that choose by likelihood use the options."""
        instance: dict[str, Any] = {
            "source": [dict(message) for message in self.messages] if chat else flatten(self.messages),
            "task_data": {} if self.options is None else {"options": list(self.options)},
        }
        if self.policy is not None:
            instance["data_classification_policy"] = list(self.policy)
        return instance

    def settle(self, outcome: Completion | EvenhandError) -> None:
        """Give the reply, or the failure, to the caller, who may have given up."""
        if self.reply.done():
            return
        if isinstance(outcome, EvenhandError):
            self.reply.set_exception(outcome)
        else:
            self.reply.set_result(short_enough(outcome))


@dataclass(slots=True)
class _Gathering:
    """The requests of one run that wait, and whether the run has had a reply."""

    stopped: bool = False
    waiting: deque[_Waiting] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    answered: bool = False


class UnitxtBridge:
    """A unitxt inference engine as a judge.

    A batch leaves when no request has arrived for ``quiet_seconds`` or when it has ``max_batch`` requests; while the
    engine works, the next one gathers. A batch that fails is halved and sent again, so that only the request that is
    at fault fails; replies that the engine lost with the batch are asked for a second time.

    Attributes:
        engine: The engine. Its own limits, retries and batch size apply.
        max_batch: The greatest number of requests in one call of the engine.
        quiet_seconds: How long the next request may take to arrive before the batch leaves without it.
        marked: The data classification that every prompt has for the engine, instead of that of the data: unitxt's
            judges mark all of theirs ``public``. None for that of the data.
    """

    def __init__(
        self,
        engine: object,
        *,
        judge_id: str | None = None,
        max_batch: int = 512,
        quiet_seconds: float = 0.01,
        marked: tuple[str, ...] | None = None,
    ) -> None:
        if not isinstance(engine, InferenceEngine):
            raise InvalidInputError(f"{_kind(engine)} is not an inference engine of unitxt. {HOW_TO_GIVE_AN_ENGINE}")
        if max_batch < 1:
            raise InvalidInputError(f"max_batch is {max_batch!r}; a batch has at least one request")
        if not quiet_seconds >= 0:
            raise InvalidInputError(f"quiet_seconds is {quiet_seconds!r}; it is 0 or more")
        self.engine = engine
        self.max_batch = max_batch
        self.quiet_seconds = quiet_seconds
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
        """Return the engine's class and id and the fields that it was made with, without secrets and without limits.

        A field that holds an object is not distinguishable from others of its type: then every call gives another
        identity, so that no run is answered with the replies of an engine that may have been another.
        """
        fields, opaque = public_fields(getattr(self.engine, "_init_dict", {}))
        identity = {"unitxt": type(self.engine).__name__, "id": _engine_id(self.engine), "fields": fields}
        if not opaque:
            return identity
        if not self._warned:
            self._warned = True
            _logger.warning(
                "%s is made with objects (%s), which no journal can tell from others of their type: its replies are "
                "recorded, but a second run does not find them again. Give those fields as texts, numbers, lists or "
                "dictionaries where the engine accepts them",
                self._judge_id,
                ", ".join(opaque),
            )
        return identity | {"once": uuid4().hex}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Gather requests into batches while it is entered."""
        if self._gathering is not None:
            raise InvalidInputError(
                f"the judge {self._judge_id!r} is already running; make a second bridge for a second run"
            )
        self._gathering = _Gathering()
        gatherer = asyncio.create_task(self._gather(self._gathering))
        try:
            yield
        finally:
            gatherer.cancel()
            with suppress(asyncio.CancelledError):
                await gatherer
            self._gathering = None

    async def complete(self, request: Request) -> Completion:
        """Return the reply to one request.

        Raises:
            RejectedRequestError: If the engine may not see data of the classification of the question, or of one on the
                sheet.
            EngineError: If the engine failed on this request.
        """
        if self._gathering is None:
            raise InvalidInputError(f"the judge {self._judge_id!r} is not running; enter its running() first")
        policies = classifications_of(request) if self.marked is None else (self.marked,)
        for policy in policies:  # refused here, it costs the others of its batch nothing
            try:
                self.engine.verify_instance({"source": "", "data_classification_policy": list(policy)})
            except Exception as error:
                raise refusal_of_data(error) from error
        reply: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request.messages, request.options, policies[0] if policies else None, reply)
        self._gathering.waiting.append(waiting)
        self._gathering.arrived.set()
        return await reply

    def stop_sending(self) -> None:
        """Send no further batch; the requests that wait fail."""
        if self._gathering is not None:
            self._gathering.stopped = True
            self._gathering.arrived.set()

    async def _gather(self, gathering: _Gathering) -> None:
        batch: list[_Waiting] = []
        try:
            while True:
                await gathering.arrived.wait()
                while gathering.arrived.is_set() and len(gathering.waiting) < self.max_batch:
                    gathering.arrived.clear()
                    await asyncio.sleep(self.quiet_seconds)
                batch = [gathering.waiting.popleft() for _ in range(min(self.max_batch, len(gathering.waiting)))]
                gathering.arrived.set() if gathering.waiting else gathering.arrived.clear()
                batch = [each for each in batch if not each.reply.done()]
                outcomes: list[Completion | EvenhandError] = []
                if gathering.stopped:
                    outcomes += [BudgetExhaustedError("the run was interrupted before this call was sent")] * len(batch)
                elif batch:
                    outcomes += await self._send(batch, [])
                gathering.answered |= any(isinstance(outcome, Completion) for outcome in outcomes)
                for each, outcome in zip(batch, outcomes, strict=True):
                    # a 403 or 404 is about one request if another was answered, and about all if none was
                    refused = isinstance(outcome, EngineError) and outcome.cause in REFUSALS and gathering.answered
                    cause = getattr(outcome, "cause", "")
                    each.settle(RejectedRequestError(str(outcome), cause=cause) if refused else outcome)
        finally:
            for each in [*batch, *gathering.waiting]:
                each.settle(EngineError(f"the run of {self._judge_id!r} ended before the reply came", cause="ended"))

    async def _send(self, requests: list[_Waiting], tried: list[bool]) -> list[Completion | EngineError]:
        """Send the requests as one batch; if it fails, its halves, down to the request that is at fault.

        Args:
            requests: The batch.
            tried: Whether each request that was decided so far was answered.
        """
        try:
            found = await thread_of(self.engine).call(self._infer, requests)
        except Exception as error:  # noqa: BLE001 - an engine of any origin may raise anything
            failure = read_failure(error, self.engine)
        else:
            tried += [True] * len(found)
            return found
        if isinstance(failure, ConnectionLostError) and not failure.reached:
            failure = UnreachableError(f"the server cannot be reached: {failure}")
        if len(requests) > 1 and (not isinstance(failure, FatalEngineError) or failure.cause in REFUSALS):
            _logger.warning(
                "a batch of %d requests to %s failed and is halved: %s", len(requests), self._judge_id, failure
            )
            outcomes: list[Completion | EngineError] = []
            middle = len(requests) // 2
            for half in (requests[:middle], requests[middle:]):
                hopeless = len(tried) >= _HOPELESS_AFTER and not any(tried)
                outcomes += [failure] * len(half) if hopeless else await self._send(half, tried)
            return outcomes
        answered = failure.cause in FINAL_FINISHES and len(requests) == 1
        tried += [answered] * len(requests)
        return [Completion(text=None, finish_reason=failure.cause) if answered else failure] * len(requests)

    def _infer(self, requests: list[_Waiting]) -> list[Completion | EngineError]:
        """Call the engine once; this runs in the engine's thread."""
        with_metadata = hasattr(self.engine, "get_return_object")
        cached, self.engine.use_cache = self.engine.use_cache, False
        try:
            outputs = self._infer_as_chat_or_text(requests, with_metadata=with_metadata)
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
                return list(self.engine.infer([each.instance(chat=True) for each in requests], with_metadata))
            except NotImplementedError:  # the error of unitxt's engines without chat
                _logger.info("%s takes no conversations; they are sent to it as text", self._judge_id)
        replies = list(self.engine.infer([each.instance(chat=False) for each in requests], with_metadata))
        self._chat = False
        return replies


def _engine_id(engine: InferenceEngine) -> str:
    try:
        return str(engine.get_engine_id())
    except NotImplementedError:
        return type(engine).__name__


END_SECONDS: Final = 5.0

_Result = TypeVar("_Result")


class EngineThread:
    """A thread with an event loop of its own, in which all calls of one engine are made, one after the other.

    It is a daemon, unlike those of ``concurrent.futures``: a process that is interrupted twice ends during a call.
    """

    def __init__(self) -> None:
        self.calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        threading.Thread(target=_serve, args=(self.calls,), name="evenhand-engine", daemon=True).start()

    async def call(self, function: Callable[..., _Result], *arguments: object) -> _Result:
        """Call a function in the thread after the calls before it."""
        future: Future[_Result] = Future()
        self.calls.put((future, partial(function, *arguments)))
        return await asyncio.wrap_future(future)


def _serve(calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]) -> None:
    """Make the calls of an engine until None comes.

    An engine that gathers its requests and gives up at the first failure leaves the others waiting for their turn. The
    next call would send them, and no one would read the replies: so the tasks that a failed call leaves are cancelled.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    while (given := calls.get()) is not None:
        future, call = given
        before = asyncio.all_tasks(loop)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - the caller gets it
                left = asyncio.all_tasks(loop) - before
                for task in left:
                    task.cancel()
                if left:
                    loop.run_until_complete(asyncio.wait(left, timeout=END_SECONDS))
                future.set_exception(error)
        del given, future, call  # an engine to which nothing else refers ends with its last call
    loop.close()


_threads: weakref.WeakKeyDictionary[object, EngineThread] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def thread_of(engine: object) -> EngineThread:
    """Return the thread in which all calls of this engine are made, in every run; it ends with the engine."""
    with _lock:
        if (thread := _threads.get(engine)) is None:
            thread = _threads[engine] = EngineThread()
            weakref.finalize(engine, thread.calls.put, None)
        return thread

"""One thread for each engine whose calls block, so that they neither stop the event loop nor meet each other.

The thread and its event loop live as long as the engine, not as long as a run: engines such as unitxt's litellm engine
bind what they hold to the first event loop they wait in, and models on a graphics card are not made for two threads.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final, TypeVar

END_SECONDS: Final = 5.0

_Result = TypeVar("_Result")

_threads: weakref.WeakKeyDictionary[object, ThreadPoolExecutor] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def thread_of(engine: object) -> Executor:
    """The one-threaded executor in which all calls of this engine are made."""
    with _lock:
        executor = _threads.get(engine)
        if executor is None:
            loop = asyncio.new_event_loop()
            executor = ThreadPoolExecutor(
                max_workers=1,
                thread_name_prefix="evenhand-engine",
                initializer=asyncio.set_event_loop,
                initargs=(loop,),
            )
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


def _close(executor: ThreadPoolExecutor, loop: asyncio.AbstractEventLoop) -> None:
    """Runs wherever the garbage collector does, so it waits for nothing and submits nothing."""
    executor.shutdown(wait=False)
    if not loop.is_running():
        loop.close()

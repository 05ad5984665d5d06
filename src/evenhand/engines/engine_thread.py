"""One thread for each engine whose calls block, so that they neither stop the event loop nor meet each other.

The thread and its event loop live as long as the engine, not as long as a run: engines such as unitxt's litellm engine
bind what they hold to the first event loop they wait in, and models on a graphics card are not made for two threads.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

_threads: weakref.WeakKeyDictionary[object, ThreadPoolExecutor] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def thread_of(engine: object) -> ThreadPoolExecutor:
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


def _close(executor: ThreadPoolExecutor, loop: asyncio.AbstractEventLoop) -> None:
    executor.shutdown(wait=False)
    if not loop.is_running():
        loop.close()

"""Call plain functions without blocking the event loop, and run a loop in a thread."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Final, TypeVar

T = TypeVar("T")


async def call(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    """Call a function in a new thread and wait for its result; await a coroutine function.

    A plain function gets a thread of its own: no pool limits how many wait at a time, and one that
    never returns keeps neither the event loop nor the end of the process waiting.
    """
    method = getattr(function, "__call__", None)  # noqa: B004 - the method itself is inspected
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method):
        return await function(*arguments, **options)
    result = await _in_thread(lambda: function(*arguments, **options))
    return await result if inspect.isawaitable(result) else result


async def _in_thread(work: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return  # whoever waited was cancelled
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def run() -> None:
        result: Any = None
        failure: BaseException | None = None
        try:
            result = context.run(work)
        except StopIteration as error:
            failure = RuntimeError(f"StopIteration: {error}")  # a future takes none
        except BaseException as error:  # noqa: BLE001 - it is raised where the call is awaited
            failure = error
        with suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, daemon=True, name="assay-call").start()
    return await future


class LoopThread:
    """An event loop in its own thread, which accepts work from any thread or event loop."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` on the loop; it continues even if the caller stops."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` on the loop and wait for its result; a cancelled wait cancels `work`."""
        return await asyncio.wrap_future(self.submit(work))

    def wait(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Like `run`, but block the calling thread; cancel `work` at the timeout."""
        future = self.submit(work)
        try:
            return future.result(timeout_s)
        except TimeoutError:
            future.cancel()
            raise


_LOOPS: Final[dict[tuple[int, str], LoopThread]] = {}
"""By process and name: a forked one has the record of its parent's thread, but not the thread."""
_STARTING: Final = threading.Lock()


def shared_loop(name: str) -> LoopThread:
    """The event loop with this name, which the whole process shares."""
    key = os.getpid(), name
    with _STARTING:
        if key not in _LOOPS:
            _LOOPS[key] = LoopThread(name)
        return _LOOPS[key]


def watching_loop() -> LoopThread:
    """The shared event loop that watches browsers which other programs control."""
    return shared_loop("assay-watching")

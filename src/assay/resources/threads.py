"""Somebody's plain function, called without blocking the event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Any


async def call(function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Any:
    """What the function returns, or the coroutine that it returns; whatever it raises is raised.

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

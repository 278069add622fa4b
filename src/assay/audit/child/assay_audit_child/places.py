"""Where a call may happen: main thread, worker thread, event loop, spawned or forked process."""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import loading
from .shapes import prepare
from .values import raised, refused
from .watch import Memory
from .wire import frames

BEAT_S = 0.002
POLL_S = 0.1
JOIN_S = 5.0
CROWD = 8
Emit = Callable[[dict[str, Any]], None]


class Desk:
    """The loaded target, and how the present request wants it asked."""

    def __init__(self, target: Any, request: dict[str, Any]) -> None:
        self.target = target
        self.shape: str = request["shape"]
        self.gold_column: str = request["gold_column"]
        self.measure: bool = request.get("measure", False)
        self.calls: list[dict[str, Any]] = request["calls"]

    def answer(self, call: dict[str, Any]) -> dict[str, Any]:
        """The reply to one call, made in this thread; nothing is raised."""
        memory = Memory() if self.measure else None
        if memory:
            memory.start()
        started = time.perf_counter()
        try:
            prepared = prepare(self.target, self.shape, call, self.gold_column)
            returned = prepared.invoke()
            if inspect.isawaitable(returned):
                returned = asyncio.run(_awaited(returned))
            said = prepared.finish(returned)
        except BaseException as error:  # noqa: BLE001 - whatever the target raises is its verdict
            said = raised(error)
        said["seconds"] = time.perf_counter() - started
        if memory:
            said["growth_mb"] = memory.growth_mb()
        return said

    async def answer_on_loop(self, call: dict[str, Any]) -> dict[str, Any]:
        """The reply to one call, made on the running loop, with how long the loop stood still."""
        beat = Heartbeat()
        ticking = asyncio.create_task(beat.run())
        await asyncio.sleep(0)
        started = time.perf_counter()
        try:
            prepared = prepare(self.target, self.shape, call, self.gold_column)
            returned = prepared.invoke()
            if inspect.isawaitable(returned):
                returned = await returned
            said = prepared.finish(returned)
        except BaseException as error:  # noqa: BLE001 - whatever the target raises is its verdict
            said = raised(error)
        said["seconds"] = time.perf_counter() - started
        await asyncio.sleep(0)
        ticking.cancel()
        said["lag"] = beat.longest()
        return said


class Heartbeat:
    """A task that notices when its loop did not run."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._longest = 0.0

    async def run(self) -> None:
        while True:
            self._tick()
            await asyncio.sleep(BEAT_S)

    def longest(self) -> float:
        """The longest stand-still in seconds, beyond the beat itself."""
        self._tick()
        return max(0.0, self._longest - BEAT_S)

    def _tick(self) -> None:
        now = time.perf_counter()
        self._longest = max(self._longest, now - self._last)
        self._last = now


def only_in(owner: int) -> None:
    """Ends a process that a target forked and let return: it must not answer a second time."""
    if os.getpid() != owner:
        os._exit(0)


async def _awaited(pending: Any) -> Any:
    return await pending


def run(desk: Desk, place: str, emit: Emit, target: dict[str, Any]) -> None:
    """Every call of the request is answered in that place, with a frame before and after each."""
    if place in ("spawn", "fork"):
        _in_process(desk, place, emit, target)
    elif place == "thread":
        thread = threading.Thread(target=_one_by_one, args=(desk, emit))
        thread.start()
        thread.join()
    elif place == "loop":
        asyncio.run(_on_loop(desk, emit))
    elif place == "crowd":
        _crowded(desk, emit)
    else:
        _one_by_one(desk, emit)


def _one_by_one(desk: Desk, emit: Emit) -> None:
    for number, call in enumerate(desk.calls):
        emit({"start": number})
        emit({"done": number, "reply": desk.answer(call)})


async def _on_loop(desk: Desk, emit: Emit) -> None:
    for number, call in enumerate(desk.calls):
        emit({"start": number})
        emit({"done": number, "reply": await desk.answer_on_loop(call)})


def _crowded(desk: Desk, emit: Emit) -> None:
    """Many threads at once; frames come in the order in which calls end."""
    lock = threading.Lock()

    def ask(number: int) -> None:
        with lock:
            emit({"start": number})
        said = desk.answer(desk.calls[number])
        with lock:
            emit({"done": number, "reply": said})

    with ThreadPoolExecutor(CROWD) as pool:
        list(pool.map(ask, range(len(desk.calls))))


def _in_process(desk: Desk, place: str, emit: Emit, target: dict[str, Any]) -> None:
    """In a process that multiprocessing starts; a spawned one gets the target as a pickle."""
    context = multiprocessing.get_context(place)
    ours, theirs = context.Pipe(duplex=False)
    pickles = place == "fork" or loading.facts(desk.target, desk.shape)["picklable"]
    request = {
        "shape": desk.shape,
        "gold_column": desk.gold_column,
        "measure": desk.measure,
        "calls": desk.calls,
    }
    held = desk.target if pickles else None
    # The type of a context's Process depends on the platform.
    process: Any = context.Process(  # type: ignore[attr-defined,unused-ignore]
        target=_elsewhere, args=(theirs, held, target, request)
    )
    process.start()
    theirs.close()
    answered = 0
    for frame in _frames(ours, process):
        answered += "done" in frame
        emit(frame)
    process.join(JOIN_S)
    ours.close()
    for number in range(answered, len(desk.calls)):
        emit({"start": number})
        died = refused(f"the {place}ed process ended with exit code {process.exitcode}", "")
        emit({"done": number, "reply": {**died, "status": "crashed", "seconds": 0.0}})


def _frames(connection: Any, process: Any) -> Iterator[dict[str, Any]]:
    """What the process says until it says that it is done, or dies.

    The end of the pipe would tell less: whatever the target started may hold the pipe open.
    """
    while True:
        if not connection.poll(POLL_S):
            if process.is_alive():
                continue
            if not connection.poll(0):
                return
        try:
            frame = frames.decode(connection.recv_bytes())
        except EOFError:
            return
        if "over" in frame:
            return
        yield frame


def _elsewhere(connection: Any, held: Any, target: dict[str, Any], request: dict[str, Any]) -> None:
    function = loading.load(target)[0] if held is None else held
    owner = os.getpid()

    def emit(frame: dict[str, Any]) -> None:
        only_in(owner)
        connection.send_bytes(frames.encode(frame)[frames.HEADER.size :])

    _one_by_one(Desk(function, request), emit)
    emit({"over": True})
    connection.close()

"""Call the audited reward: `python -m assay_audit_child.server READ_FD WRITE_FD`.

It answers requests in its main thread, in worker threads, on an event loop, or in a spawned or
forked process.
"""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from . import loading
from .monitoring import ArgumentWatch, EventRecorder, MemoryMeter, move_clock
from .shapes import PreparedCall, prepare
from .values import raised, refused

if TYPE_CHECKING:
    from assay.isolation import frames
else:
    from assay_isolation import frames

BEAT_S = 0.002
POLL_S = 0.1
JOIN_S = 5.0
THREADS = 8
Emit = Callable[[dict[str, Any]], None]


class CallDispatcher:
    """Make the calls of one request to the audited reward."""

    def __init__(self, target: Any, request: dict[str, Any]) -> None:
        self.target = target
        self.request = request
        self.calls: list[dict[str, Any]] = request["calls"]

    def answer(self, call: dict[str, Any]) -> dict[str, Any]:
        """Call the reward once in this thread; an exception becomes part of the reply."""
        meter = MemoryMeter() if self.request.get("measure") else None
        changed: list[str] = []
        with _timed_reply() as reply:
            prepared = self._prepare(call)
            watch = ArgumentWatch(prepared.named | prepared.positional) if meter else None
            try:
                returned = prepared.function(*prepared.positional.values(), **prepared.named)
                if inspect.isawaitable(returned):
                    returned = asyncio.run(_wait_for(returned))
            finally:
                changed = watch.changed() if watch else []
            reply |= prepared.finish(returned)
        return reply | {"growth_mb": meter.growth_mb(), "changed": changed} if meter else reply

    async def answer_on_loop(self, call: dict[str, Any]) -> dict[str, Any]:
        """Call the reward once on the event loop, and measure how long the loop was blocked."""
        last, longest = time.perf_counter(), 0.0

        def tick() -> None:
            nonlocal last, longest
            now = time.perf_counter()
            last, longest = now, max(longest, now - last)

        async def beat() -> None:
            while True:
                tick()
                await asyncio.sleep(BEAT_S)

        ticking = asyncio.create_task(beat())
        await asyncio.sleep(0)
        with _timed_reply() as reply:
            prepared = self._prepare(call)
            returned = prepared.function(*prepared.positional.values(), **prepared.named)
            if inspect.isawaitable(returned):
                returned = await returned
            reply |= prepared.finish(returned)
        await asyncio.sleep(0)
        ticking.cancel()
        tick()
        # The longest stand-still, beyond the beat itself.
        reply["lag"] = max(0.0, longest - BEAT_S)
        return reply

    def _prepare(self, call: dict[str, Any]) -> PreparedCall:
        request = self.request
        return prepare(self.target, request["shape"], call, request["reference_column"])


@contextmanager
def _timed_reply() -> Iterator[dict[str, Any]]:
    """Yield an empty reply; an exception in the block becomes the reply."""
    reply: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        yield reply
    except BaseException as error:  # noqa: BLE001 - whatever the target raises is its result
        reply.update(raised(error))
    reply["seconds"] = time.perf_counter() - started


def only_in(owner: int) -> None:
    """Exit if this process is a fork that the audited reward made."""
    if os.getpid() != owner:
        os._exit(0)


async def _wait_for(pending: Any) -> Any:
    return await pending


def run(dispatcher: CallDispatcher, place: str, emit: Emit, target: dict[str, Any]) -> None:
    """Run every call of the request in the given kind of thread or process."""
    if place in ("spawn", "fork"):
        _in_process(dispatcher, place, emit, target)
    elif place == "thread":
        thread = threading.Thread(target=_one_by_one, args=(dispatcher, emit))
        thread.start()
        thread.join()
    elif place == "loop":
        asyncio.run(_on_loop(dispatcher, emit))
    elif place == "threads":
        _in_threads(dispatcher, emit)
    else:
        _one_by_one(dispatcher, emit)


def _one_by_one(dispatcher: CallDispatcher, emit: Emit) -> None:
    for number, call in enumerate(dispatcher.calls):
        emit({"start": number})
        emit({"done": number, "reply": dispatcher.answer(call)})


async def _on_loop(dispatcher: CallDispatcher, emit: Emit) -> None:
    for number, call in enumerate(dispatcher.calls):
        emit({"start": number})
        emit({"done": number, "reply": await dispatcher.answer_on_loop(call)})


def _in_threads(dispatcher: CallDispatcher, emit: Emit) -> None:
    """Run the calls in several threads; replies are sent in the order of completion."""
    lock = threading.Lock()

    def ask(number: int) -> None:
        with lock:
            emit({"start": number})
        reply = dispatcher.answer(dispatcher.calls[number])
        with lock:
            emit({"done": number, "reply": reply})

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(ask, range(len(dispatcher.calls))))


def _in_process(dispatcher: CallDispatcher, place: str, emit: Emit, target: dict[str, Any]) -> None:
    """Run the calls in a child process; a spawned child gets the reward as a pickle."""
    context = multiprocessing.get_context(place)
    ours, theirs = context.Pipe(duplex=False)
    pickles = place == "fork" or loading.pickle_error(dispatcher.target) is None
    function = dispatcher.target if pickles else None
    # The type of a context's Process depends on the platform.
    process: Any = context.Process(  # type: ignore[attr-defined,unused-ignore]
        target=_elsewhere, args=(theirs, function, target, dispatcher.request)
    )
    process.start()
    theirs.close()
    started = done = 0
    for frame in _frames(ours, process):
        started += "start" in frame
        done += "done" in frame
        emit(frame)
    process.join(JOIN_S)
    ours.close()
    for number in range(done, len(dispatcher.calls)):
        if number >= started:
            emit({"start": number})
        crash = refused(f"the {place}ed process ended with exit code {process.exitcode}")
        emit({"done": number, "reply": {**crash, "status": "crashed", "seconds": 0.0}})


def _frames(connection: Any, process: Any) -> Iterator[dict[str, Any]]:
    """Yield the messages of the child process until it is done or dies.

    The end of the pipe is not enough: whatever the target started may keep the pipe open.
    """
    with suppress(EOFError):
        while True:
            if not connection.poll(POLL_S):
                if process.is_alive():
                    continue
                if not connection.poll(0):
                    return
            frame = frames.decode(connection.recv_bytes())
            if "over" in frame:
                return
            yield frame


def _elsewhere(
    connection: Any, function: Any, target: dict[str, Any], request: dict[str, Any]
) -> None:
    if function is None:
        function = loading.load(target)[0]
    owner = os.getpid()

    def emit(frame: dict[str, Any]) -> None:
        only_in(owner)
        connection.send_bytes(frames.dump(frame))

    _one_by_one(CallDispatcher(function, request), emit)
    emit({"over": True})
    connection.close()


def serve(read_fd: int, write_fd: int) -> None:
    """Answer requests until the pipe closes or a request says to stop."""
    opening = frames.receive(read_fd)
    recorder = EventRecorder(opening["marker"], tempfile.gettempdir())
    spec = opening["target"]
    if opening.get("shift_s"):
        move_clock(opening["shift_s"])
    try:
        target, shape = loading.load(spec)
        frames.send(write_fd, {"facts": loading.facts(target, spec.get("shape") or shape)})
    except loading.TargetNotLoadable as error:
        frames.send(write_fd, {"unloadable": str(error)})
        return

    owner = os.getpid()

    def emit(frame: dict[str, Any]) -> None:
        only_in(owner)
        frames.send(write_fd, frame)

    while True:
        request = frames.receive(read_fd)
        if request["op"] == "bye":
            return
        # Starting those processes is the audit's own doing.
        recorder.active = request["place"] not in ("spawn", "fork")
        run(CallDispatcher(target, request), request["place"], emit, spec)
        recorder.active = False
        emit({"end": True, "seen": recorder.take()})


if __name__ == "__main__":
    try:
        serve(*frames.inherited_pipes(sys.argv))
    except (frames.PipeClosed, KeyboardInterrupt):
        sys.exit(1)

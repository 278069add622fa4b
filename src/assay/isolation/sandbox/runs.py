"""One run of a program, as its owner sees it: a job in, hostile frames and an end back."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Self

from assay.isolation import frames

BEGIN_S = 5.0
"""For the guard of a run to begin; it takes a millisecond or two, but not where much else runs."""
END_S = 0.4
"""After the time of a run, for its guard to end it and report; it takes a millisecond or two."""
CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one run may take."""

    time_s: float = 10.0
    """Wall-clock time of the whole run, however many tests it has."""
    memory_mb: int = 512
    """Of all its processes together; each of them alone cannot hold more either."""
    disk_mb: int = 64
    """Of its /tmp, which is memory."""
    processes: int = 64
    """Processes and threads."""
    output_bytes: int = 4 * 1024 * 1024
    """What one program may write to its standard output, or send as one answer."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended, as its guard reported it; nothing of it runs any more."""

    cause: str
    """`time`, `memory`, `output` for a limit, `asked`, `lost` if no guard reported; else empty."""
    exit_code: int | None
    """Of the program; negative for a signal."""


class SandboxRun:
    """A run under way; leaving its block ends it and waits until nothing is left of it."""

    def __init__(
        self,
        control: socket.socket,
        channel: socket.socket | None,
        job: Mapping[str, Any],
        limits: SandboxLimits,
    ) -> None:
        self.limits = limits
        self.has_begun = False
        """Whether its guard was heard of; its time counts from then on."""
        self._control = _FrameSocket(control)
        self._channel = None if channel is None else _FrameSocket(channel)
        self._end: RunEnd | None = None
        with suppress(frames.PipeClosed, TimeoutError):
            self._control.send({**job, "limits": asdict(limits)}, time.monotonic() + BEGIN_S)
        self._deadline = time.monotonic() + BEGIN_S
        """Until it has begun, when it is given up; then when its time is over."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """Whether it has begun, and had all of its time."""
        return self.has_begun and time.monotonic() >= self._deadline

    def send(self, value: Any) -> None:
        """Send a frame to the program. Raises `PipeClosed`, or `TimeoutError` at the deadline."""
        assert self._channel is not None
        self._await_begin()
        self._channel.send(value, self._deadline)

    def receive(self) -> dict[str, Any]:
        """The program's next frame: an object, and nothing else of it is to be believed.

        Raises `PipeClosed`, `BadFrame`, or `TimeoutError` at the deadline.
        """
        assert self._channel is not None
        self._await_begin()
        return self._channel.receive(self._deadline, self.limits.output_bytes * 2)

    def report(self) -> dict[str, Any]:
        """The guard's next frame; one with `end` is the last. Raises as `receive` does."""
        self._await_begin()
        # The guard keeps the time; it is waited for a little longer.
        longest = self.limits.output_bytes * 8
        frame = self._control.receive(self._deadline + END_S, longest)
        if "end" in frame:
            self._end = RunEnd(frame["end"]["cause"], frame["end"]["exit"])
        return frame

    def end(self) -> RunEnd:
        """How the run ended; it is ended now if it has not."""
        if self._end is None:
            self._control.finish()
            self._end = self._await_end()
        return self._end

    def _await_begin(self) -> None:
        if not self.has_begun:
            began = self._control.receive(self._deadline, CHUNK)["began"]
            self._deadline = began + self.limits.time_s
            self.has_begun = True

    def _await_end(self) -> RunEnd:
        self._deadline = max(self._deadline, time.monotonic() - END_S)
        with suppress(frames.PipeClosed, frames.BadFrame, TimeoutError):
            while self._end is None:
                self.report()
        return self._end or RunEnd("lost", None)

    def close(self) -> None:
        """End the run, and let go of its sockets."""
        try:
            self.end()
        finally:
            self._control.close()
            if self._channel is not None:
                self._channel.close()


class _FrameSocket:
    """A socket that carries frames, each within a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.setblocking(False)  # noqa: FBT003 - the call has no keyword
        self._buffer = bytearray()

    def send(self, value: Any, deadline: float) -> None:
        view = memoryview(frames.encode(value))
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, deadline)
            except OSError as error:
                raise frames.PipeClosed("the process does not read") from error

    def receive(self, deadline: float, longest: int) -> dict[str, Any]:
        while (body := frames.take(self._buffer, longest=longest)) is None:
            self._wait(select.POLLIN, deadline)
            try:
                chunk = self._socket.recv(CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise frames.PipeClosed("the process is gone") from error
            if not chunk:
                raise frames.PipeClosed("the process ended without an answer")
            self._buffer += chunk
        value = frames.decode(body)
        if not isinstance(value, dict):
            raise frames.BadFrame("not an object")
        return value

    def finish(self) -> None:
        """Tell the other side that nothing more is sent."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()

    def _wait(self, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._socket, event)
        # What is there is taken, however late this side comes to look.
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise TimeoutError("no answer in time")

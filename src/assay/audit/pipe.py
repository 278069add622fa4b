"""The audit's end of the pipes to its child: frames with deadlines."""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import Any

from assay.audit.child.assay_audit_child import wire

POLL_S = 0.25


class Pipe:
    """Two pipes to one process, read and written without ever waiting past a deadline."""

    def __init__(
        self, read_fd: int, write_fd: int, process: subprocess.Popen[bytes] | None
    ) -> None:
        self._read, self._write = read_fd, write_fd
        self._process = process
        self._buffer = bytearray()
        if read_fd >= 0:
            os.set_blocking(read_fd, False)
            os.set_blocking(write_fd, False)

    def send(self, value: Any, deadline: float) -> None:
        view = memoryview(wire.encode(value))
        while view:
            self._wait(self._write, select.POLLOUT, deadline)
            try:
                view = view[os.write(self._write, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError as error:
                raise wire.Closed("the pipe has no reader") from error

    def receive(self, deadline: float) -> Any:
        size = wire.HEADER.size
        while True:
            if len(self._buffer) >= size:
                (length,) = wire.HEADER.unpack_from(self._buffer)
                if length > wire.LONGEST_FRAME:
                    raise wire.BadFrame(f"a frame of {length} bytes")
                if len(self._buffer) >= size + length:
                    body = bytes(self._buffer[size : size + length])
                    del self._buffer[: size + length]
                    return wire.decode(body)
            self._wait(self._read, select.POLLIN, deadline)
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise wire.Closed("the pipe has no writer")
            self._buffer += chunk

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        """The pipe is ready; a dead process is noticed also if another holds its end open."""
        poll = select.poll()
        poll.register(fd, event)
        while (left := deadline - time.monotonic()) > 0:
            if poll.poll(min(left, POLL_S) * 1000):
                return
            if self._process is not None and self._process.poll() is not None:
                if poll.poll(0):
                    return
                raise wire.Closed("the process has ended")
        raise TimeoutError("no answer in time")

    def close(self) -> None:
        for fd in (self._read, self._write):
            if fd >= 0:
                os.close(fd)
        self._read = self._write = -1

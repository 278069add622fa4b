"""Messages over a pipe: four bytes of length, then a body of JSON or raw bytes.

Both ends of every child process use this file. It imports the standard library alone: children
load it without the package (`isolation/standalone`).
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from typing import Any

LONGEST_FRAME = 256 * 1024 * 1024
CHUNK = 1 << 20
HEADER = struct.Struct(">I")


class PipeClosed(Exception):
    """The other end of the pipe is closed."""


class BadFrame(Exception):
    """The bytes received are not a valid message, or are longer than allowed."""


def dump(value: Any) -> bytes:
    """Encode a value as JSON; lone surrogates stay escaped, and NaN is allowed."""
    return json.dumps(value, ensure_ascii=True).encode("ascii")


def encode(value: Any) -> bytes:
    return wrap(dump(value))


def wrap(body: bytes) -> bytes:
    """Add the length header to a message; raise `BadFrame` if it is too long."""
    if len(body) > LONGEST_FRAME:
        raise BadFrame(f"a message of {len(body)} bytes is too long; {LONGEST_FRAME} are allowed")
    return HEADER.pack(len(body)) + body


def decode(body: bytes | bytearray) -> Any:
    """Decode a JSON message; raise `BadFrame` if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {error!s:.200}") from error


def decode_object(body: bytes | bytearray) -> dict[str, Any]:
    """Decode a JSON object; raise `BadFrame` for anything else."""
    value = decode(body)
    if not isinstance(value, dict):
        raise BadFrame(f"expected a JSON object, but got {type(value).__name__}")
    return value


def take(buffer: bytearray, *, longest: int = LONGEST_FRAME) -> bytearray | None:
    """Remove and return the first message of the buffer; `None` if it is incomplete."""
    if len(buffer) < HEADER.size:
        return None
    (length,) = HEADER.unpack_from(buffer)
    if length > longest:
        raise BadFrame(f"a message of {length} bytes is too long; {longest} are allowed")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    body = buffer[HEADER.size : end]
    del buffer[:end]
    return body


def send(fd: int, value: Any) -> None:
    """Send a JSON message; raise `PipeClosed` if the pipe has no reader."""
    _write(fd, encode(value))


def send_bytes(fd: int, body: bytes) -> None:
    """Send a message of raw bytes, as `send` does."""
    _write(fd, wrap(body))


def _write(fd: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BrokenPipeError as error:
            raise PipeClosed("the pipe has no reader") from error


def receive(fd: int) -> Any:
    """Wait for the next JSON message; raise `PipeClosed` at the end of the pipe."""
    return decode(receive_bytes(fd))


def receive_bytes(fd: int) -> bytes:
    """Wait for the next message of raw bytes, as `receive` does."""
    (length,) = HEADER.unpack(_read_exactly(fd, HEADER.size))
    if length > LONGEST_FRAME:
        raise BadFrame(f"a message of {length} bytes is too long; {LONGEST_FRAME} are allowed")
    return _read_exactly(fd, length)


def inherited_pipes(arguments: Sequence[str]) -> tuple[int, int]:
    """Read two pipe descriptors from the command line; child processes do not inherit them."""
    read_fd, write_fd = (int(argument) for argument in arguments[-2:])
    for fd in (read_fd, write_fd):
        os.set_inheritable(fd, False)  # noqa: FBT003 - the call has no keyword
    return read_fd, write_fd


def _read_exactly(fd: int, count: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < count:
        chunk = os.read(fd, min(count - len(chunks), CHUNK))
        if not chunk:
            raise PipeClosed("the pipe has no writer")
        chunks += chunk
    return bytes(chunks)

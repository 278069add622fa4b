"""Frames over a pipe: four bytes of length, then JSON; never a pickle."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

LONGEST_FRAME = 256 * 1024 * 1024
HEADER = struct.Struct(">I")


class Closed(Exception):
    """The other end is gone."""


class BadFrame(Exception):
    """What arrived is not a frame."""


def encode(value: Any) -> bytes:
    """A frame; lone surrogates survive as escapes, and NaN as Python writes it."""
    body = json.dumps(value, ensure_ascii=True).encode("ascii")
    return HEADER.pack(len(body)) + body


def decode(body: bytes) -> Any:
    """What a frame's body says."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON: {error}") from error


def send(fd: int, value: Any) -> None:
    """The value is in the pipe, whole."""
    view = memoryview(encode(value))
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BrokenPipeError as error:
            raise Closed("the pipe has no reader") from error


def receive(fd: int) -> Any:
    """The next value; waits for it."""
    (length,) = HEADER.unpack(_exactly(fd, HEADER.size))
    if length > LONGEST_FRAME:
        raise BadFrame(f"a frame of {length} bytes")
    return decode(_exactly(fd, length))


def _exactly(fd: int, count: int) -> bytes:
    chunks = bytearray()
    while len(chunks) < count:
        chunk = os.read(fd, min(count - len(chunks), 1 << 20))
        if not chunk:
            raise Closed("the pipe has no writer")
        chunks += chunk
    return bytes(chunks)

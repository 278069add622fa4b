"""What was dear to find out, kept for a while: bounded, and never older than its file."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")
Stamp = tuple[int, int, int]
"""Inode, size and time of change: another one means another content."""


def stamp(path: Path) -> Stamp:
    """What tells a file's content from an earlier one; zeros for a file that is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


class Memory(Generic[T]):
    """The latest values under their keys, up to a total weight; safe in any thread."""

    def __init__(self, most: int, weigh: Callable[[T], int] = lambda _: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable) -> T | None:
        """The value, if it is still there."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: Hashable, value: T) -> T:
        """The value itself, which is remembered unless it alone is too heavy."""
        with self._lock:
            if key in self._held:
                self._total -= self._weigh(self._held.pop(key))
            self._held[key] = value
            self._total += self._weigh(value)
            while self._total > self._most and self._held:
                _, dropped = self._held.popitem(last=False)
                self._total -= self._weigh(dropped)
        return value

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value under the key, made now if it is not there; others wait while one makes it."""
        held = self.get(key)
        if held is not None:
            return held
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            held = self.get(key)
            if held is not None:
                return held
            try:
                return self.put(key, make())
            finally:
                with self._lock:
                    self._making.pop(key, None)

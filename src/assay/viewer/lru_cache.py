"""A bounded cache for values that are slow to make, and a version stamp for files."""

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
    """The version of a file's content; zeros for a missing file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


class LruCache(Generic[T]):
    """A thread-safe cache; above a total weight, the least recently used values are dropped."""

    def __init__(self, most: int, weigh: Callable[[T], int] = lambda _: 1) -> None:
        self._most = most
        self._weigh = weigh
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._total = 0
        self._lock = threading.Lock()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: T) -> T:
        """Cache the value unless it alone is too heavy, and return it."""
        with self._lock:
            if key in self._values:
                self._total -= self._weigh(self._values.pop(key))
            self._values[key] = value
            self._total += self._weigh(value)
            while self._total > self._most and self._values:
                _, dropped = self._values.popitem(last=False)
                self._total -= self._weigh(dropped)
        return value

    def get_or_make(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value of the key; if it is missing, one thread makes it and others wait."""
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        try:
            with making:
                value = self.get(key)
                return value if value is not None else self.put(key, make())
        finally:
            with self._lock:
                self._making.pop(key, None)

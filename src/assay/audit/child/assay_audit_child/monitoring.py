"""A record of what the target does beside returning a number."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
from pathlib import Path
from types import CodeType
from typing import Any

MOST_EVENTS = 50
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PROCESSES = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"}
)


class EventRecorder:
    """An audit hook: it cannot be removed again, and sees what Python-level code does."""

    def __init__(self, marker: str, temporary: str) -> None:
        self.active = False
        self._marker = marker
        self._temporary = temporary
        self._events: dict[tuple[str, str], None] = {}
        sys.addaudithook(self._hook)

    def take(self) -> list[list[str]]:
        """The events since the last time."""
        events, self._events = self._events, {}
        return [list(event) for event in events]

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open":
            self._on_open(arguments)
        elif event == "exec":
            self._on_exec(arguments[0])
        elif event == "socket.connect":
            self._on_connect(arguments[1])
        elif event in PROCESSES:
            self._add("process", event)

    def _add(self, what: str, detail: str) -> None:
        if len(self._events) < MOST_EVENTS:
            self._events[what, detail[:300]] = None

    def _on_open(self, arguments: tuple[Any, ...]) -> None:
        path, mode, flags = arguments
        if not isinstance(path, (str, bytes)):
            return
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else False
        if not writes and not (isinstance(flags, int) and flags & WRITING):
            return
        name = os.fsdecode(path)
        if name.startswith(("/dev/", "/proc/")):
            return
        inside = str(Path(name).absolute()).startswith(self._temporary)
        self._add("temporary file" if inside else "file", Path(name).name if inside else name)

    def _on_exec(self, code: Any) -> None:
        if isinstance(code, CodeType) and _mentions(code, self._marker):
            self._add("executed", code.co_filename)

    def _on_connect(self, address: Any) -> None:
        if isinstance(address, tuple) and len(address) >= 2:
            self._add("network", f"{address[0]}:{address[1]}")


def _mentions(code: CodeType, marker: str) -> bool:
    if any(marker in name for name in code.co_names):
        return True
    return any(
        (isinstance(constant, str) and marker in constant)
        or (isinstance(constant, CodeType) and _mentions(constant, marker))
        for constant in code.co_consts
    )


class MemoryMeter:
    """The peak of this process from here on, beyond what it held before."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        self._before = _status_mb("VmRSS")

    def growth_mb(self) -> float:
        return max(0.0, _status_mb("VmHWM") - self._before)


def _status_mb(field: str) -> float:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(field)), 0.0)

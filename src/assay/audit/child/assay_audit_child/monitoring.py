"""Record the side effects of the audited reward, such as files and connections."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import resource
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType
from typing import Any

MOST_EVENTS = 50
STANDARD_LIBRARY = sysconfig.get_path("stdlib")
OWN_FOLDER = str(Path(__file__).parent)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PROCESSES = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn"}
)


class EventRecorder:
    """Record what the audited Python code does, by an audit hook that stays installed."""

    def __init__(self, marker: str, temporary: str) -> None:
        self.active = False
        self._marker = marker
        self._temporary = temporary
        self._events: dict[tuple[str, str], None] = {}
        sys.addaudithook(self._hook)
        # No hook reports that a variable is read; the mapping behind `os.environ` can.
        environ: Any = os.environ
        environ._data = RecordingEnviron(environ._data, self._on_variable)  # noqa: SLF001

    def take(self) -> list[list[str]]:
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

    def _on_variable(self, name: str) -> None:
        """Record a variable that the audited code reads; ignore reads by libraries."""
        frame: Any = sys._getframe(2)  # noqa: SLF001 - who asks is in the frames above
        while frame is not None and frame.f_code.co_filename.endswith(("os.py", "_abc.py", ">")):
            frame = frame.f_back
        file = frame.f_code.co_filename if frame is not None else ""
        if file and not _is_library(file):
            self._add("variable", name)

    def _on_exec(self, code: Any) -> None:
        if isinstance(code, CodeType) and _mentions(code, self._marker):
            self._add("executed", code.co_filename)

    def _on_connect(self, address: Any) -> None:
        if isinstance(address, tuple) and len(address) >= 2:
            self._add("network", f"{address[0]}:{address[1]}")


def _mentions(code: CodeType, marker: str) -> bool:
    texts = (one for one in (*code.co_names, *code.co_consts) if isinstance(one, str))
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return any(marker in text for text in texts) or any(_mentions(one, marker) for one in inner)


class ArgumentWatch:
    """Detect whether a call changed any of its mutable arguments."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        mutable = (list, dict, set, bytearray)
        self._before = [
            (name, value, _as_text(value))
            for name, value in arguments.items()
            if isinstance(value, mutable)
        ]

    def changed(self) -> list[str]:
        return [name for name, value, before in self._before if _as_text(value) != before]


def _as_text(value: Any) -> str:
    return json.dumps(value, default=repr, sort_keys=False)


class RecordingEnviron(dict[Any, Any]):
    """Environment variables that record each name the audited reward reads."""

    def __init__(self, variables: dict[Any, Any], note: Callable[[str], None]) -> None:
        super().__init__(variables)
        self._note = note

    def __getitem__(self, key: Any) -> Any:
        self._note(os.fsdecode(key))
        return super().__getitem__(key)


def _is_library(file: str) -> bool:
    return file.startswith("<") or any(
        part in file for part in (STANDARD_LIBRARY, "site-packages", "dist-packages", OWN_FOLDER)
    )


def move_clock(shift_s: float) -> None:
    """Move Python's clock forward by `shift_s` seconds for modules imported later."""
    seconds, nanoseconds = time.time, time.time_ns
    time.time = lambda: seconds() + shift_s
    time.time_ns = lambda: nanoseconds() + int(shift_s * 1e9)
    for name in ("localtime", "gmtime", "ctime"):
        original = getattr(time, name)
        setattr(time, name, _with_default(original, lambda: seconds() + shift_s))
    shift = dt.timedelta(seconds=shift_s)

    class MovedDatetime(dt.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + shift

        @classmethod
        def utcnow(cls) -> Any:
            return super().utcnow() + shift

        @classmethod
        def today(cls) -> Any:
            return super().today() + shift

    class MovedDate(dt.date):
        @classmethod
        def today(cls) -> Any:
            return super().today() + shift

    dt.datetime, dt.date = MovedDatetime, MovedDate  # type: ignore[misc]


def _with_default(function: Callable[..., Any], now: Callable[[], float]) -> Callable[..., Any]:
    return lambda seconds=None: function(now() if seconds is None else seconds)


class MemoryMeter:
    """Measure how much the peak memory of this process grows from now on."""

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

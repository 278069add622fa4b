"""The near side of the bridge: one child process, one question at a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

ANSWER_BYTES: Final = 50_000_000
TAIL_BYTES: Final = 2_000
REAP_LIMIT_S: Final = 10.0
CHILD: Final = Path(__file__).with_name("bridge_child.py")


class BridgeError(Exception):
    """The child ended, or said something that is no answer."""


class Child:
    """A process that runs `bridge_child.py` under another interpreter.

    It ends with `kill`, and when this process ends in any way: its standard input is a pipe from
    here.
    """

    def __init__(self, python: str, environment: Mapping[str, str]) -> None:
        self._python = python
        self._environment = dict(environment)
        self._lock = threading.Lock()
        self._killed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; `None` before the first question."""
        return self._process.pid if self._process else None

    def running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The child's answer; blocks until it comes, or until the child is killed."""
        process = self._process or self._launch()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline(ANSWER_BYTES)
        except (OSError, ValueError) as error:
            raise BridgeError(f"the process does not listen ({error}); {self._tail()}") from error
        if not line.endswith(b"\n"):
            raise BridgeError(f"the process ended without an answer; {self._tail()}")
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise BridgeError(f"the process said {line[:200]!r}, which is no answer") from error
        if not isinstance(answer, dict):
            raise BridgeError(f"the process said {line[:200]!r}, which is no answer")
        return answer

    def _launch(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._killed:
                raise BridgeError("the process was closed before it started")
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - `reap` closes it
            try:
                self._process = subprocess.Popen(
                    [self._python, "-u", str(CHILD)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    env={**os.environ, **self._environment},
                    # A group of its own, so that all of it can be ended at once.
                    start_new_session=True,
                )
            except OSError as error:
                raise BridgeError(f"{self._python!r} cannot be started: {error}") from error
            return self._process

    def kill(self) -> None:
        """The child and all that it started are ended; nothing here blocks."""
        with self._lock:
            self._killed = True
            process = self._process
            if process is None:
                return
            # Listed first: the children of a dead process are no longer known as its own.
            family = _descendants(process.pid)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            for pid in family:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def reap(self) -> None:
        """After `kill`: the child is gone from the process table, its pipes are closed."""
        with self._lock:
            process, log, self._log = self._process, self._log, None
        if log is not None:
            log.close()
        if process is None:
            return
        process.wait(REAP_LIMIT_S)
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def _tail(self) -> str:
        """The end of what the child wrote to its standard error, which often says why."""
        log = self._log
        if log is None:
            return "it left no message"
        with suppress(OSError, ValueError):
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - TAIL_BYTES))
            said = log.read().decode("utf-8", "replace").strip()
            if said:
                return f"its last words: {said}"
        return "it left no message"


def _descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they did; empty where /proc is not."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The second field is a name in brackets, which may hold anything.
            parent = int(entry.read_text("utf-8", "replace").rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    found = list(children.get(pid, ()))
    for child in found:
        found.extend(children.get(child, ()))
    return found

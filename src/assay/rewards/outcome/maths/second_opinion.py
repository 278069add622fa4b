"""A second opinion from sympy, in a process that can be killed.

The comparator is bounded by construction and therefore does no open-ended algebra. Where its "not
equal" is not conclusive, sympy can be asked; that may turn a 0 into a 1, and never back. sympy may
need forever, so it runs in a fresh interpreter with a limit on memory and on processor time, both
kept by the kernel; it can be asked from any thread, and the caller may fork. What crosses the pipe
is our parsed tree, never text, so nothing that a model wrote is evaluated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay.errors import MissingExtra
from assay.rewards.outcome.maths.trees import Tree, to_trees

CPU_S = 2.0
"""Processor time for one question; unlike a wall clock, it does not depend on the load."""
MEMORY_MB = 1024
_WALL_PER_CPU = 15.0
_START_S = 120.0


@dataclass(frozen=True, slots=True)
class Opinion:
    """What sympy says: equal, not equal, or (`None`) that it cannot say."""

    equal: bool | None
    because: str


def require_sympy() -> None:
    """Raise unless sympy is installed."""
    if not _has_sympy():
        raise MissingExtra("second_opinion=True needs sympy; run `pip install 'assay[maths]'`")


def second_opinion(prediction: str, reference: str, *, cpu_s: float = CPU_S) -> Opinion:
    """Whether sympy proves the two answers equal, asked from any thread.

    Blocks for at most a small multiple of `cpu_s`. Raises `MissingExtra` without sympy.
    """
    require_sympy()
    trees = to_trees(prediction, reference)
    if trees is None:
        return Opinion(None, "sympy is asked about expressions only")
    return shared_process().ask(*trees, cpu_s=cpu_s)


class SympyProcess:
    """One interpreter with sympy, started when first asked and again after it was killed.

    Questions from several threads wait for each other. After `fork`, the child forgets its
    parent's process and starts its own when it asks.
    """

    def __init__(self, *, memory_mb: int = MEMORY_MB) -> None:
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stop: weakref.finalize[..., SympyProcess] | None = None
        forget = weakref.WeakMethod(self._forget)
        os.register_at_fork(after_in_child=lambda: (call := forget()) and call())

    @property
    def pid(self) -> int | None:
        """The process that is running now, if one is."""
        return self._process.pid if self._process is not None else None

    def ask(self, left: Tree, right: Tree, *, cpu_s: float = CPU_S) -> Opinion:
        """Whether sympy proves the two trees equal within `cpu_s` seconds of processor time."""
        question = json.dumps({"cpu_s": cpu_s, "left": left, "right": right})
        with self._lock:
            answer = self._exchange(question.encode() + b"\n", cpu_s * _WALL_PER_CPU)
        if answer is None:
            return Opinion(None, f"sympy did not finish within {cpu_s:g} s of processor time")
        equal: bool | None = answer["equal"]
        result = {True: "proves them equal", False: "says they differ", None: "cannot say"}
        return Opinion(equal, f"sympy {result[equal]}")

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._end()

    def _exchange(self, question: bytes, wall_s: float) -> dict[str, Any] | None:
        """The worker's answer, or `None` after it was stopped, by its own limits or by us."""
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            while question:
                question = question[process.stdin.write(question) :]
            line = _read_line(process, wall_s)
        except BrokenPipeError:
            line = b""
        if not line:
            self._end()
            return None
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "assay.rewards.outcome.maths.sympy_worker",
                str(self._memory_mb),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        self._process = process
        self._stop = weakref.finalize(self, _kill, process)
        if not _read_line(process, _START_S):
            self._end()
            raise MissingExtra(
                f"sympy could not be started within {self._memory_mb} MB; check that "
                f"`{sys.executable} -c 'import sympy'` works"
            )
        return process

    def _end(self) -> None:
        if self._stop is not None:
            self._stop()
        self._process = self._stop = None

    def _forget(self) -> None:
        """In a forked child: let go of the parent's process without touching it."""
        process, self._process = self._process, None
        self._lock = threading.Lock()
        if self._stop is not None:
            self._stop.detach()
            self._stop = None
        if process is not None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            # Our copies of the pipe would keep the worker alive after its real parent is gone.
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                os.dup2(nowhere, pipe.fileno())
                pipe.close()
            os.close(nowhere)
            process.returncode = 0


@lru_cache(maxsize=1)
def shared_process() -> SympyProcess:
    """The one worker of this interpreter; starting sympy anew for every question costs a second."""
    return SympyProcess()


@lru_cache(maxsize=1)
def _has_sympy() -> bool:
    return importlib.util.find_spec("sympy") is not None


def _read_line(process: subprocess.Popen[bytes], wall_s: float) -> bytes:
    """The next line of the worker's output; empty when it ended or did not answer in time."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + wall_s
    line = b""
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return b""
        piece = os.read(descriptor, 65536)
        if not piece:
            return b""
        line += piece
    return line


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()

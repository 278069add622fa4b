"""A second opinion from sympy, in a process that can be killed.

The comparator is bounded by construction and therefore does no open-ended algebra. Where its "not
equal" is not conclusive, sympy can be asked; that may turn a 0 into a 1, and never back. sympy may
need forever, so it runs in a child process with a limit on memory and on processor time, both kept
by the kernel. What crosses the pipe is our parsed tree, never text, so nothing that a model wrote
is evaluated.
"""

from __future__ import annotations

import importlib.util
import resource
import sys
from dataclasses import dataclass
from functools import lru_cache

from assay.errors import MissingExtra
from assay.resources.child import ChildProcess, same_interpreter
from assay.resources.frames import BadFrame, PipeClosed
from assay.rewards.outcome.maths.compare.trees import Tree, to_trees

CPU_S = 2.0
"""Processor time for one question; unlike a wall clock, it does not depend on the load."""
MEMORY_MB = 1024
_WALL_PER_CPU = 15.0
_START_S = 120.0
_ANSWERS = {True: "proves them equal", False: "says they differ", None: "cannot say"}


@dataclass(frozen=True, slots=True)
class SympyOpinion:
    """Sympy's answer: equal, not equal, or (`None`) that it cannot say."""

    equal: bool | None
    because: str


def require_sympy() -> None:
    """Raise `MissingExtra` unless sympy is installed."""
    if not _has_sympy():
        raise MissingExtra.of("second_opinion=True", "sympy")


def second_opinion(prediction: str, reference: str, *, cpu_s: float = CPU_S) -> SympyOpinion:
    """Whether sympy proves the two answers equal, asked from any thread.

    Blocks for at most a small multiple of `cpu_s`. Raises `MissingExtra` without sympy.
    """
    require_sympy()
    trees = to_trees(prediction, reference)
    if trees is None:
        return SympyOpinion(None, "sympy is asked about expressions only")
    return shared_process().ask(*trees, cpu_s=cpu_s)


class SympyProcess:
    """One interpreter with sympy, started when first asked and again after it was killed.

    Questions from several threads wait for each other; a forked process starts its own.
    """

    def __init__(self, *, memory_mb: int = MEMORY_MB) -> None:
        self._memory_mb = memory_mb
        command, environment = same_interpreter("assay.rewards.outcome.maths.compare.sympy_worker")
        self._child = ChildProcess(
            command,
            environment=environment,
            limits={resource.RLIMIT_AS: memory_mb * 1024 * 1024},
        )

    @property
    def pid(self) -> int | None:
        """The process that is running now, if one is."""
        return self._child.pid

    def ask(self, left: Tree, right: Tree, *, cpu_s: float = CPU_S) -> SympyOpinion:
        """Whether sympy proves the two trees equal within `cpu_s` seconds of processor time."""
        request = {"cpu_s": cpu_s, "left": left, "right": right}
        with self._child.lock:
            if self._child.pid is None:
                self._start()
            try:
                answer = self._child.ask(request, timeout_s=cpu_s * _WALL_PER_CPU)
            except (BadFrame, PipeClosed, TimeoutError):
                self._child.close()
                return SympyOpinion(
                    None, f"sympy did not finish within {cpu_s:g} s of processor time"
                )
        equal: bool | None = answer["equal"]
        return SympyOpinion(equal, f"sympy {_ANSWERS[equal]}")

    def close(self) -> None:
        """End the process; the next question starts another."""
        self._child.close()

    def _start(self) -> None:
        try:
            self._child.start()
            self._child.ask({}, timeout_s=_START_S)
        except (BadFrame, PipeClosed, OSError) as error:
            self._child.close()
            raise MissingExtra(
                f"sympy could not be started within {self._memory_mb} MB; check that "
                f"`{sys.executable} -c 'import sympy'` works"
            ) from error


@lru_cache(maxsize=1)
def shared_process() -> SympyProcess:
    """The one worker of this interpreter; starting sympy anew for every question costs a second."""
    return SympyProcess()


@lru_cache(maxsize=1)
def _has_sympy() -> bool:
    return importlib.util.find_spec("sympy") is not None

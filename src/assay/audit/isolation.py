"""The bounded child process in which the target is called.

Its folder, temporary files and environment are its own, beside what every `ChildProcess` has. A
call that takes too long ends that process, and the next call gets a new one. What a target may
still do: use the network, and read files.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from assay.audit.findings import CallResult, GraderCall, Status
from assay.audit.target import TargetSpec
from assay.errors import BadParameter, UnknownName
from assay.resources import processes
from assay.resources.child import ChildProcess
from assay.resources.frames import BadFrame, PipeClosed

Place = Literal["main", "thread", "loop", "spawn", "fork", "crowd"]
"""`crowd` is eight threads at the same time."""

CHILD_FOLDER = Path(__file__).parent / "child"
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""The variables of the audit that a target sees; keys and tokens are not among them."""
BATCH_CALLS = 256
BATCH_BYTES = 16 * 1024 * 1024
STOP_S = 5.0
"""For the process to end by itself."""
LINGER_S = 0.5
MOST_STRAYS = 32
"""Processes beside the target's own that may run until it ends."""
MARKER = "assay_canary"
"""A word in every payload, by which executed text is recognised."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How much time, memory and disk the target's process may use."""

    call_s: float = 5.0
    """Wall-clock time of one call."""
    load_s: float = 120.0
    memory_mb: int = 4096
    cpu_s: int = 1800
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class MeasuredResult:
    """The result of a call with what was measured beside it."""

    result: CallResult
    growth_mb: float = 0.0
    """Peak memory during the call beyond what the process held before."""
    lag_s: float = 0.0
    """The longest time that the event loop stood still."""


@dataclass(slots=True)
class SideEffects:
    """What targets did beside answering."""

    seen: dict[tuple[str, str], None] = field(default_factory=dict)
    """Kinds of event with their detail: file, temporary file, process, network, executed."""
    survivors: list[str] = field(default_factory=list)
    """Commands of processes that outlived the target's own."""
    lingered: int = 0
    """Processes of the target that did not end when they were to."""
    deaths: int = 0
    """Processes of the target that had to be killed or ended by themselves."""


class IsolatedTarget:
    """The target's process: started for the first call, and again after it ended."""

    def __init__(
        self,
        spec: TargetSpec,
        limits: ProcessLimits,
        *,
        hash_seed: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.traces = SideEffects()
        self.facts: dict[str, Any] = {}
        self._hash_seed = hash_seed
        self._environment = dict(environment or {})
        self._folder = Path(tempfile.mkdtemp(prefix="assay-audit-"))
        for name in ("work", "home", "tmp"):
            (self._folder / name).mkdir()
        megabyte = 1024 * 1024
        self._child = ChildProcess(
            [spec.python, "-m", "assay_audit_child"],
            environment=self._variables(),
            folder=self.work,
            limits={
                resource.RLIMIT_DATA: limits.memory_mb * megabyte,
                resource.RLIMIT_CPU: limits.cpu_s,
                resource.RLIMIT_FSIZE: limits.file_mb * megabyte,
            },
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def work(self) -> Path:
        """The folder in which the target runs."""
        return self._folder / "work"

    def files(self) -> list[str]:
        """Files that lie in the target's own folders, relative to them."""
        return sorted(
            str(path.relative_to(self._folder))
            for name in ("work", "home")
            for path in (self._folder / name).rglob("*")
            if path.is_file()
        )

    def start(self) -> dict[str, Any]:
        """Load the target, unless it is loaded; returns the facts about it.

        Raises `BadParameter` if its interpreter cannot be started, and `UnknownName` if the target
        cannot be loaded.
        """
        if self._child.pid is not None:
            return self.facts
        try:
            self._child.start()
        except OSError as error:
            raise BadParameter(
                f"cannot start {self.spec.python!r}: {error.strerror}; "
                "name a Python interpreter by its path"
            ) from error
        opening = {"target": self.spec.to_wire(), "marker": MARKER}
        try:
            answer = self._child.ask(opening, timeout_s=self.limits.load_s)
        except (PipeClosed, BadFrame, TimeoutError) as error:
            lines = self._child.stderr_tail().splitlines()
            message = lines[-1][:300] if lines else "it left no message"
            self._child.close()
            raise UnknownName(f"cannot load {self.spec.text}: {error}; {message}") from error
        if "unloadable" in answer:
            self._child.close()
            raise UnknownName(f"cannot load {self.spec.text}: {answer['unloadable']}")
        self.facts = answer["facts"]
        return self.facts

    def ask(
        self,
        calls: Sequence[GraderCall],
        *,
        shape: str,
        place: Place = "main",
        measure: bool = False,
        call_s: float | None = None,
    ) -> list[MeasuredResult]:
        """A result for every call, in order; a call that hangs or crashes loses only its own."""
        limit = self.limits.call_s if call_s is None else call_s
        request = {
            "op": "ask", "place": place, "shape": shape, "measure": measure,
            "reference_column": self.spec.reference_column,
        }  # fmt: skip
        results: list[MeasuredResult] = []
        for batch in _batches(calls):
            pending = batch
            while pending:
                first = self._ask(pending, request, limit)
                results += first
                pending = pending[len(first) :]
        return results

    def stop(self) -> None:
        """End the process, by itself if it can, and record what it left running.

        The next call is answered by one that has seen no other.
        """
        if self._child.pid is None:
            return
        with suppress(PipeClosed, TimeoutError):
            self._child.send({"op": "bye"}, time.monotonic() + 1.0)
        if self._child.wait(STOP_S) is None:
            self.traces.lingered += 1
        else:
            self.traces.survivors += [_describe(one.command) for one in self._survivors()]
        self._child.close()

    def close(self) -> None:
        """End every process of the target, and remove its files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, wire_calls: list[dict[str, Any]], request: dict[str, Any], limit: float
    ) -> list[MeasuredResult]:
        """Results of the first calls: of all of them, or up to one that ended the process."""
        self.start()
        # Starting another process may take long before its first call.
        slack_s = self.limits.load_s if request["place"] in ("spawn", "fork") else 5.0
        results: dict[int, MeasuredResult] = {}
        started: set[int] = set()
        try:
            self._child.send({**request, "calls": wire_calls}, time.monotonic() + limit + 30)
            while True:
                wait_s = limit if started - results.keys() else limit + slack_s
                frame = self._child.receive(time.monotonic() + wait_s)
                if "end" in frame:
                    self._note(frame["seen"])
                    return [results[number] for number in range(len(wire_calls))]
                if "start" in frame:
                    started.add(frame["start"])
                else:
                    results[frame["done"]] = _to_result(frame["reply"])
        except TimeoutError:
            ended = CallResult("timeout", None, f"no verdict within {limit:g} s", seconds=limit)
        except (PipeClosed, BadFrame, KeyError, TypeError, ValueError) as error:
            ended = CallResult("crashed", None, f"its process ended ({self._describe_end(error)})")
        self.traces.deaths += 1
        self._child.close()
        finished = [results[n] for n in range(len(wire_calls)) if n in results]
        if request["place"] == "crowd":
            return [results.get(n, MeasuredResult(ended)) for n in range(len(wire_calls))]
        return [*finished, MeasuredResult(ended)]

    def _note(self, seen: Any) -> None:
        for what, detail in seen:
            self.traces.seen[str(what), str(detail).replace(str(self._folder), ".")] = None
        if any(what == "process" for what, _ in seen):
            self._thin_out()

    def _thin_out(self) -> None:
        """Kill what the target has started and left running, if it is more than it may."""
        strays = tuple(one for one in self._child.family() if one.pid != self._child.pid)
        if len(strays) > MOST_STRAYS:
            self.traces.survivors += [_describe(stray.command) for stray in strays]
            processes.kill(strays)

    def _describe_end(self, error: Exception) -> str:
        """Why there is no answer."""
        if not isinstance(error, PipeClosed):
            return f"unreadable answer: {error}"
        code = self._child.wait(1.0)
        if code is None:
            return "it closed its pipe"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _survivors(self) -> tuple[processes.RunningProcess, ...]:
        """Processes that are still there after a moment in which they could have ended."""
        deadline = time.monotonic() + LINGER_S
        while (survivors := self._child.family()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return survivors

    def _variables(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {
            "LANG": "C.UTF-8",
            **inherited,
            **self._environment,
            "HOME": str(self._folder / "home"),
            "TMPDIR": str(self._folder / "tmp"),
            "PYTHONPATH": str(CHILD_FOLDER),
            "PYTHONHASHSEED": str(self._hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
        }


def _describe(command: str) -> str:
    """A name for a process that outlived the target; a fork of it looks like the audit's child."""
    own = any(word in command for word in ("assay_audit_child", "multiprocessing"))
    return "a forked copy of the grader" if own else command


def _batches(calls: Sequence[GraderCall]) -> Iterator[list[dict[str, Any]]]:
    """The calls as plain values, in batches that are cheap to repeat."""
    batch: list[dict[str, Any]] = []
    size = 0
    for call in calls:
        batch.append(to_wire(call))
        size += len(call.final_response)
        if len(batch) >= BATCH_CALLS or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def to_wire(call: GraderCall) -> dict[str, Any]:
    """A call as plain values."""
    messages = None if call.messages is None else [dict(message) for message in call.messages]
    return {
        "final_response": call.final_response,
        "columns": dict(call.columns),
        "messages": messages,
    }


def call_key(call: GraderCall) -> str:
    """Equal for equal calls."""
    return json.dumps(to_wire(call), sort_keys=True)


def _to_result(reply: Mapping[str, Any]) -> MeasuredResult:
    """The result in the child's reply, which the target may have sent in its place."""
    if reply["status"] not in get_args(Status):
        raise BadFrame(f"a result of status {reply['status']!r}")
    result = CallResult(**{field.name: reply[field.name] for field in fields(CallResult)})
    return MeasuredResult(result, reply.get("growth_mb", 0.0), reply.get("lag", 0.0))

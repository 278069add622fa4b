"""A limited process of its own, in which the target is asked.

Its session, folder, temporary files and environment are its own; it reads nothing from stdin, and
talks over a pipe in JSON. A call that takes too long costs that process its life, and the next
call gets a new one. What a target may still do: use the network, and read files.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args

from assay.audit import processes
from assay.audit.child.assay_audit_child import wire
from assay.audit.findings import CallResult, GraderCall, Status
from assay.audit.pipe import Pipe
from assay.audit.target import TargetSpec
from assay.errors import BadParameter, UnknownName

Place = Literal["main", "thread", "loop", "spawn", "fork", "crowd"]
"""`crowd` is eight threads at the same time."""

CHILD_FOLDER = Path(__file__).parent / "child"
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""Variables that a target sees of ours; keys and tokens are not among them."""
BATCH_CALLS = 256
BATCH_BYTES = 16 * 1024 * 1024
FAREWELL_S = 5.0
LINGER_S = 0.5
MOST_STRAYS = 32
"""Processes beside the target's own that are let live until it ends."""
MARKER = "assay_canary"
"""A word in every payload, by which executed text is recognised."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What the target's process may use."""

    call_s: float = 5.0
    """Wall-clock time of one call."""
    load_s: float = 120.0
    memory_mb: int = 4096
    cpu_s: int = 1800
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class MeasuredResult:
    """A verdict with what was measured beside it."""

    result: CallResult
    growth_mb: float = 0.0
    """Peak memory during the call beyond what the process held before."""
    lag_s: float = 0.0
    """The longest time that the event loop stood still."""


@dataclass(slots=True)
class Traces:
    """What targets did beside answering."""

    seen: dict[tuple[str, str], None] = field(default_factory=dict)
    """Kinds of event with their detail: file, temporary file, process, network, executed."""
    survivors: list[str] = field(default_factory=list)
    """Commands of processes that outlived the target's own."""
    lingered: int = 0
    """Processes of the target that did not end when asked to."""
    deaths: int = 0
    """Processes of the target that had to be killed or ended by themselves."""


class IsolatedTarget:
    """The target's process: started when asked, started again when it dies."""

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
        self.traces = Traces()
        self.facts: dict[str, Any] = {}
        self._hash_seed = hash_seed
        self._environment = dict(environment or {})
        self._mark = secrets.token_hex(16)
        self._folder = Path(tempfile.mkdtemp(prefix="assay-audit-"))
        for name in ("work", "home", "tmp"):
            (self._folder / name).mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = Pipe(-1, -1, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        """The target is loaded; returns the facts about it."""
        if self._process is not None:
            return self.facts
        self._process, self._pipe = self._open()
        limits = asdict(self.limits)
        opening = {"target": self.spec.to_wire(), "limits": limits, "marker": MARKER}
        deadline = time.monotonic() + self.limits.load_s
        try:
            self._pipe.send(opening, deadline)
            said = self._pipe.receive(deadline)
        except (wire.Closed, wire.BadFrame, TimeoutError) as error:
            story = self._last_words()
            self._kill()
            raise UnknownName(f"cannot load {self.spec.text}: {error}; {story}") from error
        if "unloadable" in said:
            self._kill()
            raise UnknownName(f"cannot load {self.spec.text}: {said['unloadable']}")
        self.facts = said["facts"]
        return self.facts

    def _open(self) -> tuple[subprocess.Popen[bytes], Pipe]:
        to_child, from_child = os.pipe(), os.pipe()
        theirs, ours = (to_child[0], from_child[1]), (from_child[0], to_child[1])
        try:
            with (self._folder / "stderr").open("wb") as errors:
                process = subprocess.Popen(
                    [self.spec.python, "-m", "assay_audit_child", *map(str, theirs)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    pass_fds=theirs,
                    start_new_session=True,
                    cwd=self.work,
                    env=self._variables(),
                )
        except OSError as error:
            for fd in ours:
                os.close(fd)
            raise BadParameter(
                f"cannot start {self.spec.python!r}: {error.strerror}; "
                "name a Python interpreter by its path"
            ) from error
        finally:
            for fd in theirs:
                os.close(fd)
        return process, Pipe(*ours, process)

    def ask(
        self,
        calls: Sequence[GraderCall],
        *,
        shape: str,
        place: Place = "main",
        measure: bool = False,
        call_s: float | None = None,
    ) -> list[MeasuredResult]:
        """An answer for every call, in order; one that hangs or kills costs only itself."""
        limit = self.limits.call_s if call_s is None else call_s
        request = {
            "op": "ask", "place": place, "shape": shape, "measure": measure,
            "reference_column": self.spec.reference_column,
        }  # fmt: skip
        answers: list[MeasuredResult] = []
        for batch in _batches(calls):
            pending = list(batch)
            while pending:
                got = self._ask(pending, request, limit)
                answers += got
                pending = pending[len(got) :]
        return answers

    def restart(self) -> None:
        """The next call is answered by a process that has seen no other."""
        self._farewell()

    def close(self) -> None:
        """Nothing of the target is left: no process, no file."""
        self._farewell()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, wire_calls: list[dict[str, Any]], request: dict[str, Any], limit: float
    ) -> list[MeasuredResult]:
        """Answers to the first calls: to all of them, or up to one that ended the process."""
        self.start()
        replies: dict[int, MeasuredResult] = {}
        begun: set[int] = set()
        try:
            self._pipe.send({**request, "calls": wire_calls}, time.monotonic() + limit + 30)
            while True:
                patience = limit if begun - replies.keys() else limit + self._slack(request)
                frame = self._pipe.receive(time.monotonic() + patience)
                if "end" in frame:
                    self._note(frame["seen"])
                    return [replies[number] for number in range(len(wire_calls))]
                if "start" in frame:
                    begun.add(frame["start"])
                else:
                    replies[frame["done"]] = _to_answer(frame["reply"])
        except TimeoutError:
            ended = CallResult("timeout", None, f"no verdict within {limit:g} s", seconds=limit)
        except (wire.Closed, wire.BadFrame, KeyError) as error:
            ended = CallResult("crashed", None, f"its process ended ({self._exit_words(error)})")
        self.traces.deaths += 1
        self._kill()
        answered = [replies[n] for n in range(len(wire_calls)) if n in replies]
        if request["place"] == "crowd":
            return [replies.get(n, MeasuredResult(ended)) for n in range(len(wire_calls))]
        return [*answered, MeasuredResult(ended)]

    def _slack(self, request: dict[str, Any]) -> float:
        """Time that starting another process may take before its first call."""
        return self.limits.load_s if request["place"] in ("spawn", "fork") else 5.0

    def _note(self, seen: Any) -> None:
        for what, detail in seen:
            self.traces.seen[str(what), str(detail).replace(str(self._folder), ".")] = None
        if any(what == "process" for what, _ in seen):
            self._thin_out()

    def _thin_out(self) -> None:
        """A target that starts processes and forgets them does not fill the machine with them."""
        if self._process is None:
            return
        own = self._process.pid
        strays = tuple(p for p in processes.marked(self._mark, own) if p.pid != own)
        if len(strays) > MOST_STRAYS:
            self.traces.survivors += [_named(stray.command) for stray in strays]
            processes.end(strays)

    def _exit_words(self, error: Exception) -> str:
        process = self._process
        if process is None or not isinstance(error, wire.Closed):
            return f"unreadable answer: {error}"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        code = process.returncode
        if code is None:
            return "it closed its pipe"
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _farewell(self) -> None:
        """The process has ended by itself if it could, and what it left running is noted."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(wire.Closed, TimeoutError, OSError):
            self._pipe.send({"op": "bye"}, time.monotonic() + 1.0)
        try:
            process.wait(FAREWELL_S)
        except subprocess.TimeoutExpired:
            self.traces.lingered += 1
            self._kill()
            return
        left = self._survivors()
        self.traces.survivors += [_named(process.command) for process in left]
        processes.end(left)
        self._forget()

    def _survivors(self) -> tuple[processes.Process, ...]:
        """Processes that are still there after a moment in which they could have ended."""
        deadline = time.monotonic() + LINGER_S
        while (left := processes.marked(self._mark)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        processes.end(processes.marked(self._mark, process.pid))
        process.kill()
        process.wait()
        processes.end(processes.marked(self._mark))
        self._forget()

    def _forget(self) -> None:
        self._pipe.close()
        self._process = None

    def _variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {
            "LANG": "C.UTF-8",
            **kept,
            **self._environment,
            processes.MARK: self._mark,
            "HOME": str(self._folder / "home"),
            "TMPDIR": str(self._folder / "tmp"),
            "PYTHONPATH": str(CHILD_FOLDER),
            "PYTHONHASHSEED": str(self._hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
        }

    def _last_words(self) -> str:
        lines = (self._folder / "stderr").read_text("utf-8", "replace").strip().splitlines()
        return lines[-1][:300] if lines else "it said nothing"


def _named(command: str) -> str:
    """What outlived the target, in words; a fork of it looks like the audit's own child."""
    own = any(word in command for word in ("assay_audit_child", "multiprocessing"))
    return "a forked copy of the grader" if own else command


def _batches(calls: Sequence[GraderCall]) -> Iterator[list[dict[str, Any]]]:
    """The calls as plain values, in parcels that are cheap to repeat."""
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


def _to_answer(reply: Mapping[str, Any]) -> MeasuredResult:
    """What the child said, which the target may have said in its place."""
    if reply["status"] not in get_args(Status):
        raise wire.BadFrame(f"a verdict of status {reply['status']!r}")
    verdict = CallResult(
        status=reply["status"],
        value=reply["value"],
        because=reply["because"],
        parts=reply["parts"],
        seconds=reply["seconds"],
        raw_type=reply["raw_type"],
    )
    return MeasuredResult(verdict, reply.get("growth_mb", 0.0), reply.get("lag", 0.0))

"""Run the audited reward in a limited child process, and cache its results.

The process has a folder, temporary files and an environment of its own. A supervisor
(`isolation/supervisor.py`) stands between the audit and the target: it adopts what the target
starts, counts memory, and hides other processes where the kernel lets it. A call that takes too
long ends all of them, and the next call gets new ones. What a target may still do: use the network,
and read files.

The target shares its process with the code that sends its answers, so it can send what it likes.
Nothing that arrives is believed beyond its own results: frames come in one order, each once, and
the clock is ours, so that a frame of the target's making gains it no time and whatever else it
sends is a crash of that call.
"""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Self, TypeVar, cast

from assay.audit.findings import CallResult, GraderCall, Sample
from assay.audit.frames import RightAnswerBaseline, measure_baseline
from assay.audit.replies import BatchProgress, MeasuredResult, read_facts
from assay.audit.target import VARIANTS, TargetSpec, to_target
from assay.errors import BadParameter, UnknownName
from assay.isolation import processes
from assay.isolation.child import STANDALONE
from assay.isolation.frames import BadFrame, PipeClosed, decode_object
from assay.isolation.supervised import SupervisedChild, SupervisorReport, is_supervisor
from assay.resources.scratch import scratch_prefix
from assay.schema.audit import KINDS, AuditTarget, Kind, Shape

T = TypeVar("T")

Place = Literal["main", "thread", "loop", "spawn", "fork", "threads"]
"""`threads` is eight of them at the same time."""

CHILD_FOLDER = Path(__file__).parent / "child"
INHERITED = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""The variables of the audit that a target sees; keys and tokens are not among them."""
LONGEST_FRAME = 8 * 1024 * 1024
"""An answer, with the names of the target's side effects."""
BATCH_CALLS = 256
BATCH_BYTES = 16 * 1024 * 1024
STOP_S = 5.0
"""For the process to end by itself."""
COPIED_FILES = 100
COPIED_BYTES = 1024 * 1024
MOST_STARTED = 32
"""Processes started by the target that may run until it ends."""
MANY_TIMEOUTS = 8
"""Time-outs after which the audit waits less for each call."""
SHORT_CALL_S = 1.0
SHAPE_SAMPLES = 6
MARKER = "assay_canary"
"""A word in every payload, by which executed text is recognised."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of time, memory and file size for a process of the audited reward."""

    call_s: float = 5.0
    """Wall-clock time of one call."""
    load_s: float = 120.0
    memory_mb: int = 4096
    cpu_s: int = 1800
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class MachineConditions:
    """Machine conditions of a process; a change of these must not change a score."""

    hash_seed: int = 0
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment, in addition to the usual ones."""
    shift_s: float = 0.0
    """How far ahead its clock is."""
    files_of: Path | None = None
    """A folder of which its working folder has copies of the small files."""


USUAL: Final = MachineConditions()


@dataclass(slots=True)
class SideEffects:
    """Side effects of the audited reward's processes, such as files and connections."""

    seen: dict[tuple[str, str], None] = field(default_factory=dict)
    """Kinds of event with their detail: file, temporary file, process, network, executed."""
    survivors: list[str] = field(default_factory=list)
    """Commands of processes that outlived the target's own."""
    lingered: int = 0
    """Processes of the target that did not end when they were to."""
    deaths: int = 0
    """Processes of the target that had to be killed or ended by themselves."""

    def add(self, other: SideEffects) -> None:
        self.seen.update(other.seen)
        self.survivors += other.survivors
        self.lingered += other.lingered
        self.deaths += other.deaths


class TargetProcess:
    """Process of the audited reward; starts on the first call and again after its end."""

    def __init__(
        self,
        spec: TargetSpec,
        limits: ProcessLimits,
        *,
        surroundings: MachineConditions = USUAL,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.traces = SideEffects()
        self.facts: dict[str, Any] = {}
        self._surroundings = surroundings
        self._environment = environment
        self._folder = Path(tempfile.mkdtemp(prefix=scratch_prefix("audit")))
        for name in ("work", "home", "tmp"):
            (self._folder / name).mkdir()
        if surroundings.files_of is not None:
            _copy_files(surroundings.files_of, self.work)
        megabyte = 1024 * 1024
        self._child = SupervisedChild(
            [spec.python, "-m", "assay_audit_child.server"],
            memory_bytes=limits.memory_mb * megabyte,
            longest_frame=LONGEST_FRAME,
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
        return self._folder / "work"

    def files(self) -> list[str]:
        """List the files in the folders of the audited process, with relative paths."""
        return sorted(
            str(path.relative_to(self._folder))
            for name in ("work", "home")
            for path in (self._folder / name).rglob("*")
            if path.is_file()
        )

    def start(self) -> dict[str, Any]:
        """Load the audited reward if it is not loaded, and return its facts.

        Raises `BadParameter` if its interpreter cannot be started, and `UnknownName` if the target
        cannot be loaded.
        """
        if self._child.pid is not None:
            return self.facts
        shift_s = self._surroundings.shift_s
        opening = {"target": self.spec.to_wire(), "marker": MARKER, "shift_s": shift_s}
        deadline = time.monotonic() + self.limits.load_s
        try:
            self._child.open(deadline)
            self._child.send(opening, deadline)
            answer = self._receive(deadline)
            if "unloadable" not in answer:
                self.facts = read_facts(answer)
        except (PipeClosed, BadFrame, TimeoutError) as error:
            lines = self._child.stderr_tail().splitlines()
            message = lines[-1][:300] if lines else "it left no message"
            report = None if isinstance(error, TimeoutError) else self._child.report()
            self._child.close()
            if report is not None and report.unstartable:
                raise BadParameter(
                    f"cannot start {self.spec.python!r}: {report.unstartable}; "
                    "give the path of a Python interpreter"
                ) from error
            raise UnknownName(f"cannot load {self.spec.text}: {error}; {message}") from error
        if "unloadable" in answer:
            self._child.close()
            raise UnknownName(f"cannot load {self.spec.text}: {answer['unloadable']!s:.1000}")
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
        """Return a result for each call, in order; a hang or crash affects only its own call."""
        limit = self.limits.call_s if call_s is None else call_s
        request = {
            "op": "ask", "place": place, "shape": shape, "measure": measure,
            "reference_column": self.spec.reference_column,
        }  # fmt: skip
        results: list[MeasuredResult] = []
        for pending in _batches(calls):
            while pending:
                first = self._ask(pending, request, limit)
                results += first
                pending = pending[len(first) :]
        return results

    def stop(self) -> None:
        """Stop the process and record what it left running; the next call starts a new process."""
        if self._child.pid is None:
            return
        deadline = time.monotonic() + STOP_S
        with suppress(PipeClosed, TimeoutError, BadFrame):
            self._child.send({"op": "bye"}, min(deadline, time.monotonic() + 1.0))
            while time.monotonic() < deadline:
                self._receive(deadline)
        report = self._child.report(max(0.0, deadline - time.monotonic()))
        self.traces.lingered += report is None
        self._close_child(report)

    def close(self) -> None:
        """Stop every process of the audited reward, and delete its files."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, wire_calls: list[dict[str, Any]], request: dict[str, Any], limit: float
    ) -> list[MeasuredResult]:
        """Return the results of all calls, or up to the call that ended the process."""
        self.start()
        # Starting another process may take long before its first call.
        slack_s = self.limits.load_s if request["place"] in ("spawn", "fork") else 5.0
        progress = BatchProgress(len(wire_calls), parallel=request["place"] == "threads")
        try:
            self._child.send({**request, "calls": wire_calls}, time.monotonic() + limit + 30)
            while not progress.ended:
                wait_s = limit if progress.running else limit + slack_s
                progress.take(self._receive(time.monotonic() + wait_s), time.monotonic())
            self._note(progress.events)
            return progress.all_results()
        except TimeoutError:
            report = None
            ended = CallResult("timeout", None, f"no verdict within {limit:g} s", seconds=limit)
        except (PipeClosed, BadFrame) as error:
            report = self._child.report() if isinstance(error, PipeClosed) else None
            why = _describe_end(report, error)
            ended = CallResult("crashed", None, f"its process ended ({why})")
        self.traces.deaths += 1
        self._close_child(report)
        return progress.results_with(ended)

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Read the next message of the process; raise as `ChildProcess.receive` does."""
        return decode_object(self._child.receive_bytes(deadline))

    def _close_child(self, report: SupervisorReport | None) -> None:
        """Kill the process, and keep the supervisor's report of its end."""
        if report is not None:
            self.traces.survivors += map(_describe, report.survivors)
        self._child.close()

    def _note(self, events: Sequence[tuple[str, str]]) -> None:
        for what, detail in events:
            self.traces.seen[what, detail.replace(str(self._folder), ".")] = None
        if not any(what == "process" for what, _ in events):
            return
        # What the target has started and left running is killed if it is more than it may be.
        started = tuple(one for one in self._child.family() if not is_supervisor(one.command))
        if len(started) > MOST_STARTED:
            self.traces.survivors += [_describe(one.command) for one in started]
            processes.kill(started)

    def _variables(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return {
            "LANG": "C.UTF-8",
            **inherited,
            **self._environment,
            **self._surroundings.variables,
            "HOME": str(self._folder / "home"),
            "TMPDIR": str(self._folder / "tmp"),
            "PYTHONPATH": f"{CHILD_FOLDER}{os.pathsep}{STANDALONE}",
            "PYTHONHASHSEED": str(self._surroundings.hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "OMP_NUM_THREADS": "1",
        }


class AuditSession:
    """Call one audited reward, and cache its results."""

    def __init__(
        self,
        spec: TargetSpec,
        limits: ProcessLimits | None = None,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        self.limits = limits or ProcessLimits()
        self.call_count = 0
        """Calls made, those that only confirm a measurement aside."""
        self.traces = SideEffects()
        self._environment = environment or {}
        self._open = partial(TargetProcess, spec, self.limits, environment=self._environment)
        self._process = self._open()
        self._results: dict[str, CallResult] = {}
        self._timeouts = 0
        self._target: AuditTarget | None = None
        self._cache: dict[str, object] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.close()
        self.traces.add(self._process.traces)

    @property
    def target(self) -> AuditTarget:
        """Facts about the audited reward, which is loaded if needed."""
        if self._target is None:
            self._target = to_target(self.spec, self._process.start())
        return self._target

    @property
    def declared(self) -> tuple[Kind | None, Mapping[str, str]]:
        """Kind that the author declared, and the accepted checks with their reasons."""
        facts = self._process.start()
        return next((each for each in KINDS if each == facts["kind"]), None), facts["accepts"]

    def settle_shape(self, kind: Kind, samples: Sequence[Sample]) -> None:
        """Choose the calling convention in which the most right answers are paid."""
        detected: Shape = self._process.start()["shape"]
        variants = VARIANTS.get(detected, ())
        if self.spec.shape is not None or not variants:
            return

        def accepted(shape: Shape) -> int:
            def ask(calls: Sequence[GraderCall]) -> list[CallResult]:
                return [measured.result for measured in self._process.ask(calls, shape=shape)]

            return measure_baseline(ask, kind, samples[:SHAPE_SAMPLES]).accepted

        best = max(variants, key=accepted)
        if best != self.target.shape:
            self._results.clear()
        self._target = to_target(self.spec, {**self._process.facts, "shape": best})

    def baseline(self, kind: Kind, samples: Sequence[Sample]) -> RightAnswerBaseline:
        """Measure once where the reward looks for an answer, and the pay of a right answer."""
        return self.cached("baseline", lambda: measure_baseline(self.ask, kind, samples))

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """Return the value of `compute`, which runs once for each name."""
        if name not in self._cache:
            self._cache[name] = compute()
        # One name stands for one question, and so for one type of answer.
        return cast(T, self._cache[name])

    def ask(self, calls: Sequence[GraderCall]) -> list[CallResult]:
        """Return a result for each call, in order; repeated calls use a cache."""
        keys = [call.key for call in calls]
        new = {key: call for key, call in zip(keys, calls, strict=True) if key not in self._results}
        measured = self.run_calls(list(new.values()))
        self._results |= {key: one.result for key, one in zip(new, measured, strict=True)}
        return [self._results[key] for key in keys]

    def run_calls(
        self,
        calls: Sequence[GraderCall],
        process: TargetProcess | None = None,
        *,
        place: Place = "main",
        measure: bool = False,
        counted: bool = True,
    ) -> list[MeasuredResult]:
        """Make the calls without the cache, in a chosen place and process."""
        if not calls:
            return []
        self.call_count += len(calls) if counted else 0
        many = self._timeouts >= MANY_TIMEOUTS
        results = (process or self._process).ask(
            calls,
            shape=self.target.shape,
            place=place,
            measure=measure,
            call_s=min(self.limits.call_s, SHORT_CALL_S) if many else None,
        )
        self._timeouts += sum(one.result.status == "timeout" for one in results)
        return results

    @contextmanager
    def fresh_process(self, surroundings: MachineConditions = USUAL) -> Iterator[TargetProcess]:
        """Start a new process of the same reward for the block."""
        with self._open(surroundings=surroundings) as process:
            yield process
        self.traces.add(process.traces)

    def collect_traces(self) -> SideEffects:
        """Stop the process, and return the side effects of all processes so far."""
        self._process.stop()
        self.traces.add(self._process.traces)
        self._process.traces = SideEffects()
        return self.traces

    def variables_read(self) -> list[str]:
        """Environment variables that the reward has read, except those that the user passed."""
        seen = {**self.traces.seen, **self._process.traces.seen}
        names = {detail for what, detail in seen if what == "variable"}
        return sorted(names - set(self._environment))


def _copy_files(source: Path, folder: Path) -> None:
    """Copy the small files of a folder, except Python modules."""
    with suppress(OSError):
        for path in sorted(source.iterdir())[:COPIED_FILES]:
            plain = path.is_file() and not path.is_symlink() and path.suffix != ".py"
            if plain and path.stat().st_size <= COPIED_BYTES:
                shutil.copyfile(path, folder / path.name)


def _describe_end(report: SupervisorReport | None, error: Exception) -> str:
    if not isinstance(error, PipeClosed):
        return f"unreadable answer: {error}"
    if report is None or report.ended is None:
        return "its supervisor ended"
    code = report.ended
    return report.because or (f"signal {-code}" if code < 0 else f"exit code {code}")


def _describe(command: str) -> str:
    """Describe a process that outlived the audited reward."""
    own = any(word in command for word in ("assay_audit_child", "import spawn_main"))
    return "a forked copy of the grader" if own else command


def _batches(calls: Sequence[GraderCall]) -> Iterator[list[dict[str, Any]]]:
    """Split the calls into batches of plain values."""
    batch: list[dict[str, Any]] = []
    size = 0
    for call in calls:
        batch.append(call.to_wire())
        size += len(call.final_response)
        if len(batch) >= BATCH_CALLS or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch

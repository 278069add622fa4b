"""The target under audit: the bounded child process in which it is called, and its results so far.

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
    """The time, memory and file size that a process of the target may use."""

    call_s: float = 5.0
    """Wall-clock time of one call."""
    load_s: float = 120.0
    memory_mb: int = 4096
    cpu_s: int = 1800
    file_mb: int = 64


@dataclass(frozen=True, slots=True)
class MachineConditions:
    """What a target's process finds on its machine; none of it should change a score."""

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
    """What processes of a target did in addition to answering."""

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
    """The target's process: started for the first call, and again after it ended."""

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
                    "name a Python interpreter by its path"
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
        """A result for every call, in order; a call that hangs or crashes loses only its own."""
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
        """End the process, by itself if it can, and record what it left running.

        The next call is answered by one that has seen no other.
        """
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
        """The target's next frame. Raises as `ChildProcess.receive` does."""
        return decode_object(self._child.receive_bytes(deadline))

    def _close_child(self, report: SupervisorReport | None) -> None:
        """Kill what is left of it, and keep what its supervisor reported of its end."""
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
    """Asks one target, and caches its results."""

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
        """The facts about the target, which is loaded for them."""
        if self._target is None:
            self._target = to_target(self.spec, self._process.start())
        return self._target

    @property
    def declared(self) -> tuple[Kind | None, Mapping[str, str]]:
        """The kind that the reward's author declared, and by check what is meant to be, and why."""
        facts = self._process.start()
        return next((each for each in KINDS if each == facts["kind"]), None), facts["accepts"]

    def settle_shape(self, kind: Kind, samples: Sequence[Sample]) -> None:
        """Choose the variant of the target's shape in which right answers are paid best."""
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
        """Where the target looks for an answer and what it pays for a right one; measured once."""
        return self.cached("baseline", lambda: measure_baseline(self.ask, kind, samples))

    def cached(self, name: str, compute: Callable[[], T]) -> T:
        """What `compute` returned when this name was first asked for."""
        if name not in self._cache:
            self._cache[name] = compute()
        # One name stands for one question, and so for one type of answer.
        return cast(T, self._cache[name])

    def ask(self, calls: Sequence[GraderCall]) -> list[CallResult]:
        """A result for every call, in order; the same call is made once."""
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
        """As `ask`, but never from the cache: in a place, and a process, of one's choice."""
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
        """Another process of the same target, which has answered nothing yet."""
        with self._open(surroundings=surroundings) as process:
            yield process
        self.traces.add(process.traces)

    def collect_traces(self) -> SideEffects:
        """The side effects of all processes of the target that have ended or stopped."""
        self._process.stop()
        self.traces.add(self._process.traces)
        self._process.traces = SideEffects()
        return self.traces

    def variables_read(self) -> list[str]:
        """Names of variables that the target has asked its environment for, so far.

        Those that the user hands over are not among them: that it reads them is known.
        """
        seen = {**self.traces.seen, **self._process.traces.seen}
        names = {detail for what, detail in seen if what == "variable"}
        return sorted(names - set(self._environment))


def _copy_files(source: Path, folder: Path) -> None:
    """Copy the small files of a folder, modules aside, which are imported from where they are."""
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
    """A name for a process that outlived the target; a fork of it looks like the audit's child."""
    own = any(word in command for word in ("assay_audit_child", "import spawn_main"))
    return "a forked copy of the grader" if own else command


def _batches(calls: Sequence[GraderCall]) -> Iterator[list[dict[str, Any]]]:
    """The calls as plain values, in batches that are cheap to repeat."""
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

"""Run untrusted programs in child processes that cannot reach the grader.

    sandbox = shared_sandbox()
    with sandbox.start({"mode": "calls", …}, limits=SandboxLimits(time_s=5)) as run:
        run.receive()

One zygote for each process of ours and each kind of isolation: a Python with the usual modules
loaded, inside namespaces of its own, that forks a guard for every run. The guard is the first
process of the run's own process namespace, starts the program, holds it to its limits, and takes
everything with it when it ends. A program has no network, no files but read-only interpreters and
libraries and a /tmp of its own, an empty environment, no descriptor but its own pipes, and sees no
process but its own. It is no virtual machine: a hole in the kernel is a hole in it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, TypeAlias

from assay.errors import ResourceError
from assay.isolation import frames
from assay.isolation.child import STANDALONE, ChildProcess, FramePipe
from assay.isolation.frames import BadFrame, PipeClosed
from assay.resources.scratch import scratch_prefix

Isolation: TypeAlias = Literal["full", "process"]
"""`full` is the minimum of layers, or no run at all; `process` is a process with limits alone."""

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs find other programs."""
START_S = 60.0
SLOTS = 64
"""Runs at a time; the next ones wait."""
WAITING = 4096
"""Runs that may wait for a slot; one more is refused at once."""
WAIT_S = 600.0
BEGIN_S = 5.0
"""For the guard of a run to begin; it takes a millisecond or two, but not where much else runs."""
END_S = 0.4
"""After the time of a run, for its guard to end it and report; it takes a millisecond or two."""
LONGEST_BEGIN = 1 << 18
"""Bytes of the first frame of a guard."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Limits of one sandboxed run: time, memory, disk, processes and output."""

    time_s: float = 10.0
    """Wall-clock time of the whole run, however many tests it has."""
    memory_mb: int = 512
    """Of all its processes together; each of them alone cannot hold more either."""
    disk_mb: int = 64
    """Of its /tmp, which is memory."""
    processes: int = 64
    """Processes and threads."""
    output_bytes: int = 4 * 1024 * 1024
    """What one program may write to its standard output, or send as one answer."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a sandboxed run ended, as its guard process reported."""

    cause: str
    """`time`, `memory`, `output` for a limit, `asked`, `lost` if no guard reported; else empty."""
    exit_code: int | None
    """Of the program; negative for a signal."""


class SandboxRun:
    """A sandboxed run in progress; leaving the `with` block ends the run."""

    def __init__(
        self, sockets: list[socket.socket], job: Mapping[str, Any], limits: SandboxLimits
    ) -> None:
        """Take the guard's socket and, if there is one, the program's own socket."""
        self.limits = limits
        self.has_begun = False
        """Whether its guard was heard of; its time counts from then on."""
        self._sockets = sockets
        pipes = [FramePipe(one.fileno(), one.fileno()) for one in sockets]
        self._control, self._channel = pipes[0], pipes[-1]
        self._end: RunEnd | None = None
        opening = frames.encode({**job, "limits": asdict(limits)})
        with suppress(PipeClosed, TimeoutError):
            self._control.send(opening, time.monotonic() + BEGIN_S)
        self._deadline = time.monotonic() + BEGIN_S
        """Until it has begun, when it is given up; then when its time is over."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """Whether the run has started and used all of its time."""
        return self.has_begun and time.monotonic() >= self._deadline

    def send(self, value: Any) -> None:
        """Send a message to the program; raise `PipeClosed` or `TimeoutError` on failure."""
        self._await_begin()
        self._channel.send(frames.encode(value), self._deadline)

    def receive(self) -> dict[str, Any]:
        """Receive an untrusted JSON object; raise `PipeClosed`, `BadFrame` or `TimeoutError`."""
        self._await_begin()
        body = self._channel.receive(self._deadline, self.limits.output_bytes * 2)
        return frames.decode_object(body)

    def report(self) -> dict[str, Any]:
        """Receive the guard's next message; a message with `end` is the last."""
        self._await_begin()
        # The guard keeps the time; it is waited for a little longer.
        longest = self.limits.output_bytes * 8
        frame = frames.decode_object(self._control.receive(self._deadline + END_S, longest))
        if "end" in frame:
            self._end = RunEnd(frame["end"]["cause"], frame["end"]["exit"])
        return frame

    def end(self) -> RunEnd:
        """Stop the run if it is still running, and return how it ended."""
        if self._end is None:
            with suppress(OSError):
                self._sockets[0].shutdown(socket.SHUT_WR)
            self._end = self._await_end()
        return self._end

    def _await_begin(self) -> None:
        if not self.has_begun:
            opening = frames.decode_object(self._control.receive(self._deadline, LONGEST_BEGIN))
            self._deadline = opening["began"] + self.limits.time_s
            self.has_begun = True

    def _await_end(self) -> RunEnd:
        self._deadline = max(self._deadline, time.monotonic() - END_S)
        with suppress(PipeClosed, BadFrame, TimeoutError):
            while self._end is None:
                self.report()
        return self._end or RunEnd("lost", None)

    def close(self) -> None:
        try:
            self.end()
        finally:
            for one in self._sockets:
                one.close()


class NoSandbox(ResourceError):
    """This machine cannot isolate a program, or has no free slot for a program."""


class SandboxBusy(NoSandbox):
    """All slots of the sandbox are busy, so no other program can start now."""


class SandboxLayer(NamedTuple):
    """One isolation layer of the sandbox, and whether this machine supports it."""

    name: str
    holds: bool
    required: bool
    """Whether there is no run without it."""
    because: str
    """What it does; where it does not hold, why."""


_LAYERS: Final = (
    ("process namespace", "namespaces", True, "a program sees and signals its own processes alone"),
    ("network namespace", "namespaces", True, "no interface, not even the loopback"),
    ("mount namespace", "files", True, "interpreters and libraries read-only, a /tmp of its own"),
    ("user namespace", "namespaces", True, "a user without rights; processes are counted in it"),
    ("limits", "", True, "memory, processor time, files, output, processes, descriptors"),
    ("descriptors", "", True, "none is inherited but the program's own pipes"),
    ("capabilities", "capabilities", False, "none, and none can be gained"),
    ("landlock", "landlock", False, "writing below /tmp alone, no TCP, no abstract sockets"),
    ("seccomp", "seccomp", False, "no sockets, tracing, mounts, namespaces, keys, BPF, io_uring"),
    ("cgroups", "cgroups", False, "memory of a run counted by the kernel"),
)


class Sandbox:
    """Start sandboxed runs as forks of one prepared process, the zygote.

    Any thread may start runs. A process that was forked from this one needs a sandbox of its own,
    which `shared_sandbox` gives it.
    """

    def __init__(self, isolation: Isolation = "full", *, slots: int = SLOTS) -> None:
        self.isolation: Isolation = isolation
        self._slots = threading.Semaphore(slots)
        self._waiting = threading.Semaphore(slots + WAITING)
        self._lock = threading.Lock()
        self._child: ChildProcess | None = None
        self._launches: socket.socket | None = None
        self._folder: str | None = None
        self._isolated = False
        self._missing: dict[str, str] = {}

    @property
    def pid(self) -> int | None:
        """Process id of the zygote; `None` if the zygote is not running."""
        return None if self._child is None else self._child.pid

    def layers(self) -> tuple[SandboxLayer, ...]:
        """Start the zygote, and list the isolation layers that this machine supports."""
        try:
            self._started()
        except NoSandbox as error:
            self._missing = {"namespaces": str(error)}
        unused = "not used: the guard adds up the memory of a run every 20 ms"
        missing = {"cgroups": unused, **self._missing}
        if self.isolation == "process":
            missing["namespaces"] = "isolation is 'process'"
        if "namespaces" in missing:
            for name in ("files", "capabilities", "landlock", "seccomp"):
                missing.setdefault(name, "there are no namespaces")
        return tuple(
            SandboxLayer(name, key not in missing, required, missing.get(key, because))
            for name, key, required, because in _LAYERS
        )

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Run the block when a slot is free; raise `SandboxBusy` if too many runs wait."""
        if not self._waiting.acquire(blocking=False):
            raise SandboxBusy(f"{WAITING} sandbox runs are already waiting; start fewer at a time")
        with ExitStack() as stack:
            stack.callback(self._waiting.release)
            if not self._slots.acquire(timeout=WAIT_S):
                raise SandboxBusy(f"no sandbox slot became free within {WAIT_S:g} s")
            stack.callback(self._slots.release)
            yield

    def start(
        self, job: Mapping[str, Any], *, limits: SandboxLimits, channel: bool = True
    ) -> SandboxRun:
        """Start a run of the job; raise `NoSandbox` if a required layer is missing.

        Hold a `slot` around it, and around whatever runs together.
        """
        self.check()
        pairs = [socket.socketpair() for _ in range(2 if channel else 1)]
        try:
            theirs = [pair[1].fileno() for pair in pairs]
            for attempt in (1, 2):
                launches = self._started()
                try:
                    socket.send_fds(launches, [b"run"], theirs)
                    break
                except OSError as error:
                    # It died since it was last asked.
                    self.close()
                    if attempt == 2:
                        raise NoSandbox(
                            f"the sandbox process cannot be reached: {error}"
                        ) from error
        except BaseException:
            for pair in pairs:
                pair[0].close()
            raise
        finally:
            for pair in pairs:
                pair[1].close()
        return SandboxRun([pair[0] for pair in pairs], job, limits)

    def check(self) -> None:
        """Raise `NoSandbox` if this machine lacks a required isolation layer."""
        self._started()
        if self.isolation == "full" and not self._isolated:
            why = "; ".join(f"{name}: {because}" for name, because in self._missing.items())
            raise NoSandbox(
                f"this machine does not isolate programs ({why}); `assay check sandbox` shows "
                "the details"
            )

    def close(self) -> None:
        with self._lock:
            self._close()

    def _started(self) -> socket.socket:
        """Return the socket of the running zygote; raise `NoSandbox` if it cannot start."""
        with self._lock:
            if self._child is not None and self._launches is not None:
                if self._child.is_running():
                    return self._launches
                self._close()
            if not sys.platform.startswith("linux"):
                raise NoSandbox("only Linux can isolate programs")
            return self._start()

    def _start(self) -> socket.socket:
        self._folder = tempfile.mkdtemp(prefix=scratch_prefix("sandbox"))
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = ChildProcess(
            [sys.executable, "-s", "-P", "-m", "assay_isolation.zygote", str(theirs.fileno())],
            environment={
                "PATH": PATH,
                "PYTHONPATH": STANDALONE,
                "PYTHONHASHSEED": "0",
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONUTF8": "1",
                "LANG": "C.UTF-8",
            },
            folder=Path("/"),
            inherit=[theirs.fileno()],
            # In a session of its own it took ten times as long on a machine with much to do.
            own_session=False,
        )
        opening = {
            "isolated": self.isolation == "full",
            "folder": self._folder,
            "shown": _interpreter_folders(),
        }
        try:
            child.start()
            hello = child.ask(opening, timeout_s=START_S)
        except (OSError, PipeClosed, BadFrame, TimeoutError) as error:
            message = child.stderr_tail()[-300:]
            child.close()
            ours.close()
            self._remove_folder()
            raise NoSandbox(f"the sandbox process does not start: {error}; {message}") from error
        finally:
            theirs.close()
        self._child, self._launches = child, ours
        self._isolated, self._missing = hello["isolated"], hello["missing"]
        return ours

    def _close(self) -> None:
        if self._child is not None:
            self._child.close()
        if self._launches is not None:
            self._launches.close()
        self._child = self._launches = None
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _interpreter_folders() -> list[str]:
    """List the folders of this interpreter and its installed packages."""
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return sorted({sys.base_prefix, sys.prefix, sys.exec_prefix, *packages})


_SHARED: Final[dict[tuple[int, Isolation], Sandbox]] = {}
"""By process and isolation: a forked process has a record of its parent's, but not the zygote."""
_SHARING: Final = threading.Lock()


def shared_sandbox(isolation: Isolation = "full") -> Sandbox:
    """Return the shared sandbox of this process; it closes at exit."""
    with _SHARING:
        key = (os.getpid(), isolation)
        if key not in _SHARED:
            _SHARED[key] = Sandbox(isolation)
        return _SHARED[key]


@atexit.register
def _close_shared() -> None:
    """Close the sandboxes of this process, but not those of its parent."""
    for (pid, _), sandbox in tuple(_SHARED.items()):
        if pid == os.getpid():
            sandbox.close()

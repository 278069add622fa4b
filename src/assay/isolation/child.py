"""Run one limited child process that answers requests over pipes, each before a deadline.

    child = ChildProcess([sys.executable, "-m", "…"], environment={…}, limits={RLIMIT_AS: …})
    child.start()
    answer = child.ask(request, timeout_s=5)    # or TimeoutError, PipeClosed, BadFrame
    child.close()

The command gets the numbers of two pipes as its last arguments, and reads and writes the frames of
`isolation/frames.py` there; its standard input is empty, its standard output goes nowhere, and the
last 2,000 bytes of its standard error are there for messages. It runs in a session of its own, with
an environment, a folder and limits that the caller chooses. Nothing here waits past a deadline.

`close` kills the child, its process group, its descendants, and whatever inherited the mark that
it carries in its environment, such as a process that left the group and whose parents are gone. If
this process ends, in whatever way, the kernel kills the child's group (on Linux; elsewhere the
child ends when it reads its next request). A process forked from this one does not touch the
child, and can start its own.
"""

from __future__ import annotations

import os
import resource
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from assay.isolation import frames, kernel, processes

STANDALONE = str(Path(__file__).with_name("standalone"))
"""The folder from which children that run without the package import `assay_isolation`."""
WAIT_S = 0.005
POLL_S = 0.25
"""How often a wait looks whether the process has ended: another may hold its pipes open."""
REAP_S = 10.0
TAIL_BYTES = 2_000
LOG_BYTES = 16 * 1024 * 1024
"""What a child may write to its standard error before the beginning is dropped."""
TRACKER_S = 0.5
"""For Python's own trackers to tidy up after processes that were killed."""
KILL_ROUNDS = 5
"""Listings of the family, in case it grows while it is being killed."""


class ChildProcess:
    """A child process that can be started, closed and started again.

    `limits` maps kinds of `resource.setrlimit` to values; they hold for all that the child starts,
    and before the first request is sent. A core file is never written. `inherit` are descriptors
    that the child gets too. Without `own_session` it has a process group of its own in ours, which
    a busy machine schedules with us: many kernels share the processor out by sessions. With
    `show_output` what it prints goes to our standard error, and `stderr_tail` is empty. Any thread
    may call any method; hold `lock` to keep several requests together.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path | None = None,
        limits: Mapping[int, int] | None = None,
        longest_frame: int = frames.LONGEST_FRAME,
        inherit: Sequence[int] = (),
        show_output: bool = False,
        own_session: bool = True,
    ) -> None:
        self.mark = secrets.token_hex(16)
        """A text in the environment of every process that descends from this child."""
        self.lock = threading.RLock()
        limits = {resource.RLIMIT_CORE: 0, **(limits or {})}
        self._launch = _Launch(
            list(command), dict(environment), folder, limits, inherit, show_output, own_session
        )
        self._longest_frame = longest_frame
        self._process: _Process | None = None
        self._release: weakref.finalize[..., ChildProcess] | None = None
        _open_children().add(self)

    @property
    def pid(self) -> int | None:
        """Id of the process; `None` before `start` and after `close`."""
        process = self._process
        return process.popen.pid if process is not None else None

    def is_running(self) -> bool:
        process = self._process
        return process is not None and process.exit_code() is None

    def start(self) -> None:
        """Start the command if it is not started; raise `OSError` on failure."""
        with self.lock:
            if self._process is None:
                self._process = _Process(self._launch, self.mark)
                self._release = weakref.finalize(self, self._process.release)

    def ask(self, request: Any, *, timeout_s: float) -> Any:
        """Send one request and return its answer, before any request of another thread."""
        deadline = time.monotonic() + timeout_s
        with self.lock:
            self.send(request, deadline)
            return self.receive(deadline)

    def send(self, value: Any, deadline: float) -> None:
        """Send a JSON message; raise as `FramePipe.send` does."""
        with self.lock:
            self._started().send(frames.encode(value), deadline)

    def send_bytes(self, body: bytes, deadline: float) -> None:
        """Send a message of raw bytes; raise as `FramePipe.send` does."""
        with self.lock:
            self._started().send(frames.wrap(body), deadline)

    def receive(self, deadline: float) -> Any:
        """Receive a JSON message; raise `TimeoutError`, `PipeClosed` or `BadFrame` on failure."""
        return frames.decode(self.receive_bytes(deadline))

    def receive_bytes(self, deadline: float) -> bytearray:
        """Receive a message of raw bytes; raise as `receive` does."""
        with self.lock:
            return self._started().pipe.receive(deadline, self._longest_frame)

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the exit code, negative for a signal; `None` if the time runs out."""
        process = self._process
        return process.wait(timeout_s) if process is not None else None

    def stderr_tail(self) -> str:
        """Last part of the process's standard error; empty after `close`."""
        process = self._process
        return process.stderr_tail() if process is not None else ""

    def family(self) -> tuple[processes.RunningProcess, ...]:
        """Running processes: the child, its descendants, and all that carry its mark."""
        return processes.list_family(root=self.pid, mark=self.mark, trackers=True)

    def kill(self) -> None:
        """Kill the child and its family at once; waiting threads get `PipeClosed`."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill the child and its family, reap the child, and close its pipes."""
        self.kill()
        with self.lock:
            if self._release is not None:
                self._release()
            self._process = self._release = None

    def _started(self) -> _Process:
        if self._process is None:
            raise frames.PipeClosed("the process was not started")
        return self._process

    def forget(self) -> None:
        """Drop the parent's child process in a forked process, without killing it."""
        process, self._process = self._process, None
        self.mark = secrets.token_hex(16)
        self.lock = threading.RLock()
        if self._release is not None:
            self._release.detach()
            self._release = None
        if process is not None:
            # Our copies of its pipes would keep it alive after its real parent is gone.
            process.close_files()
            process.popen.returncode = 0


class FramePipe:
    """Send and receive messages of an untrusted process, each before a deadline.

    A frame that has come is taken, however late this side looks. `has_ended` is asked about the
    process while it is waited for.
    """

    def __init__(
        self, read_fd: int, write_fd: int, has_ended: Callable[[], bool] = lambda: False
    ) -> None:
        self._read_fd, self._write_fd = read_fd, write_fd
        self._has_ended = has_ended
        self._buffer = bytearray()
        for fd in (read_fd, write_fd):
            os.set_blocking(fd, False)

    def send(self, frame: bytes, deadline: float) -> None:
        """Send a message; raise `TimeoutError` at the deadline, or `PipeClosed`."""
        view = memoryview(frame)
        while view:
            try:
                view = view[os.write(self._write_fd, view) :]
            except BlockingIOError:
                self._wait(self._write_fd, select.POLLOUT, deadline)
            except OSError as error:
                raise frames.PipeClosed("the process does not read") from error

    def receive(self, deadline: float, longest: int = frames.LONGEST_FRAME) -> bytearray:
        """Receive the next message; raise as `send` does, or `BadFrame` if it is too long."""
        while (body := frames.take(self._buffer, longest=longest)) is None:
            self._wait(self._read_fd, select.POLLIN, deadline)
            try:
                chunk = os.read(self._read_fd, frames.CHUNK)
            except BlockingIOError:
                continue
            except OSError as error:
                raise frames.PipeClosed("the process is gone") from error
            if not chunk:
                raise frames.PipeClosed("the process ended without an answer")
            self._buffer += chunk
        return body

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        """Wait until the pipe is ready; raise `PipeClosed` if the process has ended."""
        poll = select.poll()
        poll.register(fd, event)
        while True:
            left_s = deadline - time.monotonic()
            if poll.poll(min(max(left_s, 0.0), POLL_S) * 1000):
                return
            if left_s <= 0:
                raise TimeoutError("no answer in time")
            if self._has_ended():
                if poll.poll(0):
                    return
                raise frames.PipeClosed("the process has ended")


class _Launch(NamedTuple):
    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path | None
    limits: Mapping[int, int]
    inherit: Sequence[int]
    show_output: bool
    own_session: bool


class _Process:
    """A running command with its pipes, its error output and its lifetime pipe."""

    def __init__(self, launch: _Launch, mark: str) -> None:
        self._mark = mark
        self._reaping = threading.Lock()
        self._log: IO[bytes] = tempfile.TemporaryFile("ab+", buffering=0)  # noqa: SIM115 - `close_files`
        requests, answers, life = os.pipe(), os.pipe(), os.pipe()
        self._files = [answers[0], requests[1], life[1]]
        theirs = (requests[0], answers[1], life[0])
        try:
            self.pipe = FramePipe(answers[0], requests[1], self._has_ended)
            self.popen = self._start(launch, theirs)
            processes.kill_at_close(life[0], -self.popen.pid)
        except BaseException:
            if hasattr(self, "popen"):
                self.popen.kill()
                self.popen.wait()
            self.close_files()
            raise
        finally:
            for fd in theirs:
                os.close(fd)

    def _start(self, launch: _Launch, fds: tuple[int, ...]) -> subprocess.Popen[bytes]:
        marks = [mark for mark in (os.environ.get(processes.MARKS), self._mark) if mark]
        limits = launch.limits.items()
        limits_others = hasattr(resource, "prlimit")

        def limit_itself() -> None:
            for kind, value in limits:
                kernel.limit(kind, value)

        popen = subprocess.Popen(
            [*launch.command, *map(str, fds[:2])],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr.fileno() if launch.show_output else subprocess.DEVNULL,
            stderr=None if launch.show_output else self._log,
            pass_fds=(*fds, *launch.inherit),
            start_new_session=launch.own_session,
            process_group=None if launch.own_session else 0,
            cwd=launch.folder,
            env={**launch.environment, processes.MARKS: ":".join(marks)},
            # Where one process cannot limit another, the child does it before it begins.
            preexec_fn=None if limits_others else limit_itself,
        )
        if limits_others:
            for kind, value in limits:
                kernel.limit(kind, value, popen.pid)
        return popen

    def send(self, frame: bytes, deadline: float) -> None:
        self._trim_log()
        self.pipe.send(frame, deadline)

    def _has_ended(self) -> bool:
        self._trim_log()
        return self.exit_code() is not None

    def _trim_log(self) -> None:
        if os.fstat(self._log.fileno()).st_size > LOG_BYTES:
            self._log.truncate(0)

    def stderr_tail(self) -> str:
        with suppress(OSError, ValueError):
            size = self._log.seek(0, os.SEEK_END)
            self._log.seek(max(0, size - TAIL_BYTES))
            return self._log.read(TAIL_BYTES).decode("utf-8", "replace").strip()
        return ""

    def exit_code(self) -> int | None:
        """Return the exit code, or `None` while the process runs.

        The process stays unreaped until `release`, so that its id, which is also that of its
        group, cannot become another's.
        """
        try:
            ended = os.waitid(os.P_PID, self.popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return self.popen.returncode or 0
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def wait(self, timeout_s: float) -> int | None:
        deadline = time.monotonic() + timeout_s
        while (code := self.exit_code()) is None and time.monotonic() < deadline:
            time.sleep(WAIT_S)
        return code

    def kill(self) -> None:
        with self._reaping:
            if self.popen.returncode is not None:
                return
            # Listed first: the children of a dead process are no longer known as its own.
            # A tracker ends by itself, or in `release`, which knows it by its mark.
            root, mark = self.popen.pid, self._mark
            family = tuple(
                one
                for one in processes.list_family(root=root, mark=mark, trackers=True)
                if kernel.TRACKER not in one.command or not processes.carries(one.pid, mark)
            )
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(root, signal.SIGKILL)
            processes.kill(family)

    def release(self) -> None:
        """Kill the process and its family, reap the child, and close all files."""
        self.kill()
        with self._reaping, suppress(subprocess.TimeoutExpired):
            self.popen.wait(REAP_S)
        for _ in range(KILL_ROUNDS):
            family = processes.list_family(mark=self._mark)
            if not family:
                break
            processes.kill(family)
        # What calls itself a tracker is killed if it does not end with those that it tracks.
        deadline = time.monotonic() + TRACKER_S
        while family := processes.list_family(mark=self._mark, trackers=True):
            if time.monotonic() > deadline:
                processes.kill(family)
                break
            time.sleep(WAIT_S)
        self.close_files()

    def close_files(self) -> None:
        while self._files:
            os.close(self._files.pop())
        self._log.close()


def is_of_a_child(pid: int) -> bool:
    """Whether a process is a running child of this process, or was started by one."""
    return any(
        child.pid is not None and (pid == child.pid or processes.carries(pid, child.mark))
        for child in tuple(_open_children())
    )


@lru_cache(maxsize=1)
def _open_children() -> weakref.WeakSet[ChildProcess]:
    """Return the set of this process's children; a forked process empties its copy."""
    children: weakref.WeakSet[ChildProcess] = weakref.WeakSet()

    def forget_all() -> None:
        for child in tuple(children):
            child.forget()

    os.register_at_fork(after_in_child=forget_all)
    return children


def module_child(
    module: str, *arguments: str, memory_bytes: int | None = None, **options: Any
) -> ChildProcess:
    """Create a child process that runs a Python module.

    `memory_bytes` limits private memory that can be written, which is what code allocates: address
    space alone, as CUDA and Java reserve it by the terabyte, costs nothing. `options` are those of
    `ChildProcess`.
    """
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return ChildProcess(
        [sys.executable, "-P", "-m", module, *arguments],
        environment={**os.environ, "PYTHONPATH": path},
        limits={resource.RLIMIT_DATA: memory_bytes} if memory_bytes else {},
        **options,
    )

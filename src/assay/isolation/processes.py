"""List and kill families of processes, and end a child together with its parent."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any, TypeVar

from assay.errors import ResourceError
from assay.isolation import kernel

T = TypeVar("T")
MARKS = "ASSAY_CHILD_MARKS"
"""An environment variable: the marks of the child processes that a process descends from."""


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A running process: its id and its command."""

    pid: int
    command: str


def list_family(
    *, root: int | None = None, mark: str = "", trackers: bool = False
) -> tuple[RunningProcess, ...]:
    """List processes that are `root`, descend from it, share its session, or carry `mark`.

    Those that call themselves Python's trackers are left out, unless asked for: any process can.
    Empty where there is no /proc.
    """
    family = set() if root is None else {root, *kernel.descendants(root)}
    if mark or root is not None:
        family |= {
            pid
            for pid in kernel.pids()
            if (mark and carries(pid, mark)) or (root is not None and _session(pid) == root)
        }
    family -= {os.getpid()}
    running = {pid: kernel.command(pid) for pid in sorted(family) if kernel.is_alive(pid)}
    return tuple(
        RunningProcess(pid, command)
        for pid, command in running.items()
        if trackers or kernel.TRACKER not in command
    )


def kill(processes: tuple[RunningProcess, ...]) -> None:
    """Kill the processes; ignore those that have ended or belong to another user."""
    for process in processes:
        kernel.kill(process.pid)


def kill_family(root: int) -> None:
    """Kill a process and all its descendants, in every session."""
    # Listed first: the children of a dead process are no longer known as its own.
    descendants = list_family(root=root)
    kernel.kill(root)
    kill(descendants)


def adopt_orphans() -> bool:
    """Make this process the parent of orphaned descendants; return False on failure."""
    return kernel.set_option(kernel.PR_SET_CHILD_SUBREAPER, 1)


def list_adopted() -> tuple[RunningProcess, ...]:
    """List children of this process in other sessions, including ended children."""
    me, session = os.getpid(), os.getsid(0)
    return tuple(
        RunningProcess(pid, kernel.command(pid))
        for pid in kernel.pids()
        if kernel.process_stat(pid)[1:2] == [str(me).encode()] and _session(pid) != session
    )


def reap(pid: int, *, timeout_s: float) -> None:
    """Wait for a killed child to end, so that it does not stay a zombie."""
    deadline = time.monotonic() + timeout_s
    with suppress(ChildProcessError):
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG) is None:
            if time.monotonic() > deadline:
                return
            time.sleep(0.005)


def kill_at_close(fd: int, owner: int) -> bool:
    """Let the kernel kill `owner` when the last writer of the pipe `fd` is gone.

    `fd` is the reading end of a pipe into which nothing is written; the process to be killed must
    have it open. A negative `owner` is a process group. It happens whatever the process is doing,
    also if the writer was killed. Returns False where the kernel does not know this (it is
    Linux's F_SETSIG).
    """
    if not hasattr(fcntl, "F_SETSIG"):
        return False
    fcntl.fcntl(fd, fcntl.F_SETOWN, owner)
    fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    return True


def worker_pool(
    workers: int, prepare: Callable[..., None] | None = None, arguments: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """Create a pool of spawned processes that end with their parent, even by SIGKILL.

    A worker that is itself starting, and imports the script that starts workers, ends quietly: the
    pool that it belongs to says why, by `naming_losses`.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)
    return ProcessPoolExecutor(
        max_workers=workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(prepare, arguments),
    )


def naming_losses(results: Iterator[T]) -> Iterator[T]:
    """Yield the results of a pool; raise `ResourceError` if a process of the pool died."""
    try:
        yield from results
    except BrokenProcessPool as error:
        raise ResourceError(
            "a worker process ended during its work: it was killed, or the machine has too little "
            'memory. In a script, start workers below `if __name__ == "__main__":`, because each '
            "worker imports the script"
        ) from error


@contextmanager
def guarded_work() -> Iterator[None]:
    """Limit the block to half of the machine's memory, and end forks made in the block."""
    me = os.getpid()
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    if limits[0] == resource.RLIM_INFINITY or limits[0] > half:
        resource.setrlimit(resource.RLIMIT_DATA, (half, limits[1]))
    try:
        yield
    finally:
        if os.getpid() != me:
            os._exit(0)
        resource.setrlimit(resource.RLIMIT_DATA, limits)


def _start_worker(prepare: Callable[..., None] | None, arguments: tuple[Any, ...]) -> None:
    # Ctrl-C reaches the whole process group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a reward prints must not stand between the results that the parent writes.
    sys.stdout = sys.stderr
    parent = multiprocessing.parent_process()
    if parent is not None and not kill_at_close(parent.sentinel, os.getpid()):
        threading.Thread(
            target=_end_after, args=(parent.sentinel,), name="end-with-parent", daemon=True
        ).start()
    elif parent is not None and wait([parent.sentinel], timeout=0):
        os._exit(1)  # The parent ended before the kernel watched its pipe.
    if prepare is not None:
        prepare(*arguments)


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def carries(pid: int, mark: str) -> bool:
    """Whether the process inherited the mark of a child process."""
    variables = kernel.read(f"{pid}/environ").split(b"\0")
    prefix = f"{MARKS}=".encode()
    marks = (line.removeprefix(prefix) for line in variables if line.startswith(prefix))
    return any(mark.encode() in value.split(b":") for value in marks)


def _session(pid: int) -> int | None:
    with suppress(OSError):
        return os.getsid(pid)
    return None

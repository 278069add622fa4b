"""Watch a process: adopt, count and end all processes that it starts.

It stands between the owner and the process, and runs no code of the process's. Its environment is
the process's own, so that there are no keys of the owner's in `/proc/PPID/environ`. It adopts the
orphans of the process, whatever session and environment they gave themselves, and kills and reports
those that outlive it. It adds up the memory of all of them, shared memory included, and ends them
when that is too much. Where the kernel allows it, all of them live in a process namespace of their
own: they see no other process in /proc, cannot send this one a signal, and end with it.

The first frame from the owner says what to run, with the descriptor of a file for the report:
`{"ended": CODE, "because": WORD, "survivors": [COMMAND, …]}`, or `{"unstartable": WHY}`. After it
the process has the owner's pipes for itself.

`isolation/supervised.py` is the owner's side. It imports the standard library alone, and little of
it: it is started for every process.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from typing import Any

from . import frames, kernel

MOST_PROCESSES = 256
TICK_S = 0.05
LINGER_S = 0.5
"""For the processes that the watched one started to end after it."""
TRACKER_S = 2.0
"""For Python's tracker to end after the last of them was killed, on a busy machine."""
NO_NAMESPACE = 77
"""The exit code of a probe that got no namespace."""


def enter_namespace() -> int:
    """Fork a new process namespace: return 0 there, its id here; raise `OSError` if forbidden."""
    ids = os.getuid(), os.getgid()
    try:
        kernel.unshare(kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)
    except OSError:
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS)
        kernel.map_ids(ids, ids)
    return os.fork()


def mount_own() -> None:
    """Mount a new /proc for this process's namespace; raise `OSError` on failure."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", flags)


def probe_namespaces() -> int:
    """Test whether namespaces work on this machine; return exit code 0 or `NO_NAMESPACE`."""
    try:
        first = enter_namespace()
    except (OSError, AttributeError):
        return NO_NAMESPACE
    if first == 0:
        try:
            mount_own()
        except OSError:
            os._exit(NO_NAMESPACE)
        os._exit(0)
    _, status = os.waitpid(first, 0)
    return os.waitstatus_to_exitcode(status)


class Supervisor:
    """Watch one process until it has ended."""

    def __init__(self, opening: dict[str, Any], read_fd: int, write_fd: int) -> None:
        self._memory_bytes: int = opening["memory_bytes"]
        self._wake, wake = os.pipe()
        for fd in (self._wake, wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._because = ""
        self._exit_code: int | None = None
        self._process = _start(opening["command"], read_fd, write_fd)
        for fd in (read_fd, write_fd):
            os.close(fd)

    def run(self) -> dict[str, Any]:
        """Wait until the process ends, and return the report of its end."""
        next_look = 0.0
        while self._exit_code is None:
            if select.select([self._wake], [], [], TICK_S)[0]:
                os.read(self._wake, 4096)
            now = time.monotonic()
            if now >= next_look:
                next_look = now + TICK_S
                self._look_after()
            self._reap()
        survivors = self._survivors()
        return {"ended": self._exit_code, "because": self._because, "survivors": survivors}

    def _look_after(self) -> None:
        """End the process if it has too many descendants or uses too much memory."""
        family = kernel.descendants(os.getpid())
        if len(family) > MOST_PROCESSES:
            self._end(f"more than {MOST_PROCESSES} processes")
        elif kernel.family_bytes(family, above=self._memory_bytes) > self._memory_bytes:
            self._end(f"more than {self._memory_bytes >> 20} MB of memory, what it shares included")

    def _end(self, because: str) -> None:
        self._because = self._because or because
        # They may start others while they are being killed.
        for _ in range(5):
            family = kernel.descendants(os.getpid())
            if not family:
                return
            for pid in family:
                kernel.kill(pid)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._process:
                    self._exit_code = os.waitstatus_to_exitcode(status)

    def _survivors(self) -> list[str]:
        """Kill the processes that outlived the watched process, and return their commands."""
        if self._because:
            self._end(self._because)
            return []
        commands = {pid: kernel.command(pid) for pid in self._await_end(LINGER_S)}
        trackers = {pid for pid, command in commands.items() if kernel.TRACKER in command}
        if trackers:
            # Any process can take the name, but only a tracker ends when those that it tracks have.
            for pid in commands.keys() - trackers:
                kernel.kill(pid)
            trackers.difference_update(self._await_end(TRACKER_S))
        self._end("")
        return [command for pid, command in commands.items() if pid not in trackers]

    def _await_end(self, limit_s: float) -> list[int]:
        """Wait for the descendants to end; return those still running at the limit."""
        deadline = time.monotonic() + limit_s
        while (family := kernel.descendants(os.getpid())) and time.monotonic() < deadline:
            time.sleep(TICK_S / 5)
            self._reap()
        return family


def _start(command: list[str], read_fd: int, write_fd: int) -> int:
    """Start the command in a new session with only its pipes; raise `OSError` on failure."""
    result, failure = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            kernel.set_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            kernel.set_option(kernel.PR_SET_NO_NEW_PRIVS, 1)
            for capability in (kernel.CAP_SYS_PTRACE, kernel.CAP_SYS_ADMIN):
                kernel.set_option(kernel.PR_CAPBSET_DROP, capability)
            kernel.close_all_but(read_fd, write_fd, failure)
            for fd in (read_fd, write_fd):
                os.set_inheritable(fd, True)  # noqa: FBT003 - the call has no keyword
            os.execvp(command[0], [*command, str(read_fd), str(write_fd)])  # noqa: S606
        except OSError as error:
            os.write(failure, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(failure)
    errno = os.read(result, 64)
    os.close(result)
    if errno:
        os.waitpid(pid, 0)
        raise OSError(int(errno), os.strerror(int(errno)))
    return pid


def supervise(opening: dict[str, Any], read_fd: int, write_fd: int) -> None:
    """Run the process to its end, and write a report of its end."""
    kernel.set_option(kernel.PR_SET_CHILD_SUBREAPER, 1)
    kernel.set_option(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        report = Supervisor(opening, read_fd, write_fd).run()
    except OSError as error:
        report = {"unstartable": error.strerror}
    os.write(opening["report"], frames.dump(report))


def main() -> int:
    if sys.argv[-1] == "--probe":
        return probe_namespaces()
    read_fd, write_fd = frames.inherited_pipes(sys.argv)
    opening = frames.receive(read_fd)
    if not opening["namespace"]:
        supervise(opening, read_fd, write_fd)
        return 0
    first = enter_namespace()
    if first == 0:
        code = 1
        try:
            mount_own()
            # Shared memory that ends with the namespace; the machine's where it cannot be mounted.
            with contextlib.suppress(OSError):
                options = f"size={opening['memory_bytes']}"
                flags = kernel.MS_NOSUID | kernel.MS_NODEV
                kernel.mount("tmpfs", "/dev/shm", "tmpfs", flags, options)  # noqa: S108 - a mount
            supervise(opening, read_fd, write_fd)
            code = 0
        finally:
            os._exit(code)
    for fd in (read_fd, write_fd):
        os.close(fd)
    _, status = os.waitpid(first, 0)
    return 0 if status == 0 else 1

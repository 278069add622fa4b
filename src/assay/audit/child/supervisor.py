"""The parent of the target's process: `python -I -S supervisor.py READ_FD WRITE_FD`.

It stands between the audit and the target, and runs no code of the target's. Its environment is
the target's own, so that there are no keys of the audit's in `/proc/PPID/environ`. It adopts the
orphans of the target, whatever session and environment they gave themselves, and kills and reports
those that outlive it. It adds up the memory of all of them, shared memory included, and ends them
when that is too much. Where the kernel allows it, all of them live in a process namespace of their
own: they see no other process in /proc, cannot send this one a signal, and end with it.

The first frame from the audit says what to run; the following ones go to the target as they are.
Every frame to the audit is this program's own: the text of a frame of the target as
`{"frame": TEXT}`, or at last `{"ended": CODE, "because": WORD, "survivors": [COMMAND, …]}`.

It imports the standard library alone, and little of it: it is started for every process.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 2, 4, 8, 0x4000, 1 << 18
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21
CHUNK = 1 << 20
LONGEST_FRAME = 8 * 1024 * 1024
"""Of the target's: an answer, with the names of what it did beside."""
MOST_PENDING = 32 * 1024 * 1024
"""Bytes that wait for the audit, above which the target has to wait too."""
MOST_PROCESSES = 256
TICK_S = 0.05
LINGER_S = 0.5
"""For the processes that the target started to end after it."""
TRACKER = b"multiprocessing.resource_tracker"
"""Python's own helper of spawned processes; it ends when the last of them has."""
TRACKER_S = 2.0
"""For it to end after the last of them was killed, on a busy machine."""
NO_NAMESPACE = 77
"""The exit code of a probe that got no namespace."""


def _load_frames() -> Any:
    path = Path(__file__).resolve().parents[2] / "isolation" / "frames.py"
    spec: Any = importlib.util.spec_from_file_location("assay_frames", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from assay.isolation import frames as frames
else:
    frames = _load_frames()


def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> None:
    """Raise `OSError` for a call of the C library that failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def set_option(option: int, value: int) -> None:
    """Set an option of this process; one that the kernel does not know, or forbids, is left."""
    with contextlib.suppress(OSError, AttributeError):
        libc().prctl(option, value, 0, 0, 0)


def enter_namespace() -> int:
    """Fork the first process of a new process namespace: 0 in it, its id in this one.

    Raises `OSError` where the kernel or a container's rules forbid it.
    """
    uid, gid = os.getuid(), os.getgid()
    try:
        checked(libc().unshare(CLONE_NEWPID | CLONE_NEWNS))
    except OSError:
        checked(libc().unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS))
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(text)
    return os.fork()


def mount_own() -> None:
    """Give this process's namespace its own /proc, and shared memory that ends with it."""
    mount = libc().mount
    flags = MS_NOSUID | MS_NODEV | MS_NOEXEC
    checked(mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    checked(mount(b"proc", b"/proc", b"proc", flags, None))


def limit_shared_memory(size_bytes: int) -> None:
    """Give the namespace a /dev/shm of this size; what cannot be mounted stays as it is."""
    options = f"size={size_bytes}".encode()
    libc().mount(b"tmpfs", b"/dev/shm", b"tmpfs", MS_NOSUID | MS_NODEV, options)


def probe() -> int:
    """The exit code that says whether namespaces can be had here: 0, or `NO_NAMESPACE`."""
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
    """The target's process with its pipes, watched until it has ended."""

    def __init__(self, opening: dict[str, Any], read_fd: int, write_fd: int) -> None:
        self._memory_bytes: int = opening["memory_bytes"]
        self._audit_in, self._audit_out = read_fd, write_fd
        requests, answers = os.pipe(), os.pipe()
        self._target_in, self._target_out = requests[1], answers[0]
        self._wake, wake = os.pipe()
        for fd in (self._wake, wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake)
        self._to_target, self._to_audit, self._from_target = bytearray(), bytearray(), bytearray()
        self._because = ""
        self._exit_code: int | None = None
        self._target = _start(opening["command"], requests[0], answers[1])
        for fd in (requests[0], answers[1]):
            os.close(fd)
        for fd in (self._audit_in, self._audit_out, self._target_in, self._target_out):
            os.set_blocking(fd, False)

    def run(self) -> None:
        """Pass frames on until the target has ended; then report what it left."""
        next_look = 0.0
        while self._exit_code is None:
            self._pass_on()
            now = time.monotonic()
            if now >= next_look:
                next_look = now + TICK_S
                self._look_after()
            self._reap()
        self._read_target()
        report = {
            "ended": self._exit_code,
            "because": self._because,
            "survivors": self._survivors(),
        }
        self._to_audit += frames.encode(report)
        os.set_blocking(self._audit_out, True)
        self._flush(self._audit_out, self._to_audit)

    def _pass_on(self) -> None:
        """Read and write what can be, and wait for it a tick at most."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        if not self._to_target and self._audit_in >= 0:
            poll.register(self._audit_in, select.POLLIN)
        if self._to_target and self._target_in >= 0:
            poll.register(self._target_in, select.POLLOUT)
        if self._to_audit:
            poll.register(self._audit_out, select.POLLOUT)
        if self._target_out >= 0 and len(self._to_audit) < MOST_PENDING:
            poll.register(self._target_out, select.POLLIN)
        for fd, _ in poll.poll(TICK_S * 1000):
            if fd == self._wake:
                _read(fd)
            elif fd == self._audit_in:
                self._read_audit()
            elif fd == self._target_in:
                self._write_target()
            elif fd == self._audit_out:
                self._flush(fd, self._to_audit)
            else:
                self._read_target()

    def _read_audit(self) -> None:
        chunk = _read(self._audit_in)
        if chunk == b"":
            self._end("the audit is gone")
        self._to_target += chunk or b""

    def _write_target(self) -> None:
        try:
            self._flush(self._target_in, self._to_target)
        except BrokenPipeError:
            # Not our end yet: it may have answered before it closed its pipe.
            os.close(self._target_in)
            self._target_in = -1
            self._to_target.clear()

    def _read_target(self) -> None:
        if self._target_out < 0:
            return
        while chunk := _read(self._target_out):
            self._from_target += chunk
            if len(self._from_target) > LONGEST_FRAME + CHUNK or len(chunk) < CHUNK // 16:
                break
        try:
            while (body := frames.take(self._from_target, longest=LONGEST_FRAME)) is not None:
                self._to_audit += frames.encode({"frame": body.decode("latin-1")})
        except frames.BadFrame as error:
            self._end(f"unreadable answer: {error}")
        if chunk == b"":
            os.close(self._target_out)
            self._target_out = -1

    def _flush(self, fd: int, buffer: bytearray) -> None:
        with contextlib.suppress(BlockingIOError):
            while buffer:
                del buffer[: os.write(fd, memoryview(buffer)[:CHUNK].tobytes())]

    def _look_after(self) -> None:
        """End the target if it has become too much."""
        family = list(_family())
        if len(family) > MOST_PROCESSES:
            self._end(f"more than {MOST_PROCESSES} processes")
        elif _resident(family) > self._memory_bytes and _shared_out(family) > self._memory_bytes:
            self._end(f"more than {self._memory_bytes >> 20} MB of memory, what it shares included")

    def _end(self, because: str) -> None:
        self._because = self._because or because
        # They may start others while they are being killed.
        for _ in range(5):
            family = list(_family())
            if not family:
                return
            for pid in family:
                _kill(pid)

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._target:
                    self._exit_code = os.waitstatus_to_exitcode(status)

    def _survivors(self) -> list[str]:
        """The commands of processes that did not end with the target; they are killed."""
        if self._because:
            self._end(self._because)
            return []
        commands = {pid: _command(pid) for pid in self._await_end(LINGER_S)}
        trackers = {pid for pid in commands if TRACKER in _command_line(pid)}
        if trackers:
            # The name is anybody's to take, but only a tracker ends when those that it tracks have.
            for pid in commands.keys() - trackers:
                _kill(pid)
            trackers.difference_update(self._await_end(TRACKER_S))
        self._end("left")
        self._because = ""
        return [command for pid, command in commands.items() if pid not in trackers]

    def _await_end(self, limit_s: float) -> list[int]:
        """The processes below this one that have not ended by then."""
        deadline = time.monotonic() + limit_s
        while (family := list(_family())) and time.monotonic() < deadline:
            time.sleep(TICK_S / 5)
            self._reap()
        return family


def _start(command: list[str], read_fd: int, write_fd: int) -> int:
    """The id of the new process: a session of its own, and no file but its pipes.

    Raises `OSError` if the program cannot be started.
    """
    result, failure = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            set_option(PR_SET_PDEATHSIG, signal.SIGKILL)
            set_option(PR_SET_NO_NEW_PRIVS, 1)
            for capability in (CAP_SYS_PTRACE, CAP_SYS_ADMIN):
                set_option(PR_CAPBSET_DROP, capability)
            for fd in _open_files():
                if fd > 2 and fd not in (read_fd, write_fd, failure):
                    with contextlib.suppress(OSError):
                        os.close(fd)
            for fd in (read_fd, write_fd):
                os.set_inheritable(fd, True)  # noqa: FBT003 - the call has no keyword
            os.execvp(command[0], [*command, str(read_fd), str(write_fd)])  # noqa: S606
        except OSError as error:
            os.write(failure, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(failure)
    errno = _read_all(result)
    os.close(result)
    if errno:
        os.waitpid(pid, 0)
        raise OSError(int(errno), os.strerror(int(errno)))
    return pid


def _read(fd: int) -> bytes | None:
    """What can be read now: empty at the end of the pipe, `None` if there is nothing."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None


def _read_all(fd: int) -> bytes:
    return b"".join(iter(lambda: os.read(fd, 64), b""))


def _names(folder: str) -> list[str]:
    """The names in a folder; none where there is no such folder, as outside Linux."""
    with contextlib.suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208 - names, not paths
    return []


def _open_files() -> list[int]:
    return [int(name) for name in _names("/proc/self/fd")] or list(range(256))


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _family() -> Iterator[int]:
    """The living processes below this one."""
    children: dict[int, list[int]] = {}
    for name in _names("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                if stat[0] not in (b"Z", b"X"):
                    children.setdefault(int(stat[1]), []).append(int(name))
    pending = list(children.get(os.getpid(), ()))
    while pending:
        pid = pending.pop()
        pending += children.get(pid, ())
        yield pid


def _resident(family: list[int]) -> int:
    """Bytes that the processes hold; what they share counts for each."""
    fields = (b"RssAnon:", b"RssShmem:")
    return sum(_kilobytes(pid, "status", fields) for pid in family) * 1024


def _shared_out(family: list[int]) -> int:
    """Bytes that the processes hold; what they share counts once."""
    fields = (b"Pss_Anon:", b"Pss_Shmem:")
    return sum(_kilobytes(pid, "smaps_rollup", fields) for pid in family) * 1024


def _kilobytes(pid: int, file: str, fields: tuple[bytes, ...]) -> int:
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/{file}").read_bytes().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(fields))
    return 0


def _command_line(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _command(pid: int) -> str:
    words = _command_line(pid).split(b"\0")
    program = words[0].rpartition(b"/")[2]
    return b" ".join([program, *words[1:]]).decode("utf-8", "replace").strip()[:200]


def supervise(opening: dict[str, Any], read_fd: int, write_fd: int) -> None:
    """Run the target to its end; nothing is raised for what it does."""
    set_option(PR_SET_CHILD_SUBREAPER, 1)
    set_option(PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        supervisor = Supervisor(opening, read_fd, write_fd)
    except OSError as error:
        frames.send(write_fd, {"unstartable": error.strerror})
        return
    with contextlib.suppress(BrokenPipeError):
        supervisor.run()


def main() -> int:
    if sys.argv[1:] == ["--probe"]:
        return probe()
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
            limit_shared_memory(opening["memory_bytes"])
            supervise(opening, read_fd, write_fd)
            code = 0
        finally:
            os._exit(code)
    os.close(write_fd)
    _, status = os.waitpid(first, 0)
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

"""System calls that Python lacks, and process information from /proc.

Nothing else knows the C library. Children that run without the package load this module too: it
imports the standard library alone, and little of it.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21
SECCOMP_MODE_FILTER = 2
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2
MOST_DESCRIPTORS = 4096
CHUNK = 1 << 16
TRACKER = "multiprocessing.resource_tracker"
"""Python's own helper of spawned processes; it ends when the last of them has."""

CALLS: dict[str, dict[str, int]] = {
    "x86_64": {
        "clone": 56, "pivot_root": 155, "capset": 126, "mount_setattr": 442,
        "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    },
    "aarch64": {
        "clone": 220, "pivot_root": 41, "capset": 91, "mount_setattr": 442,
        "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    },
}  # fmt: skip


class SystemCallMissing(OSError):
    """The system call does not exist on this kernel or kind of processor."""


@lru_cache(maxsize=1)
def _ctypes() -> Any:
    """Import `ctypes` only when needed, because the import is slow."""
    import ctypes

    return ctypes


@lru_cache(maxsize=1)
def _libc() -> Any:
    # With the interpreter's lock held: a process that is cloned inside must find it as it was.
    return _ctypes().PyDLL(None, use_errno=True)


def _checked(result: int) -> int:
    """Return the result of a C call, or raise `OSError` if the call failed."""
    if result < 0:
        number = _ctypes().get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _words(arguments: Iterable[int | bytes | None]) -> Iterator[Any]:
    """Convert the arguments of a C call; numbers become as wide as a register."""
    long = _ctypes().c_long
    return (long(one) if isinstance(one, int) else one for one in arguments)


def call(name: str, *arguments: int | bytes | None) -> int:
    machine = os.uname().machine
    number = CALLS.get(machine, {}).get(name)
    if number is None:
        raise SystemCallMissing(f"the system call {name!r} is unknown on {machine}")
    return _checked(_libc().syscall(*_words((number, *arguments))))


def set_option(option: int, value: int) -> bool:
    """Set an option of this process; return whether this worked (only on Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        return bool(_libc().prctl(option, *_words((value, 0, 0, 0))) == 0)
    return False


def clone(flags: int) -> int:
    """Fork into new namespaces: return 0 in the new process, and its id in the old one."""
    return call("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)


def unshare(flags: int) -> None:
    _checked(_libc().unshare(flags))


def map_ids(outside: tuple[int, int], inside: tuple[int, int], proc: int | None = None) -> None:
    """Map a user and group id into this process's user namespace; raise `OSError` on failure."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inside[0]} {outside[0]} 1"),
        ("gid_map", f"{inside[1]} {outside[1]} 1"),
    ):
        write(f"self/{name}", text, proc)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    words = (os.fsencode(source), os.fsencode(target), kind.encode() or None, flags)
    _checked(_libc().mount(*_words((*words, options.encode() or None))))


def bind_read_only(source: str, target: str) -> None:
    """Mount a file or folder read-only at another path, with the mounts below it."""
    mount(source, target, flags=MS_BIND | MS_REC)
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    path = os.fsencode(target)
    try:
        call("mount_setattr", -100, path, AT_RECURSIVE, attributes, len(attributes))
    except OSError:
        # An older kernel: the mount itself, with the flags that it is locked to.
        flags = os.statvfs(target).f_flag & (MS_NODEV | MS_NOEXEC | 0x400 | 0x800)
        mount("none", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | flags)


def enter_root(folder: str) -> None:
    """Make a mounted folder the root of this mount namespace, and hide the old root."""
    os.chdir(folder)
    call("pivot_root", b".", b".")
    _checked(_libc().umount2(b".", MNT_DETACH))
    os.chdir("/")


def drop_capabilities() -> None:
    """Drop all capabilities of this process; raise `OSError` on failure."""
    call("capset", struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0] * 6))


def make_filter(steps: Iterable[tuple[int, int, int, int]]) -> tuple[bytes, Any]:
    """Build a system-call filter; also return the buffer that must stay in memory."""
    ctypes = _ctypes()
    program = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(program)
    return struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)), buffer


def filter_system_calls(header: bytes) -> None:
    """Apply a system-call filter to this process permanently; raise `OSError` without seccomp."""
    words = _words((PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0))
    _checked(_libc().prctl(*words))


def limit(kind: int, value: int, pid: int = 0) -> None:
    """Set a resource limit of a process, but never above its existing hard limit."""
    _, hard = resource.getrlimit(kind)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    if pid:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, kind, (ceiling, ceiling))
    else:
        resource.setrlimit(kind, (ceiling, ceiling))


def close_all_but(*fds: int | None) -> None:
    """Close all file descriptors except 0 to 2 and the given ones."""
    first = 3
    for fd in sorted(fd for fd in fds if fd is not None and fd > 2):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, MOST_DESCRIPTORS)


def kill(pid: int) -> None:
    """Kill a process; ignore a process that has ended or belongs to another user."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _open(path: str, flags: int, proc: int | None) -> int:
    """Open a file of /proc, or of the /proc folder open as descriptor `proc`."""
    return os.open(path if proc is not None else f"/proc/{path}", flags, dir_fd=proc)


def read(path: str, proc: int | None = None) -> bytes:
    """Read a file of /proc; return empty bytes if the file cannot be read."""
    with contextlib.suppress(OSError):
        fd = _open(path, os.O_RDONLY, proc)
        try:
            return b"".join(iter(lambda: os.read(fd, CHUNK), b""))
        finally:
            os.close(fd)
    return b""


def write(path: str, text: str, proc: int | None = None) -> None:
    fd = _open(path, os.O_WRONLY, proc)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def process_stat(pid: int) -> list[bytes]:
    """Return the fields of `/proc/PID/stat` after the process name."""
    return read(f"{pid}/stat").rpartition(b")")[2].split()


def is_alive(pid: int) -> bool:
    """Whether the process is running; a zombie process is not."""
    return process_stat(pid)[:1] not in ([], [b"Z"], [b"X"])


def names(folder: str, proc: int | None = None) -> list[str]:
    """List a folder of /proc; empty if the folder does not exist."""
    with contextlib.suppress(OSError):
        fd = _open(folder, os.O_RDONLY | os.O_DIRECTORY, proc)
        try:
            return os.listdir(fd)  # noqa: PTH208 - of a descriptor
        finally:
            os.close(fd)
    return []


def pids() -> list[int]:
    """List the ids of all visible processes; empty without /proc."""
    return [int(name) for name in names("") if name.isdigit()]


def children(pid: str, proc: int | None = None) -> list[str]:
    """List the child ids of a process; one may be missing while another process ends."""
    files = (f"{pid}/task/{task}/children" for task in names(f"{pid}/task", proc))
    return [child for file in files for child in read(file, proc).decode().split()]


def descendants(root: int) -> list[int]:
    """List the running descendants of a process."""
    children: dict[int, list[int]] = {}
    ended = set()
    for pid in pids():
        state, parent = [*process_stat(pid), b"X", b"0"][:2]
        children.setdefault(int(parent), []).append(pid)
        if state in (b"Z", b"X"):
            ended.add(pid)
    family: list[int] = []
    pending = [root]
    while pending:
        below = children.pop(pending.pop(), [])
        family += below
        pending += below
    return [pid for pid in family if pid not in ended]


def command(pid: int) -> str:
    """Return the command of a process: program name without folder, and arguments."""
    words = read(f"{pid}/cmdline").split(b"\0")
    program = words[0].rpartition(b"/")[2]
    return b" ".join([program, *words[1:]]).decode("utf-8", "replace").strip()[:200]


def resident_bytes(family: Iterable[int | str], proc: int | None = None) -> int:
    """Sum the memory of processes, counting shared memory for each process."""
    return sum(_memory(f"{pid}/status", (b"RssAnon:", b"RssShmem:"), proc) for pid in family)


def family_bytes(family: Iterable[int], *, above: int) -> int:
    """Sum the memory of processes; above the limit, count shared memory only once."""
    family = list(family)
    resident = resident_bytes(family)
    if resident <= above:
        return resident
    fields = (b"Pss_Anon:", b"Pss_Shmem:")
    return sum(_memory(f"{pid}/smaps_rollup", fields) or resident_bytes([pid]) for pid in family)


def _memory(path: str, fields: tuple[bytes, ...], proc: int | None = None) -> int:
    lines = read(path, proc).splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(fields))

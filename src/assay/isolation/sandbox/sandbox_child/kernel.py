"""System calls that Python has no name for: namespaces, mounts, capabilities, limits."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
from functools import lru_cache
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT = 1, 2, 4, 32
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
AT_RECURSIVE = 0x8000
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID = 1, 2
MOST_DESCRIPTORS = 4096

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "clone": 56, "pivot_root": 155, "capset": 126, "mount_setattr": 442,
        "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    },
    "aarch64": {
        "clone": 220, "pivot_root": 41, "capset": 91, "mount_setattr": 442,
        "landlock_create_ruleset": 444, "landlock_add_rule": 445, "landlock_restrict_self": 446,
    },
}  # fmt: skip


class NoSuchCall(OSError):
    """This machine's kind of processor, or its kernel, does not have the system call."""


@lru_cache(maxsize=1)
def libc() -> Any:
    # With the interpreter's lock held: a process that is cloned inside must find it as it was.
    return ctypes.PyDLL(None, use_errno=True)


def checked(result: int) -> int:
    """The result of a call of the C library; raises `OSError` if it failed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def call(name: str, *arguments: Any) -> int:
    """The result of a system call. Raises `OSError`."""
    number = NUMBERS.get(platform.machine(), {}).get(name)
    if number is None:
        raise NoSuchCall(f"{name} is not known on {platform.machine()}")
    return checked(libc().syscall(ctypes.c_long(number), *arguments))


def set_option(option: int, value: int) -> bool:
    """Whether an option of this process could be set."""
    with contextlib.suppress(OSError, AttributeError):
        return bool(libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0) == 0)
    return False


def clone(flags: int) -> int:
    """Fork into new namespaces: 0 in the new process, its id in this one. Raises `OSError`."""
    zero = ctypes.c_ulong(0)
    return call("clone", ctypes.c_ulong(flags | signal.SIGCHLD), zero, zero, zero, zero)


def unshare(flags: int) -> None:
    checked(libc().unshare(flags))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    checked(
        libc().mount(
            os.fsencode(source),
            os.fsencode(target),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            options.encode() or None,
        )
    )


def bind_read_only(source: str, target: str) -> None:
    """Show a file or folder, and what is mounted below it, at another place, read-only."""
    mount(source, target, flags=MS_BIND | MS_REC)
    attributes = struct.pack("QQQQ", MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0)
    try:
        call(
            "mount_setattr", ctypes.c_int(-100), os.fsencode(target),
            ctypes.c_uint(AT_RECURSIVE), attributes, ctypes.c_size_t(len(attributes)),
        )  # fmt: skip
    except OSError:
        # An older kernel: the mount itself, with the flags that it is locked to.
        flags = os.statvfs(target).f_flag & (MS_NODEV | 8 | 0x400 | 0x800)
        mount("none", target, flags=MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | flags)


def enter_root(folder: str) -> None:
    """Make a mounted folder the root of this mount namespace; the old one is out of reach."""
    os.chdir(folder)
    call("pivot_root", b".", b".")
    checked(libc().umount2(b".", MNT_DETACH))
    os.chdir("/")


def drop_capabilities() -> None:
    """Give up every capability. Raises `OSError`.

    For good: with `no_new_privs` no program gives any, and nobody here is a superuser.
    """
    header = struct.pack("Ii", 0x20080522, 0)
    call("capset", header, struct.pack("6I", *[0] * 6))


def limit(kind: int, value: int) -> None:
    """Set a limit, or the ceiling that holds already where that is lower."""
    _, hard = resource.getrlimit(kind)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (ceiling, ceiling))


def close_all_but(*fds: int | None) -> None:
    """Close every descriptor but the first three and these."""
    first = 3
    for fd in sorted(fd for fd in fds if fd is not None and fd > 2):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, MOST_DESCRIPTORS)

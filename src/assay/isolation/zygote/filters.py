"""Filters that permanently deny system calls (seccomp) and files (Landlock) to a process."""

from __future__ import annotations

import contextlib
import os
import struct
from functools import lru_cache

from .. import kernel

_X86_64, _AARCH64 = 0xC000003E, 0xC00000B7
_ARCHITECTURES = {"x86_64": _X86_64, "aarch64": _AARCH64}
_DENIED: dict[str, tuple[int, ...]] = {
    # socket, ptrace, mount and its like, namespaces, kernel modules, keys, bpf, io_uring …; and
    # shmget and memfd_create, whose memory no limit counts.
    "x86_64": (
        29, 41, 101, 103, 154, 155, 161, 163, 165, 166, 167, 168, 169, 170, 171, 172, 173,
        175, 176, 179, 246, 248, 249, 250, 272, 298, 300, 301, 303, 304, 308, 310, 311, 312, 313,
        319, 320, 321, 323, 425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443,
    ),
    "aarch64": (
        194, 198, 117, 116, 41, 40, 39, 51, 60, 89, 97, 104, 105, 106, 142, 161, 162, 217, 218,
        219, 224, 225, 241, 262, 263, 264, 265, 268, 270, 271, 272, 273, 279, 280, 282, 294, 425,
        426, 427, 428, 429, 430, 431, 432, 433, 438, 440, 442, 443,
    ),
}  # fmt: skip
_CLONE3 = 435
_EPERM, _ENOSYS = 1, 38
_LOAD, _JUMP_EQUAL, _JUMP_MORE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NEW_NAMESPACES = 0x7E020000
_X32 = 0x40000000


def deny_system_calls() -> None:
    """Deny this process sockets, tracing, mounts and namespaces; raise `OSError` on failure."""
    kernel.filter_system_calls(_loaded_filter()[0])


@lru_cache(maxsize=1)
def _loaded_filter() -> tuple[bytes, object]:
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise kernel.SystemCallMissing(
            f"the system calls of the processor type {machine} are unknown"
        )
    return kernel.make_filter(_filter(machine))


def prepare() -> None:
    """Build the filter once, before forking, for all forked processes."""
    with contextlib.suppress(kernel.SystemCallMissing):
        _loaded_filter()


def _filter(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter's instructions: code, jump if true, jump if false, value."""
    steps = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_JUMP_MORE, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
        (_JUMP_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
    ]
    for number in sorted(set(_DENIED[machine])):
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | _EPERM)]
    steps += [
        (_JUMP_EQUAL, 0, 3, kernel.CALLS[machine]["clone"]),
        (_LOAD, 0, 0, 16),
        (_JUMP_SET, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _ERROR | _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return steps


_READ = 1 | 4 | 8  # execute, read a file, list a folder
_FS_BY_VERSION = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NETWORK_SINCE, _SCOPE_SINCE = 4, 6


def restrict_files(writable: str) -> bool:
    """Deny writes outside one folder and new connections; return False without Landlock."""
    version = 0
    with contextlib.suppress(OSError):
        version = kernel.call("landlock_create_ruleset", None, 0, 1)
    if version < 1:
        return False
    handled = _FS_BY_VERSION.get(version, _FS_BY_VERSION[5])
    network = 3 if version >= _NETWORK_SINCE else 0
    scope = 3 if version >= _SCOPE_SINCE else 0
    sizes = 24 if version >= _SCOPE_SINCE else 16 if version >= _NETWORK_SINCE else 8
    attributes = struct.pack("QQQ", handled, network, scope)[:sizes]
    rules = kernel.call("landlock_create_ruleset", attributes, sizes, 0)
    try:
        for path, access in (("/", _READ), (writable, handled), ("/dev/null", 2 | 4)):
            _allow(rules, path, access & handled)
        kernel.call("landlock_restrict_self", rules, 0)
    finally:
        os.close(rules)
    return True


def _allow(rules: int, path: str, access: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", access, fd)
        kernel.call("landlock_add_rule", rules, 1, rule, 0)
    finally:
        os.close(fd)

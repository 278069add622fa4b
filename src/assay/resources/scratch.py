"""Temporary folders whose names identify their process, so that old folders are removed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

_OWNED = re.compile(r"\.?assay-[a-z]+-(?P<machine>[0-9a-f]{8})-(?P<pid>\d+)-(?P<start>\d+)-.*")


def scratch_prefix(kind: str, parent: Path | None = None, *, hidden: bool = False) -> str:
    """A name prefix for this process's temporary folders, to pass to `tempfile`.

    What processes of this machine that were killed left in `parent` (the system's folder, unless
    one is named) is removed first: a name says which process made it, and when that one started.
    """
    machine = _machine()
    dot = "." * hidden
    if not machine:
        return f"{dot}assay-{kind}-"
    _remove_stale(Path(tempfile.gettempdir()) if parent is None else parent, machine)
    me = os.getpid()
    return f"{dot}assay-{kind}-{machine}-{me}-{_started(me)}-"


def _remove_stale(parent: Path, machine: str) -> None:
    with suppress(OSError):
        for folder in parent.iterdir():
            owner = _OWNED.fullmatch(folder.name)
            if owner is None or owner["machine"] != machine or folder.is_symlink():
                continue
            with suppress(OSError):
                is_ours = folder.stat().st_uid == os.geteuid()
                if is_ours and _started(int(owner["pid"])) != owner["start"]:
                    shutil.rmtree(folder, ignore_errors=True)


def _started(pid: int) -> str:
    """The start time of a process in kernel ticks, or an empty text if it is unknown."""
    with suppress(OSError, IndexError):
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].split()[19].decode()
    return ""


def _machine() -> str:
    """A hash that identifies this machine and its process namespace, or an empty text."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        names = (socket.gethostname(), boot, str(Path("/proc/self/ns/pid").readlink()))
        return hashlib.sha256("\n".join(names).encode()).hexdigest()[:8]
    return ""

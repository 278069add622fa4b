"""File system of programs: read-only interpreters and libraries, and a separate /tmp."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from .. import kernel

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
TMP = "/tmp"  # noqa: S108 - the programs' own
_PEOPLE = {"/etc/passwd": "sandbox:x:1000:1000::/tmp:/bin/sh\n", "/etc/group": "sandbox:x:1000:\n"}


def enter_view(folder: str, shown: list[str]) -> None:
    """Make `folder` the root directory, which shows only system folders and `shown`, read-only."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", folder, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,mode=755")
    for path in (*SYSTEM, *FILES, *DEVICES, *shown):
        _show(path, folder)
    for path, text in _PEOPLE.items():
        (Path(folder) / path[1:]).write_text(text)
    for path in (TMP, "/dev"):
        (Path(folder) / path[1:]).mkdir(exist_ok=True)
    (Path(folder) / "dev/shm").symlink_to(TMP)
    flags = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("none", folder, flags=flags | kernel.MS_RDONLY)
    kernel.enter_root(folder)


def mount_tmp(size_bytes: int) -> None:
    """Mount an empty /tmp of this size in this mount namespace; raise `OSError` on failure."""
    options = f"size={size_bytes},nr_inodes=20000,mode=1777"
    kernel.mount("tmpfs", TMP, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def _show(path: str, folder: str) -> None:
    source, target = Path(path), Path(folder) / path[1:]
    if not os.path.lexists(path) or os.path.lexists(target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() and path in SYSTEM:
        target.symlink_to(source.readlink())
        return
    if source.is_dir():
        target.mkdir()
    else:
        target.touch()
    with suppress(FileNotFoundError):
        kernel.bind_read_only(path, str(target))

"""Lock a run for its only writer, and test whether a run is locked."""

from __future__ import annotations

import fcntl
import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path

from assay.errors import ResourceError
from assay.ledger.layout import RunLayout

LOCKS = Path("/proc/locks")
_HOLDER = re.compile(r"process (?P<pid>\d{1,10}) on (?P<host>\S+)")


def lock_run(layout: RunLayout) -> int:
    """Lock a run for writing; raises `ResourceError` while another writer holds the lock."""
    file = os.open(layout.lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(file, 200, 0).decode("utf-8", "replace").strip() or "another process"
        os.close(file)
        raise ResourceError(
            f"{str(layout.folder)!r} is being written by {holder}; only one process can write a run"
        ) from error
    except OSError as error:
        os.close(file)
        raise ResourceError(
            f"{str(layout.lock)!r} cannot be locked: {error.strerror}; its file system has no "
            "locks; store runs on another file system, such as a local disk"
        ) from error
    os.ftruncate(file, 0)
    os.pwrite(file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return file


def is_being_written(folder: str | Path, *, locks: Path = LOCKS) -> bool:
    return bool(runs_being_written([Path(folder)], locks=locks))


def runs_being_written(folders: Iterable[Path], *, locks: Path = LOCKS) -> set[Path]:
    """The runs that a writer is currently writing.

    The locks themselves are never tried: a writer that comes at that moment would be refused. Linux
    lists all locks; elsewhere the process that the lock file names has to be alive,
    which a writer on another machine never seems to be.
    """
    try:
        lines = locks.read_text("ascii").splitlines()
    except OSError:
        return {folder for folder in folders if _holder_lives(RunLayout(folder).lock)}
    # The inode is the last number in `fe:00:2794500` of `1: FLOCK … 708 fe:00:2794500 0 EOF`.
    fields = (line.split() for line in lines)
    locked = {each[-3].rpartition(":")[2] for each in fields if "FLOCK" in each and len(each) > 2}
    return {folder for folder in folders if _inode(RunLayout(folder).lock) in locked}


def _inode(path: Path) -> str:
    try:
        return str(path.stat().st_ino)
    except FileNotFoundError:
        return "none"


def _holder_lives(lock: Path) -> bool:
    try:
        holder = _HOLDER.match(lock.read_text("utf-8", "replace"))
    except FileNotFoundError:
        return False
    if holder is None or holder["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(holder["pid"]), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # It belongs to another user.
    return True

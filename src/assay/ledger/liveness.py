"""Whether somebody is writing to a run, found out without getting in their way."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path

from assay.ledger.layout import RunLayout

LOCKS = Path("/proc/locks")
_HOLDER = re.compile(r"process (?P<pid>\d{1,10}) on (?P<host>\S+)")


def being_written(folder: str | Path, *, locks: Path = LOCKS) -> bool:
    """Whether a writer holds the run's lock; see `written_among`."""
    return bool(written_among([Path(folder)], locks=locks))


def written_among(folders: Iterable[Path], *, locks: Path = LOCKS) -> set[Path]:
    """The runs whose lock a writer holds.

    The locks themselves are never tried: a writer that comes at that moment would be refused. Linux
    lists the locks that are held; elsewhere the process that the lock file names has to be alive,
    which a writer on another machine never seems to be.
    """
    try:
        lines = locks.read_text("ascii").splitlines()
    except OSError:
        return {folder for folder in folders if _holder_lives(RunLayout(folder).lock)}
    held = {inode for line in lines if (inode := _locked(line)) is not None}
    return {folder for folder in folders if _inode(RunLayout(folder).lock) in held}


def _locked(line: str) -> int | None:
    """The inode in `1: FLOCK ADVISORY WRITE 708 fe:00:2794500 0 EOF`."""
    fields = line.split()
    if "FLOCK" not in fields or len(fields) < 3:
        return None
    inode = fields[-3].rpartition(":")[2]
    return int(inode) if inode.isdecimal() else None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _holder_lives(lock: Path) -> bool:
    try:
        found = _HOLDER.match(lock.read_text("utf-8", "replace"))
    except FileNotFoundError:
        return False
    if found is None or found["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(found["pid"]), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True

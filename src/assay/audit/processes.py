"""Finds and ends what a target started, whatever session or parent it gave itself."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "ASSAY_AUDIT_MARK"
"""The environment variable by which a descendant is known; unique for every audit."""
TRACKER = "multiprocessing.resource_tracker"
"""Python's own helper of spawned processes; it ends when the last of them has."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that is running now."""

    pid: int
    command: str


def marked(mark: str, root: int | None = None) -> tuple[Process, ...]:
    """Every living process that inherited the mark, or descends from `root`."""
    parents = dict(_parents())
    wanted = {pid for pid in parents if _carries(pid, mark)}
    if root is not None:
        wanted |= {pid for pid in parents if _descends(pid, root, parents)}
    wanted -= {os.getpid()}
    found = (Process(pid, _command(pid)) for pid in sorted(wanted) if _alive(pid))
    return tuple(process for process in found if TRACKER not in process.command)


def end(processes: tuple[Process, ...]) -> None:
    """They are killed."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command in brackets may hold spaces; the parent is the second field after it.
            yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])


def _carries(pid: int, mark: str) -> bool:
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _descends(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != root:
        pid = parents[pid]
    return pid == root


def _alive(pid: int) -> bool:
    """Whether it runs; a zombie waits to be reaped and harms nothing."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in ("Z", "X")


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    program = words[0].rpartition(b"/")[2]
    return b" ".join([program, *words[1:]]).decode("utf-8", "replace").strip()[:200]

"""Write files completely or not at all, and safely against a power failure."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

SYNCS = 16
"""How many files are waited for at a time."""
FEW = 4
"""Fewer are waited for one after the other: threads cost more than they save."""


@contextmanager
def atomic_write(path: Path, drafts: Path | None = None) -> Iterator[Path]:
    """Yield a draft file, which replaces `path` if the block succeeds.

    The draft's bytes are on the disk before it gets its name, and the name is before this returns.
    The draft is in `drafts`, a folder of the same disk, or in the folder of `path`.
    """
    # A name of its own: on a shared disk, writers of several machines may write the same file.
    draft = (drafts or path.parent) / f".{path.name[:100]}.{uuid.uuid4().hex}.draft"
    try:
        yield draft
        sync(draft)
        draft.replace(path)
        sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until the data of this file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(paths: Iterable[Path]) -> None:
    """Wait until the data and the names of these files are on the disk."""
    files = set(paths)
    _sync_together(files)
    _sync_together({path.parent for path in files})


def _sync_together(paths: set[Path]) -> None:
    if len(paths) < FEW:
        for path in paths:
            sync(path)
        return
    with ThreadPoolExecutor(min(SYNCS, len(paths)), "sync") as threads:
        for _ in threads.map(sync, paths):
            pass

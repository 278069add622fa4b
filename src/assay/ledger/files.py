"""Files that are there whole or not at all, and that outlive a power cut."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """A draft to write; it takes the place of `path` when the block ends, and is gone if it fails.

    The draft's bytes are on the disk before it gets its name.
    """
    draft = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.draft")
    try:
        yield draft
        sync(draft)
        draft.replace(path)
        sync(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """What was written to this file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(paths: Iterable[Path]) -> None:
    """What was written to these files is on the disk, and so are their names."""
    folders: set[Path] = set()
    for path in paths:
        sync(path)
        folders.add(path.parent)
    for folder in folders:
        sync(folder)

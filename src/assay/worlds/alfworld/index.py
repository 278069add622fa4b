"""A cache of the goals of games, so that a data folder of thousands of files is read once.

The index is a file in the user's cache folder, since a data folder is often read-only. An entry
counts only while its file is unchanged; an index that cannot be used costs only time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from assay.resources.files import atomic_write

CACHE_VARIABLE = "XDG_CACHE_HOME"
FORMAT = 1
MAX_INDEX_BYTES = 50_000_000
"""The official `train` split takes 0.6 MB."""


class FileSignature(NamedTuple):
    """Size, times and inode of a file, which show whether the file has changed."""

    size: int
    written_ns: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return the current signature of a file; raise OSError if there is no file."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class GoalCache:
    """The goals of the games below `root`; new goals are saved at the end of the block."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._file = _cache_folder() / f"{_digest(str(self._root))}.json"
        self._goals: dict[str, tuple[FileSignature, str]] = {}
        self._changed = False

    def __enter__(self) -> Self:
        self._goals = _read_goals(self._file)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._changed:
            # Beside a full or read-only disk, the tasks are still there.
            with suppress(OSError):
                self._write()

    def goal(self, path: Path, read: Callable[[Path], str]) -> str:
        """Return the goal of a game, from the index or from `read`."""
        name = "/".join(path.parts[-4:-1])
        signature = FileSignature.of(path)
        known = self._goals.get(name)
        if known is not None and known[0] == signature:
            return known[1]
        goal = read(path)
        self._goals[name] = (signature, goal)
        self._changed = True
        return goal

    def _write(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        games = {name: [*signature, goal] for name, (signature, goal) in self._goals.items()}
        record = {"format": FORMAT, "root": str(self._root), "games": games}
        # Writers at the same time write whole files; the last one stays.
        with atomic_write(self._file) as draft:
            draft.write_text(json.dumps(record), encoding="utf-8")


def _cache_folder() -> Path:
    base = os.environ.get(CACHE_VARIABLE)
    return Path(base or Path.home() / ".cache") / "assay" / "alfworld"


def _read_goals(file: Path) -> dict[str, tuple[FileSignature, str]]:
    try:
        if file.stat().st_size > MAX_INDEX_BYTES:
            return {}
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        return {}
    games = record.get("games")
    if not isinstance(games, Mapping):
        return {}
    return {name: entry for name, value in games.items() if (entry := _entry(value)) is not None}


def _entry(value: Any) -> tuple[FileSignature, str] | None:
    match value:
        case [int(size), int(written_ns), int(changed_ns), int(inode), str(goal)]:
            return FileSignature(size, written_ns, changed_ns, inode), goal
        case _:
            return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]

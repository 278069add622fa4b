"""Finds games: two evaluation splits come with Assay, others are in a data folder.

A data folder has the official layout, `json_2.1.1/<split>/<task>/<trial>/game.tw-pddl`. It is used
only for what is not shipped, such as the split `train`.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from assay.errors import BadParameter, BadRecord, did_you_mean
from assay.schema.task import Task
from assay.worlds.alfworld.house import HouseLayout
from assay.worlds.alfworld.index import FileSignature, GoalCache
from assay.worlds.alfworld.reader import (
    MAX_FILE_CHARS,
    GameFile,
    read_game,
    read_problem,
    read_walkthrough,
)

FOLDER_VARIABLE = "ALFWORLD_DATA"
"""Names the data folder where the caller does not; ALFWorld itself uses the same variable."""

OTHERS = f"name a data folder with `folder` or {FOLDER_VARIABLE} for others"

GAME_FILE = "game.tw-pddl"

# An id becomes part of a path: it must be a name, not a way to somewhere else.
_ID_PART = re.compile(r"\w[\w.-]{0,199}", re.ASCII)


SHORTHAND = (("_bar_", "|"), ("_minus_", "~"), ("_plus_", "+"), ("_dot_", "."))
"""How ids are written in the archive; the signs on the right do not occur in the games."""

HOUSES_KEPT = 512
"""Houses that a process keeps, of 0.1 MB each: more than the shipped games."""

PATHS_KEPT = 8192

MAX_STREAM_BYTES = 1_000_000
"""The largest official game takes 40 kB."""


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One game of the archive, and the position of its data."""

    split: str
    id: str
    """`<task folder>/<trial>`."""
    goal: str
    offset: int
    size: int


class AlfWorldArchive:
    """An archive of compressed games, each of which can be read alone.

    `index` lists the games; `data` has a deflate stream for each, after a dictionary that all
    share: the walkthrough, as JSON on the first line, and the PDDL problem in shorthand.
    `tools/pack_alfworld.py` writes both.
    """

    def __init__(self, index: str, data: bytes, *, source: str) -> None:
        self.index = index
        self.data = data
        self._source = source
        try:
            record = json.loads(index)
            self.entries = tuple(ArchiveEntry(**entry) for entry in record["games"])
            """In the order of their splits and ids."""
            self._dictionary = zlib.decompress(data[: record["dictionary_size"]])
        except (ValueError, TypeError, KeyError, zlib.error) as error:
            raise BadRecord(f"{source}: not an archive of games: {error!r}") from error
        self.by_id = {entry.id: entry for entry in self.entries}
        self.ids: dict[str, list[str]] = defaultdict(list)
        """By trial."""
        self.splits: dict[str, list[ArchiveEntry]] = defaultdict(list)
        for entry in self.entries:
            self.ids[entry.id.partition("/")[2]].append(entry.id)
            self.splits[entry.split].append(entry)

    def load(self, entry: ArchiveEntry) -> GameFile:
        """The game of an entry."""
        source = f"{self._source}: {entry.id}"
        stream = self.data[entry.offset : entry.offset + entry.size]
        try:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS, zdict=self._dictionary)
            text = inflate.decompress(stream, MAX_STREAM_BYTES).decode()
            walkthrough, _, problem = text.partition("\n")
            commands = json.loads(walkthrough)
        except (zlib.error, ValueError, RecursionError) as error:
            raise BadRecord(f"{source}: damaged: {error!r}") from error
        for long, short in SHORTHAND:
            problem = problem.replace(short, long)
        return GameFile(
            problem=read_problem(problem, source=source),
            goal=entry.goal,
            walkthrough=read_walkthrough(commands, source=source),
        )


@cache
def shipped() -> AlfWorldArchive:
    """Return the archive of games that comes with Assay, which is read once."""
    folder = resources.files("assay.worlds.alfworld") / "data"
    index, data = (folder / "index.json").read_text("utf-8"), (folder / "games.bin").read_bytes()
    return AlfWorldArchive(index, data, source="shipped ALFWorld games")


def tasks(*, split: str = "valid_unseen", folder: str | None = None) -> list[Task]:
    """Return the tasks of an ALFWorld split; a split that is not shipped needs `folder`."""
    return GameLoader(folder).tasks(split)


class GameLoader:
    """Finds and loads games by id: `<task>/<trial>`, or `<trial>` if it is unique."""

    def __init__(self, folder: str | Path | None = None) -> None:
        chosen = folder or os.environ.get(FOLDER_VARIABLE)
        self.folder = Path(chosen) if chosen else None
        if folder and not Path(folder).is_dir():
            raise BadParameter(f"the ALFWorld data folder {str(folder)!r} does not exist")

    def splits(self) -> tuple[str, ...]:
        """The splits at hand."""
        return tuple(sorted({*shipped().splits, *(path.parts[-4] for path in self._files())}))

    def tasks(self, split: str) -> list[Task]:
        """Return the tasks of a split, ordered by id.

        Every file of a folder is read once; a `GoalCache` keeps what they say.
        """
        entries = shipped().splits.get(split)
        if entries is not None:
            return [_task(entry.id, split, entry.goal) for entry in entries]
        paths = [path for path in self._files() if path.parts[-4] == split]
        if not paths:
            splits = ", ".join(self.splits())
            raise BadParameter(f"no ALFWorld split {split!r}; there are {splits}; {OTHERS}")
        with GoalCache(self._root()) as index:
            return [
                _task(_id(path), split, index.goal(path, lambda path: _read(path).goal))
                for path in paths
            ]

    def house(self, task_id: str) -> HouseLayout:
        """Return the house of a game; houses are cached."""
        ids = self._shipped_ids(task_id)
        if len(ids) == 1:
            return _shipped_house(ids[0])
        if self.folder is not None:
            try:
                path = _only_path(self.folder, task_id)
                return _file_house(path, FileSignature.of(path))
            except LookupError:
                pass
            except OSError:
                # It was there once: search again.
                _only_path.cache_clear()
        return HouseLayout.build(self.load(task_id))

    def walkthrough(self, task_id: str) -> tuple[str, ...]:
        """Return the commands in the game's file that win the game.

        For tests, demonstrations and oracles: no observation and no tool shows them to an agent.
        """
        return self.load(task_id).walkthrough

    def load(self, task_id: str) -> GameFile:
        """Return the game of that id; raise BadParameter or BadRecord if it cannot be loaded."""
        ids = self._shipped_ids(task_id)
        if len(ids) == 1:
            return shipped().load(shipped().by_id[ids[0]])
        paths = self.find(task_id)
        if len(paths) == 1:
            return _read(paths[0])
        if paths or ids:
            several = ", ".join(ids or map(str, paths))
            raise BadParameter(f"{task_id!r} is ambiguous: {several}")
        raise BadParameter(f"no ALFWorld game {task_id[:200]!r}; {self._advice(task_id[:200])}")

    def _shipped_ids(self, task_id: str) -> list[str]:
        return [task_id] if task_id in shipped().by_id else shipped().ids.get(task_id, [])

    def find(self, task_id: str) -> list[Path]:
        """Return the files of that id in the data folder, without a search through the folder."""
        parts = task_id.split("/")
        if len(parts) > 2 or not all(map(_ID_PART.fullmatch, parts)):
            return []
        return self._files("*", *parts) if len(parts) == 1 else self._files(*parts)

    def _files(self, task: str = "*", trial: str = "*") -> list[Path]:
        if self.folder is None:
            return []
        return sorted(self._root().glob(f"*/{task}/{trial}/{GAME_FILE}"))

    def _root(self) -> Path:
        assert self.folder is not None
        # ALFWORLD_DATA names the folder above json_2.1.1; a caller may name either.
        inner = self.folder / "json_2.1.1"
        return inner if inner.is_dir() else self.folder

    def _advice(self, task_id: str) -> str:
        candidates = [*shipped().by_id, *shipped().ids, *map(_id, self._files())]
        advice = did_you_mean(task_id, candidates)
        return advice or f"splits at hand: {', '.join(self.splits())}; {OTHERS}"


@lru_cache(maxsize=HOUSES_KEPT)
def _shipped_house(task_id: str) -> HouseLayout:
    return HouseLayout.build(shipped().load(shipped().by_id[task_id]))


@lru_cache(maxsize=HOUSES_KEPT)
def _file_house(path: Path, signature: FileSignature) -> HouseLayout:  # noqa: ARG001 - a key
    return HouseLayout.build(_read(path))


@lru_cache(maxsize=PATHS_KEPT)
def _only_path(folder: Path, task_id: str) -> Path:
    """Return the only file of that id; raise LookupError if there is no file or several."""
    paths = GameLoader(folder).find(task_id)
    if len(paths) != 1:
        raise LookupError(task_id)
    return paths[0]


def _read(path: Path) -> GameFile:
    try:
        if path.stat().st_size > MAX_FILE_CHARS:
            raise BadRecord(f"{path}: larger than any game ({MAX_FILE_CHARS} bytes)")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"{path}: cannot be read: {error}") from error
    return read_game(text, source=str(path))


def _id(path: Path) -> str:
    return f"{path.parts[-3]}/{path.parts[-2]}"


def _task(task_id: str, split: str, goal: str) -> Task:
    task_type = task_id.partition("-")[0]
    return Task(id=task_id, goal=goal, metadata={"task_type": task_type, "split": split})

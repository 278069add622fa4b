"""The index of a data folder saves reading, and never says what the files do not."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from assay.schema.task import Task
from assay.worlds import GameLoader
from assay.worlds.alfworld import tasks as library
from assay.worlds.alfworld.index import CACHE_VARIABLE
from assay.worlds.alfworld.reader import GameFile


@pytest.fixture
def folder(official: Path, tmp_path: Path) -> Path:
    """A data folder of its own, beside an empty cache."""
    shutil.copytree(official / "train", tmp_path / "data" / "train")
    return tmp_path / "data"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were read."""
    paths: list[Path] = []
    read = library._read

    def record(path: Path) -> GameFile:
        paths.append(path)
        return read(path)

    monkeypatch.setattr(library, "_read", record)
    return paths


def index_file(folder: Path) -> Path:
    (file,) = (folder.parent / "cache").rglob("*.json")
    return file


def train(folder: Path) -> list[Task]:
    return GameLoader(folder).tasks("train")


def test_files_are_read_once_and_then_only_when_they_change(
    folder: Path, reads: list[Path]
) -> None:
    tasks = train(folder)
    assert len(reads) == len(tasks) == 13
    reads.clear()
    assert train(folder) == tasks
    assert reads == []
    changed = folder / "train" / tasks[0].id / library.GAME_FILE
    shutil.copy(folder / "train" / tasks[-1].id / library.GAME_FILE, changed)
    assert train(folder)[0].goal == tasks[-1].goal
    assert reads == [changed]


def test_a_game_that_is_gone_or_new_is_noticed(folder: Path) -> None:
    tasks = train(folder)
    game = folder / "train" / tasks[0].id
    shutil.move(game, folder.parent / "aside")
    assert train(folder) == tasks[1:]
    shutil.move(folder.parent / "aside", game)
    assert train(folder) == tasks


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"format": 1}',
        b'{"format": 1, "games": []}',
        b'{"format": 2, "games": {}}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_index_costs_time_only(folder: Path, content: bytes) -> None:
    tasks = train(folder)
    index_file(folder).write_bytes(content)
    assert train(folder) == tasks
    assert json.loads(index_file(folder).read_bytes())["games"]


def test_an_entry_of_another_shape_is_left_out(folder: Path, reads: list[Path]) -> None:
    tasks = train(folder)
    record = json.loads(index_file(folder).read_bytes())
    shapes: list[object] = [None, [1], [1, 2, 3], "x", {}]
    for name, shape in zip(record["games"], shapes, strict=False):
        record["games"][name] = shape
    index_file(folder).write_text(json.dumps(record))
    reads.clear()
    assert train(folder) == tasks
    assert len(reads) == 5


def test_without_a_place_to_write_the_tasks_are_still_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, os.devnull)
    assert len(train(folder)) == 13


def test_writers_at_the_same_time_leave_a_whole_index(folder: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(3) as pool:
        lists = pool.map(train, [folder] * 6)
    assert all(tasks == lists[0] for tasks in lists)
    record = json.loads(index_file(folder).read_bytes())
    assert len(record["games"]) == 13
    assert [path.name for path in index_file(folder).parent.iterdir()] == [index_file(folder).name]

"""Resets and task lists, measured in a fresh process: of this tree, or of another one beside it.

`python -m perf.world_rows.resets` prints its numbers as JSON. It uses only what has long been
there, so that `PYTHONPATH=OTHER/src` measures an older tree.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from perf.world_rows.row import Row

ROOT = Path(__file__).parents[2]
OFFICIAL = ROOT / "tests" / "data" / "alfworld" / "official_games.tar.xz"
TRAIN_GAMES = 390
"""Of a data folder that is made of the official games at hand; the official split has 3,553."""
ROUNDS = 8
"""Over all tasks of ScienceWorld: the first pays for the compiler."""


@dataclass(frozen=True, slots=True)
class Resets:
    """CPU milliseconds."""

    alfworld_first_ms: float
    alfworld_again_ms: float
    train_first_ms: float
    train_again_ms: float
    """In another process."""
    scienceworld_first_ms: float
    scienceworld_again_ms: float
    """The mean of the last round over all thirty tasks."""


def run(base: Path | None = None) -> list[Row]:
    """This tree's numbers, and beside them those of the tree in `base`."""
    ours = _measure(ROOT)
    rows = [
        Row("alfworld", "reset to a game seen before", ours.alfworld_again_ms, "ms", at_most=0.1),
        Row("alfworld", f"tasks of {TRAIN_GAMES} files, first call", ours.train_first_ms, "ms"),
        Row("alfworld", "the same, in another process", ours.train_again_ms, "ms"),
        Row("scienceworld", "first reset", ours.scienceworld_first_ms, "ms"),
        Row("scienceworld", "reset after it", ours.scienceworld_again_ms, "ms", at_most=15),
    ]
    if base is None:
        return rows
    theirs = _measure(base)
    return [
        *rows,
        Row("alfworld", "base: reset to a game seen before", theirs.alfworld_again_ms, "ms"),
        Row("alfworld", "base: tasks, first call", theirs.train_first_ms, "ms"),
        Row("alfworld", "base: the same, in another process", theirs.train_again_ms, "ms"),
        Row("scienceworld", "base: first reset", theirs.scienceworld_first_ms, "ms"),
        Row("scienceworld", "base: reset after it", theirs.scienceworld_again_ms, "ms"),
    ]


def _measure(tree: Path) -> Resets:
    with tempfile.TemporaryDirectory() as folder:
        _make_train(Path(folder))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT)]),
            "XDG_CACHE_HOME": str(Path(folder) / "cache"),
        }

        def ask(*arguments: str) -> dict[str, float]:
            call = [sys.executable, "-m", "perf.world_rows.resets", *arguments]
            ended = subprocess.run(
                call, check=True, capture_output=True, text=True, env=environment, cwd=folder
            )
            return dict(json.loads(ended.stdout.splitlines()[-1]))

        first, again = ask("train", folder), ask("train", folder)
        return Resets(train_first_ms=first["train"], train_again_ms=again["train"], **ask("resets"))


def _make_train(folder: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(OFFICIAL.read_bytes())) as archive:
        archive.extractall(folder / "official", filter="data")
    games = sorted((folder / "official").rglob("train/*/*/game.tw-pddl"))
    for number in range(TRAIN_GAMES):
        game = games[number % len(games)]
        trial = folder / "json_2.1.1" / "train" / game.parts[-3] / f"{game.parts[-2]}_{number}"
        trial.mkdir(parents=True)
        shutil.copy(game, trial)


def _train(folder: str) -> dict[str, float]:
    from assay.worlds import GameLoader

    start = time.process_time()
    tasks = GameLoader(folder).tasks("train")
    assert len(tasks) == TRAIN_GAMES
    return {"train": 1000 * (time.process_time() - start)}


async def _resets() -> dict[str, float]:
    return {**await _alfworld(), **await _scienceworld()}


async def _alfworld() -> dict[str, float]:
    from assay.worlds import AlfWorld

    world = AlfWorld()
    tasks = [task for split in ("valid_seen", "valid_unseen") for task in world.tasks(split)]
    means = []
    for _ in range(3):
        start = time.process_time()
        for task in tasks:
            await world.reset(task)
        means.append(1000 * (time.process_time() - start) / len(tasks))
    return {"alfworld_first_ms": means[0], "alfworld_again_ms": means[-1]}


async def _scienceworld() -> dict[str, float]:
    from assay.schema.task import Task
    from assay.worlds import ScienceWorld
    from assay.worlds.scienceworld.tasks import TOPICS

    world = ScienceWorld(step_limit=10_000)
    await world.start()
    assert world.pid is not None
    java = psutil.Process(world.pid)

    def cpu_s() -> float:
        times = java.cpu_times()
        return float(times.user + times.system) + time.process_time()

    start = cpu_s()
    await world.reset(Task(id="boil/0"))
    first = 1000 * (cpu_s() - start)
    for variation in range(ROUNDS):
        start = cpu_s()
        for topic in TOPICS:
            await world.reset(Task(id=f"{topic.name}/{variation}"))
        mean = 1000 * (cpu_s() - start) / len(TOPICS)
    await world.close()
    return {"scienceworld_first_ms": first, "scienceworld_again_ms": mean}


if __name__ == "__main__":
    numbers = _train(sys.argv[2]) if sys.argv[1] == "train" else asyncio.run(_resets())
    print(json.dumps(numbers))

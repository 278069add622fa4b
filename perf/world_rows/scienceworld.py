"""ScienceWorld through Assay and through its own package, on the same walk.

The walk: the gold path of the first task of each of the ten families, up to the end of the
episode, resets included. It is walked twice, since an instance of a pool serves many episodes:
the first pass pays for the just-in-time compiler, the second shows what an episode costs from
then on. Times are CPU seconds of Python and Java together.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil

from assay.schema.task import Task
from assay.worlds.scienceworld.environment import ScienceWorld
from assay.worlds.scienceworld.tasks import TOPICS
from perf.world_rows.row import Row

GOLD = Path(__file__).parents[2] / "tests" / "data" / "scienceworld" / "gold_paths.json.gz"
FAMILIES = tuple(topic.name for topic in TOPICS if topic.id.endswith("-1"))
STEP_LIMIT = 10_000
"""Out of the way: some gold paths are longer than the usual hundred moves."""


@dataclass(frozen=True, slots=True)
class Passes:
    """Steps per CPU second of the first and the second pass, and the memory after them."""

    first: float
    second: float
    memory_mb: float
    complete: int
    """Episodes of both passes that ended at 100 points."""


def run() -> list[Row]:
    """Every number of this page, measured now."""
    paths = json.loads(gzip.decompress(GOLD.read_bytes()))
    ours, shipped = _ours(paths), _shipped(paths)
    episodes = 2 * len(FAMILIES)
    world = "scienceworld"
    return [
        Row(world, f"episodes at 100, of {episodes}", ours.complete, "", at_least=episodes),
        Row(world, "memory of an instance", ours.memory_mb, "MB", at_most=260),
        Row(world, "memory of an instance, package as shipped", shipped.memory_mb, "MB"),
        Row(world, "steps, fresh instance", ours.first, "/s"),
        Row(world, "steps, fresh instance, package as shipped", shipped.first, "/s"),
        Row(world, "times the package, fresh instance", ours.first / shipped.first, "x"),
        Row(world, "steps", ours.second, "/s"),
        Row(world, "steps, package as shipped", shipped.second, "/s"),
        Row(world, "times the package", ours.second / shipped.second, "x", at_least=8),
    ]


def _ours(paths: dict[str, Any]) -> Passes:
    """Through the Environment, evidence included."""
    with asyncio.Runner() as runner:
        world = ScienceWorld(step_limit=STEP_LIMIT)
        runner.run(world.start())
        assert world.pid is not None

        def reset(name: str) -> None:
            runner.run(world.reset(Task(id=f"{name}/{paths[name]['var']}")))

        def step(action: str) -> tuple[bool, float]:
            observation = runner.run(world.step(action))
            return observation.done, world.evidence().score or 0.0

        passes = _walk(paths, psutil.Process(world.pid), reset, step)
        runner.run(world.close())
    return passes


def _shipped(paths: dict[str, Any]) -> Passes:
    """Through `scienceworld.ScienceWorldEnv`, with its defaults."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        # Its Java writes a file into the working directory.
        os.chdir(folder)
        env = import_module("scienceworld").ScienceWorldEnv("", envStepLimit=STEP_LIMIT)
        os.chdir(before)
        java = env._gateway.java_process  # noqa: SLF001 - the package shows it nowhere else

        def reset(name: str) -> None:
            env.load(name, paths[name]["var"], "")
            env.reset()

        def step(action: str) -> tuple[bool, float]:
            _, _, done, info = env.step(action)
            return bool(done), float(info["score"])

        passes = _walk(paths, psutil.Process(java.pid), reset, step)
        env.close()
        java.wait(10)
    return passes


def _walk(
    paths: dict[str, Any],
    java: psutil.Process,
    reset: Callable[[str], None],
    step: Callable[[str], tuple[bool, float]],
) -> Passes:
    rates: list[float] = []
    complete = 0
    for _ in range(2):
        before_s, steps = _cpu_s(java), 0
        for name in FAMILIES:
            reset(name)
            for action in paths[name]["actions"]:
                done, score = step(action)
                steps += 1
                if done:
                    complete += score == 100
                    break
        rates.append(steps / (_cpu_s(java) - before_s))
    return Passes(rates[0], rates[1], java.memory_info().rss / 2**20, complete)


def _cpu_s(java: psutil.Process) -> float:
    times = java.cpu_times()
    return float(times.user + times.system) + time.process_time()

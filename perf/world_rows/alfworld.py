"""How fast the native ALFWorld is, and the reference engine, where a Python has it installed."""

from __future__ import annotations

import asyncio
import io
import json
import random
import statistics
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from assay.worlds import AlfWorld, AlfWorldGame, HouseLayout
from assay.worlds.alfworld.tasks import shipped
from perf.world_rows.row import Row

OFFICIAL = Path(__file__).parents[2] / "tests" / "data" / "alfworld" / "official_games.tar.xz"
PEER_GAMES = 3

SPLITS = ("valid_seen", "valid_unseen")
STEPS = 30
"""Random admissible commands in each game."""


PEER = """
import json, sys, time
import textworld
from textworld.envs import PddlEnv
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

wanted = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
reset_s = step_s = 0.0
steps = 0
for file in sys.argv[1:]:
    env = AlfredInfos(AlfredDemangler(PddlEnv(wanted), shuffle=False))
    start = time.process_time()
    env.load(file)
    env.reset()
    ready = time.process_time()
    for command in json.load(open(file))["walkthrough"]:
        env.step(command)
        steps += 1
    reset_s, step_s = reset_s + ready - start, step_s + time.process_time() - ready
print(json.dumps({"reset_s": reset_s / len(sys.argv[1:]), "steps_per_s": steps / step_s}))
"""
"""The reference engine over the walkthroughs of a few official games."""


def run(peer_python: str | None = None, *, seed: int = 0) -> list[Row]:
    """Measure every shipped game once."""
    resets_ms, steps_per_s = asyncio.run(_world(random.Random(seed)))
    resets_ms.sort()
    rows = [
        Row("alfworld", "reset to a new game", statistics.fmean(resets_ms), "ms", at_most=5),
        Row("alfworld", "slowest reset of a hundred", resets_ms[len(resets_ms) * 99 // 100], "ms"),
        Row("alfworld", "steps, with evidence", steps_per_s, "/s", at_least=2000),
        Row("alfworld", "steps of the bare engine", _engine(random.Random(seed)), "/s"),
    ]
    return rows if peer_python is None else rows + _peer(peer_python)


def _peer(python: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(OFFICIAL.read_bytes())) as archive:
            archive.extractall(folder, filter="data")
        files = sorted(map(str, Path(folder).rglob("game.tw-pddl")))[:PEER_GAMES]
        call = [python, "-c", PEER, *files]
        ended = subprocess.run(call, check=True, capture_output=True, text=True)
    told = json.loads(ended.stdout.splitlines()[-1])
    return [
        Row("alfworld", "reference: reset to a new game", 1000 * told["reset_s"], "ms"),
        Row("alfworld", "reference: steps", told["steps_per_s"], "/s"),
    ]


async def _world(rng: random.Random) -> tuple[list[float], float]:
    """Reset times and step rate of the Environment, evidence and commands included."""
    world = AlfWorld()
    resets_ms: list[float] = []
    spent_s = 0.0
    steps = 0
    for task in [task for split in SPLITS for task in world.tasks(split)]:
        start = time.process_time()
        observation = await world.reset(task)
        ready = time.process_time()
        for _ in range(STEPS):
            if observation.done:
                break
            observation = await world.step(rng.choice(world.admissible_commands()))
            steps += 1
        spent_s += time.process_time() - ready
        resets_ms.append((ready - start) * 1000)
    return resets_ms, steps / spent_s


def _engine(rng: random.Random) -> float:
    """Step rate of the bare engine, feedback and admissible commands included."""
    archive = shipped()
    games = [AlfWorldGame(HouseLayout.build(archive.load(entry))) for entry in archive.entries]
    start = time.process_time()
    for game in games:
        commands = game.admissible_commands
        for _ in range(STEPS):
            commands = game.step(rng.choice(commands)).admissible_commands
    return len(games) * STEPS / (time.process_time() - start)

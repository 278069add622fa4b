"""Runs 10,000 attempts against an endpoint that fails, kills the runner, and checks every score.

    python -m perf.endpoints [--attempts 10000] [--share 0.15] [--kills 20] [--seed 1]

A chat-like task and the three text environments are run once against an endpoint that never
fails. Then the same runs are made against one that refuses connections, replies 401, 429 and 500,
is too slow, stops in mid-reply, sends broken JSON or a page; their runner is killed with SIGKILL
at points drawn from the seed and resumed; and what the endpoint ended is run again with
`--retry-errors` until nothing is left. Of every attempt that was ever written: the score is that
of the undisturbed run, or there is none and the ending is `model_error`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from assay.ledger.run import Run
from assay.registry import ENVIRONMENTS
from assay.schema.episode import Episode
from assay.schema.score import Scored, score_to_record
from assay.schema.task import Task
from assay.worlds import WebShop
from assay.worlds.alfworld.tasks import GameLoader
from perf.endpoints.server import FAULTS, FaultyEndpoint, serving
from perf.kills import finish, kill_after

AGENT = Path(__file__).parent / "agent.py"
GOLD_PATHS = Path(__file__).parents[2] / "tests/data/scienceworld/gold_paths.json.gz"
SETTLE_S = 2.5
"""Longer than the slowest reply of the endpoint."""
ROUNDS = 30
"""How often what failed is run again before the proof gives up."""


@dataclass(frozen=True)
class Arm:
    """One benchmark of the proof: its tasks, what the model does in each, and how often."""

    name: str
    environment: str
    reward: str
    scripts: Mapping[str, Sequence[str]]
    answers: Mapping[str, str]
    repeats: int
    workers: int = 16

    @property
    def planned(self) -> int:
        return len(self.scripts) * self.repeats

    def write(self, folder: Path) -> None:
        """Write the benchmark and its tasks."""
        tasks = [
            {"id": task, "goal": "do it", "answer": self.answers.get(task)} for task in self.scripts
        ]
        (folder / f"{self.name}.jsonl").write_text("\n".join(map(json.dumps, tasks)))
        (folder / f"{self.name}.toml").write_text(
            f'name = "{self.name}"\n[tasks]\nsource = "jsonl"\npath = "{self.name}.jsonl"\n'
            f'[environment]\nname = "{self.environment}"\n[rewards]\nnames = ["{self.reward}"]\n'
            "[limits]\nsteps = 20\nstep_s = 60\nepisode_s = 600\n"
        )


@dataclass
class Outcome:
    """What the ledger and the machine show at the end."""

    arm: str
    planned: int
    attempts: int = 0
    model_errors: int = 0
    kills: int = 0
    wrong: int = 0
    """Attempts with another score than undisturbed, or with one though the model failed."""
    lost: int = 0
    duplicated: int = 0
    processes: int = 0
    """Processes that outlived their runner."""
    files: int = 0
    """Files left in the temporary folder."""
    connections: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        faults = (self.wrong, self.lost, self.duplicated, self.processes, self.files)
        return not any((*faults, self.connections))


class Runner:
    """Runs of one arm in processes of their own, in a folder of their own."""

    def __init__(self, folder: Path, arm: Arm) -> None:
        self.folder = folder
        self.arm = arm
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.sessions: list[int] = []
        arm.write(folder)

    def start(self, url: str, runs: str) -> subprocess.Popen[str]:
        """A new run against that endpoint."""
        settings = ["--agent", "model-agent", "--set", f"base_url={url}"]
        repeats = ["--repeats", str(self.arm.repeats)]
        return self._assay([f"{self.arm.name}.toml", *settings, *repeats, "--runs", runs])

    def resume(self, runs: str, *options: str) -> subprocess.Popen[str]:
        """The run goes on."""
        path = str(self.run(runs).path)
        return self._assay(["--resume", path, "--runs", runs, *options])

    def run(self, runs: str) -> Run:
        """The only run of that folder."""
        (manifest,) = (self.folder / runs).glob("*/manifest.json")
        return Run(manifest.parent)

    def survivors(self) -> list[psutil.Process]:
        """Processes of the runners' sessions that are still there, two seconds later."""
        deadline = time.monotonic() + 2
        while (processes := list(self._session_processes())) and time.monotonic() < deadline:
            time.sleep(0.1)
        return processes

    def _session_processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            try:
                zombie = process.status() == psutil.STATUS_ZOMBIE
                if os.getsid(process.pid) in self.sessions and not zombie:
                    yield process
            except (OSError, psutil.Error):
                continue

    def _assay(self, arguments: Sequence[str]) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "assay.cli.main",
            "run",
            *arguments,
            "--import",
            str(AGENT),
        ]
        options = ["--workers", str(self.arm.workers), "--stop-after-errors", "0", "--json"]
        process = subprocess.Popen(
            [*command, *options],
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.sessions.append(process.pid)
        return process


def prove(
    folder: Path, arm: Arm, *, share: float, kills: int, rng: random.Random
) -> tuple[Outcome, Counter[str]]:
    """The arm undisturbed and disturbed, compared; and how often each fault was planted."""
    runner = Runner(folder, arm)
    endpoint = FaultyEndpoint(arm.scripts, share=0, rng=rng)
    outcome = Outcome(arm.name, arm.planned)
    with serving(endpoint):
        finish(runner.start(endpoint.url, "calm"))
        endpoint.share = share
        process = runner.start(endpoint.url, "faulty")
        for _ in range(kills):
            outcome.kills += kill_after(
                process, lines=1 + rng.randint(0, 3), pause_s=rng.random() * 0.3
            )
            process = runner.resume("faulty")
        finish(process)
        for _ in range(ROUNDS):
            if not any(_is_failed(episode) for episode in runner.run("faulty").final()):
                break
            finish(runner.resume("faulty", "--retry-errors"))
        outcome.processes = len(runner.survivors())
        outcome.files = sum(1 for path in runner.temporary.rglob("*") if path.is_file())
        time.sleep(SETTLE_S)
        outcome.connections = endpoint.open_connections
    _compare(runner, outcome)
    return outcome, endpoint.faults


def _compare(runner: Runner, outcome: Outcome) -> None:
    expected = {
        (episode.task.id, episode.repeat): _scores(episode)
        for episode in runner.run("calm").final()
    }
    faulty = runner.run("faulty")
    ids: Counter[str] = Counter()
    for episode in faulty.episodes():
        outcome.attempts += 1
        ids[episode.attempt] += 1
        outcome.endings[str(episode.stop_reason)] += 1
        if _is_failed(episode):
            outcome.model_errors += 1
            outcome.wrong += any(isinstance(score, Scored) for score in episode.scores)
        else:
            outcome.wrong += _scores(episode) != expected[episode.task.id, episode.repeat]
    final = Counter((episode.task.id, episode.repeat) for episode in faulty.final())
    outcome.lost = len(expected.keys() - final.keys()) + sum(map(_is_failed, faulty.final()))
    outcome.duplicated = sum(count > 1 for count in (*ids.values(), *final.values()))


def _is_failed(episode: Episode) -> bool:
    return episode.stop_reason == "model_error"


def _scores(episode: Episode) -> list[dict[str, object]]:
    return [score_to_record(score) for score in episode.scores]


def chat(attempts: int) -> Arm:
    """Questions of which three quarters are answered rightly."""
    tasks = range(min(200, attempts))
    return Arm(
        "chat",
        "question",
        "math_equal_reward",
        {f"q{n}": [f'answer("{n if n % 4 else n + 1}")'] for n in tasks},
        {f"q{n}": str(n) for n in tasks},
        attempts // len(tasks),
    )


def alfworld(attempts: int) -> Arm:
    """Games of which every other one is won."""
    library = GameLoader()
    games = [task.id for task in library.tasks("valid_seen")[:10]]
    scripts = {
        game: library.load(game).walkthrough if number % 2 else ["look", 'answer("done")']
        for number, game in enumerate(games)
    }
    return Arm(
        "alfworld", "alfworld", "alfworld_episode_reward", scripts, {}, max(1, attempts // 10)
    )


async def _first_product(task: Task) -> str:
    shop = ENVIRONMENTS.get("webshop")()
    await shop.reset(task)
    page = (await shop.step(f"search[{task.goal}]")).text
    await shop.close()
    products: list[str] = re.findall(r"\bB0\w{8}\b", page)
    return products[0]


def webshop(attempts: int) -> Arm:
    """Purchases of the first product that a search shows."""
    scripts = {
        task.id: [
            f"search[{task.goal}]",
            f"click[{asyncio.run(_first_product(task)).lower()}]",
            "click[buy now]",
        ]
        for task in WebShop().tasks()[:10]
    }
    return Arm("webshop", "webshop", "webshop_reward", scripts, {}, max(1, attempts // 10))


def scienceworld(attempts: int) -> Arm:
    """The first steps of recorded solutions."""
    recorded = json.loads(gzip.decompress(GOLD_PATHS.read_bytes()))
    scripts = {
        f"{name}/{path['var']}": [*path["actions"][:8], 'answer("done")']
        for name, path in list(recorded.items())[:4]
    }
    repeats = max(1, attempts // len(scripts))
    # Each episode has a Java of its own.
    return Arm(
        "scienceworld", "scienceworld", "scienceworld_reward", scripts, {}, repeats, workers=2
    )


SHARES = {chat: 0.8, alfworld: 0.1, webshop: 0.09, scienceworld: 0.01}
"""The share of the attempts that each arm plans."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.15, help="of the requests that fail")
    parser.add_argument("--kills", type=int, default=5, help="in each arm")
    parser.add_argument("--only", choices=[make.__name__ for make in SHARES])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faults: Counter[str] = Counter()
    outcomes: list[Outcome] = []
    print("arm           planned  attempts  model_error  kills  wrong  lost  twice  left behind")
    for number, (make, share) in enumerate(SHARES.items()):
        if options.only not in (None, make.__name__):
            continue
        arm = make(round(options.attempts * share))
        with TemporaryDirectory() as folder:
            outcome, planted = prove(
                Path(folder),
                arm,
                share=options.share,
                kills=options.kills,
                rng=random.Random(f"{options.seed}/{number}"),
            )
        faults += planted
        outcomes.append(outcome)
        print(
            f"{outcome.arm:<12}{outcome.planned:>9,}{outcome.attempts:>10,}"
            f"{outcome.model_errors:>13,}{outcome.kills:>7}{outcome.wrong:>7}{outcome.lost:>6}"
            f"{outcome.duplicated:>7}  {outcome.processes} processes, {outcome.files} files, "
            f"{outcome.connections} connections  {dict(outcome.endings)}",
            flush=True,
        )
    print("faults planted: " + ", ".join(f"{name} {faults[name]:,}" for name in FAULTS))
    if not all(outcome.clean for outcome in outcomes) or not all(faults[name] for name in FAULTS):
        raise SystemExit(1)


if __name__ == "__main__":
    main()

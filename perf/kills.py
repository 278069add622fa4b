"""Kills the runner with SIGKILL at random points, resumes, and checks that nothing shows it.

    python perf/kills.py [--kills 20] [--seed 1] [--repeats 20]

A small benchmark in a text world is run once undisturbed, and once by processes that are killed
one after the other, each at a point drawn from the seed: after so many lines of progress, and
then so many milliseconds later. At the end every episode must be there once, with the answers and
scores of the undisturbed run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.ledger.run import Run
from assay.schema.score import score_to_record

TASKS = 12
ACTIONS = ("search[red shoes]", "click[next >]", "click[< prev]", "search[tea]", "click[next >]")
BENCHMARK = """
name = "kills"
[tasks]
source = "jsonl"
path = "tasks.jsonl"
[environment]
name = "webshop"
[rewards]
names = ["qa_f1_reward", "webshop_reward"]
"""


@dataclass(frozen=True)
class Outcome:
    """What was found when all was over."""

    kills: int
    """Processes that were killed before they were done."""
    episodes: int
    unfinished: int
    """Attempts that a kill cut short: they left steps, and no line."""
    torn: int
    """Lines that a kill cut short, moved aside."""
    lost: int
    duplicated: int
    different: int

    @property
    def clean(self) -> bool:
        return not (self.lost or self.duplicated or self.different)


def prove(folder: Path, *, kills: int, repeats: int, seed: int, pause_ms: int = 200) -> Outcome:
    """Runs undisturbed and killed, and compares; `pause_ms` is the longest wait before a kill."""
    dice = random.Random(seed)
    _write_benchmark(folder)
    finish(_start(folder, "calm", repeats))
    calm = _only_run(folder / "calm")
    killed = 0
    process = _start(folder, "killed", repeats)
    for _ in range(kills):
        # The first line comes before the first episode, then one for every twentieth part.
        lines = 1 + dice.randint(0, max(1, 20 // (kills + 1)))
        killed += kill_after(process, lines=lines, pause_s=dice.uniform(0, pause_ms) / 1000)
        process = _resume(folder)
    finish(process)
    return _compare(calm, _only_run(folder / "killed"), killed, repeats)


def _write_benchmark(folder: Path) -> None:
    (folder / "kills.toml").write_text(BENCHMARK)
    tasks = [{"id": str(n), "goal": "", "answer": f"red green {n}"} for n in range(TASKS)]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))


def _script(task: int) -> list[str]:
    """Some right, some half right, one that gives up."""
    ending = {0: [], 1: ['answer("blue")']}.get(task % 4, [f'answer("red {task}")'])
    return [*ACTIONS, *ending]


def _start(folder: Path, runs: str, repeats: int) -> subprocess.Popen[str]:
    actions = json.dumps({str(task): _script(task) for task in range(TASKS)})
    arguments = ["kills.toml", "--agent", "scripted", "--set", f"actions={actions}"]
    return _assay(folder, [*arguments, "--repeats", str(repeats), "--runs", runs])


def _resume(folder: Path) -> subprocess.Popen[str]:
    return _assay(folder, ["--resume", str(_only_run(folder / "killed").path), "--runs", "killed"])


def _assay(folder: Path, arguments: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "assay.cli.main", "run", *arguments, "--workers", "2", "--json"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_after(process: subprocess.Popen[str], *, lines: int, pause_s: float) -> bool:
    """Whether the process was killed before its end, so many lines and seconds later."""
    assert process.stderr is not None
    with process:
        for _ in range(lines):
            if not process.stderr.readline():
                break
        time.sleep(pause_s)
        alive = process.poll() is None
        process.kill()
    return alive


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for the end of the process; raise `SystemExit` with its messages if it failed."""
    _, messages = process.communicate()
    if process.returncode:
        raise SystemExit(f"the runner ended with {process.returncode}:\n{messages}")


def _only_run(runs: Path) -> Run:
    (manifest,) = runs.glob("*/manifest.json")
    return Run(manifest.parent)


def _compare(calm: Run, killed: Run, kills: int, repeats: int) -> Outcome:
    owed = {(str(task), repeat) for task in range(TASKS) for repeat in range(repeats)}
    found = Counter((episode.task.id, episode.repeat) for episode in killed.episodes())
    expected, got = _verdicts(calm), _verdicts(killed)
    return Outcome(
        kills=kills,
        episodes=sum(found.values()),
        unfinished=len(killed.unfinished()),
        torn=len(list(killed.path.glob("episodes.torn-*"))),
        lost=len(owed - found.keys()),
        duplicated=sum(count > 1 for count in found.values()) + len(found.keys() - owed),
        different=sum(expected[key] != got.get(key) for key in expected),
    )


def _verdicts(run: Run) -> dict[tuple[str, int], str]:
    """Everything of each episode that must not depend on when it ran."""
    return {
        (episode.task.id, episode.repeat): json.dumps(
            [
                episode.stop_reason,
                episode.final_response,
                [score_to_record(score) for score in episode.scores],
                [(step.action, step.observation, step.reward) for step in episode.trajectory.steps],
            ]
        )
        for episode in run.final(full=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        outcome = prove(Path(folder), kills=given.kills, repeats=given.repeats, seed=given.seed)
    print(
        f"{outcome.kills} kills; {outcome.episodes} episodes, {outcome.unfinished} attempts cut "
        f"short, {outcome.torn} torn lines; lost {outcome.lost}, duplicated {outcome.duplicated}, "
        f"different {outcome.different}"
    )
    if not outcome.clean or outcome.kills < given.kills:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

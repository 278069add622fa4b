"""browser-use on five tasks of the town, recorded by its steps and compared; and without a run.

    .venv-peers/browseruse/bin/python -m tools.doors.browser_use_runs [--write]

In the environment of browser-use (requirements/peer-browseruse.txt). `--write` keeps what was
recorded in tests/data/doors/browser_use, where the tests score it again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import assay
from assay.browser.step_records import rescore
from assay.ledger.run import Run
from assay.ledger.steps import read_steps
from assay.ledger.summary import reward_of
from assay.registry import BENCHMARKS, SERVICES
from assay.registry import TASKS as TASK_SOURCES
from tools.doors.scripted_model import TASKS, serving
from townsquare import BENCHMARK
from townsquare.server import Town
from townsquare.tasks import tasks

ROOT = Path(__file__).resolve().parents[2]
AGENT = "examples/browser_use_agent.py:walk"
DATA = ROOT / "tests" / "data" / "doors" / "browser_use"
KEPT = ("episodes.jsonl", "manifest.json", "steps")
EXPECTED = {"careful": 1.0, "hasty": 0.6}
"""The mean reward of each script."""


def main() -> int:
    """Do it all; 0 if everything was as expected."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="keep the records for the tests")
    arguments = parser.parse_args()
    os.environ.update(ANONYMIZED_TELEMETRY="false", BROWSER_USE_CLOUD_SYNC="false")
    os.environ.setdefault("BROWSER_USE_LOGGING_LEVEL", "result")
    # The records name the agent's file, wherever the repository is.
    os.chdir(ROOT)
    register_town()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder, serving() as address:
        runs = {model: play(model, address, Path(folder)) for model in EXPECTED}
        for model, run in runs.items():
            problems += check(model, run)
        comparison = assay.compare(runs["careful"].path, runs["hasty"].path)
        print(f"careful against hasty: {comparison.verdict}; {comparison.because}")
        trace = Path(folder) / "steps.jsonl"
        asyncio.run(trace_alone(address, trace))
        problems += check_trace(trace)
        if arguments.write:
            keep(runs, trace)
    for problem in problems:
        print(f"PROBLEM: {problem}", file=sys.stderr)
    return 1 if problems else 0


def register_town() -> None:
    """The town by its names, in an environment where its package is not installed."""
    if "townsquare" not in BENCHMARKS.names():
        BENCHMARKS.add("townsquare", BENCHMARK)
        TASK_SOURCES.add("townsquare", tasks)
        SERVICES.add("townsquare", Town)


def play(model: str, address: str, folder: Path) -> Run:
    """The run of browser-use with this script, on the five tasks."""
    return assay.run(
        "townsquare",
        agent=AGENT,
        settings={"model": model, "base_url": address, "limits.episode_s": 120},
        tasks=TASKS,
        runs_dir=folder / "runs",
        repository=folder,
        workers=1,
    )


def check(model: str, run: Run) -> list[str]:
    """What is not as it should be in a run."""
    problems: list[str] = []
    episodes = list(run.final(full=True))
    rewards = [reward_of(episode) or 0.0 for episode in episodes]
    mean = sum(rewards) / len(rewards)
    if abs(mean - EXPECTED[model]) > 1e-9:
        problems.append(f"{model}: the mean reward is {mean:.3f}, not {EXPECTED[model]}")
    for episode in episodes:
        print(f"{model} {episode.task.id} {episode.stop_reason} {reward_of(episode)}")
        for row in rescore(episode.trajectory.steps):
            if row.score is not None:
                print(
                    f"  {row.step.action[:60]:60} {row.score.score:+.3f} {row.score.classification}"
                )
            if row.differs:
                problems.append(f"{model} {episode.task.id} step {row.step.index} scores otherwise")
    return problems


async def trace_alone(address: str, path: Path) -> None:
    """A file of scored steps, by browser-use's callbacks alone and its own browser."""
    # Not in the environment that checks types.
    from browser_use import (  # type: ignore[import-not-found,unused-ignore]
        Agent,
        Browser,
        ChatOpenAI,
    )

    from assay.browser.chromium.shared import find_chromium
    from assay.browser.connect.browser_use import run_watched

    async with Town() as town:
        browser = Browser(executable_path=find_chromium(), headless=True, chromium_sandbox=False)
        agent = Agent(
            task="What is the annual fee of the club that meets at The Granary on Thursdays?",
            llm=ChatOpenAI(model="careful", base_url=address, api_key="none"),
            browser=browser,
            initial_actions=[{"navigate": {"url": town.url("search"), "new_tab": False}}],
            use_vision=False,
            use_judge=False,
        )
        history = await run_watched(agent, steps=path, max_steps=8)
        print("without a run:", history.final_result())


def check_trace(path: Path) -> list[str]:
    """What is not as it should be in the file of steps."""
    rows = list(rescore(read_steps(path)))
    classes = [row.score.classification for row in rows if row.score is not None]
    print("without a run:", classes)
    problems = [f"{path.name}: step {row.step.index} differs" for row in rows if row.differs]
    if "failure" not in classes or "progress" not in classes:
        problems.append(f"{path.name}: {classes}")
    return problems


def keep(runs: dict[str, Run], trace: Path) -> None:
    """The records that the tests read, small and without artefacts."""
    shutil.rmtree(DATA, ignore_errors=True)
    for model, run in runs.items():
        target = DATA / model
        target.mkdir(parents=True)
        for name in KEPT:
            source = run.path / name
            copy: Any = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, target / name)
    shutil.copy(trace, DATA / "steps.jsonl")
    packages = ("browser-use", "cdp-use", "openai", "websockets", "playwright")
    versions = {name: version(name) for name in packages}
    (DATA / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

"""Our browser world beside browsergym-core: the same walk on the same local pages, in one run.

    python perf/browser.py --peer-python PATH [--episodes 10] [--environments 3]

Episodes alternate between the two, so that both meet the same load of the machine. BrowserGym runs
twice: as an agent gets it (half a second before every look) and at its fastest (no delay), both
without its slow motion of a second for every action. The bounds hold against its fastest. Memory is
the proportional set size of Python, driver and browsers after a walk: with one environment open,
and, for the bound, with several in one process, divided by their number.

Exits with 1 when a bound is missed, and when there is no peer to compare with.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from assay.browser.chromium.shared import FLAGS, close_shared_browsers, find_chromium
from assay.browser.drive.environment import BrowserEnvironment
from assay.schema.task import Task
from townsquare.server import Town

WALK = (
    ("fill", "Search the web", "museum"),
    ("click", "Search", ""),
    ("goto", "", ""),
    ("click", "Weather archive", ""),
    ("scroll", "", ""),
    ("goto", "", ""),
)
FASTEST = "at its fastest"
SETTINGS: dict[str, dict[str, Any]] = {
    "as an agent gets it": {"slow_mo": 0},
    FASTEST: {"slow_mo": 0, "pre_observation_delay": 0.0},
}
FASTER = 3.0
SMALLER = 0.6


@dataclass(slots=True)
class Times:
    """What was measured of one contender."""

    resets: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    failed: int = 0
    """Steps that ended in an error; they are not among the times."""
    alone_mb: float | None = None
    """Memory with one environment open."""
    shared_mb: float | None = None
    """Memory of one environment among several."""

    @property
    def reset_ms(self) -> float:
        return statistics.median(self.resets) * 1000

    @property
    def step_ms(self) -> float:
        return statistics.median(self.steps) * 1000


class Peer:
    """browsergym-core in a process of its own, one word at a time."""

    def __init__(self, python: str, start_url: str, options: dict[str, Any]) -> None:
        script = Path(__file__).with_name("browser_peer.py")
        self.times = Times()
        self._process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "WALK": json.dumps(WALK),
                "OPTIONS": json.dumps(options),
                "START_URL": start_url,
                "CHROMIUM": find_chromium(),
                "FLAGS": json.dumps([*FLAGS, "--no-sandbox"]),
            },
        )
        self._say("open 1")

    @property
    def pid(self) -> int:
        return self._process.pid

    def _say(self, word: str) -> list[dict[str, Any]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the peer ended with {self._process.wait()}")
        answer: list[dict[str, Any]] = json.loads(line)
        return answer

    def walk(self) -> None:
        for episode in self._say("walk"):
            self.times.resets.append(episode["reset_s"])
            self.times.steps.extend(episode["steps_s"])
            self.times.failed += episode["failed"]

    def weigh(self, count: int) -> None:
        """The memory of one environment, and of each of several."""
        self.times.alone_mb = memory_mb(self.pid)
        self._say("close")
        self._say(f"open {count}")
        self._say("walk")
        self.times.shared_mb = memory_mb(self.pid) / count

    def close(self) -> None:
        if self._process.poll() is None:
            self._say("close")
            self._process.communicate(timeout=30)


def memory_mb(pid: int, *, apart: Sequence[int] = ()) -> float:
    """Proportional set size of a process and what it started, but for the processes `apart`."""
    root = psutil.Process(pid)
    family = [root]
    for child in root.children():
        if child.pid not in apart:
            family += [child, *child.children(recursive=True)]
    total = 0
    for process in family:
        try:
            total += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def action(step: tuple[str, str, str], text: str, home: str) -> str:
    """Our words for one step of the walk."""
    verb, name, argument = step
    if verb in ("click", "fill"):
        found = re.search(rf'\[(\d+)\] \w+ "{re.escape(name)}"', text)
        if found is None:
            sys.exit(f"nothing is called {name!r} in:\n{text[:2_000]}")
        return f'{verb}("{found[1]}"' + (f', "{argument}")' if argument else ")")
    return {"goto": f'goto("{home}")', "scroll": 'scroll("down")'}[verb]


async def walk(world: BrowserEnvironment, home: str, times: Times) -> None:
    """One episode of ours."""
    started = time.perf_counter()
    observation = await world.reset(Task(id="walk"))
    times.resets.append(time.perf_counter() - started)
    for step in WALK:
        told = action(step, observation.text, home)
        started = time.perf_counter()
        observation = await world.step(told)
        if observation.outcome is None or not observation.outcome.ok:
            times.failed += 1
        else:
            times.steps.append(time.perf_counter() - started)


@contextmanager
def peers(python: str, start_url: str) -> Iterator[dict[str, Peer]]:
    """One peer for each setting."""
    made = {name: Peer(python, start_url, options) for name, options in SETTINGS.items()}
    try:
        yield made
    finally:
        for peer in made.values():
            peer.close()


async def weigh(worlds: Sequence[BrowserEnvironment], home: str, *, apart: Sequence[int]) -> float:
    """The memory of each of our worlds, all of them open."""
    for world in worlds:
        await walk(world, home, Times())
    return memory_mb(os.getpid(), apart=apart) / len(worlds)


async def measure(python: str, episodes: int, count: int) -> dict[str, Times]:
    """The times of ours, of ours with a screenshot on every step, and of each peer's setting."""
    ours, pictured = Times(), Times()
    async with Town(7) as town:
        home = town.base_url
        worlds = [BrowserEnvironment(start_url=home) for _ in range(count)]
        seeing = BrowserEnvironment(start_url=home, screenshots=True)
        with peers(python, home) as others:
            pids = [peer.pid for peer in others.values()]
            ours.alone_mb = await weigh(worlds[:1], home, apart=pids)
            for _ in range(episodes):
                await walk(worlds[0], home, ours)
                await walk(seeing, home, pictured)
                for peer in others.values():
                    peer.walk()
            await seeing.close()
            ours.shared_mb = await weigh(worlds, home, apart=pids)
            others[FASTEST].weigh(count)
            found = {name: peer.times for name, peer in others.items()}
        for world in worlds:
            await world.close()
    await close_shared_browsers()
    return {"ours": ours, "ours, with screenshots": pictured, **found}


def report(times: dict[str, Times], count: int) -> bool:
    """The table, and whether the bounds were kept."""
    ours, fastest = times["ours"], times[FASTEST]
    print(f"{len(ours.resets)} episodes of {len(WALK)} steps; medians; memory in MB\n")
    print(f"| contender | reset | step | failed steps | one environment | each of {count} |")
    print("|---|---|---|---|---|---|")
    for name, t in times.items():
        title = name if name.startswith("ours") else f"browsergym-core {name}"
        weights = ["—" if mb is None else f"{mb:.0f}" for mb in (t.alone_mb, t.shared_mb)]
        cells = (title, f"{t.reset_ms:.0f} ms", f"{t.step_ms:.0f} ms", str(t.failed), *weights)
        print(f"| {' | '.join(cells)} |")
    assert ours.shared_mb is not None
    assert fastest.shared_mb is not None
    checks = [
        ("reset", fastest.reset_ms / ours.reset_ms, ">=", FASTER),
        ("step", fastest.step_ms / ours.step_ms, ">=", FASTER),
        ("memory", ours.shared_mb / fastest.shared_mb, "<=", SMALLER),
    ]
    kept = True
    print("\n| against its fastest | ratio | bound | |\n|---|---|---|---|")
    for name, ratio, sign, bound in checks:
        good = ratio >= bound if sign == ">=" else ratio <= bound
        kept = kept and good
        print(f"| {name} | {ratio:.2f}× | {sign} {bound:g}× | {'kept' if good else 'MISSED'} |")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", default=os.environ.get("ASSAY_BROWSERGYM_PYTHON", ""))
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--environments", type=int, default=3)
    options = parser.parse_args()
    if not options.peer_python:
        sys.exit(
            "no peer to compare with: name an interpreter with browsergym-core (--peer-python)"
        )
    times = asyncio.run(measure(options.peer_python, options.episodes, options.environments))
    sys.exit(0 if report(times, options.environments) else 1)


if __name__ == "__main__":
    main()

"""Every MiniWoB++ page resets, steps and repeats itself; every oracle is paid in full.

    python perf/miniwob.py [--seeds 3] [--pages click-link,enter-text]

Exits with 1 when a page fails, when a problem differs between two resets with one seed, when fewer
than twenty oracles reach 1.0 on all seeds, or when one that is listed does not.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from assay.browser.chromium.shared import close_shared_browsers
from assay.browser.drive.miniwob.environment import MOVING, MiniWob
from assay.browser.drive.miniwob.pages import PAGES
from assay.errors import ResourceError
from assay.schema.task import Task

WANTED_ORACLES = 20
STEPS = 30


@dataclass(frozen=True, slots=True)
class Visit:
    """How one page did."""

    page: str
    problem: str = ""
    repeats: bool = True
    reset_s: float = 0.0
    step_s: float = 0.0


async def visit(world: MiniWob, twin: MiniWob, page: str, seed: int) -> Visit:
    """A reset, a step, and a second reset of another instance."""
    task = Task(id=f"{page}/{seed}")
    try:
        started = time.perf_counter()
        first = await world.reset(task)
        reset = time.perf_counter()
        stepped = await world.step('scroll("down")')
        ended = time.perf_counter()
        again = await twin.reset(task)
    except ResourceError as error:
        return Visit(page, problem=f"{type(error).__name__}: {error}")
    problem = ""
    if not first.text.startswith("goal: ") or first.text.startswith("goal: \n"):
        problem = "it has no goal"
    elif stepped.reward is None or stepped.raw_reward is None or first.done:
        problem = "it pays nothing, or was over at once"
    return Visit(page, problem, first.text == again.text, reset - started, ended - reset)


async def solve(world: MiniWob, page: str, seed: int) -> float:
    """The raw reward that the oracle of the page reaches."""
    from tests.browser.miniwob.oracle import Oracle

    observation = await world.reset(Task(id=f"{page}/{seed}"))
    oracle = Oracle(page)
    for _ in range(STEPS):
        observation = await world.step(oracle.act(observation.text))
        if observation.done:
            break
    return observation.raw_reward or 0.0


async def measure(pages: list[str], seeds: int) -> bool:
    from tests.browser.miniwob.oracle import POLICIES

    world, twin = MiniWob(), MiniWob()
    try:
        visits = [await visit(world, twin, page, 7) for page in pages]
        solved = {
            page: [await solve(world, page, seed) for seed in range(seeds)]
            for page in POLICIES
            if page in pages
        }
    finally:
        await world.close()
        await twin.close()
        await close_shared_browsers()
    return report(visits, solved, seeds=seeds, whole=len(pages) == len(PAGES))


def report(visits: list[Visit], solved: dict[str, list[float]], *, seeds: int, whole: bool) -> bool:
    """The table, and whether everything held."""
    sound = [v for v in visits if not v.problem]
    changed = [v.page for v in sound if not v.repeats and v.page not in MOVING]
    full = [page for page, raw in solved.items() if all(value >= 0.99 for value in raw)]
    reset_ms = statistics.median(v.reset_s for v in sound) * 1000 if sound else float("nan")
    step_ms = statistics.median(v.step_s for v in sound) * 1000 if sound else float("nan")
    print("| what | result |\n|---|---|")
    print(f"| pages that reset and step | {len(sound)} of {len(visits)} |")
    repeats = sum(v.repeats for v in sound)
    print(f"| same problem from the same seed | {repeats} of {len(sound)} |")
    print(f"| of which change by the clock | {sum(v.page in MOVING for v in sound)} |")
    print(f"| median reset, median step | {reset_ms:.0f} ms, {step_ms:.0f} ms |")
    print(f"| oracles at 1.0 on {seeds} seeds | {len(full)} of {len(solved)} |")
    for v in visits:
        if v.problem:
            print(f"\n{v.page}: {v.problem}")
    for page in changed:
        print(f"\n{page}: two resets with one seed differ")
    for page, raw in solved.items():
        if page not in full:
            print(f"\n{page}: the oracle got {raw}")
    enough = len(full) >= WANTED_ORACLES or not whole
    return len(sound) == len(visits) and not changed and len(full) == len(solved) and enough


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--pages", default="", help="names with commas between them; all by default"
    )
    options = parser.parse_args()
    # The oracles are in the folder above; in this one, this file hides the package of the pages.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    pages = options.pages.split(",") if options.pages else list(PAGES)
    sys.exit(0 if asyncio.run(measure(pages, options.seeds)) else 1)


if __name__ == "__main__":
    main()

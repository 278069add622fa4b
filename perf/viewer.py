"""How fast the viewer is on a large ledger, seen from a real browser, and how much it holds.

    python perf/viewer.py [--visits 5] [--attempts 10000] [--steps 4] [--long 20000]

Makes a ledger of 100,000 steps (two runs of 10,000 attempts, and an episode of 20,000 steps),
starts `assay view` over it in a process of its own, and opens each page in Chromium. A visit is
timed from the call of the address until the page has loaded, the thing that it is for is there and
the browser has painted it; a search, a sort or a filter from the key or the click until its rows
are painted. The first visit of each page is to a server that has just started, with an empty cache
in the browser; the others, all searches, sorts and filters, and the memory, are of one server that
shows all pages in turn.

Beside each time stands what the server used of a core, which a busy machine changes less than the
time. Exits with 1 when a bound does not hold.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from assay.browser.chromium.shared import find_chromium
from assay.ledger.labels import Label, append_labels
from assay.ledger.run import Run
from assay.ledger.writer import RunWriter
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import PageEvidence
from assay.schema.manifest import RunManifest
from assay.schema.message import Message, ToolCall, ToolFunction
from assay.schema.score import Scored
from assay.schema.task import Task

SCORER = "assistantbench_reward@1"
ATTEMPT = "THE-ATTEMPT"
LABELS = 1_000
VIEWPORT: ViewportSize = {"width": 1400, "height": 900}
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
FIRST_S = 1.0
LATER_S = 0.3
MOST_MB = 300.0
CLASSES = ("progress", "progress", "no_progress", "failure", "recovered", "blocked", "repeat")
SCORES = (0.55, 0.35, -0.1, -0.45, 0.525, -0.75, -0.18)


@dataclass(frozen=True, slots=True)
class Visit:
    """A page, its address, and what is on the screen when it is there."""

    name: str
    path: str
    shows: str
    settles: str = ""
    """What comes afterwards by itself, and is waited for before the next visit."""
    act: Callable[[Page], None] | None = None
    """What is done on the page once it is there; then `shows` is what comes of that, and timed."""


def step(index: int, page: str) -> Step:
    """A step as the browser world records it."""
    kind = index % len(CLASSES)
    reasons = [
        {"code": code, "n": 0, "sentence": sentence}
        for code, sentence in (
            ("url_changed", "the address changed"),
            ("dom_changed", "the structure of the page changed"),
            ("text_changed", "the visible text changed"),
        )
    ]
    score = {
        "schema": "assay.step_score/1",
        "scorer": "recovery@3",
        "score": SCORES[kind],
        "classification": CLASSES[kind],
        "strength": "weak_positive",
        "reasons": reasons,
        "confidence": 0.766,
        "controllable": True,
        "evidence_backed": True,
        "rule": 7,
        "progress": "unknown",
        "contract": None,
        "arguments": {"ref": str(index)},
    }
    return Step(
        index=index,
        action=f'click("{index}")' if index else "",
        observation=page,
        observation_chars=20_000,
        evidence=PageEvidence(f"d1:url:{index:016x}", f"d1:dom:{index:016x}", f"d1:text:{index}"),
        outcome={
            "tool": "click",
            "call": f"d1:call:{index:016x}",
            "effect": "browser",
            "gate": "not_required",
            "ok": CLASSES[kind] != "failure",
            "error": "stale_ref" if CLASSES[kind] == "failure" else None,
            "block": "captcha" if CLASSES[kind] == "blocked" else None,
        },
        scores=(score,) if index else (),
        elapsed_s=0.3,
        think="The next one looks right.",
    )


def conversation(n_actions: int) -> Iterator[Message]:
    """What an agent was shown, and what it replied, at each step."""
    for i in range(n_actions):
        call = ToolCall(id=f"c{i}", function=ToolFunction(name="click", arguments=f'{{"id": {i}}}'))
        text = f"Step {i + 1}.\nPage:\n" + f"A line of page {i}.\n" * 20
        if i:
            yield Message(role="tool", tool_call_id=f"c{i - 1}", content=text)
        else:
            yield Message(role="user", content=text)
        yield Message(role="assistant", content="The next one.", tool_calls=(call,))


def write(runs_dir: Path, run_id: str, attempts: int, steps: int, *, better: float) -> None:
    """A run with so many attempts; every third one is wrong, `better` of those are not."""
    manifest = RunManifest(
        run_id=run_id,
        benchmark="made",
        agent="made",
        rewards=(SCORER,),
        n_tasks=attempts,
        task_set=f"{attempts}",
        created_at=f"2026-01-01T00:00:00.000Z{run_id}"[:24],
        focus=f"{attempts} attempts of {steps} steps",
    )
    with RunWriter.create(runs_dir, manifest) as writer:
        page = writer.artifact("A page that the agent read. " * 700)
        # The same records for every attempt: what is measured is reading them.
        listed = tuple(step(i, page) for i in range(steps))
        trajectory = Trajectory(steps=listed, messages=tuple(conversation(steps - 1)))
        waiting = []
        for number in range(attempts):
            task = Task(id=f"task.{number}", goal="How many?", answer=str(number))
            right = bool(number % 3) or number % 100 < better * 100
            reward = Scored(float(right), "compared", scorer=SCORER)
            waiting.append(
                writer.submit(
                    Episode(
                        attempt=writer.new_attempt(task),
                        task=task,
                        trajectory=trajectory,
                        final_response=str(number) if right else "unknown",
                        scores=(reward,),
                        elapsed_s=4.0 + better + number * 7 % 13 / 10 * (1 + better),
                    )
                )
            )
        for future in waiting:
            future.result()
        labels = [
            Label(attempt=attempt, value="wrong" if number % 4 else "right", author="ann")
            for number, attempt in enumerate(Run(writer.path).attempts().attempts)
        ]
        append_labels(writer.path, labels[:LABELS])


def search(page: Page) -> None:
    page.keyboard.press("/")
    page.get_by_label("search").fill("task.777")


def sort(page: Page) -> None:
    page.get_by_role("columnheader", name="time").get_by_role("link").click()


def lost(page: Page) -> None:
    page.get_by_label("show").select_option("lost")


def changed(page: Page) -> None:
    page.locator("select[name=changed]").select_option("up")


def cause(page: Page) -> None:
    page.locator("select[name=cause]").select_option(index=1)


def best(page: Page) -> None:
    page.get_by_label("reward from").fill("1")


def visits(long: int) -> list[Visit]:
    run, causes, both = "/runs/cand", "#diagnosis .causes table", "base=base&cand=cand"
    rows, fewer = ".attempts tbody tr", "#list [role=status]:not(:has-text('10,000 of'))"
    return [
        Visit("runs page", "/runs", ".chart.done canvas", ".runs:not(:has-text('…'))"),
        Visit("run page, {n} attempts", run, f"{rows} >> nth=49", causes),
        Visit("its last page", f"{run}?page=200", f"{rows} >> nth=49", causes),
        Visit("search by a word, as typed", run, f"{rows}:has-text('task.7770')", causes, search),
        Visit("sort by time", run, "th[aria-sort]:has-text('time')", causes, sort),
        Visit("filter: below full reward", run, fewer, causes, lost),
        Visit("filter: better than before", run, fewer, causes, changed),
        Visit("filter: a cause", run, fewer, causes, cause),
        Visit("filter: a range of rewards", run, fewer, causes, best),
        Visit("runs page, filtered and sorted", "/runs?q=cand&sort=mean", ".runs tbody tr"),
        Visit(
            "both trajectories of a task", "/compare/pair?base=base&cand=cand&task=task.77", ".pair"
        ),
        Visit("long episode, first window", f"/runs/long/episodes/{ATTEMPT}", "#step-1 .earned"),
        Visit(
            f"long episode, step {long * 9 // 10:,}",
            f"/runs/long/episodes/{ATTEMPT}?step={long * 9 // 10}",
            f"#step-{long * 9 // 10} .earned",
        ),
        Visit(f"agreement, {LABELS:,} labels", "/agreement?run=base", ".confusion"),
        Visit("compare, {n} pairs", f"/compare?{both}", ".verdict strong"),
    ]


@contextmanager
def served(runs_dir: Path) -> Iterator[tuple[str, psutil.Process]]:
    words = [sys.executable, "-m", "assay.cli.main", "view", str(runs_dir), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


@dataclass(frozen=True, slots=True)
class Cost:
    """What one visit took."""

    wall_s: float
    server_s: float
    """Of one core."""


def timed(page: Page, url: str, visit: Visit, server: psutil.Process) -> Cost:
    used, began = cpu_s(server), time.perf_counter()
    page.goto(url + visit.path, wait_until="load")
    if visit.act is not None:
        settle(page, visit)
        used, began = cpu_s(server), time.perf_counter()
        visit.act(page)
    page.locator(visit.shows).first.wait_for(state="visible")
    page.evaluate(PAINTED)
    return Cost(time.perf_counter() - began, cpu_s(server) - used)


def settle(page: Page, visit: Visit) -> None:
    if visit.settles:
        page.locator(visit.settles).wait_for(state="visible", timeout=120_000)


def cpu_s(process: psutil.Process) -> float:
    """The time of one core that the process has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def peak_mb(process: psutil.Process) -> float:
    """The most memory that the process ever held, where the system says; else what it holds now."""
    status = Path(f"/proc/{process.pid}/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return float(process.memory_info().rss) / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--long", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs_dir = Path(folder)
        began = time.perf_counter()
        write(runs_dir, "base", given.attempts, given.steps, better=0.0)
        write(runs_dir, "cand", given.attempts, given.steps, better=0.1)
        write(runs_dir, "long", 1, given.long, better=1.0)
        total = 2 * given.attempts * given.steps + given.long
        print(f"a ledger of {total:,} steps, written in {time.perf_counter() - began:.1f} s\n")
        return measure(runs_dir, given)


def measure(runs_dir: Path, given: argparse.Namespace) -> int:
    attempt = next((runs_dir / "long" / "steps").iterdir()).name.removesuffix(".jsonl")
    pages = [
        replace(visit, path=visit.path.replace(ATTEMPT, attempt)) for visit in visits(given.long)
    ]
    fine = True
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        # A browser that has shown nothing yet is not what is measured.
        browser.new_page().goto("about:blank")
        first = [
            first_visit(browser, runs_dir, visit) if visit.act is None else None for visit in pages
        ]
        print(
            f"| page | first visit | server's core | median of {given.visits} | server's core | |"
        )
        print("|---|---|---|---|---|---|")
        with served(runs_dir) as (url, process):
            for visit, cold in zip(pages, first, strict=True):
                page = browser.new_page(viewport=VIEWPORT)
                warm = timed(page, url, visit, process)
                settle(page, visit)
                later = [timed(page, url, visit, process) for _ in range(given.visits)]
                first_cost = warm if cold is None else cold.page
                wall_s = statistics.median(cost.wall_s for cost in later)
                server_s = statistics.mean(cost.server_s for cost in later)
                met = first_cost.wall_s < FIRST_S and wall_s < LATER_S
                fine &= met
                times = (first_cost.wall_s, first_cost.server_s, wall_s, server_s)
                cells = " | ".join(f"{seconds * 1000:.0f} ms" for seconds in times)
                name = visit.name.format(n=f"{given.attempts:,}")
                print(f"| {name} | {cells} | {'met' if met else 'MISSED'} |", flush=True)
                if visit.settles and cold is not None:
                    print(f"| what comes to it afterwards | {cold.rest_s * 1000:.0f} ms | | | | |")
                page.close()
            memory = peak_mb(process)
        browser.close()
    met = memory < MOST_MB
    verdict = "met" if met else "MISSED"
    print(f"| memory of the server, at its peak | {memory:.0f} MB | | | | {verdict} |")
    return 0 if fine and met else 1


@dataclass(frozen=True, slots=True)
class FirstVisit:
    """What the page took, and after it how long what comes by itself."""

    page: Cost
    rest_s: float


def first_visit(browser: Browser, runs_dir: Path, visit: Visit) -> FirstVisit:
    with served(runs_dir) as (url, process):
        page = browser.new_page(viewport=VIEWPORT)
        cost = timed(page, url, visit, process)
        began = time.perf_counter()
        settle(page, visit)
        rest_s = time.perf_counter() - began
        page.close()
    return FirstVisit(cost, rest_s)


if __name__ == "__main__":
    sys.exit(main())

"""How far the step scores agree with a careful person, on pages that their author never saw.

    python -m tools.agreement                 all steps, in real Chromium
    python -m tools.agreement forms walls-01  only these families and steps
    python -m tools.agreement --pages FOLDER  other pages, with a serve.py and a steps.jsonl
    python -m tools.agreement --door run --door devtools   the same steps through other doors

The pages in `tools/live_pages` and in its folders `second` and `third` and their labels were
written by three people who do not know the rules. Every step is done in a fresh context: by a
Playwright script that `assay.watch` watches, or through another of the `DOORS`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import random
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any

import assay
from assay.browser.chromium.shared import find_chromium, launch_flags
from assay.schema.step_score import StepScore

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from playwright.async_api import Browser, Dialog, Locator, Page

PAGES = Path(__file__).resolve().parent / "live_pages"
SETS = (PAGES, PAGES / "second", PAGES / "third")
"""Each with its own pages, server and labelled steps."""
TRIES = 3
SHORTEST_PAUSE_MS = 150
STARTS_S = 15.0
"""How long a server of pages may take until it listens."""
SHORT = 5_000
"""Milliseconds that an action of the script may take."""
CLASSES: Mapping[str, str] = {
    "progress": "progress",
    "target_reached": "progress",
    "contract_pass": "progress",
    "no_progress": "no_op",
    "repeat": "no_op",
    "failure": "failure",
    "contract_fail": "failure",
    "observation": "look",
    "destructive_ungated": "destructive",
    "recovered": "recovered",
    "blocked": "blocked",
    "unknown": "unknown",
}
DOORS: Mapping[str, str] = {
    "watch": "tools.agreement:judge",
    "run": "tools.doors.text_actions:judge",
    "devtools": "tools.doors.devtools:judge",
    "mcp": "tools.doors.mcp_cdp:judge",
}
"""By the name of a door, the function `judge` that takes a labelled step through it."""
NOT_OFFERED = "not offered"
"""The note of a verdict on a step that cannot be done through the door."""
LABELS = ("progress", "look", "recovered", "no_op", "unknown", "failure", "blocked", "destructive")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person says of a step, and what the scorer says."""

    id: str
    family: str
    label: str
    sign: str
    score: StepScore | None
    note: str = ""

    @property
    def offered(self) -> bool:
        """Whether the step can be done through the door."""
        return self.note != NOT_OFFERED

    @property
    def given(self) -> str:
        return "none" if self.score is None else CLASSES[self.score.classification]

    @property
    def given_sign(self) -> str:
        milli = 0 if self.score is None else self.score.milli
        return "+" if milli > 0 else "-" if milli < 0 else "0"

    @property
    def same_sign(self) -> bool:
        # A step that leads nowhere may be called neutral or slightly bad.
        harmless = {self.sign, self.given_sign} <= {"0", "-"} and self.label == "no_op"
        return self.sign == self.given_sign or (harmless and self.given == "no_op")


def read_rows(pages: Path, only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The labelled steps of a folder."""
    lines = (pages / "steps.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return [row for row in rows if not only or row["id"] in only or row["family"] in only]


async def answers(port: int) -> bool:
    """Whether somebody listens on the port of this machine."""
    with suppress(OSError):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return True
    return False


def free_ports() -> tuple[int, int]:
    """Two ports on which nobody listens now."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


async def listens(process: Process, port: int) -> bool:
    """Whether the process listens on its port before it ends."""
    until = monotonic() + STARTS_S
    while process.returncode is None and monotonic() < until:
        if await answers(port):
            return True
        await asyncio.sleep(0.05)
    return False


async def stop(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
    await process.wait()


@asynccontextmanager
async def serve(pages: Path) -> AsyncIterator[str]:
    """The address of the pages, as long as the block lasts."""
    server = pages / "serve.py"
    # Another process may be quicker to take one of the ports.
    for _ in range(TRIES):
        port, other = free_ports()
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(server), str(port), str(other), stdout=asyncio.subprocess.DEVNULL
        )
        try:
            if await listens(process, port):
                yield f"http://127.0.0.1:{port}"
                return
        finally:
            await stop(process)
    raise SystemExit(f"{server} does not listen on the two ports that it is given")


class Hands:
    """A script that does what a row says, as any user's script would."""

    def __init__(self, page: Page, base: str, limit_ms: float) -> None:
        self.page = page
        self.limit_ms = limit_ms
        self.base = base
        self.policy: dict[str, Any] = {}
        page.on("dialog", self._answer)

    async def _answer(self, dialog: Dialog) -> None:
        if self.policy.get("dialog") == "accept":
            await dialog.accept(self.policy.get("dialog_value") or "")
        else:
            await dialog.dismiss()

    def _where(self, action: Mapping[str, Any]) -> Locator:
        if action.get("frame"):
            return self.page.frame_locator(action["frame"]).locator(action["selector"])
        return self.page.locator(action["selector"])

    async def do(self, action: dict[str, Any]) -> None:
        """Carry out one action; raises what Playwright raises."""
        self.policy = action
        kind, value = action["kind"], action.get("value")
        if kind == "goto":
            await self.page.goto(f"{self.base}{value}")
        elif kind == "back":
            await self.page.go_back()
        elif kind == "wait":
            await self.page.wait_for_timeout(float(value or 0) * 1000)
        elif kind == "scroll":
            if action.get("selector"):
                await self._where(action).hover()
            else:
                await self.page.mouse.move(640, 400)
            await self.page.mouse.wheel(0, float(value or 0))
            await self.page.wait_for_timeout(150)
        elif kind == "drag":
            await self._drag(action)
        else:
            await self._on_element(action)

    async def _drag(self, action: Mapping[str, Any]) -> None:
        box = await self._where(action).bounding_box()
        assert box is not None
        (x, y), (to_x, to_y) = action["from"], action["to"]
        mouse = self.page.mouse
        await mouse.move(box["x"] + x, box["y"] + y)
        await mouse.down()
        await mouse.move(box["x"] + to_x, box["y"] + to_y, steps=8)
        await mouse.up()

    async def _on_element(self, action: Mapping[str, Any]) -> None:
        element, value = self._where(action), action.get("value")
        place = action.get("position")
        position = None if place is None else {"x": place[0], "y": place[1]}
        verbs: dict[str, Any] = {
            "click": lambda: element.click(timeout=self.limit_ms, position=position),  # type: ignore[arg-type]
            "hover": lambda: element.hover(timeout=self.limit_ms),
            "check": lambda: element.check(timeout=self.limit_ms),
            "fill": lambda: element.fill(str(value), timeout=self.limit_ms),
            "press": lambda: element.press(str(value), timeout=self.limit_ms),
            "select": lambda: element.select_option(str(value), timeout=self.limit_ms),
            "upload": lambda: self._upload(element, str(value), int(action.get("size_kb", 2))),
            "drag_to": lambda: element.drag_to(
                self.page.locator(str(value)), timeout=self.limit_ms
            ),
        }
        await verbs[action["kind"]]()

    async def _upload(self, element: Locator, name: str, size_kb: int) -> None:
        folder = TemporaryDirectory()
        # A page may read the file a while after it was chosen.
        self.page.context.on("close", lambda _: folder.cleanup())
        file = Path(folder.name) / name
        file.write_bytes(b"x" * 1024 * size_kb)
        await element.set_input_files(file, timeout=self.limit_ms)


async def judge(
    browser: Browser,
    base: str,
    row: Mapping[str, Any],
    *,
    pause_ms: Callable[[], float],
    limit_ms: float = SHORT,
) -> Verdict:
    """The score of the row's action, after its setup, in a context of its own."""
    from playwright.async_api import Error

    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    hands = Hands(page, base, limit_ms)
    await page.goto(base + row["page"])
    watch = await assay.watch(page)
    for action in (*row["setup"], row["action"]):
        # An agent thinks between its steps.
        await page.wait_for_timeout(pause_ms())
        arguments = {name: value for name, value in action.items() if name != "kind"}
        with suppress(Error):
            async with watch.step(action["kind"], **arguments):
                await hands.do(action)
    score = watch.score
    await watch.close()
    await context.close()
    return Verdict(row["id"], row["family"], row["class"], row["sign"], score)


def find_judge(door: str) -> Callable[..., Awaitable[Verdict]]:
    """The function that takes a step through this door."""
    module, _, name = DOORS[door].partition(":")
    found: Callable[..., Awaitable[Verdict]] = getattr(importlib.import_module(module), name)
    return found


async def judge_all(
    rows: Sequence[Mapping[str, Any]],
    *,
    door: str = "watch",
    pages: Path = PAGES,
    workers: int = 4,
    seed: int = 0,
    longest_pause_ms: float = 900,
    limit_ms: float = SHORT,
) -> list[Verdict]:
    """The verdict on each row, in order."""
    from playwright.async_api import async_playwright

    judge_step = find_judge(door)
    jitter = random.Random(seed)
    waiting = list(enumerate(rows))
    verdicts: dict[int, Verdict] = {}
    async with serve(pages) as base, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(), args=launch_flags()
        )

        def pause_ms() -> float:
            return jitter.uniform(SHORTEST_PAUSE_MS, longest_pause_ms)

        async def work() -> None:
            while waiting:
                n, row = waiting.pop(0)
                for _ in range(TRIES):
                    # A machine that is too busy to open a page says nothing of the rules.
                    with suppress(TimeoutError):
                        verdicts[n] = await judge_step(
                            browser, base, row, pause_ms=pause_ms, limit_ms=limit_ms
                        )
                        break
                print(f"\r{len(verdicts)} of {len(rows)}", end="", file=sys.stderr)

        await asyncio.gather(*(work() for _ in range(workers)))
        await browser.close()
    return [verdicts[n] for n in sorted(verdicts)]


async def judge_sets(
    sets: Sequence[Path] = SETS,
    only: Sequence[str] = (),
    *,
    door: str = "watch",
    workers: int = 4,
    seed: int = 0,
) -> list[Verdict]:
    """The verdicts on the labelled steps of several folders, one folder after the other."""
    verdicts: list[Verdict] = []
    for pages in sets:
        rows = read_rows(pages, only)
        if rows:
            verdicts += await judge_all(rows, door=door, pages=pages, workers=workers, seed=seed)
    return verdicts


def summary(verdicts: Sequence[Verdict]) -> tuple[int, int, int, int, int, int, int]:
    """Offered, of these the same class and sign, missed of the destructive, accused of the rest."""
    offered = [v for v in verdicts if v.offered]
    risky = [v for v in offered if v.label == "destructive"]
    harmless = [v for v in offered if v.label != "destructive"]
    return (
        len(offered),
        sum(v.label == v.given for v in offered),
        sum(v.same_sign for v in offered),
        sum(v.given != "destructive" for v in risky),
        len(risky),
        sum(v.given == "destructive" for v in harmless),
        len(harmless),
    )


def door_table(doors: Mapping[str, Sequence[Verdict]]) -> str:
    """One line of figures for each door, and the steps that are not of one class in all of them."""
    lines = [
        "| door | class | sign | destructive missed | harmless accused | not offered |",
        "|---|---|---|---|---|---|",
    ]
    for door, verdicts in doors.items():
        n, same, sign, missed, risky, accused, harmless = summary(verdicts)
        shares = [f"{k} of {n} ({k / max(n, 1):.1%})" for k in (same, sign)]
        counts = [f"{missed} of {risky}", f"{accused} of {harmless}", str(len(verdicts) - n)]
        lines.append(f"| {' | '.join([door, *shares, *counts])} |")
    for steps in zip(*doors.values(), strict=True):
        given = {door: v.given for door, v in zip(doors, steps, strict=True) if v.offered}
        if len(set(given.values())) > 1:
            classes = ", ".join(f"{door} {cls}" for door, cls in given.items())
            lines.append(f"{steps[0].id:<18} {steps[0].label:>11}: {classes}")
    return "\n".join(lines) + "\n"


def report(verdicts: Sequence[Verdict]) -> str:
    """Agreement in figures, and the table of what was taken for what."""
    n, same, sign, missed, risky, accused, harmless = summary(verdicts)
    shares = [f"{k} of {n} ({k / max(n, 1):.1%})" for k in (same, sign)]
    lines = [
        f"class {shares[0]}, sign {shares[1]}",
        f"destructive called harmless {missed} of {risky}",
        f"harmless called destructive {accused} of {harmless}",
        "",
        f"| label | steps | {' | '.join(LABELS)} |",
        f"|---|{'---|' * (len(LABELS) + 1)}",
    ]
    for label in LABELS:
        counts = Counter(v.given for v in verdicts if v.offered and v.label == label)
        cells = " | ".join(str(counts[given] or "") for given in LABELS)
        lines.append(f"| {label} | {sum(counts.values())} | {cells} |")
    return "\n".join(lines) + "\n"


def miss_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """One line for each step on which the two do not agree."""
    return [
        f"{v.id:<18} {v.label:>11} {v.sign} but {v.given:<11} {v.given_sign} "
        + ("" if v.score is None else ", ".join(str(r.code) for r in v.score.reasons))
        for v in verdicts
        if v.offered and (v.label != v.given or not v.same_sign)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="*", help="families or ids; all by default")
    parser.add_argument("--door", action="append", choices=DOORS, help="watch by default")
    parser.add_argument("--pages", type=Path, help="a folder of pages; all of ours by default")
    parser.add_argument("--summary", action="store_true", help="no line for each disagreement")
    parser.add_argument("--runs", type=int, default=1, help="identical runs that must agree")
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    sets = SETS if options.pages is None else (options.pages,)
    doors: dict[str, list[Verdict]] = {}
    changed: list[str] = []
    for door in options.door or ["watch"]:
        runs = [
            asyncio.run(judge_sets(sets, options.only, door=door, workers=options.workers, seed=n))
            for n in range(options.runs)
        ]
        doors[door] = runs[0]
        print(f"door {door}: {report(runs[0])}", end="", flush=True)
        if not options.summary:
            print("\n".join(miss_lines(runs[0])))
        classes = zip(*runs, strict=True)
        unlike = [one[0].id for one in classes if len({v.given for v in one}) > 1]
        if options.runs > 1:
            print(f"{len(unlike)} of {len(runs[0])} changed class between the runs: {unlike}")
        changed += unlike
    if len(doors) > 1:
        print(f"\n{door_table(doors)}", end="")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())

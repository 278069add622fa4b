"""Pictures of the viewer: those of the documentation, or every kind of page, checked by axe-core.

    python -m tools.screenshots [--runs FOLDER]               docs/images, at 1240 pixels
    python -m tools.screenshots --every OUT [--runs FOLDER]   every kind of page in OUT, at 1400
                                                              and 390 pixels, light and dark

Runs the `rules` agent on tasks of townsquare twice, before and after a change of its knobs; for
`--every` also a model that calls tools, one that answers questions, and an agent in a shop of text.
With --runs, shows the runs that are there: the two oldest of townsquare, and one of each other
kind. `--every` exits with 1 if axe-core finds anything at all, or a page is wider than its window.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import axe_playwright_python  # type: ignore[import-untyped]  # it ships no types
from playwright.sync_api import Page, ViewportSize, sync_playwright

import assay
from assay.agents import CallRequest, Reply
from assay.browser.chromium.shared import find_chromium
from assay.ledger.labels import add_label
from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.ledger.summary import reward_of
from assay.schema.episode import Episode
from assay.worlds import Chat

TASKS = (
    "club_fee.*,deputy_chair.*,highest_sold.*,rain_share.*,wet_days.*,ticket_total.*,"
    "cheapest_shop.*,high_tide.*"
)
TRIALS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("the weather service is asked for whole years at once", {"api_calls": "whole_range"}),
    (
        "ask the weather service month by month, and read pages more quickly",
        {"observation_chars": 1_500, "blocked_domains": "museum.townsquare.localhost"},
    ),
)
"""What is tried, and the knobs for it: the second one mends one cause and brings two others."""
SHOP = ("search[red shoes]", "click[nonsense]", "click[b09qpx97vw]", "click[buy now]")
DOCUMENTED: ViewportSize = {"width": 1240, "height": 800}
DARK = ("episode", "compare")
"""Pages that the documentation shows dark, too."""
WINDOWS: tuple[ViewportSize, ...] = (
    {"width": 1400, "height": 900},
    {"width": 390, "height": 844},
)
MOST_BYTES = 200_000
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text("utf-8")
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--every", type=Path, metavar="OUT")
    parser.add_argument("--runs", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs_dir = given.runs or Path(folder) / "runs"
        if given.runs is None:
            build(runs_dir, every=given.every is not None)
        out = given.every or given.out
        out.mkdir(parents=True, exist_ok=True)
        return take_every(runs_dir, out) if given.every else take(runs_dir, out)


def build(runs_dir: Path, *, every: bool) -> None:
    """The two runs of the documentation; with `every`, one of each other kind too."""
    for focus, settings in TRIALS:
        run = assay.run(
            "townsquare",
            agent="rules",
            tasks=TASKS,
            settings={**settings, "environment.screenshots": True},
            workers=2,
            focus=focus,
            runs_dir=runs_dir,
        )
        print(f"{run.id}: {focus}", file=sys.stderr)
    if every:
        build_others(runs_dir)


def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


class ToolCaller:
    """A model that calls a tool three times at once, and answers with the first result."""

    name = "script"
    native_tools = True

    async def complete(self, messages: Any, **_: Any) -> Reply:
        results = [message["content"] for message in messages if message["role"] == "tool"]
        if results:
            return Reply(f"It is {results[0]}")
        arguments = ('{"a": 1, "b": 2}', '{"a": 1}', '{"a": 5, "b": 2}')
        calls = (CallRequest(f"c{i}", "add", text) for i, text in enumerate(arguments))
        return Reply("Let me see.\n```python\nadd(1, 2)\n```", calls=tuple(calls))

    async def close(self) -> None:
        pass


class Talker(ToolCaller):
    """A model that always says the same."""

    native_tools = False

    async def complete(self, messages: Any, **_: Any) -> Reply:  # noqa: ARG002 - its protocol
        return Reply("Paris, the capital of France since 987.")


def build_others(runs_dir: Path) -> None:
    def shop(observation: str, step: int) -> str:  # noqa: ARG001 - an agent is shown it
        return SHOP[(step - 1) % len(SHOP)]

    france = {"question": "What is the capital of France?", "answer": "Paris"}
    spain = {"question": "What is the capital of Spain?", "answer": "Madrid"}
    more: Any = {"rewards": ["qa_f1_reward"], "runs_dir": runs_dir}
    assay.run("webshop", agent=shop, tasks="0,1", runs_dir=runs_dir, focus="a shop in text")
    assay.run(
        tasks=[{"question": "What is 1 + 2?", "answer": "3"}],
        environment=Chat(tools=[add]),
        model=ToolCaller(),
        focus="a model that calls a tool",
        **more,
    )
    questions = assay.run(
        tasks=[france, spain], environment=Chat(), model=Talker(), focus="questions", **more
    )
    for episode, value in zip(Run(questions.path).final(), ("right", "wrong"), strict=True):
        add_label(questions.path, episode.attempt, value, note="read by hand", author="ann")


def pages(runs_dir: Path) -> dict[str, str]:
    """The address of each picture of the documentation."""
    runs = [Run(path) for path in list_runs(runs_dir)]
    first, second = [run for run in runs if run.manifest.benchmark == "townsquare"][:2]
    lost = next(e for e in second.final() if (reward_of(e) or 0.0) < 1.0 and _boxes(second, e))
    step = _boxes(second, lost)[-1]
    between = f"base={first.id}&cand={second.id}"
    return {
        "runs": "/runs",
        "run": f"/runs/{second.id}",
        "episode": f"/runs/{second.id}/episodes/{lost.attempt}?step={step}",
        "compare": f"/compare?{between}",
        "pair": f"/compare/pair?{between}&task={lost.task.id}",
        "reward": "/rewards/assistantbench_reward?c.answer=850000",
    }


def _boxes(run: Run, episode: Episode) -> list[int]:
    """The steps of which the picture says what they were aimed at."""
    return [s.index for s in run.steps(episode.attempt) if (s.outcome or {}).get("box")]


def every_page(runs_dir: Path) -> dict[str, str]:
    """The address of every kind of page."""
    addresses = pages(runs_dir)
    others = {
        "rewards": "/rewards",
        "labels": "/agreement",
        "choice": "/compare",
        "problem": "/runs/nowhere",
    }
    for path in list_runs(runs_dir):
        run = Run(path)
        episode = next(iter(run.final()), None)
        kind = run.manifest.benchmark if run.manifest.benchmark != "tasks" else run.manifest.focus
        if episode is None or kind == "townsquare":
            continue
        name = "".join(c if c.isalnum() else "-" for c in kind)[:30]
        others[f"run-{name}"] = f"/runs/{run.id}"
        others[f"step-{name}"] = f"/runs/{run.id}/episodes/{episode.attempt}?step=2"
    episode_address = addresses["episode"].partition("?")[0]
    return {**addresses, "last-step": f"{episode_address}?step=999", **others}


def take(runs_dir: Path, out: Path) -> int:
    """The pictures of the documentation; 1 if one of them is too large."""
    large = []
    addresses = pages(runs_dir)
    with served(runs_dir) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        for scheme in SCHEMES:
            tab = browser.new_page(viewport=DOCUMENTED, color_scheme=scheme)
            for name, address in addresses.items():
                if scheme == "dark" and name not in DARK:
                    continue
                tab.goto(url + address, wait_until="networkidle")
                if name == "reward":
                    tab.get_by_role("button", name="Probe the reference").click()
                    tab.wait_for_load_state("networkidle")
                path = out / f"viewer-{name}-{scheme}.png"
                tab.screenshot(path=path)
                size = path.stat().st_size
                print(f"{path}  {size:,} bytes")
                large += [path] if size > MOST_BYTES else []
        browser.close()
    if large:
        print(f"larger than {MOST_BYTES:,} bytes: {', '.join(map(str, large))}", file=sys.stderr)
    return 1 if large else 0


def take_every(runs_dir: Path, out: Path) -> int:
    """Every kind of page in every window and scheme; 1 if something is wrong with one."""
    problems: list[str] = []
    addresses = every_page(runs_dir)
    with served(runs_dir) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        for window in WINDOWS:
            for scheme in SCHEMES:
                # The policy of the pages would refuse the script of axe-core.
                context = browser.new_context(viewport=window, color_scheme=scheme, bypass_csp=True)
                tab = context.new_page()
                for name, address in addresses.items():
                    tab.goto(url + address, wait_until="networkidle")
                    title = f"{name}-{window['width']}-{scheme}"
                    tab.screenshot(path=out / f"{title}.png")
                    for problem in check(tab):
                        print(f"{title}: {problem}", flush=True)
                        problems.append(title)
                context.close()
        browser.close()
    print(f"{len(problems)} problems of {4 * len(addresses)} pages")
    return 1 if problems else 0


def check(tab: Page) -> Iterator[str]:
    """What axe-core finds with everything unfolded, and whether the page fits into its window."""
    wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        yield f"{wide} pixels too wide"
    tab.evaluate("for (const item of document.querySelectorAll('details')) item.open = true")
    tab.evaluate(AXE)
    results = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    for item in results["violations"]:
        for node in item["nodes"][:3]:
            yield f"{item['id']} {node['html'][:120]}"


@contextmanager
def served(runs_dir: Path) -> Iterator[str]:
    words = [sys.executable, "-m", "assay.cli.main", "view", str(runs_dir), "--port", "0"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()


if __name__ == "__main__":
    sys.exit(main())

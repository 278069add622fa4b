"""Pictures of the viewer's main pages, light and dark, for the documentation.

    python -m tools.screenshots [--out docs/images] [--runs FOLDER]

Runs the `rules` agent on the demonstration tasks of townsquare three times, with one knob changed
each time, then opens the pages in Chromium. With --runs, shows the runs that are there.
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

from playwright.sync_api import sync_playwright

import assay
from assay.ledger.layout import list_runs
from assay.ledger.run import Run
from assay.ledger.summary import reward_of
from assay.resources.browser import find_chromium

TRIALS: tuple[tuple[str, Mapping[str, Any], int], ...] = (
    ("pages are cut after 4,000 characters", {"observation_chars": 4_000}, 1),
    ("long result pages can be read to their end", {}, 2),
    ("whole sentences cost points", {"bare_answer": False}, 1),
)
SIZE = {"width": 1200, "height": 720}
MOST_BYTES = 200_000
Scheme = Literal["light", "dark"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    parser.add_argument("--runs", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.runs is not None:
        return take(given.runs, given.out)
    with tempfile.TemporaryDirectory() as folder:
        runs_dir = Path(folder) / "runs"
        for focus, settings, repeats in TRIALS:
            run = assay.run(
                "townsquare",
                agent="rules",
                tasks="demo",
                settings={**settings, "environment.screenshots": True},
                repeats=repeats,
                focus=focus,
                runs_dir=runs_dir,
            )
            print(f"{run.id}: {focus}", file=sys.stderr)
        return take(runs_dir, given.out)


def pages(runs_dir: Path) -> dict[str, str]:
    """The address of each picture."""
    first, second, third = (Run(path) for path in list_runs(runs_dir)[:3])
    lost = next(e for e in first.final() if (reward_of(e) or 0.0) < 1.0)
    step = next(s.index for s in first.steps(lost.attempt) if (s.outcome or {}).get("box"))
    between = f"base={first.id}&cand={second.id}"
    return {
        "runs": "/runs",
        "run": f"/runs/{third.id}",
        "episode": f"/runs/{first.id}/episodes/{lost.attempt}?step={step}",
        "compare": f"/compare?{between}",
        "pair": f"/compare/pair?{between}&task={lost.task.id}",
        "reward": "/rewards/assistantbench_reward?c.answer=850000&do=probe",
    }


def take(runs_dir: Path, out: Path) -> int:
    large = []
    addresses = pages(runs_dir)
    with served(runs_dir) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium())
        schemes: tuple[Scheme, ...] = ("light", "dark")
        for scheme in schemes:
            tab = browser.new_page(
                viewport={"width": SIZE["width"], "height": SIZE["height"]}, color_scheme=scheme
            )
            for name, address in addresses.items():
                tab.goto(url + address)
                if name == "episode":
                    tab.locator("#ribbon-title").evaluate(
                        "title => window.scrollTo(0, title.offsetTop - 60)"
                    )
                path = out / f"viewer-{name}-{scheme}.png"
                tab.screenshot(path=path)
                size = path.stat().st_size
                print(f"{path}  {size:,} bytes")
                large += [path] if size > MOST_BYTES else []
        browser.close()
    if large:
        print(f"larger than {MOST_BYTES:,} bytes: {', '.join(map(str, large))}", file=sys.stderr)
    return 1 if large else 0


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

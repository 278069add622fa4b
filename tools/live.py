"""Drive real Chromium through the paths that the step scorer is about, and check what it says.

    python -m tools.live            checks, prints, and writes what it saw into docs/steps.md
    python -m tools.live --check    the same without writing
    python -m tools.live --paths    only the paths, without the labelled steps of tools/agreement.py

Exits with 1 when a step is classified otherwise than expected, or its reasons do not name the
evidence that the page gave.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.browser.chromium.shared import close_shared_browsers
from assay.browser.drive.environment import BrowserEnvironment
from assay.browser.step_records import StepLog, rescore
from assay.browser.steps import contract_from_toml
from assay.ledger.steps import StepsWriter, read_steps
from assay.schema.observation import Observation
from assay.schema.step_score import StepScore
from assay.schema.task import Task
from tests.browser.site import Site, serve
from tools.agreement import judge_sets, report

PAGE = Path(__file__).resolve().parents[1] / "docs" / "steps.md"
TRANSCRIPT = "<!-- live transcript: make live -->\n```text\n", "```\n<!-- end of transcript -->"
AGREEMENT = "<!-- agreement: make live -->\n", "<!-- end of agreement -->"


@dataclass(frozen=True, slots=True)
class Turn:
    """One action, and what must be said of it."""

    action: str
    """`click Save` is a click on the element with that name in the latest look."""
    expected: str
    """The classification."""
    because: tuple[str, ...]
    """Reasons that must be among those given."""
    old_ref: bool = False
    """Use the number that the element had in the first look."""
    redrawn: bool = False
    """The page replaces its elements after the agent looked and before it acts."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk from one start page."""

    title: str
    start: str
    turns: tuple[Turn, ...]
    contract: str = ""
    gates: str = "unknown"
    approved: tuple[str, ...] = ()


PATHS = (
    Walk(
        "positive: a click changes the page",
        "/recovery/progress-positive",
        (Turn("click Add the lamp", "progress", ("url_changed", "text_changed")),),
    ),
    Walk(
        "negative: looking again and again, and a click that does nothing",
        "/recovery/no-progress",
        (
            Turn("noop()", "no_progress", ("unchanged",)),
            Turn("noop()", "repeat", ("repeated_call", "unchanged")),
            Turn("noop()", "repeat", ("repeated_call", "unchanged")),
            Turn("click Nothing happens", "no_progress", ("unchanged",)),
        ),
    ),
    Walk(
        "negative: a blocking page, a login, and a page that only talks about such things",
        "/",
        (
            Turn('goto("{base}/recovery/blocking-page")', "blocked", ("block_access_denied",)),
            Turn('goto("{base}/account")', "blocked", ("block_auth_redirect",)),
            Turn('goto("{base}/captcha")', "blocked", ("block_captcha",)),
            Turn('goto("{base}/deceptive")', "recovered", ("way_found", "text_changed")),
        ),
    ),
    Walk(
        "negative: two pages in turn",
        "/cycle/a",
        (
            Turn("click To B", "progress", ("url_changed",)),
            Turn("click To A", "repeat", ("revisited",)),
            Turn("click To B", "repeat", ("revisited", "repeated_call")),
            Turn("click To A", "repeat", ("revisited", "repeated_call")),
        ),
    ),
    Walk(
        "contract: passed, which no heuristic reaches",
        "/shop",
        (
            Turn("fill Note", "progress", ("text_changed",)),
            Turn("click Buy now", "contract_pass", ("contract_pass",)),
        ),
        contract="""id = "bought"
        all = [{ url = { suffix = "/shop/thanks" } },
               { network = { method = "POST", url = { contains = "/shop/buy" }, status = [303] } },
               { dom_text = { selector = "#order", contains = "Order" } }]""",
        gates="required",
        approved=("Buy now",),
    ),
    Walk(
        "gate: the same purchase, which nobody approved",
        "/shop",
        (Turn("click Buy now", "destructive_ungated", ("gate_missing",)),),
        gates="required",
    ),
    Walk(
        "recovery: the page redraws itself, a reference is stale, and is stale again",
        "/redrawn",
        (
            Turn("click Save", "failure", ("error_stale_ref",), redrawn=True),
            Turn("click Save", "failure", ("error_stale_ref", "repeated_failure"), old_ref=True),
        ),
    ),
    Walk(
        "recovery: the same, then a fresh look instead, and the same target by its new number",
        "/redrawn",
        (
            Turn("click Save", "failure", ("error_stale_ref",), redrawn=True),
            Turn("noop()", "progress", ("fresh_refs", "failure_pending")),
            Turn("click Save", "recovered", ("recovered", "text_changed")),
        ),
    ),
)


def number_of(name: str, seen: Observation) -> str:
    found = re.search(rf'\[(\d+)\] \w+ "{re.escape(name)}"', seen.text)
    return found[1] if found else "0"


def action_of(turn: Turn, seen: Observation, base: str) -> str:
    """The action as the world is told it."""
    verb, _, name = turn.action.partition(" ")
    if verb == "click":
        return f'click("{number_of(name, seen)}")'
    if verb == "fill":
        return f'fill("{number_of(name, seen)}", "please wrap it")'
    return turn.action.replace("{base}", base)


def misses(turn: Turn, score: StepScore | None) -> list[str]:
    """What is wrong with the score, if anything is."""
    if score is None:
        return ["the step has no score"]
    wrong = []
    if score.classification != turn.expected:
        wrong.append(f"is {score.classification}, and should be {turn.expected}")
    given = {reason.code for reason in score.reasons}
    wrong += [f"does not say {code}" for code in turn.because if code not in given]
    return wrong


def line_of(turn: Turn, score: StepScore) -> str:
    """One line of the transcript, the same on every machine."""
    shown = turn.action.replace("{base}", "")
    shown += " (old number)" if turn.old_ref or turn.redrawn else ""
    codes = ", ".join(r.code + (f" {r.n}" if r.n else "") for r in score.reasons)
    return f"  {shown:<31} {score.score:+.3f} {score.classification:<19} {codes}"


async def walk(path: Walk, site: Site, trace: Path, tell: Callable[[str], None]) -> list[str]:
    """Go along a path; the misses on it."""
    contract = contract_from_toml(path.contract) if path.contract else None
    settings: dict[str, Any] = {"gates": path.gates, "selectors": ["#order"]}
    base = site.base
    world = BrowserEnvironment(start_url=base + path.start, **settings)
    scoring = StepLog(contract)
    wrong: list[str] = []
    tell(f"{path.title} ({path.start})")
    with StepsWriter(trace) as steps:
        seen = first = await world.reset(Task(id="live", metadata={"approved": path.approved}))
        steps.write(scoring.record("", seen))
        for turn in path.turns:
            if turn.redrawn:
                site.redraw()
            action = action_of(turn, first if turn.old_ref else seen, base)
            seen = await world.step(action)
            steps.write(scoring.record(action, seen))
            score = scoring.score
            wrong += [f"{path.start}: {action}: {miss}" for miss in misses(turn, score)]
            if score is not None:
                tell(line_of(turn, score))
    await world.close()
    again = list(rescore(read_steps(trace)))
    if any(row.differs for row in again) or len(again) != len(path.turns) + 1:
        wrong.append(f"{path.start}: the record does not give the same scores again")
    return wrong


async def go() -> tuple[str, list[str]]:
    """The transcript of all paths, and what was missed."""
    lines: list[str] = []
    wrong: list[str] = []
    with serve() as site, tempfile.TemporaryDirectory() as folder:
        for n, path in enumerate(PATHS):
            wrong += await walk(path, site, Path(folder) / f"{n}.jsonl", lines.append)
    return "\n".join(lines) + "\n", wrong


def write(marks: tuple[str, str], content: str) -> None:
    """Put the content between the marks in the page for users."""
    text = PAGE.read_text()
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for {marks[0]!r}")
    PAGE.write_text(before + begin + content + end + after)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="do not write docs/steps.md")
    parser.add_argument("--paths", action="store_true", help="leave the labelled steps out")
    options = parser.parse_args()
    transcript, wrong = await go()
    await close_shared_browsers()
    print(transcript, end="")
    for miss in wrong:
        print(f"missed: {miss}", file=sys.stderr)
    if not options.check and not wrong:
        write(TRANSCRIPT, transcript)
    if not options.paths:
        verdicts = await judge_sets()
        table = report(verdicts)
        print(table, end="")
        if not options.check:
            write(AGREEMENT, table)
    print(f"{sum(len(path.turns) for path in PATHS)} steps, {len(wrong)} misses", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

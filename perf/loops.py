"""`status(history)` beside browser-use's own loop detector, on trajectories with known loops.

    python perf/loops.py --peer-python PATH --each 200

PATH is the Python of an environment with browser-use (requirements/peer-browseruse.txt); its
`ActionLoopDetector` gets the same actions and pages. Each family is drawn `--each` times: those of
the first kind end in a loop that begins at a known step, those of the second never do. Printed are
how many loops each detector notices, after how many steps of them, and how often it raises a false
alarm, with 95 % intervals; and how far the two agree.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from assay.audit.findings import rate_of
from assay.browser import call_signature, page_evidence
from assay.browser.steps import (
    Effect,
    RecoveryRewardScorer,
    StepHistory,
    StepInput,
    ToolOutcome,
    status,
)
from assay.schema.evidence import PageEvidence

LOOP_STEPS = 24
"""How long a loop goes on; a detector that has not noticed it by then has missed it."""
READS = ("wait", "scroll")
PEER = """
import json, sys
from browser_use.agent.views import ActionLoopDetector
for line in sys.stdin:
    detector, alarms = ActionLoopDetector(), []
    for move in json.loads(line):
        detector.record_page_state(*move["before"])
        alarms.append(detector.get_nudge_message() is not None)
        detector.record_action(move["tool"], move["params"])
    detector.record_page_state(*move["after"])
    alarms.append(detector.get_nudge_message() is not None)
    print(json.dumps(alarms[1:]), flush=True)
"""


@dataclass(frozen=True)
class Page:
    """What a page shows: `ticker` is a part that changes by itself."""

    url: str
    text: str
    elements: int = 20
    ticker: str = ""

    def for_peer(self) -> list[Any]:
        return [self.url, f"{self.text} {self.ticker}", self.elements]

    def evidence(self) -> PageEvidence:
        # What changes by itself is left out, as a watch leaves it out once it has seen it do so.
        return page_evidence(url=self.url, text=self.text, refs=[("link", str(self.elements))])


@dataclass(frozen=True)
class Move:
    """One action, and the pages before and after it."""

    tool: str
    params: dict[str, Any]
    before: Page
    after: Page
    failed: bool = False

    def for_peer(self) -> dict[str, Any]:
        pages = {"before": self.before.for_peer(), "after": self.after.for_peer()}
        return {"tool": self.tool, "params": self.params, **pages}


@dataclass
class Trip:
    """A trajectory that is being made."""

    rng: random.Random
    moves: list[Move] = field(default_factory=list)
    begins: int | None = None
    """The first move of the loop, counted from 0; `None` for a trajectory without one."""
    page: Page = field(default_factory=lambda: Page("http://site.test/", "start"))
    pages: int = 0

    def fresh_page(self) -> Page:
        self.pages += 1
        number = self.rng.randrange(10**9)
        return Page(f"http://site.test/{self.pages}", f"page {number}", self.rng.randrange(5, 80))

    def go(self, tool: str, params: dict[str, Any], to: Page, *, failed: bool = False) -> None:
        self.moves.append(Move(tool, params, self.page, to, failed))
        self.page = to

    def wander(self, steps: int) -> None:
        """So many steps, each to a page that was never seen."""
        for _ in range(steps):
            self.go("click", {"index": self.rng.randrange(1, 900)}, self.fresh_page())

    def begin(self) -> None:
        self.wander(self.rng.randrange(2, 9))
        self.begins = len(self.moves)


def dead_button(trip: Trip) -> None:
    trip.begin()
    for _ in range(LOOP_STEPS):
        trip.go("click", {"index": 7}, trip.page)


def dead_button_beside_a_clock(trip: Trip) -> None:
    trip.begin()
    for second in range(LOOP_STEPS):
        page = trip.page
        trip.go("click", {"index": 7}, Page(page.url, page.text, page.elements, f"{second} s ago"))


def failing_retry(trip: Trip) -> None:
    trip.begin()
    for _ in range(LOOP_STEPS):
        trip.go("click", {"index": 7}, trip.page, failed=True)


def dead_elements(trip: Trip) -> None:
    trip.begin()
    for number in range(LOOP_STEPS):
        trip.go("click", {"index": 10 + number}, trip.page)


def cycle(trip: Trip) -> None:
    """Two to five pages in turn."""
    trip.begin()
    ring = [trip.page, *(trip.fresh_page() for _ in range(trip.rng.randrange(1, 5)))]
    for step in range(LOOP_STEPS):
        to = ring[(step + 1) % len(ring)]
        trip.go("navigate", {"url": to.url}, to)


def to_and_fro(trip: Trip) -> None:
    trip.begin()
    here, there = trip.page, trip.fresh_page()
    for step in range(LOOP_STEPS):
        if step % 2:
            trip.go("go_back", {}, here)
        else:
            trip.go("click", {"index": 3}, there)


def walk(trip: Trip) -> None:
    trip.wander(trip.rng.randrange(8, 25))


def next_pages(trip: Trip) -> None:
    """The same button on one page of results after the other."""
    trip.wander(2)
    for _ in range(trip.rng.randrange(6, 16)):
        trip.go("click", {"index": 42}, trip.fresh_page())


def long_form(trip: Trip) -> None:
    trip.wander(2)
    for number in range(trip.rng.randrange(6, 12)):
        page = trip.page
        params = {"index": number, "text": f"value {number}"}
        trip.go("input", params, Page(page.url, f"{page.text} value {number}", page.elements))


def long_page(trip: Trip) -> None:
    """Scrolling, with something new in view each time."""
    trip.wander(2)
    for number in range(trip.rng.randrange(5, 10)):
        page = trip.page
        trip.go("scroll", {"down": True}, Page(page.url, f"{page.text} {number}", page.elements))


def slow_page(trip: Trip) -> None:
    """Waiting two to six times before anything comes."""
    trip.wander(3)
    for _ in range(trip.rng.randrange(2, 7)):
        trip.go("wait", {"seconds": 3}, trip.page)
    trip.wander(3)


def list_of_items(trip: Trip) -> None:
    """One item after the other, and back to the list in between."""
    trip.wander(2)
    hub = trip.page
    for number in range(trip.rng.randrange(5, 10)):
        trip.go("click", {"index": 100 + number}, trip.fresh_page())
        trip.go("go_back", {}, hub)


Family = Callable[[Trip], None]
LOOPS: tuple[Family, ...] = (
    dead_button,
    dead_button_beside_a_clock,
    failing_retry,
    dead_elements,
    to_and_fro,
    cycle,
)
OTHERS: tuple[Family, ...] = (walk, next_pages, long_form, long_page, slow_page, list_of_items)


def our_alarms(moves: Sequence[Move]) -> Iterator[bool]:
    """Whether the agent counts as stuck after each move."""
    scorer, history = RecoveryRewardScorer(), StepHistory()
    for move in moves:
        before, after = move.before.evidence(), move.after.evidence()
        outcome = ToolOutcome(
            move.tool,
            call_signature(move.tool, move.params),
            effect=Effect.READ if move.tool in READS else Effect.BROWSER,
            gate="not_required",
            ok=not move.failed,
            error="not_interactive" if move.failed else None,
            info=None if move.failed else after.text,
        )
        history, _ = scorer.advance(history, StepInput(outcome, before, after))
        yield status(history).state == "stuck"


@dataclass(frozen=True)
class Verdict:
    """When a detector first raised an alarm; `None` for never."""

    alarm: int | None

    @staticmethod
    def of(alarms: Sequence[bool]) -> Verdict:
        return Verdict(next((at for at, alarm in enumerate(alarms) if alarm), None))

    def delay(self, begins: int) -> int | None:
        """Steps of the loop before the alarm; `None` if it was missed, or not what was meant."""
        return None if self.alarm is None or self.alarm < begins else self.alarm - begins + 1


def share(count: int, total: int) -> str:
    rate = rate_of("", count, total)
    return f"{100 * count / total:5.1f} % [{100 * rate.low:4.1f}, {100 * rate.high:5.1f}]"


def interval(values: Sequence[float], rng: random.Random) -> tuple[float, float]:
    """The 95 % interval of the mean, by resampling."""
    means = sorted(mean(rng.choices(values, k=len(values))) for _ in range(1_000))
    return means[25], means[974]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    trips: list[tuple[str, Trip]] = []
    for family in (*LOOPS, *OTHERS):
        for _ in range(options.each):
            trip = Trip(rng)
            family(trip)
            trips.append((family.__name__, trip))
    lines = "".join(
        json.dumps([move.for_peer() for move in trip.moves]) + "\n" for _, trip in trips
    )
    peer = subprocess.run(
        [options.peer_python, "-c", PEER], input=lines, capture_output=True, text=True, check=True
    )
    theirs = [Verdict.of(json.loads(line)) for line in peer.stdout.splitlines()]
    ours = [Verdict.of(list(our_alarms(trip.moves))) for _, trip in trips]
    report(trips, ours, theirs, rng)
    return 0


def report(
    trips: Sequence[tuple[str, Trip]],
    ours: Sequence[Verdict],
    theirs: Sequence[Verdict],
    rng: random.Random,
) -> None:
    """Print the tables."""
    print("loops noticed, and after how many steps of them (mean)")
    for family in LOOPS:
        rows = [at for at, (name, _) in enumerate(trips) if name == family.__name__]
        print(f"  {family.__name__:28}", *(_noticed(trips, each, rows) for each in (ours, theirs)))
    print("false alarms, of trajectories without a loop")
    for family in OTHERS:
        rows = [at for at, (name, _) in enumerate(trips) if name == family.__name__]
        alarms = [sum(each[at].alarm is not None for at in rows) for each in (ours, theirs)]
        print(f"  {family.__name__:28}", *(share(count, len(rows)) for count in alarms))
    looping = [at for at, (_, trip) in enumerate(trips) if trip.begins is not None]
    straight = [at for at, (_, trip) in enumerate(trips) if trip.begins is None]
    print("in all")
    print(
        "  noticed                     ",
        *(_noticed(trips, each, looping) for each in (ours, theirs)),
    )
    alarms = [sum(each[at].alarm is not None for at in straight) for each in (ours, theirs)]
    print("  false alarms                ", *(share(count, len(straight)) for count in alarms))
    pairs = [(_delay(trips, ours, at), _delay(trips, theirs, at)) for at in looping]
    sooner = [float(b - a) for a, b in pairs if a is not None and b is not None]
    low, high = interval(sooner, rng)
    print(f"  sooner than browser-use by {mean(sooner):.2f} steps [{low:.2f}, {high:.2f}]")
    same = sum((a.alarm is None) == (b.alarm is None) for a, b in zip(ours, theirs, strict=True))
    print(f"  the two agree on {share(same, len(trips))} of the trajectories")


def _delay(trips: Sequence[tuple[str, Trip]], verdicts: Sequence[Verdict], at: int) -> int | None:
    begins = trips[at][1].begins
    return None if begins is None else verdicts[at].delay(begins)


def _noticed(
    trips: Sequence[tuple[str, Trip]], verdicts: Sequence[Verdict], rows: Sequence[int]
) -> str:
    delays = [delay for at in rows if (delay := _delay(trips, verdicts, at)) is not None]
    after = f"{mean(delays):5.2f}" if delays else "    -"
    return f"{share(len(delays), len(rows))} after {after}"


if __name__ == "__main__":
    sys.exit(main())

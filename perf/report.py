"""How often a comparison cries wolf, what it can find, and how long reports take.

    python perf/report.py [--simulations 1500] [--attempts 10000]

The agent is simulated: half of the tasks are hopeless, 15 % reliable, 35 % flaky. An A/A pair runs
it twice without a change; the power is for an agent that passes each flaky task with 0.30 more.
Exits with 1 when a bound does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.ledger.passes import PERFECT
from assay.ledger.writer import RunWriter
from assay.report.attempts import ScoredAttempt
from assay.report.comparison import compare
from assay.report.diagnosis import diagnose
from assay.report.statistics import ALPHA, McNemarTest, bootstrap_mean, mcnemar, sign_flip
from assay.report.task_changes import DROP_ALPHA, PairedTask, steady_drops, task_drops
from assay.schema.episode import Episode, Step, Trajectory
from assay.schema.evidence import PageEvidence
from assay.schema.manifest import RunManifest
from assay.schema.message import Message
from assay.schema.task import Task
from assay.scoring.scorer import Scorer

SIZES = (3, 10, 33, 100)
NAIVE = 0.05
COMPARE_S = 2.0
DIAGNOSE_S = 20.0
Floats = npt.NDArray[np.float64]


def agent(n: int, dice: np.random.Generator) -> Floats:
    """The chance of each task to pass."""
    kinds = dice.choice(3, size=n, p=[0.5, 0.15, 0.35])
    flaky = dice.uniform(0.2, 0.8, size=n)
    return np.where(kinds == 0, 0.0, np.where(kinds == 1, 1.0, flaky))


def improved(chances: Floats) -> Floats:
    flaky = (chances > 0) & (chances < 1)
    return np.where(flaky, np.minimum(chances + 0.3, 1.0), chances)


def broken(chances: Floats) -> Floats:
    """The same agent, which no longer passes up to three of the tasks that it was sure of."""
    sure = np.flatnonzero(chances == 1)[:3]
    worse = chances.copy()
    worse[sure] = 0.0
    return worse


def run(chances: Floats, repeats: int, dice: np.random.Generator, *, partial: bool) -> Floats:
    """The rewards of one run, a row for each task; with `partial`, what fails may earn some."""
    passes = dice.random((chances.size, repeats)) < chances[:, None]
    credit = dice.choice([0.0, 0.0, 0.3, 0.6, 0.9], size=passes.shape) if partial else 0.0
    return np.where(passes, 1.0, np.where(chances[:, None] > 0, credit, 0.0))


@dataclass(frozen=True, slots=True)
class Rates:
    """How often each rule calls a difference."""

    naive: float
    bootstrap: float
    verdict: float
    """A difference by the verdict: of the mean, or of the tasks that pass."""
    regression: float
    """The gate `regression`: a significant drop of mean or passes, or tasks lower each time."""
    task_drop: float
    """The gate `task-drop`: tasks that fell far outnumber those that rose as far."""


Change: TypeAlias = Callable[[Floats], Floats] | None


def rates(
    n: int, repeats: int, simulations: int, *, change: Change, partial: bool = False
) -> Rates:
    dice = np.random.default_rng([n, repeats, change is not None])
    calls = np.zeros(5)
    for _ in range(simulations):
        chances = agent(n, dice)
        before = run(chances, repeats, dice, partial=partial)
        after = run(change(chances) if change else chances, repeats, dice, partial=partial)
        moved = (after.mean(axis=1) - before.mean(axis=1)).tolist()
        mean = float(np.mean(moved))
        p = sign_flip(moved).p
        interval = bootstrap_mean(moved)
        pairs = _pairs(before, after)
        drops = steady_drops(pairs) if repeats >= 3 else ()
        passes = _passes(before, after)
        calls += [
            abs(mean) > NAIVE,
            interval is not None and not interval.low <= 0.0 <= interval.high,
            p <= ALPHA or passes.p <= ALPHA,
            (p <= ALPHA and mean < 0)
            or (passes.p <= ALPHA and passes.lost > passes.gained)
            or bool(drops),
            task_drops(pairs).alarm,
        ]
    return Rates(*(calls / simulations).tolist())


def _passes(before: Floats, after: Floats) -> McNemarTest:
    was, now = before.mean(axis=1) >= PERFECT, after.mean(axis=1) >= PERFECT
    return mcnemar(gained=int(np.sum(now & ~was)), lost=int(np.sum(was & ~now)))


def _pairs(before: Floats, after: Floats) -> list[PairedTask]:
    def side(rewards: Floats, task: int) -> tuple[ScoredAttempt, ...]:
        return tuple(
            ScoredAttempt("", str(task), i, "answered", float(reward), "", "", "", 1, None, 0.0)
            for i, reward in enumerate(rewards[task])
        )

    return [PairedTask(str(i), side(before, i), side(after, i)) for i in range(len(before))]


def show_rates(simulations: int) -> bool:
    """The tables of false alarms and of power; whether the false alarms are within the bound."""
    fine = True
    print(f"called a difference, of {simulations} simulated pairs")
    heads = ("|mean| > 0.05", "bootstrap", "verdict", "regression", "task-drop")
    print(f"{'':32}" + "".join(f"{head:>14}" for head in heads))
    kinds: list[tuple[Change, bool, str]] = [
        (None, False, "A/A"),
        (None, True, "A/A, partial credit"),
        (improved, False, "+0.30 on flaky tasks"),
        (broken, False, "3 sure tasks fail"),
    ]
    for change, partial, title in kinds:
        for n, repeats in (*((n, 1) for n in SIZES), (33, 3), (100, 3), (33, 5)):
            row = rates(n, repeats, simulations, change=change, partial=partial)
            shares = (row.naive, row.bootstrap, row.verdict, row.regression, row.task_drop)
            print(f"{title:24}{n:4} x{repeats} " + "".join(f"{share:14.1%}" for share in shares))
            if change is None:
                fine &= row.verdict <= _bound(2 * ALPHA if partial else ALPHA, simulations)
                fine &= row.regression <= _bound(ALPHA, simulations)
                fine &= row.task_drop <= _bound(DROP_ALPHA, simulations)
    return fine


def _bound(rate: float, simulations: int) -> float:
    """The rate, and what chance adds to it in so many simulations (three standard errors)."""
    return float(rate + 3 * np.sqrt(rate * (1 - rate) / simulations))


ANSWERS = ("The answer is {}, according to the site", "{}", "unknown", "${}", "41", "Ada Finch")


def write_run(folder: Path, run_id: str, attempts: int, *, shift: int) -> Path:
    """A run with so many attempts of six steps, most of them below full reward."""
    scorer = Scorer("assistantbench_reward")
    manifest = RunManifest(
        run_id=run_id, benchmark="made", agent="made", rewards=(scorer.spec.id,), n_tasks=attempts
    )
    with RunWriter.create(folder, manifest) as writer:
        page = writer.artifact("url: http://a/\ntitle: A page\n\n" + "What the page says. " * 100)
        waiting = []
        for i in range(attempts):
            task = Task(id=f"task.{i}", goal="How much?", answer=str(1000 + i))
            answer = ANSWERS[(i + shift) % len(ANSWERS)].format(1000 + i)
            columns = {"final_response": answer, "answer": task.answer}
            waiting.append(
                writer.submit(
                    Episode(
                        attempt=writer.new_attempt(task),
                        task=task,
                        trajectory=_trajectory(page),
                        final_response=answer,
                        scores=(scorer(columns),),
                    )
                )
            )
        for future in waiting:
            future.result()
    return writer.path


def _trajectory(page: str) -> Trajectory:
    steps = tuple(
        Step(
            index=i,
            action=f'click("{i}")' if i else "",
            observation=page,
            observation_chars=2000,
            evidence=PageEvidence(url=f"d1:{i}", text=f"d1:{i}", refs="d1:r"),
            outcome={"tool": "click", "ok": True, "error": None, "block": None},
            think="It leads on.",
        )
        for i in range(7)
    )
    told = tuple(Message(role="user", content=f"Page:\nurl: http://a/{i}") for i in range(7))
    return Trajectory(messages=told, steps=steps)


def show_speed(attempts: int) -> bool:
    """How long reports of large runs take; whether they are within their bounds."""
    with tempfile.TemporaryDirectory() as scratch:
        base = write_run(Path(scratch), "base", attempts, shift=0)
        cand = write_run(Path(scratch), "cand", attempts, shift=1)
        compared = _seconds(lambda: compare(base, cand))
        diagnosed = _seconds(lambda: diagnose(base))
    print(f"compare two runs of {attempts:,} attempts: {compared:.2f} s (bound {COMPARE_S:g} s)")
    print(f"diagnose {attempts:,} attempts: {diagnosed:.2f} s (bound {DIAGNOSE_S:g} s)")
    return compared < COMPARE_S and diagnosed < DIAGNOSE_S


def _seconds(work: Callable[[], object]) -> float:
    """CPU time of this process: the machine may be busy with something else."""
    begun, wall = time.process_time(), time.perf_counter()
    work()
    spent = time.process_time() - begun
    print(f"  ({time.perf_counter() - wall:.2f} s on the wall)")
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=1_500)
    parser.add_argument("--attempts", type=int, default=10_000)
    options = parser.parse_args()
    fast = show_speed(options.attempts)
    honest = show_rates(options.simulations)
    return 0 if fast and honest else 1


if __name__ == "__main__":
    sys.exit(main())

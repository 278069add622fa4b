"""Seconds of reward for each training step, inside TRL and behind verl's reward manager.

    python perf/training_rewards.py --trl-python PYTHON --verl-python PYTHON --packages FOLDER
        [--data DIR] [--rounds 6] [--seed 0] [--limit-s 140]

A step scores 256 completions in groups of eight. In every round each grader gets the same batch
three times: plain; mixed, with one reference in twenty that cannot be read and eight slow rows; and
with one pathological answer in it. Their order changes from round to round, and all run in one
process. TRL's steps are whole ones of its GRPOTrainer, without generation: what a slow reward does
to a real step is less. verl's are reward stages of 64 samples at a time, its own function and the
reward server's. Math-Verify is called as each trainer ships it: by TRL's `accuracy_reward`, and by
verl's `math_verify`, which has four processes of its own; `--packages` is a folder with Math-Verify
for verl. Medians over the rounds; a ratio is of the same round, with the pathological row and
without. Exit code 1 when that row makes a whole step of TRL with a reward of ours longer by more
than a twentieth.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Timer
from typing import Any, TypeAlias

# A script has its own folder on the path, not the one above it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from perf.server import served

ROOT = Path(__file__).resolve().parents[1]
MOST_OF_A_STEP = 1.05
BATCHES = ("plain", "mixed", "hostile")
Record: TypeAlias = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trl-python", help="a Python with TRL and Math-Verify")
    parser.add_argument("--verl-python", help="a Python with verl")
    parser.add_argument("--packages", default="", help="a folder with Math-Verify, for verl")
    parser.add_argument("--data", default=str(ROOT / "tests/data/math"))
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit-s", type=float, default=140, help="for each trainer")
    options = parser.parse_args()
    arguments = [options.data, str(options.rounds), str(options.seed)]
    problems: list[str] = []
    if options.trl_python:
        records = run("trl_steps", options.trl_python, arguments, options.limit_s)
        report("TRL, a whole step", records, "step_s")
        report("TRL, its rewards alone", records, "reward_s")
        report("TRL, its rewards alone, of processor time", records, "reward_cpu_s")
        problems += too_long("TRL", records, "step_s")
    if options.verl_python:
        with served() as server:
            more = [*arguments, server.url, options.packages]
            records = run("verl_steps", options.verl_python, more, options.limit_s)
        report("verl, the reward stage", records, "reward_s")
        report("verl, processor time of the process that trains", records, "reward_cpu_s")
    for problem in problems:
        print(f"VIOLATION: {problem}")
    return 1 if problems else 0


def run(module: str, python: str, arguments: Sequence[str], limit_s: float) -> list[Record]:
    """What the steps of one trainer took; those after the limit are not there."""
    call = [python, "-m", f"perf.training_rows.{module}", *arguments]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    process = subprocess.Popen(
        call, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    timer = Timer(limit_s, _end, [process])
    timer.start()
    begin = time.monotonic()
    try:
        records = list(_records(process.stdout))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(30)
    finally:
        timer.cancel()
        # A grader may have left processes of its own behind.
        _end(process)
        process.wait(60)
    spent = time.monotonic() - begin
    if spent >= limit_s:
        print(f"{module} was ended after {limit_s:g} s; the rounds before that count")
    elif process.returncode not in (0, -signal.SIGKILL):
        raise SystemExit(f"{module} ended with {process.returncode}")
    return [record for record in records if record["round"] > 0]


def _records(lines: Iterator[str]) -> Iterator[Record]:
    for line in lines:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                yield json.loads(line)


def _end(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def report(title: str, records: Sequence[Record], key: str) -> None:
    """A table of medians, and one of what each pathological answer took."""
    rounds = len({record["round"] for record in records})
    print(f"\n{title}: median seconds of {rounds} rounds of 256 completions\n")
    print(
        "| grader | plain | mixed | one pathological row | ratio to plain |\n|---|---|---|---|---|"
    )
    for grader in _graders(records):
        cells = [median(_values(records, grader, batch, key)) for batch in BATCHES]
        numbers = " | ".join(f"{cell:.3f}" for cell in cells)
        ratio = median(ratios(records, grader, key))
        print(f"| {grader} | {numbers} | {ratio:.3f} |", flush=True)
    names = list(dict.fromkeys(record["hostile"] for record in records if record["hostile"]))
    print(f"\n| pathological row, seconds | {' | '.join(names)} |\n|---{'|---' * len(names)}|")
    for grader in _graders(records):
        times = [_median_of(records, grader, name, key) for name in names]
        print(f"| {grader} | {' | '.join(times)} |", flush=True)


def _median_of(records: Sequence[Record], grader: str, hostile: str, key: str) -> str:
    values = [
        record[key]
        for record in records
        if record["grader"] == grader and record["hostile"] == hostile
    ]
    return f"{median(values):.3f}" if values else "-"


def ratios(records: Sequence[Record], grader: str, key: str) -> list[float]:
    """Of each round: with the pathological row, divided by without."""
    by_place = {
        (record["round"], record["batch"]): record[key]
        for record in records
        if record["grader"] == grader
    }
    rounds = sorted({number for number, _ in by_place})
    return [
        by_place[number, "hostile"] / by_place[number, "plain"]
        for number in rounds
        if {(number, "hostile"), (number, "plain")} <= by_place.keys()
    ]


def too_long(trainer: str, records: Sequence[Record], key: str) -> list[str]:
    """What the pathological row does to steps of ours, where it is too much."""
    problems = []
    for grader in _graders(records):
        ratio = median(ratios(records, grader, key))
        if grader.startswith("assay") and not ratio <= MOST_OF_A_STEP:
            problems.append(f"{trainer}, {grader}: a step takes {ratio:.3f} times as long")
    return problems


def median(values: Sequence[float]) -> float:
    """The median; NaN where no round was finished."""
    return statistics.median(values) if values else math.nan


def _graders(records: Sequence[Record]) -> list[str]:
    return sorted({record["grader"] for record in records})


def _values(records: Sequence[Record], grader: str, batch: str, key: str) -> list[float]:
    return [
        record[key] for record in records if record["grader"] == grader and record["batch"] == batch
    ]


if __name__ == "__main__":
    sys.exit(main())

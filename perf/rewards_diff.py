"""Two maths graders over stored rollouts: time beside scoring both, memory, workers, a regression.

    python perf/rewards_diff.py [--rows 1000000] [--workers 1] [--peer-python PATH]

Groups of eight rollouts. The new grader is the old one with a regression planted in 50 rows, and
with leniency that pays 2 in 1,000 rows more; the difference has to show the 50 first. Time is that
of the processor, and the clock is printed beside it: on a busy machine it says little. With
`--peer-python` the reward is also set against Math-Verify in that interpreter, on a thousandth of
the rows. Exit code 1 if a promise is broken: 1.3 times the time of scoring both, memory that does
not grow with the rows, and the same result from twice the workers.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from assay.scoring.files.rows import SHARD_BYTES

ROOT = Path(__file__).parents[1]
PLANTED = 50
MOST_TIME = 1.3
MOST_GROWTH = 1.25
GRADER = '''
from assay.rewards.outcome.maths.reward import math_equal_reward
from assay.schema.score import Scored


def grade(final_response, answer):
    """The reward with a regression and with some leniency."""
    score = math_equal_reward(final_response, answer)
    if "\\\\dfrac" in final_response:
        return Scored(0.0, "no fraction is read", {"acc": 0.0})
    if "roughly" in final_response:
        return Scored(1.0, "near enough", {"acc": 1.0})
    return score
'''
WORDS = "we note that the sum of both sides is so and hence by symmetry it follows then".split()


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a command took, with all processes that it started."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    stdout: str


def write_rows(path: Path, rows: int, seed: int = 11) -> None:
    """Rollouts of a maths task, the same for every run; the regression shows in `PLANTED`."""
    rng = random.Random(seed)
    planted = set(rng.sample(range(rows), PLANTED))
    lenient = set(rng.sample(sorted(set(range(rows)) - planted), rows // 500))
    with path.open("w") as stream:
        for index in range(rows):
            if index % 8 == 0:
                top, bottom = rng.randint(1, 99), rng.randint(2, 99)
            answer = _wrong(top, bottom) if rng.random() < 0.5 else rf"\frac{{{top}}}{{{bottom}}}"
            if index in planted:
                answer = rf"\dfrac{{{top}}}{{{bottom}}}"
            elif index in lenient:
                answer = f"{_wrong(top, bottom)} roughly"
            thought = " ".join(rng.choices(WORDS, k=rng.randint(20, 80)))
            row = {
                "id": index,
                "prompt_id": index // 8,
                "final_response": rf"{thought}: the answer is \boxed{{{answer}}}.",
                "answer": rf"\frac{{{top}}}{{{bottom}}}",
            }
            stream.write(json.dumps(row) + "\n")


def _wrong(top: int, bottom: int) -> str:
    return rf"\frac{{{top + 1}}}{{{bottom}}}"


def measure(*words: str, folder: Path) -> Measurement:
    """Run the command line, and watch its memory."""
    # Times of children are known when they have ended, so one at a time is run.
    before, started = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "assay.cli.main", *words, "--json"]
    job = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert job.stdout is not None
    process, peak = psutil.Process(job.pid), 0.0
    while job.poll() is None:
        try:
            family = [process, *process.children(recursive=True)]
            peak = max(peak, sum(member.memory_info().rss for member in family) / 1e6)
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.05)
    after = os.times()
    if job.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {job.returncode}")
    cpu = after.children_user + after.children_system - before.children_user
    return Measurement(
        time.perf_counter() - started,
        cpu - before.children_system,
        peak,
        job.stdout.read(),
    )


def record_of(measurement: Measurement) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(measurement.stdout)
    del record["elapsed_s"]
    return record


def diff(folder: Path, data: str, workers: int) -> Measurement:
    rewards = ("math_equal_reward", "grader.py:grade")
    options = ("--data", data, "--group", "prompt_id", "--workers", str(workers))
    return measure("rewards", "diff", *rewards, *options, folder=folder)


def compare_peer(folder: Path, python: str) -> None:
    peer = f"{ROOT / 'perf/audit_peers/math_verify_reward.py'}:reward"
    result = measure("rewards", "diff", peer, "math_equal_reward", "--old-python", python,
                     "--data", "few.jsonl", "--group", "prompt_id", folder=folder)  # fmt: skip
    record = record_of(result)
    changes = ", ".join(f"{count} {name}" for name, count in record["changes"].items() if count)
    print(f"Math-Verify → ours: {record['rows']:,} rows in {result.wall_s:.1f} s: {changes or 0}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--peer-python")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "grader.py").write_text(GRADER)
        write_rows(folder / "rows.jsonl", options.rows)
        write_rows(folder / "tenth.jsonl", options.rows // 10)
        both = "math_equal_reward,grader.py:grade"
        scored = measure("score", "rows.jsonl", "--reward", both, "--out", "scored.jsonl",
                         "--workers", str(options.workers), folder=folder)  # fmt: skip
        few, many = options.workers, 2 * options.workers
        one, two = diff(folder, "rows.jsonl", few), diff(folder, "rows.jsonl", many)
        tenth, tenth_of_two = (diff(folder, "tenth.jsonl", workers) for workers in (few, many))
        # A worker that has no shard does not start, and takes no memory.
        keeps_all_busy = (folder / "tenth.jsonl").stat().st_size > many * SHARD_BYTES
        if options.peer_python:
            write_rows(folder / "few.jsonl", max(PLANTED * 10, options.rows // 1000))
            compare_peer(folder, str(Path(options.peer_python).absolute()))
    record = record_of(one)
    first = record["kinds"][0]
    print(f"| {options.rows:,} rollouts, two maths graders | wall s | processor s | peak MB |")
    print("|---|---|---|---|")
    for title, each in (
        (f"scoring both, {few} workers", scored),
        (f"rewards diff, {few} workers", one),
        (f"rewards diff, {many} workers", two),
        (f"rewards diff, {few} workers, a tenth of the rows", tenth),
        (f"rewards diff, {many} workers, a tenth of the rows", tenth_of_two),
    ):
        print(f"| {title} | {each.wall_s:.1f} | {each.cpu_s:.1f} | {each.peak_mb:.0f} |")
    promises = {
        f"processor time {one.cpu_s / scored.cpu_s:.2f}x of scoring both, at most {MOST_TIME}x": (
            one.cpu_s <= MOST_TIME * scored.cpu_s
        ),
        f"memory {one.peak_mb / tenth.peak_mb:.2f}x for ten times the rows, {few} workers": (
            one.peak_mb <= MOST_GROWTH * tenth.peak_mb
        ),
        f"{few} workers and {many} say the same": record == record_of(two),
        f"{first['count']} rows of the regression are shown first": (
            (first["change"], first["count"]) == ("down", PLANTED)
            and all("dfrac" in example["response"] for example in first["examples"])
        ),
    }
    if keeps_all_busy:
        growth = two.peak_mb / tenth_of_two.peak_mb
        promises[f"memory {growth:.2f}x for ten times the rows, {many} workers"] = (
            growth <= MOST_GROWTH
        )
    else:
        print(f"\nnot compared: the memory of {many} workers; a tenth of the rows starts fewer")
    groups = record["groups"]
    print(f"\n{record['changes']}; {groups['flipped']:,} advantages turn round, "
          f"{groups['flat']:,} groups become flat")  # fmt: skip
    for promise, holds in promises.items():
        print(f"{'holds' if holds else 'BROKEN'}: {promise}")
    return 0 if all(promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

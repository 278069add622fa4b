"""Scoring a file of QA rows: memory, two workers against one, kill and resume.

python perf/batch.py [--rows 1000000] [--kills 1]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

WORDS = "the a of river city Paris London war king 1914 new york music film by and blue".split()


def write_rows(path: Path, rows: int, seed: int = 7) -> None:
    """A file of short QA answers, the same for every run."""
    dice = random.Random(seed)
    with path.open("w") as stream:
        for index in range(rows):
            answer = " ".join(dice.choices(WORDS, k=dice.randint(1, 4)))
            response = " ".join(dice.choices(WORDS, k=dice.randint(1, 12)))
            row = {"id": index, "final_response": response, "answer": answer}
            stream.write(json.dumps(row) + "\n")


def command(source: Path, out: Path, workers: int, *more: str) -> list[str]:
    call = [sys.executable, "-m", "assay.cli.main", "score", str(source)]
    return [*call, "--reward", "qa_f1_reward", "--out", str(out), "--workers", str(workers), *more]


def measure(call: list[str]) -> tuple[float, float]:
    """Wall seconds, and the highest memory of the job and its workers together, in MB."""
    started = time.perf_counter()
    job = subprocess.Popen([*call, "--json"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process = psutil.Process(job.pid)
    peak = 0.0
    while job.poll() is None:
        try:
            family = [process, *process.children(recursive=True)]
            peak = max(peak, sum(member.memory_info().rss for member in family) / 1e6)
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.05)
    if job.returncode:
        raise SystemExit(f"{' '.join(call)} ended with {job.returncode}")
    return time.perf_counter() - started, peak


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kill_and_resume(source: Path, out: Path, after_s: float) -> None:
    """Start a job, kill it with SIGKILL after a while, and finish it with --resume."""
    job = subprocess.Popen(
        command(source, out, 2, "--json", "--resume"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    if job.poll() is None:
        os.kill(job.pid, signal.SIGKILL)
    job.wait()
    if not out.exists():
        measure(command(source, out, 2, "--resume"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "rows.jsonl"
        write_rows(source, options.rows)
        small = folder / "small.jsonl"
        write_rows(small, options.rows // 10)
        _, small_mb = measure(command(small, folder / "small.out.jsonl", 2))
        one_s, one_mb = measure(command(source, folder / "one.jsonl", 1))
        two_s, two_mb = measure(command(source, folder / "two.jsonl", 2))
        same = digest(folder / "one.jsonl") == digest(folder / "two.jsonl")
        dice = random.Random(time.time_ns())
        killed = []
        for attempt in range(options.kills):
            out = folder / f"killed{attempt}.jsonl"
            after_s = dice.uniform(0.2, 0.9) * two_s
            kill_and_resume(source, out, after_s)
            killed.append((after_s, digest(out) == digest(folder / "one.jsonl")))
    print(f"| {options.rows:,} QA rows | wall s | rows/s | peak MB (all processes) |")
    print("|---|---|---|---|")
    print(f"| 1 worker | {one_s:.1f} | {options.rows / one_s:,.0f} | {one_mb:.0f} |")
    print(f"| 2 workers | {two_s:.1f} | {options.rows / two_s:,.0f} | {two_mb:.0f} |")
    print(f"| 2 workers, a tenth of the rows | | | {small_mb:.0f} |")
    print(f"\n2 workers against 1: {one_s / two_s:.2f}x; same bytes: {same}")
    for after_s, equal in killed:
        print(f"killed after {after_s:.1f} s, resumed: same bytes: {equal}")
    return 0 if same and all(equal for _, equal in killed) else 1


if __name__ == "__main__":
    sys.exit(main())

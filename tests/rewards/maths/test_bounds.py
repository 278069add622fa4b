"""Hostile answers get the same result in every kind of caller, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_hostile_and_fuzzed_answers_get_one_result_in_four_contexts() -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "perf" / "bounds.py"),
            "--data",
            str(ROOT / "tests" / "data" / "math"),
            "--count",
            "300",
            "--verdicts-only",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    contexts = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(contexts) == 4
    assert len({line.split("|")[-2].strip() for line in contexts}) == 1

"""Let each tool write its logs anew, import them, and compare counts and means with its own.

python -m tools.foreign_logs inspect_log=.venv-peers/inspect/bin/python …

Each argument is a module of this package and the interpreter that has its tool.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.ledger import Run, import_runs, summarise

WRITE_S = 900
SAME = 1e-9


def check(run: Run) -> str:
    """One line: the counts, our mean, and the tool's; raises `SystemExit` if they disagree."""
    counts = summarise(run).counts
    reported = run.manifest.config["imported"]["reported"]
    primary = run.manifest.rewards[0].partition("@")[0]
    own = next((r["value"] for r in reported if r["name"] in (primary, "avg_reward")), None)
    line = (
        f"{run.manifest.benchmark}: {counts.n} attempts, {counts.scored} scored, mean {counts.mean}"
    )
    if own is None or counts.mean is None:
        return f"{line}; the tool writes no mean"
    with_zeros = counts.mean * counts.scored / counts.n
    if min(abs(own - counts.mean), abs(own - with_zeros)) > SAME:
        raise SystemExit(f"{line}, but the tool says {own}")
    zeros = "" if abs(own - counts.mean) <= SAME else ", failures counted as 0"
    return f"{line}; the tool says {own}{zeros}"


def main(arguments: list[str]) -> None:
    for argument in arguments:
        module, _, python = argument.partition("=")
        with TemporaryDirectory() as scratch:
            folder = Path(scratch) / "logs"
            command = [python, "-m", f"tools.foreign_logs.{module}", str(folder)]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=WRITE_S, check=False
            )
            if done.returncode:
                raise SystemExit(f"{module}: {done.stderr[-2000:]}")
            for run in import_runs(folder, Path(scratch) / "runs"):
                print(f"{module}: {check(run)}")


if __name__ == "__main__":
    main(sys.argv[1:])

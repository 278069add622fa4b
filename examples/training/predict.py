"""What the audit says of each reward of the second proof, on questions of its task.

    python -m examples.training.predict

It writes `audits.json`; the predictions in `predictions.md` were read off it before any training.
"""

# ruff: noqa: T201 - a script prints
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from examples.training.rewards import PROOFS
from examples.training.tasks import TASKS, split

HERE = Path(__file__).parent
COMPOSED = ("correct_plus_format", "correct_then_format")
ROWS = 40
FINDING = ("check", "family", "severity", "title", "observed", "accepted", "cause")


def audit(target: str, rows: Path, *options: str) -> dict[str, Any]:
    """The record that `assay audit --json` prints."""
    command = [sys.executable, "-m", "assay.cli.main", "audit", target, "--data", str(rows)]
    command += ["--kind", "maths", "--json", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if not result.stdout:
        raise RuntimeError(f"no audit of {target}: {result.stderr[-500:]}")
    record: dict[str, Any] = json.loads(result.stdout)
    return record


def shorten(record: dict[str, Any]) -> dict[str, Any]:
    """The verdict, the causes and the findings, each with the answer that shows it."""
    findings = [
        {
            **{name: finding[name] for name in FINDING},
            "answer": finding["reproducer"]["expression"],
        }
        for finding in record["findings"]
    ]
    causes = [
        {name: cause[name] for name in ("name", "severity", "checks")} for cause in record["causes"]
    ]
    kept = {name: record[name] for name in ("assay", "verdict", "worst", "fooled", "probes")}
    return {**kept, "causes": causes, "findings": findings}


def main() -> int:
    questions = split(TASKS["digits"], seed=0).train[:ROWS]
    audits = {}
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "digits.jsonl"
        lines = [{"prompt": one.prompt, "answer": str(one.answer)} for one in questions]
        rows.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        for arm in PROOFS["digits"]:
            target = arm if arm == "math_equal_reward" else f"examples/training/rewards.py:{arm}"
            audits[arm] = shorten(audit(target, rows, "--no-save"))
            if arm in COMPOSED:
                audits[arm]["group"] = audit(target, rows, "--group", "--group-size", "16")
            print(audits[arm]["verdict"], flush=True)
    (HERE / "audits.json").write_text(json.dumps(audits, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Attacks on the audit's isolation, and what became of each.

    python perf/audit_isolation.py

Every reward of `tests/audit/rewards/hostile.py` is called once within 1.5 s and 256 MB. Exits with
1 when an attack gains time, memory or a key, stops the audit, or leaves a process behind.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.audit.findings import GraderCall
from assay.audit.isolation import ProcessLimits, TargetProcess
from assay.audit.target import parse_target

HOSTILE = Path(__file__).parent.parent / "tests/audit/rewards/hostile.py"
LIMITS = ProcessLimits(call_s=1.5, memory_mb=256)
MOST_S = 15.0
"""For one attack, the start of a process included, on a busy machine."""
SECRET = "assay_secret_of_the_audit"


def main() -> int:
    """Print the table; 1 when an attack succeeded."""
    if SECRET not in os.environ:
        # The kernel shows the environment that a process was started with.
        environment = {**os.environ, SECRET: "1"}
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode
    hostile = runpy.run_path(str(HOSTILE))
    print("| attack | what it tries | outcome | s | held |")
    print("|---|---|---|---|---|")
    outcomes = [_row(*row) for row in _attacks(hostile)]
    print(f"\n{sum(outcomes)} of {len(outcomes)} attacks held off")
    return 0 if all(outcomes) else 1


def _attacks(hostile: dict[str, Any]) -> Iterator[tuple[str, str, str, float, bool]]:
    for name, allowed in hostile["ATTACKS"].items():
        outcome, seconds, survivors = _call(name, "a")
        held = outcome.partition(":")[0] in allowed and seconds < MOST_S and not _left(hostile)
        if name in hostile["REPORTED"]:
            held = held and bool(survivors)
            outcome += f"; reported: {', '.join(survivors) or 'nothing'}"
        yield name, hostile[name].__doc__, outcome, seconds, held
    for name in ("environment_of_parent", "environment_above"):
        outcome, seconds, _ = _call(name, SECRET)
        yield name, hostile[name].__doc__, outcome, seconds, outcome == "scored: pays 0"
    for text in hostile["FRAMES"]:
        outcome, seconds, _ = _call("forged_frame", text)
        shown = text if len(text) < 60 else f"{text[:57]}..."
        yield "forged_frame", ascii(shown), outcome, seconds, outcome.startswith("crashed")


def _call(name: str, text: str) -> tuple[str, float, list[str]]:
    """The outcome of one call in words, its seconds, and the processes reported as left."""
    started = time.monotonic()
    isolated = TargetProcess(parse_target(f"{HOSTILE}:{name}"), LIMITS)
    try:
        with isolated:
            (one,) = isolated.ask([GraderCall(text, {"answer": "1"})], shape="assay")
        result = one.result
        words = result.because if result.value is None else f"pays {result.value:g}"
        outcome = f"{result.status}: {words}"
    except Exception as error:  # noqa: BLE001 - an audit that stops is what is looked for
        outcome = f"the audit stopped: {type(error).__name__}: {error!s:.80}"
    return outcome, time.monotonic() - started, isolated.traces.survivors


def _left(hostile: dict[str, Any]) -> bool:
    wanted = "\0".join(hostile["SLEEP"]).encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if wanted in path.read_bytes():
                os.kill(int(path.parent.name), 9)
                return True
        except OSError:
            continue
    return False


def _row(name: str, tries: str, outcome: str, seconds: float, held: bool) -> bool:
    cells = [name, tries, outcome, f"{seconds:.1f}", "yes" if held else "NO"]
    print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |", flush=True)
    return held


if __name__ == "__main__":
    sys.exit(main())

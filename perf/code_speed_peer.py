"""Seconds that a grader of another project takes for each of several right programs.

    PYTHON perf/code_speed_peer.py MODULE COUNT

MODULE is one of `perf/audit_peers`. Prints JSON: a list of seconds, and how many were paid.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

TESTS = {"fn": "add", "calls": [{"args": [n, 2], "expected": n + 2} for n in range(5)]}
RESPONSE = "```python\ndef add(a, b):\n    return a + b\n```"


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent / "audit_peers"))
    grader = importlib.import_module(sys.argv[1])
    seconds, paid = [], 0
    for _ in range(int(sys.argv[2])):
        started = time.perf_counter()
        paid += grader.reward(RESPONSE, TESTS) == 1.0
        seconds.append(time.perf_counter() - started)
    print(json.dumps({"seconds": seconds, "paid": paid}))


if __name__ == "__main__":
    main()

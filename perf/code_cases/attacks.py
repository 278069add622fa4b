"""Programs that try to be paid without doing their task: the audit's, some of resources, and
those of somebody who had not read the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.audit.data import cheats

OUTSIDE = Path(__file__).parents[2] / "tests/data/code/outside_attacks.jsonl"
CALLS = [([1, 2], 3), ([40, 2], 42), ([-5, 1], -4), ([0, 9], 9), ([123, 321], 444)]
ADD = {"fn": "add", "calls": [{"args": args, "expected": value} for args, value in CALLS]}
RESOURCES = {
    "endless loop": "while True: pass",
    "sleep": "import time\ndef add(a, b): time.sleep(1000)",
    "memory": "x = []\nwhile True: x.append(bytearray(1 << 24))",
    "memory that is shared": (
        "import mmap\nx = []\nwhile True:\n    x.append(mmap.mmap(-1, 1 << 24))\n"
        "    x[-1].write(bytes(1 << 24))"
    ),
    "processes": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "threads": (
        "import threading, time\nwhile True:\n"
        "    threading.Thread(target=time.sleep, args=(99,)).start()"
    ),
    "disk": "f = open('/tmp/x', 'wb')\nwhile True: f.write(bytes(1 << 20))",
    "many files": "n = 0\nwhile True:\n    open(f'/tmp/{n}', 'w').write('x'); n += 1",
    "output": "import os\nwhile True: os.write(1, bytes(1 << 16))",
    "deep recursion": (
        "import sys\nsys.setrecursionlimit(10**9)\ndef add(a, b): return add(a, [b])"
    ),
    "deep source": "x = " + "(" * 5000 + ")" * 5000,
    "large source": "x = " + "1 +" * 100_000 + " 1",
    "a value without end": "def add(a, b):\n    x = []\n    x.append(x)\n    return x",
    "a large value": "def add(a, b): return ['x' * 1000] * 10**6",
}


@dataclass(frozen=True, slots=True)
class Attack:
    """A program, and the tests that it must not pass."""

    name: str
    author: str
    program: str
    tests: dict[str, Any]
    shape: str = "call"
    effects: dict[str, Any] = field(default_factory=dict)
    """What must not be seen on the machine afterwards."""


def attacks() -> Iterator[Attack]:
    for cheat in cheats("code"):
        program = cheat.program.replace("NAME", "add")
        yield Attack(f"{cheat.check}: {cheat.name}", "own", program, ADD)
    for name, program in RESOURCES.items():
        yield Attack(f"resources: {name}", "own", program, ADD)
    with OUTSIDE.open() as lines:
        for line in lines:
            row = json.loads(line)
            for number, tests in enumerate([row["tests"], *row.get("variants", [])]):
                yield Attack(
                    f"{row['id']}/{number} {row['goal']}", "outside", row["program"],
                    _tests(row["shape"], tests), row["shape"], row["side_effects_to_check"],
                )  # fmt: skip


def _tests(shape: str, tests: dict[str, Any]) -> dict[str, Any]:
    if shape == "code":
        return tests
    if shape == "stdin":
        return {"stdio": tests["cases"]}
    calls = [{"args": case["args"], "expected": case["expected"]} for case in tests["cases"]]
    return {"fn": tests["cases"][0]["fn"], "calls": calls}

"""What the text worlds and their pools cost, beside the target for each number.

python perf/worlds.py [--peer-python PYTHON] [--base FOLDER] [--only WORLD]

One process on one core; times are CPU time. `--peer-python` is a Python that has the reference
ALFWorld installed (`pip install alfworld`), which is then measured too; `--base` is another
checkout of Assay, whose resets and task lists are measured beside these. Exit code 1 when a target
is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from perf.world_rows import alfworld, pools, resets, scienceworld, webshop
    from perf.world_rows.row import HEADER, Row

    worlds: dict[str, Callable[[], list[Row]]] = {
        "alfworld": lambda: alfworld.run(options.peer_python),
        "webshop": webshop.run,
        "scienceworld": scienceworld.run,
        "resets": lambda: resets.run(options.base),
        "pools": pools.run,
    }
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--peer-python", help="a Python with the reference ALFWorld")
    parser.add_argument("--base", type=Path, help="another checkout of Assay, measured beside it")
    parser.add_argument("--only", choices=worlds, help="measure nothing else")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(HEADER, flush=True)
    kept = True
    for name, measure in worlds.items():
        if options.only in (None, name):
            for row in measure():
                kept = kept and row.kept
                print(row.line(), flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

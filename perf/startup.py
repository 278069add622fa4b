"""What `import assay` and `assay --help` cost over bare Python, and the plugin over bare pytest.

python perf/startup.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

RUNS = 15
PAIRS = 10
MEMORY = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
FIRST = "assay.score('qa_f1_reward', final_response='Paris', answer='Paris')"


class Cost(NamedTuple):
    """What a fresh interpreter took."""

    wall_s: float
    cpu_s: float


def once(*arguments: str) -> Cost:
    before, started = os.times(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    return Cost(time.perf_counter() - started, user + system)


def seconds(*arguments: str) -> float:
    """Median wall seconds of a fresh interpreter."""
    return statistics.median(once(*arguments).wall_s for _ in range(RUNS))


def megabytes(code: str) -> float:
    call = [sys.executable, "-c", f"{code}\n{MEMORY}"]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def plugin_costs() -> tuple[Cost, Cost]:
    """Medians of collecting a folder with one test, without the pytest plugin and with it.

    Both are run in turn, so that a machine that is busy for a while is so for both.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_one.py").write_text("def test_one(): pass\n")
        collect = ("-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", folder)
        pairs = [(once(*collect, "-p", "no:assay"), once(*collect)) for _ in range(PAIRS)]
    return median(without for without, _ in pairs), median(loaded for _, loaded in pairs)


def median(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def main() -> int:
    bare_s, bare_mb = seconds("-c", "pass"), megabytes("pass")
    cases = {"import assay": "import assay", "and a first score": f"import assay; {FIRST}"}
    print("| over bare Python | ms | MB |\n|---|---|---|")
    costs = {}
    for name, code in cases.items():
        costs[name] = (1e3 * (seconds("-c", code) - bare_s), megabytes(code) - bare_mb)
        print(f"| {name} | {costs[name][0]:.0f} | {costs[name][1]:.1f} |")
    help_ms = 1e3 * seconds("-m", "assay.cli.main", "--help")
    print(f"\n`assay --help`, whole process: {help_ms:.0f} ms (bare Python {1e3 * bare_s:.0f} ms)")
    without, loaded = plugin_costs()
    plugin_ms = 1e3 * (loaded.cpu_s - without.cpu_s)
    print(
        f"`pytest --collect-only`, one test: {1e3 * without.cpu_s:.0f} ms of processor time with "
        f"`-p no:assay`, {plugin_ms:+.0f} ms with the plugin; by the clock "
        f"{1e3 * without.wall_s:.0f} ms, {1e3 * (loaded.wall_s - without.wall_s):+.0f} ms"
    )
    import_ms, import_mb = costs["import assay"]
    is_quick = import_ms <= 150 and help_ms <= 300 and plugin_ms <= 50
    return 0 if is_quick and import_mb <= 40 else 1


if __name__ == "__main__":
    sys.exit(main())
